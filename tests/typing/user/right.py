"""Right uses, in which a strict checker finds nothing: types are what they should be, and classes of one's own fit."""

# pyright: strict

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from typing_extensions import assert_type

import torchkeras
from torchkeras import Input, KerasTensor, Model, Sequential, callbacks, layers, losses, metrics, optimizers, utils
from torchkeras.callbacks import Callback, EarlyStopping
from torchkeras.layers import LSTM, Add, Concatenate, Conv2D, Convolution2D, Dense, Dropout, Flatten, Layer, MaxPool2D
from torchkeras.losses import Huber, Loss, mse
from torchkeras.metrics import AUC, Mean, Metric
from torchkeras.models import load_model
from torchkeras.optimizers import SGD, Adam, AdamW, Optimizer
from torchkeras.optimizers.schedules import CosineDecay


def block(x: KerasTensor, filters: int) -> KerasTensor:
    hidden = Conv2D(filters, (3, 3), strides=[1, 1], padding="same", activation="relu", name=f"conv_{filters}")(x)
    hidden = layers.BatchNormalization(momentum=0.9)(hidden, training=False)
    hidden = Add()([hidden, hidden])
    return Dropout(0.5, seed=3)(MaxPool2D()(Concatenate(axis=-1)([hidden, hidden])))


image = Input((28, 28, 1), name="image")
assert_type(image, KerasTensor)
assert_type(Dense(3)(image), KerasTensor)
assert_type(Dense(3)(torch.zeros(2, 4)), Tensor)
assert_type(Add()([image, image]), KerasTensor)
assert_type(Add()([torch.zeros(2), torch.zeros(2)]), Tensor)
text = LSTM(8, return_sequences=True, dropout=0.1)(
    layers.Embedding(100, 4, mask_zero=True)(Input((None,), dtype="int32"))
)
outputs = Dense(10, activation=torch.tanh, kernel_initializer={"class_name": "Zeros", "config": {}})(Flatten()(image))
model = Model(image, [outputs, text], name="both")
model = Model(inputs={"image": image}, outputs=block(image, 8))
stack = Sequential([Dense(8, input_shape=(4,), dtype=torch.float32), nn.ReLU(), Dense(1, input_dim=8)])
stack.add(Convolution2D(8, 3, data_format="channels_first", kernel_regularizer="l2", trainable=False))

rate = CosineDecay(0.1, decay_steps=100)
found: list[Optimizer] = [
    Adam(0.001, amsgrad=True, clipnorm=1.0),
    SGD(lr=rate, momentum=0.9),
    AdamW(learning_rate=rate),
]
as_adam: Adam = AdamW(weight_decay=0.01)
kinds: list[Loss] = [Huber(delta=2.0, reduction="sum"), losses.BinaryCrossentropy(from_logits=True, reduction=None)]
watched: list[Metric] = [AUC(num_thresholds=50), Mean(), metrics.TopKCategoricalAccuracy(k=3, name="top3")]
assert_type(mse(torch.zeros(2, 3), torch.zeros(2, 3)), Tensor)
assert_type(kinds[0](torch.zeros(2), torch.zeros(2)), Tensor)
assert_type(optimizers.adam(0.1), Adam)
model.compile(optimizer=Adam(0.01), loss=["mse", Huber()], metrics=["acc", AUC()], jit_compile=False)
stop = EarlyStopping(monitor="loss", patience=3, restore_best_weights=True)
history = model.fit(np.zeros((4, 2)), np.zeros(4), batch_size=2, epochs=3, callbacks=[stop, callbacks.CSVLogger("log")])
assert_type(history, callbacks.History)
print(torchkeras.__version__, utils.to_categorical([0, 1]), model.predict(np.zeros((4, 2))), load_model("model.h5"))


def inner(wrapper: layers.Wrapper, recurrent: layers.Recurrent) -> list[Layer]:
    return [wrapper, recurrent]


inner(layers.TimeDistributed(Dense(3)), layers.GRU(3))


class Scaled(Dense):
    def __init__(self, units: int, factor: float = 1.0, **options: Any) -> None:
        super().__init__(units, use_bias=False, **options)
        self.factor = factor

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "factor": self.factor}


class Squared(Layer):
    def build(self, input_shape: Any) -> None:
        self.weight = self.add_weight("weight", (input_shape[-1],), initializer="ones")

    def call(self, x: Tensor) -> Tensor:
        return x * x

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class Noisy(Layer):
    def call(self, inputs: Tensor, mask: Tensor | None = None, training: bool | None = None) -> Tensor:
        return inputs + 1 if training else inputs


class Both(Layer):
    def call(self, query: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return query, value


class Forward(Layer):
    def forward(self, x: Tensor) -> Tensor:
        return x


class Own(Model):
    def __init__(self) -> None:
        super().__init__(name="own")
        self.dense = Dense(3)

    def call(self, x: Tensor) -> Tensor:
        return self.dense(x)

    def train_step(self, data: Any) -> Mapping[str, Any]:
        x, y, _ = utils.unpack_x_y_sample_weight(data)
        loss = self.compute_loss(x, y, self(x))
        self.minimize(loss)
        return {"loss": loss}


class Told(Callback):
    def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        print(epoch, logs)


class Half(Loss):
    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return (y_true - y_pred).abs() / 2


class Count(Metric):
    def __init__(self, name: str = "count") -> None:
        super().__init__(name=name)
        self.total = self.add_variable(name="total")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.total.assign_add(len(y_true))

    def result(self) -> Tensor:
        return self.total


Own().fit(np.zeros((4, 2)), callbacks=[Told()])

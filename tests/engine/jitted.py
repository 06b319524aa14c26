"""Models for the tests of compiled steps, how they are trained, and a backend that keeps what torch traced."""

import numpy as np
import torch

import torchkeras
from torchkeras import Input, Model
from torchkeras.layers import (
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Embedding,
    Flatten,
    GlobalAveragePooling1D,
    Lambda,
    Layer,
    MaxPooling2D,
    MultiHeadAttention,
)


class Graphs:
    """A backend that runs what torch.compile traced as it is, and keeps the graphs: of training, of all else.

    A `mode` changes nothing.
    """

    def __init__(self):
        self.found, self.of_inference = [], []

    def __call__(self, module, example_inputs, mode=None):
        (self.found if torch.is_grad_enabled() else self.of_inference).append(module)
        return module.forward

    @property
    def setting(self):
        return {"backend": self}


def mlp():
    inputs = Input((6,))
    hidden = Dense(8, activation="relu", kernel_regularizer="l2", kernel_constraint="unit_norm")(inputs)
    return Model(inputs, Dense(3, activation="softmax")(hidden))


def cnn():
    inputs = Input((8, 8, 2))
    hidden = BatchNormalization()(Conv2D(4, 3, padding="same")(inputs))
    hidden = MaxPooling2D(2)(Activation("relu")(Add()([hidden, Conv2D(4, 1, activation="relu")(inputs)])))
    return Model(inputs, Dense(3, activation="softmax")(Flatten()(hidden)))


def masked():
    inputs = Input((5,), dtype="int32")
    hidden = Embedding(7, 8, mask_zero=True)(inputs)
    hidden = GlobalAveragePooling1D()(MultiHeadAttention(2, 4)(hidden, hidden))
    return Model(inputs, Dense(3, activation="softmax", activity_regularizer="l2")(hidden))


def penalized():
    class Penalized(Layer):
        def call(self, inputs):
            self.add_loss(inputs.square().mean())
            self.add_metric(inputs, name="mean")
            return inputs

    inputs = Input((6,))
    model = Model(inputs, Dense(3, activation="softmax")(Penalized()(Dense(4)(inputs))))
    model.add_loss(Lambda(lambda p: p.abs().sum(-1))(model.output))
    return model


def samples(model, count=22):
    random = np.random.default_rng(0)
    shape = (count, *model.input_shape[1:])
    integers = model.inputs[0].dtype == torch.int32
    x = random.integers(0, 7, shape) if integers else random.standard_normal(shape).astype("float32")
    return x, random.integers(0, 3, count)


def trained(make, setting, epochs=3, callbacks=None, weights=False, **options):
    torchkeras.clear_session()
    torch.manual_seed(0)
    model = make()
    options = {"optimizer": "adam", "loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"], **options}
    model.compile(**options, jit_compile=setting)
    x, y = samples(model)
    history = model.fit(
        x, y, batch_size=4, epochs=epochs, verbose=0, shuffle=False, validation_data=(x, y), callbacks=callbacks,
        sample_weight=np.linspace(0, 1, len(x)) if weights else None,
    )  # fmt: skip
    return history.history, model.get_weights()


def alike(one, other, **tolerances):
    tolerances = tolerances or {"rtol": 1e-5, "atol": 1e-6}
    assert one[0].keys() == other[0].keys()
    for name in one[0]:
        np.testing.assert_allclose(one[0][name], other[0][name], **tolerances, err_msg=name)
    for mine, theirs in zip(one[1], other[1], strict=True):
        np.testing.assert_allclose(mine, theirs, **tolerances)


def recurrent(gate="sigmoid"):
    inputs = Input((5, 4))
    hidden = Dense(6, activation="relu")(LSTM(6, recurrent_activation=gate)(Dense(4)(inputs)))
    return Model(inputs, Dense(3, activation="softmax")(hidden))

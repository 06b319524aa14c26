"""Classes of one's own without annotations: a checker may ask for these, but finds no type that does not fit."""

# pyright: strict, reportMissingParameterType=false, reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from torchkeras import Model
from torchkeras.callbacks import Callback
from torchkeras.layers import Dense, Layer


class Squared(Layer):
    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", (input_shape[-1],), initializer="ones")
        super().build(input_shape)

    def call(self, x):
        return x * x * self.kernel

    def compute_output_shape(self, input_shape):
        return input_shape


class Noisy(Layer):
    def call(self, inputs, training=None):
        return inputs + 1 if training else inputs


class Both(Layer):
    def call(self, query, value, mask=None):
        return query + value


class Own(Model):
    def __init__(self, units):
        super().__init__()
        self.dense = Dense(units)

    def call(self, inputs):
        return self.dense(inputs)

    def train_step(self, data):
        x, y = data
        loss = self.compute_loss(x, y, self(x))
        self.minimize(loss)
        return {"loss": loss}

    def test_step(self, data):
        return {"loss": self.compute_loss(*data)}


class Told(Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, logs)

    def on_train_batch_end(self, batch, logs=None):
        print(batch, logs)

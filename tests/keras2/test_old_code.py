"""Layers and optimizers as scripts for Keras 1 and 2 define them. Each test runs a process of its own, as a script."""

from pathlib import Path

import pytest
from old_scripts import passed

PRELUDE = """
import torchkeras.as_keras
import numpy as np
from keras import backend as K, initializations, initializers, optimizers, regularizers
from keras.engine.topology import InputSpec, Layer
from keras.layers import BatchNormalization, Conv2D, Dense, Dropout, Input
from keras.models import Model, Sequential, load_model

random = np.random.default_rng(0)
x = random.standard_normal((8, 5)).astype("float32")
y = random.standard_normal((8, 3)).astype("float32")
"""

KERAS_1_ADDED = """
class Linear(Layer):
    def __init__(self, output_dim, **kwargs):
        self.output_dim = output_dim
        super(Linear, self).__init__(**kwargs)

    def build(self, input_shape):
        self.W = self.add_weight((input_shape[1], self.output_dim), initializer="one", name="{}_W".format(self.name))
        self.b = self.add_weight((self.output_dim,), initializer="zero", name="b", trainable=False)
        self.built = True

    def call(self, x, mask=None):
        return K.dot(x, self.W) + self.b

    def get_output_shape_for(self, input_shape):
        return (input_shape[0], self.output_dim)

model = Sequential([Linear(3, input_shape=(5,))])
assert model.output_shape == (None, 3)
assert np.allclose(model.predict(x), x.sum(1, keepdims=True).repeat(3, 1), atol=1e-5)
assert [tuple(w.shape) for w in model.trainable_weights] == [(5, 3)]
assert [tuple(w.shape) for w in model.non_trainable_weights] == [(3,)]
"""

KERAS_1_LISTED = """
class Linear(Layer):
    def build(self, input_shape):
        self.b = initializations.get("zero")((3,), name="b")
        self.W = initializations.get("glorot_uniform")((input_shape[1], 3), name="W")
        self.trainable_weights = [self.W, self.b]

    def call(self, x, mask=None):
        return K.dot(x, self.W) + self.b

    def get_output_shape_for(self, input_shape):
        return (input_shape[0], 3)

model = Sequential([Linear(input_shape=(5,))])
assert [w.shape for w in model.get_weights()] == [(5, 3), (3,)], "the order of the list"
model.compile("sgd", "mse")
before = model.get_weights()
model.fit(x, y, verbose=0)
assert all((a != b).any() for a, b in zip(before, model.get_weights()))
"""

FROZEN_BY_THE_LIST = """
class Scaled(Layer):
    def build(self, input_shape):
        self.a, self.c = K.variable(np.ones(5)), K.variable(np.ones(5))
        self.trainable_weights = [self.a]
        self.non_trainable_weights = [self.c]

    def call(self, x):
        return x * self.a * self.c

model = Sequential([Scaled(input_shape=(5,)), Dense(3)])
model.compile("sgd", "mse")
model.fit(x, y, verbose=0)
assert (K.get_value(model.layers[0].a) != 1).all()
assert (K.get_value(model.layers[0].c) == 1).all()
"""

KERAS_2 = """
class Linear(Layer):
    def __init__(self, units, **kwargs):
        super(Linear, self).__init__(**kwargs)
        self.units, self.supports_masking = units, True
        self.kernel_regularizer = regularizers.get("l2")
        self.input_spec = [InputSpec(ndim=2)]

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units), initializer="uniform",
                                      regularizer=self.kernel_regularizer)
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})
        super(Linear, self).build(input_shape)

    def call(self, inputs, training=None):
        noisy = inputs + K.random_normal(K.shape(inputs)) * 0.0
        return K.dot(K.in_train_phase(noisy, inputs, training=training), self.kernel)

    def compute_output_shape(self, input_shape):
        return tuple(input_shape[:-1]) + (self.units,)

    def get_config(self):
        return dict(super(Linear, self).get_config(), units=self.units)

inputs = Input((5,))
model = Model(inputs, Linear(3)(inputs))
model.compile("sgd", "mse")
model.fit(x, y, verbose=0)
model.save("model.h5")
again = load_model("model.h5", custom_objects={"Linear": Linear})
assert np.array_equal(model.predict(x), again.predict(x))
assert len(model.losses) == 1
"""

UPDATES = """
class Mean(Layer):
    def build(self, input_shape):
        self.mean = self.add_weight(name="mean", shape=(5,), initializer="zeros", trainable=False)
        self.twice = self.add_weight(name="twice", shape=(5,), initializer="zeros", trainable=False)
        super(Mean, self).build(input_shape)

    def call(self, inputs):
        # The second reads the mean of before the step, as all updates of a graph do.
        self.add_update([K.moving_average_update(self.mean, K.mean(inputs, axis=0), 0.5),
                         K.update(self.twice, self.mean + 1)], inputs)
        return inputs - self.mean

inputs = Input((5,))
layer = Mean()
model = Model(inputs, Dense(3)(layer(inputs)))
model.compile("sgd", "mse")
model.predict(x)
model.evaluate(x, y, verbose=0)
assert (K.get_value(layer.mean) == 0).all(), "only training makes updates"
model.train_on_batch(x, y)
assert np.allclose(K.get_value(layer.mean), x.mean(0) / 2, atol=1e-6)
assert (K.get_value(layer.twice) == 1).all()
model.train_on_batch(x, y)
assert np.allclose(K.get_value(layer.mean), x.mean(0) * 0.75, atol=1e-6)
assert np.allclose(K.get_value(layer.twice), x.mean(0) / 2 + 1, atol=1e-6)
"""

OVERRIDDEN = """
class Convolved(Conv2D):
    def call(self, inputs):
        return K.conv2d(inputs, self.kernel, strides=self.strides, padding=self.padding) * 2.0

class Still(BatchNormalization):
    def call(self, inputs, training=None):
        return super(Still, self).call(inputs, training=False)

inputs = Input((8, 8, 3))
model = Model(inputs, Convolved(4, 3, use_bias=False)(inputs))
plain = Model(inputs, Conv2D(4, 3, use_bias=False)(inputs))
plain.set_weights(model.get_weights())
images = random.standard_normal((2, 8, 8, 3)).astype("float32")
assert np.allclose(model.predict(images), 2 * plain.predict(images), atol=1e-5)

still = Sequential([Still(input_shape=(5,)), Dense(3)])
still.compile("sgd", "mse")
still.fit(x, y, verbose=0)
assert (still.layers[0].get_weights()[2] == 0).all()
"""

ADAM = """
class Adam(optimizers.Optimizer):
    def __init__(self, lr=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, **kwargs):
        super(Adam, self).__init__(**kwargs)
        with K.name_scope(self.__class__.__name__):
            self.iterations = K.variable(0, dtype="int64", name="iterations")
            self.lr = K.variable(lr, name="lr")
            self.beta_1 = K.variable(beta_1, name="beta_1")
            self.beta_2 = K.variable(beta_2, name="beta_2")
        self.epsilon = epsilon

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        t = K.cast(self.iterations, K.floatx()) + 1
        rate = self.lr * (K.sqrt(1.0 - K.pow(self.beta_2, t)) / (1.0 - K.pow(self.beta_1, t)))
        ms = [K.zeros(K.int_shape(p), dtype=K.dtype(p)) for p in params]
        vs = [K.zeros(K.int_shape(p), dtype=K.dtype(p)) for p in params]
        self.weights = [self.iterations] + ms + vs
        for p, g, m, v in zip(params, grads, ms, vs):
            m_t = self.beta_1 * m + (1.0 - self.beta_1) * g
            v_t = self.beta_2 * v + (1.0 - self.beta_2) * K.square(g)
            self.updates.append(K.update(m, m_t))
            self.updates.append(K.update(v, v_t))
            self.updates.append(K.update(p, p - rate * m_t / (K.sqrt(v_t) + self.epsilon)))
        return self.updates

    def get_config(self):
        return {"lr": float(K.get_value(self.lr))}

def trained(optimizer):
    model = Sequential([Dense(4, input_shape=(5,), activation="tanh"), Dense(3)])
    model.set_weights([np.linspace(-1, 1, w.size).reshape(w.shape) for w in model.get_weights()])
    model.compile(optimizer, "mse")
    model.fit(x, y, epochs=3, batch_size=4, shuffle=False, verbose=0)
    K.set_value(model.optimizer.lr, 0.02)
    model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    return model

mine, built_in = trained(Adam(lr=0.01, clipnorm=1.0)), trained(optimizers.Adam(lr=0.01, clipnorm=1.0))
for a, b in zip(mine.get_weights(), built_in.get_weights()):
    assert np.allclose(a, b, atol=2e-6), abs(a - b).max()
assert int(K.get_value(mine.optimizer.iterations)) == 10
"""

KERAS_1_OPTIMIZER = """
class Descent(optimizers.Optimizer):
    def __init__(self, lr=0.1, **kwargs):
        super(Descent, self).__init__(**kwargs)
        self.lr = lr

    def get_updates(self, params, constraints, loss):
        return [(p, p - self.lr * g) for p, g in zip(params, self.get_gradients(loss, params))]

def trained(optimizer):
    model = Sequential([Dense(3, input_shape=(5,))])
    model.set_weights([np.ones_like(w) for w in model.get_weights()])
    model.compile(optimizer, "mse")
    model.fit(x, y, epochs=2, shuffle=False, verbose=0)
    return model.get_weights()

for a, b in zip(trained(Descent()), trained(optimizers.SGD(0.1))):
    assert np.allclose(a, b, atol=1e-6)
"""

NAMES_OF_WEIGHTS = """
from keras.layers import LSTM, Reshape

class Slow(optimizers.Optimizer):
    def get_updates(self, loss, params):
        names[:] = [p.name for p in params]
        rates = [0.0 if "slow" in p.name else 0.1 for p in params]
        return [K.update(p, p - rate * g) for p, g, rate in zip(params, self.get_gradients(loss, params), rates)]

names = []
model = Sequential([Dense(4, input_shape=(5,), name="slow"), Reshape((2, 2)), LSTM(3, name="fast")])
model.compile(Slow(), "mse")
before = model.get_weights()
model.fit(x, y, verbose=0)
changed = [not np.array_equal(a, b) for a, b in zip(before, model.get_weights())]
assert changed == [False, False, True, True, True]
assert names == ["slow/kernel:0", "slow/bias:0", "fast/kernel:0", "fast/recurrent_kernel:0", "fast/bias:0"], names
"""

NUMBERS_OF_OPTIMIZERS = """
import copy
model = Sequential([Dense(3, input_shape=(5,))])
model.compile("adam", "mse")
K.set_value(model.optimizer.lr, 0.5)
assert K.get_value(model.optimizer.lr) == model.optimizer.get_config()["lr"] == 0.5
model.optimizer.lr.set_value(0.25)
other = copy.deepcopy(model.optimizer)
K.set_value(other.lr, 0.125)
assert (model.optimizer.lr, other.lr, model.optimizer.lr.get_value()) == (0.25, 0.125, 0.25)
K.update(other.lr, 0.5)
assert (other.lr, K.dtype(other.lr), K.int_shape(other.lr), other.initial_decay) == (0.5, "float32", (), 0.0)
model.fit(x, y, verbose=0)

from keras.callbacks import Callback
from torchkeras.callbacks import BackupAndRestore
model.fit(x, y, epochs=2, verbose=0, callbacks=[BackupAndRestore("backup", delete_checkpoint=False)])
other = Sequential([Dense(3, input_shape=(5,), name=model.layers[0].name)])
other.compile("adam", "mse")
K.set_value(other.optimizer.lr, 0.25)
other.fit(x, y, epochs=2, verbose=0, callbacks=[BackupAndRestore("backup")])
assert other.optimizer.lr == 0.25
"""


SEEDED = """
def trained():
    np.random.seed(7)
    model = Sequential([Dense(3, input_shape=(5,))])  # without dropout, whose numbers would be seeded too
    model.compile("sgd", "mse")
    return model.fit(x, y, epochs=3, batch_size=2, verbose=0).history["loss"]

first, again = trained(), trained()
assert first == again
"""


@pytest.mark.parametrize(
    "code",
    [
        KERAS_1_ADDED,
        KERAS_1_LISTED,
        FROZEN_BY_THE_LIST,
        KERAS_2,
        UPDATES,
        OVERRIDDEN,
        ADAM,
        KERAS_1_OPTIMIZER,
        NAMES_OF_WEIGHTS,
        NUMBERS_OF_OPTIMIZERS,
        SEEDED,
    ],
    ids=[
        "added",
        "listed",
        "frozen",
        "keras2",
        "updates",
        "overridden",
        "adam",
        "keras1_optimizer",
        "names",
        "numbers",
        "seeded",
    ],
)
def test_old_code_runs(code: str, tmp_path: Path):
    passed(PRELUDE + code, tmp_path)

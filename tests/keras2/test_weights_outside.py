"""Scripts that compute from weights outside of layers, or make layers in a call. Numbers by Keras 2.2.4."""

import pytest
from old_scripts import passed

PRELUDE = """
import torchkeras.as_keras
import numpy as np
from keras import backend as K, regularizers
from keras.layers import Dense, Input, Lambda, Layer, add
from keras.models import Model, Sequential

x, y = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")

def parts():
    inputs = Input((3,))
    layer = Dense(2, kernel_initializer="ones")
    return inputs, layer, layer(inputs)

def numbers(model):
    model.compile("sgd", "mse")
    return model.evaluate(x, y, verbose=0), model.train_on_batch(x, y), model.evaluate(x, y, verbose=0)
"""

LOSSES = """
for term, expected in (
    (lambda d: K.sum(K.square(d.kernel)), (15, 15, 13.3673992)),
    (lambda d: 0.5 * K.sum(K.square(d.kernel)), (12, 12, 10.8872995)),
    (lambda d: K.sum(d.kernel ** 2), (15, 15, 13.3673992)),
    (lambda d: K.sum(d.kernel * 2), (21, 21, 19.3523998)),
    (lambda d: regularizers.l2(1.)(d.kernel), (15, 15, 13.3673992)),
    (lambda d: d.kernel[0, 0] * 3, (12, 12, 11.0284500)),
):
    for of_layer in (False, True):
        inputs, layer, outputs = parts()
        model = Model(inputs, outputs)
        (layer if of_layer else model).add_loss(term(layer))
        assert np.allclose(numbers(model), expected, rtol=1e-6)
"""

DIFFERENCE = """
inputs = Input((3,))
first, second = Dense(2, kernel_initializer="ones"), Dense(2, kernel_initializer="zeros")
model = Model(inputs, add([first(inputs), second(inputs)]))
model.add_loss(K.sum(K.square(first.kernel - second.kernel)))
assert np.allclose(numbers(model), (15, 15, 13.1471996), rtol=1e-6)
"""

TYING = """
def by_lambda(layer, outputs):
    tied = K.transpose(layer.kernel * 2)
    return Lambda(lambda v: K.dot(v, tied))(outputs)

class Tied(Layer):
    def __init__(self, tied, **options):
        super(Tied, self).__init__(**options)
        self.tied = tied

    def call(self, v):
        return K.dot(v, self.tied)

    def compute_output_shape(self, shape):
        return (shape[0], 3)

for tie, values in (
    (by_lambda, (12, 48, 2304, 225049.25)),
    (lambda d, o: Lambda(lambda v, tied: K.dot(v, tied), arguments={"tied": K.transpose(d.kernel)})(o),
     (6, 24, 576, 0.0132710)),
    (lambda d, o: Tied(K.transpose(d.kernel))(o), (6, 24, 576, 0.0132710)),
):
    inputs, layer, outputs = parts()
    model = Model(inputs, tie(layer, outputs))
    found = [model.predict(x)[0, 0]]
    layer.set_weights([np.full((3, 2), 2.), np.zeros(2)])
    found.append(model.predict(x)[0, 0])
    model.compile("sgd", "mse")
    found += [model.train_on_batch(x, np.zeros((4, 3))) for _ in range(2)]
    assert np.allclose(found, values, rtol=1e-4), found
    assert len(model.trainable_weights) == 2
"""

MADE = """
class Own(Layer):
    def call(self, v):
        return Dense(4)(v)

    def compute_output_shape(self, shape):
        return (shape[0], 4)

for layer in (
    Lambda(lambda v: Dense(4)(v)),
    Own(),
    Lambda(lambda v: v * K.random_uniform_variable((3,), 0, 1)),
    Lambda(lambda v: v * K.variable(np.random.rand(3))),
    Lambda(lambda v: Sequential([Dense(4, input_shape=(3,))])(v)),
):
    inputs = Input((3,))
    model = Model(inputs, layer(inputs))
    first = model.predict(x)
    assert np.array_equal(model.predict(x), first) and np.abs(first).sum() > 0
    assert model.weights == [] and model.count_params() == 0
    model.compile("sgd", "mse")
    losses = [model.train_on_batch(x, np.zeros_like(first)) for _ in range(2)]
    assert losses[0] == losses[1] > 0

inputs = Input((3,))
model = Model(inputs, Lambda(lambda v: v * K.random_uniform((3,), 0, 1))(inputs))
assert not np.array_equal(model.predict(x), model.predict(x)), "no variable: other numbers each time"
"""


LOSS_WEIGHTS = """
w = K.variable(0.5)
for rest, expected in (
    (1 - w, (22.5, 29.25)),
    (w * 2 + 1, (76.5, 56.25)),
    (-w, (-13.5, -6.75)),
    (3 / (w + 1), (76.5, 88.65)),
    (w ** 2, (13.5, 4.5)),
):
    inputs, _, outputs = parts()
    model = Model(inputs, [outputs, Dense(2, kernel_initializer="ones")(outputs)])
    model.compile("sgd", "mse", loss_weights=[w, rest])
    found = []
    for value in (0.5, 0.25):
        K.set_value(w, value)
        found.append(model.evaluate(x, [y, y], verbose=0)[0])
    assert np.allclose(found, expected, rtol=1e-6), found
"""


@pytest.mark.parametrize("script", [LOSSES, DIFFERENCE, TYING, MADE, LOSS_WEIGHTS])
def test_scripts(script):
    passed(PRELUDE + script)

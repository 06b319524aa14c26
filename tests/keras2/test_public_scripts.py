"""What layers and losses of public scripts do beside calling Keras. Each test runs a process of its own."""

from pathlib import Path

import pytest
from old_scripts import FORKS

PRELUDE = """
from torchkeras.keras2 import alias
alias.install(["keras", "tensorflow"])
import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.engine.topology import Layer
from keras.layers import Conv2D, Dense, Embedding, Input, Lambda, RNN
from keras.layers.recurrent import Recurrent, _generate_dropout_mask
from keras.models import Model

random = np.random.default_rng(0)
x = random.standard_normal((4, 5)).astype("float32")
"""

COMPUTED_IN_BUILD = """
class Joined(Layer):
    def build(self, input_shape):
        first = self.add_weight(name="a", shape=(input_shape[1], 2), initializer="zeros")
        second = self.add_weight(name="b", shape=(input_shape[1], 1), initializer="zeros")
        self.kernels = [K.concatenate([first, second], axis=1)]
        self.scale = K.exp(second)
        self.built = True

    def call(self, inputs):
        return K.dot(inputs, self.kernels[0]) * K.sum(self.scale)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], 3)

inputs = Input((5,))
model = Model(inputs, Joined()(inputs))
a, b = random.standard_normal((5, 2)), random.standard_normal((5, 1))
model.set_weights([a, b])
assert np.allclose(model.predict(x), x @ np.concatenate([a, b], 1) * np.exp(b).sum(), atol=1e-3)
model.compile("sgd", "mse")
before = model.get_weights()
model.train_on_batch(x, np.zeros((4, 3)))
model.train_on_batch(x, np.zeros((4, 3)))
assert all((old != new).all() for old, new in zip(before, model.get_weights()))
"""

KEPT_VARIABLE = """
class Masked(Layer):
    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(5, 5), initializer="ones")
        self.mask = K.ones((5, 5))
        self.bias = K.variable(np.zeros(5))

    def call(self, inputs):
        found = K.dot(inputs, self.kernel * self.mask)
        return found + self.bias

inputs = Input((5,))
model = Model(inputs, Masked()(inputs))
assert [w.shape for w in model.get_weights()] == [(5, 5)], "a variable that is not listed is no weight"
assert np.allclose(model.predict(x), x.sum(1, keepdims=True).repeat(5, 1), atol=1e-5)
"""

APPENDED = """
class Scaled(Layer):
    def build(self, input_shape):
        self.scale = K.variable(2.0, name="scale")
        self._trainable_weights.append(self.scale)
        self._non_trainable_weights += [K.variable(1.0)]

    def call(self, inputs):
        return inputs * self.scale

inputs = Input((5,))
model = Model(inputs, Scaled()(inputs))
assert len(model.trainable_weights) == 1 and len(model.weights) == 2
assert np.allclose(model.predict(x), 2 * x)
"""

KEPT_BETWEEN_CALLS = """
class Total(Layer):
    def __init__(self, **kwargs):
        self.total = None
        super().__init__(**kwargs)

    def call(self, inputs):
        if self.total is None:
            self.total = K.zeros_like(inputs)
        self.total += inputs
        return self.total

    def compute_output_shape(self, input_shape):
        return input_shape

inputs, layer = Input((5,)), Total()
first = layer(inputs)
model = Model(inputs, [first, layer(inputs)])
for times in range(3):
    once, twice = model.predict(x)
    assert np.allclose(once, x) and np.allclose(twice, 2 * x), times
"""

EARLY_RECURRENT = """
class Sum(Recurrent):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units), initializer="ones")
        self.states = [None]
        self.built = True

    def get_constants(self, inputs, training=None):
        return [K.constant(2.0)]

    def step(self, inputs, states):
        total = states[0] + states[1] * K.dot(inputs, self.kernel)
        return total, [total]

inputs = Input((3, 5))
model = Model(inputs, [Sum(2)(inputs), Sum(2, return_sequences=True, go_backwards=True)(inputs)])
values = random.standard_normal((4, 3, 5))
last, each = model.predict(values)
assert np.allclose(last, 2 * values.sum((1, 2))[:, None].repeat(2, 1), atol=1e-4)
assert np.allclose(each[:, 0], 2 * values[:, -1].sum(-1)[:, None].repeat(2, 1), atol=1e-4)
"""

CELL_IN_A_SUBCLASS = """
class Cell(Layer):
    state_size = 5

    def call(self, inputs, states, training=None):
        kept = _generate_dropout_mask(K.ones_like(inputs), 0.5, training=training, count=2)
        return states[0] + inputs * kept[0], [states[0] + inputs]

class Summing(RNN):
    def call(self, inputs, mask=None, training=None, initial_state=None, constants=None):
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state, constants=constants)

inputs = Input((3, 5))
values = random.standard_normal((4, 3, 5))
assert np.allclose(Model(inputs, Summing(Cell())(inputs)).predict(values), values.sum(1), atol=1e-5)
"""

ARRAYS = """
inputs = Input((3, 4))
values = random.standard_normal((2, 3, 4)).astype("float32")
mean = np.arange(4.0)
found = Model(inputs, Lambda(lambda t: (t - mean) * np.float64(2) + (mean - t)[..., ::-1])(inputs)).predict(values)
assert found.dtype == np.float32
assert np.allclose(found, (values - mean) * 2 + (mean - values)[..., ::-1], atol=1e-5)
found = Model(inputs, Lambda(lambda t: t[:, 2:0:-1, None, 1])(inputs)).predict(values)
assert np.allclose(found, values[:, 2:0:-1, None, 1])
"""

TENSORFLOW = """
from tensorflow.python.framework import ops
inputs = Input((4,))
boxes = tf.concat([tf.nn.softmax(inputs), tf.expand_dims(tf.reduce_max(inputs, axis=1), 1)], axis=1)
assert inputs.get_shape().as_list() == [None, 4] and inputs.get_shape()[1].value == 4
assert isinstance(boxes, tf.Tensor) and tf.__version__ == "1.14.0"
values, places = tf.nn.top_k(boxes, k=2)
with tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))) as session:
    K.set_session(session)
    best, where = session.run([values, places], feed_dict={inputs: x[:, :4]})
e = np.exp(x[:, :4])
each = np.concatenate([e / e.sum(1, keepdims=True), x[:, :4].max(1, keepdims=True)], 1)
assert np.allclose(best, np.sort(each)[:, ::-1][:, :2], atol=1e-6) and (where == np.argsort(-each)[:, :2]).all()

def clipped(args):
    count, total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + args), [0, tf.zeros_like(args)])
    return total

assert np.allclose(Model(inputs, Lambda(clipped)(inputs)).predict(x[:, :4]), 3 * x[:, :4], atol=1e-5)
corners = tf.constant([[0.0, 0, 1, 1], [0, 0, 1, 0.9], [0, 0, 0.2, 0.2]])
assert tf.image.non_max_suppression(corners, tf.constant([0.5, 0.9, 0.3]), 3).tolist() == [1, 2]
grid = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
crop = tf.image.crop_and_resize(grid, [[0.0, 0, 1, 1]], [0], [2, 2])
assert crop.flatten().tolist() == [0.0, 3.0, 12.0, 15.0]
patches = tf.extract_image_patches(grid, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
assert patches[0, 1, 0].tolist() == [8, 9, 12, 13]
try:
    ops.RegisterGradient("Guided")
except NotImplementedError as error:
    assert str(error).startswith("tensorflow.python.framework.ops.RegisterGradient: TensorFlow is not installed")
"""

COMPUTED_OUTSIDE = """
inputs = Input((5,))
layer = Dense(3, use_bias=False)
hidden = layer(inputs)
back = K.dot(hidden, K.transpose(layer.kernel)) * K.sum(layer.kernel)
model = Model(inputs, back)
kernel = random.standard_normal((5, 3)).astype("float32")
layer.set_weights([kernel])
assert np.allclose(model.predict(x), x @ kernel @ kernel.T * kernel.sum(), rtol=1e-3, atol=1e-3)
"""

LAYER_BEHIND_THE_OUTPUT = """
class Scores(Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(1,), initializer="ones")

    def call(self, inputs):
        return inputs

    def compute_mask(self, inputs, mask=None):
        return None

def loss(y_true, y_pred):
    layer, index = y_pred._keras_history[:2]
    scores, mask = layer._inbound_nodes[index].input_tensors[0], layer._inbound_nodes[index].input_masks[0]
    kept = K.expand_dims(layer.scale, 0) * K.sum(scores, -1) * K.cast(mask, "float32")
    return K.sum(K.square(kept - y_true[:, :, 0]), axis=1)

words = Input((3,))
embedded = Embedding(7, 2, mask_zero=True)(words)
scored = Scores()
scored.supports_masking = True
model = Model(words, scored(embedded))
model.compile("sgd", loss)
model.layers[-1].set_weights([np.array([3.0])])
data = np.array([[1, 2, 0], [3, 0, 0]])
table = model.get_weights()[0]
expected = ((3 * table[data].sum(-1) * (data > 0) - 1) ** 2).sum(1).mean()
assert abs(model.evaluate(data, np.ones((2, 3, 1)), verbose=0) - expected) < 1e-4
"""

SIZES_TOGETHER = """
layer = Conv2D(6, (3, 2), padding="same", W_regularizer="l2", init="zero")
assert layer.kernel_size == (3, 2) and layer.padding == "same"
class Tied(Embedding):
    def call(self, inputs):
        return [super().call(inputs), self.embeddings]

    def compute_output_shape(self, input_shape):
        return [super().compute_output_shape(input_shape), K.int_shape(self.embeddings)]

words = Input((3,), dtype="int32")
vectors, table = Tied(7, 2)(words)
assert vectors.shape == (None, 3, 2) and table.shape == (7, 2)
"""

# keras-contrib's Capsule ends its `build` so; in Keras 2 the attribute hides the method, which is not called again.
AN_ATTRIBUTE_HIDES_A_METHOD = """
class Doubling(Layer):
    def build(self, input_shape):
        self.scale = self.add_weight("scale", (input_shape[1],), initializer="ones")
        self.build = True

    def call(self, inputs):
        return inputs * self.scale * 2

    def compute_output_shape(self, input_shape):
        return input_shape

inputs = Input((5,))
model = Model(inputs, Doubling()(inputs))
assert model.layers[1].build is True and model.layers[1].built
assert np.allclose(model.predict(x), 2 * x)
"""

# On TensorFlow 1, `bool(K.variable(0.))` is True. A bias of one zero is where torch would say False with no error.
A_WEIGHT_IS_TRUE = """
class Linear(Layer):
    def __init__(self, units, use_bias=True, **kwargs):
        self.units, self.use_bias = units, use_bias
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[1], self.units), initializer="ones")
        self.bias = self.add_weight("bias", (self.units,), initializer="zeros") if self.use_bias else None
        self.shift = K.variable(np.zeros((1,)))
        self._trainable_weights = self.trainable_weights + [self.shift]
        self.built = True

    def call(self, inputs):
        output = K.dot(inputs, self.kernel)
        if self.bias:
            output += self.bias
        if self.shift:
            output += self.shift
        return output

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.units)

for units in (1, 3):
    inputs = Input((5,))
    model = Model(inputs, Linear(units)(inputs))
    model.compile("sgd", lambda y_true, y_pred: K.sum(y_pred, axis=-1))
    model.train_on_batch(x, np.zeros((4, units)))
    assert np.allclose(model.layers[1].get_weights()[1], -0.01)  # it moves though it was zero
    assert np.allclose(model.layers[1].get_weights()[2], -0.01 * units)
    model.save_weights("w.h5")
    again = Model(inputs, Linear(units)(inputs))
    again.load_weights("w.h5")
    assert np.allclose(again.predict(x), model.predict(x))
    assert np.allclose(Model(inputs, Linear(units, False)(inputs)).predict(x), x.sum(1, keepdims=True))
assert bool(K.variable(0.0)) and bool(K.variable([0.0, 1.0])) and bool(Dense(1, input_shape=(1,)).name)
"""

CASES = {
    name.lower(): value
    for name, value in list(globals().items())
    if name.isupper() and isinstance(value, str) and name != "PRELUDE"
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_a_script_computes_what_it_does_in_keras(code, tmp_path: Path):
    found = FORKS.run(PRELUDE + code, tmp_path)
    assert found.returncode == 0, found.stderr[-2000:]

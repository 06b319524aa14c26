"""What old scripts ask of graphs, layers and `K.function`. Each test runs a process of its own, as a script."""

from pathlib import Path

import pytest
from old_scripts import passed

PRELUDE = """
import torchkeras.as_keras
import warnings
import numpy as np
import pytest
from keras import backend as K, layers, optimizers
from keras.engine.base_layer import Layer
from keras.layers import LSTM, BatchNormalization, Dense, Dropout, Embedding, Input, Lambda, Masking, TimeDistributed
from keras.models import Model, Sequential

random = np.random.default_rng(0)
x = random.standard_normal((8, 5)).astype("float32")
"""

EQUAL = """
a, b = Input((3,)), Input((4,))
assert a == a and a != b and b in [a, b] and [a, b].index(b) == 1
"""

CALLED_BY_HAND = """
inputs = Input((4, 5))
lstm = LSTM(3, return_sequences=True)
model = Model(inputs, lstm(inputs))
sequences = random.standard_normal((2, 4, 5)).astype("float32")
by_hand = K.function([inputs], [lstm.call(inputs)])([sequences])[0]
assert np.allclose(by_hand, model.predict(sequences), atol=1e-6)
(state, carry) = lstm.get_initial_state(inputs)
assert K.int_shape(state) == (None, 3)
assert not K.function([inputs], [carry])([sequences])[0].any()
state = [K.variable(np.ones((2, 3))), K.variable(np.zeros((2, 3)))]
begun = Model(inputs, lstm(inputs, initial_state=state))
assert np.abs(begun.predict(sequences, batch_size=2) - model.predict(sequences)).max() > 1e-3
"""

MASKS = """
inputs = Input((None, 5))
wrapped = TimeDistributed(Masking())
outputs = wrapped(inputs)
mask = wrapped.compute_mask(inputs)
sequences = np.ones((2, 3, 5), "float32")
sequences[0, 1:] = 0
found = K.function([inputs], [mask])([sequences])[0]
assert (found == sequences.any(-1)).all()
"""

LISTS = """
inputs = Input((5,))
norm = BatchNormalization()
dense = Dense(3, kernel_regularizer="l2", activity_regularizer="l1")
model = Model(inputs, dense(norm(inputs)))
assert [each.weight.name for each in norm.updates] == [each.name for each in norm.non_trainable_weights]
assert len(model.updates) == len(norm.get_updates_for(norm.input)) == 2 and norm.get_updates_for(None) == []
assert len(dense.losses) == 2 and len(dense.get_losses_for(None)) == len(dense.get_losses_for(dense.input)) == 1
norm.trainable = False
assert norm.updates == model.updates == []
lstm = LSTM(3, kernel_regularizer="l2", activity_regularizer="l2")
lstm(Input((4, 5)))
assert len(lstm.losses) == 2 and len(lstm.cell.losses) == 1 and lstm.cell.units == 3
"""

# What a function with the model's updates does to statistics is what `fit` does, and one without leaves them.
MOVED = """
def made():
    norm = BatchNormalization(input_shape=(5,), momentum=0.5)
    return Sequential([norm])

one, other = made(), made()
other.compile("sgd", "mse")
other.optimizer.lr = 0.0
other.train_on_batch(x, x)
K.function([one.input, K.learning_phase()], [one.output])([x, 1])
assert not one.get_weights()[2].any()
K.function([one.input, K.learning_phase()], [one.output], updates=one.updates)([x, 1])
for a, b in zip(one.get_weights()[2:], other.get_weights()[2:]):
    assert a.any() and np.allclose(a, b, atol=1e-6)
"""

# As scripts of reinforcement learning write their steps; the numbers are those of `train_on_batch`.
STEPS = """
start = [random.standard_normal((5, 1)).astype("float32"), np.zeros(1, "float32")]

def made():
    model = Sequential([Dense(1, input_shape=(5,))])
    model.set_weights(start)
    return model

one, old, other = made(), made(), made()
other.compile(optimizers.Adam(lr=0.1), "mse")
functions = []
for model, is_old in ((one, False), (old, True)):
    target = K.placeholder(shape=(None, 1))
    loss = K.mean(K.square(model.output - target))
    weights = model.trainable_weights
    given = (weights, {}, loss) if is_old else (loss, weights)
    functions.append(K.function([model.input, target], [loss], updates=optimizers.Adam(lr=0.1).get_updates(*given)))
for _ in range(5):
    losses = [each([x, x[:, :1]])[0] for each in functions]
    assert np.allclose(losses, other.train_on_batch(x, x[:, :1]), atol=1e-6)
for model in (one, old):
    assert np.allclose(model.get_weights()[0], other.get_weights()[0], atol=1e-6)
bounded = made()
step = optimizers.SGD(lr=1.0).get_updates(
    params=bounded.trainable_weights,
    constraints={bounded.trainable_weights[0]: lambda w: K.clip(w, -0.1, 0.1)},
    loss=K.sum(bounded.output),
)
K.function([bounded.input], [], updates=step)([x])
assert np.abs(bounded.get_weights()[0]).max() <= 0.1
with pytest.raises(TypeError, match="the loss of an optimizer's step in a backend function is symbolic"):
    variable = K.variable(0.0)
    K.function([K.placeholder((1,))], [], updates=optimizers.SGD().get_updates(K.mean(variable), [variable]))
"""

SESSIONS = """
model = Sequential([Dense(2, input_shape=(5,)), Dropout(0.5)])
session = K.get_session()
found = session.run([model.output, model.layers[0].kernel], feed_dict={model.input: x, K.learning_phase(): 0})
assert np.allclose(found[0], model.predict(x), atol=1e-6) and (found[1] == model.get_weights()[0]).all()
assert (session.run(model.output, {model.input: x, K.learning_phase(): 1}) == 0).any()
a, b = K.placeholder(()), K.placeholder(())
total, fed = K.variable(0.0), {b: 3.0}
add = K.function([a], [a + b], fetches=[K.update(total, a * b)], feed_dict=fed)
assert add([2.0]) == [5.0] and session.run(total) == 6.0
fed[b] = 4.0
assert add([2.0]) == [6.0] and session.run([total]) == [8.0]
"""

LAMBDAS = """
import copy
doubled = Sequential([Lambda(lambda t, by: t * by, arguments={"by": 2}, input_shape=(5,))])
again = Sequential.from_config(copy.deepcopy(doubled.get_config()))
assert (again.predict(x) == 2 * x).all()
"""

# Keras 1 counted samples: 8 samples are 4 batches of two.
COUNTED = """
def batches():
    while True:
        seen.append(1)
        yield x[:2], x[:2, :1]

model = Sequential([Dense(1, input_shape=(5,))])
model.compile("sgd", "mse")
for options in ({}, {"nb_val_samples": 4, "validation_data": batches()}):
    seen = []
    history = model.fit_generator(batches(), samples_per_epoch=8, nb_epoch=2, verbose=0, max_q_size=1, **options)
    assert len(history.epoch) == 2 and len(seen) >= 8 + 4 * bool(options)
assert model.evaluate_generator(batches(), val_samples=4).shape == ()
with pytest.warns(UserWarning, match="one thread"):
    found = model.predict_generator(batches(), val_samples=5, nb_worker=2, pickle_safe=True)
assert found.shape == (6, 1)
"""

RATES = """
with pytest.warns(UserWarning, match="a rate of 3 drops nothing"):
    layer = Dropout(3)
assert (K.function([K.learning_phase()], [layer(K.ones((2, 5)))])([1])[0] == 1).all()
with pytest.raises(ValueError, match="must be a number from 0 to below 1"):
    Dropout(-1)
"""

SHAPES = """
class Twice(Layer):
    def call(self, inputs):
        return [inputs, inputs]

    def compute_output_shape(self, input_shape):
        shape = super(Twice, self).compute_output_shape(input_shape)
        return [shape, shape]

a, b = Twice()(Input((3,)))
assert K.int_shape(a) == K.int_shape(b) == (None, 3)
"""

SPARSE = """
from scipy import sparse
dense = np.diag(np.arange(3.0)).astype("float32")
matrix = K.variable(sparse.csr_matrix(dense))
assert K.is_sparse(matrix) and (K.eval(matrix) == dense).all()
assert (K.eval(K.dot(matrix, K.variable(dense))) == dense @ dense).all()
"""

THEANO = """
from keras.backend import tensorflow_backend, theano_backend
assert tensorflow_backend is K and theano_backend is not K and theano_backend.th_sparse_module is None
assert theano_backend.floatx is K.floatx and K._BACKEND == "tensorflow"
"""

CODE = {
    "equal": EQUAL,
    "called_by_hand": CALLED_BY_HAND,
    "masks": MASKS,
    "lists": LISTS,
    "moved": MOVED,
    "steps": STEPS,
    "sessions": SESSIONS,
    "lambdas": LAMBDAS,
    "counted": COUNTED,
    "rates": RATES,
    "shapes": SHAPES,
    "sparse": SPARSE,
    "theano": THEANO,
}


@pytest.mark.parametrize("name", CODE)
def test_old_code_runs(name: str, tmp_path: Path):
    passed(PRELUDE + CODE[name], tmp_path)

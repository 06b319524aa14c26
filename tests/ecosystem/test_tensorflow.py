"""TensorFlow: its tensors, variables and `tf.data.Dataset` are data for the methods of models of Keras 3's dialect."""

import numpy as np
import pytest
import tensorflow as tf

from torchkeras import keras3 as keras

pytestmark = pytest.mark.slow

X = np.arange(40, dtype="float32").reshape(20, 2) / 40
Y = X.sum(1, keepdims=True) + 1
BATCHES = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)


def model() -> keras.Model:
    made = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
    made.compile("sgd", "mse")
    return made


def losses(*args, **options) -> list[float]:
    return model().fit(*args, verbose=0, **options).history["loss"]


EXPECTED = losses(X, Y, batch_size=8, shuffle=False, epochs=2)
SAME = {
    "a dataset": lambda: losses(BATCHES, epochs=2),
    "without an end": lambda: losses(BATCHES.repeat(), steps_per_epoch=3, epochs=2),
    "of doubles": lambda: losses(BATCHES.map(lambda x, y: (tf.cast(x, tf.float64), y)), epochs=2),
    "tensors": lambda: losses(tf.constant(X), tf.constant(Y), batch_size=8, shuffle=False, epochs=2),
    "variables": lambda: losses(tf.Variable(X), tf.Variable(Y), batch_size=8, shuffle=False, epochs=2),
}


@pytest.mark.parametrize("name", SAME)
def test_fit_gives_the_numbers_of_arrays(name: str):
    assert SAME[name]() == pytest.approx(EXPECTED)


def test_a_dataset_without_an_end_needs_steps():
    with pytest.raises(ValueError, match=r"fit: steps_per_epoch must be given with an iterable .* that has no end"):
        losses(BATCHES.repeat())


def test_other_methods():
    one = model()
    expected = one.evaluate(X, Y, verbose=0)
    assert one.evaluate(BATCHES, verbose=0) == pytest.approx(expected)
    assert one.evaluate(tf.constant(X), tf.constant(Y), verbose=0) == pytest.approx(expected)
    assert one.test_on_batch(tf.constant(X), tf.constant(Y)) == pytest.approx(expected)
    for inputs in (tf.constant(X), BATCHES.map(lambda x, y: x)):
        np.testing.assert_allclose(one.predict(inputs, verbose=0), one.predict(X, verbose=0))
    assert list(one.fit(X, Y, validation_data=BATCHES, verbose=0).history) == ["loss", "val_loss"]


def test_layers_adapt():
    normalization = keras.layers.Normalization()
    normalization.adapt(BATCHES.map(lambda x, y: x))
    np.testing.assert_allclose(normalization(X).mean(0), [0, 0], atol=1e-6)
    texts = keras.layers.TextVectorization()
    texts.adapt(tf.data.Dataset.from_tensor_slices(["a b", "b c"]).batch(2))
    assert texts.get_vocabulary() == ["", "[UNK]", "b", "c", "a"]
    assert texts(tf.constant(["a b"])).tolist() == [[4, 2]]

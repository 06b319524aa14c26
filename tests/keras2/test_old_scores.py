"""Losses and metrics of old scripts that change their arguments, and partials. Numbers are of Keras 2.2.4."""

from pathlib import Path

from old_scripts import passed

PRELUDE = """
import functools
import numpy as np
from keras import backend as K
from keras import metrics
from keras.layers import Dense
from keras.models import Sequential

random = np.random.RandomState(0)
x, y = random.rand(24, 4), np.eye(3)[random.randint(0, 3, 24)]

def trained(loss, activation="softmax", **options):
    model = Sequential([Dense(3, activation=activation, input_dim=4)])
    weights = [0.2 * np.random.RandomState(0).randn(4, 3), np.zeros(3)]
    model.set_weights(weights)
    model.compile("sgd", loss, **options)
    return model, [model.train_on_batch(x, y) for _ in range(2)]
"""

IN_PLACE = """
def weighted_categorical_crossentropy(weights):
    weights = K.variable(weights)
    def loss(y_true, y_pred):
        y_pred /= K.sum(y_pred, axis=-1, keepdims=True)
        y_pred = K.clip(y_pred, K.epsilon(), 1 - K.epsilon())
        return -K.sum(y_true * K.log(y_pred) * weights, -1)
    return loss

for weights, expected in ((np.ones(3), [1.0859, 1.0852]), (np.array([0.5, 2, 1]), [1.0549, 1.0542])):
    _, losses = trained(weighted_categorical_crossentropy(weights))
    assert np.allclose(losses, expected, rtol=0, atol=6e-5), losses

def doubling(y_true, y_pred):
    y_pred *= 2
    return K.mean(K.square(y_pred), -1)

def size(y_true, y_pred):
    return K.mean(K.square(y_pred))

model, ((loss, doubled, again, untouched), _) = trained(doubling, "linear", metrics=[doubling, doubling, size])
assert np.isclose(loss, doubled) and np.isclose(loss, again) and np.isclose(loss, 4 * untouched)
found = model.predict(x)
assert np.allclose(model.test_on_batch(x, y), [4 * (found**2).mean()] * 3 + [(found**2).mean()], rtol=1e-5)
"""

NAMES = """
top2 = functools.partial(metrics.top_k_categorical_accuracy, k=2)
top2.__name__ = "top2"
other = functools.partial(metrics.top_k_categorical_accuracy, k=1)
model, _ = trained("categorical_crossentropy", metrics=[top2, other])
assert model.metrics_names == ["loss", "top2", "top_k_categorical_accuracy"]
assert sorted(model.fit(x, y, verbose=0).history) == sorted(model.metrics_names)
"""


def test_a_loss_may_change_its_arguments(tmp_path: Path):
    passed(PRELUDE + IN_PLACE, tmp_path)


def test_a_partial_goes_by_the_name_that_it_is_given(tmp_path: Path):
    passed(PRELUDE + NAMES, tmp_path)

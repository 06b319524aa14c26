"""Moving statistics under `import keras`, by those that Keras 2.2.4 had on TensorFlow 1.14."""

from pathlib import Path

import pytest
from old_scripts import passed

PRELUDE = """
import numpy as np
from keras import backend as K
from keras.layers import BatchNormalization, Dense, Input
from keras.models import Model, Sequential, clone_model, load_model
from keras.optimizers import SGD

random = np.random.RandomState(0)
batches = [random.rand(8, 3).astype("f") * 4 + 1 for _ in range(6)]

def step(model, *which):
    for k in which:
        model.train_on_batch(batches[k], batches[k])
    return model.get_weights()[2]

def moving(*which, momentum=0.9):  # the formula, from the first step on
    shares = np.array([momentum**k for k in range(len(which))])[::-1]
    means, variances = (
        sum(s * f(batches[k]) for s, k in zip(shares, which)) / shares.sum()
        for f in (lambda x: x.mean(0), lambda x: x.var(0, ddof=1))
    )
    return means, variances

def near(found, expected, atol=2e-5):
    assert np.allclose(found, expected, rtol=0, atol=atol), (found, expected)

def made(**options):
    model = Sequential([BatchNormalization(input_shape=(3,), momentum=0.9, **options)])
    model.compile(SGD(0.0), "mse")
    return model
"""

STEPS = """
model = made()
near(step(model, 0), [3.07361, 3.54982, 3.70201])
near(step(model, 1), [3.18174, 3.05040, 3.28208])
near(step(model, 2), [2.82509, 2.91376, 3.15980])
near(model.get_weights()[3], [0.93803, 1.70010, 1.14513], 3e-4)  # Keras divides by n - 1 - epsilon
near(model.get_weights()[2:], moving(0, 1, 2), 1e-6)
model.save("model.h5")  # which has nothing of the correction: it begins again
near(step(load_model("model.h5"), 3), [2.71089, 2.43434, 2.81872])
near(step(load_model("model.h5"), 3, 4), [2.95967, 3.04327, 2.97680])
near(step(model, 3), [2.79188, 2.77436, 3.06062])
model.set_weights([np.ones(3), np.zeros(3), np.full(3, 100.0), np.full(3, 100.0)])
assert model.predict(batches[0]).max() < 0
near(step(model, 4), [2.88753, 2.97385, 3.07490])
model.compile(SGD(0.0), "mse")
near(step(model, 5), [2.85012, 2.93511, 3.23638])
near(model.get_weights()[2:], moving(0, 1, 2, 3, 4, 5), 1e-6)
"""

MODELS = """
x = Input((3,))
inner = Model(x, BatchNormalization(momentum=0.9)(x))
outer = Model(x, inner(x))
inner.compile(SGD(0.0), "mse")
outer.compile(SGD(0.0), "mse")
near(step(outer, 0, 1), [3.18174, 3.05040, 3.28208])
near(step(inner, 2), [2.82509, 2.91376, 3.15980])  # a layer has one state, whatever trains it
near(step(outer, 3), [2.79188, 2.77436, 3.06062])

frozen = BatchNormalization(momentum=0.9)
model = Model(x, frozen(x))
frozen.trainable = False
model.compile(SGD(0.0), "mse")
near(step(model, 0), np.zeros(3))
frozen.trainable = True
model.compile(SGD(0.0), "mse")
near(step(model, 1), [3.27906, 2.60092, 2.90414])
again = clone_model(model)
again.set_weights(model.get_weights())
again.compile(SGD(0.0), "mse")
near(step(again, 2), [2.21522, 2.68011, 2.95071])
"""

IMAGES = """
random = np.random.RandomState(1)
images = [random.rand(4, 5, 5, 2) * 3 for _ in range(3)]
model = Sequential([BatchNormalization(input_shape=(5, 5, 2), momentum=0.5)])
model.compile(SGD(0.0), "mse")
for each in images:
    model.train_on_batch(each, each)
means = [each.mean((0, 1, 2)) for each in images]
near(model.get_weights()[2], (means[0] + 2 * means[1] + 4 * means[2]) / 7, 1e-6)
kept = model.get_weights()
model.evaluate(images[0], images[0], verbose=0)
model.predict(images[0])
assert all(map(np.array_equal, model.get_weights(), kept))
"""

OTHERS = """
for options in ({"variance": "sample+epsilon"}, {"frozen_is_fixed": True}):  # of Theano, of later versions
    near(step(made(**options), 0), 0.1 * batches[0].mean(0))
"""


@pytest.mark.parametrize("code", [STEPS, MODELS, IMAGES, OTHERS], ids=["steps", "models", "images", "others"])
def test_the_first_steps_are_corrected(code: str, tmp_path: Path):
    passed(PRELUDE + code, tmp_path)

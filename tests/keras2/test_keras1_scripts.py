"""What scripts of Keras 1 call otherwise than those of Keras 2. Each test runs a process of its own, as a script."""

from pathlib import Path

import pytest
from old_scripts import FORKS

PRELUDE = """
import torchkeras.as_keras
import numpy as np
import pytest
from keras import backend as K
from keras.layers import Activation, Concatenate, Dense, Input, Masking
from keras.models import Model, Sequential

random = np.random.default_rng(0)
x = random.standard_normal((8, 5)).astype("float32")
"""

# A kernel for "th" is (filters, channels, rows, columns), in Keras 2 (rows, columns, channels, filters).
CONVOLUTIONS = """
image = K.variable(random.standard_normal((2, 3, 6, 5)))
kernel = K.variable(random.standard_normal((2, 2, 3, 4)))
turned = K.permute_dimensions(kernel, (3, 2, 0, 1))
wanted = K.eval(K.conv2d(image, kernel, (2, 1), "same", "channels_first"))
for found in (
    K.conv2d(image, turned, (2, 1), "same", "th"),
    K.conv2d(image, turned, strides=(2, 1), border_mode="same", dim_ordering="th", filter_shape=(4, 3, 2, 2)),
):
    assert np.array_equal(K.eval(found), wanted)
with pytest.raises(ValueError, match="was said to have the shape"):
    K.conv2d(image, turned, dim_ordering="th", filter_shape=(4, 3, 2, 3))
inputs = Input((3, 6, 5))
assert K.int_shape(K.conv2d(inputs, K.constant(K.eval(turned)), dim_ordering="th")) == (None, 4, 5, 4)
last = K.permute_dimensions(image, (0, 2, 3, 1))
rates = K.conv2d(last, kernel, dim_ordering="tf", filter_dilation=(2, 2))
assert np.array_equal(K.eval(rates), K.eval(K.conv2d(last, kernel, dilation_rate=(2, 2))))

volume, solid = K.variable(random.standard_normal((1, 2, 4, 4, 4))), K.variable(np.ones((2, 2, 2, 2, 3)))
turned = K.permute_dimensions(solid, (4, 3, 0, 1, 2))
found, wanted = K.conv3d(volume, turned, dim_ordering="th"), K.conv3d(volume, solid, data_format="channels_first")
assert np.array_equal(K.eval(found), K.eval(wanted))

apart = [K.variable(random.standard_normal(shape)) for shape in ((2, 2, 3, 1), (1, 1, 3, 4))]
turned = [K.permute_dimensions(each, (3, 2, 0, 1)) for each in apart]
found = K.separable_conv2d(image, *turned, dim_ordering="th")
assert np.array_equal(K.eval(found), K.eval(K.separable_conv2d(image, *apart, data_format="channels_first")))

steps, line = K.variable(random.standard_normal((2, 6, 3))), K.variable(np.ones((2, 3, 4)))
found = K.conv1d(steps, line, stride=2, border_mode="same")
assert np.array_equal(K.eval(found), K.eval(K.conv1d(steps, line, 2, "same")))

K.set_image_data_format("channels_first")
turned = K.permute_dimensions(kernel, (3, 2, 0, 1))
assert np.array_equal(K.eval(K.conv2d(image, turned, border_mode="valid")), K.eval(K.conv2d(image, kernel)))
"""

OTHER_NAMES = """
image = K.variable(random.standard_normal((1, 4, 6, 2)))
for old, new in (
    (K.pool2d(image, (2, 2), border_mode="same", pool_mode="avg"),
     K.pool2d(image, (2, 2), (1, 1), "same", None, "avg")),
    (K.pool2d(image, (2, 2), (2, 2), "valid", "th"), K.pool2d(image, (2, 2), (2, 2), "valid", "channels_first")),
    (K.expand_dims(image, dim=1), K.expand_dims(image, 1)),
    (K.one_hot(K.constant([1, 0], "int32"), nb_classes=3), K.one_hot(K.constant([1, 0], "int32"), 3)),
    (K.resize_images(X=image, height_factor=2, width_factor=3, dim_ordering="tf"),
     K.resize_images(image, 2, 3, "channels_last")),
    (K.spatial_2d_padding(image, (1, 2), "th"), K.spatial_2d_padding(image, ((1, 1), (2, 2)), "channels_first")),
    (K.spatial_2d_padding(image, padding=(1, 2)), K.spatial_2d_padding(image, ((1, 1), (2, 2)))),
):
    assert np.array_equal(K.eval(old), K.eval(new))
assert np.std(K.eval(K.random_normal((100, 100), mean=3.0, std=0.5, seed=1))) == pytest.approx(0.5, abs=0.02)
drawn = K.eval(K.random_uniform((1000,), low=2.0, high=3.0))
assert drawn.min() >= 2 and drawn.max() <= 3
with pytest.raises(TypeError, match="^random_normal: an argument is given under its old name and its new one"):
    K.random_normal((2,), std=1.0, stddev=1.0)
with pytest.raises(TypeError, match="^expand_dims: an argument is given twice"):
    K.expand_dims(image, 1, dim=1)
with pytest.raises(ValueError, match="^dim_ordering must be"):
    K.pool2d(image, (2, 2), dim_ordering="ff")
"""

# Batches of 3, 3 and 2: an epoch of 8 samples takes three batches, and one of 5 takes two.
SAMPLES = """
def batches(both=True):
    while True:
        for part in (x[:3], x[3:6], x[6:]):
            seen.append(len(part))
            yield (part, part[:, :1]) if both else [part]

model = Sequential([Dense(1, input_shape=(5,))])
model.compile("sgd", "mse")
for given in ({"samples_per_epoch": 16, "nb_epoch": 2}, {"samples_per_epoch": 16, "nb_epoch": 2, "nb_worker": 0}):
    seen = []
    assert len(model.fit_generator(batches(), verbose=0, **given).epoch) == 2
    assert seen == [3, 3, 2] * 4
seen = []
model.fit_generator(batches(), 5, nb_epoch=2, verbose=0)
assert seen == [3, 3, 2, 3]  # the second epoch goes on where the first ended
seen = []
both = model.fit_generator(batches(), 8, 2, verbose=0, validation_data=batches(), nb_val_samples=8, max_q_size=1)
assert len(both.history["val_loss"]) == 2 and seen == [3, 3, 2] * 4
whole = model.fit_generator(batches(), 8, nb_epoch=1, verbose=0, validation_data=(x, x[:, :1]), nb_val_samples=8)
assert whole.history["val_loss"][0] == pytest.approx(model.evaluate(x, x[:, :1], verbose=0))
assert model.evaluate_generator(batches(), val_samples=8) == pytest.approx(model.evaluate(x, x[:, :1], verbose=0))
assert model.evaluate_generator(batches(), 8, max_q_size=2) == pytest.approx(model.evaluate(x, x[:, :1], verbose=0))
assert np.allclose(model.predict_generator(batches(False), val_samples=8), model.predict(x), atol=1e-6)
with pytest.warns(UserWarning, match="one thread runs it"):
    assert model.predict_generator(batches(), val_samples=7, nb_worker=3, pickle_safe=True).shape == (8, 1)
seen = []
model.fit_generator(batches(), steps_per_epoch=2, nb_epoch=1, verbose=0, nb_worker=0)
assert seen == [3, 3]  # batches, as in Keras 2
with pytest.raises(ValueError, match="^the generator ended after 3 samples of 5"):
    model.fit_generator(iter([(x[:3], x[:3, :1])]), samples_per_epoch=5, nb_epoch=1, verbose=0)
with pytest.raises(TypeError, match="^fit_generator: an argument is given twice"):
    model.fit_generator(batches(), 8, samples_per_epoch=8)
from keras.utils import Sequence

class Two(Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, number):
        return x[4 * number : 4 * number + 4], x[4 * number : 4 * number + 4, :1]

assert len(model.fit_generator(Two(), nb_epoch=2, verbose=0, nb_worker=2).epoch) == 2
with pytest.raises(TypeError, match="samples_per_epoch counts samples of a generator; a Sequence"):
    model.fit_generator(Two(), samples_per_epoch=8)
with pytest.raises(ValueError, match="samples_per_epoch"):
    model.fit_generator(batches(), samples_per_epoch=0)
"""

MODELS = """
model = Sequential([Dense(2, input_shape=(5,))])
assert model.model is model
with pytest.warns(UserWarning, match="mode was an option of Theano's functions"):
    model.compile("sgd", "mse", mode="FAST_COMPILE")
a, b, dense = Input((3,)), Input((3,)), Dense(2)
graph = Model([a, b], [dense(a), dense(b)])
assert graph.input_layers_node_indices == graph.input_layers_tensor_indices == [0, 0]
assert graph.output_layers_node_indices == [0, 1] and graph.output_layers_tensor_indices == [0, 0]
"""

LOSSES = """
from keras.engine.training import check_loss_and_target_compatibility, weighted_objective
from keras import objectives
weighted = weighted_objective(objectives.get("mae"))
true, predicted = K.constant([[1.0], [2.0]]), K.constant([[2.0], [5.0]])
assert K.eval(weighted(true, predicted, K.constant([1.0, 0.0]))) == 1.0
with pytest.raises(ValueError, match="You are passing a target array"):
    check_loss_and_target_compatibility([np.ones((2, 1))], [K.categorical_crossentropy], [(None, 1)])
with pytest.raises(ValueError, match="targets to have the same shape"):
    check_loss_and_target_compatibility([np.ones((2, 3))], [K.categorical_crossentropy], [(None, 4)])
"""

# A vector's mask has no axis of features: what is concatenated counts where both do.
MASKS = """
a, b = K.constant(np.ones((3, 2))), K.constant(np.ones((3, 4)))
first, second = K.constant([0, 1, 1], "bool"), K.constant([1, 0, 1], "bool")
joined = Concatenate(axis=1)
assert joined.compute_mask([a, b], [first, None]).tolist() == [False, True, True]
assert joined.compute_mask([a, b], [first, second]).tolist() == [False, False, True]
assert joined.compute_mask([a, b], [None, None]) is None
masked = joined([Masking(0.0)(Input((3,))), Input((2,))])
assert K.int_shape(masked) == (None, 5)
"""


# A function of a shape and a name, as Keras 1 called it.
INITIALIZERS = """
from keras.initializations import identity
layer = Dense(5, init=lambda shape, name: identity(shape, scale=2.0, name=name), input_shape=(5,))
model = Sequential([layer])
assert np.array_equal(layer.get_weights()[0], 2 * np.identity(5))
second = Sequential([Dense(3, kernel_initializer=lambda shape, name="w": np.ones(shape), input_shape=(5,))])
assert np.array_equal(second.get_weights()[0], np.ones((5, 3)))
"""


@pytest.mark.parametrize("script", [
    CONVOLUTIONS, OTHER_NAMES, SAMPLES, MODELS, LOSSES, MASKS, INITIALIZERS,
], ids=["convolutions", "other_names", "samples", "models", "losses", "masks", "initializers"])  # fmt: skip
def test_scripts(script: str, tmp_path: Path):
    done = FORKS.run(PRELUDE + script, tmp_path)
    assert done.returncode == 0, done.stderr

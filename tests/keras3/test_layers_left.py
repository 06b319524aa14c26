"""Layers of Keras 3 in files."""

import numpy as np
import pytest

import torchkeras.keras3 as keras


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
def test_a_file_holds_the_interpolation(tmp_path, interpolation):
    inputs = keras.Input((4, 5, 2))
    model = keras.Model(inputs, keras.layers.UpSampling2D((2, 3), interpolation=interpolation)(inputs))
    model.save(tmp_path / "model.keras")
    images = np.sin(np.arange(40, dtype="float32")).reshape(1, 4, 5, 2)
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.predict(images), model.predict(images))

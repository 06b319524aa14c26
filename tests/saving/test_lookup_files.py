"""IntegerLookup in `.keras` files: those of Keras 3.15 on TensorFlow are read, and ours have the same options."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from torchkeras.layers import Input, IntegerLookup
from torchkeras.models import Model, load_model

FOLDER = Path(__file__).parents[1] / "golden" / "keras-3.15-lookup"
# What Keras gave for [20, 10, 7], or the indices [2, 1, 0].
CASES = {
    "int": ({"vocabulary": [10, 20]}, [[20, 10, 7]], [[2, 1, 0]]),
    "multi_hot": (
        {
            "vocabulary": [10, 20],
            "num_oov_indices": 2,
            "mask_token": 0,
            "output_mode": "multi_hot",
            "max_tokens": 9,
            "pad_to_max_tokens": True,
        },
        [[20, 10, 7]],
        [[0, 1, 1, 1, 0, 0, 0, 0, 0]],
    ),
    "invert": ({"vocabulary": [10, 20], "invert": True}, [[2, 1, 0]], [[20, 10, -1]]),
}


def options(path):
    with zipfile.ZipFile(path) as archive:
        entry = json.loads(archive.read("config.json"))["config"]["layers"][1]
    own = ("name", "dtype", "vocabulary", "vocabulary_size")  # ours has the tokens of mask and unknown in front
    return entry["module"], entry["class_name"], {k: v for k, v in entry["config"].items() if k not in own}


@pytest.mark.parametrize("case", CASES)
def test_as_keras_writes_it(tmp_path, case):
    given, x, expected = CASES[case]
    inputs = Input((3,), dtype="int64")
    model = Model(inputs, IntegerLookup(**given)(inputs))
    model.save(tmp_path / "m.keras")
    assert options(tmp_path / "m.keras") == options(FOLDER / f"{case}.keras")
    for found in (model, load_model(tmp_path / "m.keras"), load_model(FOLDER / f"{case}.keras")):
        assert found.predict(np.array(x)).tolist() == expected


def test_what_adapt_found_is_in_the_file(tmp_path):
    layer = IntegerLookup(max_tokens=5)
    layer.adapt(np.array([1, 1, 5, 20, 20, 20]))
    inputs = Input((3,), dtype="int64")
    Model(inputs, layer(inputs)).save(tmp_path / "m.keras")
    assert load_model(tmp_path / "m.keras").predict(np.array([[20, 10, 7]])).tolist() == [[1, 0, 0]]

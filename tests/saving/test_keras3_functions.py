"""Torch's functions in a graph as operations of Keras 3, in `.keras` files and back; others under a name of ours."""

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchkeras.models import load_model
from torchkeras.saving.write.keras3_writing import keras3_form

ROOT = Path(__file__).parents[2]
CASES = runpy.run_path(str(ROOT / "scripts" / "written_functions.py"))
INPUTS = [
    np.random.RandomState(k).uniform(-2, 2, (4, 3, size)).astype("float32") for k, size in enumerate((4, 4, 3, 4))
]


def outputs(model: Any) -> list[np.ndarray]:
    found = model.predict(INPUTS, batch_size=4)
    return found if isinstance(found, list) else [found]


def assert_equal_after_saving(model: Any, path: Path) -> None:
    model.save(path)
    for saved, loaded in zip(outputs(model), outputs(load_model(path)), strict=True):
        assert saved.shape == loaded.shape
        np.testing.assert_allclose(loaded, saved, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CASES["SAME"])
def test_a_function_that_keras_3_has(name: str, tmp_path: Path):
    model = CASES["model_of"](CASES["SAME"][name])
    config, unread = keras3_form(model)
    modules = {str(entry["module"]) for entry in config["config"]["layers"]}
    assert unread == []
    assert all(module == "keras.layers" or module.startswith("keras.src.ops.") for module in modules)
    assert_equal_after_saving(model, tmp_path / "m.keras")


@pytest.mark.parametrize("name", CASES["OTHERS"])
def test_a_function_that_keras_3_does_not_have(name: str, tmp_path: Path):
    model = CASES["model_of"](CASES["OTHERS"][name])
    config, unread = keras3_form(model)
    assert "torchkeras>Operation" in [entry["class_name"] for entry in config["config"]["layers"]]
    assert [text.rpartition("'")[2] for text in unread] == [" has no form in Keras 3."]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_equal_after_saving(model, tmp_path / "m.keras")

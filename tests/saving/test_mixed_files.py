"""Models under mixed policies in files: those of genuine Keras compute and train here as there, and ours go on."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from torchkeras import Sequential, clear_session, config
from torchkeras.base.dtypes import dtype_name
from torchkeras.errors import ArchitectureError, WeightMismatchError
from torchkeras.layers import Dense
from torchkeras.models import load_model
from torchkeras.optimizers import Adam
from torchkeras.saving.dialects import translation
from torchkeras.saving.optimizer.options import from_keras3

GOLDEN = Path(__file__).parent.parent / "golden" / "mixed-precision"
RECORDS = sorted(GOLDEN.glob("*.json"))
# Two units in the last place of 1, in which the genuine outputs are rounded.
NEAR = {"float16": 2**-10, "bfloat16": 2**-7}
LOSS_NEAR = {"float16": 4e-4, "bfloat16": 4e-3}
TARGETS = np.eye(3, dtype="float32")[np.arange(8) % 3]


def half_of(path):
    return "bfloat16" if "bfloat16" in path.stem else "float16"


def opened(path):
    """A genuine model, its record and its input."""
    clear_session()
    record = json.loads(path.read_text())
    model = load_model(path.with_suffix(".h5" if path.stem.startswith("tf_keras") else ".keras"))
    return model, record, np.array(record["input"], "int32" if "recurrent" in path.stem else "float32")


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_genuine_model_computes_as_there(path):
    model, record, x = opened(path)
    assert [layer.name for layer in model.layers] == record["layers"]
    assert [dtype_name(layer.output.dtype) for layer in model.layers] == record["types"]
    np.testing.assert_allclose(model.predict(x), record["output"], atol=NEAR[half_of(path)])


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_genuine_model_trains_on_as_there(path):
    model, record, x = opened(path)
    losses = [model.train_on_batch(x, TARGETS) for _ in record["losses"]]
    np.testing.assert_allclose(losses, record["losses"], atol=LOSS_NEAR[half_of(path)])


@pytest.mark.parametrize("suffix", ["h5", "keras"])
@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_it_survives_our_own_saving(path, suffix, tmp_path):
    model, _, x = opened(path)
    model.save(tmp_path / f"model.{suffix}")
    again = load_model(tmp_path / f"model.{suffix}")
    assert [layer.dtype_policy for layer in again.layers] == [layer.dtype_policy for layer in model.layers]
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    for each in (model, again):
        each.train_on_batch(x, TARGETS)
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def made() -> Any:
    clear_session()
    model = Sequential([Dense(4, input_shape=(6,)), Dense(3, activation="softmax")], dtype="mixed_float16")
    model.compile(Adam(0.01), "categorical_crossentropy")
    model.train_on_batch(np.ones((8, 6)), TARGETS)
    return model


@pytest.mark.parametrize("suffix", ["h5", "keras"])
def test_the_loss_scale_stands_in_files(suffix, tmp_path):
    model = made()
    model._training.ready().scaling.scale.fill_(2.0**11)
    model.save(tmp_path / f"model.{suffix}")
    loaded = load_model(tmp_path / f"model.{suffix}")
    assert {name: value.item() for name, value in loaded._training.ready().scaling.state_dict().items()} == {
        "scale": 2.0**11,
        "good_in_a_row": 1,
    }
    for one, other in zip(model.optimizer.get_weights(), loaded.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("wrong", [np.nan, -2.0, 0.0])
def test_a_scale_that_is_none_is_refused(wrong, tmp_path):
    path = tmp_path / "model.h5"
    made().save(path)
    with h5py.File(path, "r+") as file:
        stored: Any = file["optimizer_weights/torchkeras/scale"]
        stored[...] = wrong
    with pytest.raises(WeightMismatchError, match=r"model.h5: the scale of its loss scale is "):
        load_model(path)


def test_a_config_takes_the_policy_of_the_file_and_not_the_global_one(tmp_path):
    path = tmp_path / "model.keras"
    made().save(path)
    config.set_dtype_policy("mixed_bfloat16")
    try:
        loaded = load_model(path)
    finally:
        config.set_dtype_policy(None)
    assert {layer.dtype_policy.name for layer in loaded.layers} == {"mixed_float16"}


SCALED = {"inner_optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.5}}, "dynamic": True}


def test_an_optimizer_that_scales_the_loss_is_the_one_inside():
    found = from_keras3({"class_name": "LossScaleOptimizerV3", "config": {**SCALED, "initial_scale": 32768.0}}, True)
    assert found == {"class_name": "Adam", "config": {"learning_rate": 0.5}}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"dynamic": False}, "the dynamic of LossScaleOptimizer is False, which must be True in torchkeras"),
        ({"initial_scale": 8.0}, "the initial_scale of LossScaleOptimizer is 8.0, which must be 32768.0"),
        ({"inner_optimizer": None}, "the optimizer LossScaleOptimizer has no inner_optimizer"),
    ],
)
def test_another_loss_scale_is_refused(options, text):
    with pytest.raises(ValueError, match=text):
        from_keras3({"class_name": "LossScaleOptimizer", "config": {**SCALED, **options}}, True)


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        ({"class_name": "DTypePolicyMap", "config": {}}, "Dense 'd': a dtype policy of class 'DTypePolicyMap' is not"),
        (
            {"class_name": "DTypePolicy", "config": {"name": "mixed_int8"}},
            "Dense 'd': the dtype policy 'mixed_int8' is",
        ),
        (3, "Dense 'd': the dtype policy 3 is not known"),
    ],
)
def test_another_policy_is_refused(dtype, text):
    with pytest.raises(ArchitectureError, match=text):
        translation.dtype(dtype, "Dense 'd'")

"""Weights alone of a later Keras: a warning where a layer has a default that meant something else there."""

import json
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from torchkeras.layers import GRU, LSTM, RNN, Bidirectional, ConvLSTM2D, Dense, Input, LSTMCell
from torchkeras.models import Model, load_model, model_from_json

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

LAYERS: dict[str, tuple[Any, tuple[int, ...], dict[str, Any]]] = {
    "lstm": (lambda **given: LSTM(3, name="here", **given), (4, 2), {"recurrent_activation": "sigmoid"}),
    "gru": (
        lambda **given: GRU(3, use_bias=False, name="here", **given),
        (4, 2),
        {"recurrent_activation": "sigmoid", "reset_after": True},
    ),
    "conv_lstm": (
        lambda **given: ConvLSTM2D(2, 2, name="here", **given),
        (3, 4, 4, 1),
        {"recurrent_activation": "sigmoid"},
    ),
    "cell": (lambda **given: RNN(LSTMCell(3, name="here", **given)), (4, 2), {"recurrent_activation": "sigmoid"}),
    "inside": (
        lambda **given: Bidirectional(LSTM(3, name="here", **given), merge_mode="sum"),
        (4, 2),
        {"recurrent_activation": "sigmoid"},
    ),
}


def model(kind: str, **given: Any) -> Model:
    make, shape, _ = LAYERS[kind]
    inputs = Input(shape)
    return Model(inputs, make(**given)(inputs))


def told(loads: Model, path: Path, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        loads.load_weights(path, **options)
    return [str(each.message) for each in found]


def of_version(path: Path, version: str) -> None:
    with h5py.File(path, "r+") as file:
        file.attrs["keras_version"] = version.encode()


@pytest.mark.parametrize(
    ("version", "kind"),
    [(v, kind) for v in ("2.3.1", "2.2.4-tf", "2.21.0", "3.15.0") for kind in LAYERS if v > "3" or kind != "conv_lstm"],
)
def test_each_option_that_a_default_settled_is_named(kind: str, version: str, tmp_path: Path):
    path, there = tmp_path / "w.h5", LAYERS[kind][2]
    model(kind).save_weights(path)
    assert told(model(kind), path) == []  # ours
    of_version(path, version)
    found = told(model(kind), path)
    named = [text for text in found if "'here'" in text or "here" in text]
    assert len(named) >= len(there)
    for option, value in there.items():
        expected = (
            f": {option} is { ({'recurrent_activation': 'hard_sigmoid'}.get(option, False))!r} by default; the Keras "
        )
        expected += f"that wrote the weights has {value!r} there. Give {option}={value!r}, or "
        assert any(expected in text for text in named)
    assert told(model(kind, **there), path) == []
    assert told(model(kind, **{**there, "recurrent_activation": "hard_sigmoid"}), path) == []


def test_the_text(tmp_path: Path):
    path = tmp_path / "w.h5"
    model("lstm").save_weights(path)
    of_version(path, "2.21.0")
    text = (
        f"{path}: LSTM 'here': recurrent_activation is 'hard_sigmoid' by default; the Keras that wrote the weights has "
    )
    text += "'sigmoid' there. Give recurrent_activation='sigmoid', or recurrent_activation='hard_sigmoid' if it was so."
    assert told(model("lstm"), path) == [text]
    assert len(told(model("lstm"), path, isolated=True)) == 1


@pytest.mark.parametrize(
    ("version", "kind"),
    [*((v, "lstm") for v in ("1.2.2", "2.0.8", "2.1.6-tf", "2.2.4")), ("2.3.1", "conv_lstm"), ("2.21.0", "conv_lstm")],
)
def test_earlier_versions_had_the_same_defaults(version: str, kind: str, tmp_path: Path):
    path = tmp_path / "w.h5"
    model(kind).save_weights(path)
    of_version(path, version)
    assert told(model(kind), path) == []


@pytest.mark.parametrize(("wrote", "case"), [("tf_keras-2.21", "lstm_default"), ("keras-3.15", "conv_lstm")])
def test_genuine_weights_by_paths(wrote: str, case: str):
    folder = GOLDEN / wrote / case
    config = json.loads(load_model(folder / "model.h5", compile=False).to_json())
    for layer in config["config"]["layers"]:
        if "recurrent_activation" in layer["config"]:
            assert layer["config"].pop("recurrent_activation") == "sigmoid"
            name = layer["class_name"]
    built = model_from_json(json.dumps(config))
    (text,) = told(built, folder / "model.weights.h5")
    assert f": {name} '" in text
    assert ": recurrent_activation is 'hard_sigmoid' by default;" in text


def test_paths_are_those_of_keras_3_unless_they_are_ours(tmp_path: Path):
    path = tmp_path / "w.weights.h5"
    model("lstm").save_weights(path)
    assert told(model("lstm"), path) == []
    with h5py.File(path, "r+") as file:
        del file.attrs["torchkeras"]
    assert len(told(model("lstm"), path)) == 1
    assert told(model("lstm", recurrent_activation="sigmoid"), path) == []


def test_a_whole_model_says_itself_what_it_has(tmp_path: Path):
    whole = tmp_path / "m.keras"
    model("lstm", recurrent_activation="sigmoid").save(whole)
    assert told(model("lstm"), whole) == []


def test_layers_without_such_an_option_are_silent(tmp_path: Path):
    path, inputs = tmp_path / "w.h5", Input((2,))
    dense = Model(inputs, Dense(3)(inputs))
    dense.save_weights(path)
    of_version(path, "3.15.0")
    before = dense.get_weights()
    assert told(dense, path) == []
    assert all(map(np.array_equal, before, dense.get_weights()))

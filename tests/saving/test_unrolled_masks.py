"""A Bidirectional that is unrolled over a mask: tf.keras and Keras 3 set the outputs of the wrong steps to zero.

It is refused. The files are made under TensorFlow 1.14 and 2.15, and by Keras 3.15 on TensorFlow
(`scripts/golden_unrolled_masks.py`): a Masking, and a Bidirectional GRU or LSTM with unroll=True and
return_sequences=True, or without the one or the other.
"""

import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from torchkeras.errors import ArchitectureError
from torchkeras.models import load_model, model_from_json
from torchkeras.saving.containers.hdf5 import text

GOLDEN = Path(__file__).parents[1] / "golden" / "tf.keras-unrolled-masks"
SAID = (
    "{} '{}': with unroll=True, return_sequences=True and a mask, tf.keras and Keras 3 set the outputs of the wrong "
    "steps to zero where a layer goes backwards; it is not read. Build the model by code with unroll=False and load "
    "the weights: its outputs are those that unroll=False gives there."
)


@pytest.mark.parametrize("name", ["1.14-gru.h5", "2.15-lstm.h5", "3.15-gru.keras"])
def test_wrong_zeros_are_refused(name):
    said = f"{GOLDEN / name}: {SAID.format('Bidirectional', 'bidirectional')}"
    with pytest.raises(ArchitectureError, match=f"^{re.escape(said)}$"):
        load_model(GOLDEN / name)


@pytest.mark.parametrize("name", ["1.14-last.h5", "2.15-rolled.h5", "3.15-rolled.keras"])
def test_the_last_output_and_loops_are_right(name):
    with np.load((GOLDEN / name).with_suffix(".npz")) as stored:
        outputs = load_model(GOLDEN / name, compile=False).predict(stored["x"], verbose=0)
        np.testing.assert_allclose(outputs, stored["y"], atol=1e-5)


def test_a_layer_of_its_own_that_goes_backwards_is_refused_too():
    with h5py.File(GOLDEN / "2.15-lstm.h5") as file:
        config = {**json.loads(text(file.attrs["model_config"])), "keras_version": "2.15.0"}
    layers = config["config"]["layers"]
    inner = layers[-1]["config"]["layer"]
    inner["config"] |= {"go_backwards": True, "zero_output_for_mask": True, "name": "back"}
    layers[-1] = inner
    with pytest.raises(ArchitectureError, match=f"^{re.escape(SAID.format('LSTM', 'back'))}$"):
        model_from_json(json.dumps(config))
    inner["config"]["zero_output_for_mask"] = False
    model_from_json(json.dumps(config))


def test_without_a_mask_it_is_read(tmp_path):
    with h5py.File(GOLDEN / "2.15-lstm.h5") as file:
        config = json.loads(text(file.attrs["model_config"]))
    layers = config["config"]["layers"]
    layers[:] = [layer for layer in layers if layer["class_name"] != "Masking"]
    path = tmp_path / "m.h5"
    path.write_bytes((GOLDEN / "2.15-lstm.h5").read_bytes())
    with h5py.File(path, "r+") as file:
        file.attrs["model_config"] = json.dumps(config)
        del file["model_weights/masking"]
        names = np.array(file["model_weights"].attrs["layer_names"])
        file["model_weights"].attrs["layer_names"] = names[1:]  # the Masking is the first
    assert load_model(path, compile=False).layers[-1].layer.unroll

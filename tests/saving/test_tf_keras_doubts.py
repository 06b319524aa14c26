"""Files by versions of tf.keras that call themselves alike and differ, leave out an option, or have one that is new.

They were made by `scripts/golden_tf_keras_doubts.py` under the genuine versions.
"""

import json
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
from genuine import differs, loaded

from torchkeras.models import load_model, model_from_json
from torchkeras.saving.containers.hdf5 import text

GOLDEN = Path(__file__).parents[1] / "golden" / "tf.keras-doubts"
EARLY = Path(__file__).parents[1] / "golden" / "tf.keras-2.2.4-tf"
ZEROS = (
    "Bidirectional 'bidirectional': the file does not show whether TensorFlow 2.1 wrote it, whose GRU repeats its last "
    "output at masked steps, or 2.2, where it gives zeros; it is taken as of 2.2. If 2.1 wrote it, set "
    "zero_output_for_mask = False in the forward_layer and the backward_layer of model.get_layer('bidirectional')."
)
CAUSAL = (
    "{}: its causal is not written by tf.keras 2.10 and later; it is taken as False, as there. If it was True, build "
    "the model by code and load the weights."
)

NO_CAUSAL = "Keras 3 refuses it: SeparableConv1D 'separable_conv1d': padding 'causal' has no form in Keras 3."


def config_of(path):
    with h5py.File(path) as file:
        return json.loads(text(file.attrs["model_config"]))


# --- which version wrote 2.3.0-tf, by how the model is compiled or a Sequential is written ---------------------------


@pytest.mark.parametrize("version", ["2.1", "2.2"])
@pytest.mark.parametrize("name", ["compiled", "sequential"])
def test_outputs_at_masked_steps_are_those_of_the_version_that_wrote_the_file(version, name):
    path = GOLDEN / f"{version}-{name}.h5"
    model, said = loaded(path)
    assert said == []
    assert differs(path, model) < 1e-6


def test_where_the_file_does_not_show_it_there_is_a_warning():
    path = GOLDEN / "2.2-functional.h5"
    model, said = loaded(path)
    assert said == [f"{path}: {ZEROS}"]
    assert differs(path, model) < 1e-6


def test_what_the_warning_says_gives_the_outputs_of_2_1():
    path = GOLDEN / "2.1-functional.h5"
    model, said = loaded(path)
    assert said == [f"{path}: {ZEROS}"]
    assert differs(path, model) > 0.1
    layer = model.get_layer("bidirectional")
    layer.forward_layer.zero_output_for_mask = layer.backward_layer.zero_output_for_mask = False
    assert differs(path, model) < 1e-6


@pytest.mark.parametrize("option", [{"return_sequences": False}, {"activation": "relu"}])
def test_layers_that_both_versions_compute_alike_are_not_in_doubt(option):
    config = {**config_of(GOLDEN / "2.1-functional.h5"), "keras_version": "2.3.0-tf"}
    config["config"]["layers"][-1]["config"]["layer"]["config"] |= option
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_from_json(json.dumps(config))


def test_without_a_mask_there_is_no_doubt():
    config = {**config_of(GOLDEN / "2.1-functional.h5"), "keras_version": "2.3.0-tf"}
    config["config"]["layers"][1] |= {"class_name": "Activation"}
    config["config"]["layers"][1]["config"] = {"name": "masking", "activation": "linear"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_from_json(json.dumps(config))


# --- which version wrote 2.1.6-tf ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.10", "1.11"])
def test_losses_with_sample_weights_are_those_of_the_version_that_wrote_the_file(version):
    path = GOLDEN / f"{version}-weighted.h5"
    model, said = loaded(path)
    assert said == []
    with np.load(path.with_suffix(".npz")) as stored:
        data = stored["x"], stored["t"], stored["weights"]
        losses = [np.ravel(model.train_on_batch(*data))[0] for _ in stored["losses"]]
        np.testing.assert_allclose(losses, stored["losses"], rtol=1e-5)


# --- causal=True -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [EARLY / "1.15-causal.h5", GOLDEN / "2.9-causal.h5"], ids=lambda path: path.stem)
@pytest.mark.parametrize("suffix", [".h5", ".keras", ".pt", ".safetensors"])
def test_causal_is_read_and_saved_again(path, suffix, tmp_path):
    model, said = loaded(path)
    assert said == []
    assert differs(path, model) < 1e-6
    model.save(tmp_path / f"m{suffix}")
    again, said = loaded(tmp_path / f"m{suffix}")
    assert said == []
    assert differs(path, again) < 1e-6


def test_causal_is_in_the_json_as_an_argument_of_the_calls():
    model, _ = loaded(GOLDEN / "2.9-causal.h5")
    config = json.loads(model.to_json())
    attending = [entry for entry in config["config"]["layers"] if entry["class_name"].endswith("Attention")]
    assert len(attending) == 2
    for entry in attending:
        assert "causal" not in entry["config"]
        assert entry["inbound_nodes"][0][0][3] == {"use_causal_mask": True}
    again = model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    assert differs(GOLDEN / "2.9-causal.h5", again) < 1e-6


def test_where_it_is_not_written_there_is_a_warning():
    path = GOLDEN / "2.15-causal.h5"
    model, said = loaded(path)
    layers = "AdditiveAttention 'additive_attention'", "Attention 'attention'"
    assert sorted(said) == [f"{path}: {CAUSAL.format(layer)}" for layer in layers]
    assert differs(path, model) > 0.01


def test_a_call_that_says_it_is_not_in_doubt():
    config = {**config_of(GOLDEN / "2.15-causal.h5"), "keras_version": "2.15.0"}
    for entry in config["config"]["layers"]:
        if entry["class_name"].endswith("Attention"):
            entry["inbound_nodes"][0][0][3] = {"use_causal_mask": True}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = model_from_json(json.dumps(config))
    model.set_weights(load_model(GOLDEN / "2.9-causal.h5").get_weights())
    assert differs(GOLDEN / "2.9-causal.h5", model) < 1e-6


# --- options that Keras 2.2.4 does not have --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["separable", "rescaling", "rescaling_offset", "normalization"])
@pytest.mark.parametrize("suffix", [".h5", ".keras", ".pt"])
def test_newer_options_are_read_and_saved_again(name, suffix, tmp_path):
    path = GOLDEN / f"2.15-{name}.h5"
    model, said = loaded(path)
    assert said == []
    assert differs(path, model) < 1e-5
    with warnings.catch_warnings(record=True) as refused:
        warnings.simplefilter("always")
        model.save(tmp_path / f"m{suffix}")
    no_form = suffix == ".keras" and name == "separable"
    assert [NO_CAUSAL in str(each.message) for each in refused] == [True] * no_form
    again, said = loaded(tmp_path / f"m{suffix}")
    assert said == []
    assert differs(path, again) < 1e-5

"""Files of TensorFlow 1.13, 1.14, 1.15 and 2.0, of layers that they write or compute otherwise. All say 2.2.4-tf.

They were made by `scripts/golden_tf_keras_early.py` under the genuine versions.
"""

import json
import re
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
from genuine import differs, loaded

from torchkeras.layers import UpSampling2D
from torchkeras.models import load_model, model_from_json
from torchkeras.saving.containers.hdf5 import text

GOLDEN = Path(__file__).parent.parent / "golden" / "tf.keras-2.2.4-tf"
FILES = sorted(GOLDEN.glob("*.h5"))
# What files leave out, by model.
NOT_SAID = {
    "nearest": ("1.13", "1.14"),
    "bilinear": ("1.13", "1.14"),
    "causal": ("1.14",),
}
INTERPOLATION = (
    "UpSampling2D 'up_sampling2d': its interpolation is not written by tf.keras 1.13 and 1.14; it is taken as "
    "'nearest', as there. If it was 'bilinear', set model.get_layer('up_sampling2d').interpolation = 'bilinear'."
)
CAUSAL = (
    "Attention 'attention': its causal is not written by tf.keras 1.14; it is taken as False, as there. If it "
    "was True, build the model by code and load the weights."
)


def test_all_files_are_there():
    assert len(FILES) == 6 + 8 + 8 + 7


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_outputs_are_the_saved_ones_or_there_is_a_warning(path):
    version, _, name = path.stem.partition("-")
    model, said = loaded(path)
    if version not in NOT_SAID.get(name, ()):
        assert said == []
        assert differs(path, model) < 1e-5
        return
    assert said == [f"{path}: {CAUSAL if name == 'causal' else INTERPOLATION}"]
    assert (differs(path, model) < 1e-5) == (name == "nearest")


@pytest.mark.parametrize("version", ["1.13", "1.14"])
def test_interpolation_is_set_as_the_warning_says(version, tmp_path):
    path = GOLDEN / f"{version}-bilinear.h5"
    model, _ = loaded(path)
    model.get_layer("up_sampling2d").interpolation = "bilinear"
    assert differs(path, model) < 1e-5
    model.save(tmp_path / "model.h5")
    again, said = loaded(tmp_path / "model.h5")
    assert said == []
    assert differs(path, again) < 1e-5


@pytest.mark.parametrize(("file", "warned"), [("1.14-nearest", INTERPOLATION), ("1.14-causal", CAUSAL)])
def test_an_architecture_alone_warns_too(file, warned):
    with h5py.File(GOLDEN / f"{file}.h5") as opened:
        config = {**json.loads(text(opened.attrs["model_config"])), "keras_version": "2.2.4-tf"}
    with pytest.warns(UserWarning, match=f"^{re.escape(warned)}$"):
        model_from_json(json.dumps(config))


@pytest.mark.parametrize("version", ["2.1.6-tf", "2.3.0-tf"])
def test_versions_without_the_option_or_that_write_it_are_not_in_doubt(version):
    """Up to TensorFlow 1.12 an UpSampling2D has no interpolation."""
    with h5py.File(GOLDEN / "1.14-nearest.h5") as opened:
        config = {**json.loads(text(opened.attrs["model_config"])), "keras_version": version}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model_from_json(json.dumps(config)).layers[-1].interpolation == "nearest"


def test_a_class_of_the_users_own_is_not_in_doubt():
    class Mine(UpSampling2D):
        pass

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load_model(GOLDEN / "1.14-nearest.h5", custom_objects={"UpSampling2D": Mine})
    assert type(model.layers[-1]) is Mine


def zeros(path):
    """Whether the steps of padding, the last two of the first sample, have zeros."""
    model, _ = loaded(path)
    with np.load(path.with_suffix(".npz")) as stored:
        return not model.predict(stored["x"], verbose=0)[0, 3:, 0].any()


@pytest.mark.parametrize("name", ["lstm", "gru", "relu", "simple"])
def test_what_cudnn_could_compute_repeats_its_outputs_in_2_0_alone(name):
    for version in ("1.13", "1.14", "1.15", "2.0"):
        repeats = version == "2.0" and name in ("lstm", "gru")
        assert zeros(GOLDEN / f"{version}-bidirectional_{name}.h5") != repeats


@pytest.mark.parametrize("version", ["1.14", "1.15", "2.0"])
def test_a_loss_that_was_given_no_name_is_read(version):
    model, _ = loaded(GOLDEN / f"{version}-loss_without_name.h5")
    assert type(model.loss).__name__ == "Hinge"

"""CosineSimilarity as a loss: TensorFlow 1.14 and 1.15 minimize the cosine of the angle, later versions maximize it.

All of them write the version 2.2.4-tf. The files are made under the genuine versions, by the names of losses that each
of them knows: the class, its name, an axis, `cosine_proximity`.
"""

import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from torchkeras import losses
from torchkeras.errors import ArchitectureError
from torchkeras.layers import Dense
from torchkeras.models import Sequential, load_model
from torchkeras.saving.containers.hdf5 import text

GOLDEN = Path(__file__).parents[1] / "golden" / "tf.keras-cosine"
FILES = sorted(GOLDEN.glob("*.h5"))


def same(path, model):
    with np.load(path.with_suffix(".npz")) as stored:
        numbers = dict(stored)
    np.testing.assert_allclose(model.evaluate(numbers["x"], numbers["y"], verbose=0), numbers["evaluated"], rtol=1e-5)
    model.fit(numbers["x"], numbers["y"], batch_size=2, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], numbers["trained"], atol=1e-6)


def test_all_files_are_there():
    assert [path.stem for path in FILES] == [
        *("1.14-class", "1.14-proximity", "1.15-axis", "1.15-name", "2.0-class", "2.0-name")
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_has_the_sign_of_its_version(path):
    same(path, load_model(path))


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".pt"])
@pytest.mark.filterwarnings("ignore")
def test_own_files_keep_the_sign(suffix, tmp_path):
    load_model(GOLDEN / "1.14-class.h5").save(tmp_path / f"m{suffix}")
    same(GOLDEN / "1.14-class.h5", load_model(tmp_path / f"m{suffix}"))


@pytest.mark.parametrize(("stem", "loss"), [("2.0-class", "CosineSimilarity"), ("1.14-proximity", "cosine_proximity")])
def test_without_an_initializer_the_sign_is_not_known(stem, loss, tmp_path):
    """As in a model whose weights are all of the user's own layers."""
    path = tmp_path / "m.h5"
    path.write_bytes((GOLDEN / f"{stem}.h5").read_bytes())
    with h5py.File(path, "r+") as file:
        config = json.loads(text(file.attrs["model_config"]))
        for layer in config["config"]["layers"]:
            for name in ("kernel_initializer", "bias_initializer"):
                layer["config"].pop(name, None)
        file.attrs["model_config"] = json.dumps(config)
    said = (
        f"{path}: the loss {loss} has one sign in TensorFlow 1.14 and 1.15 and the other in 2.0 and 2.1, and the file "
        "does not show which of them wrote it, since no layer has an initializer; load it with compile=False and "
        "compile it yourself."
    )
    with pytest.raises(ArchitectureError, match=f"^{re.escape(said)}$"):
        load_model(path)
    load_model(path, compile=False)


def test_the_function_is_for_code_too():
    model = Sequential([Dense(2, use_bias=False, kernel_initializer="identity", input_shape=(2,))])
    model.compile("sgd", losses.rising_cosine_similarity)
    assert model.evaluate(np.array([[3.0, 4.0]]), np.array([[0.0, 2.0]]), verbose=0) == pytest.approx(0.8)

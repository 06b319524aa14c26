"""Files of genuine versions whose form differs from that of the versions before and after.

`tests/golden/forms/<version>/<model>`: the files, and in `io.npz` inputs `x0`.., outputs `y0`.. and, where training
went on, the target `t0` and the output `after` three more steps. `called_twice`: one call of an inner model is an
output of the outer one, the other goes on to a layer. `windows`: written by tf.keras 2.14 whose paths were joined as on
Windows, and one file from there. `scripts/every_keras` makes files of every version.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.errors import ArchitectureError, FileLimitError, UnreadableFileError
from torchkeras.layers import Dense, Input, concatenate
from torchkeras.models import Model, Sequential, load_model
from torchkeras.saving.containers.hdf5 import group_in, members, reading
from torchkeras.saving.containers.hdf5_folders import with_folders
from torchkeras.saving.containers.hdf5_rules import member
from torchkeras.saving.containers.limits import Limits

FORMS = Path(__file__).parents[1] / "golden" / "forms"
LOST = FORMS / "keras-3.2" / "shared"  # that version does not write which call of a layer is meant
WHOLE = sorted(file for file in FORMS.glob("*/*/model.*") if file.suffixes[0] in (".keras", ".h5"))
WHOLE.remove(LOST / "model.keras")
BESIDE = sorted(file for file in FORMS.glob("*/*/model.weights.h5") if file.with_name("model.keras") in WHOLE)


def named(file: Path) -> str:
    return f"{file.parents[1].name}-{file.parent.name}{file.suffix}"


def check_outputs(model: Any, file: Path) -> None:
    record = np.load(file.with_name("io.npz"))
    inputs, outputs = ([record[key] for key in sorted(record) if key[0] == kind] for kind in "xy")
    found = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)
    for one, other in zip(found if len(outputs) > 1 else [found], outputs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("file", WHOLE, ids=named)
def test_a_model_gives_its_outputs(file: Path):
    torchkeras.clear_session()
    check_outputs(load_model(file), file)


@pytest.mark.parametrize("file", BESIDE, ids=named)
def test_weights_alone_fit_the_model(file: Path):
    torchkeras.clear_session()
    model = load_model(file.with_name("model.keras"))
    model.set_weights([np.zeros_like(array) for array in model.get_weights()])
    model.load_weights(file)
    check_outputs(model, file)


TRAINED = [file for file in WHOLE if "after" in np.load(file.with_name("io.npz"))]


@pytest.mark.parametrize("file", TRAINED, ids=named)
def test_training_goes_on(file: Path):
    torchkeras.clear_session()
    model, record = load_model(file), np.load(file.with_name("io.npz"))
    for _ in range(3):
        model.train_on_batch(record["x0"], record["t0"])
    found, expected = model.predict(record["x0"], verbose=0), record["after"]
    if file.parent.name == "nested":
        # The bias before the BatchNormalization has a gradient of rounding errors, of which Adam makes steps of 0.001,
        # three here and three in Keras. They move the outputs of all samples by the same.
        bias = model.get_layer("enc").layers[-1].bias
        moved = []
        for index in range(len(bias)):
            with torch.no_grad():
                bias[index] += 0.006
                moved.append(np.abs(model.predict(record["x0"], verbose=0) - found))
                bias[index] -= 0.006
        assert (np.abs(found - expected) <= np.sum(moved, axis=0)).all()
        found, expected = found - found[0], expected - expected[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)


# --- layers in lists, and layers in two models -----------------------------------------------------------------------


class Blocks(Model):
    def __init__(self):
        super().__init__()
        self.blocks = [Dense(4, activation="tanh"), Dense(4, activation="tanh")]
        self.head = Dense(2)

    def call(self, inputs: Any) -> Any:
        for block in self.blocks:
            inputs = block(inputs)
        return self.head(inputs)


def test_lists_of_layers_written_on_windows():
    file = FORMS / "windows" / "blocks" / "model.weights.h5"
    model = Blocks()
    model.build((None, 5))
    model.load_weights(file)
    check_outputs(model, file)


def inner_first() -> Model:
    i, j, shared = Input((3,)), Input((3,)), Dense(3)
    inner = Model(j, Dense(3)(shared(j)))
    return Model(i, Dense(3)(shared(inner(i))))


def between() -> Model:
    i, j, shared = Input((3,)), Input((3,)), Dense(3)
    inner = Model(j, Dense(3)(shared(j)))
    return Model(i, Dense(3)(shared(Dense(3)(inner(Dense(3)(i))))))


@pytest.mark.parametrize("make", [inner_first, between])
def test_a_layer_that_comes_first_in_an_inner_model_has_its_weights_there(make: Callable[[], Model]):
    file = FORMS / "keras-3.15" / make.__name__ / "model.weights.h5"
    model = make()
    model.load_weights(file)
    check_outputs(model, file)


def test_a_file_that_does_not_say_which_call_is_meant_is_refused():
    with pytest.raises(ArchitectureError) as error:
        load_model(LOST / "model.keras")
    assert str(error.value) == (
        f"{LOST / 'model.keras'}: Layer 'dense' is called 2 times, and the file uses the calls [0]: Keras 3.2 did not "
        "write which are meant. Build the model by code and load the weights."
    )


def test_its_weights_fit_a_model_built_by_code():
    a, b, both = Input((4,)), Input((4,)), Dense(4, activation="tanh")
    left, right = both(a), both(b)
    model = Model([a, b], [Dense(2)(concatenate([left, right])), Dense(3)(right)])
    model.load_weights(LOST / "model.weights.h5")
    check_outputs(model, LOST / "model.weights.h5")


# --- paths of Windows ------------------------------------------------------------------------------------------------


def written(path: Path, *arrays: str) -> Path:
    with h5py.File(path, "w") as file:
        for name in arrays:
            file[name] = np.zeros(2)
    return path


def test_folders_and_groups_of_one_name_are_one(tmp_path: Path):
    with reading(written(tmp_path / "a.h5", "a\\b\\c/vars/0", "a\\b/vars/0", "a/d/vars/0")) as root:
        found = with_folders(root)
        assert sorted(members(group_in(found, "a"))) == ["b", "d"]
        assert sorted(members(group_in(found, "a/b"))) == ["c", "vars"]
        assert member(found, "a/vars") is None


def test_two_names_of_one_path_are_refused(tmp_path: Path):
    path = written(tmp_path / "a.h5", "a\\b/vars/0", "a/b/vars/0")
    with reading(path) as root, pytest.raises(UnreadableFileError) as error:
        with_folders(root)
    assert str(error.value) == f"{path}: several groups or arrays are called '/a/b'."


def test_paths_that_are_too_deep_are_refused(tmp_path: Path):
    path = written(tmp_path / "a.h5", "a\\b\\c\\d")
    with reading(path) as root, pytest.raises(FileLimitError) as error:
        with_folders(root, Limits(depth=2))
    assert str(error.value) == f"{path}: {'a b c d'.replace(' ', chr(92))!r}: groups are nested deeper than 2."


def test_a_backslash_in_the_name_of_a_layer_stays(tmp_path: Path):
    model = Sequential([Dense(2, input_shape=(3,), name="a\\b")])
    model.save(tmp_path / "a.h5")
    assert load_model(tmp_path / "a.h5").layers[0].name == "a\\b"
    model.save_weights(tmp_path / "b.h5")
    model.load_weights(tmp_path / "b.h5")

"""Files that cannot be loaded or written: the exact texts, weights as they were, the old file whole."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# h5py types what stands under a name as anything that may.

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.base import atomic_file
from torchkeras.errors import (
    ArchitectureError,
    ModelFileError,
    UnknownFormatError,
    UnreadableFileError,
    WeightMismatchError,
)
from torchkeras.layers import BatchNormalization, Dense
from torchkeras.models import Sequential, load_model
from torchkeras.saving.weights import layer_groups


@pytest.fixture(autouse=True)
def fresh_session(tmp_path, monkeypatch):
    torchkeras.clear_session()
    torch.manual_seed(0)
    monkeypatch.chdir(tmp_path)  # so that the names in error texts are short


def named(**units):
    model = Sequential([Dense(size, name=name) for name, size in units.items()])
    model.build((None, 3))
    return model


def saved(change=lambda file: None, path="file.h5"):
    """A file of weights, changed by hand."""
    named(a=4, b=2).save_weights(path)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def assert_refused(model, kind, message, **options):
    before = model.get_weights()
    with pytest.raises(kind) as error:
        model.load_weights("file.h5", **options)
    assert str(error.value) == message
    assert type(error.value) is kind
    for found, expected in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(found, expected)


ADVICE = "Build the model as it was when its weights were saved."


def test_another_number_of_layers():
    saved()
    assert_refused(
        named(a=4, b=2, c=2),
        WeightMismatchError,
        "file.h5: cannot load the weights of 2 layers into a model with 3 layers that have weights: the file has a, b; "
        f"the model a, b, c. {ADVICE}",
    )


def test_another_shape():
    saved()
    message = (
        "file.h5: layer 'b' (Dense): weight 'b/kernel:0' has shape (4, 3), but the saved b/kernel:0 has shape (4, 2). "
        f"{ADVICE}"
    )
    assert_refused(named(a=4, b=3), WeightMismatchError, message)
    assert_refused(named(a=4, b=3), WeightMismatchError, message, by_name=True)


def test_another_number_of_weights():
    saved()
    model = Sequential([Dense(4, name="a"), BatchNormalization(name="b")])
    model.build((None, 3))
    assert_refused(
        model,
        WeightMismatchError,
        "file.h5: layer 'b' (BatchNormalization) expects 4 weights (b/gamma:0, b/beta:0, b/moving_mean:0, "
        f"b/moving_variance:0), but the saved layer has 2 (b/kernel:0, b/bias:0). {ADVICE}",
    )


def test_weights_that_are_no_numbers():
    def change(file):
        del file["b/b/bias:0"]
        file["b"]["b/bias:0"] = np.array([b"x", b"y"])

    saved(change)
    assert_refused(
        named(a=4, b=2),
        WeightMismatchError,
        "file.h5: layer 'b' (Dense): b/bias:0 in the file holds |S1, not numbers.",
    )


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (
            lambda file: file.attrs.__setitem__("backend", "chainer"),
            UnknownFormatError,
            "file.h5: written on the backend 'chainer', which is not known.",
        ),
        (
            lambda file: file.attrs.__setitem__("keras_version", "4.0.0"),
            UnknownFormatError,
            "file.h5: written by Keras 4.0.0; files of Keras 1, 2 and 3 are read.",
        ),
        (
            lambda file: file.attrs.__delitem__("keras_version"),
            UnknownFormatError,
            "file.h5: written by Keras of an unknown version; files of Keras 1, 2 and 3 are read.",
        ),
        (
            lambda file: file.attrs.__delitem__("layer_names"),
            UnknownFormatError,
            (
                "file.h5: an HDF5 file without weights of Keras: no 'layer_names', 'model_weights', 'nb_layers' or "
                "'layers'."
            ),
        ),
    ],
)
def test_files_of_another_kind(change, kind, message):
    saved(change)
    assert_refused(named(a=4, b=2), kind, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.__delitem__("b"), "file.h5: / has no group 'b'."),
        (lambda file: file.__delitem__("b/b/bias:0"), "file.h5: /b has no dataset 'b/bias:0'."),
    ],
)
def test_files_that_lack_what_they_list(change, message):
    saved(change)
    assert_refused(named(a=4, b=2), UnreadableFileError, message)


def test_a_missing_file():
    assert_refused(named(a=4), FileNotFoundError, "file.h5: there is no such file.")
    with pytest.raises(FileNotFoundError) as error:
        load_model("file.h5")
    assert str(error.value) == "file.h5: there is no such file."


def test_a_file_that_is_no_hdf5():
    with open("file.h5", "wb") as file:
        file.write(b"not HDF5 at all")
    message = "file.h5: not a readable HDF5 file (Unable to synchronously open file (file signature not found))."
    assert_refused(named(a=4), UnreadableFileError, message)
    with pytest.raises(ModelFileError) as error:
        load_model("file.h5")
    assert str(error.value) == message


def test_a_file_cut_short():
    saved()
    os.truncate("file.h5", os.path.getsize("file.h5") // 2)
    with pytest.raises(ModelFileError, match=r"^file\.h5: not a readable HDF5 file \(.*truncated file"):
        named(a=4, b=2).load_weights("file.h5")


def test_a_file_of_weights_alone_is_no_model():
    saved()
    with pytest.raises(ModelFileError) as error:
        load_model("file.h5")
    assert str(error.value) == (
        "file.h5: there is no 'model_config' in it. A file of weights alone is read by `model.load_weights` of a model "
        "built by code."
    )


def test_a_config_that_is_no_json():
    named(a=4).save("file.h5")
    with h5py.File("file.h5", "r+") as file:
        file.attrs["model_config"] = b"{"
    with pytest.raises(ModelFileError) as error:
        load_model("file.h5")
    assert str(error.value) == (
        "file.h5: attribute 'model_config' is not JSON (Expecting property name enclosed in double quotes: line 1 "
        "column 2 (char 1))."
    )


def test_an_unknown_layer_in_a_file():
    named(a=4).save("file.h5")
    with h5py.File("file.h5", "r+") as file:
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"][-1]["class_name"] = "Qqq"
        file.attrs["model_config"] = json.dumps(config)
    with pytest.raises(ArchitectureError) as error:
        load_model("file.h5")
    assert str(error.value) == (
        "file.h5: Unknown layer: 'Qqq'. An object of your own is found when it is passed in `custom_objects` "
        "or put into a CustomObjectScope."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"original_backend": "Theano"},
            (
                "original_backend must be one of 'tensorflow', 'theano', 'cntk', 'mxnet', 'plaidml.keras.backend', "
                "'torch', 'jax', 'numpy', 'openvino', or None; found 'Theano'."
            ),
        ),
        (
            {"original_data_format": "th"},
            "original_data_format must be one of 'channels_last', 'channels_first', or None; found 'th'.",
        ),
        ({"original_backend": "theano"}, "file.h5: written on tensorflow, and original_backend says 'theano'."),
    ],
)
def test_options_that_do_not_go_together(options, message):
    saved()
    assert_refused(named(a=4, b=2), ValueError, message, **options)


def test_an_error_in_the_last_layer_leaves_the_first_alone():
    saved(lambda file: file.__delitem__("b/b/bias:0"))
    model = named(a=4, b=2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7)
    assert_refused(model, UnreadableFileError, "file.h5: /b has no dataset 'b/bias:0'.")
    assert all((parameter == 7).all() for parameter in model.parameters())


# --- writing ---------------------------------------------------------------------------------------------------------


class Crash(BaseException):
    """Like a KeyboardInterrupt: no `except Exception` sees it."""


@pytest.mark.parametrize("method", ["save", "save_weights"])
@pytest.mark.parametrize(
    ("owner", "name"), [(layer_groups, "write_arrays"), (atomic_file, "_sync"), (h5py.Group, "create_dataset")]
)
def test_a_crash_while_writing_leaves_the_old_file_whole(method, owner, name, monkeypatch):
    old, new = named(a=4, b=2), named(a=4, b=2)
    getattr(old, method)("file.h5")
    with open("file.h5", "rb") as file:
        before = file.read()

    def crash(*args, **kwargs):
        assert sorted(os.listdir()) != ["file.h5"]
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, crash)
        with pytest.raises(Crash):
            getattr(new, method)("file.h5")
    with open("file.h5", "rb") as file:
        assert file.read() == before
    assert os.listdir() == ["file.h5"]
    again = named(a=4, b=2)
    again.load_weights("file.h5")
    np.testing.assert_array_equal(again.get_weights()[0], old.get_weights()[0])


def test_a_crash_while_writing_a_first_file_leaves_none(monkeypatch):
    def crash(*args, **kwargs):
        raise Crash

    monkeypatch.setattr(layer_groups, "write_arrays", crash)
    with pytest.raises(Crash):
        named(a=4).save("file.h5")
    assert os.listdir() == []


@pytest.mark.parametrize("method", ["save", "save_weights"])
def test_overwrite(method):
    model = named(a=4)
    getattr(model, method)("file.h5", overwrite=False)
    with open("file.h5", "rb") as file:
        before = file.read()
    with pytest.raises(FileExistsError) as error:
        getattr(named(a=4), method)("file.h5", overwrite=False)
    assert str(error.value) == "file.h5: the file exists already, and overwrite is False."
    with open("file.h5", "rb") as file:
        assert file.read() == before
    other = named(a=4)
    getattr(other, method)("file.h5")
    model.load_weights("file.h5")
    np.testing.assert_array_equal(model.get_weights()[0], other.get_weights()[0])


def test_the_mode_of_a_file_is_kept():
    named(a=4).save("file.h5")
    os.chmod("file.h5", 0o640)
    named(a=4).save("file.h5")
    assert os.stat("file.h5").st_mode & 0o777 == 0o640


def test_a_name_too_long_for_hdf5():
    model = named(**{"n" * 65000: 2})
    with pytest.raises(ValueError, match="longer") as error:
        model.save_weights("file.h5")
    assert str(error.value) == "A name longer than 64512 bytes cannot be written to HDF5."
    assert os.listdir() == []


@pytest.mark.parametrize("read", [load_model, named(a=2).load_weights], ids=["model", "weights"])
def test_an_error_about_a_file_names_the_command_that_says_what_to_do(read):
    with open("page.h5", "w") as file:
        file.write("<!DOCTYPE html>")
    with pytest.raises(UnreadableFileError) as error:
        read("page.h5")
    with_notes = sys.version_info >= (3, 11)
    told = ["What to do about it: torchkeras doctor page.h5"] if with_notes else []
    assert getattr(error.value, "__notes__", []) == told


def test_to_json_names_an_option_that_json_does_not_have():
    said = (
        "to_json: unknown option 'nonsense'. Its options are skipkeys, ensure_ascii, check_circular, allow_nan, cls, "
        "indent, separators, default, sort_keys."
    )
    model = Sequential([Dense(2, input_shape=(3,))])
    with pytest.raises(TypeError, match=f"^{re.escape(said)}$"):
        model.to_json(nonsense=1)
    assert model.to_json(indent=2).startswith('{\n  "class_name"')


def test_to_json_gives_an_encoder_its_own_options():
    class Encoder(json.JSONEncoder):
        def __init__(self, *, title, **options):
            super().__init__(**options)
            self.title = title

        def encode(self, value):
            return self.title + super().encode(value)

    assert Sequential([Dense(2, input_shape=(3,))]).to_json(cls=Encoder, title="# ").startswith("# {")


MAY_NOT_GROW = """
import os, resource
from torchkeras.layers import Dense
from torchkeras.models import Sequential

model = Sequential([Dense(2000, input_shape=(3000,))])  # 24 MB, of which threads write the pieces
resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000, resource.RLIM_INFINITY))
for suffix in (".h5", ".keras", ".safetensors", ".pt", ".weights.h5"):
    try:
        (model.save_weights if "weights" in suffix else model.save)("model" + suffix)
    except OSError as error:
        print(error)
print(os.listdir())
"""
ENDS_EARLIER = """
import os, resource
import numpy as np
from torchkeras.layers import Dense
from torchkeras.models import Sequential

model = Sequential([Dense(100, input_shape=(100,)), Dense(100), Dense(100)])
model.compile("adam", "mse")
model.fit(np.zeros((1, 100)), np.zeros((1, 100)), verbose=0)
for suffix in (".h5", ".keras", ".weights.h5"):
    def save():
        (model.save_weights if "weights" in suffix else model.save)("model" + suffix)

    save()
    with open("model" + suffix, "rb") as file:
        before = file.read()
    for limit in (0, 50, 1000, *range(4096, len(before), len(before) // 12), len(before) - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            save()
        except OSError as error:
            assert str(error) == f"[Errno 27] File too large: 'model{suffix}'", (limit, error)
        else:
            raise AssertionError(limit)
        with open("model" + suffix, "rb") as file:
            assert file.read() == before
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    save()
print(sorted(os.listdir()))
"""


def test_a_file_that_may_not_grow_is_named_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-c", MAY_NOT_GROW]
    given = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=True)
    suffixes = (".h5", ".keras", ".safetensors", ".pt", ".weights.h5")
    assert run.stdout.splitlines() == [*(f"[Errno 27] File too large: 'model{end}'" for end in suffixes), "[]"]


def test_wherever_a_file_may_not_grow_the_old_one_stays_and_the_process_goes_on(tmp_path):
    """HDF5 would end the process, at the file's end or in another call, if it were told."""
    given = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", ENDS_EARLIER]
    run = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "['model.h5', 'model.keras', 'model.weights.h5']\n"

"""What is saved can be loaded, in every format: names, models without weights; and a file is where its name leads."""

import errno
import os
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from torch import nn

from torchkeras.errors import UnreadableFileError, WeightMismatchError
from torchkeras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    Flatten,
    GlobalAveragePooling2D,
    Layer,
)
from torchkeras.models import Sequential, load_model

WHOLE = ("m.h5", "m.keras", "m.safetensors", "m.pt")
ALONE = ("w.h5", "w.weights.h5", "w.safetensors", "w.pt")
ELSEWHERE = "stands for another place in a file: it must not begin with '/' or have '.' between two '/'"
REFUSED = {
    ".": ELSEWHERE,
    "/": ELSEWHERE,
    "/a": ELSEWHERE,
    "./a": ELSEWHERE,
    "a/.": ELSEWHERE,
    "a\0b": "has a zero byte, which ends a name in a file",
    "\ud800": "has half a surrogate pair, which is no character",
    "top_level_model_weights": "is that of a group of Keras",
}
TAKEN = ("..", "a/b", "a/", "a//b", "a/../b", "a:0", "é", "a.b", "a\nb", " ", "layers", "vars", "model_weights")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def named(name: str) -> Sequential:
    return Sequential([Dense(2, input_shape=(3,), name=name), Dense(2)])


def without_weights() -> Sequential:
    return Sequential([Flatten(input_shape=(2, 3)), Activation("relu")])


def save(model: Sequential, path: str) -> None:
    (model.save if path.startswith("m") else model.save_weights)(path)


@pytest.mark.parametrize("path", WHOLE + ALONE)
@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_cannot_be_read_again_is_refused(name: str, path: str):
    with pytest.raises(ValueError, match="the name") as error:
        save(named(name), path)
    assert str(error.value) == f"{path}: Dense {name!r}: the name {name!r} {REFUSED[name]}."
    assert not os.listdir()


def test_so_are_names_of_weights_and_of_inner_layers():
    class Scale(Layer):
        def build(self, input_shape):
            self.scale = self.add_weight("./scale", (1,))

        def call(self, inputs):
            return inputs * self.scale

    with pytest.raises(ValueError, match=rf"^m.pt: Scale 'scale_1': the name 'scale_1/./scale:0' {ELSEWHERE}"):
        Sequential([Scale(input_shape=(3,), name="scale_1")]).save("m.pt")
    with pytest.raises(ValueError, match=r"^w.h5: Dense '/a': the name '/a' stands"):
        Sequential([named("/a")]).save_weights("w.h5")


def test_two_names_that_are_one_path():
    model = Sequential([Dense(2, input_shape=(3,), name="a/b"), Dense(2, name="a//b")])
    with pytest.raises(ValueError, match=r"^m.h5: the names 'a/b' and 'a//b' of layers are one path in a file\.$"):
        model.save("m.h5")


@pytest.mark.parametrize("name", TAKEN)
def test_other_names_are_read_again(name: str):
    model = named(name)
    for path in WHOLE:
        model.save(path)
        assert [layer.name for layer in load_model(path).layers] == [layer.name for layer in model.layers]
    for path in ALONE:
        model.save_weights(path)
        again = named(name)
        again.load_weights(path)
        assert all(map(np.array_equal, again.get_weights(), model.get_weights()))


@pytest.mark.parametrize("path", ALONE)
def test_weights_of_a_model_without_weights_are_nothing(path: str):
    without_weights().save_weights(path)
    without_weights().load_weights(path)
    with pytest.raises(WeightMismatchError):
        named("a").load_weights(path)


def test_so_are_those_that_keras_wrote():
    """Keras 3 writes an empty file, Keras 1 a list of layers without a version."""
    with h5py.File("keras3.weights.h5", "w"):
        pass
    with h5py.File("keras1.h5", "w") as file:
        file.attrs["layer_names"] = [b"flatten_1", b"activation_1"]
        for name in ("flatten_1", "activation_1"):
            file.create_group(name).attrs["weight_names"] = []
    for path, error in (("keras3.weights.h5", UnreadableFileError), ("keras1.h5", WeightMismatchError)):
        without_weights().load_weights(path)
        with pytest.raises(error):
            named("a").load_weights(path)
    without_weights().load_weights("keras1.h5", by_name=True)
    with pytest.raises(WeightMismatchError, match="by_name finds no layer"):
        named("a").load_weights("keras1.h5", by_name=True)


@pytest.mark.parametrize("path", WHOLE + ALONE)
def test_a_symbolic_link_leads_to_the_file_that_is_written(path: str):
    os.makedirs("there")
    suffix = path[1:]
    for target in (f"there/old{suffix}", f"there/newer{suffix}"):
        link = Path(f"{path[0]}{len(target)}{suffix}")
        link.symlink_to(target)
    Path(f"there/old{suffix}").write_bytes(b"old")
    for target in (f"there/old{suffix}", f"there/newer{suffix}"):
        link = Path(f"{path[0]}{len(target)}{suffix}")
        model = named("a")
        save(model, str(link))
        assert link.is_symlink()
        assert not Path(target).is_symlink()
        again = named("a")
        again.load_weights(target)
        assert all(map(np.array_equal, again.get_weights(), model.get_weights()))
    assert len(os.listdir("there")) == 2


def test_a_loop_of_links_a_pipe_and_a_device_are_no_files():
    Path("loop.h5").symlink_to("loop.h5")
    os.mkfifo("pipe.h5")
    Path("null.h5").symlink_to("/dev/null")
    for path, number in (("loop.h5", errno.ELOOP), ("pipe.h5", errno.EINVAL), ("null.h5", errno.EINVAL)):
        with pytest.raises(OSError, match=path) as error:
            named("a").save(path)
        assert (error.value.errno, error.value.filename) == (number, path)
    assert sorted(os.listdir()) == ["loop.h5", "null.h5", "pipe.h5"]


class Doubling(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


def with_epsilon(model):
    model.norm.norm.eps = 0.5


def with_stride(model):
    model.conv.conv.stride = (2, 2)


def with_class(model):
    model.last.linear = Doubling(4, 2)


def with_forward(model):
    model.last.forward = lambda x: x[:, :2]


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize(
    ("change", "what"),
    [
        (with_epsilon, "BatchNormalization 'norm': norm has eps 0.5, and 0.001 by its options"),
        (with_stride, "Conv2D 'conv': conv has stride (2, 2), and (1, 1) by its options"),
        (with_class, "Dense 'last': linear is of the class Doubling"),
        (with_forward, "Dense 'last': it has a forward of its own"),
    ],
)
def test_what_was_changed_past_the_options_is_told(change, what: str, name: str, tmp_path: Path):
    layers = [Conv2D(4, 3, input_shape=(6, 6, 1), name="conv"), BatchNormalization(name="norm")]
    dense = [Dense(4, name="dense"), Dense(4, name="again"), Dense(2, name="last")]
    model = Sequential([*layers, GlobalAveragePooling2D(), *dense])
    model.save(tmp_path / f"before_{name}")
    change(model)
    path = tmp_path / name
    with pytest.warns(UserWarning, match=f"^{re.escape(f'{path}: {what}, which the file does not hold.')}$") as caught:
        model.save(path)
    assert [each.filename for each in caught] == [__file__]

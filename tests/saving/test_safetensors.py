"""Weights as `.safetensors` and as `.pt`: named as in `state_dict`, all of them or none, and nothing executed."""

import json
import pickle
import re
import struct
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import safetensors.torch
import torch

from torchkeras.errors import FileLimitError, ForbiddenContentError, UnreadableFileError, WeightMismatchError
from torchkeras.layers import LSTM, BatchNormalization, Conv2D, Dense, Embedding, Flatten, Input, Layer
from torchkeras.models import Model, Sequential
from torchkeras.saving.weights import safetensors as as_safetensors, state

FORMATS: dict[str, Any] = {".safetensors": as_safetensors, ".pt": state}
both = pytest.mark.parametrize("suffix", FORMATS)


def model() -> Model:
    return Sequential(
        [
            Conv2D(2, 3, input_shape=(5, 6, 3), name="conv"),
            BatchNormalization(name="norm"),
            Flatten(),
            Dense(4, name="dense"),
        ]
    )


def tied() -> Model:
    """A Dense that is in the model and in a model inside has two names."""
    shared = Dense(3, name="shared")
    vector = Input((3,))
    inside = Model(vector, shared(vector), name="inside")
    inputs = Input((3,))
    return Model(inputs, shared(inside(inputs)))


def arrays(found: Model) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in found.state_dict().items()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def read(format: Any, path: Path, found: Model) -> None:
    with format.opened(path) as stored:
        state.fill(found, stored, path)


def refuses(kind: type[Exception], text: str) -> Any:
    return pytest.raises(kind, match=f"^{re.escape(text)}$")


class Phase(Layer):
    def build(self, input_shape):
        self.phase = torch.nn.Parameter(torch.randn(input_shape[-1], dtype=torch.complex64))

    def call(self, x):
        return (x * self.phase).abs()


def test_complex_weights_have_a_form_here_and_none_in_files_of_keras(tmp_path):
    model = Sequential([Phase(input_shape=(3,))])
    weight = model.layers[0].phase
    before = weight.detach().clone()
    for name in ("m.safetensors", "m.pt"):
        model.save_weights(tmp_path / name)
        weight.data.zero_()
        model.load_weights(tmp_path / name)
        assert torch.equal(weight, before)
    for name in ("m.h5", "m.weights.h5"):
        with pytest.raises(TypeError) as caught:
            model.save_weights(tmp_path / name)
        assert str(caught.value) == (
            f"{tmp_path / name}: 'phase_a.phase' is complex, which no file of Keras holds: save as .safetensors or .pt."
        )


@both
@pytest.mark.parametrize("build", [model, tied, lambda: Sequential([LSTM(2, input_shape=(None, 3), name="lstm")])])
def test_weights_come_back(build: Any, suffix: str, tmp_path: Path):
    first, second = build(), build()
    assert not same(arrays(first), arrays(second))
    FORMATS[suffix].write(tmp_path / f"m{suffix}", first)
    read(FORMATS[suffix], tmp_path / f"m{suffix}", second)
    assert same(arrays(first), arrays(second))
    assert [path.name for path in tmp_path.iterdir()] == [f"m{suffix}"]


def test_the_file_is_what_other_programs_read(tmp_path: Path):
    first = model()
    as_safetensors.write(tmp_path / "m.safetensors", first)
    assert same(safetensors.torch.load_file(tmp_path / "m.safetensors"), arrays(first))
    with safetensors.safe_open(tmp_path / "m.safetensors", framework="pt") as file:
        assert file.metadata() == {"format": "pt", "written_by": "torchkeras", "version": "1"}
    state.write(tmp_path / "m.pt", first)
    assert same(torch.load(tmp_path / "m.pt", weights_only=True), arrays(first))


def test_a_tensor_of_two_names_is_written_once_and_read_by_either(tmp_path: Path):
    first, second, path = tied(), tied(), tmp_path / "m.safetensors"
    names = list(first.state_dict())
    as_safetensors.write(path, first)
    assert list(safetensors.torch.load_file(path)) == sorted(names[:2])
    for kept in (names[2:], names):
        safetensors.torch.save_file({name: first.state_dict()[name].clone() for name in kept}, path)
        read(as_safetensors, path, second)
        assert same(arrays(first), arrays(second))
    values = {**arrays(first), names[2]: torch.zeros_like(first.state_dict()[names[2]])}
    safetensors.torch.save_file(values, path)
    with refuses(
        WeightMismatchError,
        f"{path}: {names[0]!r} and {names[2]!r} are one tensor in the model; in the file they differ.",
    ):
        read(as_safetensors, path, second)


def save(path: Path, tensors: Any) -> None:
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    (safetensors.torch.save_file if path.suffix == ".safetensors" else torch.save)(tensors, path)


@both
def test_other_weights_are_refused_and_nothing_is_set(suffix: str, tmp_path: Path):
    path, found = tmp_path / f"m{suffix}", model()
    before, stored = arrays(found), arrays(model())
    kernel = stored["dense.linear.weight"]

    def refuse(tensors: Any, text: str) -> None:
        save(path, tensors)
        with refuses(WeightMismatchError, f"{path}: {text}"):
            read(FORMATS[suffix], path, found)
        assert same(before, arrays(found))

    rule = "the tensors must be those of the model's state_dict; missing"
    without = {name: tensor for name, tensor in stored.items() if name != "conv.conv.bias"}
    refuse(without, f"{rule} 'conv.conv.bias', not in the model none.")
    refuse({**stored, "more": torch.ones(1)}, f"{rule} none, not in the model 'more'.")
    refuse({**without, "bias": torch.ones(2)}, f"{rule} 'conv.conv.bias', not in the model 'bias'.")
    refuse(
        {**stored, "dense.linear.weight": kernel.T.contiguous()},
        "'dense.linear.weight' has shape (4, 24) in the model; in the file it has shape (24, 4).",
    )
    refuse(
        {**stored, "dense.linear.weight": kernel.int()},
        "'dense.linear.weight' is torch.float32 in the model; in the file it is torch.int32.",
    )


@both
def test_numbers_of_another_size_are_converted(suffix: str, tmp_path: Path):
    first, second, path = model(), model(), tmp_path / f"m{suffix}"
    save(path, {name: t.double() if t.is_floating_point() else t for name, t in arrays(first).items()})
    read(FORMATS[suffix], path, second)
    assert same(arrays(first), arrays(second))


@both
def test_damaged_files_are_refused(suffix: str, tmp_path: Path):
    path, found = tmp_path / f"m{suffix}", model()
    FORMATS[suffix].write(path, found)
    whole, before = path.read_bytes(), arrays(found)
    for damaged in (b"", whole[:7], whole[:100], whole[:-8], b"\xff" * 64, whole[:16] + b"\x00" * 64 + whole[80:]):
        path.write_bytes(damaged)
        with pytest.raises((UnreadableFileError, FileLimitError, ForbiddenContentError), match=re.escape(str(path))):
            read(FORMATS[suffix], path, found)
        assert same(before, arrays(found))
    path.unlink()
    with refuses(FileNotFoundError, f"{path}: there is no such file."):
        read(FORMATS[suffix], path, found)


def test_a_header_over_the_limit_is_refused(tmp_path: Path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 40) + b"{}")
    with pytest.raises(FileLimitError, match=r"m\.safetensors: not a readable safetensors file \(.*[Hh]eader.*\)\.$"):
        read(as_safetensors, path, model())


def test_a_type_that_no_model_has_is_refused(tmp_path: Path):
    path, header = tmp_path / "m.safetensors", json.dumps({"x": {"dtype": "U16", "shape": [1], "data_offsets": [0, 2]}})
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + b"\x00\x00")
    text = f"{path}: 'x' holds U16; read are BOOL, U8, I8, I16, I32, I64, F16, F32, F64, BF16, C64."
    with refuses(UnreadableFileError, text):
        read(as_safetensors, path, model())


class Marker:
    """What would write a file if it were unpickled."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_nothing_in_a_pt_file_is_executed(tmp_path: Path):
    path, marker = tmp_path / "m.pt", tmp_path / "marker"
    torch.save({"conv.conv.bias": Marker(marker)}, path)
    with refuses(ForbiddenContentError, f"{path}: it holds more than tensors, or no pickled tensors at all."):
        read(state, path, model())
    path.write_bytes(pickle.dumps(Marker(marker)))
    with refuses(ForbiddenContentError, f"{path}: it holds more than tensors, or no pickled tensors at all."):
        read(state, path, model())
    assert not marker.exists()


@pytest.mark.parametrize(
    "held",
    [
        torch.ones(2),
        {"a": 1},
        {1: torch.ones(1)},
        {"a": torch.ones(2).to_sparse()},
        {"a": torch.ones(1, device="meta")},
    ],
)
def test_a_pt_file_of_other_things_is_refused(held: Any, tmp_path: Path):
    torch.save(held, tmp_path / "m.pt")
    with refuses(UnreadableFileError, f"{tmp_path / 'm.pt'}: it must hold a state_dict, tensors by their names."):
        read(state, tmp_path / "m.pt", model())


@both
def test_an_interrupted_write_leaves_the_old_file(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / f"m{suffix}"
    FORMATS[suffix].write(path, model())
    before = path.read_bytes()

    def broken(*args: Any, **kwargs: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(safetensors.torch, "save_file", broken)
    monkeypatch.setattr(torch, "save", broken)
    with pytest.raises(OSError, match="the disk is full"):
        FORMATS[suffix].write(path, model())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("missing", "used"), [("safetensors.torch", as_safetensors.write), ("safetensors", partial(read, as_safetensors))]
)
def test_without_the_package_the_error_names_the_extra(
    missing: str, used: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    absent: dict[str, ModuleType | None] = {missing: None}
    monkeypatch.setitem(sys.modules, missing, absent[missing])  # type: ignore[arg-type]
    with refuses(
        ImportError,
        "A .safetensors file: the package safetensors is missing. Install it with "
        "`pip install torchkeras-graph[safetensors]`.",
    ):
        used(tmp_path / "m.safetensors", model())


def test_the_package_itself_writes_and_reads_a_model_with_a_tied_weight(tmp_path):
    def tied():
        inputs, words, scores = Input((3,)), Embedding(5, 4), Dense(5, use_bias=False)
        outputs = scores(words(inputs))
        scores.kernel = words.embeddings.T
        return Model(inputs, outputs)

    for make, x in ((model, torch.rand(2, 5, 6, 3)), (tied, torch.tensor([[0.0, 4.0, 1.0]]))):
        one, other = make(), make()
        safetensors.torch.save_model(one, str(tmp_path / "model.safetensors"))
        safetensors.torch.load_model(other, str(tmp_path / "model.safetensors"))
        torch.testing.assert_close(other.eval()(x), one.eval()(x))

"""`load_model(mmap=True)`: weights that lie in their file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras.errors import UnreadableFileError, WeightMismatchError
from torchkeras.layers import BatchNormalization, Dense, Embedding, Flatten
from torchkeras.models import Model, Sequential, load_model
from torchkeras.saving.containers.parts import Part
from torchkeras.saving.weights.mapping import adopt
from torchkeras.saving.weights.state import stretch_of

BOTH = pytest.mark.parametrize("suffix", [".safetensors", ".pt"])
TOKENS = np.arange(24).reshape(6, 4)
TARGETS = np.linspace(-1, 1, 12, dtype="float32").reshape(6, 2)


def written(path: Path) -> Model:
    model = Sequential([Embedding(24, 8, input_length=4), Flatten(), BatchNormalization(), Dense(2)])
    model.compile("adam", "mse")
    model.fit(TOKENS, TARGETS, verbose=0)
    model.save(path)
    return model


def lies_in(tensor: torch.Tensor, path: Path) -> bool:
    """Whether the memory of a tensor is a page of the file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, _, last = line.split()[0].partition("-")
        if int(first, 16) <= tensor.data_ptr() < int(last, 16):
            return line.endswith(str(path))
    raise AssertionError("the memory is nowhere.")


@BOTH
def test_weights_lie_in_the_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    model = written(path)
    mapped, plain = load_model(path, mmap=True), load_model(path)
    for name, value in model.state_dict().items():
        assert torch.equal(value, mapped.state_dict()[name])
    assert all(lies_in(parameter, path) for parameter in mapped.parameters())
    assert not any(lies_in(parameter, path) for parameter in plain.parameters())
    np.testing.assert_array_equal(mapped.predict(TOKENS, verbose=0), plain.predict(TOKENS, verbose=0))


@BOTH
def test_training_changes_the_model_and_not_the_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    written(path)
    stored = path.read_bytes()
    mapped, plain = load_model(path, mmap=True), load_model(path)
    losses = [model.fit(TOKENS, TARGETS, epochs=3, shuffle=False, verbose=0).history for model in (mapped, plain)]
    assert losses[0] == losses[1]
    for name, value in plain.state_dict().items():
        assert torch.equal(value, mapped.state_dict()[name])
    assert path.read_bytes() == stored


@BOTH
def test_a_new_file_in_its_place_leaves_the_model_as_it_is(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    first = written(path)
    mapped = load_model(path, mmap=True)
    written(path)
    for name, value in first.state_dict().items():
        assert torch.equal(value, mapped.state_dict()[name])
    mapped.save(path)
    for name, value in first.state_dict().items():
        assert torch.equal(value, load_model(path).state_dict()[name])


def test_a_tied_weight_stays_one(tmp_path: Path) -> None:
    model = Sequential([Dense(3, use_bias=False, input_shape=(3,)), Dense(3, use_bias=False)])
    model.layers[1].kernel = model.layers[0].kernel
    model.save(tmp_path / "model.safetensors")
    mapped = load_model(tmp_path / "model.safetensors", mmap=True)
    assert len(list(mapped.parameters())) == 1
    assert lies_in(next(mapped.parameters()), tmp_path / "model.safetensors")


def test_what_cannot_be_mapped(tmp_path: Path) -> None:
    model = written(tmp_path / "model.pt")
    model.save(tmp_path / "model.h5")
    model.save(tmp_path / "model.keras")
    for name in ("model.h5", "model.keras"):
        with pytest.raises(ValueError, match=r"mmap=True is for .safetensors and .pt files.* in a format of Keras"):
            load_model(tmp_path / name, mmap=True)
    with pytest.raises(ValueError, match="isolated=True reads a checked copy"):
        load_model(tmp_path / "model.pt", mmap=True, isolated=True)
    old = torch.load(tmp_path / "model.pt", weights_only=False)
    torch.save(old, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(ValueError, match=r"mmap=True cannot map .*old.pt: torch before 1.6"):
        load_model(tmp_path / "old.pt", mmap=True)


@BOTH
def test_a_file_that_is_cut_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    written(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UnreadableFileError):
        load_model(path, mmap=True)


def test_numbers_in_another_form_are_left(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(13, dtype="<f4").tobytes())
    with path.open("rb") as file:
        part = Part(file.fileno(), 0, 52)

        def stored(begin: int = 0, axes: tuple[int, ...] | None = None):
            return stretch_of(torch.float32, part, begin, "numbers", axes)

        fits = torch.empty(3, 4)
        jobs = [
            (fits, stored(4)),
            (torch.empty(3, 4, dtype=torch.float64), stored()),
            (torch.empty(3, 4), stored(axes=(1, 0))),
            (torch.empty(4, 3).T, stored()),
            (torch.empty(3, 4), stored(2)),  # between two numbers
        ]
        assert adopt(jobs) == jobs[1:]
        np.testing.assert_array_equal(fits, np.arange(1, 13).reshape(3, 4))
        with pytest.raises(UnreadableFileError, match="numbers: the file ends before its numbers do"):
            adopt([(torch.empty(14), stored())])


def test_weights_of_another_shape_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    Sequential([Dense(2, input_shape=(3,))]).save(path)
    data = path.read_bytes()
    at = data.index(b'"units') if b'"units' in data else data.index(b"units")
    end = data.index(b"2", at)
    path.write_bytes(data[:end] + b"4" + data[end + 1 :])
    with pytest.raises(WeightMismatchError):
        load_model(path, mmap=True)

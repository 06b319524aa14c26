"""A model's `state_dict` in files: the tensors under its names, and setting a model from named tensors, all or none.

A tensor with several names, such as that of a layer in two models, is one tensor here. A file may have it under any of
its names, or under several if the values agree.
"""

from __future__ import annotations

import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras.base.atomic_file import replacing
from torchkeras.engine.graph.network import Network, renamed
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import is_wrapper
from torchkeras.errors import ForbiddenContentError, UnreadableFileError, WeightMismatchError
from torchkeras.saving.containers import pickled
from torchkeras.saving.containers.limits import MIB
from torchkeras.saving.containers.open_file import check_same, open_path, shown
from torchkeras.saving.containers.parts import Part, Stretch
from torchkeras.saving.weights.mapping import adopt
from torchkeras.saving.weights.matching import put, warn_of_skipped
from torchkeras.world.one_process import sharing

Description = tuple[torch.dtype, tuple[int, ...]]  # of a tensor in a file
ABOUT = "torchkeras"  # the key of the text that describes the model, in a file of tensors
OPTIMIZER = "torchkeras.optimizer"  # the key, or the beginning of the names, of the tensors of the optimizer's state

# What can be read straight into place, as it stands in files. A byte of a boolean may be neither 0 nor 1.
KINDS = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")
STRAIGHT = {getattr(torch, kind): np.dtype(kind).newbyteorder("<") for kind in KINDS}
STRAIGHT[torch.bfloat16] = np.dtype("<i2")  # its bits

# What torch's reader raises for a damaged file.
DAMAGED = (RuntimeError, EOFError, LookupError, TypeError, AttributeError, ValueError, OverflowError, MemoryError)
DAMAGED = (*DAMAGED, AssertionError, OSError, struct.error, zipfile.BadZipFile, NotImplementedError)


@dataclass(frozen=True)
class StoredTensors:
    """An open file of named tensors: types and shapes, values, and the text under `ABOUT`, None without one.

    `rows_of`: some rows of a tensor, where the file need not be read as a whole for them. `stretches`: where the
    tensors are that can be read straight into place; with `maps` they lie in the file itself then. `optimizer`: the
    tensors of the optimizer's state, the shape and what reads the values of each.
    """

    tensors: Mapping[str, Description]
    value_of: Callable[[str], Tensor]
    about: str | None
    rows_of: Callable[[str, slice], Tensor] | None = None
    stretches: Mapping[str, Stretch] = field(default_factory=dict)
    optimizer: Mapping[str, tuple[tuple[int, ...], Callable[[], Tensor]]] = field(default_factory=dict)
    maps: bool = False

    def set(self, tensors: Mapping[str, Tensor]) -> None:
        """Give tensors their values, by the names in the file."""
        is_sharded = sharing().is_sharded
        plain = {name: tensor for name, tensor in tensors.items() if not (is_sharded(tensor) or is_wrapper(tensor))}
        straight = {name: (tensor, self.stretches[name]) for name, tensor in plain.items() if name in self.stretches}
        jobs = list(straight.values())
        put(adopt(jobs) if self.maps else jobs)
        for name, tensor in tensors.items():
            if name not in straight:
                self._set(tensor, name)

    def _set(self, tensor: Tensor, name: str) -> None:
        """Give a tensor its values, or the rows that this process has of it."""
        if sharing().is_sharded(tensor):
            own, mine = sharing().part(tensor), sharing().rows(tensor)
            if own.numel():
                own.copy_(self.value_of(name)[mine] if self.rows_of is None else self.rows_of(name, mine))
        else:
            tensor.copy_(self.value_of(name))


def tensors_of(model: nn.Module) -> dict[tuple[str, ...], Tensor]:
    """The tensors of a model in the order of its `state_dict`, each under all its names."""
    found: dict[Any, tuple[list[str], Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        found.setdefault(id(tensor), ([], tensor))[0].append(name)
    return {tuple(names): tensor for names, tensor in found.values()}


def fill(
    model: nn.Module,
    found: StoredTensors,
    where: str | os.PathLike[str],
    by_name: bool = False,
    skip_mismatch: bool = False,
) -> tuple[list[str], list[str]]:
    """Set a model's tensors to those stored under its names, after all names and shapes were checked.

    Floating-point numbers of another size are converted. `by_name` leaves alone the layers of which the file has
    nothing; `skip_mismatch`, with a warning, those that do not fit. Returns the names that are left, in the model and
    in the file. Raises WeightMismatchError.
    """
    expected, old_names = tensors_of(model), {new: old for old, new in _renamed(model, found.tensors).items()}
    stored = {new: found.tensors[old] for new, old in old_names.items()}
    left: tuple[list[str], list[str]] = [], []
    if by_name or skip_mismatch:
        every, expected = expected, _fitting(model, expected, stored, where, by_name, skip_mismatch)
        names = set(chain.from_iterable(expected))
        left = list(chain.from_iterable(every.keys() - expected.keys())), sorted(stored.keys() - names)
        stored = {name: each for name, each in stored.items() if name in names}
    _check_names(expected, stored, where)
    _check_tensors(expected, stored, lambda name: found.value_of(old_names[name]), where)
    first = {old_names[next(name for name in names if name in stored)]: tensor for names, tensor in expected.items()}
    with torch.no_grad():
        found.set(first)
    return left


Tensors = dict[tuple[str, ...], Tensor]


def _check_tensors(
    expected: Tensors, stored: Mapping[str, Description], value_of: Callable[[str], Tensor], where: Any
) -> None:
    """Raise WeightMismatchError for another shape or type, and for different values of one tensor with several names.

    `value_of`: the value that the file has under a name of the model.
    """
    for names, tensor in expected.items():
        for name in stored.keys() & set(names):
            _check(name, tensor, *stored[name], where)
        given = [name for name in names if name in stored]
        for name in given[1:]:
            if not torch.equal(value_of(given[0]), value_of(name)):
                raise WeightMismatchError(
                    f"{where}: {given[0]!r} and {name!r} are one tensor in the model; in the file they differ."
                )


def _fitting(
    model: nn.Module, expected: Tensors, stored: Mapping[str, Description], where: Any, by_name: bool, skip: bool
) -> Tensors:
    """The tensors of those layers that the options do not leave alone."""
    layers = {name: each for name, each in model.named_modules() if isinstance(each, Layer)}
    found: Tensors = {}
    for owner, tensors in _by_layer(expected, layers).items():
        own = {name: stored[name] for name in chain.from_iterable(tensors) if name in stored}
        if by_name and not own:
            continue
        try:
            _check_layer(tensors, own, where)
        except WeightMismatchError as error:
            if not skip:
                raise
            warn_of_skipped(layers[owner].name, error)
            continue
        found |= tensors
    if not (found or skip) and by_name:
        raise WeightMismatchError(f"{where}: by_name finds no layer: none of the names in it is one of the model.")
    return found


def _check_layer(tensors: Tensors, stored: Mapping[str, Description], where: Any) -> None:
    """Raise WeightMismatchError if the tensors of a layer are not those that the file has of it."""
    _check_names(tensors, stored, where)
    by_name = {name: tensor for names, tensor in tensors.items() for name in names}
    for name, description in stored.items():
        _check(name, by_name[name], *description, where)


def _by_layer(tensors: Tensors, layers: Mapping[str, Layer]) -> dict[str, Tensors]:
    """The tensors of each layer, by the name of the innermost layer that has them."""
    owned: dict[str, Tensors] = {}
    for names, tensor in tensors.items():
        owner = names[0].rpartition(".")[0]
        while owner not in layers:
            owner = owner.rpartition(".")[0]
        owned.setdefault(owner, {})[names] = tensor
    return owned


def _renamed(model: nn.Module, names: Iterable[str]) -> dict[str, str]:
    return renamed(model, names) if isinstance(model, Network) else {name: name for name in names}


def _check_names(expected: Iterable[tuple[str, ...]], stored: Iterable[str], where: Any) -> None:
    names = set(stored)
    missing = [group[0] for group in expected if not names & set(group)]
    unknown = sorted(names - {name for group in expected for name in group})
    if missing or unknown:
        raise WeightMismatchError(
            f"{where}: the tensors must be those of the model's state_dict; "
            f"missing {_first_names(missing)}, not in the model {_first_names(unknown)}."
        )


def _first_names(names: list[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return (", ".join(repr(name[:100]) for name in names[:10]) + more) or "none"


def _check(name: str, tensor: Tensor, dtype: torch.dtype, shape: tuple[int, ...], where: Any) -> None:
    if shape != tuple(tensor.shape):
        raise WeightMismatchError(
            f"{where}: {name!r} has shape {tuple(tensor.shape)} in the model; in the file it has shape {shape}."
        )
    if dtype != tensor.dtype and not (dtype.is_floating_point and tensor.is_floating_point()):
        raise WeightMismatchError(f"{where}: {name!r} is {tensor.dtype} in the model; in the file it is {dtype}.")


# --- .pt -------------------------------------------------------------------------------------------------------------


def write(
    path: str | os.PathLike[str],
    model: nn.Module,
    about: str | None = None,
    optimizer: Mapping[str, Tensor] | None = None,
) -> None:
    """`torch.save(model.state_dict(), path)`; the file appears whole or not at all.

    `about`: a text for the `_metadata` that torch keeps in a `state_dict`, which loading ignores. `optimizer`: tensors
    of the optimizer's state, which are there too.
    """
    tensors: Any = model.state_dict()
    if about is not None:
        metadata = OrderedDict(getattr(tensors, "_metadata", {}))
        metadata[""] = {**metadata.get("", {}), ABOUT: about, **({OPTIMIZER: dict(optimizer)} if optimizer else {})}
        tensors._metadata = metadata
    # Given a path, torch writes its name into the file; a smaller buffer takes three times as long.
    with replacing(path) as part, part.open("wb", buffering=MIB) as file:
        torch.save(tensors, file)


@contextmanager
def opened(path: str | os.PathLike[str], maps: bool = False) -> Iterator[StoredTensors]:
    """Open a `state_dict` that `torch.save` wrote. Only tensors and plain values are created, whatever the file says.

    With `maps` no checksum is compared, for which the whole file would be read. Raises FileNotFoundError,
    UnreadableFileError, ForbiddenContentError for other objects.
    """
    with open_path(path) as own, own.open("rb") as raw:
        begins = pickled.check(own, checksums=not maps)
        stored = _loaded(own, maps=bool(begins))
        check_same(raw, own)
        if not isinstance(stored, Mapping) or not all(_is_entry(*item) for item in stored.items()):
            raise UnreadableFileError(f"{shown(path)}: {pickled.NO_STATE}")
        described = {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in stored.items()}
        own_metadata = _own_metadata(stored)
        about, optimizer = own_metadata.get(ABOUT), own_metadata.get(OPTIMIZER, {})
        if not isinstance(optimizer, Mapping) or not all(_is_entry(*item) for item in optimizer.items()):
            raise UnreadableFileError(f"{shown(path)}: the state of its optimizer must be tensors by their names.")
        part = Part(raw.fileno(), 0, os.fstat(raw.fileno()).st_size)
        straight = {
            name: _stretch_of_tensor(stored[name], part, begins[name], f"{shown(path)}: {name[:100]!r}")
            for name in stored.keys() & begins
        }
        yield StoredTensors(
            described,
            stored.__getitem__,
            about if isinstance(about, str) else None,
            stretches={name: found for name, found in straight.items() if found is not None},
            optimizer={name: (tuple(each.shape), each.clone) for name, each in optimizer.items()},
            maps=maps,
        )


def stretch_of(
    dtype: torch.dtype, part: Part, begin: int, name: str, axes: tuple[int, ...] | None = None
) -> Stretch | None:
    """Where the numbers of a tensor lie in one piece, from the byte `begin` on; None if NumPy has no such numbers.

    `name`: for errors. `axes`: as of a `Stretch`.
    """
    stored = STRAIGHT.get(dtype)
    return None if stored is None else Stretch(part, begin, stored, name, dtype == torch.bfloat16, axes)


def _stretch_of_tensor(tensor: Tensor, part: Part, begin: int, name: str) -> Stretch | None:
    """The same of a tensor that a file holds as it lies in memory; None if that is no piece, or not its numbers."""
    axes = tuple(sorted(range(tensor.dim()), key=tensor.stride, reverse=True))
    if tensor.is_conj() or tensor.is_neg() or not tensor.permute(axes).is_contiguous():
        return None
    return stretch_of(tensor.dtype, part, begin, name, axes)


def _own_metadata(stored: Any) -> Mapping[str, Any]:
    """What `write` put into the `_metadata` of a `state_dict`."""
    metadata = getattr(stored, "_metadata", None)
    own = metadata.get("") if isinstance(metadata, Mapping) else None
    return own if isinstance(own, Mapping) else {}


def _loaded(path: Path, maps: bool) -> Any:
    """What torch reads. `maps`: the numbers are read from the file when they are looked at, not now."""
    try:
        return torch.load(str(path), map_location="cpu", weights_only=True, mmap=maps)
    except pickle.UnpicklingError as error:
        raise ForbiddenContentError(f"{shown(path)}: {pickled.MORE}.") from error
    except DAMAGED as error:
        raise UnreadableFileError(
            f"{shown(path)}: not a file that torch.save wrote ({type(error).__name__})."
        ) from error


def _is_entry(name: Any, value: Any) -> bool:
    is_tensor = isinstance(name, str) and type(value) in (Tensor, nn.Parameter)
    return is_tensor and value.layout == torch.strided and not value.is_meta

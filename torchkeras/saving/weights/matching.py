"""Pair weights of a model with arrays of a file: shapes are checked before any value is read."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from threading import local
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.dtypes import dtype_name
from torchkeras.engine.weights.weight import NO_MEMORY, Variable
from torchkeras.errors import UnreadableFileError, WeightMismatchError
from torchkeras.legacy.weights import Recipe, Step, Stored, channels_first, recipes, recipes_of_keras1, stored_count
from torchkeras.saving.containers import hdf5, hdf5_rules, pieces
from torchkeras.saving.containers.hdf5_rules import BFLOAT16
from torchkeras.saving.containers.parts import Dataset, Stretch
from torchkeras.saving.weights.origin import Origin

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network


# --- arrays of a file, put straight into the memory of tensors --------------------------------------------------------


APART = 64  # bytes between the rows of a piece: one cache line
LONG = 1024  # bytes of a row from which on rows are kept apart


@dataclass(frozen=True)
class _Piece:
    """Some numbers of a stretch, in runs of equal length that begin at `begins`, and where they belong."""

    target: Tensor
    stretch: Stretch
    begins: range


def put(jobs: Sequence[tuple[Tensor, Stretch]]) -> None:
    """Fill tensors with the numbers of arrays of the same shapes. Types and orders of axes may differ.

    Raises UnreadableFileError if the file ends before an array does.
    """
    for target, stretch in jobs:
        if target.is_meta:
            raise ValueError(f"{stretch.name}: the weight that it is for {NO_MEMORY}")
    shared: list[_Piece] = []
    others: list[_Piece] = []
    for target, stretch in jobs:
        stored = _as_stored(target.detach(), stretch)
        for index, begins in pieces.cut(stored.shape, stored.stride(), stretch.dtype.itemsize, stretch.begin):
            piece = _Piece(stored[index], stretch, begins)
            (shared if _by_numpy(piece) else others).append(piece)
    size = sum(piece.target.numel() * piece.stretch.dtype.itemsize for piece in shared)
    placer = _Placer()
    pieces.by_threads(placer.place, shared, size, torch.get_num_threads())
    for piece in others:
        placer.place(piece)


def _as_stored(target: Tensor, stretch: Stretch) -> Tensor:
    """A target with its axes in the order of the file."""
    return target if stretch.axes is None else target.permute(stretch.axes)


def _by_numpy(piece: _Piece) -> bool:
    """Whether NumPy can place the numbers. Torch does so in threads of its own, which would wait for each other."""
    target = piece.target
    return target.device.type == "cpu" and (target.dtype == torch.bfloat16) == piece.stretch.bfloat16


class _Placer(local):
    """Places pieces, with one buffer for each thread."""

    def __init__(self) -> None:
        self._buffer = np.empty(pieces.SLAB + pieces.SLAB // LONG * APART, np.uint8)
        self._cut: tuple[int, int, int] | None = None

    def place(self, piece: _Piece) -> None:
        stretch, target = piece.stretch, piece.target
        if not target.numel():
            return
        if not _by_numpy(piece):
            values = self._values(piece)
            found = torch.from_numpy(values.astype(values.dtype.newbyteorder("="), copy=False))
            target.copy_(found.view(torch.bfloat16) if stretch.bfloat16 else found)
            return
        array = (target.view(torch.int16) if stretch.bfloat16 else target).numpy()
        if array.flags.c_contiguous and array.dtype == stretch.dtype:
            _read_into(piece, [array.reshape(-1).view(np.uint8)])
        else:
            np.copyto(array, self._values(piece), casting="unsafe")

    def _values(self, piece: _Piece) -> np.ndarray:
        """The numbers of a piece, in a buffer that the next piece will use.

        Long rows have some bytes between them: with a power of two, few numbers of a column would fit in the cache,
        and transposing would take three times as long.
        """
        dtype, shape = piece.stretch.dtype, tuple(piece.target.shape)
        rows, length = prod(shape[:-1]), prod(shape[-1:])
        is_long = rows > 1 and length * dtype.itemsize >= LONG
        if not is_long:
            runs = len(piece.begins)
            rows, length = runs, rows * length // runs
        table, lines = self._lines(rows, length * dtype.itemsize, APART if is_long else 0)
        _read_into(piece, lines)
        return table.view(dtype)[:, :length].reshape(shape)

    def _lines(self, count: int, size: int, gap: int) -> tuple[np.ndarray, list[np.ndarray]]:
        """The buffer as a table, and its lines without the gap at the end of each. Most pieces have the same."""
        if self._cut != (count, size, gap):
            self._cut = (count, size, gap)
            self._table = self._buffer[: count * (size + gap)].reshape(count, size + gap)
            self._list = list(self._table[:, :size])
        return self._table, self._list


def _read_into(piece: _Piece, lines: Sequence[np.ndarray]) -> None:
    """Fill arrays of equal length with the bytes of a piece, one after the other."""
    of_run = len(lines) // len(piece.begins)
    for index, begin in enumerate(piece.begins):
        if not piece.stretch.part.fill_lines(lines[index * of_run : (index + 1) * of_run], begin):
            raise UnreadableFileError(f"{piece.stretch.name} goes beyond the end of the file.")


# --- pairs ------------------------------------------------------------------------------------------------------------


ADVICE = "Build the model as it was when its weights were saved."


@dataclass(frozen=True)
class Named:
    """An array in a file: its name, the dataset (or an array), and its full path, if the dataset does not have it."""

    name: str
    data: Any
    place: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape, as the file declares it."""
        return tuple(self.data.shape)

    def values(self) -> np.ndarray:
        """The values. Raises ModelFileError if not all of them are stored."""
        return hdf5.values(self.data) if isinstance(self.data, Dataset) else np.asarray(self.data)

    @property
    def dtype(self) -> str:
        """The name of its element type."""
        of_file = isinstance(self.data, Dataset)
        return BFLOAT16 if of_file and hdf5_rules.is_bfloat16(self.data) else str(self.data.dtype)

    @property
    def path(self) -> str:
        """Its full path in the file."""
        return self.place or getattr(self.data, "name", None) or self.name

    def ready(self) -> Named:
        """The same, certain to be readable. Raises ModelFileError."""
        if not isinstance(self.data, Dataset):
            return self
        return Named(self.name, hdf5.ready(self.data), self.path)


@dataclass(frozen=True)
class Match:
    """A weight with the arrays that make it."""

    variable: Variable
    sources: tuple[Named, ...]
    recipe: Recipe

    @property
    def conversions(self) -> tuple[str, ...]:
        """What is done to the arrays, in words, for the report."""
        wanted = dtype_name(self.variable.tensors[0].dtype)
        kinds = sorted({source.dtype for source in self.sources} - {wanted})
        cast = [f"cast from {kind} to {wanted}" for kind in kinds]
        return (*self.recipe.deeds, *cast)

    def ready(self) -> Match:
        """The same with arrays that are certain to be readable; called before any weight is changed."""
        return Match(self.variable, tuple(source.ready() for source in self.sources), self.recipe)

    def shape(self) -> tuple[int, ...]:
        """The shape that the recipe makes from the declared shapes. Nothing is read."""
        if not self.recipe.changes:
            return self.sources[0].shape
        return tuple(self.recipe.make([torch.empty(source.shape, device="meta") for source in self.sources]).shape)

    def straight(self) -> tuple[torch.Tensor, Stretch] | None:
        """The weight as a view in Keras's order, and the array that only has to be copied there; None otherwise."""
        data = self.sources[0].data
        if self.recipe.changes or not isinstance(data, Dataset):
            return None
        view = self.variable.view
        found = None if view is None else hdf5.stretch(data)
        return None if view is None or found is None else (view, found)

    def take(self) -> None:
        """Read the values and give them to the weight."""
        data = self.sources[0].data
        as_it_is = isinstance(data, Dataset) and not self.recipe.changes and self.sources[0].dtype != BFLOAT16
        own = self.variable.own_part if as_it_is else None
        if own is None:
            self.variable.assign(self.recipe.make([_tensor(source.values()) for source in self.sources]))
            return
        view, where = own
        if view.numel():
            with hdf5_rules.readable(hdf5_rules.Place(data)):
                view.copy_(_tensor(data[where]))


def take(matches: Sequence[Match]) -> None:
    """Read the values of all weights, each array once, and give them to the weights."""
    straight = [(found, found.straight()) for found in matches]
    put([job for _, job in straight if job is not None])
    for found, job in straight:
        if job is None:
            found.take()


def _tensor(values: Any) -> torch.Tensor:
    # Torch knows only the machine's byte order.
    array = np.asarray(values)
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), copy=False))


def match(
    variables: Sequence[Variable], arrays: Sequence[Named], origin: Origin, where: str, reshape: bool = False
) -> list[Match]:
    """Each weight of a layer with its arrays: by name if the names are the same, else in order.

    With `reshape`, an array with the same number of values is reshaped. Raises WeightMismatchError.
    """
    for source in arrays:
        if source.data.dtype.kind not in "fiub" and source.dtype != BFLOAT16:
            raise WeightMismatchError(f"{where}: {source.name} in the file holds {source.dtype}, not numbers.")
    matches: list[Match] = []
    left = list(arrays)
    try:
        for group in _by_owner(variables):
            count = _stored_count(group, left, origin)
            matches += _match_owner(group, left[:count], origin)
            left = left[count:]
    except ValueError as error:
        raise WeightMismatchError(f"{where}: {error}") from error
    if left or any(map(_lacks_arrays, matches)):
        raise WeightMismatchError(
            f"{where} expects {len(variables)} weights ({', '.join(v.full_name for v in variables)}), "
            f"but the saved layer has {len(arrays)} ({', '.join(source.name for source in arrays)}). {ADVICE}"
        )
    return [_fitted(found, where, reshape).ready() for found in _by_names(matches)]


def _lacks_arrays(found: Match) -> bool:
    return len(found.sources) != len(found.recipe.sources)


def match_one(variable: Variable, data: Dataset, origin: Origin) -> Match:
    """A weight with the one array that was found for it, of the same shape."""
    return Match(variable, (Named(variable.name, data),), Recipe((0,), after=origin.steps(variable))).ready()


def _stored_count(group: list[Variable], left: list[Named], origin: Origin) -> int:
    if origin.generation > 1 or not left:
        return len(group)
    return stored_count(group[0].layer, len(group), left[0].name)


def _match_owner(group: list[Variable], taken: list[Named], origin: Origin) -> list[Match]:
    layer = group[0].layer
    first = channels_first(layer) if origin.data_format is None else origin.data_format == "channels_first"
    stored = Stored(tuple(source.name for source in taken), tuple(source.shape for source in taken), first)
    made = (recipes if origin.generation > 1 else recipes_of_keras1)(layer, group, stored)
    return [
        Match(
            variable, tuple(taken[k] for k in recipe.sources if k < len(taken)), _after(recipe, origin.steps(variable))
        )
        for variable, recipe in zip(group, made, strict=True)
    ]


def _after(recipe: Recipe, steps: tuple[Step, ...]) -> Recipe:
    return Recipe(recipe.sources, recipe.steps, recipe.joined, (*recipe.after, *steps)) if steps else recipe


def _by_names(matches: list[Match]) -> list[Match]:
    """The same, paired by name, in any order, if the file has exactly the names of the weights."""
    named = {found.sources[0].name: found for found in matches if len(found.sources) == 1}
    expected = [found.variable.full_name for found in matches]
    if len(named) < len(matches) or named.keys() != set(expected):
        return matches
    return [
        Match(found.variable, named[name].sources, found.recipe) for found, name in zip(matches, expected, strict=True)
    ]


def _fitted(found: Match, where: str, reshape: bool) -> Match:
    shape, wanted = found.shape(), found.variable.shape
    if shape == wanted:
        return found
    if reshape and torch.Size(shape).numel() == torch.Size(wanted).numel():
        step = Step(f"reshaped from {shape}", lambda array: array.reshape(wanted))
        return Match(found.variable, found.sources, _after(found.recipe, (step,)))
    names = ", ".join(source.name for source in found.sources)
    declared = ", ".join(str(source.shape) for source in found.sources)
    raise WeightMismatchError(
        f"{where}: weight {found.variable.full_name!r} has shape {wanted}, but the saved {names} has shape {declared}. "
        f"{ADVICE}"
    )


def _by_owner(variables: Sequence[Variable]) -> list[list[Variable]]:
    """The weights in consecutive groups of one layer and one kind (trainable or not)."""
    return [list(group) for _, group in groupby(variables, key=lambda v: (id(v.layer), v.made_to_train))]


def warn_of_skipped(layer: str, error: Exception | str) -> None:
    """Say that `skip_mismatch` leaves a layer as it is, and why."""
    text = f"Skipping loading of weights for layer {layer!r} due to mismatch of its weights: {error}"
    warnings.warn(text, stacklevel=2)


# --- the report ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """One weight that was loaded: where it went, where it came from, and what was done on the way."""

    layer: str
    weight: str
    shape: tuple[int, ...]
    sources: tuple[str, ...]
    conversions: tuple[str, ...]

    def __str__(self) -> str:
        done = f"  [{'; '.join(self.conversions)}]" if self.conversions else ""
        return f"{self.weight} {self.shape} <- {', '.join(self.sources)}{done}"


@dataclass(frozen=True)
class Report:
    """What loading did: a row for each weight, and what was left out on either side by the user's options."""

    file: str
    rows: tuple[Loaded, ...]
    left_in_model: tuple[str, ...] = ()
    left_in_file: tuple[str, ...] = ()

    @classmethod
    def of_state(cls, file: str, model: Network, left: Sequence[str] = (), left_in_file: Sequence[str] = ()) -> Report:
        """The report of a file with the model's tensors under torch's names; `left`: the names of those not set."""
        names = {id(tensor): name for name, tensor in model.state_dict(keep_vars=True).items()}
        sources = [(v, tuple(names[id(tensor)] for tensor in v.tensors)) for v in model.weights]
        rows = [
            Loaded(v.layer.name, v.full_name, v.shape, found, ()) for v, found in sources if not set(found) & set(left)
        ]
        in_model = [v.full_name for v, found in sources if set(found) & set(left)]
        return cls(file, tuple(rows), tuple(in_model), tuple(left_in_file))

    @classmethod
    def of(cls, file: str, matches: Sequence[Match], model: Network, left_in_file: Sequence[str] = ()) -> Report:
        """The report of loaded weights."""
        taken = {(id(found.variable.layer), found.variable.name) for found in matches}
        rows = [
            Loaded(
                found.variable.layer.name,
                found.variable.full_name,
                found.variable.shape,
                tuple(source.path for source in found.sources),
                found.conversions,
            )
            for found in matches
        ]
        left = [v.full_name for v in model.weights if (id(v.layer), v.name) not in taken]
        return cls(file, tuple(rows), tuple(left), tuple(left_in_file))

    def __str__(self) -> str:
        lines = [f"{self.file}: {len(self.rows)} weights", *map(str, self.rows)]
        lines += [f"{name} left as it was" for name in self.left_in_model]
        return "\n".join(lines + [f"{path} in the file not taken" for path in self.left_in_file])

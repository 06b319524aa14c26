"""What layers share that their entries in a config do not say: parameters, modules of torch, layers held elsewhere.

A layer that several models, wrappers or layers have in their configs has a number there (`registry.Layers`). What else
is one tensor or module in a model, and would be several in one made of its config, stands next to that: groups of paths
in the model, as in `named_modules` and the `state_dict`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from torch import nn

from torchkeras.base.torch_tables import own_modules, own_parameters
from torchkeras.engine.adapters.tracked import Tracked
from torchkeras.engine.layer.layer import Layer
from torchkeras.errors import ArchitectureError

KEY = "ties"

Edges = set[tuple[Any, Any]]
Places = dict[Any, str]  # what makes a module or tensor again, with the path to it


def ties_of(model: Layer, held: Edges) -> list[list[str]]:
    """Paths of what a model has once and its config makes several times.

    `held`: pairs of a layer and one in its config. A group begins with the path of a layer that has an entry, if any.
    """
    modules, tensors = _makers_of(model, held)
    tied = []
    for module, places in modules.items():
        if len(places) > 1:
            others = [path for maker, path in places.items() if maker is not module]
            tied.append([places[module], *others] if module in places else others)
    inside = {path for paths in tied for path in paths}
    tied += [[*places.values()] for places in tensors.values() if len(places) > 1]
    return [paths for paths in tied if not all(_is_below(path, inside) for path in paths[1:])]


def _makers_of(model: Layer, held: Edges) -> tuple[dict[nn.Module, Places], dict[int, Places]]:
    """What makes each module of a model, and each parameter by its id; with the first path to it from each."""
    modules: dict[nn.Module, Places] = {}
    tensors: dict[int, Places] = {}
    for module, maker, path in _walked(model, held):
        modules.setdefault(module, {}).setdefault(maker, path)
        for name, tensor in own_parameters(module).items():
            if tensor is not None:
                tensors.setdefault(id(tensor), {}).setdefault(maker, _joined(path, name))
    return modules, tensors


def _walked(model: Layer, held: Edges) -> Iterator[tuple[nn.Module, Any, str]]:
    """Each module with what makes it, itself if a config has it, else the layer that does; and the path to it."""
    met: set[tuple[Any, Any]] = set()
    waiting: list[tuple[nn.Module, Any, Any, str]] = [(model, model, model, "")]
    while waiting:
        module, layer, maker, path = waiting.pop()
        yield module, maker, path
        if (module, maker) in met:
            continue
        met.add((module, maker))
        for name, inside in reversed(own_modules(module).items()):
            if inside is not None:
                is_layer = isinstance(inside, Layer)
                made_by = inside if (layer, inside) in held else maker
                waiting.append((inside, inside if is_layer else layer, made_by, _joined(path, name)))


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_below(path: str, others: set[str]) -> bool:
    """Whether a path leads through one of the others."""
    names = path.split(".")
    return any(".".join(names[:count]) in others for count in range(1, len(names)))


def warn_of_ties(model: Layer, held: Edges) -> None:
    """Say which ties the config of a model, by itself, does not hold."""
    for paths in ties_of(model, held):
        warnings.warn(
            f"{type(model).__name__} {model.name!r}: {' and '.join(map(repr, paths))} are one, which get_config cannot "
            "say: a model made of its config has each by itself. Files, to_json, clone_model and copies keep them one.",
            stacklevel=3,
        )


def tie(model: Layer, groups: Any) -> None:
    """Make one of what each group of paths names. Raises ArchitectureError for paths that do not fit the model."""
    if not isinstance(groups, Sequence) or not all(_is_group(group) for group in groups):
        raise ArchitectureError(f"{KEY!r} must be a list of lists of paths; found {groups!r:.200}.")
    for first, *others in groups:
        _, table, name = _place(model, first)
        kept = table[name]
        for path in others:
            owner, table, name = _place(model, path)
            found = table[name]
            if type(found) is not type(kept) or getattr(found, "shape", None) != getattr(kept, "shape", None):
                raise ArchitectureError(f"{KEY!r}: {first!r} and {path!r} are of different kinds, and cannot be one.")
            if isinstance(owner, Tracked):
                setattr(owner, name, kept)
            else:
                table[name] = kept


def _is_group(group: Any) -> bool:
    return isinstance(group, list) and len(group) > 1 and all(isinstance(path, str) for path in group)


def _place(model: Layer, path: str) -> tuple[Any, dict[str, Any], str]:
    """Where a path leads: a module, its modules or parameters, and the name there. Raises ArchitectureError."""
    owner: Any = model
    *around, name = path.split(".")
    for each in around:
        owner = getattr(owner, "_modules", {}).get(each)
    for table in (getattr(owner, "_modules", {}), getattr(owner, "_parameters", {})):
        if table.get(name) is not None:
            return owner, table, name
    raise ArchitectureError(f"{KEY!r} names {path!r}, which the model does not have.")

"""The values of a model as nested dicts, by the paths of its variables: `get_state_tree` and `set_state_tree`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torchkeras.base.arrays import to_numpy
from torchkeras.tensor_functions.operations.values import tensor_of

FORMATS = ("backend_tensor", "numpy_array")


def variables_of(model: Any) -> dict[str, dict[str, Any]]:
    """The variables of a model by kind and path. Raises ValueError for two that have one path."""
    optimizer = model.optimizer
    lists = {
        "trainable_variables": model.trainable_variables,
        "non_trainable_variables": model.non_trainable_variables,
        "optimizer_variables": () if optimizer is None else optimizer.variables,
        "metrics_variables": model.metrics_variables,
    }
    return {kind: _by_path(model, variables) for kind, variables in lists.items()}


def _by_path(model: Any, variables: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable in variables:
        if variable.path in found:
            raise ValueError(
                f"{type(model).__name__} {model.name!r}: The following variable path is found twice in the model: "
                f"{variable.path!r}. Give each layer and metric a name of its own."
            )
        found[variable.path] = variable
    return found


def tree_of(model: Any, value_format: str) -> dict[str, Any]:
    """The values of the variables of a model."""
    if value_format not in FORMATS:
        raise ValueError(
            f"{type(model).__name__} {model.name!r}: value_format must be one of {FORMATS}; found {value_format!r}."
        )
    made: dict[str, Any] = {}
    for kind, variables in variables_of(model).items():
        made[kind] = {}
        for path, variable in variables.items():
            *folders, last = path.split("/")
            place = made[kind]
            for folder in folders:
                place = place.setdefault(folder, {})
            place[last] = variable.value if value_format == "backend_tensor" else to_numpy(variable.value)
    return made


def assign(model: Any, tree: Mapping[str, Any]) -> None:
    """Set the variables that a tree has values for.

    Raises ValueError for another kind, path or shape, before any is set.
    """
    known = variables_of(model)
    what = f"{type(model).__name__} {model.name!r}: set_state_tree"
    for kind, values in tree.items():
        if kind not in known:
            raise ValueError(f"{what}: the kinds of variables are {', '.join(known)}; found {kind!r}.")
        for path, value in _flat(values):
            if path not in known[kind]:
                raise ValueError(f"{what}: {kind} has no {path!r}; there are {list(known[kind])}.")
            wanted, found = tuple(known[kind][path].shape), tuple(tensor_of(value).shape)
            if found != wanted:
                raise ValueError(f"{what}: the shape of {path!r} is {wanted}; the values given have the shape {found}.")
    for kind, values in tree.items():
        for path, value in _flat(values):
            known[kind][path].assign(value)


def _flat(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}/")
        else:
            yield before + name, value

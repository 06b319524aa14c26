"""Checks of a model's config before anything is built from it: lists where lists belong, names that are texts.

No function here is recursive, since the file decides how deep a config is nested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torchkeras.base.bytecode import SCALARS
from torchkeras.base.python import leave_room
from torchkeras.errors import ArchitectureError, FileLimitError, ModelFileError
from torchkeras.saving.containers.limits import LIMITS, Limits

# What layers raise for bad options, and torch for sizes that are too large.
FAILURES = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError, MemoryError)


@contextmanager
def building(what: str = "The architecture") -> Iterator[None]:
    """Turn errors inside the `with` block into ArchitectureError."""
    try:
        yield
    except ModelFileError:
        raise
    except (ValueError, TypeError) as error:
        raise ArchitectureError(str(error)) from error
    except FAILURES as error:
        raise ArchitectureError(f"{what} cannot be built ({type(error).__name__}: {error}).") from error


def short(value: Any, most: int = 300) -> str:
    """A value as text for an error, cut after `most` letters."""
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."


def check(config: Any, limits: Limits = LIMITS) -> None:
    """Check the config of a model or a layer, and the configs inside it.

    Raises ArchitectureError, or FileLimitError for one that is too deep or has too many layers.
    """
    layers, deepest, pending = 0, 0, [(config, 0, 0)]
    while pending:
        found, depth, models = pending.pop()
        if depth > limits.json_depth:
            raise FileLimitError(f"The architecture is nested deeper than {limits.json_depth} levels.")
        deepest = max(deepest, depth)
        if isinstance(found, SCALARS):
            continue
        if isinstance(found, Mapping):
            inside = _entries(found)
            layers, models = layers + len(inside), models + bool(inside)
            if layers > limits.layers:
                raise FileLimitError(f"The architecture has more than {limits.layers} layers.")
            if models > limits.models:
                raise FileLimitError(f"More than {limits.models} models stand in one another.")
            pending += [(value, depth + 1, models) for value in found.values()]
        elif isinstance(found, (list, tuple)):
            pending += [(value, depth + 1, models) for value in found]
    leave_room(deepest)


def _entries(found: Mapping[str, Any]) -> list[Any]:
    """The layers of a Sequential's or a functional model's entry, checked; none of any other mapping."""
    config = found.get("config")
    if found.get("class_name") == "Sequential":
        layers = config.get("layers") if isinstance(config, Mapping) else config
        if not isinstance(layers, (list, tuple)):
            raise ArchitectureError(f"A Sequential config needs a list of 'layers'; found {short(layers)}.")
        for entry in layers:
            check_entry(entry)
        return list(layers)
    if isinstance(config, Mapping) and "input_layers" in config:
        check_functional(config)
        return list(config["layers"])
    return []


def check_model(config: Any) -> None:
    """Check the outer form of a model's config. Raises ArchitectureError."""
    if not isinstance(config, Mapping):
        raise ArchitectureError(
            f"A model config is a dictionary with 'class_name' and 'config'; found {type(config).__name__}."
        )


def check_entry(entry: Any) -> None:
    """Check the entry of a layer. Raises ArchitectureError."""
    named = isinstance(entry, Mapping) and isinstance(entry.get("class_name"), str)
    if not named or not isinstance(entry.get("config"), (Mapping, list)):
        raise ArchitectureError(f"A layer config needs a 'class_name' and a 'config'; found {short(entry)}.")


def check_functional(config: Any, limits: Limits = LIMITS) -> None:
    """Check the config of a functional model: its layers, their calls, its inputs and outputs.

    Raises ArchitectureError, FileLimitError.
    """
    if not isinstance(config, Mapping):
        raise ArchitectureError(f"A model config is a dictionary; found {short(config)}.")
    for key in ("layers", "input_layers", "output_layers"):
        if not isinstance(config.get(key), (list, tuple)):
            raise ArchitectureError(f"A model config needs a list of {key!r}; found {short(config.get(key))}.")
    names: set[str] = set()
    calls = 0
    for entry in config["layers"]:
        _check_layer(entry, names)
        names.add(entry["name"])
        calls += sum(map(len, entry["inbound_nodes"]))
    if calls > limits.calls:
        raise FileLimitError(f"The architecture has more than {limits.calls} connections.")
    _check_places("input_layers", config["input_layers"])
    _check_places("output_layers", config["output_layers"])


def _check_layer(entry: Any, names: Collection[str]) -> None:
    """Check the entry of a layer of a graph. `names`: of the layers before it. Raises ArchitectureError."""
    check_entry(entry)
    name, nodes = entry.get("name"), entry.get("inbound_nodes")
    if not isinstance(name, str) or not name:
        raise ArchitectureError(f"A layer in a model config needs a 'name'; found {short(entry)}.")
    if name in names:
        raise ArchitectureError(f"The config has two layers {name!r}; each needs a name of its own.")
    if not isinstance(nodes, (list, tuple)) or not all(map(_is_call, nodes)):
        raise ArchitectureError(
            f"Layer {name!r}: 'inbound_nodes' must be a list of calls, each a list of "
            f"[layer name, call, output, arguments]; found {short(nodes)}."
        )


def _check_places(key: str, value: Any) -> None:
    for found in places(value):
        if not _is_place(found) or len(found) != 3:
            raise ArchitectureError(f"{key!r} must be a list of [layer name, call, output]; found {short(value)}.")


def places(value: Any) -> list[Any]:
    """A list of places; Keras 3 writes a single place without the outer list."""
    return [value] if value and isinstance(value[0], str) else list(value)


def _is_call(call: Any) -> bool:
    return isinstance(call, (list, tuple)) and len(call) > 0 and all(map(_is_input, call))


def _is_input(found: Any) -> bool:
    arguments = found[3] if isinstance(found, (list, tuple)) and len(found) == 4 else {}
    return _is_place(found) and len(found) <= 4 and isinstance(arguments, Mapping)


def _is_place(found: Any) -> bool:
    return (
        isinstance(found, (list, tuple))
        and len(found) >= 3
        and isinstance(found[0], str)
        and all(isinstance(number, int) and not isinstance(number, bool) and number >= 0 for number in found[1:3])
    )

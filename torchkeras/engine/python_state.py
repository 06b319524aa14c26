"""What a step reads of Python beside its tensors: attributes of layers, losses and metrics, and what those hold."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from sys import intern
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras import config
from torchkeras.engine.graph import Graph
from torchkeras.engine.network import Network
from torchkeras.engine.symbol import KerasTensor
from torchkeras.initializers import Initializer
from torchkeras.optimizers import Optimizer

LEAVES = (
    *(type(None), bool, int, float, complex, str, bytes, ModuleType, CodeType, range),
    *(torch.dtype, torch.device, torch.Generator, Graph, KerasTensor, Initializer),
)
LONGEST = 1000  # of longer lists and dicts only the length counts
# Of modules the hooks, which `Direct` looks for, and what layers note for themselves.
LEFT_OUT = (vars(nn.Module()).keys() - {"training", "_parameters", "_buffers", "_modules"}) | {
    *("_inbound_nodes", "_outbound_nodes", "_added", "_initial_weights", "_policy"),
}
# Of models what trains, and what a recipe has made steps of.
OF_MODELS = LEFT_OUT | {
    *("_functions", "_sources", "_recipe", "_learn", "_score", "_unrolled", "_running"),
    *("_validated", "_placed", "_counts", "history", "stop_training"),
    *("optimizer", "loss", "metrics", "weighted_metrics", "loss_weights", "sample_weight_mode", "target_tensors"),
    *("on_nonfinite", "jit_compile", "cuda_graph", "steps_per_execution"),
}
# Of optimizers what becomes of the numbers that a step is told.
OF_OWN = {Network: OF_MODELS, Optimizer: {"iterations", "lr", "decay"}}

Read = Callable[[], Sequence[Any]]


class PythonState:
    """All that can be reached from `roots` by attributes, items, and the names that functions use, as it is now.

    Another object in the place of one is a change, and so are another setting (`config.computing`), and a tensor that
    lies elsewhere in memory, or that is not on `device` and was written to. Not seen: what code written in C holds,
    what is reached by one of Python's modules through another, the items of long lists. `generators`: those of torch
    among it.
    """

    def __init__(self, device: torch.device, *roots: Any):
        self.generators: list[torch.Generator] = []
        self._device, self._settings = device, config.computing()
        self._held: list[tuple[str, Read, Sequence[Any]]] = []  # which keeps all of it alive: no id comes twice
        self._tensors: list[tuple[str, Tensor, Any]] = []
        seen: set[int] = set()
        ahead = [(_name(root), root) for root in roots]
        while ahead:
            place, value = ahead.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, torch.Generator):
                self.generators.append(value)
            elif isinstance(value, Tensor):
                self._tensors.append((place, value, self._written(value)))
            elif not isinstance(value, LEAVES):
                for names, read in _readings(value):
                    held = read()
                    self._held.append((place, read, held))
                    ahead.extend((f"{place}.{name}", item) for name, item in zip(names, held, strict=False))

    def change(self) -> str | None:
        """Where something is not what it was; None where all is."""
        if config.computing() != self._settings:
            return "a setting of torchkeras or torch"
        for place, read, held in self._held:
            found = read()
            if len(found) != len(held) or not all(map(operator.is_, found, held)):
                return place
        return next((place for place, tensor, written in self._tensors if self._written(tensor) != written), None)

    def _written(self, tensor: Tensor) -> tuple[int, int]:
        place = tensor.data_ptr() if tensor.layout is torch.strided else id(tensor)
        return place, 0 if tensor.device == self._device else tensor._version


def _readings(value: Any) -> Iterator[tuple[Collection[Any], Read]]:
    """How to read what an object holds, and the names of that."""
    if isinstance(value, type):
        if not _is_ours(value):
            yield tuple(vars(value)), lambda: tuple(vars(value).values())
    elif isinstance(value, Mapping):
        yield tuple(value), lambda: _limited(value.values(), len(value))
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        yield range(len(value)), lambda: _limited(value, len(value))
    elif isinstance(value, FunctionType):
        yield value.__code__.co_freevars, partial(_closed_over, value)
        yield ("code", "defaults", "kwdefaults"), lambda: (value.__code__, value.__defaults__, value.__kwdefaults__)
        if not _is_ours(value):
            names = [name for name in value.__code__.co_names if name in value.__globals__]
            yield names, lambda: [value.__globals__.get(name) for name in names]
            modules = [each for each in map(value.__globals__.get, names) if isinstance(each, ModuleType)]
            yield from (_attributes_used(module, value) for module in modules if not _is_ours(module))
    elif isinstance(value, MethodType):
        yield ("self", "function"), lambda: (value.__self__, value.__func__)
    elif isinstance(value, partial):
        yield ("function", "args", "keywords"), lambda: (value.func, value.args, value.keywords)
    elif hasattr(value, "__dict__"):
        left_out = next((names for kind, names in OF_OWN.items() if isinstance(value, kind)), LEFT_OUT)
        names = [name for name in vars(value) if name not in left_out]
        yield names, partial(_attributes, vars(value), names)
        yield ("class",), lambda: (type(value),)
    elif slots := [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]:
        yield slots, lambda: [getattr(value, name, None) for name in slots]


def _limited(items: Collection[Any], length: int) -> Sequence[Any]:
    return list(items) if length <= LONGEST else [_word(length)]


def _attributes(held: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    return [*map(held.get, names), _word(len(held))]


def _word(count: int) -> str:
    """A number as an object of which there is one alone."""
    return intern(str(count))


def _attributes_used(module: ModuleType, function: FunctionType) -> tuple[Collection[Any], Read]:
    """What a function may use of a module: it has the names of attributes as it has those of globals."""
    names = [name for name in function.__code__.co_names if name in vars(module)]
    return names, lambda: [vars(module).get(name) for name in names]


def _closed_over(function: FunctionType) -> list[Any]:
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # nothing was put there yet
            found.append(None)
    return found


def _is_ours(value: Any) -> bool:
    """Whether a class, function or module is of this library, of torch or of Python: what it reads does not change."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    return name.partition(".")[0] in ("torchkeras", "torch", "numpy", "builtins", "abc")


def _name(root: Any) -> str:
    return str(getattr(root, "name", None) or type(root).__name__)

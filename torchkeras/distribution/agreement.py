"""Whether all processes do the same: what they are about to do is compared before they begin."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import torchkeras
from torchkeras.engine.data import random_state
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer
from torchkeras.processes import gathered

COMPILED = (
    *("optimizer", "loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics", "on_nonfinite"),
    *("steps_per_execution", "distribute", "sync_batch_norm"),
)
LONG = 200  # characters of a value in an error


class ProcessesDifferError(RuntimeError):
    """The processes would not do the same. The text names what differs, and what each process has."""


def agree(method: str, model: Any, given: Mapping[str, Any], group: Any = None) -> None:
    """Compare what all processes are about to do with a model.

    The random numbers of Python, NumPy and torch, and the weights, become those of the main process where they differ.

    Arguments:
        method (text): what the processes have called.
        model (Model): the model.
        given (mapping): what else must be equal, by the names that the error is to use.

    Errors:
        ProcessesDifferError: in all processes, where they differ in anything else.
    """
    told = {
        "method": method,
        "version of torch": torch.__version__,
        "version of torchkeras": torchkeras.__version__,
        **{name: plain(getattr(model, name)) for name in COMPILED},
        **{name: plain(value) for name, value in given.items()},
        "model": described(model),
    }
    random, weights = random_state.state({}), _weights(model)
    own = [told, _digest(repr(_listed(random))), _norms(weights)]
    found = gathered(own, group)
    _compare(method, [each[0] for each in found])
    if any(each[1] != found[0][1] for each in found):
        main = [random]
        dist.broadcast_object_list(main, group=group, group_src=0)
        random_state.restore(main[0], {})
    if any(each[2] != found[0][2] for each in found):
        with torch.no_grad():
            for tensor in weights:
                dist.broadcast(tensor, group=group, group_src=0)


def _compare(method: str, told: list[dict[str, Any]]) -> None:
    for name in dict.fromkeys(name for each in told for name in each):
        values = [each.get(name) for each in told]
        if any(value != values[0] for value in values):
            what = _different_lines(values) if name == "model" else [json.dumps(value) for value in values]
            listed = ", ".join(f"process {rank} has {text[:LONG]}" for rank, text in enumerate(what))
            raise ProcessesDifferError(f"{method}: the processes differ in {name}: {listed}.")


def _different_lines(values: list[Any]) -> list[str]:
    """Of texts the first line in which they differ."""
    lines = [[*value.split("\n"), "nothing more"] for value in values]
    for row in zip(*lines, strict=False):
        if len(set(row)) > 1:
            return list(row)
    return [row[-1] for row in lines]


def described(model: Any) -> str:
    """Layers and calls of a model, a line for each, whatever the names of its layers are."""
    places: dict[str, str] = {}
    lines = []
    for module in model.modules():
        if isinstance(module, Network) and module._is_connected and module._graph is not None:
            text = re.sub(r"self\.(\w+)", lambda name: places.setdefault(name[0], f"layer{len(places)}"), module.code)
            lines += text.split("\n")
        elif isinstance(module, Layer):
            weights = [(tuple(each.shape), str(each.dtype), each.trains) for each in module.weights]
            lines.append(f"{type(module).__name__} {json.dumps(plain(_config(module)))} {weights}")
        elif not isinstance(module, Network):
            shapes = [(tuple(each.shape), str(each.dtype)) for each in module.parameters(recurse=False)]
            lines.append(f"{type(module).__name__} {shapes}")
    return "\n".join(lines)


def _config(described: Any) -> Any:
    try:
        return described.get_config()
    except (NotImplementedError, TypeError, ValueError):  # a class of the user's, which has none
        return {}


def plain(value: Any) -> Any:
    """A value as JSON can hold it, without names of layers and without addresses in memory."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items() if name != "name"}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic, torch.Tensor)):
        return [str(value.dtype), list(value.shape)]
    config: Callable[[], Any] | None = None if isinstance(value, type) else getattr(value, "get_config", None)
    if config is not None:
        return [type(value).__name__, plain(_config(value))]
    return getattr(value, "__qualname__", type(value).__qualname__)


def _listed(value: Any) -> Any:
    """Tensors and arrays as lists, so that equal ones have equal texts."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _listed(item) for name, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, (list, tuple)) else value


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _weights(model: Any) -> list[torch.Tensor]:
    """All that the model computes with, where each process has the whole of it."""
    found = [each.detach() for each in (*model.parameters(), *model.buffers())]
    return [each for each in found if type(each) is torch.Tensor and each.numel()]


def _norms(weights: list[torch.Tensor]) -> str:
    if not weights:
        return ""
    norms = [each.double().norm() if not each.is_complex() else each.abs().double().norm() for each in weights]
    return _digest(repr(torch.stack([each.to(norms[0].device) for each in norms]).tolist()))

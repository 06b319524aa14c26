"""Whether all processes do the same: what they are about to do is compared before they begin."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import torchkeras
from torchkeras.data import random_state
from torchkeras.data.contents import plain
from torchkeras.distribution.group import take_first
from torchkeras.resume.described import differences, of_compile, of_model, shown
from torchkeras.world.processes import gathered

WORD = 8  # bytes


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
    facts = {
        "method": method,
        "version of torch": torch.__version__,
        "version of torchkeras": torchkeras.__version__,
        **of_compile(model),
        "distribute": plain(model.distribute),
        **{name: plain(value) for name, value in given.items()},
        "model": of_model(model),
    }
    random, weights = random_state.state({}), _weights(model)
    own = [facts, _digest(repr(_listed(random))), _digest(repr(_sums(weights)))]
    found = gathered(own, group)
    _compare(method, [each[0] for each in found])
    if any(each[1] != found[0][1] for each in found):
        main = [random]
        dist.broadcast_object_list(main, 0 if group is None else dist.get_global_rank(group, 0), group)
        random_state.restore(main[0], {})
    if any(each[2] != found[0][2] for each in found):
        take_first(weights, group)


def _compare(method: str, facts: list[dict[str, Any]]) -> None:
    for name in dict.fromkeys(name for each in facts for name in each):
        main, *others = (each.get(name) for each in facts)
        found = [{each.place: (each.before, each.now) for each in differences(main, other)} for other in others]
        for place, (mine, _) in next((each for each in found if each), {}).items():
            values = [mine, *(each.get(place, (mine, mine))[1] for each in found)]
            listed = ", ".join(f"process {rank} has {shown(each)}" for rank, each in enumerate(values))
            where = f"{name}: {place}" if place else name
            raise ProcessesDifferError(f"{method}: the processes differ in {where}: {listed}.")


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


def _sums(weights: list[torch.Tensor]) -> list[int]:
    """A number for each tensor: the sum of its bytes as integers of 64 bits. Only odd layouts are copied."""
    if not weights:
        return []
    device = weights[0].device
    return torch.stack([_sum(each).to(device) for each in weights]).tolist()  # type: ignore[no-any-return]


def _sum(tensor: torch.Tensor) -> torch.Tensor:
    laid_out = tensor.permute(sorted(range(tensor.dim()), key=tensor.stride, reverse=True))
    values = laid_out.contiguous().reshape(-1)
    aligned = values.data_ptr() % WORD == 0 and values.storage_offset() * values.itemsize % WORD == 0
    flat = (values if aligned else values.clone()).view(torch.uint8)
    even = flat.numel() // WORD * WORD
    return flat[:even].view(torch.int64).sum() + flat[even:].sum()

"""What a process takes of a checkpoint that another number of processes wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchkeras.data import random_state
from torchkeras.distribution.of_torch import distribute_tensor
from torchkeras.resume.run import tensors_of

CUDA_STATE = 16  # bytes of the state of a generator on a CUDA device; those on the CPU are longer


def adopted(states: Sequence[Mapping[str, Any]], run: Any, number: int) -> dict[str, Any]:
    """The state for process `number` of a run, from those of all processes that wrote it.

    Weights, optimizer and callbacks go on as those of the first process. Sums over samples are added up, and go to
    process 0; the others begin theirs at zero. For random numbers see `random_state.of_another_number`.
    """
    first = states[0]
    return {
        **first,
        "sums": _sums([each["sums"] for each in states], number),
        "metrics": {
            name: _added([each["metrics"][name] for each in states], number)
            if run.compiled.kept[name].adds_up
            else found
            for name, found in first["metrics"].items()
            if name in run.compiled.kept
        },
        "guard": _guard([each["guard"] for each in states], number),
        "step_random": _step_random([each.get("step_random", {}) for each in states], number),
        "random": random_state.of_another_number([each["random"] for each in states], number),
        "generators": {
            name: _generator([each["generators"][name] for each in states], number) for name in first["generators"]
        },
    }


def templates(run: Any) -> dict[Any, Any]:
    """The tensors of a model that are shared, by their names in a checkpoint, and by shape for the optimizer's."""
    shared = {name: tensor for name, tensor in tensors_of(run.network).items() if hasattr(tensor, "to_local")}
    return {f"tensors/{name}": tensor for name, tensor in shared.items()} | {
        tensor.shape: tensor for tensor in shared.values()
    }


def target(name: str, shape: torch.Size, dtype: torch.dtype, shared: Mapping[Any, Any]) -> Tensor:
    """Memory for a tensor of a checkpoint: a DTensor where the model has it as one, else a whole tensor."""
    like = _like(name, shape, shared)
    return torch.empty(shape, dtype=dtype) if like is None else torch.empty_like(like, dtype=dtype)


def shared_out(name: str, tensor: Tensor, shared: Mapping[Any, Any]) -> Tensor:
    """A whole tensor as the model has it, in the same way."""
    like = _like(name, tensor.shape, shared)
    if like is None:
        return tensor
    # No process sends: each has the whole.
    return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements, src_data_rank=None)


def _like(name: str, shape: torch.Size, shared: Mapping[Any, Any]) -> Any:
    found = shared.get(name)
    return shared.get(shape) if found is None and name.startswith(("optimizer/", "own/")) else found


def _sums(sums: Sequence[Mapping[str, Any]], number: int) -> dict[str, Any]:
    seen = sum(each["seen"] for each in sums) if number == 0 else 0
    return {**sums[0], "totals": _added([each["totals"] for each in sums], number), "seen": seen}


def _added(each: Sequence[Mapping[str, Tensor]], number: int) -> dict[str, Tensor]:
    """The sums of tensors by name on process 0; zeros on others."""
    if number:
        return {name: torch.zeros_like(value) for name, value in each[0].items()}
    return {name: torch.stack([one[name] for one in each]).sum(0, dtype=value.dtype) for name, value in each[0].items()}


def _guard(each: Sequence[Mapping[str, Tensor]], number: int) -> dict[str, Tensor]:
    """All look at all gradients; the samples are counted by each."""
    if not each[0]:
        return {}
    return {**each[0], **_added([{"good_samples": one["good_samples"]} for one in each], number)}


def _step_random(each: Sequence[Mapping[str, list[Tensor]]], number: int) -> dict[str, list[Tensor]]:
    """As `_generator`, of the generators that steps draw from."""
    if number < len(each):
        return dict(each[number])
    return {name: [_seeded(state, number) for state in states] for name, states in each[0].items()}


def _seeded(state: Tensor, number: int) -> Tensor:
    return random_state.seeded("cpu" if len(state) > CUDA_STATE else "cuda", state, number)


def _generator(each: Sequence[Sequence[Any]], number: int) -> list[Any]:
    """Device and state of a generator that a layer has."""
    device, state = each[0]
    if all(torch.equal(state, other) for _, other in each):
        return [device, state]
    return [device, each[number][1] if number < len(each) else random_state.seeded(device, state, number)]

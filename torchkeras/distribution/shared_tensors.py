"""Tensors that several processes share, each with a part of the rows: torch's DTensors, as FSDP2 makes parameters.

`whole` gives the tensor itself, `part` what this process has of it; a plain tensor is both. All processes must ask for
the same whole tensors in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


def is_sharded(tensor: Any) -> bool:
    """Whether a tensor is shared, each process having a part."""
    return hasattr(type(tensor), "full_tensor")


def part(tensor: Any) -> Any:
    """What this process has of a tensor, in the same memory: always the same object."""
    return tensor._local_tensor if is_sharded(tensor) else tensor  # `to_local` makes a new parameter of a parameter


def parts(tensors: Iterable[Any]) -> list[Any]:
    """`part` of each, None of None."""
    return [part(tensor) for tensor in tensors]


def whole(tensor: Tensor) -> Tensor:
    """The tensor with the rows of all processes. Its gradient is the mean of those of the processes."""
    if not is_sharded(tensor):
        return tensor
    if torch.is_grad_enabled() and tensor.requires_grad:
        return _Whole.apply(tensor)  # type: ignore[no-any-return]
    return joined(part(tensor), tensor)


def joined(own: Tensor, like: Any) -> Tensor:
    """The whole tensor of which `own` is the part of this process, shared as `like`."""
    held = _COLLECTED.get(id(own))
    return sharded_as(own, like).full_tensor() if held is None else held  # type: ignore[no-any-return]


def wholes(tensors: Sequence[Tensor]) -> list[Tensor]:
    """`whole` of each."""
    return [whole(tensor) for tensor in tensors]


def keep(tensor: Tensor, values: Tensor) -> None:
    """Set a tensor that is shared to values of its whole shape: each process takes its rows, and asks no other."""
    if is_sharded(tensor):
        part(tensor).copy_(values[rows(tensor)])


def rows(tensor: Any) -> slice:
    """Which rows of a tensor this process has: those that `torch.chunk` gives."""
    mesh, places = tensor.device_mesh, [k for k, each in enumerate(tensor.placements) if each.is_shard()]
    if len(places) != 1 or tensor.placements[places[0]].dim != 0:
        raise ValueError(
            f"A tensor of shape {tuple(tensor.shape)} is shared as {tensor.placements}; only rows can be shared."
        )
    size = len(tensor)
    each = -(-size // mesh.size(places[0]))
    first = min(size, each * mesh.get_local_rank(places[0]))
    return slice(first, min(size, first + each))


def sharded_as(values: Tensor, tensor: Any) -> Any:
    """A part of this process as a shared tensor like `tensor`."""
    return type(tensor).from_local(
        values, tensor.device_mesh, tensor.placements, run_check=False, shape=tensor.shape, stride=tensor.stride()
    )


def group_of(tensor: Any) -> Any:
    """The processes that have the parts of a tensor, as a process group."""
    place = next(k for k, each in enumerate(tensor.placements) if each.is_shard())
    return tensor.device_mesh.get_group(place)


def in_all(flags: Tensor, tensors: Sequence[Tensor]) -> Tensor:
    """Where flags are True in every process, if processes share the tensors; otherwise the flags themselves."""
    if not any(map(is_sharded, tensors)):
        return flags
    shared = next(filter(is_sharded, tensors))
    found = flags.float()
    dist.all_reduce(found, dist.ReduceOp.MIN, group=members(shared.device_mesh)[0])  # type: ignore[attr-defined]
    return found.bool()


def members(mesh: Any) -> tuple[Any, int]:
    """The group of all processes of a mesh, None for all there are; and the number of the first of them."""
    group = None if mesh.size() == dist.get_world_size() else mesh.get_group()
    return group, dist.get_process_group_ranks(group)[0]


def refuse(tensors: Iterable[Tensor], what: str) -> None:
    """Raise ValueError for tensors that processes share, of what does something with them that needs all."""
    if any(map(is_sharded, tensors)):
        raise ValueError(
            f"{what}: processes share the weights of the model. Save it, and do this in one process with what "
            "load_model gives."
        )


class _Whole(torch.autograd.Function):
    """`whole`, with gradients."""

    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Tensor:
        ctx.tensor = tensor
        return joined(part(tensor), tensor)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        mean, mesh = gradient.contiguous().clone(), ctx.tensor.device_mesh
        for place in range(mesh.ndim):
            dist.all_reduce(mean, group=mesh.get_group(place))
        own = (mean / mesh.size())[rows(ctx.tensor)].contiguous()
        return sharded_as(own, ctx.tensor)


# --- whole for a while -----------------------------------------------------------------------------------------------

_COLLECTED: dict[int, Tensor] = {}  # by the `id` of a part, the whole values, on the first process


@contextmanager
def collected(shared: Sequence[tuple[Tensor, Any]]) -> Iterator[bool]:
    """Whole copies, on the CPU of the first process, of tensors: pairs of a part and of what it is shared as.

    The block is given True there. The other processes hold one tensor at a time and are given False: they have nothing
    to write. They wait until the block has ended, and raise RuntimeError where it raised an error.
    """
    if not shared:
        yield True
        return
    group, first = members(shared[0][1].device_mesh)
    is_main, found, failed = dist.get_rank() == first, {}, torch.zeros((), device=shared[0][0].device)
    for own, like in shared:
        values = joined(own, like)
        if is_main:
            found[id(own)] = torch.empty(values.shape, dtype=values.dtype).copy_(values)
        del values
    _COLLECTED.update(found)
    try:
        yield is_main
    except BaseException:
        failed += 1
        raise
    finally:
        for key in found:
            del _COLLECTED[key]
        dist.all_reduce(failed, group=group)
    if failed and not is_main:
        raise RuntimeError("The main process could not write; its own error says why.")


def shared_in(tensors: Iterable[Tensor]) -> list[tuple[Tensor, Any]]:
    """Those of the tensors that are shared, once each, as `collected` takes them."""
    return list({id(each): (part(each), each) for each in tensors if is_sharded(each)}.values())

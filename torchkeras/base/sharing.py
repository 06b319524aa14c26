"""What the engine asks of tensors that several processes may share, each with a part of the rows.

`sharing().wholes(tensors)` are the tensors with the rows of all processes. While no processes have formed a group, no
tensor is shared: `WholeTensors` gives back what it is given. With a group `distribution.shared_tensors` answers, for
torch's DTensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch.distributed as dist
from torch import Tensor

from torchkeras.base.annexes import annex

# Whether this process belongs to a group. Torch's own function: it is asked in places that every model passes.
has_group: Callable[[], bool] = dist.is_initialized if dist.is_available() else bool


class WholeTensors:
    """Tensors that this process has whole."""

    def is_sharded(self, tensor: Any) -> bool:
        """Whether a tensor is shared, each process having a part."""
        return False

    def part(self, tensor: Any) -> Any:
        """What this process has of a tensor, in the same memory: always the same object."""
        return tensor

    def parts(self, tensors: Iterable[Any]) -> list[Any]:
        """`part` of each, None of None."""
        return list(tensors)

    def rows(self, tensor: Any) -> slice:
        """Which rows of a tensor this process has."""
        return slice(None)

    def wholes(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """The tensors with the rows of all processes. Their gradients are the means of those of the processes."""
        return tensors

    def keep(self, tensor: Tensor, values: Tensor) -> None:
        """Set a tensor that is shared to values of its whole shape: each process takes its rows, and asks no other."""

    def in_all(self, flags: Tensor, tensors: Sequence[Tensor]) -> Tensor:
        """Where flags are True in every process, if processes share the tensors; otherwise the flags themselves."""
        return flags

    def refuse(self, tensors: Iterable[Tensor], what: str) -> None:
        """Raise ValueError for tensors that processes share, of what does something with them that needs all."""

    def shared_in(self, tensors: Iterable[Tensor]) -> list[tuple[Tensor, Any]]:
        """Those of the tensors that are shared, once each: pairs of a part and of what it is shared as."""
        return []

    def collected(self, shared: Sequence[tuple[Tensor, Any]]) -> AbstractContextManager[bool]:
        """Whole copies, on the CPU of the first process, of what `shared_in` gives; True in the process that writes."""
        return nullcontext(True)


_whole_tensors = WholeTensors()
_sharing: Any = _whole_tensors


def sharing() -> WholeTensors:
    """How tensors are shared: once there was a group of processes, as one may be, else not at all."""
    global _sharing
    if _sharing is _whole_tensors and has_group():
        _sharing = annex("shared tensors")
    return _sharing  # type: ignore[no-any-return]

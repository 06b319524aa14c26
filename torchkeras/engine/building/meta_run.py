"""A user's layer run on `meta`: whatever tensors its code uses, nothing is computed and no tensor changes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_map_only

from torchkeras.base.torch_tables import own_buffers
from torchkeras.engine.users_code import CODE

META = torch.device("meta")
RECURRENT = (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)  # type: ignore[reportAttributeAccessIssue]


class MadeOnMeta(TorchFunctionMode):
    """Make new tensors on `meta`, in this thread: `with torch.device("meta")` would also write to a global."""

    device = META
    __torch_function__ = DeviceContext.__torch_function__  # type: ignore[assignment]


class OnMeta(TorchDispatchMode):
    """Run every operation on `meta`, also on tensors of other devices.

    `stand_ins`: the tensors on `meta` to use in place of others, by the id of the original; other tensors get one of
    their own shape and type. `dropped`: at the end, each parameter that a user's code made and did not store, as the
    layer whose code it is and the shape.
    """

    def __init__(self, stand_ins: Mapping[int, Tensor]):
        super().__init__()
        self._stand_ins = stand_ins
        self._used: dict[int, tuple[weakref.ref[Tensor], Any, torch.Size]] = {}
        self.dropped: list[tuple[Any, torch.Size]] = []

    def __exit__(self, *error: Any) -> None:
        self.dropped = [(owner, shape) for parameter, owner, shape in self._used.values() if parameter() is None]
        self._used.clear()  # torch does not lay out a parameter in memory while something refers to it weakly
        super().__exit__(*error)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if "device" in kwargs:
            kwargs["device"] = META
        found = func(*tree_map_only(Tensor, self._on_meta, args), **tree_map_only(Tensor, self._on_meta, kwargs))
        first = args[0] if args else None
        if not isinstance(first, Tensor) or not isinstance(found, Tensor):
            return found
        # An operation that writes into its first argument returns that tensor, not its stand-in.
        in_place = func._schema.is_mutable and func._schema.arguments[0].alias_info is not None
        return first if in_place and found.shape == first.shape else found

    def _on_meta(self, tensor: Tensor) -> Tensor:
        if tensor.device == META:
            if CODE.owner is not None and _may_be_dropped(tensor):
                self._used[id(tensor)] = weakref.ref(tensor), CODE.owner, tensor.shape
            return tensor
        known = self._stand_ins.get(id(tensor))
        if known is not None:
            return known
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=META)


def _may_be_dropped(tensor: Tensor) -> bool:
    """Whether a tensor is a parameter outside of any module; `users_code.Made` checks the modules that the code makes.

    A parameter of `K.variable` has a label, and nothing trains it, in Keras as here.
    """
    if not isinstance(tensor, nn.Parameter) or is_lazy(tensor) or hasattr(tensor, "label"):
        return False
    modules = [made for made in CODE.made if isinstance(made, nn.Module)]
    return all(parameter is not tensor for module in modules for parameter in module.parameters())


class RecurrentOnMeta(TorchFunctionMode):
    """Give torch's recurrent kernels their tensors on `meta`: they compare devices before they dispatch."""

    def __init__(self, on_meta: Callable[[Tensor], Tensor]):
        super().__init__()
        self._on_meta = on_meta

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in RECURRENT:
            args, kwargs = tree_map_only(Tensor, self._on_meta, (args, kwargs))
        return func(*args, **kwargs)


def run_on_meta(module: nn.Module, compute: Callable[[], Any], stand_ins: Mapping[int, Tensor]) -> Any:
    """Call `compute` on `meta`, and restore the buffers of the module that it replaces.

    Raises ValueError for a parameter that a user's code made and did not store.
    """
    with torch.no_grad(), _buffers_restored(module), OnMeta(stand_ins) as mode, RecurrentOnMeta(mode._on_meta):
        found = compute()
    for owner, shape in mode.dropped:
        raise ValueError(
            f"{type(owner).__name__} {owner.name!r}: its code makes a torch.nn.Parameter of shape {tuple(shape)} "
            "in a call, so that each call has another, which nothing trains and no file has. Make it once, as "
            "self.w = torch.nn.Parameter(...), in __init__ or build of a layer of your own; a constant is a tensor."
        )
    return found


@contextmanager
def off_meta() -> Iterator[None]:
    """Leave a run on `meta` within the block: what a layer makes in its `build` has values."""
    with _disable_current_modes():
        yield


@contextmanager
def _buffers_restored(module: nn.Module) -> Iterator[None]:
    """Put back, after the block, the buffers that it has replaced."""
    before = [(own_buffers(inside), dict(own_buffers(inside))) for inside in module.modules()]
    try:
        yield
    finally:
        for buffers, old in before:
            for name, tensor in old.items():
                if name not in buffers or buffers[name] is not tensor:  # those of a script module have no `get`
                    buffers[name] = tensor

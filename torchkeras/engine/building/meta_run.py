"""A user's layer run for the shapes of its outputs: whatever tensors its code uses, none of them changes.

It runs on `meta`, where nothing is computed; code that looks at values runs on copies of all tensors.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map_only

from torchkeras.base.torch_tables import own_buffers
from torchkeras.base.torch_versions import READ_AS_PLAIN
from torchkeras.engine.users_code import CODE

META, CPU = torch.device("meta"), torch.device("cpu")
DRAWS = frozenset({nn.init.uniform_, nn.init.normal_, nn.init.constant_, nn.init.kaiming_uniform_})
FILLS = frozenset({Tensor.fill_, Tensor.zero_})
UNFILLED: Mapping[Any, Any] = {torch.zeros: torch.empty, torch.ones: torch.empty}
RECURRENT = (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)  # type: ignore[reportAttributeAccessIssue]


class MadeOnMeta(TorchFunctionMode):
    """Make new tensors on `meta`, in this thread: `with torch.device("meta")` would also write to a global.

    No initial values are set there: for torch that is half of the time of making a convolution.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in DRAWS and kwargs["tensor"].is_meta:
            return kwargs["tensor"]
        if func in FILLS and args[0].is_meta:
            return args[0]
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs["device"] = META
            func = UNFILLED.get(func, func)
        return func(*args, **kwargs)


class OnMeta(TorchDispatchMode):
    """Run every operation on `meta`, also on tensors of other devices.

    `stand_ins`: the tensors on `meta` to use in place of others, by the id of the original; other tensors get one of
    their own shape and type. `dropped`: at the end, each parameter that a user's code made and did not store, as the
    layer whose code it is and the shape.
    """

    device = META

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
            kwargs["device"] = self.device
        found = func(*tree_map_only(Tensor, self.stand_in, args), **tree_map_only(Tensor, self.stand_in, kwargs))
        first = args[0] if args else None
        if not isinstance(first, Tensor) or not isinstance(found, Tensor):
            return found
        # An operation that writes into its first argument returns that tensor, not its stand-in.
        in_place = func._schema.is_mutable and func._schema.arguments[0].alias_info is not None
        return first if in_place and found.shape == first.shape else found

    def stand_in(self, tensor: Tensor) -> Tensor:
        """The tensor to compute with in place of another one."""
        if tensor.device == META:
            if CODE.owner is not None and _may_be_dropped(tensor):
                self._used[id(tensor)] = weakref.ref(tensor), CODE.owner, tensor.shape
            return tensor
        known = self._stand_ins.get(id(tensor))
        if known is not None:
            return known
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=META)


class OnCopies(OnMeta):
    """Compute with values, on the CPU: with copies of all tensors that the code itself has not made.

    `dtype`: the type of the copies of weights, if not their own.
    """

    device = CPU

    def __init__(self, stand_ins: Mapping[int, Tensor], dtype: torch.dtype | None):
        super().__init__(stand_ins)
        self._dtype = dtype
        self._computed: dict[int, tuple[Tensor, Tensor]] = {}  # by the id of a tensor, which lives as long

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = super().__torch_dispatch__(func, types, args, kwargs)
        for each in tree_leaves(found):
            if isinstance(each, Tensor):
                self._computed.setdefault(id(each), (each, each))
        return found

    def __exit__(self, *error: Any) -> None:
        self._computed.clear()  # torch does not lay out a parameter in memory while others refer to it
        super().__exit__(*error)

    def stand_in(self, tensor: Tensor) -> Tensor:
        """The tensor itself if the code has made it, else its copy, which is always the same."""
        known = self._stand_ins.get(id(tensor))
        if known is not None:
            return known
        if id(tensor) not in self._computed:
            is_weight = isinstance(tensor, nn.Parameter) or tensor.is_meta
            self._computed[id(tensor)] = tensor, copied(tensor, self._dtype if is_weight else None)
        return self._computed[id(tensor)][1]


def copied(tensor: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """A copy on the CPU, floating-point numbers in another type if given; ones for a tensor on `meta`."""
    if dtype is None or not tensor.is_floating_point():
        dtype = tensor.dtype
    if tensor.is_meta:
        return torch.ones(tensor.shape, dtype=dtype, device=CPU)
    return tensor.detach().to(CPU, dtype, copy=True)


def _may_be_dropped(tensor: Tensor) -> bool:
    """Whether a tensor is a parameter outside of any module; `users_code.Made` checks the modules that the code makes.

    A parameter of `K.variable` has a label, and nothing trains it, in Keras as here.
    """
    if not isinstance(tensor, nn.Parameter) or is_lazy(tensor) or hasattr(tensor, "label"):
        return False
    modules = [made for made in CODE.made if isinstance(made, nn.Module)]
    return all(parameter is not tensor for module in modules for parameter in module.parameters())


class RecurrentOnMeta(TorchFunctionMode):
    """Give torch's recurrent kernels the tensors to compute with: they compare devices before they dispatch."""

    def __init__(self, stand_in: Callable[[Tensor], Tensor]):
        super().__init__()
        self._stand_in = stand_in

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in RECURRENT:
            args, kwargs = tree_map_only(Tensor, self._stand_in, (args, kwargs))
        if func in READ_AS_PLAIN and is_lazy(args[0]):
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        return func(*args, **kwargs)


def run_on_meta(module: nn.Module, compute: Callable[[], Any], stand_ins: Mapping[int, Tensor]) -> Any:
    """Call `compute` on `meta`, and restore the buffers of the module that it replaces.

    Raises ValueError for a parameter that a user's code made and did not store.
    """
    with torch.no_grad(), _buffers_restored(module), OnMeta(stand_ins) as mode, RecurrentOnMeta(mode.stand_in):
        found = compute()
    for owner, shape in mode.dropped:
        raise ValueError(
            f"{type(owner).__name__} {owner.name!r}: its code makes a torch.nn.Parameter of shape {tuple(shape)} "
            "in a call, so that each call has another, which nothing trains and no file has. Make it once, as "
            "self.w = torch.nn.Parameter(...), in __init__ or build of a layer of your own; a constant is a tensor."
        )
    return found


def run_on_copies(
    module: nn.Module, compute: Callable[[], Any], stand_ins: Mapping[int, Tensor], dtype: torch.dtype | None
) -> Any:
    """Call `compute` with values, on copies of the tensors that it uses. It takes no random numbers from torch.

    The arguments are those of `run_on_meta` and `OnCopies`.
    """
    kept, mode = torch.random.fork_rng(devices=[]), OnCopies(stand_ins, dtype)
    with kept, torch.no_grad(), _buffers_restored(module), mode, RecurrentOnMeta(mode.stand_in):
        return compute()


@contextmanager
def off_meta() -> Iterator[None]:
    """Leave a run for shapes within the block: what a layer makes in its `build` has values."""
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

"""A CUDA device that the CPU stands in for: tensors that say they are on cuda:0, and what a step asks of the device.

A tensor of the device holds its numbers on the CPU, which computes each operation. Two things are like CUDA's: an
operation on tensors of both devices is an error, and what goes between the devices, or makes the CPU wait, is counted.

torch looks for a CUDA device once, when it is imported. So this runs in a process of its own: see `test_hot_paths.py`.
"""

import ctypes
import functools
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

aten: Any = torch.ops.aten
CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
# The CPU waits for what these read: their result, or its shape, depends on the numbers.
WAITING = {
    *(aten._local_scalar_dense.default, aten.equal.default, aten.nonzero.default, aten.masked_select.default),
    *(aten._unique2.default, aten.unique_dim.default, aten.unique_consecutive.default, aten.bincount.default),
    aten.repeat_interleave.Tensor,
}
INDEXING = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}
COPYING = {aten._to_copy.default, aten.copy_.default}
JOINING = {aten.cat.default, aten.stack.default}  # these take no scalar of the other device
NOT_DETERMINISTIC = {
    aten.cumsum.default,
    aten.grid_sampler_2d_backward.default,
    aten.upsample_bilinear2d_backward.default,
}
RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")


class OnDevice(Tensor):
    """A tensor of the device; `held` has its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> "OnDevice":
        options = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        made = Tensor._make_wrapper_subclass(cls, held.shape, device=CUDA, **options)  # type: ignore[attr-defined]
        made.held = held
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return computed(function, args, kwargs or {}, Counts())


class Generator(torch.Generator):
    """A generator that says which device it is for."""

    _place: torch.device

    def __new__(cls, device: Any = "cpu") -> "Generator":
        made = super().__new__(cls, device="cpu")
        made._place = torch.device(device)
        return made

    @property
    def device(self) -> torch.device:
        return CUDA if self._place.type == "cuda" else self._place


class Counts:
    """What was asked of the device, with the line of the package that asked."""

    def __init__(self) -> None:
        self.transfers: Counter[str] = Counter()
        self.waits: Counter[str] = Counter()

    def clear(self) -> None:
        self.transfers.clear()
        self.waits.clear()

    def add(self, kind: Counter[str], function: Any) -> None:
        frames = [f for f in traceback.extract_stack() if "/torchkeras/" in f.filename.replace("\\", "/")]
        place = f"{frames[-1].filename.rpartition('/torchkeras/')[2]}:{frames[-1].lineno}" if frames else "elsewhere"
        kind[f"{function} at {place}"] += 1


class Device(TorchDispatchMode):
    """Where it is on, torch makes tensors for CUDA, and counts."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = Counts()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return computed(function, args, kwargs or {}, self.counts)


def computed(function: Any, args: Any, kwargs: dict[str, Any], counts: Counts) -> Any:
    """The result of an operation, on the device where one of its tensors is, or where it is to be made."""
    given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    ours = [tensor for tensor in given if isinstance(tensor, OnDevice)]
    target = kwargs.get("device")
    place = torch.device(target) if target is not None else CUDA if ours else CPU
    if function in COPYING:
        source = args[1] if function is aten.copy_.default else args[0]
        place = args[0].device if function is aten.copy_.default else place
        if place.type != "meta" and isinstance(source, OnDevice) != (place.type == "cuda"):
            counts.add(counts.transfers, function)
    elif ours:
        check(function, given)
        if function in WAITING or (function in INDEXING and any(is_mask(each) for each in args[1])):
            counts.add(counts.waits, function)
    elif place.type != "cuda":
        return on_cpu(function, args, kwargs)
    if function is aten._fused_sdp_choice.default:
        return 0  # the formula: there are no kernels of CUDA
    if target is not None:
        kwargs = {**kwargs, "device": CPU if place.type == "cuda" else place}
    known = {id(tensor.held): tensor for tensor in ours}
    held = tree_map_only(OnDevice, lambda tensor: tensor.held, (args, kwargs))
    found = function(*held[0], **held[1])
    if torch.Tag.inplace_view in function.tags:
        with no_dispatch():
            function(*args, **kwargs)  # the shape that the tensor of the device says it has
    if place.type != "cuda":
        return found.clone() if any(found is tensor.held for tensor in ours) else found
    return tree_map_only(Tensor, lambda each: known[id(each)] if id(each) in known else OnDevice(each), found)


def on_cpu(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if function is aten.is_pinned.default:
        return False
    if function is aten._pin_memory.default:
        return args[0].clone()
    return function(*args, **kwargs)


def check(function: Any, given: list[Tensor]) -> None:
    """Raise RuntimeError for a tensor of the other device, but for a scalar; and for what is not deterministic."""
    if torch.are_deterministic_algorithms_enabled() and function in NOT_DETERMINISTIC:
        raise RuntimeError(f"{function} does not have a deterministic implementation.")
    scalars = 0 if function in JOINING else 1
    for tensor in given:
        if not isinstance(tensor, OnDevice) and tensor.dim() >= scalars:
            raise RuntimeError(f"{function}: a tensor of shape {tuple(tensor.shape)} is on the CPU, others on CUDA.")


def is_mask(index: Any) -> bool:
    return isinstance(index, Tensor) and index.dtype in (torch.bool, torch.uint8)


# --- recurrent kernels, which torch has for CUDA as wholes ------------------------------------------------------------


class Held(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: OnDevice) -> Tensor:
        return tensor.held.detach().clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # type: ignore[override]
        return OnDevice(gradient)


class Sent(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return OnDevice(tensor.detach().clone())

    @staticmethod
    def backward(ctx: Any, gradient: OnDevice) -> Tensor:  # type: ignore[override]
        return gradient.held.clone()


class Functions(TorchFunctionMode):
    """What does not reach the device's operations one by one."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if kwargs.get("generator") is not None:
            check_generator(function, args, kwargs)
        if function in (torch.tensor, torch.as_tensor) and not isinstance(args[0], Tensor):
            made = function(*args, **{**kwargs, "device": CPU})
            return made.to(kwargs.get("device") or CPU)
        if not args or not isinstance(args[0], OnDevice):
            return function(*args, **kwargs)
        if function is Tensor.tolist:
            self._counts.add(self._counts.waits, "tolist")
            return args[0].held.tolist()
        if getattr(function, "__name__", "") in RECURRENT:
            check(function, [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)])
            args, kwargs = tree_map_only(OnDevice, Held.apply, (args, kwargs))
            return tree_map_only(Tensor, Sent.apply, function(*args, **kwargs))
        return function(*args, **kwargs)


def check_generator(function: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Raise RuntimeError for a generator of another device than the tensor that it fills or makes."""
    place = args[0].device if args and isinstance(args[0], Tensor) else torch.device(kwargs.get("device") or CPU)
    if place.type != kwargs["generator"].device.type and place.type != "meta":
        raise RuntimeError(f"{function}: the generator is for {kwargs['generator'].device}, the tensor on {place}.")


# --- torch.cuda -------------------------------------------------------------------------------------------------------


class Stream(SimpleNamespace):
    def __init__(self, device: Any = None, **options: Any) -> None:
        super().__init__(device=device, **options)

    def wait_event(self, event: Any) -> None: ...

    def wait_stream(self, stream: Any) -> None: ...

    def record_event(self, event: Any = None) -> "Event":
        return event or Event()


class Event:
    def __init__(self, **options: Any) -> None: ...

    def record(self, stream: Any = None) -> None: ...

    def synchronize(self) -> None: ...


def as_subclass(tensor: Tensor, kind: type[Tensor], plain: Any = Tensor.as_subclass) -> Tensor:
    return on_device(kind)(tensor.held) if isinstance(tensor, OnDevice) else plain(tensor, kind)


@functools.cache
def on_device(kind: type[Tensor]) -> type[OnDevice]:
    """A subclass of `Tensor` whose tensors are on the device."""
    return type(kind.__name__, (OnDevice, kind), {})


@contextmanager
def cuda(free: int = 2**40) -> Iterator[Device]:
    """A machine with one CUDA device, which has `free` bytes of memory."""
    answers: dict[str, Callable[..., Any]] = {
        "_lazy_init": lambda: None,
        "is_available": lambda: True,
        "is_initialized": lambda: False,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": lambda device=None: SimpleNamespace(major=9, minor=0),
        "mem_get_info": lambda device=None: (free, 2**40),
        "memory_reserved": lambda device=None: 0,
        "memory_allocated": lambda device=None: 0,
        "synchronize": lambda device=None: None,
        "current_stream": lambda device=None: Stream(device),
        "stream": lambda stream: mock.MagicMock(),
        "Stream": Stream,
        "Event": Event,
    }
    methods = {"as_subclass": as_subclass, "record_stream": lambda tensor, stream: None}
    with (
        mock.patch.multiple(torch.cuda, **answers),
        mock.patch.multiple(Tensor, **methods),
        mock.patch.object(torch, "Generator", Generator),
        torch.backends.cudnn.flags(enabled=False),
        Device() as device,
        Functions(device.counts),
    ):
        yield device


@functools.cache
def install(library: str) -> None:
    """Let torch's autograd accept tensors of the device. `library` was loaded before torch."""
    ctypes.CDLL(library).install()

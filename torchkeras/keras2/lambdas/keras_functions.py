"""`K.*`: which functions of the backend a formula may call, and what a formula needs besides."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.keras2 import backend
from torchkeras.keras2.backend.control_flow import chosen
from torchkeras.keras2.backend.nodes import as_type, sizes
from torchkeras.keras2.backend.old_arguments import SIGNATURES, taking_old_names
from torchkeras.keras2.backend.variables import full
from torchkeras.keras2.lambdas.arithmetic import BUILTINS
from torchkeras.keras2.lambdas.limits import WORK

Function = Callable[..., Any]
BEAMS = 1_000  # the widest beam of `ctc_decode`

# Functions whose results depend on their arguments alone, or on random numbers.
NAMES = """
    abs all any argmax argmin asymmetric_spatial_2d_padding asymmetric_temporal_padding atrous_conv2d batch_dot
    batch_flatten batch_normalization bias_add binary_crossentropy categorical_crossentropy clip concatenate conv1d
    conv2d conv2d_transpose conv3d conv3d_transpose cos count_params ctc_batch_cost cumprod cumsum depthwise_conv2d
    dot dropout dtype elu equal exp expand_dims flatten gather greater greater_equal hard_sigmoid identity in_top_k
    int_shape l2_normalize less less_equal lesser lesser_equal local_conv1d local_conv2d log logsumexp max maximum
    mean min minimum ndim normalize_batch_in_training not_equal one_hot ones_like permute_dimensions pool2d pool3d
    pow prod relu repeat repeat_elements reshape resize_images resize_volumes reverse round separable_conv1d
    separable_conv2d shape sigmoid sign sin slice softmax softplus softsign sparse_categorical_crossentropy
    spatial_2d_padding spatial_3d_padding sqrt square squeeze stack std stop_gradient sum tanh temporal_padding tile
    transpose var zeros_like
""".split()  # noqa: SIM905  (a list of its own would be a page long)


@dataclass(frozen=True)
class Scope:
    """How a layer runs."""

    training: bool
    device: torch.device


def cast(x: Any, dtype: Any) -> Any:
    """In another type; a number, such as the size of an axis, remains one."""
    found = as_type(dtype)
    if isinstance(x, Tensor):
        return x.to(found)
    return BUILTINS["float" if found.is_floating_point else "int"](x)


def each_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """A loop over the elements of tensors, which may be so many."""

    def loop(fn: Any, elems: Any, *args: Any, **kwargs: Any) -> Any:
        count = min(len(each) for each in elems) if isinstance(elems, (tuple, list)) else len(elems)
        if count > WORK:
            raise ValueError(f"a loop over {count} elements; {WORK} is the most")
        return function(fn, elems, *args, **kwargs)

    return loop


def placed(function: Callable[..., Tensor], name: str = "") -> Callable[..., Tensor]:
    """A function that makes a tensor, with the tensor on the layer's device; on `meta` one of a shape has no memory.

    `name`: of a function that Keras 1 had with other arguments.
    """
    signature = inspect.signature(function)

    def make(scope: Scope, *args: Any, **kwargs: Any) -> Tensor:
        if "device" in signature.parameters:
            return function(*args, **kwargs, device=scope.device)
        given = signature.bind(*args, **kwargs).arguments
        if scope.device.type == "meta" and given.get("shape") is not None:
            return torch.empty(sizes(given["shape"]), dtype=as_type(given.get("dtype")), device=scope.device)
        return function(*args, **kwargs).to(scope.device)

    def of_any_keras(scope: Scope, *args: Any, **kwargs: Any) -> Tensor:
        return taking_old_names(name, partial(make, scope))(*args, **kwargs)

    return of_any_keras if name in SIGNATURES else make


def _zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    return full(shape, 0, dtype)


def _ones(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    return full(shape, 1, dtype)


def _eye(size: int, dtype: Any = None, name: str | None = None, *, device: torch.device) -> Tensor:
    return torch.eye(size, dtype=as_type(dtype), device=device)


def _arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32", *, device: torch.device) -> Tensor:
    ends = (0, max(start, 0)) if stop is None else (start, stop)
    return torch.arange(*ends, step, device=device).to(as_type(dtype))


def _of_any_keras(name: str) -> Function:
    """What is inside of the node that a function of the backend makes, with Keras 1's arguments too."""
    function = inspect.unwrap(getattr(backend, name))
    return taking_old_names(name, function) if name in SIGNATURES else function


def _decode(y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1) -> Any:
    if beam_width > BEAMS:
        raise ValueError(f"a beam_width of {beam_width}; {BEAMS} is the most")
    return backend.ctc_decode(y_pred, input_length, greedy, beam_width, top_paths)


FUNCTIONS: Mapping[str, Function] = {
    **{name: _of_any_keras(name) for name in NAMES},
    **{name: each_of(getattr(backend, name)) for name in ("foldl", "foldr", "map_fn")},
    "cast": cast,
    "ctc_decode": _decode,
    "print_tensor": lambda x, message="": x,
    "cast_to_floatx": lambda x: cast(x, config.floatx()),
    "switch": inspect.unwrap(chosen),  # functions without arguments are read before; it does not wait for the condition
}

_MADE = {name: getattr(backend, name) for name in ("constant", "random_binomial", "random_normal")}
_MADE |= {"random_uniform": backend.random_uniform, "truncated_normal": backend.truncated_normal}
_MADE |= {"zeros": _zeros, "ones": _ones, "eye": _eye, "arange": _arange}
# A variable of a Lambda is no weight of its layer: Keras neither trains nor stores it.
_MADE |= {"variable": lambda value, dtype=None, name=None: backend.constant(value, dtype)}

SCOPED: Mapping[str, Callable[..., Any]] = {
    **{name: placed(function, name) for name, function in _MADE.items()},
    "learning_phase": lambda scope: int(scope.training),
}

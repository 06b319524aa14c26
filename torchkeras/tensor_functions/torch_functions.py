"""Torch's own public functions of tensors, and those of `torchkeras.backend`, by the names that a config may have.

The list is closed. Of torch it has what torch lets a tensor-like answer for (`torch.overrides`) in `torch`,
`torch.Tensor`, `torch.nn.functional`, `torch.special`, `torch.linalg` and `torch.fft`, without private names, changes
in place, and what reads, moves or describes a tensor in place of computing one. It is made once, when it is first asked
for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F

from torchkeras.base.annexes import annex

Function = Callable[..., Any]

MODULES: Mapping[str, Any] = {
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.nn.functional": F,
    "torch.special": torch.special,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
}
# Public functions of tensors that torch's own list leaves out.
FURTHER = (
    *("torch.rand_like", "torch.randn_like", "torch.randint_like"),
    *("torch.Tensor.new_full", "torch.Tensor.new_ones", "torch.Tensor.new_zeros", "torch.Tensor.unflatten"),
    *(f"torch.nn.functional.{name}" for name in ("hardsigmoid", "hardswish", "sigmoid", "tanh")),
)
PROPERTIES = ("T", "mT", "H", "mH", "real", "imag")

VALUES = (
    *("item", "tolist", "numpy", "equal", "allclose", "is_nonzero", "backward", "data_ptr", "const_data_ptr"),
    *("storage", "untyped_storage", "storage_type", "storage_offset", "stride", "is_contiguous", "dim_order"),
    *("retain_grad", "register_hook", "register_post_accumulate_grad_hook", "__contains__", "__len__", "__reversed__"),
)
MOVES = ("cuda", "cpu", "ipu", "mtia", "xpu", "pin_memory", "get_device", "record_stream")
# What to write in place of functions that a graph cannot have.
INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(("empty_like", "new_empty", "new_empty_strided", "new"), "zeros_like, whose values are defined"),
    **dict.fromkeys(("as_strided", "as_strided_copy", "as_strided_scatter"), "slices, reshape and permute"),
    **dict.fromkeys(("type",), "x.to(torch.float16)"),
    **dict.fromkeys(("as_subclass", "module_load", "resize", "resize_as"), "reshape, or a Layer of your own"),
}
NO_FUNCTIONS = {  # of torch's list, besides: they describe a tensor, or are no functions for a user
    *("autocast", "ndimension", "dim", "size", "numel", "nelement", "element_size", "qscheme", "sparse_dim"),
    *("dense_dim", "hash_tensor", "lobpcg", "choose_qparams_optimized", "int_repr", "to_mkldnn"),
}
PREFIXES = ("is_", "q_", "sym_", "fbgemm", "miopen", "native_", "quantize", "fake_quantize", "fused_", "unsafe_")
PREFIXES = (*PREFIXES, "batch_norm_", "to_sparse", "to_padded")

# Those of torch.nn.functional that compute as in training, unless an argument says otherwise.
TRAINING = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
TRAINING = (*TRAINING, "multi_head_attention_forward")

# Functions of each number by itself: any order of axes will do, and a mask goes on.
POINTWISE = frozenset(
    """
    abs absolute neg negative positive exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos
    tan asin acos atan arcsin arccos arctan sinh cosh tanh asinh acosh atanh arcsinh arccosh arctanh sigmoid expit
    logit erf erfc erfinv erfcx lgamma digamma gammaln i0 i1 sinc ndtr log_ndtr relu relu6 gelu silu mish elu selu
    celu leaky_relu hardtanh hardswish hardsigmoid hardshrink softplus softsign softshrink tanhshrink logsigmoid
    threshold sign sgn signbit floor ceil round trunc fix frac clamp clip clamp_min clamp_max nan_to_num isnan
    isinf isfinite deg2rad rad2deg angle conj real imag add sub subtract mul multiply div divide true_divide pow
    float_power remainder fmod floor_divide maximum minimum fmax fmin atan2 arctan2 hypot xlogy xlog1py copysign
    ldexp lerp addcmul addcdiv eq ne lt le gt ge not_equal less less_equal greater greater_equal isclose where
    logical_not logical_and logical_or logical_xor bitwise_not bitwise_and bitwise_or bitwise_xor masked_fill to
    type_as float half bfloat16 double int long short byte bool char clone detach zeros_like ones_like full_like
    rand_like randn_like dropout alpha_dropout bernoulli heaviside
    """.split()  # noqa: SIM905  (a list of its own would be a page long)
)


BACKEND, OPERATIONS = "torchkeras.backend", "ops"
_OWN: dict[str, Function] = {}  # the functions of the backend, which is imported when one of them is asked for
_OWN_NAMES: dict[Function, str] = {}
_OWN_POINTWISE: set[str] = set()


def add_own(function: Function, pointwise: bool) -> None:
    """Add a function of the backend to the list. `pointwise`: whether it takes each number by itself."""
    name = f"{BACKEND}.{function.__name__}"
    _OWN[name], _OWN_NAMES[function] = function, name
    _OWN_POINTWISE.update([name] * pointwise)


def named(name: str) -> Function | None:
    """The function that a config has by this name, torch's or the backend's; None where there is none."""
    if name.startswith(f"{BACKEND}."):
        annex("backend")
        return _OWN.get(name)
    if name.startswith(f"{OPERATIONS}."):
        return annex("operations").BY_NAME.get(name)
    return functions().get(name)


def name_of(function: Function) -> str | None:
    """The name of a function in the list; None for one that is not there."""
    return names().get(function) or _OWN_NAMES.get(function)


@cache
def functions() -> Mapping[str, Function]:
    """Those of torch, by name: `torch.cat`, `torch.Tensor.view`, `torch.nn.functional.gelu`."""
    known = {function for found in torch.overrides.get_overridable_functions().values() for function in found}
    found = {name: function for name, function in _public() if function in known or name in FURTHER}
    properties = {f"torch.Tensor.{name}": getattr(torch.Tensor, name).__get__ for name in PROPERTIES}
    return {**found, **properties}


def _public() -> Iterator[tuple[str, Function]]:
    refused = {*VALUES, *MOVES, *INSTEAD, *NO_FUNCTIONS}
    for place, module in MODULES.items():
        for name in dir(module):
            function = getattr(module, name)
            private = name.startswith(("_", *PREFIXES)) or name.endswith("_") or name in refused
            if not private and callable(function) and getattr(function, "__hash__", None) is not None:
                yield f"{place}.{name}", function


@cache
def names() -> Mapping[Function, str]:
    """The names of torch's functions; of a function with several names the first."""
    return {function: name for name, function in reversed(list(functions().items()))}


def place_of(function: Function | str) -> str:
    """What a function is called in an error: its name in the list, or where it says that it was defined."""
    if isinstance(function, str):
        return function
    known = name_of(function)
    if known is not None:
        return known
    own = getattr(function, "__name__", None) or type(function).__name__
    for place, module in MODULES.items():
        if getattr(module, own, None) == function:
            return f"{place}.{own}"
    return own


def member(name: str) -> Function | None:
    """The method, or the getter of the property, that `torch.Tensor` has by this name; None when it has none."""
    found = getattr(torch.Tensor, name, None)
    if name in PROPERTIES:
        return functions()[f"torch.Tensor.{name}"]
    return found if callable(found) else None


def short(name: str) -> str:
    """`view` for `torch.Tensor.view`."""
    return name.rpartition(".")[2]


def is_pointwise(name: str) -> bool:
    """Whether a function of the list takes each number by itself."""
    return name in _OWN_POINTWISE or (name.startswith("torch.") and short(name) in POINTWISE)


def broadcasts(name: Any) -> bool:
    """Whether a name is that of an operation of Keras 3 that computes each element of tensors broadcast together."""
    return isinstance(name, str) and name.startswith(f"{OPERATIONS}.") and name in annex("operations").BROADCASTING


def problem(function: Function, arguments: Sequence[Any], options: Mapping[str, Any]) -> str | None:
    """Why a graph cannot have a call of a function with these arguments, and what to write; None when it can."""
    called = place_of(function)
    name = short(called)
    changes = _problem_of_change(name)
    if changes is not None:
        return changes
    if name in VALUES:
        return "a graph has no values before it runs; put the code into a Lambda, or the forward of a Layer."
    if name in MOVES or _names_device(name, arguments, options):
        return "where a model computes is settled by model.to(device)."
    if name in INSTEAD:
        return f"write {INSTEAD[name]}."
    return _problem_of_options(called, arguments, options)


def _problem_of_options(called: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> str | None:
    """Why a graph cannot have a function with these options; None when it can."""
    name = short(called)
    for option in ("out", "inplace"):
        if options.get(option):
            return f"{option}={options[option]!r} writes over a tensor that others may need; leave it out."
    always = called.startswith("torch.nn.functional.") and name in TRAINING
    if options.get("training", always):
        return "training=True would hold in evaluation too; use the layer of that kind, which follows the mode."
    if options.get("dropout_p") or (name == "scaled_dot_product_attention" and any(arguments[4:5])):
        return "dropout_p would drop in evaluation too; use MultiHeadAttention(dropout=...), which follows the mode."
    return None


def _problem_of_change(name: str) -> str | None:
    """What to write in place of a function that changes a tensor; None for another function."""
    if name in ("__setitem__", "__delitem__"):
        return "it changes a tensor in place; write torch.where, x.index_copy or x.masked_fill, which give a new one."
    if name.startswith("__i") and name not in ("__invert__", "__index__", "__int__"):
        return "it changes a tensor in place; write the operator itself, which gives a new one."
    if name.endswith("_") and not name.endswith("__"):
        return f"it changes a tensor in place; write {name.rstrip('_')}, which gives a new one."
    return None


def _names_device(name: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Whether a call says where to compute: `torch.ones_like(x, device="cuda")`, `x.to("cuda")`."""
    if options.get("device") is not None:
        return True
    return name == "to" and any(isinstance(argument, (str, torch.device)) for argument in arguments)

"""Operators and functions of tensors, which are layers in a graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from torchkeras import activations, layers
from torchkeras.engine.functions.function_arguments import has_size
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.call import LayerCall, mask_rule, rule
from torchkeras.export.plain.rules.activation import CALLED, activated
from torchkeras.tensor_functions.torch_functions import BACKEND

EQUATION = re.compile(r"[A-Za-z.,> -]*", re.ASCII)
TYPED = ("cast", "argmax", "argmin")  # they take a type by its name
NAMES = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge", "eq", "ne"]
INFIX = dict(zip(NAMES, ["+", "-", "*", "/", "//", "%", "**", "@", "<", "<=", ">", ">=", "==", "!="], strict=True))
PREFIX = {"neg": "-{0}", "abs": "{0}.abs()", "invert": "~{0}"}
METHODS = (
    *("exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "square", "reciprocal", "sin", "cos", "tan", "sinh", "cosh"),
    *("erf", "isnan", "floor", "ceil", "round", "sign", "logical_not"),
)
REDUCTIONS = {"all": "all", "amax": "amax", "amin": "amin", "any": "any", "mean": "mean", "sum": "sum"}
PASSED = ("identity", "without_mask")
ACTIVATIONS = {function.__name__: function for function in activations.POINTWISE}


@rule(layers.Operation)
def operation(layer: Any, call: LayerCall) -> Any:
    name, arguments = layer.function, list(layer.arguments)
    if isinstance(name, str) and name.startswith(f"{BACKEND}."):
        raise EjectError(f"{layer.name!r}: eject knows no plain PyTorch for {name}; write it with torch's functions.")
    if not isinstance(name, str):
        text = f"{call.writer.function(layer.name, name)}({_listed(call, arguments)})"
    elif name.startswith("torch.") or layer._count or layer.keywords or has_size(arguments):
        text = layer._line(lambda held: _held(layer, call, held))
    else:
        _check_plain(layer, arguments)
        text = _by_keras(layer, call, name, arguments)
    if len(call.outputs) == 1:
        return call.line(text, *call.inputs)
    made = tuple(call.new() for _ in call.outputs)
    call.assign(made, text, *call.inputs)
    return made


def _held(layer: Any, call: LayerCall, name: str) -> str:
    """`self.name` of a constant or a parameter that the function holds."""
    tensor = getattr(layer, name)
    if isinstance(tensor, nn.Parameter):
        return call.writer.parameter((layer, name), f"{layer.name}_{name}", tensor)
    return call.writer.buffer((layer, name), f"{layer.name}_{name}", tensor)


def _by_keras(layer: Any, call: LayerCall, name: str, arguments: list[Any]) -> str:
    """An operator, or a function with a name of Keras."""
    if name in PASSED:
        return "{0}"
    if name in INFIX:
        left, right = (_operand(call, argument) for argument in arguments)
        space = " " * (name != "pow")  # as ruff formats it
        return f"{left}{space}{INFIX[name]}{space}{right}"
    if name in PREFIX:
        return PREFIX[name]
    if name == "getitem":
        return f"{_text(call, arguments[0])}[{_index(call, arguments[1])}]"
    function = ACTIVATIONS.get(name)
    if function is not None and (function in CALLED or len(arguments) == 1):
        return _activation(call, function, arguments)
    if name in METHODS:
        return f"{{0}}.{name}()"
    if name not in FUNCTIONS:
        raise EjectError(f"{layer.name!r}: eject knows no plain PyTorch for the function {name!r}.")
    return FUNCTIONS[name](call, *arguments)


def _check_plain(layer: Any, arguments: Any) -> None:
    """Raise EjectError if anything but numbers would be written as Python: a file may hold any text."""
    for item in arguments.values() if isinstance(arguments, Mapping) else arguments:
        if isinstance(item, Mapping) and item.keys() & {"constant", "parameter", "dtype"}:
            continue
        if isinstance(item, (Mapping, list, tuple)):
            _check_plain(layer, item)
        elif isinstance(item, str) and not (layer.function in TYPED or EQUATION.fullmatch(item)):
            raise EjectError(
                f"{layer.name!r}: eject takes no text as an argument of {layer.function!r}; found {item!r}."
            )


def _activation(call: LayerCall, function: Any, arguments: list[Any]) -> str:
    if len(arguments) == 1:
        return activated(call, function, "{0}")
    if function is activations.gelu:
        return f'F.gelu({{0}}, approximate="{"tanh" if arguments[1] else "none"}")'
    if function is activations.relu:
        raise EjectError(f"{call.layer.name!r}: eject writes a relu with options as the layer ReLU.")
    return f"{CALLED[function]}({{0}}, {', '.join(map(repr, arguments[1:]))})"


def _operand(call: LayerCall, argument: Any) -> str:
    text = _text(call, argument)
    return f"({text})" if text.startswith("-") else text


def _text(call: LayerCall, argument: Any) -> str:
    """An argument as Python: an input as `{k}`."""
    if isinstance(argument, (list, tuple)):
        return f"[{_listed(call, argument)}]"
    if not isinstance(argument, Mapping):
        return repr(argument)
    if "input" in argument:
        return f"{{{argument['input']}}}"
    if "array" in argument:
        dtype = call.values[0].dtype
        tensor = torch.tensor(argument["array"], dtype=dtype if dtype.is_floating_point else None)
        return call.writer.buffer((call.layer, str(argument)), f"{call.layer.name}_constant", tensor)
    kind, what = next(iter(argument.items()))
    if kind in ("constant", "parameter"):
        return _held(call.layer, call, f"{kind}_{what}")
    if kind == "dtype":
        return f"torch.{what}"
    raise EjectError(f"{call.layer.name!r}: eject knows no argument {dict(argument)!r} of {call.layer.function!r}.")


def _listed(call: LayerCall, arguments: Any) -> str:
    return ", ".join(_text(call, argument) for argument in arguments)


def _index(call: LayerCall, argument: Any) -> str:
    """The text in the brackets of a slice."""
    if isinstance(argument, (list, tuple)):
        return ", ".join(_index(call, part) for part in argument) + "," * (len(argument) == 1)
    if isinstance(argument, Mapping) and "slice" in argument:
        start, stop, step = ("" if part is None else _text(call, part) for part in argument["slice"])
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    if isinstance(argument, Mapping) and "ellipsis" in argument:
        return "..."
    return _text(call, argument)


def _axes(axis: Any) -> str:
    return repr(tuple(axis) if isinstance(axis, (list, tuple)) else axis)


def _reduced(method: str) -> Callable[..., str]:
    def text(call: LayerCall, x: Any, axis: Any = None, keepdims: Any = False) -> str:
        ndim = len(call.values[0].shape)
        given = _axes(range_of(ndim) if axis is None else axis)
        return f"{{0}}.{method}({given}{', keepdim=True' * bool(keepdims)})"

    return text


def range_of(ndim: int) -> tuple[int, ...]:
    """All axes."""
    return tuple(range(ndim))


def _spread(method: str) -> Callable[..., str]:
    def text(call: LayerCall, x: Any, axis: Any = None, keepdims: Any = False) -> str:
        ndim = len(call.values[0].shape)
        given = _axes(range_of(ndim) if axis is None else axis)
        return f"{{0}}.{method}({given}, correction=0{', keepdim=True' * bool(keepdims)})"

    return text


def _all_axes(axis: Any, ndim: int) -> Any:
    """The axes that an option of Keras names: one, several, or None for all."""
    if axis is None:
        return range_of(ndim)
    return (axis,) if isinstance(axis, int) else axis


def _prod(call: LayerCall, x: Any, axis: Any = None, keepdims: Any = False) -> str:
    ndim = len(call.values[0].shape)
    ordered = sorted((each % ndim for each in _all_axes(axis, ndim)), reverse=True)
    return "{0}" + "".join(f".prod({each}{', keepdim=True' * bool(keepdims)})" for each in ordered)


def _norm(call: LayerCall, x: Any, axis: Any = None, keepdims: Any = False) -> str:
    given = _axes(range_of(len(call.values[0].shape)) if axis is None else axis)
    return f"torch.linalg.vector_norm({{0}}, dim={given}{', keepdim=True' * bool(keepdims)})"


def _unit(call: LayerCall, x: Any, axis: Any = -1, epsilon: float = 1e-12) -> str:
    given = _axes(range_of(len(call.values[0].shape)) if axis is None else axis)
    return f"{{0}} * {{0}}.square().sum({given}, keepdim=True).clamp(min={epsilon}).rsqrt()"


def _pair(method: str) -> Callable[..., str]:
    def text(call: LayerCall, x: Any, y: Any) -> str:
        return f"torch.{method}({_tensor(call, x, y)}, {_tensor(call, y, x)})"

    return text


def _tensor(call: LayerCall, value: Any, other: Any) -> str:
    if isinstance(value, Mapping):
        return _text(call, value)
    return f"torch.full_like({_text(call, other)}, {value!r})"


def _clip(call: LayerCall, x: Any, low: Any, high: Any) -> str:
    return f"{_text(call, x)}.clamp({_text(call, low)}, {_text(call, high)})"


def _cast(call: LayerCall, x: Any, dtype: str) -> str:
    return f"{{0}}.to({call.outputs[0].dtype})"


def _argument_of(method: str) -> Callable[..., str]:
    def text(call: LayerCall, x: Any, axis: int = -1, dtype: str = "int64") -> str:
        kind = call.outputs[0].dtype
        return f"{{0}}.{method}({axis})" + ("" if kind is torch.int64 else f".to({kind})")

    return text


def _pad(call: LayerCall, x: Any, widths: Any, mode: str = "constant", value: float = 0.0) -> str:
    flat = tuple(end for pair in reversed(widths) for end in pair)
    return f"F.pad({{0}}, {flat}{'' if not value else f', value={value}'})"


def _split(call: LayerCall, x: Any, parts: Any, axis: int = 0) -> str:
    size = f"{{0}}.shape[{axis}] // {parts}" if isinstance(parts, int) else repr(list(parts))
    known = call.values[0].shape[axis]
    if isinstance(parts, int) and known is not None:
        size = str(known // parts)
    return f"{{0}}.split({size}, {axis})"


def _matmul(call: LayerCall, x: Any, y: Any, swap_x: bool = False, swap_y: bool = False) -> str:
    return f"{_text(call, x)}{'.mT' * bool(swap_x)} @ {_text(call, y)}{'.mT' * bool(swap_y)}"


def _einsum(call: LayerCall, equation: str, *tensors: Any) -> str:
    return f'torch.einsum("{equation}", {", ".join(_text(call, each) for each in tensors)})'


def _repeat(call: LayerCall, x: Any, count: Any, axis: int) -> str:
    return f"{{0}}.repeat_interleave({_text(call, count)}, {axis})"


def _transpose(call: LayerCall, x: Any, axes: Any = None) -> str:
    ndim = len(call.values[0].shape)
    return f"{{0}}.permute{tuple(reversed(range(ndim)) if axes is None else axes)}"


def _squeeze(call: LayerCall, x: Any, axis: Any = None) -> str:
    return f"{{0}}.squeeze({'' if axis is None else _axes(axis)})"


def _flip(call: LayerCall, x: Any, axis: Any = None) -> str:
    return f"{{0}}.flip({', '.join(map(str, _all_axes(axis, len(call.values[0].shape))))})"


def _joined(name: str, default: int) -> Callable[..., str]:
    return lambda call, tensors, axis=default: f"torch.{name}({_text(call, tensors)}, {axis})"


FUNCTIONS: dict[str, Callable[..., str]] = {
    **{name: _reduced(method) for name, method in REDUCTIONS.items()},
    "logsumexp": _reduced("logsumexp"),
    "std": _spread("std"),
    "var": _spread("var"),
    "prod": _prod,
    "norm": _norm,
    "unit": _unit,
    "clip": _clip,
    "cast": _cast,
    "pad": _pad,
    "split": _split,
    **{name: _pair(name) for name in ("maximum", "minimum", "logical_and", "logical_or")},
    "argmax": _argument_of("argmax"),
    "argmin": _argument_of("argmin"),
    "concatenate": _joined("cat", -1),
    "stack": _joined("stack", 0),
    "einsum": _einsum,
    "repeat": _repeat,
    "multiply_matrices": _matmul,
    "transpose": _transpose,
    "squeeze": _squeeze,
    "flip": _flip,
    "stop_gradient": lambda call, x: "{0}.detach()",
    "cumsum": lambda call, x, axis: f"{{0}}.cumsum({axis})",
    "expand_dims": lambda call, x, axis: f"{{0}}.unsqueeze({axis})",
    "log_softmax": lambda call, x, axis=-1: f"torch.log_softmax({{0}}, {axis})",
    "softmax": lambda call, x, axis=-1: f"torch.softmax({{0}}, {axis})",
    "reshape": lambda call, x, shape: f"{{0}}.reshape{tuple(shape)}",
    "squared_difference": lambda call, x, y: f"({_text(call, x)} - {_text(call, y)}) ** 2",
    "sum_of": lambda call, tensors: " + ".join(_text(call, each) for each in tensors),
    "swapaxes": lambda call, x, a, b: f"{{0}}.swapaxes({a}, {b})",
    "tile": lambda call, x, counts: f"{{0}}.tile({tuple(counts)})",
    "unstack": lambda call, x, axis=0: f"{{0}}.unbind({axis})",
    "where": lambda call, c, x, y: f"torch.where({_text(call, c)}, {_text(call, x)}, {_text(call, y)})",
}


@mask_rule(layers.Operation)
def operation_mask(layer: Any, call: LayerCall) -> int | None:
    if layer.compute_mask(None, [True]) is None:
        return None
    return next((mask for mask in call.masks if mask is not None), None)

"""Functions in graphs as operations of Keras 3.15 (`keras.ops`): one table of torch's functions.

A row has Keras's class, then the parameters in torch's order, as `torch's name>Keras's name=default`. One after `~`
must have its default, one after `!` must be given and have the value there; one after `*` takes all that follow;
one after `+` is Keras's alone. Functions by names of this package have the rows by which they are read
(`dialects/keras3.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from torch import Tensor, nn

from torchkeras.base.annexes import annex
from torchkeras.base.dtypes import dtype_name
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.symbolic.tensor import Node
from torchkeras.saving.dialects.keras3 import FUNCTIONS, IN_FULL
from torchkeras.saving.keras3_operations import BY_FUNCTION
from torchkeras.tensor_functions.by_name import FUNCTIONS as SHARED

Plain = dict[str, Any]

LARGEST = 100_000  # numbers of a constant that is written as text
PLACES = ("torch.Tensor.", "torch.nn.functional.", "torch.special.", "torch.")

# Parameters that Keras gives to the call of an operation; it is made with the others.
CALLED = (
    *("x1", "x2", "y", "bins", "fill_value", "q", "indices", "condlist", "choicelist", "default", "condition"),
    *("weights", "constant_values", "key", "rtol", "atol"),
)
NOT_THERE = ("Identity", "Mish")  # which only Keras's other files have
PREFERRED = (
    "Absolute",
    "Copy",
    "Max",
    "Mean",
    "Min",
    "TrueDivide",
    "BitwiseNot",
    "BitwiseLeftShift",
    "BitwiseRightShift",
)

_UNARY = """
    abs>Absolute absolute>Absolute neg>Negative negative>Negative exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square
    reciprocal sin cos tan sinh cosh tanh asin>Arcsin acos>Arccos atan>Arctan asinh>Arcsinh acosh>Arccosh atanh>Arctanh
    arcsin arccos arctan arcsinh arccosh arctanh sigmoid expit>Sigmoid erf erfc erfinv sinc i0 relu relu6 silu selu
    softsign tanhshrink>TanhShrink logsigmoid>LogSigmoid hardswish>HardSilu hardsigmoid>HardSigmoid sign signbit floor
    ceil trunc fix>Trunc isnan isinf isfinite isposinf isneginf isreal deg2rad rad2deg logical_not>LogicalNot
    detach>StopGradient clone>Copy contiguous>Copy bitwise_not>BitwiseNot linalg.det>Det linalg.inv>Inv logdet
    fliplr flipud
"""
_PAIRS = """
    add subtract multiply>Multiply mul>Multiply div>TrueDivide divide>TrueDivide true_divide>TrueDivide maximum minimum
    fmax fmin fmod remainder>Mod floor_divide>FloorDivide pow>Power atan2>Arctan2 arctan2 hypot logaddexp logaddexp2
    logical_and>LogicalAnd logical_or>LogicalOr logical_xor>LogicalXor bitwise_and>BitwiseAnd bitwise_or>BitwiseOr
    bitwise_xor>BitwiseXor greater less greater_equal>GreaterEqual less_equal>LessEqual not_equal>NotEqual bmm>Matmul
    mm>Matmul inner kron gcd lcm heaviside nextafter sub>Subtract
"""
_REDUCED = "input>x dim>axis=None keepdim>keepdims=False"
_DIM = "input>x dim>axis=-1"
_SPREAD = (
    "input>x dim>axis=None !correction=0 keepdim>keepdims=False",
    "input>x dim>axis !unbiased=False keepdim>keepdims=False",
    "input>x !unbiased=False",
)


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(one.partition(">")[0], one.partition(">")[2] or one.capitalize()) for one in text.split()]


TORCH: Mapping[str, tuple[str, ...]] = {
    **{name: (f"{kind} input>x",) for name, kind in _pairs(_UNARY)},
    **{name: (f"{kind} input>x1 other>x2",) for name, kind in _pairs(_PAIRS)},
    **{name: (f"{name.capitalize()} {_REDUCED}",) for name in ("all", "any", "amax", "amin", "logsumexp", "nanmean")},
    **{name: (f"{name.capitalize()} {_REDUCED}",) for name in ("mean", "nansum", "prod", "sum", "argmax", "argmin")},
    **{name: (f"{name.capitalize()} input>x",) for name in ("max", "min")},
    **{name: tuple(f"{name.capitalize()} {row}" for row in _SPREAD) for name in ("var", "std")},
    **dict.fromkeys(("cat", "concat", "concatenate"), ("Concatenate tensors>xs dim>axis=0",)),
    **{name: (f"{name.capitalize()} tensors>xs",) for name in ("hstack", "vstack", "dstack")},
    **dict.fromkeys(("clamp", "clip"), ("Clip input>x min>x_min max>x_max", "Maximum input>x1 min>x2 ~max=None")),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), ("Swapaxes input>x dim0>axis1 dim1>axis2",)),
    **dict.fromkeys(("movedim", "moveaxis"), ("Moveaxis input>x source destination",)),
    **{name: (f"{name.capitalize()} input>x diagonal>k=0",) for name in ("tril", "triu")},
    "glu": (f"Glu {_DIM}",),
    **{name: (f"{name.capitalize()} input>x dim>axis",) for name in ("cumsum", "cumprod", "softmax")},
    **{name: (f"Cast input>x +dtype={name}",) for name in ("bfloat16", "bool")},
    "argsort": (f"Argsort {_DIM} ~descending=False",),
    "celu": ("Celu input>x alpha=1.0",),
    "clamp_max": ("Minimum input>x1 max>x2",),
    "clamp_min": ("Maximum input>x1 min>x2",),
    "count_nonzero": ("CountNonzero input>x dim>axis=None",),
    "diagonal": ("Diagonal input>x offset=0 dim1>axis1=0 dim2>axis2=1",),
    "diff": ("Diff input>a n=1 dim>axis=-1",),
    "double": ("Cast input>x +dtype=float64",),
    "elu": ("Elu input>x alpha=1.0",),
    "flip": ("Flip input>x *dims>axis",),
    "float": ("Cast input>x +dtype=float32",),
    "gelu": ("Gelu input>x approximate=none",),
    "half": ("Cast input>x +dtype=float16",),
    "hardshrink": ("HardShrink input>x lambd>threshold=0.5",),
    "hardtanh": ("Clip input>x min_val>x_min=-1.0 max_val>x_max=1.0",),
    "index_select": ("Take input>x dim>axis index>indices",),
    "int": ("Cast input>x +dtype=int32",),
    "isclose": ("Isclose input>x1 other>x2 rtol=1e-05 atol=1e-08 equal_nan=False",),
    "leaky_relu": ("LeakyRelu input>x negative_slope=0.01",),
    "linalg.cholesky": ("Cholesky input>x ~upper=False",),
    "linalg.norm": ("Norm input>x ord=None dim>axis=None keepdim>keepdims=False",),
    "linalg.solve": ("Solve input>x1 other>x2",),
    "log_softmax": ("LogSoftmax input>x dim>axis",),
    "long": ("Cast input>x +dtype=int64",),
    "nan_to_num": ("NanToNum input>x nan=0.0 posinf=None neginf=None",),
    "normalize": ("Normalize input>x p>order=2.0 dim>axis=1 eps>epsilon=1e-12",),
    "one_hot": ("OneHot input>x num_classes +dtype=int64",),
    "ones_like": ("OnesLike input>x",),
    "permute": ("Transpose input>x *dims>axes",),
    "repeat": ("Tile input>x *repeats",),
    "repeat_interleave": ("Repeat input>x repeats dim>axis",),
    "roll": ("Roll input>x shifts>shift dims>axis=None",),
    "rot90": ("Rot90 input>array k=1 dims>axes=(0,1)",),
    "round": ("Round input>x decimals=0",),
    "select": ("Take input>x dim>axis index>indices",),
    "softplus": ("Softplus input>x ~beta=1.0 ~threshold=20.0",),
    "softshrink": ("SoftShrink input>x lambd>threshold=0.5",),
    "squeeze": ("Squeeze input>x dim>axis",),
    "stack": ("Stack tensors>x dim>axis=0",),
    "take_along_dim": ("TakeAlongAxis input>x indices dim>axis",),
    "tensordot": ("Tensordot a>x1 b>x2 dims>axes=2",),
    "threshold": ("Threshold input>x threshold value>default_value",),
    "tile": ("Tile input>x *dims>repeats",),
    "to": ("Cast input>x dtype",),
    "topk": ("TopK input>x k ~dim=-1 ~largest=True sorted=True",),
    "unbind": ("Unstack input>x dim>axis=0 +num=None",),
    "unsqueeze": ("ExpandDims input>x dim>axis",),
    "where": ("Where condition input>x1 other>x2",),
    "zeros_like": ("ZerosLike input>x",),
}
# Functions that only say the shape of their result again.
RESHAPING = ("reshape", "view", "flatten", "unflatten", "ravel")
PARTING = ("split", "chunk", "tensor_split")
_WORDS: Mapping[str, Any] = {"None": None, "True": True, "False": False, "(0,1)": [0, 1]}


class NoFormError(Exception):
    """A call that Keras 3 has no operation for."""


def operation_form(layer: Operation, node: Node, tensors: Sequence[Any]) -> tuple[str, Plain, list[Any]] | None:
    """Class, options and arguments of Keras 3's operation for a call; None if it has none. `tensors`: the inputs."""
    if not isinstance(layer.function, str):
        return None
    try:
        if layer.function.startswith("ops."):
            return _of_ops(layer, node, tensors)
        kind, given = _bound(layer, node)
        first = next(iter(given))
        called = [value for name, value in given.items() if name in CALLED or name == first]
        options = {name: _option(value) for name, value in given.items() if name not in CALLED and name != first}
        return kind, options, _arguments(called, layer, node, tensors)
    except NoFormError:
        return None


def _of_ops(layer: Operation, node: Node, tensors: Sequence[Any]) -> tuple[str, Plain, list[Any]]:
    """The same of a function of `keras.ops`."""
    function = layer.function.removeprefix("ops.")
    made = BY_FUNCTION.get(function)
    if made is None:
        raise NoFormError
    bound = annex("operations").OPERATIONS[function].signature.bind(*layer.arguments, **layer.keywords)
    bound.apply_defaults()
    options = {name: _type_as_text(bound.arguments.pop(name)) for name in made.options}
    if function == "reshape":
        options["newshape"] = _new_shape(options["newshape"], node)
    if made.name == "ExtractPatches":
        options |= _window(options, node.input_tensors[0].ndim - 2)
    options = {name: _option(value) for name, value in options.items()}
    called: list[Any] = []
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            called += value
        elif kind is not inspect.Parameter.VAR_KEYWORD:
            called.append(value)
        elif value:
            raise NoFormError
    return made.name, options, [_argument(value, layer, node, tensors) for value in called]


def _type_as_text(value: Any) -> Any:
    """A type that torch has for it, as Keras writes it; any other value as it is."""
    return value["dtype"] if isinstance(value, Mapping) and "dtype" in value else value


def _window(options: Plain, axes: int) -> Plain:
    """The size of patches along each axis, and their distance, which is the size by default."""
    size = [options["size"]] * max(axes, 2) if isinstance(options["size"], int) else options["size"]
    return {"size": size, "strides": size if options["strides"] is None else options["strides"]}


def _new_shape(shape: Any, node: Node) -> list[int]:
    """The shape that `reshape` is given as a list; where it has sizes of symbolic tensors, that of the result."""
    sizes = shape if isinstance(shape, (list, tuple)) else [shape]
    return _known_shape(node) if any(isinstance(size, Mapping) for size in sizes) else list(sizes)


def _bound(layer: Operation, node: Node) -> tuple[str, Plain]:
    """The class, and the arguments by Keras's names, tensors first."""
    name, arguments, keywords = layer.function, list(layer.arguments), dict(layer.keywords)
    if name in ("einsum", "torch.einsum"):
        return _product(arguments, keywords)
    if name == "reshape" and any(isinstance(size, Mapping) for size in arguments[1]):
        return "Reshape", {"x": arguments[0], "newshape": _known_shape(node)}
    if not name.startswith("torch."):
        return _by_own_name(name, arguments, keywords)
    return _by_torch_name(name, arguments, keywords, node)


def _by_torch_name(name: str, arguments: list[Any], keywords: Plain, node: Node) -> tuple[str, Plain]:
    """The call of a function of torch, by the first row that fits."""
    place = next(each for each in PLACES if name.startswith(each))
    key = name.removeprefix(place)
    if key in RESHAPING:
        return "Reshape", {"x": arguments[0], "newshape": _known_shape(node)}
    if key in PARTING:
        return _parted(arguments, keywords, node)
    if key == "pad":
        return _padded(arguments, keywords, node)
    if key == "mT" or (key == "T" and node.input_tensors[0].ndim == 2):
        return "Swapaxes", {"x": arguments[0], "axis1": -1, "axis2": -2}
    for row in TORCH.get(key, ()):
        try:
            return _by_row(row, arguments, keywords)
        except NoFormError:
            continue
    raise NoFormError


def _product(arguments: list[Any], keywords: Plain) -> tuple[str, Plain]:
    """`einsum`, whose operands may be a list."""
    subscripts, *operands = arguments
    operands = operands[0] if len(operands) == 1 and isinstance(operands[0], list) else operands
    if keywords or not isinstance(subscripts, str) or len(operands) > 2:
        raise NoFormError
    return "Einsum", {**dict(zip(("x1", "x2"), operands, strict=False)), "subscripts": subscripts}


@dataclass(frozen=True)
class RowParameter:
    """A parameter of a row. `sign`: the first letter, which may be one of those above."""

    sign: str
    torch_name: str
    keras_name: str
    has_default: bool
    default: Any

    @property
    def is_fixed(self) -> bool:
        """Whether a call must have the default, since Keras has no such parameter."""
        return self.sign in "~!"

    def accepts(self, value: Any) -> bool:
        """Whether a value has a form in Keras."""
        if self.is_fixed and (value != self.default or isinstance(value, bool) is not isinstance(self.default, bool)):
            return False
        return value is not None or self.has_default


def _parameter(text: str) -> RowParameter:
    names, has_default, default = text.lstrip("~!*+").partition("=")
    torch_name, _, keras_name = names.partition(">")
    return RowParameter(text[0], torch_name, keras_name or torch_name, bool(has_default), _literal(default))


def _by_row(row: str, arguments: list[Any], keywords: Plain) -> tuple[str, Plain]:
    """A call of torch's function in Keras's words, as a row of `TORCH` says. Raises NoFormError if it does not fit."""
    kind, *parameters = row.split()
    rest, named, given = list(arguments), dict(keywords), {}
    for parameter in map(_parameter, parameters):
        if parameter.sign == "+":
            given[parameter.keras_name] = parameter.default
            continue
        value = _taken(parameter, rest, named)
        if not parameter.accepts(value):
            raise NoFormError
        if not parameter.is_fixed:
            given[parameter.keras_name] = value
    if rest or named:
        raise NoFormError
    return kind, _converted(kind, given)


def _taken(parameter: RowParameter, rest: list[Any], named: Plain) -> Any:
    """The value of a parameter, taken out of the arguments of a call; its default if the call has none."""
    if parameter.torch_name in named:
        return named.pop(parameter.torch_name)
    if parameter.sign == "*" and rest:
        values = rest[0] if isinstance(rest[0], list) else list(rest)
        rest.clear()
        return values
    if rest:
        return rest.pop(0)
    if parameter.has_default and parameter.sign != "!":
        return parameter.default
    raise NoFormError


def _literal(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _gelu(given: Plain) -> Plain:
    return {**given, "approximate": given["approximate"] in (True, "tanh")}


def _normalize(given: Plain) -> Plain:
    is_order = float(given["order"]).is_integer() and given["order"] >= 1  # not infinity, which Keras refuses
    if not is_order or not isinstance(given["axis"], int):
        raise NoFormError
    return {**given, "order": int(given["order"])}


def _pad(given: Plain) -> Plain:
    return {**given, "mode": given["mode"].lower()}


def _cast(given: Plain) -> Plain:
    dtype = given["dtype"]
    if not isinstance(dtype, Mapping):
        return given
    if "dtype" not in dtype:
        raise NoFormError
    return {**given, "dtype": dtype["dtype"]}


def _prod(given: Plain) -> Plain:
    if isinstance(given["axis"], list):
        raise NoFormError
    return given


def _take(given: Plain) -> Plain:
    return {name: given[name] for name in ("x", "indices", "axis")}


CONVERTED: Mapping[str, Callable[[Plain], Plain]] = {
    "Cast": _cast,
    "Gelu": _gelu,
    "Normalize": _normalize,
    "Pad": _pad,
    "Prod": _prod,
    "Take": _take,
}
# Parameters that are one integer in Keras, where torch may have none or several.
INTEGERS: Mapping[str, str] = {
    **dict.fromkeys(("Softmax", "LogSoftmax", "Glu", "Cumsum", "Cumprod", "Argsort"), "axis"),
    "Repeat": "repeats",
}


def _converted(kind: str, given: Plain) -> Plain:
    """Values in Keras's words. Raises NoFormError for what Keras does not have."""
    if kind in INTEGERS and not isinstance(given[INTEGERS[kind]], int):
        raise NoFormError
    return CONVERTED[kind](given) if kind in CONVERTED else given


def _by_own_name(name: str, arguments: list[Any], keywords: Plain) -> tuple[str, Plain]:
    """The call of a function by a name of this package, by the row that reads it."""
    kind, row = _row_that_reads(name)
    parameters = [part for part in row.split()[1:] if not part.startswith("~")]
    if keywords or len(arguments) > len(parameters):
        raise NoFormError
    if name == "split" and isinstance(arguments[1], list):  # which are sizes here, and places in Keras
        arguments = [arguments[0], _ends(arguments[1])[:-1], *arguments[2:]]
    own = list(_defaults(name))
    given: Plain = {}
    for k, parameter in enumerate(parameters):
        key, has_default, default = parameter.partition("=")
        if k < len(arguments):
            given[key] = arguments[k]
        elif k < len(own) and own[k] is not inspect.Parameter.empty:
            given[key] = list(own[k]) if isinstance(own[k], tuple) else own[k]
        elif has_default:
            given[key] = _literal(default)
        else:
            raise NoFormError
    return kind, _converted(kind, given)


def _row_that_reads(name: str) -> tuple[str, str]:
    """Keras's class, and the row by which it is read as a function of this package. Raises NoFormError without one."""
    rows = [*FUNCTIONS.items(), *IN_FULL.items()]
    found = [(kind, row) for kind, row in rows if row.split()[0] == name and kind not in NOT_THERE]
    if not found:
        raise NoFormError
    return next((each for each in found if each[0] in PREFERRED), found[0])


def _ends(sizes: list[int]) -> list[int]:
    """Where parts of these sizes end, one after the other."""
    return list(accumulate(sizes))


def _defaults(name: str) -> Sequence[Any]:
    """The defaults of our function, in order; nothing of one written in C."""
    try:
        return [each.default for each in inspect.signature(SHARED[name]).parameters.values()]
    except (KeyError, ValueError):
        return []


def _known_shape(node: Node) -> list[int]:
    """The shape of a result, with -1 for the one size that is not known."""
    shape = list(node.output_tensors[0].shape)
    if len(node.input_tensors) != 1 or shape.count(None) > 1:
        raise NoFormError
    return [-1 if size is None else size for size in shape]


def _parted(arguments: list[Any], keywords: Plain, node: Node) -> tuple[str, Plain]:
    """Parts along an axis, by the places where they begin."""
    if len(arguments) > 3 or set(keywords) - {"dim"}:
        raise NoFormError
    axis = keywords.get("dim", arguments[2] if len(arguments) > 2 else 0)
    sizes = [tensor.shape[axis] for tensor in node.output_tensors]
    if not isinstance(axis, int) or None in sizes:
        raise NoFormError
    places = _ends(sizes)[:-1]
    return "Split", {"x": arguments[0], "indices_or_sections": places if len(sizes) > 1 else 1, "axis": axis}


def _padded(arguments: list[Any], keywords: Plain, node: Node) -> tuple[str, Plain]:
    names = ("input", "pad", "mode", "value")
    given: Plain = {**dict(zip(names, arguments, strict=False)), **keywords}
    pads, mode = given.get("pad"), given.get("mode", "constant")
    rank = node.input_tensors[0].ndim
    if not isinstance(pads, list) or not pads or not all(isinstance(size, int) for size in pads):
        raise NoFormError
    if mode not in ("constant", "reflect") or min(pads) < 0 or set(given) - set(names):
        raise NoFormError
    widths = [[0, 0]] * (rank - len(pads) // 2) + [pads[k : k + 2] for k in range(len(pads) - 2, -1, -2)]
    value = given.get("value") if mode == "constant" else None
    return "Pad", {"x": given["input"], "pad_width": widths, "mode": mode, "constant_values": value}


# --- values ----------------------------------------------------------------------------------------------------------


def _option(value: Any) -> Any:
    """An option of an operation: plain data alone."""
    if isinstance(value, Mapping):
        raise NoFormError
    return [_option(part) for part in value] if isinstance(value, (list, tuple)) else value


def _arguments(values: list[Any], layer: Operation, node: Node, tensors: Sequence[Any]) -> list[Any]:
    while values and values[-1] is None:
        values = values[:-1]
    return [_argument(value, layer, node, tensors) for value in values]


def _argument(value: Any, layer: Operation, node: Node, tensors: Sequence[Any]) -> Any:
    """An argument of a call. Ours are plain data, with slices as mappings."""

    def inner(part: Any) -> Any:
        return _argument(part, layer, node, tensors)

    if isinstance(value, (list, tuple)):
        return [inner(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    (kind, what), *_ = value.items()
    if kind == "input":
        return tensors[what]
    if kind == "ellipsis":
        return {"class_name": "__ellipsis__", "config": {}}
    if kind == "slice":
        parts = zip(("start", "stop", "step"), what, strict=True)
        return {"class_name": "__slice__", "config": {name: inner(part) for name, part in parts}}
    if kind == "array":
        return {"class_name": "__numpy__", "config": {"value": what, "dtype": dtype_name(node.input_tensors[0].dtype)}}
    if kind == "constant":
        return _constant(getattr(layer, f"constant_{what}"))
    raise NoFormError


def _constant(tensor: Tensor) -> Plain:
    """A constant of a graph as text. Raises NoFormError for one that trains, is complex or is large."""
    if isinstance(tensor, nn.Parameter) or tensor.is_complex() or tensor.numel() > LARGEST:
        raise NoFormError
    values = {"value": tensor.detach().cpu().tolist(), "dtype": dtype_name(tensor.dtype)}
    return {"class_name": "__tensor__", "config": values}

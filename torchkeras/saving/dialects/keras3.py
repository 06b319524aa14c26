"""Configs of Keras 3, translated to today's."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torchkeras.base.annexes import annex
from torchkeras.errors import ArchitectureError
from torchkeras.saving import keras3_operations
from torchkeras.saving.dialects import calls
from torchkeras.saving.dialects.calls import CallPlace, NodeCall
from torchkeras.saving.dialects.changes import CHANGES, batch_normalization, with_options
from torchkeras.saving.dialects.dialect import Dialect, LossRules
from torchkeras.saving.dialects.graphs import Forms, modern
from torchkeras.saving.dialects.translation import Config, Words, is_object
from torchkeras.saving.layer_facts import facts
from torchkeras.tensor_functions.keras3 import PAIRS_OF_FLOATS

_UNARY = {
    "Absolute": "abs",
    "Negative": "neg",
    "Exp": "exp",
    "Log": "log",
    "Log1p": "log1p",
    "Expm1": "expm1",
    "Sqrt": "sqrt",
    "Rsqrt": "rsqrt",
    "Square": "square",
    "Reciprocal": "reciprocal",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Tanh": "tanh",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Erf": "erf",
    "Floor": "floor",
    "Ceil": "ceil",
    "Sign": "sign",
    "LogicalNot": "logical_not",
    "Isnan": "isnan",
    "Relu": "relu",
    "Relu6": "relu6",
    "Sigmoid": "sigmoid",
    "Silu": "silu",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Selu": "selu",
    "HardSigmoid": "hard_sigmoid6",
    "HardSilu": "hard_silu",
    "HardTanh": "hard_tanh",
    "LogSigmoid": "log_sigmoid",
    "Mish": "mish",
    "TanhShrink": "tanh_shrink",
    "StopGradient": "stop_gradient",
    "SparsePlus": "sparse_plus",
    "SparseSigmoid": "sparse_sigmoid",
    "Copy": "identity",
    "Abs": "abs",
    "Fabs": "abs",
    "Arccos": "torch.acos",
    "Arccosh": "torch.acosh",
    "Arcsin": "torch.asin",
    "Arcsinh": "torch.asinh",
    "Arctan": "torch.atan",
    "Arctanh": "torch.atanh",
    "Erfc": "torch.erfc",
    "Erfinv": "torch.erfinv",
    "Ravel": "torch.ravel",
    "BitwiseInvert": "torch.bitwise_not",
    "BitwiseNot": "torch.bitwise_not",
    "Cbrt": "keras3.cbrt",
    "Fliplr": "keras3.fliplr",
    "Flipud": "keras3.flipud",
    "Det": "torch.linalg.det",
    "Inv": "torch.linalg.inv",
    "Logdet": "torch.logdet",
    **{
        name.capitalize(): f"torch.{name}"
        for name in (
            *("deg2rad", "exp2", "i0", "isfinite", "isinf", "isneginf", "isposinf", "isreal", "log10", "log2"),
            *("rad2deg", "signbit", "sinc", "trunc"),
        )
    },
}
_PAIRS = {
    "Add": "add",
    "Subtract": "sub",
    "Multiply": "mul",
    "Divide": "truediv",
    "TrueDivide": "truediv",
    "Mod": "mod",
    "FloorDivide": "floordiv",
    "Power": "pow",
    "Matmul": "matmul",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "Less": "lt",
    "LessEqual": "le",
    "Greater": "gt",
    "GreaterEqual": "ge",
    "Equal": "eq",
    "NotEqual": "ne",
    "LogicalAnd": "logical_and",
    "LogicalOr": "logical_or",
}
# Both must be tensors in torch.
_TENSOR_PAIRS = {
    "Arctan2": "torch.atan2",
    "BitwiseAnd": "torch.bitwise_and",
    "BitwiseLeftShift": "torch.bitwise_left_shift",
    "BitwiseOr": "torch.bitwise_or",
    "BitwiseRightShift": "torch.bitwise_right_shift",
    "BitwiseXor": "torch.bitwise_xor",
    "Dot": "dot",
    "Kron": "torch.kron",
    "LeftShift": "torch.bitwise_left_shift",
    "LogicalXor": "torch.logical_xor",
    "Outer": "keras3.outer",
    "RightShift": "torch.bitwise_right_shift",
    "Solve": "keras3.solve",
    **{name.capitalize(): f"torch.{name}" for name in ("fmax", "fmin", "fmod", "gcd", "inner", "lcm")},
    **{name.capitalize(): f"keras3.{name}" for name in PAIRS_OF_FLOATS},
}
_REDUCED = {
    "Mean": "mean",
    "Sum": "sum",
    "Prod": "prod",
    "Var": "var",
    "Std": "std",
    "Logsumexp": "logsumexp",
    "Any": "any",
    "All": "all",
    "Max": "amax",
    "Min": "amin",
    "Amax": "amax",
    "Amin": "amin",
}

# Keras's operations, by class: rows of `calls.bound`.
FUNCTIONS: Mapping[str, str] = {
    **{name: f"{today} x" for name, today in _UNARY.items()},
    **{name: f"{today} x1 x2" for name, today in {**_PAIRS, **_TENSOR_PAIRS}.items()},
    **{name: f"{today} x axis=None keepdims=False ~initial=None ~dtype=None" for name, today in _REDUCED.items()},
    "Argmax": "argmax x axis=None ~keepdims=False",
    "Argmin": "argmin x axis=None ~keepdims=False",
    "Argsort": "torch.argsort x axis=-1",
    "Average": "mean x axis=None ~weights=None",
    "BroadcastTo": "torch.broadcast_to x shape",
    "Celu": "celu x alpha=1.0",
    "Cast": "cast x dtype",
    "Clip": "clip x x_min x_max",
    "Append": "keras3.append x1 x2 axis=None",
    "Cholesky": "torch.linalg.cholesky x ~upper=False",
    "Concatenate": "concatenate xs axis=-1",
    "ConvertToTensor": "identity x ~dtype=None ~sparse=None ~ragged=None",
    "CountNonzero": "keras3.count_nonzero x axis=None",
    "Cumprod": "keras3.cumprod x axis=None dtype=None",
    "Diagonal": "torch.diagonal x offset=0 axis1=0 axis2=1",
    "Diff": "torch.diff a n=1 axis=-1",
    "Digitize": "digitize x bins",
    "Dstack": "keras3.dstack xs",
    "DivideNoNan": "divide_no_nan x1 x2",
    "Elu": "elu x alpha=1.0",
    "ExpandDims": "expand_dims x axis",
    "Flip": "flip x axis=None",
    "FullLike": "keras3.full_like x fill_value dtype=None",
    "Gelu": "gelu x approximate=True",
    "GetItem": "getitem x key",
    "Glu": "torch.nn.functional.glu x axis=-1",
    "HardShrink": "hard_shrink x threshold=0.5",
    "Hstack": "torch.hstack xs",
    "Identity": "identity x",
    "Isclose": "keras3.isclose x1 x2 rtol=1e-05 atol=1e-08 equal_nan=False",
    "LeakyRelu": "leaky_relu x negative_slope=0.2",
    "LogSoftmax": "log_softmax x axis=-1",
    "Median": "median x axis=None keepdims=False",
    "Moveaxis": "torch.movedim x source destination",
    "NanToNum": "torch.nan_to_num x nan=0.0 posinf=None neginf=None",
    "Nanmean": "torch.nanmean x axis=None keepdims=False",
    "Nansum": "torch.nansum x axis=None keepdims=False",
    "Norm": "norm x axis=None keepdims=False ~ord=None",
    "Normalize": "keras3.normalize x axis=-1 order=2 epsilon=None",
    "OneHot": "one_hot x num_classes axis=-1 dtype=float32 ~sparse=False",
    "OnesLike": "keras3.ones_like x dtype=None",
    "Pad": "pad x pad_width mode=constant constant_values=None",
    "Ptp": "keras3.ptp x axis=None keepdims=False",
    "Quantile": "quantile x q axis=None keepdims=False ~method=linear",
    "Repeat": "repeat x repeats axis",
    "Reshape": "reshape x newshape",
    "Roll": "keras3.roll x shift axis=None",
    "Rot90": "keras3.rot90 array k=1 axes=None",
    "Round": "round x ~decimals=0",
    "Select": "select condlist choicelist default=0",
    "SoftShrink": "soft_shrink x threshold=0.5",
    "Softmax": "softmax x axis=-1",
    "Sort": "sort x axis=-1",
    "Split": "split x indices_or_sections axis=0",
    "Squeeze": "squeeze x axis=None",
    "Squareplus": "squareplus x b=4",
    "Stack": "stack x axis=0",
    "Swapaxes": "swapaxes x axis1 axis2",
    "Take": "keras3.take x indices axis=None",
    "TakeAlongAxis": "keras3.take_along_axis x indices axis=None",
    "Tensordot": "tensordot x1 x2 axes=2",
    "Threshold": "torch.threshold x threshold default_value",
    "Tile": "tile x repeats",
    "TopK": "torch.topk x k ~sorted=True",
    "Trace": "keras3.trace x offset=0 axis1=0 axis2=1",
    "Transpose": "transpose x axes=None",
    "Tril": "torch.tril x k=0",
    "Triu": "torch.triu x k=0",
    "Unstack": "unstack x axis=0 ~num=None",
    "Vstack": "torch.vstack xs",
    "Where": "where condition x1 x2",
    "Cumsum": "cumsum x axis ~dtype=None",
    "ZerosLike": "keras3.zeros_like x dtype=None",
}

# The same in full: for inputs of whole numbers, and for arguments that are no single numbers where the row above has
# those alone.
IN_FULL: Mapping[str, str] = {
    **{name: f"keras3.{name.lower()} x axis=None keepdims=False" for name in ("Mean", "Var", "Std", "Logsumexp")},
    **{name: f"keras3.{name.lower()} x axis=None keepdims=False" for name in ("Argmax", "Argmin", "Median")},
    **{name: f"keras3.a{name[-3:].lower()} x axis=None keepdims=False initial=None" for name in ("Amax", "Amin")},
    **{name: f"keras3.a{name.lower()} x axis=None keepdims=False initial=None" for name in ("Max", "Min")},
    **{name: f"keras3.{name.lower()} x" for name in ("Ceil", "Floor")},
    "Argsort": "keras3.argsort x axis=-1",
    "Average": "keras3.average x axis=None weights=None",
    "Clip": "keras3.clip x x_min x_max",
    "Cumsum": "keras3.cumsum x axis=None dtype=None",
    "Digitize": "keras3.digitize x bins",
    "ExpandDims": "keras3.expand_dims x axis",
    "LogSoftmax": "keras3.log_softmax x axis=-1",
    "Norm": "keras3.norm x ord=None axis=None keepdims=False",
    "OneHot": "keras3.one_hot x num_classes axis=-1 dtype=None ~sparse=False",
    "Pad": "keras3.pad x pad_width mode=constant constant_values=None",
    **{name: f"keras3.{name.lower()} x axis=None keepdims=False dtype=None" for name in ("Prod", "Sum")},
    "Quantile": "keras3.quantile x q axis=None keepdims=False ~method=linear",
    "Repeat": "keras3.repeat x repeats axis=None",
    "Round": "keras3.round x decimals=0",
    "Softmax": "keras3.softmax x axis=-1",
    "Split": "keras3.split x indices_or_sections axis=0",
    "Tile": "keras3.tile x repeats",
    "TopK": "keras3.top_k x k sorted=True",
    "Unstack": "keras3.unstack x num=None axis=0",
    "Where": "keras3.where condition x1 x2",
}
# Parameters that the rows of `FUNCTIONS` take as lists.
_LISTS: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("Mean", "Var", "Std", "Logsumexp", "Median", "Amax", "Amin", "Max", "Min"), ("axis",)
)
_LISTS |= dict.fromkeys(("Norm", "Prod", "Sum", "Average"), ("axis",)) | {
    "Quantile": ("axis", "q"),
    "Tile": ("repeats",),
}
# Those whose None is no default.
_NONE = ("Argsort", "Cumsum", "LogSoftmax", "Repeat", "Softmax")


def _is_function(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is an operation: it has no `trainable`, and HDF5 files do not name its module.

    The module of a user's own class may be None.
    """
    config = entry.get("config")
    if "module" in entry:
        return str(entry["module"]).startswith("keras.src.ops.")
    if not isinstance(config, Mapping) or {"trainable", "layers"} & set(config) or entry["class_name"] == "InputLayer":
        return False
    return "dtype" not in config or entry["class_name"] in (*FUNCTIONS, *_JOINING)


def _torch_function(entry: Mapping[str, Any], call: NodeCall, where: str) -> tuple[str, list[Any], Config]:
    name = entry["class_name"]
    if name == "Einsum":
        return "einsum", [entry["config"]["subscripts"], *call.args], {}
    options = {key: value for key, value in entry["config"].items() if key != "name"}
    if name not in FUNCTIONS or not _fits_short(entry, call, options):
        return _operation(name, options, call, where)
    function, arguments = calls.bound(FUNCTIONS[name], call, options, where)
    if name in _PAIRS or name in _TENSOR_PAIRS:
        arguments = [calls.constant(argument, numbers=name in _TENSOR_PAIRS) for argument in arguments]
    if name == "GetItem":
        arguments[1] = calls.as_indices(arguments[1])
    return function, arguments, {}


def _operation(name: str, options: Config, call: NodeCall, where: str) -> tuple[str, list[Any], Config]:
    """An operation as the function of `keras.ops` that makes it. Raises ArchitectureError for another class."""
    if name not in keras3_operations.FUNCTIONS:
        raise ArchitectureError(f"{where}: the operation {name!r} of Keras 3 is not one that is read.")
    function = keras3_operations.FUNCTIONS[name]
    parameters = annex("operations").OPERATIONS[function].signature.parameters
    given = {**{key: value for key, value in options.items() if key in parameters or value}, **call.kwargs}
    kinds = {each.kind for each in parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return f"ops.{function}", list(call.args), given
    places = [key for key in parameters if key not in options]
    given.update(zip(places, call.args, strict=False))
    lengths = {key: given.pop(key) for key in given.keys() - parameters.keys()}
    arguments = _by_position(parameters, given)
    if len(call.args) > len(places) or inspect.Parameter.empty in arguments:
        raise ArchitectureError(f"{where}: its call has {len(call.args)} arguments by position; it takes {places}.")
    if lengths and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise ArchitectureError(f"{where}: arguments of its call that are not read: {', '.join(sorted(lengths))}.")
    return f"ops.{function}", arguments, lengths


def _by_position(parameters: Mapping[str, inspect.Parameter], given: Mapping[str, Any]) -> list[Any]:
    """The arguments of a call in the order of the parameters, up to the last that is given."""
    last = max((place for place, name in enumerate(parameters) if name in given), default=-1)
    return [given.get(name, each.default) for name, each in list(parameters.items())[: last + 1]]


def _fits_short(entry: Mapping[str, Any], call: NodeCall, options: Config) -> bool:
    """Whether a call is one that the row of `FUNCTIONS` computes as Keras 3 does."""
    name, types = entry["class_name"], _types(entry["inbound_nodes"])
    if not types <= FLOATS or (name in _OF_ONE_TYPE and len(types) > 1):
        return name in _OF_ANY_TYPE
    short, full = FUNCTIONS[name], IN_FULL.get(name, FUNCTIONS[name])
    defaults = {part.lstrip("~").partition("=")[0]: part for part in short.split()[1:]}
    places = [part.lstrip("~").partition("=")[0] for part in full.split()[1:]]
    given = {
        **options,
        **call.kwargs,
        **dict(zip((key for key in places if key not in options), call.args, strict=False)),
    }
    return all(_has_short_form(name, key, value, defaults.get(key, "~")) for key, value in given.items())


def _has_short_form(name: str, key: str, value: Any, parameter: str) -> bool:
    """Whether an argument is one that the row of `FUNCTIONS` takes. `parameter`: what the row has for it."""
    default = parameter.partition("=")[2]
    is_fixed = parameter.startswith("~") and "=" in parameter
    if (is_fixed and value not in (None, calls.LITERALS.get(default, default))) or value == []:
        return False
    if name not in IN_FULL:
        return True
    if value is None:
        return name not in _NONE
    if isinstance(value, (list, tuple)):
        nested = all(isinstance(item, (list, tuple)) for item in value)
        return key in _LISTS.get(name, ()) or (name == "Pad" and nested)
    return not is_object(value) or key in _LISTS.get(name, ())


def _types(value: Any) -> set[str]:
    """The types of all tensors of a call."""
    if is_object(value) and value["class_name"] == "__keras_tensor__":
        return {str(value["config"].get("dtype", "float32"))}
    parts = list(value.values()) if isinstance(value, Mapping) else value
    return set().union(*map(_types, parts)) if isinstance(parts, (list, tuple)) else set()


FLOATS = {"float32", "float16", "bfloat16"}
_OF_ONE_TYPE = {"Matmul", "Tensordot", *_TENSOR_PAIRS}  # torch's functions take tensors of one type
_OF_ANY_TYPE = {*_UNARY, *_PAIRS} - {"Matmul", *IN_FULL}


# --- masks -----------------------------------------------------------------------------------------------------------

_JOINING = ("Any", "Concatenate", "ExpandDims", "LogicalOr", "OnesLike", "ZerosLike")  # they pass masks on


def _masks(class_name: str, call: NodeCall, graph: Mapping[str, Any]) -> list[bool | None]:
    """Whether the inputs of a call come with masks: True for one with a mask, False if Keras 3 gives the layer none.

    A layer gets the masks of its inputs. An exception is a layer with one `mask` that is called with tensors in several
    arguments, such as a sequence and its initial state. Raises ArchitectureError for a mask that was made by hand.
    """
    given = calls.named(call, class_name, class_name)
    if "query_mask" in facts(class_name).arguments:
        masks = [given.get(f"{name}_mask") for name in ("query", "value", "key")]
    else:
        masks = list(calls.leaves_in(given.pop("mask", None)))
    for place in calls.places_in(masks):
        _check_mask(place, graph)
    has_more_tensors = next(calls.places_in(given), None) is not None
    if facts(class_name).takes_mask and has_more_tensors and not any(masks):
        return [False]
    return [None if mask is None else not _everywhere(mask, graph) for mask in masks]


def _everywhere(place: CallPlace, graph: Mapping[str, Any]) -> bool:
    """Whether a joined mask is True everywhere: an input without a mask counts so, and any that is True does."""
    entry, read = graph["entries"].get(place.layer, {}), graph["calls"].get(place.layer, ())
    if not is_object(entry) or not _is_function(entry) or place.call >= len(read):
        return False
    kind, inputs = entry["class_name"], list(calls.places_in(read[place.call].args))
    along_time = kind == "Concatenate" and entry["config"].get("axis") == 1
    through = kind in ("Any", "LogicalOr") or (kind == "Concatenate" and not along_time)
    return kind == "OnesLike" or (through and any(_everywhere(item, graph) for item in inputs))


def _check_mask(place: CallPlace, graph: Mapping[str, Any]) -> None:
    sources = _sources(place, graph)
    if not sources <= _made_by_layers(graph):
        raise ArchitectureError(
            f"The mask {place.layer!r} is not one that a layer such as Masking makes, which is not supported."
        )


def _sources(place: CallPlace, graph: Mapping[str, Any]) -> set[Any]:
    """The comparisons that a mask comes from, as (tensor, value)."""
    entry, read = graph["entries"].get(place.layer, {}), graph["calls"].get(place.layer, ())
    if not is_object(entry) or not _is_function(entry) or place.call >= len(read):
        return {(place, None)}
    name, args = entry["class_name"], read[place.call].args
    if name == "NotEqual" and len(args) == 2 and isinstance(args[1], (int, float)):
        return {(args[0], float(args[1]))}
    if name in ("OnesLike", "ZerosLike"):
        return set()
    if name not in _JOINING:
        return {(place, None)}
    inputs = calls.places_in(args)
    return {source for item in inputs for source in _sources(item, graph)}


def _made_by_layers(graph: Mapping[str, Any]) -> set[Any]:
    """The same for the masks that the layers of a graph compute."""
    result = set()
    for name, entry in graph["entries"].items():
        config, kind = entry.get("config") or {}, entry["class_name"]
        if kind == "Masking" or (kind == "Embedding" and config.get("mask_zero")):
            value = float(config.get("mask_value", 0)) if kind == "Masking" else 0.0
            result |= {(call.args[0], value) for call in graph["calls"][name]}
    return result


def _by_steps(made: Config, where: str) -> Config:
    """A TimeDistributed, which calls its layer for each step and does not count its activity regularizer."""
    inner = made["config"]["layer"]
    if inner["config"].get("activity_regularizer") is not None:
        inner = with_options(inner, activity_regularizer=None)
    return with_options(made, **{"by_steps": True, **made["config"], "layer": inner})


_FORMS = Forms(
    words=Words(
        {"hard_sigmoid": "hard_sigmoid6", "sparsemax": None},
        {**CHANGES, "BatchNormalization": batch_normalization("population"), "TimeDistributed": _by_steps},
    ),
    is_function=_is_function,
    function=_torch_function,
    training=False,  # a model of Keras 3 follows the `training` of the call of the model
    masks=_masks,
    # A functional model counts its own graph as call 0; from 3.3 on in outputs alone.
    numberings={False: ((1, 1),), True: ((1, 0), (0, 0))},
    joint=True,
)
# Our files before they had dicts by keys counted such calls from 0 in arguments and in outputs.
_OLD_FORMS = replace(_FORMS, as_written=True, numberings={False: ((1, 1),), True: ((1, 1),)})


def modern_config(config: Mapping[str, Any], version: str = "", as_written: bool = False) -> Config:
    """Today's config of a model, `{"class_name", "config"}`, for one that Keras 3 wrote, of this version if known.

    `as_written`: as in `Forms`. Raises ArchitectureError for what has no form today.
    """
    return modern(config, _OLD_FORMS if as_written else replace(_FORMS, loses_calls=version.startswith("3.2.")))


def _marks(found: Mapping[str, Any]) -> bool:
    module = found.get("module")
    named = found.get("class_name") in ("__keras_tensor__", "DTypePolicy")
    return named or "batch_shape" in found or (isinstance(module, str) and module.startswith("keras.src"))


DIALECT = Dialect(
    "keras3",
    version=lambda major, minor, tf: major == 3,
    marks=_marks,
    modern_config=lambda config, known: (
        modern_config(config, known.source.version, known.source.as_written) if known.source else modern_config(config)
    ),
    besides=("keras1", "keras2", "tf_keras"),
    classes=True,
    metrics_by_output=True,
    rules=lambda source: LossRules("tensorflow"),
)

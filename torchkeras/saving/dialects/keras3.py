"""Configs of Keras 3, translated to today's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torchkeras.errors import ArchitectureError
from torchkeras.saving.dialects import calls
from torchkeras.saving.dialects.calls import CallPlace, NodeCall
from torchkeras.saving.dialects.changes import CHANGES, batch_normalization, with_options
from torchkeras.saving.dialects.dialect import Dialect
from torchkeras.saving.dialects.graphs import Forms, modern
from torchkeras.saving.dialects.translation import Config, Words, is_object
from torchkeras.saving.layer_facts import facts

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
    **{
        name.capitalize(): f"torch.{name}"
        for name in (
            *("deg2rad", "exp2", "isfinite", "isinf", "isneginf", "isposinf", "log10", "log2", "rad2deg", "signbit"),
            *("sinc", "trunc"),
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
    "Dot": "dot",
    "LogicalXor": "torch.logical_xor",
    **{
        name.capitalize(): f"torch.{name}"
        for name in ("fmax", "fmin", "fmod", "heaviside", "hypot", "inner", "logaddexp", "logaddexp2")
    },
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
    "Concatenate": "concatenate xs axis=-1",
    "ConvertToTensor": "identity x ~dtype=None ~sparse=None ~ragged=None",
    "CountNonzero": "torch.count_nonzero x axis=None",
    "Cumprod": "torch.cumprod x axis ~dtype=None",
    "Diagonal": "torch.diagonal x offset=0 axis1=0 axis2=1",
    "Diff": "torch.diff a n=1 axis=-1",
    "Digitize": "digitize x bins",
    "DivideNoNan": "divide_no_nan x1 x2",
    "Elu": "elu x alpha=1.0",
    "ExpandDims": "expand_dims x axis",
    "Flip": "flip x axis=None",
    "FullLike": "torch.full_like x fill_value ~dtype=None",
    "Gelu": "gelu x approximate=True",
    "GetItem": "getitem x key",
    "Glu": "torch.nn.functional.glu x axis=-1",
    "HardShrink": "hard_shrink x threshold=0.5",
    "Hstack": "torch.hstack xs",
    "Identity": "identity x",
    "LeakyRelu": "leaky_relu x negative_slope=0.2",
    "LogSoftmax": "log_softmax x axis=-1",
    "Median": "median x axis=None keepdims=False",
    "Moveaxis": "torch.movedim x source destination",
    "NanToNum": "torch.nan_to_num x nan=0.0 posinf=None neginf=None",
    "Nanmean": "torch.nanmean x axis=None keepdims=False",
    "Nansum": "torch.nansum x axis=None keepdims=False",
    "Norm": "norm x axis=None keepdims=False ~ord=None",
    "Normalize": "unit x axis=-1 epsilon=1e-12 ~order=2",
    "OneHot": "one_hot x num_classes axis=-1 dtype=float32 ~sparse=False",
    "OnesLike": "torch.ones_like x ~dtype=None",
    "Pad": "pad x pad_width mode=constant constant_values=None",
    "Quantile": "quantile x q axis=None keepdims=False ~method=linear",
    "Repeat": "repeat x repeats axis",
    "Reshape": "reshape x newshape",
    "Roll": "torch.roll x shift axis",
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
    "Take": "take x indices axis=None",
    "TakeAlongAxis": "torch.take_along_dim x indices axis=None",
    "Tensordot": "tensordot x1 x2 axes=2",
    "Threshold": "torch.threshold x threshold default_value",
    "Tile": "tile x repeats",
    "TopK": "torch.topk x k ~sorted=True",
    "Transpose": "transpose x axes=None",
    "Tril": "torch.tril x k=0",
    "Triu": "torch.triu x k=0",
    "Unstack": "unstack x axis=0 ~num=None",
    "Vstack": "torch.vstack xs",
    "Where": "where condition x1 x2",
    "Cumsum": "cumsum x axis ~dtype=None",
    "ZerosLike": "torch.zeros_like x ~dtype=None",
}


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


def _function(entry: Mapping[str, Any], call: NodeCall, where: str) -> tuple[str, list[Any]]:
    name = entry["class_name"]
    if name == "Einsum":
        return "einsum", [entry["config"]["subscripts"], *call.args]
    if name not in FUNCTIONS:
        raise ArchitectureError(f"{where}: the operation {name!r} of Keras 3 is not one that is read.")
    options = {key: value for key, value in entry["config"].items() if key != "name"}
    function, arguments = calls.bound(FUNCTIONS[name], call, options, where)
    if name in _TENSOR_PAIRS:
        arguments = [calls.constant(argument, numbers=True) for argument in arguments]
    return function, arguments


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
    for mask in masks:
        for place in calls.places_in(mask):
            _check_mask(place, graph)
    if facts(class_name).takes_mask and not any(masks) and any(True for _ in calls.places_in(given)):
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
    args = read[place.call].args
    if entry["class_name"] == "NotEqual" and len(args) == 2 and isinstance(args[1], (int, float)):
        return {(args[0], float(args[1]))}
    if entry["class_name"] not in _JOINING:
        return {(place, None)}
    inputs = () if entry["class_name"] in ("OnesLike", "ZerosLike") else calls.places_in(args)
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
    function=_function,
    training=False,  # a model of Keras 3 follows the `training` of the call of the model
    masks=_masks,
    joint=True,
)


def modern_config(config: Mapping[str, Any], as_written: bool = False) -> Config:
    """Today's config of a model, `{"class_name", "config"}`, for one that Keras 3 wrote.

    `as_written`: as in `Forms`. Raises ArchitectureError for what has no form today.
    """
    return modern(config, replace(_FORMS, as_written=as_written))


def _marks(found: Mapping[str, Any]) -> bool:
    module = found.get("module")
    named = found.get("class_name") in ("__keras_tensor__", "DTypePolicy")
    return named or "batch_shape" in found or (isinstance(module, str) and module.startswith("keras.src"))


DIALECT = Dialect(
    "keras3",
    version=lambda major, minor, tf: major == 3,
    marks=_marks,
    modern_config=lambda config, known: modern_config(config, known.source is not None and known.source.as_written),
    besides=("keras1", "keras2", "tf_keras"),
    classes=True,
    metrics_by_output=True,
)

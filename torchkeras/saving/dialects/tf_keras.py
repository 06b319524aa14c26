"""Configs of tf.keras 2.x, translated to today's. Not for Keras 2.0 to 2.3, which resized and masked differently."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torchkeras import registry
from torchkeras.errors import ArchitectureError
from torchkeras.saving.dialects import calls
from torchkeras.saving.dialects.calls import NodeCall
from torchkeras.saving.dialects.changes import CHANGES, batch_normalization, bidirectional, setting, with_options
from torchkeras.saving.dialects.dialect import Dialect, Known, LossRules
from torchkeras.saving.dialects.graphs import Forms, modern
from torchkeras.saving.dialects.translation import Config, Words, is_object
from torchkeras.saving.layer_facts import IMAGES, RECURRENT
from torchkeras.saving.model_file import ModelFile, mappings


def _bins(made: Config, where: str) -> Config:
    """Remove the dtype of a Discretization's output: today's dtype is that of its boundaries."""
    is_integer = str(made["config"].get("dtype")).startswith("int")
    return with_options(made, dtype=None) if is_integer else made


def _strings(made: Config, where: str) -> Config:
    """Remove the dtype "string", which is that of the input."""
    return with_options(made, dtype=None) if made["config"].get("dtype") == "string" else made


def _normalization(made: Config, where: str) -> Config:
    """A Normalization whose mean and variance have no leading axes of 1: tf.keras gives them the axes of the input."""
    options = made["config"]
    return with_options(made, **{key: _without_ones(options[key]) for key in ("mean", "variance") if key in options})


def _without_ones(values: Any) -> Any:
    while isinstance(values, list) and len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    return values


_channels_last = setting(data_format="channels_last")


def _check_curve(made: Config, where: str) -> None:
    """Refuse an interpolation that gives other values in TensorFlow than in torch."""
    if made["config"].get("interpolation") == "bicubic":
        raise ArchitectureError(
            f"{where}: 'bicubic' has another curve in TensorFlow (a = -0.5) than in torch (a = -0.75), so its images "
            "differ; it is not read."
        )


def _resizing(made: Config, where: str) -> Config:
    _check_curve(made, where)
    return _channels_last(made, where)


def _up_sampling(made: Config, where: str) -> Config:
    _check_curve(made, where)
    return CHANGES["UpSampling2D"](made, where)


def _early_random_crop(made: Config, where: str) -> Config:
    raise ArchitectureError(
        f"{where}: outside of training, TensorFlow up to 2.6 resized whole images and cut out their middle, and later "
        "versions cut first; it is not read."
    )


_CHANGES = {
    **CHANGES,
    "BatchNormalization": batch_normalization("flat"),
    "Discretization": _bins,
    "StringLookup": _strings,
    "TextVectorization": _strings,
    "Normalization": _normalization,
    **dict.fromkeys(IMAGES, _channels_last),
    "Resizing": _resizing,
    "UpSampling2D": _up_sampling,
}

_UNARY = (
    *("exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "square", "reciprocal", "sin", "cos", "tan", "tanh", "sinh"),
    *("cosh", "erf", "floor", "ceil", "round", "sign", "sigmoid", "softplus", "softsign", "logical_not"),
)
_PAIRS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "truediv": "truediv",
    "divide": "truediv",
    "pow": "pow",
    "floordiv": "floordiv",
    "floormod": "mod",
    "mod": "mod",
    "maximum": "maximum",
    "minimum": "minimum",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "squared_difference": "squared_difference",
}
_REDUCED = {
    "mean": "mean",
    "sum": "sum",
    "max": "amax",
    "min": "amin",
    "prod": "prod",
    "variance": "var",
    "std": "std",
    "logsumexp": "logsumexp",
    "any": "any",
    "all": "all",
}

# TensorFlow's functions, under their names in configs: rows of `calls.bound`.
FUNCTIONS: Mapping[str, str] = {
    **{f"math.{name}": f"{name} x ~name=None" for name in _UNARY},
    "nn.relu": "relu features ~name=None",
    **{f"nn.{name}": f"{name} features ~name=None" for name in ("relu6", "elu", "selu", "softplus", "softsign")},
    **{f"nn.{name}": f"{name} x ~name=None" for name in ("sigmoid", "tanh")},
    "nn.silu": "silu features ~beta=1.0 ~name=None",
    "nn.swish": "silu features ~beta=1.0 ~name=None",
    "nn.gelu": "gelu features approximate=False ~name=None",
    "nn.leaky_relu": "leaky_relu features alpha=0.2 ~name=None",
    "nn.softmax": "softmax logits axis=-1 ~name=None",
    "nn.log_softmax": "log_softmax logits axis=-1 ~name=None",
    "math.abs": "abs x ~name=None",
    "math.negative": "neg x ~name=None",
    **{f"math.{name}": f"{today} x y ~name=None" for name, today in _PAIRS.items()},
    **{
        f"__operators__.{name}": f"{today} x y ~name=None"
        for name, today in {"add": "add", "eq": "eq", "ne": "ne"}.items()
    },
    **{
        f"math.reduce_{name}": f"{today} input_tensor axis=None keepdims=False ~name=None"
        for name, today in _REDUCED.items()
    },
    "__operators__.getitem": "getitem tensor slice_spec ~var=None",
    "math.add_n": "sum_of inputs ~name=None",
    "math.argmax": "argmax input axis=0 output_type=int64 ~name=None",
    "math.argmin": "argmin input axis=0 output_type=int64 ~name=None",
    "math.cumsum": "cumsum x axis=0 ~exclusive=False ~reverse=False ~name=None",
    "math.l2_normalize": "unit x axis=None epsilon=1e-12 ~name=None",
    "linalg.l2_normalize": "unit x axis=None epsilon=1e-12 ~name=None",
    "linalg.matmul": "multiply_matrices a b transpose_a=False transpose_b=False ~adjoint_a=False ~adjoint_b=False "
    "~a_is_sparse=False ~b_is_sparse=False ~output_type=None ~grad_a=False ~grad_b=False ~name=None",
    "compat.v1.norm": "norm tensor axis=None keepdims=False ~ord=euclidean ~keep_dims=None ~name=None",
    "norm": "norm tensor axis=None keepdims=False ~ord=euclidean ~name=None",
    "cast": "cast x dtype ~name=None",
    "clip_by_value": "clip t clip_value_min clip_value_max ~name=None",
    "identity": "identity input ~name=None",
    "stop_gradient": "stop_gradient input ~name=None",
    "concat": "concatenate values axis ~name=None",
    "stack": "stack values axis=0 ~name=None",
    "unstack": "unstack value axis=0 ~num=None ~name=None",
    "split": "split value num_or_size_splits axis=0 ~num=None ~name=None",
    "reshape": "reshape tensor shape ~name=None",
    "expand_dims": "expand_dims input axis ~name=None",
    "squeeze": "squeeze input axis=None ~name=None",
    "compat.v1.squeeze": "squeeze input axis=None ~squeeze_dims=None ~name=None",
    "transpose": "transpose a perm=None ~conjugate=False ~name=None",
    "compat.v1.transpose": "transpose a perm=None ~conjugate=False ~name=transpose",
    "tile": "tile input multiples ~name=None",
    "repeat": "repeat input repeats axis ~name=None",
    "reverse": "flip tensor axis ~name=None",
    "pad": "pad tensor paddings mode=CONSTANT constant_values=0 ~name=None",
    "compat.v1.pad": "pad tensor paddings mode=CONSTANT constant_values=0 ~name=None",
    "where": "where condition x y ~name=None",
}


def _is_function(entry: Mapping[str, Any]) -> bool:
    return entry["class_name"] in ("TFOpLambda", "SlicingOpLambda", "TensorFlowOpLayer")


def _torch_function(entry: Mapping[str, Any], call: NodeCall, where: str) -> tuple[str, list[Any], Config]:
    called = entry["config"].get("function")
    if called not in FUNCTIONS:
        raise ArchitectureError(f"{where}: the function {called!r} of TensorFlow is not one that is read.")
    kwargs = {key: value for key, value in call.kwargs.items() if key != "name"}
    function, arguments = calls.bound(FUNCTIONS[called], NodeCall(call.args, kwargs), {}, where)
    if function in _PAIRS.values():
        arguments = [calls.constant(argument) for argument in arguments]
    return function, arguments, {}


def _masks(class_name: str, call: NodeCall, graph: Mapping[str, Any]) -> list[bool | None]:
    """Nothing, since masks of layers are not written. Raises ArchitectureError for a mask given by a caller."""
    given = calls.named(call, class_name, class_name)
    if any(given.get(name) is not None for name in calls.MASKS):
        raise ArchitectureError(f"A {class_name} is called with a mask of its own, which is not supported.")
    return []


# Options of tf.keras up to 2.9 that are arguments of calls today.
IN_CALLS: Mapping[str, Mapping[str, str]] = {
    "AdditiveAttention": {"causal": "use_causal_mask"},
    "Attention": {"causal": "use_causal_mask"},
}

_FORMS = Forms(
    words=Words({}, _CHANGES),
    is_function=_is_function,
    function=_torch_function,
    training=True,
    masks=_masks,
    numberings=dict.fromkeys((False, True), ((0, 0), (1, 1))),  # a model built by its first call has no graph before
    dropping=("Normalization", "Rescaling"),
    in_calls=IN_CALLS,
)

# At masked steps, TensorFlow up to 1.12 computed as Keras 2.2.4 does, in a Bidirectional too.
_AS_KERAS2 = {
    **dict.fromkeys(RECURRENT, lambda made, where: made),
    "Bidirectional": bidirectional(lambda layer: None),
}


def _zeros(layer: Config) -> bool:
    """Whether a layer in a Bidirectional gives zeros at masked steps.

    1.13 let every such layer give zeros, and wrote that into its config. Later versions do it with `return_sequences`.
    """
    return bool(layer["config"].get("return_sequences") or layer["config"].get("zero_output_for_mask"))


_LSTM_OF_CUDNN: Config = {
    "activation": "tanh",
    "recurrent_activation": "sigmoid",
    "recurrent_dropout": 0,
    "unroll": False,
    "use_bias": True,
}
_OF_CUDNN: Mapping[str, Config] = {"LSTM": _LSTM_OF_CUDNN, "GRU": {**_LSTM_OF_CUDNN, "reset_after": True}}


def _zeros_of_2_0(layer: Config) -> bool:
    """The same in TensorFlow 2.0 and 2.1, where layers that cuDNN could compute give their last output again."""
    return _zeros(layer) and not _by_cudnn(layer)


def _by_cudnn(layer: Config) -> bool:
    """Whether TensorFlow 2 computes a layer by cuDNN's kernel, or by a loop that takes its place."""
    options, kind = layer["config"], layer["class_name"]
    return kind in _OF_CUDNN and all(options.get(key) == value for key, value in _OF_CUDNN[kind].items())


# The keys of `training_config`, which TensorFlow 2.1 and 2.2 write in another order.
_COMPILED_IN_2_1 = ["loss", "metrics", "weighted_metrics", "sample_weight_mode", "loss_weights", "optimizer_config"]
_COMPILED_IN_2_2 = ["loss", "metrics", "weighted_metrics", "loss_weights", "sample_weight_mode", "optimizer_config"]


def _is_of_2_1(config: Any, training: Any) -> bool | None:
    """Whether TensorFlow 2.1 wrote a file of 2.3.0-tf, as 2.1.1 to 2.2 call themselves. None if it is open.

    From 2.2 on, a Sequential whose first layer has a shape says that shape itself, and inputs may be a dictionary.
    """
    keys = list(training) if isinstance(training, Mapping) else None
    if keys in (_COMPILED_IN_2_1, _COMPILED_IN_2_2):
        return keys == _COMPILED_IN_2_1
    for options in mappings(config):
        if isinstance(options.get("input_layers"), Mapping):
            return False
        if "input_layers" not in options and _begins_with_shape(options.get("layers")):
            return "build_input_shape" not in options
    return None


def _begins_with_shape(layers: Any) -> bool:
    """Whether the first of a Sequential's layers says the shape of its input."""
    first = layers[0] if isinstance(layers, list) and layers else None
    config = first.get("config") if isinstance(first, Mapping) else None
    return isinstance(config, Mapping) and bool(config.get("batch_input_shape"))


def _is_of_tensorflow1(config: Any) -> bool | None:
    """Whether TensorFlow 1 wrote a config of 2.2.4-tf: there alone initializers have a dtype. None if it has none."""
    found = [
        "dtype" in (value.get("config") or ())
        for options in mappings(config)
        for key, value in options.items()
        if str(key).endswith("_initializer") and is_object(value)
    ]
    return any(found) if found else None


@dataclass(frozen=True)
class LeftOut:
    """An option that some versions leave out of their files.

    `taken`: the value that these versions take themselves when they read such a file. `since`, `before`: the versions
    that such a file states. `writers`: these versions of TensorFlow, in words. `otherwise`: what to do.
    """

    option: str
    taken: Any
    since: tuple[int, ...]
    before: tuple[int, ...]
    writers: str
    otherwise: str


_EARLY = (2, 2, 4), (2, 2, 5)
_BY_CODE = "If it was True, build the model by code and load the weights."
# 1.15 to 2.9 write `causal`, except for 2.0, which cannot save an Attention; 1.13 has none.
_CAUSAL = (
    LeftOut("causal", False, *_EARLY, "1.14", _BY_CODE),
    LeftOut("causal", False, (2, 10), (3,), "2.10 and later", _BY_CODE),
)
# 1.15 and later ones write `interpolation`, and resize by half pixels; 1.13 and 1.14 do not.
LEFT_OUT: Mapping[Any, tuple[LeftOut, ...]] = {
    "AdditiveAttention": _CAUSAL,
    "Attention": _CAUSAL,
    "UpSampling2D": (
        LeftOut(
            *("interpolation", "nearest", *_EARLY, "1.13 and 1.14"),
            "If it was 'bilinear', set model.get_layer({!r}).interpolation = 'bilinear'.",
        ),
    ),
}


def _numbers(version: str | None) -> tuple[int, ...]:
    """The numbers of a version such as 2.2.4-tf; 2.15.0 where it is not known."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version or "")
    return tuple(map(int, found.groups() if found else (2, 15, 0)))


def _forms(version: str | None, config: Any, training: Any = None) -> Forms:
    """The forms of a version of tf.keras that wrote a config. `training`: how the model was compiled, if it was."""
    numbers = _numbers(version)
    changes: dict[str, Any] = dict(_AS_KERAS2) if numbers < (2, 2, 4) else {}
    if numbers == (2, 2, 4):
        changes["Bidirectional"] = bidirectional(_zeros if _is_of_tensorflow1(config) else _zeros_of_2_0)
    if numbers == (2, 3, 0) and _is_of_2_1(config, training):
        changes["Bidirectional"] = bidirectional(_zeros_of_2_0)
    if numbers < (2, 7, 0):
        changes["RandomCrop"] = _early_random_crop
    return replace(_FORMS, words=Words({}, {**_CHANGES, **changes}))


def modern_config(config: Mapping[str, Any], version: str | None = None) -> Config:
    """Today's config of a model, `{"class_name", "config"}`, for one that tf.keras wrote.

    `version`: that of the file. Raises ArchitectureError for what has no form today.
    """
    return modern(config, _forms(version, config))


def _of_known(config: Any, known: Known) -> Config:
    return modern(config, _forms(known.version(config), config, _training(known)))


def _training(known: Known) -> Any:
    return known.source and known.source.training


def doubts(config: Any, known: Known) -> list[str]:
    """What a config leaves open and is taken as in tf.keras, as sentences for a warning."""
    numbers = _numbers(known.version(config))
    own, found = {**registry.get_custom_objects(), **(known.custom_objects or {})}, []
    for entry in mappings(config):
        kind, options = entry.get("class_name"), entry.get("config")
        if kind not in LEFT_OUT or kind in own or not isinstance(options, Mapping):
            continue
        name = options.get("name")
        for left in LEFT_OUT[kind]:
            if left.since <= numbers < left.before and not _is_said(left.option, entry):
                what = f"{kind} {name!r}: its {left.option} is not written by tf.keras {left.writers}"
                found.append(f"{what}; it is taken as {left.taken!r}, as there. {left.otherwise.format(name)}")
    if numbers == (2, 3, 0) and _is_of_2_1(config, _training(known)) is None:
        found += _doubts_of_2_1(config)
    return found


def _doubts_of_2_1(config: Any) -> list[str]:
    """The Bidirectional layers whose outputs at masked steps depend on whether TensorFlow 2.1 or 2.2 wrote a file."""
    entries = [found for found in mappings(config) if is_object(found) and isinstance(found.get("config"), Mapping)]
    if not any(found["class_name"] == "Masking" or found["config"].get("mask_zero") for found in entries):
        return []
    doubtful = []
    for options in (found["config"] for found in entries if found["class_name"] == "Bidirectional"):
        layer, name = options.get("layer"), options.get("name")
        if is_object(layer) and _zeros(layer) and _by_cudnn(layer):
            doubtful.append(
                f"Bidirectional {name!r}: the file does not show whether TensorFlow 2.1 wrote it, whose "
                f"{layer['class_name']} repeats its last output at masked steps, or 2.2, where it gives zeros; it is "
                "taken as of 2.2. If 2.1 wrote it, set zero_output_for_mask = False in the forward_layer and the "
                f"backward_layer of model.get_layer({name!r})."
            )
    return doubtful


def _is_said(option: str, entry: Mapping[str, Any]) -> bool:
    """Whether the entry of a layer says an option, itself or as an argument of a call."""
    argument = IN_CALLS.get(entry["class_name"], {}).get(option, option)
    in_calls = any(found.get(argument) for found in mappings(entry.get("inbound_nodes")))
    return option in entry["config"] or in_calls


def _rules(source: ModelFile) -> LossRules:
    """How a version of tf.keras computed losses.

    Up to 1.12 there were functions alone, in 1.13 except for the mean squared error. 1.11 to 1.13 divided what these
    gave by the sum of the weights. 1.9 and 1.10, which write the version of 1.11, did not, and do not write
    `weighted_metrics`. From 1.13 to 2.10 a mask was a weight. Optimizers of 1.13 have the option `lr`, those of 1.14
    `learning_rate`.
    """
    numbers, by_weights = _numbers(source.version), {"reduction": "mean_with_sample_weight"}
    training: Mapping[str, Any] = source.training if isinstance(source.training, Mapping) else {}
    if numbers < (2, 2, 4):
        divides = numbers == (2, 1, 6) and "weighted_metrics" in training
        return LossRules("tensorflow", named=by_weights if divides else None)
    if numbers > (2, 2, 4):
        return LossRules("tensorflow-2.10" if numbers < (2, 11, 0) else "tensorflow")
    is_old = _is_of_tensorflow1(source.config)
    optimizer = training.get("optimizer_config")
    options = optimizer.get("config") if isinstance(optimizer, Mapping) else None
    if is_old and isinstance(options, Mapping) and "lr" in options:
        return LossRules("tensorflow-2.10", named=by_weights, exempt=("mse", "MSE", "mean_squared_error"))
    return LossRules("tensorflow-2.10", rising_cosine=is_old)


DIALECT = Dialect(
    "tf_keras",
    version=lambda major, minor, tf: major == 2 and (minor >= 4 or tf),
    marks=lambda found: (
        found.get("class_name") in ("TFOpLambda", "SlicingOpLambda") or "ragged" in found or "time_major" in found
    ),
    modern_config=_of_known,
    besides=("keras2",),
    doubts=doubts,
    classes=True,
    names_outputs=True,
    rules=_rules,
)

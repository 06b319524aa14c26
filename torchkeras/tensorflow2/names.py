"""The modules of `tensorflow` 2.15 and what stands in them, as tables."""

from __future__ import annotations

import importlib
import importlib.util
import unittest
from types import ModuleType
from typing import Any

import numpy as np

from torchkeras.keras2.tf.sessions import NAMES as OF_SESSIONS
from torchkeras.keras3 import initializers, losses, metrics, optimizers
from torchkeras.tensorflow2 import (
    data,
    functions,
    images,
    keras_names,
    nn,
    process,
    randomness,
    tape,
    tensors,
    variables,
)
from torchkeras.tensorflow2.elements import TensorSpec
from torchkeras.tensorflow2.process import refused

VERSION = "2.15.0"
Names = dict[str, Any]


def _public(module: Any) -> Names:
    """What a module lists, else all of its public names; the modules in it are found by their own names."""
    listed = getattr(module, "__all__", None)
    names = [name for name in vars(module) if not name.startswith("_")] if listed is None else listed
    found = {name: getattr(module, name) for name in names if name != "annotations"}
    return {name: value for name, value in found.items() if not isinstance(value, ModuleType)}


def _initializer(name: str, short: str, **options: Any) -> Any:
    """An initializer with TensorFlow's defaults, which Keras has otherwise."""
    base = getattr(initializers, name)

    def __init__(initializer: Any, /, *args: Any, **given: Any) -> None:  # noqa: N807  (of the class)
        base.__init__(initializer, *args, **({**options, **given} if not args else given))

    return type(short, (base,), {"__init__": __init__, "__module__": __name__, "__doc__": base.__doc__})


_SAVED_MODEL = (
    "a SavedModel of TensorFlow is neither read nor written; save the model as .keras or .h5, or model.export"
)
_LITE = "TensorFlow Lite is not written; model.export(path) writes ONNX"
_ESTIMATOR = "build the model by tf.keras and train it by fit"
_RAGGED = "pad the rows, as tf.keras.preprocessing.sequence.pad_sequences does"
_SPARSE = "use dense tensors"
_COLUMN = "use the preprocessing layers of tf.keras.layers"
_TFRECORD = "TFRecord files are neither read nor written; keep the examples as arrays (numpy.savez) or images"
_CHECKPOINT = "checkpoints of TensorFlow are not read; save the weights as .h5 there"
# Names that are there and raise NotImplementedError where they are used, by module, and what to do instead.
REFUSED = (
    ("saved_model", "load save contains_saved_model SaveOptions LoadOptions Asset", _SAVED_MODEL),
    ("lite", "TFLiteConverter Interpreter Optimize OpsSet", _LITE),
    (
        "estimator",
        """
        Estimator DNNClassifier DNNRegressor LinearClassifier LinearRegressor BaselineClassifier
        BoostedTreesClassifier BoostedTreesRegressor RunConfig EstimatorSpec EvalSpec TrainSpec ModeKeys
        train_and_evaluate export tpu
        """,
        _ESTIMATOR,
    ),
    (
        "feature_column",
        """
        numeric_column bucketized_column indicator_column embedding_column crossed_column
        categorical_column_with_vocabulary_list categorical_column_with_hash_bucket
        categorical_column_with_identity make_parse_example_spec shared_embeddings
        """,
        _COLUMN,
    ),
    ("ragged", "constant stack range map_flat_values boolean_mask", _RAGGED),
    ("sparse", "SparseTensor to_dense from_dense sparse_dense_matmul reorder add concat", _SPARSE),
    (
        "train",
        "Example Features Feature Int64List BytesList FloatList SequenceExample FeatureList FeatureLists",
        _TFRECORD,
    ),
    ("train", "load_variable load_checkpoint list_variables", _CHECKPOINT),
    (
        "io",
        """
        TFRecordWriter TFRecordOptions parse_single_example parse_example parse_sequence_example FixedLenFeature
        VarLenFeature FixedLenSequenceFeature parse_tensor serialize_tensor
        """,
        _TFRECORD,
    ),
    ("", "SparseTensor", _SPARSE),
    ("", "RaggedTensor", _RAGGED),
    ("", "py_func load_op_library load_library", "use tf.numpy_function, or a layer of your own"),
    ("keras.layers", "DenseFeatures", _COLUMN),
    ("keras.experimental", "load_from_saved_model export_saved_model", _SAVED_MODEL),
)


class _Refused:
    """A class whose use raises NotImplementedError."""

    def __init__(self, name: str, instead: str) -> None:
        self._name, self._instead = name, instead

    def __call__(self, *args: Any, **options: Any) -> Any:
        refused(self._name, self._instead)()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Refused(f"{self._name}.{name}", self._instead)


def _refused_names() -> Names:
    return {
        path: _Refused(f"tf.{path}", instead)
        for module, names, instead in REFUSED
        for path in (f"{module}.{name}".lstrip(".") for name in names.split())
    }


_REFUSED = _refused_names()


def _within(module: str, names: Names) -> Names:
    return {f"{module}.{name}": value for name, value in names.items()}


_TF1_LOGGING = OF_SESSIONS["logging"]
# Names of `tf` by their path in it.
NAMES: Names = {
    **{path: value for path, value in _REFUSED.items() if not path.startswith("keras.")},
    **functions.NAMES,
    **_within("nn", nn.NAMES),
    **_within(
        "math", {name: nn.NAMES[name] for name in ("in_top_k", "softmax", "log_softmax", "sigmoid", "zero_fraction")}
    ),
    **_within("image", images.NAMES),
    **_within("io", {**process.IO, **images.DECODERS}),
    **_within("random", randomness.NAMES),
    **_within("train", variables.TRAIN),
    **_within("config", process.CONFIG),
    **_within("distribute", process.DISTRIBUTE),
    **_within("summary", process.SUMMARY),
    **_within("debugging", process.DEBUGGING),
    **_within("errors", process.ERRORS),
    **_within("strings", process.STRINGS),
    **_within("nest", process.NEST),
    **_within("dtypes", {**tensors.TYPES, "as_dtype": tensors.as_type, "cast": functions.NAMES["cast"]}),
    **_within("data", _public(data)),
    **process.NAMES,
    **tensors.TYPES,
    "random_normal_initializer": _initializer("RandomNormal", "random_normal_initializer", mean=0.0, stddev=0.05),
    "random_uniform_initializer": _initializer("RandomUniform", "random_uniform_initializer"),
    "zeros_initializer": initializers.Zeros,
    "ones_initializer": initializers.Ones,
    "constant_initializer": initializers.Constant,
    "GradientTape": tape.GradientTape,
    "Module": variables.Module,
    "Tensor": tensors.AnyTensor,
    "TensorShape": tensors.TensorShape,
    "TensorSpec": TensorSpec,
    "UnconnectedGradients.NONE": "none",
    "UnconnectedGradients.ZERO": "zero",
    "Variable": variables.Variable,
    "VariableAggregation.MEAN": "mean",
    "VariableAggregation.SUM": "sum",
    "VariableSynchronization.ON_READ": "on_read",
    "IndexedSlices": type("IndexedSlices", (), {"__doc__": "What no gradient is an instance of: they are dense."}),
    "as_dtype": tensors.as_type,
    "as_string": process.STRINGS["as_string"],
    "python.client.device_lib.list_local_devices": process.list_physical_devices,
    "test.TestCase": unittest.TestCase,
    "test.main": unittest.main,
    "custom_gradient": tape.custom_gradient,
    "enable_eager_execution": process.nothing,
    "newaxis": None,
    "recompute_grad": lambda function: function,
    "timestamp": variables.timestamp,
    "experimental.numpy.pi": np.pi,
    "experimental.Optional": object,
    "raw_ops.MatMul": functions.NAMES["matmul"],
    "__version__": VERSION,
    "version.VERSION": VERSION,
}
# What is in `tf.compat.v1` beside the names of `tf`: that of sessions and scopes, as with TensorFlow 1.
OF_VERSION_1: Names = {
    **{name: value for name, value in OF_SESSIONS.items() if name not in NAMES},
    "logging": _TF1_LOGGING,
    "enable_eager_execution": process.nothing,
    "enable_v2_behavior": process.nothing,
    "train.get_or_create_global_step": lambda: variables.Variable(0, dtype="int64", trainable=False),
    "executing_eagerly": NAMES["executing_eagerly"],
    "test.is_gpu_available": NAMES["test.is_gpu_available"],
    "set_random_seed": randomness.set_seed,
}

_K3 = "torchkeras.keras3"
_K2 = "torchkeras.keras2"
_NETWORKS = (
    "convnext densenet efficientnet efficientnet_v2 imagenet_utils inception_resnet_v2 inception_v3 mobilenet "
    "mobilenet_v2 mobilenet_v3 nasnet resnet resnet50 resnet_v2 vgg16 vgg19 xception"
)
_DATA = "boston_housing cifar10 cifar100 fashion_mnist imdb mnist reuters"
# The modules of `tf.keras` by their path in it, and the modules whose names they have; the later count.
KERAS: dict[str, tuple[str, ...]] = {
    "": (_K3,),
    **{
        name: (f"{_K3}.{name}",)
        for name in [
            "activations",
            "callbacks",
            "constraints",
            "initializers",
            "layers",
            "losses",
            "metrics",
            "mixed_precision",
            "models",
            "optimizers",
            "regularizers",
            "utils",
        ]
    },
    "applications": (f"{_K3}.applications",),
    **{f"applications.{name}": (f"{_K3}.applications.{name}",) for name in _NETWORKS.split()},
    "backend": ("torchkeras.backend",),
    "callbacks.experimental": (),
    "datasets": (),
    **{f"datasets.{name}": (f"{_K2}.datasets.{name}",) for name in _DATA.split()},
    "estimator": (),
    "experimental": (),
    "layers.experimental": (f"{_K3}.layers",),
    "layers.experimental.preprocessing": (f"{_K3}.layers",),
    "mixed_precision.experimental": (f"{_K3}.mixed_precision",),
    "optimizers.experimental": (),
    "optimizers.legacy": (),
    "optimizers.schedules": (f"{_K3}.optimizers.schedules",),
    "preprocessing": (f"{_K3}.utils",),
    "preprocessing.image": (f"{_K2}.preprocessing.image",),
    "preprocessing.sequence": (f"{_K2}.preprocessing.sequence",),
    "preprocessing.text": (f"{_K2}.preprocessing.text",),
    "saving": (f"{_K3}.saving",),
    "wrappers": (),
    "wrappers.scikit_learn": (f"{_K2}.wrappers.scikit_learn",),
}
# Modules that are in others under further names.
_LAYER_FILES = "advanced_activations convolutional core embeddings merge normalization pooling recurrent wrappers"
KERAS |= {f"layers.{name}": (f"{_K3}.layers",) for name in _LAYER_FILES.split()}
_UTILS = "data_utils generic_utils layer_utils np_utils vis_utils io_utils"
KERAS |= {f"utils.{name}": (f"{_K3}.utils",) for name in _UTILS.split()}
KERAS |= {"utils.conv_utils": (f"{_K2}.utils.conv_utils",), "preprocessing.dataset_utils": ()}
KERAS |= {"engine": (f"{_K3}.layers", f"{_K3}.models"), "engine.topology": (f"{_K3}.layers", f"{_K3}.models")}

# Modules of `tf` that are those of `tf.keras`.
OF_KERAS = {
    "losses": (losses, "losses"),
    "metrics": (metrics, "metrics"),
    "optimizers": (optimizers, "optimizers"),
    "initializers": (initializers, "initializers"),
}


def of_keras(inside: str) -> Names:
    """The names of a module of `tf.keras`."""
    found: Names = {}
    for source in KERAS[inside]:
        if importlib.util.find_spec(source) is not None:
            found.update(_public(importlib.import_module(source)))
    own = keras_names.NAMES.get(inside, keras_names.NAMES.get(inside.partition(".")[0], {}))
    return {**found, **own, **_directly(_REFUSED, f"keras.{inside}")}


def of_tf(inside: str) -> Names | None:
    """The names that stand directly in a module of `tf`; None where there is no such module."""
    if inside in OF_KERAS:
        return of_keras(OF_KERAS[inside][1])
    for start in ("compat.v1", "compat.v2"):
        if inside == start or inside.startswith(f"{start}."):
            rest = inside.removeprefix(start).removeprefix(".")
            own = _directly(OF_VERSION_1, rest) if start == "compat.v1" else {}
            names = {**(of_tf(rest) or {}), **own} if rest else {**_directly(NAMES, ""), **own}
            return names or None
    names = _directly(NAMES, inside)
    return names if names or not inside or inside in ("compat", "python") else None


def _directly(names: Names, inside: str) -> Names:
    start = f"{inside}." if inside else ""
    found = {name.removeprefix(start): value for name, value in names.items() if name.startswith(start)}
    return {name: value for name, value in found.items() if "." not in name}


def is_module(inside: str) -> bool:
    """Whether there is a module of `tf` of this path, that of `tf.keras` apart."""
    inner = inside
    for start in ("compat.v1", "compat.v2"):
        if inner == start:
            return True
        inner = inner.removeprefix(f"{start}.")
    start = f"{inner}."
    known = {**NAMES, **OF_VERSION_1}
    return inner in ("compat", *OF_KERAS) or any(name.startswith(start) for name in known)

"""Which modules Keras had, by their names inside it, and where their contents stand here.

A module may have the names of several of ours; of two with one name the later counts. Beside its own family, a module
of Keras has what it imported itself, which scripts take from there (`from keras.layers.core import K`).
"""

from __future__ import annotations

VERSION = "2.2.4"

_BASE = "torchkeras.keras2.base"  # K, activations, initializers, regularizers, constraints, ...
_LAYERS = (_BASE, "torchkeras.layers", "torchkeras.keras2.layers", "torchkeras.keras2.recurrent")
_ENGINE = (*_LAYERS, "torchkeras.models", "torchkeras.keras2.engine")
_SAVING = "torchkeras.keras2.engine.saving"
_LOSSES = (_BASE, "torchkeras.losses")

# Modules that are ours themselves: what is set in them is set for all.
SAME: dict[str, str] = {
    "backend": "torchkeras.backend",
    **dict.fromkeys(
        ("backend.tensorflow_backend", "backend.common", "backend.load_backend"),
        "torchkeras.backend",
    ),
}

_LAYER_FILES = (
    *("advanced_activations", "convolutional", "convolutional_recurrent", "core", "cudnn_recurrent", "embeddings"),
    *("local", "merge", "noise", "normalization", "pooling", "recurrent", "wrappers"),
)
_ENGINE_FILES = ("base_layer", "input_layer", "network", "sequential", "topology", "training")
_ENGINE_PARTS = ("saving", "training_arrays", "training_utils")
_UTILS = (
    *("conv_utils", "data_utils", "generic_utils", "io_utils", "layer_utils", "multi_gpu_utils", "np_utils"),
    *("test_utils", "training_utils", "vis_utils", "visualize_util"),
)
_NETWORKS = (
    *("densenet", "imagenet_utils", "inception_resnet_v2", "inception_v3", "mobilenet", "mobilenet_v2"),
    *("mobilenetv2", "nasnet", "resnet50", "vgg16", "vgg19", "xception"),
)
_DATASETS = ("boston_housing", "cifar", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist", "reuters")

MODULES: dict[str, tuple[str, ...]] = {
    "": ("torchkeras.keras2.root",),
    "activations": (_BASE, "torchkeras.activations", "torchkeras.keras2.activations"),
    "backend.theano_backend": ("torchkeras.backend", "torchkeras.keras2.theano_backend"),
    "callbacks": (_BASE, "torchkeras.callbacks"),
    "constraints": (_BASE, "torchkeras.constraints"),
    "initializers": (_BASE, "torchkeras.initializers", "torchkeras.keras2.initializers"),
    "initializations": (_BASE, "torchkeras.keras2.initializations"),
    "regularizers": (_BASE, "torchkeras.regularizers"),
    "losses": _LOSSES,
    "objectives": _LOSSES,
    "metrics": (_BASE, "torchkeras.losses", "torchkeras.metrics", "torchkeras.keras2.metrics"),
    "models": (_BASE, *_LAYERS, "torchkeras.models", "torchkeras.keras2.data_tensors", _SAVING),
    "optimizers": (_BASE, "torchkeras.optimizers", "torchkeras.keras2.optimizers"),
    "layers": _LAYERS,
    **{f"layers.{name}": _LAYERS for name in _LAYER_FILES},
    "engine": _ENGINE,
    **{f"engine.{name}": _ENGINE for name in _ENGINE_FILES},
    "engine.training": (*_ENGINE, "torchkeras.keras2.engine.training_utils"),
    **{f"engine.{name}": (_BASE, f"torchkeras.keras2.engine.{name}") for name in _ENGINE_PARTS},
    "legacy": (_BASE,),
    "legacy.interfaces": ("torchkeras.keras2.interfaces",),
    "legacy.layers": _LAYERS,
    "utils": ("torchkeras.utils", "torchkeras.keras2.utils"),
    **{f"utils.{name}": (f"torchkeras.keras2.utils.{name}",) for name in _UTILS},
    "preprocessing": ("torchkeras.keras2.preprocessing",),
    **{f"preprocessing.{n}": (f"torchkeras.keras2.preprocessing.{n}",) for n in ("image", "sequence", "text")},
    "applications": ("torchkeras.keras2.applications",),
    **{f"applications.{name}": (f"torchkeras.keras2.applications.{name}",) for name in _NETWORKS},
    "datasets": ("torchkeras.keras2.datasets",),
    **{f"datasets.{name}": (f"torchkeras.keras2.datasets.{name}",) for name in _DATASETS},
    "wrappers": ("torchkeras.keras2.wrappers",),
    "wrappers.scikit_learn": ("torchkeras.keras2.wrappers.scikit_learn",),
}

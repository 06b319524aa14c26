"""torchkeras: Keras's functional API on PyTorch."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from torchkeras.base.annexes import declare as _declare, names_later as _names_later
from torchkeras.base.interrupts import imported as _imported
from torchkeras.base.moved import find_moved_modules as _find_moved_modules

_find_moved_modules()

_declare(
    {
        "backend": "torchkeras.backend",
        "backups": "torchkeras.distribution.backups",
        "compiled network": "torchkeras.export.ahead",
        "data sets": "torchkeras.keras2.datasets",
        "downloads": "torchkeras.keras2.utils.download",
        "eject": "torchkeras.export.plain.eject",
        "export": "torchkeras.export.exporting",
        "functions as formulas": "torchkeras.keras2.lambdas.formula_data",
        "functions in bytecode": "torchkeras.keras2.lambdas.reading",
        "import keras": "torchkeras.keras2.alias",
        "import keras 3": "torchkeras.keras3.alias",
        "import tensorflow 2": "torchkeras.tensorflow2.alias",
        "operations": "torchkeras.tensor_functions.operations.table",
        "optimizer shards": "torchkeras.distribution.optimizer_shards",
        "process group": "torchkeras.distribution.group",
        "processes": "torchkeras.distribution.training",
        "scikit-learn estimators": "torchkeras.keras3.wrappers.estimators",
        "shared tensors": "torchkeras.distribution.shared_tensors",
        "sources of tensors": "torchkeras.keras2.utils.layer_utils",
        "years of a script": "torchkeras.tensorflow2.years",
    }
)

if _TYPE_CHECKING:
    from torchkeras import (
        activations,
        callbacks,
        config,
        constraints,
        initializers,
        layers,
        losses,
        metrics,
        mixed_precision,
        models,
        optimizers,
        regularizers,
        utils,
    )
    from torchkeras.base.naming import clear_session
    from torchkeras.engine.graph.input import Input
    from torchkeras.engine.symbolic.tensor import KerasTensor
    from torchkeras.models import Model, Sequential
    from torchkeras.registry import CustomObjectScope, custom_object_scope, get_custom_objects, register
    from torchkeras.serving import serve
else:
    _imported("torch")

    __getattr__, __dir__ = _names_later(
        __name__,
        {
            **dict.fromkeys(("Model", "Sequential"), "torchkeras.models"),
            **dict.fromkeys(
                ("CustomObjectScope", "custom_object_scope", "get_custom_objects", "register"), "torchkeras.registry"
            ),
            "clear_session": "torchkeras.base.naming",
            "Input": "torchkeras.engine.graph.input",
            "KerasTensor": "torchkeras.engine.symbolic.tensor",
            "serve": "torchkeras.serving",
        },
    )

__version__ = "0.1.0"

__all__ = [
    "CustomObjectScope",
    "Input",
    "KerasTensor",
    "Model",
    "Sequential",
    "activations",
    "callbacks",
    "clear_session",
    "config",
    "constraints",
    "custom_object_scope",
    "get_custom_objects",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "optimizers",
    "register",
    "regularizers",
    "serve",
    "utils",
]

"""Keras 3's API, for code written for it: `import torchkeras.keras3 as keras`."""

from typing import NoReturn

from torchkeras.keras3 import (
    activations as activations,
    applications as applications,
    backend as backend,
    callbacks as callbacks,
    config as config,
    constraints as constraints,
    datasets as datasets,
    dtype_policies as dtype_policies,
    initializers as initializers,
    layers as layers,
    losses as losses,
    metrics as metrics,
    mixed_precision as mixed_precision,
    models as models,
    ops as ops,
    optimizers as optimizers,
    preprocessing as preprocessing,
    random as random,
    regularizers as regularizers,
    saving as saving,
    tree as tree,
    utils as utils,
    wrappers as wrappers,
)
from torchkeras.keras3.dtype_policies import DTypePolicy as DTypePolicy, FloatDTypePolicy as FloatDTypePolicy
from torchkeras.keras3.function import Function as Function, KerasTensor as KerasTensor
from torchkeras.keras3.initializers import Initializer as Initializer
from torchkeras.keras3.layers import Input as Input, InputSpec as InputSpec, Layer as Layer
from torchkeras.keras3.losses import Loss as Loss
from torchkeras.keras3.metrics import Metric as Metric
from torchkeras.keras3.models import Model as Model, Sequential as Sequential
from torchkeras.keras3.operation import Operation as Operation
from torchkeras.keras3.optimizers import Optimizer as Optimizer
from torchkeras.keras3.regularizers import Regularizer as Regularizer
from torchkeras.keras3.rematerialization import remat as remat
from torchkeras.keras3.variable import Variable as Variable, name_scope as name_scope

__version__ = "3.15.0"  # of the Keras whose API this is

# What Keras 3 has and this package leaves out, with what to use instead.
_INSTEAD = {
    "Quantizer": "quantize the torch module, such as by torchao",
    "RematScope": "torch.utils.checkpoint computes activations again in the backward pass",
    "StatelessScope": "torch.func.functional_call computes with other weights",
    "SymbolicScope": "a tensor on torch's device 'meta' has a shape and no values",
    "device": "torch.device in a with statement",
    "distillation": "a train_step of your own computes the loss of the student",
    "distribution": "compile(distribute=...) trains on several devices by torch's DDP or FSDP",
    "export": "model.export(path) writes ONNX or torch.export's format",
    "quantizers": "quantize the torch module, such as by torchao",
    "visualization": "draw the arrays by matplotlib",
}


def version() -> str:
    """The version of Keras whose API this is.

    Example:
        >>> version()
        '3.15.0'
    """
    return __version__


def __getattr__(name: str) -> NoReturn:
    instead = f" Instead: {_INSTEAD[name]}." if name in _INSTEAD else ""
    raise AttributeError(f"module 'keras' (Keras {__version__}, answered by torchkeras) has no {name!r}.{instead}")

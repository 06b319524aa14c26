"""The package keras-applications, which Keras 2.2.4 used, with this package's layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

from torchkeras import layers, models
from torchkeras.keras2 import backend, utils
from torchkeras.keras2.data_tensors import Input
from torchkeras.keras2.extras import extra


def _separable(*args: Any, kernel_initializer: Any = None, **kwargs: Any) -> layers.SeparableConv2D:
    """A SeparableConv2D. Keras takes a `kernel_initializer` too, and uses it for neither of the two kernels."""
    return layers.SeparableConv2D(*args, **kwargs)


LAYERS = SimpleNamespace(**{**vars(layers), "SeparableConv2D": _separable, "Input": Input})
FRAMEWORK = {"backend": backend, "layers": LAYERS, "models": models, "utils": utils}


def keras_modules_injection(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of keras-applications, with this package in place of Keras."""

    @wraps(function)
    def injected(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{**kwargs, **FRAMEWORK})

    return injected


def frozen(module: str, name: str) -> Callable[..., Any]:
    """A function of a module of keras-applications."""
    return keras_modules_injection(getattr(extra(f"keras_applications.{module}"), name))

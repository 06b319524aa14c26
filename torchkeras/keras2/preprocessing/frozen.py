"""The package keras-preprocessing, with this package's `Sequence` and settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from torchkeras import config
from torchkeras.keras2 import utils
from torchkeras.keras2.extras import extra
from torchkeras.keras2.renamed import renamed

SETTINGS: Mapping[str, Callable[[], str]] = {"data_format": config.image_data_format, "dtype": config.floatx}

extra("keras_preprocessing").set_keras_submodules(backend=config, utils=utils)
image = extra("keras_preprocessing.image")
sequence = extra("keras_preprocessing.sequence")
text = extra("keras_preprocessing.text")


def with_settings(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the default data format and float type of this package, and Keras 1's `dim_ordering`."""
    parameters = inspect.signature(function).parameters
    signature = inspect.Signature(
        [each.replace(default=None) if name in SETTINGS else each for name, each in parameters.items()]
    )

    @wraps(function)
    def with_defaults(*args: Any, **given: Any) -> Any:
        bound = signature.bind(*args, **given)
        for name in SETTINGS.keys() & parameters:
            if bound.arguments.get(name) is None:
                bound.arguments[name] = SETTINGS[name]()
        return function(*bound.args, **bound.kwargs)

    with_defaults.__signature__ = signature  # type: ignore[attr-defined]
    return renamed(dim_ordering="data_format")(with_defaults)

"""Packages that extras bring (`pip install torchkeras-graph[plot]`), imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any

# A module: the package that has it, and the extra that brings that.
BROUGHT: dict[str, tuple[str, str]] = {
    "PIL.Image": ("pillow", "scripts"),
    "aim": ("aim", "aim"),
    "matplotlib.pyplot": ("matplotlib", "plot"),
    "mlflow": ("mlflow", "mlflow"),
    **dict.fromkeys(
        (
            "sklearn",
            "sklearn.base",
            "sklearn.utils.class_weight",
            "sklearn.utils.metadata_routing",
            "sklearn.utils.multiclass",
            "sklearn.utils.validation",
        ),
        ("scikit-learn", "sklearn"),
    ),
    "safetensors": ("safetensors", "safetensors"),
    "safetensors.torch": ("safetensors", "safetensors"),
    "torch.utils.tensorboard": ("tensorboard", "tensorboard"),
    "wandb": ("wandb", "wandb"),
    "yaml": ("PyYAML", "yaml"),
}


def extra(module: str, what: str, instead: str = "") -> Any:
    """A module of a package that an extra brings. Raises ImportError, in the name of `what`, where it is missing.

    `instead`: what else would do.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{what}: {missing(*BROUGHT[module], instead)}") from error


def missing(package: str, brought_by: str, instead: str = "") -> str:
    """The sentence of a package that is missing."""
    install = f"Install it with `pip install torchkeras-graph[{brought_by}]`"
    return f"the package {package} is missing. {install}{f', or {instead}' if instead else ''}."

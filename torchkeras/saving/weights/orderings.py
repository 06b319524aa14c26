"""Where the convolutions of a file and of a model have their channels: first or last, as far as it can be found out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torchkeras import config
from torchkeras.engine.layer.layer import Layer
from torchkeras.errors import ModelFileError, WeightMismatchError
from torchkeras.saving.weights.matching import Match

KEYS = ("data_format", "dim_ordering")
# Flatten has the option for its own input alone, so it says nothing about the model.
APART = ("Flatten",)


def of_model(model: Layer) -> str | None:
    """The data format of a model's layers, if they agree."""
    found = {
        layer.data_format
        for layer in model.modules()
        if hasattr(layer, "data_format") and _counts(type(layer).__name__)
    }
    return _only(found)


def of_config(architecture: Any) -> str | None:
    """The data format of the layers in a config of any version, if they agree."""
    return _only({config.DIM_ORDERINGS.get(value, value) for value in _values(architecture)})


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("config"), (Mapping, list)) and not _counts(str(value.get("class_name"))):
            return
        for key, item in value.items():
            if key in KEYS and isinstance(item, str):
                yield item
            else:
                yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)


def _counts(class_name: str) -> bool:
    return class_name not in APART


def _only(found: set[Any]) -> str | None:
    return found.pop() if len(found) == 1 and found <= set(config.DATA_FORMATS) else None


def by_kernels(file: str, attempt: Callable[[str], list[Match]]) -> str | None:
    """The data format that fits the shapes of Keras 1's kernels; None if no kernel depends on it.

    `attempt` matches the weights under a data format. Raises ModelFileError if both fit: then only the caller can
    decide.
    """
    fitting: dict[str, list[Match]] = {}
    for data_format in config.DATA_FORMATS:
        try:
            fitting[data_format] = attempt(data_format)
        except WeightMismatchError:
            continue
    if len(fitting) < 2:
        return next(iter(fitting), None)
    first, last = fitting.values()
    differing = [a for a, b in zip(first, last, strict=True) if a.recipe.deeds != b.recipe.deeds]
    if differing:
        names = ", ".join(dict.fromkeys(found.variable.full_name for found in differing))
        raise ModelFileError(
            f"{file}: weights of Keras 1, whose kernels fit both with channels first and with channels last ({names}). "
            "Say which: original_data_format='channels_first' (image_dim_ordering 'th') or 'channels_last' ('tf')."
        )
    return None


def agreed(file: str, said: str | None, file_format: str | None, model: str | None) -> str | None:
    """The data format of the file: what the caller says, or what the file shows.

    Raises ValueError if the two contradict, ModelFileError if the model has the other format and the caller did not ask
    for a conversion.
    """
    if said and file_format and said != file_format:
        raise ValueError(f"{file}: its convolutions are {file_format}, and original_data_format says {said!r}.")
    if file_format and model and file_format != model and not said:
        raise ModelFileError(
            f"{file}: its convolutions are {file_format}, those of the model {model}. To convert the weights, give "
            f"original_data_format={file_format!r}."
        )
    return said or file_format

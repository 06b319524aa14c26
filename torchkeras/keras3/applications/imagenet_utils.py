"""`keras.applications.imagenet_utils`: images as networks want them, and what their outputs mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from torchkeras import config
from torchkeras.keras3 import ops
from torchkeras.keras3.utils.files import get_file
from torchkeras.utils import imagenet

__all__ = ["decode_predictions", "preprocess_input"]

_NAMES = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"


def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Images from 0 to 255 in red, green, blue, as networks for ImageNet want them.

    Arguments:
        x (array or tensor): an image or a batch. An array of floats is overwritten.
        data_format ("channels_first", "channels_last" or None, default None): None is the one that is set.
        mode (text, default "caffe"): "caffe" for blue, green, red less their means; "tf" for -1 to 1; "torch" for 0 to
            1 less the means, divided by the deviations.

    Returns:
        The images, of the kind of `x`.

    Errors:
        ValueError: `mode` or `data_format` is none of these.

    Example:
        >>> preprocess_input(np.full((1, 1, 3), 255.0), mode="tf")
        array([[[1., 1., 1.]]])

    Source: https://keras.io/api/applications/
    """
    if mode not in imagenet.MODES:
        raise ValueError(f"preprocess_input: mode must be one of {', '.join(imagenet.MODES)}; found {mode!r}.")
    data_format = config.image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            f"preprocess_input: data_format must be 'channels_first' or 'channels_last'; found {data_format!r}."
        )
    if isinstance(x, np.ndarray):
        return imagenet.of_array(x, data_format, mode)
    return imagenet.of_tensor(x, data_format, mode)


def preprocessing(mode: str) -> Callable[..., Any]:
    """The `preprocess_input` of networks that were trained on images of a mode."""

    def preprocess(x: Any, data_format: str | None = None) -> Any:
        return preprocess_input(x, data_format, mode)

    preprocess.__name__ = preprocess.__qualname__ = "preprocess_input"
    preprocess.__doc__ = f"`keras.applications.imagenet_utils.preprocess_input(x, data_format, mode={mode!r})`."
    return preprocess


def unchanged(x: Any, data_format: str | None = None) -> Any:
    """The images as they are: the network has a layer that does what is needed."""
    return x


@cache
def _names() -> dict[str, list[str]]:
    """The key and the name of each class of ImageNet, by its number."""
    found = get_file(
        "imagenet_class_index.json", _NAMES, cache_subdir="models", file_hash="c2c37ea517e94d9795004a39431a14cb"
    )
    return json.loads(Path(found).read_text())


def decode_predictions(preds: Any, top: int = 5) -> list[list[tuple[Any, ...]]]:
    """The likeliest classes of ImageNet for each row, `(key, name, score)`, the likeliest first.

    The names are downloaded once.

    Arguments:
        preds (array or tensor, (samples, 1000)): the outputs of a network.
        top (positive integer, default 5): how many classes.

    Errors:
        ValueError: `preds` has another shape.

    Example:
        >>> decode_predictions(np.zeros((1, 10)))
        Traceback (most recent call last):
        ...
        ValueError: decode_predictions: preds must have the shape (samples, 1000); found (1, 10).

    Source: https://keras.io/api/applications/
    """
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError(f"decode_predictions: preds must have the shape (samples, 1000); found {tuple(preds.shape)}.")
    rows = ops.convert_to_numpy(preds)
    likeliest = [row.argsort()[-top:][::-1] for row in rows]
    return [
        [(*_names()[str(number)], row[number]) for number in numbers]
        for row, numbers in zip(rows, likeliest, strict=True)
    ]

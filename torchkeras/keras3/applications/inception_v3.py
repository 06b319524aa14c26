"""`keras.applications.inception_v3`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.network import Options, channel_axis, kernels_file, normalized, usual
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    AveragePooling2D,
    Concatenate,
    Conv2D,
    MaxPooling2D,
)
from torchkeras.keras3.models import Model

__all__ = ["InceptionV3", "decode_predictions", "preprocess_input"]

HASHES = ("9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63")
HALVED = {"strides": 2, "padding": "valid"}

# A branch is its convolutions, each the filters and the size of its window, and options where it has others.
Branch = Sequence[tuple[Any, ...]]


def _small(pooled: int) -> list[Branch]:
    """The branches of the blocks of 35 rows."""
    return [[(64, 1)], [(48, 1), (64, 5)], [(64, 1), (96, 3), (96, 3)], [("average",), (pooled, 1)]]


def _long(filters: int) -> list[Branch]:
    """The branches of the blocks of 17 rows, with windows of one row or column."""
    return [
        [(192, 1)],
        [(filters, 1), (filters, (1, 7)), (192, (7, 1))],
        [(filters, 1), (filters, (7, 1)), (filters, (1, 7)), (filters, (7, 1)), (192, (1, 7))],
        [("average",), (192, 1)],
    ]


STEM: Branch = [(32, 3, HALVED), (32, 3, {"padding": "valid"}), (64, 3), ("max",)]
STEM_TO_35: Branch = [(80, 1, {"padding": "valid"}), (192, 3, {"padding": "valid"}), ("max",)]
MIXED: list[list[Branch]] = [
    *map(_small, (32, 64, 64)),
    [[(384, 3, HALVED)], [(64, 1), (96, 3), (96, 3, HALVED)], [("max",)]],
    *map(_long, (128, 160, 160, 192)),
    [
        [(192, 1), (320, 3, HALVED)],
        [(192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, HALVED)],
        [("max",)],
    ],
]


def convolution(x: Any, filters: int, size: Any, options: dict[str, Any]) -> Any:
    """`relu(norm(conv(x)))`."""
    x = Conv2D(filters, size, use_bias=False, **{"padding": "same", **options})(x)
    return Activation("relu")(normalized(x, scale=False))


def branch(x: Any, steps: Branch) -> Any:
    """What a branch makes of a tensor."""
    for first, *further in steps:
        if first == "average":
            x = AveragePooling2D(3, strides=1, padding="same")(x)
        elif first == "max":
            x = MaxPooling2D(3, strides=2)(x)
        else:
            x = convolution(x, first, further[0], further[1] if len(further) > 1 else {})
    return x


def joined(branches: list[Any], name: str | None) -> Any:
    """The channels of all branches."""
    return Concatenate(axis=channel_axis(), name=name)(branches)


def _forked(x: Any, name: str | None) -> Any:
    """`[rows(x), columns(x)]`."""
    return joined([branch(x, [(384, (1, 3))]), branch(x, [(384, (3, 1))])], name)


def _last(x: Any, number: int) -> Any:
    """A block of 8 rows, with branches that fork."""
    branches = [
        branch(x, [(320, 1)]),
        _forked(branch(x, [(384, 1)]), f"mixed9_{number}"),
        _forked(branch(x, [(448, 1), (384, 3)]), None),
        branch(x, [("average",), (192, 1)]),
    ]
    return joined(branches, f"mixed{9 + number}")


def build(options: Options) -> Model:
    """Inception, version 3."""
    inputs = options.input(size=299, least=75)
    x = branch(branch(inputs, STEM), STEM_TO_35)
    for number, branches in enumerate(MIXED):
        x = joined([branch(x, steps) for steps in branches], f"mixed{number}")
    for number in range(2):
        x = _last(x, number)
    return options.model(inputs, options.ended(x), kernels_file("inception_v3", HASHES))


InceptionV3 = usual("InceptionV3", "Inception, version 3", "https://arxiv.org/abs/1512.00567", "inception_v3", build)
preprocess_input = preprocessing("tf")

"""Weights alone that a later Keras wrote, for layers whose defaults were changed since Keras 2.2.4."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any

from torchkeras.saving.weights.matching import Match

VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)?(-tf)?")
FIRST = (2, 3)  # of Keras; tf.keras had the new defaults when it called itself 2.2.4-tf


def is_later(version: str) -> bool:
    """Whether a version of Keras, as a file tells it, may have the new defaults."""
    found = VERSION.match(version)
    return found is not None and (int(found[1]), int(found[2]) + (found[0] == "2.2.4-tf")) >= FIRST


def warn(file: str, matches: Iterable[Match]) -> None:
    """Warn of each option that a layer has by its default, where the Keras that wrote the weights had another one."""
    for layer in dict.fromkeys(found.variable.layer for found in matches):
        own: Any = layer
        for option, there in own._changed_defaults.items():
            here = own.get_config()[option]
            if option not in own._options_given and here == own._options[option].default:
                warnings.warn(
                    f"{file}: {type(own).__name__} {own.name!r}: {option} is {here!r} by default; the Keras that wrote "
                    f"the weights has {there!r} there. Give {option}={there!r}, or {option}={here!r} if it was so.",
                    stacklevel=6,
                )

"""Weights alone that a later Keras wrote, for layers whose defaults were changed since Keras 2.2.4."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any

from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import options_of
from torchkeras.saving.weights.matching import Match

VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)?(-tf)?")


def warn(file: str, version: str, matches: Iterable[Match]) -> None:
    """Warn of each option that a layer has by its default, where the Keras that wrote the weights had another one.

    `version`: of that Keras, as the file tells it; "" if it does not.
    """
    for layer in dict.fromkeys(each.variable.layer for each in matches):
        own: Any = layer
        for option, there in changed(type(own), version).items():
            here = own.get_config()[option]
            if option not in own._options_given and there != here == options_of(own)[option].default:
                warnings.warn(
                    f"{file}: {type(own).__name__} {own.name!r}: {option} is {here!r} by default; the Keras that wrote "
                    f"the weights has {there!r} there. Give {option}={there!r}, or {option}={here!r} if it was so.",
                    stacklevel=6,
                )


def changed(kind: type[Layer], version: str) -> dict[str, Any]:
    """The options of a layer that have another default in a later Keras, of this version, and that default."""
    found = VERSION.match(version)
    if found is None:
        return {}
    # tf.keras had the defaults of 2.3 when it called itself 2.2.4-tf.
    wrote = (2, 3) if found[0] == "2.2.4-tf" else (int(found[1]), int(found[2]))
    return {option: there for option, (there, since) in kind._changed_defaults.items() if wrote >= since}

"""Which Keras wrote a config: by its version, or else by what only one of them writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from torchkeras.errors import UnknownFormatError

KERAS1, KERAS2, TF_KERAS, KERAS3 = "keras1", "keras2", "tf_keras", "keras3"
VERSION = re.compile(r"(\d+)\.(\d+)(\.|$)")
# Options that only Keras 1 has.
OF_KERAS1 = frozenset(("nb_filter", "border_mode", "dim_ordering", "inner_activation", "W_regularizer"))
BACKENDS = ("tensorflow", "theano", "cntk")  # of Keras 2


def dialect(config: Any, keras_version: str | None = None, backend: str | None = None) -> str:
    """The Keras that wrote the config of a model: "keras1", "keras2", "tf_keras" or "keras3".

    `keras_version`, `backend`: from the file; a JSON text may hold them itself. tf.keras calls itself `2.4.0` or
    `2.3.0-tf`; Keras 2 ended with 2.3.1. Raises UnknownFormatError if neither version nor form decides it.
    """
    inside = config if isinstance(config, Mapping) else {}
    version, backend = keras_version or inside.get("keras_version"), backend or inside.get("backend")
    if version is None:
        return _by_forms(config)
    found = VERSION.match(str(version))
    if found is None:
        raise UnknownFormatError(f"The version of Keras must be such as '2.2.4'; found {version!r}.")
    major, minor = int(found[1]), int(found[2])
    if major in (0, 1):
        return KERAS1
    if major == 3:
        return KERAS3
    if major != 2:
        raise UnknownFormatError(f"Written by Keras {version}; files of Keras 1, 2 and 3 are read.")
    if backend not in (None, *BACKENDS):
        raise UnknownFormatError(f"Written by Keras {version} on {backend}; Keras 2 ran on {', '.join(BACKENDS)}.")
    return TF_KERAS if minor >= 4 or "-tf" in str(version) else KERAS2


def _by_forms(config: Any) -> str:
    """By what only one of them writes, anywhere in the config."""
    found = {kind for value in _mappings(config) for kind in _marks(value)}
    if KERAS3 in found:  # it also writes some of tf.keras's forms
        found = {KERAS3}
    if TF_KERAS in found:
        found.discard(KERAS2)
    if len(found) != 1:
        told = ", ".join(sorted(found)) or "nothing"
        raise UnknownFormatError(f"The architecture has no 'keras_version', and its forms are those of {told} alone.")
    return found.pop()


def _marks(value: Mapping[str, Any]) -> Iterator[str]:
    """The versions that alone write such a dictionary."""
    if value.get("class_name") in ("__keras_tensor__", "DTypePolicy") or "batch_shape" in value:
        yield KERAS3
    if isinstance(value.get("module"), str) and value["module"].startswith("keras.src"):
        yield KERAS3
    if value.get("class_name") in ("TFOpLambda", "SlicingOpLambda") or "ragged" in value or "time_major" in value:
        yield TF_KERAS
    if not OF_KERAS1.isdisjoint(value):
        yield KERAS1
    if "kernel_initializer" in value or "recurrent_activation" in value:
        yield KERAS2


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            yield found
            waiting += found.values()
        elif isinstance(found, (list, tuple)):
            waiting += found

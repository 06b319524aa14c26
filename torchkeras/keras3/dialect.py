"""Which classes a config means: within `known()` those of Keras 3, for names that this package has as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torchkeras.registry import INSTEAD, call_from_config

# The classes of Keras 3 by those of this package: `layers.py` and `models.py` add theirs.
CLASSES: dict[Any, Any] = {}
# Layers that `keras.layers` does not have, by name: those of networks in `keras.applications`.
WITHIN_NETWORKS: dict[str, Any] = {}


class Written:
    """A class of Keras 3 for configs of this package's form, in which what is left out has this package's default."""

    def __init__(self, cls: Any):
        self._cls = cls

    def from_config(self, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """An object of the class, with the options of a config."""
        if self._cls._keeps_config(config):  # it is in Keras 3's form
            with known_anew():
                return call_from_config(self._cls.from_config, dict(config), custom_objects)
        return self._cls.from_written(config, custom_objects)


class _InFiles(Mapping[Any, Any]):
    """The classes for configs of this package's form; a user's classes may get theirs in Keras 3's form."""

    def __getitem__(self, found: Any) -> Any:
        if found in CLASSES:
            return Written(CLASSES[found])
        if hasattr(found, "from_written"):
            return Written(found)
        raise KeyError(found)

    def __iter__(self) -> Iterator[Any]:
        return iter(CLASSES)

    def __len__(self) -> int:
        return len(CLASSES)


IN_FILES = _InFiles()


@contextmanager
def known(written: bool = False) -> Iterator[None]:
    """Let configs of layers and models make those of Keras 3, in this thread, within the block.

    `written`: whether the configs are of this package's form, as files are translated to it. A block around it has
    said so already.
    """
    if INSTEAD.get():
        yield
        return
    with known_anew(written):
        yield


@contextmanager
def known_anew(written: bool = False) -> Iterator[None]:
    """The same, whatever a block around it says."""
    token = INSTEAD.set(IN_FILES if written else CLASSES)
    try:
        yield
    finally:
        INSTEAD.reset(token)

"""`keras.ops.image`: the functions of Keras 3 on images."""

from typing import TYPE_CHECKING, Any

from torchkeras.keras3.operations import FUNCTIONS as _FUNCTIONS

__all__ = [name.removeprefix("image.") for name in _FUNCTIONS if name.startswith("image.")]  # pyright: ignore[reportUnsupportedDunderAll]
globals().update({name: _FUNCTIONS[f"image.{name}"] for name in __all__})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

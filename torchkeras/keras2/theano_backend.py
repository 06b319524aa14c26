"""What `keras.backend.theano_backend` has otherwise than `keras.backend`. Theano itself is not here."""

from __future__ import annotations

from typing import Any

from torchkeras.keras2 import backend as K

th_sparse_module = None


def resize_images(
    x: Any, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Any:
    """`K.resize_images`. NotImplementedError for "bilinear" with other factors than 2, as on Theano."""
    if interpolation == "bilinear" and (height_factor, width_factor) != (2, 2):
        raise NotImplementedError(
            f"Theano's bilinear upscaling has the factors (2, 2); found {(height_factor, width_factor)}. Use "
            "keras.backend.resize_images."
        )
    return K.resize_images(x, height_factor, width_factor, data_format, interpolation)

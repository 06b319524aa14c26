"""`keras.utils.bounding_boxes`: refused by name, with what torchvision has in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

INSTEAD = {
    "affine_transform": "torchvision.transforms.v2.functional.affine on torchvision.tv_tensors.BoundingBoxes",
    "clip_to_image_size": "torchvision.ops.clip_boxes_to_image",
    "compute_ciou": "torchvision.ops.complete_box_iou",
    "compute_iou": "torchvision.ops.box_iou",
    "convert_format": "torchvision.ops.box_convert",
    "crop": "torchvision.transforms.v2.functional.crop on torchvision.tv_tensors.BoundingBoxes",
    "decode_deltas_to_boxes": "torchvision.models.detection's BoxCoder, or the formula of your model",
    "encode_box_to_deltas": "torchvision.models.detection's BoxCoder, or the formula of your model",
    "pad": "torchvision.transforms.v2.functional.pad on torchvision.tv_tensors.BoundingBoxes",
}
__all__ = list(INSTEAD)  # pyright: ignore[reportUnsupportedDunderAll]


def _refused(name: str) -> Callable[..., NoReturn]:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"keras.utils.bounding_boxes.{name} is not here: use {INSTEAD[name]}.")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Refused: use {INSTEAD[name]}."
    return call


globals().update({name: _refused(name) for name in INSTEAD})

"""`tf.image`: boxes and patches, beside what `lambdas.tensorflow_functions` has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.lambdas import as_node
from torchkeras.keras2.backend.nodes import is_symbolic, sizes, tensor
from torchkeras.keras2.lambdas.keras_functions import Function
from torchkeras.keras2.lambdas.signatures import named
from torchkeras.keras2.lambdas.tensorflow_images import patches
from torchkeras.keras2.tf.arrays import on_tensors


class ResizeMethod:
    """The methods of `tf.image.resize_images`."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = range(4)


def _overlap(box: Tensor, others: Tensor) -> Tensor:
    """The intersection over union of a box with others; corners may be in any order."""
    low, high = torch.minimum(box[:2], box[2:]), torch.maximum(box[:2], box[2:])
    lows, highs = torch.minimum(others[:, :2], others[:, 2:]), torch.maximum(others[:, :2], others[:, 2:])
    inner = (torch.minimum(high, highs) - torch.maximum(low, lows)).clamp(min=0).prod(1)
    union = (high - low).prod() + (highs - lows).prod(1) - inner
    return torch.where(union > 0, inner / union, torch.zeros_like(inner))


def _suppressed(boxes: Any, scores: Any, count: Any, most: Any, least: Any) -> Tensor:
    boxes, scores = tensor(boxes), tensor(scores)
    left = scores.argsort(descending=True, stable=True)
    left = left[scores[left] > least]
    chosen: list[Tensor] = []
    while len(left) and len(chosen) < int(count):
        chosen.append(left[0])
        left = left[1:][_overlap(boxes[left[0]], boxes[left[1:]]) <= float(most)]
    return torch.stack(chosen).int() if chosen else left.new_zeros(0, dtype=torch.int32)


def non_max_suppression(boxes: Any, scores: Any, count: Any, most: Any, least: Any) -> Any:
    """The numbers of the boxes with the best scores that overlap no better one by more than a share."""
    given = [boxes, scores, count]
    if not is_symbolic(given):
        return _suppressed(boxes, scores, count, most, least)

    def compute(values: Any) -> Tensor:
        return _suppressed(values[0], values[1], values[2], most, least)

    return as_node("non_max_suppression", compute, given, lambda _: (None,))


def crop_and_resize(
    image: Any, boxes: Any, box_ind: Any, crop_size: Any, method: str, extrapolation_value: float
) -> Tensor:
    """Parts of images, each of one size; boxes are (top, left, bottom, right) from 0 to 1."""
    image, boxes = tensor(image), tensor(boxes)
    rows, columns = sizes(crop_size)[:2]
    height, width = image.shape[1:3]
    y = _places(boxes[:, 0], boxes[:, 2], height, rows)[:, :, None]
    x = _places(boxes[:, 1], boxes[:, 3], width, columns)[:, None, :]
    inside = ((y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)).unsqueeze(-1)
    number = tensor(box_ind).long()[:, None, None]

    def at(row: Tensor, column: Tensor) -> Tensor:
        return image[number, row.long().clamp(0, height - 1), column.long().clamp(0, width - 1)]

    if method == "nearest":
        found = at(y.round(), x.round())
    else:
        top, left = y.floor(), x.floor()
        down, right = (y - top).unsqueeze(-1), (x - left).unsqueeze(-1)
        upper = at(top, left) * (1 - right) + at(top, x.ceil()) * right
        lower = at(y.ceil(), left) * (1 - right) + at(y.ceil(), x.ceil()) * right
        found = upper * (1 - down) + lower * down
    return torch.where(inside, found, torch.full_like(found, extrapolation_value))


def _places(first: Tensor, last: Tensor, length: int, count: int) -> Tensor:
    """Where the samples of each box lie along an axis."""
    if count == 1:
        return ((first + last) * 0.5 * (length - 1)).unsqueeze(1)
    steps = torch.arange(count, device=first.device, dtype=first.dtype)
    return first.unsqueeze(1) * (length - 1) + steps * ((last - first) * (length - 1) / (count - 1)).unsqueeze(1)


NODES: Mapping[str, Function] = {
    "image.crop_and_resize": named(
        crop_and_resize, "image boxes box_ind crop_size method='bilinear' extrapolation_value=0"
    ),
    "image.extract_patches": on_tensors(named(patches, "images sizes strides rates padding")),
}
PLAIN: Mapping[str, Any] = {
    "image.ResizeMethod": ResizeMethod,
    "image.non_max_suppression": named(
        non_max_suppression, "boxes scores max_output_size iou_threshold=0.5 score_threshold=-1e38"
    ),
}

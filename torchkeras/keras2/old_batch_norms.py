"""Moving statistics as Keras 2 had them on TensorFlow. They follow the batch in training only, whatever a call says.

TensorFlow corrects the first steps, so that the statistics do not begin at 0 and 1:

    biased = momentum * biased + (1 - momentum) * batch, from 0 on; moving = biased / (1 - momentum ** steps)

So the first step of training sets the moving statistics to those of its batch. `biased` and `steps` are in no file, and
begin again with a layer that is loaded or cloned. What `set_weights` puts there stays until the next step of training.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch
from torch import Tensor

from torchkeras.base import extensions
from torchkeras.layers.normalization import BatchNormalization
from torchkeras.world.one_process import CURRENT

_make_modules, _normalize = BatchNormalization._make_modules, BatchNormalization._normalize
_moving = BatchNormalization._moving


def extend() -> None:
    """Let batch normalizations correct the first steps."""
    extensions.extend(BatchNormalization, _make_modules=make_modules, _moving=moving, _normalize=normalize)


@wraps(_make_modules)
def make_modules(layer: Any, input_shape: Any) -> None:
    """`_make_modules`, with `biased` and `steps`."""
    _make_modules(layer, input_shape)
    if _is_corrected(layer):
        channels = layer.norm.num_features
        for name, shape in (("biased_mean", (channels,)), ("biased_variance", (channels,)), ("steps", ())):
            layer.norm.register_buffer(name, torch.zeros(shape), persistent=False)


@wraps(_moving)
def moving(layer: Any, by_batch: bool) -> tuple[Tensor | None, Tensor | None]:
    """`_moving`; by the batch in training the biased statistics, and by the batch otherwise none."""
    if by_batch and not layer.training:
        return None, None
    found = _moving(layer, by_batch)
    if found[0] is None or not by_batch or not _is_corrected(layer):
        return found
    return layer.norm.biased_mean, layer.norm.biased_variance


@wraps(_normalize)
def normalize(layer: Any, inputs: Tensor, training: bool | None = None, mask: Tensor | None = None) -> Tensor:
    """`_normalize`, after which the moving statistics are the biased ones, corrected."""
    found = _normalize(layer, inputs, training, mask)
    norm, by_batch = layer.norm, layer._takes_batch(training)
    if by_batch and _is_corrected(layer) and layer._moving(by_batch)[0] is not None and _counts(layer):
        with torch.no_grad():
            norm.steps.add_(1)
            share = 1 - layer.momentum**norm.steps
            norm.running_mean.copy_(norm.biased_mean / share)
            norm.running_var.copy_(norm.biased_variance / share)
    return found


def _is_corrected(layer: Any) -> bool:
    """Whether the layer follows statistics as Keras 2 did on TensorFlow, not on Theano, and no later version."""
    return not layer.frozen_is_fixed and not layer.variance.endswith("+epsilon")


def _counts(layer: Any) -> bool:
    """Whether the statistics followed the batch: not those of a process whose part of it has no sample."""
    return CURRENT.batch.follows(layer.synchronized)

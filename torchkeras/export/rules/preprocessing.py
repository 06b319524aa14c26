"""What brings data into shape, and images changed at random."""

from __future__ import annotations

from typing import Any

import torch

from torchkeras import layers
from torchkeras.engine.symbol import dtype_of
from torchkeras.export.errors import EjectError
from torchkeras.export.network import Call, rule

RANDOM = (
    *(layers.RandomContrast, layers.RandomFlip, layers.RandomRotation, layers.RandomTranslation, layers.RandomZoom),
)


def floating(layer: Any, call: Call) -> int:
    """The input, integers as numbers of the layer's type."""
    if call.values[0].dtype.is_floating_point:
        return call.x
    return call.line(f"{{0}}.to({dtype_of(layer.compute_dtype)})", call.x)


@rule(layers.Rescaling)
def rescaling(layer: Any, call: Call) -> int:
    offset = f" + {layer.offset}" if layer.offset else ""
    return call.line(f"{{0}} * {layer.scale}{offset}", floating(layer, call))


@rule(*RANDOM)
def random_image(layer: Any, call: Call) -> int:
    call.note(
        f"{layer.name}: in training it changes nothing; {type(layer).__name__} is what torchvision has transforms for."
    )
    return floating(layer, call)


@rule(layers.Normalization)
def normalization(layer: Any, call: Call) -> int:
    raise EjectError(f"Normalization {layer.name!r}: eject does not write it yet.")


@rule(layers.CategoryEncoding)
def category_encoding(layer: Any, call: Call) -> int:
    if layer.output_mode != "one_hot" or layer.compute_dtype != "float32":
        raise EjectError(f"CategoryEncoding {layer.name!r}: eject writes output_mode 'one_hot' alone.")
    squeezed = ".squeeze(-1)" if len(call.values[0].shape) > 1 and call.values[0].shape[-1] == 1 else ""
    return call.line(f"F.one_hot({{0}}.long(){squeezed}, {layer.num_tokens}).to({torch.float32})", call.x)

"""The kinds of layers that a picture tells apart, and their colours in light and in dark."""

from __future__ import annotations

from typing import NamedTuple

from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers.core import Activation, Identity, Masking
from torchkeras.layers.functions import Lambda
from torchkeras.layers.torch_module import TorchModule


class Colours(NamedTuple):
    """The fill and the frame of boxes, in light and in dark."""

    fill: str
    frame: str
    dark_fill: str
    dark_frame: str


COLOURS = {
    "ends": Colours("#e5e7eb", "#6b7280", "#374151", "#9ca3af"),
    "weights": Colours("#dbeafe", "#2563eb", "#172e5c", "#60a5fa"),
    "convolution": Colours("#e0e7ff", "#4f46e5", "#2b2769", "#818cf8"),
    "pooling": Colours("#cffafe", "#0e7490", "#0e3f4d", "#22d3ee"),
    "recurrent": Colours("#fce7f3", "#be185d", "#561a3c", "#f472b6"),
    "normalization": Colours("#f0fdf4", "#4d9466", "#1b3526", "#86c79c"),
    "activation": Colours("#fef3c7", "#b45309", "#4d3309", "#fbbf24"),
    "merging": Colours("#ffe4e6", "#e11d48", "#561525", "#fb7185"),
    "shape": Colours("#f1f5f9", "#64748b", "#273244", "#94a3b8"),
    "random": Colours("#ffedd5", "#c2410c", "#53240c", "#fb923c"),
    "attention": Colours("#f3e8ff", "#9333ea", "#431a69", "#c084fc"),
    "function": Colours("#ecfccb", "#4d7c0f", "#2a3d10", "#a3e635"),
    "model": Colours("#ffffff", "#475569", "#1f2937", "#94a3b8"),
    "other": Colours("#f5f5f4", "#78716c", "#33302e", "#a8a29e"),
}

# A layer has the kind of the first of its classes that is here, by itself or by the file that it is in.
CLASSES: dict[type, str] = {
    InputLayer: "ends",
    Network: "model",
    Operation: "function",
    Lambda: "function",
    TorchModule: "function",
    Activation: "activation",
    Identity: "other",
    Masking: "other",
}
FILES = {
    **dict.fromkeys(("core", "einsum", "embedding", "local", "keras1"), "weights"),
    **dict.fromkeys(("conv", "separable", "transposed"), "convolution"),
    **dict.fromkeys(("pooling", "global_pooling", "adaptive_pooling"), "pooling"),
    **dict.fromkeys(("recurrent", "conv_recurrent", "cells"), "recurrent"),
    **dict.fromkeys(("normalization", "layer_normalization", "preprocessing"), "normalization"),
    "activation": "activation",
    "merging": "merging",
    **dict.fromkeys(("shaping", "resize", "image_preprocessing"), "shape"),
    **dict.fromkeys(("noise", "augmentation"), "random"),
    **dict.fromkeys(("attention", "multi_head_attention"), "attention"),
}


def kind_of(layer: Layer) -> str:
    """The kind of a layer; of one that applies another, such as TimeDistributed, the other's."""
    while isinstance(wrapped := getattr(layer, "layer", None), Layer):
        layer = wrapped
    for base in type(layer).__mro__:
        room, _, file = base.__module__.rpartition(".")
        found = CLASSES.get(base) or (FILES.get(file) if room == "torchkeras.layers" else None)
        if found:
            return found
    return "other"

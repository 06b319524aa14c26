"""Random inputs that a model can compute on, with masked steps where it has masks."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import torch
from torch import Tensor

from torchkeras import layers
from torchkeras.base.texts import STRING, keras_shape, tensor_of_strings
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape, index_of
from torchkeras.export.plain import facts

BATCH, BATCHES = 3, 2
UNKNOWN = (7, 16, 33, 64, 128)  # sizes to try for unknown axes
MOVING = (layers.Reshape, layers.Flatten, layers.Permute, layers.RepeatVector, layers.Dropout, layers.Operation)


def samples(network: Any, seed: int = 0) -> Iterator[list[list[Tensor]]]:
    """Lists of inputs for some consecutive calls; each item tries other sizes for unknown axes."""
    inputs = facts.graph_of(network).inputs
    unknown = any(None in tensor.shape[1:] for tensor in inputs)
    bounds = [_bound(network, tensor) for tensor in inputs]
    hidden = [m.mask_value for m in network.modules() if isinstance(m, layers.Masking)]
    for size in UNKNOWN if unknown else UNKNOWN[:1]:
        generator = torch.Generator().manual_seed(seed)
        yield [
            [
                _strings(network, tensor, size, generator)
                if tensor.dtype == STRING
                else _sample(tensor, bound, size, generator, hidden)
                for tensor, bound in zip(inputs, bounds, strict=True)
            ]
            for _ in range(BATCHES)
        ]


def _sizes(shape: Shape, size: int) -> list[int]:
    first = BATCH if shape[0] is None else shape[0]
    return [first, *(size if known is None else known for known in shape[1:])]


def _sample(
    tensor: KerasTensor, bound: int | None, size: int, generator: torch.Generator, hidden: list[float]
) -> Tensor:
    sizes = _sizes(tensor.shape, size)
    if tensor.dtype is torch.bool:
        return torch.rand(sizes, generator=generator) < 0.7
    if bound is not None or not tensor.dtype.is_floating_point:
        found = torch.randint(0, bound or 10, sizes, generator=generator)
        if len(sizes) > 1:
            found[1:, sizes[1] // 2 + 1 :] = 0  # an Embedding with mask_zero masks these
        return found.to(tensor.dtype)
    found = torch.randn(sizes, generator=generator)
    if hidden and len(sizes) > 2:
        found[1:, sizes[1] // 2 + 1 :] = hidden[0]
        found[2:, :1] = hidden[0]
    return found.to(tensor.dtype)


def _strings(network: Any, tensor: KerasTensor, size: int, generator: torch.Generator) -> Tensor:
    """Strings of up to three words, some of which the network's vocabularies have."""
    lookups = [module for module in network.modules() if isinstance(module, layers.StringLookup)]
    words = ["?", "Unknown,", *(word for lookup in lookups for word in lookup.get_vocabulary()[:100])]
    shape = _sizes(keras_shape(tensor), size)
    chosen = torch.randint(len(words), (prod(shape), 3), generator=generator).tolist()
    texts = [" ".join(words[place] for place in row[: 1 + index % 3]) for index, row in enumerate(chosen)]
    return tensor_of_strings(texts, "A sample").view(*shape, -1)


def _bound(network: Any, tensor: KerasTensor) -> int | None:
    """The vocabulary size of the Embedding that takes an input; None if no Embedding does."""
    graph = facts.graph_of(network)
    found = [
        _bound_of(node.layer, node, tensor) for node in graph.nodes if index_of(tensor, node.input_tensors) is not None
    ]
    return min((bound for bound in found if bound is not None), default=None)


def _bound_of(layer: Any, node: Any, tensor: KerasTensor) -> int | None:
    if isinstance(layer, layers.Embedding):
        return layer.input_dim
    if isinstance(layer, layers.CategoryEncoding):
        return layer.num_tokens
    if isinstance(layer, layers.TimeDistributed):
        return _bound_of(layer.layer, node, tensor)
    if facts.is_network(layer):
        inputs = zip(node.input_tensors, facts.graph_of(layer).inputs, strict=True)
        return _bound(layer, next(inner for outer, inner in inputs if outer is tensor))
    if isinstance(layer, MOVING) and len(node.output_tensors) == 1:
        users = [use for use in layer._outbound_nodes if index_of(node.outputs, use.input_tensors) is not None]
        found = [_bound_of(use.layer, use, node.outputs) for use in users if use.layer is not layer]
        return min((bound for bound in found if bound is not None), default=None)
    return None

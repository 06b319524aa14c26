"""Networks in evaluation with batch normalizations folded: each is part of the layer before it.

In evaluation batch normalization is a product and a sum for each channel, `scale * y + shift`, and so is the end of a
convolution or Dense, `y = x @ kernel + bias` (`Facts.affine`, `Facts.product`). Both in one are the same layer with
the kernel `kernel * scale` and the bias `bias * scale + shift`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from math import inf, prod
from operator import is_
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from torchkeras.activations import linear
from torchkeras.base.torch_tables import own_modules
from torchkeras.engine.dtypes import is_mixed
from torchkeras.engine.facts import facts_of, is_own
from torchkeras.engine.graph import trace
from torchkeras.engine.graph.layer_calls import HookFreeCalls, has_hooks
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import Node

# The axis of outputs of a kernel. For these classes alone: to parametrize or quantize a module changes its class.
OUTPUT_AXES: dict[type[nn.Module], int] = {
    **dict.fromkeys((nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d), 0),
    **dict.fromkeys((nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d), 1),
}
# Without its kernel, a fold takes as long as normalizing some 200,000 values. No fold is stored from one prediction to
# the next, since some changes of a weight cannot be seen (`weight.data.mul_(2)`).
CALLS_WORTH = 400_000

Kind = TypeVar("Kind", bound=nn.Module)


@dataclass(frozen=True)
class Fold:
    """A layer, the normalization after it, and a layer that computes both."""

    layer: Layer
    norm: Layer
    both: Layer


class Merged(HookFreeCalls):
    """`run` computes as a network in evaluation does, for so many samples: by folded layers while nothing observes any.

    `samples`: None where it is not known. The weights are those at the time when it was made.
    """

    def __init__(self, network: Network, samples: int | None):
        self._samples = inf if samples is None else samples
        super().__init__(network)

    def _computing(self) -> Layer:
        network: Any = self._network
        with torch.no_grad():
            return network if self.observed() else merged(network, self._samples)


class Nothing(Layer, abstract=True):
    """Its input: what is left of a normalization that another layer computes."""

    def forward(self, inputs: Any) -> Any:
        return inputs


NOTHING = Nothing(name="nothing")
NOTHING.built = True


def merged(network: Network, samples: float = inf) -> Network:
    """The network, in evaluation, over folded layers where this saves more than it costs for so many samples.

    All others are the network's own, so it must not be changed; it is the network itself when there is nothing to fold.
    """
    if not _is_its_graph(network):
        return network
    instead: dict[Any, Layer] = {}
    for fold in folds(network, samples):
        instead[fold.layer], instead[fold.norm] = fold.both, NOTHING
    for inner in _inner_networks(network).values():
        instead[inner] = merged(inner, samples)
    modules = {key: instead.get(module, module) for key, module in own_modules(network).items()}
    if all(map(is_, modules.values(), own_modules(network).values())):
        return network
    # It shares the functions of the network itself, whose layers the graph has, and runs them over its own.
    return _like(network, _modules=modules)


def frozen(network: Network, copied: dict[int, Any] | None = None) -> Network:
    """A copy of a network in evaluation, folded, whose weights record no gradients.

    `copied`: the memo of `copy.deepcopy`, so that what models share is shared in their copies.
    """
    copied = {} if copied is None else copied
    if not _is_its_graph(network):
        return copy.deepcopy(network, copied).requires_grad_(False)
    layers, inner_networks = graph_of(network).layers, _inner_networks(network)
    both: dict[Layer, Layer] = {}
    gaps: dict[int, int] = {}
    for fold in folds(network):
        both[fold.layer] = both[fold.norm] = fold.both
        gaps[layers.index(fold.norm)] = layers.index(fold.layer)
    copies: list[Layer] = []
    for layer in layers:
        if layer in inner_networks:
            copies.append(frozen(inner_networks[layer], copied))
        else:
            copies.append(copy.deepcopy(both.get(layer, layer), copied))
    made = Network(name=network.name)
    made._connect_like(network, trace.rebuild(copies, trace.bridged(trace.edges(graph_of(network)), gaps)))
    return made.requires_grad_(False)


def _inner_networks(network: Network) -> dict[Layer, Network]:
    """The networks directly inside one that follow its mode."""
    layers = graph_of(network).layers
    return {each: each for each in layers if isinstance(each, Network) and not _has_own_mode(network, each)}


def _has_own_mode(network: Network, layer: Layer) -> bool:
    """Whether some call of a layer has a `training` of its own."""
    return any("training" in node.arguments for node in graph_of(network).nodes_of(layer))


def folds(network: Network, samples: float = inf) -> list[Fold]:
    """What can be folded in a network in evaluation, and is worth it for so many samples."""
    found = []
    for before, node in graph_of(network).chained:
        values = samples * _size(node) - CALLS_WORTH  # the most that a kernel may have, which is scaled
        if values >= 0 and _can_join(before, node) and (fold := _fold(before, node, values)) is not None:
            found.append(fold)
    return found


def _size(node: Node) -> float:
    """The number of values in the input of a call for each sample; infinite where it is not known."""
    sizes: Any = node.input_shapes[0][1:]
    return inf if None in sizes else prod(sizes)


def _can_join(before: Node, node: Node) -> bool:
    """Whether a product and a sum, and nothing else, may follow the kernel of the call before."""
    layer: Any = before.layer
    norm, (tensor,) = node.layer, node.input_tensors
    return (
        _says(norm, "affine")
        and _says(layer, "product")
        and type(own_modules(layer).get(facts_of(layer).product)) in OUTPUT_AXES
        and layer.activation is linear
        and not any(map(is_mixed, (layer, norm)))  # whose kernels are cast to less range
        and layer.activity_regularizer is None
        and tensor.keras_mask is None
        and not (before.arguments or node.arguments)
        and not any(map(has_hooks, (layer, norm, *layer.children(), *norm.children())))
    )


def _fold(before: Node, node: Node, values: float) -> Fold | None:
    """The two calls as one; None for a kernel of more than so many values, or for tensors that do not fit."""
    layer: Any = before.layer
    product = facts_of(layer).product
    module, (tensor,) = own_modules(layer)[product], node.input_tensors
    if module.weight.numel() > values:  # as the values that are normalized, each is read and written once
        return None
    affine = facts_of(node.layer).affine()
    if affine is None or not _folds_into(affine, module, getattr(layer, "_axis_of_channels", -1), tensor.ndim):
        return None
    scaled = _scaled(module, *affine[1:])
    if module.weight.dtype is torch.float16 and not all(each.isfinite().all() for each in scaled.parameters()):
        return None  # outputs may be in the range of float16 where the scaled kernel is not
    inside = {**own_modules(layer), product: scaled}
    return Fold(layer, node.layer, _like(layer, _modules=inside, use_bias=True))


def _folds_into(affine: tuple[int, Tensor, Tensor], module: Any, channel_axis: int, ndim: int) -> bool:
    """Whether a scale is for a module's outputs, and all tensors are torch's own and on one device."""
    axis, scale, _ = affine
    tensors = [tensor for tensor in (scale, module.weight, module.bias) if tensor is not None]
    plain = all(type(tensor) in (Tensor, nn.Parameter) and tensor.device == scale.device for tensor in tensors)
    outputs = module.weight.shape[OUTPUT_AXES[type(module)]]
    return plain and axis % ndim == channel_axis % ndim and len(scale) == outputs


def _scaled(module: Any, scale: Tensor, shift: Tensor) -> nn.Module:
    """A module of a kernel and a bias that gives `scale * y + shift` where this one gives y."""
    kernel, axis = module.weight, OUTPUT_AXES[type(module)]
    sizes = [1] * kernel.dim()
    sizes[axis] = -1
    weight = kernel * scale.view(sizes)
    bias = shift if module.bias is None else torch.addcmul(shift, scale, module.bias)
    return _like(module, _parameters={"weight": _constant(weight, kernel.dtype), "bias": _constant(bias, kernel.dtype)})


def _constant(value: Tensor, dtype: torch.dtype) -> nn.Parameter:
    return nn.Parameter(value.to(dtype), requires_grad=False)


def _like(module: Kind, **changed: Any) -> Kind:
    """A module with all attributes of another, the same tensors and modules, except for those that are changed."""
    made = object.__new__(type(module))
    made.__dict__.update(module.__dict__, **changed)
    return made


def _is_its_graph(network: Network) -> bool:
    """Whether a network computes what its graph says, and nothing else."""
    return facts_of(network).says("hook_free") and not has_hooks(network)


def _says(layer: Layer, name: str) -> bool:
    """Whether a layer of this package says `name` of its `forward`: a class of the user's may override parts of it."""
    return is_own(type(layer)) and facts_of(layer).says(name)

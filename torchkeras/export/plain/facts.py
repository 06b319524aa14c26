"""What eject asks of layers and graphs, besides options and modules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.nn.utils import parametrize

from torchkeras import config
from torchkeras.base.nested import leaves
from torchkeras.engine.dtypes import is_mixed
from torchkeras.engine.facts import takes
from torchkeras.engine.graph import trace
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.graph.network import Network, keys_of_form, output_form_of
from torchkeras.engine.graph.trace import Graph, has_own_code
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.shapes.output_shapes import overrides
from torchkeras.engine.symbolic.axis_order import Layout, axis_channels_first
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape
from torchkeras.export.errors import EjectError
from torchkeras.layers.torch_module import TorchModule


def graph_of(network: Network) -> Graph:
    """The graph of a model. Raises RuntimeError when it has none yet."""
    return trace.graph_of(network)


def is_network(layer: Layer) -> bool:
    """Whether a layer is a model."""
    return isinstance(layer, Network)


def check_graph(network: Any) -> None:
    """Raise EjectError for a model whose class computes by its own code, not by its graph."""
    if has_own_code(network):
        raise EjectError(
            f"{title_of(network)}: its class computes by code of its own, which eject cannot write: it writes models "
            "of calls of layers on symbolic tensors."
        )


def output_keys(network: Any) -> list[str] | None:
    """The keys of a model's outputs, in order, if they are a dict with texts as keys; else None."""
    keys = keys_of_form(output_form_of(network))
    return keys if keys and all(isinstance(key, str) for key in keys) else None


def is_input(layer: Layer) -> bool:
    """Whether a layer is an input of a graph."""
    return isinstance(layer, InputLayer)


def input_name(tensor: KerasTensor) -> str:
    """The name of the layer of a model's input."""
    return tensor.keras_history.layer.name


def layout_of(layer: Layer) -> Layout:
    """The order of axes that a layer computes in."""
    return layer._facts.layout


def layouts(layer: Layer, ndims: Sequence[int], firsts: Sequence[bool]) -> tuple[Layout, int | None]:
    """The order of axes of a layer's inputs and outputs, and the place of its `axis` in it.

    `ndims`: the numbers of axes of the inputs. `firsts`: whether each has its channels first.
    """
    kind = layout_of(layer)
    if kind not in (Layout.ANY, Layout.AXIS):
        return kind, None
    axis = layer._facts.axis if kind is Layout.AXIS else None
    if len(set(ndims)) > 1 or not any(firsts):
        return Layout.KERAS, axis
    return Layout.CHANNELS_FIRST, None if axis is None else axis_channels_first(axis, ndims[0])


def wanted_type(layer: Layer, dtype: torch.dtype, index: int) -> torch.dtype:
    """The type to which a layer casts an input of this type."""
    return (layer._input_type(index) or dtype) if dtype.is_floating_point else dtype


def mixed_type(layer: Layer) -> str:
    """The 16-bit type in which a layer with wider weights computes; "" for others."""
    return layer.compute_dtype if is_mixed(layer) else ""


def takes_mask(layer: Layer) -> bool:
    """Whether a layer's computation depends on masks."""
    return takes(layer, "mask")


def passes_mask(layer: Layer) -> bool:
    """Whether a layer passes its input's mask on unchanged."""
    return not overrides(layer, "compute_mask")


def outputs_for(layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> list[KerasTensor]:
    """The symbolic outputs of a call that no graph has."""
    outputs, _ = layer._infer_outputs(inputs, masks, arguments)
    return leaves(outputs)


def foreign_module(layer: Layer) -> torch.nn.Module | None:
    """A module that a user has put in the place of one of the layer's own; None if there is none."""
    if isinstance(layer, TorchModule):
        return None
    inside = [module for name, module in layer.named_children() if not name.endswith("activation")]
    known = ("torch.nn.", "torchkeras.")
    return next((m for m in inside if not isinstance(m, Layer) and not type(m).__module__.startswith(known)), None)


def tensors_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The tensors of a torch module by name; for a parametrized module its current values."""
    if not parametrize.is_parametrized(module):
        return module.state_dict()
    made: Any = module.parametrizations
    kept = {name: t for name, t in module.state_dict().items() if not name.startswith("parametrizations.")}
    return {**{name: getattr(module, name).detach() for name in made}, **kept}


def is_frozen(module: torch.nn.Module) -> bool:
    """Whether a module has parameters and none is to be trained."""
    parameters = list(module.parameters())
    return bool(parameters) and not any(parameter.requires_grad for parameter in parameters)


def stateful_layers(network: torch.nn.Module) -> list[Any]:
    """The recurrent layers that carry states from batch to batch."""
    return [m for m in network.modules() if isinstance(m, Layer) and not is_network(m) and m.stateful is True]


def epsilon() -> float:
    """Keras's small number that prevents divisions by zero."""
    return config.epsilon()


def batch_of(shape: Shape) -> int | None:
    """The size of the batch, if the graph fixes it."""
    return shape[0]


def title_of(network: Any) -> str:
    """A model's class and name for messages and docstrings: a name from a file may hold any character."""
    name = re.sub(r"[^0-9A-Za-z_. /-]+", "_", network.name)
    return f"{type(network).__name__} '{name}'"


def inner_layers(network: Any) -> list[Layer]:
    """The layers of a model and of all its inner models."""
    return [module for module in network.modules() if isinstance(module, Layer)]

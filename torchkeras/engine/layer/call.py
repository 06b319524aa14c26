"""A call of a layer: on symbolic tensors it adds a node to the graph, on real ones it computes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.fx import Proxy

from torchkeras.base.dtypes import dtype_name, dtype_of
from torchkeras.base.nested import POSITIONAL, leaves, mapped, taken_apart
from torchkeras.base.texts import STRING
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.building.building import in_first_run
from torchkeras.engine.dtypes import by_policy, follows_policy
from torchkeras.engine.facts import facts_of
from torchkeras.engine.modes import call_module, in_mode
from torchkeras.engine.shapes import output_shapes
from torchkeras.engine.symbolic.axis_order import Layout, convert, to_channels_first, to_keras
from torchkeras.engine.symbolic.tensor import (
    History,
    KerasTensor,
    Node,
    Shape,
    as_list,
    unpacked,
)

MOST_REMEMBERED = 64  # shapes of inputs, in each layer
ABOUT_TYPES = re.compile(r"dtype|scalar type|type \(")  # torch's errors


def training_of(layer: AnyLayer, arguments: dict[str, Any]) -> bool | None:
    """The argument `training` of a call, removed from its arguments where the layer's own code has none."""
    training = arguments.get("training")
    if "training" not in layer._call_parameters:
        arguments.pop("training", None)
    if training is None:
        return None
    if training not in (0, 1):
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: training must be True, False or None; found {training!r}."
        )
    return bool(training)


# --- on real tensors -------------------------------------------------------------------------------------------------


def call_on_tensors(layer: AnyLayer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a layer on real tensors, in the mode that the argument `training` says."""
    training = training_of(layer, kwargs)
    if training is None or not (layer._is_users or layer._modules or "training" not in layer._call_parameters):
        return compute(layer, args, kwargs)
    with in_mode(training, layer):
        return compute(layer, args, kwargs)


def compute(layer: AnyLayer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a layer on real tensors, in Keras's order of axes and by its dtype policy; the first call builds it."""
    tensors = _checked_tensors(layer, args, kwargs)
    run = partial(in_keras_order, facts_of(layer).layout, partial(call_module, layer))
    if tensors and _casts(layer):
        run = partial(by_policy, layer, run)
    if is_compiling():
        return run(*args, **kwargs)
    try:
        return run(*args, **kwargs)
    except RuntimeError as error:
        _refuse_type(layer, tensors, error)
        raise


def compute_and_remember(layer: AnyLayer, tensor: torch.Tensor) -> Any:
    """Call a layer on one tensor, and remember its shape and type: further calls with such a tensor need no checks."""
    outputs = compute(layer, (tensor,), {})
    is_plain = layer.input_spec is None and facts_of(layer).layout is not Layout.CHANNELS_FIRST and not tensor.is_meta
    if is_plain and not _casts(layer):
        known = layer._taken_plainly
        if len(known) >= MOST_REMEMBERED:
            known.clear()
        known.add((tensor.shape, tensor.dtype))
    return outputs


def _casts(layer: AnyLayer) -> bool:
    """Whether a call of the layer on real tensors casts by its dtype policy."""
    return layer._tells_policy and follows_policy(layer) and not in_first_run()


def _checked_tensors(layer: AnyLayer, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """The tensors of the first argument, after checks of their types and shapes; builds the layer in its first call."""
    inputs = args or (next(iter(kwargs.values()), None),)
    tensors = leaves(inputs[0])
    # While torch.jit traces, sizes are tensors, and it warns of comparing these.
    if layer.built and torch.jit.is_tracing():  # type: ignore[reportPrivateImportUsage]
        return tensors
    _check_types(layer, tensors)
    layer._build(*_shapes_of(layer, inputs))
    mask = kwargs.get("mask")
    if tensors and isinstance(mask, torch.Tensor) and not (layer._is_users or is_compiling()):
        layer._check_mask(mask, tensors[0])
    return tensors


def _refuse_type(layer: AnyLayer, tensors: list[Any], error: RuntimeError) -> None:
    """Raise TypeError, with advice, when torch's error is about tensors of another type than the weights."""
    own = next((each.dtype for each in layer.parameters() if each.is_floating_point()), None)
    other = next((each.dtype for each in tensors if each.dtype != own), None)
    if own is not None and other is not None and ABOUT_TYPES.search(str(error)):
        raise TypeError(
            f"{type(layer).__name__} {layer.name!r} has weights of {dtype_name(own)} and was called on a tensor of "
            f"{dtype_name(other)}: give x.to({own})."
        ) from error


def check_mask(layer: AnyLayer, mask: torch.Tensor, inputs: torch.Tensor) -> None:
    """Raise ValueError for a mask that does not have a bool for each time step of the inputs."""
    if mask.dtype is not torch.bool:
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: the mask must be of torch.bool; found {mask.dtype}: give "
            "mask.bool()."
        )
    shape = tuple(inputs.shape)
    if getattr(layer, "data_format", None) == "channels_first":
        shape = (shape[0], *shape[2:], shape[1])
    if mask.dim() >= max(inputs.dim(), 3) or tuple(mask.shape) != shape[: mask.dim()]:
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: the mask must have the shape {shape[:2]}, a value "
            f"for each time step of the input {tuple(inputs.shape)}; found {tuple(mask.shape)}."
        )


def _check_types(layer: AnyLayer, tensors: list[Any]) -> None:
    """Raise ValueError for a tensor of another type than its `input_spec` has."""
    if layer.input_spec is None:
        return
    for index, (tensor, spec) in enumerate(zip(tensors, as_list(layer.input_spec), strict=False)):
        expected = getattr(spec, "dtype", None)  # a spec may be None
        if expected is not None and dtype_of(expected) != tensor.dtype:
            raise ValueError(
                f"Input {index} is incompatible with layer {layer.name}: expected dtype={expected}, "
                f"found dtype={dtype_name(tensor.dtype)}"
            )


def _check_takes_strings(layer: AnyLayer, tensors: list[Any]) -> None:
    """Raise TypeError for strings that go into a layer which computes with numbers."""
    if STRING not in [tensor.dtype for tensor in tensors]:
        return
    facts = facts_of(layer)
    if not (facts.takes_strings or facts.runs_users_code or layer._is_users):
        raise TypeError(
            f"{type(layer).__name__} {layer.name!r} takes numbers; found strings. Call TextVectorization, StringLookup "
            "or Hashing on them first."
        )


# --- on symbolic tensors ---------------------------------------------------------------------------------------------


def call_symbolically(layer: AnyLayer, symbolic: list[Any], args: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """The symbolic outputs for symbolic inputs. Adds a node for the call; the first call builds the layer.

    While torch.fx traces the code around the layer, its inputs and outputs are torch.fx's.
    """
    if isinstance(symbolic[0], Proxy):
        return call_traced(symbolic[0].tracer, layer, args, arguments)
    mask = arguments.pop("mask", None)
    training = training_of(layer, arguments)
    if not args and "inputs" in arguments:
        args = (arguments.pop("inputs"),)
    unknown = set(arguments) - layer._call_parameters
    if unknown and not layer._takes_any:
        raise TypeError(f"{type(layer).__name__} {layer.name!r}: its call takes no argument {min(unknown)!r}.")
    if not arguments and _are_inputs(layer, args, symbolic):
        (inputs,), tensors, shapes = args, symbolic, [[tensor.shape for tensor in symbolic]]
    else:
        inputs, tensors, arguments = _node_arguments(layer, args, arguments)
        shapes = _shapes_of(layer, args or (unpacked(tensors),))
    if training is not None:
        arguments["training"] = training
    _check_types(layer, tensors)
    _check_takes_strings(layer, tensors)
    layer._build(*shapes)
    masks = [tensor.keras_mask for tensor in tensors]
    if mask is not None:
        _refuse_other_mask(layer, mask, masks)
    if isinstance(inputs, list):
        inputs = list(inputs)  # a copy: the caller may change its list afterwards
    outputs, output_masks = layer._infer_outputs(inputs, masks, arguments)
    _enter(layer, leaves(outputs), output_masks)
    attach(Node(layer, inputs, outputs, arguments), tensors)
    return outputs


def call_traced(tracer: Any, layer: AnyLayer, args: tuple[Any, ...], arguments: Mapping[str, Any]) -> Any:
    """A call of a layer as torch.fx sees it: one `call_module`, whatever the tracer says of leaves.

    The code of layers asks for sizes and types, which torch.fx does not know.
    """

    def leaf(*args: Any, **arguments: Any) -> Proxy:
        return tracer.create_proxy("call_module", tracer.path_of_module(layer), args, arguments)

    return tracer.call_module(layer, leaf, args, arguments)


def repeat(node: Node, instead: Mapping[Any, KerasTensor]) -> list[KerasTensor]:
    """Add the call of a node once more, on other symbolic tensors in the place of some; returns its outputs."""
    layer, tensors = node.layer, [instead.get(tensor, tensor) for tensor in node.input_tensors]
    inputs = tensors if isinstance(node.inputs, list) else unpacked(tensors)
    outputs, output_masks = layer._infer_outputs(inputs, [tensor.keras_mask for tensor in tensors], node.arguments)
    found = leaves(outputs)
    _enter(layer, found, output_masks)
    attach(Node(layer, inputs, outputs, node.arguments), tensors)
    return found


def _enter(layer: AnyLayer, outputs: list[KerasTensor], masks: list[Any]) -> None:
    """Give the symbolic outputs of the layer's next call their names, masks and history."""
    node_index = len(layer._call_nodes)
    for index, (tensor, mask) in enumerate(zip(outputs, masks, strict=True)):
        tensor.name = f"{layer.name}:{node_index}:{index}"
        tensor.keras_history = History(layer, node_index, index)
        tensor.keras_mask = mask
    if node_index == 0 and outputs:
        outputs[0].name = layer.name


def _refuse_other_mask(layer: AnyLayer, mask: Any, masks: list[Any]) -> None:
    """Raise ValueError for a mask passed to a symbolic call that is not the one of its input."""
    for passed, own in zip(as_list(mask), masks, strict=False):
        if passed is not own:
            raise ValueError(
                f"{type(layer).__name__} {layer.name!r}: the mask of a symbolic call is that of its inputs; found "
                "another one. Let a layer make it, such as Masking or Embedding(mask_zero=True)."
            )


def attach(node: Node, inputs: list[KerasTensor]) -> None:
    """Register a node with its layer, as a call, and with the layers that its inputs come from."""
    node.layer._call_nodes.append(node)
    for tensor in inputs:
        tensor.keras_history.layer._outbound_nodes.append(node)


def _node_arguments(
    layer: AnyLayer, args: tuple[Any, ...], arguments: dict[str, Any]
) -> tuple[Any, list[Any], dict[str, Any]]:
    """(inputs, tensors, arguments) of a node: the inputs, the same as a list, and the other arguments.

    The inputs are one tensor or a list of tensors, where only the first argument holds any; else all tensors, with
    slots for them in the arguments.
    """
    _check_symbolic(layer, args)
    form, tensors = taken_apart((args, arguments))
    if _are_inputs(layer, args, tensors):
        return args[0], tensors, arguments
    try:
        layer._call_signature.bind(layer, *args, **arguments)
    except TypeError as error:
        raise TypeError(f"{type(layer).__name__} {layer.name!r}: its call: {error}.") from error
    _check_symbolic(layer, tensors)
    return tensors, tensors, {POSITIONAL: list(form[0]), **form[1]}


def _check_symbolic(layer: AnyLayer, value: Any) -> None:
    """Raise ValueError for a real tensor or array, also in lists."""
    if isinstance(value, (list, tuple)):
        for item in value:
            _check_symbolic(layer, item)
    elif isinstance(value, (torch.Tensor, np.ndarray)):
        raise ValueError(
            f"Layer {layer.name} was called with an input that isn't a symbolic tensor: found "
            f"{type(value).__name__}. All inputs to the layer should be symbolic tensors."
        )


# --- shapes ----------------------------------------------------------------------------------------------------------


def in_keras_order(layout: Layout, compute: Any, *args: Any, **kwargs: Any) -> Any:
    """Call `compute`, which works in `layout`, with inputs and outputs in Keras's order of axes."""
    if layout is not Layout.CHANNELS_FIRST:
        return compute(*args, **kwargs)
    inputs, *others = args
    return convert(compute(convert(inputs, to_channels_first), *others, **kwargs), to_keras)


def _are_inputs(layer: AnyLayer, args: tuple[Any, ...], tensors: list[KerasTensor]) -> bool:
    """Whether arguments are exactly these symbolic tensors: one tensor, or one plain list or tuple of them.

    A tuple that the layer's code gets as one has its form among the arguments.
    """
    if len(args) != 1:
        return False
    items = args
    if isinstance(args[0], list) or (type(args[0]) is tuple and not facts_of(layer).keeps_tuples):
        items = args[0]
    return list(map(id, items)) == list(map(id, tensors))


def _shape_of(layer: AnyLayer, value: Any) -> Shape:
    if not isinstance(value, (torch.Tensor, KerasTensor)):
        advice = "Make a tensor of it with torch.as_tensor, or give arrays to `predict`."
        if isinstance(value, nn.Module):
            kind = type(value).__name__
            advice = f"Call that layer first, and give its output: {type(layer).__name__}(...)({kind}(...)(x))."
        elif isinstance(value, str):
            advice = "A model of strings takes a list of them, also of one."
        raise TypeError(
            f"{type(layer).__name__} {layer.name!r} takes torch tensors; found {type(value).__name__}. {advice}"
        )
    return output_shapes.seen_shape(value.shape) if in_first_run() else tuple(value.shape)


def _shapes_of(layer: AnyLayer, args: tuple[Any, ...]) -> list[Any]:
    """The shapes of each argument that holds tensors: those of the first as a list, the others nested as passed."""
    first, *others = args
    further = [mapped(value, partial(_shape_of, layer)) for value in others if leaves(value)]
    return [[_nested_shapes(layer, item) for item in as_list(first)], *further]


def _nested_shapes(layer: AnyLayer, value: Any) -> Any:
    if value is None or leaves(value):
        return mapped(value, partial(_shape_of, layer))
    return _shape_of(layer, value)


# --- views of calls: the inputs, outputs, shapes and masks of each node, or of all where they agree -------------------


def _masks(tensors: Sequence[KerasTensor]) -> list[Any]:
    return [tensor.keras_mask for tensor in tensors]


# By the name in errors: how to read it from a node.
VIEWS: Mapping[str, Callable[[Node], list[Any]]] = {
    "input": lambda node: node.input_tensors,
    "output": lambda node: node.output_tensors,
    "input shape": lambda node: node.input_shapes,
    "output shape": lambda node: node.output_shapes,
    "input mask": lambda node: _masks(node.input_tensors),
    "output mask": lambda node: _masks(node.output_tensors),
}


def of_call(layer: AnyLayer, node_index: int, what: str) -> Any:
    """The view of one call. Raises RuntimeError before the first call, and ValueError where there is no such call."""
    nodes = layer._inbound_nodes
    if not nodes:
        raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
    if not -len(nodes) <= node_index < len(nodes):
        raise ValueError(
            f"Asked to get {what} at node {node_index}, but the layer has only {len(nodes)} inbound nodes."
        )
    return unpacked(VIEWS[what](nodes[node_index]))


def of_single_call(layer: AnyLayer, what: str) -> Any:
    """The view of the only call. Raises AttributeError when there is none or more than one."""
    nodes = layer._inbound_nodes
    if len(nodes) > 1:
        raise AttributeError(
            f"Layer {layer.name} has multiple inbound nodes, hence the notion of 'layer {what}' is ill-defined. "
            f"Use `get_{what.replace(' ', '_')}_at(node_index)` instead."
        )
    if not nodes:
        raise AttributeError(f"Layer {layer.name} is not connected, no {what} to return.")
    return unpacked(VIEWS[what](nodes[0]))


def of_all_calls(layer: AnyLayer, what: str) -> Any:
    """The view that all calls share. Raises AttributeError when there is no call, or they differ."""
    nodes = layer._inbound_nodes
    if not nodes:
        raise AttributeError(f"The layer has never been called and thus has no defined {what}.")
    found = {tuple(VIEWS[what](node)) for node in nodes}
    if len(found) > 1:
        raise AttributeError(
            f"The layer {layer.name!r} has multiple inbound nodes with different {what.partition(' ')[0]} shapes. "
            f"Hence the notion of {what!r} is ill-defined for the layer. "
            f"Use `get_{what.replace(' ', '_')}_at(node_index)` instead."
        )
    return unpacked(list(found.pop()))

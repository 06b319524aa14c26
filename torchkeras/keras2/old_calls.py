"""What scripts for Keras 1 and 2 call on symbolic tensors too; `extend()` lets them.

`layer.call(x)`, `layer.compute_mask(x)` and `layer.get_initial_state(x)` give nodes of the graph, and `initial_state=`
takes variables. A layer called on a variable says whether its output has other values in training.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch
from torch import Tensor

from torchkeras.base import extensions
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.facts import computes_by_call
from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.shapes.output_shapes import overrides
from torchkeras.engine.symbolic.tensor import as_list, calls_of, unpacked
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras2 import backend as K, old_functions, old_phase, old_seeds
from torchkeras.keras2.backend.lambdas import as_node
from torchkeras.keras2.backend.nodes import is_symbolic
from torchkeras.keras2.utils.generic_utils import object_list_uid
from torchkeras.layers.recurrence import Recurrent
from torchkeras.layers.wrappers import TimeDistributed

_call, _called = Layer.call, Layer.__call__
_output_shape = Layer.compute_output_shape
_mask_of_steps = TimeDistributed.compute_mask
_begin, _called_with_states = Recurrent.get_initial_state, Recurrent.__call__


@wraps(_call)
def call(layer: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`Layer.call`; on symbolic tensors the layer itself, where no subclass has a `call` of its own.

    That of a recurrent layer takes states and constants by name, as Keras 2's.
    """
    if isinstance(layer, Recurrent):
        args, kwargs = _of_recurrent(*args, **kwargs)
    symbolic = is_symbolic([*args, *kwargs.values()]) and not computes_by_call(layer)
    return layer(*args, **kwargs) if symbolic else _call(layer, *args, **kwargs)


def _of_recurrent(
    inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None, constants: Any = None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a recurrent layer's `call`, with states and constants after the inputs."""
    given = [*as_list(inputs), *(each for several in (initial_state, constants) for each in _listed(several))]
    options = {"mask": mask, "training": training}
    return (unpacked(given),), {name: value for name, value in options.items() if value is not None}


def _listed(values: Any) -> list[Any]:
    if values is None:
        return []
    return list(values) if isinstance(values, (list, tuple)) else [values]


@wraps(_called)
def called(layer: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`Layer.__call__`; an output with values says whether it has others in training."""
    if is_symbolic(args):
        return _on_symbols(layer, args, kwargs)
    outputs = _called(layer, *args, **kwargs)
    if isinstance(outputs, Tensor) and not (outputs.is_meta or is_compiling()):
        vars(outputs)["_uses_learning_phase"] = kwargs.get("training") is None and old_phase.of_layer(layer)
        regularizer = getattr(layer, "activity_regularizer", None)
        if regularizer is not None and ADDED.taken is None:
            vars(layer)["_activity_of_call"] = (regularizer(outputs), args[0])
    return outputs


def _on_symbols(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if layer.built:
        old_functions.check_variables(layer)
    phase = old_phase.settled(layer, kwargs.get("training"))
    if kwargs.get("training", phase) in (None, True):
        old_seeds.seed_noise(layer)
    if phase is None:
        return _called(layer, *args, **kwargs)
    outputs = _called(layer, *args, **{**kwargs, "training": bool(phase)})
    old_phase.keep_settled(outputs)
    return outputs


@wraps(_output_shape)
def compute_output_shape(layer: Any, input_shape: Any) -> Any:
    """`Layer.compute_output_shape`; the input's where a layer of the user's, which says its own, asks its base."""
    asked = computes_by_call(layer) and layer._native_forward is None and overrides(layer, "compute_output_shape")
    return input_shape if asked else _output_shape(layer, input_shape)


@wraps(_mask_of_steps)
def mask_of_steps(layer: Any, inputs: Any, mask: Any = None) -> Any:
    """`TimeDistributed.compute_mask`; of symbolic tensors a node."""
    if not is_symbolic([inputs, mask]):
        return _mask_of_steps(layer, inputs, mask)
    _, (found,) = layer._infer_outputs(inputs, [mask], {})
    return None if found is None else as_node("mask", lambda given: _mask_of_steps(layer, *given), (inputs, mask))


@wraps(_begin)
def begin(layer: Any, inputs: Any) -> list[Any]:
    """`get_initial_state`; of a symbolic tensor nodes."""
    if not is_symbolic(inputs):
        return _begin(layer, inputs)
    return as_list(as_node("initial_state", lambda given: _begin(layer, given), inputs))


@wraps(_called_with_states)
def called_with_states(
    layer: Any, /, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
) -> Any:
    """`Recurrent.__call__`, whose states and constants may be variables beside symbolic inputs."""
    if is_symbolic(inputs):
        initial_state, constants = (_as_nodes(inputs, each) for each in (initial_state, constants))
    return _called_with_states(layer, inputs, initial_state, constants, **kwargs)


def input_map(layer: Any) -> dict[str, Any]:
    """What `TimeDistributed` gave its layer in each call, with the time steps folded into the batch, by its input."""
    return {
        object_list_uid(node.inputs): K.reshape(node.inputs, (-1, *node.inputs.shape[2:])) for node in calls_of(layer)
    }


def _as_nodes(inputs: Any, values: Any) -> Any:
    """Values as nodes of the graph of `inputs`; symbolic ones as they are, and None."""
    if values is None:
        return None
    return [each if is_symbolic(each) else _as_constant(as_list(inputs)[0], each) for each in as_list(values)]


def _as_constant(inputs: Any, value: Any) -> Any:
    held = value.value if isinstance(value, Variable) else torch.as_tensor(value)
    return as_node("constant", lambda given: held.detach().to(given.device), inputs, lambda _: tuple(held.shape))


def extend() -> None:
    """Let the layers take symbolic tensors there."""
    extensions.extend(Layer, call=call, __call__=called, compute_output_shape=compute_output_shape)
    extensions.extend(TimeDistributed, compute_mask=mask_of_steps, _input_map=property(input_map))
    extensions.extend(Recurrent, get_initial_state=begin, __call__=called_with_states)

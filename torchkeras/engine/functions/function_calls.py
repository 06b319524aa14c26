"""Functions of symbolic tensors: each call becomes a node of the graph, of an `Operation`."""

from __future__ import annotations

import inspect
import itertools
import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from torchkeras import config
from torchkeras.base.naming import unique_name
from torchkeras.base.nested import tensors_in
from torchkeras.engine.facts import facts_of
from torchkeras.engine.functions import function_arguments
from torchkeras.engine.functions.operators import KNOWN, Operation, problem
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import OPERATORS, KerasTensor, unpacked
from torchkeras.tensor_functions import torch_functions

_NAMES: dict[Any, str] = {torch.div: "truediv", torch.true_divide: "truediv", torch.remainder: "mod"}
_NAMES |= {torch.Tensor.div: "truediv", torch.Tensor.true_divide: "truediv", torch.Tensor.remainder: "mod"}
for _name, _operator in OPERATORS.items():
    _NAMES[_operator] = _name
    for _owner, _spelling in itertools.product((torch, torch.Tensor), (_name, f"__{_name}__")):
        if hasattr(_owner, _spelling):
            _NAMES[getattr(_owner, _spelling)] = _name
# A view is a reshape that shares memory. Nothing is changed in place in a graph, so there they are the same.
_VIEWS = {"torch.Tensor.view": "torch.Tensor.reshape", "torch.Tensor.view_as": "torch.Tensor.reshape_as"}


def apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the node of a function of symbolic tensors; returns symbolic tensors in the form of torch's result.

    Raises TypeError for a function or an argument that a graph cannot contain, ValueError as layers do.
    """
    if function is operator.eq and not _makes_comparisons(args[0]):
        return args[0] is args[1]
    called = torch_functions.place_of(function)
    short = torch_functions.short(called)
    if short in KNOWN and isinstance(args[0], KerasTensor):
        return getattr(args[0], short)(*args[1:], **kwargs)
    _check_outside()
    kwargs = _not_default(function, kwargs)
    name = _config_name(function, args, kwargs)
    reason = problem(name, args, kwargs)
    if reason is not None:
        raise TypeError(f"{called} cannot be applied to a symbolic tensor: {reason}")
    if name == "getitem":
        args = (args[0], function_arguments.index(args[1]))
    options = {} if _passes_masks((args, kwargs)) else {"keeps_mask": False}
    outputs = _node(called, name, args, kwargs, **options)
    return tuple(outputs) if type(outputs) is list else outputs  # a layer makes a list of a tuple, as in Keras


def apply_operation(name: str | Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the node of an operation of Keras 3, by its name, `ops.mean`, or a function that no config can hold.

    Returns symbolic tensors, several in a list.

    Raises TypeError for an argument that a graph cannot contain, ValueError as layers do.
    """
    _check_outside()
    return _node(torch_functions.place_of(name), name, args, kwargs, keeps_mask=False)


def _node(called: str, name: Any, args: tuple[Any, ...], kwargs: dict[str, Any], **options: Any) -> Any:
    inputs, arguments, keywords = _encoded(called, args, kwargs)
    return Operation(name, arguments, keywords, name=_name_on(inputs, name), **options)(unpacked(inputs))


def _name_on(inputs: list[KerasTensor], function: Any) -> str:
    """The name of the node of a function, as the layers name it that its first input comes from."""
    maker = _layer_before(inputs[0]) if inputs else None
    naming = None if maker is None else facts_of(maker).names_operations
    if naming is not None:
        return naming(function)
    return unique_name(f"operation_{torch_functions.short(torch_functions.place_of(function))}")


def _layer_before(tensor: KerasTensor) -> Layer | None:
    """The layer that a symbolic tensor comes from, through functions; None for a tensor that no layer made."""
    maker = tensor.keras_history.layer if hasattr(tensor, "keras_history") else None
    while isinstance(maker, Operation) and maker._call_nodes:
        maker = maker._call_nodes[0].input_tensors[0].keras_history.layer
    return maker


def _makes_comparisons(tensor: KerasTensor) -> bool:
    """Whether `==` on a symbolic tensor makes a node: the layer that it comes from says so."""
    maker = _layer_before(tensor)
    return maker is None or facts_of(maker).operators_compare


def _passes_masks(arguments: Any) -> bool:
    """Whether an operator on these symbolic tensors gets their masks: all layers that made them say so."""
    made = (tensor for tensor in tensors_in(arguments) if hasattr(tensor, "keras_history"))
    return all(facts_of(tensor.keras_history.layer).operators_pass_masks for tensor in made)


def _config_name(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The name in a config for a function that is called with these arguments; the function itself if it has none."""
    if not kwargs and function in _NAMES:
        return _NAMES[function]
    name = torch_functions.name_of(function)
    changes_type = any(isinstance(arg, torch.dtype) for arg in (*args, *kwargs.values()))
    if name in _VIEWS and not changes_type:
        return _VIEWS[name]
    return name or function


def _encoded(
    called: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[KerasTensor], list[Any], dict[str, Any]]:
    """(inputs, arguments, keywords) of a call: its symbolic tensors, and the options of an `Operation` of them.

    Raises TypeError, whose text begins with the name of the function that was `called`.
    """
    types = (tensor.dtype for tensor in tensors_in((args, kwargs)) if tensor.dtype.is_floating_point)
    floating = next(types, getattr(torch, config.floatx()))
    inputs: list[KerasTensor] = []
    try:
        arguments = [function_arguments.encoded(argument, inputs, floating) for argument in args]
        keywords = {key: function_arguments.encoded(value, inputs, floating) for key, value in kwargs.items()}
    except TypeError as error:
        raise TypeError(f"{called}: {error}") from error
    return inputs, arguments, keywords


def _not_default(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments that differ from the function's defaults: torch's own code passes all of them."""
    try:
        # torch.nn.functional chooses between two functions of its own where indices may be asked for.
        chosen = vars(nn.functional).get(f"_{torch_functions.short(torch_functions.place_of(function))}", function)
        parameters: Mapping[str, Any] = inspect.signature(chosen).parameters
    except ValueError:  # written in C
        parameters = {}

    def differs(name: str, value: Any) -> bool:
        if name not in parameters:
            return True
        default = parameters[name].default
        return type(value) is not type(default) or value != default

    return {name: value for name, value in kwargs.items() if not name.startswith("_") and differs(name, value)}


def _check_outside() -> None:
    """Refuse a function that a torch module's own `forward` calls on symbolic tensors: the graph would neither own the
    module nor set its mode. It looks only at the frames of the calls that led here.
    """
    frame = sys._getframe(1)
    module = None
    while frame is not None:
        if frame.f_code.co_name in ("_call_impl", "forward"):
            values, names = frame.f_locals, frame.f_code.co_varnames[: frame.f_code.co_argcount]
            found = values.get("self")
            foreign = isinstance(found, nn.Module) and not isinstance(found, Layer)
            passed = list(map(values.get, (*names, "args", "kwargs")))
            if foreign and tensors_in(passed):
                module = found
        frame = frame.f_back
    if module is not None:
        kind = type(module).__name__
        raise TypeError(
            f"{kind} is a module of torch and was called on a symbolic tensor. Make it a layer, which owns its weights "
            f"and follows the mode: torchkeras.layers.TorchModule(module)(tensor), where module is the {kind}."
        )

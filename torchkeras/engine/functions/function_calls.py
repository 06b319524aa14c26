"""Functions of symbolic tensors: each call becomes a node of the graph, of an `Operation`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from torchkeras import config
from torchkeras.base.naming import unique_name
from torchkeras.base.nested import tensors_in
from torchkeras.engine.functions import function_arguments
from torchkeras.engine.functions.operators import KNOWN, Operation, problem
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import OPERATORS, KerasTensor
from torchkeras.tensor_functions import torch_functions

_NAMES: dict[Any, str] = {torch.div: "truediv", torch.true_divide: "truediv", torch.remainder: "mod"}
_NAMES |= {torch.Tensor.div: "truediv", torch.Tensor.true_divide: "truediv", torch.Tensor.remainder: "mod"}
for _name, _operator in OPERATORS.items():
    _NAMES[_operator] = _name
    for _owner in (torch, torch.Tensor):
        for _spelling in (_name, f"__{_name}__"):
            if hasattr(_owner, _spelling):
                _NAMES[getattr(_owner, _spelling)] = _name
# A view is a reshape whose memory others see: in a graph, where nothing is changed in place, they are one.
_VIEWS = {"torch.Tensor.view": "torch.Tensor.reshape", "torch.Tensor.view_as": "torch.Tensor.reshape_as"}


def apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the node of a function of symbolic tensors; returns what torch would, of symbolic tensors.

    Raises TypeError for a function or an argument that a graph cannot have, ValueError as layers do.
    """
    called = torch_functions.place_of(function)
    short = torch_functions.short(called)
    if short in KNOWN and isinstance(args[0], KerasTensor):
        return getattr(args[0], short)(*args[1:], **kwargs)
    _check_outside(args)
    kwargs = _not_default(function, kwargs)
    name = _config_name(function, args, kwargs)
    reason = problem(name, args, kwargs)
    if reason is not None:
        raise TypeError(f"{called} cannot be applied to a symbolic tensor: {reason}")
    if name == "getitem":
        args = (args[0], function_arguments.index(args[1]))
    inputs, arguments, keywords = _encoded(called, args, kwargs)
    label = torch_functions.short(torch_functions.place_of(name))
    layer = Operation(name, arguments, keywords, name=unique_name(f"operation_{label}"))
    outputs = layer(inputs if len(inputs) > 1 else inputs[0])
    return tuple(outputs) if type(outputs) is list else outputs  # which a layer gives for a tuple, as Keras


def _config_name(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The name that a config has for a function called like this; the function itself where it has none."""
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
    """(inputs, arguments, keywords) of a call: its symbolic tensors, and what an `Operation` of them is made with.

    Raises TypeError, which begins with the name of what was `called`.
    """
    given = [tensor.dtype for tensor in tensors_in((args, kwargs)) if tensor.dtype.is_floating_point]
    floating = given[0] if given else getattr(torch, config.floatx())
    inputs: list[KerasTensor] = []
    try:
        arguments = [function_arguments.encoded(argument, inputs, floating) for argument in args]
        keywords = {key: function_arguments.encoded(value, inputs, floating) for key, value in kwargs.items()}
    except TypeError as error:
        raise TypeError(f"{called}: {error}") from error
    return inputs, arguments, keywords


def _not_default(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments that say something: torch passes on all that a function has."""
    try:
        # torch.nn.functional chooses between two functions of its own where indices may be asked for.
        chosen = vars(nn.functional).get(f"_{torch_functions.short(torch_functions.place_of(function))}", function)
        parameters: Mapping[str, Any] = inspect.signature(chosen).parameters
    except ValueError:  # written in C
        parameters = {}

    def says(name: str, value: Any) -> bool:
        default = parameters[name].default if name in parameters else inspect.Parameter.empty
        return not (name.startswith("_") or value is default or (type(value) is type(default) and value == default))

    return {name: value for name, value in kwargs.items() if says(name, value)}


def _check_outside(args: tuple[Any, ...]) -> None:
    """Refuse a function that a module's own `forward` calls on symbolic tensors: the graph would not own the module,
    nor know of its mode. Looks at the calls that led here, and costs nothing else.
    """
    frame = sys._getframe(1)
    module = None
    while frame is not None:
        if frame.f_code.co_name in ("_call_impl", "forward"):
            found = frame.f_locals.get("self")
            foreign = isinstance(found, nn.Module) and not isinstance(found, Layer)
            names = [*frame.f_code.co_varnames[: frame.f_code.co_argcount], "args", "kwargs"]
            if foreign and any(True for _ in tensors_in([frame.f_locals.get(name) for name in names])):
                module = found
        frame = frame.f_back
    if module is not None:
        kind = type(module).__name__
        raise TypeError(
            f"{kind} is a module of torch and was called on a symbolic tensor. Make it a layer, which owns its weights "
            f"and follows the mode: torchkeras.layers.TorchModule(module)(tensor), where module is the {kind}."
        )

"""How generated code calls layers: what `self.conv2d_a` stands for in `x = self.conv2d_a(x)`.

Generated code runs over an object with a callable for each name in the code. Over `ModuleCalls` a call is torch's own
call of the layer, hooks included. Over `DirectCalls`, for runs that no hook would see, it is the function that the
layer's facts have for the `Way` in which the code calls the layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from torchkeras.engine.facts import Facts, facts_of
from torchkeras.engine.layer.added_losses import activity_loss
from torchkeras.engine.modes import call_in_mode, call_module, in_its_mode, in_mode

if TYPE_CHECKING:
    from torchkeras.engine.graph.generated_functions import GeneratedFunction, GeneratedFunctions, Variant
    from torchkeras.engine.layer.layer import Layer


class Way(Enum):
    """What a call computes. The first four differ only in direct calls: as modules all layers are called alike."""

    PLAIN = 0
    IN_PLACE = 1  # nothing else needs its input, so that its output may lie there
    BEFORE_RELU = 2  # the next layer does the relu that it ends in
    AFTER_RELU = 3  # it does the relu that the layer before left to it
    LOGITS = 4  # without the activation that it ends in
    IN_MODE = 5  # with all inside in training mode or not, as the argument `training` says
    MASK = 6  # its `compute_mask`
    ACTIVITY_LOSS = 7  # the penalty on its output


class Call(NamedTuple):
    """A layer, by its key in the network, and what to compute. `maker`: the layer that left its relu to this one."""

    key: str
    way: Way = Way.PLAIN
    maker: str = ""


# What a layer's facts have for a way to call it; it may be None.
OF_FACTS: Mapping[Way, Callable[[Facts], Callable[..., Any] | None]] = {
    Way.IN_PLACE: methodcaller("in_place"),
    Way.BEFORE_RELU: methodcaller("before_relu"),
    Way.LOGITS: attrgetter("logits"),
}


class ModuleCalls:
    """Calls of layers as modules of torch, for generated code to run over. A layer is looked up at each call.

    Names in generated code begin with no underscore, so they differ from these attributes.
    """

    def __init__(self, modules: Mapping[str, Any], calls: Mapping[str, Call]):
        self._modules, self._calls = modules, calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        key, way, _ = self._calls[name]
        layer = self._modules[key]
        if way is Way.LOGITS:
            return partial(call_in_mode, layer, facts_of(layer).logits)
        return _other(layer, way) or _with_mode(layer, way, partial(call_module, layer))


class DirectCalls:
    """Calls of a network's layers without a check for hooks, for the network's functions to run over.

    They are chosen once, for `modules` and options as they are now, and for each function when it is first needed.
    torch.compile cannot follow the choice, so it is made here for the functions that there are.
    """

    def __init__(self, generated: GeneratedFunctions, modules: Mapping[str, Any]):
        self._modules = modules
        self._hook_free: dict[str, Callable[..., Any]] = {}  # by key; one for all functions and ways
        self.made: dict[Variant, CallsOfFunction] = {}
        for function in list(generated.functions.values()):
            self.make(function)

    def make(self, function: GeneratedFunction) -> CallsOfFunction:
        """The calls that this function runs over."""
        function.write()
        found = CallsOfFunction()
        for name, call in function.calls.items():
            setattr(found, name, self._chosen(call))
        found._function = function
        self.made[function.variant] = found
        return found

    def _chosen(self, call: Call) -> Callable[..., Any]:
        layer = self._modules[call.key]
        if (other := _other(layer, call.way)) is not None:
            return other
        facts, special = facts_of(layer), None
        if call.way in OF_FACTS:
            special = OF_FACTS[call.way](facts)
        if special is not None:
            return in_its_mode(layer, special)
        if call.key not in self._hook_free:
            self._hook_free[call.key] = in_its_mode(layer, facts.hook_free())
        function = self._hook_free[call.key]
        if call.way is Way.AFTER_RELU and facts_of(self._modules[call.maker]).before_relu() is not None:
            return partial(_after_relu, function)
        return _with_mode(layer, call.way, function)


class CallsOfFunction:
    """The calls that one generated function makes, each an attribute by its name in the text."""

    _function: GeneratedFunction


def _other(layer: Layer, way: Way) -> Callable[..., Any] | None:
    """The function for a way that does not call the layer's `forward`; None for a way that does."""
    if way is Way.MASK:
        return layer.compute_mask
    return partial(activity_loss, layer.activity_regularizer) if way is Way.ACTIVITY_LOSS else None  # type: ignore[attr-defined]


def _with_mode(layer: Layer, way: Way, function: Callable[..., Any]) -> Callable[..., Any]:
    return partial(_with_training, layer, function) if way is Way.IN_MODE else function


def _with_training(layer: Layer, function: Callable[..., Any], /, *args: Any, training: bool, **kwargs: Any) -> Any:
    with in_mode(training, layer):
        return function(*args, **kwargs)


def _after_relu(function: Callable[..., Any], inputs: Any) -> Any:
    """`function` of the relu of its inputs, for one that commutes with relu."""
    return torch.relu_(function(inputs))

"""How generated code calls layers: what `self.conv2d_a` stands for in `x = self.conv2d_a(x)`.

Generated code runs over an object with a callable for each name in the code. Over `ModuleCalls` a call is torch's own
call of the layer, hooks included. Over `DirectCalls`, for runs that no hook would see, it is the function that the
layer's facts have for the `Way` in which the code calls the layer.

Each call of an `nn.Module` checks for hooks, which for a small layer costs more than its kernel. `HookFreeCalls` checks
all hooks of a network at once, and chooses direct calls while there are none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import chain, islice, product, starmap
from operator import attrgetter, contains, is_, methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from torchkeras.base.python import attributes_of, lazy_property
from torchkeras.base.torch_versions import has_any_global_hook
from torchkeras.engine.carried_masks import mask_after
from torchkeras.engine.facts import OWN_PACKAGE, Facts, facts_of
from torchkeras.engine.layer.added_losses import activity_loss
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import all_mode_dependent, call_in_mode, call_module, in_its_mode, in_mode
from torchkeras.engine.weights.weight_lists import CHANGES

if TYPE_CHECKING:
    from torchkeras.engine.graph.codegen import GeneratedFunction, GeneratedFunctions, Variant


class Way(Enum):
    """What a call computes. The first four differ only in direct calls: as modules all layers are called alike."""

    PLAIN = 0
    IN_PLACE = 1  # nothing else needs its input, so that its output may lie there
    BEFORE_RELU = 2  # the next layer does the relu that it ends in
    AFTER_RELU = 3  # it does the relu that the layer before left to it
    LOGITS = 4  # without the activation that it ends in
    IN_MODE = 5  # with all inside in training mode or not, as the argument `training` says
    MASK = 6  # the mask of an output
    ACTIVITY_LOSS = 7  # the penalty on its output


class Call(NamedTuple):
    """A layer, by its key in the network, and what to compute. `maker`: the layer that left its relu to this one."""

    key: str
    way: Way = Way.PLAIN
    maker: str = ""


@dataclass(frozen=True)
class Form:
    """The form of an object that a call gets: a named tuple, or the outputs of a model of another library."""

    value: Any


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

    def __init__(self, modules: Mapping[str, Any], calls: Mapping[str, Call | Form]):
        self._modules, self._calls = modules, calls

    def __getattr__(self, name: str) -> Any:
        call = self._calls[name]
        if isinstance(call, Form):
            return call.value
        key, way, _ = call
        layer = self._modules[key]
        if way is Way.LOGITS:
            return partial(call_in_mode, layer, facts_of(layer).logits)
        other = _other(layer, way)
        return _with_mode(layer, way, partial(call_module, layer)) if other is None else other


class DirectCalls:
    """Calls of a network's layers without a check for hooks, for the network's functions to run over.

    They are chosen once, for `modules` and options as they are now, and for each function when it is first needed.
    torch.compile cannot follow the choice, so it is made here for the functions that there are.
    """

    def __init__(self, generated: GeneratedFunctions, modules: Mapping[str, Any]):
        self._modules, self._network = modules, generated.network
        self._hook_free: dict[str, Callable[..., Any]] = {}  # by key; one for all functions and ways
        self.made: dict[Variant, CallsOfFunction] = {}
        for function in list(generated.functions.values()):
            self.make(function)

    @lazy_property
    def keeps_no_tensor(self) -> bool:
        """Whether `inference_mode` does no harm to these calls, as far as the layers go."""
        return keeps_no_tensor(self._network)

    def make(self, function: GeneratedFunction) -> CallsOfFunction:
        """The calls that this function runs over."""
        function.write()
        found = CallsOfFunction()
        for name, call in function.calls.items():
            setattr(found, name, call.value if isinstance(call, Form) else self._chosen(call))
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
        return partial(mask_after, layer) if facts_of(layer).carries_masks else layer.compute_mask
    return partial(activity_loss, layer.activity_regularizer) if way is Way.ACTIVITY_LOSS else None  # type: ignore[attr-defined]


def _with_mode(layer: Layer, way: Way, function: Callable[..., Any]) -> Callable[..., Any]:
    return partial(_with_training, layer, function) if way is Way.IN_MODE else function


def _with_training(layer: Layer, function: Callable[..., Any], /, *args: Any, training: bool, **kwargs: Any) -> Any:
    with in_mode(training, layer):
        return function(*args, **kwargs)


def _after_relu(function: Callable[..., Any], inputs: Any) -> Any:
    """`function` of the relu of its inputs, for one that commutes with relu."""
    return torch.relu_(function(inputs))


# --- calls without hooks ----------------------------------------------------------------------------------------------


_calling = threading.RLock()  # of a module whose `forward` is replaced during a call
REPLACING = ("forward", "_compiled_call_impl")  # attributes of a module itself that replace its class's code
NO_HOOKS: frozenset[int] = frozenset()
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_hooks, _forward = attrgetter(*HOOKS), attrgetter("forward")


class Inside:
    """The modules inside a network, and whether any has changed since the last look."""

    def __init__(self, network: Layer):
        self._network = network
        self.look()

    def look(self) -> None:
        """Store the modules as they are now."""
        self.modules = modules = list(self._network.modules())
        self._changes = CHANGES.count
        parents: list[dict[str, Any]] = []
        childless: list[dict[str, Any]] = []
        others: list[nn.Module] = []  # no layers, so that CHANGES does not count their changes
        users: list[Any] = []  # classes of layers of the user's code
        for module in modules:
            (parents if module._modules else childless).append(module._modules)  # type: ignore[arg-type]
            if not isinstance(module, Layer):
                others.append(module)
            elif module._is_users:
                users.append(type(module))
        self._parents, self._childless, self._others, self._users = parents, childless, others, users
        self._counts = list(map(len, parents))
        self._children = list(chain.from_iterable(map(dict.values, parents)))
        self._types = list(map(type, others))
        self._forwards = list(map(_forward, users))  # the code that direct calls run
        self._replacing = list(product(map(vars, others), REPLACING))
        self._replaced = any(starmap(contains, product(map(vars, modules), REPLACING)))
        self.hooks = list(chain.from_iterable(map(_hooks, modules)))

    def is_same(self) -> bool:
        """Whether no layer has changed since, no module was replaced, and users' classes have the same code."""
        return (
            self._changes == CHANGES.count
            and list(map(len, self._parents)) == self._counts
            and all(map(is_, chain.from_iterable(map(dict.values, self._parents)), self._children))
            and not any(self._childless)
            and list(map(type, self._others)) == self._types
            and list(map(_forward, self._users)) == self._forwards
        )

    def is_replaced(self) -> bool:
        """Whether something has replaced the code of one of them by a function."""
        return self._replaced or any(starmap(contains, self._replacing))


class HookFreeCalls:
    """`run` computes as the network does: by a module call where something would see it, else directly.

    Hooks are checked at every run; which modules there are, when `look_again` is called.
    """

    def __init__(self, network: Layer):
        self._network, self._inside = network, Inside(network)
        self._look()

    def _look(self) -> None:
        self._settled = SETTLED.count
        if SETTLED.count:  # here, since torch.compile cannot follow it
            for module in self._inside.modules:
                if "_generated" in vars(module):
                    vars(module)["_generated"].renew()
        self._replaced = self._inside.is_replaced()
        self.unobserved = self._computing()._facts.hook_free()  # as `run`, for a caller that has found no observer

    def look_again(self) -> None:
        """Follow what has changed in the network since the last look."""
        vars(self).pop("mode_dependent", None)
        same = self._settled == SETTLED.count and self._inside.is_same()
        if not (same and self._replaced == self._inside.is_replaced()):
            self._inside.look()
            self._look()

    @lazy_property
    def mode_dependent(self) -> list[nn.Module]:
        """The modules of torch inside whose result may depend on their mode."""
        return all_mode_dependent(self._network)

    def _computing(self) -> Layer:
        """What computes while nothing observes."""
        return self._network

    def observed(self, known: frozenset[int] = NO_HOOKS) -> bool:
        """Whether a hook, or a `forward` that replaces a module's, would see a module call or change it.

        `known`: hooks that do not count, by their `id`s.
        """
        if self._settled != SETTLED.count:
            self.look_again()
        hooks: list[Any] = self._inside.hooks
        if known:
            hooks = [set(map(id, each.values())) - known for each in hooks]
        return self._replaced or any(hooks) or bool(has_any_global_hook())

    def run(self, inputs: Any, **options: Any) -> Any:
        """What a module call of the network returns."""
        if self.observed():
            return call_module(self._network, inputs, **options)
        return self.unobserved(inputs, **options)


class Remembered:
    """The direct calls of a network's layers, stored from one call to the next while nothing inside changes.

    Where some layer changes at every second call or so, they are not made again each time.
    """

    def __init__(self, generated: GeneratedFunctions):
        self._generated, self._inside = generated, Inside(generated.network)
        self._calls = self._made = 0
        self._make()

    def _make(self) -> None:
        self._made, self._direct = self._made + 1, DirectCalls(self._generated, self._generated.network._modules)

    def direct(self) -> DirectCalls | None:
        """The direct calls; None where something would see the calls of the modules."""
        self._calls += 1
        inside = self._inside
        if not inside.is_same():
            if self._made > 8 + self._calls // 16:
                return None
            inside.look()
            self._make()
        return None if inside.is_replaced() or any(inside.hooks) or has_any_global_hook() else self._direct


def called(module: nn.Module, compute: Callable[..., Any], *inputs: Any) -> Any:
    """`compute(*inputs)`, which reads the weights of a module, as a call of that module, so that its hooks run.

    In such a hook `prune` and the old `weight_norm` compute the weights.
    """
    if not has_hooks(module):
        return compute(*inputs)
    with _calling:
        if "forward" in module.__dict__:
            return module(*inputs)
        module.__dict__["forward"] = compute
        try:
            return module(*inputs)
        finally:
            del module.__dict__["forward"]


def renew_weights(module: nn.Module) -> None:
    """Run a module's forward pre-hooks, in which `prune` and others compute the weights, without a call of it."""
    for number, hook in module._forward_pre_hooks.items():
        hook(module, (), {}) if number in module._forward_pre_hooks_with_kwargs else hook(module, ())


def has_hooks(module: nn.Module) -> bool:
    """Whether something would see the calls of this module, or has replaced its `forward`."""
    return "forward" in module.__dict__ or any(getattr(module, name) for name in HOOKS)


# --- calls in torch.inference_mode ------------------------------------------------------------------------------------

# The mode takes a few percent off each operation. Tensors made in it can never be part of a gradient. So no hook may
# see them, no layer may store them for the next batch, autocast may not cache a weight in another type, and all code
# must be this package's or torch's.


def may_infer(run: HookFreeCalls) -> bool:
    """Whether the tensors that a run makes can be reached by its outputs alone."""
    network = run._network
    devices = {tensor.device.type for tensor in islice(network.parameters(), 1)}
    return not (run.observed() or any(map(torch.is_autocast_enabled, devices))) and keeps_no_tensor(network)


def keeps_no_tensor(network: Layer) -> bool:
    """Whether no layer stores a tensor of the call, and all code is known. Hooks and autocast are for the caller."""
    return all(map(_keeps_none, network.modules()))


def _keeps_none(module: nn.Module) -> bool:
    """Whether a module has no state, and its class and the functions that it has are torch's or this package's."""
    if getattr(module, "stateful", False):
        return False
    code: list[Any] = [type(module)]
    if isinstance(module, Layer):
        code += filter(callable, attributes_of(module).values())
    return all(map(_is_known_code, code))


def _is_known_code(value: Any) -> bool:
    name = getattr(value, "__module__", None) or ""
    return name.partition(".")[0] in (OWN_PACKAGE, "torch")

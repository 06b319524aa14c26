"""Calls of layers without what a module call costs, for steps.

Each call of an `nn.Module` checks for hooks, which for a small layer costs more than its kernel. `HookFreeCalls` checks
all hooks of a network at once. While there are none, the generated function runs over direct calls (`DirectCalls`), by
default of each layer's `forward` itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import chain, product, starmap
from operator import attrgetter, contains, is_
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.modules.module import _has_any_global_hook as has_any_global_hook

from torchkeras.base.lazy import lazy_property
from torchkeras.engine.graph.layer_calls import DirectCalls
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import all_mode_dependent, call_module
from torchkeras.engine.weights.weight_lists import CHANGES

if TYPE_CHECKING:
    from torchkeras.engine.graph.generated_functions import GeneratedFunctions

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
        if "forward" in vars(module):
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
    return "forward" in vars(module) or any(getattr(module, name) for name in HOOKS)

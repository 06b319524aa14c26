"""Calls of layers without what a module call costs, for steps.

Each call of an `nn.Module` looks whether a hook wants to see it, which for a small layer costs more than its kernel.
`HookFreeCalls` looks at all hooks of a network at once. While there are none, the generated function runs over direct
calls (`DirectCalls`), by default of each layer's `forward` itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import contains, is_
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

_calling = threading.RLock()  # a module whose `forward` is another one for a call
REPLACING = ("forward", "_compiled_call_impl")  # attributes of a module itself, in the place of its class's code
NO_HOOKS: frozenset[int] = frozenset()
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _hooks_of(modules: Iterable[nn.Module]) -> list[dict[int, Any]]:
    return [getattr(module, name) for module in modules for name in HOOKS]


def _replaces_call(module: nn.Module) -> bool:
    """Whether something has put a function into the place of what a module computes by."""
    return any(map(vars(module).__contains__, REPLACING))


class Inside:
    """The modules inside a network, and whether they are still those that they were."""

    def __init__(self, network: Layer):
        self._network = network
        self.look()

    def look(self) -> None:
        """Take them as they are now."""
        self.modules = modules = list(self._network.modules())
        inside: list[dict[str, Any]] = [module._modules for module in modules]  # type: ignore[misc]
        self._changes, self._childless = CHANGES.count, [each for each in inside if not each]
        self._parents = [each for each in inside if each]
        self._counts = list(map(len, self._parents))
        self._children = list(chain.from_iterable(map(dict.values, self._parents)))
        others = [module for module in modules if not isinstance(module, Layer)]  # which tell of no change
        self._others, self._types = others, list(map(type, others))
        self._vars, self._names = [vars(each) for each in others for _ in REPLACING], [*REPLACING] * len(others)
        self._users = [type(module) for module in modules if isinstance(module, Layer) and module._is_users]
        self._forwards = [kind.forward for kind in self._users]  # which direct calls are of
        self._replaced = any(map(_replaces_call, modules))
        self.hooks = _hooks_of(modules)

    def is_same(self) -> bool:
        """Whether no layer has changed since, no module is another one, and users' classes compute by the same code."""
        return (
            self._changes == CHANGES.count
            and list(map(len, self._parents)) == self._counts
            and all(map(is_, chain.from_iterable(map(dict.values, self._parents)), self._children))
            and not any(self._childless)
            and list(map(type, self._others)) == self._types
            and [kind.forward for kind in self._users] == self._forwards
        )

    def is_replaced(self) -> bool:
        """Whether something has put a function into the place of what one of them computes by."""
        return self._replaced or any(map(contains, self._vars, self._names))


class HookFreeCalls:
    """`run`, as that of the network: by a module call where something would see one, and else directly.

    Hooks are looked for at every run; what modules there are, when `look_again` is called.
    """

    def __init__(self, network: Layer):
        self._network, self._inside = network, Inside(network)
        self._look()

    def _look(self) -> None:
        self._settled = SETTLED.count
        for module in self._inside.modules if SETTLED.count else ():  # here, since torch.compile cannot follow it
            if (generated := vars(module).get("_generated")) is not None:
                generated.renew()
        self._replaced = self._inside.is_replaced()
        self.unobserved = self._computing()._facts.hook_free()  # as `run`, for a caller that knows of no observer

    def look_again(self) -> None:
        """Follow what has changed in the network since the last look."""
        vars(self).pop("minding", None)
        same = self._settled == SETTLED.count and self._inside.is_same()
        if not (same and self._replaced == self._inside.is_replaced()):
            self._inside.look()
            self._look()

    @lazy_property
    def minding(self) -> list[nn.Module]:
        """The modules of torch inside that may compute by their mode."""
        return all_mode_dependent(self._network)

    def _computing(self) -> Layer:
        """What computes while nothing observes."""
        return self._network

    def observed(self, known: frozenset[int] = NO_HOOKS) -> bool:
        """Whether a hook, or a `forward` put into a module's place, would see a module call or change it.

        `known`: hooks that do not count, by their `id`s.
        """
        if self._settled != SETTLED.count:
            self.look_again()
        hooks = any(self._inside.hooks) if not known else any(id(each) not in known for each in self._all_hooks())
        return self._replaced or hooks or bool(has_any_global_hook())

    def _all_hooks(self) -> Iterator[Any]:
        return chain.from_iterable(hooks.values() for hooks in self._inside.hooks if hooks)

    def run(self, inputs: Any, **options: Any) -> Any:
        """What a module call of the network gives."""
        if self.observed():
            return call_module(self._network, inputs, **options)
        return self.unobserved(inputs, **options)


class Remembered:
    """The direct calls of a network's layers, from one call to the next while neither they nor what is inside changes.

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
    """`compute(*inputs)`, which reads the weights of a module, as a call of that module: its hooks run.

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
    """Run the hooks before a call of a module that is not called, in which `prune` and others compute the weights."""
    for number, hook in module._forward_pre_hooks.items():
        hook(module, (), {}) if number in module._forward_pre_hooks_with_kwargs else hook(module, ())


def has_hooks(module: nn.Module) -> bool:
    """Whether something would see the calls of this module, or has put a `forward` into their place."""
    return "forward" in vars(module) or any(getattr(module, name) for name in HOOKS)

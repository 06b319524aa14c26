"""Training mode or evaluation mode: that of a call, which the thread that computes it sets for the layers.

torch keeps a mode in each module, `module.training`. To set it for one call would change it for the calls of all other
threads. So a call with a mode of its own, such as those of `predict`, tells it here, and a layer's `training` is the
mode of the call, or else what the module keeps. A module of torch inside a layer knows nothing of this: its own mode is
set while the layer computes, and calls that need another one wait (`held`). So it is with every module whose code,
hooks or parametrizations may look at the mode, in layers of this package too: anything may have been put there.
"""

from __future__ import annotations

import inspect
import threading
from abc import ABC
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial, wraps
from itertools import chain, takewhile
from types import FunctionType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.users_code import run

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


class _Mode(threading.local):
    """`training`: the mode of the calls of this thread; None where each module's own counts.

    `own`: modes that were set during such a call, by the `id` of a layer. `holds`: the modules whose mode this thread
    keeps as it is.
    """

    training: bool | None = None
    own: dict[int, bool] | None = None
    holds: frozenset[int] = frozenset()


MODE = _Mode()
_module_call = nn.Module.__call__
KNOWN = ("torch", __name__.partition(".")[0])  # packages


def in_mode(training: bool | None, layer: nn.Module | None = None) -> AbstractContextManager[None]:
    """Compute in training mode or not within the block, in this thread; None: each module in its own.

    `layer`: what computes, where torch.compile may be following: it sees the modes that torch's modules keep.
    """
    if training is not None and layer is not None and is_compiling():
        return _kept_too(training, layer)
    return _InMode(training)


class _InMode(AbstractContextManager[None]):
    """What `in_mode` gives: a class, since calls of models and layers enter one."""

    def __init__(self, training: bool | None):
        self._training = training

    def __enter__(self) -> None:
        self._before = MODE.training, MODE.own
        MODE.training, MODE.own = self._training, None

    def __exit__(self, *_: object) -> None:
        MODE.training, MODE.own = self._before


@contextmanager
def _kept_too(training: bool, layer: nn.Module) -> Iterator[None]:
    others = [module for module in layer.modules() if not isinstance(module, AnyLayer)]
    with _InMode(training), kept(others, training):
        yield


@contextmanager
def kept(modules: Sequence[nn.Module], training: bool) -> Iterator[None]:
    """Have modules, and all inside, keep a mode within the block as torch does, for all threads; then as before."""
    held_ones: set[int] = set()
    if not (compiled_somewhere() and is_compiling()):
        for module in modules:
            held_ones.update(map(id, all_minding(module)))
    with _unheld(held_ones):
        before = [(inside, inside.training) for module in modules for inside in module.modules()]
        if [mode for _, mode in before if mode is not training]:
            for module in modules:
                module.train(training)
    try:
        yield
    finally:
        changed = [(inside, mode) for inside, mode in before if inside.training is not mode]
        if changed:
            with _unheld(held_ones):
                for inside, mode in changed:
                    inside.training = mode


# --- modules of torch ------------------------------------------------------------------------------------------------


@contextmanager
def _unheld(keys: set[int]) -> Iterator[None]:
    """Within the block nobody holds these modules of torch."""
    if not keys:
        yield
        return
    with _changed:
        _wait(keys - MODE.holds, lambda hold: False)
        yield


class _Hold:
    """How a module of torch is kept. `mode`: as it was asked for, None as it was. `count`: for how many calls."""

    def __init__(self, module: nn.Module, mode: bool | None, frozen: bool):
        self.mode, self.count = mode, 0
        within = [inside for inside in module.modules() if not isinstance(inside, AnyLayer)]
        self.before = [(inside, inside.training) for inside in within]
        held_already = {id(each) for inside in within if id(inside) in MODE.holds for each in inside.modules()}
        if mode is not None and any(before is not mode for _, before in self.before):
            module.train(mode)
            for inside, before in self.before if held_already else ():
                if id(inside) in held_already:
                    inside.training = before
        for inside, _ in self.before if mode and frozen else ():
            if any(buffer is not None for buffer in inside._buffers.values()):  # such as the statistics of a batch
                inside.training = False

    def end(self) -> None:
        """Have all as it was."""
        for inside, mode in self.before:
            if inside.training is not mode:
                inside.training = mode


_holds: dict[int, _Hold] = {}  # by the `id` of the module
_waiting: list[set[int]] = []  # what threads wait for, the first one first
_changed = threading.Condition()


def _wait(keys: set[int], suits: Callable[[_Hold], bool]) -> None:
    """Wait, inside `_changed`, until what holds these modules suits, and nobody waits longer for one of them.

    Who holds something already does not stand in the queue: the first one there may wait for that.
    """

    def may_go() -> bool:
        before = takewhile(lambda each: each is not keys, _waiting)
        first = bool(MODE.holds) or all(keys.isdisjoint(each) for each in before)
        return first and all(suits(_holds[key]) for key in keys if key in _holds)

    _waiting.append(keys)
    try:
        _changed.wait_for(may_go)
    finally:
        _waiting[:] = [each for each in _waiting if each is not keys]
        _changed.notify_all()


@contextmanager
def held(modules: Sequence[nn.Module], training: bool | None, frozen: bool = False) -> Iterator[None]:
    """Have modules of torch in one mode while the block computes with them; None: as they are.

    `frozen`: what keeps statistics stays in evaluation. Other threads may compute with the modules in the same mode
    meanwhile, and wait where they need another one.
    """
    keys = {id(module): module for module in modules if id(module) not in MODE.holds}
    with _changed:
        _wait(set(keys), lambda hold: hold.mode is training)
        for key, module in keys.items():
            if key not in _holds:
                _holds[key] = _Hold(module, training, frozen)
            _holds[key].count += 1
    before, MODE.holds = MODE.holds, MODE.holds.union(keys)
    try:
        yield
    finally:
        MODE.holds = before
        with _changed:
            for key in keys:
                _holds[key].count -= 1
                if not _holds[key].count:
                    _holds.pop(key).end()
            _changed.notify_all()


def all_minding(module: nn.Module) -> list[nn.Module]:
    """The modules of torch directly inside any layer that may compute by their mode, whoever sees to it."""
    layers = [inside for inside in module.modules() if isinstance(inside, AnyLayer)]
    return [found for layer in layers for found in layer._modules.values() if found is not None and _minds(found)]


def call_in_mode(layer: Layer, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `function` gives, which computes for a layer, with the modules of torch inside it in the mode of the call.

    torch.compile sees modes as they are kept: who calls what it compiled has set them.
    """
    if (compiled_somewhere() and is_compiling()) or not (modules := minding(layer)):
        return function(*args, **kwargs)
    if MODE.holds.issuperset(map(id, modules)):
        return function(*args, **kwargs)
    with held(modules, None if MODE.training is None else layer.training, layer._frozen):
        return function(*args, **kwargs)


def call_module(layer: Layer, /, *args: Any, **kwargs: Any) -> Any:
    """Torch's own call of a layer: its hooks, and between them `forward`, without what a user's call needs."""
    if layer._is_network:  # modules of torch in its attributes are for a user's code, by `by_mode`
        return _module_call(layer, *args, **kwargs)
    return call_in_mode(layer, _module_call, layer, *args, **kwargs)


def in_its_mode(layer: Layer, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which computes for a layer, by `call_in_mode` where a module inside needs that now."""
    if (compiled_somewhere() and is_compiling()) or not minding(layer):
        return function
    return partial(call_in_mode, layer, function)


def minding(layer: Layer) -> list[nn.Module]:
    """The modules of torch directly inside a layer that may compute by their mode, less what its own code sees to."""
    own_code_sets = layer._joined_facts.sets_mode_of
    found: list[nn.Module] = []
    for name, module in layer._modules.items():
        if module is None or isinstance(module, AnyLayer):
            continue
        if name not in own_code_sets or _has_minding_code(module):
            found += [module] if _minds(module) else []
        elif _is_known(type(module)):
            found += [inside for inside in module._modules.values() if inside is not None and _minds(inside)]
    return found


def _minds(module: nn.Module) -> bool:
    """Whether a module, or one inside it, may compute by its mode: by code of its class, or by what was put there."""
    if isinstance(module, AnyLayer):
        return False
    return (
        reads_mode(type(module))
        or _has_minding_code(module)
        or any(_minds(inside) for inside in module._modules.values() if inside is not None)
    )


def _has_minding_code(module: nn.Module) -> bool:
    """Whether a hook of a module, or a `forward` put into the place of its class's, may look at its mode."""
    hooks = chain(module._forward_pre_hooks.values(), module._forward_hooks.values())
    return "forward" in vars(module) or any(map(_hook_minds, hooks))


def _hook_minds(hook: Any) -> bool:
    function = getattr(hook, "__func__", hook)
    if not isinstance(function, FunctionType):
        return reads_mode(type(hook))
    return not _is_known(function) or _names_mode(function)


def _is_known(value: type | FunctionType) -> bool:
    """Whether a class or function is torch's or this package's, which look at a mode where their code names it."""
    return value.__module__.partition(".")[0] in KNOWN


def _names_mode(function: FunctionType) -> bool:
    return "training" in function.__code__.co_names


@lru_cache(None)
def reads_mode(kind: type) -> bool:
    """Whether the code of a class that is known reads the mode of a module; that of any other, or a script, may."""
    bases = [base for base in kind.__mro__ if base not in (nn.Module, ABC, object)]
    if issubclass(kind, torch.jit.ScriptModule) or not all(map(_is_known, bases)):  # type: ignore[reportPrivateImportUsage]
        return True
    functions = (value for base in bases for value in vars(base).values() if inspect.isfunction(value))
    return any(map(_names_mode, functions))


# --- code of a user's ------------------------------------------------------------------------------------------------


def by_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    """A `call` or `forward` of a user's: its `training`, where it is not given, is the mode of the layer.

    Modules of torch that the layer has are in this mode too.
    """
    names = list(inspect.signature(function).parameters)
    place = names.index("training") - 1 if "training" in names else -1
    by_position = place >= 0 and inspect.signature(function).parameters["training"].kind is not (
        inspect.Parameter.KEYWORD_ONLY
    )

    @wraps(function)
    def compute(layer: Layer, /, *args: Any, **kwargs: Any) -> Any:
        if by_position and len(args) > place:
            if args[place] is None:
                args = (*args[:place], layer.training, *args[place + 1 :])
        elif place >= 0 and kwargs.get("training") is None:
            kwargs["training"] = layer.training
        return run(layer, call_in_mode, layer, function, layer, *args, **kwargs)

    return compute

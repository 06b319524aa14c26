"""Training mode or evaluation mode: that of a call, which the thread that computes it sets for the layers.

torch stores a mode in each module, `module.training`. To set it for one call would change it for the calls of all other
threads. So a call with a mode of its own, such as those of `predict`, sets it in `MODE`; a layer's `training` is the
mode of the call, or else the one that the module stores. A torch module inside a layer reads only its stored mode: that
is set while the layer computes, and calls that need the other mode wait (`locked_mode`). So it is for every module with
code, hooks or parametrizations that may read the mode, in layers of this package too, where a user may put anything.
"""

from __future__ import annotations

import inspect
import threading
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial, wraps
from itertools import chain, takewhile
from types import FunctionType
from typing import Any, TypeGuard

import torch
from torch import nn

from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.users_code import run


class _Mode(threading.local):
    """`training`: the mode of the calls of this thread; None where each module's stored mode counts.

    `own`: modes that code set on layers during such a call, by the `id` of the layer. `locked`: the `id`s of the
    modules whose mode this thread has locked. `__init__` sets them: torch.compile does not follow a class's defaults.
    """

    def __init__(self) -> None:
        self.training: bool | None = None
        self.own: dict[int, bool] | None = None
        self.locked: frozenset[int] = frozenset()


MODE = _Mode()
_module_call = nn.Module.__call__
KNOWN = ("torch", __name__.partition(".")[0])  # packages
NO_TORCH_MODULE = (AnyLayer, type(None))  # among the values of `module._modules`


def in_mode(training: bool | None, layer: nn.Module | None = None) -> AbstractContextManager[None]:
    """Compute in training mode or not within the block, in this thread; None: each module in its stored mode.

    `layer`: the layer that computes, where torch.compile may trace it: the compiler reads the stored modes.
    """
    if training is not None and layer is not None and is_compiling():
        return _StoredToo(training, layer)
    return _InMode(training)


class _InMode(AbstractContextManager[None]):
    """The context of `in_mode`: a class, which is faster than a generator for each call of a model or layer."""

    def __init__(self, training: bool | None):
        self._training = training

    def __enter__(self) -> None:
        self._before = MODE.training, MODE.own
        MODE.training, MODE.own = self._training, None

    def __exit__(self, *_: object) -> None:
        MODE.training, MODE.own = self._before


class _StoredToo(_InMode):
    """The same, with the stored modes."""

    def __init__(self, training: bool, layer: nn.Module):
        super().__init__(training)
        self._stored = stored_mode(_torch_modules(layer), training)

    def __enter__(self) -> None:
        super().__enter__()
        self._stored.__enter__()

    def __exit__(self, *error: object) -> None:
        self._stored.__exit__(*error)
        super().__exit__(*error)


class stored_mode(AbstractContextManager[None]):  # noqa: N801  # used as a function
    """Set the stored mode of modules, and of all inside, within the block, for all threads; then restore it.

    A class: compiled code of torch 2.10 and older returns no context of a generator.
    """

    def __init__(self, modules: Sequence[nn.Module], training: bool):
        self._modules, self._training = modules, training

    def __enter__(self) -> None:
        self._locked: set[int] = set()
        if not (compiled_somewhere() and is_compiling()):
            for module in self._modules:
                self._locked.update(map(id, all_mode_dependent(module)))
        with _unlocked(self._locked):
            self._before = [(inside, inside.training) for module in self._modules for inside in module.modules()]
            _train(self._modules, self._before, self._training)

    def __exit__(self, *_: object) -> None:
        changed = [(inside, mode) for inside, mode in self._before if inside.training is not mode]
        if changed:
            with _unlocked(self._locked):
                _restore(changed)


# --- modules of torch ------------------------------------------------------------------------------------------------


@contextmanager
def _unlocked(keys: set[int]) -> Iterator[None]:
    """Within the block no other thread has locked the mode of these torch modules."""
    if not keys:
        yield
        return
    with _changed:
        _wait(keys - MODE.locked, lambda lock: False)
        yield


class _Lock:
    """The locked mode of a torch module. `mode`: the mode, None for the stored one. `count`: of the calls in it."""

    def __init__(self, module: nn.Module, mode: bool | None, frozen: bool):
        self.mode, self.count = mode, 0
        within = _torch_modules(module)
        self.before = [(inside, inside.training) for inside in within]
        locked_already = {id(each) for inside in within if id(inside) in MODE.locked for each in inside.modules()}
        if mode is not None:
            _train([module], self.before, mode)
            _restore([(inside, before) for inside, before in self.before if id(inside) in locked_already])
        if mode and frozen:
            for inside in within:
                if next(inside.buffers(recurse=False), None) is not None:  # such as the statistics of a batch
                    inside.training = False

    def end(self) -> None:
        """Restore the stored modes."""
        _restore(self.before)


def _train(modules: Sequence[nn.Module], stored: Sequence[tuple[nn.Module, bool]], mode: bool) -> None:
    """Set the mode of modules, and of all inside, unless all store it already."""
    if [each for _, each in stored if each is not mode]:
        for module in modules:
            module.train(mode)


def _restore(stored: Sequence[tuple[nn.Module, bool]]) -> None:
    for module, mode in stored:
        if module.training is not mode:
            module.training = mode


_locks: dict[int, _Lock] = {}  # by the `id` of the module
_waiting: list[set[int]] = []  # the `id`s that each waiting thread needs, the longest wait first
_changed = threading.Condition()


def _wait(keys: set[int], suits: Callable[[_Lock], bool]) -> None:
    """Wait, inside `_changed`, until the locks of these modules suit, and no thread has waited longer for one of them.

    A thread that has a lock already does not queue: the first in the queue may wait for that lock.
    """

    def may_go() -> bool:
        earlier = takewhile(lambda each: each is not keys, _waiting)
        first = bool(MODE.locked) or all(map(keys.isdisjoint, earlier))
        return first and all(suits(_locks[key]) for key in keys if key in _locks)

    _waiting.append(keys)
    try:
        _changed.wait_for(may_go)
    finally:
        _waiting[:] = [each for each in _waiting if each is not keys]
        _changed.notify_all()


@contextmanager
def locked_mode(modules: Sequence[nn.Module], training: bool | None, frozen: bool = False) -> Iterator[None]:
    """Lock torch modules in one mode while the block computes with them; None: in their stored modes.

    `frozen`: modules with statistics stay in evaluation mode. Other threads may compute with the modules in the same
    mode, and wait where they need another one.
    """
    keys = {id(module): module for module in modules if id(module) not in MODE.locked}
    with _changed:
        _wait(set(keys), lambda lock: lock.mode is training)
        for key, module in keys.items():
            if key not in _locks:
                _locks[key] = _Lock(module, training, frozen)
            _locks[key].count += 1
    before, MODE.locked = MODE.locked, MODE.locked.union(keys)
    try:
        yield
    finally:
        MODE.locked = before
        with _changed:
            for key in keys:
                _locks[key].count -= 1
                if not _locks[key].count:
                    _locks.pop(key).end()
            _changed.notify_all()


def _torch_modules(module: nn.Module) -> list[nn.Module]:
    """The modules inside, itself included, that are no layers."""
    return [inside for inside in module.modules() if not isinstance(inside, AnyLayer)]


def all_mode_dependent(module: nn.Module) -> list[nn.Module]:
    """The torch modules directly inside any layer that may compute by their mode, also those that the layer sets."""
    found: list[nn.Module] = []
    for layer in module.modules():
        if isinstance(layer, AnyLayer):
            found += [inside for inside in layer._modules.values() if _may_read_mode(inside)]
    return found


def call_in_mode(layer: AnyLayer, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that computes for a layer, with the torch modules inside the layer in the mode of the call.

    torch.compile reads the stored modes: the caller of the compiled code has set them.
    """
    if (compiled_somewhere() and is_compiling()) or not (modules := mode_dependent(layer)):
        return function(*args, **kwargs)
    if MODE.locked.issuperset(map(id, modules)):
        return function(*args, **kwargs)
    with locked_mode(modules, None if MODE.training is None else layer.training, layer._frozen):
        return function(*args, **kwargs)


def call_module(layer: AnyLayer, /, *args: Any, **kwargs: Any) -> Any:
    """Torch's own call of a layer: its hooks around `forward`, without what a call by the user needs."""
    if layer._is_network:  # torch modules in its attributes are for a user's code, which `by_mode` wraps
        return _module_call(layer, *args, **kwargs)
    return call_in_mode(layer, _module_call, layer, *args, **kwargs)


def in_its_mode(layer: AnyLayer, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes for a layer, wrapped in `call_in_mode` where a module inside needs that now."""
    if (compiled_somewhere() and is_compiling()) or not mode_dependent(layer):
        return function
    return partial(call_in_mode, layer, function)


def mode_dependent(layer: AnyLayer) -> list[nn.Module]:
    """The torch modules directly inside a layer that may compute by their mode, less those that it sets itself."""
    own_code_sets = layer._joined_facts.sets_mode_of
    found: list[nn.Module] = []
    for name, module in layer._modules.items():
        if isinstance(module, NO_TORCH_MODULE):
            continue
        candidates: Iterable[nn.Module | None] = (module,)
        if name in own_code_sets and not _has_code_for_mode(module):
            candidates = module._modules.values() if _is_known(type(module)) else ()
        found += [candidate for candidate in candidates if _may_read_mode(candidate)]
    return found


def _may_read_mode(module: nn.Module | None) -> TypeGuard[nn.Module]:
    """Whether a torch module, or one inside it, may read its mode: in code of its class, or in a hook or the like."""
    if isinstance(module, NO_TORCH_MODULE):
        return False
    if reads_mode(type(module)) or _has_code_for_mode(module):
        return True
    return any(map(_may_read_mode, module._modules.values()))


def _has_code_for_mode(module: nn.Module) -> bool:
    """Whether a hook of a module, or a `forward` in its `__dict__`, may read its mode."""
    hooks = chain(module._forward_pre_hooks.values(), module._forward_hooks.values())
    return "forward" in vars(module) or any(map(_hook_may_read_mode, hooks))


def _hook_may_read_mode(hook: Any) -> bool:
    function = getattr(hook, "__func__", hook)
    if not isinstance(function, FunctionType):
        return reads_mode(type(hook))
    return not _is_known(function) or _names_mode(function)


def _is_known(value: type | FunctionType) -> bool:
    """Whether a class or function is torch's or this package's: these read the mode only where their code names it."""
    return value.__module__.partition(".")[0] in KNOWN


def _names_mode(function: FunctionType) -> bool:
    return "training" in function.__code__.co_names


@lru_cache(None)
def reads_mode(kind: type) -> bool:
    """Whether the code of a known class reads the mode of a module; that of any other class, or a script, may do so."""
    bases = [base for base in kind.__mro__ if base not in (nn.Module, ABC, object)]
    if issubclass(kind, torch.jit.ScriptModule) or not all(map(_is_known, bases)):  # type: ignore[reportPrivateImportUsage]
        return True
    functions = (value for base in bases for value in vars(base).values() if inspect.isfunction(value))
    return any(map(_names_mode, functions))


# --- users' code -----------------------------------------------------------------------------------------------------


def by_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's `call` or `forward`, whose argument `training` becomes the mode of the layer where it is not passed.

    The torch modules inside the layer are in this mode too. Checkpoints describe the code of `compute` as the user's,
    by its text and the names in it: those of earlier versions go on only while both stay as they are.
    """
    names = list(inspect.signature(function).parameters)
    place = names.index("training") - 1 if "training" in names else -1
    by_position = place >= 0 and inspect.signature(function).parameters["training"].kind is not (
        inspect.Parameter.KEYWORD_ONLY
    )

    @wraps(function)
    def compute(layer: AnyLayer, /, *args: Any, **kwargs: Any) -> Any:
        if by_position and len(args) > place:
            if args[place] is None:
                args = (*args[:place], layer.training, *args[place + 1 :])
        elif place >= 0 and kwargs.get("training") is None:
            kwargs["training"] = layer.training
        return run(layer, call_in_mode, layer, function, layer, *args, **kwargs)

    return compute

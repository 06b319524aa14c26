"""Training mode or evaluation mode: that of a call, told to the layers by the thread that computes it.

torch keeps a mode in each module, `module.training`. To set it for one call would change it for the calls of all other
threads. So a call with a mode of its own, such as those of `predict`, tells it here, and a layer's `training` is the
mode of the call, or else what the module keeps. A module of torch inside a layer knows nothing of this: its own mode is
set while the layer computes, and calls that need another one wait (`held`).
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, wraps
from itertools import takewhile
from typing import Any

from torch import nn

from torchkeras.engine.layer.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.layer.users_code import run


class _Mode(threading.local):
    """`training`: the mode of the calls of this thread; None where each module's own counts.

    `own`: modes that were set during such a call, by the `id` of a layer. `holds`: the modules whose mode this thread
    keeps as it is.
    """

    training: bool | None = None
    own: dict[int, bool] | None = None
    holds: frozenset[int] = frozenset()


MODE = _Mode()


class Moded(nn.Module):
    """A module whose `training` is the mode of the call that computes it."""

    @property
    def training(self) -> bool:  # type: ignore[override]
        """The mode of the call under way in this thread; outside of one, that of the module as torch keeps it."""
        if MODE.training is None:
            return self.__dict__["training"]  # type: ignore[no-any-return]
        return MODE.training if MODE.own is None else MODE.own.get(id(self), MODE.training)

    @training.setter
    def training(self, mode: bool) -> None:
        if MODE.training is None or "training" not in self.__dict__:
            self.__dict__["training"] = mode
        else:  # by code that such a call runs: until it ends
            MODE.own = {**(MODE.own or {}), id(self): mode}


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
    others = [module for module in layer.modules() if not isinstance(module, Moded)]
    with _InMode(training), kept(others, training):
        yield


@contextmanager
def kept(modules: Sequence[nn.Module], training: bool) -> Iterator[None]:
    """Have modules, and all inside, keep a mode within the block as torch does, for all threads; then as before."""
    held_ones = (
        set() if (compiled_somewhere() and is_compiling()) else {id(m) for each in modules for m in all_minding(each)}
    )
    with _unheld(held_ones):
        before = [(inside, inside.training) for module in modules for inside in module.modules()]
        for module in modules:
            module.train(training)
    try:
        yield
    finally:
        with _unheld(held_ones):
            for inside, mode in before:
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
        self.before = [(inside, inside.training) for inside in module.modules() if not isinstance(inside, Moded)]
        if mode is not None and any(before is not mode for _, before in self.before):
            module.train(mode)
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
    """Those directly inside any layer."""
    return [found for inside in module.modules() if isinstance(inside, Moded) for found in minding(inside)]


def call_in_mode(layer: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `function` gives, which computes for a layer, with the modules of torch inside it in the mode of the call.

    torch.compile sees modes as they are kept: who calls what it compiled has set them.
    """
    if (compiled_somewhere() and is_compiling()) or not (modules := minding(layer)):
        return function(*args, **kwargs)
    with held(modules, None if MODE.training is None else layer.training, layer._frozen):
        return function(*args, **kwargs)


def minding(owner: nn.Module) -> list[nn.Module]:
    """The modules of torch directly inside a layer that may compute by their mode."""
    return [module for module in owner._modules.values() if module is not None and _minds(module)]


def _minds(module: nn.Module) -> bool:
    if isinstance(module, Moded):
        return False
    return (
        not _is_torchs(type(module))
        or _reads_mode(type(module))
        or any(map(_minds, filter(None, module._modules.values())))
    )


def _is_torchs(kind: type[nn.Module]) -> bool:
    return kind.__module__.partition(".")[0] == "torch"


@lru_cache(None)
def _reads_mode(kind: type[nn.Module]) -> bool:
    """Whether the code of a class of torch reads its mode; a class of anyone else's may."""
    bases = kind.__mro__[: kind.__mro__.index(nn.Module)]
    functions = (value for base in bases for value in vars(base).values() if inspect.isfunction(value))
    return any("training" in function.__code__.co_names for function in functions)


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
    def in_its_mode(self: Any, *args: Any, **kwargs: Any) -> Any:
        if by_position and len(args) > place:
            if args[place] is None:
                args = (*args[:place], self.training, *args[place + 1 :])
        elif place >= 0 and kwargs.get("training") is None:
            kwargs["training"] = self.training
        return run(self, call_in_mode, self, function, self, *args, **kwargs)

    return in_its_mode

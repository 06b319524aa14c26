"""`Callback`, which a user overrides, and `CallbackList`, which the loop calls.

A hook of batches costs nothing unless a callback overrides it. A number stays on its device unless something reads it.
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from torchkeras.base import docstrings
from torchkeras.base.rules import KnownOptions
from torchkeras.engine.facts import is_own
from torchkeras.world.processes import is_main

if TYPE_CHECKING:
    from torchkeras.models.model import Model


class Callback(KnownOptions):
    """The base of all callbacks: override the hooks you need.

    `model` is the model in training; `model.stop_training = True` ends the training after the current batch or epoch.
    `params` says what `fit` was called with: batch_size, epochs, steps, samples, verbose, do_validation, metrics.
    `logs` has numbers by name, like a dict. If a callback adds numbers to the logs of an epoch, the callbacks after it
    see them.

    Where several processes train, the hooks are called in each, with the same numbers. A class with `main_only = True`
    is called in the main process alone.

    A class with `needs_each_batch = True` needs a call for every batch. `fit` then refuses a model that was compiled
    with `steps_per_execution`, which makes one call for several batches.

    `BackupAndRestore` continues only with the same callbacks. Callbacks of a class with `needed_to_resume = False`,
    which changes nothing in the training, may be added or left out.

    A class with `keeps_records = True` writes files or sends numbers. `fit(fast_dev_run=True)` leaves it out.

    Example:
        >>> class Announce(Callback):
        ...     def on_epoch_end(self, epoch, logs=None):
        ...         print(f"epoch {epoch}: {logs['loss']}")
        >>> Announce().on_epoch_end(0, {"loss": 0.5})
        epoch 0: 0.5

    Source: https://keras.io/api/callbacks/base_callback/
    """

    needs_each_batch = False
    main_only = False
    needed_to_resume = True
    keeps_records = False
    # Whether, where several processes share batches, one call for several batches does, with their mean numbers.
    _takes_means = False
    _validation_data: Any = None
    params: Mapping[str, Any] = {}
    model: Any = None
    state_names: ClassVar[tuple[str, ...]] = ()  # the attributes that `state_dict` holds

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        docstrings.complete_when_read(cls, _explained)

    def state_dict(self) -> dict[str, Any]:
        """What is needed to continue after a stop: numbers, text, arrays, and lists and dicts of them."""
        return {name: _apart(getattr(self, name)) for name in self.state_names}

    def _described(self) -> dict[str, Any]:
        """What a run must have again to go on, beside the options that are attributes of the same name."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state_dict` returned; called after `on_train_begin`, which starts from zero.

        Arguments:
            state (dict): what `state_dict` returned.

        Errors:
            ValueError: the state has other names; nothing is set then.
        """
        if set(state) != set(self.state_names):
            wanted, found = (", ".join(sorted(names)) or "nothing" for names in (self.state_names, state))
            raise ValueError(f"{type(self).__name__}: the state must hold {wanted}; found {found}.")
        for name in self.state_names:
            setattr(self, name, _apart(state[name]))

    @property
    def validation_data(self) -> Any:
        """While `fit` validates on arrays these, as NumPy's: inputs, targets, weights; or what was set."""
        if self._validation_data is not None:
            return self._validation_data
        return getattr(self.model, "_validation_arrays", None)

    @validation_data.setter
    def validation_data(self, value: Any) -> None:
        """While `fit` validates on arrays, its inputs, targets and weights, as NumPy arrays; or what you set here."""
        self._validation_data = value

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Called before training with its parameters, see `params`."""
        self.params = params

    def set_model(self, model: Model) -> None:
        """Called before training with the model."""
        self.model = model

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch, counted from 0."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch. `logs` has its means; those of the validation have `val_` before their names."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Keras 2.2.4's name of `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Keras 2.2.4's name of `on_train_batch_end`."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """After the last epoch."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of training, counted from 0 in each epoch; `logs` has `batch` and `size`."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of training; `logs` has `batch`, `size` and the batch's own loss and metrics."""
        self.on_batch_end(batch, logs)

    def on_test_begin(self, logs: Any = None) -> None:
        """Before an evaluation; the validation in `fit` is one too."""

    def on_test_end(self, logs: Any = None) -> None:
        """After an evaluation."""

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of an evaluation."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of an evaluation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before a prediction."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After a prediction."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of a prediction."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of a prediction."""


def _explained(cls: type) -> str | None:
    """The docstring with all options of the constructor."""
    return docstrings.complete(cls, inspect.signature(cls).parameters)


def _apart(value: Any) -> Any:
    """A copy of lists and dicts, to any depth; other values are not copied."""
    if isinstance(value, Mapping):
        return {name: _apart(item) for name, item in value.items()}
    return [_apart(item) for item in value] if isinstance(value, (list, tuple)) else value


HOOKS = tuple(name for name in vars(Callback) if name.startswith("on_"))
OLD_NAMES = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}


def handler(callback: Any, hook: str) -> Callable[..., None] | None:
    """The function that a callback has for a hook, under either name of the hook; None when it has none."""
    bound = getattr(callback, hook, None)
    if bound is not None and getattr(bound, "__func__", bound) is not getattr(Callback, hook):
        return bound
    return handler(callback, OLD_NAMES[hook]) if hook in OLD_NAMES else None


def overrides(callback: Any, hook: str) -> bool:
    """Whether a callback does anything at a hook. It need not derive from `Callback`."""
    return handler(callback, hook) is not None


def check_callback(callback: Any) -> None:
    """Raise TypeError for what is no callback, and for a callback whose hooks cannot take their arguments.

    It need not derive from `Callback`: an object of another package with any of the hooks is a callback too.
    """
    if isinstance(callback, type):
        made = f": {callback.__name__}(...)" if any(hasattr(callback, hook) for hook in HOOKS) else ""
        raise TypeError(f"callbacks: {callback.__name__} is a class; give an object of it{made}.")
    if not any(callable(getattr(callback, hook, None)) for hook in HOOKS):
        raise TypeError(
            f"callbacks: {callback!r} is no callback: it has no hook, such as on_epoch_end(epoch, logs). Give one flat "
            "list of callbacks; a function becomes one by LambdaCallback(on_epoch_end=function)."
        )
    for hook in HOOKS:
        act = handler(callback, hook)
        if act is not None and not takes(act, arguments_of(hook)):
            raise TypeError(
                f"callbacks: {type(callback).__name__}.{hook}{inspect.signature(act)} cannot be called as "
                f"{hook}({', '.join(arguments_of(hook))})."
            )
    if isinstance(callback, Callback) and not is_own(type(callback)):
        _warn_of_near_names(callback)


def _warn_of_near_names(callback: Callback) -> None:
    """Warn of methods with almost the name of a hook: nothing calls them."""
    for name in dir(type(callback)):
        near = difflib.get_close_matches(name, HOOKS, 1, 0.8) if name.startswith("on_") and name not in HOOKS else ()
        if near:
            warnings.warn(
                f"callbacks: {type(callback).__name__}.{name} is no hook, and nothing calls it. Did you mean "
                f"{near[0]}?",
                stacklevel=2,
            )


def takes(act: Callable[..., Any], arguments: tuple[str, ...]) -> bool:
    """Whether a function takes these arguments by position, as far as can be known."""
    try:
        signature = inspect.signature(act)
    except ValueError:  # one of C, which has none
        return True
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


class CallbackList(Callback):
    """Callbacks in order; each hook calls only those that override it.

    Which callbacks override a hook is found once, and again after `set_params` and `set_model`, where a callback may
    decide what it listens to. All callbacks get the same `logs` object, or an empty dict in place of None.

    Options:
        callbacks (callbacks or None, default None): the callbacks, in the order of their calls.

    Errors:
        TypeError: one of them is no callback, or has a hook that cannot take its arguments.

    Example:
        >>> hooks = CallbackList([LambdaCallback(on_epoch_end=lambda epoch, logs: print("epoch", epoch))])
        >>> hooks.on_epoch_end(3)
        epoch 3
    """

    def __init__(self, callbacks: Iterable[Any] | None = None):
        if not isinstance(callbacks, Iterable | None):
            raise TypeError(f"CallbackList: callbacks must be a list of callbacks; found {callbacks!r}.")
        self.callbacks = list(callbacks or [])
        for callback in self.callbacks:
            check_callback(callback)
        self._listening: dict[str, list[Any]] = {}
        self._find()

    def _find(self) -> None:
        for hook in HOOKS:
            found = [(callback, handler(callback, hook)) for callback in self.callbacks]
            self._listening[hook] = [callback for callback, act in found if act is not None]
            here = [act for callback, act in found if act is not None and is_called(callback)]
            setattr(self, hook, _all_of(hook, here))

    take_outputs: Callable[[list[Any]], None] | None = None  # what gets the outputs of each batch of a prediction

    def append(self, callback: Any) -> None:
        """Add a callback after the others."""
        check_callback(callback)
        self.callbacks.append(callback)
        self._find()

    def wants(self, hook: str) -> bool:
        """Whether any callback overrides the hook: if not, the loop need not call it. Raises KeyError for no hook."""
        return bool(self._listening[hook])

    def takes_means(self, hook: str) -> bool:
        """Whether one call of the hook for several batches does for all callbacks that override it."""
        return all(getattr(callback, "_takes_means", False) for callback in self._listening[hook])

    @property
    def may_differ(self) -> bool:
        """Whether some callback may decide otherwise in another process: by the clock, or the user's own code."""
        return any(getattr(callback, "_may_differ", not is_own(type(callback))) for callback in self.callbacks)

    def set_params(self, params: Mapping[str, Any]) -> None:
        self.params = params
        for callback in self.callbacks:
            getattr(callback, "set_params", _do_nothing)(params)
        self._find()

    def set_model(self, model: Any) -> None:
        self.model = model
        for callback in self.callbacks:
            getattr(callback, "set_model", _do_nothing)(model)
        self._find()

    def state_dict(self) -> dict[str, Any]:
        """The states of all callbacks that have one, by place and class: `{"0 EarlyStopping": {...}}`."""
        states = {name: getattr(callback, "state_dict", dict)() for name, callback in self._named().items()}
        return {name: state for name, state in states.items() if state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Give each callback its state. Raises ValueError, before anything is set, when a callback is missing."""
        named = self._named()
        missing = [name for name in state if name not in named]
        if missing:
            raise ValueError(
                f"The state has a callback {missing[0]!r}; the callbacks now are {', '.join(named) or 'none'}."
            )
        for name, found in state.items():
            named[name].load_state_dict(found)

    def _named(self) -> dict[str, Any]:
        return {f"{place} {type(callback).__name__}": callback for place, callback in enumerate(self.callbacks)}

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)

    def __len__(self) -> int:
        return len(self.callbacks)


def arguments_of(hook: str) -> tuple[str, ...]:
    """The names of the arguments that a hook is called with."""
    kind = next((kind for kind in ("epoch", "batch") if kind in hook), None)
    return ("logs",) if kind is None else (kind, "logs")


def _all_of(hook: str, handlers: list[Callable[..., None]]) -> Callable[..., None]:
    def on_run(logs: Any = None) -> None:
        logs = {} if logs is None else logs
        for act in handlers:
            act(logs)

    def on_item(number: int, logs: Any = None) -> None:
        logs = {} if logs is None else logs
        for act in handlers:
            act(number, logs)

    return on_item if len(arguments_of(hook)) == 2 else on_run


def is_called(callback: Any) -> bool:
    """Whether this process calls a callback: the main one calls all."""
    return is_main() or not getattr(callback, "main_only", False)


def _do_nothing(value: Any) -> None:
    pass

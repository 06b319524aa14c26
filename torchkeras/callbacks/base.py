"""`Callback`, what a user overrides; `CallbackList`, what the loop calls.

A batch costs a callback nothing unless it overrides a hook of batches, and a number nothing unless somebody reads it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar


class Callback:
    """The base of all callbacks: override the hooks you need.

    `params`: what `fit` was called with (batch_size, epochs, steps, samples, verbose, do_validation, metrics).
    `model`: the model in training; `model.stop_training = True` ends it after the present batch or epoch.
    `logs`: numbers by name, like a dict; what a callback adds to an epoch's logs, the later ones see.
    `needs_each_batch`: whether it counts on a call for every batch; `fit` then refuses a model that was compiled with
    `steps_per_execution`, which makes one for several.
    """

    needs_each_batch = False
    _validation_data: Any = None
    params: Mapping[str, Any] = {}
    model: Any = None
    state_names: ClassVar[tuple[str, ...]] = ()  # the attributes that `state_dict` holds

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on after a stop: numbers, strings, arrays, and lists and dicts of them."""
        return {name: _apart(getattr(self, name)) for name in self.state_names}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state; called after `on_train_begin`, which starts anew.

        Raises ValueError for a state of other names, before anything is set.
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
        self._validation_data = value

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Called before training with its parameters."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Called before training with the model."""
        self.model = model

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch, counted from 0."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch; logs: its means, those of the validation with `val_` before their names."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Keras 2.2.4's name of `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Keras 2.2.4's name of `on_train_batch_end`."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """After the last epoch."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of training, counted from 0 in each epoch; logs: `batch`, `size`."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of training; logs: `batch`, `size` and this batch's loss and metrics."""
        self.on_batch_end(batch, logs)

    def on_test_begin(self, logs: Any = None) -> None:
        """Before an evaluation, that of a validation included."""

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


def _apart(value: Any) -> Any:
    """A copy of lists and dicts, to any depth; what they hold is not copied."""
    if isinstance(value, Mapping):
        return {name: _apart(item) for name, item in value.items()}
    return [_apart(item) for item in value] if isinstance(value, (list, tuple)) else value


HOOKS = tuple(name for name in vars(Callback) if name.startswith("on_"))
OLD_NAMES = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}


def handler(callback: Any, hook: str) -> Callable[..., None] | None:
    """What a callback does at a hook, under either name of it; None when it does nothing."""
    bound = getattr(callback, hook, None)
    if bound is not None and getattr(bound, "__func__", bound) is not getattr(Callback, hook):
        return bound
    return handler(callback, OLD_NAMES[hook]) if hook in OLD_NAMES else None


def overrides(callback: Any, hook: str) -> bool:
    """Whether a callback does anything at a hook: it need not derive from `Callback`."""
    return handler(callback, hook) is not None


class CallbackList(Callback):
    """Callbacks in order; each hook calls only those that override it, found once.

    They are found anew after `set_params` and `set_model`, where a callback may settle what it listens to. `logs`
    reaches them as the one object given, or as an empty dict for None.
    """

    def __init__(self, callbacks: Iterable[Any] | None = None):
        self.callbacks = list(callbacks or [])
        for callback in self.callbacks:
            if isinstance(callback, type):
                raise TypeError(f"callbacks: {callback.__name__} is a class; give an object of it.")
        self._handlers: dict[str, list[Callable[..., None]]] = {}
        self._find()

    def _find(self) -> None:
        for hook in HOOKS:
            found = [handler(callback, hook) for callback in self.callbacks]
            self._handlers[hook] = [act for act in found if act is not None]
            setattr(self, hook, _all_of(hook, self._handlers[hook]))

    def append(self, callback: Any) -> None:
        """Add a callback behind the others."""
        self.callbacks.append(callback)
        self._find()

    def wants(self, hook: str) -> bool:
        """Whether any callback overrides the hook: if not, the loop need not call it. Raises KeyError for no hook."""
        return bool(self._handlers[hook])

    def set_params(self, params: Mapping[str, Any]) -> None:
        self.params = params
        for callback in self.callbacks:
            getattr(callback, "set_params", _nothing)(params)
        self._find()

    def set_model(self, model: Any) -> None:
        self.model = model
        for callback in self.callbacks:
            getattr(callback, "set_model", _nothing)(model)
        self._find()

    def state_dict(self) -> dict[str, Any]:
        """The states of all callbacks that have one, by place and class: `{"0 EarlyStopping": {...}}`."""
        states = {name: getattr(callback, "state_dict", dict)() for name, callback in self._named().items()}
        return {name: state for name, state in states.items() if state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Give each callback its state. Raises ValueError, before anything is set, when one is not there."""
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
    """What a hook is called with."""
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


def _nothing(value: Any) -> None:
    pass

"""`TorchScheduler`: a scheduler of `torch.optim.lr_scheduler` sets the learning rate of a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import CyclicLR, LRScheduler, OneCycleLR, ReduceLROnPlateau

from torchkeras.base.rules import STRING, one_of, optional, read
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.logs import named
from torchkeras.callbacks.monitoring import one_number
from torchkeras.optimizers.by_hand import AsTorch

SCHEDULERS = (LRScheduler, ReduceLROnPlateau, lr_scheduler.ChainedScheduler)
BY_BATCH = (OneCycleLR, CyclicLR)  # which torch's pages step after every batch


class TorchScheduler(Callback):
    """Steps a scheduler of torch after each epoch or batch.

        TorchScheduler(StepLR, step_size=3)
        TorchScheduler(ReduceLROnPlateau, patience=2, monitor="val_loss")
        TorchScheduler(scheduler)  # made for model.optimizer.as_torch()

    It drives optimizers of Keras and of torch. A second `fit` with the same optimizer continues with the same
    scheduler. `callback.scheduler` is torch's own object; before training it is None, unless it was given.

    Options:
        scheduler (class, function or scheduler): a class, a partial of one, or a function of the optimizer is called
            when training begins. A scheduler that exists already must have been made for the optimizer that the model
            trains with, which its `as_torch()` returns.
        arguments, options (anything): further arguments of the class, after the optimizer.
        per (text or None, default None): "epoch" or "batch", after which the scheduler takes a step; None is "batch"
            for OneCycleLR and CyclicLR, and "epoch" for all other schedulers.
        monitor (text or None, default None): the number of the logs that is passed to each step; ReduceLROnPlateau
            needs it.

    Errors:
        TypeError: `scheduler` cannot be called, or its class does not take the options.
        ValueError: another `per`, or a plateau without `monitor`.
        ValueError: when training begins, for a scheduler of another optimizer.
        ValueError: at a step, when the logs do not have `monitor`.

    Example:
        >>> TorchScheduler(torch.optim.lr_scheduler.StepLR, step_size=3).per
        'epoch'

    Source: https://docs.pytorch.org/docs/stable/optim.html
    """

    def __init__(
        self,
        scheduler: Callable[..., Any] | LRScheduler,
        *arguments: Any,
        per: str | None = None,
        monitor: str | None = None,
        **options: Any,
    ):
        made = isinstance(scheduler, SCHEDULERS)
        if not (made or callable(scheduler)):
            raise TypeError(
                "TorchScheduler: scheduler must be a class or function of an optimizer, such as "
                f"functools.partial(StepLR, step_size=3); found {scheduler!r}."
            )
        read("TorchScheduler", "per", optional(one_of("epoch", "batch")), per)
        read("TorchScheduler", "monitor", optional(STRING), monitor)
        kind = _scheduler_class(scheduler)
        if monitor is None and _derives(kind, ReduceLROnPlateau):
            raise ValueError(
                f"TorchScheduler: {kind.__name__} follows a number of the logs: give its name, as "
                'TorchScheduler(..., monitor="val_loss").'
            )
        if made and (arguments or options):
            given = ", ".join([*map(repr, arguments), *options])
            raise TypeError(f"TorchScheduler: {type(scheduler).__name__} is made already; found options ({given}).")
        self.make: Callable[..., Any] = (lambda optimizer: scheduler) if made else _with(scheduler, arguments, options)
        self.per = per or ("batch" if _derives(kind, BY_BATCH) else "epoch")
        self.monitor = monitor
        self.needs_each_batch = self.per == "batch"
        self.scheduler: Any = scheduler if made else None
        self._made = made
        self._of: Any = None
        self._holder: Any = None
        self._pending: Mapping[str, Any] | None = None

    def _described(self) -> dict[str, Any]:
        return {"make": self.make}

    def on_train_begin(self, logs: Any = None) -> None:
        """Make the scheduler, which sets the rate of the first step, unless it is made for this optimizer already."""
        optimizer = self.model.optimizer
        if self._of is not optimizer:
            holder = self.scheduler.optimizer if self._made else optimizer.as_torch()
            if self._made and not _stands_for(holder, optimizer):
                raise ValueError(
                    f"TorchScheduler: the {type(self.scheduler).__name__} was made for another optimizer than the one "
                    "the model trains with. Compile the model with that optimizer of torch, or give the class and its "
                    "options: TorchScheduler(StepLR, step_size=3)."
                )
            self._of, self._holder = optimizer, holder
            self.scheduler = self.make(holder)
        if self._pending is not None:
            self._load(self._pending)
            self._pending = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """A step of the scheduler, with `per="epoch"`."""
        if self.per == "epoch":
            self._step(logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """A step of the scheduler, with `per="batch"`."""
        if self.per == "batch":
            self._step(logs)

    def _step(self, logs: Any) -> None:
        if isinstance(self._holder, AsTorch):
            self._holder.steps_elsewhere()
        if self.monitor is None:
            self.scheduler.step()
        else:
            logs = named(logs)
            if self.monitor not in logs:
                raise ValueError(
                    f"TorchScheduler: monitor {self.monitor!r} is not among the logs, which have {', '.join(logs)}."
                )
            self.scheduler.step(one_number("TorchScheduler", self.monitor, logs[self.monitor]))

    # --- going on ----------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The scheduler's state and the rates that it has set; {} before training."""
        if self._holder is None:
            return {}
        groups = [{key: value for key, value in g.items() if key != "params"} for g in self._holder.param_groups]
        return {"scheduler": self.scheduler.state_dict(), "groups": groups}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state_dict` returned: at once, or when training begins."""
        if not state:
            return
        if self._holder is None:
            self._pending = state
        else:
            self._load(state)

    def _load(self, state: Mapping[str, Any]) -> None:
        self.scheduler.load_state_dict(state["scheduler"])
        for group, saved in zip(self._holder.param_groups, state["groups"], strict=True):
            group.update(saved)


def _stands_for(holder: Any, optimizer: Any) -> bool:
    """Whether an optimizer of torch is the one of a model, or one that its `as_torch` gave."""
    return holder.keras is optimizer if isinstance(holder, AsTorch) else holder is optimizer.as_torch()


def _scheduler_class(scheduler: Any) -> Any:
    """The class of a scheduler, as far as it is known before the scheduler is made."""
    if isinstance(scheduler, SCHEDULERS):
        return type(scheduler)
    return _scheduler_class(scheduler.func) if isinstance(scheduler, partial) else scheduler


def _derives(kind: Any, bases: Any) -> bool:
    """Whether this is a class, not a function, and one of `bases` or derived from one."""
    return isinstance(kind, type) and issubclass(kind, bases)


def _with(scheduler: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Callable[[Any], Any]:
    """`scheduler(optimizer, *arguments, **options)`, its options checked now: TypeError where they do not fit."""
    try:
        inspect.signature(scheduler).bind(None, *arguments, **options)
    except TypeError as error:
        name = getattr(_scheduler_class(scheduler), "__name__", "the scheduler")
        raise TypeError(f"TorchScheduler: {name}: {error}; give its options after it, by name.") from error
    except ValueError:  # a function of C, which has no signature
        pass
    return (lambda optimizer: scheduler(optimizer, *arguments, **options)) if arguments or options else scheduler

"""What `fit` and the like receive: the model is checked, data becomes a source of batches, callbacks a list."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchkeras.base.rules import is_number
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.progress import level, shown
from torchkeras.callbacks.torch_scheduler import SCHEDULERS, TorchScheduler
from torchkeras.data import checks
from torchkeras.data.sources import Source, open_source
from torchkeras.engine.fit.model_data import Intake, describe, fixed_batch_size
from torchkeras.world import processes

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

BATCH_SIZE = 32
BY_HAND = "Give the model itself to compile and fit, which wrap it; or train it by a loop of your own"
FSDP = "FullyShardedDataParallel"


# --- model -----------------------------------------------------------------------------------------------------------


def check_unwrapped(model: nn.Module, method: str) -> None:
    """Raise RuntimeError for a model in which the user has wrapped a module for several processes."""
    if not processes.has_group():  # without which torch does not wrap
        return
    for name, module in model.named_modules():
        if isinstance(module, nn.parallel.DistributedDataParallel) or type(module).__name__ == FSDP:
            where = f"the module {name!r}" if name else "the model"
            raise RuntimeError(
                f"{method}: {where} is wrapped for several processes ({type(module).__name__}), and {method} would "
                f"not see that. {BY_HAND}."
            )


# --- data ------------------------------------------------------------------------------------------------------------


def source_of(intake: Intake, x: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Source:
    """What a user gave as data, opened; a model without a graph yet is built for it.

    `options`: of `open_source`, with `method`, `batch_size` and `raw`.
    """
    training, method, batch_size = intake.training, options["method"], options["batch_size"]
    model = training.model
    if batch_size is not None:
        checks.check_count(method, "batch_size", batch_size, least=1)
    source = open_source(
        x, y, sample_weight, **options, prepare=intake.batch, check_arrays=intake.arrays, device=model._device,
        default_batch_size=fixed_batch_size(model) or BATCH_SIZE, part=training.processes.dividing.part,
    )  # fmt: skip
    raw = options.get("raw", False)
    if not model._is_connected and not (raw and training.is_alone):
        _build_for(training, source, method)
    if raw:
        source.give_raw(intake.raw)
    if source.samples is not None and source.batch_size is not None:
        check_batches(training, source.samples, source.batch_size, method)
    return source


def _build_for(training: Training, source: Source, method: str) -> None:
    """Build the model for the first batch of a source."""
    if source.once:
        raise ValueError(
            f"{method}: {describe(training.model)} has no input shape yet, and {source.kind} gives each batch only "
            "once: give the first layer an input_shape, or call model.build(input_shape)."
        )
    with torch.random.fork_rng():
        next(source.batches("sequential"))
    source.close()


def check_batches(training: Training, samples: int, batch_size: int, what: str) -> None:
    """Raise ValueError for batches of another size than the model has fixed."""
    model = training.model
    checks.check_batches(describe(model), fixed_batch_size(model), model.stateful, samples, batch_size, what)


def validation_of(
    training: Training,
    source: Source,
    split: float,
    given: Any,
    batch_size: int | None,
    own_batch_size: int | None,
    steps: int | None,
    made: dict[str, Any],
) -> tuple[Source, Source | None]:
    """What is trained on, and what is validated on.

    `batch_size`: of arrays to validate on, that of the training where the validation has no `own_batch_size`.
    """
    if given is not None:
        if split:
            warnings.warn(f"fit: validation_data is given, so validation_split {split!r} is left out.", stacklevel=5)
        raw = training.has_own("test_step")
        options = {"shuffle": None, "steps": steps, "method": "validation", "raw": raw, **made}
        return source, _given_validation(training, given, batch_size, own_batch_size, options)
    if not (is_number(split) and 0.0 <= split < 1.0):
        raise ValueError(f"fit: validation_split must be from 0 up to, not including, 1; found {split!r}.")
    if steps is not None:
        raise ValueError("fit: validation_steps goes with validation_data; there is none.")
    if not split:
        return source, None
    parts = source.split(split)
    if own_batch_size is not None:
        checks.check_count("fit", "validation_batch_size", own_batch_size, least=1)
        parts[1].batch_size = own_batch_size
    for part in parts:
        if part.samples is not None and part.batch_size is not None:
            check_batches(training, part.samples, part.batch_size, "validation_split")
    return parts


def _given_validation(
    training: Training, given: Any, batch_size: int | None, own_batch_size: int | None, options: dict[str, Any]
) -> Source:
    """`validation_data`, opened: arrays in a list, or what makes its own batches."""
    several = isinstance(given, (list, tuple))
    if not (several or hasattr(given, "shape")):
        return source_of(Intake(training), given, batch_size=own_batch_size, **options)
    if not several or len(given) not in (2, 3):
        found = f"{len(given)} items" if several else type(given).__name__
        raise ValueError(
            "When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, val_sample_weights) "
            f"items; found {found}."
        )
    return source_of(Intake(training), *given, batch_size=batch_size, **options)


# --- callbacks -------------------------------------------------------------------------------------------------------


def as_callbacks(given: Any) -> list[Any]:
    """A flat list of callbacks from a list or tuple, a `CallbackList`, a single callback, or None.

    A scheduler of `torch.optim.lr_scheduler` is wrapped in a `TorchScheduler`.
    """
    if given is None:
        return []
    items = list(given) if isinstance(given, (list, tuple, CallbackList)) else [given]
    return [TorchScheduler(item) if isinstance(item, SCHEDULERS) else item for item in items]


def hooks_of(
    training: Training,
    callbacks: Any,
    source: Source,
    verbose: int | str,
    epochs: int = 1,
    validates: bool = False,
    *last: Any,
) -> CallbackList:
    """The user's callbacks, what shows the run, then `last`; those that keep the run's state after all others."""
    verbose = level(verbose)
    found = [*as_callbacks(callbacks), *shown(verbose), *last]
    hooks = CallbackList(sorted(found, key=lambda callback: hasattr(callback, "resume")))
    hooks.set_model(training.model)
    names = [] if training.compiled is None else training.model.metrics_names
    known = source.samples is not None
    params: dict[str, Any] = {"epochs": epochs, "verbose": verbose, "do_validation": validates}
    if known:
        params = {"batch_size": source.batch_size, "samples": source.samples, **params}
    params["steps"] = None if known else source.steps
    # As in Keras 2.2.4, where a generator's run names its validation's numbers without one too.
    params["metrics"] = [*names, *(f"val_{name}" for name in names)] if validates or not known else [*names]
    hooks.set_params(params)
    return hooks

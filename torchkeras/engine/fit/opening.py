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
from torchkeras.engine.graph.network import device_of
from torchkeras.engine.graph.trace import is_connected
from torchkeras.world import processes

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

BATCH_SIZE = 32
BY_HAND = "Give the model itself to compile and fit, which wrap it; or train it by a loop of your own"
FSDP = "FullyShardedDataParallel"
VALIDATION_ITEMS = (
    "When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, val_sample_weights) items"
)


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
    """The source of the batches of a user's data; a model without a graph yet is built for it.

    `options`: those of `open_source`, among them `method`, `batch_size` and `raw`.
    """
    training, method, batch_size = intake.training, options["method"], options["batch_size"]
    model = training.model
    if batch_size is not None:
        checks.check_count(method, "batch_size", batch_size, least=1)
    source = open_source(
        x, y, sample_weight, **options, prepare=intake.batch, check_arrays=intake.arrays, device=device_of(model),
        default_batch_size=fixed_batch_size(model) or BATCH_SIZE, part=training.processes.dividing.part,
    )  # fmt: skip
    raw = options.get("raw", False)
    if not is_connected(model) and not (raw and training.is_alone):
        _build_for(training, source, method)
    if raw:
        source.give_raw(intake.raw)
    _check_batches_of(training, source, method)
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
    """Raise ValueError where the batches do not have the size that the model has fixed."""
    model = training.model
    checks.check_batches(describe(model), fixed_batch_size(model), model.stateful, samples, batch_size, what)


def _check_batches_of(training: Training, source: Source, what: str) -> None:
    """As `check_batches`, where the source knows its sizes."""
    if source.samples is not None and source.batch_size is not None:
        check_batches(training, source.samples, source.batch_size, what)


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
    """The sources to train on and to validate on.

    `batch_size`: for arrays to validate on; it is that of the training where the validation has no `own_batch_size`.
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
        _check_batches_of(training, part, "validation_split")
    return parts


def _given_validation(
    training: Training, given: Any, batch_size: int | None, own_batch_size: int | None, options: dict[str, Any]
) -> Source:
    """`validation_data`, opened: arrays in a list, or what makes its own batches."""
    if isinstance(given, (list, tuple)):
        if len(given) not in (2, 3):
            raise ValueError(f"{VALIDATION_ITEMS}; found {len(given)} items.")
        return source_of(Intake(training), *given, batch_size=batch_size, **options)
    if hasattr(given, "shape"):
        raise ValueError(f"{VALIDATION_ITEMS}; found {type(given).__name__}.")
    return source_of(Intake(training), given, batch_size=own_batch_size, **options)


# --- callbacks -------------------------------------------------------------------------------------------------------


def as_callbacks(given: Any) -> list[Any]:
    """A flat list of callbacks from a list or tuple, a `CallbackList`, a single callback, or None.

    A scheduler of `torch.optim.lr_scheduler` is wrapped in a `TorchScheduler`.
    """
    if given is None:
        return []
    if not isinstance(given, (list, tuple, CallbackList)):
        given = [given]
    return [TorchScheduler(item) if isinstance(item, SCHEDULERS) else item for item in given]


def hooks_of(
    training: Training,
    callbacks: Any,
    source: Source,
    verbose: int | str,
    epochs: int = 1,
    validates: bool = False,
    *last: Any,
) -> CallbackList:
    """The user's callbacks, those that show the run, then `last`; those that store the state of the run come last."""
    verbose = level(verbose)
    found = [*as_callbacks(callbacks), *shown(verbose), *last]
    hooks = CallbackList(sorted(found, key=lambda callback: hasattr(callback, "resume")))
    hooks.set_model(training.model)
    names: list[str] = []
    if training.compiled is not None:
        names += training.model.metrics_names
    params: dict[str, Any] = {"epochs": epochs, "verbose": verbose, "do_validation": validates, "steps": None}
    if source.samples is not None:
        params = {"batch_size": source.batch_size, "samples": source.samples, **params}
    else:
        params["steps"] = source.steps
    if validates or source.samples is None:  # as in Keras 2.2.4, for a generator also without validation
        names += [f"val_{name}" for name in names]
    hooks.set_params({**params, "metrics": names})
    return hooks

"""What `fit` and the like are given, opened: data as a source of batches, callbacks as a list."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from torchkeras.base.rules import is_number
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.given import as_callbacks
from torchkeras.callbacks.progress import level, shown
from torchkeras.engine.data import checks
from torchkeras.engine.data.part import Part
from torchkeras.engine.data.sources import Source, open_source
from torchkeras.engine.fit.compile import Compiling
from torchkeras.engine.fit.custom_steps import Extending, own_step
from torchkeras.engine.fit.model_data import Intake, describe, fixed_batch_size

BATCH_SIZE = 32


class Opening(Compiling, abstract=True):
    """Opening data and callbacks, added to a compiled network."""

    @property
    def _part(self) -> Part | None:
        """The rows of every batch that this process has, where several train together; None where it has all."""
        processes = self._processes
        return None if processes is None or processes.part.processes == 1 else processes.part

    @contextmanager
    def _together(self, method: str, *sources: Source | None, once: Any = None, **given: Any) -> Iterator[None]:
        """Where several processes train, all do together what is inside the block; see `distribution.agreement`.

        `sources`: of the batches, and of those to validate on.
        """
        if self._processes is None:
            yield
            return
        shared = [source for source in sources if source is not None]
        for source in shared[:1]:
            given |= {"samples": source.samples, "batch_size": source.batch_size, "steps": source.steps}
        with self._processes.doing(method, self, given, once, shared):
            yield

    def _intake(self, class_weight: Any = None) -> Intake:
        owned = ("train_step", "test_step", "compute_loss")
        free = any(getattr(type(self), name) is not getattr(Extending, name) for name in owned)
        return Intake(self, lambda: self._ready().targets, class_weight, self.target_tensors, free)

    def _source(self, intake: Intake, x: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Source:
        """What a user gave as data, opened; a model without a graph yet is built for it."""
        method, batch_size = options["method"], options["batch_size"]
        if batch_size is not None:
            checks.check_count(method, "batch_size", batch_size, least=1)
        source = open_source(
            x, y, sample_weight, **options, prepare=intake.batch, check_arrays=intake.arrays, device=self._device,
            default_batch_size=fixed_batch_size(self) or BATCH_SIZE, part=self._part,
        )  # fmt: skip
        raw = options.get("raw", False)
        if not self._is_connected and not (raw and self._trains_alone):
            self._build_for(source, method)
        if raw:
            source.give_raw(intake.raw)
        if source.samples is not None and source.batch_size is not None:
            self._check_batches(source.samples, source.batch_size, method)
        return source

    def _build_for(self, source: Source, method: str) -> None:
        """Build the model for the first batch of a source."""
        if source.once:
            raise ValueError(
                f"{method}: {describe(self)} has no input shape yet, and {source.kind} gives each batch only once: "
                "give the first layer an input_shape, or call model.build(input_shape)."
            )
        with torch.random.fork_rng():
            next(source.batches("sequential"))
        source.close()

    def _check_batches(self, samples: int, batch_size: int, what: str) -> None:
        checks.check_batches(describe(self), fixed_batch_size(self), self.stateful, samples, batch_size, what)

    def _validation(
        self,
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
        raw = own_step(self, "test") is not None
        options = {"shuffle": None, "steps": steps, "method": "validation", "raw": raw, **made}
        if given is not None:
            if split:
                warnings.warn(
                    f"fit: validation_data is given, so validation_split {split!r} is left out.", stacklevel=3
                )
            several = isinstance(given, (list, tuple))
            if several or hasattr(given, "shape"):
                if not several or len(given) not in (2, 3):
                    found = f"{len(given)} items" if several else type(given).__name__
                    raise ValueError(
                        "When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, "
                        f"val_sample_weights) items; found {found}."
                    )
                return source, self._source(self._intake(), *given, batch_size=batch_size, **options)
            return source, self._source(self._intake(), given, batch_size=own_batch_size, **options)
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
                self._check_batches(part.samples, part.batch_size, "validation_split")
        return parts

    def _hooks(
        self, callbacks: Any, source: Source, verbose: int | str, epochs: int = 1, validates: bool = False, *last: Any
    ) -> CallbackList:
        """The user's callbacks, what shows the run, then `last`; those that keep the run's state after all others."""
        verbose = level(verbose)
        found = [*as_callbacks(callbacks), *shown(verbose), *last]
        hooks = CallbackList(sorted(found, key=lambda callback: hasattr(callback, "resume")))
        hooks.set_model(self)
        names = [] if self._compiled_model is None else self.metrics_names
        known = source.samples is not None
        params: dict[str, Any] = {"batch_size": source.batch_size, "samples": source.samples} if known else {}
        params |= {"epochs": epochs, "verbose": verbose, "do_validation": validates}
        params["steps"] = None if known else source.steps
        # As in Keras 2.2.4, where a generator's run names its validation's numbers without one too.
        params["metrics"] = names + ([f"val_{name}" for name in names] if validates or not known else [])
        hooks.set_params(params)
        return hooks

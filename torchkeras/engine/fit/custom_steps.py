"""Custom steps: the `train_step` and `compute_loss` of a user's class, and what their code calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from torchkeras.base.nested import is_flat
from torchkeras.data.batch import Batch
from torchkeras.data.raw_batch import unpack_x_y_sample_weight
from torchkeras.engine.carried_masks import mark_masks, mask_of
from torchkeras.engine.dtypes import widened
from torchkeras.engine.fit.opening import Intake
from torchkeras.engine.fit.results import OfLastBatch
from torchkeras.engine.graph.network import device_of, flat, in_form, output_form_of
from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.step import step
from torchkeras.engine.step.step import NO_LOSS, Values
from torchkeras.engine.step.targets import Target
from torchkeras.engine.step.unchanged import checked, unchanged
from torchkeras.engine.symbolic.tensor import as_list, unpacked
from torchkeras.world.one_process import CURRENT

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

Method = TypeVar("Method", bound=Callable[..., Any])

BUILT_IN: dict[str, list[Callable[..., Any]]] = {}  # the methods of the package's models that users override


def overridable(method: Method) -> Method:
    """A method of `Model` that a class of models may override; see `Training.has_own`."""
    BUILT_IN.setdefault(method.__name__, []).append(method)
    return method


class OwnSteps:
    """Runs the custom steps of a class, and does what their code calls.

    `is_checked`: whether a custom step runs whose data was checked before. `added`: while a custom `compute_loss` runs,
    what the forward pass of the built-in step added to the loss.
    """

    def __init__(self, training: Training):
        self._training = training
        self.is_checked = False
        self.added: Sequence[torch.Tensor] = ()

    # --- running custom code -----------------------------------------------------------------------------------------

    def step(self, kind: str) -> Callable[[Batch], Values]:
        """The user's step for "train" or "test", over a `Batch`."""
        return partial(self._run, kind, getattr(self._training.model, f"{kind}_step"))

    def _run(self, kind: str, step: Callable[[Any], Any], batch: Batch) -> Values:
        training = self._training
        what = f"{type(training.model).__name__}.{kind}_step"
        data = training.model._step_data(*data_of(batch)) if batch.raw is None else batch.raw
        with torch.set_grad_enabled(kind == "train"), ADDED.one_pass(), self._stepping(batch):
            found = on_batch(what, batch, partial(step, data))
        numbers = _numbers(what, found, training.ready().kept, device_of(training.model))
        return OfLastBatch(numbers) if training.model._habits.reports_last_batch else numbers

    @contextmanager
    def _stepping(self, batch: Batch) -> Iterator[None]:
        """A custom step runs on this batch: `optimizer.step()` and `apply` inside it make the step of the model."""
        optimizer = self._training.ready().optimizer
        if optimizer is None:
            optimizer = SimpleNamespace()  # the class has optimizers of its own
        optimizer.stepping = StepByHand(self._training, batch.whole)
        self.is_checked = batch.raw is None
        try:
            yield
        finally:
            self.is_checked = False
            optimizer.stepping = None

    def loss(self, batch: Batch, outputs: list[Any], masks: list[Any], added: list[torch.Tensor]) -> torch.Tensor:
        """The custom `compute_loss` of a forward pass. Raises TypeError when it gives no scalar tensor."""
        mark_masks(outputs, masks)
        x, y, weight = data_of(batch)
        model, before = self._training.model, self.is_checked
        what = f"{type(model).__name__}.compute_loss"
        self.added, self.is_checked = added, True
        try:
            predicted = in_form(output_form_of(model), unpacked(outputs))
            compute = partial(model.compute_loss, x, y, predicted, weight, **self._mode_of(model.compute_loss))
            loss = on_batch(what, batch, compute)
        finally:
            self.added, self.is_checked = (), before
        if not isinstance(loss, torch.Tensor) or loss.dim():
            found = f"a tensor of shape {tuple(loss.shape)}" if isinstance(loss, torch.Tensor) else type(loss).__name__
            raise TypeError(f"{what} must return a scalar tensor; found {found}.")
        return loss

    def _mode_of(self, method: Callable[..., Any]) -> dict[str, bool]:
        """Whether the model trains, for a method with an argument `training`."""
        return {"training": torch.is_grad_enabled()} if "training" in inspect.signature(method).parameters else {}

    def prediction(self, batch: Batch) -> list[Any]:
        """The outputs of the custom `predict_step`, for checked inputs or a batch as its loader made it."""
        model = self._training.model
        data = model._prediction_data(unpacked(batch.inputs)) if batch.raw is None else batch.raw
        return as_list(on_batch(f"{type(model).__name__}.predict_step", batch, partial(model.predict_step, data)))

    # --- what custom code calls --------------------------------------------------------------------------------------

    def built_in(self, kind: str, data: Any) -> Values:
        """The built-in step, "train" or "test", on the data of a custom step."""
        return {**self.of_batch(kind, data), **self.counted()}

    def of_batch(self, kind: str, data: Any) -> Values:
        """The numbers of the batch alone that the built-in step gives."""
        run = {"train": step.train_step, "test": step.test_step}[kind]
        return run(self._training.ready(), self._batch(data))

    def _batch(self, data: Any) -> Batch:
        """The data of a custom step as a batch for the built-in one, checked unless it was."""
        x, y, weight = unpack_x_y_sample_weight(data)
        if not self.is_checked:
            batch = Intake(self._training).batch(x, y, weight, CURRENT.batch.whole)
        else:
            inputs, targets = as_list(x), as_list(y)
            weights: list[Any] = [None] * len(targets) if weight is None else as_list(weight)
            batch = Batch(inputs, targets, weights, len(inputs[0]))
        return CURRENT.batch.counted(batch)

    def counted(self) -> dict[str, torch.Tensor]:
        """The results so far of the metrics with a state."""
        return {name: metric.result() for name, metric in self._training.ready().kept.items()}

    def compute_loss(self, y: Any, y_pred: Any, sample_weight: Any) -> torch.Tensor:
        """As `Model.compute_loss`."""
        losses: list[Any] = []
        for target, true, predicted, weight in self._paired("compute_loss", y, y_pred, sample_weight):
            compute = checked(target.objective.given, target.objective)
            losses.append(target.weight * compute(true, predicted, weight, mask_of(predicted)))
        losses += self._training.model.losses
        if not losses:
            raise RuntimeError(NO_LOSS)
        total: Any = sum(losses[1:], losses[0])
        return total

    def compute_metrics(self, y: Any, y_pred: Any, sample_weight: Any) -> dict[str, torch.Tensor]:
        """As `Model.compute_metrics`."""
        return {**self.measured(y, y_pred, sample_weight), **self.counted()}

    def measured(self, y: Any, y_pred: Any, sample_weight: Any) -> dict[str, torch.Tensor]:
        """The metrics without a state, for one batch; those with a state count it."""
        values: dict[str, torch.Tensor] = {}
        for target, true, predicted, weight in self._paired("compute_metrics", y, y_pred, sample_weight):
            mask = mask_of(predicted)
            with torch.no_grad():
                step.measured(replace(target, logits=None), true, predicted, weight, mask, values)
        return values

    def _paired(self, method: str, y: Any, y_pred: Any, sample_weight: Any) -> list[tuple[Target, Any, Any, Any]]:
        """Each target of `compile` with y_true, y_pred and weights. Raises ValueError where their number differs."""
        training, model = self._training, self._training.model
        targets, outputs = training.ready().targets, self._flat_outputs(method, y_pred)
        if self.is_checked or not targets:
            true = as_list(y)
        else:
            true = Intake(training).true(y)
        weights = [None] * len(targets) if sample_weight is None else as_list(sample_weight)
        for name, found, expected in (
            ("y_pred", outputs, len(model.outputs)),
            ("y", true, len(targets)),
            ("sample_weight", weights, len(targets)),
        ):
            if len(found) != expected:
                raise ValueError(
                    f"{method}: {name} must be {expected} tensor(s), for {model.name!r}; found {len(found)}."
                )
        in_region = torch.is_autocast_enabled(device_of(model).type)
        for index in range(len(outputs)) if in_region else training.ready().widened:
            outputs[index] = widened(outputs[index])
        return [(t, true[k], outputs[t.index], weights[k]) for k, t in enumerate(targets)]

    def _flat_outputs(self, method: str, y_pred: Any) -> list[Any]:
        """The outputs as a list, also where they came in the form of the model's."""
        form = output_form_of(self._training.model)
        if form is not None and not is_flat(y_pred):
            return flat(form, y_pred, f"{method}: y_pred")
        return as_list(y_pred)

    def minimize(self, loss: torch.Tensor, samples: int) -> None:
        """As `Model.minimize`."""
        compiled = self._training.ready()
        if compiled.optimizer is None:
            raise RuntimeError(
                f"{type(self._training.model).__name__}.minimize: the model was compiled without an optimizer: give "
                "compile one, or take the step with an optimizer of your own."
            )
        step.minimize(compiled, loss, CURRENT.batch.in_all(samples))


class StepByHand:
    """A custom train step on a batch of so many samples, as `optimizers.by_hand.Stepping`."""

    def __init__(self, training: Training, samples: int):
        self._training, self._samples = training, samples

    def ready(self) -> None:
        self._training.ready()

    def update(self, gradients: Sequence[torch.Tensor | None]) -> None:
        compiled = self._training.ready()
        step.update_by_hand(compiled, CURRENT.batch.averaged(gradients, compiled.replicas), self._samples)


def _numbers(what: str, found: Any, kept: Mapping[str, Any], device: torch.device) -> Values:
    """The numbers that a custom step returned, as tensors on the device; `kept`: the metrics with state, by name.

    Those in a dict inside stand with the others.

    Raises TypeError, which begins with `what`, for anything but a dict of names and numbers.
    """
    if not isinstance(found, Mapping):
        raise TypeError(f"{what} must return a dict of names and numbers; found {type(found).__name__}.")
    if not found:
        raise TypeError(f"{what} must return a dict of names and numbers; found an empty one.")
    values: dict[str, torch.Tensor] = {}
    for name, value in found.items():
        if isinstance(value, Mapping) and value:
            values.update(_numbers(what, value, kept, device))
            continue
        if not isinstance(value, (torch.Tensor, Real, np.ndarray)):
            raise TypeError(f"{what} must return numbers; {name!r} is {value!r}.")
        values[name] = number = torch.as_tensor(value).detach().to(device)
        if number.dim() and name not in kept:
            raise TypeError(f"{what} must return numbers; {name!r} has the shape {tuple(number.shape)}.")
    return values


def on_batch(what: str, batch: Batch, step: Callable[[], Any]) -> Any:
    """The result of a custom step. Raises RuntimeError, which begins with `what`, if it changes the batch in place.

    A batch as its loader made it (`raw`) may be changed.
    """
    x, y, weights = batch.inputs, batch.targets, batch.weights
    names = ["x"] * len(x) + ["y"] * len(y) + ["sample_weight"] * len(weights)
    return unchanged(what, names, [*x, *y, *weights], step)


def data_of(batch: Batch) -> Any:
    """(x, y, sample_weight) of a batch, a single tensor for one input or target."""
    weights = None if all(weight is None for weight in batch.weights) else unpacked(batch.weights)
    return unpacked(batch.inputs), unpacked(batch.targets) if batch.targets else None, weights

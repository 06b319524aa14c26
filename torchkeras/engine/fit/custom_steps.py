"""Steps of the user's own: what a class of models overrides, and what its code asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import torch

from torchkeras.base.fixed_lists import Losses
from torchkeras.engine.data.batch import Batch
from torchkeras.engine.data.raw_batch import unpack_x_y_sample_weight
from torchkeras.engine.dtypes import widened
from torchkeras.engine.facts import Facts
from torchkeras.engine.fit.graph_losses import GraphLosses
from torchkeras.engine.layer.added_losses import ADDED, losses_of_call
from torchkeras.engine.step import step
from torchkeras.engine.step.compiled_model import NO_LOSS, CompiledModel, Values
from torchkeras.engine.step.targets import Target
from torchkeras.engine.step.unchanged import checked, unchanged
from torchkeras.engine.symbolic.tensor import as_list, unpacked
from torchkeras.engine.weights.weight import penalized
from torchkeras.world.one_process import CURRENT


class Extending(GraphLosses, abstract=True):
    """The part of a model that users override: `train_step` and the like."""

    _losses_of_step: Sequence[torch.Tensor] = ()  # what the built-in step's pass added, while `compute_loss` is asked
    _marks_masks = False  # whether outputs of a call by hand carry their masks, for `compute_loss`

    _data_checked = False  # whether a step of the user's own is under way whose data was checked before

    _intake: Callable[[], Any]  # of `Trainer`: what checks data

    _device: torch.device  # where the weights are

    def _ready(self) -> CompiledModel:
        raise NotImplementedError

    @property
    def losses(self) -> list[torch.Tensor]:
        """The penalties on the weights now, and what layers added in the last pass by hand: sum them in your loop."""
        penalties = [v.regularizer(v.array) for v in penalized(self)]
        return Losses(
            [*penalties, *self._losses_of_step, *(loss for m in self.modules() for loss in losses_of_call(m))]
        )

    def train_step(self, data: Any) -> Mapping[str, Any]:
        """One step of training on a batch. Override it for a step of your own.

        Compute a loss with `self(x)` and `self.compute_loss(...)`, then call `self.minimize(loss)`, or
        `loss.backward()` and `self.optimizer.step()`. The metrics of `compile` come from `self.compute_metrics(...)`.

        Arguments:
            data (batch): of arrays `(x, y, sample_weight)`, checked, with None for weights that are not there. Of a
                DataLoader, Dataset, generator or `Sequence` it is the batch as that made it, in any form, on the
                model's device. `unpack_x_y_sample_weight(data)` gives x, y and weight of either.

        Returns:
            The numbers to report by name. They are averaged over the epoch, weighted by batch size. A metric with a
                state is
            reported when its name is among them.
        """
        return {**step.train_step(self._ready(), self._batch(data)), **self._counted()}

    def test_step(self, data: Any) -> Mapping[str, Any]:
        """One step of an evaluation on a batch, without an update. Override it for a step of your own.

        Arguments:
            data (batch): as in `train_step`.

        Returns:
            The numbers to report by name.
        """
        with torch.no_grad():
            return {**step.test_step(self._ready(), self._batch(data)), **self._counted()}

    def _batch(self, data: Any) -> Batch:
        """What a step is given, for the built-in one: checked, unless it was."""
        x, y, weight = unpack_x_y_sample_weight(data)
        if not self._data_checked:
            batch = self._intake().batch(x, y, weight, CURRENT.batch.whole)
        else:
            inputs, targets = as_list(x), [] if y is None else as_list(y)
            weights: list[Any] = [None] * len(targets) if weight is None else as_list(weight)
            batch = Batch(inputs, targets, weights, len(inputs[0]))
        return CURRENT.batch.counted(batch)

    def _counted(self) -> dict[str, torch.Tensor]:
        """What the metrics with a state have counted so far."""
        return {name: metric.result() for name, metric in self._ready().kept.items()}

    def predict_step(self, data: Any) -> Any:
        """The outputs for a batch. Override it for a step of your own.

        Arguments:
            data (batch): `(x,)` of arrays, or a batch as its loader made it.

        Returns:
            The outputs: a tensor, or several.
        """
        with torch.no_grad():
            inputs = as_list(unpack_x_y_sample_weight(data)[0])
            return unpacked(step.predict_step(self._computing._call_module, inputs))

    @contextmanager
    def _stepping(self, batch: Batch) -> Iterator[None]:
        """A step of the user's own is under way on this batch: gradients made by hand reach the optimizer by us."""
        optimizer = self._ready().optimizer
        if optimizer is not None:
            optimizer.stepping = OwnStep(self, batch.whole)
        self.__dict__["_data_checked"] = batch.raw is None
        try:
            yield
        finally:
            self.__dict__["_data_checked"] = False
            if optimizer is not None:
                optimizer.stepping = None

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> torch.Tensor:
        """The loss that `compile` settled, for outputs of the model: each output's, weighted, and all penalties.

        Outputs that the model gave in this step carry their masks. Override it to minimize something else; metrics stay
        as they are.

        Arguments:
            x (tensors, default None): the inputs; they are not needed.
            y (tensors, default None): the targets.
            y_pred (tensors, default None): the outputs.
            sample_weight (tensors or None, default None): a weight for each sample.

        Returns:
            A scalar tensor.

        Errors:
            RuntimeError: there is no loss at all.
            ValueError: the number of targets, outputs or weights is another.
        """
        losses: list[Any] = [
            target.weight
            * checked(target.objective.given, target.objective)(
                true, predicted, weight, getattr(predicted, "_keras_mask", None)
            )
            for target, true, predicted, weight in self._paired("compute_loss", y, y_pred, sample_weight)
        ]
        losses += self.losses
        if not losses:
            raise RuntimeError(NO_LOSS)
        total: Any = sum(losses[1:], losses[0])
        return total

    def _own_loss(self, batch: Batch, outputs: list[Any], masks: list[Any], added: list[torch.Tensor]) -> torch.Tensor:
        """What the user's `compute_loss` makes of a step's pass. Raises TypeError when it gives no scalar tensor."""
        mark_masks(outputs, masks)
        x, y, weight = _data(batch)
        before = self._data_checked
        self.__dict__["_losses_of_step"], self.__dict__["_data_checked"] = added, True
        try:
            compute = partial(self.compute_loss, x, y, unpacked(outputs), weight)
            loss = on_batch(f"{type(self).__name__}.compute_loss", batch, compute)
        finally:
            del self.__dict__["_losses_of_step"]
            self.__dict__["_data_checked"] = before
        if not isinstance(loss, torch.Tensor) or loss.dim():
            found = f"a tensor of shape {tuple(loss.shape)}" if isinstance(loss, torch.Tensor) else type(loss).__name__
            raise TypeError(f"{type(self).__name__}.compute_loss must return a scalar tensor; found {found}.")
        return loss

    def forward(self, *inputs: Any, mask: Any = None, details: bool = False, logits: tuple[int, ...] = ()) -> Any:
        """The outputs for the inputs; in a model with a step of its own they carry their masks.

        Arguments:
            inputs (tensors): the inputs, one by one or in a list.
            mask (tensor, list or None, default None): the masks of the inputs.
            details (bool, default False): whether to return (outputs, masks, activity losses).
            logits (numbers, default ()): the outputs, by number, to return without their last activation.

        Returns:
            A tensor, or a list of several.
        """
        if details or not self._marks_masks:
            return super().forward(*inputs, mask=mask, details=details, logits=logits)
        outputs, masks, _ = super().forward(*inputs, mask=mask, details=True, logits=logits)
        mark_masks(as_list(outputs), masks)
        return outputs

    class _Facts(Facts):
        def hook_free(self) -> Callable[..., Any]:
            return self.layer.forward if self.layer._marks_masks else super().hook_free()

    def compute_metrics(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
    ) -> dict[str, torch.Tensor]:
        """The metrics of `compile`, for outputs of the model; a step of your own returns them.

        Metrics with a state count the batch, and return what they have counted so far.

        Arguments:
            x (tensors, default None): the inputs; they are not needed.
            y (tensors, default None): the targets.
            y_pred (tensors, default None): the outputs.
            sample_weight (tensors or None, default None): a weight for each sample.

        Returns:
            The numbers by name.

        Errors:
            ValueError: the number of targets, outputs or weights is another.
        """
        values: dict[str, torch.Tensor] = {}
        for target, true, predicted, weight in self._paired("compute_metrics", y, y_pred, sample_weight):
            mask = getattr(predicted, "_keras_mask", None)
            with torch.no_grad():
                step.measured(replace(target, logits=None), true, predicted, weight, mask, values)
        return {**values, **self._counted()}

    def _paired(self, method: str, y: Any, y_pred: Any, sample_weight: Any) -> list[tuple[Target, Any, Any, Any]]:
        """Each target of `compile` with what is true, predicted, and its weights; ValueError for another number."""
        targets, outputs = self._ready().targets, [] if y_pred is None else list(as_list(y_pred))
        true = ([] if y is None else as_list(y)) if self._data_checked or not targets else self._intake().true(y)
        weights = [None] * len(targets) if sample_weight is None else as_list(sample_weight)
        for name, found, wanted in (
            ("y_pred", outputs, len(self.outputs)),
            ("y", true, len(targets)),
            ("sample_weight", weights, len(targets)),
        ):
            if len(found) != wanted:
                raise ValueError(f"{method}: {name} must be {wanted} tensor(s), for {self.name!r}; found {len(found)}.")
        in_region = torch.is_autocast_enabled(self._device.type)
        for index in range(len(outputs)) if in_region else self._ready().widened:
            outputs[index] = widened(outputs[index])
        return [(t, true[k], outputs[t.index], weights[k]) for k, t in enumerate(targets)]

    def minimize(self, loss: torch.Tensor, samples: int = 1) -> None:
        """One update of the trainable weights against a loss: gradients, clipping, optimizer, constraints.

        Arguments:
            loss (scalar tensor): the loss.
            samples (integer, default 1): the samples of the batch, by which it counts when gradients of several batches
                are accumulated.

        Errors:
            RuntimeError: the model was compiled without an optimizer.
        """
        if self._ready().optimizer is None:
            raise RuntimeError(
                f"{type(self).__name__}.minimize: the model was compiled without an optimizer: give compile one, or "
                "take the step with an optimizer of your own."
            )
        step.minimize(self._ready(), loss, CURRENT.batch.in_all(samples))


class OwnStep:
    """A train step of the user's own on a batch of so many samples: what `optimizers.by_hand` asks of it."""

    def __init__(self, model: Extending, samples: int):
        self._model, self._samples = model, samples

    def ready(self) -> None:
        self._model._ready()

    def update(self, gradients: Sequence[torch.Tensor | None]) -> None:
        compiled = self._model._ready()
        step.update_by_hand(compiled, CURRENT.batch.averaged(gradients, compiled.replicas), self._samples)


def own_step(network: Extending, kind: str) -> Any:
    """The step of the user's own class for "train" or "test", over a `Batch`; None where there is none."""
    if getattr(type(network), f"{kind}_step") is getattr(Extending, f"{kind}_step"):
        return None
    step = getattr(network, f"{kind}_step")

    def run(batch: Batch) -> Values:
        data = _data(batch) if batch.raw is None else batch.raw
        with torch.set_grad_enabled(kind == "train"), ADDED.one_pass(), network._stepping(batch):
            found = on_batch(f"{type(network).__name__}.{kind}_step", batch, partial(step, data))
        if not isinstance(found, Mapping) or not found:
            what = "an empty one" if isinstance(found, Mapping) else type(found).__name__
            raise TypeError(
                f"{type(network).__name__}.{kind}_step must return a dict of names and numbers; found {what}."
            )
        for name, value in found.items():
            if not isinstance(value, (torch.Tensor, Real, np.ndarray)):
                raise TypeError(f"{type(network).__name__}.{kind}_step must return numbers; {name!r} is {value!r}.")
        values = {name: torch.as_tensor(value).detach() for name, value in found.items()}
        kept = network._ready().kept
        for name, value in values.items():
            if value.dim() and name not in kept:
                raise TypeError(
                    f"{type(network).__name__}.{kind}_step must return numbers; {name!r} has the shape "
                    f"{tuple(value.shape)}."
                )
        device = network._device
        return {name: value if value.device == device else value.to(device) for name, value in values.items()}

    return run


def on_batch(what: str, batch: Batch, step: Callable[[], Any]) -> Any:
    """What a step of the user's gives. Raises RuntimeError, which begins with `what`, if it changes the batch in place.

    A batch as its loader made it (`raw`) is the loader's own, and not looked at.
    """
    parts = {"x": batch.inputs, "y": batch.targets, "sample_weight": batch.weights}
    names = [name for name, tensors in parts.items() for _ in tensors]
    return unchanged(what, names, [each for tensors in parts.values() for each in tensors], step)


def mark_masks(outputs: list[Any], masks: list[Any]) -> None:
    """Give outputs their masks along, as Keras 3 does."""
    for output, mask in zip(outputs, masks, strict=False):
        if mask is not None:
            output._keras_mask = mask


def _data(batch: Batch) -> Any:
    """(x, y, sample_weight) of a batch, a single tensor for one input or target."""
    weights = None if all(weight is None for weight in batch.weights) else unpacked(batch.weights)
    return unpacked(batch.inputs), unpacked(batch.targets) if batch.targets else None, weights

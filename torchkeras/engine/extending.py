"""What users add to a model's training: losses and metrics of the graph, steps of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from torchkeras.engine import steps
from torchkeras.engine.data import Batch
from torchkeras.engine.network import Network
from torchkeras.engine.steps import Recipe, Values
from torchkeras.engine.symbol import KerasTensor, as_list, unpacked


class Extending(Network, abstract=True):
    """The part of a model that users extend: `add_loss`, `add_metric`; `train_step` and the like, to be overridden."""

    _added_losses: tuple[KerasTensor, ...] = ()
    _added_metrics: Mapping[str, KerasTensor] = {}

    def _ready(self) -> Recipe:
        raise NotImplementedError

    # --- losses and metrics of the graph -----------------------------------------------------------------------------

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add the mean of a symbolic tensor (or of each in a list) to the loss; inside a layer's `call`, see `Layer`.

        The tensor is computed from the model's inputs. Call `compile` afterwards. Raises ValueError when that is not
        so, or when a layer on the way has weights that are not the model's.
        """
        if not any(isinstance(loss, KerasTensor) for loss in as_list(losses)):
            super().add_loss(losses, inputs)
            return
        self._behind([*self._added_losses, *as_list(losses)], self._added_metrics)

    def add_metric(self, value: Any, name: str, aggregation: str | None = "mean") -> None:
        """Report the mean of a symbolic tensor under `name`; otherwise as `add_loss`."""
        if not isinstance(value, KerasTensor):
            super().add_metric(value, name, aggregation)
            return
        if aggregation != "mean":
            raise ValueError(f"{self.name}: add_metric: aggregation must be 'mean'; found {aggregation!r}.")
        self._behind(self._added_losses, {**self._added_metrics, name: value})

    def _behind(self, losses: Any, metrics: Mapping[str, KerasTensor]) -> None:
        """Take what is computed behind the outputs, after a look at whether it can be."""
        before = self._added_losses, self._added_metrics
        self.__dict__.update(_added_losses=tuple(losses), _added_metrics=dict(metrics), _recipe=None)
        try:
            known = set(map(id, self.modules()))
            for layer in self._trained_network().layers:
                if id(layer) not in known and layer.weights:
                    raise ValueError(
                        f"{type(self).__name__} {self.name!r}: the layer {layer.name!r} on the way to an added loss or "
                        "metric has weights, and is no layer of the model: they would not train. Make its output an "
                        "output of the model."
                    )
        except ValueError:
            self.__dict__.update(_added_losses=before[0], _added_metrics=before[1])
            raise

    def _trained_network(self) -> Network:
        """What a step computes: the model, or one that gives what was added behind the model's own outputs."""
        added = [*self._added_losses, *self._added_metrics.values()]
        if not added:
            return self
        network = Network(name=self.name)
        network._connect(unpacked(self.inputs), [*self.outputs, *added])
        return network

    @property
    def losses(self) -> list[torch.Tensor]:
        """The penalties on the weights now, and what layers added in their last call by hand: sum them in your loop."""
        penalties = [v.regularizer(v.value) for v in self.weights if v.regularizer is not None]
        return penalties + [loss for m in self.modules() for loss in m.__dict__.get("_losses_of_call", ())]

    # --- steps of one's own ------------------------------------------------------------------------------------------

    def train_step(self, data: Any) -> Mapping[str, Any]:
        """One step of training on a batch `(x, y, sample_weight)`; returns the numbers to report by name.

        Override it for a step of your own: compute a loss with `self(x)` and `self.compute_loss(...)`, then call
        `self.minimize(loss)`. Tensors that you return are averaged over the epoch, weighted by batch size.
        """
        return steps.train_step(self._ready(), _batch(data))

    def test_step(self, data: Any) -> Mapping[str, Any]:
        """The same for an evaluation, without an update."""
        return steps.test_step(self._ready(), _batch(data))

    def predict_step(self, data: Any) -> Any:
        """The outputs for a batch `(x,)`."""
        return unpacked(steps.predict_step(self, as_list(data[0] if isinstance(data, tuple) else data)))

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> torch.Tensor:
        """The loss that `compile` settled, of outputs that the model gave: each output's, weighted, and all penalties.

        `x` is not needed. Override it to minimize something else; metrics stay as they are.
        """
        recipe = self._ready()
        outputs = as_list(y_pred)
        weights = as_list(sample_weight) if sample_weight is not None else [None] * len(recipe.targets)
        losses = [
            target.weight * target.objective(true, outputs[target.index], weight, None)
            for target, true, weight in zip(recipe.targets, as_list(y), weights, strict=True)
        ]
        return torch.stack([*losses, *self.losses]).sum()

    def minimize(self, loss: torch.Tensor, samples: int = 1) -> None:
        """One update of the trainable weights against a loss: gradients, clipping, optimizer, constraints.

        `samples`: of the batch, which weigh it where gradients of several batches are accumulated.
        """
        steps.minimize(self._ready(), loss, samples)


def own_step(network: Extending, kind: str) -> Any:
    """The step of the user's own class for "train" or "test", over a `Batch`; None where there is none."""
    if getattr(type(network), f"{kind}_step") is getattr(Extending, f"{kind}_step"):
        return None
    step = getattr(network, f"{kind}_step")

    def run(batch: Batch) -> Values:
        with torch.set_grad_enabled(kind == "train"):
            found = step(_data(batch))
        if not isinstance(found, Mapping):
            raise TypeError(
                f"{type(network).__name__}.{kind}_step must return a dict of names and numbers; found "
                f"{type(found).__name__}."
            )
        device = batch.inputs[0].device
        return {name: torch.as_tensor(value, device=device).detach() for name, value in found.items()}

    return run


def _data(batch: Batch) -> Any:
    """(x, y, sample_weight) of a batch, a single tensor for one input or target."""
    weights = None if all(weight is None for weight in batch.weights) else unpacked(batch.weights)
    return unpacked(batch.inputs), unpacked(batch.targets) if batch.targets else None, weights


def _batch(data: Any) -> Batch:
    x, y, weight = (*data, None, None)[:3] if isinstance(data, tuple) else (data, None, None)
    inputs, targets = as_list(x), [] if y is None else as_list(y)
    weights = [None] * len(targets) if weight is None else as_list(weight)
    return Batch(inputs, targets, weights, len(inputs[0]))

"""`CompiledModel`: all that a step needs to know of a model; `compile` makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from torchkeras.base.lazy import lazy_property
from torchkeras.base.sharing import sharing
from torchkeras.data.batch import Batch
from torchkeras.engine.facts import facts_of
from torchkeras.engine.graph.hook_free_calls import HookFreeCalls
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.modes import in_mode
from torchkeras.engine.step.by_sample import is_by_sample
from torchkeras.engine.step.loss_scale import LossScale
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.targets import Target, losses_and_metrics, measures_of
from torchkeras.engine.weights.weight import Variable
from torchkeras.metrics import Metric
from torchkeras.world.one_process import ONE_REPLICA, OneReplica

NO_LOSS = "The model has no loss to optimize: give compile a `loss`, or the model one with `add_loss`."

Values = dict[str, torch.Tensor]
BatchStep = Callable[[Batch], Values]


@dataclass(eq=False)
class CompiledModel:
    """All that a step needs to know of a compiled model, looked up once by `compile`.

    `network` computes the model's outputs and, after them, the tensors of the model's `add_loss` (`added_losses` is
    their number) and `add_metric` (`added_metrics` are their names). `fed`: the indices of the targets that it takes
    after the inputs, for losses and metrics that it computes. `details`: some output has a mask, or some layer an
    activity regularizer. `own_loss`: a user's `compute_loss`, of the batch, outputs, masks and all other losses.
    `ends`: the modules whose hooks would see that an output's activation is left out. `widened`: the outputs of 16 bits
    that losses and metrics take as 32 bits. `scaling`: the loss scale, if layers train in float16.

    `train_pass`, `score`: the built-in training and test steps, plain or compiled by torch; None if the class has its
    own.
    `replicas`: the forward pass over the network and its gradients, by several processes or by one.
    `is_unbuilt`: whether the first call may build more weights. `placed`: the devices and types of the parameters when
    the optimizer last saw them. `asking`: the ids of the parameters with `requires_grad` when the weights were last
    found to train as at `compile`. `predicting`: the prediction compiled by torch, once it is used. `settled`: the
    count of changed options that this object follows; `look_again()` follows later changes.
    """

    network: Network
    targets: Sequence[Target]
    optimizer: Any
    parameters: list[torch.Tensor]
    regularized: list[Variable]
    constrained: list[Variable]
    details: bool
    added_losses: int = 0
    added_metrics: Sequence[str] = ()
    fed: Sequence[int] = ()
    guard: Guard | None = None
    own_loss: Callable[..., torch.Tensor] | None = None
    ends: tuple[torch.nn.Module, ...] = ()
    widened: tuple[int, ...] = ()
    scaling: LossScale | None = None
    train_pass: Any = None
    score: Any = None
    is_unbuilt: bool = False
    placed: list[Any] | None = None
    asking: set[int] = field(default_factory=set)
    predicting: Any = None
    replicas: OneReplica = ONE_REPLICA
    settled: int = field(default_factory=lambda: SETTLED.count)
    look_again: Callable[[], None] = lambda: None

    def follow(self, penalized: list[Variable], constrained: list[Variable], details: bool) -> None:
        """Follow the options of layers: penalties, constraints and last activations as they are now."""
        self.regularized, self.constrained, self.details = penalized, constrained, self.details or details
        targets: list[Target] = []
        for target, layer in zip(self.targets, self.ends[2:], strict=True):
            if facts_of(layer).ends_in != target.logits:  # type: ignore[union-attr]
                target = target.with_activation()
            targets.append(target)
        self.targets = targets
        self.__dict__.pop("logits", None)
        # The function is written here, and first: torch.compile can follow neither that nor the choice of direct calls.
        generated = self.network._generated
        generated.function(generated.plain._replace(details=self.details, logits=self.logits))
        self.calls, self.settled = HookFreeCalls(self.network), SETTLED.count

    @lazy_property
    def logits(self) -> tuple[int, ...]:
        """The outputs whose activation a step leaves out."""
        return tuple(target.index for target in self.targets if target.logits)

    @lazy_property
    def exact(self) -> tuple[int, ...]:
        """The outputs whose crossentropies are exact."""
        return tuple(target.index for target in self.targets if target.exact)

    @lazy_property
    def kept(self) -> Mapping[str, Metric]:
        """The metrics with a state, by name."""
        return {each.name: each.metric for each in measures_of(self.targets) if each.keeps_state}

    @lazy_property
    def by_sample(self) -> bool:
        """Whether loss and metrics are means over samples, and nothing is added to them."""
        if self.details or self.added_losses or self.added_metrics or self.own_loss or self._gathers_penalized():
            return False
        return len(self.targets) > 0 and all(map(is_by_sample, losses_and_metrics(self.targets)))

    def _gathers_penalized(self) -> bool:
        """Whether a penalty is on weights that processes share: all processes must gather these at once."""
        with in_mode(False):  # a computed weight must change nothing here
            return any(sharing().is_sharded(tensor) for variable in self.regularized for tensor in variable.tensors)

    @lazy_property
    def calls(self) -> HookFreeCalls:
        """How a step calls the network; made for the first step, and set again when a run begins."""
        return HookFreeCalls(self.network)

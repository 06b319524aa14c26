"""Train, test and predict steps as graphs of torch.compile, which may capture them as CUDA graphs.

The graph of a train step has the forward pass, loss, gradients and metrics. The optimizer's update stays outside: it is
one fused kernel already, no faster in a graph, and a new learning rate needs no new graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from torchkeras.data.batch import Batch
from torchkeras.engine.graph.layer_calls import HookFreeCalls
from torchkeras.engine.speed.compiled_call import OneGraph, Options, captures, in_parts, stays_in_place, with_gradients
from torchkeras.engine.step.step import CompiledModel, TrainPass, Values, gradients_of, losses, train_pass
from torchkeras.engine.symbolic.tensor import as_list, unpacked


class CompiledTraining(OneGraph[TrainPass]):
    """`step.train_pass` of one compiled model."""

    does = "step"

    def __call__(self, model: CompiledModel, batch: Batch, defer_metrics: bool = False) -> TrainPass:
        makers = partial(_whole, model), partial(_in_two, model)
        plain = partial(train_pass, model, batch, defer_metrics)
        return self.call(model.calls, _tensors(batch), plain, *makers, more=(batch.size,))

    def copied(self, found: TrainPass) -> TrainPass:
        # Gradients are used at once, but logs are read later.
        return found._replace(values=_cloned(found.values))


class CompiledScoring(OneGraph["tuple[torch.Tensor, Values]"]):
    """`step.losses` of one compiled model in evaluation, for a caller that records no gradients."""

    does = "evaluation"

    def __call__(self, model: CompiledModel, batch: Batch) -> tuple[torch.Tensor, Values]:
        plain = partial(losses, model, batch)
        return self.call(model.calls, _tensors(batch), plain, partial(_scored, model), more=(batch.size,))

    def copied(self, found: tuple[torch.Tensor, Values]) -> tuple[torch.Tensor, Values]:
        return found[0].clone(), _cloned(found[1])


class Running(OneGraph["list[Any]"]):
    """`run` of a network in evaluation, for a caller that records no gradients."""

    does = "prediction"

    calls: HookFreeCalls  # of the network; set when a run begins

    def run(self, inputs: Any) -> list[Any]:
        """The outputs."""

        def make(options: Options, changes: int) -> Callable[..., Any]:
            def run(tensors: list[torch.Tensor]) -> list[Any]:
                return as_list(self.calls.unobserved(unpacked(tensors)))

            return in_parts(run, options)

        return self.call(self.calls, [as_list(inputs)], lambda: as_list(self.calls.run(inputs)), make)

    def copied(self, found: list[Any]) -> list[Any]:
        return [output.clone() for output in found]


def _whole(model: CompiledModel, options: Options, changes: int) -> Callable[..., TrainPass] | None:
    """All of `train_pass` in one graph, gradients included."""

    def run(inputs: Any, targets: Any, weights: Any, size: int) -> TrainPass:
        return train_pass(model, Batch(inputs, targets, weights, size))

    _keep_states_in_place(model, options)
    return with_gradients(run, options, changes)


def _in_two(model: CompiledModel, options: Options, changes: int) -> Callable[..., TrainPass]:
    """The graphs of `_scored`, then gradients by autograd."""
    compiled = _scored(model, options, changes)

    def run(*arguments: Any) -> TrainPass:
        loss, values = compiled(*arguments)
        return TrainPass(loss.detach(), gradients_of(model, loss), values)

    return run


def _scored(model: CompiledModel, options: Options, changes: int) -> Callable[..., Any]:
    """Forward pass, loss and metrics in as few graphs as possible."""

    def run(inputs: Any, targets: Any, weights: Any, size: int) -> Any:
        return losses(model, Batch(inputs, targets, weights, size))

    _keep_states_in_place(model, options)
    return in_parts(run, options)


def _keep_states_in_place(model: CompiledModel, options: Options) -> None:
    """Let a captured graph write to the states of metrics, as it may to weights and buffers."""
    for metric in model.kept.values() if captures(options) else ():
        for state in metric.variables:
            stays_in_place(state)


def _tensors(batch: Batch) -> tuple[Any, ...]:
    return batch.inputs, batch.targets, batch.weights


def _cloned(values: Values) -> Values:
    return {name: value.clone() for name, value in values.items()}

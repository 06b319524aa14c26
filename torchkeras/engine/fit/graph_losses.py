"""Losses and metrics that users add to the graph of a model, computed from its tensors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torchkeras.engine.fit.symbolic_scores import Scores
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph import trace
from torchkeras.engine.graph.network import Network, hold_graph
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.engine.users_code import is_users_layer

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training


@dataclass
class AddedToGraph:
    """The symbolic tensors passed to `add_loss` and `add_metric` of a model. A step computes them too."""

    losses: tuple[KerasTensor, ...] = ()
    metrics: Mapping[str, KerasTensor] = field(default_factory=dict)

    def without(self, name: str) -> AddedToGraph:
        """All but the metric of that name."""
        return AddedToGraph(self.losses, {each: value for each, value in self.metrics.items() if each != name})

    def __bool__(self) -> bool:
        return bool(self.losses or self.metrics)


def add(training: Training, losses: Sequence[KerasTensor], metrics: Mapping[str, KerasTensor]) -> None:
    """Add losses and metrics. Raises ValueError, and adds nothing, where `trained_network` cannot compute them."""
    before = training.added
    training.added = AddedToGraph((*before.losses, *losses), {**before.metrics, **metrics})
    training.forget()
    try:
        trained_network(training, training.network)
    except ValueError:
        training.added = before
        raise


def trained_network(training: Training, network: Network, scores: Scores | None = None) -> Network:
    """The network of a step: `network`, with the model's outputs, or one with the added losses and metrics after them.

    `scores`: losses and metrics that are computed in the graph; they come right after the outputs.

    Raises ValueError for a layer on the way with weights that are not the model's, and for a model inside, whose
    own added losses and metrics no step of this one would compute.
    """
    model = training.model
    _check_models_inside(training)
    if not (training.added or scores):
        return network
    network = Network(name=model.name)
    network._take(_with_added(training, scores))
    known = set(map(id, model.modules()))
    for layer in network.layers:
        if isinstance(layer, Operation) and (scores or layer._holds_variables):
            continue  # a variable in a loss is set, not trained, as in Keras
        if id(layer) not in known and any(id(variable.layer) not in known for variable in layer.weights):
            raise ValueError(
                f"{training.described}: the layer {layer.name!r} on the way to an added loss or metric has weights, "
                "and is no layer of the model: they would not train. Make its output an output of the model."
            )
    return network


def _check_models_inside(training: Training) -> None:
    for module in training.model.modules():
        inside = vars(module).get("_training")
        if inside is not None and inside is not training and inside.added:
            raise ValueError(
                f"{training.described}: what add_loss and add_metric gave the model {inside.model.name!r} inside it "
                "would be lost: add it to the outer model, computed from its own tensors."
            )


def _with_added(training: Training, scores: Scores | None = None) -> trace.Graph:
    """The model's graph with the added losses and metrics as further outputs. Raises ValueError as `graph.trace`."""
    model, scores = training.model, scores or Scores()
    added = [*scores.outputs, *training.added.losses, *training.added.metrics.values()]
    return trace.trace([*model.inputs, *scores.targets.values()], [*model.outputs, *added])


def warn_of_added(training: Training, stacklevel: int) -> None:
    """Warn that a config leaves out the added losses and metrics. Models inside warn of their own."""
    model, added = training.model, training.added
    owners: set[Any] = {model}
    for layer in model.layers:
        if not isinstance(layer, Network):
            owners.update(each for each in layer.modules() if isinstance(each, Layer) and not is_users_layer(each))
    count = len(added.losses) + sum(len(owner._losses_of_weights) for owner in owners)
    parts = [f"the metric {name!r}" for name in added.metrics]
    if count:
        parts.insert(0, "1 loss" if count == 1 else f"{count} losses")
    if not parts:
        return
    warnings.warn(
        f"{training.described}: what add_loss and add_metric gave it ({', '.join(parts)}) is not written to a config "
        "or file: add it again to the model that is made from it.",
        stacklevel=stacklevel,
    )


# --- copies ----------------------------------------------------------------------------------------------------------


def added_state(training: Training) -> dict[str, Any]:
    """The part of the state of a copy or pickle: the whole graph, and how many of its outputs were added."""
    added = training.added
    if not added:
        return {}
    whole = _with_added(training)
    return {
        "_graph": (whole.layers, trace.edges(whole)),
        "_added_losses": len(added.losses),
        "_added_metrics": list(added.metrics),
    }


def take_added_state(training: Training, losses: int, metrics: list[str]) -> None:
    """The inverse, for a model that has the whole graph: its last outputs are so many losses, then these metrics."""
    model = training.model
    whole = graph_of(model)
    count = len(whole.outputs) - losses - len(metrics)  # of the model's own outputs
    added = whole.outputs[count:]
    hold_graph(model, trace.trace(whole.inputs, whole.outputs[:count]))
    training.added = AddedToGraph(tuple(added[:losses]), dict(zip(metrics, added[losses:], strict=True)))

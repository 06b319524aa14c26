"""What users add to the graph of a model: losses and metrics computed from its tensors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from torchkeras.engine.fit.symbolic_scores import Scores
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph import trace
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.subclassed import Subclassed
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list


class GraphLosses(Subclassed, abstract=True):
    """`add_loss` and `add_metric` of symbolic tensors, added to a network."""

    _added_losses: tuple[KerasTensor, ...] = ()
    _added_metrics: Mapping[str, KerasTensor] = {}
    _compiled_model: Any = None

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add the mean of a symbolic tensor, or a loss of weights, to the loss that training minimizes.

        Call `compile` afterwards. A loss of weights is computed again in every step, as `Layer.add_loss` says, which
        this is inside a `call`.

        Arguments:
            losses (symbolic tensor, function or list): tensors that are computed from the model's inputs; functions
                without arguments; weights, and what functions of `keras.backend` compute from weights.
            inputs (tensor or None, default None): what they depend on; it need not be given.

        Errors:
            TypeError: a loss is neither a tensor nor a function.
            ValueError: a tensor is not computed from the inputs, or a layer on the way has weights that are not the
                model's; a loss of weights is no scalar, or a tensor whose value would stay.

        Example:
            >>> inputs = Input((4,))
            >>> hidden = Dense(3)(inputs)
            >>> model = Model(inputs, Dense(1)(hidden))
            >>> model.add_loss((hidden**2) * 0.01)
            >>> model.add_loss(lambda: 0.01 * (model.layers[1].kernel**2).sum())
        """
        given = as_list(losses)
        symbolic = [loss for loss in given if isinstance(loss, KerasTensor)]
        if len(symbolic) < len(given):
            super().add_loss([loss for loss in given if not isinstance(loss, KerasTensor)], inputs)
        if symbolic:
            self._behind([*self._added_losses, *symbolic], self._added_metrics)

    def add_metric(self, value: Any, name: str, aggregation: str | None = "mean") -> None:
        """Report the mean of a symbolic tensor. Inside a layer's `call` it is `Layer.add_metric`.

        Call `compile` afterwards.

        Arguments:
            value (symbolic tensor): a tensor that is computed from the model's inputs.
            name (text): the name of the number.
            aggregation (text, default "mean"): must be "mean".

        Errors:
            ValueError: another aggregation, a tensor that is not computed from the inputs, or a layer on the way with
                weights that are not the model's.
        """
        if not isinstance(value, KerasTensor):
            super().add_metric(value, name, aggregation)
            return
        if aggregation != "mean":
            raise ValueError(f"{self.name}: add_metric: aggregation must be 'mean'; found {aggregation!r}.")
        self._behind(self._added_losses, {**self._added_metrics, name: value})

    def _behind(self, losses: Any, metrics: Mapping[str, KerasTensor]) -> None:
        """Take what is computed after the outputs, after a look at whether it can be."""
        before = self._added_losses, self._added_metrics
        self.__dict__.update(_added_losses=tuple(losses), _added_metrics=dict(metrics), _compiled_model=None)
        try:
            self._trained_network()
        except ValueError:
            self.__dict__.update(_added_losses=before[0], _added_metrics=before[1])
            raise

    def _warn_of_added(self) -> None:
        """Say that a config leaves out what was added. Models inside say it of themselves."""
        inside = (module for layer in self.layers if not isinstance(layer, Network) for module in layer.modules())
        known = dict.fromkeys((self, *(each for each in inside if isinstance(each, Layer) and not each._is_users)))
        of_weights = [loss for layer in known for loss in layer._losses_of_weights]
        if not (self._added_losses or self._added_metrics or of_weights):
            return
        count = len(self._added_losses) + len(of_weights)
        parts = [f"{count} loss{'es' if count > 1 else ''}"] if count else []
        parts += [f"the metric {name!r}" for name in self._added_metrics]
        warnings.warn(
            f"{type(self).__name__} {self.name!r}: what add_loss and add_metric gave it ({', '.join(parts)}) is not "
            "written to a config or file: add it again to the model that is made from it.",
            stacklevel=3,
        )

    def _trained_network(self, scores: Scores | None = None) -> Network:
        """What a step computes: the model, or one that gives what was added after the model's own outputs.

        `scores`: what losses and metrics compute in the graph; it comes right after the outputs.

        Raises ValueError for a layer on the way with weights that are not the model's, and for a model inside, whose
        own added losses and metrics no step of this one would compute.
        """
        for module in self.modules():
            inside = module is not self and isinstance(module, GraphLosses)
            if inside and (module._added_losses or module._added_metrics):
                raise ValueError(
                    f"{type(self).__name__} {self.name!r}: what add_loss and add_metric gave the model {module.name!r} "
                    "inside it would be lost: add it to the outer model, computed from its own tensors."
                )
        if not (self._added_losses or self._added_metrics or scores):
            return self._computing
        network = Network(name=self.name)
        network._take(self._with_added(scores))
        known = set(map(id, self.modules()))
        for layer in network.layers:
            if isinstance(layer, Operation) and (scores or layer._holds_variables):
                continue  # a variable in a loss is set, not trained, as in Keras
            if id(layer) not in known and any(id(variable.layer) not in known for variable in layer.weights):
                raise ValueError(
                    f"{type(self).__name__} {self.name!r}: the layer {layer.name!r} on the way to an added loss or "
                    "metric has weights, and is no layer of the model: they would not train. Make its output an "
                    "output of the model."
                )
        return network

    def _with_added(self, scores: Scores | None = None) -> trace.Graph:
        """The model's graph, with what was added as further outputs. Raises ValueError as `graph.trace`."""
        scores = scores or Scores()
        added = [*scores.outputs, *self._added_losses, *self._added_metrics.values()]
        inputs = [*self.inputs, *scores.targets.values()]
        return trace.trace(inputs, [*self.outputs, *added]) if added else self._graphed

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if self._added_losses or self._added_metrics:
            whole = self._with_added()
            state["_graph"] = (whole.layers, trace.edges(whole))
            state["_added_losses"], state["_added_metrics"] = len(self._added_losses), list(self._added_metrics)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        losses, metrics = state.pop("_added_losses", ()), state.pop("_added_metrics", {})
        super().__setstate__(state)
        if not losses and not metrics:
            return
        whole = self._graphed
        added = whole.outputs[len(whole.outputs) - losses - len(metrics) :]
        self._graph = trace.trace(whole.inputs, whole.outputs[: len(whole.outputs) - len(added)])
        self._own_node()
        self.__dict__.update(
            _added_losses=tuple(added[:losses]),
            _added_metrics=dict(zip(metrics, added[losses:], strict=True)),
        )

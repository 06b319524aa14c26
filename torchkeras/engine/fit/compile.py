"""The state of a model in training: what `compile` was given, and what it settles to."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from torchkeras import optimizers
from torchkeras.engine.data.checks import check_count
from torchkeras.engine.fit.custom_steps import Extending, own_step
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.added_losses import add_activity_losses
from torchkeras.engine.layer.dtypes import halves, in_float16
from torchkeras.engine.layer.symbolic import KerasTensor, as_list
from torchkeras.engine.layer.weight_lists import WeightOwner
from torchkeras.engine.speed.choose import check as check_jit, learner, runner, scorer
from torchkeras.engine.speed.compiled_steps import Running
from torchkeras.engine.speed.malloc import keep_freed
from torchkeras.engine.step.compiled_model import NO_LOSS, Recipe
from torchkeras.engine.step.loss_scale import LossScale
from torchkeras.engine.step.nonfinite import POLICIES, Guard
from torchkeras.engine.step.optimizer_reach import check_reach
from torchkeras.engine.step.output_metric import TorchMetric
from torchkeras.engine.step.step import train_step
from torchkeras.engine.step.targets import compile_arguments, reported_names, resolve


class Compiling(Extending, abstract=True):
    """Compiling, added to a network."""

    optimizer: Any = None
    loss: Any = None
    metrics: Any = None
    loss_weights: Any = None
    sample_weight_mode: Any = None
    weighted_metrics: Any = None
    target_tensors: Any = None
    on_nonfinite: str | None = None
    jit_compile: Any = "auto"
    cuda_graph: Any = "auto"
    steps_per_execution = 1  # without annotation, which would make it an option of a model's class
    _learn: Any = None
    _score: Any = None
    _running: Any = None
    _recipe: Recipe | None = None
    _is_compiled = False
    _is_unbuilt = False  # whether the first call may build more of what trains
    _placed: list[Any] | None = None

    def compile(  # type: ignore[override]  # nn.Module's compile is torch.compile in place; Keras's name goes before
        self,
        optimizer: Any = None,
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        on_nonfinite: str | None = None,
        jit_compile: Any = "auto",
        cuda_graph: Any = "auto",
        steps_per_execution: int = 1,
    ) -> None:
        """Settle how the model is trained.

        `optimizer`: a name, an object of Keras's or of torch.optim, one of torch's classes, or (class, options); None
        for a class whose `train_step` has optimizers of its own. `loss`: a name, a function (y_true, y_pred), a `Loss`,
        or a loss of torch. `metrics` (means over samples) and `weighted_metrics` (with sample weights): lists of names,
        functions, `Metric` objects or torchmetrics. For several outputs: lists, or dictionaries by output name; the
        loss minimized is their sum weighted by `loss_weights`. `sample_weight_mode="temporal"`: a weight for every time
        step. `target_tensors`: arrays or tensors, the targets wherever no y is given. `on_nonfinite`: what to do after
        a loss or gradient that is no finite number: "stop", "skip" the batch, "raise", or (None) nothing; see
        `engine.step.nonfinite`. `jit_compile`: True to run the built-in train step's forward pass, loss, gradients and
        metrics as one graph of torch.compile, and so evaluations and predictions; a dict of its options; False not to;
        "auto" to measure train steps both ways once a run is long enough to repay compiling, and keep the faster; see
        `engine.speed.compiled_steps`. `cuda_graph`: True is `jit_compile={"mode": "reduce-overhead"}`, by which
        torch.compile captures what it compiles as a CUDA graph; False never to capture; "auto" to capture what "auto"
        compiles on a CUDA device. `steps_per_execution`: so many batches run between two calls of the batch hooks,
        which are told their mean numbers. Which weights train is settled here too. Raises ValueError for an unknown
        name or a list of another length.
        """
        check_jit(jit_compile, cuda_graph)
        check_count("compile", "steps_per_execution", steps_per_execution, least=1)
        if on_nonfinite not in POLICIES:
            raise ValueError(f"compile: on_nonfinite must be None, 'stop', 'skip' or 'raise'; found {on_nonfinite!r}.")
        if any(isinstance(tensor, KerasTensor) for tensor in as_list(target_tensors)):
            raise ValueError("compile: target_tensors must be arrays or tensors; found a symbolic tensor.")
        self._recipe = None
        by_itself = optimizer is None and own_step(self, "train") is not None
        self.optimizer = None if by_itself else optimizers.get(optimizer)
        # Not by setattr: torch would make a loss or a metric that is a module a part of the model.
        self.__dict__.update(loss=loss, metrics=metrics or [], loss_weights=loss_weights, on_nonfinite=on_nonfinite)
        self.__dict__.update(
            jit_compile=jit_compile, cuda_graph=cuda_graph, _running=None, _is_compiled=True, _is_unbuilt=False
        )
        self.steps_per_execution = steps_per_execution
        self.__dict__.update(weighted_metrics=weighted_metrics, target_tensors=target_tensors)
        self.sample_weight_mode = sample_weight_mode
        if self._is_connected:
            self._settle()

    @property
    def _trains_alone(self) -> bool:
        """Whether the class's own code and step are all that trains it: then no shapes, outputs or graph are needed."""
        asked = self.loss, self.metrics, self.weighted_metrics, self._added_losses, self._added_metrics
        return self._has_own_code and self._graph is None and own_step(self, "train") is not None and not any(asked)

    def _settle_alone(self) -> None:
        """Collect the weights that train: those there are now; once more when the first call has built the others."""
        variables = self.trainable_weights
        parameters = [tensor for variable in variables for tensor in variable.tensors]
        self._bind(variables, parameters, [])
        self._recipe = Recipe(
            self,
            [],
            self.optimizer,
            parameters,
            [],
            self._constrained(variables),
            details=False,
            guard=None if self.on_nonfinite is None else Guard(self.on_nonfinite, Changing(self), self._device),
            scaling=LossScale(Weights(self), self._device, self.on_nonfinite is not None) if in_float16(self) else None,
        )
        self.__dict__.update(_learn=None, _score=None, _is_unbuilt=not self._is_connected)

    def _bind(self, variables: list[Any], parameters: list[torch.Tensor], losses: list[Any]) -> None:
        """Give the optimizer, where there is one, what trains. Raises ValueError for what it would not reach."""
        if self.optimizer is None:
            return
        check_reach(self, parameters, losses)
        self.optimizer.bind(
            parameters,
            [variable.arrangement for variable in variables],
            layers=[variable.layer.name for variable in variables],
            names=[variable.name for variable in variables],
        )

    def _constrained(self, variables: list[Any]) -> list[Any]:
        """Those with a constraint that the optimizer trains; where there is none, the user's own do."""
        trains = getattr(self.optimizer, "trains", lambda tensors: True)
        return [each for each in variables if each.constraint is not None and trains(each.tensors)]

    def _refuse_graphs(self) -> None:
        """Raise ValueError for options of the built-in step where the class has one of its own."""
        if self.jit_compile not in (False, "auto") or self.cuda_graph is True:
            named = "cuda_graph=True" if self.cuda_graph is True else f"jit_compile={self.jit_compile!r}"
            raise ValueError(
                f"compile: {named} is for the built-in train step; {type(self).__name__} has "
                "one of its own: compile what it calls by torch.compile, and leave that option away."
            )

    def _settle(self) -> None:
        """Resolve what `compile` was given against the outputs, and collect the weights that train."""
        owns_step = own_step(self, "train") is not None
        if owns_step:
            self._refuse_graphs()
        if self._trains_alone:
            self._settle_alone()
            return
        network = self._trained_network()
        targets = resolve(self.output_names, network._graphed, self._compile_options())
        taken = [*reported_names(targets), *self._added_metrics]
        repeated = [name for name in self._added_metrics if taken.count(name) > 1]
        if repeated:
            raise ValueError(f"compile: add_metric has the name {repeated[0]!r}, which another reported number has.")
        variables = self.trainable_weights
        parameters = [tensor for variable in variables for tensor in variable.tensors]
        self._bind(variables, parameters, [target.objective.given for target in targets])
        owns_loss = type(self).compute_loss is not Extending.compute_loss
        if owns_loss:  # which may want probabilities
            targets = [replace(target, logits=None) for target in targets]
        if not (owns_step or self._has_loss(targets)):
            raise ValueError(f"compile: {NO_LOSS[0].lower()}{NO_LOSS[1:]}")
        if self.on_nonfinite is not None:
            for measure in (measure for target in targets for measure in target.measures):
                if isinstance(measure.metric, TorchMetric):
                    raise ValueError(
                        f"compile: on_nonfinite={self.on_nonfinite!r} cannot take back what {measure.name!r}, a metric "
                        "in the manner of torchmetrics, has counted; use a metric of torchkeras.metrics."
                    )
        self._recipe = Recipe(
            network,
            targets,
            self.optimizer,
            parameters,
            self._penalized(),
            self._constrained(variables),
            any(tensor._keras_mask is not None for tensor in self.outputs) or _regularizes_activity(network),
            len(self._added_losses),
            list(self._added_metrics),
            None if self.on_nonfinite is None else Guard(self.on_nonfinite, Changing(self), self._device),
            self._own_loss if owns_loss else None,
            (self, network, *(self.outputs[target.index]._keras_history.layer for target in targets)),
            halves(network),
            LossScale(Weights(self), self._device, self.on_nonfinite is not None) if in_float16(network) else None,
        )
        self.__dict__["_learn"] = learner(self.jit_compile, self.cuda_graph)
        self.__dict__["_score"] = scorer(self.jit_compile, self.cuda_graph)
        if owns_step:
            self.__dict__["_marks_masks"] = any(tensor._keras_mask is not None for tensor in self.outputs)
        self._hook_activities(owns_step)

    def _hook_activities(self, by_hand: bool) -> None:
        """Let the activity regularizers count that the generated code does not ask."""
        graphed = {layer for network in self.modules() if isinstance(network, Network) for layer in network.layers}
        asked = [layer for layer in graphed if getattr(layer, "activity_regularizer", None) is not None]
        parts = {part for layer in asked for part in layer.modules()} - graphed  # of a wrapper, which speaks for them
        for module in self.modules():
            if getattr(module, "activity_regularizer", None) is None or module in parts:
                continue
            if by_hand or module not in graphed:
                add_activity_losses(module, in_steps=module not in graphed)

    def _find_types(self) -> None:
        super()._find_types()
        self._recipe = None  # which knows what is computed in 16 bits

    def _compile_options(self) -> dict[str, Any]:
        names = ("loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics")
        return {name: getattr(self, name) for name in names}

    def _has_loss(self, targets: Any) -> bool:
        """Whether there is something that the built-in steps can compute a loss of."""
        owns_loss = type(self).compute_loss is not Extending.compute_loss
        return bool(targets or self._added_losses or owns_loss or self._may_add_losses())

    def _may_add_losses(self) -> bool:
        """Whether the class of some layer speaks of `add_loss`."""
        methods = (getattr(type(m), name) for m in self.modules() for name in ("call", "forward") if hasattr(m, name))
        return any("add_loss" in getattr(getattr(m, "__code__", None), "co_names", ()) for m in methods)

    @property
    def metrics_names(self) -> list[str]:
        """The names of the numbers that `evaluate` and `train_on_batch` return, in their order.

        None are known, and the list is empty, before the model is compiled and built.
        """
        if not (self._is_compiled and self._is_connected):
            return []
        recipe = self._ready()
        return reported_names(list(recipe.targets)) + list(recipe.added_metrics)

    def _compiled(self) -> None:
        if not self._is_compiled:
            raise RuntimeError(
                f"You must compile the model {self.name!r} before training or testing: "
                "`model.compile(optimizer, loss)`."
            )

    def _ready(self) -> Recipe:
        self._compiled()
        if self._recipe is None or (self._is_unbuilt and self._is_connected):
            self._settle()
        assert self._recipe is not None
        return self._recipe

    def _step(self, kind: str) -> Any:
        recipe, own = self._ready(), own_step(self, kind)
        recipe.direct.renew()
        if own is None and not self._has_loss(recipe.targets):
            raise ValueError(
                f"{type(self).__name__} {self.name!r} has no loss for an evaluation: give compile a `loss`, or its "
                f"class a {kind}_step."
            )
        if own is not None and kind == "train" and recipe.guard is not None:
            guard = recipe.guard
            return lambda batch: guard.watched(partial(own, batch), batch.size)
        if own is not None:
            return own
        if kind == "train":
            return partial(train_step, recipe, learn=self._learn)
        return lambda batch: self._score(recipe, batch)[1]

    def _in_one_graph(self) -> Running | None:
        """What predicts by a graph, where `compile` was told so; the modules are looked at anew."""
        if self._running is None:
            self.__dict__["_running"] = runner(self._computing, self.jit_compile, self.cuda_graph)
        if self._running is not None:
            self._running.direct.renew()
        return self._running

    # --- state -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _mode(self, training: bool) -> Iterator[None]:
        """Training or evaluation mode inside the block, then what each module was in before."""
        if self._device.type == "cpu":
            keep_freed()
        # With what add_loss or add_metric was given, layers behind the outputs too.
        networks = {self} if self._recipe is None else {self, self._recipe.network}
        before = [(module, module.training) for network in networks for module in network.modules()]
        for network in networks:
            network.train(training)
        try:
            yield
        finally:
            for module, mode in before:
                module.training = mode

    @contextmanager
    def _collected(self, recipe: Recipe) -> Iterator[None]:
        """Gradients for the weights that trained when the model was compiled, whatever `trainable` says since.

        A parameter that `requires_grad_(False)` froze since then stays frozen.
        """
        placed = [(parameter.device, parameter.dtype) for parameter in recipe.parameters]
        if placed != self._placed:  # the model was moved: its optimizer state follows
            if recipe.optimizer is not None:
                recipe.optimizer.bind(recipe.parameters)
            self._placed = placed
        now = {id(tensor) for variable in self.trainable_weights for tensor in variable.tensors}
        owners = (module for module in self.modules() if isinstance(module, WeightOwner))
        held = {id(tensor) for owner in owners for tensor in owner._held_tensors()}
        if now != {id(each) for each in recipe.parameters if each.requires_grad or id(each) in held}:
            warnings.warn(
                "Discrepancy between trainable weights and collected trainable weights, did you set "
                "`model.trainable` without calling `model.compile` after?",
                stacklevel=3,
            )
        frozen = [each for each in recipe.parameters if not each.requires_grad and id(each) in held]
        for parameter in frozen:
            parameter.requires_grad_(True)
        try:
            yield
        finally:
            for parameter in frozen:
                parameter.requires_grad_(False)

    def _compile_as(self, training: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> None:
        """Compile as a file says."""
        self.compile(**compile_arguments(training, custom_objects))

    def __getstate__(self) -> dict[str, Any]:
        # The recipe holds the layers' tensors by identity: a copy settles its own, from what compile was given. Its
        # optimizer has the copy's own parameters, with their state.
        return {**super().__getstate__(), "history": None, **dict.fromkeys(("_recipe", "_learn", "_score", "_running"))}


class Changing:
    """What a training step of a model changes in place; see `engine.step.nonfinite.Watched`."""

    def __init__(self, model: Compiling):
        self._model = model

    def trained(self) -> dict[Any, torch.Tensor]:
        recipe = self._model._ready()
        state = () if recipe.optimizer is None else recipe.optimizer.tensors()
        return {id(tensor): tensor for tensor in (*recipe.parameters, *state)}

    def counted(self) -> dict[Any, torch.Tensor]:
        kept = [tensor for metric in self._model._ready().kept.values() for tensor in metric.variables]
        buffers = {name: buffer for name, buffer in self._model.named_buffers() if buffer.numel()}
        return {**buffers, **{id(tensor): tensor for tensor in kept}}

    def forget(self, known: set[Any]) -> None:
        recipe = self._model._ready()
        if recipe.optimizer is not None:
            recipe.optimizer.forget(known)
        for metric in recipe.kept.values():
            if not known.issuperset(map(id, metric.variables)):
                metric.reset_state()


class Weights(Changing):
    """What an update of the weights changes in place, unless the optimizer itself can skip it."""

    def trained(self) -> dict[Any, torch.Tensor]:
        return {} if getattr(self._model.optimizer, "can_skip", False) else super().trained()

    def counted(self) -> dict[Any, torch.Tensor]:
        return {}

    def forget(self, known: set[Any]) -> None:
        self._model._ready().optimizer.forget(known)


def _regularizes_activity(network: torch.nn.Module) -> bool:
    return any(getattr(module, "activity_regularizer", None) is not None for module in network.modules())

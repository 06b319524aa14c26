"""What `compile` settles: `settle` makes the `CompiledModel`, by which steps run, of the options and the model."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchkeras.base.function_values import installed
from torchkeras.base.interrupts import imported
from torchkeras.base.shards import part, refuse as refuse_shared
from torchkeras.engine.dtypes import mixed_layers
from torchkeras.engine.fit.distributing import refuse_compiling
from torchkeras.engine.fit.graph_losses import trained_network
from torchkeras.engine.fit.symbolic_scores import Scores, refuse
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.added_losses import add_activity_losses
from torchkeras.engine.speed.choose import learner, scorer
from torchkeras.engine.step.compiled_model import NO_LOSS, CompiledModel
from torchkeras.engine.step.loss_scale import LossScale
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.optimizer_reach import bind, check_reach, discrepancy, warn_of_hooks
from torchkeras.engine.step.output_loss import name_of
from torchkeras.engine.step.step import learn
from torchkeras.engine.step.targets import Target, reported_names, resolve
from torchkeras.engine.weights.expressions import refuse_frozen
from torchkeras.engine.weights.unseen import warn_of_unseen
from torchkeras.engine.weights.weight import Variable
from torchkeras.losses.shared import HALF_TYPES
from torchkeras.world.processes import has_group

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

OWN_STEP = (
    "is for the built-in train step; {} has one of its own: compile what it calls by torch.compile, and leave that "
    "option away."
)
OF_ONE_PROCESS = "is of one process, and several train here: leave it away, or give distribute=None."
NOTHING_TRAINS = (
    "{} does not have any trainable weights: all are frozen, and the optimizer changes none. Unfreeze some, by "
    "trainable or requires_grad_, and compile it again."
)


# --- the compiled model ----------------------------------------------------------------------------------------------


def settle(training: Training) -> CompiledModel:
    """Make and keep the compiled model. Raises ValueError and TypeError as `Model.compile` says."""
    _prepare_processes(training)
    if training.has_own("train_step"):
        refuse_compiling(training.options, OWN_STEP.format(type(training.model).__name__))
    return _settle_alone(training) if training.is_alone else _settle_with_graph(training)


def _prepare_processes(training: Training) -> None:
    processes = training.processes
    if processes is not None:
        processes.prepare(training.model)
    elif has_group():
        refuse_shared(training.model.parameters(), "compile without other processes")


def _settle_alone(training: Training) -> CompiledModel:
    """For a class that computes and trains by itself: the weights that train.

    Those there are now; once more when the first call has built the others.
    """
    model = training.model
    variables = model.trainable_weights
    parameters = [tensor for each in variables for tensor in each.tensors]
    _bind_optimizer(training, variables, parameters, [])
    guard = _guard(training)
    compiled = training.compiled = CompiledModel(
        model,
        [],
        training.options.optimizer,
        parameters,
        [],
        _constrained(training, variables),
        details=False,
        is_unbuilt=not model._is_connected,
        guard=guard,
        scaling=_loss_scale(training, mixed_layers(model), guard),
    )
    if training.processes is not None:
        compiled.replicas = training.processes.replicas(compiled, by_hand=True)
    return compiled


def _settle_with_graph(training: Training) -> CompiledModel:
    model, given, processes = training.model, training.options, training.processes
    owns_step, owns_loss = training.has_own("train_step"), training.has_own("compute_loss")
    network, targets, fed = _targets(training)
    graph, outputs = network._graphed, len(model.output_names)  # the graph's first outputs are the model's own
    _check_names(training, targets)
    _refuse_frozen_scores(targets)
    weights = model.weights
    variables = [variable for variable in weights if variable.trains]
    parameters = [tensor for each in variables for tensor in each.tensors]
    _bind_optimizer(training, variables, parameters, [target.objective.given for target in targets])
    if owns_loss:  # which may want probabilities
        targets = [target.with_activation() for target in targets]
    if not (owns_step or has_loss(training, targets)):
        raise ValueError(f"compile: {NO_LOSS[0].lower()}{NO_LOSS[1:]}")
    has_masks = any(tensor._keras_mask is not None for tensor in graph.outputs[:outputs])
    mixed, asked = mixed_layers(network), _with_activity_regularizer(network)
    if processes is not None:
        refuse_compiling(given, OF_ONE_PROCESS)
    guard = _guard(training)
    compiled = training.compiled = CompiledModel(
        network,
        targets,
        given.optimizer,
        parameters,
        model._penalized(weights),
        _constrained(training, variables),
        details=has_masks or bool(asked),
        added_losses=len(training.added.losses),
        added_metrics=list(training.added.metrics),
        fed=fed,
        own_loss=training.own_steps.loss if owns_loss else None,
        ends=(model, network, *(graph.outputs[target.index]._keras_history.layer for target in targets)),
        widened=tuple(k for k, each in enumerate(graph.outputs) if mixed and each.dtype in HALF_TYPES),
        guard=guard,
        scaling=_loss_scale(training, mixed, guard),
        score=scorer(given.jit_compile, given.cuda_graph),
        learn=learner(given.jit_compile, given.cuda_graph) if processes is None else learn,
    )
    if processes is not None:
        compiled.replicas = processes.replicas(compiled, by_hand=owns_step)
    compiled.look_again = partial(_look_again, training, compiled)
    if owns_step:
        model.__dict__["_marks_masks"] = has_masks
    if asked or network is not model:
        _hook_activities(model, by_hand=owns_step)
    return compiled


def _look_again(training: Training, compiled: CompiledModel) -> None:
    """Follow options of layers that were set since `compile`."""
    model = training.model
    asked = _with_activity_regularizer(compiled.network)
    variables = [each for each in model.weights if each.trains]
    compiled.follow(model._penalized(), _constrained(training, variables), details=bool(asked))
    if asked:
        _hook_activities(model, by_hand=training.has_own("train_step"))


# --- targets ---------------------------------------------------------------------------------------------------------


def _targets(training: Training) -> tuple[Network, list[Target], list[int]]:
    """What a step computes; the losses and metrics of its outputs; and the places of targets that it takes as inputs.

    These are of losses and metrics that the graph itself computes. Raises as `resolve`, and as `symbolic_scores`.
    """
    model, scores = training.model, Scores()
    network, names = trained_network(training), model.output_names
    graph = network._graphed
    targets = resolve(names, lambda: model._output_owners, graph, training.options)
    if training.has_own("train_step") or training.has_own("compute_loss"):
        refuse(targets)
    else:
        targets = scores.taken_from(targets, graph.outputs[: len(names)])
    if scores.outputs:
        network = trained_network(training, scores)
    return network, targets, list(scores.targets)


def _check_names(training: Training, targets: list[Target]) -> None:
    """Raise ValueError for a metric of `add_metric` with the name of another number."""
    taken = [*reported_names(targets), *training.added.metrics]
    repeated = [name for name in training.added.metrics if taken.count(name) > 1]
    if repeated:
        raise ValueError(f"compile: add_metric has the name {repeated[0]!r}, which another reported number has.")


def _refuse_frozen_scores(targets: list[Target]) -> None:
    """Raise ValueError for a user's loss or metric that holds a value computed from weights as it was once."""
    theirs: list[Any] = []
    for target in targets:
        scores = (target.objective.given, *(measure.metric for measure in target.measures))
        theirs += [each for each in scores if not installed(getattr(each, "__module__", None) or "")]
    if theirs:
        refuse_frozen("compile", {name_of(each): each for each in theirs})


def has_loss(training: Training, targets: Sequence[Target]) -> bool:
    """Whether there is something that the built-in steps can compute a loss of."""
    model = training.model
    return bool(
        targets
        or training.added.losses
        or training.has_own("compute_loss")
        or _may_add_losses(model)
        or model._penalized()
        or _with_activity_regularizer(model)
    )


def _may_add_losses(model: nn.Module) -> bool:
    """Whether the class of some layer speaks of `add_loss`."""
    for module in model.modules():
        for name in ("call", "forward"):
            method = inspect.unwrap(getattr(type(module), name, None))  # type: ignore[arg-type]
            if "add_loss" in getattr(getattr(method, "__code__", None), "co_names", ()):
                return True
    return False


# --- weights ---------------------------------------------------------------------------------------------------------


def _bind_optimizer(
    training: Training, variables: list[Variable], parameters: list[torch.Tensor], losses: list[Any]
) -> None:
    """Give the optimizer, where there is one, the parameters of what trains.

    Raises ValueError for what it would not reach, and warns of tensors that are no weights though they look it.
    """
    optimizer = training.options.optimizer
    if optimizer is not None:
        check_reach(training.model, parameters, losses)
        bind(optimizer, variables, parameters)
    warn_of_unseen(training.model, "compile", stacklevel=7, losses=losses)
    collected = set(map(id, parameters))
    for owner in training.weight_owners():
        if owner._held or owner._frozen_at_compile:
            owner._note_compile(collected)


def _constrained(training: Training, variables: list[Variable]) -> list[Variable]:
    """Those with a constraint that the optimizer trains; where there is none, the user's own do."""
    trains = getattr(training.options.optimizer, "trains", lambda tensors: True)
    return [each for each in variables if each.constraint is not None and trains(each.tensors)]


@contextmanager
def collected(training: Training, compiled: CompiledModel) -> Iterator[None]:
    """Gradients for the weights that trained when the model was compiled, but not for what was frozen since then.

    What `trainable=False` has frozen for another model, which was compiled after it, trains in this one still.
    """
    imported("torch.fx.experimental.symbolic_shapes")  # torch does so for its first gradients
    placed = [(parameter.device, parameter.dtype) for parameter in compiled.parameters]
    if placed != compiled.placed:  # the model was moved: its optimizer state follows
        if compiled.optimizer is not None:
            compiled.optimizer.bind(compiled.parameters)
        compiled.placed = placed
    lent = _warn_of_changes(training, compiled)
    frozen = [each for each in compiled.parameters if not each.requires_grad and id(each) in lent]
    for parameter in frozen:
        parameter.requires_grad_(True)
    try:
        yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)


def _warn_of_changes(training: Training, compiled: CompiledModel) -> set[int]:
    """Warn where other weights ask for gradients than did at `compile`, or none.

    Gives the ids of the parameters that were frozen for another model.
    """
    model, parameters = training.model, compiled.parameters
    owns_step = training.has_own("train_step")
    now = {id(tensor) for variable in model.trainable_weights for tensor in variable.tensors}
    held: set[int] = set()
    lent: set[int] = set()
    for owner in training.weight_owners():
        if owner._held:
            held.update(map(id, owner._held_tensors()))
            lent.update(map(id, owner._held_tensors(for_another=True)))
    if now != {id(each) for each in parameters if each.requires_grad or id(each) in held}:
        frozen = {id(each) for each in parameters if not each.requires_grad and id(each) in held}
        warnings.warn(discrepancy(model.weights, parameters, frozen, lent), stacklevel=4)
    elif not (now or lent or owns_step) and any(each.trainable for each in model.weights):
        warnings.warn(NOTHING_TRAINS.format(training.described), stacklevel=4)
    if not owns_step and training.processes is None:
        warn_of_hooks(model, parameters)
    return lent


# --- what a step's guards look after ---------------------------------------------------------------------------------


def _guard(training: Training) -> Guard | None:
    """What does as `on_nonfinite` says."""
    policy = training.options.on_nonfinite
    if policy is None:
        return None
    return Guard(policy, Changing(training), training.model._device, training.processes is not None)


def _loss_scale(training: Training, mixed: list[Any], guard: Guard | None) -> LossScale | None:
    """What scales the loss where layers compute in float16, whose gradients may be too small or too large.

    `mixed`: the layers that compute in 16 bits.
    """
    if all(layer.compute_dtype != "float16" for layer in mixed):
        return None
    return LossScale(ChangingWeights(training), training.model._device, guard is not None)


class Changing:
    """What a training step of a model changes in place; see `engine.step.nonfinite.Watched`."""

    def __init__(self, training: Training):
        self._training = training

    def trained(self) -> dict[Any, torch.Tensor]:
        compiled, optimizer = self._training.ready(), self._training.optimizer
        state = () if optimizer is None else optimizer.tensors()
        return {id(tensor): part(tensor) for tensor in (*compiled.parameters, *state)}

    def counted(self) -> dict[Any, torch.Tensor]:
        kept = [tensor for metric in self._training.ready().kept.values() for tensor in metric.variables]
        buffers = {name: buffer for name, buffer in self._training.model.named_buffers() if buffer.numel()}
        return {**buffers, **{id(tensor): tensor for tensor in kept}}

    def forget(self, known: set[Any]) -> None:
        compiled, optimizer = self._training.ready(), self._training.optimizer
        if optimizer is not None:
            optimizer.forget(known)
        for metric in compiled.kept.values():
            if not known.issuperset(map(id, metric.variables)):
                metric.reset_state()


class ChangingWeights(Changing):
    """What an update of the weights changes in place, unless the optimizer itself can skip it."""

    def trained(self) -> dict[Any, torch.Tensor]:
        return {} if getattr(self._training.optimizer, "can_skip", False) else super().trained()

    def counted(self) -> dict[Any, torch.Tensor]:
        return {}

    def forget(self, known: set[Any]) -> None:
        self._training.optimizer.forget(known)


# --- activity regularizers -------------------------------------------------------------------------------------------


def _with_activity_regularizer(network: nn.Module) -> list[Any]:
    """The layers of a network, at any depth, that have an activity regularizer."""
    return [module for module in network.modules() if getattr(module, "activity_regularizer", None) is not None]


def _hook_activities(model: nn.Module, *, by_hand: bool) -> None:
    """Let the activity regularizers count that the generated code does not ask; all, in a step `by_hand`."""
    graphed = {layer for network in model.modules() if isinstance(network, Network) for layer in network.layers}
    asked = _with_activity_regularizer(model)
    parts: set[Any] = set()  # of wrappers
    for layer in asked:
        if layer in graphed:
            parts.update(layer.modules())
    parts -= graphed
    for module in asked:
        if module not in parts and (by_hand or module not in graphed):
            add_activity_losses(module, in_steps=module not in graphed)

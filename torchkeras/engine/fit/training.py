"""`Training`: how a model trains: the options of `compile`, the compiled model, and the state of its runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchkeras import optimizers
from torchkeras.base import fixed_lists
from torchkeras.base.interrupts import imported
from torchkeras.base.python import computes_with, installed, lazy_property
from torchkeras.base.rules import integer, read
from torchkeras.callbacks.logs import Named
from torchkeras.callbacks.monitoring import rises_by_words
from torchkeras.data.sources import Source
from torchkeras.engine.building.building import move_modules
from torchkeras.engine.dtypes import mixed_layers
from torchkeras.engine.fit.custom_steps import BUILT_IN, OwnSteps
from torchkeras.engine.fit.distributing import check as check_distribution, joined_by, refuse_compiling
from torchkeras.engine.fit.graph_losses import AddedToGraph, trained_network
from torchkeras.engine.fit.one_process import ONE_PROCESS, OneProcess, check_unwrapped
from torchkeras.engine.fit.results import Sums
from torchkeras.engine.fit.symbolic_scores import Scores, refuse
from torchkeras.engine.fit.turns import Turn
from torchkeras.engine.fit.watched import Changing, ChangingWeights
from torchkeras.engine.graph.network import Network, device_of
from torchkeras.engine.graph.subclassed import OwnCode
from torchkeras.engine.graph.trace import Graph, graph_if_any
from torchkeras.engine.layer.added_losses import add_activity_losses
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.speed.choose import Auto, check as check_speed, scorer
from torchkeras.engine.step.loss_scale import LossScale
from torchkeras.engine.step.nonfinite import POLICIES, Guard
from torchkeras.engine.step.optimizer_reach import bind, check_reach, discrepancy, warn_of_unseen
from torchkeras.engine.step.output_loss import name_of
from torchkeras.engine.step.step import NO_LOSS, CompiledModel, train_step
from torchkeras.engine.step.targets import NUMERICS, Target, losses_and_metrics, reported_names, resolve
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.engine.weights.expressions import refuse_frozen
from torchkeras.engine.weights.weight import Variable, penalized, trained
from torchkeras.engine.weights.weight_lists import held_tensors, note_compile
from torchkeras.losses.shared import HALF_TYPES
from torchkeras.metrics.direction import higher_is_better
from torchkeras.world.processes import RANKS, has_group, world_size

if TYPE_CHECKING:
    from torchkeras.models.model import Model


@dataclass(frozen=True, eq=False)
class CompileOptions:
    """The arguments of `compile`, with the optimizer as an object. Raises ValueError for a bad value of an option.

    Losses and metrics are resolved later, against the outputs: see `targets.resolve`.
    """

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
    steps_per_execution: int = 1
    distribute: Any = "auto"
    sync_batch_norm: bool = True
    numerics: str | None = None

    def __post_init__(self) -> None:
        check_speed(self.jit_compile, self.cuda_graph)
        if (self.distribute, self.sync_batch_norm) != ("auto", True):
            check_distribution(self.distribute, self.sync_batch_norm)
        read("compile", "steps_per_execution", integer(1), self.steps_per_execution)
        if self.on_nonfinite == "warn":  # which `fit` does without a guard
            self.__dict__["on_nonfinite"] = None
        if self.on_nonfinite not in POLICIES:
            raise ValueError(
                f"compile: on_nonfinite must be None or 'warn', 'stop', 'skip' or 'raise'; found {self.on_nonfinite!r}."
            )
        if self.numerics not in NUMERICS:
            names = ", ".join(map(repr, NUMERICS))
            raise ValueError(f"compile: numerics must be one of {names}; found {self.numerics!r}.")
        if self.target_tensors is None:
            return
        if any(isinstance(each, KerasTensor) for each in as_list(self.target_tensors)):
            raise ValueError("compile: target_tensors must be arrays or tensors; found a symbolic tensor.")
        if isinstance(self.target_tensors, (bool, int, float, str)):
            raise ValueError(f"compile: target_tensors must be arrays or tensors; found {self.target_tensors!r}.")


NOTHING_GIVEN = CompileOptions()
OWN_STEP = (
    "is for the built-in train step; {} has one of its own: compile what it calls by torch.compile, and leave that "
    "option out."
)
NOTHING_TRAINS = (
    "{} does not have any trainable weights: all are frozen, and the optimizer changes none. Unfreeze some, by "
    "trainable or requires_grad_, and compile it again."
)


# The keys that `Training.state` may have, and further ones that earlier pickles have.
OF_STATE = frozenset(("_given", "_is_compiled", "_specs", "_has_run"))
EARLIER = frozenset(
    (
        *("_compiled_model", "_joined", "_turn_of", "_whole", "_in_own_build", "_data_checked", "_losses_of_step"),
        *("_fits", "_validated"),
    )
)


class Training:
    """How one model trains. Every model has one, compiled or not.

    Attributes that a class of models may override (`optimizer`, `metrics`, `metrics_names`) are read from the model.

    `options`: the arguments of `compile`. `compiled`: the compiled model, once it is settled. `added`: the losses and
    metrics passed to `add_loss` and `add_metric`. `is_fitting`: whether a `fit` runs, and `validated`: the data that it
    validates on. `sums`: the numbers of the last run, of its last epoch or of a single batch.
    """

    def __init__(self, model: Model):
        self.model = model
        self.options = NOTHING_GIVEN
        self.is_compiled = False
        self.compiled: CompiledModel | None = None
        self.added = AddedToGraph()
        self.sums: Sums | None = None
        self.is_fitting = False
        self.validated: Source | None = None
        self._joined: OneProcess | None = None

    @property
    def described(self) -> str:
        """Class and name of the model, for messages."""
        return f"{type(self.model).__name__} {self.model.name!r}"

    @property
    def own_code(self) -> OwnCode | None:
        """The code of a model whose class computes by its own `call` or `forward`."""
        if self.model._has_own_code:
            return self.model._own_code
        return None

    @lazy_property
    def own_steps(self) -> OwnSteps:
        """Runs the custom steps of the class."""
        return OwnSteps(self)

    @lazy_property
    def turn(self) -> Turn:
        """The turn of the threads."""
        return Turn()

    # --- options of `compile` ----------------------------------------------------------------------------------------

    def compile(self, optimizer: Any, **options: Any) -> None:
        """Set the options, and settle them now if the model is built, else when it is."""
        self.options = CompileOptions(self.optimizer_for(optimizer), **options)
        self.is_compiled, self.compiled, self._joined = True, None, None
        if self.model._habits.settles_at_once and self.model._is_connected:
            self.settle()

    def change(self, name: str, value: Any) -> None:
        """Set one option, as the attribute of the model does."""
        self.options = replace(self.options, **{name: value})
        self.compiled, self._joined = None, None

    def forget(self) -> None:
        """Something that the compiled model depends on has changed: settle it again at its next use."""
        self.compiled = None

    def optimizer_for(self, given: Any) -> Any:
        """The optimizer as an object; None for a class whose `train_step` has optimizers of its own."""
        if given is None and self.has_own("train_step"):
            return None
        return optimizers.get(given)

    @property
    def optimizer(self) -> Any:
        """The optimizer, with the state that belongs to this model's weights. It may train other models too."""
        found = self.options.optimizer
        if found is not None and self.compiled is not None and found._given is not self.compiled.parameters:
            found.bind(self.compiled.parameters)
        return found

    def has_own(self, method: str) -> bool:
        """Whether the model's class overrides `train_step`, `test_step`, `predict_step` or `compute_loss`."""
        return getattr(type(self.model), method) not in BUILT_IN[method]

    @property
    def processes(self) -> OneProcess:
        """The processes that train the model together: `ONE_PROCESS` where this one trains it alone."""
        if not (self.is_compiled and _is_distributed(self.options.distribute)):
            return ONE_PROCESS
        if self._joined is None:
            self._joined = joined_by(self)
        return self._joined

    # --- the compiled model ------------------------------------------------------------------------------------------

    def check_compiled(self) -> None:
        """Raise RuntimeError for a model that is not compiled."""
        if not self.is_compiled:
            raise RuntimeError(
                f"You must compile the model {self.model.name!r} before training or testing: "
                "`model.compile(optimizer, loss)`."
            )

    def ready(self) -> CompiledModel:
        """The compiled model, settled if it is not yet. Raises RuntimeError for a model that is not compiled."""
        self.check_compiled()
        compiled = self.compiled
        if compiled is None or (compiled.is_unbuilt and self.model._is_connected):
            compiled = self.settle()
        return compiled

    def settle(self) -> CompiledModel:
        """Assign losses and metrics to the outputs, and collect the weights that train."""
        return settle(self)

    @property
    def network(self) -> Network:
        """The network that computes: the model itself, or the graph around its own code."""
        if self.own_code is None:
            return self.model
        if self.own_code.network is None:
            self.own_code.connect()
            self.forget()
        assert self.own_code.network is not None
        return self.own_code.network

    @property
    def only_trains(self) -> bool:
        """Whether the class has a step, and no code that computes outputs: any data may go to the step."""
        return self.own_code is not None and not type(self.model)._has_own_code

    @property
    def is_alone(self) -> bool:
        """Whether only code and step of the class train it: then no shapes, outputs or graph are needed."""
        if self.own_code is None or graph_if_any(self.model) is not None or not self.has_own("train_step"):
            return False
        asked = self.options.loss, self.options.metrics, self.options.weighted_metrics
        return not any((*asked, self.added.losses, self.added.metrics))

    def weight_owners(self) -> Iterator[Layer]:
        """The layers at any depth, the model among them."""
        return (module for module in self.model.modules() if isinstance(module, Layer))

    @property
    def metrics_names(self) -> list[str]:
        """The names of the reported numbers; none before the model is compiled and built."""
        if not (self.is_compiled and self.model._is_connected):
            return []
        compiled = self.ready()
        return fixed_lists.MetricsNames([*reported_names(list(compiled.targets)), *compiled.added_metrics])

    @property
    def directions(self) -> Named:
        """Whether more is better, for each number that the model reports; None where it is not known."""
        if not (self.is_compiled and self.model._is_connected):
            return Named()
        compiled = self.ready()
        found: dict[str, bool | None] = dict.fromkeys(self.model._reported_names, False)  # losses
        for target in compiled.targets:
            for each in target.measures:
                rises = higher_is_better(each.metric)
                if rises is None:
                    rises = rises_by_words(each.name.removeprefix(f"{target.name}_"))
                found[each.name] = rises
        return Named({**found, **{name: rises_by_words(name) for name in compiled.added_metrics}})

    def new_sums(self, named_alone: bool = False, guard: Guard | None = None) -> Sums:
        """The sums of the numbers of a run that begins."""
        sums = self.processes.sums(self.ready().kept, named_alone, guard)
        self.sums = sums  # a run of another thread may replace them at once
        return sums

    def step(self, kind: str) -> Any:
        """The step "train" or "test" over a `Batch`: that of the user's class or the built-in one.

        Raises ValueError where there is no loss for it, or no optimizer.
        """
        compiled = self.ready()
        compiled.calls.look_again()
        if compiled.settled != SETTLED.count:
            compiled.look_again()
        if self.has_own(f"{kind}_step"):
            return self._guarded(self.own_steps.step(kind), kind)
        if not has_loss(self, compiled.targets):
            what = "an evaluation" if kind == "test" else "training"
            raise ValueError(
                f"{self.described} has no loss for {what}: give compile a `loss`, or its class a {kind}_step."
            )
        if kind == "test":
            return lambda batch: compiled.score(compiled, batch)[1]
        if self.model.optimizer is None:
            raise ValueError(
                f"{self.described} has no optimizer to train with: its `optimizer` was set to None. Set another, or "
                "compile the model again."
            )
        train_pass = compiled.train_pass
        if isinstance(train_pass, Auto):
            train_pass = train_pass.present
        return partial(train_step, compiled, train_pass=train_pass)

    def _guarded(self, own: Any, kind: str) -> Any:
        """A custom step; a train step is watched by the guard of `on_nonfinite` where there is one."""
        guard = self.ready().guard
        if kind != "train" or guard is None:
            return own
        return lambda batch: guard.watched(partial(own, batch), batch.size)

    # --- copies ------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The part of the state of a copy or pickle of the model, by the names that attributes of models once had.

        The compiled model holds the layers' tensors by identity: a copy settles its own, from the options of compile.
        Its optimizer has the copy's own parameters, with their state.
        """
        state: dict[str, Any] = {}
        if self.is_compiled:
            state |= {"_given": replace(self.options, optimizer=self.model.optimizer), "_is_compiled": True}
        if self.own_code is not None:
            state |= self.own_code.state()
        return state

    def take_state(self, state: dict[str, Any]) -> None:
        """The inverse."""
        self.options = state.get("_given", NOTHING_GIVEN)
        self.is_compiled = state.get("_is_compiled", False)
        if self.own_code is not None:
            self.own_code.take_state(state)


def training_of(model: Model) -> Training:
    """What a model has for training: its options, and what `compile` made of them."""
    return model._training


def _is_distributed(setting: Any) -> bool:
    """Whether `compile(distribute=)` says that processes train together."""
    if setting != "auto":
        return setting is not None
    return (has_group() or not os.environ.keys().isdisjoint(RANKS)) and world_size() > 1


# --- the compiled model ----------------------------------------------------------------------------------------------


def settle(training: Training) -> CompiledModel:
    """Make and store the compiled model. Raises ValueError and TypeError as `Model.compile` says."""
    processes = training.processes
    check_unwrapped(training.model, "compile")
    processes.prepare(training.model)
    owns_step = training.has_own("train_step")
    if owns_step:
        refuse_compiling(
            training.options.jit_compile, training.options.cuda_graph, OWN_STEP.format(type(training.model).__name__)
        )
    if training.is_alone:
        compiled = _settled_alone(training)
    else:
        compiled = _settled_with_graph(training, processes)
    listens = owns_step or training.has_own("compute_loss")
    compiled.trackers = {each.name: each for each in training.model._listed_metrics()} if listens else {}
    training.compiled = compiled
    compiled.placed = places(compiled.parameters)
    compiled.replicas = processes.replicas(compiled, by_hand=owns_step)
    return compiled


def _settled_alone(training: Training) -> CompiledModel:
    """The compiled model of a class that computes and trains by itself: only the weights that train.

    These are the weights so far; it is settled again when the first call has built the others.
    """
    model = training.model
    if not model._is_settled:
        move_modules(model, device_of(model))
    variables = model.trainable_weights
    parameters = [tensor for each in variables for tensor in each.tensors]
    _bind_optimizer(training, variables, parameters, [])
    guard = _guard(training)
    return CompiledModel(
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


def _settled_with_graph(training: Training, processes: OneProcess) -> CompiledModel:
    """The compiled model of a model with a graph, which these processes train."""
    model, given, added = training.model, training.options, training.added
    owns_step, owns_loss = training.has_own("train_step"), training.has_own("compute_loss")
    network, graph, targets, scores = _targets(training)
    if added.metrics:
        _check_names(targets, added)
    weights = model.weights
    variables, parameters = trained(weights)
    regularized, mixed = penalized(model, weights), mixed_layers(network)
    _bind_optimizer(training, variables, parameters, [target.objective.given for target in targets])
    own_loss = None
    if owns_loss:  # which may need probabilities
        own_loss = training.own_steps.loss
        targets = [target.with_activation() for target in targets]
    only_evaluates = not model._habits.settles_at_once and training.has_own("test_step")
    if not (owns_step or only_evaluates or has_loss(training, targets)):
        raise ValueError(f"compile: {NO_LOSS[0].lower()}{NO_LOSS[1:]}")
    further = len(scores.outputs) + len(added.losses) + len(added.metrics)  # outputs, after the model's own
    has_masks = _has_masks(graph.outputs[: len(graph.outputs) - further])
    guard = _guard(training)
    constrained, scaling = _constrained(training, variables), _loss_scale(training, mixed, guard)
    asked = _with_activity_regularizer(network)
    compiled = CompiledModel(
        network,
        targets,
        given.optimizer,
        parameters,
        regularized,
        constrained,
        details=has_masks or bool(asked),
        added_losses=len(added.losses),
        added_metrics=list(added.metrics),
        fed=list(scores.targets),
        own_loss=own_loss,
        ends=(model, network, *(graph.outputs[target.index].keras_history.layer for target in targets)),
        widened=_in_16_bits(graph.outputs) if mixed else (),
        guard=guard,
        scaling=scaling,
        score=scorer(given.jit_compile, given.cuda_graph),
        train_pass=processes.train_function(given.jit_compile, given.cuda_graph),
    )
    compiled.look_again = partial(_look_again, training, compiled)
    if asked or network is not model:
        _hook_activities(model, by_hand=owns_step)
    return compiled


def _has_masks(outputs: list[KerasTensor]) -> bool:
    """Whether any of these symbolic outputs has a mask."""
    return any(tensor.keras_mask is not None for tensor in outputs)


def _in_16_bits(outputs: list[KerasTensor]) -> tuple[int, ...]:
    """The numbers of the outputs in 16 bits, which losses and metrics get in float32."""
    return tuple(number for number, tensor in enumerate(outputs) if tensor.dtype in HALF_TYPES)


def _look_again(training: Training, compiled: CompiledModel) -> None:
    """Follow options of layers that were set since `compile`."""
    model = training.model
    asked = _with_activity_regularizer(compiled.network)
    variables, _ = trained(model.weights)
    compiled.follow(penalized(model), _constrained(training, variables), details=bool(asked))
    if asked:
        _hook_activities(model, by_hand=training.has_own("train_step"))


# --- targets ---------------------------------------------------------------------------------------------------------


def _targets(training: Training) -> tuple[Network, Graph, list[Target], Scores]:
    """The network of a step, its graph, the losses and metrics of its outputs, and those computed in the graph.

    Raises as `resolve`, and as `symbolic_scores`.
    """
    model, scores = training.model, Scores()
    network = trained_network(training, training.network)
    names = model.output_names
    graph = network._graphed
    owns_step = training.has_own("train_step")
    owns_loss = owns_step or training.has_own("compute_loss")
    targets = resolve(
        names, lambda: model._output_owners, graph, training.options, owns_step,
        measures_alone=owns_loss and model._habits.measures_without_loss, are_named=model._names_outputs,
    )  # fmt: skip
    if (paths := model._output_paths) is not None:
        targets = [replace(each, loss_name=each.loss_name and f"{paths[each.index]}_loss") for each in targets]
    theirs = _users_scores(targets)
    if theirs and (training.has_own("train_step") or training.has_own("compute_loss")):
        refuse(theirs)
    elif theirs:
        targets = scores.taken_from(targets, graph.outputs[: len(names)])
    if scores.outputs:
        network = trained_network(training, network, scores)
        graph = network._graphed
        theirs = _users_scores(targets)
    if theirs:  # one may hold a value that was computed from weights, which have changed since
        refuse_frozen("compile", {name_of(each): each for each in theirs})
    return network, graph, targets, scores


def _users_scores(targets: list[Target]) -> list[Any]:
    """The losses and metrics that are the user's own code."""
    return [each for each in losses_and_metrics(targets) if not installed(getattr(each, "__module__", None) or "")]


def _check_names(targets: list[Target], added: AddedToGraph) -> None:
    """Raise ValueError for a metric of `add_metric` with the name of another number."""
    taken = [*reported_names(targets), *added.metrics]
    repeated = [name for name in added.metrics if taken.count(name) > 1]
    if repeated:
        raise ValueError(f"compile: add_metric has the name {repeated[0]!r}, which another reported number has.")


def has_loss(training: Training, targets: Sequence[Target]) -> bool:
    """Whether there is anything that gives the built-in steps a loss."""
    model = training.model
    return bool(
        targets
        or training.added.losses
        or training.has_own("compute_loss")
        or any(computes_with(type(module), "add_loss") for module in model.modules())
        or penalized(model)
        or _with_activity_regularizer(model)
    )


# --- weights ---------------------------------------------------------------------------------------------------------


def _bind_optimizer(
    training: Training, variables: list[Variable], parameters: list[torch.Tensor], losses: list[Any]
) -> None:
    """Give the optimizer, if there is one, the parameters that train.

    Raises ValueError for parameters that it would not update, and warns of tensors that look like weights and are none.
    """
    optimizer = training.options.optimizer
    if optimizer is not None:
        check_reach(training.model, parameters, losses)
        bind(optimizer, variables, parameters)
    warn_of_unseen(training.model, "compile", stacklevel=7, losses=losses)
    collected = set(map(id, parameters))
    for owner in training.weight_owners():
        if owner._freezing.held or owner._freezing.at_compile:
            note_compile(owner, collected)


def _constrained(training: Training, variables: list[Variable]) -> list[Variable]:
    """The variables with a constraint that the optimizer trains; without an optimizer, all with a constraint."""
    trains = getattr(training.options.optimizer, "trains", lambda tensors: True)
    return [each for each in variables if each.constraint is not None and trains(each.tensors)]


@contextmanager
def collected(training: Training, compiled: CompiledModel) -> Iterator[None]:
    """Gradients for the weights that trained when the model was compiled, but not for those frozen since.

    Weights that `trainable=False` has frozen for another model, compiled later, still train in this one.
    """
    imported("torch.fx.experimental.symbolic_shapes")  # torch does so for its first gradients
    placed = places(compiled.parameters)
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


def places(parameters: Sequence[torch.Tensor]) -> list[Any]:
    """Where parameters lie: an optimizer whose parameters have moved must be bound again."""
    return [(each.device, each.dtype, each.stride() if each.layout is torch.strided else None) for each in parameters]


def _warn_of_changes(training: Training, compiled: CompiledModel) -> set[int]:
    """Warn where not the same weights require gradients as at `compile`, or none do.

    Returns the ids of the parameters that were frozen for another model.
    """
    lent: set[int] = set()
    asking = {id(each) for each in training.model.parameters() if each.requires_grad}
    if not asking or asking != compiled.asking:
        held, lent = _held_and_lent(training)
        text = _changes(training, compiled, held, lent)
        if text:
            warnings.warn(text, stacklevel=4)
        elif not held:
            compiled.asking = asking
    if not training.has_own("train_step"):
        training.processes.warn_of_hooks(training.model, compiled.parameters)
    return lent


def _held_and_lent(training: Training) -> tuple[set[int], set[int]]:
    """The ids of the parameters that `trainable=False` froze, and of those that it froze for another model."""
    held: set[int] = set()
    lent: set[int] = set()
    for owner in training.weight_owners():
        if owner._freezing.held:
            held.update(map(id, held_tensors(owner)))
            lent.update(map(id, held_tensors(owner, for_another=True)))
    return held, lent


def _changes(training: Training, compiled: CompiledModel, held: set[int], lent: set[int]) -> str:
    """The text of the warning of `_warn_of_changes`; "" for none."""
    model, parameters = training.model, compiled.parameters
    now = {id(tensor) for variable in model.trainable_weights for tensor in variable.tensors}
    asking = {id(each) for each in parameters if each.requires_grad}
    frozen = held.intersection(map(id, parameters)) - asking
    if now != asking | frozen:
        return discrepancy(model.weights, parameters, frozen, lent)
    if now or lent or training.has_own("train_step") or not any(each.made_to_train for each in model.weights):
        return ""
    return NOTHING_TRAINS.format(training.described)


# --- guards of a step ------------------------------------------------------------------------------------------------


def _guard(training: Training) -> Guard | None:
    """The guard of `on_nonfinite`."""
    policy = training.options.on_nonfinite
    if policy is None:
        return None
    return Guard(policy, Changing(training), device_of(training.model), training.processes.looks_by_batches)


def _loss_scale(training: Training, mixed: list[Any], guard: Guard | None) -> LossScale | None:
    """The scale of the loss where layers compute in float16, whose gradients may be too small or too large.

    `mixed`: the layers that compute in 16 bits.
    """
    if all(layer.compute_dtype != "float16" for layer in mixed):
        return None
    return LossScale(ChangingWeights(training), device_of(training.model), guard is not None)


# --- activity regularizers -------------------------------------------------------------------------------------------


def _with_activity_regularizer(network: nn.Module) -> list[Any]:
    """The layers of a network, at any depth, that have an activity regularizer."""
    return [module for module in network.modules() if getattr(module, "activity_regularizer", None) is not None]


def _hook_activities(model: nn.Module, *, by_hand: bool) -> None:
    """Hook the activity regularizers that the generated code does not call; in a step `by_hand`, all of them."""
    graphed = _layers_of_graphs(model)
    asked = _with_activity_regularizer(model)
    wrappers = graphed.intersection(asked)
    parts = {part for wrapper in wrappers for part in wrapper.modules()} - graphed
    for module in asked:
        if module not in parts and (by_hand or module not in graphed):
            add_activity_losses(module, in_steps=module not in graphed)


def _layers_of_graphs(model: nn.Module) -> set[Layer]:
    """The layers of the graphs of a model and of the models inside it."""
    networks = [each for each in model.modules() if isinstance(each, Network) and each._graph is not None]
    return {layer for network in networks for layer in network.layers}

"""The state of a model in training: what `compile` was given, and what it settles to."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from torchkeras import optimizers
from torchkeras.base import fixed_lists
from torchkeras.base.function_values import installed
from torchkeras.base.interrupts import imported
from torchkeras.base.shards import refuse as refuse_shared
from torchkeras.callbacks.logs import Named
from torchkeras.callbacks.monitoring import rises_by_words
from torchkeras.engine.dtypes import mixed_layers
from torchkeras.engine.fit.activities import hook_activities, may_add_losses, with_activity_regularizer
from torchkeras.engine.fit.compile_options import CompileOptions, compile_arguments
from torchkeras.engine.fit.custom_steps import Extending, own_step
from torchkeras.engine.fit.distributing import Together, refuse_compiling
from torchkeras.engine.fit.symbolic_scores import Scores, refuse
from torchkeras.engine.fit.turns import Turning
from torchkeras.engine.fit.watched import Changing, Weights
from torchkeras.engine.graph.hook_free_calls import HookFreeCalls
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.speed.auto_compile import Auto
from torchkeras.engine.speed.choose import learner, scorer
from torchkeras.engine.step.compiled_model import NO_LOSS, CompiledModel
from torchkeras.engine.step.loss_scale import LossScale
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.optimizer_reach import bind, check_reach, discrepancy, warn_of_hooks
from torchkeras.engine.step.output_loss import name_of
from torchkeras.engine.step.step import learn, train_step
from torchkeras.engine.step.targets import reported_names, resolve
from torchkeras.engine.weights.expressions import refuse_frozen
from torchkeras.engine.weights.unseen import warn_of_unseen
from torchkeras.engine.weights.weight_lists import WeightOwner
from torchkeras.losses.shared import HALF_TYPES
from torchkeras.metrics.direction import higher_is_better
from torchkeras.world.processes import has_group

OWN_STEP = (
    "is for the built-in train step; {} has one of its own: compile what it calls by torch.compile, and leave that "
    "option away."
)


NOTHING_TRAINS = (
    "{} {!r} does not have any trainable weights: all are frozen, and the optimizer changes none. Unfreeze some, by "
    "trainable or requires_grad_, and compile it again."
)


class Given:
    """An argument of `compile` as an attribute of the model: what it was given. One that is set counts from then on."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        found = getattr(model._given, self._name)
        if type(found) is dict or (type(found) is list and not {list, dict}.isdisjoint(map(type, found))):
            return fixed_lists.given(found)
        return fixed_lists.Given(found) if type(found) is list else found

    def __set__(self, model: Any, value: Any) -> None:
        model.__dict__.update(_given=replace(model._given, **{self._name: value}), _compiled_model=None, _joined=None)


class GivenOptimizer(Given):
    """The optimizer. Set on a compiled model it may be all that `compile` takes, and is read as the object.

    It may train other models too. Read from a model it has the state that belongs to this model's weights.
    """

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        found, compiled = super().__get__(model, owner), model is not None and model._compiled_model
        if found is not None and compiled and found._given is not compiled.parameters:
            found.bind(compiled.parameters)
        return found

    def __set__(self, model: Any, value: Any) -> None:
        asked = value is not None and model._is_compiled
        super().__set__(model, model._optimizer_for(value) if asked else value)


class NotHere:
    """A training option of another Keras, which a model here does not have. `instead`: what to do."""

    def __init__(self, instead: str):
        self._instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        raise AttributeError(f"{type(model).__name__!r} object has no attribute {self._name!r}")

    def __set__(self, model: Any, value: Any) -> None:
        what = f"{type(model).__name__} {model.name!r}"
        raise AttributeError(f"{what}: there is no option {self._name!r} to set: {self._instead}.")


class Compiling(Together, Turning, Extending, abstract=True):
    """Compiling, added to a network: what `compile` was given (`_given`), what it settles to (`_compiled_model`)."""

    _given = CompileOptions()
    _is_compiled = False
    _compiled_model: CompiledModel | None = None

    optimizer, loss, metrics, loss_weights = GivenOptimizer(), Given(), Given(), Given()
    sample_weight_mode, weighted_metrics, target_tensors, on_nonfinite = Given(), Given(), Given(), Given()
    jit_compile, cuda_graph, steps_per_execution = Given(), Given(), Given()
    distribute, sync_batch_norm = Given(), Given()
    run_eagerly = NotHere("steps run eagerly where jit_compile is False, set model.jit_compile = False")
    auto_scale_loss = NotHere("the loss is scaled where layers compute in float16, and only there")

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
        distribute: Any = "auto",
        sync_batch_norm: bool = True,
        numerics: str | None = None,
    ) -> None:
        """Settle how the model is trained.

        Which weights train is settled here too. For several outputs, `loss`, `metrics`, `loss_weights` and the like are
        lists in the order of the outputs, or dictionaries by output name; the name of a layer stands for all of its
        outputs that have no entry of their own.

        Arguments:
            optimizer (name, object or class, default None): an optimizer of Keras or of torch.optim, a class of
                torch.optim, or (class, options). None is for a class whose `train_step` has optimizers of its own.
            loss (name, function or object, default None): a name, a function (y_true, y_pred), a `Loss`, or a loss of
                torch. The loss minimized is the sum over the outputs, weighted by `loss_weights`, plus all penalties.
            metrics (list or None, default None): names, functions, `Metric` objects or torchmetrics; means over
                samples.
            loss_weights (list, dict or None, default None): the weight of each output's loss; None is 1 for each.
            sample_weight_mode (text, list, dict or None, default None): "temporal" for a weight for each time step.
            weighted_metrics (list or None, default None): metrics that count sample weights.
            target_tensors (arrays or None, default None): the targets wherever no y is given.
            on_nonfinite (text or None, default None): what to do after a loss or gradient that is no finite number:
                "stop", "skip" the batch, "raise", or None for nothing; see `engine.step.nonfinite`.
            jit_compile (bool, dict or "auto", default "auto"): True runs the built-in train step, evaluations and
                predictions as graphs of torch.compile; a dict has its options; False never does. "auto" measures train
                steps both ways once a run is long enough to repay compiling, and keeps the faster; see
                `engine.speed.compiled_steps`.
            cuda_graph (bool or "auto", default "auto"): True is `jit_compile={"mode": "reduce-overhead"}`, by which
                torch.compile captures a CUDA graph; False never captures. "auto" captures what `jit_compile="auto"`
                compiles on a CUDA device.
            steps_per_execution (positive integer, default 1): how many batches run between two calls of the batch
                hooks, which get their mean numbers.
            distribute ("auto", None, "ddp", "fsdp" or DeviceMesh, default "auto"): how several processes train the
                model together. "ddp" gives each a replica, by torch's DistributedDataParallel. "fsdp" gives each a
                part of every weight, by torch's `fully_shard`; a DeviceMesh of one axis does so over its processes.
                "auto" is "ddp" where a launcher such as torchrun has started several processes, or a process group of
                several exists; else one process trains alone, as with None.
            sync_batch_norm (bool, default True): whether several processes normalize by the statistics of the whole
                batch, as one process does. False is faster: each takes those of its own part.
            numerics (text or None, default None): whose losses and metrics count where versions of Keras differ. None
                clips the probabilities of crossentropies, as Keras 2.2.4 does; where the loss takes logits, metrics
                that expect probabilities get probabilities. "keras" gives metrics the outputs as they are. "tensorflow"
                does so too, and crossentropies of what comes out of a softmax or sigmoid are computed from its input,
                and not clipped. "tensorflow-2.10" does as "tensorflow", and the loss of a masked output is a mean over
                all steps, in which the masked ones count 0, as in tf.keras 1.13 to 2.10; otherwise the mean is over
                the unmasked steps. "keras-2.3" takes that mean and else does as None, as Keras 2.3 did. Models from
                files of these versions and of Keras 3 are compiled with that of their version, or with "keras" where
                a file of tf.keras or Keras 3 names another backend.

        Errors:
            ValueError: an unknown name, a list of another length than the outputs, no loss, or an option with a bad
                value.
            TypeError: an optimizer, loss or metric is of another kind.

        Example:
            >>> model = Sequential([Dense(3, activation="softmax", input_shape=(2,))])
            >>> model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
            >>> model.metrics_names
            ['loss', 'acc']

        Source: https://keras.io/api/models/model_training_apis/
        """
        given = CompileOptions(
            self._optimizer_for(optimizer),
            loss,
            metrics or [],
            loss_weights,
            sample_weight_mode,
            weighted_metrics,
            target_tensors,
            on_nonfinite,
            jit_compile,
            cuda_graph,
            steps_per_execution,
            distribute,
            sync_batch_norm,
            numerics,
        )
        # Not by setattr: torch would make a loss or a metric that is a module a part of the model.
        self.__dict__.update(_given=given, _is_compiled=True, _compiled_model=None, _joined=None)
        if self._is_connected:
            self._settle()

    def _optimizer_for(self, given: Any) -> Any:
        """The optimizer that was given, as an object; None for a class whose `train_step` has optimizers of its own."""
        return None if given is None and own_step(self, "train") is not None else optimizers.get(given)

    @property
    def _trains_alone(self) -> bool:
        """Whether the class's own code and step are all that trains it: then no shapes, outputs or graph are needed."""
        asked = self.loss, self.metrics, self.weighted_metrics, self._added_losses, self._added_metrics
        return self._has_own_code and self._graph is None and own_step(self, "train") is not None and not any(asked)

    def _settle_alone(self) -> None:
        """Collect the weights that train: those there are now; once more when the first call has built the others."""
        variables = self.trainable_weights
        parameters = [tensor for each in variables for tensor in each.tensors]
        self._bind(variables, parameters, [])
        compiled = self.__dict__["_compiled_model"] = CompiledModel(
            self,
            [],
            self._given.optimizer,
            parameters,
            [],
            self._constrained(variables),
            details=False,
            is_unbuilt=not self._is_connected,
            **self._watching(mixed_layers(self)),
        )
        compiled.replicas = None if self._processes is None else self._processes.replicas(compiled, by_hand=True)

    def _watching(self, mixed: list[Any]) -> dict[str, Any]:
        """What looks at each step's numbers: the guard of `on_nonfinite`, and the loss scale of float16.

        `mixed`: the layers that compute in 16 bits. The gradients of those in float16 may be too small or too large.
        """
        policy = self._given.on_nonfinite
        guard = None if policy is None else Guard(policy, Changing(self), self._device, self._processes is not None)
        scales = any(layer.compute_dtype == "float16" for layer in mixed)
        return {
            "guard": guard,
            "scaling": LossScale(Weights(self), self._device, guard is not None) if scales else None,
        }

    def _bind(self, variables: list[Any], parameters: list[torch.Tensor], losses: list[Any]) -> None:
        """Give the optimizer, where there is one, the parameters of what trains.

        Raises ValueError for what it would not reach, and warns of tensors that are no weights though they look it.
        """
        optimizer = self._given.optimizer
        if optimizer is not None:
            check_reach(self, parameters, losses)
            bind(optimizer, variables, parameters)
        warn_of_unseen(self, "compile", stacklevel=4, losses=losses)
        collected = set(map(id, parameters))
        for owner in self._weight_owners():
            if owner._held or owner._frozen_at_compile:
                owner._note_compile(collected)

    def _weight_owners(self) -> Iterator[WeightOwner]:
        return (module for module in self.modules() if isinstance(module, WeightOwner))

    def _constrained(self, variables: list[Any]) -> list[Any]:
        """Those with a constraint that the optimizer trains; where there is none, the user's own do."""
        trains = getattr(self._given.optimizer, "trains", lambda tensors: True)
        return [each for each in variables if each.constraint is not None and trains(each.tensors)]

    def _settle(self) -> None:
        """Resolve what `compile` was given against the outputs, and collect the weights that train."""
        owns_step, processes = own_step(self, "train") is not None, self._processes
        if processes is not None:
            processes.prepare(self)
        elif has_group():
            refuse_shared(self.parameters(), "compile without other processes")
        if owns_step:
            refuse_compiling(self._given, OWN_STEP.format(type(self).__name__))
        if self._trains_alone:
            self._settle_alone()
            return
        network, names, given = self._trained_network(), self.output_names, self._given
        graph = network._graphed  # whose first outputs are the model's own
        targets, scores = resolve(names, lambda: self._output_owners, graph, given), Scores()
        owns_loss = type(self).compute_loss is not Extending.compute_loss
        if owns_step or owns_loss:
            refuse(targets)
        else:
            targets = scores.taken_from(targets, graph.outputs[: len(names)])
        if scores.outputs:
            network = self._trained_network(scores)
            graph = network._graphed
        taken = [*reported_names(targets), *self._added_metrics]
        repeated = [name for name in self._added_metrics if taken.count(name) > 1]
        if repeated:
            raise ValueError(f"compile: add_metric has the name {repeated[0]!r}, which another reported number has.")
        given_scores = [
            each for target in targets for each in (target.objective.given, *(m.metric for m in target.measures))
        ]
        theirs = [each for each in given_scores if not installed(getattr(each, "__module__", None) or "")]
        if theirs:
            refuse_frozen("compile", {name_of(each): each for each in theirs})
        weights = self.weights
        variables = [variable for variable in weights if variable.trains]
        parameters = [tensor for each in variables for tensor in each.tensors]
        self._bind(variables, parameters, [target.objective.given for target in targets])
        if owns_loss:  # which may want probabilities
            targets = [target.with_activation() for target in targets]
        if not (owns_step or self._has_loss(targets)):
            raise ValueError(f"compile: {NO_LOSS[0].lower()}{NO_LOSS[1:]}")
        has_masks = any(tensor._keras_mask is not None for tensor in graph.outputs[: len(names)])
        mixed, asked = mixed_layers(network), with_activity_regularizer(network)
        if processes is not None:
            refuse_compiling(
                given, "is of one process, and several train here: leave it away, or give distribute=None."
            )
        compiled = self.__dict__["_compiled_model"] = CompiledModel(
            network,
            targets,
            given.optimizer,
            parameters,
            self._penalized(weights),
            self._constrained(variables),
            details=has_masks or bool(asked),
            added_losses=len(self._added_losses),
            added_metrics=list(self._added_metrics),
            fed=list(scores.targets),
            own_loss=self._own_loss if owns_loss else None,
            ends=(self, network, *(graph.outputs[target.index]._keras_history.layer for target in targets)),
            widened=tuple(k for k, each in enumerate(graph.outputs) if mixed and each.dtype in HALF_TYPES),
            **self._watching(mixed),
            score=scorer(given.jit_compile, given.cuda_graph),
            learn=learner(given.jit_compile, given.cuda_graph) if processes is None else learn,
        )
        compiled.replicas = None if processes is None else processes.replicas(compiled, by_hand=owns_step)
        compiled.look_again = partial(self._look_again, compiled)
        if owns_step:
            self.__dict__["_marks_masks"] = has_masks
        if asked or network is not self:
            hook_activities(self, by_hand=owns_step)

    def _look_again(self, compiled: CompiledModel) -> None:
        """Follow options of layers that were set since `compile`."""
        asked = with_activity_regularizer(compiled.network)
        training = [each for each in self.weights if each.trains]
        compiled.follow(self._penalized(), self._constrained(training), details=bool(asked))
        if asked:
            hook_activities(self, by_hand=own_step(self, "train") is not None)

    def _find_types(self) -> None:
        super()._find_types()
        self.__dict__["_compiled_model"] = None  # which knows what is computed in 16 bits

    def _has_loss(self, targets: Any) -> bool:
        """Whether there is something that the built-in steps can compute a loss of."""
        owns_loss = type(self).compute_loss is not Extending.compute_loss
        adds_losses = targets or self._added_losses or owns_loss or may_add_losses(self)
        return bool(adds_losses or self._penalized() or with_activity_regularizer(self))

    @property
    def metrics_names(self) -> list[str]:
        """The names of the numbers that `evaluate` and `train_on_batch` return, in their order.

        None are known, and the list is empty, before the model is compiled and built.
        """
        if not (self._is_compiled and self._is_connected):
            return []
        compiled = self._ready()
        return fixed_lists.MetricsNames([*reported_names(list(compiled.targets)), *compiled.added_metrics])

    @property
    def _directions(self) -> Named:
        """Whether more is better, for each number that the model reports; None where nothing says so."""
        if not (self._is_compiled and self._is_connected):
            return Named()
        compiled = self._ready()
        found: dict[str, bool | None] = dict.fromkeys(self.metrics_names, False)  # losses
        for target in compiled.targets:
            for each in target.measures:
                declared, own_name = higher_is_better(each.metric), each.name.removeprefix(f"{target.name}_")
                found[each.name] = rises_by_words(own_name) if declared is None else declared
        return Named({**found, **{name: rises_by_words(name) for name in compiled.added_metrics}})

    def _check_compiled(self) -> None:
        if not self._is_compiled:
            raise RuntimeError(
                f"You must compile the model {self.name!r} before training or testing: "
                "`model.compile(optimizer, loss)`."
            )

    def _ready(self) -> CompiledModel:
        self._check_compiled()
        compiled = self._compiled_model
        if compiled is None or (compiled.is_unbuilt and self._is_connected):
            self._settle()
            compiled = self._compiled_model
        assert compiled is not None
        return compiled

    def _step(self, kind: str) -> Any:
        compiled, own = self._ready(), own_step(self, kind)
        compiled.calls = HookFreeCalls(compiled.network)  # which looks at the modules again
        if compiled.settled != SETTLED.count and compiled.look_again is not None:
            compiled.look_again()
        if own is None and not self._has_loss(compiled.targets):
            raise ValueError(
                f"{type(self).__name__} {self.name!r} has no loss for an evaluation: give compile a `loss`, or its "
                f"class a {kind}_step."
            )
        if own is not None and kind == "train" and compiled.guard is not None:
            guard = compiled.guard
            return lambda batch: guard.watched(partial(own, batch), batch.size)
        if own is not None:
            return own
        if kind == "train":
            if self.optimizer is None:
                raise ValueError(
                    f"{type(self).__name__} {self.name!r} has no optimizer to train with: its `optimizer` was set to "
                    "None. Set another, or compile the model again."
                )
            chosen = compiled.learn
            return partial(train_step, compiled, learn=chosen.present if isinstance(chosen, Auto) else chosen)
        return lambda batch: compiled.score(compiled, batch)[1]

    # --- state -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _collected(self, compiled: CompiledModel) -> Iterator[None]:
        """Gradients for the weights that trained when the model was compiled, but not for what was frozen since then.

        What `trainable=False` has frozen for another model, which was compiled after it, trains in this one still.
        """
        imported("torch.fx.experimental.symbolic_shapes")  # torch does so for its first gradients
        placed = [(parameter.device, parameter.dtype) for parameter in compiled.parameters]
        if placed != compiled.placed:  # the model was moved: its optimizer state follows
            if compiled.optimizer is not None:
                compiled.optimizer.bind(compiled.parameters)
            compiled.placed = placed
        trainable = self.trainable_weights
        now = {id(tensor) for variable in trainable for tensor in variable.tensors}
        owners = [owner for owner in self._weight_owners() if owner._held]
        held = {id(tensor) for owner in owners for tensor in owner._held_tensors()}
        lent = {id(tensor) for owner in owners for tensor in owner._held_tensors(for_another=True)}
        if now != {id(each) for each in compiled.parameters if each.requires_grad or id(each) in held}:
            frozen = {id(each) for each in compiled.parameters if not each.requires_grad and id(each) in held}
            warnings.warn(discrepancy(self.weights, compiled.parameters, frozen, lent), stacklevel=3)
        elif not now and not lent and own_step(self, "train") is None and any(each.trainable for each in self.weights):
            warnings.warn(NOTHING_TRAINS.format(type(self).__name__, self.name), stacklevel=3)
        if own_step(self, "train") is None and self._processes is None:
            warn_of_hooks(self, compiled.parameters)
        frozen = [each for each in compiled.parameters if not each.requires_grad and id(each) in lent]
        for parameter in frozen:
            parameter.requires_grad_(True)
        try:
            yield
        finally:
            for parameter in frozen:
                parameter.requires_grad_(False)

    def _compile_as(self, training: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> bool:
        """Compile as a file says; False, and nothing is done, if it names no loss and the model has none itself."""
        names_loss = any(each is not None for each in tree_leaves(training["loss"]))
        if not (names_loss or own_step(self, "train") is not None or self._has_loss(())):
            return False
        self.compile(**compile_arguments(training, custom_objects))
        return True

    def __getstate__(self) -> dict[str, Any]:
        # The compiled model holds the layers' tensors by identity: a copy settles its own, from what compile was
        # given. Its optimizer has the copy's own parameters, with their state.
        state = super().__getstate__()
        if self._is_compiled:  # read here, it has the state that belongs to this model's weights
            state["_given"] = replace(self._given, optimizer=self.optimizer)
        return {**state, "history": None, "_compiled_model": None, "_joined": None}

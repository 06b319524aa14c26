"""`Training`: how a model trains: what `compile` was given, what that settles to, and the state of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from torch.utils._pytree import tree_leaves

from torchkeras import optimizers
from torchkeras.base import fixed_lists
from torchkeras.callbacks.logs import Named
from torchkeras.callbacks.monitoring import rises_by_words
from torchkeras.engine.data.part import Part
from torchkeras.engine.data.sources import Source
from torchkeras.engine.fit import custom_steps, distributing, settling
from torchkeras.engine.fit.compile_options import CompileOptions, compile_arguments
from torchkeras.engine.fit.custom_steps import OwnSteps
from torchkeras.engine.fit.graph_losses import AddedToGraph
from torchkeras.engine.fit.turns import Turn
from torchkeras.engine.graph.hook_free_calls import HookFreeCalls
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.subclassed import OwnCode
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.speed.auto_compile import Auto
from torchkeras.engine.step.compiled_model import CompiledModel
from torchkeras.engine.step.step import train_step
from torchkeras.engine.step.targets import reported_names
from torchkeras.engine.weights.weight_lists import WeightOwner
from torchkeras.metrics.direction import higher_is_better

if TYPE_CHECKING:
    from torchkeras.models.model import Model

NOTHING_GIVEN = CompileOptions()


class Training:
    """How one model trains. Every model has one, compiled or not.

    `options`: what `compile` was given. `compiled`: what it settles to, once it is known. `added`: losses and metrics
    of the graph that `add_loss` and `add_metric` were given. `own_code`: of a model whose class computes by a `call` or
    `forward` of its own. `own_steps`: what steps of a user's own ask for. `turn`: of the threads. `is_fitting`: whether
    a `fit` is under way, and `validated`: what that validates on.
    """

    def __init__(self, model: Model):
        self.model = model
        self.options = NOTHING_GIVEN
        self.is_compiled = False
        self.compiled: CompiledModel | None = None
        self.added = AddedToGraph()
        self.own_code = OwnCode(model) if model._has_own_code else None
        self.own_steps = OwnSteps(self)
        self.turn = Turn()
        self.is_fitting = False
        self.validated: Source | None = None
        self._processes: Any = None

    @property
    def described(self) -> str:
        """Class and name of the model, for messages."""
        return f"{type(self.model).__name__} {self.model.name!r}"

    # --- what `compile` was given ------------------------------------------------------------------------------------

    def compile(self, options: CompileOptions) -> None:
        """Take the options; settle what they mean where the model is built, else when it will be."""
        self.options, self.is_compiled = options, True
        self.forget()
        self._processes = None
        if self.model._is_connected:
            self.settle()

    def change(self, name: str, value: Any) -> None:
        """Take another value of one option, as an attribute of the model that is set."""
        self.options = replace(self.options, **{name: value})
        self.forget()
        self._processes = None

    def forget(self) -> None:
        """Something has changed that the compiled model depends on: settle it again when it is asked for."""
        self.compiled = None

    def optimizer_for(self, given: Any) -> Any:
        """The optimizer that was given, as an object; None for a class whose `train_step` has optimizers of its own."""
        return None if given is None and self.has_own("train_step") else optimizers.get(given)

    @property
    def optimizer(self) -> Any:
        """The optimizer, with the state that belongs to this model's weights. It may train other models too."""
        found = self.options.optimizer
        if found is not None and self.compiled is not None and found._given is not self.compiled.parameters:
            found.bind(self.compiled.parameters)
        return found

    def has_own(self, method: str) -> bool:
        """Whether the model's class overrides `train_step`, `test_step`, `predict_step` or `compute_loss`."""
        return custom_steps.overrides(self.model, method)

    @property
    def processes(self) -> Any:
        """Those that train the model together, of which this one has a part; None where it trains alone."""
        if not (self.is_compiled and distributing.is_distributed(self.options.distribute)):
            return None
        if self._processes is None:
            self._processes = distributing.joined_by(self)
        return self._processes

    @property
    def part(self) -> Part | None:
        """The rows of every batch that this process has, where several train together; None where it has all."""
        processes = self.processes
        return None if processes is None or processes.part.processes == 1 else processes.part

    # --- what it settles to ------------------------------------------------------------------------------------------

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
        """Resolve what `compile` was given against the outputs, and collect the weights that train."""
        return settling.settle(self)

    @property
    def network(self) -> Network:
        """What computes: the model itself, or the graph around its own code."""
        if self.own_code is None:
            return self.model
        if self.own_code.whole is None:
            self.own_code.connect()
            self.forget()
        assert self.own_code.whole is not None
        return self.own_code.whole

    @property
    def is_alone(self) -> bool:
        """Whether the class's own code and step are all that trains it: then no shapes, outputs or graph are needed."""
        if self.own_code is None or self.model._graph is not None or not self.has_own("train_step"):
            return False
        asked = self.options.loss, self.options.metrics, self.options.weighted_metrics
        return not any((*asked, self.added.losses, self.added.metrics))

    def weight_owners(self) -> Iterator[WeightOwner]:
        """The layers at any depth, the model among them."""
        return (module for module in self.model.modules() if isinstance(module, WeightOwner))

    @property
    def metrics_names(self) -> list[str]:
        """The names of the reported numbers; none before the model is compiled and built."""
        if not (self.is_compiled and self.model._is_connected):
            return []
        compiled = self.ready()
        return fixed_lists.MetricsNames([*reported_names(list(compiled.targets)), *compiled.added_metrics])

    @property
    def directions(self) -> Named:
        """Whether more is better, for each number that the model reports; None where nothing says so."""
        if not (self.is_compiled and self.model._is_connected):
            return Named()
        compiled = self.ready()
        found: dict[str, bool | None] = dict.fromkeys(self.metrics_names, False)  # losses
        for target in compiled.targets:
            for each in target.measures:
                declared, own_name = higher_is_better(each.metric), each.name.removeprefix(f"{target.name}_")
                found[each.name] = rises_by_words(own_name) if declared is None else declared
        return Named({**found, **{name: rises_by_words(name) for name in compiled.added_metrics}})

    def step(self, kind: str) -> Any:
        """The step of kind "train" or "test", over a `Batch`: the user's own or the built-in one.

        Raises ValueError where there is no loss for it, or no optimizer.
        """
        compiled, own = self.ready(), self.own_steps.step(kind)
        compiled.calls = HookFreeCalls(compiled.network)  # which looks at the modules again
        if compiled.settled != SETTLED.count and compiled.look_again is not None:
            compiled.look_again()
        if own is not None:
            return self._guarded(own) if kind == "train" else own
        if not settling.has_loss(self, compiled.targets):
            raise ValueError(
                f"{self.described} has no loss for an evaluation: give compile a `loss`, or its class a {kind}_step."
            )
        if kind == "test":
            return lambda batch: compiled.score(compiled, batch)[1]
        if self.optimizer is None:
            raise ValueError(
                f"{self.described} has no optimizer to train with: its `optimizer` was set to None. Set another, or "
                "compile the model again."
            )
        chosen = compiled.learn
        return partial(train_step, compiled, learn=chosen.present if isinstance(chosen, Auto) else chosen)

    def _guarded(self, own: Any) -> Any:
        """A train step of the user's own, under the guard of `on_nonfinite` where there is one."""
        guard = self.ready().guard
        if guard is None:
            return own
        return lambda batch: guard.watched(partial(own, batch), batch.size)

    def compile_as(self, training: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> bool:
        """Compile as a file says; False, and nothing is done, if it names no loss and the model has none itself."""
        names_loss = any(each is not None for each in tree_leaves(training["loss"]))
        if not (names_loss or self.has_own("train_step") or settling.has_loss(self, ())):
            return False
        self.model.compile(**compile_arguments(training, custom_objects))
        return True

    # --- copies ------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What a copy and a pickle of the model hold of this, by the names that attributes of models once had.

        The compiled model holds the layers' tensors by identity: a copy settles its own, from what compile was given.
        Its optimizer has the copy's own parameters, with their state.
        """
        state: dict[str, Any] = {}
        if self.is_compiled:
            state |= {"_given": replace(self.options, optimizer=self.optimizer), "_is_compiled": True}
        if self.own_code is not None:
            state |= self.own_code.state()
        return state

    def take_state(self, state: dict[str, Any]) -> None:
        """The inverse."""
        self.options = state.get("_given", NOTHING_GIVEN)
        self.is_compiled = state.get("_is_compiled", False)
        if self.own_code is not None:
            self.own_code.take_state(state)


# What `Training.state` may hold, and what earlier pickles hold beside it.
OF_STATE = frozenset(("_given", "_is_compiled", "_specs", "_has_run"))
EARLIER = frozenset(
    (
        *("_compiled_model", "_joined", "_turn_of", "_whole", "_in_own_build", "_data_checked", "_losses_of_step"),
        *("_fits", "_validated"),
    )
)

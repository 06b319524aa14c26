"""The weights of a layer: its own, by declaration or by `add_weight`, and those of the layers inside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from math import prod
from types import FunctionType, MethodType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import nn

from torchkeras.base.arrays import as_numbers
from torchkeras.base.fixed_lists import Weights
from torchkeras.base.function_values import installed
from torchkeras.engine.adapters.tracked import KINDS, tracked, wanted, with_replaced
from torchkeras.engine.dtypes import Typed
from torchkeras.engine.modes import Moded
from torchkeras.engine.weights.weight import OwnWeights, Variable, Weight, owned

# Attributes in which the engine keeps lists and dicts of its own, also in an object of a user's class.
ENGINES_OWN = frozenset(
    (
        *("_call_nodes", "_outbound_nodes", "_added", "_expected_axes", "_initial_weights"),
        *("_functions", "_sources", "_held_keys", "_stack", "_branches", "_built_for"),
    )
)
TORCHS_OWN = frozenset(vars(nn.Module()))
# Orders of layers in files: Keras 1's, branch by branch where several begin a Sequential; ours before the keys of dicts
# were sorted as Keras sorts them; and Keras 3's on torch, where those of a dict inside a dict are not sorted.
KERAS1, WRITTEN, TORCH = "keras1", "written", "torch"


DATA = (bool, int, float, str, tuple, list, dict, set)  # of class attributes: what an attribute takes the place of
METHODS = (FunctionType, MethodType)


class _Changes:
    """`count`: how often an attribute of some layer was set."""

    count = 0


CHANGES = _Changes()


class FrozenModels(Enum):
    """How a model that does not train counts where weights are listed: first those that train, then the others.

    NOW: by what is frozen now, as Keras 2 lists them. CONFIG: as Keras 2 lists them after it has read a config, which
    does not say that a model is frozen. LATER: as tf.keras and Keras 3 do, where a frozen model has frozen each of its
    layers.
    """

    NOW = "now"
    CONFIG = "config"
    LATER = "later"


class Order(NamedTuple):
    """The order in which the weights of layers in layers are listed. `layers`: one of those above, None for today's."""

    frozen: FrozenModels = FrozenModels.NOW
    layers: str | None = None


NOW = Order()


class WeightOwner(Moded, Typed, OwnWeights):
    """The part of `Layer` that lists, reads, sets and freezes weights."""

    _is_users: ClassVar[bool] = False  # a class that is not the package's own
    _is_network: ClassVar[bool] = False  # a model, or the graph of one
    _changeable: ClassVar[Mapping[str, Any]] = {}  # the options, by the attributes that have their values
    _losses_of_weights: tuple[Any, ...] = ()  # what `add_loss` was given outside of a call
    stateful: Any = False  # whether something is carried from batch to batch
    _trainable: bool
    _frozen_above: bool  # part of something that is not trainable
    _held: set[str]  # the parameters, by their paths, that `trainable=False` has frozen
    _frozen_at_compile: set[str]  # the parameters, by their paths, that the last `compile` around them found so
    _named: set[str]  # the attributes that weights of `add_weight` are registered under

    def __setattr__(self, name: str, value: Any) -> None:
        CHANGES.count += 1
        declared = getattr(type(self), name, None)
        if declared is not None and not isinstance(declared, DATA):
            self._check_name(name, value, declared)
        elif name == "built" and not value and self.__dict__.get("_call_nodes"):
            raise AttributeError(
                f"{type(self).__name__} {self.name!r}: built cannot become False, since a graph has its weights: set "
                "other values by set_weights, or make another layer, such as by clone_model."
            )
        if isinstance(value, torch.Tensor):
            added = next((v for v in self.__dict__.get("_added", ()) if v.tensors[0] is value), None)
            if added is not None:
                self._name_weight(added, name)
                return
            if name in self._changeable and not self._is_users:  # whose own code may read a tensor there
                self._change_option(name, value)
                return
        elif type(value) in KINDS and self._is_users and name not in ENGINES_OWN and wanted(value):
            setter = getattr(getattr(type(self), name, None), "fset", None)
            value = tracked(value) if setter is None else value  # a property takes the list itself
        elif name in self._changeable:
            self._change_option(name, value)
            return
        super().__setattr__(name, value)

    def _check_name(self, name: str, value: Any, declared: Any) -> None:
        """Raise AttributeError for an attribute that would hide what the class has, or that nothing would read."""
        what = f"{type(self).__name__} {self.__dict__['name']!r}" if "name" in self.__dict__ else type(self).__name__
        if isinstance(declared, Weight):
            is_own = self._is_users and self.__dict__.get("_built_for") is None
            added = any(variable.tensors[0] is value for variable in self.__dict__.get("_added", ()))
            if not (is_own or added or (value is None and self.built and not declared.applies(self))):
                raise AttributeError(
                    f"{what}: {name!r} is a weight of its modules, and another object under its name would not "
                    "compute. layer.set_weights sets its values; to share weights, call one layer several times, or "
                    f"set layer.{declared.paths[0]}."
                )
        elif isinstance(declared, property) and declared.fset is None:
            raise AttributeError(
                f"{what}: {name!r} is a property and cannot be set; for an attribute of your own take another name."
            )
        elif isinstance(declared, METHODS) and not name.startswith("_"):
            ours = any(name in vars(base) and installed(base.__module__) for base in type(self).__mro__)
            if ours and (isinstance(value, nn.Module) or not callable(value)):
                raise AttributeError(
                    f"{what}: the attribute {name!r} would hide the method of that name: give it another name, such as "
                    f"{name}_1."
                )
            if name == "call" and not self._by_call:
                raise AttributeError(
                    f"{what}: it computes by forward, so that a call put into its place would do nothing: set "
                    "forward, or make a subclass with a call."
                )

    def __delattr__(self, name: str) -> None:
        if name in self._changeable or name in self._weights:
            kind = "an option" if name in self._changeable else "a weight"
            raise AttributeError(f"{type(self).__name__} {self.name!r}: {name!r} is {kind} and cannot be deleted.")
        super().__delattr__(name)

    def _change_option(self, name: str, value: Any) -> None:
        """Set an option after the layer was made."""
        raise NotImplementedError

    def _name_weight(self, added: Variable, name: str) -> None:
        """Register a weight of `add_weight` under the attribute that holds it: the first, where several do."""
        held: Any = self._parameters if added.trainable else self._buffers
        if hasattr(type(self), name) or added.paths[0] in self._named:
            object.__setattr__(self, name, added.tensors[0])
            return
        self.__dict__.pop(name, None)
        held[name] = held.pop(added.paths[0])
        self._added[self._added.index(added)] = replace(added, paths=(name,))
        self._named.add(name)

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """As torch's, by which a move replaces tensors: what else holds a weight of `add_weight` holds the new one."""
        before = [variable.tensors[0] for variable in self._added]
        super()._apply(fn, recurse)
        now = [variable.tensors[0] for variable in self._added]
        replaced = {id(old): new for old, new in zip(before, now, strict=True) if new is not old}
        for tensor in replaced.values():
            tensor._added_weight = True  # type: ignore[attr-defined]
        for held in (self.__dict__, self._modules) if replaced else ():
            for name, value in list(held.items()):
                if name not in ENGINES_OWN | TORCHS_OWN and (other := with_replaced(value, replaced)) is not value:
                    held[name] = other
        return self

    def _penalized(self, weights: Sequence[Variable] | None = None) -> list[Variable]:
        """Those of the `weights` (all) that have a regularizer, what is computed in the place of such, and the losses
        of weights that `add_loss` was given.
        """
        owners = [module for module in self.modules() if isinstance(module, WeightOwner)]
        computed = [variable for owner in owners for variable in owner._computed_variables()]
        weights = self.weights if weights is None else weights
        added = [loss for owner in owners for loss in owner._losses_of_weights]
        return [variable for variable in weights if variable.regularizer is not None] + computed + added

    def _sublayers(self) -> list[WeightOwner]:
        """The layers directly inside this one, in the order in which their weights are listed."""
        found: list[WeightOwner] = []
        pending = list(self.children())
        while pending:
            module = pending.pop(0)
            if isinstance(module, WeightOwner):
                found.append(module)
            else:
                pending[:0] = list(module.children())
        return found

    def _sublayers_in(self, order: str) -> list[WeightOwner]:
        """The same in another order: `KERAS1`, `WRITTEN` or `TORCH`."""
        return self._sublayers()

    def _list_by_kind(
        self, training: list[Variable], others: list[Variable], order: Order, frozen: bool = False
    ) -> None:
        """Put the weights that train, and the others, at the ends of these lists; of what is frozen all are others.

        So no list is copied at each level of layers in layers. `frozen`: whether a model around it freezes its layers.
        """
        trains = self._trainable and not frozen
        if self._is_network and order.frozen is not FrozenModels.NOW:
            trains, frozen = True, order.frozen is FrozenModels.LATER and not trains
        found: tuple[list[Variable], list[Variable]] = (training, others) if trains else ([], [])
        variables = self._own_variables()
        for kind, listed in zip((True, False), found if trains else (others, others), strict=True):
            listed += [variable for variable in variables if variable.trainable is kind]
        for layer in self._sublayers_in(order.layers) if order.layers else self._sublayers():
            layer._list_by_kind(*found, order, frozen)
        if not trains:
            others += [*found[0], *found[1]]

    def _weights_in(self, order: Order) -> list[Variable]:
        """All weights, in the order of a file."""
        training: list[Variable] = []
        others: list[Variable] = []
        self._list_by_kind(training, others, order, order.frozen is FrozenModels.LATER and self._frozen_above)
        return distinct(training, others)

    @property
    def trainable_weights(self) -> list[Variable]:
        """The weights that training changes: those whose `requires_grad` says so, which `trainable` sets."""
        return Weights(variable for variable in self.weights if variable.trains)

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The weights that training leaves alone: statistics, and what is frozen."""
        return Weights(variable for variable in self.weights if not variable.trains)

    @property
    def weights(self) -> list[Variable]:
        """All weights, those of layers that train first; empty before the first call."""
        return Weights(self._weights_in(NOW))

    # Keras 3's names of the same.
    trainable_variables = property(lambda self: self.trainable_weights, doc="`trainable_weights`.")
    non_trainable_variables = property(lambda self: self.non_trainable_weights, doc="`non_trainable_weights`.")
    variables = property(lambda self: self.weights, doc="`weights`.")

    def get_weights(self) -> list[Any]:
        """The values of all weights as NumPy arrays, in Keras's order of axes.

        Returns:
            A list of arrays; it is empty before the layer's first call, which makes the weights.

        Example:
            >>> layer = Dense(2)
            >>> output = layer(torch.zeros(1, 4))
            >>> [array.shape for array in layer.get_weights()]
            [(4, 2), (2,)]
        """
        return [variable.numpy() for variable in self._ordered_weights()]

    def set_weights(self, weights: Any) -> None:
        """Set all weights from arrays in Keras's order of axes.

        Arguments:
            weights (list of arrays): the values, in the order of `get_weights()`.

        Errors:
            ValueError: their number or a shape is another; nothing is set then.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,))])
            >>> model.set_weights([np.array([[1.0], [2.0]]), np.array([0.5])])
            >>> model(torch.ones(1, 2)).item()
            3.5
        """
        if isinstance(weights, (str, Mapping)) or not isinstance(weights, Iterable):
            raise TypeError(
                f"{self.name}: set_weights takes a list of arrays, as get_weights() gives it; found {weights!r}."
            )
        variables, values = self._ordered_weights(), list(weights)
        if len(variables) != len(values):
            found = f"{len(variables)} weights: {', '.join(v.full_name for v in variables)}"
            if not self.built:
                found = "none before it is built: call it on data, or build(input_shape), first"
            raise ValueError(f"{self.name}: set_weights was given {len(values)} arrays; the layer has {found}.")
        values = [
            as_numbers(value, f"{self.name}: weight {variable.full_name!r}")
            for variable, value in zip(variables, values, strict=True)
        ]
        for variable, value in zip(variables, values, strict=True):
            if tuple(np.shape(value)) != variable.shape:
                raise ValueError(
                    f"{self.name}: weight {variable.full_name!r} has shape {variable.shape}; "
                    f"the array given for it has shape {tuple(np.shape(value))}. Give arrays as get_weights() does"
                    f"{', kernels as (inputs, units)' if np.shape(value) == variable.shape[::-1] else ''}."
                )
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)

    def _ordered_weights(self) -> list[Variable]:
        return self.weights

    def count_params(self) -> int:
        """The number of values in all weights. Raises RuntimeError before the first call, which makes them."""
        if not self.built:
            raise RuntimeError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. "
                f"You can build it by calling it, or with `{self.name}.build(input_shape)`."
            )
        return sum(prod(variable.shape) for variable in self.weights)

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights.

        Set to False it turns off `requires_grad` of all parameters inside, which stay as they are from the next batch
        on; set to True it turns on again those that it turned off. A parameter that `requires_grad_(False)` froze stays
        so. A model that is compiled trains what trained then: thaw before `compile`, or compile it again. What another
        model is compiled with as frozen, such as the discriminator in an adversarial pair, still trains in a model
        that was compiled before it was frozen.
        """
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not isinstance(value, (bool, int)):
            raise ValueError(f"{type(self).__name__}: trainable must be True or False; found {value!r}.")
        self._trainable = bool(value)
        self._follow_trainable(self._frozen_above)

    @property
    def _frozen(self) -> bool:
        """Whether the layer is not trainable, or part of one that is not."""
        return self._frozen_above or not self._trainable

    def _follow_trainable(self, frozen_above: bool) -> None:
        was_frozen = self._frozen
        if frozen_above is not self._frozen_above:
            self._frozen_above = frozen_above
        for variable in self._own_variables() if self._frozen or self._held else ():
            for path in variable.paths if variable.trainable else ():
                self._freeze(path) if self._frozen else self._thaw(path)
        for layer in self._sublayers():
            layer._follow_trainable(self._frozen)
        if self._frozen or was_frozen:
            self._hold_statistics()

    def _freeze(self, path: str) -> None:
        tensor = owned(self, path)
        if tensor is not None and tensor.requires_grad:
            tensor.requires_grad_(False)
            self._held.add(path)

    def _thaw(self, path: str) -> None:
        tensor = owned(self, path)
        if tensor is not None and path in self._held:
            tensor.requires_grad_(True)
            self._held.discard(path)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Let all parameters inside train, or freeze them, as in torch.

        What it freezes stays frozen when `trainable` is set to True, whichever came first.

        Arguments:
            requires_grad (bool, default True): whether the parameters train.

        Returns:
            The layer.
        """
        super().requires_grad_(requires_grad)
        for module in self.modules() if not requires_grad else ():
            if isinstance(module, WeightOwner):
                module._held.clear()
        return self

    def _held_tensors(self, for_another: bool = False) -> list[torch.Tensor]:
        """The parameters that `trainable=False` has frozen; `for_another`: those that a later `compile` found so."""
        found = (owned(self, path) for path in (self._held & self._frozen_at_compile if for_another else self._held))
        return [tensor for tensor in found if tensor is not None]

    def _note_compile(self, collected: set[int]) -> None:
        """Note which parameters a `compile` has left out since `trainable=False` has frozen them.

        `collected`: the ids of those that it trains. What it trains in part or in another model goes on as it was.
        """
        for path in {path for variable in self._own_variables() if variable.trainable for path in variable.paths}:
            if path in self._held:
                self._frozen_at_compile.add(path)
            elif id(owned(self, path)) in collected:
                self._frozen_at_compile.discard(path)

    def _hold_statistics(self) -> None:
        """Let torch modules with buffers, such as the statistics of `nn.BatchNorm2d`, be in training as the layer is
        and, while it is frozen, in evaluation.
        """
        for prefix, module in self._plain_modules():
            if prefix and any(buffer is not None for buffer in module._buffers.values()):
                module.training = self.training and not self._frozen

    def train(self, mode: bool = True) -> Any:
        """Set training or evaluation mode, as in torch. A frozen layer that counts something stays in evaluation mode.

        Arguments:
            mode (bool, default True): True for training, False for evaluation.

        Returns:
            The layer.
        """
        super().train(mode)
        if mode and self._frozen:
            self._hold_statistics()
        return self

    def reset_states(self) -> None:
        """Forget what stateful layers inside carry from batch to batch."""
        for layer in self._sublayers():
            if layer.stateful or type(layer).reset_states is WeightOwner.reset_states:
                layer.reset_states()


def distinct(*lists: Iterable[Variable]) -> list[Variable]:
    """The variables of the lists, each weight once."""
    found: dict[tuple[int, ...], Variable] = {}
    for variables in lists:
        for variable in variables:
            found.setdefault(variable.identity, variable)
    return list(found.values())

"""The weights of a layer: its own, by declaration or by `add_weight`, and those of the layers inside it."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from torchkeras import config
from torchkeras.arrangement import IN_ORDER
from torchkeras.engine import options
from torchkeras.engine.symbol import dtype_of
from torchkeras.engine.weight import Variable, Weight, deferred
from torchkeras.policy import DTypePolicy


class WeightOwner(nn.Module):
    """The part of `Layer` that lists, reads, sets and freezes weights."""

    name: str
    built: bool
    _weights: ClassVar[dict[str, Weight]] = {}
    _added: list[Variable]
    _policy: DTypePolicy
    stateful: Any = False  # whether something is carried from batch to batch
    _trainable: bool
    _frozen: bool  # not trainable, or part of something that is not

    def initializer_of(self, option: str) -> Any:
        """The initializer of a declared weight: the option `<option>_initializer`."""
        return getattr(self, f"{option}_initializer", None)

    def add_weight(
        self,
        name: str,
        shape: Iterable[int],
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
    ) -> torch.Tensor:
        """Make a weight in `build` of a layer written the Keras way; returns the parameter, in Keras's layout.

        The initializer's default is `glorot_uniform`; a weight that is not trainable becomes a buffer.
        """
        read = {rule: options.rule_of(getattr(options, rule)) for rule in ("Initializer", "Regularizer", "Constraint")}
        kind, values = type(self), (initializer or "glorot_uniform", regularizer, constraint)
        initial, regular, constrain = (
            options.read(kind, options.Option(rule.lower(), None, found), value)  # type: ignore[arg-type]
            for (rule, found), value in zip(read.items(), values, strict=True)
        )
        path = name.replace(".", "_").replace("/", "_")
        device = torch.device("meta") if deferred() else config.device()
        tensor = torch.empty(*shape, dtype=dtype_of(dtype or self.dtype), device=device)
        if trainable:
            self.register_parameter(path, nn.Parameter(tensor, requires_grad=tensor.is_floating_point()))
        else:
            self.register_buffer(path, tensor)
        variable = Variable(self, name, (path,), IN_ORDER, trainable, initial, regular, constrain)
        self._added.append(variable)
        if not deferred():
            variable.initialize()
        return getattr(self, path)

    def _own_variables(self) -> list[Variable]:
        declared = self._weights.values() if self.built else ()
        return [*(Variable.declared(self, w) for w in declared if w.applies(self)), *self._added]

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

    def _sublayers_of_keras1(self) -> list[WeightOwner]:
        """The same in the order of Keras 1."""
        return self._sublayers()

    def _select(self, trainable: bool, of_keras1: bool = False) -> list[Variable]:
        """The weights that train, or the others: all of them, the former first, when the layer is not trainable."""
        if trainable and not self._trainable:
            return []
        kinds = [trainable] if self._trainable else [True, False]
        own = [v for kind in kinds for v in self._own_variables() if v.trainable is kind]
        sublayers = self._sublayers_of_keras1() if of_keras1 else self._sublayers()
        inner = [v for kind in kinds for layer in sublayers for v in layer._select(kind, of_keras1)]
        return list({(id(v.layer), v.paths): v for v in (*own, *inner)}.values())

    @property
    def trainable_weights(self) -> list[Variable]:
        """The weights that training changes; none when the layer is not `trainable`."""
        return self._select(True)

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The weights that training leaves alone: statistics, and all of a layer that is not `trainable`."""
        return self._select(False)

    @property
    def weights(self) -> list[Variable]:
        """All weights, those that train first; empty before the first call."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    # Keras 3's names of the same.
    trainable_variables = property(lambda self: self.trainable_weights, doc="`trainable_weights`.")
    non_trainable_variables = property(lambda self: self.non_trainable_weights, doc="`non_trainable_weights`.")
    variables = property(lambda self: self.weights, doc="`weights`.")

    @property
    def weights_of_keras1(self) -> list[Variable]:
        """All weights in the order of Keras 1's files: branch by branch, where a model inside begins with several."""
        return [*self._select(True, of_keras1=True), *self._select(False, of_keras1=True)]

    def get_weights(self) -> list[Any]:
        """The values of all weights as NumPy arrays in Keras's layout."""
        return [variable.numpy() for variable in self._ordered_weights()]

    def set_weights(self, weights: Any) -> None:
        """Set all weights from arrays in Keras's layout, in the order of `get_weights()`.

        Raises ValueError, before anything is changed, when their number or a shape is another.
        """
        variables, values = self._ordered_weights(), list(weights)
        if len(variables) != len(values):
            raise ValueError(
                f"{self.name}: set_weights was given {len(values)} arrays; the layer has {len(variables)} weights: "
                f"{', '.join(v.full_name for v in variables) or 'none'}."
            )
        for variable, value in zip(variables, values, strict=True):
            if tuple(np.shape(value)) != variable.shape:
                raise ValueError(
                    f"{self.name}: weight {variable.full_name!r} has shape {variable.shape}; "
                    f"the array given for it has shape {tuple(np.shape(value))}."
                )
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)

    def _ordered_weights(self) -> list[Variable]:
        return self.weights

    def count_params(self) -> int:
        """The number of scalars in all weights. Raises RuntimeError before the first call."""
        if not self.built:
            raise RuntimeError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. "
                f"You can build it by calling it, or with `{self.name}.build(input_shape)`."
            )
        return sum(prod(variable.shape) for variable in self.weights)

    @property
    def variable_dtype(self) -> str:
        """The name of the type of the weights."""
        return self._policy.variable_dtype

    @property
    def compute_dtype(self) -> str:
        """The name of the type that floating-point inputs are cast to, and outputs have."""
        return self._policy.compute_dtype

    dtype = variable_dtype

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights. A model keeps to what held when it was compiled."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not isinstance(value, (bool, int)):
            raise ValueError(f"{type(self).__name__}: trainable must be True or False; found {value!r}.")
        self._trainable = bool(value)
        self._follow_trainable(False)

    def _follow_trainable(self, frozen_above: bool) -> None:
        self._frozen = frozen_above or not self._trainable
        for variable in self._own_variables():
            if variable.trainable:
                for tensor in variable.tensors:
                    tensor.requires_grad_(not self._frozen)
        for layer in self._sublayers():
            layer._follow_trainable(self._frozen)

    def reset_states(self) -> None:
        """Forget what stateful layers inside carry from batch to batch."""
        for layer in self._sublayers():
            if layer.stateful or type(layer).reset_states is WeightOwner.reset_states:
                layer.reset_states()

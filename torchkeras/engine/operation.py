"""Operators of symbolic tensors as layers: `a + b`, `-a`, `a[:, 1:]` make a node like any layer's call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np
import torch

from torchkeras.engine.facts import Facts
from torchkeras.engine.functions import BY_AXES, FUNCTIONS
from torchkeras.engine.layer import Layer
from torchkeras.engine.layout import Layout
from torchkeras.engine.naming import unique_name
from torchkeras.engine.options import NEWER, Rule, one_of, rule
from torchkeras.engine.symbol import OPERATORS, KerasTensor

BY_POSITION = ("getitem", "matmul", *BY_AXES)  # these tell the axes apart; the others take each element alone
PLAIN = (int, float, bool, str, type(None), type(Ellipsis))


def _read_function(name: Any) -> str:
    return name if isinstance(name, str) and name in FUNCTIONS else one_of(*OPERATORS).read(name)


class Operation(Layer):
    """`function(*arguments)` of an operator, the symbolic tensors among the arguments being the layer's inputs.

    `function`: a name in `OPERATORS` or `FUNCTIONS`. `arguments`: numbers, slices, `{"input": k}` for the k-th input
    and `{"array": nested lists}` for a constant. `keeps_mask`: whether the mask of the inputs goes on. Raises
    ValueError for an unknown function.
    """

    function: Annotated[str, Rule(_read_function)]
    arguments: Annotated[Any, Rule(list)]
    keeps_mask: Annotated[bool, rule("must be True or False", lambda v: v in (0, 1), bool), NEWER] = True

    supports_masking = True

    class _Facts(Facts):
        casts = False  # as Keras: an operator computes in the type that its operands have together

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            layer = self.layer
            has_array = any(isinstance(argument, Mapping) and "array" in argument for argument in layer.arguments)
            return Layout.KERAS if has_array or layer.function in BY_POSITION else Layout.ANY

    @property
    def _automatic_name(self) -> str:
        return f"operation_{self.function}"

    def forward(self, inputs: Any) -> Any:
        tensors = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        function = OPERATORS.get(self.function) or FUNCTIONS[self.function]
        return function(*(_decoded(argument, tensors) for argument in self.arguments))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the first input that has one, when no axis is moved or cut."""
        masks = mask if isinstance(mask, (list, tuple)) else [mask]
        if self.function in BY_POSITION or not self.keeps_mask:
            return None
        return next((found for found in masks if found is not None), None)


_NAMES: dict[Any, str] = {torch.div: "truediv", torch.true_divide: "truediv", torch.remainder: "mod"}
for _name, _function in OPERATORS.items():
    _NAMES[_function] = _name
    for _owner in (torch, torch.Tensor):
        for _spelling in (_name, f"__{_name}__"):
            if hasattr(_owner, _spelling):
                _NAMES[getattr(_owner, _spelling)] = _name


def _apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the node of a torch function of symbolic tensors. Raises TypeError for one that is no operator."""
    name = _NAMES.get(function)
    if name is None or kwargs:
        called = getattr(function, "__name__", repr(function))
        raise TypeError(
            f"torch's {called} cannot be applied to a symbolic tensor; "
            f"put it into a Lambda layer: Lambda(lambda x: torch.{called}(x))(tensor)."
        )
    inputs: list[KerasTensor] = []
    arguments = [_encoded(argument, inputs) for argument in args]
    layer = Operation(name, arguments, name=unique_name(f"operation_{name}"))
    return layer(inputs if len(inputs) > 1 else inputs[0])


KerasTensor.apply_function = staticmethod(_apply)


def _encoded(argument: Any, inputs: list[KerasTensor]) -> Any:
    if isinstance(argument, KerasTensor):
        inputs.append(argument)
        return {"input": len(inputs) - 1}
    if isinstance(argument, slice):
        return {"slice": [_encoded(part, inputs) for part in (argument.start, argument.stop, argument.step)]}
    if isinstance(argument, (list, tuple)):
        return [_encoded(part, inputs) for part in argument]
    if isinstance(argument, np.generic):
        return argument.item()
    if not isinstance(argument, PLAIN):
        raise TypeError(
            f"An operator of a symbolic tensor takes other symbolic tensors, numbers and slices; found "
            f"{type(argument).__name__}. Put other constants into a Lambda layer."
        )
    return {"ellipsis": True} if argument is Ellipsis else argument


def _decoded(argument: Any, tensors: Any) -> Any:
    if isinstance(argument, Mapping):
        if "input" in argument:
            return tensors[argument["input"]]
        if "array" in argument:
            dtype = tensors[0].dtype if tensors[0].is_floating_point() else None
            return torch.tensor(argument["array"], dtype=dtype, device=tensors[0].device)
        return Ellipsis if "ellipsis" in argument else slice(*argument["slice"])
    return tuple(_decoded(part, tensors) for part in argument) if isinstance(argument, (list, tuple)) else argument

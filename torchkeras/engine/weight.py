"""Weights: declared as data beside their layer, and seen in Keras's layout through a `Variable`.

    kernel = weight("linear.weight", keras="features units", torch="units features")

says where the tensor lives inside the layer, what Keras calls its axes and in which order, and torch's order. Loading,
saving, `get_weights`, `summary` and the initializers (whose fans are counted on Keras's axes) all read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torchkeras import config, initializers
from torchkeras.arrays import to_numpy

if TYPE_CHECKING:
    from torchkeras.engine.owner import WeightOwner

_deferred = False


@contextmanager
def on_meta() -> Iterator[None]:
    """Make weights without values or memory inside the `with` block: a file's values take their place at once."""
    global _deferred
    before, _deferred = _deferred, True
    try:
        yield
    finally:
        _deferred = before


def deferred() -> bool:
    """True inside `on_meta()`."""
    return _deferred


class Weight:
    """The declaration of one weight of a layer class.

    `path`: its tensor, from the layer on ("linear.weight"). `keras`, `torch`: the names of its axes in either order,
    `...` for any number of spatial axes. `when`: the option that must be true for the weight to be there. `plus`: a
    second tensor that torch adds to the first one (the other bias of an `nn.LSTM`): kept at zero, counted in when read.
    The initializer, regularizer and constraint are the layer's options `<option>_initializer` and so on; `option`: the
    weight's name unless given.
    """

    name: str

    def __init__(
        self,
        path: str,
        keras: str,
        torch: str | None = None,
        *,
        when: str | None = None,
        trainable: bool = True,
        plus: str | None = None,
        option: str | None = None,
    ):
        self.path, self.when, self.trainable, self.plus, self.option = path, when, trainable, plus, option
        self.keras, self.torch = keras.split(), (torch or keras).split()

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, layer: WeightOwner | None, owner: type) -> Any:
        if layer is None:
            return self
        if not layer.built:
            raise AttributeError(f"{layer.name}: {self.name} is made when the layer is first called.")
        return Variable.declared(layer, self).value if self.applies(layer) else None

    def applies(self, layer: WeightOwner) -> bool:
        """Whether this layer, with its options, has the weight."""
        return self.when is None or bool(getattr(layer, self.when))

    def order(self, ndim: int) -> tuple[int, ...]:
        """For each of Keras's axes, where torch has it."""
        spatial = [f"axis{i}" for i in range(ndim - len(self.keras) + 1)]
        keras, torch_axes = (
            [axis for name in names for axis in (spatial if name == "..." else [name])]
            for names in (self.keras, self.torch)
        )
        return tuple(torch_axes.index(axis) for axis in keras)


weight = Weight


@dataclass(frozen=True, eq=False)
class Variable:
    """One weight of a built layer, in Keras's layout: `name`, `shape`, `dtype`, `value`, `assign`."""

    layer: WeightOwner
    name: str
    path: str
    order: Callable[[int], tuple[int, ...]]
    trainable: bool
    initializer: Any
    regularizer: Any
    constraint: Any
    plus: str | None = None

    @classmethod
    def declared(cls, layer: WeightOwner, declaration: Weight) -> Variable:
        """The variable of a layer for a declaration of its class."""
        name, option = declaration.name, declaration.option or declaration.name
        return cls(
            layer,
            name,
            declaration.path,
            declaration.order,
            declaration.trainable,
            layer.initializer_of(option),
            getattr(layer, f"{option}_regularizer", None),
            getattr(layer, f"{option}_constraint", None),
            declaration.plus,
        )

    @property
    def tensor(self) -> torch.Tensor:
        """The parameter or buffer itself, in torch's layout."""
        return _walk(self.layer, self.path)

    @property
    def _second(self) -> torch.Tensor | None:
        return None if self.plus is None else _walk(self.layer, self.plus, None)

    @property
    def value(self) -> torch.Tensor:
        """The weight in Keras's layout: a view, through which gradients flow."""
        tensor, second = self.tensor, self._second
        return (tensor if second is None else tensor + second).permute(self.order(tensor.dim()))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in Keras's layout."""
        tensor = self.tensor
        return tuple(tensor.shape[axis] for axis in self.order(tensor.dim()))

    @property
    def dtype(self) -> torch.dtype:
        """The element type."""
        return self.tensor.dtype

    @property
    def full_name(self) -> str:
        """The name in Keras's files: `dense_1/kernel:0`."""
        return f"{self.layer.name}/{self.name}:0"

    def numpy(self) -> np.ndarray:
        """A copy of the values, in Keras's layout."""
        return to_numpy(self.value).copy()

    def assign(self, value: Any) -> None:
        """Set the values, given in Keras's layout. Raises ValueError when the shape is another."""
        with torch.no_grad():
            source = torch.as_tensor(value)
            if tuple(source.shape) != self.shape:
                raise ValueError(
                    f"{self.layer.name}: weight {self.name!r} has shape {self.shape}; "
                    f"the values given have shape {tuple(source.shape)}."
                )
            tensor, second = self.tensor, self._second
            tensor.permute(self.order(tensor.dim())).copy_(source)
            if second is not None:
                second.zero_()

    def initialize(self) -> None:
        """Fill with what the initializer draws, on Keras's axes."""
        tensor, second = self.tensor, self._second
        with torch.no_grad():
            initializers.fill(self.initializer, tensor.permute(self.order(tensor.dim())))
            if second is not None:
                second.zero_()

    def __repr__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        return f"<Variable '{self.full_name}' shape={self.shape} dtype={dtype}>"


def allocate(layer: WeightOwner, variables: list[Variable], dtype: torch.dtype) -> None:
    """Give memory, on the default device, to what the layer made on `meta`.

    What no variable stands for (a counter, the second bias of an `nn.LSTM`) is set to zero.
    """
    device = config.device()

    def empty(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_meta:
            return tensor
        return torch.empty_like(tensor, device=device, dtype=dtype if tensor.is_floating_point() else tensor.dtype)

    declared = {variable.path for variable in variables}
    undeclared = [
        name
        for name, tensor in (*layer.named_parameters(), *layer.named_buffers())
        if tensor.is_meta and name not in declared
    ]
    layer._apply(empty)
    with torch.no_grad():
        for name in undeclared:
            tensor = _walk(layer, name)
            tensor.zero_()
            tensor.requires_grad_(False)


def _walk(module: torch.nn.Module, path: str, *default: Any) -> Any:
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name, *default) if default else getattr(found, name)
    return found

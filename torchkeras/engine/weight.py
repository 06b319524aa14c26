"""Weights: declared as data beside their layer, and seen in Keras's layout through a `Variable`.

    kernel = weight("linear.weight", keras="features units", torch="units features")

says where the tensor lives inside the layer, what Keras calls its axes and in which order, and torch's order. Loading,
saving, `get_weights`, `summary` and the initializers (whose fans are counted on Keras's axes) all read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchkeras import config, initializers
from torchkeras.arrangement import Arrangement
from torchkeras.arrays import to_numpy
from torchkeras.engine.tracing import traced

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

    `path`: its tensor, from the layer on ("linear.weight"), or a tuple of paths for one that lies in several tensors
    (the first, and of the others those that the layer has).
    `keras`, `torch`: the names of its axes in either order, `...` for any number of spatial axes. Where no permutation
    leads from one to the other, `pieces(layer, *tensors)`, a function of a module, gives the views that make Keras's
    array, as `torchkeras.arrangement` says. `when`: the option that must be true for the weight to be there. `plus`: a
    second tensor that torch adds to the first one (the other bias of an `nn.LSTM`): kept at zero, counted in when
    read. The initializer, regularizer and constraint are the layer's options `<option>_initializer` and so on;
    `option`: the weight's name unless given. `name`: its name in Keras's files, the attribute's unless given.
    """

    def __init__(
        self,
        path: str | tuple[str, ...],
        keras: str = "...",
        torch: str | None = None,
        *,
        pieces: Callable[..., Any] | None = None,
        when: str | None = None,
        trainable: bool = True,
        plus: str | None = None,
        option: str | None = None,
        name: str = "",
    ):
        self.name = name
        self.paths = (path,) if isinstance(path, str) else path
        self.when, self.trainable, self.plus, self.option = when, trainable, plus, option
        self.keras, self.torch, self.pieces = keras.split(), (torch or keras).split(), pieces

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __get__(self, layer: WeightOwner | None, owner: type) -> Any:
        if layer is None:
            return self
        if not layer.built:
            raise AttributeError(f"{layer.name}: {self.name} is made when the layer is first called.")
        return Variable.declared(layer, self).value if self.applies(layer) else None

    def applies(self, layer: WeightOwner) -> bool:
        """Whether this layer, with its options, has the weight."""
        return self.when is None or bool(getattr(layer, self.when))

    def paths_in(self, layer: WeightOwner) -> tuple[str, ...]:
        """The paths of its tensors: the first, and those of the others that this layer has."""
        return self.paths[:1] + tuple(path for path in self.paths[1:] if _walk(layer, path, None) is not None)

    def arrangement(self, layer: WeightOwner) -> Arrangement:
        """How Keras's array lies in the tensors."""
        if self.pieces is not None:
            return Arrangement(partial(self.pieces, layer), len(self.paths_in(layer)))
        return Arrangement(self._permuted)

    def _permuted(self, tensor: Tensor) -> Tensor:
        return tensor.permute(self._order(tensor.dim()))

    def _order(self, ndim: int) -> tuple[int, ...]:
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
    paths: tuple[str, ...]
    arrangement: Arrangement
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
            declaration.paths_in(layer),
            declaration.arrangement(layer),
            declaration.trainable,
            layer.initializer_of(option),
            getattr(layer, f"{option}_regularizer", None),
            getattr(layer, f"{option}_constraint", None),
            declaration.plus,
        )

    @property
    def tensors(self) -> list[Tensor]:
        """The parameters or buffers themselves, in torch's layout: one, but for a weight that lies in several."""
        return [_walk(self.layer, path) for path in self.paths]

    @property
    def _second(self) -> Tensor | None:
        return None if self.plus is None else _walk(self.layer, self.plus, None)

    @property
    def value(self) -> Tensor:
        """The weight in Keras's layout, through which gradients flow: a view where it lies in one piece.

        Its `grad` is the gradient that `loss.backward()` has left, in that layout.
        """
        value, second = self.arrangement.array(self.tensors), self._second
        value = value if second is None else value + self.arrangement.array([second])
        if traced() or value.is_leaf:
            return value
        gradients = [tensor.grad for tensor in self.tensors if tensor.is_leaf and tensor.grad is not None]
        if len(gradients) == len(self.paths):
            value.grad = self.arrangement.array(gradients)
            value.grad._keras_axes = True  # type: ignore[attr-defined]  # which `Optimizer.apply` asks
        return value

    @property
    def view(self) -> Tensor | None:
        """Keras's array as a view of the one tensor that it lies in; None when it lies in several, or in pieces."""
        if len(self.paths) > 1 or self._second is not None:
            return None
        view = self.arrangement.pieces(*self.tensors)
        return view.detach() if isinstance(view, Tensor) else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in Keras's layout."""
        return self.arrangement.shape(self.tensors)

    @property
    def dtype(self) -> torch.dtype:
        """The element type."""
        return self.tensors[0].dtype

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
            self._set(source)

    def initialize(self) -> None:
        """Fill with what the initializer draws, on Keras's axes."""
        with torch.no_grad():
            if (view := self.view) is not None:
                initializers.fill(self.initializer, view)
            else:
                drawn = torch.empty(self.shape, dtype=self.dtype, device=self.tensors[0].device)
                initializers.fill(self.initializer, drawn)
                self._set(drawn)

    def _set(self, values: Tensor) -> None:
        self.arrangement.assign(self.tensors, values)
        self._clear_second()

    def _clear_second(self) -> None:
        if (second := self._second) is not None:
            second.zero_()

    def __repr__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        return f"<Variable '{self.full_name}' shape={self.shape} dtype={dtype}>"


def allocate(layer: WeightOwner, variables: list[Variable], dtype: torch.dtype) -> None:
    """Give memory, on the default device, to what the layer made on `meta`.

    What no variable stands for (a counter, the second bias of an `nn.LSTM`) is set to zero.
    """
    device = config.device()

    def empty(tensor: Tensor) -> Tensor:
        if not tensor.is_meta:
            return tensor
        # Not by `empty_like`, which on `meta` imports torch's compiler.
        kind = dtype if tensor.is_floating_point() else tensor.dtype
        return torch.empty_strided(tensor.shape, tensor.stride(), device=device, dtype=kind)

    declared = {path for variable in variables for path in variable.paths}
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

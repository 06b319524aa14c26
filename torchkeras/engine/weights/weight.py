"""Weights: declared as data beside their layer, and seen in Keras's layout through a `Variable`.

    kernel = weight("linear.weight", keras="features units", torch="units features")

says where the tensor lives inside the layer, what Keras calls its axes and in which order, and torch's order. Loading,
saving, `get_weights`, `summary` and the initializers (whose fans are counted on Keras's axes) all read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_map_only

from torchkeras import initializers
from torchkeras.base.arrays import as_numbers, as_tensor, to_numpy
from torchkeras.base.keras_axes import IN_ORDER, Arrangement
from torchkeras.base.sharing import sharing
from torchkeras.base.tracing import traced
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.modes import call_in_mode, in_mode

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

NO_MEMORY = (
    "lies on the device 'meta' and has no values: model.to_empty(device='cpu') gives it memory, and set_weights or a "
    "file the values."
)


class Weight:
    """The declaration of one weight of a layer class.

    `path`: its tensor, from the layer on ("linear.weight"), or a tuple of paths for one that lies in several tensors
    (the first, and of the others those that the layer has).
    `keras`, `torch`: the names of its axes in either order, `...` for any number of spatial axes. Where no permutation
    leads from one to the other, `pieces(layer, *tensors)`, a function of a module, gives the views that make Keras's
    array, as `torchkeras.base.keras_axes` says. `when`: the option that must be true for the weight to be there.
    `plus`: a second tensor that torch adds to the first one (the other bias of an `nn.LSTM`): kept at zero, counted in
    when read. `beside`: a tensor that torch keeps beside it and nothing here reads (the count of an `nn.BatchNorm2d`).
    The initializer, regularizer and constraint are the layer's options `<option>_initializer` and so on; `option`: the
    weight's name unless given. `name`: its name in Keras's files, the attribute's unless given.
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
        beside: str | None = None,
        option: str | None = None,
        name: str = "",
    ):
        self.name = name
        self.paths = (path,) if isinstance(path, str) else path
        self.when, self.trainable, self.plus, self.beside, self.option = when, trainable, plus, beside, option
        self.keras, self.torch, self.pieces = keras.split(), (torch or keras).split(), pieces
        self._orders: dict[int, tuple[int, ...]] = {}  # by the number of axes: each weight asks several times

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name
        self.option = self.option or self.name

    def __get__(self, layer: Layer | None, owner: type) -> Any:
        if layer is None:
            return self
        if not layer.built:
            raise AttributeError(
                f"{layer.name}: {self.name} is made when the layer is first called. Call it before, or build it."
            )
        return Variable.declared(layer, self).value if self.applies(layer) else None

    def applies(self, layer: Layer) -> bool:
        """Whether this layer, with its options, has the weight."""
        return self.when is None or bool(getattr(layer, self.when))

    def owned_by(self, layer: Layer) -> list[Tensor]:
        """Its tensors, if the layer has the weight and its modules own them all; none otherwise.

        They do not after `parametrize`, `prune`, or with another module in place of the declared one: what these own
        are weights of the layer then.
        """
        if not self.applies(layer):
            return []
        paths = self.paths_in(layer)
        tensors = _owned_at(layer, *paths)
        return tensors if len(tensors) == len(paths) else []

    def paths_in(self, layer: Layer) -> tuple[str, ...]:
        """The paths of its tensors: the first, and those of the others that this layer has."""
        if len(self.paths) == 1:
            return self.paths
        return self.paths[:1] + tuple(path for path in self.paths[1:] if _walk(layer, path, None) is not None)

    def penalties_in(self, layer: Layer) -> tuple[Any, Any]:
        """The regularizer and the constraint that the options of a layer give it; None for none."""
        return getattr(layer, f"{self.option}_regularizer", None), getattr(layer, f"{self.option}_constraint", None)

    def arrangement(self, layer: Layer) -> Arrangement:
        """How Keras's array lies in the tensors."""
        if self.pieces is not None:
            return Arrangement(partial(self.pieces, layer), len(self.paths_in(layer)))
        return Arrangement(self._permuted)

    def _permuted(self, tensor: Tensor) -> Tensor:
        ndim = tensor.dim()
        if ndim not in self._orders:
            self._orders[ndim] = self._order(ndim)
        return tensor.permute(self._orders[ndim])

    def _order(self, ndim: int) -> tuple[int, ...]:
        """For each of Keras's axes, where torch has it."""
        spatial = [f"axis{i}" for i in range(ndim - len(self.keras) + 1)]
        keras, torch_axes = (
            [axis for name in names for axis in (spatial if name == "..." else [name])]
            for names in (self.keras, self.torch)
        )
        return tuple(torch_axes.index(axis) for axis in keras)


weight = Weight


class Value(Tensor):
    """The array of a weight, made when it is asked for. What torch lets one set on a parameter sets the weight."""

    # Results are plain tensors, as those of nn.Parameter are.
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]
    _variable: Variable | None = None  # None of what is detached

    @classmethod
    def of(cls, array: Tensor, variable: Variable | None) -> Tensor:
        """The array itself, as that of a weight; what is no plain tensor stays as it is."""
        if type(array) is Tensor:
            array.__class__ = cls  # as torch makes a lazy parameter one with a shape: no further view
            vars(array).update(_variable=variable)
        return array

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute with plain tensors. torch.compile takes a class with this method as the argument of a function."""
        args, kwargs = tree_map_only(cls, lambda value: value.as_subclass(Tensor), (args, kwargs or {}))
        return func(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        variable = self._variable
        if variable is None or name.startswith("_"):
            super().__setattr__(name, value)
            if name == "_is_param":  # by nn.Parameter(layer.kernel)
                self.__class__ = nn.Parameter  # type: ignore[assignment]
        elif name == "data":
            variable.assign(value)
        elif name == "requires_grad":
            self.requires_grad_(value)
        elif name == "grad" and value is None:
            for tensor in variable.tensors:
                tensor.grad = None
        else:
            raise AttributeError(
                f"{type(variable.layer).__name__} {variable.layer.name!r}: {name!r} cannot be set on the array of "
                f"{variable.name!r}, which is made when it is asked for: set it on layer.{variable.paths[0]}, or an "
                "option of the layer."
            )

    def requires_grad_(self, requires_grad: bool = True) -> Value:
        """Whether training changes the weight: as for its parameters."""
        if self._variable is None:
            return super().requires_grad_(requires_grad)  # type: ignore[return-value]
        for tensor in self._variable.tensors:
            tensor.requires_grad_(requires_grad)
        return self

    def detach(self) -> Tensor:  # type: ignore[override]
        """The array without its past. It keeps the class, which nn.Parameter asks for."""
        return Value.of(super().detach(), None)

    def __repr__(self, **options: Any) -> str:
        return repr(self.as_subclass(Tensor))

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return deepcopy(self.as_subclass(Tensor), memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.as_subclass(Tensor).__reduce_ex__(protocol)


@dataclass(frozen=True, eq=False)
class Variable:
    """One weight of a built layer, in Keras's layout: `name`, `shape`, `dtype`, `value`, `assign`.

    `trainable`: whether it is made to train, as a parameter is and a statistic is not; `trains`: whether it does now.
    """

    layer: Layer
    name: str
    paths: tuple[str, ...]
    arrangement: Arrangement
    trainable: bool
    drawn_by: Any = None
    regularizer: Any = None
    constraint: Any = None
    plus: str | None = None
    beside: str | None = None
    option: str | None = None  # of the layer's options, that whose `<option>_initializer` draws it

    @classmethod
    def declared(cls, layer: Layer, declaration: Weight) -> Variable:
        """The variable of a layer for a declaration of its class."""
        regularizer, constraint = declaration.penalties_in(layer)
        return cls(
            layer,
            declaration.name,
            declaration.paths_in(layer),
            declaration.arrangement(layer),
            declaration.trainable,
            None,
            regularizer,
            constraint,
            declaration.plus,
            declaration.beside,
            declaration.option,
        )

    def __eq__(self, other: Any) -> bool:
        """Whether both are one weight of one layer, which is looked up again for each list of weights."""
        same = isinstance(other, Variable) and self.layer is other.layer and self.paths == other.paths
        return same if isinstance(other, Variable) else NotImplemented

    def __hash__(self) -> int:
        return hash((id(self.layer), self.paths))

    @property
    def initializer(self) -> Any:
        """What draws its first values; None where a plain torch module draws its own."""
        return self.drawn_by if self.option is None else self.layer._initializer_of(self.option)

    @property
    def tensors(self) -> list[Tensor]:
        """The parameters or buffers themselves, in torch's layout: one, but for a weight that lies in several."""
        return list(map(partial(_walk, self.layer), self.paths))

    @property
    def is_there(self) -> bool:
        """Whether the layer has tensors, weights or computed ones, under its paths."""
        return all(isinstance(_walk(self.layer, path, None), Tensor) for path in self.paths)

    @property
    def trains(self) -> bool:
        """Whether training changes it: torch's `requires_grad`, which `trainable` sets too."""
        return bool(self.trained)

    @property
    def trained(self) -> list[Tensor]:
        """Its tensors if it `trains`, else none."""
        tensors = self.tensors if self.trainable else []
        return tensors if all(map(attrgetter("requires_grad"), tensors)) else []

    @property
    def identity(self) -> tuple[int, ...]:
        """The same for two variables that are one weight, such as that of a layer in two models."""
        return tuple(map(id, self.tensors))

    @property
    def covered(self) -> list[Tensor]:
        """All tensors that it stands for: its own, and what torch adds to it or keeps beside it."""
        return [*self.tensors, *self.further]

    @property
    def further(self) -> list[Tensor]:
        """What torch adds to it, such as the second bias of an `nn.LSTM`, or keeps beside it: zero at first."""
        return _owned_at(self.layer, self.plus, self.beside)

    @property
    def _second(self) -> Tensor | None:
        return None if self.plus is None else _walk(self.layer, self.plus, None)

    @property
    def value(self) -> Tensor:
        """The weight in Keras's layout, through which gradients flow: a view where it lies in one piece.

        Its `grad` is the gradient that `loss.backward()` has left, in that layout. Where its `data` or `requires_grad`
        is set, the weight's is.
        """
        return self.array if traced() else Value.of(self.array, self)

    @property
    def array(self) -> Tensor:
        """The same as a plain tensor, or the parameter itself."""
        tensors, second = self.tensors, self._second
        value = self.arrangement.array(tensors)
        value = value if second is None else value + self.arrangement.array([second])
        if traced() or value.is_leaf:
            return value
        gradients = [tensor.grad for tensor in tensors if tensor.is_leaf and tensor.grad is not None]
        if len(gradients) == len(self.paths):
            value.grad = self.arrangement.array(gradients)
            value.grad._keras_axes = True  # type: ignore[attr-defined]  # which `Optimizer.apply` asks
        return value

    @property
    def view(self) -> Tensor | None:
        """Keras's array as a view of the one tensor that it lies in; None when it lies in several, or in pieces."""
        if len(self.paths) > 1 or self._second is not None:
            return None
        tensors = self.tensors
        if hasattr(type(tensors[0]), "__tensor_flatten__") and sharing().is_sharded(tensors[0]):
            return None
        view = self.arrangement.pieces(*tensors)
        return view.detach() if isinstance(view, Tensor) else None

    @property
    def own_part(self) -> tuple[Tensor, tuple[slice, ...]] | None:
        """What this process has of Keras's array, as a view, and where in the array it is.

        None where the weight is whole here, or lies in several tensors or in pieces.
        """
        tensor = self.tensors[0]
        if len(self.paths) > 1 or self._second is not None or not sharing().is_sharded(tensor):
            return None
        there = self.arrangement.pieces(torch.empty(tensor.shape, device="meta"))
        order = _order_of(there, tensor.shape) if isinstance(there, Tensor) else None
        if order is None:
            return None
        rows = sharing().rows(tensor)
        return sharing().part(tensor).detach().permute(order), tuple(rows if k == 0 else slice(None) for k in order)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in Keras's layout."""
        return self.arrangement.shape([_of_shape(tensor) for tensor in self.tensors])

    @property
    def dtype(self) -> torch.dtype:
        """The element type."""
        return self.tensors[0].dtype

    @property
    def full_name(self) -> str:
        """The name in Keras's files: `dense_1/kernel:0`."""
        return f"{self.layer.name}/{self.name}:0"

    def numpy(self) -> np.ndarray:
        """A copy of the values, in Keras's layout. Raises TypeError for a quantized weight."""
        for tensor in filter(is_wrapper, self.tensors):
            raise TypeError(
                f"{self.full_name} is of the type {type(tensor).__name__}, which has no form in Keras: take it from "
                "the model's state_dict(), or read the weights before they are quantized."
            )
        self.check_memory()
        return to_numpy(self.value).copy()

    def check_memory(self) -> None:
        """Raise ValueError for a weight on torch's device `meta`, which can have no values."""
        if self.tensors[0].is_meta:
            raise ValueError(f"{self.layer.name}: weight {self.name!r} {NO_MEMORY}")

    def assign(self, value: Any) -> None:
        """Set the values, given in Keras's layout. Raises ValueError when the shape is another."""
        self.check_memory()
        with torch.no_grad():
            source = as_tensor(value if isinstance(value, Tensor) else as_numbers(value, self.full_name))
            if tuple(source.shape) != self.shape:
                raise ValueError(
                    f"{self.layer.name}: weight {self.name!r} has shape {self.shape}; "
                    f"the values given have shape {tuple(source.shape)}."
                )
            self._set(source)

    def draw(self, initializer: Any) -> None:
        """Fill with what an initializer draws, on Keras's axes."""
        with torch.no_grad():
            if (view := self.view) is not None:
                initializers.fill(initializer, view)
            else:
                drawn = torch.empty(self.shape, dtype=self.dtype, device=self.tensors[0].device)
                initializers.fill(initializer, drawn)
                self._set(drawn)

    def _set(self, values: Tensor) -> None:
        self.arrangement.assign(self.tensors, values)
        if (second := self._second) is not None:
            second.zero_()

    def __repr__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        return f"<Variable '{self.full_name}' shape={self.shape} dtype={dtype}>"


class ComputedVariable(Variable):
    """What is computed in the place of a declared weight, as by `parametrize`: in the mode of the call around."""

    @property
    def tensors(self) -> list[Tensor]:
        """What the layer has under its paths, computed at each look."""
        return call_in_mode(self.layer, _read, Variable.tensors, self)  # type: ignore[no-any-return]

    @property
    def is_there(self) -> bool:
        """Whether there are tensors under its paths. To look changes nothing, as computing in training may."""
        with in_mode(False):
            return call_in_mode(self.layer, _read, Variable.is_there, self)  # type: ignore[no-any-return]


def _read(of_base: Any, variable: Variable) -> Any:
    return of_base.fget(variable)


def initializer_of(layer: Layer, option: str) -> Any:
    """The initializer of a declared weight: the option `<option>_initializer`."""
    return getattr(layer, f"{option}_initializer", None)


def own_variables(layer: Layer) -> list[Variable]:
    """The weights of a layer itself, without those of the layers inside it.

    Those declared and added, then all else that its modules own.
    """
    found: list[Variable] = []
    covered: set[int] = set()
    for declaration in layer._weights.values() if layer.built else ():
        tensors = declaration.owned_by(layer)
        if tensors:
            found.append(Variable.declared(layer, declaration))
            covered.update(map(id, (*tensors, *_owned_at(layer, declaration.plus, declaration.beside))))
    for added in layer._added:
        if owned(layer, added.paths[0]) is not None:
            found.append(added)
            covered.update(map(id, added.covered))
    return [*found, *_further_variables(layer, covered)]


def _further_variables(layer: Layer, covered: set[int]) -> list[Variable]:
    """A variable for each parameter and saved buffer of plain torch modules inside that is not `covered`."""
    found = []
    for prefix, module in plain_modules(layer):
        for kind in (module._parameters, module._buffers):
            for name, tensor in kind.items():
                if tensor is None or id(tensor) in covered or name in module._non_persistent_buffers_set:
                    continue
                if not is_lazy(tensor):
                    covered.add(id(tensor))
                    trains = kind is module._parameters
                    found.append(Variable(layer, prefix + name, (prefix + name,), IN_ORDER, trains))
    return found


def computed_variables(layer: Layer) -> Iterator[Variable]:
    """The declared weights that are none any more, since they are computed of others, as by `parametrize`.

    Those with a regularizer or constraint. Raises ValueError for a constraint, and where there is no such tensor.
    """
    for declaration in layer._weights.values() if layer.built else ():
        regularizer, constraint = declaration.penalties_in(layer)
        if regularizer is None and constraint is None:
            continue
        if not declaration.applies(layer) or declaration.owned_by(layer):
            continue
        variable = ComputedVariable.declared(layer, declaration)
        if constraint is not None or not variable.is_there:
            has = "regularizer" if constraint is None else "constraint"
            raise ValueError(
                f"{type(layer).__name__} {layer.name!r}: its {has} is for {variable.name!r}, which stood in "
                f"{variable.paths[0]!r} and is no weight any more: make the layer without it."
            )
        yield variable


def penalized(layer: Layer, weights: Sequence[Variable] | None = None) -> list[Variable]:
    """Those of the `weights` (all) that have a regularizer, what is computed in the place of such, and the losses of
    weights that `add_loss` was given.
    """
    owners = [module for module in layer.modules() if isinstance(module, AnyLayer)]
    weights = layer.weights if weights is None else weights
    found: list[Any] = [variable for variable in weights if variable.regularizer is not None]
    for owner in owners:
        found += computed_variables(owner)
    for owner in owners:
        found += owner._losses_of_weights
    return found


def trained(weights: Iterable[Variable]) -> tuple[list[Variable], list[Tensor]]:
    """Those of the weights that training changes, and the parameters that they are made of."""
    variables: list[Variable] = []
    parameters: list[Tensor] = []
    for variable in weights:
        if tensors := variable.trained:
            variables.append(variable)
            parameters += tensors
    return variables, parameters


def plain_modules(layer: Layer) -> list[tuple[str, nn.Module]]:
    """A layer itself and the torch modules inside that are no layers, nor inside one; each with its path."""
    pending: list[tuple[str, nn.Module]] = [("", layer)]
    found: dict[nn.Module, str] = {}
    while pending:
        prefix, module = pending.pop()
        if module in found:
            continue
        found[module] = prefix
        for key, inside in reversed(module._modules.items()):
            if inside is not None and not isinstance(inside, AnyLayer):
                pending.append((f"{prefix}{key}.", inside))
    return list(zip(found.values(), found, strict=True))


def _order_of(view: Tensor, shape: torch.Size) -> tuple[int, ...] | None:
    """The order of axes that a view of a contiguous tensor of that shape has; None where it is no permutation."""
    plain = torch.empty(shape, device="meta")
    left = list(range(len(shape)))
    found = []
    for size, stride in zip(view.shape, view.stride(), strict=True):
        # Axes of length 1 have any stride, and any of them may take the place of another.
        fits = [k for k in left if shape[k] == size and (size == 1 or plain.stride(k) == stride)]
        if not fits:
            return None
        left.remove(fits[0])
        found.append(fits[0])
    return None if left else tuple(found)


def is_wrapper(tensor: Tensor) -> bool:
    """Whether a tensor is made of others and has no memory of its own, as the quantized ones of torchao."""
    return hasattr(type(tensor), "__tensor_flatten__") and not sharing().is_sharded(tensor)


def _of_shape(tensor: Tensor) -> Tensor:
    """The tensor, or one without values in the place of one that is made of others: quantized, or shared."""
    return torch.empty(tensor.shape, device="meta") if hasattr(type(tensor), "__tensor_flatten__") else tensor


def owned(module: nn.Module, path: str) -> Tensor | None:
    """The parameter or buffer that a module has registered under a path; None where there is none."""
    *names, last = path.split(".")
    found: nn.Module | None = module
    for name in names:
        found = None if found is None else found._modules.get(name)
    if found is None:
        return None
    tensor = found._parameters.get(last)
    return found._buffers.get(last) if tensor is None else tensor


def _owned_at(module: nn.Module, *paths: str | None) -> list[Tensor]:
    """The parameters and buffers that a module has registered under those of the paths that are there."""
    found = []
    for path in paths:
        tensor = None if path is None else owned(module, path)
        if tensor is not None:
            found.append(tensor)
    return found


def _walk(module: nn.Module, path: str, *default: Any) -> Any:
    if (tensor := owned(module, path)) is not None:
        return tensor
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name, *default) if default else getattr(found, name)
    return found

"""Weights: declared as data in the class of a layer, and seen in Keras's layout through a `Variable`.

    kernel = weight("linear.weight", keras="features units", torch="units features")

says where the tensor lives inside the layer, and the order of its axes in Keras and in torch. Loading, saving,
`get_weights`, `summary` and the initializers (which count fans on Keras's axes) all read it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
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
from torchkeras.base.extensions import replaceable
from torchkeras.base.keras_axes import IN_ORDER, Arrangement
from torchkeras.base.tracing import traced
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.modes import call_in_mode, in_mode
from torchkeras.world.one_process import sharing

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

NO_MEMORY = (
    "lies on the device 'meta' and has no values: model.to_empty(device='cpu') gives it memory, and set_weights or a "
    "file the values."
)


@replaceable("__get__")
class Weight:
    """The declaration of one weight of a layer class.

    `path`: where its tensor lives in the layer ("linear.weight"). A tuple of paths if it lies in several tensors: the
    first must exist, the others may.
    `keras`, `torch`: the names of its axes in either order, `...` for any number of spatial axes. If no permutation
    leads from one to the other, `pieces(layer, *tensors)`, a function of a module, returns the views that make Keras's
    array (see `torchkeras.base.keras_axes`). `when`: the option that must be true for the layer to have the weight.
    `plus`: a second tensor that torch adds to the first one (the other bias of an `nn.LSTM`). It stays zero when the
    weight is set, and is added when the weight is read. `beside`: a tensor that torch updates along with it and nothing
    here reads (the count of an `nn.BatchNorm2d`).
    The layer's options `<option>_initializer` and so on are its initializer, regularizer and constraint; `option`
    defaults to the weight's name. `name`: its name in Keras's files, by default that of the attribute.
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
        return layer._kept(Variable.declared(layer, self)).attribute if self.applies(layer) else None

    def applies(self, layer: Layer) -> bool:
        """Whether this layer, with its options, has the weight."""
        return self.when is None or bool(getattr(layer, self.when))

    def owned_by(self, layer: Layer) -> list[Tensor]:
        """Its tensors, if the layer has the weight and its modules own all of them; else an empty list.

        After `parametrize` or `prune`, or with another module in place of the declared one, the modules own other
        tensors: these are the layer's weights then.
        """
        if not self.applies(layer):
            return []
        paths = self.paths_in(layer)
        tensors = owned_at(layer, *paths)
        return tensors if len(tensors) == len(paths) else []

    def paths_in(self, layer: Layer) -> tuple[str, ...]:
        """The paths of its tensors: the first, and those of the others that this layer has."""
        if len(self.paths) == 1:
            return self.paths
        return self.paths[:1] + tuple(path for path in self.paths[1:] if tensor_at(layer, path, None) is not None)

    def penalties_in(self, layer: Layer) -> tuple[Any, Any]:
        """The regularizer and the constraint that the layer's options set for it, or None."""
        return getattr(layer, f"{self.option}_regularizer", None), getattr(layer, f"{self.option}_constraint", None)

    def arrangement(self, layer: Layer) -> Arrangement:
        """How Keras's array is stored in the tensors."""
        if self.pieces is not None:
            return Arrangement(partial(self.pieces, layer), len(self.paths_in(layer)))
        return Arrangement(self._permuted)

    def _permuted(self, tensor: Tensor) -> Tensor:
        ndim = tensor.dim()
        if ndim not in self._orders:
            self._orders[ndim] = self._order(ndim)
        return tensor.permute(self._orders[ndim])

    def _order(self, ndim: int) -> tuple[int, ...]:
        """For each of Keras's axes, its index in torch."""
        spatial = " ".join(f"axis{i}" for i in range(ndim - len(self.keras) + 1))
        keras_axes, torch_axes = (" ".join(axes).replace("...", spatial).split() for axes in (self.keras, self.torch))
        return tuple(map(torch_axes.index, keras_axes))


weight = Weight


class Value(Tensor):
    """The array of a weight, made on each read. Setting `data`, `grad` or `requires_grad` on it sets the weight's."""

    # Results are plain tensors, as those of nn.Parameter are.
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]
    _variable: Variable | None = None  # None if detached

    @classmethod
    def of(cls, array: Tensor, variable: Variable | None) -> Tensor:
        """The same array as a `Value` of a weight. A tensor of another class, such as a parameter, stays as it is."""
        if type(array) is Tensor:
            array.__class__ = cls  # in place, as torch does for lazy parameters: no further view
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

    def assign(self, value: Any) -> Value:
        """Set the values of the weight. Raises ValueError for values of another shape, and for a detached array."""
        self._owner.assign(value)
        return self

    def assign_add(self, value: Any) -> Value:
        """Add to the values of the weight."""
        return self.assign(self.detach() + as_tensor(as_numbers(value, "assign_add")))

    def assign_sub(self, value: Any) -> Value:
        """Subtract from the values of the weight."""
        return self.assign(self.detach() - as_tensor(as_numbers(value, "assign_sub")))

    @property
    def _owner(self) -> Variable:
        if self._variable is None:
            raise ValueError("A detached array is no weight, and cannot be assigned: assign to the layer's attribute.")
        return self._variable

    def requires_grad_(self, requires_grad: bool = True) -> Value:
        """Set whether training changes the weight, on each of its tensors."""
        if self._variable is None:
            return super().requires_grad_(requires_grad)  # type: ignore[return-value]
        for tensor in self._variable.tensors:
            tensor.requires_grad_(requires_grad)
        return self

    def detach(self) -> Tensor:  # type: ignore[override]
        """The array without its gradient history. It keeps the class, which nn.Parameter requires."""
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

    `trainable`: whether it was made to train: a parameter was, a statistic was not. `trains`: whether it does now.
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
    option: str | None = None  # the layer's `<option>_initializer` draws it

    @classmethod
    def declared(cls, layer: Layer, declaration: Weight) -> Variable:
        """The variable of a layer for a weight that its class declares."""
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
        """Whether both are one weight of one layer: each list of weights makes new variables."""
        if not isinstance(other, Variable):
            return NotImplemented
        return self.layer is other.layer and self.paths == other.paths

    def __hash__(self) -> int:
        return hash((id(self.layer), self.paths))

    @property
    def made_to_train(self) -> bool:
        """`trainable` as the weight was made, where a class of variables lets it follow what trains now."""
        return bool(vars(self)["trainable"])

    @property
    def is_penalized(self) -> bool:
        """Whether its regularizer adds to the loss."""
        return self.regularizer is not None

    @property
    def attribute(self) -> Any:
        """What the layer's attribute is: the array of the weight."""
        return self.value

    @property
    def in_graph(self) -> Tensor:
        """The tensor that a function of symbolic tensors takes: the weight, which becomes one of the graph."""
        return self.value

    def renamed(self, path: str) -> Variable:
        """The same weight, under another path in its layer."""
        return replace(self, paths=(path,))

    @property
    def initializer(self) -> Any:
        """What draws its first values; None if a plain torch module draws its own."""
        return self.drawn_by if self.option is None else self.layer._initializer_of(self.option)

    @property
    def tensors(self) -> list[Tensor]:
        """The parameters or buffers themselves, in torch's layout. Most weights have one."""
        return list(map(partial(tensor_at, self.layer), self.paths))

    @property
    def is_there(self) -> bool:
        """Whether the layer has tensors under all its paths, owned or computed."""
        return all(isinstance(tensor_at(self.layer, path, None), Tensor) for path in self.paths)

    @property
    def trains(self) -> bool:
        """Whether training changes it. This is torch's `requires_grad`, which `trainable` sets too."""
        return bool(self.trained)

    @property
    def trained(self) -> list[Tensor]:
        """Its tensors if it `trains`, else none."""
        if not self.made_to_train:
            return []
        tensors = self.tensors
        return tensors if all(map(attrgetter("requires_grad"), tensors)) else []

    @property
    def identity(self) -> tuple[int, ...]:
        """Equal for two variables that are one weight, as when a layer is in two models."""
        return tuple(map(id, self.tensors))

    @property
    def covered(self) -> list[Tensor]:
        """All tensors that it stands for: its own, and those that torch adds to it or updates along with it."""
        return [*self.tensors, *self.further]

    @property
    def further(self) -> list[Tensor]:
        """The tensors that torch adds to it, such as the second bias of an `nn.LSTM`, or updates along with it."""
        return owned_at(self.layer, self.plus, self.beside)

    @property
    def _second(self) -> Tensor | None:
        return None if self.plus is None else tensor_at(self.layer, self.plus, None)

    @property
    def value(self) -> Tensor:
        """The weight in Keras's layout, through which gradients flow: a view if it is in one piece.

        Its `grad` is the gradient that `loss.backward()` left, in that layout. Setting its `data` or `requires_grad`
        sets the weight's.
        """
        return self.array if traced() else Value.of(self.array, self)

    @property
    def array(self) -> Tensor:
        """The same as a plain tensor, or the parameter itself."""
        tensors, second = self.tensors, self._second
        value = self.arrangement.array(tensors)
        if second is not None:
            value = value + self.arrangement.array([second])
        if traced() or value is tensors[0]:
            return value
        gradients = [tensor.grad for tensor in tensors if tensor.is_leaf and tensor.grad is not None]
        if len(gradients) == len(self.paths):
            value.grad = self.arrangement.array(gradients)
            value.grad._keras_axes = True  # type: ignore[attr-defined]  # which `Optimizer.apply` asks
        return value

    @property
    def view(self) -> Tensor | None:
        """Keras's array as a view of one tensor; None if it lies in several tensors or pieces."""
        if len(self.paths) > 1 or self._second is not None:
            return None
        tensors = self.tensors
        if hasattr(type(tensors[0]), "__tensor_flatten__") and sharing().is_sharded(tensors[0]):
            return None
        view = self.arrangement.pieces(*tensors)
        return view.detach() if isinstance(view, Tensor) else None

    @property
    def own_part(self) -> tuple[Tensor, tuple[slice, ...]] | None:
        """The part of Keras's array that this process has, as a view, and its place in the array.

        None if this process has the whole weight, or if it lies in several tensors or pieces.
        """
        tensor = self.tensors[0]
        if len(self.paths) > 1 or self._second is not None or not sharing().is_sharded(tensor):
            return None
        plain = torch.empty(tensor.shape, device="meta")
        order = order_of(self.arrangement.pieces(plain), plain)
        if order is None:
            return None
        place = [sharing().rows(tensor), *[slice(None)] * (len(order) - 1)]  # in the tensor: it is sharded by rows
        return sharing().part(tensor).detach().permute(order), tuple(map(place.__getitem__, order))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in Keras's layout."""
        return self.arrangement.shape(list(map(_of_shape, self.tensors)))

    @property
    def dtype(self) -> torch.dtype:
        """The element type."""
        return self.tensors[0].dtype

    @property
    def layer_path(self) -> str:
        """The name of its layer."""
        return self.layer.name

    @property
    def full_name(self) -> str:
        """The name in Keras's files: `dense_1/kernel:0`."""
        return f"{self.layer.name}/{self.name}:0"

    def numpy(self) -> np.ndarray:
        """A copy of the values, in Keras's layout. Raises TypeError for a quantized weight."""
        return self.shared_numpy().copy()

    def shared_numpy(self) -> np.ndarray:
        """The same without a copy where the weight's memory can be seen as such an array."""
        wrapper = next(filter(is_wrapper, self.tensors), None)
        if wrapper is not None:
            raise TypeError(
                f"{self.full_name} is of the type {type(wrapper).__name__}, which has no form in Keras: take it from "
                "the model's state_dict(), or read the weights before they are quantized."
            )
        self.check_memory()
        return to_numpy(self.value)

    def check_memory(self) -> None:
        """Raise ValueError for a weight on torch's device `meta`, which has no values."""
        if self.tensors[0].is_meta:
            raise ValueError(f"{self.layer.name}: weight {self.name!r} {NO_MEMORY}")

    def assign(self, value: Any) -> None:
        """Set the values, in Keras's layout. Raises ValueError for values of another shape."""
        self.check_memory()
        with torch.no_grad():
            if not isinstance(value, Tensor):
                value = as_numbers(value, self.full_name)
            source = as_tensor(value)
            if tuple(source.shape) != self.shape:
                raise ValueError(
                    f"{self.layer.name}: weight {self.name!r} has shape {self.shape}; "
                    f"the values given have shape {tuple(source.shape)}."
                )
            self._set(source)

    def draw(self, initializer: Any) -> None:
        """Fill the weight with values that an initializer draws, on Keras's axes."""
        with torch.no_grad():
            if (view := self.view) is not None:
                initializers.fill(initializer, view)
            else:
                drawn = torch.empty(self.shape, dtype=self.tensors[0].dtype, device=self.tensors[0].device)
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
    """A value computed in place of a declared weight, as by `parametrize`, in the mode that the layer is called in."""

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors under its paths, computed on each read."""
        return call_in_mode(self.layer, _read, Variable.tensors, self)  # type: ignore[no-any-return]

    @property
    def is_there(self) -> bool:
        """Whether there are tensors under its paths. It reads them in evaluation mode, which changes no statistics."""
        with in_mode(False):
            return call_in_mode(self.layer, _read, Variable.is_there, self)  # type: ignore[no-any-return]


def _read(prop: Any, variable: Variable) -> Any:
    return prop.fget(variable)


def initializer_of(layer: Layer, option: str) -> Any:
    """The initializer of a declared weight: the option `<option>_initializer`."""
    return getattr(layer, f"{option}_initializer", None)


def own_variables(layer: Layer) -> list[Variable]:
    """The weights of a layer itself, without those of the layers inside it.

    The declared weights come first, then those added, then whatever else its modules own.
    """
    found: list[Variable] = []
    covered: set[int] = set()
    for declaration in layer._weights.values() if layer.built else ():
        tensors = declaration.owned_by(layer)
        if tensors:
            found.append(Variable.declared(layer, declaration))
            covered.update(map(id, (*tensors, *owned_at(layer, declaration.plus, declaration.beside))))
    for added in layer._added:
        if owned(layer, added.paths[0]) is not None:
            found.append(added)
            covered.update(map(id, added.covered))
    return [*found, *_further_variables(layer, covered)]


def _further_variables(layer: Layer, covered: set[int]) -> list[Variable]:
    """A variable for each parameter and saved buffer of plain torch modules inside that is not `covered`."""
    found = []
    for prefix, module in plain_modules(layer):
        for name, tensor in itertools.chain(module._parameters.items(), module._buffers.items()):
            if tensor is None or id(tensor) in covered or name in module._non_persistent_buffers_set:
                continue
            if not is_lazy(tensor):
                covered.add(id(tensor))
                trainable = name in module._parameters
                found.append(Variable(layer, prefix + name, (prefix + name,), IN_ORDER, trainable))
    return found


def further_tensors(layer: Layer) -> list[Tensor]:
    """What torch adds to the declared weights of a layer, or updates along with them: zero at first, and frozen."""
    declared = layer._weights.values()
    return [tensor for each in declared for tensor in owned_at(layer, each.plus, each.beside)]


def computed_variables(layer: Layer) -> Iterator[Variable]:
    """The declared weights with a regularizer that are now computed from others, as by `parametrize`.

    Raises ValueError for such a weight with a constraint, and for one whose tensor is gone.
    """
    if not layer.built:
        return
    for declaration in layer._weights.values():
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
    """All that adds a penalty to the loss: those of the `weights` (by default all) that have a regularizer, the values
    computed in their place, and the losses of weights that were passed to `add_loss`.
    """
    if weights is None:
        weights = layer.weights
    found = [variable for variable in weights if variable.is_penalized]
    added: list[Any] = []
    for module in layer.modules():
        if isinstance(module, AnyLayer):
            found += computed_variables(module)
            added += module._losses_of_weights
    return found + added


def trained(weights: Iterable[Variable]) -> tuple[list[Variable], list[Tensor]]:
    """The weights among these that training changes, and their parameters."""
    variables: list[Variable] = []
    parameters: list[Tensor] = []
    for variable in weights:
        if tensors := variable.trained:
            variables.append(variable)
            parameters += tensors
    return variables, parameters


def plain_modules(layer: Layer) -> list[tuple[str, nn.Module]]:
    """(path, module) of a layer itself, then of the torch modules inside it that are no layers, nor inside one."""
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


def order_of(view: Any, tensor: Tensor) -> tuple[int, ...] | None:
    """The permutation of the axes of a tensor that makes a view of it; None if none does."""
    if not isinstance(view, Tensor) or view.dim() != tensor.dim():
        return None
    axes: list[Any] = _axes_in_memory(tensor)
    order = []
    for axis in _axes_in_memory(view):
        if axis not in axes:
            return None
        place = axes.index(axis)
        axes[place] = None  # each axis once
        order.append(place)
    return tuple(order)


def _axes_in_memory(tensor: Tensor) -> list[tuple[int, int]]:
    """(size, stride) of each axis. Axes of length 1 have any stride, so any of them may take the place of another."""
    return [(size, 0 if size == 1 else stride) for size, stride in zip(tensor.shape, tensor.stride(), strict=True)]


def is_wrapper(tensor: Tensor) -> bool:
    """Whether a tensor is made of others and has no memory of its own, as torchao's quantized tensors."""
    return hasattr(type(tensor), "__tensor_flatten__") and not sharing().is_sharded(tensor)


def _of_shape(tensor: Tensor) -> Tensor:
    """The tensor, or an empty `meta` tensor of its shape if it is made of others: quantized, or sharded."""
    return torch.empty(tensor.shape, device="meta") if hasattr(type(tensor), "__tensor_flatten__") else tensor


def owned(module: nn.Module, path: str) -> Tensor | None:
    """The parameter or buffer that a module has registered under a path; None if there is none."""
    *names, last = path.split(".")
    found: nn.Module | None = module
    for name in names:
        found = found._modules.get(name)
        if found is None:
            return None
    tensor = found._parameters.get(last)
    return found._buffers.get(last) if tensor is None else tensor


def owned_at(module: nn.Module, *paths: str | None) -> list[Tensor]:
    """The parameters and buffers that a module has registered under these paths; a missing one is left out."""
    found = []
    for path in paths:
        if path is None:
            continue
        tensor = owned(module, path)
        if tensor is not None:
            found.append(tensor)
    return found


def tensor_at(module: nn.Module, path: str, *default: Any) -> Any:
    """The tensor or attribute of a module under a path: what is registered, else what `getattr` finds."""
    if (tensor := owned(module, path)) is not None:
        return tensor
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name, *default)
    return found

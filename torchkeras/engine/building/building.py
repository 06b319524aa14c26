"""Building: the first call of a layer makes its weights, on `meta`; then they get memory and first values.

In a first run of a layer of layers, and while a file is loaded, they stay on `meta` until that ends.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from torchkeras import config
from torchkeras.base.function_values import attributes_of, installed
from torchkeras.base.keras_axes import IN_ORDER
from torchkeras.base.rules import read
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.building.meta_run import MadeOnMeta, off_meta
from torchkeras.engine.options import CONSTRAINT, INITIALIZER, REGULARIZER
from torchkeras.engine.shapes.input_spec import InputSpec
from torchkeras.engine.symbolic.tensor import Shape, as_list, dtype_of
from torchkeras.engine.users_code import CODE, note
from torchkeras.engine.weights.expressions import refuse_frozen
from torchkeras.engine.weights.weight import Variable
from torchkeras.engine.weights.weight_lists import ENGINES_OWN, TORCHS_OWN, WeightOwner
from torchkeras.legacy.arguments import Keras1Arrays
from torchkeras.legacy.weights import modern

HOLDERS = (Tensor, list, tuple, dict)
NOT_LOOKED_AT = ENGINES_OWN | TORCHS_OWN
_deferred: ContextVar[bool] = ContextVar("deferred", default=False)
_making = threading.RLock()  # threads that call one layer or model for the first time build it once
_waiting: ContextVar[list[Building] | None] = ContextVar("waiting", default=None)  # a list in a first run


@contextmanager
def on_meta() -> Iterator[None]:
    """Make weights without values or memory inside the `with` block: a file's values take their place at once."""
    token = _deferred.set(True)
    try:
        yield
    finally:
        _deferred.reset(token)


def deferred() -> bool:
    """True inside `on_meta()` and `first_run()`."""
    return not (compiled_somewhere() and is_compiling()) and _deferred.get()


@contextmanager
def first_run() -> Iterator[None]:
    """The first run of a layer of layers, on `meta`: those inside are built, and get memory and values at its end.

    Inside `on_meta()` they wait for the file's.
    """
    waiting: list[Building] = []
    token = _waiting.set(waiting)
    try:
        with on_meta():
            yield
    finally:
        _waiting.reset(token)
        for layer in waiting if not deferred() else ():
            layer._fill()


def in_first_run() -> bool:
    """True inside `first_run()`."""
    return not (compiled_somewhere() and is_compiling()) and _waiting.get() is not None


def building_alone() -> AbstractContextManager[Any]:
    """Inside, no other thread builds; what one has built on `meta`, in a first run, no other may meet."""
    return nullcontext() if compiled_somewhere() and is_compiling() else _making  # the compiler does not follow locks


def for_training() -> AbstractContextManager[Any]:
    """Inside, weights are made that can train, also where a layer is first called in torch's inference mode."""
    return torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext()


class Building(WeightOwner):
    """The part of `Layer` that is built."""

    input_spec: Any = None  # an `InputSpec` or a list of them, which a layer written the Keras way may set

    _expected_axes: dict[int, int]
    _expected_ndim: int | None  # the number of axes that its weights were made for
    _initial_weights: Any
    _call_nodes: list[Any]
    _taken_plainly: set[Any]
    _built_for: Any = None  # the shape of the input that its modules were made for

    def _make_modules(self, input_shape: Any) -> None:
        """Make the torch modules of the layer for an input of this shape (a list of shapes for several inputs).

        Runs on the `meta` device: memory and initial values come afterwards, by the declared weights.
        """

    def build(self, input_shape: Any) -> None:
        """Make the weights. A layer written the Keras way overrides this and calls `add_weight`.

        Arguments:
            input_shape (tuple or list of tuples): the shape of the input with the batch axis; a list for several
                inputs.

        Source: https://keras.io/api/layers/base_layer/
        """
        with MadeOnMeta():
            self._make_modules(input_shape)
        self.built = True
        self.__dict__["_built_for"] = input_shape
        if not deferred():
            materialize(self)
        elif self._policy.variable_type is not torch.get_default_dtype():
            # The shape of its output is found before a file's values come: in the type that they will have.
            _allocate(self, dict(self._plain_modules()), torch.device("meta"))

    def _build(self, input_shapes: list[Shape], *further: Any) -> None:
        """Make the weights for the shapes of the first input, and of the `further` ones where `build` asks for them."""
        self._check_inputs(input_shapes)
        if self.built and (compiled_somewhere() and is_compiling()):  # which does not follow locks
            return
        with _making:
            if self.built:
                return
            first = input_shapes[0] if len(input_shapes) == 1 else input_shapes
            before, CODE.owner = CODE.owner, None
            try:
                with for_training(), off_meta() if in_first_run() else nullcontext():
                    self.build(first, *further[: _further_shapes(type(self).build)])
            except ValueError as error:
                raise ValueError(f"{type(self).__name__} {self.name!r}: {error}") from error
            finally:
                CODE.owner = before
            if not self.built:
                self.built = True
            self._refuse_frozen()
            if CODE.owner is not None and not in_first_run() and self._own_variables():
                self._note_made()
            self._agree_on_policy()
            self._follow_trainable(self._frozen_above)
            if not deferred():
                self._fill()
            elif (waiting := _waiting.get()) is not None:
                waiting.append(self)

    def _fill(self) -> None:
        """Give values to what the build left on `meta`, or to all by the option `weights`; and freeze what is to be."""
        with for_training():
            materialize(self)
        if (given := self._initial_weights) is not None:
            by_keras1 = isinstance(given, Keras1Arrays)
            self.set_weights(modern(self, self._ordered_weights(), given) if by_keras1 else given)
            self._initial_weights = None

    def _check_inputs(self, input_shapes: list[Shape]) -> None:
        if not all(isinstance(shape, tuple) for shape in input_shapes):  # a dict of them
            return
        facts = self._facts
        ndim = self._expected_ndim or facts.input_ndim
        own = InputSpec(ndim=ndim, min_ndim=facts.min_input_ndim, axes=self._expected_axes)
        asked = [(shape, own) for shape in (input_shapes[:1] if ndim else input_shapes)]
        specified = () if self.input_spec is None else zip(input_shapes, as_list(self.input_spec), strict=False)
        for index, (shape, spec) in (*enumerate(asked), *enumerate(specified)):
            if spec is None:
                continue
            problem = spec.problem(shape)
            if problem is not None:
                raise ValueError(
                    f"Input {index} is incompatible with layer {self.name}: {problem} (input shape {tuple(shape)}). "
                    f"{spec.advice(shape)}"
                )

    def add_weight(
        self,
        name_or_shape: str | int | Iterable[int] | None = None,
        /,
        shape: Any = (),
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
        *,
        name: str | None = None,
    ) -> torch.Tensor:
        """Make a weight, in `build` of a layer written the Keras way.

        Keras 3's `add_weight(shape, initializer, name=...)` is understood as well.

        Arguments:
            name_or_shape (text, integers or None, default None): the name of the weight, as `name=` gives it; or its
                shape, which an initializer may follow.
            shape (tuple of integers, default ()): its shape, in Keras's order of axes.
            dtype (name, torch dtype or None, default None): its type; None is that of the layer's weights.
            initializer (name, Initializer or None, default None): the first values; None is "glorot_uniform".
            regularizer (name, Regularizer or None, default None): a penalty, added to the loss.
            trainable (bool, default True): whether training changes it; otherwise it is a buffer.
            constraint (name, Constraint or None, default None): what each update is followed by.
            name (text or None, default None): the name of the weight; None is `weight_0` and so on.

        Returns:
            The parameter or buffer, a tensor.

        Errors:
            ValueError: an argument has a bad value, or is given twice.

        Example:
            >>> class Scale(Layer):
            ...     def build(self, input_shape):
            ...         self.scale = self.add_weight("scale", (input_shape[-1],), initializer="ones")
            ...     def call(self, inputs):
            ...         return inputs * self.scale
            >>> Scale()(torch.full((1, 2), 3.0)).tolist()
            [[3.0, 3.0]]

        Source: https://keras.io/api/layers/base_layer/
        """
        name, shape, initializer = _named_shape(name_or_shape, name, shape, initializer)
        self._refuse_in_call(name)
        kind = type(self).__name__
        name = name or f"weight_{len(self._added)}"
        shape = (shape,) if isinstance(shape, int) else tuple(shape or ())
        if not all(hasattr(size, "__index__") for size in shape):
            raise ValueError(f"add_weight: the shape of {name!r} must be integers; found {shape}.")
        initial = read(kind, "initializer", INITIALIZER, initializer or "glorot_uniform")
        regular = read(kind, "regularizer", REGULARIZER, regularizer)
        constrain = read(kind, "constraint", CONSTRAINT, constraint)
        device = torch.device("meta") if deferred() else config.device()
        tensor = torch.empty(shape, dtype=dtype_of(dtype or self.dtype), device=device)
        path = self._free_path(name)
        if trainable:
            self._parameters[path] = nn.Parameter(tensor, requires_grad=tensor.is_floating_point())
        else:
            self._buffers[path] = tensor
        variable = Variable(self, name, (path,), IN_ORDER, trainable, initial, regular, constrain)
        self._added.append(variable)
        if not (deferred() or device.type == "meta"):
            variable.draw(initial)
        variable.tensors[0]._added_weight = True  # type: ignore[attr-defined]
        return variable.tensors[0]

    def _refuse_in_call(self, name: str | None) -> None:
        """Raise ValueError for a weight that the layer's code makes in a call after its first."""
        if CODE.owner is self and (self._call_nodes or self._taken_plainly):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: its code makes the weight {name!r} in a call, and each call "
                "makes another: make weights in __init__ or build."
            )

    def _note_made(self) -> None:
        """Say that the code under way has built this layer, maybe made it."""
        note(self)

    def _refuse_frozen(self) -> None:
        """Raise ValueError for an attribute, or a function's, that was computed from weights and would never change."""
        theirs = {
            name: value
            for name, value in attributes_of(self).items()
            if name not in NOT_LOOKED_AT
            and (isinstance(value, HOLDERS) or not installed(getattr(value, "__module__", None) or "torch"))
        }
        if theirs:
            refuse_frozen(f"{type(self).__name__} {self.name!r}", theirs)

    def _free_path(self, name: str) -> str:
        """Where a weight of that name is registered: without the layer's own name, which the next model has not."""
        own = next((self.name + mark for mark in "_/." if name.startswith(self.name + mark)), "")
        path = name.removeprefix(own).replace(".", "_").replace("/", "_") or "weight"
        taken = (*self._parameters, *self._buffers, *self._modules)
        return next(p for p in (path, *(f"{path}_{count}" for count in range(1, len(taken) + 2))) if p not in taken)

    def _known_size(self, input_shape: Shape, axis: int) -> int:
        """The size of an axis that weights depend on; further calls must have the same. Raises ValueError if None."""
        size = input_shape[axis]
        if size is None:
            raise ValueError(f"axis {axis} of the input must be known; the input shape is {tuple(input_shape)}.")
        self._expected_axes[axis] = size
        return size


def _named_shape(first: Any, name: str | None, shape: Any, initializer: Any) -> tuple[str | None, Any, Any]:
    """(name, shape, initializer) of `add_weight`, whose first argument is the name, or the shape as in Keras 3.

    Raises ValueError for one that is given twice.
    """
    if first is None:
        return name, shape, initializer
    if isinstance(first, str):
        if name is not None:
            raise ValueError(f"add_weight: the name is given twice: {first!r} and {name!r}.")
        return first, shape, initializer
    if shape != () and initializer is not None:
        raise ValueError(f"add_weight: the initializer is given twice: {shape!r} and {initializer!r}.")
    return name, first, shape or initializer


@lru_cache
def _further_shapes(build: Any) -> int:
    """How many shapes a `build` asks for beside the first: `build(self, query_shape, value_shape)` for one."""
    parameters = list(inspect.signature(build).parameters.values())[2:]
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


def materialize(layer: WeightOwner, draw: bool = True) -> None:
    """Give memory and, with `draw`, initial values to what a layer made on `meta`.

    All else stays as it is, also what layers inside have made. A plain torch module draws its own values, by
    `reset_parameters`. Raises RuntimeError for one that has no such method.
    """
    if not any(tensor.is_meta for tensor in (*layer.parameters(), *layer.buffers())):
        return
    device, modules = config.device(), dict(layer._plain_modules())
    fresh = [v for v in layer._own_variables() if any(tensor.is_meta for tensor in v.tensors)]
    _allocate(layer, modules, device)
    if device.type == "meta":  # as the default device of torch: `to_empty` gives memory later
        return
    with torch.no_grad():
        for variable in fresh:
            for tensor in variable.further:
                tensor.zero_().requires_grad_(False)
    if not draw:
        return
    drawn = [(variable, variable.initializer) for variable in fresh]
    by_torch = [variable for variable, initializer in drawn if initializer is None]
    if by_torch:
        _reset_modules(layer, modules, by_torch)
    for variable, initializer in drawn:
        if initializer is not None:
            variable.draw(initializer)


def _reset_modules(layer: WeightOwner, modules: dict[str, nn.Module], variables: list[Variable]) -> None:
    """Have the plain torch modules of these weights draw their own values. Raises RuntimeError where one cannot."""
    for path in dict.fromkeys(variable.name.rpartition(".")[0] for variable in variables):
        module = modules[f"{path}." if path else ""]
        if not hasattr(module, "reset_parameters"):
            raise RuntimeError(
                f"{layer.name}: its {type(module).__name__} was made on the device meta, and has no reset_parameters "
                "that could give it values: make it in __init__."
            )
        module.reset_parameters()  # type: ignore[operator]


def _allocate(layer: WeightOwner, modules: dict[str, nn.Module], device: torch.device) -> None:
    """Give memory, in the layer's type, to what it and the plain modules inside it have on `meta`.

    Every tensor stays the object that it is, so attributes, lists and other modules that hold it go on doing so. A
    buffer that is no weight, such as the state of a stateful layer, is zero.
    """

    def empty(tensor: Tensor) -> Tensor:
        if not tensor.is_meta or is_lazy(tensor):
            return tensor
        # Not by `empty_like`, which on `meta` imports torch's compiler.
        kind = layer._policy.variable_type if tensor.is_floating_point() else tensor.dtype
        return torch.empty_strided(tensor.shape, tensor.stride(), device=device, dtype=kind)

    for module in modules.values():
        if module is not layer and type(module)._apply is not nn.Module._apply:
            module._apply(empty)  # as torch's recurrent modules, which keep lists of their own
            continue
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):
            if tensor is not None and (made := empty(tensor)) is not tensor:
                become(tensor, made.zero_() if name in module._non_persistent_buffers_set else made)


def become(tensor: Tensor, other: Tensor) -> None:
    """Give a tensor the memory of another one; it stays the object, and the kind of object, that it is."""
    trains = tensor.requires_grad
    torch.utils.swap_tensors(tensor, nn.Parameter(other, trains) if isinstance(tensor, nn.Parameter) else other)

"""Building: the first call of a layer makes its weights, on `meta`; then they get memory and first values.

In a first run of a layer of layers, and while a file is loaded, they stay on `meta` until that ends.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from torchkeras import config
from torchkeras.base.dtype_names import dtype_of
from torchkeras.base.function_values import attributes_of, installed
from torchkeras.base.keras_axes import IN_ORDER
from torchkeras.base.rules import FLAG_OR_DIGIT, read
from torchkeras.base.sharing import sharing
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.building.meta_run import MadeOnMeta, off_meta
from torchkeras.engine.dtypes import agree_on_policy
from torchkeras.engine.facts import facts_of
from torchkeras.engine.options import CONSTRAINT, INITIALIZER, REGULARIZER
from torchkeras.engine.shapes.input_spec import InputSpec
from torchkeras.engine.symbolic.tensor import Shape, as_list
from torchkeras.engine.users_code import CODE, Made
from torchkeras.engine.weights.expressions import refuse_frozen
from torchkeras.engine.weights.freezing import follow_trainable
from torchkeras.engine.weights.weight import Variable, own_variables, plain_modules
from torchkeras.engine.weights.weight_lists import ENGINES_OWN, TORCHS_OWN
from torchkeras.legacy.arguments import Keras1Arrays
from torchkeras.legacy.weights import modern

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

_is_on_meta = attrgetter("is_meta")
HOLDERS = (Tensor, list, tuple, dict)
NOT_LOOKED_AT = ENGINES_OWN | TORCHS_OWN
_deferred: ContextVar[bool] = ContextVar("deferred", default=False)
_making = threading.RLock()  # threads that call one layer or model for the first time build it once
_waiting: ContextVar[list[Layer] | None] = ContextVar("waiting", default=None)  # a list in a first run


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
    waiting: list[Layer] = []
    token = _waiting.set(waiting)
    try:
        with on_meta():
            yield
    finally:
        _waiting.reset(token)
        for layer in waiting if not deferred() else ():
            _fill(layer)


def in_first_run() -> bool:
    """True inside `first_run()`."""
    return not (compiled_somewhere() and is_compiling()) and _waiting.get() is not None


def building_alone() -> AbstractContextManager[Any]:
    """Inside, no other thread builds; what one has built on `meta`, in a first run, no other may meet."""
    return nullcontext() if compiled_somewhere() and is_compiling() else _making  # the compiler does not follow locks


def for_training() -> AbstractContextManager[Any]:
    """Inside, weights are made that can train, also where a layer is first called in torch's inference mode."""
    return torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext()


def build_from_modules(layer: Layer, input_shape: Any) -> None:
    """What `Layer.build` does: make the torch modules on `meta`, then give them memory and values."""
    with MadeOnMeta():
        layer._make_modules(input_shape)
    layer.built = True
    layer.__dict__["_built_for"] = input_shape
    if not deferred():
        materialize(layer)
    elif layer._policy.variable_type is not torch.get_default_dtype():
        # The shape of its output is found before a file's values come: in the type that they will have.
        _allocate(layer, dict(plain_modules(layer)), torch.device("meta"))


def build_once(layer: Layer, input_shapes: list[Shape], *further: Any) -> None:
    """Make the weights for the shapes of the first input, and of the `further` ones where `build` asks for them."""
    check_inputs(layer, input_shapes)
    if layer.built and (compiled_somewhere() and is_compiling()):  # which does not follow locks
        return
    with _making:
        if layer.built:
            return
        _run_build(layer, input_shapes, further)
        _refuse_computed(layer)
        if CODE.owner is not None and not in_first_run() and own_variables(layer):
            Made.note(layer)
        agree_on_policy(layer)
        if layer._is_users:
            move_modules(layer, config.device())
        follow_trainable(layer, layer._freezing.above)
        if not deferred():
            _fill(layer)
        elif (waiting := _waiting.get()) is not None:
            waiting.append(layer)


def _run_build(layer: Layer, input_shapes: list[Shape], further: tuple[Any, ...]) -> None:
    """Call the `build` of a layer, which is no code that runs at each call. Its errors name the layer."""
    first = input_shapes[0] if len(input_shapes) == 1 else input_shapes
    before, CODE.owner = CODE.owner, None
    try:
        with for_training(), off_meta() if in_first_run() else nullcontext():
            layer.build(first, *further[: _further_shapes(type(layer).build)])
    except ValueError as error:
        raise ValueError(f"{type(layer).__name__} {layer.name!r}: {error}") from error
    finally:
        CODE.owner = before
    if not layer.built:
        layer.built = True


def move_modules(layer: Layer, device: torch.device) -> None:
    """Move what a layer has on the CPU, such as a module of torch that a user has made, to the device of the weights.

    Parameters stay the objects that they are. What lies on another device stays there.
    """
    if device.type in ("cpu", "meta"):
        return

    def moved(tensor: Tensor) -> Tensor:
        return tensor.to(device) if tensor.is_cpu and not sharing().is_sharded(tensor) else tensor

    for _, module in plain_modules(layer):
        module._apply(moved, recurse=False)


def _fill(layer: Layer) -> None:
    """Give values to what the build left on `meta`, or to all by the option `weights`; and freeze what is to be."""
    with for_training():
        materialize(layer)
    given = layer._initial_weights
    if given is None:
        return
    if isinstance(given, Keras1Arrays):
        given = modern(layer, layer._ordered_weights(), given)
    layer.set_weights(given)
    layer._initial_weights = None


def check_inputs(layer: Layer, input_shapes: list[Shape]) -> None:
    """Raise ValueError for inputs whose shapes do not fit what the layer asks for, or was built for."""
    if not all(isinstance(shape, tuple) for shape in input_shapes):  # a dict of them
        return
    facts = facts_of(layer)
    ndim = layer._expected_ndim or facts.input_ndim
    own = InputSpec(ndim=ndim, min_ndim=facts.min_input_ndim, axes=layer._expected_axes)
    asked = [(shape, own) for shape in (input_shapes[:1] if ndim else input_shapes)]
    specified = () if layer.input_spec is None else zip(input_shapes, as_list(layer.input_spec), strict=False)
    for index, (shape, spec) in (*enumerate(asked), *enumerate(specified)):
        if spec is None:
            continue
        problem = spec.problem(shape)
        if problem is not None:
            raise ValueError(
                f"Input {index} is incompatible with layer {layer.name}: {problem} (input shape {tuple(shape)}). "
                f"{spec.advice(shape)}"
            )


def add_weight(
    layer: Layer,
    name: str | None,
    shape: Any,
    dtype: Any,
    initializer: Any,
    regularizer: Any,
    trainable: bool,
    constraint: Any,
) -> Tensor:
    """Make a weight of a layer. Raises ValueError for an argument with a bad value."""
    _refuse_in_call(layer, name)
    kind = type(layer).__name__
    name = name or f"weight_{len(layer._added)}"
    shape = _sizes(name, shape)
    initial = read(kind, "initializer", INITIALIZER, initializer or "glorot_uniform")
    regular = read(kind, "regularizer", REGULARIZER, regularizer)
    constrain = read(kind, "constraint", CONSTRAINT, constraint)
    trainable = read(kind, "trainable", FLAG_OR_DIGIT, trainable)
    device = torch.device("meta") if deferred() else config.device()
    tensor = torch.empty(shape, dtype=dtype_of(dtype or layer.dtype), device=device)
    path = free_path(layer, name)
    if trainable:
        layer._parameters[path] = nn.Parameter(tensor, requires_grad=tensor.is_floating_point())
    else:
        layer._buffers[path] = tensor
    variable = Variable(layer, name, (path,), IN_ORDER, trainable, initial, regular, constrain)
    layer._added.append(variable)
    if not (deferred() or device.type == "meta"):
        variable.draw(initial)
    variable.tensors[0]._added_weight = True  # type: ignore[attr-defined]
    return variable.tensors[0]


def _sizes(name: str, shape: Any) -> tuple[Any, ...]:
    """The shape of a weight as a tuple. Raises ValueError for sizes that are no integers."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape or ())
    if not all(hasattr(size, "__index__") for size in sizes):
        raise ValueError(f"add_weight: the shape of {name!r} must be integers; found {sizes}.")
    return sizes


def _refuse_in_call(layer: Layer, name: str | None) -> None:
    """Raise ValueError for a weight that the layer's code makes in a call after its first."""
    if CODE.owner is layer and (layer._call_nodes or layer._taken_plainly):
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: its code makes the weight {name!r} in a call, and each call "
            "makes another: make weights in __init__ or build."
        )


def _refuse_computed(layer: Layer) -> None:
    """Raise ValueError for an attribute, or a function's, that was computed from weights and would never change."""
    theirs: dict[str, Any] = {}
    for name, value in attributes_of(layer).items():
        if name in NOT_LOOKED_AT:
            continue
        if isinstance(value, HOLDERS) or not installed(getattr(value, "__module__", None) or "torch"):
            theirs[name] = value
    if theirs:
        refuse_frozen(f"{type(layer).__name__} {layer.name!r}", theirs)


def free_path(layer: Layer, name: str) -> str:
    """Where a weight of that name is registered: without the layer's own name, which the next model has not."""
    for mark in "_/.":
        if name.startswith(layer.name + mark):
            name = name.removeprefix(layer.name + mark)
            break
    path = found = name.replace(".", "_").replace("/", "_") or "weight"
    taken = {*layer._parameters, *layer._buffers, *layer._modules}
    count = 0
    while found in taken:
        count += 1
        found = f"{path}_{count}"
    return found


def named_shape(first: Any, name: str | None, shape: Any, initializer: Any) -> tuple[str | None, Any, Any]:
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


def materialize(layer: Layer, draw: bool = True) -> None:
    """Give memory and, with `draw`, initial values to what a layer made on `meta`.

    All else stays as it is, also what layers inside have made. A plain torch module draws its own values, by
    `reset_parameters`. Raises RuntimeError for one that has no such method.
    """
    if not any(map(_is_on_meta, (*layer.parameters(), *layer.buffers()))):
        return
    device, modules = config.device(), dict(plain_modules(layer))
    fresh = [variable for variable in own_variables(layer) if any(map(_is_on_meta, variable.tensors))]
    _allocate(layer, modules, device)
    if device.type == "meta":  # as the default device of torch: `to_empty` gives memory later
        return
    _zero_further(fresh)
    if not draw:
        return
    drawn: list[tuple[Variable, Any]] = []
    by_torch: list[Variable] = []
    for variable in fresh:
        initializer = variable.initializer
        if initializer is None:
            by_torch.append(variable)
        else:
            drawn.append((variable, initializer))
    if by_torch:
        _reset_modules(layer, modules, by_torch)
    for variable, initializer in drawn:
        variable.draw(initializer)


def _zero_further(variables: list[Variable]) -> None:
    """Keep at zero what torch adds to weights, or keeps beside them."""
    with torch.no_grad():
        for variable in variables:
            for tensor in variable.further:
                tensor.zero_().requires_grad_(False)


def _reset_modules(layer: Layer, modules: dict[str, nn.Module], variables: list[Variable]) -> None:
    """Have the plain torch modules of these weights draw their own values. Raises RuntimeError where one cannot."""
    for path in dict.fromkeys(variable.name.rpartition(".")[0] for variable in variables):
        module = modules[f"{path}." if path else ""]
        if not hasattr(module, "reset_parameters"):
            declared = next((variable for variable in variables if variable.option is not None), None)
            if declared is not None:
                raise RuntimeError(
                    f"{type(layer).__name__} {layer.name!r}: nothing gives the weight {declared.name} its first "
                    f"values: the class needs the option {declared.option}_initializer, or an _initializer_of that "
                    f"returns an initializer for {declared.option!r}."
                )
            raise RuntimeError(
                f"{layer.name}: its {type(module).__name__} was made on the device meta, and has no reset_parameters "
                "that could give it values: make it in __init__."
            )
        module.reset_parameters()  # type: ignore[operator]


def _allocate(layer: Layer, modules: dict[str, nn.Module], device: torch.device) -> None:
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

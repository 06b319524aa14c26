"""Building: the first call of a layer makes its weights, on `meta`; then they get memory and initial values.

In the first run of a layer of layers, and while a file is loaded, they stay on `meta` until that ends.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch._guards import detect_fake_mode
from torch.nn.parameter import is_lazy

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.keras_axes import IN_ORDER
from torchkeras.base.python import attributes_of, installed
from torchkeras.base.rules import FLAG_OR_DIGIT, PLAIN, read
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.building.meta_run import MadeOnMeta, off_meta
from torchkeras.engine.dtypes import agree_on_policy
from torchkeras.engine.facts import facts_of
from torchkeras.engine.modes import in_mode
from torchkeras.engine.options import CONSTRAINT, INITIALIZER, REGULARIZER
from torchkeras.engine.shapes.input_spec import InputSpec
from torchkeras.engine.symbolic.tensor import Shape, as_list, calls_of
from torchkeras.engine.users_code import CODE, Made
from torchkeras.engine.weights.expressions import refuse_frozen
from torchkeras.engine.weights.tying import tie_what_was_given
from torchkeras.engine.weights.weight import Variable, further_tensors, own_variables, plain_modules
from torchkeras.engine.weights.weight_lists import ENGINES_OWN, TORCHS_OWN, follow_trainable
from torchkeras.legacy.arguments import Keras1Arrays
from torchkeras.legacy.weights import modern
from torchkeras.world.one_process import sharing

_is_on_meta = attrgetter("is_meta")
REGISTER = nn.Module.register_parameter
HOLDERS = (Tensor, list, tuple, dict)
NOT_USERS = ENGINES_OWN | TORCHS_OWN  # attributes
_deferred: ContextVar[bool] = ContextVar("deferred", default=False)
_making = threading.RLock()  # threads that call one layer or model for the first time build it once
# The layers that a first run has built, and that have no values yet.
_waiting: ContextVar[list[AnyLayer] | None] = ContextVar("waiting", default=None)


@contextmanager
def on_meta() -> Iterator[None]:
    """Make weights without memory or values inside the `with` block: the values of a file replace them."""
    token = _deferred.set(True)
    try:
        yield
    finally:
        _deferred.reset(token)


def _in_context(variable: ContextVar[Any]) -> Any:
    """The value of a context variable; None while torch.compile traces, which cannot read one."""
    if compiled_somewhere() and is_compiling():
        return None
    return variable.get()


def deferred() -> bool:
    """True inside `on_meta()` and `first_run()`."""
    return bool(_in_context(_deferred))


@contextmanager
def first_run() -> Iterator[None]:
    """The first run of a layer of layers, on `meta`: it builds those inside, which get memory and values at its end.

    Inside `on_meta()` they wait for the values of the file.
    """
    waiting: list[AnyLayer] = []
    token = _waiting.set(waiting)
    try:
        with on_meta():
            yield
    finally:
        _waiting.reset(token)
        around = _waiting.get()
        if not deferred():
            for layer in waiting:
                _fill(layer)
        elif around is not None:  # a first run within another, whose end is that of both
            around.extend(waiting)


def in_first_run() -> bool:
    """True inside `first_run()`."""
    return _in_context(_waiting) is not None


def building_alone() -> AbstractContextManager[Any]:
    """Within the block no other thread builds: none may see layers that a first run has built on `meta`."""
    return nullcontext() if is_compiling() else _making  # the compiler cannot trace locks


def for_training() -> AbstractContextManager[Any]:
    """Make weights that can train, also where a layer is first called in torch's inference mode."""
    return torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext()


def build_from_modules(layer: AnyLayer, input_shape: Any) -> None:
    """`Layer.build`: make the torch modules on `meta`, then give them memory and values."""
    # In FakeTensorMode nothing has memory, and torch makes no BatchNorm on `meta`.
    with config.device() if not deferred() and detect_fake_mode() is not None else MadeOnMeta():
        layer._make_modules(input_shape)
    layer.built = True
    layer.__dict__["_built_for"] = input_shape
    if not deferred():
        materialize(layer)
        if layer._freezing.is_frozen:  # `build` may be called by hand
            follow_trainable(layer, layer._freezing.above)
        return
    if (waiting := _waiting.get()) is not None:  # also where the `build` of a layer around it calls this one
        waiting.append(layer)
    if layer._policy.variable_type is not torch.get_default_dtype():
        # The output shape is found before the file's values are read: in the type that they will have.
        meta = torch.device("meta")
        _allocate(layer, dict(plain_modules(layer)), Places(meta, meta, meta))


def build_once(layer: AnyLayer, input_shapes: list[Shape], *further: Any) -> None:
    """Make the weights for the shapes of the first input, and of the `further` ones that `build` has arguments for."""
    check_inputs(layer, input_shapes)
    if layer.built and is_compiling():  # the compiler cannot trace locks
        return
    with _making:
        if layer.built:
            return
        before = set(layer._modules.values())
        _run_build(layer, input_shapes, further)
        if not layer._training_mode:  # `eval` was called before there was a module in the layer
            _set_to_eval(set(layer.children()) - before)
        if CODE.owner is not None and not in_first_run() and own_variables(layer):
            Made.note(layer)
        follow_trainable(layer, layer._freezing.above)
        agree_on_policy(layer)
        if layer._is_users:
            move_modules(layer, config.device())
        _refuse_computed(layer)
        if not deferred():
            _fill(layer)
        elif (waiting := _waiting.get()) is not None:
            waiting.append(layer)


def _set_to_eval(modules: Iterable[nn.Module]) -> None:
    """Set modules to evaluation mode, whatever the mode of the call is."""
    with in_mode(None):
        for module in modules:
            module.eval()


def _run_build(layer: AnyLayer, input_shapes: list[Shape], further: tuple[Any, ...]) -> None:
    """Call `build`, whose errors then name the layer. It does not count as code that runs at each call."""
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


def move_modules(layer: AnyLayer, device: torch.device) -> None:
    """Move the tensors of a layer on the CPU, such as those of a user's torch modules, to the device of the weights.

    Parameters stay the same objects. Tensors on another device stay there.
    """
    if device.type in ("cpu", "meta"):
        return

    def moved(tensor: Tensor) -> Tensor:
        return tensor.to(device) if tensor.is_cpu and not sharing().is_sharded(tensor) else tensor

    for _, module in plain_modules(layer):
        module._apply(moved, recurse=False)


def _fill(layer: AnyLayer) -> None:
    """Give values to the tensors that the build left on `meta`, or to all weights by the option `weights`; tie some."""
    with for_training():
        materialize(layer)
    arrays = layer._initial_weights
    if arrays is not None:
        if isinstance(arrays, Keras1Arrays):
            arrays = modern(layer, layer._ordered_weights(), arrays)
        layer.set_weights(arrays)
        layer._initial_weights = None
    if "_tied" in layer.__dict__:
        tie_what_was_given(layer)


def check_inputs(layer: AnyLayer, input_shapes: list[Shape]) -> None:
    """Raise ValueError for an input shape that does not fit the layer's specs, or the shape that it was built for."""
    for shape in input_shapes:
        if not isinstance(shape, tuple):  # a dict of shapes
            return
    facts = facts_of(layer)
    ndim = layer._expected_ndim or facts.input_ndim
    own = InputSpec(ndim=ndim, min_ndim=facts.min_input_ndim, axes=layer._expected_axes)
    given = [] if layer.input_spec is None else as_list(layer.input_spec)
    for index, shape in enumerate(input_shapes):
        of_class = [] if index and ndim else [own]
        for spec in (*of_class, *given[index : index + 1]):
            if spec is None:
                continue
            problem = spec.problem(shape)
            if problem is not None:
                raise ValueError(
                    f"Input {index} is incompatible with layer {layer.name}: {problem} (input shape {tuple(shape)}). "
                    f"{spec.advice(shape)}"
                )


def add_weight(
    layer: AnyLayer,
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
    device = torch.device("meta")
    if not deferred():
        device = parameter_device() if trainable else config.device()
    tensor = torch.empty(shape, dtype=dtype_of(dtype or layer.dtype), device=device)
    path = free_path(layer, name)
    if trainable:
        layer._parameters[path] = nn.Parameter(tensor, requires_grad=tensor.is_floating_point())
    else:
        layer._buffers[path] = tensor
    variable = Variable(layer, name, (path,), IN_ORDER, trainable, initial, regular, constrain)
    layer._added.append(variable)
    if device.type != "meta":
        variable.draw(initial)
    variable.tensors[0]._added_weight = True  # type: ignore[attr-defined]
    return variable.tensors[0]


def _sizes(name: str, shape: Any) -> tuple[Any, ...]:
    """The shape of a weight as a tuple. Raises ValueError for a size that is no integer."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape or ())
    if not all(hasattr(size, "__index__") for size in sizes):
        raise ValueError(f"add_weight: the shape of {name!r} must be integers; found {sizes}.")
    return sizes


def _refuse_in_call(layer: AnyLayer, name: str | None) -> None:
    """Raise ValueError for a weight that the layer's code makes in a call after the first."""
    if CODE.owner is layer and (calls_of(layer) or layer._taken_plainly):
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: its code makes the weight {name!r} in a call, and each call "
            "makes another: make weights in __init__ or build."
        )


def _refuse_computed(layer: AnyLayer) -> None:
    """Raise ValueError for a tensor in the layer's attributes that was computed from weights and would never change."""
    users = {
        name: value
        for name, value in attributes_of(layer).items()
        if name not in NOT_USERS
        and not isinstance(value, PLAIN)
        and (isinstance(value, HOLDERS) or not installed(getattr(value, "__module__", None) or "torch"))
    }
    if users:
        refuse_frozen(f"{type(layer).__name__} {layer.name!r}", users)


def free_path(layer: AnyLayer, name: str) -> str:
    """A free path for a weight of that name, without the layer's own name: a layer of another model has another one."""
    own = layer.name
    if name.startswith((f"{own}_", f"{own}/", f"{own}.")):
        name = name[len(own) + 1 :]
    path = found = name.replace(".", "_").replace("/", "_") or "weight"
    in_use = {*layer._parameters, *layer._buffers, *layer._modules}
    count = 0
    while found in in_use:
        count += 1
        found = f"{path}_{count}"
    return found


def named_shape(first: Any, name: str | None, shape: Any, initializer: Any) -> tuple[str | None, Any, Any]:
    """(name, shape, initializer) of `add_weight`, whose first argument is the name, or the shape as in Keras 3.

    Raises ValueError for an argument that is passed twice.
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
    """The number of shapes that `build` takes after the first: `build(self, query_shape, value_shape)` takes one."""
    parameters = list(inspect.signature(build).parameters.values())[2:]
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)


def materialize(layer: AnyLayer, draw: bool = True, places: Places | None = None) -> None:
    """Give memory and, with `draw`, initial values to the tensors that a layer made on `meta`.

    All others stay as they are, also those of layers inside. A plain torch module draws its own values, by
    `reset_parameters`. `places`: those of now, if the caller has found them. Raises RuntimeError for a module without
    this method.
    """
    if not _any_on_meta(layer.modules()):
        return
    modules = dict(plain_modules(layer))
    waiting = [each for each in own_variables(layer) if any(map(_is_on_meta, each.tensors))] if draw else []
    were_on_meta = list(map(_is_on_meta, further_tensors(layer)))
    _allocate(layer, modules, places or Places.now())
    if any(were_on_meta):
        with torch.no_grad():
            for tensor, was_on_meta in zip(further_tensors(layer), were_on_meta, strict=True):
                if was_on_meta and not tensor.is_meta:  # the user gives memory later to what still is
                    tensor.zero_().requires_grad_(False)
    fresh = [variable for variable in waiting if not any(map(_is_on_meta, variable.tensors))]
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


def _any_on_meta(modules: Iterable[nn.Module]) -> bool:
    """Whether a tensor that one of the modules itself has is on `meta`."""
    for module in modules:
        for tensor in (*module._parameters.values(), *module._buffers.values()):
            if tensor is not None and tensor.is_meta:
                return True
    return False


def _reset_modules(layer: AnyLayer, modules: dict[str, nn.Module], variables: list[Variable]) -> None:
    """Let the plain torch modules of these weights draw their own values. Raises RuntimeError where one cannot."""
    prefixes = ["".join(variable.name.rpartition(".")[:2]) for variable in variables]
    for prefix in dict.fromkeys(prefixes):
        module = modules[prefix]
        if not hasattr(module, "reset_parameters"):
            raise _without_values(layer, module, variables)
        module.reset_parameters()  # type: ignore[operator]


def _without_values(layer: AnyLayer, module: nn.Module, variables: list[Variable]) -> RuntimeError:
    for variable in variables:
        if variable.option is not None:
            return RuntimeError(
                f"{type(layer).__name__} {layer.name!r}: nothing gives the weight {variable.name} its first "
                f"values: the class needs the option {variable.option}_initializer, or an _initializer_of that "
                f"returns an initializer for {variable.option!r}."
            )
    return RuntimeError(
        f"{layer.name}: its {type(module).__name__} was made on the device meta, and has no reset_parameters "
        "that could give it values: make it in __init__."
    )


class Places(NamedTuple):
    """The devices that what a layer has made on `meta` gets memory on. `constants`: what no file has values for."""

    parameters: torch.device
    buffers: torch.device
    constants: torch.device

    @staticmethod
    def now() -> Places:
        device = config.device()
        constants = config.device_of_constants(device)
        return Places(parameter_device(device), device, constants)

    def of(self, tensor: Tensor) -> torch.device:
        """The device of a weight."""
        return self.parameters if isinstance(tensor, nn.Parameter) else self.buffers


def _allocate(layer: AnyLayer, modules: dict[str, nn.Module], places: Places) -> None:
    """Give memory, in the layer's type, to the tensors on `meta` of the layer and the plain modules inside it.

    Every tensor stays the same object, which attributes, lists and other modules may refer to. A buffer that is no
    weight, such as the state of a stateful layer, becomes zero.
    """
    floating = layer._policy.variable_type
    for module in modules.values():
        if module is not layer and type(module)._apply is not nn.Module._apply:
            # Such as torch's recurrent modules, which also list their weights.
            module._apply(lambda tensor: _with_memory(floating, places.of(tensor), tensor))
            continue
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):
            if tensor is None:
                continue
            is_state = name in module._non_persistent_buffers_set
            made = _with_memory(floating, places.constants if is_state else places.of(tensor), tensor)
            if made is not tensor:
                become(tensor, made.zero_() if is_state else made)


class Trial(nn.Module):
    """A module to see what registering a parameter does."""

    _call_nodes = ()  # as layers have them: it is none of the modules that a user's code makes


def parameter_device(device: torch.device | None = None) -> torch.device:
    """Where a module of torch has a parameter that is made on a device; None: on that for weights.

    It is another one where `register_parameter` was replaced, as within accelerate's `init_empty_weights`.
    """
    device = device or config.device()
    if nn.Module.register_parameter is REGISTER:
        return device
    module = Trial()
    module.register_parameter("parameter", nn.Parameter(torch.empty(0, device=device)))
    return module.get_parameter("parameter").device


def _with_memory(floating: torch.dtype, device: torch.device, tensor: Tensor) -> Tensor:
    """An empty tensor like one on `meta`, of the type `floating` if that is of floating-point numbers; others as is."""
    if not tensor.is_meta or is_lazy(tensor):
        return tensor
    # Not by `empty_like`, which on `meta` imports torch's compiler.
    kind = floating if tensor.is_floating_point() else tensor.dtype
    return torch.empty_strided(tensor.shape, tensor.stride(), device=device, dtype=kind)


def become(tensor: Tensor, other: Tensor) -> None:
    """Give a tensor the memory of another one; it stays the same object, of its class and with its attributes."""
    if hasattr(tensor, "fake_device"):  # one of FakeTensorMode has no memory, and torch swaps none
        tensor.fake_device = other.device  # type: ignore[attr-defined]
        return
    made = nn.Parameter(other, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else other
    if type(tensor) not in (nn.Parameter, Tensor):
        made.__class__ = type(tensor)  # type: ignore[assignment]
        vars(made).update(vars(tensor))
    torch.utils.swap_tensors(tensor, made)

"""Output shapes, by running a layer's `forward` on `meta` tensors: no memory, no arithmetic.

Each unknown size is tried with two numbers. An axis of the output that differs between the two runs is unknown, the
others are known. A layer with a time loop gives its shapes in `compute_output_shape` instead, and the commonest layers
in `shape_from`: what torch does on `meta` imports its compiler, some seconds of a program's start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import is_lazy

from torchkeras import config
from torchkeras.base.dtype_names import dtype_of
from torchkeras.base.interrupts import whole_imports
from torchkeras.base.nested import bound, leaves, of_first, put_together, taken_apart
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.building.building import deferred, first_run, in_first_run, materialize
from torchkeras.engine.building.meta_run import run_on_meta
from torchkeras.engine.dtypes import cast_inputs, is_mixed
from torchkeras.engine.facts import facts_of, is_own
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape, as_list, unpacked

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

# Far apart, and divisible by what strides, pools and reshapes divide by.
PROBES = (240, 1680)
UNKNOWN = 2520  # in a first run, where layers are built: a size that no weight can depend on


def infer(layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """Symbolic outputs and output masks of a built layer for symbolic inputs.

    Raises ValueError, naming the layer and the input shapes, when the layer cannot compute on such inputs.
    """
    if has_unbuilt(layer):
        _build_inside(layer, inputs, masks, arguments)
    inputs = cast_inputs(layer, inputs)
    asks_mask = overrides(layer, "compute_mask")
    outputs, mask = _stated(layer, inputs), None
    if outputs is None:
        (first, mask), (second, _) = (_run_on_meta(layer, inputs, masks, arguments, size, True) for size in PROBES)
        outputs = merged(
            first, second, f"{type(layer).__name__} {layer.name!r} must give a tensor or a list of tensors"
        )
    elif asks_mask:
        _, mask = _run_on_meta(layer, inputs, masks, arguments, PROBES[0], False)
    if not asks_mask and any(m is not None for m in masks):
        mask = layer.compute_mask(of_first(inputs, arguments, as_list(inputs)), of_first(inputs, arguments, masks))
    tensors = leaves(outputs)
    return outputs, [None] * len(tensors) if mask is None else _output_masks(tensors, mask)


def has_unbuilt(layer: Layer) -> bool:
    """Whether a layer holds layers that were not called yet, or modules such as `nn.LazyLinear`."""
    for module in layer.modules():
        if module is not layer and getattr(module, "built", None) is False:
            return True
    return _has_lazy(layer)


def _has_lazy(layer: torch.nn.Module) -> bool:
    return any(map(is_lazy, (*layer.parameters(), *layer.buffers())))


def _build_inside(layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> None:
    """Run a layer of layers for the first time, on `meta`, which builds what it calls."""
    lazy = _has_lazy(layer)
    if lazy:
        _move_lazy_to_meta(layer)
    with first_run():
        _run_on_meta(layer, inputs, masks, arguments, UNKNOWN, True)
    if lazy and not deferred():
        for module in reversed([*layer.modules()]):
            if isinstance(module, AnyLayer):
                materialize(module)


def _move_lazy_to_meta(layer: Layer) -> None:
    """Replace the tensors that modules such as `nn.LazyLinear` have yet to make by such on `meta`."""
    for module in layer.modules():
        held: tuple[Any, Any] = (module._parameters, module._buffers)
        for tensors in held:
            for name, tensor in tensors.items():
                if tensor is not None and is_lazy(tensor):
                    tensors[name] = type(tensor)(tensor.requires_grad, device="meta", dtype=tensor.dtype)  # type: ignore[reportCallIssue]


def seen_shape(shape: Shape) -> Shape:
    """The shape of a tensor in a first run as the graph has it: what is unknown there is None."""
    return tuple(None if size == UNKNOWN else size for size in shape)


def overrides(layer: Layer, method: str) -> bool:
    """Whether a layer's class has a method of its own in place of `Layer`'s."""
    first = next(cls for cls in reversed(type(layer).__mro__) if method in cls.__dict__)
    return getattr(type(layer), method) is not first.__dict__[method]


# What torch says where code asks for values on `meta`, and what it is to read.
NO_VALUES = ("cannot be called on meta tensors", "can't convert meta device type tensor to numpy")
AT_VALUES = (
    "its code looks at values, and shapes are found without any. Compute with torch alone: torch.tanh(x) and not "
    "np.tanh(x), torch.where(x > 0, a, b) and not `if`, no .item() and .numpy()."
)

_running: ContextVar[Any] = ContextVar("the layer whose shape is found by running it", default=None)


@contextmanager
def by_running(layer: Layer) -> Iterator[None]:
    """Inside the block a layer is not asked by `compute_output_shape`, which it came from."""
    token = _running.set(layer)
    try:
        yield
    finally:
        _running.reset(token)


def _stated(layer: Layer, inputs: Any) -> Any:
    """Outputs whose shape needs no run: the input's, or what the layer's own `compute_output_shape` says; else None."""
    several = isinstance(inputs, (list, tuple))
    first: KerasTensor = inputs[0] if several else inputs
    facts, is_floating = facts_of(layer), first.dtype.is_floating_point
    if facts.keeps_shape and is_floating and not layer._by_call:
        return KerasTensor(first.shape, first.dtype)
    dtype = first.dtype if is_floating else layer._policy.compute_type
    try:
        if not several and facts.says("shape_from"):
            return KerasTensor(facts.shape_from(first.shape), dtype)
        if not _computes_shapes(layer):
            return None
        found: Any = layer.compute_output_shape([tensor.shape for tensor in inputs] if several else first.shape)
    except ValueError as error:
        raise ValueError(f"{type(layer).__name__} {layer.name!r}: {error}") from error
    if not _is_all_ours(layer):
        layer.__dict__["_is_unseen"] = True
    return _symbolic_of_shapes(found, dtype)


def _computes_shapes(layer: Layer) -> bool:
    """Whether a layer is to be asked for its `compute_output_shape`: one of its own, which does not run the layer."""
    return _running.get() is not layer and overrides(layer, "compute_output_shape")


def _run_on_meta(
    layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any], size: int, compute: bool
) -> Any:
    """Outputs (if asked to compute them) and output mask for unknown sizes of `size`, on `meta`."""
    tensors = [_meta(tensor.shape, tensor.dtype, size) for tensor in as_list(inputs)]
    args, kwargs = bound(tensors if isinstance(inputs, (list, tuple)) else tensors[0], arguments)
    first, mask = (*args, tensors[0])[0], None
    if any(m is not None for m in masks):
        mask = of_first(inputs, arguments, [_meta_mask(m, size) for m in masks])
        if "mask" in layer._call_parameters:
            kwargs["mask"] = mask

    def outputs_and_mask(called: Callable[..., Any]) -> tuple[Any, Any]:
        outputs = called(*args, **kwargs) if compute else None
        return outputs, layer.compute_mask(first, mask)

    run = _way_to_run(layer)
    try:
        with whole_imports():  # of torch's compiler, by what torch does on `meta`
            found = run(layer, outputs_and_mask)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        problem = _cannot_compute(layer, inputs, error)
        if problem is None:
            raise
        raise problem from error
    _note_changed_inputs(layer, tensors)
    return found


def _way_to_run(layer: Layer) -> Callable[[Layer, Callable[[Callable[..., Any]], Any]], Any]:
    """`_run_ours` for a layer of this package's code that no other thread can be using; else `_run_theirs`."""
    in_use = layer._call_nodes or layer._taken_plainly  # another thread must not meet tensors on `meta`
    if not in_use and _is_all_ours(layer):
        return _run_ours
    return _run_theirs


def _cannot_compute(layer: Layer, inputs: Any, error: Exception) -> Exception | None:
    """The error of a run as the layer's, with the shape of its inputs; None where it is in the layer's own words."""
    what = f"{type(layer).__name__} {layer.name!r}"
    reason = (str(error).strip().splitlines() or [repr(error)])[0]
    looks = any(words in reason for words in NO_VALUES)
    if reason.startswith(what) or (isinstance(error, TypeError) and not looks):
        return None
    shape = unpacked([tensor.shape for tensor in as_list(inputs)])
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{what} cannot compute on input shape {shape}: {AT_VALUES if looks else with_probes(reason)}")


def _note_changed_inputs(layer: Layer, tensors: list[torch.Tensor]) -> None:
    """Remember which inputs a run has changed in place."""
    changed = {index for index, tensor in enumerate(tensors) if not tensor.is_inference() and tensor._version}
    if changed:
        layer.__dict__["_changed_inputs"] = layer._changed_inputs | changed


def with_probes(reason: str) -> str:
    """Torch's error; where it names the size that stands for an unknown one, the text says so."""
    sizes = [size for size in (*PROBES, UNKNOWN) if re.search(rf"\b{size}\b", reason)]
    return f"{reason} ({sizes[0]} stands for None.)" if sizes else reason


def _is_all_ours(layer: Layer) -> bool:
    """Whether a layer, with all inside it, is of this package and of torch: none runs a user's code."""
    return all(map(_is_ours, layer.modules()))


def _is_ours(module: torch.nn.Module) -> bool:
    if isinstance(module, AnyLayer) and facts_of(module).runs_users_code:
        return False
    return is_own(type(module)) or type(module).__module__.startswith("torch.nn.")


def _run_ours(layer: Layer, compute: Callable[[Callable[..., Any]], Any]) -> Any:
    """A run of modules that use the tensors they have registered and no others; `meta` ones take their place."""
    state = {name: _in_compute_type(layer, t) for name, t in (*layer.named_parameters(), *layer.named_buffers())}

    def call(*args: Any, **kwargs: Any) -> Any:
        return torch.func.functional_call(layer, state, args, kwargs)

    with torch.no_grad():
        return compute(call)


def _run_theirs(layer: Layer, compute: Callable[[Callable[..., Any]], Any]) -> Any:
    """A run of a user's code, which may hold tensors anywhere, and make them where it likes, but no weights."""
    known = set(layer._parameters)
    tensors = [tensor for tensor in (*layer.parameters(), *layer.buffers()) if not is_lazy(tensor)]
    found = run_on_meta(layer, lambda: compute(layer), {id(t): _in_compute_type(layer, t) for t in tensors})
    made = [name for name in layer._parameters if name not in known]
    if made:
        raise ValueError(f"it makes the weight {made[0]!r}, and each call another. Make weights in __init__ or build.")
    return found


def _in_compute_type(layer: Layer, tensor: torch.Tensor) -> torch.Tensor:
    """A weight on `meta`, as Keras casts it: so the outputs get the types that Keras gives them."""
    cast = is_mixed(layer) and tensor.is_floating_point() and not in_first_run()
    return tensor.to("meta", layer._policy.compute_type if cast else tensor.dtype)


def filled(shape: Shape, size: int) -> tuple[int, ...]:
    """A shape with the same size for all axes that are unknown."""
    return tuple(size if known is None else known for known in shape)


def _meta(shape: Shape, dtype: torch.dtype, size: int) -> torch.Tensor:
    return torch.empty(filled(shape, size), dtype=dtype, device="meta")


def _meta_mask(mask: Any, size: int) -> torch.Tensor | None:
    return None if mask is None else _meta(mask.shape, torch.bool, size)


def merged(first: Any, second: Any, rule: str) -> Any:
    """Symbolic tensors in the form of the outputs of both runs; a plain tuple of them is a list, as in Keras.

    Raises TypeError for outputs without a tensor; it begins with the `rule` that there must be some.
    """
    form, tensors = taken_apart(first)
    if not tensors:
        raise TypeError(f"{rule}; found {type(first).__name__}.")
    pairs = zip(tensors, leaves(second), strict=True)
    outputs = put_together(form, [_symbolic_of_both(one, other) for one, other in pairs])
    return list(outputs) if type(outputs) is tuple else outputs


def _symbolic_of_both(first: torch.Tensor, second: torch.Tensor) -> KerasTensor:
    """A symbolic tensor with the sizes that were the same in both runs."""
    sizes = zip(first.shape, second.shape, strict=True)
    return KerasTensor([size if size == other else None for size, other in sizes], first.dtype)


def _output_masks(outputs: list[KerasTensor], mask: Any) -> list[Any]:
    """A symbolic mask for each output that has one. A single mask is that of the first output."""
    masks = list(mask) if isinstance(mask, (list, tuple)) else [mask]
    masks += [None] * (len(outputs) - len(masks))
    return [
        None if m is None else KerasTensor(output.shape[: len(m.shape)], torch.bool)
        for output, m in zip(outputs, masks, strict=True)
    ]


def symbolic(input_shape: Any) -> Any:
    """Symbolic tensors for one shape or a list of shapes."""
    return _symbolic_of_shapes(input_shape, dtype_of(config.floatx()))


def _symbolic_of_shapes(shapes: Any, dtype: torch.dtype) -> Any:
    """A symbolic tensor of a shape, or a list of them for a list of shapes."""
    if isinstance(shapes, (list, tuple)) and shapes and isinstance(shapes[0], (list, tuple)):
        return [KerasTensor(shape, dtype) for shape in shapes]
    return KerasTensor(shapes, dtype)

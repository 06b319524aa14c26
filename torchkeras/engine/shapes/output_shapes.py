"""Output shapes, found by running a layer's `forward` on `meta` tensors: no memory, no arithmetic.

Two runs put two numbers in place of each unknown size. An axis of the output that differs between the runs is unknown,
the others are known. Layers with a time loop return their shapes in `compute_output_shape` instead. So do the commonest
layers in `shape_from`: running on `meta` makes torch import its compiler, which takes seconds at a program's start.

Within `on_values()` layers compute with values instead: ones, in small tensors on the CPU.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import is_lazy

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.interrupts import whole_imports
from torchkeras.base.nested import POSITIONAL, bound, leaves, mapped, of_first, put_together, taken_apart
from torchkeras.base.torch_tables import own_buffers, own_parameters
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.building.building import deferred, first_run, in_first_run, materialize
from torchkeras.engine.building.meta_run import CPU, META, copied, run_on_copies, run_on_meta
from torchkeras.engine.carried_masks import mark_masks, masks_after
from torchkeras.engine.dtypes import cast_inputs, is_mixed
from torchkeras.engine.facts import Facts, computes_by_call, facts_of, is_own, takes
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape, as_list, calls_of, unpacked
from torchkeras.metrics.metric import uncounted

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

# They stand for an unknown size: far apart, and divisible by what strides, pools and reshapes divide by.
PROBES = (240, 1680)
UNKNOWN = 2520  # the same in a first run, which builds layers: no weight may depend on it


@dataclass(frozen=True)
class Probe:
    """What layers run on for their shapes: the device, two numbers in place of an unknown size, that of a first run."""

    device: torch.device
    sizes: tuple[int, int]
    unknown: int


ON_META = Probe(META, PROBES, UNKNOWN)
ON_VALUES = Probe(CPU, (24, 48), 264)
_probe: ContextVar[Probe] = ContextVar("what layers run on for their shapes", default=ON_META)


@contextmanager
def on_values() -> Iterator[None]:
    """Inside the block layers run with values for their shapes: small tensors of ones, and copies of all others.

    No weight and no state changes, and torch's random numbers stay for those who ask next.
    """
    token = _probe.set(ON_VALUES)
    try:
        yield
    finally:
        _probe.reset(token)


def infer(layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """Symbolic outputs and output masks of a built layer for symbolic inputs.

    Raises ValueError, naming the layer and the input shapes, when the layer cannot compute on such inputs.
    """
    if has_unbuilt(layer):
        _build_inside(layer, inputs, masks, arguments)
    inputs = cast_inputs(layer, inputs)
    run = partial(_run_for_shapes, layer, inputs, masks, arguments)
    facts = facts_of(layer)
    carries = facts.carries_masks
    own_mask = carries or overrides(layer, "compute_mask")
    first = inputs if POSITIONAL not in arguments else of_first(inputs, arguments, as_list(inputs))
    outputs, mask = _without_run(layer, facts, first), None
    if outputs is None:
        (outputs, mask), (others, _) = map(run, _probe.get().sizes)
        outputs = merged(
            outputs, others, f"{type(layer).__name__} {layer.name!r} must give a tensor or a list of tensors"
        )
        if type(outputs) is tuple and not facts.gives_tuples:
            outputs = list(outputs)
    elif own_mask and not (carries and _is_without_masks(layer, masks)):
        _, mask = run(_probe.get().sizes[0], compute=carries and next(_inside(layer), None) is not None)
    if not own_mask and any(m is not None for m in masks):
        mask = layer.compute_mask(first, of_first(inputs, arguments, masks))
    tensors = leaves(outputs)
    if mask is None:
        return outputs, [None] * len(tensors)
    return outputs, output_masks(tensors, mask)


def _is_without_masks(layer: Layer, masks: list[Any]) -> bool:
    """Whether no mask comes to a layer, and neither the layer nor one inside it makes any."""
    return all(mask is None for mask in masks) and not any(each._makes_masks for each in (layer, *_inside(layer)))


def _inside(layer: Layer) -> Iterator[Layer]:
    """The layers inside a layer."""
    return (each for each in itertools.islice(layer.modules(), 1, None) if isinstance(each, AnyLayer))


def has_unbuilt(layer: Layer) -> bool:
    """Whether a layer contains layers that were not called yet, or modules such as `nn.LazyLinear`."""
    for module in layer.modules():
        if (module is not layer and getattr(module, "built", None) is False) or _is_lazy(module):
            return True
    return False


def _is_lazy(module: torch.nn.Module) -> bool:
    """Whether a module itself has a tensor whose shape its first call decides."""
    tensors: list[Any] = [*module._parameters.values(), *module._buffers.values()]
    return any(map(is_lazy, tensors))


def _build_inside(layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> None:
    """Run a layer of layers for the first time, on `meta`, which builds the layers that it calls."""
    lazy = any(map(_is_lazy, layer.modules()))
    if lazy:
        _move_lazy_to_meta(layer)
    with first_run():
        _run_for_shapes(layer, inputs, masks, arguments, _probe.get().unknown)
    if lazy and not deferred():
        for module in reversed([*layer.modules()]):
            if isinstance(module, AnyLayer):
                materialize(module)


def _move_lazy_to_meta(layer: Layer) -> None:
    """Move the lazy tensors of modules such as `nn.LazyLinear` to `meta`."""
    for module in layer.modules():
        kinds: tuple[Any, Any] = (own_parameters(module), own_buffers(module))
        for tensors in kinds:
            for name, tensor in tensors.items():
                if is_lazy(tensor):
                    tensors[name] = type(tensor)(tensor.requires_grad, device="meta", dtype=tensor.dtype)  # type: ignore[reportCallIssue]


def seen_shape(shape: Shape) -> Shape:
    """The shape of a tensor in a first run as the graph has it: None for an unknown size."""
    return tuple(None if size == _probe.get().unknown else size for size in shape)


def overrides(layer: Layer, method: str) -> bool:
    """Whether a layer's class overrides a method of `Layer`."""
    for base in reversed(type(layer).__mro__):
        if method in vars(base):
            return getattr(type(layer), method) is not vars(base)[method]
    return False


STANDS_FOR_NONE = "stands for None."  # in errors, after the number
# The texts of torch's errors where code asks for values on `meta`, and the advice that we give for them.
NO_VALUES = (
    *("cannot be called on meta tensors", "can't convert meta device type tensor to numpy"),
    "register_meta function for torch.nonzero() raises",
)
AT_VALUES = (
    "its code looks at values, and shapes are found without any. Compute with torch alone: torch.tanh(x) and not "
    "np.tanh(x), torch.where(x > 0, a, b) and not `if`, no .item() and .numpy(). Or write compute_output_shape."
)

_running: ContextVar[Any] = ContextVar("the layer whose shape is found by running it", default=None)


@contextmanager
def by_running(layer: Layer) -> Iterator[None]:
    """Inside the block the layer's `compute_output_shape` is not called: the call came from there."""
    token = _running.set(layer)
    try:
        yield
    finally:
        _running.reset(token)


def _without_run(layer: Layer, facts: Facts, inputs: Any) -> Any:
    """Outputs whose shape needs no run: that of the input, or of the layer's own `compute_output_shape`; else None."""
    several = isinstance(inputs, (list, tuple))
    if several:
        first, shape = inputs[0], [tensor.shape for tensor in inputs]
    else:
        first, shape = inputs, inputs.shape
    dtype = first.dtype
    if not dtype.is_floating_point and not facts.moves:
        dtype = layer._policy.compute_type
    elif facts.keeps_shape and not computes_by_call(layer):
        return KerasTensor(first.shape, dtype)
    try:
        if not several and facts.says("shape_from"):
            return KerasTensor(facts.shape_from(first.shape), dtype)
        if _running.get() is layer or not overrides(layer, "compute_output_shape"):
            return None  # the layer has none of its own, or its own runs the layer
        found: Any = layer.compute_output_shape(shape)
    except ValueError as error:
        raise ValueError(f"{type(layer).__name__} {layer.name!r}: {error}") from error
    if not _is_all_ours(layer):
        layer.__dict__["_is_unseen"] = True
    return _symbolic_of_shapes(found, dtype)


def _run_for_shapes(
    layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any], size: int, compute: bool = True
) -> Any:
    """(outputs, output mask), with `size` for each unknown size; without `compute`, outputs are None."""
    tensors = [_sample(tensor.shape, tensor.dtype, size) for tensor in as_list(inputs)]
    args, kwargs = bound(tensors if isinstance(inputs, (list, tuple)) else tensors[0], arguments)
    first, mask, carries = (*args, tensors[0])[0], None, facts_of(layer).carries_masks
    if any(m is not None for m in masks):
        mask = mapped(of_first(inputs, arguments, masks), lambda m: _sample(m.shape, torch.bool, size))
        if carries:
            mark_masks(tensors, (m if m is None else _sample(m.shape, torch.bool, size) for m in masks))
        if takes(layer, "mask"):
            kwargs["mask"] = mask

    def outputs_and_mask(called: Callable[..., Any]) -> tuple[Any, Any]:
        outputs = None
        if compute:
            outputs = called(*args, **kwargs)
        if carries and compute:
            return outputs, masks_after(layer, first, mask, outputs)
        return outputs, layer.compute_mask(first, mask)

    run = _way_to_run(layer, tensors)
    try:
        with whole_imports(), uncounted():  # torch imports its compiler when it runs on `meta`
            found = run(layer, outputs_and_mask)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        problem = _cannot_compute(layer, inputs, error)
        if problem is None:
            raise
        raise problem from error
    _note_changed_inputs(layer, tensors)
    return found


def _way_to_run(
    layer: Layer, samples: Sequence[torch.Tensor]
) -> Callable[[Layer, Callable[[Callable[..., Any]], Any]], Any]:
    """`_run_ours` for a layer of this package's code that no other thread can be using; else `_run_theirs`.

    `_run_on_values` within `on_values()`.
    """
    if _probe.get() is ON_VALUES:
        return partial(_run_on_values, samples)
    in_use = calls_of(layer) or layer._taken_plainly  # another thread must not meet tensors on `meta`
    if not in_use and _is_all_ours(layer):
        return _run_ours
    return _run_theirs


def _cannot_compute(layer: Layer, inputs: Any, error: Exception) -> Exception | None:
    """The error of a run as one of the layer, with its input shape; None to raise the error as it is."""
    what, kind, reason = f"{type(layer).__name__} {layer.name!r}", kind_of(error), first_line(error)
    if reason.startswith(what):
        return None
    if any(text in reason for text in NO_VALUES):
        advice = AT_VALUES
    elif kind is TypeError:
        return None
    else:
        advice = with_probes(reason)
    shape = unpacked([tensor.shape for tensor in as_list(inputs)])
    return kind(f"{what} cannot compute on input shape {shape}: {advice}")


def kind_of(error: Exception) -> type[Exception]:
    """The class for an error that takes the place of this one: TypeError for a TypeError, else ValueError."""
    return TypeError if isinstance(error, TypeError) else ValueError


def first_line(error: Exception) -> str:
    """The first line of an error's text; its `repr` if it has none."""
    return (str(error).strip().splitlines() or [repr(error)])[0]


def _note_changed_inputs(layer: Layer, tensors: list[torch.Tensor]) -> None:
    """Remember which inputs a run has changed in place."""
    changed = {index for index, tensor in enumerate(tensors) if not tensor.is_inference() and tensor._version}
    if changed:
        layer.__dict__["_changed_inputs"] = layer._changed_inputs | changed


def with_probes(reason: str) -> str:
    """The text of torch's error; if it names a number that stands for an unknown size, it ends by saying so."""
    for size in (*_probe.get().sizes, _probe.get().unknown):
        if re.search(rf"\b{size}\b", reason):
            return f"{reason} ({size} {STANDS_FOR_NONE})"
    return reason


def _is_all_ours(layer: Layer) -> bool:
    """Whether a layer and all modules inside it come from this package or torch, so that none runs a user's code."""
    return all(map(_is_ours, layer.modules()))


def _is_ours(module: torch.nn.Module) -> bool:
    if isinstance(module, AnyLayer) and facts_of(module).runs_users_code:
        return False
    return is_own(type(module)) or type(module).__module__.startswith("torch.nn.")


def _run_ours(layer: Layer, compute: Callable[[Callable[..., Any]], Any]) -> Any:
    """A run of modules that use no tensors but those that they have registered; `meta` tensors take their place."""
    state = {name: _in_compute_type(layer, t) for name, t in (*layer.named_parameters(), *layer.named_buffers())}

    def call(*args: Any, **kwargs: Any) -> Any:
        return torch.func.functional_call(layer, state, args, kwargs)

    with torch.no_grad():
        return compute(call)


def _run_theirs(layer: Layer, compute: Callable[[Callable[..., Any]], Any]) -> Any:
    """A run of a user's code, which may use and make tensors anywhere, but must not make weights."""
    known = set(own_parameters(layer))
    on_meta = {id(tensor): _in_compute_type(layer, tensor) for tensor in _tensors_of(layer)}
    found = run_on_meta(layer, lambda: compute(layer), on_meta)
    for name in own_parameters(layer):
        if name not in known:
            raise ValueError(f"it makes the weight {name!r}, and each call another. Make weights in __init__ or build.")
    return found


def _run_on_values(samples: Sequence[torch.Tensor], layer: Layer, compute: Callable[[Callable[..., Any]], Any]) -> Any:
    """A run that computes with these samples of the inputs, and with copies of all other tensors."""
    dtype = layer._policy.compute_type if is_mixed(layer) else None
    copies = {id(tensor): copied(tensor, dtype) for tensor in _tensors_of(layer)}
    known = {**{id(sample): sample for sample in samples}, **copies}
    return run_on_copies(layer, lambda: compute(layer), known, dtype)


def _tensors_of(layer: Layer) -> Iterator[torch.Tensor]:
    """The tensors of a layer and of those inside it that have a shape."""
    return (tensor for tensor in (*layer.parameters(), *layer.buffers()) if not is_lazy(tensor))


def _in_compute_type(layer: Layer, tensor: torch.Tensor) -> torch.Tensor:
    """A weight on `meta`, cast as Keras casts it, so that the outputs get the types that Keras gives them."""
    if is_mixed(layer) and tensor.is_floating_point() and not in_first_run():
        return tensor.to("meta", layer._policy.compute_type)
    return tensor.to("meta", tensor.dtype)


def filled(shape: Shape, size: int) -> tuple[int, ...]:
    """A shape with `size` for each unknown size."""
    return tuple(size if known is None else known for known in shape)


def _sample(shape: Shape, dtype: torch.dtype, size: int) -> torch.Tensor:
    """A tensor for a run, of ones where there are values, with `size` for each unknown size."""
    make = torch.empty if _probe.get().device == META else torch.ones
    return make(filled(shape, size), dtype=dtype, device=_probe.get().device)


def merged(first: Any, second: Any, rule: str) -> Any:
    """Symbolic tensors in the form of the outputs of two runs.

    Raises TypeError for outputs without a tensor; its text begins with the `rule` that there must be some.
    """
    form, tensors = taken_apart(first)
    if not tensors:
        raise TypeError(f"{rule}; found {type(first).__name__}.")
    pairs = zip(tensors, leaves(second), strict=True)
    return put_together(form, [_symbolic_of_both(one, other) for one, other in pairs])


def _symbolic_of_both(first: torch.Tensor, second: torch.Tensor) -> KerasTensor:
    """A symbolic tensor with the sizes that were the same in both runs."""
    sizes = zip(first.shape, second.shape, strict=True)
    return KerasTensor([size if size == other else None for size, other in sizes], first.dtype)


def output_masks(outputs: list[KerasTensor], mask: Any) -> list[Any]:
    """A symbolic mask, or None, for each output. A single mask is that of the first output."""
    masks = as_list(mask)
    masks += [None] * (len(outputs) - len(masks))
    return [
        None if m is None else KerasTensor(output.shape[: len(m.shape)], torch.bool)
        for output, m in zip(outputs, masks, strict=True)
    ]


def symbolic(input_shape: Any) -> Any:
    """Symbolic tensors for one shape or a list of shapes."""
    return _symbolic_of_shapes(input_shape, dtype_of(config.floatx()))


def _symbolic_of_shapes(shapes: Any, dtype: torch.dtype) -> Any:
    """A symbolic tensor for one shape, or a list of them for a list of shapes, in which lists stay lists."""
    if isinstance(shapes, (list, tuple)) and shapes and isinstance(shapes[0], (list, tuple)):
        return [_symbolic_of_shapes(shape, dtype) for shape in shapes]
    return KerasTensor(shapes, dtype)

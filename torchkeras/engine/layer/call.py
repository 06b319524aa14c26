"""`Calling`: what a call of a layer is, on symbolic tensors a node of the graph, on real ones a computation."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from torchkeras.base.dtype_names import dtype_name, dtype_of
from torchkeras.base.nested import POSITIONAL, leaves, mapped, taken_apart, tensors_in
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.building.building import Building, in_first_run
from torchkeras.engine.dtypes import by_policy, follows_policy
from torchkeras.engine.layer.added_losses import Adding
from torchkeras.engine.layer.call_views import Calls
from torchkeras.engine.modes import call_in_mode, in_mode
from torchkeras.engine.shapes import output_shapes
from torchkeras.engine.symbolic.axis_order import Layout, convert, to_channels_first, to_keras
from torchkeras.engine.symbolic.tensor import (
    History,
    KerasTensor,
    Node,
    Shape,
    as_list,
    unpacked,
)

_module_call = nn.Module.__call__
MOST_TAKEN = 64  # shapes of inputs that a layer remembers


class Calling(Calls, Adding, Building):
    """The part of `Layer` that is called."""

    _call_signature: ClassVar[inspect.Signature]
    _call_parameters: ClassVar[frozenset[str]] = frozenset()
    _takes_any: ClassVar[bool] = False  # whether `call` takes keyword arguments of any name

    _outbound_nodes: list[Node]
    _changed_inputs: frozenset[int] = frozenset()  # those that its code changes in place, by number
    _is_unseen: bool = False  # whether it runs a user's code that was not run when its output's shape was found

    _infer_outputs = output_shapes.infer  # without adding a node

    def _call_module(self, *args: Any, **kwargs: Any) -> Any:
        """Torch's own call: hooks, then `forward`."""
        return call_in_mode(self, _module_call, self, *args, **kwargs)

    # What generated code calls: the first where the fact `in_place` may be used in its stead, and the second where
    # `before_relu` may, the relu then being done by the next layer, in `_call_rectified`.
    _call_overwriting = _call_unrectified = _call_module

    def _call_in_mode(self, training: bool, *args: Any, **kwargs: Any) -> Any:
        """As `_call_module`, with the layer and all inside in training mode or not."""
        with in_mode(training, self):
            return self._call_module(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a node to the graph (symbolic inputs), or compute (real ones); weights are made at the first call.

        `training`: True or False for this call, whatever mode the layer is in; None for its mode. It reaches the layers
        inside. The other arguments are those of `call`, or `forward`.
        """
        if (
            not kwargs
            and len(args) == 1
            and type(args[0]) is torch.Tensor
            and not (compiled_somewhere() and is_compiling())
        ):
            if (args[0].shape, args[0].dtype) in self._taken_plainly:
                return self._call_module(args[0])
        elif symbolic := list(tensors_in((args, kwargs))):
            return self._call_symbolically(symbolic, *args, **kwargs)
        training = self._training_of(kwargs)
        if training is None or not (self._is_users or self._modules or "training" not in self._call_parameters):
            return self._compute(*args, **kwargs)
        with in_mode(training, self):
            return self._compute(*args, **kwargs)

    def _training_of(self, kwargs: dict[str, Any]) -> bool | None:
        """What a call says about training; taken out of its arguments where the layer's own code does not take it."""
        training = kwargs.get("training")
        if not (training is None or isinstance(training, (bool, np.bool_)) or training in (0, 1)):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: training must be True, False or None; found {training!r}."
            )
        if "training" not in self._call_parameters:
            kwargs.pop("training", None)
        return None if training is None else bool(training)

    def _compute(self: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = self._tensors_checked(args, kwargs)
        compute = partial(in_keras_order, self._facts.layout, self._call_module)
        policed = self._tells_policy and tensors and follows_policy(self) and not in_first_run()
        if policed:
            compute = partial(by_policy, self, compute)
        if compiled_somewhere() and is_compiling():
            return compute(*args, **kwargs)
        try:
            outputs = compute(*args, **kwargs)
        except RuntimeError as error:
            self._refuse_type(tensors, error)
            raise
        if not policed:
            self._remember(args, kwargs)
        return outputs

    def _refuse_type(self: Any, tensors: list[Any], error: RuntimeError) -> None:
        """Raise TypeError, with advice, when torch's error is of tensors whose type is not that of the weights."""
        own = next((each.dtype for each in self.parameters() if each.is_floating_point()), None)
        other = next((each.dtype for each in tensors if each.dtype != own), None)
        of_types = any(word in str(error) for word in ("dtype", "scalar type", "type ("))
        if own is not None and other is not None and of_types:
            raise TypeError(
                f"{type(self).__name__} {self.name!r} has weights of {dtype_name(own)} and was called on a tensor of "
                f"{dtype_name(other)}: give x.to({own})."
            ) from error

    def _remember(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Take a single tensor of this shape and type from now on without a further look, where none is needed."""
        plain = len(args) == 1 and not kwargs and type(args[0]) is torch.Tensor and not args[0].is_meta
        if plain and self.input_spec is None and self._facts.layout is not Layout.CHANNELS_FIRST:
            if len(self._taken_plainly) >= MOST_TAKEN:
                self._taken_plainly.clear()
            self._taken_plainly.add((args[0].shape, args[0].dtype))

    def _tensors_checked(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """The tensors of the first argument, of the right types and shapes; weights are made if there are none yet."""
        given = args or tuple(kwargs.values())[:1]
        tensors = leaves(given[0]) if given else []
        # Where torch.jit traces, sizes are tensors, and it warns of comparing these.
        if not (self.built and torch.jit.is_tracing()):  # type: ignore[reportPrivateImportUsage]
            self._check_types(tensors)
            self._build(*_shapes_of(self, given))
            mask = kwargs.get("mask")
            if tensors and isinstance(mask, torch.Tensor) and not (self._is_users or is_compiling()):
                self._check_mask(mask, tensors[0])
        return tensors

    def _check_mask(self, mask: torch.Tensor, inputs: torch.Tensor) -> None:
        """Raise ValueError for a mask that is not True or False for each time step of the inputs."""
        if mask.dtype is not torch.bool:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: the mask must be of torch.bool; found {mask.dtype}: give "
                "mask.bool()."
            )
        shape = tuple(inputs.shape)
        if getattr(self, "data_format", None) == "channels_first":
            shape = (shape[0], *shape[2:], shape[1])
        if mask.dim() >= max(inputs.dim(), 3) or tuple(mask.shape) != shape[: mask.dim()]:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: the mask must have the shape {shape[:2]}, a value "
                f"for each time step of the input {tuple(inputs.shape)}; found {tuple(mask.shape)}."
            )

    def _call_symbolically(self: Any, symbolic: list[Any], *args: Any, mask: Any = None, **arguments: Any) -> Any:
        training = self._training_of(arguments)
        if not args and "inputs" in arguments:
            args = (arguments.pop("inputs"),)
        unknown = set(arguments) - self._call_parameters
        if unknown and not self._takes_any:
            raise TypeError(f"{type(self).__name__} {self.name!r}: its call takes no argument {min(unknown)!r}.")
        if len(args) == 1 and not arguments and _holds(args[0], symbolic):
            (inputs,), tensors, shapes = args, symbolic, [[tensor.shape for tensor in symbolic]]
        else:
            inputs, tensors, arguments = self._node_arguments(args, arguments)
            shapes = _shapes_of(self, args or (unpacked(tensors),))
        if training is not None:
            arguments["training"] = training
        self._check_types(tensors)
        self._build(*shapes)
        masks = [tensor._keras_mask for tensor in tensors]
        if mask is not None and any(given is not own for given, own in zip(as_list(mask), masks, strict=False)):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: the mask of a symbolic call is that of its inputs; found "
                "another one. Let a layer make it, such as Masking or Embedding(mask_zero=True)."
            )
        inputs = list(inputs) if isinstance(inputs, list) else inputs  # whose list it is may change it afterwards
        outputs, output_masks = self._infer_outputs(inputs, masks, arguments)
        node_index = len(self._call_nodes)
        for index, (tensor, output_mask) in enumerate(zip(leaves(outputs), output_masks, strict=True)):
            tensor.name = self.name if node_index == index == 0 else f"{self.name}:{node_index}:{index}"
            tensor._keras_history = History(self, node_index, index)
            tensor._keras_mask = output_mask
        self._attach(Node(self, inputs, outputs, arguments), tensors)
        return outputs

    def _node_arguments(self, args: tuple[Any, ...], arguments: dict[str, Any]) -> tuple[Any, list[Any], Any]:
        """The inputs of a node, these as a list, and its arguments. One tensor, or a list of them, alone is its inputs;
        else the arguments have slots for the tensors.
        """
        for value in args:
            self._check_symbolic(value)
        form, tensors = taken_apart((args, arguments))
        if len(args) == 1 and _holds(args[0], tensors):
            return args[0], tensors, arguments
        try:
            self._call_signature.bind(self, *args, **arguments)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__} {self.name!r}: its call: {error}.") from error
        for tensor in tensors:
            self._check_symbolic(tensor)
        return tensors, tensors, {POSITIONAL: list(form[0]), **form[1]}

    def _check_symbolic(self, value: Any) -> None:
        plain = isinstance(value, (KerasTensor, dict, bool, int, float, str, type(None)))
        if isinstance(value, (list, tuple)):
            for item in value:
                self._check_symbolic(item)
        elif not plain and isinstance(value, (torch.Tensor, np.ndarray)):
            raise ValueError(
                f"Layer {self.name} was called with an input that isn't a symbolic tensor: found "
                f"{type(value).__name__}. All inputs to the layer should be symbolic tensors."
            )

    def _attach(self, node: Node, inputs: list[KerasTensor]) -> None:
        self._call_nodes.append(node)
        for tensor in inputs:
            tensor._keras_history.layer._outbound_nodes.append(node)

    def _check_types(self, tensors: list[Any]) -> None:
        specs = () if self.input_spec is None else as_list(self.input_spec)
        for index, (tensor, spec) in enumerate(zip(tensors, specs, strict=False)):
            if spec is not None and spec.dtype is not None and dtype_of(spec.dtype) != tensor.dtype:
                raise ValueError(
                    f"Input {index} is incompatible with layer {self.name}: expected dtype={spec.dtype}, "
                    f"found dtype={dtype_name(tensor.dtype)}"
                )


def in_keras_order(layout: Layout, compute: Any, *args: Any, **kwargs: Any) -> Any:
    """What `compute`, which works in `layout`, gives for inputs in Keras's order, in that order."""
    if layout is not Layout.CHANNELS_FIRST:
        return compute(*args, **kwargs)
    inputs, *others = args
    return convert(compute(convert(inputs, to_channels_first), *others, **kwargs), to_keras)


def _holds(value: Any, tensors: list[KerasTensor]) -> bool:
    """Whether a value is these symbolic tensors and nothing else: the only one, or a plain list or tuple of them."""
    items = value if isinstance(value, list) or type(value) is tuple else (value,)
    return len(items) == len(tensors) and all(item is tensor for item, tensor in zip(items, tensors, strict=True))


def _shape_of(layer: Calling, value: Any) -> Shape:
    if not isinstance(value, (torch.Tensor, KerasTensor)):
        advice = "Make a tensor of it with torch.as_tensor, or give arrays to `predict`."
        if isinstance(value, nn.Module):
            kind = type(value).__name__
            advice = f"Call that layer first, and give its output: {type(layer).__name__}(...)({kind}(...)(x))."
        raise TypeError(
            f"{type(layer).__name__} {layer.name!r} takes torch tensors; found {type(value).__name__}. {advice}"
        )
    return output_shapes.seen_shape(value.shape) if in_first_run() else tuple(value.shape)


def _shapes_of(layer: Calling, args: tuple[Any, ...]) -> list[Any]:
    """For each argument that holds tensors their shapes: the first's as a list, the others' as they are nested."""
    first, others = args[0] if args else None, args[1:]
    items: list[Any] = [*first] if isinstance(first, (list, tuple)) else [] if first is None else [first]
    further = [mapped(value, partial(_shape_of, layer)) for value in others if leaves(value)]
    return [[_nested_shapes(layer, item) for item in items], *further]


def _nested_shapes(layer: Calling, value: Any) -> Any:
    if value is None or leaves(value):
        return mapped(value, partial(_shape_of, layer))
    return _shape_of(layer, value)

"""One call of a layer as the rules see it, and the table of the rules that write calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.export.errors import EjectError
from torchkeras.export.plain import facts
from torchkeras.export.plain.statements import Statement
from torchkeras.export.plain.values import Folded, Value

NO_TENSORS: Mapping[str, Tensor] = {}
RULES: dict[type, Callable[..., Any]] = {}
MASK_RULES: dict[type, Callable[..., Any]] = {}


def rule(*kinds: type) -> Callable[[Any], Any]:
    """Register the function `(layer, call) -> value or values` that writes the calls of these layers."""
    return lambda function: [RULES.__setitem__(kind, function) for kind in kinds] and function


def mask_rule(*kinds: type) -> Callable[[Any], Any]:
    """Register the function `(layer, call) -> mask` that writes the mask of a call's outputs."""
    return lambda function: [MASK_RULES.__setitem__(kind, function) for kind in kinds] and function


class LayerCall:
    """One call, as a rule sees it: its inputs, in the order of axes and the type that the layer needs."""

    def __init__(
        self,
        writer: Any,
        layer: Any,
        values: list[Value],
        several: bool,
        arguments: Mapping[str, Any],
        outputs: Sequence[Any],
    ):
        self.writer, self.layer, self.values, self.several = writer, layer, values, several
        self.arguments, self.outputs = {k: v for k, v in arguments.items() if k != "training"}, outputs
        self.training = arguments.get("training")
        self.read: set[str] = set()  # the arguments that a rule has used
        self.begin = len(writer.statements)
        self.region = facts.mixed_type(layer)
        self.layout, self.axis = facts.layouts(layer, [len(v.shape) for v in values], [v.first for v in values])
        self.masks = [value.mask for value in values]
        self._output_masks: list[int | None] | None = None
        self.folded: Folded | None = None  # of the output, set by a rule

    def argument(self, name: str, default: Any = None) -> Any:
        """An argument of the call."""
        self.read.add(name)
        return self.arguments.get(name, default)

    @property
    def inputs(self) -> list[int]:
        """The variables of all inputs."""
        return [self.input(index) for index in range(len(self.values))]

    @property
    def x(self) -> int:
        """The variable of the first input."""
        return self.input(0)

    def input(self, index: int, layout: Layout | None = None) -> int:
        """The variable of one input."""
        value = self.values[index]
        dtype = facts.wanted_type(self.layer, value.dtype, index)
        return self.writer.use(value, layout or self.layout, dtype, self.region)

    @property
    def first(self) -> bool:
        """Whether inputs and outputs have their channels first."""
        return self.layout is Layout.CHANNELS_FIRST

    def line(self, text: str, *uses: int, base: str = "x") -> int:
        """The value of an expression."""
        return self.writer.line(text, *uses, base=base, region=self.region)

    def assign(self, targets: Any, text: str, *uses: int, stays: bool = False) -> None:
        """Set several values at once; with `stays`, a statement that does something else as well."""
        self.writer.statements.append(Statement(text, uses, targets, self.region, stays))

    def new(self, base: str = "x") -> int:
        """A value to be set by `assign`."""
        return self.writer.new(base)

    def helper(self, function: Any) -> str:
        """The name of a helper, which is added to the module."""
        return self.writer.book.helper(function)

    def note(self, text: str) -> None:
        """Add a difference to the module's docstring."""
        self.writer.book.note(text)

    def module(self, text: str, tensors: Mapping[str, Tensor] | nn.Module = NO_TENSORS, suffix: str = "") -> str:
        """`self.name` of the layer's submodule; `suffix` tells several apart."""
        frozen = False
        if isinstance(tensors, nn.Module):
            frozen, tensors = facts.is_frozen(tensors), facts.tensors_of(tensors)
        else:
            parameters = [tensor for tensor in tensors.values() if isinstance(tensor, nn.Parameter)]
            frozen = bool(parameters) and not any(parameter.requires_grad for parameter in parameters)
        name = f"{self.layer.name}_{suffix}" if suffix else self.layer.name
        return self.writer.module((self.layer, suffix), name, text, tensors, frozen)

    def inner(self, layer: Any, values: list[Value], several: bool = False) -> list[Value]:
        """Write a call of a layer inside this one."""
        symbolic = [facts.KerasTensor(value.shape, value.dtype) for value in values]
        masks = [None if v.mask is None else facts.KerasTensor(v.shape[:2], torch.bool) for v in values]
        outputs = facts.outputs_for(layer, symbolic if several else symbolic[0], masks, {})
        return self.writer.call(layer, values, several, {}, outputs)

    def set_masks(self, *masks: int | None) -> None:
        """Set the masks of the outputs, instead of a mask rule."""
        self._output_masks = list(masks)

    def masks_of_outputs(self) -> list[int | None]:
        """The masks of the outputs, if there are any."""
        if self._output_masks is not None:
            return self._output_masks
        found = MASK_RULES.get(type(self.layer))
        if found is not None:
            masks = found(self.layer, self)
            return list(masks) if isinstance(masks, (list, tuple)) else [masks]
        if not facts.passes_mask(self.layer):
            if any(mask is not None for mask in self.masks):
                raise EjectError(f"{type(self.layer).__name__} {self.layer.name!r}: eject cannot write its mask.")
            return []
        return self.masks[:1]


def slots(count: int) -> str:
    """`{0}, {1}` and so on."""
    return ", ".join(f"{{{index}}}" for index in range(count))

"""The generated `forward`: straight-line Python for a graph, with masks and layouts settled beforehand.

First the graph becomes a list of `Line`s over values that are each set once; here the layout pass inserts a `permute`
where a layer needs another order of axes, at most one for each value and order. Then values get variable names, one
freed after its last use, and the lines are printed.
"""

from __future__ import annotations

import keyword
import linecache
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from torchkeras.base.naming import Unused
from torchkeras.base.nested import POSITIONAL, TensorSlot, is_flat, leaves, of_first
from torchkeras.engine.dtypes import cast_type, is_mixed, typed
from torchkeras.engine.facts import facts_of
from torchkeras.engine.functions.call_text import PLAIN, literal
from torchkeras.engine.graph.layer_calls import Call, Way
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.shapes.output_shapes import overrides
from torchkeras.engine.symbolic.axis_order import Layout, axis_channels_first, to_channels_first, to_keras
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, node_of, unpacked

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


class Variant(NamedTuple):
    """What a generated function takes and gives: a mask for some inputs; with `details` (outputs, masks, losses).

    `logits`: the outputs, by number, that are given before the activation that their last layer ends in.
    """

    masked: tuple[bool, ...]
    details: bool = False
    logits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Line:
    """One statement. `{0}`, `{1}` in `text` stand for the values used; `makes` are the values set.

    `region`: the type of 16 bits that a layer computes in; "" for one that has no such type, None where it is all one.
    """

    text: str
    uses: tuple[int, ...]
    makes: tuple[int, ...]
    comment: str = ""
    region: str | None = None


def source(graph: Graph, variant: Variant, keys: Mapping[Layer, str]) -> tuple[str, dict[str, Call]]:
    """The text of the function `forward(self, inputs..., masks...)` that computes the graph, and what its names call.

    `keys`: those of the layers as submodules.
    """
    writer = _Writer(graph, variant, keys)
    return writer.write(), writer.calls


def compiled(text: str, name: str) -> Callable[..., Any]:
    """The function that a text defines. Errors inside it show its lines, as for any function."""
    filename = f"<torchkeras {name}>"
    linecache.cache[filename] = entry = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"torch": torch, "typed": typed, "leaves": leaves}
    exec(compile(text, filename, "exec"), namespace)  # noqa: S102  # the text is our own, from `source`
    weakref.finalize(namespace["forward"], _forget, filename, entry).atexit = False
    return namespace["forward"]


def _forget(filename: str, entry: tuple[Any, ...]) -> None:
    """Drop the lines of a function that is no more; not those of another one that has its name since."""
    if linecache.cache.get(filename) is entry:
        del linecache.cache[filename]


def masks_of(graph: Graph, masked: tuple[bool, ...]) -> dict[KerasTensor, KerasTensor | None]:
    """For every tensor of the graph its symbolic mask, when the inputs have the given masks.

    Raises TypeError when a mask arrives at a layer that supports none.
    """
    if not any(masked):
        return {tensor: tensor._keras_mask for node in graph.nodes for tensor in node.output_tensors}
    found: dict[KerasTensor, KerasTensor | None] = {
        tensor: KerasTensor(tensor.shape[:2], torch.bool) if has else None
        for tensor, has in zip(graph.inputs, masked, strict=True)
    }
    for node in graph.nodes:
        if node.input_tensors:
            _, masks = node.layer._infer_outputs(
                node.inputs, [found[tensor] for tensor in node.input_tensors], node.arguments
            )
            found.update(zip(node.output_tensors, masks, strict=True))
    return found


class _Writer:
    def __init__(self, graph: Graph, variant: Variant, keys: Mapping[Layer, str]):
        self.graph, self.variant, self.keys = graph, variant, keys
        unused = Unused()
        self.names = {key: unused(_callable_name(key)) for key in keys.values()}
        self.calls: dict[str, Call] = {}  # what the names in the text stand for
        self.masks = masks_of(graph, variant.masked)
        self.lines: list[Line] = []
        self.values = 0
        self.made: dict[tuple[KerasTensor, Layout, torch.dtype], int] = {}  # a tensor, in an order of axes and a type
        self.natural: dict[KerasTensor, Layout] = {}  # the order it was computed in
        self.mask_values: dict[KerasTensor, int] = {}
        self.pending_masks: dict[KerasTensor, tuple[Node, int]] = {}
        self.losses: list[tuple[str, int]] = []  # "" for a loss, "*" for a nested model's list of them
        self.raw = {graph.outputs[index] for index in variant.logits}
        self.unrectified = {node.input_tensors[0] for node in graph.nodes if self._rectifies(node)}

    def write(self) -> str:
        parameters = self._parameters()
        for node in self.graph.nodes:
            inputs = node.input_tensors
            if inputs:
                self._node(node, inputs, node.output_tensors)
        results = [self.value(tensor, Layout.KERAS) for tensor in self.graph.outputs]
        result = _list_text(_slots(len(results)))
        if self.variant.details:
            result = f"{result}, {self._masks_and_losses(results)}"
        return _print(self.lines, parameters, result, results, [t._keras_history.layer.name for t in self.graph.inputs])

    def _parameters(self) -> list[int]:
        """The values that the function takes: the inputs, then the masks of those that have one."""
        parameters = [self._input(tensor) for tensor in self.graph.inputs]
        for tensor, masked in zip(self.graph.inputs, self.variant.masked, strict=True):
            if masked:
                parameters.append(self._new(tensor, self.mask_values))
        return parameters

    def _masks_and_losses(self, results: list[int]) -> str:
        """The list of the outputs' masks and that of the losses, as text; their values join the results."""
        masks = _mask_slots([self.mask(tensor) for tensor in self.graph.outputs], results)
        losses = [f"{star}{{{len(results) + k}}}" for k, (star, _) in enumerate(self.losses)]
        results += [value for _, value in self.losses]
        return f"[{', '.join(masks)}], [{', '.join(losses)}]"

    # --- values ---------------------------------------------------------------------------------------------------

    def _new(self, key: Any = None, table: dict[Any, int] | None = None) -> int:
        self.values += 1
        if table is not None:
            table[key] = self.values
        return self.values

    def _input(self, tensor: KerasTensor) -> int:
        self.natural[tensor] = Layout.KERAS
        return self._new((tensor, Layout.KERAS, tensor.dtype), self.made)

    def value(self, tensor: KerasTensor, layout: Layout, dtype: torch.dtype | None = None) -> int:
        """The value of a tensor in an order of axes and a type; permute and cast are written when it is not there."""
        layout, dtype = Layout.KERAS if tensor.ndim <= 2 else layout, dtype or tensor.dtype
        key = (tensor, layout, dtype)
        if key not in self.made:
            if dtype is tensor.dtype:
                order = (to_keras if layout is Layout.KERAS else to_channels_first)(tensor.ndim)
                text, there = f"{{0}}.permute{order}", self.made[tensor, self.natural[tensor], dtype]
            else:
                text, there = f"typed({{0}}, {dtype})", self.value(tensor, layout)
            self.lines.append(Line(text, (there,), (self._new(key, self.made),)))
        return self.made[key]

    def mask(self, tensor: KerasTensor) -> int | None:
        """The value of a tensor's mask, written when it is first asked for; None when there is none."""
        if self.masks[tensor] is None:
            return None
        if tensor not in self.mask_values:
            node, index = self.pending_masks[tensor]
            self._compute_mask(node, tensor, index)
        return self.mask_values[tensor]

    def _compute_mask(self, node: Node, tensor: KerasTensor, index: int) -> None:
        inputs, masks = node.input_tensors, [self.mask(t) for t in node.input_tensors]
        uses = [self.value(t, Layout.KERAS) for t in inputs]
        passed = not overrides(node.layer, "compute_mask")
        if passed and len(inputs) == 1 and masks[0] is not None:
            self.mask_values[tensor] = masks[0]
            return
        first = _first_argument(node, _slots(len(uses)))
        first_mask = _first_argument(node, _mask_slots(masks, uses))
        text = f"{self._callable(node.layer, Way.MASK)}({first}, {first_mask})"
        if len(node.output_tensors) > 1:
            text = f"{text}[{index}]"
        made = self._new(tensor, self.mask_values)
        self.lines.append(Line(text, tuple(uses), (made,), region=""))

    # --- nodes ------------------------------------------------------------------------------------------------------

    def _node(self, node: Node, inputs: list[KerasTensor], outputs: list[KerasTensor]) -> None:
        """Write the call of a layer, with the copies and casts that it needs before and after."""
        layer, options = node.layer, dict(node.arguments)
        mode = options.pop("training", None) if runs_in_mode(node) else None
        taken, given, axis = self._layouts(layer, inputs)
        uses = self._input_values(layer, inputs, taken)
        arguments = self._arguments(node, inputs, options, uses, axis)  # the masks among them join `uses`
        made = self._output_values(outputs, given)
        details = self._gives_details(layer, outputs)
        if mode is not None:
            called, arguments = self._callable(layer, Way.IN_MODE), f"{arguments}, training={mode}"
        elif details:
            called = self._callable(layer)
        else:
            called = self._callable(layer, *self._way(node, inputs[0], outputs[0], taken))
        if details:
            call = f"{called}({arguments}, details=True)"
            self._nested_call(node, call, tuple(uses), made, self._comment(layer, outputs))
            return
        mixed = is_mixed(layer)
        call = _typed_call(node, f"{called}({arguments})", outputs, mixed)
        region = layer.compute_dtype if mixed else ""
        self.lines.append(Line(call, tuple(uses), tuple(made), self._comment(layer, outputs), region))
        if mixed and len(outputs) > 1:
            self._type_outputs(outputs, made)
        for index, tensor in enumerate(outputs):
            self.pending_masks[tensor] = (node, index)
        if self.variant.details:
            self._activity_losses(layer, outputs, torch.float32 if mixed else None)

    def _layouts(self, layer: Layer, inputs: list[KerasTensor]) -> tuple[Layout, Layout, str]:
        """The order that the inputs must have, the order the outputs come in, and an argument that tells the axis."""
        kind = facts_of(layer).layout
        if kind not in (Layout.ANY, Layout.AXIS):
            return kind, kind, ""
        alike = len({tensor.ndim for tensor in inputs}) == 1
        first = any(self.natural[tensor] is Layout.CHANNELS_FIRST for tensor in inputs)
        if not (alike and first):
            return Layout.KERAS, Layout.KERAS, ""
        axis = axis_channels_first(facts_of(layer).axis, inputs[0].ndim) if kind is Layout.AXIS else None
        return Layout.CHANNELS_FIRST, Layout.CHANNELS_FIRST, "" if axis is None else f", axis={axis}"

    def _input_values(self, layer: Layer, inputs: list[KerasTensor], layout: Layout) -> list[int]:
        """The values of a layer's inputs, in the order of axes and the types in which it takes them."""
        uses = [self.value(tensor, layout, cast_type(layer, tensor, index)) for index, tensor in enumerate(inputs)]
        for index, tensor in enumerate(inputs):
            if self._needs_copy(layer, index, tensor):
                copy = self._new()
                self.lines.append(Line("{0}.clone()", (uses[index],), (copy,)))
                uses[index] = copy
        return uses

    def _arguments(
        self, node: Node, inputs: list[KerasTensor], options: Mapping[str, Any], uses: list[int], axis: str
    ) -> str:
        """The arguments of a call as text: inputs, options and masks, whose values join `uses`."""
        layer = node.layer
        texts = [_argument_text(layer, name, value) for name, value in options.items()]
        if POSITIONAL not in options:
            texts.insert(0, _argument(_slots(len(uses)), isinstance(node.inputs, (list, tuple))) + axis)
        masks = [self.mask(tensor) for tensor in inputs] if "mask" in layer._call_parameters else []
        if any(mask is not None for mask in masks):
            texts.append(f"mask={_first_argument(node, _mask_slots(masks, uses))}")
        return ", ".join(filter(None, texts))

    def _output_values(self, outputs: list[KerasTensor], layout: Layout) -> list[int]:
        """A value for each output, in the order of axes that the layer gives."""
        made = []
        for tensor in outputs:
            self.natural[tensor] = layout if tensor.ndim > 2 else Layout.KERAS
            made.append(self._new((tensor, self.natural[tensor], tensor.dtype), self.made))
        return made

    def _gives_details(self, layer: Layer, outputs: list[KerasTensor]) -> bool:
        """Whether a layer is a model that is asked for its masks and losses as well."""
        return has_details(layer) and (self.variant.details or any(self.masks[each] is not None for each in outputs))

    def _way(self, node: Node, first_input: KerasTensor, output: KerasTensor, taken: Layout) -> tuple[Way, str]:
        """What a call asks of its layer, and the key of the layer that leaves its relu to this one."""
        if output in self.raw:
            return Way.LOGITS, ""
        if output in self.unrectified:
            return Way.BEFORE_RELU, ""
        if first_input in self.unrectified:
            return Way.AFTER_RELU, self.keys[node.inbound_layers[0]]
        return Way.IN_PLACE if self._overwrites(node, taken) else Way.PLAIN, ""

    def _callable(self, layer: Layer, way: Way = Way.PLAIN, maker: str = "") -> str:
        """The text of what is called: `self.` and the layer's name, with the way where another has that name."""
        call = Call(self.keys[layer], way, maker)
        name = self.names[call.key]
        if way in (Way.MASK, Way.ACTIVITY_LOSS):
            name = f"{name}_{way.name.lower()}"
        while self.calls.setdefault(name, call) != call:
            name = f"{name}_{way.name.lower()}"
        return f"self.{name}"

    def _comment(self, layer: Layer, outputs: list[KerasTensor]) -> str:
        """The shapes of the outputs; of a function also its call as a person would write it."""
        comment = f"{unpacked([tensor.shape for tensor in outputs])}"
        if any(self.natural[tensor] is Layout.CHANNELS_FIRST for tensor in outputs):
            comment += ", channels first"
        line = layer._line() if hasattr(layer, "_line") else ""
        return f"{line} -> {comment}" if line else comment

    def _activity_losses(self, layer: Layer, outputs: list[KerasTensor], dtype: torch.dtype | None) -> None:
        """Write the penalties on a layer's outputs, which are taken in this type."""
        if getattr(layer, "activity_regularizer", None) is None:
            return
        text = f"{self._callable(layer, Way.ACTIVITY_LOSS)}({{0}})"
        for tensor in outputs:
            loss = self._new()
            self.losses.append(("", loss))
            self.lines.append(Line(text, (self.value(tensor, Layout.KERAS, dtype),), (loss,), region=""))

    def _type_outputs(self, outputs: list[KerasTensor], made: list[int]) -> None:
        """Give each of several outputs the type that its tensor has."""
        for tensor, value in zip(outputs, made, strict=True):
            if tensor.dtype.is_floating_point:
                cast = self._new((tensor, self.natural[tensor], tensor.dtype), self.made)
                self.lines.append(Line(f"typed({{0}}, {tensor.dtype})", (value,), (cast,)))

    def _overwrites(self, node: Node, taken: Layout) -> bool:
        """Whether a node may put its output where its first input is: nothing else needs that."""
        if facts_of(node.layer).in_place() is None:
            return False
        first, *others = node.input_tensors
        return (
            self._is_spare(first)
            and all(other.shape == first.shape for other in others)
            and cast_type(node.layer, first, 0) is first.dtype
            and (first.ndim <= 2 or self.natural[first] is taken)
        )

    def _rectifies(self, node: Node) -> bool:
        """Whether a node may do the relu that its input ends in: for less, since it has fewer values."""
        if not facts_of(node.layer).commutes_with_relu:
            return False
        (tensor,) = node.input_tensors
        maker = tensor._keras_history.layer
        if node.has_own_mode or node_of(tensor).has_own_mode:
            return False
        return facts_of(maker).before_relu() is not None and self._for_one_alone(tensor) and tensor not in self.raw

    def _needs_copy(self, layer: Layer, index: int, tensor: KerasTensor) -> bool:
        """Whether a layer's code changes an input in place, or may do so, that others look at or the caller has."""
        if layer._is_unseen:
            return self.graph.taken[tensor] > 1 or any(tensor is each for each in self.graph.inputs)
        return index in layer._changed_inputs and not self._is_spare(tensor)

    def _is_spare(self, tensor: KerasTensor) -> bool:
        """Whether the one node that looks at a tensor may change it in place."""
        return facts_of(tensor._keras_history.layer).overwritable and self._for_one_alone(tensor)

    def _for_one_alone(self, tensor: KerasTensor) -> bool:
        """Whether nothing but one node looks at a tensor."""
        observed = getattr(tensor._keras_history.layer, "activity_regularizer", None) is not None
        return self.graph.taken[tensor] == 1 and self.masks[tensor] is None and not observed

    def _nested_call(self, node: Node, call: str, uses: tuple[int, ...], made: list[int], comment: str) -> None:
        """A model inside the model, asked for its masks and losses as well."""
        result, losses = self._new(), self._new()
        masks = [self._new() for _ in node.output_tensors]
        self.lines.append(Line(call, uses, (result,), comment, region=""))
        several = len(made) > 1
        for index, (value, mask, tensor) in enumerate(zip(made, masks, node.output_tensors, strict=True)):
            self.lines.append(Line(f"{{0}}[0][{index}]" if several else "{0}[0]", (result,), (value,)))
            if self.masks[tensor] is not None:
                self.lines.append(Line(f"{{0}}[1][{index}]", (result,), (mask,)))
                self.mask_values[tensor] = mask
        self.lines.append(Line("{0}[2]", (result,), (losses,)))
        self.losses.append(("*", losses))


def has_details(layer: Layer) -> bool:
    """Whether a layer is a model, whose call can give masks and losses beside its outputs."""
    return "details" in layer._call_parameters


def _slots(count: int) -> list[str]:
    return [f"{{{index}}}" for index in range(count)]


def _mask_slots(masks: list[int | None], uses: list[int]) -> list[str]:
    """Texts for masks, some of which are not there; those that are join the values used."""
    texts = []
    for mask in masks:
        texts.append("None" if mask is None else f"{{{len(uses)}}}")
        uses += [] if mask is None else [mask]
    return texts


def _list_text(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _argument(texts: list[str], several: bool) -> str:
    return f"[{', '.join(texts)}]" if several else texts[0]


def _first_argument(node: Node, texts: list[str]) -> str:
    """Of a text for each input, those of the call's first argument: one, or a list of them."""
    found = of_first(node.inputs, node.arguments, texts)
    return _argument(found, True) if isinstance(found, list) else found


def _typed_call(node: Node, call: str, outputs: list[KerasTensor], mixed: bool) -> str:
    """The call with its outputs as flat tensors; a single one, computed in 16 bits, in the type of its tensor."""
    several = len(outputs) > 1
    if not is_flat(node.outputs):
        call = f"leaves({call})" if several else f"leaves({call})[0]"
    if mixed and not several and outputs[0].dtype.is_floating_point:
        call = f"typed({call}, {outputs[0].dtype})"
    return call


def runs_in_mode(node: Node) -> bool:
    """Whether a call says that all in the layer is in training or not, rather than the layer's own code alone."""
    return "training" in node.arguments and (
        "training" not in node.layer._call_parameters or (bool(node.layer._modules) and node.layer._is_users)
    )


def _argument_text(layer: Layer, name: str, value: Any) -> str:
    """An argument of a call as text, its tensors as `{0}`, `{1}`."""
    if name == POSITIONAL:
        return ", ".join(_literal(layer, "by position", item) for item in value)
    return f"{name}={_literal(layer, name, value)}"


def _literal(layer: Layer, name: str, value: Any) -> str:
    if isinstance(value, TensorSlot):
        return f"{{{value.index}}}"
    if isinstance(value, list):
        return f"[{', '.join(_literal(layer, name, item) for item in value)}]"
    if type(value) is tuple:
        return f"({''.join(_literal(layer, name, item) + ', ' for item in value).strip()})"
    if type(value) is dict:
        pairs = (f"{_literal(layer, name, key)}: {_literal(layer, name, item)}" for key, item in value.items())
        return f"{{{{{', '.join(pairs)}}}}}"
    if not isinstance(value, PLAIN):
        text = f"the argument {name!r} of its call must be a plain value; found {value!r}."
        raise TypeError(f"Layer {layer.name!r}: {text}")
    return literal(value).replace("{", "{{").replace("}", "}}")


def _print(lines: list[Line], parameters: list[int], result: str, results: list[int], names: list[str]) -> str:
    """The text of the function: the lines with variable names, those that compute in 16 bits under autocast."""
    variables = _variables(lines, parameters, results, names)
    text = [f"def forward(self, {', '.join(variables[value] for value in parameters)}):"]
    region, indent = "", "    "
    for line in lines:
        if line.region is not None and line.region != region:
            region, indent = line.region, " " * (8 if line.region else 4)
            if region:
                text.append(f"    with torch.autocast({variables[parameters[0]]}.device.type, torch.{region}):")
        used = [variables[value] for value in line.uses]
        targets = ", ".join(variables[value] for value in line.makes)
        comment = f"  # {line.comment.format(*used)}" if line.comment else ""
        text.append(f"{indent}{targets} = {line.text.format(*used)}{comment}")
    text.append("    return " + result.format(*(variables[value] for value in results)))
    return "\n".join(text) + "\n"


def _variables(lines: list[Line], parameters: list[int], results: list[int], names: list[str]) -> dict[int, str]:
    """A variable name for each value, free again after its last use; inputs, called `names`, hold theirs to the end."""
    unused = Unused({"torch", "typed", "leaves"})
    variables = {value: unused(_identifier(name)) for value, name in zip(parameters, names, strict=False)}
    inputs = set(variables)
    for index, value in enumerate(parameters[len(names) :], start=1):
        variables[value] = unused(f"mask_{index}")
    last_use = _last_uses(lines, results)
    free: list[str] = []
    for index, line in enumerate(lines):
        ended = [value for value in dict.fromkeys(line.uses) if last_use[value] == index]
        free += [variables[value] for value in ended if value not in inputs]
        for value in line.makes:
            variables[value] = free.pop() if free else unused("x")
    return variables


def _last_uses(lines: list[Line], results: list[int]) -> Mapping[int, int]:
    """For each value the number of the last line that uses it; after all of them for the results."""
    last: dict[int, int] = {}
    for index, line in enumerate(lines):
        last |= dict.fromkeys((*line.makes, *line.uses), index)
    return last | dict.fromkeys(results, len(lines))


def _callable_name(key: str) -> str:
    """The key of a layer as an attribute of what generated code runs over, whose own begin with an underscore."""
    name = _identifier(key, "layer")
    return f"layer{name}" if name.startswith("_") else name


def _identifier(name: str, kind: str = "input") -> str:
    """A name as Python takes it; `kind` comes before one that it does not take."""
    cleaned = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
    taken = not cleaned.isidentifier() or keyword.iskeyword(cleaned) or cleaned == "self" or cleaned.startswith("__")
    return f"{kind}_{cleaned}" if taken else cleaned

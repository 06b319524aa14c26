"""The generated `forward`: straight-line Python for a graph, with masks and layouts decided beforehand.

First the graph becomes a list of `Line`s over values, each set once. This pass inserts a `permute` where a layer needs
another order of axes, at most one for each value and order. Then each value gets the name of a variable, which is free
again after the last use of the value, and the lines are printed.

A network has `GeneratedFunctions`: one for each form of its inputs and outputs, written when it is first called.
"""

from __future__ import annotations

import keyword
import linecache
import re
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from torchkeras.base.naming import Unused
from torchkeras.base.nested import POSITIONAL, TensorSlot, is_flat, leaves, of_first, put_together, taken_apart
from torchkeras.base.torch_tables import own_modules
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.carried_masks import marked
from torchkeras.engine.dtypes import cast_type, is_mixed, typed
from torchkeras.engine.facts import facts_of, takes
from torchkeras.engine.functions.call_text import PLAIN, literal
from torchkeras.engine.graph.layer_calls import Call, DirectCalls, Form, ModuleCalls, Remembered, Way
from torchkeras.engine.graph.trace import Graph, graph_of, infer_again, layer_names
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.shapes.output_shapes import overrides
from torchkeras.engine.symbolic.axis_order import Layout, axis_channels_first, to_channels_first, to_keras
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, as_list, index_of, node_of, unpacked
from torchkeras.engine.users_code import is_users_layer

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network
    from torchkeras.engine.layer.layer import Layer


PERMUTATIONS = {Layout.KERAS: to_keras, Layout.CHANNELS_FIRST: to_channels_first}  # from the other order
RESERVED = {"self", *keyword.kwlist}
# The functions that generated code calls, by their names in it.
HELPERS: Mapping[str, Callable[..., Any]] = {each.__name__: each for each in (typed, leaves, marked, put_together)}


class Variant(NamedTuple):
    """The signature of a generated function: which inputs come with a mask; `details`: it returns (outputs, masks,
    losses). `logits`: the outputs, by number, to return without the activation that their last layer ends in.
    """

    masked: tuple[bool, ...]
    details: bool = False
    logits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Line:
    """One statement. `{0}`, `{1}` in `text` stand for the values used; `makes` are the values set.

    `region`: the type of 16 bits under whose autocast the line runs; "" outside of autocast.
    """

    text: str
    uses: tuple[int, ...]
    makes: tuple[int, ...]
    region: str


def source(graph: Graph, variant: Variant, keys: Mapping[Layer, str]) -> Written:
    """The text of the function `forward(self, inputs..., masks...)` that computes the graph, and what its names are.

    `keys`: the key of each layer as a submodule.
    """
    writer = _Writer(graph, variant, keys)
    return writer.write(), writer.calls


def compiled(text: str, name: str, **known: Any) -> Callable[..., Any]:
    """The function `forward` that a text defines, with the names `known`. Errors inside it show its lines."""
    filename = f"<torchkeras {name}>"
    linecache.cache[filename] = entry = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"torch": torch, **HELPERS, **known}
    exec(compile(text, filename, "exec"), namespace)  # noqa: S102  # the text is our own, from `source`
    weakref.finalize(namespace["forward"], _forget, filename, entry).atexit = False
    return namespace["forward"]


def _forget(filename: str, entry: tuple[Any, ...]) -> None:
    """Drop the lines of a function that was freed, unless a later function has the same file name."""
    if linecache.cache.get(filename) is entry:
        del linecache.cache[filename]


def masks_of(graph: Graph, masked: tuple[bool, ...]) -> dict[KerasTensor, KerasTensor | None]:
    """The symbolic mask of every tensor of the graph, when the inputs that are `masked` have masks.

    Raises TypeError when a mask arrives at a layer that supports none.
    """
    if not any(masked):
        return {tensor: tensor.keras_mask for node in graph.nodes for tensor in node.output_tensors}
    masks = [
        KerasTensor(tensor.shape[:2], torch.bool) if has_mask else None
        for tensor, has_mask in zip(graph.inputs, masked, strict=True)
    ]
    return infer_again(graph, graph.inputs, masks)[1]


class _Writer:
    def __init__(self, graph: Graph, variant: Variant, keys: Mapping[Layer, str]):
        self.graph, self.variant, self.keys = graph, variant, keys
        unused = Unused()
        self.names = {key: unused(_callable_name(key)) for key in keys.values()}
        self.calls: dict[str, Call | Form] = {}  # what the names in the text stand for
        self.masks = masks_of(graph, variant.masked)
        self.lines: list[Line] = []
        self.region = ""  # of the last line
        self.values = 0
        self.made: dict[tuple[KerasTensor, Layout, torch.dtype], int] = {}  # a tensor, in an order of axes and a type
        self.natural: dict[KerasTensor, Layout] = {}  # the order it was computed in
        self.mask_values: dict[KerasTensor, int] = {}
        self.losses: list[tuple[str, int]] = []  # "" for a loss, "*" for a nested model's list of them
        self.raw = {graph.outputs[index] for index in variant.logits}
        self.unrectified = {node.input_tensors[0] for node in graph.calls if self._rectifies(node)}

    def write(self) -> str:
        parameters = self._parameters()
        for node in self.graph.calls:
            self._node(node)
        results = [self.value(tensor, Layout.KERAS) for tensor in self.graph.outputs]
        result = _list_text(unpacked(_slots(results)))
        if self.variant.details:
            result = f"{result}, {self._masks_and_losses(results)}"
        return _print(self.lines, parameters, result, results, layer_names(self.graph.inputs))

    def _parameters(self) -> list[int]:
        """The parameters of the function: the inputs, then the masks of those that have one."""
        parameters = self._new_values(self.graph.inputs, Layout.KERAS)
        for tensor, masked in zip(self.graph.inputs, self.variant.masked, strict=True):
            if masked:
                self.mask_values[tensor] = self._new()
                parameters.append(self.mask_values[tensor])
        return parameters

    def _masks_and_losses(self, results: list[int]) -> str:
        """The list of the outputs' masks and that of the losses, as text; their values join the results."""
        masks = _mask_slots(map(self.mask, self.graph.outputs), results)
        losses = [f"{star}{_slot(value, results)}" for star, value in self.losses]
        return f"{_list_text(masks)}, {_list_text(losses)}"

    # --- values ---------------------------------------------------------------------------------------------------

    def _new(self) -> int:
        self.values += 1
        return self.values

    def _new_values(self, tensors: list[KerasTensor], layout: Layout) -> list[int]:
        """A value for each of these tensors, computed in this order of axes."""
        values = []
        for tensor in tensors:
            self.natural[tensor] = _layout_of(tensor, layout)
            value = self.made[tensor, self.natural[tensor], tensor.dtype] = self._new()
            values.append(value)
        return values

    def _add_line(self, text: str, uses: Sequence[int], makes: Sequence[int], region: str | None = None) -> None:
        """Write a line. `region`: as a `Line` has it; None for one that may run in any."""
        if region is not None:
            self.region = region
        self.lines.append(Line(text, tuple(uses), tuple(makes), self.region))

    def _computed(self, text: str, *uses: int, region: str | None = None) -> int:
        """Write a line for one new value, and return the value."""
        value = self._new()
        self._add_line(text, uses, (value,), region)
        return value

    def value(self, tensor: KerasTensor, layout: Layout, dtype: torch.dtype | None = None) -> int:
        """The value of a tensor in an order of axes and a type; permute and cast are written when first needed."""
        layout, dtype = _layout_of(tensor, layout), dtype or tensor.dtype
        key = (tensor, layout, dtype)
        if key in self.made:
            return self.made[key]
        if dtype is tensor.dtype:
            order, natural = PERMUTATIONS[layout](tensor.ndim), self.made[tensor, self.natural[tensor], dtype]
            self.made[key] = self._computed(f"{{0}}.permute{order}", natural)
        else:
            self.made[key] = self._computed(f"typed({{0}}, {dtype})", self.value(tensor, layout))
        return self.made[key]

    def mask(self, tensor: KerasTensor) -> int | None:
        """The value of a tensor's mask, written when it is first needed; None when there is none."""
        if self.masks[tensor] is None:
            return None
        if tensor not in self.mask_values:
            self.mask_values[tensor] = self._compute_mask(node_of(tensor), tensor)
        return self.mask_values[tensor]

    def _compute_mask(self, node: Node, tensor: KerasTensor) -> int:
        inputs = node.input_tensors
        masks = list(map(self.mask, inputs))
        uses = [self.value(t, Layout.KERAS) for t in inputs]
        carries = facts_of(node.layer).carries_masks
        passes_on = len(inputs) == 1 and not (carries or overrides(node.layer, "compute_mask"))
        if passes_on and masks[0] is not None:
            return masks[0]
        first = _first_argument(node, _slots(uses))
        first_mask = _first_argument(node, _mask_slots(masks, uses))
        index = tensor.keras_history.tensor_index
        if carries:
            outputs = [_slot(self.value(t, Layout.KERAS), uses) for t in node.output_tensors]
            first_mask = f"{first_mask}, {_list_text(outputs)}, {index}"
        text = f"{self._callable(node.layer, Way.MASK)}({first}, {first_mask})"
        if len(node.output_tensors) > 1 and not carries:
            text = f"{text}[{index}]"
        return self._computed(text, *uses, region="")

    # --- nodes ------------------------------------------------------------------------------------------------------

    def _node(self, node: Node) -> None:
        """Write the call of a layer, with the copies and casts that it needs before and after."""
        layer, options = node.layer, dict(node.arguments)
        inputs, outputs = node.input_tensors, node.output_tensors
        mode = None
        if runs_in_mode(node):
            mode = options.pop("training")
        layout, axis = self._layout(layer, inputs)
        uses = self._input_values(layer, inputs, layout)
        arguments = self._arguments(node, options, uses, axis)  # the masks among them join `uses`
        made = self._new_values(outputs, layout)
        details = self._returns_details(layer, outputs)
        if mode is not None:
            called, arguments = self._callable(layer, Way.IN_MODE), f"{arguments}, training={mode}"
        elif details:
            called = self._callable(layer)
        else:
            called = self._callable(layer, *self._way(node, inputs[0], outputs[0], layout))
        if details:
            self._nested_call(node, f"{called}({arguments}, details=True)  # {self._comment(node)}", uses, made)
            return
        region, loss_type = "", None
        if is_mixed(layer):
            region, loss_type = layer.compute_dtype, torch.float32
        call = _typed_call(node, f"{called}({arguments})", bool(region))
        self._add_line(f"{call}  # {self._comment(node)}", uses, made, region)
        if region and len(outputs) > 1:
            self._type_outputs(outputs, made)
        if self.variant.details:
            self._activity_losses(layer, outputs, loss_type)

    def _layout(self, layer: Layer, inputs: list[KerasTensor]) -> tuple[Layout, str]:
        """The order of axes of a layer's inputs and outputs, and an argument with the place of the layer's axis."""
        layout = facts_of(layer).layout
        if layout not in (Layout.ANY, Layout.AXIS):
            return layout, ""
        ranks, orders = {tensor.ndim for tensor in inputs}, set(map(self.natural.get, inputs))
        if len(ranks) > 1 or Layout.CHANNELS_FIRST not in orders:
            return Layout.KERAS, ""
        if layout is Layout.ANY:
            return Layout.CHANNELS_FIRST, ""
        return Layout.CHANNELS_FIRST, f", axis={axis_channels_first(facts_of(layer).axis, inputs[0].ndim)}"

    def _input_values(self, layer: Layer, inputs: list[KerasTensor], layout: Layout) -> list[int]:
        """The values of a layer's inputs, in the order of axes and the types that it expects."""
        uses = [self.value(tensor, layout, cast_type(layer, tensor, index)) for index, tensor in enumerate(inputs)]
        for index, tensor in enumerate(inputs):
            if self._needs_copy(layer, index, tensor):
                uses[index] = self._computed("{0}.clone()", uses[index])
            mask = self.mask(tensor) if facts_of(layer).carries_masks else None
            if mask is not None:
                uses[index] = self._computed("marked({0}, {1})", uses[index], mask)
        return uses

    def _arguments(self, node: Node, options: Mapping[str, Any], uses: list[int], axis: str) -> str:
        """The arguments of a call as text: inputs, options and masks, whose values join `uses`."""
        layer = node.layer
        texts = [self._argument(layer, name, value) for name, value in options.items()]
        if POSITIONAL not in options:
            texts.insert(0, _first_argument(node, _slots(uses)) + axis)
        if takes(layer, "mask"):
            masks = list(map(self.mask, node.input_tensors))
            if set(masks) != {None}:
                texts.append(f"mask={_first_argument(node, _mask_slots(masks, uses))}")
        return ", ".join(filter(None, texts))

    def _argument(self, layer: Layer, name: str, value: Any) -> str:
        """An argument of a call as text, its tensors as `{0}`, `{1}`."""
        if name == POSITIONAL:
            return ", ".join(map(partial(self._literal, layer, "by position"), value))
        return f"{name}={self._literal(layer, name, value)}"

    def _literal(self, layer: Layer, name: str, value: Any) -> str:
        text_of = partial(self._literal, layer, name)
        if isinstance(value, TensorSlot):
            return f"{{{value.index}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(text_of, value))}]"
        if type(value) is tuple:
            return f"({', '.join([*map(text_of, value), '']).rstrip()})"
        if type(value) is dict:
            pairs = (f"{text_of(key)}: {text_of(item)}" for key, item in value.items())
            return f"{{{{{', '.join(pairs)}}}}}"
        if isinstance(value, PLAIN):
            return literal(value).replace("{", "{{").replace("}", "}}")
        return self._object(layer, name, value)

    def _object(self, layer: Layer, name: str, value: Any) -> str:
        """A named tuple or another object that holds tensors, as text. Raises TypeError for one that holds none."""
        form, slots = taken_apart(value, TensorSlot)
        if not slots:
            text = f"the argument {name!r} of its call must be a plain value; found {value!r}."
            raise TypeError(f"Layer {layer.name!r}: {text}")
        place = f"{self.names[self.keys[layer]]}_form"
        while place in self.calls:
            place += "_"
        self.calls[place] = Form(form)
        return f"put_together(self.{place}, {self._literal(layer, name, slots)})"

    def _returns_details(self, layer: Layer, outputs: list[KerasTensor]) -> bool:
        """Whether the call is of a model whose masks and losses are needed as well."""
        return has_details(layer) and (self.variant.details or set(map(self.masks.get, outputs)) != {None})

    def _way(self, node: Node, first_input: KerasTensor, output: KerasTensor, layout: Layout) -> tuple[Way, str]:
        """The way to call a layer, and the key of the layer that leaves its relu to this one."""
        if output in self.raw:
            return Way.LOGITS, ""
        if output in self.unrectified:
            return Way.BEFORE_RELU, ""
        if first_input in self.unrectified:
            return Way.AFTER_RELU, self.keys[node.inbound_layers[0]]
        return Way.IN_PLACE if self._overwrites(node, layout) else Way.PLAIN, ""

    def _callable(self, layer: Layer, way: Way = Way.PLAIN, maker: str = "") -> str:
        """The text of what is called: `self.` and the layer's name, with the way where another call has that name."""
        call = Call(self.keys[layer], way, maker)
        name = self.names[call.key]
        if way in (Way.MASK, Way.ACTIVITY_LOSS):
            name = f"{name}_{way.name.lower()}"
        while self.calls.setdefault(name, call) != call:
            name = f"{name}_{way.name.lower()}"
        return f"self.{name}"

    def _comment(self, node: Node) -> str:
        """The shapes of the outputs; of a function also its call as a person would write it."""
        layer: Any = node.layer
        comment = f"{unpacked(node.output_shapes)}"
        if Layout.CHANNELS_FIRST in map(self.natural.get, node.output_tensors):
            comment += ", channels first"
        if hasattr(layer, "_line") and (line := layer._line()):
            comment = f"{line} -> {comment}"
        return comment

    def _activity_losses(self, layer: Layer, outputs: list[KerasTensor], dtype: torch.dtype | None) -> None:
        """Write the penalties on a layer's outputs, cast to this type if there is one."""
        if not _has_activity_penalty(layer):
            return
        text = f"{self._callable(layer, Way.ACTIVITY_LOSS)}({{0}})"
        for tensor in outputs:
            self.losses.append(("", self._computed(text, self.value(tensor, Layout.KERAS, dtype), region="")))

    def _type_outputs(self, outputs: list[KerasTensor], made: list[int]) -> None:
        """Cast each of several outputs to the type of its tensor."""
        for tensor, value in zip(outputs, made, strict=True):
            if tensor.dtype.is_floating_point:
                cast = self._computed(f"typed({{0}}, {tensor.dtype})", value)
                self.made[tensor, self.natural[tensor], tensor.dtype] = cast

    def _overwrites(self, node: Node, layout: Layout) -> bool:
        """Whether a node may write its output where its first input is: nothing else needs that."""
        if facts_of(node.layer).in_place() is None:
            return False
        first = node.input_tensors[0]
        return (
            self._is_spare(first)
            and set(node.input_shapes) == {first.shape}
            and cast_type(node.layer, first, 0) is first.dtype
            and self.natural[first] is _layout_of(first, layout)
        )

    def _rectifies(self, node: Node) -> bool:
        """Whether a node may do the relu that its input ends in: for less, since it has fewer values."""
        if not facts_of(node.layer).commutes_with_relu:
            return False
        (tensor,) = node.input_tensors
        maker = tensor.keras_history.layer
        if node.has_own_mode or node_of(tensor).has_own_mode:
            return False
        return facts_of(maker).before_relu() is not None and self._has_one_use(tensor) and tensor not in self.raw

    def _needs_copy(self, layer: Layer, index: int, tensor: KerasTensor) -> bool:
        """Whether a layer's code changes an input in place, or may do so, that other nodes or the caller use."""
        if layer._is_unseen:
            return self.graph.uses[tensor] > 1 or index_of(tensor, self.graph.inputs) is not None
        return index in layer._changed_inputs and not self._is_spare(tensor)

    def _is_spare(self, tensor: KerasTensor) -> bool:
        """Whether the one node that uses a tensor may change it in place."""
        return facts_of(tensor.keras_history.layer).overwritable and self._has_one_use(tensor)

    def _has_one_use(self, tensor: KerasTensor) -> bool:
        """Whether nothing but one node uses a tensor."""
        penalized = _has_activity_penalty(tensor.keras_history.layer)
        return self.graph.uses[tensor] == 1 and self.masks[tensor] is None and not penalized

    def _nested_call(self, node: Node, call: str, uses: list[int], made: list[int]) -> None:
        """Write the call of a model inside the model that returns its masks and losses as well."""
        result = self._computed(call, *uses, region="")
        for index, tensor in enumerate(node.output_tensors):
            output = "{0}[0]"
            if len(made) > 1:
                output += f"[{index}]"
            self._add_line(output, (result,), (made[index],))
            if self.masks[tensor] is not None:
                self.mask_values[tensor] = self._computed(f"{{0}}[1][{index}]", result)
        self.losses.append(("*", self._computed("{0}[2]", result)))


def _layout_of(tensor: KerasTensor, layout: Layout) -> Layout:
    """The order of axes of a tensor in a layout: both are one for at most two axes."""
    return Layout.KERAS if tensor.ndim <= 2 else layout


def _has_activity_penalty(layer: Layer) -> bool:
    return getattr(layer, "activity_regularizer", None) is not None


def has_details(layer: Layer) -> bool:
    """Whether a layer is a model, whose call can return masks and losses next to its outputs."""
    return takes(layer, "details")


def _slots(values: list[int]) -> list[str]:
    """The texts that stand for the values of a line."""
    return [f"{{{index}}}" for index in range(len(values))]


def _slot(value: int | None, uses: list[int]) -> str:
    """The text that stands for one value more, which joins those used."""
    if value is None:
        return "None"
    uses.append(value)
    return f"{{{len(uses) - 1}}}"


def _mask_slots(masks: Iterable[int | None], uses: list[int]) -> list[str]:
    """The texts of masks, some of which are None; the values of the others join those used."""
    return [_slot(mask, uses) for mask in masks]


def _list_text(texts: str | list[str]) -> str:
    """A list of texts as one text; a single text as it is."""
    return texts if isinstance(texts, str) else f"[{', '.join(texts)}]"


def _first_argument(node: Node, texts: list[str]) -> str:
    """Of a text for each input, those of the call's first argument: one, or a list of them."""
    return _list_text(of_first(node.inputs, node.arguments, texts))


def _typed_call(node: Node, call: str, mixed: bool) -> str:
    """The call with its outputs as flat tensors; a single one, computed in 16 bits, in the type of its tensor."""
    first, *others = node.output_tensors
    if not is_flat(node.outputs):
        call = f"leaves({call})" if others else f"leaves({call})[0]"
    if mixed and not others and first.dtype.is_floating_point:
        call = f"typed({call}, {first.dtype})"
    return call


def runs_in_mode(node: Node) -> bool:
    """Whether a call says that all in the layer is in training or not, rather than the layer's own code alone."""
    return "training" in node.arguments and (
        not takes(node.layer, "training") or (bool(own_modules(node.layer)) and is_users_layer(node.layer))
    )


def _print(lines: list[Line], parameters: list[int], result: str, results: list[int], names: list[str]) -> str:
    """The text of the function: the lines with variable names, those that compute in 16 bits under autocast."""
    variables = _variables(lines, parameters, results, names)

    def named(values: Iterable[int]) -> list[str]:
        return [variables[value] for value in values]

    def statement(line: Line) -> str:
        return f"{', '.join(named(line.makes))} = {line.text.format(*named(line.uses))}"

    arguments = named(parameters)
    text = [f"def forward(self, {', '.join(arguments)}):"]
    for region, inside in groupby(lines, attrgetter("region")):
        indent = "    "
        if region:
            text.append(f"    with torch.autocast({arguments[0]}.device.type, torch.{region}):")
            indent = "        "
        text += [f"{indent}{statement(line)}" for line in inside]
    text.append("    return " + result.format(*named(results)))
    return "\n".join(text) + "\n"


def _variables(lines: list[Line], parameters: list[int], results: list[int], names: list[str]) -> dict[int, str]:
    """A variable name for each value, free again after its last use; inputs, called `names`, have theirs to the end."""
    unused = Unused({"torch", *HELPERS})
    inputs, masks = parameters[: len(names)], parameters[len(names) :]
    variables = dict(zip(inputs, map(unused, map(_identifier, names)), strict=True))
    for index, value in enumerate(masks, start=1):
        variables[value] = unused(f"mask_{index}")
    last_use = _last_uses(lines, [*inputs, *results])
    free: list[str] = []
    for index, line in enumerate(lines):
        free += [variables[value] for value in dict.fromkeys(line.uses) if last_use[value] == index]
        for value in line.makes:
            variables[value] = free.pop() if free else unused("x")
    return variables


def _last_uses(lines: list[Line], stored: list[int]) -> Mapping[int, int]:
    """For each value the number of the last line that uses it; after all of them for those stored to the end."""
    last: dict[int, int] = {}
    for index, line in enumerate(lines):
        last |= dict.fromkeys((*line.makes, *line.uses), index)
    return last | dict.fromkeys(stored, len(lines))


def _callable_name(key: str) -> str:
    """The key of a layer as an attribute of what generated code runs over, whose own begin with an underscore."""
    name = _identifier(key, "layer")
    return f"layer{name}" if name.startswith("_") else name


def _identifier(name: str, kind: str = "input") -> str:
    """A name as a Python identifier; `kind` comes before one that Python does not allow."""
    cleaned = re.sub(r"[^0-9A-Za-z]", "_", name)
    if cleaned.isidentifier() and cleaned not in RESERVED and not cleaned.startswith("__"):
        return cleaned
    return f"{kind}_{cleaned}"


# --- generated functions ----------------------------------------------------------------------------------------------


Written = tuple[str, Mapping[str, Call | Form]]  # a text, and what the names in it stand for


class GeneratedFunction:
    """A function that computes a graph, written as text when it is first needed.

    `compute(layers, *inputs, *masks)`: the function, which runs over `modules` where hooks must see the calls of the
    layers; `text`: its text; `calls`: what the names in the text stand for. `write` makes all four.
    """

    text: str
    calls: Mapping[str, Call | Form]
    modules: ModuleCalls
    compute: Any = None  # before it is written

    def __init__(self, network: Network, variant: Variant, written: Written | None = None):
        self.variant, self.written = variant, written

        def write() -> None:
            if self.compute is None:
                if self.written is None:
                    self.written = source(graph_of(network), variant, network._layer_keys())
                self.text, self.calls = self.written
                self.modules = ModuleCalls(network._modules, self.calls)
                self.compute = compiled(self.text, network.name)

        # As torch.compiler.assume_constant_result does, without its import of the compiler: writing is not traced.
        write._dynamo_marked_constant = True  # type: ignore[attr-defined]
        self.write = write


class GeneratedFunctions:
    """The functions of one network, by variant."""

    def __init__(self, network: Network, written: Mapping[Variant, Written | None] | None = None):
        self.network = network
        self.functions = {each: GeneratedFunction(network, each, text) for each, text in (written or {}).items()}
        self.remembered: Remembered | None = None
        self._settled = SETTLED.count  # how often options that functions are written by had changed

    def clear(self) -> None:
        """Forget what was written: the graph is another one."""
        self.functions = {}

    @property
    def plain(self) -> Variant:
        """The variant of inputs without masks, to outputs alone."""
        return Variant(masked=(False,) * len(graph_of(self.network).inputs))

    @property
    def code(self) -> str:
        """The text of the plain function."""
        return self.function(self.plain).text

    def function(self, variant: Variant) -> GeneratedFunction:
        """The function of a variant, written."""
        self.renew()
        function = self.functions.get(variant) or GeneratedFunction(self.network, variant)
        function.write()  # what cannot be written is not stored
        self.functions[variant] = function
        return function

    def renew(self) -> None:
        """Write the functions again if an option that they are written by has changed since."""
        if self._settled == SETTLED.count:
            return
        count = SETTLED.count
        renewed = {}
        for variant in list(self.functions):
            renewed[variant] = GeneratedFunction(self.network, variant)
            renewed[variant].write()
        self.functions, self._settled = renewed, count

    def state(self) -> dict[Variant, Written | None]:
        """What a copy and a pickle of the network store of them."""
        self.renew()
        return {variant: function.written for variant, function in list(self.functions.items())}

    def write_later(self) -> None:
        """Have the function that a call by hand runs written at the first: the plain one, or that with masks too."""
        called = self.plain._replace(details=graph_of(self.network).makes_masks)
        for variant in {self.plain, called}:
            self.functions[variant] = GeneratedFunction(self.network, variant)

    def direct_now(self, inputs: tuple[Any, ...]) -> DirectCalls | None:
        """The direct calls of the layers, for a plain call that nothing sees; else None."""
        if (
            type(inputs[0]) is not torch.Tensor
            or (compiled_somewhere() and is_compiling())
            or torch._C._get_tracing_state()
        ):
            return None
        if self.remembered is None:
            self.remembered = Remembered(self)
        return self.remembered.direct()

    def run(
        self,
        direct: DirectCalls | None,
        *inputs: Any,
        mask: Any = None,
        details: bool = False,
        logits: tuple[int, ...] = (),
    ) -> Any:
        """What `Network.forward` returns, computed by direct calls of the layers, or as modules where there are none.

        Raises ValueError for another number of inputs.
        """
        tensors: Any = inputs
        if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
            tensors = inputs[0]
        masked, masks = (False,) * len(tensors), []
        if mask is not None:
            masks = as_list(mask)
            masked = tuple(each is not None for each in masks) or masked
            masks = [each for each in masks if each is not None]
        # A tuple finds what is stored for the variant that is equal to it, and is made in less time.
        key: Any = masked, details, logits
        if self._settled != SETTLED.count:
            self.renew()
        if traced := compiled_somewhere() and is_compiling():
            key = Variant(*key)  # Dynamo of torch 2.11 and older does not find a named tuple by one without names
        function = self.functions.get(key)
        if function is None:
            self._check_count(len(tensors))
            function = self.function(Variant(*key))
        elif traced or function.compute is None:
            function.write()
        if direct is None:
            layers: Any = function.modules
        else:
            layers = direct.made.get(function.variant)
            if layers is None or layers._function is not function:
                layers = function.modules if traced else direct.make(function)  # torch.compile cannot follow the choice
        compute: Any = function.compute
        return compute(layers, *tensors, *masks)

    def _check_count(self, found: int) -> None:
        network = self.network
        expected = len(graph_of(network).inputs)
        if found != expected:
            raise ValueError(
                f"{type(network).__name__} {network.name!r} has {expected} inputs "
                f"({', '.join(network.input_names)}); it was called with {found}."
            )

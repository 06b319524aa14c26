"""One graph as a class: `__init__` with torch's layers, `forward` with a statement a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras.engine.layout import Layout, to_channels_first, to_keras
from torchkeras.engine.symbol import Shape
from torchkeras.export import facts
from torchkeras.export.book import TAKEN, Book, identifier, unused
from torchkeras.export.errors import EjectError
from torchkeras.export.statements import OPENING, Names, Statement, needed, printed, wrapped

NO_TENSORS: Mapping[str, Tensor] = {}
RULES: dict[type, Callable[..., Any]] = {}
MASK_RULES: dict[type, Callable[..., Any]] = {}


def rule(*kinds: type) -> Callable[[Any], Any]:
    """Register the function `(layer, call) -> value or values` that writes the calls of these layers."""
    return lambda function: [RULES.__setitem__(kind, function) for kind in kinds] and function


def mask_rule(*kinds: type) -> Callable[[Any], Any]:
    """Register the function `(layer, call) -> mask` that writes the mask of a call's outputs."""
    return lambda function: [MASK_RULES.__setitem__(kind, function) for kind in kinds] and function


@dataclass(frozen=True)
class Folded:
    """A sequence with its steps in the batch, and a variable that has the batch and the steps as its first axes."""

    value: Value
    lead: int


@dataclass(eq=False)
class Value:
    """A tensor on its way: its shape in Keras's order, its type, its mask, and the variables that hold it."""

    shape: Shape
    dtype: torch.dtype
    natural: Layout
    held: dict[tuple[Layout, torch.dtype], int] = field(default_factory=dict)
    mask: int | None = None
    folded: Folded | None = None

    @property
    def first(self) -> bool:
        """Whether it was computed with its channels first."""
        return self.natural is Layout.CHANNELS_FIRST


@dataclass(frozen=True)
class Method:
    """A written method: its name, its lines, and which outputs have a mask."""

    name: str
    lines: list[str]
    masked: tuple[bool, ...]


class NetworkWriter:
    """A class of the written module: submodules as they are used, and a method for each way it is called."""

    def __init__(self, book: Book, network: Any, name: str):
        self.book, self.network, self.name = book, network, name
        self.graph = facts.graph_of(network)
        self.init: list[str] = []
        self.state: dict[str, Tensor] = {}
        self.functions: dict[str, None] = {}  # the arguments of `__init__`
        self.resets: list[str] = []
        self._attributes: set[str] = set()
        self._known: dict[Any, str] = {}
        self._methods: dict[tuple[Any, ...], Method] = {}
        self.statements: list[Statement] = []
        self.bases: dict[int, str] = {}
        self.comments: dict[int, str] = {}
        self._count = 0

    # --- attributes --------------------------------------------------------------------------------------------------

    def attribute(self, wanted: str) -> str:
        """A new name of a submodule, parameter or buffer."""
        name = unused(identifier(wanted), self._attributes | TAKEN | self.functions.keys())
        self._attributes.add(name)
        return name

    def module(self, key: Any, wanted: str, text: str, tensors: Mapping[str, Tensor], frozen: bool = False) -> str:
        """`self.name` of a submodule that `text` makes, with these tensors; made once for a key."""
        if key not in self._known:
            name = self.attribute(wanted)
            self._known[key] = f"self.{name}"
            self.init += wrapped(f"self.{name} = {text}")
            if frozen:
                self.init.append(f"self.{name}.requires_grad_(False)")
            self.state.update({f"{name}.{inner}": tensor for inner, tensor in tensors.items()})
        return self._known[key]

    def buffer(self, key: Any, wanted: str, tensor: Tensor, kept: bool = True) -> str:
        """`self.name` of a buffer; one that is not `kept` begins as zeros and is in no file."""
        if key not in self._known:
            name = self.attribute(wanted)
            self._known[key] = f"self.{name}"
            dtype = "" if tensor.dtype is torch.float32 else f", dtype={tensor.dtype}"
            made = f"torch.zeros({', '.join(map(str, tensor.shape)) or '()'}{dtype})"
            if kept:
                self.state[name] = tensor
            else:
                self.resets.append(f"self.{name}.zero_()")
            self.init += wrapped(f'self.register_buffer("{name}", {made}{"" if kept else ", persistent=False"})')
        return self._known[key]

    def parameter(self, key: Any, wanted: str, tensor: nn.Parameter) -> str:
        """`self.name` of a parameter."""
        if key not in self._known:
            name = self.attribute(wanted)
            self._known[key] = f"self.{name}"
            dtype = "" if tensor.dtype is torch.float32 else f", dtype={tensor.dtype}"
            made = f"torch.zeros({', '.join(map(str, tensor.shape)) or '()'}{dtype})"
            frozen = "" if tensor.requires_grad else ", requires_grad=False"
            self.state[name] = tensor
            self.init += wrapped(f"self.{name} = nn.Parameter({made}{frozen})")
        return self._known[key]

    def function(self, wanted: str, function: Callable[..., Any]) -> str:
        """`self.name` of a function of the user's own."""
        name = self.book.function_name(wanted, function)
        if name not in self.functions:
            self.functions[name] = None
            self.init.append(f"self.{name} = {name}")
        return f"self.{name}"

    # --- statements --------------------------------------------------------------------------------------------------

    def new(self, base: str = "x") -> int:
        """A new value, whose variable is called `base` or alike."""
        self._count += 1
        self.bases[self._count] = base
        return self._count

    def line(self, text: str, *uses: int, base: str = "x", region: str = "") -> int:
        """The value of an expression."""
        made = self.new(base)
        self.statements.append(Statement(text, uses, made, region))
        return made

    def use(self, value: Value, layout: Layout, dtype: torch.dtype | None = None, region: str = "") -> int:
        """A value's variable in an order of axes and a type."""
        layout, dtype = Layout.KERAS if len(value.shape) <= 2 else layout, dtype or value.dtype
        if (layout, dtype) not in value.held:
            if dtype is value.dtype:
                order = (to_keras if layout is Layout.KERAS else to_channels_first)(len(value.shape))
                made = self.line(f"{{0}}.permute{order}", value.held[value.natural, dtype], region=region)
                self.comment(made, value.shape, layout)
            else:
                made = self.line(f"{{0}}.to({dtype})", self.use(value, layout), region=region)
            value.held[layout, dtype] = made
        return value.held[layout, dtype]

    def comment(self, made: int, shape: Shape, layout: Layout) -> None:
        """Show the shape of a value, as it lies, behind the statement that sets it."""
        order = to_channels_first(len(shape)) if layout is Layout.CHANNELS_FIRST else None
        sizes = shape if order is None else [shape[axis] for axis in order]
        texts = ["?" if size is None else str(size) for size in sizes]
        texts[:1] = ["batch" if sizes[0] is None else str(sizes[0])] if sizes else []
        self.comments[made] = f"({', '.join(texts)}{',' * (len(texts) == 1)})"

    def value(self, made: int, shape: Shape, dtype: torch.dtype, layout: Layout) -> Value:
        """A new value that a variable holds."""
        layout = Layout.KERAS if len(shape) <= 2 else layout
        self.comment(made, shape, layout)
        return Value(shape, dtype, layout, {(layout, dtype): made})

    # --- calls -------------------------------------------------------------------------------------------------------

    def call(
        self, layer: Any, inputs: list[Value], several: bool, arguments: Mapping[str, Any], outputs: Sequence[Any]
    ) -> list[Value]:
        """Write a call; `outputs` tell shapes and types of what it gives."""
        call = Call(self, layer, inputs, several, arguments, outputs)
        written = RULES.get(type(layer))
        if written is None and facts.is_network(layer):
            written = _nested
        if written is None:
            raise EjectError(
                f"{type(layer).__name__} {layer.name!r}: eject knows no plain PyTorch for this class. Put its "
                "computation into a Lambda, whose function you then give to the written module."
            )
        found = written(layer, call)
        made = list(found) if isinstance(found, (list, tuple)) else [found]
        mixed = facts.mixed_type(layer)
        values = []
        for variable, tensor in zip(made, outputs, strict=True):
            if mixed and tensor.dtype.is_floating_point:
                variable = self.line(f"{{0}}.to({tensor.dtype})", variable, region=mixed)
            values.append(self.value(variable, tensor.shape, tensor.dtype, call.layout))
        values[0].folded = call.folded
        masks = call.masks_of_outputs()
        for value, mask in zip(values, masks, strict=False):
            value.mask = mask
        return values

    def method(self, masked: tuple[bool, ...], gives_masks: bool) -> Method:
        """The method for inputs of which some have masks; it gives masks as well if asked to."""
        key = (masked, gives_masks)
        if key not in self._methods:
            name = "forward" if not self._methods else f"forward_{len(self._methods) + 1}"
            self._methods[key] = self._method(name, masked, gives_masks)
        return self._methods[key]

    def _method(self, name: str, masked: tuple[bool, ...], gives_masks: bool) -> Method:
        self.statements, tensors = [], {}
        parameters: list[tuple[int, str]] = []
        single = len(self.graph.inputs) == 1
        for tensor in self.graph.inputs:
            made = self.new("x" if single else "input")
            tensors[tensor] = self.value(made, tensor.shape, tensor.dtype, Layout.KERAS)
            parameters.append((made, "x" if single else identifier(facts.input_name(tensor))))
        inputs = [made for made, _ in parameters]
        for tensor, has in zip(self.graph.inputs, masked, strict=True):
            if has:
                tensors[tensor].mask = self.new("mask")
                parameters.append((tensors[tensor].mask, "mask"))
        for node in self.graph.nodes:
            if node.input_tensors:
                several = isinstance(node.inputs, (list, tuple))
                given = [tensors[tensor] for tensor in node.input_tensors]
                outputs = self.call(node.layer, given, several, node.arguments, node.output_tensors)
                tensors.update(zip(node.output_tensors, outputs, strict=True))
        found = [tensors[tensor] for tensor in self.graph.outputs]
        results = [self.use(value, Layout.KERAS) for value in found]
        masks = [value.mask for value in found]
        lines = self._printed(name, parameters, inputs, results, masks if gives_masks else None)
        return Method(name, lines, tuple(mask is not None for mask in masks))

    def _printed(
        self,
        name: str,
        parameters: list[tuple[int, str]],
        inputs: list[int],
        results: list[int],
        masks: list[int | None] | None,
    ) -> list[str]:
        given = [*results, *(mask for mask in masks or () if mask is not None)]
        kept = needed(self.statements, given)
        names = Names({*self.book.reserved}, self.bases)
        arguments = ", ".join(["self", *(names.reserve(value, wanted) for value, wanted in parameters)])
        names.keep(inputs if len(inputs) > 1 else ())
        lines = printed(kept, names, given, self.comments, inputs[0])
        result = ", ".join(names.of[value] for value in results)
        if masks is not None:
            texts = ["None" if mask is None else names.of[mask] for mask in masks]
            result = f"({result}), ({', '.join(texts)})" if len(results) > 1 else f"{result}, {texts[0]}"
        head = wrapped(f"def {name}({arguments}):", 4)
        return [*head, *("    " + line for line in _simplified(lines, result))]

    def text(self, docstring: str) -> str:
        """The class."""
        arguments = ", ".join(["self", *self.functions])
        body = [f"class {self.name}(nn.Module):", *(f"    {line}".rstrip() for line in docstring.splitlines()), ""]
        body += [f"    {line}" for line in wrapped(f"def __init__({arguments}):", 4)]
        body += [f"        {line}" for line in ["super().__init__()", *self.init]]
        for method in self._methods.values():
            body += ["", *(f"    {line}" for line in method.lines)]
        if self.resets:
            body += ["", "    def reset_states(self):", '        """Forget what was carried from batch to batch."""']
            body += [f"        {line}" for line in self.resets]
        return "\n".join(body) + "\n"


def _simplified(lines: list[str], result: str) -> list[str]:
    """The lines and the return; of `x = f(x)` followed by `return x` one line is made."""
    last = lines[-1] if lines else ""
    if last.lstrip().startswith(f"{result} = ") and last[-1] not in OPENING:
        return [*lines[:-1], last.replace(f"{result} = ", "return ", 1)]
    return [*lines, f"return {result}"]


class Call:
    """One call, as a rule sees it: its inputs, in the order of axes and the type that the layer wants."""

    def __init__(
        self,
        writer: NetworkWriter,
        layer: Any,
        values: list[Value],
        several: bool,
        arguments: Mapping[str, Any],
        outputs: Sequence[Any],
    ):
        self.writer, self.layer, self.values, self.several = writer, layer, values, several
        self.arguments, self.outputs = arguments, outputs
        self.region = facts.mixed_type(layer)
        self.layout, self.axis = facts.layouts(layer, [len(v.shape) for v in values], [v.first for v in values])
        self.masks = [value.mask for value in values]
        self._output_masks: list[int | None] | None = None
        self.folded: Folded | None = None  # of the output, said by a rule

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
        """Set several values at once, or with `stays` do something besides."""
        self.writer.statements.append(Statement(text, uses, targets, self.region, stays))

    def new(self, base: str = "x") -> int:
        """A value to be set by `assign`."""
        return self.writer.new(base)

    def helper(self, function: Any) -> str:
        """The name of a helper that the module will have."""
        return self.writer.book.helper(function)

    def note(self, text: str) -> None:
        """Say in the module's docstring what differs."""
        self.writer.book.note(text)

    def module(self, text: str, tensors: Mapping[str, Tensor] | nn.Module = NO_TENSORS, suffix: str = "") -> str:
        """`self.name` of the layer's submodule (of one of several by `suffix`)."""
        frozen = False
        if isinstance(tensors, nn.Module):
            frozen = facts.is_frozen(tensors)
            tensors = tensors.state_dict()
        else:
            parameters = [tensor for tensor in tensors.values() if isinstance(tensor, nn.Parameter)]
            frozen = bool(parameters) and not any(parameter.requires_grad for parameter in parameters)
        name = f"{self.layer.name}_{suffix}" if suffix else self.layer.name
        return self.writer.module((self.layer, suffix), name, text, tensors, frozen)

    def held(self, key: Any, wanted: str, tensor: Tensor) -> str:
        """`self.name` of a parameter, or of a constant."""
        if isinstance(tensor, nn.Parameter):
            return self.writer.parameter(key, wanted, tensor)
        return self.writer.buffer(key, wanted, tensor)

    def inner(self, layer: Any, values: list[Value], several: bool = False) -> list[Value]:
        """Write a call of a layer inside this one."""
        symbolic = [facts.KerasTensor(value.shape, value.dtype) for value in values]
        masks = [None if v.mask is None else facts.KerasTensor(v.shape[:2], torch.bool) for v in values]
        outputs = facts.outputs_for(layer, symbolic if several else symbolic[0], masks, {})
        return self.writer.call(layer, values, several, {}, outputs)

    def set_masks(self, *masks: int | None) -> None:
        """Say what the masks of the outputs are, instead of a mask rule."""
        self._output_masks = list(masks)

    def masks_of_outputs(self) -> list[int | None]:
        """The masks of the outputs, written where there are some."""
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


def _nested(layer: Any, call: Call) -> list[int]:
    """A model inside: a class of its own."""
    outer = call.writer
    inner = writer_of(outer.book, layer)
    masked = tuple(mask is not None for mask in call.masks)
    asks = any(masked) or any(tensor._keras_mask is not None for tensor in facts.graph_of(layer).outputs)
    method = inner.method(masked, asks)
    for name in inner.functions:
        outer.function(name, outer.book.functions[name])
    path = outer.module(layer, layer.name, f"{inner.name}({', '.join(inner.functions)})", inner.state)
    uses = [*call.inputs, *(mask for mask in call.masks if mask is not None)]
    called = path if method.name == "forward" else f"{path}.{method.name}"
    text = f"{called}({slots(len(uses))})"
    if inner.resets and f"{path}.reset_states()" not in outer.resets:
        outer.resets.append(f"{path}.reset_states()")
    values, masks = [call.new() for _ in call.outputs], [call.new("mask") for _ in call.outputs]
    results, given = (tuple(values), tuple(masks)) if len(values) > 1 else (values[0], masks[0])
    call.assign((results, given) if asks else results, text, *uses, stays=bool(inner.resets))
    call.set_masks(*(mask if has and asks else None for mask, has in zip(masks, method.masked, strict=True)))
    return values


def slots(count: int) -> str:
    """`{0}, {1}` and so on."""
    return ", ".join(f"{{{index}}}" for index in range(count))


def writer_of(book: Book, network: Any) -> NetworkWriter:
    """The writer of a model inside: one for all places where it stands."""
    if network not in book.writers:
        book.writers[network] = NetworkWriter(book, network, book.class_name(network.name))
    return book.writers[network]

"""One graph as a class: `__init__` with torch's layers, `forward` with a statement for each call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras.engine.symbolic.axis_order import Layout, to_channels_first, to_keras
from torchkeras.engine.symbolic.tensor import Node, Shape
from torchkeras.export.errors import EjectError
from torchkeras.export.plain import facts
from torchkeras.export.plain.book import TAKEN, Book, identifier, unused
from torchkeras.export.plain.call import LayerCall, slots
from torchkeras.export.plain.statements import OPENING, Names, Statement, needed, printed, wrapped
from torchkeras.export.plain.values import Value


@dataclass(frozen=True)
class Method:
    """A written method: its name, its lines, and which outputs have a mask."""

    name: str
    lines: list[str]
    masked: tuple[bool, ...]


class NetworkWriter:
    """A class of the written module: the submodules that it uses, and a method for each way in which it is called."""

    def __init__(self, book: Book, network: Any, name: str, is_main: bool = False):
        self.is_main = is_main  # its outputs have the form that the user gave them
        self.book, self.network, self.name = book, network, name
        self.graph = facts.graph_of(network)
        self.init: list[str] = []
        self.state: dict[str, Tensor] = {}
        self.functions: dict[str, None] = {}  # the arguments of `__init__`
        self.resets: list[str] = []
        self.modes: dict[Any, Any] = {}  # the modes given in calls of layers
        self.fixed: dict[str, None] = {}  # statements that set the mode of submodules
        self._attributes: set[str] = set()
        self.known: dict[Any, str] = {}
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
        """`self.name` of a submodule made by `text`, with these tensors; one for each key."""
        if key not in self.known:
            name = self.attribute(wanted)
            self.known[key] = f"self.{name}"
            self.init += wrapped(f"self.{name} = {text}")
            if frozen:
                self.init.append(f"self.{name}.requires_grad_(False)")
            self.state.update({f"{name}.{inner}": tensor for inner, tensor in tensors.items()})
        return self.known[key]

    def buffer(self, key: Any, wanted: str, tensor: Tensor, kept: bool = True) -> str:
        """`self.name` of a buffer; without `kept` it begins as zeros and is not saved."""
        if key not in self.known:
            name = self.attribute(wanted)
            self.known[key] = f"self.{name}"
            dtype = "" if tensor.dtype is torch.float32 else f", dtype={tensor.dtype}"
            made = f"torch.zeros({', '.join(map(str, tensor.shape)) or '()'}{dtype})"
            if kept:
                self.state[name] = tensor
            else:
                self.resets.append(f"self.{name}.zero_()")
            self.init += wrapped(f'self.register_buffer("{name}", {made}{"" if kept else ", persistent=False"})')
        return self.known[key]

    def parameter(self, key: Any, wanted: str, tensor: nn.Parameter) -> str:
        """`self.name` of a parameter."""
        if key not in self.known:
            name = self.attribute(wanted)
            self.known[key] = f"self.{name}"
            dtype = "" if tensor.dtype is torch.float32 else f", dtype={tensor.dtype}"
            made = f"torch.zeros({', '.join(map(str, tensor.shape)) or '()'}{dtype})"
            frozen = "" if tensor.requires_grad else ", requires_grad=False"
            self.state[name] = tensor
            self.init += wrapped(f"self.{name} = nn.Parameter({made}{frozen})")
        return self.known[key]

    def function(self, wanted: str, function: Callable[..., Any]) -> str:
        """`self.name` of a user's function."""
        name = self.book.function_name(wanted, function)
        if name not in self.functions:
            self.functions[name] = None
            self.init.append(f"self.{name} = {name}")
        return f"self.{name}"

    def given_module(self, key: Any, wanted: str, module: nn.Module) -> str:
        """`self.name` of a user's module, which is an argument of the class."""
        path = self.function(wanted, module)
        if key not in self.known:
            self.known[key] = path
            self.state.update({f"{path.removeprefix('self.')}.{name}": t for name, t in module.state_dict().items()})
        return path

    # --- statements --------------------------------------------------------------------------------------------------

    def new(self, base: str = "x") -> int:
        """A new value; its variable is called `base`, with a number if needed."""
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
        """Show the shape of a value, in its order of axes, after the statement that sets it."""
        order = to_channels_first(len(shape)) if layout is Layout.CHANNELS_FIRST else None
        sizes = shape if order is None else [shape[axis] for axis in order]
        texts = ["?" if size is None else str(size) for size in sizes]
        texts[:1] = ["batch" if sizes[0] is None else str(sizes[0])] if sizes else []
        self.comments[made] = f"({', '.join(texts)}{',' * (len(texts) == 1)})"

    def value(self, made: int, shape: Shape, dtype: torch.dtype, layout: Layout) -> Value:
        """A new value held by a variable."""
        layout = Layout.KERAS if len(shape) <= 2 else layout
        self.comment(made, shape, layout)
        return Value(shape, dtype, layout, {(layout, dtype): made})

    # --- calls -------------------------------------------------------------------------------------------------------

    def call(
        self, layer: Any, inputs: list[Value], several: bool, arguments: Mapping[str, Any], outputs: Sequence[Any]
    ) -> list[Value]:
        """Write a call; `outputs` have the shapes and types of its results."""
        call = LayerCall(self, layer, inputs, several, arguments, outputs)
        written = self.book.rules.get(type(layer))
        if written is None and facts.is_network(layer):
            facts.check_graph(layer)
            written = _nested
        if written is None:
            raise EjectError(
                f"{type(layer).__name__} {layer.name!r}: eject knows no plain PyTorch for this class. Put its "
                "computation into a Lambda, whose function you then give to the written module."
            )
        foreign = facts.foreign_module(layer)
        if foreign is not None:
            raise EjectError(
                f"{type(layer).__name__} {layer.name!r}: it holds a {type(foreign).__name__} in the place of "
                "torch's own module; eject writes what Keras has there."
            )
        found = written(layer, call)
        self._keep_mode(layer, call)
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

    def _keep_mode(self, layer: Any, call: LayerCall) -> None:
        """Keep the submodules of a call with `training=` in that mode, whatever the mode of the whole."""
        who = f"{type(layer).__name__} {layer.name!r}"
        unread = call.arguments.keys() - call.read
        if unread:
            raise EjectError(f"{who}: eject knows no call of it with the argument {min(unread)!r}.")
        if self.modes.setdefault(layer, call.training) != call.training:
            raise EjectError(
                f"{who}: it is called with training={call.training!r} and with training={self.modes[layer]!r}; eject "
                "writes one of them."
            )
        if call.training is None:
            return
        if any("self.training" in each.text for each in self.statements[call.begin :]):
            raise EjectError(f"{who}: eject knows no call of it with training={call.training!r}.")
        mode = "train" if call.training else "eval"
        self.fixed.update({f"{path}.{mode}()": None for path in self._modules_of(layer)})

    def _modules_of(self, layer: Any) -> Iterator[str]:
        """The attributes that hold the modules of a layer."""
        for key, path in self.known.items():
            owner = key[0] if isinstance(key, tuple) else key
            if owner is layer:
                yield path

    def method(self, masked: tuple[bool, ...], gives_masks: bool) -> Method:
        """The method for inputs with these masks; with `gives_masks` it also returns masks."""
        key = (masked, gives_masks)
        if key not in self._methods:
            name = "forward" if not self._methods else f"forward_{len(self._methods) + 1}"
            self._methods[key] = self._method(name, masked, gives_masks)
        return self._methods[key]

    def _method(self, name: str, masked: tuple[bool, ...], gives_masks: bool) -> Method:
        self.statements = []
        tensors: dict[Any, Value] = {}
        parameters = self._take_inputs(tensors)
        inputs = [made for made, _ in parameters]
        for tensor in compress(self.graph.inputs, masked):
            tensors[tensor].mask = mask = self.new("mask")
            parameters.append((mask, "mask"))
        for node in self.graph.nodes:
            if node.input_tensors:
                self._compute(node, tensors)
        found = [tensors[tensor] for tensor in self.graph.outputs]
        results = [self.use(value, Layout.KERAS) for value in found]
        masks = [value.mask for value in found]
        lines = self._printed(name, parameters, inputs, results, masks if gives_masks else None)
        return Method(name, lines, tuple(mask is not None for mask in masks))

    def _compute(self, node: Node, tensors: dict[Any, Value]) -> None:
        """Write the call of a node, and add its outputs to `tensors`."""
        several = isinstance(node.inputs, (list, tuple))
        given = [tensors[tensor] for tensor in node.input_tensors]
        outputs = self.call(node.layer, given, several, node.arguments, node.output_tensors)
        tensors.update(zip(node.output_tensors, outputs, strict=True))

    def _take_inputs(self, tensors: dict[Any, Value]) -> list[tuple[int, str]]:
        """Add a value for each input of the model; returns their variables and the names that these shall have."""
        parameters = []
        single = len(self.graph.inputs) == 1
        for tensor in self.graph.inputs:
            made = self.new("x" if single else "input")
            tensors[tensor] = self.value(made, tensor.shape, tensor.dtype, Layout.KERAS)
            parameters.append((made, "x" if single else identifier(facts.input_name(tensor))))
        return parameters

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
        head = wrapped(f"def {name}({arguments}):", 4)
        return [*head, *("    " + line for line in _simplified(lines, self._result(names, results, masks)))]

    def _result(self, names: Names, results: list[int], masks: list[int | None] | None) -> str:
        """What the method returns: the outputs, in a dict if the model's are, and their masks if it gives some."""
        result = ", ".join(names.of[value] for value in results)
        keys = facts.output_keys(self.network) if self.is_main else None
        if keys is not None:
            pairs = (f"{json.dumps(key)}: {names.of[value]}" for key, value in zip(keys, results, strict=True))
            result = f"{{{', '.join(pairs)}}}"
        if masks is None:
            return result
        texts = ["None" if mask is None else names.of[mask] for mask in masks]
        return f"({result}), ({', '.join(texts)})" if len(results) > 1 else f"{result}, {texts[0]}"

    def text(self, docstring: str) -> str:
        """The class."""
        arguments = ", ".join(["self", *self.functions])
        body = [f"class {self.name}(nn.Module):", *(f"    {line}".rstrip() for line in docstring.splitlines()), ""]
        body += [f"    {line}" for line in wrapped(f"def __init__({arguments}):", 4)]
        body += [f"        {line}" for line in ["super().__init__()", *self.init, *self.fixed]]
        for method in self._methods.values():
            body += ["", *(f"    {line}" for line in method.lines)]
        if self.fixed:
            body += ["", "    def train(self, mode=True):", "        super().train(mode)"]
            body += [f"        {line}" for line in self.fixed]
            body += ["        return self"]
        if self.resets:
            body += ["", "    def reset_states(self):", '        """Forget what was carried from batch to batch."""']
            body += [f"        {line}" for line in self.resets]
        return "\n".join(body) + "\n"


def _simplified(lines: list[str], result: str) -> list[str]:
    """The lines and the return; `x = f(x)` before `return x` becomes `return f(x)`."""
    last = lines[-1] if lines else ""
    if last.lstrip().startswith(f"{result} = ") and last[-1] not in OPENING:
        return [*lines[:-1], last.replace(f"{result} = ", "return ", 1)]
    return [*lines, *wrapped(f"return {result}")]


def _nested(layer: Any, call: LayerCall) -> list[int]:
    """An inner model, as a class of its own."""
    outer = call.writer
    inner = writer_of(outer.book, layer)
    masked = tuple(mask is not None for mask in call.masks)
    asks = any(masked) or facts.graph_of(layer).makes_masks
    method = inner.method(masked, asks)
    path = _own_module(outer, inner, layer)
    uses = [*call.inputs, *(mask for mask in call.masks if mask is not None)]
    values, masks = [call.new() for _ in call.outputs], [call.new("mask") for _ in call.outputs]
    text = f"{path if method.name == 'forward' else f'{path}.{method.name}'}({slots(len(uses))})"
    stays = bool(inner.resets)
    if not asks:
        call.assign(_targets(values), text, *uses, stays=stays)
        call.set_masks(*(None for _ in masks))
    else:
        call.assign((_targets(values), _targets(masks)), text, *uses, stays=stays)
        call.set_masks(*(mask if has else None for mask, has in zip(masks, method.masked, strict=True)))
    return values


def _own_module(outer: NetworkWriter, inner: NetworkWriter, layer: Any) -> str:
    """The attribute of the outer model that holds an inner one, with the functions and states that this needs."""
    for name in inner.functions:
        outer.function(name, outer.book.functions[name])
    path = outer.module(layer, layer.name, f"{inner.name}({', '.join(inner.functions)})", inner.state)
    reset = f"{path}.reset_states()"
    if inner.resets and reset not in outer.resets:
        outer.resets.append(reset)
    return path


def _targets(values: list[int]) -> Any:
    """What one value or several are assigned to."""
    return tuple(values) if len(values) > 1 else values[0]


def writer_of(book: Book, network: Any) -> NetworkWriter:
    """The writer of an inner model: one for all places where it occurs."""
    if network not in book.writers:
        book.writers[network] = NetworkWriter(book, network, book.class_name(network.name))
    return book.writers[network]

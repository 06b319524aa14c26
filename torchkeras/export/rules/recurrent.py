"""Recurrent layers: torch's own where they compute the same, else a cell and the walk along time."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from torchkeras import activations, layers
from torchkeras.engine.layout import Layout
from torchkeras.export.errors import EjectError
from torchkeras.export.formulas import noise, recurrent as formulas
from torchkeras.export.network import Call, Value, mask_rule, rule
from torchkeras.export.rules.convolution import convolution
from torchkeras.export.rules.core import as_function
from torchkeras.layers.recurrence import TorchRecurrent
from torchkeras.layers.spatial import FIXED_PADDINGS, same_padding, torch_padding

TORCH = {"lstm": "nn.LSTM", "gru": "nn.GRU", "rnn": "nn.RNN"}
LSTMS = (layers.LSTM, layers.LSTMCell, layers.CuDNNLSTM)
GRUS = (layers.GRU, layers.GRUCell, layers.CuDNNGRU)
CONV_LSTMS = (layers.ConvLSTM1D, layers.ConvLSTM2D, layers.ConvLSTM3D)
PADS = {1: "nn.ConstantPad1d", 2: "nn.ZeroPad2d", 3: "nn.ConstantPad3d"}


# --- cells -----------------------------------------------------------------------------------------------------------


def cell_of(layer: Any, call: Call) -> tuple[str, dict[str, Tensor]]:
    """The text that makes the cell of a layer (or cell), and its tensors."""
    if isinstance(layer, layers.StackedRNNCells):
        return _stacked(layer, call)
    if isinstance(layer, (*CONV_LSTMS, layers.ConvLSTM2DCell)):
        return _conv_lstm(layer, call)
    held = getattr(layer, layer.submodule)
    kernel, recurrent = held.weight_ih_l0, held.weight_hh_l0
    features, units = kernel.shape[1], recurrent.shape[1]
    has_bias = held.bias_ih_l0 is not None if hasattr(held, "bias_ih_l0") else False
    activation = as_function(call, getattr(layer, "activation", activations.tanh))
    given = [str(features), str(units), activation]
    tensors: dict[str, Any] = {"input.weight": kernel, "recurrent.weight": recurrent}
    after = isinstance(layer, layers.CuDNNGRU) or (isinstance(layer, GRUS) and layer.reset_after)
    if has_bias and after:
        tensors |= {"input.bias": held.bias_ih_l0, "recurrent.bias": held.bias_hh_l0}
    elif has_bias:
        tensors["input.bias"] = _sum(held)
    if isinstance(layer, (*LSTMS, *GRUS)):
        given.append(as_function(call, getattr(layer, "recurrent_activation", activations.sigmoid)))
    if isinstance(layer, GRUS) and not after:
        del tensors["recurrent.weight"]
        tensors["gates.weight"], tensors["new.weight"] = _split(recurrent, 2 * units)
    kind: Any = formulas.LSTMCell if isinstance(layer, LSTMS) else formulas.SimpleRNNCell
    if isinstance(layer, GRUS):
        kind = formulas.ResetAfterGRUCell if after else formulas.GRUCell
    return f"{call.helper(kind)}({', '.join(given)}{'' if has_bias else ', bias=False'})", tensors


def _sum(held: Any) -> Tensor:
    """The one bias of a layer whose module has two: the second is zero, or trains with the first."""
    second = held.bias_hh_l0
    if second is None or not second.any():
        return held.bias_ih_l0
    return _as_trained(held.bias_ih_l0, held.bias_ih_l0.detach() + second.detach())


def _split(kernel: Tensor, at: int) -> list[Tensor]:
    return [_as_trained(kernel, part) for part in kernel.detach().tensor_split((at,))]


def _as_trained(like: Tensor, tensor: Tensor) -> Tensor:
    """A parameter that is trained if another one is."""
    return nn.Parameter(tensor, requires_grad=like.requires_grad)


def _stacked(layer: Any, call: Call) -> tuple[str, dict[str, Tensor]]:
    texts, tensors, counts = [], {}, []
    for index, cell in enumerate(layer.cells):
        text, own = own_cell(cell, call)
        texts.append(text)
        tensors.update({f"cells.{index}.{name}": tensor for name, tensor in own.items()})
        size = cell.state_size
        counts.append(len(size) if isinstance(size, (list, tuple)) else 1)
    reverse = ", reverse_states=True" * bool(layer.reverse_state_order)
    return f"{call.helper(formulas.StackedCells)}([{', '.join(texts)}], {counts}{reverse})", tensors


def own_cell(cell: Any, call: Call) -> tuple[str, dict[str, Tensor]]:
    """The text and tensors of a cell. Raises EjectError for one of the user's."""
    known = (layers.SimpleRNNCell, layers.LSTMCell, layers.GRUCell, layers.StackedRNNCells, layers.ConvLSTM2DCell)
    if type(cell) not in known:
        raise EjectError(
            f"{type(call.layer).__name__} {call.layer.name!r}: eject knows no plain PyTorch for its cell, a "
            f"{type(cell).__name__}."
        )
    if getattr(cell, "dropout", 0) or getattr(cell, "recurrent_dropout", 0):
        call.note(f"{call.layer.name}: its cells drop nothing in training; in Keras they do.")
    return cell_of(cell, call)


def _conv_lstm(layer: Any, call: Call) -> tuple[str, dict[str, Tensor]]:
    rank = layer.rank
    last = layer.data_format == "channels_last"
    shape = call.values[0].shape
    sizes = list(shape[2:-1] if last else shape[3:])
    texts, tensors = [], {}
    for name, module, padding in (
        ("input", layer.input_conv, layer.padding),
        ("recurrent", layer.recurrent_conv, layer.recurrent_padding),
    ):
        pads = _pads(module, padding, sizes if name == "input" else None)
        if pads is None:
            raise EjectError(f"{type(layer).__name__} {layer.name!r}: padding 'same' with strides needs known sizes.")
        text = convolution(module)
        inner = f"{name}."
        if any(pads):
            around = f"{PADS[rank]}({tuple(pads)}{'' if rank == 2 else ', 0.0'})"
            text, inner = f"nn.Sequential({around}, {text})", f"{name}.1."
        texts.append(text)
        tensors |= {inner + key: tensor for key, tensor in module.named_parameters()}
    functions = [_over_images(layer, call, f) for f in (layer.activation, layer.recurrent_activation)]
    return f"{call.helper(formulas.ConvLSTMCell)}({', '.join([*texts, *functions])})", tensors


def _over_images(layer: Any, call: Call, function: Any) -> str:
    """An activation of images with their channels first."""
    if layer.data_format == "channels_last" and not activations.is_pointwise(function):
        if function is not activations.softmax:
            raise EjectError(f"{type(layer).__name__} {layer.name!r}: eject knows no activation {function!r} there.")
        return "lambda x: torch.softmax(x, 1)"
    return as_function(call, function)


def _pads(module: Any, padding: str, sizes: list[int | None] | None) -> list[int] | None:
    """What is padded around images, in the order of `F.pad`; None when it depends on sizes that are not known."""
    window = list(zip(module.kernel_size, module.stride, module.dilation, strict=True))
    if padding == "same" and any(k > 1 and s > 1 for k, s, _ in window):
        if sizes is None or None in sizes:
            return None
        return torch_padding(same_padding(size, *each) for size, each in zip(sizes, window, strict=True))  # type: ignore[arg-type]
    return torch_padding(FIXED_PADDINGS[padding]((k - 1) * d) for k, _, d in window)


# --- one direction ---------------------------------------------------------------------------------------------------


class Direction:
    """A recurrent layer's walk in one direction: of a layer of a graph, or of one half of a Bidirectional."""

    def __init__(self, layer: Any, call: Call, suffix: str = ""):
        self.layer, self.call, self.suffix = layer, call, suffix
        self.writer = call.writer

    def walk(self, x: int, mask: int | None, given: list[int]) -> tuple[int, list[int]]:
        """Write it: the output (of all steps, or the last one), and the final states."""
        layer = self.layer
        if layer.go_backwards:
            x = self.call.line("{0}.flip(1)", x)
            mask = None if mask is None else self.call.line("{0}.flip(1)", mask, base="mask")
        if self._is_torchs() and (layer, "masked") not in self.writer.book.masked:
            if mask is None:
                return self._by_torch(x, given)
            self.writer.book.masked_later.add((layer, "masked"))
        return self._by_cell(x, mask, given)

    def _is_torchs(self) -> bool:
        layer = self.layer
        fused = (
            isinstance(layer, TorchRecurrent)
            and layer._fused
            and type(getattr(layer, layer.submodule))
            in (
                nn.LSTM,
                nn.GRU,
                nn.RNN,
            )
        )
        drops = layer.recurrent_dropout or (layer.dropout and layer.drop_sets > 1) if fused else False
        return fused and not drops

    def _dropped(self, x: int) -> int:
        if not getattr(self.layer, "dropout", 0):
            return x
        name = self.call.helper(noise.drop_features)
        return self.call.line(f"{name}({{0}}, {self.layer.dropout}, self.training)", x)

    def _by_torch(self, x: int, given: list[int]) -> tuple[int, list[int]]:
        layer, call = self.layer, self.call
        held = getattr(layer, layer.submodule)
        options = ["batch_first=True"]
        options += ["bias=False"] if not held.bias else []
        options += ['nonlinearity="relu"'] if getattr(held, "nonlinearity", "tanh") == "relu" else []
        text = f"{TORCH[layer.submodule]}({held.input_size}, {held.hidden_size}, {', '.join(options)})"
        path = call.module(text, held, self.suffix)
        begin = self._carried() or given
        uses = [self._dropped(x), *begin]
        states = [f"{{{1 + k}}}.unsqueeze(0)" for k in range(len(begin))]
        if layer.stateful:
            uses, states = uses[:1], [f"{path_of}.unsqueeze(0)" for path_of in self._buffers()]
        passed = ""
        if states:
            passed = f", ({', '.join(states)})" if len(states) > 1 else f", {states[0]}"
        output = call.new()
        final = [call.new(base) for base in ("h", "c")[: layer.state_count]]
        found: Any = final[0] if len(final) == 1 else tuple(final)
        call.assign((output, found), f"{path}({{0}}{passed})", *uses, stays=bool(layer.stateful))
        squeezed = [call.line("{0}.squeeze(0)", state, base=base) for state, base in zip(final, "hc", strict=False)]
        self._carry(squeezed)
        if not layer.return_sequences:
            output = call.line("{0}[:, -1]", output)
        return output, squeezed

    def _by_cell(self, x: int, mask: int | None, given: list[int]) -> tuple[int, list[int]]:
        layer, call = self.layer, self.call
        path = self._cell()
        if getattr(layer, "dropout", 0) and not self._draws()[0]:
            x = self._dropped(x)
        uses, passed = [x], ""
        if mask is not None:
            uses, passed = [x, mask], ", {1}"
        states = [f"{{{len(uses) + k}}}" for k in range(len(given))]
        if layer.stateful:
            states = self._buffers()
        else:
            uses = [*uses, *given]
        if states:
            passed += f", ({', '.join(states)}{',' * (len(states) == 1)})"
        if mask is not None and (held := self._held()) != "state":
            passed += f', held="{held}"'
        function = call.helper(formulas.walk if mask is None else formulas.walk_masked)
        output = call.new()
        names = "hc" if layer.state_count <= 2 else "s" * layer.state_count
        final = [call.new(base) for base in names[: layer.state_count]]
        text = f"{function}({path}, {{0}}{passed})"
        call.assign((output, tuple(final)), text, *uses, stays=bool(layer.stateful))
        self._carry(final)
        if not layer.return_sequences:
            output = call.line("{0}[:, -1]", output)
        return output, final

    def _held(self) -> str:
        """What stands in for the output of a masked step."""
        layer = self.layer
        if layer.zero_output_for_mask:
            return "zero"
        shapes = layer.state_shapes(self.call.values[0].shape), layer.step_shape(self.call.values[0].shape)
        other = tuple(shapes[0][0]) != tuple(shapes[1])
        return "output" if layer.unroll or layer.zero_output_for_mask is False or other else "state"

    # --- dropout inside ----------------------------------------------------------------------------------------------

    def _draws(self) -> tuple[bool, bool]:
        """Whether factors are drawn for each gate's input, and for the state."""
        layer = self.layer
        sets = getattr(layer, "drop_sets", 1)
        return bool(getattr(layer, "dropout", 0)) and sets > 1, bool(getattr(layer, "recurrent_dropout", 0))

    def _cell(self) -> str:
        """`self.name` of the cell; what it drops in training is drawn before the walk."""
        layer, call = self.layer, self.call
        if isinstance(layer, layers.RNN):
            text, tensors = own_cell(layer.cell, call)
            return call.module(text, tensors, self.suffix)
        text, tensors = cell_of(layer, call)
        inputs, states = self._draws()
        if isinstance(layer, CONV_LSTMS) and (layer.dropout or layer.recurrent_dropout):
            call.note(f"{layer.name}: its dropout, of images at each gate, is left out.")
            return call.module(text, tensors, self.suffix)
        whole = states and getattr(layer, "drop_sets", 1) == 1 and isinstance(layer, GRUS)
        if whole:
            name = call.helper(formulas.StateDropout)
            text = f"{name}({text}, {layer.units}, {layer.recurrent_dropout})"
            tensors = {f"cell.{key}": tensor for key, tensor in tensors.items()}
        known = (layer, self.suffix) in self.writer._known or (call.layer, self.suffix) in self.writer._known
        path = call.module(text, tensors, self.suffix)
        for part, rate, gates in self._dropping(inputs, states and not whole):
            if not known:
                self._replace(path, part, rate, gates, tensors)
            call.assign(None, f"{path}.{part}.draw(len({{0}}))", self.x_of_call(), stays=True)
        if whole:
            call.assign(None, f"{path}.draw(len({{0}}))", self.x_of_call(), stays=True)
        return path

    def x_of_call(self) -> int:
        """The sequence that the layer is called on."""
        return self.call.input(0, Layout.KERAS)

    def _dropping(self, inputs: bool, states: bool) -> list[tuple[str, float, int]]:
        """The linear maps that drop their inputs, their rates, and for how many gates each draws."""
        layer = self.layer
        sets = layer.drop_sets
        found = [("input", layer.dropout, sets)] if inputs else []
        if not states:
            return found
        if isinstance(layer, GRUS) and not layer.reset_after:
            rate = layer.recurrent_dropout
            return [*found, ("gates", rate, 2), ("new", rate, 1)]
        return [*found, ("recurrent", layer.recurrent_dropout, sets)]

    def _replace(self, path: str, part: str, rate: float, gates: int, tensors: Any) -> None:
        """Put a map that drops into the place of a plain one."""
        outputs, features = tensors[f"{part}.weight"].shape
        bias = f"{part}.bias" in tensors
        name = self.call.helper(formulas.GateDropout)
        text = f"{path}.{part} = {name}({features}, {outputs}, {bias}, {rate}, {gates})"
        self.writer.init.append(text)

    # --- states that go on -------------------------------------------------------------------------------------------

    def _carried(self) -> list[int]:
        return []

    def _buffers(self) -> list[str]:
        """The buffers of the states that a stateful layer carries from batch to batch."""
        layer, call = self.layer, self.call
        names = "hc" if layer.state_count <= 2 else [f"state_{k}" for k in range(layer.state_count)]
        wanted = "_".join(filter(None, (call.layer.name, self.suffix)))
        states = layer.states
        return [
            call.writer.buffer((layer, "state", k), f"{wanted}_{names[k]}", self._first(states[k]), kept=False)
            for k in range(layer.state_count)
        ]

    def _first(self, state: Tensor) -> Tensor:
        """A state as the cell has it: images with their channels first."""
        return state.movedim(-1, 1) if images_last(self.layer) else state

    def _carry(self, final: list[int]) -> None:
        if self.layer.stateful:
            text = ", ".join(f"{{{k}}}.detach()" for k in range(len(final)))
            self.call.assign(", ".join(self._buffers()), text, *final, stays=True)


def images_last(layer: Any) -> bool:
    """Whether a layer walks over images whose channels come last."""
    cell = getattr(layer, "cell", layer)
    return getattr(cell, "data_format", None) == "channels_last"


# --- layers ----------------------------------------------------------------------------------------------------------

RECURRENT = (layers.SimpleRNN, layers.GRU, layers.LSTM, layers.CuDNNGRU, layers.CuDNNLSTM, layers.RNN)


@rule(*RECURRENT, *CONV_LSTMS, layers.ConvRNN2D)
def recurrent(layer: Any, call: Call) -> list[int]:
    sequence, given, constants = layer._parts(call.inputs)
    if constants:
        raise EjectError(f"{type(layer).__name__} {layer.name!r}: eject knows no constants of a cell.")
    mask = call.masks[0]
    if images_last(layer):
        sequence = call.line("{0}.movedim(-1, 2)", sequence)
        given = [call.line("{0}.movedim(-1, 1)", state) for state in given]
    output, states = Direction(layer, call).walk(sequence, mask, given)
    if images_last(layer):
        output = call.line(f"{{0}}.movedim({2 if layer.return_sequences else 1}, -1)", output)
        states = [call.line("{0}.movedim(1, -1)", state) for state in states]
    results = [output, *states] if layer.return_state else [output]
    call.set_masks(mask if layer.return_sequences else None, *[None] * (len(results) - 1))
    return results


MERGED = {
    "sum": "{0} + {1}",
    "mul": "{0} * {1}",
    "ave": "({0} + {1}) / 2",
    "concat": "torch.cat([{0}, {1}], -1)",
}


@rule(layers.Bidirectional)
def bidirectional(layer: Any, call: Call) -> list[int]:
    if images_last(layer.forward_layer):
        raise EjectError(f"Bidirectional {layer.name!r}: eject knows none around a {type(layer.layer).__name__}.")
    shared = layer._shared(call.inputs)
    mask = call.masks[0]
    found = []
    for inner, suffix, given in zip(layer.inner_layers, ("forward", "backward"), shared, strict=True):
        if layer.forward_layer._parts(given)[2]:
            raise EjectError(f"Bidirectional {layer.name!r}: eject knows no constants of a cell.")
        found.append(Direction(inner, call, suffix).walk(given[0], mask, given[1:]))
    (forward, first), (backward, second) = found
    if layer.return_sequences:
        backward = call.line("{0}.flip(1)", backward)
    results = [forward, backward]
    if layer.merge_mode:
        results = [call.line(MERGED[layer.merge_mode], forward, backward)]
    passed = mask if layer.return_sequences else None
    masks = [passed] * len(results)
    if layer.return_state:
        results += [*first, *second]
    call.set_masks(*masks, *[None] * (len(results) - len(masks)))
    return results


# --- wrappers --------------------------------------------------------------------------------------------------------


@rule(layers.TimeDistributed)
def time_distributed(layer: Any, call: Call) -> int:
    x, mask = call.x, call.masks[0]
    outer = call.values[0]
    inside = Value((None, *outer.shape[2:]), outer.dtype, Layout.KERAS)
    folded = call.line("{0}.flatten(0, 1)", x)
    inside = call.writer.value(folded, inside.shape, inside.dtype, Layout.KERAS)
    if mask is not None:
        inside.mask = call.line("{0}.flatten(0, 1)", mask, base="mask")
    (found,) = call.inner(layer.layer, [inside])
    output = call.writer.use(found, Layout.KERAS)
    if found.mask is not None:
        call.set_masks(call.line("{0}.unflatten(0, {1}.shape[:2])", found.mask, x, base="mask"))
    elif mask is not None:
        call.set_masks(mask)
    return call.line("{0}.unflatten(0, {1}.shape[:2])", output, x)


@mask_rule(layers.TimeDistributed)
def time_distributed_mask(layer: Any, call: Call) -> None:
    return None


@rule(layers.SpectralNormalization)
def spectral_normalization(layer: Any, call: Call) -> int:
    call.note(f"{layer.name}: the kernel is no longer divided by its largest singular value in training.")
    inner = call.inner(layer.layer, call.values)
    call.set_masks(inner[0].mask)
    return call.writer.use(inner[0], call.layout)

"""Recurrent layers: torch's own if they compute the same, else a cell and a loop over time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from torchkeras import layers
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.call import LayerCall, mask_rule, rule
from torchkeras.export.plain.formulas import noise, recurrent as formulas
from torchkeras.export.plain.rules.cells import CONV_LSTMS, cell_of, drops_by_gate, images_last
from torchkeras.export.plain.values import Folded
from torchkeras.layers.torch_recurrence import TorchRecurrent

TORCH = {"lstm": "nn.LSTM", "gru": "nn.GRU", "rnn": "nn.RNN"}

# --- one direction ---------------------------------------------------------------------------------------------------


def torch_module(name: str, held: Any, more: Sequence[str] = ()) -> str:
    """The text that makes a torch recurrent module."""
    options = ["batch_first=True"]
    options += ["bias=False"] if not held.bias else []
    options += ['nonlinearity="relu"'] if getattr(held, "nonlinearity", "tanh") == "relu" else []
    return f"{TORCH[name]}({held.input_size}, {held.hidden_size}, {', '.join([*options, *more])})"


class Direction:
    """One direction of a recurrent layer: the layer itself, or one half of a Bidirectional."""

    def __init__(self, layer: Any, call: LayerCall, suffix: str = ""):
        self.layer, self.call, self.suffix = layer, call, suffix
        self.writer = call.writer

    def walk(self, x: int, mask: int | None, given: list[int]) -> tuple[int, list[int]]:
        """Write it; returns the output (of all steps, or of the last one) and the final states."""
        layer = self.layer
        if self.is_torchs() and (layer, "masked") not in self.writer.book.masked:
            if mask is None:
                return self._by_torch(x, given)
            self.writer.book.masked_later.add((layer, "masked"))
        return self._by_cell(x, mask, given)

    @property
    def _flip(self) -> str:
        """The expression that reverses a sequence, if needed."""
        return ".flip(1)" if self.layer.go_backwards else ""

    def is_torchs(self) -> bool:
        """Whether a torch module computes the same."""
        layer = self.layer
        if not (isinstance(layer, TorchRecurrent) and layer._fused):
            return False
        drops = layer.recurrent_dropout or (layer.dropout and layer.drop_sets > 1)
        return not drops and type(getattr(layer, layer.submodule)) in (nn.LSTM, nn.GRU, nn.RNN)

    def _dropped(self, x: int) -> int:
        if not getattr(self.layer, "dropout", 0):
            return x
        name = self.call.helper(noise.drop_features)
        return self.call.line(f"{name}({{0}}, {self.layer.dropout}, self.training)", x)

    def _by_torch(self, x: int, given: list[int]) -> tuple[int, list[int]]:
        layer, call = self.layer, self.call
        held = getattr(layer, layer.submodule)
        path = call.module(torch_module(layer.submodule, held), held, self.suffix)
        uses = [self._dropped(x), *given]
        states = [f"{{{1 + k}}}.unsqueeze(0)" for k in range(len(given))]
        if layer.stateful:
            uses, states = uses[:1], [f"{path_of}.unsqueeze(0)" for path_of in self._buffers()]
        passed = ""
        if states:
            passed = f", ({', '.join(states)})" if len(states) > 1 else f", {states[0]}"
        output = call.new()
        final = [call.new(base) for base in ("h", "c")[: layer.state_count]]
        found: Any = final[0] if len(final) == 1 else tuple(final)
        call.assign((output, found), f"{path}({{0}}{self._flip}{passed})", *uses, stays=bool(layer.stateful))
        squeezed = [call.line("{0}.squeeze(0)", state, base=base) for state, base in zip(final, "hc", strict=False)]
        self._carry(squeezed)
        if not layer.return_sequences:
            output = call.line("{0}[:, -1]", output)
        return output, squeezed

    def _by_cell(self, x: int, mask: int | None, given: list[int]) -> tuple[int, list[int]]:
        layer, call = self.layer, self.call
        if not isinstance(layer, (*CONV_LSTMS, layers.RNN)) and not drops_by_gate(layer):
            x = self._dropped(x)
        path = self._cell(x)
        uses, passed = self._passed(x, mask, given)
        function = call.helper(formulas.walk if mask is None else formulas.walk_masked)
        output = call.new()
        names = "hc" if layer.state_count <= 2 else "s" * layer.state_count
        final = [call.new(base) for base in names[: layer.state_count]]
        text = f"{function}({path}, {{0}}{self._flip}{passed})"
        call.assign((output, tuple(final)), text, *uses, stays=bool(layer.stateful))
        self._carry(final)
        if not layer.return_sequences:
            output = call.line("{0}[:, -1]", output)
        return output, final

    def _passed(self, x: int, mask: int | None, given: list[int]) -> tuple[list[int], str]:
        """What a walk over `x` uses, and the text of its arguments after `x`: the mask, the states, what is held."""
        uses, text = [x], ""
        if mask is not None:
            uses, text = [x, mask], f", {{1}}{self._flip}"
        if self.layer.stateful:
            states = self._buffers()
        else:
            states = [f"{{{len(uses) + k}}}" for k in range(len(given))]
            uses += given
        if states:
            text += f", ({', '.join(states)}{',' * (len(states) == 1)})"
        if mask is not None and (held := self._held()) != "state":
            text += f', held="{held}"'
        return uses, text

    def _held(self) -> str:
        """What the output of a masked step is."""
        layer = self.layer
        if layer.zero_output_for_mask:
            return "zero"
        shapes = layer.state_shapes(self.call.values[0].shape), layer.step_shape(self.call.values[0].shape)
        other = tuple(shapes[0][0]) != tuple(shapes[1])
        return "output" if layer.unroll or layer.zero_output_for_mask is False or other else "state"

    def _cell(self, x: int) -> str:
        """`self.name` of the cell; its dropout is drawn before the walk along `x`."""
        call = self.call
        cell = cell_of(self.layer, call)
        known = (call.layer, self.suffix) in self.writer.known
        path = call.module(cell.text, cell.tensors, self.suffix)
        if not known:
            self.writer.init += [f"{path}.{_indexed(part)} = {text}" for part, text in cell.parts.items()]
        for part, drawn in cell.draws.items():
            owner = f"{path}.{_indexed(part)}" if part else path
            call.assign(None, f"{owner}.draw({drawn.replace('{path}', path)})", x, stays=True)
        return path

    # --- states that go on -------------------------------------------------------------------------------------------

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
        """A state in the cell's order of axes: images with channels first."""
        return state.movedim(-1, 1) if images_last(self.layer) else state

    def _carry(self, final: list[int]) -> None:
        if self.layer.stateful:
            text = ", ".join(f"{{{k}}}.detach()" for k in range(len(final)))
            self.call.assign(", ".join(self._buffers()), text, *final, stays=True)


def _indexed(path: str) -> str:
    """`cells.0.input` as Python writes it: `cells[0].input`."""
    return re.sub(r"\.(\d+)", r"[\1]", path)


# --- layers ----------------------------------------------------------------------------------------------------------

RECURRENT = (layers.SimpleRNN, layers.GRU, layers.LSTM, layers.CuDNNGRU, layers.CuDNNLSTM, layers.RNN)


@rule(*RECURRENT, *CONV_LSTMS, layers.ConvRNN2D)
def recurrent(layer: Any, call: LayerCall) -> list[int]:
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
def bidirectional(layer: Any, call: LayerCall) -> list[int]:
    if images_last(layer.forward_layer):
        raise EjectError(f"Bidirectional {layer.name!r}: eject knows none around a {type(layer.layer).__name__}.")
    shared = layer._shared(call.inputs)
    mask = call.masks[0]
    if _is_one_module(layer, call, shared):
        return _by_one_module(layer, call, shared[0][0])
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


def _is_one_module(layer: Any, call: LayerCall, shared: list[list[int]]) -> bool:
    """Whether one torch module computes both directions of a Bidirectional layer."""
    forward = layer.inner_layers[0]
    if call.masks[0] is not None or layer.own_backward is not None or len(shared[0]) > 1:
        return False
    if forward.go_backwards or forward.dropout or forward.stateful:
        return False
    if any((each, "masked") in call.writer.book.masked for each in layer.inner_layers):
        return False
    return all(Direction(each, call).is_torchs() for each in layer.inner_layers)


def _by_one_module(layer: Any, call: LayerCall, x: int) -> list[int]:
    """Write both directions of a Bidirectional layer as one torch module; returns its results."""
    forward, backward = layer.inner_layers
    held, back = getattr(forward, forward.submodule), getattr(backward, backward.submodule)
    tensors = {**dict(held.named_parameters()), **{f"{k}_reverse": t for k, t in back.named_parameters()}}
    path = call.module(torch_module(forward.submodule, held, ["bidirectional=True"]), tensors)
    output, final = call.new(), [call.new(base) for base in "hc"[: forward.state_count]]
    call.assign((output, final[0] if len(final) == 1 else tuple(final)), f"{path}({{0}})", x)
    states = [call.line(f"{{0}}[{k}]", state, base="h") for k in (0, 1) for state in final]
    results = _merged(layer, call, output, final[0])
    call.set_masks()
    return [*results, *states] if layer.return_state else results


def _merged(layer: Any, call: LayerCall, output: int, last: int) -> list[int]:
    """Both directions merged: of the output of all steps, or of the last state."""
    if layer.merge_mode == "concat":
        return [output if layer.return_sequences else call.line("torch.cat([{0}[0], {0}[1]], -1)", last)]
    halves = (call.new(), call.new())
    if layer.return_sequences:
        call.assign(halves, "{0}.chunk(2, -1)", output)
    else:
        call.assign(halves, "{0}", last)
    return [call.line(MERGED[layer.merge_mode], *halves)] if layer.merge_mode else list(halves)


# --- wrappers --------------------------------------------------------------------------------------------------------


@rule(layers.TimeDistributed)
def time_distributed(layer: Any, call: LayerCall) -> int:
    outer, mask = call.values[0], call.masks[0]
    folded = outer.folded
    if folded is None:
        made = call.line("{0}.flatten(0, 1)", call.x)
        value = call.writer.value(made, (None, *outer.shape[2:]), outer.dtype, Layout.KERAS)
        folded = Folded(value, call.x)
    inside = replace(folded.value, mask=None)
    if mask is not None:
        inside.mask = call.line("{0}.flatten(0, 1)", mask, base="mask")
    (found,) = call.inner(layer.layer, [inside])
    call.folded = Folded(found, folded.lead)
    unfolded = "{0}.unflatten(0, {1}.shape[:2])"
    if found.mask is not None:
        call.set_masks(call.line(unfolded, found.mask, folded.lead, base="mask"))
    elif mask is not None:
        call.set_masks(mask)
    return call.line(unfolded, call.writer.use(found, Layout.KERAS), folded.lead)


@mask_rule(layers.TimeDistributed)
def time_distributed_mask(layer: Any, call: LayerCall) -> None:
    return None


@rule(layers.SpectralNormalization)
def spectral_normalization(layer: Any, call: LayerCall) -> int:
    call.note(f"{layer.name}: the kernel is no longer divided by its largest singular value in training.")
    inner = call.inner(layer.layer, call.values)
    call.set_masks(inner[0].mask)
    return call.writer.use(inner[0], call.layout)

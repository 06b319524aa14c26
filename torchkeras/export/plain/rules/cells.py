"""Recurrent cells: the text that makes each, its tensors, and what it drops in training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from torchkeras import activations, layers
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.call import LayerCall
from torchkeras.export.plain.formulas import recurrent as formulas
from torchkeras.export.plain.rules.activation import as_function
from torchkeras.export.plain.rules.convolution import convolution
from torchkeras.layers.spatial import FIXED_PADDINGS, same_padding, torch_padding

LSTMS = (layers.LSTM, layers.LSTMCell, layers.CuDNNLSTM)
GRUS = (layers.GRU, layers.GRUCell, layers.CuDNNGRU)
CONV_LSTMS = (layers.ConvLSTM1D, layers.ConvLSTM2D, layers.ConvLSTM3D)
CELLS = (layers.SimpleRNNCell, layers.LSTMCell, layers.GRUCell, layers.StackedRNNCells, layers.ConvLSTM2DCell)
PADS = {1: "nn.ConstantPad1d", 2: "nn.ZeroPad2d", 3: "nn.ConstantPad3d"}


@dataclass(frozen=True)
class Cell:
    """A recurrent cell, made by `text`.

    `parts`: the texts of parts with dropout, by their paths, which replace the plain ones. `draws`: by path, what is
    called before each walk; `{0}` is the sequence.
    """

    text: str
    tensors: Mapping[str, Tensor]
    parts: Mapping[str, str]
    draws: Mapping[str, str]


def cell_of(layer: Any, call: LayerCall) -> Cell:
    """The cell of a layer, or one given to RNN. Raises EjectError for one of the user's."""
    if isinstance(layer, layers.RNN):
        layer = layer.cell
        if type(layer) not in CELLS:
            raise EjectError(
                f"{type(call.layer).__name__} {call.layer.name!r}: eject knows no plain PyTorch for its cell, a "
                f"{type(layer).__name__}."
            )
    if isinstance(layer, layers.StackedRNNCells):
        return _stacked(layer, call)
    if isinstance(layer, (*CONV_LSTMS, layers.ConvLSTM2DCell)):
        return _conv_lstm(layer, call)
    return _plain(layer, call)


def _plain(layer: Any, call: LayerCall) -> Cell:
    held, kind = getattr(layer, layer.submodule), _class_of(layer)
    tensors = _tensors_of(held, kind)
    given = [str(held.weight_ih_l0.shape[1]), str(held.weight_hh_l0.shape[1])]
    given.append(as_function(call, getattr(layer, "activation", activations.tanh)))
    if kind is not formulas.SimpleRNNCell:
        given.append(as_function(call, getattr(layer, "recurrent_activation", activations.sigmoid)))
    if "input.bias" not in tensors:
        given.append("bias=False")
    return _dropping(layer, call, f"{call.helper(kind)}({', '.join(given)})", tensors)


def _class_of(layer: Any) -> Any:
    """The class that computes the steps of a layer or a cell."""
    if isinstance(layer, LSTMS):
        return formulas.LSTMCell
    if not isinstance(layer, GRUS):
        return formulas.SimpleRNNCell
    after = isinstance(layer, layers.CuDNNGRU) or layer.reset_after
    return formulas.ResetAfterGRUCell if after else formulas.GRUCell


def _tensors_of(held: Any, kind: Any) -> dict[str, Any]:
    """The weights of a cell of the class `kind`, by their names in it, from a torch module."""
    recurrent = held.weight_hh_l0
    tensors: dict[str, Any] = {"input.weight": held.weight_ih_l0, "recurrent.weight": recurrent}
    if getattr(held, "bias_ih_l0", None) is not None:
        if kind is formulas.ResetAfterGRUCell:
            tensors |= {"input.bias": held.bias_ih_l0, "recurrent.bias": held.bias_hh_l0}
        else:
            tensors["input.bias"] = _sum(held)
    if kind is formulas.GRUCell:
        del tensors["recurrent.weight"]
        tensors["gates.weight"], tensors["new.weight"] = _split(recurrent, 2 * recurrent.shape[1])
    return tensors


def _sum(held: Any) -> Tensor:
    """The one bias of a layer whose module has two: their sum, since the second is zero or trains with the first."""
    second = held.bias_hh_l0
    if second is None or not second.any():
        return held.bias_ih_l0
    return _as_trained(held.bias_ih_l0, held.bias_ih_l0.detach() + second.detach())


def _split(kernel: Tensor, at: int) -> list[Tensor]:
    return [_as_trained(kernel, part) for part in kernel.detach().tensor_split((at,))]


def _as_trained(like: Tensor, tensor: Tensor) -> Tensor:
    """A parameter that trains if another one does."""
    return nn.Parameter(tensor, requires_grad=like.requires_grad)


# --- what is dropped in training -------------------------------------------------------------------------------------


def drops_by_gate(layer: Any) -> bool:
    """Whether each gate drops its own inputs. Otherwise all drop the same, which needs no special part."""
    cell = isinstance(layer, CELLS)
    return bool(getattr(layer, "dropout", 0)) and (cell or getattr(layer, "drop_sets", 1) > 1)


def _dropping(layer: Any, call: LayerCall, text: str, tensors: Mapping[str, Tensor]) -> Cell:
    """A cell with its parts that have dropout."""
    rate, sets = getattr(layer, "recurrent_dropout", 0), getattr(layer, "drop_sets", 1)
    rates = [("input", layer.dropout, sets)] if drops_by_gate(layer) else []
    whole = bool(rate) and sets == 1 and isinstance(layer, GRUS)
    if rate and not whole:
        split = "gates.weight" in tensors
        rates += [("gates", rate, 2), ("new", rate, 1)] if split else [("recurrent", rate, sets)]
    parts, draws = {}, {}
    for part, of_part, gates in rates:
        outputs, features = tensors[f"{part}.weight"].shape
        options = f"{features}, {outputs}, {f'{part}.bias' in tensors}, {of_part}, {gates}"
        parts[part] = f"{call.helper(formulas.GateDropout)}({options})"
        draws[part] = "len({0})"
    if not whole:
        return Cell(text, tensors, parts, draws)
    # In Keras the mix of old and new state uses the dropped values, too.
    text = f"{call.helper(formulas.StateDropout)}({text}, {layer.units}, {rate})"
    return _inside(Cell(text, tensors, parts, {**draws}), "cell", {"": "len({0})"})


def _inside(cell: Cell, name: str, draws: Mapping[str, str]) -> Cell:
    """A cell whose parts are in a submodule."""
    inner: tuple[Any, ...] = (cell.tensors, cell.parts, cell.draws)
    tensors, parts, own = ({f"{name}.{path}".rstrip("."): value for path, value in each.items()} for each in inner)
    return Cell(cell.text, tensors, parts, {**own, **draws})


def _stacked(layer: Any, call: LayerCall) -> Cell:
    cells = []
    for index, cell in enumerate(layer.cells):
        if type(cell) not in CELLS:
            raise EjectError(
                f"{type(call.layer).__name__} {call.layer.name!r}: eject knows no plain PyTorch for its cell, a "
                f"{type(cell).__name__}."
            )
        cells.append(_inside(cell_of(cell, call), f"cells.{index}", {}))
    sizes = [cell.state_size for cell in layer.cells]
    counts = [len(size) if isinstance(size, (list, tuple)) else 1 for size in sizes]
    reverse = ", reverse_states=True" * bool(layer.reverse_state_order)
    text = f"{call.helper(formulas.StackedCells)}([{', '.join(cell.text for cell in cells)}], {counts}{reverse})"
    merged: tuple[dict[str, Any], ...] = ({}, {}, {})
    for cell in cells:
        for whole, own in zip(merged, (cell.tensors, cell.parts, cell.draws), strict=True):
            whole.update(own)
    return Cell(text, *merged)


# --- over images -----------------------------------------------------------------------------------------------------


def images_last(layer: Any) -> bool:
    """Whether a layer walks over images whose channels come last."""
    return getattr(getattr(layer, "cell", layer), "data_format", None) == "channels_last"


def _conv_lstm(layer: Any, call: LayerCall) -> Cell:
    shape = call.values[0].shape
    sizes = list(shape[2:-1] if images_last(layer) else shape[3:])
    texts, tensors, draws = [], {}, {}
    for name, module, padding, rate, drawn in (
        ("input", layer.input_conv, layer.padding, layer.dropout, "{0}[:, 0]"),
        (
            "recurrent",
            layer.recurrent_conv,
            layer.recurrent_padding,
            layer.recurrent_dropout,
            "{path}.zeros({0}[:, 0])[0]",
        ),
    ):
        pads = _pads(module, padding, sizes if name == "input" else None)
        if pads is None:
            raise EjectError(f"{type(layer).__name__} {layer.name!r}: padding 'same' with strides needs known sizes.")
        text, inner = convolution(module), f"{name}."
        if rate:
            draws[name], inner = drawn, f"{name}.convolution."
        if any(pads):
            around = f"{PADS[layer.rank]}({tuple(pads)}{'' if layer.rank == 2 else ', 0.0'})"
            text, inner = f"nn.Sequential({around}, {text})", f"{inner}1."
        texts.append(f"{call.helper(formulas.GateDropoutConv)}({text}, {rate})" if rate else text)
        tensors |= {inner + key: tensor for key, tensor in module.named_parameters()}
    functions = [_over_images(layer, call, f) for f in (layer.activation, layer.recurrent_activation)]
    return Cell(f"{call.helper(formulas.ConvLSTMCell)}({', '.join([*texts, *functions])})", tensors, {}, draws)


def _over_images(layer: Any, call: LayerCall, function: Any) -> str:
    """An activation of images with their channels first."""
    if layer.data_format == "channels_last" and not activations.is_pointwise(function):
        if function is not activations.softmax:
            raise EjectError(f"{type(layer).__name__} {layer.name!r}: eject knows no activation {function!r} there.")
        return "lambda x: torch.softmax(x, 1)"
    return as_function(call, function)


def _pads(module: Any, padding: str, sizes: list[int | None] | None) -> list[int] | None:
    """The padding of images, in the order of `F.pad`; None if it depends on unknown sizes."""
    window = list(zip(module.kernel_size, module.stride, module.dilation, strict=True))
    if padding == "same" and any(k > 1 and s > 1 for k, s, _ in window):
        if sizes is None or None in sizes:
            return None
        return torch_padding(same_padding(size, *each) for size, each in zip(sizes, window, strict=True))  # type: ignore[arg-type]
    return torch_padding(FIXED_PADDINGS[padding]((k - 1) * d) for k, _, d in window)

"""Dense layers, shapes, masks, embeddings, the user's functions."""

from __future__ import annotations

from typing import Any

from torch import nn

from torchkeras import layers
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.call import LayerCall, mask_rule, rule, slots
from torchkeras.export.plain.formulas import activation as formulas, noise as noise_formulas
from torchkeras.export.plain.rules.activation import activated, as_function
from torchkeras.export.plain.rules.formula import torch_text
from torchkeras.keras2.lambdas.formula import Formula
from torchkeras.layers.keras1 import Highway, MaxoutDense, TimeDistributedDense


def linear(module: nn.Linear) -> str:
    """The text that makes a linear layer of these sizes."""
    return f"nn.Linear({module.in_features}, {module.out_features}{', bias=False' if module.bias is None else ''})"


@rule(layers.Dense, TimeDistributedDense)
def dense(layer: Any, call: LayerCall) -> int:
    path = call.module(linear(layer.linear), layer.linear)
    return call.line(activated(call, layer.activation, f"{path}({{0}})"), call.x)


@rule(Highway)
def highway(layer: Any, call: LayerCall) -> int:
    bias = "" if layer.use_bias else ", bias=False"
    function = as_function(call, layer.activation)
    text = f"{call.helper(formulas.Highway)}({layer.linear.in_features}, {function}{bias})"
    state = {f"{name}.{k}": t for name in ("linear", "carry") for k, t in getattr(layer, name).named_parameters()}
    return call.line(f"{call.module(text, state)}({{0}})", call.x)


@rule(MaxoutDense)
def maxout_dense(layer: Any, call: LayerCall) -> int:
    path = call.module(linear(layer.linear), layer.linear)
    return call.line(f"{path}({{0}}).unflatten(1, ({layer.nb_feature}, {layer.units})).amax(1)", call.x)


# --- embedding and masks ---------------------------------------------------------------------------------------------


@rule(layers.Embedding)
def embedding(layer: Any, call: LayerCall) -> int:
    from_integers = not call.values[0].dtype.is_floating_point and call.values[0].dtype.itemsize >= 4
    integers = call.x if from_integers else call.line("{0}.long()", call.x)
    path = call.module(f"nn.Embedding({layer.input_dim}, {layer.output_dim})", layer.embedding)
    vectors = call.line(f"{path}({{0}})", integers)
    if not layer.dropout:
        return vectors
    text = f"{call.helper(noise_formulas.EmbeddingDropout)}({layer.input_dim}, {layer.dropout})"
    return call.line(f"{call.module(text, suffix='dropout')}({{0}}, {{1}})", vectors, integers)


@mask_rule(layers.Embedding)
def embedding_mask(layer: Any, call: LayerCall) -> int | None:
    return call.line("{0} != 0", call.x, base="mask") if layer.mask_zero else None


@rule(layers.Masking)
def masking(layer: Any, call: LayerCall) -> int:
    mask = call.line(f"({{0}} != {layer.mask_value}).any(-1)", call.x, base="mask")
    call.set_masks(mask)
    return call.line("{0} * {1}.unsqueeze(-1)", call.x, mask)


# --- shapes ----------------------------------------------------------------------------------------------------------


@rule(layers.Flatten)
def flatten(layer: Any, call: LayerCall) -> int:
    ndim = len(call.values[0].shape)
    if layer.data_format == "channels_first" and ndim > 2:
        return call.line(f"{{0}}.permute{(0, *range(2, ndim), 1)}.flatten(1)", call.x)
    return call.line("{0}.flatten(1)", call.x)


@rule(layers.Reshape)
def reshape(layer: Any, call: LayerCall) -> int:
    ndim, sizes = len(call.values[0].shape), tuple(layer.target_shape)
    if ndim == 1:
        return call.line(f"{{0}}.reshape{(-1, *(abs(size) for size in sizes))}", call.x)
    flat = "" if ndim == 2 else ".flatten(1)"
    return call.line(f"{{0}}{flat}" + (f".unflatten(1, {sizes})" if len(sizes) > 1 else ""), call.x)


@rule(layers.Permute)
def permute(layer: Any, call: LayerCall) -> int:
    return call.line(f"{{0}}.permute{(0, *layer.dims)}", call.x)


@rule(layers.RepeatVector)
def repeat_vector(layer: Any, call: LayerCall) -> int:
    return call.line(f"{{0}}.unsqueeze(1).expand(-1, {layer.n}, -1)", call.x)


@rule(layers.ActivityRegularization, layers.Identity)
def unchanged(layer: Any, call: LayerCall) -> list[int]:
    return call.inputs


def _mask_slots(call: LayerCall) -> str:
    """The mask of a call, or the list of them, whose slots follow those of the inputs."""
    masks = ["None" if mask is None else f"{{{len(call.inputs) + k}}}" for k, mask in enumerate(call.masks)]
    return f"[{', '.join(masks)}]" if call.several else masks[0]


@rule(layers.Lambda)
def own_function(layer: Any, call: LayerCall) -> list[int]:
    if isinstance(layer.function, Formula):
        return formula(layer, call)
    path = call.writer.function(layer.name, layer.function)
    text = f"[{slots(len(call.inputs))}]" if call.several else "{0}"
    text += _plain_arguments(layer)
    uses = call.inputs
    if layer._takes_mask:
        text += f", mask={_mask_slots(call)}"
        uses = [*uses, *(uses[0] if mask is None else mask for mask in call.masks)]
    if len(call.outputs) == 1:
        return [call.line(f"{path}({text})", *uses)]
    made = [call.new() for _ in call.outputs]
    call.assign(tuple(made), f"{path}({text})", *uses)
    return made


def _plain_arguments(layer: Any) -> str:
    """The `arguments` of a Lambda as text, each after a comma. Raises EjectError for what is no plain value."""
    text = ""
    for name, value in (layer.arguments or {}).items():
        if not name.isidentifier() or not isinstance(value, (bool, int, float, str, type(None), tuple, list)):
            raise EjectError(f"Lambda {layer.name!r}: eject writes plain arguments alone; found {name!r}: {value!r}.")
        text += f", {name}={value!r}".replace("{", "{{").replace("}", "}}")
    return text


def formula(layer: Any, call: LayerCall) -> list[int]:
    """The text of a formula in the place of the call."""
    text = torch_text(layer, [f"{{{k}}}" for k in range(len(call.inputs))], call.several)
    if layer._takes_mask or len(call.outputs) > 1:
        raise EjectError(
            f"Lambda {layer.name!r}: eject writes no formula with a mask or several results; found {text}."
        )
    return [call.line(text, *call.inputs)]


@mask_rule(layers.Lambda)
def own_mask(layer: Any, call: LayerCall) -> int | None:
    if layer.mask is None:
        return None
    if not callable(layer.mask):
        raise EjectError(f"Lambda {layer.name!r}: eject takes a mask that is a function; found {layer.mask!r}.")
    path = call.writer.function(f"{layer.name}_mask", layer.mask)
    uses = [*call.inputs, *(mask for mask in call.masks if mask is not None)]
    texts, place = [], len(call.inputs)
    for mask in call.masks:
        texts.append("None" if mask is None else f"{{{place}}}")
        place += mask is not None
    given = slots(len(call.inputs))
    masks = ", ".join(texts)
    return call.line(
        f"{path}([{given}], [{masks}])" if call.several else f"{path}({given}, {masks})", *uses, base="mask"
    )

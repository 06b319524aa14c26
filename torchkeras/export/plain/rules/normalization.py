"""Normalization and noise."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torchkeras import layers
from torchkeras.engine.weights.weight_lists import is_frozen_layer
from torchkeras.export.plain import facts
from torchkeras.export.plain.call import LayerCall, rule
from torchkeras.export.plain.formulas import noise as formulas, normalization as norms
from torchkeras.export.plain.rules.convolution import one_or_all

FROZEN = "Training normalizes a frozen layer by the batch, where the model normalizes it by the moving statistics."
POPULATION = "The moving variance follows one that is divided by n - 1, where the model's follows another."
MASKED = "Training normalizes by all values, where the model leaves masked ones out."
SINGLE = "BatchNorm refuses to train on one value a channel, which Keras normalizes to 0."


def completed(norm: Any, size: tuple[int, ...]) -> tuple[dict[str, Tensor], str]:
    """The scale and shift of a module, with ones or zeros for a missing one, and the name of that."""
    state = dict(norm.state_dict())
    if norm.weight is None and norm.bias is None:
        return state, ""
    if norm.weight is None:
        return {"weight": torch.ones(size), **state}, "weight"
    return ({**state, "bias": torch.zeros(size)}, "bias") if norm.bias is None else (state, "")


def kept_norm(call: LayerCall, text: str, norm: Any, size: tuple[int, ...]) -> str:
    """`self.name` of a torch module like `norm`; a parameter that the layer does not have is frozen."""
    known = (call.layer, "") in call.writer.known
    state, added = completed(norm, size)
    path = call.module(text, state)
    if not known:
        parameters = list(norm.parameters())
        if parameters and not any(parameter.requires_grad for parameter in parameters):
            call.writer.init.append(f"{path}.requires_grad_(False)")
        elif added:
            call.writer.init.append(f"{path}.{added}.requires_grad_(False)")
    return path


@rule(layers.BatchNormalization)
def batch_normalization(layer: Any, call: LayerCall) -> int:
    norm, ndim = layer.norm, len(call.values[0].shape)
    size = (norm.num_features,)
    if layer.mode == 1:
        text = f"{call.helper(norms.SampleNorm)}({norm.num_features}, {layer.epsilon})"
        return call.line(f"{kept_norm(call, text, _Parameters(norm), size)}({{0}})", call.x)
    is_torchs = layer._channel_axis == 1 and ndim <= 5
    dimensions = {4: 2, 5: 3}.get(ndim, 1) if is_torchs else 1
    shown = _Parameters(norm) if layer.mode == 2 else norm
    path = kept_norm(call, f"nn.BatchNorm{dimensions}d({_batch_norm_options(layer)})", shown, size)
    _note_batch_norm(layer, call)
    if is_torchs:
        return call.line(f"{path}({{0}})", call.x)
    return _on_axis_1(
        call, layer._channel_axis, f"{path}({{0}}.flatten(2)).view_as({{0}})" if ndim > 2 else f"{path}({{0}})"
    )


def _batch_norm_options(layer: Any) -> str:
    norm = layer.norm
    # As in Keras 2, a frozen layer keeps its statistics, but training still normalizes by the batch.
    momentum = 0.0 if facts.is_frozen(norm) or not layer.trainable else round(norm.momentum, 12)
    affine = ", affine=False" if norm.weight is None and norm.bias is None else ""
    tracked = ", track_running_stats=False" if layer.mode == 2 else ""
    return f"{norm.num_features}, eps={norm.eps}, momentum={momentum}{affine}{tracked}"


def _note_batch_norm(layer: Any, call: LayerCall) -> None:
    """Note where torch's batch normalization differs from the layer's in training."""
    if layer.frozen_is_fixed and is_frozen_layer(layer):
        call.note(FROZEN)
    call.note(SINGLE)
    if layer._by_population or layer._followed_epsilon:
        call.note(POPULATION)
    if layer._leaves_masked_out and call.masks[0] is not None:
        call.note(MASKED)


def _on_axis_1(call: LayerCall, axis: int, text: str) -> int:
    """An expression that computes along axis 1, for the input along another axis."""
    if axis == 1:
        return call.line(text, call.x)
    found = call.line(text, call.line(f"{{0}}.movedim({axis}, 1)", call.x))
    return call.line(f"{{0}}.movedim(1, {axis})", found)


class _Parameters:
    """The scale and shift of a normalization, without its statistics."""

    def __init__(self, norm: Any):
        self.weight, self.bias = norm.weight, norm.bias

    def state_dict(self) -> dict[str, Tensor]:
        return {k: t.detach() for k, t in (("weight", self.weight), ("bias", self.bias)) if t is not None}

    def parameters(self) -> list[Any]:
        return [each for each in (self.weight, self.bias) if each is not None]


@rule(layers.GroupNormalization)
def group_normalization(layer: Any, call: LayerCall) -> int:
    norm, axis = layer.norm, layer._channel_axis
    affine = ", affine=False" if norm.weight is None and norm.bias is None else ""
    text = f"nn.GroupNorm({norm.num_groups}, {norm.num_channels}, eps={norm.eps}{affine})"
    path = kept_norm(call, text, norm, (norm.num_channels,))
    if axis == 1:
        return call.line(f"{path}({{0}})", call.x)
    return call.line(f"{path}({{0}}.movedim({axis}, 1)).movedim(1, {axis})", call.x)


@rule(layers.LayerNormalization)
def layer_normalization(layer: Any, call: LayerCall) -> int:
    norm, shape = layer.norm, tuple(layer.norm.normalized_shape)
    affine = ", elementwise_affine=False" if norm.weight is None and norm.bias is None else ""
    affine = ", bias=False" if norm.weight is not None and norm.bias is None else affine
    text = f"nn.LayerNorm({shape[0] if len(shape) == 1 else shape}, eps={norm.eps}{affine})"
    path = call.module(text, norm) if norm.weight is not None else kept_norm(call, text, norm, shape)
    return _along(layer, call, path)


@rule(layers.RMSNormalization)
def rms_normalization(layer: Any, call: LayerCall) -> int:
    shape = tuple(layer.norm.normalized_shape)
    text = f"nn.RMSNorm({shape[0] if len(shape) == 1 else shape}, eps={layer.norm.eps})"
    return _along(layer, call, call.module(text, layer.norm))


def _along(layer: Any, call: LayerCall, path: str) -> int:
    """A module that normalizes the last axes, applied to the layer's axes."""
    axes, last = sorted(layer.axis), list(range(-len(layer.axis), 0))
    ndim = len(call.values[0].shape)
    if [axis % ndim for axis in axes] == [axis % ndim for axis in last]:
        return call.line(f"{path}({{0}})", call.x)
    there, back = (axes[0], last[0]) if len(axes) == 1 else (tuple(axes), tuple(last))
    return call.line(f"{path}({{0}}.movedim({there}, {back})).movedim({back}, {there})", call.x)


@rule(layers.UnitNormalization)
def unit_normalization(layer: Any, call: LayerCall) -> int:
    axes = one_or_all(layer.axis) if len(layer.axis) == 1 else tuple(layer.axis)
    if len(layer.axis) == 1:
        return call.line(f"F.normalize({{0}}, dim={axes})", call.x)
    return call.line(f"{{0}} / torch.linalg.vector_norm({{0}}, dim={axes}, keepdim=True).clamp(min=1e-12)", call.x)


# --- noise -----------------------------------------------------------------------------------------------------------


def seeded(layer: Any, call: LayerCall) -> None:
    """Note that the seed is not used."""
    if layer.seed is not None:
        call.note("Random numbers come from torch's own generator: seeds of layers do not count.")


@rule(layers.Dropout)
def dropout(layer: Any, call: LayerCall) -> int:
    seeded(layer, call)
    text = f"nn.Dropout({layer.rate})"
    if layer.noise_shape is not None:
        text = f"{call.helper(formulas.ShapedDropout)}({', '.join(map(str, (layer.rate, *layer.noise_shape)))})"
    return call.line(f"{call.module(text)}({{0}})", call.x)


@rule(layers.SpatialDropout1D, layers.SpatialDropout2D, layers.SpatialDropout3D)
def spatial_dropout(layer: Any, call: LayerCall) -> int:
    seeded(layer, call)
    return call.line(f"{call.module(f'nn.Dropout{layer.rank}d({layer.rate})')}({{0}})", call.x)


@rule(layers.AlphaDropout)
def alpha_dropout(layer: Any, call: LayerCall) -> int:
    seeded(layer, call)
    shape = layer.noise_shape
    text = f"nn.AlphaDropout({layer.rate})"
    if shape is not None or layer.rate == 1:
        sizes = shape or (None,) * len(call.values[0].shape)
        text = f"{call.helper(formulas.ShapedAlphaDropout)}({', '.join(map(str, (layer.rate, *sizes)))})"
    return call.line(f"{call.module(text)}({{0}})", call.x)


@rule(layers.GaussianNoise)
def gaussian_noise(layer: Any, call: LayerCall) -> int:
    seeded(layer, call)
    return call.line(f"{call.module(f'{call.helper(formulas.GaussianNoise)}({layer.stddev})')}({{0}})", call.x)


@rule(layers.GaussianDropout)
def gaussian_dropout(layer: Any, call: LayerCall) -> int:
    seeded(layer, call)
    return call.line(f"{call.module(f'{call.helper(formulas.GaussianDropout)}({layer.rate})')}({{0}})", call.x)

"""Preprocessing, and random changes of images."""

from __future__ import annotations

from typing import Any

import torch

from torchkeras import layers
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.texts import tensor_of_strings
from torchkeras.export.errors import EjectError
from torchkeras.export.plain import facts
from torchkeras.export.plain.call import LayerCall, rule
from torchkeras.export.plain.formulas import augmentation as formulas, lookup, texts
from torchkeras.export.plain.rules.normalization import seeded
from torchkeras.layers.augmentation import BEYOND_EDGE
from torchkeras.layers.image_preprocessing import INTERPOLATIONS
from torchkeras.layers.preprocessing import encoded

FLIPPED = {"horizontal": "3", "vertical": "2", "horizontal_and_vertical": "2, 3"}


def floating(layer: Any, call: LayerCall) -> int:
    """The input, integers as numbers of the layer's type."""
    if call.values[0].dtype.is_floating_point:
        return call.x
    return call.line(f"{{0}}.to({dtype_of(layer.compute_dtype)})", call.x)


@rule(layers.Rescaling)
def rescaling(layer: Any, call: LayerCall) -> int:
    if not layer._by_value:
        scale = call.writer.buffer((layer, "scale"), f"{layer.name}_scale", layer._scale)
        added = call.writer.buffer((layer, "offset"), f"{layer.name}_offset", layer._offset)
        return call.line(f"{{0}} * {scale} + {added}", floating(layer, call))
    offset = f" + {layer.offset}" if layer.offset else ""
    return call.line(f"{{0}} * {layer.scale}{offset}", floating(layer, call))


@rule(layers.Resizing)
def resizing(layer: Any, call: LayerCall) -> int:
    if layer.pad_to_aspect_ratio:
        raise EjectError(f"Resizing {layer.name!r}: eject does not write pad_to_aspect_ratio.")
    x, dtype = floating(layer, call), call.values[0].dtype
    if layer.crop_to_aspect_ratio:
        x = call.line(f"{call.helper(formulas.window)}({{0}}, {layer.height}, {layer.width})", x)
    text = f'{{0}}, ({layer.height}, {layer.width}), mode="{INTERPOLATIONS[layer.interpolation]}"'
    text += ", antialias=True" if layer.antialias and layer.interpolation != "nearest" else ""
    x = call.line(f"F.interpolate({text})", x)
    if dtype.is_floating_point:
        return x
    bounds = call.line(f"torch.iinfo({dtype})", base="bounds")
    return call.line(f"{{0}}.round().clamp({{1}}.min, {{1}}.max).to({dtype})", x, bounds)


@rule(layers.CenterCrop)
def center_crop(layer: Any, call: LayerCall) -> int:
    return call.line(
        f"{call.helper(formulas.center_crop)}({{0}}, {layer.height}, {layer.width})", floating(layer, call)
    )


@rule(layers.Normalization)
def normalization(layer: Any, call: LayerCall) -> int:
    mean, variance = layer._mean.view(layer._broadcast), layer._variance.view(layer._broadcast)
    deviation = variance.sqrt().clamp(min=facts.epsilon())
    center = call.writer.buffer((layer, "mean"), f"{layer.name}_mean", mean)
    scale = call.writer.buffer((layer, "deviation"), f"{layer.name}_deviation", deviation)
    return call.line(f"{center} + {{0}} * {scale}" if layer.invert else f"({{0}} - {center}) / {scale}", call.x)


def vectors(call: LayerCall, indices: int, mode: str, depth: int, dtype: Any) -> int:
    """Indices as vectors, unless the mode is 'int'."""
    if mode == "int":
        return indices
    return call.line(f'{call.helper(encoded)}({{0}}, "{mode}", {depth}, {dtype})', indices)


@rule(layers.CategoryEncoding)
def category_encoding(layer: Any, call: LayerCall) -> int:
    return vectors(call, call.x, layer.output_mode, layer.num_tokens, dtype_of(layer.compute_dtype))


@rule(layers.Discretization)
def discretization(layer: Any, call: LayerCall) -> int:
    boundaries = layer._boundaries
    path = call.writer.buffer((layer, "boundaries"), f"{layer.name}_boundaries", boundaries)
    x = call.x if call.values[0].dtype is boundaries.dtype else call.line(f"{{0}}.to({boundaries.dtype})", call.x)
    bins = call.line(f"torch.bucketize({{0}}.contiguous(), {path}, right=True, out_int32=True)", x)
    return vectors(call, bins, layer.output_mode, len(boundaries) + 1, boundaries.dtype)


@rule(layers.IntegerLookup)
def integer_lookup(layer: Any, call: LayerCall) -> int:
    if layer.vocabulary is None or layer.num_oov_indices == 0:
        raise EjectError(
            f"IntegerLookup {layer.name!r}: eject writes one with a vocabulary and num_oov_indices of 1 or more."
        )
    tokens = call.line("{0}.long()", call.x)
    if layer.invert:
        path = call.writer.buffer((layer, "inverse"), f"{layer.name}_tokens", layer._inverse)
        last = len(layer._inverse) - 1
        known = call.line(f"({{0}} >= 0) & ({{0}} < {last})", tokens, base="known")
        return call.line(f"{path}[torch.where({{1}}, {{0}}, {last})]", tokens, known)
    keys = call.writer.buffer((layer, "keys"), f"{layer.name}_keys", layer._keys)
    values = call.writer.buffer((layer, "values"), f"{layer.name}_values", layer._values)
    unknown = str(len(layer._special) - layer.num_oov_indices)
    if layer.num_oov_indices > 1:
        unknown = f"{{0}}.remainder({layer.num_oov_indices}) + {unknown}"
    found = call.line(f"{call.helper(lookup.look_up)}({{0}}, {keys}, {values}, {unknown})", tokens)
    depth = layer.max_tokens if layer.pad_to_max_tokens else len(layer.vocabulary)
    return vectors(call, found, layer.output_mode, depth, dtype_of(layer.compute_dtype))


# --- strings ---------------------------------------------------------------------------------------------------------


def tokens_of(layer: Any) -> Any:
    """The tokens of a vocabulary, the UTF-8 bytes of each in a row. Raises EjectError without exactly one unknown."""
    if layer.vocabulary is None or layer.num_oov_indices != 1 or layer.invert:
        raise EjectError(
            f"{type(layer).__name__} {layer.name!r}: eject writes one with a vocabulary, num_oov_indices=1 and "
            "invert=False."
        )
    return tensor_of_strings(layer.get_vocabulary(include_special_tokens=False), layer.name).view(torch.uint8)


def found_in(call: LayerCall, kind: Any, *options: str) -> int:
    """The indices that a module of the layer's vocabulary gives, as vectors for another mode than 'int'."""
    layer, tokens = call.layer, tokens_of(call.layer)
    call.note("Strings go in as nested lists, or as NumPy arrays.")
    first = len(layer._special)
    sizes = (*map(str, tokens.shape), str(first), str(layer._first_unknown))
    module = call.module(f"{call.helper(kind)}({', '.join((*sizes, *options))})", {"tokens": tokens})
    found = call.line(f"{module}({{0}})", call.x)
    mode = "count" if layer.output_mode == "tf_idf" else layer.output_mode
    depth = layer.max_tokens if layer.pad_to_max_tokens else len(layer.vocabulary)
    found = vectors(call, found, mode, depth, dtype_of(layer.compute_dtype))
    if layer.output_mode != "tf_idf":
        return found
    return call.line(f"{{0}} * {call.writer.buffer((layer, 'idf'), f'{layer.name}_idf', layer._idf)}", found)


@rule(layers.StringLookup)
def string_lookup(layer: Any, call: LayerCall) -> int:
    masked = {} if layer.mask_token is None else {layer.mask_token: layer._places[layer.mask_token]}
    return found_in(call, texts.StringLookup, *([f"mask={masked!r}"] if masked else []))


@rule(layers.TextVectorization)
def text_vectorization(layer: Any, call: LayerCall) -> int:
    if callable(layer.standardize) or layer.split not in ("whitespace", "character"):
        raise EjectError(
            f"TextVectorization {layer.name!r}: eject writes one with split 'whitespace' or 'character', and without "
            "functions of your own."
        )
    changes = layer.standardize or ""
    sizes = range(1, layer.ngrams + 1) if isinstance(layer.ngrams, int) else layer.ngrams or (1,)
    split = f"{call.helper(texts.Splitting)}({'lower' in changes}, {'punctuation' in changes}, "
    split += f"{layer.split == 'character'}, {tuple(sizes)})"
    length = [] if layer.output_sequence_length is None else [str(layer.output_sequence_length)]
    return found_in(call, texts.TextVectorization, str(layer._places[layer.mask_token]), split, *length)


# --- images changed at random ----------------------------------------------------------------------------------------


def changed(layer: Any, call: LayerCall, kind: Any, *options: str) -> int:
    """A module with these options, applied to floating-point images."""
    seeded(layer, call)
    text = f"{call.helper(kind)}({', '.join(options)})"
    return call.line(f"{call.module(text)}({{0}})", floating(layer, call))


@rule(layers.RandomFlip)
def random_flip(layer: Any, call: LayerCall) -> int:
    return changed(layer, call, formulas.RandomFlip, FLIPPED[layer.mode])


@rule(layers.RandomContrast)
def random_contrast(layer: Any, call: LayerCall) -> int:
    low, high = 1 - layer.factor[0], 1 + layer.factor[1]
    return changed(layer, call, formulas.RandomContrast, str(low), str(high), str(tuple(layer.value_range)))


@rule(layers.RandomCrop)
def random_crop(layer: Any, call: LayerCall) -> int:
    return changed(layer, call, formulas.RandomCrop, str(layer.height), str(layer.width))


def affine(layer: Any, call: LayerCall, kind: Any, *factors: Any) -> int:
    """A module that moves pixels."""
    options = list(map(str, factors))
    options += [f'beyond="{BEYOND_EDGE[layer.fill_mode]}"'] if layer.fill_mode != "reflect" else []
    options += ['interpolation="nearest"'] if layer.interpolation == "nearest" else []
    options += [f"fill_value={layer.fill_value}"] if layer.fill_value else []
    return changed(layer, call, kind, *options)


@rule(layers.RandomRotation)
def random_rotation(layer: Any, call: LayerCall) -> int:
    return affine(layer, call, formulas.RandomRotation, *layer.factor)


@rule(layers.RandomTranslation)
def random_translation(layer: Any, call: LayerCall) -> int:
    return affine(layer, call, formulas.RandomTranslation, layer.height_factor, layer.width_factor)


@rule(layers.RandomZoom)
def random_zoom(layer: Any, call: LayerCall) -> int:
    factors = [layer.height_factor] + ([] if layer.width_factor is None else [layer.width_factor])
    return affine(layer, call, formulas.RandomZoom, *factors)

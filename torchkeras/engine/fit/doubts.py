"""Mistakes that train without an error. `fit` warns of each once after `compile`, by a `LikelyMistakeWarning`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from torchkeras import activations, metrics
from torchkeras.data.sources.source import ArraySource, Source
from torchkeras.data.target_kinds import CLASSES, CLASSES_OF_TORCH, FREE, LIKE
from torchkeras.engine.facts import facts_of, is_own
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.step.output_loss import is_one_of, name_of
from torchkeras.engine.step.output_metric import is_torchs_of_logits, takes_log_probabilities, takes_probabilities
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, Shape
from torchkeras.errors import LikelyMistakeWarning
from torchkeras.losses.shared import ELEMENTWISE

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training
    from torchkeras.engine.step.step import CompiledModel
    from torchkeras.engine.step.targets import Target

LOOKED_AT = 1024  # samples, of arrays
FIRST = 8  # calls of layers, among which images meet the first that takes them
LEAST_SIDE = 8  # pixels: a smaller square may as well be features
PROBED = torch.tensor([[-3.0, 0.5, 3.0]])
# Metrics that count equal classes, which numbers of a regression are not.
ACCURACIES: tuple[Any, ...] = (
    *(metrics.binary_accuracy, metrics.categorical_accuracy, metrics.sparse_categorical_accuracy),
    *(metrics.categorical_hits, metrics.sparse_categorical_hits),
)
ACCURACY_CLASSES = (
    metrics.Accuracy,
    metrics.BinaryAccuracy,
    metrics.CategoricalAccuracy,
    metrics.SparseCategoricalAccuracy,
)


def warn(compiled: CompiledModel, text: str) -> None:
    """Warn of a mistake, unless it was done since `compile`."""
    if text not in compiled.doubted:
        compiled.doubted.add(text)
        warnings.warn(f"fit: {text}", LikelyMistakeWarning, stacklevel=6)


# --- what the graph says ---------------------------------------------------------------------------------------------


def doubt_activations(compiled: CompiledModel) -> None:
    """Warn of outputs whose activation is not what their loss expects, and of channels at another axis."""
    graph = graph_of(compiled.network)
    outputs = graph.outputs
    for node in graph.calls[:FIRST]:
        if hasattr(type(node.layer), "data_format") and _looks_channels_first(node):
            warn(compiled, _on_channels(node))
            break
    for target in compiled.targets:
        output = outputs[target.index]
        for text in (
            _doubt_of_activation(target, output),
            _doubt_of_threshold(target, output),
            _doubt_of_distance(target, output),
        ):
            if text:
                warn(compiled, text)


def _looks_channels_first(node: Node) -> bool:
    """Whether a layer takes channels last, and its input looks like square images with one or three at axis 1."""
    shape = node.input_tensors[0].shape
    if node.layer.data_format != "channels_last" or len(shape) != 4:
        return False
    return shape[1] in (1, 3) and shape[2] == shape[3] and (shape[3] or 0) > LEAST_SIDE


def _on_channels(node: Node) -> str:
    shape = node.input_tensors[0].shape
    return (
        f"the layer {node.layer.name!r} takes its input of the shape {tuple(shape)} for images of {shape[1]} by "
        f"{shape[2]} pixels with {shape[3]} channels. If the channels come first, pass data_format='channels_first' to "
        "the layers, or put Permute((2, 3, 1)) before them."
    )


def _doubt_of_activation(target: Target, output: KerasTensor) -> str:
    layer, loss = _last_layer(output), target.objective.given
    activation: Any = getattr(layer, "activation", None)
    told, name = f"the output {target.name!r}", name_of(loss)
    ends_in = facts_of(layer).ends_in or facts_of(layer).computes_only
    if takes_log_probabilities(loss):
        if ends_in is None:
            return ""
        return (
            f"{told} ends in {ends_in}, but {name} takes logarithms of probabilities. Use activation='log_softmax', or "
            "no activation and nn.CrossEntropyLoss()."
        )
    if is_torchs_of_logits(loss):
        if ends_in is None:
            return ""
        return (
            f"{told} ends in {ends_in}, and {name} applies it again: it takes logits. Leave the last activation out, "
            "or take a loss on probabilities, such as 'binary_crossentropy' or 'sparse_categorical_crossentropy'."
        )
    known = is_own(type(layer)) and getattr(activation, "__module__", "").startswith(activations.__name__)
    if takes_probabilities(loss) and known and _leaves_unit_range(activation):
        return (
            f"{told} ends in {activation.__name__}, which gives numbers outside of 0 to 1, but {name} takes "
            "probabilities. Use activation='softmax' or 'sigmoid', or a loss with from_logits=True."
        )
    return ""


def _doubt_of_threshold(target: Target, output: KerasTensor) -> str:
    """A score that takes the largest output for the class, of a single output."""
    for measure in target.measures:
        metric = measure.metric
        if isinstance(metric, metrics.FBetaScore) and metric.threshold is None and output.shape[-1] == 1:
            return (
                f"the metric {measure.name!r} takes the largest output for the class, and the output {target.name!r} "
                f"has a single one, so every sample counts as positive. Give {type(metric).__name__}(threshold=0.5)."
            )
    return ""


def _doubt_of_distance(target: Target, output: KerasTensor) -> str:
    """A function of two numbers as a metric, which compares the number of a class with the score of each class."""
    if target.objective.target_kind not in (CLASSES, CLASSES_OF_TORCH) or output.shape[-1] == 1:
        return ""
    for measure in target.measures:
        if is_one_of(measure.metric, ELEMENTWISE):
            return (
                f"the metric {measure.name!r} compares the class numbers of the output {target.name!r} with each of "
                f"its {output.shape[-1]} scores. Take 'accuracy', or one-hot targets with their loss."
            )
    return ""


def _last_layer(output: KerasTensor) -> Any:
    """The layer that computes an output; that of a model inside, and the one inside of a TimeDistributed.

    A user's layer may do more with the outputs of one that it has.
    """
    layer, _, place = output.keras_history
    while True:
        if isinstance(layer, Network) and layer._graph is not None:
            layer, _, place = layer.outputs[place].keras_history
        elif is_own(type(layer)) and isinstance(inside := getattr(layer, "layer", None), nn.Module):
            layer = inside
        else:
            return layer


@lru_cache
def _leaves_unit_range(activation: Any) -> bool:
    """Whether an activation gives numbers outside of 0 to 1."""
    values = activation(PROBED)
    return bool((values < 0).any() or (values > 1).any())


# --- what the data says ----------------------------------------------------------------------------------------------


def doubt_data(training: Training, true: Sequence[Tensor], weights: Sequence[Tensor | None]) -> None:
    """Warn of targets and weights that mean something else, by the first samples, where they lie on the CPU."""
    compiled = training.ready()
    compiled.looks_at_data = False
    for target, values, weight in zip(compiled.targets, true, weights, strict=False):
        if weight is not None and weight.is_cpu and (text := _doubt_of_weights(target.name, weight[:LOOKED_AT])):
            warn(compiled, text)
        if values.is_cpu and _has_fractions(values := values[:LOOKED_AT]):
            output = training.model.outputs[target.index]
            for text in (_doubt_of_metrics(target, values), _doubt_of_shapes(target, values, output.shape)):
                if text:
                    warn(compiled, text)


def _has_fractions(values: Tensor) -> bool:
    return values.is_floating_point() and bool((values != values.round()).any())


def _doubt_of_weights(name: str, weight: Tensor) -> str:
    told = f"the sample weights of the output {name!r}"
    if bool((weight < 0).any()):
        return (
            f"{told} have negative numbers, by which the loss grows without end. The third item of a batch, and "
            "sample_weight, are weights."
        )
    if len(weight) >= 8 and not _has_fractions(weight) and len(weight.unique()) == weight.numel():
        return (
            f"{told} are different whole numbers, such as numbers of samples. The third item of a batch, and "
            "sample_weight, are weights."
        )
    return ""


def _doubt_of_metrics(target: Target, true: Tensor) -> str:
    if true.shape[-1] > 1 and bool(((true.sum(-1) - 1).abs() < 1e-3).all()):  # probabilities of classes
        return ""
    for measure in target.measures:
        metric = measure.metric
        known = is_one_of(getattr(metric, "function", metric), ACCURACIES) or isinstance(metric, ACCURACY_CLASSES)
        if known and target.objective.target_kind in (LIKE, FREE):
            return (
                f"the metric {measure.name!r} counts equal classes, but the targets of the output {target.name!r} have "
                "fractions. Take 'mae' or another metric of numbers."
            )
    return ""


def _doubt_of_shapes(target: Target, true: Tensor, output: Shape) -> str:
    """A function of the user's own that spreads numbers over other ones."""
    if not target.objective.is_users or true.dim() != len(output):
        return ""
    pairs = [(a, b) for a, b in zip(true.shape[1:], output[1:], strict=True) if b is not None and a != b]
    if not pairs or not all(1 in pair for pair in pairs):
        return ""
    loss, shape = name_of(target.objective.given), (None, *true.shape[1:])
    return (
        f"the loss {loss} gets targets of the shape {shape} and outputs of {tuple(output)}, and spreads the numbers of "
        "one over the other. Give both one shape."
    )


# --- what the losses say ---------------------------------------------------------------------------------------------


def doubt_losses(
    training: Training, source: Source, validation: Source | None, history: Mapping[str, Sequence[Any]]
) -> None:
    """Warn of losses that are not finite, with what the data has; of those of a validation, if only these are."""
    compiled = training.ready()
    for number, loss in enumerate(history.get("loss", ()), 1):
        if isinstance(loss, float) and not isfinite(loss):
            if compiled.guard is None:  # else the option `on_nonfinite` has its own words
                cause = _place_in(source, training, "") or CAUSES[isinstance(source, ArraySource)]
                warn(compiled, f"the loss is {loss} from epoch {number} on. {cause}")
            return
    if validation is None:
        return
    for loss in history.get("val_loss", ()):
        if isinstance(loss, float) and not isfinite(loss):
            cause = _place_in(validation, training, "validation ") or "Look for such numbers in the validation data."
            warn(compiled, f"the val_loss is {loss}. {cause}")
            return


# Where a loss that is not finite may come from, by whether all data was looked at.
CAUSES = {
    True: "The data is finite: a lower learning rate or clipnorm=1 may help, and compile(on_nonfinite='raise') stops "
    "at the first such step.",
    False: "Look for such numbers in the data; compile(on_nonfinite='raise') stops at the first.",
}


def _place_in(source: Source, training: Training, part: str) -> str:
    """Which input or target of arrays is not finite, and where; "" if none is, or for other data."""
    if not isinstance(source, ArraySource):
        return ""
    names = [f"The {part}input {name!r}" for name in training.model.input_names]
    names += [f"The {part}target {target.name!r}" for target in training.ready().targets]
    for name, values in zip(names, [*source.data.inputs, *source.data.targets], strict=False):
        if values.is_floating_point():
            rows = torch.nonzero(~torch.isfinite(values).reshape(len(values), -1).all(1)).flatten()
            if len(rows):
                return f"{name} has nan or infinity in {len(rows)} of {len(values)} samples, first in number {rows[0]}."
    return ""

"""The loss of an output, in whatever form it was given: one way to call it, and what targets it takes.

Keras's functions give a number a sample, under the weighted mean of 2.2.4. A `Loss` object reduces as its `reduction`
says. A loss of torch (a module, or a function of torch.nn.functional) is called as torch calls it: (y_pred, y_true).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchkeras import losses
from torchkeras.base.lazy import lazy_property
from torchkeras.data.target_kinds import (
    AS_GIVEN,
    BINARY,
    CLASSES,
    CLASSES_OF_TORCH,
    FREE,
    IGNORED,
    LIKE,
    ONE_HOT,
    SOME_CLASSES,
)
from torchkeras.engine.step.by_sample import adds_up
from torchkeras.engine.step.unchanged import is_users
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.losses.crossentropy import mean_binary_crossentropy, mean_sparse_categorical_crossentropy
from torchkeras.losses.loss import function_of
from torchkeras.losses.shared import ELEMENTWISE, check_scores, divide_no_nan, like
from torchkeras.world.one_process import CURRENT

Score = Callable[[Tensor, Tensor], Tensor]

# Losses of torch that compare number with number, where a target of another shape would be spread in silence.
TORCH_ELEMENTWISE = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss)
TORCH_ELEMENTWISE_FUNCTIONS: tuple[Callable[..., Tensor], ...] = (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss)
# The same, with targets from 0 to 1.
TORCH_BINARY = (nn.BCELoss, nn.BCEWithLogitsLoss)
TORCH_BINARY_FUNCTIONS: tuple[Callable[..., Tensor], ...] = (
    *(F.binary_cross_entropy, F.binary_cross_entropy_with_logits),
)
# Those that take class numbers, which torch wants as int64.
TORCH_CLASSES = (nn.CrossEntropyLoss, nn.NLLLoss, nn.MultiMarginLoss)
TORCH_CLASSES_FUNCTIONS: tuple[Callable[..., Tensor], ...] = (F.cross_entropy, F.nll_loss, F.multi_margin_loss)


# The mean over all samples by fewer kernels than that of the means over the last axis.
MEANS: Mapping[Any, Score] = {
    losses.mean_squared_error: lambda true, predicted: F.mse_loss(predicted, like(true, predicted)),
    losses.mean_absolute_error: lambda true, predicted: F.l1_loss(predicted, like(true, predicted)),
    losses.binary_crossentropy: mean_binary_crossentropy,
    losses.sparse_categorical_crossentropy: mean_sparse_categorical_crossentropy,
}


@dataclass(frozen=True)
class Objective:
    """A loss: `given`, what the user passed, resolved; `target_kind`, what it takes for a target.

    `function`: that of a partial, else what was given. `mask_weighs`: whether masked steps count 0 in the mean over all
    steps; otherwise the mean is over the unmasked. `is_users`: whether it is neither the package's nor torch's.
    """

    given: Any
    target_kind: str
    function: Any
    mask_weighs: bool = False
    is_users: bool = field(init=False)

    def __post_init__(self) -> None:
        # most often a function of the package: told here, without a call
        of_package = type(self.given) is FunctionType and (self.given.__module__ or "").startswith("torchkeras.")
        object.__setattr__(self, "is_users", not of_package and is_users(self.given))

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        """The loss of a batch, a scalar; weight: (batch,) or (batch, time), mask: (batch, time)."""
        raise NotImplementedError

    @lazy_property
    def adds_up(self) -> bool:
        """Whether what it is of parts of a batch tells what it is of the whole."""
        return adds_up(self.given)


class FunctionObjective(Objective):
    """`weighted_mean(loss(y_true, y_pred))`"""

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        if weight is None and mask is None:
            return mean_of(self.given, true, predicted)
        return weighted_mean(scores_of(self.given, true, predicted), weight, mask, self.mask_weighs)


class LossObjective(Objective):
    """A `Loss` object, which reduces by itself; a weight a sample counts for all its time steps."""

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        if self.mask_weighs:
            weight, mask = with_mask(weight, mask), None
        if weight is not None and weight.dim() < predicted.dim() - 1:
            weight = weight.reshape(*weight.shape, *(1,) * (predicted.dim() - 1 - weight.dim()))
        return self.given(true, predicted, sample_weight=weight, mask=mask)


class TorchObjective(Objective):
    """A loss of torch: the scalar that it gives, or the weighted mean of its numbers (`reduction="none"`).

    Class numbers reach those that take them as int64, of the shape (batch,), whatever whole type they have and whether
    or not there is a second axis of length 1. Raises ValueError for weights or a mask when it has reduced to a scalar
    already.
    """

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        if isinstance(self.given, nn.Module) and any(b.device != predicted.device for b in self.given.buffers()):
            self.given.to(predicted.device)  # such as the weights of classes
        if self._takes_classes:
            true = _as_class_numbers(true, predicted)
        loss = self.given(predicted, true)
        check_scores(self.given, loss)
        if loss.dim():
            return weighted_mean(loss, weight, mask, self.mask_weighs)
        if weight is not None or mask is not None:
            what = "sample or class weights" if weight is not None else "a mask"
            raise ValueError(
                f"The loss {name_of(self.given)} gives one number a batch, so {what} cannot enter it: make it with "
                "reduction='none'."
            )
        return loss

    @property
    def _takes_classes(self) -> bool:
        return isinstance(self.given, TORCH_CLASSES) or self.function in TORCH_CLASSES_FUNCTIONS


def _as_class_numbers(true: Tensor, predicted: Tensor) -> Tensor:
    """Whole numbers as torch wants classes: int64, of the shape (batch,); other targets as they are."""
    if true.is_floating_point() or true.dtype == torch.bool:
        return true
    if true.dim() == predicted.dim() == 2 and true.shape[1] == 1:
        true = true.squeeze(1)
    return true.long()


def objective(identifier: Any, mask_weighs: bool = False) -> Objective:
    """The objective that a name, function, class, config or object stands for.

    `mask_weighs`: see `Objective`.

    Raises ValueError for an unknown name, and a `Loss` that does not reduce.
    """
    found = losses.get(identifier)
    if isinstance(found, losses.Loss):
        if found.reduction in (None, "none"):
            raise ValueError(
                f"compile: the loss {type(found).__name__} has reduction 'none'; training minimizes one number: choose "
                "'sum_over_batch_size', 'sum' or 'mean'."
            )
        kind = _target_kind(function_of(found))
        ignores = kind == CLASSES and getattr(found, "ignore_class", None) is not None
        return LossObjective(found, SOME_CLASSES if ignores else kind, found, mask_weighs)
    if isinstance(found, nn.Module):
        return TorchObjective(found, _kind_of_torch(found), found, mask_weighs)
    function = unwrapped(found)
    if (getattr(function, "__module__", None) or "").partition(".")[0] == "torch":
        kind = _kind_of_torch(function)
        ignores = isinstance(found, partial) and "ignore_index" in found.keywords
        return TorchObjective(found, AS_GIVEN if ignores else kind, function, mask_weighs)
    return FunctionObjective(found, _target_kind(found), function, mask_weighs)


def unwrapped(function: Any) -> Any:
    """The function that a `functools.partial` is made of, else itself."""
    return unwrapped(function.func) if isinstance(function, partial) else function


def name_of(loss: Any) -> str:
    """The name of a function, or of an object's class."""
    return getattr(loss, "__name__", type(loss).__name__)


def _target_kind(function: Any) -> str:
    """What targets a function of Keras takes; any other is free."""
    if function is losses.sparse_categorical_crossentropy:
        return CLASSES
    if any(function is known for known in (losses.categorical_crossentropy, losses.categorical_focal_crossentropy)):
        return ONE_HOT
    if any(function is known for known in (losses.binary_crossentropy, losses.binary_focal_crossentropy)):
        return BINARY
    return LIKE if any(function is known for known in ELEMENTWISE) else FREE


def _kind_of_torch(loss: Any) -> str:
    """What targets a module or function of torch takes."""
    if isinstance(loss, TORCH_BINARY) or loss in TORCH_BINARY_FUNCTIONS:
        return BINARY
    if isinstance(loss, TORCH_CLASSES) or loss in TORCH_CLASSES_FUNCTIONS:
        return CLASSES_OF_TORCH if getattr(loss, "ignore_index", IGNORED) == IGNORED else AS_GIVEN
    return LIKE if isinstance(loss, TORCH_ELEMENTWISE) or loss in TORCH_ELEMENTWISE_FUNCTIONS else AS_GIVEN


def mean_of(function: Score, true: Tensor, predicted: Tensor, by_feature: bool = False) -> Tensor:
    """The mean of a function of Keras's over all samples; `by_feature`: it may give one for each feature."""
    try:
        whole = MEANS.get(function)
    except TypeError:  # it cannot be looked up
        whole = None
    if whole is not None:
        return whole(true, predicted)
    scores = scores_of(function, true, predicted, by_feature)
    return scores.mean(dtype=None if scores.is_floating_point() else torch.float32)


def scores_of(function: Score, true: Tensor, predicted: Tensor, by_feature: bool = False) -> Tensor:
    """What a function gives: a number, or one for each sample; `by_feature`: or one for each feature.

    Raises TypeError for what is no tensor with values, and ValueError for another number of them.
    """
    scores = function(true, predicted)
    if isinstance(scores, KerasTensor):
        raise TypeError(
            f"a loss or metric gave a symbolic tensor, {scores!r}, for targets and outputs with values: it uses a "
            "tensor of the graph in a way that compile did not see. Use model.add_loss or model.add_metric."
        )
    if not isinstance(scores, Tensor) or scores.is_complex() or scores.shape[:1] not in ((), predicted.shape[:1]):
        of_features = by_feature and getattr(scores, "shape", None) == predicted.shape[1:]
        check_scores(function, scores, None if of_features else predicted)
    return scores


def with_mask(weight: Tensor | None, mask: Tensor | None) -> Tensor | None:
    """Weights of which the masked ones are 0; weight: (batch,) or (batch, time), mask: (batch, time)."""
    if mask is None or weight is None:
        return mask if weight is None else weight
    return weight.reshape(*weight.shape, *(1,) * (mask.dim() - weight.dim())) * mask


def weighted_mean(scores: Tensor, weight: Tensor | None, mask: Tensor | None, mask_weighs: bool = False) -> Tensor:
    """Keras's mean over samples: masked scores count 0 in a mean over the unmasked, weights of 0 are left out of it.

    `mask_weighs`: masked scores count 0 in a mean over all.

    It is 0 where all are masked or left out: such a batch teaches nothing, where Keras 2.2.4 would set weights to NaN.
    One number for the whole batch counts as that of every sample, and step: weights multiply it by their mean over the
    samples that they do not leave out. scores: () or (batch, ...), True counted as 1; weight: (batch,) or (batch,
    time); mask: (batch, time). Raises ValueError for scores of samples where steps are weighted or masked.
    """
    if weight is None and mask is None:
        return scores.mean(dtype=None if scores.is_floating_point() else torch.float32)
    for what, given in (("sample weights", weight), ("a mask", mask)):
        if given is not None and 0 < scores.dim() < given.dim():
            raise ValueError(
                f"{what} of shape {tuple(given.shape)} need a loss or metric of as many axes; it gave the shape "
                f"{tuple(scores.shape)}."
            )
    if not scores.is_floating_point():
        scores = scores.float()
    if mask is not None:
        scores = _masked(scores, mask, mask_weighs)
    if weight is not None:
        scores = _weighted(scores, weight)
    return scores.mean()


def _masked(scores: Tensor, mask: Tensor, mask_weighs: bool) -> Tensor:
    """Scores whose mean is that over the unmasked ones, or with `mask_weighs` over all, of which the masked are 0."""
    if scores.dim() > mask.dim():
        scores = scores.flatten(mask.dim()).mean(-1)
    kept = mask.to(scores.dtype)
    if mask_weighs:
        return scores * kept
    return divide_no_nan(scores * kept, CURRENT.batch.mean(kept, of=mask))


def _weighted(scores: Tensor, weight: Tensor) -> Tensor:
    """Scores whose mean is the weighted one over those with a weight that is not 0."""
    if scores.dim() > weight.dim():
        scores = scores.flatten(weight.dim()).mean(-1)
    counted = (weight != 0).to(scores.dtype)
    return divide_no_nan(scores * weight.to(scores.dtype), CURRENT.batch.mean(counted, of=weight))

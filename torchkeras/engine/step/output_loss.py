"""The loss of an output: one way to call all forms that Keras and torch have, and the kind of targets that it takes.

Keras's functions give a number a sample, under the weighted mean of 2.2.4. A `Loss` object reduces as its `reduction`
says. A loss of torch (a module, or a function of torch.nn.functional) is called as torch calls it: (y_pred, y_true).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import is_
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from torchkeras import losses, metrics
from torchkeras.base.extensions import replaceable_in
from torchkeras.base.python import lazy_property
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
from torchkeras.engine.carried_masks import marked
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.losses.crossentropy import mean_binary_crossentropy, mean_sparse_categorical_crossentropy
from torchkeras.losses.loss import function_of, kind_of
from torchkeras.losses.shared import ELEMENTWISE, MIXING, check_scores, divide_no_nan, like
from torchkeras.world.one_process import CURRENT

replaceable_in(__name__, "scores_of")

# --- means over samples: the value for a batch follows from the values for its parts ----------------------------------


# The functions that give each sample a number of its own, or the mean of such numbers.
FUNCTIONS = (
    *(set(ELEMENTWISE) - set(MIXING)),
    losses.sparse_categorical_crossentropy,
    *(metrics.binary_accuracy, metrics.categorical_accuracy, metrics.sparse_categorical_accuracy),
    *(metrics.categorical_hits, metrics.sparse_categorical_hits),
    *(metrics.top_k_categorical_accuracy, metrics.sparse_top_k_categorical_accuracy),
)
TORCH = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCELoss, nn.BCEWithLogitsLoss)
TORCH_FUNCTIONS = (
    *(F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss),
    *(F.binary_cross_entropy, F.binary_cross_entropy_with_logits),
)


def is_one_of(what: Any, known: Iterable[Any]) -> bool:
    """Whether it is one of these very objects. A user's object may compare in any way, so `in` would not do."""
    return any(map(partial(is_, what), known))


def is_by_sample(what: Any) -> bool:
    """Whether the mean over many samples is the mean of the means over parts of them, weighted by size."""
    if isinstance(what, losses.Loss):
        return adds_up(what) and what.reduction in ("sum_over_batch_size", "mean")
    return is_one_of(what, FUNCTIONS)


def adds_up(what: Any) -> bool:
    """Whether a loss or function, with its options, is the mean, or the sum, of a number for each sample.

    False for the user's own code, of which it is not known.
    """
    if isinstance(what, losses.Loss):
        return _is_by_row(what)
    if isinstance(what, nn.Module):
        return type(what) in TORCH and what.reduction == "mean" and getattr(what, "weight", None) is None
    if isinstance(what, partial):
        plain = not what.args and what.keywords.get("axis", -1) == -1
        return plain and is_by_sample(what.func)
    return is_by_sample(what) or is_one_of(what, TORCH_FUNCTIONS)


def _is_by_row(loss: losses.Loss) -> bool:
    """Whether a loss of this package computes each row of the last axis alone."""
    known = kind_of(loss).__module__ == losses.Huber.__module__
    return known and function_of(loss) not in MIXING and getattr(loss, "axis", -1) == -1


# --- the loss of an output --------------------------------------------------------------------------------------------


Score = Callable[[Tensor, Tensor], Tensor]

# What targets the losses of torch take: all others take them as they are.
TORCH_KINDS: Mapping[Any, str] = {
    # These compare number with number: torch would broadcast a target of another shape in silence.
    **dict.fromkeys((nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss), LIKE),
    **dict.fromkeys((F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss), LIKE),
    **dict.fromkeys((nn.BCELoss, nn.BCEWithLogitsLoss), BINARY),
    **dict.fromkeys((F.binary_cross_entropy, F.binary_cross_entropy_with_logits), BINARY),
    # torch wants class numbers as int64.
    **dict.fromkeys((nn.CrossEntropyLoss, nn.NLLLoss, nn.MultiMarginLoss), CLASSES_OF_TORCH),
    **dict.fromkeys((F.cross_entropy, F.nll_loss, F.multi_margin_loss), CLASSES_OF_TORCH),
}
# What targets the functions of Keras take: all others may be of any shape.
KINDS: Mapping[Any, str] = {
    **dict.fromkeys(ELEMENTWISE, LIKE),
    losses.sparse_categorical_crossentropy: CLASSES,
    losses.categorical_generalized_cross_entropy: CLASSES,
    **dict.fromkeys((losses.categorical_crossentropy, losses.categorical_focal_crossentropy), ONE_HOT),
    **dict.fromkeys((losses.binary_crossentropy, losses.binary_focal_crossentropy), BINARY),
}
# The mean over all samples by fewer kernels than that of the means over the last axis.
MEANS: Mapping[Any, Score] = {
    losses.mean_squared_error: lambda true, predicted: F.mse_loss(predicted, like(true, predicted)),
    losses.mean_absolute_error: lambda true, predicted: F.l1_loss(predicted, like(true, predicted)),
    losses.binary_crossentropy: mean_binary_crossentropy,
    losses.sparse_categorical_crossentropy: mean_sparse_categorical_crossentropy,
}


@dataclass(frozen=True)
class Objective:
    """A loss: `given` is the function or object, `target_kind` the kind of targets that it takes.

    `function`: that of a partial, else `given`. `mask_weighs`: whether masked steps count 0 in the mean over all
    steps; otherwise the mean is over the unmasked. `is_users`: whether it is neither the package's nor torch's.
    """

    given: Any
    target_kind: str
    function: Any
    mask_weighs: bool = False
    is_users: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_users", is_users(self.given))

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        """The loss of a batch, a scalar; weight: (batch,) or (batch, time), mask: (batch, time)."""
        raise NotImplementedError

    @lazy_property
    def adds_up(self) -> bool:
        """Whether the value for a batch follows from the values for its parts."""
        return adds_up(self.given)


class FunctionObjective(Objective):
    """`weighted_mean(loss(y_true, y_pred))`"""

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        return mean_of(self.given, true, predicted, weight, mask, self.mask_weighs)


class LossObjective(Objective):
    """A `Loss` object, which reduces by itself; a weight a sample counts for all its time steps.

    A `__call__` of one's own need not take a mask: then y_pred carries it, for the `__call__` of the base.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters = inspect.signature(self.given.__call__).parameters
        takes = "mask" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        object.__setattr__(self, "_takes_mask", takes)

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        if self.mask_weighs:
            weight, mask = with_mask(weight, mask), None
        if weight is not None and weight.dim() < predicted.dim() - 1:
            weight = _with_axes(weight, predicted.dim() - 1)
        if mask is None or not self._takes_mask:  # type: ignore[attr-defined]
            return self.given(true, marked(predicted, mask), sample_weight=weight)
        return self.given(true, predicted, sample_weight=weight, mask=mask)


class TorchObjective(Objective):
    """A loss of torch: the scalar that it gives, or the weighted mean of its numbers (`reduction="none"`).

    Raises ValueError for weights or a mask if the loss is a scalar.
    """

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        if isinstance(self.given, nn.Module) and any(b.device != predicted.device for b in self.given.buffers()):
            self.given.to(predicted.device)  # such as the weights of classes
        loss = self.given(predicted, true)
        check_scores(self.given, loss)
        if loss.dim():
            return weighted_mean(loss, weight, mask, self.mask_weighs)
        for what, found in (("sample or class weights", weight), ("a mask", mask)):
            if found is not None:
                raise ValueError(
                    f"The loss {name_of(self.given)} gives one number a batch, so {what} cannot enter it: make it with "
                    "reduction='none'."
                )
        return loss


class TorchClassesObjective(TorchObjective):
    """A loss of torch that takes class numbers.

    They reach it as int64 of the shape (batch,); the targets may have any integer type or be booleans, and have a
    second axis of length 1. One-hot rows, which cross-entropy takes too, reach it as probabilities.
    """

    def __call__(self, true: Tensor, predicted: Tensor, weight: Tensor | None, mask: Tensor | None) -> Tensor:
        return super().__call__(_as_class_numbers(true, predicted), predicted, weight, mask)


def _as_class_numbers(true: Tensor, predicted: Tensor) -> Tensor:
    """Integers as torch wants class numbers: int64, of the shape (batch,); one-hot rows and floats as floats."""
    if true.is_floating_point():
        return true
    if true.shape == predicted.shape and true.dim() > 1 and true.shape[1] > 1:
        return true.to(predicted.dtype)
    if true.dim() == predicted.dim() == 2 and true.shape[1] == 1:
        true = true.squeeze(1)
    return true.long()


def objective(identifier: Any, mask_weighs: bool = False) -> Objective:
    """The objective of a name, function, class, config or object; `mask_weighs`: see `Objective`.

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
        if kind == CLASSES and getattr(found, "ignore_class", None) is not None:
            kind = SOME_CLASSES
        return LossObjective(found, kind, found, mask_weighs)
    function = unwrapped(found)
    if isinstance(found, nn.Module) or _package_of(function) == "torch":
        return _of_torch(found, function, mask_weighs)
    return FunctionObjective(found, _target_kind(found), function, mask_weighs)


def unwrapped(function: Any) -> Any:
    """The function of a `functools.partial`, else the function itself."""
    return unwrapped(function.func) if isinstance(function, partial) else function


def _package_of(what: Any) -> str:
    return str(getattr(what, "__module__", "")).partition(".")[0]


def is_users(what: Any) -> bool:
    """Whether a loss or metric, a function or an object, is neither the package's nor torch's."""
    what = unwrapped(what)
    if _package_of(what) not in ("torch", "torchkeras"):
        return True
    attributes = getattr(what, "__dict__", {})  # a loss or metric of the package may wrap a function
    wrapped = attributes.get("fn", attributes.get("_function"))
    return wrapped is not None and is_users(wrapped)


def name_of(loss: Any) -> str:
    """The name of a function, or of an object's class."""
    return getattr(loss, "__name__", type(loss).__name__)


class Spread(TorchDispatchMode):
    """Looks for an operation, inside the block, of targets (n,) and outputs (n, 1), or the other way round.

    It gives n * n numbers, of each target with each output. `shapes`: those of the two, None for none. What compares
    the targets, or the outputs, among themselves is meant so.
    """

    def __init__(self, true: Tensor, predicted: Tensor):
        super().__init__()
        self.shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        # What was computed of which, by `id`. The tensors are stored, since a new one may get the id of a freed one.
        self._of = {id(true): (true, {"targets"}), id(predicted): (predicted, {"outputs"})}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the operation."""
        made = function(*args, **(kwargs or {}))
        if isinstance(made, Tensor):
            known = [self._of[id(each)] for each in args if id(each) in self._of]
            self._of[id(made)] = made, set().union(*(of for _, of in known))
            shapes = {next(iter(of)): tuple(tensor.shape) for tensor, of in known if len(of) == 1}
            count = len(made) if made.dim() == 2 else 0
            is_pairs = count > 1 and made.shape == (count, count) and set(shapes.values()) == {(count,), (count, 1)}
            if is_pairs and len(known) == 2:
                self.shapes = shapes["targets"], shapes["outputs"]
        return made


def _target_kind(function: Any) -> str:
    """What targets a function of Keras takes; those of any other function are free."""
    return KINDS.get(function, FREE) if isinstance(function, Hashable) else FREE


def _of_torch(found: Any, function: Any, mask_weighs: bool) -> TorchObjective:
    """The objective of a module or function of torch; `function`: that of a partial, else `found` itself."""
    forms = function, *type(function).__mro__
    kind = next((TORCH_KINDS[form] for form in forms if form in TORCH_KINDS), AS_GIVEN)
    if kind != CLASSES_OF_TORCH:
        return TorchObjective(found, kind, function, mask_weighs)
    if getattr(function, "ignore_index", IGNORED) != IGNORED or "ignore_index" in getattr(found, "keywords", ()):
        kind = AS_GIVEN
    return TorchClassesObjective(found, kind, function, mask_weighs)


def mean(values: Tensor) -> Tensor:
    """The mean of all values; that of integers and booleans in float32."""
    return values.mean(dtype=None if values.is_floating_point() else torch.float32)


def mean_of(
    function: Score,
    true: Tensor,
    predicted: Tensor,
    weight: Tensor | None,
    mask: Tensor | None,
    mask_weighs: bool = False,
    by_feature: bool = False,
) -> Tensor:
    """The `weighted_mean` of a function; `by_feature`: without weights and mask it may give a number a feature."""
    if weight is not None or mask is not None:
        return weighted_mean(scores_of(function, true, predicted), weight, mask, mask_weighs)
    if isinstance(function, FunctionType) and function in MEANS:
        return MEANS[function](true, predicted)
    return mean(scores_of(function, true, predicted, by_feature))


def scores_of(function: Score, true: Tensor, predicted: Tensor, by_feature: bool = False) -> Tensor:
    """Call a function: it gives a number, or one for each sample; with `by_feature`, it may give one for each feature.

    Raises TypeError unless it gives a tensor with values, and ValueError for another number of values.
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
    """The weights, 0 for what is masked; weight: (batch,) or (batch, time), mask: (batch, time)."""
    if mask is None:
        return weight
    if weight is None:
        return mask
    return _with_axes(weight, mask.dim()) * mask


def _with_axes(weight: Tensor, axes: int) -> Tensor:
    """A weight with as many axes; those added at the end have the size 1."""
    return weight.reshape(*weight.shape, *(1,) * (axes - weight.dim()))


def weighted_mean(scores: Tensor, weight: Tensor | None, mask: Tensor | None, mask_weighs: bool = False) -> Tensor:
    """Keras's mean over samples: it leaves out masked scores and weights of 0.

    `mask_weighs`: masked scores count 0 in a mean over all scores.

    The mean is 0 if all scores are masked or left out: such a batch trains nothing, while Keras 2.2.4 would set weights
    to NaN. One number for the whole batch counts for every sample and step: it is multiplied by the mean of the weights
    that are not 0. scores: () or (batch, ...), True counts 1; weight: (batch,) or (batch, time); mask: (batch, time).
    Raises ValueError for one score a sample if there are weights or a mask for steps.
    """
    for what, by in (("sample weights", weight), ("a mask", mask)):
        if by is not None and 0 < scores.dim() < by.dim():
            raise ValueError(
                f"{what} of shape {tuple(by.shape)} need a loss or metric of as many axes; it gave the shape "
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
    """Scores whose mean is that of the unmasked scores; with `mask_weighs`, scores of which the masked are 0."""
    if scores.dim() > mask.dim():
        scores = scores.flatten(mask.dim()).mean(-1)
    counted = mask.to(scores.dtype)
    if mask_weighs:
        return scores * counted
    return divide_no_nan(scores * counted, CURRENT.batch.mean(counted, of=mask))


def _weighted(scores: Tensor, weight: Tensor) -> Tensor:
    """Scores whose mean is the weighted mean of those with a weight other than 0."""
    if scores.dim() > weight.dim():
        scores = scores.flatten(weight.dim()).mean(-1)
    counted = (weight != 0).to(scores.dtype)
    return divide_no_nan(scores * weight.to(scores.dtype), CURRENT.batch.mean(counted, of=weight))

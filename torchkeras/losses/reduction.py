"""How values, weights and masks become one number: the rules of Keras 3, for classes of losses.

Plain functions are reduced by the weighted mean of 2.2.4, `engine.step.output_loss.weighted_mean`.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from torchkeras.losses.shared import divide_no_nan, same_rank
from torchkeras.world.one_process import CURRENT

Reduction = Literal["sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none"]
REDUCTIONS = (*get_args(Reduction), None)


def reduce_weighted(
    values: Tensor, sample_weight: Tensor | None, mask: Tensor | None, reduction: str | None, broadcast: bool = False
) -> Tensor:
    """The values, weighted and masked, by `reduction`.

    values: (batch, ...). sample_weight and mask have as many axes, each as long or of 1. They may also have a last axis
    of 1 more or less, or no axis at all.

    sum_over_batch_size, mean: sum(values * weight) / (number of values that are not masked).
    sum: the sum. mean_with_sample_weight: sum(values * weight) / sum(weight), 0 for a sum of 0.
    none, None: values * weight as they are. Values that are one number already stay as they are, too.

    Raises ValueError for a weight or mask of another shape. Keras 3 would multiply (batch,) with the last axis: so does
    `broadcast`, which takes what torch broadcasts.
    """
    weight = apply_mask(sample_weight, mask, values.dtype, reduction, broadcast)
    if weight is not None:
        values, weight = same_rank(values, weight)
        _check_fit("sample_weight" if mask is None else "mask", weight, "values", values, broadcast=broadcast)
        values = values * weight
    if reduction in (None, "none") or values.dim() == 0:
        return values
    batch = CURRENT.batch
    if reduction == "mean_with_sample_weight" and weight is not None:
        return divide_no_nan(batch.of_sum(values.sum()), batch.sum(weight))
    if reduction == "sum" or values.numel() == 0:
        return batch.of_sum(values.sum())
    return values.mean()


def apply_mask(
    sample_weight: Tensor | None,
    mask: Tensor | None,
    dtype: torch.dtype,
    reduction: str | None = "sum",
    broadcast: bool = False,
) -> Tensor | None:
    """One weight for both: sample_weight where the mask is True, 0 elsewhere; None when there is neither.

    For a mean over all values the remaining weights are multiplied by (all / unmasked), which makes it the mean over
    the unmasked. `broadcast`: see `reduce_weighted`.
    """
    weight = None if sample_weight is None else sample_weight.to(dtype)
    if mask is None:
        return weight
    kept = mask.to(torch.bool).to(dtype)
    if reduction in ("mean", "sum_over_batch_size"):
        valid = CURRENT.batch.mean(kept, of=mask)
        kept = kept / valid.masked_fill(valid == 0, torch.inf)
    if weight is None:
        return kept
    kept, weight = same_rank(kept, weight)
    _check_fit("sample_weight", weight, "mask", kept, either=True, broadcast=broadcast)
    return weight * kept


def _check_fit(
    what: str, weight: Tensor, of: str, values: Tensor, either: bool = False, broadcast: bool = False
) -> None:
    """Raise ValueError unless each axis of `weight` is as long as that of `values`, or 1.

    `either`: the axis of `values` may be the one of 1. `broadcast`: that too, and axes are counted from the last.
    """
    if 0 in (weight.dim(), values.dim()):
        return
    counted = zip(reversed(weight.shape), reversed(values.shape), strict=False)
    fit = all(size in (1, wanted) or ((either or broadcast) and wanted == 1) for size, wanted in counted)
    if not fit or (weight.dim() != values.dim() and not broadcast):
        raise ValueError(
            f"{what} of shape {tuple(weight.shape)} does not fit the {of} of shape {tuple(values.shape)}: each axis "
            "must be as long, or 1."
        )

"""torch's fused kernels with Keras's numbers."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from torchkeras.optimizers.parameter_groups import Group

fused_sgd: Callable[..., None] = partial(
    torch._fused_sgd_, weight_decay=0.0, nesterov=False, maximize=False, is_first_step=False
)


def fused_adam(
    group: Group,
    gradients: list[Tensor],
    moments: list[list[Tensor]],
    rate: float,
    beta_1: float,
    beta_2: float,
    epsilon: float,
    weight_decay: float = 0.0,
    skipping: Tensor | None = None,
) -> None:
    """m, v, and p -= rate * (m / (sqrt(v) + epsilon) + weight_decay * p): no bias correction but the rate's own.

    Nothing changes where `skipping` is 1.
    """
    # After infinitely many steps torch's correction is 1, and its epsilon stands where Keras's does.
    first, second, *largest = moments
    (torch._fused_adamw_ if weight_decay else torch._fused_adam_)(
        group.parameters,
        gradients,
        first,
        second,
        largest[0] if largest else [],
        group.forever,
        lr=rate,
        beta1=beta_1,
        beta2=beta_2,
        weight_decay=weight_decay,
        eps=epsilon,
        amsgrad=bool(largest),
        maximize=False,
        found_inf=skipping,
    )


def leaky(values: list[Tensor], new: list[Tensor], keep: float) -> None:
    """values = keep * values + (1 - keep) * new"""
    torch._foreach_lerp_(values, new, 1.0 - keep)


def leaky_squares(values: list[Tensor], new: list[Tensor], keep: float) -> None:
    """values = keep * values + (1 - keep) * new**2"""
    torch._foreach_mul_(values, keep)
    torch._foreach_addcmul_(values, new, new, value=1.0 - keep)

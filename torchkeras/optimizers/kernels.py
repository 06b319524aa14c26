"""torch's fused kernels with Keras's numbers."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

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


def adagrad(group: Group, gradients: list[Tensor], rate: float, epsilon: float) -> None:
    """a += g**2; p -= rate * g / (sqrt(a) + epsilon)"""
    (sums,) = group.moments
    if _has_fused_adagrad(group.parameters[0].device.type):
        torch._fused_adagrad_(
            group.parameters,
            gradients,
            sums,
            group.once,
            lr=rate,
            lr_decay=0.0,
            weight_decay=0.0,
            eps=epsilon,
            maximize=False,
        )
        return
    torch._foreach_addcmul_(sums, gradients, gradients)
    denominators = torch._foreach_sqrt(sums)
    torch._foreach_add_(denominators, epsilon)
    torch._foreach_addcdiv_(group.parameters, gradients, denominators, value=-rate)


@lru_cache
def _has_fused_adagrad(device: str) -> bool:
    # torch 2.6 has it for the CPU alone.
    return device in ("cpu", "cuda") and torch._C._dispatch_has_kernel_for_dispatch_key(
        "aten::_fused_adagrad_", device.upper()
    )


def leaky(values: list[Tensor], new: list[Tensor], keep: float) -> None:
    """values = keep * values + (1 - keep) * new"""
    torch._foreach_lerp_(values, new, 1.0 - keep)


def leaky_squares(values: list[Tensor], new: list[Tensor], keep: float) -> None:
    """values = keep * values + (1 - keep) * new**2"""
    torch._foreach_mul_(values, keep)
    torch._foreach_addcmul_(values, new, new, value=1.0 - keep)

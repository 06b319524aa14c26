"""What differs between versions of torch: each name as the newest has it, and what stands for it in those before.

A comment says from which version on torch has the name: with that one as the lowest, what stands for it goes away.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.modules import module as torch_modules

from torchkeras.base.interrupts import imported

__all__ = [
    "COMPILES",
    "KEEPS_EVENTS",
    "READ_AS_PLAIN",
    "SEES_NOTHING_IS_NAN",
    "WARNS_OF_CACHES",
    "MaxPool2d",
    "compiled",
    "compiler_settings",
    "has_any_global_hook",
    "in_eager_mode",
    "is_exporting",
    "max_pool2d",
    "scan",
    "softshrink",
    "uncompiled",
]

# torch 2.8: its compiler follows whole steps and models; those before are not asked to compile or export any.
COMPILES = torch.__version__ >= "2.8"
# torch 2.12: before, its compiler warns of functions of this package that keep their results by `functools.lru_cache`.
WARNS_OF_CACHES = torch.__version__ < "2.12"
# torch 2.5: `scaled_dot_product_attention` gives a query that sees nothing zeros; before, NaN.
SEES_NOTHING_IS_NAN = torch.__version__ < "2.5"
# torch 2.6: a profile takes it; from 2.11 on one that is left to its default warns.
KEEPS_EVENTS: dict[str, Any] = {"acc_events": True} if torch.__version__ >= "2.6" else {}
# torch 2.6: within a mode of dispatch the data of a lazy buffer can be read; before, only as a plain tensor.
READ_AS_PLAIN: tuple[Any, ...] = () if torch.__version__ >= "2.6" else (Tensor.data.__get__,)  # type: ignore[attr-defined]

try:  # torch 2.8
    from torch.nn.modules.module import _has_any_global_hook as has_any_global_hook
except ImportError:

    def has_any_global_hook() -> Any:
        """Whether a hook is registered for the calls of all modules."""
        return (
            torch_modules._global_backward_pre_hooks
            or torch_modules._global_backward_hooks
            or torch_modules._global_forward_pre_hooks
            or torch_modules._global_forward_hooks
        )


try:  # torch 2.7
    from torch.compiler import is_exporting
except ImportError:

    def is_exporting() -> bool:
        """Whether torch.export is what runs this: this torch exports no model."""
        return False


try:  # torch 2.6
    from torch._higher_order_ops.scan import scan
except ImportError:

    def scan(*arguments: Any, **options: Any) -> Any:
        """Raise NotImplementedError: this torch cannot write a loop along time as one operation."""
        raise NotImplementedError(
            f"A recurrent layer is exported as torch's scan, which torch {torch.__version__} does not have. "
            "Install torch 2.6 or newer to export it."
        )


if TYPE_CHECKING or torch.__version__ >= "2.6":
    from torch.nn import MaxPool2d
    from torch.nn.functional import max_pool2d, softshrink
else:
    # The maxima of integers are wrong where the channels lie last in memory.
    def max_pool2d(input: Tensor, *arguments: Any, **options: Any) -> Any:
        """torch's, for integers too."""
        return functional.max_pool2d(input if input.is_floating_point() else input.contiguous(), *arguments, **options)

    class MaxPool2d(torch.nn.MaxPool2d):
        """torch's, for integers too."""

        def forward(self, input: Tensor) -> Any:
            return super().forward(input if input.is_floating_point() else input.contiguous())

    # NaN becomes 0.
    def softshrink(input: Tensor, lambd: float = 0.5) -> Any:
        """torch's, NaN for NaN too."""
        return torch.where(input.isnan(), input, functional.softshrink(input, lambd))


# As torch.compiler.disable, which would import the compiler now and take five times as long as importing this package.
in_eager_mode: Any = torch._disable_dynamo  # type: ignore[attr-defined]


# Python 3.13.1: in 3.13.0 a dict does not tell that an attribute was set (python/cpython#125608). The compiler of torch
# 2.10 looks no further, so its graph would stay as it is.
OVERLOOKS_CHANGES = sys.version_info[:3] == (3, 13, 0)


def compiler_settings() -> Any:
    """The settings of the compiler, which torch imports when it compiles: the import takes long."""
    return imported("torch._dynamo.config")


def compiled(function: Callable[..., Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    """`torch.compile` of a function, made again when an attribute changes that its graph depends on."""
    if OVERLOOKS_CHANGES and hasattr(compiler_settings(), "use_recursive_dict_tags_for_guards"):
        compiler_settings().use_recursive_dict_tags_for_guards = False
    return torch.compile(function, **options)


def uncompiled() -> AbstractContextManager[Any]:
    """Within the block compiled functions run as they were written, so that a mode of dispatch sees what they do."""
    if "torch._dynamo" not in sys.modules:  # nothing is compiled, and importing it takes seconds
        return nullcontext()
    set_stance: Any = getattr(torch.compiler, "set_stance", None)  # torch 2.6: before, they do so under such a mode
    return nullcontext() if set_stance is None else set_stance("force_eager")  # type: ignore[no-any-return]

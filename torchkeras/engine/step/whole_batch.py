"""Whether a model's steps on shared batches have to look for torch's own batch normalization."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

from torch import nn
from torch.nn.modules.batchnorm import _NormBase

from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.facts import is_own
from torchkeras.world.batch_statistics import WholeBatch


def normalizing(network: nn.Module) -> AbstractContextManager[object]:
    """What a step on a shared batch runs in, so that all batch normalization is by the whole batch.

    Layers of this package ask for the whole batch themselves. A user's code may call torch's functions and modules:
    for a model that has any, these functions are replaced while the block runs.
    """
    return WholeBatch() if any(map(_may_normalize, _modules(network))) else nullcontext()


def _modules(module: nn.Module) -> Iterator[nn.Module]:
    """The modules of a model that may be called."""
    yield module
    if not (isinstance(module, AnyLayer) and module._facts.knows_whole_batch):
        for child in module.children():
            yield from _modules(child)


def _may_normalize(module: nn.Module) -> bool:
    return isinstance(module, _NormBase) or runs_users_code(module)


def runs_users_code(module: nn.Module) -> bool:
    """Whether a module may compute anything, by code that is neither this package's nor torch's."""
    if isinstance(module, AnyLayer) and module._facts.runs_users_code:
        return True
    kind = type(module)
    return not (is_own(kind) or kind.__module__.startswith("torch."))

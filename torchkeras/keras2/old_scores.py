"""Losses and metrics of scripts take `Value`s, as the code of their layers does: `y_pred /= ...` changes a copy."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

from torch import Tensor

from torchkeras.base import extensions
from torchkeras.base.python import installed
from torchkeras.engine.step import output_loss
from torchkeras.keras2.old_values import taking_values

_scores_of = output_loss.scores_of


def extend() -> None:
    """Let the functions of losses and metrics take them."""
    extensions.extend(output_loss, scores_of=scores_of)


def scores_of(function: Any, true: Tensor, predicted: Tensor, by_feature: bool = False) -> Tensor:
    """`output_loss.scores_of`, by a script's function that takes `Value`s."""
    of_script = isinstance(function, FunctionType) and not installed(function.__module__ or "")
    return _scores_of(_taking(function) if of_script else function, true, predicted, by_feature)


@lru_cache
def _taking(function: FunctionType) -> Callable[..., Any]:
    return taking_values(function)

"""Whether more of a metric is better, as the metric or loss itself declares it by `higher_is_better`."""

from collections.abc import Callable
from typing import Any, TypeVar

from torch import nn

from torchkeras import registry

F = TypeVar("F", bound=Callable[..., Any])


def rising(function: F) -> F:
    """Declare that more of what a function gives is better."""
    function.higher_is_better = True  # type: ignore[attr-defined]
    return function


def higher_is_better(metric: Any) -> bool | None:
    """Whether more of a metric is better; None where neither it nor what it is made of says so.

    Less of a loss is better: a registered function, a `Loss`, or a loss of torch.

    Arguments:
        metric (function or object): a metric or loss. A function of your own declares it as an attribute of the
            function, a class as an attribute of the class.

    Example:
        >>> higher_is_better(binary_accuracy), higher_is_better(mean_squared_error), higher_is_better(Mean())
        (True, False, None)
    """
    declared = getattr(metric, "higher_is_better", None)
    if declared is not None:
        return bool(declared)
    if hasattr(metric, "func"):  # of a partial
        return higher_is_better(metric.func)
    is_loss = isinstance(metric, nn.modules.loss._Loss) or registry.losses.holds(metric)
    return False if is_loss else None

"""Functions of each number by itself, and comparisons. Tensors of other shapes are broadcast as in NumPy."""

from __future__ import annotations

from math import inf
from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.nodes import as_type, pair, pointwise, tensor


@pointwise
def abs(x: Any) -> Tensor:
    """|x|.

    >>> abs(torch.tensor([-1.0, 2.0]))
    tensor([1., 2.])
    """
    return tensor(x).abs()


@pointwise
def square(x: Any) -> Tensor:
    """x * x.

    >>> square(torch.tensor([-3.0]))
    tensor([9.])
    """
    return tensor(x).square()


@pointwise
def sqrt(x: Any) -> Tensor:
    """The square root of max(x, 0).

    >>> sqrt(torch.tensor([-1.0, 4.0]))
    tensor([0., 2.])
    """
    return tensor(x).clamp(min=0.0).sqrt()


@pointwise
def exp(x: Any) -> Tensor:
    """e ** x.

    >>> exp(torch.tensor([0.0]))
    tensor([1.])
    """
    return tensor(x).exp()


@pointwise
def log(x: Any) -> Tensor:
    """The natural logarithm.

    >>> log(torch.tensor([1.0]))
    tensor([0.])
    """
    return tensor(x).log()


@pointwise
def round(x: Any) -> Tensor:
    """The nearest whole number; of two, the even one.

    >>> round(torch.tensor([0.5, 1.5]))
    tensor([0., 2.])
    """
    return tensor(x).round()


@pointwise
def sign(x: Any) -> Tensor:
    """-1, 0 or 1.

    >>> sign(torch.tensor([-2.0, 0.0, 3.0]))
    tensor([-1.,  0.,  1.])
    """
    return tensor(x).sign()


@pointwise
def sin(x: Any) -> Tensor:
    """sin(x), x in radians.

    >>> sin(torch.tensor([0.0]))
    tensor([0.])
    """
    return tensor(x).sin()


@pointwise
def cos(x: Any) -> Tensor:
    """cos(x), x in radians.

    >>> cos(torch.tensor([0.0]))
    tensor([1.])
    """
    return tensor(x).cos()


@pointwise
def pow(x: Any, a: Any) -> Tensor:
    """x ** a.

    >>> pow(torch.tensor([3.0]), 2)
    tensor([9.])
    """
    x, a = pair(x, a)
    return torch.pow(x, a)


@pointwise
def clip(x: Any, min_value: Any, max_value: Any) -> Tensor:
    """min(max(x, min_value), max_value); None is no bound, and a `max_value` below `min_value` becomes `min_value`.

    >>> clip(torch.tensor([-2.0, 0.5, 2.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    x = tensor(x)
    low, high = (
        tensor(-inf if min_value is None else min_value, x),
        tensor(inf if max_value is None else max_value, x),
    )
    return torch.minimum(torch.maximum(x, low), torch.maximum(low, high))


@pointwise
def maximum(x: Any, y: Any) -> Tensor:
    """The larger of two numbers.

    >>> maximum(torch.tensor([1.0, 4.0]), 2.0)
    tensor([2., 4.])
    """
    return torch.maximum(*pair(x, y))


@pointwise
def minimum(x: Any, y: Any) -> Tensor:
    """The smaller of two numbers.

    >>> minimum(torch.tensor([1.0, 4.0]), 2.0)
    tensor([1., 2.])
    """
    return torch.minimum(*pair(x, y))


@pointwise
def equal(x: Any, y: Any) -> Tensor:
    """x == y, for each number.

    >>> equal(torch.tensor([1.0, 2.0]), 2.0)
    tensor([False,  True])
    """
    return torch.eq(*pair(x, y))


@pointwise
def not_equal(x: Any, y: Any) -> Tensor:
    """x != y.

    >>> not_equal(torch.tensor([1.0, 2.0]), 2.0)
    tensor([ True, False])
    """
    return torch.ne(*pair(x, y))


@pointwise
def greater(x: Any, y: Any) -> Tensor:
    """x > y.

    >>> greater(torch.tensor([1.0, 2.0]), 1.0)
    tensor([False,  True])
    """
    return torch.gt(*pair(x, y))


@pointwise
def greater_equal(x: Any, y: Any) -> Tensor:
    """x >= y.

    >>> greater_equal(torch.tensor([1.0, 2.0]), 2.0)
    tensor([False,  True])
    """
    return torch.ge(*pair(x, y))


@pointwise
def less(x: Any, y: Any) -> Tensor:
    """x < y.

    >>> less(torch.tensor([1.0, 2.0]), 2.0)
    tensor([ True, False])
    """
    return torch.lt(*pair(x, y))


@pointwise
def less_equal(x: Any, y: Any) -> Tensor:
    """x <= y.

    >>> less_equal(torch.tensor([1.0, 2.0]), 1.0)
    tensor([ True, False])
    """
    return torch.le(*pair(x, y))


@pointwise
def stop_gradient(variables: Any) -> Any:
    """A tensor, or a list of them, that gradients do not pass.

    >>> stop_gradient(variable(1.0)).requires_grad
    False
    """
    return (
        [stop_gradient(each) for each in variables]
        if isinstance(variables, (list, tuple))
        else variables.detach().clone()
    )


@pointwise
def cast(x: Any, dtype: Any) -> Tensor:
    """`x` with another type.

    >>> cast(torch.ones(2), "int32").dtype
    torch.int32
    """
    return tensor(x).to(as_type(dtype))

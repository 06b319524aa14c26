"""The activations that Keras 3 has in addition to those of 2.2.4.

Unless another is named, the shape of the result is that of `x`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras.base.torch_versions import softshrink


def hard_sigmoid6(x: Tensor) -> Tensor:
    """clip(x / 6 + 0.5, 0, 1), which Keras 3 calls hard_sigmoid.

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> hard_sigmoid6(torch.tensor([-1.0, 1.0]))
        tensor([0.3333, 0.6667])
    """
    return F.hardsigmoid(x)


def gelu(x: Tensor, approximate: bool = False) -> Tensor:
    """x * P(X <= x), X standard normal.

    Arguments:
        x (tensor): of any shape.
        approximate (bool, default False): whether a tanh approximates the probability.

    Example:
        >>> gelu(torch.tensor([-1.0, 1.0]))
        tensor([-0.1587,  0.8413])

    Source: https://arxiv.org/abs/1606.08415
    """
    return F.gelu(x, approximate="tanh" if approximate else "none")


def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x), also called swish.

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> silu(torch.tensor([-1.0, 1.0]))
        tensor([-0.2689,  0.7311])

    Source: https://arxiv.org/abs/1710.05941
    """
    return F.silu(x)


def hard_silu(x: Tensor) -> Tensor:
    """x * clip(x / 6 + 1 / 2, 0, 1), also called hard_swish.

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> hard_silu(torch.tensor([-1.0, 1.0]))
        tensor([-0.3333,  0.6667])

    Source: https://arxiv.org/abs/1905.02244
    """
    return F.hardswish(x)


def mish(x: Tensor) -> Tensor:
    """x * tanh(softplus(x)).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> mish(torch.tensor([-1.0, 1.0]))
        tensor([-0.3034,  0.8651])

    Source: https://arxiv.org/abs/1908.08681
    """
    return F.mish(x)


def relu6(x: Tensor) -> Tensor:
    """clip(x, 0, 6).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> relu6(torch.tensor([-1.0, 1.0, 9.0]))
        tensor([0., 1., 6.])
    """
    return F.relu6(x)


def leaky_relu(x: Tensor, negative_slope: float = 0.2) -> Tensor:
    """x where x >= 0, else negative_slope * x.

    Arguments:
        x (tensor): of any shape.
        negative_slope (number, default 0.2): the slope below 0.

    Example:
        >>> leaky_relu(torch.tensor([-1.0, 1.0]))
        tensor([-0.2000,  1.0000])
    """
    return F.leaky_relu(x, negative_slope)


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else alpha * (exp(x / alpha) - 1).

    Arguments:
        x (tensor): of any shape.
        alpha (number, default 1.0): minus the limit on the left.

    Example:
        >>> celu(torch.tensor([-1.0, 1.0]))
        tensor([-0.6321,  1.0000])

    Source: https://arxiv.org/abs/1704.07483
    """
    return F.celu(x, alpha)


def threshold(x: Tensor, threshold: float, default_value: float) -> Tensor:
    """x where x > threshold, else default_value.

    Without both numbers it means nothing, so `activation="threshold"` does not name it.

    Arguments:
        x (tensor): of any shape.
        threshold (number): the value that x must exceed to stay.
        default_value (number): the result elsewhere.

    Example:
        >>> threshold(torch.tensor([-1.0, 1.0]), 0.0, 5.0)
        tensor([5., 1.])
    """
    return F.threshold(x, threshold, default_value)


def log_sigmoid(x: Tensor) -> Tensor:
    """log(1 / (1 + exp(-x))).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> log_sigmoid(torch.tensor([-1.0, 1.0]))
        tensor([-1.3133, -0.3133])
    """
    return F.logsigmoid(x)


def squareplus(x: Tensor, b: float = 4) -> Tensor:
    """(x + sqrt(x**2 + b)) / 2.

    Arguments:
        x (tensor): of any shape.
        b (number, default 4): how smooth the bend is; 0 gives relu.

    Example:
        >>> squareplus(torch.tensor([-1.0, 1.0]))
        tensor([0.6180, 1.6180])

    Source: https://arxiv.org/abs/2112.11687
    """
    return (x + torch.sqrt(x.square() + b)) / 2


def hard_tanh(x: Tensor) -> Tensor:
    """clip(x, -1, 1).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> hard_tanh(torch.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    return F.hardtanh(x)


def tanh_shrink(x: Tensor) -> Tensor:
    """x - tanh(x).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> tanh_shrink(torch.tensor([-1.0, 1.0]))
        tensor([-0.2384,  0.2384])
    """
    return F.tanhshrink(x)


def hard_shrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """x where abs(x) > threshold, else 0.

    Arguments:
        x (tensor): of any shape.
        threshold (number, default 0.5): the size up to which x becomes 0.

    Example:
        >>> hard_shrink(torch.tensor([-1.0, 0.25]))
        tensor([-1.,  0.])
    """
    return F.hardshrink(x, threshold)


def soft_shrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """x, by `threshold` nearer to 0; 0 where abs(x) <= threshold.

    Arguments:
        x (tensor): of any shape.
        threshold (number, default 0.5): how far x moves.

    Example:
        >>> soft_shrink(torch.tensor([-1.0, 0.25]))
        tensor([-0.5000,  0.0000])
    """
    return softshrink(x, threshold)


def sparse_plus(x: Tensor) -> Tensor:
    """0 up to -1, x from 1 on, (x + 1)**2 / 4 between.

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> sparse_plus(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([0.0000, 0.2500, 1.0000])
    """
    return torch.where(x < 1, (x.clamp(-1, 1) + 1).square() / 4, x)


def sparse_sigmoid(x: Tensor) -> Tensor:
    """clip((x + 1) / 2, 0, 1).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> sparse_sigmoid(torch.tensor([-1.0, 0.5]))
        tensor([0.0000, 0.7500])
    """
    return F.hardtanh(x) / 2 + 0.5


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """The first half of `axis` times the sigmoid of its second half.

    Arguments:
        x (tensor): of any shape, an even number long along `axis`.
        axis (integer, default -1): the axis that is halved.

    Shapes:
        (..., 2 * n) -> (..., n)

    Example:
        >>> glu(torch.tensor([[1.0, 2.0, 0.0, 0.0]]))
        tensor([[0.5000, 1.0000]])

    Source: https://arxiv.org/abs/1612.08083
    """
    return F.glu(x, axis)


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """x - log(sum(exp(x))) along `axis`.

    Arguments:
        x (tensor): of any shape.
        axis (integer, default -1): the axis of the sum.

    Example:
        >>> log_softmax(torch.tensor([[0.0, 0.0]]))
        tensor([[-0.6931, -0.6931]])
    """
    return F.log_softmax(x, axis)


def sparsemax(x: Tensor, axis: int = -1) -> Tensor:
    """max(x - t, 0), t such that the sum along `axis` is 1.

    Arguments:
        x (tensor): of any shape.
        axis (integer, default -1): the axis of the sum.

    Example:
        >>> sparsemax(torch.tensor([[0.0, 0.5, 1.0]]))
        tensor([[0.0000, 0.2500, 0.7500]])

    Source: https://arxiv.org/abs/1602.02068
    """
    # With the k greatest values above t, t is (their sum - 1) / k; with another number of values that is less.
    last = x.movedim(axis, -1)
    ranks = torch.arange(1, last.shape[-1] + 1, dtype=x.dtype, device=x.device)
    reached = (last.sort(descending=True).values.cumsum(-1) - 1) / ranks
    return torch.relu(last - reached.amax(-1, keepdim=True)).movedim(-1, axis)

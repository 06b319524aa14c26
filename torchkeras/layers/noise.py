"""Noise: layers that change values at random in training, and return them unchanged otherwise."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F

from torchkeras.base.rules import is_integer, optional, rule
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER, Fraction, NotNegative, OptionalInt, Share
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.layers.activation import Pointwise
from torchkeras.layers.random import Seeded, kept, leaves_to_torch
from torchkeras.layers.spatial import Spatial


def _is_noise_shape(value: Any) -> bool:
    is_shape = isinstance(value, (tuple, list))
    return is_shape and all(size is None or (is_integer(size) and size > 0) for size in value)


NOISE_SHAPE = rule(
    "must be a tuple of positive integers and None, the batch axis counted",
    _is_noise_shape,
    tuple,
    takes="Sequence[int | None]",
)
NoiseShape = Annotated[Any, optional(NOISE_SHAPE)]
NewerSeed = Annotated[OptionalInt, NEWER]


class Noise(Seeded, Pointwise, abstract=True):
    """The base of these layers: a subclass's `_noisy` changes the inputs in training."""

    _noisy: Callable[[torch.Tensor], torch.Tensor]

    def forward(self, inputs: torch.Tensor, training: bool | None = None) -> torch.Tensor:
        training = self.training if training is None else training
        return self._noisy(inputs) if training else inputs

    def _normal(self, inputs: torch.Tensor, mean: float, stddev: float) -> torch.Tensor:
        """A normally distributed number for each input."""
        return torch.empty_like(inputs).normal_(mean, stddev, generator=self._generator_on(inputs.device))

    def _keeps(self, inputs: torch.Tensor, shape: Any, rate: float) -> torch.Tensor:
        """Booleans of `shape`, False with the probability `rate`."""
        return kept(inputs, shape, rate, self._generator_on(inputs.device))

    def _dropped(self, inputs: torch.Tensor, shape: Any, rate: float) -> torch.Tensor:
        """`inputs` with zeros at a `rate` of the places of `shape`, and the others divided by `1 - rate`."""
        if not rate:
            return inputs
        return inputs * self._keeps(inputs, shape, rate).to(inputs.dtype).div_(1 - rate)


class Shaped(Noise, abstract=True):
    """Noise whose random numbers may be shared along axes.

    Options:
        noise_shape (tuple of integers and None, or None, default None): the shape of what is drawn, batch axis
            included. Along an axis of size 1 the numbers are shared; None, for one axis or for all, takes the input's
            size.
    """

    noise_shape: NoiseShape = None

    class _Facts(Facts):
        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.ANY if self.layer.noise_shape is None else Layout.KERAS

    def _make_modules(self, input_shape: Any) -> None:
        if self.noise_shape is not None and len(self.noise_shape) != len(input_shape):
            raise ValueError(f"noise_shape {self.noise_shape} must have as many axes as the input {input_shape}.")

    def _noise_shape(self, inputs: torch.Tensor) -> list[int]:
        shape = self.noise_shape or (None,) * inputs.dim()
        return [actual if size is None else size for size, actual in zip(shape, inputs.shape, strict=True)]


class Dropout(Shaped):
    """In training, zero for a `rate` of the values and `x / (1 - rate)` for the rest; otherwise `x`.

    Options:
        rate (float from 0 to below 1): the share of the values that become zero.

    Shapes:
        any -> the same

    Errors:
        ValueError: `noise_shape` does not have as many axes as the input.

    Example:
        >>> Dropout(0.5)(torch.ones(1, 100), training=True).unique()
        tensor([0., 2.])
        >>> Dropout(0.5)(torch.ones(1, 100), training=False).unique()
        tensor([1.])

    Source: https://jmlr.org/papers/v15/srivastava14a.html
    """

    rate: Fraction

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.noise_shape is None and self.seed is None and leaves_to_torch(inputs):
            return F.dropout(inputs, self.rate)
        return self._dropped(inputs, self._noise_shape(inputs), self.rate)


class AlphaDropout(Shaped):
    """In training, `a * x + b`, where a `rate` of the values of `x` is replaced by -1.758; else `x`.

    -1.758 is the least value of `selu`. `a` and `b` keep the mean 0 and the variance 1 that `selu` keeps.

    Options:
        rate (float from 0 to 1): the share of the values that are replaced. 1 changes nothing, as in Keras 2.

    Shapes:
        any -> the same

    Errors:
        ValueError: `noise_shape` does not have as many axes as the input.

    Example:
        >>> AlphaDropout(0.5)(torch.zeros(1, 100), training=True).unique().numel()
        2

    Source: https://arxiv.org/abs/1706.02515
    """

    rate: Share

    _least: ClassVar[float] = -1.6732632423543772 * 1.0507009873554805

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.rate == 1:
            return inputs
        a = ((1 - self.rate) * (1 + self.rate * self._least**2)) ** -0.5
        b = -a * self._least * self.rate
        kept = self._keeps(inputs, self._noise_shape(inputs), self.rate)
        return torch.where(kept, a * inputs + b, a * self._least + b)


class GaussianNoise(Noise):
    """In training, `x + noise`, with normally distributed noise of mean 0; else `x`.

    Options:
        stddev (float of at least 0): the standard deviation of the noise.

    Shapes:
        any -> the same

    Example:
        >>> GaussianNoise(0.1)(torch.ones(1, 2), training=False)
        tensor([[1., 1.]])

    Source: https://keras.io/api/layers/regularization_layers/gaussian_noise/
    """

    stddev: NotNegative
    seed: NewerSeed = None

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + self._normal(inputs, 0.0, self.stddev)


class GaussianDropout(Noise):
    """In training, `x * noise`, with normally distributed noise of mean 1; else `x`.

    The standard deviation is `sqrt(rate / (1 - rate))`, as in `Dropout`.

    Options:
        rate (float from 0 to 1): the rate of a `Dropout` with the same amount of noise. 1 changes nothing, as in Keras
            2.

    Shapes:
        any -> the same

    Example:
        >>> GaussianDropout(0.5)(torch.zeros(1, 2), training=True)
        tensor([[0., 0.]])

    Source: https://jmlr.org/papers/v15/srivastava14a.html
    """

    rate: Share
    seed: NewerSeed = None

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs if self.rate == 1 else inputs * self._normal(inputs, 1.0, (self.rate / (1 - self.rate)) ** 0.5)


class SpatialDropout(Spatial, Noise, abstract=True):
    """In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the rest; otherwise `x`.

    Options:
        rate (float from 0 to below 1): the share of the channels that become zero.

    Shapes:
        (batch, *sizes, channels) -> the same
        (batch, channels, *sizes) -> the same, with data_format="channels_first"

    Example:
        >>> SpatialDropout2D(0.5)(torch.ones(1, 4, 4, 100), training=True).sum((1, 2)).unique()
        tensor([ 0., 32.])

    Source: https://arxiv.org/abs/1411.4280
    """

    rate: Fraction
    seed: NewerSeed = None

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        return self._dropped(inputs, (*inputs.shape[:2], *(1,) * self.rank), self.rate)

    @classmethod
    def from_config(cls, config: Any) -> Layer:
        """A new layer with the options of a config, without the `noise_shape` of None that Keras 2 writes."""
        return cls(**{key: value for key, value in config.items() if (key, value) != ("noise_shape", None)})


class SpatialDropout1D(SpatialDropout):
    """In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the rest; otherwise `x`.

    Options:
        rate (float from 0 to below 1): the share of the channels that become zero.

    Shapes:
        (batch, steps, channels) -> the same

    Example:
        >>> SpatialDropout1D(0.5)(torch.ones(1, 4, 100), training=True).sum(1).unique()
        tensor([0., 8.])

    Source: https://arxiv.org/abs/1411.4280
    """

    data_format: ClassVar[str] = "channels_last"
    rank = 1


class SpatialDropout2D(SpatialDropout):
    rank = 2


class SpatialDropout3D(SpatialDropout):
    rank = 3

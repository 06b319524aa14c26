"""Noise: what changes values at random in training and passes them as they are outside of it."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F

from torchkeras.engine.layer.axis_order import Layout
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import (
    NEWER,
    DataFormat,
    Fraction,
    NotNegative,
    OptionalInt,
    Share,
    is_integer,
    optional,
    rule,
)
from torchkeras.engine.layer.tracing import traced
from torchkeras.layers.activation import Pointwise
from torchkeras.layers.random import Seeded, kept
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
    """The base: a subclass says in `_noisy` what training makes of the inputs."""

    _noisy: Callable[[torch.Tensor], torch.Tensor]

    def forward(self, inputs: torch.Tensor, training: bool | None = None) -> torch.Tensor:
        return self._noisy(inputs) if (self.training if training is None else training) else inputs

    def _normal(self, inputs: torch.Tensor, mean: float, stddev: float) -> torch.Tensor:
        """A number for each input, normally distributed."""
        return torch.empty_like(inputs).normal_(mean, stddev, generator=self._generator_on(inputs.device))

    def _kept(self, inputs: torch.Tensor, shape: Any, rate: float) -> torch.Tensor:
        """True, but False for a `rate` of the places of `shape`."""
        return kept(inputs, shape, rate, self._generator_on(inputs.device))

    def _dropped(self, inputs: torch.Tensor, shape: Any, rate: float) -> torch.Tensor:
        """0 for a `rate` of the places of `shape`, and the others enlarged for it."""
        if not rate:
            return inputs
        return inputs * self._kept(inputs, shape, rate).to(inputs.dtype).div_(1 - rate)


class Shaped(Noise, abstract=True):
    """`noise_shape`: the shape of what is drawn."""

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
    """In training, zero for a `rate` of the values and `x / (1 - rate)` for the others; else `x`.

    `noise_shape`: the shape of what is drawn, batch axis counted, spread over axes of 1; None means the input's size.
    `seed`: draw from an own generator that starts there, instead of torch's.
    Shape: any -> the same. Source: https://jmlr.org/papers/v15/srivastava14a.html
    """

    rate: Fraction
    noise_shape: NoiseShape = None
    seed: OptionalInt = None

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.noise_shape is None and self.seed is None and (traced() or not inputs.is_cpu):
            return F.dropout(inputs, self.rate)
        return self._dropped(inputs, self._noise_shape(inputs), self.rate)


class AlphaDropout(Shaped):
    """In training, `a * x + b`, with -1.758 (the least value of `selu`) for a `rate` of the values of `x`; else `x`.

    `a` and `b` keep the mean 0 and the variance 1 that `selu` keeps. `noise_shape` and `seed` are as for Dropout. A
    `rate` of 1 changes nothing, as in Keras 2.
    Shape: any -> the same. Source: https://arxiv.org/abs/1706.02515
    """

    rate: Share
    noise_shape: NoiseShape = None
    seed: OptionalInt = None

    _least: ClassVar[float] = -1.6732632423543772 * 1.0507009873554805

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.rate == 1:
            return inputs
        a = ((1 - self.rate) * (1 + self.rate * self._least**2)) ** -0.5
        b = -a * self._least * self.rate
        kept = self._kept(inputs, self._noise_shape(inputs), self.rate)
        return torch.where(kept, a * inputs + b, a * self._least + b)


class GaussianNoise(Noise):
    """In training, `x + noise`, normally distributed around 0 with the standard deviation `stddev`; else `x`.

    Shape: any -> the same.
    """

    stddev: NotNegative
    seed: NewerSeed = None

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + self._normal(inputs, 0.0, self.stddev)


class GaussianDropout(Noise):
    """In training, `x * noise`, normal around 1 with the standard deviation `sqrt(rate / (1 - rate))`; else `x`.

    A `rate` of 1 changes nothing, as in Keras 2.
    Shape: any -> the same. Source: https://jmlr.org/papers/v15/srivastava14a.html
    """

    rate: Share
    seed: NewerSeed = None

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs if self.rate == 1 else inputs * self._normal(inputs, 1.0, (self.rate / (1 - self.rate)) ** 0.5)


class SpatialDropout(Spatial, Noise, abstract=True):
    """In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the others; else `x`.

    Over one axis the channels are always last.
    Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes), -> the same.
    Source: https://arxiv.org/abs/1411.4280
    """

    rate: Fraction
    data_format: DataFormat = None
    seed: NewerSeed = None

    def _noisy(self, inputs: torch.Tensor) -> torch.Tensor:
        return self._dropped(inputs, (*inputs.shape[:2], *(1,) * self.rank), self.rate)

    @classmethod
    def from_config(cls, config: Any) -> Layer:
        """A new layer with the options of a config, apart from the `noise_shape` of None that Keras 2 writes."""
        return cls(**{key: value for key, value in config.items() if (key, value) != ("noise_shape", None)})


class SpatialDropout1D(SpatialDropout):
    data_format: ClassVar[str] = "channels_last"
    rank = 1


class SpatialDropout2D(SpatialDropout):
    rank = 2


class SpatialDropout3D(SpatialDropout):
    rank = 3

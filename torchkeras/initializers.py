"""Initializers: shape to first values. Shapes are Keras's, (rows, columns, channels, filters): fans count on them.

A `seed` gives the same numbers at each call; without one they come from torch's own generator (`torch.manual_seed`).
Half types are drawn in float32.
"""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras import config, registry

Device = torch.device | str | None
MODES = ("fan_in", "fan_out", "fan_avg")
DISTRIBUTIONS = ("normal", "uniform", "untruncated_normal")
TRUNCATED_STDDEV = 0.87962566103423978  # of a standard normal without what lies beyond two deviations


class Initializer:
    """The base class: called with a shape, gives a tensor; the fields of a dataclass are its config.

    A subclass defines `draw`, which sets the values of a tensor that is there, of any strides, or `__call__` itself.
    """

    def __call__(self, shape: Sequence[int], dtype: torch.dtype = torch.float32, device: Device = None) -> Tensor:
        device = torch.device(device or config.device())
        drawn_in = torch.float64 if dtype == torch.float64 else torch.float32
        return self.draw(torch.empty(tuple(shape), dtype=drawn_in, device=device), _generator(self, device)).to(dtype)

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        """`values` with its numbers set; `generator` is None for torch's own."""
        raise NotImplementedError(f"{type(self).__name__} has neither draw(values, generator) nor __call__(shape).")

    def get_config(self) -> dict[str, Any]:
        """The fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The initializer whose `get_config` gave `config`; a `dtype`, which tf.keras writes, is left out."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


def _generator(initializer: Initializer, device: torch.device) -> torch.Generator | None:
    seed = getattr(initializer, "seed", None)
    return None if seed is None else torch.Generator(device).manual_seed(int(seed))


@dataclass(frozen=True)
class Constant(Initializer):
    """value, a number or an array of the weight's shape."""

    value: Any = 0

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        value = torch.as_tensor(self.value)
        if value.dim() and value.shape != values.shape:
            raise ValueError(f"Constant: value is of shape {tuple(value.shape)}, the weight of {tuple(values.shape)}.")
        return values.copy_(value)


@dataclass(frozen=True)
class Zeros(Initializer):
    """0"""

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.zero_()


@dataclass(frozen=True)
class Ones(Initializer):
    """1"""

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.fill_(1.0)


@dataclass(frozen=True)
class RandomNormal(Initializer):
    """mean + stddev * N(0, 1)"""

    mean: float = 0.0
    stddev: float = 0.05
    seed: int | None = None

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.normal_(self.mean, self.stddev, generator=generator)


@dataclass(frozen=True)
class RandomUniform(Initializer):
    """U(minval, maxval)"""

    minval: float = -0.05
    maxval: float = 0.05
    seed: int | None = None

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.uniform_(self.minval, self.maxval, generator=generator)


@dataclass(frozen=True)
class TruncatedNormal(Initializer):
    """mean + stddev * N(0, 1), drawn again beyond two deviations: the result's deviation is 0.88 * stddev."""

    mean: float = 0.0
    stddev: float = 0.05
    seed: int | None = None

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        torch.nn.init.trunc_normal_(values, generator=generator)
        return values.mul_(self.stddev).add_(self.mean)


@dataclass(frozen=True)
class VarianceScaling(Initializer):
    """Values of variance scale / n: truncated normal, or U(-limit, limit) with limit = sqrt(3 * scale / n).

    n is the number of inputs ("fan_in"), of outputs ("fan_out") or their mean ("fan_avg").
    Raises ValueError for a scale that is not positive, or another mode or distribution.
    """

    scale: float = 1.0
    mode: str = "fan_in"
    distribution: str = "normal"
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError(f"VarianceScaling: scale must be positive; found {self.scale!r}.")
        for option, allowed in (("mode", MODES), ("distribution", DISTRIBUTIONS)):
            value = getattr(self, option)
            if not isinstance(value, str) or value.lower() not in allowed:
                raise ValueError(f"VarianceScaling: {option} must be one of {', '.join(allowed)}; found {value!r}.")
            object.__setattr__(self, option, value.lower())

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return self.with_fans(*_fans(values.shape)).draw(values, generator)

    def with_fans(self, fan_in: float, fan_out: float) -> Initializer:
        """The distribution itself, for these numbers of inputs and outputs."""
        units = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        stddev = math.sqrt(self.scale / max(1.0, units))
        if self.distribution == "normal":
            return TruncatedNormal(0.0, stddev / TRUNCATED_STDDEV, self.seed)
        if self.distribution == "untruncated_normal":
            return RandomNormal(0.0, stddev, self.seed)
        limit = math.sqrt(3.0) * stddev
        return RandomUniform(-limit, limit, self.seed)


@dataclass(frozen=True)
class Orthogonal(Initializer):
    """gain * Q, its columns (or rows, if fewer) orthonormal once all axes but the last are made one.

    Raises ValueError for a shape of fewer than two axes. Saxe et al., https://arxiv.org/abs/1312.6120
    """

    gain: float = 1.0
    seed: int | None = None

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if values.dim() < 2:
            raise ValueError(f"Orthogonal needs a shape of two axes or more; found {tuple(values.shape)}.")
        matrix = torch.nn.init.orthogonal_(values.new_empty(values.shape).flatten(0, -2), self.gain, generator)
        return values.copy_(matrix.view(values.shape))


@dataclass(frozen=True)
class Identity(Initializer):
    """gain * I, repeated along the longer side of the matrix.

    Raises ValueError unless the shape has two axes, one a multiple of the other.
    """

    gain: float = 1.0

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if values.dim() != 2 or max(values.shape) % min(values.shape):
            raise ValueError(f"Identity needs two axes, one a multiple of the other; found {tuple(values.shape)}.")
        rows, columns = values.shape
        side = min(rows, columns)
        return values.copy_(self.gain * torch.eye(side).repeat(rows // side, columns // side))


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    if 2 <= len(shape) <= 5:
        positions = math.prod(shape[:-2])
        return positions * shape[-2], positions * shape[-1]
    side = math.sqrt(math.prod(shape))
    return side, side


@registry.factory
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(3 / fan_in) (LeCun 1998, http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf)."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@registry.factory
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 1 / fan_in (https://arxiv.org/abs/1706.02515)."""
    return VarianceScaling(1.0, "fan_in", "normal", seed)


@registry.factory
def glorot_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(6 / (fan_in + fan_out)) (http://proceedings.mlr.press/v9/glorot10a.html)."""
    return VarianceScaling(1.0, "fan_avg", "uniform", seed)


@registry.factory
def glorot_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / (fan_in + fan_out) (http://proceedings.mlr.press/v9/glorot10a.html)."""
    return VarianceScaling(1.0, "fan_avg", "normal", seed)


@registry.factory
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(6 / fan_in) (https://arxiv.org/abs/1502.01852)."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


@registry.factory
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / fan_in (https://arxiv.org/abs/1502.01852)."""
    return VarianceScaling(2.0, "fan_in", "normal", seed)


zero = zeros = Zeros
one = ones = Ones
constant = Constant
uniform = random_uniform = RandomUniform
normal = random_normal = RandomNormal
truncated_normal = TruncatedNormal
identity = Identity
orthogonal = Orthogonal

# Every class and factory above is known by each of its names, the aliases among them.
for _name, _value in list(vars().items()):
    if hasattr(_value, "makes_object") or (isinstance(_value, type) and issubclass(_value, Initializer)):
        registry.initializers.register(_name, _value)


def fill(initializer: Any, values: Tensor) -> None:
    """Set a weight's first values, by an initializer or a user's `f(shape)`, which may give a numpy array.

    `values`: the weight in Keras's order of axes, a view of any strides. A `dtype` that the user's function cannot do
    without is given by name ("float32"). Raises ValueError when the result has another shape.
    """
    drawn_in_place = (
        type(initializer).__call__ is Initializer.__call__ if isinstance(initializer, Initializer) else False
    )
    if drawn_in_place and values.dtype in (torch.float32, torch.float64):
        initializer.draw(values, _generator(initializer, values.device))
        return
    shape = tuple(values.shape)
    drawn = torch.as_tensor(_call(initializer, shape, values.dtype, values.device))
    if drawn.shape != shape:
        name = getattr(initializer, "__name__", type(initializer).__name__)
        raise ValueError(f"Initializer {name} was asked for the shape {shape} and gave {tuple(drawn.shape)}.")
    values.copy_(drawn)


def _call(initializer: Any, shape: tuple[int, ...], dtype: torch.dtype, device: Device) -> Any:
    try:
        parameters = inspect.signature(initializer).parameters
    except ValueError:  # a builtin, such as numpy's, that tells no signature
        return initializer(shape)
    given: dict[str, Any] = {}
    if isinstance(initializer, Initializer) and "device" in parameters:
        given = {"dtype": dtype, "device": device}
    elif "dtype" in parameters and parameters["dtype"].default is inspect.Parameter.empty:
        given = {"dtype": str(dtype).removeprefix("torch.")}
    return initializer(shape, **given)


get = deserialize = registry.initializers.get
serialize = registry.initializers.serialize

"""Initializers: constants, matrices, and random distributions; `VarianceScaling` looks at the fans of the weight.

The fans are how many inputs and outputs a unit has.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras import config, registry
from torchkeras.base.arrays import as_numbers
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.extensions import replaceable_in
from torchkeras.base.rules import ABOVE_0, AT_LEAST_0, FINITE, Checked, integer, optional, read, word

replaceable_in(__name__, "_call_initializer", "_generator")

Device = torch.device | str | None
SEED = optional(integer())


class Initializer(Checked):
    """The base class: called with a shape, gives a tensor; the fields of a dataclass are its config.

    A subclass defines `draw`, which sets the values of an existing tensor of any strides, or `__call__` itself.

    Example:
        >>> class Halves(Initializer):
        ...     def draw(self, values, generator):
        ...         return values.fill_(0.5)
        >>> Halves()((2,))
        tensor([0.5000, 0.5000])

    Source: https://keras.io/api/layers/initializers/
    """

    def __call__(self, shape: Sequence[int], dtype: torch.dtype | str | None = None, device: Device = None) -> Tensor:
        device, kind = torch.device(device or config.device()), dtype_of(config.floatx() if dtype is None else dtype)
        drawn_in = torch.float64 if kind == torch.float64 else torch.float32
        return self.draw(torch.empty(tuple(shape), dtype=drawn_in, device=device), self._of_call(device)).to(kind)

    def _of_call(self, device: torch.device) -> torch.Generator | None:
        """The generator for a call by hand; a layer's weights have `_generator`."""
        return _generator(self, device)

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        """Set the numbers of `values` and return it; `generator` is None for torch's own."""
        raise NotImplementedError(f"{type(self).__name__} has neither draw(values, generator) nor __call__(shape).")

    def next_seed(self) -> int | None:
        """The seed of the next call: the same for all of them; None for torch's own generator."""
        seed = getattr(self, "seed", None)
        return None if seed is None else int(seed)

    def get_config(self) -> dict[str, Any]:
        """The fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The initializer whose `get_config` gave `config`; a `dtype`, which tf.keras writes, is ignored."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})

    def clone(self) -> Any:
        """An initializer with the same config."""
        return type(self).from_config(self.get_config())


def _generator(initializer: Initializer, device: torch.device) -> torch.Generator | None:
    seed = None if device.type == "meta" else initializer.next_seed()  # nothing is drawn there
    return None if seed is None else torch.Generator(device).manual_seed(seed)


def fill(initializer: Any, values: Tensor) -> None:
    """Set a weight's first values, by an initializer or a user's `f(shape)`, which may give a numpy array.

    Arguments:
        initializer (Initializer or function): gives the values. A function that requires a `dtype` gets its name
            ("float32").
        values (tensor): the weight in Keras's order of axes, a view of any strides.

    Errors:
        ValueError: when the result has another shape.

    Example:
        >>> weight = torch.zeros(2)
        >>> fill(np.ones, weight)
        >>> weight
        tensor([1., 1.])
    """
    shape = tuple(values.shape)
    if isinstance(initializer, Initializer) and type(initializer).__call__ is Initializer.__call__:
        in_place = values.dtype in (torch.float32, torch.float64)
        drawn = values if in_place else torch.empty(shape, dtype=torch.float32, device=values.device)
        drawn = initializer.draw(drawn, _generator(initializer, values.device))
        if not in_place:
            values.copy_(drawn)
        return
    given = _call_initializer(initializer, shape, values.dtype, values.device)
    name = getattr(initializer, "__name__", type(initializer).__name__)
    drawn = torch.as_tensor(as_numbers(given, f"Initializer {name}: the weight"))
    if drawn.shape != shape:
        raise ValueError(f"Initializer {name} was asked for the shape {shape} and gave {tuple(drawn.shape)}.")
    values.copy_(drawn)


def _call_initializer(initializer: Any, shape: tuple[int, ...], dtype: torch.dtype, device: Device) -> Any:
    try:
        parameters = inspect.signature(initializer).parameters
    except ValueError:  # a builtin, such as numpy's, without a signature
        return initializer(shape)
    given: dict[str, Any] = {}
    if isinstance(initializer, Initializer) and "device" in parameters:
        given = {"dtype": dtype, "device": device}
    elif "dtype" in parameters and parameters["dtype"].default is inspect.Parameter.empty:
        given = {"dtype": str(dtype).removeprefix("torch.")}
    return initializer(shape, **given)


@dataclass(frozen=True)
class Constant(Initializer):
    """A constant value.

    Options:
        value (number or array, default 0): the value, or an array of the weight's shape.

    Errors:
        ValueError: for an array of another shape.

    Example:
        >>> Constant(3.0)((2,))
        tensor([3., 3.])
    """

    value: Any = 0

    def __post_init__(self) -> None:
        as_numbers(self.value, "Constant: value")

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        value = torch.as_tensor(self.value, dtype=values.dtype)
        if value.dim() and value.shape != values.shape:
            raise ValueError(f"Constant: value is of shape {tuple(value.shape)}, the weight of {tuple(values.shape)}.")
        return values.copy_(value)

    def get_config(self) -> dict[str, Any]:
        """The value; an array as nested lists, which JSON has."""
        return {"value": self.value.tolist() if hasattr(self.value, "tolist") else self.value}


@dataclass(frozen=True)
class Zeros(Initializer):
    """0 everywhere.

    Example:
        >>> Zeros()((2,))
        tensor([0., 0.])
    """

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.zero_()


@dataclass(frozen=True)
class Ones(Initializer):
    """1 everywhere.

    Example:
        >>> Ones()((2,))
        tensor([1., 1.])
    """

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.fill_(1.0)


@dataclass(frozen=True)
class RandomNormal(Initializer):
    """mean + stddev * N(0, 1).

    Options:
        mean (number, default 0.0): the mean.
        stddev (number, default 0.05): the standard deviation.
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> RandomNormal(seed=1)((100, 100)).std().round(decimals=2)
        tensor(0.0500)
    """

    mean: float = 0.0
    stddev: float = 0.05
    seed: int | None = None

    rules = {"mean": FINITE, "stddev": AT_LEAST_0, "seed": SEED}

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.normal_(self.mean, self.stddev, generator=generator)


@dataclass(frozen=True)
class RandomUniform(Initializer):
    """U(minval, maxval).

    Options:
        minval (number, default -0.05): the lower bound.
        maxval (number, default 0.05): the upper bound.
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> RandomUniform(seed=1)((100, 100)).abs().max() <= 0.05
        tensor(True)
    """

    minval: float = -0.05
    maxval: float = 0.05
    seed: int | None = None

    rules = {"minval": FINITE, "maxval": FINITE, "seed": SEED}

    ordered = ("minval", "maxval")

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.uniform_(self.minval, self.maxval, generator=generator)


@dataclass(frozen=True)
class TruncatedNormal(Initializer):
    """mean + stddev * N(0, 1), drawn again beyond two deviations.

    The standard deviation of the result is 0.88 * stddev.

    Options:
        mean (number, default 0.0): the mean.
        stddev (number, default 0.05): the standard deviation before the cut.
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> TruncatedNormal(seed=1)((100, 100)).abs().max() <= 0.1
        tensor(True)
    """

    mean: float = 0.0
    stddev: float = 0.05
    seed: int | None = None

    rules = {"mean": FINITE, "stddev": AT_LEAST_0, "seed": SEED}

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        torch.nn.init.trunc_normal_(values, generator=generator)
        return values.mul_(self.stddev).add_(self.mean)


@dataclass(frozen=True)
class Orthogonal(Initializer):
    """gain * Q, its columns (or rows, if fewer) orthonormal once all axes but the last are joined.

    Options:
        gain (number, default 1.0): the length of the columns or rows.
        seed (integer or None, default None): gives the same numbers at each call.

    Errors:
        ValueError: for a shape of fewer than two axes.

    Example:
        >>> q = Orthogonal(seed=1)((3, 3))
        >>> torch.allclose(q @ q.T, torch.eye(3), atol=1e-6)
        True

    Source: Saxe et al., https://arxiv.org/abs/1312.6120
    """

    gain: float = 1.0
    seed: int | None = None

    rules = {"gain": FINITE, "seed": SEED}

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if values.dim() < 2:
            raise ValueError(f"Orthogonal needs a shape of two axes or more; found {tuple(values.shape)}.")
        matrix = torch.nn.init.orthogonal_(values.new_empty(values.shape).flatten(0, -2), self.gain, generator)
        return values.copy_(matrix.view(values.shape))


@dataclass(frozen=True)
class Identity(Initializer):
    """gain * I, repeated along the longer side of the matrix.

    Options:
        gain (number, default 1.0): the value on the diagonal.

    Errors:
        ValueError: unless the shape has two axes, one a multiple of the other.

    Example:
        >>> Identity()((2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    gain: float = 1.0

    rules = {"gain": FINITE}

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if values.dim() != 2 or max(values.shape) % min(values.shape):
            raise ValueError(f"Identity needs two axes, one a multiple of the other; found {tuple(values.shape)}.")
        rows, columns = values.shape
        side = min(rows, columns)
        return values.copy_(self.gain * torch.eye(side).repeat(rows // side, columns // side))


TRUNCATED_STDDEV = 0.87962566103423978  # of a standard normal without what lies beyond two deviations


@dataclass(frozen=True)
class VarianceScaling(Initializer):
    """Values of variance scale / n: truncated normal, or U(-limit, limit) with limit = sqrt(3 * scale / n).

    Options:
        scale (positive number, default 1.0): the variance times n.
        mode (text, default "fan_in"): n is the number of inputs ("fan_in"), of outputs ("fan_out") or their mean
            ("fan_avg").
        distribution (text, default "normal"): "normal" (truncated), "untruncated_normal" or "uniform".
        seed (integer or None, default None): gives the same numbers at each call.

    Errors:
        ValueError: for a scale that is not positive, or another mode or distribution.

    Example:
        >>> VarianceScaling(2.0, seed=1)((200, 100)).std().round(decimals=2)
        tensor(0.1000)
    """

    scale: float = 1.0
    mode: str = "fan_in"
    distribution: str = "normal"
    seed: int | None = None

    rules = {
        "scale": ABOVE_0,
        "mode": word("fan_in", "fan_out", "fan_avg"),
        "distribution": word("normal", "uniform", "untruncated_normal"),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        for option, rule in self.rules.items():
            value = getattr(self, option)
            if value is not getattr(VarianceScaling, option, self):  # the default
                object.__setattr__(self, option, read("VarianceScaling", option, rule, value))

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return self.draw_for(*self.fans(values.shape), values, generator)

    def fans(self, shape: Sequence[int]) -> tuple[float, float]:
        """The numbers of inputs and of outputs of a unit of a weight."""
        if 2 <= len(shape) <= 5:
            positions = math.prod(shape[:-2])
            return positions * shape[-2], positions * shape[-1]
        side = math.sqrt(math.prod(shape))
        return side, side

    def draw_for(self, fan_in: float, fan_out: float, values: Tensor, generator: torch.Generator | None) -> Tensor:
        """As `draw`, for these numbers of inputs and outputs."""
        units = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        stddev = math.sqrt(self.scale / max(1.0, units))
        if self.distribution == "uniform":
            limit = math.sqrt(3.0) * stddev
            return values.uniform_(-limit, limit, generator=generator)
        if self.distribution == "untruncated_normal":
            return values.normal_(0.0, stddev, generator=generator)
        torch.nn.init.trunc_normal_(values, generator=generator)
        return values.mul_(stddev / TRUNCATED_STDDEV)

    def with_fans(self, fan_in: float, fan_out: float) -> Initializer:
        """The same for a weight whose shape does not tell its numbers of inputs and outputs."""
        return _WithFans(self, fan_in, fan_out)


@dataclass(frozen=True)
class _WithFans(Initializer):
    scaling: VarianceScaling
    fan_in: float
    fan_out: float

    @property
    def seed(self) -> int | None:
        return self.scaling.seed

    def next_seed(self) -> int | None:
        return self.scaling.next_seed()

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return self.scaling.draw_for(self.fan_in, self.fan_out, values, generator)


@registry.factory
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(3 / fan_in).

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> lecun_uniform(seed=1)((3, 2)).abs().max() <= 1
        tensor(True)

    Source: LeCun 1998, http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf
    """
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@registry.factory
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 1 / fan_in.

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> lecun_normal(seed=1)((3, 2)).shape
        torch.Size([3, 2])

    Source: https://arxiv.org/abs/1706.02515
    """
    return VarianceScaling(1.0, "fan_in", "normal", seed)


@registry.factory
def glorot_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(6 / (fan_in + fan_out)).

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> glorot_uniform(seed=1)((3, 3)).abs().max() <= 1
        tensor(True)

    Source: http://proceedings.mlr.press/v9/glorot10a.html
    """
    return VarianceScaling(1.0, "fan_avg", "uniform", seed)


@registry.factory
def glorot_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / (fan_in + fan_out).

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> glorot_normal(seed=1)((3, 2)).shape
        torch.Size([3, 2])

    Source: http://proceedings.mlr.press/v9/glorot10a.html
    """
    return VarianceScaling(1.0, "fan_avg", "normal", seed)


@registry.factory
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(6 / fan_in).

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> he_uniform(seed=1)((6, 2)).abs().max() <= 1
        tensor(True)

    Source: https://arxiv.org/abs/1502.01852
    """
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


@registry.factory
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / fan_in.

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> he_normal(seed=1)((3, 2)).shape
        torch.Size([3, 2])

    Source: https://arxiv.org/abs/1502.01852
    """
    return VarianceScaling(2.0, "fan_in", "normal", seed)

"""Initializers of Keras 3: shape to first values. They are this package's, with Keras 3's options.

With an integer as seed, or without one, each call of an object gives the same numbers; with a SeedGenerator of
`keras.random` each call gives others. Without a seed an object draws one from torch's generator at its first call; the
weights of layers are all drawn anew from that generator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.signal import windows

from torchkeras import config, initializers
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.rules import FLAG_OR_DIGIT, integers, is_integer, one_of, optional, read, rule, word
from torchkeras.initializers import Initializer
from torchkeras.initializers.fourier import fourier_kernel
from torchkeras.keras3.families import Family
from torchkeras.keras3.random import SeedGenerator
from torchkeras.saving import keras3_entry
from torchkeras.tensor_functions.operations.values import is_variable, tensor_of

__all__ = [
    "STFT",
    "Constant",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Identity",
    "IdentityInitializer",
    "Initializer",
    "LecunNormal",
    "LecunUniform",
    "Ones",
    "Orthogonal",
    "OrthogonalInitializer",
    "RandomNormal",
    "RandomUniform",
    "STFTInitializer",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "deserialize",
    "get",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "serialize",
    "stft",
    "truncated_normal",
    "variance_scaling",
    "zeros",
]

SEED = rule(
    "must be an integer, a SeedGenerator or None", lambda v: v is None or is_integer(v) or callable(_next_of(v))
)
AXES = optional(integers("must be an integer or several"))


def _next_of(value: Any) -> Any:
    return getattr(value, "next", None)


# --- constants -------------------------------------------------------------------------------------------------------

Zeros, Ones = initializers.Zeros, initializers.Ones


@dataclass(frozen=True)
class Constant(initializers.Constant):
    """A constant value.

    Options:
        value (number or array, default 0.0): the value, or an array that is broadcast to the shape.

    Errors:
        ValueError: for an array that cannot be broadcast.

    Example:
        >>> Constant(3.0)((2,))
        tensor([3., 3.])

    Source: https://keras.io/api/layers/initializers/
    """

    value: Any = 0.0

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        value = tensor_of(self.value)
        try:
            return values.copy_(value)
        except RuntimeError as error:
            raise ValueError(
                f"Constant: value must be a number, or an array for the weight's shape {tuple(values.shape)}; found "
                f"the shape {tuple(value.shape)}."
            ) from error

    def get_config(self) -> dict[str, Any]:
        """The value; an array of NumPy or a tensor as an entry of its own."""
        if not isinstance(self.value, (np.ndarray, Tensor)):
            return {"value": self.value}
        values = self.value.detach().cpu().numpy() if isinstance(self.value, Tensor) else self.value
        kind = "__tensor__" if isinstance(self.value, Tensor) else "__numpy__"
        return {"value": {"class_name": kind, "config": {"value": values.tolist(), "dtype": str(values.dtype)}}}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The initializer whose `get_config` gave `config`."""
        found = config.get("value", 0.0)
        if not isinstance(found, Mapping):
            return cls(found)
        values = np.asarray(found["config"]["value"], found["config"]["dtype"])
        return cls(tensor_of(values) if found["class_name"] == "__tensor__" else values)


@dataclass(frozen=True)
class Identity(initializers.Identity):
    """gain on the main diagonal, 0 elsewhere.

    Options:
        gain (number, default 1.0): the value on the diagonal.

    Errors:
        ValueError: unless the shape has two axes.

    Example:
        >>> Identity()((2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])

    Source: https://keras.io/api/layers/initializers/
    """

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if values.dim() != 2:
            raise ValueError(f"Identity needs a shape of two axes; found {tuple(values.shape)}.")
        values.zero_().diagonal().fill_(self.gain)
        return values


# Windows by the names that SciPy has for them: functions of a length and of whether both ends are alike.
_COSINES: Mapping[str, tuple[float, ...]] = {
    "blackmanharris": (0.35875, 0.48829, 0.14128, 0.01168),
    "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
}
WINDOWS: Mapping[str, Any] = {
    "boxcar": lambda length, **options: torch.ones(length, dtype=options["dtype"]),
    **{
        name: getattr(windows, name)
        for name in ("bartlett", "blackman", "cosine", "hamming", "hann", "nuttall")
        if hasattr(windows, name)
    },
    **{
        name: lambda length, a=numbers, **options: windows.general_cosine(length, a=a, **options)
        for name, numbers in _COSINES.items()
    },
}


@dataclass(frozen=True)
class STFT(Initializer):
    """The real or imaginary part of a Fourier transform of windows, as the kernel of a convolution over time.

    The shape is (window length, 1, frequencies). With n = 2 * (frequencies - 1) the value at time t and frequency f is
    window[t] * cos(-2 pi t f / n), or the sine of it.

    Options:
        side (text, default "real"): "real" or "imag".
        window (text, array or None, default "hann"): the factors of the times, or a name: "bartlett", "blackman",
            "blackmanharris", "boxcar", "cosine", "flattop", "hamming", "hann", "nuttall". None is 1 everywhere.
        scaling (text or None, default "density"): what the window is divided by: the root of the sum of its squares
            ("density"), the sum of its sizes ("spectrum"), or nothing.
        periodic (bool, default False): whether a window by name is of one period, whose last value is left out.

    Errors:
        ValueError: an option has a bad value, or the window another length than the shape says.

    Example:
        >>> STFT("real", "hann", None)((4, 1, 3))[:, 0, 0]
        tensor([0.0000, 0.7500, 0.7500, 0.0000])

    Source: https://keras.io/api/layers/initializers/
    """

    side: str = "real"
    window: Any = "hann"
    scaling: str | None = "density"
    periodic: bool = False

    rules = {
        "side": one_of("real", "imag"),
        "scaling": one_of("density", "spectrum", None),
        "periodic": FLAG_OR_DIGIT,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.window, str):
            read("STFT", "window", one_of(*WINDOWS), self.window)

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if values.dim() != 3:
            raise ValueError(f"STFT needs the shape (window length, 1, frequencies); found {tuple(values.shape)}.")
        length, _, frequencies = values.shape
        return values.copy_(fourier_kernel(self.side, length, frequencies, self._factors(length), self.scaling))

    def _factors(self, length: int) -> Tensor | None:
        """The window; None for none."""
        if self.window is None:
            return None
        if isinstance(self.window, str):
            found = WINDOWS[self.window](length, sym=not self.periodic, dtype=torch.float64)
        else:
            found = tensor_of(self.window).detach().cpu().double()
        if found.shape != (length,):
            raise ValueError(f"STFT: window must have the shape ({length},); found {tuple(found.shape)}.")
        return found


# --- distributions ---------------------------------------------------------------------------------------------------


class Seeded(Initializer):
    """What initializers with a seed share."""

    seed: Any

    def __post_init__(self) -> None:
        if isinstance(self.seed, Mapping):  # of a config
            object.__setattr__(self, "seed", SeedGenerator.from_config(self.seed["config"]))
        super().__post_init__()

    def next_seed(self) -> int | None:
        """The seed of the next draw: of a generator the next one; None for torch's own generator."""
        if self.seed is None or is_integer(self.seed):
            return super().next_seed()
        seed = 0
        for number in np.asarray(torch.as_tensor(self.seed.next()).cpu()).reshape(-1).tolist():
            seed = (seed << 32) + (int(number) & 0xFFFFFFFF)
        return seed & (2**63 - 1)

    def _of_call(self, device: torch.device) -> torch.Generator | None:
        if self.seed is not None or device.type == "meta":
            return super()._of_call(device)
        known = vars(self)
        if "_drawn" not in known:
            object.__setattr__(self, "_drawn", int(torch.randint(2**62, (), device="cpu")))
        return torch.Generator(device).manual_seed(known["_drawn"])

    def get_config(self) -> dict[str, Any]:
        """The options by name; a SeedGenerator as an entry of its own."""
        made = super().get_config()
        if callable(_next_of(self.seed)):
            made["seed"] = keras3_entry.entry("keras.random", type(self.seed).__name__, self.seed.get_config())
        return made


@dataclass(frozen=True)
class RandomNormal(Seeded, initializers.RandomNormal):
    """mean + stddev * N(0, 1).

    Options:
        mean (number, default 0.0): the mean.
        stddev (number of at least 0, default 0.05): the standard deviation.
        seed (integer, SeedGenerator or None, default None): an integer and None give the same numbers at each call.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> RandomNormal(seed=1)((100, 100)).std().round(decimals=2)
        tensor(0.0500)

    Source: https://keras.io/api/layers/initializers/
    """

    rules = {**initializers.RandomNormal.rules, "seed": SEED}


@dataclass(frozen=True)
class RandomUniform(Seeded, initializers.RandomUniform):
    """U(minval, maxval).

    Options:
        minval (number, default -0.05): the lower bound.
        maxval (number, default 0.05): the upper bound.
        seed (integer, SeedGenerator or None, default None): an integer and None give the same numbers at each call.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> RandomUniform(seed=1)((100, 100)).abs().max() <= 0.05
        tensor(True)

    Source: https://keras.io/api/layers/initializers/
    """

    rules = {**initializers.RandomUniform.rules, "seed": SEED}


@dataclass(frozen=True)
class TruncatedNormal(Seeded, initializers.TruncatedNormal):
    """mean + stddev * N(0, 1), drawn again beyond two deviations.

    Options:
        mean (number, default 0.0): the mean.
        stddev (number of at least 0, default 0.05): the standard deviation before the cut.
        seed (integer, SeedGenerator or None, default None): an integer and None give the same numbers at each call.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> TruncatedNormal(seed=1)((100, 100)).abs().max() <= 0.1
        tensor(True)

    Source: https://keras.io/api/layers/initializers/
    """

    rules = {**initializers.TruncatedNormal.rules, "seed": SEED}


@dataclass(frozen=True)
class Orthogonal(Seeded, initializers.Orthogonal):
    """gain * Q, its columns (or rows, if fewer) orthonormal once all axes but the last are joined.

    Options:
        gain (number, default 1.0): the length of the columns or rows.
        seed (integer, SeedGenerator or None, default None): an integer and None give the same numbers at each call.

    Errors:
        ValueError: an option has a bad value, or a shape fewer than two axes.

    Example:
        >>> q = Orthogonal(seed=1)((3, 3))
        >>> torch.allclose(q @ q.T, torch.eye(3), atol=1e-6)
        True

    Source: https://keras.io/api/layers/initializers/
    """

    rules = {**initializers.Orthogonal.rules, "seed": SEED}


@dataclass(frozen=True)
class VarianceScaling(Seeded, initializers.VarianceScaling):
    """Values of variance scale / n.

    Options:
        scale (positive number, default 1.0): the variance times n.
        mode (text, default "fan_in"): n is the number of inputs ("fan_in"), of outputs ("fan_out") or their mean
            ("fan_avg").
        distribution (text, default "truncated_normal"): "truncated_normal" ("normal" is the same), "untruncated_normal"
            or "uniform".
        seed (integer, SeedGenerator or None, default None): an integer and None give the same numbers at each call.
        input_axes (integers or None, default None): the axes whose sizes make the number of inputs; None goes by the
            rank, the last axis but one and all before it.
        output_axes (integers or None, default None): those of the outputs. They count where both are given.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> VarianceScaling(2.0, seed=1)((200, 100)).std().round(decimals=2)
        tensor(0.1000)

    Source: https://keras.io/api/layers/initializers/
    """

    distribution: str = "truncated_normal"
    input_axes: Sequence[int] | None = None
    output_axes: Sequence[int] | None = None

    rules = {
        **initializers.VarianceScaling.rules,
        "distribution": word("truncated_normal", "untruncated_normal", "uniform", "normal"),
        "seed": SEED,
        "input_axes": AXES,
        "output_axes": AXES,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distribution == "normal":
            object.__setattr__(self, "distribution", "truncated_normal")

    def fans(self, shape: Sequence[int]) -> tuple[float, float]:
        if self.input_axes is not None and self.output_axes is not None:
            return math.prod(shape[axis] for axis in self.input_axes), math.prod(shape[a] for a in self.output_axes)
        if len(shape) < 2:
            side = math.prod(shape)
            return side, side
        positions = math.prod(shape[:-2])
        return positions * shape[-2], positions * shape[-1]


class Scaled(VarianceScaling):
    """A `VarianceScaling` of one scale, mode and distribution."""

    fixed: tuple[float, str, str]

    def __init__(self, seed: Any = None, input_axes: Any = None, output_axes: Any = None):
        super().__init__(*self.fixed, seed, input_axes, output_axes)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__doc__ = f"{cls.__doc__}\n{PAGE.format(name=cls.__name__)}"

    def get_config(self) -> dict[str, Any]:
        """The options that its constructor takes."""
        made = super().get_config()
        return {name: made[name] for name in ("seed", "input_axes", "output_axes")}


# The manual of all that follow, under the formula of each.
PAGE = """
    Options:
        seed (integer, SeedGenerator or None, default None): an integer and None give the same numbers at each call.
        input_axes (integers or None, default None): the axes whose sizes make the number of inputs; None goes by the
            rank, as `VarianceScaling` does.
        output_axes (integers or None, default None): those of the outputs. They count where both are given.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> {name}(seed=1)((3, 2)).shape
        torch.Size([3, 2])

    Source: https://keras.io/api/layers/initializers/
    """


class GlorotUniform(Scaled):
    """U(-limit, limit), limit = sqrt(6 / (inputs + outputs))."""

    fixed = (1.0, "fan_avg", "uniform")


class GlorotNormal(Scaled):
    """Truncated normal of variance 2 / (inputs + outputs)."""

    fixed = (1.0, "fan_avg", "truncated_normal")


class LecunNormal(Scaled):
    """Truncated normal of variance 1 / inputs."""

    fixed = (1.0, "fan_in", "truncated_normal")


class LecunUniform(Scaled):
    """U(-limit, limit), limit = sqrt(3 / inputs)."""

    fixed = (1.0, "fan_in", "uniform")


class HeNormal(Scaled):
    """Truncated normal of variance 2 / inputs."""

    fixed = (2.0, "fan_in", "truncated_normal")


class HeUniform(Scaled):
    """U(-limit, limit), limit = sqrt(6 / inputs)."""

    fixed = (2.0, "fan_in", "uniform")


# --- by name ---------------------------------------------------------------------------------------------------------

zeros, ones, constant, identity, stft = Zeros, Ones, Constant, Identity, STFT
random_normal, random_uniform, truncated_normal = RandomNormal, RandomUniform, TruncatedNormal
variance_scaling, orthogonal = VarianceScaling, Orthogonal
glorot_normal, glorot_uniform, he_normal, he_uniform = GlorotNormal, GlorotUniform, HeNormal, HeUniform
lecun_normal, lecun_uniform = LecunNormal, LecunUniform
IdentityInitializer, OrthogonalInitializer, STFTInitializer = Identity, Orthogonal, STFT

FAMILY = Family(
    "initializer",
    "keras.initializers",
    {
        **{
            name: value
            for name, value in list(vars().items())
            if isinstance(value, type) and issubclass(value, Initializer) and value not in (Seeded, Scaled)
        },
        "normal": RandomNormal,
        "one": Ones,
        "uniform": RandomUniform,
        "zero": Zeros,
    },
)


def get(identifier: Any) -> Any:
    """The initializer that a name, a class, a callable, a config or an array of values means; None for None.

    Arguments:
        identifier (name, class, callable, config, array, tensor or None): what names the initializer.

    Errors:
        ValueError: it names nothing.

    Example:
        >>> get("glorot_uniform")
        GlorotUniform(scale=1.0, mode='fan_avg', distribution='uniform', seed=None, input_axes=None, output_axes=None)

    Source: https://keras.io/api/layers/initializers/
    """
    if isinstance(identifier, (Tensor, np.ndarray, np.generic)) or is_variable(identifier):
        return _giving(tensor_of(identifier))
    return FAMILY.get(identifier)


def _giving(values: Tensor) -> Any:
    """A function that gives these values."""

    def initialize(shape: Sequence[int], dtype: Any = None) -> Tensor:
        if tuple(shape) != tuple(values.shape):
            raise ValueError(
                f"The initial values have the shape {tuple(values.shape)}; found the shape {tuple(shape)}."
            )
        return values.to(dtype_of(config.floatx() if dtype is None else dtype))

    return initialize


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The initializer that `serialize` wrote.

    Arguments:
        config (dict, name or None): what was written.
        custom_objects (dict or None, default None): further classes and functions, by name.

    Errors:
        ValueError: it has another form, or names nothing.

    Example:
        >>> deserialize({"class_name": "Constant", "config": {"value": 2.0}})
        Constant(value=2.0)

    Source: https://keras.io/api/layers/initializers/
    """
    return FAMILY.deserialize(config, custom_objects)


def serialize(initializer: Any) -> Any:
    """The form of an initializer in a config: `module`, `class_name`, `config` and `registered_name`.

    Arguments:
        initializer (Initializer or function): what is written.

    Errors:
        ValueError: it has neither a config nor a name.

    Example:
        >>> serialize(Zeros())["class_name"]
        'Zeros'

    Source: https://keras.io/api/layers/initializers/
    """
    return FAMILY.serialize(initializer)

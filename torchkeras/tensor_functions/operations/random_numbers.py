"""Operations of Keras 3 that draw random numbers: `keras.random.normal`, `keras.random.dropout`.

Without a seed they draw from torch's own generator. An integer begins a sequence of its own, so the same call gives the
same numbers; a `SeedGenerator` gives each call another integer. On the CPU most of them are the numbers that Keras 3 on
torch draws for that seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras import config
from torchkeras.base.dtypes import dtype_name, dtype_of
from torchkeras.base.naming import unique_name
from torchkeras.base.python import first
from torchkeras.base.rules import NUMBER, SHARE, integer, is_integer, optional, read
from torchkeras.base.torch_versions import in_eager_mode
from torchkeras.tensor_functions.operations.values import Function, Row, on_values, rows

Fill = Callable[[Tensor, "torch.Generator | None"], Tensor]
Seed = Any  # None, an integer or a `SeedGenerator`

_torch: Any = torch  # with what torch.distributions draws by, which takes no generator there
BITS = 2**32 - 1  # of the seeds that are told apart


# --- seeds -----------------------------------------------------------------------------------------------------------


def _signed(number: int) -> int:
    """The number that 32 bits have for it."""
    return ((number + 2**31) & BITS) - 2**31


class SeedGenerator:
    """A seed that is another one in each call: the given one and a count of the calls.

    Options:
        seed (integer or None, default None): where the sequence begins; None draws it from torch's generator.
        name (text or None, default None): a name; None makes one.

    Errors:
        ValueError: the seed is no integer.

    Example:
        >>> seeds = SeedGenerator(42)
        >>> seeds.next().tolist(), seeds.next().tolist()
        ([42, 0], [42, 1])

    Source: https://keras.io/api/random/seed_generator/
    """

    def __init__(self, seed: int | None = None, name: str | None = None):
        seed = read("SeedGenerator", "seed", optional(integer()), seed)
        self.name = unique_name("seed_generator") if name is None else name
        self._initial_seed = seed
        self._state = (_signed(_default_seed() if seed is None else seed), 0)

    @property
    def state(self) -> Tensor:
        """The seed and the count of the next call, as a tensor (2,) of int32; it can be set to two such numbers."""
        return torch.tensor(self._state, dtype=torch.int32, device="cpu")

    @state.setter
    def state(self, numbers: Iterable[Any]) -> None:
        seed, count = map(int, numbers)
        self._state = _signed(seed), _signed(count)

    def next(self, ordered: bool = True) -> Tensor:
        """The state, which then goes on.

        Arguments:
            ordered (bool, default True): count the call; False makes two other numbers of both.
        """
        before = self.state
        self._go_on(ordered)
        return before

    def _go_on(self, ordered: bool = True) -> tuple[int, int]:
        before = seed, count = self._state
        if ordered:
            self._state = seed, _signed(count + 1)
        else:
            self._state = _scrambled(seed), _scrambled(count)
        return before

    def get_config(self) -> dict[str, Any]:
        """The options by name."""
        return {"seed": self._initial_seed, "name": self.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> SeedGenerator:
        """The generator whose `get_config` gave `config`, from its beginning."""
        return cls(**config)


def _scrambled(number: int) -> int:
    return _signed((number + 1) * 5387) % 933199  # as Keras 3 has it


def _default_seed() -> int:
    return int(torch.randint(1, 10**9, (), device="cpu"))


def check_seed(seed: Seed) -> None:
    """Raise ValueError for what is no seed."""
    if not (seed is None or is_integer(seed) or isinstance(seed, SeedGenerator)):
        raise ValueError(f"seed must be an integer, a SeedGenerator or None; found {seed!r}.")


# --- drawing ---------------------------------------------------------------------------------------------------------


def _drawn(made: Tensor, fill: Fill, seed: Seed) -> Tensor:
    """A new tensor with numbers that `fill` writes into it; on `meta` the tensor itself."""
    check_seed(seed)
    if made.is_meta:
        return made
    return fill(made, None) if seed is None else _seeded_in_eager_mode(made, fill, seed)


def _seeded(made: Tensor, fill: Fill, seed: Seed) -> Tensor:
    """The same with a generator of the seed, which a graph of torch.compile cannot hold."""
    numbers = seed._go_on() if isinstance(seed, SeedGenerator) else (int(seed),)
    return fill(made, torch.Generator(made.device).manual_seed(sum(numbers) & BITS))


_seeded_in_eager_mode = in_eager_mode(_seeded)


def _new(shape: Any, kind: torch.dtype, like: Tensor | None) -> Tensor:
    """A tensor of a shape, on the device of `like`."""
    return torch.empty(_sizes(shape), dtype=kind, device=config.device() if like is None else like.device)


def _new_of(shape: Any, kind: torch.dtype, like: Tensor | None, *values: Any) -> tuple[Tensor, list[Tensor]]:
    """The same, on the device of the first tensor among the values, and these broadcast to it."""
    like = first((each for each in (like, *values) if isinstance(each, Tensor)), None)
    made = _new(shape, kind, like)
    tensors = [torch.as_tensor(each, dtype=kind, device=made.device) for each in values]
    return made, [each.broadcast_to(made.shape) for each in tensors]


def _sizes(shape: Any) -> tuple[int, ...]:
    sizes = (shape,) if is_integer(shape) else tuple(shape)
    if any(size is None for size in sizes):
        raise ValueError(
            f"shape must have whole numbers; found {sizes!r}. The sizes of a symbolic tensor are keras.ops.shape(x)."
        )
    return tuple(map(int, sizes))


def _floats(function: str, dtype: Any) -> torch.dtype:
    kind = dtype_of(config.floatx() if dtype is None else dtype)
    if not kind.is_floating_point:
        raise ValueError(f"{function}: dtype must be a type of floating-point numbers; found {dtype_name(kind)!r}.")
    return kind


def _in_floats(kind: torch.dtype) -> torch.dtype:
    """The type that torch has these distributions in."""
    return torch.float64 if kind is torch.float64 else torch.float32


def normal(
    shape: Any,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Any = None,
    seed: Seed = None,
    like: Tensor | None = None,
) -> Tensor:
    """`N(mean, stddev**2)`.

    Arguments:
        shape (integers): the sizes.
        mean (number, default 0.0): the mean.
        stddev (number of at least 0, default 1.0): the standard deviation.
        dtype (text or None, default None): a floating-point type; None is `floatx`.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same numbers.

    Returns:
        tensor: of that shape and type.

    Errors:
        ValueError: the type or the seed is of another kind, or a size is unknown.

    Example:
        >>> normal((2, 3), seed=1).shape
        torch.Size([2, 3])

    Source: https://keras.io/api/random/random_ops/
    """
    mean, stddev = (read("normal", name, NUMBER, each) for name, each in (("mean", mean), ("stddev", stddev)))
    return _drawn(
        _new(shape, _floats("normal", dtype), like), lambda made, own: made.normal_(mean, stddev, generator=own), seed
    )


def truncated_normal(
    shape: Any,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Any = None,
    seed: Seed = None,
    like: Tensor | None = None,
) -> Tensor:
    """`mean + stddev * N(0, 1)`, drawn again beyond two standard deviations.

    Arguments:
        shape (integers): the sizes.
        mean (number, default 0.0): the mean.
        stddev (number, default 1.0): the standard deviation before the cut.
        dtype (text or None, default None): a floating-point type; None is `floatx`.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same numbers.

    Returns:
        tensor: of that shape and type.

    Errors:
        ValueError: the type or the seed is of another kind, or a size is unknown.

    Example:
        >>> truncated_normal((1000,)).abs().max() <= 2
        tensor(True)

    Source: https://keras.io/api/random/random_ops/
    """
    kind = _floats("truncated_normal", dtype)
    mean, stddev = (read("truncated_normal", name, NUMBER, each) for name, each in (("mean", mean), ("stddev", stddev)))
    drawn = _drawn(_new(shape, _in_floats(kind), like), _fill_truncated, seed)
    return (drawn * stddev + mean).to(kind)


def _fill_truncated(made: Tensor, own: torch.Generator | None) -> Tensor:
    """N(0, 1) within two deviations by the inverse of its distribution: `nn.init.trunc_normal_` looks at values, which
    torch.compile cannot follow.
    """
    end = math.erf(math.sqrt(2))
    return made.uniform_(-end, end, generator=own).erfinv_().mul_(math.sqrt(2)).clamp_(-2, 2)


def uniform(
    shape: Any,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    dtype: Any = None,
    seed: Seed = None,
    like: Tensor | None = None,
) -> Tensor:
    """Numbers from `minval` to below `maxval`, all equally likely.

    Arguments:
        shape (integers): the sizes.
        minval (number or tensor, default 0.0): the lower bound.
        maxval (number or tensor, default 1.0): the upper bound.
        dtype (text or None, default None): a floating-point type; None is `floatx`.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same numbers.

    Returns:
        tensor: of that shape and type.

    Errors:
        ValueError: the type or the seed is of another kind, or a size is unknown.

    Example:
        >>> uniform((1000,), 2.0, 3.0).min() >= 2
        tensor(True)

    Source: https://keras.io/api/random/random_ops/
    """
    drawn = _drawn(_new(shape, _floats("uniform", dtype), like), lambda made, own: made.uniform_(generator=own), seed)
    return (maxval - minval) * drawn + minval


def randint(
    shape: Any,
    minval: int,
    maxval: int,
    dtype: Any = "int32",
    seed: Seed = None,
    like: Tensor | None = None,
) -> Tensor:
    """Whole numbers from `minval` to below `maxval`, all equally likely.

    Arguments:
        shape (integers): the sizes.
        minval (integer): the lower bound.
        maxval (integer): the upper bound, which is not drawn.
        dtype (text or None, default "int32"): a type of whole numbers; None is `floatx`.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same numbers.

    Returns:
        tensor: of that shape and type.

    Errors:
        ValueError: the type, a bound or the seed is of another kind, or a size is unknown.

    Example:
        >>> sorted(set(randint((100,), 0, 3).tolist()))
        [0, 1, 2]

    Source: https://keras.io/api/random/random_ops/
    """
    kind = dtype_of(config.floatx() if dtype is None else dtype)
    if dtype is not None and (kind.is_floating_point or kind.is_complex or kind is torch.bool):
        raise ValueError(f"randint: dtype must be a type of whole numbers; found {dtype_name(kind)!r}.")
    low, high = (int(read("randint", name, NUMBER, each)) for name, each in (("minval", minval), ("maxval", maxval)))
    if low >= high:
        raise ValueError(f"randint: minval must be below maxval; found {low} and {high}.")
    made = _new(shape, torch.int64, like)
    sizes, device = made.shape, made.device
    return _drawn(made, lambda made, own: torch.randint(low, high, sizes, generator=own, device=device), seed).to(kind)


def gamma(shape: Any, alpha: Any, dtype: Any = None, seed: Seed = None, like: Tensor | None = None) -> Tensor:
    """Numbers of the gamma distribution with the density `x**(alpha - 1) * exp(-x) / gamma(alpha)`.

    Arguments:
        shape (integers): the sizes.
        alpha (number or tensor above 0): the concentration, broadcast to the shape.
        dtype (text or None, default None): a floating-point type; None is `floatx`.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same numbers.

    Returns:
        tensor: of that shape and type.

    Errors:
        ValueError: the type or the seed is of another kind, or a size is unknown.

    Example:
        >>> gamma((1000,), 2.0).min() > 0
        tensor(True)

    Source: https://keras.io/api/random/random_ops/
    """
    kind = _floats("gamma", dtype)
    made, (concentration,) = _new_of(shape, _in_floats(kind), like, alpha)
    return _drawn(made, lambda made, own: _torch._standard_gamma(concentration, generator=own), seed).to(kind)


def beta(shape: Any, alpha: Any, beta: Any, dtype: Any = None, seed: Seed = None, like: Tensor | None = None) -> Tensor:
    """Numbers of the beta distribution, whose density is in proportion to `x**(alpha - 1) * (1 - x)**(beta - 1)`.

    Arguments:
        shape (integers): the sizes.
        alpha (number or tensor above 0): the first concentration, broadcast to the shape.
        beta (number or tensor above 0): the second concentration, broadcast to the shape.
        dtype (text or None, default None): a floating-point type; None is `floatx`.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same numbers.

    Returns:
        tensor: of that shape and type.

    Errors:
        ValueError: the type or the seed is of another kind, or a size is unknown.

    Example:
        >>> beta((1000,), 2.0, 3.0).max() < 1
        tensor(True)

    Source: https://keras.io/api/random/random_ops/
    """
    kind = _floats("beta", dtype)
    made, concentrations = _new_of(shape, _in_floats(kind), like, alpha, beta)
    both = torch.stack(concentrations, -1)
    return _drawn(made, lambda made, own: _torch._sample_dirichlet(both, generator=own)[..., 0], seed).to(kind)


def binomial(
    shape: Any,
    counts: Any,
    probabilities: Any,
    dtype: Any = None,
    seed: Seed = None,
    like: Tensor | None = None,
) -> Tensor:
    """How many of `counts` trials succeed, each with one probability.

    Arguments:
        shape (integers): the sizes.
        counts (number or tensor): the number of trials, broadcast to the shape.
        probabilities (number or tensor from 0 to 1): the probability of success, broadcast to the shape.
        dtype (text or None, default None): the type of the result; None is `floatx`.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same numbers.

    Returns:
        tensor: of that shape and type.

    Errors:
        ValueError: the seed is of another kind, or a size is unknown.

    Example:
        >>> binomial((3,), 5, 1.0)
        tensor([5., 5., 5.])

    Source: https://keras.io/api/random/random_ops/
    """
    kind = dtype_of(config.floatx() if dtype is None else dtype)
    made, (trials, shares) = _new_of(shape, torch.float32, like, counts, probabilities)
    return _drawn(made, lambda made, own: torch.binomial(trials, shares, generator=own), seed).to(kind)


def categorical(logits: Tensor, num_samples: int, dtype: Any = "int32", seed: Seed = None) -> Tensor:
    """Class numbers, drawn for each row by the probabilities `softmax(logits)`.

    Arguments:
        logits (tensor (batch, classes)): logarithms of the probabilities, up to a constant for each row.
        num_samples (integer): how many to draw for each row.
        dtype (text, default "int32"): the type of the result.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same numbers.

    Returns:
        tensor: (batch, num_samples).

    Errors:
        ValueError: `logits` has not two axes, or the seed is of another kind.

    Example:
        >>> categorical(torch.tensor([[0.0, -100.0], [-100.0, 0.0]]), 2)
        tensor([[0, 0],
                [1, 1]], dtype=torch.int32)

    Source: https://keras.io/api/random/random_ops/
    """
    if logits.dim() != 2:
        raise ValueError(f"categorical: logits must have the axes (batch, classes); found shape {tuple(logits.shape)}.")
    shares = torch.softmax(logits.to(dtype_of(config.floatx())) if not logits.is_floating_point() else logits, -1)
    made = _new((len(logits), num_samples), torch.int64, logits)
    drawn = _drawn(made, lambda made, own: torch.multinomial(shares, num_samples, True, generator=own), seed)
    return drawn.to(dtype_of(dtype))


def dropout(inputs: Tensor, rate: float, noise_shape: Any = None, seed: Seed = None) -> Tensor:
    """`inputs` with a share `rate` of its numbers set to 0, and the others divided by `1 - rate`, in every mode.

    Arguments:
        inputs (tensor): the numbers.
        rate (number from 0 to 1): the share to drop.
        noise_shape (integers or None, default None): the shape of the choice, 1 where an axis shares it and None where
            it has the size of `inputs`; None is the shape of `inputs`.
        seed (integer, SeedGenerator or None, default None): the same integer drops the same numbers.

    Returns:
        tensor: of the shape and type of `inputs`.

    Errors:
        ValueError: the rate or the seed is of another kind.

    Example:
        >>> dropout(torch.ones(2), 1.0)
        tensor([0., 0.])

    Source: https://keras.io/api/random/random_ops/
    """
    rate = read("dropout", "rate", SHARE, rate)
    check_seed(seed)
    if rate in (0, 1):
        return inputs if rate == 0 else torch.zeros_like(inputs)
    if seed is None and noise_shape is None:
        return nn.functional.dropout(inputs, rate, training=True)
    given = (None,) * inputs.dim() if noise_shape is None else tuple(noise_shape)
    sizes = [inputs.shape[axis] if size is None else int(size) for axis, size in enumerate(given)]
    shares = torch.full(sizes, 1 - rate, device=inputs.device)
    kept = _drawn(shares, lambda made, own: torch.bernoulli(made, generator=own), seed)
    return torch.where(kept.bool(), inputs / (1 - rate), torch.zeros_like(inputs))


def shuffle(x: Tensor, axis: int = 0, seed: Seed = None) -> Tensor:
    """`x` with what it has along an axis in another order, each equally likely.

    The axes behind it share the order. Each place along the axes in front of it has one of its own, as in Keras 3 on
    torch.

    Arguments:
        x (tensor): what is shuffled.
        axis (integer, default 0): the axis.
        seed (integer, SeedGenerator or None, default None): the same integer gives the same order.

    Returns:
        tensor: of the shape and type of `x`.

    Errors:
        ValueError: the axis or the seed is of another kind.

    Example:
        >>> sorted(shuffle(torch.tensor([3, 1, 2])).tolist())
        [1, 2, 3]

    Source: https://keras.io/api/random/random_ops/
    """
    axis = read("shuffle", "axis", integer(-x.dim(), x.dim() - 1), axis) % x.dim()
    made = _new(x.shape[: axis + 1], torch.float32, x)
    order = _drawn(made, lambda made, own: made.uniform_(generator=own), seed).argsort(axis)
    return x.gather(axis, order.reshape(*order.shape, *[1] * (x.dim() - axis - 1)).expand(x.shape))


OPERATIONS: Mapping[str, Row] = rows(
    functions={
        f"random.{function.__name__}": function
        for function in (
            *(beta, binomial, categorical, dropout, gamma, normal, randint, shuffle, truncated_normal, uniform),
        )
    }
)
BY_NAME: Mapping[str, Function] = {f"ops.{name}": on_values(row) for name, row in OPERATIONS.items()}

"""Operations of Keras 3 that make tensors: `keras.ops.zeros`, `keras.ops.linspace`.

A new tensor lies on `config.device()`, or with the tensors that it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.signal import windows

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.python import first
from torchkeras.tensor_functions.operations.values import cast, converted, in_32_bits, rows, tensor_of

Shape = int | Sequence[int]

NUMBERS = (bool, int, float)


def type_of_result(*values: Any) -> torch.dtype:
    """The type that Keras 3 computes values in together: at most 32 bits wide.

    Numbers give way to tensors and arrays: only a floating-point number among whole ones makes a difference.
    """
    numbers = [type(value) for value in values if type(value) in NUMBERS]
    types = [tensor_of(value).dtype for value in values if type(value) not in NUMBERS]
    if not types:
        return dtype_of(config.floatx()) if float in numbers else torch.int32
    kind = types[0]
    for each in types[1:]:
        kind = torch.promote_types(kind, each)
    if float in numbers and not (kind.is_floating_point or kind.is_complex):
        return dtype_of(config.floatx())
    return in_32_bits(kind)


def _type(dtype: Any) -> torch.dtype:
    return dtype_of(config.floatx() if dtype is None else dtype)


def _shape(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


# --- of one value ----------------------------------------------------------------------------------------------------


def array(x: Any, dtype: Any = None) -> Tensor:
    """Numbers, lists and arrays as a tensor of a type; of that which they have by default."""
    if dtype is None or hasattr(x, "dtype"):
        return cast(tensor_of(x), dtype)
    return torch.as_tensor(x, dtype=dtype_of(dtype), device=config.device())


def empty(shape: Shape, dtype: Any = None) -> Tensor:
    """A tensor whose values are whatever its memory had."""
    return torch.empty(_shape(shape), dtype=_type(dtype), device=config.device())


def zeros(shape: Shape, dtype: Any = None) -> Tensor:
    """A tensor of zeros."""
    return torch.zeros(_shape(shape), dtype=_type(dtype), device=config.device())


def ones(shape: Shape, dtype: Any = None) -> Tensor:
    """A tensor of ones."""
    return torch.ones(_shape(shape), dtype=_type(dtype), device=config.device())


def full(shape: Shape, fill_value: Any, dtype: Any = None) -> Tensor:
    """A tensor of one value, or of values that are repeated along the axes in front of them."""
    return array(fill_value, _type(dtype)).expand(_shape(shape)).clone()


# --- matrices --------------------------------------------------------------------------------------------------------


def eye(N: Any, M: Any = None, k: int | None = 0, dtype: Any = None) -> Tensor:
    """A matrix of N rows and M columns with ones on its k-th diagonal, and zeros elsewhere."""
    for name, value in (("N", N), ("M", M)):
        if isinstance(value, float) or (isinstance(value, Tensor) and value.is_floating_point()):
            raise TypeError(f"{name} must be a whole number; found {value!r}.")
    matrix = zeros((int(N), int(N if M is None else M)), dtype)
    torch.diagonal(matrix, k or 0).fill_(1)
    return matrix


def identity(n: int, dtype: Any = None) -> Tensor:
    """A square matrix with ones on its main diagonal, and zeros elsewhere."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """A matrix of N rows and M columns with ones on its k-th diagonal and below it, and zeros above."""
    return torch.tril(ones((N, N if M is None else M), dtype), k)


def diag(x: Tensor, k: int = 0) -> Tensor:
    """The matrix that has a vector on its k-th diagonal; of a matrix, that diagonal."""
    return torch.diag(x, k)


def diagflat(x: Tensor, k: int = 0) -> Tensor:
    """The matrix that has all values of a tensor, in order, on its k-th diagonal."""
    return torch.diagflat(x, k)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The matrix whose N columns are the powers of a vector, down to the 0-th; or in `increasing` order, up from it."""
    if x.dim() != 1:
        raise ValueError(f"vander takes a vector; found a tensor of shape {tuple(x.shape)}.")
    return torch.vander(x, N, increasing).to(type_of_result(x))


def meshgrid(*x: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid: of each vector a tensor with as many axes as there are vectors, repeated along others.

    With "ij" the axes are in the order of the vectors; with "xy" that of the second comes first.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij'; found {indexing!r}.")
    vectors: Sequence[Tensor] = converted({"x": x}, {"x": "Tensors"})["x"]
    axes = list(range(len(vectors)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    shape = [1] * len(vectors)
    shaped = [v.reshape(*shape[:axis], -1, *shape[axis + 1 :]) for v, axis in zip(vectors, axes, strict=True)]
    return tuple(torch.broadcast_tensors(*shaped))


# --- sequences of numbers --------------------------------------------------------------------------------------------


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """The numbers from `start` up to `stop`, which is not among them, with a `step` from one to the next.

    With one number, those from 0 up to it.
    """
    given = [value for value in (start, stop, step) if value is not None]
    kind = type_of_result(*given) if dtype is None else dtype_of(dtype)
    first, end = (0, start) if stop is None else (start, stop)
    return torch.arange(first, end, 1 if step is None else step, dtype=kind, device=config.device())


Curve = Callable[[Tensor, Tensor, Tensor], Tensor]  # of two ends, and of parts of the way from 0 to 1


def _spaced(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int, curve: Curve) -> Tensor:
    """Samples of a curve between two ends, computed in 64 bits, as a new axis."""
    kind = type_of_result(start, stop, 0.0) if dtype is None else dtype_of(dtype)
    device = first((each.device for each in (start, stop) if isinstance(each, Tensor)), config.device())
    ends = (torch.as_tensor(_exact(each), dtype=torch.float64, device=device) for each in (start, stop))
    low, high = torch.broadcast_tensors(*ends)
    parts = torch.arange(num, dtype=torch.float64, device=device) / max(num - int(endpoint), 1)
    samples = curve(low.unsqueeze(0), high.unsqueeze(0), parts.reshape(-1, *[1] * low.dim()))
    if not kind.is_floating_point:
        samples = samples.round(decimals=9)  # 9.999999999999998 is 10
    return samples.to(kind).movedim(0, axis)


def _exact(value: Any) -> Any:
    """Numbers and lists as they are, as a tensor of them would be one of 32 bits."""
    return value if isinstance(value, (*NUMBERS, list, tuple)) else tensor_of(value)


def _line(start: Tensor, stop: Tensor, part: Tensor) -> Tensor:
    return start * (1 - part) + stop * part


def _ratio(start: Tensor, stop: Tensor, part: Tensor) -> Tensor:
    return start * (stop / start) ** part


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """So many numbers from `start` to `stop` with the same distance between each two.

    `endpoint`: whether `stop` is the last of them, or the one after it. `retstep`: whether to return the distance too.
    """
    samples = _spaced(start, stop, num, endpoint, dtype, axis, _line)
    if not retstep:
        return samples
    start, stop = (each if type(each) in NUMBERS else tensor_of(each) for each in (start, stop))
    count = num - int(endpoint)
    return samples, (stop - start) / count if count > 0 else torch.tensor(torch.nan, device=samples.device)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """The powers of `base` whose exponents are `linspace(start, stop, num, endpoint)`."""
    return _spaced(start, stop, num, endpoint, dtype, axis, lambda *ends: base ** _line(*ends))


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """So many numbers from `start` to `stop` with the same ratio between each two.

    `endpoint`: whether `stop` is the last of them, or the one after it.
    """
    return _spaced(start, stop, num, endpoint, dtype, axis, _ratio)


# --- windows ---------------------------------------------------------------------------------------------------------


def _window(function: Callable[..., Tensor], length: Any, *options: Any) -> Tensor:
    window = function(int(length), *options, dtype=torch.float32, device=config.device())
    return window.to(dtype_of(config.floatx()))


def bartlett(x: Any) -> Tensor:
    """Bartlett's window of a length: a triangle from 0 up to 1 and back to 0."""
    return _window(windows.bartlett, x)


def blackman(x: Any) -> Tensor:
    """Blackman's window of a length: `0.42 - 0.5 cos(t) + 0.08 cos(2t)` for t from 0 to 2 pi."""
    return _window(windows.blackman, x)


def hamming(x: Any) -> Tensor:
    """Hamming's window of a length: `0.54 - 0.46 cos(t)` for t from 0 to 2 pi."""
    return _window(windows.hamming, x)


def hanning(x: Any) -> Tensor:
    """Hann's window of a length: `0.5 - 0.5 cos(t)` for t from 0 to 2 pi."""
    return _window(windows.hann, x)


def kaiser(x: Any, beta: float) -> Tensor:
    """Kaiser's window of a length: `i0(beta sqrt(1 - t^2)) / i0(beta)` for t from -1 to 1."""
    return _window(lambda length, **options: windows.kaiser(length, beta=float(beta), **options), x)


OPERATIONS = rows(
    functions={
        each.__name__: each
        for each in (
            *(arange, array, bartlett, blackman, diag, diagflat, empty, eye, full, geomspace, hamming, hanning),
            *(identity, kaiser, linspace, logspace, meshgrid, ones, tri, vander, zeros),
        )
    },
)

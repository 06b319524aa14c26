"""Operations of Keras 3 on signals, and on rows by segments: `keras.ops.stft`, `keras.ops.segment_sum`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras.tensor_functions.operations.values import Function, Tensors, rows, tensor_of

# --- Fourier transforms ----------------------------------------------------------------------------------------------


def _complex(x: Sequence[Tensor]) -> Tensor:
    """A complex tensor from a pair of its real and its imaginary part."""
    if not isinstance(x, (list, tuple)) or len(x) != 2:
        raise ValueError("x must be a pair of tensors, the real and the imaginary part.")
    real, imaginary = x
    if real.shape != imaginary.shape or not (real.is_floating_point() and imaginary.is_floating_point()):
        found = " and ".join(f"{each.dtype} of {tuple(each.shape)}" for each in x)
        raise ValueError(f"the real and the imaginary part must be floating-point tensors of one shape; found {found}.")
    return torch.complex(real, imaginary)


def _parts(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.real, x.imag


def _of_parts(transform: Callable[[Tensor], Tensor], deed: str) -> Function:
    def compute(x: Tensors) -> tuple[Tensor, Tensor]:
        return _parts(transform(_complex(x)))

    compute.__doc__ = f"{deed}. `x` and the result are pairs: the real and the imaginary part."
    return compute


def rfft(x: Tensor, fft_length: int | None = None) -> tuple[Tensor, Tensor]:
    """The Fourier transform of real numbers along the last axis: the real and the imaginary part of its first half.

    `fft_length`: to which length `x` is cut, or continued with zeros.
    """
    return _parts(torch.fft.rfft(x, fft_length))


def irfft(x: Tensors, fft_length: int | None = None) -> Tensor:
    """The real numbers whose `rfft` is `x`, a pair of the real and the imaginary part.

    `fft_length`: how many there are; by default `2 * (n - 1)` for `n` of `x`.
    """
    return torch.fft.irfft(_complex(x), fft_length)


# --- short-time Fourier transforms -----------------------------------------------------------------------------------

WINDOWS = {"hann": torch.hann_window, "hamming": torch.hamming_window}


def extract_sequences(x: Tensor, sequence_length: int, sequence_stride: int) -> Tensor:
    """The windows of a length along the last axis, one after every `sequence_stride` steps."""
    return x.unfold(-1, sequence_length, sequence_stride).clone()


def stft(
    x: Tensor,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: Any = "hann",
    center: bool = True,
) -> tuple[Tensor, Tensor]:
    """The Fourier transforms of windows along the last axis, in rows: the real and the imaginary part.

    `window`: "hann", "hamming", the factors of a window themselves, or None. `center`: whether window t has step
    `t * sequence_stride` in its middle, for which `x` is continued by reflection, not as its first step.
    """
    if x.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"stft takes float32 or float64; found {x.dtype}.")
    _check_stride(sequence_stride)
    if fft_length < sequence_length:
        raise ValueError(f"fft_length, {fft_length}, must not be less than sequence_length, {sequence_length}.")
    factors = _window(window, sequence_length, x)
    if factors is None:
        factors = x.new_ones(sequence_length)
    found = torch.stft(
        x.reshape(-1, x.shape[-1]),
        fft_length,
        sequence_stride,
        sequence_length,
        factors,
        center,
        return_complex=True,
    )
    return _parts(found.transpose(-2, -1).unflatten(0, x.shape[:-1]) if x.dim() > 1 else found[0].T)


def istft(
    x: Tensors,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: Any = "hann",
    center: bool = True,
) -> Tensor:
    """The signal whose `stft` with the same options is `x`, a pair of the real and the imaginary part.

    `length`: how many steps it shall have.
    """
    _check_stride(sequence_stride)
    spectra = _complex(x)
    factors = _window(window, sequence_length, x[0])
    batch = spectra.shape[:-2]
    frames = torch.fft.irfft(spectra.reshape(-1, *spectra.shape[-2:]), fft_length)
    if factors is None:
        steps = _overlapped(frames, sequence_stride)
    elif center and sequence_length == fft_length:
        squares = factors.square().expand(1, *frames.shape[1:])
        steps = _overlapped(frames * factors, sequence_stride) / _overlapped(squares, sequence_stride)
    else:
        steps = _overlapped(frames * _inverse(factors, sequence_stride, fft_length), sequence_stride)
    return _cut(steps, fft_length // 2 if center else 0, length).reshape(*batch, -1)


def _check_stride(stride: int) -> None:
    if not isinstance(stride, int) or stride <= 0:
        raise ValueError(f"sequence_stride must be a positive integer; found {stride!r}.")


def _window(window: Any, length: int, like: Tensor) -> Tensor | None:
    """The factors of a window in the type of `like`; None for none."""
    if window is None:
        return None
    if isinstance(window, str):
        if window not in WINDOWS:
            raise ValueError(f"window must be one of {tuple(WINDOWS)}, a tensor or None; found {window!r}.")
        return WINDOWS[window](length, dtype=like.dtype, device=like.device)
    found = tensor_of(window, like.device).to(like.dtype)
    if found.shape != (length,):
        raise ValueError(f"window must have the shape ({length},); found {tuple(found.shape)}.")
    return found


def _inverse(window: Tensor, stride: int, length: int) -> Tensor:
    """The factors for frames of a length that undo a window in their middle, where the frames around overlap them."""
    before = (length - len(window)) // 2
    window = F.pad(window, (before, length - len(window) - before))
    overlaps = -(-length // stride)
    squares = F.pad(window.square(), (0, overlaps * stride - length)).reshape(overlaps, stride)
    return window / squares.sum(0).repeat(overlaps)[:length]


def _overlapped(frames: Tensor, stride: int) -> Tensor:
    """The sum of frames (batch, frames, steps), each `stride` steps after the one before it."""
    _, count, length = frames.shape
    if stride > length:
        raise ValueError(f"sequence_stride, {stride}, must not be more than fft_length, {length}.")
    total = stride * (count - 1) + length
    return F.fold(frames.transpose(1, 2), (1, total), (1, length), stride=(1, stride))[:, 0, 0]


def _cut(steps: Tensor, around: int, length: int | None) -> Tensor:
    """Steps without those around them; `length` of them if one is given, with zeros where there are fewer."""
    if length is None:
        return steps[:, around : steps.shape[1] - around]
    found = steps[:, around : around + length]
    return F.pad(found, (0, length - found.shape[1]))


# --- segments --------------------------------------------------------------------------------------------------------


def _least(kind: torch.dtype) -> float | int:
    return -float("inf") if kind.is_floating_point else torch.iinfo(kind).min


def _most(kind: torch.dtype) -> float | int:
    return float("inf") if kind.is_floating_point else torch.iinfo(kind).max


def _by_segments(reduction: str, of_none: Callable[[torch.dtype], float | int], what: str) -> Function:
    """A reduction over segments. `of_none`: the value of a segment without rows, for a type."""

    def reduce(data: Tensor, segment_ids: Tensor, num_segments: int | None = None, sorted: bool = False) -> Tensor:
        if segment_ids.dim() != 1 or len(segment_ids) != len(data):
            found = f"{tuple(segment_ids.shape)} for data of {tuple(data.shape)}"
            raise ValueError(f"segment_ids must have one number for each row of data; found the shape {found}.")
        count = int(segment_ids.max()) + 1 if num_segments is None else num_segments
        ids = segment_ids.long()
        ids = torch.where((ids < 0) | (ids >= count), count, ids)  # a segment more, for rows that are in none
        values = data.to(torch.int32) if data.dtype is torch.bool else data
        start = values.new_full((count + 1, *data.shape[1:]), of_none(values.dtype))
        places = ids.reshape(-1, *[1] * (data.dim() - 1)).expand(data.shape)
        return start.scatter_reduce(0, places, values, reduction)[:count].to(data.dtype)

    reduce.__doc__ = (
        f"The {what} of the rows of `data` that have the same number in `segment_ids`. Rows with a number below 0, or "
        "of `num_segments` or more, are left out; `num_segments` is the highest number and 1 unless given."
    )
    return reduce


OPERATIONS = rows(
    functions={
        "extract_sequences": extract_sequences,
        "fft": _of_parts(torch.fft.fft, "The Fourier transform along the last axis"),
        "fft2": _of_parts(torch.fft.fft2, "The Fourier transform over the last two axes"),
        "ifft2": _of_parts(torch.fft.ifft2, "The inverse of the Fourier transform over the last two axes"),
        "irfft": irfft,
        "istft": istft,
        "rfft": rfft,
        "segment_max": _by_segments("amax", _least, "largest value"),
        "segment_min": _by_segments("amin", _most, "smallest value"),
        "segment_prod": _by_segments("prod", lambda kind: 1, "product"),
        "segment_sum": _by_segments("sum", lambda kind: 0, "sum"),
        "stft": stft,
    },
)

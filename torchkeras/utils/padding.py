"""Sequences of different lengths as one array."""

from __future__ import annotations

from typing import Any

import numpy as np

ENDS = ("pre", "post")


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """Pad or cut sequences to one length, and return them as one array.

    Arguments:
        sequences (list): the sequences; their items are numbers, texts, or arrays of one shape.
        maxlen (integer or None, default None): the length in the array; None is that of the longest.
        dtype (type, default "int32"): the type of the array; `object` for texts of different lengths.
        padding (text, default "pre"): where a shorter sequence is filled up: "pre" or "post".
        truncating (text, default "pre"): where a longer one is cut: "pre" or "post".
        value (number or text, default 0): what is filled in.

    Shapes:
        (samples, any, ...) -> (samples, maxlen, ...)

    Errors:
        ValueError: an option has a bad value, or an item is of an unsupported kind.

    Example:
        >>> pad_sequences([[3, 1], [4, 1, 5]], padding="post")
        array([[3, 1, 0],
               [4, 1, 5]], dtype=int32)

    Source: https://keras.io/api/data_loading/timeseries/
    """
    _check_sequences(sequences)
    _check_options(padding, truncating, value, dtype)
    lengths = [len(each) for each in sequences]
    longest = max(lengths, default=0) if maxlen is None else maxlen
    item_shape = next((np.asarray(each).shape[1:] for each in sequences if len(each)), ())
    result = np.full((len(sequences), longest, *item_shape), value, dtype)
    for row, (each, length) in enumerate(zip(sequences, lengths, strict=True)):
        kept = min(length, longest)
        if not kept:
            continue
        items = np.asarray(each[:kept] if truncating == "post" else each[length - kept :], dtype)
        if items.shape[1:] != item_shape:
            raise ValueError(
                f"Shape of sample {items.shape[1:]} of sequence at position {row} is different from expected shape "
                f"{item_shape}"
            )
        result[row, slice(kept) if padding == "post" else slice(longest - kept, None)] = items
    return result


def _check_sequences(sequences: Any) -> None:
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {each}")


def _check_options(padding: str, truncating: str, value: Any, dtype: Any) -> None:
    for option, end in (("padding", padding), ("truncating", truncating)):
        if end not in ENDS:
            raise ValueError(f'pad_sequences: {option} must be "pre" or "post"; found {end!r}.')
    if isinstance(value, str) and np.dtype(dtype).kind not in "OU":
        raise ValueError(f"pad_sequences: the text {value!r} does not fit into dtype {dtype}; give dtype=object.")

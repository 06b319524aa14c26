"""`keras.preprocessing.sequence`: lists of numbers made equally long, pairs of words, windows of a series."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchkeras.keras2.preprocessing.frozen import sequence
from torchkeras.utils import Sequence

make_sampling_table = sequence.make_sampling_table
skipgrams = sequence.skipgrams
_remove_long_seq = sequence._remove_long_seq

ENDS = ("pre", "post")


# Ours, since that of keras-preprocessing needs a name that NumPy 2 has dropped.
def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """Sequences of different lengths as one array.

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
        ValueError: an option or an item is of another kind.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {each}")
    for option, end in (("padding", padding), ("truncating", truncating)):
        if end not in ENDS:
            raise ValueError(f'pad_sequences: {option} must be "pre" or "post"; found {end!r}.')
    if isinstance(value, str) and np.dtype(dtype).kind not in "OU":
        raise ValueError(f"pad_sequences: the text {value!r} does not fit into dtype {dtype}; give dtype=object.")
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


class TimeseriesGenerator(sequence.TimeseriesGenerator, Sequence):
    """Batches of windows of a series; the options are those of keras-preprocessing."""

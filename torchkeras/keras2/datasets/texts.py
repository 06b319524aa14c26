"""What `imdb` and `reuters` share: texts as lists of word numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def shuffled(*columns: Any) -> list[np.ndarray]:
    """Columns in one random order, from NumPy's global state, which scripts seed."""
    order = np.arange(len(columns[0]))
    np.random.shuffle(order)  # noqa: NPY002 - as said
    return [np.asarray(column)[order] for column in columns]


def chosen(
    texts: Any,
    labels: Any,
    num_words: int | None,
    skip_top: int,
    maxlen: int | None,
    start_char: int | None,
    oov_char: int | None,
    index_from: int,
) -> tuple[list[list[int]], list[Any]]:
    """Texts and labels by the options of `load_data`: word numbers moved, long texts left out, rare words replaced.

    Errors:
        ValueError: `maxlen` leaves no text.
    """
    begin = [] if start_char is None else [start_char]
    moved = [[*begin, *(word + index_from for word in text)] for text in texts]
    rows = list(zip(moved, labels, strict=True))
    if maxlen:
        rows = [(text, label) for text, label in rows if len(text) < maxlen]
        if not rows:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. Increase maxlen."
            )
    most = num_words or max(max(text) for text, _ in rows)
    return [_without_rare(text, skip_top, most, oov_char) for text, _ in rows], [label for _, label in rows]


def _without_rare(text: list[int], first: int, end: int, oov_char: int | None) -> list[int]:
    """A text with `oov_char` in the place of each word outside of `range(first, end)`; for None without these words."""
    if oov_char is None:
        return [word for word in text if first <= word < end]
    return [word if first <= word < end else oov_char for word in text]


def as_arrays(texts: list[list[int]], labels: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) lists as objects, and the labels."""
    lists = np.empty(len(texts), object)
    lists[:] = texts
    return lists, np.array(labels)

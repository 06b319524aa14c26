"""`keras.datasets.imdb`."""

from __future__ import annotations

from typing import Any

from torchkeras.keras3.datasets.loaded import Data, numpy_state_kept, of

__all__ = ["get_word_index", "load_data"]


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> tuple[Data, Data]:
    """50,000 reviews of films: `(x_train, y_train), (x_test, y_test)`, lists of word numbers, and 0 or 1.

    Arguments:
        path (text, default "imdb.npz"): the file in `~/.keras/datasets`, or a whole path.
        num_words (integer or None, default None): words from this number on are replaced.
        skip_top (integer, default 0): words below this number are replaced.
        maxlen (integer or None, default None): texts of this length or longer are left out.
        seed (integer, default 113): the order.
        start_char (integer or None, default 1): the number that begins each text.
        oov_char (integer or None, default 2): the number of what is replaced; None leaves it out.
        index_from (integer, default 3): what is added to each word's number.
        kwargs (any): `nb_words`, the old name of `num_words`.

    Errors:
        TypeError: another argument.
        ValueError: `maxlen` leaves no text for training or none for testing.
        OSError: the file is not there and cannot be downloaded.

    Source: https://keras.io/api/datasets/imdb/
    """
    num_words = kwargs.pop("nb_words", num_words)
    if kwargs:
        raise TypeError(f"imdb.load_data: unknown argument {next(iter(kwargs))!r}.")
    options = num_words, skip_top, maxlen, start_char, oov_char, index_from
    with numpy_state_kept():
        lists, labels, train = of("imdb").of_file(path, seed, options)
    begun = start_char is not None
    border = sum(not maxlen or len(text) + begun < maxlen for text in train)
    if border in (0, len(lists)):
        raise ValueError(f"imdb.load_data: maxlen {maxlen} leaves no text for training or none for testing.")
    as_arrays = of("texts").as_arrays
    return as_arrays(lists[:border], labels[:border]), as_arrays(lists[border:], labels[border:])


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """Words to their numbers.

    Arguments:
        path (text, default "imdb_word_index.json"): the file in `~/.keras/datasets`, or a whole path.

    Errors:
        OSError: the file is not there and cannot be downloaded.

    Source: https://keras.io/api/datasets/imdb/
    """
    return of("imdb").get_word_index(path)

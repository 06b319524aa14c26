"""`keras.datasets.imdb`: 50,000 reviews of films as word numbers, and whether they are good."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from torchkeras.keras2.datasets import texts
from torchkeras.keras2.datasets.plain_pickle import arrays
from torchkeras.keras2.renamed import renamed
from torchkeras.keras2.utils.data_utils import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
HASH = "599dadb1135973df5b59232a0e9a887c"
INDEX_HASH = "bfafd718b763782e994055a2d397834f"

Data = tuple[np.ndarray, np.ndarray]


@renamed(nb_words="num_words")
def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> tuple[Data, Data]:
    """`(x_train, y_train), (x_test, y_test)`: lists of word numbers, and 0 or 1.

    Arguments:
        path (text, default "imdb.npz"): the file in `~/.keras/datasets`, or a whole path.
        num_words (integer or None, default None): words from this number on are replaced.
        skip_top (integer, default 0): words below this number are replaced.
        maxlen (integer or None, default None): texts of this length or longer are left out. As in Keras 2.2.4, the test
            set then begins where it began with them.
        seed (integer, default 113): the order; it seeds NumPy's global state.
        start_char (integer or None, default 1): the number that begins each text.
        oov_char (integer or None, default 2): the number of what is replaced; None leaves it out.
        index_from (integer, default 3): what is added to each word's number.

    Errors:
        OSError: the file is not there and cannot be downloaded.
        ValueError: `maxlen` leaves no text.
    """
    options = (num_words, skip_top, maxlen, start_char, oov_char, index_from)
    lists, labels, train = of_file(path, seed, options)
    border = len(train)
    return texts.as_arrays(lists[:border], labels[:border]), texts.as_arrays(lists[border:], labels[border:])


def of_file(path: str, seed: int, options: tuple[Any, ...]) -> tuple[list[list[int]], list[Any], np.ndarray]:
    """The chosen texts of both parts, their labels, and the texts of the first part before they were chosen.

    `options` are those of `texts.chosen`.
    """
    found = arrays(get_file(path, ORIGIN + "imdb.npz", file_hash=HASH))
    np.random.seed(seed)  # noqa: NPY002 - the state that scripts share
    train, test = (texts.shuffled(found[f"x_{part}"], found[f"y_{part}"]) for part in ("train", "test"))
    lists, labels = texts.chosen([*train[0], *test[0]], [*train[1], *test[1]], *options)
    return lists, labels, train[0]


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """Words to their numbers; `path` is the file in `~/.keras/datasets`."""
    with open(get_file(path, ORIGIN + "imdb_word_index.json", file_hash=INDEX_HASH)) as file:
        return json.load(file)

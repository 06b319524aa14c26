"""`keras.datasets.reuters`: 11,228 news as word numbers, and which of 46 topics they have."""

from __future__ import annotations

import json

import numpy as np

from torchkeras.keras2.datasets import texts
from torchkeras.keras2.datasets.plain_pickle import arrays
from torchkeras.keras2.renamed import renamed
from torchkeras.keras2.utils.data_utils import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
HASH = "87aedbeb0cb229e378797a632c1997b6"
INDEX_HASH = "4d44cc38712099c9e383dc6e5f11a921"

Data = tuple[np.ndarray, np.ndarray]


@renamed(nb_words="num_words")
def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> tuple[Data, Data]:
    """`(x_train, y_train), (x_test, y_test)`: lists of word numbers, and topics from 0 to 45.

    The options are those of `imdb.load_data`, and `test_split`, the part of the texts that makes the test set.
    """
    found = arrays(get_file(path, ORIGIN + "reuters.npz", file_hash=HASH))
    np.random.seed(seed)  # noqa: NPY002 - the state that scripts share
    options = (num_words, skip_top, maxlen, start_char, oov_char, index_from)
    x, y = texts.shuffled(found["x"], found["y"])
    lists, labels = texts.chosen(x, y, *options)
    border = int(len(lists) * (1 - test_split))
    return texts.as_arrays(lists[:border], labels[:border]), texts.as_arrays(lists[border:], labels[border:])


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Words to their numbers; `path` is the file in `~/.keras/datasets`."""
    with open(get_file(path, ORIGIN + "reuters_word_index.json", file_hash=INDEX_HASH)) as file:
        return json.load(file)

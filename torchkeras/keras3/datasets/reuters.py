"""`keras.datasets.reuters`."""

from __future__ import annotations

from torchkeras.keras3.datasets.loaded import Data, numpy_state_kept, of

__all__ = ["get_label_names", "get_word_index", "load_data"]

_TOPICS = """
    cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship cotton carcass crude
    nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin strategic-metal livestock retail ipi iron-steel
    rubber heat jobs lei bop zinc orange pet-chem dlr gas silver wpi hog lead
"""


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
    """11,228 news: `(x_train, y_train), (x_test, y_test)`, lists of word numbers, and topics from 0 to 45.

    Arguments:
        path (text, default "reuters.npz"): the file in `~/.keras/datasets`, or a whole path.
        num_words (integer or None, default None): words from this number on are replaced.
        skip_top (integer, default 0): words below this number are replaced.
        maxlen (integer or None, default None): texts of this length or longer are left out.
        test_split (float, default 0.2): the part of the texts that makes the test set.
        seed (integer, default 113): the order.
        start_char (integer or None, default 1): the number that begins each text.
        oov_char (integer or None, default 2): the number of what is replaced; None leaves it out.
        index_from (integer, default 3): what is added to each word's number.

    Errors:
        ValueError: `maxlen` leaves no text.
        OSError: the file is not there and cannot be downloaded.

    Source: https://keras.io/api/datasets/reuters/
    """
    options = num_words, skip_top, maxlen, test_split, seed, start_char, oov_char, index_from
    with numpy_state_kept():
        return of("reuters").load_data(path, *options)


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Words to their numbers.

    Arguments:
        path (text, default "reuters_word_index.json"): the file in `~/.keras/datasets`, or a whole path.

    Errors:
        OSError: the file is not there and cannot be downloaded.

    Source: https://keras.io/api/datasets/reuters/
    """
    return of("reuters").get_word_index(path)


def get_label_names() -> tuple[str, ...]:
    """The names of the 46 topics, by their numbers.

    Example:
        >>> get_label_names()[3]
        'earn'

    Source: https://keras.io/api/datasets/reuters/
    """
    return tuple(_TOPICS.split())

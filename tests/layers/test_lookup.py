"""Vocabularies and look-ups as Keras 3.15 has them (more of its cases: test_keras3.py)."""

import copy
import pickle
import re

import numpy as np
import pytest
import torch
from golden import compiles, remade

from torchkeras.layers import Embedding, Input
from torchkeras.layers.lookup import IntegerLookup, StringLookup
from torchkeras.models import Sequential, load_model

BATCHES = [np.array([[4, 2, 2], [7, 7, 2]]), np.array([9, 4, -1, 0]), np.array([[4, 4]])]
WORDS = np.array([["b", "a"], ["b", ""], ["é", "a"]])


@pytest.mark.parametrize(
    ("options", "vocabulary", "own", "found"),
    [  # what Keras 3.15 gives
        ({}, [-1, 4, 2, 7, 9, 0], 5, [2, 1, 1]),
        ({"max_tokens": 4}, [-1, 4, 2, 7], 3, [2, 1, 1]),
        ({"max_tokens": 4, "mask_token": 0}, [0, -1, 4, 2], 2, [3, 2, 2]),
        ({"num_oov_indices": 2, "mask_token": 7}, [7, -1, -1, 4, 2, 9, 0], 4, [4, 3, 3]),
        (
            {"output_mode": "count", "max_tokens": 9, "pad_to_max_tokens": True, "num_oov_indices": 2},
            [-1, -1, 4, 2, 7, 9, 0],
            5,
            [0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
    ],
)
def test_integer_lookup_adapts_to_batches(options, vocabulary, own, found):
    layer = IntegerLookup(**options)
    layer.adapt(iter(BATCHES))
    assert layer.get_vocabulary() == vocabulary
    assert layer.get_vocabulary(include_special_tokens=False) == vocabulary[-own:]
    assert layer.vocabulary_size() == len(vocabulary)
    tokens = torch.tensor([[2, 4, 4]])
    torch.testing.assert_close(layer(tokens), torch.tensor([found]))
    assert torch.equal(remade(layer)(tokens), layer(tokens))
    assert layer(Input((3,), dtype="int64")).shape[1:] == layer(tokens).shape[1:]
    compiles(layer, tokens)


@pytest.mark.parametrize(
    ("data", "vocabulary"),
    [
        ([5, 5, 3, 9], [-1, 5, 9, 3]),
        ([[5, 5], [3]], [-1, 5, 3]),
        (np.array([[5, 5, 3], [5, 9, 3]]), [-1, 5, 3, 9]),
        (torch.tensor([[5, 5, 3], [5, 9, 3]]), [-1, 5, 3, 9]),
    ],
)
def test_the_most_frequent_come_first(data, vocabulary):
    layer = IntegerLookup()
    layer.adapt(data)
    assert layer.get_vocabulary() == vocabulary


def test_steps_and_a_second_adapt():
    layer = IntegerLookup()
    layer.adapt(iter(BATCHES), steps=1)
    assert layer.get_vocabulary() == [-1, 2, 7, 4]
    layer.adapt([8])
    assert layer.get_vocabulary() == [-1, 8]
    layer.set_vocabulary([-1, 3, 4])
    assert layer.get_vocabulary() == [-1, 3, 4]


def test_without_a_vocabulary_integers_are_only_symbolic():
    layer = IntegerLookup(name="l")
    assert layer(Input((3,), dtype="int64")).dtype == torch.int64
    with pytest.raises(ValueError, match=r"^IntegerLookup 'l': there is no vocabulary yet"):
        layer(torch.tensor([1]))


def test_without_indices_for_the_unknown_it_is_an_error():
    layer = IntegerLookup(vocabulary=[5, 6], num_oov_indices=0, name="l")
    assert layer(torch.tensor([6, 5])).tolist() == [1, 0]
    compiles(layer, torch.tensor([6, 5]))
    text = "IntegerLookup 'l': with num_oov_indices=0 all must be in the vocabulary."
    with pytest.raises(RuntimeError, match=re.escape(text)):
        layer(torch.tensor([7]))
    masked = StringLookup(vocabulary=["a", "b"], num_oov_indices=0, mask_token="")
    assert masked([["b", "a", ""]]).tolist() == [[2, 1, 0]]
    text = "StringLookup 's': with num_oov_indices=0 all must be in the vocabulary; found ['b']."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        StringLookup(vocabulary=["a"], num_oov_indices=0, name="s")(["b"])


def test_an_adapted_lookup_is_in_a_file(tmp_path):
    layer = IntegerLookup(mask_token=0)
    layer.adapt(iter(BATCHES))
    model = Sequential([layer, Embedding(layer.vocabulary_size(), 2)])
    tokens = torch.tensor([[2, 4, 0, 8]])
    model(tokens)
    model.save(tmp_path / "model.h5")
    torch.testing.assert_close(load_model(tmp_path / "model.h5")(tokens), model(tokens))


@pytest.mark.parametrize(
    ("options", "vocabulary", "found"),
    [  # what Keras 3.15 gives
        ({}, ["[UNK]", "b", "a", "é", ""], [[2, 0], [4, 1]]),
        ({"max_tokens": 3}, ["[UNK]", "b", "a"], [[2, 0], [0, 1]]),
        ({"mask_token": "", "output_mode": "count"}, ["[UNK]", "b", "a", "é"], [[1, 0, 1, 0], [0, 1, 0, 0]]),
        ({"mask_token": ""}, ["", "[UNK]", "b", "a", "é"], [[3, 1], [0, 2]]),
        ({"output_mode": "one_hot", "max_tokens": 2}, ["[UNK]", "b"], [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]),
    ],
)
def test_string_lookup_adapts(options, vocabulary, found):
    words = [["a", "zz"], ["", "b"]]
    for data in (WORDS, WORDS.astype(object), np.char.encode(WORDS, "utf-8"), WORDS.tolist(), iter([WORDS])):
        layer = StringLookup(**options)
        layer.adapt(data)
        assert layer.get_vocabulary() == vocabulary
        for given in (words, np.array(words), np.char.encode(words, "utf-8")):
            assert layer(given).tolist() == found
    for again in (remade(layer), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301  # our own bytes
        assert again(words).tolist() == found


def test_strings_come_back():
    layer = StringLookup(vocabulary=["a", "bb"], mask_token="", oov_token="?")
    inverse = StringLookup(vocabulary=layer.get_vocabulary(), mask_token="", oov_token="?", invert=True)
    assert inverse(layer([["a", "c"], ["", "bb"]])).tolist() == [["a", "?"], ["", "bb"]]
    assert inverse(np.array([7, -1])).tolist() == ["?", "?"]
    assert StringLookup(vocabulary=["é"], encoding="latin-1")(["é".encode("latin-1")]).tolist() == [1]


V = [5, 6]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: IntegerLookup(1), "IntegerLookup: max_tokens must be an integer of at least 2, or None; found 1."),
        (
            lambda: IntegerLookup(num_oov_indices=-1),
            "IntegerLookup: num_oov_indices must be an integer from 0 to 1000000; found -1.",
        ),
        (
            lambda: StringLookup(num_oov_indices=-2),
            "StringLookup: num_oov_indices must be an integer from 0 to 1000000; found -2.",
        ),
        (
            lambda: IntegerLookup(vocabulary=[]),
            "IntegerLookup: vocabulary must be a list of tokens or a file of them; found [].",
        ),
        (
            lambda: StringLookup(vocabulary="words.txt"),
            "StringLookup: vocabulary must be a list of tokens or a file of them; there is no file 'words.txt'.",
        ),
        (
            lambda: IntegerLookup(vocabulary=["a"], name="l"),
            "IntegerLookup 'l': tokens must be integers; found <U1.",
        ),
        (lambda: StringLookup(vocabulary=V, name="l"), "StringLookup 'l': tokens must be strings; found int64."),
        (
            lambda: StringLookup(vocabulary=["a"], name="l")([1]),
            "StringLookup 'l': tokens must be strings; found int64.",
        ),
        (
            lambda: IntegerLookup(oov_method="md5"),
            "IntegerLookup: oov_method must be one of 'floormod', 'farmhash'; found 'md5'.",
        ),
        (
            lambda: IntegerLookup(salt=3, name="l"),
            "IntegerLookup 'l': a salt needs oov_method 'farmhash'; found 'floormod'.",
        ),
        (
            lambda: IntegerLookup(sparse=True),
            "IntegerLookup: sparse must be False, torch computes with dense tensors; found True.",
        ),
        (
            lambda: IntegerLookup(pad_to_max_tokens=True, name="l"),
            "IntegerLookup 'l': pad_to_max_tokens needs max_tokens, and invert output_mode 'int'.",
        ),
        (
            lambda: StringLookup(invert=True, output_mode="count", name="l"),
            "StringLookup 'l': pad_to_max_tokens needs max_tokens, and invert output_mode 'int'.",
        ),
        (
            lambda: IntegerLookup(vocabulary=V, output_mode="bool"),
            "IntegerLookup: output_mode must be one of 'int', 'one_hot', 'multi_hot', 'count', 'tf_idf'; found 'bool'.",
        ),
        (
            lambda: IntegerLookup(vocabulary=V, output_mode="tf_idf", name="l"),
            (
                "IntegerLookup 'l': idf_weights must have a number for each of the 2 tokens with output_mode 'tf_idf', "
                "and be None with others; found 0 with 'tf_idf'."
            ),
        ),
        (
            lambda: IntegerLookup(idf_weights=[1.0], output_mode="tf_idf", name="l"),
            "IntegerLookup 'l': idf_weights need a vocabulary.",
        ),
        (
            lambda: StringLookup(vocabulary=["a"], idf_weights=[1], name="l"),
            (
                "StringLookup 'l': idf_weights must have a number for each of the 1 tokens with output_mode 'tf_idf', "
                "and be None with others; found 1 with 'int'."
            ),
        ),
        (
            lambda: IntegerLookup(vocabulary=[5, 5], name="l"),
            (
                "IntegerLookup 'l': vocabulary must hold each token once, [-1] in front or nowhere, and at most "
                "max_tokens (None); found 3 with [-1], misplaced or repeated: [5]."
            ),
        ),
        (
            lambda: IntegerLookup(2, vocabulary=V, name="l"),
            (
                "IntegerLookup 'l': vocabulary must hold each token once, [-1] in front or nowhere, and at most "
                "max_tokens (2); found 3 with [-1], misplaced or repeated: []."
            ),
        ),
        (
            lambda: StringLookup(vocabulary=["a", ""], mask_token="", name="l"),
            (
                "StringLookup 'l': vocabulary must hold each token once, ['', '[UNK]'] in front or nowhere, and at "
                "most max_tokens (None); found 4 with ['', '[UNK]'], misplaced or repeated: ['']."
            ),
        ),
        (
            lambda: IntegerLookup(vocabulary=V, name="l").adapt(V),
            "IntegerLookup 'l': adapt has nothing to find, the vocabulary is given.",
        ),
        (lambda: IntegerLookup(name="l").adapt(iter([])), "IntegerLookup 'l': adapt found no tokens."),
        (
            lambda: StringLookup(name="l")(["a"]),
            "StringLookup 'l': there is no vocabulary yet; call adapt or set_vocabulary.",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()

"""TextVectorization beyond the numbers of genuine Keras, which tests/keras3/same/text_layers.py has."""

import copy
import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import registry
from torchkeras.errors import ArchitectureError, ForbiddenContentError
from torchkeras.layers import Dense, Embedding, Input, IntegerLookup, StringLookup, TextVectorization
from torchkeras.models import Model, Sequential

TEXTS = ["a b b", "b c", "a, B"]


def vowels(texts):
    return np.array([re.sub("[^aeiou ]", "", text) for text in texts.ravel()]).reshape(texts.shape)


def commas(texts):
    return [text.split(",") for text in texts]


def test_functions_standardize_and_split():
    layer = TextVectorization(standardize=vowels, split=commas, vocabulary=["a", "e"])
    assert layer(["bat", "bet"]).tolist() == [[2], [3]]
    layer = TextVectorization(standardize=None, split=commas, vocabulary=["a b", "c"])
    assert layer(["a b,c", "c"]).tolist() == [[2, 3], [3, 0]]


def test_a_config_names_functions_and_loading_takes_them_from_custom_objects():
    layer = TextVectorization(standardize=vowels, split=commas, vocabulary=["a"], name="words")
    config = json.loads(json.dumps(layer.get_config()))
    assert config["split"] == {
        "module": "builtins",
        "class_name": "function",
        "config": "commas",
        "registered_name": "function",
    }
    entry = {"class_name": "TextVectorization", "config": config}
    again = registry.layers.from_config(entry, {"commas": commas, "vowels": vowels})
    assert again(["a,b"]).tolist() == layer(["a,b"]).tolist()
    text = "TextVectorization: its standardize is stored by the name 'vowels'; pass the function itself: "
    with pytest.raises(ArchitectureError, match=f"^{re.escape(text)}"):
        TextVectorization.from_config(config)


@pytest.mark.parametrize("mode", ["int", "multi_hot", "count", "tf_idf"])
def test_configs_copies_and_pickles_give_the_same(mode: str):
    layer = TextVectorization(ngrams=(1, 2), output_mode=mode)
    layer.adapt(TEXTS)
    made = TextVectorization.from_config(json.loads(json.dumps(layer.get_config())))
    for again in (made, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301  # our own bytes
        assert again.get_vocabulary() == layer.get_vocabulary()
        torch.testing.assert_close(again(TEXTS), layer(TEXTS))


@pytest.mark.parametrize("kind", [StringLookup, TextVectorization])
def test_a_vocabulary_may_be_a_file(kind: Any, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("a\nbé\nc d\n", encoding="utf-8")
    for given in (path, str(path)):
        layer = kind(vocabulary=given)
        assert layer.get_vocabulary(include_special_tokens=False) == ["a", "bé", "c d"]
        assert layer.get_config()["vocabulary"] == layer.get_vocabulary()
    later = kind()
    later.set_vocabulary(path)
    assert later.get_vocabulary() == layer.get_vocabulary()


def test_a_vocabulary_of_integers_may_be_a_file(tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text("10\n-20\n")
    layer = IntegerLookup(vocabulary=path)
    assert layer(torch.tensor([-20, 10, 3])).tolist() == [2, 1, 0]


@pytest.mark.parametrize("kind", [IntegerLookup, StringLookup, TextVectorization])
def test_no_file_is_read_for_a_config(kind: Any, tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("1\n")
    entry = {"class_name": kind.__name__, "config": {**kind().get_config(), "vocabulary": str(path)}}
    with pytest.raises(ForbiddenContentError, match="a config must not name files to read"):
        registry.layers.from_config(entry)


def test_before_a_model():
    layer = TextVectorization(output_sequence_length=4)
    layer.adapt(TEXTS)
    model = Sequential([Embedding(layer.vocabulary_size(), 2)])
    assert model.predict(layer(TEXTS).numpy()).shape == (3, 4, 2)


def test_integers_of_lists_arrays_and_tensors():
    layer = IntegerLookup(vocabulary=[5, 6])
    for given in ([6, 5, 1], np.array([6, 5, 1]), torch.tensor([6, 5, 1])):
        assert layer(given).tolist() == [2, 1, 0]
    assert layer(Input((3,), dtype="int64")).dtype == torch.int64


def test_weights_of_documents_stay_with_the_layer():
    layer = IntegerLookup(output_mode="tf_idf", max_tokens=6, pad_to_max_tokens=True)
    layer.adapt(np.array([[1, 2], [1, 1], [3, 1]]))
    again = IntegerLookup.from_config(json.loads(json.dumps(layer.get_config())))
    x = torch.tensor([[1, 2, 1], [9, 3, 3]])
    torch.testing.assert_close(again(x), layer(x))
    assert again(x)[:, -2:].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert again.double()(x).dtype == torch.float32  # the type of the vectors is that of the layer


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: TextVectorization(standardize="upper"),
            (
                "TextVectorization: standardize must be one of 'lower_and_strip_punctuation', 'lower', "
                "'strip_punctuation', a function or None; found 'upper'."
            ),
        ),
        (
            lambda: TextVectorization(split=" "),
            "TextVectorization: split must be one of 'whitespace', 'character', a function or None; found ' '.",
        ),
        (
            lambda: TextVectorization(ngrams=(1, 0)),
            "TextVectorization: ngrams must be a positive integer or a tuple of them, or None; found (1, 0).",
        ),
        (
            lambda: TextVectorization(ragged=True),
            "TextVectorization: ragged must be False, torch computes with tensors of rows of one length; found True.",
        ),
        (
            lambda: TextVectorization(sparse=True),
            "TextVectorization: sparse must be False, torch computes with dense tensors; found True.",
        ),
        (
            lambda: TextVectorization(output_mode="count", output_sequence_length=3, name="t"),
            (
                "TextVectorization 't': output_sequence_length must be None unless output_mode is 'int'; found 3 with "
                "'count'."
            ),
        ),
        (
            lambda: TextVectorization(vocabulary=["a"], name="t")([["a", "b"]]),
            (
                "TextVectorization 't': texts that are split must have the shape (batch,), or 1 for their last axis; "
                "found (1, 2)."
            ),
        ),
        (
            lambda: TextVectorization(vocabulary=["a"], name="t")(["a", 1]),
            "TextVectorization 't': texts must be strings; found int.",
        ),
        (
            lambda: TextVectorization(name="t")(["a"]),
            "TextVectorization 't': there is no vocabulary yet; call adapt or set_vocabulary.",
        ),
        (
            lambda: TextVectorization(vocabulary=["a"], name="t").adapt(["a"]),
            "TextVectorization 't': adapt has nothing to find, the vocabulary is given.",
        ),
        (
            lambda: TextVectorization(output_mode="tf_idf", name="t").set_vocabulary(["a"]),
            (
                "TextVectorization 't': idf_weights must have a number for each of the 1 tokens with output_mode "
                "'tf_idf', and be None with others; found 0 with 'tf_idf'."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


def test_arrays_of_strings_go_into_no_other_layer():
    inputs = Input((1,))
    model = Model(inputs, Dense(1, name="d")(inputs))
    with pytest.raises(TypeError, match="takes torch tensors; found ndarray"):
        model(np.array([["a"]]))

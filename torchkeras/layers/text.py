"""Texts as indices into a vocabulary of their words: TextVectorization.

Source: https://keras.io/api/layers/preprocessing_layers/text/
"""

import re
import string
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F

from torchkeras import registry
from torchkeras.base.rules import Rule, is_integer, literal, one_of, optional, rule
from torchkeras.base.texts import array_of_strings
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import OptionalPositive
from torchkeras.errors import ArchitectureError
from torchkeras.layers.lookup import IdfWeights, MaxTokens, OutputMode, StringLookup, Strings, in_rows
from torchkeras.layers.preprocessing import NotSparse

WORDS = re.compile(r"[^ \t\n\v\f\r]+")  # as in TensorFlow, spaces and letters are those of ASCII
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

STANDARDIZED: Mapping[Any, Callable[[str], str]] = {
    "lower_and_strip_punctuation": lambda text: text.translate(LOWER).translate(NO_PUNCTUATION),
    "lower": lambda text: text.translate(LOWER),
    "strip_punctuation": lambda text: text.translate(NO_PUNCTUATION),
}
SPLITS: Mapping[Any, Callable[[str], list[str]]] = {"whitespace": WORDS.findall, "character": list}
FUNCTIONS = ("standardize", "split")  # the options that may be functions


def _word_or_function(*words: str) -> Rule:
    text = f"must be one of {', '.join(map(repr, words))}, a function or None"
    allowed = one_of(*words, None)
    return Rule(
        lambda v: v,
        _written,
        takes=f"{literal(*words)} | Callable[..., Any] | None",
        text=text,
        holds=lambda v: callable(v) or allowed.holds(v),  # type: ignore[misc]
    )


def _written(value: Any) -> Any:
    """A function by its name, as Keras 3 writes it."""
    if not callable(value):
        return value
    name = getattr(value, "__name__", type(value).__name__)
    return {"module": "builtins", "class_name": "function", "config": name, "registered_name": "function"}


def _are_sizes(value: Any) -> bool:
    return isinstance(value, (int, tuple, list)) and all(
        is_integer(size) and size > 0 for size in ([value] if isinstance(value, int) else value)
    )


Ngrams = Annotated[
    Any,
    optional(
        rule(
            "must be a positive integer or a tuple of them",
            _are_sizes,
            lambda v: int(v) if is_integer(v) else tuple(map(int, v)),
            "int | Sequence[int]",
        )
    ),
]
NOT_RAGGED = rule("must be False, torch computes with tensors of rows of one length", lambda v: v is False)
NotRagged = Annotated[bool, NOT_RAGGED]


class TextVectorization(StringLookup):
    """The index of each word of texts in the vocabulary (int64), 0 after the last word; or a vector for each text.

    Texts are standardized, split into words, joined to ngrams, and looked up as by `StringLookup`: 0 is the mask, 1
    unknown words. The layer is part of a model, after an `Input(..., dtype="string")`, or is called on arrays or lists
    of strings, and returns tensors.

    Options:
        max_tokens (integer above 1 or None, default None): the largest size of the vocabulary, including the mask and
            unknown tokens; None sets no limit.
        standardize ("lower_and_strip_punctuation", "lower", "strip_punctuation", function or None, default
            "lower_and_strip_punctuation"): what is done to a text first; letters and punctuation are those of ASCII. A
            function gets an array of strings, and returns one of the same shape.
        split ("whitespace", "character", function or None, default "whitespace"): how a text is split. A function gets
            an array of strings, and returns a list of words for each. With None each text is one word.
        ngrams (positive integer, tuple of them or None, default None): how many words make one token, joined by spaces:
            up to this number, or each of these.
        output_mode ("int", "multi_hot", "count" or "tf_idf", default "int"): "int" gives the indices, the others a
            vector for each text, as `StringLookup` does.
        output_sequence_length (positive integer or None, default None): the number of indices to which each text is
            cut, or padded with 0; None takes that of the longest text. For output_mode "int".
        pad_to_max_tokens (bool, default False): whether vectors have `max_tokens` places.
        vocabulary (list of strings, path of a file with one in each line or None, default None): the tokens in the
            order of their indices, with or without the mask and unknown tokens in front; None leaves them to `adapt` or
            `set_vocabulary`.
        idf_weights (list of numbers or None, default None): for "tf_idf": the weight of each token of the vocabulary.
        sparse (bool, default False): must be False; torch computes with dense tensors.
        ragged (bool, default False): must be False; torch computes with rows of equal length.
        encoding (string, default "utf-8"): the encoding of texts that are bytes; in a model it must be "utf-8".

    Shapes:
        (batch,) or (batch, 1) -> (batch, words) for "int", else (batch, tokens)

    Errors:
        ValueError: a call before there is a vocabulary, or on texts whose last axis is longer than 1; an
            `output_sequence_length` with another mode than "int".
        TypeError: a call on a tensor of numbers.

    Example:
        >>> layer = TextVectorization(output_sequence_length=4)
        >>> layer.adapt(["foo bar", "bar baz", "baz bada boom"])
        >>> layer([["Foo qux, bar!"], ["qux baz"]])
        tensor([[4, 1, 3, 0],
                [1, 2, 0, 0]])

    Source: https://keras.io/api/layers/preprocessing_layers/text/text_vectorization/
    """

    max_tokens: MaxTokens = None
    standardize: Annotated[Any, _word_or_function(*STANDARDIZED)] = "lower_and_strip_punctuation"
    split: Annotated[Any, _word_or_function(*SPLITS)] = "whitespace"
    ngrams: Ngrams = None
    output_mode: OutputMode = "int"
    output_sequence_length: OptionalPositive = None
    pad_to_max_tokens: bool = False
    vocabulary: Strings = None
    idf_weights: IdfWeights = None
    sparse: NotSparse = False
    ragged: NotRagged = False
    encoding: str = "utf-8"

    num_oov_indices: ClassVar[int] = 1
    mask_token: ClassVar[str] = ""
    oov_token: ClassVar[str] = "[UNK]"
    invert: ClassVar[bool] = False
    oov_method: ClassVar[str] = "floormod"
    salt: ClassVar[None] = None

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.output_mode != "int" and self.output_sequence_length is not None:
            raise ValueError(
                f"{self._who}: output_sequence_length must be None unless output_mode is 'int'; found "
                f"{self.output_sequence_length} with {self.output_mode!r}."
            )

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        """A new layer; its functions come from `custom_objects`. Raises ArchitectureError where one is missing."""
        known = {**registry.get_custom_objects(), **(custom_objects or {})}
        named = {key: config[key] for key in FUNCTIONS if isinstance(config.get(key), Mapping)}
        return super().from_config({**config, **{key: _function(cls, key, each, known) for key, each in named.items()}})

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Fill the vocabulary with the tokens of texts, the most frequent first; of equally frequent ones, the greater.

        With output_mode "tf_idf" each text is a document, and the weight of a token is `log(1 + documents / (1 +
        documents with it))`.

        Arguments:
            data (array, table, list of strings or iterable of batches): the texts.
            batch_size (integer or None, default None): has no effect; Keras has this argument.
            steps (integer or None, default None): the largest number of batches to take; None takes all.

        Errors:
            ValueError: the vocabulary is an option of the layer; there are no tokens.
        """
        super().adapt(self._tokens(data) if isinstance(data, (list, tuple)) else data, steps)

    def _shape_of_indices(self, shape: Any) -> Any:
        texts, unknown = shape[:-1], shape[-1]  # as many words as the longest text has, which another batch has not
        if self._takes_whole:
            return texts
        return (*(texts[:-1] if self.split is None else self._without_last_axis(texts)), unknown)

    def _encoded(self, indices: torch.Tensor) -> torch.Tensor:
        found = super()._encoded(indices)
        if self.output_mode != "int" or self.output_sequence_length is None:
            return found
        return F.pad(found, (0, self.output_sequence_length - found.shape[-1]))

    def _tokens(self, values: Any) -> np.ndarray:
        # Of Python's strings: where one text is long, NumPy's own would take that much for each.
        found = np.asarray(values, dtype=object) if isinstance(values, (list, tuple)) else np.asarray(values)
        texts = [text.decode(self.encoding) if isinstance(text, bytes) else text for text in found.ravel().tolist()]
        other = next((type(text).__name__ for text in texts if not isinstance(text, str)), None)
        if other is not None:
            raise ValueError(f"{self._who}: texts must be strings; found {other}.")
        return array_of_strings(texts, found.shape)

    def _documents_in(self, data: Any) -> list[list[Any]]:
        texts = self._standardized(self._tokens(data))
        return in_rows(texts) if self._takes_whole else self._rows(texts)[1]

    def _indices(self, tokens: np.ndarray) -> np.ndarray:
        texts = self._standardized(tokens)
        if self._takes_whole:
            return super()._indices(texts)
        shape, rows = self._rows(texts)
        longest = min(max(map(len, rows), default=0), self.output_sequence_length or sys.maxsize)
        places, unknown = self._places, self._first_unknown
        found = np.full((len(rows), longest), places[self.mask_token])
        for index, row in enumerate(rows):
            cut = row[:longest]
            found[index, : len(cut)] = [places.get(word, unknown) for word in cut]
        return found.reshape(*shape, longest)

    @property
    def _takes_whole(self) -> bool:
        """Whether each text is one token."""
        return self.split is None and self.ngrams is None

    def _rows(self, texts: np.ndarray) -> tuple[tuple[int, ...], list[list[str]]]:
        """The shape of an array without its last axis, and the tokens along that axis."""
        if self.split is None:
            shape, words = texts.shape[:-1], texts.reshape(-1, *texts.shape[-1:]).tolist()
        else:
            shape, words = self._without_last_axis(texts.shape), self._split_rows(texts.ravel())
        return shape, [self._joined(list(row)) for row in words]

    def _standardized(self, texts: np.ndarray) -> np.ndarray:
        if self.standardize is None:
            return texts
        if callable(self.standardize):
            return self._tokens(self.standardize(texts.astype(np.str_)))
        changed = STANDARDIZED[self.standardize]
        return array_of_strings([changed(text) for text in texts.ravel().tolist()], texts.shape)

    def _without_last_axis(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of texts without an axis of length 1 at its end."""
        if len(shape) < 2:
            return shape
        if shape[-1] != 1:
            raise ValueError(
                f"{self._who}: texts that are split must have the shape (batch,), or 1 for their last axis; found "
                f"{tuple(shape)}."
            )
        return shape[:-1]

    def _split_rows(self, texts: np.ndarray) -> Any:
        if callable(self.split):
            return self.split(texts.astype(np.str_))
        return map(SPLITS[self.split], texts.tolist())

    def _joined(self, words: list[str]) -> list[str]:
        """The ngrams of words, one size after the other."""
        if self.ngrams is None:
            return words
        sizes = range(1, self.ngrams + 1) if isinstance(self.ngrams, int) else self.ngrams
        return [" ".join(words[start : start + size]) for size in sizes for start in range(len(words) - size + 1)]


def _function(kind: type, option: str, entry: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    """The user's function that a config names."""
    name = entry.get("config")
    for key in (name, entry.get("registered_name")):
        if isinstance(key, str) and key in known:
            return known[key]
    raise ArchitectureError(
        f"{kind.__name__}: its {option} is stored by the name {name!r}; pass the function itself: "
        f"custom_objects={{{name!r}: function}}."
    )

"""Tokens, integers or strings, as indices into a vocabulary, which is an option or comes from `adapt`.

Indices begin with that of the mask, 0 (with a `mask_token`, for output_mode 'int'), and those of unknown tokens.
Source: https://keras.io/api/layers/preprocessing_layers/categorical/
"""

from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.fixed_lists import OptionValues
from torchkeras.base.nested import tensors_in
from torchkeras.base.rules import STRING, integer, one_of, optional, rule
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import OptionalInt
from torchkeras.layers.preprocessing import NotSparse, array, batches_in, encoded, set_constant

MaxTokens = Annotated[Any, optional(integer(2))]
# Each is an entry of the vocabulary: a file must not ask for more than memory can hold.
OovIndices = Annotated[int, integer(0, 1_000_000)]
TOKENS = rule(
    "must be a list of tokens", lambda v: array(v).ndim == 1 and len(v) > 0, lambda v: OptionValues(array(v).tolist())
)
Vocabulary = Annotated[Any, optional(TOKENS)]
OnlyNone = Annotated[Any, one_of(None)]
OutputMode = Annotated[str, one_of("int", "one_hot", "multi_hot", "count")]


class Lookup(Layer, abstract=True):
    """The base of both layers: the vocabulary, and the vectors. A subclass's `_tokens` reads tokens into an array.

    Options:
        max_tokens (integer above 1 or None, default None): the largest size of the vocabulary, with the tokens of mask
            and unknown; None sets no limit.
        vocabulary (list of tokens or None, default None): the tokens in the order of their indices, with or without
            those of mask and unknown in front; None leaves them to `adapt` or `set_vocabulary`.
        idf_weights (None, default None): must be None.
        invert (bool, default False): whether the layer maps indices to tokens. Needs output_mode="int".
        output_mode ("int", "one_hot", "multi_hot" or "count", default "int"): "int" gives the indices, the others
            vectors as `CategoryEncoding` does, with a place for each index. Vectors have no place for the mask.
        sparse (bool, default False): must be False, torch computes with dense tensors.
        pad_to_max_tokens (bool, default False): whether vectors have `max_tokens` places.
        oov_method ("floormod", default "floormod"): must be "floormod".
        salt (None, default None): must be None.
    """

    idf_weights: OnlyNone = None
    invert: bool = False
    output_mode: OutputMode = "int"
    sparse: NotSparse = False
    pad_to_max_tokens: bool = False
    oov_method: Annotated[str, one_of("floormod")] = "floormod"
    salt: OnlyNone = None

    vocabulary: Any
    _tokens: Callable[[Any], np.ndarray]
    _places: dict[Any, int]  # token -> index

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if (self.pad_to_max_tokens and not self.max_tokens) or (self.invert and self.output_mode != "int"):
            raise ValueError(f"{self._who}: pad_to_max_tokens needs max_tokens, and invert output_mode 'int'.")
        masks = self.mask_token is not None and self.output_mode == "int"
        self._special = [self.mask_token] * masks + [self.oov_token] * self.num_oov_indices
        self._is_given = self.vocabulary is not None
        if self._is_given:
            self.set_vocabulary(self.vocabulary)

    @property
    def _who(self) -> str:
        return f"{type(self).__name__} {self.name!r}"

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The tokens in the order of their indices.

        Arguments:
            include_special_tokens (bool, default True): whether those of mask and unknown are among them.
        """
        tokens = self.vocabulary or self._special
        return list(tokens[0 if include_special_tokens else len(self._special) :])

    def vocabulary_size(self) -> int:
        """The number of indices, with those of mask and unknown."""
        return len(self.get_vocabulary())

    def set_vocabulary(self, vocabulary: Any) -> None:
        """Take these tokens.

        Arguments:
            vocabulary (list or array of tokens): with or without those of mask and unknown in front.

        Errors:
            ValueError: tokens are repeated or too many; those of mask or unknown stand elsewhere.
        """
        tokens, special = self._tokens(vocabulary).tolist(), self._special
        if tokens[: len(special)] != special:
            tokens = special + tokens
        wrong = self._misplaced(tokens[len(special) :])
        if wrong or len(tokens) > (self.max_tokens or len(tokens)):
            raise ValueError(
                f"{self._who}: vocabulary must hold each token once, {special} in front or nowhere, and at most "
                f"max_tokens ({self.max_tokens}); found {len(tokens)} with {special}, misplaced or repeated: {wrong}."
            )
        self.vocabulary = tokens
        self._places = {token: index for index, token in enumerate(tokens) if index >= len(special)}
        if self.mask_token is not None:
            self._places[self.mask_token] = 0 if self.output_mode == "int" else -1

    def _misplaced(self, tokens: list[Any]) -> list[Any]:
        """Of the tokens after the special ones those that are repeated, or special themselves."""
        reserved = {self.mask_token, self.oov_token if self.invert else self.mask_token}
        return [token for token, number in Counter(tokens).items() if number > 1 or token in reserved]

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Take the most frequent tokens of data, the most frequent first, and of equally frequent ones the greater.

        Arguments:
            data (array, tensor, list of tokens or iterable of batches): where the tokens are counted.
            steps (integer or None, default None): the largest number of batches to take; None takes all.

        Errors:
            ValueError: the vocabulary is an option of the layer; there are no tokens.
        """
        if self._is_given:
            raise ValueError(f"{self._who}: adapt has nothing to find, the vocabulary is given.")
        counts = Counter(token for batch in batches_in(data, steps) for token in self._tokens(batch).ravel().tolist())
        found = sorted(counts.keys() - {self.mask_token, self.oov_token}, key=lambda t: (counts[t], t), reverse=True)
        if not found:
            raise ValueError(f"{self._who}: adapt found no tokens.")
        self.set_vocabulary(found[: self.max_tokens and self.max_tokens - len(self._special)])

    def _check_vocabulary(self) -> None:
        if self.vocabulary is None:
            raise ValueError(f"{self._who}: there is no vocabulary yet; call adapt or set_vocabulary.")

    def _encoded(self, indices: torch.Tensor) -> torch.Tensor:
        if self.output_mode == "int":
            return indices
        depth = self.max_tokens if self.pad_to_max_tokens else len(self.vocabulary)
        return encoded(indices, self.output_mode, depth, dtype_of(self.compute_dtype))


class IntegerLookup(Lookup):
    """The index of each integer in the vocabulary (int64), or with `invert` the integer at each index.

    Unknown integers have the index 0, or 1 where the mask has 0.

    Options:
        num_oov_indices (integer from 0 to 1000000, default 1): how many indices unknown integers have; of several, each
            takes that of its remainder. With 0 an unknown integer is an error.
        mask_token (integer or None, default None): the token with index 0, for what is masked.
        oov_token (integer, default -1): what `invert` gives for indices that are no token's.
        vocabulary_dtype ("int64", default "int64"): must be "int64".

    Shapes:
        any -> the same for "int", else that of `CategoryEncoding`

    Errors:
        ValueError: a call before there is a vocabulary.

    Example:
        >>> layer = IntegerLookup(vocabulary=[10, 20])
        >>> layer(torch.tensor([20, 10, 7]))
        tensor([2, 1, 0])

    Source: https://keras.io/api/layers/preprocessing_layers/categorical/integer_lookup/
    """

    max_tokens: MaxTokens = None
    num_oov_indices: OovIndices = 1
    mask_token: OptionalInt = None
    oov_token: int = -1
    vocabulary: Vocabulary = None
    vocabulary_dtype: Annotated[str, one_of("int64")] = "int64"

    def _tokens(self, values: Any) -> np.ndarray:
        found = array(values)
        if found.dtype.kind not in "iu":
            raise ValueError(f"{self._who}: tokens must be integers; found {found.dtype}.")
        return found

    def set_vocabulary(self, vocabulary: Any) -> None:
        super().set_vocabulary(vocabulary)
        keys = sorted(self._places)
        set_constant(self, "_keys", keys, torch.int64)
        set_constant(self, "_values", [self._places[key] for key in keys], torch.int64)
        set_constant(self, "_inverse", [*self.vocabulary, self.oov_token], torch.int64)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        tokens = inputs.long().contiguous()  # searchsorted warns of a view
        if self.vocabulary is None and inputs.is_meta and self.output_mode == "int":
            return tokens
        self._check_vocabulary()
        if self.invert:
            unknown = len(self._inverse) - 1
            return self._inverse[torch.where((tokens >= 0) & (tokens < unknown), tokens, unknown)]
        found = torch.searchsorted(self._keys, tokens).clamp(max=len(self._keys) - 1)
        is_known, unknown = self._keys[found] == tokens, len(self._special) - self.num_oov_indices
        if self.num_oov_indices == 0:
            text = f"{self._who}: with num_oov_indices=0 all must be in the vocabulary."
            torch.ops.aten._assert_async.msg(is_known.all(), text)
        if self.num_oov_indices > 1:
            unknown = tokens.remainder(self.num_oov_indices) + unknown
        return self._encoded(torch.where(is_known, self._values[found], unknown))


class StringLookup(Lookup):
    """The index of each string in the vocabulary (int64), or with `invert` the string at each index.

    torch has no tensors of strings, so this layer cannot be part of a model. It is called before one, on arrays or
    lists of strings, and returns tensors. With `invert` it is called on indices, and returns a NumPy array.

    Options:
        num_oov_indices (0 or 1, default 1): how many indices unknown strings have. With 0 an unknown string is an
            error. More are refused, since Keras chooses among them by a hash that is not available here.
        mask_token (string or None, default None): the token with index 0, for what is masked.
        oov_token (string, default "[UNK]"): what `invert` gives for indices that are no token's.
        encoding (string, default "utf-8"): the encoding of tokens that are bytes.

    Shapes:
        any -> the same for "int", else that of `CategoryEncoding`

    Errors:
        ValueError: a call on tensors, or before there is a vocabulary; tokens that are no strings.

    Example:
        >>> layer = StringLookup(vocabulary=["a", "b"])
        >>> layer(["b", "a", "z"])
        tensor([2, 1, 0])
        >>> StringLookup(vocabulary=["a", "b"], invert=True)([2, 1]).tolist()
        ['b', 'a']

    Source: https://keras.io/api/layers/preprocessing_layers/categorical/string_lookup/
    """

    max_tokens: MaxTokens = None
    num_oov_indices: Annotated[int, one_of(0, 1)] = 1
    mask_token: Annotated[Any, optional(STRING)] = None
    oov_token: str = "[UNK]"
    vocabulary: Vocabulary = None
    idf_weights: OnlyNone = None
    invert: bool = False
    output_mode: OutputMode = "int"
    pad_to_max_tokens: bool = False
    sparse: NotSparse = False
    encoding: str = "utf-8"

    def _tokens(self, values: Any) -> np.ndarray:
        found = np.asarray(values)
        if found.dtype.kind in "SO":  # bytes, or Python's own strings
            strings = [v.decode(self.encoding) if isinstance(v, bytes) else v for v in found.ravel().tolist()]
            found = np.array(strings).reshape(found.shape)
        if found.dtype.kind != "U":
            raise ValueError(f"{self._who}: tokens must be strings; found {found.dtype}.")
        return found

    def __call__(self, inputs: Any) -> Any:
        """The indices of strings, as a tensor; with `invert` the strings of indices, as an array."""
        if any(True for _ in tensors_in(inputs)):
            raise ValueError(
                f"{self._who}: strings are no tensors, so that it cannot be part of a model; "
                "call it on arrays of strings, and give the model the integers that it returns."
            )
        self._check_vocabulary()
        self.built = True
        if self.invert:
            indices, inverse = array(inputs), np.array([*self.vocabulary, self.oov_token])
            return inverse[np.where((indices >= 0) & (indices < len(inverse)), indices, len(inverse) - 1)]
        tokens = self._tokens(inputs)
        words, places = tokens.ravel().tolist(), self._places
        if self.num_oov_indices == 0 and not places.keys() >= set(words):
            raise ValueError(f"{self._who}: with num_oov_indices=0 all must be in the vocabulary; found {inputs!r}.")
        found = [places.get(word, len(self._special) - 1) for word in words]
        return self._encoded(torch.tensor(found, device=config.device()).reshape(tokens.shape))

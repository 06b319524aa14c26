"""Tokens, integers or strings, as indices into a vocabulary, which is an option or comes from `adapt`.

Indices begin with that of the mask, 0 (with a `mask_token`, for output_mode 'int'), and those of unknown tokens.
Source: https://keras.io/api/layers/preprocessing_layers/categorical/
"""

import codecs
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.arrays import to_numpy
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.fixed_lists import OptionValues
from torchkeras.base.nested import TENSORS
from torchkeras.base.rules import STRING as A_STRING, Rule, integer, one_of, optional, rule
from torchkeras.base.texts import STRING, strings_of_tensor
from torchkeras.base.torch_versions import in_eager_mode
from torchkeras.base.tracing import exporting
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import OptionalInt
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.errors import ForbiddenContentError
from torchkeras.layers.hashing import SALT, bins_of, texts_of
from torchkeras.layers.preprocessing import FLOATS, NotSparse, array, batches_in, encoded, in_array, set_constant

MaxTokens = Annotated[Any, optional(integer(2))]
# Each is an entry of the vocabulary: a file must not ask for more than memory can hold.
OovIndices = Annotated[int, integer(0, 1_000_000)]


def tokens_in(value: Any) -> list[Any]:
    """The tokens of a list or an array, or of a file that has one in each line."""
    if isinstance(value, (str, os.PathLike)):
        if not Path(value).is_file():
            raise ValueError(f"must be a list of tokens or a file of them; there is no file {os.fspath(value)!r}.")
        return Path(value).read_text("utf-8").removesuffix("\n").split("\n")
    found = array(value)
    if found.ndim != 1 or not len(found):
        raise ValueError(f"must be a list of tokens or a file of them; found {value!r}.")
    return found.tolist()


def _integers_in(value: Any) -> list[Any]:
    found = tokens_in(value)
    return [int(token) if isinstance(value, (str, os.PathLike)) else token for token in found]


def _vocabulary(read: Callable[[Any], list[Any]]) -> Rule:
    return optional(Rule(lambda v: OptionValues(read(v)), takes="Any"))


Strings = Annotated[Any, _vocabulary(tokens_in)]
Integers = Annotated[Any, _vocabulary(_integers_in)]
IdfWeights = Annotated[Any, optional(rule("must be a list of numbers", lambda v: np.ndim(v) == 1, FLOATS.read))]
OtherNames = {"binary": "multi_hot", "tf-idf": "tf_idf"}  # of modes, in old scripts
OUTPUT_MODE = one_of("int", "one_hot", "multi_hot", "count", "tf_idf")
OutputMode = Annotated[
    str,
    replace(
        OUTPUT_MODE,
        holds=lambda v: OUTPUT_MODE.holds(OtherNames.get(v, v) if isinstance(v, str) else v),  # type: ignore[misc]
        convert=lambda v: OtherNames.get(v, v),
    ),
]


class Lookup(Layer, abstract=True):
    """The base of both layers: the vocabulary, and the vectors. A subclass's `_tokens` reads tokens into an array.

    Options:
        max_tokens (integer above 1 or None, default None): the largest size of the vocabulary, including the mask and
            unknown tokens; None sets no limit.
        vocabulary (list of tokens, path of a file with one in each line or None, default None): the tokens in the order
            of their indices, with or without the mask and unknown tokens in front; None leaves them to `adapt` or
            `set_vocabulary`.
        idf_weights (list of numbers or None, default None): for "tf_idf": the weight of each token of the vocabulary.
            Mask and unknown tokens that are not in it get the mean weight.
        invert (bool, default False): whether the layer maps indices to tokens. Needs output_mode="int".
        output_mode ("int", "one_hot", "multi_hot", "count" or "tf_idf", default "int"): "int" gives the indices, the
            others vectors as `CategoryEncoding` does, with a place for each index; "tf_idf" multiplies those of "count"
            by `idf_weights`. Vectors have no place for the mask.
        sparse (bool, default False): must be False; torch computes with dense tensors.
        pad_to_max_tokens (bool, default False): whether vectors have `max_tokens` places.
        oov_method ("floormod" or "farmhash", default "floormod"): how an unknown integer gets one of several indices:
            by its remainder, or by its hash. An unknown string always gets it by its hash.
        salt (integer from 0 to below 2**63, two of them or None, default None): the key of SipHash64; None hashes by
            FarmHash64.
    """

    idf_weights: IdfWeights = None
    invert: bool = False
    output_mode: OutputMode = "int"
    sparse: NotSparse = False
    pad_to_max_tokens: bool = False
    oov_method: Annotated[str, one_of("floormod", "farmhash")] = "floormod"
    salt: Annotated[Any, optional(SALT)] = None

    vocabulary: Any
    _tokens: Callable[[Any], np.ndarray]
    _tokens_in: Callable[[Any], list[Any]]  # the tokens of a vocabulary
    _places: dict[Any, int]  # token -> index
    _counts: Counter[Any]  # while the layer adapts: how often each token was found, and in how many documents
    _counts_of_documents: Counter[Any]
    _documents: int

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if (self.pad_to_max_tokens and not self.max_tokens) or (self.invert and self.output_mode != "int"):
            raise ValueError(f"{self._who}: pad_to_max_tokens needs max_tokens, and invert output_mode 'int'.")
        masks = self.mask_token is not None and self.output_mode == "int"
        self._special = [self.mask_token] * masks + [self.oov_token] * self.num_oov_indices
        self._is_given = self.vocabulary is not None
        self.reset_state()
        if self._is_given:
            self.set_vocabulary(self.vocabulary, self.idf_weights)
        elif self.idf_weights is not None:
            raise ValueError(f"{self._who}: idf_weights need a vocabulary.")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Layer:
        """The layer of a config. One that names a vocabulary file is refused, as it could name any file you have."""
        if isinstance(config.get("vocabulary"), (str, os.PathLike)):
            raise ForbiddenContentError(
                f"{cls.__name__} {config.get('name')!r}: its config names the file {config['vocabulary']!r} in place "
                "of a vocabulary; a config must not name files to read: make the layer yourself, or call "
                "set_vocabulary."
            )
        return super().from_config(config)

    @property
    def _who(self) -> str:
        return f"{type(self).__name__} {self.name!r}"

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The tokens in the order of their indices.

        Arguments:
            include_special_tokens (bool, default True): whether the mask and unknown tokens are among them.
        """
        tokens = self.vocabulary or self._special
        return list(tokens[0 if include_special_tokens else len(self._special) :])

    def vocabulary_size(self) -> int:
        """The number of indices, including those for masked and unknown tokens."""
        return len(self.get_vocabulary())

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Use these tokens as the vocabulary.

        Arguments:
            vocabulary (list, array or path): the tokens, or a file with one in each line; with or without the mask and
                unknown tokens in front.
            idf_weights (list of numbers or None, default None): for output_mode "tf_idf": the weight of each token.

        Errors:
            ValueError: tokens are repeated or too many; the mask or unknown tokens are not in front; weights are
                missing, or their number differs.
        """
        given, special = self._tokens(self._tokens_in(vocabulary)).tolist(), self._special
        tokens = given if given[: len(special)] == special else special + given
        wrong = self._misplaced(tokens[len(special) :])
        if wrong or len(tokens) > (self.max_tokens or len(tokens)):
            raise ValueError(
                f"{self._who}: vocabulary must hold each token once, {special} in front or nowhere, and at most "
                f"max_tokens ({self.max_tokens}); found {len(tokens)} with {special}, misplaced or repeated: {wrong}."
            )
        self._set_weights(idf_weights, len(given), len(tokens))
        self.vocabulary = tokens
        self._places = {token: index for index, token in enumerate(tokens) if index >= len(special)}
        if self.mask_token is not None:
            self._places[self.mask_token] = 0 if self.output_mode == "int" else -1

    def _set_weights(self, idf_weights: Any, given: int, size: int) -> None:
        """Take the weights of "tf_idf" for a vocabulary of a size, of which some tokens were given."""
        needed, found = self.output_mode == "tf_idf", [] if idf_weights is None else array(idf_weights).tolist()
        if len(found) != (given if needed else 0):
            raise ValueError(
                f"{self._who}: idf_weights must have a number for each of the {given} tokens with output_mode "
                f"'tf_idf', and be None with others; found {len(found)} with {self.output_mode!r}."
            )
        if needed:
            self.idf_weights = [float(np.mean(found))] * (size - given) + found
            places = (self.max_tokens if self.pad_to_max_tokens else size) - size
            set_constant(self, "_idf", [*self.idf_weights, *[0.0] * places])

    def _misplaced(self, tokens: list[Any]) -> list[Any]:
        """Of the tokens after the special ones those that are repeated, or special themselves."""
        reserved = {self.mask_token, self.oov_token if self.invert else self.mask_token}
        return [token for token, number in Counter(tokens).items() if number > 1 or token in reserved]

    # --- adapt -------------------------------------------------------------------------------------------------------

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Fill the vocabulary with the tokens of data, the most frequent first; of equally frequent ones, the greater.

        With output_mode "tf_idf" each sample is a document, and the weight of a token is `log(1 + documents / (1 +
        documents with it))`.

        Arguments:
            data (array, table, tensor, list of tokens or iterable of batches): where the tokens are counted.
            steps (integer or None, default None): the largest number of batches to take; None takes all.

        Errors:
            ValueError: the vocabulary is an option of the layer; there are no tokens.
        """
        self.reset_state()
        for batch in batches_in(_samples(data), steps):
            self.update_state(batch)
        self.finalize_state()

    def reset_state(self) -> None:
        """Forget what `update_state` has counted."""
        self._counts, self._counts_of_documents, self._documents = Counter(), Counter(), 0

    def update_state(self, data: Any) -> None:
        """Count the tokens of a batch.

        Arguments:
            data (array, tensor or list of tokens): the batch; one without an axis for its samples is one sample.

        Errors:
            ValueError: the vocabulary is an option of the layer.
        """
        if self._is_given:
            raise ValueError(f"{self._who}: adapt has nothing to find, the vocabulary is given.")
        documents = self._documents_in(data)
        self._counts.update(chain.from_iterable(documents))
        if self.output_mode == "tf_idf":
            self._documents += len(documents)
            self._counts_of_documents.update(chain.from_iterable(map(set, documents)))

    def _documents_in(self, data: Any) -> list[list[Any]]:
        """The tokens of each sample of a batch."""
        return in_rows(self._tokens(data))

    def finalize_state(self) -> None:
        """Take the vocabulary that `update_state` has counted. Raises ValueError where there are no tokens."""
        counts, documents, of_documents = self._counts, self._documents, self._counts_of_documents
        found = sorted(counts.keys() - {self.mask_token, self.oov_token}, key=lambda t: (counts[t], t), reverse=True)
        if not found:
            raise ValueError(f"{self._who}: adapt found no tokens.")
        kept, weights = found[: self.max_tokens and self.max_tokens - len(self._special)], None
        if self.output_mode == "tf_idf":
            weights = [math.log(1 + documents / (1 + of_documents[token])) for token in kept]
        self.set_vocabulary(kept, weights)
        self.reset_state()

    # --- calls -------------------------------------------------------------------------------------------------------

    def _check_vocabulary(self) -> None:
        if self.vocabulary is None:
            raise ValueError(f"{self._who}: there is no vocabulary yet; call adapt or set_vocabulary.")

    @property
    def _first_unknown(self) -> int:
        return len(self._special) - self.num_oov_indices

    def _encoded(self, indices: torch.Tensor) -> torch.Tensor:
        if self.output_mode == "int":
            return indices
        depth = self.max_tokens if self.pad_to_max_tokens else len(self.vocabulary)
        if self.output_mode != "tf_idf":
            return encoded(indices, self.output_mode, depth, dtype_of(self.compute_dtype))
        counts = encoded(indices, "count", depth, dtype_of(self.compute_dtype))
        return counts * self._idf.to(counts.dtype)


def in_rows(tokens: np.ndarray) -> list[list[Any]]:
    """The tokens of each sample; an array without an axis for its samples is one."""
    rows: list[list[Any]] = tokens.reshape(len(tokens) if tokens.ndim > 1 else 1, -1).tolist()
    return rows


def _samples(data: Any) -> Any:
    """Data in which a list, array or tensor of tokens alone has a sample for each."""
    are_tokens = isinstance(data, (list, tuple)) and data and all(isinstance(each, SCALARS) for each in data)
    found: Any = np.asarray(data) if are_tokens else in_array(data)
    is_flat = isinstance(found, (np.ndarray, torch.Tensor)) and found.ndim == 1
    return found.reshape(-1, 1) if is_flat else found


SCALARS = (str, bytes, int, np.integer)


class IntegerLookup(Lookup):
    """The index of each integer in the vocabulary (int64), or with `invert` the integer at each index.

    Unknown integers have the index 0, or 1 where the mask has 0.

    Options:
        num_oov_indices (integer from 0 to 1000000, default 1): how many indices unknown integers have; `oov_method`
            chooses among several. With 0 an unknown integer is an error.
        mask_token (integer or None, default None): the token with index 0, for what is masked.
        oov_token (integer, default -1): what `invert` returns for indices without a token.
        vocabulary_dtype ("int64", default "int64"): must be "int64".

    Shapes:
        any -> the same for "int", else that of `CategoryEncoding`

    Errors:
        ValueError: a call before there is a vocabulary; a `salt` without the `oov_method` "farmhash".

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
    vocabulary: Integers = None
    vocabulary_dtype: Annotated[str, one_of("int64")] = "int64"

    _tokens_in = staticmethod(_integers_in)

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.salt is not None and self.oov_method != "farmhash":
            raise ValueError(f"{self._who}: a salt needs oov_method 'farmhash'; found {self.oov_method!r}.")

    def _tokens(self, values: Any) -> np.ndarray:
        found = array(values)
        if found.dtype.kind not in "iu":
            raise ValueError(f"{self._who}: tokens must be integers; found {found.dtype}.")
        return found

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        super().set_vocabulary(vocabulary, idf_weights)
        keys = sorted(self._places)
        set_constant(self, "_keys", keys, torch.int64)
        set_constant(self, "_values", [self._places[key] for key in keys], torch.int64)
        set_constant(self, "_inverse", [*self.vocabulary, self.oov_token], torch.int64)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The indices of a tensor, an array or a list of integers."""
        if isinstance(inputs, (np.ndarray, list, tuple)):
            inputs = torch.as_tensor(self._tokens(inputs), device=config.device())
        return super().__call__(inputs, *args, **kwargs)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        tokens = inputs.long().contiguous()  # searchsorted warns of a view
        if self.vocabulary is None and inputs.is_meta and self.output_mode == "int":
            return tokens
        self._check_vocabulary()
        if self.invert:
            unknown = len(self._inverse) - 1
            return self._inverse[torch.where((tokens >= 0) & (tokens < unknown), tokens, unknown)]
        found = torch.searchsorted(self._keys, tokens).clamp(max=len(self._keys) - 1)
        is_known, unknown = self._keys[found] == tokens, self._first_unknown
        if self.num_oov_indices == 0:
            text = f"{self._who}: with num_oov_indices=0 all must be in the vocabulary."
            torch.ops.aten._assert_async.msg(is_known.all(), text)
        if self.num_oov_indices > 1:
            unknown = self._bins(tokens) + unknown
        return self._encoded(torch.where(is_known, self._values[found], unknown))

    def _bins(self, tokens: torch.Tensor) -> torch.Tensor:
        if self.oov_method == "floormod":
            return tokens.remainder(self.num_oov_indices)
        if tokens.is_meta:
            return tokens
        return torch.as_tensor(bins_of(to_numpy(tokens), self.num_oov_indices, self.salt), device=tokens.device)


class StringLookup(Lookup):
    """The index of each string in the vocabulary (int64), or with `invert` the string at each index.

    It is part of a model, after an `Input(..., dtype="string")`, or is called on arrays or lists of strings. With
    `invert` it is called on indices, and returns a NumPy array of strings, so that it cannot be part of a model.

    Options:
        num_oov_indices (integer from 0 to 1000000, default 1): how many indices unknown strings have; if there are
            several, its hash chooses among them. With 0 an unknown string is an error.
        mask_token (string or None, default None): the token with index 0, for what is masked.
        oov_token (string, default "[UNK]"): what `invert` returns for indices without a token.
        encoding (string, default "utf-8"): the encoding of tokens that are bytes; in a model it must be "utf-8".

    Shapes:
        any -> the same for "int", else that of `CategoryEncoding`

    Errors:
        ValueError: a call before there is a vocabulary, or with `invert` in a model; tokens that are no strings.
        TypeError: a call on a tensor of numbers.

    Example:
        >>> layer = StringLookup(vocabulary=["a", "b"])
        >>> layer(["b", "a", "z"])
        tensor([2, 1, 0])
        >>> StringLookup(vocabulary=["a", "b"], invert=True)([2, 1]).tolist()
        ['b', 'a']

    Source: https://keras.io/api/layers/preprocessing_layers/categorical/string_lookup/
    """

    max_tokens: MaxTokens = None
    num_oov_indices: OovIndices = 1
    mask_token: Annotated[Any, optional(A_STRING)] = None
    oov_token: str = "[UNK]"
    vocabulary: Strings = None
    idf_weights: IdfWeights = None
    invert: bool = False
    output_mode: OutputMode = "int"
    pad_to_max_tokens: bool = False
    sparse: NotSparse = False
    encoding: str = "utf-8"

    input_dtype = "string"  # of an `Input` that a Sequential makes
    _tokens_in = staticmethod(tokens_in)

    class _Facts(Facts):
        casts = False
        takes_strings = True

    def _tokens(self, values: Any) -> np.ndarray:
        found = texts_of(np.asarray(values), self.encoding)
        if found.dtype.kind != "U":
            raise ValueError(f"{self._who}: tokens must be strings; found {found.dtype}.")
        return found

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The indices of strings, as a tensor; with `invert` the strings of indices, as an array."""
        if isinstance(inputs, TENSORS) and not self.invert:
            return super().__call__(inputs, *args, **kwargs)
        self._check_vocabulary()
        self.built = True
        if self.invert:
            return self._strings_at(inputs)
        return self._looked_up(self._tokens(inputs), config.device())

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if inputs.dtype != STRING:
            raise TypeError(f"{self._who} takes strings; found a tensor of {inputs.dtype}.")
        if codecs.lookup(self.encoding).name != "utf-8":
            raise ValueError(
                f"{self._who}: in a model, encoding must be 'utf-8', as its strings are; found {self.encoding!r}. "
                "Decode bytes of another encoding before."
            )
        if self.vocabulary is None and not (inputs.is_meta and self.output_mode == "int"):
            self._check_vocabulary()
        if inputs.is_meta:
            return self._encoded(torch.zeros(self._shape_of_indices(inputs.shape), dtype=torch.int64, device="meta"))
        if exporting():
            raise TypeError(
                f"{self._who}: an exported program holds no strings; export a model of the layers after it, and call "
                "it before that model."
            )
        return self._of_tensor(inputs)

    @in_eager_mode
    def _of_tensor(self, inputs: torch.Tensor) -> torch.Tensor:
        return self._looked_up(self._tokens(strings_of_tensor(inputs)), inputs.device)

    def _shape_of_indices(self, shape: Any) -> Any:
        """The shape of the indices for that of a tensor of strings."""
        return shape[:-1]

    def _looked_up(self, tokens: np.ndarray, device: torch.device) -> torch.Tensor:
        return self._encoded(torch.tensor(self._indices(tokens), device=device))

    def _strings_at(self, inputs: Any) -> np.ndarray:
        if isinstance(inputs, KerasTensor):
            raise ValueError(
                f"{self._who}: with invert=True it gives strings, which a model has no outputs for; call it on what "
                "the model predicts."
            )
        indices, inverse = array(inputs), np.array([*self.vocabulary, self.oov_token])
        return inverse[np.where((indices >= 0) & (indices < len(inverse)), indices, len(inverse) - 1)]

    def _indices(self, tokens: np.ndarray) -> np.ndarray:
        """The index of each token."""
        words, places = tokens.ravel().tolist(), self._places
        if self.num_oov_indices == 0 and not places.keys() >= set(words):
            unknown = sorted(set(words) - places.keys())
            raise ValueError(f"{self._who}: with num_oov_indices=0 all must be in the vocabulary; found {unknown!r}.")
        unknown = self._first_unknown
        if self.num_oov_indices > 1:
            bins = bins_of(tokens.ravel(), self.num_oov_indices, self.salt) + unknown
            found = [places.get(word, index) for word, index in zip(words, bins.tolist(), strict=True)]
        else:
            found = [places.get(word, unknown) for word in words]
        return np.array(found, dtype=np.int64).reshape(tokens.shape)

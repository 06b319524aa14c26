"""Integers and strings as the numbers of bins, by a hash: Hashing, HashedCrossing.

The hashes are TensorFlow's, the same on every machine.
Source: https://keras.io/api/layers/preprocessing_layers/categorical/
"""

from typing import Annotated, Any

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.arrays import to_numpy
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.fingerprints import fingerprints, joined, keyed_hashes
from torchkeras.base.fixed_lists import OptionValues
from torchkeras.base.nested import TENSORS, leaves
from torchkeras.base.rules import INTEGERS, is_integer, one_of, optional, rule
from torchkeras.base.texts import STRING, strings_of_tensor
from torchkeras.base.torch_versions import in_eager_mode
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import Positive
from torchkeras.layers.preprocessing import NotSparse, array, encoded

KEY = 0xDECAFCAFFE  # that a crossing of features begins with


def _pair(value: Any) -> list[Any]:
    return [value] * 2 if is_integer(value) else list(value) if isinstance(value, (list, tuple)) else []


SALT = rule(
    "must be an integer from 0 to below 2**63 or two of them",
    lambda v: len(_pair(v)) == 2 and all(is_integer(each) and 0 <= each < 2**63 for each in _pair(v)),
    lambda v: OptionValues(map(int, _pair(v))),
    INTEGERS,
)
Salt = Annotated[Any, optional(SALT)]
MaskValue = Annotated[
    Any, optional(rule("must be an integer or a string", lambda v: isinstance(v, str) or is_integer(v)))
]


def texts_of(values: np.ndarray, encoding: str = "utf-8") -> np.ndarray:
    """Strings of an array of strings, bytes or both; an array of something else as it is."""
    if values.dtype.kind not in "SO":
        return values
    texts = [value.decode(encoding) if isinstance(value, bytes) else value for value in values.ravel().tolist()]
    return np.array(texts).reshape(values.shape)


def hashes_of(values: np.ndarray, salt: Any = None) -> np.ndarray:
    """The hash of each string, or of the digits of each integer; by a key where there is a `salt`."""
    distinct, places = np.unique(values, return_inverse=True)
    texts = [str(value).encode() for value in distinct.tolist()]
    found = fingerprints(texts) if salt is None else keyed_hashes(texts, salt)
    return found[places].reshape(values.shape)


def bins_of(values: np.ndarray, bins: int, salt: Any = None) -> np.ndarray:
    """The remainder of each hash, from 0 to below `bins`."""
    return (hashes_of(values, salt) % np.uint64(bins)).astype(np.int64)


class Hashed(Layer, abstract=True):
    """The base of both layers. A subclass's `_bins` hashes.

    Options:
        num_bins (positive integer): the number of bins.
        sparse (bool, default False): must be False; torch computes with dense tensors.
    """

    num_bins: Positive
    sparse: NotSparse = False

    output_mode: str

    class _Facts(Facts):
        casts = False  # an integer is hashed by its digits
        takes_strings = True

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.output_mode == "int" and not self._tells_policy:
            self.dtype_policy = "int64"
        found = dtype_of(self.dtype)
        if self.output_mode == "int" and found not in (torch.int32, torch.int64):
            raise ValueError(
                f"{self._who}: with output_mode 'int', dtype must be 'int32' or 'int64'; found {self.dtype!r}."
            )

    @property
    def _who(self) -> str:
        return f"{type(self).__name__} {self.name!r}"

    def _bins(self, values: Any) -> np.ndarray:
        """The numbers of the bins of an array, or of a list of arrays."""
        raise NotImplementedError

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The bins of strings or integers, as a tensor."""
        given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        if given and all(isinstance(each, TENSORS) for each in given):
            return super().__call__(inputs, *args, **kwargs)
        self.built = True
        return self._encoded(torch.as_tensor(self._bins(inputs), device=config.device()))

    def forward(self, inputs: Any) -> torch.Tensor:
        tensors = leaves(inputs)
        if tensors[0].is_meta:
            shapes = [tensor.shape[:-1] if tensor.dtype == STRING else tensor.shape for tensor in tensors]
            self._check_shapes([(None, *shape[1:]) for shape in shapes])  # the batch size stands for any
            return self._encoded(torch.zeros(shapes[0], dtype=torch.int64, device="meta"))
        return self._of_tensors(inputs, tensors)

    @in_eager_mode
    def _of_tensors(self, inputs: Any, tensors: list[torch.Tensor]) -> torch.Tensor:
        given = [_values_of(tensor) for tensor in tensors]
        bins = self._bins(given if isinstance(inputs, (list, tuple)) else given[0])
        return self._encoded(torch.as_tensor(bins, device=tensors[0].device))

    def _check_shapes(self, shapes: list[Any]) -> None:
        """Raise ValueError for inputs of these shapes, if the layer cannot take them."""

    def _encoded(self, bins: torch.Tensor) -> torch.Tensor:
        dtype = dtype_of(self.compute_dtype)
        return bins.to(dtype) if self.output_mode == "int" else encoded(bins, self.output_mode, self.num_bins, dtype)


def _values_of(tensor: torch.Tensor) -> np.ndarray:
    """The strings or numbers of a tensor."""
    return strings_of_tensor(tensor) if tensor.dtype == STRING else to_numpy(tensor)


class Hashing(Hashed):
    """`hash(x) % num_bins` of each string or integer; an integer is hashed by its digits.

    Without a `salt` the hash is FarmHash64, with one SipHash64. The layer is part of a model, for strings after an
    `Input(..., dtype="string")`, or is called on arrays or lists. `dtype` is the type of the output, int64 by default
    for "int".

    Options:
        num_bins (positive integer): the number of bins, including that of the mask.
        mask_value (string, integer or None, default None): the value that gets bin 0; all other values get the other
            bins.
        salt (integer from 0 to below 2**63, two of them or None, default None): the key of SipHash64; one integer
            counts twice.
        output_mode ("int", "one_hot", "multi_hot" or "count", default "int"): "int" returns the bins, the rest vectors
            as `CategoryEncoding` does.
        sparse (bool, default False): must be False; torch computes with dense tensors.

    Shapes:
        any -> the same for "int", else that of `CategoryEncoding`

    Errors:
        ValueError: values that are neither strings nor numbers; a `dtype` that is not of integers for "int".

    Example:
        >>> Hashing(3)([["A"], ["B"], ["C"]]).flatten()
        tensor([1, 0, 1])
        >>> Hashing(3, salt=133)(torch.tensor([7, 8, 9]))
        tensor([0, 1, 1])

    Source: https://keras.io/api/layers/preprocessing_layers/categorical/hashing/
    """

    num_bins: Positive
    mask_value: MaskValue = None
    salt: Salt = None
    output_mode: Annotated[str, one_of("int", "one_hot", "multi_hot", "count")] = "int"
    sparse: NotSparse = False

    def _bins(self, values: Any) -> np.ndarray:
        found = texts_of(array(values))
        if found.dtype.kind not in "iufU":
            raise ValueError(f"{self._who}: what is hashed must be strings or integers; found {found.dtype}.")
        is_masked = self.mask_value is not None and self.num_bins > 1
        whole = found.astype(np.int64) if found.dtype.kind == "f" else found
        bins = bins_of(whole, self.num_bins - is_masked, self.salt)
        return np.where(found == self.mask_value, 0, bins + 1) if is_masked else bins


class HashedCrossing(Hashed):
    """`hash(x, y, ...) % num_bins`: one bin for the values of several features together.

    The hash of a string is its FarmHash64, that of an integer the integer. The layer is part of a model, for strings
    after an `Input(..., dtype="string")`, or is called on a list of arrays. `dtype` is the type of the output, int64 by
    default for "int".

    Options:
        num_bins (positive integer): the number of bins.
        output_mode ("int" or "one_hot", default "int"): "int" gives the bins, "one_hot" vectors.
        sparse (bool, default False): must be False; torch computes with dense tensors.

    Shapes:
        (batch,), (batch, 1) or (), for each of two or more inputs -> the same for "int", else (batch, num_bins)

    Errors:
        ValueError: fewer than two inputs, or inputs of shapes or types that the layer does not take.

    Example:
        >>> layer = HashedCrossing(5)
        >>> layer([["A", "B", "A", "B", "A"], [101, 101, 101, 102, 102]])
        tensor([1, 4, 1, 1, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/categorical/hashed_crossing/
    """

    num_bins: Positive
    output_mode: Annotated[str, one_of("int", "one_hot")] = "int"
    sparse: NotSparse = False

    def _bins(self, values: Any) -> np.ndarray:
        found = [texts_of(array(each)) for each in (values if isinstance(values, (list, tuple)) else [values])]
        self._check_shapes([each.shape for each in found])
        hashed = np.full(found[0].size, KEY, dtype=np.uint64)
        for each in found:
            if each.dtype.kind not in "iuU":
                raise ValueError(f"{self._who}: features must be strings or integers; found {each.dtype}.")
            flat = each.ravel()
            hashed = joined(hashed, hashes_of(flat) if each.dtype.kind == "U" else flat.astype(np.uint64))
        return (hashed % np.uint64(self.num_bins)).astype(np.int64).reshape(found[0].shape)

    def _check_shapes(self, shapes: list[Any]) -> None:
        first = tuple(shapes[0]) if shapes else ()
        if len(shapes) < 2 or any(tuple(shape) != first for shape in shapes) or first[1:] not in ((), (1,)):
            raise ValueError(
                f"{self._who}: there must be two or more inputs, all of the shape (), (batch,) or (batch, 1); found "
                f"{[tuple(shape) for shape in shapes]}."
            )

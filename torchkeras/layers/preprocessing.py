"""Layers that prepare numbers and categories for a model: Normalization, CategoryEncoding, Discretization.

`adapt` learns from an array, a tensor, or an iterable of batches.
Source: https://keras.io/api/layers/preprocessing_layers/
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from numbers import Real
from typing import Annotated, Any

import numpy as np
import torch

from torchkeras import config, initializers
from torchkeras.base.arrays import to_numpy
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.fixed_lists import OptionValues
from torchkeras.base.rules import integers, number, one_of, optional, rule
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import Called, OptionalPositive, Positive
from torchkeras.engine.weights.weight import weight


def array(values: Any) -> np.ndarray:
    """An array of a tensor, a list or an array."""
    return to_numpy(values) if isinstance(values, torch.Tensor) else np.asarray(values)


def _are_numbers(values: Any) -> bool:
    try:
        return array(values).dtype.kind in "iuf"
    except ValueError:  # lists of unequal lengths
        return False


A_NUMBER = "must be a number or an array of numbers"
NUMBERS = rule(A_NUMBER, _are_numbers, lambda v: _fixed(array(v).tolist()))
FLOATS = rule(A_NUMBER, _are_numbers, lambda v: _fixed(array(v).astype(float).tolist()))
BOUNDARIES = rule(
    "must be a list of numbers, none below the one before",
    lambda v: _are_numbers(v) and np.ndim(v) == 1 and not (np.diff(array(v)) < 0).any(),
    lambda v: OptionValues(array(v).astype(float).tolist()),
)
NotSparse = Annotated[bool, rule("must be False, torch computes with dense tensors", lambda v: v is False)]


def _fixed(values: Any) -> Any:
    return OptionValues(values) if isinstance(values, list) else values


def set_constant(layer: Layer, name: str, values: Any, dtype: torch.dtype | None = None) -> None:
    """Make a tensor that moves with the layer. It is no weight, since the config has its values."""
    made = torch.tensor(values, dtype=dtype or dtype_of(layer.dtype), device=config.device_of_constants())
    layer.register_buffer(name, made, persistent=False)


def batches_in(data: Any, steps: int | None = None) -> Iterable[Any]:
    """The data of `adapt`, batch by batch; an array and what pandas has are one batch."""
    found = in_array(data)
    return [found] if isinstance(found, (np.ndarray, torch.Tensor)) else islice(found, steps)


def in_array(data: Any) -> Any:
    """What pandas has as an array; anything else as it is."""
    if not hasattr(data, "iloc"):  # pandas need not be installed
        return data
    found = np.array(data)
    are_numbers = found.dtype == object and all(each.kind in "biuf" for each in np.atleast_1d(data.dtypes))
    return np.array(found.tolist()) if are_numbers else found


def _numbers(layer: Layer, batch: Any) -> np.ndarray:
    """The numbers of a batch. Raises ValueError for anything else."""
    found = array(batch)
    if found.dtype.kind not in "biuf":
        other = next((each for each in found.ravel().tolist() if not isinstance(each, Real)), None)
        raise ValueError(f"{type(layer).__name__} {layer.name!r}: adapt takes numbers; found {other!r}.")
    return found


def _are_rows(data: Any) -> bool:
    """Whether these are lists of numbers, in as many lists as there are axes."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, Real)


class Normalization(Layer):
    """`(x - mean) / sqrt(variance)`, or with `invert` `mean + x * sqrt(variance)`.

    Mean and variance are constants of the layer, or weights that `adapt` finds in data. A square root below
    `config.epsilon()` is replaced by it.

    Options:
        axis (integer, list of them or None, default -1): each index of these axes has its own mean and variance;
            with None there is one of each.
        mean (number, array or None, default None): the mean; None leaves it to `adapt`.
        variance (number, array or None, default None): the variance, of the shape of `mean`.
        invert (bool, default False): whether the layer computes the inverse.

    Shapes:
        any -> the same

    Errors:
        ValueError: `mean` without `variance` or of another shape; an `axis` that is not one of the input.

    Example:
        >>> layer = Normalization()
        >>> layer.adapt(np.array([[1.0], [3.0]]))
        >>> layer(torch.tensor([[5.0]]))
        tensor([[3.]])

    Source: https://keras.io/api/layers/preprocessing_layers/numerical/normalization/
    """

    axis: Annotated[Any, optional(integers("must be an integer or several"))] = -1
    given_mean: Annotated[Any, Called("mean"), optional(NUMBERS)] = None
    given_variance: Annotated[Any, Called("variance"), optional(NUMBERS)] = None
    invert: bool = False

    adapt_mean = weight("_mean", name="mean", when="adapts", trainable=False)
    adapt_variance = weight("_variance", name="variance", when="adapts", trainable=False)
    count = weight("_count", when="adapts", trainable=False)  # in Keras's files, where it stays 0

    mean_initializer = count_initializer = initializers.Zeros()
    variance_initializer = initializers.Ones()
    supports_masking = True

    class _Facts(Facts):
        keeps_shape = True

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.adapts = self.given_mean is None
        mean, variance = self.given_mean, self.given_variance
        if self.adapts != (variance is None) or np.shape(mean) != np.shape(variance):
            raise ValueError(
                f"Normalization {self.name!r}: mean and variance go together, of one shape; "
                f"found {mean!r} and {variance!r}."
            )

    @property
    def mean(self) -> Any:
        """The mean that a call subtracts, with the axes of the input; before the layer is built, the option."""
        return self._mean.view(self._broadcast) if self.built else self.given_mean

    @mean.setter
    def mean(self, value: Any) -> None:
        self.given_mean = value

    @property
    def variance(self) -> Any:
        """The variance that a call divides by, with the axes of the input; before the layer is built, the option."""
        return self._variance.view(self._broadcast) if self.built else self.given_variance

    @variance.setter
    def variance(self, value: Any) -> None:
        self.given_variance = value

    def _make_modules(self, input_shape: Any) -> None:
        self._expected_ndim = ndim = len(input_shape)
        axes = self.axis or ()
        if not all(-ndim <= axis < ndim for axis in axes):
            raise ValueError(f"axis {self.axis} is not one of the input {tuple(input_shape)}.")
        self._kept_axes = sorted(axis % ndim for axis in axes)
        self._broadcast = [input_shape[axis] if axis in self._kept_axes else 1 for axis in range(ndim)]
        sizes, given = tuple(self._known_size(input_shape, axis) for axis in self._kept_axes), np.shape(self.given_mean)
        if given != sizes[len(sizes) - len(given) :]:
            raise ValueError(f"mean of shape {given} does not fit axis {self.axis}, of size {sizes}.")
        if self.adapts:
            self.register_buffer("_mean", torch.empty(sizes))
            self.register_buffer("_variance", torch.empty(sizes))
            self.register_buffer("_count", torch.empty((), dtype=torch.int32))
        else:
            set_constant(self, "_mean", np.broadcast_to(self.given_mean, sizes).tolist())
            set_constant(self, "_variance", np.broadcast_to(self.given_variance, sizes).tolist())

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        mean, variance = self._mean.view(self._broadcast), self._variance.view(self._broadcast)
        deviation = variance.sqrt().clamp(min=config.epsilon())
        return mean + inputs * deviation if self.invert else (inputs - mean) / deviation

    @torch.no_grad()
    def adapt(self, data: Any) -> None:
        """Find mean and variance.

        Arguments:
            data (array, table, tensor, lists of numbers or iterable of batches): if a batch is a tuple, its first item
                is used.

        Errors:
            ValueError: mean and variance are constants; data are none, or no numbers; a batch is of another shape.
        """
        if not self.adapts:
            raise ValueError(f"Normalization {self.name!r}: adapt has nothing to find, mean and variance are given.")
        count, mean, variance = 0.0, torch.zeros(()), torch.zeros(())
        for batch in batches_in(np.asarray(data) if _are_rows(data) else data):
            given = batch[0] if isinstance(batch, (tuple, list)) else batch
            values = (given if isinstance(given, torch.Tensor) else torch.as_tensor(_numbers(self, given))).double()
            self._build([tuple(values.shape)])
            others = [0, *(axis + 1 for axis in range(values.dim()) if axis not in self._kept_axes)]
            batch_variance, batch_mean = torch.var_mean(values.unsqueeze(0), others, correction=0)
            added = values.numel() / batch_mean.numel()
            count, moved = count + added, batch_mean - mean
            share = added / count
            mean = mean + share * moved
            variance = variance + share * (batch_variance - variance + (1 - share) * moved**2)
        if not count:
            raise ValueError(f"Normalization {self.name!r}: adapt was given no data.")
        self._mean.copy_(mean)
        self._variance.copy_(variance)


def encoded(
    indices: torch.Tensor, mode: str, depth: int, dtype: torch.dtype, weights: torch.Tensor | None = None
) -> torch.Tensor:
    """Indices as vectors `depth` long; negative ones are left out.

    'one_hot' makes a vector for each index, and removes a last axis of 1 first. The others make one vector for all
    indices along axis 1, or along the only axis: 'multi_hot' marks them, 'count' counts them, each as much as its
    weight.
    """
    places = torch.atleast_1d(indices.long()).clamp(min=-1) + 1  # 0 for those that are left out
    if mode == "one_hot":
        places = (places.squeeze(-1) if places.dim() > 1 else places).unsqueeze(-1)
    else:
        places = _as_places(places)
    ones = torch.ones_like(places, dtype=dtype) if weights is None else _as_places(weights.to(dtype))
    counts = ones.new_zeros((*places.shape[:-1], depth + 1)).scatter_add_(-1, places, ones)[..., 1:]
    return counts if mode == "count" else counts.clamp(max=1)


def _as_places(values: torch.Tensor) -> torch.Tensor:
    """What belongs to one vector along the last axis."""
    return values.movedim(1, -1) if values.dim() > 1 else torch.atleast_1d(values)


class CategoryEncoding(Layer):
    """Integers from 0 to below `num_tokens` as vectors; negative ones are left out.

    Options:
        num_tokens (positive integer, default None): the length of the vectors; None is refused.
        output_mode ("multi_hot", "one_hot" or "count", default "multi_hot"): "one_hot" makes a vector for each integer;
            "multi_hot" one for each sample, which marks the integers along axis 1; "count" one that counts them.
        sparse (bool, default False): must be False; torch computes with dense tensors.

    Call:
        count_weights (tensor or None, default None): what each integer counts, for "count".

    Shapes:
        (batch, ...) -> (batch, ..., num_tokens) for "one_hot", which removes a last axis of 1 first
        (batch, n, ...) -> (batch, ..., num_tokens) for the others

    Errors:
        ValueError: `count_weights` with another `output_mode` than "count".

    Example:
        >>> CategoryEncoding(4)(torch.tensor([[0, 2]]))
        tensor([[1., 0., 1., 0.]])
        >>> CategoryEncoding(3, output_mode="one_hot")(torch.tensor([1]))
        tensor([[0., 1., 0.]])

    Source: https://keras.io/api/layers/preprocessing_layers/categorical/category_encoding/
    """

    num_tokens: Positive = None
    output_mode: Annotated[str, one_of("multi_hot", "one_hot", "count")] = "multi_hot"
    sparse: NotSparse = False

    def forward(self, inputs: torch.Tensor, count_weights: Any = None) -> torch.Tensor:
        if count_weights is None:
            return encoded(inputs, self.output_mode, self.num_tokens, dtype_of(self.compute_dtype))
        if self.output_mode != "count":
            raise ValueError(
                f"CategoryEncoding {self.name!r}: count_weights goes with output_mode='count'; found "
                f"{self.output_mode!r}."
            )
        weights = torch.as_tensor(count_weights, device=inputs.device)
        return encoded(inputs, "count", self.num_tokens, dtype_of(self.compute_dtype), weights)


class Discretization(Layer):
    """The index of the bin of x: how many of `bin_boundaries` are not above x.

    Options:
        bin_boundaries (list of floats or None, default None): the boundaries, in ascending order; None leaves them to
            `adapt`.
        num_bins (positive integer or None, default None): how many bins `adapt` makes, each with the same share of its
            data. Set one of the two options, not both.
        epsilon (float between 0 and 1, default 0.01): in Keras the error of these quantiles; here they are exact.
        output_mode ("int", "one_hot", "multi_hot" or "count", default "int"): "int" gives the index (int32), the others
            vectors as `CategoryEncoding` does.
        sparse (bool, default False): must be False; torch computes with dense tensors.

    Shapes:
        any -> the same for "int", else that of `CategoryEncoding`

    Errors:
        ValueError: neither `bin_boundaries` nor `num_bins`, or both; a call before `adapt` has found boundaries.

    Example:
        >>> Discretization([0.0, 1.0])(torch.tensor([-0.5, 0.5, 1.0]))
        tensor([0, 1, 2], dtype=torch.int32)

    Source: https://keras.io/api/layers/preprocessing_layers/numerical/discretization/
    """

    bin_boundaries: Annotated[Any, optional(BOUNDARIES)] = None
    num_bins: OptionalPositive = None
    epsilon: Annotated[float, number("above 0 and below 1", lambda v: 0 < v < 1)] = 0.01
    output_mode: Annotated[str, one_of("int", "one_hot", "multi_hot", "count")] = "int"
    sparse: NotSparse = False

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        bins = self.num_bins if self.bin_boundaries is None else len(self.bin_boundaries) + 1
        if bins is None or self.num_bins not in (None, bins):  # a config has both, after adapt has made them
            raise ValueError(f"Discretization {self.name!r}: give bin_boundaries or num_bins, and not both.")
        set_constant(self, "_boundaries", self.bin_boundaries or [])

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Layer:
        """A new layer with the options of a config.

        One of a layer that was adapted has both `num_bins` and the boundaries that `adapt` has found. In files of
        genuine Keras these may be fewer.
        """
        bins, boundaries = config.get("num_bins"), config.get("bin_boundaries")
        if not isinstance(bins, int) or not isinstance(boundaries, (list, tuple)) or bins <= len(boundaries) + 1:
            return super().from_config(config)
        made = super().from_config({**config, "num_bins": None})
        made.num_bins = bins
        return made

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Find the boundaries of bins that have the same share of the data.

        Arguments:
            data (array, table, tensor or iterable of batches): all its values count.
            steps (integer or None, default None): the largest number of batches to take; None takes all.

        Errors:
            ValueError: the boundaries are an option of the layer; data are none, or no numbers.
        """
        if self.num_bins is None:
            raise ValueError(f"Discretization {self.name!r}: adapt has nothing to find, bin_boundaries are given.")
        values = [_numbers(self, batch).ravel() for batch in batches_in(data, steps)]
        if not values:
            raise ValueError(f"Discretization {self.name!r}: adapt was given no data.")
        shares = np.arange(1, self.num_bins) / self.num_bins
        self.bin_boundaries = np.quantile(np.concatenate(values), shares).tolist()
        set_constant(self, "_boundaries", self.bin_boundaries)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.bin_boundaries is None and not inputs.is_meta:
            raise ValueError(f"Discretization {self.name!r}: there are no boundaries yet; call adapt.")
        values = inputs.to(self._boundaries.dtype).contiguous()  # bucketize warns of a view
        bins = torch.bucketize(values, self._boundaries, right=True, out_int32=True)
        depth = self.num_bins if self.bin_boundaries is None else len(self.bin_boundaries) + 1
        return bins if self.output_mode == "int" else encoded(bins, self.output_mode, depth, values.dtype)

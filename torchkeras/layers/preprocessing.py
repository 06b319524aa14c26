"""What brings data into shape before a model learns from it: scaling, resizing, normalizing, binning, encoding.

`adapt` learns from an array, a tensor, or an iterable of batches.
Source: https://keras.io/api/layers/preprocessing_layers/
"""

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Any

import numpy as np
import torch
import torch.nn.functional as F

from torchkeras import config, initializers
from torchkeras.arrays import to_numpy
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import (
    NEWER,
    OptionalPositive,
    Positive,
    integers,
    is_number,
    one_of,
    optional,
    rule,
)
from torchkeras.engine.layer.symbolic import dtype_of
from torchkeras.engine.layer.weight import weight
from torchkeras.layers.activation import Pointwise
from torchkeras.layers.spatial import Spatial

INTERPOLATIONS = {"bilinear": "bilinear", "nearest": "nearest-exact", "bicubic": "bicubic"}


def array(values: Any) -> np.ndarray:
    """An array of a tensor, a list or an array."""
    return to_numpy(values) if isinstance(values, torch.Tensor) else np.asarray(values)


NUMBERS = rule(
    "must be a number or an array of numbers", lambda v: array(v).dtype.kind in "iuf", lambda v: array(v).tolist()
)
BOUNDARIES = rule(
    "must be a list of numbers, none below the one before",
    lambda v: np.ndim(v) == 1 and array(v).dtype.kind in "iuf" and not (np.diff(array(v)) < 0).any(),
    lambda v: array(v).astype(float).tolist(),
)
NotSparse = Annotated[bool, rule("must be False, torch computes with dense tensors", lambda v: v is False)]


def floating(layer: Layer, inputs: torch.Tensor) -> torch.Tensor:
    """The inputs, integers as numbers of the layer's dtype."""
    return inputs if inputs.is_floating_point() else inputs.to(dtype_of(layer.compute_dtype))


def set_constant(layer: Layer, name: str, values: Any, dtype: torch.dtype | None = None) -> None:
    """Make a tensor that moves with the layer and is no weight, since a config has its values."""
    made = torch.tensor(values, dtype=dtype or dtype_of(layer.dtype), device=config.device())
    layer.register_buffer(name, made, persistent=False)


def batches_in(data: Any, steps: int | None = None) -> Iterable[Any]:
    """What `adapt` was given, batch by batch: an array is one batch."""
    return [data] if isinstance(data, (np.ndarray, torch.Tensor)) else islice(data, steps)


class Rescaling(Pointwise):
    """`x * scale + offset`, of two numbers.

    Shape: any -> the same.
    """

    scale: float
    offset: float = 0.0

    class _Facts(Facts):
        keeps_shape = False  # integers become numbers of the layer's dtype

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return floating(self, inputs) * self.scale + self.offset


def centered(images: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """The window in the middle of images, channels first."""
    top, left = (images.shape[2] - height) // 2, (images.shape[3] - width) // 2
    return images[:, :, top : top + height, left : left + width]


def stretched(images: torch.Tensor, size: tuple[int, int], by: str = "bilinear", **smooth: Any) -> torch.Tensor:
    """Images stretched to a height and width."""
    options = {} if by == "nearest" else {"align_corners": False, **smooth}
    return F.interpolate(images, size, mode=INTERPOLATIONS[by], **options) if images.shape[2:] != size else images


def fitted(images: torch.Tensor, size: tuple[int, int], by: str = "bilinear", **smooth: Any) -> torch.Tensor:
    """The largest window in the middle that has the aspect ratio of `size`, stretched to `size`."""
    height, width = images.shape[2:]
    rows, columns = min(height, width * size[0] // size[1]), min(width, height * size[1] // size[0])
    return stretched(centered(images, max(rows, 1), max(columns, 1)), size, by, **smooth)


class Resizing(Spatial):
    """Images stretched to `height` and `width`; integers are rounded.

    `interpolation`: 'bilinear', 'nearest' or 'bicubic'; `antialias` smooths what gets smaller (not for 'nearest').
    `crop_to_aspect_ratio`: of the largest window in the middle that needs no distortion.
    Shape: (batch, height, width, channels) -> (batch, *size, channels), or by `data_format` with the channels first.
    """

    height: Positive
    width: Positive
    interpolation: Annotated[str, one_of(*INTERPOLATIONS)] = "bilinear"
    crop_to_aspect_ratio: bool = False
    pad_to_aspect_ratio: Annotated[bool, one_of(False), NEWER] = False
    fill_mode: Annotated[str, one_of("constant"), NEWER] = "constant"
    fill_value: Annotated[float, one_of(0), NEWER] = 0.0
    antialias: bool = False

    rank = 2

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        resize = fitted if self.crop_to_aspect_ratio else stretched
        images, size = floating(self, inputs), (self.height, self.width)
        found = resize(images, size, self.interpolation, antialias=self.antialias)
        if inputs.is_floating_point():
            return found
        bounds = torch.iinfo(inputs.dtype)
        return found.round().clamp(bounds.min, bounds.max).to(inputs.dtype)


class CenterCrop(Spatial):
    """The middle of images; of smaller ones the largest window of the same aspect ratio, stretched.

    Shape: (batch, height, width, channels) -> (batch, *size, channels), or by `data_format` with the channels first.
    """

    height: Positive
    width: Positive

    rank = 2

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        images, size = floating(self, inputs), (self.height, self.width)
        too_small = images.shape[2] < self.height or images.shape[3] < self.width
        return fitted(images, size) if too_small else centered(images, *size)


class Normalization(Layer):
    """`(x - mean) / sqrt(variance)`, or with `invert` `mean + x * sqrt(variance)`.

    `axis`: one or several, whose every index has a mean and a variance of its own; None for one of all. `mean` and
    `variance`: numbers or arrays; without them `adapt` finds them, and they are weights.
    Shape: any -> the same.
    """

    _declares_options = True

    axis: Annotated[Any, optional(integers("must be an integer, several, or None"))] = -1
    mean: Annotated[Any, optional(NUMBERS)] = None
    variance: Annotated[Any, optional(NUMBERS)] = None
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
        self.adapts = self.mean is None
        if self.adapts != (self.variance is None) or np.shape(self.mean) != np.shape(self.variance):
            raise ValueError(
                f"Normalization {self.name!r}: mean and variance go together, of one shape; "
                f"found {self.mean!r} and {self.variance!r}."
            )

    def _make_modules(self, input_shape: Any) -> None:
        self._expected_ndim = ndim = len(input_shape)
        if not all(-ndim <= axis < ndim for axis in self.axis or ()):
            raise ValueError(f"axis {self.axis} is not one of the input {tuple(input_shape)}.")
        self._kept = sorted(axis % ndim for axis in self.axis or ())
        self._broadcast = [input_shape[axis] if axis in self._kept else 1 for axis in range(ndim)]
        sizes, given = tuple(self._known_size(input_shape, axis) for axis in self._kept), np.shape(self.mean)
        if given != sizes[len(sizes) - len(given) :]:
            raise ValueError(f"mean of shape {given} does not fit axis {self.axis}, of size {sizes}.")
        for name, values in (("_mean", self.mean), ("_variance", self.variance)):
            if self.adapts:
                self.register_buffer(name, torch.empty(sizes))
            else:
                set_constant(self, name, np.broadcast_to(values, sizes).tolist())
        if self.adapts:
            self.register_buffer("_count", torch.empty((), dtype=torch.int32))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        mean, variance = self._mean.view(self._broadcast), self._variance.view(self._broadcast)
        deviation = variance.sqrt().clamp(min=config.epsilon())
        return mean + inputs * deviation if self.invert else (inputs - mean) / deviation

    @torch.no_grad()
    def adapt(self, data: Any) -> None:
        """Find mean and variance. Raises ValueError when they are given, for no data, and for a shape that differs."""
        if not self.adapts:
            raise ValueError(f"Normalization {self.name!r}: adapt has nothing to find, mean and variance are given.")
        count, mean, variance = 0.0, torch.zeros(()), torch.zeros(())
        for batch in batches_in(data):
            values = torch.as_tensor(batch[0] if isinstance(batch, (tuple, list)) else batch).double()
            self._build([tuple(values.shape)])
            others = [0, *(axis + 1 for axis in range(values.dim()) if axis not in self._kept)]
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


def encoded(indices: torch.Tensor, mode: str, depth: int, dtype: torch.dtype) -> torch.Tensor:
    """Indices as vectors `depth` long, where a negative one counts for nothing.

    'one_hot': a vector for each index (a last axis of 1 goes away). Else one for all those along axis 1, or along the
    only axis: 'multi_hot' marks them, 'count' adds them up.
    """
    places = torch.atleast_1d(indices.long()).clamp(min=-1) + 1  # at 0 what does not count
    if mode == "one_hot":
        places = (places.squeeze(-1) if places.dim() > 1 else places).unsqueeze(-1)
    elif places.dim() > 1:
        places = places.movedim(1, -1)
    ones = torch.ones_like(places, dtype=dtype)
    counts = ones.new_zeros((*places.shape[:-1], depth + 1)).scatter_add_(-1, places, ones)[..., 1:]
    return counts if mode == "count" else counts.clamp(max=1)


class CategoryEncoding(Layer):
    """Integers from 0 up to, not including, `num_tokens` as vectors; a negative one counts for nothing.

    `output_mode`: 'one_hot': a vector for each; 'multi_hot': one that marks all of a sample, those along axis 1;
    'count': one that counts them.
    Shape: (batch, ...) -> (batch, ..., num_tokens) for 'one_hot', where a last axis of 1 goes away, and
    (batch, n, ...) -> (batch, ..., num_tokens) for the others.
    """

    num_tokens: Positive = None
    output_mode: Annotated[str, one_of("multi_hot", "one_hot", "count")] = "multi_hot"
    sparse: NotSparse = False

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return encoded(inputs, self.output_mode, self.num_tokens, dtype_of(self.compute_dtype))


class Discretization(Layer):
    """The index of the bin that x lies in: how many of `bin_boundaries` are not above x.

    `num_bins`: so many bins instead, each with the same share of the data that `adapt` is given. Keras estimates these
    quantiles, `epsilon` off at most; here they are exact. `output_mode`: 'int' for the index (int32), or a vector as of
    `CategoryEncoding`.
    Shape: any -> the same, or that of `CategoryEncoding`.
    """

    _declares_options = True

    bin_boundaries: Annotated[Any, optional(BOUNDARIES)] = None
    num_bins: OptionalPositive = None
    epsilon: Annotated[float, rule("must be above 0 and below 1", lambda v: is_number(v) and 0 < v < 1)] = 0.01
    output_mode: Annotated[str, one_of("int", "one_hot", "multi_hot", "count")] = "int"
    sparse: NotSparse = False

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        bins = self.num_bins if self.bin_boundaries is None else len(self.bin_boundaries) + 1
        if bins is None or self.num_bins not in (None, bins):  # both, as adapt made them, come from a config
            raise ValueError(f"Discretization {self.name!r}: give bin_boundaries or num_bins, and not both.")
        set_constant(self, "_boundaries", self.bin_boundaries or [])

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Find boundaries, in `steps` batches at most. Raises ValueError when they are given, and for no data."""
        if self.num_bins is None:
            raise ValueError(f"Discretization {self.name!r}: adapt has nothing to find, bin_boundaries are given.")
        values = [array(batch).ravel() for batch in batches_in(data, steps)]
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

"""What brings data into shape before a model learns from it: scaling, resizing, normalizing, binning, encoding.

`adapt` learns from an array, a tensor, or an iterable of batches.
Source: https://keras.io/api/layers/preprocessing_layers/
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Annotated, Any

import numpy as np
import torch
import torch.nn.functional as F

from torchkeras import config, initializers
from torchkeras.arrays import to_numpy
from torchkeras.engine.layer import Layer
from torchkeras.engine.layout import Layout
from torchkeras.engine.options import OptionalPositive, Positive, integers, is_number, one_of, optional, rule
from torchkeras.engine.symbol import dtype_of
from torchkeras.engine.weight import weight
from torchkeras.layers.spatial import Spatial

Size = tuple[int, int]
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
    return inputs if inputs.is_floating_point() else inputs.to(dtype_of(layer.dtype))


def set_constant(layer: Layer, name: str, values: Any, dtype: torch.dtype | None = None) -> None:
    """Make a tensor that moves with the layer and is no weight, since a config has its values."""
    made = torch.tensor(values, dtype=dtype or dtype_of(layer.dtype), device=config.device())
    layer.register_buffer(name, made, persistent=False)


def batches_in(data: Any, steps: int | None = None) -> Iterable[Any]:
    """What `adapt` was given, batch by batch: an array is one batch."""
    return [data] if isinstance(data, (np.ndarray, torch.Tensor)) else islice(data, steps)


class Rescaling(Layer):
    """`x * scale + offset`, each a number or an array with one for each channel.

    Shape: any -> the same.
    """

    _declares_options = True

    scale: Annotated[Any, NUMBERS]
    offset: Annotated[Any, NUMBERS] = 0.0

    supports_masking = True

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self._by_channel = np.ndim(self.scale) + np.ndim(self.offset) > 0
        ahead = 2 if config.image_data_format() == "channels_first" else 0
        for name, value in (("_scale", self.scale), ("_offset", self.offset)):
            set_constant(self, name, np.reshape(value, np.shape(value) + (1,) * ahead).tolist())

    @property
    def native_layout(self) -> Layout:
        return Layout.KERAS if self._by_channel else Layout.ANY

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        scale, offset = (self._scale, self._offset) if self._by_channel else (self.scale, self.offset)
        return floating(self, inputs) * scale + offset


def interpolated(images: torch.Tensor, size: Size, by: str = "bilinear", antialias: bool = False) -> torch.Tensor:
    """Images, channels first, stretched to a height and width."""
    smooth: dict[str, Any] = {} if by == "nearest" else {"align_corners": False, "antialias": antialias}
    return F.interpolate(images, size, mode=INTERPOLATIONS[by], **smooth) if images.shape[2:] != size else images


def largest_window(images: torch.Tensor, size: Size) -> tuple[int, int, int, int]:
    """Top, left, height and width of the largest window in the middle that has the aspect ratio of `size`."""
    height, width = images.shape[2:]
    rows, columns = max(min(height, width * size[0] // size[1]), 1), max(min(width, height * size[1] // size[0]), 1)
    return (height - rows) // 2, (width - columns) // 2, rows, columns


def fitted(images: torch.Tensor, size: Size, by: str = "bilinear", antialias: bool = False) -> torch.Tensor:
    """That window, stretched to `size`."""
    top, left, rows, columns = largest_window(images, size)
    return interpolated(images[:, :, top : top + rows, left : left + columns], size, by, antialias)


class Resizing(Spatial):
    """Images stretched to `height` and `width`; integers are rounded.

    `interpolation`: 'bilinear', 'nearest' or 'bicubic'; `antialias` smooths what gets smaller (not for 'nearest').
    `crop_to_aspect_ratio`: of the largest window in the middle that needs no distortion. `pad_to_aspect_ratio`: with
    `fill_value` put around them first, for the same end.

    Shape: (batch, height, width, channels) -> (batch, *size, channels), or by `data_format` with the channels first.
    """

    _declares_options = True

    height: Positive
    width: Positive
    interpolation: Annotated[str, one_of(*INTERPOLATIONS)] = "bilinear"
    crop_to_aspect_ratio: bool = False
    pad_to_aspect_ratio: bool = False
    fill_mode: Annotated[str, one_of("constant")] = "constant"
    fill_value: float = 0.0
    antialias: bool = False

    rank = 2

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.crop_to_aspect_ratio and self.pad_to_aspect_ratio:
            raise ValueError(
                f"Resizing {self.name!r}: crop_to_aspect_ratio and pad_to_aspect_ratio exclude each other."
            )

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        size, images = (self.height, self.width), floating(self, inputs)
        if self.pad_to_aspect_ratio:
            height, width = images.shape[2:]
            rows = max(width * self.height // self.width - height, 0) // 2
            columns = max(height * self.width // self.height - width, 0) // 2
            images = F.pad(images, (columns, columns, rows, rows), value=self.fill_value)
        found = (fitted if self.crop_to_aspect_ratio else interpolated)(
            images, size, self.interpolation, self.antialias
        )
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
        images = floating(self, inputs)
        top, left = (images.shape[2] - self.height) // 2, (images.shape[3] - self.width) // 2
        if top < 0 or left < 0:
            return fitted(images, (self.height, self.width))
        return images[:, :, top : top + self.height, left : left + self.width]


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
    keeps_shape = True

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.adapts != (self.variance is None) or np.shape(self.mean) != np.shape(self.variance):
            raise ValueError(
                f"Normalization {self.name!r}: mean and variance go together, of one shape; "
                f"found {self.mean!r} and {self.variance!r}."
            )

    @property
    def adapts(self) -> bool:
        """Whether mean and variance are weights."""
        return self.mean is None

    def make(self, input_shape: Any) -> None:
        self.input_ndim = ndim = len(input_shape)
        if not all(-ndim <= axis < ndim for axis in self.axis or ()):
            raise ValueError(f"axis {self.axis} is not one of the input {tuple(input_shape)}.")
        self._kept = sorted(axis % ndim for axis in self.axis or ())
        sizes = [self.known(input_shape, axis) for axis in self._kept]
        self._broadcast = [input_shape[axis] if axis in self._kept else 1 for axis in range(ndim)]
        shape = np.shape(self.mean)
        pairs = zip(shape[::-1], sizes[::-1], strict=False)
        if len(shape) > len(sizes) or any(given not in (1, size) for given, size in pairs):
            raise ValueError(f"mean of shape {shape} does not fit axis {self.axis}, of size {tuple(sizes)}.")
        for name, value in (("_mean", self.mean), ("_variance", self.variance)):
            if self.adapts:
                self.register_buffer(name, torch.empty(sizes))
            else:
                set_constant(self, name, np.broadcast_to(value, sizes).tolist())
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


def encoded(
    indices: torch.Tensor, mode: str, depth: int, dtype: torch.dtype, weights: torch.Tensor | None = None
) -> torch.Tensor:
    """Indices as vectors `depth` long, where a negative one counts for nothing.

    'one_hot': a vector for each index (a last axis of 1 goes away). Else one for all those along axis 1, or along the
    only axis: 'multi_hot' marks them, 'count' adds them up, or their weights.
    """
    places = torch.atleast_1d(indices.long()).clamp(min=-1) + 1  # at 0 what does not count
    if mode == "one_hot":
        places = (places.squeeze(-1) if places.dim() > 1 else places).unsqueeze(-1)
    elif places.dim() > 1:
        places, weights = places.movedim(1, -1), None if weights is None else weights.movedim(1, -1)
    found = torch.zeros((*places.shape[:-1], depth + 1), dtype=dtype, device=places.device)
    if mode != "count":
        return found.scatter_(-1, places, 1.0)[..., 1:]
    return found.scatter_add_(
        -1, places, torch.ones_like(places, dtype=dtype) if weights is None else weights.to(dtype)
    )[..., 1:]


class CategoryEncoding(Layer):
    """Integers from 0 up to, not including, `num_tokens` as vectors; a negative one counts for nothing.

    `output_mode`: 'one_hot': a vector for each; 'multi_hot': one that marks all of a sample, those along axis 1;
    'count': one that counts them, each as much as the call's `count_weights`, of the inputs' shape, say.

    Shape: (batch, ...) -> (batch, ..., num_tokens) for 'one_hot', where a last axis of 1 goes away, and
    (batch, n, ...) -> (batch, ..., num_tokens) for the others.
    """

    num_tokens: Positive = None
    output_mode: Annotated[str, one_of("multi_hot", "one_hot", "count")] = "multi_hot"
    sparse: NotSparse = False

    def __call__(self, inputs: Any, count_weights: Any = None) -> Any:
        """The vectors; `count_weights`, symbolic or not, become a second input."""
        return super().__call__(inputs if count_weights is None else [inputs, count_weights])

    def forward(self, inputs: Any) -> torch.Tensor:
        indices, weights = inputs if isinstance(inputs, (list, tuple)) else (inputs, None)
        if weights is not None and (self.output_mode != "count" or weights.shape != indices.shape):
            raise ValueError(
                f"CategoryEncoding {self.name!r}: count_weights need output_mode 'count' and the shape of the inputs, "
                f"{tuple(indices.shape)}; found {self.output_mode!r} and {tuple(weights.shape)}."
            )
        return encoded(indices, self.output_mode, self.num_tokens, dtype_of(self.dtype), weights)


class Discretization(Layer):
    """The index of the bin that x lies in: how many of `bin_boundaries` are not above x.

    `num_bins`: so many bins instead, with about the same share of the data that `adapt` is given, to a precision of
    `epsilon`. `output_mode`: 'int' for the index (int32), or a vector as of `CategoryEncoding`.

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
        if (self.bin_boundaries is None) == (self.num_bins is None):
            raise ValueError(f"Discretization {self.name!r}: give bin_boundaries or num_bins, and not both.")
        self._set(self.bin_boundaries)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Layer:
        """A new layer; with `num_bins` its boundaries are those that `adapt` found."""
        layer = cls(**{**config, "bin_boundaries": None} if config.get("num_bins") else config)
        layer._set(config.get("bin_boundaries"))
        return layer

    def _set(self, boundaries: list[float] | None) -> None:
        self.bin_boundaries = boundaries
        set_constant(self, "_boundaries", boundaries or [])

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Find boundaries, in `steps` batches at most. Raises ValueError when they are given, and for no data."""
        if self.num_bins is None:
            raise ValueError(f"Discretization {self.name!r}: adapt has nothing to find, bin_boundaries are given.")
        summary = np.zeros((2, 0), "float32")
        for batch in batches_in(data, steps):
            values = np.sort(array(batch).astype("float32"), axis=None)
            step = max(values.size * self.epsilon, 1)
            kept = values[int(step - 1) :: int(step)]
            both = np.concatenate((np.stack((kept, np.full_like(kept, step))), summary), 1)
            summary = _thinned(both[:, np.argsort(both[0])], self.epsilon)
        if not summary.size:
            raise ValueError(f"Discretization {self.name!r}: adapt was given no data.")
        self._set(_thinned(summary, 1 / self.num_bins)[0, :-1].tolist())

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.bin_boundaries is None and not inputs.is_meta:
            raise ValueError(f"Discretization {self.name!r}: there are no boundaries yet; call adapt.")
        values = inputs.to(self._boundaries.dtype).contiguous()  # bucketize warns of a view
        bins = torch.bucketize(values, self._boundaries, right=True, out_int32=True)
        depth = self.num_bins if self.bin_boundaries is None else len(self.bin_boundaries) + 1
        return bins if self.output_mode == "int" else encoded(bins, self.output_mode, depth, values.dtype)


def _thinned(summary: np.ndarray, epsilon: float) -> np.ndarray:
    """Values in order, and below each how many it stands for: the same distribution told by 1 / epsilon of them."""
    if summary.shape[1] * epsilon < 1:
        return summary
    counts = summary[1].cumsum()
    wanted = epsilon + np.arange(0, 1, epsilon)
    values, below = (np.interp(wanted, counts / counts[-1], known) for known in (summary[0], counts))
    return np.stack((values, np.diff(below, prepend=0))).astype("float32")

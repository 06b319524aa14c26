"""What layers that prepare images for training share: images with their labels and masks, and their random numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from torchkeras.base.dtypes import dtype_of
from torchkeras.base.nested import Symbolic
from torchkeras.base.rules import is_number, rule
from torchkeras.base.torch_versions import in_eager_mode
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.facts import Facts
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.layers.image_preprocessing import Images, floating

_torch: Any = torch  # its types lack `_standard_gamma`

VALUE_RANGE = rule(
    "must be two numbers, the lower first",
    lambda v: len(v) == 2 and all(map(is_number, v)) and v[0] < v[1],
    tuple,  # which is again one when a config comes back with a list
    takes="Sequence[float]",
)


def precise(images: Tensor) -> Tensor:
    """Images in single precision at least."""
    return images.to(torch.promote_types(images.dtype, torch.float32))


def rescaled(images: Tensor, old: Sequence[float], new: Sequence[float]) -> Tensor:
    """Images whose values from `old[0]` to `old[1]` become those from `new[0]` to `new[1]`."""
    if tuple(old) == tuple(new):
        return images
    return (images - old[0]) / (old[1] - old[0]) * (new[1] - new[0]) + new[0]


class Draws:
    """Random numbers for a batch of images, from a generator or, where that is None, from torch's own."""

    def __init__(self, images: Tensor, generator: torch.Generator | None):
        self.images, self.generator = images, generator
        self._like = {"dtype": torch.promote_types(images.dtype, torch.float32), "device": images.device}

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        return torch.rand(shape, **self._like, generator=self.generator).mul_(high - low).add_(low)

    def each(self, low: float, high: float) -> Tensor:
        """A number for each image, uniform from `low` to `high`, of shape (batch, 1, 1, 1)."""
        return self.uniform(low, high, len(self.images), 1, 1, 1)

    def chance(self, low: float, high: float) -> Tensor:
        """A boolean for each image: True with a probability that is drawn for it from `low` to `high`."""
        probability = self.each(low, high)
        return self.each(0, 1) < probability

    def sign(self) -> Tensor:
        """1 or -1 for each image."""
        return (self.each(0, 1) <= 0.5) * 2 - 1

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(shape, **self._like, generator=self.generator)

    def beta(self, alpha: Any, *shape: int) -> Tensor:
        """Numbers from 0 to 1 of the beta distribution with both parameters `alpha`."""
        return (self._log_gamma(alpha, *shape) - self._log_gamma(alpha, *shape)).sigmoid()

    def shares(self, alpha: float, count: int) -> Tensor:
        """Numbers with the sum 1, of the Dirichlet distribution with all parameters `alpha`."""
        return self._log_gamma(alpha, count).softmax(0)

    def _log_gamma(self, alpha: Any, *shape: int) -> Tensor:
        """Logarithms of numbers of the gamma distribution, which would be 0 themselves where `alpha` is small."""
        parameters = torch.zeros(shape, **self._like) + alpha
        larger = _torch._standard_gamma(parameters + 1, generator=self.generator)
        return larger.log() + torch.log1p(-self.uniform(0, 1, *shape)) / parameters

    def rectangle(self, height: Tensor, width: Tensor) -> tuple[Tensor, Tensor]:
        """Where a rectangle is in each image, and its share of the area; the sides are shares, (batch, 1, 1, 1)."""
        inside: Any = True
        for axis, share in ((2, height), (3, width)):
            size = self.images.shape[axis]
            place = torch.arange(size, **self._like).view(*[-1 if k == axis else 1 for k in range(4)])
            start = self.each(0, 1) * (size - share * size)
            inside = inside & (place >= start) & (place < start + share * size)
        return inside, height * width

    def order(self) -> Tensor:
        """The indices of the images in random order."""
        return self.uniform(0, 1, len(self.images)).argsort()

    def choices(self, count: int, below: int) -> list[int]:
        """Integers from 0 to `below` - 1. The host waits for them; where there are no values, they are 0."""
        if self.images.is_meta:
            return [0] * count
        return self.uniform(0, below, count).long().clamp(max=below - 1).tolist()


class ImageLayer(Images, abstract=True):
    """The base of layers that change images: `_changed` computes on floating-point images, channels first.

    A call also takes a single image, and a dict: its `images`, and the `labels` and `segmentation_masks` of these, are
    changed by the same random numbers; what else is in it stays as it is.
    """

    _always: ClassVar[bool] = False  # whether it changes images outside of training too
    _waits: ClassVar[bool] = False  # whether the host reads its random numbers, which would be compiled one by one

    class _Facts(Facts):
        def shape_from(self, input_shape: Shape) -> Shape:
            return input_shape

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute on a batch of images, on a single image, or on a dict with images."""
        if isinstance(inputs, Mapping):
            return self._of_samples(inputs, *args, **kwargs)
        return super().__call__(inputs, *args, **kwargs)

    def forward(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        images = floating(self, inputs)
        if not self._changes(training):
            return self._unchanged(images)
        change = _changed_in_eager_mode if self._waits and is_compiling() else _changed
        return change(self, images)

    def _changes(self, training: bool | None) -> bool:
        return self._always or bool(self.training if training is None else training)

    # What a layer defines: the random numbers of a call, and how they change images, labels and masks.

    def _drawn(self, draws: Draws) -> Any:
        return None

    def _changed(self, images: Tensor, numbers: Any) -> Tensor:
        raise NotImplementedError

    def _changed_labels(self, labels: Tensor, numbers: Any) -> Tensor:
        return labels

    def _changed_masks(self, masks: Tensor, numbers: Any) -> Tensor:
        return masks

    def _unchanged(self, images: Tensor) -> Tensor:
        return images

    def _unchanged_masks(self, masks: Tensor) -> Tensor:
        return masks

    def _draws(self, images: Tensor) -> Draws:
        return Draws(images, None)

    # --- images with what belongs to them ----------------------------------------------------------------------------

    def _of_samples(self, samples: Mapping[str, Any], training: bool | None = None) -> dict[str, Any]:
        """A new dict in which the images, and their labels and masks, are changed."""
        _check_samples(self, samples)
        given = {name: self._as_tensor(samples[name]) for name in (IMAGES, LABELS, MASKS) if name in samples}
        single = given[IMAGES].dim() == self.rank + 1
        if single:
            given = {name: value.unsqueeze(0) for name, value in given.items()}
        self._build([(None, *given[IMAGES].shape[1:])])
        found = self._changed_samples(given, self._changes(training))
        return {**samples, **{name: value.squeeze(0) if single else value for name, value in found.items()}}

    def _as_tensor(self, value: Any) -> Tensor:
        if isinstance(value, Tensor):
            return value
        found = torch.as_tensor(value)
        return found.to(dtype_of(self.compute_dtype)) if found.is_floating_point() else found

    def _changed_samples(self, given: Mapping[str, Tensor], changes: bool) -> dict[str, Tensor]:
        images = floating(self, self._channels_first(given[IMAGES]))
        images = images.to(dtype_of(self.compute_dtype)) if self._tells_policy else images
        numbers = self._drawn(self._draws(images)) if changes else None
        found = dict(given)
        changed = self._changed(images, numbers).to(images.dtype) if changes else self._unchanged(images)
        found[IMAGES] = self._as_given(changed)
        if changes and LABELS in given:
            found[LABELS] = self._changed_labels(given[LABELS], numbers)
        if MASKS in given:
            masks = self._channels_first(given[MASKS])
            found[MASKS] = self._as_given(
                self._changed_masks(masks, numbers) if changes else self._unchanged_masks(masks)
            )
        return found

    def _channels_first(self, images: Tensor) -> Tensor:
        if images.dim() != self.rank + 2:
            wanted = "(batch, height, width, channels), or without the batch as images are"
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: {MASKS} must be {wanted}; found {images.dim()} axes."
            )
        return images.movedim(-1, 1) if self.data_format == "channels_last" else images

    def _as_given(self, images: Tensor) -> Tensor:
        return images.movedim(1, -1) if self.data_format == "channels_last" else images


def _changed(layer: ImageLayer, images: Tensor) -> Tensor:
    return layer._changed(images, layer._drawn(layer._draws(images))).to(images.dtype)


_changed_in_eager_mode = in_eager_mode(_changed)

IMAGES, LABELS, MASKS, BOXES = "images", "labels", "segmentation_masks", "bounding_boxes"


def _check_samples(layer: ImageLayer, samples: Mapping[str, Any]) -> None:
    """Raise ValueError for a dict without images, with bounding boxes, or of symbolic tensors."""
    name = f"{type(layer).__name__} {layer.name!r}"
    if IMAGES not in samples:
        raise ValueError(f"{name}: a dict must have {IMAGES!r}; found the keys {list(samples)}.")
    if BOXES in samples:
        raise ValueError(
            f"{name}: {BOXES!r} are not changed here: torchvision.transforms.v2 changes images and boxes together."
        )
    if any(isinstance(value, Symbolic) for value in samples.values()):
        raise ValueError(f"{name}: a dict must hold tensors with values; in a model pass the images alone.")

"""What the networks for images share: their options, their input, their top and the files of their weights."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchkeras import config
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras3 import activations, dialect
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    BatchNormalization,
    Dense,
    GlobalAveragePooling2D,
    GlobalMaxPooling2D,
    Input,
)
from torchkeras.keras3.models import Model
from torchkeras.keras3.utils.files import get_file
from torchkeras.keras3.utils.graphs import get_source_inputs

IMAGENET = "imagenet"
CLASSES = 1000  # of ImageNet
FILES = "https://storage.googleapis.com/tensorflow/keras-applications"

OPTIONS = """
        include_top (bool, default True): whether the layers that classify are at the end.
        weights ("imagenet", path or None, default "imagenet"): the weights: those trained on ImageNet, which are
            downloaded once; those of a file; None draws them.
        input_tensor (symbolic tensor or None, default None): what the network is computed from; None makes an `Input`.
        input_shape (tuple of three integers, default None): the shape of an image. None is that of the images that the
            network was made for; without the top, images of any size.
        pooling ("avg", "max" or None, default None): without the top: how each channel becomes a number.
        classes (positive integer, default 1000): with the top: how many classes there are.
        classifier_activation (name, function or None, default "softmax"): with the top: the last activation."""

PAGE = """{title}.

    Arguments:{options}{more}
        name (text, default {name!r}): the name of the model.

    Returns:
        A `Model`.

    Errors:
        ValueError: an option has a bad value, or the weights are for another shape or number of classes.

    Example:
        >>> model = {function}(weights=None, include_top=False, pooling="avg")
        >>> model.name
        {example!r}

    Source: https://keras.io/api/applications/, {paper}
    """


def page(function: Callable[..., Any], title: str, paper: str, name: str, more: str = "", example: str = "") -> Any:
    """The function of a network with its page of the manual.

    Arguments:
        function (function): that makes the network.
        title (text): the first line.
        paper (text): where the network was published.
        name (text): the default of its option `name`.
        more (text): the lines of further options.
        example (text, default `name`): the name of the model of the example.
    """
    function.__doc__ = PAGE.format(
        title=title,
        options=OPTIONS,
        more=more,
        name=name,
        paper=paper,
        function=function.__name__,
        example=example or name,
    )
    return function


def usual(function: str, title: str, paper: str, name: str, build: Callable[[Options], Model]) -> Callable[..., Model]:
    """A public function with the options that every network has, from what makes the model."""

    def network(
        include_top: bool = True,
        weights: Any = IMAGENET,
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = CLASSES,
        classifier_activation: Any = "softmax",
        name: str = name,
    ) -> Model:
        given = include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name
        return build(Options(function, *given))

    network.__name__ = network.__qualname__ = function
    return page(network, title, paper, name)


def within(module: str) -> Callable[[Any], Any]:
    """Make files know a layer of a network: `module` is the one of Keras that has its code."""

    def known(layer: Any) -> Any:
        layer._keras3_module = f"keras.src.applications.{module}"
        dialect.WITHIN_NETWORKS[layer.__name__] = dialect.CLASSES[layer] = layer
        return layer

    return known


def channel_axis() -> int:
    """The axis of the channels, by `image_data_format`."""
    return 1 if config.image_data_format() == "channels_first" else 3


def normalized(x: Any, name: str | None = None, **options: Any) -> Any:
    """`BatchNormalization` of the channels."""
    return BatchNormalization(axis=channel_axis(), name=name, **options)(x)


def multiple(number: float, of: int = 8, at_most_a_tenth_less: bool = True) -> int:
    """The multiple nearest to a number of filters, at least one."""
    found = max(of, int(number + of / 2) // of * of)
    return found + of if at_most_a_tenth_less and found < 0.9 * number else found


def padding_before(x: Any, kernel_size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The zeros around the rows and columns with which a "valid" window of stride 2 does as "same" does."""
    first = channel_axis() - 3  # -2 or 0: from the axis of the rows to the channels
    sizes = x.shape[2:4] if first else x.shape[1:3]
    half = kernel_size // 2
    even = [1, 1] if sizes[0] is None else [1 - size % 2 for size in sizes]
    return (half - even[0], half), (half - even[1], half)


@dataclass(frozen=True)
class File:
    """The files of a network's ImageNet weights.

    Fields:
        folder (text): the address of their folder.
        name (text): the name of that with the top.
        name_without_top (text): that without.
        hashes (two texts, or None): of the two.
        kept_as (two texts, or None): their names in the folder of downloads; None is the same.
    """

    folder: str
    name: str
    name_without_top: str
    hashes: tuple[str, str] | None = None
    kept_as: tuple[str, str] | None = None

    def path(self, include_top: bool) -> str:
        """The file, downloaded unless it is there."""
        names = self.name, self.name_without_top
        which = 0 if include_top else 1
        kept_as = (self.kept_as or names)[which]
        file_hash = self.hashes[which] if self.hashes else None
        return get_file(kept_as, f"{self.folder}/{names[which]}", cache_subdir="models", file_hash=file_hash)


def kernels_file(name: str, hashes: tuple[str, str], folder: str | None = None) -> File:
    """The files of most networks."""
    stem = f"{name}_weights_tf_dim_ordering_tf_kernels"
    return File(f"{FILES}/{folder or name}", f"{stem}.h5", f"{stem}_notop.h5", hashes)


@dataclass(frozen=True)
class Options:
    """The options that every network has; `function` is the name of the function that they were passed to."""

    function: str
    include_top: bool
    weights: Any
    input_tensor: Any
    input_shape: Any
    pooling: str | None
    classes: int
    classifier_activation: Any
    name: str | None

    def __post_init__(self) -> None:
        if self.weights not in (None, IMAGENET) and not os.path.exists(self.weights):
            self.refuse("weights", self.weights, f"must be None, {IMAGENET!r} or the path of a file")
        if self.is_imagenet and self.include_top and self.classes != CLASSES:
            self.refuse("classes", self.classes, f"must be {CLASSES} with the top and the weights {IMAGENET!r}")
        if self.include_top and self.weights is not None and self._activation not in ("softmax", "linear"):
            self.refuse("classifier_activation", self.classifier_activation, "must be 'softmax' or None with weights")
        if self.input_tensor is not None and not isinstance(self.input_tensor, KerasTensor):
            self.refuse("input_tensor", type(self.input_tensor).__name__, "must be a symbolic tensor, as of Input")

    @property
    def is_imagenet(self) -> bool:
        """Whether the weights are those of ImageNet."""
        return isinstance(self.weights, str) and self.weights == IMAGENET

    @property
    def _activation(self) -> str | None:
        return getattr(activations.get(self.classifier_activation), "__name__", None)

    def refuse(self, option: str, found: Any, rule: str) -> None:
        """Raise ValueError for the value of an option."""
        raise ValueError(f"{self.function}: {option} {rule}; found {found!r}.")

    def check_channels_last(self) -> None:
        """Refuse images whose channels come first."""
        if config.image_data_format() == "channels_first":
            rule = "must be 'channels_last' for this network: keras.config.set_image_data_format"
            self.refuse("image_data_format", "channels_first", rule)

    def shape(self, size: int, least: int) -> tuple[int | None, ...]:
        """The shape of an image.

        Arguments:
            size (integer): the rows and columns that the network was made for.
            least (integer): the fewest that it can take.
        """
        first = config.image_data_format() == "channels_first"
        given = None if self.input_shape is None else tuple(self.input_shape)
        if given is None:
            given = self._shaped(3, size if self.include_top else None)
        if len(given) != 3:
            self.refuse("input_shape", self.input_shape, "must have three sizes")
        channels, sizes = (given[0], given[1:]) if first else (given[2], given[:2])
        if self.is_imagenet and self.include_top and given != self._shaped(3, size):
            self.refuse(
                "input_shape", self.input_shape, f"must be {self._shaped(3, size)} with the top and {IMAGENET!r}"
            )
        if self.is_imagenet and channels != 3:
            self.refuse("input_shape", self.input_shape, f"must have 3 channels with the weights {IMAGENET!r}")
        if channels not in (1, 3):
            warnings.warn(f"{self.function}: images have 1 or 3 channels; found {channels}.", stacklevel=5)
        if any(each is not None and each < least for each in sizes):
            self.refuse("input_shape", self.input_shape, f"must have at least {least} rows and columns")
        if self.include_top and None in given:
            self.refuse("input_shape", self.input_shape, "must be known with include_top=True")
        return given

    @staticmethod
    def _shaped(channels: int, size: int | None) -> tuple[int | None, ...]:
        return (channels, size, size) if config.image_data_format() == "channels_first" else (size, size, channels)

    def input(self, size: int, least: int) -> Any:
        """The symbolic tensor that the network is computed from; `size` and `least` as for `shape`."""
        return self.input_of(self.shape(size, least))

    def input_of(self, shape: tuple[int | None, ...]) -> Any:
        """The symbolic tensor of a shape, or `input_tensor`."""
        return Input(shape) if self.input_tensor is None else self.input_tensor

    def pooled(self, x: Any, named: bool = False) -> Any:
        """The features without the top; `named`: whether the layer has a name of its own."""
        if self.pooling == "avg":
            return GlobalAveragePooling2D(name="avg_pool" if named else None)(x)
        if self.pooling == "max":
            return GlobalMaxPooling2D(name="max_pool" if named else None)(x)
        return x

    def classified(self, x: Any, **options: Any) -> Any:
        """The last layer, from features to classes."""
        return Dense(self.classes, activation=self.classifier_activation, name="predictions", **options)(x)

    def ended(self, x: Any, named: bool = False) -> Any:
        """The top of most networks, or the features; `named`: whether the pooling without the top has a name."""
        if self.include_top:
            return self.classified(GlobalAveragePooling2D(name="avg_pool")(x))
        return self.pooled(x, named)

    def model(self, inputs: Any, x: Any, file: File | None, name: str | None = None) -> Model:
        """The model with its weights.

        Arguments:
            inputs (symbolic tensor): what `input` returned.
            x (symbolic tensor): the output.
            file (File or None): where ImageNet's weights are; None if there are none.
            name (text or None): the name of a model without one of its own.
        """
        sources = inputs if self.input_tensor is None else get_source_inputs(self.input_tensor)
        made = Model(sources, x, name=self.name or name)
        if self.is_imagenet and file is None:
            self.refuse("weights", self.weights, "must be None or a path: there are none of ImageNet")
        elif self.is_imagenet:
            assert file is not None
            made.load_weights(file.path(self.include_top))
        elif self.weights is not None:
            made.load_weights(self.weights)
        return made

"""Layers that make one tensor of several: elementwise ones, Concatenate and Dot, and a function for each."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import torch
import torch.nn.functional as F

from torchkeras.base.python import first
from torchkeras.base.rules import INTEGERS, is_integer, rule
from torchkeras.base.tracing import fold
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.layers.elementwise import Elementwise, Extreme, Masked, check_masks, checked_list, merged_mask


class Add(Elementwise):
    """The sum of the inputs, value by value.

    The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
    True where the masks of all inputs are.

    Shapes:
        a list of (batch, ...) -> (batch, ...)

    Errors:
        ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

    Example:
        >>> Add()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
        tensor([[4., 9.]])
    """

    _function = torch.add

    class _Facts(Facts):
        def in_place(self) -> Callable[..., torch.Tensor] | None:
            return self.layer._into_first if self.layer._same_rank else None

    def _into_first(self, inputs: Any) -> torch.Tensor:
        """The sum, written over the first input if all inputs have its shape and type."""
        first, *others = inputs
        if any(other.shape != first.shape or other.dtype != first.dtype for other in others):
            return self.forward(inputs)
        return fold(torch.Tensor.add_, inputs)


class Subtract(Elementwise):
    """The first of two inputs minus the second, value by value.

    The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
    True where the masks of all inputs are.

    Shapes:
        [(batch, ...), (batch, ...)] -> (batch, ...)

    Errors:
        ValueError: unless there are two inputs, and for shapes that cannot be broadcast.

    Example:
        >>> Subtract()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
        tensor([[-2.,  1.]])
    """

    _function = torch.sub
    _inputs_exactly = 2


class Multiply(Masked):
    """The product of the inputs, value by value.

    The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
    True where the masks of all inputs are.

    Shapes:
        a list of (batch, ...) -> (batch, ...)

    Errors:
        ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

    Example:
        >>> Multiply()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
        tensor([[ 3., 20.]])
    """

    _function = torch.mul

    def _of_masked(self, inputs: Any, masks: list[torch.Tensor], all_have: bool) -> torch.Tensor:
        """The product of the inputs that are not masked; where all are masked, 0."""
        product = super(Masked, self).forward([torch.where(m, x, 1.0) for m, x in zip(masks, inputs, strict=True)])
        return torch.where(fold(torch.logical_or, masks), product, 0.0) if all_have else product


class Average(Elementwise):
    """The mean of the inputs, value by value.

    The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
    True where the masks of all inputs are.

    Shapes:
        a list of (batch, ...) -> (batch, ...)

    Errors:
        ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

    Example:
        >>> Average()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
        tensor([[2.0000, 4.5000]])
    """

    _function = torch.add

    def forward(self, inputs: Any) -> torch.Tensor:
        return super().forward(inputs) / len(inputs)


class Maximum(Extreme):
    """The largest of the inputs, value by value.

    The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
    True where the masks of all inputs are.

    Shapes:
        a list of (batch, ...) -> (batch, ...)

    Errors:
        ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

    Example:
        >>> Maximum()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
        tensor([[3., 5.]])
    """

    _function = torch.maximum


class Minimum(Extreme):
    """The smallest of the inputs, value by value.

    The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
    True where the masks of all inputs are.

    Shapes:
        a list of (batch, ...) -> (batch, ...)

    Errors:
        ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

    Example:
        >>> Minimum()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
        tensor([[1., 4.]])
    """

    _function = torch.minimum


class Concatenate(Layer):
    """The inputs one after the other along an axis.

    Masks are concatenated as well where they have the axis, that is along the batch or the time axis. Along another
    axis the mask of the output is True where the masks of all inputs are.

    Options:
        axis (integer, default -1): the axis to concatenate along; the batch axis is 0.
        any_mask (bool, default False): whether masks are combined as in Keras 3; models from its files have it set.
            Along any other axis the mask of the output is then True where any of the masks is, and there is none unless
            every input has one.

    Shapes:
        a list of (batch, ..., size, ...) -> (batch, ..., sum of sizes, ...)

    Errors:
        ValueError: for fewer than two inputs, and for shapes that differ at another axis.

    Example:
        >>> Concatenate()([torch.zeros(2, 3), torch.zeros(2, 4)]).shape
        torch.Size([2, 7])
    """

    axis: int = -1
    any_mask: Annotated[bool, NEWER] = False

    supports_masking = True

    class _Facts(Facts):
        native_layout = Layout.AXIS

    def _make_modules(self, input_shape: Any) -> None:
        shapes = checked_list(input_shape)
        if not all(-len(shape) <= self.axis < len(shape) for shape in shapes):
            raise ValueError(f"axis {self.axis} is not an axis of all inputs; found the shapes {shapes}.")
        others = {tuple(size for k, size in enumerate(shape) if k != self.axis % len(shape)) for shape in shapes}
        if len(others) > 1:
            raise ValueError(
                f"the inputs must have matching shapes except for axis {self.axis}; found the shapes {shapes}."
            )

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        checked_list(inputs)
        return super()._infer_outputs(inputs, masks, arguments)

    def forward(self, inputs: Any, axis: int | None = None) -> torch.Tensor:
        return torch.cat(tuple(inputs), self.axis if axis is None else axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks concatenated along the batch or time axis, else combined; None when no input has a mask."""
        check_masks(inputs, mask)
        axis = self.axis % inputs[0].dim()
        known = first((item for item in mask or [] if item is not None), None)
        if known is None or axis >= known.dim():
            return merged_mask(mask, self.any_mask)
        full = [
            tensor.new_ones(tensor.shape[: known.dim()], dtype=torch.bool) if item is None else item
            for tensor, item in zip(inputs, mask, strict=True)
        ]
        return torch.cat(full, axis)


def _are_axes(value: Any) -> bool:
    return is_integer(value) or (isinstance(value, (tuple, list)) and len(value) == 2 and all(map(is_integer, value)))


class Dot(Layer):
    """The sum of products along one axis of each of two inputs, sample by sample.

    The output has no mask.

    Options:
        axes (integer or two integers): the axis of both inputs, or one for each; it cannot be 0, the batch axis.
        normalize (bool, default False): whether both inputs are first divided by their length along these axes; the
            result is then the cosine.

    Shapes:
        [(batch, *a, n), (batch, n, *b)] -> (batch, *a, *b)
        [(batch, n), (batch, n)] -> (batch, 1)

    Errors:
        ValueError: unless there are two inputs, for an axis that an input lacks, and for axes of different sizes.

    Example:
        >>> Dot(axes=1)([torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])])
        tensor([[11.]])
    """

    axes: Annotated[
        Any, rule("must be an integer or two integers", _are_axes, lambda v: v if is_integer(v) else tuple(v), INTEGERS)
    ]
    normalize: bool = False

    def _make_modules(self, input_shape: Any) -> None:
        shapes = checked_list(input_shape, 2)
        self._axes = self.axes if isinstance(self.axes, tuple) else (self.axes,) * 2
        if not all(
            axis != 0 and -len(shape) < axis < len(shape) for axis, shape in zip(self._axes, shapes, strict=True)
        ):
            raise ValueError(f"axes {self.axes} must each lie after the batch axis of inputs {shapes}.")
        first, second = (shape[axis] for axis, shape in zip(self._axes, shapes, strict=True))
        if first != second:
            raise ValueError(
                f"dimension incompatibility {first} != {second} along axes {self.axes} of inputs {shapes}."
            )

    def forward(self, inputs: Any) -> torch.Tensor:
        first, second = inputs[0].movedim(self._axes[0], -1), inputs[1].movedim(self._axes[1], 1)
        if self.normalize:
            # The length is at least 1e-6, TensorFlow's sqrt(1e-12).
            first, second = F.normalize(first, dim=-1, eps=1e-6), F.normalize(second, dim=1, eps=1e-6)
        return batch_dot(first, second)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """None: the output has no mask."""
        return None


def batch_dot(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """The sum of products over the last axis of `first` and axis 1 of `second`: (b, *m, n), (b, n, *k) -> (b, *m, *k).

    (b, n), (b, n) -> (b, 1).
    """
    rest = (*first.shape[1:-1], *second.shape[2:]) or (1,)
    product = torch.bmm(first.unsqueeze(1).flatten(1, -2), second.unsqueeze(-1).flatten(2))
    return product.reshape(product.shape[0], *rest)


def _functional(layer: type[Layer]) -> Callable[..., Any]:
    """The function that makes a layer of the class and calls it on its inputs."""

    def merged(inputs: Any, **layer_options: Any) -> Any:
        return layer(**layer_options)(inputs)

    kind, name = layer.__name__, layer.__name__.lower()
    merged.__name__ = merged.__qualname__ = name
    merged.__doc__ = f"""`{kind}(**layer_options)(inputs)`.

    Arguments:
        inputs (list of tensors): symbolic or real ones, as `{kind}` takes them.
        layer_options (by name): the options of every layer, such as `name`.

    Example:
        >>> {name}([torch.zeros(2, 3), torch.zeros(2, 3)]).shape
        torch.Size([2, 3])
    """
    return merged


add, subtract, multiply = map(_functional, (Add, Subtract, Multiply))
average, maximum, minimum = map(_functional, (Average, Maximum, Minimum))


def concatenate(inputs: Any, axis: int = -1, **layer_options: Any) -> Any:
    """`Concatenate(axis, **layer_options)(inputs)`.

    Arguments:
        inputs (list of tensors): symbolic or real ones.
        axis (integer, default -1): the axis to concatenate along; the batch axis is 0.
        layer_options (by name): the options of every layer, such as `name`.

    Example:
        >>> concatenate([torch.zeros(2, 3), torch.zeros(2, 4)]).shape
        torch.Size([2, 7])
    """
    return Concatenate(axis, **layer_options)(inputs)


def dot(inputs: Any, axes: Any, normalize: bool = False, **layer_options: Any) -> Any:
    """`Dot(axes, normalize, **layer_options)(inputs)`.

    Arguments:
        inputs (list of two tensors): symbolic or real ones.
        axes (integer or two integers): the axis of both inputs, or one for each.
        normalize (bool, default False): whether both inputs are first divided by their length along these axes.
        layer_options (by name): the options of every layer, such as `name`.

    Example:
        >>> dot([torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])], axes=1)
        tensor([[11.]])
    """
    return Dot(axes, normalize, **layer_options)(inputs)

"""What layers of several inputs share: inputs of one shape, value by value, and their masks.

A mask of several inputs is Keras 2's, where all are True, or with `any_mask` Keras 3's, where any is; there some layers
leave masked values out.
"""

from collections.abc import Callable
from itertools import zip_longest
from typing import Annotated, Any, ClassVar

import torch

from torchkeras.base.rules import is_integer
from torchkeras.base.tracing import fold
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import Shape


def checked_list(input_shape: Any, exactly: int | None = None) -> list[Shape]:
    """The shapes of several inputs. Raises ValueError for fewer than two, or another number than `exactly`."""
    is_one = not isinstance(input_shape, list) and all(size is None or is_integer(size) for size in input_shape)
    shapes: Any = [input_shape] if is_one else list(input_shape)
    if len(shapes) < 2 or len(shapes) != (exactly or len(shapes)):
        wanted = f"exactly {exactly}" if exactly else "at least 2"
        raise ValueError(f"must be called on a list of {wanted} inputs; found {len(shapes)}.")
    return shapes


def check_masks(inputs: Any, mask: Any) -> None:
    """Raise ValueError where there are masks, and not one for each of several inputs."""
    if mask is None:
        return
    counts = [len(each) if isinstance(each, (list, tuple)) else None for each in (inputs, mask)]
    if None in counts or counts[0] != counts[1]:
        raise ValueError("compute_mask takes a list of inputs, and a list of masks with a mask or None for each.")


def merged_mask(mask: Any, any_mask: bool) -> Any:
    """True where all masks are, an input without one being True everywhere; None when no input has a mask.

    With `any_mask` True where any of the masks is; None unless every input has one.
    """
    masks = [item for item in mask or [] if item is not None]
    if not masks or (any_mask and len(masks) < len(mask)):
        return None
    return fold(torch.logical_or if any_mask else torch.logical_and, masks)


def _spread(mask: torch.Tensor | None, tensor: torch.Tensor) -> torch.Tensor:
    """A mask in the shape of the tensor that it belongs to; without one, True everywhere."""
    if mask is None:
        return tensor.new_ones((), dtype=torch.bool)
    return mask.reshape(*mask.shape, *(1,) * (tensor.dim() - mask.dim()))


def broadcast_shapes(first: Shape, second: Shape) -> Shape:
    """The shape that both broadcast to, the shorter one with axes of 1 in front. Raises ValueError if there is none."""
    pairs = list(zip_longest(reversed(first), reversed(second), fillvalue=1))
    if any(None not in pair and 1 not in pair and pair[0] != pair[1] for pair in pairs):
        raise ValueError(
            f"operands could not be broadcast together with shapes {first} and {second}. Bring them to one shape."
        )
    return tuple(None if None in pair else pair[pair[0] == 1] for pair in reversed(pairs))


class Elementwise(Layer, abstract=True):
    """A function of two inputs, then of the result and the third input, and so on.

    Options:
        any_mask (bool, default False): whether masks are combined as in Keras 3; models from its files have it set. The
            mask of the output is then True where any of the masks is, and there is none unless every input has one.
            Multiply, Maximum and Minimum then leave masked values out.
    """

    any_mask: Annotated[bool, NEWER] = False

    _function: ClassVar[Callable[..., torch.Tensor]]
    _inputs_exactly: ClassVar[int | None] = None

    supports_masking = True
    _same_rank: bool = True

    class _Facts(Facts):
        overwritable = True

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.ANY if self.layer._same_rank else Layout.KERAS

    def _make_modules(self, input_shape: Any) -> None:
        self.compute_output_shape(input_shape)
        self._same_rank = len(set(map(len, input_shape))) == 1

    def compute_output_shape(self, input_shape: Any) -> Shape:
        """The shape that all inputs broadcast to; None where the size of one is unknown."""
        checked_list(input_shape, self._inputs_exactly)
        batch_sizes = {shape[0] for shape in input_shape} - {None}
        if len(batch_sizes) > 1:
            raise ValueError(f"cannot merge tensors with different batch sizes; found the shapes {input_shape}.")
        if self.built and self._same_rank and len(set(map(len, input_shape))) > 1:
            raise ValueError(f"was first called on inputs of the same rank; found the shapes {input_shape}.")
        sizes = fold(broadcast_shapes, [tuple(shape[1:]) for shape in input_shape])
        return (*(batch_sizes or {None}), *sizes)

    def forward(self, inputs: Any) -> torch.Tensor:
        if not self._same_rank:
            rank = max(tensor.dim() for tensor in inputs)
            inputs = [tensor[(slice(None), *(None,) * (rank - tensor.dim()))] for tensor in inputs]
        return fold(type(self)._function, inputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True where the masks of all inputs are; None when no input has a mask. By `any_mask` as that option says."""
        check_masks(inputs, mask)
        return merged_mask(mask, self.any_mask)


class Masked(Elementwise, abstract=True):
    """A function that with `any_mask` leaves masked values out."""

    class _Facts(Elementwise._Facts):
        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.KERAS if self.layer._leaves_out else super().native_layout  # that of the masks

        @property
        def overwritable(self) -> bool:  # type: ignore[override]
            return not self.layer._leaves_out

    @property
    def _leaves_out(self) -> bool:
        """Whether it leaves masked values out in a graph."""
        inputs = (tensor for node in self._call_nodes for tensor in node.input_tensors)
        return self.any_mask and any(tensor.keras_mask is not None for tensor in inputs)

    def forward(self, inputs: Any, mask: Any = None) -> torch.Tensor:
        if not self.any_mask or not any(item is not None for item in mask or ()):
            return super().forward(inputs)
        return self._of_masked(inputs, [_spread(*pair) for pair in zip(mask, inputs, strict=True)], None not in mask)

    def _of_masked(self, inputs: Any, masks: list[torch.Tensor], all_have: bool) -> torch.Tensor:
        raise NotImplementedError


class Extreme(Masked, abstract=True):
    """The largest or smallest of the inputs, value by value."""

    def _of_masked(self, inputs: Any, masks: list[torch.Tensor], all_have: bool) -> torch.Tensor:
        """The function of the inputs that are not masked; where all are masked, the first input."""
        (found, *others), (seen, *rest) = inputs, masks
        for tensor, mask in zip(others, rest, strict=True):
            tensor = torch.where(mask, tensor, found)
            found = type(self)._function(torch.where(seen, found, tensor), tensor)
            seen = seen | mask
        return found

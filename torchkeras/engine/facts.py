"""What the engine asks of a layer beside what Keras and torch have: `layer._facts`, a documented field each.

A class of layers says what holds for it in a class inside its own:

    class Softplus(Layer):
        class _Facts(Facts):
            keeps_shape = True

What its bases say is joined to that by itself, in the order of the layer's bases. What is said of a `forward`
(`OF_FORWARD`) does not hold for a derived class that computes by another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Tensor

from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import Shape

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

OWN_PACKAGE = __name__.partition(".")[0]


class Facts:
    """The facts of one layer. A field may be a property where options of the layer settle it."""

    # Of the layer; the first two of its class, whatever its options.
    casts: bool = True  # floating-point inputs are cast to the layer's type
    keeps_types: bool = False  # the outputs have the types that a user's function gives them
    runs_users_code: bool = False  # what it computes is a function of the user's, which may hold tensors anywhere
    walks: bool = False  # it computes step after step along time, where torch.compile gains little
    input_ndim: int | None = None  # the number of axes of an input, when only one will do
    min_input_ndim: int | None = None
    indices: int | None = None  # its inputs are whole numbers from 0 to below this
    native_layout: Layout = Layout.KERAS  # the order of axes that the class's own `forward` works in

    # Of its `forward`.
    keeps_shape: bool = False  # the output has the shape and dtype of the (floating-point) input
    overwritable: bool = False  # the output has memory of its own, and no gradient needs its values
    commutes_with_relu: bool = False  # relu before and after it are one, gradients too, and its output is overwritable
    knows_whole_batch: bool = (
        False  # it normalizes by the batch that processes share; torch's module in it is not called
    )
    ends_in: str | None = None  # "softmax" or "sigmoid", where `logits` gives what comes before it
    product: str | None = None  # its module of a kernel and a bias, which only the activation follows
    # its modules of torch that it has compute in the right mode itself; of its class
    sets_mode_of: tuple[str, ...] = ()

    def __init__(self, layer: Layer):
        self.layer: Any = layer  # of the class that says the facts

    def says(self, name: str) -> bool:
        """Whether the layer's class says that fact, and so differs from what holds where nothing is said."""
        return getattr(type(self), name) is not getattr(Facts, name)

    @property
    def layout(self) -> Layout:
        """The order of axes that the layer's `forward` works in, a user's `call` in Keras's."""
        return Layout.KERAS if self.layer._by_call else self.native_layout

    @property
    def axis(self) -> int:
        """For `Layout.AXIS`: the axis, in Keras's order, whose place `forward` receives."""
        return self.layer.axis

    def shape_from(self, input_shape: Shape) -> Shape:
        """The output shape by arithmetic; without it, it is found by running `forward`."""
        raise NotImplementedError(f"{_what(self.layer)} says no shape of its outputs.")

    def hook_free(self) -> Callable[..., Any]:
        """What computes as `forward` does, where neither the layer nor a module inside it has a hook."""
        return self.layer.forward

    def in_place(self) -> Callable[..., Any] | None:
        """What computes as `forward` does, into its input; None when the layer cannot."""
        return None

    def before_relu(self) -> Callable[..., Any] | None:
        """What computes as `forward` does, without the relu that it ends in; None when it ends in none."""
        return None

    def logits(self, inputs: Any) -> Any:
        """What `forward` computes, without the activation that it `ends_in`."""
        raise NotImplementedError(f"{_what(self.layer)} ends in no activation of its own.")

    def affine(self) -> tuple[int, Tensor, Tensor] | None:
        """(axis, scale, shift) of a layer that now computes `scale * x + shift`, with one of each for every index of
        an axis; None when it computes something else.
        """
        return None


def facts_of(layer: Layer) -> Facts:
    """The facts of a layer. Made at each look: a copy of a layer must not ask the original."""
    return layer._joined_facts(layer)


OF_FORWARD = (
    "overwritable",
    "commutes_with_relu",
    "knows_whole_batch",
    "ends_in",
    "product",
    "sets_mode_of",
    "shape_from",
    "hook_free",
    "in_place",
    "before_relu",
    "logits",
    "affine",
)


def joined(kind: type) -> type[Facts]:
    """What a class of layers says together with its bases, less what they say of a `forward` that is not the class's.

    `keeps_shape` is a promise of this package's bases for all that derive from them here; elsewhere it is said of a
    `forward` too.
    """
    computing = next(index for index, base in enumerate(kind.__mro__) if "forward" in vars(base))
    of_forward = OF_FORWARD if is_own(kind.__mro__[computing]) else ("keeps_shape", *OF_FORWARD)
    said = [vars(base).get("_Facts") for base in kind.__mro__]
    with_forward = {name for found in said[: computing + 1] if found for name in vars(found)}
    defaults = {name: vars(Facts)[name] for name in of_forward if name not in with_forward}
    return type("Facts", (*filter(None, said), Facts), defaults)


def is_own(kind: type) -> bool:
    """Whether a class is this package's, not a user's."""
    return kind.__module__.partition(".")[0] == OWN_PACKAGE


def _what(layer: Layer) -> str:
    return f"{type(layer).__name__} {layer.name!r}"

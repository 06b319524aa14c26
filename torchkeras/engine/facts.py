"""What the engine asks of a layer beyond what Keras and torch define: `layer._facts`, a documented field each.

A class of layers states what holds for it in a class inside its own:

    class Softplus(Layer):
        class _Facts(Facts):
            keeps_shape = True

The facts of its bases are joined to these automatically, in the order of the layer's bases. The facts of a `forward`
(`OF_FORWARD`) do not hold for a derived class with another `forward`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import Shape

OWN_PACKAGE = __name__.partition(".")[0]


class Facts:
    """The facts of one layer. A field may be a property where it depends on the layer's options."""

    # Facts of the layer; the first two depend on its class alone.
    casts: bool = True  # floating-point inputs are cast to the layer's type
    keeps_tuples: bool = False  # its code gets a tuple of inputs as a tuple, also in a graph
    gives_tuples: bool = False  # a tuple of outputs is one on symbolic tensors, too; in Keras 2 it is a list
    moves: bool = False  # it moves elements and computes none: the output has the type of the input, integers too
    keeps_types: bool = False  # the outputs keep the types that a user's function returns
    runs_users_code: bool = False  # it computes a function of the user's, which may use tensors from anywhere
    operators_pass_masks: bool = True  # `a + b` of its outputs has their masks
    operators_compare: bool = True  # `a == b` of its outputs is a node, and not whether the two are one tensor
    names_operations: Callable[[Any], str] | None = None  # gives the node of a function on its outputs a name
    stores_itself: bool = False  # files ask its save_own_variables and load_own_variables for its own weights
    has_assets: bool = False  # files ask its save_assets and load_assets for files of its own
    takes_strings: bool = False  # it takes tensors of strings, see `base/texts.py`
    walks: bool = False  # it computes step after step along time, where torch.compile gains little
    input_ndim: int | None = None  # the number of axes of an input, where it is fixed
    min_input_ndim: int | None = None
    indices: int | None = None  # its first input is integers from 0 to below this
    native_layout: Layout = Layout.KERAS  # the order of axes that the class's own `forward` works in

    # Facts of its `forward`.
    keeps_shape: bool = False  # the output has the shape and dtype of the (floating-point) input
    overwritable: bool = False  # the output has memory of its own, and no gradient needs its values
    commutes_with_relu: bool = False  # relu before it equals relu after it, gradients too; the output is overwritable
    # It normalizes by the batch that the processes share; the torch module in it is not called.
    knows_whole_batch: bool = False
    computes_only: str | None = None  # "softmax" or "sigmoid", where it computes nothing else
    ends_in: str | None = None  # "softmax" or "sigmoid", whose input `logits` computes
    product: str | None = None  # its module with a kernel and a bias, which only the activation follows
    sets_mode_of: tuple[str, ...] = ()  # its torch modules whose training mode it sets itself; depends on its class

    def __init__(self, layer: AnyLayer):
        self.layer: Any = layer  # of the class that states the facts

    def says(self, name: str) -> bool:
        """Whether the layer's class states that fact, in place of the default."""
        return getattr(type(self), name) is not getattr(Facts, name)

    @property
    def carries_masks(self) -> bool:
        """Whether its code has masks on tensors: see `engine/carried_masks.py`."""
        return self.layer._is_users

    @property
    def layout(self) -> Layout:
        """The order of axes that the layer's `forward` works in; a `call` works in Keras's."""
        return Layout.KERAS if computes_by_call(self.layer) else self.native_layout

    @property
    def axis(self) -> int:
        """For `Layout.AXIS`: the axis that `forward` works on, in Keras's order."""
        return self.layer.axis

    def shape_from(self, input_shape: Shape) -> Shape:
        """The output shape by arithmetic; layers without it find the shape by running `forward`."""
        raise NotImplementedError(f"{_what(self.layer)} says no shape of its outputs.")

    def end_mask(self) -> None:
        """Say that the layer does not support the mask of its input. Raises TypeError."""
        raise TypeError(
            f"Layer {self.layer.name} does not support masking, but was passed an input_mask. Take the mask away "
            "before it, or set supports_masking in a layer of your own."
        )

    def hook_free(self) -> Callable[..., Any]:
        """A function that computes as `forward` does, where neither the layer nor a module inside it has a hook."""
        return self.layer.forward

    def in_place(self) -> Callable[..., Any] | None:
        """A function that computes as `forward` does, into its input; None when the layer cannot."""
        return None

    def before_relu(self) -> Callable[..., Any] | None:
        """A function that computes as `forward` does, without the relu at its end; None when there is none."""
        return None

    def logits(self, inputs: Any) -> Any:
        """The output of `forward` without the activation that it `ends_in`."""
        raise NotImplementedError(f"{_what(self.layer)} ends in no activation of its own.")

    def affine(self) -> tuple[int, Tensor, Tensor] | None:
        """(axis, scale, shift) of a layer that now computes `scale * x + shift`, with a scale and a shift for each
        index of the axis; None when it computes something else.
        """
        return None


def facts_of(layer: AnyLayer) -> Facts:
    """The facts of a layer. Made at each access: a copy of a layer must not ask the original."""
    return layer._joined_facts(layer)


def takes(layer: AnyLayer, argument: str) -> bool:
    """Whether the layer's `call` or `forward` declares an argument of that name, such as `mask` or `training`."""
    return argument in layer._call_parameters


def computes_by_call(layer: AnyLayer) -> bool:
    """Whether the layer computes by a `call` of its class, in Keras's order of axes, and not by a `forward`."""
    return layer._by_call


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
    """The facts of a class of layers and its bases, less those of a `forward` that the class does not use.

    `keeps_shape` of a base in this package holds for all classes here that derive from it; for a user's class with a
    `forward` of its own it is a fact of `forward` too.
    """
    computing = next(index for index, base in enumerate(kind.__mro__) if "forward" in vars(base))
    of_forward = OF_FORWARD if is_own(kind.__mro__[computing]) else ("keeps_shape", *OF_FORWARD)
    stated = [vars(base).get("_Facts") for base in kind.__mro__]
    with_forward = {name for facts in stated[: computing + 1] if facts for name in vars(facts)}
    defaults = {name: vars(Facts)[name] for name in of_forward if name not in with_forward}
    return type("Facts", (*filter(None, stated), Facts), defaults)


def is_own(kind: type) -> bool:
    """Whether a class is this package's, not a user's."""
    return kind.__module__.partition(".")[0] == OWN_PACKAGE


def is_users_method(kind: type, method: str) -> bool:
    """Whether a user's class defines the method that a class has."""
    return not is_own(next(base for base in kind.__mro__ if method in vars(base)))


def _what(layer: AnyLayer) -> str:
    return f"{type(layer).__name__} {layer.name!r}"

"""Low-rank adaptation: a frozen kernel, and the product of two small matrices that train in its place.

The torch module that has the kernel computes with the sum. Files have the sum too, as a layer without `lora_rank` has
its kernel, so that any Keras reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor, nn

from torchkeras import layers
from torchkeras.base.rules import integer, number, optional
from torchkeras.engine.building.building import deferred, in_first_run
from torchkeras.engine.weights.weight import Variable as DeclaredVariable, Weight
from torchkeras.keras3.layer import Layer
from torchkeras.keras3.stored import layers_within
from torchkeras.keras3.variable import Variable, kept
from torchkeras.layers.embedding import Vectors


class LowRank(nn.Module):
    """A module whose `weight` is that of its parameter and the layer's two matrices together."""

    _layer: AdaptedLayer  # no part of the module, but the module of it

    @property
    def weight(self) -> Tensor:
        """The kernel in torch's order of axes, with what is added to it."""
        return self._layer._adapted_tensor()


class LowRankLinear(LowRank, nn.Linear):
    """`x @ (weight + scale * a @ b).T + bias`."""


class LowRankProduct(LowRank):
    """The weights of an `EinsumDense` that is no `nn.Linear`."""


class LowRankVectors(LowRank, Vectors):
    """`weight[x] + scale * a[x] @ b`, which adds up no more vectors than are asked for."""

    def forward(self, input: Tensor) -> Tensor:
        first, second = self._layer._matrices
        vectors = torch.embedding(self._layer._kernel_variable.tensors[0], input)
        return vectors + self._layer._scale * (torch.embedding(first.value, input) @ second.value)


class LowRankConv1d(LowRank, nn.Conv1d):
    """The convolution of x with `weight + scale * a @ b`."""


class LowRankConv2d(LowRank, nn.Conv2d):
    """The same of images."""


class LowRankConv3d(LowRank, nn.Conv3d):
    """The same of volumes."""


# By the class of a layer's module: that of the same module with the two matrices.
ADAPTED: dict[type, type[LowRank]] = {
    nn.Linear: LowRankLinear,
    nn.Module: LowRankProduct,
    Vectors: LowRankVectors,
    nn.Conv1d: LowRankConv1d,
    nn.Conv2d: LowRankConv2d,
    nn.Conv3d: LowRankConv3d,
}


class AdaptedWeight(Weight):
    """The declaration of a kernel that may have two matrices added: as an attribute it is the sum then."""

    def __get__(self, layer: Any, owner: type) -> Any:
        if layer is None or not layer.lora_enabled:
            return super().__get__(layer, owner)
        return layer._kernel_variable.arrangement.array([layer._adapted_tensor()])


class AdaptedLayer(Layer, abstract=True):
    """A layer with a kernel that low-rank matrices may be added to.

    Options:
        lora_rank (positive integer or None, default None): the rank of the product that is added to the kernel, which
            is frozen then; None adds nothing.
        lora_alpha (number or None, default None): the product counts `lora_alpha / lora_rank` times; None is
            `lora_rank`.

    Source: https://keras.io/api/layers/core_layers/dense/
    """

    lora_rank: Annotated[int | None, optional(integer(1))] = None
    lora_alpha: Annotated[float | None, optional(number("a number", lambda value: True))] = None

    lora_enabled: ClassVar[bool] = False
    _option_order = ("lora_rank", "lora_alpha")
    _adapts: ClassVar[str] = "kernel"  # the name of the weight

    def build(self, input_shape: Any = None, *further: Any, **named: Any) -> None:
        super().build(input_shape, *further, **named)
        loads = deferred() and not in_first_run()  # a file's values come first
        if self.lora_rank is not None and not self.lora_enabled and not loads:
            self.enable_lora(self.lora_rank, self.lora_alpha)

    def enable_lora(
        self,
        rank: int,
        lora_alpha: float | None = None,
        a_initializer: Any = "he_uniform",
        b_initializer: Any = "zeros",
    ) -> None:
        """Freeze the kernel, and add the product of two matrices to it that train.

        Arguments:
            rank (positive integer): the inner size of the product.
            lora_alpha (number or None, default None): the product counts `lora_alpha / rank` times; None is `rank`.
            a_initializer (name or Initializer, default "he_uniform"): the first values of the first matrix.
            b_initializer (name or Initializer, default "zeros"): those of the second.

        Errors:
            ValueError: the layer is not built, has a constraint on its kernel, or has such matrices.
        """
        what = f"{type(self).__name__} {self.name!r}: enable_lora"
        if getattr(self, f"{self._adapts}_constraint") is not None:
            raise ValueError(f"{what}: {self._adapts}_constraint must be None, since the kernel does not train.")
        if not self.built:
            raise ValueError(f"{what} needs the kernel: call the layer, or build(input_shape), before.")
        if self.lora_enabled:
            raise ValueError(f"{what}: the layer has rank {self.lora_rank} already.")
        kernel = self._kernel_variable
        regularizer = getattr(self, f"{self._adapts}_regularizer")
        shapes = (*kernel.shape[:-1], rank), (rank, kernel.shape[-1])
        for part, shape, initializer in zip("ab", shapes, (a_initializer, b_initializer), strict=True):
            name = f"lora_{self._adapts}_{part}"
            made = self.add_weight(
                shape=shape, initializer=initializer, dtype="float32", regularizer=regularizer, name=name
            )
            setattr(self, name, made)
        kernel.trainable = False
        self.__dict__.update(lora_enabled=True, lora_rank=rank, lora_alpha=rank if lora_alpha is None else lora_alpha)
        path, _, _ = kernel.paths[0].rpartition(".")
        module = self.get_submodule(path)
        vars(module)["_layer"] = self
        module.__class__ = ADAPTED[type(module)]

    @property
    def _kernel_variable(self) -> Variable:
        return kept(DeclaredVariable.declared(self, self._weights[self._adapts]))

    @property
    def _matrices(self) -> tuple[Variable, Variable]:
        return getattr(self, f"lora_{self._adapts}_a"), getattr(self, f"lora_{self._adapts}_b")

    @property
    def _scale(self) -> float:
        return float(self.lora_alpha) / float(self.lora_rank)  # type: ignore[arg-type]

    def _adapted_tensor(self) -> Tensor:
        """The kernel with the product, in torch's order of axes."""
        kernel, (first, second) = self._kernel_variable, self._matrices
        found = kernel.tensors[0].clone()
        kernel.arrangement.pieces(found).add_(self._scale * (first.value @ second.value))
        return found

    def get_config(self) -> dict[str, Any]:
        """The options as plain values; `lora_rank` and `lora_alpha` where they are set."""
        found = super().get_config()
        if self.lora_rank is None:
            del found["lora_rank"], found["lora_alpha"]
        return found


class AdaptedVectors(AdaptedLayer, abstract=True):
    """The same for a table of vectors."""

    _adapts = "embeddings"

    def __init__(self, *args: Any, **given: Any) -> None:
        weights = given.get("weights")
        if weights is not None and not isinstance(weights, (list, tuple)):
            given["weights"] = [weights]
        super().__init__(*args, **given)
        if weights is not None:
            self._build([(None,)])


# By the layer of this package: the base of its class of Keras 3.
BASES: Mapping[type, tuple[type[AdaptedLayer]]] = {
    **dict.fromkeys((layers.Dense, layers.Conv1D, layers.Conv2D, layers.Conv3D), (AdaptedLayer,)),
    layers.EinsumDense: (AdaptedLayer,),
    layers.Embedding: (AdaptedVectors,),
}


def adapted(declaration: Weight) -> AdaptedWeight:
    """The declaration of a kernel in a class that adapts it."""
    made = copy(declaration)
    made.__class__ = AdaptedWeight
    return made  # type: ignore[return-value]


@contextmanager
def as_one_kernel(model: Any, adds: bool) -> Iterator[None]:
    """Let layers with low-rank matrices be like those without, for files.

    `adds`: within the block their kernels have the product added; otherwise the block sets kernels, to which nothing is
    added afterwards.
    """
    layers = [each for each in (model, *layers_within(model)) if getattr(each, "lora_enabled", False)]
    before = [_taken_out(layer, adds) for layer in layers]
    try:
        yield
    finally:
        for layer, (kernel, parameters, added) in zip(layers, before, strict=True):
            layer._parameters.update(parameters)
            layer._added[:] = added
            with torch.no_grad():
                if adds:
                    layer._kernel_variable.tensors[0].copy_(kernel)
                else:
                    layer._matrices[1].value.zero_()


def enable_as_options_say(model: Any) -> None:
    """Add matrices to the layers of a model from a file whose `lora_rank` is set: a product that is zero at first."""
    for layer in (model, *layers_within(model)):
        if getattr(layer, "lora_rank", None) is not None and not layer.lora_enabled:
            layer.enable_lora(layer.lora_rank, layer.lora_alpha)


def _taken_out(layer: Any, adds: bool) -> tuple[Tensor, dict[str, Any], list[Any]]:
    """Take the matrices out of a layer. Returns its kernel, the matrices, and its weights of `add_weight`."""
    variable, added = layer._kernel_variable, list(layer._added)
    kernel = variable.tensors[0].detach().clone()
    if adds:
        with torch.no_grad():
            variable.tensors[0].copy_(layer._adapted_tensor())
    matrices = layer._matrices
    layer._added[:] = [each for each in added if all(each is not one for one in matrices)]
    return kernel, {each.paths[0]: layer._parameters.pop(each.paths[0]) for each in matrices}, added

"""EinsumDense: a dense layer over the axes that an equation names."""

import re
from collections.abc import Iterable
from math import prod
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from torchkeras.engine.options import Activation, Called, Rule, is_integer, rule
from torchkeras.engine.symbol import Shape
from torchkeras.engine.weight import weight
from torchkeras.initializers import VarianceScaling
from torchkeras.layers.core import KernelLayer

EQUATION = re.compile(r"(\.\.\.)?([a-zA-Z]+)(\.\.\.)?,([a-zA-Z]+)->(\.\.\.)?([a-zA-Z]+)(\.\.\.)?")


def _is_equation(value: Any) -> bool:
    parts = EQUATION.fullmatch(value) if isinstance(value, str) else None
    return parts is not None and parts.group(1, 3) == parts.group(5, 7) and not (parts[1] and parts[3])


def _parts(equation: str) -> re.Match[str]:
    found = EQUATION.fullmatch(equation)
    assert found is not None  # the rule of the option has seen to it
    return found


def _are_letters(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.isalpha())


def _read_sizes(value: Any) -> tuple[int | None, ...]:
    found = value if isinstance(value, (tuple, list)) else (value,)
    if not found or not all(size is None or (is_integer(size) and size > 0) for size in found):
        raise ValueError(f"must be a positive integer, or a list of them and None; found {value!r}.")
    return tuple(found)


class EinsumWeights(nn.Module):
    """A kernel and a bias in Keras's order of axes."""

    def __init__(self, kernel: list[int], bias: list[int] | None):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(kernel))
        self.bias = None if bias is None else nn.Parameter(torch.empty(bias))


def _kernel_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    """A Linear's matrix with its outputs and its inputs as axes, in the order of the kernel's letters."""
    if not layer._linear:
        return tensor
    letters = layer._new + layer._summed
    return tensor.view(layer._sizes_of(letters)).permute([letters.index(letter) for letter in layer._kernel])


def _bias_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    return tensor.view(layer._sizes_of(layer._new)) if layer._linear else tensor


class EinsumDense(KernelLayer):
    """`activation(einsum(equation, x, kernel) + bias)`.

    `equation`: such as "abc,cd->abd"; an ellipsis stands for any further axes, before the others ("...c,cd->...d") or
    behind them ("ab...,bc->ac..."). `output_shape`: the sizes of the output's axes, without the batch and those of an
    ellipsis, None where the input tells. `bias_axes`: the letters of the output that the bias has; no bias without.
    An equation that sums over the input's last axes and puts the new ones last is computed by an `nn.Linear`.

    Shape: as the equation says, the batch being the first axis. Raises ValueError for an equation that does not fit.
    """

    equation: Annotated[Any, rule("must be like 'ab,bc->ac', '...b,bc->...c' or 'ab...,bc->ac...'", _is_equation)]
    partial_output_shape: Annotated[
        Any, Rule(_read_sizes, lambda kept: kept[0] if len(kept) == 1 else list(kept)), Called("output_shape")
    ]
    activation: Activation = None
    bias_axes: Annotated[Any, rule("must be letters of the output or None", _are_letters)] = None

    kernel = weight("product.weight", pieces=_kernel_piece)
    bias = weight("product.bias", pieces=_bias_piece, when="bias_axes")

    min_input_ndim = 2
    product: Any

    def initializer_of(self, option: str) -> Any:
        found = super().initializer_of(option)
        if option != "kernel" or not isinstance(found, VarianceScaling):
            return found
        _, given = self._letters
        fans = (self._sizes_of(k for k in self._kernel if (k in given) is is_output) for is_output in (False, True))
        return found.with_fans(*map(prod, fans))

    @property
    def _kernel(self) -> str:
        return _parts(self.equation)[4]

    @property
    def _letters(self) -> tuple[str, str]:
        """Those of the input and of the output."""
        parts = _parts(self.equation)
        return parts[2], parts[6]

    def _sizes_of(self, letters: Iterable[str]) -> list[int]:
        return [self._sizes[letter] for letter in letters]

    def make(self, input_shape: Any) -> None:
        taken, given = self._letters
        self._check_letters()
        self._sizes = self._find_sizes(input_shape)
        self._new = "".join(letter for letter in given if letter not in taken)
        self._summed = "".join(letter for letter in taken if letter not in given)
        kept = taken.removesuffix(self._summed)
        self._linear = (
            bool(self._new and self._summed)
            and _parts(self.equation)[3] is None
            and (taken, given) == (kept + self._summed, kept + self._new)
            and sorted(self._kernel) == sorted(self._new + self._summed)
            and set(self.bias_axes or self._new) == set(self._new)
        )
        if self._linear:
            inputs, outputs = (prod(self._sizes_of(letters)) for letters in (self._summed, self._new))
            self.product = nn.Linear(inputs, outputs, bias=self.bias_axes is not None)
        else:
            self.product = EinsumWeights(self._sizes_of(self._kernel), self._bias_shape(len(input_shape)))

    def _check_letters(self) -> None:
        taken, given = self._letters
        for owner, letters, others, where in (
            ("kernel", self._kernel, taken + given, "the input or the output"),
            ("output", given, taken + self._kernel, "the input or the kernel"),
            ("bias", self.bias_axes or "", given, "the output"),
        ):
            for letter in letters:
                if letter not in others:
                    raise ValueError(
                        f"axis {letter!r} of the {owner} must be in {where} too; the equation is {self.equation!r}."
                    )

    def _find_sizes(self, input_shape: Shape) -> dict[str, int]:
        """The sizes of the letters of the kernel and the bias."""
        taken, given = self._letters
        before, behind = bool(_parts(self.equation)[1]), bool(_parts(self.equation)[3])
        ndim, output = len(input_shape), self.partial_output_shape if before else (None, *self.partial_output_shape)
        if ndim < len(taken) + before or (ndim > len(taken) and not (before or behind)):
            raise ValueError(f"equation {self.equation!r} does not fit the input {tuple(input_shape)}.")
        if len(output) != len(given):
            raise ValueError(
                f"output_shape {self.partial_output_shape} must have a size for each of {given[not before :]!r}; "
                f"the equation is {self.equation!r}."
            )
        told = {letter: size for letter, size in zip(given, output, strict=True) if size is not None}
        axes = {letter: index - len(taken) * before for index, letter in enumerate(taken)}
        sizes = dict(told)
        for letter in {*self._kernel, *(self.bias_axes or "")}:
            if letter in axes:
                sizes[letter] = self.known(input_shape, axes[letter])
            if letter not in sizes:
                raise ValueError(f"output_shape {self.partial_output_shape} must tell the size of axis {letter!r}.")
        for letter, size in told.items():
            if letter in axes and input_shape[axes[letter]] not in (None, size):
                raise ValueError(
                    f"axis {letter!r} has {size} in output_shape {self.partial_output_shape}, "
                    f"{input_shape[axes[letter]]} in the input {tuple(input_shape)}."
                )
        return sizes

    def _bias_shape(self, ndim: int) -> list[int] | None:
        """That of Keras: the letters from the first of `bias_axes` on, 1 where it is spread."""
        if self.bias_axes is None:
            return None
        (taken, given), behind = self._letters, bool(_parts(self.equation)[3])
        first = min(map(given.index, self.bias_axes))
        sizes = [self._sizes[letter] if letter in self.bias_axes else 1 for letter in given[first:]]
        return sizes + [1] * (ndim - len(taken)) * behind

    def forward(self, inputs: Tensor) -> Tensor:
        if not self._linear:
            product = torch.einsum(self.equation, inputs, self.product.weight)
            return self.activation(product if self.product.bias is None else product + self.product.bias)
        outputs = self.product(inputs.flatten(-len(self._summed)))
        return self.activation(outputs.unflatten(-1, self._sizes_of(self._new)) if len(self._new) > 1 else outputs)

"""EinsumDense: a dense layer over the axes that an equation names."""

import re
from math import prod
from os.path import commonprefix
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from torchkeras.engine.options import Activation, Called, Rule, is_integer, rule
from torchkeras.engine.symbol import Shape
from torchkeras.engine.weight import weight
from torchkeras.initializers import VarianceScaling
from torchkeras.layers.core import KernelLayer

# An ellipsis or nothing, the input, an ellipsis or nothing; the kernel; the output between the same.
EQUATION = re.compile(r"(\.{3}|)([a-zA-Z]+)(\.{3}|),([a-zA-Z]+)->\1([a-zA-Z]+)\3")


def _is_equation(value: Any) -> bool:
    return isinstance(value, str) and EQUATION.fullmatch(value) is not None and value.count("...") <= 2


def _read_sizes(value: Any) -> tuple[int | None, ...]:
    found = value if isinstance(value, (tuple, list)) else (value,)
    if not found or not all(size is None or (is_integer(size) and size > 0) for size in found):
        raise ValueError(f"must be a positive integer, or a list of them and None; found {value!r}.")
    return tuple(found)


def _parts(equation: str) -> list[str]:
    """The letters of the input, the kernel and the output, and the ellipses before and behind those of the input."""
    (before, taken, behind, kernel, given), *_ = EQUATION.findall(equation)
    return [taken, kernel, given, before, behind]


def _kernel_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    kernel, stored = _parts(layer.equation)[1], layer._stored
    return tensor.view([layer._sizes[k] for k in stored]).permute([stored.index(k) for k in kernel])


def _bias_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    return tensor.view(layer._bias_shape)


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
    bias_axes: Annotated[
        Any, rule("must be letters of the output or None", lambda v: v is None or (isinstance(v, str) and v.isalpha()))
    ] = None

    kernel = weight("product.weight", pieces=_kernel_piece)
    bias = weight("product.bias", pieces=_bias_piece, when="bias_axes")

    min_input_ndim = 2
    product: Any

    def initializer_of(self, option: str) -> Any:
        found = super().initializer_of(option)
        if option != "kernel" or not isinstance(found, VarianceScaling):
            return found
        _, kernel, given, *_ = _parts(self.equation)
        return found.with_fans(*(prod(self._sizes[k] for k in kernel if (k in given) == new) for new in (False, True)))

    def make(self, input_shape: Any) -> None:
        taken, kernel, given, _, behind = _parts(self.equation)
        sizes, bias = self._find_sizes(input_shape), self.bias_axes or ""
        first = min(map(given.index, bias), default=len(given))
        # As Keras has it: from the first letter of the bias on, 1 where it is spread.
        self._bias_shape = [sizes[k] if k in bias else 1 for k in given[first:]]
        self._bias_shape += [1] * (len(input_shape) - len(taken)) if behind else []
        kept = len(commonprefix([taken, given]))
        summed, new = taken[kept:], given[kept:]
        self._linear = (
            bool(summed and new and not behind)
            and set(summed).isdisjoint(new)
            and sorted(kernel) == sorted(summed + new)
            and set(bias or new) == set(new)
        )
        self._sizes, self._stored = sizes, new + summed if self._linear else kernel
        self._summed, self._new_sizes = len(summed), [sizes[k] for k in new if self._linear]
        if self._linear:
            inputs = prod(sizes[k] for k in summed)
            self.product = nn.Linear(inputs, prod(self._new_sizes), bias=bool(bias))
        else:
            self.product = nn.Module()
            self.product.weight = nn.Parameter(torch.empty([sizes[k] for k in kernel]))
            self.product.bias = nn.Parameter(torch.empty(self._bias_shape)) if bias else None

    def _find_sizes(self, input_shape: Shape) -> dict[str, Any]:
        """The size of each letter of the output, the kernel and the bias, None where nothing needs it."""
        taken, kernel, given, before, behind = _parts(self.equation)
        bias, told = self.bias_axes or "", self.partial_output_shape
        for owner, letters, others, where in (
            ("kernel", kernel, taken + given, "the input or the output"),
            ("output", given, taken + kernel, "the input or the kernel"),
            ("bias", bias, given, "the output"),
        ):
            if alone := letters.lstrip(others)[:1]:
                raise ValueError(
                    f"axis {alone!r} of the {owner} must be in {where} too; the equation is {self.equation!r}."
                )
        ndim, named = len(input_shape), given if before else given[1:]
        if ndim < len(taken) + bool(before) or (ndim > len(taken) and not (before or behind)):
            raise ValueError(f"equation {self.equation!r} does not fit the input {tuple(input_shape)}.")
        if len(told) != len(named):
            raise ValueError(
                f"output_shape {told} must have a size for each of {named!r}; the equation is {self.equation!r}."
            )
        sizes: dict[str, Any] = dict(zip(named, told, strict=True))
        axes = {letter: index - len(taken) * bool(before) for index, letter in enumerate(taken)}
        for letter in {*axes} & {*named}:
            size, found = sizes[letter], input_shape[axes[letter]]
            if None not in (size, found) and size != found:
                raise ValueError(
                    f"axis {letter!r} has {size} in output_shape {told}, {found} in the input {tuple(input_shape)}."
                )
        for letter in kernel + bias:
            if letter in axes:
                sizes[letter] = self.known(input_shape, axes[letter])
            elif sizes.get(letter) is None:
                raise ValueError(f"output_shape {told} must tell the size of axis {letter!r}.")
        return sizes

    def forward(self, inputs: Tensor) -> Tensor:
        if not self._linear:
            product = torch.einsum(self.equation, inputs, self.product.weight)
            return self.activation(product if self.product.bias is None else product + self.product.bias)
        outputs = self.product(inputs.flatten(-self._summed))
        return self.activation(outputs.unflatten(-1, self._new_sizes) if len(self._new_sizes) > 1 else outputs)

"""EinsumDense: a dense layer over the axes that an equation names."""

import re
from math import prod
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from torchkeras.engine.options import Activation, Called, Rule, is_integer, rule
from torchkeras.engine.weight import weight
from torchkeras.initializers import VarianceScaling
from torchkeras.layers.core import KernelLayer

# An ellipsis or none, the input's letters, an ellipsis or none; the kernel's; the output's, with the input's ellipsis.
EQUATION = re.compile(r"(\.{3}|)([a-zA-Z]+)((?(1)|\.{3}|)),([a-zA-Z]+)->\1([a-zA-Z]+)\3")


def _read_sizes(value: Any) -> tuple[int | None, ...]:
    found = value if isinstance(value, (tuple, list)) else (value,)
    if not found or not all(size is None or (is_integer(size) and size > 0) for size in found):
        raise ValueError(f"must be a positive integer, or a list of them and None; found {value!r}.")
    return tuple(found)


def _kernel_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    stored = layer._stored
    return tensor.view([layer._sizes[k] for k in stored]).permute([stored.index(k) for k in layer._kernel])


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

    equation: Annotated[
        Any,
        rule(
            "must be like 'ab,bc->ac', '...b,bc->...c' or 'ab...,bc->ac...'",
            lambda v: isinstance(v, str) and bool(EQUATION.fullmatch(v)),
        ),
    ]
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
        fans = (prod(self._sizes[k] for k in self._kernel if (k in self._given) is new) for new in (False, True))
        return found.with_fans(*fans)

    def make(self, input_shape: Any) -> None:
        before, taken, behind, kernel, given = EQUATION.findall(self.equation)[0]
        self._kernel, self._given, bias = kernel, given, self.bias_axes or ""
        self._check_letters(taken, bias)
        further = len(input_shape) - len(taken)  # axes of the ellipsis
        if further < bool(before) or (further and not before + behind):
            raise ValueError(f"equation {self.equation!r} does not fit the input {tuple(input_shape)}.")
        axes = {letter: index - len(taken) * bool(before) for index, letter in enumerate(taken)}
        sizes = self._sizes = self._told_sizes(given if before else given[1:], axes, input_shape)
        for letter in kernel + bias:
            sizes[letter] = self.known(input_shape, axes[letter]) if letter in axes else sizes.get(letter)
            if sizes[letter] is None:
                raise ValueError(f"output_shape {self.partial_output_shape} must tell the size of axis {letter!r}.")
        # As Keras has it: from the first letter of the bias on, 1 where it is spread.
        spread = given[min(map(given.index, bias), default=len(given)) :]
        self._bias_shape = [sizes[k] if k in bias else 1 for k in spread] + [1] * further * bool(behind)

        summed, new = re.sub(f"[{given}]", "", taken), re.sub(f"[{taken}]", "", given)
        is_linear = f"{taken}{new}{behind}" == f"{given.removesuffix(new)}{summed}{new}"
        self._linear = is_linear and sorted(kernel) == sorted(summed + new) and set(bias or new) == set(new) != set()
        self._stored = new + summed if self._linear else kernel
        self._outputs, self._summed = [sizes[k] for k in new if self._linear], len(summed)
        if self._linear:
            self.product = nn.Linear(prod(sizes[k] for k in summed), prod(self._outputs), bias=bool(bias))
        else:
            self.product = nn.Module()
            self.product.weight = nn.Parameter(torch.empty([sizes[k] for k in kernel]))
            self.product.bias = nn.Parameter(torch.empty(self._bias_shape)) if bias else None

    def _check_letters(self, taken: str, bias: str) -> None:
        for owner, letters, others, where in (
            ("kernel", self._kernel, taken + self._given, "the input or the output"),
            ("output", self._given, taken + self._kernel, "the input or the kernel"),
            ("bias", bias, self._given, "the output"),
        ):
            if alone := letters.lstrip(others)[:1]:
                raise ValueError(
                    f"axis {alone!r} of the {owner} must be in {where} too; the equation is {self.equation!r}."
                )

    def _told_sizes(self, letters: str, axes: dict[str, int], input_shape: Any) -> dict[str, Any]:
        """What `output_shape` says of the output's letters."""
        told = self.partial_output_shape
        if len(told) != len(letters):
            raise ValueError(
                f"output_shape {told} must have a size for each of {letters!r}; the equation is {self.equation!r}."
            )
        for letter, size in zip(letters, told, strict=True):
            found = input_shape[axes[letter]] if letter in axes else None
            if None not in (size, found) and size != found:
                raise ValueError(
                    f"axis {letter!r} has {size} in output_shape {told}, {found} in the input {tuple(input_shape)}."
                )
        return dict(zip(letters, told, strict=True))

    def forward(self, inputs: Tensor) -> Tensor:
        if not self._linear:
            product = torch.einsum(self.equation, inputs, self.product.weight)
            return self.activation(product if self.product.bias is None else product + self.product.bias)
        outputs = self.product(inputs.flatten(-self._summed))
        return self.activation(outputs.unflatten(-1, self._outputs) if len(self._outputs) > 1 else outputs)

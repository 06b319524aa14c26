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

# The letters of the input, of the kernel and of the output.
EQUATION = re.compile(r"(\.{3}|)([a-zA-Z]+),([a-zA-Z]+)->\1([a-zA-Z]+)")


def _is_equation(value: Any) -> bool:
    return isinstance(value, str) and EQUATION.fullmatch(value) is not None


def _are_letters(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.isalpha())


def _read_sizes(value: Any) -> tuple[int | None, ...]:
    found = value if isinstance(value, (tuple, list)) else (value,)
    if not found or not all(size is None or (is_integer(size) and size > 0) for size in found):
        raise ValueError(f"must be a positive integer, or a list of them and None; found {value!r}.")
    return tuple(found)


OutputSizes = Annotated[
    Any, Rule(_read_sizes, lambda kept: kept[0] if len(kept) == 1 else list(kept)), Called("output_shape")
]


def _kernel_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    stored = layer._stored
    return tensor.view([layer._sizes[k] for k in stored]).permute([stored.index(k) for k in layer._kernel])


def _bias_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    return tensor.view(layer._bias_shape)


class EinsumDense(KernelLayer):
    """`activation(einsum(equation, x, kernel) + bias)`.

    `equation`: such as "abc,cd->abd"; in "...c,cd->...d" the ellipsis stands for the batch and any further axes.
    `output_shape`: the sizes of the output's other axes, None where the input tells. `bias_axes`: the letters of the
    output that the bias has; no bias without. An equation that sums over the input's last axes and puts the new ones
    last is computed by an `nn.Linear`.

    Shape: as the equation says, the batch being the first axis. Raises ValueError for an equation that does not fit.
    """

    equation: Annotated[Any, rule("must be like 'ab,bc->ac' or '...b,bc->...c'", _is_equation)]
    partial_output_shape: OutputSizes
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
        fans = (prod(self._sizes[k] for k in self._kernel if (k in self._given) is new) for new in (False, True))
        return found.with_fans(*fans)

    def make(self, input_shape: Any) -> None:
        _, taken, kernel, given = EQUATION.findall(self.equation)[0]
        sizes, bias = self._find_sizes(input_shape), self.bias_axes or ""
        # As Keras has it: from the first letter of the bias on, 1 where it is spread.
        begin = min(map(given.index, bias), default=len(given))
        self._bias_shape = [sizes[k] if k in bias else 1 for k in given[begin:]]
        self._kernel, self._given, self._sizes = kernel, given, sizes

        summed, new = re.sub(f"[{given}]", "", taken), re.sub(f"[{taken}]", "", given)
        kept = taken.removesuffix(summed)
        self._linear = (
            bool(summed and new)
            and (taken, given) == (kept + summed, kept + new)
            and sorted(kernel) == sorted(summed + new)
            and set(bias or new) == set(new)
        )
        self._stored = new + summed if self._linear else kernel
        self._summed, self._outputs = len(summed), [sizes[k] for k in new if self._linear]
        if self._linear:
            self.product = nn.Linear(prod(sizes[k] for k in summed), prod(self._outputs), bias=bool(bias))
        else:
            self.product = nn.Module()
            self.product.weight = nn.Parameter(torch.empty([sizes[k] for k in kernel]))
            self.product.bias = nn.Parameter(torch.empty(self._bias_shape)) if bias else None

    def _find_sizes(self, input_shape: Any) -> dict[str, Any]:
        """The size of each letter of the output, the kernel and the bias; None where nothing needs it."""
        dots, taken, kernel, given = EQUATION.findall(self.equation)[0]
        bias, told, named = self.bias_axes or "", self.partial_output_shape, given if dots else given[1:]
        for owner, letters, others, where in (
            ("kernel", kernel, taken + given, "the input or the output"),
            ("output", given, taken + kernel, "the input or the kernel"),
            ("bias", bias, given, "the output"),
        ):
            if alone := letters.lstrip(others)[:1]:
                raise ValueError(
                    f"axis {alone!r} of the {owner} must be in {where} too; the equation is {self.equation!r}."
                )
        further = len(input_shape) - len(taken)
        if further < 0 or bool(further) != bool(dots):
            raise ValueError(f"equation {self.equation!r} does not fit the input {tuple(input_shape)}.")
        if len(told) != len(named):
            raise ValueError(
                f"output_shape {told} must have a size for each of {named!r}; the equation is {self.equation!r}."
            )
        sizes, axes = dict(zip(named, told, strict=True)), {k: taken.index(k) - len(taken) * bool(dots) for k in taken}
        for letter, size in sizes.items():
            found = input_shape[axes[letter]] if letter in axes else None
            if None not in (size, found) and size != found:
                raise ValueError(
                    f"axis {letter!r} has {size} in output_shape {told}, {found} in the input {tuple(input_shape)}."
                )
        for letter in kernel + bias:
            sizes[letter] = self.known(input_shape, axes[letter]) if letter in axes else sizes.get(letter)
            if sizes[letter] is None:
                raise ValueError(f"output_shape {told} must tell the size of axis {letter!r}.")
        return sizes

    def forward(self, inputs: Tensor) -> Tensor:
        if not self._linear:
            product = torch.einsum(self.equation, inputs, self.product.weight)
            return self.activation(product if self.product.bias is None else product + self.product.bias)
        outputs = self.product(inputs.flatten(-self._summed))
        return self.activation(outputs.unflatten(-1, self._outputs) if len(self._outputs) > 1 else outputs)

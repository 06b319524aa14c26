"""EinsumDense: a dense layer over the axes that an equation names."""

import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras.base.rules import Rule, is_integer, optional, rule
from torchkeras.base.torch_tables import own_modules
from torchkeras.engine.facts import Facts
from torchkeras.engine.graph.layer_calls import called
from torchkeras.engine.options import Activation, Called
from torchkeras.engine.weights.weight import weight
from torchkeras.initializers import VarianceScaling
from torchkeras.layers.core import KernelLayer

# The letters of the input, of the kernel and of the output; the ellipsis before or after those of input and output.
EQUATION = re.compile(r"(?!\.+[a-zA-Z]+\.)(\.{3}|)([a-zA-Z]+)(\.{3}|),([a-zA-Z]+)->\1([a-zA-Z]+)\3")


Equation = Annotated[
    Any,
    rule(
        "must be like 'ab,bc->ac', '...b,bc->...c' or 'ab...,bc->ac...'",
        lambda v: isinstance(v, str) and EQUATION.fullmatch(v) is not None,
        takes="str",
    ),
]
Letters = Annotated[
    Any,
    optional(rule("must be letters of the output", lambda v: isinstance(v, str) and v.isalpha(), takes="str")),
]


def _read_sizes(value: Any) -> tuple[int | None, ...]:
    found = value if isinstance(value, (tuple, list)) else (value,)
    if not all(size is None or (is_integer(size) and size > 0) for size in found):
        raise ValueError(f"must be a positive integer, or a list of them and None; found {value!r}.")
    return tuple(found)


OutputSizes = Annotated[
    Any,
    Rule(
        _read_sizes,
        lambda kept: kept[0] if len(kept) == 1 else list(kept),
        takes="int | Sequence[int | None] | None",
    ),
    Called("output_shape"),
]


def _kernel_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    stored = layer._stored
    return tensor.view(layer._sizes_of(stored)).permute([stored.index(letter) for letter in layer._kernel])


def _bias_piece(layer: "EinsumDense", tensor: Tensor) -> Tensor:
    return tensor.view(layer._bias_shape)


class EinsumDense(KernelLayer):
    """`activation(einsum(equation, x, kernel) + bias)`.

    An equation that sums over the last axes of the input and puts the new axes last is computed by an `nn.Linear`.

    Options:
        equation (string): such as "abc,cd->abd": the letters of the input, of the kernel and of the output. The first
            axis is the batch. In "...c,cd->...d" the ellipsis stands for the batch and any further axes, in
            "ab...,bc->ac..." for any further axes at the end.
        output_shape (positive integer or sizes): the size of each letter of the output except the batch; None takes the
            size that the letter has in the input.
        activation (name, function or None, default None): applied to the sum; None applies nothing.
        bias_axes (string or None, default None): the letters of the output that the bias has; None adds no bias.

    Shapes:
        the input's letters -> the output's letters

    Errors:
        ValueError: at the first call, when the equation does not fit the input, `output_shape` or `bias_axes`.

    Example:
        >>> EinsumDense("abc,cd->abd", output_shape=(None, 8), bias_axes="d")(torch.zeros(2, 5, 4)).shape
        torch.Size([2, 5, 8])
    """

    equation: Equation
    partial_output_shape: OutputSizes
    activation: Activation = None
    bias_axes: Letters = None

    kernel = weight("product.weight", pieces=_kernel_piece)
    bias = weight("product.bias", pieces=_bias_piece, when="bias_axes")

    class _Facts(Facts):
        def hook_free(self) -> Callable[..., Any]:
            layer, inside = self.layer, own_modules(self.layer)

            def run(inputs: Tensor) -> Any:
                product: Any = inside["product"]
                if type(product) is not nn.Linear:  # another equation or module, or it is parametrized
                    return layer.forward(inputs)
                weights: Any = product._parameters
                taken = inputs if layer._summed == 1 else inputs.flatten(-layer._summed)
                return layer._formed(F.linear(taken, weights["weight"], weights["bias"]))

            return run

    product: Any

    def _initializer_of(self, option: str) -> Any:
        found = super()._initializer_of(option)
        if option != "kernel" or not isinstance(found, VarianceScaling):
            return found
        return found.with_fans(*(prod(self._sizes_of(letters)) for letters in self._fans))

    def _sizes_of(self, letters: str) -> list[int]:
        return [self._sizes[letter] for letter in letters]

    def _make_modules(self, input_shape: Any) -> None:
        _, taken, rest, kernel, given = EQUATION.findall(self.equation)[0]
        self._kernel, self._sizes, bias = kernel, self._find_sizes(input_shape), self.bias_axes or ""
        self._fans = re.sub(f"[{given}]", "", kernel), re.sub(f"[^{given}]", "", kernel)
        # As in Keras: from the first letter of the bias on, 1 where it is broadcast.
        begin = min(map(given.index, bias), default=len(given))
        self._bias_shape = [self._sizes[letter] if letter in bias else 1 for letter in given[begin:]]
        self._bias_shape += [1] * (len(input_shape) - len(taken)) * bool(rest)

        summed, new = re.sub(f"[{given}]", "", taken), re.sub(f"[{taken}]", "", given)
        self._linear = not rest and _is_linear(taken, kernel, given, bias)
        if self._linear:
            self._stored, self._summed, self._outputs = new + summed, len(summed), self._sizes_of(new)
            self.product = nn.Linear(prod(self._sizes_of(summed)), prod(self._outputs), bias=bool(bias))
        else:
            self._stored, self.product = kernel, nn.Module()
            self.product.weight = nn.Parameter(torch.empty(self._sizes_of(kernel)))
            self.product.bias = nn.Parameter(torch.empty(self._bias_shape)) if bias else None

    def _find_sizes(self, input_shape: Any) -> dict[str, Any]:
        """The size of each letter of output, kernel and bias; None where no weight needs it."""
        dots, taken, rest, kernel, given = EQUATION.findall(self.equation)[0]
        bias, wanted, named = self.bias_axes or "", self.partial_output_shape, given if dots else given[1:]
        self._check_letters(taken, kernel, given, bias)
        further = len(input_shape) - len(taken)
        has_room = further >= bool(dots) and (not further or dots or rest)
        if not has_room or len(wanted) != len(named):
            shape = tuple(input_shape)
            raise ValueError(f"equation {self.equation!r} does not fit the input {shape} and output_shape {wanted}.")
        sizes = dict(zip(named, wanted, strict=True))
        axes = {letter: taken.index(letter) - len(taken) * bool(dots) for letter in taken}
        self._check_output_sizes(sizes, axes, input_shape)
        for letter in kernel + bias:
            sizes[letter] = self._known_size(input_shape, axes[letter]) if letter in axes else sizes.get(letter)
            if sizes[letter] is None:
                raise ValueError(f"output_shape {wanted} must give the size of axis {letter!r}.")
        return sizes

    def _check_letters(self, taken: str, kernel: str, given: str, bias: str) -> None:
        """Raise ValueError for an axis of kernel or output that stands alone, and for a bias outside the output."""
        for letter in kernel + given:
            if sum(letter in letters for letters in (taken, kernel, given)) < 2:
                raise ValueError(
                    f"axis {letter!r} must be in two of input, kernel and output; the equation is {self.equation!r}."
                )
        if not set(bias) <= set(given):
            raise ValueError(f"bias_axes {bias!r} must be in the output; the equation is {self.equation!r}.")

    def _check_output_sizes(self, sizes: Mapping[str, Any], axes: Mapping[str, int], input_shape: Any) -> None:
        """Raise ValueError if `output_shape` has another size for an axis than the input, where both are known."""
        for letter, size in sizes.items():
            found = input_shape[axes[letter]] if letter in axes else None
            if None not in (size, found) and size != found:
                raise ValueError(
                    f"axis {letter!r} has {size} in output_shape {self.partial_output_shape}, {found} in the input "
                    f"{tuple(input_shape)}."
                )

    def forward(self, inputs: Tensor) -> Tensor:
        if not self._linear:
            return self.activation(called(self.product, self._multiply, inputs))
        return self._formed(self.product(inputs.flatten(-self._summed)))

    def _formed(self, outputs: Tensor) -> Any:
        return self.activation(torch.unflatten(outputs, -1, self._outputs) if len(self._outputs) > 1 else outputs)

    def _multiply(self, inputs: Tensor) -> Tensor:
        product = torch.einsum(self.equation, inputs, self.product.weight)
        return product if self.product.bias is None else product + self.product.bias


def _is_linear(taken: str, kernel: str, given: str, bias: str) -> bool:
    """Whether `taken,kernel->given` is an `nn.Linear` of the last axes: those summed over give way to the new ones."""
    summed, new = re.sub(f"[{given}]", "", taken), re.sub(f"[{taken}]", "", given)
    kept = taken.removesuffix(summed)
    is_of_last_axes = bool(summed and new) and (taken, given) == (kept + summed, kept + new)
    return is_of_last_axes and sorted(kernel) == sorted(summed + new) and set(bias or new) == set(new)

"""Core layers: Dense, Activation, shapes (Flatten, Reshape, Permute, RepeatVector), Masking, Lambda."""

import inspect
from collections.abc import Callable, Mapping
from math import prod
from typing import Annotated, Any

import numpy as np
import torch
from torch import nn

from torchkeras import registry
from torchkeras.activations import is_pointwise
from torchkeras.engine.layer import Layer
from torchkeras.engine.layout import Layout, convert, to_keras
from torchkeras.engine.options import (
    Activation as ActivationOption,
    Constraint,
    DataFormat,
    Initializer,
    Positive,
    Regularizer,
    integers,
)
from torchkeras.engine.symbol import KerasTensor, Shape, as_list
from torchkeras.engine.weight import weight
from torchkeras.regularizers import L1L2


class KernelLayer(Layer, abstract=True):
    """What layers with a kernel and a bias share: their initializers, regularizers and constraints."""

    kernel_initializer: Initializer = "glorot_uniform"
    bias_initializer: Initializer = "zeros"
    kernel_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    kernel_constraint: Constraint = None
    bias_constraint: Constraint = None


class Dense(KernelLayer):
    """`activation(x @ kernel + bias)` over the last axis.

    Shape: (batch, ..., features) -> (batch, ..., units).
    """

    units: Positive
    activation: ActivationOption = None
    use_bias: bool = True

    kernel = weight("linear.weight", keras="features units", torch="units features")
    bias = weight("linear.bias", keras="units", when="use_bias")

    min_input_ndim = 2
    supports_masking = True

    def make(self, input_shape: Any) -> None:
        self.linear = nn.Linear(self.known(input_shape, -1), self.units, bias=self.use_bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.activation(self.linear(inputs))


class Activation(Layer):
    """`activation(x)`.

    Shape: any -> the same.
    """

    activation: ActivationOption

    supports_masking = True

    @property
    def keeps_shape(self) -> bool:  # type: ignore[override]
        return is_pointwise(self.activation)

    @property
    def native_layout(self) -> Layout:
        return Layout.ANY if is_pointwise(self.activation) else Layout.KERAS

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.activation(inputs)


class ActivityRegularization(Layer):
    """`x`; its calls add `l1 * sum(abs(x)) + l2 * sum(x ** 2)` to the loss.

    Shape: any -> the same.
    """

    _declares_options = True

    l1: float = 0.0
    l2: float = 0.0

    supports_masking = True
    keeps_shape = True

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.activity_regularizer = L1L2(self.l1, self.l2)

    @property
    def native_layout(self) -> Layout:
        return Layout.ANY

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs


class Flatten(Layer):
    """All axes but the batch axis in one; with data_format='channels_first' the channels are moved to the end first.

    Shape: (batch, ...) -> (batch, product of the others). Raises ValueError when one of them is not known.
    """

    data_format: DataFormat = None

    min_input_ndim = 3

    def make(self, input_shape: Any) -> None:
        if None in input_shape[1:]:
            raise ValueError(
                f"the input must be fully defined but for the batch axis; found {tuple(input_shape)}. "
                "Give the first layer a complete input_shape or batch_input_shape."
            )

    def follow_keras1(self) -> None:
        """Keep the axes in their order whatever the data format, as Keras 1 did: for weights that it made."""
        self.data_format = "channels_last"

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.data_format == "channels_first":
            inputs = convert(inputs, to_keras)
        return inputs.flatten(1)


def _is_target_shape(shape: tuple[int, ...]) -> bool:
    return all(size > 0 or size == -1 for size in shape) and shape.count(-1) <= 1


class Reshape(Layer):
    """The same values under `target_shape`, the batch axis apart; one -1 stands for the size that is left.

    Shape: (batch, ...) -> (batch, *target_shape). Raises ValueError when the sizes do not fit.
    """

    target_shape: Annotated[Any, integers("must hold positive integers and at most one -1", _is_target_shape)]

    def make(self, input_shape: Any) -> None:
        self.compute_output_shape(input_shape)

    def compute_output_shape(self, input_shape: Any) -> Shape:
        """`target_shape` behind the batch axis, with -1 worked out (None when the input is not fully known)."""
        batch, *sizes = input_shape
        if None in sizes:
            return (batch, *(None if size == -1 else size for size in self.target_shape))
        present, wanted = prod(sizes), prod(size for size in self.target_shape if size != -1)
        if present % wanted if -1 in self.target_shape else present != wanted:
            raise ValueError(
                f"target_shape {self.target_shape} does not fit the input {tuple(input_shape)}: "
                f"a sample has {present} values."
            )
        return (batch, *(present // wanted if size == -1 else size for size in self.target_shape))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.reshape(inputs.shape[0], *self.target_shape)


def _is_permutation(dims: tuple[int, ...]) -> bool:
    return len(dims) > 0 and sorted(dims) == list(range(1, len(dims) + 1))


class Permute(Layer):
    """The axes in another order: `dims` says for each axis which one comes there, the batch axis (0) apart.

    Shape: (batch, s1, s2, ...) -> (batch, s[dims[0]], s[dims[1]], ...).
    """

    _declares_options = True

    dims: Annotated[Any, integers("must hold each of 1, 2, ... once", _is_permutation)]

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.input_ndim = len(self.dims) + 1

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.permute(0, *self.dims)


class RepeatVector(Layer):
    """The input `n` times, along a new axis of time.

    Shape: (batch, features) -> (batch, n, features).
    """

    n: Positive

    input_ndim = 2

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.unsqueeze(1).expand(-1, self.n, -1)


class Masking(Layer):
    """`x`, with zeros at the time steps where all features are `mask_value`; they are masked from here on.

    Shape: (batch, time, ..., features) -> the same; the mask has (batch, time, ...).
    """

    mask_value: float = 0.0

    supports_masking = True

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs * (inputs != self.mask_value).any(-1, keepdim=True)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True at the time steps that count."""
        return (inputs != self.mask_value).any(-1)


class Lambda(Layer):
    """`function(x, **arguments)`, in Keras's order of axes; a `function` with a parameter `mask` is given the mask.

    `output_shape`: a tuple without the batch axis, or a function of the input shape; found by trying when not given.
    `mask`: the mask of the output, or a function `(inputs, mask) -> mask`. A config has the functions by name only (a
    lambda goes by the name of its layer): loading needs them in `custom_objects`, and no code is ever read from a file.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: Mapping[str, Any] | None = None,
        **layer_options: Any,
    ):
        super().__init__(**layer_options)
        if not callable(function):
            raise ValueError(f"Lambda {self.name!r}: function must be callable; found {function!r}.")
        if not (output_shape is None or callable(output_shape) or isinstance(output_shape, (tuple, list))):
            raise TypeError(
                f"Lambda {self.name!r}: output_shape must be a tuple, a list, a function or None; "
                f"found {output_shape!r}."
            )
        if not (arguments is None or isinstance(arguments, Mapping)):
            raise ValueError(f"Lambda {self.name!r}: arguments must be a dictionary or None; found {arguments!r}.")
        self.function = function
        self.arguments = dict(arguments or {})
        self.mask = mask
        self.supports_masking = mask is not None
        self._output_shape = tuple(output_shape) if isinstance(output_shape, list) else output_shape
        self._takes_mask = _takes_mask(function)

    def forward(self, inputs: Any, mask: Any = None) -> Any:
        if self._takes_mask:
            return self.function(inputs, **{**self.arguments, "mask": mask})
        return self.function(inputs, **self.arguments)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The option `mask`, called when it is a function."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def infer(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Outputs as the function gives them, with the shapes that `output_shape` tells."""
        outputs, output_masks = super().infer(inputs, masks, arguments)
        if self._output_shape is None:
            return outputs, output_masks
        given = [tensor.shape for tensor in inputs] if isinstance(inputs, (list, tuple)) else inputs.shape
        declared = self._declared_shape(given)
        if isinstance(outputs, KerasTensor):
            return KerasTensor(declared, outputs.dtype), output_masks
        assert isinstance(outputs, (list, tuple))
        return [KerasTensor(shape, tensor.dtype) for shape, tensor in zip(declared, outputs, strict=True)], output_masks

    def _declared_shape(self, input_shape: Any) -> Any:
        first = input_shape[0] if isinstance(input_shape, list) else input_shape
        if not callable(self._output_shape):
            return (first[0], *as_list(self._output_shape))
        found = self._output_shape(input_shape)
        if not isinstance(found, (tuple, list)):
            raise ValueError(
                f"Lambda {self.name!r}: the output_shape function must return a tuple or a list of tuples; "
                f"found {found!r}."
            )
        return found

    def _scratch(self, input_shape: Any) -> Layer:
        return self

    def get_config(self) -> dict[str, Any]:
        """The options, functions by their names."""
        by_function = callable(self._output_shape)
        return {
            **super().get_config(),
            "function": self._name_of(self.function),
            "function_type": "function",
            "output_shape": self._name_of(self._output_shape) if by_function else self._output_shape,
            "output_shape_type": "function" if by_function else "raw",
            "mask": self._name_of(self.mask) if callable(self.mask) else None,
            "arguments": self.arguments,
        }

    def _name_of(self, function: Any) -> str:
        name = getattr(function, "__name__", type(function).__name__)
        return self.name if name == "<lambda>" else name

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        """A new layer; its functions come from `custom_objects`. Raises ValueError when one is not found there."""
        options = dict(config)
        options.pop("function_type", None)
        by_function = options.pop("output_shape_type", "raw") != "raw"
        for key in ("function", *(["output_shape"] if by_function else []), *(["mask"] if options.get("mask") else [])):
            options[key] = _own_function(key, options[key], options.get("name"), custom_objects)
        options["arguments"] = {key: _argument(value) for key, value in (options.get("arguments") or {}).items()}
        return cls(**options)


def _takes_mask(function: Callable[..., Any]) -> bool:
    try:
        return "mask" in inspect.signature(function).parameters
    except ValueError:  # a function written in C tells no signature
        return False


def _own_function(key: str, written: Any, layer_name: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    name = written if isinstance(written, str) else layer_name
    for known in (custom_objects or {}, registry.get_custom_objects()):
        if name in known:
            return known[name]
    kept = f"by the name {name!r}" if isinstance(written, str) else "as Python bytecode, which is never run"
    raise ValueError(
        f"Lambda {layer_name!r}: its {key} is stored {kept}; "
        f"pass the function itself: custom_objects={{{name!r}: function}}."
    )


def _argument(value: Any) -> Any:
    """An argument as it was before JSON."""
    is_array = isinstance(value, Mapping) and value.get("type") == "ndarray"
    return np.array(value["value"]) if is_array else value

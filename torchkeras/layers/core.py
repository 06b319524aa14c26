"""Core layers: Dense, Activation, shapes (Flatten, Reshape, Permute, RepeatVector), Masking, Lambda."""

import copy
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import prod
from typing import Annotated, Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from torchkeras import bytecode, registry
from torchkeras.activations import WITH_LOGITS, is_pointwise, relu
from torchkeras.engine.layer.axis_order import Layout, convert, to_keras
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import (
    Activation as ActivationOption,
    Called,
    Constraint,
    DataFormat,
    Initializer,
    Positive,
    Regularizer,
    Rule,
    integers,
    optional,
    rule,
)
from torchkeras.engine.layer.symbolic import KerasTensor, Shape, as_list
from torchkeras.engine.layer.weight import weight
from torchkeras.errors import ArchitectureError
from torchkeras.regularizers import L1L2


class KernelLayer(Layer, abstract=True):
    """What layers with a kernel and a bias share.

    Options:
        kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
        bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
        kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
        bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
        activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
        kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
        bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.
    """

    kernel_initializer: Initializer = "glorot_uniform"
    bias_initializer: Initializer = "zeros"
    kernel_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    kernel_constraint: Constraint = None
    bias_constraint: Constraint = None


class Dense(KernelLayer):
    """`activation(x @ kernel + bias)` over the last axis.

    Options:
        units (positive integer): the size of the last axis of the output.
        activation (name, function or None, default None): applied to the sum; None applies nothing.
        use_bias (bool, default True): whether a bias is added.

    Shapes:
        (batch, ..., features) -> (batch, ..., units)

    Example:
        >>> Dense(4, activation="relu")(torch.zeros(2, 3)).shape
        torch.Size([2, 4])

    Source: https://keras.io/api/layers/core_layers/dense/
    """

    units: Positive
    activation: ActivationOption = None
    use_bias: bool = True

    kernel = weight("linear.weight", keras="features units", torch="units features")
    bias = weight("linear.bias", keras="units", when="use_bias")

    supports_masking = True

    def _make_modules(self, input_shape: Any) -> None:
        self.linear = nn.Linear(self._known_size(input_shape, -1), self.units, bias=self.use_bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.activation(self.linear(inputs))

    class _Facts(Facts):
        min_input_ndim = 2
        product = "linear"

        def shape_from(self, input_shape: Shape) -> Shape:
            return (*input_shape[:-1], self.layer.units)

        def direct(self) -> Callable[..., torch.Tensor]:
            layer = self.layer
            inside, linear, weights = layer._modules, layer.linear, layer.linear._parameters
            if type(linear) is not nn.Linear:
                return layer.forward

            def run(inputs: torch.Tensor) -> torch.Tensor:
                if inside["linear"] is not linear:  # which another module has taken the place of
                    return layer.forward(inputs)
                return layer.activation(F.linear(inputs, weights["weight"], weights["bias"]))

            return run

        @property
        def ends_in(self) -> str | None:  # type: ignore[override]
            return WITH_LOGITS.get(self.layer.activation)

        def logits(self, inputs: torch.Tensor) -> torch.Tensor:
            return self.layer.linear(inputs)


class Activation(Layer):
    """`activation(x)`.

    Shape: any -> the same.
    """

    activation: ActivationOption

    supports_masking = True

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.activation(inputs)

    class _Facts(Facts):
        @property
        def keeps_shape(self) -> bool:  # type: ignore[override]
            return is_pointwise(self.layer.activation)

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.ANY if is_pointwise(self.layer.activation) else Layout.KERAS

        def in_place(self) -> Callable[..., torch.Tensor] | None:
            return torch.relu_ if self.layer.activation is relu else None

        def before_relu(self) -> Callable[..., torch.Tensor] | None:
            return (lambda inputs: inputs) if self.layer.activation is relu else None

        @property
        def ends_in(self) -> str | None:  # type: ignore[override]
            return WITH_LOGITS.get(self.layer.activation)

        def logits(self, inputs: torch.Tensor) -> torch.Tensor:
            return inputs


class ActivityRegularization(Layer):
    """`x`; its calls add `l1 * sum(abs(x)) + l2 * sum(x ** 2)` to the loss.

    Shape: any -> the same.
    """

    l1: float = 0.0
    l2: float = 0.0

    supports_masking = True

    class _Facts(Facts):
        keeps_shape = True
        native_layout = Layout.ANY

    @property
    def activity_regularizer(self) -> L1L2:
        return L1L2(self.l1, self.l2)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs


class Identity(Layer):
    """`x`, also of several tensors, nested or not.

    Shape: any -> the same.
    """

    supports_masking = True

    class _Facts(Facts):
        native_layout = Layout.ANY

    def forward(self, inputs: Any) -> Any:
        return inputs


class Flatten(Layer):
    """All axes but the batch axis in one; with data_format='channels_first' the channels are moved to the end first.

    Shape: (batch, ...) -> (batch, product of the others). Raises ValueError when one of them is not known.
    """

    data_format: DataFormat = None

    class _Facts(Facts):
        min_input_ndim = 3

    def _make_modules(self, input_shape: Any) -> None:
        if None in input_shape[1:]:
            raise ValueError(
                f"the input must be fully defined but for the batch axis; found {tuple(input_shape)}. "
                "Give the first layer a complete input_shape or batch_input_shape."
            )

    def _follow_keras1(self) -> None:
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

    def _make_modules(self, input_shape: Any) -> None:
        self.compute_output_shape(input_shape)

    def compute_output_shape(self, input_shape: Any) -> Shape:
        """`target_shape` behind the batch axis, with -1 worked out (None when the input is not fully known)."""
        batch, *sizes = input_shape
        told, left = prod(size for size in self.target_shape if size != -1), None
        if None not in sizes:
            left, rest = divmod(prod(sizes), told)
            if rest or (left != 1 and -1 not in self.target_shape):
                raise ValueError(
                    f"target_shape {self.target_shape} does not fit the input {tuple(input_shape)}: "
                    f"a sample has {prod(sizes)} values."
                )
        return (batch, *(left if size == -1 else size for size in self.target_shape))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.reshape(inputs.shape[0], *self.target_shape)


def _is_permutation(dims: tuple[int, ...]) -> bool:
    return len(dims) > 0 and sorted(dims) == list(range(1, len(dims) + 1))


class Permute(Layer):
    """The axes in another order: `dims` says for each axis which one comes there, the batch axis (0) apart.

    Shape: (batch, s1, s2, ...) -> (batch, s[dims[0]], s[dims[1]], ...).
    """

    dims: Annotated[Any, integers("must hold each of 1, 2, ... once", _is_permutation)]

    class _Facts(Facts):
        @property
        def input_ndim(self) -> int:  # type: ignore[override]
            return len(self.layer.dims) + 1

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.permute(0, *self.dims)


class RepeatVector(Layer):
    """The input `n` times, along a new axis of time.

    Shape: (batch, features) -> (batch, n, features).
    """

    n: Positive

    class _Facts(Facts):
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


FUNCTIONS = bytecode.SINKS["Lambda"]
ToldShape = Annotated[
    Any,
    rule(
        "must be a tuple, a list, a function or None",
        lambda v: callable(v) or isinstance(v, (tuple, list, type(None))),
        takes="Sequence[int | None] | Callable[..., Any] | None",
    ),
    Called("output_shape"),
]
DICTIONARY = "Mapping[str, Any]"
Arguments = Annotated[
    Any, optional(rule("must be a dictionary or None", lambda v: isinstance(v, Mapping), dict, DICTIONARY))
]


def _read_callable(value: Any) -> Any:
    if not callable(value):
        raise ValueError(f"must be callable; found {value!r}.")
    owner = value
    while hasattr(owner, "func"):  # a partial
        owner = owner.func
    owner = getattr(owner, "__self__", owner)
    if isinstance(owner, nn.Module) and owner is not value:
        raise ValueError(
            f"must not use the module {type(owner).__name__} behind the layer's back, which would neither train it nor "
            "set its mode; write TorchModule(module), or give the module itself."
        )
    return value


class Lambda(Layer):
    """`function(x, **arguments)`, in Keras's order of axes; a `function` with a parameter `mask` is given the mask.

    A module of torch given as `function` is a part of the layer, as in `TorchModule`.

    `output_shape`: a tuple without the batch axis, or a function of the input shape; found by trying when not given.
    `mask`: the mask of the output, or a function `(inputs, mask) -> mask`. A config has the functions by name only (a
    lambda goes by the name of its layer; one for `output_shape` by "layer.output_shape"): loading needs them in
    `custom_objects`, and no code is ever read from a file.

    Shape: any -> as the function gives it.
    """

    function: Annotated[Any, Rule(_read_callable, takes="Callable[..., Any]")]
    told_shape: ToldShape = None
    mask: Annotated[Any, Rule(lambda v: v)] = None
    arguments: Arguments = None

    _takes_mask: bool = False

    class _Facts(Facts):
        keeps_types = True

    def _make_modules(self, input_shape: Any) -> None:
        with suppress(ValueError):  # a function written in C tells no signature
            self._takes_mask = "mask" in inspect.signature(self.function).parameters

    def forward(self, inputs: Any, mask: Any = None) -> Any:
        given = {"mask": mask} if self._takes_mask else {}
        return self.function(inputs, **{**(self.arguments or {}), **given})

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The option `mask`, called when it is a function."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Outputs as the function gives them, with the shapes that `output_shape` tells."""
        outputs, output_masks = super()._infer_outputs(inputs, masks, arguments)
        told, shapes = self.told_shape, [tensor.shape for tensor in as_list(inputs)]
        if told is None:
            return outputs, output_masks
        if not callable(told):
            told = (shapes[0][0], *told)
        elif not isinstance(told := told(shapes if isinstance(inputs, (list, tuple)) else shapes[0]), (tuple, list)):
            text = "the output_shape function must return a tuple or a list of tuples"
            raise ValueError(f"Lambda {self.name!r}: {text}; found {told!r}.")
        if isinstance(outputs, KerasTensor):
            return KerasTensor(told, outputs.dtype), output_masks
        return [KerasTensor(shape, tensor.dtype) for shape, tensor in zip(told, outputs, strict=True)], output_masks

    def _scratch(self, input_shape: Any) -> Layer:
        self._make_modules(input_shape)
        return self

    def get_config(self) -> dict[str, Any]:
        """The options, functions by their names."""
        config = {**super().get_config(), "arguments": self.arguments or {}}
        config["output_shape_type"] = "function" if callable(self.told_shape) else "raw"
        named = {key: self._name_of(key, config[key]) for key in FUNCTIONS if callable(config[key])}
        return {**config, "function_type": "function", "mask": None, **named}

    def _name_of(self, option: str, function: Any) -> str:
        name = getattr(function, "__name__", type(function).__name__)
        return bytecode.place(option, self.name) if name == "<lambda>" else name

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        """A new layer; its functions come from `custom_objects`.

        Raises ValueError when one is not found there, ForbiddenContentError when the config has it as bytecode.
        """
        arguments = config.get("arguments") or {}
        if not isinstance(arguments, Mapping):
            raise ValueError(f"Lambda {config.get('name')!r}: arguments must be a dictionary or None.")
        options = with_functions("Lambda", config, custom_objects)
        return cls(**{**options, "arguments": {key: _argument(v) for key, v in arguments.items()}})


def with_functions(
    kind: str, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The options of a Lambda or Merge, with the functions that the user gives for those that were functions.

    Raises ArchitectureError when one is not given, ForbiddenContentError when the config has it as bytecode.
    """
    options = dict(config)
    for option in bytecode.SINKS[kind]:
        written = options.pop(f"{option}_type", None)
        if written not in bytecode.KINDS:
            raise ValueError(f"{kind} {config.get('name')!r}: {option}_type must be one of {bytecode.KINDS}.")
        how = bytecode.kept(option, config)
        if how != "value":
            options[option] = _own_function(kind, option, how, config, custom_objects)
    return options


def _own_function(
    kind: str, option: str, how: str, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None
) -> Any:
    """The function that the user gives for an option: under its own name when that is known, or the layer's."""
    layer_name = config.get("name")
    own = bytecode.place(option, layer_name)
    name = bytecode.name_of(config[option]) if how == "name" else own
    known = {**registry.get_custom_objects(), **(custom_objects or {})}
    for key in (name, own):
        if key in known:  # a module may be given for several layers and models
            return copy.deepcopy(known[key]) if isinstance(known[key], nn.Module) else known[key]
    if how == "bytecode":
        raise bytecode.refusal(kind, option, layer_name)
    raise ArchitectureError(
        f"{kind} {layer_name!r}: its {option} is stored by the name {name!r}; "
        f"pass the function itself: custom_objects={{{name!r}: function}}."
    )


def _argument(value: Any) -> Any:
    """An argument as it was before JSON."""
    is_array = isinstance(value, Mapping) and value.get("type") == "ndarray"
    return np.array(value["value"]) if is_array else value

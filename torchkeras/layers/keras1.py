"""Layers that only Keras 1 had: Highway, MaxoutDense, TimeDistributedDense, Cosine, and Merge with `merge`."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from torchkeras import config, registry
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import Activation, Positive
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.engine.weights.weight import weight
from torchkeras.initializers import Ones, Zeros
from torchkeras.layers.core import Dense, KernelLayer
from torchkeras.layers.functions import Lambda, with_functions
from torchkeras.layers.merging import Add, Average, Concatenate, Dot, Maximum, Multiply, batch_dot
from torchkeras.legacy.names import SIGNATURES


class _OldNames(KernelLayer, abstract=True):
    """A layer of which Keras 2.2.4 has Keras 1's options, under their old names. So has its config."""

    def get_config(self) -> dict[str, Any]:
        row = (option.partition(">") for option in SIGNATURES[self._class_name].split())
        old = {new: name for name, _, new in row if new}
        config = super().get_config()
        if isinstance(self.bias_initializer, Zeros):
            del config["bias_initializer"]  # which the old layers do not have
        return {old.get(name, name): value for name, value in config.items()}


class Highway(_OldNames):
    """`gate * activation(x @ kernel + bias) + (1 - gate) * x`, where `gate = sigmoid(x @ carry_kernel + carry_bias)`.

    A layer of Keras 1. `kernel_initializer` is that of both kernels; `carry_bias` begins at 1. The other options of
    kernel and bias do not concern the gate.

    Options:
        activation (name, function or None, default None): applied to the sum; None applies nothing.
        use_bias (bool, default True): whether `bias` and `carry_bias` are added.

    Shapes:
        (batch, features) -> the same

    Example:
        >>> Highway(activation="relu")(torch.zeros(2, 3)).shape
        torch.Size([2, 3])

    Source: https://arxiv.org/abs/1505.00387
    """

    activation: Activation = None
    use_bias: bool = True

    kernel = weight("linear.weight", keras="features units", torch="units features")
    carry_kernel = weight("carry.weight", keras="features units", torch="units features")
    bias = weight("linear.bias", keras="units", when="use_bias")
    carry_bias = weight("carry.bias", keras="units", when="use_bias")

    class _Facts(Facts):
        input_ndim = 2
        keeps_shape = True

    def _initializer_of(self, option: str) -> Any:
        own = {"carry_kernel": self.kernel_initializer, "carry_bias": Ones()}
        return own.get(option) or super()._initializer_of(option)

    def _make_modules(self, input_shape: Any) -> None:
        features = self._known_size(input_shape, -1)
        self.linear = nn.Linear(features, features, bias=self.use_bias)
        self.carry = nn.Linear(features, features, bias=self.use_bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return torch.lerp(inputs, self.activation(self.linear(inputs)), torch.sigmoid(self.carry(inputs)))


def _maps(layer: Layer, tensor: torch.Tensor) -> torch.Tensor:
    return tensor.unflatten(0, (layer.nb_feature, layer.units))


def _transposed_maps(layer: Layer, tensor: torch.Tensor) -> torch.Tensor:
    return _maps(layer, tensor).transpose(1, 2)


class MaxoutDense(_OldNames):
    """`max over k of x @ kernel[k] + bias[k]`: the largest of `nb_feature` linear maps, value by value.

    A layer of Keras 1.

    Options:
        units (positive integer): the size of the last axis of the output.
        nb_feature (positive integer, default 4): the number of linear maps.
        use_bias (bool, default True): whether a bias is added, one for each map.

    Shapes:
        (batch, features) -> (batch, units)

    Example:
        >>> MaxoutDense(4, nb_feature=2)(torch.zeros(2, 3)).shape
        torch.Size([2, 4])

    Source: https://arxiv.org/abs/1302.4389
    """

    units: Positive
    nb_feature: Positive = 4
    use_bias: bool = True

    kernel = weight("linear.weight", pieces=_transposed_maps)
    bias = weight("linear.bias", pieces=_maps, when="use_bias")

    class _Facts(Facts):
        input_ndim = 2

    def _make_modules(self, input_shape: Any) -> None:
        self.linear = nn.Linear(self._known_size(input_shape, -1), self.nb_feature * self.units, bias=self.use_bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.linear(inputs).unflatten(-1, (self.nb_feature, self.units)).amax(1)


class TimeDistributedDense(Dense):
    """`activation(x @ kernel + bias)` at every time step.

    A layer of Keras 1; `Dense` computes the same.

    Shapes:
        (batch, time, features) -> (batch, time, units)

    Example:
        >>> TimeDistributedDense(4)(torch.zeros(2, 5, 3)).shape
        torch.Size([2, 5, 4])
    """

    class _Facts(Facts):
        input_ndim = 3


class Cosine(Dot):
    """The cosine of two inputs, `a.b / max(sqrt(a.a * b.b), epsilon)`, as Keras 1's `merge` computes it.

    `epsilon` is `config.epsilon()`. The output has an extra axis of size 1, as in Keras 1.

    Options:
        normalize (bool, default False): changes nothing; a cosine is normalized anyway.

    Shapes:
        [(batch, n), (batch, n)] -> (batch, 1, 1)

    Example:
        >>> Cosine(1)([torch.tensor([[3.0, 4.0]]), torch.tensor([[3.0, 4.0]])]).tolist()
        [[[1.0]]]
    """

    def forward(self, inputs: Any) -> torch.Tensor:
        first, second = inputs[0].movedim(self._axes[0], -1), inputs[1].movedim(self._axes[1], -1)
        product, *squares = (
            batch_dot(a, b.movedim(-1, 1)) for a, b in ((first, second), (first, first), (second, second))
        )
        return (product / (squares[0] * squares[1]).sqrt().clamp_min(config.epsilon())).unsqueeze(1)


MODES: Mapping[str, type[Layer]] = {
    "sum": Add,
    "mul": Multiply,
    "concat": Concatenate,
    "ave": Average,
    "cos": Cosine,
    "dot": Dot,
    "max": Maximum,
}


def Merge(  # noqa: N802  (Keras 1's name)
    layers: Any = None,
    mode: Any = "sum",
    concat_axis: int = -1,
    dot_axes: Any = -1,
    output_shape: Any = None,
    output_mask: Any = None,
    arguments: Mapping[str, Any] | None = None,
    node_indices: Sequence[int] | None = None,
    tensor_indices: Sequence[int] | None = None,
    name: str | None = None,
) -> Layer:
    """Today's layer for a mode of Keras 1's Merge.

    With `layers` the layer is called on their outputs at once, and can begin a Sequential.

    Arguments:
        layers (list of layers, models or symbolic tensors, or None, default None): whose outputs are merged.
        mode (string or function, default "sum"): "sum" makes an Add, "mul" a Multiply, "concat" a Concatenate, "ave" an
            Average, "cos" a Cosine, "dot" a Dot, "max" a Maximum, and a function of the list of inputs a Lambda.
        concat_axis (integer, default -1): the axis of "concat".
        dot_axes (integer or two integers, default -1): the axes of "dot" and "cos".
        output_shape (tuple, function or None, default None): that of the Lambda.
        output_mask (tensor, function or None, default None): the mask of the Lambda's output, or a function of the list
            of masks.
        arguments (dictionary or None, default None): those of the Lambda.
        node_indices (list of integers or None, default None): which call of each of `layers` is meant; None means the
            first.
        tensor_indices (list of integers or None, default None): which output of each call is meant; None means the
            first.
        name (string or None, default None): the name of the layer.

    Errors:
        ValueError: for an unknown mode, and for an option of a Lambda with a mode that is no function.

    Example:
        >>> Merge(mode="sum")([torch.ones(1, 2), torch.ones(1, 2)])
        tensor([[2., 2.]])
    """
    if callable(mode):
        mask = (lambda _, masks: output_mask(masks)) if callable(output_mask) else output_mask
        merging: Layer = Lambda(mode, output_shape=output_shape, mask=mask, arguments=arguments, name=name)
    else:
        for option, value in (("output_shape", output_shape), ("output_mask", output_mask), ("arguments", arguments)):
            if value:
                raise ValueError(f"merge: {option} goes with a function as mode; found {value!r} with mode {mode!r}.")
        if mode not in MODES:
            raise ValueError(f"merge: mode must be a function or one of {', '.join(map(repr, MODES))}; found {mode!r}.")
        axes = {"concat": {"axis": concat_axis}, "dot": {"axes": dot_axes}, "cos": {"axes": dot_axes}}
        merging = MODES[mode](**axes.get(mode, {}), name=name)
    if layers is not None:
        nodes, outputs = node_indices or [0] * len(layers), tensor_indices or [0] * len(layers)
        merging([_output(*place) for place in zip(layers, nodes, outputs, strict=True)])
    return merging


def _merge_from_config(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
    """The layer of a config of Keras 1, called on the outputs of the `layers` (or models) that the config has.

    Functions come from `custom_objects`. Raises as `with_functions`, and ValueError for an unknown mode.
    """
    options = with_functions("Merge", config, custom_objects)
    branches = options.pop("layers", None)
    made: list[Any] = []
    for index, branch in enumerate(branches or ()):
        before = branches.index(branch)  # a branch that is used twice is written twice
        made.append(made[before] if before < index else registry.layers.from_config(branch, custom_objects))
    return Merge(made or None, **options)


Merge.from_config = _merge_from_config  # type: ignore[attr-defined]
registry.layers.register("Merge", Merge)  # type: ignore[arg-type]


def _output(source: Any, node: int, index: int) -> KerasTensor:
    return source if isinstance(source, KerasTensor) else as_list(source.get_output_at(node))[index]


def merge(
    inputs: Any,
    mode: Any = "sum",
    concat_axis: int = -1,
    dot_axes: Any = -1,
    output_shape: Any = None,
    output_mask: Any = None,
    arguments: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Any:
    """`Merge(mode=mode, ...)(inputs)`, Keras 1's function.

    Arguments:
        inputs (list of tensors): symbolic or real ones.
        mode (string or function, default "sum"): as of `Merge`.
        concat_axis (integer, default -1): the axis of "concat".
        dot_axes (integer or two integers, default -1): the axes of "dot" and "cos".
        output_shape (tuple, function or None, default None): with a function as mode, that of its Lambda.
        output_mask (tensor, function or None, default None): with a function as mode, the mask of the output, or a
            function of the list of masks.
        arguments (dictionary or None, default None): with a function as mode, its further arguments.
        name (string or None, default None): the name of the layer.

    Example:
        >>> merge([torch.zeros(1, 2), torch.zeros(1, 3)], mode="concat").shape
        torch.Size([1, 5])
    """
    merging = Merge(None, mode, concat_axis, dot_axes, output_shape, output_mask, arguments, name=name)
    return merging(inputs)

"""Layers around another layer: their base `Wrapper`, TimeDistributed and SpectralNormalization."""

from collections.abc import Mapping
from itertools import repeat
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import initializers, registry
from torchkeras.base.extensions import replaceable
from torchkeras.base.rules import Rule, integer
from torchkeras.engine.facts import Facts, facts_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import call_module
from torchkeras.engine.options import NEWER
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape
from torchkeras.engine.weights.weight import Variable, own_variables, weight
from torchkeras.engine.weights.weight_lists import ordered_weights
from torchkeras.layers.normalization import BatchNormalization
from torchkeras.layers.torch_module import as_layer


def _read_layer(value: Any) -> Layer:
    layer = registry.layers.from_config(value) if isinstance(value, Mapping) else as_layer(value)
    if not isinstance(layer, Layer):
        raise ValueError(f"must be a layer or the config of one; found {value!r}.")
    return layer


# Each is a step of a loop: a file must not ask for an endless one.
Iterations = Annotated[int, integer(1, 10_000)]
INNER_LAYER = Rule(_read_layer, registry.layers.serialize, takes="Module | Mapping[str, Any]")
InnerLayer = Annotated[Any, INNER_LAYER]


class Wrapper(Layer, abstract=True):
    """A layer that computes by another one, `layer`, and has its weights: the base of all wrappers.

    `trainable` is that of the inner layer; setting it on the wrapper sets it there.

    Options:
        layer (layer, module of torch or config of a layer): the inner layer; a module becomes a `TorchModule`.

    Example:
        >>> wrapper = TimeDistributed(Dense(2, name="inner"))
        >>> wrapper.layer.name, isinstance(wrapper, Wrapper)
        ('inner', True)
    """

    layer: InnerLayer

    def __init__(self, *args: Any, **given: Any):
        trainable = given.get("trainable")
        super().__init__(*args, **given)
        if trainable is False:  # True, as configs have it, says nothing of a layer that is frozen itself
            self.trainable = trainable

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        return cls(**{**config, "layer": registry.layers.from_config(config["layer"], custom_objects)})

    @property
    def inner_layers(self) -> list[Layer]:
        """The layers that compute; an empty list while the wrapper is being made."""
        return [self.layer] if "layer" in self._modules else []

    @property
    def trainable(self) -> bool:
        """Whether training changes weights of the inner layers."""
        return self._freezing.trainable and (
            not self.inner_layers or any(layer.trainable for layer in self.inner_layers)
        )

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for layer in self.inner_layers:
            layer.trainable = value
        Layer.trainable.fset(self, value)  # type: ignore[attr-defined]

    @property
    def activity_regularizer(self) -> Any:
        """That of the inner layer, whose output is the wrapper's."""
        return getattr(self.layer, "activity_regularizer", None)

    def inner_shape(self, input_shape: Any) -> Any:
        """The shape that the inner layer gets for an input of this shape."""
        return input_shape

    def build(self, input_shape: Any) -> None:
        self.layer._build([self.inner_shape(input_shape)])
        self.built = True

    def _ordered_weights(self) -> list[Variable]:
        return [variable for layer in self.inner_layers for variable in ordered_weights(layer)]


@replaceable("compute_mask")
class TimeDistributed(Wrapper):
    """`output[:, t] = layer(x[:, t])`, in one call: the time steps are folded into the batch.

    A layer that takes a mask gets the mask of its step. The output's mask is what the layer's `compute_mask` returns,
    or where that is None the input's mask.

    Options:
        by_steps (bool, default False): whether a BatchNormalization in the layer trains on the batch of each step in
            turn, as in Keras 3; models from its files have it set.

    Shapes:
        (batch, time, ...) -> (batch, time, ...), where the last axes are those of `layer`

    Example:
        >>> TimeDistributed(Conv2D(4, 3))(torch.zeros(2, 5, 8, 8, 1)).shape
        torch.Size([2, 5, 6, 6, 4])

    Source: https://keras.io/api/layers/recurrent_layers/time_distributed/
    """

    by_steps: Annotated[bool, NEWER] = False

    class _Facts(Facts):
        min_input_ndim = 3

    supports_masking = True
    _gives_mask: Mapping[bool, bool] = {}  # whether the inner layer gives a mask, without and with one

    def inner_shape(self, input_shape: Any) -> Shape:
        # The inner layer's batch has a sample for every step of every sample.
        return (None, *input_shape[2:])

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Outputs and masks by the inner layer's `_infer_outputs`, so that a model inside is asked, not run."""
        (mask,), leading = masks, inputs.shape[:2]
        taken = [x if x is None else KerasTensor(self.inner_shape(x.shape), x.dtype) for x in (inputs, mask)]
        output, (found,) = self.layer._infer_outputs(taken[0], taken[1:], {})
        self.__dict__.update(_changed_inputs=self.layer._changed_inputs, _is_unseen=self.layer._is_unseen)
        self._gives_mask = {**self._gives_mask, mask is not None: found is not None}
        if found is not None:
            mask = KerasTensor((*leading, *found.shape[1:]), found.dtype)
        elif mask is not None:
            mask = KerasTensor(mask.shape[:2], mask.dtype)
        return KerasTensor((*leading, *output.shape[1:]), output.dtype), [mask]

    def compute_output_shape(self, input_shape: Any) -> Shape:
        return (*input_shape[:2], *self.layer.compute_output_shape(self.inner_shape(input_shape))[1:])

    def forward(self, inputs: Tensor, mask: Tensor | None = None, training: bool | None = None) -> Tensor:
        learns = self.by_steps and (self.training if training is None else training)
        if learns and any(isinstance(each, BatchNormalization) for each in self.layer.modules()):
            steps = zip(inputs.split(1, 1), repeat(None) if mask is None else mask.split(1, 1), strict=False)
            return torch.cat([self._at_once(*step, training) for step in steps], 1)
        return self._at_once(inputs, mask, training)

    def _at_once(self, inputs: Tensor, mask: Tensor | None, training: bool | None) -> Tensor:
        passed = {"mask": _folded(mask), "training": training}
        taken = self.layer._call_parameters
        given = {name: value for name, value in passed.items() if value is not None and name in taken}
        return self.layer(_folded(inputs), **given).unflatten(0, inputs.shape[:2])

    @property
    def _makes_masks(self) -> bool:
        return self.layer._makes_masks

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if self._gives_mask.get(mask is not None, True):
            found = self.layer.compute_mask(_folded(inputs), _folded(mask))
            if found is not None:
                return found.unflatten(0, inputs.shape[:2])
        return mask if mask is None or mask.dim() == 2 else mask.flatten(2).any(-1)


def _folded(value: Any) -> Any:
    """(batch, time, ...) -> (batch * time, ...)"""
    return None if value is None else value.flatten(0, 1)


KERNELS = ("kernel", "embeddings")


class SpectralNormalization(Wrapper):
    """`layer`, with its kernel W divided by W's largest singular value at the start of each call in training.

    W is the kernel or the embeddings, as a matrix whose columns are the last axis. Its singular value is estimated by
    steps of `v = unit(u @ W.T); u = unit(v @ W)`; the weight `vector_u` keeps u from call to call. No gradient flows
    through the division, and a kernel of zeros stays as it is.

    Options:
        layer (layer, module of torch or config of a layer): the inner layer, with a kernel or embeddings.
        power_iterations (integer from 1 to 10000, default 1): the number of steps of the estimate.

    Shapes:
        those of `layer`

    Errors:
        ValueError: a layer with neither kernel nor embeddings.

    Example:
        >>> layer = SpectralNormalization(Dense(2, kernel_initializer="ones"), power_iterations=5)
        >>> output = layer(torch.ones(1, 2), training=True)
        >>> round(torch.linalg.matrix_norm(layer.layer.kernel, 2).item(), 3)
        1.0

    Source: https://arxiv.org/abs/1802.05957
    """

    power_iterations: Iterations = 1

    vector_u = weight("singular_vector", keras="one units", trainable=False)
    vector_u_initializer: ClassVar[Any] = initializers.TruncatedNormal(stddev=0.02)

    class _Facts(Facts):
        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return facts_of(self.layer.layer).layout

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        Layer.build(self, input_shape)

    def _make_modules(self, input_shape: Any) -> None:
        self.register_buffer("singular_vector", torch.empty(1, self._kernel().shape[-1]))

    def _kernel(self) -> Variable:
        found = [variable for variable in own_variables(self.layer) if variable.name in KERNELS]
        if not found:
            raise ValueError(
                f"layer {type(self.layer).__name__} {self.layer.name!r} has neither kernel nor embeddings."
            )
        return found[0]

    def forward(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        if self.training if training is None else training:
            self._normalize(self._kernel())
        passed = {} if training is None or "training" not in self.layer._call_parameters else {"training": training}
        return call_module(self.layer, inputs, **passed)

    @torch.no_grad()
    def _normalize(self, kernel: Variable) -> None:
        values = kernel.value
        matrix, u = values.reshape(-1, values.shape[-1]), self.singular_vector
        for _ in range(self.power_iterations):
            v = F.normalize(u @ matrix.T, eps=1e-7)
            u = F.normalize(v @ matrix, eps=1e-7)
        is_zero = (matrix == 0).all()
        largest = torch.where(is_zero, 1.0, (v @ matrix @ u.T).squeeze())
        self.singular_vector.copy_(torch.where(is_zero, self.singular_vector, u))
        kernel.arrangement.assign(kernel.tensors, values / largest)

    def _ordered_weights(self) -> list[Variable]:
        kernel, *others = sorted(ordered_weights(self.layer), key=lambda variable: variable.name not in KERNELS)
        return [kernel, *own_variables(self), *others]

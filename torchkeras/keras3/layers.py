"""`keras.layers` of Keras 3.15: the layers of this package with Keras 3's arguments, defaults and habits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from difflib import get_close_matches
from math import prod
from operator import attrgetter
from typing import Any, NoReturn

import torch

from torchkeras import config, layers
from torchkeras.base.fixed_lists import Weights
from torchkeras.base.naming import count_name
from torchkeras.base.nested import leaves
from torchkeras.engine.facts import Facts
from torchkeras.engine.graph.network import as_tensors
from torchkeras.engine.layer.layer import Layer as BaseLayer
from torchkeras.engine.options import options_of
from torchkeras.engine.shapes import input_spec
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras3 import convolutions, lora, recurrent
from torchkeras.keras3.dialect import CLASSES
from torchkeras.keras3.differences import (
    ATTRIBUTES,
    CELLS,
    SHAPES,
    STATELESS,
    SUPPORT_MASKING,
    TAKE_INTEGERS,
    TAKE_LISTS,
    WEIGHTS,
)
from torchkeras.keras3.layer import RULES, Layer
from torchkeras.keras3.serialization import deserialize_keras_object, serialize_keras_object
from torchkeras.layers.image_samples import ImageLayer
from torchkeras.layers.wrappers import KERNELS
from torchkeras.saving import keras3_names

InputSpec = input_spec.InputSpec


def _reset_state(layer: Layer) -> None:
    """Set the states that are carried from batch to batch to zeros, if there are any."""
    if layer.stateful and layer.built:
        layer.reset_states()


def _of_arrays(compute_mask: Callable[..., Any]) -> Callable[..., Any]:
    """`compute_mask` of a layer, for arrays too."""

    def of_arrays(layer: Layer, inputs: Any, mask: Any = None) -> Any:
        return compute_mask(layer, *as_tensors((inputs, mask), (), config.device()))

    of_arrays.__name__, of_arrays.__doc__ = "compute_mask", compute_mask.__doc__
    return of_arrays


def _twin(base: type[BaseLayer], *bases: type) -> type[Layer]:
    """The class of Keras 3 for one of this package: derived from it, with what `differences.py` says."""
    made: dict[str, Any] = {"__module__": __name__, "__qualname__": base.__name__}
    for ours, theirs in WEIGHTS.get(base.__name__, {}).items():
        declaration = copy(getattr(base, ours))
        declaration.name = theirs
        made.update({ours: declaration, theirs: property(attrgetter(ours), doc=f"The weight {theirs!r}.")})
    for ours, theirs in ATTRIBUTES.get(base.__name__, {}).items():
        made[theirs] = property(attrgetter(ours), doc=f"The option {theirs!r}.")
    for adapted in lora.BASES.get(base, ()):
        made[adapted._adapts] = lora.adapted(getattr(base, adapted._adapts))
    made["_is_stateless"] = base.__name__ in STATELESS
    made["_takes_integers"] = base.__name__ in TAKE_INTEGERS
    made["_takes_lists"] = base.__name__ in TAKE_LISTS
    if base.__name__ in CELLS:
        made["_cell_name"] = CELLS[base.__name__]
    if base.__name__ in SHAPES:
        made["_names_of_shapes"] = SHAPES[base.__name__]
    if base.__name__ in SUPPORT_MASKING:
        made["supports_masking"] = True
    if base.reset_states is not BaseLayer.reset_states:
        made["reset_state"] = _reset_state
    if base.compute_mask is not BaseLayer.compute_mask:
        made["compute_mask"] = _of_arrays(base.compute_mask)
    if issubclass(base, (ImageLayer, layers.Pipeline)):
        made["_trains_by_hand"] = True  # their `call` has training=True by default
    return type(base)(base.__name__, (*(bases or (Layer,)), base), made, abstract=True)  # type: ignore[return-value]


class InputLayer(Layer, layers.InputLayer, abstract=True):
    """The layer of an `Input`: its one output is a symbolic tensor.

    Options:
        shape (tuple of integers or None, default None): the shape without the batch axis; a size may be None, which
            means unknown. Either this or `batch_shape` must be given.
        batch_size (positive integer or None, default None): goes with `shape`; None allows any.
        dtype (name or None, default None): the type of the tensor; None takes `config.floatx()`.
        batch_shape (tuple of integers or None, default None): the shape with the batch axis.
        name (text or None, default None): the name of the layer and of its tensor.
        sparse, ragged, optional (False or None, default): other tensors, and None as an input, are not supported.

    Errors:
        ValueError: an option has a bad value, or neither shape is given.

    Example:
        >>> InputLayer((28, 28, 1)).output.shape
        (None, 28, 28, 1)

    Source: https://keras.io/api/layers/core_layers/input/
    """

    def __init__(
        self,
        shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        sparse: Any = None,
        ragged: Any = None,
        batch_shape: Any = None,
        input_tensor: Any = None,
        optional: bool = False,
        name: str | None = None,
        **older: Any,
    ) -> None:
        if "input_shape" in older:
            warnings.warn("InputLayer: give shape; input_shape is its name in Keras 2.", stacklevel=2)
        shape, batch_shape = older.pop("input_shape", shape), older.pop("batch_input_shape", batch_shape)
        name = count_name("input_layer") if name is None else name
        if None not in (batch_size, batch_shape):
            raise ValueError(f"Input {name!r}: give batch_size or batch_shape, not both.")
        for option, value in (("sparse", sparse), ("ragged", ragged), ("optional", optional)):
            if value:
                raise ValueError(f"Input {name!r}: {option} must be False; such inputs are not supported.")
        super().__init__(
            input_shape=(shape,) if isinstance(shape, int) else shape,
            batch_size=batch_size,
            batch_input_shape=batch_shape,
            dtype=dtype,
            input_tensor=input_tensor,
            name=name,
            **older,
        )

    sparse = ragged = optional = False

    @property
    def batch_shape(self) -> Any:
        """The shape with the batch axis."""
        return self.batch_input_shape

    def call(self) -> None:
        """Nothing: its output is the data."""


def Input(  # noqa: N802  (Keras's name)
    shape: Any = None,
    batch_size: int | None = None,
    dtype: Any = None,
    sparse: Any = None,
    ragged: Any = None,
    batch_shape: Any = None,
    name: str | None = None,
    tensor: Any = None,
    optional: bool = False,
) -> KerasTensor:
    """A symbolic tensor, with which a graph begins.

    Arguments:
        shape (tuple of integers or None, default None): the shape without the batch axis; a size may be None, which
            means unknown. Either this or `batch_shape` must be given.
        batch_size (positive integer or None, default None): goes with `shape`; None allows any.
        dtype (name or None, default None): the type of the tensor; None takes `config.floatx()`.
        sparse (False or None, default None): sparse tensors are not supported.
        ragged (False or None, default None): ragged tensors are not supported.
        batch_shape (tuple of integers or None, default None): the shape with the batch axis.
        name (text or None, default None): the name of the tensor and of its layer; None counts.
        tensor (None, default None): wrapping an existing tensor is not supported.
        optional (False, default False): None as an input is not supported.

    Errors:
        ValueError: an argument has a bad value, or neither shape is given.

    Example:
        >>> Input((28, 28, 1)).shape
        (None, 28, 28, 1)

    Source: https://keras.io/api/layers/core_layers/input/
    """
    return InputLayer(shape, batch_size, dtype, sparse, ragged, batch_shape, tensor, optional, name).input


_CELL = options_of(layers.RNN)["cell"].rule


def _as_cell(value: Any) -> Any:
    """The cell of an RNN; cells in a list are one, of Keras 3's class."""
    return CLASSES[layers.StackedRNNCells](value) if isinstance(value, (list, tuple)) else _CELL.read(value)


RULES[id(_CELL)] = replace(_CELL, convert=_as_cell)

_TWINS: dict[type, type[Layer]] = {layers.InputLayer: InputLayer}
_TWINS[layers.Wrapper] = Wrapper = _twin(layers.Wrapper)


class Bidirectional(Wrapper, layers.Bidirectional, abstract=True):  # type: ignore[misc, valid-type]
    """`merge(layer(x), flip(layer'(flip(x))))`, as `torchkeras.layers.Bidirectional`.

    With `return_sequences` the outputs at masked steps are 0, whatever the layer's option says.
    """

    reset_state = _reset_state
    _takes_integers = True

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        for inside in (self.layer, self.forward_layer, self.backward_layer):
            if hasattr(type(inside), "zero_output_for_mask"):
                inside.zero_output_for_mask = inside.return_sequences  # type: ignore[assignment]

    def __call__(self, sequences: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        if initial_state is not None:
            kwargs["initial_state"] = recurrent.flat_states(initial_state)
        return super().__call__(sequences, **kwargs)

    def forward(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        return self._as_tuple(super().forward(inputs, mask, training))

    def _infer_outputs(self, *args: Any) -> tuple[Any, list[Any]]:
        found, masks = super()._infer_outputs(*args)
        return self._as_tuple(found), masks

    def _as_tuple(self, found: Any) -> Any:
        """The outputs, then the states of both directions, in the form of each layer's."""
        if not self.return_state:
            return found
        outputs, sizes = 1 if self.merge_mode else 2, 2 * self.forward_layer._sizes
        states = leaves(found)[outputs:]
        return *leaves(found)[:outputs], *recurrent.in_form_of(sizes, iter(states))


class SpectralNormalization(Wrapper, layers.SpectralNormalization, abstract=True):  # type: ignore[misc, valid-type]
    """The inner layer, whose kernel is divided by its largest singular value, as
    `torchkeras.layers.SpectralNormalization`; the kernel is the first of its weights.
    """

    @property
    def weights(self) -> list[Variable]:
        found = super().weights
        return Weights(sorted(found, key=lambda each: each.name not in KERNELS)) if self.built else found


class Flatten(Layer, layers.Flatten, abstract=True):
    """The values of each sample along one axis, as `torchkeras.layers.Flatten`; sizes may be unknown.

    One value for each sample gets an axis of its own.
    """

    class _Facts(Facts):
        min_input_ndim = 1

        def shape_from(self, input_shape: Shape) -> Shape:
            sizes = input_shape[1:]
            return (input_shape[0], None if None in sizes else prod(sizes))  # type: ignore[arg-type]

    def _make_modules(self, input_shape: Any) -> None:
        pass

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return super().forward(inputs) if inputs.dim() > 1 else inputs.unsqueeze(-1)


class Lambda(Layer, layers.Lambda, abstract=True):
    """`function(x, **arguments)`, as `torchkeras.layers.Lambda`; its outputs have the mask of the option `mask`."""

    supports_masking = property(lambda self: self.mask is not None)  # type: ignore[assignment]


class Softmax(Layer, layers.Softmax, abstract=True):
    """`exp(x) / sum(exp(x))` along an axis, as `torchkeras.layers.Softmax`, over what a mask leaves.

    A call takes `mask`, which broadcasts to the input: True for the values that count. The others become 0.
    """

    _is_stateless = True

    class _Facts(Facts):
        native_layout = Layout.KERAS  # that of the mask

    def forward(self, inputs: torch.Tensor, axis: int | None = None, mask: torch.Tensor | None = None) -> torch.Tensor:
        if mask is None:
            return super().forward(inputs, axis)
        hidden = ~mask
        # In a row without any value that counts, the softmax needs finite numbers.
        lowest = -3e4 if inputs.dtype is torch.float16 else -1e9
        return super().forward(inputs.masked_fill(hidden, lowest), axis).masked_fill(hidden, 0.0)

    def _check_mask(self, mask: torch.Tensor, inputs: torch.Tensor) -> None:
        sizes = zip(reversed(mask.shape), reversed(inputs.shape), strict=False)
        if mask.dim() > inputs.dim() or any(size not in (1, wanted) for size, wanted in sizes):
            raise ValueError(
                f"Softmax {self.name!r}: the mask must broadcast to the input {tuple(inputs.shape)}; found "
                f"{tuple(mask.shape)}."
            )


_OWN = (Bidirectional, Flatten, Lambda, Softmax, SpectralNormalization)
_TWINS.update({getattr(layers, own.__name__): own for own in _OWN})


def _made_twins() -> dict[str, Any]:
    """The layers of Keras 3 that this package has, by name; two names of one layer stay one."""
    found: dict[str, Any] = {}
    for name in sorted(keras3_names.LAYERS - {"InputSpec", "Layer"}):
        base = getattr(layers, name, None)
        if base is None:
            continue
        if base not in _TWINS:
            tables = lora.BASES, convolutions.BASES, recurrent.BASES
            _TWINS[base] = _twin(base, *(each for table in tables for each in table.get(base, ())))
        found[name] = _TWINS[base]
    return found


def _function_of(layer: type[Layer]) -> Callable[..., Any]:
    """The function that makes a layer and calls it: `add(inputs)`."""

    def function(inputs: Any, **options: Any) -> Any:
        return layer(**options)(inputs)

    function.__name__ = function.__qualname__ = layer.__name__.lower()
    function.__doc__ = f"`{layer.__name__}(**options)(inputs)`."
    return function


_made = _made_twins()
_functions = [
    _function_of(_made[name])
    for name in ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")
]
_made["TorchModuleWrapper"] = _TWINS[layers.TorchModule] = _twin(layers.TorchModule)
_made |= {function.__name__: function for function in _functions}
globals().update(_made)


def dot(inputs: Any, axes: Any = -1, **options: Any) -> Any:
    """`Dot(axes, **options)(inputs)`."""
    return _made["Dot"](axes=axes, **options)(inputs)


def serialize(layer: Any) -> dict[str, Any]:
    """A layer as plain data: `keras.saving.serialize_keras_object(layer)`.

    Arguments:
        layer (layer): the layer.

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """
    return serialize_keras_object(layer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The layer that such data describe.

    Arguments:
        config (dict): the data.
        custom_objects (dict or None, default None): your own classes and functions by name.

    Errors:
        TypeError: an unknown class or function, or data of another form.
        ValueError: the data describe something else than a layer.

    Example:
        >>> deserialize(serialize(Flatten(name="flat"))).name
        'flat'

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """
    made = deserialize_keras_object(config, custom_objects)
    if not isinstance(made, BaseLayer):
        raise ValueError(f"keras.layers.deserialize: the config must be that of a layer; found {config!r:.200}.")
    return made


CLASSES.update(_TWINS)
_names = *_made, "Input", "InputSpec", "Layer", "deserialize", "dot", "serialize"
__all__ = list(_names)  # pyright: ignore[reportUnsupportedDunderAll]

# What Keras 3 has and this package leaves out, with what to use instead.
_INSTEAD = {
    "FlaxLayer": "write the layer in torch, which TorchModuleWrapper takes",
    "JaxLayer": "write the layer in torch, which TorchModuleWrapper takes",
    "MaxNumBoundingBoxes": "slice or pad the tensor of boxes by keras.ops",
    "TFSMLayer": "export the model to ONNX, or load its weights into a model of layers",
}


def __getattr__(name: str) -> NoReturn:
    close = get_close_matches(name, __all__, n=1)
    instead = (
        f" Instead: {_INSTEAD[name]}." if name in _INSTEAD else "".join(f" Did you mean {each!r}?" for each in close)
    )
    raise AttributeError(f"module 'keras.layers' has no {name!r}.{instead}")

"""TorchModule: any `nn.Module` as a layer; `as_layer` makes one wherever a layer is expected."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from torch import nn

from torchkeras import config, registry
from torchkeras.base.dtypes import dtype_name, policy_of
from torchkeras.base.rules import Rule, one_of
from torchkeras.engine.building.building import move_modules, on_meta
from torchkeras.engine.dtypes import take_policy
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import call_in_mode
from torchkeras.engine.options import NEWER
from torchkeras.engine.shapes import output_shapes
from torchkeras.engine.shapes.with_values import with_values_if_needed
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.engine.users_code import run
from torchkeras.engine.weights.weight_lists import CHANGES
from torchkeras.errors import ArchitectureError


def _read_module(value: Any) -> nn.Module:
    if isinstance(value, Layer):
        raise ValueError(f"must be a module of torch; found the layer {value!r}, which needs no TorchModule.")
    if not isinstance(value, nn.Module):
        raise ValueError(f"must be a module of torch, such as nn.Linear(4, 2); found {value!r:.200}.")
    return value


class TorchModule(Layer):
    """`module(*inputs)`: a module of torch as a layer; its parameters and buffers are the layer's weights.

    In a graph, the module is run on `meta` tensors to find the shapes of its outputs. A module whose code looks at
    values, such as one that packs sequences, runs on small tensors of ones instead. If it cannot compute on those
    either, write a layer around it that has a `compute_output_shape`.

    A module on the CPU goes to the device that weights are made on, `config.device()`, when the layer is built. You
    call the layer as you call the module: with several inputs, nested inputs, and arguments by name. Only `training` is
    an argument of the layer itself: it sets the mode of the call. `dtype`, unless given, is the type of the module's
    parameters.

    A config holds the module's class by name only. Loading takes the module from `custom_objects`, under the name of
    the layer or of the class: an instance, which the layer copies, or a function that makes one.

    Options:
        module (module of torch): any `nn.Module`, with the values that it has; a lazy one such as `nn.LazyLinear` gets
            them at the first call.
        data_format (string or None, default None): "channels_first" for a module that takes images with the channels
            first in a graph that has them last; None passes the tensors as they are in the graph.

    Shapes:
        any -> the shapes of the module's outputs

    Errors:
        ValueError: when `module` is a layer or no module.

    Example:
        >>> x = Input((28,))
        >>> Model(x, TorchModule(torch.nn.Linear(28, 10))(x)).output_shape
        (None, 10)
    """

    module: Annotated[Any, Rule(_read_module, lambda kept: type(kept).__name__, shown=False, takes="Module")]
    data_format: Annotated[
        Any,
        one_of("channels_first", None),
        NEWER,
    ] = None

    class _Facts(Facts):
        keeps_types = True

        @property
        def computes_only(self) -> str | None:  # type: ignore[override]
            return {nn.Softmax: "softmax", nn.Sigmoid: "sigmoid"}.get(type(self.layer.module))

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.CHANNELS_FIRST if self.layer.data_format == "channels_first" else Layout.KERAS

    def __init__(self, *args: Any, **given: Any):
        has_dtype = given.get("dtype") is not None
        super().__init__(*args, **given)
        kind = next((p.dtype for p in self.module.parameters() if p.is_floating_point()), None)
        if kind is not None and not has_dtype and dtype_name(kind) != self.variable_dtype:
            take_policy(self, policy_of(dtype_name(kind)))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "module" and isinstance(value, Layer) and self.built:  # peft takes its wrapper off a layer
            CHANGES.count += 1
            nn.Module.__setattr__(self, name, value)
            return
        super().__setattr__(name, value)

    def build(self, input_shape: Any = None) -> None:
        """Move a module that lies on the CPU to the device that weights are made on."""
        move_modules(self, config.device())
        super().build(input_shape)

    def forward(self, *inputs: Any, **arguments: Any) -> Any:
        return run(self, call_in_mode, self, self.module, *inputs, **arguments)

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """The module's outputs. Raises ValueError, with a hint where the order of axes may be the cause."""
        try:
            return with_values_if_needed(partial(super()._infer_outputs, inputs, masks, arguments))
        except ValueError as error:
            images = self.data_format is None and any(tensor.ndim > 2 for tensor in as_list(inputs))
            if not images:
                raise
            raise ValueError(
                f"{str(error).rstrip('.')}. It was given the axes as the graph shows them; for a module that takes the "
                "channels first write TorchModule(module, data_format='channels_first')."
            ) from error

    def _scratch(self, input_shape: Any) -> Layer:
        if self.built:
            return self
        made = copy.deepcopy(self)
        with on_meta():
            made._build([tensor.shape for tensor in as_list(output_shapes.symbolic(input_shape))])
        return made

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        """A new layer; its module comes from `custom_objects`. Raises ArchitectureError when it is missing there."""
        return cls(**{**config, "module": _own_module(config, custom_objects)})


def _own_module(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> nn.Module:
    """The user's module for the layer of a config."""
    name, kind = config.get("name"), config.get("module")
    if not isinstance(kind, str) or not isinstance(name, str):
        raise ArchitectureError(f"A TorchModule has a name and the class of its module as texts; found {kind!r:.200}.")
    known = {**registry.get_custom_objects(), **(custom_objects or {})}
    found = known.get(name, known.get(kind))
    if isinstance(found, nn.Module):
        return copy.deepcopy(found)  # one module may be passed for several layers and models
    try:
        made = found() if callable(found) else None
    except TypeError as error:
        raise ArchitectureError(
            f"TorchModule {name!r}: its entry in custom_objects makes no module: {error}."
        ) from error
    if not isinstance(made, nn.Module):
        raise ArchitectureError(
            f"TorchModule {name!r}: its module, a {kind}, is not stored in the file. Pass one of the same form, or a "
            f"function that makes one: custom_objects={{{name!r}: module}}."
        )
    return made


def as_layer(value: Any) -> Any:
    """`TorchModule(value)` for a module of torch that is no layer; anything else as it is.

    Arguments:
        value (any): what was passed where a layer is expected.

    Example:
        >>> type(as_layer(torch.nn.ReLU())).__name__
        'TorchModule'
    """
    return TorchModule(value) if isinstance(value, nn.Module) and not isinstance(value, Layer) else value

"""Lambda: a function as a layer. The functions of a config come from the user, or are formulas; none is ever run."""

import copy
import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

import numpy as np
import torch
from torch import nn

from torchkeras import registry
from torchkeras.base import bytecode
from torchkeras.base.extensions import replaceable
from torchkeras.base.rules import Rule, optional, rule
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import Called
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.engine.users_code import run
from torchkeras.errors import ArchitectureError

FUNCTIONS = bytecode.SINKS["Lambda"]
ToldShape = Annotated[
    Any,
    optional(
        rule(
            "must be a tuple, a list or a function",
            lambda v: callable(v) or isinstance(v, (tuple, list)),
            takes="Sequence[int | None] | Callable[..., Any]",
        )
    ),
    Called("output_shape"),
]
DICTIONARY = "Mapping[str, Any]"
Arguments = Annotated[Any, optional(rule("must be a dictionary", lambda v: isinstance(v, Mapping), dict, DICTIONARY))]


def _read_callable(value: Any) -> Any:
    if not callable(value):
        raise ValueError(f"must be callable; found {value!r}.")
    owner = value
    while hasattr(owner, "func"):  # a partial
        owner = owner.func
    owner = getattr(owner, "__self__", owner)
    if isinstance(owner, nn.Module) and owner is not value:
        raise ValueError(
            f"must not be a method of the module {type(owner).__name__}: the layer would neither train the module nor "
            "set its mode. Write TorchModule(module), or pass the module itself."
        )
    return value


@replaceable("get_config", "forward", "__getstate__", "__setstate__")
class Lambda(Layer):
    """`function(x, **arguments)`, with the axes in Keras's order.

    A config holds functions by name. Loading takes them from `custom_objects`; no code of a file is ever run. A lambda
    is listed under the name of its layer, a lambda for `output_shape` under "layer.output_shape". Bytecode of an old
    file is read as a formula, such as `x / 127.5 - 1.0`, if it is one; a config holds a formula as data.

    Options:
        function (function or module): gets one tensor, or a list of them; a parameter named `mask` gets the mask. An
            `nn.Module` becomes part of the layer, as in `TorchModule`.
        output_shape (tuple, function or None, default None): the shape without the batch axis, or a function of the
            complete input shape (a list of shapes for several inputs) that returns the complete output shape or a list
            of them; None finds the shape by running `function`.
        mask (tensor, function or None, default None): the mask of the output, or a function `(inputs, mask) -> mask`.
        arguments (dictionary or None, default None): further arguments of `function`, by name.

    Shapes:
        any -> the shape of the function's result

    Errors:
        ValueError: when `function` is a method of an `nn.Module`, whose weights the layer would not train.

    Example:
        >>> Lambda(lambda x: x[:, -1])(torch.tensor([[1.0, 2.0]]))
        tensor([2.])
    """

    function: Annotated[Any, Rule(_read_callable, takes="Callable[..., Any]")]
    told_shape: ToldShape = None
    mask: Annotated[Any, Rule(lambda v: v)] = None
    arguments: Arguments = None

    _takes_mask: bool = False
    _takes_mode: bool = False

    class _Facts(Facts):
        keeps_types = True
        runs_users_code = True

    def _make_modules(self, input_shape: Any) -> None:
        with suppress(ValueError):  # a function written in C has no signature
            self._takes_mask = "mask" in inspect.signature(self.function).parameters
        self._takes_mode = bytecode.is_formula(self.function)

    def forward(self, inputs: Any, mask: Any = None) -> Any:
        given: dict[str, Any] = {"mask": mask} if self._takes_mask else {}
        if self._takes_mode:
            given["training"] = self.training
        arguments = {name: _on_device_of(value, inputs) for name, value in (self.arguments or {}).items()}
        return run(self, self.function, inputs, **{**arguments, **given})

    def _check_mask(self, mask: torch.Tensor, inputs: torch.Tensor) -> None:
        """Nothing: the function decides what a mask is."""

    @property
    def _makes_masks(self) -> bool:
        return self.mask is not None

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The option `mask`, or its result when it is a function."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """The outputs of the function, with the shapes that `output_shape` says.

        A function that cannot run on made-up values gives one tensor of the input's type.
        """
        found, shapes = self.told_shape, [tensor.shape for tensor in as_list(inputs)]
        try:
            outputs, output_masks = super()._infer_outputs(inputs, masks, arguments)
        except ValueError:
            if found is None:
                raise
            outputs, output_masks = KerasTensor((), as_list(inputs)[0].dtype), [None]
        if found is None:
            return outputs, output_masks
        if not callable(found):
            found = (shapes[0][0], *found)
        elif not isinstance(found := found(shapes if isinstance(inputs, (list, tuple)) else shapes[0]), (tuple, list)):
            text = "the output_shape function must return a tuple or a list of tuples"
            raise ValueError(f"Lambda {self.name!r}: {text}; found {found!r}.")
        if isinstance(outputs, KerasTensor):
            return KerasTensor(found, outputs.dtype), output_masks
        return [KerasTensor(shape, tensor.dtype) for shape, tensor in zip(found, outputs, strict=True)], output_masks

    def _scratch(self, input_shape: Any) -> Layer:
        self._make_modules(input_shape)
        return self

    def get_config(self) -> dict[str, Any]:
        """The options; functions by name."""
        config = {
            **super().get_config(),
            "arguments": {name: _as_json(value) for name, value in (self.arguments or {}).items()},
        }
        config["output_shape_type"] = "function" if callable(self.told_shape) else "raw"
        named = {key: self._written(key, config[key]) for key in FUNCTIONS if callable(config[key])}
        formulas = {f"{key}_type": bytecode.FORMULA for key in FUNCTIONS[:2] if bytecode.is_formula(config[key])}
        return {**config, "function_type": "function", **formulas, "mask": None, **named}

    def _line(self) -> str:
        """A formula for the line of generated code, with `{0}` for its input; nothing of another function."""
        if not bytecode.is_formula(self.function):
            return ""
        return self.function.line(several=any(len(node.input_tensors) > 1 for node in self._call_nodes))

    def _written(self, option: str, function: Any) -> Any:
        """A function as a config has it: a formula as data, another by its name."""
        if bytecode.is_formula(function):
            return {bytecode.FORMULA: bytecode.formula_data(function)}
        name = getattr(function, "__name__", type(function).__name__)
        return bytecode.place(option, self.name) if name == "<lambda>" else name

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        """A new layer; its functions come from `custom_objects`.

        Raises ValueError when a function is not found there, ForbiddenContentError when the config has it as bytecode.
        """
        options = with_functions("Lambda", config, custom_objects)
        arguments = options.get("arguments") or {}
        if not isinstance(arguments, Mapping):
            raise ValueError(f"Lambda {config.get('name')!r}: arguments must be a dictionary or None.")
        return cls(**{**options, "arguments": {key: _argument(v) for key, v in arguments.items()}})


def with_functions(
    kind: str, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The options of a Lambda or Merge, with the user's functions in place of those that the config names.

    Raises ArchitectureError when one is missing, ForbiddenContentError when the config has it as bytecode.
    """
    options = dict(config)
    known = {**registry.get_custom_objects(), **(custom_objects or {})}
    for option in bytecode.SINKS[kind]:
        written = options.pop(f"{option}_type", None)
        if written not in bytecode.KINDS:
            raise ValueError(f"{kind} {config.get('name')!r}: {option}_type must be one of {bytecode.KINDS}.")
        how = bytecode.kept(option, config)
        if how != "value":
            options[option] = _function_of(kind, option, how, config, known)
        if how == "bytecode" and option == bytecode.SINKS[kind][0] and bytecode.is_formula(options[option]):
            options["arguments"] = None  # the formula has them
    return options


def _function_of(kind: str, option: str, how: str, config: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    """The user's function for an option, by its own name or the layer's; else the formula that the config has."""
    layer_name = config.get("name")
    own = bytecode.place(option, layer_name)
    name = bytecode.name_of(config[option]) if how == "name" else own
    for key in (name, own):
        if key in known:  # one module may be passed for several layers and models
            return copy.deepcopy(known[key]) if isinstance(known[key], nn.Module) else known[key]
    if how == "known":
        return bytecode.WRITTEN[str(bytecode.key_of(config[option]))](known)
    if how == "bytecode":
        return bytecode.formula(kind, option, config, known)
    if how == bytecode.FORMULA:
        return bytecode.formula_from(kind, option, config, known)
    raise ArchitectureError(
        f"{kind} {layer_name!r}: its {option} is stored by the name {name!r}; "
        f"pass the function itself: custom_objects={{{name!r}: function}}."
    )


def _on_device_of(value: Any, inputs: Any) -> Any:
    """An array of floats as a tensor of the inputs' type, where they lie: torch computes on no others."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    first = as_list(inputs)[0]
    return torch.as_tensor(value, dtype=first.dtype if first.is_floating_point() else None, device=first.device)


def _as_json(value: Any) -> Any:
    """An argument as JSON has it: an array as Keras writes one."""
    return {"type": "ndarray", "value": value.tolist()} if isinstance(value, np.ndarray) else value


def _argument(value: Any) -> Any:
    """An argument as it was before it became JSON."""
    is_array = isinstance(value, Mapping) and value.get("type") == "ndarray"
    return np.array(value["value"]) if is_array else value

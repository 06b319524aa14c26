"""Functions of symbolic tensors as layers: `a + b`, `a[:, 1:]`, `torch.cat([a, b], 1)`, `a.view(-1, 4)`.

Each makes a node like any layer's call, of an `Operation` that holds the function's name and its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from torch import Tensor, nn

from torchkeras.base.dtype_names import dtype_name
from torchkeras.base.rules import Rule
from torchkeras.engine.facts import Facts
from torchkeras.engine.functions import call_text, function_arguments, function_shapes
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import OPERATORS
from torchkeras.engine.weights.expressions import Expression, expression_of
from torchkeras.tensor_functions import torch_functions
from torchkeras.tensor_functions.by_name import BY_AXES, FUNCTIONS
from torchkeras.tensor_functions.keras3 import KERAS3

BY_POSITION = ("getitem", "matmul", *BY_AXES)  # these treat axes differently; the others take each element alone
KNOWN = ("dim", "ndimension", "size", "numel", "nelement")  # of a symbolic tensor, what needs no node
KNOWN = (*KNOWN, "is_floating_point", "is_complex", "is_signed", "element_size")


def _read_function(value: Any) -> Any:
    if callable(value) or (isinstance(value, str) and _function_named(value) is not None):
        return value
    raise ValueError(
        "must be the name of an operator, of a function that Keras has as a layer, or of one of torch's own, such as "
        f"'torch.relu', 'torch.Tensor.view' or 'torch.nn.functional.gelu'; found {value!r:.200}."
    )


def _function_named(name: str) -> Callable[..., Any] | None:
    found = OPERATORS.get(name) or FUNCTIONS.get(name) or KERAS3.get(name)
    return found or torch_functions.named(name)


def _read_arguments(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"must be a list; found {value!r:.200}.")
    function_arguments.check(value)
    return list(value)


def _read_keywords(value: Any) -> dict[str, Any]:
    names = list(value) if isinstance(value, Mapping) else [None]
    if not all(isinstance(name, str) and name.isidentifier() and not name.startswith("_") for name in names):
        raise ValueError(f"must be a dictionary of arguments by name; found {value!r:.200}.")
    function_arguments.check(list(value.values()))
    return dict(value)


class Operation(Layer):
    """`function(*arguments, **keywords)`, the symbolic tensors among them being the layer's inputs.

    `function`: the name of an operator (`"add"`), of a function that Keras has as a layer
    (`tensor_functions/by_name.py`, `tensor_functions/keras3.py`), of one of torch's own (`"torch.cat"`) or
    of the backend (`"torchkeras.backend.dot"`). `arguments`, `keywords`: as `engine/functions/function_arguments.py`
    says; constants become buffers, an `nn.Parameter` a weight. `keeps_mask`: whether the mask of the inputs goes on.
    Raises ValueError for an unknown function or an argument of another form.
    """

    function: Annotated[Any, Rule(_read_function, lambda kept: kept if isinstance(kept, str) else repr(kept))]
    arguments: Annotated[Any, Rule(_read_arguments)]
    keywords: Annotated[Any, Rule(_read_keywords), NEWER] = {}
    keeps_mask: Annotated[bool, NEWER] = True

    supports_masking = True

    class _Facts(Facts):
        casts = False  # as Keras: an operator computes in the type that its operands have together

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.ANY if self.layer._by_value else Layout.KERAS

        def hook_free(self) -> Callable[..., Any]:
            """The function itself, where all but its first tensors are settled: half of what a call costs else."""
            layer = self.layer
            function, readers, keywords = layer._prepare()
            first, *rest = layer.arguments
            if first == {"input": 0} and all(map(function_arguments.is_fixed, [*rest, *layer.keywords.values()])):
                given = [read(layer, ()) for read in readers[1:]]
                named = {name: read(layer, ()) for name, read in keywords}
                return lambda x: function(x[0] if isinstance(x, list) else x, *given, **named)
            if layer.arguments == [{"input": 0}, {"input": 1}] and not keywords:
                return lambda tensors: function(tensors[0], tensors[1])
            return layer.forward

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self._count = 0
        self.arguments = function_arguments.held(self.arguments, self._hold)
        self.keywords = {name: function_arguments.held(value, self._hold) for name, value in self.keywords.items()}
        found = problem(self.function, self.arguments, self.keywords)
        if found is not None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: {found}")

    # --- what it holds ----------------------------------------------------------------------------------------------

    def _hold(self, given: Any) -> dict[str, Any]:
        """Hold a tensor, or what a config says of one, under the next number; returns what stands for it."""
        number, self._count = self._count, self._count + 1
        try:
            if isinstance(given, Tensor):
                return self._hold_tensor(number, given)
            return self._hold_entry(number, given)
        except ValueError as error:
            raise ValueError(f"{type(self).__name__} {self.name!r}: {error}") from error

    def _hold_tensor(self, number: int, given: Tensor) -> dict[str, Any]:
        if isinstance(given, nn.Parameter):
            return self._hold_parameter(number, given)
        expression = expression_of(given)
        if expression is None:
            return self._hold_constant(number, given)
        self.__dict__[f"expression_{number}"] = expression
        return {"expression": number}

    def _hold_entry(self, number: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """Hold what a config says of a tensor; `build` makes the parameters."""
        if "parameter" in given:
            shape = list(function_arguments.shape_of(given))
            return {"parameter": number, "shape": shape, **{key: given.get(key) for key in ("dtype", "trainable")}}
        if "expression" in given:
            raise ValueError("no config can hold what is computed from the weights of another layer.")
        return self._hold_constant(number, function_arguments.read(given))

    def _hold_constant(self, number: int, constant: Tensor) -> dict[str, Any]:
        self.register_buffer(f"constant_{number}", function_arguments.with_device(constant), persistent=False)
        return {"constant": number}

    def _hold_parameter(self, number: int, given: nn.Parameter) -> dict[str, Any]:
        name = f"parameter_{number}"
        self.register_parameter(name, given)
        shape, trainable = list(given.shape), given.requires_grad
        return {"parameter": number, "shape": shape, "dtype": dtype_name(given.dtype), "trainable": trainable}

    def build(self, input_shape: Any) -> None:
        """Make the parameters that a config names, with fresh values (`glorot_uniform`)."""
        found = function_arguments.inputs_in([self.arguments, *self.keywords.values()])
        count = len(input_shape) if input_shape and isinstance(input_shape[0], (list, tuple)) else 1
        if not found or max(found) >= count:
            raise ValueError(f"its arguments need {max(found, default=0) + 1} inputs, at least one; found {count}.")

        def make(entry: Any) -> Any:
            name = f"parameter_{entry.get('parameter')}"
            if "parameter" in entry and name not in self._parameters:
                self.add_weight(name, entry["shape"], entry["dtype"]).requires_grad_(bool(entry["trainable"]))
            return entry

        function_arguments.held([self.arguments, *self.keywords.values()], make)
        self.built = True

    @property
    def _expressions(self) -> dict[str, Expression]:
        """What it computes from weights of other layers, by the attributes that have it."""
        return {name: each for name, each in vars(self).items() if isinstance(each, Expression)}

    @property
    def _holds_variables(self) -> bool:
        """Whether all parameters among its arguments were made by `K.variable`."""
        return all(hasattr(parameter, "label") for parameter in self._parameters.values())

    # --- computing --------------------------------------------------------------------------------------------------

    @property
    def _pointwise(self) -> bool:
        """Whether the function takes each number of its inputs by itself."""
        name = self.function
        return isinstance(name, str) and (
            torch_functions.is_pointwise(name) if "." in name else name not in BY_POSITION
        )

    @property
    def _by_value(self) -> bool:
        """Whether it computes the same in any order of axes: pointwise, with no constant that has axes of its own."""
        given = [*self.arguments, *self.keywords.values()]
        has_array = any(isinstance(argument, Mapping) and "array" in argument for argument in given)
        return self._pointwise and not has_array and not self._count and not function_arguments.has_size(given)

    @property
    def _automatic_name(self) -> str:
        return f"operation_{torch_functions.short(torch_functions.place_of(self.function))}"

    def forward(self, inputs: Any) -> Any:
        return self._computed(self, inputs if isinstance(inputs, (list, tuple)) else [inputs])

    def _computed(self, held: Any, tensors: Any) -> Any:
        """What the function gives for these inputs; `held` has the constants and parameters as attributes."""
        function, arguments, keywords = self.__dict__.get("_prepared") or self._prepare()
        given = {name: read(held, tensors) for name, read in keywords} if keywords else {}
        return function(*[read(held, tensors) for read in arguments], **given)

    def _prepare(self) -> Any:
        function = _function_named(self.function) if isinstance(self.function, str) else self.function
        keywords = [(name, function_arguments.reader(value)) for name, value in self.keywords.items()]
        found = function, [function_arguments.reader(argument) for argument in self.arguments], keywords
        self.__dict__["_prepared"] = found
        return found

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the first input that has one, when no axis is moved or cut."""
        masks = mask if isinstance(mask, (list, tuple)) else [mask]
        if not self._pointwise or not self.keeps_mask:
            return None
        return next((found for found in masks if found is not None), None)

    def _line(self, held: Callable[[str], str] = str) -> str:
        """The call as a person would write it, with `{0}`, `{1}` for the inputs; `held` names what the layer holds."""
        text = call_text.line(torch_functions.place_of(self.function), self.arguments, self.keywords)
        for own in (*self._parameters, *self._buffers, *self._expressions):
            text = text.replace(f"{{{own}}}", held(own))
        return text

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        return function_shapes.infer(self, inputs, masks)

    # --- config and copies ------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """The options, with the values of constants. Raises ValueError for a function that is not in the list."""
        if not isinstance(self.function, str):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: {torch_functions.place_of(self.function)} is none of torch's "
                "own public functions, so no config can hold it. Put it into a Lambda, or a Layer of your own."
            )

        if self._expressions:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: it computes with the weights of another layer, which no config "
                "can hold. Put it into a Lambda, or a Layer of your own; the weights alone can be saved."
            )

        def declared(entry: Any) -> Any:
            number = entry.get("constant")
            if number is None:
                return entry
            return {**entry, **function_arguments.written(getattr(self, f"constant_{number}"))}

        found = super().get_config()
        found["arguments"] = function_arguments.held(found["arguments"], declared)
        if "keywords" in found:
            found["keywords"] = {
                key: function_arguments.held(value, declared) for key, value in found["keywords"].items()
            }
        return found

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_prepared", None)
        return state


def problem(function: Any, arguments: Any, keywords: Mapping[str, Any]) -> str | None:
    """Why a graph cannot have a call; None when it can, as those of operators and of Keras's functions."""
    if isinstance(function, str) and not function.startswith("torch."):
        return None
    found: Any = _function_named(function) if isinstance(function, str) else function
    return torch_functions.problem(found, arguments, keywords)

"""Functions of symbolic tensors as layers: `a + b`, `a[:, 1:]`, `torch.cat([a, b], 1)`, `a.view(-1, 4)`.

Each makes a node, like the call of any layer, of an `Operation` that stores the function's name and arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from torch import Tensor, nn

from torchkeras.base.dtypes import dtype_name
from torchkeras.base.python import first
from torchkeras.base.rules import Rule
from torchkeras.engine.facts import Facts
from torchkeras.engine.functions import call_text, function_arguments, function_shapes
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import OPERATORS, as_list
from torchkeras.engine.weights.expressions import Expression, expression_of, whole_parameter
from torchkeras.tensor_functions import torch_functions
from torchkeras.tensor_functions.by_name import BY_AXES, FUNCTIONS
from torchkeras.tensor_functions.keras3 import KERAS3

BY_POSITION = ("getitem", "matmul", *BY_AXES)  # they treat axes differently; the others compute each element alone
KNOWN = ("dim", "ndimension", "size", "numel", "nelement")  # methods of a symbolic tensor that need no node
KNOWN = (*KNOWN, "is_floating_point", "is_complex", "is_signed", "element_size")
NAMED = {**KERAS3, **FUNCTIONS, **OPERATORS}


def _read_function(value: Any) -> Any:
    if callable(value) or (isinstance(value, str) and _function_of(value) is not None):
        return value
    raise ValueError(
        "must be the name of an operator, of a function that Keras has as a layer, or of one of torch's own, such as "
        f"'torch.relu', 'torch.Tensor.view' or 'torch.nn.functional.gelu'; found {value!r:.200}."
    )


def _function_of(function: Any) -> Any:
    """The function itself, of a name or a function; None for an unknown name."""
    if not isinstance(function, str):
        return function
    return NAMED.get(function) or torch_functions.named(function)


def _read_arguments(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"must be a list; found {value!r:.200}.")
    function_arguments.check(value)
    return list(value)


def _read_keywords(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(map(_is_keyword, value)):
        raise ValueError(f"must be a dictionary of arguments by name; found {value!r:.200}.")
    function_arguments.check(list(value.values()))
    return dict(value)


def _is_keyword(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not name.startswith("_")


class Operation(Layer):
    """`function(*arguments, **keywords)`. The symbolic tensors among the arguments are the layer's inputs.

    `function`: the name of an operator (`"add"`), of a function that Keras has as a layer
    (`tensor_functions/by_name.py`, `tensor_functions/keras3.py`), of one of torch's own (`"torch.cat"`) or
    of the backend (`"torchkeras.backend.dot"`). `arguments`, `keywords`: in the forms that
    `engine/functions/function_arguments.py` lists; constants become buffers, an `nn.Parameter` becomes a weight.
    `keeps_mask`: whether the output gets the mask of the inputs.
    Raises ValueError for an unknown function or an argument of another form.
    """

    function: Annotated[Any, Rule(_read_function, lambda value: value if isinstance(value, str) else repr(value))]
    arguments: Annotated[Any, Rule(_read_arguments)]
    keywords: Annotated[Any, Rule(_read_keywords), NEWER] = {}
    keeps_mask: Annotated[bool, NEWER] = True

    supports_masking = True

    class _Facts(Facts):
        casts = False  # as in Keras: an operator computes in the common type of its operands

        @property
        def computes_only(self) -> str | None:  # type: ignore[override]
            name = str(self.layer.function).rpartition(".")[2]
            return name if name in ("softmax", "sigmoid") else None

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.ANY if self.layer._by_value else Layout.KERAS

        def hook_free(self) -> Callable[..., Any]:
            """The function itself, with all arguments but its inputs bound: half of what a call costs otherwise."""
            layer = self.layer
            function, readers, keywords = layer._prepare()
            first, *rest = layer.arguments
            if first == {"input": 0} and function_arguments.is_fixed([*rest, *layer.keywords.values()]):
                fixed = [read(layer, ()) for read in readers[1:]]
                named = {name: read(layer, ()) for name, read in keywords}
                return lambda x: function(x[0] if isinstance(x, list) else x, *fixed, **named)
            if layer.arguments == [{"input": 0}, {"input": 1}] and not keywords:
                return lambda tensors: function(tensors[0], tensors[1])
            return layer.forward

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self._count = 0
        self.arguments = function_arguments.with_entries(self.arguments, self._store)
        keywords = self.keywords.items()
        self.keywords = {name: function_arguments.with_entries(value, self._store) for name, value in keywords}
        found = problem(self.function, self.arguments, self.keywords)
        if found is not None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: {found}")

    # --- its tensors ------------------------------------------------------------------------------------------------

    def _store(self, value: Any) -> dict[str, Any]:
        """Store a tensor, or the tensor of a config's entry, under the next number; returns its entry."""
        number, self._count = self._count, self._count + 1
        try:
            if isinstance(value, Tensor):
                return self._store_tensor(number, value)
            return self._store_entry(number, value)
        except ValueError as error:
            raise ValueError(f"{type(self).__name__} {self.name!r}: {error}") from error

    def _store_tensor(self, number: int, tensor: Tensor) -> dict[str, Any]:
        if isinstance(tensor, nn.Parameter):
            return self._store_parameter(number, tensor)
        if (found := whole_parameter(tensor)) is not None:
            parameter, order = found
            return {"permuted": [self._store_parameter(number, parameter), list(order)]}
        expression = expression_of(tensor)
        if expression is None:
            return self._store_constant(number, tensor)
        self.__dict__[f"expression_{number}"] = expression
        return {"expression": number}

    def _store_entry(self, number: int, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Store the tensor that a config has an entry for; `build` makes the parameters."""
        if "parameter" in entry:
            shape, dtype = list(function_arguments.shape_of(entry)), entry.get("dtype")
            return {"parameter": number, "shape": shape, "dtype": dtype, "trainable": entry.get("trainable")}
        if "expression" in entry:
            raise ValueError("no config can hold what is computed from the weights of another layer.")
        return self._store_constant(number, function_arguments.read(entry))

    def _store_constant(self, number: int, constant: Tensor) -> dict[str, Any]:
        self.register_buffer(f"constant_{number}", function_arguments.with_device(constant), persistent=False)
        return {"constant": number}

    def _store_parameter(self, number: int, parameter: nn.Parameter) -> dict[str, Any]:
        self.register_parameter(f"parameter_{number}", parameter)
        shape, dtype = list(parameter.shape), dtype_name(parameter.dtype)
        return {"parameter": number, "shape": shape, "dtype": dtype, "trainable": parameter.requires_grad}

    @property
    def _all_arguments(self) -> list[Any]:
        return [*self.arguments, *self.keywords.values()]

    def build(self, input_shape: Any) -> None:
        """Make the parameters that a config has entries for, with fresh values (`glorot_uniform`)."""
        found = function_arguments.inputs_in(self._all_arguments)
        count = 1
        if input_shape and isinstance(input_shape[0], (list, tuple)):
            count = len(input_shape)
        if not found or max(found) >= count:
            raise ValueError(f"its arguments need {max(found, default=0) + 1} inputs, at least one; found {count}.")

        def make(entry: Any) -> Any:
            name = f"parameter_{entry.get('parameter')}"
            if "parameter" in entry and name not in self._parameters:
                self.add_weight(name, entry["shape"], entry["dtype"]).requires_grad_(bool(entry["trainable"]))
            return entry

        function_arguments.with_entries(self._all_arguments, make)
        self.built = True

    @property
    def _expressions(self) -> dict[str, Expression]:
        """The expressions of weights of other layers among its arguments, by attribute."""
        return {name: each for name, each in vars(self).items() if isinstance(each, Expression)}

    @property
    def _holds_variables(self) -> bool:
        """Whether all parameters among its arguments were made by `K.variable`."""
        return all(hasattr(parameter, "label") for parameter in self._parameters.values())

    # --- computing --------------------------------------------------------------------------------------------------

    @property
    def _pointwise(self) -> bool:
        """Whether the function computes each element of its inputs alone."""
        name = self.function
        if not isinstance(name, str):
            return False
        if "." in name:
            return torch_functions.is_pointwise(name)
        return name not in BY_POSITION

    @property
    def _by_value(self) -> bool:
        """Whether it computes the same in any order of axes: pointwise, with no constant that has axes of its own."""
        return self._pointwise and self._count == 0 and not function_arguments.has_axes(self._all_arguments)

    @property
    def _automatic_name(self) -> str:
        return f"operation_{torch_functions.short(torch_functions.place_of(self.function))}"

    def forward(self, inputs: Any) -> Any:
        return self._computed(self, inputs if isinstance(inputs, (list, tuple)) else [inputs])

    def _computed(self, owner: Any, tensors: Any) -> Any:
        """The result of the function for these inputs; `owner` has the constants and parameters as attributes."""
        function, arguments, keywords = self.__dict__.get("_prepared") or self._prepare()
        named = {name: read(owner, tensors) for name, read in keywords} if keywords else {}
        return function(*[read(owner, tensors) for read in arguments], **named)

    def _prepare(self) -> Any:
        keywords = [(name, function_arguments.reader(value)) for name, value in self.keywords.items()]
        found = _function_of(self.function), list(map(function_arguments.reader, self.arguments)), keywords
        self.__dict__["_prepared"] = found
        return found

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the first input that has one, if no axis is moved or cut."""
        if not self._pointwise or not self.keeps_mask:
            return None
        return first((found for found in as_list(mask) if found is not None), None)

    def _line(self, name_of: Callable[[str], str] = str) -> str:
        """The call as Python code, with `{0}`, `{1}` for the inputs; `name_of` names the layer's own tensors."""
        text = call_text.line(torch_functions.place_of(self.function), self.arguments, self.keywords)
        for own in (*self._parameters, *self._buffers, *self._expressions):
            text = text.replace(f"{{{own}}}", name_of(own))
        return text

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        return function_shapes.infer(self, inputs, masks)

    # --- config and copies ------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """The options, with the values of constants. Raises ValueError for a function without a name in configs."""
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

        def with_values(entry: Any) -> Any:
            number = entry.get("constant")
            if number is None:
                return entry
            return {**entry, **function_arguments.written(getattr(self, f"constant_{number}"))}

        found = super().get_config()
        found["arguments"] = function_arguments.with_entries(found["arguments"], with_values)
        if "keywords" in found:
            keywords = found["keywords"].items()
            found["keywords"] = {key: function_arguments.with_entries(value, with_values) for key, value in keywords}
        return found

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_prepared", None)
        return state


def problem(function: Any, arguments: Any, keywords: Mapping[str, Any]) -> str | None:
    """Why a graph cannot contain a call; None if it can, as it can those of operators and of Keras's functions."""
    if isinstance(function, str) and not function.startswith("torch."):
        return None
    return torch_functions.problem(_function_of(function), arguments, keywords)

"""Functions of symbolic tensors as layers: `a + b`, `a[:, 1:]`, `torch.cat([a, b], 1)`, `a.view(-1, 4)`.

Each makes a node like any layer's call, of an `Operation` that holds the function's name and its arguments.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from torchkeras import config
from torchkeras.engine import call_arguments, torch_functions
from torchkeras.engine.facts import Facts
from torchkeras.engine.functions import BY_AXES, FUNCTIONS
from torchkeras.engine.layer import Layer
from torchkeras.engine.layout import Layout
from torchkeras.engine.naming import unique_name
from torchkeras.engine.options import NEWER, Rule, rule
from torchkeras.engine.symbol import OPERATORS, KerasTensor, as_list, dtype_name, tensors_in

BY_POSITION = ("getitem", "matmul", *BY_AXES)  # these tell the axes apart; the others take each element alone
KNOWN = ("dim", "ndimension", "size", "numel", "nelement")  # of a symbolic tensor, what needs no node
KNOWN = (*KNOWN, "is_floating_point", "is_complex", "is_signed", "element_size")


def _read_function(value: Any) -> Any:
    if callable(value) or (isinstance(value, str) and _function(value) is not None):
        return value
    raise ValueError(
        "must be the name of an operator, of a function that Keras has as a layer, or of one of torch's own, such as "
        f"'torch.relu', 'torch.Tensor.view' or 'torch.nn.functional.gelu'; found {value!r:.200}."
    )


def _function(name: str) -> Callable[..., Any] | None:
    found = OPERATORS.get(name) or FUNCTIONS.get(name)
    return found or (torch_functions.functions().get(name) if name.startswith("torch.") else None)


def _read_arguments(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"must be a list; found {value!r:.200}.")
    call_arguments.check(value)
    return list(value)


def _read_keywords(value: Any) -> dict[str, Any]:
    names = list(value) if isinstance(value, Mapping) else [None]
    if not all(isinstance(name, str) and name.isidentifier() and not name.startswith("_") for name in names):
        raise ValueError(f"must be a dictionary of arguments by name; found {value!r:.200}.")
    call_arguments.check(list(value.values()))
    return dict(value)


class Operation(Layer):
    """`function(*arguments, **keywords)`, the symbolic tensors among them being the layer's inputs.

    `function`: the name of an operator (`"add"`), of a function that Keras has as a layer (`engine/functions.py`), or
    of one of torch's own (`"torch.cat"`). `arguments`, `keywords`: as `engine/call_arguments.py` says; constants become
    buffers, an `nn.Parameter` a weight. `keeps_mask`: whether the mask of the inputs goes on. Raises ValueError for an
    unknown function or an argument of another form.
    """

    _declares_options = True

    function: Annotated[Any, Rule(_read_function, lambda kept: kept if isinstance(kept, str) else repr(kept))]
    arguments: Annotated[Any, Rule(_read_arguments)]
    keywords: Annotated[Any, Rule(_read_keywords), NEWER] = {}
    keeps_mask: Annotated[bool, rule("must be True or False", lambda v: v in (0, 1), bool), NEWER] = True

    supports_masking = True

    class _Facts(Facts):
        casts = False  # as Keras: an operator computes in the type that its operands have together

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.ANY if self.layer._by_value else Layout.KERAS

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self._count = 0
        self.arguments = call_arguments.held(self.arguments, self._hold)
        self.keywords = {name: call_arguments.held(value, self._hold) for name, value in self.keywords.items()}
        problem = _problem(self.function, self.arguments, self.keywords)
        if problem is not None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: {problem}")

    # --- what it holds ----------------------------------------------------------------------------------------------

    def _hold(self, given: Any) -> dict[str, Any]:
        """Hold a tensor, or what a config says of one, under the next number; returns what stands for it."""
        number, self._count = self._count, self._count + 1
        try:
            if call_arguments.is_parameter(given):
                return self._hold_parameter(number, given)
            if isinstance(given, Mapping) and "parameter" in given:
                shape = list(call_arguments.shape_of(given))
                return {"parameter": number, "shape": shape, **{key: given.get(key) for key in ("dtype", "trainable")}}
            constant = given if isinstance(given, Tensor) else call_arguments.read(given)
            self.register_buffer(f"constant_{number}", call_arguments.with_device(constant), persistent=False)
            return {"constant": number}
        except ValueError as error:
            raise ValueError(f"{type(self).__name__} {self.name!r}: {error}") from error

    def _hold_parameter(self, number: int, given: nn.Parameter) -> dict[str, Any]:
        name = f"parameter_{number}"
        self.register_parameter(name, given)
        shape, trainable = list(given.shape), given.requires_grad
        return {"parameter": number, "shape": shape, "dtype": dtype_name(given.dtype), "trainable": trainable}

    def build(self, input_shape: Any) -> None:
        """Make the parameters that a config told of, with fresh values (`glorot_uniform`)."""
        found = call_arguments.inputs_in([self.arguments, *self.keywords.values()])
        count = len(input_shape) if input_shape and isinstance(input_shape[0], (list, tuple)) else 1
        if not found or max(found) >= count:
            raise ValueError(f"its arguments need {max(found, default=0) + 1} inputs, at least one; found {count}.")

        def make(entry: Any) -> Any:
            name = f"parameter_{entry.get('parameter')}"
            if "parameter" in entry and name not in self._parameters:
                self.add_weight(name, entry["shape"], entry["dtype"]).requires_grad_(bool(entry["trainable"]))
            return entry

        call_arguments.held([self.arguments, *self.keywords.values()], make)
        self.built = True

    # --- computing --------------------------------------------------------------------------------------------------

    @property
    def _pointwise(self) -> bool:
        """Whether the function takes each number of its inputs by itself."""
        name = self.function
        return isinstance(name, str) and (
            torch_functions.is_pointwise(name) if name.startswith("torch.") else name not in BY_POSITION
        )

    @property
    def _by_value(self) -> bool:
        """Whether it computes the same in any order of axes: pointwise, with no constant that has axes of its own."""
        has_array = any(isinstance(argument, Mapping) and "array" in argument for argument in self.arguments)
        return self._pointwise and not has_array and not self._count

    @property
    def _automatic_name(self) -> str:
        return f"operation_{self.function}"

    def forward(self, inputs: Any) -> Any:
        tensors = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        function, arguments, keywords = self.__dict__.get("_prepared") or self._prepare()
        given = {name: read(self, tensors) for name, read in keywords} if keywords else {}
        return function(*[read(self, tensors) for read in arguments], **given)

    def _prepare(self) -> Any:
        function = _function(self.function) if isinstance(self.function, str) else self.function
        keywords = [(name, call_arguments.reader(value)) for name, value in self.keywords.items()]
        found = function, [call_arguments.reader(argument) for argument in self.arguments], keywords
        self.__dict__["_prepared"] = found
        return found

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the first input that has one, when no axis is moved or cut."""
        masks = mask if isinstance(mask, (list, tuple)) else [mask]
        if not self._pointwise or not self.keeps_mask:
            return None
        return next((found for found in masks if found is not None), None)

    def _line(self) -> str:
        """The call as a person would write it, with `{0}`, `{1}` for the inputs."""
        name = self.function if isinstance(self.function, str) else torch_functions.place_of(self.function)
        return call_arguments.line(name, self.arguments, self.keywords)

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Symbolic outputs and their masks. Raises ValueError, which says what axis had to be known, TypeError."""
        try:
            return super()._infer_outputs(inputs, masks, arguments)
        except (ValueError, TypeError) as error:
            what = f"{type(self).__name__} {self.name!r} ({self._line().format(*(t.name for t in as_list(inputs)))})"
            reason = self._unknown_size(inputs, masks, arguments, error)
            if reason is None:
                raise
            raise type(error)(f"{what}: {reason}") from error

    def _unknown_size(self, inputs: Any, masks: Any, arguments: Any, error: Exception) -> str | None:
        """What an unknown size has to do with an error; None: nothing."""
        tensors, text = as_list(inputs), str(error)
        unknown = [(k, axis) for k, t in enumerate(tensors) for axis, size in enumerate(t.shape) if size is None]
        named = " and ".join(f"axis {axis} of {tensors[k]!r}" for k, axis in unknown)
        if "meta" in text.lower():
            return "the shape of its result depends on values, which a graph has not; compute it in a Lambda."
        if unknown and text.startswith("zip()"):
            return f"how many outputs it has depends on {named}, whose size is unknown; give the Input that size."
        if unknown and isinstance(error, TypeError) and _has_none([self.arguments, *self.keywords.values()]):
            return (
                f"None stands for a size that is unknown before data comes ({named}). Write -1 for it, or use what "
                f"leaves the axis as it is, such as flatten(1) and unflatten. ({text.splitlines()[0]})"
            )
        if isinstance(error, TypeError):
            return None
        for k, axis in unknown:
            for size in sorted({size for t in tensors for size in t.shape if size is not None} | self._own_sizes()):
                tried = list(tensors)
                shape = [size if a == axis else found for a, found in enumerate(tensors[k].shape)]
                tried[k] = KerasTensor(shape, tensors[k].dtype, tensors[k].name)
                if self._works(tried if isinstance(inputs, (list, tuple)) else tried[0], masks, arguments):
                    return (
                        f"axis {axis} of {tensors[k]!r} is unknown, and it computes only where that is {size}; give "
                        "the Input that size."
                    )
        return None

    def _own_sizes(self) -> set[int]:
        return {size for tensor in (*self.parameters(), *self.buffers()) for size in tensor.shape}

    def _works(self, inputs: Any, masks: Any, arguments: Any) -> bool:
        try:
            super()._infer_outputs(inputs, masks, arguments)
        except (ValueError, TypeError):
            return False
        return True

    # --- config and copies ------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """The options, with the values of constants. Raises ValueError for a function that is not in the list."""
        if not isinstance(self.function, str):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: {torch_functions.place_of(self.function)} is none of torch's "
                "own public functions, so no config can hold it. Put it into a Lambda, or a Layer of your own."
            )

        def told(entry: Any) -> Any:
            number = entry.get("constant")
            return entry if number is None else {**entry, **call_arguments.written(getattr(self, f"constant_{number}"))}

        found = super().get_config()
        found["arguments"] = call_arguments.held(found["arguments"], told)
        if "keywords" in found:
            found["keywords"] = {key: call_arguments.held(value, told) for key, value in found["keywords"].items()}
        return found

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_prepared", None)
        return state


def _has_none(value: Any) -> bool:
    return value is None or (isinstance(value, (list, tuple)) and any(map(_has_none, value)))


# --- calls on symbolic tensors ---------------------------------------------------------------------------------------

_NAMES: dict[Any, str] = {torch.div: "truediv", torch.true_divide: "truediv", torch.remainder: "mod"}
_NAMES |= {torch.Tensor.div: "truediv", torch.Tensor.true_divide: "truediv", torch.Tensor.remainder: "mod"}
for _name, _operator in OPERATORS.items():
    _NAMES[_operator] = _name
    for _owner in (torch, torch.Tensor):
        for _spelling in (_name, f"__{_name}__"):
            if hasattr(_owner, _spelling):
                _NAMES[getattr(_owner, _spelling)] = _name
# A view is a reshape whose memory others see: in a graph, where nothing is changed in place, they are one.
_SAME = {"torch.Tensor.view": "torch.Tensor.reshape", "torch.Tensor.view_as": "torch.Tensor.reshape_as"}


def _apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the node of a function of symbolic tensors; returns what torch would, of symbolic tensors.

    Raises TypeError for a function or an argument that a graph cannot have, ValueError as layers do.
    """
    called = torch_functions.place_of(function)
    if torch_functions.short(called) in KNOWN and isinstance(args[0], KerasTensor):
        return getattr(args[0], torch_functions.short(called))(*args[1:], **kwargs)
    _check_outside(args)
    kwargs = _not_default(function, kwargs)
    name: Any = _NAMES.get(function) if not kwargs else None
    name = name or torch_functions.names().get(function) or function
    problem = _problem(name, args, kwargs)
    if problem is not None:
        raise TypeError(f"{called} cannot be applied to a symbolic tensor: {problem}")
    if name in _SAME and not any(isinstance(arg, torch.dtype) for arg in (*args, *kwargs.values())):
        name = _SAME[name]
    if name == "getitem":
        args = (args[0], call_arguments.index(args[1]))
    inputs: list[KerasTensor] = []
    given = [tensor.dtype for tensor in tensors_in((args, kwargs)) if tensor.dtype.is_floating_point]
    floating = given[0] if given else getattr(torch, config.floatx())
    try:
        arguments = [call_arguments.encoded(argument, inputs, floating) for argument in args]
        keywords = {key: call_arguments.encoded(value, inputs, floating) for key, value in kwargs.items()}
    except TypeError as error:
        raise TypeError(f"{called}: {error}") from error
    label = torch_functions.short(name if isinstance(name, str) else called)
    layer = Operation(name, arguments, keywords, name=unique_name(f"operation_{label}"))
    outputs = layer(inputs if len(inputs) > 1 else inputs[0])
    return tuple(outputs) if type(outputs) is list else outputs  # which a layer gives for a tuple, as Keras


KerasTensor.apply_function = staticmethod(_apply)


def _problem(function: Any, arguments: Any, keywords: Mapping[str, Any]) -> str | None:
    """Why a graph cannot have a call; None when it can, as those of operators and of Keras's functions."""
    if isinstance(function, str) and not function.startswith("torch."):
        return None
    found: Any = _function(function) if isinstance(function, str) else function
    return torch_functions.problem(found, arguments, keywords)


def _not_default(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments that say something: torch passes on all that a function has."""
    try:
        parameters: Mapping[str, Any] = inspect.signature(function).parameters
    except ValueError:  # written in C
        parameters = {}

    def says(name: str, value: Any) -> bool:
        default = parameters[name].default if name in parameters else inspect.Parameter.empty
        return not (name.startswith("_") or value is default or (type(value) is type(default) and value == default))

    return {name: value for name, value in kwargs.items() if says(name, value)}


def _check_outside(args: tuple[Any, ...]) -> None:
    """Refuse a function that a module's own `forward` calls on symbolic tensors: the graph would not own the module,
    nor know of its mode. Looks at the calls that led here, and costs nothing else.
    """
    frame = sys._getframe(1)
    module = None
    while frame is not None:
        if frame.f_code.co_name in ("_call_impl", "forward"):
            found = frame.f_locals.get("self")
            foreign = isinstance(found, nn.Module) and not isinstance(found, Layer)
            names = [*frame.f_code.co_varnames[: frame.f_code.co_argcount], "args", "kwargs"]
            if foreign and any(True for _ in tensors_in([frame.f_locals.get(name) for name in names])):
                module = found
        frame = frame.f_back
    if module is not None:
        kind = type(module).__name__
        raise TypeError(
            f"{kind} is a module of torch and was called on a symbolic tensor. Make it a layer, which owns its weights "
            f"and follows the mode: torchkeras.layers.TorchModule(module)(tensor), where module is the {kind}."
        )

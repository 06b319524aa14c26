"""`function`: from symbolic inputs and outputs to a function of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.arrays import as_tensor
from torchkeras.engine.graph.network import device_of
from torchkeras.engine.modes import in_mode
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras2.backend import phase
from torchkeras.keras2.backend.elementwise import cast
from torchkeras.keras2.backend.nodes import is_symbolic
from torchkeras.keras2.backend.partial_graph import Part, needed
from torchkeras.keras2.backend.variables import Update, eval as value_of, set_value
from torchkeras.keras2.backend.wrapped import values_of


class Moved(NamedTuple):
    """A statistic that a layer moves in training: a function with it among its updates lets the layer do so."""

    layer: Any
    weight: Any


class Minimized(NamedTuple):
    """A step of an optimizer on these weights: a function with it among its updates makes one in each call.

    The `loss` is symbolic. `constraints`: by weight, a function that gives its value after the step.
    """

    optimizer: Any
    loss: Any
    params: list[Any]
    constraints: dict[Any, Any]

    def make(self, loss: Tensor) -> None:
        """Make the step for a value of the loss."""
        tensors = [part for each in self.params for part in (each.tensors if isinstance(each, Variable) else [each])]
        gradients = torch.autograd.grad(loss.sum(), tensors, allow_unused=True, retain_graph=True)
        self.optimizer.update(tensors, list(gradients))
        for weight, constraint in self.constraints.items():
            set_value(weight, value_of(constraint(weight)))


class Function:
    """A call computes the outputs for arrays, in evaluation or as `K.learning_phase()` among the inputs says.

    Layers keep their statistics as they are, but for those among the `updates`. The other updates change variables,
    after the outputs are computed.

    Arguments:
        inputs (list of symbolic tensors): placeholders, Inputs, outputs of layers, and `K.learning_phase()`.
        outputs (list of tensors): symbolic ones, or variables, whose values of that moment are given.
        updates (list or None, default None): what `K.update` gives for symbolic values, or pairs (variable, value), or
            what the `updates` of a layer and `get_updates` of an optimizer list.
        name (text or None, default None): the name of the function, for its `repr`.
        fetches (list or None, default None): what `K.update` gives, made in each call as well.
        feed_dict (dict or None, default None): arrays for further symbolic tensors, as they are in it at each call.

    Errors:
        TypeError: inputs or outputs are no list, or another option of TensorFlow's sessions is given.
        ValueError: an output depends on an Input that is not among the inputs.
    """

    def __init__(
        self, inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **session_kwargs: Any
    ) -> None:
        fetches, feed_dict = session_kwargs.pop("fetches", None), session_kwargs.pop("feed_dict", None)
        _check_lists(inputs=inputs, outputs=outputs, updates=updates or [])
        if session_kwargs:
            raise TypeError(f"K.function takes no options of sessions; found {', '.join(session_kwargs)}.")
        self.name, self._fed = name or "function", {} if feed_dict is None else feed_dict
        self.inputs = list(inputs)
        self.outputs = [cast(each, "int32") if _is_size(each) else each for each in outputs]
        self._set_updates(updates or [], fetches or [])
        self._symbolic = [each for each in (*self.inputs, *self._fed) if isinstance(each, KerasTensor)]
        self._computed = [each for each in self.outputs if isinstance(each, KerasTensor)]
        self._computed += [each.value for each in self.updates] + [each.loss for each in self._steps]
        self._with_phase = _asks_for_phase(self._computed, self._symbolic)
        self._wrapped: list[Tensor] = []
        self._part = self._connected() if self._computed else None

    def _set_updates(self, updates: Sequence[Any], fetches: Sequence[Any]) -> None:
        """Sort what changes with each call: statistics of layers, steps of optimizers, assignments to variables."""
        self._moving = [each.layer for each in updates if isinstance(each, Moved)]
        self._steps = [_with_symbolic_loss(each) for each in updates if isinstance(each, Minimized)]
        self.updates = [_as_update(each) for each in updates if not isinstance(each, (Moved, Minimized))]
        # An assignment of a value that is known was made when K.update was called, and gave the variable.
        self.updates += [_as_update(each) for each in fetches if not isinstance(each, Tensor)]

    def _connected(self) -> Part:
        given = [*self._symbolic, *[phase.symbol()] * self._with_phase]
        missing = [each for each in needed(self._computed, given) if each not in set(given)]
        values = [values_of(each) for each in missing]
        self._wrapped = [each for each in values if each is not None]
        if len(self._wrapped) < len(missing):
            raise ValueError(f"the outputs of a backend function depend on {missing}, which its inputs lack.")
        return Part([*given, *missing], self._computed)

    def __call__(self, inputs: Any) -> list[Any]:
        """The outputs as arrays. Raises TypeError or ValueError for inputs of another number or shape."""
        if not isinstance(inputs, (list, tuple)):
            raise TypeError(f"the inputs of a call must be a list or tuple; found {type(inputs).__name__}.")
        if len(inputs) != len(self.inputs):
            raise ValueError(f"{self!r} was called with {len(inputs)} inputs.")
        training, values = bool(phase.settled()), []
        for asked, value in zip((*self.inputs, *self._fed), (*inputs, *self._fed.values()), strict=True):
            if phase.is_phase(asked) or not isinstance(asked, KerasTensor):
                training = bool(value)
            if isinstance(asked, KerasTensor):
                values.append(_checked(asked, value))
        if self._with_phase:
            values.append(torch.tensor(training))
        found = iter(self._run(values, training))
        outputs = [value_of(next(found) if isinstance(each, KerasTensor) else each) for each in self.outputs]
        values = [(each.variable, next(found).detach()) for each in self.updates]
        for step in self._steps:
            step.make(next(found))
        for variable, value in values:
            set_value(variable, value)
        return outputs

    def _run(self, values: Sequence[Tensor], training: bool) -> list[Tensor]:
        if self._part is None:
            return []
        part = self._part
        on_device = [value.to(device_of(part)) for value in (*values, *self._wrapped)]
        moving = {id(buffer) for layer in self._moving for buffer in layer.buffers()}
        with torch.set_grad_enabled(bool(self._steps)), in_mode(training):
            still = [(name, each) for name, each in part.named_buffers() if id(each) not in moving]
            kept = {name: buffer.clone() for name, buffer in still} if training else {}
            found = torch.func.functional_call(part, kept, (on_device,)) if kept else part(on_device)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def __repr__(self) -> str:
        return f"<Function {self.name!r} of {len(self.inputs)} inputs and {len(self.outputs)} outputs>"


def function(inputs: Any, outputs: Any, updates: Any = None, **kwargs: Any) -> Function:
    """A `Function`: its calls take a list of arrays for `inputs` and give a list of arrays for `outputs`.

    >>> x = placeholder((None, 2))
    >>> K.function([x], [sum(x, axis=1)])([np.ones((3, 2))])
    [array([2., 2., 2.], dtype=float32)]
    """
    return Function(inputs, outputs, updates, **kwargs)


def _check_lists(**given: Any) -> None:
    for role, values in given.items():
        if not isinstance(values, (list, tuple)):
            raise TypeError(f"{role} of a backend function must be a list or tuple; found {type(values).__name__}.")


def _is_size(value: Any) -> bool:
    """Whether a value is what `K.shape` gives of a symbolic tensor, or a part of it."""
    return is_symbolic(value) and not isinstance(value, KerasTensor)


def _as_update(given: Any) -> Update:
    """A pair of a variable and a symbolic value. Raises TypeError for others."""
    if isinstance(given, (tuple, list)) and len(given) == 2 and is_symbolic(given[1]):
        return Update(*given)
    raise TypeError(
        "an update of a backend function is a pair of a variable and a symbolic tensor; an update with values has been "
        f"made already. Found {type(given).__name__}."
    )


def _with_symbolic_loss(step: Minimized) -> Minimized:
    """A step of an optimizer. Raises TypeError for one whose loss has a value already, so that none can be computed."""
    if not isinstance(step.loss, KerasTensor):
        raise TypeError(f"the loss of an optimizer's step in a backend function is symbolic; found {step.loss!r:.200}.")
    return step


def _asks_for_phase(outputs: Sequence[KerasTensor], given: Sequence[KerasTensor]) -> bool:
    """Whether the outputs depend on the symbolic learning phase and the inputs do not have it."""
    return any(map(phase.is_phase, needed(outputs, given))) and not any(map(phase.is_phase, given))


def _checked(asked: KerasTensor, value: Any) -> Tensor:
    """A value for a symbolic tensor, of its type. Raises ValueError for another shape."""
    found = value if isinstance(value, Tensor) else as_tensor(value).to(config.device())
    fits = len(asked.shape) == found.dim() and all(
        size in (None, given) for size, given in zip(asked.shape, found.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"cannot use a value of shape {tuple(found.shape)} for {asked!r}.")
    return found.to(asked.dtype)

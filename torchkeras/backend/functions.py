"""`function`: from symbolic inputs and outputs to a function of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.arrays import as_tensor
from torchkeras.backend import phase
from torchkeras.backend.elementwise import cast
from torchkeras.backend.nodes import is_symbolic
from torchkeras.backend.partial_graph import Part, needed
from torchkeras.backend.questions import WRAPPED
from torchkeras.backend.variables import Update, eval as value_of, set_value
from torchkeras.engine.layer.modes import in_mode
from torchkeras.engine.layer.symbolic import KerasTensor


class Function:
    """A call computes the outputs for arrays, in evaluation or as `K.learning_phase()` among the inputs says.

    Layers keep their statistics as they are; only `updates` change variables, after the outputs are computed.

    Arguments:
        inputs (list of symbolic tensors): placeholders, Inputs, outputs of layers, and `K.learning_phase()`.
        outputs (list of tensors): symbolic ones, or variables, whose values of that moment are given.
        updates (list or None, default None): what `K.update` gives for symbolic values, or pairs (variable, value).
        name (text or None, default None): the name of the function, for its `repr`.

    Errors:
        TypeError: inputs or outputs are no list, or an option of TensorFlow's sessions is given.
        ValueError: an output depends on an Input that is not among the inputs.
    """

    def __init__(
        self, inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **session_kwargs: Any
    ) -> None:
        for role, given in (("inputs", inputs), ("outputs", outputs), ("updates", updates or [])):
            if not isinstance(given, (list, tuple)):
                raise TypeError(f"{role} of a backend function must be a list or tuple; found {type(given).__name__}.")
        if session_kwargs:
            raise TypeError(f"K.function takes no options of sessions; found {', '.join(session_kwargs)}.")
        self.inputs, self.name = list(inputs), name or "function"
        self.outputs = [cast(each, "int32") if _is_size(each) else each for each in outputs]
        self.updates = [_as_update(each) for each in updates or []]
        self._symbolic = [each for each in self.inputs if isinstance(each, KerasTensor)]
        self._computed = [each for each in self.outputs if isinstance(each, KerasTensor)]
        self._computed += [each.value for each in self.updates]
        self._with_phase = _asks_for_phase(self._computed, self._symbolic)
        self._wrapped: list[Tensor] = []
        self._part = self._connected() if self._computed else None

    def _connected(self) -> Part:
        given = [*self._symbolic, *[phase.symbol()] * self._with_phase]
        missing = [each for each in needed(self._computed, given) if each not in set(given)]
        values = [vars(each._keras_history.layer).get(WRAPPED) for each in missing]
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
        for asked, value in zip(self.inputs, inputs, strict=True):
            if phase.is_phase(asked) or not isinstance(asked, KerasTensor):
                training = bool(value)
            if isinstance(asked, KerasTensor):
                values.append(_checked(asked, value))
        if self._with_phase:
            values.append(torch.tensor(training))
        found = iter(self._run(values, training))
        outputs = [value_of(next(found) if isinstance(each, KerasTensor) else each) for each in self.outputs]
        for each in self.updates:
            set_value(each.variable, next(found))
        return outputs

    def _run(self, values: Sequence[Tensor], training: bool) -> list[Tensor]:
        if self._part is None:
            return []
        part = self._part
        on_device = [value.to(part._device) for value in (*values, *self._wrapped)]
        with torch.no_grad(), in_mode(part, training):
            kept = {name: buffer.clone() for name, buffer in part.named_buffers()} if training else {}
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

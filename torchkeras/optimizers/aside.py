"""Saved state of parameters while an optimizer trains others: one optimizer may train several models in turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary


class Aside:
    """The saved state of parameters that do not train at present, for as long as these parameters exist.

    A single parameter has its own state, such as its moments; a list of parameters has their common state, such as the
    gradients that wait for more batches.
    """

    def __init__(self) -> None:
        self._of_parameters: Any = WeakIdKeyDictionary()
        self._of_lists: Any = WeakIdKeyDictionary()  # by the first parameter, then by the identities of all

    def __reduce__(self) -> Any:  # a copy of an optimizer has other parameters
        return Aside, ()

    def put(self, parameter: Tensor, state: Any) -> None:
        """Save the state of a parameter."""
        self._of_parameters[parameter] = state

    def take(self, parameter: Tensor) -> Any:
        """Remove and return the state of a parameter; None where there is none."""
        return self._of_parameters.pop(parameter, None)

    def put_list(self, parameters: Sequence[Tensor], state: Any) -> None:
        """Save the state of a list of parameters."""
        if parameters:
            self._of_lists.setdefault(parameters[0], {})[tuple(map(id, parameters))] = state

    def take_list(self, parameters: Sequence[Tensor]) -> Any:
        """Remove and return the state of a list of parameters; None where there is none."""
        found = self._of_lists.get(parameters[0], {}) if parameters else {}
        return found.pop(tuple(map(id, parameters)), None)

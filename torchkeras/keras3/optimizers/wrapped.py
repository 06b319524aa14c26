"""What optimizers around others have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torchkeras.keras3.optimizers.optimizer import Optimizer, assign_all, unique
from torchkeras.keras3.optimizers.variables import Computed


class Wrapper(Optimizer):
    """The base of an optimizer whose steps are those of its `optimizers`."""

    _steps = 0

    def _begin_wrapping(self, name: str | None) -> None:
        object.__setattr__(self, "_is_begun", True)
        self.name = unique(type(self).__name__) if name is None else str(name)

    @property
    def optimizers(self) -> list[Any]:
        """The optimizers inside."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, optimizers={self.optimizers}>"

    @property
    def stepping(self) -> Any:  # type: ignore[override]
        """The train step of a model that runs now, which is that of the optimizers inside."""
        return vars(self).get("_stepping")

    @stepping.setter
    def stepping(self, value: Any) -> None:
        vars(self)["_stepping"] = value
        for each in self.optimizers:
            each.stepping = value

    @property
    def can_skip(self) -> bool:
        return False

    @property
    def _own_numbers(self) -> list[Any]:
        """The variables before those of the optimizers inside."""

        def write(value: float) -> None:
            self._steps = int(value)

        steps = Computed("iteration", f"{self.name}/iteration", torch.int32, lambda: self._steps, write)
        # Keras has a rate here, too, which nothing reads.
        rate = Computed("learning_rate", f"{self.name}/learning_rate", torch.float32, lambda: 0.0, lambda value: None)
        return [steps, rate]

    @property
    def variables(self) -> list[Any]:
        """The variables of its own, then those of the optimizers inside."""
        return [*self._own_numbers, *(variable for each in self.optimizers for variable in each.variables)]

    def set_weights(self, weights: Sequence[Any]) -> None:
        if not self.built:
            raise ValueError(f"{type(self).__name__}.set_weights: call build(variables) first.")
        variables = self.variables
        if len(weights) != len(variables):
            raise ValueError(f"{type(self).__name__}: the state has {len(variables)} arrays; found {len(weights)}.")
        assign_all(variables, weights)

"""The arguments of `compile` as attributes of a model: `model.loss`, `model.optimizer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchkeras.base import fixed_lists

if TYPE_CHECKING:
    from torchkeras.models.model import Model


class Option:
    """An argument of `compile` as an attribute of the model. Setting it changes the option from then on."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Model | None, owner: type | None = None) -> Any:
        if model is None:
            return self
        found = getattr(model._training.options, self._name)
        if type(found) is dict or (type(found) is list and not {list, dict}.isdisjoint(map(type, found))):
            return fixed_lists.given(found)
        return fixed_lists.Given(found) if type(found) is list else found

    def __set__(self, model: Model, value: Any) -> None:
        model._training.change(self._name, value)


class OptimizerOption(Option):
    """The optimizer as an object. On a compiled model it can be set to anything that `compile` takes."""

    def __get__(self, model: Model | None, owner: type | None = None) -> Any:
        return self if model is None else model._training.optimizer

    def __set__(self, model: Model, value: Any) -> None:
        training = model._training
        asked = value is not None and training.is_compiled
        training.change("optimizer", training.optimizer_for(value) if asked else value)


class MissingOption:
    """A training option of another Keras, which a model here does not have. `instead`: what to do."""

    def __init__(self, instead: str):
        self._instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Model | None, owner: type | None = None) -> Any:
        if model is None:
            return self
        raise AttributeError(f"{type(model).__name__!r} object has no attribute {self._name!r}")

    def __set__(self, model: Model, value: Any) -> None:
        what = f"{type(model).__name__} {model.name!r}"
        raise AttributeError(f"{what}: there is no option {self._name!r} to set: {self._instead}.")

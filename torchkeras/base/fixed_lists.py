"""Lists and dicts of a layer, model or metric that are read-only: a change of one would have no effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

CHANGES = ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse")
CHANGES = (*CHANGES, "__setitem__", "__delitem__", "__imul__")


class FixedList(list[Any]):
    """A list that refuses to be changed. `of`: what it is, `since`: why, `instead`: what to write."""

    of: ClassVar[str]
    since: ClassVar[str] = "is made when it is asked for"
    instead: ClassVar[str]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (list(self),)

    def __iadd__(self, other: Any) -> Any:
        """A list of its own, for `weights = a.weights; weights += b.weights`; `a.weights += ...` is refused by `a`."""
        return [*self, *other]


def _refusing(name: str) -> Callable[..., Any]:
    def change(items: Any, /, *args: Any, **kwargs: Any) -> Any:
        kind = "dict" if issubclass(type(items), dict) else "list"
        raise TypeError(
            f"{items.of} is a {kind} that {items.since}, and a change of it would change nothing: {items.instead}."
        )

    change.__name__, change.__doc__ = name, "Raise TypeError."
    return change


for _name in CHANGES:
    setattr(FixedList, _name, _refusing(_name))


class Layers(FixedList):
    """The layers of a model."""

    of = "model.layers"
    instead = "model.dense_1 = Dense(3) puts a layer in the place of dense_1; Sequential has add and pop; without the "
    instead += "last layer it is Model(model.inputs, model.layers[-2].output)"


class Inputs(FixedList):
    """The symbolic inputs of a model."""

    of, instead = "model.inputs", "make a model with other inputs, Model([*model.inputs, x], outputs)"


class Outputs(FixedList):
    """The symbolic outputs of a model."""

    of, instead = "model.outputs", "make a model with other outputs, Model(model.inputs, [*model.outputs, x])"


class InputNames(FixedList):
    """The names of the inputs of a model."""

    of, instead = "model.input_names", "name an input where it is made, Input(shape, name=...)"


class OutputNames(FixedList):
    """The names of the outputs of a model."""

    of, instead = "model.output_names", "name the layer that makes the output, Dense(1, name=...)"


class MetricsNames(FixedList):
    """The names of the numbers that a model reports."""

    of, instead = "model.metrics_names", "give a metric with the name to compile, such as MeanSquaredError(name=...)"


class Weights(FixedList):
    """Weights of a layer or model."""

    of = "The list of weights"
    instead = "set_weights sets their values, a layer gets one by add_weight, and trainable says whether they train"


class Losses(FixedList):
    """The penalties on weights and the losses that layers added."""

    of, instead = "model.losses", "add_loss adds one; in a loop of your own add it to sum(model.losses)"


class LayerLosses(FixedList):
    """The same of a layer."""

    of, instead = "layer.losses", "add_loss adds one; in a loop of your own add it to sum(layer.losses)"


class CarriedStates(FixedList):
    """The states of a recurrent layer."""

    of, instead = "layer.states", "reset_states(states) sets them"


class States(FixedList):
    """The states of a metric."""

    of, instead = "metric.variables", "add_variable adds one"


class OptionValues(FixedList):
    """An option that is a list, such as the thresholds of a metric."""

    of, since = "An option", "was read when the object was made"
    instead = "make another object, with the list that it is to have"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return OptionValues, (list(self),)


class Given(FixedList):
    """An argument of `compile`, as a list."""

    of, instead = "What compile was given", "set another list, model.metrics = [...], or call compile again"


class GivenByName(dict[Any, Any]):
    """An argument of `compile`, as a dict: it refuses to be changed, too."""

    of, since = "What compile was given", FixedList.since
    instead = "set another dict, model.loss_weights = {...}, or call compile again"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)


for _name in ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update"):
    setattr(GivenByName, _name, _refusing(_name))


def given(value: Any) -> Any:
    """An argument of `compile`, its lists and dicts as those that refuse to be changed."""
    if type(value) is list:
        return Given(map(given, value))
    return GivenByName({key: given(each) for key, each in value.items()}) if type(value) is dict else value

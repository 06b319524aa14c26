"""`Layer` as Keras 3 has it: the arguments of its constructor and its habits, around this package's layers.

`layers.py` makes a twin of each layer of this package: a class derived from both. What they do otherwise is data, in
`differences.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, ClassVar, get_args

import torch

from torchkeras import config, registry
from torchkeras.base.fixed_lists import Weights
from torchkeras.base.naming import count_name
from torchkeras.base.nested import tensors_in
from torchkeras.base.rules import Rule, optional
from torchkeras.engine import options
from torchkeras.engine.facts import is_own
from torchkeras.engine.graph.network import as_tensors
from torchkeras.engine.layer.layer import Layer as BaseLayer, added_as
from torchkeras.engine.modes import MODE, in_mode
from torchkeras.engine.options import Option
from torchkeras.engine.weights.weight import Variable as Weight
from torchkeras.engine.weights.weight_lists import distinct, sublayers
from torchkeras.keras3 import activations, constraints, dialect, dtype_policies, initializers, regularizers
from torchkeras.keras3.differences import DEFAULTS, LACKING, ORDER, Lacking
from torchkeras.keras3.stored import Stored, layers_within, own_in_order
from torchkeras.keras3.variable import AGGREGATIONS, Variable
from torchkeras.registry import call_from_config
from torchkeras.regularizers import PerSample
from torchkeras.saving.dialects.translation import named_object
from torchkeras.saving.layer_facts import inherited


def _of_class(cls: type, table: Mapping[str, Any], default: Any) -> Any:
    """What a table says of a class or of the nearest base."""
    return next((table[base.__name__] for base in cls.__mro__ if base.__name__ in table), default)


def _as_there(cls: type, option: Option) -> Option:
    """An option as Keras 3 has it: its default, and what names stand for."""
    known = getattr(cls, "_changed_defaults", {})
    default = known[option.field][0] if option.field in known else option.default
    default = _of_class(cls, DEFAULTS, {}).get(option.field, default)
    rule = PENALTY if option.field == "activity_regularizer" else RULES.get(id(option.rule), option.rule)
    return replace(option, default=default, rule=rule, newer=False)


def _check_lacking(cls: type, name: str, lacking: Lacking, value: Any) -> None:
    if value not in lacking.allowed:
        allowed = " or ".join(map(repr, lacking.allowed))
        raise ValueError(f"{cls.__name__}: {name} must be {allowed}; found {value!r}. Instead, {lacking.instead}.")


def _per_sample(value: Any) -> Any:
    """An activity regularizer, which counts for each sample of a batch."""
    return value if value is None or isinstance(value, PerSample) else PerSample(regularizers.get(value))


def _name_and_path(layer: BaseLayer, tensor: torch.Tensor) -> tuple[str, str]:
    """The name of a weight of `add_weight`, and that with its layer's."""
    found = added_as(layer, tensor)
    name = found.name if found is not None else ""
    return name, f"{layer.name}/{name}"


def _named_here(rule: Rule, value: Any) -> Any:
    """The function that a name in a config of this package means, where it may mean another there."""
    return rule.read(value) if id(rule) in RULES and isinstance(value, str) else value


def _in_our_words(serialize: Callable[[Any], Any], ours: registry.Family[Any]) -> Callable[[Any], Any]:
    """What writes an object into a config of this package's form, from what writes it in Keras 3's."""

    def write(value: Any) -> Any:
        if value is None or not is_own(type(value)):
            return ours.serialize(value)
        return ours.serialize(ours.get(named_object(serialize(value), "get_config")))

    return write


def _written_penalty(value: PerSample) -> dict[str, Any]:
    """An activity regularizer in a config of this package's form."""
    return {
        "class_name": PerSample.__name__,
        "config": {"regularizer": _in_our_words(regularizers.serialize, registry.regularizers)(value.regularizer)},
    }


def _rule_of(annotation: Any) -> Rule:
    """The rule in an annotation of an option."""
    return next(mark for mark in get_args(annotation) if isinstance(mark, Rule))


# By the rule of an option here: the rule there, where names may stand for other objects.
RULES = {
    id(rule): replace(rule, convert=family.get, write=_in_our_words(family.serialize, ours))
    for rule, family, ours in (
        (options.INITIALIZER, initializers, registry.initializers),
        (options.REGULARIZER, regularizers, registry.regularizers),
        (options.CONSTRAINT, constraints, registry.constraints),
    )
}
_ACTIVATION = _rule_of(options.Activation)
RULES[id(_ACTIVATION)] = replace(_ACTIVATION, convert=activations.of_layer)
PENALTY = optional(Rule(_per_sample, _written_penalty, takes=options.OBJECT))


class Layer(Stored, abstract=True):
    """The base of all layers, as Keras 3 has it.

    Called by hand a layer computes as in inference, unless `training=True`. Automatic names are `dense`, `dense_1`.
    `trainable` sets that of all layers inside.

    Options:
        activity_regularizer (name, Regularizer or None, default None): a penalty on the output, of which each sample
            counts, added to the loss.
        trainable (bool, default True): whether training changes the weights.
        dtype (name, DTypePolicy or None, default None): the types of weights and of computation.
        autocast (True, default True): whether floating-point inputs are cast to the type of computation.
        name (text or None, default None): the name of the layer.

    Example:
        >>> class Scale(Layer):
        ...     def build(self, input_shape):
        ...         self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
        ...     def call(self, inputs):
        ...         return inputs * self.scale
        >>> Scale()(torch.full((1, 2), 3.0)).tolist()
        [[3.0, 3.0]]

    Source: https://keras.io/api/layers/base_layer/
    """

    _automatic_count = r"(_\d+)?"
    _trains_by_hand: ClassVar[bool] = False  # the mode of a call by hand

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(abstract=True, **kwargs)  # a name stands for this package's own class

    @property
    def _automatic_name(self) -> str:
        """The class's name in Keras 3's spelling, which takes `LSTM2D` for one word."""
        spaced = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", type(self).__name__))
        return re.sub(r"([a-z])([A-Z])", r"\1_\2", spaced).lower().lstrip("_")

    @classmethod
    def _declared_options(cls) -> dict[str, Option]:
        found = {name: _as_there(cls, option) for name, option in super()._declared_options().items()}
        order = _of_class(cls, ORDER, "").split()
        return {name: found[name] for name in (*order, *(name for name in found if name not in order)) if name in found}

    @classmethod
    def _as_options(  # type: ignore[override]
        cls, known: Mapping[str, Option], args: tuple[Any, ...], given: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for name, lacking in _of_class(cls, LACKING, {}).items():
            if name in given:
                _check_lacking(cls, name, lacking, given.pop(name))
        today = {theirs: ours for ours, theirs in inherited(cls, "renamed").items()}
        return args, {today.get(name, name): value for name, value in given.items()}

    def _set_name(self, *, name: str | None = None) -> None:
        super()._set_name(name=count_name(self._automatic_name) if name is None else name)

    def _set_base_options(  # type: ignore[override]
        self,
        *,
        activity_regularizer: Any = None,
        autocast: bool = True,
        batch_shape: Sequence[int | None] | None = None,
        dtype: Any = None,
        **given: Any,
    ) -> None:
        if autocast is not True:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: autocast must be True; found {autocast!r}. For inputs as they "
                "are, give the layer the dtype that it computes in."
            )
        if batch_shape is not None:
            given["batch_input_shape"] = batch_shape
        super()._set_base_options(dtype=None if dtype is None else dtype_policies.get(dtype), **given)
        if activity_regularizer is not None:
            self.activity_regularizer = _per_sample(activity_regularizer)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a node to the graph (symbolic inputs), or compute (real ones), as in inference unless `training=True`."""
        is_one_tensor = not kwargs and len(args) == 1 and type(args[0]) is torch.Tensor
        if not is_one_tensor:  # which needs no look inside, at each layer of a model's own code
            args, kwargs = as_tensors((args, kwargs), (), config.device())
        if MODE.training is not None or kwargs.get("training") is not None:
            return super().__call__(*args, **kwargs)
        if not is_one_tensor and next(tensors_in((args, kwargs)), None) is not None:
            return super().__call__(*args, **kwargs)
        with in_mode(self._trains_by_hand, self):
            return super().__call__(*args, **kwargs)

    def add_weight(  # type: ignore[override]
        self,
        shape: Any = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        aggregation: str = "none",
        overwrite_with_gradient: bool = False,
        name: str | None = None,
    ) -> Variable:
        """Make a weight, in `__init__` or `build`.

        Arguments:
            shape (tuple of integers, default None): its shape; None is `()`.
            initializer (name, Initializer or None, default None): the first values; None is "glorot_uniform" for
                numbers with a point, and "zeros" for others.
            dtype (name or None, default None): its type; None is that of the layer's weights.
            trainable (bool, default True): whether training changes it.
            autocast (True, default True): must be True.
            regularizer (name, Regularizer or None, default None): a penalty, added to the loss.
            constraint (name, Constraint or None, default None): a function applied to the weight after each update.
            aggregation (text, default "none"): how replicas would be joined; torch's distribution keeps them equal.
            overwrite_with_gradient (False, default False): must be False.
            name (text or None, default None): the name of the weight.

        Returns:
            The parameter or buffer, a `Variable`.

        Errors:
            ValueError: an argument has a bad value.

        Source: https://keras.io/api/layers/base_layer/
        """
        what = f"{type(self).__name__} {self.name!r}: add_weight"
        if not autocast or overwrite_with_gradient:
            raise ValueError(f"{what}: autocast must be True and overwrite_with_gradient False.")
        if aggregation not in AGGREGATIONS:
            raise ValueError(f"{what}: aggregation must be one of {AGGREGATIONS}; found {aggregation!r}.")
        kind = config.floatx() if dtype is None else str(dtype)
        if initializer is None and not kind.removeprefix("torch.").startswith(("float", "bfloat")):
            initializer = "zeros"
        tensor = super().add_weight(
            name,
            shape=() if shape is None else shape,
            dtype=dtype,
            initializer=initializers.get(initializer),
            regularizer=regularizers.get(regularizer),
            trainable=trainable,
            constraint=constraints.get(constraint),
        )
        made = Variable.of(tensor, *_name_and_path(self, tensor))
        made.regularizer, made.constraint = self._added[-1].regularizer, self._added[-1].constraint
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Variable) and not value.trainable and added_as(self, value) is None:
            self.register_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """As in torch; weights of `add_weight` that a move replaces are `Variable`s again."""
        super()._apply(fn, recurse)
        for tensor in chain.from_iterable(each.tensors for each in self._added):
            if not isinstance(tensor, Variable):
                Variable.of(tensor, *_name_and_path(self, tensor))
        return self

    @property
    def weights(self) -> list[Weight]:
        """All weights: the layer's own, those made to train first, then those of each layer inside."""
        return Weights(distinct(own_in_order(self), *(inside.weights for inside in sublayers(self))))

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights. Setting it sets that of all layers inside."""
        return BaseLayer.trainable.fget(self)  # type: ignore[attr-defined]

    @trainable.setter
    def trainable(self, value: bool) -> None:
        BaseLayer.trainable.fset(self, value)  # type: ignore[attr-defined]
        for inside in layers_within(self):
            BaseLayer.trainable.fset(inside, value)  # type: ignore[attr-defined]

    def get_config(self) -> dict[str, Any]:
        """The options as plain values, from which `from_config` makes the layer again, without its weights."""
        made = super().get_config()
        if "dtype" not in made:
            made["dtype"] = self._policy.name
        return made

    @classmethod
    def from_config(cls, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """A new layer with the options of a config, whose names of layers mean those of Keras 3."""
        with dialect.known():
            return call_from_config(super().from_config, config, custom_objects)

    @classmethod
    def from_written(cls, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The same of a config in this package's form, in which an option left out has this package's default."""
        if isinstance(config, Mapping):
            base = next(each for each in cls.__mro__ if each in dialect.CLASSES)
            ours, theirs = options.options_of(base), options.options_of(cls)
            left_out = {
                name: option.default
                for name, option in ours.items()
                if name not in config and name in theirs and option.default != theirs[name].default
            }
            named = {name: _named_here(ours[name].rule, value) for name, value in config.items() if name in ours}
            config = {**left_out, **config, **named}
        return call_from_config(cls.from_config, config, custom_objects)

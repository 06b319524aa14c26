"""`Layer` as Keras 3 has it: the arguments of its constructor and its habits, around this package's layers.

`layers.py` makes a twin of each layer of this package: a class derived from both. What they do otherwise is data, in
`differences.py`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, get_args

import torch

from torchkeras import config, registry
from torchkeras.base.extensions import replaceable
from torchkeras.base.fixed_lists import LayerLosses, Weights
from torchkeras.base.naming import count_name
from torchkeras.base.nested import leaves, mapped, tensors_in
from torchkeras.base.python import with_signature
from torchkeras.base.rules import Rule, optional
from torchkeras.base.torch_tables import own_buffers, own_parameters
from torchkeras.base.tracing import is_compiling
from torchkeras.engine import options
from torchkeras.engine.building.building import free_path
from torchkeras.engine.carried_masks import marked, mask_of
from torchkeras.engine.facts import Facts, is_own
from torchkeras.engine.graph.network import as_tensors
from torchkeras.engine.layer.added_losses import ADDED, add_activity_losses, losses_of_calls, penalties
from torchkeras.engine.layer.call import of_call
from torchkeras.engine.layer.layer import DATA, Layer as BaseLayer, check_name, name_weight
from torchkeras.engine.layer.masks_by_hand import is_mask
from torchkeras.engine.modes import MODE, in_mode
from torchkeras.engine.options import Option
from torchkeras.engine.shapes import output_shapes
from torchkeras.engine.shapes.with_values import with_values_if_needed
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.engine.users_code import CODE
from torchkeras.engine.weights.weight import Variable as Weight
from torchkeras.engine.weights.weight_lists import CHANGES, distinct, sublayers
from torchkeras.keras3 import activations, constraints, dialect, dtype_policies, initializers, regularizers
from torchkeras.keras3.automatic import automatic_config, made_of
from torchkeras.keras3.differences import DEFAULTS, LACKING, NARROWER, ORDER, Lacking
from torchkeras.keras3.metrics import Metric
from torchkeras.keras3.operation_names import name_of
from torchkeras.keras3.probing import attributes_within, seeds_kept
from torchkeras.keras3.stateless import stateless_call
from torchkeras.keras3.stored import Stored, building_once, layers_within, own_in_order
from torchkeras.keras3.variable import (
    AGGREGATIONS,
    Variable,
    building_within,
    kept,
    names_within,
    path_of,
    reading_in,
    reads_in_other_type,
)
from torchkeras.registry import call_from_config
from torchkeras.regularizers import PerSample
from torchkeras.saving.dialects.translation import named_object
from torchkeras.saving.layer_facts import inherited
from torchkeras.tensor_functions.operations.values import tensor_of


def _of_class(cls: type, table: Mapping[str, Any], default: Any) -> Any:
    """What a table says of a class or of the nearest base."""
    return next((table[base.__name__] for base in cls.__mro__ if base.__name__ in table), default)


def _as_there(cls: type, option: Option) -> Option:
    """An option as Keras 3 has it: its default, and what names stand for."""
    known = getattr(cls, "_changed_defaults", {})
    default = known[option.field][0] if option.field in known else option.default
    default = _of_class(cls, DEFAULTS, {}).get(option.field, default)
    rule = PENALTY if option.field == "activity_regularizer" else RULES.get(id(option.rule), option.rule)
    rule = _of_class(cls, NARROWER, {}).get(option.field, rule)
    return replace(option, default=default, rule=rule, newer=False)


def _check_lacking(cls: type, name: str, lacking: Lacking, value: Any) -> None:
    if value not in lacking.allowed:
        allowed = " or ".join(map(repr, lacking.allowed))
        raise ValueError(f"{cls.__name__}: {name} must be {allowed}; found {value!r}. Instead, {lacking.instead}.")


def _per_sample(value: Any) -> Any:
    """An activity regularizer, which counts for each sample of a batch."""
    return value if value is None or isinstance(value, PerSample) else PerSample(regularizers.get(value))


def _symbolic(shape: Any) -> Any:
    """Symbolic tensors of nested shapes."""
    if isinstance(shape, Mapping):
        return {name: _symbolic(each) for name, each in shape.items()}
    if any(isinstance(each, (list, tuple, Mapping)) for each in shape):
        return type(shape)(map(_symbolic, shape))
    return output_shapes.symbolic(tuple(shape))


def _with_positions(what: str, args: tuple[Any, ...], *named: Any) -> list[Any]:
    """The shape, initializer and type of a weight, by position or by name."""
    if len(args) > len(named):
        raise TypeError(f"{what} takes at most {len(named)} arguments by position; found {len(args)}.")
    if args and isinstance(args[0], str):
        raise ValueError(f"{what}: name must be given by name: add_weight(shape=..., name={args[0]!r}).")
    for option, value in zip(("shape", "initializer", "dtype")[: len(args)], named, strict=False):
        if value is not None:
            raise ValueError(f"{what}: {option} is given twice, by position and by name.")
    return [*args, *named[len(args) :]]


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


def _value_of(variable: Variable) -> torch.Tensor:
    return variable.value


def _as_ours(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with the inputs first, and a mask of numbers as True where it is over 0.5."""
    mask = kwargs.get("mask")
    if isinstance(mask, torch.Tensor) and mask.dtype is not torch.bool:
        kwargs = {**kwargs, "mask": mask > 0.5}
    if not args and "inputs" in kwargs:
        args, kwargs = (kwargs["inputs"],), {name: value for name, value in kwargs.items() if name != "inputs"}
    return args, kwargs


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


@replaceable("_as_options", "_build")
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
    _takes_lists: ClassVar[bool] = False  # whether the inputs may be numbers and lists of them

    class _Facts(Facts):
        operators_pass_masks = False
        operators_compare = False
        gives_tuples = True
        names_operations = staticmethod(name_of)

        @property
        def keeps_tuples(self) -> bool:  # type: ignore[override]
            return self.layer._is_users and not self.layer._is_network

        def end_mask(self) -> None:
            warnings.warn(
                f"{type(self.layer).__name__} {self.layer.name!r} does not support masking: its outputs carry no mask, "
                "though its inputs do. Set supports_masking in a layer of your own.",
                stacklevel=2,
            )

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(abstract=True, **kwargs)  # a name stands for this package's own class
        if "build" in vars(cls):
            build = building_within(cls.build)
            cls.build = build if is_own(cls) else building_once(build)  # type: ignore[method-assign]
        if not is_own(cls) and "compute_mask" in vars(cls) and "supports_masking" not in vars(cls):
            cls.supports_masking = True
        if not is_own(cls) and "call" in vars(cls):
            forward: Any = _forward_with_masks if any(map(is_mask, cls._call_parameters)) else _forward
            cls.forward = with_signature(forward, cls.call)  # type: ignore[method-assign]

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
        if not isinstance(given.get("trainable", True), bool):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: trainable must be True or False; found {given['trainable']!r}."
            )
        if batch_shape is not None:
            given["batch_input_shape"] = batch_shape
        super()._set_base_options(dtype=None if dtype is None else dtype_policies.get(dtype), **given)
        if activity_regularizer is not None:
            self.activity_regularizer = _per_sample(activity_regularizer)
        elif not hasattr(type(self), "activity_regularizer"):  # no option of the class
            self.activity_regularizer = None
        if self._is_stateless and type(self).build is Stored.build:
            self.built = True

    def _build(self, input_shapes: list[Any], *further: Any) -> None:
        with names_within(self):
            super()._build(input_shapes, *further)
        for part in self.children():  # a layer of the package's own, whose name begins with this one's
            if getattr(part, "name", "").startswith(f"{self.name}/"):
                vars(part).setdefault("_parent_path", vars(self)["_parent_path"])
        if getattr(self, "activity_regularizer", None) is not None:
            add_activity_losses(self, in_steps=False)  # so that `losses` has it after a call by hand

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a node to the graph (symbolic inputs), or compute (real ones), as in inference unless `training=True`."""
        if self.built or is_compiling():
            return self._compute(*args, **kwargs)
        with names_within(self):
            return self._compute(*args, **kwargs)

    def _compute(self, *args: Any, **kwargs: Any) -> Any:
        is_one_tensor = not kwargs and len(args) == 1 and type(args[0]) is torch.Tensor
        if not is_one_tensor:  # which needs no look inside, at each layer of a model's own code
            if self._takes_lists and args and not tensors_in(args[0]):
                args = tensor_of(args[0]), *args[1:]
            args, kwargs = as_tensors(mapped((args, kwargs), _value_of, (Variable,)), (), config.device())
            if is_own(type(self)):
                args, kwargs = _as_ours(args, kwargs)
        if not is_one_tensor or args[0].dtype is not self._policy.compute_type:
            args, kwargs = _autocast(self, args, kwargs)
        if not is_one_tensor and tensors_in((args, kwargs)):
            return super().__call__(*args, **kwargs)
        return self._computed(*args, **kwargs)

    def _computed(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs for real tensors.

        Inside the code of another layer, and in a step, the mode is that of the call around.
        """
        is_inside = CODE.owner is not None or ADDED.taken is not None
        if is_inside or MODE.training is not None or kwargs.get("training") is not None:
            return super().__call__(*args, **kwargs)
        with in_mode(self._trains_by_hand, self):
            return super().__call__(*args, **kwargs)

    def _without_code(self, inputs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} {self.name!r}: its class has no `call`.")

    def add_weight(  # type: ignore[override]
        self,
        *args: Any,
        shape: Any = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        aggregation: str | None = "none",
        overwrite_with_gradient: bool = False,
        name: str | None = None,
    ) -> Variable:
        """Make a weight, in `__init__` or `build`.

        Arguments:
            args (any): shape, initializer and dtype by position.
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
            name (text or None, default None): the name of the weight; None counts.

        Returns:
            The weight, a `Variable`.

        Errors:
            ValueError: an argument has a bad value, or is passed twice.

        Source: https://keras.io/api/layers/base_layer/
        """
        what = f"{type(self).__name__} {self.name!r}: add_weight"
        shape, initializer, dtype = _with_positions(what, args, shape, initializer, dtype)
        if not autocast or overwrite_with_gradient:
            raise ValueError(f"{what}: autocast must be True and overwrite_with_gradient False.")
        if aggregation not in (None, *AGGREGATIONS):
            raise ValueError(f"{what}: aggregation must be one of {AGGREGATIONS}; found {aggregation!r}.")
        kind = config.floatx() if dtype is None else str(dtype)
        if initializer is None and not kind.removeprefix("torch.").startswith(("float", "bfloat")):
            initializer = "zeros"
        super().add_weight(
            count_name("variable") if name is None else name,
            shape=() if shape is None else shape,
            dtype=dtype,
            initializer=initializers.get(initializer),
            regularizer=regularizers.get(regularizer),
            trainable=trainable,
            constraint=constraints.get(constraint),
        )
        added = self._added[-1]
        self._added[-1] = made = Variable.of(added, f"{path_of(self)}/{added.name}")
        made.aggregation = aggregation
        return made

    def _kept(self, variable: Weight) -> Weight:
        return kept(variable)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Variable):
            self._set_variable(name, value)
            return
        if isinstance(value, (list, tuple, dict)):
            for number, each in enumerate(value.values() if isinstance(value, dict) else value):
                if isinstance(each, Variable) and each.layer is None:
                    self._join_variable(f"{name}_{number}", each)
        before = self.__dict__.get(name)
        super().__setattr__(name, value)
        if isinstance(before, Variable) and isinstance(value, torch.Tensor):  # another tensor for the same weight
            self.__dict__[name] = before

    def _set_variable(self, name: str, variable: Variable) -> None:
        """Let an attribute be a weight: one of `add_weight`, one that is new to layers, or one of another layer."""
        declared = getattr(type(self), name, None)
        if isinstance(declared, property) and declared.fset is not None:
            declared.fset(self, variable)
            return
        if not isinstance(declared, DATA):
            check_name(self, name, variable, declared)
        CHANGES.count += 1
        if any(each is variable for each in self._added):
            name_weight(self, variable, name)
        else:
            self._join_variable(name, variable)
        self.__dict__[name] = variable

    def _join_variable(self, name: str, variable: Variable) -> None:
        """Let torch see the tensor of a weight that was made elsewhere."""
        tensors = variable.tensors
        if len(tensors) > 1:  # in pieces, in the layer that has it
            return
        path = name if variable.layer is not None or "name" not in self.__dict__ else free_path(self, name)
        (own_parameters if variable.made_to_train else own_buffers)(self)[path] = tensors[0]
        if variable.layer is None:
            variable.join(self, path)
            self._added.append(variable)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self.__dict__.pop(name, None)

    def stateless_call(
        self,
        trainable_variables: Sequence[Any],
        non_trainable_variables: Sequence[Any],
        *args: Any,
        return_losses: bool = False,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """The outputs for given values of the weights; the layer's own stay as they are.

        Arguments:
            trainable_variables (list of tensors): the values of `trainable_variables`, which gradients flow to.
            non_trainable_variables (list of tensors): those of `non_trainable_variables`.
            args, kwargs (any): the arguments of the call.
            return_losses (bool, default False): whether the losses of the call are returned too.

        Returns:
            The outputs, the values that `non_trainable_variables` have after the call, and the losses if wanted.

        Errors:
            ValueError: the layer is not built, or there is another number of values, or another shape.

        Source: https://keras.io/api/layers/base_layer/
        """
        found = stateless_call(self, trainable_variables, non_trainable_variables, args, kwargs)
        return found if return_losses else found[:2]

    def _flatten_layers(self, include_self: bool = True, recursive: bool = True) -> list[BaseLayer]:
        """The layer and those inside it, under the name by which code for Keras 3 asks for them."""
        inside = layers_within(self) if recursive else sublayers(self)
        return [*([self] if include_self else []), *dict.fromkeys(inside)]

    @property
    def input(self) -> Any:
        """The symbolic input of the first call, or a list of them. Raises AttributeError before it."""
        return of_call(self, 0, "input") if len(self._inbound_nodes) > 1 else super().input

    @property
    def output(self) -> Any:
        """The symbolic output of the first call, or a list of them. Raises AttributeError before it."""
        return of_call(self, 0, "output") if len(self._inbound_nodes) > 1 else super().output

    @property
    def losses(self) -> list[torch.Tensor]:
        """What `add_loss` got in the last call by hand, then the penalties on the weights now.

        Those of the layers inside are among them. Penalties on outputs count in `fit` and after a call by hand.
        """
        return LayerLosses([*losses_of_calls(self), *penalties(self)])

    @property
    def metrics(self) -> list[Any]:
        """The metrics among the attributes of the layer, and of those inside it."""
        return attributes_within(self, Metric)

    @property
    def metrics_variables(self) -> list[Any]:
        """The states of `metrics`."""
        return [state for metric in self.metrics for state in metric.variables]

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        infer = partial(super()._infer_outputs, inputs, masks, arguments)
        with seeds_kept(self) if self._is_users else nullcontext():
            return with_values_if_needed(infer)

    def compute_output_spec(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The symbolic outputs of a call on symbolic tensors; it adds nothing to the graph.

        Arguments:
            inputs (symbolic tensor, list or dict of them): the inputs.
            args, kwargs (any): the other arguments of the call.

        Source: https://keras.io/api/layers/base_layer/
        """
        shapes = mapped(inputs, attrgetter("shape"), (KerasTensor,))
        if not is_own(type(self)) and output_shapes.overrides(self, "compute_output_shape"):
            return _symbolic(self.compute_output_shape(shapes))
        arguments = self._call_signature.bind(self, inputs, *args, **kwargs).arguments
        further = dict(list(arguments.items())[2:])
        return self._scratch(shapes)._infer_outputs(inputs, [None] * len(as_list(inputs)), further)[0]

    def quantize(self, mode: Any = None, **options: Any) -> None:
        """Not there: raises NotImplementedError, which says what to use."""
        raise NotImplementedError(
            f"{type(self).__name__} {self.name!r} has no quantize: quantize the torch module, such as by "
            "torchao.quantization.quantize_(model, config)."
        )

    @property
    def weights(self) -> list[Weight]:
        """All weights: the layer's own, those made to train first, then those of each layer inside."""
        return Weights(map(kept, distinct(own_in_order(self), *(inside.weights for inside in sublayers(self)))))

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
        dtype = made.pop("dtype", self._policy.name)
        first = {name: made.pop(name) for name in ("name", "trainable") if name in made}
        made.update(automatic_config(self) or {})
        penalty = vars(self).get("activity_regularizer")  # not one that the class makes of other options
        if penalty is not None and "activity_regularizer" not in self._options:
            made["activity_regularizer"] = _written_penalty(penalty)
        return {**first, "dtype": dtype, **made}

    @classmethod
    def from_config(cls, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """A new layer with the options of a config, whose names of layers mean those of Keras 3."""
        make = partial(made_of, cls) if cls._keeps_config(config) else super().from_config
        with dialect.known():
            return call_from_config(make, config, custom_objects)

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


def _forward(layer: Layer, *args: Any, **kwargs: Any) -> Any:
    """The outputs of the `call` of a user's layer, which reads its variables in the type that it computes in."""
    policy = layer._policy
    if layer._is_network and layer._tells_policy:  # in a step nothing has cast the inputs of a model
        args, kwargs = _autocast(layer, args, kwargs)
    is_plain = not policy.is_mixed and not reads_in_other_type()
    with (
        nullcontext() if is_compiling() else names_within(layer),
        nullcontext() if is_plain else reading_in(policy.compute_type if policy.is_mixed else None),
    ):
        return layer.call(*args, **kwargs)


def _forward_with_masks(layer: Layer, *args: Any, **kwargs: Any) -> Any:
    """The same of a `call` with an argument `mask` or `<name>_mask`, which gets the masks of nested inputs.

    They are nested like the inputs, with None for the inputs without a mask.
    """
    names = list(layer._call_signature.parameters)[1:]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    inputs = {name: value for name, value in given.items() if not is_mask(name) and leaves(value)}
    for name, value in inputs.items():
        argument = "mask" if len(inputs) == 1 else f"{name}_mask"
        if argument in names[len(args) :] and given.get(argument) is None and not isinstance(value, torch.Tensor):
            kwargs[argument] = mapped(value, mask_of)
    return _forward(layer, *args, **kwargs)


def _autocast(layer: Layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, floating-point tensors of another type cast to that of computation; or all inputs.

    Where torch has moved a layer to another type, as by `layer.double()`, that of its weights counts.
    """
    wanted = layer._policy.compute_type

    inputs = leaves(args[:1]) if layer._takes_integers else []

    def is_other(value: torch.Tensor) -> bool:
        if value.dtype is wanted:
            return False
        return value.dtype.is_floating_point or any(value is each for each in inputs)

    if not wanted.is_floating_point or not any(map(is_other, leaves((args, kwargs)))):
        return args, kwargs
    moved = _moved_type(layer) or wanted

    def cast(value: torch.Tensor) -> torch.Tensor:
        return marked(value.to(moved), mask_of(value)) if is_other(value) else value

    return mapped((args, kwargs), cast, (torch.Tensor,))


def _moved_type(layer: Layer) -> torch.dtype | None:
    """The type of a layer's weights that its inputs get in place of that of its policy; None: they get the policy's.

    A layer of the package does not cast for those inside it. In a class of the user's they cast by themselves: there
    the type of weights counts only where torch has moved them to another than their layer's.
    """
    policy = layer._policy
    for part in layer.modules():
        policy = getattr(part, "_policy", policy)
        for weight in own_parameters(part).values():
            if weight.is_floating_point():
                return None if layer._is_users and weight.dtype is policy.variable_type else weight.dtype
    return None

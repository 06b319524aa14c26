"""`Layer`: an `nn.Module` that owns its weights from its first call on.

Called on symbolic tensors it adds a node to the graph; called on real ones it computes. Three methods compute:
`forward` is what torch runs, in the layer's own order of axes; `call` is the same in Keras's order of axes, and what a
layer written the Keras way overrides; `_call_module` is torch's own (hooks, then `forward`), used inside a model.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import torch
from torch import nn

from torchkeras import config, registry
from torchkeras.base import docstrings
from torchkeras.base.dtype_names import dtype_name, dtype_of
from torchkeras.base.dtype_policy import DTypePolicy, policy_of
from torchkeras.base.naming import name_methods, snake_case, unique_name
from torchkeras.base.rules import refuse_unknown
from torchkeras.engine import options
from torchkeras.engine.adapters.tracked import KINDS
from torchkeras.engine.building.building import on_meta
from torchkeras.engine.facts import is_own, joined
from torchkeras.engine.layer.call import Calling, in_keras_order
from torchkeras.engine.layer.changed_options import HasOptions
from torchkeras.engine.modes import by_mode, call_in_mode
from torchkeras.engine.shapes import output_shapes
from torchkeras.engine.shapes.input_spec import sized
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape, as_list
from torchkeras.engine.weights.weight import Weight
from torchkeras.legacy.arguments import layer_arguments

_signature = lru_cache(inspect.signature)  # of a `forward`: that of a base counts for many classes


class Layer(HasOptions, Calling):
    """The base of all layers: a module of torch that makes its weights at its first call.

    There are three ways to write one. Ours: options as class fields, weights by `weight(...)`, torch modules in
    `_make_modules(input_shape)`, and `forward`. Keras's: `__init__`, `build` with `add_weight`, `call`,
    `compute_output_shape`, `get_config`. Torch's: `__init__` and `forward`.

    Options:
        name (text or None, default None): the name of the layer; None counts, as in "dense_1".
        trainable (bool, default True): whether training changes the weights.
        dtype (name, torch dtype, DTypePolicy or None, default None): the types of weights and of computation; None is
            `config.dtype_policy()`. Floating-point inputs in a graph are cast to the type of computation.
        input_shape (tuple or None, default None): the shape of the input without the batch axis, for the first layer of
            a Sequential.
        batch_input_shape (tuple or None, default None): the shape with the batch axis, in place of `input_shape`.
        batch_size (positive integer or None, default None): the size of the batch axis, with `input_shape`.
        weights (list of arrays or None, default None): the first values of all weights.

    Errors:
        TypeError: an option is unknown.
        ValueError: an option has a bad value.

    Example:
        >>> class Scale(Layer):
        ...     def build(self, input_shape):
        ...         self.scale = self.add_weight("scale", (input_shape[-1],), initializer="ones")
        ...     def call(self, inputs):
        ...         return inputs * self.scale
        >>> Scale()(torch.full((1, 2), 3.0)).tolist()
        [[3.0, 3.0]]

    Source: https://keras.io/api/layers/base_layer/
    """

    _options: ClassVar[dict[str, options.Option]] = {}
    __signature__: ClassVar[Any] = options.signature({}, "layer_options")
    _native_forward: ClassVar[Any] = None  # the nearest `forward` that keeps to the declared layout
    _casts_outputs: ClassVar[bool] = False  # outputs have the compute type: a user's class says itself what they are
    _by_call: ClassVar[bool] = False  # `call` is overridden: the layer works in Keras's order

    _option_order: ClassVar[tuple[str, ...]] = ()  # options that stand after the others, in this order
    _changed_defaults: ClassVar[Mapping[str, Any]] = {}  # of options: the later one, and since which version of Keras
    _options_given: frozenset[str]  # by the caller; kept where a default was changed

    rank: ClassVar[int]
    supports_masking: bool = False

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = cls.__doc__ or cls.__mro__[1].__doc__  # what a variant of a rank does, its base says
        cls._options = options.collect(cls, Layer)
        cls._changeable = {option.field: option for option in cls._options.values()}
        makes = next(base for base in cls.__mro__ if "__init__" in base.__dict__)
        declares = options.declares(makes)
        if declares:
            docstrings.complete_when_read(cls, lambda cls: docstrings.complete(cls, cls._options))
        cls._weights = {
            name: value
            for base in reversed(cls.__mro__[: cls.__mro__.index(Layer)])
            for name, value in base.__dict__.items()
            if isinstance(value, Weight)
        }
        cls._is_users = not is_own(cls)
        for name in ("call", "forward"):
            if cls._is_users and name in cls.__dict__:
                setattr(cls, name, by_mode(cls.__dict__[name]))
        if "call" in cls.__dict__:
            cls._by_call = True
            cls.forward = Layer.forward  # type: ignore[method-assign]
        elif "forward" in cls.__dict__:
            cls._by_call = False
            cls._native_forward = cls.__dict__["forward"]
        cls._joined_facts = joined(cls)
        cls._casts_outputs = not cls._is_users and not cls._joined_facts.keeps_types
        cls._call_signature = _signature(cls.call if cls._by_call else cls.forward)
        parameters = cls._call_signature.parameters
        cls._call_parameters = frozenset(parameters)
        cls._takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        # None: what Python finds by itself, the signature of an `__init__` that declares no options.
        cls.__signature__ = options.signature(cls._options, "layer_options") if declares else None
        if not abstract and not cls._is_users:
            registry.layers.register(cls.__name__, cls)

    def __new__(cls, *args: Any, **kwargs: Any):  # the type of `cls`, which only Python 3.11's Self could name
        make = super().__new__  # a mixin's, such as that of huggingface_hub, which keeps the arguments
        self = make(cls) if make is object.__new__ else make(cls, *args, **kwargs)
        nn.Module.__init__(self)  # here, so that a layer may set attributes before it calls super().__init__()
        policy = config.dtype_policy()
        # At once, not by torch's `__setattr__`, which takes its time for each.
        self.__dict__.update(
            built=False,
            _policy=policy,
            _tells_policy=cls._joined_facts.casts and policy.is_mixed,
            _is_part=False,
            _trainable=True,
            _frozen_above=False,
            _held=set(),
            _frozen_at_compile=set(),
            _named=set(),
            _taken_plainly=set(),
            _call_nodes=[],
            _outbound_nodes=[],
            _added=[],
            _expected_ndim=None,
            _expected_axes={},
            _initial_weights=None,
        )
        return self

    def __init__(self, *args: Any, **given: Any):
        args, given = layer_arguments(type(self), self._options, args, given)
        if self._changed_defaults:
            self._options_given = frozenset((*list(self._options)[: len(args)], *given))
        values = options.bind(type(self), self._options, args, given)
        self._set_base_options(**given)
        for name, value in values.items():
            field = self._options[name].field
            if not (self._is_users or isinstance(value, (nn.Module, torch.Tensor))):
                self.__dict__[field] = value  # at once
            elif type(value) in KINDS:
                setattr(self, field, value)
            else:
                self._keep_option(field, value)

    def _set_base_options(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
        **given: Any,
    ) -> None:
        """Take the options of every layer. `given`: `input_dtype`, Keras 1's, and what is unknown."""
        kind = type(self).__name__
        if not (name is None or isinstance(name, str)):
            raise ValueError(f"{kind}: name must be a string, or None; found {name!r}.")
        self.name: str = name or unique_name(snake_case(kind))
        if not (batch_input_shape is None or isinstance(batch_input_shape, Iterable)):
            raise ValueError(
                f"{kind} {self.name!r}: batch_input_shape must be a tuple, such as (None, 4); found "
                f"{batch_input_shape!r}."
            )
        shape: Any = input_shape if batch_input_shape is None else batch_input_shape[1:]
        if input_dim is not None or input_length is not None:
            try:
                shape = sized(shape, input_dim, input_length, self._facts.input_ndim)
            except ValueError as error:
                raise ValueError(f"{kind} {self.name!r}: {error}") from None
        if batch_size is not None and (shape is None or batch_input_shape is not None):
            raise ValueError(
                f"{kind} {self.name!r}: batch_size goes with input_shape; found batch_size {batch_size!r}."
            )
        if batch_input_shape is None and shape is not None:
            batch_input_shape = (batch_size, *as_list(shape))
        self.batch_input_shape: Shape | None = None if batch_input_shape is None else tuple(batch_input_shape)
        if "input_dtype" in given:
            self.input_dtype = dtype_name(dtype_of(given.pop("input_dtype") or config.floatx()))
        if dtype is not None:
            try:
                self._policy, self._tells_policy = policy_of(dtype), True
            except ValueError as error:
                raise ValueError(f"{kind} {self.name!r}: {error}") from error
        self._initial_weights = weights
        if trainable is not True:
            self.trainable = trainable
        if given:
            common = ("name", "trainable", "dtype", "input_shape", "batch_input_shape")
            refuse_unknown(kind, given, (*self._options, *common))

    # --- types -------------------------------------------------------------------------------------------------------

    @property
    def dtype_policy(self) -> DTypePolicy:
        """The types of the weights and of what is computed.

        It may be set before the first call; that of a model at any time, which gives it to all its layers. Raises
        ValueError later, and for one that wants another type of the weights that are there.
        """
        return self._policy

    @dtype_policy.setter
    def dtype_policy(self, policy: Any) -> None:
        if self._call_nodes:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: its dtype_policy is settled by its first call. Give it as dtype "
                "before, or set that of the model."
            )
        self._take_policy(policy_of(policy))

    def _follow_theano(self) -> None:
        """Compute as Theano did, for weights that it made, where that differs from TensorFlow: mostly in nothing."""

    # --- computing ---------------------------------------------------------------------------------------------------

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute in Keras's order of axes: `call(inputs)`. A layer written the Keras way overrides this.

        Arguments:
            args (tensor or list): the inputs.
            kwargs (any): further arguments of the layer's own, such as `mask` or `training`.

        Returns:
            The outputs: a tensor, or a list of several.

        Source: https://keras.io/api/layers/base_layer/
        """
        inputs, *others = args or (kwargs.pop("inputs"),)
        if self._native_forward is None:
            return inputs
        compute = self._native_forward
        return call_in_mode(self, in_keras_order, self._facts.native_layout, compute, inputs, *others, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute in the layer's own layout. A layer written the torch way overrides this.

        Arguments:
            args, kwargs (any): the inputs and further arguments.

        Returns:
            The outputs: a tensor, or a list of several.
        """
        return self.call(*args, **kwargs)

    def _call_rectified(self, maker: Layer, inputs: Any) -> Any:
        """As `_call_module`, of the output of `maker`."""
        return self._call_module(inputs)

    def _call_logits(self, inputs: Any) -> Any:
        """What the layer gives without the activation that it ends in."""
        return call_in_mode(self, self._facts.logits, inputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the output: by default that of the input.

        Arguments:
            inputs (tensor or list): the inputs.
            mask (tensor, list or None, default None): the masks of the inputs.

        Returns:
            A mask or None; a list for several outputs.

        Errors:
            TypeError: a mask arrives at a layer that supports none.
        """
        if self.supports_masking:
            return mask
        if any(item is not None for item in as_list(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an input_mask. Take the mask away before "
                "it, or set supports_masking in a layer of your own."
            )
        return None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for a shape of the input; it adds nothing to the graph.

        Arguments:
            input_shape (tuple or list of tuples): the shape of the input with the batch axis; None is an unknown size.

        Returns:
            A tuple, or a list of tuples for several outputs.

        Example:
            >>> Conv2D(8, 3).compute_output_shape((None, 28, 28, 1))
            (None, 26, 26, 8)
        """
        if self._is_users and output_shapes.overrides(self, "compute_output_shape"):
            # Asked by `super()`: as in Keras, a layer that says nothing keeps the shape.
            bases = type(self).__mro__[: type(self).__mro__.index(Layer)]
            if not any(map(is_own, bases)):
                return input_shape
        made = self._scratch(input_shape)
        inputs = output_shapes.symbolic(input_shape)
        with output_shapes.by_running(made):
            outputs, _ = made._infer_outputs(inputs, [None] * len(as_list(inputs)), {})
        return outputs.shape if isinstance(outputs, KerasTensor) else [tensor.shape for tensor in outputs]

    def _scratch(self, input_shape: Any) -> Layer:
        """This layer, or a copy built without memory when it has not been called yet."""
        if self.built:
            return self
        made = type(self).from_config(self.get_config())
        with on_meta():
            made._build([tensor.shape for tensor in as_list(output_shapes.symbolic(input_shape))])
        return made

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            # A property or weight whose getter raised lands here, its own message lost: ask it again.
            declared = getattr(type(self), name, None)
            if isinstance(declared, (property, Weight)):
                return declared.__get__(self, type(self))
            if "name" not in self.__dict__:
                kind = type(self).__name__
                raise AttributeError(
                    f"{kind} has no {name!r} yet: its __init__ must call super().__init__(**options)."
                ) from None
            raise

    # --- config and copies --------------------------------------------------------------------------------------------

    @property
    def _class_name(self) -> str:
        """The name of the class in a config."""
        return type(self).__name__

    @property
    def _automatic_name(self) -> str:
        """What a name that was not given begins with."""
        return snake_case(type(self).__name__)

    def get_config(self) -> dict[str, Any]:
        """The options as plain values, from which `from_config` makes the layer again, without its weights.

        Returns:
            A dict.
        """
        base: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if self.batch_input_shape is not None:
            base["batch_input_shape"] = self.batch_input_shape
        if self._tells_policy or self.batch_input_shape is not None:
            base["dtype"] = self._policy.name
        return {**base, **options.written(self._options, self)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Layer:
        """A new layer with the options of a config.

        Arguments:
            config (dict): what `get_config` returned.

        Returns:
            The layer, without weights until its first call.

        Errors:
            TypeError: an option is unknown.
            ValueError: an option has a bad value.

        Example:
            >>> Dense.from_config(Dense(3, name="out").get_config()).name
            'out'
        """
        return cls(**config)

    def __getstate__(self) -> dict[str, Any]:
        # The graph belongs to the model: a layer copied or pickled on its own has its weights and no calls.
        state = {**self.__dict__, "_call_nodes": [], "_outbound_nodes": []}
        if "_losses_of_call" in state:  # which torch cannot copy, since they are results
            state["_losses_of_call"] = (None, [])
        if self._losses_of_weights:
            state["_losses_of_weights"] = self._copied_losses()
        return state

    def extra_repr(self) -> str:
        """The options that differ from their defaults, for `repr`."""
        changed = [
            f"{name}={option.rule.write(getattr(self, option.field))!r}"
            for name, option in self._options.items()
            if option.rule.shown
            and hasattr(self, option.field)
            and getattr(self, option.field) is not option.default
            and option.rule.write(getattr(self, option.field)) != option.default
        ]
        return ", ".join([repr(self.name), *changed])


name_methods(Layer)

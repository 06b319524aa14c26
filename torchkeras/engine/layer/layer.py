"""`Layer`: an `nn.Module` whose first call makes its weights.

Called on symbolic tensors it adds a node to the graph; called on real ones it computes. Two methods compute: `forward`,
which torch runs, works in the layer's own order of axes; `call` does the same in Keras's order of axes, and a layer
written the Keras way overrides it. A model calls a layer by `modes.call_module`: hooks, then `forward`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import prod
from types import FunctionType, MethodType
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from torchkeras import config, registry
from torchkeras.base import docstrings
from torchkeras.base.dtypes import DTypePolicy, dtype_name, dtype_of, policy_of
from torchkeras.base.extensions import replaceable
from torchkeras.base.fixed_lists import LayerLosses, Weights
from torchkeras.base.naming import name_methods, snake_case, unique_name
from torchkeras.base.nested import tensors_in
from torchkeras.base.python import computes_with, hideable_property, installed, with_signature
from torchkeras.base.rules import refuse_unknown
from torchkeras.base.torch_tables import own_buffers, own_modules, own_parameters
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine import options
from torchkeras.engine.adapters.tracked import KINDS, Tracked, to_track, tracked, with_replaced
from torchkeras.engine.base_layer import AnyLayer, BaseLayer
from torchkeras.engine.building.building import (
    NOT_USERS,
    add_weight,
    build_from_modules,
    build_once,
    named_shape,
    on_meta,
)
from torchkeras.engine.carried_masks import MASK
from torchkeras.engine.dtypes import input_type, take_policy
from torchkeras.engine.facts import Facts, facts_of, is_own, is_users_method, joined
from torchkeras.engine.layer.added_losses import (
    LossOfWeights,
    add_loss,
    add_metric,
    copied_losses,
    losses_of_calls,
    penalties,
)
from torchkeras.engine.layer.call import (
    call_on_tensors,
    call_symbolically,
    check_mask,
    compute_and_remember,
    in_keras_order,
    of_all_calls,
    of_call,
    of_single_call,
)
from torchkeras.engine.layer.changed_options import change_option, keep_option
from torchkeras.engine.layer.masks_by_hand import call_with_masks, has_masks
from torchkeras.engine.modes import MODE, by_mode, call_in_mode, call_module
from torchkeras.engine.shapes import output_shapes
from torchkeras.engine.shapes.input_spec import whole_shape
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, Shape, as_list
from torchkeras.engine.users_code import is_users_layer
from torchkeras.engine.weights.tying import tie
from torchkeras.engine.weights.weight import Value, Variable, Weight, initializer_of
from torchkeras.engine.weights.weight_lists import (
    CHANGES,
    ENGINES_OWN,
    NOW,
    Freezing,
    follow_trainable,
    hold_statistics,
    layers_directly_in,
    list_by_kind,
    set_weights,
    weights_in,
    with_freezing,
)
from torchkeras.legacy.arguments import layer_arguments

_signature = lru_cache(inspect.signature)  # of a `forward`, which many classes inherit


@replaceable(
    *("__init__", "__init_subclass__", "__setattr__", "__call__", "call", "build", "compute_output_shape"),
    *("add_weight", "add_loss", "losses", "trainable_weights", "non_trainable_weights"),
)
class Layer(BaseLayer):
    """The base of all layers: a module of torch that makes its weights at its first call.

    There are three ways to write one. Ours: options as class fields, weights by `weight(...)`, torch modules in
    `_make_modules(input_shape)`, and `forward`. Keras's: `__init__`, `build` with `add_weight`, `call`,
    `compute_output_shape`, `get_config`. Torch's: `__init__` and `forward`.

    Options:
        name (text or None, default None): the name of the layer; None makes one with a number, such as "dense_1".
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

    supports_masking: bool = False
    stateful: Any = False  # whether it carries state from batch to batch
    input_spec: Any = None  # an `InputSpec` or a list of them, which a layer written the Keras way may set
    rank: ClassVar[int]

    # Attributes of a class. `__init_subclass__` sets those of the first block.
    _options: ClassVar[dict[str, options.Option]] = {}
    _changeable: ClassVar[Mapping[str, options.Option]] = {}  # the options, by the attributes that store their values
    _weights: ClassVar[dict[str, Weight]] = {}  # the declared ones
    _is_users: ClassVar[bool] = False  # the class is not this package's
    _by_call: ClassVar[bool] = False  # `call` is overridden: the layer works in Keras's order
    _native_forward: ClassVar[Any] = None  # the nearest `forward`, which works in the declared layout
    _joined_facts: ClassVar[type[Facts]] = Facts
    _casts_outputs: ClassVar[bool] = False  # outputs are cast to the compute type; a user's class chooses their type
    _call_signature: ClassVar[inspect.Signature]
    _makes_masks: Any = False  # whether its outputs may have masks though its inputs have none
    _call_parameters: ClassVar[frozenset[str]] = frozenset()
    _takes_any: ClassVar[bool] = False  # `call` takes keyword arguments of any name
    __signature__: ClassVar[Any] = options.signature({}, "layer_options")

    _is_network: ClassVar[bool] = False  # a model, or the graph of one
    _option_order: ClassVar[tuple[str, ...]] = ()  # options that stand after the others, in this order
    _automatic_count: ClassVar[str] = r"_\d+"  # the pattern of what follows `_automatic_name` in an automatic name
    _changed_defaults: ClassVar[Mapping[str, Any]] = {}  # of options: the later default, and since which Keras

    # Attributes of a layer.
    name: str
    built: bool = False
    batch_input_shape: Shape | None
    _options_given: frozenset[str]  # passed by the caller; only where a default was changed
    # The mode that torch stores as `training`; under that name, Dynamo of torch 2.11 and older reads the property.
    _training_mode: bool
    _policy: DTypePolicy
    _tells_policy: bool  # the policy was passed, or is a mixed default
    _is_part: bool  # of another layer, which casts its inputs
    _freezing: Freezing
    _built_for: Any = None  # the shape of the input that its modules were made for
    _expected_ndim: int | None  # the number of axes that its weights were made for
    _expected_axes: dict[int, int]
    _initial_weights: Any  # the option `weights`, until the layer is built
    _added: list[Variable]  # by `add_weight`
    _named: set[str]  # the attributes that weights of `add_weight` are registered under
    _call_nodes: list[Node]
    _outbound_nodes: list[Node]
    _taken_plainly: set[tuple[torch.Size, torch.dtype]]  # the shapes and types of inputs that need no more checks
    _changed_inputs: frozenset[int] = frozenset()  # the numbers of the inputs that its code changes in place
    _is_unseen: bool = False  # it runs a user's code that did not run when its output shape was found
    _losses_of_weights: tuple[LossOfWeights, ...] = ()  # from `add_loss` outside of a call
    _losses_of_call: tuple[object, list[Tensor]]  # the last pass by hand, and what the layer added in it

    # What the engine asks of a layer. Some classes override it.
    _facts = property(facts_of)
    _build = build_once
    _check_mask = check_mask
    _infer_outputs = output_shapes.infer  # without adding a node
    _input_type = input_type
    _initializer_of = initializer_of
    _sublayers = layers_directly_in
    _list_by_kind = list_by_kind

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = cls.__doc__ or cls.__mro__[1].__doc__  # a variant for one rank has the text of its base
        cls._is_users = not is_own(cls)
        _find_options(cls)
        _find_weights(cls)
        _find_call(cls)
        if not abstract and not cls._is_users:
            registry.layers.register(cls.__name__, cls)

    def __new__(cls, *args: Any, **kwargs: Any):  # returns a `cls`: typing.Self came with Python 3.11
        make = super().__new__  # maybe a mixin's, such as that of huggingface_hub, which stores the arguments
        self = make(cls) if make is object.__new__ else make(cls, *args, **kwargs)
        nn.Module.__init__(self)  # here, so that a layer may set attributes before it calls super().__init__()
        policy = config.dtype_policy()
        # All at once: torch's `__setattr__` is slow.
        self.__dict__.update(
            built=False,
            _policy=policy,
            _tells_policy=cls._joined_facts.casts and policy.is_mixed,
            _is_part=False,
            _freezing=Freezing(),
            _expected_ndim=None,
            _expected_axes={},
            _initial_weights=None,
            _added=[],
            _named=set(),
            _call_nodes=[],
            _outbound_nodes=[],
            _taken_plainly=set(),
        )
        return self

    def __init__(self, *args: Any, **kwargs: Any):
        args, kwargs = self._as_options(self._options, args, kwargs)
        if self._changed_defaults:
            self._options_given = frozenset((*list(self._options)[: len(args)], *kwargs))
        values = options.bind(type(self), self._options, args, kwargs)
        self._set_name(name=kwargs.pop("name", None))  # first: the errors about other options show it
        for option, value in values.items():
            field = self._options[option].field
            if not (self._is_users or isinstance(value, (nn.Module, Tensor))):
                self.__dict__[field] = value  # not by torch's slow `__setattr__`
            elif type(value) in KINDS:
                setattr(self, field, value)
            else:
                keep_option(self, field, value)
        self._set_base_options(**kwargs)

    @classmethod
    def _declared_options(cls) -> dict[str, options.Option]:
        """The options that the class declares, with its bases, by the names and in the order of its arguments."""
        return options.collect(cls, Layer)

    # The arguments of the constructor under the names of the options: Keras 1 had other names.
    _as_options = classmethod(layer_arguments)

    def _set_name(self, *, name: str | None = None) -> None:
        kind = type(self).__name__
        if not isinstance(name, (str, type(None))):
            raise ValueError(f"{kind}: name must be a string, or None; found {name!r}.")
        self.name = name or unique_name(snake_case(kind))

    def _set_base_options(
        self,
        *,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
        **others: Any,
    ) -> None:
        """Set the options that every layer has, but its name. `others`: Keras 1's `input_dtype`, and unknown ones."""
        kind = type(self).__name__
        self.__dict__["batch_input_shape"] = None
        try:
            if not (input_shape is batch_input_shape is batch_size is input_dim is input_length is None):
                self.batch_input_shape = whole_shape(
                    input_shape, batch_input_shape, batch_size, input_dim, input_length, self._facts.input_ndim
                )
            if dtype is not None:
                self._policy, self._tells_policy = policy_of(dtype), True
        except ValueError as error:
            raise ValueError(f"{kind} {self.name!r}: {error}") from None
        if "input_dtype" in others:
            self.input_dtype = dtype_name(dtype_of(others.pop("input_dtype") or config.floatx()))
        self.__dict__["_initial_weights"] = weights
        if trainable is not True:
            self.trainable = trainable
        if others:
            common = ("name", "trainable", "dtype", "input_shape", "batch_input_shape")
            refuse_unknown(kind, others, (*self._options, *common))

    # --- attributes --------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        CHANGES.count += 1
        declared = getattr(type(self), name, None)
        if not isinstance(declared, DATA):
            if isinstance(declared, Weight) and _may_be_tied(self, value) and tie(self, name, value):
                return
            check_name(self, name, value, declared)
        elif name == "built" and not value and self.__dict__.get("_call_nodes"):
            raise AttributeError(
                f"{type(self).__name__} {self.name!r}: built cannot become False, since a graph has its weights: set "
                "other values by set_weights, or make another layer, such as by clone_model."
            )
        elif name == "name" and not issubclass(type(value), str):
            raise ValueError(f"{_named(self)}: name must be a string; found {value!r}.")
        if isinstance(value, Tensor):
            added = added_as(self, value)
            if added is not None:
                name_weight(self, added, name)
                return
            changes = name in self._changeable and not self._is_users  # a user's code may store a tensor there
        elif self._is_users and name not in ENGINES_OWN and to_track(value):
            changes = False
            if getattr(declared, "fset", None) is None:  # the setter of a property gets the list itself
                value = tracked(value)
        else:
            changes = name in self._changeable
        if changes:
            change_option(self, name, value)
            return
        modules = self.__dict__.get("_modules", {})  # which a mixin's `__new__` may be ahead of
        if isinstance(modules.get(name), Tracked) and not isinstance(value, nn.Module):
            super().__delattr__(name)  # a list that was empty so far, in whose place torch takes modules alone
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        for kind, declared in (("an option", self._changeable), ("a weight", self._weights)):
            if name in declared:
                raise AttributeError(f"{type(self).__name__} {self.name!r}: {name!r} is {kind} and cannot be deleted.")
        super().__delattr__(name)

    def register_parameter(self, name: str, param: Any) -> None:
        """As `torch.nn.Module.register_parameter`.

        Arguments:
            name (string): the attribute.
            param (nn.Parameter or None): the parameter.

        Errors:
            TypeError: it is the array of a weight, as `prune` gives it for a layer; it works on the module inside.
        """
        if isinstance(param, Value) and param._variable is not None:
            path, _, own = param._variable.paths[0].rpartition(".")
            raise TypeError(
                f"{_named(self)}: {param._variable.name} is no parameter of the layer itself; the module that has it "
                f"is layer.{path}, and its name there {own!r}."
            )
        super().register_parameter(name, param)  # type: ignore[arg-type]

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        super()._load_from_state_dict(state_dict, prefix, *args)
        if not self.built and any(key.startswith(prefix) and not self._has(key[len(prefix) :]) for key in state_dict):
            args[-1].append(
                f"{type(self).__name__} {self.name!r} has no weights yet, and the state_dict has some for it: build "
                "the model, or call it, before it loads."
            )

    def _has(self, key: str) -> bool:
        """Whether a key of a state_dict is that of something inside."""
        name = key.partition(".")[0]
        return name == "_extra_state" or any(name in own for own in (self._modules, self._parameters, self._buffers))

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            # torch has hidden the error of a property's or weight's getter: call it again.
            declared = getattr(type(self), name, None)
            if isinstance(declared, (property, Weight)):
                return declared.__get__(self, type(self))
            if "name" not in self.__dict__:
                kind = type(self).__name__
                raise AttributeError(
                    f"{kind} has no {name!r} yet: its __init__ must call super().__init__(**options)."
                ) from None
            raise

    # --- types and modes ---------------------------------------------------------------------------------------------

    @property
    def variable_dtype(self) -> str:
        """The name of the type of the weights."""
        return self._policy.variable_dtype

    @property
    def compute_dtype(self) -> str:
        """The name of the type that floating-point inputs are cast to, and outputs have."""
        return self._policy.compute_dtype

    dtype = variable_dtype

    @property
    def dtype_policy(self) -> DTypePolicy:
        """The types of the weights and of the computation.

        It may be set before the first call; that of a model at any time, which sets it for all its layers. Raises
        ValueError later, and for a policy with another type than the existing weights.
        """
        return self._policy

    @dtype_policy.setter
    def dtype_policy(self, policy: Any) -> None:
        if self._call_nodes:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: its dtype_policy is settled by its first call. Give it as dtype "
                "before, or set that of the model."
            )
        take_policy(self, policy_of(policy))

    @property
    def training(self) -> bool:  # type: ignore[override]
        """The mode of the running call in this thread; outside of one, the mode that the module stores as in torch."""
        if MODE.training is None:
            return self._training_mode
        return MODE.training if MODE.own is None else MODE.own.get(id(self), MODE.training)

    @training.setter
    def training(self, mode: bool) -> None:
        if MODE.training is None or "_training_mode" not in self.__dict__:
            self.__dict__["_training_mode"] = mode
        else:  # set by code that such a call runs: until the call ends
            MODE.own = {**(MODE.own or {}), id(self): mode}

    def train(self, mode: bool = True) -> Any:
        """Set training or evaluation mode, as in torch. A frozen layer with statistics stays in evaluation mode.

        Arguments:
            mode (bool, default True): True for training, False for evaluation.

        Returns:
            The layer.
        """
        super().train(mode)
        if mode and self._frozen:
            hold_statistics(self)
        return self

    # --- building ----------------------------------------------------------------------------------------------------

    def _make_modules(self, input_shape: Any) -> None:
        """Make the torch modules of the layer for an input of this shape (a list of shapes for several inputs).

        Runs on the `meta` device: memory and initial values come afterwards, by the declared weights.
        """

    def build(self, input_shape: Any) -> None:
        """Make the weights. A layer written the Keras way overrides this and calls `add_weight`.

        Arguments:
            input_shape (tuple or list of tuples): the shape of the input with the batch axis; a list for several
                inputs.

        Source: https://keras.io/api/layers/base_layer/
        """
        build_from_modules(self, input_shape)

    def add_weight(
        self,
        name_or_shape: str | int | Iterable[int] | None = None,
        /,
        shape: Any = (),
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
        *,
        name: str | None = None,
    ) -> torch.Tensor:
        """Make a weight, in `build` of a layer written the Keras way.

        Keras 3's `add_weight(shape, initializer, name=...)` works as well.

        Arguments:
            name_or_shape (text, integers or None, default None): the name of the weight, as `name=` gives it; or its
                shape, which an initializer may follow.
            shape (tuple of integers, default ()): its shape, in Keras's order of axes.
            dtype (name, torch dtype or None, default None): its type; None is that of the layer's weights.
            initializer (name, Initializer or None, default None): the first values; None is "glorot_uniform".
            regularizer (name, Regularizer or None, default None): a penalty, added to the loss.
            trainable (bool, default True): whether training changes it; otherwise it is a buffer.
            constraint (name, Constraint or None, default None): a function applied to the weight after each update.
            name (text or None, default None): the name of the weight; None is `weight_0` and so on.

        Returns:
            The parameter or buffer, a tensor.

        Errors:
            ValueError: an argument has a bad value, or is passed twice.

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
        name, shape, initializer = named_shape(name_or_shape, name, shape, initializer)
        return add_weight(self, name, shape, dtype, initializer, regularizer, trainable, constraint)

    def _known_size(self, input_shape: Shape, axis: int) -> int:
        """The size of an axis that weights depend on; further calls must have the same. Raises ValueError if None."""
        size = input_shape[axis]
        if size is None:
            raise ValueError(f"axis {axis} of the input must be known; the input shape is {tuple(input_shape)}.")
        self._expected_axes[axis] = size
        return size

    def _follow_theano(self) -> None:
        """Compute as Theano does, for weights from Theano. Layers that differ from TensorFlow there override this."""

    # --- computing ---------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a node to the graph (symbolic inputs), or compute (real ones). The first call makes the weights.

        `training`: the mode of this call, True or False, also for the layers inside; None for the layer's mode. The
        other arguments are those of `call`, or `forward`.
        """
        is_one_tensor = not kwargs and len(args) == 1 and type(args[0]) is torch.Tensor
        is_unmasked = is_one_tensor and not (self._makes_masks or hasattr(args[0], MASK))
        if is_unmasked and not (compiled_somewhere() and is_compiling()):
            if (args[0].shape, args[0].dtype) in self._taken_plainly:
                return call_module(self, args[0])
            return compute_and_remember(self, args[0])
        symbolic = tensors_in((args, kwargs) if kwargs else args)
        if symbolic:
            return call_symbolically(self, symbolic, args, kwargs)
        if not is_unmasked and (self._makes_masks or has_masks(args, kwargs)):
            return call_with_masks(self, args, kwargs)
        return call_on_tensors(self, args, kwargs)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute in Keras's order of axes: `call(inputs)`. A layer written the Keras way overrides this.

        Arguments:
            args (tensor or list): the inputs.
            kwargs (any): further arguments of the layer, such as `mask` or `training`.

        Returns:
            The outputs: a tensor, or a list of several.

        Source: https://keras.io/api/layers/base_layer/
        """
        inputs, *others = args or (kwargs.pop("inputs"),)
        if self._native_forward is None:
            return self._without_code(inputs)
        compute = self._native_forward
        return call_in_mode(self, in_keras_order, self._facts.native_layout, compute, inputs, *others, **kwargs)

    def _without_code(self, inputs: Any) -> Any:
        """What a layer gives whose class has neither a `call` nor a `forward`: its inputs."""
        return inputs

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute in the layer's own layout. A layer written the torch way overrides this.

        Arguments:
            args, kwargs (any): the inputs and further arguments.

        Returns:
            The outputs: a tensor, or a list of several.
        """
        return self.call(*args, **kwargs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the output: by default that of the input.

        Arguments:
            inputs (tensor or list): the inputs.
            mask (tensor, list or None, default None): the masks of the inputs.

        Returns:
            A mask or None; a list for several outputs.

        Errors:
            TypeError: the input has a mask, and the layer does not support masking.
        """
        if self.supports_masking:
            return mask
        if any(item is not None for item in as_list(mask)):
            facts_of(self).end_mask()
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
        if output_shapes.overrides(self, "compute_output_shape"):
            # Called by `super()`: as in Keras, the default is the shape of the input.
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
        return self if self.built else self._built_copy(input_shape)

    def _built_copy(self, input_shape: Any) -> Layer:
        """A layer with the same options, built without memory."""
        made = type(self).from_config(self.get_config())
        with on_meta():
            made._build([tensor.shape for tensor in as_list(output_shapes.symbolic(input_shape))])
        return made

    # --- calls in graphs ---------------------------------------------------------------------------------------------

    @property
    def _inbound_nodes(self) -> list[Node]:
        """The calls of the layer, under Keras's name."""
        return self._call_nodes

    @_inbound_nodes.setter
    def _inbound_nodes(self, nodes: list[Node]) -> None:
        self._call_nodes = nodes

    def get_input_at(self, node_index: int) -> Any:
        """The symbolic input(s) of one call.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return of_call(self, node_index, "input")

    def get_output_at(self, node_index: int) -> Any:
        """The symbolic output(s) of one call.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return of_call(self, node_index, "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shape(s) of the input of one call.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return of_call(self, node_index, "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shape(s) of the output of one call.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return of_call(self, node_index, "output shape")

    def get_input_mask_at(self, node_index: int) -> Any:
        """The symbolic mask(s) of the input of one call, None for none.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return of_call(self, node_index, "input mask")

    def get_output_mask_at(self, node_index: int) -> Any:
        """The symbolic mask(s) of the output of one call, None for none.

        Arguments:
            node_index (integer): the number of the call, from 0.

        Returns:
            One, or a list when the layer takes or gives several.

        Errors:
            RuntimeError: the layer was never called.
            ValueError: there is no such call.
        """
        return of_call(self, node_index, "output mask")

    @property
    def input(self) -> Any:
        """The symbolic input(s) of the only call. Raises AttributeError when there is none or more than one."""
        return of_single_call(self, "input")

    @property
    def output(self) -> Any:
        """The symbolic output(s) of the only call. Raises AttributeError when there is none or more than one."""
        return of_single_call(self, "output")

    @property
    def input_mask(self) -> Any:
        """The mask(s) of the input(s) of the only call. Raises as `input`."""
        return of_single_call(self, "input mask")

    @property
    def output_mask(self) -> Any:
        """The mask(s) of the output(s) of the only call. Raises as `output`."""
        return of_single_call(self, "output mask")

    @property
    def input_shape(self) -> Any:
        """The input shape(s), when all calls agree. Raises AttributeError when there was no call or they differ."""
        return of_all_calls(self, "input shape")

    @property
    def output_shape(self) -> Any:
        """The output shape(s), when all calls agree. Raises as `input_shape`."""
        return of_all_calls(self, "output shape")

    # --- weights -----------------------------------------------------------------------------------------------------

    @property
    def trainable_weights(self) -> list[Variable]:
        """The weights that training changes: those with `requires_grad`, which `trainable` sets."""
        return Weights(variable for variable in self.weights if variable.trains)

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The weights that training does not change: statistics, and frozen weights."""
        return Weights(variable for variable in self.weights if not variable.trains)

    @property
    def weights(self) -> list[Variable]:
        """All weights, those of trainable layers first; empty before the first call."""
        return Weights(weights_in(self, NOW))

    # Keras 3's names of the same.
    trainable_variables = property(lambda self: self.trainable_weights, doc="`trainable_weights`.")
    non_trainable_variables = property(lambda self: self.non_trainable_weights, doc="`non_trainable_weights`.")
    variables = property(lambda self: self.weights, doc="`weights`.")

    def get_weights(self) -> list[Any]:
        """The values of all weights as NumPy arrays, in Keras's order of axes.

        Returns:
            A list of arrays; it is empty before the layer's first call, which makes the weights.

        Example:
            >>> layer = Dense(2)
            >>> output = layer(torch.zeros(1, 4))
            >>> [array.shape for array in layer.get_weights()]
            [(4, 2), (2,)]
        """
        return [variable.numpy() for variable in self._ordered_weights()]

    def set_weights(self, weights: Any) -> None:
        """Set all weights from arrays in Keras's order of axes.

        Arguments:
            weights (list of arrays): the values, in the order of `get_weights()`.

        Errors:
            ValueError: their number or a shape differs from the layer's; then no weight is set.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,))])
            >>> model.set_weights([np.array([[1.0], [2.0]]), np.array([0.5])])
            >>> model(torch.ones(1, 2)).item()
            3.5
        """
        set_weights(self, self._ordered_weights(), weights)

    def _ordered_weights(self) -> list[Variable]:
        return self.weights

    def _kept(self, variable: Variable) -> Variable:
        """The object that stands for a weight of the layer: each time a new one, but in a class that keeps one."""
        return variable

    def count_params(self) -> int:
        """The number of values in all weights. Raises RuntimeError before the first call, which makes them."""
        if not self.built:
            raise RuntimeError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. "
                f"You can build it by calling it, or with `{self.name}.build(input_shape)`."
            )
        return sum(prod(variable.shape) for variable in self.weights)

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights.

        False turns off `requires_grad` of all parameters inside, from the next batch on; True turns on again those that
        it turned off. A parameter that `requires_grad_(False)` froze stays frozen. A compiled model trains the weights
        that were trainable at `compile`: unfreeze before `compile`, or compile again. A layer that is frozen for
        another model, such as the discriminator in an adversarial pair, still trains in a model compiled before that.
        """
        return self._freezing.trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not isinstance(value, (bool, int)):
            raise ValueError(f"{type(self).__name__}: trainable must be True or False; found {value!r}.")
        self._freezing.trainable = bool(value)
        follow_trainable(self, self._freezing.above)

    @property
    def _frozen(self) -> bool:
        """Whether the layer is not trainable, or part of one that is not."""
        return self._freezing.is_frozen

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Let all parameters inside train, or freeze them, as in torch.

        What it freezes stays frozen when `trainable` is set to True, whichever came first.

        Arguments:
            requires_grad (bool, default True): whether the parameters train.

        Returns:
            The layer.
        """
        super().requires_grad_(requires_grad)
        if not requires_grad:
            for module in self.modules():
                if isinstance(module, Layer):
                    module._freezing.held.clear()
        return self

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """As in torch; constants and states, which no file has, keep their values, also when others get empty memory.

        A move may replace weights of `add_weight`: attributes then refer to the new tensors.
        """
        before = [variable.tensors[0] for variable in self._added]
        constants = {name: self._buffers[name] for name in self._non_persistent_buffers_set & self._buffers.keys()}
        self._buffers.update(dict.fromkeys(constants))  # torch leaves None as it is
        try:
            super()._apply(fn, recurse)
        finally:
            self._buffers.update(constants)
        for name, constant in constants.items():
            self._buffers[name] = None if constant is None else moved_constant(fn, constant)
        refer_to_moved(self, before, [variable.tensors[0] for variable in self._added])
        return self

    def _sublayers_in(self, order: str) -> list[Layer]:
        """The layers of `_sublayers` in another order: `KERAS1`, `WRITTEN` or `TORCH`."""
        return self._sublayers()

    def reset_states(self) -> None:
        """Reset the states that stateful layers inside carry from batch to batch."""
        for layer in self._sublayers():
            if layer.stateful or type(layer).reset_states is Layer.reset_states:
                layer.reset_states()

    # --- losses and metrics ------------------------------------------------------------------------------------------

    @hideable_property
    def losses(self) -> list[Tensor]:
        """The current penalties on weights, and what `add_loss` got in your last call: sum them in your loop.

        Those of the layers inside are among them. Penalties on outputs count in `fit` alone.
        """
        return LayerLosses([*penalties(self), *losses_of_calls(self)])

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add scalars to the loss that training minimizes.

        In a layer's `call` they are tensors, for that pass. Outside of one they are losses of weights, computed again
        in every step: functions without arguments, weights, and what functions of `keras.backend` compute from weights.

        Arguments:
            losses (scalar tensor, function or list): the scalars.
            inputs (tensor or None, default None): the tensors that they depend on; not used, since torch knows them.

        Errors:
            TypeError: a loss is neither a tensor nor a function.
            ValueError: a loss is no scalar, or outside of a `call` a tensor whose value would never change.

        Example:
            >>> class Penalized(Layer):
            ...     def call(self, inputs):
            ...         self.add_loss(0.01 * (inputs**2).mean())
            ...         return inputs
            >>> Penalized()(torch.ones(2, 3)).shape
            torch.Size([2, 3])
            >>> layer = Dense(2)
            >>> layer.add_loss(lambda: 0.01 * (layer.kernel**2).sum())

        Source: https://keras.io/api/layers/base_layer/
        """
        add_loss(self, losses)

    def add_metric(self, value: Any, name: str, aggregation: str | None = "mean") -> None:
        """In a layer's `call`: report the mean of a tensor, averaged over batches by their size.

        Arguments:
            value (tensor): the values.
            name (text): the name of the number.
            aggregation (text, default "mean"): must be "mean".

        Errors:
            TypeError: `value` is no tensor, or `name` no text.
            ValueError: `aggregation` is not "mean", or a name is used twice in one pass.
        """
        add_metric(self, value, name, aggregation)

    # --- config and copies --------------------------------------------------------------------------------------------

    @property
    def _class_name(self) -> str:
        """The name of the class in a config."""
        return registry.name_in_configs(type(self)) if self._is_users else type(self).__name__

    @property
    def _automatic_name(self) -> str:
        """The first part of an automatic name."""
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
        # The graph belongs to the model: a copied or pickled layer has weights, but no calls.
        state = {**self.__dict__, "_call_nodes": [], "_outbound_nodes": []}
        if "_losses_of_call" in state:  # torch cannot copy them: they are no leaves of autograd
            state["_losses_of_call"] = (None, [])
        if self._losses_of_weights:
            state["_losses_of_weights"] = copied_losses(self)
        state["_freezing"] = self._freezing.copy()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = with_freezing(state)
        if "training" in state:  # of an earlier version
            state["_training_mode"] = state.pop("training")
        super().__setstate__(state)

    def __prepare_scriptable__(self) -> Any:
        """What `torch.jit.script` calls. Raises TypeError: it needs source code, and that of a model is generated."""
        raise TypeError(
            f"{type(self).__name__} {self.name!r}: torch.jit.script cannot compile it; call torch.export.export(model, "
            "(x,)), torch.jit.trace(model, x) or model.export instead."
        )

    def extra_repr(self) -> str:
        """The options that differ from their defaults, for `repr`."""
        changed = [repr(self.name)]
        for name, option in self._options.items():
            value = getattr(self, option.field, option.default)  # not set yet while `__init__` runs
            if value is option.default or not option.rule.shown:
                continue
            if isinstance(value, nn.Module):  # in place of a function: it has no name to write
                changed.append(f"{name}={value!r}")
                continue
            written = option.rule.write(value)
            if option.default is options.REQUIRED or written != option.rule.write(option.read_default()):
                changed.append(f"{name}={written!r}")
        return ", ".join(changed)


def _find_options(cls: type[Layer]) -> None:
    """Find the options that a class declares, with its bases."""
    cls._options = cls._declared_options()
    cls._changeable = {option.field: option for option in cls._options.values()}
    makes = next(base for base in cls.__mro__ if "__init__" in base.__dict__)
    if options.declares(makes):
        docstrings.complete_when_read(cls, lambda cls: docstrings.complete(cls, cls._options))
        cls.__signature__ = options.signature(cls._options, "layer_options")
    elif makes is cls:
        cls.__signature__ = None  # what Python finds by itself, the signature of `__init__`
    else:  # Python 3.11.4 finds it by itself; before, an inherited `__new__` comes first
        shown = inspect.signature(makes.__init__)
        cls.__signature__ = shown.replace(parameters=list(shown.parameters.values())[1:])


def _find_weights(cls: type[Layer]) -> None:
    """Find the weights that a class declares, with its bases."""
    cls._weights = {}
    for base in reversed(cls.__mro__[: cls.__mro__.index(Layer)]):
        for name, value in base.__dict__.items():
            if isinstance(value, Weight):
                cls._weights[name] = value


def _find_call(cls: type[Layer]) -> None:
    """Find how a class computes, by `call` or `forward`, and the arguments of its calls."""
    if cls._is_users or computes_with(cls, "add_loss"):
        for name in vars(cls).keys() & {"call", "forward"}:
            setattr(cls, name, by_mode(vars(cls)[name]))
    if "call" in cls.__dict__:
        cls._by_call = True
        cls.forward = with_signature(Layer.forward, cls.call)  # type: ignore[method-assign, arg-type]
    elif "forward" in cls.__dict__:
        cls._by_call = False
        cls._native_forward = cls.__dict__["forward"]
    cls._joined_facts = joined(cls)
    cls._casts_outputs = not cls._is_users and not cls._joined_facts.keeps_types
    cls._call_signature = _signature(cls.call if cls._by_call else cls.forward)
    parameters = cls._call_signature.parameters
    cls._call_parameters = frozenset(parameters)
    if "compute_mask" in cls.__dict__ and cls._is_users:
        cls._makes_masks = True
    cls._takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())


name_methods(Layer)


# --- what is set as an attribute --------------------------------------------------------------------------------------


# The values of class attributes that an attribute of a layer may replace.
DATA = (type(None), bool, int, float, str, tuple, list, dict, set)


def check_name(layer: AnyLayer, name: str, value: Any, declared: Any) -> None:
    """Raise AttributeError for an attribute that would hide a member of the class, or that nothing would read."""
    for kind, check in CHECKS.items():
        if isinstance(declared, kind):
            check(layer, name, value, declared)


def _named(layer: AnyLayer) -> str:
    """How errors name a layer, which may not have its name yet."""
    kind = type(layer).__name__
    return f"{kind} {layer.__dict__['name']!r}" if "name" in layer.__dict__ else kind


def _may_be_tied(layer: AnyLayer, value: Any) -> bool:
    """Whether a value may tie a declared weight: a tensor, in a class that does not make its weights by a `build`."""
    return isinstance(value, Tensor) and added_as(layer, value) is None and not is_users_method(type(layer), "build")


def _check_weight(layer: AnyLayer, name: str, value: Any, declared: Weight) -> None:
    if is_users_layer(layer) and layer._built_for is None:
        return
    if added_as(layer, value) is not None or (value is None and layer.built and not declared.applies(layer)):
        return
    raise AttributeError(
        f"{_named(layer)}: {name!r} is a weight of its modules, and another object under its name would not "
        f"compute. layer.set_weights sets its values; layer.{name} = other.{name} ties it to the weight of another "
        f"layer, and layer.{declared.paths[0]} is torch's parameter."
    )


def _check_property(layer: AnyLayer, name: str, value: Any, declared: property) -> None:
    if declared.fset is None:
        raise AttributeError(
            f"{_named(layer)}: {name!r} is a property and cannot be set; for an attribute of your own take another "
            "name."
        )


def _check_method(layer: AnyLayer, name: str, value: Any, declared: Any) -> None:
    if name.startswith("_"):
        return
    ours = any(name in vars(base) and installed(base.__module__) for base in type(layer).__mro__)
    if ours and (isinstance(value, nn.Module) or not callable(value)):
        raise AttributeError(
            f"{_named(layer)}: the attribute {name!r} would hide the method of that name: give it another name, such "
            f"as {name}_1."
        )
    if name == "call" and not layer._by_call:
        raise AttributeError(
            f"{_named(layer)}: it computes by forward, so that a call put into its place would do nothing: set "
            "forward, or make a subclass with a call."
        )


# By the kind of what the class has under the name.
CHECKS: Mapping[type, Callable[..., None]] = {
    Weight: _check_weight,
    property: _check_property,
    FunctionType: _check_method,
    MethodType: _check_method,
}


def added_as(layer: AnyLayer, value: Any) -> Variable | None:
    """The weight of `add_weight` whose tensor the value is; None where there is none."""
    return next((each for each in layer.__dict__.get("_added", ()) if each is value or each.tensors[0] is value), None)


def name_weight(layer: AnyLayer, added: Variable, name: str) -> None:
    """Register a weight of `add_weight` under the name of its attribute: the first, where several refer to it."""
    registered: Any = own_parameters(layer) if added.made_to_train else own_buffers(layer)
    if hasattr(type(layer), name) or added.paths[0] in layer._named:
        object.__setattr__(layer, name, added.attribute)
        return
    layer.__dict__.pop(name, None)
    registered[name] = registered.pop(added.paths[0])
    place = next(place for place, each in enumerate(layer._added) if each is added)
    layer._added[place] = added.renamed(name)
    layer._named.add(name)


def moved_constant(fn: Callable[[Tensor], Tensor], constant: Tensor) -> Tensor:
    """A constant after a move, with its values: `fn` may give empty memory, so an empty tensor says where it goes."""
    if constant.is_meta:
        return fn(constant)
    empty = constant.new_empty((0,) * constant.dim())
    moved = fn(empty)
    if moved is empty:  # it stays, maybe in shared memory
        return fn(constant)
    return constant if moved.is_meta else constant.to(moved)


def refer_to_moved(layer: AnyLayer, before: Sequence[Tensor], now: Sequence[Tensor]) -> None:
    """After a move that has replaced weights of `add_weight`: make the layer's attributes refer to the new ones."""
    replaced = {id(old): new for old, new in zip(before, now, strict=True) if new is not old}
    if not replaced:
        return
    for tensor in replaced.values():
        tensor._added_weight = True  # type: ignore[attr-defined]
    for attributes in (layer.__dict__, own_modules(layer)):
        for name in attributes.keys() - NOT_USERS:
            attributes[name] = with_replaced(attributes[name], replaced)

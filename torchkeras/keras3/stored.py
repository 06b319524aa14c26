"""What a layer says of itself for files, and takes from them: how it was built, and the values of its weights."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, ClassVar

import torch

from torchkeras.base.tracing import is_compiling
from torchkeras.engine.facts import is_own
from torchkeras.engine.layer.layer import Layer as BaseLayer
from torchkeras.engine.weights.weight import own_variables
from torchkeras.engine.weights.weight_lists import sublayers
from torchkeras.keras3.automatic import arguments_of
from torchkeras.keras3.variable import building_within, kept

SHAPE, SHAPES = "input_shape", "shapes_dict"
# What a class of one's own may replace in Keras 3, and files here do not ask.
UNASKED = ("save_own_variables", "load_own_variables", "save_assets", "load_assets")


class Stored(BaseLayer, abstract=True):
    """The part of Keras 3's `Layer` that files ask."""

    _shapes_built_for: Any = None

    def __new__(cls, *args: Any, **kwargs: Any):  # returns a `cls`: typing.Self came with Python 3.11
        made = super().__new__(cls, *args, **kwargs)
        if not is_own(cls):
            made.__dict__["_arguments"] = arguments_of(cls, args, kwargs)
        return made

    _names_of_shapes: ClassVar[Sequence[str]] = ("input_shape",)  # the arguments of `build`
    _is_stateless: ClassVar[bool] = False  # it makes nothing at its first call, which only checks the shapes
    _takes_integers: ClassVar[bool] = False  # as numbers of the type that it computes in

    @classmethod
    def _keeps_config(cls, config: Any) -> bool:
        """Whether `from_config` gets a config just as a file has it: in a class of the user's."""
        return isinstance(config, Mapping) and not is_own(cls)

    def _build(self, input_shapes: list[Any], *further: Any) -> None:
        before = self.built and not self._awaits_shapes
        if self._awaits_shapes:
            self.__dict__["built"] = False
        super()._build(input_shapes, *further)
        if not before:
            self.__dict__["_shapes_built_for"] = input_shapes, further

    @building_within
    def build(self, input_shape: Any = None, *further: Any, **named: Any) -> None:
        """Make the weights.

        Arguments:
            input_shape (tuple or list of tuples, default None): the shape of the input with the batch axis; a list or
                tuple of shapes for several inputs, or each by itself. A layer whose weights depend on no input takes
                None.
            further (tuples): the shapes of further inputs.
            named (tuples by name): the shapes, for a layer whose inputs have names: `query_shape`.

        Errors:
            TypeError: a name is unknown.
            ValueError: the shape is missing, or the layer cannot compute on it.

        Source: https://keras.io/api/layers/base_layer/
        """
        unknown = sorted(named.keys() - set(self._names_of_shapes))
        if unknown:
            raise TypeError(
                f"{type(self).__name__} {self.name!r}: build takes {', '.join(self._names_of_shapes)}; found "
                f"{unknown[0]!r}."
            )
        shapes = [input_shape, *further, *(named.get(name) for name in self._names_of_shapes)]
        known = [as_shape(shape) for shape in shapes if shape is not None] or [self.batch_input_shape]
        if known == [None] and not is_own(type(self)) and self._native_forward is None:  # it makes nothing
            self.built = True
            return
        if known == [None]:
            raise ValueError(f"{type(self).__name__} {self.name!r}: build needs the shape of the input.")
        super().build(known[0] if len(known) == 1 else known)

    @property
    def _awaits_shapes(self) -> bool:
        """Whether it is a layer without weights, built from the start, that has seen no input yet."""
        return self._is_stateless and self._shapes_built_for is None and not is_compiling()

    def _scratch(self, input_shape: Any) -> BaseLayer:
        return self._built_copy(input_shape) if self._awaits_shapes else super()._scratch(input_shape)

    def get_build_config(self) -> dict[str, Any] | None:
        """The shapes with which the layer was built: `{"input_shape": ...}`, or by the arguments of `build`.

        A class of your own that is built of something else overrides this and `build_from_config`. None before the
        layer is built, and for a layer of Keras with several inputs, which its first call builds.
        """
        if self._shapes_built_for is None:
            return None if self._built_for is None else {SHAPE: self._built_for}
        first, further = self._shapes_built_for
        if further:
            names = list(inspect.signature(self.build).parameters)
            return None if is_own(type(self)) else {SHAPES: dict(zip(names, [first[0], *further], strict=False))}
        if len(first) > 1 and is_own(type(self)):
            return None
        return {SHAPE: first[0] if len(first) == 1 else list(first)}

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Build the layer with what `get_build_config` returned.

        Arguments:
            config (dict): "input_shape", or "shapes_dict" with the shape for each argument of `build`.
        """
        if not config:
            return
        if config.get(SHAPE) is not None:
            shape = as_shape(config[SHAPE])
            self._build(shape if isinstance(shape, list) else [shape])
        elif SHAPES in config:
            first, *further = map(as_shape, config[SHAPES].values())
            self._build([first], *further)

    def save_own_variables(self, store: MutableMapping[str, Any]) -> None:
        """Put the values of the layer's own weights into a dict, as arrays by "0", "1", ...: those to train first.

        Arguments:
            store (dict): where they go.
        """
        for number, variable in enumerate(own_in_order(self)):
            store[str(number)] = variable.numpy()

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """Set the weights to the values that `save_own_variables` put into a dict.

        Arguments:
            store (dict): the values.

        Errors:
            ValueError: their number or a shape is not that of the weights.
        """
        variables = own_in_order(self)
        if len(store) != len(variables):
            raise ValueError(
                f"{type(self).__name__} {self.name!r} has {len(variables)} weights of its own; found {len(store)} "
                "values."
            )
        for number, variable in enumerate(variables):
            variable.assign(torch.as_tensor(store[str(number)]))


def own_in_order(layer: BaseLayer) -> list[Any]:
    """The layer's own weights, those made to train first."""
    return sorted(map(kept, own_variables(layer)), key=lambda variable: not variable.made_to_train)


def as_shape(value: Any) -> Any:
    """A shape of JSON as a tuple; a list of shapes stays one."""
    if isinstance(value, Mapping):
        return {name: as_shape(each) for name, each in value.items()}
    if any(isinstance(each, (list, tuple, Mapping)) for each in value):
        return [as_shape(each) for each in value]
    return tuple(value)


def check_asked(model: BaseLayer, what: str) -> None:
    """Raise ValueError for a layer of the user's that stores its values in a way of its own.

    Files here have the weights of each layer under their numbers, so that another way would be lost.
    """
    for layer in (model, *layers_within(model)):
        for name in UNASKED:
            owner = next((kind for kind in type(layer).__mro__ if name in vars(kind)), None)
            if owner is not None and not is_own(owner):
                raise ValueError(
                    f"{what}: {type(layer).__name__} {layer.name!r} has a {name} of its own, which files do not ask: "
                    "keep what it stores as weights of add_weight, or save it to a file of your own."
                )


def layers_within(layer: BaseLayer) -> list[BaseLayer]:
    """The layers inside a layer, at any depth."""
    return [inside for each in sublayers(layer) for inside in (each, *layers_within(each))]

"""What a layer says of itself for files, and takes from them: how it was built, and the values of its weights."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import wraps
from typing import Any, ClassVar

import torch

from torchkeras.base.tracing import is_compiling
from torchkeras.engine.facts import Facts, is_own, is_users_method
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer as BaseLayer
from torchkeras.engine.weights.weight import own_variables
from torchkeras.engine.weights.weight_lists import sublayers
from torchkeras.keras3.automatic import arguments_of
from torchkeras.keras3.variable import building_within, kept

SHAPE, SHAPES = "input_shape", "shapes_dict"
# What a class of one's own may replace, in order to store its values, or files beside them, in its own way.
OF_VALUES, OF_FILES = ("save_own_variables", "load_own_variables"), ("save_assets", "load_assets")


class Stored(BaseLayer, abstract=True):
    """The part of Keras 3's `Layer` that files ask."""

    class _Facts(Facts):
        @property
        def stores_itself(self) -> bool:  # type: ignore[override]
            return replaces(type(self.layer), OF_VALUES)

        @property
        def has_assets(self) -> bool:  # type: ignore[override]
            return replaces(type(self.layer), OF_FILES)

    _shapes_built_for: Any = None
    _is_building: bool = False  # whether its `build` is running

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
        self.__dict__["_is_building"] = True
        try:
            super()._build(input_shapes, *further)
        finally:
            self.__dict__["_is_building"] = False
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

    def save_assets(self, inner_path: str) -> None:
        """Write files of the layer's own into a folder: none, unless a class of your own does.

        A `.keras` file holds them; a file of weights alone does not.

        Arguments:
            inner_path (text): the folder, which is there.
        """

    def load_assets(self, inner_path: str | None) -> None:
        """Read the files that `save_assets` wrote.

        Arguments:
            inner_path (text or None): the folder; None if the file has none for the layer.
        """

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


def building_once(build: Callable[..., Any]) -> Callable[..., Any]:
    """A `build` of a class of one's own, which a call by hand runs just as the layer's first call would."""

    @wraps(build)
    def once(layer: Any, *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(build).bind(layer, *args, **kwargs).arguments
        shapes = [as_shape(each) for each in list(given.values())[1:] if isinstance(each, (list, tuple))]
        if layer.built or layer._is_building or isinstance(layer, Network) or len(shapes) != len(given) - 1:
            return build(layer, *args, **kwargs)
        first, *further = shapes
        return layer._build([first] if is_shape(first) else list(first), *further)

    return once


def is_shape(value: Any) -> bool:
    """Whether a value is one shape, and not several in a list."""
    return all(size is None or isinstance(size, int) for size in value)


def as_shape(value: Any) -> Any:
    """A shape of JSON as a tuple; a list of shapes stays one. None stands for no input."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: as_shape(each) for name, each in value.items()}
    if any(isinstance(each, (list, tuple, Mapping)) for each in value):
        return [as_shape(each) for each in value]
    return tuple(value)


def replaces(cls: type, names: Sequence[str]) -> bool:
    """Whether a class of the user's has one of these methods of its own."""
    return any(is_users_method(cls, name) for name in names)


def layers_within(layer: BaseLayer) -> list[BaseLayer]:
    """The layers inside a layer, at any depth."""
    return [inside for each in sublayers(layer) for inside in (each, *layers_within(each))]

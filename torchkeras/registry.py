"""Names to objects, with a `Family` for each kind: layers, activations, initializers, regularizers, constraints, ...

A name in a file or a call is looked up here and nowhere else, so nothing is ever imported by name. Objects that a user
passes as `custom_objects`, or puts into a `CustomObjectScope`, come before the registered ones.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from torch import nn

from torchkeras.legacy.names import LAYERS

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

LONGEST_NAME = 200  # that is compared with the known names, for a hint
# The key next to a config, or in a file, of what other versions of Keras do not have, and do not read.
OWN = "torchkeras"
BUILT = "build_config"  # the key next to a config of what Keras 3 builds a layer with

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

REGISTERED: dict[str, Any] = {}  # the custom objects outside of scopes
CUSTOM_OBJECTS: ContextVar[dict[str, Any]] = ContextVar("custom objects", default=REGISTERED)

# Classes that configs make in place of others, such as those of another Keras.
INSTEAD: ContextVar[Mapping[Any, Any]] = ContextVar("classes in place of others", default={})  # noqa: B039


class IdentifierError(TypeError, ValueError):
    """What stands for no object: TypeError says so, and Keras 2 raised ValueError."""


def get_custom_objects() -> dict[str, Any]:
    """The custom objects known at present, by name; a change of the dictionary takes effect at once.

    Example:
        >>> get_custom_objects()["Mine"] = Dense
        >>> get_custom_objects().pop("Mine").__name__
        'Dense'

    Source: https://keras.io/api/utils/serialization_utils/
    """
    return CUSTOM_OBJECTS.get()


@contextmanager
def custom_object_scope(*objects: Mapping[str, Any]) -> Iterator[None]:
    """Know further objects by name inside a `with` block, in the thread that runs it.

    Arguments:
        objects (dicts): names to classes or functions.

    Example:
        >>> with custom_object_scope({"twice": lambda x: 2 * x}):
        ...     layer = Activation("twice")
        >>> layer(torch.ones(2))
        tensor([2., 2.])

    Source: https://keras.io/api/utils/serialization_utils/
    """
    known = dict(get_custom_objects())
    for mapping in objects:
        known.update(mapping)
    token = CUSTOM_OBJECTS.set(known)
    try:
        yield
    finally:
        CUSTOM_OBJECTS.reset(token)


CustomObjectScope = custom_object_scope


def register(known: Any = None, /, name: str | None = None, package: str | None = None) -> Any:
    """Make a class or function known by its name, in files too: `@register`, or `@register(name="Mine")`.

    Arguments:
        known (class, function or None, default None): what to register.
        name (text or None, default None): the name; None takes its own.
        package (text or None, default None): the object is known as "package>name" as well, as tf.keras and Keras 3
            write what was registered so.

    Returns:
        The object itself, so that `register` is a decorator.

    Errors:
        ValueError: another object has that name already.

    Example:
        >>> @register(name="docs_example_twice")
        ... def twice(x):
        ...     return 2 * x
        >>> Activation("docs_example_twice")(torch.ones(2))
        tensor([2., 2.])

    Source: https://keras.io/api/utils/serialization_utils/
    """
    if known is None:
        return lambda found: register(found, name=name, package=package)
    own, custom_objects = name or known.__name__, get_custom_objects()
    for key in (own, f"{package}>{own}") if package else (own,):
        if custom_objects.setdefault(key, known) is not known:
            raise ValueError(f"register: {key!r} is registered already, as {custom_objects[key]!r}.")
    return known


def registered_name(known: Any) -> str:
    """The name of a class or function in files of Keras 3: "package>name" if it was registered so, else its own."""
    names = [name for name, each in get_custom_objects().items() if each is known and ">" in name]
    return names[-1] if names else known.__name__


def name_in_configs(known: Any) -> str:
    """The name of a class or function in configs: its own, or "package>name" where it is known by that alone."""
    is_known = get_custom_objects().get(known.__name__) is known
    return known.__name__ if is_known else registered_name(known)


def registered(name: str) -> str:
    """The same for the name that a config has."""
    known = get_custom_objects().get(name)
    return name if known is None else registered_name(known)


class Kept(dict[str, Any]):
    """The config of an object whose class takes it just as a file has it: nothing else looks inside."""


def kept(entry: Mapping[str, Any]) -> Kept | None:
    """The config in an entry, if the class, a custom object, takes it as it is: `_keeps_config` says so."""
    found = get_custom_objects().get(registered_or_own(entry))
    keeps = getattr(found, "_keeps_config", None)
    return Kept(entry["config"]) if keeps is not None and keeps(entry["config"]) else None


def registered_or_own(entry: Mapping[str, Any]) -> Any:
    """The name of the class of an entry: "package>name" where it was registered so, else its own."""
    name = entry.get("registered_name")
    return name if isinstance(name, str) and ">" in name else entry.get("class_name")


def factory(function: F) -> F:
    """Mark a function that makes an object as a class does: `Family.get` calls it ("l2", "glorot_uniform")."""
    function.__dict__["makes_object"] = True
    return function


class Family(Generic[T]):
    """The registered objects of one kind. `kind` is the word for it in errors ("layer", "loss function")."""

    def __init__(self, kind: str, old_names: Mapping[str, str] | None = None, beside: Iterable[str] = ()):
        self.kind = kind
        self._beside = beside  # names that have a meaning elsewhere, and are suggested too
        self._objects: dict[str, T] = {}
        self._old_names = old_names or {}

    @property
    def _article(self) -> str:
        return "an" if self.kind[0] in "aeiou" else "a"

    def register(self, name: str, value: T) -> T:
        """Make `value` known as `name`; a later registration of the name replaces an earlier one."""
        self._objects[name] = value
        return value

    def own(self, value: Any, *names: str) -> Any:
        """Register a class or function of this package by its name, and by these; a user's stays unknown."""
        if value.__module__.partition(".")[0] == __name__.partition(".")[0]:
            for name in (value.__name__, *names):
                self.register(name, value)
        return value

    def classes(self) -> dict[str, Any]:
        """The registered classes by their own names."""
        return {name: each for name, each in self._objects.items() if inspect.isclass(each) and each.__name__ == name}

    def holds(self, value: Any) -> bool:
        """Whether this very object is registered."""
        return any(each is value for each in self._objects.values())

    def names(self) -> list[str]:
        """All registered names, sorted."""
        return sorted(self._objects)

    def __contains__(self, name: str) -> bool:
        return name in self._objects

    def find(self, name: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The object called `name`. Raises ValueError, with the nearest known names, when there is none."""
        for known in (custom_objects or {}, get_custom_objects(), self._objects):
            if name in known:
                return known[name]
        if self._old_names.get(name) in self._objects:
            return self._objects[self._old_names[name]]
        package, _, own = name.rpartition(">")
        given = {**get_custom_objects(), **(custom_objects or {})}
        if package and own in given:  # so tf.keras and Keras 3 write a registered class of the user's
            return given[own]
        if len(name) > LONGEST_NAME:
            raise ValueError(f"Unknown {self.kind}: a name of {len(name)} letters, {name[:LONGEST_NAME]!r}...")
        close = difflib.get_close_matches(name, [*self._beside, *self._objects], n=3)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ValueError(
            f"Unknown {self.kind}: {name!r}.{hint} An object of your own is found when it is passed in "
            "`custom_objects` or put into a CustomObjectScope."
        )

    def from_config(self, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
        """Make an object from `{"class_name": ..., "config": {...}}`.

        Raises ValueError for a mapping of another form, an unknown class or unknown options.
        """
        if not isinstance(config.get("class_name"), str) or not isinstance(config.get("config"), (dict, list)):
            what = f"{self._article.capitalize()} {self.kind} config"
            raise ValueError(f"{what} needs a 'class_name' and a 'config'; found {dict(config)!r:.500}.")
        found = self.find(config["class_name"], custom_objects)
        made_by = INSTEAD.get().get(found, found)
        if not (inspect.isclass(made_by) or any(hasattr(made_by, name) for name in ("makes_object", "from_config"))):
            raise ValueError(f"{config['class_name']!r} is no class of {self._article} {self.kind}, but a function.")
        options = config["config"]
        from_config = getattr(made_by, "from_config", None)
        if from_config is None and isinstance(options, list):
            what = f"{config['class_name']!r}: {self._article} {self.kind}"
            raise ValueError(f"{what} has options by name; found a list.")
        if from_config is None:
            return made_by(**options)
        return call_from_config(from_config, options, custom_objects)

    def get(self, identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The object for a registered name or a config; an object of the kind is returned as it is.

        A class or a `factory`, found by name or passed, is called without arguments. None stays None. Raises ValueError
        for an unknown name, and TypeError for an identifier of another type.
        """
        if identifier is None:
            return None
        if isinstance(identifier, Mapping):
            return self.from_config(identifier, custom_objects)
        found = self.find(identifier, custom_objects) if isinstance(identifier, str) else identifier
        if inspect.isclass(found) or getattr(found, "makes_object", False):
            return found()
        if not callable(found):
            raise IdentifierError(
                f"Could not interpret {found!r} as {self._article} {self.kind}: give a name, a config or a callable."
            )
        return found

    def serialize(self, value: Any) -> Any:
        """The inverse of `get`: a name for a function, `{"class_name", "config"}` for an object with `get_config`."""
        if value is None or isinstance(value, str):
            return value
        if hasattr(value, "get_config"):
            return {"class_name": name_in_configs(type(value)), "config": value.get_config()}
        return _function_name(value, self.kind)


def call_from_config(from_config: Any, config: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    """Call a `from_config`, which may take custom objects; any other knows them while it runs."""
    if _takes_custom_objects(from_config):
        return from_config(config, custom_objects=custom_objects)
    if not custom_objects:
        return from_config(config)
    with custom_object_scope(custom_objects):
        return from_config(config)


@lru_cache
def _takes_custom_objects(from_config: Callable[..., Any]) -> bool:
    return "custom_objects" in inspect.signature(from_config).parameters


def _function_name(value: Callable[..., Any], kind: str) -> str:
    name = getattr(value, "__name__", None)
    if name is None:
        advice = "define it with `def`."
        if isinstance(value, nn.Module):
            advice = "give the name of the function, such as 'relu', or add the module after the layer."
        raise ValueError(f"The {kind} is written to a config by its name; {value!r} has none: {advice}")
    return name_in_configs(value)


class Layers(Family[type]):
    """The layers. What `get_config` of a layer leaves out of its name and its `trainable` stands next to its config.

    There, too, is the number of a layer that several places of one config share (`SHARED`). Places with one number are
    one layer: of models inside one another, of wrappers, and of layers of the user's that serialize it.
    """

    def serialize(self, value: Any) -> Any:
        """As `Family.serialize`, with the layer's name and whether it is frozen, which its class may leave out."""
        if value is None or isinstance(value, str):
            return value
        with self.writing(value) as written:
            made = super().serialize(value)
            if not isinstance(made, dict):
                return made
            made["class_name"] = class_name(value)
            if left := left_out(value, made["config"]):
                made[OWN] = left
            if built := build_config(value):
                made[BUILT] = built
        return written.add(value, made)

    def from_config(self, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
        """As `Family.from_config`. Raises ValueError for one number of layers of different classes."""
        own = config.get(OWN)
        given: Mapping[str, Any] = own if isinstance(own, Mapping) else {}
        number = given.get(SHARED)
        with self.reading() as read:
            if isinstance(number, int) and number in read:
                return _layer_of_number(read[number], config)
            if isinstance(number, int):
                read[number] = None
            made = super().from_config(config, custom_objects)
            if config.get(BUILT) and getattr(made, "_is_users", False) and not made.built:
                made.build_from_config(config[BUILT])
            for fact, kind in FACTS.items():
                if isinstance(given.get(fact), kind):
                    setattr(made, fact, given[fact])
            if isinstance(number, int):
                read[number] = made
        return made

    @contextmanager
    def writing(self, owner: Any, copying: bool = False) -> Iterator[Written]:
        """While a config is written, of `owner`: all within is one config. `copying`: all its layers are numbered."""
        outer = WRITTEN.get()
        written = Written(copying) if outer is None else outer
        token = WRITTEN.set(written)
        written.owners.append(owner)
        try:
            yield written
        finally:
            written.owners.pop()
            WRITTEN.reset(token)
        if not written.owners:
            written.number()

    @contextmanager
    def reading(self) -> Iterator[dict[int, Any]]:
        """While a config is read: the layers made so far by their numbers; None for one that is being made."""
        outer = READ.get()
        read: dict[int, Any] = {} if outer is None else outer
        token = READ.set(read)
        try:
            yield read
        finally:
            READ.reset(token)


def build_config(layer: Any) -> Any:
    """What a layer of the user's says, if it can, of how it was built; None for another."""
    return layer.get_build_config() if layer._is_users and hasattr(layer, "get_build_config") else None


def class_name(layer: Any) -> str:
    """The name of the class of a layer, as configs and files have it."""
    return layer._class_name  # type: ignore[no-any-return]


class Written:
    """The layers in a config that is being written.

    `entries`: of each layer. `owners`: the layers around the next entry, outermost first. `held`: pairs of a layer and
    one in its config.
    """

    def __init__(self, copying: bool = False) -> None:
        self.copying = copying
        self.entries: dict[Any, list[dict[str, Any]]] = {}
        self.numbers: dict[Any, int] = {}
        self.owners: list[Any] = []
        self.held: set[tuple[Any, Any]] = set()

    def add(self, layer: Layer, entry: dict[str, Any]) -> dict[str, Any]:
        """Note the entry of a layer, and return it. It changes in place if it gets a number; inputs have none."""
        if class_name(layer) == "InputLayer":
            return entry
        self.hold(layer)
        self.entries.setdefault(layer, []).append(entry)
        if self.copying:
            _set_number(entry, self.number_of(layer))
        return entry

    def hold(self, layer: Layer) -> None:
        """Note that what is being written has this layer."""
        self.held.add((next((owner for owner in reversed(self.owners) if owner is not None), None), layer))

    def number_of(self, layer: Layer) -> int:
        """The number of a layer, whether it has an entry yet or not, while all are numbered."""
        return self.numbers.setdefault(layer, len(self.numbers))

    def shared(self) -> list[list[dict[str, Any]]]:
        """The entries of each layer that has several."""
        return [entries for entries in self.entries.values() if len(entries) > 1]

    def number(self) -> None:
        """Number the layers that have several entries."""
        for number, entries in enumerate([] if self.copying else self.shared(), start=1):
            for entry in entries:
                _set_number(entry, number)


def _set_number(entry: dict[str, Any], number: int) -> None:
    entry[OWN] = {**entry.get(OWN, {}), SHARED: number}


def _layer_of_number(found: Any, config: Mapping[str, Any]) -> Any:
    """The layer that has a number already. Raises ValueError if a config is not that of such a layer."""
    if found is None or class_name(found) != config.get("class_name"):
        what = "a layer around it" if found is None else f"{type(found).__name__} {found.name!r}"
        raise ValueError(f"A layer config of {config.get('class_name')!r} has the number of {what}.")
    return found


WRITTEN: ContextVar[Written | None] = ContextVar("the layers of the config being written", default=None)
READ: ContextVar[dict[int, Any] | None] = ContextVar("the layers of the config being read", default=None)
SHARED = "shared"
FACTS = {"name": str, "trainable": bool}


def left_out(layer: Layer, config: Mapping[str, Any]) -> dict[str, Any]:
    """The name of a layer of a user's class, and that it is frozen, where its config does not say so."""
    if not layer._is_users:
        return {}
    found = {} if "name" in config else {"name": layer.name}
    return found if layer.trainable or config.get("trainable") is False else {**found, "trainable": False}


activations: Family[Callable[..., Any]] = Family("activation function")
initializers: Family[Any] = Family("initializer")
regularizers: Family[Any] = Family("regularizer")
constraints: Family[Any] = Family("constraint")
losses: Family[Callable[..., Any]] = Family("loss function")
metrics: Family[Callable[..., Any]] = Family("metric function", beside=("accuracy",))
optimizers: Family[Any] = Family("optimizer")
layers = Layers("layer", LAYERS)

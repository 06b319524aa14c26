"""Try to load a file, and what its errors ask for, until it loads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchkeras.commands.contents import Contents
from torchkeras.commands.examination import DryRun, tried
from torchkeras.commands.stand_ins import Wanted, stand_in, wanted
from torchkeras.config import DATA_FORMATS
from torchkeras.saving.weights.matching import Loaded

# What an error may ask for by its name, and the values to try.
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "original_backend": ("theano", "tensorflow"),
    "original_data_format": DATA_FORMATS,
    "compile": (False,),
}
MOST = 32  # objects of the user's that are asked for, one after the other


@dataclass(frozen=True)
class Attempt(DryRun):
    """A try to load a file: with which options, what was warned of, and whether the model is compiled."""

    options: Mapping[str, Any] = field(default_factory=dict)
    warned: tuple[str, ...] = ()
    compiled: bool = False


@dataclass(frozen=True)
class Treatment(DryRun):
    """The tries of a file: `error` is that of the first, `rows` those of the first that loads.

    `loads`: the tries that load. `last`: the error that nothing helped against. `asked`: the objects of the user's
    that stand-ins were used for. `given`: the options of the command line.
    """

    loads: tuple[Attempt, ...] = ()
    last: Exception | None = None
    asked: tuple[Wanted, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def certain(self) -> tuple[Loaded, ...]:
        """The rows, if there is one way alone to load the file."""
        return self.rows if len(self.loads) == 1 else ()

    @property
    def hindrance(self) -> Exception | None:
        """The error for which the file does not load; None if it loads, with or without options."""
        if self.loads:
            return None
        return self.error if self.asked else self.last

    @property
    def plain(self) -> bool:
        """Whether the file loads with nothing said about it."""
        return self.error is None


def treat(way: Any, copy: Path, given: Mapping[str, Any], contents: Contents | None = None) -> Treatment:
    """Load a copy of a file in a `way`, with the options `given` and those that errors ask for.

    Findings about loading are added to the contents.
    """
    asked: dict[str, Wanted] = {}
    tries = list(_tries(way, copy, given, contents, asked))
    first, loads = tries[0], tuple(each for each in tries if each.error is None)
    failed = next((each.error for each in reversed(tries) if each.error is not None), None)
    if contents is not None and first.error is not None:
        without = any(set(each.options) - set(given) == {"compile"} for each in loads)
        contents.find("training" if without else "loading", "", str(first.error))
    rows = loads[0].rows if loads else ()
    return Treatment(first.text, rows, first.error, loads, None if loads else failed, tuple(asked.values()), given)


def _tries(
    way: Any, copy: Path, options: Mapping[str, Any], contents: Contents | None, asked: dict[str, Wanted]
) -> Iterator[Attempt]:
    """A try, and those that its error leads to."""
    found = _try(way, copy, options)
    yield found
    for more in _more(found, contents, asked) if found.error is not None else ():
        yield from _tries(way, copy, {**options, **more}, contents, asked)


def _more(found: Attempt, contents: Contents | None, asked: dict[str, Wanted]) -> Iterator[Mapping[str, Any]]:
    """The options to add to those of a try that failed, each of which is worth a try."""
    own, objects = wanted(found.error), found.options.get("custom_objects", {})
    if own is not None and own.name not in objects and len(objects) < MOST:
        asked[own.name] = own
        yield from _for_object(own, objects, contents, asked)
        return
    named = next((name for name in CHOICES if f"{name}=" in str(found.error) and name not in found.options), None)
    if named is not None:
        yield from ({named: value} for value in CHOICES[named])
    elif _has_training(contents) and "compile" not in found.options:
        yield {"compile": False}


def _for_object(
    own: Wanted, objects: Mapping[str, Any], contents: Contents | None, asked: Mapping[str, Wanted]
) -> Iterator[Mapping[str, Any]]:
    """The options for a custom object that a file asks for: a stand-in, and to do without what only training needs."""
    made = stand_in(own, contents)
    if made is not None:
        yield {"custom_objects": {**objects, own.name: made}}
    if own.of_training and not any(asked[name].of_training for name in objects):
        yield {"compile": False}


def _has_training(contents: Contents | None) -> bool:
    """Whether a file has a whole model with a training configuration."""
    return contents is not None and contents.whole and contents.training is not None


def _try(way: Any, copy: Path, options: Mapping[str, Any]) -> Attempt:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        found, model = tried(way.path, lambda: way.load(copy, options))
    if found.error is not None:
        return Attempt(found.text, (), found.error, options)
    warnings_shown = tuple(dict.fromkeys(str(each.message) for each in warned if each.category is UserWarning))
    return Attempt(found.text, found.rows, None, options, warnings_shown, getattr(model, "optimizer", None) is not None)

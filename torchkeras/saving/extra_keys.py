"""Options that other versions of Keras do not know: a file has them next to a layer's config, where those do not look.

With these options and without them, a layer gives the same outputs outside of training, or an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torchkeras.registry import OWN
from torchkeras.saving.frozen import Frozen
from torchkeras.saving.types import KEY, WRITTEN, types_of

if TYPE_CHECKING:
    from torchkeras.models.model import Model

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "BatchNormalization": ("variance", "frozen_is_fixed"),
    "TimeDistributed": ("by_steps",),
}


def extra_facts(model: Model) -> dict[str, Any]:
    """What no config of Keras says about a model, by the keys in a file: frozen layers, and weights of another type."""
    types = types_of(model) if WRITTEN.get() else {}
    return {**Frozen.of(model).written(), **({KEY: types} if types else {})}


def with_extra_keys(config: Any) -> Any:
    """A model's config with these options next to the configs of their layers, at any depth."""
    return _everywhere(config, _out_of_options)


def with_own_options(config: Any) -> Any:
    """A model's config with these options back in the configs of their layers."""
    return _everywhere(config, _into_options)


def _everywhere(config: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A config with each dict in it changed, the inner ones first."""
    if isinstance(config, (list, tuple)):
        return [_everywhere(item, change) for item in config]
    if not isinstance(config, Mapping):
        return config
    return change({key: _everywhere(value, change) for key, value in config.items()})


def _out_of_options(made: dict[str, Any]) -> dict[str, Any]:
    names, options = OPTIONS.get(str(made.get("class_name")), ()), made.get("config")
    found = {name: options.pop(name) for name in names if name in options} if isinstance(options, dict) else {}
    if isinstance(options, dict) and isinstance(options.get("layers"), list):
        # Keras 2.2.4 knows no `trainable` of a model, and Keras 3 would expect the weights in another order: a file has
        # it elsewhere (`frozen`).
        options.pop("trainable", None)
    return {**made, OWN: {**made.get(OWN, {}), **found}} if found else made


def _into_options(made: dict[str, Any]) -> dict[str, Any]:
    names, options = OPTIONS.get(str(made.get("class_name")), ()), made.get("config")
    if not isinstance(made.get(OWN), Mapping) or not isinstance(options, Mapping) or not names:
        return made
    given = made[OWN]
    return {**made, "config": {**options, **{name: given[name] for name in names if name in given}}}

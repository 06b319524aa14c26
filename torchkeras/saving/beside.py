"""Options that other Kerases do without: in files they are beside a layer's config, where those do not look.

With them and without, a layer gives the same outputs outside of training, or an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.saving.model_file import OWN

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "BatchNormalization": ("variance", "frozen_is_fixed"),
    "TimeDistributed": ("by_steps",),
}


def moved_beside(config: Any) -> Any:
    """A model's config with these options beside the configs of their layers, at any depth."""
    if isinstance(config, (list, tuple)):
        return [moved_beside(item) for item in config]
    if not isinstance(config, Mapping):
        return config
    made = {key: moved_beside(value) for key, value in config.items()}
    names, options = OPTIONS.get(str(made.get("class_name")), ()), made.get("config")
    found = {name: options.pop(name) for name in names if name in options} if isinstance(options, dict) else {}
    return {**made, OWN: found} if found else made


def taken_back(config: Any) -> Any:
    """A config with these options in the configs of their layers again."""
    if isinstance(config, (list, tuple)):
        return [taken_back(item) for item in config]
    if not isinstance(config, Mapping):
        return config
    made = {key: taken_back(value) for key, value in config.items()}
    names, options = OPTIONS.get(str(made.get("class_name")), ()), made.get("config")
    if not isinstance(made.get(OWN), Mapping) or not isinstance(options, Mapping) or not names:
        return made
    given = made.pop(OWN)
    return {**made, "config": {**options, **{name: given[name] for name in names if name in given}}}

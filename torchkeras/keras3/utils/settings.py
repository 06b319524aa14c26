"""`Config`: named values, as attributes and as items, that can be frozen."""

from __future__ import annotations

import difflib
import json
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any


class Config:
    """Named values, as attributes and as items: `config.seed` is `config["seed"]`.

    Options:
        **kwargs (any): the values by name.

    Errors:
        ValueError: a value is set or removed while it is frozen.
        AttributeError: there is no value of that name; or a value has the name of a method, which only an item can.

    Example:
        >>> config = Config(seed=1)
        >>> config.rate = 0.1
        >>> config.freeze()
        >>> config.as_dict(), config["rate"], config.frozen
        ({'seed': 1, 'rate': 0.1}, 0.1, True)

    Source: https://keras.io/api/utils/experiment_management_utils/
    """

    def __init__(self, **kwargs: Any):
        vars(self).update(_config=kwargs, _frozen=False)

    @property
    def frozen(self) -> bool:
        """Whether no value can be set or removed."""
        return self._frozen

    def freeze(self) -> None:
        """Let no value be set or removed."""
        vars(self)["_frozen"] = True

    def unfreeze(self) -> None:
        """Let values be set and removed again."""
        vars(self)["_frozen"] = False

    def _check_free(self) -> None:
        if self._frozen:
            raise ValueError("the Config is frozen: call unfreeze() before a value is set or removed.")

    def as_dict(self) -> dict[str, Any]:
        """The values by name, as a dict of its own."""
        return dict(self._config)

    def to_json(self) -> str:
        """The values by name, as JSON."""
        return json.dumps(self._config)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._config.keys()

    def values(self) -> ValuesView[Any]:
        """The values."""
        return self._config.values()

    def items(self) -> ItemsView[str, Any]:
        """Pairs of a name and its value."""
        return self._config.items()

    def get(self, keyname: str, value: Any = None) -> Any:
        """The value of a name, or `value` where there is none."""
        return self._config.get(keyname, value)

    def pop(self, *args: Any) -> Any:
        """Remove a name, and return its value: as `dict.pop`."""
        self._check_free()
        return self._config.pop(*args)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set values: as `dict.update`."""
        self._check_free()
        self._config.update(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name):
            raise AttributeError(f"Config has a method {name!r}; set the value as config[{name!r}].")
        self[name] = value

    def __getattr__(self, name: str) -> Any:
        config = vars(self).get("_config", {})  # none while a copy is made
        if name in config:
            return config[name]
        close = difflib.get_close_matches(name, config, n=1, cutoff=0.7)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise AttributeError(f"Config has no value {name!r}.{hint}")

    def __delattr__(self, name: str) -> None:
        if name not in self._config:
            raise AttributeError(f"Config has no value {name!r}.")
        del self[name]

    def __getitem__(self, key: str) -> Any:
        return self._config[key]

    def __setitem__(self, key: str, item: Any) -> None:
        self._check_free()
        self._config[key] = item

    def __delitem__(self, key: str) -> None:
        self._check_free()
        del self._config[key]

    def __contains__(self, item: Any) -> bool:
        return item in self._config

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._config))

    def __len__(self) -> int:
        return len(self._config)

    def __repr__(self) -> str:
        return f"<Config {self._config}>"

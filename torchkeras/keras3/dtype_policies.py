"""`keras.dtype_policies`: the types that layers compute in and keep their weights in, and maps of them by path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from torchkeras import config
from torchkeras.base.dtypes import DTypePolicy
from torchkeras.keras3.dtypes import standardize_dtype
from torchkeras.registry import get_custom_objects

__all__ = [
    "AWQDTypePolicy",
    "DTypePolicy",
    "DTypePolicyMap",
    "FloatDTypePolicy",
    "GPTQDTypePolicy",
    "Int4DTypePolicy",
    "QuantizedDTypePolicy",
    "QuantizedFloat8DTypePolicy",
    "deserialize",
    "get",
    "serialize",
]

FloatDTypePolicy = DTypePolicy

QUANTIZED = ("int8", "int4", "float8", "gptq", "awq")  # what the names of such policies begin with
INSTEAD = "Weights are not quantized here: train with 'mixed_bfloat16', and quantize the model with torchao"


def _refuse(what: str) -> ValueError:
    return ValueError(f"{what}: {INSTEAD} (torchao.quantization.quantize_(model, ...)).")


class QuantizedDTypePolicy:
    """Refused by name: policies of quantized weights.

    Errors:
        ValueError: always; it says what to do instead.

    Example:
        >>> QuantizedDTypePolicy("int8")
        Traceback (most recent call last):
        ValueError: QuantizedDTypePolicy 'int8': Weights are not quantized here: ...
    """

    def __init__(self, mode: str, source_name: str | None = None):
        raise _refuse(f"{type(self).__name__} {mode!r}")


class AWQDTypePolicy(QuantizedDTypePolicy):
    """Refused, as `QuantizedDTypePolicy`."""


class GPTQDTypePolicy(QuantizedDTypePolicy):
    """Refused, as `QuantizedDTypePolicy`."""


class Int4DTypePolicy(QuantizedDTypePolicy):
    """Refused, as `QuantizedDTypePolicy`."""


class QuantizedFloat8DTypePolicy(QuantizedDTypePolicy):
    """Refused, as `QuantizedDTypePolicy`."""

    def __init__(self, mode: str, source_name: str | None = None, amax_history_length: int = 1024):
        super().__init__(mode, source_name)


class DTypePolicyMap(MutableMapping[str, DTypePolicy]):
    """Policies by the paths of layers.

    A path that is no key has the policy of the one key that matches it as a whole, as a regular expression; without
    such a key it has the default. A layer takes a policy, and no map: give it `policies[path]`.

    Options:
        default_policy (policy, name or None, default None): the policy of paths without one; None is
            `config.dtype_policy()`.
        policy_map (dict or None, default None): the policies by path or pattern.

    Errors:
        ValueError: the default is a map, or a path matches several keys.
        TypeError: `policy_map` is no dict.

    Example:
        >>> policies = DTypePolicyMap("float32", {"encoder/.*": DTypePolicy("bfloat16")})
        >>> policies["encoder/dense"], policies["decoder"]
        (<DTypePolicy "bfloat16">, <DTypePolicy "float32">)

    Source: https://keras.io/api/mixed_precision/policy/
    """

    def __init__(self, default_policy: Any = None, policy_map: dict[str, DTypePolicy] | None = None):
        if isinstance(default_policy, DTypePolicyMap):
            raise ValueError("DTypePolicyMap: default_policy must be one policy; found a DTypePolicyMap.")
        if policy_map is not None and not isinstance(policy_map, dict):
            raise TypeError(f"DTypePolicyMap: policy_map must be a dict, or None; found {policy_map!r}.")
        self._given_default = default_policy
        self._default = get(default_policy)
        self._policies: dict[str, DTypePolicy] = policy_map or {}

    @property
    def name(self) -> str:
        """`map_` and the name of the default."""
        return f"map_{self.default_policy.name}"

    @property
    def default_policy(self) -> DTypePolicy:
        """The policy of paths without one."""
        return self._default

    @property
    def variable_dtype(self) -> str:
        """The type of weights under the default."""
        return self.default_policy.variable_dtype

    @property
    def compute_dtype(self) -> str:
        """The type of computation under the default."""
        return self.default_policy.compute_dtype

    @property
    def quantization_mode(self) -> None:
        """None: weights are not quantized."""
        return

    def __getitem__(self, key: str) -> DTypePolicy:
        if key in self._policies:
            return self._policies[key]
        matching = [pattern for pattern in self._policies if re.fullmatch(pattern, key)]
        if len(matching) > 1:
            raise ValueError(
                f"DTypePolicyMap: the path {key!r} matches several keys: {', '.join(map(repr, matching))}."
            )
        return self._policies[matching[0]] if matching else self.default_policy

    def __setitem__(self, key: str, policy: Any) -> None:
        if key in self._policies:
            raise ValueError(f"DTypePolicyMap: {key!r} has a policy already, {self._policies[key]!r}; delete it first.")
        self._policies[key] = get(policy)

    def __delitem__(self, key: str) -> None:
        del self._policies[key]

    def __contains__(self, key: object) -> bool:
        return key in self._policies

    def __len__(self) -> int:
        return len(self._policies)

    def __iter__(self) -> Iterator[str]:
        return iter(self._policies)

    def __repr__(self) -> str:
        return f"<DTypePolicyMap default_policy={self.default_policy.name}, mapping={dict(self._policies)}>"

    def get_config(self) -> dict[str, Any]:
        """The options by name, policies by their configs."""
        default = self._given_default
        return {
            "default_policy": serialize(default) if isinstance(default, DTypePolicy) else default,
            "policy_map": {key: serialize(policy) for key, policy in self._policies.items()},
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> DTypePolicyMap:
        """The map whose `get_config` gave `config`."""
        policies = {key: deserialize(each, custom_objects) for key, each in config["policy_map"].items()}
        return cls(config["default_policy"], policies)


CLASSES = {"DTypePolicy": DTypePolicy, "FloatDTypePolicy": DTypePolicy, "DTypePolicyMap": DTypePolicyMap}
REFUSED = {each for each in __all__ if each.endswith("DTypePolicy")} - set(CLASSES)


def serialize(dtype_policy: Any) -> dict[str, Any]:
    """The class and the config of a policy, as plain data.

    Arguments:
        dtype_policy (policy or map): the policy.

    Example:
        >>> serialize(DTypePolicy("float32"))["config"]
        {'name': 'float32'}

    Source: https://keras.io/api/mixed_precision/policy/
    """
    cls = type(dtype_policy)
    if cls not in CLASSES.values():
        found = {"module": cls.__module__, "class_name": cls.__name__, "config": dtype_policy.get_config()}
        return {**found, "registered_name": cls.__name__}
    module = "keras" if cls is DTypePolicy else "keras.dtype_policies"
    config = dtype_policy.get_config()
    return {"module": module, "class_name": cls.__name__, "config": config, "registered_name": None}


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The policy or map of plain data.

    Arguments:
        config (dict): what `serialize` returned.
        custom_objects (dict or None, default None): classes of one's own by name.

    Errors:
        ValueError: it is no such data, or of a policy of quantized weights.

    Example:
        >>> deserialize({"class_name": "DTypePolicy", "config": {"name": "mixed_float16"}})
        <DTypePolicy "mixed_float16">

    Source: https://keras.io/api/mixed_precision/policy/
    """
    if not isinstance(config, Mapping) or not isinstance(config.get("class_name"), str):
        raise ValueError(f"a config of a dtype policy has a class_name and a config; found {config!r:.200}.")
    name = config["class_name"]
    known = {**CLASSES, **get_custom_objects(), **(custom_objects or {})}
    if name in REFUSED and name not in known:
        raise _refuse(name)
    if name not in known:
        raise ValueError(f"unknown dtype policy {name!r}; give its class by custom_objects={{{name!r}: ...}}.")
    return known[name].from_config(config.get("config") or {})


def get(identifier: Any) -> Any:
    """A policy or map as it is; of a name, a type, or a config the policy; of None that of all layers.

    Arguments:
        identifier (policy, text, type, dict or None): what stands for the policy.

    Errors:
        ValueError: it stands for none, or for one of quantized weights.

    Example:
        >>> get("mixed_bfloat16"), get(torch.float16)
        (<DTypePolicy "mixed_bfloat16">, <DTypePolicy "float16">)

    Source: https://keras.io/api/mixed_precision/policy/
    """
    if identifier is None:
        return config.dtype_policy()
    if isinstance(identifier, (DTypePolicy, DTypePolicyMap)):
        return identifier
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    if isinstance(identifier, str) and identifier.startswith(QUANTIZED) and "_from_" in identifier:
        raise _refuse(f"dtype policy {identifier!r}")
    return DTypePolicy(identifier if isinstance(identifier, str) else standardize_dtype(identifier))


def set_dtype_policy(policy: Any) -> None:
    """Set the policy of the layers that are made from now on.

    Arguments:
        policy (text or policy): "mixed_bfloat16", "mixed_float16", a float type, or a `DTypePolicy`.

    Errors:
        ValueError: anything else, or a policy of quantized weights.

    Example:
        >>> set_dtype_policy("mixed_bfloat16")
        >>> config.dtype_policy()
        <DTypePolicy "mixed_bfloat16">

    Source: https://keras.io/api/mixed_precision/policy/
    """
    if not isinstance(policy, (str, DTypePolicy)):
        raise ValueError(f"set_dtype_policy: policy must be the name of a policy or a DTypePolicy; found {policy!r}.")
    config.set_dtype_policy(get(policy))

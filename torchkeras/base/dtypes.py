"""Types of elements: their names in configs and files, and `DTypePolicy`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch


def dtype_name(dtype: torch.dtype) -> str:
    """`"float32"` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def dtype_of(name: str | torch.dtype) -> torch.dtype:
    """`torch.float32` for `"float32"`. Raises ValueError for a name that torch does not have."""
    found = name if isinstance(name, torch.dtype) else getattr(torch, str(name), None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"dtype must be the name of a torch dtype, such as 'float32' or 'int64'; found {name!r}.")
    return found


MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}  # with weights in float32


@dataclass(frozen=True)
class DTypePolicy:
    """The types that a layer computes in and keeps its weights in.

    Under "mixed_float16" and "mixed_bfloat16" weights are float32 and a layer computes in 16 bits: its floating-point
    inputs are cast to that type, and its outputs have it.

    Options:
        name (text or None, default None): "mixed_float16", "mixed_bfloat16", or the name of a torch dtype for weights
            and computation alike; None is the policy of all layers, `config.dtype_policy()`.

    Errors:
        ValueError: another name.

    Example:
        >>> policy = DTypePolicy("mixed_bfloat16")
        >>> policy.compute_dtype, policy.variable_dtype
        ('bfloat16', 'float32')

    Source: https://keras.io/api/mixed_precision/policy/
    """

    name: str = None  # type: ignore[assignment]  # replaced at once
    # Settled by the name: the types of computation and of weights, by name and as torch's, and whether they differ.
    compute_dtype: str = field(init=False, repr=False, compare=False)
    variable_dtype: str = field(init=False, repr=False, compare=False)
    compute_type: torch.dtype = field(init=False, repr=False, compare=False)
    variable_type: torch.dtype = field(init=False, repr=False, compare=False)
    is_mixed: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.name is None:
            self.__dict__["name"] = _Default.name()
        is_mixed = isinstance(self.name, str) and self.name in MIXED
        compute, variable = (MIXED[self.name], "float32") if is_mixed else (self.name, self.name)
        compute_type, variable_type = (getattr(torch, str(name), None) for name in (compute, variable))
        if not isinstance(compute_type, torch.dtype):
            raise ValueError(
                "a dtype policy is mixed_float16, mixed_bfloat16 or the name of a torch dtype, such as 'float32'; "
                f"found {self.name!r}."
            )
        self.__dict__.update(
            compute_dtype=compute,
            variable_dtype=variable,
            compute_type=compute_type,
            variable_type=variable_type,
            is_mixed=compute != variable,
        )

    @property
    def quantization_mode(self) -> None:
        """None: weights are not quantized."""
        return

    def convert_input(self, x: Any, autocast: bool, dtype: Any) -> Any:
        """A floating-point tensor or array in a type, where `autocast` is True; anything else as it is.

        Arguments:
            x (tensor, array or any): the value; an array becomes a tensor.
            autocast (bool): whether to cast.
            dtype (text): the type.
        """
        tensor = torch.as_tensor(x) if hasattr(x, "__array__") and not isinstance(x, torch.Tensor) else x
        kind = getattr(tensor, "dtype", None)
        casts = autocast and isinstance(kind, torch.dtype) and kind.is_floating_point
        return tensor.to(dtype_of(dtype)) if casts else tensor

    def get_config(self) -> dict[str, Any]:
        """The name."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> DTypePolicy:
        """The policy of that name."""
        return cls(**config)

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self.name}">'


class _Default:
    """The name of the policy of all layers, which `config` sets here."""

    @staticmethod
    def name() -> str:
        return "float32"


def set_default_policy(name: Callable[[], str]) -> None:
    """Let a policy without a name have the one that this function returns."""
    _Default.name = staticmethod(name)  # type: ignore[method-assign]


def policy_of(value: Any) -> DTypePolicy:
    """A policy from its name, from a torch dtype, or itself. Raises ValueError for anything else."""
    if isinstance(value, DTypePolicy):
        return value
    return DTypePolicy(str(value).removeprefix("torch.") if isinstance(value, torch.dtype) else value)

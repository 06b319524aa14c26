"""`DTypePolicy`: one name for the type that a layer computes in and the type of its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}  # with weights in float32


@dataclass(frozen=True)
class DTypePolicy:
    """The types that a layer computes in and keeps its weights in.

    Under "mixed_float16" and "mixed_bfloat16" weights are float32 and a layer computes in 16 bits: its floating-point
    inputs are cast to that type, and its outputs have it.

    Options:
        name (text): "mixed_float16", "mixed_bfloat16", or the name of a torch dtype for weights and computation alike.

    Errors:
        ValueError: another name.

    Example:
        >>> policy = DTypePolicy("mixed_bfloat16")
        >>> policy.compute_dtype, policy.variable_dtype
        ('bfloat16', 'float32')

    Source: https://keras.io/api/mixed_precision/policy/
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in MIXED and not isinstance(getattr(torch, str(self.name), None), torch.dtype):
            raise ValueError(
                "a dtype policy is mixed_float16, mixed_bfloat16 or the name of a torch dtype, such as 'float32'; "
                f"found {self.name!r}."
            )

    @property
    def is_mixed(self) -> bool:
        """Whether the layer computes in another type than that of its weights."""
        return self.name in MIXED

    @property
    def compute_dtype(self) -> str:
        """The name of the type that a layer computes in."""
        return MIXED.get(self.name, self.name)

    @property
    def variable_dtype(self) -> str:
        """The name of the type of a layer's weights."""
        return "float32" if self.is_mixed else self.name

    def get_config(self) -> dict[str, Any]:
        """The name."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> DTypePolicy:
        """The policy of that name."""
        return cls(**config)

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self.name}">'


def policy_of(value: Any) -> DTypePolicy:
    """A policy from its name, from a torch dtype, or itself. Raises ValueError for anything else."""
    if isinstance(value, DTypePolicy):
        return value
    return DTypePolicy(str(value).removeprefix("torch.") if isinstance(value, torch.dtype) else value)

"""`DTypePolicy`: the types of a layer's computation and of its weights, under one name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}  # with weights in float32


@dataclass(frozen=True)
class DTypePolicy:
    """The types of a layer.

    `name`: the name of a type, for weights and computation, or `mixed_float16` or `mixed_bfloat16`. With these two,
    weights are float32 and the layer computes in 16 bits: its floating-point inputs are cast to that type, and its
    outputs have it. Raises ValueError for another name.
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
        """Whether computation and weights have different types."""
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

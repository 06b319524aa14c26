"""`CompileOptions`: the arguments of `compile`, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchkeras.data.checks import check_count
from torchkeras.engine.fit.distributing import check as check_distribution
from torchkeras.engine.speed.choose import check as check_speed
from torchkeras.engine.step.nonfinite import POLICIES
from torchkeras.engine.step.targets import NUMERICS
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list


@dataclass(frozen=True, eq=False)
class CompileOptions:
    """The arguments of `compile`, with the optimizer as an object. Raises ValueError for a bad value of an option.

    Losses and metrics are resolved later, against the outputs: see `targets.resolve`.
    """

    optimizer: Any = None
    loss: Any = None
    metrics: Any = None
    loss_weights: Any = None
    sample_weight_mode: Any = None
    weighted_metrics: Any = None
    target_tensors: Any = None
    on_nonfinite: str | None = None
    jit_compile: Any = "auto"
    cuda_graph: Any = "auto"
    steps_per_execution: int = 1
    distribute: Any = "auto"
    sync_batch_norm: bool = True
    numerics: str | None = None

    def __post_init__(self) -> None:
        check_speed(self.jit_compile, self.cuda_graph)
        if (self.distribute, self.sync_batch_norm) != ("auto", True):
            check_distribution(self.distribute, self.sync_batch_norm)
        check_count("compile", "steps_per_execution", self.steps_per_execution, least=1)
        if self.on_nonfinite not in POLICIES:
            raise ValueError(
                f"compile: on_nonfinite must be None, 'stop', 'skip' or 'raise'; found {self.on_nonfinite!r}."
            )
        if self.numerics not in NUMERICS:
            names = ", ".join(map(repr, NUMERICS))
            raise ValueError(f"compile: numerics must be one of {names}; found {self.numerics!r}.")
        if any(isinstance(each, KerasTensor) for each in as_list(self.target_tensors)):
            raise ValueError("compile: target_tensors must be arrays or tensors; found a symbolic tensor.")

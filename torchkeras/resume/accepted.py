"""The words of `BackupAndRestore(accept=)`: what may be other than in the checkpoint."""

from __future__ import annotations

from typing import Any

from torchkeras.base.rules import NAMES, Rule

# What a checkpoint says of its run, by word.
ACCEPTED = (
    *("model", "optimizer", "learning_rate", "loss", "metrics", "loss_weights", "sample_weight_mode"),
    *("weighted_metrics", "target_tensors", "on_nonfinite", "jit_compile", "cuda_graph", "steps_per_execution"),
    *("sync_batch_norm", "numerics", "data", "batch_size", "steps_per_epoch", "shuffle", "workers", "sample_weight"),
    *("class_weight", "validation_data", "validation_freq", "initial_epoch", "callbacks"),
)
WORDS = (*ACCEPTED, "lock")


def _words(value: Any) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else tuple(NAMES.read(value))
    unknown = [word for word in given if word not in WORDS]
    if unknown:
        raise ValueError(f"must hold words of {', '.join(WORDS)}; found {unknown[0]!r}.")
    return given


ACCEPT = Rule(_words)

"""`keras.utils.multi_gpu_utils`: how one model trains on several devices."""

from __future__ import annotations

from typing import Any, NoReturn


def multi_gpu_model(model: Any, gpus: Any = None, cpu_merge: bool = True, cpu_relocation: bool = False) -> NoReturn:
    """NotImplementedError, always: torch trains on several devices by one process for each."""
    number = len(gpus) if isinstance(gpus, (list, tuple)) else gpus or "gpu"
    raise NotImplementedError(
        "multi_gpu_model: one process drives one device here. Leave this call out, and start one process for each "
        f"device: `torchrun --nproc-per-node={number} script.py`."
    )

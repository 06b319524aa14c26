"""Whether several processes train a model together, and what is refused where they do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torchkeras.base.annexes import annex
from torchkeras.world import processes

if TYPE_CHECKING:
    from torchkeras.engine.fit.one_process import OneProcess
    from torchkeras.engine.fit.training import Training

WORDS = ("auto", None, "ddp", "fsdp")


def check(setting: Any, sync_batch_norm: Any) -> None:
    """Raise ValueError for what is no value of `compile(distribute=)` or `sync_batch_norm`."""
    if not isinstance(sync_batch_norm, bool):
        raise ValueError(f"compile: sync_batch_norm must be True or False; found {sync_batch_norm!r}.")
    if not (isinstance(setting, _imported_classes("torch.distributed.device_mesh", "DeviceMesh")) or setting in WORDS):
        raise ValueError(
            f"compile: distribute must be 'auto', None, 'ddp', 'fsdp' or a DeviceMesh of torch; found {setting!r}."
        )


def joined_by(training: Training) -> OneProcess:
    """The processes of the group, for a model that they train together. Raises RuntimeError where there is no group."""
    processes.join()
    setting = training.options.distribute
    if not processes.has_group():
        raise RuntimeError(
            f"compile: distribute={setting!r} needs a group of processes, and there is none. "
            "Start the script by torchrun --nproc-per-node=2, make a group by "
            "torch.distributed.init_process_group, or leave distribute away, and one process trains alone."
        )
    return annex("processes").Processes(training.model._device, training.options)  # type: ignore[no-any-return]


def refuse_compiling(jit_compile: Any, cuda_graph: Any, why: str) -> None:
    """Raise ValueError for a step compiled by torch, where there can be none; `why`: how the error goes on."""
    if jit_compile not in (False, "auto") or cuda_graph is True:
        named = "cuda_graph=True" if cuda_graph is True else f"jit_compile={jit_compile!r}"
        raise ValueError(f"compile: {named} {why}")


def _imported_classes(module: str, *names: str) -> tuple[Any, ...]:
    """Classes of a module of torch that is slow to import: none of them has objects while nobody has imported it."""
    return tuple(getattr(sys.modules[module], name) for name in names) if module in sys.modules else ()

"""`compile(distribute=)`: the processes that train a model together, and what is refused where they do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torchkeras.base.annexes import annex
from torchkeras.engine.graph.network import device_of
from torchkeras.world import processes

if TYPE_CHECKING:
    from torchkeras.engine.fit.one_process import OneProcess
    from torchkeras.engine.fit.training import Training

WORDS = ("auto", None, "ddp", "fsdp")


def check(setting: Any, sync_batch_norm: Any) -> None:
    """Raise ValueError for a bad value of `compile(distribute=)` or `sync_batch_norm`."""
    if not isinstance(sync_batch_norm, bool):
        raise ValueError(f"compile: sync_batch_norm must be True or False; found {sync_batch_norm!r}.")
    # The module of torch is slow to import, and while nobody has imported it there is no mesh.
    meshes = sys.modules.get("torch.distributed.device_mesh")
    is_mesh = meshes is not None and isinstance(setting, meshes.DeviceMesh)
    if not is_mesh and setting not in WORDS:
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
            "torch.distributed.init_process_group, or leave distribute out, and one process trains alone."
        )
    return annex("processes").Processes(device_of(training.model), training.options)  # type: ignore[no-any-return]


def refuse_compiling(jit_compile: Any, cuda_graph: Any, why: str) -> None:
    """Raise ValueError if the step is to be compiled by torch, where it cannot be; `why`: how the error goes on."""
    if cuda_graph is True:
        raise ValueError(f"compile: cuda_graph=True {why}")
    if jit_compile not in (False, "auto"):
        raise ValueError(f"compile: jit_compile={jit_compile!r} {why}")

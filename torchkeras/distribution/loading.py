"""Models from files, of which each process reads and holds its part alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from torch.distributed.device_mesh import DeviceMesh

from torchkeras.distribution.sharding import shard
from torchkeras.distribution.units import LEAST
from torchkeras.engine.building.building import on_meta
from torchkeras.saving import load
from torchkeras.saving.load import Taking

__all__ = ["load_sharded", "on_meta"]


def load_sharded(
    path: str | os.PathLike[str],
    mesh: DeviceMesh,
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,
    least: int = LEAST,
) -> Any:
    """A model from a file, its weights shared among the processes of a mesh.

    No process ever holds a weight as a whole where the file has it in one array, in the same order of axes as Keras 2
    or 3; a weight that has to be converted is held whole one at a time. All processes call it.

    Arguments:
        path (path): the file, as for `models.load_model`.
        mesh (DeviceMesh): the processes.
        custom_objects (dict or None, default None): your own classes and functions by name.
        compile (bool, default True): whether the model is compiled as the file says, if it says so.
        least (positive integer, default 1048576): the values that are gathered together at least.

    Returns:
        The model, in evaluation mode.

    Errors:
        FileNotFoundError: there is no such file.
        ModelFileError: the file cannot be read, or the model cannot be built.

    Example:
        >>> mesh = init_device_mesh("cuda", (8,))
        >>> model = load_sharded("model.keras", mesh)
    """
    sharing = partial(shard, mesh=mesh, least=least)
    model, _ = load.load_model(path, custom_objects, compile, Taking(), memory=sharing)
    return model

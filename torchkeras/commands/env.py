"""`torchkeras env`: versions, devices, threads and settings, in a form to paste into an issue."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import h5py
import numpy
import torch
import tqdm

from torchkeras import __version__, config
from torchkeras.base.malloc import OF_THE_USER
from torchkeras.commands.exits import WELL
from torchkeras.commands.output import counted, show
from torchkeras.config import SETTINGS
from torchkeras.world.processes import LAUNCHERS

NEEDED = (torch, numpy, h5py, tqdm)
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "plot": ("matplotlib",),
    "tensorboard": ("tensorboard",),
    "safetensors": ("safetensors",),
    "yaml": ("PyYAML",),
    "sklearn": ("scikit-learn",),
    "aim": ("aim",),
    "mlflow": ("mlflow-skinny",),
    "wandb": ("wandb",),
    "scripts": ("keras-applications", "keras-preprocessing", "pillow", "scipy"),
    "onnx": ("onnx", "onnxscript", "onnxruntime"),
}
# Variables of the environment that this package, or torch for it, obeys. None of them holds an address or a secret.
VARIABLES = (
    *("KERAS_HOME", "SOURCE_DATE_EPOCH", "TORCHELASTIC_USE_AGENT_STORE"),
    *(name for names in LAUNCHERS for name in names),
    *OF_THE_USER,
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"),
)


def run(arguments: argparse.Namespace) -> int:
    """Print what is installed, what the machine has, and what is set."""
    about = _about()
    show(_lines(about), arguments.json, about)
    return WELL


def _about() -> dict[str, Any]:
    return {
        "torchkeras": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "packages": {package.__name__: package.__version__ for package in NEEDED},
        "torch_build": {
            "cuda": torch.version.cuda,
            "hip": torch.version.hip,
            "cpu": torch.backends.cpu.get_cpu_capability(),
            "mkl": torch.backends.mkl.is_available(),
            "openmp": torch.backends.openmp.is_available(),
        },
        "hdf5": h5py.version.hdf5_version,
        "extras": {extra: {name: _version(name) for name in names} for extra, names in EXTRAS.items()},
        "devices": list(_devices()),
        "threads": {"in_an_operation": torch.get_num_threads(), "between_operations": torch.get_num_interop_threads()},
        "settings": {
            "floatx": config.floatx(),
            "dtype_policy": config.dtype_policy().name,
            "epsilon": config.epsilon(),
            "image_data_format": config.image_data_format(),
            "device": str(config.device()),
        },
        "keras_json": None if SETTINGS.keras_json is None else _at_home(SETTINGS.keras_json),
        "environment": {name: _at_home(os.environ[name]) for name in VARIABLES if name in os.environ},
    }


def _version(package: str) -> str | None:
    """The version of a package, which is not imported; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _devices() -> Iterator[dict[str, Any]]:
    yield {"device": "cpu", "name": f"{platform.machine()}, {counted(os.cpu_count() or 1, 'core')}"}
    for number in range(torch.cuda.device_count()):
        found = torch.cuda.get_device_properties(number)
        yield {"device": f"cuda:{number}", "name": f"{found.name}, {found.total_memory / 2**30:.0f} GiB"}
    if torch.backends.mps.is_available():
        yield {"device": "mps", "name": "Metal"}


def _at_home(path: str | Path) -> str:
    """A path without the name of the user, which an issue need not show."""
    text, home = os.fspath(path), str(Path.home())
    return f"~{text[len(home) :]}" if text == home or text.startswith(home + os.sep) else text


def _of_graphics(build: Mapping[str, Any]) -> str:
    """The kind of graphics cards that torch was built for."""
    if build["cuda"]:
        return f"CUDA {build['cuda']}"
    return f"ROCm {build['hip']}" if build["hip"] else "no CUDA"


def _lines(about: Mapping[str, Any]) -> Iterator[str]:
    build, packages, threads = about["torch_build"], about["packages"], about["threads"]
    with_it = [_of_graphics(build), build["cpu"]]
    with_it += [title for key, title in (("mkl", "MKL"), ("openmp", "OpenMP")) if build[key]]
    rows = {
        "torchkeras": about["torchkeras"],
        "Python": about["python"],
        "platform": about["platform"],
        "torch": f"{packages['torch']} ({', '.join(with_it)})",
        "numpy": packages["numpy"],
        "h5py": f"{packages['h5py']} (HDF5 {about['hdf5']})",
        "tqdm": packages["tqdm"],
        **{
            f"extra {extra}": ", ".join(f"{name} {version or 'missing'}" for name, version in found.items())
            for extra, found in about["extras"].items()
        },
        **{f"device {found['device']}": found["name"] for found in about["devices"]},
        "threads": f"{threads['in_an_operation']} in an operation, {threads['between_operations']} between operations",
        **{name.replace("_", " "): value for name, value in about["settings"].items()},
        "keras.json": about["keras_json"] or "none was read",
        **about["environment"],
    }
    width = max(map(len, rows)) + 2
    for title, value in rows.items():
        yield f"{title:{width}}{value}"

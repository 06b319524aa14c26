"""What holds in every test."""

import gc
import importlib.util
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from torchkeras import config as settings

# The packages that a file of tests/ecosystem is about; without its package it is not collected, and the report says so.
ECOSYSTEM = (
    *("accelerate", "captum", "einops", "fastapi", "huggingface_hub", "lightning"),
    *("peft", "ray", "skorch", "timm", "torchao", "torchvision", "transformers"),
)
MISSING = [package for package in ECOSYSTEM if importlib.util.find_spec(package) is None]
# What is about the environment of scripts/ecosystem as a whole needs all of them.
collect_ignore = [f"ecosystem/test_{package}.py" for package in [*MISSING, *["environment"] * bool(MISSING)]]
if importlib.util.find_spec("tensorflow") is None:  # which scripts/ecosystem does not install
    collect_ignore.append("ecosystem/test_tensorflow.py")
NOT_COLLECTED = (
    f"not collected: tests/ecosystem about {', '.join(MISSING)}; scripts/ecosystem installs these and runs all"
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a newer torch than this one, by the mark `torch(version, why)`."""
    newer = [item for item in items if any(torch.__version__ < mark.args[0] for mark in item.iter_markers("torch"))]
    if newer:
        config.hook.pytest_deselected(items=newer)
        items[:] = [item for item in items if item not in set(newer)]


def pytest_collection_finish() -> None:
    """Python's garbage collector leaves the tests themselves alone: to look at all of them takes a second each time."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> list[str]:
    return [NOT_COLLECTED] if MISSING else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if MISSING and "not slow" not in config.option.markexpr:
        terminalreporter.write_line(NOT_COLLECTED, yellow=True)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """A test draws the same numbers alone, among others, and in any order."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the state that Keras's users share
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _own_settings() -> Iterator[None]:
    """What a test sets ends with it."""
    before = settings.SETTINGS
    settings.SETTINGS = replace(before)
    yield
    settings.SETTINGS = before


@pytest.fixture
def float32_as_it_is() -> Iterator[None]:
    """CUDA computes without TF32, which has three digits; what a test says of waits for the device ends with it."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    settings.set_tf32(False)
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before
    if torch.cuda.is_available():
        torch.cuda.set_sync_debug_mode("default")


@pytest.fixture(scope="session")
def script() -> Callable[[str], ModuleType]:
    """Imports a file of the project that is in no package, such as `scripts/matrix.py`, as a module of its own."""

    def imported(path: str) -> ModuleType:
        file = Path(__file__).parents[1] / path
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return imported

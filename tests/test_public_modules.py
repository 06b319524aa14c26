"""What `from torchkeras.layers import *` and the like bring: what the module means to offer, and nothing else."""

import importlib
import re
import sys
import types
from pathlib import Path

import pytest

import torchkeras

ROOT = Path(__file__).parents[1]
OF_KERAS = ("activations", "callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models")
PUBLIC = [
    "torchkeras",
    *(f"torchkeras.{name}" for name in OF_KERAS),
    *("torchkeras.optimizers", "torchkeras.optimizers.schedules", "torchkeras.regularizers", "torchkeras.utils"),
    *("torchkeras.config", "torchkeras.errors", "torchkeras.mixed_precision", "torchkeras.visualization"),
    *("torchkeras.backend", "torchkeras.distribution"),
]
IN_PART = ["torchkeras.distribution.loading", "torchkeras.distribution.sharding"]  # the rest of them is the engine's
ANNEXES = ("torchkeras.keras2", "torchkeras.as_keras")  # modules of old scripts, with what Keras 2 had in them


def star(module: str) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(f"from {module} import *", names)  # noqa: S102  # a star stands in no function
    return {name: value for name, value in names.items() if name != "__builtins__"}


@pytest.mark.parametrize("module", PUBLIC + IN_PART)
def test_a_star_brings_public_names_and_nothing_of_others(module):
    foreign = set(sys.stdlib_module_names) | {"torch", "numpy", "h5py", "tqdm"}
    brought = star(module)
    assert brought
    for name, value in brought.items():
        assert not name.startswith("_")
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""
        assert home.partition(".")[0] not in foreign - {"builtins"}, f"{module}: {name} is of {home}"
        assert name not in foreign, f"{module}: {name}"


@pytest.mark.parametrize("module", PUBLIC)
def test_all_is_sorted_once_and_forgets_nothing_of_its_own(module):
    found = importlib.import_module(module)
    listed = found.__all__
    assert len(set(listed)) == len(listed)
    own = {
        name
        for name, value in vars(found).items()
        if getattr(value, "__module__", None) == module and not name.startswith("_")
        if isinstance(value, (type, types.FunctionType))
    }
    assert own - set(listed) <= {"is_pointwise", "device_of_constants"}  # the engine asks these


def test_only_modules_of_the_package_are_in_its_own_star():
    modules = {name: value for name, value in star("torchkeras").items() if isinstance(value, types.ModuleType)}
    assert {value.__name__ for value in modules.values()} == {f"torchkeras.{name}" for name in modules}
    for module in PUBLIC[1:] + IN_PART:
        inside = [name for name, value in star(module).items() if isinstance(value, types.ModuleType)]
        assert inside == (["schedules"] if module == "torchkeras.optimizers" else []), module


def test_what_the_pages_import_from_is_public():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.py")]
    text = "\n".join(page.read_text() for page in pages if page.name != "adding.md")
    named = set(re.findall(r"^(?:>>> )?from (torchkeras[\w.]*) import", text, re.MULTILINE))
    assert {name for name in named if not name.startswith(ANNEXES)} <= {*PUBLIC, *IN_PART}
    assert {f"torchkeras.{name}" for name in torchkeras.__all__ if hasattr(getattr(torchkeras, name), "__path__")} <= {
        *PUBLIC
    }

"""A name that a public module lacks: the error says where it stands, or which one is nearest."""

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

import torchkeras


@pytest.mark.parametrize(
    ("module", "name", "rest"),
    [
        ("torchkeras", "ops", "there is torchkeras.keras3.ops"),
        ("torchkeras", "preprocessing", "there is torchkeras.keras3.preprocessing"),
        ("torchkeras", "datasets", "there is torchkeras.keras3.datasets"),
        ("torchkeras", "applications", "there is torchkeras.keras3.applications"),
        ("torchkeras", "Dense", "there is torchkeras.layers.Dense"),
        ("torchkeras", "Sequentail", "did you mean 'Sequential'?"),
        ("torchkeras.layers", "Dence", "did you mean 'Dense'?"),
        ("torchkeras.layers", "Sequential", "there is torchkeras.models.Sequential"),
        ("torchkeras.losses", "MeanSquareError", "did you mean 'MeanSquaredError'?"),
        ("torchkeras.metrics", "Acuracy", "did you mean 'Accuracy'?"),
        ("torchkeras.optimizers", "AdmW", "did you mean 'AdamW'?"),
        ("torchkeras.callbacks", "EarlyStoping", "did you mean 'EarlyStopping'?"),
        ("torchkeras.models", "load_modle", "did you mean 'load_model'?"),
        ("torchkeras.activations", "rellu", "did you mean 'relu'?"),
        ("torchkeras.initializers", "Orthgonal", "did you mean 'Orthogonal'?"),
        ("torchkeras.regularizers", "l12", "did you mean 'l1l2'?"),
        ("torchkeras.constraints", "MaxNrm", "did you mean 'MaxNorm'?"),
        ("torchkeras", "image_dataset_from_directory", "there is torchkeras.utils.image_dataset_from_directory"),
        ("torchkeras.models", "load_img", "there is torchkeras.utils.load_img"),
        ("torchkeras.utils", "image_dataset_from_folder", "did you mean 'image_dataset_from_directory'?"),
        ("torchkeras.utils", "PyDataset", "there is torchkeras.keras3.utils.PyDataset"),
    ],
)
def test_the_error_says_where_to_look(module: str, name: str, rest: str):
    with pytest.raises(AttributeError) as error:
        getattr(importlib.import_module(module), name)
    assert str(error.value) == f"module {module!r} has no attribute {name!r}; {rest}"
    assert error.value.name == name


@pytest.mark.parametrize(
    ("module", "name", "rest"),
    [
        ("torchkeras", "layrs", "did you mean 'layers'?"),
        ("torchkeras.layers", "Dence", "did you mean 'Dense'?"),
        ("torchkeras.layers", "Sequential", "there is torchkeras.models.Sequential"),
        ("torchkeras.optimizers.schedules", "ExponentialDecy", "did you mean 'ExponentialDecay'?"),
        ("torchkeras.utils", "to_categoricl", "did you mean 'to_categorical'?"),
        ("torchkeras.config", "set_epsiln", "did you mean 'set_epsilon'?"),
        ("torchkeras.mixed_precision", "set_global_polcy", "did you mean 'set_global_policy'?"),
        ("torchkeras.visualization", "plot_modl", "did you mean 'plot_model'?"),
        ("torchkeras.distribution", "initialise", "did you mean 'initialize'?"),
    ],
)
def test_a_from_statement_says_it_too(module: str, name: str, rest: str):
    with pytest.raises(ImportError) as error:
        exec(f"from {module} import {name}")  # noqa: S102  (what a user writes)
    assert str(error.value) == f"cannot import name {name!r} from {module!r}; {rest}"
    assert error.value.name == module


def test_a_from_statement_finds_a_module_whose_import_has_begun():
    sys.modules["torchkeras.layers.begun"] = begun = ModuleType("torchkeras.layers.begun")
    try:
        from torchkeras.layers import begun as found  # type: ignore[attr-defined]  # noqa: PLC0415  (it is there only now)
    finally:
        del sys.modules["torchkeras.layers.begun"]
    assert found is begun


def test_a_name_like_no_other():
    with pytest.raises(AttributeError, match=r"^module 'torchkeras' has no attribute 'zzz'$"):
        torchkeras.zzz  # noqa: B018


def test_a_look_imports_nothing():
    text = (
        "import sys, torchkeras.layers\n"
        "before = set(sys.modules)\n"
        "assert not any(hasattr(module, 'ops') for module in (torchkeras, torchkeras.layers))\n"
        "assert set(sys.modules) - before <= {'torchkeras.base.missing_names'}"
    )
    subprocess.run([sys.executable, "-c", text], check=True)

"""Imports point one way, from folder to folder; no function imports anything."""

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import torchkeras
from torchkeras.layers import Dense

PACKAGE = Path(torchkeras.__file__).parent

# The rooms of the house, the lower ones first: a file may import from its own room and from those before it. A room is
# a folder, or a file that stands beside folders.
ROOMS = [
    *("errors", "base", "world", "base/keras_axes", "config", "mixed_precision"),
    *("legacy", "registry", "declared"),
    *("activations", "initializers", "regularizers", "constraints", "losses", "metrics", "optimizers"),
    *("tensor_functions", "engine/adapters", "engine/symbolic"),
    *("engine/options", "engine/base_layer", "engine/users_code", "engine/modes", "engine/facts"),
    "engine/carried_masks",
    *("engine/weights", "engine/dtypes"),
    *("engine/shapes/input_spec", "engine/building", "engine/shapes/output_shapes"),
    *("engine/layer", "engine/shapes/with_values", "engine/functions", "engine/graph"),
    *("data", "data/sources"),
    *("saving/containers/limits", "saving/containers/open_file", "saving/formats"),
    *("resume/accepted", "resume/stop_signals", "callbacks"),
    *("resume/folder_lock", "resume/backup_files"),
    *("engine/step", "engine/speed", "engine/fit"),
    "resume",
    "engine/fit/methods",
    "layers",
    *(
        "saving/containers",
        "saving/ties",
        "saving/graph_config",
        "saving/keras3_names",
        "saving/keras3_operations",
        "saving/layer_facts",
        "saving/training_config",
    ),
    "saving/keras3_entry",
    *("saving/weights", "saving/optimizer", "saving/extra_keys", "saving/own_assets"),
    *("saving/model_file", "saving/data_format", "saving/dialects"),
    *("saving/write", "saving/unsaveable"),
    *("saving/load", "saving/save"),
    *("visualization", "models", "serving", "sklearn", "utils", "__init__"),
    "keras3",
    "distribution",
    *("keras2/backend", "keras2/lambdas"),
    *("export/errors", "export/plain", "export/examples", "export/checking", "export/program", "export/onnx"),
    *("export/ahead", "export/exporting"),
    *("keras2", "backend", "as_keras"),
    "tensorflow2",
    *("commands", "__main__"),
]


def name_of(path: Path) -> str:
    """A file's path in the package, without suffix; of an `__init__` that is a folder's, the folder's."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "/".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def room(name: str) -> str:
    """The room that a file is in: the innermost of those that its path names."""
    while name not in ROOMS:
        name, slash, _ = name.rpartition("/")
        assert slash, "no room of the house"
    return name


def imports_in(tree: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]


@cache
def imported(path: Path, for_types: bool) -> set[str]:
    """The files of the package that a file imports; those for type checkers alone count where `for_types`."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not for_types:
            node.body = []
    found = set()
    for node in imports_in(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "torchkeras":
            base = PACKAGE.joinpath(*(node.module or "").split(".")[1:])
            for alias in node.names:
                inside = [base / f"{alias.name}.py", base / alias.name / "__init__.py"]
                outer = [base.with_suffix(".py"), base / "__init__.py"]
                found.add(next(file for file in (*inside, *outer) if file.exists()))
    return {name_of(file) for file in found if file.read_text()}


FOLDERS = {str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("__init__.py")}
# The `__init__` of a folder that only holds rooms is empty.
FILES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py")) if path.read_text()}


def test_every_room_is_there():
    assert sorted({room(name) for name in FILES}) == sorted(ROOMS)


# What rooms below may name in annotations: their functions take layers, networks and models.
NAMED_BELOW = {"engine/layer/layer", "engine/graph/network", "models/model"}


def test_tests_of_the_engine_stand_in_its_rooms():
    rooms = {path.parent.name for path in (PACKAGE / "engine").glob("*/__init__.py")}
    found = {path.parent.name for path in (Path(__file__).parent / "engine").glob("*/test_*.py")}
    assert "graph" in rooms
    assert found == rooms


def test_imports_point_one_way():
    wrong = [
        f"{name} imports {other}"
        for name, path in FILES.items()
        for other in imported(path, for_types=False) | (imported(path, for_types=True) - NAMED_BELOW)
        if ROOMS.index(room(other)) > ROOMS.index(room(name))
    ]
    assert wrong == []


def test_files_of_a_room_import_each_other_in_no_circle():
    left = {name: imported(path, for_types=False) - {name} for name, path in FILES.items()}
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    assert left == {}


def test_no_function_imports():
    inside = [
        f"{name}: {node.name}"
        for name, path in FILES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and imports_in(node)
    ]
    assert inside == []


def test_only_the_core_dependencies_are_imported():
    allowed = {"torch", "numpy", "h5py", "tqdm", "torchkeras", "__future__"}
    names = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for path in FILES.values()
        for node in imports_in(ast.parse(path.read_text()))
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in names} - allowed - set(sys.stdlib_module_names) == set()


# --- what is imported when -------------------------------------------------------------------------------------------

LOADED = """
import json, sys
import torch, h5py
{}
print(json.dumps([name for name in sys.modules if name.startswith("torchkeras")]))
"""
LATER = (
    *("saving.load", "saving.save", "visualization", "export", "distribution", "keras2", "keras3", "tensorflow2"),
    *("utils.datasets", "utils.folders", "utils.images"),
)


def loaded(code: str) -> list[str]:
    """The modules of the package that a new process has after some code."""
    command = [sys.executable, "-c", LOADED.format(code)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_the_package_alone_imports_next_to_nothing():
    assert len(loaded("import torchkeras")) <= 6


def test_files_and_pictures_are_imported_when_they_are_used():
    found = loaded("import torchkeras.layers, torchkeras.models, torchkeras.utils, torchkeras.callbacks")
    assert len(found) <= 295
    assert [name for name in found if name.startswith(tuple(f"torchkeras.{each}" for each in LATER))] == []


ALONE = """
import os, sys
import torch, h5py
for module in sys.argv[1:]:
    child = os.fork()
    if not child:
        __import__(f"torchkeras.{module}")
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(module)
"""


def test_each_module_may_be_imported_first():
    modules = [*torchkeras.__all__, *("errors", "registry", "resume", "saving.load", "saving.save", "visualization")]
    there = [name for name in modules if name.replace(".", "/") in {*FILES, *FOLDERS}]
    assert {"config", "errors", "layers", "models", "saving.load"} <= {*there}
    done = subprocess.run([sys.executable, "-c", ALONE, *there], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


BY_NAME = """
import torch
from torchkeras.layers import Dense, LSTM
options = {"kernel_initializer": "he_normal", "kernel_regularizer": "l1_l2", "kernel_constraint": "max_norm"}
print(Dense(3, activation="softplus", **options)(torch.ones(1, 2)).shape)
"""


def test_a_layer_alone_knows_what_its_options_name():
    done = subprocess.run([sys.executable, "-c", BY_NAME], capture_output=True, text=True, check=True)
    assert done.stdout == "torch.Size([1, 3])\n"


def test_names_that_wait_are_listed_and_others_are_not_there():
    assert {*torchkeras.__all__} <= {*dir(torchkeras)}
    assert {*torchkeras.models.__all__} <= {*dir(torchkeras.models)}
    assert torchkeras.layers.Dense is Dense
    for module in (torchkeras, torchkeras.models, torchkeras.utils):
        with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nothing'"):
            _ = module.nothing

"""Every golden model, of all Kerases, as plain PyTorch: equal outputs where torchkeras cannot be imported, clean text.

A file in `LOADED` is also fed the inputs that genuine Keras was fed, and must give what Keras gave.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_golden import GOLDEN, LOADED, WARNED, Case

import torchkeras
from torchkeras.export.plain import proof, runner
from torchkeras.export.plain.module_text import Written
from torchkeras.models import load_model, model_from_json

ROOT = Path(__file__).parents[1]
# The functions of models whose files have them by name only; what fails there without an answer is not loaded.
FUNCTIONS: dict[str, dict[str, Any]] = {
    "lambda2": {"cut": lambda x, k: x[:, :2] * k, "cut.output_shape": lambda shape: (shape[0], 2)},
    "mlambda": {"mm": lambda x: x[0] * x[1] + 1.0, "mm.output_shape": lambda shapes: shapes[0]},
    "mlambda_mask": {
        "mk": lambda x: x[0] - x[1],
        "mk.output_shape": lambda shapes: shapes[0],
        "mk.output_mask": lambda masks: masks[0],
    },
}
REFUSED = {"eigen", "convlstm_flat", "pool_theano"}  # by load_model, for what their files leave open
TOLD: dict[str, dict[str, Any]] = {"up_dense_th": {"original_data_format": "channels_first"}}
FOLDERS = {
    "keras-0.3.3-theano": 6,
    "keras-1.2.2-architectures": 15,
    "keras-1.2.2-tensorflow": 64,
    "keras-1.2.2-theano": 61,
    "keras-2.2.4-tensorflow": 121,
    "keras-2.2.4-theano": 34,
    "keras-3.15": 26,
    "keras-own-cases": 81,
    "mixed-precision": 14,
    "tf_keras-2.21": 26,
    "training-goes-on": 105,
}


def models(folder: str) -> Iterator[tuple[str, Any, Any]]:
    """The models of a folder by their names, with the case of the record where there is one."""
    if folder == "keras-0.3.3-theano":
        for path in sorted((GOLDEN / folder).iterdir()):
            yield path.name, _of_keras_0(path), None
        return
    recorded = {file: place for place, file in LOADED}
    for path in sorted(path for suffix in ("h5", "keras") for path in (GOLDEN / folder).rglob(f"*.{suffix}")):
        name = path.parent.name
        if path.name.endswith(".weights.h5") or (folder == "keras-1.2.2-architectures" and name in REFUSED):
            continue
        case = Case(recorded[path]) if path in recorded else None
        told: dict[str, Any] = {**({} if case is None else case.told), **TOLD.get(name, {})}
        functions: dict[str, Any] = {"custom_objects": FUNCTIONS[name]} if name in FUNCTIONS else {}
        shown = "-".join(path.relative_to(GOLDEN / folder).parts)
        yield shown, load_model(path, compile=False, **told, **functions), case


def _of_keras_0(path: Path) -> Any:
    data_format = torchkeras.config.DIM_ORDERINGS[json.loads((path / "case.json").read_text())["image_data_format"]]
    torchkeras.config.set_image_data_format(data_format)
    model = model_from_json((path / "model.json").read_text())
    model.load_weights(path / "weights.h5", original_backend="theano")
    return model


@pytest.fixture(autouse=True)
def data_format():
    before = dict(vars(torchkeras.config.SETTINGS))
    yield
    vars(torchkeras.config.SETTINGS).update(before)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is not written; it is taken as")
@pytest.mark.filterwarnings("ignore:Compiled the loaded model")
@pytest.mark.parametrize("folder", FOLDERS)
def test_all_models_of_a_folder(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each is ejected, its proof computed in this process; then one clean process computes all of them again."""
    written: dict[str, Written] = {}

    def found_here(made: Written, place: Path, _: Path, batches: Any) -> Any:
        written[""] = made
        return proof._found_here(made, place, batches)

    monkeypatch.setattr(proof, "_found_there", found_here)
    monkeypatch.setattr(proof, "found_by", found_here)
    called: list[tuple[str, Any, Any, Any]] = []
    arguments: list[str] = []
    count = 0
    for name, model, case in models(folder):
        model.eject(tmp_path / name)
        count += 1
        made = written[""]
        assert_imports_torch_alone(made.text)
        batches, wanted = proof.expected(model)
        if made.functions:
            continue
        if case is not None and case.folder.name not in WARNED:
            assert_record(case, model, made, tmp_path / name)
        given, found = tmp_path / f"{name}.given", tmp_path / f"{name}.found"
        torch.save(batches, given)
        arguments += [str(tmp_path / name), made.name, str(given), str(found)]
        called.append((name, model, wanted, found))
    command = [sys.executable, "-I", str(Path(runner.__file__)), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    for _, model, wanted, found in called:
        proof.check(model, wanted, torch.load(found, weights_only=True))
    assert_clean(tmp_path)
    assert count == FOLDERS[folder]


def assert_record(case: Case, model: Any, made: Written, folder: Path) -> None:
    """The written module gives what genuine Keras gave."""
    inputs = [torch.from_numpy(x).to(t.dtype) for x, t in zip(case.numbered("x"), model.inputs, strict=True)]
    found = proof._found_here(made, folder, [inputs])[0]
    for k, (mine, saved) in enumerate(zip(found, case.numbered("y"), strict=True)):
        np.testing.assert_allclose(mine.numpy(), saved, atol=1e-4, rtol=1e-3, err_msg=f"{folder.name}: output {k}")


def assert_imports_torch_alone(text: str) -> None:
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [n.module if isinstance(n, ast.ImportFrom) else n.names[0].name for n in imports]
    assert {str(name).partition(".")[0] for name in names} <= {"torch"}


def assert_clean(folder: Path) -> None:
    """As ruff wants it, by the rules and in the form of this project."""
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", str(ROOT / "pyproject.toml"), str(folder)]
        found = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout

"""All golden models of all Kerases leave as `.pt2` and as ONNX, and give what those Kerases gave."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_golden import GOLDEN, LOADED, WARNED, Case, as_list

import torchkeras
from torchkeras.export.errors import ExportError
from torchkeras.models import load_model

pytestmark = pytest.mark.torch("2.8", "its compiler follows whole models")

FILES = [(folder, file) for folder, file in LOADED if folder.name not in WARNED]
# Which golden models have no such form: by format, the file and what export says of it.
REFUSED: dict[str, dict[str, str]] = {".pt2": {}, ".onnx": {}}


def of_pt2(path: Path, inputs: dict[str, torch.Tensor]) -> list[Any]:
    with torch.no_grad():
        return [each.numpy() for each in as_list(torch.export.load(path).module()(*inputs.values()))]


def of_onnx(path: Path, inputs: dict[str, torch.Tensor]) -> list[Any]:
    session = importlib.import_module("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [each.name for each in session.get_inputs()] == list(inputs)
    return session.run(None, {name: tensor.numpy() for name, tensor in inputs.items()})


RUNS: dict[str, Callable[[Path, dict[str, torch.Tensor]], list[Any]]] = {".pt2": of_pt2, ".onnx": of_onnx}


def cases(suffix: str) -> Any:
    named = [pytest.param(suffix, *each, id=str(each[1].relative_to(GOLDEN))) for each in FILES]
    return pytest.mark.parametrize(("suffix", "folder", "file"), named)


def gives_what_keras_gave(suffix: str, folder: Path, file: Path, tmp_path: Path) -> None:
    torchkeras.clear_session()
    case = Case(folder)
    model = load_model(file, compile=False, **case.told)
    path, name = tmp_path / f"m{suffix}", file.relative_to(GOLDEN).as_posix()
    if name in REFUSED[suffix]:
        with pytest.raises(ExportError, match=REFUSED[suffix][name]):
            model.export(path)
        return
    model.export(path)
    given = zip(model.input_names, model.inputs, case.numbered("x"), strict=True)
    found = RUNS[suffix](path, {name: torch.from_numpy(x).to(tensor.dtype) for name, tensor, x in given})
    for mine, saved in zip(found, case.numbered("y"), strict=True):
        np.testing.assert_allclose(mine, saved, atol=1e-4, rtol=1e-3)


@pytest.mark.slow
@cases(".pt2")
@pytest.mark.filterwarnings("ignore:.* is not written; it is taken as")
@pytest.mark.filterwarnings("ignore:.* its causal is not written by tf.keras 2.10 and later; it is taken as False")
def test_pt2(suffix: str, folder: Path, file: Path, tmp_path: Path):
    gives_what_keras_gave(suffix, folder, file, tmp_path)


@pytest.mark.onnx
@cases(".onnx")
@pytest.mark.filterwarnings("ignore:.* is not written; it is taken as")
@pytest.mark.filterwarnings("ignore:.* its causal is not written by tf.keras 2.10 and later; it is taken as False")
def test_onnx(suffix: str, folder: Path, file: Path, tmp_path: Path):
    gives_what_keras_gave(suffix, folder, file, tmp_path)


@pytest.mark.parametrize("suffix", RUNS)
def test_at_most_one_in_twenty_is_refused(suffix: str):
    assert len(REFUSED[suffix]) <= len(FILES) / 20
    assert set(REFUSED[suffix]) <= {file.relative_to(GOLDEN).as_posix() for _, file in FILES}

"""Texts that `scripts/fuzz_readers.py` found: once they got through, or ended in an error outside the family."""

import json
from typing import Any

import pytest

from torchkeras.errors import ArchitectureError, ForbiddenContentError, UnreadableFileError
from torchkeras.models import model_from_json
from torchkeras.saving.containers import tensor_header


def sequential(class_name: str, config: dict[str, Any]) -> dict[str, Any]:
    return {"class_name": "Sequential", "config": [{"class_name": class_name, "config": config}]}


def regularized(factor: Any) -> str:
    regularizer = {"class_name": "L1L2", "config": {"l1": 0.5, "l2": factor}}
    config = {"units": 2, "batch_input_shape": [None, 3], "kernel_regularizer": regularizer}
    return json.dumps({**sequential("Dense", config), "keras_version": "2.1.0"})


@pytest.mark.parametrize("factor", ["input_1", [0.1, 0.1], {}, True])
def test_a_factor_that_is_no_number(factor):
    with pytest.raises(ArchitectureError, match="L1L2: l2 must be a finite number"):
        model_from_json(regularized(factor))


def test_no_factor_is_0():
    model = model_from_json(regularized(None))
    assert model.get_config()["layers"][0]["config"]["kernel_regularizer"]["config"] == {"l1": 0.5, "l2": 0.0}


def test_a_merge_by_bytecode_that_is_not_there():
    inside = sequential("Dense", {"output_dim": 2, "batch_input_shape": [None, 3]})
    merge = sequential("Merge", {"name": "sum", "mode_type": "lambda", "layers": [inside, inside]})
    with pytest.raises(ForbiddenContentError, match="Merge 'sum': its mode is stored as Python bytecode"):
        model_from_json(json.dumps({**merge, "keras_version": "1.2.2"}))


@pytest.mark.parametrize("dtype", [["F32"], {}, None, 3])
def test_a_tensor_whose_type_is_no_text(dtype, tmp_path):
    header = json.dumps({"a": {"dtype": dtype, "shape": [1], "data_offsets": [0, 4]}}).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    with pytest.raises(UnreadableFileError, match="'a' has no known 'dtype'"):
        tensor_header.read(path)

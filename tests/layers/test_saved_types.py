"""A model of any layer in float64, float16 or bfloat16 is what it was after saving and loading."""

from pathlib import Path
from typing import Any

import pytest
import torch
from table import ROWS, Row

from torchkeras.base.dtypes import dtype_of
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.layers import Input
from torchkeras.models import Model, load_model

FILES = {"float64": "m.h5", "float16": "m.safetensors", "bfloat16": "m.pt"}
# A layer that returns class numbers has a type of integers alone.
FOUND = [row for row in ROWS if "config" not in row.differs and dtype_of(row.make().dtype).is_floating_point]


def typed(row: Row, dtype: str) -> Model:
    made: Any = row.make()
    layer = type(made).from_config({**made.get_config(), "dtype": dtype})
    given = [
        Input(batch_shape=x.shape, dtype=dtype if x.is_floating_point() else str(x.dtype).removeprefix("torch."))
        for x in as_list(row.tensors())
    ]
    return Model(given, layer(given if len(given) > 1 else given[0]))


@pytest.mark.parametrize("dtype", FILES)
@pytest.mark.parametrize("row", FOUND, ids=[f"{row.call}-{row.inputs}" for row in FOUND])
def test_it_is_the_same_when_loaded(row: Row, dtype: str, tmp_path: Path):
    model = typed(row, dtype)
    model.save(tmp_path / FILES[dtype])
    again = load_model(tmp_path / FILES[dtype])
    assert [(o.shape, o.dtype) for o in again.outputs] == [(o.shape, o.dtype) for o in model.outputs]
    assert [v.dtype for v in again.weights] == [v.dtype for v in model.weights]
    assert all(torch.equal(a.value, b.value) for a, b in zip(again.weights, model.weights, strict=True))

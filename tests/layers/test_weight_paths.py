"""Every layer's weights by the paths of Keras 3: written, and found again."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from table import ROWS, STRINGS, Row

from torchkeras.layers import Input
from torchkeras.models import Model
from torchkeras.saving.weights.paths import pairs, write

CALLED = [row for row in ROWS if "Cell" not in row.name and row.differs != STRINGS]


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.call)
def test_every_layer_finds_its_own_values_again(row: Row, tmp_path: Path):
    found = row.tensors()
    inputs = [
        Input(batch_shape=tuple(t.shape), dtype=None if t.is_floating_point() else "int32")
        for t in (found if isinstance(found, list) else [found])
    ]
    layer = row.make()
    outputs = layer(inputs if len(inputs) > 1 else inputs[0])
    model = Model(inputs, outputs)
    with h5py.File(tmp_path / "a.weights.h5", "w") as file:
        write(file, model)
        paired = pairs(file, model)
        assert sorted(v.full_name for v, _ in paired) == sorted(v.full_name for v in model.weights)
        for variable, array in paired:
            np.testing.assert_array_equal(array[()], variable.numpy())

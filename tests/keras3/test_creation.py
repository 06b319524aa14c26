"""Operations of `creation` that genuine Keras on torch computes otherwise than its documentation says, or not at all.

They are checked against NumPy, whose functions Keras describes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.keras3.cases.inputs import F3, ROW, F, G, I
from torchkeras import config
from torchkeras.keras3 import ops as functions

ops: Any = functions  # its names are those of a table
ENDS = np.array([1.0, 2.0, 4.0]), np.array([8.0, 32.0, 4.0])
SPACED = ("linspace", "logspace", "geomspace")


@pytest.mark.parametrize("name", SPACED)
@pytest.mark.parametrize(
    ("args", "options"),
    [
        # Genuine Keras has neither another axis, nor `endpoint` for arrays, nor one sample of arrays.
        ((*ENDS, 4), {"axis": 1}),
        ((*ENDS, 4), {"axis": -1}),
        ((ENDS[0], 9.0, 3), {"axis": -1}),
        ((*ENDS, 3), {"endpoint": False}),
        ((*ENDS, 1), {}),
        ((*ENDS, 1), {"endpoint": False}),
        (([1, 2], [3, 5], 3), {}),
        ((2.0, 3.0, 0), {}),
    ],
)
def test_samples(name: str, args: tuple[Any, ...], options: dict[str, Any]):
    found = getattr(ops, name)(*args, **options)
    expected = getattr(np, name)(*args, **options)
    assert found.dtype is torch.float32
    torch.testing.assert_close(found, torch.as_tensor(expected, dtype=torch.float32))


@pytest.mark.parametrize("name", SPACED)
def test_last_sample_is_the_end(name: str):
    ends = (0.1, 0.7) if name != "geomspace" else (10, 1000)
    found = getattr(ops, name)(*ends, 7, dtype="float64")
    torch.testing.assert_close(found, torch.as_tensor(getattr(np, name)(*ends, 7)), rtol=1e-15, atol=0)


def test_whole_samples():
    assert ops.geomspace(1, 1000, 4, dtype="int32").tolist() == [1, 10, 100, 1000]
    assert ops.logspace(0, 3, 4, dtype="int32").tolist() == [1, 10, 100, 1000]


def test_steps():
    samples, step = ops.linspace(F[0], G[0], 5, retstep=True)
    torch.testing.assert_close(step, torch.as_tensor((G[0] - F[0]) / 4))
    torch.testing.assert_close(samples[1] - samples[0], step)
    assert ops.linspace(2.0, 3.0, 1, retstep=True)[1].isnan()


def test_values_repeated_to_a_shape():
    """Genuine Keras repeats along the front axes alone."""
    torch.testing.assert_close(ops.full((2, 3), [[1], [2]]), torch.tensor([[1.0, 1, 1], [2, 2, 2]]))
    found = ops.full(3, ROW[:1])
    found[0] = 7.0  # memory of its own
    assert found.tolist()[1:] == ROW[:1].tolist() * 2


def test_grids_of_different_types():
    first, second = ops.meshgrid(ROW, I[:, 0])
    assert (first.dtype, second.dtype) == (torch.float32, torch.int32)
    assert first.shape == second.shape == (3, 4)
    vectors = ROW, I[:, 0], F3[:, 0, 0]
    for found, expected in zip(ops.meshgrid(*vectors), np.meshgrid(*vectors), strict=True):
        np.testing.assert_array_equal(found.numpy(), expected)


def test_shapes_of_empty_tensors():
    for shape in (3, (2, 3), [2, 3]):
        assert ops.empty(shape, "int8").shape == np.empty(shape).shape
    assert ops.empty((2,)).dtype is torch.float32


def test_matrix_of_no_columns():
    assert ops.tri(3, 0).shape == (3, 0)
    assert ops.eye(torch.tensor(2), torch.tensor(3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(TypeError):
        ops.eye(torch.tensor(2.0))


def test_windows_of_a_length_in_a_tensor():
    torch.testing.assert_close(ops.hamming(torch.tensor(5)), torch.as_tensor(np.hamming(5), dtype=torch.float32))
    torch.testing.assert_close(ops.kaiser(np.array(6), 14), torch.as_tensor(np.kaiser(6, 14), dtype=torch.float32))


def test_default_types(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config.SETTINGS, "floatx", "float16")
    for found in (ops.zeros(2), ops.ones(2), ops.eye(2), ops.full(2, 3), ops.arange(3.0), ops.hanning(4), ops.tri(2)):
        assert found.dtype is torch.float16
    assert ops.arange(3).dtype is torch.int32
    assert ops.linspace(0, 1, 3).dtype is torch.float16


def test_place_of_new_tensors(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config.SETTINGS, "device", torch.device("meta"))
    made = (ops.zeros(2), ops.arange(3), ops.array([1]), ops.eye(2, k=1), ops.linspace(0, 1, 3), ops.bartlett(4))
    assert {each.device.type for each in made} == {"meta"}
    assert ops.linspace(torch.zeros(2), 1.0, 3).device.type == "cpu"

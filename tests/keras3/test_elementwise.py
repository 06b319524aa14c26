"""Operations on each element where genuine Keras on torch departs from its documentation, or that set no values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from torchkeras.keras3 import ops

BEYOND = [-np.inf, -3e9, -1.5, 2.5, 3e9, np.inf]


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", ["int32", "int64"])
def test_saturate_cast_of_floats_to_whole_numbers(kind: str, name: str):
    limits = np.iinfo(name)
    found = ops.saturate_cast(np.array(BEYOND, kind), name)
    assert found.dtype == getattr(torch, name)
    expected = [max(limits.min, min(x, limits.max)) for x in BEYOND]
    np.testing.assert_allclose(found.double(), expected, rtol=1e-6, atol=0.5)
    assert found.tolist() == sorted(found.tolist())


def test_saturate_cast_of_whole_numbers_to_floats():
    found = ops.saturate_cast(np.array([-(2**40), 3, 2**62]), "float32")
    assert found.tolist() == [-(2.0**40), 3.0, 2.0**62]
    assert ops.saturate_cast(np.array([-(2**40), 3, 2**62]), "float16").tolist() == [-65504, 3, 65504]


def test_saturate_cast_between_the_types_of_16_bits():
    found = ops.saturate_cast(torch.tensor([-1e30, 1.5, 1e30], dtype=torch.bfloat16), "float16")
    assert found.tolist() == [-65280, 1.5, 65280]  # the greatest numbers that both types have
    assert ops.saturate_cast(torch.tensor([7.5]).half(), "bfloat16").tolist() == [7.5]


@pytest.mark.parametrize("kind", ["float16", "float32"])
def test_nextafter_is_the_next_number_of_the_type(kind: str):
    x1 = np.array([1.0, 1.0, 0.0, 2.0, -1.0], kind)
    x2 = np.array([2.0, 0.0, 1.0, 2.0, 5.0], kind)
    found = ops.nextafter(x1, x2).numpy()
    assert found.dtype == kind
    assert (found == np.nextafter(x1, x2)).all()


@pytest.mark.parametrize("dtype", [None, "int32", "float16"])
def test_empty_like_has_the_shape_and_the_type(dtype: str | None):
    found = ops.empty_like(np.zeros((2, 3), "float64"), dtype)
    assert found.shape == (2, 3)
    assert found.dtype == getattr(torch, dtype or "float64")


@pytest.mark.parametrize("x", [2.5, [1.5, -2.0], np.float32(3)])
def test_parts_of_numbers_and_lists(x: Any):
    for name in ("conj", "conjugate", "real"):
        np.testing.assert_array_equal(getattr(ops, name)(x), x)


def test_full_like_of_a_list_and_clip_with_one_bound():
    assert ops.full_like([[1, 2], [3, 4]], [5, 6]).tolist() == [[5, 6], [5, 6]]
    assert ops.clip([1, 5, 9], 2, None).tolist() == [2, 5, 9]


@pytest.mark.parametrize("wrong", [(1.0, None), (None, 1.0)])
def test_where_needs_both_or_neither(wrong: Any):
    with pytest.raises(ValueError, match="both x1 and x2"):
        ops.where([True], *wrong)

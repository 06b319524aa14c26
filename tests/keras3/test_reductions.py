"""Operations over axes where genuine Keras on torch departs from its documentation: they compute as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.keras3.cases.inputs import COUNTS, F3, POSITIVE, F, I
from torchkeras.keras3 import ops

HOLES3 = np.where(F3 > 1, np.nan, F3).astype("float32")
KEPT = ("sum", "prod", "max", "min", "amax", "amin", "ptp", "mean", "all", "any", "median", "var", "std")
KEPT_WITHOUT_NAN = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanmedian", "nanvar", "nanstd")


def check(found: torch.Tensor, expected: Any) -> None:
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", [*KEPT, *KEPT_WITHOUT_NAN])
def test_all_axes_are_kept(name: str):
    x = HOLES3 if name in KEPT_WITHOUT_NAN else F3
    check(getattr(ops, name)(x, keepdims=True), getattr(np, name)(x, keepdims=True))


def test_max_and_min_keep_all_axes_with_an_initial_value():
    for name in ("max", "min"):
        check(getattr(ops, name)(F3, keepdims=True, initial=0.5), getattr(np, name)(F3, keepdims=True, initial=0.5))


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_an_initial_value_for_no_values(axis: Any, keepdims: bool):
    for name in ("max", "min"):
        expected = getattr(np, name)(np.zeros((0, 4), "float32"), axis, keepdims=keepdims, initial=2)
        found = getattr(ops, name)(np.zeros((0, 4), "float32"), axis, keepdims, 2)
        assert found.dtype == torch.float32
        check(found, expected)


def test_over_no_axes_each_value_is_reduced_by_itself():
    for name in ("mean", "median", "nanmean"):
        found = getattr(ops, name)(I, ())
        assert found.dtype == torch.float32
        check(found, I)
    for name in ("std", "nanstd"):
        check(getattr(ops, name)(F, ()), np.zeros_like(F))
    for name in ("sum", "prod"):
        assert getattr(ops, name)(F > 0, ()).dtype == torch.int32
    check(ops.logsumexp(F, ()), F)
    check(ops.average(F, (), weights=POSITIVE), F)


@pytest.mark.parametrize("axis", [0, 1, -1, None, (0, 1)])
def test_average_with_weights_of_each_value(axis: Any):
    check(ops.average(F, axis, POSITIVE), np.average(F, axis, POSITIVE))


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_average_with_weights_along_an_axis(axis: int):
    weights = np.arange(1.0, 1 + F3.shape[axis], dtype="float32")
    check(ops.average(F3, axis, weights), np.average(F3, axis, weights))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_count_nonzero_leaves_the_axes_in_order(axis: int):
    found = ops.count_nonzero(np.floor(F3), axis)
    assert found.dtype == torch.int32
    check(found, np.count_nonzero(np.floor(F3), axis))


def test_bincount_of_rows_of_other_lengths():
    expected = [np.bincount(row, minlength=6) for row in COUNTS]
    check(ops.bincount(COUNTS), expected)


def test_infinities_are_no_nan():
    x = np.array([1.0, np.nan, np.inf, 2.0])
    check(ops.nancumsum(x), np.nancumsum(x))
    check(ops.nancumprod(x), np.nancumprod(x))
    check(ops.nanprod(x, ()), [1.0, 1.0, np.inf, 2.0])
    check(ops.nansum(x, ()), [1.0, 0.0, np.inf, 2.0])


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_running_totals_in_a_type_of_64_bits(dtype: str):
    for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
        found = getattr(ops, name)([2, 3], dtype=dtype)
        assert found.dtype == getattr(torch, dtype)


def test_a_function_of_all_values_of_a_list_of_tensors():
    assert ops.sum([torch.ones(2), torch.ones(2)]).item() == 4.0
    assert ops.mean([torch.ones(2), torch.zeros(2)], 0).tolist() == [0.5, 0.5]


def test_gradients_go_through_reductions():
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    for name in (
        "sum",
        "mean",
        "prod",
        "max",
        "std",
        "var",
        "median",
        "logsumexp",
        "nanmean",
        "nanvar",
        "nanprod",
        "ptp",
    ):
        (gradient,) = torch.autograd.grad(getattr(ops, name)(x), x)
        assert torch.isfinite(gradient).all()

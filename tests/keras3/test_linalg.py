"""Factorizations, whose signs and phases are free, and what genuine Keras does not compute as it documents."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

from tests.keras3.cases.inputs import DOUBLE, F3, F
from tests.keras3.cases.linalg import PRODUCTS, SQUARE, TALL
from torchkeras import Input, Model

ops: Any = importlib.import_module("torchkeras.keras3.ops")


def close(found: torch.Tensor, expected: Any) -> None:
    torch.testing.assert_close(found, torch.as_tensor(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("x", [SQUARE, SQUARE[0], SQUARE.astype("float64")])
def test_eigenvalues_and_eigenvectors(x: np.ndarray):
    values, vectors = ops.eig(x)
    assert values.dtype is vectors.dtype is (torch.complex64 if x.dtype == "float32" else torch.complex128)
    close(vectors @ torch.diag_embed(values), torch.as_tensor(x).to(values.dtype) @ vectors)
    values, vectors = ops.eigh(x + x.swapaxes(-1, -2))
    assert (values.diff() >= 0).all()
    close(vectors @ torch.diag_embed(values) @ vectors.mT, x + x.swapaxes(-1, -2))


@pytest.mark.parametrize("x", [TALL, TALL.T, PRODUCTS])
@pytest.mark.parametrize("full", [False, True])
def test_singular_values(x: np.ndarray, full: bool):
    u, s, vh = ops.svd(x, full_matrices=full)
    rows, columns = x.shape[-2:]
    smaller = min(rows, columns)
    assert u.shape[-2:] == (rows, rows if full else smaller)
    assert vh.shape[-2:] == (columns if full else smaller, columns)
    close(u[..., :smaller] @ torch.diag_embed(s) @ vh[..., :smaller, :], x)
    close(s, ops.svd(x, compute_uv=False))


@pytest.mark.parametrize("x", [TALL, TALL.T, PRODUCTS, DOUBLE])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(x: np.ndarray, mode: str):
    q, r = ops.qr(x, mode)
    rows, columns = x.shape[-2:]
    assert q.shape[-2:] == (rows, rows if mode == "complete" else min(rows, columns))
    close(q @ r, x)
    close(q.mT @ q, torch.eye(q.shape[-1], dtype=q.dtype).expand(*x.shape[:-2], -1, -1))
    close(r.tril(-1), torch.zeros_like(r))


def test_factorizations_in_a_graph():
    x = Input(batch_shape=(2, 3, 3))
    model = Model(x, [*ops.svd(x), *ops.qr(x), *ops.eigh(x), *ops.eig(x)])
    found = model(torch.as_tensor(PRODUCTS))
    for each, expected in zip(found, [*ops.svd(PRODUCTS), *ops.qr(PRODUCTS), *ops.eigh(PRODUCTS)], strict=False):
        close(each, expected)
    close(found[-1] @ torch.diag_embed(found[-2]), torch.as_tensor(PRODUCTS).to(torch.complex64) @ found[-1])


@pytest.mark.filterwarnings("ignore:`torch.jit")  # torch's own formulas are scripts
def test_jvp():
    value, slope = ops.jvp(ops.sin, (0.1,), (0.2,))
    close(value, np.float32(np.sin(0.1)))
    close(slope, np.float32(0.2 * np.cos(0.1)))
    value, slope, aux = ops.jvp(
        lambda x, y: (x["a"] * y, x["a"] + y), [{"a": F}, F], [{"a": F3[0]}, F3[1]], has_aux=True
    )
    close(value, F * F)
    close(slope, F3[0] * F + F * F3[1])
    close(aux, F + F)


def test_norms_of_double_precision_are_in_it():  # genuine Keras's are in single precision; its spec says double
    found = ops.norm(DOUBLE)
    assert found.dtype is torch.float64
    close(found, np.linalg.norm(DOUBLE))


def test_whole_numbers_are_computed_as_floating_point_ones():  # genuine Keras on torch raises
    close(ops.det([[2, 1], [1, 3]]), np.float32(5))
    close(ops.solve([[2, 0], [0, 4]], [1, 1]), np.float32([0.5, 0.25]))

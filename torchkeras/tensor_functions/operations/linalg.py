"""Linear algebra of Keras 3: `keras.ops.linalg`, and what `keras.ops` has besides of matrices and distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.nested import mapped
from torchkeras.tensor_functions.operations.values import floats, promoted, rows, tensor_of

QR_MODES = ("reduced", "complete")


def _square(what: str, x: Tensor) -> Tensor:
    """Square matrices of floating-point numbers. Raises ValueError for others."""
    if x.dim() < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{what} takes square matrices; found the shape {tuple(x.shape)}.")
    return floats(x)


def det(x: Tensor) -> Tensor:
    """The determinant of each matrix."""
    return torch.linalg.det(_square("det", x))


def inv(x: Tensor) -> Tensor:
    """The inverse of each matrix."""
    return torch.linalg.inv(_square("inv", x))


def cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """The lower triangular matrix `L` with `x = L @ L^H`, or its conjugate transpose for `upper`.

    Raises ValueError where `x` is not positive-definite.
    """
    try:
        return torch.linalg.cholesky(floats(x), upper=upper)
    except RuntimeError as error:
        raise ValueError(f"cholesky: {error}") from error


def cholesky_inverse(x: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is `x`, which is lower triangular, or `upper`."""
    return torch.cholesky_inverse(floats(x), upper=upper)


def lu_factor(x: Tensor) -> tuple[Tensor, Tensor]:
    """The triangular factors of matrices in one, and the pivots: the row that each row was exchanged with, from 0."""
    factors, pivots = torch.linalg.lu_factor(floats(x))
    return factors, pivots - 1


def slogdet(x: Tensor) -> tuple[Tensor, Tensor]:
    """The sign of the determinant of each matrix, and the logarithm of its absolute value."""
    sign, logarithm = torch.linalg.slogdet(_square("slogdet", x))
    return sign, logarithm


def eig(x: Tensor) -> tuple[Tensor, Tensor]:
    """The eigenvalues of square matrices, and the eigenvectors as columns; both are complex."""
    values, vectors = torch.linalg.eig(_square("eig", x))
    return values, vectors


def eigh(x: Tensor) -> tuple[Tensor, Tensor]:
    """The eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns."""
    values, vectors = torch.linalg.eigh(_square("eigh", x))
    return values, vectors


def norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The norm of a vector along one axis, or of a matrix along two; by default the root of the sum of all squares."""
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    return torch.linalg.norm(floats(x), ord, axes, keepdims)


def qr(x: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """`q` with orthonormal columns and an upper triangular `r`, with `x = q @ r`.

    `mode`: "reduced" for as many columns as the smaller side of `x` has, "complete" for a square `q`; ValueError for
    another one.
    """
    if mode not in QR_MODES:
        raise ValueError(f"qr: mode must be one of {QR_MODES}; found {mode!r}.")
    q, r = torch.linalg.qr(floats(x), mode)
    return q, r


def svd(x: Tensor, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """`u`, `s` and `vh` with `x = u @ diag(s) @ vh`, the singular values in descending order; `s` alone if asked.

    `full_matrices`: whether `u` and `vh` are square.
    """
    if not compute_uv:
        return torch.linalg.svdvals(floats(x))
    return tuple(torch.linalg.svd(floats(x), full_matrices))


def solve(a: Tensor, b: Tensor) -> Tensor:
    """`x` with `a @ x = b`; `b` is a vector or a matrix for each matrix in `a`."""
    return _for_vectors(torch.linalg.solve, a, b)


def solve_triangular(a: Tensor, b: Tensor, lower: bool = False) -> Tensor:
    """`x` with `a @ x = b`, where only the upper triangle of `a` counts, or the `lower` one."""
    return _for_vectors(lambda a, b: torch.linalg.solve_triangular(a, b, upper=not lower), a, b)


def lstsq(a: Tensor, b: Tensor, rcond: float | None = None) -> Tensor:
    """`x` for which `a @ x` is nearest to `b` by the squared error, the shortest where there are several.

    `rcond`: which part of the largest singular value of `a` a smaller one has to exceed to count.
    """
    return _for_vectors(lambda a, b: _nearest(a, b, rcond), a, b)


def _nearest(a: Tensor, b: Tensor, rcond: float | None) -> Tensor:
    if a.is_meta:  # torch has no shape of its result
        return a.new_empty(*a.shape[:-2], a.shape[-1], b.shape[-1])
    if a.is_cuda and rcond is not None:  # nor a cut-off there
        return torch.linalg.pinv(a, rtol=rcond) @ b
    return torch.linalg.lstsq(a, b, rcond, driver=None if rcond is None else "gelsd")[0]


def _for_vectors(function: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor) -> Tensor:
    """A function of matrices `a` and `b`, where `b` may have vectors instead."""
    a, b = promoted(floats(a), floats(b))
    return function(a, b.unsqueeze(-1)).squeeze(-1) if b.dim() == a.dim() - 1 else function(a, b)


def matrix_rank(x: Tensor, tol: float | None = None) -> Tensor:
    """How many singular values of each matrix exceed `tol`; by default, what rounding makes of zero."""
    return torch.linalg.matrix_rank(floats(x), atol=tol).to(torch.int32)


def pinv(x: Tensor, rcond: float | None = None) -> Tensor:
    """The pseudoinverse; singular values up to `rcond` times the largest one count as zero."""
    return torch.linalg.pinv(floats(x), rtol=rcond)


def cdist(x: Tensor, y: Tensor) -> Tensor:
    """The Euclidean distance of each row of `x` to each row of `y`."""
    if min(x.dim(), y.dim()) < 2 or x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"cdist takes matrices with rows of one length; found the shapes {tuple(x.shape)} and {tuple(y.shape)}."
        )
    x, y = (floats(each) for each in promoted(x, y))
    return torch.linalg.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), dim=-1)


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """`fun(*primals)`, and the product of its Jacobian there with `tangents`, by forward-mode differentiation.

    `has_aux`: whether `fun` returns a pair, of which only the first item is differentiated; the second one comes third.
    """
    given = [
        mapped(tuple(values), tensor_of, (Tensor, np.ndarray, np.generic, float)) for values in (primals, tangents)
    ]
    return torch.func.jvp(fun, *given, has_aux=has_aux)


OPERATIONS = rows(
    unary={"det": det, "inv": inv},
    of_floats={"logdet": torch.logdet},
    functions={
        "cdist": cdist,
        "cholesky": cholesky,
        "cholesky_inverse": cholesky_inverse,
        "eig": eig,
        "eigh": eigh,
        "jvp": jvp,
        "lstsq": lstsq,
        "lu_factor": lu_factor,
        "matrix_rank": matrix_rank,
        "norm": norm,
        "pinv": pinv,
        "qr": qr,
        "slogdet": slogdet,
        "solve": solve,
        "solve_triangular": solve_triangular,
        "svd": svd,
    },
)

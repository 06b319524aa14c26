"""Of factorizations that are unique but for signs, only what has no signs: the rest is in `test_linalg.py`."""

import numpy as np

from tests.keras3.cases.inputs import DOUBLE, F3, HALF, I64, ROW, B, F, G, I, case

_draw = np.random.default_rng(11)
SQUARE = _draw.uniform(-2.0, 2.0, (2, 3, 3)).astype("float32")
PRODUCTS = SQUARE @ SQUARE.transpose(0, 2, 1) + np.eye(3, dtype="float32")  # positive-definite
FACTORS = np.linalg.cholesky(PRODUCTS)
TALL = _draw.uniform(-2.0, 2.0, (5, 3)).astype("float32")
SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]], "float32")
ONES = np.array([[[2.0]], [[-3.0]]], "float32")
VECTORS = _draw.uniform(-2.0, 2.0, (2, 3)).astype("float32")
MATRICES = _draw.uniform(-2.0, 2.0, (2, 3, 2)).astype("float32")


def square(x: object) -> object:
    return x * x  # type: ignore[operator]


CASES = [
    *(case(name, x) for name in ("det", "inv", "slogdet", "lu_factor") for x in (SQUARE, SQUARE[0])),
    *(case(name, PRODUCTS.astype("float64")) for name in ("det", "inv", "logdet", "slogdet", "cholesky")),
    *(case(name, F) for name in ("det", "inv", "logdet", "slogdet", "cholesky", "eig", "eigh", "solve")),
    case("det", SINGULAR),
    case("det", np.zeros((0, 2, 2), "float32")),
    case("slogdet", 0 * SINGULAR),  # whose pivots are 0 on every machine
    case("logdet", PRODUCTS),
    case("logdet", PRODUCTS[1]),
    case("lu_factor", TALL),
    case("lu_factor", TALL.T),
    case("cholesky", PRODUCTS),
    case("cholesky", PRODUCTS[0], upper=True),
    case("cholesky", -PRODUCTS),
    case("cholesky_inverse", FACTORS),
    case("cholesky_inverse", FACTORS[0].T.copy(), upper=True),
    case("cholesky_inverse", PRODUCTS[0], upper=True),
    *(case(name, ONES) for name in ("eig", "eigh")),
    *(case("svd", x, compute_uv=False) for x in (TALL, TALL.T, SQUARE, TALL.astype("float64"))),
    case("svd", ROW),
    case("qr", np.eye(3, dtype="float32")),
    case("qr", TALL, "r"),
    case("qr", ROW),
    *(case("norm", x) for x in (F, ROW, F3, HALF, I, I64, B, np.float32(-2.0), [3, 4])),
    *(case("norm", F, ord=order) for order in ("fro", "nuc", np.inf, -np.inf, 1, -1, 2, -2, 0, 3)),
    *(case("norm", ROW, ord=order) for order in (np.inf, -np.inf, 0, 1, -1, 2, -2, 2.5, "fro")),
    *(
        case("norm", F3, axis=axis, keepdims=keep)
        for axis in (1, -1, (0, 2), [-2, -1], (2, 0))
        for keep in (False, True)
    ),
    *(case("norm", F3, ord=order, axis=(0, -1)) for order in ("nuc", 1, -2, np.inf)),
    case("norm", F3, ord=1, axis=1, keepdims=True),
    case("norm", F3, ord=1),
    case("norm", F3, keepdims=True),
    case("norm", I, ord=1, axis=0),
    case("norm", HALF, axis=-1),
    case("solve", SQUARE, VECTORS),
    case("solve", SQUARE, MATRICES),
    case("solve", SQUARE[0], VECTORS[0]),
    case("solve", SQUARE[0].astype("float64"), MATRICES[0].astype("float64")),
    *(case("solve_triangular", SQUARE, x, lower=lower) for x in (VECTORS, MATRICES) for lower in (False, True)),
    case("solve_triangular", SQUARE[1], VECTORS[0]),
    case("solve_triangular", F, ROW),
    case("lstsq", TALL, TALL[:, 0] + 1),
    case("lstsq", TALL, TALL[:, :2] + np.arange(10, dtype="float32").reshape(5, 2)),
    case("lstsq", F, ROW[:3]),
    case("lstsq", F, G, rcond=0.3),
    case("lstsq", SINGULAR, VECTORS[0], rcond=1e-4),
    case("lstsq", DOUBLE, DOUBLE[:, 1]),
    case("lstsq", F, ROW),
    *(case("matrix_rank", x) for x in (F, SINGULAR, SQUARE, np.zeros((2, 3), "float32"), DOUBLE)),
    case("matrix_rank", F, tol=1.5),
    case("matrix_rank", SQUARE, 2.0),
    case("matrix_rank", ROW),
    *(case("pinv", x) for x in (F, SINGULAR, SQUARE, DOUBLE)),
    case("pinv", F, rcond=0.3),
    case("pinv", SQUARE, 0.5),
    case("cdist", F, G),
    case("cdist", F3, G),
    case("cdist", F3, F3[:1, :2]),
    case("cdist", DOUBLE, F),
    case("cdist", HALF, HALF),
    case("cdist", I, I[:2]),
    case("cdist", F3, F3),
    case("cdist", F[:0], G),
    case("cdist", F, ROW),
    case("cdist", F, TALL),
    case("jvp", square, (F,), (ROW,), symbolic=False),
]

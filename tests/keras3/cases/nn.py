import numpy as np

from tests.keras3.cases.inputs import (
    COUNTS,
    DOUBLE,
    EMPTY,
    F3,
    HALF,
    I8,
    I64,
    POSITIVE,
    ROW,
    SCALAR,
    UNIT,
    B,
    C,
    F,
    G,
    I,
    case,
)

_draw = np.random.default_rng(22)
LABELS = np.array([[0, 2, 1], [3, -1, 0]], "int32")
P = _draw.dirichlet(np.ones(4), (3, 2)).astype("float32")  # probabilities along the last axis
T = _draw.dirichlet(np.ones(4), (3, 2)).astype("float32")
SURE = np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]], "float32")
NUMBERS = np.array([[1, 0], [3, 2], [0, 0]], "int64")
COLUMN = _draw.uniform(0.5, 1.5, 3).astype("float32")
GRID = _draw.uniform(0.5, 1.5, (3, 4)).astype("float32")
Q, K, V = (_draw.uniform(-1.0, 1.0, (2, length, 4, 3)).astype("float32") for length in (5, 6, 6))
K1, V1, K2, V2 = K[:, :, :1], V[:, :, :1], K[:, :, :2], V[:, :, 2:]
BIAS = _draw.uniform(-1.0, 1.0, (2, 4, 5, 6)).astype("float32")
MASK = _draw.uniform(size=(2, 1, 5, 6)) > 0.4
BLIND = MASK & (np.arange(5)[:, None] != 2)  # the third query sees nothing
HUGE = (F3 * 3e4).astype("float16")
CROSSENTROPIES = ("binary_crossentropy", "categorical_crossentropy")

CASES = [
    # classes
    *(case("one_hot", LABELS, 4, axis) for axis in (-1, 0, 1, 2)),
    *(case("one_hot", LABELS, 5, dtype=dtype) for dtype in ("float32", "float16", "int32", "int64", "bool")),
    *(case("one_hot", x, 6) for x in (COUNTS - 1, LABELS.astype("int64"), POSITIVE, B, 1, [0, 2], 2.5)),
    case("one_hot", np.zeros((0,), "int32"), 3),
    case("one_hot", np.zeros((0, 2), "int32"), 3, 0),
    case("one_hot", LABELS, num_classes=4, sparse=True),
    *(case("multi_hot", LABELS, 4, axis) for axis in (-1, 0, 1, 2)),
    *(case("multi_hot", LABELS, 5, dtype=dtype) for dtype in ("float32", "float16", "int32", "int64", "bool")),
    *(case("multi_hot", x, num_classes=6) for x in ([0, 4], COUNTS - 1, POSITIVE, 3, LABELS[:, :, None])),
    case("multi_hot", LABELS, num_tokens=4),
    case("multi_hot", LABELS),
    case("multi_hot", LABELS, 4, sparse=True),
    # crossentropies
    *(case(name, T, P, logits) for name in CROSSENTROPIES for logits in (True, False)),
    *(case(name, T, P * 9 - 3, from_logits=True) for name in CROSSENTROPIES),
    *(case(name, T.astype("float64"), P.astype("float64")) for name in CROSSENTROPIES),
    *(case(name, T.astype("float16"), P.astype("float16"), x) for name in CROSSENTROPIES for x in (True, False)),
    *(case(name, SURE[::-1].copy(), SURE) for name in CROSSENTROPIES),
    *(case(name, T[:2], P) for name in CROSSENTROPIES),
    *(case(name, T[:0], P[:0]) for name in CROSSENTROPIES),
    *(case(name, [0.0, 1.0], [0.25, 0.75]) for name in CROSSENTROPIES),
    case("binary_crossentropy", 1.0, 0.25),
    case("binary_crossentropy", T.astype("float64"), P, from_logits=True),
    *(case("categorical_crossentropy", T, P * 2, logits, axis) for logits in (True, False) for axis in (0, 1, -2)),
    case("categorical_crossentropy", (T > 0.3).astype("int32"), P),
    case("categorical_crossentropy", T > 0.3, P, from_logits=True),
    case("categorical_crossentropy", T.astype("float64"), P),
    *(case("sparse_categorical_crossentropy", NUMBERS, P * 2, logits) for logits in (True, False)),
    *(case("sparse_categorical_crossentropy", NUMBERS[:, :, None], P, logits) for logits in (True, False)),
    *(case("sparse_categorical_crossentropy", NUMBERS[:, 0], x) for x in (P[:, 0], P[:, 0].astype("float64"))),
    *(case("sparse_categorical_crossentropy", NUMBERS[:, 0].astype(t), P[:, 0], True) for t in ("uint8", "float32")),
    *(case("sparse_categorical_crossentropy", NUMBERS[:, 0], P[:, 0].astype("float16"), x) for x in (True, False)),
    *(
        case("sparse_categorical_crossentropy", NUMBERS, np.moveaxis(P, -1, axis).copy(), logits, axis)
        for axis in (0, 1, -2)
        for logits in (True, False)
    ),
    *(case("sparse_categorical_crossentropy", x, P[0, 0], logits) for x in (2, [2]) for logits in (True, False)),
    case("sparse_categorical_crossentropy", NUMBERS[:2], P),
    case("sparse_categorical_crossentropy", NUMBERS[:0], P[:0]),
    case("sparse_categorical_crossentropy", NUMBERS[:, 0] + 9, P[:, 0], symbolic=False),
    # normalizations
    *(case("moments", F3, axes, keep) for axes in (0, -1, (0,), [1, 2], (0, -1), (0, 1, 2)) for keep in (False, True)),
    *(case("moments", x, 0) for x in (F, HALF, DOUBLE, ROW)),
    case("moments", HUGE, (0, 1)),
    case("moments", HUGE, (0, 1), keepdims=True),
    case("moments", EMPTY, -1),
    case("moments", I, 0),
    case("moments", F, 0, synchronized=True),
    case("batch_normalization", F, ROW, GRID[0], -1),
    case("batch_normalization", F, ROW, GRID[0], 1, GRID[1], GRID[2]),
    case("batch_normalization", F3, COLUMN, COLUMN, axis=1, offset=COLUMN, scale=COLUMN, epsilon=0.1),
    case("batch_normalization", F3, F3[:, 0, 0], COLUMN[:2], 0, scale=COLUMN[1:]),
    case("batch_normalization", F3, COLUMN, COLUMN, -2, offset=COLUMN),
    *(case("batch_normalization", x, ROW, GRID[0], -1, GRID[1]) for x in (HALF, DOUBLE, I, EMPTY)),
    case("batch_normalization", HALF, HALF[0], GRID[0].astype("float16"), -1),
    case("batch_normalization", F, [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], -1, scale=[1, 2, 3, 4]),
    # Along the last axes, or axes that do not meet: along others, Keras on torch takes the last ones for them.
    *(case("layer_normalization", x) for x in (F, F3, ROW, HALF, DOUBLE, I, I64, I8, EMPTY)),
    *(case("layer_normalization", x, GRID[0], GRID[1]) for x in (F, F3, ROW, HALF, DOUBLE)),
    case("layer_normalization", F, GRID[0], epsilon=0.1),
    case("layer_normalization", F, beta=GRID[0], axis=1),
    case("layer_normalization", F, COUNTS[0], I64[0]),
    *(case("layer_normalization", F3, GRID, GRID + 1, axis) for axis in ((1, 2), [-2, -1], (2, 1))),
    *(case("layer_normalization", F3, GRID[:2], GRID[1:], axis) for axis in ((0, 2),)),
    case("layer_normalization", F3, axis=(0, 1, 2)),
    *(case("layer_normalization", x, GRID[0], rms_scaling=True) for x in (F, F3, HALF)),
    case("layer_normalization", F3, GRID[:2], axis=(0, 2), rms_scaling=True),
    case("layer_normalization", F3, axis=0, rms_scaling=True, epsilon=0.5),
    *(case("rms_normalization", x) for x in (F, F3, ROW, HALF, DOUBLE, I, I64, I8, EMPTY)),
    *(case("rms_normalization", x, GRID[0]) for x in (F, F3, ROW, HALF, DOUBLE)),
    *(case("rms_normalization", F3, GRID, axis) for axis in ((1, 2), [-2, -1])),
    case("rms_normalization", F3, axis=(0, 2)),
    case("rms_normalization", F, COUNTS[0], 1, 0.1),
    case("rms_normalization", F, epsilon=0.5),
    *(case("normalize", x) for x in (F, F3, ROW, HALF, DOUBLE, SCALAR, EMPTY, I, I64, I8, B, [3, 4], F * 0)),
    *(case("normalize", F3, axis, order) for axis in (0, 1, -1) for order in (1, 2, 3)),
    *(case("normalize", F3, axis, 2) for axis in ((0, 1), [1, 2], (0, 1, 2), None)),
    *(case("normalize", F3, axis, 1) for axis in ((0, 1), (1, 2))),
    *(case("normalize", x, order=order) for x in (HALF, DOUBLE, I, I64, B, F * 0, SCALAR) for order in (1, 3)),
    *(case("normalize", F, epsilon=3.0, order=order) for order in (1, 2, 3)),
    *(case("normalize", F, order=order) for order in (0, 1.5, 2.0)),
    # attention
    case("dot_product_attention", Q, K, V),
    case("dot_product_attention", Q, K, V, BIAS),
    case("dot_product_attention", Q, K, V, bias=BIAS[:1, :1]),
    *(case("dot_product_attention", Q, K, V, mask=mask) for mask in (MASK, BLIND, MASK.astype("int32"), MASK[:1])),
    case("dot_product_attention", Q, K, V, mask=MASK, is_causal=True),
    case("dot_product_attention", Q, K, V, is_causal=True),
    case("dot_product_attention", Q, Q, Q, scale=0.25, is_causal=True),
    case("dot_product_attention", Q, K, V, scale=2.0, flash_attention=False),
    case("dot_product_attention", Q, K1, V1),
    case("dot_product_attention", Q, K2, V2, mask=MASK),
    *(case("dot_product_attention", *(x.astype(t) for x in (Q, K, V)), mask=BLIND) for t in ("float64", "float16")),
    case("dot_product_attention", Q.astype("float16"), K, V.astype("float16"), BIAS.astype("float64")),
    case("dot_product_attention", Q, K, V, BIAS, MASK),
    case("dot_product_attention", Q[0], K[0], V[0]),
    case("dot_product_attention", Q, K, V, attn_logits_soft_cap=1.0),
    # others
    *(case("polar", x, y) for x in (POSITIVE, COUNTS) for y in (F, DOUBLE, ROW, I)),
    *(case("polar", x, y) for x, y in ((1.5, 2.0), (2, F), (SCALAR, SCALAR), (EMPTY, EMPTY))),
    *(case("psnr", F, G, max_val) for max_val in (1, 2.0, 255)),
    *(case("psnr", x, x * 2, max_val=1.0) for x in (F3, HALF, DOUBLE, UNIT)),
    case("psnr", F, F, 1.0),
    case("psnr", DOUBLE, G, 1.0),
    case("psnr", F, ROW, 1.0),
    case("psnr", C, F3, 1.0),
]

import numpy as np

from tests.keras3.cases.inputs import (
    COUNTS,
    DOUBLE,
    EMPTY,
    F3,
    HALF,
    I8,
    I64,
    NANS,
    POSITIVE,
    ROW,
    SCALAR,
    U8,
    UNIT,
    B,
    F,
    G,
    I,
    case,
)

_draw = np.random.default_rng(7)
F4 = _draw.uniform(-2.0, 2.0, (2, 3, 2, 2)).astype("float32")
HOLES = np.where(F > 1, np.nan, F).astype("float32")  # numbers and NaN, no infinities
HOLES3 = np.where(F3 > 1, np.nan, F3).astype("float32")
HOLLOW = HOLES.copy()
HOLLOW[1] = np.nan  # a row of nothing else
COMPLEX = (F + 1j * G).astype("complex64")
TYPES = (F, HALF, DOUBLE, I, I64, I8, U8)
AXES = (0, 1, -1, (0, 1), (0, 2), [2, 0], (-1, -3), None)  # of three axes
NAN_TYPES = (HOLES, HOLES.astype("float16"), HOLES.astype("float64"), HOLLOW, F, I, I64, U8)

# Without an axis genuine Keras forgets `keepdims` in the others, and over no axes it gives some whole numbers as they
# are: see test_reductions.py.
KEEP_ALL = "all any logsumexp mean quantile std var argmax argmin nanmax nanmean nanmin nansum nanvar nanstd nanmedian"
OF_AXES = "all any amax amin max min sum prod mean median std var logsumexp ptp"
NAN_OF_AXES = "nanmax nanmin nansum nanprod nanmean nanmedian nanstd nanvar"
PLACES = "argmax argmin"
NAN_PLACES = "nanargmax nanargmin"
RUNNING = "cumsum cumprod nancumsum nancumprod"
METHODS = ("linear", "lower", "higher", "midpoint", "nearest")
NO_AXES = "all any amax amin max min sum prod mean median var nanmax nanmin nansum nanprod nanmean nanmedian"

CASES = [
    *(case(name, x) for name in OF_AXES.split() for x in (*TYPES, SCALAR, [[1.0, 2.0], [3.0, 5.0]], [1, 2], 3)),
    *(case(name, x, 1) for name in OF_AXES.split() for x in TYPES),
    *(case(name, F3, axis) for name in OF_AXES.split() for axis in AXES),
    *(case(name, F3, axis, keepdims=True) for name in OF_AXES.split() for axis in AXES[:-1]),
    *(case(name, F4, (1, 3), True) for name in OF_AXES.split()),
    *(case(name, B, axis) for name in OF_AXES.split() if name != "ptp" for axis in (None, 0)),
    *(case(name, NANS, axis) for name in OF_AXES.split() for axis in (None, 0, -1)),
    *(case(name, EMPTY, 1) for name in ("all", "any", "sum", "prod", "mean", "logsumexp")),
    *(case(name, EMPTY) for name in ("all", "any", "sum", "prod")),
    *(case(name, EMPTY) for name in ("max", "min", "amax", "argmax")),
    *(case(name, F, axis=()) for name in NO_AXES.split()),
    *(case("ptp", x, ()) for x in (F, I)),
    *(case(name, F, axis) for name in (*OF_AXES.split(), "argmax", "nanmedian", "cumsum") for axis in (2, -3)),
    *(
        case(name, F3 if "nan" not in name else HOLES3, keepdims=True)
        for name in KEEP_ALL.split()
        if name != "quantile"
    ),
    *(case(name, COMPLEX, 0) for name in ("sum", "prod", "mean", "all")),
    # whole numbers that do not fit, and a type of one's own
    *(case("sum", x * 40, axis) for x in (I8, U8) for axis in (None, 0)),
    case("prod", COUNTS.astype("int8"), 1),
    *(case("prod", x, 1, dtype=dtype) for x in (F, I, B) for dtype in ("float64", "int64", "int32", "float16")),
    case("prod", F3, (0, 2), True, "float64"),
    # `initial`
    *(case(name, x, initial=1) for name in ("max", "min") for x in (F, HALF, I, I64, SCALAR)),
    *(case(name, F3, axis, True, -0.5) for name in ("max", "min") for axis in (1, (0, 2))),
    *(case(name, F3, 1, initial=0.5) for name in ("max", "min")),
    *(case(name, EMPTY, initial=2.5) for name in ("max", "min")),
    *(case(name, EMPTY, keepdims=True, initial=2.5) for name in ("max", "min")),
    # places
    *(case(name, x) for name in PLACES.split() for x in (*TYPES, B, SCALAR, [3, 1, 2])),
    *(case(name, F3, axis, keep) for name in PLACES.split() for axis in (0, -1, 2, None) for keep in (False, True)),
    *(case(name, x, 0) for name in PLACES.split() for x in (I, B, HALF)),
    *(
        case(name, x)
        for name in NAN_PLACES.split()
        for x in (*NAN_TYPES, HOLES[:0] + np.zeros((2, 1), "float32")[:0], B)
    ),
    *(case(name, x, 1) for name in NAN_PLACES.split() for x in (*NAN_TYPES, NANS)),
    *(case(name, HOLES3, axis, keepdims=True) for name in NAN_PLACES.split() for axis in (0, -1, None)),
    # without NaN
    *(case(name, x, axis) for name in NAN_OF_AXES.split() for x in NAN_TYPES for axis in (None, 1)),
    *(case(name, HOLES3, axis) for name in NAN_OF_AXES.split() for axis in AXES),
    *(case(name, HOLES3, axis, True) for name in NAN_OF_AXES.split() for axis in AXES[:-1]),
    *(case(name, NANS, axis) for name in NAN_OF_AXES.split() for axis in (None, 0)),
    *(case(name, HOLES, axis=()) for name in NAN_OF_AXES.split() if name != "nanstd"),
    *(case(name, B) for name in NAN_OF_AXES.split()),
    # running totals: of infinities without NaN, and in 64 bits, see test_reductions.py
    *(case(name, x) for name in RUNNING.split() for x in (*TYPES, B, SCALAR, [1, 2, 3])),
    *(case(name, HOLES3, axis) for name in RUNNING.split() for axis in (0, 1, -1, None)),
    *(case(name, HOLES.astype("float16"), 1) for name in RUNNING.split()),
    *(case(name, I, 1, dtype) for name in RUNNING.split() for dtype in ("float32", "int32", "int8", "float16", "bool")),
    *(case(name, F, dtype="int32") for name in RUNNING.split()),
    *(case(name, EMPTY, axis) for name in RUNNING.split() for axis in (0, 1)),
    *(case(name, I8 * 40, 0) for name in RUNNING.split()),
    # quantiles
    *(case(name, x, 0.3) for name in ("quantile", "nanquantile") for x in (*TYPES, HOLES, SCALAR)),
    *(case(name, x, 30) for name in ("percentile", "nanpercentile") for x in (*TYPES, HOLES, SCALAR)),
    *(case("quantile", F3, [0.1, 0.8], axis, method=method) for axis in (0, (0, 2), None) for method in METHODS),
    *(case("nanquantile", HOLES3, [0.1, 0.8], axis, method) for axis in (-1, (1, 2)) for method in METHODS),
    *(case("percentile", F3, [10, 80.5], axis, method=method) for axis in (0, (0, 2)) for method in METHODS),
    *(case("nanpercentile", HOLES3, [10, 80], axis, method) for axis in (-1, None) for method in METHODS),
    *(
        case(name, HOLES3, q, axis, keepdims=True)
        for name in ("quantile", "nanquantile", "percentile", "nanpercentile")
        for q in (0.5, [0.25, 0.75, 1.0])
        for axis in (1, -1, (2, 0), None)
    ),
    *(case(name, F, np.array([0.0, 0.5]), 1) for name in ("quantile", "nanquantile", "percentile", "nanpercentile")),
    case("quantile", F, 0.5, ()),
    *(case(name, COMPLEX) for name in ("median", "nanmedian")),
    case("median", F3, (0, 1), True),
    *(case("median", F[:, :3], axis) for axis in (0, 1)),
    # averages: of weights along another axis than the last, see test_reductions.py
    *(case("average", x, axis) for x in TYPES for axis in (None, 0)),
    *(case("average", F3, axis) for axis in ((0, 1), -1)),
    case("average", B, 0),
    case("average", F, 1, POSITIVE[0]),
    case("average", I, 1, COUNTS[0]),
    case("average", I64, -1, weights=COUNTS[0]),
    case("average", HALF, 1, weights=HALF[0] ** 2),
    case("average", HALF, 1, weights=POSITIVE[0]),
    case("average", F, 1, POSITIVE),
    case("average", DOUBLE, -1, POSITIVE),
    case("average", ROW, weights=POSITIVE[0]),
    case("average", F, ()),
    # counts: the matrix of them genuine Keras turns, and rows of other lengths it refuses, see test_reductions.py
    *(case("count_nonzero", x, axis) for x in (*TYPES, B, EMPTY) for axis in (None, 0, 1, (0, 1))),
    *(case("count_nonzero", (I > 0) * F, axis) for axis in (None, 0, ())),
    case("count_nonzero", np.floor(F3), (0, 2)),
    *(case("bincount", x, symbolic=False) for x in (COUNTS[0], U8[0], I64[0] ** 2, [1, 1, 4], COUNTS[0][:0])),
    *(case("bincount", COUNTS[0], minlength=n, symbolic=False) for n in (3, 9)),
    *(case("bincount", COUNTS[0], x, symbolic=False) for x in (ROW, I[0], I64[0], DOUBLE[0], HALF[0], [1, 2, 3, 4])),
    case("bincount", np.minimum(COUNTS, 4), F, 9, symbolic=False),
    case("bincount", COUNTS, I, minlength=6, symbolic=False),
    case("bincount", COUNTS[0], sparse=True),
    case("bincount", I[0] - 9),
    case("bincount", ROW**2),
    # correlation and integrals
    *(case("corrcoef", x) for x in (F, HALF, DOUBLE, I, I64, B, ROW, COMPLEX)),
    case("corrcoef", F[:1]),
    case("corrcoef", np.stack([ROW, ROW * 2, -ROW])),
    *(case("trapezoid", x) for x in (*TYPES, B, F3)),
    *(case("trapezoid", F3, dx=dx, axis=axis) for dx, axis in ((0.5, 0), (2, 1), (1.5, -1))),
    *(case("trapezoid", x, ROW) for x in (F, HALF, DOUBLE, I)),
    case("trapezoid", I, COUNTS[0]),
    case("trapezoid", F, G),
    case("trapezoid", F, ROW[:3], axis=0),
    case("trapezoid", I, dx=2),
    # closeness
    *(case("allclose", F, F + x) for x in (0, 1e-6, 1e-3)),
    case("allclose", F, F + 0.01, 0.0, 0.02),
    case("allclose", F, F[0]),
    case("allclose", NANS, NANS),
    case("allclose", NANS, NANS, equal_nan=True),
    case("allclose", I, I64),
    case("allclose", I, I + 1, rtol=9.0),
    case("allclose", HALF, F, rtol=1e-2),
    case("allclose", UNIT, 1.0, atol=9),
]

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
    C,
    F,
    G,
    I,
    case,
)

_draw = np.random.default_rng(6)
COMPLEX = (F + 1j * G).astype("complex64")
COMPLEX_2, HALF_2, NANS_2, I8_2 = (np.flip(x, 0).copy() for x in (COMPLEX, HALF, NANS, I8))
ABOVE_ONE = (1 + POSITIVE).astype("float32")
PAIRS = _draw.uniform(-2.0, 2.0, (3, 2)).astype("float32")
LONG = np.array([-(2.0**40), -1e9, -300.5, -1.5, 0.0, 127.7, 255.6, 70000.0, 3e9, 2.0**63], "float32")
INFINITE = np.array([-np.inf, -3.4e38, 5.5, 3.4e38, np.inf], "float32")
BIG = np.array([-(2**62), -(2**31) - 1, -129, -1, 0, 200, 2**31, 2**62], "int64")
COLUMN = F[:, :1]
SHIFTS = (COUNTS % 3).astype("int32")
HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.0, -0.0], "float32")
ONES = COUNTS.astype("float32") - COUNTS
NUMBERS = (F, HALF, DOUBLE, I, I64, I8, U8)  # the types
REALS = (F, HALF, DOUBLE)
WHOLES = (I, I64, I8, U8)
SHAPES = (SCALAR, EMPTY, 3, [[1.0, 2.0]])

OF_ANY = (
    "absolute abs arctan arcsinh ceil copy cos cosh deg2rad erf erfc exp exp2 expm1 fabs floor i0 angle "
    "isfinite isinf isnan isneginf isposinf isreal logical_not nan_to_num rad2deg "
    "sign signbit sin sinc sinh square tan tanh trunc ones_like zeros_like"
)
OF_POSITIVE = "log log10 log1p log2 reciprocal rsqrt sqrt cbrt"
OF_UNIT = "arccos arcsin arctanh erfinv"
OF_COMPLEX = (
    "abs absolute angle arccos arccosh arcsin arcsinh arctan arctanh conj conjugate copy cos cosh exp exp2 imag "
    "isfinite isnan isinf isreal log log10 log2 logical_not negative ones_like real reciprocal rsqrt sin sinc sinh "
    "sqrt square tan tanh view_as_real zeros_like"
)
PAIRS_OF_ANY = (
    "add arctan2 divide divide_no_nan equal fmax fmin greater greater_equal hypot less less_equal logaddexp logaddexp2 "
    "logical_and logical_or logical_xor maximum minimum multiply not_equal subtract true_divide heaviside isclose"
)
REMAINDERS = "mod fmod floor_divide"
BITS = "bitwise_and bitwise_or bitwise_xor"
SHIFTED = "left_shift right_shift bitwise_left_shift bitwise_right_shift"


CASES = [
    *(case(name, x) for name in OF_ANY.split() for x in (*NUMBERS, B, *SHAPES, NANS)),
    # of arrays alone, in genuine Keras
    *(case(name, x) for name in ("conj", "conjugate", "real") for x in (*NUMBERS, B, EMPTY)),
    *(
        case(name, x)
        for name in OF_POSITIVE.split()
        for x in (POSITIVE, HALF**2, POSITIVE.astype("float64"), COUNTS, U8, True)
    ),
    *(case(name, x) for name in OF_POSITIVE.split() for x in (F, COUNTS.astype("int64"), SCALAR, EMPTY, 2)),
    *(
        case(name, x)
        for name in OF_UNIT.split()
        for x in (UNIT, UNIT.astype("float16"), UNIT.astype("float64"), 0.5, 0, EMPTY)
    ),
    *(case(name, x) for name in OF_UNIT.split() for x in (B & False, I * 0, ABOVE_ONE)),
    *(case("arccosh", x) for x in (ABOVE_ONE, ABOVE_ONE.astype("float16"), COUNTS, COUNTS.astype("int64"), 1.5, F)),
    *(case("cbrt", x) for x in (I, I64, HALF, B, DOUBLE)),
    *(case(name, COMPLEX) for name in OF_COMPLEX.split()),
    case("fabs", COMPLEX),
    case("imag", F),
    case("view_as_real", F),
    *(case("negative", x) for x in (*NUMBERS, *SHAPES)),
    case("negative", B),
    *(case(name, x) for name in ("bitwise_not", "bitwise_invert") for x in (I, I64, I8, U8, B, 3)),
    case("bitwise_not", F),
    # round
    *(case("round", x) for x in (F, DOUBLE, HALF, HALVES, I, SCALAR, EMPTY, NANS)),
    *(case("round", x, decimals) for x in (F, DOUBLE, I, I8) for decimals in (1, 3)),
    case("round", COMPLEX),
    case("round", 100 * F, -1),
    case("round", 7 * I, decimals=-1),
    # nan_to_num
    case("nan_to_num", NANS, 1.5),
    case("nan_to_num", NANS, nan=-1.0, posinf=9.0),
    case("nan_to_num", NANS.astype("float16"), neginf=-9.0, posinf=2),
    case("nan_to_num", NANS.astype("float64")),
    # clip
    *(case("clip", x, -1, 1) for x in (F, HALF, DOUBLE, I, I64, I8, SCALAR, EMPTY)),
    *(case("clip", x, -0.5, 1.5) for x in (F, HALF, I, NANS)),
    case("clip", B, 0, 1),
    case("clip", F, ROW - 1, ROW + 1),
    case("clip", F3, -POSITIVE, POSITIVE),
    case("clip", HALF, -POSITIVE, POSITIVE),
    case("clip", F, x_min=1.0, x_max=-1.0),
    # saturate_cast; of floats to 32 bits and more, genuine Keras gives the least number for the greatest, and of int64
    # to floats for all: see test_elementwise.py
    *(
        case("saturate_cast", LONG, name)
        for name in ("uint8", "int8", "int16", "bool", "float16", "bfloat16", "float64")
    ),
    *(case("saturate_cast", BIG, name) for name in ("uint8", "int8", "int32", "int64", "bool")),
    *(case("saturate_cast", INFINITE, name) for name in ("uint8", "int16", "float16", "float32")),
    *(case("saturate_cast", INFINITE.astype("float64") * 10, name) for name in ("float32", "int16", "float16")),
    *(case("saturate_cast", LONG[2:7].astype("float16"), name) for name in ("int16", "uint8", "float32")),
    case("saturate_cast", U8, "int8"),
    case("saturate_cast", I8, "uint8"),
    case("saturate_cast", I8, "bool"),
    case("saturate_cast", B, "uint8"),
    # complex numbers
    case("view_as_complex", PAIRS),
    case("view_as_complex", PAIRS.astype("float64")),
    case("view_as_complex", PAIRS.astype("float16")),
    case("view_as_complex", COUNTS[:, :2]),
    case("view_as_complex", F),
    case("view_as_complex", 1.0),
    # of two
    *(case(name, F, x) for name in PAIRS_OF_ANY.split() for x in (G, ROW, COLUMN, I, 2, 2.5, B)),
    *(case(name, HALF, x) for name in PAIRS_OF_ANY.split() for x in (HALF_2, G, I, 0.5)),
    *(case(name, DOUBLE, x) for name in PAIRS_OF_ANY.split() for x in (G, I64, 0.5)),
    *(case(name, I, x) for name in PAIRS_OF_ANY.split() for x in (COUNTS, I64, I8, 2, 0.5, B)),
    *(case(name, I64, x) for name in PAIRS_OF_ANY.split() for x in (0.5, HALF)),
    *(case(name, x, y) for name in PAIRS_OF_ANY.split() for x, y in ((U8, I8), (2, F), (2, 3), (F3, ROW))),
    *(case(name, x, y) for name in PAIRS_OF_ANY.split() for x, y in ((EMPTY, ROW), (SCALAR, SCALAR))),
    *(case(name, [1.5], [2, 3]) for name in PAIRS_OF_ANY.split() if name != "divide_no_nan"),
    *(case(name, B, C) for name in PAIRS_OF_ANY.split() if name not in ("subtract", "hypot")),
    *(case(name, NANS, x) for name in PAIRS_OF_ANY.split() for x in (NANS_2, 0.0) if name != "heaviside"),
    *(case(name, ONES, x) for name in ("heaviside",) for x in (F, ROW, 0.5, 2)),
    *(case(name, F, ONES) for name in ("divide", "divide_no_nan", "true_divide")),
    *(case("divide_no_nan", I, x) for x in (COUNTS - 3, 0)),
    *(case(name, COMPLEX, COMPLEX_2) for name in ("add", "subtract", "multiply", "divide", "equal", "not_equal")),
    *(case(name, F, COMPLEX) for name in ("add", "subtract", "multiply", "divide")),
    *(case(name, F, x) for name in REMAINDERS.split() for x in (G, ROW, COUNTS, SCALAR, 2, 0.5, -0.75)),
    *(case(name, x, COUNTS) for name in REMAINDERS.split() for x in (I, I64, I8, HALF, DOUBLE, B)),
    *(case(name, x, 2) for name in REMAINDERS.split() for x in (I, I64, I8, U8, HALF, DOUBLE)),
    *(case(name, I, x) for name in REMAINDERS.split() for x in (-COUNTS, -3, 1.5)),
    *(case(name, HALF, x) for name in REMAINDERS.split() for x in (HALF_2, 0.5)),
    *(case(name, B, B | True) for name in ("mod", "fmod")),
    *(case(name, I64, COUNTS.astype("int64")) for name in REMAINDERS.split()),
    *(case(name, 7, 2) for name in REMAINDERS.split()),
    *(case("power", POSITIVE, x) for x in (F, ROW, I, 2, 0.5, -1, SCALAR)),
    *(case("power", F, x) for x in (2, 3.0, I)),
    *(case("power", COUNTS, x) for x in (SHIFTS, 2, 0.5, F, COUNTS.astype("int64"))),
    *(case("power", x, 2) for x in (HALF, DOUBLE, I64, I8, B, EMPTY)),
    case("power", 2, COUNTS),
    case("power", 2.5, COUNTS),
    case("power", COMPLEX, 2),
    *(
        case(name, x, y)
        for name in BITS.split()
        for x, y in ((I, COUNTS), (I64, I), (I8, I8_2), (U8, I8), (B, C), (I, 3))
    ),
    *(case(name, x, y) for name in BITS.split() for x, y in ((6, I), ([1, 2], [3, 1]), (F, 3))),
    *(
        case(name, x, y)
        for name in SHIFTED.split()
        for x, y in ((COUNTS, SHIFTS), (U8, 2), (I64, SHIFTS), (I8, 1), (5, SHIFTS))
    ),
    case("right_shift", I, SHIFTS),
    case("left_shift", F, 2),
    *(case(name, I, x) for name in ("gcd", "lcm") for x in (COUNTS, COUNTS[0], I64, I8, 6)),
    *(case(name, x, 4) for name in ("gcd", "lcm") for x in (I64, U8, [6, 8])),
    case("gcd", F, 2),
    *(case("ldexp", F, x) for x in (I, I64, I8, 2, I[0])),
    *(case("ldexp", x, COUNTS) for x in (HALF, DOUBLE, I, I64, B, 1.5, F3)),
    case("ldexp", F, F),
    case("ldexp", F, B),
    # nextafter: of half precision and where x1 is zero genuine Keras returns x1; see test_elementwise.py
    *(case("nextafter", F, x) for x in (G, ROW, COUNTS, 5, SCALAR)),
    *(case("nextafter", x, 1) for x in (COUNTS, DOUBLE, U8)),
    # closeness
    *(case("isclose", F, F + x) for x in (1e-6, 1e-4)),
    case("isclose", F, F + 0.01, 0.1),
    case("isclose", F, F + 0.01, rtol=0.0, atol=0.02),
    case("isclose", NANS, NANS),
    case("isclose", NANS, NANS, equal_nan=True),
    case("isclose", HALF, F, 1e-3),
    case("isclose", I, I64),
    case("isclose", I, I + 1, 1.0),
    # where
    case("where", B, F, G),
    case("where", B[0], F3, 0.0),
    case("where", I, 1, F),
    case("where", B, I, 2.5),
    case("where", B, HALF, 0.0),
    case("where", B, HALF, F),
    case("where", B, x1=I, x2=I64),
    case("where", [True, False], [1, 2], [3.5, 4.5]),
    case("where", True, F, G),
    case("where", B, symbolic=False),  # the shape depends on the values
    case("where", F, symbolic=False),
    case("where", I, symbolic=False),
    case("where", F3 > 0, symbolic=False),
    case("where", B, F),
    case("where", B, None, F),
    # like another
    *(
        case(name, F, dtype)
        for name in ("ones_like", "zeros_like")
        for dtype in ("int32", "float64", "bool", "bfloat16")
    ),
    *(case("full_like", x, 3) for x in (F, HALF, I, I64, B, EMPTY, SCALAR)),
    *(case("full_like", I, x) for x in (2.75, True)),
    case("full_like", F, 2.75, "int32"),
    case("full_like", I, 2.75, dtype="float16"),
    case("full_like", F, ROW),
    case("full_like", F3, ROW, "float64"),
    case("full_like", F, [1, 2, 3, 4]),
    case("empty_like", EMPTY),  # no values: those of others are not set
    case("empty_like", EMPTY, "int32"),
]

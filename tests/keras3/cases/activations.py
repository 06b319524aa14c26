import numpy as np

from tests.keras3.cases.inputs import DOUBLE, EMPTY, F3, HALF, I8, I64, NANS, SCALAR, U8, B, F, I, case

OF_REALS = (
    *("celu", "elu", "gelu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_swish", "leaky_relu", "log_sigmoid"),
    *("selu", "silu", "soft_shrink", "softplus", "swish"),
)
OF_ALL = ("sigmoid", "softsign", "sparse_plus", "sparse_sigmoid", "squareplus", "tanh_shrink")  # and of whole numbers
OF_LIMITS = ("hard_tanh", "relu", "relu6")  # which leave them whole
SIX = np.linspace(-9.0, 9.0, 12, dtype="float32").reshape(2, 6)
ONE_ABOVE = np.array([[4.0, 1.0, -2.0], [0.0, 2.5, 1.0], [-1.0, -9.0, -3.0]], "float32")  # by 1 or more

CASES = [
    *(case(name, x) for name in (*OF_REALS, *OF_ALL, *OF_LIMITS) for x in (F, F3, HALF, DOUBLE, SCALAR, EMPTY, NANS)),
    *(case(name, x) for name in (*OF_REALS, *OF_ALL, *OF_LIMITS) for x in (SIX, 0.5, [1.5, -0.25])),
    *(case(name, x) for name in (*OF_ALL, *OF_LIMITS) for x in (I, I64, I8, 2)),
    # Keras on torch takes -1 for 255 among these, and with it all numbers for small, in sparse_plus and sparse_sigmoid.
    *(case(name, U8) for name in ("sigmoid", "squareplus", "relu", "relu6")),
    *(case(name, B) for name in ("sigmoid", "sparse_plus", "sparse_sigmoid", "squareplus")),
    *(case(name, SIX, alpha) for name in ("celu", "elu") for alpha in (0.5, 2)),
    *(case("gelu", x, approximate) for x in (F, HALF, DOUBLE, SIX) for approximate in (True, False)),
    *(case(name, SIX, threshold) for name in ("hard_shrink", "soft_shrink") for threshold in (0.0, 1.5, 3)),
    *(case("leaky_relu", SIX, slope) for slope in (0.0, 0.01, 1)),
    *(case("squareplus", x, b) for x in (F, HALF, I) for b in (0, 0.5, 4)),
    *(case("threshold", x, 0.5, -1.0) for x in (F, HALF, DOUBLE, SCALAR, EMPTY)),
    case("threshold", I, 1, 7),
    case("threshold", F, threshold=-0.5, default_value=2),
    *(case("glu", F3, axis) for axis in (-1, 2, 0, -3)),
    *(case("glu", x) for x in (F, HALF, DOUBLE, EMPTY)),
    case("glu", F3, 1),  # of odd length
    *(case(name, x) for name in ("softmax", "log_softmax") for x in (F, HALF, DOUBLE, SCALAR, EMPTY, SIX)),
    *(
        case(name, F3, axis)
        for name in ("softmax", "log_softmax")
        for axis in (-1, 0, 1, -2, None, (0,), (1, 2), (0, 2), (2, 0), (0, 1, 2), 3)
    ),
    *(case(name, HALF, None) for name in ("softmax", "log_softmax")),
    # Of one number above 0 in the result: with more, Keras's do not add up to 1.
    *(case("sparsemax", ONE_ABOVE.astype(kind)) for kind in ("float32", "float16", "float64", "int32", "int64")),
    *(case("sparsemax", ONE_ABOVE.T, axis) for axis in (0, -2)),
    *(case("sparsemax", ONE_ABOVE[:, None], axis=axis) for axis in (2, -1)),
    case("sparsemax", EMPTY),
]

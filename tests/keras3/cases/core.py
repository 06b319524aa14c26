import numpy as np

from tests.keras3.cases.inputs import COUNTS, DOUBLE, EMPTY, F3, HALF, I64, ROW, SCALAR, U8, B, F, G, I, case

PLACES = np.array([[0, 1], [2, 3], [0, 1]], "int32")
ROWS = np.array([[0], [2]], "int64")

CASES = [
    *(case("cast", x, "float16") for x in (F, I, B, SCALAR, EMPTY)),
    *(case("cast", F, name) for name in ("int32", "int64", "bool", "uint8", "float64", "bfloat16", "complex64")),
    *(case("convert_to_tensor", x) for x in (F, DOUBLE, HALF, I64, U8, B, 3, 2.5, True, 2**40, [1, 2.5], [[1, 2]], [])),
    case("convert_to_tensor", F, "int32"),
    case("convert_to_tensor", [True, 2]),
    case("convert_to_tensor", 1 + 2j),
    case("convert_to_tensor", F, sparse=True),
    case("convert_to_tensor", np.arange(3, dtype="uint32"), symbolic=False),
    case("scatter", PLACES, ROW[:3], (3, 4)),
    case("scatter", ROWS, F[:2], (3, 4)),
    case("scatter", ROWS, COUNTS[:2], (4, 4)),
    *(case("scatter_update", F, PLACES, ROW[:3], reduction) for reduction in ("add", "max", "min", "mul")),
    case("scatter_update", F, PLACES[:2], ROW[:2]),
    case("scatter_update", F, ROWS, G[:2]),
    case("scatter_update", I, ROWS, COUNTS[:2], "max"),
    case("scatter_update", F, PLACES, ROW[:3], "mean"),
    case("slice", F, (1, 1), (2, 3)),
    case("slice", F3, [0, 1, 2], [1, 2, 2]),
    case("slice_update", F, (1, 1), G[:2, :3]),
    case("slice_update", I, [0, 2], COUNTS[:2, :2]),
    *(case("stop_gradient", x, tensors=True) for x in (F, I)),
]

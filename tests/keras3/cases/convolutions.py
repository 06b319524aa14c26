import itertools

import numpy as np

from tests.keras3.cases.inputs import case

_draw = np.random.default_rng(21)


def _array(*shape):
    return _draw.uniform(-1.0, 1.0, shape).astype("float32")


SHAPES = {1: (2, 7, 4), 2: (2, 7, 6, 4), 3: (2, 5, 6, 4, 4)}
X = {rank: _array(*shape) for rank, shape in SHAPES.items()}
FIRST = {rank: np.moveaxis(x, -1, 1).copy() for rank, x in X.items()}
KERNELS = {1: _array(3, 4, 2), 2: _array(3, 2, 4, 2), 3: _array(2, 3, 1, 4, 2)}
GROUPED = {1: _array(2, 2, 6), 2: _array(3, 3, 1, 4), 3: _array(2, 1, 2, 2, 4)}
TRANSPOSED = {1: _array(3, 2, 4), 2: _array(3, 2, 3, 4), 3: _array(2, 3, 1, 2, 4)}
DEPTHWISE = {1: _array(3, 4, 2), 2: _array(3, 2, 4, 1), 3: _array(2, 3, 1, 4, 2)}
POINTWISE = {1: _array(1, 8, 3), 2: _array(1, 1, 4, 3), 3: _array(1, 1, 1, 8, 3)}
IMAGES = _array(2, 3, 6, 5)
COLUMNS = _array(2, 12, 20)
BLOCKS = _array(2, 4, 6, 8)
RANKS, PADDINGS, FORMATS = (1, 2, 3), ("valid", "same"), (("channels_last", X), ("channels_first", FIRST))
UNEVEN = {1: (2,), 2: (2, 3), 3: (1, 2, 3)}
WINDOWS = {1: (2,), 2: (3, 2), 3: (1, 3, 2)}


def _convolutions(name, kernels):
    for rank, padding, (data_format, x) in itertools.product(RANKS, PADDINGS, FORMATS):
        yield case(name, x[rank], *kernels[rank], 1, padding, data_format)
        yield case(name, x[rank], *kernels[rank], strides=2, padding=padding, data_format=data_format)
    for rank, padding in itertools.product(RANKS, PADDINGS):
        yield case(name, X[rank], *kernels[rank], padding=padding, dilation_rate=2)
    for rank in RANKS:
        yield case(name, X[rank], *kernels[rank])
        yield case(name, X[rank], *kernels[rank], padding="SAME", dilation_rate=UNEVEN[rank])
    yield case(name, X[2].astype("float64"), *(kernel.astype("float64") for kernel in kernels[2]), padding="same")
    yield case(name, X[2][:, :, :, :3], *kernels[2])  # channels that do not fit
    yield case(name, X[2][0, 0], *kernels[2])
    yield case(name, X[2], *kernels[2], data_format="last")
    yield case(name, X[2], *kernels[2], strides=(1, 2, 3))


def _transposed():
    for rank, padding, strides in itertools.product(RANKS, PADDINGS, (1, 2, 3, 4)):
        yield case("conv_transpose", X[rank], TRANSPOSED[rank], strides, padding)
    for rank, padding, output_padding in itertools.product(RANKS, PADDINGS, (0, 1)):
        yield case("conv_transpose", FIRST[rank], TRANSPOSED[rank], 2, padding, output_padding, "channels_first")
    for rank, padding in itertools.product(RANKS, PADDINGS):
        yield case("conv_transpose", X[rank], TRANSPOSED[rank], padding=padding, dilation_rate=2)
        yield case("conv_transpose", X[rank], TRANSPOSED[rank], UNEVEN[rank], padding)
        yield case("conv_transpose", X[rank], TRANSPOSED[rank], 3, padding, UNEVEN[rank])
        yield case("conv_transpose", X[rank], TRANSPOSED[rank], 2, padding, 3)
    yield case("conv_transpose", X[2], TRANSPOSED[2], 2, "same", dilation_rate=(2, 3))
    yield case("conv_transpose", X[2], TRANSPOSED[2], 2, "same", (1, None))
    yield case("conv_transpose", X[2], TRANSPOSED[2], 2, "valid", [None, 1])
    yield case("conv_transpose", X[2], TRANSPOSED[2], 2, "same", 7)
    yield case("conv_transpose", X[2].astype("float64"), TRANSPOSED[2].astype("float64"), padding="SAME")
    yield case("conv_transpose", X[2][:, :, :, :3], TRANSPOSED[2])
    yield case("conv_transpose", X[2], TRANSPOSED[2], padding="full")


def _pools(name):
    for rank, (data_format, x) in itertools.product(RANKS, FORMATS):
        yield case(name, x[rank], 2, data_format=data_format)
        yield case(name, x[rank], 3, 1, "same", data_format)
        yield case(name, x[rank], 2, 2, "same", data_format)
    for rank, padding in itertools.product(RANKS, PADDINGS):
        yield case(name, X[rank], 2, 1, padding)
        yield case(name, X[rank], pool_size=(2,) * rank, strides=(2,) * rank, padding=padding)
    for rank in RANKS:
        yield case(name, X[rank], WINDOWS[rank], UNEVEN[rank])
        yield case(name, X[rank], 1)
    yield case(name, X[2].astype("float64"), 2)
    yield case(name, X[2].astype("float16"), 3, 2)
    yield case(name, X[2][:0], 2)
    yield case(name, X[2][0, 0], 2)
    yield case(name, X[2], (2, 2, 2))
    yield case(name, X[2], 0)


def _adaptive(name):
    for rank, (data_format, x) in itertools.product(RANKS, FORMATS):
        for size in (1, 3, 5):
            yield case(name, x[rank], size, data_format)
    yield case(name, X[1], (4,))
    yield case(name, X[2], (3, 2))
    yield case(name, X[2], output_size=[7, 1], data_format="channels_last")
    yield case(name, X[3], (5, 2, 3))
    yield case(name, X[2].astype("float64"), 2)
    yield case(name, X[2][0, 0], 2)
    yield case(name, X[2], (2, 2, 2))


CASES = [
    *_convolutions("conv", {rank: (kernel,) for rank, kernel in KERNELS.items()}),
    *_convolutions("depthwise_conv", {rank: (kernel,) for rank, kernel in DEPTHWISE.items()}),
    *_convolutions("separable_conv", {rank: (DEPTHWISE[rank], POINTWISE[rank]) for rank in RANKS}),
    *(case("conv", x[rank], GROUPED[rank], 1, "same", words) for rank in RANKS for words, x in FORMATS),
    case("conv", X[2][:0], KERNELS[2]),
    *_transposed(),
    *_pools("max_pool"),
    *_pools("average_pool"),
    # Of one kind of window alone: where "same" adds unequally, Keras on torch lets copies of the edge count.
    *(case("max_pool", X[rank], WINDOWS[rank], UNEVEN[rank], "SAME") for rank in RANKS),
    *(case("max_pool", X[2], size, 3, "same") for size in (1, 2, 4, 5)),
    *(case("max_pool", (X[2] * 9).astype(t), 2, 1, padding) for t in ("int32", "int8") for padding in PADDINGS),
    *_adaptive("adaptive_average_pool"),
    *_adaptive("adaptive_max_pool"),
    # The others of these two take tensors alone in genuine Keras: see test_windows.py.
    case("unfold", IMAGES[0], 2),
    case("fold", COLUMNS[0], (6, 5), 2),
    *(case(name, x, 2) for name in ("depth_to_space", "space_to_depth") for x in (BLOCKS, BLOCKS.astype("float16"))),
    *(case(name, BLOCKS, 2, None) for name in ("depth_to_space", "space_to_depth")),
    *(case(name, BLOCKS, 1) for name in ("depth_to_space", "space_to_depth")),
    *(case(name, BLOCKS, 3) for name in ("depth_to_space", "space_to_depth")),
    *(case(name, BLOCKS, 2, "first") for name in ("depth_to_space", "space_to_depth")),
    case("depth_to_space", (BLOCKS * 9).astype("int32"), 2, "channels_first"),
    case("space_to_depth", (BLOCKS * 9).astype("int32"), block_size=2, data_format="channels_first"),
    case("depth_to_space", BLOCKS, block_size=2, data_format="CHANNELS_FIRST"),
]

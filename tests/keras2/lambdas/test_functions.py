"""Functions of TensorFlow and Keras 3 in a formula: the same numbers, types and rules as theirs."""

from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import config
from torchkeras.keras2.lambdas.functions import SCOPED, lookup
from torchkeras.keras2.lambdas.keras_functions import Scope

X = torch.arange(6.0).reshape(2, 3)
ROW = torch.tensor([[[[0.0], [1.0], [2.0], [3.0]]]])  # an image of one row


def called(function_name: str, /, *args: Any, **kwargs: Any) -> Any:
    function: Any = lookup(function_name)
    scope = [Scope(False, torch.device("cpu"))] if function_name in SCOPED else []
    return function(*scope, *args, **kwargs)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        ("tf.reduce_sum", (X,), {"reduction_indices": [1], "keep_dims": True}, [[3.0], [12.0]]),
        ("tf.reduce_mean", (X.int(), 1), {"name": "mean"}, [1, 4]),
        ("tf.argmax", (X,), {}, [1, 1, 1]),
        ("tf.gather", (X, [2, 0]), {"axis": 1}, [[2.0, 0.0], [5.0, 3.0]]),
        ("tf.gather", (X, 1), {"axis": 1}, [1.0, 4.0]),
        ("tf.gather", (X, torch.tensor([[0], [1]])), {"axis": -1}, [[[0.0], [1.0]], [[3.0], [4.0]]]),
        ("tf.pad", (X[0], [[2, 1]], "REFLECT"), {}, [2.0, 1.0, 0.0, 1.0, 2.0, 1.0]),
        ("tf.pad", (X[0], [[2, 1]]), {"mode": "symmetric"}, [1.0, 0.0, 0.0, 1.0, 2.0, 2.0]),
        ("tf.pad", (X[0], [[0, 1]]), {"constant_values": 7}, [0.0, 1.0, 2.0, 7.0]),
        ("tf.one_hot", (torch.tensor([1]), 2, 3.0, -1.0), {}, [[-1.0, 3.0]]),
        ("tf.cond", (torch.tensor(True), X[0], -X[0]), {}, [0.0, 1.0, 2.0]),
        ("tf.constant", ([1, 2],), {}, [1, 2]),
        ("tf.sqrt", (4.0,), {}, 2.0),
        ("tf.shape", (X,), {}, (2, 3)),
        ("tf.image.resize_bilinear", (ROW, (1, 3)), {}, [[[[0.0], [4 / 3], [8 / 3]]]]),
        ("tf.image.resize_bilinear", (ROW, (1, 2)), {"align_corners": True}, [[[[0.0], [3.0]]]]),
        ("tf.image.resize_bilinear", (ROW, (1, 2)), {"half_pixel_centers": True}, [[[[0.5], [2.5]]]]),
        ("tf.image.resize_nearest_neighbor", (ROW, (1, 3)), {}, [[[[0.0], [1.0], [2.0]]]]),
        ("tf.image.resize_nearest_neighbor", (ROW, (1, 7), True), {}, [[[[0.0], [1], [1], [2], [2], [3], [3]]]]),
        ("tf.image.resize_2", (ROW, (1, 3)), {}, [[[[1 / 6], [1.5], [17 / 6]]]]),
        ("tf.image.resize_2", (ROW, (1, 7)), {"method": "nearest"}, [[[[0.0], [0], [1], [2], [2], [3], [3]]]]),
        ("K.mean", (X.int(), 1), {}, [1, 4]),
        ("K.switch", (X > 2, X, 0.0), {}, [[0.0, 0.0, 0.0], [3.0, 4.0, 5.0]]),
        ("K.expand_dims", (X[0],), {"dim": 0}, [[0.0, 1.0, 2.0]]),  # Keras 1's arguments
        ("K.random_normal", ((2,),), {"mean": 1.0, "std": 0.0}, [1.0, 1.0]),
        ("K.random_uniform", ((1,),), {"low": 2.0, "high": 2.0}, [2.0]),
        ("K.one_hot", (torch.tensor([1]),), {"nb_classes": 2}, [[0.0, 1.0]]),
        ("K.spatial_2d_padding", (ROW[:, :, :1],), {"padding": (0, 1), "dim_ordering": "tf"}, [[[[0.0], [0], [0]]]]),
        ("K.atrous_conv2d", (ROW, torch.ones(1, 2, 1, 1)), {"rate": 2, "dim_ordering": "tf"}, [[[[2.0], [4.0]]]]),
        ("tf.nn.local_response_normalization", (X,), {"depth_radius": 1, "alpha": 0.0}, X.tolist()),
        ("tf.linalg.band_part", (X, 0, 0), {}, [[0.0, 0.0, 0.0], [0.0, 4.0, 0.0]]),
        ("tf.range", (1, 4), {}, [1, 2, 3]),
        ("tf.range", (3,), {"dtype": "float32"}, [0.0, 1.0, 2.0]),
        ("tf.linspace", (0.0, 1.0, 3), {}, [0.0, 0.5, 1.0]),
        ("np.asarray", ([1, 2],), {"dtype": "float32"}, [1.0, 2.0]),
        ("np.stack", ([[1], [2]],), {"axis": 1}, [[1, 2]]),
        ("np.transpose", ([[1, 2]],), {}, [[1], [2]]),
        ("np.flip", ([1, 2], 0), {}, [2, 1]),
        ("ops.shape", (X,), {}, (2, 3)),
        ("ops.mean", (X, 1), {}, [1.0, 4.0]),
    ],
)
def test_values(name: str, args: Any, kwargs: Any, expected: Any):
    found = called(name, *args, **kwargs)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6)
    assert np.asarray(found).dtype.kind == np.asarray(expected).dtype.kind


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "error"),
    [
        ("tf.split", (X, 2, 1), {}, "3 values in 2 equal parts"),
        ("tf.pad", (X, [[1, 1], [1, 1]], "EDGE"), {}, "tf.pad by 'EDGE'"),
        ("tf.reduce_sum", (X, 1), {"reduction_indices": 0}, "its arguments are input_tensor"),
        ("tf.exp", (X,), {"axis": 1}, r"its arguments are x; found 1, and axis"),
        ("ops.argmax", (X,), {}, "its arguments are x axis"),
        ("tf.image.resize_images", (ROW, (2, 2), 2), {}, "by method 2"),
        ("tf.norm", (X, 1), {}, "of order 1"),
        ("tf.image.resize_2", (ROW, (2, 2)), {"antialias": True}, "by method 'bilinear'"),
        ("K.ctc_decode", (X, X), {"greedy": False, "beam_width": 10**6}, "a beam_width of 1000000; 1000 is the most"),
        ("tf.nn.max_pool", (ROW, [2, 1, 1, 1], [1, 1, 1, 1], "SAME"), {}, "windows over samples or channels"),
        ("tf.nn.avg_pool", (ROW, [1, 1, 1, 1], [1, 1, 1, 1], "SAME", "NCHW"), {}, "data_format 'NCHW'"),
        ("tf.nn.conv2d", (ROW, ROW, [1, 1, 1, 1], "SAME", True, "NCHW"), {}, "data_format 'NCHW'"),
        ("tf.diag", (X,), {}, "tf.diag of 2 axes"),
        ("tf.nn.dropout", (X,), {}, "keep_prob, or else rate"),
        ("np.tile", ([1, 2], 10**8), {}, "an array of over 16777216 numbers"),
        ("tf.pad", (X, [[0, 0], [3, 0]], "REFLECT"), {}, "tf.pad by more than there is to mirror"),
        ("tf.image.crop_to_bounding_box", (ROW, 0, 3, 1, 2), {}, "a box that is not inside of the image"),
        ("tf.image.resize_images", (ROW, (2, 2)), {"preserve_aspect_ratio": True}, "by method 0"),
    ],
)
def test_what_has_no_equivalent_is_refused(name: str, args: Any, kwargs: Any, error: str):
    with pytest.raises((TypeError, ValueError), match=error):
        called(name, *args, **kwargs)


def test_a_shape_of_tensorflow_is_computed_with_number_by_number():
    assert called("*", called("tf.shape", X)[1:], 2) == (6,)
    assert called("+", called("K.shape", X), (1, 1)) == (3, 4)
    assert called("+", called("ops.shape", X), (1,)) == (2, 3, 1)  # a tuple in Keras 3


def test_what_is_made_is_on_the_layers_device():
    made = lookup("K.zeros")
    assert made is not None
    assert made(Scope(False, torch.device("meta")), (2, 3)).device.type == "meta"
    assert not called("K.ones", (2,)).requires_grad


def test_the_format_is_that_of_the_session():
    assert called("K.normalize_data_format", None) == config.image_data_format()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        *((name, ((10**9, 10**9),)) for name in ("K.zeros", "K.ones", "K.random_normal", "K.random_uniform")),
        *((name, ((10**9, 10**9),)) for name in ("tf.zeros", "tf.random_normal", "tf.truncated_normal", "np.ones")),
        *((name, ((10**9, 10**9), 1)) for name in ("tf.fill", "np.full")),
        *((name, (10**9,)) for name in ("K.eye", "tf.eye", "np.eye", "K.arange", "tf.range", "np.arange")),
        *((name, (0.0, 1.0, 10**9)) for name in ("tf.linspace", "np.linspace")),
        ("K.constant", (1, None, (10**9, 10**9))),
        ("tf.constant", (1, None, (10**9, 10**9))),
    ],
)
def test_a_shape_alone_takes_no_memory(name: str, args: Any):
    found = SCOPED[name](Scope(False, torch.device("meta")), *args)
    assert isinstance(found, torch.Tensor)
    assert found.device.type == "meta"
    assert found.numel() >= 10**9

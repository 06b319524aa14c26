"""Functional models of Keras 3.15's operations, as genuine `.keras` files have them, and what they compute.

    python golden_keras3_operations.py FOLDER        (where Keras 3.15 on torch is installed)

Writes `tests/golden/keras-3.15-operations/`: `configs.json.gz` has the `config.json` of one saved model for each case,
`io.npz` the inputs and the outputs of each (`<case>/0`, `<case>/1`, ...).
"""

import gzip
import json
import os
import sys
import zipfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np
from keras import ops

SAMPLES = 4
RANDOM = np.random.RandomState(0)
SQUARE = RANDOM.uniform(-1, 1, (SAMPLES, 3, 3)).astype("float32")

INPUTS = {
    "x": RANDOM.uniform(-2, 2, (SAMPLES, 6)).astype("float32"),
    "y": RANDOM.uniform(-2, 2, (SAMPLES, 6)).astype("float32"),
    "p": RANDOM.uniform(0.1, 0.9, (SAMPLES, 6)).astype("float32"),
    "s": RANDOM.uniform(-2, 2, (SAMPLES, 3, 5)).astype("float32"),
    "t": RANDOM.uniform(-2, 2, (SAMPLES, 5, 2)).astype("float32"),
    "i": RANDOM.randint(0, 5, (SAMPLES, 3)).astype("int32"),
    "j": RANDOM.randint(1, 9, (SAMPLES, 6)).astype("int32"),
    "k": RANDOM.randint(1, 9, (SAMPLES, 6)).astype("int32"),
    "b": RANDOM.randint(0, 2, (SAMPLES, 6)).astype("bool"),
    "m": SQUARE,
    "q": (SQUARE @ SQUARE.transpose(0, 2, 1) + 2 * np.eye(3)).astype("float32"),
    "g": RANDOM.uniform(0, 1, (SAMPLES, 6, 6, 3)).astype("float32"),
    "n": np.where(RANDOM.rand(SAMPLES, 6) < 0.2, np.nan, RANDOM.uniform(-2, 2, (SAMPLES, 6))).astype("float32"),
    "w": RANDOM.uniform(-2, 2, (SAMPLES, 8)).astype("float32"),
}
DTYPES = {"i": "int32", "j": "int32", "k": "int32", "b": "bool"}
TABLE = RANDOM.uniform(-1, 1, (5, 4)).astype("float32")
ROW = np.array([0.5, -1.0, 2.0, 0.0, 1.5, -0.5], "float32")
KERNEL = RANDOM.uniform(-1, 1, (3, 5, 2)).astype("float32")
KERNEL2 = RANDOM.uniform(-1, 1, (3, 3, 3, 2)).astype("float32")
DEPTH = RANDOM.uniform(-1, 1, (3, 3, 3, 1)).astype("float32")
POINT = RANDOM.uniform(-1, 1, (1, 1, 3, 2)).astype("float32")

UNARY = """
    absolute abs negative square sign floor ceil round exp expm1 exp2 sin cos tan sinh cosh tanh arcsinh arctan
    isfinite isinf isnan isneginf isposinf isreal signbit sinc trunc cbrt i0 deg2rad rad2deg real imag conj
    conjugate angle copy ravel reciprocal relu relu6 sigmoid sparse_sigmoid softplus softsign soft_shrink
    sparse_plus silu swish squareplus log_sigmoid leaky_relu hard_sigmoid hard_silu hard_swish elu selu gelu
    celu tanh_shrink hard_tanh hard_shrink sparsemax softmax log_softmax erf erfc stop_gradient logical_not size
    ndim shape zeros_like ones_like mean sum prod max min amax amin var std median any all argmax argmin argsort
    sort cumsum cumprod count_nonzero ptp diff normalize logsumexp mish flip squeeze transpose
""".split()  # noqa: SIM905  (a list would be a page long)

PAIRS = """
    add subtract multiply divide true_divide divide_no_nan mod floor_divide maximum minimum fmax fmin fmod
    arctan2 hypot heaviside logaddexp logaddexp2 less less_equal greater greater_equal equal not_equal
    logical_and logical_or logical_xor nextafter isclose power
""".split()  # noqa: SIM905  (a list would be a page long)

REDUCTIONS = """
    mean sum prod max min amax amin var std median any all argmax argmin logsumexp count_nonzero ptp
""".split()  # noqa: SIM905  (a list would be a page long)

NAN_REDUCTIONS = """
    nanargmax nanargmin nancumsum nancumprod nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar
""".split()  # noqa: SIM905  (a list would be a page long)


def bound(make, *values):
    """A case of a loop, with what the loop has at this moment."""
    return make(*values)


def made():
    """The cases: name -> function of the inputs that it names as parameters."""
    o = ops
    cases = {name: bound(lambda f: lambda x: f(x), getattr(o, name)) for name in UNARY if hasattr(o, name)}
    for name in UNARY:
        if hasattr(o, name):
            cases[f"{name}_of_whole_numbers"] = bound(lambda f: lambda j: f(j), getattr(o, name))
    for name in ["log", "log10", "log1p", "log2", "sqrt", "rsqrt", "arccos", "arcsin", "arctanh", "erfinv"]:
        cases[name] = bound(lambda f: lambda p: f(p), getattr(o, name))
    cases["arccosh"] = lambda p: o.arccosh(p + 1.0)
    for name in PAIRS:
        if hasattr(o, name):
            f = getattr(o, name)
            cases[name] = bound(lambda f: lambda x, y: f(x, y), f)
            cases[f"{name}_number"] = bound(lambda f: lambda p: f(p, 2.0), f)
            cases[f"{name}_integer"] = bound(lambda f: lambda p: f(p, 2), f)
            cases[f"{name}_number_first"] = bound(lambda f: lambda p: f(2.0, p), f)
            cases[f"{name}_array"] = bound(lambda f: lambda p: f(p, ROW), f)
            cases[f"{name}_list"] = bound(lambda f: lambda p: f(p, [1.0, 2.0, 3.0, 0.5, -1.0, 2.0]), f)
            cases[f"{name}_tensor"] = bound(lambda f: lambda p: f(p, o.array(ROW)), f)
            cases[f"{name}_array_first"] = bound(lambda f: lambda p: f(ROW, p), f)
            cases[f"{name}_integers"] = bound(lambda f: lambda j, k: f(j, k), f)
            cases[f"{name}_of_integers_number"] = bound(lambda f: lambda j: f(j, 2), f)
            cases[f"{name}_of_integers_float"] = bound(lambda f: lambda j: f(j, 2.5), f)
            cases[f"{name}_of_integers_list"] = bound(lambda f: lambda j: f(j, [1, 2, 3, 4, 5, 6]), f)
            cases[f"{name}_of_mixed"] = bound(lambda f: lambda j, p: f(j, p), f)
            cases[f"{name}_negative"] = bound(lambda f: lambda x: f(x, -1.5), f)
    bits = "bitwise_and bitwise_or bitwise_xor left_shift right_shift bitwise_left_shift bitwise_right_shift gcd lcm"
    for name in bits.split():
        if hasattr(o, name):
            f = getattr(o, name)
            cases[name] = bound(lambda f: lambda j, k: f(j, k), f)
            cases[f"{name}_number"] = bound(lambda f: lambda j: f(j, 2), f)
            cases[f"{name}_list"] = bound(lambda f: lambda j: f(j, [1, 2, 3, 4, 5, 6]), f)
    cases["power"] = lambda p, y: o.power(p, y)
    cases["bitwise_invert"] = lambda j: o.bitwise_invert(j)
    cases["bitwise_not"] = lambda j: o.bitwise_not(j)
    cases["ldexp"] = lambda x, i: o.ldexp(x[:, :3], i)
    cases["ldexp_list"] = lambda x: o.ldexp(x, [1, 2, 3, 0, 1, 2])
    cases["logical_not_bool"] = lambda b: o.logical_not(b)
    for name in REDUCTIONS:
        if not hasattr(o, name):
            continue
        f = getattr(o, name)
        cases[f"{name}_axis"] = bound(lambda f: lambda s: f(s, axis=1), f)
        cases[f"{name}_last_kept"] = bound(lambda f: lambda s: f(s, axis=-1, keepdims=True), f)
        cases[f"{name}_axes"] = bound(lambda f: lambda s: f(s, axis=(1, 2)), f)
        cases[f"{name}_axes_list"] = bound(lambda f: lambda s: f(s, axis=[1, 2]), f)
        cases[f"{name}_integers"] = bound(lambda f: lambda j: f(j, axis=1), f)
        cases[f"{name}_bools"] = bound(lambda f: lambda b: f(b, axis=1), f)
        cases[f"{name}_kept"] = bound(lambda f: lambda s: f(s, keepdims=True), f)
    for name in ["sum", "prod", "cumsum", "cumprod"]:
        f = getattr(o, name)
        cases[f"{name}_dtype"] = bound(lambda f: lambda j: f(j, axis=1, dtype="float32"), f)
        cases[f"{name}_dtype_int"] = bound(lambda f: lambda x: f(x, axis=1, dtype="int32"), f)
    cases["max_initial"] = lambda x: o.max(x, axis=1, initial=0.5)
    cases["min_initial"] = lambda x: o.min(x, axis=1, initial=0.5)
    for name in NAN_REDUCTIONS:
        if hasattr(o, name):
            f = getattr(o, name)
            cases[name] = bound(lambda f: lambda n: f(n, axis=1), f)
            if not name.startswith(("nanarg", "nancum")):
                cases[f"{name}_kept"] = bound(lambda f: lambda n: f(n, axis=-1, keepdims=True), f)
                cases[f"{name}_all"] = bound(lambda f: lambda n: f(n), f)
    cases["nan_to_num"] = lambda n: o.nan_to_num(n)
    cases["nan_to_num_values"] = lambda n: o.nan_to_num(n, nan=1.5, posinf=2.0, neginf=-2.0)
    cases["nanquantile"] = lambda n: o.nanquantile(n, 0.3, axis=1)
    cases["nanpercentile"] = lambda n: o.nanpercentile(n, 30, axis=1)
    cases["percentile"] = lambda x: o.percentile(x, 30, axis=1)
    cases["percentile_list"] = lambda x: o.percentile(x, [30, 60], axis=1)
    cases["quantile"] = lambda x: o.quantile(x, 0.3, axis=1)
    cases["quantile_list"] = lambda x: o.quantile(x, [0.2, 0.7], axis=1, keepdims=True)
    cases["quantile_array"] = lambda x: o.quantile(x, np.array([0.2, 0.7], "float32"), axis=1)
    for method in ("lower", "higher", "midpoint", "nearest"):
        cases[f"quantile_{method}"] = bound(lambda m: lambda x: o.quantile(x, 0.33, axis=1, method=m), method)
    cases["argmax_negative"] = lambda s: o.argmax(s, axis=-2)
    cases["argsort_axis"] = lambda s: o.argsort(s, axis=1)
    cases["argsort_flat"] = lambda s: o.argsort(s, axis=None)
    cases["argpartition"] = lambda x: o.sort(o.take_along_axis(x, o.argpartition(x, 2, axis=1)[:, :3], axis=1), axis=1)
    cases["sort_axis"] = lambda s: o.sort(s, axis=1)
    cases["append"] = lambda x, y: o.append(x, y, axis=1)
    cases["append_array"] = lambda x: o.append(x, np.ones((SAMPLES, 2), "float32"), axis=1)
    cases["append_flat"] = lambda x, y: o.append(x, y)
    cases["average"] = lambda x: o.average(x, axis=1)
    cases["average_weights"] = lambda x: o.average(x, axis=1, weights=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    cases["average_weights_array"] = lambda x: o.average(x, axis=1, weights=np.abs(ROW))
    cases["average_weights_tensor"] = lambda x, p: o.average(x, axis=1, weights=p)
    cases["bincount"] = lambda i: o.bincount(i, minlength=6)
    cases["bincount_weights"] = lambda j, p: o.bincount(j, weights=p, minlength=10)
    cases["broadcast_to"] = lambda x: o.broadcast_to(x, (2, SAMPLES, 6))
    cases["cast"] = lambda x: o.cast(x, "int32")
    cases["cast_float16"] = lambda x: o.cast(x, "float16")
    cases["cast_bool"] = lambda j: o.cast(j - 3, "bool")
    cases["saturate_cast"] = lambda x: o.saturate_cast(x * 200.0, "uint8")
    cases["clip"] = lambda x: o.clip(x, -0.5, 0.5)
    cases["clip_integers"] = lambda x: o.clip(x, -1, 1)
    cases["clip_of_integers"] = lambda j: o.clip(j, 2, 6)
    cases["clip_list"] = lambda x: o.clip(x, [-1.0, 0.0, 0.0, 0.0, 0.0, -1.0], 1.0)
    cases["clip_array"] = lambda x: o.clip(x, np.minimum(ROW, 0), np.maximum(ROW, 0))
    cases["concatenate"] = lambda x, y: o.concatenate([x, y], axis=1)
    cases["concatenate_last"] = lambda x, w: o.concatenate([x, w])
    cases["concatenate_mixed"] = lambda x, j: o.concatenate([x, j], axis=-1)
    cases["concatenate_array"] = lambda x: o.concatenate([x, np.ones((SAMPLES, 2), "float32")], axis=1)
    cases["convert_to_tensor"] = lambda x: o.convert_to_tensor(x)
    cases["convert_to_tensor_dtype"] = lambda x: o.convert_to_tensor(x, dtype="float16")
    cases["cross"] = lambda m: o.cross(m[:, 0], m[:, 1])
    cases["cross_list"] = lambda m: o.cross(m, [1.0, 2.0, 3.0])
    cases["cumsum_axis"] = lambda s: o.cumsum(s, axis=1)
    cases["cumprod_axis"] = lambda s: o.cumprod(s, axis=-1)
    cases["diag"] = lambda m: o.diag(m[0])
    cases["diagflat"] = lambda m: o.diagflat(m[0, 0], k=1)
    cases["diagonal"] = lambda m: o.diagonal(m, axis1=1, axis2=2)
    cases["diagonal_offset"] = lambda m: o.diagonal(m, offset=1, axis1=1, axis2=2)
    cases["trace"] = lambda m: o.trace(m, axis1=1, axis2=2)
    cases["trace_offset"] = lambda m: o.trace(m, offset=1, axis1=1, axis2=2)
    cases["diff_twice"] = lambda s: o.diff(s, n=2, axis=1)
    cases["digitize"] = lambda x: o.digitize(x, np.array([-1.0, 0.0, 1.0], "float32"))
    cases["digitize_list"] = lambda x: o.digitize(x, [-1.0, 0.0, 1.0])
    cases["digitize_integers"] = lambda j: o.digitize(j, np.array([2, 4, 6]))
    cases["searchsorted"] = lambda x: o.searchsorted(np.array([-1.0, 0.0, 1.0], "float32"), x)
    cases["searchsorted_right"] = lambda x: o.searchsorted(np.array([-1.0, 0.0, 1.0], "float32"), x, side="right")
    cases["dot"] = lambda s, t: o.dot(s, t)
    cases["dot_array"] = lambda x: o.dot(x, np.ones((6, 2), "float32"))
    cases["dot_list"] = lambda x: o.dot(x, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    cases["dot_number"] = lambda x: o.dot(x, 2.0)
    cases["dstack"] = lambda x, y: o.dstack([x, y])
    cases["hstack"] = lambda x, y: o.hstack([x, y])
    cases["vstack"] = lambda x, y: o.vstack([x, y])
    cases["stack"] = lambda x, y: o.stack([x, y], axis=1)
    cases["stack_last"] = lambda x, y: o.stack([x, y], axis=-1)
    cases["stack_array"] = lambda x: o.stack([x, np.ones((SAMPLES, 6), "float32")], axis=1)
    cases["einsum"] = lambda s, t: o.einsum("bij,bjk->bik", s, t)
    cases["einsum_array"] = lambda s: o.einsum("bij,jk->bik", s, TABLE)
    cases["einsum_array_first"] = lambda s: o.einsum("jk,bij->bik", TABLE, s)
    cases["einsum_one"] = lambda s: o.einsum("bij->bji", s)
    cases["expand_dims"] = lambda x: o.expand_dims(x, 1)
    cases["expand_dims_last"] = lambda x: o.expand_dims(x, -1)
    cases["expand_dims_several"] = lambda x: o.expand_dims(x, (1, -1))
    cases["flip_axis"] = lambda s: o.flip(s, axis=1)
    cases["flip_axes"] = lambda s: o.flip(s, axis=(1, 2))
    cases["fliplr"] = lambda s: o.fliplr(s)
    cases["flipud"] = lambda s: o.flipud(s)
    cases["full_like"] = lambda x: o.full_like(x, 2.5)
    cases["full_like_dtype"] = lambda x: o.full_like(x, 2, dtype="int32")
    cases["full_like_array"] = lambda x: o.full_like(x, ROW)
    cases["zeros_like_dtype"] = lambda x: o.zeros_like(x, dtype="int32")
    cases["ones_like_dtype"] = lambda x: o.ones_like(x, dtype="int32")
    cases["empty_like_zeroed"] = lambda x: o.empty_like(x) * 0.0 if hasattr(o, "empty_like") else x
    cases["getitem"] = lambda s: s[:, 1:, ::2]
    cases["getitem_integer"] = lambda s: s[:, -1]
    cases["getitem_ellipsis"] = lambda s: s[..., 0]
    cases["getitem_none"] = lambda s: s[:, None, 1]
    cases["getitem_list"] = lambda x: x[:, np.array([0, 2])]
    cases["getitem_array"] = lambda s: s[:, np.array([[0, 2], [1, 1]])]
    cases["histogram"] = lambda x: o.histogram(x, bins=4, range=(-2, 2))
    cases["hsplit"] = lambda x: o.hsplit(x, 2)
    cases["hsplit_list"] = lambda x: o.hsplit(x, [1, 4])
    cases["vsplit"] = lambda x: o.vsplit(x, 2)
    cases["dsplit"] = lambda g: o.dsplit(g, 2)
    cases["array_split"] = lambda x: o.array_split(x, 4, axis=1)
    cases["inner"] = lambda x, y: o.inner(x, y)
    cases["inner_list"] = lambda x: o.inner(x, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    cases["outer"] = lambda x, y: o.outer(x, y)
    cases["outer_list"] = lambda x: o.outer(x, [1.0, 2.0])
    cases["vdot"] = lambda x, y: o.vdot(x, y)
    cases["kron"] = lambda m: o.kron(m[0], m[1])
    cases["kron_list"] = lambda x: o.kron(x, [[1.0, 2.0]])
    cases["isclose_options"] = lambda x: o.isclose(x, x + 0.001, rtol=0.0, atol=0.01)
    cases["isin"] = lambda i: o.isin(i, [1, 3])
    cases["isin_array"] = lambda i: o.isin(i, np.array([1, 3]), invert=True)
    cases["linspace"] = lambda x, y: o.linspace(x, y, num=3, axis=1)
    cases["linspace_number"] = lambda x: o.linspace(x, 2.0, num=3)
    cases["logspace"] = lambda x, y: o.logspace(x, y, num=3)
    cases["geomspace"] = lambda p: o.geomspace(p, p + 1, num=3) if hasattr(o, "geomspace") else p
    cases["matmul"] = lambda s, t: o.matmul(s, t)
    cases["matmul_operator"] = lambda s, t: s @ t
    cases["matmul_array"] = lambda s: o.matmul(s, TABLE)
    cases["matmul_array_first"] = lambda t: o.matmul(TABLE.T, t)
    cases["matmul_list"] = lambda x: o.matmul(x, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    cases["meshgrid"] = lambda x: o.meshgrid(x[0], x[1])
    cases["meshgrid_ij"] = lambda x: o.meshgrid(x[0], x[1], indexing="ij")
    cases["moveaxis"] = lambda s: o.moveaxis(s, 1, 2)
    cases["moveaxis_several"] = lambda g: o.moveaxis(g, [1, 2], [3, 1])
    cases["pad"] = lambda s: o.pad(s, [[0, 0], [1, 2], [0, 1]])
    cases["pad_number"] = lambda s: o.pad(s, 1)
    cases["pad_pair"] = lambda s: o.pad(s, (1, 2))
    cases["pad_value"] = lambda s: o.pad(s, [[0, 0], [1, 2], [0, 1]], constant_values=1.5)
    cases["pad_array"] = lambda s: o.pad(s, np.array([[0, 0], [1, 2], [0, 1]]))
    for mode in ("reflect", "symmetric", "edge", "wrap"):
        cases[f"pad_{mode}"] = bound(lambda m: lambda s: o.pad(s, [[0, 0], [1, 2], [0, 1]], mode=m), mode)
    cases["prod_axis_of_integers"] = lambda j: o.prod(j, axis=1)
    cases["repeat"] = lambda x: o.repeat(x, 2, axis=1)
    cases["repeat_flat"] = lambda x: o.repeat(x, 2)
    cases["repeat_list"] = lambda x: o.repeat(x, [1, 2, 0, 1, 1, 3], axis=1)
    cases["repeat_array"] = lambda x: o.repeat(x, np.array([1, 2, 0, 1, 1, 3]), axis=1)
    cases["reshape"] = lambda x: o.reshape(x, (-1, 2, 3))
    cases["reshape_list"] = lambda x: o.reshape(x, [-1, 3])
    cases["reshape_flat"] = lambda x: o.reshape(x, -1)
    cases["roll"] = lambda x: o.roll(x, 2, axis=1)
    cases["roll_flat"] = lambda x: o.roll(x, 2)
    cases["roll_several"] = lambda s: o.roll(s, (1, 2), axis=(1, 2))
    cases["rot90"] = lambda s: o.rot90(s, k=1, axes=(1, 2))
    cases["rot90_default"] = lambda s: o.rot90(s)
    cases["round_decimals"] = lambda x: o.round(x, decimals=1)
    cases["select"] = lambda x, y: o.select([x > 0, y > 0], [x, y * 2.0], default=1.0)
    cases["select_numbers"] = lambda x, y: o.select([x > 0, y > 0], [x, o.zeros_like(x)], 0)
    cases["slogdet"] = lambda m: o.slogdet(m)
    cases["split"] = lambda x: o.split(x, 3, axis=1)
    cases["split_list"] = lambda x: o.split(x, [1, 4], axis=1)
    cases["split_array"] = lambda x: o.split(x, np.array([1, 4]), axis=1)
    cases["split_tuple"] = lambda x: o.split(x, (2, 3), axis=-1)
    cases["squeeze_axis"] = lambda x: o.squeeze(x[:, None], axis=1)
    cases["swapaxes"] = lambda s: o.swapaxes(s, 1, 2)
    cases["take"] = lambda x: o.take(x, [0, 2], axis=1)
    cases["take_array"] = lambda x: o.take(x, np.array([0, 2]), axis=1)
    cases["take_tensor"] = lambda x: o.take(x, o.array([0, 2]), axis=1)
    cases["take_int8"] = lambda x: o.take(x, np.array([0, 2], "int8"), axis=1)
    cases["take_bool_like"] = lambda x: o.take(x, np.array([0, 1], "uint8"), axis=1)
    cases["take_negative"] = lambda x: o.take(x, [-1, 0], axis=-1)
    cases["take_number"] = lambda x: o.take(x, 2, axis=1)
    cases["take_2d"] = lambda s: o.take(s, [[0, 1], [2, 0]], axis=1)
    cases["take_flat"] = lambda x: o.take(x, [0, 7])
    cases["take_of_table"] = lambda i: o.take(TABLE, i, axis=0)
    cases["take_by_input"] = lambda w, i: o.take(w, i, axis=1)
    cases["take_along_axis"] = lambda x, i: o.take_along_axis(x, i, axis=1)
    cases["take_along_axis_array"] = lambda x: o.take_along_axis(x, np.zeros((SAMPLES, 2), "int32"), axis=1)
    cases["tensordot"] = lambda s, t: o.tensordot(s, t, axes=[[2], [1]])
    cases["tensordot_integer"] = lambda s: o.tensordot(s, TABLE, axes=1)
    cases["tensordot_pair"] = lambda s, t: o.tensordot(s, t, axes=(2, 1))
    cases["tile"] = lambda x: o.tile(x, (1, 2))
    cases["tile_number"] = lambda x: o.tile(x, 2)
    cases["tile_array"] = lambda x: o.tile(x, np.array([1, 2]))
    cases["transpose_axes"] = lambda s: o.transpose(s, axes=(0, 2, 1))
    cases["trapezoid"] = lambda x: o.trapezoid(x, dx=0.5)
    cases["tril"] = lambda m: o.tril(m)
    cases["triu"] = lambda m: o.triu(m, k=1)
    cases["unravel_index"] = lambda i: o.unravel_index(i, (2, 3))
    cases["unstack"] = lambda s: o.unstack(s, axis=1)
    cases["unstack_num"] = lambda s: o.unstack(s, num=3, axis=1)
    cases["vander"] = lambda x: o.vander(x[0], N=3)
    cases["view"] = lambda x: o.view(x, "int32") if hasattr(o, "view") else x
    cases["where"] = lambda x, y: o.where(x > 0, x, y)
    cases["where_numbers"] = lambda x: o.where(x > 0, 1.0, 0.0)
    cases["where_integers"] = lambda x: o.where(x > 0, 1, 0)
    cases["where_number"] = lambda x: o.where(x > 0, x, 0.0)
    cases["where_number_first"] = lambda x: o.where(x > 0, -1, x)
    cases["where_array"] = lambda x: o.where(x > 0, x, ROW)
    cases["where_constant_condition"] = lambda x: o.where([True, False, True, False, True, True], x, 0.0)
    cases["where_of_numbers"] = lambda j, x: o.where(j > 3, x, j)
    cases["corrcoef"] = lambda x: o.corrcoef(x)
    cases["correlate"] = lambda x: o.correlate(x[0], x[1], mode="full")
    cases["unique"] = lambda i: o.unique(i, size=5, fill_value=0) if hasattr(o, "unique") else i
    cases["nonzero"] = lambda i: o.nonzero(i)[0]
    cases["allclose"] = lambda x: o.allclose(x, x) if hasattr(o, "allclose") else x
    cases["arange"] = lambda x: x + o.arange(6)
    # --- nn
    for name in ["softmax", "log_softmax", "sparsemax", "glu", "normalize"]:
        if hasattr(o, name):
            cases[f"{name}_axis"] = (
                bound(lambda f: lambda t: f(o.swapaxes(t, 1, 2), axis=1), getattr(o, name))
                if name == "glu"
                else bound(lambda f: lambda s: f(s, axis=1), getattr(o, name))
            )
    cases["softmax_axes"] = lambda s: o.softmax(s, axis=(1, 2))
    cases["log_softmax_axes"] = lambda s: o.log_softmax(s, axis=(1, 2))
    cases["softmax_all"] = lambda s: o.softmax(s, axis=None)
    cases["glu"] = lambda x: o.glu(x)
    cases["leaky_relu_slope"] = lambda x: o.leaky_relu(x, negative_slope=0.1)
    cases["elu_alpha"] = lambda x: o.elu(x, alpha=0.5)
    cases["celu_alpha"] = lambda x: o.celu(x, alpha=0.5)
    cases["gelu_exact"] = lambda x: o.gelu(x, approximate=False)
    cases["squareplus_b"] = lambda x: o.squareplus(x, b=2)
    cases["threshold"] = lambda x: o.threshold(x, 0.5, -1.0)
    cases["hard_shrink_half"] = lambda x: o.hard_shrink(x, threshold=1.0)
    cases["soft_shrink_half"] = lambda x: o.soft_shrink(x, threshold=1.0)
    cases["relu_of_integers"] = lambda j: o.relu(j - 4)
    cases["sigmoid_of_integers"] = lambda j: o.sigmoid(j - 4)
    cases["exp_of_integers"] = lambda j: o.exp(j)
    cases["sqrt_of_integers"] = lambda j: o.sqrt(j)
    cases["log_of_integers"] = lambda j: o.log(j)
    cases["floor_of_integers"] = lambda j: o.floor(j)
    cases["mean_of_integers"] = lambda j: o.mean(j)
    cases["var_of_integers"] = lambda j: o.var(j, axis=1)
    cases["sum_of_bools"] = lambda b: o.sum(b)
    cases["normalize_order"] = lambda x: o.normalize(x, axis=1, order=1)
    cases["normalize_epsilon"] = lambda x: o.normalize(x, axis=1, epsilon=1.0)
    cases["normalize_small"] = lambda x: o.normalize(x * 1e-7, axis=1)
    cases["normalize_axis_options"] = lambda x: o.normalize(x, axis=1, epsilon=3.0)
    cases["one_hot"] = lambda i: o.one_hot(i, 5)
    cases["one_hot_axis"] = lambda i: o.one_hot(i, 4, axis=1)
    cases["one_hot_dtype"] = lambda i: o.one_hot(i, 5, dtype="int32")
    cases["multi_hot"] = lambda i: o.multi_hot(i, 5)
    cases["multi_hot_options"] = lambda i: o.multi_hot(i, 5, axis=-1, dtype="int32")
    cases["max_pool"] = lambda g: o.max_pool(g, 2)
    cases["max_pool_options"] = lambda g: o.max_pool(g, (2, 3), strides=1, padding="same", data_format="channels_last")
    cases["average_pool"] = lambda g: o.average_pool(g, 2, strides=2)
    cases["average_pool_same"] = lambda g: o.average_pool(g, 4, strides=3, padding="same")
    cases["average_pool_1d"] = lambda s: o.average_pool(s, 2, strides=1)
    cases["max_pool_1d"] = lambda s: o.max_pool(s, 2, strides=1, padding="same")
    cases["adaptive_average_pool"] = lambda g: o.adaptive_average_pool(g, (2, 3))
    cases["adaptive_max_pool"] = lambda g: o.adaptive_max_pool(g, 2)
    cases["conv_1d"] = lambda s: o.conv(s, KERNEL, strides=1, padding="same")
    cases["conv_2d"] = lambda g: o.conv(g, KERNEL2, strides=2, padding="valid")
    cases["conv_2d_dilated"] = lambda g: o.conv(g, KERNEL2, padding="same", dilation_rate=2)
    cases["depthwise_conv"] = lambda g: o.depthwise_conv(g, DEPTH, strides=1, padding="same")
    cases["separable_conv"] = lambda g: o.separable_conv(g, DEPTH, POINT)
    cases["conv_transpose"] = lambda g: o.conv_transpose(g, KERNEL2.transpose(0, 1, 3, 2), strides=2, padding="same")
    cases["binary_crossentropy"] = lambda p, b: o.binary_crossentropy(o.cast(b, "float32"), p)
    cases["binary_crossentropy_logits"] = lambda x, b: o.binary_crossentropy(o.cast(b, "float32"), x, from_logits=True)
    cases["categorical_crossentropy"] = lambda p: o.categorical_crossentropy(np.eye(6, dtype="float32")[:4], p)
    cases["sparse_categorical_crossentropy"] = lambda p: o.sparse_categorical_crossentropy(np.array([0, 1, 2, 3]), p)
    cases["moments"] = lambda s: o.moments(s, axes=[1])
    cases["moments_kept"] = lambda s: o.moments(s, axes=[1, 2], keepdims=True)
    cases["batch_normalization"] = lambda x: o.batch_normalization(x, ROW, np.abs(ROW) + 1, axis=1)
    cases["batch_normalization_scaled"] = lambda x: o.batch_normalization(
        x, ROW, np.abs(ROW) + 1, axis=-1, offset=ROW, scale=ROW + 2, epsilon=0.01
    )
    cases["psnr"] = lambda x, y: o.psnr(x, y, 2.0)
    cases["dot_product_attention"] = lambda g: o.dot_product_attention(g, g, g)
    cases["rms_normalization"] = lambda s: o.rms_normalization(s, axis=-1)
    cases["rms_normalization_scaled"] = lambda x: o.rms_normalization(x, scale=ROW, axis=-1, epsilon=0.01)
    cases["layer_normalization"] = lambda s: o.layer_normalization(s, axis=-1)
    cases["layer_normalization_scaled"] = lambda x: o.layer_normalization(x, gamma=ROW, beta=ROW, axis=-1, epsilon=0.01)
    cases["polar"] = lambda p, x: o.real(o.polar(p, x))
    cases["unfold"] = lambda g: o.unfold(o.transpose(g, (0, 3, 1, 2)), 2)
    cases["depth_to_space"] = lambda g: o.depth_to_space(o.concatenate([g] * 4, axis=-1), 2)
    cases["space_to_depth"] = lambda g: o.space_to_depth(g, 2)
    cases["ctc_loss"] = lambda s, i: o.ctc_loss(i[:, :2] % 3 + 1, s, np.array([1] * 4), np.array([3] * 4))
    # --- math
    cases["segment_sum"] = lambda x: o.segment_sum(x[:, 0], [0, 0, 1, 1], num_segments=2)
    cases["segment_max"] = lambda x: o.segment_max(x[:, 0], np.array([0, 0, 1, 1]), num_segments=2)
    cases["top_k"] = lambda x: o.top_k(x, 2)
    cases["top_k_unsorted"] = lambda x: o.sort(o.top_k(x, 2, sorted=False)[0], axis=-1)
    cases["in_top_k"] = lambda x: o.in_top_k(np.array([0, 1, 2, 3]), x, k=2)
    cases["extract_sequences"] = lambda x: o.extract_sequences(x, 3, 2)
    cases["fft"] = lambda x, y: o.fft((x, y))
    cases["fft2"] = lambda m: o.fft2((m, m))
    cases["ifft2"] = lambda m: o.ifft2((m, m))
    cases["rfft"] = lambda w: o.rfft(w)
    cases["irfft"] = lambda w: o.irfft(o.rfft(w))
    cases["stft"] = lambda w: o.stft(w, 4, 2, 4)
    cases["logdet"] = lambda q: o.logdet(q)
    cases["view_as_complex"] = lambda t: o.real(o.view_as_complex(t))
    cases["view_as_real"] = lambda t: o.view_as_real(o.view_as_complex(t))
    cases["cdist"] = lambda s: o.cdist(s, s) if hasattr(o, "cdist") else s
    # --- linalg
    cases["cholesky"] = lambda q: o.cholesky(q)
    cases["cholesky_upper"] = lambda q: o.cholesky(q, upper=True)
    cases["cholesky_inverse"] = lambda q: o.cholesky_inverse(o.cholesky(q))
    cases["det"] = lambda m: o.det(m)
    cases["eigh"] = lambda q: o.eigh(q)[0]
    cases["inv"] = lambda q: o.inv(q)
    cases["lu_factor"] = lambda q: o.lu_factor(q)
    cases["norm"] = lambda x: o.norm(x, axis=1)
    cases["norm_all"] = lambda s: o.norm(s)
    cases["norm_matrix"] = lambda s: o.norm(s, axis=(1, 2), keepdims=True)
    for order in (1, 2, 3, "fro", "nuc", float("inf"), -1):
        axis = (1, 2) if order in ("fro", "nuc") else 1
        cases[f"norm_{order}"] = bound(lambda d, a: lambda s: o.norm(s, ord=d, axis=a), order, axis)
        if order not in ("fro", "nuc", 3):
            cases[f"norm_matrix_{order}"] = bound(lambda d: lambda s: o.norm(s, ord=d, axis=(1, 2)), order)
    cases["pinv"] = lambda s: o.pinv(s) if hasattr(o, "pinv") else s
    cases["qr"] = lambda q: o.abs(o.qr(q)[1])
    cases["solve"] = lambda q, s: o.solve(q, s)
    cases["solve_array"] = lambda q: o.solve(q, np.ones((SAMPLES, 3, 1), "float32"))
    cases["solve_triangular"] = lambda q, s: o.solve_triangular(q, s, lower=True)
    cases["svd"] = lambda q: o.svd(q, compute_uv=False)
    cases["matrix_rank"] = lambda q: o.matrix_rank(q) if hasattr(o, "matrix_rank") else q
    cases["lstsq"] = lambda q: o.lstsq(q[0], q[1])
    # --- image
    cases["rgb_to_grayscale"] = lambda g: o.image.rgb_to_grayscale(g)
    cases["rgb_to_hsv"] = lambda g: o.image.rgb_to_hsv(g)
    cases["hsv_to_rgb"] = lambda g: o.image.hsv_to_rgb(g)
    for how in ("bilinear", "nearest", "bicubic", "lanczos3", "area"):
        cases[f"resize_{how}"] = bound(lambda h: lambda g: o.image.resize(g, (4, 9), interpolation=h), how)
    cases["resize_antialias"] = lambda g: o.image.resize(g, (3, 3), antialias=True)
    cases["resize_crop"] = lambda g: o.image.resize(g, (4, 3), crop_to_aspect_ratio=True)
    cases["affine_transform"] = lambda g: o.image.affine_transform(
        g, np.tile(np.array([1.0, 0.1, 0, 0, 1.0, 0.5, 0, 0], "float32"), (SAMPLES, 1))
    )
    cases["extract_patches"] = lambda g: o.image.extract_patches(g, (2, 2))
    cases["extract_patches_same"] = lambda g: o.image.extract_patches(g, 3, strides=2, padding="same")
    cases["map_coordinates"] = lambda g: o.image.map_coordinates(g, np.zeros((4, 2), "float32"), order=1)
    cases["pad_images"] = lambda g: o.image.pad_images(
        g, top_padding=1, left_padding=2, bottom_padding=0, right_padding=1
    )
    cases["crop_images"] = lambda g: o.image.crop_images(
        g, top_cropping=1, left_cropping=2, bottom_cropping=0, right_cropping=1
    )
    cases["gaussian_blur"] = lambda g: o.image.gaussian_blur(g, kernel_size=(3, 3), sigma=(1.0, 1.0))
    cases["perspective_transform"] = lambda g: o.image.perspective_transform(
        g,
        np.tile(np.array([[0, 0], [0, 5], [5, 0], [5, 5]], "float32"), (SAMPLES, 1, 1)),
        np.tile(np.array([[0, 0], [0, 4], [5, 0], [5, 5]], "float32"), (SAMPLES, 1, 1)),
    )
    cases["scale_and_translate"] = lambda g: o.image.scale_and_translate(
        g, (4, 6, 6, 3), np.array([1.0, 1.0], "float32"), np.array([0.5, 0.0], "float32"), (1, 2), "linear"
    )
    if hasattr(o.image, "sobel_edges"):
        cases["sobel_edges"] = lambda g: o.image.sobel_edges(g)
    if hasattr(o.image, "ssim"):
        cases["ssim"] = lambda g: o.image.ssim(g, g * 0.9, 1.0)
    # --- core
    cases["scatter"] = lambda i, x: o.scatter(i[:, :1], x[:, 0], (5,))
    cases["scatter_update"] = lambda x: o.scatter_update(x, [[0, 1], [2, 3]], [1.0, 2.0])
    cases["scatter_update_array"] = lambda x: o.scatter_update(x, np.array([[0, 1]]), np.array([1.0], "float32"))
    cases["slice"] = lambda x: o.slice(x, (0, 1), (SAMPLES, 3))
    cases["slice_array"] = lambda x: o.slice(x, np.array([0, 1]), (SAMPLES, 3))
    cases["slice_update"] = lambda x: o.slice_update(x, (0, 1), np.ones((SAMPLES, 2), "float32"))
    cases["map"] = lambda x: o.map(lambda r: r * 2.0, x)
    cases["cond"] = lambda x: o.cond(o.sum(x) > 0, lambda: x, lambda: -x)
    cases["fori_loop"] = lambda x: o.fori_loop(0, 3, lambda i, v: v + 1.0, x)
    cases["vectorized_map"] = lambda x: o.vectorized_map(lambda r: r * 2.0, x)
    return cases


CASES = made()


def model_of(function):
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    inputs = {
        name: keras.Input(batch_shape=INPUTS[name].shape, dtype=DTYPES.get(name, "float32"), name=f"input_{name}")
        for name in names
    }
    found = function(**inputs)
    found = list(found) if isinstance(found, (list, tuple)) else found
    return keras.Model(list(inputs.values()), found), [INPUTS[name] for name in names], names


def computed(model, given):
    found = model(given)
    return [ops.convert_to_numpy(value) for value in keras.tree.flatten(found)]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    configs, arrays, unmade = {}, {f"input/{name}": value for name, value in INPUTS.items()}, {}
    for name, function in CASES.items():
        try:
            model, given, _names = model_of(function)
            path = folder / "model.keras"
            model.save(path)
            outputs = computed(model, given)
            again = computed(keras.models.load_model(path), given)
        except Exception as error:  # noqa: BLE001  (what genuine Keras itself cannot make, save or load is reported)
            unmade[name] = f"{type(error).__name__}: {str(error)[:150]}"
            continue
        with zipfile.ZipFile(path) as file:
            configs[name] = json.loads(file.read("config.json"))
        if not all(np.allclose(a, b, equal_nan=True) for a, b in zip(outputs, again, strict=False)):
            unmade[name] = "Keras itself computes something else after loading"
            del configs[name]
            continue
        arrays |= {f"{name}/{k}": value for k, value in enumerate(outputs)}
    (folder / "model.keras").unlink()
    text = json.dumps(configs, separators=(",", ":")).encode()
    (folder / "configs.json.gz").write_bytes(gzip.compress(text, mtime=0))
    np.savez_compressed(folder / "io.npz", **arrays)
    print(f"{len(configs)} cases; {len(unmade)} that Keras {keras.__version__} itself cannot make, save or load:")
    for name, why in unmade.items():
        print(f"  {name}: {why}".replace("\n", " "))


if __name__ == "__main__":
    main()

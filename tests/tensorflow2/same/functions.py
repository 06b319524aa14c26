"""Functions of tensors: names, arguments, numbers, shapes and types."""

import numpy as np

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], dtype="float32")
Y = np.array([[2.0, 0.5, -1.0], [1.5, 4.0, 0.25]], dtype="float32")
SMALL = np.array([[0.5, -0.5, 0.25], [0.1, -0.25, 0.75]], dtype="float32")
WHOLE = np.array([[3, 1, 2], [0, 2, 1]], dtype="int32")
SQUARE = np.array([[2.0, 0.5], [0.5, 1.0]], dtype="float32")


def arrays(values):
    if isinstance(values, (list, tuple)):
        return [arrays(each) for each in values]
    return np.asarray(values.numpy())


def case_elementwise(tf):
    of_one = "abs cos cosh exp floor negative round sigmoid sign sin sinh square tan tanh"
    positive = "math.log math.log1p sqrt math.rsqrt math.reciprocal"
    small = "acos asin atan asinh atanh math.erf math.expm1 math.softplus math.ceil"
    of_two = (
        "add subtract multiply divide truediv maximum minimum pow equal not_equal less less_equal greater greater_equal"
    )
    found = {}
    for names, values in ((of_one, (X,)), (positive, (np.abs(X),)), (small, (SMALL,)), (of_two, (np.abs(X), Y))):
        for name in names.split():
            function = tf
            for part in name.split("."):
                function = getattr(function, part)
            found[name] = arrays(function(*map(tf.constant, values)))
    return found


def case_reductions(tf):
    found = {}
    for name in ["sum", "mean", "max", "min", "prod", "logsumexp"]:
        function = getattr(tf, f"reduce_{name}")
        found[name] = arrays(
            [function(X), function(X, 1), function(X, axis=[0, 1]), function(X, axis=0, keepdims=True)]
        )
    for name in ("all", "any"):
        found[name] = arrays(getattr(tf, f"reduce_{name}")(tf.constant(X) > 0, axis=1))
    found["std"] = arrays([tf.math.reduce_std(X, 1), tf.math.reduce_variance(X, axis=0)])
    found["argmax"] = arrays(
        [tf.argmax(X), tf.argmax(X, 1), tf.argmin(X, axis=-1), tf.argmax(X, 1, output_type=tf.int32)]
    )
    found["cumsum"] = arrays(
        [
            tf.cumsum(X, 1),
            tf.cumsum(X, axis=1, exclusive=True),
            tf.cumsum(X, axis=1, reverse=True),
            tf.math.cumprod(X, 1),
        ]
    )
    found["norm"] = arrays(
        [tf.norm(X), tf.norm(X, axis=1), tf.norm(X, ord=1, axis=1), tf.linalg.norm(X, axis=0, keepdims=True)]
    )
    found["unit"] = arrays([tf.math.l2_normalize(X, axis=1), tf.linalg.global_norm([X, Y])])
    return found


def case_shapes(tf):
    x = tf.constant(X)
    parts = tf.split(tf.range(6), [1, 2, 3])
    return {
        "shape": arrays([tf.shape(x), tf.size(x), tf.rank(x)]),
        "lists": [x.shape[0], x.get_shape().as_list(), list(tf.TensorShape([None, 2]).as_list())],
        "reshape": arrays([tf.reshape(x, [-1]), tf.reshape(x, (3, tf.shape(x)[0])), tf.expand_dims(x, 1)]),
        "squeeze": arrays([tf.squeeze(tf.zeros((1, 2, 1))), tf.squeeze(tf.zeros((1, 2, 1)), axis=[0])]),
        "transpose": arrays([tf.transpose(x), tf.transpose(tf.zeros((2, 3, 4)), perm=[1, 0, 2])]),
        "concat": arrays([tf.concat([x, x], 0), tf.concat([x, x], axis=-1), tf.stack([x, x], axis=1)]),
        "split": [arrays(parts), arrays(tf.split(x, 3, axis=1)), arrays(tf.unstack(x, axis=1))],
        "tile": arrays([tf.tile(x, [1, 2]), tf.repeat(x, 2, axis=0), tf.reverse(x, axis=[1]), tf.roll(x, 1, 1)]),
        "pad": arrays(
            [
                tf.pad(x, [[1, 0], [0, 2]]),
                tf.pad(x, [[0, 0], [1, 1]], "REFLECT"),
                tf.pad(x, [[0, 0], [1, 1]], "SYMMETRIC"),
            ]
        ),
        "slices": arrays([tf.slice(x, [0, 1], [-1, 2]), x[:, tf.newaxis], x[..., -1], x[0, 1:]]),
        "broadcast": arrays([tf.broadcast_to(x[0], [2, 3]), tf.meshgrid(tf.range(2), tf.range(3))[0]]),
    }


def case_made(tf):
    return {
        "types": arrays(
            [tf.constant(1), tf.constant(1.5), tf.constant([True]), tf.constant(np.ones(2)), tf.constant(np.arange(2))]
        ),
        "constant": arrays(
            [tf.constant(2, tf.float32), tf.constant(3, shape=[2, 2]), tf.constant([1, 2, 3, 4], shape=(2, 2))]
        ),
        "filled": arrays(
            [
                tf.zeros([2]),
                tf.ones((1, 2), tf.int32),
                tf.fill([2, 1], 7),
                tf.zeros_like(X),
                tf.ones_like(WHOLE),
                tf.eye(2),
                tf.eye(2, 3),
            ]
        ),
        "range": arrays([tf.range(3), tf.range(1, 7, 2), tf.range(0.0, 1.0, 0.25), tf.linspace(0.0, 1.0, 3)]),
        "cast": arrays(
            [
                tf.cast(X, tf.int32),
                tf.cast(WHOLE, tf.float32),
                tf.cast([1, 0], tf.bool),
                tf.convert_to_tensor(X, dtype=tf.float32),
            ]
        ),
        "one_hot": arrays(
            [
                tf.one_hot([0, 2], 3),
                tf.one_hot([1], 2, on_value=5.0, off_value=-1.0),
                tf.one_hot([0, 1], 2, axis=0),
                tf.one_hot([1], 2, dtype=tf.int32),
            ]
        ),
    }


def case_picked(tf):
    x = tf.constant(X)
    unique = tf.unique([3, 1, 3, 2])
    counts = tf.unique_with_counts([3, 1, 3, 2])
    batched = tf.gather([[1, 2, 3], [4, 5, 6]], [[0, 2], [1, 1]], axis=1, batch_dims=1)
    return {
        "gather": arrays([tf.gather(x, [1, 0]), tf.gather(x, [2], axis=1), batched, tf.gather_nd(x, [[0, 1], [1, 2]])]),
        "where": arrays([tf.where(x > 0, x, tf.zeros_like(x)), tf.where(x > 0), tf.where([True, False], 1.0, 2.0)]),
        "mask": arrays([tf.boolean_mask(x, x > 0), tf.sequence_mask([1, 3], 4), tf.sequence_mask([1, 2])]),
        "scatter": arrays(
            [
                tf.scatter_nd([[0], [2]], [5, 6], [4]),
                tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]),
                tf.tensor_scatter_nd_add([1, 2, 3], [[1], [1]], [9, 1]),
            ]
        ),
        "sort": arrays(
            [
                tf.sort(X, 1),
                tf.sort(X, direction="DESCENDING"),
                tf.argsort(X, 1),
                tf.argsort([1, 3, 2], direction="DESCENDING"),
            ]
        ),
        "top_k": arrays([*tf.math.top_k(X, 2), tf.math.top_k(X).values]),
        "unique": arrays([unique.y, unique.idx, counts.y, counts.count]),
        "clip": arrays([tf.clip_by_value(X, -1, 1), tf.clip_by_norm(X, 1.0), *tf.clip_by_global_norm([X, Y], 1.0)[0]]),
        "counts": arrays(
            [tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]), tf.math.bincount([0, 2, 2]), tf.math.count_nonzero(X > 0)]
        ),
        "segments": arrays([tf.math.segment_sum(X, [0, 0]), tf.math.unsorted_segment_sum(X, [1, 0], 3)]),
        "searchsorted": arrays(tf.searchsorted([1, 3, 5], [0, 3, 6])),
    }


def case_matrices(tf):
    s, u, v = tf.linalg.svd(SQUARE)
    return {
        "matmul": arrays([tf.matmul(X, Y, transpose_b=True), tf.matmul(X, Y, transpose_a=True), X @ tf.transpose(Y)]),
        "linalg": arrays(
            [tf.linalg.inv(SQUARE), tf.linalg.det(SQUARE), tf.linalg.cholesky(SQUARE), tf.linalg.trace(SQUARE)]
        ),
        "solve": arrays([tf.linalg.solve(SQUARE, [[1.0], [2.0]]), s, u @ tf.linalg.diag(s) @ tf.transpose(v)]),
        "diagonals": arrays(
            [tf.linalg.diag([1.0, 2.0]), tf.linalg.diag_part(SQUARE), tf.linalg.band_part(SQUARE, -1, 0)]
        ),
        "sums": arrays([tf.einsum("ij,kj->ik", X, Y), tf.tensordot(X, Y, axes=[[1], [1]]), tf.add_n([X, Y])]),
    }


def case_control(tf):
    total = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + i), [tf.constant(0), tf.constant(0)])
    array = tf.TensorArray(tf.float32, size=2)
    array = array.write(0, 1.0).write(1, 2.0)
    return {
        "loops": arrays(
            [*total, tf.map_fn(lambda row: row * 2, tf.constant(X)), tf.scan(lambda a, b: a + b, tf.range(4))]
        ),
        "branches": arrays([tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2)), array.stack()]),
        "functions": arrays(
            [tf.numpy_function(lambda a: a + 1, [X], tf.float32), tf.function(lambda a: a * 2)(tf.constant(2.0))]
        ),
        "nested": tf.nest.map_structure(lambda each: each + 1, {"a": 1, "b": [2, 3]}),
        "strings": [
            tf.strings.join(["a", "b"], separator="-").numpy().decode(),
            tf.strings.lower("ABC").numpy().decode(),
            tf.strings.regex_replace("a1b2", "[0-9]", "x").numpy().decode(),
            [each.decode() for each in tf.strings.split("a b c").numpy()],
            int(tf.strings.length("abc").numpy()),
        ],
        "numbers": arrays(tf.strings.to_number(["1.5", "2"])),
    }


def case_variables(tf):
    count, floats = tf.Variable(3), tf.Variable([1.0, 2.0], name="w")
    floats.assign_add([1.0, 1.0])
    floats.assign_sub([0.5, 0.5])
    kept = arrays([count.assign_add(2), floats, floats * 2, 1 - floats, floats[0]])
    floats.assign([0.0, 0.0])

    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.b = tf.Variable(1.0)
            self.a = [tf.Variable([2.0]), tf.Variable(3, trainable=False)]

    net = Net()
    return {
        "values": kept,
        "after": arrays(floats),
        "is": [isinstance(floats, tf.Variable), isinstance(tf.zeros(1), tf.Tensor), tf.is_tensor(tf.zeros(1))],
        "module": [len(net.variables), len(net.trainable_variables), net.name],
        "order": arrays(list(net.trainable_variables)),
    }

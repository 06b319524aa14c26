"""Calls of backend functions, as text: the genuine Keras and ours run the same ones.

Small letters are data (symbolic tensors where a graph is written), capitals are constants such as kernels. The file
needs nothing but NumPy, since the genuine Keras runs on an old Python.
"""

import numpy as np


def _numbers(*shape, low=-1.0, high=1.0, seed=0):
    return np.random.RandomState(sum(shape) + seed).uniform(low, high, shape).astype("float32")


_probabilities = _numbers(4, 5, low=0.05, high=1.0)
_in_time = _numbers(3, 6, 4, low=0.02, high=1.0) ** 3

DATA = {
    "x": _numbers(4, 3),
    "y": _numbers(4, 3, seed=1),
    "p": _numbers(4, 3, low=0.1, high=2.0),
    "v": _numbers(6),
    "t": _numbers(2, 3, 4),
    "u": _numbers(2, 4, 5),
    "w": _numbers(2, 4),
    "f": _numbers(2, 3, 4, 5),
    "m": np.array([[1, 1, 0], [1, 0, 1]], "float32"),
    "i": np.array([[3, 1, 2], [0, 5, 4]], "int32"),
    "n": np.array([2, 0, 1, 2], "int32"),
    "b": np.array([[True, False], [True, True]]),
    "q": (_probabilities / _probabilities.sum(-1, keepdims=True)).astype("float32"),
    "h": np.eye(5, dtype="float32")[[1, 0, 4, 2]],
    "c": np.array([[1], [0], [4], [2]], "float32"),
    "s": _numbers(2, 7, 3),
    "a": _numbers(2, 6, 7, 3),
    "e": _numbers(2, 3, 6, 7),
    "d": _numbers(2, 4, 5, 6, 2),
    "g": _numbers(2, 2, 4, 5, 6),
    "z": _numbers(2, 3, 4, 3),
    "k": _numbers(2, 3, 3, 4),
    "o": (_in_time / _in_time.sum(-1, keepdims=True)).astype("float32"),
    "r": np.array([[0, 1, 2], [2, 2, 0], [1, 0, 0]], "int32"),
    "l": np.array([[3], [2], [1]], "int32"),
    "j": np.array([[6], [6], [4]], "int32"),
}
CONSTANTS = {
    "K1": _numbers(3, 3, 4),
    "K2": _numbers(3, 2, 3, 4),
    "K3": _numbers(2, 3, 2, 2, 3),
    "T2": _numbers(3, 3, 5, 3),
    "T3": _numbers(2, 3, 2, 3, 2),
    "D1": _numbers(3, 3, 2),
    "D2": _numbers(3, 3, 3, 2),
    "P1": _numbers(1, 6, 4),
    "P2": _numbers(1, 1, 6, 4),
    "L1": _numbers(5, 9, 4),
    "L2": _numbers(4, 18, 4),
    "B3": _numbers(3),
    "B4": _numbers(6, 7, 3),
    "B2": _numbers(2),
    "MEAN": _numbers(3, seed=3),
    "VAR": _numbers(3, low=0.5, high=2.0, seed=3),
    "GAMMA": _numbers(3, seed=4),
    "BETA": _numbers(3, seed=5),
    "W3": _numbers(3, 5),
    "TABLE": _numbers(6, 4),
}

# Words that stand for the two orders of axes: data, data format.
_ORDERS = {"IMAGE": ("a", "e"), "VOLUME": ("d", "g"), "SMALL": ("z", "k")}
_FORMATS = ("channels_last", "channels_first")


def _in_both_orders(call):
    for which, data_format in enumerate(_FORMATS):
        text = call.replace("FORMAT", repr(data_format))
        for word, names in _ORDERS.items():
            text = text.replace(word, names[which])
        yield text


_REDUCTIONS = ("sum", "prod", "mean", "var", "std", "max", "min", "logsumexp")
_COMPARED = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum")

_CALLS = [
    *(f"K.{name}({args})" for name in _REDUCTIONS for args in ("t", "t, axis=1", "t, axis=[0, -1], keepdims=True")),
    *(f"K.{name}(i, axis=0)" for name in ("sum", "prod", "mean", "max", "min", "cumsum", "cumprod")),
    *("K.mean(b)", "K.mean(b, axis=0)", "K.var(b)", "K.std(b, axis=1)"),
    *("K.any(b, axis=1)", "K.all(b, axis=0)", "K.any(m)", "K.all(m, axis=-1, keepdims=True)"),
    *("K.argmax(t)", "K.argmax(t, axis=1)", "K.argmin(t)", "K.argmin(t, axis=0)", "K.argmax(i)"),
    *("K.cumsum(t)", "K.cumsum(t, axis=1)", "K.cumprod(t)", "K.cumprod(t, axis=-1)"),
    *(
        f"K.{name}(x)"
        for name in ("abs", "square", "sqrt", "exp", "round", "sign", "sin", "cos", "softplus", "softsign")
    ),
    *(f"K.{name}(10 * x)" for name in ("tanh", "sigmoid", "hard_sigmoid", "elu", "relu", "round", "softplus")),
    *("K.log(p)", "K.pow(p, 3)", "K.pow(p, x)", "K.pow(p, 0.5)", "K.abs(i - 3)", "K.square(i)"),
    *("K.clip(x, -0.5, 0.25)", "K.clip(x, 0.5, 0.25)", "K.clip(x, 0.0, None)"),
    *(f"K.{name}({args})" for name in _COMPARED for args in ("x, y", "x, 0.25")),
    *("K.equal(i, 3)", "K.maximum(x, K.sum(y, axis=0))", "K.greater(x, y[:, :1])"),
    *(
        "K.cast(10 * x, 'int32')",
        "K.cast(b, 'float32')",
        "K.cast(x, 'float64')",
        "K.cast(i, 'bool')",
        "K.cast_to_floatx([1, 2])",
    ),
    *("K.stop_gradient(x)", "K.identity(x)"),
    *("K.dot(x, W3)", "K.dot(t, TABLE[:4, :3])", "K.dot(t, u[:1])", "K.dot(x, K.transpose(y))"),
    *(
        "K.batch_dot(t, u)",
        "K.batch_dot(x, y, axes=1)",
        "K.batch_dot(t, u, axes=[2, 1])",
        "K.batch_dot(t, t, axes=[2, 2])",
    ),
    *(
        "K.batch_dot(t, t, axes=1)",
        "K.batch_dot(t, w, axes=[2, 1])",
        "K.batch_dot(w, u, axes=[1, 1])",
        "K.batch_dot(w, u)",
    ),
    *(
        "K.batch_dot(t, w, axes=(2, 1))",
        "K.batch_dot(f, f, axes=[3, 3])",
        "K.batch_dot(t, w[:, :3], axes=1)",
        "K.batch_dot(w, t, axes=[1, 2])",
    ),
    *(
        "K.transpose(x)",
        "K.transpose(t)",
        "K.permute_dimensions(t, (0, 2, 1))",
        "K.permute_dimensions(f, [3, 0, 2, 1])",
    ),
    *("K.gather(TABLE, i)", "K.gather(TABLE, n)", "K.gather(t, [1, 0, 0])", "K.gather(x, n)"),
    *("K.concatenate([x, y])", "K.concatenate([x, y], axis=0)", "K.concatenate([t, 2 * t, -t], axis=1)"),
    *(
        "K.reshape(t, (2, 12))",
        "K.reshape(t, (-1, 4))",
        "K.reshape(t, [2, 2, -1])",
        "K.reshape(t, (K.shape(t)[0], 4, 3))",
    ),
    *(
        "K.flatten(t)",
        "K.batch_flatten(f)",
        "K.batch_flatten(x)",
        "K.expand_dims(x)",
        "K.expand_dims(t, 1)",
        "K.expand_dims(x, -2)",
    ),
    *("K.squeeze(c, 1)", "K.squeeze(K.expand_dims(t, 2), 2)", "K.squeeze(c, axis=-1)"),
    *(
        "K.repeat(x, 2)",
        "K.repeat_elements(t, 3, 1)",
        "K.repeat_elements(t, 2, axis=-1)",
        "K.tile(x, [1, 2])",
        "K.tile(v, 3)",
        "K.tile(t, (2, 1, 3))",
    ),
    *("K.stack([x, y])", "K.stack([x, y], axis=1)", "K.stack([x, y], -1)", "K.one_hot(n, 3)", "K.one_hot(i, 4)"),
    *("K.reverse(t, 1)", "K.reverse(t, [0, 2])", "K.slice(t, [0, 1, 1], [2, 2, 3])", "K.slice(x, (1, 0), (2, -1))"),
    *("K.arange(5)", "K.arange(2, 7)", "K.arange(1, 2, 0.25, 'float32')", "K.arange(6, 0, -2)", "K.arange(-3)"),
    *(
        "K.temporal_padding(t)",
        "K.temporal_padding(t, (2, 0))",
        "K.shape(t)",
        "K.shape(x)[0]",
        "K.cast(K.shape(t)[1], 'float32')",
    ),
    *("K.zeros_like(x)", "K.ones_like(i)", "K.zeros_like(x, dtype='int32')", "K.ones_like(t)"),
    *(
        "K.zeros((2, 3))",
        "K.ones((4,), dtype='int32')",
        "K.eye(3)",
        "K.constant([[1, 2], [3, 4]])",
        "K.constant(2, shape=(2, 2))",
    ),
    *("K.variable([1, 2])", "K.constant([1, 2, 3], dtype='int32')", "K.variable(3.0, dtype='float64')"),
    *(
        "K.relu(x, 0.1)",
        "K.relu(3 * x, max_value=1.0)",
        "K.relu(x, 0.2, 0.5, 0.25)",
        "K.relu(x, threshold=0.5)",
        "K.elu(x, 0.5)",
    ),
    *("K.softmax(x)", "K.softmax(t, axis=1)", "K.softmax(f)", "K.softmax(v)"),
    *("K.categorical_crossentropy(h, q)", "K.categorical_crossentropy(h, x[:, :1] * h, from_logits=True)"),
    *("K.categorical_crossentropy(K.transpose(h), K.transpose(q), axis=0)", "K.categorical_crossentropy(h, 2 * q)"),
    *("K.sparse_categorical_crossentropy(c, q)", "K.sparse_categorical_crossentropy(c, 5 * q, from_logits=True)"),
    *(
        "K.binary_crossentropy(h, q)",
        "K.binary_crossentropy(h, 5 * q, from_logits=True)",
        "K.binary_crossentropy(h, h)",
    ),
    *("K.categorical_crossentropy(h, h)",),
    *("K.l2_normalize(x, 1)", "K.l2_normalize(t)", "K.l2_normalize(t, axis=-1)", "K.l2_normalize(x, axis=0)"),
    *("K.in_top_k(q, n, 1)", "K.in_top_k(q, n, 3)", "K.dropout(x, 0.0)"),
    *("K.conv1d(s, K1)", "K.conv1d(s, K1, 2, 'same')", "K.conv1d(s, K1, padding='causal', dilation_rate=2)"),
    *("K.conv1d(K.permute_dimensions(s, (0, 2, 1)), K1, strides=2, data_format='channels_first')",),
    *("K.separable_conv1d(s, D1, P1)", "K.separable_conv1d(s, D1, P1, strides=2, padding='same')"),
    *("K.local_conv1d(s, L1, (3,), (1,))",),
    *(
        "K.batch_normalization(x, MEAN, VAR, BETA, GAMMA)",
        "K.batch_normalization(x, MEAN, VAR, None, None, epsilon=0.1)",
    ),
    *("K.batch_normalization(a, MEAN, VAR, BETA, GAMMA)", "K.batch_normalization(a, MEAN, VAR, BETA, None, axis=3)"),
    *("K.batch_normalization(s, MEAN, VAR, None, GAMMA, axis=-1)",),
    *(f"K.normalize_batch_in_training(x, GAMMA, BETA, [0])[{k}]" for k in range(3)),
    *(f"K.normalize_batch_in_training(a, GAMMA, BETA, [0, 1, 2])[{k}]" for k in range(3)),
    *(f"K.normalize_batch_in_training(e, GAMMA, BETA, [0, 2, 3])[{k}]" for k in range(3)),
    *(f"K.normalize_batch_in_training(s, None, None, [0, 1], epsilon=0.1)[{k}]" for k in range(3)),
    *("K.bias_add(x, B3)", "K.bias_add(s, B3)", "K.bias_add(s, B4[0, :7])"),
    *(
        "K.switch(K.greater(x, y), x, y)",
        "K.switch(K.greater(K.sum(x), 0), x, y)",
        "K.switch(K.greater(n, 1), x, y)",
        "K.switch(m, t[:, :, 0], 2 * t[:, :, 1])",
    ),
    *("K.switch(K.equal(m, 1), t, 2 * t)", "K.switch(K.less(K.sum(x), 100), lambda: x, lambda: y)"),
    *(
        "K.in_train_phase(x, y, training=1)",
        "K.in_train_phase(x, y, training=0)",
        "K.in_test_phase(x, y, training=0)",
        "K.in_train_phase(x, y)",
        "K.in_test_phase(lambda: x, lambda: y)",
    ),
    *(
        "K.map_fn(lambda e: K.sum(e), t)",
        "K.map_fn(lambda e: e * 2, x)",
        "K.map_fn(lambda e: K.cast(K.sum(e), 'int32'), 9 * x, dtype='int32')",
    ),
    *(
        "K.foldl(lambda e, l: e * 0.5 + l, x)",
        "K.foldr(lambda e, l: e * 0.5 + l, x)",
        "K.foldl(lambda e, l: e + l, x, initializer=K.ones_like(x[0]))",
    ),
    *(
        f"K.rnn(STEP, t, [w[:, :4]]{options})[{part}]"
        for options in (
            "",
            ", mask=m",
            ", go_backwards=True",
            ", mask=m, go_backwards=True",
            ", unroll=True",
            ", mask=m, unroll=True",
            ", constants=[w]",
        )
        for part in ("0", "1", "2][0")
    ),
    *("K.ctc_batch_cost(r, o, j, l)", "K.ctc_decode(o, j[:, 0])[0][0]", "K.ctc_decode(o, j[:, 0])[1]"),
    *(
        f"K.ctc_decode(o, j[:, 0], greedy=False, beam_width=20, top_paths=3)[{part}]"
        for part in ("0][0", "0][1", "0][2", "1")
    ),
    *("K.to_dense(K.ctc_label_dense_to_sparse(r, l[:, 0]))",),
    *(
        "K.gradients(K.sum(K.square(x) * y), [x])[0]",
        "K.gradients(K.square(t), t)[0]",
        "K.gradients(K.exp(x) * y, [x, y])[1]",
    ),
    *("K.gradients(K.sum(K.square(K.gradients(K.pow(x, 3), x)[0])), x)[0]",),
    *("K.gradients(K.sum(K.conv2d(a, K2) ** 2), a)[0]",),
]
_OF_IMAGES = [
    *(
        "K.conv2d(IMAGE, K2, data_format=FORMAT)",
        "K.conv2d(IMAGE, K2, (2, 2), 'same', data_format=FORMAT)",
        "K.conv2d(IMAGE, K2, padding='same', data_format=FORMAT, dilation_rate=(2, 2))",
    ),
    *(
        "K.conv2d_transpose(IMAGE, T2, SHAPE_SAME, (2, 2), 'same', data_format=FORMAT)",
        "K.conv2d_transpose(IMAGE, T2, SHAPE_VALID, (2, 2), data_format=FORMAT)",
    ),
    *(
        "K.separable_conv2d(IMAGE, D2, P2, data_format=FORMAT)",
        "K.separable_conv2d(IMAGE, D2, P2, (2, 2), 'same', FORMAT)",
    ),
    *(
        "K.depthwise_conv2d(IMAGE, D2, data_format=FORMAT)",
        "K.depthwise_conv2d(IMAGE, D2, (2, 2), 'same', data_format=FORMAT)",
        "K.depthwise_conv2d(IMAGE, D2, dilation_rate=(2, 2), data_format=FORMAT)",
    ),
    *("K.conv3d(VOLUME, K3, data_format=FORMAT)", "K.conv3d(VOLUME, K3, (2, 2, 2), 'same', data_format=FORMAT)"),
    *("K.conv3d_transpose(VOLUME, T3, SHAPE_THREE, (2, 2, 2), 'same', data_format=FORMAT)",),
    *(
        "K.pool2d(IMAGE, (2, 2), data_format=FORMAT)",
        "K.pool2d(IMAGE, (3, 2), (2, 2), 'same', FORMAT)",
        "K.pool2d(IMAGE, (2, 2), (2, 2), data_format=FORMAT, pool_mode='avg')",
        "K.pool2d(IMAGE, (3, 3), (2, 2), 'same', FORMAT, 'avg')",
    ),
    *(
        "K.pool3d(VOLUME, (2, 2, 2), data_format=FORMAT)",
        "K.pool3d(VOLUME, (2, 2, 3), (2, 2, 2), 'same', FORMAT)",
        "K.pool3d(VOLUME, (2, 3, 2), (2, 2, 2), 'same', FORMAT, 'avg')",
    ),
    *("K.bias_add(IMAGE, B3, FORMAT)", "K.bias_add(IMAGE, B4, data_format=FORMAT)", "K.bias_add(VOLUME, B2, FORMAT)"),
    *("K.local_conv2d(SMALL, L2, (2, 3), (1, 1), (2, 2), data_format=FORMAT)",),
    *(
        "K.spatial_2d_padding(IMAGE, data_format=FORMAT)",
        "K.spatial_2d_padding(IMAGE, ((1, 0), (2, 3)), FORMAT)",
        "K.spatial_3d_padding(VOLUME, ((1, 0), (2, 3), (0, 1)), FORMAT)",
        "K.spatial_3d_padding(VOLUME, data_format=FORMAT)",
    ),
    *(
        "K.resize_images(IMAGE, 2, 3, FORMAT)",
        "K.resize_images(IMAGE, 2, 3, FORMAT, interpolation='bilinear')",
        "K.resize_volumes(VOLUME, 2, 1, 3, FORMAT)",
    ),
]
_SHAPES = {
    "SHAPE_SAME": ("(2, 12, 13, 5)", "(2, 5, 12, 13)"),
    "SHAPE_VALID": ("(2, 13, 15, 5)", "(2, 5, 13, 15)"),
    "SHAPE_THREE": ("(2, 8, 10, 11, 3)", "(2, 3, 8, 10, 11)"),
}


def _shaped(texts):
    for which, text in enumerate(texts):
        for word, shapes in _SHAPES.items():
            text = text.replace(word, shapes[which])
        yield text


CASES = [*_CALLS, *(text for call in _OF_IMAGES for text in _shaped(_in_both_orders(call)))]


# What Keras 1.2.2 alone has, by its backend.
KERAS_1 = {
    "tensorflow": [
        "K.atrous_conv2d(a, K2, 2, 'same', 'tf')",
        "K.atrous_conv2d(a, K2, 2, 'valid', 'tf')",
        "K.atrous_conv2d(e, K.permute_dimensions(K2, (3, 2, 0, 1)), 2, 'same', 'th')",
        "K.deconv2d(a, K.permute_dimensions(T2, (0, 1, 3, 2)), (2, 12, 13, 5), (2, 2), 'same', 'tf')",
        "K.deconv2d(e, K.permute_dimensions(T2, (2, 3, 0, 1)), (2, 5, 12, 13), (2, 2), 'same', 'th')",
        "K.asymmetric_temporal_padding(s, 2, 1)",
        "K.asymmetric_spatial_2d_padding(a, 1, 2, 0, 3, 'tf')",
        "K.asymmetric_spatial_2d_padding(e, 1, 2, 0, 3, 'th')",
        "K.lesser(x, y)",
        "K.lesser_equal(x, y)",
    ],
    "theano": [
        "K.ctc_cost(o[0], r[0])",
        "K.ctc_cost(o[1], r[1])",
        "K.ctc_interleave_blanks(r[0])",
        "K.ctc_create_skip_idxs(K.ctc_interleave_blanks(r[1]))",
        "K.ctc_create_skip_idxs(K.ctc_interleave_blanks(r[0]))",
    ],
}


def step(backend):
    """The step function of the cases of `rnn`: the new state is half the old one, the input and the constants."""

    def run(inputs, states):
        new = 0.5 * states[0] + inputs
        for constant in states[1:]:
            new = new + constant
        return 2.0 * new, [new]

    return run

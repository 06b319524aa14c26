"""Functions as people write them into a Lambda, for every Python that Keras ran on: nothing here is newer than 2.7.

`BODIES`: name -> (function, shapes of its inputs, arguments). `K`, `tf` and `np` are what a Lambda finds as globals.
"""

# ruff: noqa
# pyright: basic, reportUndefinedVariable=false, reportMissingImports=false

FACTOR = 0.1


def closed_over(shape, data_format):
    start, stop = shape
    return lambda x: K.resize_images(x, start, stop, data_format, "bilinear")


def cut(start, stop):
    return lambda x: x[:, :, :, start:stop]


def nested(scale):
    def function(x):
        def inner(y, z=2.0):
            return y * scale + z

        return inner(x) - inner(x * 0.5, z=1.0)

    return function


def several_statements(x, groups=2):
    channels = K.int_shape(x)[-1] // groups
    parts = []
    for i in range(groups):
        part = x[..., i * channels : (i + 1) * channels]
        if i % 2 == 0:
            part = -part
        parts.append(part)
    return K.concatenate(parts, axis=-1)


def by_format(x):
    if K.image_data_format() == "channels_first":
        return x[:, :1]
    else:
        return x[..., :1]


def by_rank(x):
    if K.ndim(x) == 4:
        y = K.mean(x, axis=[1, 2])
    elif K.ndim(x) == 3:
        y = K.mean(x, axis=1)
    else:
        y = x
    return y + 1


def imports_inside(x):
    import tensorflow as tf
    from keras import backend as K

    return tf.square(x) + K.sum(x, axis=-1, keepdims=True)


def with_break(x):
    y = x
    for i in range(10):
        if i == 3:
            break
        if i == 1:
            continue
        y = y + i
    return y


def with_while(x):
    n = 4
    while n > 1:
        x = x * n
        n -= 1
    return x


def unpacked(tensors):
    a, b = tensors
    return a * b - a


def sampled(tensors, scale=0.0):
    mean, log_var = tensors
    noise = K.random_normal(shape=(K.shape(mean)[0], K.int_shape(mean)[1]), mean=0.0, stddev=scale)
    return mean + K.exp(log_var / 2) * noise


def euclidean(vectors):
    x, y = vectors
    return K.sqrt(K.maximum(K.sum(K.square(x - y), axis=1, keepdims=True), K.epsilon()))


def squash(vectors, axis=-1):
    norm = K.sum(K.square(vectors), axis, keepdims=True)
    scale = norm / (1 + norm) / K.sqrt(norm + K.epsilon())
    return scale * vectors


def by_phase(x):
    return K.in_train_phase(x * 100.0, lambda: x * 0.5)


def appended(x):
    shape = [-1]
    shape.append(K.int_shape(x)[1])
    shape.extend([1, 1])
    shape += [1]
    return K.reshape(x, shape)


def swapped(x, a=1, b=2):
    a, b = b, a
    return x * a + b


def reductions(x):
    return K.concatenate([f(x, axis=-1, keepdims=True) for f in (K.sum, K.mean, K.max, K.min, K.std, K.var)])


def sizes(x):
    s = K.shape(x)
    return K.reshape(x, K.stack([s[0], s[1] * s[2], s[3]]))


def doubled_size(x):
    return tf.image.resize_bilinear(x, tf.shape(x)[1:3] * 2)


def same_used_twice(x):
    y = x * 2
    for _ in range(5):
        y = y + y
    return y


def choice_of_step(x, mask=None):
    if mask is not None:
        x = x * 2
    return x if K.int_shape(x)[-1] > 2 and K.ndim(x) != 5 else -x


def stored_into_a_list(x):
    shape = list(K.int_shape(x))
    shape[0] = -1
    shape[-1] *= 2
    known = [0, 1, 2]
    known[-1] += 1
    return K.reshape(K.concatenate([x, x]), shape) * known[2]


def appended_to_an_unknown_list(x):
    shape = x.get_shape().as_list()
    shape.append(1)
    shape.extend([1, 1])
    shape += [1]
    shape[0] = -1
    return K.reshape(x, shape)


def raises_by_rank(x):
    if K.ndim(x) == 4:
        return x[:, 0]
    elif K.ndim(x) == 2:
        return x * 2
    else:
        raise ValueError("of rank " + str(K.ndim(x)))


def asserts(x):
    shape = list(K.int_shape(x))
    assert len(shape) == 2
    assert K.ndim(x) > 1, "too few axes"
    print(shape)
    return x + len(shape)


def arrays_of_numpy(x):
    weights = np.arange(4, dtype=np.float32).reshape((1, 4)).astype("float32")
    more = np.concatenate([np.ones((1, 2)), np.zeros((1, 2))], axis=1) + np.full((1, 4), 2.0)
    return x * weights + more + np.tile(np.linspace(0, 1, 2), 2) + np.eye(4)[0] + np.expand_dims(np.array([1.0] * 4), 0)


IMAGE, ROWS, VECTOR, PAIR = [(2, 4, 6, 3)], [(2, 5, 4)], [(3, 4)], [(3, 4), (3, 4)]

BODIES = {
    "scaled": (lambda x: x * 0.1, VECTOR, {}),
    "normalized": (lambda x: x / 127.5 - 1.0, IMAGE, {}),
    "sliced": (cut(1, 3), IMAGE, {}),
    "resized": (closed_over([2, 3], "channels_last"), IMAGE, {}),
    "resized_nearest": (lambda x: K.resize_images(x, 2, 2, "channels_last"), IMAGE, {}),
    "l2": (lambda x: K.l2_normalize(x, axis=1), VECTOR, {}),
    "tf_sum": (lambda x: K.tf.reduce_sum(x, 2), ROWS, {}),
    "by_format": (by_format, IMAGE, {}),
    "by_rank_4": (by_rank, IMAGE, {}),
    "by_rank_3": (by_rank, ROWS, {}),
    "by_rank_2": (by_rank, VECTOR, {}),
    "arguments": (lambda x, n, m=1.0: x * n + m, VECTOR, {"n": 3}),
    "arguments_list": (lambda x, size: K.reshape(x, (-1,) + tuple(size)), VECTOR, {"size": [2, 2]}),
    "nested": (nested(3.0), VECTOR, {}),
    "several_statements": (several_statements, IMAGE, {"groups": 3}),
    "imports_inside": (imports_inside, VECTOR, {}),
    "with_break": (with_break, VECTOR, {}),
    "with_while": (with_while, VECTOR, {}),
    "unpacked": (unpacked, PAIR, {}),
    "sampled": (sampled, PAIR, {"scale": 0.0}),
    "euclidean": (euclidean, PAIR, {}),
    "squash": (squash, ROWS, {}),
    "by_phase": (by_phase, VECTOR, {}),
    "appended": (appended, VECTOR, {}),
    "swapped": (swapped, VECTOR, {}),
    "reductions": (reductions, VECTOR, {}),
    "sizes": (sizes, IMAGE, {}),
    "doubled_size": (doubled_size, IMAGE, {}),
    "same_used_twice": (same_used_twice, VECTOR, {}),
    "choice_of_step": (choice_of_step, VECTOR, {}),
    "difference": (lambda t: K.abs(t[0] - t[1]), PAIR, {}),
    "comprehension": (lambda x: K.stack([x[:, i] * (i + 1) for i in range(4)], axis=1), VECTOR, {}),
    "generator": (lambda x: sum(x[:, i] for i in range(3)), VECTOR, {}),
    "tuple_of_generator": (lambda x: x * tuple(i * 2 for i in (2, 3))[1], VECTOR, {}),
    "filtered": (lambda x: K.stack([x[:, i] for i in range(4) if i != 2], axis=-1), VECTOR, {}),
    "inner_lambda": (lambda x: (lambda y, p=2: y**p)(x) + 1, VECTOR, {}),
    "power_chain": (lambda x: -(x**2) + x * 2 - 3, VECTOR, {}),
    "whole_division": (lambda x: x[:, : K.int_shape(x)[1] // 2], VECTOR, {}),
    "floor": (lambda x: (x * 10) // 3 + (x * 10) % 3, VECTOR, {}),
    "compared": (lambda x: K.cast(x > 0, "float32") * x, VECTOR, {}),
    "compared_by_name": (lambda x: K.cast(K.less_equal(x, 0.5), K.floatx()), VECTOR, {}),
    "last": (lambda x: x[:, -1, :], ROWS, {}),
    "reversed": (lambda x: x[:, ::-1, :], ROWS, {}),
    "stepped": (lambda x: x[:, 1::2], ROWS, {}),
    "ellipsis": (lambda x: x[..., 0], ROWS, {}),
    "new_axis": (lambda x: x[:, None, :, tf.newaxis], VECTOR, {}),
    "expanded": (lambda x: K.expand_dims(x, 1), VECTOR, {}),
    "squeezed": (lambda x: K.squeeze(K.expand_dims(x), axis=-1), VECTOR, {}),
    "permuted": (lambda x: K.permute_dimensions(x, (0, 3, 1, 2)), IMAGE, {}),
    "flattened": (lambda x: K.batch_flatten(x), IMAGE, {}),
    "repeated": (lambda x: K.repeat_elements(x, 2, axis=1), ROWS, {}),
    "repeated_vector": (lambda x: K.repeat(x, 3), VECTOR, {}),
    "tiled": (lambda x: K.tile(x, [1, 2]), VECTOR, {}),
    "clipped": (lambda x: K.clip(x, -0.5, 0.5), VECTOR, {}),
    "activated": (lambda x: K.relu(x) + K.sigmoid(x) * K.tanh(x) + K.hard_sigmoid(x), VECTOR, {}),
    "soft": (lambda x: K.softmax(x) + K.softplus(x) + K.elu(x), VECTOR, {}),
    "switched": (lambda x: K.switch(K.greater(x, 0.1), x, x * 0.5), VECTOR, {}),
    "padded": (lambda x: K.spatial_2d_padding(x, ((1, 0), (2, 1))), IMAGE, {}),
    "padded_by_tf": (lambda x: tf.pad(x, [[0, 0], [1, 1], [2, 0], [0, 0]], "REFLECT"), IMAGE, {}),
    "split": (lambda x: tf.split(x, 2, axis=1)[1], VECTOR, {}),
    "dots": (lambda t: K.batch_dot(t[0], t[1], axes=1), PAIR, {}),
    "one_hot": (lambda x: K.one_hot(K.argmax(x), 4), VECTOR, {}),
    "mean_colour": (lambda x: x - np.array([103.939, 116.779, 123.68]), IMAGE, {}),
    "channels_turned": (lambda x: (x * 255)[..., ::-1], IMAGE, {}),
    "known_numbers": (lambda x: x * np.sqrt(4.0) + float(int(7.9)) - max(1, 2) + len([1, 2, 3]), VECTOR, {}),
    "constants": (lambda x: x * K.constant([1.0, 2.0, 3.0, 4.0]), VECTOR, {}),
    "ones_like": (lambda x: K.ones_like(x) + K.zeros_like(x), VECTOR, {}),
    "get_shape": (lambda x: K.reshape(x, (-1, x.get_shape().as_list()[1] * int(x.shape[2]))), ROWS, {}),
    "product_of_shape": (lambda x: K.reshape(x, (-1, np.prod(K.int_shape(x)[1:]))), ROWS, {}),
    "keywords": (lambda x: K.mean(x, **{"axis": 1, "keepdims": True}), ROWS, {}),
    "tf_mixture": (lambda x: tf.nn.relu(tf.transpose(x, perm=[0, 2, 1])) * tf.reduce_max(x), ROWS, {}),
    "space_to_depth": (lambda x: tf.space_to_depth(x, block_size=2), IMAGE, {}),
    "zipped": (lambda x: K.stack([a * b for a, b in zip([x, -x], (1.0, 2.0))], axis=1), VECTOR, {}),
    "enumerated": (lambda t: sum([i * v for i, v in enumerate([t[0], t[1]])]), PAIR, {}),
    "conditional": (lambda x, flip=True: -x if flip else x, VECTOR, {"flip": False}),
    "and_or": (lambda x, a=0, b=2: x * (a or b) + (a and b), VECTOR, {}),
    "stored_into_a_list": (stored_into_a_list, VECTOR, {}),
    "appended_to_an_unknown_list": (appended_to_an_unknown_list, VECTOR, {}),
    "raises_by_rank": (raises_by_rank, VECTOR, {}),
    "asserts": (asserts, VECTOR, {}),
    "arrays_of_numpy": (arrays_of_numpy, VECTOR, {}),
    "activations": (lambda x: keras.activations.relu(x, max_value=0.5) + activations.selu(x), VECTOR, {}),
    "activations_of_keras": (
        lambda x: activations.softmax(x) + activations.elu(x) + activations.linear(x) + activations.exponential(x),
        VECTOR,
        {},
    ),
    "variables": (lambda x: x * K.variable([1.0, 2.0, 3.0, 4.0]) + K.print_tensor(x), VECTOR, {}),
    "decoded": (
        lambda x: K.cast(K.ctc_decode(K.softmax(x * 9), K.ones_like(x[:, 0, 0]) * 5)[0][0], "float32"),
        ROWS,
        {},
    ),
    "ctc": (
        lambda x: K.ctc_batch_cost(
            K.cast(x[:, :2, 0] > 9, "int32"), K.softmax(x), K.ones_like(x[:, :1, 0]) * 5, K.ones_like(x[:, :1, 0]) * 2
        ),
        ROWS,
        {},
    ),
    "dilated": (lambda x: K.conv2d(x, K.ones((2, 2, 3, 2)), padding="same", dilation_rate=(2, 2)), IMAGE, {}),
    "old_slice": (lambda x: K.reshape(x, [-1] + [4, 5][::-1][0:2]), ROWS, {}),
}

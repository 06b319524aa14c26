"""Functions of TensorFlow as people write them into a Lambda; see `bodies.py`.

`BODIES`: name -> (function, shapes of its inputs, arguments).
"""

# ruff: noqa
# pyright: basic, reportUndefinedVariable=false, reportMissingImports=false


def of_largest(x):
    best = tf.nn.top_k(x, k=2)
    return tf.concat([best.values, tf.cast(best.indices, "float32"), tf.nn.top_k(x, 1, sorted=True)[0]], 1)


def moments(x):
    mean, variance = tf.nn.moments(x, axes=[1, 2], keep_dims=True)
    return tf.nn.batch_normalization(x, mean, variance, 0.5, None, 1e-3)


def crossentropies(x):
    labels = tf.nn.softmax(x * 2)
    places = tf.argmax(x, 1)
    a = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x)
    b = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x)
    c = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=places, logits=x)
    return tf.stack([a, b, c, tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=x), 1)], 1)


def last_by_places(x):
    places = tf.stack([tf.range(tf.shape(x)[0]), tf.fill([tf.shape(x)[0]], 2)], axis=1)
    return tf.gather_nd(x, places)


def masked_lengths(x):
    lengths = tf.to_int32(tf.abs(x[:, 0, 0]) * 4)
    return x * tf.expand_dims(tf.sequence_mask(lengths, 5, dtype=tf.float32), -1)


def grid(x):
    across, down = tf.meshgrid(tf.lin_space(-1.0, 1.0, 4), tf.lin_space(0.0, 1.0, 5))
    rows, columns = tf.meshgrid(tf.range(5), tf.range(4), indexing="ij")
    return x * across + down + tf.to_float(rows * columns)


IMAGE, ROWS, VECTOR = [(2, 4, 6, 3)], [(2, 5, 4)], [(3, 4)]

BODIES = {
    "grid": (grid, ROWS, {}),
    "tf_diagonals": (
        lambda x: (
            tf.matrix_transpose(tf.matrix_diag(x[:, 0]))
            + tf.linalg.transpose(tf.linalg.diag(x[:, 1]))
            + tf.expand_dims(tf.matrix_diag_part(x), 1)
            + tf.reshape(tf.trace(x), (-1, 1, 1))
            + tf.diag([1.0, 2.0, 3.0, 4.0])
        ),
        ROWS,
        {},
    ),
    "tf_sorted": (
        lambda x: (
            tf.sort(x, axis=1)
            + tf.to_float(tf.argsort(x, direction="DESCENDING"))
            + tf.cumprod(x, 1)
            + tf.linalg.l2_normalize(x, axis=1)
            + tf.math.top_k(x, 4)[0]
        ),
        VECTOR,
        {},
    ),
    "of_largest": (of_largest, VECTOR, {}),
    "moments": (moments, IMAGE, {}),
    "crossentropies": (crossentropies, VECTOR, {}),
    "last_by_places": (last_by_places, ROWS, {}),
    "masked_lengths": (masked_lengths, ROWS, {}),
    "tf_pools": (
        lambda x: (
            tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
            + tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], padding="VALID")
        ),
        IMAGE,
        {},
    ),
    "tf_convolved": (
        lambda x: (
            tf.nn.conv2d(x, K.ones((2, 3, 3, 2)), strides=[1, 1, 1, 1], padding="SAME")
            + tf.nn.depthwise_conv2d(x, K.ones((3, 3, 3, 1)), [1, 1, 1, 1], "SAME")[..., :2]
        ),
        IMAGE,
        {},
    ),
    "tf_norms": (
        lambda x: tf.nn.lrn(x, 1, bias=2.0, alpha=0.5, beta=0.75) + tf.nn.l2_loss(x) + tf.nn.bias_add(x, [1.0, 2, 3]),
        IMAGE,
        {},
    ),
    "tf_activations": (
        lambda x: tf.nn.crelu(x)[:, :4] + tf.nn.swish(x) + tf.nn.log_softmax(x) + tf.log_sigmoid(x) + tf.nn.softplus(x),
        VECTOR,
        {},
    ),
    "kept": (lambda x: tf.nn.dropout(x, keep_prob=1.0) + tf.nn.dropout(x, rate=0.0), VECTOR, {}),
    "looked_up": (lambda x: tf.nn.embedding_lookup(K.constant([[1.0], [2.0]]), tf.to_int32(x > 0)), VECTOR, {}),
    "patches": (
        lambda x: (
            tf.extract_image_patches(x, [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1], "SAME")
            + tf.reduce_sum(
                tf.image.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], padding="VALID")
            )
        ),
        IMAGE,
        {},
    ),
    "grey": (
        lambda x: (
            tf.image.grayscale_to_rgb(tf.image.rgb_to_grayscale(x))
            + tf.image.flip_left_right(x)
            - tf.image.flip_up_down(x)
        ),
        IMAGE,
        {},
    ),
    "standardized": (
        lambda x: (
            tf.map_fn(lambda image: tf.image.per_image_standardization(image), x)
            + tf.image.crop_to_bounding_box(x, 1, 2, 1, 1)
        ),
        [(2, 4, 6, 3)],
        {},
    ),
    "resized_by_method": (
        lambda x: (
            tf.image.resize_images(x, (5, 7), method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
            + tf.image.resize_images(x, [5, 7], tf.image.ResizeMethod.BILINEAR)
        ),
        IMAGE,
        {},
    ),
    "tf_matrices": (
        lambda x: (
            tf.tensordot(tf.matrix_band_part(tf.matmul(x, x, transpose_b=True), -1, 0), tf.eye(5), axes=[[2], [0]])
            + tf.linalg.matmul(x, x, transpose_b=True)
        ),
        ROWS,
        {},
    ),
    "tf_angles": (
        lambda x: tf.atan2(x, 2.0) + tf.asin(x * 0.5) + tf.acos(x * 0.5) + tf.atan(x) + tf.math.divide_no_nan(x, x * 0),
        VECTOR,
        {},
    ),
    "tf_hyperbolic": (lambda x: tf.asinh(x) + tf.acosh(x + 3) + tf.atanh(x * 0.5) + tf.div(x, 3.0), VECTOR, {}),
    "tf_questions": (
        lambda x: tf.to_float(tf.is_nan(x)) + tf.to_float(tf.is_finite(x)) + tf.to_float(tf.is_inf(1.0 / (x * 0))),
        VECTOR,
        {},
    ),
    "tf_spread": (
        lambda x: tf.math.reduce_std(x, 1, keepdims=True) + tf.math.reduce_variance(x, axis=1, keepdims=True),
        VECTOR,
        {},
    ),
    "tf_moved": (
        lambda x: (
            tf.roll(x, shift=1, axis=1)
            + tf.strided_slice(x, [0, 1], [tf.shape(x)[0], 3], [1, 2])
            + tf.to_float(tf.size(x))
        ),
        VECTOR,
        {},
    ),
    "tf_made": (
        lambda x: (
            tf.Print(x, [x])
            + tf.lin_space(0.0, 1.0, 4)
            + tf.broadcast_to(x[:, :1], tf.shape(x))
            + tf.to_float(tf.to_int64(tf.saturate_cast(x, tf.int32)))
        ),
        VECTOR,
        {},
    ),
}

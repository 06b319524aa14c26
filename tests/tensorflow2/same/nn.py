"""`tf.nn` and `tf.image`."""

import numpy as np

IMAGES = (np.arange(2 * 5 * 6 * 3) % 17 / 16.0).reshape(2, 5, 6, 3).astype("float32")
BYTES = (np.arange(5 * 6 * 3) * 7 % 256).reshape(5, 6, 3).astype("uint8")
KERNEL = np.sin(np.arange(3 * 3 * 3 * 2)).reshape(3, 3, 3, 2).astype("float32")
LOGITS = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], dtype="float32")
LABELS = np.array([[0.0, 1.0, 0.0], [0.5, 0.25, 0.25]], dtype="float32")
TOLERANCES = {"convolutions": (1e-4, 1e-5), "colours": (1e-4, 1e-5), "resized": (1e-4, 1e-5)}


def arrays(values):
    if isinstance(values, (list, tuple)):
        return [arrays(each) for each in values]
    return np.asarray(values.numpy())


def case_activations(tf):
    names = "relu relu6 elu selu softmax log_softmax sigmoid tanh softplus softsign silu swish gelu leaky_relu"
    return {name: arrays(getattr(tf.nn, name)(LOGITS)) for name in names.split()} | {
        "alpha": arrays([tf.nn.leaky_relu(LOGITS, alpha=0.3), tf.nn.softmax(LOGITS, axis=0)])
    }


def case_losses(tf):
    return {
        "softmax": arrays(tf.nn.softmax_cross_entropy_with_logits(labels=LABELS, logits=LOGITS)),
        "sparse": arrays(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=LOGITS)),
        "sigmoid": arrays(tf.nn.sigmoid_cross_entropy_with_logits(labels=LABELS, logits=LOGITS)),
        "weighted": arrays(tf.nn.weighted_cross_entropy_with_logits(labels=LABELS, logits=LOGITS, pos_weight=2.0)),
        "l2": arrays(tf.nn.l2_loss(LOGITS)),
        "average": arrays(tf.nn.compute_average_loss([1.0, 2.0, 3.0], global_batch_size=6)),
        "in_top_k": arrays(tf.nn.in_top_k([2, 1], LOGITS, 1)),
    }


def case_convolutions(tf):
    deep = np.sin(np.arange(3 * 3 * 3 * 1)).reshape(3, 3, 3, 1).astype("float32")
    point = np.cos(np.arange(3 * 4)).reshape(1, 1, 3, 4).astype("float32")
    back = np.sin(np.arange(3 * 3 * 2 * 3)).reshape(3, 3, 2, 3).astype("float32")
    return {
        "conv2d": arrays(
            [
                tf.nn.conv2d(IMAGES, KERNEL, strides=[1, 1, 1, 1], padding="SAME"),
                tf.nn.conv2d(IMAGES, KERNEL, strides=2, padding="VALID"),
                tf.nn.conv2d(IMAGES, KERNEL, 1, "SAME", dilations=2),
            ]
        ),
        "conv1d": arrays(tf.nn.conv1d(IMAGES[0], KERNEL[0], 2, "SAME")),
        "transpose": arrays(tf.nn.conv2d_transpose(IMAGES, back, [2, 10, 12, 2], strides=[1, 2, 2, 1], padding="SAME")),
        "depthwise": arrays(tf.nn.depthwise_conv2d(IMAGES, deep, [1, 1, 1, 1], "SAME")),
        "separable": arrays(tf.nn.separable_conv2d(IMAGES, deep, point, [1, 1, 1, 1], "VALID")),
        "pools": arrays(
            [
                tf.nn.max_pool(IMAGES, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
                tf.nn.avg_pool2d(IMAGES, 2, 2, "SAME"),
                tf.nn.max_pool2d(IMAGES, ksize=3, strides=1, padding="VALID"),
            ]
        ),
        "bias": arrays(tf.nn.bias_add(IMAGES, [1.0, 2.0, 3.0])),
        "blocks": arrays([tf.nn.depth_to_space(tf.ones((1, 2, 2, 4)), 2), tf.nn.space_to_depth(IMAGES[:, :4], 2)]),
    }


def case_normalization(tf):
    mean, variance = tf.nn.moments(tf.constant(IMAGES), axes=[0, 1, 2])
    return {
        "moments": arrays([mean, variance]),
        "batch": arrays(tf.nn.batch_normalization(IMAGES, mean, variance, 0.5, 2.0, 1e-3)),
        "lrn": arrays(tf.nn.local_response_normalization(IMAGES, 1, 1.0, 0.5, 0.75)),
        "embedding": arrays(tf.nn.embedding_lookup(LOGITS, [1, 0, 1])),
        "unit": arrays(tf.nn.l2_normalize(LOGITS, 1)),
        "zeros": arrays(tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0])),
    }


def case_resized(tf):
    image = tf.image
    return {
        "bilinear": arrays(
            [image.resize(IMAGES, (7, 4)), image.resize(IMAGES[0], [10, 12]), image.resize(BYTES, (3, 3))]
        ),
        "nearest": arrays(
            [image.resize(IMAGES, (10, 3), method="nearest"), image.resize(BYTES, (7, 9), method="nearest")]
        ),
        "cropped": arrays(
            [
                image.central_crop(IMAGES, 0.5),
                image.crop_to_bounding_box(IMAGES, 1, 2, 3, 2),
                image.pad_to_bounding_box(IMAGES, 1, 0, 7, 8),
                image.resize_with_crop_or_pad(IMAGES, 3, 8),
            ]
        ),
        "turned": arrays(
            [
                image.flip_left_right(IMAGES),
                image.flip_up_down(IMAGES[0]),
                image.rot90(IMAGES[0]),
                image.transpose(IMAGES[0]),
            ]
        ),
    }


def case_colours(tf):
    image, one = tf.image, IMAGES[0]
    return {
        "types": arrays(
            [
                image.convert_image_dtype(BYTES, tf.float32),
                image.convert_image_dtype(one, tf.uint8),
                image.convert_image_dtype(BYTES, tf.uint8),
            ]
        ),
        "grey": arrays([image.rgb_to_grayscale(one), image.grayscale_to_rgb(tf.constant(one[..., :1]))]),
        "changed": arrays(
            [
                image.adjust_brightness(one, 0.1),
                image.adjust_contrast(one, 2.0),
                image.adjust_saturation(one, 0.5),
                image.adjust_hue(one, 0.2),
                image.adjust_gamma(one, 0.5),
                image.rgb_to_hsv(one),
            ]
        ),
        "standardized": arrays(image.per_image_standardization(one)),
        "measured": arrays([image.psnr(IMAGES, IMAGES * 0.5, 1.0), image.total_variation(tf.constant(IMAGES))]),
        "gradients": arrays(list(image.image_gradients(tf.constant(IMAGES)))),
    }

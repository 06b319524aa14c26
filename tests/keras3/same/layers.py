"""Layers with their default and other options: weights, outputs in inference and training, shapes, names, configs."""

import numpy as np

RANDOM = np.random.RandomState(0)
IMAGES, SEQUENCES, ROWS = (RANDOM.randn(*shape).astype("float32") for shape in ((2, 7, 6, 4), (2, 5, 4), (3, 4)))
VOLUMES = RANDOM.randn(2, 4, 5, 4, 4).astype("float32")
VIDEOS = RANDOM.randn(2, 3, 6, 5, 2).astype("float32")
LINES = RANDOM.randn(2, 3, 6, 2).astype("float32")
CUBES = RANDOM.randn(1, 2, 4, 4, 3, 2).astype("float32")
INDICES = RANDOM.randint(0, 6, (3, 5))
MASK = np.array([[False, True, True, False, True], [True, True, False, False, False]])


def _weights(layer):
    """Set all weights to fixed numbers, those of variances above 0; returns their shapes and names."""
    random = np.random.RandomState(1)
    values = [random.uniform(0.1, 1.0, weight.shape).astype("float32") for weight in layer.weights]
    lowered = [0.5 * ("variance" not in weight.name) for weight in layer.weights]
    layer.set_weights([value - low for value, low in zip(values, lowered, strict=True)])
    return [[weight.name, list(weight.shape)] for weight in layer.weights]


def _arrays(keras, found):
    if isinstance(found, (list, tuple)):
        return [_arrays(keras, each) for each in found]
    return keras.ops.convert_to_numpy(found)


def _layer(keras, layer, inputs, trains=False, **call):
    """What a layer makes of inputs: on its first call, by which it is built, then with fixed weights."""
    tensors = (
        [keras.ops.convert_to_tensor(each) for each in inputs]
        if isinstance(inputs, list)
        else (keras.ops.convert_to_tensor(inputs))
    )
    call = {
        name: keras.ops.convert_to_tensor(value) if isinstance(value, np.ndarray) else value
        for name, value in call.items()
    }
    layer(tensors, **call)
    weights = _weights(layer) if layer.weights else []
    found = {"name": layer.name, "weights": weights, "outputs": _arrays(keras, layer(tensors, **call))}
    if trains:
        found["training"] = _arrays(keras, layer(tensors, training=True, **call))
        found["after"] = [_arrays(keras, weight) for weight in layer.non_trainable_weights]
    return found


def _all(keras, rows):
    """Each row: the class, its arguments, its options, and the inputs."""
    found = []
    for name, args, options, inputs, *rest in rows:
        keras.utils.clear_session()
        layer = getattr(keras.layers, name)(*args, **options)
        found.append({"layer": name, **_layer(keras, layer, inputs, **(rest[0] if rest else {}))})
    return found


def case_core(keras):
    return _all(
        keras,
        [
            ("Dense", (3,), {}, ROWS),
            ("Dense", (3, "hard_sigmoid"), {"use_bias": False}, SEQUENCES),
            ("Dense", (3,), {"activation": "gelu"}, ROWS),
            ("Activation", ("hard_sigmoid",), {}, ROWS),
            ("Activation", ("leaky_relu",), {}, ROWS),
            ("EinsumDense", ("abc,cd->abd", (None, 3)), {"bias_axes": "d"}, SEQUENCES),
            ("Embedding", (6, 3), {}, INDICES),
            ("Flatten", (), {}, IMAGES),
            ("Reshape", ((6, -1),), {}, IMAGES),
            ("Permute", ((2, 1),), {}, SEQUENCES),
            ("RepeatVector", (3,), {}, ROWS),
            ("Masking", (), {}, SEQUENCES),
            ("Identity", (), {}, ROWS),
            ("ActivityRegularization", (), {"l2": 0.1}, ROWS),
            ("Rescaling", (2.0,), {"offset": 1.0}, ROWS),
        ],
    )


def case_activations(keras):
    return _all(
        keras,
        [
            ("ReLU", (), {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.2}, ROWS),
            ("LeakyReLU", (), {}, ROWS),
            ("LeakyReLU", (), {"negative_slope": 0.1}, ROWS),
            ("PReLU", (), {}, ROWS),
            ("PReLU", (), {"shared_axes": [1, 2]}, IMAGES),
            ("ELU", (), {"alpha": 0.5}, ROWS),
            ("Softmax", (), {}, ROWS),
            ("Softmax", (), {"axis": 1}, SEQUENCES),
        ],
    )


def case_convolutions(keras):
    return _all(
        keras,
        [
            ("Conv1D", (3, 2, 2), {}, SEQUENCES),
            ("Conv1D", (3, 2), {"padding": "causal", "dilation_rate": 2}, SEQUENCES),
            ("Conv2D", (3, 3, 2), {}, IMAGES),
            ("Conv2D", (4, (3, 2), (1, 2), "same", "channels_last", (1, 1), 2, "relu"), {}, IMAGES),
            ("Conv2D", (3, 2), {"data_format": "channels_first"}, IMAGES),
            ("Conv3D", (3, 2), {"padding": "same"}, VOLUMES),
            ("Conv1DTranspose", (3, 3, 2), {}, SEQUENCES),
            ("Conv2DTranspose", (3, 3, 2, "same"), {}, IMAGES),
            ("Conv3DTranspose", (3, 2, 2), {}, VOLUMES),
            ("DepthwiseConv1D", (2,), {"depth_multiplier": 2}, SEQUENCES),
            ("DepthwiseConv2D", (3, 2, "same", 2), {}, IMAGES),
            ("SeparableConv1D", (3, 2), {}, SEQUENCES),
            ("SeparableConv2D", (3, 3, 1, "same"), {"depth_multiplier": 2}, IMAGES),
        ],
    )


def case_pooling(keras):
    rows = []
    for kind in ("Max", "Average"):
        for rank, inputs in ((1, SEQUENCES), (2, IMAGES), (3, VOLUMES)):
            rows.append((f"{kind}Pooling{rank}D", (2,), {}, inputs))
            rows.append((f"{kind}Pooling{rank}D", (2, 1, "same"), {}, inputs))
            rows.append((f"Global{kind}Pooling{rank}D", (), {}, inputs))
            rows.append((f"Global{kind}Pooling{rank}D", (), {"keepdims": True}, inputs))
            rows.append((f"Adaptive{kind}Pooling{rank}D", (2,), {}, inputs))
    return _all(keras, rows)


def case_shapes_of_images(keras):
    return _all(
        keras,
        [
            ("UpSampling1D", (), {}, SEQUENCES),
            ("UpSampling2D", (), {}, IMAGES),
            ("UpSampling2D", (3,), {"interpolation": "bilinear"}, IMAGES),
            ("UpSampling3D", (), {}, VOLUMES),
            ("ZeroPadding1D", (), {}, SEQUENCES),
            ("ZeroPadding2D", (((1, 2), (0, 1)),), {}, IMAGES),
            ("ZeroPadding3D", (), {}, VOLUMES),
            ("Cropping1D", (), {}, SEQUENCES),
            ("Cropping2D", ((1, 2),), {}, IMAGES),
            ("Cropping3D", (), {}, VOLUMES),
            ("CenterCrop", (3, 2), {}, IMAGES),
            ("Resizing", (9, 5), {}, IMAGES),
        ],
    )


def case_recurrent(keras):
    rows = []
    for name in ("SimpleRNN", "GRU", "LSTM"):
        rows += [
            (name, (3,), {}, SEQUENCES),
            (name, (3,), {"return_sequences": True, "return_state": True, "go_backwards": True}, SEQUENCES),
            (name, (3,), {"return_sequences": True}, SEQUENCES, {"mask": MASK}),
            (name, (3,), {}, SEQUENCES, {"mask": MASK}),
        ]
    rows += [
        ("GRU", (3,), {"reset_after": False, "recurrent_activation": "hard_sigmoid"}, SEQUENCES),
        ("LSTM", (3,), {"unit_forget_bias": False, "use_bias": False}, SEQUENCES),
        ("LSTM", (3, "relu", "hard_sigmoid"), {"unroll": True}, SEQUENCES),
        ("ConvLSTM1D", (3, 2), {}, LINES),
        ("ConvLSTM2D", (3, 2, 1, "same"), {"return_sequences": True}, VIDEOS),
        ("ConvLSTM3D", (2, 2), {}, CUBES),
    ]
    return _all(keras, rows)


def case_around_recurrent(keras):
    found = []
    for make in (
        lambda: keras.layers.RNN(keras.layers.LSTMCell(3)),
        lambda: keras.layers.RNN([keras.layers.GRUCell(3), keras.layers.SimpleRNNCell(2)], return_sequences=True),
        lambda: keras.layers.Bidirectional(keras.layers.LSTM(3)),
        lambda: keras.layers.Bidirectional(keras.layers.GRU(3, return_sequences=True), merge_mode="sum"),
        lambda: keras.layers.TimeDistributed(keras.layers.Dense(3)),
    ):
        keras.utils.clear_session()
        found.append(_layer(keras, make(), SEQUENCES))
    for make in (
        lambda: keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True)),
        lambda: keras.layers.Bidirectional(keras.layers.GRU(3)),
        lambda: keras.layers.RNN(keras.layers.LSTMCell(3), return_sequences=True),
    ):
        keras.utils.clear_session()
        found.append(_layer(keras, make(), SEQUENCES, mask=MASK))
    return found


def case_normalization(keras):
    training = {"trains": True}
    return _all(
        keras,
        [
            ("BatchNormalization", (), {}, IMAGES, training),
            ("BatchNormalization", (), {"momentum": 0.5, "axis": 1}, SEQUENCES, training),
            ("BatchNormalization", (), {"scale": False, "center": False}, ROWS, training),
            ("LayerNormalization", (), {}, IMAGES),
            ("LayerNormalization", (), {"axis": [2, 3]}, IMAGES),
            ("GroupNormalization", (2,), {}, IMAGES),
            ("UnitNormalization", (), {}, ROWS),
            ("RMSNormalization", (), {}, ROWS),
        ],
    )


def case_attention(keras):
    found = []
    query, value = SEQUENCES, SEQUENCES[:, ::-1].copy()
    for name, options in (
        ("Attention", {}),
        ("Attention", {"use_scale": True, "score_mode": "concat"}),
        ("AdditiveAttention", {}),
    ):
        keras.utils.clear_session()
        found.append(_layer(keras, getattr(keras.layers, name)(**options), [query, value]))
    for layer in (keras.layers.MultiHeadAttention(2, 3), keras.layers.GroupQueryAttention(4, 4, 2)):
        first, second = keras.ops.convert_to_tensor(query), keras.ops.convert_to_tensor(value)
        layer(first, second)
        weights = _weights(layer)
        found.append({"weights": weights, "outputs": _arrays(keras, layer(first, second, use_causal_mask=True))})
    return found


def case_merging(keras):
    found = []
    for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
        keras.utils.clear_session()
        found.append(_layer(keras, getattr(keras.layers, name)(), [SEQUENCES, SEQUENCES[:, ::-1].copy()]))
    found.append(_layer(keras, keras.layers.Dot(axes=2), [SEQUENCES, SEQUENCES]))
    found.append(
        _layer(
            keras, keras.layers.Dot(axes=(1, 2), normalize=True), [SEQUENCES, SEQUENCES.swapaxes(1, 2)[:, :3].copy()]
        )
    )
    two = [keras.ops.convert_to_tensor(each) for each in (ROWS, ROWS[::-1].copy())]
    found.append(
        [
            _arrays(keras, getattr(keras.layers, name)(two))
            for name in ("add", "subtract", "multiply", "average", "maximum", "minimum", "concatenate")
        ]
    )
    return found


def case_inference_by_default(keras):
    ones = keras.ops.ones((4, 8))
    found = []
    for name, args in (
        ("Dropout", (0.5,)),
        ("GaussianNoise", (0.5,)),
        ("GaussianDropout", (0.5,)),
        ("AlphaDropout", (0.5,)),
    ):
        layer = getattr(keras.layers, name)(*args)
        trained = np.asarray(_arrays(keras, layer(ones, training=True)))
        found.append([_arrays(keras, layer(ones)), bool((trained != 1.0).any())])
    return found


def case_names(keras):
    keras.utils.clear_session()
    inputs = keras.Input((4,))
    model = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Dense(3)(inputs)))
    stacked = keras.Sequential([keras.layers.Dense(2), keras.layers.Conv2DTranspose(2, 3), keras.layers.Dense(2)])
    return [each.name for each in (model, *model.layers, stacked, *stacked.layers, keras.Sequential())]


def case_spectral_normalization(keras):
    layer = keras.layers.SpectralNormalization(keras.layers.Dense(3))
    layer(keras.ops.convert_to_tensor(ROWS))
    return [[weight.name, list(weight.shape)] for weight in layer.weights]


def case_trainable_thaws_all(keras):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])
    model.layers[0].trainable = False
    before = [len(model.trainable_weights), len(model.non_trainable_weights)]
    model.trainable = True
    after = [len(model.trainable_weights), model.layers[0].trainable]
    model.trainable = False
    return [before, after, len(model.trainable_weights), model.layers[1].trainable]

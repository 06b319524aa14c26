"""The models of `written_files`: one or more of every layer family, by name, and who cannot read their files."""

from collections.abc import Callable
from typing import Any

from torchkeras import layers as L, optimizers, regularizers
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.models import Model, Sequential

SAMPLES = 4  # in a batch; a stateful layer has to know the number
Input = L.Input

# Who cannot read a file, and why. Keras 3 must refuse, by name, the .keras file that the writer warns of.
NO_CUDNN = {"tf_keras": "it has no CuDNN layers", "keras-2.2.4": "its CuDNN layers need a GPU"}
BILINEAR = {"tf_keras": "it resizes with half-pixel centres"}
# On torch, Keras 3.15 counts padding in the mean; on TensorFlow it does not.
AVERAGE = {"keras-3 on torch": "its average pooling counts padding there"}
COUNTED = {"keras-2.2.4 losses": "on TensorFlow 1 it may read the number of steps after raising it"}
NO_DATA_FORMAT = {"tf_keras": "it has no data_format there"}
NO_FUNCTIONS = dict.fromkeys(("tf_keras", "keras-2.2.4"), "it has no functions of torch")
NO_MASK = {"tf_keras": "it gives zeros at masked steps"}
NEWER = {"keras-2.2.4": "the layer came later"}
NEWER_STILL = {**NEWER, "tf_keras": "the layer came later"}

Case = tuple[Callable[[], Model], dict[str, str]]
CASES: dict[str, Case] = {}


def case(unread: dict[str, str] | None = None) -> Callable[[Callable[[], Model]], Callable[[], Model]]:
    """Add a function that makes a model to the cases."""

    def add(make: Callable[[], Model]) -> Callable[[], Model]:
        CASES[make.__name__] = make, unread or {}
        return make

    return add


def single(name: str, shape: tuple[int | None, ...], make: Callable[[], Any], **options: Any) -> None:
    """A case of one input through one layer or several."""
    unread = options.pop("unread", {})

    def model() -> Model:
        tensor = first = Input(shape, **options)
        for layer in as_list(make()):
            tensor = layer(tensor)
        return Model(first, tensor)

    CASES[name] = model, unread


SIGMOID = {"recurrent_activation": "sigmoid"}
FIRST = {"data_format": "channels_first"}

single("dense_activations", (6,), lambda: [L.Dense(5, activation=a) for a in ("relu", "tanh", "elu", "selu")])
single("dense_smooth", (6,), lambda: [L.Dense(5, activation=a) for a in ("softplus", "softsign", "sigmoid", "softmax")])
single("dense_over_time", (4, 6), lambda: [L.Dense(5, use_bias=False), L.Dense(3, activation="exponential")])
single(
    "dense_newer_activations",
    (6,),
    lambda: [L.Dense(5, activation=a) for a in ("gelu", "silu", "relu6", "mish")],
    unread={**NEWER, "tf_keras": "it has no relu6 of this name"},
)
single("hard_sigmoid", (6,), lambda: [L.Dense(5, activation="hard_sigmoid"), L.Activation("hard_sigmoid")])
single(
    "regularized",
    (6,),
    lambda: [
        L.Dense(
            5,
            kernel_regularizer=regularizers.l1_l2(0.1, 0.2),
            kernel_constraint="max_norm",
            bias_constraint="non_neg",
            kernel_initializer="he_normal",
            bias_initializer="random_uniform",
        ),
        L.ActivityRegularization(0.1, 0.1),
    ],
)
single("conv1d", (12, 3), lambda: [L.Conv1D(4, 3, padding="causal", dilation_rate=2), L.Conv1D(5, 4, strides=2)])
single("conv1d_same", (11, 3), lambda: [L.Conv1D(4, 4, padding="same", strides=3, activation="relu")])
single("conv2d", (11, 12, 3), lambda: [L.Conv2D(4, (3, 2), padding="same", strides=2), L.Conv2D(5, 2, dilation_rate=2)])
single("conv3d", (6, 7, 8, 2), lambda: [L.Conv3D(3, (2, 3, 3), padding="same", strides=(1, 2, 2)), L.Conv3D(2, 2)])
single("conv2d_groups", (8, 8, 4), lambda: L.Conv2D(6, 3, groups=2), unread=NEWER)
single(
    "separable",
    (9, 9, 3),
    lambda: [
        L.SeparableConv2D(5, 3, depth_multiplier=2, padding="same"),
        L.DepthwiseConv2D(3, strides=2, depth_multiplier=2, padding="same"),
    ],
)
single("separable1d", (9, 3), lambda: L.SeparableConv1D(5, 3, depth_multiplier=2))
single("depthwise1d", (9, 3), lambda: L.DepthwiseConv1D(3, depth_multiplier=2, padding="same"), unread=NEWER)
single(
    "transposed",
    (5, 6, 3),
    lambda: [
        L.Conv2DTranspose(4, 3, strides=2, padding="same"),
        L.Conv2DTranspose(2, (2, 3), strides=2),
        L.Conv2DTranspose(2, 3, strides=2, output_padding=1),
    ],
)
single("transposed3d", (3, 4, 3, 2), lambda: L.Conv3DTranspose(3, 3, strides=2, padding="same"))
single("transposed1d", (5, 3), lambda: L.Conv1DTranspose(4, 3, strides=2, padding="same"), unread=NEWER)
single("local", (7, 8, 3), lambda: [L.LocallyConnected2D(3, 3, strides=2), L.Flatten()])
single("local1d", (7, 3), lambda: L.LocallyConnected1D(3, 2))
single("batch_normalization", (6, 5, 4), lambda: [L.BatchNormalization(), L.BatchNormalization(axis=1, scale=False)])
single(
    "normalizations",
    (6, 6, 4),
    lambda: [L.LayerNormalization(axis=[1, 2, 3]), L.UnitNormalization(), L.LayerNormalization(center=False)],
    unread=NEWER,
)
single("group_normalization", (6, 6, 4), lambda: L.GroupNormalization(2), unread=NEWER)
single("rms_normalization", (6, 4), lambda: L.RMSNormalization(), unread=NEWER_STILL)
single(
    "pooling",
    (12, 13, 3),
    lambda: [L.MaxPooling2D(3, 2, padding="same"), L.AveragePooling2D(2, padding="same"), L.GlobalMaxPooling2D()],
)
single(
    "pooling1d",
    (12, 3),
    lambda: [L.MaxPooling1D(2), L.AveragePooling1D(3, 2, padding="same"), L.GlobalAveragePooling1D()],
    unread=AVERAGE,
)
single("pooling3d", (6, 6, 6, 2), lambda: [L.MaxPooling3D(2), L.AveragePooling3D(2), L.GlobalAveragePooling3D()])
single(
    "shapes", (4, 6), lambda: [L.Reshape((2, 12)), L.Permute((2, 1)), L.Flatten(), L.RepeatVector(3), L.Reshape((-1,))]
)
single(
    "sizes", (5, 6, 3), lambda: [L.ZeroPadding2D(((1, 2), (0, 1))), L.Cropping2D(((1, 0), (2, 1))), L.UpSampling2D(2)]
)
single("sizes1d", (5, 3), lambda: [L.ZeroPadding1D((1, 2)), L.Cropping1D(1), L.UpSampling1D(3)])
single("sizes3d", (4, 4, 4, 2), lambda: [L.ZeroPadding3D(1), L.Cropping3D(((1, 0), (0, 1), (1, 1))), L.UpSampling3D(2)])
single("bilinear", (5, 6, 3), lambda: L.UpSampling2D(2, interpolation="bilinear"), unread=BILINEAR)
single(
    "activation_layers",
    (4, 6),
    lambda: [
        L.LeakyReLU(0.2),
        L.PReLU(shared_axes=[1]),
        L.ELU(0.5),
        L.PReLU(),
        L.ReLU(6.0, 0.1, 0.2),
        L.Softmax(axis=1),
    ],
)
single(
    "noise",
    (4, 6),
    lambda: [
        L.Dropout(0.3),
        L.GaussianNoise(0.1),
        L.GaussianDropout(0.2),
        L.AlphaDropout(0.1),
        L.SpatialDropout1D(0.2),
    ],
)
single(
    "channels_first",
    (3, 9, 8),
    lambda: [
        L.ZeroPadding2D(1, **FIRST),
        L.BatchNormalization(axis=1),
        L.UpSampling2D(2, **FIRST),
        L.Cropping2D(1, **FIRST),
        L.Permute((2, 3, 1)),
        L.Conv2D(2, 3),
    ],
)
single("channels_first_flatten", (3, 4, 5), lambda: [L.Flatten(data_format="channels_first"), L.Dense(3)])
single("embedding", (7,), lambda: [L.Embedding(9, 4), L.GlobalMaxPooling1D()], dtype="int32")

single("lstm", (5, 3), lambda: [L.LSTM(4, return_sequences=True, **SIGMOID), L.LSTM(3, go_backwards=True, **SIGMOID)])
single("lstm_hard", (5, 3), lambda: [L.LSTM(4, return_sequences=True, unroll=True), L.LSTM(3, implementation=2)])
single("gru", (5, 3), lambda: [L.GRU(4, return_sequences=True, reset_after=True, **SIGMOID), L.GRU(3, **SIGMOID)])
single("gru_hard", (5, 3), lambda: [L.GRU(4, return_sequences=True, use_bias=False), L.GRU(3, reset_after=True)])
single("simple_rnn", (5, 3), lambda: [L.SimpleRNN(4, return_sequences=True, activation="relu"), L.SimpleRNN(3)])
single(
    "rnn_cells",
    (5, 3),
    lambda: [
        L.RNN([L.LSTMCell(4, **SIGMOID), L.GRUCell(3, **SIGMOID)], return_sequences=True),
        L.RNN(L.SimpleRNNCell(2)),
    ],
)
single("rnn_alike_cells", (5, 3), lambda: L.RNN([L.LSTMCell(3, **SIGMOID), L.LSTMCell(3, **SIGMOID)]))
single(
    "bidirectional",
    (5, 3),
    lambda: [
        L.Bidirectional(L.LSTM(4, return_sequences=True, **SIGMOID)),
        L.Bidirectional(L.GRU(3, reset_after=True, **SIGMOID), merge_mode="sum"),
    ],
)
single(
    "conv_lstm",
    (4, 6, 6, 2),
    lambda: [L.ConvLSTM2D(3, 3, padding="same", return_sequences=True, **SIGMOID), L.ConvLSTM2D(2, 2, **SIGMOID)],
)
single("conv_lstm_hard", (4, 6, 6, 2), lambda: L.ConvLSTM2D(3, 3, strides=2))
single("conv_lstm1d", (4, 6, 2), lambda: L.ConvLSTM1D(3, 3, **SIGMOID), unread=NEWER)
single("cudnn", (5, 3), lambda: [L.CuDNNLSTM(4, return_sequences=True), L.CuDNNGRU(3)], unread=NO_CUDNN)
single(
    "masked_lstm",
    (7,),
    lambda: [
        L.Embedding(9, 4, mask_zero=True),
        L.LSTM(5, return_sequences=True, **SIGMOID),
        L.LSTM(4, **SIGMOID),
        L.Dense(2),
    ],
    dtype="int32",
)
single(
    "masking", (6, 3), lambda: [L.Masking(0.0), L.GRU(4, return_sequences=True, **SIGMOID), L.Dense(3), L.SimpleRNN(2)]
)
single(
    "masked_bidirectional",
    (7,),
    lambda: [L.Embedding(9, 4, mask_zero=True), L.Bidirectional(L.LSTM(5, return_sequences=True, **SIGMOID))],
    dtype="int32",
    unread=NO_MASK,
)
single(
    "masked_bidirectional_last",
    (7,),
    lambda: [L.Embedding(9, 4, mask_zero=True), L.Bidirectional(L.LSTM(5, **SIGMOID))],
    dtype="int32",
)
single(
    "time_distributed",
    (4, 6, 6, 2),
    lambda: [
        L.TimeDistributed(L.Conv2D(3, 3)),
        L.TimeDistributed(L.Flatten()),
        L.TimeDistributed(L.Dense(4)),
        L.TimeDistributed(L.BatchNormalization()),
    ],
)
single(
    "time_distributed_model", (4, 6), lambda: L.TimeDistributed(Sequential([L.Dense(3, input_shape=(6,)), L.Dense(2)]))
)
single("time_distributed_rnn", (3, 4, 6), lambda: L.TimeDistributed(L.Bidirectional(L.LSTM(2, **SIGMOID))))
single("spectral", (6,), lambda: L.SpectralNormalization(L.Dense(4)), unread=NEWER_STILL)
single(
    "einsum", (4, 6), lambda: L.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d", activation="relu"), unread=NEWER
)
single(
    "preprocessing",
    (8, 8, 3),
    lambda: [L.Rescaling(0.5, 1.0), L.Resizing(6, 6), L.CenterCrop(4, 4), L.Normalization()],
    unread={**NEWER, **NO_DATA_FORMAT},
)
single(
    "augmentation",
    (8, 8, 3),
    lambda: [
        L.RandomFlip(),
        L.RandomRotation(0.1),
        L.RandomZoom(0.1),
        L.RandomTranslation(0.1, 0.1),
        L.RandomContrast(0.1),
    ],
    unread={**NEWER, **NO_DATA_FORMAT},
)
single("encoding", (4,), lambda: [L.Discretization([-0.5, 0.0, 0.5]), L.CategoryEncoding(4)], unread=NEWER)
single(
    "keras1_layers",
    (6,),
    lambda: [L.Highway(), L.MaxoutDense(4), L.SReLU(), L.ThresholdedReLU(0.3)],
    unread={**NEWER, "tf_keras": "it has no layers of Keras 1"},
)


@case()
def merging() -> Model:
    a, b = Input((6,)), Input((6,))
    merged = [layer()([a, b]) for layer in (L.Add, L.Multiply, L.Average, L.Maximum, L.Subtract, L.Minimum)]
    return Model([a, b], [L.Concatenate()(merged), L.Dot(1)([a, b]), L.Dot(1, normalize=True)([a, b])])


@case()
def branches() -> Model:
    image = Input((8, 8, 3))
    left = L.Conv2D(4, 3, padding="same")(image)
    right = L.Conv2D(4, 3, padding="same")(image)
    deeper = L.Conv2D(4, 3, padding="same")(L.Conv2D(4, 3, padding="same")(right))
    merged = L.Add()([L.Conv2D(4, 3, padding="same")(left), deeper, L.Conv2D(4, 1, name="shortcut")(image)])
    return Model(image, L.Dense(3)(L.GlobalAveragePooling2D()(merged)))


@case()
def crossing_branches() -> Model:
    """Layers of one shape, created in another order than they are computed."""
    dense = [L.Dense(4) for _ in range(6)]
    a, b = Input((4,)), Input((4,))
    first, second = dense[5](a), dense[0](b)
    third = dense[3](L.Add()([first, second]))
    fourth = dense[1](second)
    return Model([b, a], [dense[2](fourth), dense[4](L.Multiply()([third, first]))])


@case()
def shared_layer() -> Model:
    a, b, dense = Input((4,)), Input((4,)), L.Dense(4)
    return Model([a, b], L.Dense(2)(L.Add()([dense(a), dense(dense(b))])))


@case()
def nested() -> Model:
    inner_input = Input((4,))
    inner = Model(inner_input, [L.Dense(3)(inner_input), L.BatchNormalization()(L.Dense(4)(inner_input))])
    deeper = Sequential([L.Dense(4, input_shape=(3,)), L.BatchNormalization(), L.Dense(4)])
    i = Input((4,))
    three, four = inner(i)
    again = inner(deeper(three))
    return Model(i, [L.Dense(2)(four), *again])


@case()
def nested_sequentials() -> Model:
    return Sequential(
        [Sequential([L.Dense(5, input_shape=(6,)), L.Dense(4)]), Sequential([L.Dense(3, input_shape=(4,))]), L.Dense(2)]
    )


@case()
def frozen() -> Model:
    model = Sequential([L.Dense(5, input_shape=(6,)), L.BatchNormalization(), L.Dense(3, trainable=False)])
    model.layers[1].trainable = False
    return model


@case()
def states() -> Model:
    i, j = Input((5, 3)), Input((4, 3))
    _, h, c = L.LSTM(4, return_state=True, **SIGMOID)(i)
    decoded = L.LSTM(4, return_sequences=True, **SIGMOID)(j, initial_state=[h, c])
    return Model([i, j], [decoded, h, L.GRU(4, **SIGMOID)(j, initial_state=h)])


@case()
def bidirectional_states() -> Model:
    i, j = Input((5, 3)), Input((4, 3))
    _, *found = L.Bidirectional(L.GRU(4, return_state=True, **SIGMOID))(i)
    return Model([i, j], L.Bidirectional(L.GRU(4, **SIGMOID))(j, initial_state=found))


@case()
def stateful() -> Model:
    return Sequential([L.LSTM(4, stateful=True, batch_input_shape=(SAMPLES, 5, 3), **SIGMOID), L.Dense(2)])


@case(NEWER)
def attention() -> Model:
    a, b = Input((5, 8)), Input((4, 8))
    return Model([a, b], [L.Attention(use_scale=True)([a, b]), L.AdditiveAttention()([a, b])])


@case({**NEWER, "tf_keras": "its configs have the shapes of query, key and value"})
def heads() -> Model:
    a, b = Input((5, 8)), Input((4, 6))
    outputs = L.MultiHeadAttention(2, 3, value_dim=4)(a, b)
    scored = L.MultiHeadAttention(2, 3)(outputs, outputs, return_attention_scores=True, use_causal_mask=True)
    return Model([a, b], [outputs, *scored])


@case(NEWER_STILL)
def grouped_heads() -> Model:
    a = Input((5, 8))
    return Model(a, L.GroupQueryAttention(3, 4, 2)(a, a))


@case({**NEWER_STILL, "tf_keras": "its .h5 has no operators of ours"})
def operators() -> Model:
    a, b = Input((4, 6)), Input((4, 6))
    return Model(
        [a, b], [(1 - a) * 2 + b / 3, -(a[:, 1:, ::2] ** 2), abs(a)[..., 0], L.Dense(2)(a @ L.Permute((2, 1))(b))]
    )


def compiled(optimizer: Any) -> Model:
    model = Sequential([L.Dense(5, activation="tanh", input_shape=(6,)), L.BatchNormalization(), L.Dense(3)])
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


for _name, _optimizer in {
    "sgd": lambda: optimizers.SGD(0.05),
    "sgd_momentum_decay": lambda: optimizers.SGD(0.05, momentum=0.9, nesterov=True, decay=0.1),
    "rmsprop": lambda: optimizers.RMSprop(0.01),
    "adam": lambda: optimizers.Adam(0.01),
    "adam_amsgrad": lambda: optimizers.Adam(0.01, amsgrad=True, decay=0.01),
}.items():
    CASES[f"trained_{_name}"] = (
        lambda optimizer=_optimizer: compiled(optimizer()),
        COUNTED if "adam" in _name or "decay" in _name else {},
    )

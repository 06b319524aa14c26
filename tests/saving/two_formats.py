"""Models to make in both data formats, and how they are compared."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import torchkeras
from torchkeras import config
from torchkeras.layers import (
    GRU,
    LSTM,
    Activation,
    AveragePooling2D,
    BatchNormalization,
    Bidirectional,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    ConvLSTM2D,
    ConvLSTM2DCell,
    ConvRNN2D,
    Cropping2D,
    Dense,
    DepthwiseConv2D,
    Dropout,
    Embedding,
    Flatten,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling2D,
    GroupNormalization,
    Input,
    LayerNormalization,
    LeakyReLU,
    LocallyConnected2D,
    Masking,
    MaxoutDense,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
    ParametricSoftplus,
    Permute,
    PReLU,
    Reshape,
    RMSNormalization,
    SeparableConv2D,
    Softmax,
    SpatialDropout3D,
    SpectralNormalization,
    SReLU,
    TimeDistributed,
    UnitNormalization,
    UpSampling2D,
    ZeroPadding2D,
    ZeroPadding3D,
    add,
    concatenate,
    multiply,
    subtract,
)
from torchkeras.models import Model, Sequential
from torchkeras.saving.data_format.tracker import Tracker

FORMATS = ("channels_first", "channels_last")


def other(data_format: str) -> str:
    return FORMATS[data_format == "channels_first"]


def image(*sizes: Any, channels: int = 3, lead: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """The shape of an image in the configured data format."""
    return (*lead, channels, *sizes) if config.image_data_format() == "channels_first" else (*lead, *sizes, channels)


def axis(ndim: int = 4) -> int:
    return 1 if config.image_data_format() == "channels_first" else ndim - 1


def vgg() -> Model:
    return Sequential(
        [
            Conv2D(4, 3, padding="same", activation="relu", input_shape=image(8, 7)),
            BatchNormalization(axis=axis()),
            ZeroPadding2D(((1, 0), (0, 2))),
            SeparableConv2D(6, 2, strides=2),
            PReLU(),
            Dropout(0.3),
            MaxPooling2D(),
            Flatten(data_format="channels_last"),
            BatchNormalization(),
            Dense(5, activation="tanh"),
            Dense(3, activation="softmax"),
        ]
    )


def residual() -> Model:
    inputs = Input(image(6, 8))
    x = Conv2D(4, 3, padding="same")(inputs)
    y = Activation("relu")(BatchNormalization(axis=axis())(x))
    y = DepthwiseConv2D(3, padding="same", dilation_rate=2)(y)
    x = add([x, y])
    x = concatenate([x, UpSampling2D()(AveragePooling2D()(x)), inputs], axis=axis())
    gate = Reshape(image(1, 1, channels=11))(Dense(11, activation="sigmoid")(GlobalAveragePooling2D()(x)))
    x = multiply([x, gate]) * 2.0 + x
    x = PReLU(shared_axes=[2, 3] if axis() == 1 else [1, 2])(x)
    return Model(inputs, [GlobalMaxPooling2D()(x), x])


def decoder() -> Model:
    """A Dense makes the image: its columns are reordered."""
    return Sequential(
        [
            Dense(12, input_shape=(5,)),
            BatchNormalization(),
            LeakyReLU(),
            Dense(4 * 3 * 2, activation="relu"),
            BatchNormalization(),
            Dropout(0.2),
            Reshape(image(4, 3, channels=2)),
            Conv2DTranspose(4, 3, strides=2, padding="same"),
            UpSampling2D((2, 3), interpolation="bilinear"),
            Cropping2D(1),
            Conv2D(1, 3, activation="tanh"),
        ]
    )


def video() -> Model:
    inside = Sequential(
        [
            Conv2D(4, 3, input_shape=image(6, 5)),
            MaxPooling2D(),
            LayerNormalization(axis=[1, 2, 3]),
            Flatten(data_format="channels_last"),
        ]
    )
    inputs = Input(image(6, 5, lead=(4,)))
    x = TimeDistributed(inside)(inputs)
    x = Masking()(x)
    sequence = Bidirectional(LSTM(3, return_sequences=True))(x)
    return Model(inputs, [sequence, GRU(2)(x), Dense(3)(x), Conv1D(3, 2)(TimeDistributed(Flatten())(inputs))])


def recurrent_images() -> Model:
    inputs = Input(image(6, 5, lead=(3,)))
    x = ConvLSTM2D(2, 3, padding="same", return_sequences=True)(inputs)
    x = BatchNormalization(axis=2 if axis() == 1 else -1)(x)
    x = TimeDistributed(Conv2D(3, 2))(x)
    x = ConvRNN2D(ConvLSTM2DCell(2, (2, 2)))(x)
    return Model(inputs, Dense(3)(Flatten(data_format="channels_last")(x)))


def local() -> Model:
    inputs = Input(image(6, 5))
    x = LocallyConnected2D(4, (2, 3), strides=(2, 1))(inputs)
    x = LocallyConnected2D(2, 2, use_bias=False)(x)
    return Model(inputs, [x, Dense(2)(Flatten(data_format="channels_last")(x))])


def volumes() -> Model:
    return Sequential(
        [
            Conv3D(3, 2, input_shape=image(5, 6, 7)),
            MaxPooling3D(2),
            ZeroPadding3D(1),
            Conv3DTranspose(2, 2, strides=2),
            SpatialDropout3D(0.2),
            Flatten(data_format="channels_last"),
            Dense(3),
        ]
    )


def branches() -> Model:
    """Two flattened images and a vector, joined; a Dense and a Conv2D are called twice."""
    first, second, vector = Input(image(5, 4)), Input(image(5, 4)), Input((3,))
    conv, flatten, dense = Conv2D(2, 2), Flatten(data_format="channels_last"), Dense(4)
    a, b = flatten(conv(first)), flatten(conv(second))
    joined = concatenate([a, vector, flatten(first), b])
    return Model([first, second, vector], [Dense(3)(joined), subtract([dense(a), dense(b)])])


def nested() -> Model:
    inside_input = Input(image(6, 6, channels=2))
    inside = Model(inside_input, [Conv2D(2, 3, padding="same")(inside_input), Activation("relu")(inside_input)])
    inputs = Input(image(6, 6, channels=2))
    x, y = inside(inside(inputs)[0])
    head = Sequential([Flatten(data_format="channels_last", input_shape=image(6, 6, channels=2)), Dense(3)])
    return Model(inputs, [head(x), head(y)])


def segmentation() -> Model:
    """Each pixel a row: a Reshape that keeps the channels an axis, a Permute, and softmax along the last axis."""
    inputs = Input(image(4, 6))
    x = Reshape(image(24, channels=5))(Conv2D(5, 1)(inputs))
    return Model(inputs, Activation("softmax")(Permute((2, 1) if axis() == 1 else (1, 2))(x)))


def any_size() -> Model:
    inputs = Input(image(None, None))
    x = Softmax(axis=axis())(Conv2D(4, 3, padding="same")(inputs))
    columns = Permute((3, 2, 1) if axis() == 1 else (2, 1, 3))(MaxPooling2D()(x))
    return Model(inputs, [x, TimeDistributed(GlobalAveragePooling1D())(columns)])


def normalized() -> Model:
    inputs = Input(image(4, 6))
    x = GroupNormalization(2, axis=axis())(Conv2D(4, 1)(inputs))
    x = LayerNormalization(axis=axis())(UnitNormalization(axis=axis())(x))
    x = SpectralNormalization(Conv2D(3, 2))(RMSNormalization(axis=axis())(x))
    x = SReLU()(ParametricSoftplus(shared_axes=[axis()])(x))
    return Model(inputs, [x, MaxoutDense(3)(Flatten(data_format="channels_last")(x))])


def words() -> Model:
    """No image at all."""
    return Sequential([Embedding(9, 4, input_length=6), Conv1D(3, 2), MaxPooling1D(), Flatten(), Dense(2)])


MODELS: list[Callable[[], Model]] = [vgg, residual, decoder, video, recurrent_images, local, volumes, branches, nested]
MODELS += [segmentation, any_size, normalized, words]


def made(build: Callable[[], Model], data_format: str, seed: int = 0) -> Model:
    """A model in a data format, its weights all at random."""
    torchkeras.clear_session()
    before = config.image_data_format()
    config.set_image_data_format(data_format)
    try:
        model = build().eval()
    finally:
        config.set_image_data_format(before)
    random = np.random.default_rng(seed)
    for variable in model.weights:
        variable.assign(random.uniform(0.2, 1.0, variable.shape) * random.choice([-0.4, 0.4], variable.shape))
        if "variance" in variable.name:
            variable.assign(np.abs(variable.numpy()))
    return model


def sample(model: Model) -> list[np.ndarray]:
    random = np.random.default_rng(1)
    shapes = [(2, *(size or 6 for size in tensor.shape[1:])) for tensor in model.inputs]
    if isinstance(model.layers[0], Embedding):
        return [random.integers(0, 9, shapes[0])]
    return [random.normal(size=shape).astype("float32") for shape in shapes]


def outputs(model: Model, arrays: list[np.ndarray]) -> list[np.ndarray]:
    with torch.no_grad():
        found = model([torch.from_numpy(np.ascontiguousarray(array)) for array in arrays])
    return [tensor.numpy() for tensor in (found if isinstance(found, list) else [found])]


def assert_same_function(model: Model, converted: Model, arrays: list[np.ndarray] | None = None) -> Tracker:
    """Both give the same, each with images in its own layout."""
    tracker = Tracker(model, converted)
    arrays = sample(model) if arrays is None else arrays
    expected = outputs(model, arrays)
    found = outputs(converted, [there.applied(array) for there, array in zip(tracker.inputs, arrays, strict=True)])
    for mine, theirs, there in zip(found, expected, tracker.outputs, strict=True):
        assert np.abs(theirs).max() > 1e-3
        np.testing.assert_allclose(mine, there.applied(theirs), atol=1e-5, rtol=1e-5)
    return tracker


def same_arrays(first: Model, second: Model) -> bool:
    pairs = zip(first.get_weights(), second.get_weights(), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)

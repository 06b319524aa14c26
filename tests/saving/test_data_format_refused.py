"""What would be another function in the other data format, and is refused."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from two_formats import image, made

from torchkeras.layers import (
    Activation,
    BatchNormalization,
    Bidirectional,
    Conv2D,
    ConvLSTM2D,
    Dense,
    Flatten,
    GlobalAveragePooling2D,
    GroupNormalization,
    Highway,
    Input,
    Layer,
    MaxPooling2D,
    Rescaling,
    Reshape,
    SpectralNormalization,
    TimeDistributed,
    add,
    multiply,
)
from torchkeras.models import Model, Sequential
from torchkeras.saving.data_format.convert import convert_data_format, transfer_weights


def refuses(text: str) -> Any:
    return pytest.raises(ValueError, match=f"^{re.escape(text)}$")


def assert_refused(data_format: str, layers: list[Any], text: str) -> None:
    with refuses(text):
        convert_data_format(Sequential(layers, name="model"), data_format)


def conv(**options: Any) -> Layer:
    return Conv2D(**{"filters": 2, "kernel_size": 2, "input_shape": (4, 5, 3), "name": "conv", **options})


def test_what_would_be_another_function_is_refused():
    assert_refused(
        "channels_first",
        [conv(), Dense(3, name="dense")],
        "Dense 'dense': in the other data format its input (None, 3, 4, 2) has axes in the order (0, 3, 1, 2); "
        "it must have the same axes.",
    )
    assert_refused(
        "channels_first",
        [conv(filters=4), Rescaling([1.0, 2.0, 3.0, 4.0], name="rescaled")],
        "Rescaling 'rescaled': in the other data format its input (None, 3, 4, 4) has axes in the order (0, 3, 1, 2); "
        "it must have the same axes.",
    )
    assert_refused(
        "channels_first",
        [conv(activation="softmax")],
        "Conv2D 'conv': its activation works along the last axis, which is another one in the other data format.",
    )
    assert_refused(
        "channels_first",
        [conv(), Activation("softmax", name="soft")],
        "Activation 'soft': in the other data format its input (None, 3, 4, 2) has axes in the order (0, 3, 1, 2); "
        "it must have the same axes.",
    )
    assert_refused(
        "channels_first",
        [conv(), Reshape((6, 4), name="mixed")],
        "Reshape 'mixed': it would mix other values in the other data format: its input (None, 3, 4, 2) has axes in "
        "the order (0, 3, 1, 2). Values keep together where the channels stay an axis of their own.",
    )
    assert_refused(
        "channels_first",
        [Reshape((4, 5, 3), input_shape=(60,), name="folded"), conv()],
        "Reshape 'folded': its input (None, 60) must have its features in another order in the other data format, and "
        "no Dense before it can make them so.",
    )


def test_weights_that_would_need_two_orders_are_refused():
    def shared() -> Model:
        inputs, vector = Input(image(4, 5)), Input((24,))
        dense = Dense(2, name="shared")
        return Model([inputs, vector], [dense(Flatten("channels_last")(Conv2D(2, 2)(inputs))), dense(vector)])

    with refuses("Dense 'shared': it is called twice, and its weight 'kernel' would need two orders."):
        transfer_weights(made(shared, "channels_first"), made(shared, "channels_last"))


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (
            lambda: GroupNormalization(2, name="own"),
            (
                "GroupNormalization 'own': its groups are of neighbours, which have another order in the other data "
                "format."
            ),
        ),
        (
            lambda: Highway(name="own"),
            (
                "Highway 'own': in the other data format its input (None, 24) has the last axis in another order; it "
                "must have the same axes."
            ),
        ),
        (
            lambda: SpectralNormalization(Dense(2), name="own"),
            (
                "SpectralNormalization 'own': the kernel inside would have to be reordered, which its singular "
                "vectors do not follow."
            ),
        ),
    ],
)
def test_features_that_a_layer_cannot_take_in_another_order_are_refused(layer: Callable[[], Layer], text: str):
    def flattened() -> Model:
        inputs = Input(image(4, 5))
        return Model(inputs, layer()(Flatten("channels_last")(Conv2D(2, 2)(inputs))))

    with refuses(text):
        transfer_weights(made(flattened, "channels_first"), made(flattened, "channels_last"))


def test_calls_that_would_need_different_options_are_refused():
    inputs, other_input, shared = Input((5, 5, 5)), Input((5, 5, 5)), BatchNormalization(name="shared")
    model = Model([inputs, other_input], [Conv2D(1, 1)(shared(inputs)), Dense(3)(shared(other_input))])
    with refuses("BatchNormalization 'shared': its calls would need different options in the other data format."):
        convert_data_format(model, "channels_first")


def test_a_moved_axis_of_time_is_refused():
    inputs = Input((4, 5, 3))
    model = Model(inputs, TimeDistributed(Flatten(), name="rows")(Conv2D(2, 2)(inputs)))
    with refuses(
        "TimeDistributed 'rows': its axis of time must stay where it is; its input (None, 3, 4, 2) has axes in the "
        "order (0, 3, 1, 2)."
    ):
        convert_data_format(model, "channels_first")


def test_inputs_that_do_not_lie_alike_are_refused():
    inputs, other_input = Input((5, 5, 5)), Input((5, 5, 5))
    x = add([Conv2D(5, 1)(inputs), Dense(5)(other_input)], name="joined")
    with refuses(
        "Add 'joined': its inputs must have the same order of axes in the other data format; found axes in the order "
        "(0, 3, 1, 2) and the same axes."
    ):
        convert_data_format(Model([inputs, other_input], x), "channels_first")


def test_what_cannot_be_built_is_refused():
    inputs = Input((4, 5, 3))
    x = Conv2D(2, 2)(inputs)
    gate = Dense(2)(Reshape((1, 1, 2))(GlobalAveragePooling2D()(x)))
    with refuses(
        "'gated' cannot be made channels_first: Multiply 'gate': operands could not be broadcast together with shapes "
        "(2, 3, 4) and (1, 1, 2). Bring them to one shape."
    ):
        convert_data_format(Model(inputs, multiply([x, gate], name="gate"), name="gated"), "channels_first")


def test_a_data_format_that_cannot_be_changed_is_refused():
    assert_refused(
        "channels_first",
        [Bidirectional(ConvLSTM2D(2, 2, name="own"), input_shape=(3, 4, 5, 3))],
        "ConvLSTM2D 'forward_own': its data_format cannot be changed where it stands; it must be 'channels_first', "
        "found 'channels_last'.",
    )
    assert_refused("nchw", [conv()], "data_format must be one of ('channels_last', 'channels_first'); found 'nchw'.")


def test_a_layer_of_ones_own_takes_what_it_had():
    class Scaled(Conv2D):
        pass

    model = Sequential([conv(), Scaled(2, 2, name="own")])
    with refuses(
        "Scaled 'own': in the other data format its input (None, 3, 4, 2) has axes in the order (0, 3, 1, 2); it must "
        "have the same axes."
    ):
        convert_data_format(model, "channels_first", {"Scaled": Scaled})


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (
            lambda: Sequential([conv(), Activation("relu")]),
            "must have the same layers; found 2 calls in the one and 3 in the other.",
        ),
        (
            lambda: Sequential([MaxPooling2D(input_shape=(4, 5, 3), name="pool")]),
            (
                "Both models must be of one architecture but for the data format; Conv2D 'conv' of the one stands "
                "where the other has MaxPooling2D 'pool'."
            ),
        ),
        (
            lambda: Sequential([conv(filters=3)]),
            (
                "Conv2D 'conv': its output (None, 3, 4, 2) must have the shape (None, 3, 4, 2) in the other data "
                "format; the target's has (None, 3, 4, 3)."
            ),
        ),
        (
            lambda: Sequential([conv(input_shape=(3, 4, 5), data_format="channels_first", strides=(2, 1))]),
            (
                "Conv2D 'conv': its output (None, 3, 4, 2) must have the shape (None, 2, 3, 4) in the other data "
                "format; the target's has (None, 2, 2, 4)."
            ),
        ),
    ],
)
def test_a_target_of_another_architecture_is_refused(target: Callable[[], Model], text: str):
    model = target()
    before = model.get_weights()
    with pytest.raises(ValueError, match=f"{re.escape(text)}$"):
        transfer_weights(Sequential([conv()]), model)
    assert all(map(np.array_equal, before, model.get_weights()))

"""`summary()` prints what genuine Keras 2.2.4 prints, of which the tables below are copies (ends of lines stripped)."""

import pytest

import torchkeras
from torchkeras.layers import Add, BatchNormalization, Concatenate, Conv2D, Dense, Dropout, Flatten, Input, MaxPooling2D
from torchkeras.models import Model, Sequential


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


def cnn():
    return Sequential(
        [
            Conv2D(8, 3, activation="relu", input_shape=(28, 28, 1)),
            BatchNormalization(),
            MaxPooling2D(),
            Dropout(0.25),
            Flatten(),
            Dense(1000, activation="relu"),
            Dense(10, activation="softmax"),
        ]
    )


def branching():
    image, extra = Input((8, 8, 3)), Input((5,))
    conv = Conv2D(3, 3, padding="same")
    left, right = conv(image), conv(conv(image))
    flat = Flatten()(Add(name="a_layer_whose_name_is_longer_than_its_column")([left, right]))
    return Model([image, extra], Dense(2)(Concatenate()([flat, extra])))


def nested():
    inner_input = Input((4,))
    inner = Model(inner_input, Dense(3)(Dense(5, activation="relu")(inner_input)), name="encoder")
    tail = Sequential([Dense(2, input_shape=(3,))], name="tail")
    x = Input((4,))
    return Model(x, tail(inner(x)))


def frozen():
    model = Sequential([Dense(4, input_shape=(3,)), BatchNormalization(), Dense(2)])
    model.layers[0].trainable = False
    return model


CNN = """\
_________________________________________________________________
Layer (type)                 Output Shape              Param #
=================================================================
conv2d_1 (Conv2D)            (None, 26, 26, 8)         80
_________________________________________________________________
batch_normalization_1 (Batch (None, 26, 26, 8)         32
_________________________________________________________________
max_pooling2d_1 (MaxPooling2 (None, 13, 13, 8)         0
_________________________________________________________________
dropout_1 (Dropout)          (None, 13, 13, 8)         0
_________________________________________________________________
flatten_1 (Flatten)          (None, 1352)              0
_________________________________________________________________
dense_1 (Dense)              (None, 1000)              1353000
_________________________________________________________________
dense_2 (Dense)              (None, 10)                10010
=================================================================
Total params: 1,363,122
Trainable params: 1,363,106
Non-trainable params: 16
_________________________________________________________________
"""

BRANCHING = """\
__________________________________________________________________________________________________
Layer (type)                    Output Shape         Param #     Connected to
==================================================================================================
input_1 (InputLayer)            (None, 8, 8, 3)      0
__________________________________________________________________________________________________
conv2d_1 (Conv2D)               (None, 8, 8, 3)      84          input_1[0][0]
                                                                 input_1[0][0]
                                                                 conv2d_1[1][0]
__________________________________________________________________________________________________
a_layer_whose_name_is_longer_th (None, 8, 8, 3)      0           conv2d_1[0][0]
                                                                 conv2d_1[2][0]
__________________________________________________________________________________________________
flatten_1 (Flatten)             (None, 192)          0           a_layer_whose_name_is_longer_than
__________________________________________________________________________________________________
input_2 (InputLayer)            (None, 5)            0
__________________________________________________________________________________________________
concatenate_1 (Concatenate)     (None, 197)          0           flatten_1[0][0]
                                                                 input_2[0][0]
__________________________________________________________________________________________________
dense_1 (Dense)                 (None, 2)            396         concatenate_1[0][0]
==================================================================================================
Total params: 480
Trainable params: 480
Non-trainable params: 0
__________________________________________________________________________________________________
"""

NESTED = """\
_________________________________________________________________
Layer (type)                 Output Shape              Param #
=================================================================
input_2 (InputLayer)         (None, 4)                 0
_________________________________________________________________
encoder (Model)              (None, 3)                 43
_________________________________________________________________
tail (Sequential)            (None, 2)                 8
=================================================================
Total params: 51
Trainable params: 51
Non-trainable params: 0
_________________________________________________________________
"""

FROZEN = """\
_________________________________________________________________
Layer (type)                 Output Shape              Param #
=================================================================
dense_1 (Dense)              (None, 4)                 16
_________________________________________________________________
batch_normalization_1 (Batch (None, 4)                 16
_________________________________________________________________
dense_2 (Dense)              (None, 2)                 10
=================================================================
Total params: 42
Trainable params: 18
Non-trainable params: 24
_________________________________________________________________
"""

BRANCHING_80 = """\
________________________________________________________________________________
Layer (type)                    Output Shape    Param #         Connected to
================================================================================
input_1 (InputLayer)            (None, 8, 8, 3) 0
________________________________________________________________________________
conv2d_1 (Conv2D)               (None, 8, 8, 3) 84              input_1[0][0]
                                                                input_1[0][0]
                                                                conv2d_1[1][0]
________________________________________________________________________________
a_layer_whose_name_is_longer_th (None, 8, 8, 3) 0               conv2d_1[0][0]
                                                                conv2d_1[2][0]
________________________________________________________________________________
flatten_1 (Flatten)             (None, 192)     0               a_layer_whose_na
________________________________________________________________________________
input_2 (InputLayer)            (None, 5)       0
________________________________________________________________________________
concatenate_1 (Concatenate)     (None, 197)     0               flatten_1[0][0]
                                                                input_2[0][0]
________________________________________________________________________________
dense_1 (Dense)                 (None, 2)       396             concatenate_1[0]
================================================================================
Total params: 480
Trainable params: 480
Non-trainable params: 0
________________________________________________________________________________
"""

BRANCHING_120 = """\
________________________________________________________________________________________________________________________
Layer (type)                           Output Shape               Param #       Connected to
========================================================================================================================
input_1 (InputLayer)                   (None, 8, 8, 3)            0
________________________________________________________________________________________________________________________
conv2d_1 (Conv2D)                      (None, 8, 8, 3)            84            input_1[0][0]
                                                                                input_1[0][0]
                                                                                conv2d_1[1][0]
________________________________________________________________________________________________________________________
a_layer_whose_name_is_longer_than_its_ (None, 8, 8, 3)            0             conv2d_1[0][0]
                                                                                conv2d_1[2][0]
________________________________________________________________________________________________________________________
flatten_1 (Flatten)                    (None, 192)                0             a_layer_whose_name_is_longer_than_its_co
________________________________________________________________________________________________________________________
input_2 (InputLayer)                   (None, 5)                  0
________________________________________________________________________________________________________________________
concatenate_1 (Concatenate)            (None, 197)                0             flatten_1[0][0]
                                                                                input_2[0][0]
________________________________________________________________________________________________________________________
dense_1 (Dense)                        (None, 2)                  396           concatenate_1[0][0]
========================================================================================================================
Total params: 480
Trainable params: 480
Non-trainable params: 0
________________________________________________________________________________________________________________________
"""


CASES = [
    (cnn, {}, CNN),
    (branching, {}, BRANCHING),
    (nested, {}, NESTED),
    (frozen, {}, FROZEN),
    (branching, {"line_length": 120}, BRANCHING_120),
    (branching, {"line_length": 80, "positions": [0.4, 0.6, 0.8, 1.0]}, BRANCHING_80),
    (branching, {"line_length": 80, "positions": [32, 48, 64, 80]}, BRANCHING_80),
]


@pytest.mark.parametrize(("build", "options", "expected"), CASES)
def test_summary(build, options, expected):
    lines = []
    assert build().summary(print_fn=lines.append, **options) is None
    assert "".join(line.rstrip() + "\n" for line in lines) == expected


def test_lines_are_as_long_as_asked():
    lines = []
    branching().summary(line_length=120, print_fn=lines.append)
    assert {len(line) for line in lines if not line.startswith(("Total", "Trainable", "Non"))} == {120}


def test_it_is_printed_unless_told_otherwise(capsys):
    nested().summary()
    assert "".join(line.rstrip() + "\n" for line in capsys.readouterr().out.splitlines()) == NESTED


def test_positions_must_fit_the_columns():
    with pytest.raises(ValueError, match="positions") as error:
        cnn().summary(positions=[0.5, 1.0])
    assert str(error.value) == "summary: positions must hold 3 column ends for this model; found [0.5, 1.0]."


def test_a_model_that_is_not_built_has_no_table():
    with pytest.raises(RuntimeError) as error:
        Sequential([Dense(2)]).summary()
    assert str(error.value) == (
        "Sequential 'sequential_1' has no graph yet: its first layer needs an input_shape, or call the model on data, "
        "or call build(input_shape)."
    )

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


def printed(model, **options):
    lines = []
    model.summary(print_fn=lines.append, **options)
    return "".join(line.rstrip() + "\n" for line in lines)


EXTENDED = """\
________________________________________________________________________________________________
Layer (type)                 Output Shape              Param #   Trainable  FLOPs
================================================================================================
input_2 (InputLayer)         (None, 4)                 0         -          0
________________________________________________________________________________________________
encoder (Model)              (None, 3)                 43        N          70
________________________________________________________________________________________________
  input_1 (InputLayer)       (None, 4)                 0         -          0
________________________________________________________________________________________________
  dense_2 (Dense)            (None, 5)                 25        N          40
________________________________________________________________________________________________
  dense_1 (Dense)            (None, 3)                 18        N          30
________________________________________________________________________________________________
tail (Sequential)            (None, 2)                 8         Y          12
________________________________________________________________________________________________
  dense_3 (Dense)            (None, 2)                 8         Y          12
================================================================================================
Total params: 51
Trainable params: 8
Non-trainable params: 43
FLOPs: 82 (one sample; products and convolutions, 2 a multiply-add)
________________________________________________________________________________________________
"""


def test_models_inside_what_trains_and_operations():
    model = nested()
    model.get_layer("encoder").trainable = False
    assert printed(model, show_trainable=True, expand_nested=True, flops=True) == EXTENDED


def test_connections_are_shown_where_a_model_inside_has_branches():
    inner = branching()
    x, y = Input((8, 8, 3)), Input((5,))
    text = printed(Model([x, y], inner([x, y])), expand_nested=True)
    assert "  concatenate_1 (Concatenate)   (None, 197)          0           flatten_1[0][0]\n" in text
    model = Sequential([Dense(1, input_shape=(5,), name="one"), Sequential([Dense(1, input_shape=(1,))], name="two")])
    assert "Connected to" not in printed(model, expand_nested=True)


def test_columns_of_a_graph_with_more_of_them():
    lines = []
    branching().summary(line_length=120, print_fn=lines.append, show_trainable=True, flops=True)
    assert {len(line) for line in lines if not line.startswith(("Total", "Trainable", "Non", "FLOPs"))} == {120}
    assert lines[1].split() == [
        "Layer",
        "(type)",
        "Output",
        "Shape",
        "Param",
        "#",
        "Connected",
        "to",
        "Trainable",
        "FLOPs",
    ]
    # A layer's operations are those of all its calls: 3 of 8 x 8 x 3 results of 3 x 3 x 3 products.
    assert next(line for line in lines if line.startswith("conv2d_1")).split()[-2:] == ["Y", str(3 * 192 * 27 * 2)]
    assert lines[-2] == "FLOPs: 31,892 (one sample; products and convolutions, 2 a multiply-add)"


def test_positions_of_all_columns():
    text = printed(cnn(), show_trainable=True, positions=[30, 50, 60, 72])
    assert "dense_1 (Dense)               (None, 1000)        1353000   Y\n" in text


def test_what_trains_is_what_requires_grad_says():
    model = Sequential([Dense(2, input_shape=(3,)), Dense(2), Dense(2), BatchNormalization()])
    model.layers[0].linear.weight.requires_grad_(False)
    model.layers[1].requires_grad_(False)
    model.layers[2].trainable = False
    lines = printed(model, show_trainable=True).splitlines()
    assert [line.split()[-1] for line in lines if line.startswith(("dense", "batch"))] == ["some", "N", "N", "Y"]


RANGES = [
    (["conv2d_1", "conv2d_1"], ["conv2d_1"]),
    (["dropout_1", "dense_1"], ["dropout_1", "flatten_1", "dense_1"]),
    (["dense_1", "dropout_1"], ["dropout_1", "flatten_1", "dense_1"]),
    (("max.*", "dense_."), ["max_pooling2d_1", "dropout_1", "flatten_1", "dense_1", "dense_2"]),
    (["dense", "dense"], ["dense_1", "dense_2"]),
]


@pytest.mark.parametrize(("layer_range", "expected"), RANGES)
def test_a_range_of_layers_with_the_totals_of_the_model(layer_range, expected):
    lines = []
    cnn().summary(print_fn=lines.append, layer_range=layer_range)
    assert [line.split()[0] for line in lines[3:-5:2]] == expected
    assert lines[-4] == "Total params: 1,363,122"


def test_a_name_is_no_pattern_when_a_layer_has_it():
    model = Sequential([Dense(1, input_shape=(1,), name="d1"), Dense(1, name="d10"), Dense(1, name="d+")])
    lines = []
    model.summary(print_fn=lines.append, layer_range=["d1", "d1"])
    assert [line.split()[0] for line in lines[3:-5:2]] == ["d1"]


BAD = [
    ({"layer_range": ["dense_1"]}, "summary: layer_range must hold two names of layers; found ['dense_1']."),
    ({"layer_range": "dense_1"}, "summary: layer_range must hold two names of layers; found 'dense_1'."),
    ({"layer_range": [0, 1]}, "summary: layer_range must hold two names of layers; found [0, 1]."),
    (
        {"layer_range": ["stem", "dense_1"]},
        (
            "summary: layer_range: no layer is called 'stem'; the layers are conv2d_1, batch_normalization_1, "
            "max_pooling2d_1, dropout_1, flatten_1, dense_1, dense_2."
        ),
    ),
    (
        {"layer_range": ["dense_1", "("]},
        (
            "summary: layer_range: '(' is no name of a layer and no pattern: missing ), unterminated subpattern at "
            "position 0."
        ),
    ),
    (
        {"show_trainable": True, "line_length": 40},
        "summary: line_length must be at least 41 with the columns Trainable; found 40.",
    ),
    (
        {"show_trainable": True, "positions": [0.45, 0.85, 1.0]},
        "summary: positions must hold 4 column ends for this model; found [0.45, 0.85, 1.0].",
    ),
    (
        {"flops": "yes"},
        "summary: flops must be True, False or the size to take for unknown axes, 1 or more; found 'yes'.",
    ),
    ({"flops": 0}, "summary: flops must be True, False or the size to take for unknown axes, 1 or more; found 0."),
]


@pytest.mark.parametrize(("options", "expected"), BAD)
def test_bad_options(options, expected):
    with pytest.raises(ValueError, match="summary") as error:
        cnn().summary(**options)
    assert str(error.value) == expected


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

"""`text_graph`: a drawing joins what the graph joins."""

import numpy as np
import pytest

import torchkeras
from torchkeras.layers import LSTM, Add, Concatenate, Conv2D, Dense, Dropout, Flatten, Input, Subtract, TimeDistributed
from torchkeras.models import Model, Sequential
from torchkeras.utils import text_graph


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


def drawn(model, **options):
    return text_graph(model, **{"show_shapes": False, **options}).splitlines()


def test_a_chain():
    model = Sequential([Dense(4, input_shape=(3,), activation="relu"), Dense(2)])
    assert text_graph(model) == (
        "○ dense_1_input (InputLayer)  (None, 3)\n"
        "│\n"
        "● dense_1 (Dense)  (None, 3) → (None, 4)\n"
        "│\n"
        "● dense_2 (Dense)  (None, 4) → (None, 2)  → output\n"
    )


def test_shared_layers_several_inputs_and_outputs():
    image, extra = Input((8, 8, 3)), Input((5,))
    conv = Conv2D(3, 3, padding="same", name="conv")
    left, right = conv(image), conv(conv(image))
    flat = Flatten()(Add()([left, right]))
    model = Model([image, extra], [Dense(2)(Concatenate()([flat, extra])), flat])
    assert drawn(model) == [
        "○ input_1 (InputLayer)",
        "├─╮",
        "│ ● conv[0] (Conv2D)",
        "│ │",
        "● │ conv[1] (Conv2D)",
        "│ │",
        "● │ conv[2] (Conv2D)  takes conv[1]",
        "├─╯",
        "●   add_1 (Add)  takes conv[0], conv[2]",
        "│",
        "●   flatten_1 (Flatten)  → output 2",
        "│ ○ input_2 (InputLayer)",
        "├─╯",
        "●   concatenate_1 (Concatenate)  takes flatten_1, input_2",
        "│",
        "●   dense_1 (Dense)  → output 1",
    ]


def test_lines_that_cross_are_interrupted_and_those_that_join_are_not():
    x = Input((4,))
    first, second, third, fourth = (Dense(4)(x) for _ in range(4))
    inner = Add()([first, third])
    model = Model(x, [Subtract()([Add()([second, fourth, x]), inner]), inner])
    assert drawn(model) == [
        "○ input_1 (InputLayer)",
        "├─╮",
        "│ ● dense_2 (Dense)",
        "├─│─╮",
        "│ │ ● dense_4 (Dense)",
        "├─│─│─╮",
        "│ │ │ ● dense_1 (Dense)",
        "├─│─│─│─╮",
        "│ │ │ │ ● dense_3 (Dense)",
        "├─┴─╯ │ │",
        "●     │ │ add_2 (Add)  takes dense_2, dense_4, input_1",
        "│     ├─╯",
        "│     ●   add_1 (Add)  takes dense_1, dense_3  → output 2",
        "├─────╯",
        "●         subtract_1 (Subtract)  takes add_2, add_1  → output 1",
    ]


def test_a_model_inside_is_drawn_where_it_stands_once():
    inner = Sequential([Dense(3, input_shape=(4,)), Dense(2)], name="inner")
    a, b = Input((4,), name="a"), Input((7, 4), name="b")
    model = Model([a, b], [inner(a), TimeDistributed(inner)(b), inner(Dense(4)(a))])
    assert drawn(model, expand_nested=True) == [
        "○ a (InputLayer)",
        "│ ○ b (InputLayer)",
        "├─│─╮",
        "│ │ ● dense_3 (Dense)",
        "│ │ │",
        "● │ │ inner[1] (Sequential)  → output 1",
        "  │ │     ○ dense_1_input (InputLayer)",
        "  │ │     │",
        "  │ │     ● dense_1 (Dense)",
        "  │ │     │",
        "  │ │     ● dense_2 (Dense)  → output",
        "  │ │",
        "  ● │ time_distributed_1 (TimeDistributed(Sequential))  → output 2",
        "    │     ○ dense_1_input (InputLayer)",
        "    │     │",
        "    │     ● dense_1 (Dense)",
        "    │     │",
        "    │     ● dense_2 (Dense)  → output",
        "    │",
        "    ● inner[2] (Sequential)  → output 3",
    ]
    assert not any("dense_1 " in line for line in drawn(model))


def test_what_is_shown():
    x = Input((None, 4), name="x")
    states = LSTM(3, return_sequences=True, return_state=True)(x)
    frozen = Dense(2, activation="relu", name="frozen", trainable=False)(states[2])
    lines = drawn(
        Model(x, [Dropout(0.5)(frozen), x]),
        show_shapes=True,
        show_layer_names=False,
        show_dtype=True,
        show_trainable=True,
    )
    assert lines == [
        "○ InputLayer  (None, None, 4)  float32  → output 2",
        "│",
        "● LSTM  (None, None, 4) → [(None, None, 3), (None, 3), (None, 3)]  float32, float32, float32  trainable",
        "│",
        "● Dense  (None, 3) → (None, 2)  float32  not trainable  takes lstm_1[0][2]",
        "│",
        "● Dropout  (None, 2) → (None, 2)  float32  → output 1",
    ]


def test_one_tensor_twice_and_an_input_that_is_an_output():
    x = Input((4,), name="x")
    assert drawn(Model(x, [Add()([x, x]), x])) == [
        "○ x (InputLayer)  → output 2",
        "│",
        "● add_1 (Add)  takes x, x  → output 1",
    ]
    assert drawn(Model(x, x)) == ["○ x (InputLayer)  → output"]


def test_a_name_stays_on_its_line():
    x = Input((4,), name="a\nb\x1b[0m")
    assert drawn(Model(x, x)) == [r"○ a\nb\x1b[0m (InputLayer)  → output"]


WAYS = {"│": "ud", "─": "lr", "╭": "dr", "╮": "dl", "╯": "ul", "╰": "ur", "├": "udr", "┤": "udl"}
WAYS |= {"┬": "dlr", "┴": "ulr", "┼": "udlr"}
STEPS = {"d": (1, 0), "l": (0, -1), "r": (0, 1)}


def rows_below(lines, row, column):
    """The rows of the marks that the lines from a place downwards lead to, along corners to every side."""
    reached, seen, pending = set(), set(), [(row + 1, column, "d")]
    while pending:
        place = pending.pop()
        row, column, going = place
        letter = lines[row][column : column + 1]
        if place in seen or not letter:
            continue
        seen.add(place)
        if letter in "●○":
            reached |= {row} if going == "d" else set()
        elif letter == "│" and going in "lr":  # it passes behind
            pending.append((row, column + STEPS[going][1], going))
        else:
            ways = WAYS.get(letter, "").replace("u", "")
            pending += [(row + STEPS[way][0], column + STEPS[way][1], way) for way in ways]
    return reached


@pytest.mark.parametrize("seed", range(8))
def test_the_lines_of_any_graph_lead_where_it_does(seed):
    """Every edge of a random graph is a way along the lines of its drawing."""
    random = np.random.RandomState(seed)
    made = [Input((3,)) for _ in range(random.randint(1, 4))]
    inputs = list(made)
    for _ in range(12):
        chosen = [made[k] for k in random.choice(len(made), random.randint(1, min(4, len(made)) + 1), replace=False)]
        made.append(Add()(chosen) if len(chosen) > 1 else Dense(3)(chosen[0]))
    model = Model(inputs, made[len(inputs) :])
    lines = drawn(model)
    rows = {line.split("(")[0].split()[-1]: row for row, line in enumerate(lines) if "(" in line}
    for node in model._graphed.nodes:
        row = rows[node.layer.name]
        for source in node.inbound_layers:
            start = rows[source.name]
            column = min(lines[start].index(mark) for mark in "●○" if mark in lines[start])
            assert row in rows_below(lines, start, column), (source.name, node.layer.name, "\n".join(lines))


def test_errors():
    with pytest.raises(TypeError) as error:
        text_graph(Dense(3))
    assert str(error.value) == "text_graph: model must be a model of torchkeras; found Dense."
    with pytest.raises(RuntimeError) as unbuilt:
        text_graph(Sequential([Dense(3)], name="open"))
    assert str(unbuilt.value) == (
        "Sequential 'open' has no graph yet: its first layer needs an input_shape, or call the model on data, or call "
        "build(input_shape)."
    )

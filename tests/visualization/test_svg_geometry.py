"""Pictures in SVG as a person sees them: read again from their text, for models of many forms."""

import re
import time
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import ft2font, get_data_path

import torchkeras
from torchkeras.keras2 import applications
from torchkeras.layers import (
    LSTM,
    Activation,
    Add,
    AveragePooling2D,
    BatchNormalization,
    Concatenate,
    Conv2D,
    Dense,
    Dot,
    Embedding,
    Flatten,
    GlobalAveragePooling1D,
    Input,
    MaxPooling2D,
    Reshape,
    TimeDistributed,
)
from torchkeras.models import Model, Sequential, load_model
from torchkeras.utils import model_to_svg

SVG = "{http://www.w3.org/2000/svg}"
GOLDEN = Path(__file__).parents[1] / "golden"
RANKDIRS = ("TB", "BT", "LR", "RL")
EVERYTHING = {
    "show_shapes": True,
    "show_dtype": True,
    "show_layer_activations": True,
    "show_trainable": True,
    "expand_nested": True,
}
FONTS = {
    bold: ft2font.FT2Font(str(Path(get_data_path(), "fonts", "ttf", name)))
    for bold, name in ((False, "DejaVuSans.ttf"), (True, "DejaVuSans-Bold.ttf"))
}
NEAR = 0.2  # places are written with one digit


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


class Picture:
    """Rectangles are (left, top, right, bottom); each line is its points, close together."""

    def __init__(self, text):
        root = ElementTree.fromstring(text)
        paper, self.frames, self.boxes, self.inside = None, [], [], []
        for group in root.iter(f"{SVG}g"):
            rect = group.find(f"{SVG}rect")
            if rect is not None:
                side = rectangle(rect)
                (self.frames if group.get("class") == "tk-frame" else self.boxes).append(side)
                anchor = group.get("text-anchor", "start")
                self.inside += [(side, written(each, anchor)) for each in group.findall(f"{SVG}text")]
        paper = root.find(f"{SVG}rect")
        assert paper is not None
        self.paper = (0.0, 0.0, float(paper.get("width", 0)), float(paper.get("height", 0)))
        small = [group for group in root.findall(f"{SVG}g") if group.get("class") == "tk-small"]
        self.beside = [written(each, each.get("text-anchor", "start")) for group in small for each in group]
        lines = root.find(f"{SVG}g[@class='tk-lines']")
        assert lines is not None
        paths = [[path.get("d", "") for path in group.findall(f"{SVG}path")] for group in lines]
        self.lines = [traced(found[0]) for found in paths]
        self.begins = [tuple(line[0]) for line in self.lines]
        self.tips = [
            tuple(map(float, tip)) for found in paths for tip in re.findall(r"M(\S+) (\S+)L", "".join(found[1:]))
        ]


def rectangle(rect):
    x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def written(text, anchor):
    """The rectangle that a text takes in DejaVu Sans, which is wider than Helvetica and Arial."""
    size = float(text.get("font-size", 11 if text.get("class") is None else 11.5))
    bold = text.get("font-weight") == "bold"
    wide = measured(text.text, size, bold) + sum(10 + measured(each.text, 11.5, False) for each in text)
    x, y = float(text.get("x")), float(text.get("y"))
    left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[anchor]
    return left, y - 0.76 * size, left + wide, y + 0.24 * size


def measured(text, size, bold):
    font = FONTS[bold]
    font.set_size(1000, 72)
    wide = [
        1000.0 if ord(letter) > 0x3000 else font.load_char(ord(letter)).linearHoriAdvance / 65536 for letter in text
    ]
    return sum(wide) / 1000 * size


def traced(path):
    """The points of a path of lines and curves."""
    points, here = [], np.zeros(2)
    for letter, numbers in re.findall(r"([MLC])([^MLC]*)", path):
        ends = np.array(numbers.split(), float).reshape(-1, 2)
        if letter == "M":
            points.append(ends)
        elif letter == "L":
            points.append(here + np.linspace(0, 1, 40)[:, None] * (ends - here))
        else:
            t = np.linspace(0, 1, 80)[:, None]
            a, b, c = ends
            points.append((1 - t) ** 3 * here + 3 * t * (1 - t) ** 2 * a + 3 * t**2 * (1 - t) * b + t**3 * c)
        here = ends[-1]
    return np.concatenate(points)


def overlap(one, two):
    return one[0] < two[2] - NEAR and two[0] < one[2] - NEAR and one[1] < two[3] - NEAR and two[1] < one[3] - NEAR


def within(inner, outer):
    return all(a >= b - NEAR for a, b in zip(inner[:2], outer[:2], strict=True)) and all(
        a <= b + NEAR for a, b in zip(inner[2:], outer[2:], strict=True)
    )


def strictly_inside(points, rect):
    left, top, right, bottom = (*(side + NEAR for side in rect[:2]), *(side - NEAR for side in rect[2:]))
    return (points[:, 0] > left) & (points[:, 0] < right) & (points[:, 1] > top) & (points[:, 1] < bottom)


def on_side(point, rect):
    return within((*point, *point), rect) and not strictly_inside(np.array([point]), rect).any()


def check(text):
    """Boxes, frames and texts stand apart, lines begin and end at boxes and pass none."""
    seen = Picture(text)
    assert not [pair for pair in combinations(seen.boxes, 2) if overlap(*pair)]
    for rect in (*seen.boxes, *seen.frames, *seen.beside):
        assert within(rect, seen.paper)
    for frame in seen.frames:  # a box, another frame or a text is in a frame or outside
        assert all(within(rect, frame) or not overlap(rect, frame) for rect in (*seen.boxes, *seen.beside))
        assert all(within(a, frame) or within(frame, a) or not overlap(a, frame) for a in seen.frames)
    assert all(within(words, box) for box, words in seen.inside)
    assert not [pair for pair in combinations(seen.beside, 2) if overlap(*pair)]
    assert not [words for words in seen.beside if any(overlap(words, box) for box in seen.boxes)]
    sides = [*seen.boxes, *seen.frames]
    assert all(any(on_side(point, rect) for rect in sides) for point in (*seen.begins, *seen.tips))
    points = np.concatenate(seen.lines)
    assert not [rect for rect in (*seen.boxes, *seen.beside) if strictly_inside(points, rect).any()]
    for line in seen.lines:
        for frame in seen.frames:
            inner = strictly_inside(line, frame)
            outer = ~inner & ~np.array([on_side(point, frame) for point in line])
            assert not (inner.any() and outer.any())
    return seen


def inception():
    """A module with branches of several lengths, twice, on a residual stem."""

    def conv(x, filters, size):
        return Activation("relu")(BatchNormalization()(Conv2D(filters, size, padding="same")(x)))

    image = Input((16, 16, 3))
    x = conv(image, 8, 3)
    x = Add()([x, conv(conv(x, 8, 3), 8, 1)])
    for _ in range(2):
        pool = AveragePooling2D(3, strides=1, padding="same")(x)
        branches = [conv(x, 4, 1), conv(conv(x, 4, 1), 4, 5), conv(conv(conv(x, 4, 1), 4, 3), 4, 3), conv(pool, 4, 1)]
        x = Concatenate()([*branches, MaxPooling2D(3, strides=1, padding="same")(x)])
    return Model(image, [Dense(3)(Flatten()(x)), Dense(2)(Flatten()(image))])


def towers():
    """Two texts through the same layers."""
    words, mean, project = Embedding(50, 8), GlobalAveragePooling1D(), Dense(4)
    query, passage, age = Input((None,)), Input((None,)), Input((1,))
    near = Dot(1)([project(mean(words(query))), project(mean(words(passage)))])
    return Model([query, passage, age], [Dense(1)(Concatenate()([near, Dense(4)(age)])), near])


def nested():
    """Models in models, called several times, of several inputs and outputs."""
    pixels = Input((4, 4, 1))
    hidden = Flatten()(Conv2D(2, 3)(pixels))
    encoder = Model(pixels, [Dense(2)(hidden), Dense(2)(hidden)], name="encoder")
    decoder = Sequential([Dense(16, input_shape=(2,)), Reshape((4, 4, 1))], name="decoder")
    a, b = Input((2,)), Input((2,))
    pair = Model([a, b], [decoder(Add()([a, b])), b, Dense(3)(a)], name="a pair of things with quite a long name")
    image, video = Input((4, 4, 1)), Input((3, 4, 4, 1))
    mean, spread = encoder(image)
    drawn, same, other = pair([spread, mean])
    each = TimeDistributed(Sequential([Flatten(input_shape=(4, 4, 1)), Dense(4)]))
    return Model([image, video], [drawn, decoder(mean), LSTM(8)(each(video)), Add()([same, same]), other])


def states():
    """A layer of several outputs, a layer that follows itself, a tensor taken twice, an input that is an output."""
    source, target = Input((None, 3)), Input((None, 3))
    encoded, *memory = LSTM(5, return_sequences=True, return_state=True)(source)
    decoder = LSTM(5, return_sequences=True)
    decoded = decoder(decoder(Dense(5)(decoder(encoded)), initial_state=memory))
    return Model([source, target], [Add()([decoded, decoded]), memory[0], target])


def long():
    """Names longer than a box."""
    x = Input((3,), name="input_" + "mW" * 40)
    return Model(x, Dense(2, name="x" * 300)(Activation("relu", name="日本語の名前" * 9)(x)))


def crowded():
    """Connections to many earlier layers."""
    xs = [Input((4,))]
    for k in range(12):
        xs.append(Add()([*xs[-1 - k % 4 :: -2], xs[-1], *xs[:2]]))
    return Model(xs[0], [xs[-1], xs[5], xs[7]])


@pytest.mark.parametrize("rankdir", RANKDIRS)
@pytest.mark.parametrize("made", [inception, towers, nested, states, crowded], ids=lambda made: made.__name__)
def test_nothing_overlaps_and_lines_pass_no_box(made, rankdir):
    model = made()
    check(model_to_svg(model, rankdir=rankdir))
    check(model_to_svg(model, rankdir=rankdir, **EVERYTHING))


def test_resnet50_and_inception_v3():
    for made in (applications.ResNet50, applications.InceptionV3):
        seen = check(model_to_svg(made(weights=None), show_shapes=True))
        assert len(seen.boxes) == {"ResNet50": 178, "InceptionV3": 314}[made.__name__]


def test_a_large_graph_of_many_branches_is_narrow_enough_to_read():
    seen = check(model_to_svg(applications.NASNetMobile(weights=None)))
    rows = {}
    for left, top, right, _ in seen.boxes:
        rows.setdefault(top, []).append(right - left)
    assert seen.paper[2] < 3 * max(map(sum, rows.values()))  # that many times the row with the widest boxes


def test_golden_models():
    files = [*GOLDEN.glob("keras-2.2.4-tensorflow/*/model.h5"), *GOLDEN.glob("keras-3.15/*/model.keras")]
    assert len(files) > 100
    for file in sorted(files):
        torchkeras.clear_session()
        check(model_to_svg(load_model(file, compile=False), **EVERYTHING))


def test_each_call_and_each_output_has_a_box_and_each_tensor_a_line():
    model = inception()
    seen = Picture(model_to_svg(model))
    assert len(seen.boxes) == len(model._graphed.nodes) + 2
    assert len(seen.lines) == len(model._graphed.nodes)


def test_a_picture_is_the_same_every_time():
    def drawn():
        torchkeras.clear_session()
        return model_to_svg(nested(), **EVERYTHING)

    assert drawn() == drawn()


def test_long_names_are_shortened_in_boxes_and_whole_in_titles():
    text = model_to_svg(long())
    assert f"<title>{'x' * 300} (Dense)" in text
    assert f">{'x' * 21}…{'x' * 21}</text>" in text
    assert max(right - left for left, _, right, _ in check(text).boxes) < 600


def test_a_chain_is_straight():
    model = Sequential([Dense(3, input_shape=(2,)), *(Dense(3, name="n" * k) for k in (1, 30, 7, 12))])
    for rankdir, axis in (("TB", 0), ("LR", 1)):
        lines = Picture(model_to_svg(model, show_shapes=True, rankdir=rankdir)).lines
        assert np.ptp(np.concatenate(lines)[:, axis]) <= NEAR


def test_residual_blocks_have_a_straight_spine():
    x = image = Input((8, 8, 4))
    for _ in range(6):
        x = Add()([x, Conv2D(4, 3, padding="same")(Activation("relu")(x))])
    seen = Picture(model_to_svg(Model(image, x)))
    assert np.ptp([(left + right) / 2 for left, _, right, _ in seen.boxes]) <= NEAR


def test_an_output_of_each_layer_leaves_the_spine_straight():
    x, found = Input((4,)), []
    inputs = x
    for _ in range(20):
        x = Activation("relu")(x)
        found.append(x)
    seen = check(model_to_svg(Model(inputs, found)))
    assert max(right for _, _, right, _ in seen.boxes) < 400


def test_too_many_long_lines_are_cut_and_their_ends_named():
    x = inputs = Input((4,))
    found = []
    for _ in range(60):
        x = Activation("relu")(x)
        found.append(x)
    picture = model_to_svg(Model(inputs, Add(name="sum")(found)), show_shapes=True)
    seen = check(picture)
    assert picture.count(">to sum</text>") == 30
    assert picture.count(">from 30 layers</text>") == 1
    assert "<title>from activation_1 (None, 4), activation_2 (None, 4), " in picture
    assert len(seen.boxes) == 63 + 30 + 1


def test_two_hundred_layers_are_drawn_in_a_second_and_five_thousand_in_seconds():
    def chain(blocks):
        x = inputs = Input((4,))
        for _ in range(blocks):
            y = Activation("relu")(x)
            x = Add()([x, Activation("relu")(y), y])
        return Model(inputs, x)

    for model, most in ((chain(66), 1), (chain(1666), 30)):
        begun = time.process_time()
        model_to_svg(model, show_shapes=True)
        assert time.process_time() - begun < most


def test_models_in_models_far_deeper_than_frames_on_a_stack():
    model = Sequential([Dense(4, input_shape=(4,))])
    for _ in range(150):
        x = Input((4,))
        model = Model(x, model(x))
    assert len(Picture(model_to_svg(model, expand_nested=True)).frames) == 150

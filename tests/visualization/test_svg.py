"""`model_to_svg`: what a picture says, its colours, its options and its errors."""

import re
from base64 import b64decode
from xml.etree import ElementTree

import pytest

import torchkeras
from torchkeras import layers
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import LSTM, Add, Bidirectional, Conv2D, Dense, Embedding, Input, TimeDistributed
from torchkeras.models import Model, Sequential
from torchkeras.utils import model_to_svg, plot_model
from torchkeras.visualization.colours import COLOURS, kind_of

HOSTILE = "</text><script>alert('&')</script>\x07\n\"]]>\ufffe"


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


def small():
    return Sequential([Dense(4, input_shape=(3,), activation="relu", name="first"), Dense(2, name="last")], name="net")


def texts(picture):
    """Each text, its parts joined by a space, in order."""
    return [
        " ".join(text.itertext()) for text in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    ]


def titles(picture):
    return [title.text for title in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}title")]


def test_a_box_says_class_and_name():
    assert texts(model_to_svg(small())) == [
        *("InputLayer", "first_input", "Dense", "first", "Dense", "last", "output"),
    ]
    assert texts(model_to_svg(small(), show_layer_names=False)) == ["InputLayer", "Dense", "Dense", "output"]


def test_what_is_shown_of_layers_stands_in_boxes_and_of_tensors_beside_lines():
    model = small()
    model.layers[-1].trainable = False
    options = {"show_shapes": True, "show_dtype": True, "show_layer_activations": True, "show_trainable": True}
    assert texts(model_to_svg(model, show_layer_names=False, **options)) == [
        *(
            "InputLayer",
            "Dense",
            "activation relu",
            "trainable",
            "Dense",
            "activation linear",
            "not trainable",
            "output",
        ),
        *("(None, 3) float32", "(None, 4) float32", "(None, 2) float32"),
    ]
    assert texts(model_to_svg(model, show_shapes=True))[-3:] == ["(None, 3)", "(None, 4)", "(None, 2)"]
    assert texts(model_to_svg(model, show_dtype=True))[-3:] == ["float32"] * 3


def test_titles_say_shapes_and_what_a_layer_takes_in_order():
    a, b = Input((3,), name="a"), Input((3,), name="b")
    dense = Dense(3, name="d")
    model = Model([a, b], Add(name="sum")([dense(b), dense(a)]), name="net")
    assert titles(model_to_svg(model)) == [
        "net",
        *("b (None, 3)", "a (None, 3)", "d[0] (None, 3)", "d[1] (None, 3)", "sum (None, 3)"),
        "b (InputLayer)\n(None, 3)",
        "a (InputLayer)\n(None, 3)",
        "d (Dense)\n(None, 3) → (None, 3)",
        "d (Dense)\n(None, 3) → (None, 3)",
        "sum (Add)\n[(None, 3), (None, 3)] → (None, 3)\ntakes d[0], d[1]",
        "output: sum",
    ]


def test_calls_of_one_layer_are_dashed_and_numbered():
    x, dense = Input((3,)), Dense(3, name="again")
    picture = model_to_svg(Model(x, dense(dense(x))))
    assert texts(picture)[2:8] == ["Dense", "again", "call 1 of 2", "Dense", "again", "call 2 of 2"]
    assert picture.count("stroke-dasharray") == 2


def test_outputs_are_numbered_in_the_order_of_the_model():
    x = Input((3,), name="x")
    a, b = Dense(2, name="a")(x), Dense(2, name="b")(x)
    assert titles(model_to_svg(Model(x, [b, a, b])))[-3:] == ["output 1: b", "output 2: a", "output 3: b"]


def test_a_model_inside_is_drawn_once():
    inner = Sequential([Dense(3, input_shape=(3,), name="in")], name="inner")
    x, y = Input((3,), name="x"), Input((5, 3), name="y")
    model = Model([x, y], [inner(inner(x)), TimeDistributed(inner, name="each")(y)])
    closed, opened = texts(model_to_svg(model)), texts(model_to_svg(model, expand_nested=True))
    assert "in" not in closed
    assert opened.count("in") == 1
    assert opened[0] == "Sequential inner, call 1 of 2"
    assert opened[5:9] == ["Sequential", "inner", "call 2 of 2", "inside: see call 1"]
    assert opened[9:12] == ["TimeDistributed(Sequential)", "each", "inside: see inner"]


def test_names_are_escaped():
    x = Input((4,), name=HOSTILE)
    inner = Sequential([Dense(4, input_shape=(4,), name=HOSTILE)], name=HOSTILE + "inside")
    model = Model(x, inner(x), name=HOSTILE)
    for options in ({}, {"expand_nested": True, "show_shapes": True}):
        picture = model_to_svg(model, **options)
        picture.encode()
        assert {element.tag.partition("}")[2] for element in ElementTree.fromstring(picture).iter()} <= {
            *("svg", "title", "style", "rect", "g", "path", "text", "tspan")
        }
        plain = r"</text><script>alert('&')</script>\x07\n" + '"]]>' + r"\ufffe"
        assert titles(picture)[0] == plain
    assert "script" not in model._repr_html_().replace("&lt;script&gt;", "").replace("&lt;/script&gt;", "")


def test_each_kind_of_layer_has_a_colour_for_light_and_dark():
    model = Sequential([Conv2D(2, 3, input_shape=(8, 8, 3), name="c")])
    picture, colours = model_to_svg(model), COLOURS["convolution"]
    assert f'fill="{colours.fill}" stroke="{colours.frame}"' in picture
    style = re.findall(r"<style>(.*)</style>", picture)[0]
    light, dark = style.split("@media (prefers-color-scheme:dark)")
    assert f".tk-convolution rect{{fill:{colours.dark_fill};stroke:{colours.dark_frame}}}" in dark
    assert "#" not in light  # a viewer that knows no styles has the light colours, on a paper of their own
    assert '<rect class="tk-paper" width="' in picture


def test_text_can_be_read_on_every_colour():
    def brightness(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for colours in COLOURS.values():
        assert (brightness(colours.fill) + 0.05) / (brightness("#475569") + 0.05) > 4.5
        assert (brightness("#cbd5e1") + 0.05) / (brightness(colours.dark_fill) + 0.05) > 4.5


def test_kinds_of_layers():
    classes = [found for found in vars(layers).values() if isinstance(found, type) and issubclass(found, Layer)]
    assert {found.__name__ for found in classes if kind_of(object.__new__(found)) == "other"} == OTHER
    assert kind_of(Dense(2)) == "weights"
    assert kind_of(Bidirectional(LSTM(2))) == "recurrent"
    assert kind_of(TimeDistributed(Embedding(2, 2))) == "weights"
    assert kind_of(small()) == "model"
    assert kind_of(type("Own", (Dense,), {})(2)) == "weights"
    assert kind_of(type("Other", (Layer,), {})()) == "other"


OTHER = {
    *("HashedCrossing", "Hashing", "Identity", "IntegerLookup", "Layer", "Masking", "MelSpectrogram", "Pipeline"),
    *("Recurrent", "STFTSpectrogram", "StringLookup", "TextVectorization"),
    *("Bidirectional", "SpectralNormalization", "TimeDistributed", "Wrapper"),  # they have the kind of what they apply
}


def test_dpi_is_the_size_and_not_what_is_in_the_picture():
    once, twice = model_to_svg(small()), model_to_svg(small(), dpi=192)
    (width, height), (wide, high) = (re.findall(r'<svg.*? width="(\S+)" height="(\S+)"', p)[0] for p in (once, twice))
    assert (float(wide), float(high)) == pytest.approx((2 * float(width), 2 * float(height)), abs=0.2)
    assert once.replace(f'width="{width}" height="{height}"', "", 1) == twice.replace(
        f'width="{wide}" height="{high}"', "", 1
    )


def test_directions():
    def places(rankdir):
        rects = re.findall(r'<rect x="(\S+)" y="(\S+)"', model_to_svg(small(), rankdir=rankdir))
        return [[float(place) for place in axis] for axis in zip(*rects, strict=True)]

    for rankdir, axis, reverse in (("TB", 1, False), ("BT", 1, True), ("LR", 0, False), ("RL", 0, True)):
        assert places(rankdir)[axis] == sorted(places(rankdir)[axis], reverse=reverse)


def test_plot_model_writes_svg_without_a_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    options = {"show_shapes": True, "rankdir": "LR", "dpi": 120, "expand_nested": True, "show_trainable": True}
    picture = plot_model(small(), tmp_path / "net.SVG", **options)
    assert (tmp_path / "net.SVG").read_text("utf-8") == model_to_svg(small_again(), **options)
    assert picture._repr_svg_() == (tmp_path / "net.SVG").read_text("utf-8")
    assert picture._repr_png_() is None


def small_again():
    torchkeras.clear_session()
    return small()


def test_a_notebook_shows_the_text_as_a_picture():
    picture = model_to_svg(small())
    assert picture._repr_svg_() == picture
    assert type(picture._repr_svg_()) is str


def test_a_notebook_shows_the_graph_below_the_table():
    model = small()
    page = model._repr_html_()
    found = re.findall(r'alt="Graph of net" src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert b64decode(found[0]).decode() == model_to_svg(model, show_shapes=True)
    assert page.count("<details open>") == 2
    long = Sequential([Dense(1, input_shape=(1,)), *(Dense(1) for _ in range(40))])
    assert long._repr_html_().count("<details>") == 2  # folded
    longer = Sequential([Dense(1, input_shape=(1,)), *(Dense(1) for _ in range(200))])
    assert "Graph of" not in longer._repr_html_()
    assert "Graph of" not in Sequential([Dense(2)])._repr_html_()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rankdir": "XY"}, "model_to_svg: rankdir must be one of TB, BT, LR, RL; found 'XY'."),
        ({"dpi": 0}, "model_to_svg: dpi must be a positive number; found 0."),
        ({"show_shapes": "yes"}, "model_to_svg: show_shapes must be True, False, 1 or 0; found 'yes'."),
    ],
)
def test_bad_options(options, expected):
    with pytest.raises(ValueError, match="model_to_svg") as error:
        model_to_svg(small(), **options)
    assert str(error.value) == expected


def test_only_models_that_have_a_graph():
    with pytest.raises(TypeError) as error:
        model_to_svg("model.h5")
    assert str(error.value) == "model_to_svg: model must be a model of torchkeras; found str."
    with pytest.raises(RuntimeError, match="'open' has no graph yet"):
        model_to_svg(Sequential([Dense(2)], name="open"))

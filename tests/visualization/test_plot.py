"""`plot_model` and `model_to_dot`: the DOT text, and what is asked of Graphviz's program."""

import os
import re
import stat
import sys

import pytest

import torchkeras
from torchkeras.layers import LSTM, Add, Concatenate, Conv2D, Dense, Flatten, Input, TimeDistributed
from torchkeras.models import Model, Sequential
from torchkeras.utils import model_to_dot, model_to_svg, plot_model, text_graph


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


@pytest.fixture
def no_programs(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A stand-in for `dot`, which gives back how it was called and what it read; it fails when asked for a GIF."""
    folder = tmp_path / "programs"
    folder.mkdir()
    file = folder / "dot"
    file.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "if '-Tgif' in sys.argv: sys.exit('Format: \"gif\" not recognized.')\n"
        "sys.stdout.buffer.write(' '.join(sys.argv[1:]).encode() + b'\\n' + sys.stdin.buffer.read())\n"
    )
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return file


def branching():
    image, extra = Input((8, 8, 3)), Input((5,))
    conv = Conv2D(3, 3, padding="same", name="conv")
    left, right = conv(image), conv(conv(image))
    flat = Flatten()(Add()([left, right]))
    return Model([image, extra], [Dense(2)(Concatenate()([flat, extra])), flat])


def small():
    return Sequential([Dense(4, input_shape=(3,), activation="relu", name="first"), Dense(2, name="last")])


def test_the_text_of_a_graph():
    assert model_to_dot(branching()) == (
        "digraph model {\n"
        "    graph [rankdir=TB, dpi=96]\n"
        '    node [shape=box, fontname="Helvetica"]\n'
        '    edge [fontname="Helvetica", fontsize=10]\n'
        '    layer_0 [label="input_1 (InputLayer)"]\n'
        '    layer_1 [label="conv (Conv2D)"]\n'
        '    layer_2 [label="add_1 (Add)"]\n'
        '    layer_3 [label="flatten_1 (Flatten)", peripheries=2]\n'
        '    layer_4 [label="input_2 (InputLayer)"]\n'
        '    layer_5 [label="concatenate_1 (Concatenate)"]\n'
        '    layer_6 [label="dense_1 (Dense)", peripheries=2]\n'
        '    layer_0 -> layer_1 [headlabel="[0]"]\n'
        '    layer_0 -> layer_1 [headlabel="[1]"]\n'
        '    layer_1 -> layer_1 [taillabel="[1]", headlabel="[2]"]\n'
        '    layer_1 -> layer_2 [taillabel="[0]"]\n'
        '    layer_1 -> layer_2 [taillabel="[2]"]\n'
        "    layer_2 -> layer_3\n"
        "    layer_3 -> layer_5\n"
        "    layer_4 -> layer_5\n"
        "    layer_5 -> layer_6\n"
        "}\n"
    )


def test_models_inside_are_clusters_and_arrows_go_into_them():
    tail = Sequential([Dense(3, input_shape=(4,)), Dense(4)], name="tail")
    a, b = Input((4,), name="a"), Input((4,), name="b")
    inner = Model([a, b], [tail(Add()([a, b])), b], name="inner")
    x, y = Input((4,), name="x"), Input((7, 4), name="y")
    first, second = inner([x, Dense(4)(x)])
    model = Model([x, y], [Add()([first, second]), TimeDistributed(tail)(y), first])
    lines = [line.strip() for line in model_to_dot(model, expand_nested=True).splitlines()]
    names = {
        re.sub(r" \(.*", "", line.partition('label="')[2]): line.partition(" ")[0]
        for line in lines
        if '[label="' in line
    }
    clusters = [line for line in lines if line.startswith("subgraph")]
    assert len(clusters) == 3  # inner, the tail in it, and the tail that TimeDistributed applies
    boxes = {line.partition(" ")[0]: line for line in lines if "[label=" in line}
    arrows = {tuple(line.split(" -> ")) for line in lines if "->" in line}
    assert (names["x"], names["a"]) in arrows
    assert (names["dense_3"], names["b"]) in arrows
    assert (names["b"], names["add_2"]) in arrows
    assert all(end in boxes for arrow in arrows for end in arrow)
    # The outputs are the Add, and the last Dense of the tail in both places.
    assert sorted(re.findall(r'"(\w+)', line)[0] for line in lines if "peripheries" in line) == [
        "add_2",
        "dense_2",
        "dense_2",
    ]
    assert "subgraph" not in model_to_dot(model)


def test_what_is_shown():
    x = Input((None, 4), name="x")
    states = LSTM(3, return_sequences=True, return_state=True, name="lstm")(x)
    model = Model(x, Dense(2, activation="relu", name="frozen", trainable=False)(states[2]))
    text = model_to_dot(
        model,
        show_shapes=True,
        show_layer_names=False,
        rankdir="LR",
        dpi=300,
        show_dtype=True,
        show_layer_activations=True,
        show_trainable=True,
    )
    assert [line.strip() for line in text.splitlines() if "label=" in line or "rankdir" in line] == [
        "graph [rankdir=LR, dpi=300]",
        r'layer_0 [label="InputLayer\n(None, None, 4)\nfloat32"]',
        (
            r'layer_1 [label="LSTM\n(None, None, 4) → [(None, None, 3), (None, 3), (None, 3)]\nfloat32, float32, '
            r'float32\nactivation tanh\ntrainable"]'
        ),
        r'layer_2 [label="Dense\n(None, 3) → (None, 2)\nfloat32\nactivation relu\nnot trainable", peripheries=2]',
    ]


def test_calls_that_differ_in_shape_say_so():
    conv = Conv2D(3, 3, name="conv")
    first = conv(Input((8, 8, 3)))
    assert r'[label="conv (Conv2D)\nmultiple → multiple", peripheries=2]' in model_to_dot(
        Model(first._keras_history.layer.get_input_at(0), conv(first)), show_shapes=True
    )


def test_labels_are_escaped():
    x = Input((4,), name='a"b\\N&lt;{|}\nc\x00')
    assert r'[label="a\"b\\N&amp;lt;{|}\\nc\\x00 (InputLayer)"' in model_to_dot(Model(x, Dense(2)(x)))


def test_dot_is_called_with_the_kind_of_picture(program, tmp_path):
    model = small()
    for name, kind in (("m.ps", "ps"), ("m.PNG", "png"), ("m.pdf", "pdf"), ("m", "png"), ("m.jpg", "jpg")):
        options = {"show_shapes": True, "rankdir": "LR", "dpi": 200}
        picture = plot_model(model, tmp_path / name, **options)
        assert picture.path == tmp_path / name
        assert (tmp_path / name).read_text() == f"-T{kind}\n{model_to_dot(model, **options)}"
    assert model_to_dot(model).create(prog="dot", format="svg") == f"-Tsvg\n{model_to_dot(model)}".encode()


def test_the_default_is_a_png_in_the_working_folder(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture = plot_model(small())
    assert (tmp_path / "model.png").read_text() == f"-Tpng\n{model_to_dot(small_again())}"
    assert picture._repr_png_() == (tmp_path / "model.png").read_bytes()
    assert picture._repr_svg_() is None


def test_the_default_needs_no_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    model = small()
    assert plot_model(model)._repr_svg_() == (tmp_path / "model.svg").read_text() == model_to_svg(model)


def small_again():
    torchkeras.clear_session()
    return small()


def test_a_notebook_shows_an_svg_as_what_it_is(program, tmp_path):
    picture = plot_model(small(), str(tmp_path / "m.svg"))
    assert picture._repr_svg_() == (tmp_path / "m.svg").read_text()
    assert picture._repr_png_() is None


def test_text_needs_no_program(no_programs, tmp_path):
    model = small()
    plot_model(model, tmp_path / "m.txt", show_shapes=True, show_trainable=True)
    assert (tmp_path / "m.txt").read_text("utf-8") == text_graph(model, show_trainable=True)
    for name in ("m.dot", "m.gv"):
        plot_model(model, tmp_path / name, rankdir="BT", expand_nested=True)
        assert (tmp_path / name).read_text("utf-8") == model_to_dot(model, rankdir="BT", expand_nested=True)


def test_without_dot_the_error_says_what_to_do(no_programs, tmp_path):
    with pytest.raises(ImportError) as error:
        plot_model(small(), tmp_path / "m.png")
    assert str(error.value) == (
        "A picture of a model (png) is drawn by the program `dot` of Graphviz, which is not on the PATH. Install "
        "Graphviz (`apt install graphviz`, `brew install graphviz`, `conda install graphviz`, or "
        "https://graphviz.org/download). Without it: plot_model(model, to_file='model.svg'), a picture for browsers; "
        "print(text_graph(model)); or to_file='model.dot' for another program to draw."
    )
    assert list(tmp_path.iterdir()) == []


def test_when_dot_fails_its_words_are_told_and_the_old_file_stays(program, tmp_path):
    file = tmp_path / "m.gif"
    file.write_text("old")
    with pytest.raises(RuntimeError) as error:
        plot_model(small(), file)
    assert str(error.value) == f'{program} -Tgif failed with status 1: Format: "gif" not recognized.'
    assert file.read_text() == "old"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"to_file": "model.doc"},
            (
                "plot_model: to_file must end in one of .dot, .eps, .gif, .gv, .jpeg, .jpg, .pdf, .png, .ps, .svg, "
                ".txt; found 'model.doc'."
            ),
        ),
        ({"rankdir": "XY"}, "plot_model: rankdir must be one of TB, BT, LR, RL; found 'XY'."),
        ({"dpi": 0}, "plot_model: dpi must be a positive number; found 0."),
        ({"dpi": True}, "plot_model: dpi must be a positive number; found True."),
        (
            {"to_file": "model.txt", "rankdir": "LR"},
            (
                "plot_model: rankdir and dpi are of pictures; a .txt file goes from top to bottom (rankdir 'TB', dpi "
                "96); found rankdir 'LR', dpi 96."
            ),
        ),
    ],
)
def test_bad_options(options, expected):
    with pytest.raises(ValueError, match="plot_model") as error:
        plot_model(small(), **options)
    assert str(error.value) == expected


def test_only_models_that_have_a_graph():
    with pytest.raises(TypeError) as error:
        plot_model("model.h5", "m.dot")
    assert str(error.value) == "plot_model: model must be a model of torchkeras; found str."
    with pytest.raises(RuntimeError, match="'open' has no graph yet"):
        model_to_dot(Sequential([Dense(2)], name="open"))

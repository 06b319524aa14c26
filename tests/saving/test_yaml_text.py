"""YAML of architectures: what genuine Keras wrote, and what is refused. Nothing in a text is ever called."""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchkeras.errors import FileLimitError, ForbiddenContentError, UnreadableFileError
from torchkeras.layers import Conv2D, Dense, Flatten
from torchkeras.models import Sequential, model_from_config
from torchkeras.saving.containers.yaml_text import dump, parse
from torchkeras.saving.graph_config import layer_config

GOLDEN = Path(__file__).parents[1] / "golden" / "yaml"
CASES = sorted(GOLDEN.glob("*.yaml"))


def test_all_cases_are_there():
    assert [path.stem for path in CASES] == [
        "keras-1.2.2-model",
        "keras-1.2.2-sequential",
        "keras-2.2.4-model",
        "keras-2.2.4-sequential",
    ]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_genuine_text_says_what_the_json_of_the_same_model_says(path: Path):
    assert parse(path.read_text()) == json.loads(path.with_suffix(".json").read_text())


@pytest.mark.parametrize("path", CASES[2:], ids=lambda path: path.stem)
def test_a_genuine_text_of_keras_2_makes_the_model(path: Path):
    config = parse(path.read_bytes())
    names = [entry["config"]["name"] for entry in config["config"]["layers"]]
    assert [layer.name for layer in model_from_config(config).layers] == names


def test_a_model_goes_to_yaml_and_back():
    config = layer_config(Sequential([Conv2D(2, 3, input_shape=(8, 8, 3)), Flatten(), Dense(2, activation="softmax")]))
    text = dump(config)
    assert json.loads(json.dumps(config)) == parse(text)
    assert "!" not in text
    assert "&" not in text


def test_plain_data_comes_back():
    shape = (1, 2)
    data = {
        "a": shape,
        "b": [shape, None, True, -3, 1e-05, float("inf"), "2", "no", "é"],
        "c": {},
        "d": np.float64(0.5),
    }
    expected = {**data, "a": [1, 2], "b": [[1, 2], *data["b"][1:]], "d": 0.5}
    assert parse(dump(data)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!python/tuple [1, [2]]", [1, [2]]),
        ("!!python/unicode 'é'", "é"),
        ("!!python/str '3'", "3"),
        (
            "[!!python/long 3, !!python/int 4, !!python/float 1.5, !!python/bool true, !!python/none null]",
            [3, 4, 1.5, True, None],
        ),
        ("{a: &x [1], b: *x, c: *x}", {"a": [1], "b": [1], "c": [1]}),
        ("", None),
    ],
)
def test_harmless_tags_and_aliases_are_plain_data(text: str, value: Any):
    assert parse(text) == value


TENSORFLOW = "tensorflow.python."
APPLY = f"!!python/object/apply:{TENSORFLOW}"
NEW = f"!!python/object/new:{TENSORFLOW}"


SHAPE = (
    f"{APPLY}framework.tensor_shape.TensorShape\n- - {APPLY}framework.tensor_shape.Dimension\n    - null\n"
    f"  - {APPLY}framework.tensor_shape.Dimension\n    - 5\n"
)
OLDER_LIST = (
    f"{NEW}training.tracking.data_structures._ListWrapper\n  listitems:\n  - 3\n"
    "  state:\n    _external_modification: false\n    _last_wrapped_list_snapshot:\n    - 3\n"
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (SHAPE, [None, 5]),
        (f"{APPLY}training.tracking.data_structures.ListWrapper\n- - 3\n", [3]),
        (OLDER_LIST, [3]),
    ],
    ids=["shape of 2.2", "list of 2.0", "list of 1.14"],
)
def test_lists_and_shapes_of_tensorflow_are_lists(text: str, value: Any):
    assert parse(text) == value


@pytest.mark.parametrize(
    ("tag", "inside"),
    [
        (f"{APPLY}framework.tensor_shape.Dimension", "[3, 4]"),
        (f"{APPLY}framework.tensor_shape.TensorShape", "{a: 1}"),
        (f"{NEW}training.tracking.data_structures._ListWrapper", "{state: {}}"),
        (f"{NEW}training.tracking.data_structures._ListWrapper", "[3]"),
    ],
)
def test_an_object_of_tensorflow_that_does_not_hold_one_value_is_refused(tag: str, inside: str):
    full = tag.replace("!!", "tag:yaml.org,2002:")
    with refuses(ForbiddenContentError, f"m.yaml holds the tag {full!r} around what is not one value."):
        parse(f"{tag} {inside}", "m.yaml")


NUMBER = (
    "!!python/object/apply:numpy.core.multiarray.scalar\n- !!python/object/apply:{function}\n  args: [{code}, 0, 1]\n"
    "  state: !!python/tuple [3, <, null, null, null, -1, -1, 0]\n- !!binary |\n  {data}\n"
)


@pytest.mark.parametrize(
    ("code", "data", "value"), [("i8", "SAAAAAAAAAA=", 72), ("i4", "/////w==", -1), ("f4", "AAAAPw==", 0.5)]
)
def test_numpy_numbers_of_keras_1_are_numbers(code: str, data: str, value: float):
    assert parse(NUMBER.format(function="numpy.dtype", code=code, data=data)) == value


def refuses(kind: type[Exception], text: str) -> Any:
    return pytest.raises(kind, match=f"^{re.escape(text)}$")


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system",
        "!!python/object/new:os.system",
        "!!python/object:os.system",
        "!!python/name:os.system",
        "!!python/module:os",
        "!!python/object/apply:numpy.core.multiarray._reconstruct",
        "!!set",
        "!!timestamp",
        "!!binary",
        "!custom",
    ],
)
def test_other_tags_are_refused(tag: str):
    full = tag.replace("!!", "tag:yaml.org,2002:")
    with refuses(ForbiddenContentError, f"m.yaml holds the tag {full!r}, which is not read."):
        parse(f"a: [{tag} {{x: 1}}]", "m.yaml")


def test_of_a_key_that_stands_twice_the_last_value_counts_as_in_pyyaml():
    text = "m.yaml has the key 'units' twice in one mapping; the last value counts."
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        assert parse("{units: 1, b: {c: 2}, units: 3}", "m.yaml") == {"units": 3, "b": {"c": 2}}


def test_a_merge_is_refused():
    with refuses(ForbiddenContentError, "m.yaml holds the tag 'tag:yaml.org,2002:merge', which is not read."):
        parse("a: &x {b: 1}\nc: {<<: *x}", "m.yaml")


@pytest.mark.parametrize(
    ("function", "code", "data"), [("os.system", "i8", "SAAAAAAAAAA="), ("numpy.dtype", "O8", "SA==")]
)
def test_a_numpy_number_that_is_none_is_refused(function: str, code: str, data: str):
    tag = "tag:yaml.org,2002:python/object/apply:numpy.core.multiarray.scalar"
    with refuses(ForbiddenContentError, f"m.yaml holds the tag {tag!r} around what is no number."):
        parse(NUMBER.format(function=function, code=code, data=data), "m.yaml")


def test_a_text_that_repeats_itself_is_refused_at_once():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{this}: &{this} [{', '.join([f'*{before}'] * 10)}]"
        for before, this in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    began = time.perf_counter()
    with refuses(FileLimitError, "m.yaml stands for more than 1000000 values."):
        parse("\n".join(lines), "m.yaml")
    assert time.perf_counter() - began < 2


def test_aliases_cannot_nest_deeper_than_brackets():
    links = [f"- &x{k} [*x{k - 1}]" for k in range(1, 1_100)]
    with refuses(FileLimitError, "m.yaml is nested deeper than 1024 levels."):
        parse("\n".join(["- &x0 [1]", *links]), "m.yaml")


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (ForbiddenContentError, "a: &x [*x]", "m.yaml holds a list or mapping that contains itself."),
        (FileLimitError, "[" * 1025, "m.yaml is nested deeper than 1024 levels."),
        (FileLimitError, " " * (8 * 2**20 + 1), "m.yaml has 8388609 bytes; at most 8388608 are read."),
        (FileLimitError, "a: " + "1" * 65, "m.yaml holds a number of 65 characters."),
        (UnreadableFileError, "{[a]: 1}", "m.yaml has a key that is no string: ['a']."),
        (UnreadableFileError, "!!int abc", "m.yaml holds 'abc', which is no int."),
        (UnreadableFileError, "!!bool abc", "m.yaml holds 'abc', which is no bool."),
        (UnreadableFileError, "!!python/tuple 3", "m.yaml has the tag 'tag:yaml.org,2002:python/tuple' at a scalar."),
    ],
)
def test_other_texts_are_refused(kind: type[Exception], text: str, message: str):
    with refuses(kind, message):
        parse(text, "m.yaml")


@pytest.mark.parametrize("text", ["a: [1", "a: 1\n---\nb: 2", "\x00", b"\xff\xfe\xff", "*a", "%YAML 9.9\n---\na"])
def test_what_is_no_yaml_is_refused(text: Any):
    with pytest.raises(UnreadableFileError, match=r"^m\.yaml is not (YAML|UTF-8) \(.+\)\.$"):
        parse(text, "m.yaml")


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with refuses(
        ImportError, "YAML: the package PyYAML is missing. Install it with `pip install torchkeras-graph[yaml]`."
    ):
        parse("a: 1")

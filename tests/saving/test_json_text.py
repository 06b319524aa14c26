"""JSON from files: what Keras writes is taken, and what no file needs is refused with its place."""

import json
import math

import pytest

from torchkeras.errors import FileLimitError, UnreadableFileError
from torchkeras.saving.containers.json_text import parse
from torchkeras.saving.containers.limits import Limits

NOT_UTF8 = "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"
WHERE = "m.h5: attribute 'model_config'"


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        '{"a": [1, -2.5e-7, true, "\\u00e9\\ud83d\\ude00 \\" \\\\"]}',
        b'{"b": "\xc3\xa9"}',
        "123456789012345678901",
    ],
)
def test_what_json_says(text):
    assert parse(text, WHERE) == json.loads(text)


def test_keras_writes_nan_and_infinity():
    nan, *infinite = parse("[NaN, Infinity, -Infinity]", WHERE)
    assert math.isnan(nan)
    assert infinite == [math.inf, -math.inf]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("[1] 2", UnreadableFileError, "is not JSON (Extra data: line 1 column 5 (char 4))."),
        (b"\xff", UnreadableFileError, f"is not UTF-8 ({NOT_UTF8})."),
        ('{"a": 1, "a": 1}', UnreadableFileError, "has the key 'a' twice in one object."),
        ("-1e400", UnreadableFileError, "holds -1e400, which is over the largest number."),
        ('["\\udc00"]', UnreadableFileError, "holds half a surrogate pair, which is no character."),
        ("9" * 65, FileLimitError, "holds a number of 65 digits; at most 64 are read."),
        ("0." + "9" * 64, FileLimitError, "holds a number of 66 digits; at most 64 are read."),
        ("[" * 1025 + "]" * 1025, FileLimitError, "is nested deeper than 1024 levels."),
    ],
)  # fmt: skip
def test_error(text, kind, message):
    with pytest.raises(kind) as error:
        parse(text, WHERE)
    assert str(error.value) == f"{WHERE} {message}"


def test_a_text_over_the_limit():
    with pytest.raises(FileLimitError) as error:
        parse("[1, 2]", WHERE, Limits(json=5))
    assert str(error.value) == f"{WHERE} has 6 bytes; at most 5 are read."


def test_brackets_in_texts_do_not_count():
    text = json.dumps(["[" * 500, "\\", '"[[', "{" * 500])
    assert parse(text, WHERE) == json.loads(text)


@pytest.mark.parametrize("text", ['"' + '\\"' * 500_000, "[" * 1024 + '"' * 1_000_001, '"\\' * 500_000])
def test_quotes_that_never_end_take_no_longer(text):
    with pytest.raises(UnreadableFileError, match="is not JSON"):
        parse(text, WHERE)

"""Bad input of every kind is right, or an error of this exact text; none is silent.

`refused.txt` has a line for each case: its name, and the error. `python -m tests.bad_input.test_refused` writes it
anew; what changes is for a person to read.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest

from tests.bad_input import arguments, data, functions, objects
from tests.bad_input.making import Case, outcome, same

TEXTS = Path(__file__).absolute().with_name("refused.txt")
CASES: dict[str, Case] = {**data.REFUSED, **functions.REFUSED, **objects.REFUSED, **arguments.REFUSED}
# What torch, Python or NumPy says of something else than what the user did.
CRYPTIC = re.compile(
    r"has no attribute|unsupported operand|not subscriptable|not iterable|not callable|object cannot be|not supported"
    r"|can't convert|could not infer|invalid data type|Internal error|aten::|assert|Expected"
)


def written() -> dict[str, str]:
    return dict(line.split(" => ", 1) for line in TEXTS.read_text().splitlines())


# How older packages word a part of an error: whether they are older here, what is written, and what they say.
OLDER = (
    (np.__version__ < "2", r"np\.float(?:32|64)\(([\d.]+)\)", r"\1"),
    (pd.__version__ < "3", r"datetime64\[us\]", "datetime64[ns]"),
    (sys.version_info < (3, 11), r"(nvalid format specifier) '.*' for object of type '\w+'", r"\1"),
)


def as_worded_here(text: str) -> str:
    for is_older, newest, older in OLDER:
        if is_older:
            text = re.sub(newest, older, text)
    return text


WANTED = written() if TEXTS.exists() else {}


def test_there_are_2000_cases_and_more():
    assert list(WANTED) == list(CASES)
    assert len(CASES) + len(data.SAME) > 2000


def test_no_case_is_named_by_a_count():
    # `'input_1'` would depend on what was collected before.
    assert [name for name in CASES if re.search(r"'[a-z_]+_\d+'", name)] == []


@pytest.mark.parametrize("name", CASES)
def test_the_error_is_this(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert outcome(CASES[name]) == as_worded_here(WANTED[name])


@pytest.mark.parametrize("name", data.SAME)
def test_what_is_taken_is_right(name):
    given, plain = (outcome(act) for act in data.SAME[name])
    assert same(given, plain)


def test_no_text_is_cryptic():
    assert [name for name, text in WANTED.items() if CRYPTIC.search(text)] == []
    assert {text.partition(":")[0] for text in WANTED.values()} <= {
        *("ValueError", "TypeError", "IndexError", "IdentifierError")
    }


def test_two_kinds_of_validation_are_told():
    made = functions.model()
    with pytest.warns(UserWarning, match=r"^fit: validation_data is given, so validation_split 0\.5 is left out\.$"):
        made.fit(data.X, data.Y, validation_split=0.5, validation_data=(data.X, data.Y), verbose=0)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        TEXTS.write_text("".join(f"{name} => {outcome(act)}\n" for name, act in CASES.items()))

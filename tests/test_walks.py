"""The walks of docs/architecture.md are true: each runs here, and passes its stations in the order of the page."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchkeras
from torchkeras.layers import Dense, Input
from torchkeras.models import Model, load_model

PACKAGE = Path(torchkeras.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text()
MOST = 10  # stations of a walk
WORDS = 1200  # of the page, which a newcomer reads in ten minutes


def stations(title: str) -> list[str]:
    """The stations of a walk, as `file function`."""
    (section,) = re.findall(rf"^### {re.escape(title)}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    return [f"{file} {name}" for file, name in re.findall(r"^\d+\. `([\w/.]+)` `([\w.]+)`:", section, re.MULTILINE)]


def passed(run: Callable[[], Any]) -> list[str]:
    """The functions of the package that a run enters, each where it is entered first, as `file function`."""
    found: dict[str, None] = {}

    def see(frame: Any, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            found.setdefault(f"{path.relative_to(PACKAGE).as_posix()} {name_of(frame)}")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(found)


def name_of(frame: Any) -> str:
    """`Class.method` or `function`; the class is the one that defines the method."""
    code = frame.f_code
    owner = frame.f_locals.get("self")
    kind = frame.f_locals.get("cls") if owner is None else type(owner)
    for base in getattr(kind, "__mro__", ()):
        method = vars(base).get(code.co_name)
        method = getattr(method, "fget", getattr(method, "__func__", method))
        while method is not None and getattr(method, "__code__", None) is not code:
            method = getattr(method, "__wrapped__", None)
        if method is not None:
            return f"{base.__name__}.{code.co_name}"
    return code.co_name


def compiled() -> Model:
    inputs = Input((4,))
    model = Model(inputs, Dense(10, activation="softmax")(inputs))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def a_layer(_: Path) -> Callable[[], Any]:
    inputs = Input((4,))
    return lambda: Dense(10)(inputs)


def a_model(_: Path) -> Callable[[], Any]:
    inputs = Input((4,))
    outputs = Dense(10)(inputs)
    return lambda: Model(inputs, outputs)


def a_compile(_: Path) -> Callable[[], Any]:
    inputs = Input((4,))
    model = Model(inputs, Dense(10, activation="softmax")(inputs))
    return lambda: model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])


def a_batch(_: Path) -> Callable[[], Any]:
    model, x, y = compiled(), np.ones((8, 4), "float32"), np.zeros(8, "int64")
    return lambda: model.fit(x, y, batch_size=8, verbose=0)


def a_file(folder: Path) -> Callable[[], Any]:
    path = folder / "model.h5"
    compiled().save(path)
    return lambda: load_model(path)


WALKS = {
    "`Dense(10)(x)`": a_layer,
    "`Model(inputs, outputs)`": a_model,
    "`model.compile(...)`": a_compile,
    "A batch of `fit`": a_batch,
    "`load_model(path)`": a_file,
}


def test_the_page_has_these_walks_and_no_other():
    (section,) = re.findall(r"^## Five walks\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    assert re.findall(r"^### (.*)$", section, re.MULTILINE) == list(WALKS)


def test_the_page_is_read_in_ten_minutes():
    assert len(PAGE.split()) <= WORDS


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_is_true(title: str, tmp_path: Path):
    wanted = stations(title)
    assert 0 < len(wanted) <= MOST
    found = passed(WALKS[title](tmp_path))
    assert [station for station in wanted if station not in found] == []
    assert sorted(wanted, key=found.index) == wanted

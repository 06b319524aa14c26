"""The table of docs/training.md, "Which loss": each row trains to its labels."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import layers, losses, optimizers
from torchkeras.models import Sequential
from torchkeras.utils import normalize

PAGE = (Path(__file__).parents[1] / "docs" / "training.md").read_text()
SECTION = re.findall(r"^## Which loss\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)[0]
NAMES = {"torch": torch, "normalize": normalize, **vars(losses), **vars(layers)}


def code_of(cell: str) -> str:
    return re.findall(r"`([^`]+)`", cell)[0]


def rows() -> list[Any]:
    """What is predicted, and the code of the last layer, of labels, of the loss and of the reading of a prediction."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", SECTION, re.M)]
    columns = ("last_layer", "labels", "loss", "reading")
    return [
        SimpleNamespace(what=what, **dict(zip(columns, map(code_of, codes), strict=True))) for what, *codes in cells[2:]
    ]


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row.last_layer}, {row.loss}") for row in rows()])
def test_a_row_learns_its_labels(row: Any):
    """Of a different input for each label, such that nothing is in the way of learning all of them."""
    last, labels, loss = (eval(text, dict(NAMES)) for text in (row.last_layer, row.labels, row.loss))
    labels = np.array(labels)
    channels = last.get_config().get("units", last.get_config().get("filters"))
    positions = labels.shape[:-1] if labels.ndim > 1 and labels.shape[-1] in (1, channels) else labels.shape
    x = np.eye(int(np.prod(positions)), dtype="float32").reshape(*positions, -1)
    model = Sequential([layers.Input(x.shape[1:]), last])
    model.compile(optimizers.Adam(0.1), loss)
    history = model.fit(x, labels, epochs=300, batch_size=len(x), verbose=0).history["loss"]
    assert history[-1] < history[0]
    found = eval(row.reading, {"p": model.predict(x), **NAMES})
    assert found.reshape(labels.shape) == pytest.approx(labels, abs=0.05)


def test_every_loss_has_a_place_in_the_section():
    """A function by its name, in the table or below."""
    own = {name for name, value in vars(losses).items() if getattr(value, "__name__", "") == name and name.islower()}
    assert own - set(re.findall(r"\w+", SECTION)) - {"get", "serialize", "deserialize"} == set()

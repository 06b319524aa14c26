"""Pages in docs/ that are made from the code are up to date. `scripts/docs` runs the code on the other pages there."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import callbacks
from torchkeras.callbacks import base
from torchkeras.export.plain.rules import RULES, normalization
from torchkeras.layers import Dense, core
from torchkeras.losses import classes, regression
from torchkeras.metrics import scores
from torchkeras.models import Sequential
from torchkeras.optimizers import momentum
from torchkeras.saving.formats import Format

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("script", ["document_layers.py", "document_callbacks.py", "keras3_names.py"])
def test_a_page_is_what_the_source_makes(script: str):
    command = [sys.executable, str(ROOT / "scripts" / script), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("script", ["suite_drawn.py", "table_drawn.py"])
def test_the_picture_of_the_benchmarks_is_of_their_table(script: str):
    command = [sys.executable, str(ROOT / "benchmarks" / script), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_every_callback_has_a_row_in_the_table_of_callbacks():
    page = (ROOT / "docs" / "callbacks.md").read_text()
    table = page.partition("\n## Which callback does what\n")[2].partition("\n## ")[0]
    rows = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|[^|]*", table, re.MULTILINE))))
    lacking = set(callbacks.__all__) - rows - {"Callback", "CallbackList", "Logs"}
    assert not lacking, "run scripts/document_callbacks.py, which adds a row for each of them to docs/callbacks.md"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/adding.md", "docs/architecture.md", "docs/decisions.md"])
def test_the_files_that_a_page_names_are_there(page: str):
    named = re.findall(r"`(\w+/[\w/.-]+\.(?:py|md|txt))`", (ROOT / page).read_text())
    assert named
    assert [name for name in named if not ((ROOT / name).exists() or (ROOT / "torchkeras" / name).exists())] == []


LAYERS = {
    entry.partition("\n")[0]: entry
    for page in (ROOT / "docs" / "layers").iterdir()
    for entry in page.read_text().split("\n## ")[1:]
}


def test_every_layer_on_its_page_has_shapes():
    assert len(LAYERS) > 100
    assert [name for name, entry in LAYERS.items() if "- Shapes: " not in entry] == []


def test_the_page_explains_the_options_of_a_layer_in_the_order_of_its_call():
    call = re.search(r"^Conv1D\(\n(.*?)^\)$", LAYERS["Conv1D"], re.MULTILINE | re.DOTALL)
    assert call
    named = re.findall(r"^    (\w+)", call[1], re.MULTILINE)
    assert re.findall(r"^\| `(\w+)` \|", LAYERS["Conv1D"], re.MULTILINE) == named
    assert "| `filters` | positive integer | the number of channels of the output. |  |\n" in LAYERS["Conv1D"]


def test_a_page_that_quotes_what_no_file_has_does_not_run(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('```python title="examples/plain_fit.py"\nmodel.fit(nothing)\n```\n')
    command = [sys.executable, str(ROOT / "scripts" / "site" / "blocks.py"), str(page)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr == "page.md: this is not a part of examples/plain_fit.py:\nmodel.fit(nothing)\n\n"


def test_a_page_shows_what_its_code_prints_and_draws(tmp_path):
    page = tmp_path / "page.md"
    drawn = "class Drawn:\n    def _repr_svg_(self):\n        return '<svg/>'\n"
    page.write_text(f"```python\nx = 2\n{drawn}print(x)\nDrawn()\n```\n```console\n$ echo $((1 + 2))\n```\n")
    command = [sys.executable, str(ROOT / "scripts" / "site" / "blocks.py"), str(page)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    shown = [{"text": "2\n", "pictures": ["<svg/>"]}, {"text": "$ echo $((1 + 2))\n3\n", "pictures": []}]
    assert json.loads(found.stdout) == shown


ADDING = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "adding.md").read_text(), re.DOTALL)


def example(name: str, *modules: Any) -> Any:
    """What an example of the page about adding things defines, with the names that its file would have."""
    (code,) = (code for code in ADDING if re.search(rf"^(class|def) {name}\b", code, re.MULTILINE))
    scope = {key: value for module in modules for key, value in vars(module).items()} | {"__name__": "page"}
    exec(code, scope)  # noqa: S102  # the page is ours
    return scope[name]


def test_the_example_of_a_layer():
    made_by = example("Gain", core)
    model = Sequential([made_by(gain_initializer="ones", gain_regularizer="l2", input_shape=(3,), name="gain")])
    layer = model.layers[0]
    layer.set_weights([np.array([1.0, 2.0, 3.0])])
    assert model.predict(np.ones((2, 3))).tolist() == [[1.0, 2.0, 3.0]] * 2
    again = made_by.from_config(layer.get_config())
    assert (again.name, again.gain_regularizer.get_config()) == ("gain", layer.gain_regularizer.get_config())
    assert (model.count_params(), model.losses[0].item()) == (3, pytest.approx(0.01 * 14))
    example("gain", normalization, SimpleNamespace(layers=SimpleNamespace(Gain=made_by)))
    assert RULES.pop(made_by).__name__ == "gain"


def test_the_examples_of_a_loss_and_a_metric():
    y_true, y_pred = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 2.0]])
    function = example("quantile", regression)
    assert function(y_true, y_pred, q=0.75).item() == pytest.approx((0.75 * 1 + 0.25 * 2) / 2)
    regression_with = SimpleNamespace(quantile=function)
    loss = example("Quantile", classes, SimpleNamespace(regression=regression_with))(q=0.75)
    assert loss(y_true, y_pred).item() == pytest.approx(0.625)
    metric = example("WorstError", scores)()
    metric.update_state(y_true, y_pred)
    metric.update_state(y_true, y_true)
    assert metric.result().item() == 2.0


def test_the_examples_of_an_optimizer_and_a_callback():
    optimizer, callback = example("SignSGD", momentum)(lr=0.5), example("LargestLoss", base)()
    model = Sequential([Dense(1, use_bias=False, kernel_initializer="zeros", input_shape=(2,))])
    model.compile(optimizer, "mse")
    model.fit(np.ones((4, 2)), np.full((4, 1), 4.0), batch_size=2, verbose=0, shuffle=False, callbacks=callback)
    assert model.get_weights()[0].tolist() == [[1.0], [1.0]]  # two steps of half the sign
    assert callback.state_dict() == {"largest": 16.0}


def test_the_example_of_a_format():
    (code,) = (code for code in ADDING if code.startswith("Format("))
    made = eval(code, {"Format": Format})  # the page is ours
    assert isinstance(made, Format)
    assert made.whole
    assert made.begins is not None
    assert [made.begins(first, None) for first in (b"NPT1 and more", b"other bytes")] == [True, False]

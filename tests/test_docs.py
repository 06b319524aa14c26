"""The pages in docs/ that are made from the code are what it gives; the code of the page about torch runs."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_layers_page_is_made_of_the_docstrings():
    command = [sys.executable, str(ROOT / "scripts" / "document_layers.py"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_every_layer_on_the_page_has_shapes():
    entries = (ROOT / "docs" / "layers.md").read_text().split("\n### ")[1:]
    assert [entry.partition("\n")[0] for entry in entries if "- Shapes: " not in entry] == []


def test_the_page_explains_the_options_of_a_layer_in_the_order_of_its_call():
    page = (ROOT / "docs" / "layers.md").read_text()
    entry = page.partition("\n### Conv1D\n")[2].partition("\n### ")[0]
    call = re.search(r"^`Conv1D\((.*)\)`$", entry, re.MULTILINE)
    assert call
    named = [option.partition("=")[0] for option in call[1].split(", ")]
    assert re.findall(r"^- `(\w+)` \(", entry, re.MULTILINE) == named
    assert "- `filters` (positive integer): the number of channels of the output.\n" in entry


def test_the_code_of_the_page_about_torch_runs():
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "torch.md").read_text(), re.DOTALL)
    exec(code, {"__name__": "page"})  # noqa: S102  # the page is ours

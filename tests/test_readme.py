"""The README's code runs as it stands."""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
STEPS = ("mlp", "cnn", "resnet20", "lstm", "masked_lstm", "transformer", "embeddings")
# The lines of the README's table, and the columns of the benchmark's.
CONTENDERS = {
    "**torchkeras**": "torchkeras",
    "Keras 3 on torch": "keras3",
    "Lightning": "lightning",
    "a loop by hand, as most people write it": "idiomatic",
}


def test_readme_code(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    training, loading = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(loading, {})  # noqa: S102  # the README is ours
    assert "flipped along the spatial axes" in capsys.readouterr().out
    scope: dict[str, object] = {}
    exec(training, scope)  # noqa: S102  # the README is ours
    assert capsys.readouterr().out.startswith("def forward(self, input_")
    model = scope["model"]
    history = model.fit(np.zeros((4, 28, 28, 1)), np.arange(4), epochs=2, verbose=0)  # type: ignore[attr-defined]
    assert list(history.history) == ["loss", "acc"]


def test_readme_names_the_commands_that_are_there():
    for name in re.findall(r"(?:scripts|benchmarks)/[a-z._]+[a-z]", (ROOT / "README.md").read_text()):
        assert (ROOT / name).is_file(), name


def test_the_figures_of_the_readme_are_those_of_the_benchmark():
    """The least and the largest ratio of a training step, from the table that `benchmarks/suite.py` wrote."""
    notes = (ROOT / "docs" / "speed_notes.md").read_text().partition("<!-- benchmarks/suite.py -->")[2]
    head, _, *lines = re.findall(r"^\|.*\|$", notes.partition("\nSeconds ")[0], re.MULTILINE)
    columns = [cell.strip() for cell in head.split("|")]
    steps = [line.split("|") for line in lines if line.split("|")[1].strip() in STEPS]
    assert len(steps) == len(STEPS)
    ratios = {name: [float(cells[columns.index(name)]) for cells in steps] for name in CONTENDERS.values()}
    readme = (ROOT / "README.md").read_text()
    for title, name in CONTENDERS.items():
        assert f"| {title} | {min(ratios[name]):.2f} to {max(ratios[name]):.2f} |" in readme

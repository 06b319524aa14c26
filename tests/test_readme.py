"""The README's code runs as it stands."""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent


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

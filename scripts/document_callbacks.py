"""Write the table in docs/callbacks.md from the callbacks' docstrings; with `--check`, fail if it is out of date."""

import argparse
import inspect
import sys
from pathlib import Path

from torchkeras import callbacks

PAGE = Path(__file__).parents[1] / "docs" / "callbacks.md"
HEAD = "| callback | what it does |\n|---|---|\n"
OTHERS = ("Callback", "CallbackList", "Logs")  # what callbacks are made of


def table() -> str:
    """A row for each callback: its name, and the first paragraph of its docstring."""
    return HEAD + "".join(row(name) for name in sorted(callbacks.__all__) if name not in OTHERS)


def row(name: str) -> str:
    """The row of one callback."""
    said = (inspect.getdoc(getattr(callbacks, name)) or "").partition("\n\n")[0]
    deed = " ".join(said.split()).rstrip(".").replace("|", r"\|")
    return f"| `{name}` | {deed} |\n"


def page(text: str) -> str:
    """The page with the table of today."""
    before, head, rest = text.partition(HEAD)
    if not head:
        sys.exit(f"{PAGE} has no table of callbacks, which begins with:\n{HEAD}")
    return f"{before}{table()}\n{rest.partition(chr(10) * 2)[2]}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing; fail if the table is out of date")
    text = PAGE.read_text()
    if not options.parse_args().check:
        PAGE.write_text(page(text))
    elif text != page(text):
        sys.exit(f"{PAGE} is not what the docstrings give: run scripts/document_callbacks.py.")


if __name__ == "__main__":
    main()

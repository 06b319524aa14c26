"""Docstrings of the package as griffe, which mkdocstrings asks, reads them: options become rows of a table."""

import re
from typing import Any

from griffe import Extension

from torchkeras import docstrings

SECTIONS = {"Options": "Args", "Arguments": "Args", "Errors": "Raises", "Example": "Examples"}
HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):$", re.MULTILINE)
KIND = re.compile(r"^(\w+(?:, \w+)*) \((.*?)(?:,? default .*?)?\):", re.DOTALL)


class Options(Extension):
    """The words of this package's docstrings in Google's: an entry for each option, without its default.

    The signature has the default, and the table shows it from there.
    """

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_google(obj.docstring.value)


def as_google(text: str) -> str:
    text = docstrings._SECTION.sub(lambda found: f"{found[1]}Args:\n{_rows(found[0])}\n", text)
    return HEADING.sub(lambda found: f"{SECTIONS[found[1]]}:", text)


def _rows(section: str) -> str:
    """Each option by itself, also those that the docstring explains together."""
    rows = []
    for name, entry in docstrings.entries(section).items():
        row = KIND.sub(lambda found, name=name: f"{name} ({found[2]}):", entry)
        rows.append("    " + " ".join(row.split()))
    return "\n".join(rows) + "\n"

"""The hash of the sources that a report is about, by which a test refuses a report that is older than these.

Comments, docstrings and blank lines do not count: what they say changes nothing that a report is about.
"""

from __future__ import annotations

import ast
import datetime
import hashlib
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def digest(names: Iterable[str]) -> str:
    """Of files and of the Python files in folders, by their names and contents."""
    found = hashlib.sha256()
    for name in names:
        place = ROOT / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            text = path.read_text(encoding="utf-8")
            content = code_of(text) if path.suffix == ".py" else text
            found.update(f"{path.relative_to(ROOT).as_posix()}\0{content}\0".encode())
    return found.hexdigest()[:16]


def code_of(text: str) -> str:
    """A Python file without its comments, docstrings and blank lines."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            docstring = node.body[0]
            assert docstring.end_lineno is not None
            lines[docstring.lineno - 1 : docstring.end_lineno] = [""] * (docstring.end_lineno - docstring.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def made_for(names: Iterable[str]) -> str:
    """What a report says of itself: when it was made, and for which sources."""
    return f"Made on {datetime.date.today()}, for sources {digest(names)}."

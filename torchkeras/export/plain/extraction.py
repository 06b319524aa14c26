"""The sources of the helpers that a written module needs, each once, after those that it uses."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable
from types import ModuleType
from typing import Any

IMPORTS = {  # the lines of a written module, in ruff's order
    "math": "import math",
    "re": "import re",
    "torch": "import torch",
    "F": "import torch.nn.functional as F",
    "Tensor": "from torch import Tensor",
    "nn": "from torch import nn",
}
STANDARD = ("math", "re")  # of the standard library

_SECTIONS = re.compile(r'\n\n +(?:Arguments|Options|Shapes|Errors|Example|Source):.*?\s*(?=""")', re.DOTALL)


def in_order(helpers: Iterable[Any]) -> list[Any]:
    """The helpers and those that they use, each after what it uses."""
    found: dict[Any, None] = {}

    def visit(helper: Any) -> None:
        if helper in found:
            return
        for other in _used_by(helper):
            if other is not helper:
                visit(other)
        found[helper] = None

    for helper in sorted(helpers, key=_place):
        visit(helper)
    return list(found)


def source(helper: Any) -> str:
    """The source of a function or class, as it stands in its module; docstrings end before their first section."""
    return _SECTIONS.sub("", textwrap.dedent(inspect.getsource(helper)).strip())


def names_in(text: str) -> set[str]:
    """The names that a piece of Python uses."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def import_lines(text: str) -> list[str]:
    """The imports of a module with this text: torch's and the standard library's, a blank line between."""
    used = [name for name in IMPORTS if name in names_in(text)]
    own = [IMPORTS[name] for name in used if name in STANDARD]
    torchs = [IMPORTS[name] for name in used if name not in (*STANDARD, "Tensor", "nn")]
    both = [name for name in ("Tensor", "nn") if name in used]
    torchs += [f"from torch import {', '.join(both)}"] if both else []
    return [*own, *([""] if own else []), *torchs]


def _place(helper: Any) -> tuple[str, int]:
    return helper.__module__, inspect.getsourcelines(helper)[1]


def _used_by(helper: Any) -> list[Any]:
    """What a helper uses from its own module, or by imports from other modules of formulas."""
    module: ModuleType = inspect.getmodule(helper)  # type: ignore[assignment]
    used = names_in(source(helper))
    named = [found for name, found in vars(module).items() if name in used]
    return [found for found in named if _is_ours(found)]


def _is_ours(found: Any) -> bool:
    """Whether this is a function or class of the package."""
    is_code = inspect.isfunction(found) or inspect.isclass(found)
    return is_code and found.__module__.startswith(__name__.partition(".")[0])

"""Write docs/layers.md from the docstrings of the layers; with `--check`, fail if the page is out of date."""

import argparse
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "layers"))

from table import ROWS, Row  # noqa: E402  # the table of examples is among the tests

from torchkeras import layers  # noqa: E402
from torchkeras.legacy.arguments import LAYERS, SIGNATURES  # noqa: E402

PAGE = ROOT / "docs" / "layers.md"
HEAD = """# Layers

Made from the docstrings by `scripts/document_layers.py`; a test holds it to them. A section is a file of
`torchkeras/layers`. Shapes are Keras's: the batch axis first, the channels where `data_format` says. "Inside" names the
modules of `torch.nn` that a layer holds, "other names" are aliases and Keras 1's classes; Keras 1's argument names work
for every layer that had them (`torchkeras/legacy/arguments.py`).
"""


def others(name: str) -> list[str]:
    """The other names of a layer: those of the same class in `layers`."""
    made_by = getattr(layers, name)
    return sorted(other for other, value in vars(layers).items() if value is made_by and other != name)


def inside(rows: list[Row]) -> list[str]:
    """The modules of torch.nn that the examples of a layer hold."""
    found: set[str] = set()
    for row in rows:
        layer = row.make().eval()
        if "shapes" not in row.differs:
            layer(row.tensors())
        for module in layer.modules():
            for cls in type(module).__mro__[:2]:
                if cls.__module__.startswith("torch.nn.modules") and cls not in (torch.nn.Module, torch.nn.ModuleList):
                    found.add(cls.__name__)
    return sorted(found)


def parts(made_by: Any) -> tuple[str, str, str]:
    """The first sentence of a docstring, its shapes, and its source."""
    text = " ".join((inspect.getdoc(made_by) or "").split())
    first = re.split(r"(?<=[.:]) (?=[A-Z`(]|$)", text, maxsplit=1)[0]
    shape = re.search(r"Shape: (.*?)(?:\. |\.$|$)", text)
    source = re.search(r"Source: (\S+)", text)
    return first, shape.group(1) if shape else "", source.group(1).rstrip(".") if source else ""


def page() -> str:
    """The whole text."""
    rows, sections = defaultdict(list), defaultdict(list)
    for row in ROWS:
        if row.name != "Operation":  # made by operators, not called by users
            rows[row.name].append(row)
    for name in rows:
        module = sys.modules[getattr(layers, name).__module__]
        sections[module].append(name)
    text = [HEAD]
    for module, names in sorted(sections.items(), key=lambda item: item[0].__name__):
        title = (module.__doc__ or "").strip().splitlines()[0].rstrip(".")
        text.append(f"\n## {module.__name__.rpartition('.')[2]}\n\n{title}.\n")
        text += [entry(name, rows[name]) for name in sorted(names)]
    return "".join(text)


def entry(name: str, rows: list[Row]) -> str:
    """One layer."""
    made_by = getattr(layers, name)
    first, shape, source = parts(made_by)
    lines = [f"\n### {name}{_options(made_by)}\n\n{first}\n\n"]
    facts = [("Shape", shape), ("Inside", ", ".join(f"`nn.{module}`" for module in inside(rows)))]
    facts += [("Other names", ", ".join(map("`{}`".format, others(name)))), ("Source", source)]
    if name in SIGNATURES or name in LAYERS.values():
        facts.append(("Keras 1", f"`{', '.join(a.partition('>')[0] for a in SIGNATURES[name].split())}`"))
    lines += [f"- {label}: {fact}\n" for label, fact in facts if fact]
    return "".join(lines)


def _options(made_by: Any) -> str:
    names = [
        parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
        for parameter in inspect.signature(made_by).parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return f"({', '.join(names)})"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing; fail when the page is another")
    if not options.parse_args().check:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE} is not what the docstrings give: run scripts/document_layers.py.")


if __name__ == "__main__":
    main()

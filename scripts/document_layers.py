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
from torchkeras.base import docstrings  # noqa: E402
from torchkeras.legacy.names import LAYERS, SIGNATURES  # noqa: E402

PAGE = ROOT / "docs" / "layers.md"
HEAD = """# Layers

Generated from the docstrings by `scripts/document_layers.py`. Each section is a file of `torchkeras/layers`. Shapes are
Keras's: the batch axis first, the channels last unless `data_format` says otherwise. Every layer also takes the options
of `Layer`: `name`, `trainable`, `dtype`, `input_shape` and more. The examples use names of `torchkeras.layers` and
`torchkeras.models`, `torch`, and `np` for NumPy. "Inside" names the modules of `torch.nn` that a layer contains, "other
names" are aliases and Keras 1's classes. Keras 1's argument names work for every layer that had them.
"""
ENTRY = re.compile(r"(?P<names>[\w, ]+?) \((?P<kind>.*?)(?:,? default (?P<default>.*?))?\): (?P<meaning>.*)")
SECTION = re.compile(r"^(Options|Shapes|Errors|Example):\n((?:(?: {4}.*)?(?:\n|\Z))+)", re.MULTILINE)


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
            of_torch = [cls for cls in type(module).__mro__[:2] if cls.__module__.startswith("torch.nn.modules")]
            if of_torch and of_torch[0] not in (torch.nn.Module, torch.nn.ModuleList):
                found.add(of_torch[0].__name__)
    return sorted(found)


def parts(text: str) -> dict[str, str]:
    """A docstring in parts: what it says first (`Head`), its sections, its `Source`."""
    found = {name: inspect.cleandoc(f"\n{body}") for name, body in SECTION.findall(text)}
    source = re.search(r"Source: (\S+)", text)
    found["Source"] = source[1].rstrip(".") if source else ""
    if "Shapes" in found:
        found["Head"] = re.split(r"^(?:Options|Shapes|Errors|Example|Source):", text, maxsplit=1, flags=re.M)[0]
    else:  # a docstring of the old form, which has its shapes in a sentence
        line = " ".join(text.split())
        old = re.search(r"Shape: (.*?)(?:\. |\.$|$)", line)
        found["Shapes"] = old[1] if old else ""
        found["Head"] = re.split(r"(?<=[.:]) (?=[A-Z`(]|$)", line, maxsplit=1)[0]
    found["Head"] = found["Head"].strip()
    return found


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
    """One layer: what it does, its options, its example, then facts."""
    made_by = getattr(layers, name)
    text = inspect.getdoc(made_by) or ""
    said = parts(text)
    blocks = [f"### {name}", f"`{name}{_call(made_by)}`", said["Head"], _options(made_by, text)]
    if "Example" in said:
        blocks.append(f"```pycon\n{said['Example']}\n```")
    errors = re.sub(r"^(\w+): ", r"`\1` ", said.get("Errors", ""), flags=re.MULTILINE)
    facts = [("Shapes", _line(said["Shapes"], r"(?!->)\S.*->")), ("Errors", _line(errors, "`"))]
    facts += [("Inside", ", ".join(f"`nn.{module}`" for module in inside(rows)))]
    facts += [("Other names", ", ".join(map("`{}`".format, others(name)))), ("Source", said["Source"])]
    if name in SIGNATURES or name in LAYERS.values():
        facts.append(("Keras 1", f"`{', '.join(a.partition('>')[0] for a in SIGNATURES[name].split())}`"))
    blocks.append("\n".join(f"- {label}: {fact}" for label, fact in facts if fact))
    return "".join(f"\n{block}\n" for block in blocks if block)


def _line(lines: str, begins: str) -> str:
    """The lines of a section as one, with ";" before each that begins something new."""
    return " ".join(re.sub(rf"(?<!,)\n(?={begins})", "; ", lines).split())


def _parameters(made_by: Any) -> list[inspect.Parameter]:
    found = inspect.signature(made_by).parameters.values()
    return [parameter for parameter in found if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]


def _call(made_by: Any) -> str:
    names = [
        parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
        for parameter in _parameters(made_by)
    ]
    return f"({', '.join(names)})"


def _options(made_by: Any, text: str) -> str:
    """The options with their meaning, in the order of the call: a row each, or for several that belong together."""
    explained = docstrings.entries(text)
    said = [explained[parameter.name] for parameter in _parameters(made_by) if parameter.name in explained]
    rows = [_row(" ".join(entry.split())) for entry in dict.fromkeys(said)]
    return "\n".join(["| option | values | default | meaning |", "|---|---|---|---|", *rows]) if rows else ""


def _row(entry: str) -> str:
    found = ENTRY.fullmatch(entry)
    if not found:
        raise ValueError(f"not an entry of an option: {entry}")
    names = ", ".join(f"`{name}`" for name in found["names"].split(", "))
    default = f"`{found['default']}`" if found["default"] else ""
    cells = [cell.replace("|", r"\|") for cell in (names, found["kind"], default, found["meaning"])]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing; fail when the page is another")
    if not options.parse_args().check:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE} is not what the docstrings give: run scripts/document_layers.py.")


if __name__ == "__main__":
    main()

"""Write docs/layers, a page for each family of layers and one of all, from the docstrings of the layers.

With `--check`, write nothing, and fail if a page is out of date.
"""

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

PAGES = ROOT / "docs" / "layers"
# A page each: its file, its title, and the files of torchkeras/layers whose layers it has.
FAMILIES = {
    "core": ("Core", "core einsum embedding functions torch_module pipeline wrappers"),
    "activations": ("Activations", "activation"),
    "convolutions": ("Convolutions", "conv separable transposed local"),
    "pooling": ("Pooling", "pooling global_pooling adaptive_pooling"),
    "recurrent": ("Recurrent layers", "recurrent cells bidirectional conv_recurrent"),
    "attention": ("Attention", "attention multi_head_attention"),
    "normalization": ("Normalization", "normalization layer_normalization"),
    "noise": ("Dropout and noise", "noise"),
    "merging": ("Merging", "merging"),
    "shapes": ("Reshaping and resizing", "shaping resize"),
    "preprocessing": ("Numbers, categories and text", "preprocessing lookup hashing text"),
    "images": ("Images", "image_preprocessing histograms"),
    "augmentation": ("Image augmentation", "augmentation colors distortions mixing"),
    "audio": ("Audio", "spectrograms"),
    "keras1": ("Layers of Keras 1", "keras1"),
}
WIDTH = 80  # of code; a page has room for these
HEAD = """# Layers

"""
FOOT = """
`scripts/document_layers.py` generates these pages from the docstrings. Shapes are Keras's: the batch axis first, the
channels last unless `data_format` says otherwise. Every layer also takes the options of
[`Layer`](../reference/layer.md): `name`, `trainable`, `dtype`, `input_shape` and more. The examples use names of
`torchkeras.layers` and `torchkeras.models`, `torch`, and `np` for NumPy. "Inside" names the modules of `torch.nn` that
a layer contains, "other names" are aliases and Keras 1's classes. Keras 1's argument names work for every layer that
had them.
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
    source = re.search(r"^Source: (.*(?:\n.+)*)", text, re.MULTILINE)
    found["Source"] = re.sub(r"https?://\S*[^\s.,;)]", r"<\g<0>>", " ".join(source[1].split())) if source else ""
    if "Shapes" in found:
        found["Head"] = re.split(r"^(?:Options|Shapes|Errors|Example|Source):", text, maxsplit=1, flags=re.M)[0]
    else:  # a docstring of the old form, which has its shapes in a sentence
        line = " ".join(text.split())
        old = re.search(r"Shape: (.*?)(?:\. |\.$|$)", line)
        found["Shapes"] = old[1] if old else ""
        found["Head"] = re.split(r"(?<=[.:]) (?=[A-Z`(]|$)", line, maxsplit=1)[0]
    found["Head"] = found["Head"].strip()
    return found


def pages() -> dict[Path, str]:
    """The text of each page by its file."""
    rows = defaultdict(list)
    for row in ROWS:
        if row.name != "Operation":  # made by operators, not called by users
            rows[row.name].append(row)
    found, listed, of_module = {}, [], defaultdict(list)
    for name in sorted(rows):
        of_module[getattr(layers, name).__module__.rpartition(".")[2]].append(name)
    for file, (title, modules) in FAMILIES.items():
        names = [name for module in modules.split() for name in of_module.pop(module)]
        entries = "".join(entry(name, rows[name]) for name in names)
        found[PAGES / f"{file}.md"] = f"# {title}\n\n[All layers](index.md) explains the entries.\n{entries}"
        links = ", ".join(f"[{name}]({file}.md#{name.lower()})" for name in names)
        listed.append(f"- **[{title}]({file}.md)**: {links}.\n")
    if of_module:
        raise ValueError(f"FAMILIES in {__file__} lacks {', '.join(sorted(of_module))}.")
    return {PAGES / "index.md": f"{HEAD}{''.join(listed)}{FOOT}", **found}


def entry(name: str, rows: list[Row]) -> str:
    """One layer: what it does, its options, its example, then facts."""
    made_by = getattr(layers, name)
    text = inspect.getdoc(made_by) or ""
    said = parts(text)
    blocks = [f"## {name}", _call(name, made_by), said["Head"], _options(made_by, text)]
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


def _call(name: str, made_by: Any) -> str:
    """A block of code with the call: in a line, or with a line for each option."""
    options = [
        parameter.name if parameter.default is parameter.empty else f"{parameter.name}={_written(parameter.default)}"
        for parameter in _parameters(made_by)
    ]
    call = f"{name}({', '.join(options)})"
    if len(call) > WIDTH:
        call = "\n".join([f"{name}(", *(f"    {option}," for option in options), ")"])
    return f"```py\n{call}\n```"


def _written(default: Any) -> str:
    return repr(default).replace("'", '"')


def _options(made_by: Any, text: str) -> str:
    """The options with their meaning, in the order of the call: a row each, or for several that belong together."""
    explained = docstrings.entries(text)
    said = [explained[parameter.name] for parameter in _parameters(made_by) if parameter.name in explained]
    rows = [_row(" ".join(entry.split())) for entry in dict.fromkeys(said)]
    return "\n".join(["| option | values | meaning | default |", "|---|---|---|---|", *rows]) if rows else ""


def _row(entry: str) -> str:
    found = ENTRY.fullmatch(entry)
    if not found:
        raise ValueError(f"not an entry of an option: {entry}")
    names = ", ".join(f"`{name}`" for name in found["names"].split(", "))
    default = f"`{found['default']}`" if found["default"] else ""
    cells = [cell.replace("|", r"\|") for cell in (names, found["kind"], found["meaning"], default)]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--check", action="store_true", help="write nothing; fail when a page is another")
    is_check, made = options.parse_args().check, pages()
    for page, text in made.items():
        if not is_check:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text)
        elif not page.is_file() or page.read_text() != text:
            sys.exit(f"{page} is not what the docstrings give: run scripts/document_layers.py.")
    if lost := set(PAGES.iterdir()) - set(made):
        sys.exit(f"No family has {', '.join(map(str, sorted(lost)))}: remove it.")


if __name__ == "__main__":
    main()

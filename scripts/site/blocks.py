"""Run the code on a page of docs/, as a notebook does, and print as JSON what each of its blocks shows.

    python scripts/site/blocks.py docs/quickstart.md

The page runs in an empty folder, with links to `tests` and `examples`. Its blocks of `python` share their names. A
block shows what it prints, and its last value where that is a picture. In a block of `console` each line that begins
with `$` is run by the shell. A warning or an error fails the page.

A block with a title is a part of the file that the title names, and has to stand in it.
"""

import ast
import contextlib
import io
import json
import linecache
import os
import re
import subprocess
import sys
import tempfile
import types
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# Their blocks are parts of files of the package; tests/test_docs.py runs each with the names of its file.
PARTS = {"adding.md", "architecture.md"}
BLOCK = re.compile(r'^```(?P<kind>python|console)(?: title="(?P<title>[^"]*)")?\n(?P<code>.*?)^```$', re.M | re.S)
# Both on white and on the dark page.
MATPLOTLIB = {
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor"), "none"),
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), "#7b8794"),
    "grid.color": "#7b879455",
    "svg.fonttype": "none",
    "svg.hashsalt": "torchkeras",
    "font.family": "sans-serif",
    "font.size": 12,
}


@dataclass
class Shown:
    """What a block shows: text, and pictures as SVG."""

    text: str = ""
    pictures: list[str] = field(default_factory=list)


def blocks(text: str) -> Iterator[re.Match[str]]:
    return BLOCK.finditer(text)


def pages() -> list[Path]:
    """The pages with code that runs."""
    found = (page for page in sorted(DOCS.rglob("*.md")) if page.name not in PARTS)
    return [page for page in found if BLOCK.search(page.read_text())]


def run_page(page: Path) -> list[Shown]:
    """What the blocks of a page show. Blocks with a title show nothing."""
    module = types.ModuleType("page")
    sys.modules["page"] = module  # classes of the page can be pickled and inspected
    shown = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        # torch.compile's own code gives it, where a slow machine makes "auto" compile.
        warnings.filterwarnings("ignore", r".torch\.jit\.script(_method)?. is deprecated", DeprecationWarning)
        os.chdir(folder)
        for name in ("examples", "tests"):
            Path(name).symlink_to(ROOT / name)
        for number, block in enumerate(blocks(page.read_text())):
            if block["title"]:
                shown.append(Shown())
                _require_quoted(block["title"], block["code"], page)
            elif block["kind"] == "console":
                shown.append(Shown(_run_commands(block["code"])))
            else:
                shown.append(_run_python(block["code"], f"{page.name}, block {number + 1}", module))
        os.chdir(ROOT)
    return shown


def _require_quoted(title: str, code: str, page: Path) -> None:
    if code not in (ROOT / title).read_text():
        sys.exit(f"{page.name}: this is not a part of {title}:\n{code}")


def _run_commands(lines: str) -> str:
    """The commands with what they print."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    printed = []
    for line in lines.splitlines():
        if not line.startswith("$ "):
            continue
        done = subprocess.run(line[2:], shell=True, env=given, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{line}\n{done.stdout}{done.stderr}")
        printed.append(f"{line}\n{done.stdout}")
    return "".join(printed)


def _run_python(code: str, name: str, module: types.ModuleType) -> Shown:
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    tree = ast.parse(code, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, name, "exec"), vars(module))  # noqa: S102  # the pages are ours
        value = eval(compile(ast.Expression(last.value), name, "eval"), vars(module)) if last else None
    return Shown(printed.getvalue(), list(_pictures(value)))


def _pictures(value: Any) -> Iterator[str]:
    if hasattr(value, "savefig"):
        file = io.StringIO()
        value.savefig(file, format="svg", bbox_inches="tight")
        yield file.getvalue()
    elif hasattr(value, "_repr_svg_"):
        yield value._repr_svg_()


def main() -> None:
    try:
        import matplotlib as mpl  # noqa: PLC0415  # an extra, which few pages need

        mpl.use("svg")
        mpl.rcParams.update(MATPLOTLIB)
    except ImportError:
        pass
    print(json.dumps([asdict(shown) for shown in run_page(Path(sys.argv[1]).resolve())]))


if __name__ == "__main__":
    main()

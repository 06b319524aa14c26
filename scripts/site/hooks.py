"""What mkdocs calls while it builds the site: the code of pages is run, and what it shows put below it."""

import hashlib
import importlib
import importlib.metadata
import inspect
import itertools
import json
import os
import re
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
from blocks import BLOCK, DOCS, ROOT, pages

import torchkeras.layers

# mkdocstrings imports every module of the package; this one changes classes, for scripts of Keras 1 and 2 alone.
sys.modules["torchkeras.keras2.root"] = None  # type: ignore[assignment]

_runs: dict[str, Future[list[dict[str, Any]]]] = {}


def on_files(files: Any, config: Any) -> None:
    """Start all pages, as many at once as there are processors."""
    pool = ThreadPoolExecutor(os.cpu_count())
    for page in pages():
        _runs[str(page.relative_to(DOCS))] = pool.submit(_run, page)


LAYER = re.compile(r"^## (\w+)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
COLUMNS = re.compile(r"\S  |__")  # tables made of text, and code, keep their lines on a phone
EVERY = re.compile(r"^::: every (\S+)$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    name = page.file.src_uri
    markdown = EVERY.sub(_every, markdown)
    if name.startswith("layers/"):
        markdown = LAYER.sub(_with_source, markdown)
    if name not in _runs:
        return markdown
    shown = iter(_runs[name].result())
    count = 0

    def below(block: re.Match[str]) -> str:
        nonlocal count
        given = next(shown)
        if block["kind"] == "console":
            return f"```console\n{given['text']}```"
        parts = [block[0]]
        if text := given["text"].rstrip():
            wraps = "" if COLUMNS.search(text) else " .wraps"
            parts.append(f"``` {{.text .output{wraps}}}\n{text}\n```")
        for picture in given["pictures"]:
            count += 1
            stem = name.removesuffix(".md").replace("/", "-")
            target = f"pictures/{stem}-{count}.svg"
            files.append(File.generated(config, target, content=picture))
            parts.append(f"![What this draws]({'../' * name.count('/')}{target})")
        return "\n\n".join(parts)

    return BLOCK.sub(below, markdown)


TABLE = re.compile("<table>.*?</table>", re.DOTALL)
RECORDS = re.compile('<div class="records">.*?</table>', re.DOTALL)
CODE = re.compile("<code>[^<]*</code>")


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Tables and sources as the style sheet and the search expect them."""
    html = TABLE.sub(lambda table: _breaking(table[0], r"(?<=\w[(.])(?=[a-zA-Z_\"&\[{])"), html)
    html = RECORDS.sub(lambda table: _labelled(_breaking(table[0], "(?<=_)")), html)
    source = '<details class="mkdocstrings-source"'
    html = html.replace(f"{source}>", f"{source} data-search-exclude>")
    if page.file.src_uri.startswith("layers/"):
        html = TABLE.sub(r'<div class="doc-contents">\g<0></div>', html)  # as mkdocstrings marks what it makes
    return html


def _breaking(table: str, at: str) -> str:
    """A table whose code may go on in another line at these places."""
    return CODE.sub(lambda code: re.sub(at, "<wbr>", code[0]), table)


def _labelled(table: str) -> str:
    """Each cell with its column's name, which a phone shows."""
    names = itertools.cycle(re.sub("<.*?>", "", name) for name in re.findall("<th>(.*?)</th>", table))
    return re.sub("<td>", lambda _: f'<td data-label="{next(names)}">', table)


def _every(line: re.Match[str]) -> str:
    """A line for mkdocstrings for each class and function that a module offers; other names of them at the end."""
    module = importlib.import_module(line[1])
    offered = {name: value for name in module.__all__ if callable(value := getattr(module, name))}
    own = [name for name, value in offered.items() if name == value.__name__]
    others = [f"`{name}` is `{value.__name__}`" for name, value in offered.items() if name not in own]
    end = ["## Other names", ", ".join(others) + "."] if others else []
    return "\n\n".join([*(f"::: {line[1]}.{name}" for name in own), *end])


def _with_source(entry: re.Match[str]) -> str:
    """What a page says of a layer, and the layer's source below it, as mkdocstrings shows that of other classes."""
    layer = getattr(torchkeras.layers, entry[1])
    lines, start = inspect.getsourcelines(layer)
    summary = f"<summary>Source code in <code>{layer.__module__.replace('.', '/')}.py</code></summary>"
    source = f'``` {{.py linenums="{start}"}}\n{"".join(lines)}```'
    details = f'<details class="mkdocstrings-source" markdown>\n{summary}\n\n{source}\n\n</details>'
    return f"{entry[0].rstrip()}\n\n{details}\n\n"


def _run(page: Path) -> list[dict[str, Any]]:
    """What the blocks of a page show; from the last build, if all that they depend on is as it was."""
    kept = ROOT / "build" / "pages" / f"{_digest(page)}.json"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(_run_now(page))
    return json.loads(kept.read_text())


def _digest(page: Path) -> str:
    """Of the page, what runs it, the package, the examples, Python and the versions of the packages installed."""
    files = [path for name in ("torchkeras", "examples") for path in sorted((ROOT / name).rglob("*")) if path.is_file()]
    sources = [page, ROOT / "scripts" / "site" / "blocks.py", *(path for path in files if path.suffix != ".pyc")]
    versions = sorted(f"{each.name} {each.version}" for each in importlib.metadata.distributions())
    about = "\n".join([sys.version, *versions]).encode()
    return hashlib.sha256(b"".join([*(source.read_bytes() for source in sources), about])).hexdigest()


def _run_now(page: Path) -> str:
    given = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "scripts" / "site" / "blocks.py"), str(page)]
    done = subprocess.run(command, capture_output=True, text=True, env=given, check=False)
    if done.returncode:
        raise PluginError(f"{page.relative_to(ROOT)} does not run:\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines()[-1]

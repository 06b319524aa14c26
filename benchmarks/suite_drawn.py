"""The suite's table in docs/speed_notes.md as a picture, docs/assets/suite.svg.

    python benchmarks/suite_drawn.py [--check]

A row a workload, a mark a contender, the ratio to the tuned loop along a logarithmic scale. `suite.py --write` draws
it; `--check` writes nothing, and fails if the picture is not the table's.
"""

import argparse
import math
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE, PICTURE = DOCS / "speed_notes.md", DOCS / "assets" / "suite.svg"
BEGIN = "<!-- benchmarks/suite.py -->\n"
# Readable on white and on black. The last three are this package's, and lie on top.
COLOURS = {
    "idiomatic": "#8c96a3",
    "tuned, torch.compile": "#5c7cfa",
    "tuned, max-autotune": "#a5d8ff",
    "keras3": "#e03131",
    "keras3_jit": "#f783ac",
    "tf_keras": "#f08c00",
    "lightning": "#9c5fd4",
    "Keras 3 code": "#0b7285",
    "torchkeras": "#0ca678",
    "torchkeras auto": "#66d9a8",
}
WIDTH, LEFT, TOP, ROW = 520, 112, 104, 32
TICKS = (0.5, 1, 2, 5, 10, 20)
LEAST, MOST = 0.45, 28.0
TEXT = "#7b8794"


def table(page: str) -> dict[str, dict[str, float]]:
    """The ratios of each workload by contender."""
    lines = page.partition(BEGIN)[2].partition("\n\n")[2].partition("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {row[0]: {name: float(cell) for name, cell in zip(head[2:], row[2:], strict=True) if cell} for row in rows}


def drawn(ratios: dict[str, dict[str, float]]) -> str:
    height = TOP + ROW * len(ratios) + 34
    shown = [name for name in reversed(COLOURS) if any(name in found for found in ratios.values())]
    parts = [*_legend(shown), *_scale(height - 34)]
    for number, (workload, found) in enumerate(ratios.items()):
        y = TOP + ROW * number + ROW / 2
        parts.append(text(LEFT - 10, y + 5, workload, "end"))
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH}" stroke="{TEXT}" stroke-opacity=".25"/>')
        for name in sorted(found, key=list(COLOURS).index):
            said = f"<title>{escape(f'{workload}, {name}: {found[name]:g}')}</title>"
            parts.append(f'<circle cx="{_x(found[name]):.1f}" cy="{y}" r="6" fill="{COLOURS[name]}">{said}</circle>')
    parts.append(text((LEFT + WIDTH) / 2, height - 4, "time of a step, tuned loop by hand = 1", "middle"))
    return svg(WIDTH, height, 14, parts)


def svg(width: int, height: int, letters: int, parts: list[str]) -> str:
    """A whole picture of these parts."""
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    style = f'font-family="sans-serif" font-size="{letters}" fill="{TEXT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {style}>\n' + "\n".join(parts) + "\n</svg>\n"


def _x(ratio: float) -> float:
    share = math.log(ratio / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (WIDTH - LEFT)


def text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _legend(names: list[str]) -> Iterator[str]:
    for number, name in enumerate(names):
        x, y = 10 + 170 * (number % 3), 16 + 24 * (number // 3)
        yield f'<circle cx="{x}" cy="{y}" r="6" fill="{COLOURS[name]}"/>'
        yield text(x + 12, y + 5, name, "start")


def _scale(bottom: float) -> Iterator[str]:
    """A line down from each tick; that of 1 is strong."""
    for tick in TICKS:
        x, strong = _x(tick), ' stroke-width="2"' if tick == 1 else ' stroke-opacity=".35"'
        yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{TEXT}"{strong}/>'
        yield text(x, TOP - 6, f"{tick:g}", "middle")


def write_or_check(picture: str, path: Path, what: str) -> None:
    """What a script that draws does: write the picture, or with `--check` end with an error if it is another."""
    options = argparse.ArgumentParser(description=what)
    options.add_argument("--check", action="store_true", help="write nothing; fail if the picture is another")
    if not options.parse_args().check:
        path.write_text(picture)
    elif not path.is_file() or path.read_text() != picture:
        sys.exit(f"{path} is not what the table gives: run {sys.argv[0]}.")


if __name__ == "__main__":
    write_or_check(drawn(table(PAGE.read_text())), PICTURE, (__doc__ or "").splitlines()[0])

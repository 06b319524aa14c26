"""The table in docs/performance.md as a picture, docs/assets/table.svg.

    python benchmarks/table_drawn.py [--check]

A line for each thing measured, and on it a mark for each case, where its number lies between 0.4 and 8 times its aim,
on a logarithmic scale; left of the strong line is better. It is as wide as a phone shows at full size.
`table.py --write` draws it; `--check` writes nothing, and fails if the picture is not the table's.
"""

import math
import re
from dataclasses import dataclass
from html import escape

from suite_drawn import DOCS, TEXT, svg, text, write_or_check

PAGE, PICTURE = DOCS / "performance.md", DOCS / "assets" / "table.svg"
BEGIN, END = "<!-- benchmarks/table.py -->\n", "<!-- end -->\n"
HEAD = "| what | case | against | aim | measured |\n|---|---|---|---|---|\n"
LINE = re.compile(r"\| (.*?) \| (.*?) \| (.*?) \| ([≤≥]) ([\d.]+) \| \**(-?[\d.]+)\** \|$")
WIDTH, TOP, ROW, MARK = 358, 26, 42, 5
TICKS = (0.5, 1, 2, 4, 8)
LEAST, MOST = 0.4, 8.0
REACHED, MISSED = "#0ca678", "#e8590c"  # readable on white and on black


@dataclass(frozen=True)
class Row:
    """A row of the table: what is measured, in which case and against what, its aim and the number found."""

    what: str
    case: str
    against: str
    aim: float
    found: float
    at_least: bool = False

    @property
    def share(self) -> float:
        """The number found as a share of the aim, above 1 where it is missed."""
        return self.aim / self.found if self.at_least else self.found / self.aim

    @property
    def is_reached(self) -> bool:
        """As the number is written."""
        found = float(self._number())
        return found >= self.aim if self.at_least else found <= self.aim

    def _number(self) -> str:
        return f"{self.found:.2f}" if abs(self.found) >= 2 else f"{self.found:.3f}"

    def written(self) -> str:
        """As a line of Markdown, with a missed number in bold."""
        number = self._number() if self.is_reached else f"**{self._number()}**"
        sign = "≥" if self.at_least else "≤"
        return f"| {self.what} | {self.case} | {self.against} | {sign} {self.aim:g} | {number} |"


def rows(markdown: str) -> list[Row]:
    """The rows of a table."""
    found = [LINE.match(line) for line in markdown.splitlines()]
    return [
        Row(each[1], each[2], each[3], float(each[5]), float(each[6]), each[4] == "≥")
        for each in found
        if each is not None
    ]


def drawn(table: list[Row]) -> str:
    lines: dict[tuple[str, str, float], list[Row]] = {}
    for row in table:
        lines.setdefault((row.what, row.against, row.aim), []).append(row)
    marked = [TOP + ROW * number + 28 for number in range(len(lines))]
    height = TOP + ROW * len(lines) + 24
    parts = [part for tick in TICKS for part in _tick(tick, marked)]
    for y, ((what, _, aim), of_line) in zip(marked, lines.items(), strict=True):
        label = f"{what}, {'≥' if of_line[0].at_least else '≤'} {aim:g}".replace("`", "")
        parts.append(text(0, y - 12, label, "start"))
        parts.append(f'<path d="M0 {y}H{WIDTH}" stroke="{TEXT}" stroke-opacity=".25"/>')
        parts += [_mark(row, y) for row in of_line]
    parts.append(text(WIDTH / 2, height - 6, "measured, aim = 1", "middle"))
    return svg(WIDTH, height, 12, parts)


def _tick(tick: float, marked: list[int]) -> tuple[str, str]:
    """A tick's number, and a stroke across each line; that of 1 is strong."""
    x, strong = _x(tick), ' stroke-width="2"' if tick == 1 else ' stroke-opacity=".35"'
    strokes = "".join(f"M{x:.1f} {y - 8}v16" for y in marked)
    return text(x, 14, f"{tick:g}", "middle"), f'<path d="{strokes}" stroke="{TEXT}"{strong}/>'


def _mark(row: Row, y: float) -> str:
    x = _x(min(max(row.share, LEAST), MOST))
    said = f"{row.case}, against {row.against}: {row.found:g}" if row.against else f"{row.case}: {row.found:g}"
    circle = f'<circle cx="{x:.1f}" cy="{y:g}" r="{MARK}" fill="{REACHED if row.is_reached else MISSED}"'
    return f'{circle} fill-opacity=".7"><title>{escape(said)}</title></circle>'


def _x(share: float) -> float:
    return MARK + math.log(share / LEAST) / math.log(MOST / LEAST) * (WIDTH - 2 * MARK)


if __name__ == "__main__":
    found = rows(PAGE.read_text().partition(BEGIN)[2].partition(END)[0])
    write_or_check(drawn(found), PICTURE, (__doc__ or "").splitlines()[0])

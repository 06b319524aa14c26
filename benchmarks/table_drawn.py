"""The table in docs/performance.md as a picture, docs/assets/table.svg.

    python benchmarks/table_drawn.py [--check]

A row a case, a mark where its number lies between 0.4 and 8 times its aim, on a logarithmic scale; left of the line is
better. `table.py --write` draws it; `--check` writes nothing, and fails if the picture is not the table's.
"""

import math
import re
from dataclasses import dataclass
from html import escape

from suite_drawn import DOCS, scale, svg, text, write_or_check

PAGE, PICTURE = DOCS / "performance.md", DOCS / "assets" / "table.svg"
BEGIN, END = "<!-- benchmarks/table.py -->\n", "<!-- end -->\n"
HEAD = "| what | case | against | aim | measured |\n|---|---|---|---|---|\n"
LINE = re.compile(r"\| (.*?) \| (.*?) \| (.*?) \| ([≤≥]) ([\d.]+) \| \**(-?[\d.]+)\** \|$")
WIDTH, LEFT, TOP, ROW = 520, 290, 40, 18
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
    height = TOP + ROW * len(table) + 30
    parts = list(scale({tick: _x(tick) for tick in TICKS}, TOP, height - 30))
    for number, row in enumerate(table):
        y = TOP + ROW * number + ROW / 2
        label = f"{row.what}: {row.case}".replace("`", "")
        parts.append(text(LEFT - 8, y + 4, label, "end"))
        colour, said = REACHED if row.is_reached else MISSED, f"{label}: {row.found:g}, aim {row.aim:g}"
        x = _x(min(max(row.share, LEAST), MOST))
        parts.append(f'<circle cx="{x:.1f}" cy="{y:g}" r="5" fill="{colour}"><title>{escape(said)}</title></circle>')
    parts.append(text((LEFT + WIDTH) / 2, height - 8, "measured, aim = 1", "middle"))
    return svg(WIDTH, height, 12, parts)


def _x(share: float) -> float:
    return LEFT + 8 + math.log(share / LEAST) / math.log(MOST / LEAST) * (WIDTH - LEFT - 16)


if __name__ == "__main__":
    found = rows(PAGE.read_text().partition(BEGIN)[2].partition(END)[0])
    write_or_check(drawn(found), PICTURE, (__doc__ or "").splitlines()[0])

"""The places of the parts of one graph: sizes from texts, then a layered layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchkeras.visualization.layered.layout import Layout, layout
from torchkeras.visualization.layered.ranks import Cell, Net
from torchkeras.visualization.parts import Level, Part
from torchkeras.visualization.text_size import shortened, width

NAME, SMALL, BESIDE = 13.0, 11.5, 11.0  # sizes of the font: the class, further lines, what stands beside a line
NAME_ROW, SMALL_ROW, BESIDE_ROW = 17, 15, 16
HEADER = 30  # of a model that is drawn inside
PAD = 12
SIDES = 14  # beside the texts of a box
PORT = 6  # from a line to what stands beside it
MOST_LETTERS = 44


@dataclass(frozen=True)
class Size:
    """Of a box: across the ranks and along them. Where outputs leave and inputs arrive is seen from the middle."""

    across: float
    along: float
    ports: Mapping[int, float]
    entries: Sequence[float] = ()  # of a model inside; all arrive in the middle of other boxes
    origin: tuple[float, float] = (0, 0)  # of a layout inside, seen from the middle of the upper side


@dataclass(frozen=True)
class Plan:
    """The boxes of a level with their places, and which nets are drawn from where."""

    sizes: list[Size]
    sources: list[tuple[int, int]]  # for each net the part and its output
    layout: Layout
    entries: list[float]  # where the inputs and outputs are across
    exits: list[float]


def plan(level: Level, inner: Mapping[Level, Plan], upright: bool) -> Plan:
    """Lay out a level; `inner` has the plans of the levels inside. `upright`: the ranks go up or down."""
    sizes = [
        _plain_size(part, upright) if part.inside is None else _frame(part, inner[part.inside], upright)
        for part in level.parts
    ]
    cells = [_cell(part, size, upright) for part, size in zip(level.parts, sizes, strict=True)]
    targets = _targets(level, sizes)
    nets = [Net(source, sizes[source].ports[output], ends) for (source, output), ends in targets.items()]
    found = layout(cells, nets, level.entries, level.exits)
    entries, exits = ([found.boxes[part][0] for part in parts] for parts in (level.entries, level.exits))
    return Plan(sizes, list(targets), found, entries, exits)


def _targets(level: Level, sizes: list[Size]) -> dict[tuple[int, int], list[tuple[int, float]]]:
    """For each output that is taken, by which parts, and where on them."""
    targets: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for number, part in enumerate(level.parts):
        times, seen = Counter(part.takes), Counter[tuple[int, int]]()
        entries = sizes[number].entries
        for index, source in enumerate(part.takes):
            apart = (seen[source] - (times[source] - 1) / 2) * PAD  # an output that is taken twice has two lines
            seen[source] += 1
            targets.setdefault(source, []).append((number, entries[index] if index < len(entries) else apart))
    return targets


def header(part: Part) -> list[str]:
    """The texts in the title bar of a model inside: its class, and all else."""
    return [short(part.name), short(", ".join(part.lines))]


def short(text: str) -> str:
    """A text that is not too long for a box."""
    return shortened(text, MOST_LETTERS)


def _plain_size(part: Part, upright: bool) -> Size:
    if part.kind == "exit":
        return Size(0, 0, {0: 0})
    wide = max([width(short(part.name), NAME, bold=True), *(width(short(line), SMALL) for line in part.lines)])
    high = NAME_ROW + SMALL_ROW * len(part.lines)
    across, along = (wide + SIDES, high + PAD) if upright else (high + PAD, wide + SIDES)
    room = [_label_room(part.ports[output], upright) for output in sorted(part.ports)]
    if len(room) < 2:
        return Size(across, along, dict.fromkeys(part.ports, 0.0))
    places, begin = {}, -sum(room) / 2
    for output, each in zip(sorted(part.ports), room, strict=True):
        places[output] = begin + (PORT if upright else each - PORT)
        begin += each
    return Size(max(across, sum(room) + PAD), along, places)


def _label_room(text: str, upright: bool) -> float:
    """How much room across a line takes with its text."""
    return PORT + PAD + (width(text, BESIDE) if upright else BESIDE_ROW * bool(text))


def _frame(part: Part, inside: Plan, upright: bool) -> Size:
    found = inside.layout
    name, lines = header(part)
    title = width(name, NAME, bold=True) + width(lines, SMALL) + 3 * PAD
    wide = found.right - found.left + 2 * PAD
    if upright:
        across, along = max(wide, title), HEADER + PAD + found.depth
        origin = -(found.left + found.right) / 2, HEADER + PAD
    else:
        across, along = HEADER + wide, max(PAD + found.depth, title)
        origin = HEADER + PAD - across / 2 - found.left, along - found.depth
    ports = {output: inside.exits[output] + origin[0] for output in part.ports}
    return Size(across, along, ports, [entry + origin[0] for entry in inside.entries], origin)


def _cell(part: Part, size: Size, upright: bool) -> Cell:
    """The room of a box and of what stands beside its lines."""
    half, texts = size.across / 2, [text for text in part.ports.values() if text]
    if not texts:
        return Cell(max(half, PORT), max(half, PORT), size.along)
    if upright:
        beside = max(size.ports[output] + PORT + width(text, BESIDE) for output, text in part.ports.items())
        sides, below = (max(half, PORT), max(half, beside)), BESIDE_ROW
    else:
        sides = max(half, BESIDE_ROW + PORT - min(size.ports.values())), max(half, PORT)
        below = max(width(text, BESIDE) for text in texts) + PORT
    if part.kind == "exit":
        below = 0  # what stands beside its line is outside of the model
    return Cell(*sides, size.along + below, below)

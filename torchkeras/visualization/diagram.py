"""A picture of a graph as plain data: boxes, lines and texts with their places, in pixels."""

from __future__ import annotations

from dataclasses import dataclass, field

from torchkeras.engine.graph.trace import Graph
from torchkeras.visualization.labels import Shown
from torchkeras.visualization.layered.layout import Point, Stroke
from torchkeras.visualization.parts import Level, Part, levels
from torchkeras.visualization.plan import BESIDE_ROW, PORT, Plan, plan
from torchkeras.visualization.references import cut

MARGIN = 16


@dataclass(frozen=True)
class Box:
    """A part at its place."""

    part: Part
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Text:
    """A line of text beside a line; `before`: it ends at x."""

    text: str
    x: float
    y: float
    before: bool = False


@dataclass(frozen=True)
class Wire:
    """The lines of one tensor; `tips`: where they arrive at boxes."""

    title: str
    strokes: list[Stroke]
    tips: list[Point]


@dataclass
class Diagram:
    """All of a picture. Boxes that hold others stand before these."""

    rankdir: str
    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)


def diagram(graph: Graph, shown: Shown, rankdir: str) -> Diagram:
    """The picture of a graph, whose ranks go in a direction: TB, BT, LR or RL."""
    upright = rankdir in ("TB", "BT")
    found = levels(graph, shown)
    plans: dict[Level, Plan] = {}
    for level in reversed(found):  # what is inside comes first
        cut(level)
        plans[level] = plan(level, plans, upright)
    whole = plans[found[0]].layout
    across, along = whole.right - whole.left + 2 * MARGIN, whole.depth + 2 * MARGIN
    drawing = _Drawing(Diagram(rankdir, *((across, along) if upright else (along, across))), plans, along)
    drawing.pending.append((found[0], (MARGIN - whole.left, MARGIN)))
    for level, origin in drawing.pending:
        drawing.add(level, origin)
    return drawing.diagram


class _Drawing:
    """Puts levels in their places, and turns them in the direction of the ranks."""

    def __init__(self, made: Diagram, plans: dict[Level, Plan], along: float):
        self.diagram, self.plans, self.along = made, plans, along
        self.pending: list[tuple[Level, Point]] = []

    def add(self, level: Level, origin: Point) -> None:
        """Draw a level whose layout begins there, and note those inside."""
        found = self.plans[level]
        for part, size, (across, along) in zip(level.parts, found.sizes, found.layout.boxes, strict=True):
            middle, head = across + origin[0], along + origin[1]
            if part.kind == "exit":
                continue
            corners = (
                self._turned((middle - size.across / 2, head)),
                self._turned((middle + size.across / 2, head + size.along)),
            )
            (left, right), (top, bottom) = (sorted(ends) for ends in zip(*corners, strict=True))
            self.diagram.boxes.append(Box(part, left, top, right - left, bottom - top))
            for output, text in part.ports.items():
                if text:
                    self._beside(text, self._turned((middle + size.ports[output], head + size.along)))
            if part.inside is not None:
                self.pending.append((part.inside, (middle + size.origin[0], head + size.origin[1])))
        for (source, output), strokes in zip(found.sources, found.layout.nets, strict=True):
            self._wire(level, level.parts[source], output, strokes, origin)

    def _wire(self, level: Level, source: Part, output: int, strokes: list[Stroke], origin: Point) -> None:
        def moved(point: Point) -> Point:
            return self._turned((point[0] + origin[0], point[1] + origin[1]))

        turned = [Stroke(*map(moved, (s.begin, s.leave, s.enter, s.end)), s.box) for s in strokes]  # type: ignore[arg-type]
        tips = [s.end for s in turned if s.box is not None and level.parts[s.box].kind != "exit"]
        self.diagram.wires.append(Wire(source.given[output], turned, list(dict.fromkeys(tips))))

    def _beside(self, text: str, port: Point) -> None:
        x, y = port
        place = {
            "TB": Text(text, x + PORT, y + BESIDE_ROW - 3),
            "BT": Text(text, x + PORT, y - 5),
            "LR": Text(text, x + PORT, y - 5),
            "RL": Text(text, x - PORT, y - 5, before=True),
        }
        self.diagram.texts.append(place[self.diagram.rankdir])

    def _turned(self, point: Point) -> Point:
        across, along = point
        places = {"TB": (across, along), "BT": (across, self.along - along)}
        places |= {"LR": (along, across), "RL": (self.along - along, across)}
        return places[self.diagram.rankdir]

"""A layered drawing: boxes in ranks, and lines that pass between boxes.

A line runs straight down beside the boxes of a rank and bends only between two ranks, where no box is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torchkeras.visualization.layered.columns import columns
from torchkeras.visualization.layered.order import order
from torchkeras.visualization.layered.ranks import Cell, Net, Ranked, ranked

LEAST, MOST = 26, 90  # between two ranks
SLOPE = 0.14  # of that, for each unit that a line goes across

LOWERED = 12  # how far a box is moved to the middle of its rank, which may be deep

Point = tuple[float, float]  # across, along


@dataclass(frozen=True)
class Stroke:
    """A part of a line: straight from `begin` to `leave`, bent to `enter`, straight to `end`, at a box or in a lane."""

    begin: Point
    leave: Point
    enter: Point
    end: Point
    box: int | None


@dataclass(frozen=True)
class Layout:
    """Where the middle of each box's upper side is, the strokes of each net and the sides of all."""

    boxes: list[Point]
    nets: list[list[Stroke]]
    left: float
    right: float
    depth: float


def layout(
    cells: Sequence[Cell], nets: Sequence[Net], first: Collection[int] = (), last: Collection[int] = ()
) -> Layout:
    """Find a place for each box and a way for each net. See `ranked` for the order that boxes must have."""
    drawing = ranked(cells, nets, first, last)
    order(drawing)
    across = columns(drawing)
    tops, depths = _bands(drawing, across)
    heads, feet = _sides(drawing, tops, depths)
    strokes: list[list[Stroke]] = [[] for _ in nets]
    number = {point: index for index, rank in enumerate(drawing.ranks) for point in rank}
    for link in drawing.links:
        begin, end = across[link.upper] + link.leaves, across[link.lower] + link.arrives
        band, below = number[link.upper], number[link.lower]
        is_lane = drawing.is_lane(link.lower)
        strokes[link.net].append(
            Stroke(
                begin=(begin, feet[link.upper] - drawing.cells[link.upper].below),
                leave=(begin, tops[band] + depths[band]),
                enter=(end, tops[below]),
                end=(end, feet[link.lower] if is_lane else heads[link.lower]),
                box=None if is_lane else link.lower,
            )
        )
    points = list(zip(across, drawing.cells, strict=True))
    left = min((place - cell.before for place, cell in points), default=0.0)
    right = max((place + cell.after for place, cell in points), default=0.0)
    boxes = list(zip(across, heads, strict=True))[: len(cells)]
    return Layout(boxes, strokes, left, right, tops[-1] + depths[-1] if tops else 0.0)


def _sides(drawing: Ranked, tops: Sequence[float], depths: Sequence[float]) -> tuple[list[float], list[float]]:
    """Where each point begins, and where it ends: a lane takes the whole depth of its rank, a box its own."""
    heads, feet = [0.0] * len(drawing.cells), [0.0] * len(drawing.cells)
    for rank, top, depth in zip(drawing.ranks, tops, depths, strict=True):
        for point in rank:
            room = depth if drawing.is_lane(point) else drawing.cells[point].depth
            heads[point] = top + min((depth - room) / 2, LOWERED)
            feet[point] = heads[point] + room
    return heads, feet


def _bands(drawing: Ranked, across: Sequence[float]) -> tuple[list[float], list[float]]:
    """Where each rank begins, and how deep it is. Ranks stand further apart where lines go far across."""
    tops, depths = [], []
    top = 0.0
    for rank in drawing.ranks:
        depths.append(max(drawing.cells[point].depth for point in rank))
        tops.append(top)
        links = (link for point in rank for link in drawing.below[point])
        far = max((abs(across[k.upper] + k.leaves - across[k.lower] - k.arrives) for k in links), default=0.0)
        top += depths[-1] + min(MOST, max(LEAST, LEAST + SLOPE * (far - LEAST)))
    return tops, depths

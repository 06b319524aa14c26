"""Ranks: each box below all that it takes from, and a lane in each rank that a line passes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """The room of a box: how far it reaches across on both sides of its middle, and how deep it is along the ranks.

    `below`: what of its depth is not the box, but room beside the lines that leave it.
    """

    before: float
    after: float
    depth: float
    below: float = 0


LANE = Cell(5, 5, 0)
GAP = 22  # between boxes of a rank
LANES = 6  # beside a lane


@dataclass(frozen=True)
class Net:
    """What leaves a box at one place, and all places where it arrives; places are seen from the middle of a box."""

    source: int
    offset: float
    targets: Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Link:
    """A piece of a net, from one rank to the next."""

    upper: int
    lower: int
    leaves: float
    arrives: float
    net: int


@dataclass
class Ranked:
    """Boxes, then lanes, rank by rank, and the links between them."""

    cells: list[Cell]
    boxes: int
    ranks: list[list[int]]
    links: list[Link] = field(default_factory=list)
    above: list[list[Link]] = field(default_factory=list)
    below: list[list[Link]] = field(default_factory=list)

    def is_lane(self, point: int) -> bool:
        """Whether it is no box."""
        return point >= self.boxes

    def turned(self) -> Ranked:
        """Upside down."""
        links = [Link(link.lower, link.upper, link.arrives, link.leaves, link.net) for link in self.links]
        return joined(self.cells, self.boxes, self.ranks[::-1], links)

    def mirrored(self) -> Ranked:
        """Left for right."""
        links = [Link(link.upper, link.lower, -link.leaves, -link.arrives, link.net) for link in self.links]
        cells = [Cell(cell.after, cell.before, cell.depth, cell.below) for cell in self.cells]
        return joined(cells, self.boxes, [rank[::-1] for rank in self.ranks], links)


def distance(ranked: Ranked, left: int, right: int) -> float:
    """How far two neighbours of a rank are at least from each other, from middle to middle."""
    gap = LANES if ranked.is_lane(left) or ranked.is_lane(right) else GAP
    return ranked.cells[left].after + gap + ranked.cells[right].before


def joined(cells: list[Cell], boxes: int, ranks: list[list[int]], links: list[Link]) -> Ranked:
    """With the links of each point above and below it."""
    above: list[list[Link]] = [[] for _ in cells]
    below: list[list[Link]] = [[] for _ in cells]
    for link in links:
        above[link.lower].append(link)
        below[link.upper].append(link)
    return Ranked(cells, boxes, ranks, links, above, below)


def ranked(cells: Sequence[Cell], nets: Sequence[Net], first: Collection[int], last: Collection[int]) -> Ranked:
    """Boxes in ranks, the `first` in the first one, the `last` in the last. A box takes from those of lower numbers."""
    numbers = rank_numbers(len(cells), nets, first, last)
    ranks: list[list[int]] = [[] for _ in range(max(numbers, default=-1) + 1)]
    for box, number in enumerate(numbers):
        ranks[number].append(box)
    points, links = list(cells), []
    for index, net in enumerate(nets):
        ends: dict[int, list[tuple[int, float]]] = {}
        for target, offset in net.targets:
            ends.setdefault(numbers[target], []).append((target, offset))
        point, offset = net.source, net.offset
        for number in range(numbers[net.source] + 1, max(ends, default=0) + 1):
            links += [Link(point, target, offset, arrives, index) for target, arrives in ends.get(number, ())]
            if number < max(ends):  # all targets further down share a lane
                links.append(Link(point, len(points), offset, 0, index))
                point, offset = len(points), 0
                ranks[number].append(point)
                points.append(LANE)
    return joined(points, len(cells), ranks, links)


def rank_numbers(count: int, nets: Sequence[Net], first: Collection[int], last: Collection[int]) -> list[int]:
    """The rank of each box: the longest way from the first one.

    What hangs from inputs of its own alone stands just above what takes it.
    """
    takes, gives = _neighbours(count, nets)
    numbers, alone = [0] * count, [False] * count
    for box, sources in enumerate(takes):
        numbers[box] = 1 + max((numbers[source] for source in sources), default=-1)
        given_here_alone = all(alone[source] and len(gives[source]) == 1 for source in sources)
        alone[box] = given_here_alone and box not in first
    for box in reversed(range(count)):
        if alone[box] and gives[box]:
            numbers[box] = min(numbers[target] for target in gives[box]) - 1
    bottom = max(numbers, default=0)
    return [bottom if box in last else number for box, number in enumerate(numbers)]


def _neighbours(count: int, nets: Sequence[Net]) -> tuple[list[set[int]], list[list[int]]]:
    """For each box the boxes that it takes from, and those that it gives to."""
    takes: list[set[int]] = [set() for _ in range(count)]
    gives: list[list[int]] = [[] for _ in range(count)]
    for net in nets:
        for target, _ in net.targets:
            takes[target].add(net.source)
            gives[net.source].append(target)
    return takes, gives

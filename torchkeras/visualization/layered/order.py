"""The order of boxes and lanes in each rank, with few crossings of lines.

Each is moved to the mean place of those that it is joined to, rank by rank, down and up again (Sugiyama, Tagawa and
Toda, "Methods for visual understanding of hierarchical system structures", 1981). The best order met is kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from torchkeras.visualization.layered.ranks import Link, Ranked

SWEEPS = 24
PATIENCE = 4  # sweeps without a better order
WORK = 400_000  # points looked at, in all sweeps of a large graph


def order(ranked: Ranked) -> None:
    """Sort each rank."""
    _as_met(ranked)
    best, kept, since = crossings(ranked), [list(rank) for rank in ranked.ranks], 0
    for _ in range(min(SWEEPS, 2 + WORK // (len(ranked.cells) + 1))):
        if best == 0 or since == PATIENCE:
            break
        _sweep(ranked)
        found = crossings(ranked)
        since += 1
        if found < best:
            best, kept, since = found, [list(rank) for rank in ranked.ranks], 0
    ranked.ranks[:] = kept


def crossings(ranked: Ranked) -> int:
    """How often two lines cross."""
    places = _positions(ranked)
    return sum(_crossings(ranked, upper, places) for upper in ranked.ranks[:-1])


def _crossings(ranked: Ranked, upper: list[int], places: list[int]) -> int:
    """Pairs of links that stand in one order above and in the other below, counted by a tree of sums."""
    links = [link for point in upper for link in ranked.below[point]]
    links.sort(key=lambda link: (places[link.upper], link.leaves, places[link.lower], link.arrives))
    arrivals = [(places[link.lower], link.arrives) for link in links]
    number = {arrival: index for index, arrival in enumerate(sorted(set(arrivals)), start=1)}
    sums, found = [0] * (len(number) + 1), 0
    for seen, arrival in enumerate(arrivals):
        place, before = number[arrival], 0
        while place > 0:
            before += sums[place]
            place &= place - 1
        found += seen - before
        place = number[arrival]
        while place < len(sums):
            sums[place] += 1
            place += place & -place
    return found


def _as_met(ranked: Ranked) -> None:
    """The first order: as a walk down from each first box meets them, branch by branch."""
    met: dict[int, None] = {}
    pending = [point for point in reversed(range(ranked.boxes)) if not ranked.above[point]]
    while pending:
        point = pending.pop()
        if point not in met:
            met[point] = None
            pending += [link.lower for link in reversed(ranked.below[point])]
    number = {point: index for index, point in enumerate(met)}
    for rank in ranked.ranks:
        rank.sort(key=number.__getitem__)


def _sweep(ranked: Ranked) -> None:
    places = _positions(ranked)
    for rank in ranked.ranks[1:]:
        _settle(rank, places, {p: _mean(_leaving(link, places) for link in ranked.above[p]) for p in rank})
    for rank in ranked.ranks[-2::-1]:
        _settle(rank, places, {p: _mean(_arriving(link, places) for link in ranked.below[p]) for p in rank})


def _leaving(link: Link, places: list[int]) -> float:
    return places[link.upper] + link.leaves / 1e6  # several lines of one box in the order of their places on it


def _arriving(link: Link, places: list[int]) -> float:
    return places[link.lower] + link.arrives / 1e6


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def _settle(rank: list[int], places: list[int], means: dict[int, float | None]) -> None:
    """Sort by the means; what is joined to nothing keeps its place."""
    moved = iter(sorted((p for p in rank if means[p] is not None), key=lambda p: means[p]))  # type: ignore[arg-type]
    rank[:] = [p if means[p] is None else next(moved) for p in rank]
    for place, point in enumerate(rank):
        places[point] = place


def _positions(ranked: Ranked) -> list[int]:
    places = [0] * len(ranked.cells)
    for rank in ranked.ranks:
        for place, point in enumerate(rank):
            places[point] = place
    return places

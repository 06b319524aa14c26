"""Lines that go too far, cut in two: a box at each end names the other.

A line takes room in each rank that it passes. Where thousands of lines pass hundreds of ranks, no one could follow
them, and to place them would take minutes.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchkeras.visualization.layered.ranks import Net, rank_numbers
from torchkeras.visualization.parts import Level, Part

PASSED = 1000  # ranks that all lines may pass together
PASSED_EACH = 4  # or, in a large graph, so many for each box


def cut(level: Level) -> None:
    """Cut the longest lines of a level, if there are too many."""
    nets = _nets(level)
    numbers = rank_numbers(len(level.parts), nets, level.entries, level.exits)
    far = _farthest(level, nets, numbers)
    if far is None:
        return
    begins: list[Part] = []  # they come first, so all other numbers grow
    ends: dict[tuple[int, int], list[str]] = {}
    for number, part in enumerate(level.parts):
        long = [index for index, (source, _) in enumerate(part.takes) if numbers[number] - numbers[source] > far]
        for index in long:
            ends.setdefault(part.takes[index], []).append(part.label)
        for group in _groups(part, long):
            begins.append(_begin(level, [part.takes[index] for index in group]))
            part.takes[group[0]] = (-len(begins), 0)
        if part.inside is None:
            part.takes = [source for index, source in enumerate(part.takes) if index not in set(long[1:])]
    _renumber(level, begins)
    level.parts += [_end(names, (source + len(begins), output)) for (source, output), names in ends.items()]


def _groups(part: Part, long: list[int]) -> list[list[int]]:
    """Those of a part's inputs from afar, by their places, that come from one box each.

    All those of a layer do; the inputs of a model inside arrive at places of their own.
    """
    if part.inside is not None:
        return [[index] for index in long]
    return [long] if long else []


def _begin(level: Level, sources: Sequence[tuple[int, int]]) -> Part:
    """The box that stands for what is far above."""
    given = [level.parts[source].given[output] for source, output in sources]
    beside = level.parts[sources[0][0]].ports[sources[0][1]] if len(sources) == 1 else ""
    name = f"from {_told([level.parts[source].label for source, _ in sources])}"
    return Part("ends", name, title=f"from {', '.join(given)}", ports={0: beside}, given={0: name})


def _end(names: list[str], source: tuple[int, int]) -> Part:
    """The box that stands for what is far below."""
    return Part("ends", f"to {_told(names)}", title=f"to {', '.join(names)}", takes=[source])


def _told(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} layers"


def _nets(level: Level) -> list[Net]:
    targets: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for number, part in enumerate(level.parts):
        for source in part.takes:
            targets.setdefault(source, []).append((number, 0))
    return [Net(source, 0, ends) for (source, _), ends in targets.items()]


def _farthest(level: Level, nets: Sequence[Net], numbers: Sequence[int]) -> int | None:
    """How many ranks a line may go down, if not all lines may."""
    spans = [[numbers[target] - numbers[net.source] for target, _ in net.targets] for net in nets]
    most = max(PASSED, PASSED_EACH * len(level.parts))
    far = longest = max((max(each) for each in spans), default=0)
    while far > 1 and sum(max((span for span in each if span <= far), default=1) - 1 for each in spans) > most:
        far //= 2
    return None if far == longest else far


def _renumber(level: Level, begins: list[Part]) -> None:
    """Put new parts before all others."""
    by = len(begins)
    for part in level.parts:
        part.takes = [(-source - 1 if source < 0 else source + by, output) for source, output in part.takes]
    level.parts[:0] = begins
    level.entries[:] = [number + by for number in level.entries]
    level.exits[:] = [number + by for number in level.exits]

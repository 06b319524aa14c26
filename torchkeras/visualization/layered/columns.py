"""Where each box and lane lies across, so that lines are straight where they can be.

Points that are joined stand below each other in a column; columns are put as close as the boxes allow. This is done
four times, from each corner, and each point takes the mean of the four places (Brandes and Köpf, "Fast and simple
horizontal coordinate assignment", 2001). Long columns that cannot pass each other push a large graph apart: where the
drawing becomes much wider than its widest rank, columns are short instead, and more lines bend.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf

from torchkeras.visualization.layered.ranks import Link, Ranked, distance

WIDE = 3  # times the widest rank
SHORT = 8  # ranks that a column of a drawing goes through that would be wider


def columns(ranked: Ranked) -> list[float]:
    """The place of the middle of each point."""
    bent = _bent(ranked)
    places = _mean_places(ranked, bent, longest=len(ranked.ranks))
    needed = max((_width(ranked, rank) for rank in ranked.ranks), default=0.0)
    left, right = _sides(ranked, places)
    return places if right - left <= WIDE * needed else _mean_places(ranked, bent, longest=SHORT)


def _width(ranked: Ranked, rank: list[int]) -> float:
    """Of a rank whose points are as close as they may be."""
    ends = ranked.cells[rank[0]].before + ranked.cells[rank[-1]].after
    return ends + sum(distance(ranked, left, right) for left, right in pairwise(rank))


def _mean_places(ranked: Ranked, bent: set[tuple[int, int]], longest: int) -> list[float]:
    """The place of each point by columns of at most `longest` ranks."""
    found = []
    for turned in (ranked, ranked.turned()):
        for mirrored in (False, True):
            view = turned.mirrored() if mirrored else turned
            places = _places(view, lambda link: _ends(link) in bent, longest)
            found.append([-place for place in places] if mirrored else places)
    _align(found, ranked)
    return [sum(four) / 4 for four in zip(*found, strict=True)]


def _ends(link: Link) -> tuple[int, int]:
    return min(link.upper, link.lower), max(link.upper, link.lower)


def _bent(ranked: Ranked) -> set[tuple[int, int]]:
    """Links that give way: those of `_bent_at_boxes`, and those that cross a lane."""
    bent = _bent_at_boxes(ranked)
    place = {point: index for rank in ranked.ranks for index, point in enumerate(rank)}
    for upper, lower in pairwise(ranked.ranks):
        bent |= _crossing_lanes(ranked, len(upper), lower, place)
    return bent


def _bent_at_boxes(ranked: Ranked) -> set[tuple[int, int]]:
    """Links to a box where a line ends, next to boxes where it goes on; both ends of a lane that passes boxes in line
    with its ends.
    """
    bent = set()
    aside: set[int] = set()  # nets whose first lane begins beside a box
    for link in ranked.links:  # from above, net by net
        from_lane, to_lane = ranked.is_lane(link.upper), ranked.is_lane(link.lower)
        if to_lane:
            gives_way = not from_lane and not _to_lanes(ranked, link.upper)
            aside.update([link.net] * gives_way)
        else:
            ends = not ranked.below[link.lower] and _goes_on(ranked, link.upper)
            gives_way = ends or (from_lane and link.net in aside and not _from_lanes(ranked, link.lower))
        if gives_way:
            bent.add(_ends(link))
    return bent


def _from_lanes(ranked: Ranked, box: int) -> bool:
    return all(ranked.is_lane(link.upper) for link in ranked.above[box])


def _goes_on(ranked: Ranked, point: int) -> bool:
    return any(ranked.below[link.lower] for link in ranked.below[point])


def _to_lanes(ranked: Ranked, box: int) -> bool:
    return all(ranked.is_lane(link.lower) for link in ranked.below[box])


def _crossing_lanes(ranked: Ranked, width: int, lower: list[int], place: dict[int, int]) -> set[tuple[int, int]]:
    bent = set()
    left, begun = -1, 0
    for index, point in enumerate(lower):
        lane = next((k.upper for k in ranked.above[point] if ranked.is_lane(k.upper) and ranked.is_lane(point)), None)
        if lane is None and index < len(lower) - 1:
            continue
        right = width if lane is None else place[lane]
        for other in lower[begun : index + 1]:
            bent |= {_ends(link) for link in ranked.above[other] if not left <= place[link.upper] <= right}
        begun, left = index + 1, right
    return bent


def _places(view: Ranked, is_bent: Callable[[Link], bool], longest: int) -> list[float]:
    root, shift = _columns(view, is_bent, longest)
    follows, needed = _neighbours(view, root, shift)
    order = _sorted(root, follows, needed)
    place = dict.fromkeys(order, 0.0)
    for column in order:
        for right, apart in follows[column].items():
            place[right] = max(place[right], place[column] + apart)
    for column in reversed(order):  # close to what stands on the right, where there is room
        room = min((place[right] - apart for right, apart in follows[column].items()), default=inf)
        if room != inf:
            place[column] = max(place[column], room)
    return [place[root[point]] + shift[point] for point in range(len(view.cells))]


def _columns(view: Ranked, is_bent: Callable[[Link], bool], longest: int) -> tuple[list[int], list[float]]:
    """The topmost point of each one's column, and how far to the side of it the point is."""
    root, shift, length = list(range(len(view.cells))), [0.0] * len(view.cells), [1] * len(view.cells)
    place = {point: index for rank in view.ranks for index, point in enumerate(rank)}
    for rank in view.ranks[1:]:
        taken = -1
        for point in rank:
            links = sorted(view.above[point], key=lambda link: (place[link.upper], link.leaves))
            links = [link for link in links if not is_bent(link)]
            for link in links[(len(links) - 1) // 2 : len(links) // 2 + 1]:
                has_room = length[root[link.upper]] < longest
                if root[point] == point and place[link.upper] > taken and has_room:
                    root[point], taken = root[link.upper], place[link.upper]
                    length[root[point]] += 1
                    shift[point] = shift[link.upper] + link.leaves - link.arrives
    return root, shift


def _neighbours(view: Ranked, root: list[int], shift: list[float]) -> tuple[list[dict[int, float]], list[int]]:
    """For each column those on its right with the distance that they need, and how many are on its left."""
    follows: list[dict[int, float]] = [{} for _ in view.cells]
    needed = [0] * len(view.cells)
    for rank in view.ranks:
        for left, right in pairwise(rank):
            apart = distance(view, left, right) + shift[left] - shift[right]
            known = follows[root[left]].get(root[right])
            needed[root[right]] += known is None
            follows[root[left]][root[right]] = apart if known is None else max(known, apart)
    return follows, needed


def _sorted(root: list[int], follows: list[dict[int, float]], needed: list[int]) -> list[int]:
    """The columns from left to right."""
    order = [point for point, top in enumerate(root) if point == top and not needed[point]]
    for column in order:
        for right in follows[column]:
            needed[right] -= 1
            if not needed[right]:
                order.append(right)
    return order


def _align(found: list[list[float]], ranked: Ranked) -> None:
    """Move the four drawings above each other: by their left sides, or right ones, to the narrowest."""
    narrow = min((_sides(ranked, places) for places in found), key=lambda ends: ends[1] - ends[0])
    for index, places in enumerate(found):
        side = index % 2
        move = narrow[side] - _sides(ranked, places)[side]
        places[:] = [place + move for place in places]


def _sides(ranked: Ranked, places: list[float]) -> tuple[float, float]:
    """The left side of all, and the right one."""
    lefts = (place - cell.before for place, cell in zip(places, ranked.cells, strict=True))
    rights = (place + cell.after for place, cell in zip(places, ranked.cells, strict=True))
    return min(lefts, default=0.0), max(rights, default=0.0)

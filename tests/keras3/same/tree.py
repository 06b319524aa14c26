"""Cases of `keras.tree`. Dicts within dicts are left out: genuine Keras on torch does not sort their keys."""

from collections import OrderedDict, defaultdict, deque, namedtuple

Point = namedtuple("Point", ["x", "y"])  # the plainest
Other = namedtuple("Other", ["x", "y"])


class Listed(list):
    """A list of a class of its own is a leaf."""


STRUCTURES = {
    "leaf": 1,
    "none": None,
    "text": "text",
    "empty list": [],
    "empty tuple": (),
    "empty dict": {},
    "list": [1, 2, 3],
    "one": [1],
    "nested": [1, (2, [3, [4]], ()), [[[5]]]],
    "dict": {"b": 1, "a": 2, "c": (3, 4)},
    "numbers as keys": {10: "a", 2: "b"},
    "ordered": OrderedDict([("b", 1), ("a", [2, 3])]),
    "default": defaultdict(list, {"b": 1, "a": [2, None]}),
    "deque": deque([1, [2, 3]]),
    "point": Point(1, [2, 3]),
    "points": [Point(1, 2), Point(Point(3, 4), None)],
    "mixed": [{"b": 1, "a": None}, (OrderedDict([("z", 2), ("y", 3)]), Point({"q": 4, "p": 5}, deque([6])))],
    "none inside": [None, {"a": None}, (None, 1)],
    "sets": [{1}, frozenset()],
    "shapes": [(None, 3), {"b": [2, 3], "a": ()}],
}


def said(value):
    """A structure as text, with its kinds and its dicts in order of their keys."""
    kind = type(value).__name__
    if isinstance(value, (list, tuple, deque)):
        return f"{kind}({', '.join(map(said, value))})"
    if isinstance(value, dict):
        keys = list(value) if isinstance(value, OrderedDict) else sorted(value)
        return f"{kind}({', '.join(f'{key!r}: {said(value[key])}' for key in keys)})"
    return repr(value)


def of_all(function):
    return {name: function(structure) for name, structure in STRUCTURES.items()}


def refused(function, *args, **kwargs):
    """The kind of error, or None."""
    try:
        function(*args, **kwargs)
    except (TypeError, ValueError) as error:
        return type(error).__name__
    return None


def case_is_nested(keras):
    return [of_all(keras.tree.is_nested), keras.tree.is_nested(Listed([1])), keras.tree.is_nested(range(3))]


def case_flatten(keras):
    return of_all(lambda each: said(keras.tree.flatten(each)))


def case_flatten_with_path(keras):
    return of_all(lambda each: said(keras.tree.flatten_with_path(each)))


def case_map_structure(keras):
    return [
        of_all(lambda each: said(keras.tree.map_structure(lambda leaf: [leaf], each))),
        of_all(lambda each: said(keras.tree.map_structure(lambda one, other: (one, other), each, each))),
        of_all(lambda each: said(keras.tree.map_structure(lambda leaf: [leaf], each, none_is_leaf=False))),
        said(keras.tree.map_structure(lambda *leaves: leaves, {"b": 1, "a": 2}, OrderedDict(a=3, b=4))),
    ]


def case_map_structure_refuses(keras):
    def pair(one, other):
        return one, other

    call = keras.tree.map_structure
    return [
        refused(call, pair, [1, 2], [1]),
        refused(call, pair, [1, 2], (1, 2)),
        refused(call, pair, {"a": 1}, {"b": 1}),
        refused(call, pair, Point(1, 2), Other(1, 2)),
        refused(call, pair, Point(1, 2), (1, 2)),
        refused(call, pair, [1, [2]], [1, 2]),
        refused(call, pair, [None], [1], none_is_leaf=False),
        refused(call, pair),
        refused(call, pair, {"a": 1}, defaultdict(int, {"a": 1})),
    ]


def case_map_structure_up_to(keras):
    call = keras.tree.map_structure_up_to
    return [
        call([None, None], len, [[1, 1], [2]]),
        call([None, [None, None]], str, [[1, 1], [2, 2]]),
        said(call({"a": 1, "b": 2}, lambda one, other: [one, other], {"b": (1,), "a": 2}, {"a": {}, "b": 3})),
        call(1, len, [1, 2]),
        refused(call, [None, [None, None]], str, [1, 2]),
        refused(call, [None], str, [1, 2]),
        refused(call, [None], str),
    ]


def case_traverse(keras):
    def visited(structure, top_down):
        found = []
        made = keras.tree.traverse(found.append, structure, top_down=top_down)
        return said(made), list(map(said, found))

    def tuples(part):
        return sum(part) if isinstance(part, tuple) and all(isinstance(each, int) for each in part) else None

    def ends(part):
        return keras.tree.MAP_TO_NONE if part == 2 else None

    return [
        of_all(lambda each: visited(each, True)),
        of_all(lambda each: visited(each, False)),
        of_all(lambda each: said(keras.tree.traverse(tuples, each))),
        of_all(lambda each: said(keras.tree.traverse(tuples, each, top_down=False))),
        of_all(lambda each: said(keras.tree.traverse(ends, each))),
        of_all(lambda each: said(keras.tree.traverse(ends, each, top_down=False))),
    ]


def case_pack_sequence_as(keras):
    def packed(each):
        return said(keras.tree.pack_sequence_as(each, range(len(keras.tree.flatten(each)))))

    return [
        of_all(packed),
        said(keras.tree.pack_sequence_as([1, [2]], ["a", ["b", "c"]])),
        refused(keras.tree.pack_sequence_as, [1, 2], [1]),
        refused(keras.tree.pack_sequence_as, [1, 2], [1, 2, 3]),
        refused(keras.tree.pack_sequence_as, [1, 2], 1),
    ]


def case_assert_same_structure(keras):
    def against(one):
        return {name: refused(keras.tree.assert_same_structure, one, other) for name, other in STRUCTURES.items()}

    return of_all(against)


def case_assert_same_paths(keras):
    def against(one):
        return {name: refused(keras.tree.assert_same_paths, one, other) for name, other in STRUCTURES.items()}

    return of_all(against)


def case_lists_to_tuples(keras):
    return [of_all(lambda each: said(keras.tree.lists_to_tuples(each))), keras.tree.lists_to_tuples(Listed([1, 2]))]


def case_map_shape_structure(keras):
    return of_all(lambda each: said(keras.tree.map_shape_structure(lambda shape: f"<{shape}>", each)))

"""`keras.tree`: functions on nested structures, such as lists of dictionaries of tensors.

A structure is a list, tuple, named tuple, deque, dict, `OrderedDict` or `defaultdict`, or of a class that is registered
with `torch.utils._pytree`; all else, None and objects of classes derived from these too, is a leaf. A dict and a
`defaultdict` are walked in the order of their sorted keys, an `OrderedDict` in its own. A list, tuple or dict of layers
that is an attribute of a layer counts as a plain one.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from torch.utils import _pytree

from torchkeras.base.fixed_lists import FixedList
from torchkeras.engine.adapters.tracked import KINDS, Tracked

__all__ = [
    "MAP_TO_NONE",
    "assert_same_paths",
    "assert_same_structure",
    "flatten",
    "flatten_with_path",
    "is_nested",
    "lists_to_tuples",
    "map_shape_structure",
    "map_structure",
    "map_structure_up_to",
    "pack_sequence_as",
    "traverse",
]

Path = tuple[Any, ...]

PLAIN: Mapping[type, Callable[[Any], Any]] = {tracked: plain for plain, tracked in KINDS.items()}
DICTS = (dict, OrderedDict, defaultdict)
OTHER = "the structures are not nested in the same way: "


class MAP_TO_NONE:  # noqa: N801  # Keras's name
    """What the function of `traverse` returns to put None in place of a part."""


class _Node(NamedTuple):
    """A structure of one level: the keys and the values of its parts, and the structure of other parts."""

    value: Any
    keys: list[Any]
    parts: list[Any]
    rebuilt: Callable[[Iterable[Any]], Any]


def _node(structure: Any) -> _Node | None:
    """The parts of a structure; None of a leaf."""
    if isinstance(structure, Tracked):
        structure = PLAIN[type(structure)](structure)
    elif isinstance(structure, FixedList):  # such as the weights of a model
        structure = list(structure)
    if type(structure) in (dict, defaultdict):
        keys = sorted(structure)
        return _Node(structure, keys, [structure[key] for key in keys], lambda parts: _dict(structure, keys, parts))
    parts, form = _pytree.tree_flatten(structure, is_leaf=lambda each: each is not structure)
    if len(parts) == 1 and parts[0] is structure:
        return None
    keys = list(structure) if type(structure) is OrderedDict else list(range(len(parts)))
    return _Node(structure, keys, parts, lambda parts: _pytree.tree_unflatten(list(parts), form))


def _dict(like: Mapping[Any, Any], keys: list[Any], parts: Iterable[Any]) -> Any:
    """A dict of a kind, with its keys in the order in which the other one was written."""
    values = dict(zip(keys, parts, strict=True))
    written = {key: values[key] for key in like}
    return defaultdict(like.default_factory, written) if isinstance(like, defaultdict) else written


def is_nested(structure: Any) -> bool:
    """Whether it is a structure, even an empty one, and no leaf.

    Arguments:
        structure (any): what is asked about.

    Example:
        >>> is_nested({"a": 1}), is_nested(1), is_nested(None)
        (True, False, False)

    Source: https://keras.io/api/utils/tree/
    """
    return _node(structure) is not None


# --- flat ------------------------------------------------------------------------------------------------------------


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, in order.

    Arguments:
        structure (any): the structure, or a leaf.

    Errors:
        TypeError: a dict has keys that cannot be sorted.

    Example:
        >>> flatten({"b": [1, 2], "a": None})
        [None, 1, 2]

    Source: https://keras.io/api/utils/tree/
    """
    return [leaf for _, leaf in _leaves(structure, ())]


def flatten_with_path(structure: Any) -> list[tuple[Path, Any]]:
    """The leaves of a structure in order, each with its path: a tuple of keys and of places in sequences.

    Arguments:
        structure (any): the structure, or a leaf.

    Errors:
        TypeError: a dict has keys that cannot be sorted.

    Example:
        >>> flatten_with_path([{"a": 1}, 2])
        [((0, 'a'), 1), ((1,), 2)]

    Source: https://keras.io/api/utils/tree/
    """
    return list(_leaves(structure, ()))


def _leaves(structure: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    node = _node(structure)
    if node is None:
        yield path, structure
        return
    for key, part in zip(node.keys, node.parts, strict=True):
        yield from _leaves(part, (*path, key))


def pack_sequence_as(structure: Any, flat_sequence: Iterable[Any]) -> Any:
    """The structure with other leaves: the inverse of `flatten`.

    Arguments:
        structure (any): the structure.
        flat_sequence (iterable): its new leaves, in order.

    Errors:
        TypeError: the leaves are not iterable.
        ValueError: there are more or fewer leaves than the structure has.

    Example:
        >>> pack_sequence_as({"b": [0, 0], "a": 0}, [1, 2, 3])
        {'b': [2, 3], 'a': 1}

    Source: https://keras.io/api/utils/tree/
    """
    leaves = list(flat_sequence)
    count = len(flatten(structure))
    if len(leaves) != count:
        raise ValueError(f"pack_sequence_as: the structure has {count} leaves; found {len(leaves)} for it.")
    following = iter(leaves)
    return _mapped(lambda leaf: next(following), structure)


# --- changed ---------------------------------------------------------------------------------------------------------


def _mapped(func: Callable[[Any], Any], structure: Any, is_leaf: Callable[[Any], bool] = lambda part: False) -> Any:
    node = None if is_leaf(structure) else _node(structure)
    if node is None:
        return func(structure)
    return node.rebuilt([_mapped(func, part, is_leaf) for part in node.parts])


def map_structure(func: Callable[..., Any], *structures: Any, none_is_leaf: bool = True) -> Any:
    """The structure with `func` of the leaves of one or several structures that are nested in the same way.

    Arguments:
        func (function): takes a leaf of each structure.
        *structures (any): the structures.
        none_is_leaf (bool, default True): give None to `func` like other leaves; False leaves it as it is.

    Errors:
        TypeError: `func` cannot be called.
        ValueError: there is no structure, or they are nested in other ways.

    Example:
        >>> map_structure(lambda a, b: a + b, [1, {"x": 2}], [10, {"x": 20}])
        [11, {'x': 22}]

    Source: https://keras.io/api/utils/tree/
    """
    _check_call("map_structure", func, structures)

    def of_leaves(*leaves: Any) -> Any:
        if not none_is_leaf and leaves[0] is None:
            if any(leaf is not None for leaf in leaves):
                raise ValueError(f"map_structure: {OTHER}None stands where another has {leaves[1:]!r:.200}.")
            return None
        return func(*leaves)

    return _mapped_together("map_structure", of_leaves, structures, is_exact=True)


def map_structure_up_to(shallow_structure: Any, func: Callable[..., Any], *structures: Any) -> Any:
    """The shallow structure with `func` of what the structures have in place of its leaves.

    Arguments:
        shallow_structure (any): the structure of the result.
        func (function): takes a part of each structure.
        *structures (any): structures that are nested like the shallow one, and may go on below its leaves.

    Errors:
        TypeError: `func` cannot be called.
        ValueError: there is no structure, or one is nested in another way.

    Example:
        >>> map_structure_up_to([None, None], len, [[1, 1], [2]])
        [2, 1]

    Source: https://keras.io/api/utils/tree/
    """
    _check_call("map_structure_up_to", func, structures)
    together = (shallow_structure, *structures)
    return _mapped_together("map_structure_up_to", lambda shallow, *parts: func(*parts), together, is_exact=False)


def _check_call(called: str, func: Any, structures: tuple[Any, ...]) -> None:
    if not callable(func):
        raise TypeError(f"{called}: func must be a function; found {func!r}.")
    if not structures:
        raise ValueError(f"{called}: it takes at least one structure.")


def _mapped_together(called: str, func: Callable[..., Any], structures: tuple[Any, ...], is_exact: bool) -> Any:
    """The first structure with `func` of the leaves. `is_exact`: where it has a leaf, so have the others."""
    first, *others = map(_node, structures)
    if first is None:
        if is_exact and any(others):
            found = next(other.value for other in others if other is not None)
            raise ValueError(f"{called}: {OTHER}a leaf stands where another has {found!r:.200}.")
        return func(*structures)
    columns = [
        first.parts,
        *(_parts_in_order(called, first, other, whole) for other, whole in zip(others, structures[1:], strict=True)),
    ]
    return first.rebuilt([_mapped_together(called, func, row, is_exact) for row in zip(*columns, strict=True)])


def _parts_in_order(called: str, first: _Node, other: _Node | None, whole: Any) -> list[Any]:
    """The parts of another structure in the order of the first. Raises ValueError where it is of another kind."""
    if other is None:
        raise ValueError(f"{called}: {OTHER}{whole!r:.200} stands where another has {first.value!r:.200}.")
    dicts = type(first.value) in DICTS and type(other.value) in DICTS
    if not (dicts or type(first.value) is type(other.value)) or set(first.keys) != set(other.keys):
        raise ValueError(f"{called}: {OTHER}{other.value!r:.200} stands where another has {first.value!r:.200}.")
    by_key = dict(zip(other.keys, other.parts, strict=True))
    return [by_key[key] for key in first.keys]


def map_shape_structure(func: Callable[[Any], Any], structure: Any) -> Any:
    """The structure with `func` of its shapes: tuples and lists of whole numbers and None.

    Arguments:
        func (function): takes a shape, or another leaf.
        structure (any): the structure, or a shape.

    Errors:
        TypeError: `func` cannot be called.

    Example:
        >>> map_shape_structure(len, {"a": (None, 3), "b": [(2,), ()]})
        {'a': 2, 'b': [1, 0]}

    Source: https://keras.io/api/utils/tree/
    """
    _check_call("map_shape_structure", func, (structure,))
    return _mapped(func, structure, _is_shape)


def _is_shape(part: Any) -> bool:
    return isinstance(part, (list, tuple)) and all(size is None or isinstance(size, int) for size in part)


def lists_to_tuples(structure: Any) -> Any:
    """The structure with tuples in place of lists.

    Arguments:
        structure (any): the structure, or a leaf.

    Example:
        >>> lists_to_tuples([1, {"a": [2]}])
        (1, {'a': (2,)})

    Source: https://keras.io/api/utils/tree/
    """
    return traverse(lambda part: tuple(part) if isinstance(part, list) else None, structure, top_down=False)


def traverse(func: Callable[[Any], Any], structure: Any, top_down: bool = True) -> Any:
    """The structure with what `func` returns in place of its parts, itself and its leaves too.

    Where `func` returns None the part stays, and where it returns `MAP_TO_NONE` it becomes None.

    Arguments:
        func (function): takes a part.
        structure (any): the structure, or a leaf.
        top_down (bool, default True): visit a part before what is in it, and go into it where `func` returns None;
            False visits what is in it first, and gives `func` the part that this makes.

    Errors:
        TypeError: `func` cannot be called.

    Example:
        >>> traverse(lambda part: sum(part) if isinstance(part, tuple) else None, [(1, 2), {"a": (3, 4)}])
        [3, {'a': 7}]

    Source: https://keras.io/api/utils/tree/
    """
    _check_call("traverse", func, (structure,))
    if top_down:
        found = func(structure)
        return _inside(func, structure, top_down) if found is None else _or_none(found)
    made = _inside(func, structure, top_down)
    found = func(made)
    return made if found is None else _or_none(found)


def _inside(func: Callable[[Any], Any], structure: Any, top_down: bool) -> Any:
    """The structure with its parts traversed."""
    node = _node(structure)
    return structure if node is None else node.rebuilt([traverse(func, part, top_down) for part in node.parts])


def _or_none(found: Any) -> Any:
    return None if found is MAP_TO_NONE else found


# --- compared --------------------------------------------------------------------------------------------------------


def assert_same_structure(a: Any, b: Any, check_types: Any = None) -> None:
    """Raise an error where two structures are not nested in the same way: of the same kinds, lengths and keys.

    The kinds of dict are one kind. A list is no tuple, and two named tuples are alike only if they are of one class.

    Arguments:
        a (any): a structure, or a leaf.
        b (any): another one.
        check_types (bool or None, default None): of no effect any more; a warning says so.

    Errors:
        ValueError: they are nested in other ways.

    Example:
        >>> assert_same_structure([(0, 1)], [(2, 3)])

    Source: https://keras.io/api/utils/tree/
    """
    if check_types is not None:
        instead = "" if check_types else " For a check that leaves out the kinds use keras.tree.assert_same_paths."
        warnings.warn(
            f"assert_same_structure: check_types has no effect; leave it out.{instead}",
            DeprecationWarning,
            stacklevel=2,
        )
    _mapped_together("assert_same_structure", lambda *leaves: None, (a, b), is_exact=True)


def assert_same_paths(a: Any, b: Any) -> None:
    """Raise an error where two structures have leaves at other paths; the kinds of sequences may differ.

    Arguments:
        a (any): a structure, or a leaf.
        b (any): another one.

    Errors:
        ValueError: a path is in only one of them; the text names it.

    Example:
        >>> assert_same_paths([0, (1, 2)], (3, [4, 5]))

    Source: https://keras.io/api/utils/tree/
    """
    one, other = ({path for path, _ in _leaves(structure, ())} for structure in (a, b))
    if one != other:
        only = {name: sorted(paths, key=repr) for name, paths in (("a", one - other), ("b", other - one)) if paths}
        said = "; ".join(f"only {name} has {', '.join(map(repr, paths))}" for name, paths in only.items())
        raise ValueError(f"assert_same_paths: the structures have leaves at other paths: {said}.")

"""`keras.tree` where genuine Keras on torch is not as its documentation, classes of one's own, and errors."""

from collections import OrderedDict, namedtuple

import pytest
import torch
from torch.utils import _pytree

from torchkeras.keras3 import tree
from torchkeras.keras3.layers import Dense, Layer
from torchkeras.keras3.models import Sequential

Unsorted = namedtuple("Unsorted", ["y", "x"])


def test_dicts_within_dicts_are_sorted_too():
    """As documented, and shown for `pack_sequence_as`; genuine Keras on torch sorts the outer one alone."""
    structure = {"key3": {"c": ("alpha", "beta"), "a": "gamma"}, "key1": {"e": "val1", "d": "val2"}}
    assert tree.flatten(structure) == ["val2", "val1", "gamma", "alpha", "beta"]
    packed = tree.pack_sequence_as(structure, ["val2", "val1", 3.0, 1.0, 2.0])
    assert packed == {"key3": {"c": (1.0, 2.0), "a": 3.0}, "key1": {"e": "val1", "d": "val2"}}
    assert [path for path, _ in tree.flatten_with_path(structure)][:2] == [("key1", "d"), ("key1", "e")]


def test_paths_of_named_tuples_are_places():
    """As documented; genuine Keras on torch numbers the fields in the order of their names."""
    assert tree.flatten_with_path(Unsorted(1, 2)) == [((0,), 1), ((1,), 2)]
    assert tree.assert_same_paths(Unsorted(1, [2]), (3, (4,))) is None


def test_all_structures_must_be_as_deep():
    """As documented; genuine Keras on torch gives the function what goes on below a leaf of the first."""
    with pytest.raises(ValueError, match="not nested in the same way: a leaf stands where another has"):
        tree.map_structure(lambda one, other: one, [1], [[2]])


def test_a_dict_keeps_the_order_in_which_it_was_written():
    assert list(tree.map_structure(str, {"b": 1, "a": 2})) == ["b", "a"]
    assert list(tree.pack_sequence_as({"b": 1, "a": 2}, [1, 2]).items()) == [("b", 2), ("a", 1)]
    assert isinstance(tree.lists_to_tuples(OrderedDict(a=[1])), OrderedDict)


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right


_pytree.register_pytree_node(Pair, lambda pair: ([pair.left, pair.right], None), lambda parts, _: Pair(*parts))


def test_classes_registered_with_torch_are_structures():
    found = tree.map_structure(lambda leaf: leaf + 1, [Pair(1, {"a": 2})])
    assert (found[0].left, found[0].right) == (2, {"a": 3})
    assert tree.flatten_with_path(Pair(1, (2,))) == [((0,), 1), ((1, 0), 2)]


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_compiled_in_one_graph():
    def double(structure):
        return tree.map_structure(lambda x: 2 * x, structure), sum(tree.flatten(structure))

    compiled = torch.compile(double, fullgraph=True, backend="eager")
    made, total = compiled({"b": torch.ones(2), "a": [torch.ones(2), torch.ones(2)]})
    assert made["a"][0].tolist() == [2, 2]
    assert total.tolist() == [3, 3]  # type: ignore[attr-defined]


def test_check_types_warns():
    with pytest.warns(DeprecationWarning, match="check_types has no effect; leave it out.$"):
        tree.assert_same_structure([1], [2], check_types=True)
    with pytest.warns(DeprecationWarning, match="leaves out the kinds use keras.tree.assert_same_paths"):
        tree.assert_same_structure([1], [2], check_types=False)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tree.map_structure(1, [1]), TypeError, "map_structure: func must be a function; found 1"),
        (lambda: tree.traverse(None, [1]), TypeError, "traverse: func must be a function; found None"),
        (lambda: tree.map_structure(str), ValueError, "map_structure: it takes at least one structure"),
        (lambda: tree.pack_sequence_as([1, 2], [1]), ValueError, "the structure has 2 leaves; found 1 for it"),
        (
            lambda: tree.assert_same_structure([1, (2,)], [1, [2]]),
            ValueError,
            r"assert_same_structure: .* in the same way: \[2\] stands where another has \(2,\)",
        ),
        (
            lambda: tree.map_structure_up_to([[None]], str, [1]),
            ValueError,
            r"map_structure_up_to: .*: 1 stands where another has \[None\]",
        ),
        (
            lambda: tree.map_structure(lambda *_: 0, [None], [3], none_is_leaf=False),
            ValueError,
            r"map_structure: .*: None stands where another has \(3,\)",
        ),
        (
            lambda: tree.assert_same_paths({"a": 1, "b": 2}, {"a": 1, "c": 2}),
            ValueError,
            r"only a has \('b',\); only b has \('c',\)",
        ),
        (lambda: tree.flatten({1: 0, "a": 0}), TypeError, "not supported between"),
    ],
)
def test_errors(call, error, message: str):
    with pytest.raises(error, match=message):
        call()


def test_a_list_or_dict_of_layers_that_a_layer_has_is_a_structure():
    class Layers(Layer):
        def __init__(self):
            super().__init__()
            self.several, self.named = [Dense(1), (Dense(2),)], {"b": Dense(3), "a": None}

    layer = Layers()
    assert [each.units for each in tree.flatten(layer.several)] == [1, 2]
    assert [path for path, _ in tree.flatten_with_path(layer.named)] == [("a",), ("b",)]
    assert tree.map_structure(lambda each: each.units, layer.several) == [1, (2,)]
    tree.assert_same_structure(layer.several, [0, (0,)])


def test_the_weights_of_a_model_are_leaves():
    model = Sequential([Dense(2)])
    model.build((1, 3))
    paths = [each.path for each in tree.flatten(list(model.weights))]
    assert [each.path for each in tree.flatten(model.weights)] == paths
    assert tree.map_structure(lambda each: each.path, model.trainable_variables) == paths

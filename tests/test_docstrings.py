"""Docstrings of what is public: every option explained, with its default, and an example that runs."""

import ast
import doctest
import inspect
import re
from typing import Any, cast

import numpy as np
import pytest
import torch

import torchkeras
from tests import tracker_stand_ins
from torchkeras import (
    Model,
    Sequential,
    activations,
    callbacks,
    config,
    constraints,
    initializers,
    layers,
    losses,
    metrics,
    mixed_precision,
    models,
    optimizers,
    registry,
    regularizers,
    sklearn,
    utils,
)
from torchkeras.base import docstrings
from torchkeras.optimizers import schedules

# The families whose docstrings are held, with the names that their examples may use beside `np` and `torch`.
FAMILIES = {
    "layers": layers,
    "losses": losses,
    "metrics": metrics,
    "optimizers": optimizers,
    "schedules": schedules,
    "activations": activations,
    "initializers": initializers,
    "regularizers": regularizers,
    "constraints": constraints,
    "callbacks": callbacks,
    "models": models,
    "sklearn": sklearn,
    "utils": utils,
    "config": config,
    "mixed_precision": mixed_precision,
    "torchkeras": torchkeras,
}
# A class of one of these families, made with values for the options that have no default.
MADE = ("losses", "metrics", "optimizers", "schedules", "initializers", "regularizers", "constraints")
NEEDED: dict[str, Any] = {
    **dict.fromkeys(("specificity", "sensitivity", "recall", "precision"), 0.5),
    **dict.fromkeys(("initial_learning_rate", "decay_steps", "decay_rate", "first_decay_steps"), 0.5),
    "boundaries": [1],
    "values": [0.1, 0.2],
    "num_classes": 2,
    "target_class_ids": [0],
    "fn": losses.hinge,
    "optimizer": torch.optim.SGD,
    "regularizer": "l2",
}
# Their further options are those of the function that they are made of.
WRAPPERS = (losses.LossFunctionWrapper, metrics.MeanMetricWrapper)
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
ENTRY = re.compile(r"(?P<names>[\w, ]+) \((?P<kind>.*?)(?:,? default (?P<default>.*?))?\): ", re.DOTALL)


@pytest.fixture
def _own_place(tmp_path, monkeypatch):
    """A folder for the files of an example, numbers as the CPU's, and custom objects that end with it."""
    monkeypatch.chdir(tmp_path)
    tracker_stand_ins.install(monkeypatch)
    config.set_device("cpu")
    matmul, cudnn = torch.backends.cuda.matmul, cast(Any, torch.backends.cudnn)
    before = matmul.allow_tf32, cudnn.allow_tf32
    with registry.custom_object_scope():
        yield
    matmul.allow_tf32, cudnn.allow_tf32 = before


def public(family: Any) -> dict[str, Any]:
    """The classes and functions of a family, each under the first of its names; of layers without the engine's."""
    offered = () if family is layers else getattr(family, "__all__", ())
    found: dict[int, tuple[str, Any]] = {}
    for name, value in {**vars(family), **{name: getattr(family, name) for name in offered}}.items():
        is_one = (inspect.isclass(value) or inspect.isfunction(value)) and not name.startswith("_")
        if is_one and (value.__module__.startswith(family.__name__) or name in offered):
            found.setdefault(id(value), (name, value))
    return dict(found.values())


CASES = [
    pytest.param(family, value, id=f"{title}.{name}")
    for title, family in FAMILIES.items()
    for name, value in public(family).items()
]


METHODS = {
    value.__qualname__: value
    for cls in (layers.Layer, Model, Sequential)
    for name, value in inspect.getmembers(cls, lambda value: inspect.isfunction(value) or inspect.ismethod(value))
    if not name.startswith("_") and value.__module__.startswith("torchkeras.")
}


def plain(text: str) -> Any:
    """A default as a docstring writes it: a literal's value, or the words."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def said_default(value: Any) -> Any:
    """A default as a docstring may write it: plain data as it is, another object by its name or its words."""
    is_plain = value is None or isinstance(value, (bool, int, float, str, tuple, list))
    return value if is_plain else getattr(value, "__name__", repr(value))


@pytest.mark.parametrize(("family", "value"), CASES)
def test_every_option_is_explained(family, value):
    check_entries(value)


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_every_argument_of_a_method_is_explained(method):
    check_entries(method)


def check_entries(value):
    parameters = [each for each in inspect.signature(value).parameters.values() if each.kind not in VARIADIC]
    parameters = [each for each in parameters if each.name != "self"]
    entries = docstrings.entries(value.__doc__ or "")
    assert [each.name for each in parameters if each.name not in entries] == []
    for each in parameters:
        entry = ENTRY.match(" ".join(entries[each.name].split()))
        assert entry, f"{each.name}: not of the form `name (type, default value): meaning`"
        if each.default is inspect.Parameter.empty:
            assert entry["default"] is None, f"{each.name} has no default"
        else:
            assert entry["default"] is not None, f"{each.name} has a default"
            assert plain(entry["default"]) == said_default(each.default), each.name
    known = {each.name for each in parameters}
    assert [name for name in entries if name not in known and name not in str(inspect.signature(value))] == []


@pytest.mark.parametrize(
    "made_by",
    [
        pytest.param(value, id=f"{title}.{name}")
        for title in MADE
        for name, value in public(FAMILIES[title]).items()
        if inspect.isclass(value)
    ],
)
def test_the_signature_is_what_the_constructor_takes(made_by: Any):
    parameters = inspect.signature(made_by).parameters.values()
    own = [each for each in parameters if each.kind not in VARIADIC]
    assert (len(own) < len(parameters)) is (made_by in WRAPPERS)
    needed = {each.name: NEEDED[each.name] for each in own if each.default is inspect.Parameter.empty}
    every = {each.name: needed.get(each.name, each.default) for each in own}
    in_place = [every[each.name] for each in own if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    rest = dict(list(every.items())[len(in_place) :])
    made = [made_by(**needed), made_by(**every), made_by(*in_place, **rest)]
    kept = [[getattr(each, name, None) for name in every] for each in made]
    assert kept[0] == kept[1] == kept[2]
    with pytest.raises(TypeError):
        made_by(**needed, no_such_option=1)
    with pytest.raises(TypeError):
        made_by(*in_place, None, **rest)


@pytest.mark.parametrize(("family", "value"), CASES)
@pytest.mark.usefixtures("_own_place")
def test_the_example_runs(family, value):
    assert run_examples(family, value), "no example"


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
@pytest.mark.usefixtures("_own_place")
def test_the_example_of_a_method_runs(method):
    has_example = "Example:" in (method.__doc__ or "")
    assert bool(run_examples(models, method)) is has_example


def run_examples(family: Any, value: Any) -> int:
    """The number of examples of a docstring, each of which must do what is written under it."""
    # A module of a user: classes of an example are none of this package.
    names = {**vars(layers), **vars(models), **vars(family), "np": np, "torch": torch, "__name__": __name__}
    text = inspect.getdoc(value) or ""
    found = doctest.DocTestParser().get_doctest(text, names, value.__name__, None, None)
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
        found, out=said.append
    )
    assert failed.failed == 0, "".join(said)
    return failed.attempted


@pytest.mark.parametrize("layer", [layers.Dense, layers.Conv1D])
def test_entries_stand_in_the_order_of_the_options(layer):
    assert list(docstrings.entries(layer.__doc__)) == list(inspect.signature(layer).parameters)[:-1]


def test_entries_of_bases_are_added_to_the_section():
    text = inspect.getdoc(layers.Dense) or ""
    assert text.index("    bias_constraint (") < text.index("\n\nShapes:\n    (batch")


def test_an_entry_says_the_default_of_its_class():
    class Named(losses.Loss):
        """A loss that needs a name."""

        def __init__(self, name, dtype="float64"):
            super().__init__(name, dtype=dtype)

    entries = docstrings.entries(Named.__doc__ or "")
    assert list(entries) == ["name", "dtype"]
    assert entries["name"].startswith("name (text or None): ")
    assert entries["dtype"].startswith('dtype (text, torch.dtype or None, default "float64"): ')

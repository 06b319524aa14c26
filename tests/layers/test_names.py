"""Every name that Keras 1.2.2 and 2.2.4 have in `keras.layers` is here, and takes every argument that it took there."""

import ast
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from torchkeras import layers, registry
from torchkeras.legacy.arguments import layer_arguments
from torchkeras.legacy.names import KEYWORDS, LAYERS, SIGNATURES

SIGNATURES_THERE = json.loads((Path(__file__).parents[1] / "golden" / "keras-layer-signatures.json").read_text())

# Keras's modules show the helpers that they import: these are no layers.
HELPERS = {
    *("conv_input_length", "conv_output_length", "transpose_shape", "time_distributed_dense"),
    *("deserialize_keras_object", "func_dump", "func_load", "get_from_module", "has_arg"),
    *("object_list_uid", "to_list"),
}

# Bases that nobody makes an object of.
ABSTRACT = {"Recurrent", "ConvRecurrent2D"}

# Options of every layer, which `Layer` takes.
COMMON = {"weights", "name", "input_dim", "input_length", "trainable", "dtype", "input_shape", "batch_input_shape"}

EVERY = [
    (version, name, signature)
    for version, found in SIGNATURES_THERE.items()
    for name, signature in found.items()
    if name not in HELPERS
]


def arguments_of(signature: str) -> list[str]:
    """The names of the arguments in a written signature."""
    spec = ast.parse(f"def f{signature}: ...").body[0].args  # type: ignore[attr-defined]
    return [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]


def taken_by(made_by: Any) -> set[str]:
    """The arguments that a layer class or function here takes, under today's and under Keras 1's names."""
    if not isinstance(made_by, type):
        taken = inspect.signature(made_by).parameters.values()
        return {each.name for each in taken if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)}
    known = set(getattr(made_by, "_options", {})) | COMMON
    init = getattr(made_by.__init__, "__wrapped__", made_by.__init__).__code__
    known |= set(init.co_varnames[: init.co_argcount + init.co_kwonlyargcount])
    for cls in made_by.__mro__:
        known |= {argument.partition(">")[0] for argument in SIGNATURES.get(cls.__name__, "").split()}
    return known | set(KEYWORDS.get(made_by.__name__, ()))


@pytest.mark.parametrize("layer", [layers.Highway(), layers.MaxoutDense(3)])
def test_layers_that_keras_2_kept_from_keras_1_have_their_old_options_in_configs(layer: layers.Layer):
    known = {*arguments_of(SIGNATURES_THERE["keras-2.2.4"][layer._class_name]), *COMMON}
    assert sorted(set(layer.get_config()) - known) == []


@pytest.mark.parametrize(("version", "name", "signature"), EVERY, ids=[f"{v}-{n}" for v, n, _ in EVERY])
def test_name_and_arguments(version: str, name: str, signature: str):
    made_by = getattr(layers, name)
    if name in ABSTRACT:
        assert issubclass(made_by, layers.Layer)
        assert made_by.__name__ not in registry.layers
        return
    assert set(arguments_of(signature)) - taken_by(made_by) == set()


@pytest.mark.parametrize("kind", sorted(SIGNATURES))
def test_every_old_argument_becomes_an_option(kind: str):
    made_by = getattr(layers, kind)
    news = {
        new
        for argument in SIGNATURES[kind].split()
        for new in (argument.partition(">")[2] if ">" in argument else argument).split("+")
    }
    assert news - set(made_by._options) - COMMON - {""} == set()


@pytest.mark.parametrize(("old", "new"), LAYERS.items())
def test_old_names_in_python_are_those_in_files(old: str, new: str):
    assert getattr(layers, old) is getattr(layers, new) is registry.layers.find(old)


def test_the_positions_of_keras_2_hold():
    wrong = {}
    for name, signature in SIGNATURES_THERE["keras-2.2.4"].items():
        made_by: Any = getattr(layers, name, None)
        if name in ABSTRACT or not getattr(made_by, "_options", None):
            continue
        there = [a for a in arguments_of(signature) if a not in ("self", "args", "weights")]
        here = list(made_by._options)
        renamed = {a.partition(">")[0] for a in SIGNATURES.get(made_by.__name__, "").split() if ">" in a}
        if here[: len(there)] != there and not set(there) & renamed:
            wrong[name] = (there, here)
    assert wrong == {}


def test_layer_arguments_leaves_todays_calls_alone():
    args, given = layer_arguments(layers.Dense, layers.Dense._options, (3, "relu"), {"use_bias": False})
    assert (args, given) == ((3, "relu"), {"use_bias": False})

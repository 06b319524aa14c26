"""Work grows as the model does: calls of functions, counted for a model and for one twice as large.

Counts, not seconds: they are the same on any machine. What is quadratic has a ratio of 4, what is linear one of 2.
"""

import copy
import cProfile
import gc
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from torchkeras.engine.graph.network import FRAMES
from torchkeras.errors import FileLimitError
from torchkeras.layers import Add, Dense, Input, Layer
from torchkeras.models import Model, Sequential, clone_model, load_model, model_from_json, model_from_yaml
from torchkeras.saving import unsaveable
from torchkeras.saving.containers import json_text
from torchkeras.saving.containers.hdf5_rules import check_count
from torchkeras.saving.containers.limits import Limits
from torchkeras.utils import model_to_dot

Maker = Callable[[int], Any]
X, Y = np.ones((2, 2), "float32"), np.ones((2, 2), "float32")


def first() -> Dense:
    return Dense(2, input_shape=(2,))


def added(size: int) -> Sequential:
    model = Sequential()
    for layer in [first(), *(Dense(2) for _ in range(size - 1))]:
        model.add(layer)
    return model


def built_later(size: int) -> Sequential:
    model = Sequential()
    for _ in range(size):
        model.add(Dense(2))
    model.build((None, 2))
    return model


def chain(size: int) -> Model:
    inputs = outputs = Input((2,))
    for _ in range(size):
        outputs = Dense(2)(outputs)
    return Model(inputs, outputs)


def shared(size: int) -> Model:
    inputs = outputs = Input((2,))
    layer = Dense(2)
    for _ in range(size):
        outputs = layer(outputs)
    return Model(inputs, outputs)


def wide(size: int) -> Model:
    inputs = Input((2,))
    return Model(inputs, Add()([Dense(2)(inputs) for _ in range(size)]))


def operators(size: int) -> Model:
    inputs = outputs = Input((2,))
    for _ in range(size // 2):
        outputs = 2 * outputs + 1
    return Model(inputs, outputs)


def nested(depth: int) -> Sequential:
    model = Sequential([first()])
    for _ in range(depth - 1):
        model = Sequential([model, Dense(2)])
    return model


def compiled(maker: Maker, size: int) -> Any:
    model = maker(size)
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    return model


def pickled(model: Any) -> Any:
    return pickle.loads(pickle.dumps(model))  # noqa: S301  (our own bytes)


def calls_of(work: Callable[[], Any]) -> int:
    """How many functions, of Python and of C, are called.

    But for torch's own walk of modules in modules, which goes on with a generator for each level at every step.
    """
    gc.collect()
    gc.disable()
    try:
        with cProfile.Profile() as counted:
            work()
    finally:
        gc.enable()
    return sum(entry.callcount for entry in counted.getstats() if entry.code is not WALK)


WALK = torch.nn.Module.named_modules.__code__
SIZE = 20
MOST = 2.3  # where a tenth of the work at SIZE is quadratic, the ratio is 2.2

MAKERS: dict[str, Maker] = {
    make.__name__: make for make in (added, built_later, chain, shared, wide, operators, nested)
}

WORK: dict[str, Callable[[Any, Any], Any]] = {
    "predict": lambda model, path: model.predict(X),
    "call": lambda model, path: model(torch.ones(2, 2)),
    "summary": lambda model, path: model.summary(print_fn=lambda line: None),
    "expanded": lambda model, path: model.summary(print_fn=lambda line: None, expand_nested=True),
    "to_json": lambda model, path: model.to_json(),
    "config": lambda model, path: type(model).from_config(model.get_config()),
    "clone": lambda model, path: clone_model(model),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "pickle": lambda model, path: pickled(model),
    "weights": lambda model, path: model.set_weights(model.get_weights()),
    "frozen": lambda model, path: setattr(model, "trainable", False),
    "compile": lambda model, path: model.compile("sgd", "mse"),
    "dot": lambda model, path: model_to_dot(model, show_shapes=True),
    "paths": lambda model, path: (model.save_weights(path / "m.weights.h5"), model.load_weights(path / "m.weights.h5")),
    "tensors": lambda model, path: (model.save_weights(path / "m.pt"), model.load_weights(path / "m.pt")),
}
FILES: dict[str, Callable[[Any, Any], Any]] = {
    "json": lambda model, path: model_from_json(model.to_json()),
    "h5": lambda model, path: (model.save(path / "m.h5"), load_model(path / "m.h5")),
    "keras": lambda model, path: (model.save(path / "m.keras"), load_model(path / "m.keras")),
    "eject": lambda model, path: model.eject(path / "plain", overwrite=True),
}


def ratio(work: Callable[[int], Callable[[], Any]]) -> float:
    """By what the calls grow from one size to the next; what every size needs is taken off."""
    work(4)()  # what is imported and remembered once
    least, some, more = (calls_of(work(size)) for size in (4, 4 + SIZE, 4 + 2 * SIZE))
    return (more - least) / max(some - least, 1)


@pytest.mark.parametrize("name", MAKERS)
def test_building_is_linear(name: str) -> None:
    assert ratio(lambda size: lambda: MAKERS[name](size)) < MOST


@pytest.mark.parametrize("what", WORK)
@pytest.mark.parametrize("name", ["chain", "nested"])
def test_work_is_linear(name: str, what: str, tmp_path: Any) -> None:
    def work(size: int) -> Callable[[], Any]:
        model = MAKERS[name](size)
        return lambda: WORK[what](model, tmp_path)

    assert ratio(work) < MOST


@pytest.mark.slow
@pytest.mark.parametrize("what", FILES)
@pytest.mark.parametrize("name", ["chain", "added", "nested"])
def test_files_are_linear(name: str, what: str, tmp_path: Any) -> None:
    def work(size: int) -> Callable[[], Any]:
        model = MAKERS[name](size)
        return lambda: FILES[what](model, tmp_path)

    assert ratio(work) < MOST


@pytest.mark.parametrize("name", ["chain", "nested", "shared", "wide"])
def test_a_step_is_linear(name: str) -> None:
    def work(size: int) -> Callable[[], Any]:
        model = compiled(MAKERS[name], size)
        return lambda: model.train_on_batch(X, Y)

    assert ratio(work) < MOST


def test_models_in_models_200_deep(tmp_path: Any) -> None:
    model = compiled(nested, 200)
    expected = model.predict(X)
    for made in (copy.deepcopy(model), pickled(model)):
        np.testing.assert_array_equal(made.predict(X), expected)
    model.save_weights(tmp_path / "m.safetensors")
    clone = clone_model(model)
    clone.load_weights(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(clone.predict(X), expected)
    clone.load_state_dict(model.state_dict())
    assert clone(torch.ones(2, 2)).shape == (2, 2)


def loaded_by(suffix: str, model: Any, folder: Any) -> Any:
    """The model after it was written and read, in the format of the suffix."""
    path = folder / f"m{suffix}"
    if suffix in (".json", ".yaml"):
        made = model_from_json(model.to_json()) if suffix == ".json" else model_from_yaml(model.to_yaml())
        made.set_weights(model.get_weights())
        return made
    if suffix != ".weights.h5":
        model.save(path)
        return load_model(path)
    made = clone_model(model)
    model.save_weights(path)
    made.load_weights(path)
    return made


@pytest.mark.parametrize("depth", [60, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("suffix", [".h5", ".keras", ".weights.h5", ".pt", ".safetensors", ".json", ".yaml"])
def test_files_of_models_in_models(suffix: str, depth: int, tmp_path: Any) -> None:
    model = nested(depth)
    np.testing.assert_array_equal(loaded_by(suffix, model, tmp_path).predict(X), model.predict(X))


FRESH = """
import sys, threading
from torchkeras.models import load_model
print(sys.getrecursionlimit())
for name in ("flat", "deep"):
    thread = threading.Thread(target=load_model, args=[f"{sys.argv[1]}/{name}.h5"])
    thread.start()
    thread.join()
    print(sys.getrecursionlimit())
"""


def test_a_process_that_made_no_deep_model_reads_one(tmp_path: Any) -> None:
    """Python's limit of recursion stays as high as torch needs it to walk the model."""
    nested(2).save(tmp_path / "flat.h5")
    nested(120).save(tmp_path / "deep.h5")
    command = [sys.executable, "-c", FRESH, str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["1000", "1000", str(FRAMES * 120)]


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".pt", ".safetensors", ".weights.h5"])
def test_what_could_not_be_read_is_not_written(suffix: str, tmp_path: Any) -> None:
    model, path = nested(201), tmp_path / f"m{suffix}"
    with pytest.raises(ValueError, match="201 models stand in one another; files are read up to 200"):
        (model.save_weights if suffix == ".weights.h5" else model.save)(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(layers=3), r"m\.keras: 4 layers; files are read up to 3"),
        (Limits(calls=2), r"m\.keras: 3 calls of layers; files are read up to 2"),
    ],
)
def test_more_than_is_read_is_not_written(limits: Limits, text: str, tmp_path: Any, monkeypatch: Any) -> None:
    inputs = Input((2,))
    hidden = Dense(2)(inputs)
    model, path = Model(inputs, Add()([hidden, inputs])), tmp_path / "m.keras"
    model.save(path)
    path.unlink()
    monkeypatch.setattr(unsaveable, "LIMITS", limits)
    with pytest.raises(ValueError, match=text):
        model.save(path)
    assert not path.exists()


def test_longer_texts_and_more_members_than_are_read_are_told(tmp_path: Any) -> None:
    assert json_text.written([1, 2], "m.h5", Limits(json=6)) == "[1, 2]"
    with pytest.raises(FileLimitError, match=r"m\.h5 has 6 bytes; at most 5 are read"):
        json_text.written([1, 2], "m.h5", Limits(json=5))
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.create_group("a").create_group("b")
        file["a/c"] = np.ones(2)
        check_count(file, "m.h5", Limits(members=3))
        with pytest.raises(FileLimitError, match=r"m\.h5: more than 2 groups and datasets"):
            check_count(file, "m.h5", Limits(members=2))


@pytest.mark.slow
def test_20_000_layers_do_not_recurse(tmp_path: Any) -> None:
    """Far over Python's limit of recursion; a layer without weights keeps it short."""

    class Same(Layer):
        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return inputs

        def compute_output_shape(self, input_shape: Any) -> Any:
            return input_shape

    model = Sequential([Same(input_shape=(2,))])
    for _ in range(19_999):
        model.add(Same())
    np.testing.assert_array_equal(model.predict(X), X)
    assert len(copy.deepcopy(model).layers) == 20_000
    model.summary(print_fn=lambda line: None)


# --- generated code is one function --------------------------------------------------------------------------------


def code_of(size: int) -> Any:
    return compile(chain(size).code, "generated", "exec").co_consts[0]


def test_generated_code_is_as_long_as_the_model() -> None:
    """Python's compiler needs no more for each line of a longer function: neither bytecode nor a deeper stack."""
    some, more = code_of(500), code_of(1000)
    assert len(more.co_code) < 2.1 * len(some.co_code)
    assert (more.co_stacksize, more.co_nlocals) == (some.co_stacksize, some.co_nlocals)


# --- what a Sequential finds later -------------------------------------------------------------------------------


def test_code_is_written_when_it_is_asked_for() -> None:
    model = added(3)
    assert not any(each.written for each in model._generated.functions.values())
    assert model.code.count("self.") == 3
    assert [bool(each.written) for each in model._generated.functions.values()] == [True]


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_torch_compile_of_code_that_is_not_written_yet() -> None:
    model = added(3)
    assert not any(each.written for each in model._generated.functions.values())
    fast = torch.compile(model, backend="eager", fullgraph=True)
    given = torch.ones(2, 2)
    torch.testing.assert_close(fast(given), fast(given))
    torch.testing.assert_close(fast(given), model(given))


def test_keys_of_layers_that_join_are_those_of_the_list() -> None:
    def layers() -> list[Layer]:
        names = (None, "stem", None, "a.b", "dense_b", None)
        return [first(), *(Dense(2, name=name) for name in names)]

    model = Sequential()
    for layer in layers():
        model.add(layer)
    assert list(model.state_dict()) == list(Sequential(layers()).state_dict())


def test_a_layer_that_joins_a_frozen_model_is_frozen() -> None:
    model = added(2)
    model.trainable = False
    model.add(Dense(2))
    assert not model.trainable_weights


def test_another_module_stays_after_the_layers() -> None:
    model = added(2)
    model.head = torch.nn.Linear(2, 2)
    model.add(Dense(2))
    assert [key.partition(".")[0] for key in model.state_dict()][::2] == ["dense_a", "dense_b", "dense_c", "head"]

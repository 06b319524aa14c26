"""The table of docs/saving.md, "What is saved as what": each cell is what happens here."""

import importlib
import importlib.util
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from torchkeras import errors
from torchkeras.base.texts import tensor_of_strings
from torchkeras.export.errors import EjectError, ExportError
from torchkeras.layers import Dense, Embedding, Input, IntegerLookup, Lambda, Layer, TextVectorization, TorchModule
from torchkeras.models import Model, Sequential, load_model
from torchkeras.optimizers import Adam

PAGE = (Path(__file__).parents[1] / "docs" / "saving.md").read_text()
X = np.random.default_rng(0).random((6, 4)).astype("float32")
Y = np.arange(6) % 3
ROUNDING = 1e-6  # of float32; the formats keep the bits, an exported graph may order its sums otherwise


class Doubled(Layer):
    """A layer of the user's."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Own(Model):
    """A model with its own `call`."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.head = Dense(3)

    def call(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(x)


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


class OwnModule(nn.Module):
    """A module of torch of the user's."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).tanh()


def own_module() -> nn.Module:
    return OwnModule()


def around(layer: Callable[[Any], Any]) -> Model:
    inputs = Input((4,), name="x")
    return Model(inputs, Dense(3, activation="softmax", name="head")(layer(inputs)))


def plain() -> Model:
    return around(Dense(4, name="body"))


def compiled(optimizer: Any = None) -> Model:
    model = plain()
    model.compile(optimizer or Adam(0.1), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def trained(optimizer: Any = None) -> Model:
    model = compiled(optimizer)
    model.fit(X, Y, batch_size=2, verbose=0)
    return model


def frozen() -> Model:
    model = plain()
    model.get_layer("body").trainable = False
    return model


def tied() -> Model:
    inputs = Input((4,), name="x")
    first, second = Dense(4, name="first"), Dense(4, name="second")
    model = Model(inputs, second(first(inputs)))
    second.kernel = first.kernel
    return model


def with_vocabulary() -> Model:
    inputs = Input((4,), dtype="int64", name="x")
    return Model(inputs, Embedding(5, 2, name="vectors")(IntegerLookup(vocabulary=[5, 7, 9], name="lookup")(inputs)))


def of_strings() -> Model:
    words = TextVectorization(vocabulary=["a", "great", "movie"], output_sequence_length=4, name="words")
    return Sequential([Input((1,), dtype="string", name="x"), words, Embedding(5, 2, name="vectors")])


def mixed() -> Model:
    return Sequential(
        [Dense(4, input_shape=(4,), name="a"), Dense(3, dtype="float32", name="b")], dtype="mixed_bfloat16"
    )


def subclassed() -> Model:
    model = Own(name="own")
    model(torch.from_numpy(X))
    return model


def inputs_of(model: Model) -> np.ndarray:
    if any(isinstance(layer, TextVectorization) for layer in model.layers):
        return tensor_of_strings([["a great movie"], ["A movie?"]], "x").numpy()
    return np.array([[5, 7, 9, 4]] * 6) if any(isinstance(layer, IntegerLookup) for layer in model.layers) else X


def same_outputs(model: Model, again: Any) -> bool:
    given = torch.from_numpy(inputs_of(model))
    with torch.no_grad():
        wanted, found = (each(given) for each in (model.eval(), again))
    return bool(torch.allclose(wanted.float(), found.float(), atol=ROUNDING))


def same_state(model: Model, again: Any) -> bool:
    """Whether the next batch changes both in the same way."""
    if getattr(again, "optimizer", None) is None:
        return False
    return model.train_on_batch(X, Y) == again.train_on_batch(X, Y) and same_outputs(model, again.eval())


@dataclass
class Row:
    """What is saved: a model that has it, whether it is in the one that was loaded, and what helps to load it."""

    make: Callable[[], Model]
    kept: Callable[[Model, Any], bool]
    code: dict[str, Any] | None = None  # what custom_objects then has
    without: Callable[[], Model] | None = None  # the model without what the row is about, which weights are loaded into


ROWS = {
    "the architecture": Row(plain, same_outputs),
    "the weights": Row(plain, same_outputs),
    "how it was compiled: loss, metrics": Row(
        trained,
        lambda model, again: getattr(again, "loss", None) == "sparse_categorical_crossentropy",
        without=plain,
    ),
    "the state of an optimizer of torchkeras": Row(trained, same_state, without=compiled),
    "the state of an optimizer of `torch.optim`": Row(
        lambda: trained((torch.optim.SGD, {"lr": 0.1, "momentum": 0.9})), same_state, without=plain
    ),
    "which layers are frozen": Row(
        frozen,
        lambda model, again: {p.requires_grad for p in again.parameters()} == {True, False},
        without=plain,
    ),
    "weights that are tied": Row(
        tied,
        lambda model, again: (
            same_outputs(model, again) and sum(p.numel() for p in again.parameters()) == model.count_params()
        ),
    ),
    "the vocabulary of a lookup": Row(with_vocabulary, same_outputs),
    "strings as inputs": Row(of_strings, same_outputs),
    "mixed precision": Row(
        mixed, lambda model, again: again(torch.from_numpy(X)).dtype == torch.float32 and same_outputs(model, again)
    ),
    "functions of torch in the graph": Row(lambda: around(lambda x: torch.relu(x - 0.5)), same_outputs),
    "your own layer class": Row(lambda: around(Doubled(name="doubled")), same_outputs, {"Doubled": Doubled}),
    "a `Lambda`": Row(lambda: around(Lambda(double, name="twice")), same_outputs, {"double": double}),
    "your own `nn.Module`": Row(
        lambda: around(TorchModule(OwnModule(), name="module")), same_outputs, {"module": own_module}
    ),
    "a model class with its own `call`": Row(subclassed, same_outputs, {"Own": Own}),
}


def load_file_alone(path: Path, row: Row) -> tuple[Any, str]:
    return load_model(path).eval(), "yes"


def load_with_code(path: Path, row: Row) -> tuple[Any, str]:
    try:
        return load_file_alone(path, row)
    except errors.ArchitectureError:
        return load_model(path, custom_objects=row.code).eval(), "with code"


def load_weights(path: Path, row: Row) -> tuple[Any, str]:
    if row is ROWS["the architecture"]:
        return load_file_alone(path, row)
    again = (row.without or row.make)().eval()
    again.load_weights(path)
    return again, "yes"


def load_ejected(folder: Path, row: Row) -> tuple[Any, str]:
    found = importlib.util.spec_from_file_location("ejected", folder / "model.py")
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    code = [value() if name == "module" else value for name, value in (row.code or {}).items()]
    net = module.Net(*code)
    net.load_state_dict(load_file(folder / "model.safetensors"))
    return net.eval(), "with code" if code else "yes"


def load_program(path: Path, row: Row) -> tuple[Any, str]:
    return torch.export.load(path).module(), "yes"


def load_onnx(path: Path, row: Row) -> tuple[Any, str]:
    session = importlib.import_module("onnxruntime").InferenceSession(path)
    (given,) = session.get_inputs()
    return lambda x: torch.from_numpy(session.run(None, {given.name: x.numpy()})[0]), "yes"


# How each column saves a model, and loads it again; and the errors by which the second says that it cannot.
COLUMNS: dict[str, tuple[Callable[[Model, Path], Any], Callable[[Path, Row], tuple[Any, str]]]] = {
    **dict.fromkeys((".keras", ".h5", ".safetensors", ".pt"), (Model.save, load_with_code)),
    ".weights.h5": (Model.save_weights, load_weights),
    "eject": (Model.eject, load_ejected),
    ".pt2": (Model.save, load_program),
    ".onnx": (Model.save, load_onnx),
}
REFUSED = (NotImplementedError, ExportError, EjectError)
NOT_KEPT = (errors.ModelFileError, AttributeError)  # there is no architecture; no optimizer, no parameters


def outcome(what: str, column: str, folder: Path) -> str:
    """What the cell says: "yes", "with code", "no" or "refused"."""
    row, path = ROWS[what], folder / f"m{column}"
    save, load = COLUMNS[column]
    model = row.make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a format leaves out, which the cell says
        try:
            save(model, path)
        except REFUSED:
            return "refused"
        try:
            again, how = load(path, row)
            return how if row.kept(model, again) else "no"
        except NOT_KEPT:
            return "no"


def table() -> tuple[list[str], dict[str, dict[str, str]]]:
    """The columns of the table, and its cells by row and column."""
    text = PAGE.partition("\n## What is saved as what\n")[2]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", text, re.M)]
    columns = [cell.strip("`") for cell in lines[0][1:]]
    return columns, {name: dict(zip(columns, cells, strict=True)) for name, *cells in lines[2 : 2 + len(ROWS)]}


def test_the_table_has_these_rows_and_columns():
    columns, rows = table()
    assert columns == list(COLUMNS)
    assert list(rows) == list(ROWS)


def test_an_optimizer_that_begins_again_is_not_one_that_goes_on():
    again = compiled()
    model = trained()
    again.set_weights(model.get_weights())
    assert not same_state(model, again)


@pytest.mark.parametrize("column", [*list(COLUMNS)[:-1], pytest.param(".onnx", marks=pytest.mark.onnx)])
@pytest.mark.parametrize("what", ROWS)
def test_a_cell_is_true(what: str, column: str, tmp_path: Path):
    assert table()[1][what][column] == outcome(what, column, tmp_path)

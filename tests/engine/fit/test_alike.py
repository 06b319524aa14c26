"""A batch that looks like the one before is checked by its numbers alone, and becomes what it did before."""

from typing import Any

import numpy as np
import pytest
import torch

from torchkeras.data import checks
from torchkeras.engine.fit import opening
from torchkeras.engine.fit.opening import Intake
from torchkeras.layers import Dense, Embedding, Flatten, Input, concatenate
from torchkeras.models import Model, Sequential

X, Y = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])


def classifier() -> Sequential:
    model = Sequential([Dense(3, activation="softmax", input_shape=(3,))])
    model.compile("sgd", "sparse_categorical_crossentropy")
    return model


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was checked in full: a name for each array."""
    found: list[str] = []
    with_axes = checks._with_axes
    monkeypatch.setattr(
        checks, "_with_axes", lambda item, name, *further: found.append(name) or with_axes(item, name, *further)
    )
    return found


def equal(one: Any, other: Any) -> bool:
    pairs = zip((*one.inputs, *one.targets), (*other.inputs, *other.targets), strict=True)
    return one.size == other.size and all(torch.equal(a, b) and a.dtype == b.dtype for a, b in pairs)


@pytest.mark.parametrize("kind", [lambda array: array, lambda array: array.numpy()], ids=["torch", "numpy"])
def test_a_batch_like_the_one_before_is_looked_at_once(kind: Any, looks: list[str]):
    intake = Intake(classifier()._training)
    first = intake.batch(kind(X), kind(Y))
    assert (len(looks), first.targets[0].shape) == (2, (4, 1))
    other = intake.batch(kind(2 * X), kind(2 - Y))
    assert len(looks) == 2
    assert equal(other, Intake(intake.training).batch(2 * X, 2 - Y))
    assert other.weights == [None]


@pytest.mark.parametrize(
    ("x", "y", "weight"),
    [
        (X[:3], Y[:3], None),
        (X.double(), Y, None),
        (X, Y.int(), None),
        (X, Y[:, None], None),
        (X.numpy(), Y, None),
        ([X], Y.tolist(), None),
        ({"dense_input": X}, Y, None),
        (X, Y, torch.ones(4)),
    ],
)
def test_another_look_is_looked_at_in_full(x: Any, y: Any, weight: Any, looks: list[str]):
    model = Sequential([Dense(3, activation="softmax", input_shape=(3,), name="dense")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    intake = Intake(model._training)
    intake.batch(X, Y)
    before = len(looks)
    batch = intake.batch(x, y, weight)
    assert len(looks) >= before + 2
    assert equal(batch, Intake(model._training).batch(x, y, weight))


def test_the_same_arrays_in_other_places_are_another_look():
    a, b = Input((3,)), Input((3,))
    model = Model([a, b], Dense(1)(concatenate([a, b])))
    model.compile("sgd", "mse")
    intake, y = Intake(model._training), torch.zeros(4, 3)
    intake.batch([X, X], y[:, :1])
    with pytest.raises(ValueError, match="expected 2 array"):
        intake.batch(X, [X, y[:, :1]])


@pytest.mark.parametrize(("x", "y", "text"), [(X, Y + 1, "labels from 1 to 3"), (X[:, :2], Y, "expected dense")])
def test_what_is_wrong_in_a_later_batch_is_refused(x: Any, y: Any, text: str):
    model = Sequential([Dense(3, activation="softmax", input_shape=(3,), name="dense")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    with pytest.raises(ValueError, match=text):
        model.fit(iter([(X, Y), (X, Y), (x, y)]), steps_per_epoch=3, verbose=0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32])
def test_indices_of_a_later_batch_are_checked(dtype: torch.dtype, looks: list[str]):
    model = Sequential([Embedding(5, 2, input_length=3), Flatten(), Dense(1)])
    model.compile("sgd", "mse")
    intake, y = Intake(model._training), torch.zeros(2, 1)
    words = torch.zeros(2, 3, dtype=dtype)
    intake.batch(words, y)
    with pytest.raises(ValueError, match="takes whole numbers from 0 to 4; found 5"):
        intake.batch(words + 5, y)
    if dtype == torch.int64:  # which int32, the type of such an input, cannot hold
        with pytest.raises(ValueError, match="takes whole numbers from 0 to 4; found 4294967296"):
            intake.batch(words + 2**32, y)
    assert len(looks) == 2


def test_class_numbers_that_are_not_whole_are_refused_in_a_later_batch():
    intake = Intake(classifier()._training)
    intake.batch(X, Y.float())
    with pytest.raises(ValueError, match=r"class numbers must be whole; found 0\.5"):
        intake.batch(X, Y + 0.5)


def test_batches_of_several_lengths_are_each_looked_at_once(looks: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(opening, "MOST_LOOKS", 2)
    intake = Intake(classifier()._training)
    for count in (4, 3, 4, 3):
        assert equal(intake.batch(X[:count], Y[:count]), Intake(intake.training).batch(X[:count], Y[:count]))
    before = len(looks)
    for count in (4, 3):
        intake.batch(X[:count], Y[:count])
    assert len(looks) == before
    for _ in range(2):  # one more look than are remembered
        intake.batch(X[:2], Y[:2])
    assert len(looks) == before + 4


class OwnLoss(Model):
    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        return ((y_pred - y) ** 2).mean()


def test_targets_that_a_loss_of_the_users_compares(looks: list[str]):
    inputs = Input((3,))
    model = OwnLoss(inputs, Dense(1)(inputs))
    model.compile("sgd")
    intake = Intake(model._training)
    for number in range(3):
        batch = intake.batch(X, X[:, :1] + number)
        assert torch.equal(batch.targets[0], X[:, :1] + number)
    assert len(looks) == 2
    losses = model.fit(iter([(X, X[:, :1])] * 3), steps_per_epoch=3, verbose=0).history["loss"]
    assert losses[0] > 0


def test_a_model_of_another_type_or_compiled_anew_takes_a_new_look(looks: list[str]):
    model = classifier()
    intake = Intake(model._training)
    intake.batch(X, Y)
    model.double()
    assert intake.batch(X, Y).inputs[0].dtype == torch.float64
    model.float()
    intake.batch(X, Y)
    before = len(looks)
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="expected"):
        intake.batch(X, Y)
    assert len(looks) > before


def test_what_the_checks_convert_is_converted_each_time(looks: list[str]):
    intake = Intake(classifier()._training)
    for _ in range(2):
        batch = intake.batch(X.double().numpy(), Y.numpy().astype("int32"))
        assert (batch.inputs[0].dtype, batch.targets[0].dtype) == (torch.float32, torch.int64)
    read_only = X.numpy().copy()
    read_only.flags.writeable = False
    for array in (X.numpy(), X.numpy(), read_only):
        assert np.array_equal(intake.batch(array, Y).inputs[0], X)
    assert len(looks) == 4


def test_numbers_that_are_objects_are_looked_at_each_time(looks: list[str]):
    intake = Intake(classifier()._training)
    for _ in range(2):
        assert torch.equal(intake.batch(X.numpy().astype(object), Y).inputs[0], X)
    assert len(looks) == 4


def test_a_model_that_has_its_inputs_in_a_form(looks: list[str]):
    """Where the order of a list is not that of the inputs, each batch is looked at."""
    a, b = Input((3,), name="a"), Input((3,), name="b")
    model = Model({"b": b, "a": a}, Dense(1)(concatenate([a, b])))
    model.compile("sgd", "mse")
    intake, y = Intake(model._training), torch.zeros(4, 1)
    for _ in range(2):
        batch = intake.batch({"a": X, "b": 2 * X}, y)
        assert [torch.equal(tensor, X) for tensor in batch.inputs] == [name == "a" for name in model.input_names]
    assert len(looks) == 6

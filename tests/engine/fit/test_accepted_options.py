"""No option is accepted and ignored: `fit` and the like use what they are given, or say why they cannot."""

import re
import warnings
from types import FunctionType

import numpy as np
import pytest
import torch
from torch.utils.data import (
    DataLoader,
    DistributedSampler,
    IterableDataset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from torchkeras import Input, Model
from torchkeras.layers import Dense, Layer
from torchkeras.models import Sequential
from torchkeras.utils import Sequence

X = np.arange(24, dtype="float32").reshape(8, 3)
Y = np.arange(8, dtype="float32").reshape(8, 1)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(zip(X, Y, strict=True))


class Halves(Sequence):
    def __init__(self):
        self.asked = []

    def __len__(self):
        return 2

    def __getitem__(self, k):
        self.asked.append(k)
        return X[4 * k : 4 * k + 4], Y[4 * k : 4 * k + 4]


class Batches:
    def __iter__(self):
        yield X, Y


def loader():
    return DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)), batch_size=4)


def generator():
    while True:
        yield X, Y


def made(**options):
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse", **options)
    return model


IN_THEIR_ORDER = {
    "a DataLoader": loader,
    "a generator": generator,
    "a torch IterableDataset": Stream,
    "an iterable of batches": Batches,
}


@pytest.mark.parametrize("kind", IN_THEIR_ORDER)
@pytest.mark.parametrize("shuffle", [True, "batch"])
def test_what_has_its_own_order_is_not_shuffled(kind, shuffle):
    names = "|".join(map(re.escape, ("shuffle", f"shuffle={shuffle!r}")))
    with pytest.raises(ValueError, match=f"^fit: ({names}) cannot be given with {kind}. It has its own order.$"):
        made().fit(IN_THEIR_ORDER[kind](), shuffle=shuffle, steps_per_epoch=1, verbose=0)
    made().fit(IN_THEIR_ORDER[kind](), steps_per_epoch=1, verbose=0)


@pytest.mark.parametrize("kind", IN_THEIR_ORDER)
def test_what_has_its_own_order_may_be_asked_not_to_be_shuffled(kind):
    made().fit(IN_THEIR_ORDER[kind](), shuffle=False, steps_per_epoch=1, verbose=0)


SHUFFLING = {
    "RandomSampler": lambda data: DataLoader(data, 2, shuffle=True),
    "WeightedRandomSampler": lambda data: DataLoader(data, 2, sampler=WeightedRandomSampler([1.0] * 8, 8)),
    "SubsetRandomSampler": lambda data: DataLoader(data, 2, sampler=SubsetRandomSampler(range(8))),
    "DistributedSampler": lambda data: DataLoader(data, 2, sampler=DistributedSampler(data, 1, 0)),
}


@pytest.mark.parametrize("name", SHUFFLING)
def test_a_loader_that_shuffles(name):
    shuffling = SHUFFLING[name](TensorDataset(torch.tensor(X), torch.tensor(Y)))
    text = (
        f"fit: shuffle=False cannot be given with a DataLoader that shuffles, by a {name}. Make the DataLoader with "
        "shuffle=False, or leave the option out."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        made().fit(shuffling, shuffle=False, verbose=0)
    made().fit(shuffling, verbose=0)


def test_shuffling_is_the_default_where_fit_has_the_order():
    for options, ordered in (({}, False), ({"shuffle": True}, False), ({"shuffle": False}, True)):
        torch.manual_seed(1)
        halves = Halves()
        made().fit(halves, epochs=8, workers=0, verbose=0, **options)
        assert (halves.asked == [0, 1] * 8) is ordered


def test_fit_generator_shuffles_a_sequence_alone_as_in_keras_2():
    for options in ({}, {"shuffle": True}, {"shuffle": False}):
        made().fit_generator(generator(), 1, verbose=0, **options)
    torch.manual_seed(1)
    halves = Halves()
    made().fit_generator(halves, epochs=8, workers=0, shuffle=True, verbose=0)
    assert halves.asked != [0, 1] * 8


class OwnStep(Model):
    def train_step(self, data):
        x, y = data[:2]
        loss = (self(x) - y).square().mean()
        self.minimize(loss)
        return {"loss": loss, "parts": torch.tensor(float(len(data)))}


def own_step():
    inputs = Input((3,))
    model = OwnStep(inputs, Dense(1)(inputs))
    model.compile("sgd", "mse")
    return model


def test_class_weights_enter_an_own_step_or_are_refused():
    weights = dict.fromkeys(range(8), 2.0)
    assert own_step().fit(X, Y, class_weight=weights, verbose=0).history["parts"] == [3.0]
    with pytest.raises(
        ValueError, match=r"^fit: class_weight cannot be given: OwnStep '.*' has a train_step of its own"
    ):
        own_step().fit(loader(), class_weight=weights, verbose=0)


@pytest.mark.parametrize(
    ("option", "value"),
    [("metrics", ["acc"]), ("weighted_metrics", ["acc"]), ("loss_weights", [2.0]), ("sample_weight_mode", "temporal")],
)
def test_options_of_outputs_without_a_loss(option, value):
    inputs = Input((3,))
    outputs = Dense(1)(inputs)
    model = Model(inputs, outputs)
    model.add_loss(outputs.mean())
    text = f"compile: {option} is for outputs that have a loss, and none has: it is left out."
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        model.compile("sgd", **{option: value})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.compile("sgd")


# --- arguments that nobody knows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [Model, Sequential, Layer, Dense])
def test_errors_about_arguments_name_what_was_called(cls):
    for name in dir(cls):
        found = getattr(cls, name)
        function = getattr(found, "__func__", found)
        if isinstance(function, FunctionType) and function.__module__.startswith("torchkeras.") and name[0] != "_":
            assert function.__qualname__.partition(".")[0] in {each.__name__ for each in (cls, Model, Layer)}, name


def test_an_unknown_argument():
    model = made()
    for method, arguments in (("train_on_batch", (X, Y)), ("save", ("m.h5",))):
        text = f"Model.{method}() got an unexpected keyword argument 'metric'"
        with pytest.raises(TypeError, match=f"^{re.escape(text)}"):
            getattr(model, method)(*arguments, metric=1)
    with pytest.raises(TypeError, match=r"^compile: unknown option 'metric'\. Did you mean 'metrics'\?"):
        model.compile(metric=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^Layer\.set_weights\(\) got an unexpected keyword argument 'metric'"):
        Dense(2).set_weights([], metric=1)


def test_one_unit_is_no_choice_of_classes():
    model = Sequential([Dense(1, activation="sigmoid", input_shape=(3,), name="out")])
    model.compile("sgd", "categorical_crossentropy")
    text = (
        "Error when checking target: categorical_crossentropy compares classes, and out has one unit, which is no "
        "choice. Use binary_crossentropy with activation='sigmoid', or a unit for each class."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        model.fit(X, Y, verbose=0)

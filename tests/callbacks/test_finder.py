"""The search for a learning rate: what it tries, when it ends, and that the model is as it was."""

import importlib
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from callback_models import FakeModel, X, Y, drive, small

from torchkeras.callbacks import LearningRateFinder, Logs
from torchkeras.optimizers import Adam


class Kept(Adam):
    """Adam with a state that Keras's arrays hold."""

    def state_dict(self):
        return {"weights": self.get_weights()}

    def load_state_dict(self, state):
        self.set_weights(state["weights"])


def search(losses, **options):
    """A finder that was shown these losses, and how many batches there were."""
    finder = LearningRateFinder(**options)
    model = FakeModel(lr=0.5)
    finder.set_model(model)
    finder.on_train_begin()
    for number, loss in enumerate(losses, 1):
        finder.on_train_batch_begin(number)
        finder.on_train_batch_end(number, Logs(loss=loss))
        if model.stop_training:
            break
    return finder, number


def test_a_model_is_as_before():
    plain, tried = (small(Kept(0.01)) for _ in range(2))
    options = {"batch_size": 4, "verbose": 0, "shuffle": False}
    for model in (plain, tried):
        model.fit(X, Y, **options)
    finder = LearningRateFinder(1e-4, 1.0, steps=15)
    before = tried.get_weights()
    tried.fit(X, Y, epochs=9, callbacks=[finder], **options)
    assert len(finder.rates) == len(finder.losses) == 15
    assert all(map(np.array_equal, tried.get_weights(), before))
    assert (tried.optimizer.lr, tried.optimizer.iterations) == (0.01, 6)
    for model in (plain, tried):
        model.fit(X, Y, epochs=2, **options)
    assert all(map(np.array_equal, tried.get_weights(), plain.get_weights()))


def test_a_model_whose_data_ends_early_is_as_before():
    model = small(Kept())
    before = model.get_weights()
    finder = LearningRateFinder()
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=[finder])
    assert len(finder.rates) == 6
    assert all(map(np.array_equal, model.get_weights(), before))


def test_rates_rise_by_one_factor():
    finder, count = search([1.0] * 9, start=1e-4, end=1.0, steps=5, smoothing=0)
    assert count == 5
    assert finder.rates == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1, 1.0], rel=1e-12)
    assert finder.losses == [1.0] * 5


def test_losses_are_moving_averages_without_a_bias_to_0():
    finder, _ = search([1.0, 3.0, 2.0], smoothing=0.5)
    assert finder.losses == pytest.approx([1.0, 7 / 3, 15 / 7], rel=1e-12)


@pytest.mark.parametrize(
    ("losses", "batches", "kept"),
    [
        ([2.0, 1.0, 3.9, 4.1, 0.0], 4, 4),
        ([2.0, 1.0, math.nan, 1.0], 3, 2),
        ([2.0, math.inf, 1.0], 2, 1),
        ([-1.0, -2.0, 3.9, 4.1, 0.0], 4, 4),
        ([math.nan], 1, 0),
    ],
)
def test_it_ends_when_the_loss_diverges(losses, batches, kept):
    finder, count = search(losses, smoothing=0)
    assert count == batches
    assert len(finder.rates) == len(finder.losses) == kept


@pytest.mark.parametrize(
    ("losses", "place"),
    [
        ([5.0, 5.0, 4.9, 4.0, 2.0, 1.5, 1.4, 1.6, 4.0], 3),
        ([9.0, 4.0, 5.0, 5.1, 4.9, 5.0, 3.5, 3.1, 3.0], 5),
        ([5.0, 4.0, 3.0, 2.0, 1.0], 2),
        ([0.5, *[5.0] * 10, 4.0, 2.0, 1.0], 11),
    ],
)
def test_the_middle_of_the_fall_is_suggested(losses, place):
    finder, _ = search(losses, steps=20, smoothing=0, divergence=100)
    assert finder.suggestion() == finder.rates[place]


def test_a_schedule_comes_back():
    model = FakeModel()
    schedule = model.optimizer.lr = object()  # type: ignore[assignment]
    model.optimizer.state_dict = dict  # type: ignore[method-assign]
    finder = LearningRateFinder(steps=2)
    drive([finder], model)
    assert model.optimizer.lr is schedule
    assert len(finder.rates) == 2


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([1.0] * 4, "LearningRateFinder: a suggestion needs 5 batches at least; there were 4."),
        ([1.0] * 9, "LearningRateFinder: the loss never falls; try a smaller `start`, or more `steps`."),
        (
            [1.0, 1.1, 1.2, 1.3, 1.4],
            "LearningRateFinder: the loss never falls; try a smaller `start`, or more `steps`.",
        ),
    ],
)
def test_nothing_to_suggest(losses, message):
    finder, _ = search(losses, smoothing=0)
    with pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
        finder.suggestion()


class Axes:
    """The calls that a figure gets."""

    def __init__(self):
        self.told = []

    def __getattr__(self, name):
        return lambda *given, **options: self.told.append((name, *given, options))


@pytest.mark.parametrize("given", [True, False])
def test_a_plot(monkeypatch, given):
    axes = Axes()
    pyplot = SimpleNamespace(subplots=lambda: (None, axes))
    monkeypatch.setattr(importlib, "import_module", lambda name: {"matplotlib.pyplot": pyplot}[name])
    finder, _ = search([5.0, 4.0, 2.0, 1.0, 1.5], smoothing=0)
    assert finder.plot(axes if given else None) is axes
    assert axes.told == [
        ("plot", finder.rates, finder.losses, {}),
        ("set_xscale", "log", {}),
        ("set_xlabel", "learning rate", {}),
        ("set_ylabel", "loss", {}),
        ("axvline", finder.suggestion(), {"linestyle": "--"}),
    ]
    axes.told.clear()
    search([1.0, 2.0])[0].plot(axes)
    assert "axvline" not in [name for name, *_ in axes.told]


def test_a_plot_without_the_package(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    message = (
        "LearningRateFinder: the package matplotlib is missing. Install it with `pip install torchkeras-graph[plot]`."
    )
    with pytest.raises(ImportError, match=f"^{re.escape(message)}$"):
        LearningRateFinder().plot()


def test_what_a_finder_says(capsys):
    search([1.0] * 3, steps=3, verbose=1)
    search([1.0, 9.0], smoothing=0, verbose=1)
    assert capsys.readouterr().out == ("3 learning rates tried.\n2 learning rates tried, until the loss diverged.\n")


def test_a_search_goes_on_after_a_stop():
    losses = [3.0, 2.0, 1.0, 0.5]
    whole, _ = search(losses, steps=4)
    first, _ = search(losses[:2], steps=4)
    other = LearningRateFinder(steps=4)
    model = FakeModel(lr=9.0)
    other.set_model(model)
    other.on_train_begin()
    other.load_state_dict(first.state_dict())
    for number in (2, 3):
        other.on_train_batch_begin(number)
        other.on_train_batch_end(number, {"loss": losses[number]})
    assert (other.rates, other.losses) == (whole.rates, whole.losses)
    assert model.optimizer.lr == 0.5
    assert model.calls == [["set_weights", 0.0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 0}, "start must be a number above 0; found 0."),
        ({"end": 1e-7}, "end must be a number above start, which is 1e-07; found 1e-07."),
        ({"steps": 1}, "steps must be an integer of at least 2; found 1."),
        ({"smoothing": 1.0}, "smoothing must be a number from 0 to below 1; found 1.0."),
        ({"divergence": 1.0}, "divergence must be a number above 1; found 1.0."),
    ],
)
def test_finders_refuse(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape('LearningRateFinder: ' + message)}$"):
        LearningRateFinder(**options)

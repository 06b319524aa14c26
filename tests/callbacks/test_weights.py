"""Callbacks that decide which weights train, and which the model holds: unfreezing and moving averages."""

import re

import numpy as np
import pytest
from callback_models import FakeModel, X, Y, drive, small

from torchkeras import Sequential
from torchkeras.callbacks import CallbackList, GradualUnfreezing, LambdaCallback, SwapEMAWeights
from torchkeras.layers import Dense

# --- unfreezing ------------------------------------------------------------------------------------------------------


def three():
    model = Sequential([Dense(4, input_shape=(4,), name="a"), Dense(4, name="b"), Dense(3, name="c")])
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize("several", [list, tuple, lambda names: names[0]])
def test_layers_train_from_their_epoch_on(several):
    model = three()
    changed, last = [], [model.get_weights()]

    def look(epoch, logs):
        now = model.get_weights()
        changed.append([not np.array_equal(now[i], last[0][i]) for i in (0, 2, 4)])
        last[0] = now

    unfreezing = GradualUnfreezing({1: several(["b"]), 3: model.get_layer("a")})
    model.fit(X, Y, epochs=4, verbose=0, callbacks=[unfreezing, LambdaCallback(on_epoch_end=look)])
    assert changed == [[False, False, True], [False, True, True], [False, True, True], [True, True, True]]
    assert all(layer.trainable for layer in model.layers)


@pytest.mark.parametrize("restore", [True, False])
def test_what_was_trainable_before_comes_back_when_asked(restore):
    model = three()
    model.get_layer("a").trainable = False
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[GradualUnfreezing({1: ["a"], 5: ["b"]}, restore=restore)])
    assert [layer.trainable for layer in model.layers] == ([False, True, True] if restore else [True, False, True])
    model.fit(X, Y, epochs=1, verbose=0)  # which would warn, had what trains not been settled


def test_a_fit_that_begins_later_finds_them_unfrozen():
    model = three()
    model.fit(X, Y, epochs=3, initial_epoch=2, verbose=0, callbacks=[GradualUnfreezing({1: ["a"], 5: ["b"]})])
    assert [layer.trainable for layer in model.layers] == [True, False, True]


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ([], "schedule must be a dictionary from epochs to layers; found []."),
        ({}, "schedule must be a dictionary from epochs to layers; found {}."),
        ({"a": 1}, "an epoch of schedule must be an integer of at least 0; found 'a'."),
        ({1: ["d"]}, "the model has no layer 'd'; it has a, b, c."),
        ({1: ["a"], 2: "a"}, "layer 'a' appears twice in schedule."),
    ],
)
def test_unfreezing_refuses(schedule, message):
    with pytest.raises(ValueError, match=f"^{re.escape('GradualUnfreezing: ' + message)}$"):
        three().fit(X, Y, verbose=0, callbacks=[GradualUnfreezing(schedule)])


# --- moving averages -------------------------------------------------------------------------------------------------


def swaps(callback, hooks):
    """After each hook, whether the model holds the averages."""
    model = FakeModel(use_ema=True)
    each = CallbackList([callback])
    each.set_params({})
    each.set_model(model)
    found = []
    for hook in hooks:
        getattr(each, f"on_{hook}")(*([0] if "epoch" in hook else []))
        found.append(model.optimizer.swaps % 2 == 1)
    return found


EPOCH = ["epoch_begin", "test_begin", "test_end", "epoch_end"]


@pytest.mark.parametrize(
    ("on_epoch", "hooks", "held"),
    [
        (False, [*EPOCH, *EPOCH, "train_end"], [False, True, False, False] * 2 + [False]),
        (True, [*EPOCH, *EPOCH, "train_end"], [False, True, False, True] * 2 + [False]),
        (False, ["predict_begin", "predict_end"], [True, False]),
        (True, ["predict_begin", "predict_end", "epoch_begin"], [True, False, False]),
    ],
)
def test_averages_are_in_the_model_when_it_is_looked_at(on_epoch, hooks, held):
    assert swaps(SwapEMAWeights(on_epoch), hooks) == held


def test_an_epoch_costs_nothing_without_swap_on_epoch():
    assert not CallbackList([SwapEMAWeights()]).wants("on_epoch_begin")
    assert CallbackList([SwapEMAWeights(True)]).wants("on_epoch_begin")


def test_a_swap_goes_on_after_a_stop():
    first, other = SwapEMAWeights(True), SwapEMAWeights(True)
    assert swaps(first, EPOCH)[-1]
    assert first.state_dict() == {"swapped": True}
    other.load_state_dict(first.state_dict())
    assert swaps(other, ["epoch_begin"]) == [True]  # the one swap that takes the averages out


@pytest.mark.parametrize(("options", "found"), [({}, "FakeOptimizer"), ({"use_ema": False}, "FakeOptimizer")])
def test_an_optimizer_without_averages(options, found):
    message = f"SwapEMAWeights: the optimizer must have use_ema=True, to keep averages of the weights; found {found}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        drive([SwapEMAWeights()], FakeModel(**options))


def test_a_model_without_an_optimizer():
    model = small()
    model.optimizer = None
    with pytest.raises(ValueError, match=re.escape("averages of the weights; found no optimizer.")):
        SwapEMAWeights().set_model(model)

"""Callbacks are called where they override a hook; numbers are read late and once; states come back."""

import importlib
import re
import warnings
from types import SimpleNamespace

import pytest
import torch
from callback_models import drive

from torchkeras import callbacks
from torchkeras.callbacks import Callback, CallbackList, EarlyStopping, History, LambdaCallback, Logs
from torchkeras.callbacks.base import HOOKS, overrides

# --- logs ------------------------------------------------------------------------------------------------------------


def test_logs_read_a_tensor_once_and_only_when_asked():
    reads = []

    def accuracy():
        reads.append("acc")
        return torch.tensor(0.75)

    logs = Logs({"batch": 3, "loss": torch.tensor(0.5, requires_grad=True), "acc": accuracy}, size=4)
    assert list(logs) == ["batch", "loss", "acc", "size"]
    assert "acc" in logs
    assert len(logs) == 4
    assert logs.get("val_loss") is None
    assert reads == []
    assert (logs["loss"], type(logs["loss"])) == (0.5, float)
    assert logs["acc"] == logs["acc"] == 0.75
    assert reads == ["acc"]
    logs["lr"] = 0.1
    del logs["size"]
    assert dict(logs) == logs.copy() == {"batch": 3, "loss": 0.5, "acc": 0.75, "lr": 0.1} == logs
    assert repr(logs) == "{'batch': 3, 'loss': 0.5, 'acc': 0.75, 'lr': 0.1}"
    with pytest.raises(KeyError):
        logs["none"]
    assert not Logs()


# --- base ------------------------------------------------------------------------------------------------------------


def test_each_hook_reaches_those_that_override_it():
    called = []

    class Epochs(Callback):
        def on_epoch_end(self, epoch, logs=None):
            called.append((epoch, logs))

    each = CallbackList([Callback(), Epochs()])
    assert [hook for hook in HOOKS if each.wants(hook)] == ["on_epoch_end"]
    each.on_epoch_end(1)
    each.on_train_batch_end(0, {})
    assert called == [(1, {})]
    each.append(LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(lr=1)))
    logs = Logs()
    each.on_epoch_end(2, logs)
    assert logs["lr"] == 1
    assert len(each) == len(list(each)) == 3
    with pytest.raises(KeyError):
        each.wants("on_epoch")


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_called(hook):
    called = []
    each = CallbackList([LambdaCallback(**{hook: lambda *given: called.append(given)})])
    number = (5,) if "epoch" in hook or "batch" in hook else ()
    getattr(each, hook)(*number)
    getattr(each, hook)(*number, logs={"a": 1})
    assert called == [(*number, {}), (*number, {"a": 1})]
    assert each.wants(hook)
    if hook in ("on_batch_begin", "on_batch_end"):
        assert each.wants(hook.replace("on_", "on_train_"))


@pytest.mark.parametrize("base", [Callback, object])
def test_old_names_of_batch_hooks(base):
    called = []

    class Old(base):
        def __init__(self):  # as in many scripts, without super().__init__()
            self.seen = 0

        def on_batch_end(self, batch, logs=None):
            called.append((batch, dict(logs or {})))

    assert overrides(Old(), "on_train_batch_end")
    assert not overrides(Old(), "on_train_batch_begin")
    each = CallbackList([Old()])
    each.set_params({})
    each.set_model(None)
    each.on_train_batch_end(3, {"size": 1})
    each.on_train_batch_begin(3)
    assert called == [(3, {"size": 1})]
    Callback().on_train_batch_begin(0)
    if base is Callback:
        Old().on_train_batch_end(4, {})
        assert called[-1] == (4, {})
        assert (Old().model, Old().validation_data) == (None, None)


# --- history, functions ----------------------------------------------------------------------------------------------


def test_history_holds_floats_and_starts_anew():
    history = History()
    for _ in range(2):
        drive([history], numbers=lambda epoch: {"loss": torch.tensor(1.0 / (epoch + 1)), "val_loss": 2.0})
    assert history.epoch == [0, 1]
    assert history.history == {"loss": [1.0, 0.5], "val_loss": [2.0, 2.0]}
    assert type(history.history["loss"][0]) is float


def test_what_an_earlier_callback_adds_the_history_holds():
    history = History()
    drive([LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(lr=0.1)), history])
    assert history.history["lr"] == [0.1, 0.1]


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        ({"on_bach_end": print}, "LambdaCallback: 'on_bach_end' is no hook; there are on_epoch_begin, "),
        ({"on_batch_end": 3}, "LambdaCallback: on_batch_end must be a function of (batch, logs); found 3."),
    ],
)
def test_lambda_callback_refuses(hooks, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        LambdaCallback(**hooks)


# --- states ----------------------------------------------------------------------------------------------------------


def test_states_by_place_and_class():
    def history():
        return CallbackList([Callback(), History(), EarlyStopping("loss"), SimpleNamespace(on_train_end=print)])

    each, other = history(), history()
    each.on_epoch_end(0, {"loss": 2.0})
    state = each.state_dict()
    assert state == {
        "1 History": {"epoch": [0], "history": {"loss": [2.0]}},
        "2 EarlyStopping": {"wait": 0, "stopped_epoch": 0, "best": 2.0, "best_weights": None},
    }
    each.on_epoch_end(1, {"loss": 1.0})
    assert state["1 History"]["epoch"] == [0]
    other.load_state_dict(state)
    assert other.state_dict() == state
    other.on_epoch_end(1, {"loss": 1.0})
    assert other.state_dict() == each.state_dict()
    assert state["1 History"]["epoch"] == [0]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            {"0 History": {"epoch": []}},
            "History: the state must hold epoch, history; found epoch.",
        ),
        ({"0 History": {}}, "History: the state must hold epoch, history; found nothing."),
        (
            {"1 History": {}},
            "The state has a callback '1 History'; the callbacks now are 0 History.",
        ),
    ],
)
def test_states_of_others_are_refused(state, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        CallbackList([History()]).load_state_dict(state)


def test_hooks_may_be_settled_by_params_and_model():
    class Late(Callback):
        def set_params(self, params):
            self.on_epoch_end = lambda epoch, logs=None: None

        def set_model(self, model):
            self.on_batch_end = lambda batch, logs=None: None

    each = CallbackList([Late()])
    assert not each.wants("on_epoch_end")
    each.set_params({})
    assert each.wants("on_epoch_end")
    assert not each.wants("on_train_batch_end")
    each.set_model(None)
    assert each.wants("on_train_batch_end")


def test_logs_are_copied_in_one_transfer(monkeypatch):
    logs = Logs(loss=torch.tensor(0.5), acc=torch.tensor(0.25), lr=0.1, late=lambda: torch.tensor(2.0))
    reads = []
    monkeypatch.setattr(torch.Tensor, "item", lambda tensor: reads.append(tensor))
    assert logs.copy() == {"loss": 0.5, "acc": 0.25, "lr": 0.1, "late": 2.0}
    assert logs["loss"] == 0.5
    assert reads == []


def test_logs_of_several_types_keep_them():
    logs = Logs(loss=torch.tensor(0.1), exact=torch.tensor(0.1, dtype=torch.float64), seen=torch.tensor(3))
    assert logs.copy() == {"loss": torch.tensor(0.1).item(), "exact": 0.1, "seen": 3}
    assert type(logs["seen"]) is int


def test_names():
    assert set(callbacks.__all__) <= set(vars(callbacks))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(callbacks)

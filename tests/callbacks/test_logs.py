"""Logs are a dict to whoever asks, and numbers have the names of both Keras."""

import copy
import json
import pickle
from collections import ChainMap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras.callbacks import Callback, CSVLogger, EarlyStopping, History, Logs, ModelCheckpoint, ReduceLROnPlateau
from torchkeras.layers import Dense
from torchkeras.models import Sequential

READ = {"loss": 0.5, "val_acc": 0.25, "batch": 3}
X = np.random.default_rng(0).standard_normal((12, 3)).astype("float32")
Y = (X[:, 0] > 0).astype("float32")


def logs() -> Logs:
    return Logs(loss=torch.tensor(0.5), val_acc=lambda: torch.tensor(0.25), batch=3)


def keywords(**given: Any) -> Any:
    return given


WAYS: dict[str, tuple[Callable[[Logs], Any], Any]] = {
    "json": (lambda logs: json.loads(json.dumps(logs)), READ),
    "json, indented": (lambda logs: json.loads(json.dumps(logs, indent=1)), READ),
    "json, nested": (lambda logs: json.loads(json.dumps({"epoch": 1, "logs": logs})), {"epoch": 1, "logs": READ}),
    "|": (lambda logs: logs | {"x": 1}, {**READ, "x": 1}),
    "| behind": (lambda logs: {"x": 1} | logs, {"x": 1, **READ}),
    "**": (lambda logs: {**logs, "x": 1}, {**READ, "x": 1}),
    "keywords": (lambda logs: keywords(**logs), READ),
    "dict": (dict, READ),
    "copy": (lambda logs: logs.copy(), READ),
    "copy.copy": (copy.copy, READ),
    "copy.deepcopy": (copy.deepcopy, READ),
    "pickle": (lambda logs: pickle.loads(pickle.dumps(logs)), READ),  # noqa: S301
    "items": (lambda logs: dict(logs.items()), READ),
    "values": (lambda logs: list(logs.values()), [0.5, 0.25, 3]),
    "keys": (lambda logs: list(logs.keys()), list(READ)),
    "reversed": (lambda logs: list(reversed(logs)), list(READ)[::-1]),
    "sorted": (sorted, sorted(READ)),
    "pop": (lambda logs: (logs.pop("loss"), list(logs)), (0.5, ["val_acc", "batch"])),
    "pop of what is not there": (lambda logs: logs.pop("mae", None), None),
    "popitem": (lambda logs: logs.popitem(), ("batch", 3)),
    "setdefault": (lambda logs: (logs.setdefault("loss", 1), logs.setdefault("lr", 2)), (0.5, 2)),
    "a chain": (lambda logs: dict(ChainMap({}, logs)), READ),
    "%": (lambda logs: "%(loss)s %(batch)d".__mod__(logs), "0.5 3"),
    "format": (lambda logs: "{loss:.2f} {val_acc}".format(**logs), "0.50 0.25"),
    "repr": (repr, repr(READ)),
    "isinstance": (lambda logs: isinstance(logs, dict), True),
    "len and truth": (lambda logs: (len(logs), bool(logs), bool(Logs())), (3, True, False)),
}


@pytest.mark.parametrize("way", WAYS)
def test_logs_are_a_dict_of_numbers(way: str):
    ask, expected = WAYS[way]
    assert ask(logs()) == expected


def test_they_are_equal_to_such_a_dict():
    assert logs() == READ
    expected = dict(READ)
    assert expected == logs()
    assert logs() == logs()
    assert logs() != {**READ, "batch": 4}


def test_they_are_changed_like_a_dict():
    found, other = logs(), {"x": 1}
    found |= {"lr": torch.tensor(0.5)}
    found.update(mae=2.0)
    del found["loss"]
    other.update(found)
    assert other == {"x": 1, "val_acc": 0.25, "batch": 3, "lr": 0.5, "mae": 2.0}
    with pytest.raises(KeyError, match="'loss'"):
        found["loss"]
    found.clear()
    with pytest.raises(KeyError, match="the logs are empty"):
        found.popitem()


def test_a_number_is_read_when_it_is_asked_for_and_once():
    asked = []
    found = Logs(first=lambda: asked.append("first") or 1.0, second=lambda: asked.append("second") or 2.0)  # type: ignore[arg-type]
    assert list(found) == ["first", "second"]
    assert "second" in found
    assert asked == []
    assert found["second"] == found.get("second") == 2.0
    assert asked == ["second"]


# --- the names of both Keras -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("acc", "accuracy"),
        ("accuracy", "acc"),
        ("val_acc", "val_accuracy"),
        ("val_accuracy", "val_acc"),
        ("head_acc_1", "head_accuracy_1"),
        ("val_weighted_acc", "val_weighted_accuracy"),
        ("ce", "crossentropy"),
        ("mean_squared_error", "mse"),
        ("val_mean_absolute_error", "val_mae"),
        ("head_mean_absolute_percentage_error", "head_mape"),
        ("mean_squared_logarithmic_error_1", "msle_1"),
        ("lr", "learning_rate"),
    ],
)
def test_a_number_is_found_by_the_other_keras_s_name(kept: str, asked: str):
    found = Logs({kept: torch.tensor(0.5)})
    assert asked in found
    assert found[asked] == found.get(asked) == 0.5
    assert list(found) == [kept]


def test_its_own_name_goes_before():
    found = Logs(acc=1.0, accuracy=2.0)
    assert (found["acc"], found["accuracy"]) == (1.0, 2.0)
    assert Logs(loss=1.0).get("accuracy") is None
    assert 3 not in found


def made(**options: Any) -> Sequential:
    model = Sequential([Dense(1, activation="sigmoid", input_shape=(3,))])
    model.compile("sgd", "binary_crossentropy", **options)
    return model


class Looking(Callback):
    """What a callback written for Keras 3 asks: `logs.get("accuracy")`."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.seen.append((logs.get("accuracy"), logs["val_accuracy"]))


def test_a_history_has_its_names_and_finds_the_others(tmp_path: Any):
    looking, file = Looking(), tmp_path / "log.csv"
    model = made(metrics=["accuracy"])
    history = model.fit(X, Y, epochs=2, verbose=0, validation_data=(X, Y), callbacks=[looking, CSVLogger(file)]).history
    assert list(history) == ["val_loss", "val_acc", "loss", "acc"]
    assert file.read_text().splitlines()[0] == "epoch,acc,loss,val_acc,val_loss"
    assert isinstance(history, dict)
    assert history["accuracy"] is history["acc"]
    assert history.get("val_accuracy") == history["val_acc"]
    assert "accuracy" in history
    assert "mae" not in history
    assert looking.seen == list(zip(history["acc"], history["val_acc"], strict=True))
    assert json.loads(json.dumps(history)) == history
    assert copy.deepcopy(history)["accuracy"] == history["acc"]
    evaluated = model.evaluate(X, Y, verbose=0, return_dict=True)
    assert evaluated["accuracy"] == evaluated["acc"]
    tried = model.train_on_batch(X, Y, return_dict=True)
    assert tried["accuracy"] == tried["acc"]


def test_a_history_that_goes_on_finds_them_too():
    history = History()
    history.load_state_dict({"epoch": [0], "history": {"acc": [0.5]}})
    assert history.history["accuracy"] == [0.5]


def test_a_monitor_finds_an_error_by_its_short_name(tmp_path: Any):
    model, path = made(metrics=["mae"]), tmp_path / "best.weights.h5"
    stopping = EarlyStopping("val_mae", patience=0, baseline=-1.0)  # which no error is better than
    checkpoint = ModelCheckpoint(path, "val_mae", save_best_only=True)
    history = model.fit(X, Y, epochs=3, verbose=0, validation_data=(X, Y), callbacks=[stopping, checkpoint]).history
    assert history["val_mae"] is history["val_mean_absolute_error"]
    assert (len(history["mae"]), path.exists()) == (1, True)


@pytest.mark.parametrize("monitor", ["val_accuracy", "val_acc"])
def test_a_monitor_finds_both(monitor: str, tmp_path: Any):
    stopping = EarlyStopping(monitor, patience=0, baseline=2.0)  # which no accuracy is better than
    checkpoint = ModelCheckpoint(tmp_path / "{val_accuracy:.1f}.weights.h5", monitor, save_best_only=True)
    plateau = ReduceLROnPlateau(monitor, patience=0, min_delta=2.0, factor=0.5)
    model = made(metrics=["accuracy"])
    model.fit(X, Y, epochs=3, verbose=0, validation_data=(X, Y), callbacks=[stopping, checkpoint, plateau])
    assert len(model.history.epoch) == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"{model.history.history['val_acc'][0]:.1f}.weights.h5"]


def test_metrics_of_another_name_are_found_as_acc(tmp_path: Any):
    """The other way: what is reported as `accuracy`, by a step of one's own or a metric's name."""

    class Naming(Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            logs["accuracy"] = 0.5

    model = made()
    history = model.fit(X, Y, verbose=0, callbacks=[Naming()]).history
    assert history["acc"] == history["accuracy"] == [0.5]


def test_a_checkpoint_makes_its_folder(tmp_path: Any):
    made().fit(X, Y, verbose=0, callbacks=[ModelCheckpoint(tmp_path / "a" / "b{epoch}" / "m.h5")])
    assert [path.name for path in (tmp_path / "a" / "b1").iterdir()] == ["m.h5"]

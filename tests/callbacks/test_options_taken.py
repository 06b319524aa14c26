"""Options of callbacks that Keras takes in several forms stay taken; what is kept is one form."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from callback_table import TABLE

from torchkeras import callbacks

TAKEN: list[tuple[str, dict[str, Any], str, Any]] = [
    ("EarlyStopping", {"verbose": 2}, "verbose", 2),
    ("EarlyStopping", {"verbose": True}, "verbose", 1),
    ("EarlyStopping", {"verbose": np.int64(1)}, "verbose", 1),
    ("EarlyStopping", {"restore_best_weights": 1}, "restore_best_weights", True),
    ("EarlyStopping", {"restore_best_weights": np.True_}, "restore_best_weights", True),
    ("ModelCheckpoint", {"filepath": Path("a.h5"), "save_best_only": 0}, "filepath", "a.h5"),
    ("ModelCheckpoint", {"filepath": "{epoch:02d}-{val_loss:.2f}-{lr!r}.h5"}, "period", 1),
    ("ModelCheckpoint", {"filepath": "{{a}}.h5"}, "filepath", "{{a}}.h5"),
    ("CSVLogger", {"filename": Path("log.csv"), "append": 1}, "append", True),
    ("TensorBoard", {"log_dir": Path("logs"), "write_graph": 0}, "log_dir", "logs"),
    ("TensorBoard", {"update_freq": 100.0}, "update_freq", 100.0),
    ("TensorBoard", {"update_freq": "batch"}, "update_freq", 1),
    ("RemoteMonitor", {"headers": {"a": "b"}, "send_as_json": 1}, "send_as_json", True),
    ("BaseLogger", {"stateful_metrics": (name for name in ("acc",))}, "stateful_metrics", {"acc"}),
    ("ProgbarLogger", {"stateful_metrics": {"acc": 1}.keys()}, "stateful_metrics", {"acc"}),
    ("LambdaCallback", {"on_epoch_end": print, "on_train_end": None}, "on_epoch_end", print),
]


@pytest.mark.parametrize(("name", "options", "option", "kept"), TAKEN)
def test_what_keras_takes_is_taken(name: str, options: dict[str, Any], option: str, kept: Any):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = getattr(callbacks, name)(**options)
    assert getattr(made, option) == kept


@pytest.mark.parametrize("name", ["EarlyStopping", "ReduceLROnPlateau"])
@pytest.mark.parametrize("mode", ["least", None])
def test_another_mode_is_read_as_auto_with_a_warning(name: str, mode: Any):
    with pytest.warns(RuntimeWarning, match=rf"^{name}: mode must be 'auto', 'min' or 'max'; found {mode!r}, read as"):
        made = getattr(callbacks, name)(monitor="val_acc", mode=mode)
    assert made.mode == "auto"
    assert made.rises


@pytest.mark.parametrize(
    ("made", "option", "value", "attribute"),
    [
        (callbacks.CSVLogger("log.csv"), "separator", ";", "sep"),
        (callbacks.BackupAndRestore("one"), "backup_dir", Path("other"), "folder"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_an_option_of_another_name_than_its_attribute_may_be_set(made: Any, option: str, value: Any, attribute: str):
    setattr(made, option, value)
    assert getattr(made, attribute) == getattr(made, option) == value


def test_the_old_name_of_min_delta_sets_it():
    """As in Keras 2.2.4, `epsilon` is no attribute that can be read."""
    made = callbacks.ReduceLROnPlateau()
    made.epsilon = 0.5
    assert made.min_delta == 0.5
    assert not hasattr(made, "epsilon")


OPTIONS_OF_NO_ATTRIBUTE = {
    "LambdaCallback": {"hooks"},  # each hook is an attribute
    "TorchScheduler": {"arguments", "options"},  # of the scheduler
    "Logs": {"values", "more"},  # a dict
}


MADE = {**{name: make for name, (make, _) in TABLE.items()}, "BackupAndRestore": callbacks.BackupAndRestore}


@pytest.mark.parametrize("name", [name for name in MADE if name.partition(" ")[0] not in OPTIONS_OF_NO_ATTRIBUTE])
def test_each_option_is_an_attribute(name: str, tmp_path: Path):
    made = MADE[name](tmp_path)
    kind = type(made)
    for option in inspect.signature(kind).parameters:
        assert hasattr(made, option) or isinstance(getattr(kind, option, None), property)

"""Traces of chosen batches."""

import json
import re

import pytest
from callback_models import X, Y, drive, small

from torchkeras.callbacks import LambdaCallback, Profiler


def steps_in(path):
    """How many updates of weights a trace has."""
    events = json.loads(path.read_text())["traceEvents"]
    return sum(event.get("name") == "aten::_fused_sgd_" for event in events)


@pytest.mark.parametrize(
    ("options", "name", "steps"),
    [
        ({"first": 1, "batches": 2}, "trace-epoch0-batch1-2.pt.trace.json", 2),
        ({"first": 0, "batches": 1, "epoch": 1, "record_shapes": True}, "trace-epoch1-batch0-0.pt.trace.json", 1),
        ({"first": 4, "batches": 9}, "trace-epoch0-batch4-5.pt.trace.json", 2),
    ],
)
def test_a_trace_has_the_batches_asked_for(tmp_path, options, name, steps):
    profiler = Profiler(tmp_path / "logs", **options)
    small().fit(X, Y, batch_size=4, epochs=2, verbose=0, callbacks=[profiler])
    assert [path.name for path in (tmp_path / "logs").iterdir()] == [name]
    assert profiler.path is not None
    assert profiler.path.name == name
    assert steps_in(profiler.path) == steps


def test_training_that_ends_early_ends_the_trace(tmp_path):
    model = small()
    stop = LambdaCallback(on_batch_end=lambda batch, logs: setattr(model, "stop_training", batch == 1))
    profiler = Profiler(tmp_path, first=1)
    model.fit(X, Y, batch_size=4, verbose=0, callbacks=[stop, profiler])
    assert [path.name for path in tmp_path.iterdir()] == ["trace-epoch0-batch1-1.pt.trace.json"]


def test_an_error_ends_the_trace(tmp_path):
    def fail(batch, logs):
        raise KeyError("a fault")

    with pytest.raises(KeyError, match="a fault"):
        small().fit(
            X, Y, batch_size=4, verbose=0, callbacks=[Profiler(tmp_path, first=0), LambdaCallback(on_batch_end=fail)]
        )
    assert [path.name for path in tmp_path.iterdir()] == ["trace-epoch0-batch0-0.pt.trace.json"]


def test_no_batch_was_there(tmp_path):
    message = "Profiler: no batch was traced, since training had no batch 9 in epoch 0."
    with pytest.warns(RuntimeWarning, match=f"^{re.escape(message)}$"):
        drive([Profiler(tmp_path, first=9)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": -1}, "Profiler: first must be an integer of at least 0; found -1."),
        ({"batches": 0}, "Profiler: batches must be an integer of at least 1; found 0."),
        ({"epoch": "0"}, "Profiler: epoch must be an integer of at least 0; found '0'."),
    ],
)
def test_profilers_refuse(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Profiler(**options)

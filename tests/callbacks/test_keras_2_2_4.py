"""Callbacks do with given logs what those of genuine Keras 2.2.4 did: tests/golden/keras-2.2.4-callbacks.json."""

import json
import math
import re
import threading
import warnings
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import torch
from callback_models import FakeModel

from torchkeras import callbacks
from torchkeras.callbacks import BaseLogger, CallbackList, CSVLogger, Logs, RemoteMonitor

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "keras-2.2.4-callbacks.json").read_text())
SCHEDULES = {
    "halves": lambda epoch: 0.5**epoch,
    "of_rate": lambda epoch, lr: lr * 0.5,
    "with_default": lambda epoch, other=3.0: other * 0.25,
}


def run(name, options, epochs, stop_at=None):
    """One callback through epochs of logs, as scripts/golden_callbacks.py has it."""
    model, rates = FakeModel(), []
    options = dict(options)
    if "schedule" in options:
        options["schedule"] = SCHEDULES[options["schedule"]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        each = CallbackList([getattr(callbacks, name)(**options)])
        each.set_params({"epochs": len(epochs), "metrics": sorted({key for logs in epochs for key in logs})})
        each.set_model(model)
        each.on_train_begin()
        for epoch, logs in enumerate(epochs):
            model.epoch = epoch
            each.on_epoch_begin(epoch)
            model.stop_training = epoch == stop_at
            each.on_epoch_end(epoch, Logs(logs))
            rates.append(model.optimizer.lr)
            if model.stop_training:
                break
        each.on_train_end()
    return model, rates, [warning.category.__name__ for warning in caught]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['callback']}-{case['logs']}")
def test_epochs(case, capsys):
    genuine = case["result"]
    model, rates, warned = run(case["callback"], case["options"], GOLDEN["sequences"][case["logs"]])
    assert model.calls == genuine["calls"]
    assert rates == genuine["rates"]
    assert model.stop_training is genuine["stopped"]
    assert warned == genuine["warnings"]
    assert bool(capsys.readouterr().out) == bool(genuine["lines"])


def test_the_table_holds_every_kind_of_outcome():
    kinds = {case["callback"] for case in GOLDEN["cases"]}
    assert kinds == {"EarlyStopping", "ReduceLROnPlateau", "ModelCheckpoint", "LearningRateScheduler"}
    assert {case["result"]["stopped"] for case in GOLDEN["cases"]} == {True, False}
    assert any(math.isnan(logs["loss"]) for logs in GOLDEN["sequences"]["broken"])


@pytest.mark.parametrize("case", GOLDEN["csv"], ids=lambda case: case["name"])
def test_csv(case, tmp_path):
    path = tmp_path / "log.csv"
    if case["before"] is not None:
        path.write_bytes(case["before"].encode())
    _, _, warned = run("CSVLogger", {"filename": path, **case["options"]}, case["logs"], case["stop_at"])
    assert path.read_bytes() == case["text"].encode()
    assert warned == []


class Recorder(BaseHTTPRequestHandler):
    seen: list = []
    status = 200

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        own = self.headers.get("X-Own")
        self.seen.append({"path": self.path, "type": self.headers["Content-Type"], "own": own, "body": body})
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, format, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", [])
    made = HTTPServer(("127.0.0.1", 0), Recorder)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.mark.parametrize("case", GOLDEN["remote"], ids=lambda case: str(case["options"]))
@pytest.mark.parametrize("status", [200, 500])
def test_remote(case, status, server, monkeypatch):
    monkeypatch.setattr(Recorder, "status", status)
    run("RemoteMonitor", {"root": server, **case["options"]}, case["logs"])
    assert Recorder.seen == case["requests"]


def test_remote_sends_arrays_as_lists(server):
    run("RemoteMonitor", {"root": server, "send_as_json": True}, [{"loss": torch.tensor([0.5, 1.0])}])
    assert json.loads(Recorder.seen[0]["body"]) == {"epoch": 0, "loss": [0.5, 1.0]}


def test_remote_refuses_what_is_no_address():
    message = "RemoteMonitor: root must begin with http:// or https://; found 'localhost:9000'."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        RemoteMonitor("localhost:9000")


def test_averages():
    golden = GOLDEN["averages"]
    logger = BaseLogger(stateful_metrics=["auc"])
    logger.set_params({"metrics": ["loss", "acc", "auc", "val_loss"]})
    for make in (lambda value: value, torch.tensor, lambda value: torch.tensor(value, dtype=torch.float64)):
        logger.on_epoch_begin(0)
        for number, numbers in enumerate(golden["batches"]):
            size = numbers["size"]
            logs = Logs({k: make(v) for k, v in numbers.items() if k != "size"}, size=size)
            logger.on_train_batch_end(number, logs)
        for logs in ({}, Logs()):
            logger.on_epoch_end(0, logs)
            assert dict(logs) == pytest.approx(golden["logs"], rel=1e-7)
            assert all(type(value) is float for value in dict(logs).values())


def test_remote_goes_on_without_a_server(recwarn):
    RemoteMonitor("http://127.0.0.1:9").on_epoch_end(0, {"loss": 1.0})  # port 9 discards, where anything listens
    assert len(recwarn) == 1
    assert str(recwarn[0].message).startswith("RemoteMonitor: could not reach the server at http://127.0.0.1:9: ")


def test_a_csv_file_of_other_columns(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("epoch,loss\n0,1\n")
    logger = CSVLogger(path, append=True)
    message = f"CSVLogger: {path} has the columns epoch, loss; the rows that are added have epoch, acc, loss."
    logger.set_model(FakeModel())
    logger.on_train_begin()
    with pytest.warns(RuntimeWarning) as caught:
        logger.on_epoch_end(1, {"loss": 1.0, "acc": 0.5})
    logger.on_train_end()
    assert [str(each.message) for each in caught] == [message]

"""Make tests/golden/keras-2.2.4-callbacks.json: what genuine callbacks of Keras 2.2.4 do with given logs.

    python scripts/golden_callbacks.py FILE        in an environment with Keras 2.2.4

Each case has the callback, its options, the logs of each epoch, and the result: what the callback did to a fake model.
The tests give the same logs to our callbacks.
"""

import io
import json
import os
import sys
import tempfile
import threading
import warnings
from contextlib import redirect_stdout
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
from keras import backend, callbacks  # type: ignore[import-not-found]  # Keras 2.2.4, there and nowhere else


class Optimizer:
    def __init__(self, lr):
        self.lr = backend.variable(lr)


class Model:
    """A fake model. Its weights are the number of the epoch; it records what is asked of it."""

    def __init__(self, lr):
        self.optimizer = Optimizer(lr)
        self.stop_training = False
        self.epoch = 0
        self.calls = []

    def get_weights(self):
        return [np.array(float(self.epoch))]

    def set_weights(self, weights):
        self.calls.append(["set_weights", float(weights[0])])

    def save(self, path, overwrite=True):
        self.calls.append(["save", path])

    def save_weights(self, path, overwrite=True):
        self.calls.append(["save_weights", path])


def run(name, options, epochs, lr=1.0, stop_at=None, before=None):
    """Run one callback through epochs of logs; returns what it did."""
    model, text = Model(lr), io.StringIO()
    rates, warned = [], []
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(text):
        warnings.simplefilter("always")
        options = dict(options)
        if "schedule" in options:
            options["schedule"] = SCHEDULES[options["schedule"]]
        callback = getattr(callbacks, name)(**options)
        callback.set_params({"epochs": len(epochs), "metrics": sorted({k for logs in epochs for k in logs})})
        callback.set_model(model)
        callback.on_train_begin()
        for epoch, logs in enumerate(epochs):
            model.epoch = epoch
            callback.on_epoch_begin(epoch)
            if stop_at == epoch:
                model.stop_training = True
            callback.on_epoch_end(epoch, dict(logs))
            rates.append(float(backend.get_value(model.optimizer.lr)))
            if model.stop_training:
                break
        callback.on_train_end()
        warned = [str(w.category.__name__) for w in caught if "callbacks.py" in w.filename]
    shown = [line for line in text.getvalue().split("\n") if line.strip()]
    return {"calls": model.calls, "rates": rates, "stopped": model.stop_training, "epochs": len(rates),
            "warnings": warned, "lines": len(shown)}  # fmt: skip


SCHEDULES = {
    "halves": lambda epoch: 0.5**epoch,
    "of_rate": lambda epoch, lr: lr * 0.5,
    "with_default": lambda epoch, other=3.0: other * 0.25,
}

NAN = float("nan")
FALLING = [5.0, 4.0, 4.0, 3.999, 3.0, 3.5, 3.25, 3.125, 2.0, 2.0, 2.5, 2.25]
RISING = [0.25, 0.5, 0.5, 0.501, 0.75, 0.625, 0.7, 0.8, 0.8, 0.79]
BROKEN = [2.0, 1.5, NAN, NAN, 1.0, NAN]
INFINITE = [float("inf"), 3.0, float("inf"), 2.0, -1.0]


def epochs_of(name, values):
    return [{"loss": value, name: value} for value in values]


SEQUENCES = {
    "falling": epochs_of("val_loss", FALLING),
    "rising": epochs_of("val_acc", RISING),
    "broken": epochs_of("val_loss", BROKEN),
    "infinite": epochs_of("val_loss", INFINITE),
    "without": [{"loss": 1.0}, {"loss": 0.5}],
}

CASES = [
    *[("EarlyStopping", options, "falling") for options in (
        {}, {"patience": 1}, {"patience": 2}, {"patience": 3}, {"patience": 2, "min_delta": 0.5},
        {"patience": 2, "min_delta": 0.01}, {"patience": 2, "baseline": 4.5}, {"patience": 3, "baseline": 1.0},
        {"patience": 2, "restore_best_weights": True}, {"patience": 2, "restore_best_weights": True, "verbose": 1},
        {"patience": 4, "restore_best_weights": True}, {"mode": "max", "patience": 2}, {"mode": "min", "verbose": 1},
        {"mode": "least", "patience": 2}, {"patience": 2, "monitor": "loss"}, {"patience": 0, "baseline": 4.0},
    )],
    *[("EarlyStopping", {"monitor": "val_acc", **options}, "rising") for options in (
        {}, {"patience": 2}, {"patience": 1, "min_delta": 0.1}, {"mode": "min", "patience": 3},
        {"patience": 2, "baseline": 0.4, "restore_best_weights": True},
    )],
    ("EarlyStopping", {"patience": 2}, "broken"),
    ("EarlyStopping", {"patience": 1, "restore_best_weights": True}, "broken"),
    ("EarlyStopping", {"patience": 2}, "infinite"),
    ("EarlyStopping", {"patience": 1}, "without"),
    *[("ReduceLROnPlateau", options, "falling") for options in (
        {"patience": 1, "factor": 0.5}, {"patience": 2, "factor": 0.5}, {"patience": 0, "factor": 0.5},
        {"patience": 1, "factor": 0.5, "cooldown": 2}, {"patience": 1, "factor": 0.25, "min_lr": 0.125},
        {"patience": 1, "factor": 0.5, "min_delta": 0.5}, {"patience": 1, "factor": 0.5, "epsilon": 0.5},
        {"patience": 2, "factor": 0.5, "mode": "max"}, {"patience": 1, "factor": 0.5, "verbose": 1},
        {"patience": 1, "factor": 0.5, "mode": "least", "min_delta": 0},
    )],
    ("ReduceLROnPlateau", {"monitor": "val_acc", "patience": 1, "factor": 0.5}, "rising"),
    ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5}, "broken"),
    ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5}, "infinite"),
    ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5}, "without"),
    *[("ModelCheckpoint", {"filepath": path, **options}, "falling") for path, options in (
        ("last.h5", {}), ("w.{epoch:02d}-{val_loss:.2f}.hdf5", {}), ("last.h5", {"save_best_only": True}),
        ("w.{epoch:02d}-{val_loss:.2f}.hdf5", {"save_best_only": True, "save_weights_only": True}),
        ("w.{epoch}.h5", {"period": 3}), ("w.{epoch}.h5", {"period": 2, "save_best_only": True}),
        ("w.{epoch}.h5", {"mode": "max", "save_best_only": True}), ("w.h5", {"verbose": 1}),
        ("w.h5", {"verbose": 1, "save_best_only": True}), ("w.{epoch}.h5", {"save_best_only": True, "mode": "least"}),
        ("w.{epoch}.h5", {"save_best_only": True, "monitor": "loss", "period": 0}),
    )],
    ("ModelCheckpoint", {"filepath": "{epoch}-{val_acc:.3f}", "save_best_only": True, "monitor": "val_acc"}, "rising"),
    ("ModelCheckpoint", {"filepath": "{epoch}", "save_best_only": True}, "broken"),
    ("ModelCheckpoint", {"filepath": "{epoch}", "save_best_only": True, "mode": "max"}, "broken"),
    ("ModelCheckpoint", {"filepath": "{epoch}", "save_best_only": True}, "infinite"),
    ("ModelCheckpoint", {"filepath": "{epoch}", "save_best_only": True}, "without"),
    ("ModelCheckpoint", {"filepath": "{epoch}"}, "without"),
    *[("LearningRateScheduler", {"schedule": name, "verbose": verbose}, "without") for name in SCHEDULES
      for verbose in (0, 1)],
]  # fmt: skip

CSV_LOGS = [
    {"val_loss": 0.1, "loss": 1e-7, "acc": 1.0},
    {"val_loss": 1e22, "loss": 3, "acc": float("inf")},
    {"val_loss": float("nan"), "loss": [1.5, 2.5], "acc": 'a;b,c"d'},
]
CSV_RUNS = [
    ("plain", {}, None, None, CSV_LOGS),
    ("semicolon", {"separator": ";"}, None, None, CSV_LOGS),
    ("append_to_nothing", {"append": True}, None, None, CSV_LOGS),
    ("append_to_some", {"append": True}, None, "epoch,acc,loss,val_loss\r\n0,1,2,3\r\n", CSV_LOGS),
    ("append_to_empty", {"append": True}, None, "", CSV_LOGS),
    ("over_some", {}, None, "old", CSV_LOGS),
    ("stopped_without_a_value", {}, 1, None, [{"loss": 1.0, "acc": 0.5}, {"loss": 2.0}]),
    ("tab", {"separator": "\t"}, None, None, [{"loss": 0.30000001192092896}]),
]


def csv_case(folder, name, options, stop_at, before, logs):
    path = os.path.join(folder, name)
    if before is not None:
        with open(path, "w", newline="") as file:
            file.write(before)
    run("CSVLogger", {"filename": path, **options}, logs, stop_at=stop_at)
    with open(path, newline="") as file:
        return {"name": name, "options": options, "stop_at": stop_at, "before": before, "logs": logs,
                "text": file.read()}  # fmt: skip


class Recorder(BaseHTTPRequestHandler):
    seen = []

    def do_POST(self):  # the name that http.server expects
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        own = self.headers.get("X-Own")
        self.seen.append({"path": self.path, "type": self.headers["Content-Type"], "own": own, "body": body})
        self.send_response(200)
        self.end_headers()

    def log_message(self, format, *arguments):
        pass


def remote_cases():
    server = HTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    made = []
    logs = [{"loss": 0.5, "acc": 1.0}]
    for options in ({}, {"send_as_json": True}, {"field": "x y", "path": "/p"}, {"headers": {"X-Own": "1"}}):
        Recorder.seen.clear()
        run("RemoteMonitor", {"root": root, **options}, logs)
        made.append({"options": options, "logs": logs, "requests": list(Recorder.seen)})
    server.shutdown()
    return made


def averages():
    batches = [{"size": 4, "loss": 1.0, "acc": 0.5, "auc": 0.25}, {"size": 4, "loss": 2.0, "acc": 0.25, "auc": 0.5},
               {"size": 1, "loss": 8.0, "acc": 1.0, "auc": 0.75}]  # fmt: skip
    logger = callbacks.BaseLogger(stateful_metrics=["auc"])
    logger.set_params({"metrics": ["loss", "acc", "auc", "val_loss"]})
    logger.on_epoch_begin(0)
    for number, logs in enumerate(batches):
        logger.on_batch_end(number, logs)
    logs = {}
    logger.on_epoch_end(0, logs)
    return {"batches": batches, "logs": logs}


def main(path):
    with tempfile.TemporaryDirectory() as folder:
        csv = [csv_case(folder, *case) for case in CSV_RUNS]
    golden = {
        "sequences": SEQUENCES,
        "cases": [
            {"callback": name, "options": options, "logs": logs, "result": run(name, options, SEQUENCES[logs])}
            for name, options, logs in CASES
        ],
        "csv": csv,
        "remote": remote_cases(),
        "averages": averages(),
    }
    with open(path, "w") as file:
        json.dump(golden, file, indent=None, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])

"""What trackers of experiments are told of a `fit`."""

import re
import sys

import numpy as np
import pytest
from callback_models import X, Y, drive, small

from torchkeras.callbacks import AimLogger, BackupAndRestore, LambdaCallback, MLflowLogger, WandbLogger

LOGGERS = {"wandb": WandbLogger, "mlflow": MLflowLogger, "aim": AimLogger}
OF_FIT = {"batch_size": 8, "epochs": 2, "samples": len(X)}


def fit(*callbacks, epochs=2, **options):
    return small().fit(X, Y, batch_size=8, epochs=epochs, verbose=0, callbacks=list(callbacks), **options).history


def epochs_of(package, run):
    """The epochs of a run, and the numbers of each."""
    if package != "aim":
        return [entry["epoch"] for entry in run.logged], [
            {name: value for name, value in entry.items() if name != "epoch"} for entry in run.logged
        ]
    steps = sorted({step for _, _, step in run.tracked})
    return steps, [{name: value for name, value, step in run.tracked if step == each} for each in steps]


def ends_of(package, run):
    """How a run ended, each time."""
    return [run.is_closed] if package == "aim" else run.ended


def config_of(package, run):
    return {"wandb": lambda: run.values, "mlflow": lambda: run.data.params, "aim": lambda: run["hparams"]}[package]()


@pytest.mark.parametrize(
    ("package", "options", "ended"),
    [
        ("wandb", {"project": "digits"}, [0]),
        ("mlflow", {"run_name": "first"}, ["FINISHED"]),
        ("aim", {"experiment": "all"}, [True]),
    ],
)
def test_a_fit_is_a_run(trackers, package, options, ended):
    logger = LOGGERS[package]({"units": 4}, **options)
    history = fit(logger, validation_split=0.5)
    (run,) = getattr(trackers, package).runs.values()
    epochs, values = epochs_of(package, run)
    assert epochs == [0, 1]
    assert values == [{name: history[name][epoch] for name in ("val_loss", "loss")} for epoch in epochs]
    assert config_of(package, run) == {**OF_FIT, "samples": len(X) // 2, "units": 4}
    assert ends_of(package, run) == ended
    (option,) = options
    assert getattr(run.info if package == "mlflow" else run, option) == options[option]
    fit(logger)
    assert len(getattr(trackers, package).runs) == 2


@pytest.mark.parametrize(("package", "ended"), [("wandb", [1]), ("mlflow", ["FAILED"]), ("aim", [True])])
def test_an_error_ends_the_run(trackers, package, ended):
    def fail(epoch, logs):
        raise KeyError("a fault")

    with pytest.raises(KeyError, match="a fault"):
        fit(LOGGERS[package](), LambdaCallback(on_epoch_end=fail))
    (run,) = getattr(trackers, package).runs.values()
    assert ends_of(package, run) == ended


@pytest.mark.parametrize("package", LOGGERS)
def test_after_a_stop_the_run_goes_on(trackers, package, tmp_path):
    def fail(epoch, logs):
        if epoch == 2 and not (tmp_path / "failed").exists():
            (tmp_path / "failed").touch()
            raise KeyError("a fault")

    def again():
        return fit(
            LOGGERS[package]({"units": 4}),
            LambdaCallback(on_epoch_begin=fail),
            BackupAndRestore(tmp_path / "backup"),
            epochs=4,
        )

    with pytest.raises(KeyError, match="a fault"):
        again()
    again()
    (run,) = getattr(trackers, package).runs.values()
    assert epochs_of(package, run)[0] == [0, 1, 2, 3]
    assert ends_of(package, run)[-1] in (0, "FINISHED", True)


@pytest.mark.parametrize("package", ["wandb", "mlflow"])
def test_a_run_of_the_users_stays_open(trackers, package):
    tracker = getattr(trackers, package)
    run = tracker.init() if package == "wandb" else tracker.start_run()
    fit(LOGGERS[package]())
    fit(LOGGERS[package]({"units": 3}), epochs=3, initial_epoch=2)
    assert epochs_of(package, run)[0] == [0, 1, 2]
    assert ends_of(package, run) == []
    assert list(tracker.runs.values()) == [run]
    # MLflow never changes a parameter: the first value stays.
    assert config_of(package, run) == {**OF_FIT, "epochs": 3 if package == "wandb" else 2, "units": 3}


@pytest.mark.parametrize("package", LOGGERS)
def test_a_number_with_axes_is_refused(package):
    text = f"{LOGGERS[package].__name__}: 'f1' in the logs must be a number; found an array of shape (2,). Give the"
    with pytest.raises(TypeError, match=f"^{re.escape(text)}"):
        drive([LOGGERS[package]()], numbers=lambda epoch: {"f1": np.ones(2)})


@pytest.mark.parametrize("package", LOGGERS)
def test_options_that_are_refused(package, monkeypatch):
    name = LOGGERS[package].__name__
    for config in (3, "units", {3: "units"}):
        text = f"{name}: config must be a dictionary by name, or None; found {config!r}."
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            LOGGERS[package](config)
    monkeypatch.setitem(sys.modules, package, None)
    text = f"{name}: the package {package} is missing. Install it with `pip install torchkeras-graph[{package}]`."
    with pytest.raises(ImportError, match=f"^{re.escape(text)}$"):
        LOGGERS[package]()

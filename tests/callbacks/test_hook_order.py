"""What callbacks see of a run, and how its numbers are named, against what genuine Keras 2.2.4 gave.

`scripts/record_hooks.py` made the records, and makes the same of torchkeras here.
"""

import json
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchkeras import metrics
from torchkeras.layers import Dense, Input
from torchkeras.models import Model

ROOT = Path(__file__).parents[2]
script = runpy.run_path(str(ROOT / "scripts" / "record_hooks.py"))
RECORDS = json.loads((ROOT / "tests" / "golden" / "keras-2.2.4-hooks.json").read_text())
BY_NAME: dict[str, dict[str, Any]] = {record["name"]: record for record in RECORDS}
RUNS = [record["name"] for record in RECORDS if "events" in record]
FITS = [name for name in RUNS if BY_NAME[name]["returned"] == "History"]


@cache
def ours(name: str) -> dict[str, Any]:
    case = next(case for case in script["CASES"] if case[0] == name)
    return script["record"]("torchkeras", case)


def close(values: Any) -> Any:
    """The same structure, its numbers to be met within what float32 leaves of the recorded six digits."""
    if isinstance(values, dict):
        return {key: close(each) for key, each in values.items()}
    if isinstance(values, list):
        return [close(each) for each in values]
    return pytest.approx(values, rel=1e-4, abs=1e-6) if isinstance(values, float) else values


def test_the_records_are_of_the_cases_that_the_script_has_now():
    assert [[record["name"], *record["source"]] for record in RECORDS] == [list(case) for case in script["CASES"]]


@pytest.mark.parametrize("name", RUNS)
def test_hooks_come_in_the_order_of_keras(name):
    assert [event[:2] for event in ours(name)["events"]] == [event[:2] for event in BY_NAME[name]["events"]]


@pytest.mark.parametrize("name", FITS)
def test_logs_have_the_names_of_keras(name):
    def names(record):
        return [[hook, number, sorted(logs)] for hook, number, logs in record["events"]]

    assert names(ours(name)) == names(BY_NAME[name])


@pytest.mark.parametrize("name", FITS)
def test_logs_have_the_numbers_of_keras(name):
    assert ours(name)["events"] == close(BY_NAME[name]["events"])


@pytest.mark.parametrize("name", RUNS)
def test_params_are_those_of_keras(name):
    assert ours(name)["params"] == BY_NAME[name]["params"]


@pytest.mark.parametrize("name", FITS)
def test_a_callback_knows_its_model_before_its_params(name):
    assert ours(name)["set"] == BY_NAME[name]["set"]


@pytest.mark.parametrize("name", FITS)
def test_validation_data_is_given_to_callbacks(name):
    assert (ours(name)["validation_data"] or None) == (BY_NAME[name]["validation_data"] or None)


@pytest.mark.parametrize("name", RUNS)
def test_what_is_returned_is_what_keras_returns(name):
    assert ours(name)["returned"] == close(BY_NAME[name]["returned"])


@pytest.mark.parametrize("name", BY_NAME, ids=str)
def test_metrics_have_the_names_of_keras(name):
    assert ours(name)["metrics_names"] == BY_NAME[name]["metrics_names"]


@pytest.mark.parametrize("name", BY_NAME, ids=str)
def test_history_has_the_names_of_keras_in_its_order(name):
    assert list(ours(name)["history"]) == list(BY_NAME[name]["history"])


@pytest.mark.parametrize("name", BY_NAME, ids=str)
def test_history_has_the_numbers_of_keras(name):
    assert ours(name)["history"] == close(BY_NAME[name]["history"])
    assert ours(name)["epoch"] == BY_NAME[name]["epoch"]


# --- metric objects, as Keras 3 names them ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"metrics": ["BinaryAccuracy()", "Precision()"]}, ["loss", "binary_accuracy", "precision"]),
        ({"metrics": ["AUC(name='area')"]}, ["loss", "area"]),
        ({"metrics": ["MeanAbsoluteError()"] * 2}, ["loss", "mean_absolute_error", "mean_absolute_error_1"]),
        ({"weighted_metrics": ["MeanAbsoluteError()"]}, ["loss", "mean_absolute_error"]),
        (
            {"metrics": ["MeanAbsoluteError()"], "weighted_metrics": ["MeanAbsoluteError()"]},
            ["loss", "mean_absolute_error", "weighted_mean_absolute_error"],
        ),
    ],
)
def test_a_metric_object_gives_its_own_name(options, names):
    features = Input((2,))
    model = Model(features, Dense(1, activation="sigmoid")(features))
    known = dict(vars(metrics))
    given: Any = {name: [eval(each, known) for each in made] for name, made in options.items()}
    model.compile("sgd", "mse", **given)
    x, y = np.eye(4, 2), np.eye(4, 1)
    history = model.fit(x, y, validation_data=(x, y), verbose=0).history
    assert model.metrics_names == names
    assert list(history) == [f"val_{name}" for name in names] + names

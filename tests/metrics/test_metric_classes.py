"""The classes of metrics have the results of genuine Keras 3.15 over several updates, weights included.

`keras-3.15-metrics.npz` is made by `scripts/golden_keras3_losses.py`.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import metrics, registry
from torchkeras.saving.write.keras3_training import METRICS

GOLDEN = dict(np.load(Path(__file__).parents[1] / "golden" / "keras-3.15-metrics.npz"))


def golden_cases(golden):
    """Each case with its result, cut out of all numbers."""
    start, found = 0, []
    for *case, shape in json.loads(str(golden["cases"])):
        end = start + int(np.prod(shape))
        found.append((case, golden["results"][start:end].reshape(shape)))
        start = end
    assert start == len(golden["results"])
    return found


CASES = golden_cases(GOLDEN)


@pytest.mark.parametrize("name", sorted({case[0] for case, _ in CASES}))
def test_results_are_those_of_keras_3(name):
    for (found, options, data, weight), expected in CASES:
        if found != name:
            continue
        metric = getattr(metrics, name)(**options)
        true, pred = (torch.from_numpy(GOLDEN[f"{data}.{kind}"]) for kind in ("true", "pred"))
        weights = None if weight is None else torch.from_numpy(GOLDEN[weight])
        third = len(true) // 3
        for k, result in enumerate(expected):
            part = slice(k * third, (k + 1) * third)
            metric.update_state(true[part], pred[part], None if weights is None else weights[part])
            message = f"{options} {data} {weight}, update {k}"
            np.testing.assert_allclose(metric.result(), result, rtol=1e-4, atol=2e-6, err_msg=message)


def test_every_class_is_compared_or_said_to_be_none_of_keras_3():
    compared, own = {case[0] for case, _ in CASES}, {name for name in METRICS if METRICS[name] is None}
    lacking = registry.metrics.classes().keys() - {"Mean", "MeanMetricWrapper", "Sum"} - compared - own
    assert not lacking, (
        "compare them by scripts/golden_keras3_losses.py, or map them to None in keras3_training.METRICS"
    )
    assert not compared & own

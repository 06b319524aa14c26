"""The classes of metrics have the results of genuine Keras 3.15 over several updates, weights included.

`keras-3.15-metrics.npz` is made by `scripts/golden_keras3_losses.py`.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import metrics, registry
from torchkeras.saving import keras3_names

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


def test_every_class_that_keras_3_has_is_compared():
    known = keras3_names.METRICS - {"Mean", "MeanMetricWrapper", "Sum"}
    compared = {case[0] for case, _ in CASES}
    assert compared == registry.metrics.classes().keys() & known, "compare by scripts/golden_keras3_losses.py"

"""The classes of losses have the values and gradients of genuine Keras 3.15, weights and masks included.

`keras-3.15-losses.npz` is made by `scripts/golden_keras3_losses.py`.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import losses, metrics, registry
from torchkeras.base.naming import snake_case
from torchkeras.declared import RULES, option_names
from torchkeras.saving import keras3_names

GOLDEN = dict(np.load(Path(__file__).parents[1] / "golden" / "keras-3.15-losses.npz"))


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


def given(key):
    return None if key is None else torch.from_numpy(GOLDEN[key])


@pytest.mark.parametrize("name", sorted({case[0] for case, _ in CASES}))
@pytest.mark.parametrize("kind", ["value", "gradient"])
def test_values_and_gradients_are_those_of_keras_3(name, kind):
    count = 0
    for (found, options, data, weight, mask, of), expected in CASES:
        if (found, of) != (name, kind):
            continue
        count += 1
        y_pred = torch.from_numpy(GOLDEN[f"{data}.pred"]).requires_grad_()
        result = getattr(losses, name)(**options)(given(f"{data}.true"), y_pred, given(weight), given(mask))
        values = result.detach() if kind == "value" else torch.autograd.grad(result.sum(), y_pred)[0]
        message = f"{options} {data} {weight} {mask}"
        np.testing.assert_allclose(values, expected, rtol=1e-4, atol=2e-6, err_msg=message)
    assert count > 0


def test_every_class_that_keras_3_has_is_compared():
    compared = {case[0] for case, _ in CASES}
    assert compared == registry.losses.classes().keys() & keras3_names.LOSSES, (
        "compare by scripts/golden_keras3_losses.py"
    )


def test_every_function_that_keras_3_has_is_that_of_a_class():
    theirs = {registry.losses.find(snake_case(name)) for name in {case[0] for case, _ in CASES}}
    theirs |= {losses.cosine_proximity, losses.rising_cosine_similarity}  # which differ in their sign
    functions = keras3_names.LOSSES - registry.losses.classes().keys()
    assert {registry.losses.find(name) for name in functions} <= theirs


@pytest.mark.parametrize("family", [registry.losses, registry.metrics], ids=["losses", "metrics"])
def test_every_option_of_a_class_has_a_rule(family):
    ruled = {*RULES, "fn"}  # a function is read by the class that takes it
    lacking = {
        f"{name}: {option}"
        for name, kind in family.classes().items()
        for option in option_names(kind)
        if option not in ruled and option not in kind.rules
    }
    assert not lacking, "add each option to RULES in torchkeras/declared.py, or to `rules` of its class"


@pytest.mark.parametrize(
    ("made", "name", "value"),
    [
        (losses.BinaryCrossentropy(), "from_logits", True),
        (losses.Huber(), "delta", 2.0),
        (losses.CategoricalCrossentropy(), "label_smoothing", 0.1),
        (metrics.AUC(), "num_thresholds", 5),
        (metrics.BinaryAccuracy(), "threshold", 0.9),
        (metrics.TopKCategoricalAccuracy(), "k", 2),
        (metrics.Precision(), "dtype", "float64"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_an_option_of_what_is_made_cannot_change(made, name, value):
    text = f"{type(made).__name__}: {name} is settled when the object is made: make another with {name}={value!r}."
    with pytest.raises(AttributeError, match=f"^{re.escape(text)}$"):
        setattr(made, name, value)


def test_options_that_are_read_when_they_are_needed():
    loss = losses.MeanSquaredError()
    loss.reduction, loss.name = "sum", "squares"
    assert (loss(torch.zeros(2, 1), torch.ones(2, 1)).item(), loss.name) == (2.0, "squares")
    with pytest.raises(ValueError, match=r"^MeanSquaredError: reduction must be one of"):
        loss.reduction = "all"

    class Own(losses.Huber):
        pass

    own: Any = Own()
    own.delta = 3.0
    assert own.delta == 3.0

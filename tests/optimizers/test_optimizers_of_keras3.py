"""Optimizers and schedules compute what genuine Keras 3.15 does; made by `scripts/golden_keras3_optimizers.py`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import optimizers
from torchkeras.base.keras_axes import IN_ORDER, Arrangement, permuted
from torchkeras.optimizers import Optimizer, schedules
from torchkeras.saving import keras3_names

FOLDER = Path(__file__).parents[1] / "golden" / "keras-3.15-optimizers"
RECORD = json.loads((FOLDER / "cases.json").read_text())
STEPS = dict(np.load(FOLDER / "steps.npz"))
SHAPES = {path: tuple(shape) for path, shape in RECORD["shapes"].items()}
PLACES = np.cumsum([0, *(int(np.prod(shape)) for shape in SHAPES.values())])

# As the layers of these names have them: transposed, channels first, as it is, and a bias in two parts.
ARRANGEMENTS = {
    "hidden/kernel": permuted((1, 0)),
    "hidden/bias": IN_ORDER,
    "conv/kernel": permuted((2, 3, 1, 0)),
    "embedding/embeddings": IN_ORDER,
    "gru/bias": Arrangement(lambda a, b: [[a], [b]], 2),
}


def torch_shape(path: str) -> list[tuple[int, ...]]:
    shape = SHAPES[path]
    by_path = {"hidden/kernel": [(3, 4)], "conv/kernel": [(2, 3, 2, 2)], "gru/bias": [(6,), (6,)]}
    return by_path.get(path, [shape])


def laid_out(row: np.ndarray) -> list[torch.Tensor]:
    """A flat row of Keras's arrays as torch's tensors."""
    found = []
    for k, path in enumerate(SHAPES):
        tensors = [torch.empty(shape) for shape in torch_shape(path)]
        array = torch.from_numpy(row[PLACES[k] : PLACES[k + 1]].reshape(SHAPES[path]).copy())
        ARRANGEMENTS[path].assign(tensors, array)
        found += tensors
    return found


def flat(tensors: list[torch.Tensor]) -> np.ndarray:
    each = iter(tensors)
    arrays = [made.array([next(each) for _ in range(made.count)]) for made in ARRANGEMENTS.values()]
    return np.concatenate([array.detach().numpy().ravel() for array in arrays])


def of_keras(name: str, options: dict[str, Any], excluded: list[str]) -> Optimizer:
    """Our optimizer of the same formula."""
    ours: dict[str, Any] = {"epsilon": 1e-7} if name not in ("SGD", "Lion", "Adafactor", "Ftrl") else {}
    ours |= options
    if "clipnorm" in options:
        ours["each_clipnorm"] = ours.pop("clipnorm")
    if name in ("RMSprop", "Adagrad"):
        ours["epsilon_inside_root"] = True
    ours |= {"Adagrad": {"initial_accumulator_value": 0.1}, "Nadam": {"schedule_decay": 1.0}}.get(name, {})
    if isinstance(ours.get("learning_rate"), str):
        ours["learning_rate"] = schedules.ExponentialDecay(0.1, 4, 0.5)
    optimizer = getattr(optimizers, name)(**ours)
    optimizer.exclude_from_weight_decay(var_names=excluded)
    return optimizer


def test_every_optimizer_that_keras_3_has_is_compared():
    # On torch, steps of Keras's ScheduleFreeAdamW are not those that it says: `test_schedule_free` has its formula.
    assert {name for name, *_ in RECORD["cases"].values()} == keras3_names.OPTIMIZERS - {"ScheduleFreeAdamW"}


@pytest.mark.parametrize("case", RECORD["cases"])
def test_steps_are_those_of_keras_3(case: str):
    optimizer = of_keras(*RECORD["cases"][case])
    parameters = laid_out(STEPS["start"])
    layers, names = zip(*(path.split("/") for path in SHAPES), strict=True)
    optimizer.bind(parameters, list(ARRANGEMENTS.values()), layers, names)
    for step, row in enumerate(STEPS["gradients"]):
        optimizer.update(parameters, laid_out(row), 7)
        if step in (0, 9):
            np.testing.assert_allclose(flat(parameters), STEPS[case][int(step > 0)], rtol=1e-5, atol=2e-6)
    if optimizer.use_ema:
        optimizer.swap_ema()
        np.testing.assert_allclose(flat(parameters), STEPS[case][2], rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["AdamW", "Lion", "Lamb", "Muon", "Adafactor", "Ftrl"])
def test_the_defaults_of_what_keras_3_added_are_its_own(name: str):
    optimizer, defaults = getattr(optimizers, name)(), dict(RECORD["defaults"][name])
    for of_keras_alone in ("name", "loss_scale_factor", "global_clipnorm"):
        del defaults[of_keras_alone]
    for option, value in defaults.items():
        found = getattr(optimizer, option)
        assert (list(found) if isinstance(found, tuple) else found) == pytest.approx(value), option


@pytest.mark.parametrize("case", RECORD["schedules"])
def test_rates_are_those_of_keras_3(case: str):
    name, options = RECORD["schedules"][case]
    schedule = getattr(schedules, name)(**options)
    np.testing.assert_allclose([schedule(step) for step in range(40)], RECORD["rates"][case], rtol=1e-5, atol=1e-8)
    assert schedule.get_config() == RECORD["configs"][case]
    assert schedules.deserialize(schedules.serialize(schedule)) == schedule

"""ScheduleFreeAdamW makes the steps of its formula."""

import numpy as np
import pytest
import torch

from torchkeras.optimizers import ScheduleFreeAdamW

RATE, BETA_1, BETA_2, EPSILON = 0.1, 0.8, 0.9, 1e-4
START = np.array([1.0, -0.5, 0.0])


def gradient(step: int) -> np.ndarray:
    return np.sin(np.arange(3) + 2.0 * step)


def by_formula(steps: int, warmup: int, decay: float) -> np.ndarray:
    """Algorithm 1 of the paper with Adam's denominator: z steps, x is the mean of all z, y = p is between them."""
    y = z = x = START
    v = np.zeros(3)
    for t in range(1, steps + 1):
        y_decayed = y * (1 - RATE * decay)
        x = (y_decayed - (1 - BETA_1) * z) / BETA_1
        rate = RATE * min(1.0, t / warmup) if warmup else RATE
        v = BETA_2 * v + (1 - BETA_2) * gradient(t) ** 2
        z = z - rate * gradient(t) / (np.sqrt(v / (1 - BETA_2**t)) + EPSILON)
        x = x + (z - x) / t
        y = (1 - BETA_1) * z + BETA_1 * x
    return y


@pytest.mark.parametrize(("warmup", "decay"), [(0, 0.0), (3, 0.0), (4, 0.2)])
def test_steps_are_those_of_the_formula(warmup: int, decay: float):
    weight = torch.tensor(START)
    optimizer = ScheduleFreeAdamW(RATE, BETA_1, BETA_2, EPSILON, warmup, weight_decay=decay or None)
    parameters = [weight]
    for step in range(1, 8):
        optimizer.update(parameters, [torch.tensor(gradient(step))])
        np.testing.assert_allclose(weight.numpy(), by_formula(step, warmup, decay), rtol=1e-9, atol=1e-12)


def test_without_a_schedule_the_mean_of_all_steps_is_what_x_is():
    weight, z, found = torch.tensor(START), START, []
    optimizer = ScheduleFreeAdamW(RATE, BETA_1, BETA_2, EPSILON)
    parameters, v = [weight], np.zeros(3)
    for t in range(1, 6):
        optimizer.update(parameters, [torch.tensor(gradient(t))])
        v = BETA_2 * v + (1 - BETA_2) * gradient(t) ** 2
        z = z - RATE * gradient(t) / (np.sqrt(v / (1 - BETA_2**t)) + EPSILON)
        found.append(z)
    x = (weight.numpy() - (1 - BETA_1) * z) / BETA_1
    np.testing.assert_allclose(x, np.mean(found, axis=0), rtol=1e-9)


@pytest.mark.parametrize("wrong", [{"beta_1": 0.0}, {"beta_1": 1.0}, {"warmup_steps": -1}, {"warmup_steps": 0.5}])
def test_bad_values_are_refused(wrong: dict[str, float]):
    (option,) = wrong
    with pytest.raises(ValueError, match=f"ScheduleFreeAdamW: {option} must be"):
        ScheduleFreeAdamW(**wrong)  # type: ignore[arg-type]

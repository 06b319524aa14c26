"""Weights of samples in every shape that `fit` and `evaluate` take: a weight for each sample, or for each step."""

from typing import Any

import numpy as np


def case_weights_of_samples_and_steps(keras: Any):
    """The loss and a weighted metric, of evaluate and of a step of training."""
    random, found = np.random.RandomState(0), {}
    data = {
        "samples": ((10, 3), (10, 2), [(10,), (10, 1)]),
        "steps": ((10, 4, 3), (10, 4, 2), [(10, 1), (10, 4), (10, 4, 1)]),
    }
    for name, (inputs, targets, shapes) in data.items():
        x, y, kernel = random.rand(*inputs), random.rand(*targets), random.rand(3, 2)
        model = keras.Sequential([keras.Input(inputs[1:]), keras.layers.Dense(2)])
        for shape in shapes:
            weight = np.random.RandomState(1).rand(*shape)
            model.compile(keras.optimizers.SGD(0.1), "mse", weighted_metrics=["mae"])
            model.layers[-1].set_weights([kernel, np.zeros(2)])
            options = {"sample_weight": weight, "batch_size": 4, "verbose": 0}
            found[f"{name} {shape}"] = [
                model.evaluate(x, y, **options),
                model.fit(x, y, shuffle=False, **options).history,
                model.get_weights(),
            ]
    return found

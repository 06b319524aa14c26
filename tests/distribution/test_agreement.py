"""Processes that would not do the same get an error each, which names the difference; nobody waits for ever."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from pool import Pool

from torchkeras.callbacks import EarlyStopping
from torchkeras.distribution import ProcessesDifferError
from torchkeras.layers import Dense, Lambda
from torchkeras.models import Sequential
from torchkeras.optimizers import SGD
from torchkeras.utils import set_random_seed


def made(units: int = 4, activation: str = "relu", optimizer: Any = "sgd", loss: str = "mse", **options: Any) -> Any:
    model = Sequential([Dense(units, activation, input_shape=(3,)), Dense(2)])
    model.compile(optimizer, loss, **options)
    return model


def fitted(model: Any, samples: int = 8, **options: Any) -> Any:
    x = np.random.RandomState(0).randn(samples, 3).astype("float32")
    return model.fit(x, x[:, :2], **{"batch_size": 4, "verbose": 0, **options})


def other_torch(rank: int) -> None:
    before = torch.__version__
    torch.__version__ = before if rank == 0 else "2.0.0"
    try:
        fitted(made())
    finally:
        torch.__version__ = before


def other_method(rank: int) -> None:
    model, x = made(), np.ones((8, 3), "float32")
    model.evaluate(x, x[:, :2], verbose=0) if rank else fitted(model)


# What each process does, by its rank; and how the errors go on after "fit: the processes differ in ".
DIFFERENCES: dict[str, tuple[Callable[[int], Any], str]] = {
    "layers": (
        lambda rank: fitted(made(4 + rank)),
        r"model: layer '.*'\.units: process 0 has 4, process 1 has 5",
    ),
    "activation": (lambda rank: fitted(made(activation=["relu", "tanh"][rank])), "model: .*relu.*tanh.*"),
    "more layers": (lambda rank: fitted(deeper(rank)), "model: .*"),
    "trainable": (lambda rank: fitted(partly_frozen(rank)), "model: .*"),
    "optimizer": (
        lambda rank: fitted(made(optimizer=["sgd", "adam"][rank])),
        'optimizer: class: process 0 has "SGD", process 1 has "Adam"',
    ),
    "rate": (
        lambda rank: fitted(made(optimizer=SGD([0.1, 0.2][rank]))),
        "learning_rate: process 0 has 0.1, process 1 has 0.2",
    ),
    "loss": (lambda rank: fitted(made(loss=["mse", "mae"][rank])), 'loss: process 0 has "mse", process 1 has "mae"'),
    "metrics": (lambda rank: fitted(made(metrics=["mae"][:rank])), "metrics: .*"),
    "batch size": (lambda rank: fitted(made(), batch_size=4 + rank), "batch_size: process 0 has 4, process 1 has 5"),
    "data": (lambda rank: fitted(made(), samples=8 + rank), "samples: process 0 has 8, process 1 has 9"),
    "epochs": (lambda rank: fitted(made(), epochs=1 + rank), "epochs: process 0 has 1, process 1 has 2"),
    "callbacks": (lambda rank: fitted(made(), callbacks=[EarlyStopping("loss")][:rank]), "callbacks: .*"),
    "validation": (lambda rank: fitted(made(), validation_split=0.5 * rank), ".*"),
    "torch": (other_torch, f'version of torch: process 0 has "{re.escape(torch.__version__)}", process 1 has "2.0.0"'),
    "method": (other_method, 'method: process 0 has "fit", process 1 has "evaluate"'),
}


def deeper(rank: int) -> Any:
    model = Sequential([Dense(4, input_shape=(3,)), *(Lambda(torch.relu) for _ in range(rank)), Dense(2)])
    model.compile("sgd", "mse")
    return model


def partly_frozen(rank: int) -> Any:
    model = made()
    model.layers[0].trainable = rank == 0
    model.compile("sgd", "mse")
    return model


def told(name: str) -> str:
    """The error of a process."""
    with pytest.raises(ProcessesDifferError) as caught:
        DIFFERENCES[name][0](dist.get_rank())
    return str(caught.value)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_difference_is_told_in_both_processes(pool: Pool, name: str):
    for text in pool.run(told, name):
        assert re.fullmatch(rf"(fit|evaluate): the processes differ in {DIFFERENCES[name][1]}\.", text), text


def trained_from(seeds: list[int]) -> tuple[list[float], list[Any]]:
    set_random_seed(seeds[dist.get_rank()])
    model = made()
    history = fitted(model, epochs=2)
    return history.history["loss"], [weight.tolist() for weight in model.get_weights()]


def test_other_seeds_become_those_of_the_main_process(pool: Pool):
    same = pool.run(trained_from, [3, 3])
    assert pool.run(trained_from, [3, 4]) == same
    assert same[0] == same[1]

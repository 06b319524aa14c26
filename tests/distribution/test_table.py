"""Several processes compute what one process computes: history, evaluation and weights, for many kinds of models."""

import numpy as np
import pytest
from pool import Pools
from table_models import CASES, numbers, run

LIMITS = {"float64": 1e-10, "float32": 1e-5}


COUNTS = pytest.mark.parametrize("processes", [2, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4))])
SHARING = pytest.mark.parametrize("processes", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3, 4))])


REFUSED = ("own_step_by_hand", "own_step_clipped", "own_optimizers")  # where processes share weights


REFERENCES: dict[tuple[str, str], np.ndarray] = {}


def check(pools: Pools, processes: int, name: str, floatx: str, distribute: str) -> None:
    if (name, floatx) not in REFERENCES:  # of a process that trains alone
        REFERENCES[name, floatx] = np.array(numbers(pools.run(run, 1, name, floatx)[0]))
    for found in pools.run(run, processes, name, floatx, distribute):
        np.testing.assert_allclose(
            np.array(numbers(found)), REFERENCES[name, floatx], rtol=LIMITS[floatx], atol=LIMITS[floatx]
        )


TYPES = pytest.mark.parametrize("floatx", ["float64", pytest.param("float32", marks=pytest.mark.slow)])


@TYPES
@COUNTS
@pytest.mark.parametrize("name", CASES)
def test_replicas_compute_what_one_process_computes(pools: Pools, processes: int, name: str, floatx: str):
    check(pools, processes, name, floatx, "ddp")


@pytest.mark.torch("2.8", "weights that processes share")
@TYPES
@SHARING
@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_shared_weights_compute_what_whole_ones_compute(pools: Pools, processes: int, name: str, floatx: str):
    check(pools, processes, name, floatx, "fsdp")

"""Several processes compute what one process computes: history, evaluation and weights, for many kinds of models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pool import Pool
from table_models import CASES, numbers, run

LIMITS = {"float64": 1e-10, "float32": 1e-5}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """One process, which trains each model alone."""
    pool = Pool(1, Path(tmp_path_factory.mktemp("alone")))
    yield pool
    pool.close()


@pytest.fixture(scope="module", params=[2, 3, pytest.param(4, marks=pytest.mark.slow)])
def pool(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    pool = Pool(request.param, Path(tmp_path_factory.mktemp("together")))
    yield pool
    pool.close()


REFERENCES: dict[tuple[str, str], np.ndarray] = {}


def reference(alone: Pool, name: str, floatx: str) -> np.ndarray:
    if (name, floatx) not in REFERENCES:
        REFERENCES[name, floatx] = np.array(numbers(alone.run(run, name, floatx, None)[0]))
    return REFERENCES[name, floatx]


@pytest.mark.parametrize("floatx", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_processes_compute_what_one_computes(alone: Pool, pool: Pool, name: str, floatx: str):
    wanted = reference(alone, name, floatx)
    for found in pool.run(run, name, floatx, "ddp"):
        np.testing.assert_allclose(np.array(numbers(found)), wanted, rtol=LIMITS[floatx], atol=LIMITS[floatx])

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


@pytest.fixture(scope="module", params=[2, *(pytest.param(count, marks=pytest.mark.slow) for count in (3, 4))])
def sharing(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """Processes that share weights too."""
    pool = Pool(request.param, Path(tmp_path_factory.mktemp("sharing")))
    yield pool
    pool.close()


REFERENCES: dict[tuple[str, str], np.ndarray] = {}


def check(alone: Pool, pool: Pool, name: str, floatx: str, distribute: str) -> None:
    if (name, floatx) not in REFERENCES:
        REFERENCES[name, floatx] = np.array(numbers(alone.run(run, name, floatx, None)[0]))
    for found in pool.run(run, name, floatx, distribute):
        np.testing.assert_allclose(
            np.array(numbers(found)), REFERENCES[name, floatx], rtol=LIMITS[floatx], atol=LIMITS[floatx]
        )


TYPES = pytest.mark.parametrize("floatx", ["float64", pytest.param("float32", marks=pytest.mark.slow)])


@TYPES
@pytest.mark.parametrize("name", CASES)
def test_replicas_compute_what_one_process_computes(alone: Pool, pool: Pool, name: str, floatx: str):
    check(alone, pool, name, floatx, "ddp")


@TYPES
@pytest.mark.parametrize("name", [name for name in CASES if name != "own_step_by_hand"])  # which is refused
def test_shared_weights_compute_what_whole_ones_compute(alone: Pool, sharing: Pool, name: str, floatx: str):
    check(alone, sharing, name, floatx, "fsdp")

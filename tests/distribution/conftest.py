"""The tests of this folder run in one worker, which keeps processes for all of them."""

from pathlib import Path

import pytest
import torch
from pool import POOLS, Pool, Pools

HERE = Path(__file__).parent
# Older torch has no name for what these import.
collect_ignore = ["test_backups.py", "test_wrapped_by_hand.py"] if torch.__version__ < "2.8" else []


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads it in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("distribution"))


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or HERE not in nextitem.path.parents:
        POOLS.close()


@pytest.fixture
def pools() -> Pools:
    """Processes by their number: `pools(3)`."""
    return POOLS


@pytest.fixture
def pool() -> Pool:
    """Two processes."""
    return POOLS(2)

"""What tests of Keras 3's API share."""

from collections.abc import Iterator

import pytest

from torchkeras import registry


@pytest.fixture
def registered_here() -> Iterator[None]:
    """Classes that a test registers are known in it alone."""
    known = dict(registry.REGISTERED)
    yield
    registry.REGISTERED.clear()
    registry.REGISTERED.update(known)

"""Code of TensorFlow 2 returns here what genuine TensorFlow 2.15 returns for it."""

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.keras3.same_results import CLOSE, cases_of, check, plain
from tests.tensorflow2.same_tensorflow import FILES, read
from torchkeras.tensorflow2 import alias

MODULES = {name: importlib.import_module(f"tests.tensorflow2.same.{name}") for name in FILES}
CASES = [(name, case) for name, module in MODULES.items() for case in cases_of(module)]


@pytest.fixture(scope="module")
def tf() -> Iterator[Any]:
    alias.install()
    yield importlib.import_module("tensorflow")
    alias.uninstall()


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}-{case}" for name, case in CASES])
def test_is_that_of_genuine_tensorflow(name: str, case: str, tf: Any):
    module = MODULES[name]
    tolerance = getattr(module, "TOLERANCES", {}).get(case, CLOSE)
    check(plain(cases_of(module)[case](tf)), read(name)[case], tolerance)


def test_every_stored_result_has_its_case():
    assert {name: sorted(read(name)) for name in FILES} == {name: sorted(cases_of(MODULES[name])) for name in FILES}

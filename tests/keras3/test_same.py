"""Code of Keras 3 returns here what genuine Keras 3.15 on torch returns for it."""

import importlib
from pathlib import Path

import pytest

from tests.keras3.same_results import CLOSE, GOLDEN, cases_of, check, plain, read
from torchkeras import keras3

FILES = sorted(path.stem for path in Path(__file__).parent.glob("same/[!_]*.py"))
MODULES = {name: importlib.import_module(f"tests.keras3.same.{name}") for name in FILES}
CASES = [(name, case) for name, module in MODULES.items() for case in cases_of(module)]
NEWER = {("image_layers", "perspective"): [pytest.mark.torch("2.13", "linear equations, rounded as in the records")]}


PARAMETERS = [
    pytest.param(
        *(name, case),
        id=f"{name}-{case}",
        marks=[pytest.mark.slow] if case in getattr(MODULES[name], "SLOW", ()) else NEWER.get((name, case), []),
    )
    for name, case in CASES
]


@pytest.mark.parametrize(("name", "case"), PARAMETERS)
def test_is_that_of_genuine_keras(name: str, case: str):
    module = MODULES[name]
    tolerance = getattr(module, "TOLERANCES", {}).get(case, CLOSE)
    check(plain(cases_of(module)[case](keras3)), read(name)[case], tolerance)


def test_every_stored_result_has_its_case():
    stored = {path.name.removesuffix(".json.gz"): read(path.name.removesuffix(".json.gz")) for path in GOLDEN.glob("*")}
    assert {name: sorted(results) for name, results in stored.items()} == {
        name: sorted(cases_of(module)) for name, module in MODULES.items()
    }

"""The record of Keras 3.15's own tests: `scripts/keras_suite --version 3.15` compares with it."""

import importlib.util
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def suite() -> ModuleType:
    spec = importlib.util.spec_from_file_location("keras_suite_script", SCRIPTS / "keras_suite.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their annotations
    spec.loader.exec_module(module)
    return module


def test_the_record_has_the_tests_of_every_folder(suite: ModuleType):
    names = suite.Record.of("keras_suite", "3.15").genuine
    assert len(names) > 8000
    for folder in suite.TESTS["3.15"]:
        assert any(name.startswith(folder.replace("/", ".")) for name in names), folder
    assert not [name for name in names if suite.LEFT_OUT.search(name)]


def test_every_reason_is_of_a_test_of_the_record(suite: ModuleType):
    record = suite.Record.of("keras_suite", "3.15")
    for line in (SCRIPTS / "keras_suite_reasons_3.15.txt").read_text().splitlines():
        version, mark, text = line.split(" ", 2)
        name, _, reason = text.partition(": ")
        assert (version, bool(reason), mark in "-+?") == ("3.15", True, True), line
        assert any(fnmatch(each, name) for each in record.genuine) is (mark != "+"), line


def test_the_first_line_that_fits_a_test_is_its_reason(suite: ModuleType):
    record = suite.Record.of("keras_suite", "3.15")
    name = next(name for name in record.genuine if name.startswith("keras.src.ops.node_test."))
    assert (record.marks[name], "nodes of the graph" in record.reasons[name]) == ("-", True)


def test_a_test_module_asks_for_no_other_framework(suite: ModuleType, tmp_path: Path):
    (tmp_path / "keras").mkdir()
    lines = "import tensorflow as tf\nfrom tensorflow import data as tf_data\nimport grain\nimport jax\n"
    (tmp_path / "keras" / "one_test.py").write_text(lines)
    suite.tests_of(tmp_path, tmp_path / "copy", "*_test.py")
    assert (tmp_path / "copy" / "keras" / "one_test.py").read_text().splitlines() == [
        "tf = __import__('absent').Absent('tensorflow')",
        "tf_data = __import__('absent').Absent('tensorflow')",
        "grain = __import__('absent').Absent('grain')",
        "import jax",
    ]

"""Modules that have moved: pickles of earlier versions find them, and each is one module under both names."""

import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

import torchkeras
from torchkeras import backend as K
from torchkeras.base.moved import MOVED

EARLIER = Path(__file__).parents[1] / "golden" / "earlier"
PACKAGE = Path(torchkeras.__file__).parent
FOLDERS = ("backend", "lambdas")
INSIDE = [(folder, each.name) for folder in FOLDERS for each in iter_modules([PACKAGE / "keras2" / folder])]


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", ["backend_nodes", "formula"])
def test_models_of_earlier_pickles_compute_what_they_did(name: str):
    model, given, expected = pickle.loads((EARLIER / f"{name}.pickle").read_bytes())  # noqa: S301  # our own
    np.testing.assert_allclose(model.predict(given, verbose=0), expected, rtol=1e-6)
    again = pickle.dumps(model)
    for before in ("torchkeras.backend.elementwise", "torchkeras.lambdas"):
        assert before.encode() not in again
    np.testing.assert_array_equal(pickle.loads(again).predict(given), model.predict(given))  # noqa: S301  # our own


def test_functions_of_earlier_pickles_are_todays():
    functions, _, _ = pickle.loads((EARLIER / "functions.pickle").read_bytes())  # noqa: S301  # our own
    assert functions == (K.square, K.dot, K.l2_normalize, K.batch_dot, K.rnn, K.ctc_decode, K.update)


@pytest.mark.parametrize("name", ["backend_nodes", "formula", "functions"])
def test_a_pickle_may_be_the_first_that_asks_for_the_annex(name: str):
    code = f"import pickle, sys, torchkeras; pickle.load(open({str(EARLIER / name)!r} + '.pickle', 'rb'))\n"
    code += "print([name for name in sys.modules if 'backend.' in name or 'lambdas.' in name])"
    found = run(code)
    assert "torchkeras.keras2." in found


@pytest.mark.parametrize("before", MOVED)
def test_a_module_is_one_under_both_names(before: str):
    assert importlib.import_module(before) is importlib.import_module(MOVED[before])


@pytest.mark.parametrize(("folder", "name"), INSIDE)
def test_a_module_of_a_folder_is_one_under_both_names(folder: str, name: str):
    before = importlib.import_module(f"torchkeras.{folder}.{name}")
    assert before is importlib.import_module(f"torchkeras.keras2.{folder}.{name}")


def test_the_old_names_may_come_first():
    code = "import sys\n"
    code += "".join(f"import torchkeras.{folder}.{name}\n" for folder, name in INSIDE)
    code += "from torchkeras.backend import elementwise, square\n"
    code += "import torchkeras.backend as K\nfrom torchkeras.keras2 import backend\n"
    code += "from torchkeras.keras2.backend.elementwise import square as today\n"
    code += "assert K is backend is torchkeras.backend and elementwise is backend.elementwise and square is today\n"
    code += "files = [vars(each).get('__file__') for each in {id(m): m for m in sys.modules.values()}.values()]\n"
    code += "files = [file for file in files if file and 'keras2' in file]\n"
    code += "assert len(files) == len(set(files)) > 50\n"
    code += "assert torchkeras.backend.__spec__.name == 'torchkeras.keras2.backend'"
    assert run(code) == ""


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_module_that_is_not_there_is_named_as_it_was_asked_for(folder: str):
    with pytest.raises(
        ModuleNotFoundError, match=rf"^No module named 'torchkeras\.{folder}\.no_such_module'$"
    ) as found:
        importlib.import_module(f"torchkeras.{folder}.no_such_module")
    assert found.value.name == f"torchkeras.{folder}.no_such_module"

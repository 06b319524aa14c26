"""Modules that have moved: pickles of earlier versions find them, and each is one module under both names."""

import importlib
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

import pytest

import torchkeras
from torchkeras.base.moved import MOVED

EARLIER = Path(__file__).parents[1] / "golden" / "earlier"
PACKAGE = Path(torchkeras.__file__).parent
FOLDERS = ("backend", "lambdas")
INSIDE = [(folder, each.name) for folder in FOLDERS for each in iter_modules([str(PACKAGE / "keras2" / folder)])]


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


# Each in a process of its own: an import by an old name leaves that name in the package above it.
LOAD = f"""
import importlib, pickle, sys
from pathlib import Path
import numpy as np, torchkeras
sys.path.append({str(Path(__file__).parents[1])!r})
from numpy_pickles import loaded

def load(name):
    return loaded(Path({str(EARLIER)!r}, name + ".pickle").read_bytes())
"""


@pytest.mark.parametrize("name", ["backend_nodes", "formula"])
def test_models_of_earlier_pickles_compute_what_they_did(name: str):
    code = LOAD + f"model, given, expected = load({name!r})\n"
    code += "np.testing.assert_allclose(model.predict(given, verbose=0), expected, rtol=1e-6)\n"
    code += "again = pickle.dumps(model)\n"
    code += "assert b'torchkeras.backend.elementwise' not in again and b'torchkeras.lambdas' not in again\n"
    code += "np.testing.assert_array_equal(pickle.loads(again).predict(given), model.predict(given))"
    run(code)


def test_functions_of_earlier_pickles_are_todays():
    code = LOAD + "functions, _, _ = load('functions')\nfrom torchkeras import backend as K\n"
    code += "assert functions == (K.square, K.dot, K.l2_normalize, K.batch_dot, K.rnn, K.ctc_decode, K.update)"
    run(code)


def test_a_module_is_one_under_both_names():
    folders = {f"torchkeras.{folder}.{name}": f"torchkeras.keras2.{folder}.{name}" for folder, name in INSIDE}
    code = LOAD + f"for before, now in { ({**MOVED, **folders})!r}.items():\n"
    code += "    assert importlib.import_module(before) is importlib.import_module(now), before"
    run(code)


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

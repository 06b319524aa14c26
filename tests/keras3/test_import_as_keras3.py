"""`import keras` answered as Keras 3: by `alias.install()`, and by `torchkeras run --as keras3`."""

import subprocess
import sys
from pathlib import Path

import pytest

from torchkeras import commands

INSTALL = "from torchkeras.keras3 import alias; alias.install()\n"


def run(code: str, *options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script by the command `torchkeras run`."""
    script = folder / "script.py"
    script.write_text(code)
    command = [sys.executable, "-m", "torchkeras", "run", *options, str(script)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def last_line(code: str) -> str:
    """The last line of what a script prints or raises."""
    done = subprocess.run([sys.executable, "-c", INSTALL + code], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


FORMS = """
import keras
import keras.layers
import keras.layers as by_name
from keras import ops
from keras.layers import Dense
from keras.ops import numpy as arrays
from torchkeras import keras3

assert keras is keras3 and by_name is keras3.layers is keras.layers
assert ops is keras3.ops and Dense is keras3.layers.Dense and arrays is keras3.ops.numpy
assert keras3.__spec__.name == "torchkeras.keras3" and keras3.layers.__spec__.name == "torchkeras.keras3.layers"
print(keras.__version__, Dense(2).name)
"""


def test_every_form_of_import_means_the_modules_of_keras3(tmp_path: Path):
    done = run(FORMS, "--as", "keras3", folder=tmp_path)
    assert (done.stdout, done.returncode) == ("3.15.0 dense\n", 0), done.stderr


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        ("import keras.lyers", "ModuleNotFoundError", "The nearest is keras.layers."),
        ("import keras.optimizers.schedule", "ModuleNotFoundError", "The nearest is keras.optimizers.schedules."),
        ("import keras.distribution", "ModuleNotFoundError", "Instead: compile(distribute=...)"),
        ("import keras.src", "ModuleNotFoundError", "No module 'keras.src' in torchkeras.keras3"),
        ("from keras.tree import flaten", "ImportError", "The nearest is keras.tree.flatten."),
        ("import keras; keras.tree.flaten", "AttributeError", "The nearest is keras.tree.flatten."),
    ],
)
def test_what_is_missing_is_an_error_with_the_nearest_name(code: str, kind: str, says: str):
    line = last_line(code)
    assert line.startswith(kind)
    assert says in line


def test_what_is_asked_whether_it_is_there_is_answered():
    assert last_line("import importlib.util as i; print(i.find_spec('keras.src'), bool(i.find_spec('keras')))") == (
        "None True"
    )


def test_uninstall_takes_it_back():
    code = "import keras; alias.uninstall(); import sys; print([n for n in sys.modules if n.startswith('keras')])"
    assert last_line(code) == "[]"


def test_another_keras_that_is_imported_stays():
    assert "means another Keras already" in last_line("alias.uninstall(); import torchkeras.as_keras; alias.install()")


def test_keras3_goes_with_no_other_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    script = tmp_path / "script.py"
    script.write_text("")
    assert commands.main(["run", "--as", "keras3", "--as", "tf_keras", str(script)]) != 0
    assert "goes with no other name; found 'tf_keras'" in capsys.readouterr().err


def test_a_script_that_asserts_keras_3_is_answered_as_keras_3(tmp_path: Path):
    done = run("import keras\nassert keras.__version__ >= '3'\nprint(keras.__version__)", folder=tmp_path)
    assert (done.stdout, done.returncode) == ("3.15.0\n", 0), done.stderr
    assert "script.py asks for Keras 3" in done.stderr


@pytest.mark.parametrize("code", ["from keras import ops", "import keras.ops", "import keras; keras.ops"])
def test_a_script_that_uses_keras_3_by_the_name_of_keras_2_learns_how_to_run(code: str, tmp_path: Path):
    done = run(code, folder=tmp_path)
    assert "`torchkeras run --as keras3" in done.stderr.splitlines()[-1]
    assert done.returncode == 1

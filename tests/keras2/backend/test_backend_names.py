"""Every name of `keras.backend` in versions 1.2.2 and 2.2.4 is there, with its arguments; its examples run."""

import doctest
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import Input, backend as K, config, layers

SIGNATURES = json.loads((Path(__file__).parents[2] / "golden" / "keras-backend-signatures.json").read_text())
# A name of both versions has the arguments of the later one.
GENUINE = {**SIGNATURES["1.2.2"], **SIGNATURES["2.2.4"]}


@pytest.mark.parametrize("name", sorted(GENUINE))
def test_every_name_has_the_arguments_of_keras(name):
    found = inspect.signature(getattr(K, name))
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()]
    assert str(inspect.Signature(plain)) == GENUINE[name]


def test_there_are_no_other_names():
    assert set(K.__all__) - set(GENUINE) == {"is_variable", "name_scope"}


@pytest.fixture
def _on_the_cpu():
    config.set_device("cpu")
    yield
    K.clear_session()


@pytest.mark.usefixtures("_on_the_cpu")
@pytest.mark.parametrize("name", sorted(GENUINE))
def test_its_docstring_says_what_it_does_and_examples_run(name):
    function = getattr(K, name)
    text = inspect.getdoc(function) or ""
    if np.__version__ < "2":  # which shows a number without its type
        text = re.sub(r"np\.float32\((.*?)\)", r"\1", text)
    assert text.splitlines()[0].rstrip().endswith((".", ":", ";", ","))
    names = {**vars(layers), **vars(K), "K": K, "torch": torch, "np": np, "Input": Input}
    names["inputs"] = Input((1,))
    found = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found, out=said.append)
    assert failed.failed == 0, "".join(said)


def test_the_package_itself_does_not_import_the_backend():
    code = "import sys, torchkeras.layers, torchkeras.models.files; assert 'torchkeras.backend' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

"""The annex for scripts of Keras 1 and 2: who imports it, and what it says when a package is missing."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from torchkeras import activations as core_activations, backend as K, metrics as core_metrics
from torchkeras.keras2 import activations, metrics, theano_backend
from torchkeras.keras2.extras import extra
from torchkeras.keras2.renamed import renamed
from torchkeras.layers import Dense


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_core_does_not_import_it():
    code = "import sys, torchkeras.layers, torchkeras.models.files\n"
    code += "print([name for name in sys.modules if name.startswith(('torchkeras.keras2', 'keras_', 'PIL', 'scipy'))])"
    assert run(code) == "[]"


def test_utils_and_datasets_need_no_further_package():
    code = "import sys\n"
    code += "from torchkeras.keras2 import datasets, utils, wrappers\n"
    code += "from torchkeras.keras2.wrappers import scikit_learn\n"
    code += "print([name for name in sys.modules if name.startswith(('keras_', 'PIL.', 'sklearn'))])"
    assert run(code) == "[]"


@pytest.mark.parametrize(("module", "package"), [
    ("keras_applications.vgg16", "keras-applications"),
    ("keras_preprocessing.image", "keras-preprocessing"),
    ("PIL.Image", "pillow"),
    ("scipy.ndimage", "scipy"),
])  # fmt: skip
def test_a_missing_package_is_named_with_its_extra(module: str, package: str, monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr(importlib, "import_module", missing)
    text = f"^the package {package} is missing\\. Install it with `pip install torchkeras-graph\\[scripts\\]`\\.$"
    with pytest.raises(ImportError, match=text):
        extra(module)


def test_a_module_that_is_missing_inside_a_package_is_another_error():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'no_such_package'$"):
        extra("no_such_package")


@renamed(nb_words="num_words", dim_ordering="data_format")
def taking(num_words: int = 1, data_format: str | None = None) -> tuple[int, str | None]:
    return num_words, data_format


def test_old_names_of_arguments():
    assert taking(nb_words=3, dim_ordering="th") == (3, "channels_first")  # type: ignore[call-arg]
    assert taking(2, "channels_last") == (2, "channels_last")
    text = "^taking: nb_words and num_words are one argument under two names; give one of them.$"
    with pytest.raises(TypeError, match=text):
        taking(nb_words=3, num_words=3)  # type: ignore[call-arg]


def test_theanos_bilinear_factors_are_2():
    x = K.ones((1, 2, 3, 1))
    assert theano_backend.resize_images(x, 2, 2, "channels_last", "bilinear").shape == (1, 4, 6, 1)
    assert theano_backend.resize_images(x, 4, 4, "channels_last").shape == (1, 8, 12, 1)
    with pytest.raises(
        NotImplementedError, match=r"^Theano's bilinear upscaling has the factors \(2, 2\); found \(4, 4\)"
    ):
        theano_backend.resize_images(x, 4, 4, "channels_last", "bilinear")


def test_a_layer_stays_an_activation_with_a_warning():
    layer = Dense(3)
    with pytest.warns(
        UserWarning, match=r"^activations\.get: Dense is a layer: call it as the next layer of the model"
    ):
        assert activations.get(layer) is layer
    assert activations.get("relu") is core_activations.relu
    assert activations.get(None) is core_activations.linear


def test_a_custom_object_is_a_metric_as_it_is():
    assert metrics.deserialize("mine", custom_objects={"mine": True}) is True
    assert metrics.deserialize("mse") is core_metrics.get("mse")


def test_the_code_of_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "scripts.md").read_text()
    chapter = page.partition("## Utilities, preprocessing, applications, datasets\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", chapter, re.DOTALL)
    scope: dict[str, Any] = {"__name__": "page"}
    exec(code, scope)  # noqa: S102  # the page is ours
    assert scope["x"].tolist() == [[0, 0, 1, 4]]
    assert scope["y"].tolist() == [[1, 0, 0], [0, 0, 1]]
    assert scope["model"].output_shape == (None, 2)

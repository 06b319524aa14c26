"""huggingface_hub's PyTorchModelHubMixin: save_pretrained and from_pretrained, in a folder."""

import json

import numpy as np
import pytest
import torch
from huggingface_hub import PyTorchModelHubMixin
from safetensors.torch import load_file
from shared import LABELS, ROWS, TARGETS, dense_model, fit, run_in_a_fresh_process
from torch import nn

from torchkeras import Input, Model
from torchkeras.layers import Dense

pytestmark = pytest.mark.slow


class Published(nn.Module, PyTorchModelHubMixin):
    """A module of the user's around a model."""

    def __init__(self, units: int = 5):
        super().__init__()
        inputs = Input((6,))
        self.model = Model(inputs, Dense(4)(Dense(units, activation="tanh")(inputs)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)


class Subclassed(Model, PyTorchModelHubMixin):
    """A model of the user's own class."""

    def __init__(self, units: int = 5):
        super().__init__()
        self.hidden, self.head = Dense(units, activation="tanh"), Dense(4)
        self.build((None, 6))

    def call(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.hidden(x))


class Functional(Model, PyTorchModelHubMixin):
    """A model of the user's own class which makes a graph."""

    def __init__(self, units: int = 5):
        inputs = Input((6,))
        super().__init__(inputs, Dense(4)(Dense(units, activation="tanh")(inputs)))


def model_of(published: nn.Module) -> Model:
    return published if isinstance(published, Model) else published.model  # type: ignore[return-value]


@pytest.mark.parametrize("kind", [Published, Subclassed, Functional])
def test_what_was_trained_and_saved_comes_back(kind, tmp_path):
    published = kind(units=7)
    fit(model_of(published), ROWS, TARGETS)
    published.save_pretrained(tmp_path)
    dense_model()  # makes other layers in between
    loaded = kind.from_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text()) == {"units": 7}
    np.testing.assert_array_equal(model_of(loaded).predict(ROWS), model_of(published).predict(ROWS))
    for name, value in load_file(tmp_path / "model.safetensors").items():
        torch.testing.assert_close(value, published.state_dict()[name])


@pytest.mark.parametrize("kind", [Published, Subclassed, Functional])
def test_it_comes_back_in_a_fresh_process(kind, tmp_path):
    published = kind(units=7)
    published.save_pretrained(tmp_path)
    np.save(tmp_path / "expected.npy", model_of(published).predict(ROWS))
    printed = run_in_a_fresh_process(
        "import sys, numpy as np\n"
        f"from test_huggingface_hub import {kind.__name__} as Kind, model_of\n"
        "from shared import ROWS\n"
        "found = model_of(Kind.from_pretrained(sys.argv[1])).predict(ROWS)\n"
        "print('equal', np.array_equal(found, np.load(sys.argv[1] + '/expected.npy')))\n",
        str(tmp_path),
    )
    assert "equal True" in printed


@pytest.mark.parametrize("kind", [Subclassed, Functional])
def test_what_came_back_trains_on(kind, tmp_path):
    kind().save_pretrained(tmp_path)
    one, other = kind.from_pretrained(tmp_path), kind.from_pretrained(tmp_path)
    for model in (one, other):
        fit(model, ROWS, LABELS, "sparse_categorical_crossentropy")
    np.testing.assert_array_equal(one.predict(ROWS), other.predict(ROWS))

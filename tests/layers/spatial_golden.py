"""What genuine Keras 2.2.4 on TensorFlow 1.14 made of fixed sequences, images and volumes.

`golden/keras-2.2.4-spatial.npz` holds the inputs under plain names, and under each expression, a layer called on one of
them, the layer's output.
"""

from pathlib import Path

import numpy as np
import torch

from torchkeras import layers
from torchkeras.engine.graph.input import Input

FILE = np.load(Path(__file__).parents[1] / "golden" / "keras-2.2.4-spatial.npz")


def expressions(*words):
    """The expressions whose layer has one of these words in its name."""
    found = [name for name in FILE.files if "(" in name and any(word in name for word in words)]
    assert found, words
    return found


def check_expression(expression):
    """The layer gives what Keras's gave: channels last and first, and in its symbolic shape."""
    source, _, name = expression[:-1].rpartition("(")
    inputs, expected = torch.from_numpy(FILE[name]), FILE[expression]
    layer = eval(source, {**vars(layers)})
    np.testing.assert_allclose(layer(inputs).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert layer(Input(inputs.shape[1:])).shape == (None, *expected.shape[1:])
    if "data_format" in layer._options:
        first = type(layer).from_config({**layer.get_config(), "data_format": "channels_first"})
        np.testing.assert_allclose(first(inputs.movedim(-1, 1)).movedim(1, -1).numpy(), expected, rtol=1e-5, atol=1e-6)

"""Models that genuine Keras saved in the middle of training go on where they stopped, with the losses it had then.

Made by Keras 1.2.2 and 2.2.4 on TensorFlow and Theano, tf_keras 2.21 and Keras 3.15: three steps, saved, four more that
are recorded. What TensorFlow 1 updated in an order of its own (Adam's count of steps, RMSprop's mean in Keras 1) is
left to Theano's record.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import torchkeras
from torchkeras.models import load_model

FILES = sorted((Path(__file__).parents[1] / "golden" / "training-goes-on").glob("*/*/model.*"))


def test_all_are_there():
    assert Counter(file.parents[1].name for file in FILES) == {
        "keras-1.2.2-tensorflow": 5,
        "keras-1.2.2-theano": 8,
        "keras-2.2.4-tensorflow": 3,
        "keras-2.2.4-theano": 11,
        "keras-3.15": 19,
        "tf_keras-2.21": 18,
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parents[1].name}-{file.parent.name}{file.suffix}")
def test_training_goes_on(file: Path):
    torchkeras.clear_session()
    model, record = load_model(file), np.load(file.parent / "io.npz")
    losses = [np.ravel(model.train_on_batch(record["x0"], record["t0"]))[0] for _ in record["losses"]]
    np.testing.assert_allclose(losses, record["losses"], rtol=1e-3)

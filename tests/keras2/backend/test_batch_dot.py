"""`K.batch_dot` for all ranks and axes, with the numbers of Keras 2.2.4 on TensorFlow 1.14."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchkeras import backend as K
from torchkeras.layers import Input
from torchkeras.models import Model

CASES = json.loads((Path(__file__).parents[2] / "golden" / "keras-2.2.4-batch-dot.json").read_text())


def operands(case: dict[str, Any]) -> list[np.ndarray]:
    return [np.random.RandomState(seed).rand(*case[name]).astype("float32") for seed, name in ((1, "x"), (2, "y"))]


def is_doubtful(case: dict[str, Any]) -> bool:
    """Of more than two axes, 2.2.4 takes axis 0, and negative ones, for axes next to the last."""
    axes = case["axes"]
    given = [] if axes is None else [axes] if isinstance(axes, int) else axes
    return max(len(case["x"]), len(case["y"])) > 2 and any(axis <= 0 for axis in given)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['x']}-{case['y']}-{case['axes']}")
def test_all_ranks_and_axes(case):
    x, y = operands(case)
    if case["shape"] is None or is_doubtful(case):
        with pytest.raises((ValueError, RuntimeError, IndexError)):
            K.batch_dot(K.variable(x), K.variable(y), axes=case["axes"])
        return
    expected = np.array(case["values"]).reshape(case["shape"])
    assert K.eval(K.batch_dot(K.variable(x), K.variable(y), axes=case["axes"])) == pytest.approx(expected, abs=2e-5)
    inputs = [Input(batch_shape=each.shape) for each in (x, y)]
    output = K.batch_dot(*inputs, axes=case["axes"])
    assert output.shape == tuple(case["shape"])
    assert Model(inputs, output).predict([x, y]) == pytest.approx(expected, abs=2e-5)


def test_a_matrix_after_a_tensor_of_three_axes():
    x, y = np.arange(24.0).reshape(2, 3, 4), np.arange(8.0).reshape(2, 4)
    assert K.eval(K.batch_dot(K.variable(x), K.variable(y))) == pytest.approx(np.einsum("bnm,bm->bn", x, y))


def test_the_texts_of_errors():
    x, y = K.ones((2, 3, 4)), K.ones((2, 4))
    with pytest.raises(ValueError, match=r"^batch_dot counts axes from 0; found axes -1\.$"):
        K.batch_dot(x, y, axes=-1)
    with pytest.raises(ValueError, match=r"^batch_dot sums over no batch axis; found axes \[2, 0\]\.$"):
        K.batch_dot(x, y, axes=[2, 0])
    with pytest.raises(ValueError, match=r"^batch_dot takes tensors of two axes or more; found 1 and 3\.$"):
        K.batch_dot(K.ones((2,)), x)

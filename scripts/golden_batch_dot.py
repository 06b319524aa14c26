"""Make tests/golden/keras-2.2.4-batch-dot.json: what `K.batch_dot` gives for all ranks and axes.

python scripts/golden_batch_dot.py FILE        in an environment with Keras 2.2.4 and TensorFlow 1.14

Each case is made twice: with axes of one size, and with axes that differ but for those summed over.
"""

import itertools
import json
import sys

import keras
import numpy as np
from keras import backend as K


def shapes(ranks, axes, alike):
    """The shapes of both tensors; None where an axis is not there."""
    found = [[2] + [3] * (rank - 1) for rank in ranks]
    if alike:
        return found
    summed = [axes] * 2 if isinstance(axes, int) else axes or [ranks[0] - 1, ranks[1] - 2]
    found = [[2, 4, 5, 6][: ranks[0]], [2, 7, 8, 9][: ranks[1]]]
    for shape, axis in zip(found, summed):  # noqa: B905  # Python 3.7
        if axis >= len(shape):
            return None
        shape[axis] = 2 if axis % len(shape) == 0 else 3
    return found


def case(x, y, axes):
    """The shapes, the axes and the result; None for a case that is refused."""
    operands = [np.random.RandomState(seed).rand(*shape).astype("float32") for seed, shape in ((1, x), (2, y))]
    try:
        found = np.asarray(K.eval(K.batch_dot(*map(K.variable, operands), axes=axes)), float)
    except Exception:  # noqa: BLE001  # whatever TensorFlow raises
        return {"x": x, "y": y, "axes": axes, "shape": None, "values": None}
    return {"x": x, "y": y, "axes": axes, "shape": found.shape, "values": found.ravel().round(5).tolist()}


def main(file):
    """Write the cases."""
    assert keras.__version__ == "2.2.4"
    cases = []
    for ranks in itertools.product((1, 2, 3, 4), repeat=2):
        pairs = [list(pair) for pair in itertools.product(range(ranks[0]), range(ranks[1]))]
        for axes in [None, *range(-1, max(ranks)), *pairs]:
            both = [shapes(ranks, axes, alike) for alike in (True, False)]
            cases += [case(*found, axes) for found in both if found is not None]
    with open(file, "w") as stream:
        stream.write("[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in cases) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])

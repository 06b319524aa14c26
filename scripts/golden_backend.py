"""Record what the functions of a genuine Keras's backend give, for `tests/keras2/backend`.

    KERAS_BACKEND=tensorflow python scripts/golden_backend.py tests/golden/backend-2.2.4-tensorflow

in an environment with Keras 2.2.4 and TensorFlow 1.14; the same with 1.2.2, and with its `KERAS_BACKEND=theano`, for
what Keras 1 alone has. It writes an .npz, the values; for 2.2.4 also a .json, the types and static shapes of the
results, or of a call that raises, its error's name.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "keras2" / "backend"))

import cases
import keras
from keras import backend as K


def of_keras_1(call):
    """The value of a call of 1.2.2: its tensors are variables."""
    arrays = {**cases.DATA, **cases.CONSTANTS}
    names = {name: K.variable(array, dtype=str(array.dtype)) for name, array in arrays.items() if array.dtype != bool}
    return np.asarray(K.eval(eval(call, {"K": K, **names})))


def of_keras_2(call):
    """The value of a call of 2.2.4, the type and the static shape."""
    names = {"K": K, "STEP": cases.step(K), "np": np}
    tensors = {name: K.placeholder(array.shape, dtype=str(array.dtype)) for name, array in cases.DATA.items()}
    names.update(tensors)
    names.update({name: K.variable(array) for name, array in cases.CONSTANTS.items()})
    found = eval(call, names)
    if isinstance(found, np.ndarray):
        return found, {"dtype": str(found.dtype), "shape": list(found.shape)}
    value = K.get_session().run(found, {tensors[name]: array for name, array in cases.DATA.items()})
    shape = [None if size is None else int(size) for size in K.int_shape(found)]
    return np.asarray(value), {"dtype": K.dtype(found), "shape": shape}


def main(target):
    values, facts = {}, {}
    second = keras.__version__.startswith("2")
    for number, call in enumerate(cases.CASES if second else cases.KERAS_1[K.backend()]):
        try:
            if second:
                values[str(number)], facts[call] = of_keras_2(call)
            else:
                values[str(number)], facts[call] = of_keras_1(call), {}
        except Exception as error:  # noqa: BLE001  (of whatever kind, it is recorded)
            print(call, type(error).__name__, str(error)[:300])
            facts[call] = {"error": type(error).__name__}
        if number % 20 == 19:
            K.clear_session()
    np.savez_compressed(target + ".npz", **values)
    if second:
        Path(target + ".json").write_text(json.dumps(facts, indent=0) + "\n")


main(sys.argv[1])

"""Record what the functions of genuine Keras 2.2.4's backend give, for `tests/backend`.

    KERAS_BACKEND=tensorflow python scripts/golden_backend.py tests/golden/backend

in an environment with Keras 2.2.4 and TensorFlow 1.14. It writes backend.npz, the values, and backend.json, the types
and static shapes of the results; of a call that raises, its error's name.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "backend"))

import cases
from keras import backend as K


def record(call):
    names = {"K": K, "STEP": cases.step(K), "np": np}
    tensors = {name: K.placeholder(array.shape, dtype=str(array.dtype)) for name, array in cases.DATA.items()}
    names.update(tensors)
    names.update({name: K.variable(array) for name, array in cases.CONSTANTS.items()})
    try:
        found = eval(call, names)
        if isinstance(found, np.ndarray):
            return found, {"dtype": str(found.dtype), "shape": list(found.shape)}
        value = K.get_session().run(found, {tensors[n]: array for n, array in cases.DATA.items()})
    except Exception as error:  # noqa: BLE001  (of whatever kind, it is recorded)
        print(call, type(error).__name__, str(error)[:300])
        return None, {"error": type(error).__name__}
    return np.asarray(value), {
        "dtype": K.dtype(found),
        "shape": [None if d is None else int(d) for d in K.int_shape(found)],
    }


def main(target):
    values, facts = {}, {}
    for number, call in enumerate(cases.CASES):
        value, facts[call] = record(call)
        if value is not None:
            values[str(number)] = value
        if number % 20 == 19:
            K.clear_session()
    np.savez_compressed(target + ".npz", **values)
    Path(target + ".json").write_text(json.dumps(facts, indent=0) + "\n")


main(sys.argv[1])

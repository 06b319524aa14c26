"""The results of genuine Keras 3.15 on torch for the calls in `tests/keras3/cases`, into `tests/golden/operations`.

    KERAS_BACKEND=torch python scripts/golden_operations.py [elementwise ...]

Run it where Keras 3.15 and torch are installed. A file has the arrays of all results by the number of the call, and as
text their types and the form that they stand in, or the kind of error. `signatures.json` has those of all functions.
"""

import gzip
import importlib
import inspect
import json
import sys
import types
from pathlib import Path

import keras
import numpy as np

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests/golden/operations"
sys.path.insert(0, str(ROOT))


def plain(found, arrays):
    """The form of a result; its arrays are added to `arrays`, in order."""
    if isinstance(found, (list, tuple)):
        return [plain(each, arrays) for each in found]
    if keras.ops.is_tensor(found):
        dtype = keras.backend.standardize_dtype(found.dtype)
        array = keras.ops.convert_to_numpy(keras.ops.cast(found, "float32") if dtype == "bfloat16" else found)
        arrays.append(array)
        return {"dtype": dtype}
    return {"value": found if isinstance(found, (bool, int, float, str, type(None))) else str(found)}


def result(case, number, arrays):
    function = keras.ops
    for part in case.name.split("."):
        function = getattr(function, part)
    try:
        args = [keras.ops.convert_to_tensor(value) for value in case.args] if case.tensors else case.args
        found = function(*args, **case.kwargs)
    except Exception as error:  # noqa: BLE001  # of any kind: the test expects one
        return {"error": type(error).__name__}
    own = []
    form = plain(found, own)
    arrays.update({f"{number}.{k}": array for k, array in enumerate(own)})
    return form


def write(name):
    cases = importlib.import_module(f"tests.keras3.cases.{name}").CASES
    arrays, forms = {}, []
    for number, case in enumerate(cases):
        forms.append([case.name, result(case, number, arrays)])
    arrays["forms"] = np.array(json.dumps(forms))
    np.savez_compressed(GOLDEN / f"{name}.npz", **arrays)
    print(name, len(cases), "calls,", sum("error" in form for _, form in forms if isinstance(form, dict)), "errors")


def symbols(value, inputs):
    """The same with an Input for each array of one or more axes."""
    if isinstance(value, np.ndarray) and value.ndim and value.size:
        inputs.append(keras.Input(batch_shape=value.shape, dtype=str(value.dtype)))
        return inputs[-1]
    return type(value)(symbols(each, inputs) for each in value) if isinstance(value, (list, tuple)) else value


def model(case):
    """The config of a model of one call; None where Keras makes none."""
    keras.backend.clear_session()
    function, inputs = keras.ops, []
    for part in case.name.split("."):
        function = getattr(function, part)
    try:
        args = symbols(list(case.args), inputs)
        outputs = function(*args, **{name: symbols(value, inputs) for name, value in case.kwargs.items()})
        return json.loads(keras.Model(inputs, outputs).to_json())
    except Exception:  # noqa: BLE001  # of any kind: its symbolic operations know less than the others
        return None


def write_models(names):
    """Of each operation the first three models that Keras makes, into one file."""
    found, count = [], {}
    for name in names:
        for number, case in enumerate(importlib.import_module(f"tests.keras3.cases.{name}").CASES):
            made = model(case) if case.symbolic and count.get(case.name, 0) < 3 else None
            if made is not None:
                count[case.name] = count.get(case.name, 0) + 1
                found.append([name, number, made])
    (GOLDEN / "models.json.gz").write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))
    print(len(found), "models of", len(count), "operations")


def signatures(module, prefix=""):
    found = {}
    for name in dir(module):
        member = getattr(module, name)
        if isinstance(member, types.ModuleType) and name == "image":
            found.update(signatures(member, "image."))
        elif callable(member) and not name.startswith("_"):
            found[prefix + name] = str(inspect.signature(member))
    return found


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    (GOLDEN / "signatures.json").write_text(json.dumps(signatures(keras.ops), indent=1, sort_keys=True) + "\n")
    known = sorted(path.stem for path in (ROOT / "tests/keras3/cases").glob("*.py") if path.stem != "inputs")
    for name in sys.argv[1:] or known:
        write(name)
    if not sys.argv[1:]:
        write_models(known)

"""Makes one file of `lambda_files.toml` in the Python of a genuine Keras: a whole model, its inputs and outputs.

    python lambda_files_make.py FOLDER

FOLDER has `script.json`: the code that sets `model`, and the folders of its modules. The outputs are those of the file,
loaded again by the genuine version, which is given TensorFlow and NumPy by name. Where it cannot load its own file,
they are those of a model of the same config and weights, or else of the model itself. A function that closes over the
variable of a loop has another value in a file than it had when the model was built. Works in the Pythons of Keras 1 and
2, from 3.6 on.
"""

import importlib
import json
import sys
import textwrap
import warnings
from pathlib import Path
from unittest import mock

import numpy as np


def main(folder):
    """Build the model, save it, load it again and write what it computes."""
    given = json.loads((folder / "script.json").read_text())
    sys.path[:0] = given["paths"]
    keras, tf = (importlib.import_module(name) for name in ("keras", "tensorflow"))
    np.random.seed(1)  # noqa: NPY002  (which Keras's initializers take)
    names = {"np": np, "tf": tf, "keras": keras, "K": keras.backend, "mock": mocked, "part": part(given["paths"][0])}
    exec(compile(given["code"], given["name"], "exec"), names)  # noqa: S102  (a snippet of the list)
    model = names["model"]
    change(model)
    for layer in names.get("noises", ()):
        silence(layer)
    x = names.get("x") or made_up(model)
    y, path = outputs(model, x), str(folder / "model.h5")
    model.save(path)
    said = {"functions": count(json.loads(model.to_json())), "keras": keras.__version__}
    known = {"tf": tf, "np": np, "K": keras.backend, "keras": keras}
    kind, config, weights = type(model), model.get_config(), model.get_weights()
    ways = {"loads": lambda: keras.models.load_model(path, known)}
    ways["rebuilds"] = lambda: rebuilt(kind, config, weights, known)
    for name, way in ways.items():
        try:
            keras.backend.clear_session()
            again = outputs(way(), x)
        except Exception as error:  # noqa: BLE001  (whatever a genuine version raises)
            said[name] = f"{type(error).__name__}: {error}".splitlines()[0][:150]
            continue
        pairs = [(y[k], again[k]) for k in range(len(y))]
        same = all(np.allclose(old, new, 1e-4, 1e-4 * abs(old).max()) for old, new in pairs)
        said[name] = f"with {'the same' if same else 'other'} outputs"
        y = again
        break
    arrays = {f"{letter}{k}": array for letter, each in (("x", x), ("y", y)) for k, array in enumerate(each)}
    np.savez(str(folder / "values.npz"), **arrays)
    (folder / "said.json").write_text(json.dumps(said))


def rebuilt(kind, config, weights, known):
    """A model of its own config, with its functions as a file has them."""
    model = kind.from_config(config, known)
    model.set_weights(weights)
    return model


def part(folder):
    """What runs some lines of a file, as they stand, in a script that does more than build a model."""

    def run(names, path, first, last):
        lines = (Path(folder) / path).read_text(encoding="utf-8").splitlines()[first - 1 : last]
        exec(compile(textwrap.dedent("\n".join(lines)), path, "exec"), names)  # noqa: S102  (of a fetched source)

    return run


def mocked(*modules):
    """Stand-ins for modules that a script imports for other things than its model."""
    for name in modules:
        sys.modules[name] = mock.MagicMock(__path__=[])


def change(model):
    """Small random changes of weights: no bias stays zero and no scale stays one."""
    random = np.random.RandomState(2)
    old = model.get_weights()
    model.set_weights([w + random.uniform(0, 0.1, w.shape) if w.ndim == 1 else w for w in old])


def silence(layer):
    """Let a layer give -100 for everything: the logarithm of a variance that leaves no noise."""
    kernel, bias = layer.get_weights()
    layer.set_weights([np.zeros_like(kernel), np.zeros_like(bias) - 100])


def made_up(model):
    """Random inputs of a model, two samples; axes of an unknown size have eight places. Whole numbers are 0 to 3."""
    random, found = np.random.RandomState(3), []
    for tensor in model.inputs:
        batch, *shape = tensor._keras_shape
        array = random.uniform(0, 1, (batch or 2, *(size or 8 for size in shape)))
        whole = "int" in tensor.dtype.name or "Embedding" in kinds_after(tensor)
        found.append((array * 4).astype("int32") if whole else array.astype("float32"))
    return found


def kinds_after(tensor):
    """The classes of the layers that an input goes into."""
    layer = tensor._keras_history[0]
    nodes = getattr(layer, "_outbound_nodes", None) or layer.outbound_nodes  # Keras 2 and 1
    return [type(node.outbound_layer).__name__ for node in nodes]


def outputs(model, x):
    """The outputs of a model as a list."""
    found = model.predict(x if len(x) > 1 else x[0], batch_size=len(x[0]))
    return found if isinstance(found, list) else [found]


def count(config):
    """How many Lambdas, and Merges with a function, a config has."""
    if isinstance(config, list):
        return sum(map(count, config))
    if not isinstance(config, dict):
        return 0
    kinds = [config.get(f"{option}_type") for option in ("function", "mode")]
    return ("lambda" in kinds) + sum(map(count, config.values()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))

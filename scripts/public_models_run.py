"""Runs one script of `public_models.toml`, in the Python of a genuine Keras or, with `--alias`, of the project.

Under a genuine Keras it writes the weights as Keras's own files, the inputs and the results into a folder; with
`--alias` it reads those weights and inputs, and writes its own results. Works in Python 3.7 too, and imports nothing of
the project but the alias.
"""

import json
import sys
import warnings
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np

STEPS = 3  # how often each function of `steps` is called


def main(folder, alias):
    """Build what the script says, and write weights and results."""
    given = json.loads((folder / "script.json").read_text())
    sys.path[:0] = given["paths"]
    sys.modules.update({name: MagicMock(name=name) for name in given["absent"]})
    if alias:
        from torchkeras.keras2 import alias as answers  # noqa: PLC0415  (only here is it installed)

        answers.install(["keras", "tensorflow"])
    else:
        import tensorflow as tf  # noqa: PLC0415

        tf.enable_resource_variables()  # else an update may come before another gradient has read the weight
        type(tf.Variable(0.0)).__bool__ = lambda self: True  # as other variables do
    import keras  # noqa: PLC0415  (after the alias)

    np.random.seed(1)  # noqa: NPY002  (what scripts draw from)
    names = {"np": np, "keras": keras, "K": keras.backend, "random": np.random.RandomState(1)}
    names["sgd"] = lambda: keras.optimizers.SGD(lr=0.01, momentum=0.9)
    exec(compile(given["code"], given["name"], "exec"), names)  # noqa: S102  (a snippet of the list)
    models = names.get("models", {})
    for name, model in models.items():
        if alias:
            model.load_weights(str(folder / f"{name}.h5"))
        else:
            change(model)
    if not alias:  # after the last change: models share layers
        for name, model in models.items():
            model.save_weights(str(folder / f"{name}.h5"))
    inputs = {name: names.get("inputs", {}).get(name) or made_up(model) for name, model in models.items()}
    results = {} if alias else {"weights": counted(models)}
    for name, model in models.items():
        keep(results, f"output {name}", model.predict(inputs[name], batch_size=len(inputs[name][0])))
    for name, function in names.get("functions", {}).items():
        keep(results, f"function {name}", function())
    for name, step in names.get("steps", {}).items():
        for number in range(STEPS):
            keep(results, f"step {number} of {name}", step())
    np.savez(str(folder / ("alias.npz" if alias else "genuine.npz")), **results)


def change(model):
    """Small random changes of all weights: no bias stays zero and no scale stays one."""
    random = np.random.RandomState(2)
    old = model.get_weights()
    model.set_weights([w + random.uniform(0, 0.1, w.shape) if w.ndim == 1 else w for w in old])


def counted(models):
    """How many numbers there are in the weights of models, each weight counted once."""
    return sum(int(np.prod(w.shape.as_list())) for w in {w for model in models.values() for w in model.weights})


def made_up(model):
    """Random inputs of a model, four samples; axes of an unknown size have eight places."""
    random = np.random.RandomState(3)
    return [random.uniform(0, 1, (4, *(size or 8 for size in shape[1:]))) for shape in shapes(model)]


def shapes(model):
    """The shapes of a model's inputs."""
    return [model.input_shape] if isinstance(model.input_shape, tuple) else model.input_shape


def keep(results, name, found):
    """Add the arrays of a result."""
    for number, array in enumerate(found if isinstance(found, (list, tuple)) else [found]):
        results[f"{name} {number}"] = np.asarray(array)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), "--alias" in sys.argv[2:])

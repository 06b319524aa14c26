"""Runs one of Keras's example scripts as it stands, on made-up data and few epochs, and writes what each epoch took.

    python timed_script.py torchkeras|keras|tf_keras SCRIPT RESULT.json

`scripts.py` starts it by the Python of each contender, that of Keras 2.2.4 too: it imports nothing of this package but
the alias. The data has the shapes and types of the real one. `fit` makes `EPOCHS` epochs; all else is as it stands.
"""

import importlib
import json
import os
import sys
import time
import types

import numpy as np

EPOCHS = 3
SAMPLES = {"mnist": (3840, 128), "imdb": (1600, 64), "cifar10": (640, 32)}  # for training, for validation


def images(name, *shape):
    """A data set of images with labels of ten classes."""

    def load_data(*args, **kwargs):
        made, sets = np.random.RandomState(0), []
        for count in SAMPLES[name]:
            labels = made.randint(0, 10, (count, 1) if len(shape) == 3 else count).astype("uint8")
            sets.append((made.randint(0, 256, (count, *shape)).astype("uint8"), labels))
        return tuple(sets)

    return load_data


def reviews(num_words=None, **kwargs):
    """A data set of lists of word numbers with two classes; most are longer than what scripts cut them to."""
    made, sets = np.random.RandomState(0), []
    for count in SAMPLES["imdb"]:
        rows = np.empty(count, dtype=object)
        for row in range(count):
            rows[row] = [1, *made.randint(2, num_words or 20000, made.randint(60, 300)).tolist()]
        sets.append((rows, made.randint(0, 2, count)))
    return tuple(sets)


DATA = {"mnist": images("mnist", 28, 28), "cifar10": images("cifar10", 32, 32, 3), "imdb": reviews}


def answer(package, name="keras", depth=3):
    """Let `import keras` and what stands in it be `package`."""
    sys.modules[name] = package
    for each, value in list(vars(package).items()):
        if depth and isinstance(value, types.ModuleType) and not each.startswith("_"):
            answer(value, name + "." + each, depth - 1)


def clock(taken):
    """A callback that adds each epoch's seconds and loss to `taken`."""

    class Clock(importlib.import_module("keras.callbacks").Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.begun = time.perf_counter()

        def on_epoch_end(self, epoch, logs=None):
            taken.append((time.perf_counter() - self.begun, float((logs or {})["loss"])))

    return Clock()


def few_epochs(fit, taken, inside):
    """`fit`, or `fit_generator`, of few epochs that are timed."""

    def run(self, *args, **kwargs):
        if inside:  # the one may call the other
            return fit(self, *args, **kwargs)
        kwargs.update(epochs=EPOCHS, callbacks=[*(kwargs.get("callbacks") or ()), clock(taken)])
        inside.append(self)
        try:
            return fit(self, *args, **kwargs)
        finally:
            inside.pop()

    return run


def main():
    """Run the script as `python SCRIPT` would."""
    kind, script, result = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    if kind == "torchkeras":
        importlib.import_module("torchkeras.as_keras")
    elif kind == "tf_keras":
        answer(importlib.import_module("tf_keras"))
    taken, inside, models = [], [], importlib.import_module("keras.models")
    for kind in set(models.Sequential.__mro__ + models.Model.__mro__):
        for name in {"fit", "fit_generator"} & set(vars(kind)):
            setattr(kind, name, few_epochs(vars(kind)[name], taken, inside))
    for name, load_data in DATA.items():
        vars(importlib.import_module("keras.datasets." + name))["load_data"] = load_data
    sys.argv = [script]
    sys.path[0] = os.path.dirname(script)
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    with open(script) as file:
        exec(compile(file.read(), script, "exec"), module.__dict__)  # noqa: S102  (the script is what is asked for)
    with open(result, "w") as file:
        json.dump(taken, file)


if __name__ == "__main__":
    main()

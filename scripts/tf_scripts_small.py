"""Runs one script of TensorFlow 2 as it stands, statement by statement, on small made-up data; see `tf_scripts.py`.

    python tf_scripts_small.py JOBS SECONDS                                   # a genuine TensorFlow
    python -m torchkeras run --as tensorflow2 tf_scripts_small.py JOBS SECONDS  # this package

JOBS is a file of JSON: for each script a folder to work in, the script, a folder for weights, and the folders in which
its modules are. TensorFlow is imported once; each script runs in a process that is forked then, for SECONDS at most.

It imports nothing of this package: both runs are of this one file. Each statement at the top of the script runs in one
namespace; one that fails is noted, and the run goes on with the next. Data sets are arrays of the genuine shapes and
types with fewer samples, networks of `applications` have random weights, loops over epochs and batches end after two,
`fit` makes one epoch of two steps, datasets are not shuffled, and nothing is drawn. The genuine run writes the weights
that a model has before each `fit` into the folder for weights; the other reads them. The report has the [line, error]
of each statement that failed, and for each `fit` the loss of its first batch and that of its two steps. It is
`report.json` in the script's folder, and what the script prints is `log`.
"""

import ast
import builtins
import functools
import importlib
import importlib.abc
import importlib.machinery
import inspect
import itertools
import json
import os
import signal
import sys
import time
import traceback
import types
from unittest import mock

import numpy as np
from keras_site_small import DATASETS, StandIns, by_address, random_weights, said, statements

STEPS = 2  # of an epoch, and of a loop over epochs or batches
SECONDS = 90  # for a statement
SAMPLES = {60000: 320, 50000: 320, 10000: 64, 25000: 320}  # of data sets, in `reshape`
COUNTERS = {"e", "ep", "epoch", "epochs", "step", "steps", "it", "itr", "iteration", "episode", "i_episode", "batch"}
OLD_NAMES = {
    "Inf": np.inf,
    "Infinity": np.inf,
    "NaN": np.nan,
    "float": float,
    "int": int,
    "bool": bool,
    "object": object,
}
RANDOM = ("Dropout", "Noise", "Random", "Sampl")  # in the names of layers that draw numbers


# --- the text of a script -------------------------------------------------------------------------------------------


class Shorter(ast.NodeTransformer):
    """Loops over epochs, steps and data sets end after two passes; slices are of smaller data sets."""

    def visit_For(self, node):
        """A loop whose variable counts epochs or steps, or that goes over no range."""
        self.generic_visit(node)
        names = {each.id.lower() for each in ast.walk(node.target) if isinstance(each, ast.Name)}
        if names & COUNTERS:
            node.iter = ast.Call(ast.Name("__few__", ast.Load()), [node.iter], [])
        return ast.fix_missing_locations(node)

    def visit_Slice(self, node):
        """A slice of a data set."""
        for name in ("lower", "upper"):
            bound = getattr(node, name)
            value = bound.operand if isinstance(bound, ast.UnaryOp) else bound
            if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value >= 1000:
                value.value = max(8, value.value * 320 // 60000)
        return node

    def visit_Call(self, node):
        """A shape of a data set."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            for each in ast.walk(node):
                if isinstance(each, ast.Constant) and each.value in SAMPLES:
                    each.value = SAMPLES[each.value]
        return node


def few(items):
    """The first two of a long loop, all of a short one."""
    return itertools.islice(items, STEPS)


class Modules(importlib.abc.MetaPathFinder):
    """Finds the modules that stand beside a script, whose loops are made shorter too."""

    def __init__(self, folders):
        self.folders = folders

    def find_spec(self, fullname, path=None, target=None):
        """The spec of a module of the script's repository; None for others, and for folders without `__init__`."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, self.folders if path is None else path)
        is_file = spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader)
        if not is_file or not any(spec.origin.startswith(folder) for folder in self.folders):
            return None
        spec.loader = ShorterLoader(fullname, spec.origin)
        return spec


class ShorterLoader(importlib.machinery.SourceFileLoader):
    """Compiles the shorter text; keeps nothing on the disk."""

    def get_code(self, fullname):
        """The code of a module."""
        path = self.get_filename(fullname)
        return compile(Shorter().visit(ast.parse(self.get_data(path))), path, "exec")


# --- small data -----------------------------------------------------------------------------------------------------


def housing(*args, **kwargs):
    """The data set of house prices."""
    random = np.random.RandomState(0)
    sets = [(random.uniform(0, 9, (count, 13)), random.uniform(5, 50, count)) for count in (404, 102)]
    return tuple(sets)


def california(*args, **kwargs):
    """The data set of houses in California, as scikit-learn gives it."""
    random = np.random.RandomState(0)
    found = importlib.import_module("sklearn.utils").Bunch(
        data=random.uniform(0, 9, (400, 8)), target=random.uniform(0, 5, 400), DESCR="", feature_names=list("abcdefgh")
    )
    return (found.data, found.target) if kwargs.get("return_X_y") else found


def words(*args, **kwargs):
    """The numbers of words."""
    return {f"word{number}": number for number in range(1, 1000)}


def cut(data, rows):
    """The first rows of arrays in tuples, lists and dicts; datasets and generators stay."""
    if isinstance(data, dict):
        return {key: cut(item, rows) for key, item in data.items()}
    if isinstance(data, (tuple, list)) and data and not isinstance(data[0], (int, float)):
        return type(data)(cut(item, rows) for item in data)
    return data[:rows] if hasattr(data, "shape") or isinstance(data, list) else data


def is_whole(x):
    """Whether data is arrays."""
    first = next(iter(x.values())) if isinstance(x, dict) and x else x[0] if isinstance(x, (list, tuple)) and x else x
    return hasattr(first, "shape")


# --- small runs -----------------------------------------------------------------------------------------------------

FITS = []  # what is reported of each fit
WEIGHTS = ""
GENUINE = True


def arguments_of(method, args, kwargs):
    """The arguments of a call by their names."""
    found = inspect.signature(method).bind(None, *args, **kwargs).arguments
    found.pop("self", None)
    return {**{key: value for key, value in found.items() if key != "kwargs"}, **found.get("kwargs", {})}


def small_fit(fit):
    """`fit` of one epoch of two steps, from the weights of the genuine run."""

    @functools.wraps(fit)
    def fitted(self, *args, **kwargs):
        if getattr(self, "_is_fitting", False):  # one that calls another
            return fit(self, *args, **kwargs)
        given = arguments_of(fit, args, kwargs)
        size = given.get("batch_size") or 32
        given["epochs"] = given.get("initial_epoch", 0) + 1
        names = ("x", "y", "sample_weight")
        if is_whole(given.get("x")):
            rows = STEPS * size
            given.update({name: cut(given[name], rows) for name in names if given.get(name) is not None})
            given.pop("steps_per_epoch", None)
        else:
            given["steps_per_epoch"] = STEPS
        given["shuffle"] = False
        validation = given.get("validation_data")
        if isinstance(validation, (tuple, list)) and is_whole(validation):
            given["validation_data"] = cut(validation, STEPS * size)
            given.pop("validation_steps", None)
        elif validation is not None:
            given["validation_steps"] = 1
        before = compared(self, given)
        object.__setattr__(self, "_is_fitting", True)
        try:
            history = fit(self, **given)
        finally:
            object.__setattr__(self, "_is_fitting", False)
        draws = any(word in type(layer).__name__ for layer in layers(self) for word in RANDOM)
        losses = getattr(history, "history", {}).get("loss", [])
        FITS.append([before, None if draws or before is None or not losses else float(losses[0])])
        return history

    return fitted


def layers(model):
    """All layers of a model, with those of models in it."""
    for layer in model.layers:
        yield layer
        if hasattr(layer, "layers"):
            yield from layers(layer)


def compared(model, given):
    """The loss of the first batch, with the weights of the genuine run; None where nothing can be compared."""
    path = os.path.join(WEIGHTS, f"{len(FITS)}.npz")
    try:
        weights = model.get_weights()
    except Exception:  # noqa: BLE001  (a model without weights yet)
        return None
    x, y, size = first_batch(given)
    if not weights or x is None:
        return None
    if GENUINE:
        np.savez(path, *weights)
    elif os.path.exists(path):
        stored = np.load(path)
        model.set_weights([stored[name] for name in stored.files])
    try:
        found = model.evaluate(x, y, batch_size=size, verbose=0)
    except Exception:  # noqa: BLE001  (a model that only trains)
        return None
    return float(np.ravel(found)[0])


def first_batch(given):
    """The inputs and targets of the first batch of `fit`, and its size; of generators none."""
    x, size = given.get("x"), given.get("batch_size") or 32
    if is_whole(x):
        return cut(x, size), cut(given.get("y"), size), size
    batch = next(iter(x)) if hasattr(x, "element_spec") else None
    if not isinstance(batch, tuple) or len(batch) != 2:
        return None, None, None
    return *batch, 4096


def small_run(run):
    """`evaluate` and `predict` of two steps."""

    @functools.wraps(run)
    def ran(self, *args, **kwargs):
        given = arguments_of(run, args, kwargs)
        size = given.get("batch_size") or 32
        if is_whole(given.get("x")):
            given.pop("steps", None)
            names = ("y", "sample_weight") if run.__name__ == "predict" else ("x", "y", "sample_weight")
            given.update({name: cut(given[name], STEPS * size) for name in names if given.get(name) is not None})
        elif not isinstance(given.get("x"), (int, float)):
            given["steps"] = STEPS
        return run(self, **given)

    return ran


def make_small():
    """Replace data, runs and plots of the TensorFlow of this process."""
    tf = importlib.import_module("tensorflow")
    keras = tf.keras
    for kind in dict.fromkeys((keras.Model, keras.Sequential)):
        for name, small in (("fit", small_fit), ("evaluate", small_run), ("predict", small_run)):
            if name in vars(kind) or kind is keras.Model:
                setattr(kind, name, small(getattr(kind, name)))
    every = {**DATASETS, "boston_housing": housing, "california_housing": california}
    for name, load_data in every.items():
        module = getattr(keras.datasets, name, None)
        if module is not None:
            module.load_data = load_data
            if hasattr(module, "get_word_index"):
                module.get_word_index = words
    keras.utils.plot_model = lambda *args, **kwargs: None
    tf.data.Dataset.shuffle = lambda self, *args, **kwargs: self
    for name in dir(keras.applications):
        found = getattr(keras.applications, name)
        if name[0].isupper() and callable(found):
            setattr(keras.applications, name, random_weights(found))
    importlib.import_module("sklearn.datasets").fetch_california_housing = california
    pandas = importlib.import_module("pandas")
    pandas.read_csv = by_address(pandas.read_csv)
    for kind in (pandas.DataFrame, pandas.Series):
        kind.plot = kind.hist = mock.MagicMock()


# --- the script -----------------------------------------------------------------------------------------------------


def run(path):
    """Run a script; the list of [line, error] of the statements that failed."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    builtins.__few__ = few
    signal.signal(signal.SIGALRM, too_slow)
    with open(path, encoding="utf-8") as file:
        tree = Shorter().visit(ast.parse(file.read(), path))
    failed = []
    for statement in statements(tree):
        signal.alarm(SECONDS)
        try:
            exec(compile(ast.Module([statement], []), path, "exec"), vars(module))  # noqa: S102  (the script)
        except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever a statement raises is noted)
            if isinstance(error, SystemExit) and error.code in (None, 0):
                break
            traceback.print_exc()
            failed.append([statement.lineno, said(error)])
        finally:
            signal.alarm(0)
    return failed


def too_slow(number, frame):
    """End a statement."""
    raise TimeoutError(f"not done after {SECONDS} s")


def alone(folder, script, weights, *folders):
    """Run the script as `python SCRIPT` would, and write the report. This process is the script's own."""
    global WEIGHTS
    os.chdir(folder)
    log = os.open("log", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(log, stream)
    WEIGHTS = weights
    os.makedirs(WEIGHTS, exist_ok=True)
    os.environ.update(HOME=folder, KERAS_HOME=folder)
    sys.meta_path.insert(0, Modules(folders))
    np.random.seed(0)  # noqa: NPY002  (what scripts draw from)
    sys.argv = [script]
    sys.path[:0] = folders
    failed = run(script)
    with open(os.path.join(folder, "report.json"), "w", encoding="utf-8") as file:
        json.dump({"failed": failed, "fits": FITS}, file)


def ended(process, seconds):
    """Wait for a process, and end it after some seconds."""
    last = time.monotonic() + seconds
    while os.waitpid(process, os.WNOHANG)[0] == 0:
        if time.monotonic() > last:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return
        time.sleep(0.1)


def main():
    """Run each script in a process of its own."""
    global GENUINE
    GENUINE = "torchkeras" not in sys.modules
    jobs, seconds = sys.argv[1:]
    sys.meta_path.insert(0, StandIns())
    for name, value in OLD_NAMES.items():  # of NumPy, in whose present version they are missing
        if name not in vars(np):
            setattr(np, name, value)
    make_small()
    with open(jobs, encoding="utf-8") as file:
        every = json.load(file)
    for job in every:
        process = os.fork()
        if process == 0:
            try:
                alone(*job)
            finally:
                sys.stdout.flush()
                os._exit(0)
        ended(process, int(seconds))
        print(job[0], flush=True)


if __name__ == "__main__":
    main()

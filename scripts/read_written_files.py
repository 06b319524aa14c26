"""Load the files of `written_files` with a genuine Keras and compare what it computes with what torchkeras computed.

    python read_written_files.py FOLDER [keras | tf_keras]

Reads what the installed version can: Keras 2.2.4 and tf_keras .h5, Keras 3 .keras and .weights.h5 (into the model of
the .keras file, after its weights were changed). Prints a line for each file and a total; exits with 1 on any
difference. Needs only Python 3.7 and that Keras.
"""

import importlib
import json
import os
import sys

import numpy as np

ABSOLUTE, RELATIVE = 1e-4, 1e-3
LEARNING = 1e-3  # relative and absolute tolerance, for losses of further steps
# The errors of a Keras for a file that it cannot read; they become a line of the report.
REFUSALS = (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError, NotImplementedError, OSError)


def as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def numbered(arrays, letter):
    found = []
    while letter + str(len(found)) in arrays:
        found.append(arrays[letter + str(len(found))])
    return found


def difference(model, arrays):
    """None, or the difference between the model's outputs and those in the file."""
    inputs, expected = numbered(arrays, "x"), numbered(arrays, "y")
    outputs = as_list(model.predict(inputs if len(inputs) > 1 else inputs[0], batch_size=len(inputs[0]), verbose=0))
    if [np.shape(output) for output in outputs] != [output.shape for output in expected]:
        return f"shapes {[np.shape(o) for o in outputs]} instead of {[o.shape for o in expected]}"
    for index, output in enumerate(outputs):
        wanted = expected[index]
        if not np.allclose(output, wanted, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True):
            return f"output {index} differs by {np.abs(output - wanted).max():.1e}"
    return None


def alone(found):
    return found if len(found) > 1 else found[0]


def evaluating(model, arrays):
    """None, or how the numbers of an evaluation differ; sorted, since versions order and name them differently."""
    given = [alone(numbered(arrays, letter)) for letter in "xt"]
    weight = alone(numbered(arrays, "w"))
    found = np.sort(model.evaluate(*given, sample_weight=weight, batch_size=2, verbose=0))
    wanted = np.sort(arrays["evaluated"])
    if found.shape == wanted.shape and np.allclose(found, wanted, rtol=LEARNING, atol=LEARNING):
        return None
    return f"the numbers of an evaluation are {found.tolist()} instead of {wanted.tolist()}"


def learning(model, arrays):
    """None, or how the losses of further training steps differ."""
    given = [alone(numbered(arrays, letter)) for letter in "xt"]
    weight = alone(numbered(arrays, "w"))
    losses = [as_list(model.train_on_batch(*given, sample_weight=weight))[0] for _ in arrays["losses"]]
    if np.allclose(losses, arrays["losses"], rtol=LEARNING, atol=LEARNING):
        return None
    return "losses of further steps are {} instead of {}".format(losses, arrays["losses"].tolist())


def read_whole(package, path, arrays, learns):
    """What is wrong with a whole model, and with its further training."""
    model = package.models.load_model(path)
    found = difference(model, arrays)
    if found or "losses" not in arrays:
        return found
    return evaluating(model, arrays) or (learning(model, arrays) if learns else None)


def read_weights(package, path, arrays, learns):
    """What is wrong with weights alone."""
    model = package.models.load_model(os.path.join(os.path.dirname(path), "model.keras"), compile=False)
    model.set_weights([np.ones_like(value) for value in model.get_weights()])
    model.load_weights(path)
    return difference(model, arrays)


def refused(package, path):
    """None if the Keras refuses a file by the name of what it does not have, or what it does in place of that."""
    try:
        package.models.load_model(path)
    except REFUSALS as error:
        return None if "torchkeras>" in str(error) else f"refused for another reason: {str(error)[:300]}"
    return "it was read, though it computes something else"


def main():
    folder, name = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "keras"
    package = importlib.import_module(name)
    version = package.__version__
    reader = "keras-3" if version.startswith("3.") else "tf_keras" if name == "tf_keras" else "keras-2.2.4"
    backend = "" if name == "tf_keras" else package.backend.backend()
    files = {"model.keras": read_whole, "model.weights.h5": read_weights}
    if reader != "keras-3":
        files = {"model.h5": read_whole}
    right = wrong = left_out = 0
    for case in sorted(os.listdir(folder)):
        with open(os.path.join(folder, case, "case.json")) as file:
            about = json.load(file)
        unread = about["unread"]
        refuses = about["no_keras3"] if reader == "keras-3" else None
        for file_name, read in sorted(files.items()):
            reason = unread.get(reader) or unread.get(f"{reader} on {backend}")
            if refuses and file_name == "model.keras":
                problem = refused(package, os.path.join(folder, case, file_name))
                right, wrong = right + (problem is None), wrong + (problem is not None)
                print("{}/{}: {}".format(case, file_name, problem or "refused by name"))
                continue
            if reason or refuses:
                reason = reason or "its .keras file is refused"
                left_out += 1
                print(f"{case}/{file_name}: left out, {reason}")
                continue
            arrays = dict(np.load(os.path.join(folder, case, "io.npz")))
            try:
                package.backend.clear_session()
                problem = read(package, os.path.join(folder, case, file_name), arrays, f"{reader} losses" not in unread)
            except REFUSALS as error:
                problem = f"{type(error).__name__}: {str(error)[:500]}"
            right, wrong = right + (problem is None), wrong + (problem is not None)
            print("{}/{}: {}".format(case, file_name, problem or "right"))
    print(f"{name} {version}: {right} files right, {wrong} wrong, {left_out} left out.")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

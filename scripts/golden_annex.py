"""Make tests/golden/keras-2.2.4-annex.json: what functions beside the layers gave in Keras 2.2.4.

    python scripts/golden_annex.py FILE        in an environment with Keras 2.2.4

`tests/keras2` gives ours the same arguments.
"""

import io
import itertools
import json
import os
import sys
import tempfile
import time
from contextlib import redirect_stdout

import numpy as np
from keras.datasets import boston_housing, imdb, reuters  # type: ignore[import-not-found]  # there and nowhere else
from keras.preprocessing import sequence  # type: ignore[import-not-found]
from keras.utils import conv_utils, generic_utils  # type: ignore[import-not-found]

RUNS = [  # of (seconds, step, values)
    [[0.5, 1, [["a", 1.0], ["b", 0.00002]]], [0.01, 2, [["a", 3.0], ["b", -0.5]]], [7, 4, [["a", -2.0], ["b", 0.25]]]],
    [[0.001, 4, None]],
    [[300, 1, [["a", 2]]], [9000, 2, [["a", 5]]], [1, 4, [["c", 0]]]],
    [[0.0001, 0, [["a", 2]]], [0.0001, 3, [["a", 5]]], [0.0001, 4, [["a", 5]]], [1, 5, [["a", 1]]]],
]
LENGTHS = {
    "conv_output_length": ([None, 1, 7, 32], [1, 3, 4], ["same", "valid", "full", "causal"], [1, 2, 3], [1, 2]),
    "conv_input_length": ([None, 1, 7, 32], [1, 3, 4], ["same", "valid", "full"], [1, 2, 3]),
    "deconv_length": ([None, 7, 32], [1, 2, 3], [1, 3, 4], ["same", "valid", "full"], [None, 0, 1], [1, 2]),
}
SEQUENCES = [[[1, 2, 3], [4], []], [[[1, 2]], [[3, 4], [5, 6], [7, 8]]]]
TEXTS = [[1, 4, 2, 9], [5, 5], [2, 3, 3, 3, 1, 8], [7], [1, 1, 6], [3, 2, 5, 4]]
LABELS = [0, 1, 1, 0, 1, 0]
TEXT_OPTIONS = [
    {},
    {"num_words": 6},
    {"num_words": 8, "skip_top": 4},
    {"maxlen": 5},
    {"oov_char": None, "num_words": 7},
    {"start_char": None},
    {"start_char": None, "index_from": 0, "seed": 7, "num_words": 5},
]


def progbar(target, verbose, run, tty, stateful):
    text, now = io.StringIO(), [1000.0]
    text.isatty = lambda: tty
    time.time = lambda: now[0]
    with redirect_stdout(text):
        bar = generic_utils.Progbar(target, width=10, verbose=verbose, stateful_metrics=stateful)
        for wait, current, values in run:
            now[0] += wait
            bar.update(current, values)
    return text.getvalue()


def plain(value):
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def load(module, arrays, options):
    path = os.path.join(tempfile.mkdtemp(), "data.npz")
    np.savez(path, **arrays)
    module.get_file = lambda *args, **kwargs: path
    return plain(module.load_data(**options))


def objects(lists):
    found = np.empty(len(lists), object)
    found[:] = lists
    return found


def main(path):
    loaded = np.load
    np.load = lambda *args, **kwargs: loaded(*args, allow_pickle=True, **kwargs)  # Keras 2.2.4 is older than the option
    halves = {"x_train": objects(TEXTS[:4]), "y_train": LABELS[:4], "x_test": objects(TEXTS[4:]), "y_test": LABELS[4:]}
    whole = {"x": objects(TEXTS), "y": LABELS}
    houses = {"x": np.arange(10.0).reshape(5, 2), "y": np.arange(5.0)}
    pads = itertools.product(SEQUENCES, [None, 2, 5], ["pre", "post"], ["pre", "post"], [0, 7])
    found = {
        "progbar": [
            [*case, progbar(*case)]
            for case in itertools.product((4, None), (0, 1, 2), RUNS, (True, False), (None, ["a"]))
        ],
        "lengths": [
            [name, list(case), getattr(conv_utils, name)(*case)]
            for name, options in LENGTHS.items()
            for case in itertools.product(*options)
        ],
        "pad_sequences": [
            [
                lists,
                maxlen,
                padding,
                cut,
                value,
                plain(sequence.pad_sequences(lists, maxlen, "int32", padding, cut, value)),
            ]
            for lists, maxlen, padding, cut, value in pads
        ],
        "texts": TEXTS,
        "labels": LABELS,
        "imdb": [[options, load(imdb, halves, options)] for options in TEXT_OPTIONS],
        "reuters": [[options, load(reuters, whole, options)] for options in [*TEXT_OPTIONS, {"test_split": 0.5}]],
        "boston_housing": [
            [options, load(boston_housing, houses, options)] for options in ({}, {"test_split": 0.5, "seed": 1})
        ],
    }
    with open(path, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1])

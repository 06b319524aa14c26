"""Runs one of Keras's example scripts as it stands, with data and epochs made small; see `keras_examples.py`.

    python keras_examples_small.py [--alias] SCRIPT

It runs under the Pythons of Keras 1.2.2 and 2.2.4 as well as under today's, so it imports nothing of this package but
the alias. Data sets are arrays of the same shapes and types with fewer samples; files are made up; networks have random
weights; `fit` makes one short epoch; plots are not drawn. Numbers that a script counts its own loops by are replaced in
its text, by the table `NUMBERS`.
"""

import functools
import importlib
import io
import os
import random
import sys
import tarfile
import types
from unittest import mock

import numpy as np

TRAIN, TEST = 600, 300
BATCHES = 3  # of an epoch
# What stands in a script, and what is run in its place: counts of its loops, sizes of what it makes itself, folders.
EVERYWHERE = {
    "(60000": f"({TRAIN}",
    "(10000": f"({TEST}",
    r"'(\W+)?'": r"'(\W+)'",  # since Python 3.7 the first splits at nothing, too
}
NUMBERS = {
    "addition_rnn": {"TRAINING_SIZE = 50000": "TRAINING_SIZE = 500", "range(1, 200)": "range(1, 2)"},
    "conv_filter_visualization": {
        "in range(200)": "in range(4)",
        "in range(0, 200)": "in range(0, 4)",
        "range(20)": "range(2)",
        "n = 8": "n = 1",
    },
    "conv_lstm": {
        "n_samples=1200": "n_samples=60",
        "which = 1004": "which = 54",
        "range(16)": "range(2)",
        "range(15)": "range(9)",
    },
    "deep_dream": {
        "iterations = 20": "iterations = 2",
        "range(5)": "range(1)",
        "maxfun=7": "maxfun=2",
        "img_width = 600": "img_width = 150",
        "img_height = 600": "img_height = 150",
    },
    "lstm_benchmark": {"embedding_dim = 256": "embedding_dim = 16"},
    "lstm_seq2seq": {"range(100)": "range(2)"},
    "lstm_seq2seq_restore": {"range(100)": "range(2)"},
    "lstm_stateful": {"input_len = 1000": "input_len = 100", "epochs = 10": "epochs = 2"},
    "lstm_text_generation": {"range(400)": "range(5)", "range(1, 60)": "range(1, 2)"},
    "mnist_acgan": {"epochs = 100": "epochs = 1", "nb_epochs = 50": "nb_epochs = 1"},
    "neural_doodle": {"range(50)": "range(1)", "maxfun=20": "maxfun=2"},
    "neural_style_transfer": {"img_nrows = 400": "img_nrows = 48", "range(10)": "range(1)", "maxfun=20": "maxfun=2"},
    "pretrained_word_embeddings": {"BASE_DIR = ''": "BASE_DIR = '.'"},
    "stateful_lstm": {"epochs = 25": "epochs = 2"},
}
ARGUMENTS = {
    "deep_dream": ["picture.png", "dream"],
    "neural_doodle": [
        *("--nlabels", "3", "--style-image", "picture.png", "--style-mask", "mask.png"),
        *("--target-mask", "mask.png", "--target-image-prefix", "doodle"),
    ],
    "neural_style_transfer": ["picture.png", "picture.png", "style"],
}
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "the",
    "dog",
    "ran",
    "to",
    "the",
    "garden",
    "where",
    "mary",
    "went",
]


# --- data ------------------------------------------------------------------------------------------------------------


def images(*shape):
    """A data set of images, with labels of the classes 0 to 9 in turn."""

    def load_data(*args, **kwargs):
        made, sets = np.random.RandomState(0), []
        for count in (TRAIN, TEST):
            labels = (np.arange(count) % 10).astype("uint8")
            labels = labels.reshape(-1, 1) if len(shape) == 3 else labels
            sets.append((made.randint(0, 256, (count, *shape)).astype("uint8"), labels))
        return tuple(sets)

    return load_data


def texts(classes):
    """A data set of lists of word numbers, with their classes in turn."""

    def load_data(path=None, num_words=None, nb_words=None, **kwargs):
        made, sets = np.random.RandomState(0), []
        for count in (TRAIN, TEST):
            rows = np.empty(count, dtype=object)
            for row in range(count):
                rows[row] = [1, *made.randint(2, num_words or nb_words or 1000, made.randint(20, 120)).tolist()]
            sets.append((rows, np.arange(count) % classes))
        return tuple(sets)

    return load_data


DATASETS = {
    "mnist": images(28, 28),
    "cifar10": images(32, 32, 3),
    "imdb": texts(2),
    "reuters": texts(46),
}


def story(place):
    """One story of the bAbI tasks, with its question and answer."""
    return f"1 Mary moved to the {place}.\n2 John went to the hall.\n3 Where is Mary? \t{place}\t1\n"


def get_file(fname, origin=None, *args, **kwargs):
    """The path of a made-up file of this name."""
    path = os.path.abspath(fname)
    if fname.endswith(".tar.gz"):
        with tarfile.open(path, "w:gz") as archive:
            for task in ("qa1_single-supporting-fact", "qa2_two-supporting-facts"):
                for part in ("en", "en-10k"):
                    for which in ("train", "test"):
                        add(archive, f"tasks_1-20_v1-2/{part}/{task}_{which}.txt")
    elif fname.endswith(".txt"):
        write(path, ". ".join(" ".join(random.choice(WORDS) for _ in range(8)) for _ in range(40)))
    else:
        raise OSError(f"no made-up file has the name {fname!r}")
    return path


def add(archive, name):
    """Put a file of stories into an archive."""
    text = "".join(story(place) for place in ("kitchen", "garden", "office", "hall") * 20).encode()
    member = tarfile.TarInfo(name)
    member.size = len(text)
    archive.addfile(member, io.BytesIO(text))


def write(path, text):
    """Write a text, in a folder that is made for it."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        os.makedirs(folder)
    with open(path, "w", encoding="utf-8") as file:
        file.write("" + text)


def files():
    """The files that scripts expect in their folder."""
    write("fra-eng/fra.txt", "\n".join(f"The {word}.\tLe {word[::-1]} !" for word in WORDS * 10))
    numbers = " ".join(["0.1"] * 100)
    write("glove.6B/glove.6B.100d.txt", "\n".join(f"{word} {numbers}" for word in WORDS))
    for group in ("sport", "space"):
        for number in range(50):
            write(f"20_newsgroup/{group}/{number}", "Subject: x\n\n" + " ".join(WORDS[number % 9 :]))
    image = importlib.import_module("PIL.Image")
    pixels = np.random.RandomState(0).randint(0, 256, (150, 150, 3)).astype("uint8")
    image.fromarray(pixels).save("picture.png")
    mask = np.zeros((48, 48, 3), dtype="uint8")
    mask[16:32], mask[32:] = 128, 255
    image.fromarray(mask).save("mask.png")


# --- a small Keras ---------------------------------------------------------------------------------------------------


def cut(data, count):
    """The first rows of arrays, in whatever form `fit` takes them."""
    if isinstance(data, (list, tuple)):
        return type(data)(cut(each, count) for each in data)
    if isinstance(data, dict):
        return {name: cut(each, count) for name, each in data.items()}
    return data[:count] if isinstance(data, np.ndarray) else data


def small_fit(fit):
    """`fit` of one epoch of a few batches."""

    @functools.wraps(fit)  # whose arguments the wrappers for scikit-learn look at
    def fitted(self, x=None, y=None, *args, **kwargs):
        for name in ("epochs", "nb_epoch"):
            if name in kwargs:
                kwargs[name] = 1
        if "steps_per_epoch" in kwargs:
            kwargs["steps_per_epoch"] = BATCHES
        count = BATCHES * (kwargs.get("batch_size") or (args[0] if args else 32))
        for name in ("sample_weight", "validation_data"):
            if name in kwargs:
                kwargs[name] = cut(kwargs[name], count)
        return fit(self, cut(x, count), cut(y, count), *args, **kwargs)

    return fitted


def small_fit_generator(fit_generator):
    """`fit_generator` of one epoch of a few batches."""

    def fitted(self, generator, *args, **kwargs):
        for name, few in (
            ("epochs", 1),
            ("nb_epoch", 1),
            ("samples_per_epoch", 64),
            ("validation_steps", 1),
            ("nb_val_samples", 32),
        ):
            if name in kwargs:
                kwargs[name] = few
        if "samples_per_epoch" not in kwargs and not args:  # Keras 1's Sequential calls its Model so, by position
            kwargs["steps_per_epoch"] = BATCHES
        return fit_generator(self, generator, *args, **kwargs)

    return fitted


def random_weights(network):
    """A network of `keras.applications` without its file of weights."""

    def made(*args, **kwargs):
        kwargs["weights"] = None
        return network(*args, **kwargs)

    return made


def replace(module, name, change):
    """Change a name of a module or class, where there is one."""
    if isinstance(module, str):
        try:
            module = importlib.import_module(module)
        except ImportError:  # which this version of Keras does not have
            return
    found = vars(module).get(name)
    if found is not None:
        setattr(module, name, change(found))


def make_small():
    """Replace data, files, runs and plots of the Keras of this process."""
    models = importlib.import_module("keras.models")
    for kind in (models.Sequential, *models.Model.__mro__):
        replace(kind, "fit", small_fit)
        replace(kind, "fit_generator", small_fit_generator)
    for name, load_data in DATASETS.items():
        replace("keras.datasets." + name, "load_data", lambda found, load_data=load_data: load_data)
    for module in ("keras.utils", "keras.utils.data_utils"):
        replace(module, "get_file", lambda found: get_file)
    networks = {"vgg16": "VGG16", "vgg19": "VGG19", "inception_v3": "InceptionV3"}
    for module, name in networks.items():
        replace("keras.applications." + module, name, random_weights)
        replace("keras.applications", name, random_weights)
    for module in ("keras.utils", "keras.utils.vis_utils"):
        replace(module, "plot_model", lambda found: mock.MagicMock())


def no_plots():
    """Plots that are not drawn, and scipy's functions for files of images where it has them no more."""
    for name in ("matplotlib", "matplotlib.pyplot", "pylab"):
        sys.modules[name] = mock.MagicMock()
    if not hasattr(importlib.import_module("scipy.misc"), "imsave"):
        image = importlib.import_module("PIL.Image")
        old = types.ModuleType("scipy.misc")
        vars(old)["imread"] = lambda path: np.asarray(image.open(path))
        vars(old)["imsave"] = lambda path, pixels: image.fromarray(np.asarray(pixels).astype("uint8")).save(path)
        sys.modules["scipy.misc"] = old


def main():
    """Run the script as `python SCRIPT` would."""
    options, script = sys.argv[1:-1], os.path.abspath(sys.argv[-1])
    if "--alias" in options:
        importlib.import_module("torchkeras.as_keras")
    name = os.path.splitext(os.path.basename(script))[0]
    files()
    no_plots()
    make_small()
    with open(script, encoding="utf-8") as file:
        text = file.read()
    for stands, runs in list(EVERYWHERE.items()) + list(NUMBERS.get(name, {}).items()):
        text = text.replace(stands, runs)
    sys.argv = [script, *ARGUMENTS.get(name, [])]
    sys.path[0] = os.path.dirname(script)
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    random.seed(0)  # else a script such as conv_filter_visualization fails by chance, which keeps what grows
    np.random.seed(0)  # noqa: NPY002  (what scripts draw from)
    if "--alias" in options:
        importlib.import_module("torch").manual_seed(0)
    exec(compile(text, script, "exec"), module.__dict__)  # noqa: S102  (the script is what is asked for)


if __name__ == "__main__":
    main()

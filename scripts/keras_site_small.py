"""Runs one script of Keras's site as it stands, statement by statement, on small made-up data; see `keras_site.py`.

    python keras_site_small.py SCRIPT REPORT [FOLDER ...]                               # a genuine Keras
    python -m torchkeras run --as keras3 keras_site_small.py SCRIPT REPORT [FOLDER ...]  # this package

It imports nothing of this package: both runs are of this one file. Each statement at the top of the script runs in one
namespace; one that fails is noted, and the run goes on with the next, so that a report says all that does not work.
Data sets are arrays of the genuine shapes and types with fewer samples, files are made up, networks of
`keras.applications` have random weights, `fit` makes one epoch of two steps, and nothing is shown. `FOLDER`: where
other packages are looked for after the Python's own. The report is a list of [line, error] in JSON.
"""

import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import json
import linecache
import os
import signal
import sys
import traceback
import types
import zipfile
from unittest import mock

import numpy as np

TRAIN, TEST = 320, 64
STEPS = 2  # of an epoch
SECONDS = 120  # for a statement
# Packages that draw, show or read films: where they are not installed, calls of them do nothing.
STAND_INS = ("IPython", "cv2", "imageio", "imgaug", "ipywidgets", "matplotlib", "pydot", "seaborn", "tensorflow_docs")
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "dog", "ran", "to", "the", "garden", "where", "mary", "went"]


# --- data sets ------------------------------------------------------------------------------------------------------


def images(shape, classes):
    """A data set of images, with labels in turn."""

    def load_data(*args, **kwargs):
        random, sets = np.random.RandomState(0), []
        for count in (TRAIN, TEST):
            labels = (np.arange(count) % classes).astype("uint8")
            labels = labels.reshape(-1, 1) if len(shape) == 3 else labels
            sets.append((random.randint(0, 256, (count, *shape)).astype("uint8"), labels))
        return tuple(sets)

    return load_data


def texts(classes):
    """A data set of lists of word numbers, with their classes in turn."""

    def load_data(path=None, num_words=None, **kwargs):
        random, sets = np.random.RandomState(0), []
        for count in (TRAIN, TEST):
            rows = np.empty(count, dtype=object)
            for row in range(count):
                rows[row] = [1, *random.randint(2, num_words or 1000, random.randint(20, 120)).tolist()]
            sets.append((rows, np.arange(count) % classes))
        return tuple(sets)

    return load_data


DATASETS = {
    "mnist": images((28, 28), 10),
    "fashion_mnist": images((28, 28), 10),
    "cifar10": images((32, 32, 3), 10),
    "cifar100": images((32, 32, 3), 100),
    "imdb": texts(2),
    "reuters": texts(46),
}


def catalogue():
    """`tensorflow_datasets` with small images of as many classes as each data set has; it needs `tensorflow`."""
    module = types.ModuleType("tensorflow_datasets")
    known = {"cats_vs_dogs": (2, 96), "horses_or_humans": (2, 300), "tf_flowers": (5, 96)}  # classes, size
    made = mock.MagicMock()

    def load(name, split=None, with_info=False, **kwargs):
        data = importlib.import_module("tensorflow").data
        (count, size), random = known[name], np.random.RandomState(0)
        pictures = random.randint(0, 256, (32, size, size, 3)).astype("uint8")
        labels = (np.arange(32) % count).astype("int64")
        sets = [data.Dataset.from_tensor_slices((pictures, labels)) for _ in split]
        made.features["image"].shape = (size, size, 3)
        return (sets, made) if with_info else sets

    vars(module).update(load=load, disable_progress_bar=lambda: None, Split=mock.MagicMock())
    return module


# --- files ------------------------------------------------------------------------------------------------------------


def picture(path, size=(96, 96), between=(0, 256), axes=(3,)):
    """Write a picture of random pixels."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    pixels = np.random.RandomState(len(path)).randint(*between, (*size, *axes)).astype("uint8")
    importlib.import_module("PIL.Image").fromarray(pixels).save(path)


def text(path, lines):
    """Write lines of text."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def sentences(count):
    """Sentences of eight words."""
    random = np.random.RandomState(count)
    return [" ".join(random.choice(WORDS, 8)).capitalize() + "." for _ in range(count)]


def census(path):
    """The people of the census, with all columns; as there, no column of words has more values than the countries."""
    row = "{}, Private, 77516, {}, 13, Never-married, Sales, Husband, White, {}, 2174, 0, 40, {}, {}"
    countries = ["United-States", "Mexico", "Canada", "India"] * 16
    gender = ["Male", "Male", "Female", "Female"] * 16
    values = zip(range(20, 84), ["Bachelors", "Masters"] * 32, gender, countries, strict=True)
    text(path, [row.format(*each, [" <=50K", ">50K"][number % 3 == 0].strip()) for number, each in enumerate(values)])


def series(path):
    """One value every five minutes of 14 days."""
    days = np.arange("2014-04-01", "2014-04-15", 5, dtype="datetime64[m]")
    values = np.sin(np.arange(len(days)) / 46) + 20
    if "jumps" in path:
        values[3000:3100] += 60
    rows = [f"{str(day).replace('T', ' ')}:00,{value:.4f}" for day, value in zip(days, values, strict=True)]
    text(path, ["timestamp,value", *rows])


def engines(path):
    """Rows of a class and 500 values."""
    random = np.random.RandomState(0)
    rows = [[1 if row % 2 else -1, *random.normal(size=500).round(4)] for row in range(64)]
    text(path, ["\t".join(map(str, row)) for row in rows])


def movies(folder):
    """Ratings of movies."""
    seen = [(user, movie) for user in range(1, 9) for movie in range(1 + user % 2, 31, 2)]
    rows = [f"{user},{movie},{(user + movie) % 5 + 0.5},0" for user, movie in seen]
    text(f"{folder}/ml-latest-small/ratings.csv", ["userId,movieId,rating,timestamp", *rows])
    rows = [f"{movie},Movie {movie},Comedy|Drama" for movie in range(1, 31)]
    text(f"{folder}/ml-latest-small/movies.csv", ["movieId,title,genres", *rows])


def pets(folder):
    """Pictures, and for each a mask of the classes 1 to 3."""
    for number in range(40):
        picture(f"{folder}/images/pet_{number:02}.jpg")
        picture(f"{folder}/annotations/trimaps/pet_{number:02}.png", between=(1, 4), axes=())


def reviews(folder):
    """Texts in folders of two classes."""
    for part in ("train/pos", "train/neg", "test/pos", "test/neg"):
        for number, sentence in enumerate(sentences(40)):
            text(f"{folder}/aclImdb/{part}/{number}.txt", [sentence])


def people(folder):
    """Pictures with a mask of 20 classes."""
    for number in range(8):
        training = f"{folder}/instance-level_human_parsing/instance-level_human_parsing/Training"
        picture(f"{training}/Images/{number:04}.png")
        picture(f"{training}/Category_ids/{number:04}.png", between=(0, 20), axes=())
    os.makedirs(f"{folder}/instance-level_human_parsing/instance-level_human_parsing/human_colormap", exist_ok=True)


def films(folder):
    """Features of films, made already."""
    random = np.random.RandomState(0)
    for part in ("train", "test"):
        names = ["CricketShot", "PlayingCello", "Punch", "ShavingBeard", "TennisSwing"] * 2
        rows = [f"v_{name}_{number}.avi,{name}" for number, name in enumerate(names)]
        text(f"{folder}/{part}.csv", ["video_name,tag", *rows])
        np.save(f"{folder}/{part}_data.npy", random.normal(size=(10, 20, 1024)).astype("float32"))
        np.save(f"{folder}/{part}_labels.npy", np.arange(10) % 5)


def airplanes(folder):
    """Pictures of airplanes, and a box for each in MATLAB's format."""
    for number in range(10):
        picture(f"{folder}/101_ObjectCategories/airplanes/image_{number:04}.jpg", (80, 120))
        path = f"{folder}/Annotations/Airplanes_Side_2/annotation_{number:04}.mat"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        importlib.import_module("scipy.io").savemat(path, {"box_coord": np.array([[10, 60, 20, 100]])})


def scenes(folder):
    """Pictures in folders by class."""
    for part in ("train", "val"):
        for name in range(10):
            for number in range(4):
                picture(f"{folder}/imagenette2-320/{part}/n{name:02}/{number}.jpg")


def numbers(path):
    """Films of moving numbers: 20 frames of each."""
    np.save(path, np.random.RandomState(0).randint(0, 256, (20, 20, 64, 64)).astype("uint8"))


def weather(folder):
    """A value of each kind every ten minutes."""
    kinds = "p (mbar),T (degC),Tpot (K),Tdew (degC),rh (%),VPmax (mbar),VPact (mbar),VPdef (mbar),sh (g/kg)"
    kinds += ",H2OC (mmol/mol),rho (g/m**3),wv (m/s),max. wv (m/s),wd (deg)"
    values = np.random.RandomState(0).normal(size=(6000, 14)).round(3)
    days = np.datetime64("2009-01-01") + np.arange(len(values)) * np.timedelta64(10, "m")
    rows = [",".join(map(str, [day, *row])) for day, row in zip(days, values, strict=True)]
    text(f"{folder}/jena_climate_2009_2016.csv", [f"Date Time,{kinds}", *rows])


def payments(folder):
    """Payments, of which one in ten is a fraud."""
    values = np.random.RandomState(0).normal(size=(400, 30)).round(3)
    rows = [",".join([*map(str, row), f'"{int(number % 10 == 0)}"']) for number, row in enumerate(values)]
    text(f"{folder}/creditcard.csv", [",".join(f"V{number}" for number in range(30)) + ",Class", *rows])


def news(folder):
    """Messages in folders by subject."""
    for subject in ("comp.graphics", "rec.autos", "sci.space"):
        for number in range(38980, 39000):
            text(f"{folder}/20_newsgroup/{subject}/{number}", ["Subject: news"] * 10 + sentences(30))


def meanings(folder):
    """A vector for each word."""
    rows = [" ".join([word, *np.full(100, len(word) / 10).astype(str)]) for word in WORDS]
    text(f"{folder}/.keras/datasets/glove.6B.100d.txt", rows)


FILES = {  # by the last part of an address
    "adult.data": census,
    "adult.test": census,
    "art_daily_small_noise.csv": series,
    "art_daily_jumpsup.csv": series,
    "FordA_TRAIN.tsv": engines,
    "FordA_TEST.tsv": engines,
    "mnist_test_seq.npy": numbers,
    "nietzsche.txt": lambda path: text(path, sentences(60)),
}
ARCHIVES = {  # by the last part of an address: what fills a folder as the archive's files would
    "ml-latest-small.zip": movies,
    "spa-eng.zip": lambda folder: text(f"{folder}/spa-eng/spa.txt", [f"{a}\t{a[::-1]}" for a in sentences(200)]),
    "fra-eng.zip": lambda folder: text(f"{folder}/fra.txt", [f"{a}\t{a[::-1]}\tby hand" for a in sentences(200)]),
    "jena_climate_2009_2016.csv.zip": weather,
    "news20.tar.gz": news,
    "imagenette2-320.tgz": scenes,
    "caltech-101.zip": airplanes,
}
BESIDE = {  # what the reader of a script is asked to fetch by hand, by a text of the script
    "tar -xf aclImdb_v1.tar.gz": reviews,
    "tar -xf annotations.tar.gz": pets,
    "unzip -q instance-level-human-parsing.zip": people,
    "tar -xf top5_data_prepared.tar.gz": films,
    "creditcard.csv": payments,
    "unzip -q glove.6B.zip": meanings,
}


def get_file(fname=None, origin=None, untar=False, extract=False, **kwargs):
    """The path of a made-up file, where the archive is also unpacked if asked."""
    name = origin.rsplit("/", 1)[-1]
    folder = os.path.abspath("datasets")
    path = os.path.join(folder, fname or name)
    os.makedirs(folder, exist_ok=True)
    if name in FILES:
        FILES[name](path)
    elif extract or untar:
        ARCHIVES[name](folder)
    else:
        packed(path, ARCHIVES[name])
    return path


def packed(path, fill):
    """Write an archive of the files with which `fill` fills a folder."""
    folder = f"{path}.files"
    fill(folder)
    with zipfile.ZipFile(path, "w") as archive:
        for place, _, names in os.walk(folder):
            for name in names:
                whole = os.path.join(place, name)
                archive.write(whole, os.path.relpath(whole, folder))


def by_address(read):
    """A function that reads the file of an address, which is made up."""

    @functools.wraps(read)
    def reading(path, *args, **kwargs):
        return read(get_file(origin=path) if str(path).startswith("http") else path, *args, **kwargs)

    return reading


# --- a small Keras ----------------------------------------------------------------------------------------------------


def small_fit(fit):
    """`fit` of one epoch of two steps."""

    @functools.wraps(fit)
    def fitted(self, *args, **kwargs):
        kwargs["epochs"] = kwargs.get("initial_epoch", 0) + 1
        kwargs["steps_per_epoch"] = STEPS
        if kwargs.get("validation_data") is not None or kwargs.get("validation_split"):
            kwargs["validation_steps"] = 1
        return fit(self, *args, **kwargs)

    fitted.small = True
    return fitted


def small_run(run):
    """`evaluate` of two steps."""

    @functools.wraps(run)
    def ran(self, *args, **kwargs):
        kwargs["steps"] = STEPS
        return run(self, *args, **kwargs)

    ran.small = True
    return ran


def random_weights(network):
    """A network of `keras.applications` without its file of weights."""

    @functools.wraps(network)
    def made(*args, **kwargs):
        kwargs["weights"] = None
        return network(*args, **kwargs)

    return made


def make_small():
    """Replace data, files, runs and plots of the Keras of this process."""
    keras = importlib.import_module("keras")
    for kind in (keras.Model, keras.Sequential):
        for name, small in (("fit", small_fit), ("evaluate", small_run)):
            if not hasattr(getattr(kind, name), "small"):
                setattr(kind, name, small(getattr(kind, name)))
    for name, load_data in DATASETS.items():
        importlib.import_module(f"keras.datasets.{name}").load_data = load_data
    keras.utils.get_file = get_file
    keras.utils.plot_model = lambda *args, **kwargs: None
    for name in dir(keras.applications):
        found = getattr(keras.applications, name)
        if name[0].isupper() and callable(found):
            small = random_weights(found)
            setattr(keras.applications, name, small)
            for module in vars(keras.applications).values():
                if isinstance(module, types.ModuleType) and vars(module).get(name) is found:
                    setattr(module, name, small)


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds packages of which nothing is needed, and their modules."""

    def find_spec(self, fullname, path=None, target=None):
        """The spec of a stand-in."""
        if fullname.partition(".")[0] in STAND_INS:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        """A module whose names are all there, and do nothing."""
        return Drawn(spec.name)

    def exec_module(self, module):
        """Leave it as it is."""


class Drawn(types.ModuleType):
    """A module of a package that is not needed."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return PARTS.get(name) or mock.MagicMock()


def subplots(rows=1, columns=1, **kwargs):
    """A figure, and its axes in an array if there are several."""
    axes = np.empty((rows, columns), dtype=object)
    axes.flat = [mock.MagicMock() for _ in range(axes.size)]
    return mock.MagicMock(), axes.squeeze() if axes.size > 1 else axes[0, 0]


def resized(image, size, *args, **kwargs):
    """An image in another size."""
    pil = importlib.import_module("PIL.Image")
    return np.asarray(pil.fromarray(np.asarray(image).astype("uint8")).resize(size)).astype(np.asarray(image).dtype)


PARTS = {  # of stand-ins: what scripts, and matplotlib, unpack
    "get_ipython": lambda: None,
    "version_info": (9, 0, 0),
    "imread": lambda path: np.zeros((96, 96, 3), "uint8"),
    "resize": resized,
    "subplots": subplots,
}


# --- the script -------------------------------------------------------------------------------------------------------


def statements(tree):
    """The statements at the top of a script, and those under `if __name__ == "__main__"`."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            yield from statement.body
        else:
            yield statement


def run(path):
    """Run a script; the list of [line, error] of the statements that failed."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    signal.signal(signal.SIGPROF, too_slow)  # of the time that this process computes, however busy the machine is
    failed = []
    for statement in statements(ast.parse("".join(linecache.getlines(path)), path)):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            exec(compile(ast.Module([statement], []), path, "exec"), vars(module))  # noqa: S102  (the script)
        except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever a statement raises is noted)
            traceback.print_exc()
            failed.append([statement.lineno, said(error)])
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return failed


def too_slow(number, frame):
    """End a statement."""
    raise TimeoutError(f"not done after {SECONDS} s of computing")


def said(error):
    """The type of an error and the first line of its text."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def main():
    """Run the script as `python SCRIPT` would, and write the report."""
    script, report, *folders = sys.argv[1:]
    sys.path += folders
    script = os.path.abspath(script)
    sys.meta_path.append(StandIns())
    sys.modules["tensorflow_datasets"] = catalogue()
    torch = importlib.import_module("torch")  # which TensorFlow's Python, that takes the rest of this file, has not
    for name in ("nms", "qnms"):  # which torchvision lacks where it was built for CUDA and there is none
        torch.library.define(f"torchvision::{name}", "(Tensor boxes, Tensor scores, float most) -> Tensor")
    np.loadtxt = by_address(np.loadtxt)
    pandas = importlib.import_module("pandas")
    pandas.read_csv = by_address(pandas.read_csv)
    with open(script, encoding="utf-8") as file:
        written = file.read()
    for asked, fill in BESIDE.items():
        if asked in written:
            fill(".")
    make_small()
    sys.argv = [script]
    sys.path[0] = os.path.dirname(script)
    failed = run(script)
    with open(report, "w", encoding="utf-8") as file:
        json.dump(failed, file)


if __name__ == "__main__":
    main()

"""`keras.utils`: batches by number, downloads, bars, and errors."""

import hashlib
import os
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras import config as settings, layers
from torchkeras.engine.graph.input import Input
from torchkeras.keras3 import utils
from torchkeras.models import Model

NEUTRAL = (
    *("array_to_img", "audio_dataset_from_directory", "image_dataset_from_directory", "img_to_array", "load_img"),
    *("pad_sequences", "save_img", "set_random_seed", "split_dataset", "text_dataset_from_directory"),
    "timeseries_dataset_from_array",
)


@pytest.mark.parametrize("name", NEUTRAL)
def test_a_function_of_both_stands_once(name: str):
    assert getattr(utils, name) is getattr(torchkeras.utils, name)


# --- batches by number -----------------------------------------------------------------------------------------------


class Numbered(utils.PyDataset):
    def __init__(self, **options):
        super().__init__(**options)
        self.calls = []

    num_batches = 3  # type: ignore[assignment]

    def __getitem__(self, index):
        return np.full((2, 1), index, "float32"), np.zeros((2, 1), "float32")

    def on_epoch_begin(self):
        self.calls.append("begin")

    def on_epoch_end(self):
        self.calls.append("end")


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_model_trains_on_batches_by_number(workers: int):
    inputs = Input((1,))
    model = Model(inputs, layers.Dense(1)(inputs))
    model.compile("sgd", "mse")
    data = Numbered(workers=workers)
    assert len(model.fit(data, epochs=2, verbose=0).epoch) == 2
    assert data.calls == ["begin", "end"] * 2
    assert model.predict(data, verbose=0).shape == (6, 1)


class Endless(utils.PyDataset):
    num_batches = None  # type: ignore[assignment]

    def __getitem__(self, index):
        return index


class Unfinished(utils.PyDataset):
    pass


def test_batches_without_an_end():
    batches = iter(Endless())
    assert [next(batches) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(TypeError, match=r"Endless has no end, .*: give iter\(dataset\) and steps_per_epoch"):
        len(Endless())
    with pytest.raises(NotImplementedError, match=r"Unfinished must define __len__\(\), or the property num_batches"):
        len(Unfinished())
    with pytest.raises(NotImplementedError, match=r"Unfinished must define __getitem__"):
        Unfinished()[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": -1}, "PyDataset: workers must be an integer of at least 0; found -1"),
        ({"use_multiprocessing": 3}, "PyDataset: use_multiprocessing must be True or False; found 3"),
        ({"max_queue_size": 0}, "PyDataset: max_queue_size must be an integer of at least 1; found 0"),
    ],
)
def test_errors_of_batches_by_number(options, message: str):
    with pytest.raises(ValueError, match=message):
        utils.PyDataset(**options)


# --- downloads -------------------------------------------------------------------------------------------------------


def test_a_file_is_kept(tmp_path: Path):
    source = tmp_path / "data.bin"
    source.write_bytes(b"first")
    options = {"origin": source.as_uri(), "cache_dir": tmp_path / "cache"}
    path = utils.get_file(**options)
    assert path == str(tmp_path / "cache" / "datasets" / "data.bin")
    source.write_bytes(b"second")
    assert Path(utils.get_file(**options)).read_bytes() == b"first"
    wanted = hashlib.sha256(b"second").hexdigest()
    assert Path(utils.get_file("data.bin", file_hash=wanted, **options)).read_bytes() == b"second"
    source.write_bytes(b"third")
    assert Path(utils.get_file(force_download=True, **options)).read_bytes() == b"third"
    assert sorted(os.listdir(tmp_path / "cache" / "datasets")) == ["data.bin"]


def test_an_archive_is_unpacked(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("inside/a.txt", "text")
    options = {"origin": (tmp_path / "all.zip").as_uri(), "cache_dir": tmp_path, "cache_subdir": "", "extract": True}
    for given, folder in ((None, "all.zip"), ("mine.zip", "mine_extracted"), ("plain", "plain")):
        cache = tmp_path / str(given)
        path = utils.get_file(given, **{**options, "cache_dir": cache})
        assert path == str(cache / folder)
        assert (Path(path) / "inside" / "a.txt").read_text() == "text"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "get_file: origin, the address of the file, must be given"),
        ({"origin": "https://example.org/"}, "get_file: fname must be given"),
        ({"fname": "a/b", "origin": "https://example.org/c"}, "fname must be a name without folders"),
    ],
)
def test_errors_of_downloads(given, message: str):
    with pytest.raises(ValueError, match=message):
        utils.get_file(**given)


def test_what_is_no_archive_stays(tmp_path: Path):
    (tmp_path / "a.txt").write_text("text")
    with pytest.warns(UserWarning, match="is no archive of the formats 'auto'"):
        utils.get_file("a.txt", (tmp_path / "a.txt").as_uri(), extract=True, cache_dir=tmp_path / "cache")


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_a_bar(capsys):
    bar = utils.Progbar(4, verbose=1, interval=0, unit_name="file", stateful_metrics=["rate"])
    bar.update(2, [("loss", 1.0), ("rate", 5.0)])
    bar.add(1, [("loss", 4.0), ("rate", 6.0)])
    bar.add(1, [("loss", 3.0), ("rate", 7.0)])
    text = capsys.readouterr().out
    assert "loss: 2.0000 - rate: 6.0000" in text
    assert "loss: 3.0000 - rate: 7.0000" in text
    assert "4/4" in text
    assert "/file" in text


def test_a_line_at_the_end(capsys):
    bar = utils.Progbar(2, verbose=2, stateless_metrics=["loss"])
    bar.update(1, [("loss", 1e-5)])
    assert capsys.readouterr().out == ""
    bar.update(2, [("loss", 1e-5), ("other", 2)])
    line = re.sub(r"\d+(s|ms|us)/step", "TIME", capsys.readouterr().out)
    assert line == "2/2 - 0s - TIME - loss: 1.0000e-05 - other: 2.0000\n"


def test_a_bar_without_a_target_or_shown_by_none(capsys):
    utils.Progbar(None, verbose=0).add(3, [("loss", 1.0)])
    assert capsys.readouterr().out == ""
    bar = utils.Progbar(None, interval=0)
    bar.add(3)
    bar.update(4, finalize=True)
    assert "4/Unknown" in capsys.readouterr().out
    settings.disable_interactive_logging()
    utils.Progbar(1).add(1)
    assert capsys.readouterr().out == ""


def test_errors_of_bars():
    with pytest.raises(ValueError, match="only one of stateful_metrics and stateless_metrics can be given"):
        utils.Progbar(1, stateful_metrics=["a"], stateless_metrics=["b"])
    with pytest.raises(ValueError, match="Progbar: verbose must be"):
        utils.Progbar(1, verbose=3)


def model() -> Model:
    inputs = Input((2,), name="in")
    return Model(inputs, layers.Dense(1, name="mine")(inputs))


def test_pictures(tmp_path: Path):
    text = utils.model_to_dot(model(), show_dtype=True, splines="curved")
    assert "graph [rankdir=TB, dpi=200, splines=curved]" in text
    assert "float32" in text
    for name in ("a.svg", "a.txt", "a.dot"):
        assert utils.plot_model(model(), tmp_path / name, layer_range=None).path.exists()
    assert "splines=ortho" in (tmp_path / "a.dot").read_text()
    assert "mine" not in (tmp_path / "a.txt").read_text()
    assert "mine" in utils.plot_model(model(), tmp_path / "b.txt", show_layer_names=True).path.read_text()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: utils.model_to_dot(model(), subgraph=True), ValueError, "subgraph must be False"),
        (lambda: utils.model_to_dot(model(), splines="no"), ValueError, "model_to_dot: splines must be"),
        (lambda: utils.plot_model(model(), "a.svg", splines="line"), ValueError, "splines is of Graphviz's pictures"),
        (lambda: utils.plot_model(model(), layer_range=["a"]), ValueError, "layer_range is not in Keras 3"),
        (lambda: utils.plot_model(model(), no=1), TypeError, "plot_model: unknown option 'no'"),
    ],
)
def test_errors_of_pictures(call, error, message: str):
    with pytest.raises(error, match=message):
        call()


def test_the_inputs_of_a_tensor():
    one, other = Input((2,)), Input((2,))
    assert [id(each) for each in utils.get_source_inputs(layers.Dense(1)(one + other))] == [id(one), id(other)]


# --- arrays, settings -------------------------------------------------------------------------------------------------


def test_rows_of_an_array_along_its_first_axis():
    """Genuine Keras takes the last axis for axis=0 of an array."""
    assert utils.normalize(np.array([[3.0], [4.0]]), axis=0).tolist() == [[0.6], [0.8]]


def test_classes_of_a_tensor_are_counted():
    assert utils.to_categorical(torch.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: utils.to_categorical([0, -1]), ValueError, "class numbers must be at least 0; found -1"),
    ],
)
def test_errors_of_arrays(call, error, message: str):
    with pytest.raises(error, match=message):
        call()


def test_copies_of_a_config():
    made = utils.Config(seed=1)
    made.freeze()
    again = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert (again.seed, again.frozen) == (1, True)
    with pytest.raises(ValueError, match=r"the Config is frozen: call unfreeze\(\)"):
        again.seed = 2
    with pytest.raises(AttributeError, match=r"Config has no value 'sed'\. Did you mean 'seed'\?"):
        _ = made.sed
    with pytest.raises(AttributeError, match=r"Config has a method 'keys'; set the value as config\['keys'\]"):
        made.keys = 1  # type: ignore[method-assign]


# --- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", utils.bounding_boxes.__all__)
def test_boxes_are_torchvisions(name: str):
    with pytest.raises(NotImplementedError, match=rf"keras.utils.bounding_boxes.{name} is not here: use .*torchvision"):
        getattr(utils.bounding_boxes, name)(1, target=2)

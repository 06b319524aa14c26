"""`keras.utils`: files in folders, windows, downloads, bars, and errors."""

import hashlib
import io
import os
import pickle
import re
import wave
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from torchkeras import config as settings, layers
from torchkeras.engine.graph.input import Input
from torchkeras.keras3 import utils
from torchkeras.models import Model

# --- files in folders ------------------------------------------------------------------------------------------------


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Two classes: 4 images in "a", 6 in "b"; each is of one gray, 10 times its number."""
    for number in range(10):
        folder = tmp_path / ("a" if number < 4 else "b")
        folder.mkdir(exist_ok=True)
        pixels = np.full((4 + number, 8, 3), 10.0 * number)
        utils.save_img(folder / f"{number}.png", pixels, scale=False)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "a" / "notes.txt").write_text("no image")
    return tmp_path


def grays(loader) -> list[int]:
    return [round(image.mean().item() / 10) for batch in loader for image in (batch[0] if len(batch) == 2 else batch)]


def test_images_in_order(images: Path, capsys):
    found = utils.image_dataset_from_directory(images, image_size=(5, 6), batch_size=4, shuffle=False)
    assert capsys.readouterr().out == "Found 10 files belonging to 2 classes.\n"
    assert isinstance(found, DataLoader)
    assert found.class_names == ["a", "b"]  # type: ignore[attr-defined]
    assert [os.path.basename(path) for path in found.file_paths] == [f"{number}.png" for number in range(10)]  # type: ignore[attr-defined]
    batches = list(found)
    assert [tuple(x.shape) for x, y in batches] == [(4, 5, 6, 3), (4, 5, 6, 3), (2, 5, 6, 3)]
    assert [y.tolist() for x, y in batches] == [[0, 0, 0, 0], [1, 1, 1, 1], [1, 1]]
    assert batches[0][0].dtype is torch.float32
    assert batches[0][1].dtype is torch.int32
    assert grays(found) == list(range(10))


@pytest.mark.parametrize(
    ("mode", "shape", "first", "last"),
    [("binary", (10, 1), [0.0], [1.0]), ("categorical", (10, 2), [1.0, 0.0], [0.0, 1.0])],
)
def test_forms_of_labels(images: Path, mode: str, shape, first, last):
    found = utils.image_dataset_from_directory(images, label_mode=mode, shuffle=False, verbose=False, image_size=4)
    ((_, y),) = list(found)
    assert (tuple(y.shape), y.dtype, y[0].tolist(), y[-1].tolist()) == (shape, torch.float32, first, last)


def test_no_labels(images: Path):
    for options in ({"labels": None}, {"label_mode": None}):
        found = utils.image_dataset_from_directory(images, shuffle=False, verbose=False, image_size=(2, 2), **options)
        assert [tuple(x.shape) for x in found] == [(10, 2, 2, 3)]


def test_labels_of_ones_own(images: Path):
    labels = [3, 1, 2, 1, 1, 1, 1, 1, 1, 1]
    found = utils.image_dataset_from_directory(images, labels, shuffle=False, verbose=False, image_size=(2, 2))
    assert next(iter(found))[1].tolist() == labels
    assert found.class_names == ["1", "2", "3"]


def test_chosen_classes_in_their_order(images: Path):
    found = utils.image_dataset_from_directory(
        images, class_names=["b", "a"], shuffle=False, verbose=False, image_size=(2, 2)
    )
    assert next(iter(found))[1].tolist() == [0] * 6 + [1] * 4
    only = utils.image_dataset_from_directory(images, class_names=["b"], verbose=False, image_size=(2, 2))
    assert len(only.dataset) == 6


def test_shuffled_anew_in_each_epoch_with_labels(images: Path):
    found = utils.image_dataset_from_directory(images, seed=1, verbose=False, image_size=(2, 2))
    again = utils.image_dataset_from_directory(images, seed=1, verbose=False, image_size=(2, 2))
    first, second = grays(found), grays(found)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(10))
    assert [grays(again), grays(again)] == [first, second]
    for x, y in found:
        assert [round(image.mean().item() / 10) >= 4 for image in x] == y.bool().tolist()


def test_parts_are_those_of_keras(images: Path):
    """Of ten files with seed 1 genuine Keras takes these."""
    options = {"validation_split": 0.3, "seed": 1, "verbose": False, "image_size": (2, 2)}
    training = utils.image_dataset_from_directory(images, subset="training", **options)
    validation = utils.image_dataset_from_directory(images, subset="validation", **options)
    both = utils.image_dataset_from_directory(images, subset="both", **options)
    names = [[int(Path(path).stem) for path in each.file_paths] for each in (training, validation)]
    assert names == [[2, 9, 6, 4, 0, 3, 1], [7, 8, 5]]
    assert [[int(Path(path).stem) for path in each.file_paths] for each in both] == names
    assert grays(both[1]) == names[1]
    assert sorted(grays(training)) == sorted(names[0])


def test_images_in_other_forms(images: Path):
    def first(**options):
        options = {"image_size": (4, 6), "shuffle": False, "verbose": False, "batch_size": None, **options}
        return next(iter(utils.image_dataset_from_directory(images, **options)))[0]

    assert first(color_mode="grayscale").shape == (4, 6, 1)
    assert first(color_mode="rgba").shape == (4, 6, 4)
    assert first(data_format="channels_first").shape == (3, 4, 6)
    settings.set_image_data_format("channels_first")
    assert first().shape == (3, 4, 6)
    settings.set_image_data_format("channels_last")
    assert first(crop_to_aspect_ratio=True, interpolation="Nearest").shape == (4, 6, 3)
    assert first(pad_to_aspect_ratio=True, format="torch").shape == (4, 6, 3)


def test_a_model_trains_on_a_folder(images: Path):
    inputs = Input((4, 4, 3))
    model = Model(inputs, layers.Dense(2, activation="softmax")(layers.Flatten()(inputs)))
    model.compile("sgd", "sparse_categorical_crossentropy")
    options = {"image_size": (4, 4), "verbose": False, "seed": 0, "validation_split": 0.2, "subset": "both"}
    training, validation = utils.image_dataset_from_directory(images, **options)
    history = model.fit(training, validation_data=validation, epochs=2, verbose=0)
    assert len(history.history["val_loss"]) == 2


def test_processes_can_read_files(images: Path):
    found = utils.image_dataset_from_directory(images, image_size=(2, 2), verbose=False)
    assert len(pickle.loads(pickle.dumps(found.dataset))) == 10  # noqa: S301


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for name, text in (("x/1.txt", "one"), ("x/inside/2.txt", "twö"), ("y/3.txt", "three")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_texts(texts: Path):
    found = utils.text_dataset_from_directory(texts, shuffle=False, verbose=False)
    ((batch, labels),) = list(found)
    assert (list(batch), labels.tolist(), found.class_names) == (["one", "twö", "three"], [0, 0, 1], ["x", "y"])
    short = utils.text_dataset_from_directory(texts, labels=None, max_length=2, shuffle=False, verbose=False)
    assert [list(each) for each in short] == [["on", "tw", "th"]]


@pytest.fixture
def sounds(tmp_path: Path) -> Path:
    for name, numbers in (("x/1.wav", [[0, 16384], [-32768, 1]]), ("y/2.wav", [[8192, 0]])):
        (tmp_path / name).parent.mkdir(parents=True)
        with wave.open(str(tmp_path / name), "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes(np.array(numbers, "<i2").tobytes())
    return tmp_path


def test_sounds(sounds: Path):
    ((batch, labels),) = list(utils.audio_dataset_from_directory(sounds, shuffle=False, verbose=False))
    assert batch.tolist() == [[[0, 0.5], [-1, 2**-15]], [[0.25, 0], [0, 0]]]
    assert labels.tolist() == [0, 1]
    options = {"labels": None, "shuffle": False, "verbose": False}
    (cut,) = list(utils.audio_dataset_from_directory(sounds, output_sequence_length=1, **options))
    (long,) = list(utils.audio_dataset_from_directory(sounds, output_sequence_length=3, **options))
    assert (cut.shape, long.shape) == ((2, 1, 2), (2, 3, 2))
    assert long[0, 2].tolist() == [0, 0]


def test_sounds_of_other_widths(tmp_path: Path):
    with wave.open(str(tmp_path / "1.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(b"\x00")
    found = utils.audio_dataset_from_directory(tmp_path, labels=None, verbose=False)
    with pytest.raises(ValueError, match=r"1.wav: a sound must have samples of 16 bits; found 8"):
        list(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "no"}, "labels must be 'inferred', a list of integers or None; found 'no'"),
        ({"labels": [1, 2]}, "labels has 2 items; found 10 files"),
        ({"labels": None, "class_names": ["a"]}, "class_names goes with labels='inferred'; found labels=None"),
        ({"class_names": ["c"]}, r"class_names must be among the folders \['a', 'b'\]; found \['c'\]"),
        ({"label_mode": "no"}, "label_mode must be"),
        ({"label_mode": "binary", "class_names": ["a"]}, "label_mode 'binary' takes two classes; found 1"),
        ({"color_mode": "no"}, "color_mode must be"),
        ({"image_size": (1, 2, 3)}, r"image_size must be two integers, .*; found \(1, 2, 3\)"),
        ({"interpolation": "area"}, "interpolation must be .*; found 'area'"),
        ({"format": "grain"}, "format must be 'tf' or 'torch', which both give a DataLoader of torch; found 'grain'"),
        ({"subset": "training"}, "validation_split and subset must be given together"),
        ({"validation_split": 0.5}, "validation_split and subset must be given together"),
        ({"validation_split": 2, "subset": "both", "seed": 1}, "validation_split must be between 0 and 1; found 2"),
        ({"validation_split": 0.5, "subset": "both"}, "validation_split with shuffle=True takes a seed"),
        ({"validation_split": 0.05, "subset": "both", "seed": 1}, "no validation files in"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, or None; found 0"),
        (
            {"crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True},
            "only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be True",
        ),
    ],
)
def test_errors_of_folders(images: Path, options, message: str):
    with pytest.raises(ValueError, match=message):
        utils.image_dataset_from_directory(images, verbose=False, **options)


def test_what_sounds_refuse(sounds: Path):
    with pytest.raises(ValueError, match="sampling_rate must be None; found 8000"):
        utils.audio_dataset_from_directory(sounds, sampling_rate=8000)
    with pytest.raises(ValueError, match="ragged must be False"):
        utils.audio_dataset_from_directory(sounds, ragged=True)


# --- windows and parts -----------------------------------------------------------------------------------------------


def windows(*args, **options):
    return [
        [each.tolist() for each in batch] if isinstance(batch, (list, tuple)) else batch.tolist()
        for batch in utils.timeseries_dataset_from_array(*args, **options)
    ]


def test_windows():
    """The documentation's examples."""
    data = np.arange(99)
    found = windows(data, None, 10, sampling_rate=2, sequence_stride=3)
    assert found[0][0] == list(range(0, 20, 2))
    assert found[0][1] == list(range(3, 23, 2))
    assert found[-1][-1] == list(range(78, 98, 2))
    ((inputs, targets),) = windows(data[:-10], data[10:], 10)
    assert inputs[0] == list(range(10))
    assert targets[:2] == [10, 11]
    assert len(inputs) == len(targets) == 80


def test_windows_of_a_part():
    assert windows(np.arange(10), None, 3, start_index=2, end_index=7) == [[[2, 3, 4], [3, 4, 5], [4, 5, 6]]]
    ((inputs, targets),) = windows(np.arange(10), 10 * np.arange(10), 2, start_index=5)
    assert (inputs[0], targets[0]) == ([5, 6], 50)
    assert windows(np.arange(4), None, 2, batch_size=None) == [[0, 1], [1, 2], [2, 3]]
    assert windows(np.arange(4.0)[:, None], None, 2, batch_size=2)[1] == [[[2.0], [3.0]]]


def test_windows_are_shuffled():
    options = {"shuffle": True, "seed": 3, "batch_size": 100}
    loader = utils.timeseries_dataset_from_array(np.arange(50), np.arange(50), 1, **options)
    (one,), (two,) = list(loader), list(loader)
    assert one[1].tolist() != two[1].tolist()
    assert sorted(one[1].tolist()) == list(range(50))
    assert one[0][:, 0].tolist() == one[1].tolist()
    assert windows(np.arange(50), np.arange(50), 1, **options)[0][1] == one[1].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sequence_length": 0}, "sequence_length must be an integer of at least 1; found 0"),
        ({"sampling_rate": 0}, "sampling_rate must be an integer from 1 to 9; found 0"),
        ({"sequence_stride": 10}, "sequence_stride must be an integer from 1 to 9; found 10"),
        ({"start_index": 10}, "start_index must be an integer from 0 to 9, or None; found 10"),
        ({"start_index": 5, "end_index": 5}, "end_index must be an integer from 6 to 9, or None; found 5"),
        ({"format": "grain"}, "format must be 'tf' or 'torch'"),
    ],
)
def test_errors_of_windows(options, message: str):
    with pytest.raises(ValueError, match=message):
        utils.timeseries_dataset_from_array(np.arange(10), None, **{"sequence_length": 2, **options})


def test_parts_without_shuffling_are_in_order():
    """As documented; genuine Keras on torch shuffles them all the same."""
    left, right = utils.split_dataset(np.arange(10), left_size=3, right_size=4)
    assert [item[0].item() for item in left] == [0, 1, 2]
    assert [item[0].item() for item in right] == [6, 7, 8, 9]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: utils.split_dataset(np.ones(4)), ValueError, "left_size or right_size must be given"),
        (
            lambda: utils.split_dataset(np.ones(4), 4),
            ValueError,
            "left_size must be an integer above 0 and below the 4",
        ),
        (lambda: utils.split_dataset(np.ones(4), "a"), TypeError, "left_size must be an integer, a float or None"),
        (lambda: utils.split_dataset(np.ones(4), 3, 2), ValueError, "together must be at most the 4 samples"),
        (lambda: utils.split_dataset(np.ones(4), 0.01), ValueError, "with 4 samples, 0 on the left and 4 on the right"),
        (lambda: utils.split_dataset([np.ones(4), np.ones(3)], 2), ValueError, r"must have one length; found \[4, 3\]"),
        (lambda: utils.split_dataset("a", 2), TypeError, "must be a Dataset of torch, an array, or a list of arrays"),
        (
            lambda: utils.split_dataset(np.ones(4), 2, preferred_backend="tensorflow"),
            ValueError,
            "preferred_backend must be",
        ),
    ],
)
def test_errors_of_parts(call, error, message: str):
    with pytest.raises(error, match=message):
        call()


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


# --- images, arrays, settings ----------------------------------------------------------------------------------------


def test_transparency_is_lost_in_jpeg():
    with pytest.warns(UserWarning, match="JPEG has no transparency; the image is written as RGB"):
        utils.save_img(file := io.BytesIO(), np.ones((2, 2, 4)), file_format="jpg")
    assert utils.load_img(file).mode == "RGB"


def test_rows_of_an_array_along_its_first_axis():
    """Genuine Keras takes the last axis for axis=0 of an array."""
    assert utils.normalize(np.array([[3.0], [4.0]]), axis=0).tolist() == [[0.6], [0.8]]


def test_classes_of_a_tensor_are_counted():
    assert utils.to_categorical(torch.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: utils.array_to_img(np.ones((2, 2))), ValueError, r"x must have three axes, .*; found shape \(2, 2\)"),
        (lambda: utils.array_to_img(np.ones((2, 2, 2))), ValueError, "x must have 1, 3 or 4 channels; found 2"),
        (lambda: utils.img_to_array(np.ones(2)), ValueError, r"an image has two axes, .*; found shape \(2,\)"),
        (lambda: utils.load_img(3), TypeError, "path must be a path or an io.BytesIO; found int"),
        (lambda: utils.load_img("a.png", interpolation="no"), ValueError, "load_img: interpolation must be"),
        (lambda: utils.load_img("a.png", color_mode="no"), ValueError, "load_img: color_mode must be"),
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

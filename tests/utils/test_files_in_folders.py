"""Files in folders as a DataLoader. `tests/keras3/same/folders.py` compares the numbers with genuine Keras's."""

import os
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import UnidentifiedImageError
from torch.utils.data import DataLoader

from torchkeras import config as settings, layers
from torchkeras.engine.graph.input import Input
from torchkeras.models import Model
from torchkeras.utils import (
    audio_dataset_from_directory,
    image_dataset_from_directory,
    save_img,
    text_dataset_from_directory,
)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Two classes: 4 images in "a", 6 in "b"; each is of one gray, 10 times its number."""
    for number in range(10):
        folder = tmp_path / ("a" if number < 4 else "b")
        folder.mkdir(exist_ok=True)
        pixels = np.full((4 + number, 8, 3), 10.0 * number)
        save_img(folder / f"{number}.png", pixels, scale=False)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "a" / "notes.txt").write_text("no image")
    return tmp_path


def grays(loader) -> list[int]:
    return [round(image.mean().item() / 10) for batch in loader for image in (batch[0] if len(batch) == 2 else batch)]


def test_images_in_order(images: Path, capsys):
    found = image_dataset_from_directory(images, image_size=(5, 6), batch_size=4, shuffle=False)
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
    found = image_dataset_from_directory(images, label_mode=mode, shuffle=False, verbose=False, image_size=4)
    ((_, y),) = list(found)
    assert (tuple(y.shape), y.dtype, y[0].tolist(), y[-1].tolist()) == (shape, torch.float32, first, last)


def test_no_labels(images: Path, capsys):
    for options in ({"labels": None}, {"label_mode": None}):
        found = image_dataset_from_directory(images, shuffle=False, image_size=(2, 2), **options)
        assert [tuple(x.shape) for x in found] == [(10, 2, 2, 3)]
        assert found.class_names is None
        assert capsys.readouterr().out == "Found 10 files.\n"


def test_labels_of_ones_own(images: Path):
    labels = [3, 1, 2, 1, 1, 1, 1, 1, 1, 1]
    for given in (labels, tuple(labels), np.array(labels), torch.tensor(labels)):
        found = image_dataset_from_directory(images, given, shuffle=False, verbose=False, image_size=(2, 2))
        assert next(iter(found))[1].tolist() == labels
        assert found.class_names == ["1", "2", "3"]


def test_chosen_classes_in_their_order(images: Path):
    for names in (["b", "a"], ("b", "a"), np.array(["b", "a"]), (name for name in "ba")):
        found = image_dataset_from_directory(images, class_names=names, shuffle=False, verbose=False, image_size=(2, 2))
        assert next(iter(found))[1].tolist() == [0] * 6 + [1] * 4
        assert found.class_names == ["b", "a"]
    only = image_dataset_from_directory(images, class_names=["b"], verbose=False, image_size=(2, 2))
    assert len(only.dataset) == 6


def test_shuffled_anew_in_each_epoch_with_labels(images: Path):
    found = image_dataset_from_directory(images, seed=1, verbose=False, image_size=(2, 2))
    again = image_dataset_from_directory(images, seed=1, verbose=False, image_size=(2, 2))
    first, second = grays(found), grays(found)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(10))
    assert [grays(again), grays(again)] == [first, second]
    for x, y in found:
        assert [round(image.mean().item() / 10) >= 4 for image in x] == y.bool().tolist()


def test_parts_are_those_of_keras(images: Path):
    """Of ten files with seed 1 genuine Keras takes these."""
    options = {"validation_split": 0.3, "seed": 1, "verbose": False, "image_size": (2, 2)}
    training = image_dataset_from_directory(images, subset="training", **options)
    validation = image_dataset_from_directory(images, subset="validation", **options)
    both = image_dataset_from_directory(images, subset="both", **options)
    names = [[int(Path(path).stem) for path in each.file_paths] for each in (training, validation)]
    assert names == [[2, 9, 6, 4, 0, 3, 1], [7, 8, 5]]
    assert [[int(Path(path).stem) for path in each.file_paths] for each in both] == names
    assert grays(both[1]) == names[1]
    assert sorted(grays(training)) == sorted(names[0])


def test_images_in_other_forms(images: Path):
    def first(**options):
        options = {"image_size": (4, 6), "shuffle": False, "verbose": False, "batch_size": None, **options}
        return next(iter(image_dataset_from_directory(images, **options)))[0]

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
    training, validation = image_dataset_from_directory(images, **options)
    history = model.fit(training, validation_data=validation, epochs=2, verbose=0)
    assert len(history.history["val_loss"]) == 2


@pytest.mark.parametrize("shuffle", [True, False])
def test_processes_read_the_same_batches(images: Path, shuffle: bool):
    """The line stands on the page about images."""
    options = {"image_size": (2, 2), "verbose": False, "seed": 3, "batch_size": 4, "shuffle": shuffle}
    by_hand, loader = (image_dataset_from_directory(images, **options) for _ in range(2))
    fast = DataLoader(loader.dataset, batch_sampler=loader.batch_sampler, generator=loader.generator, num_workers=2)
    for _ in range(2):
        for (x, y), (own, labels) in zip(by_hand, fast, strict=True):
            assert torch.equal(x, own)
            assert torch.equal(y, labels)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for name, text in (("x/1.txt", "one"), ("x/inside/2.txt", "twö"), ("y/3.txt", "three")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_texts(texts: Path):
    found = text_dataset_from_directory(texts, shuffle=False, verbose=False)
    ((batch, labels),) = list(found)
    assert (list(batch), labels.tolist(), found.class_names) == (["one", "twö", "three"], [0, 0, 1], ["x", "y"])
    short = text_dataset_from_directory(texts, labels=None, max_length=2, shuffle=False, verbose=False)
    assert [list(each) for each in short] == [["on", "tw", "th"]]


@pytest.fixture
def sounds(tmp_path: Path) -> Path:
    for name, numbers in (("x/1.wav", [[0, 16384], [-32768, 1]]), ("y/2.wav", [[8192, 0]])):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write_sound(tmp_path / name, numbers)
    return tmp_path


def write_sound(path: Path, numbers: list[list[int]]) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(numbers[0]))
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.array(numbers, "<i2").tobytes())


def test_sounds(sounds: Path):
    ((batch, labels),) = list(audio_dataset_from_directory(sounds, shuffle=False, verbose=False))
    assert batch.tolist() == [[[0, 0.5], [-1, 2**-15]], [[0.25, 0], [0, 0]]]
    assert labels.tolist() == [0, 1]
    options = {"labels": None, "shuffle": False, "verbose": False}
    (cut,) = list(audio_dataset_from_directory(sounds, output_sequence_length=1, **options))
    (long,) = list(audio_dataset_from_directory(sounds, output_sequence_length=3, **options))
    assert (cut.shape, long.shape) == ((2, 1, 2), (2, 3, 2))
    assert long[0, 2].tolist() == [0, 0]


def test_processes_read_texts_and_sounds(texts: Path, sounds: Path):
    """The lines stand in the docstrings. Both kinds of files are in one folder."""
    options = {"shuffle": False, "verbose": False}
    found = text_dataset_from_directory(texts, **options)
    ((batch, labels),) = DataLoader(found.dataset, batch_sampler=found.batch_sampler, num_workers=1)
    assert (list(batch), labels.tolist()) == (["one", "twö", "three"], [0, 0, 1])
    found = audio_dataset_from_directory(sounds, **options)
    fast = DataLoader(found.dataset, batch_sampler=found.batch_sampler, collate_fn=found.collate_fn, num_workers=1)
    ((batch, labels),) = fast
    assert (batch.shape, labels.tolist()) == ((2, 2, 2), [0, 1])


def test_sounds_of_other_widths(tmp_path: Path):
    with wave.open(str(tmp_path / "1.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(b"\x00")
    found = audio_dataset_from_directory(tmp_path, labels=None, verbose=False)
    with pytest.raises(ValueError, match=r"1.wav': a sound must have samples of 16 bits; found 8"):
        list(found)


# --- what is refused -------------------------------------------------------------------------------------------------


READERS = (image_dataset_from_directory, text_dataset_from_directory, audio_dataset_from_directory)
NO_FILES = "in {folder!r}; they end in .bmp, .gif, .jpeg, .jpg, .png."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "no"}, "labels must be 'inferred', a list of integers or None; found 'no'."),
        ({"labels": [0.5] * 10}, f"labels must be 'inferred', a list of integers or None; found {[0.5] * 10}."),
        (
            {"labels": np.zeros((1, 5), int)},
            "labels must be 'inferred', a list of integers or None; found array([[0, 0, 0, 0, 0]]).",
        ),
        ({"labels": [1, 2]}, "labels has 2 items; found 10 files in {folder!r}."),
        (
            {"labels": None, "class_names": ["a"]},
            "class_names goes with labels='inferred' and a label_mode; found labels=None and label_mode='int'.",
        ),
        (
            {"label_mode": None, "class_names": ["a"]},
            "class_names goes with labels='inferred' and a label_mode; found labels='inferred' and label_mode=None.",
        ),
        ({"class_names": ["c"]}, "class_names must be among the folders ['a', 'b']; found ['c']."),
        ({"class_names": "ab"}, "class_names must be a list of strings; found 'ab'."),
        ({"class_names": []}, "class_names must name folders, each once; found []."),
        ({"class_names": ["a", "a"]}, "class_names must name folders, each once; found ['a', 'a']."),
        ({"label_mode": "no"}, "label_mode must be one of 'int', 'binary', 'categorical', or None; found 'no'."),
        ({"label_mode": "binary", "class_names": ["a"]}, "label_mode 'binary' takes two classes; found 1: ['a']."),
        (
            {"label_mode": "categorical", "labels": [0, 2] * 5},
            "label_mode 'categorical' takes labels that count from 0 without a gap; found ['0', '2'].",
        ),
        (
            {"label_mode": "binary", "labels": [1, 2] * 5},
            "label_mode 'binary' takes labels that count from 0 without a gap; found ['1', '2'].",
        ),
        ({"color_mode": "no"}, "color_mode must be one of 'grayscale', 'rgb', 'rgba'; found 'no'."),
        ({"image_size": (1, 2, 3)}, "image_size must be an integer or 2 integers; found (1, 2, 3)."),
        ({"image_size": (0, 2)}, "image_size must hold integers of at least 1; found (0, 2)."),
        ({"image_size": (4.5, 2)}, "image_size must hold integers of at least 1; found (4.5, 2)."),
        ({"image_size": None}, "image_size must be an integer or 2 integers; found None."),
        ({"interpolation": "area"}, "interpolation must be one of 'bilinear', 'nearest', 'bicubic'; found 'area'."),
        ({"format": "grain"}, "format must be 'tf' or 'torch', which both give a DataLoader of torch; found 'grain'."),
        ({"data_format": "no"}, "data_format must be one of 'channels_last', 'channels_first', or None; found 'no'."),
        ({"subset": "no"}, "subset must be one of 'training', 'validation', 'both', or None; found 'no'."),
        ({"subset": "training"}, "validation_split and subset must be given together."),
        ({"validation_split": 0.5}, "validation_split and subset must be given together."),
        (
            {"validation_split": 1, "subset": "both", "seed": 1},
            "validation_split must be a number from 0 to below 1, or None; found 1.",
        ),
        (
            {"validation_split": "a", "subset": "both", "seed": 1},
            "validation_split must be a number from 0 to below 1, or None; found 'a'.",
        ),
        (
            {"validation_split": 0.5, "subset": "both"},
            "validation_split with shuffle=True takes a seed, else both parts overlap.",
        ),
        ({"validation_split": 0.05, "subset": "both", "seed": 1}, f"no validation files {NO_FILES}"),
        ({"seed": -1}, "seed must be an integer from 0 to 4294967295, or None; found -1."),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, or None; found 0."),
        ({"shuffle": "no"}, "shuffle must be True, False, 1 or 0; found 'no'."),
        ({"follow_links": 2}, "follow_links must be True, False, 1 or 0; found 2."),
        ({"crop_to_aspect_ratio": "no"}, "crop_to_aspect_ratio must be True, False, 1 or 0; found 'no'."),
        (
            {"crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True},
            "only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be True.",
        ),
    ],
)
def test_errors_of_options(images: Path, options, message: str):
    with pytest.raises(ValueError, match="image_dataset_from_directory") as error:
        image_dataset_from_directory(images, **{"verbose": False, **options})
    assert str(error.value) == "image_dataset_from_directory: " + message.replace("{folder!r}", repr(str(images)))


def test_pillow_is_asked_for_at_the_call(images: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError) as error:
        image_dataset_from_directory(images)
    assert str(error.value) == (
        "image_dataset_from_directory: the package pillow is missing. Install it with "
        "`pip install torchkeras-graph[scripts]`."
    )


@pytest.mark.parametrize("read", READERS)
def test_errors_of_places(tmp_path: Path, read):
    what = read.__name__
    missing, file, empty = tmp_path / "missing", tmp_path / "file", tmp_path / "empty"
    file.touch()
    empty.mkdir()
    for labels in ("inferred", None):
        with pytest.raises(FileNotFoundError) as error:
            read(missing, labels)
        assert str(error.value) == f"{what}: directory {str(missing)!r}: there is no such folder."
        with pytest.raises(NotADirectoryError) as error:
            read(str(file), labels)
        assert str(error.value) == f"{what}: directory {str(file)!r} is a file, and must be a folder."
    with pytest.raises(TypeError, match=f"^{what}: directory must be a path; found 3.$"):
        read(3)
    with pytest.raises(ValueError, match="labels='inferred'") as error:
        read(empty)
    assert str(error.value) == (
        f"{what}: labels='inferred' takes a folder for each class, and {str(empty)!r} has none. Give labels=None for "
        "files without classes."
    )
    with pytest.raises(ValueError, match=f"^{what}: no files in {str(empty)!r}; they end in "):
        read(empty, None, verbose=False)


def test_a_folder_that_cannot_be_listed_is_not_left_out(images: Path, monkeypatch):
    list_folder = os.scandir

    def scandir(path):
        if os.path.basename(path) == "b":
            raise PermissionError(13, "Permission denied", path)
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(PermissionError, match="b'"):
        image_dataset_from_directory(images)


def test_links_are_followed_where_they_should(images: Path, tmp_path_factory):
    top = tmp_path_factory.mktemp("top")
    (top / "own").mkdir()
    (top / "own" / "inside").symlink_to(images / "a", target_is_directory=True)
    found = image_dataset_from_directory(top, follow_links=True, verbose=False)
    assert len(found.file_paths) == 4
    with pytest.raises(ValueError, match="no files in"):
        image_dataset_from_directory(top, verbose=False)


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"no image", " holds no image that Pillow can read."),
        (lambda data: data[:200], " holds an image that Pillow cannot read: "),
    ],
)
def test_a_damaged_image_is_named(images: Path, damage, message: str, workers: int):
    path = images / "b" / "7.png"
    pixels = np.random.default_rng(0).integers(0, 256, (20, 20, 3))
    save_img(path, pixels, scale=False)
    path.write_bytes(damage(path.read_bytes()))
    found = image_dataset_from_directory(images, image_size=4, verbose=False)
    with pytest.raises(UnidentifiedImageError) as error:
        list(DataLoader(found.dataset, num_workers=workers))
    assert f"load_img: {str(path)!r}{message}" in str(error.value)


def test_a_text_of_another_encoding_is_named(texts: Path):
    path = texts / "y" / "3.txt"
    path.write_bytes("é".encode("latin-1"))
    with pytest.raises(ValueError, match="no text in UTF-8") as error:
        list(text_dataset_from_directory(texts, verbose=False))
    assert str(error.value).startswith(f"text_dataset_from_directory: {str(path)!r} is no text in UTF-8: 'utf-8' codec")
    with pytest.raises(ValueError, match=r"^text_dataset_from_directory: max_length must be an integer .*; found 0\.$"):
        text_dataset_from_directory(texts, max_length=0)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"no sound", " is no sound that the module wave reads: file does not start with RIFF id."),
        (lambda data: b"", " is no sound that the module wave reads: it ends too early."),
        (lambda data: data[:-3], " is cut off: it must have 8 bytes; found 5."),
    ],
)
def test_a_damaged_sound_is_named(sounds: Path, damage, message: str):
    path = sounds / "x" / "1.wav"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"1\.wav") as error:
        list(audio_dataset_from_directory(sounds, verbose=False))
    assert str(error.value) == f"audio_dataset_from_directory: {str(path)!r}{message}"


def test_what_sounds_refuse(sounds: Path):
    with pytest.raises(ValueError, match="sampling_rate must be None; found 8000"):
        audio_dataset_from_directory(sounds, sampling_rate=8000)
    with pytest.raises(ValueError, match="ragged must be False"):
        audio_dataset_from_directory(sounds, ragged=True)
    with pytest.raises(ValueError, match="output_sequence_length must be an integer of at least 1, or None; found 0"):
        audio_dataset_from_directory(sounds, output_sequence_length=0)


def test_sounds_of_a_batch_have_one_number_of_channels(sounds: Path):
    write_sound(sounds / "y" / "3.wav", [[0], [1]])
    with pytest.raises(ValueError, match="batch must have one number of channels") as error:
        list(audio_dataset_from_directory(sounds, verbose=False))
    assert str(error.value) == (
        "audio_dataset_from_directory: the sounds of a batch must have one number of channels; found [1, 2]."
    )

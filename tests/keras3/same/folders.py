"""Cases of `keras.utils`: images and texts in folders, windows of a sequence. Genuine Keras needs Pillow and grain."""

import os
import tempfile
from typing import Any

import numpy as np

CLASSES = ("cat", "dog", "owl")
QUIET = {"shuffle": False, "verbose": False}


def options_of(keras: Any) -> dict[str, Any]:
    """The form of data that needs no TensorFlow."""
    return {"format": "grain" if keras.__name__ == "keras" else "torch"}


def write_images(keras: Any, path: str) -> None:
    """Images of several sizes in folders of three classes, with one inside another."""
    random = np.random.default_rng(0)
    for number in range(7):
        where = os.path.join(path, CLASSES[number % 3], *(["inside"] if number == 4 else []))
        os.makedirs(where, exist_ok=True)
        channels = (3, 1, 4)[number % 3]
        pixels = random.integers(0, 256, (5 + number, 9 - number % 4, channels))
        keras.utils.save_img(os.path.join(where, f"{number}.png"), pixels, scale=False)


def numbers(keras: Any, found: Any) -> Any:
    """Batches with arrays in place of tensors."""
    if isinstance(found, str):
        return found
    if hasattr(found, "shape"):
        return keras.ops.convert_to_numpy(found)
    return [numbers(keras, each) for each in found]


def names(path: str, dataset: Any) -> list[str]:
    return [os.path.relpath(each, path).replace(os.sep, "/") for each in dataset.file_paths]


def images_of(keras: Any, **options: Any) -> Any:
    with tempfile.TemporaryDirectory() as path:
        write_images(keras, path)
        given = {**options_of(keras), **QUIET, "batch_size": 4, "image_size": (4, 6), **options}
        found = keras.utils.image_dataset_from_directory(path, **given)
        return [names(path, found), found.class_names, numbers(keras, found)]


def case_interpolations_and_windows(keras):
    """Every interpolation: the whole image, its middle, and the image with zeros at its sides."""
    ways = ({}, {"crop_to_aspect_ratio": True}, {"pad_to_aspect_ratio": True})
    return [
        images_of(keras, interpolation=interpolation, **way, image_size=size)[2]
        for interpolation in ("nearest", "bilinear", "bicubic")
        for way in ways
        for size in ((4, 6), (12, 5))
    ]


def case_colours(keras):
    modes = ("grayscale", "rgb", "rgba")
    return [
        images_of(keras, color_mode=mode, data_format=order, image_size=5)[2]
        for mode in modes
        for order in ("channels_last", "channels_first", None)
    ]


def case_labels_of_images(keras):
    return [
        images_of(keras),
        images_of(keras, label_mode="categorical"),
        images_of(keras, label_mode="binary", class_names=["owl", "cat"]),
        images_of(keras, class_names=["dog", "cat", "owl"]),
        images_of(keras, labels=[4, 2, 4, 0, 2, 2, 0]),
        images_of(keras, labels=[1, 0, 1, 0, 1, 1, 0], label_mode="binary"),
        images_of(keras, labels=(1, 2, 1, 0, 1, 1, 0), label_mode="categorical"),
        images_of(keras, label_mode=None),
        images_of(keras, labels=None),
    ]


def case_parts_of_a_folder(keras):
    """A seed gives Keras's files in Keras's order."""
    with tempfile.TemporaryDirectory() as path:
        write_images(keras, path)
        read, found = keras.utils.image_dataset_from_directory, []
        given = {**options_of(keras), "verbose": False, "validation_split": 0.3}
        for options in ({"seed": 0}, {"seed": 7}, {"shuffle": False}):
            found += [names(path, read(path, subset=each, **given, **options)) for each in ("training", "validation")]
            found.append([names(path, each) for each in read(path, subset="both", **given, **options)])
        return found


def case_texts(keras):
    with tempfile.TemporaryDirectory() as path:
        for number, text in enumerate(("one", "two\nlines\r\n", "drei äöü", "", "five")):
            where = os.path.join(path, CLASSES[number % 3])
            os.makedirs(where, exist_ok=True)
            with open(os.path.join(where, f"{number}.txt"), "w", encoding="utf-8", newline="") as file:
                file.write(text)
        read, given = keras.utils.text_dataset_from_directory, {**options_of(keras), **QUIET, "batch_size": 2}
        return [
            numbers(keras, read(path, **given)),
            numbers(keras, read(path, **given, label_mode="categorical")),
            numbers(keras, read(path, **given, max_length=4, class_names=["owl", "cat"], label_mode="binary")),
            numbers(keras, read(path, **given, labels=None)),
            read(path, **given).class_names,
        ]


def case_windows(keras):
    data, targets = np.arange(30.0).reshape(15, 2), 10 * np.arange(15)

    def windows(*args: Any, **options: Any) -> list[Any]:
        return numbers(keras, keras.utils.timeseries_dataset_from_array(*args, **options, **options_of(keras)))

    return [
        windows(data, None, 4),
        windows(data, targets, 4),
        windows(data, targets, 3, sequence_stride=2, sampling_rate=2, batch_size=3),
        windows(data, targets[:6], 3, batch_size=4),
        windows(data, targets, 3, start_index=2, end_index=9),
        windows(data[:-4], targets[4:], 4, sequence_stride=4, batch_size=2),
        windows(targets, None, 15),
        windows(data, targets, 2, start_index=3, batch_size=None),
        windows(data.astype("float32"), None, 1, end_index=3),
    ]

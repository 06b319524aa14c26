"""Files in folders as a DataLoader: images, texts and sounds, with a class for each folder."""

from __future__ import annotations

import os
import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from torchkeras import config
from torchkeras.base.rules import FLAG, integer, one_of, optional, read
from torchkeras.callbacks.progress import say
from torchkeras.tensor_functions.operations.image import resize
from torchkeras.utils.datasets import check_format, loader
from torchkeras.utils.images import MODES, img_to_array, load_img

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
LABEL_MODES = ("int", "binary", "categorical")
SUBSETS = ("training", "validation", "both")
RESAMPLED = ("nearest", "bilinear", "bicubic")  # as `keras.ops.image.resize` has them


@dataclass(frozen=True)
class Asked:
    """What is asked of a folder: see `image_dataset_from_directory`."""

    owner: str
    directory: Any
    labels: Any
    label_mode: str | None
    class_names: Any
    batch_size: int | None
    shuffle: bool
    seed: int | None
    validation_split: float | None
    subset: str | None
    follow_links: bool
    verbose: bool
    suffixes: tuple[str, ...]

    def __post_init__(self) -> None:
        owner = self.owner
        read(owner, "label_mode", optional(one_of(*LABEL_MODES)), self.label_mode)
        read(owner, "subset", optional(one_of(*SUBSETS)), self.subset)
        for name in ("shuffle", "follow_links", "verbose"):
            read(owner, name, FLAG, getattr(self, name))
        read(owner, "seed", optional(integer()), self.seed)
        if self.labels is not None and self.labels != "inferred" and not isinstance(self.labels, (list, tuple)):
            raise ValueError(f"{owner}: labels must be 'inferred', a list of integers or None; found {self.labels!r}.")
        if self.class_names is not None and self.labels != "inferred":
            raise ValueError(f"{owner}: class_names goes with labels='inferred'; found labels={self.labels!r}.")
        if bool(self.validation_split) != bool(self.subset):
            raise ValueError(f"{owner}: validation_split and subset must be given together.")
        if self.validation_split and not 0 < self.validation_split < 1:
            raise ValueError(f"{owner}: validation_split must be between 0 and 1; found {self.validation_split!r}.")
        if self.validation_split and self.shuffle and self.seed is None:
            raise ValueError(f"{owner}: validation_split with shuffle=True takes a seed, else both parts overlap.")


class Files(Dataset[Any]):
    """The contents of files, with their labels where there are any."""

    def __init__(self, paths: Sequence[str], labels: Tensor | None, load: Callable[[str], Any]):
        self.paths, self.labels, self.load = paths, labels, load

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        found = self.load(self.paths[index])
        return found if self.labels is None else (found, self.labels[index])


def _made(asked: Asked, load: Callable[[str], Any], collate: Any = None) -> Any:
    """A DataLoader, or those of both subsets in a list, with the attributes `class_names` and `file_paths`."""
    seed = int(np.random.randint(10**6)) if asked.seed is None else asked.seed  # noqa: NPY002  # as users seed it
    paths, numbers, names = _indexed(asked, seed)
    if asked.label_mode == "binary" and names is not None and len(names) != 2:
        raise ValueError(f"{asked.owner}: label_mode 'binary' takes two classes; found {len(names)}: {names}.")
    labels = None if numbers is None or names is None else _labels(numbers, asked.label_mode, len(names))
    wanted = ("training", "validation") if asked.subset == "both" else (asked.subset,)
    made = []
    for subset in wanted:
        places = _part(asked, len(paths), subset)
        kept = paths[places]
        if not kept:
            what = f"{subset} files" if subset else "files"
            raise ValueError(f"{asked.owner}: no {what} in {asked.directory}; they end in {', '.join(asked.suffixes)}.")
        shuffles = asked.shuffle and not (asked.subset == "both" and subset == "validation")
        files = Files(kept, None if labels is None else labels[places], load)
        each: Any = loader(files, asked.batch_size, shuffles, seed if shuffles else None)
        if collate is not None and asked.batch_size is not None:
            each.collate_fn = collate
        each.class_names, each.file_paths = names, kept
        made.append(each)
    return made if asked.subset == "both" else made[0]


def _indexed(asked: Asked, seed: int) -> tuple[list[str], list[int] | None, list[str] | None]:
    """The paths, the numbers of their classes, and the names of these."""
    folders, names = [""], None
    if asked.labels == "inferred":
        folders = names = _class_folders(asked)
    found = [(path, number) for number, folder in enumerate(folders) for path in _walk(asked, folder)]
    paths = [path for path, _ in found]
    numbers: list[int] | None = [number for _, number in found]
    if asked.labels is None or asked.label_mode is None:
        numbers = None
        names = names if asked.labels == "inferred" else None
    elif asked.labels != "inferred":
        if len(asked.labels) != len(paths):
            raise ValueError(f"{asked.owner}: labels has {len(asked.labels)} items; found {len(paths)} files.")
        numbers, names = list(asked.labels), [str(label) for label in sorted(set(asked.labels))]
    if asked.verbose:
        say(f"Found {len(paths)} files{'' if numbers is None else f' belonging to {len(names or ())} classes'}.")
    if asked.shuffle:
        order = np.arange(len(paths))
        np.random.RandomState(seed).shuffle(order)  # as Keras: a seed gives the same parts
        paths = [paths[place] for place in order]
        numbers = None if numbers is None else [numbers[place] for place in order]
    return paths, numbers, names


def _class_folders(asked: Asked) -> list[str]:
    entries = sorted(os.scandir(asked.directory), key=lambda entry: entry.name)
    found = [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    if asked.class_names is None:
        return found
    missing = [name for name in asked.class_names if name not in found]
    if missing:
        raise ValueError(f"{asked.owner}: class_names must be among the folders {found}; found {missing}.")
    return list(asked.class_names)


def _walk(asked: Asked, folder: str) -> list[str]:
    """The files in a folder and those inside it, in order."""
    top = os.path.join(os.fspath(asked.directory), folder)
    found = sorted(os.walk(top, followlinks=asked.follow_links))
    return [
        os.path.join(root, name) for root, _, names in found for name in sorted(names) if _ends(name, asked.suffixes)
    ]


def _ends(name: str, suffixes: tuple[str, ...]) -> bool:
    return name.lower().endswith(suffixes)


def _part(asked: Asked, count: int, subset: str | None) -> slice:
    if not asked.validation_split:
        return slice(None)
    last = int(asked.validation_split * count)
    if subset == "training":
        return slice(0, count - last)
    return slice(count - last, count)


def _labels(numbers: Sequence[int], mode: str | None, classes: int) -> Tensor:
    given = torch.tensor(numbers, dtype=torch.int32)
    if mode == "binary":
        return given.float()[:, None]
    return given if mode == "int" else torch.nn.functional.one_hot(given.long(), classes).float()


# --- images ----------------------------------------------------------------------------------------------------------


def image_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Any = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: Any = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    data_format: str | None = None,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """The images in folders as a DataLoader, which `fit` takes: float32 from 0 to 255, of one size.

    Arguments:
        directory (path): the folder; each folder in it is a class, where `labels` is "inferred".
        labels (text, list or None, default "inferred"): "inferred", the number of the class of each file in order, or
            None for images alone.
        label_mode (text or None, default "int"): "int" for int32 (batch,), "binary" for float32 (batch, 1),
            "categorical" for one-hot float32 (batch, classes), None for images alone.
        class_names (list or None, default None): the folders to take, in the order of the classes; None is all, sorted.
        color_mode (text, default "rgb"): "grayscale", "rgb" or "rgba".
        batch_size (integer or None, default 32): the images of a batch; None gives one after another.
        image_size (two integers, default (256, 256)): the height and width.
        shuffle (bool, default True): whether they come in another order, in each epoch anew; False is sorted.
        seed (integer or None, default None): the seed of the order and of the parts.
        validation_split (number or None, default None): the share of the files that is for validation.
        subset (text or None, default None): "training", "validation", or "both" for a list of the two.
        interpolation (text, default "bilinear"): "bilinear", "nearest" or "bicubic".
        follow_links (bool, default False): whether links to folders are followed.
        crop_to_aspect_ratio (bool, default False): whether the largest window in the middle that has the new aspect
            ratio is taken.
        pad_to_aspect_ratio (bool, default False): whether zeros are put on both sides till it has that ratio.
        data_format (text or None, default None): "channels_last" or "channels_first"; None is the default.
        format (text, default "tf"): "tf", as Keras has it, or "torch": both give a DataLoader.
        verbose (bool, default True): whether the number of files is printed.

    Returns:
        DataLoader: of (images, labels) or of images, with the attributes `class_names` and `file_paths`.

    Errors:
        ValueError: an option has a bad value, or there are no such files.
        ImportError: Pillow is missing.

    Example:
        >>> for name in ("cats", "dogs"):
        ...     os.makedirs(f"images/{name}")
        ...     save_img(f"images/{name}/0.png", np.ones((8, 8, 3)))
        >>> found = image_dataset_from_directory("images", image_size=(4, 4), verbose=False)
        >>> found.class_names, next(iter(found))[0].shape
        (['cats', 'dogs'], torch.Size([2, 4, 4, 3]))

    Source: https://keras.io/api/data_loading/image/
    """
    owner = "image_dataset_from_directory"
    asked = Asked(
        owner, directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split, subset,
        follow_links, verbose, IMAGES,
    )  # fmt: skip
    check_format(owner, format)
    read(owner, "color_mode", one_of(*MODES), color_mode)
    interpolation = read(owner, "interpolation", one_of(*RESAMPLED), str(interpolation).lower())
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError(f"{owner}: only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be True.")
    size = (image_size, image_size) if isinstance(image_size, int) else tuple(image_size)
    if len(size) != 2:
        raise ValueError(f"{owner}: image_size must be two integers, the height and the width; found {image_size!r}.")
    order = read(owner, "data_format", optional(one_of(*config.DATA_FORMATS)), data_format)
    load = ImageFile(
        color_mode, size, interpolation, bool(crop_to_aspect_ratio), bool(pad_to_aspect_ratio),
        order or config.image_data_format(),
    )  # fmt: skip
    return _made(asked, load)


@dataclass(frozen=True)
class ImageFile:
    """Reads an image as a tensor of a size; processes of a DataLoader can have it."""

    color_mode: str
    size: tuple[int, ...]
    interpolation: str
    crops: bool
    pads: bool
    data_format: str

    def __call__(self, path: str) -> Tensor:
        image = torch.from_numpy(img_to_array(load_img(path, self.color_mode), self.data_format, "float32").copy())
        return resize(
            image,
            self.size,
            self.interpolation,
            crop_to_aspect_ratio=self.crops,
            pad_to_aspect_ratio=self.pads,
            data_format=self.data_format,
        )


# --- texts -----------------------------------------------------------------------------------------------------------


def text_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Any = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """The `.txt` files in folders as a DataLoader of lists of texts.

    Arguments:
        directory (path): the folder; each folder in it is a class, where `labels` is "inferred".
        labels (text, list or None, default "inferred"): "inferred", the number of the class of each file in order, or
            None for texts alone.
        label_mode (text or None, default "int"): "int" for int32 (batch,), "binary" for float32 (batch, 1),
            "categorical" for one-hot float32 (batch, classes), None for texts alone.
        class_names (list or None, default None): the folders to take, in the order of the classes; None is all, sorted.
        batch_size (integer or None, default 32): the texts of a batch; None gives one after another.
        max_length (integer or None, default None): how many characters of a text are kept; None is all.
        shuffle (bool, default True): whether they come in another order, in each epoch anew; False is sorted.
        seed (integer or None, default None): the seed of the order and of the parts.
        validation_split (number or None, default None): the share of the files that is for validation.
        subset (text or None, default None): "training", "validation", or "both" for a list of the two.
        follow_links (bool, default False): whether links to folders are followed.
        format (text, default "tf"): "tf", as Keras has it, or "torch": both give a DataLoader.
        verbose (bool, default True): whether the number of files is printed.

    Returns:
        DataLoader: of (texts, labels) or of texts, with the attributes `class_names` and `file_paths`.

    Errors:
        ValueError: an option has a bad value, or there are no such files.

    Example:
        >>> for name in ("good", "bad"):
        ...     os.makedirs(f"texts/{name}")
        ...     _ = open(f"texts/{name}/0.txt", "w").write(f"a {name} text")
        >>> [texts for texts, labels in text_dataset_from_directory("texts", shuffle=False, verbose=False)]
        [('a bad text', 'a good text')]

    Source: https://keras.io/api/data_loading/text/
    """
    owner = "text_dataset_from_directory"
    asked = Asked(
        owner, directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split, subset,
        follow_links, verbose, (".txt",),
    )  # fmt: skip
    check_format(owner, format)
    read(owner, "max_length", optional(integer(1)), max_length)
    return _made(asked, TextFile(max_length))


@dataclass(frozen=True)
class TextFile:
    """Reads the first characters of a text."""

    length: int | None

    def __call__(self, path: str) -> str:
        with open(path, encoding="utf-8") as file:
            return file.read() if self.length is None else file.read(self.length)


# --- sounds ----------------------------------------------------------------------------------------------------------


def audio_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Any = None,
    batch_size: int | None = 32,
    sampling_rate: int | None = None,
    output_sequence_length: int | None = None,
    ragged: bool = False,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    verbose: bool = True,
) -> Any:
    """The `.wav` files of 16 bits in folders as a DataLoader: float32 from -1 to 1, (batch, samples, channels).

    Arguments:
        directory (path): the folder; each folder in it is a class, where `labels` is "inferred".
        labels (text, list or None, default "inferred"): "inferred", the number of the class of each file in order, or
            None for sounds alone.
        label_mode (text or None, default "int"): "int" for int32 (batch,), "binary" for float32 (batch, 1),
            "categorical" for one-hot float32 (batch, classes), None for sounds alone.
        class_names (list or None, default None): the folders to take, in the order of the classes; None is all, sorted.
        batch_size (integer or None, default 32): the sounds of a batch; None gives one after another.
        sampling_rate (None, default None): a number is refused.
        output_sequence_length (integer or None, default None): the samples of each sound, which is cut or followed by
            zeros; None is the longest of each batch.
        ragged (False, default False): True is refused.
        shuffle (bool, default True): whether they come in another order, in each epoch anew; False is sorted.
        seed (integer or None, default None): the seed of the order and of the parts.
        validation_split (number or None, default None): the share of the files that is for validation.
        subset (text or None, default None): "training", "validation", or "both" for a list of the two.
        follow_links (bool, default False): whether links to folders are followed.
        verbose (bool, default True): whether the number of files is printed.

    Returns:
        DataLoader: of (sounds, labels) or of sounds, with the attributes `class_names` and `file_paths`.

    Errors:
        ValueError: an option has a bad value, there are no such files, or one has no samples of 16 bits.

    Example:
        >>> os.makedirs("sounds/one")
        >>> with wave.open("sounds/one/0.wav", "wb") as file:
        ...     file.setparams((1, 2, 8000, 0, "NONE", ""))
        ...     file.writeframes(np.zeros(100, "int16").tobytes())
        >>> [sounds.shape for sounds, labels in audio_dataset_from_directory("sounds", verbose=False)]
        [torch.Size([1, 100, 1])]

    Source: https://keras.io/api/data_loading/audio/
    """
    owner = "audio_dataset_from_directory"
    asked = Asked(
        owner, directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split, subset,
        follow_links, verbose, (".wav",),
    )  # fmt: skip
    if sampling_rate is not None:
        raise ValueError(
            f"{owner}: sampling_rate must be None; found {sampling_rate!r}. Resample the batches by "
            "torchaudio.functional.resample."
        )
    if ragged:
        raise ValueError(f"{owner}: ragged must be False: torch has no such tensors; sounds are followed by zeros.")
    read(owner, "output_sequence_length", optional(integer(1)), output_sequence_length)
    return _made(asked, SoundFile(output_sequence_length), _padded)


@dataclass(frozen=True)
class SoundFile:
    """Reads a sound as a tensor (samples, channels)."""

    length: int | None

    def __call__(self, path: str) -> Tensor:
        with wave.open(path, "rb") as file:
            channels, width = file.getnchannels(), file.getsampwidth()
            if width != 2:
                raise ValueError(f"{path}: a sound must have samples of 16 bits; found {8 * width}.")
            data = file.readframes(file.getnframes())
        sound = torch.from_numpy(np.frombuffer(data, "<i2").astype("float32") / 2**15).reshape(-1, channels)
        return sound if self.length is None else _of_length(sound, self.length)


def _of_length(sound: Tensor, length: int) -> Tensor:
    return torch.nn.functional.pad(sound[:length], (0, 0, 0, max(0, length - len(sound))))


def _padded(items: list[Any]) -> Any:
    """A batch of sounds as long as the longest, with their labels where there are any."""
    sounds = [item[0] if isinstance(item, tuple) else item for item in items]
    longest = max(map(len, sounds))
    batch = torch.stack([_of_length(sound, longest) for sound in sounds])
    return (batch, torch.stack([item[1] for item in items])) if isinstance(items[0], tuple) else batch

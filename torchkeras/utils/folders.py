"""Files in folders as a DataLoader: images, texts and sounds, with a class for each folder."""

from __future__ import annotations

import os
import wave
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from torchkeras import config
from torchkeras.base.extras import extra
from torchkeras.base.rules import (
    BELOW_1,
    FLAG_OR_DIGIT,
    NAMES,
    Rule,
    integer,
    is_integer,
    one_of,
    optional,
    read,
    read_path,
    sizes,
    word,
)
from torchkeras.callbacks.progress import say
from torchkeras.tensor_functions.operations.image import INTERPOLATIONS, resize
from torchkeras.utils.datasets import SEED, check_format, loader
from torchkeras.utils.images import DATA_FORMAT, MODES, img_to_array, load_img

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
LABEL_MODES = ("int", "binary", "categorical")
SUBSETS = ("training", "validation", "both")


def _read_labels(value: Any) -> Any:
    """None, "inferred" or a list of integers."""
    found = value.tolist() if isinstance(value, (np.ndarray, Tensor)) else value
    if found is None or (isinstance(found, str) and found == "inferred"):
        return found
    if not isinstance(found, (list, tuple)) or not all(map(is_integer, found)):
        raise ValueError(f"must be 'inferred', a list of integers or None; found {value!r:.200}.")
    return [int(each) for each in found]


@dataclass
class Asked:
    """What is asked of a folder, checked: see `image_dataset_from_directory`."""

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

    rules: ClassVar[Mapping[str, Rule]] = {
        "labels": Rule(_read_labels),
        "label_mode": optional(one_of(*LABEL_MODES)),
        "class_names": optional(NAMES),
        "batch_size": optional(integer(1)),
        "shuffle": FLAG_OR_DIGIT,
        "seed": optional(SEED),
        "validation_split": optional(BELOW_1),
        "subset": optional(one_of(*SUBSETS)),
        "follow_links": FLAG_OR_DIGIT,
        "verbose": FLAG_OR_DIGIT,
    }

    def __post_init__(self) -> None:
        owner = self.owner
        for name, rule in self.rules.items():
            setattr(self, name, read(owner, name, rule, getattr(self, name)))
        self.directory = _folder(owner, self.directory)
        if self.class_names is not None and (self.labels != "inferred" or self.label_mode is None):
            raise ValueError(
                f"{owner}: class_names goes with labels='inferred' and a label_mode; found labels={self.labels!r:.200} "
                f"and label_mode={self.label_mode!r}."
            )
        if bool(self.validation_split) != bool(self.subset):
            raise ValueError(f"{owner}: validation_split and subset must be given together.")
        if self.validation_split and self.shuffle and self.seed is None:
            raise ValueError(f"{owner}: validation_split with shuffle=True takes a seed, else both parts overlap.")
        if self.label_mode is None:
            self.labels = None


def _folder(owner: str, directory: Any) -> str:
    """The path of a folder that is there."""
    path = read_path(owner, "directory", directory)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{owner}: directory {path!r}: there is no such folder.")
    if not os.path.isdir(path):
        raise NotADirectoryError(f"{owner}: directory {path!r} is a file, and must be a folder.")
    return path


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
    labels = None if numbers is None else _labels(asked, numbers, names)
    wanted = ("training", "validation") if asked.subset == "both" else (asked.subset,)
    made = []
    for subset in wanted:
        places = _part(asked, len(paths), subset)
        kept = paths[places]
        if not kept:
            what = f"{subset} files" if subset else "files"
            raise ValueError(
                f"{asked.owner}: no {what} in {asked.directory!r}; they end in {', '.join(asked.suffixes)}."
            )
        shuffles = asked.shuffle and not (asked.subset == "both" and subset == "validation")
        files = Files(kept, None if labels is None else labels[places], load)
        each: Any = loader(files, asked.batch_size, shuffles, seed if shuffles else None, collate)
        each.class_names, each.file_paths = None if numbers is None else names, kept
        made.append(each)
    return made if asked.subset == "both" else made[0]


def _indexed(asked: Asked, seed: int) -> tuple[list[str], list[int] | None, list[str]]:
    """The paths, the numbers of their classes, and the names of these."""
    folders = _class_folders(asked) if asked.labels == "inferred" else [""]
    found = [(path, number) for number, folder in enumerate(folders) for path in _walk(asked, folder)]
    paths = [path for path, _ in found]
    numbers: list[int] | None = [number for _, number in found]
    names = folders
    if asked.labels is None:
        numbers = None
    elif asked.labels != "inferred":
        if len(asked.labels) != len(paths):
            raise ValueError(
                f"{asked.owner}: labels has {len(asked.labels)} items; found {len(paths)} files in {asked.directory!r}."
            )
        numbers, names = asked.labels, [str(label) for label in sorted(set(asked.labels))]
    if asked.verbose:
        say(f"Found {len(paths)} files{'' if numbers is None else f' belonging to {len(names)} classes'}.")
    if asked.shuffle:
        order = np.arange(len(paths))
        np.random.RandomState(seed).shuffle(order)  # as Keras: a seed gives the same parts
        paths = [paths[place] for place in order]
        numbers = None if numbers is None else [numbers[place] for place in order]
    return paths, numbers, names


def _class_folders(asked: Asked) -> list[str]:
    with os.scandir(asked.directory) as entries:
        found = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    if not found:
        raise ValueError(
            f"{asked.owner}: labels='inferred' takes a folder for each class, and {asked.directory!r} has none. "
            "Give labels=None for files without classes."
        )
    if asked.class_names is None:
        return found
    missing = [name for name in asked.class_names if name not in found]
    if missing:
        raise ValueError(f"{asked.owner}: class_names must be among the folders {found}; found {missing}.")
    if not asked.class_names or len(set(asked.class_names)) < len(asked.class_names):
        raise ValueError(f"{asked.owner}: class_names must name folders, each once; found {asked.class_names}.")
    return asked.class_names


def _walk(asked: Asked, folder: str) -> list[str]:
    """The files in a folder and those inside it, in order."""
    top = os.path.join(asked.directory, folder)
    found = sorted(os.walk(top, onerror=_unread, followlinks=asked.follow_links))
    return [
        os.path.join(root, name)
        for root, _, names in found
        for name in sorted(names)
        if name.lower().endswith(asked.suffixes)
    ]


def _unread(error: OSError) -> None:
    """A folder that cannot be listed, or a link that leads back to it: `os.walk` would leave it out."""
    raise error


def _part(asked: Asked, count: int, subset: str | None) -> slice:
    if not asked.validation_split:
        return slice(None)
    last = int(asked.validation_split * count)
    if subset == "training":
        return slice(0, count - last)
    return slice(count - last, count)


def _labels(asked: Asked, numbers: Sequence[int], names: Sequence[str]) -> Tensor:
    mode, classes = asked.label_mode, len(names)
    if mode == "binary" and classes != 2:
        raise ValueError(f"{asked.owner}: label_mode 'binary' takes two classes; found {classes}: {names}.")
    if mode != "int" and not set(numbers) <= set(range(classes)):
        raise ValueError(
            f"{asked.owner}: label_mode {mode!r} takes labels that count from 0 without a gap; found {names}."
        )
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
        directory (path): the folder; each folder in it is a class if `labels` is "inferred".
        labels (text, list or None, default "inferred"): "inferred" for the class of the folder; a list or an array with
            the class number of each file, in their order; or None for images alone.
        label_mode (text or None, default "int"): "int" for int32 (batch,), "binary" for float32 (batch, 1),
            "categorical" for one-hot float32 (batch, classes), None for images alone.
        class_names (list or None, default None): the folders to take, in the order of the classes; None is all, sorted.
        color_mode (text, default "rgb"): "grayscale", "rgb" or "rgba"; "grayscale" keeps numbers of 16 bits.
        batch_size (integer or None, default 32): the number of images in a batch; None gives single images.
        image_size (two integers, default (256, 256)): the height and width.
        shuffle (bool, default True): whether the files are shuffled, in each epoch again; False sorts them.
        seed (integer or None, default None): the seed of the shuffling and of the split.
        validation_split (number or None, default None): the share of the files that is for validation.
        subset (text or None, default None): "training", "validation", or "both" for a list of the two.
        interpolation (text, default "bilinear"): "bilinear", "nearest" or "bicubic".
        follow_links (bool, default False): whether links to folders are followed.
        crop_to_aspect_ratio (bool, default False): whether images are first cut to the largest window in the middle
            that has the new aspect ratio.
        pad_to_aspect_ratio (bool, default False): whether images first get zeros on both sides, up to that ratio.
        data_format (text or None, default None): "channels_last" or "channels_first"; None takes
            `config.image_data_format()`.
        format (text, default "tf"): "tf", Keras's default, or "torch": both give a DataLoader.
        verbose (bool, default True): whether the number of files is printed.

    Returns:
        DataLoader: of (images, labels) or of images, with the attributes `class_names` and `file_paths`; for
            subset="both" a list of two. To read the files in worker processes, use
            `DataLoader(found.dataset, batch_sampler=found.batch_sampler, num_workers=4)`.

    Errors:
        ValueError: an option has a bad value, or there are no such files.
        FileNotFoundError, NotADirectoryError: there is no such folder.
        PIL.UnidentifiedImageError: a file is no image or a damaged one; raised when it is read.
        ImportError: Pillow is missing.

    Example:
        >>> import os
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
    extra("PIL.Image", owner)
    crops = read(owner, "crop_to_aspect_ratio", FLAG_OR_DIGIT, crop_to_aspect_ratio)
    pads = read(owner, "pad_to_aspect_ratio", FLAG_OR_DIGIT, pad_to_aspect_ratio)
    if crops and pads:
        raise ValueError(f"{owner}: only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be True.")
    load = ImageFile(
        read(owner, "color_mode", one_of(*MODES), color_mode),
        read(owner, "image_size", sizes(), image_size, 2),
        read(owner, "interpolation", word(*INTERPOLATIONS), interpolation),
        crops,
        pads,
        read(owner, "data_format", DATA_FORMAT, data_format) or config.image_data_format(),
    )
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
        directory (path): the folder; each folder in it is a class if `labels` is "inferred".
        labels (text, list or None, default "inferred"): "inferred" for the class of the folder; a list or an array with
            the class number of each file, in their order; or None for texts alone.
        label_mode (text or None, default "int"): "int" for int32 (batch,), "binary" for float32 (batch, 1),
            "categorical" for one-hot float32 (batch, classes), None for texts alone.
        class_names (list or None, default None): the folders to take, in the order of the classes; None is all, sorted.
        batch_size (integer or None, default 32): the number of texts in a batch; None gives single texts.
        max_length (integer or None, default None): how many characters of a text are kept; None is all.
        shuffle (bool, default True): whether the files are shuffled, in each epoch again; False sorts them.
        seed (integer or None, default None): the seed of the shuffling and of the split.
        validation_split (number or None, default None): the share of the files that is for validation.
        subset (text or None, default None): "training", "validation", or "both" for a list of the two.
        follow_links (bool, default False): whether links to folders are followed.
        format (text, default "tf"): "tf", Keras's default, or "torch": both give a DataLoader.
        verbose (bool, default True): whether the number of files is printed.

    Returns:
        DataLoader: of (texts, labels) or of texts, with the attributes `class_names` and `file_paths`; for
            subset="both" a list of two. To read the files in worker processes, use
            `DataLoader(found.dataset, batch_sampler=found.batch_sampler, num_workers=4)`.

    Errors:
        ValueError: an option has a bad value, there are no such files, or one is no text in UTF-8, which is found when
            it is read.
        FileNotFoundError, NotADirectoryError: there is no such folder.

    Example:
        >>> from pathlib import Path
        >>> for name in ("good", "bad"):
        ...     Path("texts", name).mkdir(parents=True)
        ...     _ = Path("texts", name, "0.txt").write_text(f"a {name} text")
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
    return _made(asked, TextFile(read(owner, "max_length", optional(integer(1)), max_length)))


@dataclass(frozen=True)
class TextFile:
    """Reads the first characters of a text."""

    length: int | None

    def __call__(self, path: str) -> str:
        with open(path, encoding="utf-8") as file:
            try:
                return file.read(self.length)
            except UnicodeDecodeError as error:
                raise ValueError(f"text_dataset_from_directory: {path!r} is no text in UTF-8: {error}.") from error


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
        directory (path): the folder; each folder in it is a class if `labels` is "inferred".
        labels (text, list or None, default "inferred"): "inferred" for the class of the folder; a list or an array with
            the class number of each file, in their order; or None for sounds alone.
        label_mode (text or None, default "int"): "int" for int32 (batch,), "binary" for float32 (batch, 1),
            "categorical" for one-hot float32 (batch, classes), None for sounds alone.
        class_names (list or None, default None): the folders to take, in the order of the classes; None is all, sorted.
        batch_size (integer or None, default 32): the number of sounds in a batch; None gives single sounds.
        sampling_rate (None, default None): must be None: sounds are not resampled.
        output_sequence_length (integer or None, default None): the number of samples to which each sound is cut or
            padded with zeros; None takes that of the longest sound in each batch.
        ragged (False, default False): must be False.
        shuffle (bool, default True): whether the files are shuffled, in each epoch again; False sorts them.
        seed (integer or None, default None): the seed of the shuffling and of the split.
        validation_split (number or None, default None): the share of the files that is for validation.
        subset (text or None, default None): "training", "validation", or "both" for a list of the two.
        follow_links (bool, default False): whether links to folders are followed.
        verbose (bool, default True): whether the number of files is printed.

    Returns:
        DataLoader: of (sounds, labels) or of sounds, with the attributes `class_names` and `file_paths`; for
            subset="both" a list of two. To read the files in worker processes, use
            `DataLoader(found.dataset, batch_sampler=found.batch_sampler, collate_fn=found.collate_fn, num_workers=4)`.

    Errors:
        ValueError: an option has a bad value, there are no such files, or, when it is read, one is no sound of 16 bits
            or differs from the rest of its batch in the number of channels.
        FileNotFoundError, NotADirectoryError: there is no such folder.

    Example:
        >>> import os, wave
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
    if read(owner, "ragged", FLAG_OR_DIGIT, ragged):
        raise ValueError(f"{owner}: ragged must be False: torch has no such tensors; sounds are followed by zeros.")
    length = read(owner, "output_sequence_length", optional(integer(1)), output_sequence_length)
    return _made(asked, SoundFile(length), _padded)


@dataclass(frozen=True)
class SoundFile:
    """Reads a sound as a tensor (samples, channels)."""

    length: int | None

    def __call__(self, path: str) -> Tensor:
        what = f"audio_dataset_from_directory: {path!r}"
        try:
            with wave.open(path, "rb") as file:
                channels, width, length = file.getnchannels(), file.getsampwidth(), file.getnframes()
                data = file.readframes(length)
        except (wave.Error, EOFError, RuntimeError) as error:  # the last two have no text
            reason = str(error) or "it ends too early"
            raise ValueError(f"{what} is no sound that the module wave reads: {reason}.") from error
        if width != 2:
            raise ValueError(f"{what}: a sound must have samples of 16 bits; found {8 * width}.")
        if len(data) != length * channels * width:
            raise ValueError(f"{what} is cut off: it must have {length * channels * width} bytes; found {len(data)}.")
        sound = torch.from_numpy(np.frombuffer(data, "<i2").astype("float32") / 2**15).reshape(length, channels)
        return sound if self.length is None else _of_length(sound, self.length)


def _of_length(sound: Tensor, length: int) -> Tensor:
    return torch.nn.functional.pad(sound[:length], (0, 0, 0, max(0, length - len(sound))))


def _padded(items: list[Any]) -> Any:
    """A batch of sounds as long as the longest, with their labels where there are any."""
    sounds = [item[0] if isinstance(item, tuple) else item for item in items]
    channels = sorted({sound.shape[1] for sound in sounds})
    if len(channels) > 1:
        raise ValueError(
            f"audio_dataset_from_directory: the sounds of a batch must have one number of channels; found {channels}."
        )
    longest = max(map(len, sounds))
    batch = torch.stack([_of_length(sound, longest) for sound in sounds])
    return (batch, torch.stack([item[1] for item in items])) if isinstance(items[0], tuple) else batch

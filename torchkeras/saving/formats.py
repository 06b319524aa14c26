"""The formats of files: one table for all that writes files by name, reads them, or says what is in them.

A file is of the format that its first bytes say, whatever its name.
"""

from __future__ import annotations

import importlib
import os
import struct
import zipfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchkeras.base.extras import extra
from torchkeras.errors import FileLimitError, UnknownFormatError, UnreadableFileError
from torchkeras.saving.containers.limits import LIMITS
from torchkeras.saving.containers.open_file import require_file, shown

PathLike = str | os.PathLike[str]

HDF5_NUMBERS = ("float16", "float32", "float64")  # HDF5 has no bfloat16
NUMBERS = (*HDF5_NUMBERS, "bfloat16")
# What a file must show at its beginning: its first bytes, empty for HDF5 and zips, and the names of a zip's members.
Begins = Callable[[bytes, Sequence[str] | None], bool]


@dataclass(frozen=True, eq=False)
class Format:
    """A format of files. What reads and writes it is named, `module:name`, and imported when it is used.

    `suffixes`: of the names that stand for it. `begins`: whether a file is of this format, called `mark` in errors;
    None if it begins as another. `model(model, path, include_optimizer)` and `weights(model, path)` write it; "" for
    what it cannot hold. `tensors` does both for a file of tensors under torch's names: a module with
    `write(path, model, about)` and `opened(path)`, which gives a `StoredTensors`; `check(path)` looks at such a file,
    without torch, in a process with limits. `contents(path)`: for `inspect`.
    `form(model, include_optimizer)`: what such a file says of a model beside its weights, as plain data. `title`,
    `numbers`: for `convert`. `exporter`: the name of the format for `export`, which writes it. `needs`: the
    package of `torchkeras.base.extras` that reads and writes it. `by_paths`: whether weights stand by paths, where
    layers may store other values.
    """

    suffixes: tuple[str, ...]
    mark: str = ""
    begins: Begins | None = None
    model: str = ""
    weights: str = ""
    tensors: str = ""
    check: str = ""
    contents: str = ""
    form: str = "saving.write.files:form_of_keras2"
    title: str = ""
    numbers: tuple[str, ...] = HDF5_NUMBERS
    exporter: str = ""
    needs: str = ""
    by_paths: bool = False

    @property
    def whole(self) -> bool:
        """Whether it holds a whole model."""
        return bool(self.model or self.tensors or self.exporter)


def named(place: str) -> Any:
    """The object at a `module:name` of a `Format`, or its module."""
    module, _, name = place.partition(":")
    found = importlib.import_module(f"torchkeras.{module}")
    return getattr(found, name) if name else found


def _is_state(first: bytes, members: Sequence[str] | None) -> bool:
    """torch writes a zip with this member; before 1.6 it was a pickle."""
    return any(name.endswith("data.pkl") for name in members or ()) or first.startswith(b"\x80")


# The first is for names without a known suffix; files are of the first whose beginning fits.
FORMATS = (
    Format(
        (".h5", ".hdf5", ".hdf"),
        mark="HDF5",
        begins=lambda first, members: not first and members is None,
        model="saving.write.files:write_hdf5",
        weights="saving.write.files:write_groups",
        contents="commands.reading_hdf5:contents_of_hdf5",
        title="HDF5 of Keras 2.2.4",
    ),
    Format(
        (".keras",),
        mark="a zip",
        begins=lambda first, members: members is not None and not _is_state(first, members),
        model="saving.write.files:write_archive",
        contents="commands.reading_hdf5:contents_of_archive",
        form="saving.write.files:form_of_keras3",
        title="archive of Keras 3",
        by_paths=True,
    ),
    Format(
        (".weights.h5",),
        weights="saving.write.files:write_paths",
        title="weights of Keras 3, by paths",
        by_paths=True,
    ),
    Format(
        (".safetensors",),
        mark="safetensors",
        begins=lambda first, members: first[8:9] == b"{",
        tensors="saving.weights.safetensors",
        check="saving.containers.tensor_header:read",
        contents="commands.reading_tensors:contents_of_safetensors",
        title="safetensors, names of the state_dict",
        numbers=NUMBERS,
        needs="safetensors",
    ),
    Format(
        (".pt", ".pth"),
        mark="a zip",
        begins=_is_state,
        tensors="saving.weights.state",
        check="saving.containers.pickled:check",
        contents="commands.reading_tensors:contents_of_state",
        title="state_dict",
        numbers=NUMBERS,
    ),
    # Written by torch's exporters, for programs other than this package.
    Format((".onnx",), exporter="onnx"),
    Format((".pt2",), exporter="torch"),
)

# The formats of whole models, and of weights (first those that hold nothing else), by suffix.
WHOLE = {suffix: each for each in FORMATS if each.whole for suffix in each.suffixes}
WEIGHTS = {
    suffix: each
    for each in sorted(FORMATS, key=lambda each: each.whole)
    if each.weights or each.tensors
    for suffix in each.suffixes
}

# Suffixes of other formats: an HDF5 file under such a name would not be what the name says.
OTHERS = (
    *(".bin", ".ckpt", ".gguf", ".mar", ".mlmodel", ".mlpackage", ".msgpack", ".ort", ".pb", ".pbtxt", ".pte", ".ptl"),
    *(".tflite", ".joblib", ".npy", ".npz", ".pickle", ".pkl", ".parquet"),
    *(".csv", ".json", ".md", ".py", ".toml", ".txt", ".xml", ".yaml", ".yml"),
    *(".7z", ".bz2", ".gz", ".tar", ".tgz", ".xz", ".zip", ".zst"),
    *(".dot", ".jpeg", ".jpg", ".pdf", ".png", ".svg"),
)
INSTEAD = {
    ".json": "; `to_json` gives the architecture",
    ".yaml": "; `to_yaml` gives the architecture",
    ".yml": "; `to_yaml` gives the architecture",
    **dict.fromkeys((".dot", ".pdf", ".png", ".svg"), "; `plot_model` draws the model"),
    **dict.fromkeys(WHOLE.keys() - WEIGHTS.keys(), "; `save` writes the whole model"),
}


def suffix_of(path: PathLike, suffixes: Collection[str]) -> str:
    """The longest of `suffixes` that a name ends with, in any case; "" if there is none."""
    name = Path(path).name.lower()
    return max((suffix for suffix in suffixes if name.endswith(suffix)), key=len, default="")


def check_name(path: PathLike, suffixes: Collection[str], method: str) -> str:
    """`suffix_of`. Raises ValueError, in the name of `method`, for a known suffix that is not among them.

    Raises ImportError where the package that the format needs is missing.
    """
    found, last = suffix_of(path, suffixes), Path(Path(path).name.lower()).suffix
    if not found and last in (*WHOLE, *OTHERS):
        raise ValueError(
            f"{path}: {method} writes no {last} file. By the suffix it writes {', '.join(suffixes)}; HDF5 for a name "
            f"without a known suffix{INSTEAD.get(last, '')}."
        )
    needed = next((each.needs for each in FORMATS if found in each.suffixes), "")
    if needed:
        extra(needed, f"A {found} file")
    return found


# --- the format of a file by its first bytes --------------------------------------------------------------------------


SIGNATURE = b"\x89HDF\r\n\x1a\n"
ZIP = b"PK\x03\x04"
HEADER = 30  # bytes of a zip's member before its name; the length of the name is at 26
FIRST_BLOCK = 512  # HDF5 may begin at 0, here, or at any doubling of this


def format_of(path: PathLike) -> Format:
    """The format of a file. Raises FileNotFoundError, UnreadableFileError, UnknownFormatError, FileLimitError."""
    require_file(path)
    with Path(path).open("rb") as file:
        first = file.read(HEADER)
    if not first:
        raise UnreadableFileError(f"{shown(path)}: the file is empty.")
    found = _recognized(path, first, _members(path) if first.startswith(ZIP) else None)
    if found is None:
        marks = dict.fromkeys(each.mark for each in FORMATS if each.begins)
        raise UnknownFormatError(f"{shown(path)}: it begins neither as {', nor as '.join(marks)}.")
    return found


def of_tensors(path: PathLike) -> Format | None:
    """The format of a file of tensors, by its first bytes, without parsing; None for another file.

    A damaged file is of the format of its suffix. Raises FileNotFoundError, UnknownFormatError for a program of
    torch.export.
    """
    require_file(path)
    members = None
    with Path(path).open("rb") as file:
        first = file.read(HEADER)
        if first.startswith(ZIP):
            member = file.read(int.from_bytes(first[26:28], "little"))
            if member.endswith(b"/archive_format") or any(part in member for part in (b"/data/", b"/models/")):
                raise UnknownFormatError(
                    f"{shown(path)}: a program of torch.export, which has no layers to build; "
                    "`torch.export.load` reads it."
                )
            members = [member.decode("latin-1")]  # the member that torch writes first
    by_name = (each for each in FORMATS if Path(shown(path)).suffix.lower() in each.suffixes)
    found = _recognized(path, first, members) or next(by_name, None)
    return found if found and found.tensors else None


def _recognized(path: PathLike, first: bytes, members: Sequence[str] | None) -> Format | None:
    if members is not None or superblock_at(path) is not None:
        first = b""
    elif not first:
        return None
    return next((each for each in FORMATS if each.begins and each.begins(first, members)), None)


def _members(path: PathLike) -> list[str]:
    try:
        with zipfile.ZipFile(path) as found:
            names = found.namelist()
    except (zipfile.BadZipFile, ValueError, LookupError, OSError, EOFError, struct.error, NotImplementedError) as error:
        raise UnreadableFileError(f"{shown(path)}: not a readable archive ({error}).") from error
    if len(names) > LIMITS.members:
        raise FileLimitError(f"{shown(path)}: it has {len(names)} members; at most {LIMITS.members} are read.")
    return names


def superblock_at(path: PathLike) -> int | None:
    """Where HDF5 begins in a file; None if it is not HDF5."""
    size, at = Path(path).stat().st_size, 0
    with Path(path).open("rb") as file:
        while at < size:
            file.seek(at)
            if file.read(len(SIGNATURE)) == SIGNATURE:
                return at
            at = 2 * at or FIRST_BLOCK
    return None

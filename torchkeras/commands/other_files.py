"""Files that hold no model to load, and what to do with them instead."""

from __future__ import annotations

import argparse
from pathlib import Path

from torchkeras.commands.advice import filled
from torchkeras.commands.exits import CommandError
from torchkeras.commands.treatment import Treatment, treat
from torchkeras.commands.ways import Text

FIRST = 64  # bytes that are looked at
OF_WEIGHTS = ("architecture", "original_backend", "original_data_format")  # options of the command line
IN_TENSORFLOW = "in TensorFlow: tf.keras.models.load_model({path!r}).save('model.h5'), and load that"
# By first bytes: what the file is, and what to do.
BEGINNINGS = (
    (b"version https://git-lfs", "the file is a pointer of Git LFS, not the model", "fetch the model: git lfs pull"),
    (b"<", "the file is a web page, not a model", "download the file itself, which is larger"),
    (b"\x1f\x8b", "the file is packed by gzip", "unpack it first: gunzip {file}, or tar -xzf {file}"),
    (b"\x93NUMPY", "the file is an array of NumPy", "give it to a layer: layer.set_weights([numpy.load({path!r})])"),
)
# By the end of the name, of what begins in no known way.
SUFFIXES = (
    (".pb", "the file is a graph of TensorFlow", IN_TENSORFLOW.replace("{path!r}", "folder")),
    (".tflite", "the file is for TensorFlow Lite, which has no layers", "load the file that it was made of"),
    (".onnx", "the file is for ONNX, which has no layers", "load the file that it was made of"),
    (
        (".ckpt", ".index", ".meta"),
        "the file is a checkpoint of TensorFlow",
        "in TensorFlow: build the model, load_weights(checkpoint), save_weights('weights.h5'), and load that",
    ),
)


def other_kind(path: str) -> tuple[str, str] | None:
    """What a file is that is no model, and what to do with it; None if that is not known."""
    if Path(path).is_dir():
        found = next(Path(path).glob("saved_model.pb"), None)
        text = "a folder, not a file" if found is None else "a SavedModel of TensorFlow, a folder"
        advice = "name a file in it" if found is None else IN_TENSORFLOW
        return text, filled(advice, path)
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        first = file.read(FIRST).lstrip()
    for begin, text, advice in BEGINNINGS:
        if first.startswith(begin):
            return text, filled(advice, path)
    named = (row[1:] for row in SUFFIXES if Path(path).name.lower().endswith(row[0]))
    return next(((text, filled(advice, path)) for text, advice in named), None)


def architecture_alone(arguments: argparse.Namespace) -> tuple[Text, Treatment] | None:
    """How to load a file that is an architecture as JSON or YAML; None for another file.

    Raises CommandError where the command line has an option about weights.
    """
    path = arguments.file
    for as_yaml in (False, True):
        if not _is_text(path, as_yaml):
            continue
        of_weights = [f"--{name.replace('_', '-')}" for name in OF_WEIGHTS if getattr(arguments, name) is not None]
        if of_weights:
            raise CommandError(f"{path}: an architecture, without weights; {', '.join(of_weights)} goes with weights.")
        way = Text(path, arguments, as_yaml)
        return way, treat(way, Path(path), {})
    return None


def _is_text(path: str, as_yaml: bool) -> bool:
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        first = file.read(FIRST).lstrip()
    return first.startswith((b"class_name:", b"backend:", b"config:") if as_yaml else (b"{", b"["))

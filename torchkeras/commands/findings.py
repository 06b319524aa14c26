"""Find what is suspicious in a file's arrays, architecture and bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from torchkeras import registry
from torchkeras.base import bytecode
from torchkeras.commands.contents import Array, Contents, entries
from torchkeras.commands.output import Progress
from torchkeras.errors import ForbiddenContentError
from torchkeras.saving.containers.limits import GIB
from torchkeras.saving.dialects import keras3
from torchkeras.saving.formats import Format, superblock_at

KINDS: Mapping[str, str] = {
    "not finite": "an array has NaN or infinite values",
    "zeros": "an array that is neither a bias nor starts as zeros is all zeros",
    "empty": "an array has no values",
    "large": "an array has over a GiB",
    "dtype": "an array's numbers are not float32, which Keras computes in by default",
    "unlisted": "an array is in no list of weights",
    "list": "a list names what is not there, or something twice",
    "layout": "the file has no layout that is known",
    "version": "the version is missing, or it or the backend is given twice and differs",
    "backend": "Keras 2 wrote kernels and no backend: they are taken as TensorFlow's",
    "text": "an attribute is not the JSON it should be",
    "bytecode": "a function is kept as Python bytecode, which is never run",
    "class": "a class that is not known, which load_model takes from custom_objects",
    "trailing": "bytes follow the end of the file's format",
    "before": "bytes come before the beginning of HDF5",
    "doubt": "what may be damage, and may be an edit",
    "training": "how the model was compiled, or its optimizer's state, cannot be restored",
    "loading": "the model does not load",
}

# Classes that the translation of configs handles, though no layer has these names.
BY_DIALECTS = ("Functional", "SlicingOpLambda", "TFOpLambda")

# The keys of a config under which there are no layers.
NO_LAYERS = ("build_config", "compile_config", "dtype")
OPERATIONS = (*keras3.FUNCTIONS, "Einsum")

# Weights that start as zeros or may well stay zero; Keras 1 wrote the letter of the gate after the name.
ZEROS = re.compile(
    r"(^|[/._])(b|bias|biases|bias_hh\w*|bias_ih\w*|beta|alphas?|betas|[tar]_(left|right)|moving_mean|running_mean|mean"
    r"|count|iteration\w*|learning_rate|num_batches_tracked|seed\w*|[a-z]*_bias|b_[a-z]|prelu\.weight)(:0)?$"
)
NUMBERED = re.compile(r"/(param_)?[0-9]+$")  # a name that says nothing


def find_in_arrays(contents: Contents, names: Mapping[str, str], progress: Progress) -> None:
    """Check every value. `names`: the model's names of the arrays, by paths, if the file has only numbers."""
    for array in contents.arrays:
        if array.parameters == 0:
            contents.find("empty", array.path, f"it has shape {array.shape}, and no values")
            continue
        if array.size > GIB:
            contents.find("large", array.path, f"it has {array.size:,} bytes")
        if array.dtype in ("float16", "float64", "bfloat16"):
            contents.find("dtype", array.path, f"its values are {array.dtype}")
        name = names.get(array.path) or array.path
        _find_in_values(contents, array, may_be_zero=bool(ZEROS.search(name) or NUMBERED.search(name)))
        progress.advance(array.size)
    for array in contents.state:
        _find_in_values(contents, array, may_be_zero=True)
        progress.advance(array.size)


def _find_in_values(contents: Contents, array: Array, may_be_zero: bool) -> None:
    wrong, nonzero = 0, may_be_zero
    for piece in array.pieces():
        if piece.dtype.kind in "fc":
            wrong += piece.size - int(np.count_nonzero(np.isfinite(piece)))
        nonzero = nonzero or bool(np.any(piece))
    if wrong:
        contents.find("not finite", array.path, f"{wrong} of {array.parameters} values are NaN or infinite")
    if not nonzero:
        contents.find("zeros", array.path, f"all {array.parameters} values are 0")


def find_in_architecture(contents: Contents, lambdas: str) -> None:
    """Look for bytecode at any depth, and for the formulas that it is, unless `lambdas` refuses them."""
    for entry in (*entries(contents.config), *entries(contents.training)):
        kind, config = entry["class_name"], entry["config"]
        if kind == bytecode.KERAS3 and not _of_lambda(entry, contents):
            contents.find("bytecode", "", "a function is Python bytecode, which is never run")
        for option in bytecode.SINKS.get(kind, ()) if isinstance(config, Mapping) else ():
            _find_function(contents, kind, option, config, lambdas)


def _of_lambda(entry: Mapping[str, Any], contents: Contents) -> bool:
    """Whether a stored function is one of a Lambda, which is looked at as part of that."""
    layers = [found["config"] for found in entries(contents.config) if found["class_name"] in bytecode.SINKS]
    return any(entry is options.get(option) for options in layers if isinstance(options, Mapping) for option in options)


def _find_function(contents: Contents, kind: str, option: str, config: Mapping[str, Any], lambdas: str) -> None:
    place, how = bytecode.place(option, config.get("name")), bytecode.kept(option, config)
    if how not in ("bytecode", bytecode.FORMULA):
        return
    try:
        if how == "bytecode":
            found = bytecode.formula(kind, option, config, {}, lambdas, version=contents.keras_version)
        else:
            found = bytecode.formula_from(kind, option, config, {})
        contents.formulas[place] = str(found)
    except ForbiddenContentError:
        contents.find(
            "bytecode",
            f"{kind} {config.get('name')!r}",
            f"{option!r} is Python bytecode, which is never run; load_model takes a function in its place by "
            f"custom_objects={{{place!r}: function}}",
        )


def find_unknown_classes(contents: Contents) -> None:
    """List all unknown classes of layers: loading stops at the first."""
    layers = [entry for entry in entries(contents.config, but=NO_LAYERS) if _is_layer(entry)]
    for name in sorted({entry["class_name"] for entry in layers}):
        if not _is_known(name.rpartition(">")[2]):
            contents.find("class", "", f"the class {name!r} is not known")


def _is_layer(entry: Mapping[str, Any]) -> bool:
    config = entry["config"]
    named = "inbound_nodes" in entry or (isinstance(config, Mapping) and "name" in config)
    return named and not _is_operation(entry)


def _is_operation(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is one of Keras 3's functions of tensors, of which HDF5 files do not have the module."""
    if "module" in entry:
        return ".ops." in str(entry["module"])
    return entry["class_name"] in OPERATIONS and "trainable" not in entry["config"]


def _is_known(name: str) -> bool:
    if name in BY_DIALECTS:
        return True
    try:
        registry.layers.find(name)
    except ValueError:
        return False
    return True


def find_in_bytes(contents: Contents, path: str | os.PathLike[str], format: Format) -> None:
    """Look for bytes before and after the file's own content."""
    begin = superblock_at(path) if format.mark == "HDF5" else None
    if begin:
        contents.find("before", "", f"{begin} bytes come before the beginning of HDF5")

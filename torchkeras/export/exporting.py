"""`model.export`: a model as a file that runs without torchkeras; it is kept only if its outputs are the model's."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import torch

from torchkeras.base.atomic_file import replacing
from torchkeras.base.torch_versions import COMPILES
from torchkeras.export import onnx, program
from torchkeras.export.checking import check
from torchkeras.export.errors import ExportError
from torchkeras.export.examples import examples, signatures_of
from torchkeras.saving.formats import FORMATS

PathLike = str | os.PathLike[str]

ONNX = "onnx"
SUFFIXES = {suffix: each.exporter for each in FORMATS if each.exporter for suffix in each.suffixes}


def export(
    model: Any, path: PathLike, format: str | None = None, input_signature: Any = None, opset_version: int | None = None
) -> None:
    """Write a model in evaluation mode, in `format` or that of the suffix. The file is kept only if it is right.

    Raises ExportError for a model that cannot be exported, ValueError for an unknown format or a bad signature,
    ImportError without the packages that ONNX needs.
    """
    kind = format_of(path, format)
    if opset_version is not None and kind != ONNX:
        raise ValueError("export: opset_version goes with ONNX alone.")
    if kind == ONNX:
        onnx.require()
    if not COMPILES:
        raise ExportError(f"export needs torch 2.8 or newer; this is torch {torch.__version__}.")
    signatures = signatures_of(model, input_signature)
    names = model.output_names
    if any(parameter.device.type != "cpu" for parameter in model.parameters()):
        model = copy.deepcopy(model).cpu()
    try:
        with program.inference(model) as begin, replacing(path) as part:
            module = program.Program(model, signatures)
            found = examples(module.compute, signatures)
            begin()
            made = program.traced(module, found)
            begin()
            if kind == ONNX:
                onnx.write(made, part, signatures, names, opset_version)
                written = onnx.read(part, [each.name for each in signatures])
            else:
                program.name_outputs(made, names)
                program.write(made, part)
                written = program.read(part)
            check(written, module.compute, found, names)
    except ExportError as error:
        raise ExportError(f"{type(model).__name__} {model.name!r} cannot be exported to {path}: {error}") from error


def format_of(path: PathLike, format: str | None) -> str:
    """The format to write. Raises ValueError for an unknown format, and for one that does not fit the suffix."""
    by_suffix = SUFFIXES.get(Path(path).suffix.lower())
    if format is None and by_suffix is None:
        raise ValueError(f"{path}: export goes by the suffix, .onnx or .pt2; for other names give format=.")
    if format not in (None, *SUFFIXES.values()):
        raise ValueError(f"export: format must be 'onnx' or 'torch' (.pt2); found {format!r}.")
    if None not in (format, by_suffix) and format != by_suffix:
        raise ValueError(f"{path}: export got format={format!r}; the suffix says {by_suffix!r}.")
    return str(format or by_suffix)

"""`torchkeras inspect FILE`: what is in a model file, what loading would convert, and what is suspicious."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from torchkeras.commands.contents import Contents, StoredLayer
from torchkeras.commands.examination import DryRun, dry_run, examine
from torchkeras.commands.exits import FOUND, WELL, code_of, kind_of
from torchkeras.commands.output import counted, show


def run(arguments: argparse.Namespace) -> int:
    """Describe a file. Returns the code of the error of loading, if any, else FOUND for anything suspicious.

    Raises the errors of reading the file.
    """
    contents, found, size = examine(arguments, partial(dry_run, arguments=arguments))
    about = about_file(contents, found, arguments.file, size)
    show(_lines(contents, found, about), arguments.json, about)
    if found.error is not None:
        return code_of(found.error)
    return FOUND if contents.findings else WELL


# --- what is printed -------------------------------------------------------------------------------------------------


def about_file(contents: Contents, found: DryRun, path: str, size: int) -> dict[str, Any]:
    """All that is known of a file, as plain data."""
    arrays = contents.arrays
    return {
        "file": path,
        "bytes": size,
        "layout": contents.layout,
        "whole_model": contents.whole,
        "keras_version": contents.keras_version,
        "backend": contents.backend,
        "data_format": contents.data_format,
        "layers": [layer.about() for layer in contents.layers],
        "totals": {
            "layers": len(contents.layers),
            "weights": len(arrays),
            "parameters": sum(array.parameters for array in arrays),
            "bytes": sum(array.size for array in arrays),
        },
        "optimizer": _optimizer(contents),
        "training": _training(contents),
        "loading": {
            "text": found.text,
            "error": None if found.error is None else {"kind": kind_of(found.error), "message": str(found.error)},
            "weights": list(found.rows),
        },
        "formulas": contents.formulas,
        "findings": contents.findings,
    }


def _optimizer(contents: Contents) -> dict[str, Any] | None:
    training = contents.training if isinstance(contents.training, Mapping) else {}
    optimizer_config = training.get("optimizer_config", training.get("optimizer"))
    if not isinstance(optimizer_config, Mapping) and not contents.state:
        return None
    optimizer_config = optimizer_config if isinstance(optimizer_config, Mapping) else {}
    options = optimizer_config.get("config")
    return {
        "class_name": optimizer_config.get("class_name"),
        "options": options if isinstance(options, Mapping) else {},
        "state_arrays": len(contents.state),
    }


def _training(contents: Contents) -> dict[str, Any] | None:
    if not isinstance(contents.training, Mapping):
        return None
    return {key: value for key, value in contents.training.items() if key not in ("optimizer_config", "optimizer")}


def heading(about: Mapping[str, Any]) -> Iterator[str]:
    """What the file is, and who wrote it."""
    yield f"{about['file']}: {about['layout']}"
    yield f"  size         {counted(about['bytes'], 'byte')}"
    for title, key in (("Keras", "keras_version"), ("backend", "backend"), ("data format", "data_format")):
        yield f"  {title:12} {about[key] or 'not told'}"
    totals = about["totals"]
    yield (
        f"  in all       {counted(totals['layers'], 'layer')}, {counted(totals['weights'], 'weight')}, "
        f"{counted(totals['parameters'], 'parameter')}, {counted(totals['bytes'], 'byte')}"
    )
    yield from _training_lines(about)


def _lines(contents: Contents, found: DryRun, about: Mapping[str, Any]) -> Iterator[str]:
    yield from heading(about)
    yield "layers"
    for layer in contents.layers:
        yield from _layer_lines(layer)
    if contents.formulas:
        yield "formulas"
    for place, text in contents.formulas.items():
        yield f"  {place}: {text}"
    yield f"loading: {found.text}"
    if found.rows:
        as_stored = len(found.rows) - len(found.converted)
        yield f"  {as_stored} of {counted(len(found.rows), 'weight')} taken as stored"
    for row in found.converted:
        yield f"  {row}"
    yield f"suspicious: {len(contents.findings) or 'nothing'}"
    for finding in contents.findings:
        yield f"  {finding}"


def _training_lines(about: Mapping[str, Any]) -> Iterator[str]:
    optimizer, training = about["optimizer"], about["training"]
    if optimizer is not None:
        options = ", ".join(f"{key}={value!r}" for key, value in optimizer["options"].items())
        state = counted(optimizer["state_arrays"], "array")
        yield f"  optimizer    {optimizer['class_name'] or 'not told'}({options}), {state} of state"
    for key, value in (training or {}).items():
        if value not in (None, [], {}):
            yield f"  {key:12} {value!r}"


def _layer_lines(layer: StoredLayer) -> Iterator[str]:
    name, kind = layer.name or "(no name)", layer.class_name or "class not told"
    yield f"  {name} ({kind}): {counted(layer.parameters, 'parameter')}"
    for array in layer.arrays:
        yield f"    {array.path} {array.shape} {array.dtype}"

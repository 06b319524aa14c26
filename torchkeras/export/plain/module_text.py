"""The text of `model.py`: a docstring, imports of torch, helpers, inner models, and the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras.export.plain import facts
from torchkeras.export.plain.book import Book
from torchkeras.export.plain.extraction import import_lines, source
from torchkeras.export.plain.network import NetworkWriter
from torchkeras.export.plain.rules import RULES


@dataclass(frozen=True)
class Written:
    """A model as plain PyTorch: the module's text, its class, the tensors of its `state_dict`, the user's functions."""

    text: str
    name: str
    state: dict[str, Tensor]
    functions: dict[str, Callable[..., Any]]
    stateful: bool


def write(network: Any, weights: str) -> Written:
    """A model as the text of a module. `weights`: the name of the file of weights. Raises EjectError."""
    book = Book(RULES)
    main = _written(book, network)
    if book.masked_later:  # torch's recurrent modules know no masks: write again, with cells instead
        again = Book(RULES)
        again.masked = book.masked_later
        book, main = again, _written(again, network)
    functions = {name: book.functions[name] for name in main.functions}
    parts = [_helpers(book), *(_class(writer) for writer in _models(book)), main.text(_docstring(main))]
    body = "\n\n".join(part for part in parts if part)
    head = _module_docstring(book, main, weights, functions)
    text = f"{head}\n\n" + "\n".join(import_lines(body)) + f"\n\n\n{body}"
    return Written(text, main.name, main.state, functions, bool(main.resets))


def _written(book: Book, network: Any) -> NetworkWriter:
    # A name that was made up says nothing.
    wanted = "Net" if re.fullmatch(r"(model|sequential|functional)(_\d+)?", network.name) else network.name
    facts.check_graph(network)
    main = NetworkWriter(book, network, book.class_name(wanted), is_main=True)
    main.method((False,) * len(facts.graph_of(network).inputs), False)
    main.init += _ties(book, main)
    types = {tensor.dtype for tensor in main.state.values() if tensor.is_floating_point()}
    if len(types) == 1 and types != {torch.float32}:
        main.init.append(f"self.to({types.pop()})")
    return main


def _ties(book: Book, main: NetworkWriter) -> list[str]:
    """The assignments that make one submodule of a layer that several models share."""
    places: dict[Any, list[str]] = {}
    pending = [("self", main)]
    while pending:
        path, writer = pending.pop(0)
        for key, attribute in writer.known.items():
            own = path + attribute.removeprefix("self")
            if key in book.writers and key not in places:
                pending.append((own, book.writers[key]))
            places.setdefault(key, []).append(own)
    return [f"{other} = {first}" for first, *others in places.values() for other in others]


def _models(book: Book) -> Sequence[NetworkWriter]:
    """The inner models, each after those that it contains."""
    return list(book.writers.values())[::-1]


def _class(writer: NetworkWriter) -> str:
    return writer.text(_docstring(writer))


def _docstring(writer: NetworkWriter) -> str:
    """`(batch, 8) -> (batch, 1)`"""
    graph = facts.graph_of(writer.network)
    given, found = (", ".join(_shape(tensor.shape) for tensor in each) for each in (graph.inputs, graph.outputs))
    text = f'"""{given} -> {found}"""'
    return (
        text
        if len(text) < 112
        else f'"""{_shape(graph.inputs[0].shape)}, ... -> {_shape(graph.outputs[0].shape)}, ..."""'
    )


def _shape(shape: Any) -> str:
    sizes = ["batch" if shape[0] is None else str(shape[0])] if shape else []
    sizes += ["?" if size is None else str(size) for size in shape[1:]]
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"


def _helpers(book: Book) -> str:
    return "\n\n\n".join(map(source, book.helpers)) + "\n" * bool(book.helpers)


LOADING = {
    "model.safetensors": ("from safetensors.torch import load_file", 'load_file("model.safetensors")'),
    "model.pt": ("import torch", 'torch.load("model.pt")'),
}


def _module_docstring(book: Book, main: NetworkWriter, weights: str, functions: dict[str, Any]) -> str:
    title = facts.title_of(main.network)
    lines = [f'"""{title}, as plain PyTorch.', ""]
    if functions:
        names = ", ".join(functions)
        lines += [f"Functions of your own, which the model's layers call, are arguments of `{main.name}`: {names}.", ""]
    lines += [*book.notes, *([""] if book.notes else [])]
    imported, loaded = LOADING[weights]
    count = len(facts.graph_of(main.network).inputs)
    inputs = ", ".join(f"x{k}" for k in range(count)) if count > 1 else "x"
    lines += ["To load and run it:", "", f"    {imported}", f"    from model import {main.name}", ""]
    lines += [f"    model = {main.name}({', '.join(f'{name}=...' for name in functions)})"]
    lines += [f"    model.load_state_dict({loaded})", "    model.eval()"]
    lines += [f"    y = model({inputs})  # on inputs in Keras's order of axes"]
    return "\n".join([*lines, '"""'])

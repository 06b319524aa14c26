"""The forms in which TensorBoard shows a model: its graph, weights as images, what layers give, labels of points."""

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from torchkeras.engine.symbolic.tensor import as_list, node_of

IMAGES = 3  # of one weight, as in TensorFlow


def graph_event(graph: Any) -> Any:
    """The graph as an event: a node for each call of a layer, with the shapes of its outputs.

    It shows what the user wrote. It is no trace, so it needs no data and does not depend on values.
    """
    graph_pb2, event_pb2 = (_proto(name) for name in ("graph_pb2", "event_pb2"))
    definition, names = graph_pb2.GraphDef(), _node_names(graph)
    for node in graph.nodes:
        made = definition.node.add(name=names[node], op=type(node.layer).__name__)
        made.input.extend(
            names[node_of(tensor)] + (f":{index}" if (index := tensor.keras_history.tensor_index) else "")
            for tensor in node.input_tensors
        )
        shapes = made.attr["_output_shapes"].list
        for tensor in node.output_tensors:
            shape = shapes.shape.add()
            for size in tensor.shape:
                shape.dim.add(size=-1 if size is None else size)
    return event_pb2.Event(graph_def=definition.SerializeToString())


def _proto(name: str) -> Any:
    return importlib.import_module(f"tensorboard.compat.proto.{name}")


def _node_names(graph: Any) -> dict[Any, str]:
    """A layer's name for its first call; `name_call1` and so on for further ones."""
    return {
        node: layer.name + (f"_call{index}" if index else "")
        for layer in graph.layers
        for index, node in enumerate(graph.nodes_of(layer))
    }


def images_of(weight: np.ndarray) -> list[np.ndarray]:
    """A weight as grey images (rows, columns) of bytes, at most three; [] where it has too many axes for images.

    Axes of size 1 do not count. A vector is a column, and a matrix lies on its longer side. Of three axes the last one
    counts the images. The largest magnitude is white, or black below 0. Zero is black, or grey where there are negative
    values.
    """
    values = weight.squeeze()
    if values.ndim == 1:
        return [_grey(values[:, None])]
    if values.ndim == 2:
        return [_grey(values.T if values.shape[0] > values.shape[1] else values)]
    return [_grey(values[..., index]) for index in range(min(IMAGES, values.shape[-1]))] if values.ndim == 3 else []


def _grey(values: np.ndarray) -> np.ndarray:
    values = values.astype(np.float64)
    greatest = np.abs(values).max(initial=0.0)
    scale = 0.0 if greatest < 1e-6 or not np.isfinite(greatest) else 1.0 / greatest
    shades = 128.0 + 127.0 * values * scale if (values < 0).any() else 255.0 * values * scale
    return np.nan_to_num(shades).astype(np.uint8)


@contextmanager
def outputs_of(layers: Iterable[Any]) -> Iterator[dict[str, list[torch.Tensor]]]:
    """What the layers return inside the block, by name: each call's tensors, on the host, in the layer's own layout."""
    found: dict[str, list[torch.Tensor]] = {}

    def kept(name: str) -> Any:
        return lambda module, given, output: found.setdefault(name, []).extend(
            each.detach().to("cpu", copy=True) for each in as_list(output) if isinstance(each, torch.Tensor)
        )

    handles = [layer.register_forward_hook(kept(layer.name)) for layer in layers]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def read_metadata(path: Path) -> tuple[list[Any], list[str] | None]:
    """The labels of points, one on each line; for several columns the rows after the head, and the head.

    Source: https://www.tensorflow.org/tensorboard/tensorboard_projector_plugin
    """
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    if rows and len(rows[0]) > 1:
        return rows[1:], rows[0]
    return [row[0] for row in rows], None

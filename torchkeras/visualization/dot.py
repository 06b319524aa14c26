"""`model_to_dot`: a model's graph in the DOT language of Graphviz."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from torchkeras.base.rules import known_options, one_of, optional, read
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.visualization.labels import Shown, checked_graph, inner_graph, label

if TYPE_CHECKING:
    from torchkeras.models.model import Model

RANKDIRS = ("TB", "BT", "LR", "RL")
SPLINES = ("ortho", "curved", "polyline", "spline", "line")


class Dot(str):
    """The text of a graph in the DOT language, which can draw itself."""

    __slots__ = ()

    def create(self, prog: str = "dot", format: str = "ps") -> bytes:
        """The picture that a program of Graphviz draws: `create(format="svg")`.

        Arguments:
            prog (text, default "dot"): the program.
            format (text, default "ps"): the format of the picture.

        Returns:
            The bytes of the picture.

        Errors:
            ImportError: the program is not on the PATH.
            RuntimeError: the program fails.
        """
        return _drawn(self, format, prog)


@known_options
def model_to_dot(
    model: Model,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    show_dtype: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    splines: str | None = None,
) -> Dot:
    """A model's graph in the DOT language of Graphviz: a box for each layer, an arrow for each tensor between them.

    A layer whose outputs are the model's has a double frame. If a layer is called several times, its arrows say to
    which call they belong.

    Arguments:
        model (model): the model, built.
        show_shapes (bool, default False): whether a box has the shapes of inputs and outputs.
        show_layer_names (bool, default True): whether a box has the name of the layer next to its class.
        rankdir (text, default "TB"): the direction: "TB" from top to bottom, "BT", "LR" or "RL".
        expand_nested (bool, default False): whether a model inside is drawn as a frame with its own layers.
        dpi (positive number, default 96): dots per inch.
        show_dtype (bool, default False): whether a box has the types of the outputs.
        show_layer_activations (bool, default False): whether a box has the activation.
        show_trainable (bool, default False): whether a box says if the layer trains.
        splines (text or None, default None): how Graphviz draws lines: "ortho", "curved", "polyline", "spline" or
            "line"; None is its own choice.

    Returns:
        The text, a `str` with a method `create(format="svg")`.

    Errors:
        TypeError: `model` is no model.
        RuntimeError: the model is not built yet.
        ValueError: an option has a bad value.

    Example:
        >>> print(model_to_dot(Sequential([Dense(1, input_shape=(2,), name="out")])).splitlines()[0])
        digraph model {

    Source: https://keras.io/api/utils/model_plotting_utils/
    """
    graph = checked_graph("model_to_dot", model)
    check_options("model_to_dot", rankdir, dpi)
    read("model_to_dot", "splines", optional(one_of(*SPLINES)), splines)
    shown = Shown(
        "model_to_dot", show_shapes, show_layer_names, expand_nested, show_dtype, show_layer_activations, show_trainable
    )
    lines = [
        "digraph model {",
        f"    graph [rankdir={rankdir}, dpi={dpi}{f', splines={splines}' if splines else ''}]",
        '    node [shape=box, fontname="Helvetica"]',
        '    edge [fontname="Helvetica", fontsize=10]',
        *("    " + line for line in _Writer(graph, shown).lines()),
        "}",
    ]
    return Dot("\n".join(lines) + "\n")


def check_options(function: str, rankdir: Any, dpi: Any) -> None:
    """Raise ValueError for a direction that Graphviz does not know, or a resolution that is no positive number."""
    if rankdir not in RANKDIRS:
        raise ValueError(f"{function}: rankdir must be one of {', '.join(RANKDIRS)}; found {rankdir!r}.")
    if isinstance(dpi, bool) or not isinstance(dpi, (int, float)) or not 0 < dpi < float("inf"):
        raise ValueError(f"{function}: dpi must be a positive number; found {dpi!r}.")


class _Writer:
    def __init__(self, graph: Graph, shown: Shown):
        self.graph, self.shown = graph, shown
        names = _node_ids(graph, "layer")
        found = ((tensor.keras_history.layer, tensor.keras_history.tensor_index) for tensor in graph.outputs)
        self.ends = {self._end(layer, names[layer], index, "outputs") for layer, index in found}

    def lines(self) -> list[str]:
        return self._statements(self.graph, "layer")

    def _statements(self, graph: Graph, prefix: str) -> list[str]:
        """Boxes and clusters, then the arrows between them; `prefix` begins the name of each box."""
        names = _node_ids(graph, prefix)
        boxes = [line for layer, name in names.items() for line in self._box(graph, layer, name)]
        return [*boxes, *self._arrows(graph, names)]

    def _box(self, graph: Graph, layer: Layer, name: str) -> list[str]:
        text = "\n".join(label(layer, graph.nodes_of(layer), self.shown))
        inner = inner_graph(layer, self.shown)
        if inner is None:
            return [f"{name} [label={_quoted(text)}{', peripheries=2' * (name in self.ends)}]"]
        inside = (f"    {line}" for line in self._statements(inner, name))
        return [f"subgraph cluster_{name} {{", f"    label={_quoted(text)}", *inside, "}"]

    def _arrows(self, graph: Graph, names: dict[Layer, str]) -> list[str]:
        arrows = []
        for node in graph.nodes:
            for index, tensor in enumerate(node.input_tensors):
                source = tensor.keras_history.layer
                tail = self._end(source, names[source], tensor.keras_history.tensor_index, "outputs")
                head = self._end(node.layer, names[node.layer], index, "inputs")
                marks = {
                    "taillabel": _call_number(graph, source, tensor),
                    "headlabel": _call_number(graph, node.layer, node.outputs),
                }
                labels = ", ".join(f'{key}="{mark}"' for key, mark in marks.items() if mark)
                arrows.append(f"{tail} -> {head}" + f" [{labels}]" * bool(labels))
        return arrows

    def _end(self, layer: Layer, name: str, index: int, side: str) -> str:
        """The box where an arrow begins or ends; of a model drawn as a frame, the box of its input or output."""
        inner = inner_graph(layer, self.shown)
        if inner is None:
            return name
        tensor = getattr(inner, side)[index]
        there = tensor.keras_history.layer
        inside = f"{name}_{inner.layers.index(there)}"
        return self._end(there, inside, tensor.keras_history.tensor_index, side)


def _node_ids(graph: Graph, prefix: str) -> dict[Layer, str]:
    return {layer: f"{prefix}_{index}" for index, layer in enumerate(graph.layers)}


def _call_number(graph: Graph, layer: Layer, outputs: KerasTensor | list[KerasTensor]) -> str:
    """The number of a call, when the graph has several calls of the layer."""
    if len(graph.nodes_of(layer)) == 1:
        return ""
    tensor = outputs[0] if isinstance(outputs, (list, tuple)) else outputs
    return f"[{tensor.keras_history.node_index}]"


def _quoted(text: str) -> str:
    """The text as a string of DOT, where a backslash and an ampersand have a meaning."""
    escaped = text.replace("\\", "\\\\").replace("&", "&amp;").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _drawn(text: str, kind: str, program: str = "dot") -> bytes:
    """The picture of a DOT text, in a format such as "svg".

    Raises ImportError when the program is not on the PATH, and RuntimeError with the program's own words when it fails.
    """
    found = shutil.which(program)
    if found is None:
        raise ImportError(
            f"A picture of a model ({kind}) is drawn by the program `{program}` of Graphviz, which is not on the PATH. "
            "Install Graphviz (`apt install graphviz`, `brew install graphviz`, `conda install graphviz`, or "
            "https://graphviz.org/download). Without it: plot_model(model, to_file='model.svg'), a picture for "
            "browsers; print(text_graph(model)); or to_file='model.dot' for another program to draw."
        )
    done = subprocess.run([found, f"-T{kind}"], input=text.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{found} -T{kind} failed with status {done.returncode}: {said}")
    return done.stdout

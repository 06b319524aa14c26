"""`text_graph`: a model's graph drawn with letters, for terminals and for machines without Graphviz."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torchkeras.base.rules import known_options
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.symbolic.tensor import Node, node_of
from torchkeras.visualization.labels import Shown, checked_graph, inner_graph, label, tensor_name

if TYPE_CHECKING:
    from torchkeras.models.model import Model

# A corner or crossing, by whether lines leave it up, down, to the left, to the right.
LINES = {
    (False, False, False, False): " ",
    (False, False, True, True): "─",
    (False, True, False, True): "╭",
    (False, True, True, False): "╮",
    (False, True, True, True): "┬",
    (True, False, False, True): "╰",
    (True, False, True, False): "╯",
    (True, False, True, True): "┴",
    (True, True, False, False): "│",
    (True, True, False, True): "├",
    (True, True, True, False): "┤",
    (True, True, True, True): "┼",
}


@known_options
def text_graph(
    model: Model,
    show_shapes: bool = True,
    show_layer_names: bool = True,
    expand_nested: bool = False,
    show_dtype: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> str:
    """A model's graph as text, from its inputs (○) down: a line for each call of a layer (●), joined to its inputs.

    Lines that join meet in a corner or a crossing. A line that passes behind another is interrupted. If a layer is
    called several times, the number of the call follows its name. A layer with several inputs lists them in order.

    Arguments:
        model (model): the model, built.
        show_shapes (bool, default True): whether a line has the shapes of inputs and outputs.
        show_layer_names (bool, default True): whether a line has the name of the layer next to its class.
        expand_nested (bool, default False): whether the layers of a model inside are drawn too.
        show_dtype (bool, default False): whether a line has the types of the outputs.
        show_layer_activations (bool, default False): whether a line has the activation.
        show_trainable (bool, default False): whether a line says if the layer trains.

    Returns:
        The text.

    Errors:
        TypeError: `model` is no model.
        RuntimeError: the model is not built yet.
        ValueError: an option has a bad value.

    Example:
        >>> print(text_graph(Sequential([Dense(1, input_shape=(2,), name="out")])))
        ○ out_input (InputLayer)  (None, 2)
        │
        ● out (Dense)  (None, 2) → (None, 1)  → output
        <BLANKLINE>
    """
    graph = checked_graph("text_graph", model)
    shown = Shown(
        "text_graph", show_shapes, show_layer_names, expand_nested, show_dtype, show_layer_activations, show_trainable
    )
    return "\n".join(_Drawing(graph, shown).lines()) + "\n"


class _Drawing:
    """Each column holds a call whose outputs are still to be taken, or nothing."""

    def __init__(self, graph: Graph, shown: Shown):
        self.graph, self.shown = graph, shown
        self.columns: list[Node | None] = []
        self.waiting = Counter(source for node in graph.nodes for source in set(map(node_of, node.input_tensors)))

    def lines(self) -> list[str]:
        return [line.rstrip() for node in self.graph.nodes for line in self._lines_of(node)]

    def _lines_of(self, node: Node) -> list[str]:
        sources = {self.columns.index(source): source for source in map(node_of, node.input_tensors)}
        self.waiting.subtract(sources.values())
        taken, ended = set(sources), {column for column, source in sources.items() if not self.waiting[source]}
        before = list(self.columns)
        for column in ended:
            self.columns[column] = None
        place = min(ended) if ended else [*self.columns, None].index(None)
        self.columns[place:] = [node, *self.columns[place + 1 :]]
        drawn = [self._joining(before, taken, place)] if taken else []
        mark = "●" if taken else "○"
        drawn.append(self._bars({place: mark}) + self._text(node))
        if not self.waiting[node]:
            self.columns[place] = None
        return drawn + self._inside(node)

    def _joining(self, before: list[Node | None], taken: set[int], place: int) -> str:
        """The line above a call: from the columns of its inputs to its own column."""
        first, last = min(*taken, place), max(*taken, place)
        letters = []
        for column in range(len(self.columns)):
            up, down = column < len(before) and before[column] is not None, self.columns[column] is not None
            across = column in taken or column == place or not up  # otherwise it passes in front
            left, right = across and first < column <= last, across and first <= column < last
            letters += [LINES[up, down, left, right], "─" if first <= column < last else " "]
        return "".join(letters)

    def _bars(self, marks: dict[int, str]) -> str:
        return "".join(
            f"{marks.get(column, ' ' if node is None else '│')} " for column, node in enumerate(self.columns)
        )

    def _text(self, node: Node) -> str:
        history = node.output_tensors[0].keras_history
        several = len(self.graph.nodes_of(node.layer)) > 1
        name = f"{node.layer.name}[{history.node_index}]" if several else node.layer.name
        parts = label(node.layer, [node], self.shown, name)
        given = [tensor_name(self.graph, tensor) for tensor in node.input_tensors]
        if len(given) > 1 or any(given_name.endswith("]") for given_name in given):
            parts.append(f"takes {', '.join(given)}")
        made = set(node.output_tensors)
        numbers = [str(index) for index, tensor in enumerate(self.graph.outputs, start=1) if tensor in made]
        if numbers:
            parts.append("→ output" if len(self.graph.outputs) == 1 else f"→ output {', '.join(numbers)}")
        return "  ".join(parts)

    def _inside(self, node: Node) -> list[str]:
        inner = inner_graph(node.layer, self.shown)
        if inner is None or node is not self.graph.nodes_of(node.layer)[0]:
            return []  # the first call shows what is inside
        return [f"{self._bars({})}    {line}" for line in _Drawing(inner, self.shown).lines()]

"""What a notebook shows of a model: the table of its layers and its graph, as HTML."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

from torchkeras.engine.graph.trace import graph_if_any
from torchkeras.engine.weights.weight_lists import sublayers
from torchkeras.visualization import summary
from torchkeras.visualization.svg import model_to_svg

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer
    from torchkeras.models.model import Model

FOLDED = 30  # layers above which the table is shown when one asks for it
WIDE = '<div style="overflow-x:auto">'  # what is too wide for a page is moved sideways, and nothing is cut below
MOST = 200  # calls of layers; larger graphs are drawn when one asks for them


def graph_html(model: Model) -> str:
    """The graph with its shapes, as HTML; nothing if there is none yet, or a large one.

    The picture is an image of its own, so that its colours and those of the page do not touch each other.
    """
    graph = graph_if_any(model)
    if graph is None or len(graph.nodes) > MOST:
        return ""
    data = b64encode(model_to_svg(model, show_shapes=True).encode()).decode()
    opened = " open" if len(graph.nodes) <= FOLDED else ""
    return (
        f"<details{opened}><summary>Graph</summary>{WIDE}"
        f'<img style="max-width:none" alt="Graph of {escape(model.name)}" src="data:image/svg+xml;base64,{data}">'
        "</div></details>"
    )


def model_html(model: Model) -> str:
    """Name and type, output shape, parameters and (in a graph) connections of every layer, then the totals.

    A model that is not built yet shows its layers alone. Names are escaped.
    """
    graph = graph_if_any(model)
    head = f"<b>{escape(model.name)}</b> ({escape(type(model).__name__)})"
    if graph is None:
        inside: Any = sublayers(model) or model.children()
        layers = "".join(f"<li>{_title(layer)}</li>" for layer in inside)
        return f"<div>{head}, not built yet<ol>{layers}</ol></div>"
    titles = summary.CHAIN if summary.is_chain(graph) else summary.GRAPH
    rows = "".join(_row(layer, graph, len(titles)) for layer in model.layers)
    header = "".join(f"<th>{escape(title)}</th>" for title in titles)
    opened = " open" if len(model.layers) <= FOLDED else ""
    return (
        f"<details{opened}><summary>{head}: {len(model.layers)} layers, {model.count_params():,} parameters</summary>"
        f"{WIDE}<table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>"
        f"<div>{'<br>'.join(summary.totals(model))}</div></details>"
    )


def _title(layer: Layer) -> str:
    return f"{escape(layer.name)} ({escape(type(layer).__name__)})"


def _row(layer: Layer, graph: Any, columns: int) -> str:
    cells = [
        _title(layer),
        escape(summary.shape_of(layer)),
        f"{layer.count_params():,}",
        "<br>".join(escape(source) for source in summary.sources(layer, graph)),
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells[:columns])}</tr>"

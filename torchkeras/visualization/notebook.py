"""What a notebook shows of a model beside the table of its layers: its graph."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import Any

from torchkeras.engine.graph.notebook import FOLDED
from torchkeras.visualization.svg import model_to_svg

MOST = 200  # calls of layers; larger graphs are drawn when one asks for them


def graph_html(model: Any) -> str:
    """The graph with its shapes, as HTML; nothing if there is none yet, or a large one.

    The picture is an image of its own, so that its colours and those of the page do not touch each other.
    """
    if model._graph is None or len(model._graph.nodes) > MOST:
        return ""
    data = b64encode(model_to_svg(model, show_shapes=True).encode()).decode()
    opened = " open" if len(model._graph.nodes) <= FOLDED else ""
    return (
        f'<details{opened}><summary>Graph</summary><div style="max-height:40em;overflow:auto">'
        f'<img style="max-width:none" alt="Graph of {escape(model.name)}" src="data:image/svg+xml;base64,{data}">'
        "</div></details>"
    )

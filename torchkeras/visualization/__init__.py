"""Pictures: of a model's graph (`plot_model`, `model_to_svg`, `model_to_dot`, `text_graph`) and of its training
(`plot_history`).
"""

from typing import TYPE_CHECKING

from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.visualization.curves import plot_history
from torchkeras.visualization.dot import model_to_dot
from torchkeras.visualization.plot import plot_model
from torchkeras.visualization.svg import model_to_svg
from torchkeras.visualization.text import text_graph

__all__ = ["model_to_dot", "model_to_svg", "plot_history", "plot_model", "text_graph"]

if not TYPE_CHECKING:
    __getattr__ = _missing_from(__name__)

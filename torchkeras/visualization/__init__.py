"""Pictures: of a model's graph (`plot_model`, `model_to_svg`, `model_to_dot`, `text_graph`) and of its training
(`plot_history`).
"""

from torchkeras.visualization.curves import plot_history
from torchkeras.visualization.dot import model_to_dot
from torchkeras.visualization.plot import plot_model
from torchkeras.visualization.svg import model_to_svg
from torchkeras.visualization.text import text_graph

__all__ = ["model_to_dot", "model_to_svg", "plot_history", "plot_model", "text_graph"]

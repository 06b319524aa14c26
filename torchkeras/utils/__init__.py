"""Tools beside models: pictures."""

from torchkeras.visualization import model_to_dot, plot_history, plot_model, text_graph

__all__ = ["model_to_dot", "plot_history", "plot_model", "text_graph"]

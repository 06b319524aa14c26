"""`keras.utils.vis_utils`: a model as a picture."""

from torchkeras.visualization import model_to_dot, plot_model

__all__ = ["model_to_dot", "plot_model"]

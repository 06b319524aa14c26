"""`keras.utils.visualize_util`: a model as a picture, in Keras 1's names."""

from torchkeras.visualization import model_to_dot, plot_model

__all__ = ["model_to_dot", "plot"]

plot = plot_model

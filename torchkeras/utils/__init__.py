"""What users of Keras find in `keras.utils`."""

from torchkeras.utils.hdf5_matrix import HDF5Matrix
from torchkeras.utils.numbers import normalize, to_categorical
from torchkeras.utils.sequence import Sequence
from torchkeras.visualization import model_to_dot, plot_history, plot_model, text_graph

__all__ = [
    "HDF5Matrix",
    "Sequence",
    "model_to_dot",
    "normalize",
    "plot_history",
    "plot_model",
    "text_graph",
    "to_categorical",
]

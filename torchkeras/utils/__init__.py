"""What users of Keras find in `keras.utils`."""

from torchkeras.data.raw_batch import pack_x_y_sample_weight, unpack_x_y_sample_weight
from torchkeras.utils.hdf5_matrix import HDF5Matrix
from torchkeras.utils.numbers import normalize, to_categorical
from torchkeras.utils.padding import pad_sequences
from torchkeras.utils.seeds import set_random_seed
from torchkeras.utils.sequence import Sequence
from torchkeras.visualization import model_to_dot, model_to_svg, plot_history, plot_model, text_graph

__all__ = [
    "HDF5Matrix",
    "Sequence",
    "model_to_dot",
    "model_to_svg",
    "normalize",
    "pack_x_y_sample_weight",
    "pad_sequences",
    "plot_history",
    "plot_model",
    "set_random_seed",
    "text_graph",
    "to_categorical",
    "unpack_x_y_sample_weight",
]

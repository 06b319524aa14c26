"""What users of Keras find in `keras.utils`."""

from typing import TYPE_CHECKING

from torchkeras.data.raw_batch import pack_x_y_sample_weight, unpack_x_y_sample_weight
from torchkeras.utils.hdf5_matrix import HDF5Matrix
from torchkeras.utils.numbers import normalize, to_categorical
from torchkeras.utils.padding import pad_sequences
from torchkeras.utils.seeds import set_random_seed
from torchkeras.utils.sequence import Sequence

if TYPE_CHECKING:
    from torchkeras.visualization import model_to_dot, model_to_svg, plot_history, plot_model, text_graph
else:
    from torchkeras.base.annexes import names_later

    _PICTURES = ("model_to_dot", "model_to_svg", "plot_history", "plot_model", "text_graph")
    __getattr__, __dir__ = names_later(__name__, dict.fromkeys(_PICTURES, "torchkeras.visualization"))

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

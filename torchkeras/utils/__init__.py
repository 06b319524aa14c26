"""What users of Keras find in `keras.utils`."""

from typing import TYPE_CHECKING

from torchkeras.data.raw_batch import pack_x_y_sample_weight, unpack_x_y_sample_weight
from torchkeras.utils.hdf5_matrix import HDF5Matrix
from torchkeras.utils.numbers import normalize, to_categorical
from torchkeras.utils.padding import pad_sequences
from torchkeras.utils.seeds import set_random_seed
from torchkeras.utils.sequence import Sequence

if TYPE_CHECKING:
    from torchkeras.utils.datasets import split_dataset, timeseries_dataset_from_array
    from torchkeras.utils.folders import (
        audio_dataset_from_directory,
        image_dataset_from_directory,
        text_dataset_from_directory,
    )
    from torchkeras.utils.images import array_to_img, img_to_array, load_img, save_img
    from torchkeras.visualization import model_to_dot, model_to_svg, plot_history, plot_model, text_graph
else:
    from torchkeras.base.annexes import names_later

    _DATASETS = ("split_dataset", "timeseries_dataset_from_array")
    _FOLDERS = ("audio_dataset_from_directory", "image_dataset_from_directory", "text_dataset_from_directory")
    _IMAGES = ("array_to_img", "img_to_array", "load_img", "save_img")
    _PICTURES = ("model_to_dot", "model_to_svg", "plot_history", "plot_model", "text_graph")
    __getattr__, __dir__ = names_later(
        __name__,
        {
            **dict.fromkeys(_DATASETS, "torchkeras.utils.datasets"),
            **dict.fromkeys(_FOLDERS, "torchkeras.utils.folders"),
            **dict.fromkeys(_IMAGES, "torchkeras.utils.images"),
            **dict.fromkeys(_PICTURES, "torchkeras.visualization"),
        },
    )

__all__ = [
    "HDF5Matrix",
    "Sequence",
    "array_to_img",
    "audio_dataset_from_directory",
    "image_dataset_from_directory",
    "img_to_array",
    "load_img",
    "model_to_dot",
    "model_to_svg",
    "normalize",
    "pack_x_y_sample_weight",
    "pad_sequences",
    "plot_history",
    "plot_model",
    "save_img",
    "set_random_seed",
    "split_dataset",
    "text_dataset_from_directory",
    "text_graph",
    "timeseries_dataset_from_array",
    "to_categorical",
    "unpack_x_y_sample_weight",
]

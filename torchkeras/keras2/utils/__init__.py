"""`keras.utils`: what scripts of Keras 1 and 2 find there."""

from torchkeras.keras2.utils import conv_utils, data_utils, generic_utils, io_utils, layer_utils, np_utils, vis_utils
from torchkeras.keras2.utils.data_utils import GeneratorEnqueuer, OrderedEnqueuer, Sequence, get_file
from torchkeras.keras2.utils.generic_utils import (
    CustomObjectScope,
    Progbar,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    serialize_keras_object,
)
from torchkeras.keras2.utils.io_utils import HDF5Matrix, h5dict
from torchkeras.keras2.utils.layer_utils import convert_all_kernels_in_model, get_source_inputs, print_summary
from torchkeras.keras2.utils.multi_gpu_utils import multi_gpu_model
from torchkeras.keras2.utils.np_utils import normalize, to_categorical
from torchkeras.keras2.utils.vis_utils import plot_model

__all__ = [
    "CustomObjectScope",
    "GeneratorEnqueuer",
    "HDF5Matrix",
    "OrderedEnqueuer",
    "Progbar",
    "Sequence",
    "conv_utils",
    "convert_all_kernels_in_model",
    "custom_object_scope",
    "data_utils",
    "deserialize_keras_object",
    "generic_utils",
    "get_custom_objects",
    "get_file",
    "get_source_inputs",
    "h5dict",
    "io_utils",
    "layer_utils",
    "multi_gpu_model",
    "normalize",
    "np_utils",
    "plot_model",
    "print_summary",
    "serialize_keras_object",
    "to_categorical",
    "vis_utils",
]

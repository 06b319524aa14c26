"""`keras.utils`."""

from torchkeras.data.raw_batch import pack_x_y_sample_weight, unpack_x_y_sample_weight
from torchkeras.keras3.backend import clear_session, is_keras_tensor, standardize_dtype
from torchkeras.keras3.config import (
    disable_interactive_logging,
    enable_interactive_logging,
    is_interactive_logging_enabled,
)
from torchkeras.keras3.feature_space import FeatureSpace
from torchkeras.keras3.progress import Progbar
from torchkeras.keras3.saving import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from torchkeras.keras3.utils import bounding_boxes
from torchkeras.keras3.utils.arrays import normalize, to_categorical
from torchkeras.keras3.utils.data import PyDataset
from torchkeras.keras3.utils.files import get_file
from torchkeras.keras3.utils.graphs import get_source_inputs, model_to_dot, plot_model
from torchkeras.keras3.utils.settings import Config
from torchkeras.utils import (
    array_to_img,
    audio_dataset_from_directory,
    image_dataset_from_directory,
    img_to_array,
    load_img,
    pad_sequences,
    save_img,
    set_random_seed,
    split_dataset,
    text_dataset_from_directory,
    timeseries_dataset_from_array,
)

Sequence = PyDataset

__all__ = [
    "Config",
    "CustomObjectScope",
    "FeatureSpace",
    "Progbar",
    "PyDataset",
    "Sequence",
    "array_to_img",
    "audio_dataset_from_directory",
    "bounding_boxes",
    "clear_session",
    "custom_object_scope",
    "deserialize_keras_object",
    "disable_interactive_logging",
    "enable_interactive_logging",
    "get_custom_objects",
    "get_file",
    "get_registered_name",
    "get_registered_object",
    "get_source_inputs",
    "image_dataset_from_directory",
    "img_to_array",
    "is_interactive_logging_enabled",
    "is_keras_tensor",
    "load_img",
    "model_to_dot",
    "normalize",
    "pack_x_y_sample_weight",
    "pad_sequences",
    "plot_model",
    "register_keras_serializable",
    "save_img",
    "serialize_keras_object",
    "set_random_seed",
    "split_dataset",
    "standardize_dtype",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
    "to_categorical",
    "unpack_x_y_sample_weight",
]

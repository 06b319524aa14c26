"""`Model` and `Sequential`, and models to and from files."""

from torchkeras.engine.graph.input import Input, InputLayer
from torchkeras.models.cloning import clone_model
from torchkeras.models.files import load_model, model_from_json, model_from_yaml, save_model
from torchkeras.models.model import Model
from torchkeras.models.sequential import Sequential
from torchkeras.saving.data_format.convert import convert_data_format, transfer_weights
from torchkeras.saving.graph_config import model_from_config

__all__ = [
    "Input",
    "InputLayer",
    "Model",
    "Sequential",
    "clone_model",
    "convert_data_format",
    "load_model",
    "model_from_config",
    "model_from_json",
    "model_from_yaml",
    "save_model",
    "transfer_weights",
]

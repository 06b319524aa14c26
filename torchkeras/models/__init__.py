"""`Model` and `Sequential`, and models to and from files."""

from typing import TYPE_CHECKING

from torchkeras.engine.graph.input import Input, InputLayer
from torchkeras.models.cloning import clone_model
from torchkeras.models.model import Model
from torchkeras.models.sequential import Sequential

if TYPE_CHECKING:
    from torchkeras.models.files import load_model, model_from_json, model_from_yaml, save_model
    from torchkeras.saving.data_format.convert import convert_data_format, transfer_weights
    from torchkeras.saving.graph_config import model_from_config
else:
    from torchkeras.base.annexes import names_later

    _FILES, _CONVERT = "torchkeras.models.files", "torchkeras.saving.data_format.convert"
    __getattr__, __dir__ = names_later(
        __name__,
        {
            **dict.fromkeys(("load_model", "model_from_json", "model_from_yaml", "save_model"), _FILES),
            **dict.fromkeys(("convert_data_format", "transfer_weights"), _CONVERT),
            "model_from_config": "torchkeras.saving.graph_config",
        },
    )

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

"""All layers, their functional forms, and `Input`."""

from torchkeras.engine.input import Input, InputLayer
from torchkeras.engine.layer import Layer
from torchkeras.engine.operation import Operation
from torchkeras.layers.activation import LeakyReLU, ReLU, Softmax
from torchkeras.layers.conv import Conv1D, Conv2D
from torchkeras.layers.core import (
    Activation,
    Dense,
    Dropout,
    Flatten,
    Lambda,
    Masking,
    Permute,
    RepeatVector,
    Reshape,
)
from torchkeras.layers.embedding import Embedding
from torchkeras.layers.merging import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from torchkeras.layers.normalization import BatchNormalization
from torchkeras.layers.pooling import AveragePooling2D, GlobalAveragePooling2D, GlobalMaxPooling2D, MaxPooling2D
from torchkeras.layers.recurrent import LSTM
from torchkeras.layers.resize import ZeroPadding2D
from torchkeras.layers.wrappers import TimeDistributed, Wrapper

__all__ = [
    "LSTM",
    "Activation",
    "Add",
    "Average",
    "AveragePooling2D",
    "BatchNormalization",
    "Concatenate",
    "Conv1D",
    "Conv2D",
    "Dense",
    "Dot",
    "Dropout",
    "Embedding",
    "Flatten",
    "GlobalAveragePooling2D",
    "GlobalMaxPooling2D",
    "Input",
    "InputLayer",
    "Lambda",
    "Layer",
    "LeakyReLU",
    "Masking",
    "MaxPooling2D",
    "Maximum",
    "Minimum",
    "Multiply",
    "Operation",
    "Permute",
    "ReLU",
    "RepeatVector",
    "Reshape",
    "Softmax",
    "Subtract",
    "TimeDistributed",
    "Wrapper",
    "ZeroPadding2D",
    "add",
    "average",
    "concatenate",
    "dot",
    "maximum",
    "minimum",
    "multiply",
    "subtract",
]

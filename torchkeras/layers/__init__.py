"""All layers, their functional forms, and `Input`. The module offers what it imports under its own name."""

from torchkeras.engine.input import (
    Input as Input,
    InputLayer as InputLayer,
)
from torchkeras.engine.layer import (
    Layer as Layer,
)
from torchkeras.engine.operation import (
    Operation as Operation,
)
from torchkeras.layers.activation import (
    LeakyReLU as LeakyReLU,
    ReLU as ReLU,
    Softmax as Softmax,
)
from torchkeras.layers.conv import (
    Conv1D as Conv1D,
    Conv2D as Conv2D,
)
from torchkeras.layers.core import (
    Activation as Activation,
    Dense as Dense,
    Dropout as Dropout,
    Flatten as Flatten,
    Lambda as Lambda,
    Masking as Masking,
    Permute as Permute,
    RepeatVector as RepeatVector,
    Reshape as Reshape,
)
from torchkeras.layers.embedding import (
    Embedding as Embedding,
)
from torchkeras.layers.merging import (
    Add as Add,
    Average as Average,
    Concatenate as Concatenate,
    Dot as Dot,
    Maximum as Maximum,
    Minimum as Minimum,
    Multiply as Multiply,
    Subtract as Subtract,
    add as add,
    average as average,
    concatenate as concatenate,
    dot as dot,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    subtract as subtract,
)
from torchkeras.layers.normalization import (
    BatchNormalization as BatchNormalization,
)
from torchkeras.layers.pooling import (
    AveragePooling2D as AveragePooling2D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalMaxPooling2D as GlobalMaxPooling2D,
    MaxPooling2D as MaxPooling2D,
)
from torchkeras.layers.recurrent import (
    LSTM as LSTM,
)
from torchkeras.layers.resize import (
    ZeroPadding2D as ZeroPadding2D,
)
from torchkeras.layers.wrappers import (
    TimeDistributed as TimeDistributed,
    Wrapper as Wrapper,
)

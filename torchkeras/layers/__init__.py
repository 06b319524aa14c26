"""All layers, their functional forms, and `Input`. The module offers what it imports under its own name."""

from torchkeras import registry
from torchkeras.engine.graph.input import Input as Input, InputLayer as InputLayer
from torchkeras.engine.graph.operators import Operation as Operation
from torchkeras.engine.layer.input_spec import InputSpec as InputSpec
from torchkeras.engine.layer.layer import Layer as Layer
from torchkeras.layers.activation import (
    ELU as ELU,
    LeakyReLU as LeakyReLU,
    ParametricSoftplus as ParametricSoftplus,
    PReLU as PReLU,
    ReLU as ReLU,
    Softmax as Softmax,
    SReLU as SReLU,
    ThresholdedReLU as ThresholdedReLU,
)
from torchkeras.layers.adaptive_pooling import (
    AdaptiveAveragePooling1D as AdaptiveAveragePooling1D,
    AdaptiveAveragePooling2D as AdaptiveAveragePooling2D,
    AdaptiveAveragePooling3D as AdaptiveAveragePooling3D,
    AdaptiveMaxPooling1D as AdaptiveMaxPooling1D,
    AdaptiveMaxPooling2D as AdaptiveMaxPooling2D,
    AdaptiveMaxPooling3D as AdaptiveMaxPooling3D,
)
from torchkeras.layers.attention import (
    AdditiveAttention as AdditiveAttention,
    Attention as Attention,
)
from torchkeras.layers.augmentation import (
    RandomContrast as RandomContrast,
    RandomCrop as RandomCrop,
    RandomFlip as RandomFlip,
    RandomRotation as RandomRotation,
    RandomTranslation as RandomTranslation,
    RandomZoom as RandomZoom,
)
from torchkeras.layers.bidirectional import (
    Bidirectional as Bidirectional,
)
from torchkeras.layers.cells import (
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    SimpleRNNCell as SimpleRNNCell,
    StackedRNNCells as StackedRNNCells,
)
from torchkeras.layers.conv import (
    Conv1D as Conv1D,
    Conv2D as Conv2D,
    Conv3D as Conv3D,
)
from torchkeras.layers.conv_recurrent import (
    ConvLSTM as ConvLSTM,
    ConvLSTM1D as ConvLSTM1D,
    ConvLSTM2D as ConvLSTM2D,
    ConvLSTM2DCell as ConvLSTM2DCell,
    ConvLSTM3D as ConvLSTM3D,
    ConvRNN2D as ConvRNN2D,
)
from torchkeras.layers.core import (
    Activation as Activation,
    ActivityRegularization as ActivityRegularization,
    Dense as Dense,
    Identity as Identity,
    Masking as Masking,
)
from torchkeras.layers.einsum import (
    EinsumDense as EinsumDense,
)
from torchkeras.layers.embedding import (
    Embedding as Embedding,
)
from torchkeras.layers.functions import (
    Lambda as Lambda,
)
from torchkeras.layers.global_pooling import (
    GlobalAveragePooling1D as GlobalAveragePooling1D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalAveragePooling3D as GlobalAveragePooling3D,
    GlobalAvgPool1D as GlobalAvgPool1D,
    GlobalAvgPool2D as GlobalAvgPool2D,
    GlobalAvgPool3D as GlobalAvgPool3D,
    GlobalMaxPool1D as GlobalMaxPool1D,
    GlobalMaxPool2D as GlobalMaxPool2D,
    GlobalMaxPool3D as GlobalMaxPool3D,
    GlobalMaxPooling1D as GlobalMaxPooling1D,
    GlobalMaxPooling2D as GlobalMaxPooling2D,
    GlobalMaxPooling3D as GlobalMaxPooling3D,
)
from torchkeras.layers.image_preprocessing import (
    CenterCrop as CenterCrop,
    Rescaling as Rescaling,
    Resizing as Resizing,
)
from torchkeras.layers.keras1 import (
    Cosine as Cosine,
    Highway as Highway,
    MaxoutDense as MaxoutDense,
    Merge as Merge,
    TimeDistributedDense as TimeDistributedDense,
    merge as merge,
)
from torchkeras.layers.layer_normalization import (
    LayerNormalization as LayerNormalization,
    RMSNormalization as RMSNormalization,
    UnitNormalization as UnitNormalization,
)
from torchkeras.layers.local import (
    LocallyConnected1D as LocallyConnected1D,
    LocallyConnected2D as LocallyConnected2D,
)
from torchkeras.layers.lookup import (
    IntegerLookup as IntegerLookup,
    StringLookup as StringLookup,
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
from torchkeras.layers.multi_head_attention import (
    GroupQueryAttention as GroupQueryAttention,
    MultiHeadAttention as MultiHeadAttention,
)
from torchkeras.layers.noise import (
    AlphaDropout as AlphaDropout,
    Dropout as Dropout,
    GaussianDropout as GaussianDropout,
    GaussianNoise as GaussianNoise,
    SpatialDropout1D as SpatialDropout1D,
    SpatialDropout2D as SpatialDropout2D,
    SpatialDropout3D as SpatialDropout3D,
)
from torchkeras.layers.normalization import (
    BatchNormalization as BatchNormalization,
    GroupNormalization as GroupNormalization,
)
from torchkeras.layers.pooling import (
    AveragePooling1D as AveragePooling1D,
    AveragePooling2D as AveragePooling2D,
    AveragePooling3D as AveragePooling3D,
    AvgPool1D as AvgPool1D,
    AvgPool2D as AvgPool2D,
    AvgPool3D as AvgPool3D,
    MaxPool1D as MaxPool1D,
    MaxPool2D as MaxPool2D,
    MaxPool3D as MaxPool3D,
    MaxPooling1D as MaxPooling1D,
    MaxPooling2D as MaxPooling2D,
    MaxPooling3D as MaxPooling3D,
)
from torchkeras.layers.preprocessing import (
    CategoryEncoding as CategoryEncoding,
    Discretization as Discretization,
    Normalization as Normalization,
)
from torchkeras.layers.recurrence import (
    Recurrent as Recurrent,
)
from torchkeras.layers.recurrent import (
    GRU as GRU,
    LSTM as LSTM,
    RNN as RNN,
    CuDNNGRU as CuDNNGRU,
    CuDNNLSTM as CuDNNLSTM,
    SimpleRNN as SimpleRNN,
)
from torchkeras.layers.resize import (
    Cropping1D as Cropping1D,
    Cropping2D as Cropping2D,
    Cropping3D as Cropping3D,
    UpSampling1D as UpSampling1D,
    UpSampling2D as UpSampling2D,
    UpSampling3D as UpSampling3D,
    ZeroPadding1D as ZeroPadding1D,
    ZeroPadding2D as ZeroPadding2D,
    ZeroPadding3D as ZeroPadding3D,
)
from torchkeras.layers.separable import (
    DepthwiseConv1D as DepthwiseConv1D,
    DepthwiseConv2D as DepthwiseConv2D,
    SeparableConv1D as SeparableConv1D,
    SeparableConv2D as SeparableConv2D,
)
from torchkeras.layers.shaping import (
    Flatten as Flatten,
    Permute as Permute,
    RepeatVector as RepeatVector,
    Reshape as Reshape,
)
from torchkeras.layers.torch_module import (
    TorchModule as TorchModule,
)
from torchkeras.layers.transposed import (
    Conv1DTranspose as Conv1DTranspose,
    Conv2DTranspose as Conv2DTranspose,
    Conv3DTranspose as Conv3DTranspose,
)
from torchkeras.layers.wrappers import (
    SpectralNormalization as SpectralNormalization,
    TimeDistributed as TimeDistributed,
    Wrapper as Wrapper,
)

# Keras 1's names, as `torchkeras.legacy.arguments.LAYERS` has them for files.
AtrousConv1D = AtrousConvolution1D = Convolution1D = Conv1D
AtrousConv2D = AtrousConvolution2D = Convolution2D = Conv2D
Convolution3D = Conv3D
Convolution2DTranspose = Deconv2D = Deconvolution2D = Conv2DTranspose
Deconv3D = Deconvolution3D = Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
ConvRecurrent2D = ConvLSTM


def serialize(layer: Layer) -> dict[str, object]:
    """`{"class_name": ..., "config": ...}` of a layer.

    Arguments:
        layer (Layer): the layer; its weights are left out.

    Example:
        >>> serialize(RepeatVector(3, name="again"))["config"]
        {'name': 'again', 'trainable': True, 'n': 3}
    """
    return registry.layers.serialize(layer)


def deserialize(config: dict[str, object], custom_objects: dict[str, object] | None = None) -> Layer:
    """The layer that `serialize` wrote, with new weights.

    Arguments:
        config (dictionary): `{"class_name": ..., "config": ...}`.
        custom_objects (dictionary or None, default None): classes and functions of your own, by name.

    Errors:
        ValueError: for an unknown class and for a bad option.

    Example:
        >>> deserialize({"class_name": "Dense", "config": {"units": 4}}).units
        4
    """
    return registry.layers.from_config(config, custom_objects)

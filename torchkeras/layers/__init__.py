"""All layers, their functional forms, and `Input`."""

from typing import TYPE_CHECKING

from torchkeras import registry
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.input import Input, InputLayer
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.shapes.input_spec import InputSpec
from torchkeras.layers.activation import (
    ELU,
    LeakyReLU,
    ParametricSoftplus,
    PReLU,
    ReLU,
    Softmax,
    SReLU,
    ThresholdedReLU,
)
from torchkeras.layers.adaptive_pooling import (
    AdaptiveAveragePooling1D,
    AdaptiveAveragePooling2D,
    AdaptiveAveragePooling3D,
    AdaptiveMaxPooling1D,
    AdaptiveMaxPooling2D,
    AdaptiveMaxPooling3D,
)
from torchkeras.layers.attention import AdditiveAttention, Attention
from torchkeras.layers.augmentation import (
    RandomContrast,
    RandomCrop,
    RandomFlip,
    RandomRotation,
    RandomTranslation,
    RandomZoom,
)
from torchkeras.layers.bidirectional import Bidirectional
from torchkeras.layers.cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from torchkeras.layers.colors import (
    RandomBrightness,
    RandomColorDegeneration,
    RandomColorJitter,
    RandomGrayscale,
    RandomHue,
    RandomInvert,
    RandomPosterization,
    RandomSaturation,
    RandomSharpness,
    Solarization,
)
from torchkeras.layers.conv import Conv1D, Conv2D, Conv3D
from torchkeras.layers.conv_recurrent import ConvLSTM, ConvLSTM1D, ConvLSTM2D, ConvLSTM2DCell, ConvLSTM3D, ConvRNN2D
from torchkeras.layers.core import Activation, ActivityRegularization, Dense, Identity, Masking
from torchkeras.layers.distortions import (
    RandomElasticTransform,
    RandomErasing,
    RandomGaussianBlur,
    RandomPerspective,
    RandomShear,
)
from torchkeras.layers.einsum import EinsumDense
from torchkeras.layers.embedding import Embedding, ReversibleEmbedding
from torchkeras.layers.functions import Lambda
from torchkeras.layers.global_pooling import (
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
)
from torchkeras.layers.hashing import HashedCrossing, Hashing
from torchkeras.layers.histograms import AutoContrast, ContrastLimitedAdaptiveHistogramEqualization, Equalization
from torchkeras.layers.image_preprocessing import CenterCrop, Rescaling, Resizing
from torchkeras.layers.keras1 import Cosine, Highway, MaxoutDense, Merge, TimeDistributedDense, merge
from torchkeras.layers.layer_normalization import LayerNormalization, RMSNormalization, UnitNormalization
from torchkeras.layers.local import LocallyConnected1D, LocallyConnected2D
from torchkeras.layers.lookup import IntegerLookup, StringLookup
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
from torchkeras.layers.mixing import AugMix, CutMix, MixUp, RandAugment
from torchkeras.layers.multi_head_attention import GroupQueryAttention, MultiHeadAttention
from torchkeras.layers.noise import (
    AlphaDropout,
    Dropout,
    GaussianDropout,
    GaussianNoise,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from torchkeras.layers.normalization import BatchNormalization, GroupNormalization
from torchkeras.layers.pipeline import Pipeline
from torchkeras.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from torchkeras.layers.preprocessing import CategoryEncoding, Discretization, Normalization
from torchkeras.layers.recurrence import Recurrent
from torchkeras.layers.recurrent import GRU, LSTM, RNN, CuDNNGRU, CuDNNLSTM, SimpleRNN
from torchkeras.layers.resize import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from torchkeras.layers.separable import DepthwiseConv1D, DepthwiseConv2D, SeparableConv1D, SeparableConv2D
from torchkeras.layers.shaping import Flatten, Permute, RepeatVector, Reshape
from torchkeras.layers.spectrograms import MelSpectrogram, STFTSpectrogram
from torchkeras.layers.text import TextVectorization
from torchkeras.layers.torch_module import TorchModule
from torchkeras.layers.transposed import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from torchkeras.layers.wrappers import SpectralNormalization, TimeDistributed, Wrapper

__all__ = [
    "ELU",
    "GRU",
    "LSTM",
    "RNN",
    "Activation",
    "ActivityRegularization",
    "AdaptiveAveragePooling1D",
    "AdaptiveAveragePooling2D",
    "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling1D",
    "AdaptiveMaxPooling2D",
    "AdaptiveMaxPooling3D",
    "Add",
    "AdditiveAttention",
    "AlphaDropout",
    "AtrousConv1D",
    "AtrousConv2D",
    "AtrousConvolution1D",
    "AtrousConvolution2D",
    "Attention",
    "AugMix",
    "AutoContrast",
    "Average",
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "BatchNormalization",
    "Bidirectional",
    "CategoryEncoding",
    "CenterCrop",
    "Concatenate",
    "ContrastLimitedAdaptiveHistogramEqualization",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "ConvLSTM",
    "ConvLSTM1D",
    "ConvLSTM2D",
    "ConvLSTM2DCell",
    "ConvLSTM3D",
    "ConvRNN2D",
    "ConvRecurrent2D",
    "Convolution1D",
    "Convolution1DTranspose",
    "Convolution2D",
    "Convolution2DTranspose",
    "Convolution3D",
    "Convolution3DTranspose",
    "Cosine",
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "CuDNNGRU",
    "CuDNNLSTM",
    "CutMix",
    "Deconv2D",
    "Deconv3D",
    "Deconvolution2D",
    "Deconvolution3D",
    "Dense",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "Discretization",
    "Dot",
    "Dropout",
    "EinsumDense",
    "Embedding",
    "Equalization",
    "Flatten",
    "GRUCell",
    "GaussianDropout",
    "GaussianNoise",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "GroupNormalization",
    "GroupQueryAttention",
    "HashedCrossing",
    "Hashing",
    "Highway",
    "Identity",
    "Input",
    "InputLayer",
    "InputSpec",
    "IntegerLookup",
    "LSTMCell",
    "Lambda",
    "Layer",
    "LayerNormalization",
    "LeakyReLU",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "Masking",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "Maximum",
    "MaxoutDense",
    "MelSpectrogram",
    "Merge",
    "Minimum",
    "MixUp",
    "MultiHeadAttention",
    "Multiply",
    "Normalization",
    "Operation",
    "PReLU",
    "ParametricSoftplus",
    "Permute",
    "Pipeline",
    "RMSNormalization",
    "RandAugment",
    "RandomBrightness",
    "RandomColorDegeneration",
    "RandomColorJitter",
    "RandomContrast",
    "RandomCrop",
    "RandomElasticTransform",
    "RandomErasing",
    "RandomFlip",
    "RandomGaussianBlur",
    "RandomGrayscale",
    "RandomHue",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterization",
    "RandomRotation",
    "RandomSaturation",
    "RandomSharpness",
    "RandomShear",
    "RandomTranslation",
    "RandomZoom",
    "ReLU",
    "Recurrent",
    "RepeatVector",
    "Rescaling",
    "Reshape",
    "Resizing",
    "ReversibleEmbedding",
    "SReLU",
    "STFTSpectrogram",
    "SeparableConv1D",
    "SeparableConv2D",
    "SeparableConvolution1D",
    "SeparableConvolution2D",
    "SimpleRNN",
    "SimpleRNNCell",
    "Softmax",
    "Solarization",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "SpectralNormalization",
    "StackedRNNCells",
    "StringLookup",
    "Subtract",
    "TextVectorization",
    "ThresholdedReLU",
    "TimeDistributed",
    "TimeDistributedDense",
    "TorchModule",
    "UnitNormalization",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "Wrapper",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
    "add",
    "average",
    "concatenate",
    "deserialize",
    "dot",
    "maximum",
    "merge",
    "minimum",
    "multiply",
    "serialize",
    "subtract",
]

# Keras 1's names, as `torchkeras.legacy.arguments.LAYERS` has them for files.
AtrousConv1D = AtrousConvolution1D = Convolution1D = Conv1D
AtrousConv2D = AtrousConvolution2D = Convolution2D = Conv2D
Convolution3D = Conv3D
Convolution2DTranspose = Deconv2D = Deconvolution2D = Conv2DTranspose
Convolution3DTranspose = Deconv3D = Deconvolution3D = Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
ConvRecurrent2D = ConvLSTM
Convolution1DTranspose = Conv1DTranspose  # a name of Keras 3's


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


if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)

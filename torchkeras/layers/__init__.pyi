# Made by scripts/write_stubs.py from the declarations in the source; a test holds it to them.
# mypy: disable-error-code="misc, override"

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

import torch
from torch import Tensor
from torch.nn import Module

from torchkeras.dtype_policy import DTypePolicy
from torchkeras.engine.graph.input import Input as Input, InputLayer as InputLayer
from torchkeras.engine.graph.operators import Operation as Operation
from torchkeras.engine.layer.input_spec import InputSpec as InputSpec
from torchkeras.engine.layer.layer import Layer as Layer
from torchkeras.engine.layer.symbolic import KerasTensor
from torchkeras.layers.activation import (
    ELU as _ELU,
    LeakyReLU as _LeakyReLU,
    ParametricSoftplus as _ParametricSoftplus,
    PReLU as _PReLU,
    ReLU as _ReLU,
    Softmax as _Softmax,
    SReLU as _SReLU,
    ThresholdedReLU as _ThresholdedReLU,
)
from torchkeras.layers.attention import (
    AdditiveAttention as _AdditiveAttention,
    Attention as _Attention,
    GroupQueryAttention as _GroupQueryAttention,
    MultiHeadAttention as _MultiHeadAttention,
)
from torchkeras.layers.augmentation import (
    RandomContrast as _RandomContrast,
    RandomCrop as _RandomCrop,
    RandomFlip as _RandomFlip,
    RandomRotation as _RandomRotation,
    RandomTranslation as _RandomTranslation,
    RandomZoom as _RandomZoom,
)
from torchkeras.layers.bidirectional import Bidirectional as _Bidirectional
from torchkeras.layers.cells import (
    GRUCell as _GRUCell,
    LSTMCell as _LSTMCell,
    SimpleRNNCell as _SimpleRNNCell,
    StackedRNNCells as _StackedRNNCells,
)
from torchkeras.layers.conv import Conv1D as _Conv1D, Conv2D as _Conv2D, Conv3D as _Conv3D
from torchkeras.layers.conv_recurrent import (
    ConvLSTM as _ConvLSTM,
    ConvLSTM1D as _ConvLSTM1D,
    ConvLSTM2D as _ConvLSTM2D,
    ConvLSTM2DCell as _ConvLSTM2DCell,
    ConvLSTM3D as _ConvLSTM3D,
    ConvRNN2D as _ConvRNN2D,
)
from torchkeras.layers.core import (
    Activation as _Activation,
    ActivityRegularization as _ActivityRegularization,
    Dense as _Dense,
    Flatten as _Flatten,
    Identity as _Identity,
    Lambda as _Lambda,
    Masking as _Masking,
    Permute as _Permute,
    RepeatVector as _RepeatVector,
    Reshape as _Reshape,
)
from torchkeras.layers.einsum import EinsumDense as _EinsumDense
from torchkeras.layers.embedding import Embedding as _Embedding
from torchkeras.layers.keras1 import (
    Cosine as _Cosine,
    Highway as _Highway,
    MaxoutDense as _MaxoutDense,
    Merge as Merge,
    TimeDistributedDense as _TimeDistributedDense,
    merge as merge,
)
from torchkeras.layers.local import LocallyConnected1D as _LocallyConnected1D, LocallyConnected2D as _LocallyConnected2D
from torchkeras.layers.lookup import IntegerLookup as _IntegerLookup, StringLookup as _StringLookup
from torchkeras.layers.merging import (
    Add as _Add,
    Average as _Average,
    Concatenate as _Concatenate,
    Dot as _Dot,
    Maximum as _Maximum,
    Minimum as _Minimum,
    Multiply as _Multiply,
    Subtract as _Subtract,
    add as add,
    average as average,
    concatenate as concatenate,
    dot as dot,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    subtract as subtract,
)
from torchkeras.layers.noise import (
    AlphaDropout as _AlphaDropout,
    Dropout as _Dropout,
    GaussianDropout as _GaussianDropout,
    GaussianNoise as _GaussianNoise,
    SpatialDropout1D as _SpatialDropout1D,
    SpatialDropout2D as _SpatialDropout2D,
    SpatialDropout3D as _SpatialDropout3D,
)
from torchkeras.layers.normalization import (
    BatchNormalization as _BatchNormalization,
    GroupNormalization as _GroupNormalization,
    LayerNormalization as _LayerNormalization,
    RMSNormalization as _RMSNormalization,
    UnitNormalization as _UnitNormalization,
)
from torchkeras.layers.pooling import (
    AdaptiveAveragePooling1D as _AdaptiveAveragePooling1D,
    AdaptiveAveragePooling2D as _AdaptiveAveragePooling2D,
    AdaptiveAveragePooling3D as _AdaptiveAveragePooling3D,
    AdaptiveMaxPooling1D as _AdaptiveMaxPooling1D,
    AdaptiveMaxPooling2D as _AdaptiveMaxPooling2D,
    AdaptiveMaxPooling3D as _AdaptiveMaxPooling3D,
    AveragePooling1D as _AveragePooling1D,
    AveragePooling2D as _AveragePooling2D,
    AveragePooling3D as _AveragePooling3D,
    GlobalAveragePooling1D as _GlobalAveragePooling1D,
    GlobalAveragePooling2D as _GlobalAveragePooling2D,
    GlobalAveragePooling3D as _GlobalAveragePooling3D,
    GlobalMaxPooling1D as _GlobalMaxPooling1D,
    GlobalMaxPooling2D as _GlobalMaxPooling2D,
    GlobalMaxPooling3D as _GlobalMaxPooling3D,
    MaxPooling1D as _MaxPooling1D,
    MaxPooling2D as _MaxPooling2D,
    MaxPooling3D as _MaxPooling3D,
)
from torchkeras.layers.preprocessing import (
    CategoryEncoding as _CategoryEncoding,
    CenterCrop as _CenterCrop,
    Discretization as _Discretization,
    Normalization as _Normalization,
    Rescaling as _Rescaling,
    Resizing as _Resizing,
)
from torchkeras.layers.recurrence import Recurrent as _Recurrent
from torchkeras.layers.recurrent import (
    GRU as _GRU,
    LSTM as _LSTM,
    RNN as _RNN,
    CuDNNGRU as _CuDNNGRU,
    CuDNNLSTM as _CuDNNLSTM,
    SimpleRNN as _SimpleRNN,
)
from torchkeras.layers.resize import (
    Cropping1D as _Cropping1D,
    Cropping2D as _Cropping2D,
    Cropping3D as _Cropping3D,
    UpSampling1D as _UpSampling1D,
    UpSampling2D as _UpSampling2D,
    UpSampling3D as _UpSampling3D,
    ZeroPadding1D as _ZeroPadding1D,
    ZeroPadding2D as _ZeroPadding2D,
    ZeroPadding3D as _ZeroPadding3D,
)
from torchkeras.layers.separable import (
    DepthwiseConv1D as _DepthwiseConv1D,
    DepthwiseConv2D as _DepthwiseConv2D,
    SeparableConv1D as _SeparableConv1D,
    SeparableConv2D as _SeparableConv2D,
)
from torchkeras.layers.torch_module import TorchModule as _TorchModule
from torchkeras.layers.transposed import (
    Conv1DTranspose as _Conv1DTranspose,
    Conv2DTranspose as _Conv2DTranspose,
    Conv3DTranspose as _Conv3DTranspose,
)
from torchkeras.layers.wrappers import (
    SpectralNormalization as _SpectralNormalization,
    TimeDistributed as _TimeDistributed,
    Wrapper as _Wrapper,
)

class _OneInput:
    @overload
    def __call__(self, inputs: KerasTensor, *, mask: Any = None, training: bool | None = None) -> KerasTensor: ...
    @overload
    def __call__(self, inputs: Tensor, *, mask: Any = None, training: bool | None = None) -> Tensor: ...

class _SeveralInputs:
    @overload
    def __call__(
        self, inputs: Sequence[KerasTensor], *, mask: Any = None, training: bool | None = None
    ) -> KerasTensor: ...
    @overload
    def __call__(self, inputs: Sequence[Tensor], *, mask: Any = None, training: bool | None = None) -> Tensor: ...

class ELU(_OneInput, _ELU):
    r"""`x` where x > 0, else `alpha * (exp(x) - 1)`."""
    def __init__(
        self,
        alpha: float = 1.0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class LeakyReLU(_OneInput, _LeakyReLU):
    r"""`x` where x >= 0, else `alpha * x`."""
    def __init__(
        self,
        alpha: float = 0.3,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ParametricSoftplus(_OneInput, _ParametricSoftplus):
    r"""`alphas * log(1 + exp(betas * x))`, with learned alphas and betas for each place of a sample."""
    def __init__(
        self,
        alpha_init: float = 0.2,
        beta_init: float = 5.0,
        shared_axes: int | Sequence[int] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class PReLU(_OneInput, _PReLU):
    r"""`x` where x > 0, else `alpha * x`, with a learned alpha for each place of a sample."""
    def __init__(
        self,
        alpha_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        alpha_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        alpha_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        shared_axes: int | Sequence[int] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ReLU(_OneInput, _ReLU):
    r"""`x` above `threshold`, clipped at `max_value`; else `negative_slope * (x - threshold)`."""
    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0.0,
        threshold: float = 0.0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Softmax(_OneInput, _Softmax):
    r"""`exp(x) / sum(exp(x))` along `axis`, one or several together."""
    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SReLU(_OneInput, _SReLU):
    r"""`x` between `t_left` and `t = t_left + abs(t_right)`; `t_left + a_left * (x - t_left)` below; and above it"""
    def __init__(
        self,
        t_left_init: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        a_left_init: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        t_right_init: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        a_right_init: str | Callable[..., Any] | Mapping[str, Any] | None = "ones",
        shared_axes: int | Sequence[int] | None = None,
        capped: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ThresholdedReLU(_OneInput, _ThresholdedReLU):
    r"""`x` where x > `theta`, else 0."""
    def __init__(
        self,
        theta: float = 1.0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AdditiveAttention(_AdditiveAttention, Attention):
    r"""`softmax(sum(scale * tanh(query + key))) @ value`, the sum over the features, each with a `scale` of its own."""
    def __init__(
        self,
        use_scale: bool = True,
        dropout: float = 0.0,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Attention(_Attention):
    r"""`softmax(query @ key.T) @ value`."""
    def __init__(
        self,
        use_scale: bool = False,
        score_mode: Literal["dot", "concat"] = "dot",
        dropout: float = 0.0,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GroupQueryAttention(_GroupQueryAttention):
    r"""MultiHeadAttention whose heads share keys and values: `num_query_heads / num_key_value_heads` heads each."""
    def __init__(
        self,
        head_dim: int,
        num_query_heads: int,
        num_key_value_heads: int,
        dropout: float = 0.0,
        use_bias: bool = True,
        sliding_window: None = None,
        flash_attention: None = None,
        use_gate: Literal[False] = False,
        seed: int | None = None,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class MultiHeadAttention(_MultiHeadAttention):
    r"""`concat(head_1, ..., head_n) @ attention_output`, where a head is `softmax(q @ k.T / sqrt(key_dim)) @ v`."""
    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: int | Sequence[int] | None = None,
        attention_axes: int | Sequence[int] | None = None,
        sliding_window: None = None,
        flash_attention: None = None,
        use_gate: Literal[False] = False,
        seed: int | None = None,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RandomContrast(_OneInput, _RandomContrast):
    r"""In training, `(x - mean) * c + mean` with the mean of each channel and a c for each image, cut to `value_range`."""
    def __init__(
        self,
        factor: float | Sequence[float],
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RandomCrop(_OneInput, _RandomCrop):
    r"""In training, a window cut out of all images of a batch at one random place; else the middle, made to fit."""
    def __init__(
        self,
        height: int,
        width: int,
        seed: int | None = None,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RandomFlip(_OneInput, _RandomFlip):
    r"""In training, each image with a chance of 1/2 mirrored: left to right, top to bottom, or both ways at once."""
    def __init__(
        self,
        mode: Literal["horizontal", "vertical", "horizontal_and_vertical"] = "horizontal_and_vertical",
        seed: int | None = None,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RandomRotation(_OneInput, _RandomRotation):
    r"""In training, each image turned counter-clockwise about its centre, by an angle drawn from the range `factor`."""
    def __init__(
        self,
        factor: float | Sequence[float],
        fill_mode: Literal["reflect", "constant", "nearest"] = "reflect",
        interpolation: Literal["nearest", "bilinear"] = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RandomTranslation(_OneInput, _RandomTranslation):
    r"""In training, each image moved down and right by shares of its height and width (up and left where negative)."""
    def __init__(
        self,
        height_factor: float | Sequence[float],
        width_factor: float | Sequence[float],
        fill_mode: Literal["reflect", "constant", "nearest"] = "reflect",
        interpolation: Literal["nearest", "bilinear"] = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RandomZoom(_OneInput, _RandomZoom):
    r"""In training, each image smaller about its centre (by a factor above 0) or larger (below 0)."""
    def __init__(
        self,
        height_factor: float | Sequence[float],
        width_factor: float | Sequence[float] | None = None,
        fill_mode: Literal["reflect", "constant", "nearest"] = "reflect",
        interpolation: Literal["nearest", "bilinear"] = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Bidirectional(_Bidirectional, Wrapper):
    r"""`merge(layer(x), flip(layer'(flip(x))))`, `layer'` being the same layer with weights of its own."""
    def __init__(
        self,
        layer: Module | Mapping[str, Any],
        merge_mode: Literal["sum", "mul", "ave", "concat", None] = "concat",
        num_constants: int | None = None,
        backward_layer: Module | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GRUCell(_GRUCell):
    r"""One step of `GRU`, for RNN. Shape: (batch, features), h (batch, units) -> the output h', and [h']."""
    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: Literal[0, 1, 2] = 1,
        reset_after: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class LSTMCell(_LSTMCell):
    r"""One step of `LSTM`, for RNN. Shape: (batch, features), h and c (batch, units) -> the output h', and [h', c']."""
    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: Literal[0, 1, 2] = 1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SimpleRNNCell(_SimpleRNNCell):
    r"""One step of `SimpleRNN`, for RNN. Shape: (batch, features), h (batch, units) -> the output h', and [h']."""
    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class StackedRNNCells(_StackedRNNCells):
    r"""`cells` as one cell, each taking the output of the one before."""
    def __init__(
        self,
        cells: Any,
        reverse_state_order: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Conv1D(_OneInput, _Conv1D):
    r"""`activation(convolution(x, kernel) + bias)` over `rank` axes."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int],
        strides: int | list[int] | tuple[int] = 1,
        padding: Literal["valid", "same", "half", "full", "causal"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = "channels_last",
        dilation_rate: int | list[int] | tuple[int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        groups: int = 1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Conv2D(_OneInput, _Conv2D):
    r"""`activation(convolution(x, kernel) + bias)` over `rank` axes."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int],
        strides: int | list[int] | tuple[int, int] = 1,
        padding: Literal["valid", "same", "half", "full"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int, int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        groups: int = 1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Conv3D(_OneInput, _Conv3D):
    r"""`activation(convolution(x, kernel) + bias)` over `rank` axes."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int, int],
        strides: int | list[int] | tuple[int, int, int] = 1,
        padding: Literal["valid", "same", "half", "full"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int, int, int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        groups: int = 1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ConvLSTM(_ConvLSTM, Recurrent):
    r"""`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`."""
    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: Any = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_state: bool = False,
        unroll: bool = False,
        recurrent_padding: Literal["same", "half"] = "same",
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ConvLSTM1D(_ConvLSTM1D, ConvLSTM):
    r"""`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int],
        strides: int | list[int] | tuple[int] = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_state: bool = False,
        unroll: bool = False,
        recurrent_padding: Literal["same", "half"] = "same",
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ConvLSTM2D(_ConvLSTM2D, ConvLSTM):
    r"""`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int],
        strides: int | list[int] | tuple[int, int] = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int, int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_state: bool = False,
        unroll: bool = False,
        recurrent_padding: Literal["same", "half"] = "same",
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ConvLSTM2DCell(_ConvLSTM2DCell):
    r"""One step of ConvLSTM. Shape: (batch, *sizes, channels), h, c (batch, *new sizes, filters) -> h', and [h', c']."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int],
        strides: int | list[int] | tuple[int, int] = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int, int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        recurrent_padding: Literal["same", "half"] = "same",
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ConvLSTM3D(_ConvLSTM3D, ConvLSTM):
    r"""`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int, int],
        strides: int | list[int] | tuple[int, int, int] = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int, int, int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_state: bool = False,
        unroll: bool = False,
        recurrent_padding: Literal["same", "half"] = "same",
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ConvRNN2D(_ConvRNN2D, RNN):
    r"""`output[t], states = cell(x[t], states)` along time, for a cell over images, such as ConvLSTM2DCell."""
    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        num_constants: int | None = None,
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Activation(_OneInput, _Activation):
    r"""`activation(x)`."""
    def __init__(
        self,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ActivityRegularization(_OneInput, _ActivityRegularization):
    r"""`x`; its calls add `l1 * sum(abs(x)) + l2 * sum(x ** 2)` to the loss."""
    def __init__(
        self,
        l1: float = 0.0,
        l2: float = 0.0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Dense(_OneInput, _Dense):
    r"""`activation(x @ kernel + bias)` over the last axis."""
    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Flatten(_OneInput, _Flatten):
    r"""All axes but the batch axis in one; with data_format='channels_first' the channels are moved to the end first."""
    def __init__(
        self,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Identity(_Identity):
    r"""`x`, also of several tensors, nested or not."""
    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Lambda(_Lambda):
    r"""`function(x, **arguments)`, in Keras's order of axes; a `function` with a parameter `mask` is given the mask."""
    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Sequence[int | None] | Callable[..., Any] | None = None,
        mask: Any = None,
        arguments: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Masking(_OneInput, _Masking):
    r"""`x`, with zeros at the time steps where all features are `mask_value`; they are masked from here on."""
    def __init__(
        self,
        mask_value: float = 0.0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Permute(_OneInput, _Permute):
    r"""The axes in another order: `dims` says for each axis which one comes there, the batch axis (0) apart."""
    def __init__(
        self,
        dims: int | Sequence[int],
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RepeatVector(_OneInput, _RepeatVector):
    r"""The input `n` times, along a new axis of time."""
    def __init__(
        self,
        n: int,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Reshape(_OneInput, _Reshape):
    r"""The same values under `target_shape`, the batch axis apart; one -1 stands for the size that is left."""
    def __init__(
        self,
        target_shape: int | Sequence[int],
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class EinsumDense(_OneInput, _EinsumDense):
    r"""`activation(einsum(equation, x, kernel) + bias)`."""
    def __init__(
        self,
        equation: str,
        output_shape: int | Sequence[int | None] | None,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_axes: str | None = None,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Embedding(_OneInput, _Embedding):
    r"""`embeddings[x]`: for each integer from 0 to `input_dim - 1` its vector of `output_dim` values."""
    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "uniform",
        embeddings_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        embeddings_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        mask_zero: bool = False,
        input_length: int | Sequence[int] | None = None,
        dropout: float = 0.0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Cosine(_Cosine, Dot):
    r"""The cosine of two inputs along `axes`: `a.b / max(sqrt(a.a * b.b), epsilon)`, as Keras 1's `merge` has it."""
    def __init__(
        self,
        axes: int | Sequence[int],
        normalize: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Highway(_OneInput, _Highway):
    r"""`gate * activation(x @ kernel + bias) + (1 - gate) * x`, `gate = sigmoid(x @ carry_kernel + carry_bias)`."""
    def __init__(
        self,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class MaxoutDense(_OneInput, _MaxoutDense):
    r"""`max over k of x @ kernel[k] + bias[k]`, the largest of `nb_feature` linear maps."""
    def __init__(
        self,
        units: int,
        nb_feature: int = 4,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class TimeDistributedDense(_TimeDistributedDense, Dense):
    r"""`activation(x @ kernel + bias)` at every time step."""
    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class LocallyConnected1D(_OneInput, _LocallyConnected1D):
    r"""`activation(window @ kernel[place] + bias[place])`: a convolution whose kernel is another one at every place."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int],
        strides: int | list[int] | tuple[int] = 1,
        padding: Literal["valid"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class LocallyConnected2D(_OneInput, _LocallyConnected2D):
    r"""`activation(window @ kernel[place] + bias[place])`: a convolution whose kernel is another one at every place."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int],
        strides: int | list[int] | tuple[int, int] = 1,
        padding: Literal["valid"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class IntegerLookup(_OneInput, _IntegerLookup):
    r"""The index of each integer in the vocabulary (int64), or with `invert` the integer at each index."""
    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Any = None,
        vocabulary_dtype: Literal["int64"] = "int64",
        idf_weights: Literal[None] = None,
        invert: bool = False,
        output_mode: Literal["int", "one_hot", "multi_hot", "count"] = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        oov_method: Literal["floormod"] = "floormod",
        salt: Literal[None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class StringLookup(_StringLookup):
    r"""The index of each string in the vocabulary (int64), or with `invert` the string at each index."""
    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: Literal[0, 1] = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        vocabulary: Any = None,
        idf_weights: Literal[None] = None,
        invert: bool = False,
        output_mode: Literal["int", "one_hot", "multi_hot", "count"] = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        encoding: str = "utf-8",
        oov_method: Literal["floormod"] = "floormod",
        salt: Literal[None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Add(_SeveralInputs, _Add):
    r"""The sum of the inputs."""
    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Average(_SeveralInputs, _Average):
    r"""The sum of the inputs, divided by their number."""
    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Concatenate(_SeveralInputs, _Concatenate):
    r"""The inputs one after the other along `axis` (the batch axis is 0)."""
    def __init__(
        self,
        axis: int = -1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Dot(_SeveralInputs, _Dot):
    r"""The sum of products along one axis of either input, sample by sample."""
    def __init__(
        self,
        axes: int | Sequence[int],
        normalize: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Maximum(_SeveralInputs, _Maximum):
    r"""The largest of the inputs, value by value."""
    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Minimum(_SeveralInputs, _Minimum):
    r"""The smallest of the inputs, value by value."""
    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Multiply(_SeveralInputs, _Multiply):
    r"""The product of the inputs."""
    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Subtract(_SeveralInputs, _Subtract):
    r"""The first input less the second; there must be exactly two."""
    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AlphaDropout(_OneInput, _AlphaDropout):
    r"""In training, `a * x + b`, with -1.758 (the least value of `selu`) for a `rate` of the values of `x`; else `x`."""
    def __init__(
        self,
        rate: float,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Dropout(_OneInput, _Dropout):
    r"""In training, zero for a `rate` of the values and `x / (1 - rate)` for the others; else `x`."""
    def __init__(
        self,
        rate: float,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GaussianDropout(_OneInput, _GaussianDropout):
    r"""In training, `x * noise`, normal around 1 with the standard deviation `sqrt(rate / (1 - rate))`; else `x`."""
    def __init__(
        self,
        rate: float,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GaussianNoise(_OneInput, _GaussianNoise):
    r"""In training, `x + noise`, normally distributed around 0 with the standard deviation `stddev`; else `x`."""
    def __init__(
        self,
        stddev: float,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SpatialDropout1D(_OneInput, _SpatialDropout1D):
    r"""In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the others; else `x`."""
    def __init__(
        self,
        rate: float,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SpatialDropout2D(_OneInput, _SpatialDropout2D):
    r"""In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the others; else `x`."""
    def __init__(
        self,
        rate: float,
        data_format: Literal["channels_last", "channels_first", None] = None,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SpatialDropout3D(_OneInput, _SpatialDropout3D):
    r"""In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the others; else `x`."""
    def __init__(
        self,
        rate: float,
        data_format: Literal["channels_last", "channels_first", None] = None,
        seed: int | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class BatchNormalization(_OneInput, _BatchNormalization):
    r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, with one of each for every index of `axis`."""
    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        gamma_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "ones",
        moving_mean_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        moving_variance_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "ones",
        beta_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        gamma_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        beta_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        gamma_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        synchronized: Literal[False] = False,
        mode: Literal[0, 1, 2] = 0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GroupNormalization(_OneInput, _GroupNormalization):
    r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, mean and variance being those of a group in a sample."""
    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        gamma_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "ones",
        beta_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        gamma_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        beta_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        gamma_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class LayerNormalization(_OneInput, _LayerNormalization):
    r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta` along `axis`, one or several, of each sample by itself."""
    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        gamma_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "ones",
        beta_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        gamma_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        beta_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        gamma_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        rms_scaling: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RMSNormalization(_OneInput, _RMSNormalization):
    r"""`scale * x / sqrt(mean(x ** 2) + epsilon)` along `axis`, one or several, of each sample by itself."""
    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 1e-06,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class UnitNormalization(_OneInput, _UnitNormalization):
    r"""`x / sqrt(sum(x ** 2))` along `axis`, one or several: each sample's length there is 1 (zeros stay)."""
    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AdaptiveAveragePooling1D(_OneInput, _AdaptiveAveragePooling1D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis."""
    def __init__(
        self,
        output_size: int | list[int] | tuple[int],
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AdaptiveAveragePooling2D(_OneInput, _AdaptiveAveragePooling2D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis."""
    def __init__(
        self,
        output_size: int | list[int] | tuple[int, int],
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AdaptiveAveragePooling3D(_OneInput, _AdaptiveAveragePooling3D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis."""
    def __init__(
        self,
        output_size: int | list[int] | tuple[int, int, int],
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AdaptiveMaxPooling1D(_OneInput, _AdaptiveMaxPooling1D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis."""
    def __init__(
        self,
        output_size: int | list[int] | tuple[int],
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AdaptiveMaxPooling2D(_OneInput, _AdaptiveMaxPooling2D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis."""
    def __init__(
        self,
        output_size: int | list[int] | tuple[int, int],
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AdaptiveMaxPooling3D(_OneInput, _AdaptiveMaxPooling3D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis."""
    def __init__(
        self,
        output_size: int | list[int] | tuple[int, int, int],
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AveragePooling1D(_OneInput, _AveragePooling1D):
    r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart."""
    def __init__(
        self,
        pool_size: int | list[int] | tuple[int] = 2,
        strides: int | list[int] | tuple[int] | None = None,
        padding: Literal["valid", "same", "theano"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = "channels_last",
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AveragePooling2D(_OneInput, _AveragePooling2D):
    r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart."""
    def __init__(
        self,
        pool_size: int | list[int] | tuple[int, int] = 2,
        strides: int | list[int] | tuple[int, int] | None = None,
        padding: Literal["valid", "same", "theano"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class AveragePooling3D(_OneInput, _AveragePooling3D):
    r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart."""
    def __init__(
        self,
        pool_size: int | list[int] | tuple[int, int, int] = 2,
        strides: int | list[int] | tuple[int, int, int] | None = None,
        padding: Literal["valid", "same", "theano"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GlobalAveragePooling1D(_OneInput, _GlobalAveragePooling1D):
    r"""The mean over all time steps, or with a mask over those that count; `keepdims` keeps their axis with the size 1."""
    def __init__(
        self,
        data_format: Literal["channels_last", "channels_first", None] = "channels_last",
        keepdims: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GlobalAveragePooling2D(_OneInput, _GlobalAveragePooling2D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1."""
    def __init__(
        self,
        data_format: Literal["channels_last", "channels_first", None] = None,
        keepdims: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GlobalAveragePooling3D(_OneInput, _GlobalAveragePooling3D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1."""
    def __init__(
        self,
        data_format: Literal["channels_last", "channels_first", None] = None,
        keepdims: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GlobalMaxPooling1D(_OneInput, _GlobalMaxPooling1D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1."""
    def __init__(
        self,
        data_format: Literal["channels_last", "channels_first", None] = "channels_last",
        keepdims: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GlobalMaxPooling2D(_OneInput, _GlobalMaxPooling2D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1."""
    def __init__(
        self,
        data_format: Literal["channels_last", "channels_first", None] = None,
        keepdims: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GlobalMaxPooling3D(_OneInput, _GlobalMaxPooling3D):
    r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1."""
    def __init__(
        self,
        data_format: Literal["channels_last", "channels_first", None] = None,
        keepdims: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class MaxPooling1D(_OneInput, _MaxPooling1D):
    r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart."""
    def __init__(
        self,
        pool_size: int | list[int] | tuple[int] = 2,
        strides: int | list[int] | tuple[int] | None = None,
        padding: Literal["valid", "same", "theano"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = "channels_last",
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class MaxPooling2D(_OneInput, _MaxPooling2D):
    r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart."""
    def __init__(
        self,
        pool_size: int | list[int] | tuple[int, int] = 2,
        strides: int | list[int] | tuple[int, int] | None = None,
        padding: Literal["valid", "same", "theano"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class MaxPooling3D(_OneInput, _MaxPooling3D):
    r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart."""
    def __init__(
        self,
        pool_size: int | list[int] | tuple[int, int, int] = 2,
        strides: int | list[int] | tuple[int, int, int] | None = None,
        padding: Literal["valid", "same", "theano"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class CategoryEncoding(_OneInput, _CategoryEncoding):
    r"""Integers from 0 up to, not including, `num_tokens` as vectors; a negative one counts for nothing."""
    def __init__(
        self,
        num_tokens: int | None = None,
        output_mode: Literal["multi_hot", "one_hot", "count"] = "multi_hot",
        sparse: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class CenterCrop(_OneInput, _CenterCrop):
    r"""The middle of images; of smaller ones the largest window of the same aspect ratio, stretched."""
    def __init__(
        self,
        height: int,
        width: int,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Discretization(_OneInput, _Discretization):
    r"""The index of the bin that x lies in: how many of `bin_boundaries` are not above x."""
    def __init__(
        self,
        bin_boundaries: Any = None,
        num_bins: int | None = None,
        epsilon: float = 0.01,
        output_mode: Literal["int", "one_hot", "multi_hot", "count"] = "int",
        sparse: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Normalization(_OneInput, _Normalization):
    r"""`(x - mean) / sqrt(variance)`, or with `invert` `mean + x * sqrt(variance)`."""
    def __init__(
        self,
        axis: int | Sequence[int] | None = -1,
        mean: Any = None,
        variance: Any = None,
        invert: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Rescaling(_OneInput, _Rescaling):
    r"""`x * scale + offset`, of two numbers."""
    def __init__(
        self,
        scale: float,
        offset: float = 0.0,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Resizing(_OneInput, _Resizing):
    r"""Images stretched to `height` and `width`; integers are rounded."""
    def __init__(
        self,
        height: int,
        width: int,
        interpolation: Literal["bilinear", "nearest", "bicubic"] = "bilinear",
        crop_to_aspect_ratio: bool = False,
        pad_to_aspect_ratio: Literal[False] = False,
        fill_mode: Literal["constant"] = "constant",
        fill_value: float = 0.0,
        antialias: bool = False,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Recurrent(_Recurrent):
    r"""A layer that walks along time, a step giving an output and the next states."""
    def __init__(
        self,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class GRU(_GRU, Recurrent):
    r"""`h' = z * h + (1 - z) * activation(x_n + (r * h) @ recurrent_kernel_n)`, z and r by `recurrent_activation`."""
    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: Literal[0, 1, 2] = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        reset_after: bool = False,
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class LSTM(_LSTM, Recurrent):
    r"""`c' = f * c + i * g; h' = o * activation(c')`, gates i, f, o by `recurrent_activation`, g by `activation`."""
    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        recurrent_activation: str | Callable[..., Any] | Mapping[str, Any] | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: Literal[0, 1, 2] = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class RNN(_RNN, Recurrent):
    r"""`output[t], states = cell(x[t], states)` along time: for any cell, or a list of cells, each on the one before."""
    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        num_constants: int | None = None,
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class CuDNNGRU(_CuDNNGRU, Recurrent):
    r"""GRU with `reset_after`, sigmoid gates and tanh, always by the kernel of `nn.GRU`, on any device."""
    def __init__(
        self,
        units: int,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        stateful: bool = False,
        go_backwards: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class CuDNNLSTM(_CuDNNLSTM, Recurrent):
    r"""LSTM with sigmoid gates and tanh, always by the kernel of `nn.LSTM`, on any device."""
    def __init__(
        self,
        units: int,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        stateful: bool = False,
        go_backwards: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SimpleRNN(_SimpleRNN, Recurrent):
    r"""`h' = activation(x @ kernel + h @ recurrent_kernel + bias)`; the output is h'."""
    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = "tanh",
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        recurrent_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "orthogonal",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        recurrent_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        implementation: Literal[0, 1, 2] = 1,
        zero_output_for_mask: Literal[None, False, True] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Cropping1D(_OneInput, _Cropping1D):
    r"""The input without what lies at the ends of each spatial axis."""
    def __init__(
        self,
        cropping: int | Sequence[int | Sequence[int]] = 1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Cropping2D(_OneInput, _Cropping2D):
    r"""The input without what lies at the ends of each spatial axis."""
    def __init__(
        self,
        cropping: int | Sequence[int | Sequence[int]] = 0,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Cropping3D(_OneInput, _Cropping3D):
    r"""The input without what lies at the ends of each spatial axis."""
    def __init__(
        self,
        cropping: int | Sequence[int | Sequence[int]] = 1,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class UpSampling1D(_OneInput, _UpSampling1D):
    r"""The input with each value repeated `size` times along each spatial axis."""
    def __init__(
        self,
        size: int | list[int] | tuple[int] = 2,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class UpSampling2D(_OneInput, _UpSampling2D):
    r"""The images with each value repeated `size` times along height and width, or with values between."""
    def __init__(
        self,
        size: int | list[int] | tuple[int, int] = 2,
        data_format: Literal["channels_last", "channels_first", None] = None,
        interpolation: Literal["nearest", "bilinear"] = "nearest",
        half_pixel: bool = False,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class UpSampling3D(_OneInput, _UpSampling3D):
    r"""The input with each value repeated `size` times along each spatial axis."""
    def __init__(
        self,
        size: int | list[int] | tuple[int, int, int] = 2,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ZeroPadding1D(_OneInput, _ZeroPadding1D):
    r"""The input with zeros before and after each spatial axis."""
    def __init__(
        self,
        padding: int | Sequence[int | Sequence[int]] = 1,
        data_format: Literal["channels_last", "channels_first", None] = "channels_last",
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ZeroPadding2D(_OneInput, _ZeroPadding2D):
    r"""The input with zeros before and after each spatial axis."""
    def __init__(
        self,
        padding: int | Sequence[int | Sequence[int]] = 1,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class ZeroPadding3D(_OneInput, _ZeroPadding3D):
    r"""The input with zeros before and after each spatial axis."""
    def __init__(
        self,
        padding: int | Sequence[int | Sequence[int]] = 1,
        data_format: Literal["channels_last", "channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class DepthwiseConv1D(_OneInput, _DepthwiseConv1D):
    r"""`activation(convolution(x, kernel) + bias)` of each channel by itself, with `depth_multiplier` kernels for each."""
    def __init__(
        self,
        kernel_size: int | list[int] | tuple[int],
        strides: int | list[int] | tuple[int] = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        depth_multiplier: int = 1,
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        depthwise_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        depthwise_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        depthwise_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class DepthwiseConv2D(_OneInput, _DepthwiseConv2D):
    r"""`activation(convolution(x, kernel) + bias)` of each channel by itself, with `depth_multiplier` kernels for each."""
    def __init__(
        self,
        kernel_size: int | list[int] | tuple[int, int],
        strides: int | list[int] | tuple[int, int] = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        depth_multiplier: int = 1,
        data_format: Literal["channels_last", "channels_first", None] = None,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        depthwise_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        depthwise_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        depthwise_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dilation_rate: int | list[int] | tuple[int, int] = 1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SeparableConv1D(_OneInput, _SeparableConv1D):
    r"""`activation(depthwise(x) @ pointwise_kernel + bias)`: each channel by itself, then a mixture of the channels."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int],
        strides: int | list[int] | tuple[int] = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = "channels_last",
        dilation_rate: int | list[int] | tuple[int] = 1,
        depth_multiplier: int = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        depthwise_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        pointwise_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        depthwise_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        pointwise_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        depthwise_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        pointwise_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SeparableConv2D(_OneInput, _SeparableConv2D):
    r"""`activation(depthwise(x) @ pointwise_kernel + bias)`: each channel by itself, then a mixture of the channels."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int],
        strides: int | list[int] | tuple[int, int] = 1,
        padding: Literal["valid", "same", "half"] = "valid",
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int, int] = 1,
        depth_multiplier: int = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        depthwise_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        pointwise_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        depthwise_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        pointwise_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        depthwise_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        pointwise_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class TorchModule(_TorchModule):
    r"""`module(*inputs)`, the module being part of the layer: its parameters and buffers are the layer's weights."""
    def __init__(
        self,
        module: Module,
        data_format: Literal["channels_first", None] = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Conv1DTranspose(_OneInput, _Conv1DTranspose):
    r"""`activation(y + bias)` where a convolution of `y` by the kernel turned around has the size of the input."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int],
        strides: int | list[int] | tuple[int] = 1,
        padding: Literal["valid", "same", "half", "full"] = "valid",
        output_padding: int | list[int] | tuple[int] | None = None,
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        target_shape: Sequence[int | None] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Conv2DTranspose(_OneInput, _Conv2DTranspose):
    r"""`activation(y + bias)` where a convolution of `y` by the kernel turned around has the size of the input."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int],
        strides: int | list[int] | tuple[int, int] = 1,
        padding: Literal["valid", "same", "half", "full"] = "valid",
        output_padding: int | list[int] | tuple[int, int] | None = None,
        data_format: Literal["channels_last", "channels_first", None] = None,
        dilation_rate: int | list[int] | tuple[int, int] = 1,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        target_shape: Sequence[int | None] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Conv3DTranspose(_OneInput, _Conv3DTranspose):
    r"""`activation(y + bias)` where a convolution of `y` by the kernel turned around has the size of the input."""
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int, int, int],
        strides: int | list[int] | tuple[int, int, int] = 1,
        padding: Literal["valid", "same", "half", "full"] = "valid",
        output_padding: int | list[int] | tuple[int, int, int] | None = None,
        data_format: Literal["channels_last", "channels_first", None] = None,
        activation: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "glorot_uniform",
        bias_initializer: str | Callable[..., Any] | Mapping[str, Any] | None = "zeros",
        kernel_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        activity_regularizer: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        kernel_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        bias_constraint: str | Callable[..., Any] | Mapping[str, Any] | None = None,
        dilation_rate: int | list[int] | tuple[int, int, int] = 1,
        target_shape: Sequence[int | None] | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class SpectralNormalization(_OneInput, _SpectralNormalization, Wrapper):
    r"""`layer`, whose kernel (or embeddings) W each call in training first divides by its largest singular value."""
    def __init__(
        self,
        layer: Module | Mapping[str, Any],
        power_iterations: int = 1,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class TimeDistributed(_OneInput, _TimeDistributed, Wrapper):
    r"""`layer` at every time step: the steps are folded into the batch, so that it is called once."""
    def __init__(
        self,
        layer: Module | Mapping[str, Any],
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

class Wrapper(_Wrapper):
    r"""A layer that computes by another one, `layer`, whose weights are its weights."""
    def __init__(
        self,
        layer: Module | Mapping[str, Any],
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: str | torch.dtype | DTypePolicy | None = None,
        input_shape: Sequence[int | None] | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        input_dim: int | None = None,
        input_length: int | None = None,
        weights: Sequence[Any] | None = None,
    ) -> None: ...

AvgPool1D = AveragePooling1D
AvgPool2D = AveragePooling2D
AvgPool3D = AveragePooling3D
GlobalAvgPool1D = GlobalAveragePooling1D
GlobalAvgPool2D = GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D
GlobalMaxPool1D = GlobalMaxPooling1D
GlobalMaxPool2D = GlobalMaxPooling2D
GlobalMaxPool3D = GlobalMaxPooling3D
MaxPool1D = MaxPooling1D
MaxPool2D = MaxPooling2D
MaxPool3D = MaxPooling3D
AtrousConv1D = Conv1D
AtrousConvolution1D = Conv1D
Convolution1D = Conv1D
AtrousConv2D = Conv2D
AtrousConvolution2D = Conv2D
Convolution2D = Conv2D
Convolution3D = Conv3D
Convolution2DTranspose = Conv2DTranspose
Deconv2D = Conv2DTranspose
Deconvolution2D = Conv2DTranspose
Deconv3D = Conv3DTranspose
Deconvolution3D = Conv3DTranspose
SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D
ConvRecurrent2D = ConvLSTM

def serialize(layer: Layer) -> dict[str, object]:
    r"""`{"class_name": ..., "config": ...}` of a layer."""

def deserialize(config: dict[str, object], custom_objects: dict[str, object] | None = None) -> Layer:
    r"""The layer of such a config. Raises ValueError for an unknown class, and as the class does for bad options."""

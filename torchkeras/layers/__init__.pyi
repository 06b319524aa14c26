# Made by scripts/write_stubs.py from the declarations in the source; a test holds it to them.
# mypy: disable-error-code="misc, override"

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

import torch
from torch import Tensor
from torch.nn import Module

from torchkeras.base.dtype_policy import DTypePolicy
from torchkeras.engine.functions.operators import Operation as Operation
from torchkeras.engine.graph.input import Input as Input, InputLayer as InputLayer
from torchkeras.engine.layer.layer import Layer as Layer
from torchkeras.engine.shapes.input_spec import InputSpec as InputSpec
from torchkeras.engine.symbolic.tensor import KerasTensor
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
from torchkeras.layers.adaptive_pooling import (
    AdaptiveAveragePooling1D as _AdaptiveAveragePooling1D,
    AdaptiveAveragePooling2D as _AdaptiveAveragePooling2D,
    AdaptiveAveragePooling3D as _AdaptiveAveragePooling3D,
    AdaptiveMaxPooling1D as _AdaptiveMaxPooling1D,
    AdaptiveMaxPooling2D as _AdaptiveMaxPooling2D,
    AdaptiveMaxPooling3D as _AdaptiveMaxPooling3D,
)
from torchkeras.layers.attention import AdditiveAttention as _AdditiveAttention, Attention as _Attention
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
    Identity as _Identity,
    Masking as _Masking,
)
from torchkeras.layers.einsum import EinsumDense as _EinsumDense
from torchkeras.layers.embedding import Embedding as _Embedding
from torchkeras.layers.functions import Lambda as _Lambda
from torchkeras.layers.global_pooling import (
    GlobalAveragePooling1D as _GlobalAveragePooling1D,
    GlobalAveragePooling2D as _GlobalAveragePooling2D,
    GlobalAveragePooling3D as _GlobalAveragePooling3D,
    GlobalMaxPooling1D as _GlobalMaxPooling1D,
    GlobalMaxPooling2D as _GlobalMaxPooling2D,
    GlobalMaxPooling3D as _GlobalMaxPooling3D,
)
from torchkeras.layers.image_preprocessing import (
    CenterCrop as _CenterCrop,
    Rescaling as _Rescaling,
    Resizing as _Resizing,
)
from torchkeras.layers.keras1 import (
    Cosine as _Cosine,
    Highway as _Highway,
    MaxoutDense as _MaxoutDense,
    Merge as Merge,
    TimeDistributedDense as _TimeDistributedDense,
    merge as merge,
)
from torchkeras.layers.layer_normalization import (
    LayerNormalization as _LayerNormalization,
    RMSNormalization as _RMSNormalization,
    UnitNormalization as _UnitNormalization,
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
from torchkeras.layers.multi_head_attention import (
    GroupQueryAttention as _GroupQueryAttention,
    MultiHeadAttention as _MultiHeadAttention,
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
)
from torchkeras.layers.pooling import (
    AveragePooling1D as _AveragePooling1D,
    AveragePooling2D as _AveragePooling2D,
    AveragePooling3D as _AveragePooling3D,
    MaxPooling1D as _MaxPooling1D,
    MaxPooling2D as _MaxPooling2D,
    MaxPooling3D as _MaxPooling3D,
)
from torchkeras.layers.preprocessing import (
    CategoryEncoding as _CategoryEncoding,
    Discretization as _Discretization,
    Normalization as _Normalization,
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
from torchkeras.layers.shaping import (
    Flatten as _Flatten,
    Permute as _Permute,
    RepeatVector as _RepeatVector,
    Reshape as _Reshape,
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
    ) -> None:
        r"""`x` where x > 0, else `alpha * (exp(x) - 1)`.

        Options:
            alpha (float, default 1.0): the factor below 0.

        Shapes:
            any -> the same

        Example:
            >>> ELU()(torch.tensor([[-1.0, 2.0]]))
            tensor([[-0.6321,  2.0000]])

        Source: https://arxiv.org/abs/1511.07289
        """

class LeakyReLU(_OneInput, _LeakyReLU):
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
    ) -> None:
        r"""`x` where x >= 0, else `alpha * x`.

        Options:
            alpha (float, default 0.3): the slope below 0.

        Shapes:
            any -> the same

        Example:
            >>> LeakyReLU(0.5)(torch.tensor([[-4.0, 2.0]]))
            tensor([[-2.,  2.]])

        Source: https://ai.stanford.edu/~amaas/papers/relu_hybrid_icml2013_final.pdf
        """

class ParametricSoftplus(_OneInput, _ParametricSoftplus):
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
    ) -> None:
        r"""`alphas * log(1 + exp(betas * x))`, with learned alphas and betas for each place of a sample.

        A layer of Keras 1.

        Options:
            alpha_init (float, default 0.2): the first value of all alphas.
            beta_init (float, default 5.0): the first value of all betas.
            shared_axes (integer, tuple of integers or None, default None): the axes along which the weights are shared;
                axis 1 is the first after the batch axis. For images with the channels last, (1, 2) leaves one weight a
                channel.

        Shapes:
            any of at least two axes, whose sizes are known where they are not shared -> the same

        Example:
            >>> ParametricSoftplus()(torch.zeros(1, 2))
            tensor([[0.1386, 0.1386]], grad_fn=<MulBackward0>)

        Source: https://doi.org/10.1371/journal.pcbi.1003143
        """

class PReLU(_OneInput, _PReLU):
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
    ) -> None:
        r"""`x` where x > 0, else `alpha * x`, with a learned alpha for each place of a sample.

        Options:
            alpha_initializer (name or Initializer, default "zeros"): the first values of alpha.
            alpha_regularizer (name, Regularizer or None, default None): a penalty on alpha, added to the loss.
            alpha_constraint (name, Constraint or None, default None): applied to alpha after each update.
            shared_axes (integer, tuple of integers or None, default None): the axes along which the weights are shared;
                axis 1 is the first after the batch axis. For images with the channels last, (1, 2) leaves one weight a
                channel.

        Shapes:
            any of at least two axes, whose sizes are known where they are not shared -> the same

        Example:
            >>> PReLU("ones", shared_axes=[1])(torch.tensor([[-2.0, 3.0]])).tolist()
            [[-2.0, 3.0]]

        Source: https://arxiv.org/abs/1502.01852
        """

class ReLU(_OneInput, _ReLU):
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
    ) -> None:
        r"""`x` above `threshold`, clipped at `max_value`; else `negative_slope * (x - threshold)`.

        Options:
            max_value (float of at least 0 or None, default None): the largest output; None sets no limit.
            negative_slope (float of at least 0, default 0.0): the slope below the threshold.
            threshold (float, default 0.0): values above it pass.

        Shapes:
            any -> the same

        Example:
            >>> ReLU(max_value=6)(torch.tensor([[-1.0, 2.0, 8.0]]))
            tensor([[0., 2., 6.]])
        """

class Softmax(_OneInput, _Softmax):
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
    ) -> None:
        r"""`exp(x) / sum(exp(x))` along an axis.

        Options:
            axis (integer or list of integers, default -1): the axis that is summed over; several are summed together. The
                batch axis is 0.

        Shapes:
            any of at least two axes -> the same

        Errors:
            ValueError: at the first call, when the input has no such axis.

        Example:
            >>> Softmax()(torch.zeros(1, 2))
            tensor([[0.5000, 0.5000]])
        """

class SReLU(_OneInput, _SReLU):
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
    ) -> None:
        r"""`x` from `t_left` to `t`, `t_left + a_left * (x - t_left)` below, and `t + a_right * (x - t)` above.

        `t` is `t_left + abs(t_right)`. The four weights are learned for each place of a sample. A layer of Keras 1.

        Options:
            t_left_init (name or Initializer, default "zeros"): the first values of `t_left`.
            a_left_init (name or Initializer, default "glorot_uniform"): the first values of `a_left`.
            t_right_init (name or Initializer, default "glorot_uniform"): the first values of `t_right`.
            a_right_init (name or Initializer, default "ones"): the first values of `a_right`.
            shared_axes (integer, tuple of integers or None, default None): the axes along which the weights are shared;
                axis 1 is the first after the batch axis. For images with the channels last, (1, 2) leaves one weight a
                channel.
            capped (bool, default False): whether outputs for x below `t_left` are at most `t`, as on Theano; it matters
                where `a_left` is negative.

        Shapes:
            any of at least two axes, whose sizes are known where they are not shared -> the same

        Example:
            >>> SReLU(t_right_init="ones", a_left_init="zeros")(torch.tensor([[-2.0, 0.5, 3.0]])).tolist()
            [[0.0, 0.5, 3.0]]

        Source: https://arxiv.org/abs/1512.07030
        """

class ThresholdedReLU(_OneInput, _ThresholdedReLU):
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
    ) -> None:
        r"""`x` where x > `theta`, else 0.

        Options:
            theta (float, default 1.0): the threshold.

        Shapes:
            any -> the same

        Example:
            >>> ThresholdedReLU()(torch.tensor([[0.5, 2.0]]))
            tensor([[0., 2.]])

        Source: https://arxiv.org/abs/1402.3337
        """

class AdaptiveAveragePooling1D(_OneInput, _AdaptiveAveragePooling1D):
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
    ) -> None:
        r"""The mean of each of `output_size` equal parts of sequences, channel by channel.

        Options:
            output_size (positive integer or tuple of them): the number of parts along all spatial axes, or along each;
                where it does not divide a size, neighbouring parts share a value.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, steps, channels) -> (batch, output_size, channels)

        Example:
            >>> AdaptiveAveragePooling1D(2)(torch.tensor([[[1.0], [3.0], [2.0], [0.0]]])).tolist()
            [[[2.0], [1.0]]]
        """

class AdaptiveAveragePooling2D(_OneInput, _AdaptiveAveragePooling2D):
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
    ) -> None:
        r"""The mean of each cell of a grid of `output_size` laid over images, channel by channel.

        Options:
            output_size (positive integer or tuple of them): the number of parts along all spatial axes, or along each;
                where it does not divide a size, neighbouring parts share a value.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> (batch, *output_size, channels)

        Example:
            >>> AdaptiveAveragePooling2D((2, 3))(torch.zeros(1, 5, 7, 3)).shape
            torch.Size([1, 2, 3, 3])
        """

class AdaptiveAveragePooling3D(_OneInput, _AdaptiveAveragePooling3D):
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
    ) -> None:
        r"""The mean of each cell of a grid of `output_size` laid over volumes, channel by channel.

        Options:
            output_size (positive integer or tuple of them): the number of parts along all spatial axes, or along each;
                where it does not divide a size, neighbouring parts share a value.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, *output_size, channels)

        Example:
            >>> AdaptiveAveragePooling3D(2)(torch.zeros(1, 4, 5, 6, 3)).shape
            torch.Size([1, 2, 2, 2, 3])
        """

class AdaptiveMaxPooling1D(_OneInput, _AdaptiveMaxPooling1D):
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
    ) -> None:
        r"""The maximum of each of `output_size` equal parts of sequences, channel by channel.

        Options:
            output_size (positive integer or tuple of them): the number of parts along all spatial axes, or along each;
                where it does not divide a size, neighbouring parts share a value.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, steps, channels) -> (batch, output_size, channels)

        Example:
            >>> AdaptiveMaxPooling1D(2)(torch.tensor([[[1.0], [3.0], [2.0], [0.0]]])).tolist()
            [[[3.0], [2.0]]]
        """

class AdaptiveMaxPooling2D(_OneInput, _AdaptiveMaxPooling2D):
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
    ) -> None:
        r"""The maximum of each cell of a grid of `output_size` laid over images, channel by channel.

        Options:
            output_size (positive integer or tuple of them): the number of parts along all spatial axes, or along each;
                where it does not divide a size, neighbouring parts share a value.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> (batch, *output_size, channels)

        Example:
            >>> AdaptiveMaxPooling2D((2, 3))(torch.zeros(1, 5, 7, 3)).shape
            torch.Size([1, 2, 3, 3])
        """

class AdaptiveMaxPooling3D(_OneInput, _AdaptiveMaxPooling3D):
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
    ) -> None:
        r"""The maximum of each cell of a grid of `output_size` laid over volumes, channel by channel.

        Options:
            output_size (positive integer or tuple of them): the number of parts along all spatial axes, or along each;
                where it does not divide a size, neighbouring parts share a value.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, *output_size, channels)

        Example:
            >>> AdaptiveMaxPooling3D(2)(torch.zeros(1, 4, 5, 6, 3)).shape
            torch.Size([1, 2, 2, 2, 3])
        """

class AdditiveAttention(_AdditiveAttention, Attention):
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
    ) -> None:
        r"""`softmax(sum(scale * tanh(query + key))) @ value`, with the sum over the features.

        The call and its arguments are those of `Attention`.

        Options:
            use_scale (bool, default True): whether there is a weight `scale`, a number for each feature; else it is 1.
            dropout (float from 0 to below 1, default 0.0): the share of the softmax's values that are dropped in training.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values)
            the scores: (batch, queries, keys)

        Example:
            >>> AdditiveAttention()([torch.zeros(2, 3, 4), torch.zeros(2, 5, 4)]).shape
            torch.Size([2, 3, 4])

        Source: https://arxiv.org/abs/1409.0473
        """

class Attention(_Attention):
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
    ) -> None:
        r"""`softmax(query @ key.T) @ value`.

        A call takes `[query, value]` or `[query, value, key]`; without a key the value is the key too. Its arguments are:
        `mask=[query_mask, value_mask]`, True at positions that count (the value's hides positions from attention, the
        query's sets outputs to zero); `use_causal_mask=True`, with which no position attends to a later one; and
        `return_attention_scores=True`, with which the softmax is a second output.

        Options:
            use_scale (bool, default False): whether the scores are multiplied by a weight, `scale`.
            score_mode ("dot" or "concat", default "dot"): "concat" makes the scores
                `concat_score_weight * sum(tanh(scale * (query + key)))`.
            dropout (float from 0 to below 1, default 0.0): the share of the softmax's values that are dropped in training.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values)
            the scores: (batch, queries, keys)

        Example:
            >>> query, value = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4)
            >>> output, scores = Attention()([query, value], return_attention_scores=True)
            >>> output.shape, scores.shape
            (torch.Size([2, 3, 4]), torch.Size([2, 3, 5]))

        Source: https://arxiv.org/abs/1508.04025
        """

class RandomContrast(_OneInput, _RandomContrast):
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
    ) -> None:
        r"""In training, `(x - mean) * c + mean`, by the mean of each channel and a random c for each image; else `x`.

        Options:
            factor (float from 0 to 1, or two): c is drawn from `1 - factor[0]` to `1 + factor[1]`; one number is
                (0, factor).
            value_range (two floats, the lower first, default (0, 255)): what the results are cut to.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> the same, or with the channels first by `data_format`

        Example:
            >>> RandomContrast(0.5)(torch.full((1, 2, 2, 1), 7.0), training=True).unique()
            tensor([7.])

        Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_contrast/
        """

class RandomCrop(_OneInput, _RandomCrop):
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
    ) -> None:
        r"""In training, a window at one random place of all images of a batch; else their middle, resized to the window.

        The middle is the largest part that has the window's aspect ratio. It is taken in training too where the images are
        no longer than the window along one axis. (Keras 3.15 documents this, but cuts smaller images elsewhere in training,
        and not at all outside of it.)

        Options:
            height (positive integer): the height of the window.
            width (positive integer): the width of the window.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, rows, columns, channels) -> (batch, height, width, channels), or with the channels first by
                `data_format`

        Example:
            >>> RandomCrop(4, 5)(torch.zeros(2, 8, 8, 3), training=True).shape
            torch.Size([2, 4, 5, 3])

        Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_crop/
        """

class RandomFlip(_OneInput, _RandomFlip):
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
    ) -> None:
        r"""Images that are mirrored in training, each with a probability of 1/2.

        Options:
            mode ("horizontal", "vertical" or "horizontal_and_vertical", default "horizontal_and_vertical"): "horizontal"
                mirrors left to right, "vertical" top to bottom, the third both ways at once.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> the same, or with the channels first by `data_format`

        Example:
            >>> images = torch.tensor([1.0, 2.0]).view(1, 1, 2, 1)
            >>> RandomFlip("horizontal")(images, training=False).flatten()
            tensor([1., 2.])

        Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_flip/
        """

class RandomRotation(_OneInput, _RandomRotation):
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
    ) -> None:
        r"""Images that are turned in training, each by a random angle, counter-clockwise about its centre.

        Options:
            factor (float from -1 to 1, or two): the range of the angle, in whole turns; one number is (-factor, factor).
            fill_mode ("reflect", "nearest" or "constant", default "reflect"): what lies beyond the edge: "reflect"
                (d c b a | a b c d | d c b a), "nearest" (a a a a | a b c d | d d d d), or "constant", the `fill_value`.
            interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
            fill_value (float, default 0.0): the value beyond the edge with fill_mode="constant".
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> the same, or with the channels first by `data_format`

        Example:
            >>> RandomRotation(0.1)(torch.zeros(2, 8, 8, 3), training=True).shape
            torch.Size([2, 8, 8, 3])

        Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_rotation/
        """

class RandomTranslation(_OneInput, _RandomTranslation):
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
    ) -> None:
        r"""Images that are moved in training, each by random shares of its height and width.

        Options:
            height_factor (float from -1 to 1, or two): the range of the share of the height, down where above 0; one number
                is (-height_factor, height_factor).
            width_factor (float from -1 to 1, or two): the same for the width, to the right where above 0.
            fill_mode ("reflect", "nearest" or "constant", default "reflect"): what lies beyond the edge: "reflect"
                (d c b a | a b c d | d c b a), "nearest" (a a a a | a b c d | d d d d), or "constant", the `fill_value`.
            interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
            fill_value (float, default 0.0): the value beyond the edge with fill_mode="constant".
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> the same, or with the channels first by `data_format`

        Example:
            >>> RandomTranslation(0.1, 0.2)(torch.zeros(2, 8, 8, 3), training=True).shape
            torch.Size([2, 8, 8, 3])

        Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_translation/
        """

class RandomZoom(_OneInput, _RandomZoom):
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
    ) -> None:
        r"""Images that are shrunk or enlarged in training, each by random factors, about its centre.

        Options:
            height_factor (float above -1 up to 1, or two): the range of the share by which more of the height is seen:
                above 0 the image shrinks, below 0 it grows; one number is (-height_factor, height_factor).
            width_factor (float above -1 up to 1, two or None, default None): the same for the width; None takes the number
                drawn for the height.
            fill_mode ("reflect", "nearest" or "constant", default "reflect"): what lies beyond the edge: "reflect"
                (d c b a | a b c d | d c b a), "nearest" (a a a a | a b c d | d d d d), or "constant", the `fill_value`.
            interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
            fill_value (float, default 0.0): the value beyond the edge with fill_mode="constant".
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> the same, or with the channels first by `data_format`

        Example:
            >>> RandomZoom(0.2)(torch.zeros(2, 8, 8, 3), training=True).shape
            torch.Size([2, 8, 8, 3])

        Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_zoom/
        """

class Bidirectional(_Bidirectional, Wrapper):
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
    ) -> None:
        r"""`merge(layer(x), flip(layer'(flip(x))))`, where `layer'` is the same layer with weights of its own.

        The two that compute are copies of `layer`: `forward_layer` and `backward_layer`. Weights, initial states and final
        states are those of the forward layer, then those of the backward one. Where torch's kernel can compute both
        directions, it does so in one call: see `path`.

        Options:
            layer (recurrent layer): one that was not called yet.
            merge_mode ("concat", "sum", "mul", "ave" or None, default "concat"): how the outputs of the two directions
                become one: "concat" joins them along the last axis, "ave" is their mean, None returns both.
            num_constants (positive integer or None, default None): how many constants end the list of inputs. A call with
                `constants` sets it; configs of such layers have it.
            backward_layer (recurrent layer or None, default None): the layer of the way back, where its options are others.
                Its `go_backwards` must be the opposite of the layer's. None takes `layer` for both.

        Shapes:
            (batch, time, ...) -> that of `layer`, with the last axis twice as long for "concat"
            with the layer's `return_state` a list: the output, and each state

        Errors:
            ValueError: a layer that is not recurrent, or was called already; a `backward_layer` that does not fit; initial
                states for one direction only.

        Example:
            >>> Bidirectional(LSTM(4))(torch.zeros(2, 5, 3)).shape
            torch.Size([2, 8])
            >>> Bidirectional(GRU(4), merge_mode="sum")(torch.zeros(2, 5, 3)).shape
            torch.Size([2, 4])

        Source: https://doi.org/10.1109/78.650093
        """

class GRUCell(_GRUCell):
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
    ) -> None:
        r"""One step of `GRU`: `h' = z * h + (1 - z) * candidate`.

        Options:
            units (positive integer): the size of the output, and of each state.
            activation (name, function or None, default "tanh"): applied to the candidate, and in LSTM to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            implementation (1 or 2, default 1): 1 draws dropout for each gate, 2 once for all gates. 0 is an old name of 1.
            reset_after (bool, default False): whether the reset gate multiplies the product of the state and the recurrent
                kernel, not the state itself. The bias then has two rows.

        Shapes:
            (batch, features), [h (batch, units)] -> h', [h']

        Example:
            >>> output, states = GRUCell(4)(torch.zeros(2, 3), [torch.zeros(2, 4)])
            >>> output.shape, len(states)
            (torch.Size([2, 4]), 1)
        """

class LSTMCell(_LSTMCell):
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
    ) -> None:
        r"""One step of `LSTM`: `c' = f * c + i * g; h' = o * activation(c')`.

        Options:
            units (positive integer): the size of the output, and of each state.
            activation (name, function or None, default "tanh"): applied to the candidate, and in LSTM to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            implementation (1 or 2, default 1): 1 draws dropout for each gate, 2 once for all gates. 0 is an old name of 1.

        Shapes:
            (batch, features), [h (batch, units), c (batch, units)] -> h', [h', c']

        Example:
            >>> output, states = LSTMCell(4)(torch.zeros(2, 3), [torch.zeros(2, 4), torch.zeros(2, 4)])
            >>> output.shape, len(states)
            (torch.Size([2, 4]), 2)
        """

class SimpleRNNCell(_SimpleRNNCell):
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
    ) -> None:
        r"""One step of `SimpleRNN`: `h' = activation(x @ kernel + h @ recurrent_kernel + bias)`.

        Options:
            units (positive integer): the size of the output, and of each state.
            activation (name, function or None, default "tanh"): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.

        Shapes:
            (batch, features), [h (batch, units)] -> h', [h']

        Example:
            >>> output, states = SimpleRNNCell(4)(torch.zeros(2, 3), [torch.zeros(2, 4)])
            >>> output.shape, len(states)
            (torch.Size([2, 4]), 1)
            >>> RNN(SimpleRNNCell(4))(torch.zeros(2, 5, 3)).shape
            torch.Size([2, 4])
        """

class StackedRNNCells(_StackedRNNCells):
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
    ) -> None:
        r"""`cells` as one cell, in which each cell takes the output of the one before.

        Constants go to the cells that take them.

        Options:
            cells (list of cells): in the order of the computation.
            reverse_state_order (bool, default False): whether the list of states begins with those of the last cell, as in
                older versions of Keras 2, not those of the first.

        Shapes:
            (batch, features), [states] -> the last cell's output, [new states]

        Example:
            >>> cell = StackedRNNCells([LSTMCell(3), GRUCell(4)])
            >>> cell.state_size, cell.output_size
            ((3, 3, 4), 4)
            >>> RNN(cell)(torch.zeros(2, 5, 6)).shape
            torch.Size([2, 4])
        """

class Conv1D(_OneInput, _Conv1D):
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
    ) -> None:
        r"""`activation(convolution(x, kernel) + bias)` along the steps of sequences.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): the zeros around the input. "valid", "same", "half" and "full" are those of
                `Conv2D`. "causal" adds all before the first step, so that no output depends on later steps; it needs
                `data_format` "channels_last".
            data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            groups (positive integer, default 1): the number of equal groups into which channels and filters are split, each
                convolved on its own; it divides both.

        Shapes:
            (batch, steps, channels) -> (batch, new_steps, filters)

        Example:
            >>> Conv1D(8, 3, padding="causal", activation="relu")(torch.zeros(2, 10, 4)).shape
            torch.Size([2, 10, 8])
        """

class Conv2D(_OneInput, _Conv2D):
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
    ) -> None:
        r"""`activation(convolution(x, kernel) + bias)` over height and width of images.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): the zeros around the input. "valid" adds none; the kernel must fit the input.
                "same" makes the output `ceil(size / strides)` long and adds the larger half at the end, as TensorFlow does.
                "half", Theano's 'same', adds half a kernel at each end, the larger half at the start. "full" adds a kernel
                less one value at each end, so that every window counts that touches the input.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            groups (positive integer, default 1): the number of equal groups into which channels and filters are split, each
                convolved on its own; it divides both.

        Shapes:
            (batch, height, width, channels) -> (batch, new_height, new_width, filters)

        Example:
            >>> Conv2D(8, 3, activation="relu")(torch.zeros(2, 28, 28, 1)).shape
            torch.Size([2, 26, 26, 8])
        """

class Conv3D(_OneInput, _Conv3D):
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
    ) -> None:
        r"""`activation(convolution(x, kernel) + bias)` over depth, height and width of volumes.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): the zeros around the input. "valid" adds none; the kernel must fit the input.
                "same" makes the output `ceil(size / strides)` long and adds the larger half at the end, as TensorFlow does.
                "half", Theano's 'same', adds half a kernel at each end, the larger half at the start. "full" adds a kernel
                less one value at each end, so that every window counts that touches the input.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            groups (positive integer, default 1): the number of equal groups into which channels and filters are split, each
                convolved on its own; it divides both.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, new_depth, new_height, new_width, filters)

        Example:
            >>> Conv3D(8, (1, 3, 3), strides=2)(torch.zeros(2, 6, 9, 9, 1)).shape
            torch.Size([2, 3, 4, 4, 8])
        """

class ConvLSTM(_ConvLSTM, Recurrent):
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
    ) -> None:
        r"""`c' = f * c + i * g; h' = o * activation(c')` over images, whose gates are convolutions.

        `convolution(x, kernel) + bias + convolution(h, recurrent_kernel)` has the parts i, f, g and o, in this order. The
        gates i, f and o go through `recurrent_activation`, the candidate g through `activation`. The second convolution has
        no strides and no dilation. Dropout is drawn for each gate, and is the same at all steps. `Recurrent` explains
        states and masks.

        Options:
            filters (positive integer): the number of channels of the output, and of each state.
            kernel_size (integer or a list of one for each axis): the size of both kernels.
            strides (integer or a list of one for each axis, default 1): the steps of the input's convolution.
            padding ("valid", "same" or "half", default "valid"): the padding of the input's convolution, as for Conv2D.
            data_format ("channels_last", "channels_first" or None, default None): where the channels lie; None takes
                `config.image_data_format()`.
            dilation_rate (integer or a list of one for each axis, default 1): the distance between the values that the
                input's kernel is applied to.
            activation (name, function or None, default "tanh"): applied to the candidate and to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            recurrent_padding ("same" or "half", default "same"): the padding of the state's convolution; "half" is what
                Theano did for "same".
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, *sizes, channels) -> (batch, *new sizes, filters)
            (batch, time, *sizes, channels) -> (batch, time, *new sizes, filters) with `return_sequences`
            each state (batch, *new sizes, filters); with data_format="channels_first" the channels stand before the sizes

        Errors:
            ValueError: a kernel that is longer than the image.

        Example:
            >>> ConvLSTM2D(4, 3, padding="same")(torch.zeros(2, 5, 8, 8, 1)).shape
            torch.Size([2, 8, 8, 4])

        Source: https://arxiv.org/abs/1506.04214
        """

class ConvLSTM1D(_ConvLSTM1D, ConvLSTM):
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
    ) -> None:
        r"""`c' = f * c + i * g; h' = o * activation(c')` over images, whose gates are convolutions.

        `convolution(x, kernel) + bias + convolution(h, recurrent_kernel)` has the parts i, f, g and o, in this order. The
        gates i, f and o go through `recurrent_activation`, the candidate g through `activation`. The second convolution has
        no strides and no dilation. Dropout is drawn for each gate, and is the same at all steps. `Recurrent` explains
        states and masks.

        Options:
            filters (positive integer): the number of channels of the output, and of each state.
            kernel_size (integer or a list of one for each axis): the size of both kernels.
            strides (integer or a list of one for each axis, default 1): the steps of the input's convolution.
            padding ("valid", "same" or "half", default "valid"): the padding of the input's convolution, as for Conv2D.
            data_format ("channels_last", "channels_first" or None, default None): where the channels lie; None takes
                `config.image_data_format()`.
            dilation_rate (integer or a list of one for each axis, default 1): the distance between the values that the
                input's kernel is applied to.
            activation (name, function or None, default "tanh"): applied to the candidate and to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            recurrent_padding ("same" or "half", default "same"): the padding of the state's convolution; "half" is what
                Theano did for "same".
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, *sizes, channels) -> (batch, *new sizes, filters)
            (batch, time, *sizes, channels) -> (batch, time, *new sizes, filters) with `return_sequences`
            each state (batch, *new sizes, filters); with data_format="channels_first" the channels stand before the sizes

        Errors:
            ValueError: a kernel that is longer than the image.

        Example:
            >>> ConvLSTM2D(4, 3, padding="same")(torch.zeros(2, 5, 8, 8, 1)).shape
            torch.Size([2, 8, 8, 4])

        Source: https://arxiv.org/abs/1506.04214
        """

class ConvLSTM2D(_ConvLSTM2D, ConvLSTM):
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
    ) -> None:
        r"""`c' = f * c + i * g; h' = o * activation(c')` over images, whose gates are convolutions.

        `convolution(x, kernel) + bias + convolution(h, recurrent_kernel)` has the parts i, f, g and o, in this order. The
        gates i, f and o go through `recurrent_activation`, the candidate g through `activation`. The second convolution has
        no strides and no dilation. Dropout is drawn for each gate, and is the same at all steps. `Recurrent` explains
        states and masks.

        Options:
            filters (positive integer): the number of channels of the output, and of each state.
            kernel_size (integer or a list of one for each axis): the size of both kernels.
            strides (integer or a list of one for each axis, default 1): the steps of the input's convolution.
            padding ("valid", "same" or "half", default "valid"): the padding of the input's convolution, as for Conv2D.
            data_format ("channels_last", "channels_first" or None, default None): where the channels lie; None takes
                `config.image_data_format()`.
            dilation_rate (integer or a list of one for each axis, default 1): the distance between the values that the
                input's kernel is applied to.
            activation (name, function or None, default "tanh"): applied to the candidate and to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            recurrent_padding ("same" or "half", default "same"): the padding of the state's convolution; "half" is what
                Theano did for "same".
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, *sizes, channels) -> (batch, *new sizes, filters)
            (batch, time, *sizes, channels) -> (batch, time, *new sizes, filters) with `return_sequences`
            each state (batch, *new sizes, filters); with data_format="channels_first" the channels stand before the sizes

        Errors:
            ValueError: a kernel that is longer than the image.

        Example:
            >>> ConvLSTM2D(4, 3, padding="same")(torch.zeros(2, 5, 8, 8, 1)).shape
            torch.Size([2, 8, 8, 4])

        Source: https://arxiv.org/abs/1506.04214
        """

class ConvLSTM2DCell(_ConvLSTM2DCell):
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
    ) -> None:
        r"""One step of `ConvLSTM2D`: `c' = f * c + i * g; h' = o * activation(c')`.

        Options:
            filters (positive integer): the number of channels of the output, and of each state.
            kernel_size (integer or a list of one for each axis): the size of both kernels.
            strides (integer or a list of one for each axis, default 1): the steps of the input's convolution.
            padding ("valid", "same" or "half", default "valid"): the padding of the input's convolution, as for Conv2D.
            data_format ("channels_last", "channels_first" or None, default None): where the channels lie; None takes
                `config.image_data_format()`.
            dilation_rate (integer or a list of one for each axis, default 1): the distance between the values that the
                input's kernel is applied to.
            activation (name, function or None, default "tanh"): applied to the candidate and to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            recurrent_padding ("same" or "half", default "same"): the padding of the state's convolution; "half" is what
                Theano did for "same".

        Shapes:
            (batch, rows, columns, channels), [h, c (batch, new rows, new columns, filters)] -> h', [h', c']

        Example:
            >>> ConvLSTM2DCell(4, 3).state_size
            (4, 4)
            >>> ConvRNN2D(ConvLSTM2DCell(4, 3))(torch.zeros(2, 5, 8, 8, 1)).shape
            torch.Size([2, 6, 6, 4])
        """

class ConvLSTM3D(_ConvLSTM3D, ConvLSTM):
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
    ) -> None:
        r"""`c' = f * c + i * g; h' = o * activation(c')` over images, whose gates are convolutions.

        `convolution(x, kernel) + bias + convolution(h, recurrent_kernel)` has the parts i, f, g and o, in this order. The
        gates i, f and o go through `recurrent_activation`, the candidate g through `activation`. The second convolution has
        no strides and no dilation. Dropout is drawn for each gate, and is the same at all steps. `Recurrent` explains
        states and masks.

        Options:
            filters (positive integer): the number of channels of the output, and of each state.
            kernel_size (integer or a list of one for each axis): the size of both kernels.
            strides (integer or a list of one for each axis, default 1): the steps of the input's convolution.
            padding ("valid", "same" or "half", default "valid"): the padding of the input's convolution, as for Conv2D.
            data_format ("channels_last", "channels_first" or None, default None): where the channels lie; None takes
                `config.image_data_format()`.
            dilation_rate (integer or a list of one for each axis, default 1): the distance between the values that the
                input's kernel is applied to.
            activation (name, function or None, default "tanh"): applied to the candidate and to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            recurrent_padding ("same" or "half", default "same"): the padding of the state's convolution; "half" is what
                Theano did for "same".
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, *sizes, channels) -> (batch, *new sizes, filters)
            (batch, time, *sizes, channels) -> (batch, time, *new sizes, filters) with `return_sequences`
            each state (batch, *new sizes, filters); with data_format="channels_first" the channels stand before the sizes

        Errors:
            ValueError: a kernel that is longer than the image.

        Example:
            >>> ConvLSTM2D(4, 3, padding="same")(torch.zeros(2, 5, 8, 8, 1)).shape
            torch.Size([2, 8, 8, 4])

        Source: https://arxiv.org/abs/1506.04214
        """

class ConvRNN2D(_ConvRNN2D, RNN):
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
    ) -> None:
        r"""`output[t], states = cell(x[t], states)` along time, for a cell over images, such as ConvLSTM2DCell.

        The cell has what `RNN` asks for, with numbers of channels for `state_size`, and also `kernel_size`, `strides`,
        `padding`, `data_format` and `dilation_rate`.

        Options:
            cell (cell or list of cells): what each step computes; a list becomes `StackedRNNCells`.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            num_constants (positive integer or None, default None): how many constants end the list of inputs. A call with
                `constants` sets it; configs of such layers have it.
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, rows, columns, channels) -> (batch, new rows, new columns, filters)
            (batch, time, rows, columns, channels) -> (batch, time, new rows, new columns, filters) with `return_sequences`

        Example:
            >>> ConvRNN2D(ConvLSTM2DCell(4, 3))(torch.zeros(2, 5, 8, 8, 1)).shape
            torch.Size([2, 6, 6, 4])
        """

class Activation(_OneInput, _Activation):
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
    ) -> None:
        r"""`activation(x)`.

        Options:
            activation (name or function): the function, such as "relu"; a layer or module without weights will do.

        Shapes:
            any -> the same

        Example:
            >>> Activation("relu")(torch.tensor([[-1.0, 2.0]]))
            tensor([[0., 2.]])
        """

class ActivityRegularization(_OneInput, _ActivityRegularization):
    def __init__(
        self,
        l1: float = 0.0,
        l2: float = 0.0,
        per_sample: bool = False,
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
    ) -> None:
        r"""`x`; each call adds `l1 * sum(abs(x)) + l2 * sum(x ** 2)` to the loss.

        The sum is over the whole batch and is not divided by its size.

        Options:
            l1 (float, default 0.0): the factor of the absolute values.
            l2 (float, default 0.0): the factor of the squares.
            per_sample (bool, default False): divide by the number of samples in the batch, as tf.keras and Keras 3 do.

        Shapes:
            any -> the same

        Example:
            >>> ActivityRegularization(l1=0.1)(torch.ones(2, 3)).shape
            torch.Size([2, 3])
        """

class Dense(_OneInput, _Dense):
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
    ) -> None:
        r"""`activation(x @ kernel + bias)` over the last axis.

        Options:
            units (positive integer): the size of the last axis of the output.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, ..., features) -> (batch, ..., units)

        Example:
            >>> Dense(4, activation="relu")(torch.zeros(2, 3)).shape
            torch.Size([2, 4])

        Source: https://keras.io/api/layers/core_layers/dense/
        """

class Identity(_Identity):
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
    ) -> None:
        r"""`x`, which may be one tensor or several, nested in any way.

        Shapes:
            any -> the same

        Example:
            >>> Identity()(torch.tensor([[1.0, 2.0]]))
            tensor([[1., 2.]])
        """

class Masking(_OneInput, _Masking):
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
    ) -> None:
        r"""`x`, with the time steps masked where all features are `mask_value`.

        Masked steps are set to zero. Layers after this one get the mask, which has the shape (batch, time, ...).

        Options:
            mask_value (float, default 0.0): the value that all features of a masked step have.

        Shapes:
            (batch, time, ..., features) -> the same

        Example:
            >>> Masking().compute_mask(torch.tensor([[[1.0, 2.0], [0.0, 0.0]]]))
            tensor([[ True, False]])
        """

class EinsumDense(_OneInput, _EinsumDense):
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
    ) -> None:
        r"""`activation(einsum(equation, x, kernel) + bias)`.

        An equation that sums over the last axes of the input and puts the new axes last is computed by an `nn.Linear`.

        Options:
            equation (string): such as "abc,cd->abd": the letters of the input, of the kernel and of the output. The first
                axis is the batch. In "...c,cd->...d" the ellipsis stands for the batch and any further axes.
            output_shape (positive integer or sizes): the size of each letter of the output except the batch; None where
                the size of the input holds.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            bias_axes (string or None, default None): the letters of the output that the bias has; None adds no bias.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            the input's letters -> the output's letters

        Errors:
            ValueError: at the first call, when the equation does not fit the input, `output_shape` or `bias_axes`.

        Example:
            >>> EinsumDense("abc,cd->abd", output_shape=(None, 8), bias_axes="d")(torch.zeros(2, 5, 4)).shape
            torch.Size([2, 5, 8])
        """

class Embedding(_OneInput, _Embedding):
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
    ) -> None:
        r"""`embeddings[x]`: for each integer its vector.

        Numbers of another type, as a layer may give them, are truncated to integers. Data for an `Input` that leads here is
        looked at before: there, numbers that are not whole are refused, like those out of range.

        Options:
            input_dim (positive integer): the number of vectors; the integers are from 0 to `input_dim - 1`.
            output_dim (positive integer): the size of a vector.
            embeddings_initializer (name or Initializer, default "uniform"): the first values of the vectors.
            embeddings_regularizer (name, Regularizer or None, default None): a penalty on the vectors, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            embeddings_constraint (name, Constraint or None, default None): applied to the vectors after each update.
            mask_zero (bool, default False): whether 0 is padding; layers after this one get a mask without it.
            input_length (positive integer, tuple of them or None, default None): the number of integers in a sample, or
                the sizes of several axes. The input is checked against it; a size that the input leaves unknown is taken
                from it.
            dropout (float from 0 up to, not including, 1, default 0.0): in training, the fraction of integers whose vectors
                are zero for the whole batch. An option of Keras 1.

        Shapes:
            (batch, ...) -> (batch, ..., output_dim)

        Errors:
            ValueError: at the first call, when the input does not fit `input_length`; for data with numbers that are not
                whole, or not from 0 to `input_dim - 1`.
            IndexError: for numbers out of range in a tensor on the CPU that the layer is called on.
            torch.AcceleratorError: for numbers out of range that were made on a GPU, or streamed from there: to look at
                them first would wait for it. Torch says "device-side assert triggered", and the process must begin anew.

        Example:
            >>> Embedding(1000, 8)(torch.tensor([[1, 5, 2]])).shape
            torch.Size([1, 3, 8])
        """

class Lambda(_Lambda):
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
    ) -> None:
        r"""`function(x, **arguments)`, with the axes in Keras's order.

        A config holds functions by name. Loading takes them from `custom_objects`; no code of a file is ever run. A lambda
        goes by the name of its layer, a lambda for `output_shape` by "layer.output_shape". Bytecode of an old file is read
        as a formula, such as `x / 127.5 - 1.0`, if it is one; a config holds a formula as data.

        Options:
            function (function or module): gets one tensor, or a list of them; a parameter named `mask` gets the mask. An
                `nn.Module` becomes part of the layer, as in `TorchModule`.
            output_shape (tuple, function or None, default None): the shape without the batch axis, or a function of the
                complete input shape (a list of shapes for several inputs) that returns the complete output shape or a list
                of them; None finds the shape by running `function`.
            mask (tensor, function or None, default None): the mask of the output, or a function `(inputs, mask) -> mask`.
            arguments (dictionary or None, default None): further arguments of `function`, by name.

        Shapes:
            any -> the shape of the function's result

        Errors:
            ValueError: when `function` is a method of an `nn.Module`, whose weights the layer would not train.

        Example:
            >>> Lambda(lambda x: x[:, -1])(torch.tensor([[1.0, 2.0]]))
            tensor([2.])
        """

class GlobalAveragePooling1D(_OneInput, _GlobalAveragePooling1D):
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
    ) -> None:
        r"""The mean over all time steps, channel by channel; with a mask, over the steps that it keeps.

        The output has no mask.

        Options:
            data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            keepdims (bool, default False): whether the spatial axes stay, with size 1.

        Shapes:
            (batch, steps, channels) -> (batch, channels), or with keepdims (batch, 1, channels)

        Example:
            >>> GlobalAveragePooling1D()(torch.tensor([[[1.0], [3.0], [2.0]]])).tolist()
            [[2.0]]
        """

class GlobalAveragePooling2D(_OneInput, _GlobalAveragePooling2D):
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
    ) -> None:
        r"""The mean over height and width, channel by channel.

        Options:
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            keepdims (bool, default False): whether the spatial axes stay, with size 1.

        Shapes:
            (batch, height, width, channels) -> (batch, channels), or with keepdims (batch, 1, 1, channels)

        Example:
            >>> GlobalAveragePooling2D()(torch.zeros(1, 4, 5, 3)).shape
            torch.Size([1, 3])
        """

class GlobalAveragePooling3D(_OneInput, _GlobalAveragePooling3D):
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
    ) -> None:
        r"""The mean over depth, height and width, channel by channel.

        Options:
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            keepdims (bool, default False): whether the spatial axes stay, with size 1.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, channels), or with keepdims (batch, 1, 1, 1, channels)

        Example:
            >>> GlobalAveragePooling3D(keepdims=True)(torch.zeros(1, 4, 5, 6, 3)).shape
            torch.Size([1, 1, 1, 1, 3])
        """

class GlobalMaxPooling1D(_OneInput, _GlobalMaxPooling1D):
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
    ) -> None:
        r"""The maximum over all time steps, channel by channel.

        Options:
            data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            keepdims (bool, default False): whether the spatial axes stay, with size 1.

        Shapes:
            (batch, steps, channels) -> (batch, channels), or with keepdims (batch, 1, channels)

        Example:
            >>> GlobalMaxPooling1D()(torch.tensor([[[1.0], [3.0], [2.0]]])).tolist()
            [[3.0]]
        """

class GlobalMaxPooling2D(_OneInput, _GlobalMaxPooling2D):
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
    ) -> None:
        r"""The maximum over height and width, channel by channel.

        Options:
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            keepdims (bool, default False): whether the spatial axes stay, with size 1.

        Shapes:
            (batch, height, width, channels) -> (batch, channels), or with keepdims (batch, 1, 1, channels)

        Example:
            >>> GlobalMaxPooling2D()(torch.zeros(1, 4, 5, 3)).shape
            torch.Size([1, 3])
        """

class GlobalMaxPooling3D(_OneInput, _GlobalMaxPooling3D):
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
    ) -> None:
        r"""The maximum over depth, height and width, channel by channel.

        Options:
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            keepdims (bool, default False): whether the spatial axes stay, with size 1.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, channels), or with keepdims (batch, 1, 1, 1, channels)

        Example:
            >>> GlobalMaxPooling3D(keepdims=True)(torch.zeros(1, 4, 5, 6, 3)).shape
            torch.Size([1, 1, 1, 1, 3])
        """

class CenterCrop(_OneInput, _CenterCrop):
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
    ) -> None:
        r"""The middle of images.

        Images that are smaller than the window along an axis are cut to the largest window in the middle that has its
        aspect ratio, and stretched.

        Options:
            height (positive integer): the height of the window.
            width (positive integer): the width of the window.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, rows, columns, channels) -> (batch, height, width, channels), or with the channels first by
                `data_format`

        Example:
            >>> images = torch.arange(4.0).view(1, 1, 4, 1)
            >>> CenterCrop(1, 2)(images).flatten()
            tensor([1., 2.])

        Source: https://keras.io/api/layers/preprocessing_layers/image_preprocessing/center_crop/
        """

class Rescaling(_OneInput, _Rescaling):
    def __init__(
        self,
        scale: Any,
        offset: Any = 0.0,
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
    ) -> None:
        r"""`x * scale + offset`.

        Options:
            scale (number or array): the factor; an array has one for each index of the last axes.
            offset (number or array, default 0.0): what is added.

        Shapes:
            any -> the same

        Example:
            >>> Rescaling(1 / 255)(torch.tensor([0, 255]))
            tensor([0., 1.])

        Source: https://keras.io/api/layers/preprocessing_layers/image_preprocessing/rescaling/
        """

class Resizing(_OneInput, _Resizing):
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
    ) -> None:
        r"""Images stretched to `height` and `width`; integers stay integers, rounded.

        Options:
            height (positive integer): the new height.
            width (positive integer): the new width.
            interpolation ("bilinear", "nearest" or "bicubic", default "bilinear"): how values between pixels are found.
            crop_to_aspect_ratio (bool, default False): whether the images are first cut to the largest window in the
                middle that has the new aspect ratio, and so are not distorted.
            pad_to_aspect_ratio (bool, default False): must be False.
            fill_mode ("constant", default "constant"): for padding, which there is none of here; must be "constant".
            fill_value (float, default 0.0): for padding; must be 0.
            antialias (bool, default False): whether images that get smaller are smoothed. "nearest" does not smooth.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, rows, columns, channels) -> (batch, height, width, channels), or with the channels first by
                `data_format`

        Example:
            >>> Resizing(4, 5)(torch.zeros(2, 8, 8, 3)).shape
            torch.Size([2, 4, 5, 3])

        Source: https://keras.io/api/layers/preprocessing_layers/image_preprocessing/resizing/
        """

class Cosine(_Cosine, Dot):
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
    ) -> None:
        r"""The cosine of two inputs, `a.b / max(sqrt(a.a * b.b), epsilon)`, as Keras 1's `merge` computes it.

        `epsilon` is `config.epsilon()`. The output has an extra axis of size 1, as in Keras 1.

        Options:
            axes (integer or two integers): the axis of both inputs, or one for each; it cannot be 0, the batch axis.
            normalize (bool, default False): changes nothing; a cosine is normalized anyway.

        Shapes:
            [(batch, n), (batch, n)] -> (batch, 1, 1)

        Example:
            >>> Cosine(1)([torch.tensor([[3.0, 4.0]]), torch.tensor([[3.0, 4.0]])]).tolist()
            [[[1.0]]]
        """

class Highway(_OneInput, _Highway):
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
    ) -> None:
        r"""`gate * activation(x @ kernel + bias) + (1 - gate) * x`, where `gate = sigmoid(x @ carry_kernel + carry_bias)`.

        A layer of Keras 1. `kernel_initializer` is that of both kernels; `carry_bias` begins at 1. The other options of
        kernel and bias do not concern the gate.

        Options:
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether `bias` and `carry_bias` are added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, features) -> the same

        Example:
            >>> Highway(activation="relu")(torch.zeros(2, 3)).shape
            torch.Size([2, 3])

        Source: https://arxiv.org/abs/1505.00387
        """

class MaxoutDense(_OneInput, _MaxoutDense):
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
    ) -> None:
        r"""`max over k of x @ kernel[k] + bias[k]`: the largest of `nb_feature` linear maps, value by value.

        A layer of Keras 1.

        Options:
            units (positive integer): the size of the last axis of the output.
            nb_feature (positive integer, default 4): the number of linear maps.
            use_bias (bool, default True): whether a bias is added, one for each map.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, features) -> (batch, units)

        Example:
            >>> MaxoutDense(4, nb_feature=2)(torch.zeros(2, 3)).shape
            torch.Size([2, 4])

        Source: https://arxiv.org/abs/1302.4389
        """

class TimeDistributedDense(_TimeDistributedDense, Dense):
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
    ) -> None:
        r"""`activation(x @ kernel + bias)` at every time step.

        A layer of Keras 1; `Dense` computes the same.

        Options:
            units (positive integer): the size of the last axis of the output.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, time, features) -> (batch, time, units)

        Example:
            >>> TimeDistributedDense(4)(torch.zeros(2, 5, 3)).shape
            torch.Size([2, 5, 4])
        """

class LayerNormalization(_OneInput, _LayerNormalization):
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
    ) -> None:
        r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, by the mean and variance along `axis`.

        `gamma` and `beta` have the sizes of these axes. Each sample is normalized by itself.

        Options:
            axis (integer or list of them, default -1): what to normalize along.
            epsilon (float of at least 0, default 0.001): added to the variance.
            center (bool, default True): whether `beta` is added.
            scale (bool, default True): whether the normalized values are multiplied by `gamma`.
            beta_initializer (name or Initializer, default "zeros"): the first values of `beta`.
            gamma_initializer (name or Initializer, default "ones"): the first values of `gamma`.
            beta_regularizer (name, Regularizer or None, default None): a penalty on `beta`, added to the loss.
            gamma_regularizer (name, Regularizer or None, default None): a penalty on `gamma`, added to the loss.
            beta_constraint (name, Constraint or None, default None): applied to `beta` after each update.
            gamma_constraint (name, Constraint or None, default None): applied to `gamma` after each update.
            rms_scaling (bool, default False): must be False: `RMSNormalization` is what it stood for.

        Shapes:
            any -> the same

        Errors:
            ValueError: `axis` is no axis of the input, or counts some axes from its begin and some from its end.

        Example:
            >>> LayerNormalization(epsilon=0)(torch.tensor([[1.0, 3.0]])).tolist()
            [[-1.0, 1.0]]

        Source: https://arxiv.org/abs/1607.06450
        """

class RMSNormalization(_OneInput, _RMSNormalization):
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
    ) -> None:
        r"""`scale * x / sqrt(mean(x ** 2) + epsilon)`, by the mean along `axis`, with a weight `scale`.

        Options:
            axis (integer or list of them, default -1): what to normalize along.
            epsilon (float of at least 0, default 1e-06): added to the mean.

        Shapes:
            any -> the same

        Errors:
            ValueError: `axis` is no axis of the input, or counts some axes from its begin and some from its end.

        Example:
            >>> RMSNormalization(epsilon=0)(torch.tensor([[3.0, -3.0]])).tolist()
            [[1.0, -1.0]]

        Source: https://arxiv.org/abs/1910.07467
        """

class UnitNormalization(_OneInput, _UnitNormalization):
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
    ) -> None:
        r"""`x / sqrt(sum(x ** 2))`, by the sum along `axis`; zeros stay zeros.

        Options:
            axis (integer or list of them, default -1): what to sum along.

        Shapes:
            any -> the same

        Errors:
            ValueError: `axis` is no axis of the input.

        Example:
            >>> UnitNormalization()(torch.tensor([[3.0, 4.0]]))
            tensor([[0.6000, 0.8000]])

        Source: https://keras.io/api/layers/normalization_layers/unit_normalization/
        """

class LocallyConnected1D(_OneInput, _LocallyConnected1D):
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
    ) -> None:
        r"""`activation(window @ kernel[step] + bias[step])`: a convolution with a kernel of its own at every step.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each;
                at most the size of the input.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each.
            padding (string, default "valid"): only "valid": nothing is added around the input.
            data_format (string or None, default None): taken and not used, as in Keras: the channels are at the last axis.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter and place.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, steps, channels) -> (batch, new_steps, filters)

        Errors:
            ValueError: at the first call, when the number of steps is unknown.

        Example:
            >>> LocallyConnected1D(8, 3)(torch.zeros(2, 10, 4)).shape
            torch.Size([2, 8, 8])
        """

class LocallyConnected2D(_OneInput, _LocallyConnected2D):
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
    ) -> None:
        r"""`activation(window @ kernel[place] + bias[place])`: a convolution with a kernel of its own at every place.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each;
                at most the size of the input.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each.
            padding (string, default "valid"): only "valid": nothing is added around the input.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter and place.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, height, width, channels) -> (batch, new_height, new_width, filters)

        Errors:
            ValueError: at the first call, when height or width is unknown.

        Example:
            >>> LocallyConnected2D(8, 3)(torch.zeros(2, 5, 6, 1)).shape
            torch.Size([2, 3, 4, 8])
        """

class IntegerLookup(_OneInput, _IntegerLookup):
    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Any = None,
        vocabulary_dtype: Literal["int64"] = "int64",
        idf_weights: None = None,
        invert: bool = False,
        output_mode: Literal["int", "one_hot", "multi_hot", "count"] = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        oov_method: Literal["floormod"] = "floormod",
        salt: None = None,
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
    ) -> None:
        r"""The index of each integer in the vocabulary (int64), or with `invert` the integer at each index.

        Unknown integers have the index 0, or 1 where the mask has 0.

        Options:
            max_tokens (integer above 1 or None, default None): the largest size of the vocabulary, with the tokens of mask
                and unknown; None sets no limit.
            num_oov_indices (integer from 0 to 1000000, default 1): how many indices unknown integers have; of several, each
                takes that of its remainder. With 0 an unknown integer is an error.
            mask_token (integer or None, default None): the token with index 0, for what is masked.
            oov_token (integer, default -1): what `invert` gives for indices that are no token's.
            vocabulary (list of tokens or None, default None): the tokens in the order of their indices, with or without
                those of mask and unknown in front; None leaves them to `adapt` or `set_vocabulary`.
            vocabulary_dtype ("int64", default "int64"): must be "int64".
            idf_weights (None, default None): must be None.
            invert (bool, default False): whether the layer maps indices to tokens. Needs output_mode="int".
            output_mode ("int", "one_hot", "multi_hot" or "count", default "int"): "int" gives the indices, the others
                vectors as `CategoryEncoding` does, with a place for each index. Vectors have no place for the mask.
            sparse (bool, default False): must be False, torch computes with dense tensors.
            pad_to_max_tokens (bool, default False): whether vectors have `max_tokens` places.
            oov_method ("floormod", default "floormod"): must be "floormod".
            salt (None, default None): must be None.

        Shapes:
            any -> the same for "int", else that of `CategoryEncoding`

        Errors:
            ValueError: a call before there is a vocabulary.

        Example:
            >>> layer = IntegerLookup(vocabulary=[10, 20])
            >>> layer(torch.tensor([20, 10, 7]))
            tensor([2, 1, 0])

        Source: https://keras.io/api/layers/preprocessing_layers/categorical/integer_lookup/
        """

class StringLookup(_StringLookup):
    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: Literal[0, 1] = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        vocabulary: Any = None,
        idf_weights: None = None,
        invert: bool = False,
        output_mode: Literal["int", "one_hot", "multi_hot", "count"] = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        encoding: str = "utf-8",
        oov_method: Literal["floormod"] = "floormod",
        salt: None = None,
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
    ) -> None:
        r"""The index of each string in the vocabulary (int64), or with `invert` the string at each index.

        torch has no tensors of strings, so this layer cannot be part of a model. It is called before one, on arrays or
        lists of strings, and returns tensors. With `invert` it is called on indices, and returns a NumPy array.

        Options:
            max_tokens (integer above 1 or None, default None): the largest size of the vocabulary, with the tokens of mask
                and unknown; None sets no limit.
            num_oov_indices (0 or 1, default 1): how many indices unknown strings have. With 0 an unknown string is an
                error. More are refused, since Keras chooses among them by a hash that is not available here.
            mask_token (string or None, default None): the token with index 0, for what is masked.
            oov_token (string, default "[UNK]"): what `invert` gives for indices that are no token's.
            vocabulary (list of tokens or None, default None): the tokens in the order of their indices, with or without
                those of mask and unknown in front; None leaves them to `adapt` or `set_vocabulary`.
            idf_weights (None, default None): must be None.
            invert (bool, default False): whether the layer maps indices to tokens. Needs output_mode="int".
            output_mode ("int", "one_hot", "multi_hot" or "count", default "int"): "int" gives the indices, the others
                vectors as `CategoryEncoding` does, with a place for each index. Vectors have no place for the mask.
            pad_to_max_tokens (bool, default False): whether vectors have `max_tokens` places.
            sparse (bool, default False): must be False, torch computes with dense tensors.
            encoding (string, default "utf-8"): the encoding of tokens that are bytes.
            oov_method ("floormod", default "floormod"): must be "floormod".
            salt (None, default None): must be None.

        Shapes:
            any -> the same for "int", else that of `CategoryEncoding`

        Errors:
            ValueError: a call on tensors, or before there is a vocabulary; tokens that are no strings.

        Example:
            >>> layer = StringLookup(vocabulary=["a", "b"])
            >>> layer(["b", "a", "z"])
            tensor([2, 1, 0])
            >>> StringLookup(vocabulary=["a", "b"], invert=True)([2, 1]).tolist()
            ['b', 'a']

        Source: https://keras.io/api/layers/preprocessing_layers/categorical/string_lookup/
        """

class Add(_SeveralInputs, _Add):
    def __init__(
        self,
        any_mask: bool = False,
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
    ) -> None:
        r"""The sum of the inputs, value by value.

        The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
        True where the masks of all inputs are.

        Options:
            any_mask (bool, default False): as in Keras 3, whose files are loaded so: the mask of the output is True where
                any of the masks is, and there is none unless every input has one. Multiply, Maximum and Minimum then leave
                masked values out.

        Shapes:
            a list of (batch, ...) -> (batch, ...)

        Errors:
            ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

        Example:
            >>> Add()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
            tensor([[4., 9.]])
        """

class Average(_SeveralInputs, _Average):
    def __init__(
        self,
        any_mask: bool = False,
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
    ) -> None:
        r"""The mean of the inputs, value by value.

        The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
        True where the masks of all inputs are.

        Options:
            any_mask (bool, default False): as in Keras 3, whose files are loaded so: the mask of the output is True where
                any of the masks is, and there is none unless every input has one. Multiply, Maximum and Minimum then leave
                masked values out.

        Shapes:
            a list of (batch, ...) -> (batch, ...)

        Errors:
            ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

        Example:
            >>> Average()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
            tensor([[2.0000, 4.5000]])
        """

class Concatenate(_SeveralInputs, _Concatenate):
    def __init__(
        self,
        axis: int = -1,
        any_mask: bool = False,
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
    ) -> None:
        r"""The inputs one after the other along an axis.

        Masks are concatenated as well where they have the axis, that is along the batch or the time axis. Along another
        axis the mask of the output is True where the masks of all inputs are.

        Options:
            axis (integer, default -1): the axis to concatenate along; the batch axis is 0.
            any_mask (bool, default False): as in Keras 3, whose files are loaded so: along another axis the mask of the
                output is True where any of the masks is, and there is none unless every input has one.

        Shapes:
            a list of (batch, ..., size, ...) -> (batch, ..., sum of sizes, ...)

        Errors:
            ValueError: for fewer than two inputs, and for shapes that differ at another axis.

        Example:
            >>> Concatenate()([torch.zeros(2, 3), torch.zeros(2, 4)]).shape
            torch.Size([2, 7])
        """

class Dot(_SeveralInputs, _Dot):
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
    ) -> None:
        r"""The sum of products along one axis of each of two inputs, sample by sample.

        The output has no mask.

        Options:
            axes (integer or two integers): the axis of both inputs, or one for each; it cannot be 0, the batch axis.
            normalize (bool, default False): whether both inputs are first divided by their length along these axes; the
                result is then the cosine.

        Shapes:
            [(batch, *a, n), (batch, n, *b)] -> (batch, *a, *b)
            [(batch, n), (batch, n)] -> (batch, 1)

        Errors:
            ValueError: for other than two inputs, for an axis that an input lacks, and for axes of different sizes.

        Example:
            >>> Dot(axes=1)([torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])])
            tensor([[11.]])
        """

class Maximum(_SeveralInputs, _Maximum):
    def __init__(
        self,
        any_mask: bool = False,
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
    ) -> None:
        r"""The largest of the inputs, value by value.

        The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
        True where the masks of all inputs are.

        Options:
            any_mask (bool, default False): as in Keras 3, whose files are loaded so: the mask of the output is True where
                any of the masks is, and there is none unless every input has one. Multiply, Maximum and Minimum then leave
                masked values out.

        Shapes:
            a list of (batch, ...) -> (batch, ...)

        Errors:
            ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

        Example:
            >>> Maximum()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
            tensor([[3., 5.]])
        """

class Minimum(_SeveralInputs, _Minimum):
    def __init__(
        self,
        any_mask: bool = False,
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
    ) -> None:
        r"""The smallest of the inputs, value by value.

        The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
        True where the masks of all inputs are.

        Options:
            any_mask (bool, default False): as in Keras 3, whose files are loaded so: the mask of the output is True where
                any of the masks is, and there is none unless every input has one. Multiply, Maximum and Minimum then leave
                masked values out.

        Shapes:
            a list of (batch, ...) -> (batch, ...)

        Errors:
            ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

        Example:
            >>> Minimum()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
            tensor([[1., 4.]])
        """

class Multiply(_SeveralInputs, _Multiply):
    def __init__(
        self,
        any_mask: bool = False,
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
    ) -> None:
        r"""The product of the inputs, value by value.

        The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
        True where the masks of all inputs are.

        Options:
            any_mask (bool, default False): as in Keras 3, whose files are loaded so: the mask of the output is True where
                any of the masks is, and there is none unless every input has one. Multiply, Maximum and Minimum then leave
                masked values out.

        Shapes:
            a list of (batch, ...) -> (batch, ...)

        Errors:
            ValueError: for fewer than two inputs, and for shapes that cannot be broadcast.

        Example:
            >>> Multiply()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
            tensor([[ 3., 20.]])
        """

class Subtract(_SeveralInputs, _Subtract):
    def __init__(
        self,
        any_mask: bool = False,
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
    ) -> None:
        r"""The first of two inputs less the second, value by value.

        The inputs are broadcast: one with fewer axes gets axes of size 1 after the batch axis. The mask of the output is
        True where the masks of all inputs are.

        Options:
            any_mask (bool, default False): as in Keras 3, whose files are loaded so: the mask of the output is True where
                any of the masks is, and there is none unless every input has one. Multiply, Maximum and Minimum then leave
                masked values out.

        Shapes:
            [(batch, ...), (batch, ...)] -> (batch, ...)

        Errors:
            ValueError: for other than two inputs, and for shapes that cannot be broadcast.

        Example:
            >>> Subtract()([torch.tensor([[1.0, 5.0]]), torch.tensor([[3.0, 4.0]])])
            tensor([[-2.,  1.]])
        """

class GroupQueryAttention(_GroupQueryAttention):
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
    ) -> None:
        r"""`MultiHeadAttention` whose heads share keys and values: `num_query_heads / num_key_value_heads` heads each.

        The call and its arguments are those of `MultiHeadAttention`.

        Options:
            head_dim (positive integer): the features of query, key and value, for each head.
            num_query_heads (positive integer): the number of heads of the query.
            num_key_value_heads (positive integer): the number of heads of key and value; `num_query_heads` must be a
                multiple of it.
            dropout (float from 0 to below 1, default 0.0): the share of the softmax's values that are dropped in training.
            use_bias (bool, default True): whether the projections add a bias.
            sliding_window (None, default None): Keras 3's; must be None.
            flash_attention (None, default None): Keras 3's; must be None, torch chooses its kernel itself.
            use_gate (bool, default False): Keras 3's; must be False.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (None, default None): must be None.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features)
            the scores: (batch, num_query_heads, queries, keys)

        Example:
            >>> query, value = torch.zeros(2, 3, 6), torch.zeros(2, 5, 6)
            >>> GroupQueryAttention(8, num_query_heads=4, num_key_value_heads=2)(query, value).shape
            torch.Size([2, 3, 6])

        Source: https://arxiv.org/abs/2305.13245
        """

class MultiHeadAttention(_MultiHeadAttention):
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
    ) -> None:
        r"""`concat(head_1, ..., head_n) @ attention_output`, where a head is `softmax(q @ k.T / sqrt(key_dim)) @ v`.

        q, k and v are the head's own projections of the query, the key and the value.

        A call is `layer(query, value, key)`; without a key the value is the key too. Its masks are `query_mask`,
        `value_mask`, `key_mask`, each True at positions that count, and `attention_mask`, True where a query may attend to
        a key. With `use_causal_mask=True` no position attends to a later one. With `return_attention_scores=True` the
        softmax is a second output.

        Options:
            num_heads (positive integer): the number of heads.
            key_dim (positive integer): the features of q and k, for each head.
            value_dim (positive integer or None, default None): the features of v, for each head; None takes `key_dim`.
            dropout (float from 0 to below 1, default 0.0): the share of the softmax's values that are dropped in training.
            use_bias (bool, default True): whether the projections add a bias.
            output_shape (positive integer, list of them or None, default None): the last axes of the output; None takes
                the query's last axis.
            attention_axes (integer, list of them or None, default None): the axes to attend along; None takes all between
                the first and the last. The others are treated as the batch is.
            sliding_window (None, default None): Keras 3's; must be None.
            flash_attention (None, default None): Keras 3's; must be None, torch chooses its kernel itself.
            use_gate (bool, default False): Keras 3's; must be False.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (None, default None): must be None.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features)
            the scores: (batch, num_heads, queries, keys)

        Errors:
            ValueError: key and value that differ in more than their last axes; `attention_axes` with the first or the last
                axis; along several axes another mask than `attention_mask`.

        Example:
            >>> query, value = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4)
            >>> output, scores = MultiHeadAttention(2, key_dim=8)(query, value, return_attention_scores=True)
            >>> output.shape, scores.shape
            (torch.Size([2, 3, 4]), torch.Size([2, 2, 3, 5]))

        Source: https://arxiv.org/abs/1706.03762
        """

class AlphaDropout(_OneInput, _AlphaDropout):
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
    ) -> None:
        r"""In training, `a * x + b`, where a `rate` of the values of `x` is replaced by -1.758; else `x`.

        -1.758 is the least value of `selu`. `a` and `b` keep the mean 0 and the variance 1 that `selu` keeps.

        Options:
            rate (float from 0 to 1): the share of the values that are replaced. 1 changes nothing, as in Keras 2.
            noise_shape (tuple of integers and None, or None, default None): the shape of what is drawn, batch axis
                included. An axis of 1 shares it; None, for an axis or for all, is the input's size.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            any -> the same

        Errors:
            ValueError: `noise_shape` has not as many axes as the input.

        Example:
            >>> AlphaDropout(0.5)(torch.zeros(1, 100), training=True).unique().numel()
            2

        Source: https://arxiv.org/abs/1706.02515
        """

class Dropout(_OneInput, _Dropout):
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
    ) -> None:
        r"""In training, zero for a `rate` of the values and `x / (1 - rate)` for the others; else `x`.

        Options:
            rate (float from 0 to below 1): the share of the values that become zero.
            noise_shape (tuple of integers and None, or None, default None): the shape of what is drawn, batch axis
                included. An axis of 1 shares it; None, for an axis or for all, is the input's size.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            any -> the same

        Errors:
            ValueError: `noise_shape` has not as many axes as the input.

        Example:
            >>> Dropout(0.5)(torch.ones(1, 100), training=True).unique()
            tensor([0., 2.])
            >>> Dropout(0.5)(torch.ones(1, 100), training=False).unique()
            tensor([1.])

        Source: https://jmlr.org/papers/v15/srivastava14a.html
        """

class GaussianDropout(_OneInput, _GaussianDropout):
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
    ) -> None:
        r"""In training, `x * noise`, with normally distributed noise of mean 1; else `x`.

        The standard deviation is `sqrt(rate / (1 - rate))`, as in `Dropout`.

        Options:
            rate (float from 0 to 1): that of a `Dropout` with as much noise. 1 changes nothing, as in Keras 2.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            any -> the same

        Example:
            >>> GaussianDropout(0.5)(torch.zeros(1, 2), training=True)
            tensor([[0., 0.]])

        Source: https://jmlr.org/papers/v15/srivastava14a.html
        """

class GaussianNoise(_OneInput, _GaussianNoise):
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
    ) -> None:
        r"""In training, `x + noise`, with normally distributed noise of mean 0; else `x`.

        Options:
            stddev (float of at least 0): the standard deviation of the noise.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            any -> the same

        Example:
            >>> GaussianNoise(0.1)(torch.ones(1, 2), training=False)
            tensor([[1., 1.]])

        Source: https://keras.io/api/layers/regularization_layers/gaussian_noise/
        """

class SpatialDropout1D(_OneInput, _SpatialDropout1D):
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
    ) -> None:
        r"""In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the others; else `x`.

        Options:
            rate (float from 0 to below 1): the share of the channels that become zero.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            (batch, steps, channels) -> the same

        Example:
            >>> SpatialDropout1D(0.5)(torch.ones(1, 4, 100), training=True).sum(1).unique()
            tensor([0., 8.])

        Source: https://arxiv.org/abs/1411.4280
        """

class SpatialDropout2D(_OneInput, _SpatialDropout2D):
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
    ) -> None:
        r"""In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the others; else `x`.

        Options:
            rate (float from 0 to below 1): the share of the channels that become zero.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            (batch, *sizes, channels) -> the same
            (batch, channels, *sizes) -> the same, with data_format="channels_first"

        Example:
            >>> SpatialDropout2D(0.5)(torch.ones(1, 4, 4, 100), training=True).sum((1, 2)).unique()
            tensor([ 0., 32.])

        Source: https://arxiv.org/abs/1411.4280
        """

class SpatialDropout3D(_OneInput, _SpatialDropout3D):
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
    ) -> None:
        r"""In training, zero for a `rate` of the channels of each sample and `x / (1 - rate)` for the others; else `x`.

        Options:
            rate (float from 0 to below 1): the share of the channels that become zero.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.

        Shapes:
            (batch, *sizes, channels) -> the same
            (batch, channels, *sizes) -> the same, with data_format="channels_first"

        Example:
            >>> SpatialDropout2D(0.5)(torch.ones(1, 4, 4, 100), training=True).sum((1, 2)).unique()
            tensor([ 0., 32.])

        Source: https://arxiv.org/abs/1411.4280
        """

class BatchNormalization(_OneInput, _BatchNormalization):
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
        synchronized: bool = False,
        mode: Literal[0, 1, 2] = 0,
        variance: Literal["sample", "population", "flat", "sample+epsilon", "population+epsilon"] = "sample",
        frozen_is_fixed: bool = False,
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
    ) -> None:
        r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, with one of each for every index of `axis`.

        In training, mean and variance are those of the batch, and the moving ones follow them:
        `moving = momentum * moving + (1 - momentum) * batch`. Outside training they are the moving ones. The variance that
        the moving one follows is divided by n - 1, as in torch.

        A layer that is not `trainable` still normalizes by the batch in training, but leaves the moving ones as they are.
        Later versions of Keras do neither as in Keras 2: the last two options are theirs, and their files are loaded so.

        Options:
            axis (integer, default -1): the axis of the channels.
            momentum (float from 0 to 1, default 0.99): what the moving statistics keep of themselves at each batch.
                torch's momentum is 1 minus this one.
            epsilon (float of at least 0, default 0.001): added to the variance.
            center (bool, default True): whether `beta` is added.
            scale (bool, default True): whether the normalized values are multiplied by `gamma`.
            beta_initializer (name or Initializer, default "zeros"): the first values of `beta`.
            gamma_initializer (name or Initializer, default "ones"): the first values of `gamma`.
            moving_mean_initializer (name or Initializer, default "zeros"): the first values of the moving mean.
            moving_variance_initializer (name or Initializer, default "ones"): the first values of the moving variance.
            beta_regularizer (name, Regularizer or None, default None): a penalty on `beta`, added to the loss.
            gamma_regularizer (name, Regularizer or None, default None): a penalty on `gamma`, added to the loss.
            beta_constraint (name, Constraint or None, default None): applied to `beta` after each update.
            gamma_constraint (name, Constraint or None, default None): applied to `gamma` after each update.
            synchronized (bool, default False): whether the batch of several processes is one batch for this layer even
                where `compile(sync_batch_norm=False)` says that each process normalizes by its own part.
            mode (0, 1 or 2, default 0): Keras 1's: 1 normalizes each sample along its last axis, by
                `(x - mean) / (sqrt(variance + epsilon) + epsilon)`; 2 normalizes by the batch outside training too. Neither
                changes the moving statistics.
            variance (text, default "sample"): what the moving variance follows. "population" is divided by n; "flat" too,
                but by n - 1 for images and volumes. "sample+epsilon" and "population+epsilon" add `epsilon` to it, as Keras
                1 and 2 did on Theano.
            frozen_is_fixed (bool, default False): whether a layer that is not `trainable` normalizes by the moving
                statistics in training, too. With it, where `variance` is divided by n, masked values count for neither
                mean nor variance in training.

        Shapes:
            any of two axes or more -> the same

        Errors:
            ValueError: `axis` is no axis of the input, or with `mode` 1 not the last one.

        Example:
            >>> layer = BatchNormalization(momentum=0.5)
            >>> output = layer(torch.tensor([[1.0], [3.0]]), training=True)
            >>> layer.moving_mean
            tensor([1.])

        Source: https://arxiv.org/abs/1502.03167
        """

class GroupNormalization(_OneInput, _GroupNormalization):
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
    ) -> None:
        r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, by the mean and variance of a group of channels.

        Each sample is normalized by itself. A group is a run of neighbouring channels, with all their values.

        Options:
            groups (positive integer or -1, default 32): the number of groups, which must divide that of the channels. -1
                makes each channel a group (instance normalization).
            axis (integer, default -1): the axis of the channels.
            epsilon (float of at least 0, default 0.001): added to the variance.
            center (bool, default True): whether `beta` is added.
            scale (bool, default True): whether the normalized values are multiplied by `gamma`.
            beta_initializer (name or Initializer, default "zeros"): the first values of `beta`.
            gamma_initializer (name or Initializer, default "ones"): the first values of `gamma`.
            beta_regularizer (name, Regularizer or None, default None): a penalty on `beta`, added to the loss.
            gamma_regularizer (name, Regularizer or None, default None): a penalty on `gamma`, added to the loss.
            beta_constraint (name, Constraint or None, default None): applied to `beta` after each update.
            gamma_constraint (name, Constraint or None, default None): applied to `gamma` after each update.

        Shapes:
            any of two axes or more -> the same

        Errors:
            ValueError: `groups` does not divide the number of channels; `axis` is the batch's, or no axis of the input.

        Example:
            >>> GroupNormalization(groups=2)(torch.zeros(2, 8, 8, 4)).shape
            torch.Size([2, 8, 8, 4])

        Source: https://arxiv.org/abs/1803.08494
        """

class AveragePooling1D(_OneInput, _AveragePooling1D):
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
    ) -> None:
        r"""The mean of each window of sequences, channel by channel.

        Options:
            pool_size (positive integer or tuple of them, default 2): the size of a window along all spatial axes, or along
                each; with padding "valid" it is at most the size of the input.
            strides (positive integer, tuple of them or None, default None): the distance between the starts of two windows;
                None takes `pool_size`.
            padding (string, default "valid"): "valid" takes whole windows only, `(size - pool_size) // strides + 1` along
                an axis. "same" also takes windows that reach over an end, `ceil(size / strides)` along an axis; values
                outside do not count. "theano" takes as many windows as "same", placed as Theano placed them.
            data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, steps, channels) -> (batch, new_steps, channels)

        Example:
            >>> AveragePooling1D()(torch.tensor([[[1.0], [3.0], [2.0], [0.0]]])).tolist()
            [[[2.0], [1.0]]]
        """

class AveragePooling2D(_OneInput, _AveragePooling2D):
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
    ) -> None:
        r"""The mean of each window of images, channel by channel.

        Options:
            pool_size (positive integer or tuple of them, default 2): the size of a window along all spatial axes, or along
                each; with padding "valid" it is at most the size of the input.
            strides (positive integer, tuple of them or None, default None): the distance between the starts of two windows;
                None takes `pool_size`.
            padding (string, default "valid"): "valid" takes whole windows only, `(size - pool_size) // strides + 1` along
                an axis. "same" also takes windows that reach over an end, `ceil(size / strides)` along an axis; values
                outside do not count. "theano" takes as many windows as "same", placed as Theano placed them.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> (batch, new_height, new_width, channels)

        Example:
            >>> AveragePooling2D()(torch.zeros(1, 4, 6, 3)).shape
            torch.Size([1, 2, 3, 3])
        """

class AveragePooling3D(_OneInput, _AveragePooling3D):
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
    ) -> None:
        r"""The mean of each window of volumes, channel by channel.

        Options:
            pool_size (positive integer or tuple of them, default 2): the size of a window along all spatial axes, or along
                each; with padding "valid" it is at most the size of the input.
            strides (positive integer, tuple of them or None, default None): the distance between the starts of two windows;
                None takes `pool_size`.
            padding (string, default "valid"): "valid" takes whole windows only, `(size - pool_size) // strides + 1` along
                an axis. "same" also takes windows that reach over an end, `ceil(size / strides)` along an axis; values
                outside do not count. "theano" takes as many windows as "same", placed as Theano placed them.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, new_depth, new_height, new_width, channels)

        Example:
            >>> AveragePooling3D()(torch.zeros(1, 4, 6, 2, 3)).shape
            torch.Size([1, 2, 3, 1, 3])
        """

class MaxPooling1D(_OneInput, _MaxPooling1D):
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
    ) -> None:
        r"""The maximum of each window of sequences, channel by channel.

        Options:
            pool_size (positive integer or tuple of them, default 2): the size of a window along all spatial axes, or along
                each; with padding "valid" it is at most the size of the input.
            strides (positive integer, tuple of them or None, default None): the distance between the starts of two windows;
                None takes `pool_size`.
            padding (string, default "valid"): "valid" takes whole windows only, `(size - pool_size) // strides + 1` along
                an axis. "same" also takes windows that reach over an end, `ceil(size / strides)` along an axis; values
                outside do not count. "theano" takes as many windows as "same", placed as Theano placed them.
            data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, steps, channels) -> (batch, new_steps, channels)

        Example:
            >>> MaxPooling1D()(torch.tensor([[[1.0], [3.0], [2.0], [0.0]]])).tolist()
            [[[3.0], [2.0]]]
        """

class MaxPooling2D(_OneInput, _MaxPooling2D):
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
    ) -> None:
        r"""The maximum of each window of images, channel by channel.

        Options:
            pool_size (positive integer or tuple of them, default 2): the size of a window along all spatial axes, or along
                each; with padding "valid" it is at most the size of the input.
            strides (positive integer, tuple of them or None, default None): the distance between the starts of two windows;
                None takes `pool_size`.
            padding (string, default "valid"): "valid" takes whole windows only, `(size - pool_size) // strides + 1` along
                an axis. "same" also takes windows that reach over an end, `ceil(size / strides)` along an axis; values
                outside do not count. "theano" takes as many windows as "same", placed as Theano placed them.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> (batch, new_height, new_width, channels)

        Example:
            >>> MaxPooling2D()(torch.zeros(1, 4, 6, 3)).shape
            torch.Size([1, 2, 3, 3])
        """

class MaxPooling3D(_OneInput, _MaxPooling3D):
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
    ) -> None:
        r"""The maximum of each window of volumes, channel by channel.

        Options:
            pool_size (positive integer or tuple of them, default 2): the size of a window along all spatial axes, or along
                each; with padding "valid" it is at most the size of the input.
            strides (positive integer, tuple of them or None, default None): the distance between the starts of two windows;
                None takes `pool_size`.
            padding (string, default "valid"): "valid" takes whole windows only, `(size - pool_size) // strides + 1` along
                an axis. "same" also takes windows that reach over an end, `ceil(size / strides)` along an axis; values
                outside do not count. "theano" takes as many windows as "same", placed as Theano placed them.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, new_depth, new_height, new_width, channels)

        Example:
            >>> MaxPooling3D()(torch.zeros(1, 4, 6, 2, 3)).shape
            torch.Size([1, 2, 3, 1, 3])
        """

class CategoryEncoding(_OneInput, _CategoryEncoding):
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
    ) -> None:
        r"""Integers from 0 to below `num_tokens` as vectors; negative ones are left out.

        Options:
            num_tokens (positive integer, default None): the length of the vectors; None is refused.
            output_mode ("multi_hot", "one_hot" or "count", default "multi_hot"): "one_hot" makes a vector for each integer;
                "multi_hot" one for each sample, which marks the integers along axis 1; "count" one that counts them.
            sparse (bool, default False): must be False, torch computes with dense tensors.

        Shapes:
            (batch, ...) -> (batch, ..., num_tokens) for "one_hot", which removes a last axis of 1 first
            (batch, n, ...) -> (batch, ..., num_tokens) for the others

        Example:
            >>> CategoryEncoding(4)(torch.tensor([[0, 2]]))
            tensor([[1., 0., 1., 0.]])
            >>> CategoryEncoding(3, output_mode="one_hot")(torch.tensor([1]))
            tensor([[0., 1., 0.]])

        Source: https://keras.io/api/layers/preprocessing_layers/categorical/category_encoding/
        """

class Discretization(_OneInput, _Discretization):
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
    ) -> None:
        r"""The index of the bin that x lies in: how many of `bin_boundaries` are not above x.

        Options:
            bin_boundaries (list of floats or None, default None): the boundaries, in ascending order; None leaves them to
                `adapt`.
            num_bins (positive integer or None, default None): how many bins `adapt` makes, each with the same share of its
                data. One of the two options must be set, and not both.
            epsilon (float between 0 and 1, default 0.01): Keras's error of these quantiles; here they are exact.
            output_mode ("int", "one_hot", "multi_hot" or "count", default "int"): "int" gives the index (int32), the others
                vectors as `CategoryEncoding` does.
            sparse (bool, default False): must be False, torch computes with dense tensors.

        Shapes:
            any -> the same for "int", else that of `CategoryEncoding`

        Errors:
            ValueError: neither `bin_boundaries` nor `num_bins`, or both; a call before `adapt` has found boundaries.

        Example:
            >>> Discretization([0.0, 1.0])(torch.tensor([-0.5, 0.5, 1.0]))
            tensor([0, 1, 2], dtype=torch.int32)

        Source: https://keras.io/api/layers/preprocessing_layers/numerical/discretization/
        """

class Normalization(_OneInput, _Normalization):
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
    ) -> None:
        r"""`(x - mean) / sqrt(variance)`, or with `invert` `mean + x * sqrt(variance)`.

        Mean and variance are constants of the layer, or weights that `adapt` finds in data. The square root counts as
        `config.epsilon()` where it is less.

        Options:
            axis (integer, list of them or None, default -1): each index of these axes has a mean and a variance of its own;
                with None there is one of each.
            mean (number, array or None, default None): the mean; None leaves it to `adapt`.
            variance (number, array or None, default None): the variance, of the shape of `mean`.
            invert (bool, default False): whether the layer computes the inverse.

        Shapes:
            any -> the same

        Errors:
            ValueError: `mean` without `variance` or of another shape; an `axis` that is not one of the input.

        Example:
            >>> layer = Normalization()
            >>> layer.adapt(np.array([[1.0], [3.0]]))
            >>> layer(torch.tensor([[5.0]]))
            tensor([[3.]])

        Source: https://keras.io/api/layers/preprocessing_layers/numerical/normalization/
        """

class Recurrent(_Recurrent):
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
    ) -> None:
        r"""`output[t], states = step(x[t], states)` along time: the base of all recurrent layers.

        The states begin at zero. A call takes other ones as `initial_state`, or in a list after the input. `constants` are
        seen by every step; they come as an argument of the call, or in that list after the states.

        At a masked step the states stay as they are, and the output is the first of them. With `unroll`, and where the
        output's shape is not that of the first state, it is the output of the step before, as in Keras, and zero before the
        first valid step. The option `zero_output_for_mask` of most layers chooses for itself, as in Keras 3.

        A subclass gives `state_shapes` and `begin`, or overrides `walk` where a sequence has a faster way.

        Options:
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.

        Shapes:
            (batch, time, ...) -> (batch, ...)
            (batch, time, ...) -> (batch, time, ...) with `return_sequences`
            with `return_state` a list: the output, and each state

        Errors:
            ValueError: initial states of another number or shape; constants that the step does not take; `stateful`
                without a known batch size, or called with another one; `unroll` without a known number of steps.

        Example:
            >>> sequences, state = torch.zeros(2, 3, 4), torch.ones(2, 5)
            >>> GRU(5, return_sequences=True)(sequences, initial_state=state).shape
            torch.Size([2, 3, 5])
        """

class GRU(_GRU, Recurrent):
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
    ) -> None:
        r"""`h' = z * h + (1 - z) * activation(x_n + (r * h) @ recurrent_kernel_n)`; the output is h'.

        `x @ kernel + bias` has the parts x_z, x_r and x_n, in this order. A gate is
        `z = recurrent_activation(x_z + h @ recurrent_kernel_z)`; r has the same formula. With `reset_after` the candidate
        is `activation(x_n + r * (h @ recurrent_kernel_n + recurrent_bias_n))`. The bias then has a second row, which is
        added to the product with h.

        With `reset_after=True`, `recurrent_activation="sigmoid"` and `activation="tanh"` the layer holds an `nn.GRU`. It
        runs that kernel on a CUDA device, and on the CPU where no gradients are recorded. `Recurrent` explains states and
        masks.

        Options:
            units (positive integer): the size of the output, and of each state.
            activation (name, function or None, default "tanh"): applied to the candidate, and in LSTM to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            implementation (1 or 2, default 1): 1 draws dropout for each gate, 2 once for all gates. 0 is an old name of 1.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            reset_after (bool, default False): whether the reset gate multiplies the product of the state and the recurrent
                kernel, not the state itself. The bias then has two rows.
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, features) -> (batch, units)
            (batch, time, features) -> (batch, time, units) with `return_sequences`; the state h (batch, units)

        Example:
            >>> GRU(4, return_sequences=True)(torch.zeros(2, 5, 3)).shape
            torch.Size([2, 5, 4])

        Source: https://arxiv.org/abs/1406.1078
        """

class LSTM(_LSTM, Recurrent):
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
    ) -> None:
        r"""`c' = f * c + i * g; h' = o * activation(c')`; the output is h', the states are h and c.

        `x @ kernel + h @ recurrent_kernel + bias` has the parts i, f, g and o, in this order. The gates i, f and o go
        through `recurrent_activation`, the candidate g through `activation`.

        With `recurrent_activation="sigmoid"` and `activation="tanh"` the layer holds an `nn.LSTM` and runs its kernel. The
        default is not "sigmoid" but Keras 2's `hard_sigmoid`. `Recurrent` explains states and masks.

        Options:
            units (positive integer): the size of the output, and of each state.
            activation (name, function or None, default "tanh"): applied to the candidate, and in LSTM to the cell state.
            recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
                `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            implementation (1 or 2, default 1): 1 draws dropout for each gate, 2 once for all gates. 0 is an old name of 1.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, features) -> (batch, units)
            (batch, time, features) -> (batch, time, units) with `return_sequences`; each state (batch, units)

        Example:
            >>> output, h, c = LSTM(4, return_state=True)(torch.zeros(2, 5, 3))
            >>> output.shape, h.shape, c.shape
            (torch.Size([2, 4]), torch.Size([2, 4]), torch.Size([2, 4]))

        Source: Hochreiter & Schmidhuber (1997), https://doi.org/10.1162/neco.1997.9.8.1735
        """

class RNN(_RNN, Recurrent):
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
    ) -> None:
        r"""`output[t], states = cell(x[t], states)` along time, for any cell.

        A cell has a `state_size`, an integer or a list with one for each state, and a method `call(inputs, states)`, which
        returns the output and the list of new states. `call` may take `constants` and `training` as well. A cell has an
        `output_size` where its output is not of the first state's size. A cell that is a layer is built for one step's
        input.

        `Recurrent` explains initial states, constants and masks.

        Options:
            cell (cell or list of cells): what each step computes; a list becomes `StackedRNNCells`.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            num_constants (positive integer or None, default None): how many constants end the list of inputs. A call with
                `constants` sets it; configs of such layers have it.
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, features) -> (batch, output_size)
            (batch, time, features) -> (batch, time, output_size) with `return_sequences`; each state (batch, size)

        Errors:
            ValueError: a cell without `call` or `state_size`.

        Example:
            >>> class Sum:
            ...     state_size = 3
            ...
            ...     def call(self, inputs, states):
            ...         total = states[0] + inputs
            ...         return total, [total]
            >>> RNN(Sum())(torch.ones(1, 4, 3))
            tensor([[4., 4., 4.]])
            >>> RNN([LSTMCell(3), GRUCell(5)])(torch.ones(1, 4, 3)).shape
            torch.Size([1, 5])

        Source: https://keras.io/api/layers/recurrent_layers/rnn/
        """

class CuDNNGRU(_CuDNNGRU, Recurrent):
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
    ) -> None:
        r"""GRU with `reset_after`, sigmoid gates and tanh, always by the kernel of `nn.GRU`, on any device.

        Its weights are those of Keras's files for cuDNN: each gate's part of a kernel has Keras's shape, but its elements
        are in torch's order. The bias is 6 * units long: for z, r and the candidate the biases added to the product with x,
        then those added to the product with h.

        Options:
            units (positive integer): the size of the output, and of each state.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.

        Shapes:
            (batch, time, features) -> (batch, units)
            (batch, time, features) -> (batch, time, units) with `return_sequences`; the state h (batch, units)

        Errors:
            ValueError: a call with a mask.

        Example:
            >>> CuDNNGRU(4)(torch.zeros(2, 5, 3)).shape
            torch.Size([2, 4])

        Source: Keras 2, `CuDNNGRU`
        """

class CuDNNLSTM(_CuDNNLSTM, Recurrent):
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
    ) -> None:
        r"""LSTM with sigmoid gates and tanh, always by the kernel of `nn.LSTM`, on any device.

        Its weights are as in `CuDNNGRU`. The bias is 8 * units long: for i, f, g and o the biases added to the product with
        x, then those added to the product with h; `unit_forget_bias` is for the latter.

        Options:
            units (positive integer): the size of the output, and of each state.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.

        Shapes:
            (batch, time, features) -> (batch, units)
            (batch, time, features) -> (batch, time, units) with `return_sequences`; each state (batch, units)

        Errors:
            ValueError: a call with a mask.

        Example:
            >>> CuDNNLSTM(4, return_sequences=True)(torch.zeros(2, 5, 3)).shape
            torch.Size([2, 5, 4])

        Source: Keras 2, `CuDNNLSTM`
        """

class SimpleRNN(_SimpleRNN, Recurrent):
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
    ) -> None:
        r"""`h' = activation(x @ kernel + h @ recurrent_kernel + bias)`; the output is h'.

        With `activation` "tanh" (the default) or "relu" the layer holds an `nn.RNN` and runs its kernel. `Recurrent`
        explains states and masks.

        Options:
            units (positive integer): the size of the output, and of each state.
            activation (name, function or None, default "tanh"): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
            recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
                loss.
            recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
            recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
            recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
                dropped in training.
            return_sequences (bool, default False): whether the output has every time step, not only the last.
            return_state (bool, default False): whether the final states follow the output, all in a list.
            go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
                the order of the walk.
            stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
                the batch must be known; `reset_states` sets the states to zero.
            unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
                masked steps it changes the output: see `Recurrent`.
            implementation (1 or 2, default 1): for old code and files: without gates, 1 and 2 compute the same.
            zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
                the output of the step before (zeros before the first valid step), None what `Recurrent` says of masks.

        Shapes:
            (batch, time, features) -> (batch, units)
            (batch, time, features) -> (batch, time, units) with `return_sequences`; the state h (batch, units)

        Example:
            >>> SimpleRNN(4)(torch.zeros(2, 5, 3)).shape
            torch.Size([2, 4])

        Source: Elman (1990), Finding Structure in Time
        """

class Cropping1D(_OneInput, _Cropping1D):
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
    ) -> None:
        r"""Sequences without their first and last steps.

        Options:
            cropping (integer or pair, default 1): how many steps are taken away: at both ends, or a pair (before, after).
                Something must be left.

        Shapes:
            (batch, steps, channels) -> (batch, steps - before - after, channels)

        Example:
            >>> Cropping1D((1, 2))(torch.zeros(2, 10, 4)).shape
            torch.Size([2, 7, 4])
        """

class Cropping2D(_OneInput, _Cropping2D):
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
    ) -> None:
        r"""Images without the rows and columns at their ends.

        Options:
            cropping (integer, two integers or two pairs, default 0): how much is taken away: an integer for all ends,
                integers (height, width), or pairs ((top, bottom), (left, right)). Something must be left.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> (batch, height - top - bottom, width - left - right, channels)

        Example:
            >>> Cropping2D(((1, 0), (2, 2)))(torch.zeros(2, 9, 9, 3)).shape
            torch.Size([2, 8, 5, 3])
        """

class Cropping3D(_OneInput, _Cropping3D):
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
    ) -> None:
        r"""Volumes without the values at the ends of depth, height and width.

        Options:
            cropping (integer, integers or pairs, default 1): how many values are taken away: an integer for all ends, an
                integer for each axis, or a pair (before, after) for each axis. Something must be left.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, depth, height, width, channels) -> the same, each spatial size less before and after

        Example:
            >>> Cropping3D((1, 2, 3))(torch.zeros(2, 9, 9, 9, 1)).shape
            torch.Size([2, 7, 5, 3, 1])
        """

class UpSampling1D(_OneInput, _UpSampling1D):
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
    ) -> None:
        r"""Sequences with each step repeated.

        Options:
            size (positive integer, default 2): how often a step is repeated.

        Shapes:
            (batch, steps, channels) -> (batch, steps * size, channels)

        Example:
            >>> UpSampling1D(2)(torch.tensor([[[1.0], [2.0]]])).flatten().tolist()
            [1.0, 1.0, 2.0, 2.0]
        """

class UpSampling2D(_OneInput, _UpSampling2D):
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
    ) -> None:
        r"""Images with each value repeated along height and width, or with interpolated values.

        Options:
            size (positive integer or tuple of them, default 2): how often a value is repeated along all spatial axes, or
                along each.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            interpolation (string, default "nearest"): "nearest" repeats values. "bilinear" interpolates: output i lies at
                i / size of the input, as in TensorFlow 1, and the last value is repeated at the end.
            half_pixel (bool, default False): whether "bilinear" puts output i at (i + 0.5) / size - 0.5, as later versions
                of Keras do.

        Shapes:
            (batch, height, width, channels) -> (batch, height * size[0], width * size[1], channels)

        Example:
            >>> UpSampling2D((2, 3))(torch.zeros(1, 4, 4, 3)).shape
            torch.Size([1, 8, 12, 3])
        """

class UpSampling3D(_OneInput, _UpSampling3D):
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
    ) -> None:
        r"""Volumes with each value repeated along depth, height and width.

        Options:
            size (positive integer or tuple of them, default 2): how often a value is repeated along all spatial axes, or
                along each.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, depth * size[0], height * size[1], width * size[2], channels)

        Example:
            >>> UpSampling3D()(torch.zeros(1, 2, 3, 4, 1)).shape
            torch.Size([1, 4, 6, 8, 1])
        """

class ZeroPadding1D(_OneInput, _ZeroPadding1D):
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
    ) -> None:
        r"""Sequences with steps of zeros before and after them.

        Options:
            padding (integer or pair, default 1): how many steps are added: at both ends, or a pair (before, after).
            data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, steps, channels) -> (batch, before + steps + after, channels)

        Example:
            >>> ZeroPadding1D((1, 0))(torch.ones(1, 2, 1)).flatten().tolist()
            [0.0, 1.0, 1.0]
        """

class ZeroPadding2D(_OneInput, _ZeroPadding2D):
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
    ) -> None:
        r"""Images with rows and columns of zeros around them.

        Options:
            padding (integer, two integers or two pairs, default 1): how much is added: an integer for all ends, integers
                (height, width), or pairs ((top, bottom), (left, right)).
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, height, width, channels) -> (batch, top + height + bottom, left + width + right, channels)

        Example:
            >>> ZeroPadding2D(((1, 0), (2, 2)))(torch.zeros(2, 9, 9, 3)).shape
            torch.Size([2, 10, 13, 3])
        """

class ZeroPadding3D(_OneInput, _ZeroPadding3D):
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
    ) -> None:
        r"""Volumes with zeros around them.

        Options:
            padding (integer, integers or pairs, default 1): how many zeros are added: an integer for all ends, an integer
                for each axis, or a pair (before, after) for each axis.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

        Shapes:
            (batch, depth, height, width, channels) -> the same, each spatial size with before and after added

        Example:
            >>> ZeroPadding3D((1, 2, 3))(torch.zeros(2, 9, 9, 9, 1)).shape
            torch.Size([2, 11, 13, 15, 1])
        """

class DepthwiseConv1D(_OneInput, _DepthwiseConv1D):
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
    ) -> None:
        r"""`activation(convolution(x, kernel) + bias)` along the steps of sequences, each channel by itself.

        Options:
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): "valid", "same" or "half", as for `Conv2D`.
            depth_multiplier (positive integer, default 1): the number of kernels of each channel. Channel c convolved with
                its kernel m is channel `c * depth_multiplier + m` of the output.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each channel of the output.
            depthwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the depthwise kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            depthwise_regularizer (name, Regularizer or None, default None): a penalty on the depthwise kernel, added to the
                loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            depthwise_constraint (name, Constraint or None, default None): applied to the depthwise kernel after each
                update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, steps, channels) -> (batch, new_steps, channels * depth_multiplier)

        Example:
            >>> DepthwiseConv1D(3, depth_multiplier=2)(torch.zeros(2, 10, 4)).shape
            torch.Size([2, 8, 8])
        """

class DepthwiseConv2D(_OneInput, _DepthwiseConv2D):
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
    ) -> None:
        r"""`activation(convolution(x, kernel) + bias)` over height and width of images, each channel by itself.

        Options:
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): "valid", "same" or "half", as for `Conv2D`.
            depth_multiplier (positive integer, default 1): the number of kernels of each channel. Channel c convolved with
                its kernel m is channel `c * depth_multiplier + m` of the output.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each channel of the output.
            depthwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the depthwise kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            depthwise_regularizer (name, Regularizer or None, default None): a penalty on the depthwise kernel, added to the
                loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            depthwise_constraint (name, Constraint or None, default None): applied to the depthwise kernel after each
                update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.

        Shapes:
            (batch, height, width, channels) -> (batch, new_height, new_width, channels * depth_multiplier)

        Example:
            >>> DepthwiseConv2D(3, padding="same")(torch.zeros(2, 9, 9, 4)).shape
            torch.Size([2, 9, 9, 4])
        """

class SeparableConv1D(_OneInput, _SeparableConv1D):
    def __init__(
        self,
        filters: int,
        kernel_size: int | list[int] | tuple[int],
        strides: int | list[int] | tuple[int] = 1,
        padding: Literal["valid", "same", "half", "causal"] = "valid",
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
    ) -> None:
        r"""`activation(depthwise(x) @ pointwise_kernel + bias)` along the steps of sequences.

        Each channel is convolved by itself; the pointwise kernel then mixes the channels.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): "valid", "same", "half" or "causal", as for `Conv1D`.
            data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            depth_multiplier (positive integer, default 1): the number of depthwise kernels of each channel.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter.
            depthwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the depthwise kernel.
            pointwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the pointwise kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            depthwise_regularizer (name, Regularizer or None, default None): a penalty on the depthwise kernel, added to the
                loss.
            pointwise_regularizer (name, Regularizer or None, default None): a penalty on the pointwise kernel, added to the
                loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            depthwise_constraint (name, Constraint or None, default None): applied to the depthwise kernel after each
                update.
            pointwise_constraint (name, Constraint or None, default None): applied to the pointwise kernel after each
                update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, steps, channels) -> (batch, new_steps, filters)

        Example:
            >>> SeparableConv1D(8, 3)(torch.zeros(2, 10, 4)).shape
            torch.Size([2, 8, 8])

        Source: https://arxiv.org/abs/1610.02357
        """

class SeparableConv2D(_OneInput, _SeparableConv2D):
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
    ) -> None:
        r"""`activation(depthwise(x) @ pointwise_kernel + bias)` over height and width of images.

        Each channel is convolved by itself; the pointwise kernel then mixes the channels.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
            strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
                or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): "valid", "same" or "half", as for `Conv2D`.
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            depth_multiplier (positive integer, default 1): the number of depthwise kernels of each channel.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter.
            depthwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the depthwise kernel.
            pointwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the pointwise kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            depthwise_regularizer (name, Regularizer or None, default None): a penalty on the depthwise kernel, added to the
                loss.
            pointwise_regularizer (name, Regularizer or None, default None): a penalty on the pointwise kernel, added to the
                loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            depthwise_constraint (name, Constraint or None, default None): applied to the depthwise kernel after each
                update.
            pointwise_constraint (name, Constraint or None, default None): applied to the pointwise kernel after each
                update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.

        Shapes:
            (batch, height, width, channels) -> (batch, new_height, new_width, filters)

        Example:
            >>> SeparableConv2D(8, 3, padding="same")(torch.zeros(2, 9, 9, 4)).shape
            torch.Size([2, 9, 9, 8])

        Source: https://arxiv.org/abs/1610.02357
        """

class Flatten(_OneInput, _Flatten):
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
    ) -> None:
        r"""The values of each sample along one axis.

        Options:
            data_format (string or None, default None): with "channels_first" the channels are moved to the last axis first,
                so that the order of the values does not depend on the data format; None means
                `config.image_data_format()`.

        Shapes:
            (batch, ...) -> (batch, product of the other sizes)

        Errors:
            ValueError: at the first call, when a size other than the batch size is unknown.

        Example:
            >>> Flatten()(torch.zeros(2, 3, 4)).shape
            torch.Size([2, 12])
        """

class Permute(_OneInput, _Permute):
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
    ) -> None:
        r"""The axes in another order; the batch axis stays first.

        Options:
            dims (tuple of integers): for each axis of the output, the axis of the input that comes there; each of 1, 2, ...
                once.

        Shapes:
            (batch, s1, s2, ...) -> (batch, s[dims[0]], s[dims[1]], ...)

        Example:
            >>> Permute((2, 1))(torch.zeros(1, 3, 4)).shape
            torch.Size([1, 4, 3])
        """

class RepeatVector(_OneInput, _RepeatVector):
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
    ) -> None:
        r"""The input repeated `n` times along a new time axis.

        Options:
            n (positive integer): the number of time steps.

        Shapes:
            (batch, features) -> (batch, n, features)

        Example:
            >>> RepeatVector(2)(torch.tensor([[1.0, 2.0]])).tolist()
            [[[1.0, 2.0], [1.0, 2.0]]]
        """

class Reshape(_OneInput, _Reshape):
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
    ) -> None:
        r"""The values of each sample in the shape `target_shape`.

        Options:
            target_shape (tuple of integers): the shape without the batch axis; one size may be -1, which stands for
                whatever size is left.

        Shapes:
            (batch, ...) -> (batch, *target_shape)

        Errors:
            ValueError: when `target_shape` has another number of values than a sample.

        Example:
            >>> Reshape((2, -1))(torch.zeros(1, 12)).shape
            torch.Size([1, 2, 6])
        """

class TorchModule(_TorchModule):
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
    ) -> None:
        r"""`module(*inputs)`: a module of torch as a layer; its parameters and buffers are the layer's weights.

        The layer is called as the module is: with several inputs, nested ones, and arguments by name. Only `training` is
        the layer's own: it sets the mode of the call. `dtype`, unless given, is the type of the module's parameters.

        A config holds the module's class by name only. Loading takes the module from `custom_objects`, under the name of
        the layer or of the class: an instance, which the layer copies, or a function that makes one.

        Options:
            module (module of torch): any `nn.Module`, with the values that it has; a lazy one such as `nn.LazyLinear` gets
                them at the first call.
            data_format (string or None, default None): "channels_first" for a module that takes images with the channels
                first in a graph that has them last; None hands over tensors as the graph has them.

        Shapes:
            any -> the shapes of the module's outputs

        Errors:
            ValueError: when `module` is a layer or no module.

        Example:
            >>> x = Input((28,))
            >>> Model(x, TorchModule(torch.nn.Linear(28, 10))(x)).output_shape
            (None, 10)
        """

class Conv1DTranspose(_OneInput, _Conv1DTranspose):
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
    ) -> None:
        r"""The transposed convolution of sequences: `activation(y + bias)`.

        Each value of the input adds the kernel times itself to `y`, `strides` apart.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
                Below, k is `(kernel_size - 1) * dilation_rate + 1`, the length that the kernel covers.
            strides (positive integer or tuple of them, default 1): the distance in the output between two values of the
                input, along all spatial axes or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): what is cut from the ends. "valid" leaves
                `size * strides + max(k - strides, 0)` values along an axis, "same" and "half" leave `size * strides`.
                "same" cuts the larger half at the end, as TensorFlow does. "half" cuts k // 2 at the start, as Theano did,
                and needs an odd k. "full" cuts k - 1 at both ends.
            output_padding (integer, tuple of them or None, default None): values added at the end of all spatial axes, or
                of each; they are fewer than `strides`. The output then has
                `(size - 1) * strides + k - 2 * cut + output_padding` values along an axis, with a cut of 0 for "valid",
                k // 2 for "same" and "half", and k - 1 for "full".
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            target_shape (tuple of integers or None, default None): the complete shape of the output, Keras 1's
                `output_shape`. A convolution of that shape must have the size of the input. Its batch size does not count.
                It cannot be given together with `output_padding`.

        Shapes:
            (batch, steps, channels) -> (batch, new_steps, filters)

        Example:
            >>> Conv1DTranspose(8, 3, strides=2, padding="same")(torch.zeros(2, 5, 4)).shape
            torch.Size([2, 10, 8])
        """

class Conv2DTranspose(_OneInput, _Conv2DTranspose):
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
    ) -> None:
        r"""The transposed convolution of images: `activation(y + bias)`.

        Each value of the input adds the kernel times itself to `y`, `strides` apart.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
                Below, k is `(kernel_size - 1) * dilation_rate + 1`, the length that the kernel covers.
            strides (positive integer or tuple of them, default 1): the distance in the output between two values of the
                input, along all spatial axes or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): what is cut from the ends. "valid" leaves
                `size * strides + max(k - strides, 0)` values along an axis, "same" and "half" leave `size * strides`.
                "same" cuts the larger half at the end, as TensorFlow does. "half" cuts k // 2 at the start, as Theano did,
                and needs an odd k. "full" cuts k - 1 at both ends.
            output_padding (integer, tuple of them or None, default None): values added at the end of all spatial axes, or
                of each; they are fewer than `strides`. The output then has
                `(size - 1) * strides + k - 2 * cut + output_padding` values along an axis, with a cut of 0 for "valid",
                k // 2 for "same" and "half", and k - 1 for "full".
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            target_shape (tuple of integers or None, default None): the complete shape of the output, Keras 1's
                `output_shape`. A convolution of that shape must have the size of the input. Its batch size does not count.
                It cannot be given together with `output_padding`.

        Shapes:
            (batch, height, width, channels) -> (batch, new_height, new_width, filters)

        Example:
            >>> Conv2DTranspose(8, 3, strides=2)(torch.zeros(2, 5, 5, 4)).shape
            torch.Size([2, 11, 11, 8])
        """

class Conv3DTranspose(_OneInput, _Conv3DTranspose):
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
    ) -> None:
        r"""The transposed convolution of volumes: `activation(y + bias)`.

        Each value of the input adds the kernel times itself to `y`, `strides` apart.

        Options:
            filters (positive integer): the number of channels of the output.
            kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
                Below, k is `(kernel_size - 1) * dilation_rate + 1`, the length that the kernel covers.
            strides (positive integer or tuple of them, default 1): the distance in the output between two values of the
                input, along all spatial axes or along each. Not above 1 together with `dilation_rate`.
            padding (string, default "valid"): what is cut from the ends. "valid" leaves
                `size * strides + max(k - strides, 0)` values along an axis, "same" and "half" leave `size * strides`.
                "same" cuts the larger half at the end, as TensorFlow does. "half" cuts k // 2 at the start, as Theano did,
                and needs an odd k. "full" cuts k - 1 at both ends.
            output_padding (integer, tuple of them or None, default None): values added at the end of all spatial axes, or
                of each; they are fewer than `strides`. The output then has
                `(size - 1) * strides + k - 2 * cut + output_padding` values along an axis, with a cut of 0 for "valid",
                k // 2 for "same" and "half", and k - 1 for "full".
            data_format (string or None, default None): "channels_last", with the channels at the last axis, or
                "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added, one number for each filter.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
            kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
            bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
            dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
                all spatial axes, or along each. Not above 1 together with `strides`.
            target_shape (tuple of integers or None, default None): the complete shape of the output, Keras 1's
                `output_shape`. A convolution of that shape must have the size of the input. Its batch size does not count.
                It cannot be given together with `output_padding`.

        Shapes:
            (batch, depth, height, width, channels) -> (batch, new_depth, new_height, new_width, filters)

        Example:
            >>> Conv3DTranspose(8, 2, strides=2)(torch.zeros(2, 3, 4, 5, 1)).shape
            torch.Size([2, 6, 8, 10, 8])
        """

class SpectralNormalization(_OneInput, _SpectralNormalization, Wrapper):
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
    ) -> None:
        r"""`layer`, whose kernel W each call in training first divides by its largest singular value.

        W is the kernel or the embeddings, as a matrix of all axes but the last by the last. Its singular value is estimated
        by steps of `v = unit(u @ W.T); u = unit(v @ W)`; the weight `vector_u` keeps u from call to call. No gradient flows
        through the division, and a kernel of zeros stays as it is.

        Options:
            layer (layer, module of torch or config of a layer): the inner layer, with a kernel or embeddings.
            power_iterations (integer from 1 to 10000, default 1): the number of steps of the estimate.

        Shapes:
            those of `layer`

        Errors:
            ValueError: a layer with neither kernel nor embeddings.

        Example:
            >>> layer = SpectralNormalization(Dense(2, kernel_initializer="ones"), power_iterations=5)
            >>> output = layer(torch.ones(1, 2), training=True)
            >>> round(torch.linalg.matrix_norm(layer.layer.kernel, 2).item(), 3)
            1.0

        Source: https://arxiv.org/abs/1802.05957
        """

class TimeDistributed(_OneInput, _TimeDistributed, Wrapper):
    def __init__(
        self,
        layer: Module | Mapping[str, Any],
        by_steps: bool = False,
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
    ) -> None:
        r"""`output[:, t] = layer(x[:, t])`, in one call: the time steps are folded into the batch.

        A layer that takes a mask gets the mask of its step. The output's mask is what the layer's `compute_mask` returns,
        or where that is None the input's mask.

        Options:
            layer (layer, module of torch or config of a layer): the inner layer; a module becomes a `TorchModule`.
            by_steps (bool, default False): whether a BatchNormalization in the layer trains by the batch of one step after
                the other, as in Keras 3, whose files are loaded so.

        Shapes:
            (batch, time, ...) -> (batch, time, ...), where the last axes are those of `layer`

        Example:
            >>> TimeDistributed(Conv2D(4, 3))(torch.zeros(2, 5, 8, 8, 1)).shape
            torch.Size([2, 5, 6, 6, 4])

        Source: https://keras.io/api/layers/recurrent_layers/time_distributed/
        """

class Wrapper(_Wrapper):
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
    ) -> None:
        r"""A layer that computes by another one, `layer`, and has its weights: the base of all wrappers.

        `trainable` is that of the inner layer; setting it on the wrapper sets it there.

        Options:
            layer (layer, module of torch or config of a layer): the inner layer; a module becomes a `TorchModule`.

        Example:
            >>> wrapper = TimeDistributed(Dense(2, name="inner"))
            >>> wrapper.layer.name, isinstance(wrapper, Wrapper)
            ('inner', True)
        """

GlobalAvgPool1D = GlobalAveragePooling1D
GlobalAvgPool2D = GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D
GlobalMaxPool1D = GlobalMaxPooling1D
GlobalMaxPool2D = GlobalMaxPooling2D
GlobalMaxPool3D = GlobalMaxPooling3D
AvgPool1D = AveragePooling1D
AvgPool2D = AveragePooling2D
AvgPool3D = AveragePooling3D
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
    r"""`{"class_name": ..., "config": ...}` of a layer.

    Arguments:
        layer (Layer): the layer; its weights are left out.

    Example:
        >>> serialize(RepeatVector(3, name="again"))["config"]
        {'name': 'again', 'trainable': True, 'n': 3}
    """

def deserialize(config: dict[str, object], custom_objects: dict[str, object] | None = None) -> Layer:
    r"""The layer that `serialize` wrote, with new weights.

    Arguments:
        config (dictionary): `{"class_name": ..., "config": ...}`.
        custom_objects (dictionary or None, default None): classes and functions of your own, by name.

    Errors:
        ValueError: for an unknown class and for a bad option.

    Example:
        >>> deserialize({"class_name": "Dense", "config": {"units": 4}}).units
        4
    """

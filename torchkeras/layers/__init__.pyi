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

        Shape: any -> the same. Source: https://arxiv.org/abs/1511.07289
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

        Shape: any -> the same. Source: https://ai.stanford.edu/~amaas/papers/relu_hybrid_icml2013_final.pdf
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

        `alpha_init`, `beta_init`: the numbers they begin as. `shared_axes`: as of `PReLU`. From Keras 1.
        Shape: any of at least two axes, known where they are not shared -> the same.
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

        `shared_axes`: the axes (1 is the first behind the batch axis) along which alpha is the same.
        Shape: any of at least two axes, known where they are not shared -> the same.
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

        Shape: any -> the same.
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
        r"""`exp(x) / sum(exp(x))` along `axis`, one or several together.

        Shape: any of at least two axes -> the same.
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
        r"""`x` between `t_left` and `t = t_left + abs(t_right)`; `t_left + a_left * (x - t_left)` below; and above it
        `t + a_right * (x - t)`. All four are learned, for each place of a sample.

        `t_left_init`, `a_left_init`, `t_right_init`, `a_right_init`: their initializers. `shared_axes`: as of `PReLU`.
        `capped`: what a negative `a_left` makes of values below is `t` at the most, as it was on Theano. From Keras 1.
        Shape: any of at least two axes, known where they are not shared -> the same.
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

        Shape: any -> the same. Source: https://arxiv.org/abs/1402.3337
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
        r"""`softmax(sum(scale * tanh(query + key))) @ value`, the sum over the features, each with a `scale` of its own.

        Without `use_scale` the scale is 1. Masks, `dropout` and the call are as for Attention.

        Shape: [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values), and
        (batch, queries, keys) for the scores. Source: https://arxiv.org/abs/1409.0473
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

        `use_scale`: the scores are multiplied by a weight, `scale`. `score_mode="concat"`: they are
        `concat_score_weight * sum(tanh(scale * (query + key)))`. In training, `dropout` drops a share of the softmax.
        The call takes `mask=[query_mask, value_mask]`: what the value's hides is not attended to, what the query's hides is
        zero in the output. `use_causal_mask`: no position attends to a later one. `return_attention_scores`: the softmax
        is a second output.

        Shape: [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values), and
        (batch, queries, keys) for the scores. Source: https://arxiv.org/abs/1508.04025
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
        r"""MultiHeadAttention whose heads share keys and values: `num_query_heads / num_key_value_heads` heads each.

            `head_dim`: the features of a head's query, key and value. The other options and the call are as for
            MultiHeadAttention.

            Shape: [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features), and
            (batch, num_query_heads, queries, keys) for the scores. Source: https://arxiv.org/abs/2305.13245

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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

            q, k and v are the query, the key and the value by projections of the head to `key_dim`, `key_dim` and `value_dim`
            features. The call is `layer(query, value, key, query_mask=, value_mask=, key_mask=, attention_mask=)`; a mask is
            True where there is something to attend to, `attention_mask` for each query and key. `use_causal_mask`: no position
            attends to a later one. `return_attention_scores`: the softmax is a second output. `attention_axes`: the axes to
            attend along, by default all between the first and the last; the others are like the batch. `output_shape`: the last
            axes of the output, by default the query's last. In training, `dropout` drops a share of the softmax.
            Keras 3's `sliding_window`, `flash_attention` and `use_gate` are taken as they are by default only, and so is
            `activity_regularizer`: torch chooses its kernel by itself.

            Shape: [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features), and
            (batch, heads, queries, keys) for the scores. Source: https://arxiv.org/abs/1706.03762

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""In training, `(x - mean) * c + mean` with the mean of each channel and a c for each image, cut to `value_range`.

        `factor`: c is drawn from 1 - factor[0] to 1 + factor[1]; a single number is the latter, and the former is 0.
        Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
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
        r"""In training, a window cut out of all images of a batch at one random place; else the middle, made to fit.

        Images that are no larger than the window are made to fit in training as well. (Keras 3.15 documents this, and cuts
        smaller images elsewhere in training, and not at all outside of it.)
        Shape: (batch, height, width, channels) -> (batch, *window, channels), or by `data_format` with the channels first.
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
        r"""In training, each image with a chance of 1/2 mirrored: left to right, top to bottom, or both ways at once.

        Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
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
        r"""In training, each image turned counter-clockwise about its centre, by an angle drawn from the range `factor`.

        `factor`: in whole turns, two numbers, or one for (-factor, factor). `fill_mode`: what lies beyond the edge:
        'reflect' (d c b a | a b c d | d c b a), 'nearest' (a a a a | a b c d | d d d d), or 'constant': the `fill_value`.
        Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
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
        r"""In training, each image moved down and right by shares of its height and width (up and left where negative).

        `height_factor`, `width_factor`: the ranges of the shares: two numbers, or one for (-factor, factor). The other
        options are those of `RandomRotation`.
        Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
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
        r"""In training, each image smaller about its centre (by a factor above 0) or larger (below 0).

        `height_factor`, `width_factor`: the ranges of the share by which more is seen: two numbers, or one for (-factor,
        factor); without the latter the width goes with the height. The other options are those of `RandomRotation`.
        Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
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
        r"""`merge(layer(x), flip(layer'(flip(x))))`, `layer'` being the same layer with weights of its own.

        `merge_mode`: "concat" (along the last axis), "sum", "mul", "ave", or None for both outputs as a list. Initial and
        final states are those of the forward layer, then those of the backward one. `backward_layer`: a layer of other
        options for the way back, with `go_backwards` the other way. Where torch's kernel computes both
        directions, it does so in one call: see `path`. `weights`: the forward layer's, then the backward one's.

        Shape: (batch, time, ...) -> as `layer` has it, the last axis doubled with "concat"; with the layer's `return_state`
        a list. Raises ValueError for a layer that is not recurrent, or has been called already. Source:
        https://doi.org/10.1109/78.650093
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
        r"""One step of `GRU`, for RNN. Shape: (batch, features), h (batch, units) -> the output h', and [h']."""

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
        r"""One step of `LSTM`, for RNN. Shape: (batch, features), h and c (batch, units) -> the output h', and [h', c']."""

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
        r"""One step of `SimpleRNN`, for RNN. Shape: (batch, features), h (batch, units) -> the output h', and [h']."""

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
        r"""`cells` as one cell, each taking the output of the one before.

        The states are those of the first cell, then of the second, and so on (from the last to the first with
        `reverse_state_order`). Constants go to the cells that take them.

        Shape: (batch, features) and the states -> the last cell's output, and the new states.
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
        r"""`activation(convolution(x, kernel) + bias)` over `rank` axes.

            `padding`: 'valid' (none), 'same' (output as long as the input, divided by the strides; the end gets the larger
            half, as in TensorFlow), 'half' (the 'same' of Theano: half a kernel at each end, the start gets the larger one),
            'full' (every value that the kernel touches) or, over one axis, 'causal' (before the start only). `groups`: into how
            many equal groups channels and filters are split, each with its own convolution.
            Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
            (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
            are both above 1, for 'causal' with 'channels_first', for groups that do not divide channels and filters, and for a
            kernel that is longer than the input.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`activation(convolution(x, kernel) + bias)` over `rank` axes.

            `padding`: 'valid' (none), 'same' (output as long as the input, divided by the strides; the end gets the larger
            half, as in TensorFlow), 'half' (the 'same' of Theano: half a kernel at each end, the start gets the larger one),
            'full' (every value that the kernel touches) or, over one axis, 'causal' (before the start only). `groups`: into how
            many equal groups channels and filters are split, each with its own convolution.
            Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
            (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
            are both above 1, for 'causal' with 'channels_first', for groups that do not divide channels and filters, and for a
            kernel that is longer than the input.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`activation(convolution(x, kernel) + bias)` over `rank` axes.

            `padding`: 'valid' (none), 'same' (output as long as the input, divided by the strides; the end gets the larger
            half, as in TensorFlow), 'half' (the 'same' of Theano: half a kernel at each end, the start gets the larger one),
            'full' (every value that the kernel touches) or, over one axis, 'causal' (before the start only). `groups`: into how
            many equal groups channels and filters are split, each with its own convolution.
            Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
            (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
            are both above 1, for 'causal' with 'channels_first', for groups that do not divide channels and filters, and for a
            kernel that is longer than the input.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`.

        `z = convolution(x, kernel) + bias + convolution(h, recurrent_kernel)`, for i, f, g, o in this order, g by
        `activation`; the second convolution has no strides and padding 'same', or with `recurrent_padding` 'half' Theano's.
        `padding`: 'valid', 'same' or 'half', as for Conv2D. Dropout is drawn for each gate, the same at all steps.
        Source: https://arxiv.org/abs/1506.04214

        Shape: (batch, time, *sizes, channels) -> (batch, *new sizes, filters), or with `return_sequences` (batch, time,
        *new sizes, filters); with data_format='channels_first' the channels stand before the sizes. With `return_state` a
        list: the output, h and c. States and masks: see `Recurrent`.
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
        r"""`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`.

        `z = convolution(x, kernel) + bias + convolution(h, recurrent_kernel)`, for i, f, g, o in this order, g by
        `activation`; the second convolution has no strides and padding 'same', or with `recurrent_padding` 'half' Theano's.
        `padding`: 'valid', 'same' or 'half', as for Conv2D. Dropout is drawn for each gate, the same at all steps.
        Source: https://arxiv.org/abs/1506.04214

        Shape: (batch, time, *sizes, channels) -> (batch, *new sizes, filters), or with `return_sequences` (batch, time,
        *new sizes, filters); with data_format='channels_first' the channels stand before the sizes. With `return_state` a
        list: the output, h and c. States and masks: see `Recurrent`.
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
        r"""`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`.

        `z = convolution(x, kernel) + bias + convolution(h, recurrent_kernel)`, for i, f, g, o in this order, g by
        `activation`; the second convolution has no strides and padding 'same', or with `recurrent_padding` 'half' Theano's.
        `padding`: 'valid', 'same' or 'half', as for Conv2D. Dropout is drawn for each gate, the same at all steps.
        Source: https://arxiv.org/abs/1506.04214

        Shape: (batch, time, *sizes, channels) -> (batch, *new sizes, filters), or with `return_sequences` (batch, time,
        *new sizes, filters); with data_format='channels_first' the channels stand before the sizes. With `return_state` a
        list: the output, h and c. States and masks: see `Recurrent`.
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
        r"""One step of ConvLSTM. Shape: (batch, *sizes, channels), h, c (batch, *new sizes, filters) -> h', and [h', c']."""

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
        r"""`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`.

        `z = convolution(x, kernel) + bias + convolution(h, recurrent_kernel)`, for i, f, g, o in this order, g by
        `activation`; the second convolution has no strides and padding 'same', or with `recurrent_padding` 'half' Theano's.
        `padding`: 'valid', 'same' or 'half', as for Conv2D. Dropout is drawn for each gate, the same at all steps.
        Source: https://arxiv.org/abs/1506.04214

        Shape: (batch, time, *sizes, channels) -> (batch, *new sizes, filters), or with `return_sequences` (batch, time,
        *new sizes, filters); with data_format='channels_first' the channels stand before the sizes. With `return_state` a
        list: the output, h and c. States and masks: see `Recurrent`.
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

        The cell has `filters`, `kernel_size`, `strides`, `padding`, `data_format` and `dilation_rate`, beside what RNN asks
        for. Shape: (batch, time, rows, columns, channels) -> (batch, new rows, new columns, filters), or with
        `return_sequences` (batch, time, ...).
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

        Shape: any -> the same.
        """

class ActivityRegularization(_OneInput, _ActivityRegularization):
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
    ) -> None:
        r"""`x`; its calls add `l1 * sum(abs(x)) + l2 * sum(x ** 2)` to the loss.

        Shape: any -> the same.
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
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.

        Shapes:
            (batch, ..., features) -> (batch, ..., units)

        Example:
            >>> Dense(4, activation="relu")(torch.zeros(2, 3)).shape
            torch.Size([2, 4])

        Source: https://keras.io/api/layers/core_layers/dense/
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
        r"""All axes but the batch axis in one; with data_format='channels_first' the channels are moved to the end first.

        Shape: (batch, ...) -> (batch, product of the others). Raises ValueError when one of them is not known.
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
        r"""`x`, also of several tensors, nested or not.

        Shape: any -> the same.
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
        r"""`function(x, **arguments)`, in Keras's order of axes; a `function` with a parameter `mask` is given the mask.

        A module of torch given as `function` is a part of the layer, as in `TorchModule`.

        `output_shape`: a tuple without the batch axis, or a function of the input shape; found by trying when not given.
        `mask`: the mask of the output, or a function `(inputs, mask) -> mask`. A config has the functions by name only (a
        lambda goes by the name of its layer; one for `output_shape` by "layer.output_shape"): loading needs them in
        `custom_objects`, and no code is ever read from a file.

        Shape: any -> as the function gives it.
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
        r"""`x`, with zeros at the time steps where all features are `mask_value`; they are masked from here on.

        Shape: (batch, time, ..., features) -> the same; the mask has (batch, time, ...).
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
        r"""The axes in another order: `dims` says for each axis which one comes there, the batch axis (0) apart.

        Shape: (batch, s1, s2, ...) -> (batch, s[dims[0]], s[dims[1]], ...).
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
        r"""The input `n` times, along a new axis of time.

        Shape: (batch, features) -> (batch, n, features).
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
        r"""The same values under `target_shape`, the batch axis apart; one -1 stands for the size that is left.

        Shape: (batch, ...) -> (batch, *target_shape). Raises ValueError when the sizes do not fit.
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

            `equation`: such as "abc,cd->abd"; in "...c,cd->...d" the ellipsis stands for the batch and any further axes.
            `output_shape`: the sizes of the output's other axes, None where the input tells. `bias_axes`: the letters of the
            output that the bias has; no bias without. An equation that sums over the input's last axes and puts the new ones
            last is computed by an `nn.Linear`.

            Shape: as the equation says, the batch being the first axis. Raises ValueError for an equation that does not fit.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`embeddings[x]`: for each integer from 0 to `input_dim - 1` its vector of `output_dim` values.

        `dropout`: in training, the fraction of integers whose vectors are zero for the whole batch, Keras 1's option.
        `mask_zero`: 0 is padding, and masked from here on. `input_length`: the number of integers in a sample (a tuple
        for more axes), checked, and taken for the size where the input's is not known.

        Shape: (batch, ...) -> (batch, ..., output_dim). Inputs of other types are cut to integers.
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
        r"""The cosine of two inputs along `axes`: `a.b / max(sqrt(a.a * b.b), epsilon)`, as Keras 1's `merge` has it.

        Shape: [(batch, n), (batch, n)] -> (batch, 1, 1): the extra axis is Keras 1's.
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
        r"""`gate * activation(x @ kernel + bias) + (1 - gate) * x`, `gate = sigmoid(x @ carry_kernel + carry_bias)`.

            The bias of the gate begins at 1. Regularizers and constraints are those of `kernel` and `bias`.

            Shape: (batch, features) -> the same. Source: https://arxiv.org/abs/1505.00387

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`max over k of x @ kernel[k] + bias[k]`, the largest of `nb_feature` linear maps.

            Shape: (batch, features) -> (batch, units). Source: https://arxiv.org/abs/1302.4389

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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

        Options:
            units (positive integer): the size of the last axis of the output.
            activation (name, function or None, default None): applied to the sum; None applies nothing.
            use_bias (bool, default True): whether a bias is added.
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.

        Shapes:
            (batch, ..., features) -> (batch, ..., units)

        Example:
            >>> Dense(4, activation="relu")(torch.zeros(2, 3)).shape
            torch.Size([2, 4])

        Source: https://keras.io/api/layers/core_layers/dense/
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
        r"""`activation(window @ kernel[place] + bias[place])`: a convolution whose kernel is another one at every place.

            `padding` can only be 'valid'. Over one axis the features come last for either `data_format`, as in Keras.
            Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first' over two
            axes (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for sizes that are not known and
            for a kernel that is longer than the input.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`activation(window @ kernel[place] + bias[place])`: a convolution whose kernel is another one at every place.

            `padding` can only be 'valid'. Over one axis the features come last for either `data_format`, as in Keras.
            Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first' over two
            axes (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for sizes that are not known and
            for a kernel that is longer than the input.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
    ) -> None:
        r"""The index of each integer in the vocabulary (int64), or with `invert` the integer at each index.

        What is unknown has index 0 (behind a mask 1); with more `num_oov_indices` the one that the remainder tells; with
        none it is an error. `output_mode`: 'int', or vectors as of `CategoryEncoding`, without the mask, one place for each
        index, or `max_tokens` places with `pad_to_max_tokens`.
        Shape: any -> the same, or that of `CategoryEncoding`.
        """

class StringLookup(_StringLookup):
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
    ) -> None:
        r"""The index of each string in the vocabulary (int64), or with `invert` the string at each index.

        Strings are no tensors: the layer stands before a model, takes arrays or lists of strings (or of bytes in
        `encoding`) and gives tensors; with `invert` the other way round, a NumPy array. More than one of `num_oov_indices`
        is refused: Keras chooses among them by a hash that is not to be had here. The other options: `IntegerLookup`.
        Shape: any -> the same, or that of `CategoryEncoding`.
        """

class Add(_SeveralInputs, _Add):
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
        r"""The sum of the inputs.

        A function of two inputs, then of the result and the third input, and so on.

        Inputs of fewer axes get axes of 1 behind the batch axis; axes of 1 are spread. The mask is True where the masks
        of all inputs are. Shape: a list of (batch, ...) -> (batch, ...). Raises ValueError for fewer than two inputs and
        for shapes that do not go together.
        """

class Average(_SeveralInputs, _Average):
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
        r"""The sum of the inputs, divided by their number.

        A function of two inputs, then of the result and the third input, and so on.

        Inputs of fewer axes get axes of 1 behind the batch axis; axes of 1 are spread. The mask is True where the masks
        of all inputs are. Shape: a list of (batch, ...) -> (batch, ...). Raises ValueError for fewer than two inputs and
        for shapes that do not go together.
        """

class Concatenate(_SeveralInputs, _Concatenate):
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
    ) -> None:
        r"""The inputs one after the other along `axis` (the batch axis is 0).

        The mask: that of the inputs one after the other when `axis` is one of its own, else True where all masks are.
        Shape: a list of (batch, ..., size, ...) -> (batch, ..., sum of sizes, ...). Raises ValueError for fewer than two
        inputs and for shapes that differ beside `axis`.
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
        r"""The sum of products along one axis of either input, sample by sample.

        `axes`: the axis of both, or that of each (the batch axis, 0, does not go). `normalize`: divide both by their
        length along these axes first (the cosine). Shape: [(batch, *a, n), (batch, n, *b)] -> (batch, *a, *b), and
        (batch, 1) when nothing else is left. It passes no mask on. Raises ValueError for other than two inputs and for
        axes of different sizes.
        """

class Maximum(_SeveralInputs, _Maximum):
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
        r"""The largest of the inputs, value by value.

        A function of two inputs, then of the result and the third input, and so on.

        Inputs of fewer axes get axes of 1 behind the batch axis; axes of 1 are spread. The mask is True where the masks
        of all inputs are. Shape: a list of (batch, ...) -> (batch, ...). Raises ValueError for fewer than two inputs and
        for shapes that do not go together.
        """

class Minimum(_SeveralInputs, _Minimum):
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
        r"""The smallest of the inputs, value by value.

        A function of two inputs, then of the result and the third input, and so on.

        Inputs of fewer axes get axes of 1 behind the batch axis; axes of 1 are spread. The mask is True where the masks
        of all inputs are. Shape: a list of (batch, ...) -> (batch, ...). Raises ValueError for fewer than two inputs and
        for shapes that do not go together.
        """

class Multiply(_SeveralInputs, _Multiply):
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
        r"""The product of the inputs.

        A function of two inputs, then of the result and the third input, and so on.

        Inputs of fewer axes get axes of 1 behind the batch axis; axes of 1 are spread. The mask is True where the masks
        of all inputs are. Shape: a list of (batch, ...) -> (batch, ...). Raises ValueError for fewer than two inputs and
        for shapes that do not go together.
        """

class Subtract(_SeveralInputs, _Subtract):
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
        r"""The first input less the second; there must be exactly two.

        A function of two inputs, then of the result and the third input, and so on.

        Inputs of fewer axes get axes of 1 behind the batch axis; axes of 1 are spread. The mask is True where the masks
        of all inputs are. Shape: a list of (batch, ...) -> (batch, ...). Raises ValueError for fewer than two inputs and
        for shapes that do not go together.
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
        r"""In training, `a * x + b`, with -1.758 (the least value of `selu`) for a `rate` of the values of `x`; else `x`.

        `a` and `b` keep the mean 0 and the variance 1 that `selu` keeps. `noise_shape` and `seed` are as for Dropout. A
        `rate` of 1 changes nothing, as in Keras 2.
        Shape: any -> the same. Source: https://arxiv.org/abs/1706.02515
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

        `noise_shape`: the shape of what is drawn, batch axis counted, spread over axes of 1; None means the input's size.
        `seed`: draw from an own generator that starts there, instead of torch's.
        Shape: any -> the same. Source: https://jmlr.org/papers/v15/srivastava14a.html
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
        r"""In training, `x * noise`, normal around 1 with the standard deviation `sqrt(rate / (1 - rate))`; else `x`.

        A `rate` of 1 changes nothing, as in Keras 2.
        Shape: any -> the same. Source: https://jmlr.org/papers/v15/srivastava14a.html
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
        r"""In training, `x + noise`, normally distributed around 0 with the standard deviation `stddev`; else `x`.

        Shape: any -> the same.
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

        Over one axis the channels are always last.
        Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes), -> the same.
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

        Over one axis the channels are always last.
        Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes), -> the same.
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

        Over one axis the channels are always last.
        Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes), -> the same.
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
    ) -> None:
        r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, with one of each for every index of `axis`.

        In training mean and variance are those of the batch, which the moving ones follow:
        `moving = momentum * moving + (1 - momentum) * batch`; else they are the moving ones, which a layer that is not
        `trainable` leaves alone. The batch's variance that they follow is torch's, over n - 1 values.

        `mode` is Keras 1's: 1 normalizes each sample along its last axis, by `(x - mean) / (sqrt(variance + epsilon) +
        epsilon)`; 2 normalizes by the batch outside training as well; neither moves the moving ones. `synchronized`, to
        share statistics between machines, must be False.

        Shape: any of two axes or more -> the same. Source: https://arxiv.org/abs/1502.03167
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
        r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, mean and variance being those of a group in a sample.

        The indices of `axis`, the channels, make `groups` groups of neighbours, each taken with all other axes but the
        batch; -1 makes each channel a group (instance normalization).

        Shape: any of two axes or more -> the same. Source: https://arxiv.org/abs/1803.08494
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
        r"""`gamma * (x - mean) / sqrt(variance + epsilon) + beta` along `axis`, one or several, of each sample by itself.

        `gamma` and `beta` have the shape of these axes. `rms_scaling` must be False: RMSNormalization is such a layer.

        Shape: any -> the same. Source: https://arxiv.org/abs/1607.06450
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
        r"""`scale * x / sqrt(mean(x ** 2) + epsilon)` along `axis`, one or several, of each sample by itself.

        Shape: any -> the same. Source: https://arxiv.org/abs/1910.07467
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
        r"""`x / sqrt(sum(x ** 2))` along `axis`, one or several: each sample's length there is 1 (zeros stay).

        Shape: any -> the same.
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis.

        Shape: (batch, *sizes, channels) -> (batch, *output_size, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *output_size).
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis.

        Shape: (batch, *sizes, channels) -> (batch, *output_size, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *output_size).
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis.

        Shape: (batch, *sizes, channels) -> (batch, *output_size, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *output_size).
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis.

        Shape: (batch, *sizes, channels) -> (batch, *output_size, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *output_size).
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis.

        Shape: (batch, *sizes, channels) -> (batch, *output_size, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *output_size).
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis.

        Shape: (batch, *sizes, channels) -> (batch, *output_size, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *output_size).
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
        r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart.

        `padding`: 'valid' (whole windows only), 'same' (also those that reach over an end; what is outside does not count)
        or 'theano' (as many, but where Theano's 'same' has them). Raises ValueError for a window longer than the input.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *new sizes).
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
        r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart.

        `padding`: 'valid' (whole windows only), 'same' (also those that reach over an end; what is outside does not count)
        or 'theano' (as many, but where Theano's 'same' has them). Raises ValueError for a window longer than the input.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *new sizes).
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
        r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart.

        `padding`: 'valid' (whole windows only), 'same' (also those that reach over an end; what is outside does not count)
        or 'theano' (as many, but where Theano's 'same' has them). Raises ValueError for a window longer than the input.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *new sizes).
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
        r"""The mean over all time steps, or with a mask over those that count; `keepdims` keeps their axis with the size 1.

        Shape: (batch, steps, channels), or with data_format='channels_first' (batch, channels, steps),
        -> (batch, channels), or with keepdims=True as many axes as the input has. The output has no mask.
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1.

        Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
        -> (batch, channels), or with keepdims=True as many axes as the input has.
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1.

        Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
        -> (batch, channels), or with keepdims=True as many axes as the input has.
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1.

        Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
        -> (batch, channels), or with keepdims=True as many axes as the input has.
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1.

        Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
        -> (batch, channels), or with keepdims=True as many axes as the input has.
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
        r"""The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1.

        Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
        -> (batch, channels), or with keepdims=True as many axes as the input has.
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
        r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart.

        `padding`: 'valid' (whole windows only), 'same' (also those that reach over an end; what is outside does not count)
        or 'theano' (as many, but where Theano's 'same' has them). Raises ValueError for a window longer than the input.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *new sizes).
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
        r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart.

        `padding`: 'valid' (whole windows only), 'same' (also those that reach over an end; what is outside does not count)
        or 'theano' (as many, but where Theano's 'same' has them). Raises ValueError for a window longer than the input.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *new sizes).
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
        r"""The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart.

        `padding`: 'valid' (whole windows only), 'same' (also those that reach over an end; what is outside does not count)
        or 'theano' (as many, but where Theano's 'same' has them). Raises ValueError for a window longer than the input.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, channels, *new sizes).
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
        r"""Integers from 0 up to, not including, `num_tokens` as vectors; a negative one counts for nothing.

        `output_mode`: 'one_hot': a vector for each; 'multi_hot': one that marks all of a sample, those along axis 1;
        'count': one that counts them.
        Shape: (batch, ...) -> (batch, ..., num_tokens) for 'one_hot', where a last axis of 1 goes away, and
        (batch, n, ...) -> (batch, ..., num_tokens) for the others.
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
        r"""The middle of images; of smaller ones the largest window of the same aspect ratio, stretched.

        Shape: (batch, height, width, channels) -> (batch, *size, channels), or by `data_format` with the channels first.
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

        `num_bins`: so many bins instead, each with the same share of the data that `adapt` is given. Keras estimates these
        quantiles, `epsilon` off at most; here they are exact. `output_mode`: 'int' for the index (int32), or a vector as of
        `CategoryEncoding`.
        Shape: any -> the same, or that of `CategoryEncoding`.
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

        `axis`: one or several, whose every index has a mean and a variance of its own; None for one of all. `mean` and
        `variance`: numbers or arrays; without them `adapt` finds them, and they are weights.
        Shape: any -> the same.
        """

class Rescaling(_OneInput, _Rescaling):
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
    ) -> None:
        r"""`x * scale + offset`, of two numbers.

        Shape: any -> the same.
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
        r"""Images stretched to `height` and `width`; integers are rounded.

        `interpolation`: 'bilinear', 'nearest' or 'bicubic'; `antialias` smooths what gets smaller (not for 'nearest').
        `crop_to_aspect_ratio`: of the largest window in the middle that needs no distortion.
        Shape: (batch, height, width, channels) -> (batch, *size, channels), or by `data_format` with the channels first.
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
        r"""A layer that walks along time, a step giving an output and the next states.

        Shape: (batch, time, ...) -> (batch, ...), or (batch, time, ...) with `return_sequences`; with `return_state` a
        list: the output and the final states. The initial states (zero otherwise) follow the input in a list, or come as
        `initial_state`; what the step sees beside input and states follows those, or comes as `constants`.

        At a masked step the states stay, and the output is the first of them (with `unroll` that of the step before, zero
        before the first valid step, as in Keras; so it is also where output and first state differ in shape, which Keras
        refuses). With `zero_output_for_mask`, as Keras 3 has it, the output there is zero (True) or that of the step
        before, zero before the first valid one (False). `go_backwards` walks from the last step to the first and leaves the
        outputs in that order. `stateful` begins each batch with the final states of the batch before; `unroll` needs a
        known number of steps.

        A subclass gives `state_shapes` and `begin`; or, where a sequence has a faster way than step by step, `walk`.
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
        r"""`h' = z * h + (1 - z) * activation(x_n + (r * h) @ recurrent_kernel_n)`, z and r by `recurrent_activation`.

        `x_z, x_r, x_n = x @ kernel + bias`; z and r are of `x + h @ recurrent_kernel`. With `reset_after` the candidate is
        `activation(x_n + r * (h @ recurrent_kernel_n + recurrent_bias_n))`, and the bias has two rows, the second for the
        product with h; then, with `recurrent_activation="sigmoid"` and `activation="tanh"`, the layer holds an `nn.GRU`
        and runs its kernel on a CUDA device and where no gradients are recorded. `implementation` 1 draws dropout for each
        gate, 2 once. Source: Cho et al. (2014).

        Shape: (batch, time, features) -> (batch, units), the state alike. Other options: see `Recurrent`.
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
        r"""`c' = f * c + i * g; h' = o * activation(c')`, gates i, f, o by `recurrent_activation`, g by `activation`.

        `z = x @ kernel + h @ recurrent_kernel + bias`, for i, f, g, o in this order; the states are h and c.
        `unit_forget_bias`: the bias of f begins at 1. With `recurrent_activation="sigmoid"` and `activation="tanh"` the
        layer holds an `nn.LSTM` and runs its kernel; the default is `hard_sigmoid`. `implementation` 1 draws dropout for
        each gate, 2 once. Source: Hochreiter & Schmidhuber (1997).

        Shape: (batch, time, features) -> (batch, units), both states alike. Other options: see `Recurrent`.
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
        r"""`output[t], states = cell(x[t], states)` along time: for any cell, or a list of cells, each on the one before.

        A cell has `state_size`, an integer or one for each of its states, and `call(inputs, states)` that gives the output
        and the list of new states; `call` may take `constants` and `training`. `output_size` is the output's size, where
        that is not the first state's. A cell that is a layer is built for one step's input. Source: Keras 2, `RNN`.

        Shape: (batch, time, features) -> (batch, output_size), each state (batch, size). Options: see `Recurrent`.
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

        The weights are as cuDNN has them in Keras's files: each gate's part of a kernel has Keras's shape and torch's order
        of elements; the bias, 6 * units long, holds those of z, r, h for x, then those for h. Raises ValueError for a mask.
        Source: Keras 2, `CuDNNGRU`.

        Shape: (batch, time, features) -> (batch, units), the state alike. Other options: see `Recurrent`.
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

        The weights are as for CuDNNGRU; the bias, 8 * units long, holds those of i, f, g, o for x, then those for h. Raises
        ValueError for a mask. Source: Keras 2, `CuDNNLSTM`.

        Shape: (batch, time, features) -> (batch, units), both states alike. Other options: see `Recurrent`.
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

        With `activation` "tanh" (the default) or "relu" the layer holds an `nn.RNN` and runs its kernel. `dropout` and
        `recurrent_dropout` drop features of x and h, the same at all steps. Source: Elman (1990).

        Shape: (batch, time, features) -> (batch, units), the state alike. Other options: see `Recurrent`.
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
        r"""The input without what lies at the ends of each spatial axis.

        `cropping`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
        Shape: (batch, *sizes, channels) -> (batch, *(size - before - after), channels), or by `data_format` the same with
        the channels at axis 1. Over one axis they are always last. Raises ValueError when nothing is left.
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
        r"""The input without what lies at the ends of each spatial axis.

        `cropping`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
        Shape: (batch, *sizes, channels) -> (batch, *(size - before - after), channels), or by `data_format` the same with
        the channels at axis 1. Over one axis they are always last. Raises ValueError when nothing is left.
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
        r"""The input without what lies at the ends of each spatial axis.

        `cropping`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
        Shape: (batch, *sizes, channels) -> (batch, *(size - before - after), channels), or by `data_format` the same with
        the channels at axis 1. Over one axis they are always last. Raises ValueError when nothing is left.
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
        r"""The input with each value repeated `size` times along each spatial axis.

        Shape: (batch, *sizes, channels) -> (batch, *(size * factor), channels), or with data_format='channels_first' the
        same with the channels at axis 1. Over one axis they are always last.
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
        r"""The images with each value repeated `size` times along height and width, or with values between.

        `interpolation`: 'nearest' (repeated) or 'bilinear': output i lies at i / size of the input, as TensorFlow 1 has it;
        beyond the last value that value goes on. `half_pixel`: it lies at (i + 0.5) / size - 0.5, as later Kerases have it.
        Shape: (batch, height, width, channels) -> (batch, height * size[0], width * size[1], channels), or with
        data_format='channels_first' the same with the channels at axis 1.
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
        r"""The input with each value repeated `size` times along each spatial axis.

        Shape: (batch, *sizes, channels) -> (batch, *(size * factor), channels), or with data_format='channels_first' the
        same with the channels at axis 1. Over one axis they are always last.
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
        r"""The input with zeros before and after each spatial axis.

        `padding`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
        Shape: (batch, *sizes, channels) -> (batch, *(before + size + after), channels), or with
        data_format='channels_first' the same with the channels at axis 1.
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
        r"""The input with zeros before and after each spatial axis.

        `padding`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
        Shape: (batch, *sizes, channels) -> (batch, *(before + size + after), channels), or with
        data_format='channels_first' the same with the channels at axis 1.
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
        r"""The input with zeros before and after each spatial axis.

        `padding`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
        Shape: (batch, *sizes, channels) -> (batch, *(before + size + after), channels), or with
        data_format='channels_first' the same with the channels at axis 1.
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
        r"""`activation(convolution(x, kernel) + bias)` of each channel by itself, with `depth_multiplier` kernels for each.

        Output channel `c * depth_multiplier + m` is channel c by its kernel m. `padding`: 'valid', 'same' or 'half' as for
        `Conv2D`.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels * depth_multiplier), or with
        data_format='channels_first' the same with the channels at axis 1. Raises ValueError for strides and a
        dilation_rate that are both above 1, and for a kernel that is longer than the input.
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
        r"""`activation(convolution(x, kernel) + bias)` of each channel by itself, with `depth_multiplier` kernels for each.

        Output channel `c * depth_multiplier + m` is channel c by its kernel m. `padding`: 'valid', 'same' or 'half' as for
        `Conv2D`.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels * depth_multiplier), or with
        data_format='channels_first' the same with the channels at axis 1. Raises ValueError for strides and a
        dilation_rate that are both above 1, and for a kernel that is longer than the input.
        """

class SeparableConv1D(_OneInput, _SeparableConv1D):
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
    ) -> None:
        r"""`activation(depthwise(x) @ pointwise_kernel + bias)`: each channel by itself, then a mixture of the channels.

        `depth_multiplier`: how many depthwise kernels each channel has. `padding`: 'valid', 'same' or 'half' as for
        `Conv2D`.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
        are both above 1, and for a kernel that is longer than the input. Source: https://arxiv.org/abs/1610.02357
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
        r"""`activation(depthwise(x) @ pointwise_kernel + bias)`: each channel by itself, then a mixture of the channels.

        `depth_multiplier`: how many depthwise kernels each channel has. `padding`: 'valid', 'same' or 'half' as for
        `Conv2D`.
        Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
        (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
        are both above 1, and for a kernel that is longer than the input. Source: https://arxiv.org/abs/1610.02357
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
        r"""`module(*inputs)`, the module being part of the layer: its parameters and buffers are the layer's weights.

        `module`: any `nn.Module`, its values kept as they are; one such as `nn.LazyLinear` gets them at the first call. Its
        inputs, outputs and arguments are the layer's: several, nested and by name too, `training` apart, which sets the
        mode of this call. It gets tensors as the graph shows them; with `data_format="channels_first"` it gets images with
        the channels first while the graph shows them last. Unless given, `dtype` is the type of the module's parameters.

        A config has the class of the module by name. Loading one asks for the module in `custom_objects`, under the name of
        the layer or of the class: an instance, of which the layer takes a copy, or a function that makes one.

        Shape: any -> as the module gives it. Raises ValueError for what is no module.

            x = Input((28,))
            model = Model(x, TorchModule(nn.Linear(28, 10))(x))
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
        r"""`activation(y + bias)` where a convolution of `y` by the kernel turned around has the size of the input.

            Each input value adds the kernel times itself to the output, `strides` apart. Along an axis, with
            k = (kernel_size - 1) * dilation_rate + 1, the output is `size * strides + max(k - strides, 0)` long for 'valid'
            and `size * strides` for 'same'; with `output_padding` it is `(size - 1) * strides + k - 2 * cut + output_padding`,
            with a cut of 0 for 'valid', k // 2 for 'same' and k - 1 for 'full'; with `target_shape`, the complete shape of the
            output (Keras 1's `output_shape`; the batch size in it does not count), what that says. 'same' leaves out the larger
            half of what is too much at the end, as TensorFlow does; 'half' leaves out k // 2 at the start, 'full' k - 1, as
            Theano did.

            Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
            (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
            are both above 1, for 'half' with an even k, for an output_padding that is not below the strides, and for a
            target_shape that the input cannot come from.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`activation(y + bias)` where a convolution of `y` by the kernel turned around has the size of the input.

            Each input value adds the kernel times itself to the output, `strides` apart. Along an axis, with
            k = (kernel_size - 1) * dilation_rate + 1, the output is `size * strides + max(k - strides, 0)` long for 'valid'
            and `size * strides` for 'same'; with `output_padding` it is `(size - 1) * strides + k - 2 * cut + output_padding`,
            with a cut of 0 for 'valid', k // 2 for 'same' and k - 1 for 'full'; with `target_shape`, the complete shape of the
            output (Keras 1's `output_shape`; the batch size in it does not count), what that says. 'same' leaves out the larger
            half of what is too much at the end, as TensorFlow does; 'half' leaves out k // 2 at the start, 'full' k - 1, as
            Theano did.

            Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
            (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
            are both above 1, for 'half' with an even k, for an output_padding that is not below the strides, and for a
            target_shape that the input cannot come from.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`activation(y + bias)` where a convolution of `y` by the kernel turned around has the size of the input.

            Each input value adds the kernel times itself to the output, `strides` apart. Along an axis, with
            k = (kernel_size - 1) * dilation_rate + 1, the output is `size * strides + max(k - strides, 0)` long for 'valid'
            and `size * strides` for 'same'; with `output_padding` it is `(size - 1) * strides + k - 2 * cut + output_padding`,
            with a cut of 0 for 'valid', k // 2 for 'same' and k - 1 for 'full'; with `target_shape`, the complete shape of the
            output (Keras 1's `output_shape`; the batch size in it does not count), what that says. 'same' leaves out the larger
            half of what is too much at the end, as TensorFlow does; 'half' leaves out k // 2 at the start, 'full' k - 1, as
            Theano did.

            Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
            (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
            are both above 1, for 'half' with an even k, for an output_padding that is not below the strides, and for a
            target_shape that the input cannot come from.

        Options:
            kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
            bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
            kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
            bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
            activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
            kernel_constraint (name, Constraint or None, default None): what each update of the kernel is followed by.
            bias_constraint (name, Constraint or None, default None): what each update of the bias is followed by.


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
        r"""`layer`, whose kernel (or embeddings) W each call in training first divides by its largest singular value.

        That is estimated by `power_iterations` steps of `v = unit(u @ W.T); u = unit(v @ W)` from `vector_u`, which keeps
        `u` from call to call, W being a matrix of all axes but the last by the last. No gradient flows through it, and a
        kernel of zeros stays. Raises ValueError for a layer that has neither kernel nor embeddings.

        Shape: those of `layer`. Source: https://arxiv.org/abs/1802.05957
        """

class TimeDistributed(_OneInput, _TimeDistributed, Wrapper):
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
        r"""`layer` at every time step: the steps are folded into the batch, so that it is called once.

        Shape: (batch, time, ...) -> (batch, time, ...), without the time axis as `layer` has it. A mask goes to a layer
        that takes one, and comes from its `compute_mask`; where that gives none, the input's goes on.
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
        r"""A layer that computes by another one, `layer`, whose weights are its weights.

        `trainable` is the inner layer's; given to the wrapper, it is passed on.
        """

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

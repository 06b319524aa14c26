"""What layers of Keras 3 do otherwise than those of this package, as data: the one table of the dialect.

Names of options in which both differ stand in `saving/layer_facts.py`, which files need, too. Defaults that changed
after Keras 2.2.4 and that loading weights must know of are `_changed_defaults` of the layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torchkeras.base.rules import AT_LEAST_0, Rule

_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D")
_OF_STEPS = ("GRU", "LSTM", "RNN", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D")
_OF_SEQUENCES = (
    *("AveragePooling1D", "MaxPooling1D", "GlobalAveragePooling1D", "GlobalMaxPooling1D", "ZeroPadding1D"),
    *("Conv1D", "Conv1DTranspose", "SeparableConv1D"),
)

_MERGING = ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")

# Values of our options that are none there: what Keras 3 always computes.
HABITS: Mapping[str, Mapping[str, Any]] = {
    **{name: {"any_mask": True} for name in _MERGING},
    "UpSampling2D": {"half_pixel": True},
}

# Values of our options: their defaults there, or what Keras 3 always computes.
_DEFAULTS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (_OF_STEPS, {"zero_output_for_mask": False}),
    (_OF_SEQUENCES, {"data_format": None}),
    (_MERGING, {"any_mask": True}),
    (("ActivityRegularization",), {"per_sample": True}),
    (("BatchNormalization",), {"variance": "population", "frozen_is_fixed": True}),
    (("TimeDistributed",), {"by_steps": True}),
    (("UpSampling2D",), {"half_pixel": True}),
)
DEFAULTS: dict[str, dict[str, Any]] = {}
for _names, _values in _DEFAULTS:
    for _name in _names:
        DEFAULTS[_name] = {**DEFAULTS.get(_name, {}), **_values}

# Options of which Keras 3 refuses more values.
NARROWER: Mapping[str, Mapping[str, Rule]] = {"ReLU": {"threshold": AT_LEAST_0}}

_PENALTIES = "kernel_regularizer bias_regularizer activity_regularizer kernel_constraint bias_constraint"
_INITIAL = "kernel_initializer bias_initializer"
_CONVOLUTION = (
    f"filters kernel_size strides padding data_format dilation_rate groups activation use_bias {_INITIAL} {_PENALTIES}"
)
_STEPS_OF_IMAGES = (
    "filters kernel_size strides padding data_format dilation_rate activation recurrent_activation use_bias "
    "kernel_initializer recurrent_initializer bias_initializer unit_forget_bias kernel_regularizer "
    "recurrent_regularizer bias_regularizer activity_regularizer kernel_constraint recurrent_constraint "
    "bias_constraint dropout recurrent_dropout seed return_sequences return_state go_backwards stateful"
)
# Arguments by position, where Keras 3 has another order.
ORDER: Mapping[str, str] = {
    **dict.fromkeys(_CONVOLUTIONS, _CONVOLUTION),
    **dict.fromkeys(("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), _STEPS_OF_IMAGES),
    "Conv3DTranspose": (
        "filters kernel_size strides padding data_format output_padding dilation_rate activation use_bias "
        f"{_INITIAL} {_PENALTIES}"
    ),
    "DepthwiseConv2D": (
        "kernel_size strides padding depth_multiplier data_format dilation_rate activation use_bias "
        "depthwise_initializer bias_initializer depthwise_regularizer bias_regularizer activity_regularizer "
        "depthwise_constraint bias_constraint"
    ),
    "GroupQueryAttention": (
        "head_dim num_query_heads num_key_value_heads dropout use_bias sliding_window flash_attention "
        f"{_INITIAL} {_PENALTIES} use_gate seed"
    ),
    "MultiHeadAttention": (
        "num_heads key_dim value_dim dropout use_bias output_shape attention_axes sliding_window flash_attention "
        f"{_INITIAL} {_PENALTIES} use_gate seed"
    ),
}


@dataclass(frozen=True)
class Lacking:
    """An option of Keras 3 that layers here lack: the values that change nothing, and what to do instead of others."""

    allowed: tuple[Any, ...]
    instead: str


_STEPS = {"seed": Lacking((None,), "what is dropped in a step follows keras.utils.set_random_seed")}
_KERNEL = {"use_cudnn": Lacking(("auto", True, False), "torch chooses its kernel by itself, with equal numbers")}
_ADAPTED = {
    "quantization_config": Lacking((None,), "quantize the torch module, such as by torchao"),
    "gptq_unpacked_column_size": Lacking((None,), "quantize the torch module, such as by torchao"),
}
_RENORM = "normalize larger batches, or use GroupNormalization"
LACKING: Mapping[str, Mapping[str, Lacking]] = {
    **dict.fromkeys(("Dense", "EinsumDense", "Embedding"), _ADAPTED),
    "ReversibleEmbedding": {
        **dict.fromkeys(("lora_rank", "lora_alpha"), Lacking((None,), "adapt an Embedding and a Dense")),
        **_ADAPTED,
    },
    **dict.fromkeys(("SimpleRNN", "GRUCell", "LSTMCell", "SimpleRNNCell"), _STEPS),
    **dict.fromkeys(("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), _STEPS),
    **{name: {**_STEPS, **_KERNEL} for name in ("GRU", "LSTM")},
    "BatchNormalization": {
        "renorm": Lacking((False,), _RENORM),
        "renorm_clipping": Lacking((None,), _RENORM),
        "renorm_momentum": Lacking((0.99,), _RENORM),
    },
}

# Names of weights there, and of the attributes that hold them, by ours.
WEIGHTS: Mapping[str, Mapping[str, str]] = {
    name: {"depthwise_kernel": "kernel"} for name in ("DepthwiseConv1D", "DepthwiseConv2D")
}
# Names of options there that are attributes of a layer, too, by ours.
ATTRIBUTES: Mapping[str, Mapping[str, str]] = {"LeakyReLU": {"alpha": "negative_slope"}}

# The layer inside, of which Keras 3 says that it has the weights, in their paths.
CELLS: Mapping[str, str] = {
    "SimpleRNN": "simple_rnn_cell",
    "GRU": "gru_cell",
    "LSTM": "lstm_cell",
    **dict.fromkeys(("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), "conv_lstm_cell"),
}

# Layers without weights that are `built` once they are made.
STATELESS = frozenset(
    (
        *("Activation", "ActivityRegularization", "AlphaDropout", "Dropout", "ELU", "GaussianDropout", "GaussianNoise"),
        *("Identity", "LeakyReLU", "Masking", "ReLU", "Softmax", "UnitNormalization"),
        *(f"SpatialDropout{rank}D" for rank in (1, 2, 3)),
        *(f"{kind}Pooling{rank}D" for kind in ("Average", "Max", "GlobalAverage", "GlobalMax") for rank in (1, 2, 3)),
    )
)

# Layers that take numbers and lists of them, too, beside tensors and arrays.
TAKE_LISTS = frozenset(("CategoryEncoding", "Discretization", "IntegerLookup", "Normalization", "Rescaling"))

# Layers that take integers for numbers of the type of their weights.
TAKE_INTEGERS = frozenset(
    (
        *("Dense", "GRU", "LSTM", "RNN", "SimpleRNN", "Bidirectional", "PReLU", "RMSNormalization"),
        *("BatchNormalization", "LayerNormalization", "GroupNormalization", "UnitNormalization"),
        *(f"GlobalAveragePooling{rank}D" for rank in (1, 2, 3)),
    )
)

# The arguments of `build` of layers whose inputs have names.
SHAPES: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("MultiHeadAttention", "GroupQueryAttention"), ("query_shape", "value_shape", "key_shape")
)

# Layers that say so, though their outputs have no mask.
SUPPORT_MASKING = frozenset(("Dot",))

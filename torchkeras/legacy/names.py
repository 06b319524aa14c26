"""Tables of Keras 1's names of layers and arguments.

A row of `SIGNATURES` is a layer's signature in Keras 1: its arguments in order, as `old>new` if the name has changed.
Several old names for one new name make a tuple (`nb_row>kernel_size nb_col>kernel_size`). One old name for several new
names, joined by `+`, sets each of them. `old>` alone has no meaning today.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import config

# Old class names of layers; their options are in the row of the new name.
LAYERS: Mapping[str, str] = {
    "AtrousConv1D": "Conv1D",
    "AtrousConv2D": "Conv2D",
    "AtrousConvolution1D": "Conv1D",
    "AtrousConvolution2D": "Conv2D",
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution2DTranspose": "Conv2DTranspose",
    "Convolution3D": "Conv3D",
    "Deconv2D": "Conv2DTranspose",
    "Deconv3D": "Conv3DTranspose",
    "Deconvolution2D": "Conv2DTranspose",
    "Deconvolution3D": "Conv3DTranspose",
    "SeparableConvolution1D": "SeparableConv1D",
    "SeparableConvolution2D": "SeparableConv2D",
}

_KERNEL = (
    "W_regularizer>kernel_regularizer b_regularizer>bias_regularizer activity_regularizer "
    "W_constraint>kernel_constraint b_constraint>bias_constraint bias>use_bias input_dim input_length"
)
_SEPARABLE_INIT = "init>depthwise_initializer+pointwise_initializer activation weights border_mode>padding"
_SEPARABLE = (
    "depthwise_regularizer pointwise_regularizer b_regularizer>bias_regularizer activity_regularizer "
    "depthwise_constraint pointwise_constraint b_constraint>bias_constraint bias>use_bias"
)
_DENSE = f"init>kernel_initializer activation weights {_KERNEL}"
_SIZE_1D = "nb_filter>filters filter_length>kernel_size"
_SIZE_2D = "nb_filter>filters nb_row>kernel_size nb_col>kernel_size"
_SIZE_3D = "nb_filter>filters kernel_dim1>kernel_size kernel_dim2>kernel_size kernel_dim3>kernel_size"
_CONV = "init>kernel_initializer activation weights border_mode>padding"
_CONV_1D = f"{_CONV} subsample_length>strides {_KERNEL}"
_CONV_ND = f"{_CONV} subsample>strides dim_ordering>data_format {_KERNEL}"
_ATROUS = "atrous_rate>dilation_rate"
_GATES = "inner_activation>recurrent_activation"
_BEGINS = "init>kernel_initializer inner_init>recurrent_initializer"
_BEGINS_LSTM = f"{_BEGINS} forget_bias_init>unit_forget_bias"
_RECURRENT = (
    "W_regularizer>kernel_regularizer U_regularizer>recurrent_regularizer b_regularizer>bias_regularizer "
    "dropout_W>dropout dropout_U>recurrent_dropout weights return_sequences go_backwards stateful"
)
_STEPS = "unroll input_dim input_length"
_POOL_1D = "pool_length>pool_size stride>strides border_mode>padding"
_POOL_ND = "pool_size strides border_mode>padding dim_ordering>data_format"

SIGNATURES: Mapping[str, str] = {
    "AveragePooling1D": _POOL_1D,
    "AveragePooling2D": _POOL_ND,
    "AveragePooling3D": _POOL_ND,
    "BatchNormalization": "epsilon mode axis momentum weights beta_init>beta_initializer gamma_init>gamma_initializer "
    "gamma_regularizer beta_regularizer",
    "Conv1D": f"{_SIZE_1D} {_CONV_1D} {_ATROUS}",
    "Conv2D": f"{_SIZE_2D} {_CONV_ND} {_ATROUS}",
    "Conv2DTranspose": f"{_SIZE_2D} output_shape>target_shape {_CONV_ND}",
    "Conv3D": f"{_SIZE_3D} {_CONV_ND}",
    "Conv3DTranspose": f"{_SIZE_3D} output_shape>target_shape {_CONV_ND}",
    "ConvLSTM2D": f"{_SIZE_2D} {_BEGINS_LSTM} activation {_GATES} dim_ordering>data_format border_mode>padding "
    f"subsample>strides {_RECURRENT}",
    "Cropping2D": "cropping dim_ordering>data_format",
    "Cropping3D": "cropping dim_ordering>data_format",
    "Dense": f"output_dim>units {_DENSE}",
    "Dropout": "p>rate noise_shape seed",
    "Embedding": "input_dim output_dim init>embeddings_initializer input_length W_regularizer>embeddings_regularizer "
    "activity_regularizer W_constraint>embeddings_constraint mask_zero weights dropout",
    "GRU": f"output_dim>units {_BEGINS} activation {_GATES} {_RECURRENT} consume_less>implementation {_STEPS}",
    "GaussianDropout": "p>rate",
    "GaussianNoise": "sigma>stddev",
    "GlobalAveragePooling2D": "dim_ordering>data_format",
    "GlobalAveragePooling3D": "dim_ordering>data_format",
    "GlobalMaxPooling2D": "dim_ordering>data_format",
    "GlobalMaxPooling3D": "dim_ordering>data_format",
    "Highway": _DENSE,
    "LSTM": f"output_dim>units {_BEGINS_LSTM} activation {_GATES} {_RECURRENT} consume_less>implementation {_STEPS}",
    "LocallyConnected1D": f"{_SIZE_1D} {_CONV_1D}",
    "LocallyConnected2D": f"{_SIZE_2D} {_CONV_ND}",
    "MaxPooling1D": _POOL_1D,
    "MaxPooling2D": _POOL_ND,
    "MaxPooling3D": _POOL_ND,
    "MaxoutDense": f"output_dim>units nb_feature init>kernel_initializer weights {_KERNEL}",
    "PReLU": "init>alpha_initializer weights shared_axes",
    "SeparableConv1D": f"{_SIZE_1D} {_SEPARABLE_INIT} subsample_length>strides depth_multiplier {_SEPARABLE}",
    "SeparableConv2D": f"{_SIZE_2D} {_SEPARABLE_INIT} subsample>strides depth_multiplier dim_ordering>data_format "
    f"{_SEPARABLE}",
    "SimpleRNN": f"output_dim>units {_BEGINS} activation {_RECURRENT} consume_less> {_STEPS}",
    "SpatialDropout1D": "p>rate",
    "SpatialDropout2D": "p>rate dim_ordering>data_format",
    "SpatialDropout3D": "p>rate dim_ordering>data_format",
    "UpSampling1D": "length>size",
    "UpSampling2D": "size dim_ordering>data_format",
    "UpSampling3D": "size dim_ordering>data_format",
    "ZeroPadding1D": "padding",
    "ZeroPadding2D": "padding dim_ordering>data_format",
    "ZeroPadding3D": "padding dim_ordering>data_format",
}

# Old values of an argument, whatever the layer.
VALUES: Mapping[str, Mapping[Any, Any]] = {
    "consume_less": {"cpu": 0, "mem": 1, "gpu": 2},
    "dim_ordering": {**config.DIM_ORDERINGS, "default": None},
    "forget_bias_init": {"one": True, "ones": True, "zero": False, "zeros": False},
}

# The keys of ZeroPadding's dictionaries, in the order of today's pairs.
PADS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ZeroPadding1D": (("left_pad", "right_pad"),),
    "ZeroPadding2D": (("top_pad", "bottom_pad"), ("left_pad", "right_pad")),
}

# Marks an argument without an equivalent; the name of what to give instead follows.
REFUSED = "refused: "
_RUN_AHEAD = {"max_q_size": "max_queue_size", "nb_worker": "workers", "pickle_safe": "use_multiprocessing"}


# Arguments of functions and constructors other than layers.
KEYWORDS: Mapping[str, Mapping[str, str]] = {
    "InputLayer": {"input_dtype": "dtype"},
    "Model": {"input": "inputs", "output": "outputs"},
    "evaluate": {},
    "fit": {"nb_epoch": "epochs"},
    "fit_generator": {
        "nb_epoch": "epochs",
        **_RUN_AHEAD,
        "samples_per_epoch": f"{REFUSED}steps_per_epoch",
        "nb_val_samples": f"{REFUSED}validation_steps",
    },
    "evaluate_generator": {**_RUN_AHEAD, "val_samples": f"{REFUSED}steps"},
    "predict_generator": {**_RUN_AHEAD, "val_samples": f"{REFUSED}steps"},
}

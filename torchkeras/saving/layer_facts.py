"""What files say otherwise about a layer than this package: one table, a row for each layer that files treat specially.

What only one old dialect says is in the module of that dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchkeras.saving import keras3_names

Values = Mapping[str, tuple[Any, ...]]
Has = list[bool]  # for each input or output, whether it has a mask

# Before a name of what Keras 3 does not have: Keras 3 refuses it by this name, and this package reads it.
FOREIGN = "torchkeras>"


ANY: tuple[Any, ...] = ()  # every value: other options or the graph say the same, or it only affects random numbers


def _of_first(has: Has, config: Mapping[str, Any]) -> Has:
    return [has[0] if has else False]


def _of_merged(has: Has, config: Mapping[str, Any]) -> Has:
    return [all(has) if config.get("any_mask") else any(has)]


def _none(has: Has, config: Mapping[str, Any]) -> Has:
    return [False]


def _of_steps(has: Has, config: Mapping[str, Any]) -> Has:
    return [has[0] and bool(config.get("return_sequences"))]


def _of_both(has: Has, config: Mapping[str, Any]) -> Has:
    inner = bool(config["layer"]["config"].get("return_sequences"))
    return [has[0] and inner] * (1 if config.get("merge_mode", "concat") else 2)


@dataclass(frozen=True)
class LayerFacts:
    """The facts of a layer.

    Of Keras 3: `keras3`: its class in configs, where that is another; None where its class of this name computes
    otherwise; `group`: its class in the names of groups of weights; `renamed`: our options by its names; `left_out`:
    our options that it does not have, with the values that may be left out; `refused`: values that it does not have, or
    that mean another function there; `inner`: its names of our attributes that hold layers; `has_cell`: whether weights
    are in an inner cell there.

    Of tf.keras and Keras 3: `unused`: options that we do not have, with the values that have no effect; `idle`: options
    that repeat what is known, that the class never reads, or that only affect random numbers; `arguments`: of a call,
    after the first; `takes_mask`: whether a call takes one mask.

    `mask`: which outputs have a mask, by its inputs and its config. `joins`: whether it joins masks, value by value.
    `turned`: whether Theano turned its kernel around.
    """

    keras3: str | None = ""
    group: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    left_out: Values = field(default_factory=dict)
    refused: Values = field(default_factory=dict)
    inner: Values = field(default_factory=dict)
    has_cell: bool = False
    unused: Values = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    takes_mask: bool = False
    mask: Callable[[Has, Mapping[str, Any]], Has] = _of_first
    joins: bool = False
    turned: bool = False


EVERY = LayerFacts(
    left_out={"batch_input_shape": ANY, "implementation": ANY},
    refused={
        "activation": ("hard_sigmoid", "sparsemax"),
        "padding": ("half", "full"),
        "recurrent_activation": ("hard_sigmoid", "sparsemax"),
    },
    unused={"autocast": (True, False), "dynamic": (False, None), "quantization_config": (None,)},
)

IMAGES = (
    *("CenterCrop", "Resizing", "RandomContrast", "RandomCrop", "RandomFlip", "RandomRotation", "RandomTranslation"),
    *("RandomZoom", "RandomBrightness"),
)
STACKS = ("Pipeline",)  # layers whose configs have `layers`, as those of models have
RECURRENT = ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN")
_IN_STEPS = ("initial_state", "mask", "training", "constants")
_IN_SCORES = ("mask", "training", "return_attention_scores", "use_causal_mask")
_IN_HEADS = ("value", "key", "query_mask", "value_mask", "key_mask", "attention_mask")
_HEADS = {name: (f"{name}_dense", f"_{name}_dense") for name in ("query", "key", "value", "gate")}
_KERNEL = ("kernel_initializer", "kernel_regularizer", "kernel_constraint")


def _recurrent(**facts: Any) -> LayerFacts:
    unused, idle = {"time_major": (False,)}, ("seed",)
    return LayerFacts(unused=unused, idle=idle, arguments=_IN_STEPS, takes_mask=True, mask=_of_steps, **facts)


def _every(names: str, **facts: Any) -> dict[str, LayerFacts]:
    return dict.fromkeys(names.split(), LayerFacts(**facts))


_conv_lstm = {"left_out": {"unroll": ANY, "recurrent_padding": ("same",)}, "has_cell": True}

FACTS: Mapping[str, LayerFacts] = {
    **_every("Add Average Maximum Minimum Multiply Subtract", left_out={"any_mask": ANY}, mask=_of_merged, joins=True),
    **_every(
        "CenterCrop Resizing RandomBrightness RandomFlip RandomRotation RandomTranslation RandomZoom",
        idle=("rng_type",),
    ),
    **_every("Conv1D Conv2D Conv3D", turned=True),
    **_every("DepthwiseConv1D DepthwiseConv2D", unused={"groups": (1,)}),
    **_every("GRUCell LSTMCell SimpleRNNCell", idle=("seed",)),
    "IntegerLookup": LayerFacts(refused={"output_mode": ("tf_idf",)}, idle=("vocabulary_size", "has_input_vocabulary")),
    **_every("StringLookup TextVectorization", idle=("vocabulary_size", "has_input_vocabulary")),
    **_every("LocallyConnected1D LocallyConnected2D", unused={"implementation": (1, 2, 3)}),
    "SeparableConv1D": LayerFacts(unused={"groups": (1,)}, idle=_KERNEL, refused={"padding": ("half", "causal")}),
    "SeparableConv2D": LayerFacts(unused={"groups": (1,)}, idle=_KERNEL),
    **_every(
        "SpatialDropout1D SpatialDropout2D SpatialDropout3D",
        left_out={"trainable": ANY},
        unused={"noise_shape": (None,)},
    ),
    "ActivityRegularization": LayerFacts(left_out={"per_sample": (True,)}),
    "AdditiveAttention": LayerFacts(
        left_out={"seed": ANY}, unused={"causal": (False,)}, arguments=_IN_SCORES, takes_mask=True
    ),
    "Attention": LayerFacts(unused={"causal": (False,)}, arguments=_IN_SCORES, takes_mask=True),
    "BatchNormalization": LayerFacts(
        left_out={"mode": (0,), "variance": ANY, "frozen_is_fixed": ANY},
        unused={
            "renorm": (False, None),
            "renorm_clipping": (None,),
            "renorm_momentum": (0.99,),
            "virtual_batch_size": (None,),
            "fused": (None, True, False),
            "adjustment": (None,),
        },
    ),
    "Bidirectional": LayerFacts(
        left_out={"num_constants": (None,)}, arguments=_IN_STEPS, takes_mask=True, mask=_of_both
    ),
    "Concatenate": LayerFacts(left_out={"any_mask": ANY}, mask=_of_merged),
    "Conv1DTranspose": LayerFacts(left_out={"target_shape": (None,)}, unused={"groups": (1,)}),
    "Conv2DTranspose": LayerFacts(left_out={"target_shape": (None,)}, unused={"groups": (1,)}, turned=True),
    "Conv3DTranspose": LayerFacts(left_out={"target_shape": (None,)}, unused={"groups": (1,)}, turned=True),
    "ConvLSTM1D": _recurrent(**_conv_lstm),
    "ConvLSTM2D": _recurrent(**_conv_lstm, turned=True),
    "ConvLSTM2DCell": LayerFacts(turned=True),
    "ConvLSTM3D": _recurrent(**_conv_lstm),
    "Discretization": LayerFacts(left_out={"trainable": ANY}),
    "Dot": LayerFacts(mask=_none),
    "Embedding": LayerFacts(
        left_out={"input_length": ANY, "dropout": (0.0,)},
        unused={"sparse": (False,)},
        mask=lambda has, config: [bool(config.get("mask_zero"))],
    ),
    "GRU": _recurrent(has_cell=True),
    "GlobalAveragePooling1D": LayerFacts(takes_mask=True, mask=_none),
    "GroupQueryAttention": LayerFacts(
        group="GroupedQueryAttention",
        inner={
            **{name: names[::-1] for name, names in _HEADS.items()},
            "attention_output": ("_output_dense", "output_dense"),
        },
        arguments=_IN_HEADS,
    ),
    "InputLayer": LayerFacts(
        renamed={"batch_input_shape": "batch_shape"},
        unused={
            "sparse": (False, None),
            "ragged": (False, None),
            "optional": (False, None),
            "type_spec": (None,),
            "input_tensor": (None,),
            "trainable": (True, False),
        },
        mask=_none,
    ),
    "LSTM": _recurrent(has_cell=True),
    "Lambda": LayerFacts(
        left_out={"function_type": ANY, "output_shape_type": ANY}, idle=("module", "output_shape_module"), mask=_none
    ),
    "LayerNormalization": LayerFacts(left_out={"rms_scaling": (False,)}),
    "LeakyReLU": LayerFacts(renamed={"alpha": "negative_slope"}),
    "Masking": LayerFacts(mask=lambda has, config: [True]),
    "Model": LayerFacts(group="Functional"),
    "MultiHeadAttention": LayerFacts(
        inner={**_HEADS, "attention_output": ("output_dense", "_output_dense")},
        unused={"softmax_robust_masking": (False,)},
        idle=("query_shape", "key_shape", "value_shape"),
        arguments=_IN_HEADS,
    ),
    "Operation": LayerFacts(keras3="Operation", mask=lambda has, config: [any(has) and config.get("keeps_mask", True)]),
    "Pipeline": LayerFacts(left_out={"trainable": ANY, "dtype": ANY}, inner={"_inside": ("layers",)}, mask=_none),
    "RNN": _recurrent(left_out={"num_constants": (None,)}),
    "RandomContrast": LayerFacts(left_out={"data_format": ("channels_last",)}, idle=("rng_type",)),
    "RandomCrop": LayerFacts(keras3=None, idle=("rng_type",)),
    "ReversibleEmbedding": LayerFacts(
        unused={"sparse": (False,)},
        arguments=("reverse",),
        mask=lambda has, config: [bool(config.get("mask_zero"))],
    ),
    "SimpleRNN": _recurrent(has_cell=True),
    "Softmax": LayerFacts(arguments=("mask",), takes_mask=True),
    "StackedRNNCells": LayerFacts(left_out={"reverse_state_order": (False,)}, inner={"_layers": ("cells",)}),
    "TimeDistributed": LayerFacts(left_out={"by_steps": ANY}, takes_mask=True),
    "TimeDistributedDense": LayerFacts(keras3="Dense", group="Dense"),
    "TorchModule": LayerFacts(keras3="TorchModule"),  # whose module a reader has to give anyway
    "UpSampling2D": LayerFacts(refused={"interpolation": ("bilinear",)}),
}


def facts(name: str) -> LayerFacts:
    """The facts of the layers of a class, without those of its bases."""
    return FACTS.get(name, _NONE)


def keras3_name(name: str) -> str | None:
    """The class of Keras 3 that stands for a layer of this package; None if it has none."""
    said = facts(name).keras3
    if said == "":
        return name if name in keras3_names.LAYERS else None
    return said


def inherited(kind: type, fact: str) -> dict[str, Any]:
    """A fact that is a mapping, with what the bases of a class say and what is said of every layer."""
    rows = (EVERY, *(facts(base.__name__) for base in reversed(kind.__mro__)))
    return {key: value for row in rows for key, value in getattr(row, fact).items()}


_NONE = LayerFacts()

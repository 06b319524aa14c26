"""What a name meant in the Keras that wrote a file: a class that came later is one of the file's author's.

`keras_layer_normalization.LayerNormalization` of 2018 is not Keras 3's. Our own files call themselves 2.2.4 as well; in
them, such a class has all options that ours writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import registry
from torchkeras.base.bytecode import SCALARS
from torchkeras.engine.options import options_of
from torchkeras.errors import ArchitectureError

KERAS1, KERAS2 = "keras1", "keras2"  # names of dialects

# Classes of ours that neither Keras 1 nor 2.2.4 had.
_AFTER_KERAS2 = frozenset(
    """
    AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D AdaptiveMaxPooling1D AdaptiveMaxPooling2D
    AdaptiveMaxPooling3D AdditiveAttention Attention CategoryEncoding CenterCrop Conv1DTranspose ConvLSTM1D ConvLSTM3D
    DepthwiseConv1D Discretization EinsumDense GroupNormalization GroupQueryAttention IntegerLookup LayerNormalization
    MultiHeadAttention Normalization RMSNormalization RandomContrast RandomCrop RandomFlip RandomRotation
    RandomTranslation RandomZoom Rescaling Resizing SpectralNormalization StringLookup UnitNormalization
    """.split()  # noqa: SIM905  (a list of its own would be a page long)
)
# Those that 2.2.4 had, and Keras 1 did not.
_AFTER_KERAS1 = frozenset(
    """
    Add AlphaDropout Average Concatenate ConvLSTM2DCell ConvRNN2D Conv2DTranspose Conv3DTranspose CuDNNGRU CuDNNLSTM
    DepthwiseConv2D Dot GRUCell Identity LSTMCell Maximum Minimum Multiply RNN ReLU SeparableConv1D SimpleRNNCell
    Softmax StackedRNNCells Subtract
    """.split()  # noqa: SIM905
)
LATER: Mapping[str, frozenset[str]] = {KERAS1: _AFTER_KERAS1 | _AFTER_KERAS2, KERAS2: _AFTER_KERAS2}
TITLES: Mapping[str, str] = {KERAS1: "Keras 1", KERAS2: "Keras 2.2.4"}

# Options that are whole numbers, or lists of them, which some writers of JSON make `8.0`.
WHOLE = frozenset(
    """
    units output_dim input_dim input_length filters nb_filter nb_row nb_col filter_length kernel_size strides subsample
    pool_size pool_length stride size length dilation_rate padding cropping n axis dims target_shape batch_input_shape
    nb_feature rank depth_multiplier
    """.split()  # noqa: SIM905
)


def as_meant(config: Any, kind: str, custom_objects: Mapping[str, Any]) -> Any:
    """The config of a model with whole numbers as such; classes in `custom_objects` are left as they are.

    Raises ArchitectureError for the name of a layer that the file's Keras did not have.
    """

    def inner(part: Any) -> Any:
        return as_meant(part, kind, custom_objects)

    if isinstance(config, SCALARS):
        return config
    if isinstance(config, (list, tuple)):
        return [inner(part) for part in config]
    if not isinstance(config, Mapping):
        return config
    name, options = config.get("class_name"), config.get("config")
    if not isinstance(name, str) or not isinstance(options, Mapping):
        return {key: inner(part) for key, part in config.items()}
    if name in custom_objects:
        return dict(config)
    if name in LATER.get(kind, ()):
        _check_own(name, kind, options, config)
    others = {key: inner(part) for key, part in config.items() if key != "config"}
    return {**others, "config": {key: (_whole if key in WHOLE else inner)(part) for key, part in options.items()}}


def _check_own(name: str, kind: str, options: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Raise ArchitectureError for a layer that the file's Keras did not have, unless this package wrote it."""
    if kind != KERAS2 or not _has_our_options(name, options):
        raise ArchitectureError(
            f"{name} {options.get('name', config.get('name'))!r}: {TITLES[kind]} has no layer of this name, so the "
            f"file means a class of its author's; pass it: custom_objects={{{name!r}: class}}."
        )


def _has_our_options(name: str, options: Mapping[str, Any]) -> bool:
    """Whether a config has all options that our own class writes."""
    own = options_of(registry.layers.find(name)).values()
    return all(option.name in options for option in own if not option.newer)


def _whole(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_whole(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value

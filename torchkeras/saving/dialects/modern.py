"""The architecture of any file in today's form: find out which Keras wrote it, and translate it.

A name means what it meant in that Keras: a class that came later is one of the file's author's.
`keras_layer_normalization.LayerNormalization` of 2018 is not Keras 3's. Our own files call themselves 2.2.4 as well; in
them, such a class has all options that ours writes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

from torchkeras import registry
from torchkeras.base import bytecode
from torchkeras.base.bytecode import MAPPINGS, SCALARS
from torchkeras.engine.options import options_of
from torchkeras.errors import ArchitectureError, UnknownFormatError
from torchkeras.saving.dialects import keras1, keras3, tf_keras
from torchkeras.saving.dialects.changes import with_variance, without_integer_vectors
from torchkeras.saving.dialects.dialect import NO_RULES, Dialect, Known, LossRules
from torchkeras.saving.extra_keys import with_own_options
from torchkeras.saving.graph_config import building, check_entry, check_model
from torchkeras.saving.model_file import ModelFile, mappings
from torchkeras.saving.weights.origin import BACKENDS2

# --- what names meant -------------------------------------------------------------------------------------------------


KERAS1_NAME, KERAS2_NAME = "keras1", "keras2"  # names of dialects

# Classes of ours that neither Keras 1 nor 2.2.4 had.
_AFTER_KERAS2 = frozenset(
    """
    AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D AdaptiveMaxPooling1D AdaptiveMaxPooling2D
    AdaptiveMaxPooling3D AdditiveAttention Attention AugMix AutoContrast CategoryEncoding CenterCrop
    ContrastLimitedAdaptiveHistogramEqualization Conv1DTranspose ConvLSTM1D ConvLSTM3D CutMix DepthwiseConv1D
    Discretization EinsumDense Equalization GroupNormalization GroupQueryAttention HashedCrossing Hashing IntegerLookup
    LayerNormalization MelSpectrogram MixUp MultiHeadAttention Normalization Pipeline RMSNormalization RandAugment
    RandomBrightness RandomColorDegeneration RandomColorJitter RandomContrast RandomCrop RandomElasticTransform
    RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective
    RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom
    Rescaling Resizing ReversibleEmbedding STFTSpectrogram Solarization SpectralNormalization StringLookup
    TextVectorization UnitNormalization
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
LATER: Mapping[str, frozenset[str]] = {KERAS1_NAME: _AFTER_KERAS1 | _AFTER_KERAS2, KERAS2_NAME: _AFTER_KERAS2}
TITLES: Mapping[str, str] = {KERAS1_NAME: "Keras 1", KERAS2_NAME: "Keras 2.2.4"}

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
        return part if isinstance(part, SCALARS) else as_meant(part, kind, custom_objects)

    if isinstance(config, (list, tuple)):
        return [inner(part) for part in config]
    if not isinstance(config, MAPPINGS):
        return config
    name, options = config.get("class_name"), config.get("config")
    if not isinstance(name, str) or not isinstance(options, MAPPINGS):
        return {key: inner(part) for key, part in config.items()}
    if (kept := registry.kept(config)) is not None:
        return {**config, "config": kept}
    if name in custom_objects:
        return dict(config)
    if name in LATER.get(kind, ()):
        _check_own(name, kind, options, config)
    others = {key: inner(part) for key, part in config.items() if key != "config"}
    return {**others, "config": {key: (_whole if key in WHOLE else inner)(part) for key, part in options.items()}}


def _check_own(name: str, kind: str, options: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Raise ArchitectureError for a layer that the file's Keras did not have, unless this package wrote it."""
    if kind != KERAS2_NAME or not _has_our_options(name, options):
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


# --- dialects ---------------------------------------------------------------------------------------------------------


Custom = Mapping[str, Any] | None

VERSION = re.compile(r"(\d+)\.(\d+)(\.|$)")


def _of_keras2(config: Any, known: Known) -> Any:
    """A config of Keras 2, whose moving variances followed others on Theano."""
    backend = (known.source and known.source.backend) or config.get("backend") or known.backend
    made = without_integer_vectors(config)
    return with_variance(made, "sample+epsilon") if backend == "theano" else made


# Keras 2.0 to 2.3, whose form is ours. It ended with 2.3.1; tf.keras calls itself `2.4.0` or `2.3.0-tf`.
def _rules_of_keras2(source: ModelFile) -> LossRules:
    """How a version of Keras 2 computed losses: from 2.3 on a mask was a weight, and a loss the mean over all steps."""
    return LossRules("keras-2.3") if str(source.version).startswith("2.3.") else NO_RULES


KERAS2 = Dialect(
    KERAS2_NAME,
    version=lambda major, minor, tf: major == 2 and minor < 4 and not tf,
    marks=lambda found: "kernel_initializer" in found or "recurrent_activation" in found,
    modern_config=_of_keras2,
    rules=_rules_of_keras2,
)
DIALECTS = (keras1.DIALECT, KERAS2, tf_keras.DIALECT, keras3.DIALECT)


def of_source(
    source: ModelFile,
    backend: str | None = None,
    data_format: str | None = None,
    custom_objects: Custom = None,
    lambdas: str = bytecode.READ,
) -> Any:
    """The architecture of an open file. `backend`, `data_format`: from the caller, if the file does not say them.

    `lambdas`: what is done with functions that are bytecode.

    Warns if a file leaves something open and the choice of the Keras that wrote it is taken. Raises ArchitectureError,
    ForbiddenContentError, UnknownFormatError.
    """
    found = dialect_of(source)
    config = _as_read(source.config, found, custom_objects, lambdas, source.version)
    made, doubts = _translated(found, config, Known(source, backend, data_format, custom_objects))
    for doubt in doubts:
        warnings.warn(f"{source.name}: {doubt}", stacklevel=6)
    return made


def of_config(
    config: Any,
    version: str | None = None,
    backend: str | None = None,
    custom_objects: Custom = None,
    lambdas: str = bytecode.READ,
) -> Any:
    """The same for an architecture alone, from JSON or YAML."""
    found = _checked(config, version, backend)
    config = _as_read(config, found, custom_objects, lambdas, version)
    made, doubts = _translated(found, config, Known(None, backend, None, custom_objects))
    for doubt in doubts:
        warnings.warn(doubt, stacklevel=4)
    return made


def _translated(found: Dialect, config: Any, known: Known) -> tuple[Any, list[str]]:
    """Today's config of a model, and what the config of the dialect leaves open."""
    with building():
        made = found.modern_config(config, known)
        return made, [] if found.doubts is None else found.doubts(config, known)


def _as_read(config: Any, found: Dialect, custom_objects: Custom, lambdas: str, version: str | None) -> Any:
    """A config with formulas in the place of bytecode, in which every name is one that the file's Keras had."""
    known = {**registry.get_custom_objects(), **(custom_objects or {})}
    version = version or config.get("keras_version")
    return as_meant(with_own_options(bytecode.read(config, known, lambdas, version)), found.name, known)


def dialect_of(source: ModelFile) -> Dialect:
    """Which Keras wrote a file."""
    return _checked(source.config, source.version, source.backend)


def _checked(config: Any, version: str | None, backend: str | None) -> Dialect:
    check_model(config)
    if keras1.is_of_keras0(config):
        return keras1.DIALECT
    check_entry(config)
    return dialect(config, version or None, backend or None)


def dialect(config: Any, keras_version: str | None = None, backend: str | None = None) -> Dialect:
    """The dialect in which the config of a model is written.

    `keras_version`, `backend`: from the file; a JSON text may hold them itself. Raises UnknownFormatError if neither
    version nor form decides it.
    """
    inside = config if isinstance(config, Mapping) else {}
    version, backend = keras_version or inside.get("keras_version"), backend or inside.get("backend")
    if version is None:
        return _by_forms(config)
    stated = VERSION.match(str(version))
    if stated is None:
        raise UnknownFormatError(f"The version of Keras must be such as '2.2.4'; found {version!r}.")
    major, minor, tf = int(stated[1]), int(stated[2]), "-tf" in str(version)
    found = next((each for each in DIALECTS if each.version(major, minor, tf)), None)
    if found is None:
        raise UnknownFormatError(f"Written by Keras {version}; files of Keras 1, 2 and 3 are read.")
    if major == 2 and backend not in (None, *BACKENDS2):
        raise UnknownFormatError(f"Written by Keras {version} on {backend}; Keras 2 ran on {', '.join(BACKENDS2)}.")
    return found


def _by_forms(config: Any) -> Dialect:
    """By what only one of them writes, anywhere in the config."""
    marked = {each for found in mappings(config) for each in DIALECTS if each.marks(found)}
    explained = {name for each in marked for name in each.besides}
    left = {each.name: each for each in marked if each.name not in explained}
    if len(left) != 1:
        stated = ", ".join(sorted(left)) or "nothing"
        raise UnknownFormatError(f"The architecture has no 'keras_version', and its forms are those of {stated} alone.")
    return left.popitem()[1]

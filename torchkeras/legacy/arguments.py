"""Tables of Keras 1's names of layers and arguments, and the one place that translates them to today's.

A row of `SIGNATURES` is a layer's signature in Keras 1: its arguments in order, as `old>new` if the name has changed.
Several old names for one new name make a tuple (`nb_row>kernel_size nb_col>kernel_size`). One old name for several new
names, joined by `+`, sets each of them. `old>` alone has no meaning today.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from torchkeras import config
from torchkeras.base.rules import one_of, read, refuse_unknown

F = TypeVar("F", bound=Callable[..., Any])

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


class Keras1Arrays(list[Any]):
    """Initial values from `weights=` in a call with Keras 1's names; their shapes are Keras 1's, too."""


def layer_arguments(
    cls: type, known: Mapping[str, Any], args: tuple[Any, ...], given: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call's arguments under today's names. `known`: the options of the class.

    Keras 1's signature is used if the call has a name that only Keras 1 had, or gives the sizes of a kernel one by one
    (`Conv2D(64, 3, 3)`, which Keras 2.2.4 accepts, too). Raises TypeError for an option given under both names,
    ValueError for an unknown old value.
    """
    kind = next((base.__name__ for base in cls.__mro__ if base.__name__ in SIGNATURES), None)
    if kind is None:
        return args, given
    row = [argument.partition(">") for argument in SIGNATURES[kind].split()]
    renamed = {old: new for old, arrow, new in row if arrow and old not in known}
    sizes = list(renamed.values()).count("kernel_size")
    if renamed.keys().isdisjoint(given) and not _are_one_by_one(sizes, args):
        return _with_pairs(kind, args, given)
    order = list(known) if _are_together(sizes, args) else [old for old, _, _ in row]
    return _with_pairs(kind, (), _today(cls, renamed, order, args, given))


def _are_one_by_one(sizes: int, args: tuple[Any, ...]) -> bool:
    """Whether a call gives the sizes of a kernel, so many, one by one: `Conv2D(64, 3, 3)`."""
    return sizes > 1 and len(args) > sizes and all(type(size) is int for size in args[1 : sizes + 1])


def _are_together(sizes: int, args: tuple[Any, ...]) -> bool:
    """Whether the sizes are one argument, as today, in a call with an old name: `Conv2D(64, (3, 3), init="normal")`."""
    return sizes > 1 and len(args) > 1 and isinstance(args[1], (tuple, list))


def _with_pairs(kind: str, args: tuple[Any, ...], given: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same, with the padding of a ZeroPadding as pairs."""
    if kind in PADS and args:
        return (_pairs(PADS[kind], args[0]), *args[1:]), given
    if kind in PADS and "padding" in given:
        return args, {**given, "padding": _pairs(PADS[kind], given["padding"])}
    return args, given


def _today(
    cls: type, renamed: Mapping[str, str], order: list[str], args: tuple[Any, ...], given: dict[str, Any]
) -> dict[str, Any]:
    if len(args) > len(order):
        raise TypeError(f"{cls.__name__} took at most {len(order)} positional arguments in Keras 1; found {len(args)}.")
    old = {**dict(zip(order, args, strict=False)), **given}
    result = {name: value for name, value in old.items() if name not in renamed}
    if result.get("weights") is not None:
        result["weights"] = Keras1Arrays(result["weights"])
    for new, values in _renamed_values(cls, renamed, old).items():
        names = [name for name in renamed if new in renamed[name].split("+")]
        if new in result:
            found = " and ".join(name for name in names if name in old)
            raise TypeError(f"{cls.__name__}: {found} and {new} are one option under two names; give one of them.")
        result[new] = values[0] if len(names) == 1 else tuple(values)
    return result


def _renamed_values(cls: type, renamed: Mapping[str, str], old: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values of today's options, from arguments with other names: several where Keras 1 had one for each value."""
    values: dict[str, list[Any]] = {}
    for name, value in old.items():
        if name in renamed:
            found = _value(cls, name, value)
            for new in filter(None, renamed[name].split("+")):
                values.setdefault(new, []).append(found)
    return values


def _value(cls: type, name: str, value: Any) -> Any:
    known = VALUES.get(name)
    if name == "output_shape" and isinstance(value, (tuple, list)):  # computed by Python 2's division
        return tuple(int(size) if isinstance(size, float) and size.is_integer() else size for size in value)
    if known is None:
        return value
    return known[read(cls.__name__, name, one_of(*known), value)]


def _pairs(names: tuple[tuple[str, str], ...], value: Any) -> Any:
    """Pairs from a dictionary, or from a flat list of four numbers; anything else is unchanged."""
    if isinstance(value, Mapping):
        return _pairs_of_ends(names, value)
    if isinstance(value, (tuple, list)) and len(names) == 2 and len(value) == 4:
        return (tuple(value[:2]), tuple(value[2:]))
    return value


def _pairs_of_ends(names: tuple[tuple[str, str], ...], ends: Mapping[str, Any]) -> tuple[Any, ...]:
    """The padding of each axis, from that of each end by its name; ends that are left out are not padded."""
    known = [name for pair in names for name in pair]
    unknown = sorted(set(ends) - set(known))
    if unknown:
        raise ValueError(f"ZeroPadding{len(names)}D: padding knows the ends {', '.join(known)}; found {unknown[0]!r}.")
    found = tuple((ends.get(first, 0), ends.get(last, 0)) for first, last in names)
    return found[0] if len(found) == 1 else found


def old_names(kind: str) -> Callable[[F], F]:
    """Let a function also accept the old names that `KEYWORDS[kind]` lists; an error names all that it takes."""

    def decorate(function: F) -> F:
        taken = inspect.signature(function).parameters
        takes_all = any(each.kind is each.VAR_KEYWORD for each in taken.values())

        @wraps(function)
        def taking_old_names(*args: Any, **given: Any) -> Any:
            for old, new in KEYWORDS[kind].items():
                if old in given:
                    if new.startswith(REFUSED):
                        raise TypeError(
                            f"{kind}: {old}, of Keras 1, counts samples; give {new.removeprefix(REFUSED)}, which "
                            "counts batches."
                        )
                    if new in given:
                        raise TypeError(f"{kind}: {old} and {new} are one argument under two names; give one of them.")
                    given[new] = given.pop(old)
            if not (takes_all or given.keys() <= taken.keys()):
                refuse_unknown(kind, given, [name for name in taken if name != "self"])
            return function(*args, **given)

        return taking_old_names  # type: ignore[return-value]

    return decorate

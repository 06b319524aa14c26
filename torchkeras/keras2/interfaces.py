"""`keras.legacy.interfaces`: decorators that let Keras 1's arguments into functions of Keras 2.

The layers of this package read Keras 1's arguments themselves, so the decorators of layers leave a function as it is.
Those of methods that scripts write themselves, `add_weight` and `get_updates`, translate.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Function = Callable[..., Any]
Preprocessor = Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, dict[str, Any], list[tuple[str, str]]]]


def generate_legacy_interface(
    allowed_positional_args: Sequence[str] | None = None,
    conversions: Sequence[tuple[str, str]] | None = None,
    preprocessor: Preprocessor | None = None,
    value_conversions: Mapping[str, Mapping[Any, Any]] | None = None,
    object_type: str = "class",
) -> Callable[[Function], Function]:
    """A decorator that translates old arguments and warns of each.

    Arguments:
        allowed_positional_args (list of texts or None): those that may be given by position, after `self`.
        conversions (list of pairs or None): an argument's old name and its new one.
        preprocessor (function or None): of (args, kwargs), first; gives both, and the pairs (new, old) it translated.
        value_conversions (dict or None): by argument, its old values and the new ones.
        object_type (text): "class" or "method", which says what a warning names.

    Errors:
        TypeError, by the decorated function: too many arguments by position, or one under both names.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def translated(*args: Any, **kwargs: Any) -> Any:
            name = type(args[0]).__name__ if object_type == "class" else function.__name__
            converted: list[tuple[str, str]] = []
            if preprocessor is not None:
                args, kwargs, converted = preprocessor(args, kwargs)
            if allowed_positional_args is not None and len(args) > len(allowed_positional_args) + 1:
                raise TypeError(
                    f"`{name}` can accept only {len(allowed_positional_args)} positional arguments "
                    f"{tuple(allowed_positional_args)}, but you passed the following positional arguments: "
                    f"{list(args[1:])}"
                )
            _convert_values(kwargs, value_conversions or {})
            converted = [*converted, *_convert_names(kwargs, conversions or ())]
            if converted:
                changes = ", ".join(f"{old} is now {new}" for new, old in converted)
                warnings.warn(f"Update your `{name}` call to the Keras 2 API: {changes}.", stacklevel=2)
            return function(*args, **kwargs)

        translated._original_function = function  # type: ignore[attr-defined]
        return translated

    return decorate


def _convert_values(kwargs: dict[str, Any], conversions: Mapping[str, Mapping[Any, Any]]) -> None:
    """Replace old values of arguments by new ones."""
    for argument, values in conversions.items():
        if argument in kwargs:
            kwargs[argument] = values.get(kwargs[argument], kwargs[argument])


def _convert_names(kwargs: dict[str, Any], conversions: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Replace old names of arguments by new ones; returns the pairs (new, old) of these."""
    converted = []
    for old, new in conversions:
        if old in kwargs:
            if new in kwargs:
                raise_duplicate_arg_error(old, new)
            kwargs[new] = kwargs.pop(old)
            converted.append((new, old))
    return converted


generate_legacy_method_interface = functools.partial(generate_legacy_interface, object_type="method")


def raise_duplicate_arg_error(old_arg: str, new_arg: str) -> None:
    """Raise TypeError: an argument is given under its old name and its new one."""
    raise TypeError(
        f"For the `{new_arg}` argument, the layer received both the legacy keyword argument `{old_arg}` and the Keras "
        f"2 keyword argument `{new_arg}`. Stick to the latter!"
    )


def _unchanged(function: Function) -> Function:
    """The function itself: what it decorates reads the old arguments by itself."""
    return function


legacy_dense_support = legacy_dropout_support = legacy_embedding_support = _unchanged
legacy_pooling1d_support = legacy_pooling2d_support = legacy_pooling3d_support = _unchanged
legacy_global_pooling_support = legacy_prelu_support = legacy_recurrent_support = _unchanged
legacy_gaussiannoise_support = legacy_gaussiandropout_support = _unchanged
legacy_upsampling1d_support = legacy_upsampling2d_support = legacy_upsampling3d_support = _unchanged
legacy_conv1d_support = legacy_conv2d_support = legacy_conv3d_support = legacy_separable_conv2d_support = _unchanged
legacy_deconv2d_support = legacy_convlstm2d_support = legacy_batchnorm_support = _unchanged
legacy_zeropadding2d_support = legacy_zeropadding3d_support = _unchanged
legacy_cropping2d_support = legacy_cropping3d_support = _unchanged
legacy_spatialdropout1d_support = legacy_lambda_support = _unchanged
legacy_spatialdropoutNd_support = _unchanged  # noqa: N816  (Keras's name)
legacy_model_constructor_support = legacy_input_support = legacy_generator_methods_support = _unchanged


def add_weight_args_preprocessing(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Keras 1's `add_weight(shape, initializer, name=...)` as Keras 2's `add_weight(name, shape, ...)`."""
    if len(args) > 1 and isinstance(args[1], (tuple, list)):
        kwargs = {**kwargs, "shape": args[1]}
        args = (args[0], *args[2:])
        if len(args) > 1 and isinstance(args[1], str):
            kwargs["initializer" if "name" in kwargs else "name"] = args[1]
            args = (args[0], *args[2:])
        return args, kwargs, [("name, shape", "shape")]
    return args, kwargs, []


def get_updates_arg_preprocessing(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Keras 1's `get_updates(params, constraints, loss)` as Keras 2's `get_updates(loss, params)`."""
    owner, *given = args
    if len(given) == 3:
        params, constraints, loss = given
    elif "constraints" in kwargs:
        names = ("params", "constraints", "loss")
        values = {**dict(zip(names, given, strict=False)), **kwargs}
        params, constraints, loss = (values[name] for name in names)
    else:
        return args, kwargs, []
    if constraints:
        raise ValueError("get_updates: give constraints to the layers; Keras 2's optimizers take none.")
    return (owner,), {"params": params, "loss": loss}, [("params, loss", "params, constraints, loss")]


legacy_add_weight_support = generate_legacy_method_interface(
    allowed_positional_args=["name", "shape"], preprocessor=add_weight_args_preprocessing
)
legacy_get_updates_support = generate_legacy_method_interface(
    allowed_positional_args=["params", "loss"], preprocessor=get_updates_arg_preprocessing
)

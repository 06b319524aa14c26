"""What tf.keras and Keras 3 both compute differently from Keras 2.2.4, as today's options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torchkeras.base.bytecode import FORMULA
from torchkeras.errors import ArchitectureError
from torchkeras.saving.dialects.translation import Config, function_name, is_object
from torchkeras.saving.extra_keys import everywhere
from torchkeras.saving.layer_facts import RECURRENT


def with_options(made: Config, **options: Any) -> Config:
    """A layer's config with these options changed or added."""
    return {**made, "config": {**made["config"], **options}}


def _recurrent(made: Config, where: str) -> Config:
    # At a masked step 2.2.4 outputs the first state; later versions output the last output, or zero.
    return with_options(made, zero_output_for_mask=bool(made["config"].get("zero_output_for_mask", False)))


def bidirectional(zeros: Callable[[Config], bool | None]) -> Callable[[Config, str], Config]:
    """The change of a Bidirectional. `zeros`: what `zero_output_for_mask` is inside, of a layer's config."""
    return partial(_bidirectional, zeros)


def _bidirectional(zeros: Callable[[Config], bool | None], made: Config, where: str) -> Config:
    """Both layers as they compute inside.

    A backward layer that is just the forward one reversed is left out, as in today's config.
    """
    config = dict(made["config"])
    layers = [config.pop(key, None) for key in ("layer", "backward_layer")]
    forward, backward = (found and with_options(found, zero_output_for_mask=zeros(found)) for found in layers)
    penalties = [found["config"].get("activity_regularizer") for found in (forward, backward) if found]
    _check_penalties(penalties, config.get("merge_mode", "concat"), where)
    is_reversed = backward and _is_reversed(forward, backward)
    forward = with_options(forward, name=forward["config"]["name"].removeprefix("forward_"))
    if backward and not is_reversed:
        config["backward_layer"] = with_options(backward, name=backward["config"]["name"].removeprefix("backward_"))
    return {**made, "config": {**config, "layer": forward}}


def _is_reversed(forward: Config, backward: Config) -> bool:
    """Whether two layers are one but for the name and the direction."""
    directions = [found["config"].get("go_backwards", False) for found in (forward, backward)]
    if directions[0] == directions[1] or forward["class_name"] != backward["class_name"]:
        return False
    own = [dict(found["config"], name=None, go_backwards=None) for found in (forward, backward)]
    return own[0] == own[1]


def _check_penalties(penalties: list[Any], merge_mode: Any, where: str) -> None:
    """Raise ArchitectureError if activity regularizers of both ways would not count as one of the merged output."""
    merged = merge_mode not in ("concat", None)
    if any(penalties) and (merged or any(each != penalties[0] for each in penalties)):
        raise ArchitectureError(
            f"{where}: an activity_regularizer counts for each way by itself there. It is read with "
            f"merge_mode 'concat' or None and one for both ways; found merge_mode {merge_mode!r}."
        )


def _single_axis(made: Config, where: str) -> Config:
    axis = made["config"].get("axis", -1)
    if not isinstance(axis, (list, tuple)):
        return made
    if len(axis) != 1:
        raise ArchitectureError(f"{where}: axis must be one axis; found {axis!r}.")
    return with_options(made, axis=axis[0])


def batch_normalization(variance: str) -> Callable[[Config, str], Config]:
    """The change of a BatchNormalization: what the moving variance follows, and what frozen ones do in training.

    An entry that this package wrote says both itself.
    """

    def change(made: Config, where: str) -> Config:
        found = _single_axis(made, where)
        return with_options(found, **{"variance": variance, "frozen_is_fixed": True, **found["config"]})

    return change


def with_variance(config: Any, variance: str) -> Any:
    """A model's config of today's form in which every BatchNormalization that does not say it follows this variance."""
    return _with_layers(config, "BatchNormalization", lambda options: {"variance": variance, **options})


def without_integer_vectors(config: Any) -> Any:
    """A model's config without the dtype int32 of an Embedding: in Keras 2.0.0 to 2.0.5 that of its inputs alone."""

    def change(options: Mapping[str, Any]) -> Config:
        return {key: value for key, value in options.items() if (key, value) != ("dtype", "int32")}

    return _with_layers(config, "Embedding", change)


def _with_layers(config: Any, name: str, change: Callable[[Mapping[str, Any]], Config]) -> Any:
    """A model's config in which every layer of the class `name` has the options that `change` makes of its own."""

    def changed(made: Config) -> Config:
        if made.get("class_name") != name or not isinstance(made.get("config"), Mapping):
            return made
        return {**made, "config": change(made["config"])}

    return everywhere(config, changed)


def _half_pixel(made: Config, where: str) -> Config:
    return with_options(made, half_pixel=True) if made["config"].get("interpolation") == "bilinear" else made


def _lambda(made: Config, where: str) -> Config:
    """Functions by name. Bytecode becomes an empty list: the user must give the function."""
    config = dict(made["config"])
    for key in ("function", "output_shape", "mask"):
        value, kind = config.get(key), config.get(f"{key}_type")
        if isinstance(value, Mapping) and is_object(value):
            name = function_name(value)
            config[key], kind = name, "function" if name else "lambda"
        elif kind == "lambda":
            config[key] = []
        elif isinstance(value, Mapping):
            kind = FORMULA
        if key != "mask":
            config[f"{key}_type"] = kind or ("function" if key == "function" else "raw")
    return {**made, "config": config}


def setting(**options: Any) -> Callable[[Config, str], Config]:
    """A change that sets options which are fixed in the other Keras."""
    return partial(_set, options)


def _set(options: Config, made: Config, where: str) -> Config:
    return with_options(made, **options)


CHANGES: Mapping[str, Callable[[Config, str], Config]] = {
    **dict.fromkeys(RECURRENT, _recurrent),
    "ActivityRegularization": setting(per_sample=True),
    "Bidirectional": bidirectional(lambda layer: bool(layer["config"].get("return_sequences"))),
    "Lambda": _lambda,
    "UpSampling2D": _half_pixel,
}

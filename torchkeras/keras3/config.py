"""`keras.config`: the settings of this package under Keras 3's names. `KERAS_MAX_EPOCHS` and
`KERAS_MAX_STEPS_PER_EPOCH` of the environment are read once, when this is imported.
"""

from __future__ import annotations

import os
from typing import Any

import torch

from torchkeras import config
from torchkeras.config import (
    disable_interactive_logging,
    dtype_policy,
    enable_interactive_logging,
    epsilon,
    floatx,
    image_data_format,
    is_interactive_logging_enabled,
    max_epochs,
    max_steps_per_epoch,
    set_epsilon,
    set_max_epochs,
    set_max_steps_per_epoch,
)
from torchkeras.keras3.dtype_policies import set_dtype_policy

__all__ = [
    "backend",
    "disable_flash_attention",
    "disable_interactive_logging",
    "disable_traceback_filtering",
    "dtype_policy",
    "enable_flash_attention",
    "enable_interactive_logging",
    "enable_traceback_filtering",
    "enable_unsafe_deserialization",
    "epsilon",
    "floatx",
    "image_data_format",
    "is_flash_attention_enabled",
    "is_interactive_logging_enabled",
    "is_nnx_enabled",
    "is_traceback_filtering_enabled",
    "max_epochs",
    "max_steps_per_epoch",
    "set_backend",
    "set_dtype_policy",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_max_epochs",
    "set_max_steps_per_epoch",
]


def set_floatx(value: str) -> None:
    """Set the default float type.

    Arguments:
        value (text): "float16", "bfloat16", "float32" or "float64".

    Errors:
        ValueError: another name.

    Example:
        >>> set_floatx("float64")
        >>> floatx()
        'float64'

    Source: https://keras.io/api/utils/config_utils/
    """
    config.set_floatx(value)


def set_image_data_format(data_format: str) -> None:
    """Set the default data format.

    Arguments:
        data_format (text): "channels_last" for (batch, height, width, channels), "channels_first" for (batch, channels,
            height, width); in letters of either case.

    Errors:
        ValueError: another name.

    Example:
        >>> set_image_data_format("channels_first")
        >>> image_data_format()
        'channels_first'

    Source: https://keras.io/api/utils/config_utils/
    """
    config.set_image_data_format(data_format.lower() if isinstance(data_format, str) else data_format)


# --- the backend -----------------------------------------------------------------------------------------------------


def backend() -> str:
    """The name of the backend, "torch".

    Example:
        >>> backend()
        'torch'

    Source: https://keras.io/api/utils/config_utils/
    """
    return "torch"


def set_backend(backend: str) -> None:
    """Take "torch", which there is, and refuse any other backend.

    Arguments:
        backend (text): "torch".

    Errors:
        ValueError: another one.

    Example:
        >>> set_backend("torch")

    Source: https://keras.io/api/utils/config_utils/
    """
    if backend != "torch":
        raise ValueError(f"set_backend: backend must be 'torch', the only one here; found {backend!r}.")


def is_nnx_enabled() -> bool:
    """False: NNX is of the backend for JAX.

    Example:
        >>> is_nnx_enabled()
        False
    """
    return False


# --- attention -------------------------------------------------------------------------------------------------------


def enable_flash_attention() -> None:
    """Let torch choose flash attention on CUDA, where the tensors allow it: its own switch, on unless disabled.

    Example:
        >>> enable_flash_attention()
        >>> is_flash_attention_enabled()
        True

    Source: https://keras.io/api/utils/config_utils/
    """
    torch.backends.cuda.enable_flash_sdp(True)


def disable_flash_attention() -> None:
    """Let torch choose no flash attention on CUDA: its own switch.

    Example:
        >>> disable_flash_attention()
        >>> is_flash_attention_enabled()
        False

    Source: https://keras.io/api/utils/config_utils/
    """
    torch.backends.cuda.enable_flash_sdp(False)


def is_flash_attention_enabled() -> bool:
    """Whether torch may choose flash attention on CUDA.

    Source: https://keras.io/api/utils/config_utils/
    """
    return bool(torch.backends.cuda.flash_sdp_enabled())


# --- tracebacks ------------------------------------------------------------------------------------------------------


def enable_traceback_filtering() -> None:
    """Refused: all frames of a traceback are shown.

    Errors:
        ValueError: always; it says what to do instead.
    """
    raise ValueError(
        "enable_traceback_filtering: all frames of a traceback are shown here. To hide some, set sys.excepthook; the "
        "last line of an error names the layer, the option and the value."
    )


def disable_traceback_filtering() -> None:
    """Show all frames of tracebacks, as is always done.

    Example:
        >>> disable_traceback_filtering()

    Source: https://keras.io/api/utils/config_utils/
    """


def is_traceback_filtering_enabled() -> bool:
    """False: all frames of a traceback are shown.

    Example:
        >>> is_traceback_filtering_enabled()
        False

    Source: https://keras.io/api/utils/config_utils/
    """
    return False


# --- files -----------------------------------------------------------------------------------------------------------


class _Files:
    is_safe: bool = True


def enable_unsafe_deserialization() -> None:
    """Let files and configs with functions as bytecode be read, as with `safe_mode=False`, until `clear_session()`.

    Source: https://keras.io/api/utils/config_utils/
    """
    _Files.is_safe = False


def disable_unsafe_deserialization() -> None:
    """Refuse such files again, unless `safe_mode=False` is given."""
    _Files.is_safe = True


def in_safe_mode(safe_mode: bool = True) -> bool:
    """Whether functions as bytecode are refused: `safe_mode`, unless all of them are allowed."""
    return safe_mode and _Files.is_safe


def _limit(variable: str) -> Any:
    """A limit in the environment. Raises ValueError, with the name of the variable, for what is no number."""
    text = os.environ.get(variable)
    if not text:
        return None
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"the environment variable {variable} must be an integer of at least 1; found {text!r}.")
    return int(text)


if "KERAS_MAX_EPOCHS" in os.environ:
    set_max_epochs(_limit("KERAS_MAX_EPOCHS"))
if "KERAS_MAX_STEPS_PER_EPOCH" in os.environ:
    set_max_steps_per_epoch(_limit("KERAS_MAX_STEPS_PER_EPOCH"))

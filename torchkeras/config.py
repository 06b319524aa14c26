"""Settings that every part reads: float type, dtype policy, epsilon, image data format, default device, TF32.

Float type, epsilon and data format are read once from `keras.json` in `$KERAS_HOME` (else `~/.keras`), as Keras does. A
missing file means Keras's defaults. Nothing is written there.
"""

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext

from torchkeras.base.dtypes import DTypePolicy, dtype_of, policy_of, set_default_policy
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.base.other_project import refuse_other_project
from torchkeras.base.rules import ABOVE_0, FLAG, integer, one_of, optional, read
from torchkeras.world.processes import from_launcher

__all__ = [
    "chosen_image_data_format",
    "device",
    "disable_interactive_logging",
    "dtype_policy",
    "enable_interactive_logging",
    "epsilon",
    "floatx",
    "image_data_format",
    "image_dim_ordering",
    "is_interactive_logging_enabled",
    "max_epochs",
    "max_steps_per_epoch",
    "set_device",
    "set_dtype_policy",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_image_dim_ordering",
    "set_max_epochs",
    "set_max_steps_per_epoch",
    "set_tf32",
    "tf32",
]

refuse_other_project()  # here too: `__init__` may be the other project's

FLOAT_TYPES = ("float16", "bfloat16", "float32", "float64")
DATA_FORMATS = ("channels_last", "channels_first")
DIM_ORDERINGS = {"tf": "channels_last", "th": "channels_first"}  # Keras 1's names of them


@dataclass
class _Settings:
    """The values of the settings; a step reads them here, all else by the functions below."""

    floatx: str | None = None
    dtype_policy: DTypePolicy | None = None
    epsilon: float = 1e-7
    image_data_format: str = "channels_last"
    chosen_image_data_format: str | None = None
    device: torch.device | None = None
    max_epochs: int | None = None
    max_steps_per_epoch: int | None = None
    interactive_logging: bool = True
    keras_json: Path | None = None  # the file that was read


SETTINGS = _Settings()
_policy_of = lru_cache(policy_of)
NAMES = {dtype_of(name): name for name in FLOAT_TYPES}


def floatx() -> str:
    """The name of the default float type: "float32", unless it is set here or in torch.

    Example:
        >>> floatx()
        'float32'

    Source: https://keras.io/api/utils/config_utils/
    """
    return SETTINGS.floatx or NAMES[torch.get_default_dtype()]


def set_floatx(name: str) -> None:
    """Set the default float type.

    Arguments:
        name (text): "float16", "bfloat16", "float32" or "float64".

    Errors:
        ValueError: another name.

    Example:
        >>> set_floatx("float64")
        >>> Dense(1)(torch.ones(1, 2, dtype=torch.float64)).dtype
        torch.float64

    Source: https://keras.io/api/utils/config_utils/
    """
    SETTINGS.floatx = read("config", "floatx", one_of(*FLOAT_TYPES), name)


def dtype_policy() -> DTypePolicy:
    """The policy of layers without a `dtype` of their own: that of `floatx` unless set.

    Example:
        >>> dtype_policy()
        <DTypePolicy "float32">

    Source: https://keras.io/api/mixed_precision/policy/
    """
    chosen = SETTINGS.dtype_policy
    return _policy_of(SETTINGS.floatx or torch.get_default_dtype()) if chosen is None else chosen


def set_dtype_policy(policy: object) -> None:
    """Set the policy of the layers that are made from now on.

    Arguments:
        policy (name, DTypePolicy or None): "mixed_bfloat16", "mixed_float16", a float type, or a `DTypePolicy`; None is
            the policy of `floatx`.

    Errors:
        ValueError: anything else.

    Example:
        >>> set_dtype_policy("mixed_bfloat16")
        >>> Dense(1).compute_dtype, Dense(1).variable_dtype
        ('bfloat16', 'float32')

    Source: https://keras.io/api/mixed_precision/policy/
    """
    found = None if policy is None else policy_of(policy)
    if found is not None and found.variable_dtype not in FLOAT_TYPES:
        raise ValueError(f"the dtype policy of all layers must be of a float type; found {found.name!r}.")
    SETTINGS.dtype_policy = found


set_default_policy(lambda: dtype_policy().name)


def epsilon() -> float:
    """The small number by which losses clip, and the default of optimizers: 1e-7 unless set.

    Example:
        >>> epsilon()
        1e-07

    Source: https://keras.io/api/utils/config_utils/
    """
    return SETTINGS.epsilon


def set_epsilon(value: float) -> None:
    """Set the small number by which losses clip, and the default of optimizers.

    Arguments:
        value (float above 0): the number.

    Errors:
        ValueError: it is no positive number.

    Example:
        >>> set_epsilon(1e-5)
        >>> epsilon()
        1e-05

    Source: https://keras.io/api/utils/config_utils/
    """
    SETTINGS.epsilon = read("config", "epsilon", ABOVE_0, value)


def image_data_format() -> str:
    """The data format of layers without one of their own: "channels_last" unless set.

    Example:
        >>> image_data_format()
        'channels_last'

    Source: https://keras.io/api/utils/config_utils/
    """
    return SETTINGS.image_data_format


def chosen_image_data_format() -> str | None:
    """The data format that a call has set; None when there was no such call.

    A `keras.json` does not count as a choice, since Keras itself writes one.

    Example:
        >>> set_image_data_format("channels_first")
        >>> chosen_image_data_format()
        'channels_first'
    """
    return SETTINGS.chosen_image_data_format


def set_image_data_format(data_format: str) -> None:
    """Set the default data format.

    Arguments:
        data_format (text): "channels_last" for (batch, height, width, channels), "channels_first" for (batch, channels,
            height, width).

    Errors:
        ValueError: another name.

    Example:
        >>> set_image_data_format("channels_first")
        >>> Conv2D(4, 3)(torch.zeros(1, 3, 8, 8)).shape
        torch.Size([1, 4, 6, 6])

    Source: https://keras.io/api/utils/config_utils/
    """
    found = read("config", "image_data_format", one_of(*DATA_FORMATS), data_format)
    SETTINGS.image_data_format = SETTINGS.chosen_image_data_format = found


def image_dim_ordering() -> str:
    """The default data format under Keras 1's name: "tf" for channels_last, "th" for channels_first.

    Example:
        >>> image_dim_ordering()
        'tf'
    """
    return next(old for old, new in DIM_ORDERINGS.items() if new == image_data_format())


def set_image_dim_ordering(dim_ordering: str) -> None:
    """Set the default data format by Keras 1's name.

    Arguments:
        dim_ordering (text): "tf" for channels_last, "th" for channels_first.

    Errors:
        ValueError: another name.

    Example:
        >>> set_image_dim_ordering("th")
        >>> image_data_format()
        'channels_first'
    """
    found = read("config", "image_dim_ordering", one_of(*DIM_ORDERINGS), dim_ordering)
    set_image_data_format(DIM_ORDERINGS[found])


def device() -> torch.device:
    """The device that weights are made on.

    It is that of torch, inside `with torch.device(...)` and after `torch.set_default_device(...)`; else the one that
    was set here; else CUDA when there is a GPU; else the CPU. If several processes run on a machine, each has the CUDA
    device of its number, if there are enough devices.

    Example:
        >>> set_device("cpu")
        >>> device()
        device(type='cpu')
    """
    modes = [mode for mode in _get_current_function_mode_stack() if isinstance(mode, DeviceContext)]
    if modes:
        return torch.device(modes[-1].device)
    if SETTINGS.device is not None:
        return SETTINGS.device
    if not torch.cuda.is_available():
        return torch.device("cpu")
    number = from_launcher(2, 0)
    return torch.device("cuda", number) if 0 < number < torch.cuda.device_count() else torch.device("cuda")


def device_of_constants(of_weights: torch.device | None = None) -> torch.device:
    """The device that tensors are made on whose values no file has: that of weights, but the CPU where it is `meta`.

    Arguments:
        of_weights (torch.device or None, default None): the device of weights; None is `device()`.

    Example:
        >>> with torch.device("meta"):
        ...     device_of_constants()
        device(type='cpu')
    """
    found = of_weights or device()
    return torch.device("cpu") if found.type == "meta" else found


def set_device(name: str | torch.device | None) -> None:
    """Set the device that weights are made on.

    Arguments:
        name (text, torch.device or None): the device; None is CUDA when there is a GPU, else the CPU. A default device
            of torch takes precedence.

    Errors:
        ValueError: it is no device, or a CUDA device that is not there.

    Example:
        >>> set_device("cpu")
        >>> Dense(1)(torch.ones(1, 2)).device
        device(type='cpu')
    """
    try:
        device = None if name is None else torch.device(name)
    except RuntimeError:
        raise ValueError(f"set_device: {name!r} is no device of torch, such as 'cpu', 'cuda' or 'cuda:1'.") from None
    there = torch.cuda.device_count()
    if device is not None and device.type == "cuda" and (device.index or 0) >= there:
        raise ValueError(f"set_device: there is no {str(device)!r}; torch finds {there} CUDA devices.")
    SETTINGS.device = device


def max_epochs() -> int | None:
    """The most epochs that a `fit` runs; None, the default, sets no limit.

    Example:
        >>> set_max_epochs(2)
        >>> max_epochs()
        2

    Source: https://keras.io/api/utils/config_utils/
    """
    return SETTINGS.max_epochs


def set_max_epochs(max_epochs: int | None) -> None:
    """Limit the epochs of each `fit`, whatever its arguments, to try a script out. A warning says if it ends sooner.

    Arguments:
        max_epochs (integer of at least 1 or None): the most epochs; None for no limit.

    Errors:
        ValueError: anything else.

    Example:
        >>> set_max_epochs(None)

    Source: https://keras.io/api/utils/config_utils/
    """
    SETTINGS.max_epochs = read("config", "max_epochs", optional(integer(1)), max_epochs)


def max_steps_per_epoch() -> int | None:
    """The most batches of an epoch, an evaluation or a prediction; None, the default, sets no limit.

    Example:
        >>> set_max_steps_per_epoch(10)
        >>> max_steps_per_epoch()
        10

    Source: https://keras.io/api/utils/config_utils/
    """
    return SETTINGS.max_steps_per_epoch


def set_max_steps_per_epoch(max_steps_per_epoch: int | None) -> None:
    """Limit the batches of each epoch, evaluation and prediction, whatever the arguments, to try a script out.

    A warning says if it ends sooner. The next epoch continues where the last one stopped.

    Arguments:
        max_steps_per_epoch (integer of at least 1 or None): the most batches; None for no limit.

    Errors:
        ValueError: anything else.

    Example:
        >>> set_max_steps_per_epoch(None)

    Source: https://keras.io/api/utils/config_utils/
    """
    SETTINGS.max_steps_per_epoch = read("config", "max_steps_per_epoch", optional(integer(1)), max_steps_per_epoch)


def is_interactive_logging_enabled() -> bool:
    """Whether bars and lines are shown while a model runs, as `verbose` asks: True unless disabled.

    Example:
        >>> is_interactive_logging_enabled()
        True

    Source: https://keras.io/api/utils/config_utils/
    """
    return SETTINGS.interactive_logging


def enable_interactive_logging() -> None:
    """Show bars and lines while a model runs, as `verbose` asks.

    Example:
        >>> enable_interactive_logging()

    Source: https://keras.io/api/utils/config_utils/
    """
    SETTINGS.interactive_logging = True


def disable_interactive_logging() -> None:
    """Show nothing while a model runs, whatever `verbose` says; lines of callbacks go to the logger "torchkeras".

    Example:
        >>> disable_interactive_logging()
        >>> is_interactive_logging_enabled()
        False

    Source: https://keras.io/api/utils/config_utils/
    """
    SETTINGS.interactive_logging = False


def tf32() -> bool:
    """Whether CUDA computes float32 products and convolutions with the 10 bits of TF32.

    Errors:
        RuntimeError: torch's own settings allow it for only one of the two.

    Example:
        >>> set_tf32(False)
        >>> tf32()
        False
    """
    products, convolutions = map(_uses_tf32, _tf32_places())
    if products is not convolutions:
        words = {True: "on", False: "off"}
        raise RuntimeError(
            f"TF32 is {words[products]} for products and {words[convolutions]} for convolutions, as torch's own "
            "settings say: call set_tf32 to have both alike."
        )
    return products


def set_tf32(on: bool) -> None:
    """Let CUDA compute float32 products and convolutions in TF32, or not: much faster, but precise to 3 digits only.

    Until it is called torch's own settings hold: TF32 for convolutions alone. It changes nothing on the CPU.

    Arguments:
        on (bool): whether to use TF32.

    Errors:
        ValueError: `on` is neither True nor False.

    Example:
        >>> set_tf32(True)
        >>> tf32()
        True
    """
    on = read("config", "tf32", FLAG, on)
    # All versions of torch have these names. From 2.9 on they set the newer names too, but not the reverse.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = on


def _tf32_places() -> tuple[Any, Any]:
    cudnn: Any = torch.backends.cudnn
    return torch.backends.cuda.matmul, getattr(cudnn, "conv", cudnn)


def _uses_tf32(place: Any) -> bool:
    return place.fp32_precision == "tf32" if hasattr(place, "fp32_precision") else bool(place.allow_tf32)


def _read_keras_json() -> None:
    path = Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras") / "keras.json"
    if not path.is_file():
        return
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: not readable as JSON ({error}). Mend or remove the file.") from error
    for name, use in (
        ("floatx", set_floatx),
        ("epsilon", set_epsilon),
        ("image_dim_ordering", set_image_dim_ordering),
        ("image_data_format", set_image_data_format),
    ):
        if name in found:
            use(found[name])
    if SETTINGS.floatx == "float32":  # which Keras writes there by itself
        SETTINGS.floatx = None
    SETTINGS.chosen_image_data_format, SETTINGS.keras_json = None, path


_read_keras_json()


if not TYPE_CHECKING:
    __getattr__ = _missing_from(__name__)

"""Settings that every part reads: float type, dtype policy, epsilon, image data format, default device, TF32.

Float type, epsilon and data format are read once from `keras.json` in `$KERAS_HOME` (else `~/.keras`), as Keras does; a
missing file means Keras's defaults, and nothing is written there.
"""

import json
import os
from pathlib import Path
from typing import Any

import torch

from torchkeras.dtype_policy import DTypePolicy, policy_of

FLOAT_TYPES = ("float16", "bfloat16", "float32", "float64")
DATA_FORMATS = ("channels_last", "channels_first")
DIM_ORDERINGS = {"tf": "channels_last", "th": "channels_first"}  # Keras 1's names of them

_settings: dict[str, object] = {
    "floatx": "float32",
    "dtype_policy": None,
    "epsilon": 1e-7,
    "image_data_format": "channels_last",
    "chosen_image_data_format": None,
    "device": None,
}


def floatx() -> str:
    """The name of the default float type, `"float32"` unless set."""
    return str(_settings["floatx"])


def set_floatx(name: str) -> None:
    """Set the default float type: float16, bfloat16, float32 or float64. Raises ValueError for another."""
    _settings["floatx"] = _one_of("floatx", name, FLOAT_TYPES)


def dtype_policy() -> DTypePolicy:
    """The policy of layers that are not given a `dtype`: that of `floatx` unless set."""
    return policy_of(_settings["dtype_policy"] or floatx())


def set_dtype_policy(policy: object) -> None:
    """Set the policy of layers made from here on; `None`: that of `floatx`.

    `policy`: `"mixed_bfloat16"`, `"mixed_float16"`, a float type, or a `DTypePolicy`. Raises ValueError for another.
    """
    found = None if policy is None else policy_of(policy)
    if found is not None and found.variable_dtype not in FLOAT_TYPES:
        raise ValueError(f"the dtype policy of all layers must be of a float type; found {found.name!r}.")
    _settings["dtype_policy"] = found


def epsilon() -> float:
    """The fuzz factor that losses clip by and optimizers default to, 1e-7 unless set."""
    return float(_settings["epsilon"])  # type: ignore[arg-type]


def set_epsilon(value: float) -> None:
    """Set the fuzz factor. Raises ValueError unless it is a positive number."""
    if not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"epsilon must be a positive number; found {value!r}.")
    _settings["epsilon"] = float(value)


def image_data_format() -> str:
    """The data format of layers that are not given one: `"channels_last"` unless set."""
    return str(_settings["image_data_format"])


def chosen_image_data_format() -> str | None:
    """The same, but None when no call has set it: a `keras.json` is written by Keras itself, whatever it finds."""
    chosen = _settings["chosen_image_data_format"]
    return None if chosen is None else str(chosen)


def set_image_data_format(data_format: str) -> None:
    """Set the default data format: channels_last or channels_first. Raises ValueError for another."""
    found = _one_of("image_data_format", data_format, DATA_FORMATS)
    _settings.update(image_data_format=found, chosen_image_data_format=found)


def image_dim_ordering() -> str:
    """The default data format under Keras 1's name: `"tf"` for channels_last, `"th"` for channels_first."""
    return next(old for old, new in DIM_ORDERINGS.items() if new == image_data_format())


def set_image_dim_ordering(dim_ordering: str) -> None:
    """Set the default data format by Keras 1's name, tf or th. Raises ValueError for another."""
    set_image_data_format(DIM_ORDERINGS[_one_of("image_dim_ordering", dim_ordering, tuple(DIM_ORDERINGS))])


def device() -> torch.device:
    """The device that weights are made on: the one set, else CUDA when there is one, else the CPU."""
    chosen = _settings["device"]
    if chosen is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(str(chosen))


def set_device(name: str | torch.device | None) -> None:
    """Set the device that weights are made on; `None` chooses as at the start. Raises RuntimeError for no device."""
    _settings["device"] = None if name is None else str(torch.device(name))


def tf32() -> bool:
    """Whether CUDA computes products and convolutions of float32 with the 10 bits of TF32, both alike.

    Raises RuntimeError where torch's own settings have it for one of the two only.
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
    """Let CUDA compute products and convolutions of float32 in TF32, or not: much faster, to 3 digits.

    Until it is called torch's own settings hold: TF32 for convolutions alone. It changes nothing on the CPU. Raises
    ValueError unless `on` is True or False.
    """
    if not isinstance(on, bool):
        raise ValueError(f"tf32 must be True or False; found {on!r}.")
    # The names that all versions of torch have; from 2.9 on they set what the newer ones say, but not the reverse.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = on


def _tf32_places() -> tuple[Any, Any]:
    cudnn: Any = torch.backends.cudnn
    return torch.backends.cuda.matmul, getattr(cudnn, "conv", cudnn)


def _uses_tf32(place: Any) -> bool:
    return place.fp32_precision == "tf32" if hasattr(place, "fp32_precision") else bool(place.allow_tf32)


def _one_of(setting: str, value: object, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{setting} must be one of {', '.join(allowed)}; found {value!r}.")
    return str(value)


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
    _settings["chosen_image_data_format"] = None


_read_keras_json()

"""Settings and names: float type, epsilon, data format, numbers for names, sessions."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

import numpy as np
import torch

from torchkeras import config
from torchkeras.base import naming
from torchkeras.config import (
    floatx,
    image_data_format,
)
from torchkeras.keras2.backend import phase, random_numbers
from torchkeras.keras2.backend.nodes import floating

_uids: Counter[str] = Counter()
_names = ["torch"]


def backend() -> str:
    """The name of what computes: "torch"; "tensorflow" where `import keras` is answered, as scripts choose by it.

    >>> backend()
    'torch'
    """
    return _names[-1]


def answer(name: str) -> None:
    """Let `backend` give another name from now on."""
    _names.append(name)


def set_floatx(floatx: str) -> None:
    """Set the default float type: "float16", "bfloat16", "float32" or "float64". Raises ValueError for others.

    >>> set_floatx("float64")
    >>> dtype(zeros((2,)))
    'float64'
    """
    config.set_floatx(floatx)


def set_epsilon(e: float) -> None:
    """Set the small number by which crossentropies clip. Raises ValueError when it is not above 0.

    >>> set_epsilon(1e-5)
    >>> epsilon()
    1e-05
    """
    config.set_epsilon(e)


def cast_to_floatx(x: Any) -> Any:
    """An array (or list) of type `floatx`; a tensor stays one.

    >>> cast_to_floatx(np.array([1, 2])).dtype
    dtype('float32')
    """
    if isinstance(x, torch.Tensor):
        return x.to(floating())
    return np.asarray(x, dtype=floatx())


def normalize_data_format(value: str | None) -> str:
    """`value` in lower case, `image_data_format()` for None. Raises ValueError for another word.

    >>> normalize_data_format(None)
    'channels_last'
    """
    found = image_data_format() if value is None else str(value).lower()
    if found not in config.DATA_FORMATS:
        raise ValueError(f"data_format must be one of {', '.join(config.DATA_FORMATS)}; found {value!r}.")
    return found


def transpose_shape(shape: Any, target_format: str, spatial_axes: tuple[int, ...]) -> Any:
    """A shape of channels-last data in `target_format`, as a list or tuple like the given one.

    `spatial_axes`: those between batch and channels.

    >>> transpose_shape((16, 128, 128, 32), "channels_first", spatial_axes=(1, 2))
    (16, 32, 128, 128)
    """
    if target_format == "channels_first":
        return type(shape)([*shape[: spatial_axes[0]], shape[-1], *(shape[axis] for axis in spatial_axes)])
    if target_format == "channels_last":
        return shape
    raise ValueError(f"data_format must be one of {', '.join(config.DATA_FORMATS)}; found {target_format!r}.")


def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Whether a function takes an argument by this name; with `accept_all` also when it takes any name.

    >>> has_arg(sum, "keepdims")
    True
    """
    parameters = inspect.signature(fn).parameters
    found = parameters.get(name)
    if found is None:
        return accept_all and any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)


def get_uid(prefix: str = "") -> int:
    """1, 2, 3, ... for each `prefix`, until `reset_uids` or `clear_session`.

    >>> reset_uids()
    >>> get_uid("dense"), get_uid("dense"), get_uid("conv")
    (1, 2, 1)
    """
    _uids[prefix] += 1
    return _uids[prefix]


def reset_uids() -> None:
    """Let `get_uid` count from 1 again."""
    _uids.clear()


def clear_session() -> None:
    """Forget the numbers of names, the learning phase that was set, and seeds that were begun."""
    reset_uids()
    naming.clear_session()
    phase.forget()
    random_numbers.forget()


def name_scope(name: str, default_name: str | None = None, values: Any = None) -> AbstractContextManager[None]:
    """A block in which TensorFlow would begin the names of operations with `name`; torch's have none.

    >>> with name_scope("rates"):
    ...     rate = variable(0.1)
    """
    return nullcontext()


def manual_variable_initialization(value: bool) -> None:
    """Nothing for False. Raises ValueError for True: a variable has its values from the moment that it is made."""
    if value:
        raise ValueError("Variables have their values when they are made, so none can be initialized by hand.")


class NoSessionError(RuntimeError, AttributeError):
    """Something was asked of a session. `hasattr` finds nothing in one."""


class NoSession:
    """What stands where TensorFlow had a session: all that is asked of it is an error that says what to do."""

    def __getattr__(self, name: str) -> NoReturn:
        raise NoSessionError(
            f"There are no sessions, so there is no session.{name}: tensors have their values at once. In place of "
            "get_session().run(tensors, feed) write K.function(inputs, tensors)(values), K.eval(tensor) or "
            "K.batch_get_value(tensors)."
        )


def get_session() -> NoSession:
    """A `NoSession`, which scripts may hold; using it raises RuntimeError, which says what to do."""
    return NoSession()


def set_session(session: Any) -> NoReturn:
    """Raises RuntimeError: torch has no sessions, and takes its memory as it needs it."""
    raise RuntimeError(
        "There are no sessions, so there is nothing to set; leave the line out. GPU memory is taken as it is needed; "
        "torch.cuda.set_per_process_memory_fraction limits it, torch.set_num_threads the threads."
    )


def gpu_names() -> list[str]:
    """The GPUs, by TensorFlow's names; scripts ask `K.tensorflow_backend._get_available_gpus()`."""
    return [f"/device:GPU:{index}" for index in range(torch.cuda.device_count())]


def legacy_weight_ordering() -> bool:
    """False: Keras 1's switch for files of versions before 1.0. Which layout a file has is read from the file."""
    return False


def set_legacy_weight_ordering(value: bool) -> None:
    """Nothing for False. Raises ValueError for True: loading finds out which layout a file has."""
    if value:
        raise ValueError("load_weights reads from a file how its weights are ordered; leave the line out.")

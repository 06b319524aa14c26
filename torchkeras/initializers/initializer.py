"""The base of initializers, and how a weight is filled by one."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.arrays import as_numbers
from torchkeras.base.rules import Checked, integer, optional

Device = torch.device | str | None
SEED = optional(integer())


class Initializer(Checked):
    """The base class: called with a shape, gives a tensor; the fields of a dataclass are its config.

    A subclass defines `draw`, which sets the values of an existing tensor of any strides, or `__call__` itself.

    Example:
        >>> class Halves(Initializer):
        ...     def draw(self, values, generator):
        ...         return values.fill_(0.5)
        >>> Halves()((2,))
        tensor([0.5000, 0.5000])

    Source: https://keras.io/api/layers/initializers/
    """

    def __call__(self, shape: Sequence[int], dtype: torch.dtype = torch.float32, device: Device = None) -> Tensor:
        device = torch.device(device or config.device())
        drawn_in = torch.float64 if dtype == torch.float64 else torch.float32
        return self.draw(torch.empty(tuple(shape), dtype=drawn_in, device=device), _generator(self, device)).to(dtype)

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        """Set the numbers of `values` and return it; `generator` is None for torch's own."""
        raise NotImplementedError(f"{type(self).__name__} has neither draw(values, generator) nor __call__(shape).")

    def get_config(self) -> dict[str, Any]:
        """The fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The initializer whose `get_config` gave `config`; a `dtype`, which tf.keras writes, is ignored."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


def _generator(initializer: Initializer, device: torch.device) -> torch.Generator | None:
    seed = getattr(initializer, "seed", None)
    return None if seed is None else torch.Generator(device).manual_seed(int(seed))


def fill(initializer: Any, values: Tensor) -> None:
    """Set a weight's first values, by an initializer or a user's `f(shape)`, which may give a numpy array.

    Arguments:
        initializer (Initializer or function): gives the values. A function that requires a `dtype` gets its name
            ("float32").
        values (tensor): the weight in Keras's order of axes, a view of any strides.

    Errors:
        ValueError: when the result has another shape.

    Example:
        >>> weight = torch.zeros(2)
        >>> fill(np.ones, weight)
        >>> weight
        tensor([1., 1.])
    """
    drawn_in_place = (
        type(initializer).__call__ is Initializer.__call__ if isinstance(initializer, Initializer) else False
    )
    if drawn_in_place and values.dtype in (torch.float32, torch.float64):
        initializer.draw(values, _generator(initializer, values.device))
        return
    shape = tuple(values.shape)
    given = _call_initializer(initializer, shape, values.dtype, values.device)
    name = getattr(initializer, "__name__", type(initializer).__name__)
    drawn = torch.as_tensor(as_numbers(given, f"Initializer {name}: the weight"))
    if drawn.shape != shape:
        raise ValueError(f"Initializer {name} was asked for the shape {shape} and gave {tuple(drawn.shape)}.")
    values.copy_(drawn)


def _call_initializer(initializer: Any, shape: tuple[int, ...], dtype: torch.dtype, device: Device) -> Any:
    try:
        parameters = inspect.signature(initializer).parameters
    except ValueError:  # a builtin, such as numpy's, without a signature
        return initializer(shape)
    given: dict[str, Any] = {}
    if isinstance(initializer, Initializer) and "device" in parameters:
        given = {"dtype": dtype, "device": device}
    elif "dtype" in parameters and parameters["dtype"].default is inspect.Parameter.empty:
        given = {"dtype": str(dtype).removeprefix("torch.")}
    return initializer(shape, **given)

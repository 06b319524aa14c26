"""`keras.Function` and `keras.KerasTensor`: graphs of symbolic tensors beside models."""

from __future__ import annotations

from typing import Any

from torchkeras.base.naming import count_name
from torchkeras.engine.symbolic.tensor import KerasTensor as BaseTensor, as_list
from torchkeras.keras3.layers import Input
from torchkeras.keras3.models import Model


class Function(Model, abstract=True):
    """outputs = f(inputs), computed as between these symbolic tensors. It is a model with a name of its own.

    Options:
        inputs (tensor, list or dict of tensors): the symbolic inputs; they may be outputs of layers.
        outputs (tensor, list or dict of tensors): the symbolic outputs, computed from the inputs.
        name (text or None, default None): the name; None counts: `function`, `function_1`.

    Errors:
        ValueError: there are no inputs or outputs, or an output cannot be computed from the inputs.
        TypeError: an input or output is no symbolic tensor.

    Example:
        >>> x = KerasTensor((None, 3))
        >>> Function(x, x * 2 + 1)(torch.ones(1, 3)).tolist()
        [[3.0, 3.0, 3.0]]

    Source: https://keras.io/api/ops/
    """

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None) -> None:
        for option, given in (("inputs", inputs), ("outputs", outputs)):
            if isinstance(given, (list, tuple, dict)) and not given:
                raise ValueError(f"Function: the `{option}` argument cannot be empty.")
        super().__init__(inputs, outputs, name=name or count_name("function"))


class _OfTensors(type):
    """What makes `KerasTensor` stand for the class of all symbolic tensors, and makes one with a place in a graph."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, BaseTensor)


class KerasTensor(BaseTensor, metaclass=_OfTensors):
    """A symbolic tensor: a shape and a type, without values. All symbolic tensors are instances of this class.

    Options:
        shape (tuple): the sizes of the axes; None for an unknown size.
        dtype (name, default "float32"): the type of the elements.
        sparse (False, default False): must be False.
        ragged (False, default False): must be False.
        record_history (bool, default True): not used: the graph is recorded in any case.
        name (text or None, default None): the name; None counts.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> (KerasTensor((2, 3)) + 1).shape
        (2, 3)

    Source: https://keras.io/api/ops/
    """

    def __new__(
        cls,
        shape: Any,
        dtype: Any = "float32",
        sparse: bool = False,
        ragged: bool = False,
        record_history: bool = True,
        name: str | None = None,
    ) -> Any:  # not of this class: a tensor that an input of a graph has
        """A new input of a graph."""
        if sparse or ragged:
            raise ValueError("KerasTensor: sparse and ragged must be False: torch's layers compute on plain tensors.")
        return Input(batch_shape=tuple(as_list(shape)), dtype=dtype, name=name or count_name("keras_tensor"))

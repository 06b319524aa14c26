"""`Input` and `InputLayer`: where a graph begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import config
from torchkeras.engine.graph.function_calls import apply
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import is_integer
from torchkeras.engine.layer.symbolic import History, KerasTensor, Node, Shape, dtype_of
from torchkeras.legacy.arguments import old_names
from torchkeras.naming import unique_name

KerasTensor.apply_function = staticmethod(apply)


class InputLayer(Layer):
    """The layer of an `Input`: its only output is a symbolic tensor of the given shape.

    Options:
        input_shape (tuple or None, default None): the shape without the batch axis.
        batch_size (positive integer or None, default None): the size of the batch axis, with `input_shape`; None is
            any.
        batch_input_shape (tuple or None, default None): the shape with the batch axis, in place of `input_shape`.
        dtype (name, torch dtype or None, default None): the type; None is `config.floatx()`.
        input_tensor (None, default None): must be None; torchkeras wraps no existing tensor.
        sparse (bool, default False): must be False; torchkeras has no sparse tensors.
        name (text or None, default None): the name of the layer.

    Errors:
        ValueError: neither or both shapes are given, a size is no positive integer or None, or `sparse` or
            `input_tensor` is given.

    Example:
        >>> InputLayer(input_shape=(4,)).output.shape
        (None, 4)

    Source: https://keras.io/api/layers/core_layers/input/
    """

    class _Facts(Facts):
        casts = False

    @old_names("InputLayer")
    def __init__(
        self,
        input_shape: Any = None,
        batch_size: int | None = None,
        batch_input_shape: Any = None,
        dtype: Any = None,
        input_tensor: Any = None,
        sparse: bool = False,
        name: str | None = None,
    ):
        name = name or unique_name("input")
        if sparse:
            raise ValueError(f"Input {name!r}: sparse must be False; sparse tensors are not supported.")
        if input_tensor is not None:
            raise ValueError(f"Input {name!r}: tensor must be None; wrapping an existing tensor is not supported.")
        if (input_shape is None) == (batch_input_shape is None):
            found = "neither" if input_shape is None else "both"
            raise ValueError(f"Input {name!r}: give either the shape or the batch shape; found {found}.")
        given = input_shape if batch_input_shape is None else batch_input_shape
        if not isinstance(given, (tuple, list)):
            raise ValueError(f"Input {name!r}: a shape is a tuple, such as (4,); found {given!r}.")
        shape = (batch_size, *given) if batch_input_shape is None else tuple(given)
        super().__init__(name=name, dtype=dtype_of(dtype or config.floatx()), batch_input_shape=_checked(name, shape))
        self.trainable = False
        self.built = True
        output = KerasTensor(shape, dtype_of(self.dtype), name)
        output._keras_history = History(self, 0, 0)
        self._inbound_nodes.append(Node(self, [], output, {}))

    @property
    def input(self) -> KerasTensor:
        """The symbolic tensor itself, as Keras has it."""
        return self._inbound_nodes[0].outputs

    @property
    def input_shape(self) -> Shape:
        """The batch shape."""
        return self._inbound_nodes[0].outputs.shape

    def get_config(self) -> dict[str, Any]:
        """Batch shape, dtype and name."""
        return {
            "batch_input_shape": self.batch_input_shape,
            "dtype": self.dtype,
            "sparse": False,
            "name": self.name,
        }

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_inbound_nodes": []}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> InputLayer:
        """A new input of the same shape."""
        return cls(**config)


def Input(  # noqa: N802  (Keras's name)
    shape: Any = None,
    batch_shape: Any = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
) -> KerasTensor:
    """A symbolic tensor where a graph begins: `Input(shape=(28, 28, 1))`, without the batch axis.

    Arguments:
        shape (tuple or None, default None): the shape without the batch axis; None in it is a size that is not known
            yet.
        batch_shape (tuple or None, default None): the shape with the batch axis, in place of `shape`.
        name (text or None, default None): the name of the input layer.
        dtype (name, torch dtype or None, default None): the type; None is `config.floatx()`.
        sparse (bool, default False): must be False; torchkeras has no sparse tensors.
        tensor (None, default None): must be None; torchkeras wraps no existing tensor.

    Returns:
        A symbolic tensor.

    Errors:
        ValueError: neither or both shapes are given, a size is no positive integer or None, or `sparse` or `tensor` is
            given.

    Example:
        >>> inputs = Input((4,))
        >>> Model(inputs, Dense(2)(inputs)).output_shape
        (None, 2)

    Source: https://keras.io/api/layers/core_layers/input/
    """
    made = InputLayer(
        input_shape=shape, batch_input_shape=batch_shape, dtype=dtype, sparse=sparse, input_tensor=tensor, name=name
    )
    return made.input


def _checked(name: str, shape: tuple[Any, ...]) -> Shape:
    if not all(size is None or (is_integer(size) and size > 0) for size in shape):
        raise ValueError(f"Input {name!r}: a shape holds positive integers and None; found {shape}.")
    return shape

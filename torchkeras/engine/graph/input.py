"""`Input` and `InputLayer`: where a graph begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.extensions import replaceable
from torchkeras.base.naming import unique_name
from torchkeras.base.rules import is_integer, known_options
from torchkeras.base.texts import STRING
from torchkeras.engine.facts import Facts
from torchkeras.engine.functions.function_calls import apply
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import History, KerasTensor, Node, Shape
from torchkeras.legacy.arguments import old_names

KerasTensor.apply_function = staticmethod(apply)


@replaceable("_inbound_nodes")
class InputLayer(Layer):
    """The layer of an `Input`: its one output is a symbolic tensor.

    Options:
        input_shape (tuple of integers or None, default None): the shape without the batch axis; a size may be None,
            which means unknown. Either this or `batch_input_shape` must be given.
        batch_size (positive integer or None, default None): the batch size, together with `input_shape`; None allows
            any.
        batch_input_shape (tuple of integers or None, default None): the shape with the batch axis.
        dtype (name, type or None, default None): the type of the tensor; None takes `config.floatx()`. "string" takes
            strings, for layers such as TextVectorization; the symbolic tensor then has one axis more, for their bytes.
        input_tensor (None, default None): only None; wrapping a tensor is not supported.
        sparse (bool, default False): only False; sparse tensors are not supported.
        name (string or None, default None): the name of the layer and of its tensor; None makes one.

    Errors:
        ValueError: when neither or both of the shapes are given, and for a size that is neither positive nor None.

    Example:
        >>> InputLayer((28, 28, 1)).input.shape
        (None, 28, 28, 1)
    """

    _without_policy = True  # the type in its config is that of its tensor

    class _Facts(Facts):
        casts = False

    @old_names("InputLayer")
    def __init__(
        self,
        input_shape: Sequence[int | None] | None = None,
        batch_size: int | None = None,
        batch_input_shape: Sequence[int | None] | None = None,
        dtype: str | torch.dtype | None = None,
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
        sizes = input_shape if batch_input_shape is None else batch_input_shape
        if not isinstance(sizes, (tuple, list)):
            raise ValueError(f"Input {name!r}: a shape is a tuple, such as (4,); found {sizes!r}.")
        shape = tuple(sizes)
        if batch_input_shape is None:
            shape = (batch_size, *shape)
        dtype = "string" if dtype is str else dtype
        if dtype == STRING:
            shape = shape[:-1]  # it is that of a tensor, which has an axis for the bytes of a string
        kind = STRING if dtype == "string" else dtype_of(dtype or config.floatx())
        super().__init__(name=name, dtype=kind, batch_input_shape=_checked(name, shape))
        self.trainable = False
        self.built = True
        output = KerasTensor((*shape, None) if kind == STRING else shape, kind, name)
        output.keras_history = History(self, 0, 0)
        self._call_nodes.append(Node(self, [], output, {}))

    @property
    def input(self) -> KerasTensor:
        """The symbolic tensor, as in Keras."""
        return self._call_nodes[0].outputs

    @property
    def input_shape(self) -> Shape:
        """The batch shape."""
        return self._call_nodes[0].outputs.shape

    def get_config(self) -> dict[str, Any]:
        """Batch shape, dtype and name."""
        return {
            "batch_input_shape": self.batch_input_shape,
            "dtype": "string" if dtype_of(self.dtype) == STRING else self.dtype,
            "sparse": False,
            "name": self.name,
        }

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_call_nodes": []}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> InputLayer:
        """A new input of the same shape."""
        return cls(**config)


@known_options
def Input(  # noqa: N802  (Keras's name)
    shape: Sequence[int | None] | None = None,
    batch_shape: Sequence[int | None] | None = None,
    name: str | None = None,
    dtype: str | torch.dtype | None = None,
    sparse: bool = False,
    tensor: Any = None,
) -> KerasTensor:
    """A symbolic tensor, with which a graph begins.

    Arguments:
        shape (tuple of integers or None, default None): the shape without the batch axis; a size may be None, which
            means unknown. Either this or `batch_shape` must be given.
        batch_shape (tuple of integers or None, default None): the shape with the batch axis.
        name (string or None, default None): the name of the tensor and of its layer; None makes one.
        dtype (name, type or None, default None): the type of the tensor; None takes `config.floatx()`, "float32" unless
            set. "string" takes strings, for layers such as TextVectorization; the symbolic tensor then has one axis
            more, for their bytes.
        sparse (bool, default False): only False; sparse tensors are not supported.
        tensor (None, default None): only None; wrapping a tensor is not supported.

    Errors:
        ValueError: when neither or both of the shapes are given, and for a size that is neither positive nor None.

    Example:
        >>> Input((28, 28, 1)).shape
        (None, 28, 28, 1)
    """
    made = InputLayer(
        input_shape=shape, batch_input_shape=batch_shape, dtype=dtype, sparse=sparse, input_tensor=tensor, name=name
    )
    return made.input


def _checked(name: str, shape: tuple[Any, ...]) -> Shape:
    if not all(size is None or (is_integer(size) and size > 0) for size in shape):
        raise ValueError(f"Input {name!r}: a shape holds positive integers and None; found {shape}.")
    return shape

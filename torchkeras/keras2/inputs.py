"""`Input` as scripts call it, which may wrap a tensor with values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from torchkeras.backend.questions import WRAPPED
from torchkeras.engine.graph import input as of_graph
from torchkeras.engine.layer.symbolic import KerasTensor, dtype_name


def Input(  # noqa: N802  (Keras's name)
    shape: Sequence[int | None] | None = None,
    batch_shape: Sequence[int | None] | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
) -> KerasTensor:
    """`torchkeras.Input`; `tensor` may be a variable or another tensor with values, whose shape and type count.

    `K.function` takes its values for it. A model is fed for it as for any Input.
    """
    if not isinstance(tensor, Tensor):
        return of_graph.Input(shape, batch_shape, name, dtype, sparse, tensor)
    found = of_graph.Input(batch_shape=tuple(tensor.shape), name=name, dtype=dtype_name(tensor.dtype), sparse=sparse)
    found._keras_history.layer.__dict__[WRAPPED] = tensor
    return found

"""All operations of Keras 3 (`keras.ops`): one table, by name."""

from __future__ import annotations

from collections.abc import Mapping

from torchkeras.tensor_functions.operations import (
    activations,
    arrays,
    convolutions,
    core,
    creation,
    ctc,
    elementwise,
    image,
    linalg,
    nn,
    random_numbers,
    reductions,
    signals,
)
from torchkeras.tensor_functions.operations.values import Function, Row, on_values

MODULES = (activations, arrays, convolutions, core, creation, ctc, elementwise, image, linalg, nn, reductions, signals)
OPERATIONS: Mapping[str, Row] = {name: row for module in MODULES for name, row in module.OPERATIONS.items()}
BROADCASTING = frozenset(f"ops.{name}" for name in elementwise.OPERATIONS)
# As a config names them, on values; those of `keras.random` too, which are none of `keras.ops`.
BY_NAME: Mapping[str, Function] = {f"ops.{name}": on_values(row) for name, row in OPERATIONS.items()}
BY_NAME = {**BY_NAME, **random_numbers.BY_NAME}

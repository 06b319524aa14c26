"""`keras.random`: random numbers, and the seeds that they begin with.

On symbolic tensors, and for a shape that has sizes of one (`keras.ops.shape(x)`), a function makes a node of the graph,
which draws anew each time the model runs; with an integer as seed it draws the same.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature
from typing import Any

from torchkeras.base.nested import tensors_in
from torchkeras.engine.functions.function_calls import apply_operation
from torchkeras.engine.symbolic.unknown_sizes import SymbolicSize
from torchkeras.tensor_functions.operations.random_numbers import BY_NAME, OPERATIONS, SeedGenerator

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "dropout",
    "gamma",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]


def _published(name: str) -> Callable[..., Any]:
    """The public function of an operation: without `like`, which its node gets."""
    row, called = OPERATIONS[f"random.{name}"], f"ops.random.{name}"
    compute = BY_NAME[called]
    parameters = [each for each in row.signature.parameters.values() if each.name != "like"]
    signature = Signature(parameters, return_annotation=row.signature.return_annotation)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        like = _tensor_of_sizes(bound.arguments.get("shape"))
        if like is None and not tensors_in((args, kwargs)):
            return compute(*args, **kwargs)
        if isinstance(bound.arguments.get("seed"), SeedGenerator):
            raise ValueError(
                f"keras.random.{name}: on a symbolic tensor seed must be an integer or None, since a graph cannot "
                "hold a SeedGenerator; use it in a layer of your own, in its call."
            )
        keywords = bound.kwargs if like is None else {**bound.kwargs, "like": like}
        return apply_operation(called, bound.args, keywords)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = row.function.__doc__
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _tensor_of_sizes(shape: Any) -> Any:
    """The symbolic tensor that a shape has an unknown size of; None where it has none."""
    if isinstance(shape, SymbolicSize):
        first, *others = shape.form
        return first if len(others) == 1 else _tensor_of_sizes(others)
    if isinstance(shape, (list, tuple)):
        return next((found for found in map(_tensor_of_sizes, shape) if found is not None), None)
    return None


beta = _published("beta")
binomial = _published("binomial")
categorical = _published("categorical")
dropout = _published("dropout")
gamma = _published("gamma")
normal = _published("normal")
randint = _published("randint")
shuffle = _published("shuffle")
truncated_normal = _published("truncated_normal")
uniform = _published("uniform")

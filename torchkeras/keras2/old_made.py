"""Layers and variables that the code of a layer makes in a call: `Lambda(lambda v: Dense(4)(v))`.

In Keras 2 such code runs once, for the graph: what it makes has its first values for ever, and no training changes
them. Here it runs at each call: what it makes gets the values that it had in the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from torchkeras.base import extensions
from torchkeras.engine import users_code
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.users_code import CODE, note
from torchkeras.engine.weights.weight import own_variables
from torchkeras.keras2 import backend as K

VALUES = "_values_made_by_code"  # an attribute of a layer: what its code made in its first call, in order


def _as_at_first(made: Any, tensors: list[Tensor]) -> None:
    """Give what code has made the values that what it made at this place had at first."""
    place = len(CODE.made or ())
    note(made)
    if any(tensor.is_meta for tensor in tensors):  # where shapes are found
        return
    known = vars(CODE.owner).setdefault(VALUES, {})
    first = known.setdefault(place, [tensor.detach().clone() for tensor in tensors])
    with torch.no_grad():
        for tensor, value in zip(tensors, first, strict=True):
            tensor.copy_(value)


def note_layer(layer: Layer) -> None:
    """As `users_code.note`; a layer that is no part of the one whose code runs has its first values."""
    if all(module is not layer for module in CODE.owner.modules()):
        _as_at_first(layer, [tensor for variable in own_variables(layer) for tensor in variable.covered])


def check(owner: Any, made: list[Any]) -> None:
    """As `users_code.check`, of modules of torch alone."""
    users_code.check(owner, [each for each in made if not isinstance(each, (Layer, Tensor))])


def _variable_of_code(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        owner, CODE.owner = CODE.owner, None
        try:
            made = function(*args, **kwargs)
        finally:
            CODE.owner = owner
        if owner is not None:
            _as_at_first(made, [made])
        return made

    return make


def extend() -> None:
    """Let code make layers and variables."""
    extensions.extend(users_code.Made, note=staticmethod(note_layer), check=staticmethod(check))
    for name in ("random_uniform_variable", "random_normal_variable", "variable"):
        setattr(K, name, _variable_of_code(getattr(K, name)))

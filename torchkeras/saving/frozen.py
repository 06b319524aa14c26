"""Parameters that the user froze one by one, by `requires_grad_(False)`: no config says so, a file has their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchkeras.engine.layer.layer import Layer
from torchkeras.errors import UnreadableFileError, WeightMismatchError

KEY = "torchkeras_frozen"  # Keras does not read it


def frozen_alone(model: Any) -> list[str]:
    """Names, as in the `state_dict`, of parameters that do not train although their layers say that they do."""
    said = {id(tensor) for each in model.modules() if isinstance(each, Layer) for tensor in each._held_tensors()}
    said |= {id(tensor) for weight in model.weights if not weight.trainable for tensor in weight.tensors}
    return [name for name, each in model.named_parameters() if not (each.requires_grad or id(each) in said)]


def read_names(found: Any, file: str) -> Sequence[str]:
    """The names that a file has; none for None. Raises UnreadableFileError for anything but texts."""
    if found is None:
        return ()
    if not isinstance(found, (list, tuple)) or not all(isinstance(name, str) for name in found):
        raise UnreadableFileError(f"{file}: {KEY!r} must be a list of names; found {found!r:.200}.")
    return found


def freeze(model: Any, names: Sequence[str], file: str) -> None:
    """Freeze the parameters of these names. Raises WeightMismatchError for one that the model does not have."""
    parameters = dict(model.named_parameters())
    for name in names:
        if name not in parameters:
            raise WeightMismatchError(f"{file}: it says that {name!r} is frozen; the model has no such parameter.")
        parameters[name].requires_grad_(False)

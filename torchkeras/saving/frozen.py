"""What is frozen: layers and models by `trainable`, and parameters one by one by `requires_grad_(False)`.

Configs say it of some layers: those of Keras 2 not of models, those of a user's class only if its `get_config` does.
Our files have all of it, by the names of modules and parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight_lists import follow_trainable, held_tensors
from torchkeras.errors import UnreadableFileError, WeightMismatchError

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network

# The keys of a file, which Keras does not read: of parameters, and of layers.
KEY, LAYERS = "torchkeras_frozen", "torchkeras_frozen_layers"


@dataclass(frozen=True)
class Frozen:
    """What a file says is frozen, by names as torch has them.

    `layers`: those that are not `trainable`; the model itself is "". All others are, unless it is empty: then the
    config says it. `parameters`: those that do not train although their layers do.
    """

    layers: Sequence[str] = ()
    parameters: Sequence[str] = ()

    @classmethod
    def of(cls, model: Network) -> Frozen:
        """What is frozen in a model."""
        layers = ((name, each) for name, each in model.named_modules() if isinstance(each, Layer))
        return cls([name for name, each in layers if not each._freezing.trainable], frozen_alone(model))

    @classmethod
    def read(cls, get: Callable[[str], Any], file: str) -> Frozen:
        """What a file says; `get(key)` gives the value of a key, or None. Raises UnreadableFileError."""
        return cls(*(_stored_names(get(key), key, file) for key in (LAYERS, KEY)))

    def written(self) -> dict[str, list[str]]:
        """The keys of a file with their values; none where nothing is frozen."""
        return {key: [*names] for key, names in ((LAYERS, self.layers), (KEY, self.parameters)) if names}

    def freeze_layers(self, model: Network, file: str) -> None:
        """Set `trainable` of the model and of all layers inside. Raises WeightMismatchError for an unknown layer."""
        if not self.layers:
            return
        layers = {name: each for name, each in model.named_modules() if isinstance(each, Layer)}
        for name in self.layers:
            if name not in layers:
                raise WeightMismatchError(f"{file}: it says that {name!r} is frozen; the model has no such layer.")
        for name, each in layers.items():
            each._freezing.trainable = name not in self.layers
        follow_trainable(model, False)

    def freeze_parameters(self, model: Network, file: str) -> None:
        """Freeze the parameters one by one. Raises WeightMismatchError for one that the model does not have."""
        parameters = dict(model.named_parameters())
        for name in self.parameters:
            if name not in parameters:
                raise WeightMismatchError(f"{file}: it says that {name!r} is frozen; the model has no such parameter.")
            parameters[name].requires_grad_(False)


NOTHING_FROZEN = Frozen()


def frozen_alone(model: Network) -> list[str]:
    """Names, as in the `state_dict`, of parameters that do not train although their layers say that they do."""
    said = {id(tensor) for each in model.modules() if isinstance(each, Layer) for tensor in held_tensors(each)}
    said |= {id(tensor) for weight in model.weights if not weight.trainable for tensor in weight.tensors}
    return [name for name, each in model.named_parameters() if not (each.requires_grad or id(each) in said)]


def _stored_names(found: Any, key: str, file: str) -> Sequence[str]:
    if found is None:
        return ()
    if not isinstance(found, (list, tuple)) or not all(isinstance(name, str) for name in found):
        raise UnreadableFileError(f"{file}: {key!r} must be a list of names; found {found!r:.200}.")
    return found

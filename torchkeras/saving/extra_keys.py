"""What no config of Keras says of a model, under keys of its own: frozen layers, types of weights, further options.

A file has options that other versions of Keras do not know next to a layer's config, where those do not look. With
these options and without them, a layer gives the same outputs outside of training, or an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchkeras.base.bytecode import MAPPINGS, SCALARS
from torchkeras.base.dtypes import dtype_name
from torchkeras.base.torch_tables import own_buffers, own_parameters
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight_lists import follow_trainable, held_tensors
from torchkeras.errors import UnreadableFileError, WeightMismatchError
from torchkeras.registry import OWN, Kept

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network
    from torchkeras.models.model import Model


# --- what is frozen: layers and models by `trainable`, and parameters one by one by `requires_grad_(False)` -----------


# The keys of a file, which Keras does not read: of parameters, and of layers.
FROZEN_PARAMETERS, FROZEN_LAYERS = "torchkeras_frozen", "torchkeras_frozen_layers"


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
        return cls(*(_stored_names(get(key), key, file) for key in (FROZEN_LAYERS, FROZEN_PARAMETERS)))

    def written(self) -> dict[str, list[str]]:
        """The keys of a file with their values; none where nothing is frozen."""
        return {
            key: [*names]
            for key, names in ((FROZEN_LAYERS, self.layers), (FROZEN_PARAMETERS, self.parameters))
            if names
        }

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
        if not self.parameters:
            return
        parameters = dict(model.named_parameters())
        for name in self.parameters:
            if name not in parameters:
                raise WeightMismatchError(f"{file}: it says that {name!r} is frozen; the model has no such parameter.")
            parameters[name].requires_grad_(False)


NOTHING_FROZEN = Frozen()


def frozen_alone(model: Network) -> list[str]:
    """Names, as in the `state_dict`, of parameters that do not train although their layers say that they do."""
    said = {id(tensor) for each in model.modules() if isinstance(each, Layer) for tensor in held_tensors(each)}
    said |= {id(tensor) for weight in model.weights if not weight.made_to_train for tensor in weight.tensors}
    return [name for name, each in model.named_parameters() if not (each.requires_grad or id(each) in said)]


def _stored_names(found: Any, key: str, file: str) -> Sequence[str]:
    if found is None:
        return ()
    if not isinstance(found, (list, tuple)) or not all(isinstance(name, str) for name in found):
        raise UnreadableFileError(f"{file}: {key!r} must be a list of names; found {found!r:.200}.")
    return found


# --- types of weights that differ from what the policies of their layers say, as after `model.half()` -----------------


WEIGHT_TYPES = "torchkeras_types"  # of a file, which Keras does not read
NAMES = {dtype: dtype_name(dtype) for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64)}
TYPES = {name: dtype for dtype, name in NAMES.items()}


WRITTEN: ContextVar[bool] = ContextVar("types are written", default=True)


def types_of(model: nn.Module) -> dict[str, str]:
    """The type of each weight whose policy says another, by its name; {"": type} where all weights have that one."""
    found: dict[str, torch.dtype] = {}
    kinds: set[torch.dtype] = set()
    policies: dict[str, torch.dtype] = {}  # by modules; of one that is no layer, that of the layer around it
    for name, module in model.named_modules():
        around = policies.get(name.rpartition(".")[0], torch.float32)
        policies[name] = module._policy.variable_type if isinstance(module, Layer) else around
        for own, kind in _own_types(module).items():
            kinds.add(kind)
            if kind is not policies[name]:
                found[f"{name}.{own}" if name else own] = kind
    if found and len(kinds) == 1:
        found = {"": kinds.pop()}
    return {name: NAMES[kind] for name, kind in found.items()}


def _own_types(module: nn.Module) -> dict[str, torch.dtype]:
    """The types of floating-point numbers that a module's own parameters and buffers have, by name."""
    tensors = chain(own_parameters(module).items(), own_buffers(module).items())
    return {name: tensor.dtype for name, tensor in tensors if tensor is not None and tensor.dtype in NAMES}


@contextmanager
def stored_alone() -> Iterator[None]:
    """Inside a `with` block, files are written without these types: a model read from one has those of its policies."""
    token = WRITTEN.set(False)
    try:
        yield
    finally:
        WRITTEN.reset(token)


def read_types(found: Any, file: str) -> Mapping[str, str]:
    """The types that a file has; none for None. Raises UnreadableFileError for anything else than names to types."""
    if found is None:
        return {}
    if not isinstance(found, Mapping) or not all(isinstance(each, str) and each in TYPES for each in found.values()):
        raise UnreadableFileError(
            f"{file}: {WEIGHT_TYPES!r} must be names to types ({', '.join(TYPES)}); found {found!r:.200}."
        )
    return found


def give_types(model: nn.Module, types: Mapping[str, str], file: str) -> None:
    """Give weights these types. Raises WeightMismatchError for a name that the model does not have."""
    modules = dict(model.named_modules()) if types else {}
    for name, kind in types.items():
        if not name:
            model.to(TYPES[kind])
            continue
        path, _, own = name.rpartition(".")
        owner = modules.get(path)
        held = {} if owner is None else {**own_parameters(owner), **own_buffers(owner)}
        if held.get(own) is None:
            raise WeightMismatchError(f"{file}: it says that {name!r} is {kind}; the model has no such weight.")
        held[own].data = held[own].data.to(TYPES[kind])


# --- further options --------------------------------------------------------------------------------------------------


OPTIONS: Mapping[str, tuple[str, ...]] = {
    "ActivityRegularization": ("per_sample",),
    "BatchNormalization": ("variance", "frozen_is_fixed"),
    "TimeDistributed": ("by_steps",),
}


def extra_facts(model: Model) -> dict[str, Any]:
    """What no config of Keras says about a model, by the keys in a file: frozen layers, and weights of another type."""
    types = types_of(model) if WRITTEN.get() else {}
    return {**Frozen.of(model).written(), **({WEIGHT_TYPES: types} if types else {})}


def with_extra_keys(config: Any) -> Any:
    """A model's config with these options next to the configs of their layers, at any depth."""
    return everywhere(config, _out_of_options)


def with_own_options(config: Any) -> Any:
    """A model's config with these options back in the configs of their layers."""
    return everywhere(config, _into_options)


def everywhere(config: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A config with each dict in it changed, the inner ones first; what a class takes as it is, stays as it is."""
    if isinstance(config, (list, tuple)):
        items = [item if isinstance(item, SCALARS) else everywhere(item, change) for item in config]
        return tuple(items) if type(config) is tuple else items
    if not isinstance(config, MAPPINGS) or isinstance(config, Kept):
        return config
    inside = {key: value if isinstance(value, SCALARS) else everywhere(value, change) for key, value in config.items()}
    return change(inside)


def _out_of_options(made: dict[str, Any]) -> dict[str, Any]:
    names, options = OPTIONS.get(str(made.get("class_name")), ()), made.get("config")
    found = {name: options.pop(name) for name in names if name in options} if isinstance(options, dict) else {}
    if isinstance(options, dict) and isinstance(options.get("layers"), list):
        # Keras 2.2.4 knows no `trainable` of a model, and Keras 3 would expect the weights in another order: a file has
        # it elsewhere (`frozen`).
        options.pop("trainable", None)
    return {**made, OWN: {**made.get(OWN, {}), **found}} if found else made


def _into_options(made: dict[str, Any]) -> dict[str, Any]:
    if OWN not in made:
        return made
    names, options, given = OPTIONS.get(str(made.get("class_name")), ()), made.get("config"), made[OWN]
    if not names or not isinstance(given, Mapping) or not isinstance(options, Mapping):
        return made
    return {**made, "config": {**options, **{name: given[name] for name in names if name in given}}}

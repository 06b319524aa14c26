"""Tensors that ask for a gradient, but are no weight of a model, since torch does not see them where they are.

torch sees the parameters in attributes. It does not see a tensor that is no `nn.Parameter`, and nothing in a plain list
of its own modules or in the closure of a function.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from types import FunctionType
from typing import Any

from torch import Tensor, nn

from torchkeras.engine.layer.function_values import installed, used_by
from torchkeras.engine.layer.tracked import Tracked
from torchkeras.engine.layer.weight_lists import ENGINES_OWN, TORCHS_OWN, WeightOwner

DEPTH = 3  # how far lists in lists, and functions that call functions, are followed
NOT_KEPT = ENGINES_OWN | TORCHS_OWN
COLLECTIONS = (list, tuple, set, frozenset)
FOLLOWED = (Tensor, FunctionType, partial, dict, *COLLECTIONS)


def warn_of_unseen(model: Any, where: str, stacklevel: int) -> None:
    """Warn, in the name of `where`, of tensors that ask for a gradient and are no weight of the model."""
    found = list(_unseen(model))
    if found:
        (layer, path, tensor), more = found[0], f" ({len(found) - 1} more are like it.)" if len(found) > 1 else ""
        warnings.warn(
            f"{where}: {type(layer).__name__} {layer.name!r} has in {path!r} a tensor of shape {tuple(tensor.shape)} "
            f"that asks for a gradient, but is no weight of {type(model).__name__} {model.name!r}: training, files and "
            "to(device) pass it over. Make it by self.add_weight(...), or keep it as a torch.nn.Parameter in an "
            "attribute of a layer (several in an nn.ParameterList, modules in an nn.ModuleList). If it is not to "
            f"train, take its detach().{more}",
            stacklevel=stacklevel + 1,
        )


def _unseen(model: nn.Module) -> Iterator[tuple[WeightOwner, str, Tensor]]:
    """The tensors, each once, with the layer that has them and the path from it."""
    known = {id(tensor) for tensors in (model.parameters(), model.buffers()) for tensor in tensors}
    owners: dict[str, tuple[WeightOwner, str]] = {}  # by the path of a module: its layer, and the path from there
    for place, module in model.named_modules():
        above, _, key = place.rpartition(".")
        if isinstance(module, WeightOwner):
            layer, prefix = module, ""
        else:
            layer, path = owners[above]
            prefix = f"{path}{key}."
        owners[place] = layer, prefix
        for name, value in _kept(module):
            for inner, tensor in _inside(value, f"{prefix}{name}", layer, DEPTH):
                if id(tensor) not in known:
                    known.add(id(tensor))
                    yield layer, inner, tensor


def _kept(module: nn.Module) -> Iterable[tuple[Any, Any]]:
    """What a module keeps that torch has not registered, if it may hold tensors.

    A module put into an attribute past torch (`object.__setattr__`) was put there on purpose.
    """
    if isinstance(module, Tracked):
        return module.unregistered()
    kept = ((name, each) for name, each in vars(module).items() if name not in NOT_KEPT and isinstance(each, FOLLOWED))
    return (
        (name, each) for name, each in kept if not (isinstance(each, FunctionType) and installed(each.__module__ or ""))
    )


def _inside(value: Any, path: str, layer: WeightOwner, depth: int) -> Iterator[tuple[str, Tensor]]:
    """The tensors in a value that ask for a gradient and were not computed from others; also in collections, in
    modules there, and in what a function uses.
    """
    if isinstance(value, Tensor):
        # K.variable gives a Parameter with a label. A function that uses one does not train it, in Keras as here.
        if value.requires_grad and value.is_leaf and not hasattr(value, "label"):
            yield path, value
        return
    if isinstance(value, nn.Module):
        if all(each is not layer for each in value.modules()):  # a model around the layer is no part of it
            for name, parameter in value.named_parameters():
                yield from _inside(parameter, f"{path}.{name}", layer, depth)
        return
    for name, item in _items(value) if depth else ():
        yield from _inside(item, f"{path}.{name}", layer, depth - 1)


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, FunctionType):
        return used_by(value).items()
    if isinstance(value, partial):
        return [*_items(value.func), *enumerate(value.args), *value.keywords.items()]
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, COLLECTIONS) else ()

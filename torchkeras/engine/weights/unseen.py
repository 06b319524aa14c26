"""Tensors that ask for a gradient but are no weights of the model, because torch does not find them.

torch finds the parameters in attributes. It does not find a tensor that is no `nn.Parameter`, nor anything in a plain
list of a torch module or in the closure of a function.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from torchkeras.base.function_values import installed, loads, used_by
from torchkeras.engine.adapters.tracked import Tracked
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.weights.weight_lists import ENGINES_OWN, TORCHS_OWN

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

DEPTH = 3  # how far lists in lists, and functions that call functions, are followed
IGNORED = ENGINES_OWN | TORCHS_OWN
COLLECTIONS = (list, tuple, set, frozenset)
SIZED = (dict, *COLLECTIONS)
FOLLOWED = (Tensor, FunctionType, partial, *SIZED)


def warn_of_unseen(model: Layer, where: str, stacklevel: int, losses: Iterable[Any] = ()) -> None:
    """Warn, in the name of `where`, of tensors that ask for a gradient and are no weights of the model.

    `losses`: those of `compile`, which may store or use such tensors too.
    """
    weights = set(map(id, itertools.chain(model.parameters(), model.buffers())))
    found: dict[int, tuple[str, str, Tensor]] = {}
    for owner, path, tensor in itertools.chain(_in_modules(model), _in_losses(losses)):
        if id(tensor) not in weights:
            found.setdefault(id(tensor), (owner, path, tensor))
    if not found:
        return
    (owner, path, tensor), *others = found.values()
    more = f" ({len(others)} more are like it.)" if others else ""
    warnings.warn(
        f"{where}: {owner} has in {path!r} a tensor of shape {tuple(tensor.shape)} "
        f"that asks for a gradient, but is no weight of {type(model).__name__} {model.name!r}: training, files and "
        "to(device) pass it over. Make it by self.add_weight(...), or keep it as a torch.nn.Parameter in an "
        "attribute of a layer (several in an nn.ParameterList, modules in an nn.ModuleList). If it is not to "
        f"train, take its detach().{more}",
        stacklevel=stacklevel + 1,
    )


def _in_modules(model: nn.Module) -> Iterator[tuple[str, str, Tensor]]:
    """(layer, path from it, tensor) of each tensor that asks for a gradient and is not registered with torch."""
    owners: dict[str, tuple[Layer, str]] = {}  # by the path of a module: its layer, and the path from there
    for place, module in model.named_modules():
        above, _, key = place.rpartition(".")
        if isinstance(module, AnyLayer):
            layer, prefix = module, ""
        else:
            layer, path = owners[above]
            prefix = f"{path}{key}."
        owners[place] = layer, prefix
        for name, value in _unregistered(module):
            for inner, tensor in _inside(value, f"{prefix}{name}", layer, DEPTH):
                yield f"{type(layer).__name__} {layer.name!r}", inner, tensor


def _in_losses(losses: Iterable[Any]) -> Iterator[tuple[str, str, Tensor]]:
    """(loss, path from it, tensor) of each tensor that asks for a gradient, in losses that the user wrote."""
    for loss in losses:
        if not _is_users(loss):
            continue
        name = getattr(loss, "__name__", type(loss).__name__)
        for key, value in _used_by_loss(name, loss):
            for path, tensor in _inside(value, str(key), None, DEPTH):
                yield f"the loss {name}", path, tensor


def _is_users(value: Any) -> bool:
    """Whether the code of a function or an object is none of this package's, torch's or NumPy's."""
    return not installed(getattr(value, "__module__", None) or "")


def _used_by_loss(name: str, loss: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(loss, (FunctionType, partial)):
        return [(name, loss)]
    if isinstance(loss, nn.Module):
        return _unregistered(loss)
    return {**_code(loss), **_tensor_holders(loss)}.items()


def _code(value: Any) -> dict[str, FunctionType]:
    """The functions with which an object of a user's class computes, and the methods that they call, by name."""
    found: dict[str, FunctionType] = {}
    names = ["call", "forward", "__call__"]
    while names:
        name = names.pop()
        function = inspect.unwrap(getattr(type(value), name, None))  # type: ignore[arg-type]
        if name not in found and isinstance(function, FunctionType) and _is_users(function):
            found[name] = function
            names += [loaded for kind, loaded in loads(function.__code__) if kind in ("LOAD_ATTR", "LOAD_METHOD")]
    return found


def _unregistered(module: nn.Module) -> Iterable[tuple[Any, Any]]:
    """What may hold tensors among a module's attributes that are not registered with torch, and in its code.

    A module that `object.__setattr__` hid from torch is left out: it was hidden on purpose.
    """
    if isinstance(module, Tracked):
        return module.unregistered()
    found = _tensor_holders(module)
    if isinstance(module, nn.RNNBase):  # a list of what its weights were when it was last called
        found.pop("_flat_weights", None)
    if not installed(type(module).__module__):
        found |= _code(module)
    return found.items()


def _tensor_holders(value: Any) -> dict[str, Any]:
    """The attributes of an object that may hold tensors."""
    found = {}
    for name, each in dict(getattr(value, "__dict__", {})).items():  # a copy: another thread may set an attribute
        if name in IGNORED or not isinstance(each, FOLLOWED):
            continue
        if isinstance(each, FunctionType) and installed(each.__module__ or ""):
            continue
        if not isinstance(each, SIZED) or len(each) > 0:
            found[name] = each
    return found


def _inside(value: Any, path: str, layer: Layer | None, depth: int) -> Iterator[tuple[str, Tensor]]:
    """(path, tensor) of each tensor in a value that asks for a gradient and is no result of a computation.

    It looks into collections, into what functions use and, for a `layer`, into modules that stand in these.
    """
    if isinstance(value, Tensor):
        # K.variable gives a Parameter with a label. A function that uses one does not train it, in Keras as here.
        if value.requires_grad and value.is_leaf and not hasattr(value, "label"):
            yield path, value
    elif isinstance(value, nn.Module):
        if layer is not None and layer not in value.modules():  # a model around the layer is no part of it
            for name, parameter in value.named_parameters():
                yield from _inside(parameter, f"{path}.{name}", layer, depth)
    elif depth > 0:
        for name, item in _items(value):
            yield from _inside(item, f"{path}.{name}", layer, depth - 1)


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    """(name, value) of what a function uses or a collection holds: a copy, since another thread may change it."""
    if isinstance(value, FunctionType):
        return used_by(value).items()
    if isinstance(value, partial):
        return [*_items(value.func), *enumerate(value.args), *value.keywords.items()]
    if isinstance(value, dict):
        return dict(value).items()
    if isinstance(value, COLLECTIONS):
        return enumerate(tuple(value))
    return ()

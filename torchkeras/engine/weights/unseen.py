"""Tensors that ask for a gradient, but are no weight of a model, since torch does not see them where they are.

torch sees the parameters in attributes. It does not see a tensor that is no `nn.Parameter`, and nothing in a plain list
of its own modules or in the closure of a function.
"""

from __future__ import annotations

import inspect
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
NOT_KEPT = ENGINES_OWN | TORCHS_OWN
COLLECTIONS = (list, tuple, set, frozenset)
SIZED = (dict, *COLLECTIONS)
FOLLOWED = (Tensor, FunctionType, partial, *SIZED)


def warn_of_unseen(model: Layer, where: str, stacklevel: int, losses: Iterable[Any] = ()) -> None:
    """Warn, in the name of `where`, of tensors that ask for a gradient and are no weight of the model.

    `losses`: those of `compile`, which may keep or use such tensors too.
    """
    known = {id(tensor) for tensors in (model.parameters(), model.buffers()) for tensor in tensors}
    found = [*_unseen(model, known), *_unseen_in(losses, known)]
    if found:
        (layer, path, tensor), more = found[0], f" ({len(found) - 1} more are like it.)" if len(found) > 1 else ""
        what = f"{type(layer).__name__} {layer.name!r}" if isinstance(layer, AnyLayer) else f"the loss {layer}"
        warnings.warn(
            f"{where}: {what} has in {path!r} a tensor of shape {tuple(tensor.shape)} "
            f"that asks for a gradient, but is no weight of {type(model).__name__} {model.name!r}: training, files and "
            "to(device) pass it over. Make it by self.add_weight(...), or keep it as a torch.nn.Parameter in an "
            "attribute of a layer (several in an nn.ParameterList, modules in an nn.ModuleList). If it is not to "
            f"train, take its detach().{more}",
            stacklevel=stacklevel + 1,
        )


def _unseen(model: nn.Module, known: set[int]) -> Iterator[tuple[Layer, str, Tensor]]:
    """The tensors, each once, with their layer and the path from it. `known`: those already reported, by `id`."""
    owners: dict[str, tuple[Layer, str]] = {}  # by the path of a module: its layer, and the path from there
    for place, module in model.named_modules():
        above, _, key = place.rpartition(".")
        if isinstance(module, AnyLayer):
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


def _unseen_in(losses: Iterable[Any], known: set[int]) -> Iterator[tuple[str, str, Tensor]]:
    """The same of losses, with their names: functions, and objects of a user's. Modules are no part of this."""
    for loss in losses:
        if installed(getattr(loss, "__module__", None) or ""):
            continue
        name = getattr(loss, "__name__", type(loss).__name__)
        if isinstance(loss, (FunctionType, partial)):
            kept: Iterable[tuple[Any, Any]] = [(name, loss)]
        else:
            kept = _kept(loss) if isinstance(loss, nn.Module) else {**_code(loss), **_tensor_holders(loss)}.items()
        for key, value in kept:
            for path, tensor in _inside(value, str(key), None, DEPTH):
                if id(tensor) not in known:
                    known.add(id(tensor))
                    yield name, path, tensor


def _code(value: Any) -> dict[str, FunctionType]:
    """The functions by which an object of a user's class computes, and its methods that they call, by their names."""
    found: dict[str, FunctionType] = {}
    names = ["call", "forward", "__call__"]
    while names:
        name = names.pop()
        function = inspect.unwrap(getattr(type(value), name, None))  # type: ignore[arg-type]
        if name not in found and isinstance(function, FunctionType) and not installed(function.__module__ or ""):
            found[name] = function
            names += [loaded for kind, loaded in loads(function.__code__) if kind in ("LOAD_ATTR", "LOAD_METHOD")]
    return found


def _kept(module: nn.Module) -> Iterable[tuple[Any, Any]]:
    """What a module keeps that torch has not registered, and its code, if they may hold tensors.

    A module put into an attribute past torch (`object.__setattr__`) was put there on purpose.
    """
    if isinstance(module, Tracked):
        return module.unregistered()
    kept = _tensor_holders(module)
    if isinstance(module, nn.RNNBase):  # a list of what its weights were when it was last called
        kept.pop("_flat_weights", None)
    return (kept | (_code(module) if not installed(type(module).__module__) else {})).items()


def _tensor_holders(value: Any) -> dict[str, Any]:
    """What an object keeps in attributes that may hold tensors."""
    found = {}
    for name, each in dict(getattr(value, "__dict__", {})).items():  # a copy: another thread may set an attribute
        if name in NOT_KEPT or not isinstance(each, FOLLOWED) or (isinstance(each, SIZED) and not each):
            continue
        if not (isinstance(each, FunctionType) and installed(each.__module__ or "")):
            found[name] = each
    return found


def _inside(value: Any, path: str, layer: Layer | None, depth: int) -> Iterator[tuple[str, Tensor]]:
    """The tensors in a value that ask for a gradient and were not computed from others; also in collections, in
    modules there, and in what a function uses.
    """
    if isinstance(value, Tensor):
        # K.variable gives a Parameter with a label. A function that uses one does not train it, in Keras as here.
        if value.requires_grad and value.is_leaf and not hasattr(value, "label"):
            yield path, value
        return
    if not isinstance(value, nn.Module):
        for name, item in _numbered_values(value) if depth else ():
            yield from _inside(item, f"{path}.{name}", layer, depth - 1)
    elif layer is not None and layer not in value.modules():  # a model around the layer is no part of it
        for name, parameter in value.named_parameters():
            yield from _inside(parameter, f"{path}.{name}", layer, depth)


def _numbered_values(value: Any) -> Iterable[tuple[Any, Any]]:
    """Of a collection a copy: another thread may add to it meanwhile."""
    if isinstance(value, FunctionType):
        return used_by(value).items()
    if isinstance(value, partial):
        return [*_numbered_values(value.func), *enumerate(value.args), *value.keywords.items()]
    if isinstance(value, dict):
        return dict(value).items()  # a copy, as below: another thread may add to it meanwhile
    return enumerate(tuple(value)) if isinstance(value, COLLECTIONS) else ()

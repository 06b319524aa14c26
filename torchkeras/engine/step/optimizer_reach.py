"""Whether an optimizer gets all parameters that should train: one that it would miss is an error, unless frozen.

torch finds the parameters in attributes. It does not find a tensor that is no `nn.Parameter`, nor anything in a plain
list of a torch module or in the closure of a function: `compile` and `save` warn of such tensors.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Iterable, Iterator, Set
from functools import partial
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from torchkeras.base.python import attributes_of, installed, loads, used_by
from torchkeras.engine.adapters.tracked import Tracked, hidden
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight_lists import ENGINES_OWN, TORCHS_OWN


def check_reach(model: Any, parameters: Iterable[torch.Tensor], losses: Iterable[Any]) -> None:
    """Raise ValueError for a parameter that would not train although it is not frozen; `losses`: those of `compile`."""
    what = f"{type(model).__name__} {model.name!r}"
    _check_hidden(model, what)
    reached = set(map(id, parameters))
    for name, parameter in model.named_parameters():
        if is_lazy(parameter):
            raise ValueError(
                f"compile: the parameter {name!r} of {what} has no shape yet: call the model on data, or "
                "build(input_shape), before compile."
            )
        if parameter.requires_grad and id(parameter) not in reached:
            raise ValueError(
                f"compile: the optimizer would not reach the parameter {name!r} of {what}: freeze it by "
                "requires_grad_(False) if it is not to train."
            )
    for loss in losses:
        for name, parameter in loss.named_parameters() if isinstance(loss, nn.Module) else ():
            if parameter.requires_grad and id(parameter) not in reached:
                raise ValueError(
                    f"compile: the loss {type(loss).__name__} has a parameter {name!r} of its own, which the optimizer "
                    f"of {what} would not reach: make it a part of the model, or freeze it by requires_grad_(False)."
                )


def bind(optimizer: Any, variables: list[Any], parameters: list[torch.Tensor]) -> None:
    """Bind an optimizer to weights, of which `parameters` are the tensors."""
    by_path = getattr(optimizer, "names_by_path", False)
    optimizer.bind(
        parameters,
        [variable.arrangement for variable in variables],
        layers=[variable.layer_path if by_path else variable.layer.name for variable in variables],
        names=[variable.name for variable in variables],
    )


def discrepancy(
    weights: Iterable[Any],
    parameters: Iterable[torch.Tensor],
    frozen: Set[int] = frozenset(),
    lent: Set[int] = frozenset(),
) -> str:
    """The warning that other weights would train now than `compile` has collected; it starts with Keras's words.

    `frozen`: the ids of collected parameters that `trainable=False` has frozen since; `lent`: the ids of those that are
    frozen for another model's `compile`, and train in this one.
    """
    collected = set(map(id, parameters))
    cases: dict[str, list[str]] = {THAWED: [], FROZEN: [], LENT: []}
    for each in weights:
        ids = set(each.identity)
        if each.trains and not ids <= collected:
            cases[THAWED].append(each.full_name)
        elif ids & frozen:
            cases[LENT if ids & lent else FROZEN].append(each.full_name)
    text = (
        "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without "
        "calling `model.compile` after?"
    )
    for case, names in cases.items():
        if names:
            shown = names if len(names) <= 5 else [*names[:5], "..."]
            text += f" {case} {', '.join(shown)}."
    return text


THAWED = "Until then these stay as they are:"
FROZEN = "These are frozen since, and do not train:"
LENT = "These are frozen in a model that was compiled after this one, and train on in this one:"


def warn_of_hooks(model: nn.Module, parameters: Iterable[torch.Tensor]) -> None:
    """Warn of hooks on parameters that the built-in step does not call, since it leaves nothing in `grad`."""
    hooked = {id(each) for each in parameters if each._post_accumulate_grad_hooks}  # type: ignore[attr-defined]
    if not hooked:
        return
    for name, parameter in model.named_parameters():
        if id(parameter) in hooked:
            warnings.warn(
                f"The parameter {name!r} has a hook of register_post_accumulate_grad_hook, which this training does "
                "not call: it leaves no gradient in `grad`. Use register_hook, or a train_step with loss.backward().",
                stacklevel=5,
            )
            return


def _check_hidden(model: nn.Module, what: str) -> None:
    """Raise ValueError for an attribute of a user's layer with modules or parameters that torch does not find."""
    for layer in model.modules():
        if isinstance(layer, Layer) and layer._is_users:
            for attribute, value in attributes_of(layer).items():
                if not attribute.startswith("_") and next(hidden(value), None) is not None:
                    raise ValueError(
                        f"compile: {what} does not see what {type(layer).__name__} keeps in {attribute!r}, a "
                        f"{type(value).__name__}: keep modules and parameters in attributes, or in a plain list, "
                        "tuple or dict."
                    )


# --- tensors that ask for a gradient and are no weights ---------------------------------------------------------------


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
    names = ["__call__", "forward", "call"]  # `forward` may have the signature of `call`, and then stands for it
    while names:
        name = names.pop()
        function = inspect.unwrap(getattr(type(value), name, None))  # type: ignore[arg-type]
        is_known = name in found or function in found.values()
        if not is_known and isinstance(function, FunctionType) and _is_users(function):
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
    for name, each in attributes_of(value).items():
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

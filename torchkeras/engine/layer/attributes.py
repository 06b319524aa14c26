"""Setting an attribute of a layer: names that may not be hidden, and the names of weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any

from torch import Tensor, nn

from torchkeras.base.function_values import installed
from torchkeras.base.torch_tables import own_buffers, own_modules, own_parameters
from torchkeras.engine.adapters.tracked import with_replaced
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.building.building import NOT_USERS
from torchkeras.engine.users_code import is_users_layer
from torchkeras.engine.weights.weight import Variable, Weight

# The values of class attributes that an attribute of a layer may replace.
DATA = (type(None), bool, int, float, str, tuple, list, dict, set)


def check_name(layer: AnyLayer, name: str, value: Any, declared: Any) -> None:
    """Raise AttributeError for an attribute that would hide a member of the class, or that nothing would read."""
    for kind, check in CHECKS.items():
        if isinstance(declared, kind):
            check(layer, name, value, declared)


def _named(layer: AnyLayer) -> str:
    """How errors name a layer, which may not have its name yet."""
    kind = type(layer).__name__
    return f"{kind} {layer.__dict__['name']!r}" if "name" in layer.__dict__ else kind


def _check_weight(layer: AnyLayer, name: str, value: Any, declared: Weight) -> None:
    if is_users_layer(layer) and layer._built_for is None:
        return
    if added_as(layer, value) is not None or (value is None and layer.built and not declared.applies(layer)):
        return
    raise AttributeError(
        f"{_named(layer)}: {name!r} is a weight of its modules, and another object under its name would not "
        "compute. layer.set_weights sets its values; to share weights, call one layer several times, or "
        f"set layer.{declared.paths[0]}."
    )


def _check_property(layer: AnyLayer, name: str, value: Any, declared: property) -> None:
    if declared.fset is None:
        raise AttributeError(
            f"{_named(layer)}: {name!r} is a property and cannot be set; for an attribute of your own take another "
            "name."
        )


def _check_method(layer: AnyLayer, name: str, value: Any, declared: Any) -> None:
    if name.startswith("_"):
        return
    ours = any(name in vars(base) and installed(base.__module__) for base in type(layer).__mro__)
    if ours and (isinstance(value, nn.Module) or not callable(value)):
        raise AttributeError(
            f"{_named(layer)}: the attribute {name!r} would hide the method of that name: give it another name, such "
            f"as {name}_1."
        )
    if name == "call" and not layer._by_call:
        raise AttributeError(
            f"{_named(layer)}: it computes by forward, so that a call put into its place would do nothing: set "
            "forward, or make a subclass with a call."
        )


# By the kind of what the class has under the name.
CHECKS: Mapping[type, Callable[..., None]] = {
    Weight: _check_weight,
    property: _check_property,
    FunctionType: _check_method,
    MethodType: _check_method,
}


def added_as(layer: AnyLayer, value: Any) -> Variable | None:
    """The weight of `add_weight` whose tensor the value is; None where there is none."""
    return next((added for added in layer.__dict__.get("_added", ()) if added.tensors[0] is value), None)


def name_weight(layer: AnyLayer, added: Variable, name: str) -> None:
    """Register a weight of `add_weight` under the name of its attribute: the first, where several refer to it."""
    registered: Any = own_parameters(layer) if added.trainable else own_buffers(layer)
    if hasattr(type(layer), name) or added.paths[0] in layer._named:
        object.__setattr__(layer, name, added.tensors[0])
        return
    layer.__dict__.pop(name, None)
    registered[name] = registered.pop(added.paths[0])
    layer._added[layer._added.index(added)] = replace(added, paths=(name,))
    layer._named.add(name)


def refer_to_moved(layer: AnyLayer, before: Sequence[Tensor], now: Sequence[Tensor]) -> None:
    """After a move that has replaced weights of `add_weight`: make the layer's attributes refer to the new ones."""
    replaced = {id(old): new for old, new in zip(before, now, strict=True) if new is not old}
    if not replaced:
        return
    for tensor in replaced.values():
        tensor._added_weight = True  # type: ignore[attr-defined]
    for attributes in (layer.__dict__, own_modules(layer)):
        for name in attributes.keys() - NOT_USERS:
            attributes[name] = with_replaced(attributes[name], replaced)

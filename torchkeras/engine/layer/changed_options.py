"""Options that are set after their layer was built: they count from then on, or an error says why they cannot.

Most options are read at each call. Others were used to make torch modules in `_make_modules`, generated functions and
symbolic tensors. The modules and the functions are updated; weights and masks cannot change any more.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

from torch import Tensor, nn

from torchkeras.base.nested import leaves
from torchkeras.base.python import installed
from torchkeras.base.torch_tables import own_buffers, own_modules
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.building.building import on_meta
from torchkeras.engine.building.meta_run import MadeOnMeta
from torchkeras.engine.facts import facts_of, is_users_method
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import calls_of
from torchkeras.engine.weights.weight import plain_modules
from torchkeras.engine.weights.weight_lists import TORCHS_OWN

PLAIN = (bool, int, float, str, type(None))
NOT_MADE = TORCHS_OWN | {"name"}  # attributes of a module that no option makes


class _Settled:
    """`count`: of changes to options that generated functions, or the settings made by `compile`, depend on."""

    count = 0


SETTLED = _Settled()


def keep_option(layer: AnyLayer, field: str, value: Any) -> None:
    """Set the attribute that stores an option's value: a module in `__dict__`, where the class has a default."""
    inside = isinstance(value, (nn.Module, Tensor)) and not hasattr(type(layer), field)
    if inside or inspect.isdatadescriptor(getattr(type(layer), field, None)):
        nn.Module.__setattr__(layer, field, value)
    else:
        own_modules(layer).pop(field, None)
        layer.__dict__[field] = value


def change_option(layer: AnyLayer, name: str, value: Any) -> None:
    """Set an option after the layer was made: read it by its rule, and update what depends on it.

    Raises ValueError, and leaves the option as it was, for a bad value, and where the weights, masks or number of
    outputs would change. Warns where symbolic tensors in graphs have another shape.
    """
    value = layer._changeable[name].read(value)
    if not layer.built:
        keep_option(layer, name, value)
        return
    before, old = _Dependents(layer, _made(layer)), getattr(layer, name)
    refusal = f"{name} cannot change from {old!r} to {value!r} any more, since"
    keep_option(layer, name, value)
    try:
        made = _made(layer)
        if _weights(made) != before.weights:  # checked first: with them the layer could not compute its outputs
            raise _refused(layer, f"{refusal} its weights are made, and would differ")
        after = _Dependents(layer, made)
        if after.masked != before.masked:
            raise _refused(layer, f"{refusal} graphs have its outputs and masks as they were")
    except ValueError:
        keep_option(layer, name, old)
        raise
    inside = dict(layer.named_modules(remove_duplicate=False))
    for path, module in after.made.items():
        _take_over(inside.get(path), before.made.get(path), module)
    if after.written != before.written:
        SETTLED.count += 1
    if after.shapes not in (before.shapes, after.known):
        warnings.warn(
            f"{type(layer).__name__} {layer.name!r}: with {name} {value!r} its output has another shape than its "
            "graph says: make the model again, such as by clone_model.",
            stacklevel=3,
        )


class _Dependents:
    """What depends on a layer's options: its modules and weights, its outputs in graphs, generated functions."""

    def __init__(self, layer: AnyLayer, made: dict[str, nn.Module]):
        self.made, self.weights = made, _weights(made)
        self.written = _written_by(layer)
        self.known: list[Any] = []  # the shapes of the outputs of each call in the graph
        self.shapes: list[Any] = []  # their shapes now
        self.masked: list[Any] = []  # whether they have masks now
        for node in calls_of(layer):
            if node.input_tensors:
                outputs, masks = _outputs(layer, node)
                self.known.append(node.output_shapes)
                self.shapes.append([output.shape for output in outputs])
                self.masked.append([mask is not None for mask in masks])


def _weights(made: dict[str, nn.Module]) -> list[Any]:
    """The names and shapes of the weights and constants of a layer made with its options."""
    again: Any = made.get("")
    if again is None:
        return []
    constants = [(name, each.shape) for name, each in again.named_buffers()]
    return [(each.name, each.shape) for each in again.weights] + constants


def _refused(layer: AnyLayer, reason: str) -> ValueError:
    return ValueError(f"{type(layer).__name__} {layer.name!r}: {reason}: make a layer with that option.")


def _outputs(layer: AnyLayer, node: Any) -> tuple[list[Any], list[Any]]:
    """The symbolic outputs, and their masks, that a call in a graph would return now."""
    masks = [tensor.keras_mask for tensor in node.input_tensors]
    outputs, found = layer._infer_outputs(node.inputs, masks, node.arguments)
    return leaves(outputs), found


def _made(layer: AnyLayer) -> dict[str, nn.Module]:
    """A copy of the layer made with its options, on `meta`, and the modules inside it, by their paths.

    A `build` in a user's class is not run again: it may do more than make weights.
    """
    if layer._built_for is None:
        return {}
    again, makes_own = copy(layer), is_users_method(type(layer), "_make_modules")
    layers = {key: each for key, each in own_modules(layer).items() if makes_own or isinstance(each, AnyLayer)}
    fresh: dict[str, Any] = {"_parameters": {}, "_buffers": {}, "_expected_axes": {}, "_added": [], "_named": set()}
    again.__dict__.update(fresh, _modules=layers, built=False)
    try:
        with on_meta(), MadeOnMeta():
            (again._make_modules if is_users_method(type(layer), "build") else again.build)(layer._built_for)
        again.built = True
    except ValueError as error:
        raise ValueError(f"{type(layer).__name__} {layer.name!r}: {error}") from error
    new = {
        key: inside
        for key, inside in layers.items()
        if isinstance(inside, AnyLayer) and inside is not own_modules(layer).get(key)
    }
    return {**{prefix.rstrip("."): module for prefix, module in plain_modules(again)}, **new}


def by_hand(layer: AnyLayer) -> Iterator[str]:
    """The changes in a layer's modules that its options, and so its config, do not have."""
    inside = dict(layer.named_modules(remove_duplicate=False))
    for path, made in _made(layer).items():
        module = inside.get(path, made)  # one that is not there has no changes
        if "forward" in vars(module):
            yield f"{path or 'it'} has a forward of its own"
        if type(module) is type(made):
            for name, value in _new_attributes(module, made).items():
                if name[0] != "_":
                    yield f"{path} has {name} {vars(module).get(name)!r}, and {value!r} by its options"
        elif not installed(type(module).__module__):
            yield f"{path} is of the class {type(module).__name__}"


def _new_attributes(before: nn.Module, after: nn.Module) -> dict[str, Any]:
    """The attributes that an option may have set, numbers and texts alone, where they differ from those before."""
    old = vars(before)
    return {
        name: value
        for name, value in vars(after).items()
        if name not in NOT_MADE and _is_plain(value) and old.get(name) != value
    }


def _take_over(module: Any, before: Any, after: nn.Module) -> None:
    """Give a module the plain attributes and constants that an option changes."""
    # Not for a module of the user's, nor where the option changes its class: the layer reads the option at each call.
    if not type(module) is type(before) is type(after):
        return
    module.__dict__.update(_new_attributes(before, after))
    for name, constant in own_buffers(after).items():
        mine = own_buffers(module).get(name)
        if constant is not None and mine is not None and not constant.is_meta:
            own_buffers(module)[name] = constant.to(mine)


def _is_plain(value: Any) -> bool:
    """Whether a value is numbers and texts alone."""
    return all(map(_is_plain, value)) if isinstance(value, (list, tuple)) else isinstance(value, PLAIN)


def _written_by(layer: AnyLayer) -> Mapping[str, Any]:
    """What generated functions, and the settings made by `compile`, depend on."""
    facts = facts_of(layer)
    return {
        **{name: getattr(facts, name) for name in ("layout", "overwritable", "commutes_with_relu", "ends_in")},
        "axis": facts.axis if facts.layout is Layout.AXIS else None,
        "in_place": facts.in_place() is None,
        "before_relu": facts.before_relu() is None,
        **{name: id(value) for name, value in vars(layer).items() if name.endswith(("_regularizer", "_constraint"))},
    }

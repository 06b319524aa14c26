"""What no file can hold of a model: some names, and some of how it was compiled."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torchkeras import registry
from torchkeras.engine.facts import is_own
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_if_any, has_own_code
from torchkeras.engine.layer.changed_options import by_hand
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.step.output_loss import name_of
from torchkeras.engine.weights.weight import own_variables
from torchkeras.saving.containers.limits import LIMITS
from torchkeras.saving.training_config import mapped
from torchkeras.saving.weights.layer_groups import BESIDE_LAYERS

if TYPE_CHECKING:
    from torchkeras.models.model import Model

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
OPTIONS = {"loss": registry.losses, "metrics": registry.metrics, "weighted_metrics": registry.metrics}


def check_size(model: Model, path: Any) -> None:
    """Raise ValueError for more layers, calls of them or models in one another than are read."""
    found = [graph_if_any(each) for each in model.modules() if isinstance(each, Network)]
    graphs = [graph for graph in found if graph is not None]
    for count, most, what in (
        (model._levels, LIMITS.models, "models stand in one another"),
        (sum(len(graph.layers) + 1 for graph in graphs), LIMITS.layers, "layers"),
        (sum(len(node.input_tensors) for graph in graphs for node in graph.nodes), LIMITS.calls, "calls of layers"),
    ):
        if count > most:
            raise ValueError(f"{path}: {count} {what}; files are read up to {most}.")


def check_names(model: Model, path: Any) -> None:
    """Raise ValueError for the name of a layer or weight that could not be read again.

    In HDF5 names are paths. A model that can be saved in one format can be saved in all, so the rule is one for all.
    """
    for layer in model.modules():
        if not isinstance(layer, Layer):
            continue
        for name in (layer.name, *(variable.full_name for variable in own_variables(layer))):
            problem = _problem(name)
            if problem is not None:
                raise ValueError(f"{path}: {type(layer).__name__} {layer.name!r}: the name {name!r} {problem}.")
    paths: dict[str, Any] = {}
    for layer in model.layers:
        other = paths.setdefault("/".join(filter(None, layer.name.split("/"))), layer)
        if other.name != layer.name:
            raise ValueError(f"{path}: the names {other.name!r} and {layer.name!r} of layers are one path in a file.")


def _problem(name: str) -> str | None:
    if "\0" in name:
        return "has a zero byte, which ends a name in a file"
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        return "has half a surrogate pair, which is no character"
    if name.startswith("/") or "." in name.split("/"):
        return "stands for another place in a file: it must not begin with '/' or have '.' between two '/'"
    return "is that of a group of Keras" if name == BESIDE_LAYERS else None


def unloadable(model: Network) -> Iterator[str]:
    """Why a model or layers of a user's own cannot be made again of their config."""
    builds = registry.build_config(model) is not None
    if has_own_code(model) and not builds and not _inherits(model, "get_config") and _inherits(model, "from_config"):
        yield f"{type(model).__name__} has no from_config, which would make it of its config and call build."
    for layer in model.layers:
        if isinstance(layer, Network):
            yield from unloadable(layer)
            continue
        problem = _unmakeable(layer)
        if problem is not None:
            yield f"{type(layer).__name__} {layer.name!r} {problem}"


def _unmakeable(layer: Layer) -> str | None:
    """Why the `__init__` of a user's layer does not take what its config has; None if it does."""
    kind: Any = type(layer)
    init = next(cls for cls in kind.__mro__ if "__init__" in cls.__dict__)
    if is_own(init) or getattr(kind.from_config, "__func__", None) is not Layer.from_config.__func__:  # type: ignore[attr-defined]
        return None
    config, parameters = layer.get_config(), inspect.signature(kind).parameters
    for name, parameter in parameters.items():
        if name not in config and _is_needed(parameter):
            return f"has no {name!r} in its config, which its __init__ takes: let its get_config return it."
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    if not takes_any and config.keys() - parameters.keys():
        return "does not take its config: let its __init__ take **options and pass them to super().__init__."
    return None


def _is_needed(parameter: inspect.Parameter) -> bool:
    return parameter.kind in NAMED and parameter.default is parameter.empty


def _inherits(model: Network, method: str) -> bool:
    return is_own(next(cls for cls in type(model).__mro__ if method in cls.__dict__))


def changed_by_hand(model: Model) -> Iterator[str]:
    """What layers compute otherwise than a file will say, since their modules were changed past their options."""
    for layer in model.modules():
        if isinstance(layer, Layer) and not isinstance(layer, Network):
            for what in by_hand(layer):
                yield f"{type(layer).__name__} {layer.name!r}: {what}"


def unwritten(model: Model) -> str | None:
    """Why a file cannot hold how a model was compiled; None if it can."""
    no_form = getattr(model.optimizer, "no_form", "")
    if no_form:
        return no_form
    for option, family in OPTIONS.items():
        for item in _values_inside(getattr(training_of(model).options, option)):
            reason = _reason(item, family)
            if reason is not None:
                return f"the {family.kind.split()[0]} {name_of(item)} {reason}"
    return None


def left_out(model: Network) -> list[str]:
    """The options of `compile` that no file holds. (`get_config` warns of what `add_loss` added.)"""
    return [] if model.target_tensors is None else ["target_tensors"]


def _values_inside(value: Any) -> Iterator[Any]:
    found: list[Any] = []
    mapped(value, lambda item: found.append(item if isinstance(item, type) else getattr(item, "for_files", item)))
    return (item for item in found if item is not None and not isinstance(item, (str, Mapping)))


def _reason(item: Any, family: registry.Family[Any]) -> str | None:
    """Why a loss or metric cannot be found again from what a file would hold."""
    kind: Any = item if inspect.isclass(item) else type(item)
    if hasattr(kind, "get_config"):
        try:
            made: Any = kind() if item is kind else item
            made.get_config()
        except (NotImplementedError, ValueError) as error:
            return f"has no config ({error})"
        return _taken(kind.__name__, kind, family)
    if inspect.isclass(item) or not hasattr(item, "__name__"):
        return "has neither a config nor a name to be written"
    return _taken(item.__name__, item, family)


def _taken(name: str, value: Any, family: registry.Family[Any]) -> str | None:
    known = name in family and family.find(name) is not value
    return "has the name of another one, which would be taken for it" if known else None

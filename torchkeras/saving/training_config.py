"""How a model was compiled, as plain data, as files have it; and the arguments of `compile` from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.utils._pytree import tree_leaves

from torchkeras import losses as loss_functions, metrics as metric_functions, optimizers
from torchkeras.engine.fit.training import has_loss, training_of
from torchkeras.engine.graph.network import output_form_of, output_layer_names
from torchkeras.engine.graph.trace import has_own_code
from torchkeras.engine.step.targets import by_output
from torchkeras.engine.symbolic.tensor import as_list

if TYPE_CHECKING:
    from torchkeras.models.model import Model


def training_config(model: Any, as_lists: bool = False) -> dict[str, Any]:
    """How a model was compiled, as plain data. `as_lists`: as for Keras 2, which has no outputs in dicts."""
    as_lists = several_of_one_layer(model) or (as_lists and output_form_of(model) is not None)
    return {
        "optimizer_config": optimizers.serialize(model.optimizer),
        "loss": _serialized(_compile_option(model, "loss", as_lists), loss_functions.serialize),
        "metrics": _serialized(_compile_option(model, "metrics", as_lists), metric_functions.serialize),
        "sample_weight_mode": _compile_option(model, "sample_weight_mode", as_lists),
        "loss_weights": mapped(_compile_option(model, "loss_weights", as_lists, 1.0), _number),
        "weighted_metrics": _serialized(
            _compile_option(model, "weighted_metrics", as_lists), metric_functions.serialize
        ),
    }


def _compile_option(model: Any, option: str, as_lists: bool, missing: Any = None) -> Any:
    """An option of `compile`. `as_lists`: a dict by names, which differ between versions of Keras, becomes a list."""
    value = by_output(getattr(training_of(model).options, option), model.output_names, model._output_owners)
    if not (as_lists and _is_by_output(value)):
        return value
    listed = [value.get(name, missing) for name in model.output_names]
    if "metrics" in option:
        return list(map(as_list, listed))
    return listed


def _is_by_output(value: Any) -> bool:
    """Whether losses, metrics or weights are a dict by output; a config is a dict too."""
    return isinstance(value, Mapping) and "class_name" not in value


def _number(weight: Any) -> Any:
    """The weight of a loss as a number, the present one of a variable."""
    if isinstance(weight, Tensor):
        return weight.item()
    return weight


def several_of_one_layer(model: Any) -> bool:
    """Whether a model of the functional API has several outputs of one layer."""
    if has_own_code(model):
        return False
    layers = output_layer_names(model)
    return len(set(layers)) < len(layers)


def own_training_config(model: Any, as_lists: bool = False) -> dict[str, Any]:
    """The options that a file of Keras writes in another form, or does not have."""
    options_of_model = training_config(model, as_lists)
    names = ("loss", "metrics", "weighted_metrics")
    more = {"on_nonfinite": model.on_nonfinite, "numerics": training_of(model).options.numerics}
    return {**{name: options_of_model[name] for name in names}, **more}


def compile_as(model: Model, training: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> bool:
    """Compile a model as a file says; False, without compiling, if neither the file nor the model has a loss."""
    names_loss = any(each is not None for each in tree_leaves(training["loss"]))
    has_own_step = training_of(model).has_own("train_step")
    if not (names_loss or has_own_step or has_loss(training_of(model), ())):
        return False
    model.compile(**compile_arguments(training, custom_objects))
    return True


def compile_arguments(training: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> dict[str, Any]:
    """The inverse: the arguments of `compile`."""
    return {
        "optimizer": optimizers.deserialize(training["optimizer_config"], custom_objects),
        "loss": _resolved(training["loss"], loss_functions.deserialize, custom_objects),
        "metrics": _resolved(training.get("metrics"), metric_functions.deserialize, custom_objects),
        "loss_weights": training.get("loss_weights"),
        "sample_weight_mode": training.get("sample_weight_mode"),
        "weighted_metrics": _resolved(training.get("weighted_metrics"), metric_functions.deserialize, custom_objects),
        "on_nonfinite": training.get("on_nonfinite"),
        "numerics": training.get("numerics"),
    }


def mapped(value: Any, convert: Callable[[Any], Any]) -> Any:
    """`convert` on every loss or metric in lists and dictionaries by output."""
    if _is_by_output(value):
        return {name: mapped(item, convert) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mapped(item, convert) for item in value]
    return convert(value)


def _serialized(value: Any, serialize: Callable[[Any], Any]) -> Any:
    def plain(item: Any) -> Any:
        made = item() if isinstance(item, type) else item
        found = getattr(made, "for_files", made)
        return found if isinstance(found, (str, Mapping)) else serialize(found)

    return mapped(value, plain)


def _resolved(value: Any, deserialize: Callable[..., Any], custom_objects: Any) -> Any:
    """Configs, and names in `custom_objects`, become objects; other names stay (`accuracy` depends on the output)."""
    own = custom_objects or {}

    def resolved(item: Any) -> Any:
        if isinstance(item, Mapping) or item in own:
            return deserialize(item, own)
        return item

    return mapped(value, resolved)

"""How a model was compiled, as the files of every version say it.

In tf_keras and Keras 3 all losses and metrics are classes: `Later` translates them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from torchkeras import metrics, registry
from torchkeras.base.nested import slots_as_written
from torchkeras.engine.graph.network import names_by_layers, output_form_of
from torchkeras.engine.graph.trace import has_own_code
from torchkeras.engine.step.targets import by_output
from torchkeras.errors import ArchitectureError
from torchkeras.losses.loss import FunctionLoss
from torchkeras.metrics.reduction import FunctionMetric
from torchkeras.saving.containers.limits import LIMITS, Limits
from torchkeras.saving.dialects.dialect import NO_RULES, Dialect, LossRules
from torchkeras.saving.model_file import OWN
from torchkeras.saving.optimizer.options import from_keras3
from torchkeras.saving.training_config import mapped, several_of_one_layer

if TYPE_CHECKING:
    from torchkeras.models.model import Model


# --- losses and metrics of tf_keras and Keras 3 -----------------------------------------------------------------------


Plain = dict[str, Any]

ACCURACY, CROSSENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")
# Metrics that share the function of another one, or that no name stands for.
UNNAMED = ("Accuracy", "RootMeanSquaredError")

# The class of each function.
LOSS_CLASSES, METRIC_CLASSES = (
    {name: each for name, each in family.classes().items() if issubclass(each, of_function)}
    for family, of_function in ((registry.losses, FunctionLoss), (registry.metrics, FunctionMetric))
)
LOSSES: Mapping[Any, str] = {registry.losses.find(each.function.__name__): name for name, each in LOSS_CLASSES.items()}
METRICS: Mapping[Any, str] = {
    registry.metrics.find(each.function.__name__): name
    for name, each in METRIC_CLASSES.items()
    if name not in UNNAMED and each.function.__name__ in registry.metrics
}


class Later:
    """The translation for one model. `own`: the user's objects, which come first."""

    def __init__(self, dialect: Dialect, model: Model, custom_objects: Mapping[str, Any], rules: LossRules = NO_RULES):
        self.dialect, self.own, self.rules = dialect, custom_objects, rules
        self.names: list[str] = model.output_names
        self.owners: list[str] = model._output_owners
        self.prefixes: list[str] = self.names if has_own_code(model) else names_by_layers(model)
        self.shapes = [tensor.shape for tensor in model.outputs]

    def training(self, found: Mapping[str, Any]) -> Plain:
        """`loss`, `metrics` and `weighted_metrics` in our form. Raises ValueError for unknown ones."""
        loss = mapped(found["loss"], self.loss)
        of_outputs = self._by_output(loss)
        return {
            "loss": found["loss"] if self.rules.named is None else loss,
            **{name: self._metrics(found[name], of_outputs, name) for name in ("metrics", "weighted_metrics")},
        }

    def loss(self, value: Any) -> Any:
        """A loss: a name, a function or a class with its options."""
        value = _without_module(value)
        if value is None or isinstance(value, Mapping):
            return value if value is None else self._cosine(self._object(value, registry.losses))
        if self._own_class(value):
            return {"class_name": value, "config": {}}
        options = {} if value in self.rules.exempt else dict(self.rules.named or {})
        if value in self.own:
            return {"class_name": "LossFunctionWrapper", "config": {**options, "fn": value}}
        known = _find(registry.losses, value)
        if isinstance(known, type):
            return {"class_name": known.__name__, "config": options}
        if known in LOSSES:
            return self._cosine({"class_name": LOSSES[known], "config": options})
        return self._cosine({"class_name": "LossFunctionWrapper", "config": {**options, "fn": value}})

    def _cosine(self, made: Any) -> Any:
        """A loss with the sign that the cosine of the angle had for the file's writer."""
        name, options = made["class_name"], made["config"]
        is_cosine = name == "CosineSimilarity" or options.get("fn") in ("cosine", "cosine_proximity")
        if name in self.own or not is_cosine or self.rules.rising_cosine is False:
            return made
        if self.rules.rising_cosine is None:
            raise ValueError(
                f"the loss {options.get('fn', name)} has one sign in TensorFlow 1.14 and 1.15 and the other in 2.0 and "
                "2.1, and the file does not show which of them wrote it, since no layer has an initializer"
            )
        return {"class_name": "LossFunctionWrapper", "config": {**options, "fn": "rising_cosine_similarity"}}

    # --- metrics -----------------------------------------------------------------------------------------------------

    def _by_output(self, value: Any) -> list[Any]:
        value = by_output(value, self.names, self.owners)
        if isinstance(value, Mapping) and "class_name" not in value:
            return [value.get(name) for name in self.names]
        several = isinstance(value, list) and len(value) == len(self.names)
        return value if several else [value] * len(self.names)  # type: ignore[return-value]

    def _metrics(self, given: Any, losses_of: list[Any], option: str) -> Any:
        """Lists of metrics, one for each output."""
        if not given:
            return None
        each = self._metrics_by_output(by_output(given, self.names, self.owners), option)
        if len(each) != len(self.names):
            raise ValueError(f"{option} has {len(each)} entries, for {len(self.names)} outputs")
        return [
            [self._metric(metric, k, losses_of[k], option) for metric in _without_none(items)]
            for k, items in enumerate(each)
        ]

    def _metrics_by_output(self, given: Any, option: str) -> list[Any]:
        """What an option has for each output."""
        if isinstance(given, Mapping):
            unknown = [name for name in given if name not in self.names]
            if unknown:
                raise ValueError(f"{option} names the output {unknown[0]!r}; the outputs are {', '.join(self.names)}")
            return [given.get(name) for name in self.names]
        if not isinstance(given, list):
            raise ValueError(f"{option} must be a list or a dictionary; found {given!r:.200}")
        if all(isinstance(item, list) for item in given):
            return given
        if self.dialect.metrics_by_output and len(self.names) > 1:
            return given  # here one for each output; in Keras 2 all apply to each output
        return [given] * len(self.names)

    def _metric(self, value: Any, output: int, loss: Any, option: str) -> Any:
        value = _without_module(value)
        if isinstance(value, Mapping):
            return self._renamed(self._object(value, registry.metrics), output)
        if value in (*ACCURACY, *CROSSENTROPY) and value not in self.own:
            return self._by_shape(value, output, loss, option)
        return self._named(value, {"name": value.rpartition(">")[2]})

    def _named(self, name: Any, options: Plain) -> Any:
        """The metric class that a name means."""
        if self._own_class(name):
            return {"class_name": name, "config": {}}
        if name in self.own:
            return {"class_name": "MeanMetricWrapper", "config": {**options, "fn": name}}
        known = metrics.CosineSimilarity if name == "cosine_proximity" else _find(registry.metrics, name)
        if isinstance(known, type):
            return {"class_name": known.__name__, "config": options}
        if known in METRICS:
            return {"class_name": METRICS[known], "config": options}
        return {"class_name": "MeanMetricWrapper", "config": {**options, "fn": name}}

    def _by_shape(self, name: str, output: int, loss: Any, option: str) -> Any:
        """Accuracy or crossentropy: binary for a last axis of 1, else by whether targets are class numbers."""
        kind = "BinaryAccuracy"
        if self.shapes[output][-1] != 1:
            made_of = registry.losses.find(loss["class_name"], self.own) if isinstance(loss, Mapping) else None
            if not (isinstance(made_of, type) and issubclass(made_of, FunctionLoss)):
                if option == "metrics":
                    return name  # decided by the first targets
                raise ValueError(f"{name!r} in {option} depends on the shape of targets, which the loss does not show")
            kind = "SparseCategoricalAccuracy" if made_of.takes_labels else "CategoricalAccuracy"
        kind = kind if name in ACCURACY else kind.replace("Accuracy", "Crossentropy")
        return {"class_name": kind, "config": {"name": name}}

    # --- classes -----------------------------------------------------------------------------------------------------

    def _own_class(self, name: Any) -> bool:
        return isinstance(name, str) and inspect.isclass(self.own.get(name))

    def _object(self, value: Mapping[str, Any], family: registry.Family[Any]) -> Any:
        """A loss or metric that is a class."""
        name, options = registry.registered_or_own(value), value["config"]
        if name in self.own or name.rpartition(">")[2] in self.own:
            return {**value, "class_name": name}
        name = name.rpartition(">")[2]
        if not isinstance(_find(family, name), type):
            raise ValueError(f"{name} is not known as a loss or metric")
        options = plain(value)["config"]
        if name == "MeanMetricWrapper":
            return self._named(options.get("fn"), {key: given for key, given in options.items() if key != "fn"})
        return {"class_name": name, "config": options}

    def _renamed(self, value: Any, output: int) -> Any:
        """Remove the output's name, which tf_keras writes before that of the metric; we add it in reports.

        It is that of the layer also where outputs are a dict, whose keys are our names.
        """
        name = value["config"].get("name")
        if self.dialect.names_outputs and len(self.names) > 1 and isinstance(name, str):
            return {**value, "config": {**value["config"], "name": name.removeprefix(f"{self.prefixes[output]}_")}}
        return value


def plain(value: Any) -> Any:
    """An item of any dialect in our form: without repeated entries, and types by name."""
    if not isinstance(value, Mapping):
        return value
    name, options = value.get("class_name"), value.get("config")
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise ValueError(f"{name!r:.200} has no options")
    options = dict(options)
    if "fn" in options:
        options["fn"] = _without_module(options["fn"])
    if name in LOSS_CLASSES or name in METRIC_CLASSES:
        options.pop("fn", None)
    if options.get("name", "") is None:  # of a loss that the user gave no name, in tf.keras 1.13 and 1.14
        del options["name"]
    if options.get("reduction") == "auto":
        options["reduction"] = "sum_over_batch_size"
    if "dtype" in options:
        options["dtype"] = _type_name(options["dtype"])
    return {"class_name": name, "config": options}


def _type_name(policy: Any) -> Any:
    """A type by its name, which Keras 3 writes as the config of a policy."""
    if isinstance(policy, Mapping) and isinstance(policy.get("config"), Mapping):
        return policy["config"].get("name")
    return policy


def _without_module(value: Any) -> Any:
    """A function by its name; a class by name and options. Raises ValueError for anything else."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("class_name"), str):
        raise ValueError(f"{value!r:.200} is no loss or metric")
    if value["class_name"] == "function" and isinstance(value.get("config"), str):
        return value["config"]
    if not isinstance(value.get("config"), Mapping):
        raise ValueError(f"{value['class_name']} has no options")
    return value


def _find(family: registry.Family[Any], name: Any) -> Any:
    if not isinstance(name, str) or name not in family:
        raise ValueError(f"{name!r:.200} is not known as a {family.kind}")
    return family.find(name)


def _without_none(value: Any) -> list[Any]:
    """A list of metrics without None, which stands for none."""
    return [each for each in (value if isinstance(value, list) else [value]) if each is not None]


# --- any version ------------------------------------------------------------------------------------------------------


LATER_COMPILE = (
    "run_eagerly",
    "steps_per_execution",
    "jit_compile",
    "auto_scale_loss",
)  # they do not change what is computed
# The backends on which a file has the numbers of TensorFlow; where it does not say, most are of it.
_TENSORFLOW = ("tensorflow", "")
# What may be under `OWN`; it overrides the rest.
OWN_OPTIONS = ("loss", "metrics", "weighted_metrics", "on_nonfinite", "numerics")
# Losses and metrics of Keras 1 that have another meaning today, or none.
_MEAN = "is a mean over batches, today's counts all samples"
_COSINE: Mapping[str, str] = dict.fromkeys(
    ("cosine_proximity", "cosine"), "is a mean over the last axis, today's is a sum"
)
_ALONE: Mapping[str, str] = dict.fromkeys(
    ("fbeta_score", "fmeasure", "fscore", "f1score", "matthews_correlation"),
    "is a mean over batches, and is in torchkeras.keras2.metrics alone",
)
KERAS1_ALONE: Mapping[str, Mapping[str, str]] = {
    "loss": _COSINE,
    "metrics": {"precision": _MEAN, "recall": _MEAN, **_COSINE, **_ALONE},
}
BY_NAME = ("loss", "metrics", "weighted_metrics", "loss_weights", "sample_weight_mode")  # may be by names of outputs
LARGEST = 2**31  # an option that is a whole number


def modern_training(
    training: Any,
    file: str,
    dialect: Dialect,
    model: Model,
    custom_objects: Mapping[str, Any],
    backend: str = "",
    rules: LossRules = NO_RULES,
    as_written: bool = False,
) -> dict[str, Any]:
    """What a file says about compiling, as `saving.training_config.compile_as` takes it. `dialect`: of the writer.
    `backend`: of the writer, where the file names it; a `.keras` archive does not. `rules`: of the writer.

    `as_written`: whether lists have outputs that are dicts in the order in which these were written, not by their keys.
    Names of losses and metrics in files of Keras 1 and 2 stay names, with the weighted mean of 2.2.4. In files of Keras
    2.3, tf.keras and Keras 3 they become the classes that the names mean there. Raises ArchitectureError for what
    cannot be computed as it was there.
    """
    if not isinstance(training, Mapping) or not isinstance(training.get("optimizer_config"), Mapping):
        raise ArchitectureError(f"{file}: its training configuration names no optimizer; load it with compile=False.")
    later = dialect.classes
    numerics = rules.numerics if backend in _TENSORFLOW or not later else "keras"
    try:
        own = _own_training(training)
        given = {**training, **own}
        known = {**registry.get_custom_objects(), **custom_objects}
        found = {
            "optimizer_config": from_keras3(training["optimizer_config"], later, known),
            "loss": given.get("loss"),
            "metrics": given.get("metrics"),
            "weighted_metrics": given.get("weighted_metrics"),
            "loss_weights": training.get("loss_weights"),
            "sample_weight_mode": training.get("sample_weight_mode"),
            "on_nonfinite": given.get("on_nonfinite"),
            "numerics": given.get("numerics") if own else numerics,
        }
        unknown = set(training) - set(found) - {*LATER_COMPILE, OWN} | set(own) - set(OWN_OPTIONS)
        if unknown:
            raise ValueError(f"the option {min(unknown)!r} of compile is not known")
        if dialect.name == "keras1":
            _check_keras1(found, known)
        if as_written:
            order = slots_as_written(output_form_of(model))
            found |= {option: _by_keys(found[option], order, "metrics" in option) for option in BY_NAME}
        if dialect.names_outputs and not own and several_of_one_layer(model):
            found |= {option: _of_single_outputs(found[option], model) for option in BY_NAME}
        if (later or rules is not NO_RULES) and not own:
            found |= Later(dialect, model, custom_objects, rules).training(found)
        for option in ("loss", "metrics", "weighted_metrics"):
            found[option] = mapped(found[option], plain)
            mapped(found[option], check_size)
    except ValueError as error:
        raise ArchitectureError(f"{file}: {error}; load it with compile=False and compile it yourself.") from error
    return found


def _by_keys(value: Any, order: list[int], of_lists: bool) -> Any:
    """A list with an item for each output as written, in the order of the sorted keys. `of_lists`: with lists as items,
    as of metrics, since a plain list of these is one for all outputs.
    """
    if order == sorted(order) or not isinstance(value, list) or len(value) != len(order):
        return value
    if of_lists and not all(isinstance(item, list) for item in value):
        return value
    return [item for _, item in sorted(zip(order, value, strict=True), key=lambda pair: pair[0])]


def _check_keras1(training: Mapping[str, Any], custom_objects: Mapping[str, Any]) -> None:
    """Raise ValueError for a loss or metric of Keras 1 that is not in `custom_objects` and computes otherwise today."""
    for option, others in KERAS1_ALONE.items():
        mapped(training[option], partial(_check_meaning, others, custom_objects))


def _check_meaning(others: Mapping[str, str], custom_objects: Mapping[str, Any], item: Any) -> None:
    if isinstance(item, str) and item in others and item not in custom_objects:
        raise ValueError(f"{item!r} of Keras 1 {others[item]}")


def _of_single_outputs(value: Any, model: Model) -> Any:
    """An option by names with an entry for each output: in tf.keras a layer's name means the first of its outputs."""
    if not isinstance(value, Mapping) or "class_name" in value:
        return value
    return {**dict.fromkeys(model.output_names), **value}


def _own_training(training: Mapping[str, Any]) -> Mapping[str, Any]:
    own = training.get(OWN, {})
    if not isinstance(own, Mapping):
        raise ValueError(f"{OWN!r} in its training configuration must be a dictionary; found {own!r:.200}")
    return own


def check_size(item: Any, limits: Limits = LIMITS) -> None:
    """Raise ValueError for a loss or metric of this package with an absurdly large number."""
    if not isinstance(item, Mapping) or not isinstance(item.get("config"), Mapping):
        return
    name, options = item.get("class_name"), item["config"]
    if not isinstance(name, str) or (name not in registry.losses and name not in registry.metrics):
        return
    for option, value in options.items():
        if isinstance(value, int) and abs(value) > LARGEST:
            raise ValueError(f"{name} has {option}={value!r}, which is over {LARGEST}")
    _check_counts(name, options, limits)


def _check_counts(name: str, options: Mapping[str, Any], limits: Limits) -> None:
    """Raise ValueError for a metric that would count too many numbers."""
    size = 1
    for option, power in (("num_thresholds", 1), ("num_labels", 1), ("num_classes", 2)):
        value = options.get(option)
        if isinstance(value, int) and not isinstance(value, bool):
            size *= max(value, 1) ** power
            if size > (limits.counts if power == 2 else limits.thresholds):
                raise ValueError(f"{name} has {option}={value!r}, and would count {size} numbers")

"""How a model was compiled, as Keras 3.15 writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from torchkeras import metrics, registry
from torchkeras.engine.step.output_loss import objective
from torchkeras.engine.step.output_metric import name_and_metric
from torchkeras.engine.step.targets import for_outputs, metrics_for_outputs
from torchkeras.saving import keras3_names
from torchkeras.saving.keras3_entry import entry, users_entry
from torchkeras.saving.layer_facts import FOREIGN
from torchkeras.saving.optimizer.options import to_keras3

if TYPE_CHECKING:
    from torchkeras.models.model import Model

Plain = dict[str, Any]

# Keras 3's names, if they differ; None where its function of this name has other numbers.
LOSSES: Mapping[str, str | None] = {
    **dict.fromkeys(("kullback_leibler_divergence", "kld", "KLD"), "kl_divergence"),
    **dict.fromkeys(("cosine_proximity", "cosine"), "cosine_similarity"),
    "logcosh": "log_cosh",
    "MSE": "mse",
    "MAE": "mae",
    "MAPE": "mape",
    "MSLE": "msle",
}
METRICS: Mapping[str, str | None] = {
    **LOSSES,
    **dict.fromkeys(("cosine_proximity", "cosine"), None),
    **dict.fromkeys(("logcosh", "log_cosh"), "LogCoshError"),
}
# Functions that Keras 3 has, but does not find by name as a loss, or as a metric.
UNNAMED_LOSSES = ("categorical_generalized_cross_entropy", "rising_cosine_similarity")
UNNAMED_METRICS = (
    *("huber", "dice", "tversky", "ctc", "circle", "binary_focal_crossentropy", "categorical_focal_crossentropy"),
    *UNNAMED_LOSSES,
)


class Kind(NamedTuple):
    """Losses or metrics, and what Keras 3 calls them."""

    word: str
    module: str
    family: registry.Family[Any]
    known: frozenset[str]
    renamed: Mapping[str, str | None]
    unnamed: tuple[str, ...]

    def keras3_name(self, name: str) -> str:
        """Keras 3's name of a loss or metric. Raises ValueError if it has none with the same numbers."""
        found = self.renamed.get(name, name if name in self.known else None)
        if found is None:
            raise ValueError(f"compile: the {self.word} {name!r} has no form in Keras 3.")
        return found


LOSS = Kind("loss", "keras.losses", registry.losses, keras3_names.LOSSES, LOSSES, UNNAMED_LOSSES)
METRIC = Kind("metric", "keras.metrics", registry.metrics, keras3_names.METRICS, METRICS, UNNAMED_METRICS)
# The classes for "accuracy" and "crossentropy", by the function that was chosen from the loss.
CHOSEN: Mapping[Any, str] = {
    metrics.binary_accuracy: "BinaryAccuracy",
    metrics.binary_crossentropy: "BinaryCrossentropy",
    metrics.categorical_crossentropy: "CategoricalCrossentropy",
    metrics.sparse_categorical_crossentropy: "SparseCategoricalCrossentropy",
}


def compile_config(training: Mapping[str, Any], model: Model, unread: list[str]) -> Plain:
    """How a model was compiled. What Keras 3 lacks or computes differently goes to `unread`, and into a form of ours.

    Of losses and metrics that is a name that Keras 3 refuses: this package reads its own list from the metadata.
    """

    def own(form: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        try:
            return form()
        except ValueError as error:
            unread.append(str(error))
            return otherwise()

    def named(option: str) -> Plain:
        return function_entry(option, FOREIGN)

    optimizer, loss = getattr(model.optimizer, "for_files", model.optimizer), training["loss"]
    found = {
        "optimizer": own(lambda: _optimizer(optimizer), lambda: _own_optimizer(optimizer)),
        "loss": own(lambda: _mapped(loss, _loss), lambda: named("loss")),
        "loss_weights": training["loss_weights"],
        "metrics": own(lambda: _metrics(training["metrics"], loss, model), lambda: named("metrics")),
        "weighted_metrics": own(
            lambda: _metrics(training["weighted_metrics"], loss, model),
            lambda: named("weighted_metrics"),
        ),
        "run_eagerly": False,
        "steps_per_execution": 1,
        "jit_compile": False,
    }
    mode = training["sample_weight_mode"]
    if mode is not None:
        unread.append(f"compile: sample_weight_mode {mode!r} has no form in Keras 3.")
        found["sample_weight_mode"] = mode  # an argument that its `compile` refuses
    return found


def _optimizer(optimizer: Any) -> Plain:
    if getattr(optimizer, "is_of_keras3", None) is False:  # a user's class of Keras 3's form
        return users_entry("", optimizer.get_config(), type(optimizer))
    kind, options = to_keras3(optimizer)
    return entry("keras.optimizers", kind, options)


def _own_optimizer(optimizer: Any) -> Plain:
    """An optimizer in this package's own form."""
    return entry(None, f"{FOREIGN}{type(optimizer).__name__}", optimizer.own_config)


def _mapped(value: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping) and "class_name" not in value:
        return {name: convert(item) for name, item in value.items()}
    return [convert(item) for item in value] if isinstance(value, (list, tuple)) else convert(value)


def _loss(item: Any) -> Any:
    if isinstance(item, Mapping):
        return _class(LOSS, item)
    return _named(LOSS, item)


def _metrics(given: Any, loss: Any, model: Model) -> Any:
    """Lists of metrics: one, or one for each of several outputs, since a flat list has another meaning in Keras 3."""
    if not given:
        return None
    names = model.output_names
    each = metrics_for_outputs("metrics", given, names)
    losses = for_outputs("loss", loss, names, share=True)
    found = [
        [_metric(item, losses[k], output) for item in items]
        for k, (items, output) in enumerate(zip(each, model.outputs, strict=True))
    ]
    return found[0] if len(found) == 1 else found


def _metric(item: Any, loss: Any, output: Any) -> Any:
    if isinstance(item, Mapping):
        return _class(METRIC, item)
    if item in ("accuracy", "acc", "crossentropy", "ce"):
        return _chosen(item, loss, output)
    return _named(METRIC, item)


def _chosen(name: str, loss: Any, output: Any) -> Any:
    """Accuracy or crossentropy. Keras 3 chooses accuracy by shapes, not by the loss, and has no name "crossentropy"."""
    by_shape = name in ("accuracy", "acc")
    if loss is None or (by_shape and output.shape[-1] == 1):
        return name
    chosen = CHOSEN.get(name_and_metric(name, objective(loss), output)[1])
    return name if chosen is None else entry("keras.metrics", chosen, {"name": name, "dtype": "float32"})


def _named(kind: Kind, name: Any) -> Any:
    """A loss or metric by Keras 3's name, or as a function."""
    if name is None:
        return None
    if name not in kind.family:
        return function_entry(registry.registered(name))
    found = kind.keras3_name(name)
    return function_entry(name) if name in kind.unnamed else found


def _class(kind: Kind, item: Mapping[str, Any]) -> Plain:
    """A loss or metric with its options."""
    name, options = item["class_name"], dict(item["config"])
    if name not in kind.family:
        return users_entry(name, options)
    if name == "LossFunctionWrapper":
        wrapped, reduction = options.pop("fn"), options.pop("reduction")
        if set(options) - {"name"} or reduction not in ("sum_over_batch_size", "mean"):
            raise ValueError(f"compile: the {kind.word} {wrapped!r} with options has no form in Keras 3.")
        return function_entry(wrapped)
    found = kind.keras3_name(name)
    if "fn" in options:
        options["fn"] = function_entry(options["fn"])
    return entry(kind.module, found, options)


def function_entry(name: str, package: str = "") -> Plain:
    """A function, which Keras finds among its own and `custom_objects`; one of a `package` among the latter alone."""
    if package:
        name = f"{package}{name}"
        return {"module": None, "class_name": "function", "config": name, "registered_name": name}
    return {"module": "builtins", "class_name": "function", "config": name, "registered_name": "function"}

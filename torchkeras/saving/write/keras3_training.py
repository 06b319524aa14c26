"""How a model was compiled, as Keras 3.15 writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torchkeras import metrics, registry
from torchkeras.engine.step.output_loss import objective
from torchkeras.engine.step.output_metric import name_and_metric
from torchkeras.engine.step.targets import for_outputs, metrics_for_outputs
from torchkeras.saving.keras3_entry import entry
from torchkeras.saving.layer_facts import FOREIGN
from torchkeras.saving.optimizer.options import to_keras3

if TYPE_CHECKING:
    from torchkeras.models.model import Model

Plain = dict[str, Any]

# Keras 3's names of the functions, if they differ; None for a function or class of which it has none with the same
# numbers.
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

    optimizer, loss = model.optimizer, training["loss"]
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
    kind, options = to_keras3(optimizer)
    return entry("keras.optimizers", kind, options)


def _own_optimizer(optimizer: Any) -> Plain:
    """An optimizer in this package's own form."""
    return entry(None, f"{FOREIGN}{type(optimizer).__name__}", optimizer.get_config())


def _mapped(value: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping) and "class_name" not in value:
        return {name: convert(item) for name, item in value.items()}
    return [convert(item) for item in value] if isinstance(value, (list, tuple)) else convert(value)


def _loss(item: Any) -> Any:
    if isinstance(item, Mapping):
        return _class("loss", item, "keras.losses", LOSSES, registry.losses)
    return _named(item, "loss", LOSSES, UNNAMED_LOSSES, registry.losses)


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
        return _class("metric", item, "keras.metrics", METRICS, registry.metrics)
    if item in ("accuracy", "acc", "crossentropy", "ce"):
        return _chosen(item, loss, output)
    return _named(item, "metric", METRICS, UNNAMED_METRICS, registry.metrics)


def _chosen(name: str, loss: Any, output: Any) -> Any:
    """Accuracy or crossentropy. Keras 3 chooses accuracy by shapes, not by the loss, and has no name "crossentropy"."""
    by_shape = name in ("accuracy", "acc")
    if loss is None or (by_shape and output.shape[-1] == 1):
        return name
    chosen = CHOSEN.get(name_and_metric(name, objective(loss), output)[1])
    return name if chosen is None else entry("keras.metrics", chosen, {"name": name, "dtype": "float32"})


def _named(
    name: Any, kind: str, names: Mapping[str, str | None], unnamed: tuple[str, ...], family: registry.Family[Any]
) -> Any:
    """A loss or metric by Keras 3's name, or as a function."""
    if name is None:
        return None
    _refuse_lacking(kind, name, names)
    return function_entry(name) if name in unnamed or name not in family else names.get(name, name)


def _class(
    kind: str, item: Mapping[str, Any], module: str, names: Mapping[str, str | None], family: registry.Family[Any]
) -> Plain:
    """A loss or metric with its options."""
    name, options = item["class_name"], dict(item["config"])
    if name not in family:
        return entry(None, name, options)
    _refuse_lacking(kind, name, names)
    if name == "LossFunctionWrapper":
        wrapped, reduction = options.pop("fn"), options.pop("reduction")
        if set(options) - {"name"} or reduction not in ("sum_over_batch_size", "mean"):
            raise ValueError(f"compile: the {kind} {wrapped!r} with options has no form in Keras 3.")
        return function_entry(wrapped)
    if "fn" in options:
        options["fn"] = function_entry(options["fn"])
    return entry(module, name, options)


def _refuse_lacking(kind: str, name: str, names: Mapping[str, str | None]) -> None:
    """Raise ValueError for a function or class of this package that Keras 3 does not have."""
    if name in names and names[name] is None:
        raise ValueError(f"compile: the {kind} {name!r} has no form in Keras 3.")


def function_entry(name: str, package: str = "") -> Plain:
    """A function, which Keras finds among its own and `custom_objects`; one of a `package` among the latter alone."""
    if package:
        name = f"{package}{name}"
        return {"module": None, "class_name": "function", "config": name, "registered_name": name}
    return {"module": "builtins", "class_name": "function", "config": name, "registered_name": "function"}

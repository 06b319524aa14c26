"""Compiled models for `written_files`: losses and metrics that are classes, functions and names."""

from torchkeras import layers as L, losses, metrics, optimizers
from torchkeras.models import Model, Sequential

NO_CLASSES = {"keras-2.2.4": "it has no classes of losses and metrics"}
BY_SHAPE = {"tf_keras": "it chooses accuracy by shapes, and mixes up metrics of one name"}
NO_HUBER = {"tf_keras": "it has no metric 'huber'"}
Input = L.Input


def single(activation: str) -> Model:
    return Sequential([L.Dense(5, activation="tanh", input_shape=(6,)), L.Dense(3, activation=activation)])


def several() -> Model:
    i = Input((6,))
    hidden = L.Dense(5, activation="tanh")(i)
    return Model(i, [L.Dense(3, name="a")(hidden), L.Dense(3, activation="sigmoid", name="b")(hidden)])


def classes() -> Model:
    """Classes with options, and names for which Keras 3 would choose something else."""
    model = single("sigmoid")
    model.compile(
        optimizers.SGD(0.05),
        losses.BinaryCrossentropy(label_smoothing=0.1),
        metrics=[
            *(metrics.AUC(num_thresholds=20, curve="PR"), metrics.F1Score("macro", 0.5), metrics.OneHotMeanIoU(3)),
            *("accuracy", "mae", "logcosh", "huber", metrics.MeanMetricWrapper(losses.dice, "dice", axis=1)),
            metrics.AUC(thresholds=[0.25, 0.5], name="auc_of_two"),
        ],
        weighted_metrics=[metrics.MeanSquaredError(name="square"), metrics.Precision(top_k=2)],
    )
    return model


def by_output() -> Model:
    """A loss for each output, and metrics for all."""
    model = several()
    model.compile(
        optimizers.SGD(0.05),
        {"a": losses.Huber(delta=0.5, reduction="sum"), "b": "binary_crossentropy"},
        loss_weights={"a": 0.5, "b": 2.0},
        metrics=["mae", "accuracy"],
        weighted_metrics={"b": [metrics.Recall()]},
    )
    return model


def chosen() -> Model:
    """Metrics chosen by the loss, and functions."""
    model = single("softmax")
    model.compile(
        optimizers.SGD(0.05),
        losses.categorical_crossentropy,
        metrics=["acc", "crossentropy", losses.kullback_leibler_divergence, metrics.categorical_accuracy],
        on_nonfinite="skip",
    )
    return model


def defaults() -> Model:
    """Classes that compute the same as functions of 2.2.4."""
    model = single("sigmoid")
    model.compile(
        optimizers.SGD(0.05),
        losses.MeanAbsoluteError(),
        metrics=[metrics.MeanSquaredError(), metrics.BinaryAccuracy(), metrics.CategoricalAccuracy()],
    )
    return model


OBJECTIVES = {
    "classes": (classes, {**NO_CLASSES, **NO_HUBER}),
    "by_output": (by_output, {**NO_CLASSES, **BY_SHAPE}),
    "chosen": (chosen, {}),
    "defaults": (defaults, {}),
}

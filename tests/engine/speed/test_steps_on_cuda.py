"""Training, evaluation and prediction on a CUDA device: the numbers of the CPU, and no step that waits for it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from jitted import alike
from torch import nn

import torchkeras
from torchkeras import Input, Model, Sequential, config, layers, metrics, optimizers, registry
from torchkeras.callbacks import Callback
from torchkeras.engine.step import nonfinite

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("float32_as_it_is")]

SPARSE, ONE_HOT = "sparse_categorical_crossentropy", "categorical_crossentropy"
SAMPLES, BATCH, FEATURES, CLASSES = 48, 4, 8, 3


class NoWaits(Callback):
    """From the second epoch on, what waits for the device before an epoch's last batch has ended raises an error."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        torch.cuda.set_sync_debug_mode("error" if epoch else "default")

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if batch == SAMPLES // BATCH - 1:
            torch.cuda.set_sync_debug_mode("default")


def numbers(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.standard_normal((SAMPLES, FEATURES)).astype("float32"), random.integers(0, CLASSES, SAMPLES)


def one_hot(y: np.ndarray) -> np.ndarray:
    return np.eye(CLASSES, dtype="float32")[y]


def mlp(activation: str = "softmax", **options: Any) -> Model:
    inputs = Input((FEATURES,))
    hidden = layers.Dense(16, activation="relu", **options)(inputs)
    return Model(inputs, layers.Dense(CLASSES, activation=activation)(hidden))


def trained(
    device: str, make: Callable[[], Model], options: Callable[[], dict[str, Any]], x: Any, y: Any, **fit: Any
) -> tuple[dict[str, list[float]], list[np.ndarray]]:
    """History and weights after three epochs. Weights begin with those that a model on the CPU has."""
    torchkeras.clear_session()
    torch.manual_seed(0)
    config.set_device("cpu")
    first = make().get_weights()
    torchkeras.clear_session()
    config.set_device(device)
    model = make()
    model.set_weights(first)
    assert {parameter.device.type for parameter in model.parameters()} <= {device}
    model.compile(**{"jit_compile": False, **options()})
    callbacks = [NoWaits()] if device == "cuda" else []
    found = model.fit(x, y, batch_size=BATCH, epochs=3, verbose=0, shuffle=False, callbacks=callbacks, **fit)
    history = dict(found.history)
    scores = np.atleast_1d(np.asarray(model.evaluate(x, y, batch_size=BATCH, verbose=0), dtype=object))
    history["scores"] = [each for score in scores for each in np.ravel(score)]
    history["predicted"] = np.ravel(np.asarray(model.predict(x, batch_size=BATCH))).tolist()
    return history, model.get_weights()


def same_on_both(make: Callable[[], Model], options: Callable[[], dict[str, Any]], x: Any, y: Any, **fit: Any) -> None:
    expected = trained("cpu", make, options, x, y, **fit)
    alike(trained("cuda", make, options, x, y, **fit), expected, rtol=2e-3, atol=2e-4)


# --- optimizers ------------------------------------------------------------------------------------------------------

OURS = ("sgd", "rmsprop", "adagrad", "adadelta", "adam", "adamax", "nadam", "adamw", "lion", "lamb", "muon",
        "adafactor", "ftrl")  # fmt: skip
OPTIONS: dict[str, Callable[[], Any]] = {
    "momentum": lambda: optimizers.SGD(0.01, momentum=0.9, nesterov=True),
    "clipnorm": lambda: optimizers.Adam(clipnorm=1.0),
    "clipvalue": lambda: optimizers.Adam(clipvalue=0.1),
    "each_clipnorm": lambda: optimizers.SGD(each_clipnorm=0.1),
    "accumulation": lambda: optimizers.Adam(gradient_accumulation_steps=2),
    "ema": lambda: optimizers.Adam(use_ema=True),
    "decay": lambda: optimizers.SGD(0.1, decay=0.01),
    "schedule": lambda: optimizers.Adam(optimizers.schedules.CosineDecay(0.01, 100)),
    "amsgrad": lambda: optimizers.Adam(amsgrad=True),
}


@pytest.mark.parametrize("name", OURS)
def test_optimizers(name: str):
    x, y = numbers()
    same_on_both(mlp, lambda: {"optimizer": name, "loss": SPARSE, "metrics": ["accuracy"]}, x, y)


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_optimizers(name: str):
    x, y = numbers()
    same_on_both(mlp, lambda: {"optimizer": OPTIONS[name](), "loss": SPARSE}, x, y)


@pytest.mark.parametrize(
    "name",
    [
        "Adam",
        "SGD",
        "AdamW",
        "RMSprop",
        "Adagrad",
        "NAdam",
        "RAdam",
        "Adamax",
        "ASGD",
        "Rprop",
        "Adadelta",
    ],
)
def test_optimizers_of_torch(name: str):
    x, y = numbers()
    kind = getattr(torch.optim, name)
    same_on_both(mlp, lambda: {"optimizer": (kind, {"lr": 0.01}), "loss": SPARSE}, x, y)


@pytest.mark.parametrize("reaction", ["stop", "skip", "raise"])
def test_reactions_to_what_is_not_finite(reaction: str, monkeypatch: pytest.MonkeyPatch):
    """Between the times at which the host looks."""
    monkeypatch.setattr(nonfinite, "LOOK_EVERY", 1e9)
    x, y = numbers()
    same_on_both(mlp, lambda: {"optimizer": "adam", "loss": SPARSE, "on_nonfinite": reaction}, x, y)


@pytest.mark.parametrize("name", ["Adam", "NAdam", "ASGD"])
def test_a_step_of_torchs_that_is_not_finite_is_taken_back(name: str):
    """Also the counts that some of torch's optimizers keep on the CPU."""
    x, y = numbers()
    bad = x.copy()
    bad[4:8] = np.nan
    kind = getattr(torch.optim, name)

    def ended(device: str) -> list[np.ndarray]:
        config.set_device(device)
        torchkeras.clear_session()
        torch.manual_seed(0)
        model = mlp()
        model.set_weights([np.linspace(-0.5, 0.5, array.size).reshape(array.shape) for array in model.get_weights()])
        model.compile((kind, {"lr": 0.01}), SPARSE, on_nonfinite="skip", jit_compile=False)
        model.fit(bad, y, batch_size=BATCH, epochs=2, verbose=0, shuffle=False)
        return model.get_weights()

    for mine, other in zip(ended("cuda"), ended("cpu"), strict=True):
        assert np.isfinite(mine).all()
        np.testing.assert_allclose(mine, other, rtol=2e-3, atol=2e-4)


def test_a_bad_batch_counts_in_no_metric_that_came_to_the_device_with_it():
    x, y = numbers()
    x[:4] = np.nan
    same_on_both(
        mlp, lambda: {"optimizer": "sgd", "loss": "mse", "metrics": [metrics.AUC()], "on_nonfinite": "skip"}, x,
        one_hot(y),
    )  # fmt: skip


# --- losses and metrics ----------------------------------------------------------------------------------------------

LOSSES = ("mse", "mae", "mape", "msle", "squared_hinge", "hinge", "categorical_hinge", "logcosh", "huber", ONE_HOT,
          "binary_crossentropy", "binary_focal_crossentropy", "categorical_focal_crossentropy", "dice", "tversky",
          "kld", "poisson", "cosine_proximity")  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str):
    x, y = numbers()
    same_on_both(mlp, lambda: {"optimizer": "sgd", "loss": name}, x, one_hot(y))


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(), nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 3.0]))])
def test_losses_of_torch(loss: nn.Module):
    x, y = numbers()
    same_on_both(lambda: mlp("linear"), lambda: {"optimizer": "sgd", "loss": loss}, x, y)


def its_metrics() -> dict[str, Callable[[], Any]]:
    """A maker of each metric, by name; those that want an argument get one."""
    found: dict[str, Callable[[], Any]] = {}
    given = {"MeanIoU": (3,), "IoU": (3, [0]), "OneHotIoU": (3, [0]), "OneHotMeanIoU": (3,), "BinaryIoU": ([1],),
             "PrecisionAtRecall": (0.5,), "RecallAtPrecision": (0.5,), "SensitivityAtSpecificity": (0.5,),
             "SpecificityAtSensitivity": (0.5,)}  # fmt: skip
    for name in registry.metrics.names():
        kind = getattr(metrics, name, None)
        wrapped = ("MeanMetricWrapper", "Mean", "Sum", "IoU", "MeanIoU")
        if isinstance(kind, type) and name not in wrapped and not name.startswith("Sparse"):
            found[name] = lambda kind=kind, name=name: kind(*given.get(name, ()))
    return found


METRICS = its_metrics()


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name: str):
    x, y = numbers()
    same_on_both(mlp, lambda: {"optimizer": "sgd", "loss": "mse", "metrics": [METRICS[name]()]}, x, one_hot(y))


@pytest.mark.parametrize("given", [["accuracy", "sparse_top_k_categorical_accuracy"], [SPARSE]])
def test_metrics_of_classes(given: list[str]):
    x, y = numbers()
    same_on_both(mlp, lambda: {"optimizer": "sgd", "loss": SPARSE, "metrics": given}, x, y)


def test_a_metric_that_gives_a_number_of_python():
    class Largest(metrics.Metric):
        def __init__(self) -> None:
            super().__init__(name="largest")
            self.seen = 0.0

        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
            self.last = y_pred

        def result(self) -> Any:
            return 0.5

        def reset_state(self) -> None:
            self.last = None

    x, y = numbers()
    config.set_device("cuda")
    model = mlp()
    model.compile("sgd", SPARSE, metrics=["accuracy", Largest()], jit_compile=False)
    assert model.fit(x, y, epochs=1, verbose=0).history["largest"] == [0.5]
    assert model.evaluate(x, y, verbose=0)[2] == 0.5
    assert model.train_on_batch(x, y)[2] == 0.5


@pytest.mark.parametrize("weights", [{"sample_weight": np.linspace(0, 1, SAMPLES, dtype="float32")},
                                     {"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}}])  # fmt: skip
def test_weights_of_samples_and_classes(weights: dict[str, Any]):
    x, y = numbers()
    same_on_both(mlp, lambda: {"optimizer": "sgd", "loss": SPARSE, "weighted_metrics": ["accuracy"]}, x, y, **weights)


# --- networks --------------------------------------------------------------------------------------------------------


def stack(shape: tuple[int, ...], *inside: Callable[[], Any], dtype: str | None = None) -> Callable[[], Model]:
    def make() -> Model:
        inputs = hidden = Input(shape, dtype=dtype)
        for layer in inside:
            hidden = layer()(hidden)
        return Model(inputs, layers.Dense(CLASSES)(hidden))

    return make


L: Any = layers
SEQUENCES: dict[str, Callable[[], Model]] = {
    "LSTM": stack((6, 4), lambda: L.LSTM(3)),
    "LSTM, sigmoid": stack((6, 4), lambda: L.LSTM(3, recurrent_activation="sigmoid")),
    "GRU": stack((6, 4), lambda: L.GRU(3)),
    "GRU, reset after": stack((6, 4), lambda: L.GRU(3, reset_after=True, recurrent_activation="sigmoid")),
    "SimpleRNN": stack((6, 4), lambda: L.SimpleRNN(3)),
    "masked LSTM": stack((6, 4), lambda: L.Masking(), lambda: L.LSTM(3)),
    "masked LSTM, sigmoid": stack((6, 4), lambda: L.Masking(), lambda: L.LSTM(3, recurrent_activation="sigmoid")),
    "masked Bidirectional": stack((6, 4), lambda: L.Masking(), lambda: L.Bidirectional(L.LSTM(3))),
    "stateful": stack((6, 4), lambda: L.Dense(4), lambda: L.GRU(3)),
    "Conv1D": stack((6, 4), lambda: L.Conv1D(3, 3), lambda: L.GlobalMaxPooling1D()),
    "BatchNormalization": stack((6, 4), lambda: L.BatchNormalization(), lambda: L.Flatten()),
    "LayerNormalization": stack((6, 4), lambda: L.LayerNormalization(), lambda: L.Flatten()),
    "masked pooling": stack((6, 4), lambda: L.Masking(), lambda: L.GlobalAveragePooling1D()),
    "regularized": stack(
        (6, 4),
        lambda: L.Flatten(),
        lambda: L.Dense(4, kernel_regularizer="l2", kernel_constraint="max_norm", activity_regularizer="l1"),
    ),
    "spectral": stack((6, 4), lambda: L.Flatten(), lambda: L.SpectralNormalization(L.Dense(4))),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_networks_for_sequences(name: str):
    random = np.random.default_rng(0)
    x = random.standard_normal((SAMPLES, 6, 4)).astype("float32")
    x[:, 4:] *= random.integers(0, 2, (SAMPLES, 1, 1))
    same_on_both(SEQUENCES[name], lambda: {"optimizer": "sgd", "loss": "mse"}, x, one_hot(numbers()[1]))


IMAGES: dict[str, Callable[[], Model]] = {
    "Conv2D": stack((8, 8, 3), lambda: L.Conv2D(4, 3), lambda: L.MaxPooling2D(2), lambda: L.Flatten()),
    "separable": stack((8, 8, 3), lambda: L.SeparableConv2D(4, 3, padding="same"), lambda: L.GlobalAveragePooling2D()),
    "depthwise": stack((8, 8, 3), lambda: L.DepthwiseConv2D(3), lambda: L.AveragePooling2D(2), lambda: L.Flatten()),
    "transposed": stack((8, 8, 3), lambda: L.Conv2DTranspose(4, 3, strides=2, padding="same"), lambda: L.Flatten()),
    "normalized": stack(
        (8, 8, 3),
        lambda: L.Conv2D(4, 3, padding="same"),
        lambda: L.BatchNormalization(),
        lambda: L.Activation("relu"),
        lambda: L.GroupNormalization(2),
        lambda: L.Flatten(),
    ),
    "without a scale": stack((8, 8, 3), lambda: L.BatchNormalization(scale=False), lambda: L.Flatten()),
    "without a center": stack((8, 8, 3), lambda: L.BatchNormalization(center=False), lambda: L.Flatten()),
    "upsampled": stack((8, 8, 3), lambda: L.UpSampling2D(2, interpolation="bilinear"), lambda: L.Flatten()),
}


@pytest.mark.parametrize("name", IMAGES)
def test_networks_for_images(name: str):
    x = np.random.default_rng(0).standard_normal((SAMPLES, 8, 8, 3)).astype("float32")
    same_on_both(IMAGES[name], lambda: {"optimizer": "sgd", "loss": "mse"}, x, one_hot(numbers()[1]))


def attention() -> Model:
    inputs = Input((6,), dtype="int32")
    hidden = layers.Embedding(9, 4, mask_zero=True)(inputs)
    hidden = layers.MultiHeadAttention(2, 2)(hidden, hidden, use_causal_mask=True)
    return Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(hidden)))


TOKENS: dict[str, Callable[[], Model]] = {
    "embedded LSTM": stack((6,), lambda: L.Embedding(9, 4, mask_zero=True), lambda: L.LSTM(3), dtype="int32"),
    "attention": attention,
}


@pytest.mark.parametrize("name", TOKENS)
def test_networks_for_tokens(name: str):
    x = np.random.default_rng(0).integers(0, 9, (SAMPLES, 6)).astype("int32")
    x[:, 0] = 1
    same_on_both(TOKENS[name], lambda: {"optimizer": "sgd", "loss": "mse"}, x, one_hot(numbers()[1]))


RANDOM: dict[str, Callable[[], Model]] = {
    "noise": stack(
        (6, 4),
        *(lambda: L.GaussianNoise(0.1), lambda: L.GaussianDropout(0.1), lambda: L.AlphaDropout(0.1)),
        *(lambda: L.SpatialDropout1D(0.1), lambda: L.Dropout(0.1), lambda: L.Flatten()),
    ),
    "recurrent": stack((6, 4), lambda: L.LSTM(3, dropout=0.2, recurrent_dropout=0.2)),
    "inside cuDNN": stack((6, 4), lambda: L.LSTM(3, dropout=0.2, recurrent_activation="sigmoid")),
    "attention": stack((6, 4), lambda: L.Dropout(0.1), lambda: L.Flatten()),
}
AUGMENTATION = ("RandomRotation", "RandomZoom", "RandomContrast", "RandomBrightness")


@pytest.mark.parametrize("name", RANDOM)
def test_what_draws_does_not_wait(name: str):
    x = np.random.default_rng(0).standard_normal((SAMPLES, 6, 4)).astype("float32")
    history, _ = trained("cuda", RANDOM[name], lambda: {"optimizer": "sgd", "loss": "mse"}, x, one_hot(numbers()[1]))
    assert np.isfinite(history["loss"]).all()


@pytest.mark.parametrize("name", [name for name in AUGMENTATION if hasattr(layers, name)])
def test_augmentation_does_not_wait(name: str):
    x = np.random.default_rng(0).random((SAMPLES, 8, 8, 3)).astype("float32")
    make = stack((8, 8, 3), lambda: getattr(L, name)(0.2), lambda: L.Flatten())
    history, _ = trained("cuda", make, lambda: {"optimizer": "sgd", "loss": "mse"}, x, one_hot(numbers()[1]))
    assert np.isfinite(history["loss"]).all()


# --- types -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_a_normalization_without_a_scale_learns_in_16_bits(policy: str):
    make = stack((8, 8, 3), lambda: L.BatchNormalization(scale=False, dtype=policy), lambda: L.Flatten())
    x = np.random.default_rng(0).random((SAMPLES, 8, 8, 3)).astype("float32")
    history, _ = trained("cuda", make, lambda: {"optimizer": "sgd", "loss": "mse"}, x, one_hot(numbers()[1]))
    assert history["loss"][-1] < history["loss"][0]


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("optimizer", ["adam", "rmsprop", "sgd"])
def test_types_learn_and_do_not_wait(policy: str, optimizer: str):
    def make() -> Model:
        return Sequential(
            [
                layers.Dense(16, activation="relu", input_shape=(FEATURES,), dtype=policy),
                layers.Dense(CLASSES, dtype=policy),
                layers.Activation("softmax", dtype="float32"),
            ]
        )

    x, y = numbers()
    history, _ = trained("cuda", make, lambda: {"optimizer": optimizer, "loss": SPARSE}, x, y)
    config.set_device("cuda")
    exact, _ = trained("cuda", mlp, lambda: {"optimizer": optimizer, "loss": SPARSE}, x, y)
    np.testing.assert_allclose(history["loss"], exact["loss"], rtol=0.2)


# --- compiled and captured -------------------------------------------------------------------------------------------

COMPILED: dict[str, dict[str, Any]] = {
    "compiled": {"jit_compile": True},
    "captured": {"jit_compile": True, "cuda_graph": True},
    "several": {"jit_compile": False, "steps_per_execution": 4},
}


@pytest.mark.parametrize("settings", COMPILED)
@pytest.mark.parametrize("make", [mlp, IMAGES["normalized"]], ids=["mlp", "cnn"])
def test_compiled_steps(settings: str, make: Callable[[], Model]):
    x, y = numbers()
    if make is not mlp:
        x = np.random.default_rng(0).standard_normal((SAMPLES, 8, 8, 3)).astype("float32")

    def options(**more: Any) -> dict[str, Any]:
        loss = {"loss": "mse"} if make is not mlp else {"loss": ONE_HOT, "metrics": ["accuracy"]}
        return {"optimizer": "sgd", **loss, **more}

    expected = trained("cpu", make, options, x, one_hot(y))
    found = trained("cuda", make, lambda: options(**COMPILED[settings]), x, one_hot(y))
    alike(found, expected, rtol=1e-2, atol=1e-2)

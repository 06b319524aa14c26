"""The workloads of `step.py`: each network as a Keras model, its data, its sizes. `by_hand.py` has them in PyTorch.

A network is a function of the library that builds it (torchkeras, Keras 3 or tf_keras). Only numpy is imported here, so
that a peer's process can read this file in any environment. Layers with weights have the names of the modules in
`by_hand.py`, with "__" for a dot.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Weights = dict[str, list[np.ndarray]]
CLASSES = 10
VOCABULARY = 1000
CATEGORIES = {"city": (1000, 16), "day": (7, 4), "product": (5000, 32)}  # vocabulary size, and features
NUMBERS = 13
RESIDUAL_BLOCKS = [(filters, filters > 16 and block == 0) for filters in (16, 32, 64) for block in range(3)]


@dataclass(frozen=True)
class Workload:
    """A network and its data; `steps` batches make an epoch, which is one turn of a contender."""

    network: Callable[[Any], Any]
    inputs: Callable[[np.random.Generator, np.ndarray], list[np.ndarray]]
    batch_size: int
    steps: int
    mode: Literal["fit", "evaluate", "predict"] = "fit"


# --- the networks ----------------------------------------------------------------------------------------------------


def mlp(keras: Any) -> Any:
    """Six Dense 64."""
    layers = keras.layers
    features = hidden = layers.Input((20,))
    for k in range(6):
        hidden = layers.Dense(64, activation="relu", name=f"hidden__{k}")(hidden)
    return keras.models.Model(features, classified(keras, hidden))


def cnn(keras: Any) -> Any:
    """The network of Keras's example `mnist_cnn`."""
    layers = keras.layers
    image = layers.Input((28, 28, 1))
    hidden = layers.Conv2D(32, 3, activation="relu", name="first")(image)
    hidden = layers.Conv2D(64, 3, activation="relu", name="second")(hidden)
    hidden = layers.Flatten()(layers.Dropout(0.25)(layers.MaxPooling2D(2)(hidden)))
    hidden = layers.Dropout(0.5)(layers.Dense(128, activation="relu", name="hidden")(hidden))
    return keras.models.Model(image, classified(keras, hidden))


def resnet20(keras: Any) -> Any:
    """ResNet-20 for images of 32x32; a shortcut that shrinks them averages, then has a 1x1 convolution (ResNet-D)."""
    layers = keras.layers

    def convolved(value: Any, filters: int, name: str, strides: int = 1) -> Any:
        options = {"strides": strides, "padding": "same", "use_bias": False, "name": name}
        return layers.BatchNormalization(name=f"{name}_norm")(layers.Conv2D(filters, 3, **options)(value))

    image = layers.Input((32, 32, 3))
    hidden = layers.Activation("relu")(convolved(image, 16, "stem"))
    for number, (filters, shrinks) in enumerate(RESIDUAL_BLOCKS):
        name, shortcut = f"blocks__{number}__", hidden
        hidden = layers.Activation("relu")(convolved(hidden, filters, f"{name}first", 2 if shrinks else 1))
        hidden = convolved(hidden, filters, f"{name}second")
        if shrinks:
            shortcut = layers.AveragePooling2D(2)(shortcut)
            shortcut = layers.Conv2D(filters, 1, use_bias=False, name=f"{name}shortcut")(shortcut)
        hidden = layers.Activation("relu")(layers.Add()([hidden, shortcut]))
    return keras.models.Model(image, classified(keras, layers.GlobalAveragePooling2D()(hidden)))


def lstm(keras: Any) -> Any:
    sequence = keras.layers.Input((50, 32))
    hidden = keras.layers.LSTM(64, recurrent_activation="sigmoid", name="lstm")(sequence)
    return keras.models.Model(sequence, classified(keras, hidden))


def masked_lstm(keras: Any) -> Any:
    """10 to 50 tokens, then zeros, which are masked."""
    tokens = keras.layers.Input((50,), dtype="int32")
    embedded = keras.layers.Embedding(VOCABULARY, 32, mask_zero=True, name="embedding")(tokens)
    hidden = keras.layers.LSTM(64, recurrent_activation="sigmoid", name="lstm")(embedded)
    return keras.models.Model(tokens, classified(keras, hidden))


def transformer(keras: Any) -> Any:
    """One encoder block of 4 heads over 32 steps of 64 features."""
    layers = keras.layers
    sequence = layers.Input((32, 64))
    attended = layers.MultiHeadAttention(4, 16, name="attention")(sequence, sequence)
    hidden = layers.LayerNormalization(epsilon=1e-6, name="first_norm")(layers.Add()([sequence, attended]))
    widened = layers.Dense(128, activation="relu", name="widen")(hidden)
    narrowed = layers.Dense(64, name="narrow")(widened)
    hidden = layers.LayerNormalization(epsilon=1e-6, name="second_norm")(layers.Add()([hidden, narrowed]))
    return keras.models.Model(sequence, classified(keras, layers.GlobalAveragePooling1D()(hidden)))


def embeddings(keras: Any) -> Any:
    """Three embedded categories, and plain numbers."""
    layers = keras.layers
    chosen = [layers.Input((1,), dtype="int32") for _ in CATEGORIES]
    numbers = layers.Input((NUMBERS,))
    embedded = [
        layers.Flatten()(layers.Embedding(count, size, name=f"embedded__{name}")(number))
        for number, (name, (count, size)) in zip(chosen, CATEGORIES.items(), strict=True)
    ]
    hidden = layers.Concatenate()([*embedded, numbers])
    hidden = layers.Dense(128, activation="relu", name="first")(hidden)
    hidden = layers.Dense(64, activation="relu", name="second")(hidden)
    return keras.models.Model([*chosen, numbers], classified(keras, hidden))


def classified(keras: Any, hidden: Any) -> Any:
    return keras.layers.Dense(CLASSES, activation="softmax", name="logits")(hidden)


# --- the data: what tells the classes apart, and noise ---------------------------------------------------------------


def normal(*shape: int) -> Callable[[np.random.Generator, np.ndarray], list[np.ndarray]]:
    """Inputs of one shape around ten prototypes, one for each class."""

    def inputs(random: np.random.Generator, target: np.ndarray) -> list[np.ndarray]:
        prototypes = 0.3 * random.standard_normal((CLASSES, *shape), dtype="float32")
        return [prototypes[target] + random.standard_normal((len(target), *shape), dtype="float32")]

    return inputs


def tokens(random: np.random.Generator, target: np.ndarray) -> list[np.ndarray]:
    """Half of the tokens come from the class's own tenth of the vocabulary."""
    part = (VOCABULARY - 1) // CLASSES
    own = 1 + target[:, None] * part + random.integers(0, part, (len(target), 50))
    drawn = np.where(random.random((len(target), 50)) < 0.5, own, random.integers(1, VOCABULARY, (len(target), 50)))
    lengths = random.integers(10, 51, (len(target), 1))
    return [np.where(np.arange(50) < lengths, drawn, 0).astype("int32")]


def categories(random: np.random.Generator, target: np.ndarray) -> list[np.ndarray]:
    """The categories do not depend on the class; the numbers do."""
    drawn = [random.integers(0, count, (len(target), 1)).astype("int32") for count, _ in CATEGORIES.values()]
    return [*drawn, *normal(NUMBERS)(random, target)]


WORKLOADS = {
    "mlp": Workload(mlp, normal(20), 32, 500),
    "cnn": Workload(cnn, normal(28, 28, 1), 128, 24),
    "resnet20": Workload(resnet20, normal(32, 32, 3), 128, 6),
    "lstm": Workload(lstm, normal(50, 32), 64, 100),
    "masked_lstm": Workload(masked_lstm, tokens, 64, 100),
    "transformer": Workload(transformer, normal(32, 64), 64, 80),
    "embeddings": Workload(embeddings, categories, 128, 300),
    "evaluate": Workload(mlp, normal(20), 32, 2000, "evaluate"),
    "predict": Workload(mlp, normal(20), 32, 2000, "predict"),
}


def samples(workload: Workload, steps: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The inputs and the classes of `steps` whole batches: the same in every process."""
    random = np.random.default_rng(0)
    target = random.integers(0, CLASSES, workload.batch_size * steps)
    return workload.inputs(random, target), target


def weights_of(model: Any) -> Weights:
    """The arrays of each layer with weights, by its name."""
    found = {layer.name: [np.asarray(array) for array in layer.get_weights()] for layer in model.layers}
    return {name: arrays for name, arrays in found.items() if arrays}


def set_weights(model: Any, weights: Weights) -> None:
    """The inverse of `weights_of`. Raises KeyError for a layer that is not in `weights`."""
    for layer in model.layers:
        if layer.get_weights():
            layer.set_weights(weights[layer.name])


def compiled(model: Any, jit_compile: Any = False, **options: Any) -> Any:
    loss, metrics = "sparse_categorical_crossentropy", ["accuracy"]
    model.compile(optimizer="adam", loss=loss, metrics=metrics, jit_compile=jit_compile, **options)
    return model


def keras_epoch(model: Any, workload: Workload, x: Any, y: Any) -> float:
    """One pass over the data in the workload's mode, by any Keras; its loss, or the mean largest probability."""
    x = x[0] if len(x) == 1 else x
    if workload.mode == "fit":
        history = model.fit(x, y, batch_size=workload.batch_size, epochs=1, verbose=0, shuffle=True)
        return float(history.history["loss"][0])
    if workload.mode == "evaluate":
        return float(model.evaluate(x, y, batch_size=workload.batch_size, verbose=0)[0])
    return float(model.predict(x, batch_size=workload.batch_size, verbose=0).max(1).mean())

"""Make tests/golden/tf.keras-2.15-saturated: models of tf.keras 2.15 whose outputs are saturated, and their losses.

    python scripts/golden_saturated.py FOLDER        in an environment with TensorFlow 2.15

`NAME.h5` or `NAME.keras` is a compiled model; `numbers.json` has, by the file's name, what evaluate gives and the
losses of three batches of training.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf  # type: ignore[import-not-found]  # 2.15, there and nowhere else

keras = tf.keras
layers = keras.layers

X = np.array([[20.0, -20.0], [3.0, 1.0], [-1.0, 2.0]], "float32")
ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], "float32")
LABELS = np.array([1, 0, 1])
MAPS = X.reshape(3, 1, 2, 1)
MAP_TARGETS = ROWS.reshape(3, 1, 2, 1)
KERNEL = np.array([[1.0, 0.0], [0.5, 1.0]], "float32")


def dense(activation, loss, metrics=()):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2, activation=activation, use_bias=False)])
    model.set_weights([KERNEL])
    return model, loss, list(metrics)


def by_layer(layer, loss):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2, use_bias=False), layer])
    model.set_weights([KERNEL])
    return model, loss, []


def maps(loss):
    model = keras.Sequential([keras.Input((1, 2, 1)), layers.Conv2D(1, 1, activation="sigmoid", use_bias=False)])
    model.set_weights([np.full((1, 1, 1, 1), 1.25, "float32")])
    return model, loss, ["binary_accuracy"]


MODELS = {
    "softmax.h5": dense("softmax", "categorical_crossentropy", ["acc", "categorical_crossentropy"]),
    "softmax.keras": dense("softmax", "categorical_crossentropy", [keras.metrics.AUC(name="auc")]),
    "labels.h5": dense("softmax", "sparse_categorical_crossentropy"),
    "layer.h5": by_layer(layers.Softmax(), "categorical_crossentropy"),
    "activation.keras": by_layer(layers.Activation("sigmoid"), keras.losses.BinaryCrossentropy()),
    "sigmoid.h5": dense("sigmoid", "binary_crossentropy", [keras.metrics.Precision(name="precision")]),
    "sigmoid_of_classes.h5": dense("sigmoid", "categorical_crossentropy"),
    "softmax_of_bits.h5": dense("softmax", "binary_crossentropy"),
    "smoothed.keras": dense("softmax", keras.losses.CategoricalCrossentropy(label_smoothing=0.1)),
    "focal.keras": dense("sigmoid", keras.losses.BinaryFocalCrossentropy()),
    "maps.h5": maps("binary_crossentropy"),
}


if __name__ == "__main__":
    folder, numbers = Path(sys.argv[1]), {}
    folder.mkdir(exist_ok=True)
    for name, (model, loss, metrics) in MODELS.items():
        model.compile(keras.optimizers.SGD(0.01), loss, metrics=metrics)
        x, y = (MAPS, MAP_TARGETS) if name.startswith("maps") else (X, LABELS if name.startswith("labels") else ROWS)
        model.train_on_batch(x, 0 * y)  # the metrics are made
        model.set_weights([np.full((1, 1, 1, 1), 1.25)] if name.startswith("maps") else [KERNEL])
        model.save(folder / name)
        found = [np.ravel(model.evaluate(x, y, verbose=0)).tolist()]
        found += [np.ravel(model.train_on_batch(x, y))[:1].tolist() for _ in range(3)]
        numbers[name] = found
    (folder / "numbers.json").write_text(json.dumps(numbers))

"""Make tests/golden/mixed-precision: models of genuine Keras under mixed policies, and what they compute.

    KERAS_BACKEND=torch python scripts/golden_mixed.py    # with Keras 3.15.0 on torch: the .keras files
    python scripts/golden_mixed.py tf_keras               # with tf_keras 2.21: the .h5 files

A file is a compiled model after two steps. `<name>.json` has the input, the output of every layer with its type, and
the losses of further steps with plain gradient descent.
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np

keras = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "keras")
layers, legacy = keras.layers, keras.__name__ == "tf_keras"
TARGET = Path(__file__).parent.parent / "tests" / "golden" / "mixed-precision"
SHAPES = {"mlp": (6,), "convolution": (8, 8, 3), "recurrent": (7,), "attention": (5, 8), "float32 end": (6,)}


def mlp(x):
    x = layers.Dense(8, activation="relu", kernel_regularizer="l2")(x)
    x = layers.Dropout(0.0)(x)
    return layers.Dense(3, activation="softmax")(x)


def convolution(x):
    x = layers.Conv2D(4, 3, activation="relu")(x)
    x = layers.BatchNormalization()(x)
    x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    return layers.Dense(3, activation="softmax")(x)


def recurrent(x):
    x = layers.Embedding(20, 6)(x)
    x = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(x)
    x = layers.GRU(5)(x)
    return layers.Dense(3, activation="softmax")(x)


def attention(x):
    y = layers.MultiHeadAttention(2, 4)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    x = layers.GlobalAveragePooling1D()(layers.TimeDistributed(layers.Dense(6, activation="gelu"))(x))
    return layers.Dense(3, activation="softmax")(x)


def float32_end(x):
    x = layers.Dense(8, activation="relu", dtype="float32")(x)
    x = layers.Dense(3)(x)
    return layers.Activation("softmax", dtype="float32")(x)


def made(name, policy):
    """A model, its input and its targets."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(7)
    keras.mixed_precision.set_global_policy(policy) if legacy else keras.config.set_dtype_policy(policy)
    inputs = keras.Input(SHAPES[name], dtype="int32" if name == "recurrent" else "float32")
    model = keras.Model(inputs, globals()[name.replace(" ", "_")](inputs))
    draws = np.random.default_rng(3)
    x = draws.integers(0, 20, (8, 7)) if name == "recurrent" else draws.normal(size=(8, *SHAPES[name]))
    return model, x.astype("int32" if name == "recurrent" else "float32"), np.eye(3, dtype="float32")[np.arange(8) % 3]


def listed(values):
    return np.asarray(values, np.float64).round(6).tolist()


def numpy(tensor):
    return np.asarray(tensor.numpy() if legacy else keras.ops.convert_to_numpy(keras.ops.cast(tensor, "float32")))


def main():
    names = ("mlp", "recurrent") if legacy else SHAPES
    for policy in ("mixed_float16", "mixed_bfloat16"):
        for name in names:
            model, x, y = made(name, policy)
            model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "categorical_crossentropy")
            model.train_on_batch(x, y)
            model.train_on_batch(x, y)
            path = TARGET / f"{keras.__name__}-{name}-{policy}".replace(" ", "-")
            model.save(path.with_suffix(".h5" if legacy else ".keras"))
            found = [layer.output for layer in model.layers]
            values = keras.Model(model.inputs, found)(x, training=False)
            types = [
                keras.backend.standardize_dtype(value.dtype) if not legacy else value.dtype.name for value in values
            ]
            losses = [float(model.train_on_batch(x, y)) for _ in range(3)]
            record = {
                "input": x.tolist() if name == "recurrent" else listed(x),
                "layers": [layer.name for layer in model.layers],
                "types": types,
                "output": listed(numpy(values[-1])),
                "losses": losses,
            }
            path.with_suffix(".json").write_text(json.dumps(record))


main()

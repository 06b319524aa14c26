"""Weights in shards, and a model as a folder: what is written, and what loading them gives."""

import json
import os
import tempfile

import numpy as np

X = np.linspace(-1, 1, 8).reshape(2, 4).astype("float32")
TARGETS = np.ones((2, 2), "float32")


def built(keras, shift=0):
    inputs = keras.Input((4,))
    hidden = keras.layers.Reshape((3, 1))(keras.layers.Dense(3, name="first")(inputs))
    model = keras.Model(inputs, keras.layers.Dense(2, name="last")(keras.layers.LSTM(5, name="lstm")(hidden)))
    for number, weight in enumerate(model.weights):
        size = int(np.prod(weight.shape))
        weight.assign(np.sin(np.arange(size) + number + shift).reshape(tuple(weight.shape)).astype("float32"))
    return model


def case_weights_in_shards(keras):
    shown = {}
    for size in (400, 600, 10_000):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.weights.json")
            keras.saving.save_weights(built(keras), path, max_shard_size=size / 1024**3)
            with open(path) as file:
                index = json.load(file)
            model, other = built(keras, 1), built(keras, 1)
            keras.saving.load_weights(model, path)
            other.load_weights(path, objects_to_skip=[other.get_layer("last")])
            shown[str(size)] = {
                "files": len(os.listdir(folder)),
                "total": float(index["metadata"]["total_size"]),
                "places": sorted(index["weight_map"]),
                "all": model.predict(X, verbose=0),
                "but one": other.predict(X, verbose=0),
            }
    return shown


def case_a_model_as_a_folder(keras):
    model = built(keras)
    model.compile(keras.optimizers.SGD(0.5, momentum=0.5), "mse", metrics=["mae"])
    model.train_on_batch(X, TARGETS)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        keras.saving.save_model(model, path, zipped=False)
        files = sorted(name for name in os.listdir(path) if name != "assets")
        again = keras.saving.load_model(path)
        fresh = keras.saving.load_model(path, compile=False)
    before = again.predict(X, verbose=0)
    again.train_on_batch(X, TARGETS)
    return {"files": files, "before": before, "after": again.predict(X, verbose=0), "compiled": fresh.compiled}

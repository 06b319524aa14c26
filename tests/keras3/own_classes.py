"""A user's classes for Keras 3, and models of them in files: one code for genuine Keras and for this package."""

import json
from pathlib import Path
from typing import Any

import numpy as np

X = np.linspace(-1.0, 1.0, 24, dtype="float32").reshape(8, 3)
Y = np.linspace(0.0, 1.0, 16, dtype="float32").reshape(8, 2)


def classes(keras: Any) -> tuple[Any, ...]:
    """The user's classes and functions, registered."""
    register, ops = keras.saving.register_keras_serializable, keras.ops

    @register(package="mine")
    class Scale(keras.layers.Layer):
        def __init__(self, factor=2.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def build(self, input_shape):
            self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
            self.built = True

        def call(self, inputs):
            return inputs * self.scale * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    @register(package="mine")
    class Twice(keras.layers.Layer):
        def __init__(self, inner, **kwargs):
            super().__init__(**kwargs)
            self.inner = inner

        def build(self, input_shape):
            if not self.inner.built:
                self.inner.build(input_shape)
            self.built = True

        def call(self, inputs):
            return self.inner(self.inner(inputs))

        def get_config(self):
            return {**super().get_config(), "inner": keras.saving.serialize_keras_object(self.inner)}

        @classmethod
        def from_config(cls, config):
            config = dict(config)
            return cls(keras.saving.deserialize_keras_object(config.pop("inner")), **config)

    @register(package="mine", name="Wide")
    class Wider(keras.layers.Dense):
        pass

    @register(package="mine")
    def halved(x):
        return x / 2

    @register(package="mine")
    class Fourth(keras.losses.Loss):
        def __init__(self, power=4, **kwargs):
            super().__init__(**kwargs)
            self.power = power

        def call(self, y_true, y_pred):
            return ops.mean((y_pred - y_true) ** self.power, axis=-1)

        def get_config(self):
            return {**super().get_config(), "power": self.power}

    @register(package="mine")
    class Spread(keras.metrics.Metric):
        def __init__(self, name="spread", **kwargs):
            super().__init__(name=name, **kwargs)
            self.total = self.add_weight(name="total", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign(self.total + ops.sum(ops.abs(y_pred)))

        def result(self):
            return self.total

    @register(package="mine")
    def gap(y_true, y_pred):
        return ops.mean(ops.abs(y_true - y_pred), axis=-1)

    return Scale, Twice, Wider, halved, Fourth, Spread, gap


def models(keras: Any) -> dict[str, Any]:
    """Compiled models by name, of the user's classes."""
    Scale, Twice, Wider, halved, Fourth, Spread, gap = classes(keras)
    dense, optimizer = keras.layers.Dense, keras.optimizers.Adam
    inputs = keras.Input((3,), name="inputs")
    x = Scale(1.5, name="scaled")(dense(3, activation=halved, name="first")(inputs))
    x = Twice(dense(3, activation="tanh", name="inner"), name="twice")(x)
    functional = keras.Model(inputs, Wider(2, kernel_regularizer="l2", name="wide")(x), name="functional")
    functional.compile(optimizer(0.01), Fourth(), metrics=["mae", gap])
    stacked = keras.Sequential([keras.Input((3,)), dense(3, name="in")], name="stacked")
    outer = keras.Sequential([keras.Input((3,)), Twice(stacked, name="twice"), dense(2, name="out")], name="outer")
    outer.compile(keras.optimizers.SGD(0.1, momentum=0.9), gap, metrics=[Spread()])
    return {"functional": functional, "sequential": outer}


def facts(model: Any) -> dict[str, Any]:
    """Predictions, the loss and metrics, and predictions after one more epoch."""
    found = {"predictions": model.predict(X, verbose=0).tolist()}
    found["evaluated"] = model.evaluate(X, Y, batch_size=4, verbose=0, return_dict=True)
    model.fit(X, Y, batch_size=4, shuffle=False, verbose=0)
    return {**found, "trained": model.predict(X, verbose=0).tolist()}


def write(keras: Any, folder: Path) -> None:
    """Train the models a little, and write each to a file, with what it says from there on."""
    folder.mkdir(parents=True, exist_ok=True)
    keras.utils.set_random_seed(1)
    for name, model in models(keras).items():
        model.fit(X, Y, batch_size=4, shuffle=False, verbose=0)
        model.save(folder / f"{name}.keras")
        (folder / f"{name}.json").write_text(json.dumps(facts(model)))


def differences(keras: Any, folder: Path) -> dict[str, float]:
    """How far the models of a folder's files are from what was written beside."""
    classes(keras)
    return {path.stem: _difference(facts(keras.models.load_model(path)), path) for path in folder.glob("*.keras")}


def _difference(found: dict[str, Any], path: Path) -> float:
    expected = json.loads(path.with_suffix(".json").read_text())
    assert sorted(found["evaluated"]) == sorted(expected["evaluated"]), (found["evaluated"], expected["evaluated"])
    gaps = [abs(found["evaluated"][name] - value) for name, value in expected["evaluated"].items()]
    arrays = [(np.array(found[name]), np.array(expected[name])) for name in ("predictions", "trained")]
    return max(*gaps, *(float(np.abs(one - other).max()) for one, other in arrays))

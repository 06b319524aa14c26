"""Scripts of strangers: models with optimizers, losses and metrics of their own, written to a file and trained on."""

import os
import tempfile

import numpy as np


def ramp(*shape):
    return (0.4 * np.sin(0.7 * np.arange(np.prod(shape)))).reshape(shape).astype("float32")


def model_with(keras, optimizer, loss="mse", metrics=None):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="d")])
    model.set_weights([ramp(3, 2), ramp(2)])
    model.compile(optimizer, loss, metrics=metrics)
    model.fit(ramp(8, 3), ramp(8, 2), batch_size=4, epochs=2, shuffle=False, verbose=0)
    return model


def read_again(keras, model, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        return keras.models.load_model(path, **options)


def trained_on(model):
    history = model.fit(ramp(8, 3), ramp(8, 2), batch_size=4, shuffle=False, verbose=0).history
    return {
        "class": type(model.optimizer).__name__,
        "options": sorted(model.optimizer.get_config()),
        "steps": int(model.optimizer.iterations),
        "history": {name: [float(value) for value in values] for name, values in history.items()},
        "weights": model.get_weights(),
    }


def damped(keras):
    """An optimizer of a user's, with an option of its own."""

    class Damped(keras.optimizers.SGD):
        def __init__(self, learning_rate=0.1, damping=0.5, name="damped", **options):
            super().__init__(learning_rate, name=name, **options)
            self.damping = damping

        def get_config(self):
            return {**super().get_config(), "damping": self.damping}

        def update_step(self, gradient, variable, learning_rate):
            super().update_step(gradient * self.damping, variable, learning_rate)

    return Damped


def case_registered_optimizer_in_a_file(keras):
    found = {}
    for package in ("Custom", "strangers"):
        kind = keras.saving.register_keras_serializable(package=package)(damped(keras))
        model = model_with(keras, kind(0.2, damping=0.25, momentum=0.9, clipnorm=1.0))
        again = read_again(keras, model)
        config = again.optimizer.get_config()
        found[package] = [trained_on(again), config["damping"], config["momentum"], config["clipnorm"], config["name"]]
    return found


def case_optimizer_among_custom_objects(keras):
    kind = damped(keras)
    model = model_with(keras, kind(0.2, damping=0.25, global_clipnorm=0.5))
    again = read_again(keras, model, custom_objects={"Damped": kind})
    return [trained_on(again), again.optimizer.damping, again.optimizer.get_config()["global_clipnorm"]]

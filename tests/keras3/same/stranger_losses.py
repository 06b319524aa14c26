"""Models whose own `compute_loss` compares one target with a dict of outputs."""

from typing import Any

import numpy as np


def ramp(shape: tuple[int, ...]) -> np.ndarray:
    """Values between -0.4 and 0.5."""
    return np.linspace(-0.4, 0.5, int(np.prod(shape)), dtype="float32").reshape(shape)


def model_of(keras):
    class Classifier(keras.Model):
        def __init__(self):
            super().__init__()
            self.mean, self.spread = keras.layers.Dense(2, name="mean"), keras.layers.Dense(2, name="spread")
            self.scores = keras.layers.Dense(3, activation="softmax", name="scores")
            self.divergence = keras.metrics.Mean(name="divergence")

        def call(self, x):
            mean = self.mean(x)
            return {"mean": mean, "log_variance": self.spread(x), "scores": self.scores(mean)}

        def compute_loss(self, x=None, y=None, y_pred: Any = None, sample_weight=None):
            ops, mean, spread = keras.ops, y_pred["mean"], y_pred["log_variance"]
            divergence = ops.mean(ops.sum(ops.square(mean) + ops.exp(spread) - 1 - spread, axis=1)) / 2
            self.divergence.update_state(divergence)
            return divergence + ops.mean(keras.losses.categorical_crossentropy(y, y_pred["scores"]))

    model = Classifier()
    model(np.zeros((1, 4), "float32"))
    model.set_weights([ramp(weight.shape) for weight in model.get_weights()])
    model.compile(optimizer=keras.optimizers.Adam(0.01))
    return model


def case_one_target_for_a_dict_of_outputs(keras):
    model, x, y = model_of(keras), ramp((12, 4)), np.eye(3, dtype="float32")[np.arange(12) % 3]
    history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return {"loss": history["loss"], "scores": model.predict(x[:3], verbose=0)["scores"]}


def identity_loss(y_true, y_pred):
    return y_pred


def case_an_output_that_is_the_loss_of_each_sample(keras):
    inputs = keras.Input((4,))
    squared = keras.layers.Lambda(lambda x: keras.ops.mean(keras.ops.square(x), axis=-1), output_shape=())
    model = keras.Model(inputs, squared(keras.layers.Dense(3, name="inner")(inputs)))
    model.set_weights([ramp(weight.shape) for weight in model.get_weights()])
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=identity_loss)
    x, one_axis, weights = ramp((8, 4)), np.zeros(8, "float32"), np.linspace(0.5, 2, 8, dtype="float32")
    return [
        model.train_on_batch(x, one_axis, sample_weight=weights),
        model.train_on_batch(x, one_axis[:, None]),
        model.fit(x, one_axis, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"],
    ]


def case_the_activity_regularizer_of_a_layer_of_ones_own(keras):
    class Twice(keras.layers.Layer):
        def build(self, input_shape):
            self.inner = keras.layers.Dense(2, activity_regularizer=self.activity_regularizer)
            self.inner.build(input_shape)

        def call(self, x):
            return self.inner(x) * 2

    x, results = ramp((3, 4)), []
    for layer in (Twice(name="plain"), Twice(name="penalized", activity_regularizer="l2")):
        layer.build((None, 4))
        layer.set_weights([ramp(weight.shape) for weight in layer.get_weights()])
        results.append({"output": keras.ops.convert_to_numpy(layer(x)), "is_none": layer.activity_regularizer is None})
    return results

"""The names of what runs report, the metric objects of a model, and learning rates as logs and configs have them."""

from typing import Any

import numpy as np


def ramp(*shape):
    return (0.4 * np.sin(0.7 * np.arange(np.prod(shape)))).reshape(shape).astype("float32")


def two_outputs(keras, form):
    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = keras.layers.Dense(2), keras.layers.Dense(1)

        def call(self, inputs):
            outputs = self.first(inputs), self.second(inputs)
            return dict(zip("ab", outputs, strict=True)) if form is dict else form(outputs)

    model = Two()
    model(ramp(2, 3))
    model.set_weights([ramp(*weight.shape) for weight in model.get_weights()])
    targets = (ramp(8, 2), ramp(8, 1))
    return model, dict(zip("ab", targets, strict=True)) if form is dict else targets


def floats(numbers):
    return {name: np.asarray(value, "float64").tolist() for name, value in numbers.items()}


def reported(model, targets):
    x = ramp(8, 3)
    history = model.fit(x, targets, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return {
        "history": floats(history),
        "dict": floats(model.evaluate(x, targets, verbose=0, return_dict=True)),
        "list": [float(each) for each in model.evaluate(x, targets, verbose=0)],
        "batch": floats(model.train_on_batch(x, targets, return_dict=True)),
        "results": {name: float(value) for name, value in model.get_metrics_result().items()},
        "names": [model.metrics_names, [each.name for each in model.metrics]],
    }


def case_outputs_of_own_code(keras):
    """Outputs in a list or tuple have no names: their losses have those of the functions, a second metric a number."""
    found = {}
    for form in (tuple, list, dict):
        named = form is dict
        for loss in ("mse", ["mse", "mae"], [keras.losses.Huber(name="far"), keras.losses.mean_squared_error]):
            for metrics in (None, [["mae"], ["mae", keras.metrics.CosineSimilarity(name="cosine")]]):
                model, targets = two_outputs(keras, form)
                losses = dict(zip("ab", loss, strict=True)) if named and isinstance(loss, list) else loss
                counted = dict(zip("ab", metrics, strict=True)) if named and metrics else metrics
                model.compile(keras.optimizers.SGD(0.1), losses, metrics=counted)
                kind = loss if isinstance(loss, str) else type(loss[0]).__name__
                found[f"{form.__name__} {kind} {metrics is not None}"] = reported(model, targets)
    return found


def functional(keras):
    inputs = keras.Input((3,))
    outputs = [keras.layers.Dense(2, name="p")(inputs), keras.layers.Dense(1, name="q")(inputs)]
    model = keras.Model(inputs, outputs)
    model.set_weights([ramp(*weight.shape) for weight in model.get_weights()])
    return model


def states(model):
    return [[each.name, [float(state.numpy()) for state in each.variables]] for each in model.metrics]


def case_metric_objects(keras):
    model, found = functional(keras), {}
    found["not compiled"] = states(model)
    model.compile("sgd", "mse", metrics={"p": ["mae", keras.metrics.CosineSimilarity(name="c")], "q": ["mse"]})
    found["compiled"] = states(model)
    x, targets = ramp(8, 3), [ramp(8, 2), ramp(8, 1)]
    model.fit(x, targets, batch_size=4, shuffle=False, verbose=0)
    found["after fit"] = states(model), [each.name for each in model.metrics[1].metrics]
    found["result"] = floats(model.metrics[1].result())
    model.evaluate(x[:4], [each[:4] for each in targets], verbose=0)
    found["after evaluate"] = states(model)
    model.reset_metrics()
    found["reset"] = states(model)
    return found


def case_metrics_counted_by_a_step(keras):
    """The loop over `metrics` that Keras's guides show."""

    class Stepping(keras.Model):
        def train_step(self, data):
            x, y = data
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
            self.zero_grad()
            loss.backward()
            weights = self.trainable_weights
            self.optimizer.apply([each.value.grad for each in weights], weights)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred)
            return {metric.name: metric.result() for metric in self.metrics}

    inputs = keras.Input((3,))
    model = Stepping(inputs, keras.layers.Dense(2)(inputs))
    model.set_weights([ramp(*weight.shape) for weight in model.get_weights()])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae", keras.metrics.CosineSimilarity(name="c")])
    history = model.fit(ramp(8, 3), ramp(8, 2), batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return floats(history), model.metrics_names


def rates_of(keras, callback):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    history = model.fit(ramp(8, 3), ramp(8, 2), epochs=3, verbose=0, callbacks=[callback]).history
    optimizer = model.optimizer
    numbers = [*history["learning_rate"], float(optimizer.learning_rate), optimizer.get_config()["learning_rate"]]
    return [repr(each) for each in numbers]


def case_learning_rates(keras):
    """A rate is a number of float32, to the last digit."""
    seen = []
    callbacks = {
        "schedule": keras.callbacks.LearningRateScheduler(lambda epoch, rate: seen.append(repr(rate)) or rate * 0.9),
        "plateau": keras.callbacks.ReduceLROnPlateau("loss", factor=0.3, patience=0, min_delta=100.0),
    }
    found = {name: rates_of(keras, callback) for name, callback in callbacks.items()}
    set_later: Any = keras.optimizers.Adam(1.0)
    found["whole"] = repr(set_later.get_config()["learning_rate"])
    set_later.learning_rate = 0.3
    found["set"] = repr(set_later.get_config()["learning_rate"])
    rate: Any = set_later.learning_rate
    rate.assign(0.7)
    found["assigned"] = repr(set_later.get_config()["learning_rate"]), seen
    found["defaults"] = {
        name: repr(getattr(keras.optimizers, name)().get_config()["learning_rate"])
        for name in ("Adam", "AdamW", "Adagrad", "Nadam", "RMSprop", "SGD", "Lion", "Ftrl")
    }
    return found

"""Runs of models: generators, epochs of a set number of batches, data of another rank, penalties, configs, copies."""

import warnings

import numpy as np

X = np.arange(24, dtype="float32").reshape(6, 4) / 10
Y = np.arange(6, dtype="float32").reshape(6, 1)


def own_class(keras, **options):
    class Own(keras.Model):
        def __init__(self, units=1, **given):
            super().__init__(**given)
            self.dense = keras.layers.Dense(units, kernel_initializer="ones", **options)

        def call(self, x):
            return self.dense(x)

    return Own


def batches():
    for start in (0, 2, 4):
        yield X[start : start + 2], Y[start : start + 2]


def seen_by_steps(keras, model, *data, **options):
    """The number of batches in each epoch, and the history."""
    counts = []

    class Count(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            counts.append(0)

        def on_train_batch_end(self, batch, logs=None):
            counts[-1] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of epochs with fewer batches
        history = model.fit(*data, callbacks=[Count()], shuffle=False, verbose=0, **options).history
    return {"batches": counts, "history": {name: [float(each) for each in found] for name, found in history.items()}}


def case_a_generator_builds_the_model_and_loses_no_batch(keras):
    model = own_class(keras)()
    model.compile("sgd", "mse")
    seen = seen_by_steps(keras, model, batches())
    return [seen, np.asarray(model.predict(((x,) for x in (X[:2], X[2:])), verbose=0))]


def case_epochs_end_where_the_data_ends(keras):
    found = []
    for steps in (1, 2, 3, 4):
        model = own_class(keras)()
        model.compile("sgd", "mse")
        found.append(seen_by_steps(keras, model, X, Y, batch_size=2, epochs=4, steps_per_epoch=steps))
    return found


def case_inputs_of_another_rank(keras):
    images = keras.Sequential(
        [keras.Input((2, 2, 1)), keras.layers.Flatten(), keras.layers.Dense(1, kernel_initializer="ones")]
    )
    rows = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_initializer="ones")])
    return [
        np.asarray(images.predict(X.reshape(6, 2, 2), verbose=0)),
        keras.ops.convert_to_numpy(images(X.reshape(6, 2, 2))),
        np.asarray(rows.predict(X[..., None], verbose=0)),
        keras.ops.convert_to_numpy(rows(X[..., None])),
    ]


def case_an_activity_regularizer_inside_a_model_of_ones_own(keras):
    model = own_class(keras, activity_regularizer="l2")()
    model.compile("sgd", "mse")
    return [float(model.fit(X, Y, verbose=0).history["loss"][0]), float(model.evaluate(X, Y, verbose=0))]


def case_metrics_of_several_outputs_by_position(keras):
    inputs = keras.Input((4,))
    outputs = [keras.layers.Dense(1, kernel_initializer="ones", name=name)(inputs) for name in ("a", "b")]
    model = keras.Model(inputs, outputs)
    model.compile("sgd", ["mse", ["mae"]], metrics=["mae", ["mse", "mae"]])
    found = model.evaluate(X, [Y, Y], verbose=0, return_dict=True)
    return {name: float(value) for name, value in found.items()}


def case_outputs_without_a_loss(keras):
    inputs = keras.Input((4,))
    outputs = {name: keras.layers.Dense(1, kernel_initializer="ones", name=name)(inputs) for name in ("a", "b")}
    model = keras.Model(inputs, outputs)
    model.compile("sgd", {"b": "mse"}, metrics={"b": ["mae"]})
    found = model.evaluate(X, {"a": Y, "b": Y + 1}, verbose=0, return_dict=True)
    return {name: float(value) for name, value in found.items()}


def case_a_metric_of_the_model_in_compute_loss(keras):
    class Own(own_class(keras)):
        def __init__(self):
            super().__init__()
            self.twice = keras.metrics.Mean(name="twice")

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            loss = super().compute_loss(x, y, y_pred, sample_weight, training)
            self.twice.update_state(2 * loss + float(training))
            return loss

    model = Own()
    model.compile("sgd", "mse")
    history = model.fit(X, Y, verbose=0).history
    found = model.evaluate(X, Y, verbose=0, return_dict=True)
    return [{name: float(found[name][0]) for name in found} for found in (history,)] + [
        {name: float(value) for name, value in found.items()}
    ]


def case_clones_by_functions_of_ones_own(keras):
    inputs = keras.Input((4,), name="input")
    model = keras.Model(inputs, keras.layers.Dense(2, name="dense")(inputs))

    def renamed(layer):
        return type(layer).from_config({**layer.get_config(), "name": f"{layer.name}_again"})

    sequential = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, name="dense")])
    sequential.compile("sgd", "mse")
    return [
        [layer.name for layer in keras.models.clone_model(each, clone_function=renamed).layers if "dense" in layer.name]
        for each in (model, sequential)
    ] + [keras.models.clone_model(sequential).compiled]


def case_an_endless_run_ends_where_a_callback_says_so(keras):
    class Stop(keras.callbacks.Callback):
        count = 0

        def on_test_batch_end(self, batch, logs=None):
            self.count += 1
            self.model.stop_evaluating = self.count == 3

        def on_predict_batch_end(self, batch, logs=None):
            self.count += 1
            self.model.stop_predicting = self.count == 3

    def endless(*data):
        while True:
            yield data

    model = own_class(keras)()
    model.compile("sgd", "mse")
    stops = Stop(), Stop()
    loss = model.evaluate(endless(X, Y), callbacks=[stops[0]], verbose=0)
    outputs = model.predict(endless(X), callbacks=[stops[1]], verbose=0)
    return [stops[0].count, stops[1].count, float(loss), list(np.shape(outputs))]

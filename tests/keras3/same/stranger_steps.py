"""Steps of one's own: what `fit`, `evaluate`, `train_on_batch` and callbacks report of them; the order of numbers."""

import numpy as np
import torch

ROWS = np.linspace(-1, 1, 40).reshape(10, 4).astype("float32")
TARGETS = ROWS.sum(1, keepdims=True).astype("float32")


def _graph(keras):
    inputs = keras.Input((4,))
    layer = keras.layers.Dense(1, kernel_initializer=keras.initializers.Constant(0.3), name="d")
    return inputs, layer(inputs)


def _step(model, data, report):
    x, y = torch.as_tensor(data[0]), torch.as_tensor(data[1])
    predicted = model(x, training=True)
    loss = torch.mean(torch.square(predicted - y))
    model.zero_grad()
    loss.backward()
    gradients = [variable.value.grad for variable in model.trainable_weights]
    with torch.no_grad():
        model.optimizer.apply(gradients, model.trainable_weights)
    return report(x, y, predicted.detach(), loss.detach())


def _run(keras, model, callbacks=(), **options):
    model.compile(optimizer=keras.optimizers.SGD(0.1), **options)
    settings = {"batch_size": 4, "verbose": 0}
    history = model.fit(
        ROWS, TARGETS, epochs=2, shuffle=False, validation_data=(ROWS, TARGETS), callbacks=list(callbacks), **settings
    ).history
    evaluated = model.evaluate(ROWS, TARGETS, return_dict=True, **settings)
    return {
        "names": list(history),
        "history": history,
        "evaluate": evaluated,
        "order": list(evaluated),
        "on batch": model.train_on_batch(ROWS, TARGETS, return_dict=True),
    }


def case_numbers_of_a_step_are_those_of_its_last_batch(keras):
    seen = []

    class Listener(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append({name: float(value) for name, value in (logs or {}).items()})

    class Own(keras.Model):
        def train_step(self, data):
            return _step(self, data, lambda x, y, predicted, loss: {"total": loss, "mean": predicted.mean()})

        def test_step(self, data):
            x, y = data[:2]
            return {"total": torch.mean(torch.abs(self(x, training=False) - y))}

    return [_run(keras, Own(*_graph(keras)), [Listener()]), seen]


def case_a_mean_under_another_name_than_its_own(keras):
    class Own(keras.Model):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.tracker = keras.metrics.Mean(name="total_loss")

        @property
        def metrics(self):
            return [self.tracker]

        def train_step(self, data):
            def report(x, y, predicted, loss):
                self.tracker.update_state(loss)
                return {"loss": self.tracker.result()}

            return _step(self, data, report)

        def test_step(self, data):
            x, y = data[:2]
            self.tracker.update_state(torch.mean(torch.abs(self(x, training=False) - y)))
            return {"loss": self.tracker.result()}

    return _run(keras, Own(*_graph(keras)))


def case_the_step_of_the_package_inside_ones_own(keras):
    class Own(keras.Model):
        def train_step(self, data):
            return {**super().train_step(data), "rows": keras.ops.shape(data[0])[0]}

    return _run(keras, Own(*_graph(keras)), loss="mse", metrics=["mse", keras.metrics.MeanAbsoluteError(name="mm")])


def case_compute_metrics_inside_a_step(keras):
    class Own(keras.Model):
        def train_step(self, data):
            def report(x, y, predicted, loss):
                self._loss_tracker.update_state(loss, sample_weight=len(x))
                return self.compute_metrics(x, y, predicted, None)

            return _step(self, data, report)

    return _run(keras, Own(*_graph(keras)), loss="mse", metrics=["mae"])


def case_metrics_in_a_dict_inside(keras):
    class Own(keras.Model):
        def train_step(self, data):
            return _step(self, data, lambda x, y, predicted, loss: {"a": loss, "more": {"b": 2 * loss}})

        def test_step(self, data):
            return {"a": torch.mean(self(data[0], training=False))}

    return _run(keras, Own(*_graph(keras)))


def case_compute_loss_and_compute_metrics_of_ones_own(keras):
    class Own(keras.Model):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.mine = keras.metrics.Mean(name="mine")

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            loss = keras.ops.mean(keras.ops.abs(keras.ops.subtract(y, y_pred)))
            loss = loss + 0.1 * keras.ops.sum(keras.ops.square(self.trainable_variables[0]))
            self.mine.update_state(loss)
            return loss

        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            found = super().compute_metrics(x, y, y_pred, sample_weight)
            return {**found, "extra": keras.ops.mean(y_pred.detach())}

    return _run(keras, Own(*_graph(keras)), metrics=["mae"])


def case_metrics_without_a_loss_beside_compute_loss(keras):
    class Own(keras.Model):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            return keras.ops.mean(keras.ops.abs(keras.ops.subtract(y, y_pred)))

    return _run(keras, Own(*_graph(keras)), metrics=["mse", "mae"])


def case_train_on_batch_counts_each_batch_alone(keras):
    model = keras.Model(*_graph(keras))
    model.compile("sgd", "mse", metrics=["mae", keras.metrics.MeanSquaredError(name="again")])
    return [
        model.train_on_batch(ROWS[:5], TARGETS[:5]),
        model.train_on_batch(ROWS[5:], TARGETS[5:]),
        model.test_on_batch(ROWS[:3], TARGETS[:3]),
        model.test_on_batch(ROWS, TARGETS, return_dict=True),
    ]


def case_numbers_of_outputs_in_a_dict(keras):
    inputs = keras.Input((4,))
    outputs = {
        name: keras.layers.Dense(1, kernel_initializer=keras.initializers.Constant(scale), name=name)(inputs)
        for name, scale in (("z", 1.0), ("a", 0.3), ("k", 0.6))
    }
    targets = {"z": TARGETS, "a": 2 * TARGETS, "k": 3 * TARGETS}
    found = []
    for loss in ({"k": "mse", "z": "mae", "a": "mse"}, {"a": "mae", "k": "mse", "z": "mse"}):
        for form in (outputs, list(outputs.values())):
            model = keras.Model(inputs, form)
            model.compile("sgd", loss, metrics={"z": ["mae"], "a": ["mse"]})
            given = targets if form is outputs else list(targets.values())
            found.append(model.evaluate(ROWS, given, verbose=0))
            found.append(list(model.evaluate(ROWS, given, verbose=0, return_dict=True)))
    model = keras.Model(inputs, outputs)
    return [found, list(model.predict(ROWS, verbose=0)), list(model(ROWS)), list(model.predict_on_batch(ROWS))]


def case_names_of_history_in_order(keras):
    model = keras.Model(*_graph(keras))
    model.compile("sgd", "mse", metrics=["mse", "mae", keras.metrics.RootMeanSquaredError(name="a_root")])
    seen = []

    class Listener(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(list(logs))

        def on_test_end(self, logs=None):
            seen.append(list(logs))

    history = model.fit(ROWS, TARGETS, batch_size=5, verbose=0, validation_data=(ROWS, TARGETS), callbacks=[Listener()])
    return [list(history.history), seen]

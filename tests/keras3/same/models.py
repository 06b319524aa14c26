"""Models: what training reports and leaves, custom steps, own layers, several outputs, nested data."""

import numpy as np
import torch

RANDOM = np.random.RandomState(0)
ROWS = RANDOM.randn(20, 4).astype("float32")
NUMBERS = RANDOM.randn(20, 1).astype("float32")
CLASSES = RANDOM.randint(0, 3, 20)
ONE_HOT = np.eye(3, dtype="float32")[CLASSES]
SIGNS = (NUMBERS > 0).astype("float32")
WEIGHTS = RANDOM.uniform(0.1, 2.0, 20).astype("float32")


def _settle(model):
    """Set all weights to fixed numbers."""
    random = np.random.RandomState(1)
    model.set_weights([random.uniform(-0.5, 0.5, array.shape).astype("float32") for array in model.get_weights()])
    return model


def _mlp(keras, units=3, activation="softmax"):
    keras.utils.clear_session()
    layers = [keras.Input((4,)), keras.layers.Dense(5, activation="relu"), keras.layers.Dense(units, activation)]
    return _settle(keras.Sequential(layers))


def _fit(model, x, y, **options):
    history = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0, **options)
    return {"history": history.history, "weights": model.get_weights()}


def case_classes(keras):
    model = _mlp(keras)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return _fit(model, ROWS, CLASSES, validation_split=0.25)


def case_one_hot(keras):
    model = _mlp(keras)
    model.compile(
        keras.optimizers.SGD(0.1, momentum=0.9),
        "categorical_crossentropy",
        metrics=["acc", "categorical_accuracy", "mse"],
    )
    return _fit(model, ROWS, ONE_HOT, class_weight={0: 1.0, 1: 2.0, 2: 0.5})


def case_logits(keras):
    model = _mlp(keras, activation=None)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.RMSprop(), loss, metrics=[keras.metrics.SparseCategoricalAccuracy(name="hits")])
    found = _fit(model, ROWS, CLASSES, sample_weight=WEIGHTS)
    return {**found, "evaluated": model.evaluate(ROWS, CLASSES, verbose=0, return_dict=True)}


def case_signs(keras):
    model = _mlp(keras, 1, "sigmoid")
    model.compile(
        "sgd", keras.losses.BinaryCrossentropy(label_smoothing=0.1), metrics=["accuracy", keras.metrics.AUC(name="auc")]
    )
    return _fit(model, ROWS, SIGNS)


def case_numbers(keras):
    found = {}
    for loss in (
        "mse",
        "mae",
        "huber",
        "log_cosh",
        "hinge",
        "squared_hinge",
        "poisson",
        "mean_squared_logarithmic_error",
    ):
        model = _mlp(keras, 1, "softplus")
        model.compile("sgd", loss, metrics=["mae", "mean_squared_error", "cosine_similarity"])
        found[loss] = _fit(model, ROWS, np.abs(NUMBERS))
    return found


def case_weighted(keras):
    model = _mlp(keras, 1, None)
    model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mse"])
    return _fit(model, ROWS, NUMBERS, sample_weight=WEIGHTS)


def case_optimizers(keras):
    found = {}
    for name in (
        *("sgd", "rmsprop", "adam", "adamw", "adagrad", "adadelta", "adamax", "nadam", "ftrl", "lion", "adafactor"),
    ):
        model = _mlp(keras, 1, None)
        model.compile(name, "mse")
        found[name] = _fit(model, ROWS, NUMBERS)
    return found


def case_clipped(keras):
    found = []
    for options in ({"clipnorm": 0.1}, {"global_clipnorm": 0.1}, {"clipvalue": 0.01}):
        model = _mlp(keras, 1, None)
        model.compile(keras.optimizers.SGD(0.1, **options), "mse")
        found.append(_fit(model, ROWS, NUMBERS))
    return found


def case_penalties(keras):
    keras.utils.clear_session()
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(5, kernel_regularizer="l2", activity_regularizer=keras.regularizers.L1(0.1)),
            keras.layers.ActivityRegularization(l2=0.1),
            keras.layers.Dense(1, kernel_regularizer=keras.regularizers.l1_l2(l2=0.1), kernel_constraint="max_norm"),
        ]
    )
    _settle(model).compile("sgd", "mse")
    return _fit(model, ROWS, NUMBERS)


def case_several_outputs(keras):
    keras.utils.clear_session()
    inputs = keras.Input((4,), name="rows")
    hidden = keras.layers.Dense(5, activation="tanh")(inputs)
    outputs = [keras.layers.Dense(1, name="number")(hidden), keras.layers.Dense(3, "softmax", name="kind")(hidden)]
    model = _settle(keras.Model(inputs, outputs))
    model.compile(
        "sgd",
        {"number": "mse", "kind": "sparse_categorical_crossentropy"},
        loss_weights={"number": 0.5, "kind": 2.0},
        metrics={"number": ["mae"], "kind": ["accuracy"]},
    )
    found = _fit(model, ROWS, {"number": NUMBERS, "kind": CLASSES})
    return {**found, "evaluated": model.evaluate(ROWS, [NUMBERS, CLASSES], verbose=0)}


def case_dicts(keras):
    keras.utils.clear_session()
    inputs = {"b": keras.Input((4,), name="b"), "a": keras.Input((4,), name="a")}
    joined = keras.layers.concatenate([inputs["b"], inputs["a"]])
    model = _settle(keras.Model(inputs, {"y": keras.layers.Dense(1)(joined), "x": keras.layers.Dense(2)(joined)}))
    model.compile("sgd", {"y": "mse", "x": "mae"})
    data = {"a": ROWS, "b": ROWS[::-1].copy()}
    found = _fit(model, data, {"x": np.concatenate([NUMBERS, NUMBERS], -1), "y": NUMBERS})
    return {**found, "predicted": model.predict(data, verbose=0)}


def case_batch_normalization(keras):
    keras.utils.clear_session()
    layers = [keras.Input((4,)), keras.layers.Dense(3), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.layers[0].set_weights([np.ones((4, 3), "float32") * [[1.0], [0.5], [-1.0], [2.0]], np.zeros(3, "float32")])
    model.layers[2].set_weights([np.ones((3, 1), "float32"), np.zeros(1, "float32")])
    model.compile("sgd", "mse")
    return _fit(model, ROWS, NUMBERS, validation_data=(ROWS, NUMBERS))


def case_masks(keras):
    keras.utils.clear_session()
    data = np.random.RandomState(3).randint(0, 5, (20, 6))
    layers = [
        keras.Input((6,), dtype="int32"),
        keras.layers.Embedding(5, 3, mask_zero=True),
        keras.layers.LSTM(4, return_sequences=True),
        keras.layers.Dense(1),
    ]
    model = _settle(keras.Sequential(layers))
    model.compile("sgd", "mse", metrics=["mae"])
    return _fit(model, data, np.random.RandomState(4).randn(20, 6, 1).astype("float32"))


def _own_layers(keras):
    class Scale(keras.layers.Layer):
        def __init__(self, factor=1.0, **options):
            super().__init__(**options)
            self.factor = factor

        def build(self, input_shape):
            self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
            self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False, name="calls")

        def call(self, inputs, training=None):
            if training:
                self.calls.assign_add(1.0)
            self.add_loss(0.1 * keras.ops.mean(inputs**2))
            return inputs * self.scale * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    return Scale


def case_own_layer(keras):
    keras.utils.clear_session()
    scale = _own_layers(keras)
    model = _settle(keras.Sequential([keras.Input((4,)), scale(0.5), keras.layers.Dense(1)]))
    model.layers[0].calls.assign(0.0)
    model.compile("sgd", "mse")
    found = _fit(model, ROWS, NUMBERS)
    return {
        **found,
        "calls": float(keras.ops.convert_to_numpy(model.layers[0].calls)),
        "config": model.layers[0].get_config()["factor"],
    }


def case_own_model(keras):
    keras.utils.clear_session()

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(5, activation="relu")
            self.dropout = keras.layers.Dropout(0.5)
            self.final = keras.layers.Dense(1)

        def call(self, inputs, training=False):
            return self.final(self.hidden(inputs) if training else self.dropout(self.hidden(inputs)))

    model = Own()
    model(ROWS)
    _settle(model).compile("sgd", "mse", metrics=["mae"])
    found = _fit(model, ROWS, NUMBERS)
    return {**found, "name": model.name, "called": keras.ops.convert_to_numpy(model(ROWS))}


def case_own_step(keras):
    keras.utils.clear_session()

    class Own(keras.Model):
        def train_step(self, data):
            x, y = data
            self.zero_grad()
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            loss.backward()
            variables = self.trainable_weights[:]
            gradients = [variable.value.grad for variable in variables]
            with torch.no_grad():
                self.optimizer.apply(gradients, variables)
            return {"loss": loss}

    inputs = keras.Input((4,))
    model = _settle(Own(inputs, keras.layers.Dense(1)(keras.layers.Dense(5, activation="relu")(inputs))))
    model.compile(keras.optimizers.Adam(0.01), "mse")
    return _fit(model, ROWS, NUMBERS)["weights"]  # genuine Keras reports 0 for a loss that its tracker does not count


def case_own_step_with_trackers(keras):
    keras.utils.clear_session()

    class Own(keras.Model):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.tracker = keras.metrics.Mean(name="loss")
            self.error = keras.metrics.MeanAbsoluteError(name="mae")

        def train_step(self, data):
            x, y = data
            self.zero_grad()
            y_pred = self(x, training=True)
            loss = keras.losses.mean_squared_error(y, y_pred).mean()
            loss.backward()
            variables = self.trainable_weights[:]
            with torch.no_grad():
                self.optimizer.apply([variable.value.grad for variable in variables], variables)
            self.tracker.update_state(loss)
            self.error.update_state(y, y_pred)
            return {"loss": self.tracker.result(), "mae": self.error.result()}

        @property
        def metrics(self):
            return [self.tracker, self.error]

    inputs = keras.Input((4,))
    model = _settle(Own(inputs, keras.layers.Dense(1)(inputs)))
    model.compile(optimizer="sgd")
    return _fit(model, ROWS, NUMBERS)


def case_own_step_with_compiled_metrics(keras):
    keras.utils.clear_session()

    class Own(keras.Model):
        def train_step(self, data):
            x, y = data
            self.zero_grad()
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
            loss.backward()
            variables = self.trainable_weights[:]
            with torch.no_grad():
                self.optimizer.apply([variable.value.grad for variable in variables], variables)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred)
            return {metric.name: metric.result() for metric in self.metrics}

    inputs = keras.Input((4,))
    model = _settle(Own(inputs, keras.layers.Dense(1)(inputs)))
    model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
    found = _fit(model, ROWS, NUMBERS)
    return [found["history"]["loss"], found["weights"]]


def case_batches(keras):
    model = _mlp(keras)
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    found = [model.train_on_batch(ROWS[:8], CLASSES[:8]), model.train_on_batch(ROWS[8:], CLASSES[8:], return_dict=True)]
    model.reset_metrics()
    found.append(model.test_on_batch(ROWS, CLASSES, return_dict=True))
    return [found, model.predict_on_batch(ROWS)]


def case_schedule(keras):
    model = _mlp(keras, 1, None)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5)
    model.compile(keras.optimizers.SGD(schedule), "mse")
    return _fit(model, ROWS, NUMBERS)


def case_callbacks(keras):
    model = _mlp(keras, 1, None)
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    seen = []
    log = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append([epoch, sorted(logs)]))
    stop = keras.callbacks.EarlyStopping("val_mae", patience=1, min_delta=10.0)
    found = _fit(model, ROWS, NUMBERS, callbacks=[log, stop], validation_split=0.5)
    return [found["history"], seen]


def case_operations_in_a_graph(keras):
    keras.utils.clear_session()
    inputs = keras.Input((4,))
    hidden = keras.layers.Dense(4)(inputs)
    gated = keras.ops.sigmoid(hidden) * keras.ops.sum(inputs, axis=-1, keepdims=True) + 1.0
    model = _settle(keras.Model(inputs, keras.layers.Dense(1)(gated)))
    model.compile("sgd", "mse")
    return _fit(model, ROWS, NUMBERS)

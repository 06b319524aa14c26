"""Callbacks: by hand on series of numbers, and in small trainings of a linear model that begin with given weights."""

import contextlib
import os
import tempfile
import warnings

import numpy as np

X = np.array([[1.0, 2.0], [0.5, -1.0], [-1.5, 0.5], [2.0, 1.0], [0.0, 1.0], [-1.0, -1.0]], "float32")
Y = (X @ np.array([[1.0], [-2.0]]) + 0.5).astype("float32")
KERNEL, BIAS = np.array([[0.1], [0.2]], "float32"), np.zeros(1, "float32")
FALLING = [1.0, 0.8, 0.85, 0.79, 0.9, 0.9, 0.7, 0.95, 0.95, 0.95, 0.95, 0.6]


def _model(keras, rate=0.05, metrics=(), **options):
    inputs = keras.Input((2,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    model.set_weights([KERNEL, BIAS])
    model.compile(keras.optimizers.SGD(rate, **options), "mse", metrics=list(metrics))
    return model


def _fit(keras, model, *callbacks, epochs=5, batch_size=2, **options):
    options = {"validation_data": (X[:3], Y[:3]), "verbose": 0, "shuffle": False, **options}
    return model.fit(X, Y, batch_size, epochs, callbacks=list(callbacks), **options)


def _fit_quietly(keras, model, *callbacks, **options):
    """The same without warnings, as of a number that is not there, or of what a file does not hold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _fit(keras, model, *callbacks, **options)


def _numbers(history):
    return {name: [float(value) for value in values] for name, values in history.history.items()}


def _weights(model):
    return [np.asarray(weight) for weight in model.get_weights()]


class _Optimizer:
    """An optimizer that has a rate alone, under either name."""

    def __init__(self, rate):
        self.learning_rate = rate

    @property
    def lr(self):
        return self.learning_rate

    @lr.setter
    def lr(self, value):
        self.learning_rate = value


class _Model:
    """A model whose weights are the number of the epoch."""

    def __init__(self, rate=1.0):
        self.stop_training = False
        self.optimizer = _Optimizer(rate)
        self.weights = [np.zeros(1)]

    def get_weights(self):
        return [weight.copy() for weight in self.weights]

    def set_weights(self, weights):
        self.weights = weights


def _run(callback, series, name="val_loss", rate=1.0):
    """Epochs whose numbers are those of a series, until a callback ends them."""
    model, rates = _Model(rate), []
    callback.set_model(model)
    callback.on_train_begin()
    for epoch, value in enumerate(series):
        model.weights = [np.array([epoch + 1.0])]
        callback.on_epoch_begin(epoch)
        callback.on_epoch_end(epoch, {name: value})
        rates.append(float(model.optimizer.learning_rate))
        if model.stop_training:
            break
    callback.on_train_end()
    return model, epoch + 1, rates


# --- by hand ---------------------------------------------------------------------------------------------------------


def case_early_stopping(keras):
    made = keras.callbacks.EarlyStopping
    variants = {
        "default": {},
        "patience": {"patience": 2},
        "long patience": {"patience": 4},
        "delta": {"patience": 2, "min_delta": 0.15},
        "negative delta": {"patience": 2, "min_delta": -0.15},
        "baseline": {"patience": 3, "baseline": 0.75},
        "baseline at once": {"patience": 1, "baseline": 2.0},
        "restored": {"patience": 2, "restore_best_weights": True},
        "restored at the end": {"patience": 99, "restore_best_weights": True},
        "restored, none better than the baseline": {"patience": 2, "baseline": 0.1, "restore_best_weights": True},
        "later": {"patience": 1, "start_from_epoch": 4},
        "later, restored": {"patience": 2, "start_from_epoch": 7, "restore_best_weights": True},
        "rising": {"patience": 2, "mode": "max"},
        "rising, restored": {"patience": 3, "mode": "max", "min_delta": 0.1, "restore_best_weights": True},
    }
    found = {}
    for name, options in variants.items():
        callback = made(monitor="val_loss", **options)
        model, epochs, _ = _run(callback, FALLING)
        state = [float(callback.best), callback.wait, callback.stopped_epoch, callback.best_epoch]
        found[name] = [epochs, model.stop_training, *state, float(model.weights[0][0])]
    callback = made("val_accuracy", 0.01, 2, 0, "max", None, True, 1)
    model, epochs, _ = _run(callback, [0.5, 0.6, 0.605, 0.59, 0.9], "val_accuracy")
    return {**found, "by place": [epochs, float(callback.best), float(model.weights[0][0])]}


def case_plateau(keras):
    made = keras.callbacks.ReduceLROnPlateau
    variants = {
        "default": {},
        "patience": {"patience": 2},
        "factor": {"patience": 1, "factor": 0.5},
        "cooldown": {"patience": 1, "cooldown": 2, "factor": 0.5},
        "least": {"patience": 1, "min_lr": 0.2, "factor": 0.5},
        "delta": {"patience": 2, "min_delta": 0.2},
        "no patience": {"patience": 0, "factor": 0.5},
        "rising": {"patience": 2, "mode": "max", "factor": 0.5},
    }
    found = {}
    for name, options in variants.items():
        callback = made(**options)
        _, epochs, rates = _run(callback, FALLING)
        found[name] = [epochs, rates, float(callback.best), callback.wait, callback.cooldown_counter]
    _, _, rates = _run(made("loss", 0.1, 1, 0, "min", 0.0, 1, 0.05), FALLING, "loss")
    return {**found, "by place": rates}


def case_schedules_by_hand(keras):
    made = keras.callbacks.LearningRateScheduler
    _, _, halved = _run(made(lambda epoch, rate: rate * 0.5), FALLING)
    _, _, by_epoch = _run(made(lambda epoch: 1.0 / (epoch + 1)), FALLING)
    return [halved, by_epoch]


def case_attributes(keras):
    c = keras.callbacks
    stopping, plateau = c.EarlyStopping(), c.ReduceLROnPlateau()
    checkpoint, backup = c.ModelCheckpoint("a.keras"), c.BackupAndRestore("folder")
    csv, remote = c.CSVLogger("log.csv"), c.RemoteMonitor()
    return [
        [stopping.monitor, stopping.min_delta, stopping.patience, stopping.verbose, stopping.mode, stopping.baseline],
        [stopping.restore_best_weights, stopping.start_from_epoch],
        [plateau.monitor, plateau.factor, plateau.patience, plateau.mode, plateau.min_delta, plateau.cooldown],
        [plateau.min_lr, plateau.cooldown_counter, plateau.wait],
        [checkpoint.filepath, checkpoint.monitor, checkpoint.save_best_only, checkpoint.save_freq],
        [str(backup.backup_dir), backup.save_freq, backup.double_checkpoint, backup.delete_checkpoint],
        [csv.filename, csv.sep, csv.append],
        [remote.root, remote.path, remote.field, remote.headers, remote.send_as_json],
        [isinstance(each, c.Callback) for each in (stopping, plateau, checkpoint, backup, csv, remote)],
        [c.SwapEMAWeights().swap_on_epoch, c.TerminateOnNaN().raise_error, c.History().history],
    ]


def case_refused(keras):
    c = keras.callbacks
    attempts = {
        "factor": lambda: c.ReduceLROnPlateau(factor=1.0),
        "save_freq": lambda: c.ModelCheckpoint("a.keras", save_freq="day"),
        "suffix": lambda: c.ModelCheckpoint("a.txt"),
        "suffix of weights": lambda: c.ModelCheckpoint("a.keras", save_weights_only=True),
        "folder": lambda: c.BackupAndRestore(""),
        "freq of backups": lambda: c.BackupAndRestore("folder", save_freq="day"),
        "schedule": lambda: _fit(keras, _model(keras), c.LearningRateScheduler(lambda epoch, rate: "fast")),
        "unknown direction": lambda: _run(c.EarlyStopping("val_something"), FALLING, "val_something"),
        "averages": lambda: _fit(keras, _model(keras), c.SwapEMAWeights()),
        "profile_batch": lambda: c.TensorBoard(profile_batch=2),
    }
    found = {}
    for name, attempt in attempts.items():
        try:
            attempt()
        except ValueError:
            found[name] = "ValueError"
    return found


def case_lists(keras):
    c = keras.callbacks
    seen = []
    noted = c.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(["epoch", epoch, dict(logs)]),
        on_train_begin=lambda logs: seen.append(["begin"]),
        on_train_batch_end=lambda batch, logs: seen.append(["batch", batch, dict(logs)]),
    )
    model = _model(keras)
    hooks = c.CallbackList([noted], add_history=True, model=model, epochs=2, steps=3, verbose=0)
    hooks.on_train_begin()
    hooks.on_epoch_begin(0)
    hooks.on_train_batch_begin(0)
    hooks.on_train_batch_end(0, {"loss": 1.5})
    hooks.on_epoch_end(0, {"loss": 1.0})
    hooks.on_train_end()
    history = hooks.callbacks[-1]
    return {
        "seen": seen,
        "kinds": [type(each).__name__ for each in hooks.callbacks],
        "history": [history.epoch, history.history, model.history is history],
        "params": [noted.params["epochs"], noted.params["steps"], noted.model is model],
        "bar": [
            type(each).__name__ for each in c.CallbackList(add_progbar=True, epochs=1, steps=1, verbose=0).callbacks
        ],
        "none": len(c.CallbackList().callbacks),
    }


# --- in fit ----------------------------------------------------------------------------------------------------------


def case_history(keras):
    model = _model(keras, metrics=["mae"])
    history = _fit(keras, model)
    return {
        "numbers": _numbers(history),
        "epoch": history.epoch,
        "of the model": model.history is history,
        "params": [history.params["epochs"], history.params["verbose"]],
    }


def case_accuracy(keras):
    inputs = keras.Input((2,))
    layer = keras.layers.Dense(3, "softmax")
    model = keras.Model(inputs, layer(inputs))
    model.set_weights([np.array([[0.1, 0.5, -0.2], [0.3, -0.4, 0.2]]), np.zeros(3)])
    model.compile(keras.optimizers.SGD(0.5), "sparse_categorical_crossentropy", metrics=["accuracy"])
    labels = np.array([0, 1, 2, 1, 0, 2])
    stop = keras.callbacks.EarlyStopping("val_accuracy", patience=3)
    history = model.fit(
        X, labels, 3, 20, verbose=0, shuffle=False, validation_data=(X, labels), callbacks=[stop]
    )  # fmt: skip
    return [_numbers(history), stop.stopped_epoch, float(stop.best)]


def case_early_stopping_in_fit(keras):
    found = {}
    for name, rate, options in (
        ("diverging", 0.9, {"patience": 1, "restore_best_weights": True}),
        ("slow", 0.01, {"patience": 0, "min_delta": 0.5}),
        ("of the loss", 0.9, {"monitor": "loss", "patience": 0}),
    ):
        stop, model = keras.callbacks.EarlyStopping(**{"monitor": "val_loss", **options}), _model(keras, rate)
        history = _fit(keras, model, stop, epochs=8)
        found[name] = [history.epoch, stop.stopped_epoch, float(stop.best), _weights(model), model.stop_training]
    return found


def case_rates_in_fit(keras):
    model = _model(keras)
    scheduled = _numbers(_fit(keras, model, keras.callbacks.LearningRateScheduler(lambda e, rate: rate * 0.5)))
    plateau = keras.callbacks.ReduceLROnPlateau("loss", 0.5, 1, min_delta=0.5)
    reduced = _numbers(_fit(keras, _model(keras), plateau, epochs=8))
    return {"scheduled": scheduled, "reduced": reduced, "rate": float(model.optimizer.learning_rate)}


HOOKS = [
    f"on_{kind}{part}_{end}"
    for kind in ("train", "test", "predict")
    for part in ("", "_batch")
    for end in ("begin", "end")
] + ["on_epoch_begin", "on_epoch_end"]


def case_hooks(keras):
    seen = []

    def note(hook):
        if hook.count("batch") or hook.count("epoch"):
            return lambda number, logs=None: seen.append([hook, int(number), "loss" in (logs or {})])
        return lambda logs=None: seen.append([hook])

    noted = keras.callbacks.LambdaCallback(**{hook: note(hook) for hook in HOOKS})
    model = _model(keras)
    _fit(keras, model, noted, epochs=2)
    model.evaluate(X, Y, batch_size=3, verbose=0, callbacks=[noted])
    model.predict(X, batch_size=3, verbose=0, callbacks=[noted])
    return seen


def case_own_callback(keras):
    class Noted(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.seen = []

        def on_train_begin(self, logs=None):
            self.seen.append([self.model is not None, self.params["epochs"], self.params["verbose"]])

        def on_epoch_end(self, epoch, logs=None):
            self.seen.append([epoch, float(logs["loss"]), float(logs["val_loss"]), sorted(logs)])  # type: ignore[index]
            if epoch == 2:
                self.model.stop_training = True

        def on_train_batch_end(self, batch, logs=None):
            self.seen.append([batch, "loss" in logs])  # type: ignore[operator]

    class Old(keras.callbacks.Callback):
        seen = 0

        def on_batch_end(self, batch, logs=None):
            self.seen += 1

    noted, old, model = Noted(), Old(), _model(keras)
    noted.seen.append(noted.model is None)
    history = _fit(keras, model, noted, old, batch_size=3)
    return [noted.seen, history.epoch, old.seen, noted.model is model]


def case_checkpoints(keras):
    variants = {
        "epochs": ("{epoch:02d}-{val_loss:.2f}.keras", {}),
        "weights": ("{epoch}.weights.h5", {"save_weights_only": True}),
        "best": ("{epoch}.weights.h5", {"save_weights_only": True, "save_best_only": True}),
        "best of the loss": ("{epoch}.keras", {"save_best_only": True, "monitor": "loss", "mode": "max"}),
        "threshold": (
            "{epoch}.weights.h5",
            {"save_weights_only": True, "save_best_only": True, "initial_value_threshold": 2.0},
        ),
        "batches": ("{epoch}-{batch}.weights.h5", {"save_weights_only": True, "save_freq": 2}),
        "many batches": ("{epoch}-{batch}.weights.h5", {"save_weights_only": True, "save_freq": 7}),
        "no such number": (
            "{epoch}.weights.h5",
            {"save_weights_only": True, "save_best_only": True, "monitor": "val_none", "mode": "min"},
        ),
        "in a new folder": ("new/{epoch}.keras", {}),
    }
    found = {}
    for name, (pattern, options) in variants.items():
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = keras.callbacks.ModelCheckpoint(os.path.join(folder, pattern), **options)
            _fit_quietly(keras, _model(keras), checkpoint, epochs=4)
            files = sorted(
                os.path.join(place, file)[len(folder) :] for place, _, names in os.walk(folder) for file in names
            )
            found[name] = [files, None if checkpoint.best is None or name != "best" else float(checkpoint.best)]
    return found


def case_a_checkpoint_read(keras):
    with tempfile.TemporaryDirectory() as folder:
        weights, whole = os.path.join(folder, "best.weights.h5"), os.path.join(folder, "best.keras")
        model = _model(keras, 0.9)
        best = keras.callbacks.ModelCheckpoint(weights, "val_loss", 0, True, True, "auto", "epoch", None)
        _fit_quietly(keras, model, best, keras.callbacks.ModelCheckpoint(whole, save_best_only=True))
        model.load_weights(weights)
        return [_weights(model), _weights(keras.models.load_model(whole))]


def case_csv(keras):
    found = {}
    for name, options in {"validation": {}, "none": {"validation_data": None}}.items():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log.csv")
            model = _model(keras, metrics=["mae"])
            _fit(keras, model, keras.callbacks.CSVLogger(path, separator=";"), epochs=2, **options)
            _fit(keras, model, keras.callbacks.CSVLogger(path, ";", append=True), epochs=1, **options)
            with open(path, newline="") as file:
                rows = [row.split(";") for row in file.read().split("\r\n")]
        found[name] = [rows[0], [[cell if cell in ("NA", "") else float(cell) for cell in row] for row in rows[1:]]]
    return found


def case_backup(keras):
    class Stop(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 3:
                raise KeyboardInterrupt

    found = {}
    for name, options in {"epoch": {}, "double": {"double_checkpoint": True}}.items():
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "backup")
            model = _model(keras)
            with contextlib.suppress(KeyboardInterrupt):
                _fit(keras, model, keras.callbacks.BackupAndRestore(place, **options), Stop())
            model = _model(keras)
            history = _fit(keras, model, keras.callbacks.BackupAndRestore(place, **options))
            found[name] = [history.epoch[-2:], _weights(model)]
    return found


def case_nan(keras):
    bad = np.full_like(Y, np.nan)
    model = _model(keras)
    history = model.fit(X, bad, 2, 5, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
    try:
        _model(keras).fit(X, bad, 2, 5, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN(raise_error=True)])
    except RuntimeError:
        return [history.epoch, model.stop_training, "RuntimeError"]
    return [history.epoch, model.stop_training]


def case_averages(keras):
    found = {}
    for name, callbacks in {
        "none": [],
        "evaluations": [keras.callbacks.SwapEMAWeights()],
        "epochs": [keras.callbacks.SwapEMAWeights(swap_on_epoch=True)],
    }.items():
        model = _model(keras, use_ema=True, ema_momentum=0.5)
        history = _fit(keras, model, *callbacks, epochs=3)
        found[name] = [_numbers(history), _weights(model)]
    return found


def case_regularized(keras):
    inputs = keras.Input((2,))
    layer = keras.layers.Dense(
        1,
        kernel_regularizer=keras.regularizers.L1L2(0.1, 0.2),
        bias_regularizer="l2",
        activity_regularizer=keras.regularizers.L2(0.3),
        kernel_constraint=keras.constraints.MaxNorm(0.5),
        bias_constraint="non_neg",
    )
    model = keras.Model(inputs, layer(inputs))
    model.set_weights([KERNEL, BIAS])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return [_numbers(_fit(keras, model)), _weights(model)]

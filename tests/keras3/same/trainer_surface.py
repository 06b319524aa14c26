"""What `fit`, `evaluate` and `predict` show, tell callbacks, return and refuse."""

import contextlib
import io
import os
import re
import tempfile
import warnings

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

X = np.arange(24, dtype="float32").reshape(6, 4) / 10
Y = np.arange(6, dtype="float32").reshape(6, 1)
WEIGHTS = np.arange(6, dtype="float32")


def made(keras, outputs=1, **options):
    inputs = keras.Input((4,))
    found = [keras.layers.Dense(1, kernel_initializer="ones", name=f"out{k}")(inputs) for k in range(outputs)]
    model = keras.Model(inputs, found[0] if outputs == 1 else found)
    if options:
        model.compile("sgd", **options)
    return model


def numbers(history):
    return {name: [float(value) for value in values] for name, values in history.history.items()}


def batches():
    for start in (0, 2, 4):
        yield X[start : start + 2], Y[start : start + 2]


def inputs_alone():
    for start in (0, 2, 4):
        yield (X[start : start + 2],)


def loader():
    return DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)), batch_size=2)


def refusal(act):
    """The result, or the type of the error."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the result
        return type(error).__name__


# --- what is shown ---------------------------------------------------------------------------------------------------


def shown(act):
    """The lines on stdout as they stand in the end, without times."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of epochs with fewer batches
        act()
    text = re.sub(r"\x1b\[\d+m", "", stream.getvalue())
    text = re.sub(r"\d+(us|ms|s)/(step|sample)", r"TIME/\2", text)
    text = re.sub(r"\b\d+s\b", "TIME", text)
    return [re.split("[\r\b]+", line)[-1].rstrip() for line in text.split("\n")]


def case_lines_of_runs(keras):
    found = {}
    for verbose in (0, 1, 2, "auto"):
        model = made(keras, loss="mse", metrics=["mae"])
        options = {"batch_size": 2, "verbose": verbose}
        fit = {"shuffle": False, "epochs": 2, **options}
        found[str(verbose)] = [
            shown(lambda model=model, fit=fit: model.fit(X, Y, **fit)),
            shown(lambda model=model, fit=fit: model.fit(X, Y, validation_data=(X, Y), **fit)),
            shown(lambda model=model, fit=fit: model.fit(X, Y, steps_per_epoch=2, **fit)),
            shown(lambda model=model, fit=fit: model.fit(X, Y, **{**fit, "epochs": 1})),
            shown(lambda model=model, fit=fit: model.fit(X, Y, **{**fit, "epochs": 3, "initial_epoch": 2})),
            shown(lambda model=model, verbose=verbose: model.fit(batches(), verbose=verbose)),
            shown(lambda model=model, options=options: model.evaluate(X, Y, **options)),
            shown(lambda model=model, verbose=verbose: model.evaluate(batches(), verbose=verbose)),
            shown(lambda model=model, options=options: model.predict(X, **options)),
            shown(lambda model=model, verbose=verbose: model.predict(inputs_alone(), verbose=verbose)),
            shown(lambda model=model, verbose=verbose: model.evaluate(loader(), verbose=verbose)),
        ]
    return found


def case_bars(keras):
    def run(target=5, **options):
        bar = keras.utils.Progbar(target, **options)
        for step in range(1, 6):
            bar.update(step, [("loss", 1.0 / step), ("small", -1e-5), ("less", -2)], finalize=step == 5 or None)

    def added():
        bar = keras.utils.Progbar(12)
        for step in range(4):
            bar.add(3, [("a", step)])

    given = ({}, {"target": None}, {"verbose": 2}, {"verbose": 0}, {"unit_name": "sample"}, {"width": 10})
    return [*(shown(lambda options=options: run(**options)) for options in given), shown(added)]


# --- what callbacks see ----------------------------------------------------------------------------------------------


def recording(keras, calls):
    """A callback that records each call, with its logs in their order."""

    def plain(logs):
        return None if logs is None else [[name, np.asarray(keras.ops.convert_to_numpy(logs[name]))] for name in logs]

    def of(hook):
        def act(self, *args, logs=None):
            *number, logs = (*args, logs) if len(args) < 1 + hook.count("batch") + hook.count("epoch") else args
            calls.append([hook, *number, plain(logs)])

        return act

    hooks = ["on_epoch_begin", "on_epoch_end"]
    for kind in ("train", "test", "predict"):
        hooks += [f"on_{kind}{batch}_{end}" for batch in ("", "_batch") for end in ("begin", "end")]
    return type("Recording", (keras.callbacks.Callback,), {hook: of(hook) for hook in hooks})()


def close(calls):
    """The logs as numbers of single precision, of which the last digits do not count."""
    return [
        [float(np.sum(np.asarray(each))) if isinstance(each, np.ndarray) else each for each in call] for call in calls
    ]


def case_calls_of_callbacks(keras):
    found = []
    for outputs, options in (
        (1, {"loss": "mse", "metrics": ["mae"]}),
        (2, {"loss": ["mse", "mae"], "metrics": [["mae"], ["mse"]]}),
    ):
        calls = []
        callback, targets = recording(keras, calls), [Y] * outputs if outputs > 1 else Y
        model = made(keras, outputs, **options)
        given = {"verbose": 0, "callbacks": [callback], "batch_size": 2}
        model.fit(X, targets, epochs=2, shuffle=False, validation_data=(X, targets), validation_freq=2, **given)
        model.evaluate(X, targets, **given)
        if outputs == 1:
            model.predict(X, **given)
        found.append(calls)
    return found


def case_parameters(keras):
    seen = {}

    class See(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen["train"] = [dict(self.params), list(self.params)]

        def on_test_begin(self, logs=None):
            seen["test"] = dict(self.params)

        def on_predict_begin(self, logs=None):
            seen["predict"] = dict(self.params)

    class Data(keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return X[2 * index : 2 * index + 2], Y[2 * index : 2 * index + 2]

    model, found = made(keras, loss="mse"), []
    for data, options in (
        ((X, Y), {"batch_size": 2, "epochs": 2}),
        ((X, Y), {"batch_size": 2, "epochs": 3, "initial_epoch": 1, "steps_per_epoch": 2, "validation_split": 0.34}),
        ((batches(),), {}),
        ((Data(),), {"validation_data": Data()}),
        ((loader(),), {}),
    ):
        history = model.fit(*data, verbose=0, callbacks=[See()], **options)
        found.append([dict(history.params), history.epoch, history.model is model, dict(seen)])
    model.evaluate(X, Y, verbose=0, callbacks=[See()])
    model.predict(X, verbose=0, callbacks=[See()])
    return [*found, dict(seen)]


def case_names_of_what_counts(keras):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.mine = keras.layers.Dense(1), keras.metrics.Mean(name="mine")

        def call(self, x):
            return self.dense(x)

    found = {"not compiled": made(keras).metrics_names}
    for name, outputs, options in (
        ("loss", 1, {"loss": "mse"}),
        ("metrics", 1, {"loss": "mse", "metrics": ["mae"], "weighted_metrics": ["mse"]}),
        ("outputs", 2, {"loss": ["mse", "mae"], "metrics": [["mae"], ["mse"]]}),
    ):
        model = made(keras, outputs, **options)
        before = list(model.metrics_names)
        model.fit(X, [Y] * outputs if outputs > 1 else Y, verbose=0)
        found[name] = [before, list(model.metrics_names)]
    model = Own()
    model.compile("sgd", "mse", metrics=["mae"])
    return {**found, "own": list(model.metrics_names)}


def case_a_backup_leaves_no_folder(keras):
    found = []
    for deleted in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "backup")
            callback = keras.callbacks.BackupAndRestore(path, delete_checkpoint=deleted)
            made(keras, loss="mse").fit(X, Y, epochs=2, verbose=0, callbacks=[callback])
            found.append(os.path.exists(path))
    return found


# --- results and refusals --------------------------------------------------------------------------------------------


def case_options_of_fit(keras):
    by_class, each = {number: number + 1.0 for number in range(6)}, {"validation_data": (X, Y)}

    def fit(x=X, y=Y, **options):
        model = made(keras, loss="mse", weighted_metrics=["mae"])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "fit: validation_.* changes nothing")
            history = model.fit(x, y, verbose=0, batch_size=2, shuffle=False, **options)
        return [numbers(history), list(history.history), history.epoch]

    given = {
        "initial_epoch": {"epochs": 3, "initial_epoch": 1},
        "every second": {"epochs": 4, "validation_freq": 2, **each},
        "listed": {"epochs": 4, "validation_freq": [1, 3], **each},
        "split": {"validation_split": 0.34},
        "split and weights": {"validation_split": 0.5, "sample_weight": WEIGHTS},
        "class_weight": {"class_weight": by_class},
        "some classes": {"class_weight": {0: 2.0}},
        "sample_weight": {"sample_weight": WEIGHTS},
        "weights of one axis more": {"sample_weight": WEIGHTS.reshape(6, 1)},
        "both weights": {"sample_weight": WEIGHTS, "class_weight": by_class},
        "weights of the validation": {"validation_data": (X, Y, WEIGHTS)},
        "validation_steps": {"validation_steps": 1, **each},
        "validation_batch_size": {"validation_batch_size": 1, **each},
        "steps without a validation": {"validation_steps": 1},
        "size without a validation": {"validation_batch_size": 2},
        "freq without a validation": {"validation_freq": 2},
        "all for validation": {"validation_split": 1.0},
        "less than none": {"validation_split": -0.1},
        "other lengths": {"y": Y[:4]},
        "weights of another length": {"sample_weight": WEIGHTS[:3]},
    }
    return {name: refusal(lambda options=options: fit(**options)) for name, options in given.items()}


def case_single_batches(keras):
    model, found = made(keras, loss="mse", metrics=["mae"]), []
    for act in (model.train_on_batch, model.test_on_batch):
        found += [
            list(map(float, act(X, Y))),
            {name: float(each) for name, each in act(X, Y, return_dict=True).items()},
        ]
    model.reset_metrics()
    found.append(list(map(float, model.train_on_batch(X, Y, sample_weight=WEIGHTS))))
    found.append(list(map(float, model.train_on_batch(X, Y, class_weight=dict.fromkeys(range(6), 2.0)))))
    found.append(refusal(lambda: model.train_on_batch(X, Y, sample_weight=WEIGHTS, class_weight={0: 1.0})))
    found.append(np.asarray(model.predict_on_batch(X)))
    alone, several = made(keras, loss="mse"), made(keras, 2, loss=["mse", "mae"], metrics=[["mae"], ["mse"]])
    found += [float(alone.train_on_batch(X, Y)), float(alone.test_on_batch(X, Y))]
    found.append(list(map(float, several.train_on_batch(X, [Y, Y]))))
    found.append({name: float(each) for name, each in several.test_on_batch(X, [Y, Y], return_dict=True).items()})
    return found


def case_a_test_step_of_ones_own(keras):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.error = keras.layers.Dense(1, kernel_initializer="ones"), keras.metrics.Mean(name="error")

        def call(self, x):
            return self.dense(x)

        def test_step(self, data):
            x, y = data
            self.error.update_state(keras.ops.mean(keras.ops.square(self(x) - y)))
            return {"error": self.error.result()}

    found = []
    for data, options in (((loader(),), {}), ((X, Y), {"batch_size": 2})):
        for given in ((), ("sgd",)):
            model = Own()
            model.compile(*given)
            found.append(
                {
                    name: float(each)
                    for name, each in model.evaluate(*data, verbose=0, return_dict=True, **options).items()
                }
            )
    return found


def case_losses_of_named_outputs(keras):
    class Named(keras.Model):
        def __init__(self):
            super().__init__()
            self.a = keras.layers.Dense(1, kernel_initializer="ones")
            self.b = keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, x):
            return {"b": self.b(x), "a": self.a(x)}

    targets, found = {"a": Y, "b": np.concatenate([Y, Y], 1)}, {}
    for name, options in {
        "each": {"loss": {"a": "mse", "b": "mae"}},
        "in another order": {"loss": {"b": "mse", "a": "mae"}, "metrics": {"b": ["mae"], "a": "mse"}},
        "missing": {"loss": {"a": "mse"}},
        "none": {"loss": {"a": "mse", "b": None}},
        "weights": {"loss": {"a": "mse", "b": "mae"}, "loss_weights": {"a": 0.5, "b": 2.0}},
        "some metrics": {"loss": {"a": "mse", "b": "mae"}, "metrics": {"b": ["mae"]}},
        "weighted": {"loss": {"a": "mse", "b": "mae"}, "weighted_metrics": {"b": ["mae"]}},
    }.items():
        model = Named()
        model.compile("sgd", **options)
        history = model.fit(X, targets, batch_size=3, shuffle=False, verbose=0)
        found[name] = [numbers(history), list(history.history)]
        found[name].append(
            {key: float(each) for key, each in model.evaluate(X, targets, verbose=0, return_dict=True).items()}
        )
    return found


def case_learning_rates(keras):
    optimizer = keras.optimizers.Adam(1e-3)
    before = repr(float(optimizer.learning_rate))
    optimizer.learning_rate = 0.05
    return [before, repr(float(optimizer.learning_rate)), repr(float(keras.optimizers.SGD(0.1).learning_rate))]

"""Record what callbacks see in genuine Keras 2.2.4, in tests/golden/keras-2.2.4-hooks.json.

    python scripts/record_hooks.py

Needs keras==2.2.4 and a backend (Python 3.6 or 3.7), not torchkeras. The tests call `record` with torchkeras instead of
Keras (`tests/callbacks/test_hook_order.py`).

`CASES` has (name, model, arguments of compile, calls). The calls see `model`, data for it (`x`, `y`, `weights`,
`x_val`, `y_val`, `weights_val`), `callback(...)`, `batches(...)` and `Batches()`, and put what should be recorded into
`returned`. A record has its case and

    events           what a callback saw, in order: [hook, number of the epoch or batch, logs by name]
    set              which of its set_model and set_params came first
    params           what its set_params was given
    validation_data  the shapes of its attribute of that name when the first epoch began
    returned         the form and the values of `returned` after the calls
    metrics_names, history (in its order), epoch
"""

import importlib
import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).resolve().parent.parent / "tests" / "golden" / "keras-2.2.4-hooks.json"
PARTS = ("layers", "models", "callbacks", "losses", "metrics", "optimizers")
DIGITS = 6

INPUT = "inputs = Input((2,), name='features')\n"
MODELS = {
    "one": INPUT + "model = Model(inputs, Dense(1, kernel_initializer='ones', name='out')(inputs))",
    "classes": INPUT
    + "hidden = Dense(3, kernel_initializer='ones', bias_initializer='ones', activation='relu')(inputs)\n"
    + "model = Model(inputs, Dense(3, kernel_initializer='zeros', activation='softmax', name='out')(hidden))",
    "two": INPUT
    + "left = Dense(1, kernel_initializer='ones', name='left')\n"
    + "right = Dense(2, kernel_initializer='ones', name='right')\n"
    + "model = Model(inputs, [left(inputs), right(inputs)])",
    "one_of_two": INPUT  # Keras refuses a weight without a gradient
    + "left = Dense(1, kernel_initializer='ones', name='left')(inputs)\n"
    + "model = Model(inputs, [left, Activation('tanh', name='right')(left)])",
    "sequential": "model = Sequential([Dense(1, kernel_initializer='ones', input_shape=(2,))])",
}

FIT = "returned = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, callbacks=[callback()]{})"
BEFORE = "model.fit(x, y, batch_size=4, shuffle=False, verbose=0, callbacks=[callback()]); events.clear()\n"
FIT_THREE = (
    "returned = model.fit(x, y, batch_size=8, shuffle=False, verbose=0, callbacks=["
    "callback('a', adds={'lr': 0.5}), callback('b', adds={'loss': 2.5}), callback('c')])"
)
GENERATOR = "returned = model.fit_generator({}, epochs=2, verbose=0, callbacks=[callback()]{})"
VALIDATED = ", validation_data=(x_val, y_val)"
MSE = "loss='mse'"
STOP = (
    "returned = model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0, validation_data=(x_val, y_val), "
    "callbacks=[callback(stop=({!r}, {}))])"
)
STOP_GENERATOR = (
    "returned = model.fit_generator(batches(), 3, epochs=3, verbose=0, validation_data=batches(val=True), "
    "validation_steps=2, callbacks=[callback(stop=({!r}, {}))])"
)

RUNS = [
    # --- fit ---
    ("fit", "one", MSE, FIT.format("")),
    ("fit_sequential", "sequential", MSE, FIT.format("")),
    ("fit_metrics", "one", MSE + ", metrics=['mae', 'accuracy']", FIT.format("")),
    ("fit_weights", "one", MSE + ", metrics=['mae']", FIT.format(", sample_weight=weights")),
    ("fit_validation_data", "one", MSE + ", metrics=['mae']", FIT.format(VALIDATED)),
    ("fit_validation_weights", "one", MSE, FIT.format(", validation_data=(x_val, y_val, np.arange(5.0))")),
    ("fit_validation_split", "one", MSE + ", metrics=['mae']", FIT.format(", validation_split=0.3")),
    ("fit_two_outputs", "two", MSE + ", metrics=['mae', 'mse']", FIT.format(VALIDATED)),
    ("fit_classes", "classes", "loss='categorical_crossentropy', metrics=['accuracy']", FIT.format(VALIDATED)),
    ("fit_initial_epoch", "one", MSE, FIT.format(", initial_epoch=1")),
    ("fit_initial_epoch_at_the_end", "one", MSE, FIT.format(", initial_epoch=2")),
    ("fit_no_epochs", "one", MSE, "returned = model.fit(x, y, epochs=0, verbose=0, callbacks=[callback()])"),
    ("fit_defaults", "one", MSE, "returned = model.fit(x, y, verbose=0, callbacks=[callback()])"),
    ("fit_twice", "one", MSE, (FIT.format("") + "\n") * 2),
    ("fit_callbacks_in_order", "one", MSE, FIT_THREE),
    # --- fit_generator ---
    ("generator", "one", MSE + ", metrics=['mae']", GENERATOR.format("batches(), 3", "")),
    ("generator_weights", "one", MSE, GENERATOR.format("batches(weighted=True), 3", "")),
    ("generator_fewer_steps", "one", MSE, GENERATOR.format("batches(), 2", "")),
    ("generator_no_workers", "one", MSE, GENERATOR.format("batches(), 3", ", workers=0")),
    ("generator_initial_epoch", "one", MSE, GENERATOR.format("batches(), 3", ", initial_epoch=1")),
    ("generator_validation_data", "one", MSE + ", metrics=['mae']", GENERATOR.format("batches(), 3", VALIDATED)),
    (
        "generator_validation_weights",
        "one",
        MSE,
        GENERATOR.format("batches(), 3", ", validation_data=(x_val, y_val, np.arange(5.0))"),
    ),
    (
        "generator_validation_generator",
        "one",
        MSE + ", metrics=['mae']",
        GENERATOR.format("batches(), 3", ", validation_data=batches(val=True), validation_steps=2"),
    ),
    ("generator_two_outputs", "two", MSE + ", metrics=['mae']", GENERATOR.format("batches(), 3", VALIDATED)),
    ("sequence", "one", MSE, GENERATOR.format("Batches()", ", shuffle=False")),
    ("sequence_steps", "one", MSE, GENERATOR.format("Batches(), 2", ", shuffle=False")),
    (
        "sequence_validation_sequence",
        "one",
        MSE,
        GENERATOR.format("Batches()", ", shuffle=False, validation_data=Batches()"),
    ),
    # --- stop_training ---
    ("stop_on_train_begin", "one", MSE, STOP.format("on_train_begin", None)),
    ("stop_on_epoch_begin", "one", MSE, STOP.format("on_epoch_begin", 1)),
    ("stop_on_batch_begin", "one", MSE, STOP.format("on_batch_begin", 1)),
    ("stop_on_batch_end", "one", MSE, STOP.format("on_batch_end", 1)),
    ("stop_on_last_batch_end", "one", MSE, STOP.format("on_batch_end", 2)),
    ("stop_on_epoch_end", "one", MSE, STOP.format("on_epoch_end", 1)),
    ("generator_stop_on_epoch_begin", "one", MSE, STOP_GENERATOR.format("on_epoch_begin", 0)),
    ("generator_stop_on_batch_end", "one", MSE, STOP_GENERATOR.format("on_batch_end", 1)),
    ("generator_stop_on_last_batch_end", "one", MSE, STOP_GENERATOR.format("on_batch_end", 2)),
    ("generator_stop_on_epoch_end", "one", MSE, STOP_GENERATOR.format("on_epoch_end", 1)),
    # --- no hooks: the callbacks of an earlier fit, and its History, are left alone ---
    ("evaluate", "one", MSE, BEFORE + "returned = model.evaluate(x, y, batch_size=4, verbose=0)"),
    (
        "evaluate_metrics",
        "one",
        MSE + ", metrics=['mae']",
        BEFORE + "returned = model.evaluate(x, y, batch_size=4, verbose=0, sample_weight=weights)",
    ),
    ("evaluate_two_outputs", "two", MSE, BEFORE + "returned = model.evaluate(x, y, batch_size=4, verbose=0)"),
    ("predict", "one", MSE, BEFORE + "returned = model.predict(x, batch_size=4)"),
    ("predict_two_outputs", "two", MSE, BEFORE + "returned = model.predict(x, batch_size=4)"),
    ("train_on_batch", "one", MSE, BEFORE + "returned = model.train_on_batch(x, y)"),
    (
        "train_on_batch_metrics",
        "one",
        MSE + ", metrics=['mae']",
        BEFORE + "returned = [model.train_on_batch(x, y, sample_weight=weights), model.train_on_batch(x, y)]",
    ),
    ("train_on_batch_two_outputs", "two", MSE + ", metrics=['mae']", BEFORE + "returned = model.train_on_batch(x, y)"),
    ("test_on_batch", "one", MSE, BEFORE + "returned = model.test_on_batch(x, y)"),
    ("test_on_batch_two_outputs", "two", MSE, BEFORE + "returned = model.test_on_batch(x, y)"),
    ("predict_on_batch", "one", MSE, BEFORE + "returned = model.predict_on_batch(x)"),
    ("predict_on_batch_two_outputs", "two", MSE, BEFORE + "returned = model.predict_on_batch(x)"),
    ("evaluate_generator", "one", MSE, BEFORE + "returned = model.evaluate_generator(batches(), 3)"),
    (
        "evaluate_generator_metrics",
        "one",
        MSE + ", metrics=['mae']",
        BEFORE + "returned = model.evaluate_generator(batches(weighted=True), 2)",
    ),
    ("evaluate_sequence", "one", MSE, BEFORE + "returned = model.evaluate_generator(Batches())"),
    ("predict_generator", "one", MSE, BEFORE + "returned = model.predict_generator(batches(), 3)"),
    ("predict_generator_two_outputs", "two", MSE, BEFORE + "returned = model.predict_generator(batches(), 2)"),
]

CATEGORICAL, SPARSE = "loss='categorical_crossentropy', ", "loss='sparse_categorical_crossentropy', "
MSE_AND = MSE + ", "
NAMED = [
    ("one", MSE),
    ("one", MSE_AND + "metrics=None"),
    ("one", MSE_AND + "metrics=[]"),
    ("one", MSE_AND + "metrics=['accuracy']"),
    ("one", MSE_AND + "metrics=['acc']"),
    ("one", MSE_AND + "metrics=['acc', 'accuracy']"),
    ("one", MSE_AND + "metrics=['binary_accuracy']"),
    ("one", MSE_AND + "metrics=[metrics.binary_accuracy]"),
    ("one", "loss='binary_crossentropy', metrics=['accuracy', 'ce', 'crossentropy', 'binary_crossentropy']"),
    ("one", "loss=losses.mean_squared_error, metrics=['mse', 'MSE', 'mean_squared_error', metrics.mse]"),
    ("one", MSE_AND + "metrics=['mae', 'mape', 'msle', 'cosine', 'hinge', 'kullback_leibler_divergence']"),
    ("one", MSE_AND + "metrics=['logcosh', 'squared_hinge', 'poisson', 'cosine_proximity']"),
    ("one", MSE_AND + "metrics=[losses.mean_absolute_error, metrics.MAE]"),
    ("one", MSE_AND + "metrics=[bias]"),
    ("one", MSE_AND + "metrics=[loss]"),
    ("one", MSE_AND + "metrics=[named]"),
    ("one", MSE_AND + "metrics={'out': 'accuracy'}"),
    ("one", MSE_AND + "metrics={'out': ['mae', 'acc', bias]}"),
    ("one", MSE_AND + "weighted_metrics=['accuracy']"),
    ("one", MSE_AND + "weighted_metrics=['mse', 'mse', bias, named]"),
    ("one", MSE_AND + "metrics=['mae', 'acc'], weighted_metrics=['mae', 'acc']"),
    ("one", MSE_AND + "metrics=['mse'], weighted_metrics={'out': 'mae'}"),
    ("one", "loss={'out': 'mae'}, metrics=['mse'], loss_weights={'out': 0.5}"),
    ("one", "loss=['mae'], metrics=['mse'], loss_weights=[2.0]"),
    ("one", "loss=bias, metrics=[bias]"),
    ("classes", CATEGORICAL + "metrics=['accuracy']"),
    ("classes", CATEGORICAL + "metrics=['acc', 'ce', 'categorical_accuracy', 'categorical_crossentropy']"),
    ("classes", CATEGORICAL + "metrics=['top_k_categorical_accuracy'], weighted_metrics=['acc', 'crossentropy']"),
    ("classes", MSE_AND + "metrics=['accuracy', 'crossentropy']"),
    ("classes", "loss='binary_crossentropy', metrics=['accuracy']"),
    ("classes", SPARSE + "metrics=['accuracy']"),
    ("classes", SPARSE + "metrics=['crossentropy', 'sparse_categorical_accuracy', 'acc']"),
    ("classes", SPARSE + "metrics=['sparse_top_k_categorical_accuracy']"),
    ("two", MSE),
    ("two", MSE_AND + "metrics=['accuracy']"),
    ("two", MSE_AND + "metrics=['mse', 'mse']"),
    ("two", "loss=['mse', 'mae'], metrics=['mae', bias]"),
    ("two", "loss={'right': 'mse', 'left': 'mae'}, metrics={'right': 'mae'}"),
    ("two", MSE_AND + "metrics={'right': ['acc', 'mse'], 'left': 'acc'}"),
    ("two", MSE_AND + "weighted_metrics=['mae']"),
    ("two", MSE_AND + "weighted_metrics={'left': ['mae', 'acc']}, metrics={'right': 'mse'}"),
    ("two", MSE_AND + "loss_weights=[0.5, 2.0], metrics=[loss]"),
    ("two", MSE_AND + "loss_weights={'right': 0.25}, metrics=[named]"),
    ("one_of_two", "loss={'left': 'mse', 'right': None}, metrics=['mae']"),
    ("one_of_two", "loss=[None, 'mse'], metrics=['mae'], weighted_metrics=['mae']"),
]
NAMED_FIT = (
    "returned = model.fit(x, y, batch_size=10, verbose=0, sample_weight=weights, validation_data=(x_val, y_val, "
    "weights_val))"
)
CASES = RUNS + [(model + ": " + options, model, options, NAMED_FIT) for model, options in NAMED]


# --- the data --------------------------------------------------------------------------------------------------------


def data(model, options, calls):
    """Arrays for which all numbers differ: 10 samples, and 5 for validation."""
    samples = np.arange(15)
    x = np.stack([samples / 10.0, (samples % 4) / 4.0], 1).astype("float32")
    y = {
        "classes": [(samples % 3).reshape(-1, 1) if "sparse" in options else np.eye(3)[samples % 3]],
        "two": [(samples % 2).reshape(-1, 1), np.stack([samples % 3, samples % 2], 1)],
    }.get(model, [(samples % 2).reshape(-1, 1)])
    y = [each.astype("float32") for each in y]
    weights = [(1.0 + samples % 3 * (1 + k)).astype("float32") for k in range(len(y))]

    def part(arrays, where):
        return [array[where] for array in arrays] if len(arrays) > 1 else arrays[0][where]

    first, last = slice(10), slice(10, None)
    return {
        "x": x[first],
        "y": part(y, first),
        "weights": part(weights, first),
        "x_val": x[last],
        "y_val": part(y, last),
        "weights_val": part(weights, last),
    }


def slices(arrays, where):
    return [array[where] for array in arrays] if isinstance(arrays, list) else arrays[where]


def generator_of(known):
    """`batches()`: 4, 4 and 2 samples, again and again."""

    def batches(val=False, weighted=False):
        x, y = (known["x_val"], known["y_val"]) if val else (known["x"], known["y"])
        while True:
            for start in range(0, len(x), 4):
                where = slice(start, start + 4)
                batch = (x[where], slices(y, where))
                yield (*batch, slices(known["weights"], where)) if weighted else batch

    return batches


def sequence_of(base, known):
    """The same, as a class derived from the library's `Sequence`."""

    class Batches(base):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            where = slice(4 * index, 4 * index + 4)
            return known["x"][where], slices(known["y"], where)

    return Batches


# --- metrics of one's own --------------------------------------------------------------------------------------------


def bias(y_true, y_pred):
    return y_pred - y_true


def loss(y_true, y_pred):
    return y_pred * y_pred


def named(y_true, y_pred):
    return y_true * y_pred


named.name = "by_another_name"


# --- the recording ---------------------------------------------------------------------------------------------------


def plain(value):
    """Plain data: numbers rounded, arrays as lists after their shape."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray) and value.shape:
        return {"shape": list(value.shape), "values": plain(value.ravel().tolist())}
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and not value.shape):
        return float(f"{float(value):.{DIGITS}g}")
    return value if value is None or isinstance(value, (bool, str)) else int(value)


def recorder(base, seen, events):
    """A callback with 2.2.4's hooks: records events in `events`, and in `seen` what it gets before training."""

    class Recorder(base):
        def __init__(self, name=None, stop=None, adds=None):
            super().__init__()
            self.name, self.stop, self.adds = name, stop, adds or {}

        def note(self, hook, number, logs):
            events.append([hook if self.name is None else hook + " of " + self.name, number, plain(dict(logs))])
            if (hook, number) == self.stop:
                self.model.stop_training = True
            if hook == "on_epoch_end":
                logs.update(self.adds)

        def set_model(self, model):
            super().set_model(model)
            seen["set"].append("set_model")

        def set_params(self, params):
            super().set_params(params)
            seen["set"].append("set_params")
            seen["params"] = plain(dict(params))

        def on_train_begin(self, logs=None):
            self.note("on_train_begin", None, logs)

        def on_train_end(self, logs=None):
            self.note("on_train_end", None, logs)

        def on_epoch_begin(self, epoch, logs=None):
            self.note("on_epoch_begin", epoch, logs)
            held = self.validation_data
            seen.setdefault("validation_data", None if held is None else [list(np.shape(each)) for each in held])

        def on_epoch_end(self, epoch, logs=None):
            self.note("on_epoch_end", epoch, logs)

        def on_batch_begin(self, batch, logs=None):
            self.note("on_batch_begin", batch, logs)

        def on_batch_end(self, batch, logs=None):
            self.note("on_batch_end", batch, logs)

    return Recorder


def record(library, case):
    """Run one case with the library of that name ("keras", "torchkeras")."""
    name, model, options, calls = case
    parts = {part: importlib.import_module(library + "." + part) for part in PARTS}
    known = dict(parts, np=np, bias=bias, loss=loss, named=named, **data(model, options, calls))
    for part, wanted in (("layers", ("Activation", "Dense", "Input")), ("models", ("Model", "Sequential"))):
        known.update((each, getattr(parts[part], each)) for each in wanted)
    seen, events = {"set": []}, []
    known.update(events=events, callback=recorder(parts["callbacks"].Callback, seen, events))
    known["batches"] = generator_of(known)
    if "Batches()" in calls:
        known["Batches"] = sequence_of(importlib.import_module(library + ".utils").Sequence, known)
    source = f"{MODELS[model]}\nmodel.compile(optimizers.SGD(lr=0.01), {options})\n{calls}"
    exec(source, known)  # noqa: S102  # the table above
    made, returned = known["model"], known["returned"]
    found = {"name": name, "source": [model, options, calls]}
    if name in [run[0] for run in RUNS]:
        found.update(events=events, set=seen["set"][:2], params=seen["params"])
        found["validation_data"] = seen.get("validation_data")
        found["returned"] = "History" if type(returned).__name__ == "History" else plain(returned)
    found.update(metrics_names=list(made.metrics_names), history=plain(made.history.history), epoch=made.history.epoch)
    return found


def lines(found):
    """JSON with a line for each entry of a case, and for each event."""
    for key, value in found.items():
        if key == "events" and value:
            value = ",\n".join("   " + json.dumps(event) for event in value)
            yield '  "events": [\n' + value + "\n  ]"
        else:
            yield f"  {json.dumps(key)}: {json.dumps(value)}"


def main():
    version = importlib.import_module("keras").__version__
    if version != "2.2.4":
        raise SystemExit(f"record_hooks: needs keras 2.2.4; found {version}.")
    found = [record("keras", case) for case in CASES]
    text = ",\n".join("{\n" + ",\n".join(lines(each)) + "\n}" for each in found)
    FILE.write_text("[\n" + text + "\n]\n")
    print(f"{len(found)} cases, {FILE.stat().st_size} bytes in {FILE}")


if __name__ == "__main__":
    main()

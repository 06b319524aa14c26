"""What models do beside training: masks of operators, weights of classes, trees of values, penalties, outputs.

Also the values and files that layers store in a way of their own, and graphs that begin at any tensor.
"""

import os
import tempfile
import zipfile

import numpy as np

X = np.arange(12, dtype="float32").reshape(4, 3) / 10
STEPS = np.array([[1, 2, 0, 0], [0, 0, 0, 0]])


def arrays(keras, value):
    return keras.tree.map_structure(lambda each: np.asarray(keras.ops.convert_to_numpy(each)), value)


def number(keras, value):
    return float(keras.ops.convert_to_numpy(value))


# --- masks -----------------------------------------------------------------------------------------------------------


def case_an_operator_has_no_mask(keras):
    found = []
    for change in (lambda x: x, lambda x: x + 1, lambda x: 2 * x, lambda x: keras.ops.add(x, 1)):
        inputs = keras.Input((4,), dtype="int32")
        embedded = keras.layers.Embedding(5, 3, mask_zero=True, embeddings_initializer="ones")(inputs)
        outputs = keras.layers.SimpleRNN(2, kernel_initializer="ones", recurrent_initializer="ones")(change(embedded))
        model = keras.Model(inputs, outputs)
        again = keras.models.model_from_json(model.to_json())
        again.set_weights(model.get_weights())
        found.append([model.predict(STEPS, verbose=0), again.predict(STEPS, verbose=0)])
    return found


# --- weights of classes ----------------------------------------------------------------------------------------------


def case_class_weight_takes_any_class(keras):
    found = []
    for targets, weights in (
        (np.zeros((4, 2), "float32"), {0: 2.0, 1: 5.0}),
        (np.array([[0, 1], [1, 1], [1, 0], [0, 0]], "float32"), {1: 3.0}),
        (np.array([0, 1, 2, 1]), {1: 3.0}),
        (np.array([[0.2], [0.8], [2.4], [0.5]], "float32"), {0: 2.0, 1: 3.0, 2: 5.0}),
    ):
        units = targets.shape[1] if targets.ndim == 2 else 1
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(units, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        history = model.fit(X, targets, class_weight=weights, batch_size=2, shuffle=False, verbose=0).history
        found.append([history, model.get_weights()])
    return found


# --- trees of values -------------------------------------------------------------------------------------------------


def named_model(keras):
    inputs = keras.Input((3,))
    hidden = keras.layers.BatchNormalization(name="norm")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones", name="out")(hidden))
    model.compile(keras.optimizers.Adam(name="adam"), "mse", metrics=[keras.metrics.MeanAbsoluteError(name="error")])
    return model


def case_state_tree(keras):
    model = named_model(keras)
    model.fit(X, X[:, :1], batch_size=2, shuffle=False, verbose=0)
    tree = model.get_state_tree("numpy_array")
    other = named_model(keras)
    other.fit(X, X[:, :1], batch_size=2, shuffle=False, verbose=0)
    kinds = ("trainable_variables", "non_trainable_variables", "optimizer_variables")
    other.set_state_tree({kind: tree[kind] for kind in kinds})
    other.set_state_tree({"trainable_variables": {"out": {"bias": [7.0]}}})
    return {
        **{kind: tree[kind] for kind in kinds},
        "error": tree["metrics_variables"]["error"],
        "set": other.get_weights(),
        "names": sorted(variable.path for variable in model.metrics_variables),
    }


# --- penalties on outputs --------------------------------------------------------------------------------------------


def case_penalties_on_outputs_of_calls_by_hand(keras):
    class Same(keras.layers.Layer):
        def call(self, x):
            return x

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1, kernel_initializer="ones", activity_regularizer="l2")
            self.same = Same(activity_regularizer="l1")

        def call(self, x):
            return self.same(self.dense(x))

    def losses(layer):
        return sorted(number(keras, loss) for loss in layer.losses)

    found = []
    for layer in (
        Same(activity_regularizer="l1"),
        keras.layers.ActivityRegularization(l1=0.2, l2=0.3),
        keras.layers.Dense(2, kernel_initializer="ones", activity_regularizer="l2", kernel_regularizer="l2"),
    ):
        for rows in (X, X[:2]):
            layer(rows)
            found.append(losses(layer))
    layer = Same(activity_regularizer="l1")
    layer(keras.Input((3,)))
    found.append(losses(layer))
    inputs = keras.Input((3,))
    dense = keras.layers.Dense(1, kernel_initializer="ones", activity_regularizer="l2")
    for model in (keras.Model(inputs, dense(inputs)), Own()):
        model(X)
        found.append(losses(model))
        model.compile("sgd", "mse")
        found.append(model.fit(X, X[:, :1], batch_size=2, shuffle=False, verbose=0).history)
        found.append(model.evaluate(X, X[:, :1], verbose=0))
        model(X)
        found.append(losses(model))
    return found


# --- outputs of batches ----------------------------------------------------------------------------------------------


def case_hooks_of_a_prediction_get_the_outputs(keras):
    seen = []

    class Look(keras.callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            each = {
                name: [np.asarray(keras.ops.convert_to_numpy(part)) for part in found]
                if isinstance(found, list)
                else found
                for name, found in dict(logs).items()
            }
            seen.append([batch, each])

    class Named(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, x):
            return {"sums": self.dense(x)}

    inputs = keras.Input((3,))
    one = keras.layers.Dense(2, kernel_initializer="ones")(inputs)
    other = keras.layers.Dense(1, kernel_initializer="ones")(inputs)
    for model in (keras.Model(inputs, one), keras.Model(inputs, [one, other]), Named()):
        model.predict(X[:3], batch_size=2, verbose=0, callbacks=[Look()])
    return seen


# --- files -----------------------------------------------------------------------------------------------------------


def storing(keras):
    @keras.saving.register_keras_serializable(package="habits")
    class Storing(keras.layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")
            self.extra, self.text = np.zeros(3, "float32"), ""

        def call(self, x):
            return x * self.scale

        def save_own_variables(self, store):
            store["scale"] = np.asarray(keras.ops.convert_to_numpy(self.scale))
            store["extra"] = self.extra

        def load_own_variables(self, store):
            self.scale.assign(np.array(store["scale"]))
            self.extra = np.array(store["extra"])

        def save_assets(self, inner_path):
            with open(os.path.join(inner_path, "vocabulary.txt"), "w") as file:
                file.write(self.text)

        def load_assets(self, inner_path):
            with open(os.path.join(inner_path, "vocabulary.txt")) as file:
                self.text = file.read()

    return Storing


def storing_model(keras):
    kind = storing(keras)
    layers = [keras.layers.Dense(3, kernel_initializer="ones", name="dense"), kind(name="first"), kind(name="second")]
    model = keras.Sequential([keras.Input((3,)), *layers])
    model.compile("adam", "mse")
    model.fit(X, X, batch_size=2, shuffle=False, verbose=0)
    for number_of_one, layer in enumerate(layers[1:], 1):
        layer.extra, layer.text = np.arange(3, dtype="float32") * number_of_one, f"text {number_of_one}"
    return model


def case_layers_store_themselves(keras):
    model = storing_model(keras)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if name.startswith("assets/") and name[-1] != "/")
        loaded = keras.models.load_model(path)
        model.save_weights(os.path.join(folder, "model.weights.h5"))
        other = keras.models.clone_model(model)
        other.load_weights(os.path.join(folder, "model.weights.h5"))
    state = [np.asarray(keras.ops.convert_to_numpy(each)) for each in loaded.optimizer.variables]
    return {
        "names": names,
        "weights": loaded.get_weights(),
        "others": other.get_weights(),
        "extra": [layer.extra for found in (loaded, other) for layer in found.layers[1:]],
        "text": [layer.text for layer in loaded.layers[1:]],
        "state": state,
    }


def case_layers_to_skip(keras):
    def made(value):
        layers = [keras.layers.Dense(2, kernel_initializer=keras.initializers.Constant(value)) for _ in range(3)]
        return keras.Sequential([keras.Input((2,)), *layers])

    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.weights.h5")
        for written in (False, True):
            for place in (0, 1):
                first, second = made(1.0), made(2.0)
                skipped = {"objects_to_skip": [first.layers[place]]} if written else {}
                keras.saving.save_weights(first, path, **skipped)
                keras.saving.load_weights(second, path, objects_to_skip=[second.layers[place]])
                found.append(second.get_weights())
    return found


# --- graphs ----------------------------------------------------------------------------------------------------------


def case_models_begin_at_any_tensor(keras):
    layers = [keras.layers.Dense(units, kernel_initializer="ones", name=f"dense{units}") for units in (3, 4, 5)]
    inputs = keras.Input((2,), name="inputs")
    tensors = [inputs]
    for layer in layers:
        tensors.append(layer(tensors[-1]))
    whole = keras.Model(inputs, tensors[-1])
    found = []
    for begin, end in ((tensors[2], tensors[3]), (tensors[1], tensors[2]), (layers[1].input, layers[2].output)):
        model = keras.Model(begin, end)
        names = [layer.name for layer in model.layers[1:]]
        outputs = arrays(keras, model(np.ones((2, begin.shape[-1]))))
        found.append([names, outputs, model.input_shape, model.output_shape])
    both = keras.Model({"rows": inputs, "hidden": tensors[1]}, {"sums": tensors[1] * 2, "ends": tensors[3]})
    given = {"rows": np.ones((2, 2)), "hidden": np.full((2, 3), 2.0)}
    function = keras.Function(tensors[1], [tensors[2], tensors[3]])
    return [
        *found,
        arrays(keras, both(given)),
        sorted(both.input),
        sorted(both.output),
        arrays(keras, function(np.ones((2, 3)))),
        arrays(keras, whole(np.ones((1, 2)))),
        [layers[1].input.shape, layers[1].output.shape],
    ]


def case_copies_and_texts_have_the_configs_of_the_first(keras):
    first, second = keras.Input((3,), name="first"), keras.Input((3,), name="second")
    merged = keras.layers.Add(name="sum")([keras.layers.Dense(3, name="dense")(first), second]) * 2
    model = keras.Model({"first": first, "second": second}, merged)
    text = model.to_json()
    again = keras.models.model_from_json(text)
    copy = keras.models.clone_model(model)
    return [again.to_json() == text, copy.get_config() == model.get_config(), sorted(copy.input), sorted(again.input)]

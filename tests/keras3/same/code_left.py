"""What remained of Keras 3's code: variables in graphs, types of symbols, nested losses, hooks."""

import tempfile
import warnings

import numpy as np

X = np.arange(18, dtype="float32").reshape(6, 3) / 10
Y = X[:, :1]


def numbers(keras, values):
    return [float(keras.ops.convert_to_numpy(each)) for each in values]


# --- variables and comparisons in graphs -----------------------------------------------------------------------------


def case_a_graph_reads_a_variable_and_does_not_train_it(keras):
    found = []
    for compute in (
        lambda x, variable: x * variable,
        lambda x, variable: keras.ops.multiply(variable, x),
        lambda x, variable: keras.ops.where(x > 0.5, x, variable),
    ):
        variable = keras.Variable(np.array([1, 2, 3], "float32"))
        inputs = keras.Input((3,))
        model = keras.Model(inputs, compute(inputs, variable))
        before = keras.ops.convert_to_numpy(model(X))
        variable.assign(5 * variable)
        after = model.predict(X, verbose=0)
        trained = keras.Model(inputs, keras.layers.Dense(1)(model.output))
        with warnings.catch_warnings():  # torchkeras's, that it trains no weight of the model
            warnings.simplefilter("ignore")
            trained.compile("sgd", "mse")
            trained.fit(X, Y, verbose=0)
        found.append([before, after, variable.numpy(), len(model.weights), len(trained.weights)])
    return found


def case_a_weight_in_a_graph_trains_with_its_layer(keras):
    dense = keras.layers.Dense(3, use_bias=False, kernel_initializer="ones")
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.ops.matmul(dense(inputs), dense.kernel))
    model.compile("sgd", "mse")
    model.fit(X, X, verbose=0)
    return [model.get_weights(), model.predict(X, verbose=0)]


def case_equal_symbols_are_one_object(keras):
    first, second = keras.Input((3,)), keras.Input((2,))
    unequal = keras.Model(first, first != 0.0)(X)
    return [
        first == first,
        first == second,
        first == 0.0,
        [second, first].index(first),
        first in [second],
        keras.ops.convert_to_numpy(unequal),
        keras.ops.convert_to_numpy(keras.Model(first, keras.ops.equal(first, 0.0))(X)),
    ]


# --- types of symbols ------------------------------------------------------------------------------------------------


def case_integers_stay_integers_where_a_layer_moves_them(keras):
    inputs = keras.Input((4, 2), dtype="int32")
    found = []
    for layer in (keras.layers.Flatten(), keras.layers.Reshape((8,)), keras.layers.Permute((2, 1))):
        outputs = layer(inputs)
        halved = keras.Model(inputs, outputs // 2)(np.arange(8, dtype="int32").reshape(1, 4, 2))
        found.append([keras.backend.standardize_dtype(outputs.dtype), keras.ops.convert_to_numpy(halved)])
    return found


# --- hooks of data ---------------------------------------------------------------------------------------------------


def case_hooks_of_a_dataset(keras):
    log = []

    class Data(keras.utils.PyDataset):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __len__(self):
            return 2

        def __getitem__(self, index):
            log.append(f"{self.name} {index}")
            return X[:2], Y[:2]

        def on_epoch_begin(self):
            log.append(f"{self.name} begins")

        def on_epoch_end(self):
            log.append(f"{self.name} ends")

    class Hooks(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            log.clear()  # Keras looks at a batch before

        def on_epoch_begin(self, epoch, logs=None):
            log.append(f"epoch {epoch} begins")

        def on_epoch_end(self, epoch, logs=None):
            log.append(f"epoch {epoch} ends")

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = []
    for options in ({}, {"validation_data": Data("validation")}):
        model.fit(Data("training"), epochs=2, shuffle=False, callbacks=[Hooks()], verbose=0, **options)
        before = "validation ends", "validation begins"  # Keras ends the data once more before the first batch
        found.append([log[place] for place in range(len(log)) if tuple(log[place : place + 2]) != before])
    for run in (model.evaluate, model.predict):
        log.clear()
        run(Data("test"), verbose=0)
        found.append(log[-4:])  # Keras ends the data once more before
    return found


# --- configs ---------------------------------------------------------------------------------------------------------


def case_any_layer_keeps_its_activity_regularizer(keras):
    class Own(keras.layers.Layer):
        def call(self, x):
            return 2 * x

    found = []
    for layer in (
        keras.layers.Activation("relu", activity_regularizer="l2"),
        keras.layers.BatchNormalization(activity_regularizer="l1"),
        keras.layers.Dropout(0.1, activity_regularizer=keras.regularizers.L1(0.3)),
        Own(activity_regularizer="l2"),
        keras.layers.ActivityRegularization(0.1, 0.2),
    ):
        inputs = keras.Input((3,))
        model = keras.Model(inputs, layer(inputs))
        with keras.saving.custom_object_scope({"Own": Own}), tempfile.TemporaryDirectory() as folder:
            model.save(f"{folder}/model.keras")
            copies = (
                keras.models.clone_model(model),
                keras.models.model_from_json(model.to_json()),
                keras.models.load_model(f"{folder}/model.keras"),
            )
        for each in (model, *copies):
            each(X)
            found.append(numbers(keras, each.losses))
    return found


# --- nested losses ---------------------------------------------------------------------------------------------------


def case_losses_and_metrics_are_nested_as_the_outputs_are(keras):
    found = []
    for nest, options in (
        (lambda a, b, c: {"p": {"a": a, "b": b}, "c": c}, {"loss": {"p": {"a": "mse", "b": "mae"}, "c": "mse"}}),
        (
            lambda a, b, c: {"p": {"a": a, "b": b}, "c": c},
            {
                "loss": {"p": {"a": "mse", "b": "mae"}, "c": "mse"},
                "loss_weights": {"p": {"a": 0.5, "b": 2.0}, "c": 1.0},
                "metrics": {"p": {"a": ["mae"], "b": None}, "c": "mse"},
            },
        ),
        (lambda a, b, c: [[a, b], c], {"loss": [["mse", "mae"], "mse"]}),
        (lambda a, b, c: [[a, b], c], {"loss": ["mse", "mae", "mse"]}),
        (lambda a, b, c: [[a, b], c], {"loss": [["mse", "mae"], None]}),
        (lambda a, b, c: {"p": [a, b], "c": c}, {"loss": {"p": ["mse", "mae"]}}),
        (lambda a, b, c: {"p": (a, b), "c": c}, {"loss": {"p": ("mse", "mae"), "c": "mae"}}),
        (lambda a, b, c: {"p": (a, b), "c": c}, {"loss": "mse"}),
    ):
        inputs = keras.Input((3,))
        layers = [keras.layers.Dense(1, kernel_initializer="ones", name=name) for name in ("one", "two", "three")]
        model = keras.Model(inputs, nest(*(layer(inputs) for layer in layers)))
        model.compile("sgd", **options)
        targets = nest(Y, 2 * Y, 3 * Y)
        found.append([model.evaluate(X, targets, verbose=0, return_dict=True), model.evaluate(X, targets, verbose=0)])
        found.append([model.fit(X, targets, batch_size=2, shuffle=False, verbose=0).history, model.get_weights()])
    return found


# --- the kinds of several outputs ------------------------------------------------------------------------------------


def kinds(value):
    """The kinds of a structure, without its tensors."""
    if isinstance(value, dict):
        return {key: kinds(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return ["tuple" if isinstance(value, tuple) else "list", *map(kinds, value)]
    return "tensor"


def case_kinds_of_several_outputs(keras):
    @keras.saving.register_keras_serializable("kinds")
    class Pair(keras.layers.Layer):
        def call(self, x):
            return x, x * 2

    class Told(keras.layers.Layer):
        def call(self, x):
            return x, [x * 2]

        def compute_output_spec(self, x):
            return keras.KerasTensor(x.shape, x.dtype), [keras.KerasTensor(x.shape, x.dtype)]

    class Mixed(keras.layers.Layer):
        def call(self, x):
            return {"a": x, "b": (x, [x])}

    class Both(keras.Operation):
        def call(self, x):
            return x, x * 2

        def compute_output_spec(self, x):
            return keras.KerasTensor(x.shape, x.dtype), keras.KerasTensor(x.shape, x.dtype)

    sequence, values = keras.Input((4, 3)), np.ones((2, 4, 3), "float32")
    found = []
    for x in (sequence, values):
        found.append([kinds(layer(x)) for layer in (Pair(), Told(), Mixed(), Both())])
        found.append(kinds(keras.layers.LSTM(2, return_state=True)(x)))
        found.append(kinds(keras.layers.MultiHeadAttention(1, 2)(x, x, return_attention_scores=True)))
        found.append([kinds(keras.ops.moments(x, axes=1)), kinds(keras.ops.split(x, 2, axis=1))])
    found.append(kinds(Pair()(sequence) + (sequence,)))  # noqa: RUF005  (a list would refuse it)
    model = keras.Model(sequence, Pair()(sequence))
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/m.keras")
        loaded = keras.models.load_model(f"{folder}/m.keras")
    copy = keras.models.clone_model(model)
    return found + [
        [kinds(m.predict(values, verbose=0)), kinds(m(values)), kinds(m.output)] for m in (model, loaded, copy)
    ]

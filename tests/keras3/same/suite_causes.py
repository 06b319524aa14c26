"""Causes for which tests of Keras 3 failed: what types, ranges and forms functions, layers and metrics take."""

import warnings

import numpy as np


def _arrays(keras, value):
    """The same with arrays in place of tensors and variables."""
    if isinstance(value, dict):
        return {name: _arrays(keras, each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_arrays(keras, each) for each in value]
    return value if value is None or isinstance(value, (str, int, float)) else keras.ops.convert_to_numpy(value)


def _filled(keras, layer, *inputs):
    """The outputs of a layer whose weights are counted up."""
    layer(*(np.asarray(each, "float32") for each in inputs))
    for number, weight in enumerate(layer.weights):
        values = np.arange(weight.value.numel(), dtype="float32").reshape(tuple(weight.shape))
        weight.assign((values % 5 + number + 1) / 10)
    outputs = layer(*inputs)
    return str(outputs.dtype), _arrays(keras, outputs)


def case_integers_into_layers(keras):
    x2, x3 = np.arange(6).reshape(2, 3), np.arange(12).reshape(2, 3, 2)
    x4 = np.arange(32).reshape(2, 4, 4, 1)
    layers = keras.layers
    return {
        "Dense": _filled(keras, layers.Dense(2), x2),
        "LSTM": _filled(keras, layers.LSTM(2), x3),
        "GRU": _filled(keras, layers.GRU(2, return_sequences=True), x3),
        "SimpleRNN": _filled(keras, layers.SimpleRNN(2), x3),
        "RNN": _filled(keras, layers.RNN(layers.LSTMCell(2)), x3),
        "Bidirectional": _filled(keras, layers.Bidirectional(layers.GRU(2)), x3),
        "PReLU": _filled(keras, layers.PReLU(), x2 - 3),
        "BatchNormalization": _filled(keras, layers.BatchNormalization(), x2),
        "UnitNormalization": _filled(keras, layers.UnitNormalization(), x2 + 1),
        "GlobalAveragePooling1D": _filled(keras, layers.GlobalAveragePooling1D(), x3),
        "GlobalAveragePooling2D": _filled(keras, layers.GlobalAveragePooling2D(), x4),
    }


def case_lists_into_preprocessing(keras):
    layers = keras.layers
    found = {
        "Discretization": layers.Discretization(bin_boundaries=[0.0, 1.0])([[0.5, 2.0]]),
        "one number": layers.Discretization(bin_boundaries=[0.0, 1.0], output_mode="one_hot")(0.5),
        "CategoryEncoding": layers.CategoryEncoding(4)([3, 2, 0, 1]),
        "one hot": layers.CategoryEncoding(4, output_mode="one_hot")([3, 2, 0, 1]),
        "Rescaling": layers.Rescaling(2.0, offset=1.0)([[0.5, 2.0]]),
    }
    return _arrays(keras, found)


def case_convolutions_with_lora(keras):
    found = {}
    for rank in (1, 2, 3):
        layer = getattr(keras.layers, f"Conv{rank}D")(3, 2, strides=1 if rank == 2 else 2, lora_rank=2, lora_alpha=4.0)
        x = np.arange(2 * 4**rank * 2, dtype="float32").reshape(2, *[4] * rank, 2) / 50
        outputs = _filled(keras, layer, x)
        found[rank] = [outputs, [weight.name for weight in layer.trainable_weights], layer.kernel]
    return _arrays(keras, found)


def case_embedding_with_weights(keras):
    values = np.arange(6, dtype="float32").reshape(3, 2)
    layer = keras.layers.Embedding(3, 2, weights=values)
    other = keras.layers.Embedding(3, 2, weights=[values])
    return _arrays(keras, [layer.embeddings, layer(np.array([[0, 2]])), other.embeddings])


def case_types_of_einsum(keras):
    one, short = np.ones((2, 2), "int8"), np.ones((2, 2), "int16")
    found = [keras.ops.einsum("ij,jk->ik", one, one), keras.ops.einsum("ij->ji", one)]
    return [*(str(each.dtype) for each in found), str(keras.ops.einsum("ij->ji", short).dtype)]


def case_medians(keras):
    x = np.array([[1.0, 4.0, 2.0, 8.0], [3.0, -1.0, 7.0, 5.0], [6.0, 0.5, 9.0, 2.5]], "float32")
    with_nan = x.copy()
    with_nan[0, 1] = with_nan[2, 2] = np.nan
    found = {}
    for axis in (None, 0, 1, (0, 1), -1):
        for keepdims in (False, True):
            found[f"{axis} {keepdims}"] = [
                keras.ops.median(x, axis=axis, keepdims=keepdims),
                keras.ops.nanmedian(with_nan, axis=axis, keepdims=keepdims),
                keras.ops.median(x.astype("int32"), axis=axis, keepdims=keepdims),
            ]
    return _arrays(keras, found)


def case_thresholds_of_auc(keras):
    true, said = np.array([0, 0, 1, 1]), np.array([0.0, 0.5, 0.3, 0.9])
    found = []
    for options in ({"num_thresholds": None, "thresholds": [0.3, 0.5]}, {"num_thresholds": 5}, {"thresholds": [0.5]}):
        metric = keras.metrics.AUC(**options)
        metric.update_state(true, said)
        given = metric.get_config().get("thresholds")
        found.append(
            [
                list(map(float, metric.thresholds)),
                metric.num_thresholds,
                given and list(map(float, given)),
                float(metric.result()),
            ]
        )
    return _arrays(keras, found)


def case_variables_of_a_metric(keras):
    class Counts(keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="counts")
            self.own = {"a": [keras.Variable(1.0), keras.Variable(2.0)]}

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.own["a"][0].assign_add(1.0)

        def result(self):
            return self.own["a"][0] + self.own["a"][1]

    metric = Counts()
    metric.update_state([0.0], [1.0])
    found = [len(metric.variables), float(metric.result())]
    metric.reset_state()
    return [*found, float(metric.result())]


def case_variables_in_numpy(keras):
    variable = keras.Variable(np.array([[-1.0, 2.0], [3.0, 4.0]], "float32"))
    joined = np.concatenate([variable, variable])
    return [float(np.min(variable)), np.max(variable, axis=1), joined, float(np.mean(variable))]


def case_rate_of_a_schedule_from_a_variable(keras):
    adam = keras.optimizers.Adam(learning_rate=0.5)
    count = len(adam.variables)
    adam.learning_rate = keras.optimizers.schedules.PolynomialDecay(adam.learning_rate, 4)
    return [count, len(adam.variables), float(adam.learning_rate)]


def case_refused(keras):
    def refusal(function):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                function()
        except (ValueError, UserWarning, AttributeError) as error:
            return next(each.__name__ for each in (ValueError, UserWarning, AttributeError) if isinstance(error, each))
        return "none"

    def of_type(made):
        made.dtype = "float16"

    class Zero(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return y_pred * 0

    x = np.ones((2, 3), "float32")
    return {
        "SGD": [refusal(lambda value=value: keras.optimizers.SGD(momentum=value)) for value in (-1.0, 1.0, 2.0)],
        "Lion": [refusal(lambda value=value: keras.optimizers.Lion(beta_1=value)) for value in (-0.1, 0.0, 1.1)],
        "ReLU": refusal(lambda: keras.layers.ReLU(threshold=-1.0)),
        "dtype of a loss": refusal(lambda: of_type(Zero())),
        "softmax of one": refusal(lambda: keras.ops.softmax(np.ones((2, 1), "float32"))),
        "softmax of two": refusal(lambda: keras.ops.softmax(np.ones((2, 2), "float32"))),
        "rms_scaling": refusal(lambda: keras.ops.layer_normalization(x, rms_scaling=True)),
        "not square": [
            refusal(lambda name=name: getattr(keras.ops, name)(x)) for name in ("det", "inv", "eig", "eigh")
        ],
        "affine_transform": refusal(lambda: keras.ops.image.affine_transform(np.ones((5, 5), "float32"), np.ones(8))),
    }

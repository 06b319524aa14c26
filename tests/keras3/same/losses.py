"""Losses of Keras 3: functions, classes with their options, reductions, weights and masks, losses of one's own."""

import inspect

import numpy as np
import torch

RANDOM = np.random.default_rng(3)
REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None)


def _normal(*shape):
    return RANDOM.normal(size=shape).astype("float32")


def _shares(*shape):
    return RANDOM.uniform(0.05, 0.95, size=shape).astype("float32")


def _one_hot(labels, classes):
    return np.eye(classes, dtype="float32")[labels]


def _rows(*shape):
    raw = np.exp(_normal(*shape))
    return (raw / raw.sum(-1, keepdims=True)).astype("float32")


LABELS, LABEL_STEPS = RANDOM.integers(0, 4, 6), RANDOM.integers(0, 4, (6, 3))
DATA = {
    "numbers": (_normal(6, 4), _normal(6, 4)),
    "steps": (_normal(6, 3, 4), _normal(6, 3, 4)),
    "column": (_normal(6), _normal(6, 1)),
    "row of a column": (_normal(6, 1), _normal(6)),
    "vectors": (_normal(6), _normal(6)),
    "positive": (3.0 * _shares(6, 4), 3.0 * _shares(6, 4)),
    "signs": (np.sign(_normal(6, 4)), _normal(6, 4)),
    "bits": (RANDOM.integers(0, 2, (6, 4)), _normal(6, 4)),
    "shares": (RANDOM.integers(0, 2, (6, 4)), _shares(6, 4)),
    "share steps": (RANDOM.integers(0, 2, (6, 3, 4)), _shares(6, 3, 4)),
    "share vectors": (RANDOM.integers(0, 2, 6), _shares(6)),
    "truth": (RANDOM.integers(0, 2, (6, 4)).astype(bool), _shares(6, 4)),
    "certain": (RANDOM.integers(0, 2, (6, 4)), RANDOM.integers(0, 2, (6, 4)).astype("float32")),
    "rows": (_one_hot(LABELS, 4), _rows(6, 4)),
    "row steps": (_one_hot(LABEL_STEPS, 4), _rows(6, 3, 4)),
    "row sums": (_one_hot(LABELS, 4), 2.0 * _shares(6, 4)),
    "certain rows": (_one_hot(LABELS, 4), _one_hot(RANDOM.integers(0, 4, 6), 4)),
    "row logits": (_one_hot(LABELS, 4), 3.0 * _normal(6, 4)),
    "first rows": (_one_hot(LABEL_STEPS, 4).transpose(0, 2, 1), _rows(6, 3, 4).transpose(0, 2, 1)),
    "labels": (LABELS, _rows(6, 4)),
    "float labels": (LABELS.astype("float32"), _rows(6, 4)),
    "label column": (LABELS[:, None], _rows(6, 4)),
    "label steps": (LABEL_STEPS, _rows(6, 3, 4)),
    "label sums": (LABELS, 2.0 * _shares(6, 4)),
    "label logits": (LABELS, 3.0 * _normal(6, 4)),
    "first labels": (LABEL_STEPS, _rows(6, 3, 4).transpose(0, 2, 1)),
    "embeddings": (RANDOM.integers(0, 3, 6), _normal(6, 4) / 2.0),
    "sequences": (RANDOM.integers(0, 5, (6, 3)), _normal(6, 9, 5)),
}
NUMBERS = ("numbers", "steps", "column", "row of a column", "vectors")
SHARES = ("shares", "share steps", "share vectors", "truth", "certain")
ROWS = ("rows", "row steps", "row sums", "certain rows")
LABELLED = ("labels", "float labels", "label column", "label steps", "label sums")
# Functions: the data that they take, and further options with data.
FUNCTIONS = {
    "mean_squared_error": (NUMBERS, []),
    "mean_absolute_error": (NUMBERS, []),
    "mean_absolute_percentage_error": (NUMBERS, []),
    "mean_squared_logarithmic_error": ((*NUMBERS, "positive"), []),
    "cosine_similarity": (NUMBERS, [({"axis": 1}, "steps"), ({"axis": 0}, "numbers")]),
    "huber": (NUMBERS, [({"delta": 0.3}, "numbers"), ({"delta": 2}, "steps")]),
    "log_cosh": (NUMBERS, []),
    "hinge": (("signs", "bits", "vectors"), []),
    "squared_hinge": (("signs", "bits", "vectors"), []),
    "categorical_hinge": (("rows", "row logits", "row steps"), []),
    "kl_divergence": ((*ROWS, "share vectors"), []),
    "poisson": (("positive", "share steps", "share vectors"), []),
    "binary_crossentropy": (
        SHARES,
        [
            ({"from_logits": True}, "bits"),
            ({"label_smoothing": 0.2}, "shares"),
            ({"from_logits": True, "label_smoothing": 0.1}, "bits"),
            ({"axis": 1}, "share steps"),
        ],
    ),
    "binary_focal_crossentropy": (
        SHARES,
        [
            ({"from_logits": True}, "bits"),
            ({"apply_class_balancing": True}, "shares"),
            ({"apply_class_balancing": True, "alpha": 0.6, "gamma": 1.0}, "shares"),
            ({"gamma": 0.0, "label_smoothing": 0.2}, "shares"),
            ({"axis": 1}, "share steps"),
        ],
    ),
    "categorical_crossentropy": (
        ROWS,
        [
            ({"from_logits": True}, "row logits"),
            ({"label_smoothing": 0.2}, "rows"),
            ({"from_logits": True, "label_smoothing": 0.1}, "row logits"),
            ({"axis": 1}, "first rows"),
        ],
    ),
    "categorical_focal_crossentropy": (
        ROWS,
        [
            ({"from_logits": True}, "row logits"),
            ({"alpha": 0.6, "gamma": 1.0}, "rows"),
            ({"alpha": [0.1, 0.2, 0.3, 0.4]}, "rows"),
            ({"gamma": 0.5, "label_smoothing": 0.2}, "rows"),
            ({"axis": 1}, "first rows"),
        ],
    ),
    "sparse_categorical_crossentropy": (
        LABELLED,
        [
            ({"from_logits": True}, "label logits"),
            ({"ignore_class": 1}, "labels"),
            ({"ignore_class": 1}, "label steps"),
            ({"ignore_class": 2, "from_logits": True}, "label logits"),
            ({"axis": 1}, "first labels"),
        ],
    ),
    "categorical_generalized_cross_entropy": ((), [({"q": 0.5}, "labels"), ({"q": 0.9}, "label steps")]),
    "ctc": (("sequences",), []),
    "circle": (
        ("embeddings",),
        [({"gamma": 2.0, "margin": 0.1}, "embeddings"), ({"remove_diagonal": False}, "embeddings")],
    ),
    "dice": ((*SHARES, *ROWS), [({"axis": 1}, "shares"), ({"axis": (1, 2)}, "share steps")]),
    "tversky": (
        (*SHARES, *ROWS),
        [({"axis": 1}, "shares"), ({"alpha": 0.2, "beta": 0.7, "axis": (1, 2)}, "share steps")],
    ),
}
CLASSES = {
    "MeanSquaredError": "mean_squared_error",
    "MeanAbsoluteError": "mean_absolute_error",
    "MeanAbsolutePercentageError": "mean_absolute_percentage_error",
    "MeanSquaredLogarithmicError": "mean_squared_logarithmic_error",
    "CosineSimilarity": "cosine_similarity",
    "Huber": "huber",
    "LogCosh": "log_cosh",
    "Hinge": "hinge",
    "SquaredHinge": "squared_hinge",
    "CategoricalHinge": "categorical_hinge",
    "KLDivergence": "kl_divergence",
    "Poisson": "poisson",
    "BinaryCrossentropy": "binary_crossentropy",
    "BinaryFocalCrossentropy": "binary_focal_crossentropy",
    "CategoricalCrossentropy": "categorical_crossentropy",
    "CategoricalFocalCrossentropy": "categorical_focal_crossentropy",
    "SparseCategoricalCrossentropy": "sparse_categorical_crossentropy",
    "CategoricalGeneralizedCrossEntropy": "categorical_generalized_cross_entropy",
    "CTC": "ctc",
    "Circle": "circle",
    "Dice": "dice",
    "Tversky": "tversky",
}
# Lists of labels, which genuine Keras on torch refuses.
NO_LISTS = ("sparse_categorical_crossentropy", "categorical_generalized_cross_entropy", "ctc", "circle")
TOLERANCES = {
    # exp(80 * ...) of float32
    **dict.fromkeys(("functions", "classes", "gradients"), (1e-4, 2e-6)),
}


def _runs(name):
    data, further = FUNCTIONS[name]
    return [*(({}, each) for each in data), *further]


def _array(keras, found):
    return keras.ops.convert_to_numpy(found)


def _tensors(data):
    y_true, y_pred = DATA[data]
    return torch.from_numpy(np.ascontiguousarray(y_true)), torch.from_numpy(np.ascontiguousarray(y_pred))


def case_functions(keras):
    return {
        name: {
            f"{options} {data}": _array(keras, getattr(keras.losses, name)(*_tensors(data), **options))
            for options, data in _runs(name)
        }
        for name in FUNCTIONS
    }


def case_functions_of_arrays(keras):
    found = {}
    for name in FUNCTIONS:
        if name not in NO_LISTS:
            options, data = _runs(name)[0]
            y_true, y_pred = DATA[data]
            found[name] = _array(keras, getattr(keras.losses, name)(y_true, y_pred, **options))
    return found


def case_functions_of_lists(keras):
    found = {}
    for name in FUNCTIONS:
        if name not in NO_LISTS:
            options, data = _runs(name)[0]
            y_true, y_pred = (each.tolist() for each in DATA[data])
            found[name] = _array(keras, getattr(keras.losses, name)(y_true, y_pred, **options))
    return found


def case_functions_of_64_bits(keras):
    found = {}
    for name in FUNCTIONS:
        if name not in NO_LISTS:
            options, data = _runs(name)[0]
            y_true, y_pred = DATA[data]
            found[name] = _array(keras, getattr(keras.losses, name)(y_true, y_pred.astype("float64"), **options))
    return found


def case_functions_of_numbers(keras):
    losses = keras.losses
    found = {
        name: getattr(losses, name)(0.25, 0.75)
        for name in ("mean_squared_error", "mean_absolute_error", "huber", "log_cosh", "poisson", "hinge")
    }
    found["tensors"] = losses.mean_squared_error(torch.tensor(1.0), torch.tensor(3.0))
    found["whole numbers"] = losses.mean_squared_error([1, 2], [3, 5])
    found["truth values"] = losses.mean_absolute_error([True, False], [0.25, 0.25])
    return {name: _array(keras, each) for name, each in found.items()}


def case_functions_of_broadcast_shapes(keras):
    y_true, y_pred = DATA["numbers"]
    found = {}
    for name in ("mean_squared_error", "mean_absolute_error", "huber", "log_cosh", "hinge", "poisson", "dice"):
        function = getattr(keras.losses, name)
        found[name] = [
            _array(keras, function(np.abs(y_true[:1]), np.abs(y_pred))),
            _array(keras, function(np.abs(y_true), np.abs(y_pred[:1]))),
        ]
    return found


def case_references_of_circle(keras):
    labels, embeddings = DATA["embeddings"]
    found = keras.losses.circle(
        torch.from_numpy(labels), embeddings, np.array([0, 1, 2, 0]), embeddings[:4], remove_diagonal=False
    )
    return _array(keras, found)


def case_classes(keras):
    found = {}
    for kind, name in CLASSES.items():
        made = getattr(keras.losses, kind)
        for options, data in _runs(name):
            found[f"{kind} {options} {data}"] = _array(keras, made(**options)(*_tensors(data)))
    return found


def case_gradients(keras):
    found = {}
    for kind, name in CLASSES.items():
        for options, data in _runs(name):
            y_true, y_pred = _tensors(data)
            if data in ("certain", "certain rows"):  # where clipped probabilities have no gradient
                continue
            y_pred.requires_grad_()
            getattr(keras.losses, kind)(**options)(y_true, y_pred).backward()
            found[f"{kind} {options} {data}"] = np.asarray(y_pred.grad)
    return found


WEIGHTS = {
    "numbers": (None, 2.0, _shares(6), _shares(6, 1), [1.0, 0.0, 2.0, 0.0, 1.0, 0.5], np.zeros(6, "float32")),
    "steps": (None, 2.0, _shares(6, 1), _shares(6, 3), _shares(6, 3, 1), _shares(3), _shares(1, 3)),
    "vectors": (None, 3, _shares(6), _shares(6, 1), _shares(2, 6)),
}


def case_weights(keras):
    found = {}
    for data, weights in WEIGHTS.items():
        for reduction in REDUCTIONS:
            loss = keras.losses.MeanAbsoluteError(reduction=reduction)
            for number, weight in enumerate(weights):
                made = loss(*DATA[data], sample_weight=weight)
                found[f"{data} {reduction} {number}"] = _array(keras, made)
    return found


MASKS = {
    "numbers": (np.array([True, False, True, True, False, False]), np.zeros(6, bool)),
    "steps": (RANDOM.integers(0, 2, (6, 3)).astype(bool), RANDOM.integers(0, 2, (6, 1)).astype(bool)),
}


def case_masks(keras):
    found = {}
    for data, masks in MASKS.items():
        for reduction in REDUCTIONS:
            loss = keras.losses.MeanSquaredError(reduction=reduction)
            for number, mask in enumerate(masks):
                for count, weight in enumerate((None, WEIGHTS[data][3])):
                    y_true, y_pred = _tensors(data)
                    y_pred._keras_mask = torch.from_numpy(mask)  # type: ignore[attr-defined]
                    made = loss(y_true, y_pred, weight)
                    found[f"{data} {reduction} {number} {count}"] = _array(keras, made)
    return found


def case_what_losses_leave_out(keras):
    found = {}
    for reduction in REDUCTIONS:
        losses = {
            "labels": keras.losses.SparseCategoricalCrossentropy(ignore_class=1, reduction=reduction),
            "label steps": keras.losses.SparseCategoricalCrossentropy(ignore_class=0, reduction=reduction),
            "embeddings": keras.losses.Circle(gamma=4.0, reduction=reduction),
        }
        for data, loss in losses.items():
            for count, weight in enumerate((None, _weight_of(data))):
                found[f"{reduction} {data} {count}"] = _array(keras, loss(*_tensors(data), sample_weight=weight))
    return found


def _weight_of(data):
    count = DATA[data][0].size
    return (np.arange(count, dtype="float32") / count).reshape(DATA[data][0].shape)


def case_dtypes(keras):
    found = {}
    y_true, y_pred = DATA["numbers"]
    for dtype in (None, "float32", "float16"):
        for given in ("float32", "float64", "float16", "int32"):
            made = keras.losses.MeanAbsoluteError(dtype=dtype)
            value = made((4.0 * y_true).astype(given), (4.0 * y_pred).astype(given))
            found[f"{dtype} {given}"] = [str(value.dtype), made.dtype, round(float(value), 2)]
    return found


def case_lists_and_numbers(keras):
    losses = keras.losses
    found = [
        losses.MeanSquaredError()([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 0.0]]),
        losses.MeanSquaredError()([[0, 1], [0, 0]], [[1, 1], [1, 0]], sample_weight=[0.7, 0.3]),
        losses.MeanSquaredError()(1, 3),
        losses.Huber(delta=0.5)([1.0, 2.0], [1.5, 4.0], [1, 0]),
        losses.BinaryCrossentropy(from_logits=True)([0, 1, 0, 0], [-18.6, 0.51, 2.94, -12.8]),
        losses.CategoricalCrossentropy(reduction="sum")([[0, 1, 0], [0, 0, 1]], [[0.05, 0.95, 0], [0.1, 0.8, 0.1]]),
        losses.MeanSquaredError(reduction=None)([torch.zeros(2), torch.ones(2)], [torch.ones(2), torch.ones(2)]),
    ]
    return [_array(keras, each) for each in found]


def _parameters(function):
    return [
        [each.name, "required" if each.default is inspect.Parameter.empty else each.default]
        for each in inspect.signature(function).parameters.values()
    ]


def case_signatures(keras):
    return {name: _parameters(getattr(keras.losses, name)) for name in (*CLASSES, *FUNCTIONS, "Loss")}


def case_names(keras):
    assert not [name for name in (*CLASSES, *FUNCTIONS) if not hasattr(keras.losses, name)]
    return {
        "default": {kind: getattr(keras.losses, kind)().name for kind in CLASSES},
        "given": keras.losses.Huber(name="mine").name,
    }


# Of classes whose config in genuine Keras has all options.
CONFIGS = {
    "MeanSquaredError": {},
    "LogCosh": {"reduction": "sum", "name": "mine"},
    "BinaryCrossentropy": {"from_logits": True, "label_smoothing": 0.1},
    "BinaryFocalCrossentropy": {"apply_class_balancing": True, "alpha": 0.5},
    "CategoricalCrossentropy": {"axis": 1},
    "CategoricalFocalCrossentropy": {"gamma": 1.0, "reduction": None},
    "CategoricalGeneralizedCrossEntropy": {"q": 0.25},
    "Circle": {"gamma": 2.0, "margin": 0.1, "remove_diagonal": False},
    "Dice": {"axis": 1},
    "Tversky": {"alpha": 0.1, "beta": 0.2},
}


def case_configs(keras):
    found = {}
    for kind, options in CONFIGS.items():
        made = getattr(keras.losses, kind)(**options)
        entry = keras.losses.serialize(made)
        again = getattr(keras.losses, kind).from_config(made.get_config())
        found[kind] = [made.get_config(), entry, again.get_config()]
    return found


def case_entries_of_functions(keras):
    return {name: keras.losses.serialize(getattr(keras.losses, name)) for name in FUNCTIONS}


def case_by_name(keras):
    losses = keras.losses
    names = ("mse", "MSE", "mae", "MAE", "mape", "msle", "bce", "BCE", "kld", "KLD", *list(FUNCTIONS)[:17])
    config = {"class_name": "BinaryCrossentropy", "config": {"from_logits": True}}
    return {
        "functions": {name: losses.get(name).__name__ for name in names},
        "classes": [losses.get("Huber").name, losses.get(losses.Huber).name, losses.get(config).from_logits],
        "deserialized": losses.deserialize(
            losses.serialize(losses.BinaryCrossentropy(label_smoothing=0.1))
        ).get_config(),
        "function": losses.deserialize(losses.serialize(losses.huber)).__name__,
        "none": losses.get(None),
    }


# --- of one's own ----------------------------------------------------------------------------------------------------


def _fourth_power(keras):
    class FourthPower(keras.losses.Loss):
        def __init__(self, scale=1.0, **kwargs):
            super().__init__(**kwargs)
            self.scale = scale

        def call(self, y_true, y_pred):
            return self.scale * keras.ops.mean((y_pred - y_true) ** 4, axis=-1)

        def get_config(self):
            return {**super().get_config(), "scale": self.scale}

    return FourthPower


def case_loss_of_ones_own(keras):
    made = _fourth_power(keras)
    found = []
    for reduction in REDUCTIONS:
        loss = made(2.0, reduction=reduction, name="fourth")
        found.append(_array(keras, loss(*DATA["steps"], sample_weight=_weight_of("label steps"))))
    loss = made(0.5, name="fourth")
    assert isinstance(loss, keras.losses.Loss)
    with_mask = torch.from_numpy(DATA["numbers"][1])
    with_mask._keras_mask = torch.from_numpy(MASKS["numbers"][0])  # type: ignore[attr-defined]
    again = made.from_config(loss.get_config())
    return {
        "values": found,
        "masked": _array(keras, loss(DATA["numbers"][0], with_mask)),
        "config": loss.get_config(),
        "again": [again.scale, again.name],
        "whole numbers": _array(keras, loss(np.array([[0, 1]]), np.array([[2, 3]]))),
    }


def case_automatic_names(keras):
    keras.utils.clear_session()
    made = _fourth_power(keras)
    return [made().name, made().name, made(name="mine").name, made().name]


def case_loss_of_trees(keras):
    class OfAll(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return keras.ops.mean((y_true["a"] - y_pred["a"]) ** 2 + (y_true["b"][0] - y_pred["b"][0]) ** 2, axis=-1)

    (a, b), (c, d) = DATA["numbers"], DATA["positive"]
    found = OfAll(name="all")({"a": a.astype("float64"), "b": [c]}, {"a": b, "b": [d]}, sample_weight=_shares_of(6))
    return _array(keras, found)


def _shares_of(count):
    return np.linspace(0.1, 0.9, count, dtype="float32")


def case_values_with_a_mask(keras):
    class Masked(keras.losses.Loss):
        def call(self, y_true, y_pred):
            found = keras.ops.mean(keras.ops.abs(y_pred - y_true), axis=-1)
            found._keras_mask = found > 1.0
            return found

    return [_array(keras, Masked(name="masked", reduction=each)(*_tensors("numbers"))) for each in REDUCTIONS]


def case_values_of_any_kind(keras):
    class Whole(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return (y_pred > y_true).any(-1)

    class Alone(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return 3.0

    return [
        _array(keras, Whole(name="whole")(*_tensors("numbers"))),
        _array(keras, Alone(name="alone")(*_tensors("numbers"))),
    ]

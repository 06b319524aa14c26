"""Metrics of Keras 3: functions, classes with their options over several batches, weights, metrics of one's own."""

import inspect

import numpy as np
import torch

RANDOM = np.random.default_rng(5)


def _normal(*shape):
    return RANDOM.normal(size=shape).astype("float32")


def _shares(*shape):
    return RANDOM.uniform(0.05, 0.95, size=shape).astype("float32")


def _one_hot(labels, classes):
    return np.eye(classes, dtype="float32")[labels]


def _rows(*shape):
    raw = np.exp(_normal(*shape))
    return (raw / raw.sum(-1, keepdims=True)).astype("float32")


LABELS, LABEL_STEPS = RANDOM.integers(0, 5, 12), RANDOM.integers(0, 5, (12, 3))
DATA = {
    "numbers": (_normal(12, 4), _normal(12, 4)),
    "steps": (_normal(12, 3, 4), _normal(12, 3, 4)),
    "column": (_normal(12), _normal(12, 1)),
    "vectors": (_normal(12), _normal(12)),
    "positive": (3.0 * _shares(12, 4), 3.0 * _shares(12, 4)),
    "classes": (RANDOM.integers(0, 3, 30), RANDOM.integers(0, 3, 30)),
    "class maps": (RANDOM.integers(0, 3, (12, 2, 2)), RANDOM.integers(0, 3, (12, 2, 2))),
    "outside": (RANDOM.integers(-1, 5, 30), RANDOM.integers(-1, 5, 30)),
    "signs": (np.sign(_normal(12, 4)), _normal(12, 4)),
    "bits": (RANDOM.integers(0, 2, (12, 4)), _normal(12, 4)),
    "shares": (RANDOM.integers(0, 2, (12, 4)), _shares(12, 4)),
    "share steps": (RANDOM.integers(0, 2, (12, 3, 4)), _shares(12, 3, 4)),
    "share vectors": (RANDOM.integers(0, 2, 30), _shares(30)),
    "share column": (RANDOM.integers(0, 2, (30, 1)), _shares(30, 1)),
    "truth": (RANDOM.integers(0, 2, (12, 4)).astype(bool), _shares(12, 4)),
    "tenths": (RANDOM.integers(0, 2, 30), (RANDOM.integers(0, 11, 30) / 10).astype("float32")),
    "rows": (_one_hot(LABELS, 5), _rows(12, 5)),
    "row steps": (_one_hot(LABEL_STEPS, 5), _rows(12, 3, 5)),
    "row logits": (_one_hot(LABELS, 5), 3.0 * _normal(12, 5)),
    "first rows": (_one_hot(LABEL_STEPS, 5).transpose(0, 2, 1), _rows(12, 3, 5).transpose(0, 2, 1)),
    "labels": (LABELS, _rows(12, 5)),
    "float labels": (LABELS.astype("float32"), _rows(12, 5)),
    "label column": (LABELS[:, None], _rows(12, 5)),
    "label steps": (LABEL_STEPS, _rows(12, 3, 5)),
    "label logits": (LABELS, 3.0 * _normal(12, 5)),
    "first labels": (LABEL_STEPS, _rows(12, 3, 5).transpose(0, 2, 1)),
    "sorted": (LABELS, np.argsort(_normal(12, 5), axis=-1)),
    "map rows": (_one_hot(RANDOM.integers(0, 3, (12, 2)), 3), _rows(12, 2, 3)),
}
NUMBERS = ("numbers", "steps", "column", "vectors")
SHARES = ("shares", "share steps", "share vectors", "share column", "truth", "tenths")
RATES = ("share vectors", "share column", "shares", "tenths")
# Functions that the losses do not have: the data that they take, and further options with data.
FUNCTIONS = {
    "binary_accuracy": (SHARES, [({"threshold": 0.8}, "shares"), ({"threshold": 0.0}, "bits")]),
    "categorical_accuracy": (("rows", "row steps"), []),
    "sparse_categorical_accuracy": (("labels", "float labels", "label column", "label steps"), []),
    "top_k_categorical_accuracy": ((), [({"k": 2}, "rows"), ({"k": 3}, "row steps"), ({}, "rows")]),
    "sparse_top_k_categorical_accuracy": (
        (),
        [
            ({"k": 2}, "labels"),
            ({"k": 2}, "label column"),
            ({"k": 3}, "label steps"),
            ({"k": 2, "from_sorted_ids": True}, "sorted"),
            ({}, "labels"),
        ],
    ),
    "pearson_correlation": (("numbers", "steps"), [({"axis": 0}, "numbers")]),
    "concordance_correlation": (("numbers", "steps"), [({"axis": 0}, "numbers")]),
}
OF_LOSSES = [
    *(
        "binary_crossentropy",
        "binary_focal_crossentropy",
        "categorical_crossentropy",
        "categorical_focal_crossentropy",
        "categorical_hinge",
    ),
    *(
        "hinge",
        "huber",
        "kl_divergence",
        "log_cosh",
        "mean_absolute_error",
        "mean_absolute_percentage_error",
        "mean_squared_error",
    ),
    *("mean_squared_logarithmic_error", "poisson", "sparse_categorical_crossentropy", "squared_hinge"),
]
CLASSES = {
    "Accuracy": (("classes", "class maps", "vectors"), []),
    "BinaryAccuracy": (SHARES, [({"threshold": 0.8}, "shares"), ({"threshold": 0}, "bits")]),
    "CategoricalAccuracy": (("rows", "row steps"), []),
    "SparseCategoricalAccuracy": (("labels", "float labels", "label column", "label steps"), []),
    "TopKCategoricalAccuracy": ((), [({"k": 2}, "rows"), ({"k": 3}, "row steps")]),
    "SparseTopKCategoricalAccuracy": (
        (),
        [({"k": 2}, "labels"), ({"k": 2}, "label column"), ({"k": 3}, "label steps")],
    ),
    "MeanSquaredError": (NUMBERS, []),
    "RootMeanSquaredError": (NUMBERS, []),
    "MeanAbsoluteError": (NUMBERS, []),
    "MeanAbsolutePercentageError": (NUMBERS, []),
    "MeanSquaredLogarithmicError": (("positive",), []),
    "CosineSimilarity": (NUMBERS, [({"axis": 1}, "steps")]),
    "LogCoshError": (NUMBERS, []),
    "PearsonCorrelation": (("numbers", "steps"), [({"axis": 1}, "steps")]),
    "ConcordanceCorrelation": (("numbers", "steps"), [({"axis": 1}, "steps")]),
    "Hinge": (("signs", "bits", "vectors"), []),
    "SquaredHinge": (("signs", "bits", "vectors"), []),
    "CategoricalHinge": (("rows", "row steps"), []),
    "KLDivergence": (("rows", "row steps", "share vectors"), []),
    "Poisson": (("positive", "share vectors"), []),
    "BinaryCrossentropy": (
        SHARES,
        [({"from_logits": True}, "bits"), ({"label_smoothing": 0.2}, "shares")],
    ),
    "CategoricalCrossentropy": (
        ("rows", "row steps"),
        [({"from_logits": True}, "row logits"), ({"label_smoothing": 0.2}, "rows"), ({"axis": 1}, "first rows")],
    ),
    "SparseCategoricalCrossentropy": (
        ("labels", "float labels", "label column", "label steps"),
        [
            ({"from_logits": True}, "label logits"),
            ({"ignore_class": 1}, "labels"),
            ({"ignore_class": 1}, "label steps"),
            ({"axis": 1}, "first labels"),
        ],
    ),
    "TruePositives": (RATES, [({"thresholds": 0.8}, "shares"), ({"thresholds": [0.9, 0.2]}, "shares")]),
    "FalsePositives": (RATES, [({"thresholds": [0.0, 0.5, 1.0]}, "tenths")]),
    "TrueNegatives": (RATES, [({"thresholds": [0.5]}, "shares")]),
    "FalseNegatives": (RATES, [({"thresholds": [0.3, 0.6]}, "shares")]),
    "Precision": (
        RATES,
        [
            ({"thresholds": [0.2, 0.6]}, "shares"),
            ({"top_k": 2}, "shares"),
            ({"class_id": 1}, "shares"),
            ({"top_k": 2, "class_id": 0}, "share steps"),
        ],
    ),
    "Recall": (
        RATES,
        [({"thresholds": [0.2, 0.6]}, "shares"), ({"top_k": 2}, "shares"), ({"top_k": 3, "class_id": 2}, "shares")],
    ),
    "SensitivityAtSpecificity": ((), [({"specificity": 0.5}, "shares"), ({"specificity": 0.3}, "tenths")]),
    "SpecificityAtSensitivity": ((), [({"sensitivity": 0.5, "num_thresholds": 1}, "shares")]),
    "PrecisionAtRecall": ((), [({"recall": 0.6, "num_thresholds": 20}, "shares"), ({"recall": 0.6}, "tenths")]),
    "RecallAtPrecision": ((), [({"precision": 0.4, "class_id": 2}, "shares"), ({"precision": 1.0}, "tenths")]),
    "AUC": (
        RATES,
        [
            ({"curve": "PR"}, "shares"),
            ({"curve": "PRGAIN"}, "shares"),
            ({"summation_method": "minoring", "num_thresholds": 11}, "tenths"),
            ({"summation_method": "majoring", "curve": "PR"}, "shares"),
            ({"thresholds": [0.7, 0.2, 0.4]}, "shares"),
            ({"multi_label": True}, "shares"),
            ({"multi_label": True, "num_labels": 4, "label_weights": [0.1, 0.2, 0.3, 0.4]}, "shares"),
            ({"label_weights": [0.1, 0.2, 0.3, 0.4]}, "shares"),
            ({"from_logits": True}, "bits"),
        ],
    ),
    "FBetaScore": (
        ("rows",),
        [
            ({"beta": 2.0, "average": "micro"}, "rows"),
            ({"beta": 0.5, "average": "macro"}, "rows"),
            ({"average": "weighted", "threshold": 0.3}, "rows"),
        ],
    ),
    "F1Score": (("rows", "shares"), [({"average": "macro", "threshold": 0.2}, "rows")]),
    "R2Score": (
        ("numbers", "column", "positive"),
        [
            ({"class_aggregation": None}, "numbers"),
            ({"class_aggregation": "variance_weighted_average"}, "numbers"),
            ({"num_regressors": 2}, "numbers"),
        ],
    ),
    "IoU": (
        (),
        [
            ({"num_classes": 3, "target_class_ids": [0, 2]}, "classes"),
            ({"num_classes": 3, "target_class_ids": (1,), "ignore_class": 0}, "class maps"),
            ({"num_classes": 4, "target_class_ids": [3]}, "outside"),
            (
                {"num_classes": 3, "target_class_ids": [1], "sparse_y_true": False, "sparse_y_pred": False},
                "map rows",
            ),
        ],
    ),
    "MeanIoU": ((), [({"num_classes": 3}, "classes"), ({"num_classes": 4, "ignore_class": 1}, "outside")]),
    "OneHotIoU": ((), [({"num_classes": 3, "target_class_ids": [0, 1]}, "map rows")]),
    "OneHotMeanIoU": ((), [({"num_classes": 3}, "map rows")]),
    "BinaryIoU": (("shares", "share vectors"), [({"threshold": 0.3, "target_class_ids": [1]}, "shares")]),
}
WHOLE_COUNTS = ("IoU", "MeanIoU", "OneHotIoU", "OneHotMeanIoU", "BinaryIoU")  # cut weights to whole numbers there
# These reduce the last axis: a vector is one value, for which there are no weights of samples.
OF_ROWS = [
    *(
        "MeanSquaredError",
        "MeanAbsoluteError",
        "MeanAbsolutePercentageError",
        "MeanSquaredLogarithmicError",
        "CosineSimilarity",
        "LogCoshError",
    ),
    *("Hinge", "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson", "BinaryCrossentropy"),
]
TOLERANCES = {
    "results": (2e-5, 1e-6),  # the area of a curve is a sum over 200 thresholds
    "training": (1e-4, 1e-5),  # the rounding of one update goes into the next
}


def _runs(table, name):
    data, further = table[name]
    return [*(({}, each) for each in data), *further]


def _array(keras, found):
    return np.array(keras.ops.convert_to_numpy(found))  # which may be the memory of a state


def _tensors(data):
    return tuple(torch.from_numpy(np.ascontiguousarray(each)) for each in DATA[data])


def case_functions(keras):
    return {
        name: {
            f"{options} {data}": _array(keras, getattr(keras.metrics, name)(*_tensors(data), **options))
            for options, data in _runs(FUNCTIONS, name)
        }
        for name in FUNCTIONS
    }


def case_functions_of_lists(keras):
    found = {}
    for name in FUNCTIONS:
        options, data = _runs(FUNCTIONS, name)[0]
        y_true, y_pred = (each.tolist() for each in DATA[data])
        found[name] = _array(keras, getattr(keras.metrics, name)(y_true, y_pred, **options))
    return found


def case_functions_of_losses(keras):
    same = {name: getattr(keras.metrics, name) is getattr(keras.losses, name) for name in OF_LOSSES}
    return [all(same.values()), _array(keras, keras.metrics.huber([1.0, 2.0], [3.0, 2.5], delta=0.7))]


def _parts(data, parts=3):
    y_true, y_pred = DATA[data]
    return zip(np.array_split(y_true, parts), np.array_split(y_pred, parts), strict=True)


def case_results(keras):
    """After each batch."""
    found = {}
    for kind in CLASSES:
        for options, data in _runs(CLASSES, kind):
            metric = getattr(keras.metrics, kind)(**options, name="metric")
            results = []
            for y_true, y_pred in _parts(data):
                metric.update_state(torch.from_numpy(y_true), torch.from_numpy(y_pred))
                results.append(_array(keras, metric.result()))
            metric.reset_state()
            found[f"{kind} {options} {data}"] = [*results, _array(keras, metric(*DATA[data]))]
    return found


def case_weighted(keras):
    found = {}
    for kind in CLASSES:
        for options, data in _runs(CLASSES, kind):
            if kind in OF_ROWS and data in ("vectors", "share vectors", "tenths"):
                continue
            y_true, y_pred = DATA[data]
            weight = np.linspace(0.0, 2.0, len(y_true), dtype="float32")
            if kind in WHOLE_COUNTS:
                weight = (np.arange(y_true.size) % 3).astype("int32")
                if data == "map rows":
                    weight = weight[: y_true.size // 3]
            if (kind == "Precision" and data == "share steps") or (data == "label steps" and "ignore_class" in options):
                weight = np.repeat(weight[:, None], y_true.shape[1], 1)
            metric = getattr(keras.metrics, kind)(**options, name="metric")
            found[f"{kind} {options} {data}"] = _array(keras, metric(y_true, y_pred, sample_weight=weight))
    return found


def case_weights_of_values(keras):
    found = {}
    weights = {
        "numbers": (None, 2.0, np.arange(12.0), np.arange(12.0)[:, None], np.arange(48.0).reshape(12, 4)),
        "steps": (None, np.arange(12.0), np.arange(36.0).reshape(12, 3), np.ones((12, 3, 1), "float32"), 0.0),
        "vectors": (None, 3, np.arange(12), np.arange(12.0)[:, None], [1.0] * 12),
    }
    for kind in ("Mean", "Sum"):
        for data, given in weights.items():
            metric = getattr(keras.metrics, kind)(name="metric")
            for number, weight in enumerate(given):
                metric.reset_state()
                metric.update_state(np.abs(DATA[data][0]), sample_weight=weight)
                metric.update_state(DATA[data][1])
                found[f"{kind} {data} {number}"] = _array(keras, metric.result())
    return found


def case_means_and_sums(keras):
    mean, total = keras.metrics.Mean(), keras.metrics.Sum()
    found = [_array(keras, mean.result()), _array(keras, total.result())]
    for values in ([1, 3, 5, 7], 4.0, np.array([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([True, False, True])):
        mean.update_state(values)
        found += [_array(keras, mean.result()), _array(keras, total(values))]
    found += [_array(keras, mean.total), _array(keras, mean.count), _array(keras, mean([2, 4], [0.5, 0.0]))]
    return found


def case_masks(keras):
    found = {}
    mask = torch.from_numpy(np.arange(36).reshape(12, 3) % 4 > 1)
    for kind, data in (("MeanSquaredError", "steps"), ("SparseCategoricalAccuracy", "label steps")):
        for number, weight in enumerate((None, np.linspace(0.0, 1.0, 36, dtype="float32").reshape(12, 3))):
            y_true, y_pred = _tensors(data)
            y_pred._keras_mask = mask  # type: ignore[attr-defined]
            metric = getattr(keras.metrics, kind)(name="metric")
            found[f"{kind} {number}"] = _array(keras, metric(y_true, y_pred, weight))
    return found


def case_documented(keras):
    """Lists, as in the examples of Keras's documentation."""
    metrics = keras.metrics
    found = [
        metrics.Accuracy()([[1], [2], [3], [4]], [[0], [2], [3], [4]]),
        metrics.Accuracy()([[1], [2], [3], [4]], [[0], [2], [3], [4]], sample_weight=[1, 1, 0, 0]),
        metrics.BinaryAccuracy()([[1], [1], [0], [0]], [[0.98], [1], [0], [0.6]]),
        metrics.CategoricalAccuracy()([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.05, 0.95, 0]], [0.7, 0.3]),
        metrics.SparseCategoricalAccuracy()([[2], [1]], [[0.1, 0.6, 0.3], [0.05, 0.95, 0]], [0.7, 0.3]),
        metrics.TopKCategoricalAccuracy(k=1)([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.05, 0.95, 0]]),
        metrics.AUC(num_thresholds=3)([0, 0, 1, 1], [0, 0.5, 0.3, 0.9], sample_weight=[1, 0, 0, 1]),
        metrics.Precision(top_k=2)([[0, 0, 1, 1]], [[1, 1, 1, 1]]),
        metrics.Recall()([0, 1, 1, 1], [1, 0, 1, 1], sample_weight=[0, 0, 1, 0]),
        metrics.TruePositives()([0, 1, 1, 1], [1, 0, 1, 1]),
        metrics.SensitivityAtSpecificity(0.5)([0, 0, 0, 1, 1], [0, 0.3, 0.8, 0.3, 0.8], [1, 1, 2, 2, 1]),
        metrics.MeanIoU(num_classes=2)([0, 0, 1, 1], [0, 1, 0, 1]),
        metrics.F1Score(threshold=0.5)(
            [[1, 1, 1], [1, 0, 0], [1, 1, 0]], [[0.2, 0.6, 0.7], [0.2, 0.6, 0.6], [0.6, 0.8, 0.0]]
        ),
        metrics.R2Score()([[1], [4], [3]], [[2], [4], [4]]),
        metrics.MeanSquaredError()([[0, 1], [0, 0]], [[1, 1], [0, 0]], sample_weight=[1, 0]),
        metrics.RootMeanSquaredError()([[0, 1], [0, 0]], [[1, 1], [0, 0]]),
        metrics.CosineSimilarity(axis=1)([[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]], sample_weight=[0.3, 0.7]),
        metrics.KLDivergence()([[0, 1], [0, 0]], [[0.6, 0.4], [0.4, 0.6]]),
        metrics.BinaryCrossentropy()([[0, 1], [0, 0]], [[0.6, 0.4], [0.4, 0.6]], sample_weight=[1, 0]),
        metrics.Hinge()([[0, 1], [0, 0]], [[0.6, 0.4], [0.4, 0.6]]),
        metrics.MeanMetricWrapper(keras.losses.mean_squared_error)([[0, 1], [0, 0]], [[1, 1], [0, 0]]),
    ]
    return [_array(keras, each) for each in found]


def _parameters(function):
    return [
        [each.name, "required" if each.default is inspect.Parameter.empty else each.default]
        for each in inspect.signature(function).parameters.values()
        if each.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def case_signatures(keras):
    names = (*CLASSES, *FUNCTIONS, *OF_LOSSES, "Metric", "Mean", "Sum", "MeanMetricWrapper")
    return {
        name: [
            [parameter, list(default) if isinstance(default, tuple) else default]
            for parameter, default in _parameters(getattr(keras.metrics, name))
        ]
        for name in names
    }


def _made(keras, kind, **options):
    first = next((given for given, _ in _runs(CLASSES, kind) if given), {})
    needed = ("num_classes", "target_class_ids", "specificity", "sensitivity", "recall", "precision")
    return getattr(keras.metrics, kind)(**{name: first[name] for name in needed if name in first}, **options)


def case_names(keras):
    keras.utils.clear_session()
    own = keras.metrics.MeanMetricWrapper(keras.losses.huber)
    return {kind: [_made(keras, kind).name, _made(keras, kind).name] for kind in CLASSES} | {"own": own.name}


# Of classes whose config in genuine Keras has all options, and no others.
CONFIGS = {
    "Accuracy": {},
    "BinaryAccuracy": {"threshold": 0.25},
    "SparseCategoricalAccuracy": {"dtype": "float64"},
    "TopKCategoricalAccuracy": {"k": 3},
    "MeanSquaredError": {"name": "mine"},
    "RootMeanSquaredError": {},
    "PearsonCorrelation": {"axis": 1},
    "BinaryCrossentropy": {"from_logits": True, "label_smoothing": 0.25},
    "CategoricalCrossentropy": {"axis": 1},
    "SparseCategoricalCrossentropy": {"ignore_class": 2},
    "TruePositives": {"thresholds": [0.25, 0.5], "name": "mine"},
    "Precision": {"top_k": 2, "name": "mine"},
    "Recall": {"class_id": 1, "name": "mine"},
    "SensitivityAtSpecificity": {"specificity": 0.25, "name": "mine"},
    "PrecisionAtRecall": {"recall": 0.25, "num_thresholds": 10, "name": "mine"},
    "FBetaScore": {"beta": 2.0, "average": "micro"},
    "F1Score": {"threshold": 0.25},
    "R2Score": {"num_regressors": 2},
    "IoU": {"num_classes": 3, "target_class_ids": [0, 1], "dtype": "float32", "name": "mine"},
    "MeanIoU": {"num_classes": 3, "dtype": "float32", "name": "mine"},
    "OneHotIoU": {"num_classes": 3, "target_class_ids": [0, 1], "dtype": "float32", "name": "mine"},
    "BinaryIoU": {"threshold": 0.25, "dtype": "float32", "name": "mine"},
    "Mean": {"name": "mine"},
    "Sum": {},
}


def case_configs(keras):
    found = {}
    for kind, options in CONFIGS.items():
        made = getattr(keras.metrics, kind)(**options)
        again = getattr(keras.metrics, kind).from_config(made.get_config())
        found[kind] = [made.get_config(), keras.metrics.serialize(made), again.get_config()]
    return found


def case_wrappers(keras):
    made = keras.metrics.MeanMetricWrapper(keras.losses.huber, name="mine", delta=0.5)
    again = keras.metrics.MeanMetricWrapper.from_config(made.get_config())
    through = keras.metrics.deserialize(keras.metrics.serialize(made))
    values = [_array(keras, each(*DATA["numbers"])) for each in (made, again, through)]
    return [made.get_config(), values]


def case_by_name(keras):
    metrics = keras.metrics
    names = ("mse", "MSE", "mae", "MAE", "mape", "msle", "bce", "BCE", "auc", "AUC", "mean_squared_error", "f1_score")
    names += ("accuracy", "Accuracy", "binary_accuracy", "cosine_similarity", "kl_divergence", "Mean", "sum")
    config = {"class_name": "BinaryAccuracy", "config": {"threshold": 0.25}}
    return {
        "names": {name: type(metrics.get(name)).__name__ for name in names},
        "others": [metrics.get(metrics.Poisson).name, metrics.get(config).threshold, metrics.get(None)],
        "deserialized": metrics.deserialize(metrics.serialize(metrics.BinaryAccuracy(threshold=0.25))).threshold,
        "functions": [metrics.serialize(metrics.binary_accuracy), metrics.serialize(metrics.huber)],
    }


# --- of one's own ----------------------------------------------------------------------------------------------------


def _true_positives(keras):
    class BinaryTruePositives(keras.metrics.Metric):
        def __init__(self, name="binary_true_positives", **kwargs):
            super().__init__(name=name, **kwargs)
            self.true_positives = self.add_variable(shape=(), initializer="zeros", name="true_positives")
            self.batches = self.add_weight(name="batches", initializer="zeros", shape=(2,), dtype="int32")

        def update_state(self, y_true, y_pred, sample_weight=None):
            y_true, y_pred = keras.ops.cast(y_true, "bool"), keras.ops.cast(y_pred, "bool")
            values = keras.ops.cast(keras.ops.logical_and(y_true, y_pred), self.dtype)
            if sample_weight is not None:
                values = keras.ops.multiply(values, keras.ops.cast(sample_weight, self.dtype))
            self.true_positives.assign_add(keras.ops.sum(values))
            self.batches.assign(self.batches + 1)

        def result(self):
            return self.true_positives * 1.0

    return BinaryTruePositives


def case_metric_of_ones_own(keras):
    metric = _true_positives(keras)()
    assert isinstance(metric, keras.metrics.Metric)
    found = [_array(keras, metric([0, 1, 1, 1], [1, 0, 1, 1]))]
    found.append(_array(keras, metric(np.array([1, 1]), np.array([1, 0]), sample_weight=[0.25, 0.5])))
    found += [_array(keras, each) for each in metric.variables]
    found += [_array(keras, metric.true_positives.value), metric.true_positives.numpy()]
    metric.true_positives.assign(7.0)
    metric.true_positives.assign_sub(2)
    metric.batches.assign([3, 4])
    found += [_array(keras, metric.result()), _array(keras, metric.batches), tuple(metric.batches.shape)]
    metric.reset_state()
    found += [_array(keras, each) for each in metric.variables]
    return {"values": found, "config": metric.get_config(), "dtype": metric.dtype, "name": metric.name}


def case_without_state(keras):
    metric = _true_positives(keras)()
    metric.update_state([1, 1], [1, 1])
    begun = metric.stateless_reset_state()
    after = metric.stateless_update_state(begun, [1, 1, 1], [1, 1, 1])
    after = metric.stateless_update_state(after, [1, 0], [1, 1])
    return {
        "begun": [_array(keras, each) for each in begun],
        "after": [_array(keras, each) for each in after],
        "result": _array(keras, metric.stateless_result(after)),
        "own": _array(keras, metric.result()),
        "mean": _array(keras, keras.metrics.Mean().stateless_result([torch.tensor(6.0), torch.tensor(4.0)])),
    }


def case_metrics_inside(keras):
    class Range(keras.metrics.Metric):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.mean = keras.metrics.Mean()
            self.others = [keras.metrics.Sum(), keras.metrics.MeanSquaredError()]
            self.calls = self.add_variable((), "ones")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.mean.update_state(y_pred)
            self.others[0].update_state(y_true)
            self.others[1].update_state(y_true, y_pred)
            self.calls.assign_add(1.0)

        def result(self):
            return self.others[0].result() + self.others[1].result() - self.mean.result() * self.calls

    metric = Range(name="range")
    found = [_array(keras, metric(*DATA["numbers"])), len(metric.variables)]
    metric.reset_state()
    return [*found, sum(float(_array(keras, each)) for each in metric.variables)]


def case_initial_values(keras):
    class Kept(keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="kept", dtype="float64")
            self.add_variable((2,), "ones", dtype="float64", name="a")
            self.add_variable((1, 3), keras.initializers.Constant(2.5), aggregation="mean", name="b")
            self.add_weight((), keras.initializers.Zeros(), "int32", "c")

        def update_state(self, value):
            pass

        def result(self):
            return [1.0, 2.0]

    metric = Kept()
    return [[np.asarray(each.numpy(), "float32") for each in metric.variables], metric(0), metric.dtype]


def case_several_results(keras):
    class Both(keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="both")
            self.total = self.add_weight(name="total", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(keras.ops.sum(keras.ops.abs(keras.ops.subtract(y_true, y_pred))))

        def result(self):
            return {"total": keras.ops.convert_to_tensor(self.total), "twice": self.total * 2}

    return {name: _array(keras, each) for name, each in Both()(*DATA["numbers"]).items()}


def case_training(keras):
    """What `fit` and `evaluate` say of losses and metrics, on a network of given weights."""
    losses, metrics = keras.losses, keras.metrics
    x = np.linspace(-1.0, 1.0, 36, dtype="float32").reshape(12, 3) ** 2
    weight = np.linspace(0.0, 2.0, 12, dtype="float32")
    kernel = np.linspace(-1.0, 1.0, 15, dtype="float32").reshape(3, 5)[:, ::-1].copy()
    one_hot = _one_hot(LABELS, 5)

    class Distance(losses.Loss):
        def call(self, y_true, y_pred):
            return keras.ops.mean(keras.ops.abs(y_true - y_pred) ** 3, axis=-1)

    runs = {
        "probabilities": (LABELS, losses.SparseCategoricalCrossentropy(), "softmax", None),
        "weighted": (LABELS, losses.SparseCategoricalCrossentropy(reduction="sum"), "softmax", weight),
        "logits": (LABELS, losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=2), None, None),
        "rows": (one_hot, losses.CategoricalCrossentropy(label_smoothing=0.1), "softmax", weight),
        "focal": (one_hot, losses.BinaryFocalCrossentropy(), "sigmoid", weight),
        "own": (one_hot, Distance(name="distance", reduction="mean_with_sample_weight"), "softmax", weight),
        "signs": (one_hot, losses.Hinge(), None, None),
    }
    found = {}
    for run, (y, loss, activation, sample_weight) in runs.items():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(5, activation=activation, use_bias=False)])
        model.set_weights([kernel])
        sparse = y.ndim == 1
        counted = [
            metrics.SparseCategoricalAccuracy(name="a") if sparse else metrics.CategoricalAccuracy(name="a"),
            metrics.SparseTopKCategoricalAccuracy(k=2, name="b") if sparse else metrics.AUC(name="b", from_logits=True),
        ]
        weighted = [
            metrics.MeanIoU(5, sparse_y_true=sparse, sparse_y_pred=False, name="c", dtype="float32"),
            metrics.MeanMetricWrapper(losses.sparse_categorical_crossentropy, from_logits=not activation, name="d")
            if sparse
            else metrics.MeanMetricWrapper(losses.huber, delta=0.5, name="d"),
        ]
        model.compile(keras.optimizers.SGD(0.5), loss=loss, metrics=counted, weighted_metrics=weighted)
        history = model.fit(x, y, batch_size=5, epochs=3, shuffle=False, verbose=0, sample_weight=sample_weight).history
        result = model.evaluate(x, y, batch_size=5, verbose=0, sample_weight=sample_weight, return_dict=True)
        found[run] = [
            {name: [float(value) for value in history[name]] for name in sorted(history)},
            {name: float(result[name]) for name in sorted(result)},
        ]
    return found

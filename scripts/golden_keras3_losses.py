"""Makes tests/golden/keras-3.15-losses.npz and keras-3.15-metrics.npz, in an environment with Keras 3.15.0 on torch:

    KERAS_BACKEND=torch python scripts/golden_keras3_losses.py

`cases` is a JSON list. For losses an entry is [class, options, data, weight, mask, "value" or "gradient"]; the gradient
is that of the sum of the values by y_pred. For metrics it is [class, options, data, weight], with results after each
third of the data. Each entry ends with the shape of its result; the numbers are in `results`, one result after the
other. The other arrays are data, "<name>.true" and "<name>.pred", weights and masks.
"""

import json
from pathlib import Path

import keras
import numpy as np
import torch

FOLDER = Path(__file__).parents[1] / "tests" / "golden"
REDUCTIONS = ["sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None]


def softmax(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def make_data():
    random = np.random.default_rng(0)
    normal = lambda *shape: random.normal(size=shape)  # noqa: E731
    share = lambda *shape: random.uniform(size=shape)  # noqa: E731
    one_hot = lambda labels, n: np.eye(n)[labels]  # noqa: E731
    data = {
        "numbers": (normal(6, 4), normal(6, 4)),
        "steps": (normal(6, 5, 4), normal(6, 5, 4)),
        "column": (normal(6), normal(6, 1)),
        "vectors": (normal(6), normal(6)),
        "positive": (share(6, 4) * 3, share(6, 4) * 3),
        "signs": (random.choice([-1.0, 1.0], (6, 4)), normal(6, 4)),
        "bits": (random.integers(0, 2, (6, 4)), normal(6, 4)),
        "shares": (random.integers(0, 2, (6, 4)), share(6, 4)),
        "share_steps": (random.integers(0, 2, (6, 5, 4)), share(6, 5, 4)),
        "share_column": (random.integers(0, 2, (6, 1)), share(6, 1)),
        "share_vector": (random.integers(0, 2, 6), share(6)),
        "rows": (one_hot(random.integers(0, 4, 6), 4), softmax(normal(6, 4))),
        "row_steps": (one_hot(random.integers(0, 4, (6, 5)), 4), softmax(normal(6, 5, 4))),
        "sums": (one_hot(random.integers(0, 4, 6), 4), share(6, 4) * 2),
        "labels": (random.integers(0, 4, 6), softmax(normal(6, 4))),
        "label_column": (random.integers(0, 4, (6, 1)), softmax(normal(6, 4))),
        "label_steps": (random.integers(0, 4, (6, 5)), softmax(normal(6, 5, 4))),
        "label_sums": (random.integers(0, 4, 6), share(6, 4) * 2),
        "label_logits": (random.integers(0, 4, 6), normal(6, 4)),
        "label_first": (random.integers(0, 4, (6, 5)), normal(6, 4, 5)),
        "row_first": (one_hot(random.integers(0, 4, (6, 5)), 4).transpose(0, 2, 1), normal(6, 4, 5)),
        "embeddings": (random.integers(0, 3, 6), normal(6, 4)),
        "sequences": (random.integers(0, 5, (6, 3)), normal(6, 9, 5)),
        "classes": (random.integers(0, 4, 30), random.integers(0, 4, 30)),
        "class_maps": (random.integers(0, 4, (6, 3, 3)), random.integers(0, 4, (6, 3, 3))),
        "map_rows": (one_hot(random.integers(0, 4, (6, 5)), 4), softmax(normal(6, 5, 4))),
        "tenths": (random.integers(0, 2, (60,)), random.integers(0, 11, 60) / 10),
        "many": (random.integers(0, 2, (60, 1)), share(60, 1)),
        "labelled": (random.integers(0, 2, (60, 3)), share(60, 3)),
        "ids": (random.integers(0, 9, 6), np.stack([random.permutation(9)[:6] for _ in range(6)])),
    }
    true, pred = data["shares"]
    pred[0, :2], true[0, :2] = (0, 1), (1, 0)
    pred[1, :2], true[1, :2] = (0, 1), (0, 1)
    data["rows"][1][0] = (1, 0, 0, 0)
    embeddings = data["embeddings"][1]
    embeddings /= np.linalg.norm(embeddings, axis=-1, keepdims=True)
    numbers = {
        f"{name}.{kind}": values.astype("float32")
        for name, pair in data.items()
        for kind, values in zip(("true", "pred"), pair, strict=True)
    }
    for name, shape in {
        "one": (6,),
        "one_column": (6, 1),
        "two": (6, 5),
        "all": (6, 5, 4),
        "full": (6, 4),
        "long": (60,),
        "thirty": (30,),
        "maps": (6, 3, 3),
        "wide": (60, 3),
    }.items():
        numbers[f"weight_{name}"] = (share(*shape) * (share(*shape) > 0.2)).astype("float32")
        numbers[f"mask_{name}"] = share(*shape) > 0.3
    numbers["weight_whole"] = random.integers(0, 4, 30).astype("float32")
    return numbers


SCALED = {"from_logits": True}
LOSSES = [
    *(
        (name, {}, data)
        for name in ("MeanSquaredError", "MeanAbsoluteError", "LogCosh", "Huber", "CosineSimilarity")
        for data in ("numbers", "steps", "column", "vectors")
    ),
    *((name, {}, "numbers") for name in ("MeanAbsolutePercentageError", "MeanSquaredLogarithmicError")),
    ("Huber", {"delta": 0.3}, "numbers"),
    ("CosineSimilarity", {"axis": 1}, "steps"),
    *((name, {}, data) for name in ("Poisson", "MeanSquaredLogarithmicError") for data in ("positive",)),
    *((name, {}, data) for name in ("Hinge", "SquaredHinge", "CategoricalHinge") for data in ("signs", "bits")),
    *((name, {}, data) for name in ("KLDivergence",) for data in ("rows", "row_steps", "shares")),
    *(
        (name, options, data)
        for name in ("BinaryCrossentropy", "BinaryFocalCrossentropy")
        for options, data in (
            ({}, "shares"),
            ({}, "share_steps"),
            ({"axis": 1}, "share_steps"),
            ({"label_smoothing": 0.2}, "shares"),
            (SCALED, "bits"),
            ({**SCALED, "label_smoothing": 0.2}, "bits"),
        )
    ),
    ("BinaryFocalCrossentropy", {"apply_class_balancing": True, "alpha": 0.4, "gamma": 1.5}, "shares"),
    *(
        (name, options, data)
        for name in ("CategoricalCrossentropy", "CategoricalFocalCrossentropy")
        for options, data in (
            ({}, "rows"),
            ({}, "row_steps"),
            ({}, "sums"),
            ({"label_smoothing": 0.2}, "rows"),
            ({**SCALED, "axis": 1}, "row_first"),
            (SCALED, "numbers"),
            ({**SCALED, "label_smoothing": 0.2}, "bits"),
        )
    ),
    ("CategoricalFocalCrossentropy", {"alpha": [0.1, 0.2, 0.3, 0.4], "gamma": 3.0}, "rows"),
    *(
        ("SparseCategoricalCrossentropy", options, data)
        for options, data in (
            ({}, "labels"),
            ({}, "label_column"),
            ({}, "label_steps"),
            ({}, "label_sums"),
            (SCALED, "label_logits"),
            ({"ignore_class": 1}, "labels"),
            ({**SCALED, "ignore_class": 0}, "label_logits"),
            ({"ignore_class": 2}, "label_steps"),
            ({**SCALED, "axis": 1}, "label_first"),
        )
    ),
    ("CategoricalGeneralizedCrossEntropy", {}, "labels"),
    ("CategoricalGeneralizedCrossEntropy", {"q": 0.8}, "labels"),
    ("CTC", {}, "sequences"),
    ("Circle", {}, "embeddings"),
    ("Circle", {"gamma": 8.0, "margin": 0.2, "remove_diagonal": False}, "embeddings"),
    *(
        (name, options, "share_steps")
        for name in ("Dice", "Tversky")
        for options in ({}, {"axis": [1, 2]}, {"axis": 1})
    ),
    ("Tversky", {"alpha": 0.2, "beta": 0.7}, "shares"),
]


def weights_for(values):
    """Weights and masks for values of this shape."""
    return {
        (): [],
        (6,): ["one", "one_column"],
        (6, 4): ["full", "one_column"],
        (6, 5): ["two", "one_column"],
        (6, 1): ["one", "one_column"],
    }[values]


def loss_cases(numbers):
    for name, options, data in LOSSES:
        plain = getattr(keras.losses, name)(**options, reduction=None)(numbers[f"{data}.true"], numbers[f"{data}.pred"])
        fitting = weights_for(tuple(plain.shape))
        for weight in (None, *fitting):
            for mask in (None, *fitting):
                yield name, options, data, weight and f"weight_{weight}", mask and f"mask_{mask}"
    for reduction in REDUCTIONS:
        for weight in (None, "weight_two", "weight_one_column"):
            for mask in (None, "mask_two"):
                yield "MeanSquaredError", {"reduction": reduction}, "steps", weight, mask
    yield "MeanSquaredError", {"reduction": "mean_with_sample_weight"}, "numbers", "weight_one", "mask_one"
    yield "SparseCategoricalCrossentropy", {"reduction": "sum", "ignore_class": 1}, "labels", "weight_one", None


def losses(numbers):
    results = []
    for name, options, data, weight, mask in loss_cases(numbers):
        if mask == "mask_one_column" and (name == "Circle" or "ignore_class" in options):
            continue  # Keras would combine the mask of each sample with the loss's own mask of all others
        y_pred = torch.from_numpy(numbers[f"{data}.pred"]).clone().requires_grad_()
        if mask:
            y_pred._keras_mask = torch.from_numpy(numbers[mask])
        # Each call has a copy of the weights: Keras multiplies them by the mask in place.
        sample_weight = numbers[weight].copy() if weight else None
        try:
            result = getattr(keras.losses, name)(**options)(numbers[f"{data}.true"], y_pred, sample_weight)
        except RuntimeError as error:
            print("left out", name, options, data, weight, mask, error)
            continue
        case = [name, options, data, weight, mask]
        results.append(([*case, "value"], result.detach().numpy()))
        gradient = torch.autograd.grad(result.sum(), y_pred)[0].numpy()
        if not (weight and mask) and np.isfinite(gradient).all():
            results.append(([*case, "gradient"], gradient))
    return results


PLAIN_METRICS = {
    **{
        name: ["numbers", "steps", "column"]
        for name in (
            "MeanSquaredError",
            "RootMeanSquaredError",
            "MeanAbsoluteError",
            "MeanAbsolutePercentageError",
            "LogCoshError",
            "MeanSquaredLogarithmicError",
            "CosineSimilarity",
        )
    },
    "KLDivergence": ["rows"],
    "Poisson": ["positive"],
    "Hinge": ["signs", "bits"],
    "SquaredHinge": ["bits"],
    "CategoricalHinge": ["bits"],
    "PearsonCorrelation": ["numbers", "steps"],
    "ConcordanceCorrelation": ["numbers", "steps"],
    "BinaryCrossentropy": ["shares", "share_column"],
    "CategoricalCrossentropy": ["rows", "sums"],
    "R2Score": ["numbers"],
    "SparseCategoricalCrossentropy": ["labels", "label_steps", "label_sums"],
    "BinaryAccuracy": ["shares", "share_column", "share_vector", "share_steps"],
    "CategoricalAccuracy": ["rows", "row_steps"],
    "SparseCategoricalAccuracy": ["labels", "label_column", "label_steps"],
    "Accuracy": ["classes", "class_maps"],
    "AUC": ["shares", "many", "tenths"],
    "F1Score": ["rows", "labelled"],
    "FBetaScore": ["rows"],
    **{
        name: ["shares", "share_vector", "share_column", "share_steps"]
        for name in ("Precision", "Recall", "TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives")
    },
    "BinaryIoU": ["share_vector"],
}
METRICS = [
    *((name, {}, data) for name, several in PLAIN_METRICS.items() for data in several),
    ("BinaryAccuracy", {"threshold": 0.2}, "shares"),
    *(("TopKCategoricalAccuracy", {"k": 2}, data) for data in ("rows", "row_steps")),
    *(("SparseTopKCategoricalAccuracy", {"k": 2}, data) for data in ("labels", "label_steps")),
    ("SparseTopKCategoricalAccuracy", {"k": 3, "from_sorted_ids": True}, "ids"),
    ("CosineSimilarity", {"axis": 1}, "steps"),
    ("PearsonCorrelation", {"axis": 1}, "steps"),
    ("ConcordanceCorrelation", {"axis": 1}, "steps"),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, "bits"),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, "bits"),
    ("CategoricalCrossentropy", {"from_logits": True, "axis": 1}, "row_first"),
    ("SparseCategoricalCrossentropy", {"from_logits": True, "axis": 1}, "label_first"),
    ("SparseCategoricalCrossentropy", {"ignore_class": 1}, "labels"),
    *(
        ("R2Score", options, data)
        for options, data in (
            ({"class_aggregation": None}, "numbers"),
            ({"num_regressors": 3}, "numbers"),
            ({"class_aggregation": "variance_weighted_average"}, "numbers"),
            ({}, "column"),
        )
    ),
    *(
        ("AUC", {"curve": curve, "summation_method": method, **more}, data)
        for curve in ("ROC", "PR", "PRGAIN")
        for method in ("interpolation", "majoring", "minoring")
        for more, data in (({}, "many"), ({"multi_label": True}, "labelled"))
    ),
    *(
        ("AUC", {"curve": curve, **more}, "labelled")
        for curve in ("ROC", "PR")
        for more in (
            {"multi_label": True, "num_labels": 3, "label_weights": [1.0, 2.0, 0.5]},
            {"label_weights": [1.0, 2.0, 0.5]},
            {},
        )
    ),
    ("AUC", {"thresholds": [0.7, 0.1, 0.4]}, "many"),
    ("AUC", {"thresholds": [0.7, 0.1, 0.4], "multi_label": True}, "labelled"),
    ("AUC", {"thresholds": [0.1, 0.5, 0.4], "label_weights": [1.0, 2.0, 0.5]}, "labelled"),
    ("AUC", {"num_thresholds": 11}, "tenths"),
    ("AUC", {"num_thresholds": 2}, "many"),
    ("AUC", {"from_logits": True}, "bits"),
    *(
        (name, options, data)
        for name in ("Precision", "Recall")
        for options, data in (
            ({"thresholds": [0.9, 0.1, 0.5]}, "shares"),
            ({"thresholds": [0.0, 0.5, 1.0]}, "tenths"),
            ({"top_k": 2}, "shares"),
            ({"class_id": 2}, "shares"),
            ({"class_id": 1}, "share_steps"),
            ({"top_k": 1, "class_id": 0}, "rows"),
            ({"thresholds": 0.3}, "share_vector"),
        )
    ),
    *(
        (name, {"thresholds": thresholds}, "tenths")
        for name in ("TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives")
        for thresholds in ([0.2, 0.7], [0.0, 0.25, 0.5, 0.75, 1.0])
    ),
    *(
        (name, {option: 0.4, **more}, data)
        for name, option in (
            ("SensitivityAtSpecificity", "specificity"),
            ("PrecisionAtRecall", "recall"),
            ("SpecificityAtSensitivity", "sensitivity"),
            ("RecallAtPrecision", "precision"),
        )
        for more, data in (
            ({}, "many"),
            ({"num_thresholds": 1}, "many"),
            ({"num_thresholds": 11}, "tenths"),
            ({"class_id": 1}, "labelled"),
        )
    ),
    *(
        (name, {"average": average, "threshold": threshold, **more}, "labelled")
        for name, more in (("F1Score", {}), ("FBetaScore", {"beta": 2.0}))
        for average in ("micro", "macro", "weighted", None)
        for threshold in (None, 0.4)
    ),
    *(
        ("MeanIoU", {"num_classes": 4, **more}, data)
        for data in ("classes", "class_maps")
        for more in ({}, {"ignore_class": 1}, {"dtype": "float32"})
    ),
    ("MeanIoU", {"num_classes": 3}, "classes"),
    ("IoU", {"num_classes": 4, "target_class_ids": [0, 2]}, "classes"),
    ("MeanIoU", {"num_classes": 4, "sparse_y_pred": False}, "label_steps"),
    ("BinaryIoU", {"target_class_ids": [1], "threshold": 0.3}, "shares"),
    ("OneHotIoU", {"num_classes": 4, "target_class_ids": [1]}, "map_rows"),
    ("OneHotMeanIoU", {"num_classes": 4}, "map_rows"),
    ("OneHotMeanIoU", {"num_classes": 4, "axis": 1}, "row_first"),
]
METRIC_WEIGHTS = {
    "steps": ["one", "one_column", "two"],
    "row_steps": ["one", "two"],
    "label_steps": ["one", "two"],
    "share_steps": ["two", "all"],
    "many": ["long"],
    "tenths": ["long"],
    "labelled": ["long", "wide"],
    "classes": ["thirty", "whole"],
    "class_maps": ["maps"],
    "map_rows": ["two"],
    "numbers": ["one", "one_column", "full"],
    "shares": ["one", "full"],
    "row_first": ["two"],
    "label_first": ["two"],
}


def metrics(numbers):
    results = []
    for name, options, data in METRICS:
        for weight in (None, *METRIC_WEIGHTS.get(data, ["one", "one_column"])):
            metric = getattr(keras.metrics, name)(**options)
            if weight and "int" in metric.dtype and weight != "whole":
                continue  # Keras would cut the weights to whole numbers
            if weight == "wide" and "Score" in name:
                continue  # Keras would multiply each row with the weights of all rows
            true, pred = numbers[f"{data}.true"], numbers[f"{data}.pred"]
            weights = numbers[f"weight_{weight}"].copy() if weight else None
            found, third = [], len(true) // 3
            try:
                for k in range(0, len(true), third):
                    part = slice(k, k + third)
                    metric.update_state(true[part], pred[part], None if weights is None else weights[part])
                    found.append(metric.result().detach().numpy().copy())  # a view of the state, of some
            except (RuntimeError, ValueError, IndexError) as error:
                print("left out", name, options, data, weight, str(error)[:100])
                continue
            results.append(([name, options, data, weight and f"weight_{weight}"], np.stack(found)))
    return results


def save(name, numbers, results):
    words = {word for case, _ in results for word in case if isinstance(word, str)}
    used = {key: value for key, value in numbers.items() if key.partition(".")[0] in words}
    cases = json.dumps([[*case, values.shape] for case, values in results])
    flat = np.concatenate([values.ravel() for _, values in results]).astype("float32")
    np.savez_compressed(FOLDER / name, **used, cases=np.array(cases), results=flat)
    print(name, len(results))


if __name__ == "__main__":
    assert keras.__version__ == "3.15.0", keras.__version__
    numbers = make_data()
    save("keras-3.15-losses.npz", numbers, losses(numbers))
    save("keras-3.15-metrics.npz", numbers, metrics(numbers))

"""Options and shapes that a metric does not take are refused, with the class, the rule and what was found."""

import re

import pytest
import torch

from torchkeras import metrics

NEEDED = {
    "IoU": {"num_classes": 3, "target_class_ids": [0, 2]},
    "PrecisionAtRecall": {"recall": 0.4},
}


REFUSED = [
    ("AUC", {"curve": "up"}, "AUC: curve must be one of 'ROC', 'PR', 'PRGAIN'; found 'up'."),
    (
        "AUC",
        {"summation_method": "sum"},
        "AUC: summation_method must be one of 'interpolation', 'majoring', 'minoring'; found 'sum'.",
    ),
    ("AUC", {"num_thresholds": 1}, "AUC: num_thresholds must be an integer of at least 2; found 1."),
    ("AUC", {"thresholds": 0.5}, "AUC: thresholds must be a list of numbers from 0 to 1; found 0.5."),
    ("AUC", {"num_labels": 3}, "AUC: num_labels is for multi_label=True alone; found 3."),
    ("AUC", {"multi_label": 1}, "AUC: multi_label must be True or False; found 1."),
    ("AUC", {"label_weights": [-1.0]}, "AUC: label_weights must be a number of at least 0; found -1.0."),
    ("AUC", {"from_logits": None}, "AUC: from_logits must be True or False; found None."),
    ("Precision", {"thresholds": [0.5, 2]}, "Precision: thresholds must be a number from 0 to 1; found 2."),
    ("Recall", {"top_k": 0}, "Recall: top_k must be an integer of at least 1, or None; found 0."),
    ("Recall", {"class_id": 1.5}, "Recall: class_id must be an integer, or None; found 1.5."),
    (
        "PrecisionAtRecall",
        {"num_thresholds": 0},
        "PrecisionAtRecall: num_thresholds must be an integer of at least 1; found 0.",
    ),
    (
        "SensitivityAtSpecificity",
        {"specificity": 1.5},
        "SensitivityAtSpecificity: specificity must be a number from 0 to 1; found 1.5.",
    ),
    ("F1Score", {"average": "all"}, "F1Score: average must be one of None, 'micro', 'macro', 'weighted'; found 'all'."),
    ("F1Score", {"threshold": 0.0}, "F1Score: threshold must be a number above 0 and up to 1, or None; found 0.0."),
    ("FBetaScore", {"beta": 0}, "FBetaScore: beta must be a number above 0; found 0."),
    (
        "R2Score",
        {"class_aggregation": "sum"},
        "R2Score: class_aggregation must be one of None, 'uniform_average', 'variance_weighted_average'; found 'sum'.",
    ),
    ("R2Score", {"num_regressors": -1}, "R2Score: num_regressors must be an integer of at least 0; found -1."),
    ("IoU", {"target_class_ids": [3]}, "IoU: target_class_ids must be below num_classes 3; found [3]."),
    ("IoU", {"target_class_ids": 0}, "IoU: target_class_ids must be a list of class numbers; found 0."),
    ("IoU", {"sparse_y_true": 0}, "IoU: sparse_y_true must be True or False; found 0."),
    ("MeanIoU", {"num_classes": 0}, "MeanIoU: num_classes must be an integer of at least 1; found 0."),
    ("BinaryIoU", {"threshold": "a"}, "BinaryIoU: threshold must be a finite number; found 'a'."),
    (
        "TopKCategoricalAccuracy",
        {"k": 0},
        "TopKCategoricalAccuracy: k must be an integer of at least 1; found 0.",
    ),
]


@pytest.mark.parametrize(("name", "options", "text"), REFUSED, ids=lambda value: str(value)[:40])
def test_bad_options_are_refused(name, options, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        getattr(metrics, name)(**{**NEEDED.get(name, {}), **options})


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match=r"^BinaryAccuracy: unknown option 'thresh'\. Did you mean 'threshold'\?"):
        metrics.BinaryAccuracy(thresh=0.5)


ROWS = torch.zeros(4, 3)


@pytest.mark.parametrize(
    ("metric", "given", "text"),
    [
        (
            metrics.AUC(),
            (torch.zeros(4), ROWS),
            "AUC 'auc': y_true of shape (4,) does not fit y_pred of shape (4, 3).",
        ),
        (
            metrics.Precision(),
            (ROWS, ROWS, torch.ones(3)),
            "Precision 'precision': sample_weight of shape (3,) does not fit predictions of shape (4, 3).",
        ),
        (
            metrics.Precision(class_id=3),
            (ROWS, ROWS),
            "Precision 'precision': class_id 3 is no class of a y_pred of shape (4, 3).",
        ),
        (
            metrics.Recall(top_k=4),
            (ROWS, ROWS),
            "Recall 'recall': top_k 4 is more than the classes of a y_pred of shape (4, 3).",
        ),
        (
            metrics.AUC(multi_label=True),
            (torch.zeros(4), torch.zeros(4)),
            "AUC 'auc': multi_label takes y_pred of shape (samples, labels); found (4,).",
        ),
        (
            metrics.AUC(multi_label=True, num_labels=2),
            (ROWS, ROWS),
            "AUC 'auc': there are 2 labels; found y_pred of shape (4, 3).",
        ),
        (
            metrics.AUC(label_weights=[1.0, 2.0]),
            (ROWS, ROWS),
            "AUC 'auc': label_weights has 2 numbers, for 3 labels.",
        ),
        (
            metrics.F1Score(),
            (torch.zeros(4), ROWS),
            "F1Score 'f1_score': y_true and y_pred must both have the shape (samples, classes); found (4,) and (4, 3).",
        ),
        (
            metrics.R2Score(),
            (torch.zeros(4), ROWS),
            "R2Score 'r2_score': y_true and y_pred must both have the shape (samples, columns); found (4,) and (4, 3).",
        ),
        (
            metrics.R2Score(),
            (ROWS, ROWS, torch.ones(3)),
            "R2Score 'r2_score': sample_weight of shape (3,) does not fit values of shape (4, 3).",
        ),
        (
            metrics.MeanIoU(2, name="m"),
            (torch.zeros(4), torch.zeros(3)),
            "MeanIoU 'm': y_true holds 4 class numbers, y_pred 3.",
        ),
        (
            metrics.MeanIoU(2, name="m"),
            (torch.zeros(4), torch.zeros(4), torch.ones(3)),
            "MeanIoU 'm': sample_weight of shape (3,) does not fit 4 class numbers.",
        ),
        (
            metrics.MeanIoU(2, name="m", dtype="int32"),
            (torch.zeros(4), torch.zeros(4), torch.ones(4)),
            "MeanIoU 'm': dtype 'int32' would cut sample_weight to whole numbers: give a dtype such as 'float32'.",
        ),
        (
            metrics.MeanSquaredError(),
            (torch.zeros(3), torch.zeros(3, 3)),
            "mean_squared_error: y_true of shape (3,) does not fit y_pred of shape (3, 3).",
        ),
        (
            metrics.SparseCategoricalAccuracy(),
            (torch.zeros(3), ROWS),
            "y_true of shape (3,) does not hold a class number for each row of a y_pred of shape (4, 3).",
        ),
        (
            metrics.MeanSquaredError(name="m"),
            (ROWS, ROWS, torch.ones(3)),
            "MeanSquaredError 'm': sample_weight of shape (3,) does not fit values of shape (4,).",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(metric, given, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        metric.update_state(*given)

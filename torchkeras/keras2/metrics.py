"""What scripts take from `keras.metrics` beside the metrics: `deserialize`, and metrics that Keras 2 dropped.

Those are of yes-or-no decisions, counted within each batch. Their mean over batches is not the number of all samples;
`torchkeras.metrics.Precision` and the like have that.
Source: Keras 1.2.2, keras/metrics.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from torchkeras import metrics, registry
from torchkeras.keras2 import backend as K


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The metric for a name or a config; a custom object as it is, whatever it is."""
    known = {**registry.get_custom_objects(), **(custom_objects or {})}
    return known[config] if isinstance(config, str) and config in known else metrics.deserialize(config, custom_objects)


def _chosen(values: Tensor) -> Tensor:
    """1 where a number, limited to 0 and 1, is above one half."""
    return K.round(K.clip(values, 0, 1))


def precision(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """hits / (chosen + epsilon)"""
    return K.sum(_chosen(y_true * y_pred)) / (K.sum(_chosen(y_pred)) + K.epsilon())


def recall(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """hits / (true ones + epsilon)"""
    return K.sum(_chosen(y_true * y_pred)) / (K.sum(_chosen(y_true)) + K.epsilon())


def fbeta_score(y_true: Tensor, y_pred: Tensor, beta: float = 1) -> Tensor:
    """(1 + beta^2) p r / (beta^2 p + r + epsilon), with precision p and recall r. ValueError for a beta below 0."""
    if beta < 0:
        raise ValueError(f"beta must be a number of at least 0; found {beta!r}.")
    p, r = precision(y_true, y_pred), recall(y_true, y_pred)
    return (1 + beta**2) * (p * r) / (beta**2 * p + r + K.epsilon())


def fmeasure(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """2 p r / (p + r + epsilon)"""
    return fbeta_score(y_true, y_pred)


fscore = f1score = fmeasure


def matthews_correlation(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """(TP TN - FP FN) / (sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN)) + epsilon)"""
    yes, true = _chosen(y_pred), _chosen(y_true)
    tp, tn = K.sum(true * yes), K.sum((1 - true) * (1 - yes))
    fp, fn = K.sum((1 - true) * yes), K.sum(true * (1 - yes))
    return (tp * tn - fp * fn) / (K.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) + K.epsilon())

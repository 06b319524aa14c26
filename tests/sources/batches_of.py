"""Data of every kind that holds the same samples, and a source of it."""

from typing import Any

import numpy as np
import torch

from torchkeras.base.arrays import as_tensor
from torchkeras.data.batch import Batch
from torchkeras.data.checks import check_lengths
from torchkeras.data.sources import Source, open_source
from torchkeras.data.sources.slices import leaves

CPU = torch.device("cpu")
X = np.arange(30, dtype=np.float32).reshape(10, 3)
Y = X[:, :1] * 2
W = X[:, 0] + 1


def prepare(x: Any, y: Any, weight: Any, whole: int | None = None) -> Batch:
    """As a trainer's, without a model: every array becomes a tensor."""
    inputs, targets, weights = ([as_tensor(leaf) for leaf in leaves(part)] for part in (x, y, weight))
    assert all(np.ndim(leaf) for leaf in inputs)
    return Batch(inputs, targets, [*weights] or [None] * len(targets), len(inputs[0]))


def check_arrays(x: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    inputs, targets, weights = ([as_tensor(leaf) for leaf in leaves(part)] for part in (x, y, weight))
    check_lengths(inputs, targets, weights)
    return inputs, targets, weights


def opened(x: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Source:
    common: dict[str, Any] = {"prepare": prepare, "check_arrays": check_arrays, "device": CPU}
    return open_source(x, y, sample_weight, **{**common, **options})


def rows(batches: Any) -> list[list[int]]:
    """For each batch the numbers of its samples in X."""
    return [(batch.inputs[0][:, 0] / 3).to(torch.int64).tolist() for batch in batches]


IN_ORDER = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]

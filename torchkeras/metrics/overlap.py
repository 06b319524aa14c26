"""Intersection over union of classes, from a matrix of how often each class is predicted for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor

from torchkeras import config
from torchkeras.base.rules import Rule, integer
from torchkeras.declared import constants
from torchkeras.metrics.metric import Metric


def _class_ids(value: Any) -> list[int]:
    if not isinstance(value, (list, tuple, range)) or len(value) == 0:
        raise ValueError(f"must be a list of class numbers; found {value!r}.")
    return [integer(0).read(each) for each in value]


class IoU(Metric):
    """The mean over some classes of true positives / (true positives + false positives + false negatives).

    Options:
        num_classes (positive integer): class numbers go from 0 to below it; entries of y_true or y_pred with another
            number are left out.
        target_class_ids (list of integers): the classes of the mean. One that neither y_true nor y_pred has is left
            out.
        dtype (text, torch.dtype or None, default None): the type of the counts. None is float64, which counts up to
            2**53 without error. An integer type needs integer sample weights, where Keras would truncate others.
        ignore_class (integer or None, default None): a class of y_true whose entries are left out.
        sparse_y_true (bool, default True): whether y_true holds class numbers; otherwise it has one-hot rows.
        sparse_y_pred (bool, default True): whether y_pred holds class numbers; otherwise it has scores.
        axis (integer, default -1): the axis of one-hot rows or scores.

    Errors:
        ValueError: for a target class that is not below `num_classes`.

    Shapes:
        class numbers of any shape; one-hot rows or scores with a further axis `axis`

    Example:
        >>> IoU(num_classes=2, target_class_ids=[1])(torch.tensor([0, 1, 1]), torch.tensor([1, 1, 0]))
        tensor(0.3333)

    Source: https://keras.io/api/metrics/segmentation_metrics/
    """

    higher_is_better = True
    rules: ClassVar[Mapping[str, Rule]] = {"target_class_ids": Rule(_class_ids)}

    num_classes: int
    target_class_ids: list[int]
    ignore_class: int | None
    sparse_y_true: bool
    sparse_y_pred: bool
    axis: int

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ):
        self._start(name, dtype or "float64")
        self.keep(
            num_classes=num_classes,
            target_class_ids=target_class_ids,
            ignore_class=ignore_class,
            sparse_y_true=sparse_y_true,
            sparse_y_pred=sparse_y_pred,
            axis=axis,
        )
        if max(self.target_class_ids) >= num_classes:
            raise ValueError(
                f"{type(self).__name__}: target_class_ids must be below num_classes {num_classes}; found "
                f"{self.target_class_ids}."
            )
        self.add_variable((num_classes, num_classes), name="total_confusion_matrix")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch; sample_weight: one number, or one for each class number."""
        true, said = self._tensor(y_true), self._tensor(y_pred)
        true = (true if self.sparse_y_true else true.argmax(self.axis)).flatten().long()
        said = (said if self.sparse_y_pred else said.argmax(self.axis)).flatten().long()
        if true.shape != said.shape:
            raise self._refuse(f"y_true holds {len(true)} class numbers, y_pred {len(said)}.")
        n = self.num_classes
        counted = (true >= 0) & (true < n) & (said >= 0) & (said < n)
        if self.ignore_class is not None:
            counted &= true != self.ignore_class
        weight = counted.to(self._type)
        if sample_weight is not None:
            weight = weight * self._weights(sample_weight, len(true))
        matrix = self.total_confusion_matrix.flatten()  # a view
        matrix.index_add_(0, (true * n + said) * counted, weight)

    def _weights(self, sample_weight: Any, count: int) -> Tensor:
        weight = self._tensor(sample_weight)
        if weight.is_floating_point() and not self._type.is_floating_point:
            raise self._refuse(
                f"dtype {self.dtype!r} would cut sample_weight to whole numbers: give a dtype such as 'float32'."
            )
        if weight.numel() not in (1, count):
            raise self._refuse(f"sample_weight of shape {tuple(weight.shape)} does not fit {count} class numbers.")
        return weight.flatten().to(self._type)

    def result(self) -> Tensor:
        """The mean so far, in float32; 0 before the first update."""
        matrix = self.total_confusion_matrix
        hits = matrix.diagonal()
        union = (matrix.sum(0) + matrix.sum(1) - hits).float()
        chosen = [0.0] * self.num_classes
        for number in self.target_class_ids:
            chosen[number] += 1.0
        valid = (union > 1e-9) * constants(tuple(chosen), union.dtype, union.device)
        return (hits.float() / (union + config.epsilon()) * valid).sum() / (valid.sum() + config.epsilon())


class MeanIoU(IoU):
    """The mean intersection over union of all classes.

    Example:
        >>> MeanIoU(num_classes=2)(torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 1, 1]))
        tensor(0.5833)

    Source: https://keras.io/api/metrics/segmentation_metrics/
    """

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_true: bool = True,
        sparse_y_pred: bool = True,
        axis: int = -1,
    ):
        self.keep(num_classes=num_classes)
        classes = range(self.num_classes)
        super().__init__(num_classes, classes, name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis)


class OneHotIoU(IoU):
    """`IoU` of y_true in one-hot rows, and of scores y_pred.

    Options:
        sparse_y_pred (bool, default False): whether y_pred holds class numbers; otherwise it has scores.

    Example:
        >>> OneHotIoU(num_classes=2, target_class_ids=[0])(torch.eye(2), torch.tensor([[0.9, 0.1], [0.6, 0.4]]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/segmentation_metrics/
    """

    def __init__(
        self,
        num_classes: int,
        target_class_ids: Sequence[int],
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ):
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis)


class OneHotMeanIoU(OneHotIoU):
    """`MeanIoU` of y_true in one-hot rows, and of scores y_pred.

    Example:
        >>> OneHotMeanIoU(num_classes=2)(torch.eye(2), torch.tensor([[0.9, 0.1], [0.6, 0.4]]))
        tensor(0.2500)

    Source: https://keras.io/api/metrics/segmentation_metrics/
    """

    def __init__(
        self,
        num_classes: int,
        name: str | None = None,
        dtype: Any = None,
        ignore_class: int | None = None,
        sparse_y_pred: bool = False,
        axis: int = -1,
    ):
        self.keep(num_classes=num_classes)
        classes = range(self.num_classes)
        super().__init__(num_classes, classes, name, dtype, ignore_class, sparse_y_pred, axis)


class BinaryIoU(IoU):
    """`IoU` of the classes 0 and 1; y_pred means 1 where it is at least `threshold`.

    Options:
        target_class_ids (list of integers, default (0, 1)): the classes of the mean.
        threshold (number, default 0.5): the score from which on a prediction means 1.

    Example:
        >>> BinaryIoU(target_class_ids=[1])(torch.tensor([0, 1, 1]), torch.tensor([0.7, 0.6, 0.2]))
        tensor(0.3333)

    Source: https://keras.io/api/metrics/segmentation_metrics/
    """

    threshold: float

    def __init__(
        self,
        target_class_ids: Sequence[int] = (0, 1),
        threshold: float = 0.5,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(2, target_class_ids, name, dtype)
        self.keep(threshold=threshold)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch of scores; sample_weight: one number, or one for each score."""
        super().update_state(y_true, self._tensor(y_pred) >= self.threshold, sample_weight)

# Made by scripts/write_stubs.py from the declarations in the source; a test holds it to them.
# mypy: disable-error-code="misc, override"

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from torchkeras.losses.classes import (
    CTC as _CTC,
    BinaryCrossentropy as _BinaryCrossentropy,
    BinaryFocalCrossentropy as _BinaryFocalCrossentropy,
    CategoricalCrossentropy as _CategoricalCrossentropy,
    CategoricalFocalCrossentropy as _CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy as _CategoricalGeneralizedCrossEntropy,
    CategoricalHinge as _CategoricalHinge,
    Circle as _Circle,
    CosineSimilarity as _CosineSimilarity,
    Dice as _Dice,
    Hinge as _Hinge,
    Huber as _Huber,
    KLDivergence as _KLDivergence,
    LogCosh as _LogCosh,
    MeanAbsoluteError as _MeanAbsoluteError,
    MeanAbsolutePercentageError as _MeanAbsolutePercentageError,
    MeanSquaredError as _MeanSquaredError,
    MeanSquaredLogarithmicError as _MeanSquaredLogarithmicError,
    Poisson as _Poisson,
    SparseCategoricalCrossentropy as _SparseCategoricalCrossentropy,
    SquaredHinge as _SquaredHinge,
    Tversky as _Tversky,
)
from torchkeras.losses.crossentropy import (
    binary_crossentropy as binary_crossentropy,
    binary_focal_crossentropy as binary_focal_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    categorical_focal_crossentropy as categorical_focal_crossentropy,
    categorical_generalized_cross_entropy as categorical_generalized_cross_entropy,
    kullback_leibler_divergence as kullback_leibler_divergence,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)
from torchkeras.losses.hinges import (
    categorical_hinge as categorical_hinge,
    hinge as hinge,
    squared_hinge as squared_hinge,
)
from torchkeras.losses.loss import (
    FunctionLoss as FunctionLoss,
    Loss as Loss,
    LossFunctionWrapper as LossFunctionWrapper,
)
from torchkeras.losses.others import circle as circle, ctc as ctc, dice as dice, tversky as tversky
from torchkeras.losses.reduction import Reduction
from torchkeras.losses.regression import (
    cosine_proximity as cosine_proximity,
    cosine_similarity as cosine_similarity,
    huber as huber,
    logcosh as logcosh,
    mean_absolute_error as mean_absolute_error,
    mean_absolute_percentage_error as mean_absolute_percentage_error,
    mean_squared_error as mean_squared_error,
    mean_squared_logarithmic_error as mean_squared_logarithmic_error,
    poisson as poisson,
)

class CTC(_CTC):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "ctc", dtype: Any = None
    ) -> None:
        r"""Connectionist temporal classification, of logits."""

class BinaryCrossentropy(_BinaryCrossentropy):
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""The crossentropy of yes or no. Options: from_logits, label_smoothing, axis."""

class BinaryFocalCrossentropy(_BinaryFocalCrossentropy):
    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "binary_focal_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""... that counts what is sure less. Options: apply_class_balancing, alpha, gamma, and those of the former."""

class CategoricalCrossentropy(_CategoricalCrossentropy):
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""The crossentropy of one-hot rows. Options: from_logits, label_smoothing, axis."""

class CategoricalFocalCrossentropy(_CategoricalFocalCrossentropy):
    def __init__(
        self,
        alpha: float | Sequence[float] = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "categorical_focal_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""... that counts what is sure less. Options: alpha (one or a list), gamma, and those of the former."""

class CategoricalGeneralizedCrossEntropy(_CategoricalGeneralizedCrossEntropy):
    def __init__(
        self,
        q: float = 0.5,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "categorical_generalized_cross_entropy",
        dtype: Any = None,
    ) -> None:
        r"""(1 - p**q) / q of the class numbers' probabilities, for noisy labels. Options: q."""

class CategoricalHinge(_CategoricalHinge):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "categorical_hinge",
        dtype: Any = None,
    ) -> None:
        r"""max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred))"""

class Circle(_Circle):
    def __init__(
        self,
        gamma: float = 80.0,
        margin: float = 0.4,
        remove_diagonal: bool = True,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "circle",
        dtype: Any = None,
    ) -> None:
        r"""Draws embeddings of one class together. Options: gamma, margin, remove_diagonal.

        Samples whose loss is 0 are left out of the mean.
        """

class CosineSimilarity(_CosineSimilarity):
    def __init__(
        self,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "cosine_similarity",
        dtype: Any = None,
    ) -> None:
        r"""The cosine of the angle, times -1. Options: axis."""

class Dice(_Dice):
    def __init__(
        self,
        axis: int | Sequence[int] | None = None,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "dice",
        dtype: Any = None,
    ) -> None:
        r"""1 - twice the overlap by the sum. Options: axis (one, several, or None for all)."""

class Hinge(_Hinge):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "hinge", dtype: Any = None
    ) -> None:
        r"""mean(max(1 - y_true * y_pred, 0)); unlike the function, targets may be 0 and 1 for -1 and 1."""

class Huber(_Huber):
    def __init__(
        self,
        delta: float = 1.0,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "huber_loss",
        dtype: Any = None,
    ) -> None:
        r"""A square near 0, a line beyond `delta`. Options: delta."""

class KLDivergence(_KLDivergence):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "kl_divergence", dtype: Any = None
    ) -> None:
        r"""sum(y_true * log(y_true / y_pred))"""

class LogCosh(_LogCosh):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "log_cosh", dtype: Any = None
    ) -> None:
        r"""mean(log(cosh(y_pred - y_true)))"""

class MeanAbsoluteError(_MeanAbsoluteError):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "mean_absolute_error",
        dtype: Any = None,
    ) -> None:
        r"""mean(abs(y_pred - y_true))"""

class MeanAbsolutePercentageError(_MeanAbsolutePercentageError):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "mean_absolute_percentage_error",
        dtype: Any = None,
    ) -> None:
        r"""100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon))"""

class MeanSquaredError(_MeanSquaredError):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "mean_squared_error",
        dtype: Any = None,
    ) -> None:
        r"""mean((y_pred - y_true)**2)"""

class MeanSquaredLogarithmicError(_MeanSquaredLogarithmicError):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "mean_squared_logarithmic_error",
        dtype: Any = None,
    ) -> None:
        r"""mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2)"""

class Poisson(_Poisson):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "poisson", dtype: Any = None
    ) -> None:
        r"""mean(y_pred - y_true * log(y_pred + epsilon))"""

class SparseCategoricalCrossentropy(_SparseCategoricalCrossentropy):
    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""The crossentropy of class numbers. Options: from_logits, ignore_class, axis.

        Values of `ignore_class` are left out of the mean. Unlike the function, probabilities are divided by their sum
        before they are clipped.
        """

class SquaredHinge(_SquaredHinge):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "squared_hinge", dtype: Any = None
    ) -> None:
        r"""mean(max(1 - y_true * y_pred, 0)**2); unlike the function, targets may be 0 and 1 for -1 and 1."""

class Tversky(_Tversky):
    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        axis: int | Sequence[int] | None = None,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "tversky",
        dtype: Any = None,
    ) -> None:
        r"""Dice with a weight each for what is missed and what is too much. Options: alpha, beta, axis."""

NO_LABEL: int
HALF_TYPES: tuple[Any, ...]
mse = mean_squared_error
MSE = mean_squared_error
mae = mean_absolute_error
MAE = mean_absolute_error
mape = mean_absolute_percentage_error
MAPE = mean_absolute_percentage_error
msle = mean_squared_logarithmic_error
MSLE = mean_squared_logarithmic_error
kld = kullback_leibler_divergence
KLD = kullback_leibler_divergence
kl_divergence = kullback_leibler_divergence
cosine = cosine_proximity
log_cosh = logcosh
bce = binary_crossentropy
BCE = binary_crossentropy
ELEMENTWISE: tuple[Callable[..., Tensor], ...]
FUNCTIONS: tuple[Any, ...]

def function_of(loss: Any) -> Any:
    r"""The function that a loss of Keras computes, by which it is recognized: `huber` for `Huber()`, else the loss."""

def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""What `identifier` names: a registered name, a config, or an object of the kind itself.

    A class or a `factory` (found by name or given) is called without arguments; `None` stays `None`.
    Raises ValueError for an unknown name and TypeError for an identifier of another type.
    """

def deserialize(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""What `identifier` names: a registered name, a config, or an object of the kind itself.

    A class or a `factory` (found by name or given) is called without arguments; `None` stays `None`.
    Raises ValueError for an unknown name and TypeError for an identifier of another type.
    """

def serialize(value: Any) -> Any:
    r"""The inverse of `get`: a name for a function, `{"class_name", "config"}` for an object with `get_config`."""

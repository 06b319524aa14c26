"""`keras.wrappers` of Keras 3.15: models as estimators of scikit-learn, which is imported when one is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchkeras.base.annexes import annex

if TYPE_CHECKING:
    from torchkeras.keras3.wrappers.estimators import SKLearnClassifier, SKLearnRegressor, SKLearnTransformer

__all__ = ["SKLearnClassifier", "SKLearnRegressor", "SKLearnTransformer"]


def __getattr__(name: str) -> Any:
    """An estimator. Raises ImportError where scikit-learn is missing."""
    if name not in __all__:
        raise AttributeError(f"module 'keras.wrappers' has no {name!r}.")
    return getattr(annex("scikit-learn estimators"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

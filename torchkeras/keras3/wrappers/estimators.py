"""Models as estimators of scikit-learn, as Keras 3 has them: `torchkeras.sklearn` with what is Keras's alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torchkeras import sklearn as estimators
from torchkeras.base.extras import extra
from torchkeras.keras3.models import clone_model

sklearn = extra("sklearn", "keras.wrappers")
routing = extra("sklearn.utils.metadata_routing", "keras.wrappers")


class _OfKeras3:
    """What Keras's three have besides."""

    history_: Any

    @property
    def epoch_(self) -> Any:
        """The numbers of the epochs of the last `fit`; 0 before one."""
        return self.history_.epoch if hasattr(self, "history_") else 0

    def fit(self, X: Any, y: Any, **kwargs: Any) -> Any:  # noqa: N803  (scikit-learn's name)
        """Train a model; returns the estimator.

        Arguments:
            X (array, (samples, ...)): the inputs.
            y (array, (samples,)): the targets.
            kwargs (any): arguments of the model's `fit`.

        Errors:
            ValueError: the data does not fit the estimator or the model.
            RuntimeError: the model is not compiled.
        """
        return super().fit(X, y, **kwargs)  # pyright: ignore[reportAttributeAccessIssue]

    def set_fit_request(self, **kwargs: Any) -> Any:
        """Say which metadata `fit` wants, as scikit-learn's metadata routing has it; returns the estimator.

        Arguments:
            kwargs (bool, None or text): for each argument, whether it is wanted, or its name in metadata.

        Errors:
            RuntimeError: metadata routing is off.
        """
        if not sklearn.get_config().get("enable_metadata_routing", False):
            raise RuntimeError(
                f"{type(self).__name__}.set_fit_request: metadata routing is off; turn it on by "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        self._metadata_request = routing.MetadataRequest(owner=type(self).__name__)
        for name, alias in kwargs.items():
            self._metadata_request.fit.add_request(param=name, alias=alias)
        return self

    def _copied(self, model: Any) -> Any:
        return clone_model(model)

    def _weighed(self, y: np.ndarray, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return options  # Keras's `class_weight` is by the number of the class


class SKLearnClassifier(_OfKeras3, estimators.SKLearnClassifier):
    """A model as a classifier of scikit-learn: `torchkeras.sklearn.SKLearnClassifier` with Keras 3's arguments.

    A `class_weight` is by the number of the class. After `fit` it has `model_`, `history_` and `classes_`, the classes
    in their order.

    Errors:
        ValueError: the targets are no classes, or there is only one.

    Example:
        >>> def made(X, y):
        ...     model = Sequential([Dense(y.shape[1], activation="softmax")])
        ...     model.compile(loss="categorical_crossentropy", optimizer="sgd")
        ...     return model
        >>> x, y = np.ones((4, 2)), np.array(["a", "b", "a", "b"])
        >>> SKLearnClassifier(made, fit_kwargs={"verbose": 0}).fit(x, y).classes_.tolist()
        ['a', 'b']

    Source: https://keras.io/api/utils/sklearn_wrappers/
    """

    def decision_function(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """The model's outputs.

        Arguments:
            X (array, (samples, ...)): the inputs.
        """
        return self._outputs(X)


class SKLearnRegressor(_OfKeras3, estimators.SKLearnRegressor):
    """A model as a regressor of scikit-learn: `torchkeras.sklearn.SKLearnRegressor` with Keras 3's models.

    Example:
        >>> model = Sequential([Input((2,)), Dense(1)])
        >>> model.compile(loss="mse", optimizer="sgd")
        >>> found = SKLearnRegressor(model).fit(np.ones((4, 2)), np.ones(4), verbose=0)
        >>> found.history_.epoch, found.model_ is model
        ([0], False)

    Source: https://keras.io/api/utils/sklearn_wrappers/
    """


class SKLearnTransformer(_OfKeras3, estimators.SKLearnTransformer):
    """A model as a transformer of scikit-learn: `torchkeras.sklearn.SKLearnTransformer` with Keras 3's models.

    Example:
        >>> model = Sequential([Input((2,)), Dense(1)])
        >>> model.compile(loss="mse", optimizer="sgd")
        >>> found = SKLearnTransformer(model).fit(np.ones((4, 2)), np.ones(4), verbose=0)
        >>> found.history_.epoch, found.model_ is model
        ([0], False)

    Source: https://keras.io/api/utils/sklearn_wrappers/
    """

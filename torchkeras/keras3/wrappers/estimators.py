"""Models as estimators of scikit-learn: a classifier, a regressor and a transformer."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from torchkeras.base.extras import extra
from torchkeras.keras3.models import Model, clone_model

_WHAT = "keras.wrappers"
sklearn = extra("sklearn", _WHAT)
base = extra("sklearn.base", _WHAT)
validation = extra("sklearn.utils.validation", _WHAT)
multiclass = extra("sklearn.utils.multiclass", _WHAT)
routing = extra("sklearn.utils.metadata_routing", _WHAT)


def _copied(model: Model) -> Any:
    """A model with new weights, compiled as another is."""
    made = clone_model(model)
    if model.compiled and not made.compiled:
        made.compile_from_config(model.get_compile_config())
    return made


class _Estimator(base.BaseEstimator):
    """The base of the three.

    Options:
        model (Model or function): a compiled model, of which each `fit` trains a copy with new weights; or a function
            that makes one, which is called by `model(X=X, y=y, **model_kwargs)`.
        warm_start (bool, default False): whether each `fit` goes on with the model of the one before, and the first
            trains `model` itself.
        model_kwargs (dict or None, default None): further arguments of the function.
        fit_kwargs (dict or None, default None): arguments of the model's `fit`; those of the estimator's come first.

    After `fit` it has `model_`, the trained model, and `history_`, what its `fit` returned.
    """

    model_: Any
    history_: Any

    def __init__(
        self,
        model: Any,
        warm_start: bool = False,
        model_kwargs: dict[str, Any] | None = None,
        fit_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.warm_start = warm_start
        self.model_kwargs = model_kwargs
        self.fit_kwargs = fit_kwargs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def __sklearn_clone__(self) -> Any:
        """An estimator with the same options and nothing learned; a model is copied with its weights."""
        model = copy.deepcopy(self.model) if isinstance(self.model, Model) else self.model
        return type(self)(model, self.warm_start, self.model_kwargs, self.fit_kwargs)

    @property
    def epoch_(self) -> Any:
        """The numbers of the epochs of the last `fit`; 0 before one."""
        return self.history_.epoch if hasattr(self, "history_") else 0

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

    def _made(self, X: Any, y: Any) -> Any:  # noqa: N803  (scikit-learn's name)
        """A compiled model for data. Raises RuntimeError for one without a loss or an optimizer."""
        if self.warm_start and hasattr(self, "model_"):
            made = self.model_
        elif isinstance(self.model, Model):
            made = self.model if self.warm_start else _copied(self.model)
        else:
            made = self.model(X=X, y=y, **(self.model_kwargs or {}))
        if not (made.compiled and made.loss and made.optimizer):
            raise RuntimeError(f"{type(self).__name__}: the model must be compiled, with a loss and an optimizer.")
        return made

    def _target(self, y: np.ndarray, first: bool = False) -> np.ndarray:
        """The targets as the model wants them; `first`: whether they are those of `fit`."""
        multiclass.type_of_target(y)
        return y.reshape(-1, 1) if y.ndim == 1 else y

    def _predicted(self, outputs: np.ndarray) -> np.ndarray:
        """What the estimator predicts, from the model's outputs."""
        return np.squeeze(outputs, axis=1) if outputs.ndim == 2 and outputs.shape[1] == 1 else outputs

    def _outputs(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        validation.check_is_fitted(self)
        return self.model_.predict(validation.validate_data(self, X, reset=False))

    def fit(self, X: Any, y: Any, **kwargs: Any) -> Any:  # noqa: N803  (scikit-learn's name)
        """Train a new model; returns the estimator.

        Arguments:
            X (array, (samples, features)): the inputs.
            y (array, (samples,)): the targets.
            kwargs (any): arguments of the model's `fit`.

        Errors:
            ValueError: the data do not fit the estimator.
            RuntimeError: the model is not compiled.
        """
        X, y = validation.validate_data(self, X, y)  # noqa: N806
        target = self._target(y, first=True)
        model = self._made(X, target)
        self.history_ = model.fit(X, target, **{**(self.fit_kwargs or {}), **kwargs})
        self.model_ = model
        return self

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """What the model predicts.

        Arguments:
            X (array, (samples, features)): the inputs.
        """
        return self._predicted(self._outputs(X))


class SKLearnClassifier(base.ClassifierMixin, _Estimator):
    """A model as a classifier of scikit-learn. Its targets are one-hot vectors of the classes.

    Options:
        model (Model or function): a compiled model, of which each `fit` trains a copy with new weights; or a function
            that makes one, which is called by `model(X=X, y=y, **model_kwargs)`.
        warm_start (bool, default False): whether each `fit` goes on with the model of the one before, and the first
            trains `model` itself.
        model_kwargs (dict or None, default None): further arguments of the function.
        fit_kwargs (dict or None, default None): arguments of the model's `fit`; those of the estimator's come first.

    After `fit` it has `model_`, `history_` and `classes_`, the classes in their order.

    Errors:
        ValueError: the targets are no classes, or there is one alone.

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

    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def decision_function(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """The model's outputs.

        Arguments:
            X (array, (samples, features)): the inputs.
        """
        return self._outputs(X)

    def _target(self, y: np.ndarray, first: bool = False) -> np.ndarray:
        kind = multiclass.type_of_target(y, raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            raise ValueError(f"Only binary and multiclass target types are supported. Target type: {kind}")
        if first:
            self.classes_ = np.unique(y)
        if len(self.classes_) == 1:
            raise ValueError("Classifier can't train when only one class is present.")
        return (y.reshape(-1, 1) == self.classes_).astype(float)

    def _predicted(self, outputs: np.ndarray) -> np.ndarray:
        return self.classes_[np.argmax(outputs, axis=1)]


class SKLearnRegressor(base.RegressorMixin, _Estimator):
    """A model as a regressor of scikit-learn.

    Options:
        model (Model or function): a compiled model, of which each `fit` trains a copy with new weights; or a function
            that makes one, which is called by `model(X=X, y=y, **model_kwargs)`.
        warm_start (bool, default False): whether each `fit` goes on with the model of the one before, and the first
            trains `model` itself.
        model_kwargs (dict or None, default None): further arguments of the function.
        fit_kwargs (dict or None, default None): arguments of the model's `fit`; those of the estimator's come first.

    After `fit` it has `model_` and `history_`.

    Example:
        >>> model = Sequential([Input((2,)), Dense(1)])
        >>> model.compile(loss="mse", optimizer="sgd")
        >>> found = SKLearnRegressor(model).fit(np.ones((4, 2)), np.ones(4), verbose=0)
        >>> found.history_.epoch, found.model_ is model
        ([0], False)

    Source: https://keras.io/api/utils/sklearn_wrappers/
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class SKLearnTransformer(base.TransformerMixin, _Estimator):
    """A model as a transformer of scikit-learn, whose outputs are the new features.

    Options:
        model (Model or function): a compiled model, of which each `fit` trains a copy with new weights; or a function
            that makes one, which is called by `model(X=X, y=y, **model_kwargs)`.
        warm_start (bool, default False): whether each `fit` goes on with the model of the one before, and the first
            trains `model` itself.
        model_kwargs (dict or None, default None): further arguments of the function.
        fit_kwargs (dict or None, default None): arguments of the model's `fit`; those of the estimator's come first.

    After `fit` it has `model_` and `history_`.

    Example:
        >>> model = Sequential([Input((2,)), Dense(1)])
        >>> model.compile(loss="mse", optimizer="sgd")
        >>> found = SKLearnTransformer(model).fit(np.ones((4, 2)), np.ones(4), verbose=0)
        >>> found.history_.epoch, found.model_ is model
        ([0], False)

    Source: https://keras.io/api/utils/sklearn_wrappers/
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def transform(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """The new features.

        Arguments:
            X (array, (samples, features)): the inputs.
        """
        return self._outputs(X)

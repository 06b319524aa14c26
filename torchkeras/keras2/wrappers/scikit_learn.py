"""`keras.wrappers.scikit_learn`: models as estimators of scikit-learn, made by a function of the user's."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from torchkeras import Sequential
from torchkeras.keras2.utils.generic_utils import has_arg, to_list
from torchkeras.utils import to_categorical

ACCURACIES = ("acc", "accuracy")
OLD_NAMES = {"nb_epoch": "epochs"}


class BaseWrapper:
    """The base of both estimators.

    Options:
        build_fn (callable or None, default None): makes and compiles a model; its arguments are parameters of the
            estimator. None is the `__call__` of a subclass.
        sk_params (any): arguments of `build_fn`, and of `fit`, `predict`, `predict_proba` and `score` of the model.

    Errors:
        ValueError: a parameter that none of these takes.
        TypeError: there is no `build_fn`.
    """

    build_fn: Any
    model: Any

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: Any):
        self.build_fn, self.sk_params = build_fn, sk_params
        self.check_params(sk_params)

    def _makes(self) -> Callable[..., Any]:
        """What makes the model."""
        made_by = self.build_fn if self.build_fn is not None else getattr(self, "__call__", None)  # noqa: B004
        if made_by is None:
            raise TypeError(f"{type(self).__name__}: give a build_fn, or a __call__ in a subclass, that makes a model.")
        return made_by

    def check_params(self, params: Mapping[str, Any]) -> None:
        """ValueError for a parameter that neither the function nor a method of the model takes."""
        takers = [Sequential.fit, Sequential.predict, Sequential.predict_classes, Sequential.evaluate, self._makes()]
        for name in params:
            if name not in OLD_NAMES and not any(has_arg(taker, name) for taker in takers):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, `build_fn` among them, as they were given; `deep` makes no difference."""
        return {**self.sk_params, "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Any:
        """Set parameters, and return the estimator."""
        self.build_fn = params.pop("build_fn", self.build_fn)
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def filter_sk_params(self, fn: Callable[..., Any], override: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The parameters that a function takes, and `override`."""
        named = {OLD_NAMES.get(name, name): value for name, value in self.sk_params.items()}
        return {**{name: value for name, value in named.items() if has_arg(fn, name)}, **(override or {})}

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Make a new model and train it.

        Arguments:
            x (array): the inputs.
            y (array): the targets; class numbers when the loss takes one-hot rows.
            kwargs (any): further arguments of the model's `fit`.

        Returns:
            The `History`.
        """
        made_by = self._makes()
        self.model = made_by(**self.filter_sk_params(made_by))
        given = {OLD_NAMES.get(name, name): value for name, value in kwargs.items()}
        options = {**copy.deepcopy(self.filter_sk_params(Sequential.fit)), **given}
        return self.model.fit(x, self._targets(y), **options)

    def _targets(self, y: Any) -> np.ndarray:
        """The targets as the loss takes them."""
        loss, array = self.model.loss, np.asarray(y)
        name = getattr(loss, "__name__", loss)
        return to_categorical(array) if name == "categorical_crossentropy" and array.ndim != 2 else array

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model")

    def _tags(self, kind: str) -> Any:
        """What scikit-learn 1.6 and later ask an estimator about itself."""
        tags = importlib.import_module("sklearn.utils")
        own = {f"{kind}_tags": getattr(tags, f"{kind.capitalize()}Tags")()}
        return tags.Tags(estimator_type=kind, target_tags=tags.TargetTags(required=True), non_deterministic=True, **own)


class KerasClassifier(BaseWrapper):
    """A classifier. The model has an output for each class, or a single one."""

    _estimator_type = "classifier"  # asked for by scikit-learn before 1.6

    def __sklearn_tags__(self) -> Any:
        return self._tags("classifier")

    def fit(self, x: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Make a new model and train it.

        Arguments:
            x (array): the inputs.
            y (array): the classes, of any kind, one for each sample; or one-hot rows.
            sample_weight (array or None, default None): a weight for each sample.
            kwargs (any): further arguments of the model's `fit`.

        Returns:
            The `History`.

        Errors:
            ValueError: `y` has another shape.
        """
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or y.ndim == 2:
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        if sample_weight is not None:
            kwargs["sample_weight"] = sample_weight
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """The class of each sample; `kwargs`: arguments of the model's `predict`."""
        scores = self.model.predict(x, **self.filter_sk_params(Sequential.predict_classes, kwargs))
        single = scores.shape[-1] == 1
        return self.classes_[(scores > 0.5).astype("int32") if single else scores.argmax(-1)]

    def predict_proba(self, x: Any, **kwargs: Any) -> np.ndarray:
        """(samples, classes): the score of each class; `kwargs`: arguments of the model's `predict`."""
        scores = self.model.predict(x, **self.filter_sk_params(Sequential.predict_proba, kwargs))
        return np.hstack([1 - scores, scores]) if scores.shape[1] == 1 else scores

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The accuracy.

        Arguments:
            x (array): the inputs.
            y (array): the classes.
            kwargs (any): arguments of the model's `evaluate`.

        Errors:
            ValueError: the model is not compiled with `metrics=["accuracy"]`.
        """
        targets = self._targets(np.searchsorted(self.classes_, y))
        found = to_list(self.model.evaluate(x, targets, **self.filter_sk_params(Sequential.evaluate, kwargs)))
        for name, value in zip(self.model.metrics_names, found, strict=True):
            if name in ACCURACIES:
                return value
        raise ValueError(
            "The model is not configured to compute accuracy. You should pass `metrics=['accuracy']` to the "
            "`model.compile()` method."
        )


class KerasRegressor(BaseWrapper):
    """A regressor."""

    _estimator_type = "regressor"  # asked for by scikit-learn before 1.6

    def __sklearn_tags__(self) -> Any:
        return self._tags("regressor")

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """The outputs without axes of size 1, save that of samples; `kwargs`: arguments of the model's `predict`."""
        found = self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs))
        return found.squeeze(tuple(axis for axis in range(1, found.ndim) if found.shape[axis] == 1))

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The loss, negative, so that more is better; `kwargs`: arguments of the model's `evaluate`."""
        return -to_list(self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs)))[0]

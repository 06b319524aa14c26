"""`keras.wrappers.scikit_learn`: models as estimators of scikit-learn, made by a function of the user's.

Keras's arguments and attributes, and scikit-learn's conventions of today: `fit` returns the estimator, which has what
Keras's `History` has; data is looked at by scikit-learn where it is installed, and after `fit` there are `model_`,
`n_features_in_` and `classes_`.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from torchkeras import Sequential
from torchkeras.keras2.utils.generic_utils import has_arg, to_list
from torchkeras.utils import to_categorical

ACCURACIES = ("acc", "accuracy")
OLD_NAMES = {"nb_epoch": "epochs"}
OF_DATA = ("n_features_in_", "n_classes_", "n_outputs_")  # arguments of `build_fn` that `fit` finds in the data


class BaseWrapper:
    """The base of both estimators.

    Options:
        build_fn (callable or None, default None): makes and compiles a model; its arguments are parameters of the
            estimator. None is the `__call__` of a subclass. Arguments `n_features_in_`, `n_classes_` (of a classifier)
            and `n_outputs_` (of a regressor) are numbers of the data that `fit` is given.
        sk_params (any): arguments of `build_fn`, and of `fit`, `predict`, `predict_proba` and `score` of the model;
            `random_state`, a number with which each `fit` begins the same.

    Errors:
        ValueError: a parameter that none of these takes.
        TypeError: `fit` without a function that makes a model.
    """

    # A slot: scikit-learn takes what `vars` has for parameters of the constructor.
    __slots__ = ("__dict__", "__weakref__", "sk_params")

    build_fn: Any
    model_: Any

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: Any):
        self.build_fn, self.sk_params = build_fn, sk_params
        self.check_params(sk_params)

    def _made_by(self) -> Any:
        """What makes the model, whatever was given."""
        return self.build_fn if self.build_fn is not None else getattr(self, "__call__", None)  # noqa: B004

    def _makes(self) -> Callable[..., Any]:
        """What makes the model. Raises TypeError where it cannot."""
        made_by = self._made_by()
        if not callable(made_by):
            raise TypeError(f"{type(self).__name__}: give a build_fn, or a __call__ in a subclass, that makes a model.")
        return made_by

    def check_params(self, params: Mapping[str, Any]) -> None:
        """ValueError for a parameter that neither the function nor a method of the model takes."""
        takers = [Sequential.fit, Sequential.predict, Sequential.predict_classes, Sequential.evaluate]
        if callable(made_by := self._made_by()):
            takers.append(made_by)
        for name in params:
            known = name in OLD_NAMES or name == "random_state"
            if not known and not any(has_arg(taker, name) for taker in takers):
                raise ValueError(f"{name} is not a legal parameter")

    # --- what it is after `fit` --------------------------------------------------------------------------------------

    @property
    def model(self) -> Any:
        """The model of the last `fit`."""
        return self.model_

    @property
    def history(self) -> dict[str, list[float]]:
        """The numbers of each epoch, as Keras's `History` has them."""
        return self.model_.history.history

    @property
    def epoch(self) -> list[int]:
        """The epochs, as Keras's `History` has them."""
        return self.model_.history.epoch

    @property
    def params(self) -> dict[str, Any]:
        """The numbers of the run, as Keras's `History` has them."""
        return self.model_.history.params

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
            The estimator.

        Errors:
            ValueError: data that scikit-learn refuses, such as numbers that are not finite.
        """
        x, y = self._looked_at(x, y)
        self.n_outputs_ = np.shape(y)[1] if np.ndim(y) == 2 else 1
        return self._fit(x, y, **kwargs)

    def _fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        made_by = self._makes()
        of_data = {name: getattr(self, name) for name in OF_DATA if hasattr(self, name) and has_arg(made_by, name)}
        given = {OLD_NAMES.get(name, name): value for name, value in kwargs.items()}
        options = {**copy.deepcopy(self.filter_sk_params(Sequential.fit)), **given}
        if options.get("sample_weight") is not None:
            options["sample_weight"] = self._weights(options["sample_weight"])
        with self._seeded():
            self.model_ = made_by(**{**of_data, **self.filter_sk_params(made_by)})
            self.model_.fit(x, self._targets(y), **options)
        return self

    @contextmanager
    def _seeded(self) -> Iterator[None]:
        """Random numbers that begin by `random_state`, where it is given; the state outside stays."""
        state = self.sk_params.get("random_state")
        if state is None:
            yield
            return
        numbers: Any = np.random
        before = numbers.get_state()
        with torch.random.fork_rng():
            torch.manual_seed(state)
            numbers.seed(state)
            try:
                yield
            finally:
                numbers.set_state(before)

    def _looked_at(self, x: Any, *y: Any, reset: bool = True) -> Any:
        """`x`, or `x` and `y`, as arrays that scikit-learn takes. Several inputs, in a dict or list, stay as they are.

        `reset`: whether the width of `x` is that of the estimator from now on; else it must be.
        """
        x = x.toarray() if hasattr(x, "toarray") else x  # a sparse matrix
        arrays = (np.ndarray, torch.Tensor)
        several = isinstance(x, dict) or (isinstance(x, (list, tuple)) and len(x) and isinstance(x[0], arrays))
        if several or importlib.util.find_spec("sklearn") is None:
            return (x, *y) if y else x
        look = importlib.import_module("sklearn.utils.validation").validate_data
        if not y:
            return look(self, x, reset=reset, allow_nd=True)
        if getattr(y[0], "ndim", 0) > 2:  # targets that scikit-learn does not know, such as sequences
            return look(self, x, reset=reset, allow_nd=True), *y
        numeric = self.__sklearn_tags__().estimator_type == "regressor"
        return look(self, x, *y, reset=reset, allow_nd=True, multi_output=True, y_numeric=numeric)

    def _known(self, x: Any) -> Any:
        """`x` for a model that is there. Raises scikit-learn's NotFittedError, or AttributeError, before `fit`."""
        if not self.__sklearn_is_fitted__() and importlib.util.find_spec("sklearn") is not None:
            importlib.import_module("sklearn.utils.validation").check_is_fitted(self)
        return self._looked_at(x, reset=False)

    def _weights(self, weights: Any) -> np.ndarray:
        """Sample weights as an array. Raises ValueError where all are 0."""
        found = np.asarray(weights, dtype="float32")
        if not found.any():
            raise ValueError(f"{type(self).__name__}: sample weights are all zero: nothing would train.")
        return found

    def _targets(self, y: Any) -> np.ndarray:
        """The targets as the loss takes them."""
        loss, array = self.model_.loss, np.asarray(y)
        name = getattr(loss, "__name__", loss)
        return to_categorical(array) if name == "categorical_crossentropy" and array.ndim != 2 else array

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        raise NotImplementedError

    def _tags(self, kind: str) -> Any:
        """What scikit-learn 1.6 and later ask an estimator about itself."""
        tags = importlib.import_module("sklearn.utils")
        # A regressor's score, the loss, is none that numbers of scikit-learn can be compared with.
        own = {f"{kind}_tags": getattr(tags, f"{kind.capitalize()}Tags")(poor_score=kind == "regressor")}
        target = tags.TargetTags(required=True, multi_output=kind == "regressor")
        given = tags.InputTags(sparse=True, three_d_array=True)
        return tags.Tags(estimator_type=kind, target_tags=target, input_tags=given, non_deterministic=True, **own)


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
            The estimator.

        Errors:
            ValueError: `y` has another shape, is no classes, or has one class; data that scikit-learn refuses.
        """
        x, y = self._looked_at(x, y)
        y = np.array(y)
        if y.ndim < 3 and importlib.util.find_spec("sklearn") is not None:
            importlib.import_module("sklearn.utils.multiclass").check_classification_targets(y)
            if y.ndim == 2 and y.shape[1] == 1:
                y = importlib.import_module("sklearn.utils.validation").column_or_1d(y, warn=True)
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
        return self._fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """The class of each sample; `kwargs`: arguments of the model's `predict`."""
        x = self._known(x)
        scores = self.model_.predict(x, **self.filter_sk_params(Sequential.predict_classes, kwargs))
        single = scores.shape[-1] == 1
        return self.classes_[(scores > 0.5).astype("int32") if single else scores.argmax(-1)]

    def predict_proba(self, x: Any, **kwargs: Any) -> np.ndarray:
        """(samples, classes): the score of each class; `kwargs`: arguments of the model's `predict`."""
        x = self._known(x)
        scores = self.model_.predict(x, **self.filter_sk_params(Sequential.predict_proba, kwargs))
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
        x = self._known(x)
        targets = self._targets(np.searchsorted(self.classes_, y))
        found = to_list(self.model_.evaluate(x, targets, **self.filter_sk_params(Sequential.evaluate, kwargs)))
        for name, value in zip(self.model_.metrics_names, found, strict=True):
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
        x = self._known(x)
        found = self.model_.predict(x, **self.filter_sk_params(Sequential.predict, kwargs))
        return found.squeeze(tuple(axis for axis in range(1, found.ndim) if found.shape[axis] == 1))

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The loss, negative, so that more is better; `kwargs`: arguments of the model's `evaluate`."""
        x = self._known(x)
        return -to_list(self.model_.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs)))[0]

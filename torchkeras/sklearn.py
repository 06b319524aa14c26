"""Models as estimators of scikit-learn: a classifier, a regressor and a transformer."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from torchkeras import losses
from torchkeras.base import docstrings
from torchkeras.base.extras import extra
from torchkeras.base.rules import KnownOptions
from torchkeras.data.target_kinds import CLASSES, CLASSES_OF_TORCH
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.graph.trace import graph_of, is_connected
from torchkeras.engine.step.output_loss import is_one_of
from torchkeras.engine.step.output_metric import link_of
from torchkeras.engine.step.targets import Target
from torchkeras.losses.loss import function_of
from torchkeras.models import Model, clone_model
from torchkeras.optimizers import Optimizer

_WHAT = "torchkeras.sklearn"
base = extra("sklearn.base", _WHAT)
class_weights = extra("sklearn.utils.class_weight", _WHAT)
multiclass = extra("sklearn.utils.multiclass", _WHAT)
validation = extra("sklearn.utils.validation", _WHAT)

__all__ = ["SKLearnClassifier", "SKLearnRegressor", "SKLearnTransformer"]

NESTED = ("model_kwargs", "fit_kwargs")
REQUESTED = ("_metadata_request", "_sklearn_output_config")  # what scikit-learn's own clones keep
ROUNDING = 1e-2  # by which probabilities in 16 bits may miss the sum of 1


class _Estimator(KnownOptions, base.BaseEstimator):
    """The base of the three.

    Options:
        model (Model or function): a compiled model, of which each `fit` trains a copy with new weights; or a function
            that makes one. It is called with `model_kwargs`, and with the data as `X` and `y` where it takes these.
        warm_start (bool, default False): whether each `fit` goes on with the model of the one before, and the first
            trains `model` itself.
        model_kwargs (dict or None, default None): arguments of the function.
        fit_kwargs (dict or None, default None): arguments of the model's `fit`; those that the estimator's `fit`
            gets replace them.
    """

    model_: Any
    history_: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        docstrings.complete_when_read(cls, lambda cls: docstrings.complete(cls, inspect.signature(cls).parameters))

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

    # --- parameters --------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name.

        Arguments:
            deep (bool, default True): whether what the two dicts hold is there too, as `model_kwargs__<name>` and
                `fit_kwargs__<name>`.
        """
        found = super().get_params(deep)
        for option in NESTED if deep else ():
            if isinstance(found[option], Mapping):
                found |= {f"{option}__{name}": value for name, value in found[option].items()}
        return found

    def set_params(self, **params: Any) -> Any:
        """Set options, or entries of the two dicts, such as `model_kwargs__units=8`; returns the estimator.

        Errors:
            ValueError: there is no such option.
        """
        nested = {
            name: params.pop(name) for name in tuple(params) if name.partition("__")[0] in NESTED and "__" in name
        }
        super().set_params(**params)
        for name, value in nested.items():
            option, _, entry = name.partition("__")
            setattr(self, option, {**(getattr(self, option) or {}), entry: value})
        return self

    def __sklearn_clone__(self) -> Any:
        """An estimator with the same options and nothing learned; a model is copied with its weights."""
        model = copy.deepcopy(self.model) if isinstance(self.model, Model) else self.model
        made = type(self)(**{**self.get_params(deep=False), "model": model})
        made.__dict__.update({name: copy.deepcopy(value) for name, value in vars(self).items() if name in REQUESTED})
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.three_d_array = True
        return tags

    # --- the model ---------------------------------------------------------------------------------------------------

    def _made(self, X: Any, y: Any) -> Any:  # noqa: N803  (scikit-learn's name)
        """A compiled model for data. Raises TypeError for no model, RuntimeError without a loss or an optimizer."""
        is_given = isinstance(self.model, Model)
        if self.warm_start and hasattr(self, "model_"):
            made = self.model_
        elif is_given:
            made = self.model
        else:
            made = self._from_function(X, y)
        if not (training_of(made).is_compiled and made.loss and made.optimizer):
            raise RuntimeError(f"{type(self).__name__}: the model must be compiled, with a loss and an optimizer.")
        if is_given and not self.warm_start:
            made = self._copied(made)
        if not is_connected(made):
            made.build((None, *X.shape[1:]))
        return made

    def _from_function(self, X: Any, y: Any) -> Any:  # noqa: N803  (scikit-learn's name)
        if not callable(self.model):
            raise TypeError(
                f"{type(self).__name__}: model must be a model, or a function that makes one; found {self.model!r}."
            )
        made = self.model(**_taken(self.model, {"X": X, "y": y}), **(self.model_kwargs or {}))
        if not isinstance(made, Model):
            raise TypeError(f"{type(self).__name__}: the function {self.model!r} must return a model; found {made!r}.")
        return made

    def _copied(self, model: Model) -> Any:
        """A model with new weights, compiled as another is. Raises ValueError for an optimizer of torch."""
        made, options = clone_model(model), vars(training_of(model).options)
        optimizer = options["optimizer"]
        if not isinstance(optimizer, Optimizer):
            raise ValueError(
                f"{type(self).__name__}: the model cannot be copied with an optimizer of torch.optim, which has this "
                "model's weights. Give a function that makes and compiles the model."
            )
        scores = {name: copy.deepcopy(options[name]) for name in ("loss", "metrics", "weighted_metrics")}
        fresh = type(optimizer).from_config(optimizer.get_config())
        training_of(made).compile(**{**options, **scores, "optimizer": fresh})
        return made

    # --- data --------------------------------------------------------------------------------------------------------

    def _target(self, y: np.ndarray) -> np.ndarray:
        """The targets of `fit`, as the function that makes a model gets them."""
        return y.reshape(-1, 1) if y.ndim == 1 else y

    def _for_loss(self, model: Any, target: np.ndarray) -> np.ndarray:
        """The targets as the loss of the model takes them."""
        return target

    def _weighed(self, y: np.ndarray, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The options of the model's `fit`, with the weights of the samples."""
        return options

    def _outputs(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        validation.check_is_fitted(self)
        return self.model_.predict(validation.validate_data(self, X, reset=False, allow_nd=True))

    # --- what all have -----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> Any:  # noqa: N803  (scikit-learn's name)
        """Train a model; returns the estimator.

        Arguments:
            X (array, (samples, ...)): the inputs.
            y (array, (samples,)): the targets.
            sample_weight (array or None, default None): a weight for each sample.
            kwargs (any): further arguments of the model's `fit`.

        Errors:
            ValueError: the data does not fit the estimator or the model.
            RuntimeError: the model is not compiled.
        """
        several = self.__sklearn_tags__().target_tags.multi_output
        X, y = validation.validate_data(self, X, y, allow_nd=True, multi_output=several)  # noqa: N806
        target = self._target(y)
        model = self._made(X, target)
        options = {**(self.fit_kwargs or {}), **kwargs}
        if sample_weight is not None:
            options["sample_weight"] = weights = np.asarray(sample_weight)
            if not weights.any():
                raise ValueError(f"{type(self).__name__}: all sample weights are zero: nothing would train.")
        self.history_ = model.fit(X, self._for_loss(model, target), **self._weighed(y, options))
        self.model_ = model
        return self

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """What the model predicts.

        Arguments:
            X (array, (samples, ...)): the inputs.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.ndim == 2 and outputs.shape[1] == 1 else outputs


class SKLearnClassifier(base.ClassifierMixin, _Estimator):
    """A model as a classifier of scikit-learn.

    The classes may be numbers or text. A function that makes the model gets them as one-hot rows, so that `y.shape[1]`
    is their number. The loss gets what it takes: one-hot rows, class numbers, or 0 and 1 if the model has one output.

    A `class_weight` among the arguments of `fit` is scikit-learn's: a dict by class, or "balanced".

    After `fit` it has `model_`, `history_` and `classes_`, the classes in their order.

    Errors:
        ValueError: the targets are no classes, or there is only one.

    Example:
        >>> def build(units):
        ...     model = Sequential([Dense(units, activation="relu"), Dense(2, activation="softmax")])
        ...     model.compile("adam", "sparse_categorical_crossentropy")
        ...     return model
        >>> x, y = np.ones((4, 2)), np.array(["ant", "bee", "ant", "bee"])
        >>> found = SKLearnClassifier(build, model_kwargs={"units": 8}, fit_kwargs={"verbose": 0}).fit(x, y)
        >>> found.classes_.tolist(), found.predict_proba(x).shape
        (['ant', 'bee'], (4, 2))

    Source: https://keras.io/api/utils/sklearn_wrappers/
    """

    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _target(self, y: np.ndarray) -> np.ndarray:
        kind = multiclass.type_of_target(y, raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            raise ValueError(f"Only binary and multiclass target types are supported. Target type: {kind}")
        classes = np.unique(y)
        if len(classes) == 1:
            raise ValueError("Classifier can't train when only one class is present.")
        if not (self.warm_start and hasattr(self, "model_")):
            self.classes_ = classes
        elif unknown := sorted({*classes.tolist()} - {*self.classes_.tolist()}):
            raise ValueError(
                f"{type(self).__name__}: with warm_start the classes are those of the first fit, "
                f"{self.classes_.tolist()}; found {unknown[0]!r}."
            )
        return (y.reshape(-1, 1) == self.classes_).astype(float)

    def _for_loss(self, model: Any, target: np.ndarray) -> np.ndarray:
        scored = _scored(model)
        if scored is None:
            return target
        if scored.objective.target_kind in (CLASSES, CLASSES_OF_TORCH):
            return target.argmax(1)
        if model.output_shape[-1] != 1:
            return target
        if is_one_of(function_of(scored.objective.given), (losses.hinge, losses.squared_hinge)):
            raise ValueError(
                f"{type(self).__name__}: hinge losses of one output take targets of -1 and 1, and probabilities are 0 "
                "to 1. Give the model an output for each class."
            )
        if len(self.classes_) != 2:
            raise ValueError(
                f"{type(self).__name__}: the model has one output, which is for two classes; found "
                f"{len(self.classes_)}: {self.classes_.tolist()}."
            )
        return target[:, 1:]

    def _weighed(self, y: np.ndarray, options: Mapping[str, Any]) -> Mapping[str, Any]:
        by_class = options.get("class_weight")
        if by_class is None:
            return options
        weights = class_weights.compute_sample_weight(by_class, y)
        of_samples = options.get("sample_weight")
        if of_samples is not None:
            weights = weights * of_samples
        return {**options, "class_weight": None, "sample_weight": weights}

    def _link(self) -> Callable[[torch.Tensor], torch.Tensor] | None:
        """The function from outputs to probabilities, where the loss takes logits."""
        scored = _scored(self.model_)
        if scored is None:
            return None
        return link_of(scored.objective, graph_of(training_of(self.model_).network).outputs[scored.index])

    def _scores(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """A score for each class; those of logits as probabilities, and of a single output for both classes."""
        scores, link = self._outputs(X), self._link()
        if link is not None:
            scores = link(torch.from_numpy(scores)).numpy()
        return np.hstack([1 - scores, scores]) if scores.shape[-1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """The class of each sample.

        Arguments:
            X (array, (samples, ...)): the inputs.
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """The probability of each class, of the shape (samples, classes). Logits become probabilities.

        Arguments:
            X (array, (samples, ...)): the inputs.

        Errors:
            ValueError: the model computes no probabilities.
        """
        scores = self._scores(X)
        if scores.min() < 0 or np.abs(scores.sum(axis=1) - 1).max() > ROUNDING:
            raise ValueError(
                f"{type(self).__name__}: predict_proba needs probabilities, and the outputs of this model are none. "
                "End the model in a softmax or sigmoid, or compile it with a loss on logits."
            )
        return scores


class SKLearnRegressor(base.RegressorMixin, _Estimator):
    """A model as a regressor of scikit-learn. The targets may have several columns.

    After `fit` it has `model_` and `history_`.

    Example:
        >>> model = Sequential([Dense(1, input_shape=(2,))])
        >>> model.compile("sgd", "mse")
        >>> found = SKLearnRegressor(model).fit(np.ones((4, 2)), np.ones(4), verbose=0)
        >>> found.history_.epoch, found.model_ is model
        ([0], False)

    Source: https://keras.io/api/utils/sklearn_wrappers/
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.target_tags.multi_output = True
        return tags


class SKLearnTransformer(base.TransformerMixin, _Estimator):
    """A model as a transformer of scikit-learn, whose outputs are the new features.

    After `fit` it has `model_` and `history_`.

    Example:
        >>> model = Sequential([Dense(3, input_shape=(2,))])
        >>> model.compile("sgd", "mse")
        >>> found = SKLearnTransformer(model).fit(np.ones((4, 2)), np.ones((4, 3)), verbose=0)
        >>> found.transform(np.ones((4, 2))).shape
        (4, 3)

    Source: https://keras.io/api/utils/sklearn_wrappers/
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.target_tags.multi_output = True
        return tags

    def transform(self, X: Any) -> np.ndarray:  # noqa: N803  (scikit-learn's name)
        """The new features.

        Arguments:
            X (array, (samples, ...)): the inputs.
        """
        return self._outputs(X)


def _scored(model: Any) -> Target | None:
    """How the output is scored; None for a model of several outputs, or without a loss of `compile`."""
    targets = training_of(model).ready().targets
    return targets[0] if len(targets) == 1 else None


def _taken(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the arguments that a function takes by their names."""
    parameters = inspect.signature(function).parameters
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return {name: value for name, value in given.items() if takes_any or name in parameters}

"""What a compiled Keras 2 model has as symbolic tensors: its loss, targets and sample weights, and further metrics."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

from torch import Tensor

from torchkeras.base import extensions
from torchkeras.base.dtypes import dtype_name
from torchkeras.base.naming import unique_name
from torchkeras.data.target_kinds import CLASSES, SOME_CLASSES
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.step.step import scored
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras2 import backend as K
from torchkeras.keras2.put_into import OfModel
from torchkeras.layers import Lambda
from torchkeras.models import Model
from torchkeras.optimizers import Optimizer

_metrics_names: Any = vars(Model).get("metrics_names") or Model.metrics_names


KINDS = "_appended_names", "_appended_tensors"


class Appended(list[Any]):
    """Names or tensors of metrics; those that a script appends reach the model."""

    def __init__(self, items: Any, model: Any, kind: str):
        super().__init__(items)
        self._model, self._kind = model, kind

    def append(self, item: Any) -> None:
        super().append(item)
        for kind in KINDS:
            self._model.__dict__.setdefault(kind, [])
        self._model.__dict__[self._kind].append(item)
        _pair(self._model)

    def extend(self, items: Any) -> None:
        for item in items:
            self.append(item)

    def __iadd__(self, items: Any) -> Appended:  # type: ignore[override, misc]
        self.extend(items)
        return self


def _pair(model: Any) -> None:
    """Report each tensor under its name, once both are there."""
    names, tensors = model.__dict__["_appended_names"], model.__dict__["_appended_tensors"]
    for name, tensor in zip(names, tensors, strict=False):
        if name not in training_of(model).added.metrics:
            model.add_metric(tensor, name)


class OldTotals(OfModel):
    """The further attributes of models; never an object."""

    @property
    def metrics_names(self) -> list[str]:
        """As ever. A name may be appended, with a symbolic tensor to `metrics_tensors`: its mean is reported too."""
        appended = self.__dict__.setdefault("_appended_names", [])
        known = _metrics_names.__get__(self)
        return Appended([*known, *(name for name in appended if name not in known)], self, "_appended_names")

    @metrics_names.setter
    def metrics_names(self, names: Any) -> None:
        known = _metrics_names.__get__(self)
        self.__dict__["_appended_names"] = [
            name for name in names if name not in known or name in training_of(self).added.metrics
        ]

    @property
    def metrics_tensors(self) -> list[KerasTensor]:
        """The tensors that were appended, whose means are reported under the names appended to `metrics_names`."""
        return Appended(self.__dict__.setdefault("_appended_tensors", []), self, "_appended_tensors")

    @metrics_tensors.setter
    def metrics_tensors(self, tensors: Any) -> None:
        self.__dict__.setdefault("_appended_names", [])
        self.__dict__["_appended_tensors"] = list(tensors)
        _pair(self)

    @property
    def targets(self) -> list[KerasTensor]:
        """An Input for the targets of each output that has a loss."""
        return _fed(self).targets

    @property
    def sample_weights(self) -> list[KerasTensor]:
        """An Input for the sample weights of each output that has a loss."""
        return _fed(self).weights

    @property
    def total_loss(self) -> KerasTensor:
        """The loss that training minimizes, of the inputs, `targets` and `sample_weights`.

        Raises ValueError for a model with masked outputs or losses of layers, of which no symbolic tensor is known.
        """
        return _fed(self).loss


def _forgetting(method: Callable[..., Any]) -> Callable[..., Any]:
    """`compile`, after which nothing is appended."""

    @wraps(method)
    def forgetting(model: Any, /, *args: Any, **kwargs: Any) -> None:
        for name in model.__dict__.get("_appended_names", ()):
            training_of(model).added = training_of(model).added.without(name)
        model.__dict__.update(_appended_names=[], _appended_tensors=[])
        method(model, *args, **kwargs)

    return forgetting


def _fed(model: Any) -> Any:
    """The tensors of a compiled model, made once for each `compile`. Raises RuntimeError before."""
    compiled = training_of(model).ready()
    known = model.__dict__.get("_fed_totals")
    if known is None or known.compiled is not compiled:
        known = SimpleNamespace(compiled=compiled, **_made(model, compiled))
        model.__dict__["_fed_totals"] = known
    return known


def _made(model: Any, compiled: Any) -> dict[str, Any]:
    if compiled.details or compiled.fed or compiled.own_loss is not None:
        raise ValueError(
            f"{type(model).__name__} {model.name!r}: total_loss is for models without masked outputs, activity "
            "regularizers and losses that use symbolic tensors. Write the loss in the graph, and K.gradients of it."
        )
    outputs = list(graph_of(compiled.network).outputs)
    predicted = [outputs[target.index] for target in compiled.targets]
    targets = [
        _input(f"{target.name}_target", _shape(target, tensor), dtype_name(tensor.dtype))
        for target, tensor in zip(compiled.targets, predicted, strict=True)
    ]
    weights = [
        _input(f"{target.name}_sample_weights", tensor.shape[: 2 if target.weight_mode == "temporal" else 1], "float32")
        for target, tensor in zip(compiled.targets, predicted, strict=True)
    ]
    count = len(outputs)

    def total(tensors: list[Tensor]) -> Tensor:
        given, rest = list(tensors[:count]), list(tensors[count:])
        batch: Any = SimpleNamespace(targets=rest[: len(targets)], weights=rest[len(targets) :])
        return scored(compiled, batch, given, [None] * count, [])[0]

    name = unique_name("total_loss")
    loss = Lambda(total, output_shape=(), name=name)([*outputs, *targets, *weights])
    return {"targets": targets, "weights": weights, "loss": loss}


def _shape(target: Any, tensor: KerasTensor) -> tuple[int | None, ...]:
    """The shape of the targets for an output."""
    is_sparse = target.objective.target_kind in (CLASSES, SOME_CLASSES)
    return (*tensor.shape[:-1], 1) if is_sparse else tensor.shape


def _input(name: str, shape: tuple[int | None, ...], dtype: str) -> KerasTensor:
    return InputLayer(batch_input_shape=shape, dtype=dtype, name=unique_name(name)).input


def get_gradients(optimizer: Any, loss: KerasTensor, params: Any) -> list[KerasTensor]:
    """The gradients of a symbolic loss by weights, clipped as the optimizer clips.

    Raises TypeError for a loss with values, ValueError for a weight that the loss does not depend on.
    """
    if not isinstance(loss, KerasTensor):
        raise TypeError("get_gradients takes a symbolic loss, such as model.total_loss; of values K.gradients tells.")
    found = K.gradients(loss, params)
    if any(each is None for each in found):
        raise ValueError(f"get_gradients: the loss does not depend on weight {found.index(None)} of those given.")
    if optimizer.clipnorm:
        norm = K.sqrt(sum(K.sum(K.square(each)) for each in found))
        found = [each * K.minimum(1.0, optimizer.clipnorm / norm) for each in found]
    if optimizer.clipvalue:
        found = [K.clip(each, -optimizer.clipvalue, optimizer.clipvalue) for each in found]
    return found


def extend() -> None:
    """Add the attributes to `Model`, and `get_gradients` to optimizers."""
    extensions.extend(Optimizer, get_gradients=get_gradients)
    extensions.extend(Model, compile=_forgetting(Model.compile))
    extensions.extend(Model, **{name: value for name, value in vars(OldTotals).items() if not name.startswith("__")})

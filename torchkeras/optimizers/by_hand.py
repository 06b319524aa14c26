"""Steps by hand, by the names of torch and Keras 3: `zero_grad`, `step`, `apply`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from torchkeras.optimizers.accumulation import Accumulator
from torchkeras.optimizers.parameter_groups import Gradients


class Stepping(Protocol):
    """The train step of a model whose class computes the gradients."""

    def ready(self) -> None:
        """Bind the optimizer to what the model trains: its first call may have built weights."""
        ...

    def update(self, gradients: Gradients) -> None:
        """Make an update of these gradients."""
        ...


class ReadGroup(Mapping[str, Any]):
    """A group of parameters in torch's form, read-only: the options are attributes of the optimizer."""

    def __init__(self, name: str, values: Mapping[str, Any]):
        self._name, self._values = name, dict(values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __setitem__(self, key: str, value: Any) -> None:
        raise TypeError(
            f"{self._name}: its param_groups are read; set {key} on the optimizer itself, as model.optimizer.{key} = "
            f"{value!r:.100}."
        )


class ByHand:
    """Steps on the parameters of `bind` by gradients that the user computes.

    Inside a model's `train_step` the model makes the step: weights' constraints, `on_nonfinite` and accumulation (by
    the samples of the batch) work as in `minimize`. In your own loop they are plain steps, without constraints.
    """

    _accumulated: Accumulator
    _given: Any  # the parameters, as passed to `bind`
    update: Callable[..., bool]  # (parameters, gradients, samples), one step
    stepping: Stepping | None = None  # the train step that runs now

    @property
    def param_groups(self) -> list[Any]:
        """The parameters that it trains, for torch's GradScaler: one read-only group with the rate."""
        parameters = tuple(self._bound_parameters("param_groups"))
        rate = self.current_lr  # type: ignore[attr-defined]  # each optimizer has it
        return [ReadGroup(type(self).__name__, {"params": parameters, "lr": rate})]

    def drop_accumulated(self) -> None:
        """Forget the gradients that wait for more batches."""
        self._accumulated.take()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of the parameters, or set them to zero."""
        if self.stepping is not None:
            self.stepping.ready()
        for parameter in self._given or ():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad = torch.zeros_like(parameter.grad)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step by the gradients that `loss.backward()` has left; as in torch they stay until `zero_grad`.

        `closure`: computes the loss, and gradients, before the step; its result is returned.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._take([parameter.grad for parameter in self._bound_parameters("step")])
        return loss

    def apply(self, grads: Iterable[Tensor | None], trainable_variables: Iterable[Any] | None = None) -> None:
        """One step by a gradient for each of `trainable_variables`; variables with None, and all others, do not change.

        A variable is a parameter, or one of the model's `trainable_variables`, whose gradient has Keras's order of axes
        (`variable.value.grad`). Raises ValueError for another number, another shape, a variable that does not train
        here, no gradient at all, and a gradient whose order of axes cannot be known: pass the parameter for it then.
        """
        known = {id(parameter): place for place, parameter in enumerate(self._bound_parameters("apply"))}
        gradients, name = list(grads), type(self).__name__
        if trainable_variables is None:
            raise ValueError(
                f"{name}.apply: give the variables too, apply(gradients, variables): parameters of the model, or its "
                "trainable_variables."
            )
        variables = list(trainable_variables)
        if len(gradients) != len(variables):
            raise ValueError(f"{name}.apply: found {len(gradients)} gradients for {len(variables)} variables.")
        if all(gradient is None for gradient in gradients):
            raise ValueError(f"{name}.apply: no variable has a gradient; call loss.backward() before.")
        found: list[Tensor | None] = [None] * len(known)
        for variable, gradient in zip(variables, gradients, strict=True):
            for tensor, part in _parts(variable, gradient, f"{name}.apply"):
                if id(tensor) not in known:
                    raise ValueError(f"{name}.apply: {_named(variable)} is none of the weights that it trains.")
                found[known[id(tensor)]] = part
        self._take(found)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Tensor | None, Any]]) -> None:
        """`apply`, with pairs (gradient, variable)."""
        pairs = list(grads_and_vars)
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])

    def _take(self, gradients: list[Tensor | None]) -> None:
        if self.stepping is not None:
            self.stepping.update(gradients)
        else:
            self.update(self._given, gradients)

    def _bound_parameters(self, method: str) -> Sequence[Tensor]:
        if self.stepping is not None:
            self.stepping.ready()
        if not self._given:
            raise ValueError(
                f"{type(self).__name__}.{method}: it has no parameters yet: compile a model with it first."
            )
        return self._given  # type: ignore[no-any-return]


def _parts(variable: Any, gradient: Tensor | None, method: str) -> list[tuple[Tensor, Tensor | None]]:
    """The parameters of a variable, each with its gradient in torch's order of axes."""
    arrangement = getattr(variable, "arrangement", None)
    tensors: Sequence[Tensor] = [variable] if arrangement is None else variable.tensors
    if gradient is None or (len(tensors) == 1 and gradient is tensors[0].grad):
        return [(tensor, gradient) for tensor in tensors]
    expected = tuple(variable.shape)
    if tuple(gradient.shape) != expected:
        raise ValueError(
            f"{method}: the gradient of {_named(variable)} has the shape {tuple(gradient.shape)}; it must be "
            f"{expected}."
        )
    if arrangement is None or _lies_as(variable.view, tensors[0]):
        return [(tensors[0], gradient)]
    known = getattr(gradient, "_keras_axes", False) or getattr(variable, "gradient_has_keras_axes", False)
    if len(tensors) == 1 and tuple(tensors[0].shape) == expected and not known:
        raise ValueError(
            f"{method}: {_named(variable)} lies in torch in another order of axes than in Keras, with one shape "
            f"{expected} for both, so that its gradient may be in either: give it with the parameter, as "
            "apply(gradients, list(model.parameters()))."
        )
    parts = [torch.empty_like(tensor, requires_grad=False) for tensor in tensors]
    with torch.no_grad():
        arrangement.assign(parts, gradient)
    return list(zip(tensors, parts, strict=True))


def _lies_as(view: Tensor | None, tensor: Tensor) -> bool:
    """Whether a view of Keras's array has the axes of torch's tensor."""
    return view is not None and view.stride() == tensor.stride() and view.shape == tensor.shape


def _named(variable: Any) -> str:
    name = getattr(variable, "full_name", None)
    return f"a parameter of shape {tuple(variable.shape)}" if name is None else repr(name)

"""Steps by hand, by the names of torch and Keras 3: `zero_grad`, `step`, `apply`; an optimizer as one of torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from torchkeras.base.python import lazy_property
from torchkeras.optimizers.accumulation import Accumulator
from torchkeras.optimizers.parameter_groups import Gradients
from torchkeras.optimizers.schedules import LearningRateSchedule


class Stepping(Protocol):
    """The train step of a model whose class computes the gradients."""

    def ready(self) -> None:
        """Bind the optimizer to what the model trains: its first call may have built weights."""
        ...

    def update(self, gradients: Gradients) -> None:
        """Make an update of these gradients."""
        ...


# Options of torch's optimizers that none of Keras's has under this name.
OPTIONS_OF_TORCH = ("eps", "alpha", "dampening", "maximize", "foreach", "fused", "capturable", "differentiable")


class Group(MutableMapping[str, Any]):
    """The parameters of an optimizer of Keras as one group of torch's.

    `lr`, `betas` and `momentum` are the optimizer's own options. A scheduler adds what it needs, such as `initial_lr`.
    """

    def __init__(self, optimizer: Any):
        self._optimizer = optimizer
        self._added: dict[str, Any] = {}

    def _entries(self) -> dict[str, Any]:
        optimizer = self._optimizer
        is_schedule = isinstance(optimizer.lr, LearningRateSchedule)
        found = {"params": list(optimizer._given or ()), "lr": optimizer.current_lr if is_schedule else optimizer.lr}
        if hasattr(optimizer, "beta_1"):
            found["betas"] = (optimizer.beta_1, getattr(optimizer, "beta_2", 0.0))
        elif hasattr(optimizer, "momentum"):
            found["momentum"] = optimizer.momentum
        return {**found, **self._added}

    def __getitem__(self, key: str) -> Any:
        return self._entries()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    def __setitem__(self, key: str, value: Any) -> None:
        optimizer, own = self._optimizer, self._entries()
        if key == "betas" and key in own:
            for name, beta in zip(("beta_1", "beta_2"), value, strict=True):
                if hasattr(optimizer, name):
                    setattr(optimizer, name, float(beta))
        elif key in ("lr", "momentum") and key in own:
            setattr(optimizer, key, float(value))
        elif key == "params" or key in OPTIONS_OF_TORCH or hasattr(type(optimizer), key):
            kind = type(optimizer).__name__
            settable = " and ".join(name for name in ("lr", "betas", "momentum") if name in own)
            raise TypeError(
                f"{kind}: its param_groups set {settable}; found {key}. Other options are set on the optimizer itself, "
                "as model.optimizer.clipnorm = 1.0."
            )
        else:
            self._added[key] = value

    def __delitem__(self, key: str) -> None:
        del self._added[key]


class AsTorch(torch.optim.Optimizer):
    """An optimizer of Keras as one of torch: see `Optimizer.as_torch`."""

    def __init__(self, optimizer: Any):
        if isinstance(optimizer.lr, LearningRateSchedule):
            raise ValueError(
                f"{type(optimizer).__name__}: its lr is a {type(optimizer.lr).__name__}; a scheduler of torch needs a "
                "number to begin with."
            )
        defaults = {key: value for key, value in optimizer.as_group.items() if key != "params"}
        super().__init__([torch.zeros(0, device="cpu")], defaults)
        self.keras = optimizer
        self.param_groups: list[Any] = [optimizer.as_group]

    def __reduce__(self) -> Any:
        return AsTorch, (self.keras,)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """As the optimizer's own."""
        self.keras.zero_grad(set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """A step of the optimizer."""
        return self.keras.step(closure)

    def steps_elsewhere(self) -> None:
        """Tell torch's schedulers that the model takes the steps: they warn where an optimizer has taken none."""
        self.__dict__["_opt_called"] = True

    def state_dict(self) -> dict[str, Any]:
        """The state in torch's form: "state" by the numbers of parameters and "param_groups"; the rest in "keras"."""
        keras = self.keras.state_dict()
        moments = {name: values for name, values in keras.pop("moments").items() if values}
        numbers = range(len(self.keras.as_group["params"]))
        group = {**self.keras.as_group, "params": list(numbers)}
        state = {k: {name: values[k] for name, values in moments.items()} for k in numbers if moments}
        return {"state": state, "param_groups": [group], "keras": keras}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:  # type: ignore[override]
        """Restore a state of `state_dict`, or of the optimizer's own."""
        if "keras" not in state_dict:
            self.keras.load_state_dict(state_dict)
            return
        state = [values for _, values in sorted(state_dict["state"].items())]
        moments = {name: [values[name] for values in state if name in values] for name in self.keras.moment_names}
        self.keras.load_state_dict({**state_dict["keras"], "moments": moments})
        self.keras.as_group.update({k: v for k, v in state_dict["param_groups"][0].items() if k != "params"})

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:  # type: ignore[override]
        """Raises TypeError: an optimizer of Keras trains the weights of its model."""
        if "keras" not in vars(self):  # the constructor of torch's class
            return super().add_param_group(dict(param_group))
        raise TypeError(
            f"{type(self.keras).__name__}: it trains the weights of the model that was compiled with it, and takes no "
            "further groups. lr_multipliers gives layers rates of their own."
        )


class ByHand:
    """Steps on the parameters of `bind` by gradients that you compute yourself.

    Inside a model's `train_step` the model makes the step: weights' constraints, `on_nonfinite` and accumulation (by
    the samples of the batch) work as in `minimize`. In your own loop they are plain steps, without constraints.
    """

    _accumulated: Accumulator
    _given: Any  # the parameters, as passed to `bind`
    update: Callable[..., bool]  # (parameters, gradients, samples), one step
    stepping: Stepping | None = None  # the train step that runs now

    @property
    def param_groups(self) -> list[Any]:
        """The parameters that it trains, as one group of torch's; setting its `lr` sets the rate."""
        self._bound_parameters("param_groups")
        return [self.as_group]

    @lazy_property
    def as_group(self) -> Group:
        """That group, which is empty until a model is compiled with the optimizer."""
        return Group(self)

    def as_torch(self) -> torch.optim.Optimizer:
        """The optimizer as an instance of `torch.optim.Optimizer`: for schedulers of torch, Lightning and accelerate.

        Its steps, rate and state are this optimizer's own. A `TorchOptimizer` returns the optimizer of torch that it
        holds.

        Errors:
            ValueError: the learning rate is a schedule.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,))])
            >>> model.compile(Adam(0.1), "mse")
            >>> scheduler = torch.optim.lr_scheduler.StepLR(model.optimizer.as_torch(), step_size=2)
        """
        return AsTorch(self)

    def drop_accumulated(self) -> None:
        """Drop the gradients that have been accumulated so far."""
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
        (`variable.value.grad`). Raises ValueError for a wrong number of gradients, a wrong shape, a variable that does
        not train here, no gradient at all, and a gradient whose order of axes cannot be known: in that case pass the
        parameter instead.
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
            f"{method}: {_named(variable)} has different orders of axes in torch and in Keras, with the same shape "
            f"{expected}, so its gradient may have either: pass it with the parameter, as "
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

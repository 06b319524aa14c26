"""Optimizers of `torch.optim`, and any class derived from theirs, as optimizers of a model."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from torchkeras.parameter_groups import Gradients, laid_out_as


def is_torch(identifier: Any) -> bool:
    """Whether this is an optimizer of torch: an instance, a class, a partial of one, or (class, {options})."""
    if isinstance(identifier, tuple) and len(identifier) == 2 and isinstance(identifier[1], Mapping):
        identifier = identifier[0]
    if isinstance(identifier, partial):
        identifier = identifier.func
    if inspect.isclass(identifier):
        return issubclass(identifier, torch.optim.Optimizer)
    return isinstance(identifier, torch.optim.Optimizer)


class TorchOptimizer:
    """`optimizer` on the weights that train: an instance of `torch.optim.Optimizer`, or what makes one.

    A class, a partial of one or a pair (class, {options}) is called with the weights when the model is compiled, with
    `fused=True` where the class has it, neither `fused`, `foreach` nor `differentiable` is given, and all weights are
    floating point on the CPU or a CUDA device. An instance must own exactly the weights that train, and may own others
    that do not. `optimizer` is torch's own, None before a class is bound. Steps, rate and options are those of torch.

    Raises TypeError for anything else, or for one whose `step` needs a closure, such as LBFGS.
    """

    counts_steps = False
    moment_names = ()
    clipnorm = None

    def __init__(self, optimizer: Any):
        if not is_torch(optimizer):
            raise TypeError(
                "TorchOptimizer: give an instance or a class of torch.optim.Optimizer, a functools.partial of a class, "
                f"or (class, {{options}}); found {optimizer!r}."
            )
        self.optimizer: torch.optim.Optimizer | None = None
        self._make: partial[torch.optim.Optimizer] | None = None
        if isinstance(optimizer, torch.optim.Optimizer):
            self.optimizer = optimizer
        elif isinstance(optimizer, tuple):
            self._make = partial(optimizer[0], **optimizer[1])
        else:
            self._make = optimizer if isinstance(optimizer, partial) else partial(optimizer)
        step = (self._make.func if self._make is not None else type(self.optimizer)).step  # type: ignore[attr-defined]
        closure = inspect.signature(step).parameters.get("closure")
        if closure is not None and closure.default is inspect.Parameter.empty:
            raise TypeError(f"TorchOptimizer: {self._name} asks for a closure, which a training step does not give.")
        self.iterations = 0
        self._given: Any = None
        self._parameters: list[Tensor] = []

    @property
    def _name(self) -> str:
        return getattr(self._make.func, "__name__", "") if self._make is not None else type(self.optimizer).__name__

    # --- what trains -------------------------------------------------------------------------------------------------

    def bind(self, parameters: Sequence[Tensor], arrangements: Any = None, layers: Any = None, names: Any = None) -> None:
        """Take `parameters` as those to train; state goes on if they are the same. The rest is of no use here.

        Raises ValueError when an instance has not got exactly these.
        """
        same = len(parameters) == len(self._parameters) and all(
            a is b for a, b in zip(parameters, self._parameters, strict=True)
        )
        self._given, self._parameters = parameters, list(parameters)
        if self._make is not None and not (same and self.optimizer is not None):
            self.optimizer = self._make(self._parameters, **self._fused()) if self._parameters else None
        elif self._make is None:
            self._check_owned()
        elif self.optimizer is not None:
            self.optimizer.load_state_dict(self.optimizer.state_dict())  # moves the state to where the weights are now
        if self.optimizer is not None:
            self.optimizer.zero_grad(set_to_none=True)

    def _fused(self) -> dict[str, bool]:
        assert self._make is not None
        chosen = {"fused", "foreach", "differentiable"} & set(self._make.keywords)
        able = all(p.is_floating_point() and p.device.type in ("cpu", "cuda") for p in self._parameters)
        return {"fused": True} if able and not chosen and "fused" in inspect.signature(self._make.func).parameters else {}

    def _check_owned(self) -> None:
        assert self.optimizer is not None
        owned = {id(p): p for group in self.optimizer.param_groups for p in group["params"]}
        wanted = {id(p) for p in self._parameters}
        missing = len(wanted - set(owned))
        foreign = sum(p.requires_grad for key, p in owned.items() if key not in wanted)
        if missing or foreign:
            raise ValueError(
                f"{self._name}: it must have the {len(wanted)} parameters of the model that train, and no other that "
                f"trains; {missing} of them are missing, {foreign} others are foreign. Make it of "
                "`model.parameters()` after the model is built, or give compile its class."
            )

    def _bound(self) -> torch.optim.Optimizer:
        if self.optimizer is None:
            raise ValueError(f"{self._name} has no parameters yet: compile a model with it first.")
        return self.optimizer

    # --- a step ------------------------------------------------------------------------------------------------------

    def apply(self, parameters: Sequence[Tensor], gradients: Gradients, samples: float = 1) -> bool:
        """One step of torch's: gradients are set as `grad` and taken away again. Returns True."""
        if parameters is not self._given:
            self.bind(parameters)
        for parameter, gradient in zip(self._parameters, gradients, strict=True):
            # Fused kernels do not look at strides.
            parameter.grad = None if gradient is None else laid_out_as(parameter, gradient)
        self._bound().step()
        for parameter in self._parameters:
            parameter.grad = None
        self.iterations += 1
        return True

    def flush(self) -> bool:
        """False: nothing accumulates."""
        return False

    @property
    def lr(self) -> Any:
        """The rate of the first group of parameters; setting it sets that of all."""
        return self._bound().param_groups[0]["lr"]

    @lr.setter
    def lr(self, value: float) -> None:
        for group in self._bound().param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(value)
            else:
                group["lr"] = value

    learning_rate = lr

    @property
    def current_lr(self) -> float:
        """The rate of the next step."""
        return float(self.lr)

    def swap_ema(self) -> None:
        """Raises ValueError: averages are an option of Keras's optimizers."""
        raise ValueError(f"{self._name}, of torch.optim, keeps no moving averages: use_ema is an option of Keras's.")

    # --- state -------------------------------------------------------------------------------------------------------

    def get_weights(self) -> Any:
        """Raises ValueError: the state has no form in Keras; see `state_dict`."""
        raise ValueError(f"{self._name}, of torch.optim, has no state in Keras's form: use state_dict.")

    def set_weights(self, weights: Any) -> None:
        """Raises ValueError, as `get_weights`."""
        raise ValueError(f"{self._name}, of torch.optim, has no state in Keras's form: use load_state_dict.")

    def get_config(self) -> Any:
        """Raises ValueError: it has no form in a file of Keras."""
        raise ValueError(
            f"{self._name}, of torch.optim, has no form in a file of Keras: save with include_optimizer=False."
        )

    def state_dict(self) -> dict[str, Any]:
        """torch's own state, and `iterations`."""
        return {"class_name": self._name, "iterations": self.iterations, "torch": self._bound().state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave. Raises ValueError when it is another optimizer's."""
        if state.get("class_name") != self._name:
            raise ValueError(f"{self._name}: the state is of {state.get('class_name')}.")
        self._bound().load_state_dict(state["torch"])
        self.iterations = int(state["iterations"])

"""An optimizer around another one, which scales the loss to keep gradients within the range of float16."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.rules import ABOVE_0, integer, read
from torchkeras.engine.step import loss_scale
from torchkeras.keras3.optimizers.multi import deserialized
from torchkeras.keras3.optimizers.optimizer import COMMON, Optimizer
from torchkeras.keras3.optimizers.variables import Computed
from torchkeras.keras3.optimizers.wrapped import Wrapper
from torchkeras.keras3.optimizers.written import serialize
from torchkeras.optimizers.parameter_groups import Gradients


class LossScaleOptimizer(Wrapper):
    """The steps of another optimizer, by gradients of the scaled loss.

    By hand: `scale_loss` multiplies a loss by the scale, and `apply` divides the gradients by it. Gradients that are
    not finite make no step, and halve the scale; after `dynamic_growth_steps` steps in a row without any it doubles.
    In `fit` the model scales the loss where layers compute in float16, and steps without finite gradients are left out.

    Options:
        inner_optimizer (Optimizer): the other optimizer.
        initial_scale (number above 0, default 32768.0): the scale to begin with.
        dynamic_growth_steps (positive integer, default 2000): after how many steps in a row the scale doubles.
        name (text or None, default None): the name; None makes one of the class's.

    Errors:
        ValueError: for an option that is one of the inner optimizer's.
        TypeError: `inner_optimizer` is none.

    Example:
        >>> optimizer = LossScaleOptimizer(torchkeras.keras3.optimizers.SGD(0.5), initial_scale=2.0)
        >>> weight = torch.ones(2)
        >>> optimizer.apply([torch.tensor([2.0, -4.0])], [weight])
        >>> weight
        tensor([0.5000, 2.0000])

    Source: https://keras.io/api/optimizers/
    """

    def __init__(
        self,
        inner_optimizer: Any,
        initial_scale: float = loss_scale.INITIAL,
        dynamic_growth_steps: int = loss_scale.GROWTH_STEPS,
        name: str | None = None,
        **kwargs: Any,
    ):
        own = type(self).__name__
        if not isinstance(inner_optimizer, Optimizer):
            raise TypeError(
                f"{own}: inner_optimizer must be an optimizer of keras.optimizers; found {inner_optimizer!r}."
            )
        if not kwargs.pop("dynamic", True):
            raise ValueError(f"{own}: dynamic must be True: for a fixed scale set loss_scale_factor of the optimizer.")
        for option, value in kwargs.items():
            if option not in COMMON:
                raise ValueError(f"{own}: unknown option {option!r}.")
            if value != COMMON[option]:
                raise ValueError(f"{own}: {option} must be set on the inner_optimizer; found {value!r}.")
        self._begin_wrapping(name)
        self.inner_optimizer = inner_optimizer
        self.initial_scale = read(own, "initial_scale", ABOVE_0, initial_scale)
        self.dynamic_growth_steps = read(own, "dynamic_growth_steps", integer(1), dynamic_growth_steps)
        self.scale, self.good_in_a_row = self.initial_scale, 0
        inner_optimizer.loss_scale_factor = None

    @property
    def for_files(self) -> Any:
        # A model scales the loss of layers in float16 by itself, whatever file it came from.
        return self.inner_optimizer

    @property
    def optimizers(self) -> list[Any]:
        """The inner optimizer."""
        return [self.inner_optimizer]

    # --- the scale ---------------------------------------------------------------------------------------------------

    @property
    def dynamic_scale(self) -> Computed:
        """The scale, as a variable."""

        def write(value: float) -> None:
            self.scale = value

        return Computed("dynamic_scale", f"{self.name}/dynamic_scale", torch.float32, lambda: self.scale, write)

    @property
    def step_counter(self) -> Computed:
        """The steps since the scale last changed, as a variable."""

        def write(value: float) -> None:
            self.good_in_a_row = int(value)

        return Computed("step_counter", f"{self.name}/step_counter", torch.int32, lambda: self.good_in_a_row, write)

    def check_finite(self, grads: Iterable[Tensor | None]) -> bool:
        """Whether all numbers of the gradients are finite."""
        return all(bool(each.isfinite().all()) for each in grads if each is not None)

    def _note(self, finite: bool) -> None:
        """Count a step, and change the scale where it is due."""
        self.good_in_a_row += 1
        if not finite:
            self.scale, self.good_in_a_row = self.scale * 0.5, 0
        elif self.good_in_a_row == self.dynamic_growth_steps:
            self.scale, self.good_in_a_row = self.scale * 2.0, 0

    def scale_loss(self, loss: Any) -> Any:
        """The loss times the scale, by which `apply` divides the gradients."""
        return loss * self.scale

    # --- a step ------------------------------------------------------------------------------------------------------

    def build(self, variables: Iterable[Any]) -> None:
        self.inner_optimizer.build(list(variables))

    def bind(self, *args: Any, **kwargs: Any) -> None:
        self.inner_optimizer.bind(*args, **kwargs)

    def apply(self, grads: Iterable[Any], trainable_variables: Iterable[Any] | None = None) -> None:
        gradients = list(grads)
        unscaled = [None if each is None else each / self.scale for each in gradients]
        if self.stepping is not None:  # the model makes the step, by `update`
            self.inner_optimizer.apply(unscaled, trainable_variables)
            return
        finite = self.check_finite(gradients)
        if finite:
            self.inner_optimizer.apply(unscaled, trainable_variables)
        elif not self.built and trainable_variables is not None:
            self.build(trainable_variables)
        self._note(finite)

    def update(self, parameters: Sequence[Tensor], gradients: Gradients, samples: Any = 1) -> bool:
        finite = self.check_finite(gradients)
        updated = finite and self.inner_optimizer.update(parameters, gradients, samples)
        self._note(finite)
        return updated

    @property
    def learning_rate(self) -> Any:  # type: ignore[override]
        """The rate of the inner optimizer."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.inner_optimizer.learning_rate = value

    @property
    def iterations(self) -> Any:  # type: ignore[override]
        """The steps of the inner optimizer."""
        return self.inner_optimizer.iterations

    @iterations.setter
    def iterations(self, value: Any) -> None:
        self.inner_optimizer.iterations = value

    @property
    def _own_numbers(self) -> list[Any]:
        scale = [self.step_counter, self.dynamic_scale] if self.built else []
        return [*super()._own_numbers, *scale]

    # --- config and state --------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "inner_optimizer": serialize(self.inner_optimizer),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The optimizer whose `get_config` returned `config`."""
        return cls(**{**config, "inner_optimizer": deserialized(config["inner_optimizer"], custom_objects)})

    def state_dict(self) -> dict[str, Any]:
        return {**self.inner_optimizer.state_dict(), "scale": [self.scale, self.good_in_a_row]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.inner_optimizer.load_state_dict(state)
        self.scale, self.good_in_a_row = state.get("scale", [self.scale, self.good_in_a_row])


def _of_inner(name: str) -> property:
    """An attribute of the inner optimizer."""

    def assign(optimizer: LossScaleOptimizer, value: Any) -> None:
        setattr(optimizer.inner_optimizer, name, value)

    return property(attrgetter(f"inner_optimizer.{name}"), assign)


# What the engine and files ask of an optimizer, the inner one answers.
_ASKED = """
    lr current_lr decay use_ema gradient_accumulation_steps limits clipnorm clipvalue global_clipnorm weight_decay
    no_form own_config built moment_names counts_steps keeps_moments accumulated_batches accumulated_samples
    tensors forget trains samples_with flush drop_accumulated swap_ema overwrite_with_ema finalize_variable_values
    get_weights set_keras2_weights further_arrays set_further_arrays slots get_averages set_averages get_accumulated
    set_accumulated by_parameter shared_tensors param_groups zero_grad exclude_from_weight_decay
    _given _parameters _arrangements _layers _names _kinds _groups _weights _accumulated _averages _batches _as_arrays
"""
for _name in _ASKED.split():
    setattr(LossScaleOptimizer, _name, _of_inner(_name))

# Made by scripts/write_stubs.py from the declarations in the source; a test holds it to them.
# mypy: disable-error-code="misc, override"

from collections.abc import Mapping, Sequence
from typing import Any

from torchkeras.optimizers import schedules as schedules
from torchkeras.optimizers.base import Optimizer as _Optimizer
from torchkeras.optimizers.factored import Adafactor as _Adafactor
from torchkeras.optimizers.leader import Ftrl as _Ftrl
from torchkeras.optimizers.moments import (
    Adam as _Adam,
    Adamax as _Adamax,
    AdamW as _AdamW,
    Lamb as _Lamb,
    Nadam as _Nadam,
)
from torchkeras.optimizers.momentum import SGD as _SGD, Lion as _Lion
from torchkeras.optimizers.orthogonal import Muon as _Muon
from torchkeras.optimizers.root_mean_square import Adadelta as _Adadelta, Adagrad as _Adagrad, RMSprop as _RMSprop
from torchkeras.optimizers.torch_optimizer import TorchOptimizer as TorchOptimizer

class Optimizer(_Optimizer):
    def __init__(
        self,
        *,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.01,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""The base class; a subclass declares its options as dataclass fields and defines `update_step`.

        `learning_rate` and `global_clipnorm` are further names of `lr` and `clipnorm`, as attributes too. `iterations` is
        the number of steps taken.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.01): the learning rate.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Errors:
            TypeError: for an unknown option, or two names of one.
            ValueError: for a bad value.

        Example:
            >>> from dataclasses import dataclass
            >>> @dataclass(eq=False)
            ... class Signs(Optimizer):
            ...     lr: float = 0.01
            ...     def update_step(self, group, gradients, rate):
            ...         for parameter, gradient in zip(group.parameters, gradients):
            ...             parameter.sub_(rate * gradient.sign())
            >>> weight = torch.zeros(2)
            >>> Signs(0.5).update([weight], [torch.tensor([3.0, -2.0])])
            True
            >>> weight
            tensor([-0.5000,  0.5000])

        Source: https://keras.io/api/optimizers/
        """

class Adafactor(_Adafactor, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        beta_2_decay: float = -0.8,
        epsilon_1: float = 1e-30,
        epsilon_2: float = 0.001,
        clip_threshold: float = 1.0,
        relative_step: bool = True,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""p -= max(epsilon_2, rms(p)) * min(lr, 1 / sqrt(t)) * u / max(1, rms(u) / clip_threshold), where u = g / sqrt(v).

        v is the mean of g**2 + epsilon_1, with the weight 1 - t**beta_2_decay on the past. For weights with two axes or
        more only its means r over the last axis and c over the last but one are kept, and v = r / mean(r) * c. Options are
        as in Keras 3.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
            beta_2_decay (number of at most 0, default -0.8): how fast the weight of the past grows.
            epsilon_1 (number of at least 0, default 1e-30): added to squares of gradients.
            epsilon_2 (number of at least 0, default 0.001): the least size that a step is scaled by.
            clip_threshold (number over 0, default 1.0): the root mean square that u is scaled down to.
            relative_step (bool, default True): kept in the config. As in Keras 3 the rate is at most 1 / sqrt(t) either
                way.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Adafactor(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.9000, 1.1000])

        Source: Shazeer and Stern, https://arxiv.org/abs/1804.04235
        """

class Ftrl(_Ftrl, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""p = (clip(z, -l1, l1) - z) / (n**power / lr_t + 2 * l2 + beta / lr_t), the power being -learning_rate_power.

        Before it z += g + 2 * l2_shrinkage * p - (n_new**power - n**power) / lr_t * p; n_new = n + g**2. At a rate of 0,
        which the formula divides by, weights and state stay. Options are as in Keras 3.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
            learning_rate_power (number of at most 0, default -0.5): how fast the step shrinks with n; 0 keeps it.
            initial_accumulator_value (number of at least 0, default 0.1): the n before the first step.
            l1_regularization_strength (number of at least 0, default 0.0): l1, which makes weights 0.
            l2_regularization_strength (number of at least 0, default 0.0): l2, which makes weights small.
            l2_shrinkage_regularization_strength (number of at least 0, default 0.0): l2_shrinkage, a penalty on the weights
                before the step.
            beta (number of at least 0, default 0.0): makes steps smaller, most of all where n is small.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Ftrl(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.6031, 0.9426])

        Source: McMahan et al., https://research.google.com/pubs/archive/41159.pdf
        """

class Adam(_Adam, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        amsgrad: bool = False,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""p -= lr_t * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) + epsilon).

        Here m = beta_1 * m + (1 - beta_1) * g, v = beta_2 * v + (1 - beta_2) * g**2, and t is the number of the step, from
        1.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
            beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
            beta_2 (number from 0 to below 1, default 0.999): the share of v that stays.
            epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
            decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
            amsgrad (bool, default False): whether the largest v so far takes the place of v.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Adam(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.9000, 1.1000])

        Source: Kingma and Ba, https://arxiv.org/abs/1412.6980v8; Reddi et al., https://openreview.net/forum?id=ryQu7f-RZ
        """

class Adamax(_Adamax, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""u = max(beta_2 * u, |g|); p -= lr_t / (1 - beta_1**t) * m / (u + epsilon).

        Here m = beta_1 * m + (1 - beta_1) * g, and t is the number of the step, from 1.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.002): the learning rate.
            beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
            beta_2 (number from 0 to below 1, default 0.999): the share of u that stays.
            epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
            decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Adamax(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.9000, 1.1000])

        Source: Kingma and Ba, https://arxiv.org/abs/1412.6980v8, section 7
        """

class AdamW(_AdamW, Adam):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        weight_decay: float | None = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        amsgrad: bool = False,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""Adam after p -= lr_t * weight_decay * p, in one kernel.

        Defaults are those of Keras 3.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
            weight_decay (number of at least 0 or None, default 0.004): the share of p that a rate of 1 takes away.
            beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
            beta_2 (number from 0 to below 1, default 0.999): the share of v that stays.
            epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
            decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
            amsgrad (bool, default False): whether the largest v so far takes the place of v.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> AdamW(0.1, weight_decay=0.5).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.8500, 1.0500])

        Source: Loshchilov and Hutter, https://arxiv.org/abs/1711.05101
        """

class Lamb(_Lamb, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""u = (m / (1 - beta_1**t)) / (sqrt(v / (1 - beta_2**t)) + epsilon); p -= lr_t * norm(p) / norm(u) * u.

        The norms are those of a weight; where one is 0 their ratio is 1. m, v and t are those of Adam, options as in Keras
        3.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
            beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
            beta_2 (number from 0 to below 1, default 0.999): the share of v that stays.
            epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Lamb(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.9000, 1.1000])

        Source: You et al., https://arxiv.org/abs/1904.00962
        """

class Nadam(_Nadam, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        schedule_decay: float = 0.004,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""Adam with Nesterov's momentum, which warms up: c_t = beta_1 * (1 - 0.96**(t * schedule_decay) / 2).

        With C_t the product of all c so far, p -= lr * ((1 - c_t) * g / (1 - C_t) + c_(t+1) * m / (1 - C_(t+1))) /
        (sqrt(v / (1 - beta_2**t)) + epsilon). m, v and t are those of Adam.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.002): the learning rate.
            beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
            beta_2 (number from 0 to below 1, default 0.999): the share of v that stays.
            epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
            schedule_decay (number of at least 0, default 0.004): how fast the momentum warms up; 1 in Keras 3.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Nadam(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.8944, 1.1056])

        Source: Dozat, http://cs229.stanford.edu/proj2015/054_report.pdf
        """

class SGD(_SGD, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.01,
        momentum: float = 0.0,
        decay: float = 0.0,
        nesterov: bool = False,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""v = momentum * v - lr_t * g; p += v, or with nesterov p += momentum * v - lr_t * g.

        Without momentum no velocity is kept, and `get_weights` gives zeros for it.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.01): the learning rate.
            momentum (number of at least 0, default 0.0): the share of the velocity v that stays.
            decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
            nesterov (bool, default False): whether the momentum is Nesterov's.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> SGD(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.9000, 1.2000])

        Source: https://keras.io/api/optimizers/sgd/
        """

class Lion(_Lion, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""p -= lr_t * sign(beta_1 * m + (1 - beta_1) * g); m = beta_2 * m + (1 - beta_2) * g.

        Options are as in Keras 3.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
            beta_1 (number from 0 to below 1, default 0.9): the share of m in the step.
            beta_2 (number from 0 to below 1, default 0.99): the share of m that stays.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Lion(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.9000, 1.1000])

        Source: Chen et al., https://arxiv.org/abs/2302.06675
        """

class Muon(_Muon, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        adam_beta_1: float = 0.9,
        adam_beta_2: float = 0.999,
        adam_weight_decay: float | None = 0.004,
        epsilon: float | None = None,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = 0.004,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
        exclude_layers: Sequence[str] = (),
        exclude_embeddings: bool = True,
        muon_a: float = 3.4445,
        muon_b: float = -4.775,
        muon_c: float = 2.0315,
        adam_lr_ratio: float = 1.0,
        momentum: float = 0.95,
        ns_steps: int = 5,
        nesterov: bool = True,
        rms_rate: float | None = 0.2,
    ) -> None:
        r"""m = momentum * m + g; p -= lr_t * rms_rate * sqrt(longer side) * orthogonal(g + momentum * m).

        This is for weights that are matrices in Keras; all others train by Adam. `orthogonal` divides by the norm and
        applies `ns_steps` times x -> muon_a * x + (muon_b * y + muon_c * y @ y) @ x with y = x @ x.T. Options are as in
        Keras 3.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
            adam_beta_1 (number from 0 to below 1, default 0.9): Adam's beta_1.
            adam_beta_2 (number from 0 to below 1, default 0.999): Adam's beta_2.
            adam_weight_decay (number of at least 0 or None, default 0.004): the weight decay of what trains by Adam.
            epsilon (number of at least 0 or None, default None): Adam's epsilon; None is `config.epsilon()`.
            weight_decay (number of at least 0 or None, default 0.004): the weight decay of matrices.
            exclude_layers (list of patterns, default ()): regular expressions; a matrix whose path ("layer/weight") has a
                match trains by Adam.
            exclude_embeddings (bool, default True): whether matrices with "embedding" in their path train by Adam.
            muon_a (number, default 3.4445): the coefficient of x.
            muon_b (number, default -4.775): the coefficient of y @ x.
            muon_c (number, default 2.0315): the coefficient of y @ y @ x.
            adam_lr_ratio (number of at least 0, default 1.0): Adam's rate is lr_t * adam_lr_ratio.
            momentum (number of at least 0, default 0.95): the share of m that stays.
            ns_steps (integer of at least 0, default 5): how often the matrix is brought nearer to an orthogonal one.
            nesterov (bool, default True): whether the momentum is Nesterov's; otherwise the step is orthogonal(m).
            rms_rate (number of at least 0 or None, default 0.2): the size of a step; None leaves out its factor and the
                root.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.zeros(2, 2)
            >>> Muon(0.1).update([weight], [torch.tensor([[1.0, 0.0], [0.0, -2.0]])])
            True
            >>> weight
            tensor([[-0.0315,  0.0000],
                    [ 0.0000,  0.0195]])

        Source: Jordan et al., https://kellerjordan.github.io/posts/muon/; Liu et al., https://arxiv.org/abs/2502.16982
        """

class Adadelta(_Adadelta, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 1.0,
        rho: float = 0.95,
        epsilon: float | None = None,
        decay: float = 0.0,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
    ) -> None:
        r"""a = rho * a + (1 - rho) * g**2; u = g * sqrt(d + epsilon) / sqrt(a + epsilon).

        Then p -= lr_t * u; d = rho * d + (1 - rho) * u**2.

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 1.0): the learning rate.
            rho (number from 0 to below 1, default 0.95): the share of a and d that stays.
            epsilon (number of at least 0 or None, default None): keeps the roots over 0; None is `config.epsilon()`.
            decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Adadelta(epsilon=0.01).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.5918, 1.4364])

        Source: Zeiler, https://arxiv.org/abs/1212.5701
        """

class Adagrad(_Adagrad, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.01,
        epsilon: float | None = None,
        decay: float = 0.0,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
        initial_accumulator_value: float = 0.0,
        epsilon_inside_root: bool = False,
    ) -> None:
        r"""a += g**2; p -= lr_t * g / (sqrt(a) + epsilon).

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.01): the learning rate.
            epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
            decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
            initial_accumulator_value (number of at least 0, default 0.0): the a before the first step; 0.1 in Keras 3.
            epsilon_inside_root (bool, default False): whether the denominator is sqrt(a + epsilon), as in Keras 3.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> Adagrad(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.9000, 1.1000])

        Source: Duchi et al., https://www.jmlr.org/papers/volume12/duchi11a/duchi11a.pdf
        """

class RMSprop(_RMSprop, Optimizer):
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        rho: float = 0.9,
        epsilon: float | None = None,
        decay: float = 0.0,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        weight_decay: float | None = None,
        no_weight_decay: Sequence[str] = (),
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        gradient_accumulation_steps: int | None = None,
        lr_multipliers: Mapping[str, float] | None = None,
        learning_rate: float | schedules.LearningRateSchedule | Mapping[str, Any] | None = None,
        global_clipnorm: float | None = None,
        momentum: float = 0.0,
        centered: bool = False,
        epsilon_inside_root: bool = False,
    ) -> None:
        r"""a = rho * a + (1 - rho) * g**2; p -= lr_t * g / (sqrt(a) + epsilon).

        Options:
            lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
            rho (number from 0 to below 1, default 0.9): the share of a that stays.
            epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
            decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
            momentum (number of at least 0, default 0.0): with one, v = momentum * v + lr_t * g / denominator; p -= v.
            centered (bool, default False): whether a - mean(g)**2 takes the place of a; the mean is kept as a is.
            epsilon_inside_root (bool, default False): whether the denominator is sqrt(a + epsilon), as in Keras 3.
            clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
            clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
                [-clipvalue, clipvalue].
            each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
                weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
            weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
            no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
                `exclude_from_weight_decay`.
            use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
                + (1 - ema_momentum) * p. As in Keras 3 they are taken at each batch, also while gradients accumulate.
            ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
            ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
                their averages; None never does.
            gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
                mean of their gradients by samples.
            lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
                layer.
            learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
            global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

        Example:
            >>> weight = torch.ones(2)
            >>> RMSprop(0.1).update([weight], [torch.tensor([1.0, -2.0])])
            True
            >>> weight
            tensor([0.6838, 1.3162])

        Source: Hinton's lecture 6, http://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf
        """

sgd = SGD
rmsprop = RMSprop
adagrad = Adagrad
adadelta = Adadelta
adam = Adam
adamax = Adamax
nadam = Nadam

def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""An optimizer from a name in any case, a config, an optimizer of torch, or an `Optimizer`, which is given back.

    One of `torch.optim` is an instance, a class, a `functools.partial` of it or a pair of class and options; it becomes
    a `TorchOptimizer`.

    Arguments:
        identifier (name, config or optimizer): what names the optimizer.
        custom_objects (dictionary or None, default None): further classes, by name.

    Errors:
        ValueError: for an unknown name.
        TypeError: for an object of another kind.

    Example:
        >>> get("Adam").beta_1
        0.9
    """

def deserialize(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""An optimizer from a name in any case, a config, an optimizer of torch, or an `Optimizer`, which is given back.

    One of `torch.optim` is an instance, a class, a `functools.partial` of it or a pair of class and options; it becomes
    a `TorchOptimizer`.

    Arguments:
        identifier (name, config or optimizer): what names the optimizer.
        custom_objects (dictionary or None, default None): further classes, by name.

    Errors:
        ValueError: for an unknown name.
        TypeError: for an object of another kind.

    Example:
        >>> get("Adam").beta_1
        0.9
    """

def serialize(value: Any) -> Any:
    r"""The inverse of `get`: a name for a function, `{"class_name", "config"}` for an object with `get_config`."""

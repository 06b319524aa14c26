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

class SGD(_SGD, Optimizer):
    r"""v = momentum * v - lr_t * g; p += v, or with nesterov p += momentum * v - lr_t * g"""
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
    ) -> None: ...

class Adadelta(_Adadelta, Optimizer):
    r"""a = rho * a + (1 - rho) * g**2; u = g * sqrt(d + epsilon) / sqrt(a + epsilon)"""
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
    ) -> None: ...

class Adafactor(_Adafactor, Optimizer):
    r"""p -= max(epsilon_2, rms(p)) * min(lr, 1 / sqrt(t)) * u / max(1, rms(u) / clip_threshold), where u = g / sqrt(v)"""
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
    ) -> None: ...

class Adagrad(_Adagrad, Optimizer):
    r"""a += g**2; p -= lr_t * g / (sqrt(a) + epsilon)"""
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
    ) -> None: ...

class Adam(_Adam, Optimizer):
    r"""p -= lr_t * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) + epsilon); with amsgrad the largest v so far"""
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
    ) -> None: ...

class AdamW(_AdamW, Adam):
    r"""Adam after p -= lr_t * weight_decay * p, in one kernel."""
    def __init__(
        self,
        lr: float | schedules.LearningRateSchedule | Mapping[str, Any] = 0.001,
        weight_decay: float = 0.004,
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
    ) -> None: ...

class Adamax(_Adamax, Optimizer):
    r"""u = max(beta_2 * u, |g|); p -= lr_t / (1 - beta_1**t) * m / (u + epsilon)"""
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
    ) -> None: ...

class Ftrl(_Ftrl, Optimizer):
    r"""p = (clip(z, -l1, l1) - z) / (n**power / lr_t + 2 * l2 + beta / lr_t), the power being -learning_rate_power"""
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
    ) -> None: ...

class Lamb(_Lamb, Optimizer):
    r"""u = (m / (1 - beta_1**t)) / (sqrt(v / (1 - beta_2**t)) + epsilon); p -= lr_t * norm(p) / norm(u) * u"""
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
    ) -> None: ...

class Lion(_Lion, Optimizer):
    r"""p -= lr_t * sign(beta_1 * m + (1 - beta_1) * g); m = beta_2 * m + (1 - beta_2) * g"""
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
    ) -> None: ...

class Muon(_Muon, Optimizer):
    r"""m = momentum * m + g; p -= lr_t * rms_rate * sqrt(longer side) * orthogonal(g + momentum * m)"""
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
    ) -> None: ...

class Nadam(_Nadam, Optimizer):
    r"""Adam with Nesterov's momentum, which warms up: c_t = beta_1 * (1 - 0.96**(t * schedule_decay) / 2)"""
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
    ) -> None: ...

class Optimizer(_Optimizer):
    r"""The base class; a subclass declares its options as dataclass fields and defines `update_step`."""
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
    ) -> None: ...

class RMSprop(_RMSprop, Optimizer):
    r"""a = rho * a + (1 - rho) * g**2; p -= lr_t * g / (sqrt(a) + epsilon)"""
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
    ) -> None: ...

adadelta = Adadelta
adagrad = Adagrad
adam = Adam
adamax = Adamax

def deserialize(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""An optimizer from a name in any case, a config or an `Optimizer`, which is given back as it is."""

def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""An optimizer from a name in any case, a config or an `Optimizer`, which is given back as it is."""

nadam = Nadam
rmsprop = RMSprop

def serialize(value: Any) -> Any:
    r"""The inverse of `get`: a name for a function, `{"class_name", "config"}` for an object with `get_config`."""

sgd = SGD

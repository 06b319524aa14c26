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
        r"""v = momentum * v - lr_t * g; p += v, or with nesterov p += momentum * v - lr_t * g

        Without momentum no velocity is kept, and `get_weights` gives zeros for it.
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
        r"""a = rho * a + (1 - rho) * g**2; u = g * sqrt(d + epsilon) / sqrt(a + epsilon)

        Then p -= lr_t * u; d = rho * d + (1 - rho) * u**2. Zeiler, https://arxiv.org/abs/1212.5701
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
        r"""p -= max(epsilon_2, rms(p)) * min(lr, 1 / sqrt(t)) * u / max(1, rms(u) / clip_threshold), where u = g / sqrt(v)

        v is the mean of g**2 + epsilon_1 with the weight 1 - t**beta_2_decay on the past. Of weights with two axes or more
        only its means r over the last axis and c over the last but one are kept, and v = r / mean(r) * c. As in Keras 3 the
        rate is at most 1 / sqrt(t) whether `relative_step` is set or not. Shazeer and Stern,
        https://arxiv.org/abs/1804.04235; options as in Keras 3.
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
        r"""a += g**2; p -= lr_t * g / (sqrt(a) + epsilon)

        `epsilon_inside_root`: the denominator is sqrt(a + epsilon), as in Keras 3, whose `initial_accumulator_value`, the a
        before the first step, is 0.1. Duchi et al., https://www.jmlr.org/papers/volume12/duchi11a/duchi11a.pdf
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
        r"""p -= lr_t * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) + epsilon); with amsgrad the largest v so far

        Kingma and Ba, https://arxiv.org/abs/1412.6980v8; Reddi et al., https://openreview.net/forum?id=ryQu7f-RZ
        """

class AdamW(_AdamW, Adam):
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
    ) -> None:
        r"""Adam after p -= lr_t * weight_decay * p, in one kernel.

        Loshchilov and Hutter, https://arxiv.org/abs/1711.05101; options as in Keras 3.
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
        r"""u = max(beta_2 * u, |g|); p -= lr_t / (1 - beta_1**t) * m / (u + epsilon)

        Kingma and Ba, https://arxiv.org/abs/1412.6980v8, section 7.
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
        r"""p = (clip(z, -l1, l1) - z) / (n**power / lr_t + 2 * l2 + beta / lr_t), the power being -learning_rate_power

        Before it z += g + 2 * l2_shrinkage * p - (n_new**power - n**power) / lr_t * p; n_new = n + g**2. Long names:
        `l1_regularization_strength`, `l2_regularization_strength`, `l2_shrinkage_regularization_strength`. The n before the
        first step is `initial_accumulator_value`. At a rate of 0, which the formula divides by, weights and state stay.
        McMahan et al., https://research.google.com/pubs/archive/41159.pdf; options as in Keras 3.
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
        r"""u = (m / (1 - beta_1**t)) / (sqrt(v / (1 - beta_2**t)) + epsilon); p -= lr_t * norm(p) / norm(u) * u

        The norms are those of a weight; where one is 0 their ratio is 1. You et al., https://arxiv.org/abs/1904.00962;
        options as in Keras 3.
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
        r"""p -= lr_t * sign(beta_1 * m + (1 - beta_1) * g); m = beta_2 * m + (1 - beta_2) * g

        Chen et al., https://arxiv.org/abs/2302.06675; options as in Keras 3.
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
        r"""m = momentum * m + g; p -= lr_t * rms_rate * sqrt(longer side) * orthogonal(g + momentum * m)

        For weights that Keras has as matrices; without `nesterov` orthogonal(m), without `rms_rate` no factor. `orthogonal`
        divides by the norm and takes `ns_steps` times x -> muon_a * x + (muon_b * y + muon_c * y @ y) @ x with y = x @ x.T.
        All others train by Adam with lr_t * adam_lr_ratio, the betas of `adam_beta_1`, `adam_beta_2`, and the weight decay
        `adam_weight_decay`; so do, with `exclude_embeddings`, weights in whose path ("layer/weight") stands "embedding",
        and those in whose path a pattern of `exclude_layers` is found. Jordan et al., https://kellerjordan.github.io/posts/muon/;
        Liu et al., https://arxiv.org/abs/2502.16982; options as in Keras 3.
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
        r"""Adam with Nesterov's momentum, which warms up: c_t = beta_1 * (1 - 0.96**(t * schedule_decay) / 2)

        With C_t the product of all c so far, p -= lr * ((1 - c_t) * g / (1 - C_t) + c_(t+1) * m / (1 - C_(t+1))) /
        (sqrt(v / (1 - beta_2**t)) + epsilon). Keras 3's has a `schedule_decay` of 1. Dozat,
        http://cs229.stanford.edu/proj2015/054_report.pdf
        """

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

        `learning_rate` is another name of `lr`; either may be a schedule of `torchkeras.optimizers.schedules`.
        `clipnorm`, also called `global_clipnorm`: all gradients together are scaled down to this norm. `each_clipnorm`: the
        gradient of each weight is, before that (what Keras 3 and tf.keras call clipnorm). `clipvalue`: each element is
        clipped to [-clipvalue, clipvalue], after that. `weight_decay`: before the step p -= rate * weight_decay * p;
        `no_weight_decay` lists patterns of weights' names that it leaves out, see `exclude_from_weight_decay`.
        `use_ema`: moving averages of the weights are kept, average = ema_momentum * average + (1 - ema_momentum) * p, and
        every `ema_overwrite_frequency` steps, unless that is None, the weights are set to them. Averages are taken at each
        batch, as in Keras 3, also while gradients accumulate.
        `gradient_accumulation_steps`: that many batches make one step, with the mean of their gradients by samples.
        `lr_multipliers`: factors of the learning rate by the name of a layer.
        `iterations`: the steps taken. Raises TypeError for an unknown option and ValueError for a bad value.
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
        r"""a = rho * a + (1 - rho) * g**2; p -= lr_t * g / (sqrt(a) + epsilon)

        `epsilon_inside_root`: the denominator is sqrt(a + epsilon), as in Keras 3. `centered`: a - mean(g)**2 stands for a,
        the mean being kept as a is. `momentum`: v = momentum * v + lr_t * g / denominator; p -= v. Hinton's lecture 6,
        http://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf
        """

adadelta = Adadelta
adagrad = Adagrad
adam = Adam
adamax = Adamax

def deserialize(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""An optimizer from a name in any case, a config or an `Optimizer`, which is given back as it is.

    One of `torch.optim` is an instance, a class, a `functools.partial` of it or a pair of class and options; it becomes
    a `TorchOptimizer`. Raises ValueError for an unknown name and TypeError for an object of another kind.
    """

def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""An optimizer from a name in any case, a config or an `Optimizer`, which is given back as it is.

    One of `torch.optim` is an instance, a class, a `functools.partial` of it or a pair of class and options; it becomes
    a `TorchOptimizer`. Raises ValueError for an unknown name and TypeError for an object of another kind.
    """

nadam = Nadam
rmsprop = RMSprop

def serialize(value: Any) -> Any:
    r"""The inverse of `get`: a name for a function, `{"class_name", "config"}` for an object with `get_config`."""

sgd = SGD

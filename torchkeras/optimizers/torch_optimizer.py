"""Optimizers of `torch.optim`, and any class derived from theirs, as optimizers of a model."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import is_
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.interrupts import whole_imports
from torchkeras.base.rules import KnownOptions, read
from torchkeras.optimizers.accumulation import Accumulator
from torchkeras.optimizers.aside import Aside
from torchkeras.optimizers.base import RULES
from torchkeras.optimizers.by_hand import ByHand
from torchkeras.optimizers.clipping import clipped
from torchkeras.optimizers.given_torch import divided, is_torch
from torchkeras.optimizers.parameter_groups import Gradients, Treatment, grouped, laid_out_as
from torchkeras.optimizers.whole_parameters import WHOLE_PARAMETERS, held
from torchkeras.world.one_process import sharing

# What a group of torch's has for the sake of its parameters, rather than as an option.
OF_DEVICE = ("fused", "foreach", "capturable")
OF_PARAMETERS = ("params", *OF_DEVICE)
# What torch's optimizers count in numbers, which have the shape of a weight that is a number, and a type of their own.
COUNTS = ("step", "mu_product", "eta", "mu")
OWN_OPTIONS = ("clipnorm", "clipvalue", "each_clipnorm", "gradient_accumulation_steps")


class TorchOptimizer(KnownOptions, ByHand):
    """`optimizer` on the weights that train: an instance of `torch.optim.Optimizer`, or what makes one.

    A class, a partial of one or a pair (class, {options}) is called with the weights when the model is compiled. It
    gets `fused=True` where the class has it for their device, none of `fused`, `foreach` and `differentiable` is set,
    and all weights are floating point on the CPU or a CUDA device. A class without fused kernels gets `capturable=True`
    on a CUDA device where it has that option: it then counts steps on the device, and reads no number from there.

    An instance trains its own weights, in its groups, each with its own options. If the model trains further weights, a
    UserWarning names them; they do not change. The instance may also have weights that are frozen.

    The attribute `optimizer` is torch's own optimizer, None before a class is bound; `param_groups`, `state` and
    `defaults` are its own. Steps, rate and options are torch's. The options below, which may also stand among a class's
    options, mean the same as in `torchkeras.optimizers.Optimizer`.

    Options:
        optimizer (optimizer, class, partial or pair): the optimizer of torch, or what makes it.
        clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
        clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
            [-clipvalue, clipvalue].
        each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
            weight is scaled down to.
        gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
            mean of their gradients weighted by samples.
        global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

    Errors:
        TypeError: for anything else, or for an optimizer whose `step` needs a closure, such as LBFGS.
        ValueError: for a bad value of an option and, when it is bound, for an instance that trains parameters of
            another model.

    Example:
        >>> model = Sequential([Dense(1, input_shape=(2,))])
        >>> model.compile(TorchOptimizer(torch.optim.Adam(model.parameters(), lr=0.1), clipnorm=1.0), "mse")
        >>> model.compile((torch.optim.SGD, {"lr": 0.5, "clipvalue": 1.0}), "mse")
        >>> model.optimizer.lr
        0.5
    """

    counts_steps = False
    moment_names = ()
    clipnorm: float | None = None
    clipvalue: float | None = None
    each_clipnorm: float | None = None
    gradient_accumulation_steps: int | None = None
    _held = WHOLE_PARAMETERS  # see `Optimizer`

    def __init__(
        self,
        optimizer: Any,
        *,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        each_clipnorm: float | None = None,
        gradient_accumulation_steps: int | None = None,
        global_clipnorm: float | None = None,
    ):
        if not is_torch(optimizer):
            raise TypeError(
                "TorchOptimizer: give an instance or a class of torch.optim.Optimizer, a functools.partial of a class, "
                f"or (class, {{options}}); found {optimizer!r}."
            )
        self.optimizer: torch.optim.Optimizer | None = None
        self._make: partial[torch.optim.Optimizer] | None = None
        options: dict[str, Any] = {
            "clipnorm": clipnorm,
            "clipvalue": clipvalue,
            "each_clipnorm": each_clipnorm,
            "gradient_accumulation_steps": gradient_accumulation_steps,
            "global_clipnorm": global_clipnorm,
        }
        if isinstance(optimizer, torch.optim.Optimizer):
            self.optimizer = optimizer
        else:
            self._make, own = divided(optimizer, options)
            options |= own
        step = (self._make.func if self._make is not None else type(self.optimizer)).step  # type: ignore[attr-defined]
        closure = inspect.signature(step).parameters.get("closure")
        if closure is not None and closure.default is inspect.Parameter.empty:
            raise TypeError(f"TorchOptimizer: {self._name} asks for a closure, which a training step does not give.")
        self.iterations = 0
        self._given: Any = None
        self._parameters: list[Tensor] = []
        self._paths: list[str] = []
        self._arrays: list[int] = []
        self._owned: list[bool] = []
        self._sizes: list[int] = []
        self._told: set[str] = set()
        self._relations: list[float] = []
        self._accumulated, self._aside = Accumulator(), Aside()
        if options["clipnorm"] is not None and options["global_clipnorm"] is not None:
            raise TypeError(f"{self._name}: clipnorm and global_clipnorm are one option; found both.")
        norm, other = options["clipnorm"], options.pop("global_clipnorm")
        for name, value in {**options, "clipnorm": other if norm is None else norm}.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OWN_OPTIONS:
            value = read(self._name, name, RULES[name], value)
            if name == "gradient_accumulation_steps" and value != self.gradient_accumulation_steps:
                self.flush()
        elif name[0] != "_" and "_relations" in vars(self) and not (name in vars(self) or hasattr(type(self), name)):
            raise AttributeError(
                f"{self._name}: there is no option {name!r} to set. Those of torch.optim stand in its groups: "
                f"for group in model.optimizer.param_groups: group[{name!r}] = ..."
            )
        object.__setattr__(self, name, value)

    @property
    def _name(self) -> str:
        return getattr(self._make.func, "__name__", "") if self._make is not None else type(self.optimizer).__name__

    # --- parameters --------------------------------------------------------------------------------------------------

    def bind(
        self, parameters: Sequence[Tensor], arrangements: Any = None, layers: Any = None, names: Any = None
    ) -> None:
        """Train `parameters` from now on; the state of those that trained before is saved, as in `Optimizer.bind`.

        `arrangements`, `layers`, `names`: as there. Raises ValueError when an instance trains others.
        """
        same = len(parameters) == len(self._parameters) and all(map(is_, parameters, self._parameters))
        self._aside.put_list(self._parameters, (self._arrays, self._paths, self._accumulated))
        self._given, self._parameters = parameters, list(parameters)
        self._held = held(parameters)
        self._lay_out(arrangements, layers, names)
        if self._make is None:
            self._check_owned()
            self._move_state()
        elif self.optimizer is None or not same:
            with whole_imports():  # of torch's compiler, for the first optimizer
                self.optimizer = self._made(self._make)
        else:
            self.optimizer.load_state_dict(self.optimizer.state_dict())  # moves the state to where the weights are now
        own = set() if self.optimizer is None else {id(p) for group in self.param_groups for p in group["params"]}
        self._owned = [id(parameter) in own for parameter in self._parameters]
        self._sizes = self._sizes_of_groups()
        self._tell_of_others()
        self._accumulated.follow(sharing().parts(self._parameters))

    def _lay_out(self, arrangements: Any, layers: Any, names: Any) -> None:
        """Find the array of Keras's that each parameter belongs to, its path, and the gradients accumulated for it.

        Without `arrangements` all is as when these parameters last trained, or each is an array.
        """
        layout = self._aside.take_list(self._parameters)
        self._accumulated = Accumulator() if layout is None else layout[2]
        if layout is not None and arrangements is None:
            self._arrays, self._paths = layout[:2]
            return
        counts = [1] * len(self._parameters) if arrangements is None else [made.count for made in arrangements]
        self._arrays = [array for array, count in enumerate(counts) for _ in range(count)]
        if layers and names:
            self._paths = [f"{layers[k]}/{names[k]}" for k in self._arrays]
        else:
            self._paths = [f"parameter {k}" for k in self._arrays]

    def _made(self, make: partial[torch.optim.Optimizer]) -> torch.optim.Optimizer | None:
        """torch's optimizer for the present parameters, with the options of the former one and their saved state."""
        before = self.optimizer
        if before is not None:
            for parameter, state in before.state.items():
                self._aside.put(parameter, state)
        if not self._parameters:
            return None
        made = make(self._parameters, **self._for_device())
        if before is not None:
            made.param_groups[0] |= {k: v for k, v in before.param_groups[0].items() if k not in OF_PARAMETERS}
        for parameter in self._parameters:
            state = self._aside.take(parameter)
            if state is not None:
                made.state[parameter] = state
        return made

    def _for_device(self) -> dict[str, bool]:
        """The options for how torch computes, if the user has set none of them."""
        assert self._make is not None
        given: set[str] = set(self._make.keywords)
        kind: Any = self._make.func
        options = inspect.signature(kind).parameters
        if "capturable" in options and "fused" not in options and not {"capturable", "differentiable"} & given:
            return {"capturable": True} if all(p.is_cuda for p in self._parameters) else {}
        if {"fused", "foreach", "differentiable"} & given or "fused" not in options:
            return {}
        # torch has no rule yet for each fused kernel on tensors that processes share; its Adagrad none for CUDA.
        devices = ("cpu",) if issubclass(kind, torch.optim.Adagrad) else ("cpu", "cuda")
        able = all(p.is_floating_point() and p.device.type in devices for p in self._parameters)
        return {"fused": True} if able and not any(map(sharing().is_sharded, self._parameters)) else {}

    def _move_state(self) -> None:
        """Move the state of an instance to the device and type of its weights; counts stay as they are."""
        for parameter, values in self.state.items():
            moved = {
                name: value.to(parameter)
                for name, value in values.items()
                if name not in COUNTS and getattr(value, "shape", None) == parameter.shape
            }
            values.update(moved)

    def _check_owned(self) -> None:
        owned = {id(p): p for group in self.param_groups for p in group["params"]}
        own = {id(p) for p in self._parameters}
        missing = len(own - set(owned))
        foreign = sum(p.requires_grad for key, p in owned.items() if key not in own)
        if foreign or (missing and missing == len(own)):
            raise ValueError(
                f"{self._name}: it must have the {len(own)} parameters of the model that train, and no other that "
                f"trains; {missing} of them are missing, {foreign} others are foreign. Make it of "
                "`model.parameters()` after the model is built, or give compile its class."
            )

    def _sizes_of_groups(self) -> list[int]:
        """The number of parameters in each of torch's groups: `add_param_group` may add some at any time."""
        return [] if self.optimizer is None else [len(group["params"]) for group in self.optimizer.param_groups]

    def _tell_of_others(self) -> None:
        """Warn, once, of weights of the model that could train and are not this optimizer's."""
        others = dict.fromkeys(path for path, own in zip(self._paths, self._owned, strict=True) if not own)
        if self.optimizer is None or not others or self._told.issuperset(others):
            return
        self._told.update(others)
        shown = [*others][:5]
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        warnings.warn(
            f"{self._name}: it has {sum(self._owned)} of the {len(self._owned)} parameters of the model that train; "
            f"the others stay as they are: {', '.join(shown)}{more}.",
            stacklevel=2,
        )

    def trains(self, tensors: Iterable[Tensor]) -> bool:
        """Whether it trains some of these parameters."""
        own = {id(parameter) for parameter, own in zip(self._parameters, self._owned, strict=True) if own}
        return any(id(tensor) in own for tensor in tensors)

    def _bound(self) -> torch.optim.Optimizer:
        if self.optimizer is None:
            raise ValueError(f"{self._name} has no parameters yet: compile a model with it first.")
        return self.optimizer

    def as_torch(self) -> torch.optim.Optimizer:
        """torch's own optimizer. Raises ValueError before a class is bound."""
        return self._bound()

    param_groups = property(lambda self: self._bound().param_groups, doc="torch's own groups of parameters.")
    state = property(lambda self: self._bound().state, doc="torch's own state, by parameter.")
    defaults = property(lambda self: self._bound().defaults, doc="torch's own default options.")

    # --- a step ------------------------------------------------------------------------------------------------------

    def update(self, parameters: Sequence[Tensor], gradients: Gradients, samples: float = 1) -> bool:
        """As `Optimizer.update`, by a step of torch's. The parameters' `grad` are restored."""
        if parameters is not self._given or self._sizes_of_groups() != self._sizes:
            self.bind(parameters)
        self._bound()
        with torch.no_grad():
            if self.gradient_accumulation_steps is not None:
                self._accumulated.add(sharing().parts(self._parameters), sharing().parts(gradients), samples)
                if self._accumulated.count < self.gradient_accumulation_steps:
                    return False
                gradients = self._accumulated.take()
            self._update(gradients)
        return True

    def _update(self, gradients: Gradients) -> None:
        gradients = self._held.as_parameters(gradients, self._parameters)
        if not all(self._owned):
            gradients = [g if own else None for g, own in zip(gradients, self._owned, strict=True)]
        if self.clipnorm or self.clipvalue or self.each_clipnorm:
            groups = grouped(self._parameters, [Treatment(array) for array in self._arrays])
            gradients = clipped(groups, gradients, self.each_clipnorm, self.clipnorm, self.clipvalue)
        before = [parameter.grad for parameter in self._parameters]
        self._step(gradients, before)
        self.iterations += 1

    def _step(self, gradients: Gradients, before: list[Tensor | None]) -> None:
        """A step of torch's. The parameters have the gradients `before` again when it ends."""
        try:
            for parameter, gradient in zip(self._parameters, gradients, strict=True):
                # Fused kernels do not look at strides.
                parameter.grad = None if gradient is None else laid_out_as(parameter, gradient)
            self._bound().step()
        except NotImplementedError as error:
            self._held.explain(self._name, error)
            raise
        finally:
            for parameter, gradient in zip(self._parameters, before, strict=True):
                parameter.grad = gradient

    def flush(self) -> bool:
        """Make a step by the accumulated gradients. Returns whether there were any."""
        if not self._accumulated.count:
            return False
        with torch.no_grad():
            self._update(self._accumulated.take())
        return True

    def samples_with(self, samples: Any) -> Any:
        """The number of samples of the accumulated gradients after a batch of `samples`."""
        return self._accumulated.samples_with(samples)

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

    def set_rate(self, value: float) -> None:
        """Set the first group's rate, and those of the others in proportion."""
        rates = [float(group["lr"]) for group in self.param_groups]
        if rates[0]:  # a rate of 0 has no relation to others: the former one stays
            self._relations = [rate / rates[0] for rate in rates]
        for group, relation in zip(self.param_groups, self._relations or [1.0] * len(rates), strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(value * relation)
            else:
                group["lr"] = value * relation

    @property
    def current_lr(self) -> float:
        """The rate of the next step."""
        return float(self.lr)

    def swap_ema(self) -> None:
        """Raises ValueError: averages are an option of Keras's optimizers."""
        raise ValueError(f"{self._name}, of torch.optim, keeps no moving averages: use_ema is an option of Keras's.")

    # --- state -------------------------------------------------------------------------------------------------------

    def tensors(self) -> list[Tensor]:
        """All tensors of the present state; an optimizer of torch makes them in its first step."""
        states = [] if self.optimizer is None else self.optimizer.state.values()
        return [value for state in states for value in state.values() if isinstance(value, Tensor)]

    def forget(self, known: set[int]) -> None:
        """Remove the state of parameters of which no tensor is among these, by `id`: the next step makes it again."""
        state = self._bound().state
        for parameter, values in list(state.items()):
            if not any(id(value) in known for value in values.values()):
                del state[parameter]

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

    no_form = "an optimizer of torch.optim has no form in a file of Keras"
    for_files = property(lambda self: self, doc="It itself.")
    own_config = property(lambda self: self.get_config(), doc="As `get_config`.")

    def state_dict(self) -> dict[str, Any]:
        """torch's own state, `iterations`, and the accumulated gradients."""
        return {
            "class_name": self._name,
            "iterations": self.iterations,
            "torch": self._bound().state_dict(),
            "accumulated": self._accumulated.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a state of `state_dict`. Raises ValueError for the state of another optimizer.

        How torch computes, such as `fused` and `capturable`, stays as it is: it belongs to the device.
        """
        if state.get("class_name") != self._name:
            raise ValueError(f"{self._name}: the state is of {state.get('class_name')}.")
        saved, groups = state["torch"], self.param_groups
        if len(saved["param_groups"]) == len(groups):  # else torch says what differs
            ways = [{name: group[name] for name in OF_DEVICE if name in group} for group in groups]
            merged = [{**group, **way} for group, way in zip(saved["param_groups"], ways, strict=True)]
            saved = {**saved, "param_groups": merged}
        self._bound().load_state_dict(saved)
        self.iterations = int(state["iterations"])
        accumulated = state.get("accumulated", Accumulator().state_dict())
        self._accumulated.load_state_dict(accumulated, sharing().parts(self._parameters))

"""An optimizer's options in the words of tf.keras and Keras 3, and in ours."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from torchkeras import registry
from torchkeras.engine.step import loss_scale
from torchkeras.optimizers import schedules
from torchkeras.optimizers.base import Optimizer
from torchkeras.saving import keras3_entry, keras3_names
from torchkeras.saving.layer_facts import FOREIGN

Options = dict[str, Any]

# Options that do not change what is computed: how to compile, a name, the option of a wrapper, a factor of the loss by
# which the gradients are divided again.
SAYS_NOTHING = ("name", "jit_compile", "is_legacy_optimizer", "loss_scale_factor")
# Options that change nothing with these values.
OFF: Mapping[str, tuple[Any, ...]] = {
    "weight_decay": (None, 0, False),
    "clipnorm": (None,),
    "global_clipnorm": (None,),
    "clipvalue": (None,),
    "gradient_accumulation_steps": (None, 0, 1),
    "centered": (False,),
}
OF_AVERAGES = ("ema_momentum", "ema_overwrite_frequency")
# What wraps an optimizer under mixed_float16, and its options: the numbers of `engine.step.loss_scale`.
LOSS_SCALING = ("LossScaleOptimizer", "LossScaleOptimizerV3")
LOSS_SCALE: Options = {
    "dynamic": True,
    "initial_scale": loss_scale.INITIAL,
    "dynamic_growth_steps": loss_scale.GROWTH_STEPS,
}
CLIPPING = {"clipnorm": "global_clipnorm", "each_clipnorm": "clipnorm", "clipvalue": "clipvalue"}  # ours to Keras 3's
TF_KERAS_NADAM = (
    "Nadam of tf_keras takes a step of its momentum's schedule for every weight, and does not save it; here, as in "
    "Keras 2 and 3, it takes one for all: training goes on a little differently."
)
WITH_DECAY = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "AdamW", "Adamax")


# --- theirs to ours --------------------------------------------------------------------------------------------------


def from_keras3(config: Mapping[str, Any], later: bool, known: Mapping[str, Any] | None = None) -> Options:
    """An optimizer's config in our words. `later`: tf.keras or Keras 3 wrote it. `known`: the user's classes, by name.

    A user's class of Keras 3's form reads its config as it wrote it.
    The optimizers of tf.keras up to 2.10 have an option `decay`. They compute as in Keras 2, except RMSprop with a
    momentum. Raises ValueError for what we do not have.
    """
    written = str(registry.registered_or_own(config))
    if later and hasattr((known or {}).get(written), "is_of_keras3"):
        return {"class_name": written, "config": config.get("config")}
    own = str(config.get("class_name"))
    if later and own.startswith(FOREIGN) and isinstance(config.get("config"), Mapping):
        return {"class_name": own.removeprefix(FOREIGN), "config": dict(config["config"])}
    name, options = _unscaled(str(config.get("class_name")).rpartition(">")[2], config.get("config"))
    if not isinstance(options, Mapping):
        raise ValueError(f"the optimizer {name} has no options")
    ours = _in_effect(options)
    if name in ("AdamW", "Muon") and later and "weight_decay" not in ours:
        ours["weight_decay"] = 0.0
    if later:
        _rename_clipping(ours)
        _FROM.get(name, _change_nothing)(ours, "decay" in options)
        if name == "Nadam" and "is_legacy_optimizer" in options:
            warnings.warn(TF_KERAS_NADAM, stacklevel=2)
    for key in ("learning_rate", "lr"):
        if isinstance(ours.get(key), Mapping):
            ours |= _schedule(name, ours, ours.pop(key))
    return {"class_name": name, "config": ours}


def _in_effect(options: Mapping[str, Any]) -> Options:
    """The options that change what is computed."""
    found: Options = {}
    for key, value in options.items():
        if key not in SAYS_NOTHING and not _is_off(key, value):
            found[key] = value
    if not found.get("use_ema"):
        for key in ("use_ema", *OF_AVERAGES):
            found.pop(key, None)
    return found


def _is_off(option: str, value: Any) -> bool:
    return any(value is off or value == off for off in OFF.get(option, ()))


def _rename_clipping(options: Options) -> None:
    """Give the limits of gradients our names: `clipnorm` is of each weight in Keras 3, and of all weights here."""
    each, together = options.pop("clipnorm", None), options.pop("global_clipnorm", None)
    if each is not None:
        options["each_clipnorm"] = each
    if together is not None:
        options["clipnorm"] = together


def _unscaled(name: str, options: Any) -> tuple[str, Any]:
    """Class and options of the inner optimizer, for one wrapped in a loss scale; others as they are."""
    if name not in LOSS_SCALING or not isinstance(options, Mapping):
        return name, options
    for option, value in LOSS_SCALE.items():
        if options.get(option, value) != value:
            raise ValueError(f"the {option} of {name} is {options[option]!r}, which must be {value!r} in torchkeras")
    inner = options.get("inner_optimizer")
    if not isinstance(inner, Mapping):
        raise ValueError(f"the optimizer {name} has no inner_optimizer")
    return str(inner.get("class_name")).rpartition(">")[2], inner.get("config")


def _change_nothing(options: Options, old: bool) -> None:
    pass


def _rmsprop(options: Options, old: bool) -> None:
    # TensorFlow's kernel with momentum has epsilon under the root; without, tf.keras up to 2.10 has it outside.
    options["epsilon_inside_root"] = not old or bool(options.get("momentum"))


def _adagrad(options: Options, old: bool) -> None:
    options["epsilon_inside_root"] = not old


def _nadam(options: Options, old: bool) -> None:
    options["schedule_decay"] = options.pop("decay", 0.004) if old else 1.0


def _ftrl(options: Options, old: bool) -> None:
    if options.pop("decay", 0):
        raise ValueError("the optimizer Ftrl has decay, which torchkeras's does not have")


_FROM: Mapping[str, Callable[[Options, bool], None]] = {
    "RMSprop": _rmsprop,
    "Adagrad": _adagrad,
    "Nadam": _nadam,
    "Ftrl": _ftrl,
}


def _schedule(name: str, options: Options, schedule: Mapping[str, Any]) -> Options:
    """A schedule as an option of ours: as Keras 2's `decay` if that is equal."""
    kind, schedule_config = str(schedule.get("class_name")).rpartition(">")[2], schedule.get("config")
    if not isinstance(schedule_config, Mapping):
        raise ValueError(f"the learning rate of {name} is the schedule {kind}, which has no options")
    rate, rise, steps = (schedule_config.get(key) for key in ("initial_learning_rate", "decay_rate", "decay_steps"))
    every = options.get("gradient_accumulation_steps") or 1
    as_decay = steps == every and bool(schedule_config.get("staircase")) == (every > 1) and not options.get("decay")
    if kind == "InverseTimeDecay" and name in WITH_DECAY and as_decay:
        return {"learning_rate": rate, "decay": rise}
    return {"learning_rate": {"class_name": kind, "config": dict(schedule_config)}}


# --- ours to theirs --------------------------------------------------------------------------------------------------


def to_keras3(optimizer: Any) -> tuple[str, Options]:
    """Class and options in Keras 3.15's words. Raises ValueError for what its files do not have."""
    _refuse_excluded(type(optimizer).__name__, getattr(optimizer, "own_config", {}))
    return in_keras3(optimizer)


def in_keras3(optimizer: Any) -> tuple[str, Options]:
    """As `to_keras3`, without the patterns of `exclude_from_weight_decay`, which are no option in Keras 3."""
    kind, config = type(optimizer).__name__, optimizer.get_config()
    if getattr(optimizer, "is_of_keras3", False):
        return kind, config
    _refuse_without_form(kind, optimizer, config)
    for name in ("epsilon_inside_root", "schedule_decay", "no_weight_decay", "lr_multipliers"):
        config.pop(name, None)
    rate, decay = config.pop("lr"), config.pop("decay", 0.0)
    every = config.get("gradient_accumulation_steps")
    if every == 1:
        every = config.pop("gradient_accumulation_steps") and None
    if isinstance(rate, Mapping):
        rate = keras3_entry.entry("keras.optimizers.schedules", rate["class_name"], rate["config"])
    elif decay:
        # Keras 3's schedules count batches; Keras 2's decay counts steps.
        steps = {"decay_steps": every or 1, "decay_rate": decay, "staircase": every is not None}
        rate = keras3_entry.entry(
            "keras.optimizers.schedules", "InverseTimeDecay", {"initial_learning_rate": rate, **steps}
        )
    if kind == "Adagrad":
        config.setdefault("initial_accumulator_value", 0.0)  # Keras 3 has another default
    clipping = {theirs: config.pop(ours) for ours, theirs in CLIPPING.items() if config.get(ours) is not None}
    return kind, {"learning_rate": rate, **config, **clipping}


def _refuse_without_form(kind: str, optimizer: Any, config: Mapping[str, Any]) -> None:
    """Raise ValueError for an optimizer, or options, that Keras 3 does not have."""
    is_own = isinstance(optimizer, Optimizer) and type(optimizer).__module__.startswith("torchkeras.optimizers.")
    if not is_own or kind not in keras3_names.OPTIMIZERS:
        raise ValueError(f"The optimizer {kind} has no form in Keras 3.")
    if not config.get("epsilon_inside_root", kind not in ("RMSprop", "Adagrad")):
        raise ValueError(
            f"The optimizer {kind} has no form in Keras 3, which adds epsilon under the root: save with "
            "include_optimizer=False."
        )
    if config.get("schedule_decay", 1.0) != 1.0:
        raise ValueError(f"{kind}: schedule_decay {config['schedule_decay']!r} has no form in Keras 3, where it is 1.")
    if config.get("lr_multipliers"):
        raise ValueError(f"{kind}: lr_multipliers has no form in Keras 3.")
    _refuse_several_limits(kind, config)
    if isinstance(config["lr"], Mapping):
        _refuse_schedule(kind, config)


def _refuse_excluded(kind: str, config: Mapping[str, Any]) -> None:
    if config.get("no_weight_decay") and (config.get("weight_decay") or config.get("adam_weight_decay")):
        raise ValueError(f"{kind}: no_weight_decay has no form in Keras 3, whose files leave it out.")


def _refuse_several_limits(kind: str, config: Mapping[str, Any]) -> None:
    clipped = [name for name in CLIPPING if config.get(name) is not None]
    if len(clipped) > 1:
        raise ValueError(
            f"{kind}: {clipped[0]} {config[clipped[0]]!r} together with {clipped[1]} has no form in Keras 3, which "
            "takes one of them."
        )


def _refuse_schedule(kind: str, config: Mapping[str, Any]) -> None:
    if config["lr"]["class_name"] not in schedules.family:
        raise ValueError(f"{kind}: the schedule {config['lr']['class_name']} has no form in Keras 3.")
    if config.get("decay"):
        raise ValueError(f"{kind}: decay together with a schedule has no form in Keras 3.")

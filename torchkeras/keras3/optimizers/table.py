"""The optimizers of Keras 3: for each the optimizer of this package, with Keras 3's arguments and defaults.

What they compute otherwise than those of Keras 2 is an option of theirs, which `saving.optimizer.options` sets for
files and code alike.
"""

from __future__ import annotations

import re
from typing import Any

from torchkeras import optimizers as base
from torchkeras.keras3.optimizers.optimizer import Optimizer, signature


def _text(rule: Any, *changes: tuple[str, str]) -> str:
    """The docstring of an optimizer of the package, with an example by hand and these changes."""
    text = BY_UPDATE.sub(r".apply(\2, \1)", rule.__doc__ or "")
    for before, after in changes:
        text = text.replace(before, after)
    return text


BY_UPDATE = re.compile(r"\.update\((\[weight\]), (\[.*\])\)\n *True")
INSIDE_THE_ROOT = ("(sqrt(a) + epsilon)", "sqrt(a + epsilon)")
MOMENTS = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}


class SGD(Optimizer, base.SGD):
    __doc__ = _text(base.SGD)
    arguments = signature({"learning_rate": 0.01, "momentum": 0.0, "nesterov": False})


class RMSprop(Optimizer, base.RMSprop):
    __doc__ = _text(base.RMSprop, INSIDE_THE_ROOT)
    arguments = signature({"learning_rate": 0.001, "rho": 0.9, "momentum": 0.0, "epsilon": 1e-7, "centered": False})


class Adam(Optimizer, base.Adam):
    __doc__ = _text(base.Adam)
    arguments = signature({"learning_rate": 0.001, **MOMENTS, "amsgrad": False})


class AdamW(Optimizer, base.AdamW):
    __doc__ = _text(base.AdamW)
    arguments = signature({"learning_rate": 0.001, "weight_decay": 0.004, **MOMENTS, "amsgrad": False})


class Adadelta(Optimizer, base.Adadelta):
    __doc__ = _text(base.Adadelta, ("Adadelta(eps", "Adadelta(1.0, eps"))
    arguments = signature({"learning_rate": 0.001, "rho": 0.95, "epsilon": 1e-7})


class Adagrad(Optimizer, base.Adagrad):
    __doc__ = _text(base.Adagrad, INSIDE_THE_ROOT, ("[0.9000, 1.1000]", "[0.9047, 1.0988]"))
    arguments = signature({"learning_rate": 0.001, "initial_accumulator_value": 0.1, "epsilon": 1e-7})


class Adamax(Optimizer, base.Adamax):
    __doc__ = _text(base.Adamax)
    arguments = signature({"learning_rate": 0.001, **MOMENTS})


class Nadam(Optimizer, base.Nadam):
    __doc__ = _text(base.Nadam, ("[0.8944, 1.1056]", "[0.8937, 1.1063]"), ("0.96**(t * schedule_decay)", "0.96**t"))
    arguments = signature({"learning_rate": 0.001, **MOMENTS})


class Lamb(Optimizer, base.Lamb):
    __doc__ = _text(base.Lamb)
    arguments = signature({"learning_rate": 0.001, **MOMENTS})


class Lion(Optimizer, base.Lion):
    __doc__ = _text(base.Lion)
    arguments = signature({"learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.99})


class Ftrl(Optimizer, base.Ftrl):
    __doc__ = _text(base.Ftrl)
    arguments = signature(
        {
            "learning_rate": 0.001,
            "learning_rate_power": -0.5,
            "initial_accumulator_value": 0.1,
            "l1_regularization_strength": 0.0,
            "l2_regularization_strength": 0.0,
            "l2_shrinkage_regularization_strength": 0.0,
            "beta": 0.0,
        }
    )


class Adafactor(Optimizer, base.Adafactor):
    __doc__ = _text(base.Adafactor)
    arguments = signature(
        {
            "learning_rate": 0.001,
            "beta_2_decay": -0.8,
            "epsilon_1": 1e-30,
            "epsilon_2": 0.001,
            "clip_threshold": 1.0,
            "relative_step": True,
        }
    )


class Muon(Optimizer, base.Muon):
    __doc__ = _text(base.Muon)
    arguments = signature(
        {
            "learning_rate": 0.001,
            "adam_beta_1": 0.9,
            "adam_beta_2": 0.999,
            "adam_weight_decay": 0.004,
            "epsilon": 1e-7,
            "weight_decay": 0.004,
        },
        {
            "exclude_layers": None,
            "exclude_embeddings": True,
            "muon_a": 3.4445,
            "muon_b": -4.7750,
            "muon_c": 2.0315,
            "adam_lr_ratio": 1,
            "momentum": 0.95,
            "ns_steps": 5,
            "nesterov": True,
            "rms_rate": 0.2,
        },
    )


class ScheduleFreeAdamW(Optimizer, base.ScheduleFreeAdamW):
    __doc__ = _text(base.ScheduleFreeAdamW)
    arguments = signature({"learning_rate": 0.0025, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8, "warmup_steps": 0})


TWINS: dict[str, type[Optimizer]] = {
    each.__name__: each
    for each in (
        *(SGD, RMSprop, Adam, AdamW, Adadelta, Adagrad, Adamax, Nadam, Lamb, Lion, Ftrl, Adafactor, Muon),
        ScheduleFreeAdamW,
    )
}

"""Record what Keras 3.15's optimizers and schedules compute, for tests/optimizers. Needs Keras 3.15 on torch.

    KERAS_BACKEND=torch python scripts/golden_keras3_optimizers.py tests/golden/keras-3.15-optimizers

Ten steps with given gradients on weights of five shapes. A case has the weights after 1 and after 10 steps, and their
moving averages if there are any; all weights at one time are one flat row.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import torch

SHAPES = {
    "hidden/kernel": (4, 3),
    "hidden/bias": (3,),
    "conv/kernel": (2, 2, 3, 2),
    "embedding/embeddings": (5, 3),
    "gru/bias": (2, 6),
}
STEPS = 10
# The optimizer, its options, and the weights without weight decay.
CASES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "sgd": ("SGD", {"learning_rate": 0.1}, []),
    "sgd_nesterov_decay": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, []),
    "sgd_each_clipnorm": ("SGD", {"learning_rate": 0.1, "clipnorm": 1.5}, []),
    "sgd_global_clipnorm": ("SGD", {"learning_rate": 0.1, "global_clipnorm": 1.5}, []),
    "sgd_clipvalue": ("SGD", {"learning_rate": 0.1, "clipvalue": 0.3}, []),
    "sgd_ema": ("SGD", {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.8}, []),
    "sgd_ema_overwrite": (
        "SGD",
        {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.7, "ema_overwrite_frequency": 3},
        [],
    ),
    "sgd_accumulation": ("SGD", {"learning_rate": 0.1, "momentum": 0.5, "gradient_accumulation_steps": 3}, []),
    "adam_accumulation_ema_schedule": (
        "Adam",
        {
            "learning_rate": "ExponentialDecay",
            "gradient_accumulation_steps": 2,
            "use_ema": True,
            "ema_momentum": 0.8,
            "ema_overwrite_frequency": 2,
        },
        [],
    ),
    "adam": ("Adam", {"learning_rate": 0.02, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 0.01}, []),
    "adam_amsgrad_decay": ("Adam", {"learning_rate": 0.02, "amsgrad": True, "weight_decay": 0.3}, []),
    "adamw": ("AdamW", {"learning_rate": 0.02, "weight_decay": 0.5}, ["bias", "emb"]),
    "adamw_default": ("AdamW", {}, []),
    "rmsprop": ("RMSprop", {"learning_rate": 0.02, "epsilon": 0.01}, []),
    "rmsprop_momentum": ("RMSprop", {"learning_rate": 0.02, "momentum": 0.8, "rho": 0.7}, []),
    "rmsprop_centered": ("RMSprop", {"learning_rate": 0.02, "centered": True, "epsilon": 0.01}, []),
    "rmsprop_all": ("RMSprop", {"learning_rate": 0.02, "centered": True, "momentum": 0.5, "epsilon": 0.1}, []),
    "adagrad": ("Adagrad", {"learning_rate": 0.1, "epsilon": 0.01}, []),
    "adadelta": ("Adadelta", {"learning_rate": 0.5, "rho": 0.8, "epsilon": 0.01}, []),
    "adamax": ("Adamax", {"learning_rate": 0.02, "epsilon": 0.01}, []),
    "nadam": ("Nadam", {"learning_rate": 0.02, "epsilon": 0.01}, []),
    "lion": ("Lion", {"learning_rate": 0.02, "beta_1": 0.8, "weight_decay": 0.2}, []),
    "lamb": ("Lamb", {"learning_rate": 0.02, "beta_1": 0.8, "epsilon": 0.01}, []),
    "lamb_default": ("Lamb", {}, []),
    "muon": ("Muon", {"learning_rate": 0.02}, []),
    "muon_options": (
        "Muon",
        {
            "learning_rate": 0.02,
            "exclude_embeddings": False,
            "exclude_layers": ["hid"],
            "adam_lr_ratio": 0.5,
            "nesterov": False,
            "rms_rate": None,
            "ns_steps": 3,
            "momentum": 0.7,
            "weight_decay": 0.3,
            "adam_weight_decay": 0.1,
        },
        ["gru"],
    ),
    "adafactor": ("Adafactor", {"learning_rate": 0.02}, []),
    "adafactor_options": (
        "Adafactor",
        {
            "learning_rate": 0.5,
            "beta_2_decay": -0.5,
            "epsilon_1": 1e-3,
            "epsilon_2": 0.1,
            "clip_threshold": 0.5,
            "relative_step": False,
            "weight_decay": 0.1,
        },
        [],
    ),
    "ftrl": ("Ftrl", {"learning_rate": 0.1}, []),
    "ftrl_options": (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "learning_rate_power": -0.7,
            "l1_regularization_strength": 0.3,
            "beta": 0.2,
            "l2_regularization_strength": 0.2,
            "l2_shrinkage_regularization_strength": 0.1,
        },
        [],
    ),
}
SCHEDULES: dict[str, tuple[str, dict[str, Any]]] = {
    "exponential": ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 4, "decay_rate": 0.5}),
    "exponential_stairs": (
        "ExponentialDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 4, "decay_rate": 0.5, "staircase": True},
    ),
    "inverse": ("InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 4, "decay_rate": 0.5}),
    "inverse_stairs": (
        "InverseTimeDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 4, "decay_rate": 0.5, "staircase": True},
    ),
    "piecewise": ("PiecewiseConstantDecay", {"boundaries": [2, 5, 9], "values": [1.0, 0.5, 0.25, 0.1]}),
    "polynomial": ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 6, "power": 2.0}),
    "polynomial_cycle": (
        "PolynomialDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 6, "end_learning_rate": 0.01, "power": 0.5, "cycle": True},
    ),
    "cosine": ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 9, "alpha": 0.1}),
    "cosine_warmup": (
        "CosineDecay",
        {"initial_learning_rate": 0.01, "decay_steps": 9, "warmup_target": 0.2, "warmup_steps": 4},
    ),
    "restarts": ("CosineDecayRestarts", {"initial_learning_rate": 0.1, "first_decay_steps": 4, "m_mul": 0.8}),
    "restarts_even": (
        "CosineDecayRestarts",
        {"initial_learning_rate": 0.1, "first_decay_steps": 5, "t_mul": 1.0, "alpha": 0.1},
    ),
}
NAMED = {"ExponentialDecay": SCHEDULES["exponential"][1]}


def made(name: str, options: dict[str, Any], excluded: list[str]) -> Any:
    rate = options.get("learning_rate")
    if isinstance(rate, str):
        options = {**options, "learning_rate": getattr(keras.optimizers.schedules, rate)(**NAMED[rate])}
    optimizer = getattr(keras.optimizers, name)(**options)
    if excluded:
        optimizer.exclude_from_weight_decay(var_names=excluded)
    return optimizer


def variables(start: dict[str, np.ndarray]) -> list[Any]:
    found = []
    for path, value in start.items():
        layer, name = path.split("/")
        with keras.name_scope(layer):
            found.append(keras.Variable(value, name=name))
    return found


def flat(values: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.array(value).ravel() for value in values])


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    start = {path: rng.uniform(-1, 1, shape).astype("float32") for path, shape in SHAPES.items()}
    gradients = {path: rng.normal(size=(STEPS, *shape)).astype("float32") for path, shape in SHAPES.items()}
    arrays = {
        "start": flat(start.values()),
        "gradients": np.stack([flat(g[k] for g in gradients.values()) for k in range(STEPS)]),
    }
    for case, (name, options, excluded) in CASES.items():
        optimizer, weights, rows = made(name, options, excluded), variables(start), []
        for step in range(STEPS):
            optimizer.apply([torch.from_numpy(gradients[path][step]) for path in SHAPES], weights)
            if step in (0, STEPS - 1):
                rows.append(flat(map(keras.ops.convert_to_numpy, weights)))
        if optimizer.use_ema:
            optimizer.finalize_variable_values(weights)
            rows.append(flat(map(keras.ops.convert_to_numpy, weights)))
        assert [weight.path for weight in weights] == list(SHAPES)
        arrays[case] = np.stack(rows)
    rates = {
        case: [float(getattr(keras.optimizers.schedules, name)(**options)(step)) for step in range(40)]
        for case, (name, options) in SCHEDULES.items()
    }
    defaults = {
        name: getattr(keras.optimizers, name)().get_config() for name in sorted({case[0] for case in CASES.values()})
    }
    configs = {
        case: getattr(keras.optimizers.schedules, name)(**options).get_config()
        for case, (name, options) in SCHEDULES.items()
    }
    folder.mkdir(exist_ok=True)
    np.savez_compressed(folder / "steps.npz", **arrays)
    record = {
        "keras": keras.__version__,
        "shapes": SHAPES,
        "cases": CASES,
        "schedules": SCHEDULES,
        "rates": rates,
        "configs": configs,
        "defaults": defaults,
    }
    (folder / "cases.json").write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

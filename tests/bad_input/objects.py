"""Bad options of callbacks, schedules, initializers, regularizers and constraints: each is refused when it is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tests.bad_input.functions import written
from tests.bad_input.making import Case
from torchkeras import callbacks, constraints, initializers, regularizers
from torchkeras.optimizers import schedules

NAN, INFINITY, THING = math.nan, math.inf, object()
FLAGS = ("yes", None, 2, NAN, THING)
NUMBERS = ("a", None, NAN, INFINITY, True, THING)
COUNTS = ("a", None, NAN, 2.5, -1, True)
PATHS = (3, None, THING)
TEXTS = (3, NAN, THING, b"a")
NAMES = ("acc", 3, [3], THING)
VERBOSE = ("a", None, NAN, -1, 2.5, THING)
BETWEEN = (*NUMBERS, -0.1, 1.0)
AT_LEAST_0 = (*NUMBERS, -3.7)
AXIS = ("a", 1.5, [None], THING)
SEED = ("a", 1.5, NAN, True, THING)
MODE = (3, NAN, THING, ["min"])
NO_NUMBERS = tuple(value for value in NUMBERS if value is not None)


def nothing() -> None:
    pass


def three(epoch: Any, rate: Any, more: Any) -> Any:
    return rate


MONITORED = {"monitor": (*TEXTS, None), "mode": MODE, "verbose": VERBOSE}
ONE_CYCLE = {
    "max_lr": (*NUMBERS, 0.0),
    "steps": ("a", NAN, 2.5, 0, True),
    "pct_start": BETWEEN,
    "div_factor": (*NUMBERS, 0),
    "final_div_factor": (*NUMBERS, 0),
    "anneal": ("cosine", None, 3, THING),
    "cycle_momentum": FLAGS,
    "base_momentum": (*BETWEEN, 0.99),
    "max_momentum": BETWEEN,
}
COSINE = {
    "max_lr": (*NO_NUMBERS, -0.1),
    "min_lr": (*AT_LEAST_0, 1.0),
    "steps": ("a", NAN, 2.5, 0),
    "warmup": COUNTS,
    "period": ("a", NAN, 2.5, 0),
    "growth": (*COUNTS, 0, 2),
}
TENSORBOARD = {
    "log_dir": PATHS,
    "histogram_freq": COUNTS,
    "batch_size": (*COUNTS, 0),
    "write_graph": FLAGS,
    "write_grads": FLAGS,
    "write_images": FLAGS,
    "embeddings_freq": (*COUNTS, 1),
    "embeddings_layer_names": NAMES,
    "embeddings_metadata": (3, {"words": 3}, THING),
    "embeddings_data": (3, "a", THING),
    "update_freq": ("step", None, 0, -1, NAN, INFINITY, True, THING),
    "profile_batch": (*COUNTS, "2,4", [0, 2], [3, 2], [1, 2, 3]),
}
# A class, the options that it needs, and bad values of each option.
Row = tuple[Any, Mapping[str, Any], Mapping[str, tuple[Any, ...]]]
TABLE: list[Row] = [
    (
        callbacks.EarlyStopping,
        {},
        {
            **MONITORED,
            "min_delta": NUMBERS,
            "patience": COUNTS,
            "baseline": NO_NUMBERS,
            "restore_best_weights": FLAGS,
        },
    ),
    (
        callbacks.ModelCheckpoint,
        {"filepath": "model.h5"},
        {
            **MONITORED,
            "filepath": (*PATHS, b"model.h5", "{epoch", "{}.h5", "{epoch:x2}.h5"),
            "save_best_only": FLAGS,
            "save_weights_only": FLAGS,
            "period": COUNTS,
        },
    ),
    (
        callbacks.ReduceLROnPlateau,
        {},
        {
            **MONITORED,
            "factor": (*NUMBERS, 1.0, -0.1),
            "patience": COUNTS,
            "min_delta": NUMBERS,
            "cooldown": COUNTS,
            "min_lr": AT_LEAST_0,
        },
    ),
    (
        callbacks.LearningRateScheduler,
        {"schedule": lambda epoch: 0.1},
        {
            "schedule": (0.1, None, "a", [0.1], nothing, three),
            "verbose": VERBOSE,
        },
    ),
    (
        callbacks.LearningRateFinder,
        {},
        {
            "start": (*NUMBERS, 0, 100.0),
            "end": ("a", None, NAN, True, 0, 1e-7),
            "steps": (*COUNTS, 1),
            "smoothing": BETWEEN,
            "divergence": ("a", None, NAN, True, 1.0),
            "verbose": VERBOSE,
        },
    ),
    (callbacks.OneCycle, {"max_lr": 0.1}, ONE_CYCLE),
    (callbacks.CosineAnnealing, {"max_lr": 0.1}, COSINE),
    (callbacks.TimeLimit, {"seconds": 1}, {"seconds": ("a", None, NAN, -1, True), "verbose": VERBOSE}),
    (
        callbacks.Profiler,
        {},
        {
            "log_dir": PATHS,
            "first": COUNTS,
            "batches": (*COUNTS, 0),
            "epoch": COUNTS,
            **dict.fromkeys(("record_shapes", "profile_memory", "with_stack"), FLAGS),
        },
    ),
    (callbacks.SwapEMAWeights, {}, {"swap_on_epoch": FLAGS}),
    (
        callbacks.CSVLogger,
        {"filename": "log.csv"},
        {"filename": PATHS, "separator": ("", "ab", 3, None), "append": FLAGS},
    ),
    (callbacks.TensorBoard, {}, TENSORBOARD),
    (
        callbacks.RemoteMonitor,
        {},
        {
            "root": (3, None, "localhost:9000", THING),
            "path": (*TEXTS, None),
            "field": (*TEXTS, None),
            "headers": ("a", 3, {"a": 3}, {3: "a"}, THING),
            "send_as_json": FLAGS,
        },
    ),
    (callbacks.BaseLogger, {}, {"stateful_metrics": NAMES}),
    (
        callbacks.ProgbarLogger,
        {},
        {
            "count_mode": ("batches", None, 3),
            "stateful_metrics": NAMES,
            "stream": ("stdin", None, 3),
        },
    ),
    (callbacks.CallbackList, {}, {"callbacks": ("a", 3, [3], [callbacks.History], THING)}),
    (
        callbacks.BackupAndRestore,
        {"backup_dir": "backup"},
        {
            "backup_dir": PATHS,
            "save_freq": ("batch", None, 0, 2.5, True, THING),
            "delete_checkpoint": FLAGS,
            "accept": ("anything", 3, [3], None, THING),
        },
    ),
    (
        callbacks.GradualUnfreezing,
        {"schedule": {1: "out"}},
        {
            "schedule": (3, None, {}, {"a": "out"}, {-1: "out"}, {1: 3}, {1: [None]}),
            "restore": FLAGS,
        },
    ),
    (
        callbacks.TorchScheduler,
        {"scheduler": lambda optimizer: None},
        {"scheduler": (3, None, "StepLR"), "per": ("step", 3, THING), "monitor": TEXTS},
    ),
    (callbacks.LambdaCallback, {}, {"on_epoch_end": (3, "a", nothing, three), "on_train_begin": (3, "a", nothing)}),
]  # fmt: skip
RATE = {"initial_learning_rate": AT_LEAST_0, "name": TEXTS}
STEPS = (*NUMBERS, 0, -1)
TABLE += [
    (
        schedules.ExponentialDecay,
        {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5},
        {**RATE, "decay_steps": STEPS, "decay_rate": AT_LEAST_0, "staircase": (*FLAGS, 1)},
    ),
    (
        schedules.InverseTimeDecay,
        {"initial_learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5},
        {**RATE, "decay_steps": STEPS, "decay_rate": AT_LEAST_0, "staircase": (*FLAGS, 1)},
    ),
    (
        schedules.PiecewiseConstantDecay,
        {"boundaries": [10], "values": [0.1, 0.01]},
        {
            "boundaries": (3, None, [], ["a"], [NAN], {10}),
            "values": (3, None, [0.1], ["a", 0.1], [0.1, -0.1], [0.1, NAN]),
            "name": TEXTS,
        },
    ),
    (
        schedules.PolynomialDecay,
        {"initial_learning_rate": 0.1, "decay_steps": 10},
        {**RATE, "decay_steps": STEPS, "end_learning_rate": AT_LEAST_0, "power": AT_LEAST_0, "cycle": (*FLAGS, 1)},
    ),
    (
        schedules.CosineDecay,
        {"initial_learning_rate": 0.1, "decay_steps": 10},
        {
            **RATE,
            "decay_steps": STEPS,
            "alpha": AT_LEAST_0,
            "warmup_target": (*NO_NUMBERS, -3.7),
            "warmup_steps": AT_LEAST_0,
        },
    ),
    (
        schedules.CosineDecayRestarts,
        {"initial_learning_rate": 0.1, "first_decay_steps": 10},
        {
            **RATE,
            "first_decay_steps": STEPS,
            "t_mul": (*NUMBERS, 0.5),
            "m_mul": AT_LEAST_0,
            "alpha": AT_LEAST_0,
        },
    ),
]
NORMAL = {"mean": NUMBERS, "stddev": AT_LEAST_0, "seed": SEED}
SCALED = {"seed": SEED}
TABLE += [
    (initializers.Constant, {}, {"value": ("a", None, THING, [[1.0], [1.0, 2.0]], 1j)}),
    (initializers.RandomNormal, {}, NORMAL),
    (initializers.TruncatedNormal, {}, NORMAL),
    (
        initializers.RandomUniform,
        {},
        {"minval": (*NUMBERS, 0.1), "maxval": (*NUMBERS, -0.1), "seed": SEED},
    ),
    (
        initializers.VarianceScaling,
        {},
        {
            "scale": (*NUMBERS, 0.0, -1.0),
            "mode": ("fan", None, 3, THING),
            "distribution": ("cauchy", None, 3, THING),
            "seed": SEED,
        },
    ),
    (initializers.Orthogonal, {}, {"gain": NUMBERS, "seed": SEED}),
    (initializers.Identity, {}, {"gain": NUMBERS}),
    *((made, {}, SCALED) for made in (
        initializers.glorot_normal, initializers.glorot_uniform, initializers.he_normal, initializers.he_uniform,
        initializers.lecun_normal, initializers.lecun_uniform,
    )),
    (regularizers.L1L2, {}, {"l1": NO_NUMBERS, "l2": NO_NUMBERS}),
    (regularizers.OrthogonalRegularizer, {}, {"factor": NUMBERS, "mode": ("diagonal", None, 3, THING)}),
    (regularizers.l1, {}, {"l": NO_NUMBERS}),
    (regularizers.l2, {}, {"l": NO_NUMBERS}),
    (regularizers.l1_l2, {}, {"l1": NO_NUMBERS, "l2": NO_NUMBERS}),
    (constraints.MaxNorm, {}, {"max_value": ("a", None, NAN, -1, True, THING), "axis": AXIS}),
    (constraints.UnitNorm, {}, {"axis": AXIS}),
    (
        constraints.MinMaxNorm,
        {},
        {
            "min_value": ("a", None, NAN, -1, True, 2.0),
            "max_value": ("a", None, NAN, -1, True),
            "rate": NUMBERS,
            "axis": AXIS,
        },
    ),
    (constraints.maxnorm, {}, {"max_value": ("a", None, -1), "m": ("a", -1), "axis": AXIS}),
]  # fmt: skip


def shown(value: Any) -> str:
    """A value as the name of a case has it: one line, without an address."""
    return getattr(value, "__name__", "") or written(value)


REFUSED: dict[str, Case] = {
    f"{made.__name__}: {option}={shown(value)}": lambda m=made, g={**needed, option: value}: f"taken: {m(**g)!r}"
    for made, needed, options in TABLE
    for option, values in options.items()
    for value in values
}

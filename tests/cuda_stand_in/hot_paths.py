"""Run every hot path on the stand-in for CUDA, and print as JSON what a step of each asks of the device.

`python hot_paths.py LIBRARY`: the compiled `device.cpp`, loaded before torch.
"""

# ruff: noqa: E402
# torch looks for a device once, when it is imported: the library comes first.

import ctypes
import sys

LIBRARY = sys.argv[1]
ctypes.CDLL(LIBRARY)

import json
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from device import Device, Generator, cuda, install
from torch import nn

import torchkeras
from benchmarks.workloads import WORKLOADS, samples
from tests.layers.table import ROWS, STRINGS, Row
from torchkeras import Input, Model, Sequential, layers, losses, metrics, optimizers
from torchkeras.engine.step import nonfinite
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.optimizers import schedules

SPARSE, ONE_HOT = "sparse_categorical_crossentropy", "categorical_crossentropy"
SHORT, LONG = 2, 4  # batches of two epochs: what the longer one asks more is asked by its steps
CLASSES, FEATURES, TIME, SIZE = 3, 8, 6, 4
RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.standard_normal((LONG * SIZE, FEATURES)).astype("float32")
CHOSEN = RANDOM.integers(0, CLASSES, LONG * SIZE)
ROW = np.eye(CLASSES, dtype="float32")[CHOSEN]
SEQUENCES = RANDOM.standard_normal((LONG * SIZE, TIME, 4)).astype("float32")
TOKENS = RANDOM.integers(0, 9, (LONG * SIZE, TIME))
IMAGES = RANDOM.standard_normal((LONG * SIZE, 8, 8, 3)).astype("float32")
TARGETS = RANDOM.standard_normal((LONG * SIZE, CLASSES)).astype("float32")


@dataclass(frozen=True)
class Path:
    """A compiled model, as `make` makes it on the device, and its data. `free`: the memory that the device has.
    `deterministic`: whether torch refuses what gives other numbers each time.
    """

    make: Callable[[], Any]
    x: Any
    y: Any
    size: int = SIZE
    fit: Mapping[str, Any] = field(default_factory=dict)
    free: int = 2**40
    deterministic: bool = False


def mlp(activation: str = "softmax", **options: Any) -> Model:
    inputs = Input((FEATURES,))
    hidden = layers.Dense(16, activation="relu", **options)(inputs)
    return Model(inputs, layers.Dense(CLASSES, activation=activation, dtype="float32")(hidden))


def trained(loss: Any = SPARSE, optimizer: Any = "adam", network: Callable[[], Any] = mlp, **options: Any) -> Path:
    """A path that compiles `network`; what may not be shared, such as an optimizer, is given as a function."""

    def make() -> Any:
        model = network()
        made = {name: each() if isinstance(each, partial) else each for name, each in options.items()}
        chosen = optimizer() if isinstance(optimizer, partial) else optimizer
        model.compile(chosen, loss, jit_compile=False, **made)
        return model

    return Path(make, NUMBERS, CHOSEN if loss == SPARSE or isinstance(loss, nn.Module) else ROW)


def stacked(*kinds: Callable[[], Any], x: np.ndarray = SEQUENCES, y: np.ndarray = TARGETS) -> Path:
    """A chain of layers, trained by the mean squared error."""

    def make() -> Any:
        hidden = inputs = Input(x.shape[1:], dtype="int64" if x is TOKENS else None)
        for kind in kinds:
            hidden = kind()(hidden)
        model = Model(inputs, hidden)
        model.compile("sgd", "mse", jit_compile=False)
        return model

    return Path(make, x, y)


def of_suite(name: str) -> Path:
    def make() -> Any:
        model = WORKLOADS[name].network(torchkeras)
        model.compile("adam", SPARSE, metrics=["accuracy"], jit_compile=False)
        return model

    x, y = samples(WORKLOADS[name], 1)
    times = -(-LONG * SIZE // len(y))
    return Path(make, [np.concatenate([each] * times)[: LONG * SIZE] for each in x], np.tile(y, times)[: LONG * SIZE])


def changed(path: Path, **changes: Any) -> Path:
    return Path(**{**vars(path), **changes})


def attention() -> Any:
    inputs = Input((TIME, 4))
    attended = layers.MultiHeadAttention(2, 2, dropout=0.1)(inputs, inputs, use_causal_mask=True)
    return Model(inputs, layers.Dense(CLASSES, activation="softmax")(layers.GlobalAveragePooling1D()(attended)))


class Average:
    """A metric in the form of torchmetrics whose result is a Python number."""

    def update(self, preds: torch.Tensor, target: torch.Tensor) -> None: ...

    def compute(self) -> float:
        return 0.5

    def reset(self) -> None: ...


Dense, whole = partial(layers.Dense, CLASSES), partial(layers.LSTM, CLASSES, return_sequences=True)
SEQUENCE_TARGETS = RANDOM.standard_normal((LONG * SIZE, TIME, CLASSES)).astype("float32")
OWN = [
    "sgd",
    "rmsprop",
    "adagrad",
    "adadelta",
    "adam",
    "adamax",
    "nadam",
    "adamw",
    "lion",
    "lamb",
    "muon",
    "adafactor",
    "ftrl",
]
OF_TORCH = [
    "Adam",
    "AdamW",
    "SGD",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "NAdam",
    "RAdam",
    "Adamax",
    "ASGD",
    "Rprop",
    "Adafactor",
]
LOSSES = [
    "mse",
    "mae",
    "mape",
    "msle",
    "squared_hinge",
    "hinge",
    "categorical_hinge",
    "logcosh",
    "binary_crossentropy",
    "kld",
    "poisson",
    "cosine_proximity",
]
METRICS: dict[str, Any] = {
    **{
        name: partial(getattr(metrics, name))
        for name in ["AUC", "Precision", "Recall", "F1Score", "R2Score", "Accuracy"]
    },
    "OneHotMeanIoU": partial(metrics.OneHotMeanIoU, CLASSES),
    "SensitivityAtSpecificity": partial(metrics.SensitivityAtSpecificity, 0.5),
    "TopKCategoricalAccuracy": partial(metrics.TopKCategoricalAccuracy, 2),
    "CosineSimilarity": partial(metrics.CosineSimilarity),
    "MeanIoU": partial(metrics.MeanIoU, CLASSES, sparse_y_true=False, sparse_y_pred=False),
}


def with_metric(make: Callable[[], Any]) -> Path:
    def compiled() -> Any:
        model = mlp()
        model.compile("sgd", ONE_HOT, metrics=[make()], jit_compile=False)
        return model

    return Path(compiled, NUMBERS, ROW)


PATHS: dict[str, Path] = {
    **{f"suite: {name}": of_suite(name) for name, each in WORKLOADS.items() if each.mode == "fit"},
    **{f"optimizer {name}": trained(optimizer=name) for name in OWN},
    **{f"torch {name}": trained(optimizer=(getattr(torch.optim, name), {"lr": 0.01})) for name in OF_TORCH},
    **{f"loss {name}": trained(name) for name in LOSSES},
    **{f"metric {name}": with_metric(make) for name, make in METRICS.items()},
    "loss of torch": trained(nn.CrossEntropyLoss(), network=partial(mlp, "linear")),
    "loss object": trained(losses.CategoricalCrossentropy(label_smoothing=0.1)),
    "metric AUC, deterministic": changed(with_metric(partial(metrics.AUC, multi_label=True)), deterministic=True),
    "metric of a Python number": with_metric(Average),
    "metrics by name": trained(metrics=["accuracy", "sparse_top_k_categorical_accuracy"]),
    "clipnorm": trained(optimizer=partial(optimizers.Adam, clipnorm=1.0)),
    "global_clipnorm": trained(optimizer=partial(optimizers.Adam, global_clipnorm=1.0)),
    "clipvalue": trained(optimizer=partial(optimizers.Adam, clipvalue=1.0)),
    "torch Adam, clipnorm": trained(optimizer=(torch.optim.Adam, {"lr": 0.01, "clipnorm": 1.0})),
    "accumulation": trained(optimizer=partial(optimizers.Adam, gradient_accumulation_steps=2)),
    "averages": trained(optimizer=partial(optimizers.Adam, use_ema=True)),
    "weight decay": trained(optimizer=partial(optimizers.SGD, weight_decay=0.1)),
    "schedule": trained(optimizer=partial(lambda: optimizers.Adam(schedules.CosineDecay(0.1, 100)))),
    **{f"on_nonfinite {what}": trained(on_nonfinite=what) for what in ("stop", "skip", "raise")},
    "on_nonfinite stop, torch NAdam": trained(optimizer=(torch.optim.NAdam, {"lr": 0.01}), on_nonfinite="stop"),
    "sample weights": changed(trained(), fit={"sample_weight": RANDOM.random(LONG * SIZE).astype("float32")}),
    "class weights": changed(trained(), fit={"class_weight": {0: 1.0, 1: 2.0, 2: 3.0}}),
    "batches sent ahead": changed(trained(), free=0),
    "in order": changed(trained(), fit={"shuffle": False}),
    **{
        f"{policy} {optimizer}": trained(optimizer=optimizer, network=partial(mlp, dtype=policy))
        for policy in ("mixed_float16", "mixed_bfloat16", "bfloat16")
        for optimizer in ("adam", "rmsprop")
    },
    "penalties": trained(
        network=partial(mlp, kernel_regularizer="l2", kernel_constraint="max_norm", activity_regularizer="l1")
    ),
    "attention": changed(trained(network=attention), x=SEQUENCES),
    "masked LSTM": stacked(layers.Masking, partial(layers.LSTM, 3)),
    "masked LSTM, each step": stacked(layers.Masking, whole, y=SEQUENCE_TARGETS),
    "LSTM of tokens": stacked(
        partial(layers.Embedding, 9, 4, mask_zero=True), whole, x=TOKENS, y=SEQUENCE_TARGETS
    ),
    "masked Bidirectional": stacked(layers.Masking, lambda: layers.Bidirectional(layers.GRU(3)), Dense),
    "LSTM, dropout": stacked(partial(layers.LSTM, 3, dropout=0.2, recurrent_dropout=0.2)),
    "masked mean": stacked(layers.Masking, layers.GlobalAveragePooling1D, Dense),
    "noise": stacked(
        *(partial(layers.GaussianNoise, 0.1), partial(layers.GaussianDropout, 0.1), partial(layers.AlphaDropout, 0.1)),
        *(partial(layers.SpatialDropout1D, 0.1), partial(layers.Dropout, 0.3, seed=1), layers.Flatten, Dense),
    ),
    "images": stacked(
        *(partial(layers.RandomFlip, seed=1), partial(layers.RandomRotation, 0.2), partial(layers.RandomZoom, 0.2)),
        *(partial(layers.RandomContrast, 0.2), partial(layers.Conv2D, 4, 3), layers.BatchNormalization),
        *(layers.GlobalMaxPooling2D, Dense),
        x=IMAGES,
    ),
}  # fmt: skip


# --- faults made by hand, which must be found ------------------------------------------------------------------------


class Faulty(layers.Layer):
    def __init__(self, fault: Callable[[torch.Tensor], torch.Tensor]):
        super().__init__()
        self.fault = fault

    def call(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.fault(inputs)


def with_fault(fault: Callable[[torch.Tensor], torch.Tensor]) -> Path:
    return trained(network=lambda: Sequential([Input((FEATURES,)), Faulty(fault), layers.Dense(CLASSES, "softmax")]))


FAULTS = {
    "not deterministic": changed(with_fault(lambda x: x + x.detach().cumsum(-1)), deterministic=True),
    "zeros without a device": with_fault(lambda x: x + torch.zeros(FEATURES, device="cpu")),
    "a generator of the CPU": with_fault(
        lambda x: x if x.is_meta else x + torch.empty_like(x).uniform_(generator=Generator("cpu"))
    ),
    "item": with_fault(lambda x: x if x.is_meta else x * max(x.detach().max().item(), 1.0)),
    "a condition": with_fault(lambda x: x if x.is_meta or x.detach().max() > 0 else -x),
    "a boolean index": with_fault(lambda x: x if x.is_meta else x + x.detach()[x > 0].mean()),
    "a number sent": with_fault(lambda x: x * torch.tensor(2.0, device=x.device)),
    "numbers fetched": with_fault(lambda x: x if x.is_meta else x + x.detach().cpu().mean()),
}


# --- what a step asks ------------------------------------------------------------------------------------------------


def asked(device: Device, run: Callable[[Any, int], Any], model: Any) -> dict[str, dict[str, float]]:
    """What a step asks: the difference between a long and a short run, for each batch. A first run builds all."""
    found: list[list[Counter[str]]] = []
    run(model, SHORT)
    for batches in (SHORT, LONG):
        device.counts.clear()
        run(model, batches)
        found.append([Counter(device.counts.transfers), Counter(device.counts.waits)])
    more = [long - short for short, long in zip(*found, strict=True)]
    return {
        name: {place: count / (LONG - SHORT) for place, count in each.items()}
        for name, each in zip(("transfers", "waits"), more, strict=True)
    }


def cut(value: Any, samples: int) -> Any:
    if isinstance(value, list):
        return [each[:samples] for each in value]
    return value[:samples] if isinstance(value, np.ndarray) else value


def of_path(path: Path) -> dict[str, Any]:
    """What a step of `fit`, of `evaluate` and of `predict` asks; `error` for what a device would have refused."""

    def fit(model: Any, batches: int) -> None:
        n = batches * path.size
        options = {name: cut(each, n) for name, each in path.fit.items()}
        model.fit(cut(path.x, n), path.y[:n], batch_size=path.size, epochs=1, verbose=0, **options)

    def evaluate(model: Any, batches: int) -> None:
        n = batches * path.size
        model.evaluate(cut(path.x, n), path.y[:n], batch_size=path.size, verbose=0)

    def predict(model: Any, batches: int) -> None:
        model.predict(cut(path.x, batches * path.size), batch_size=path.size, verbose=0)

    with cuda(path.free) as device:
        torchkeras.clear_session()
        torch.manual_seed(0)
        torch.use_deterministic_algorithms(path.deterministic)
        model = path.make()
        assert all(weight.is_cuda for weight in (*model.parameters(), *model.buffers()))
        found = {run.__name__: asked(device, run, model) for run in (fit, evaluate, predict)}
        x, y = cut(path.x, path.size), path.y[: path.size]
        for on_batch in (model.train_on_batch, model.test_on_batch):  # their numbers are joined
            on_batch(x, y)
        model.predict_on_batch(x)
        return found


def of_layer(row: Row) -> dict[str, Any]:
    """What a call of a layer asks, and its gradients, in training and not."""
    found = {}
    with cuda() as device:
        torchkeras.clear_session()
        torch.manual_seed(0)
        layer, given = row.make(), row.tensors()
        given = [each.to("cuda") for each in as_list(given)]
        inputs = given if len(given) > 1 else given[0]
        layer(inputs)
        assert all(weight.is_cuda for weight in (*layer.parameters(), *layer.buffers()))
        for training in (True, False):
            layer.train(training)
            device.counts.clear()
            outputs = [each for each in as_list(layer(inputs)) if isinstance(each, torch.Tensor)]
            assert all(output.is_cuda for output in outputs)
            for output in outputs:
                if output.requires_grad:
                    output.sum().backward(retain_graph=True)
            counts = device.counts
            found[f"training={training}"] = {"transfers": dict(counts.transfers), "waits": dict(counts.waits)}
    return found


def of_unknown_token(way: str) -> dict[str, Any]:
    """The error for a number that an Embedding has no vector for, in data of the host."""
    x, y = np.full((SIZE, TIME), 9), CHOSEN[:SIZE]
    loader = torch.utils.data.DataLoader(list(zip(torch.from_numpy(x), torch.from_numpy(y), strict=True)), SIZE)
    ways: dict[str, Callable[[Any], Any]] = {
        "fit": lambda model: model.fit(x, y, verbose=0),
        "evaluate": lambda model: model.evaluate(x, y, verbose=0),
        "predict": lambda model: model.predict(x, verbose=0),
        "train_on_batch": lambda model: model.train_on_batch(x, y),
        "predict_on_batch": lambda model: model.predict_on_batch(x),
        "fit, a loader": lambda model: model.fit(loader, verbose=0),
        "fit, a generator": lambda model: model.fit(iter([(x, y)]), steps_per_epoch=1, verbose=0),
    }
    if way == "all":
        return {each: caught(of_unknown_token, each) for each in ways}
    with cuda():
        torchkeras.clear_session()
        model = Sequential([Input((TIME,), dtype="int64"), layers.Embedding(9, 4), layers.Flatten(), Dense()])
        model.compile("sgd", "mse", jit_compile=False)
        ways[way](model)
    return {}


def caught(measure: Callable[[Any], dict[str, Any]], of: Any) -> dict[str, Any]:
    try:
        return measure(of)
    except Exception as error:  # noqa: BLE001 - each is a finding, which the tests compare
        return {"error": f"{type(error).__name__}: {error}".partition("\n")[0]}


def main() -> None:
    install(LIBRARY)
    torch.__future__.set_overwrite_module_params_on_conversion(True)  # `data` of a tensor takes no other class
    nonfinite.LOOK_EVERY = float("inf")  # seconds; what the clock decides is no part of a step
    warnings.simplefilter("ignore")
    chosen = sys.argv[2:]
    called = [row for row in ROWS if row.differs != STRINGS and "cell" not in str(row.differs.get("shapes", ""))]
    found = {
        "paths": {name: caught(of_path, path) for name, path in PATHS.items() if not chosen or name in chosen},
        "faults": {name: caught(of_path, path) for name, path in FAULTS.items() if not chosen or name in chosen},
        "layers": {
            f"{row.call}-{row.inputs}": caught(of_layer, row) for row in called if not chosen or row.name in chosen
        },
    }
    if not chosen:
        found["unknown tokens"] = of_unknown_token("all")
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()

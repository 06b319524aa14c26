"""No option of `compile` and no metric waits for the device in a step, or brings a number to it; all compile."""

import copy
import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from operations import FROM_THE_HOST, WAITS, counted, data_of, evaluates_in_one_graph
from torch import nn

from torchkeras import Input, Model, losses as loss_classes, metrics, registry
from torchkeras.base.naming import clear_session
from torchkeras.engine.step.step import losses
from torchkeras.layers import Dense, Lambda
from torchkeras.optimizers import Adam, schedules

BITS = np.random.default_rng(1).integers(0, 2, (8, 3)).astype("float32")
LABELS = np.arange(8) % 3
TOLD = {
    "recall": 0.5,
    "precision": 0.5,
    "sensitivity": 0.5,
    "specificity": 0.5,
    "num_classes": 2,
    "target_class_ids": [0],
}


def objects_of_metrics():
    """A metric of every class that a model can take by name, with what it asks for."""
    for name in sorted(registry.metrics.classes().keys() - {"Accuracy", "Mean", "MeanMetricWrapper", "Sum"}):
        kind = getattr(metrics, name)
        asked = inspect.signature(kind).parameters.values()
        given = {each.name: TOLD[each.name] for each in asked if each.default is each.empty and each.name in TOLD}
        yield kind(**given, **({"average": "macro"} if "average" in inspect.signature(kind).parameters else {}))


def ended(loss, units=3, activation: Any = "sigmoid", target=BITS, add: Any = False, kind: Any = Model, **options: Any):
    """A model, and its data."""
    inputs = Input((4,))
    outputs = Dense(units, activation=activation)(inputs)
    model = kind(inputs, outputs)
    if add:
        model.add_loss(Lambda(lambda p: p.abs().sum(-1))(outputs))
        model.add_metric(outputs, name="mean")
    model.compile(**{"optimizer": "sgd", "loss": loss, **options})
    weights = np.linspace(0, 1, 8) if options.get("weighted_metrics") else None
    return model, (np.ones((8, 4), "float32"), target, weights)


class Written(Model):
    def train_step(self, data):
        x, y, weight = data
        loss = self.compute_loss(x, y, self(x), weight)
        self.minimize(loss, len(x))
        return {"loss": loss}


CE = nn.CrossEntropyLoss
ADAMW = (torch.optim.AdamW, {"lr": 0.1})
CASES = {
    "torch loss": lambda: ended(nn.BCELoss()),
    "torch crossentropy": lambda: ended(CE(label_smoothing=0.1), 3, None, target=LABELS, metrics=["acc"]),
    "torch loss weighted": lambda: ended(CE(reduction="none"), target=LABELS, weighted_metrics=["acc"]),
    "object": lambda: ended(loss_classes.Huber(), metrics=["AUC"]),
    "object weighted": lambda: ended(loss_classes.Huber(), weighted_metrics=["AUC"]),
    "object of classes": lambda: ended(
        loss_classes.SparseCategoricalCrossentropy(ignore_class=1), 3, "softmax", target=LABELS, metrics=["acc"]
    ),
    "adamw of torch": lambda: ended("mse", optimizer=ADAMW),
    "accumulation": lambda: ended("mse", optimizer=Adam(gradient_accumulation_steps=2)),
    "averages": lambda: ended("mse", optimizer=Adam(use_ema=True, ema_overwrite_frequency=2)),
    "clipping": lambda: ended("mse", optimizer=Adam(clipnorm=1.0, clipvalue=0.5)),
    "schedule": lambda: ended("mse", optimizer=Adam(schedules.CosineDecay(0.1, 10))),
    "rates": lambda: ended("mse", optimizer=Adam(lr_multipliers={"dense_1": 0.1})),
    "added": lambda: ended("mse", add=True, metrics=["mae"]),
    "added alone": lambda: (ended(None, add=True)[0], (np.ones((8, 4), "float32"), None, None)),
    "own step": lambda: ended("mse", kind=Written),
    "skipping what is not finite": lambda: ended("mse", on_nonfinite="skip", metrics=["AUC"]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["train", "test"])
def test_no_option_waits_or_brings_anything_from_the_host(case, kind):
    clear_session()
    model, data = CASES[case]()
    found = waits(model, data, kind)
    assert found["addmm"] > 0
    assert {name: count for name, count in found.items() if count and name in WAITS | FROM_THE_HOST} == {}


def waits(model, arrays, kind):
    data = data_of(model, *arrays)
    model._training.ready()
    step = model._training.step(kind)
    model.train(kind == "train")
    return counted(lambda: [step(batch) for batch in data.batches(4)])


@pytest.mark.parametrize("metric", list(objects_of_metrics()), ids=lambda metric: type(metric).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_metric_waits_or_brings_anything_from_the_host(metric, weighted):
    name = type(metric).__name__
    sparse = "Sparse" in name
    loss = "sparse_categorical_crossentropy" if sparse else "mse"
    units = 1 if name in ("IoU", "BinaryIoU", "MeanIoU") else 3  # which take class numbers
    metric.reset_state()
    twin = copy.deepcopy(metric)
    model, data = ended(
        *(loss, units, "sigmoid" if units == 1 else "softmax"),
        target=LABELS if sparse else BITS[:, :units],
        **{"weighted_metrics" if weighted else "metrics": [twin]},
    )
    found = waits(model, data, "train") + counted(twin.result)
    assert found["addmm"] > 0
    assert {name: count for name, count in found.items() if count and name in WAITS | FROM_THE_HOST} == {}


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")  # numbers made once
@pytest.mark.parametrize("case", [case for case in CASES if case != "own step"])
def test_every_case_compiles_as_one_graph(case):
    clear_session()
    model, arrays = CASES[case]()
    (batch,) = data_of(model, *arrays).batches(8)
    recipe, expected = evaluates_in_one_graph(model, batch)
    loss, _ = torch.compile(partial(losses, recipe), fullgraph=True, backend="eager")(batch)
    assert loss.requires_grad
    torch.testing.assert_close(loss.detach(), expected["loss"])
    torch._dynamo.reset()

"""Bad data, in each place where a model takes some."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.sparse import csr_matrix

from tests.bad_input.making import LABELS, ONE, WORDS, Case, X, Y, binary, classes, fit, model, words
from torchkeras import Input, layers, losses

with torch.inference_mode():
    INFERRED = torch.as_tensor(X) * 1
NESTED = np.empty(12, dtype=object)
NESTED[:] = [np.zeros(4)] * 12


def holding(value: Any, like: np.ndarray = X) -> np.ndarray:
    """Numbers as objects, one of them something else."""
    made = like.astype(object)
    made[0, 2] = value
    return made


# Arrays that hold no numbers; of the shape of x.
NO_NUMBERS: dict[str, Any] = {
    "text": np.full((12, 4), "a"),
    "numbers as text": X.astype(str),
    "bytes": np.full((12, 4), b"1"),
    "complex": X.astype(complex),
    "long complex": X.astype(np.clongdouble),
    "dates": np.full((12, 4), "2020-01-01", "datetime64[D]"),
    "times": np.full((12, 4), 3, "timedelta64[D]"),
    "records": np.zeros((12, 4), [("a", float)]),
    "raw bytes": np.zeros((12, 4), "V4"),
    "masked": np.ma.array(X, mask=X > 0.9),
    "None inside": holding(None),
    "text inside": holding("3"),
    "complex inside": holding(1j),
    "an array inside": holding(np.zeros(2)),
    "a list inside": holding([1, 2]),
    "NA inside": holding(pd.NA),
    "arrays": NESTED,
    "sparse tensor": torch.as_tensor(X).to_sparse(),
    "tensor on meta": torch.zeros(12, 4, device="meta"),
    "complex tensor": torch.as_tensor(X).to(torch.complex64),
    "frame of text": pd.DataFrame({name: ["x"] * 12 for name in "abcd"}),
    "frame with NA": pd.DataFrame({name: pd.array([1, None] * 6, dtype="Int64") for name in "abcd"}),
    "frame of dates": pd.DataFrame({name: pd.to_datetime(["2020-01-01"] * 12) for name in "abcd"}),
    "frame of categories": pd.DataFrame({name: pd.Categorical(["x", "y"] * 6) for name in "abcd"}),
    "a number": 3,
    "a range": range(12),
    "an object": object,
    "a symbolic tensor": Input((4,), name="symbol"),
    "ragged lists": [[[1.0, 2.0], [3.0]]],
}
GIVEN: dict[str, Any] = {
    "fit": lambda x: fit(model(), x),
    "evaluate": lambda x: model().evaluate(x, Y, verbose=0),
    "predict": lambda x: model().predict(x),
    "train_on_batch": lambda x: model().train_on_batch(x, Y),
    "validation": lambda x: fit(model(), validation_data=(x, Y)),
    "generator": lambda x: model().fit(((x, Y) for _ in range(3)), steps_per_epoch=2, verbose=0).history,
    "target": lambda x: fit(model(units=4), X, x),
    "weight": lambda x: model(units=4).layers[0].set_weights([x[:4] if hasattr(x, "iloc") else x, np.zeros(4)]),
}
REFUSED: dict[str, Case] = {
    f"{place}: {name}": lambda act=act, value=value: act(value)
    for place, act in GIVEN.items()
    for name, value in NO_NUMBERS.items()
}

WEIGHTS: dict[str, Any] = {
    "text": np.full(12, "a"), "complex": np.ones(12, complex), "masked": np.ma.array(np.ones(12), mask=ONE),
    "None inside": np.array([None, *[1.0] * 11]), "a number": 2.0, "a word": "auto", "of another length": np.ones(5),
    "an axis too many": np.ones((12, 1)), "a set": {1.0}, "dates": np.full(12, "2020-01-01", "M8[D]"),
    "an array of no axis": np.array(1.0), "an array of no samples": np.ones(0), "sparse": csr_matrix(np.ones((12, 1))),
}  # fmt: skip
REFUSED |= {f"sample_weight: {n}": lambda v=v: fit(model(), sample_weight=v) for n, v in WEIGHTS.items()}
CLASS_WEIGHTS: dict[str, Any] = {
    "a list": [1.0, 2.0, 3.0], "a word": "balanced", "keys of text": {"0": 1.0, "1": 1.0, "2": 1.0},
    "None": {0: None, 1: 1.0, 2: 1.0}, "text": {0: "a", 1: 1.0, 2: 1.0}, "nan": {0: float("nan"), 1: 1.0, 2: 1.0},
    "inf": {0: float("inf"), 1: 1.0, 2: 1.0}, "a class left out": {0: 1.0},
}  # fmt: skip
REFUSED |= {
    f"class_weight: {n}": lambda v=v: fit(classes(), X, LABELS, class_weight=v) for n, v in CLASS_WEIGHTS.items()
}
REFUSED |= {
    "class_weight: targets of several classes": lambda: fit(
        model("binary_crossentropy", "sigmoid"), X, np.eye(3)[LABELS] + np.eye(3)[0] * (LABELS > 0)[:, None],
        class_weight={0: 1.0, 1: 2.0, 2: 3.0},
    ),
    "class_weight: targets of no class": lambda: fit(model(), X, Y * 0, class_weight={0: 1.0}),
    "class_weight: numbers that are no classes": lambda: fit(model(units=1), X, X[:, 0] + ONE, class_weight={0: 1.0}),
}  # fmt: skip


def word(value: Any) -> np.ndarray:
    made = WORDS.astype("float64" if isinstance(value, float) else "int64")
    made[3, 2] = value
    return made


INDICES: dict[str, Any] = {
    "too large": 7, "the first too large": 5, "negative": -1, "beyond 32 bits": 2**40 + 1, "below 32 bits": -(2**40),
    "not a number": float("nan"), "infinite": float("inf"), "minus infinite": float("-inf"), "not whole": 1.5,
    "nearly whole": 2.0000001, "too large as float": 9.0,
}  # fmt: skip
TAKING: dict[str, Any] = {
    "fit": lambda x: fit(words(), x),
    "predict": lambda x: words().predict(x),
    "evaluate": lambda x: words().evaluate(x, Y, verbose=0),
    "train_on_batch": lambda x: words().train_on_batch(x, Y),
    "generator": lambda x: words().fit(((x, Y) for _ in range(3)), steps_per_epoch=2, verbose=0),
    "dropout": lambda x: fit(words(dropout=0.5), x),
    "tensor": lambda x: words().predict(torch.as_tensor(x)),
}
REFUSED |= {
    f"indices in {place}: {name}": lambda act=act, value=value: act(word(value))
    for place, act in TAKING.items()
    for name, value in INDICES.items()
}
REFUSED |= {
    f"indices in a call: {name}": lambda value=value: layers.Embedding(5, 3, name="words")(torch.tensor([[1, value]]))
    for name, value in INDICES.items()
    if "whole" not in name
}


def squares(true: Any, predicted: Any) -> Any:
    return ((true - predicted) ** 2).mean(-1)


TARGETS: dict[str, Case] = {
    "y of an axis too many": lambda: fit(model(units=1), X, np.ones((12, 1, 1))),
    "y of an axis too many, one loss of one's own": lambda: fit(model(squares, units=1), X, np.ones((12, 1, 1))),
    "y of an axis too many at the end": lambda: fit(model(squares), X, Y[..., None]),
    "y of an axis too many in front": lambda: fit(model(squares), X, Y[None]),
    "labels of an axis too many": lambda: fit(classes(), X, LABELS[:, None, None]),
    "y wider than the output": lambda: fit(model(), X, np.ones((12, 4))),
    "labels 0 and 255": lambda: fit(binary(), X, ONE * 255),
    "labels 0 and 255 as bytes": lambda: fit(binary(), X, (ONE * 255).astype("uint8")),
    "labels 0 and 255, a loss object": lambda: fit(binary(losses.BinaryCrossentropy()), X, ONE * 255),
    "labels 0 and 255, of logits": lambda: fit(binary(losses.BinaryCrossentropy(from_logits=True), None), X, ONE * 255),
    "labels 0 and 255, focal": lambda: fit(binary("binary_focal_crossentropy"), X, ONE * 255),
    "labels 0 and 255, torch": lambda: fit(binary(torch.nn.BCELoss()), X, ONE * 255),
    "labels 0 and 255, torch's of logits": lambda: fit(binary(torch.nn.BCEWithLogitsLoss(), None), X, ONE * 255),
    "labels 0 and 255, a function of torch": lambda: fit(
        binary(torch.nn.functional.binary_cross_entropy), X, ONE * 255
    ),
    "labels -1 and 1": lambda: fit(binary(), X, ONE * 2 - 1),
    "labels in a generator": lambda: binary().fit(((X, ONE * 255) for _ in range(2)), steps_per_epoch=2, verbose=0),
    "labels in a batch": lambda: binary().train_on_batch(X, ONE * 255),
    "labels of validation": lambda: fit(binary(), X, ONE, validation_data=(X, ONE * 255)),
    "labels not a number": lambda: fit(binary(), X, np.full(12, np.nan)),
    "classes from 1": lambda: fit(classes(), X, LABELS + 1),
    "classes below 0": lambda: fit(classes(), X, LABELS - 1),
    "classes not whole": lambda: fit(classes(), X, LABELS + 0.5),
    "text for labels": lambda: fit(classes(), X, np.array(["cat", "dog", "cow"] * 4)),
    "y of no samples": lambda: fit(model(), X, Y[:0]),
    "no samples": lambda: fit(model(), X[:0], Y[:0]),
}
REFUSED |= TARGETS

# What is taken as the same numbers in plain float32: (what is given, what it is).
SAME: dict[str, tuple[Case, Case]] = {
    f"{place}: {name}": (lambda act=act, value=value: act(value), lambda act=act: act(X))
    for place, act in GIVEN.items()
    if place != "weight"
    for name, value in {
        "objects": X.astype(object),
        "longdouble": X.astype(np.longdouble),
        "float64": X.astype(float),
        "big endian": X.astype(">f4"),
        "masked nowhere": np.ma.array(X),
        "negative strides": X[:, ::-1][:, ::-1],
        "a frame": pd.DataFrame(X),
        "a frame of Float64": pd.DataFrame(X).astype("Float64"),
        "made in inference mode": INFERRED,
    }.items()
}
MIXED = pd.DataFrame(
    {"a": [True, False], "b": [1.5, 2.0], "c": pd.array([1, 2], dtype="Int64"), "d": pd.array([3, 4], dtype="int8")}
)
PLAIN = np.array([[1, 1.5, 1, 3], [0, 2, 2, 4]], "float32")
SAME |= {
    "a frame of bool, float and Int64": (lambda: model().predict(MIXED), lambda: model().predict(PLAIN)),
    "objects of many kinds": (
        lambda: model().predict(np.array([[True, 1.5, Decimal(1), np.int8(3)], [0, Fraction(2), 2, 4.0]], object)),
        lambda: model().predict(PLAIN),
    ),
    "labels as objects": (
        lambda: fit(classes(), X, LABELS.astype(object)),
        lambda: fit(classes(), X, LABELS),
    ),
    "labels as Int64": (
        lambda: fit(classes(), X, pd.Series(LABELS, dtype="Int64")),
        lambda: fit(classes(), X, LABELS),
    ),
    "weights as objects": (
        lambda: fit(model(), sample_weight=np.ones(12).astype(object)),
        lambda: fit(model(), sample_weight=np.ones(12)),
    ),
    "weights as longdouble": (
        lambda: fit(model(), sample_weight=np.ones(12, np.longdouble)),
        lambda: fit(model(), sample_weight=np.ones(12)),
    ),
    "whole indices as floats": (lambda: words().predict(WORDS * 1.0), lambda: words().predict(WORDS)),
    "indices of 64 bits without sign": (
        lambda: words().predict(WORDS.astype("uint64")),
        lambda: words().predict(WORDS),
    ),
    "indices as objects": (lambda: words().predict(WORDS.astype(object)), lambda: words().predict(WORDS)),
}

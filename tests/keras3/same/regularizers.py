"""Regularizers and constraints: values, options, names and configs."""

import numpy as np
import torch

W = np.array([[3.0, 0.0, -1.5], [3.0, 4.0, 0.5], [0.0, 0.0, 0.0], [-1.0, 2.0, 2.0]], "float32")
KERNEL = np.linspace(-2.0, 2.0, 2 * 2 * 3 * 2, dtype="float32").reshape(2, 2, 3, 2)


def _array(keras, value):
    return keras.ops.convert_to_numpy(value)


def _penalties(keras):
    r = keras.regularizers
    return {
        "l1": r.l1(),
        "L1": r.L1(0.3),
        "L1 of None": r.L1(None),
        "l2": r.l2(),
        "L2": r.L2(l2=0.1),
        "l1_l2": r.l1_l2(),
        "L1L2": r.L1L2(l1=0.1, l2=0.2),
        "L1L2 by place": r.L1L2(0.1, 0.2),
        "L1L2 of l1": r.L1L2(l1=0.1),
        "L1L2 of None": r.L1L2(l1=None, l2=0.1),
        "whole": r.L2(1),
        "orthogonal": r.OrthogonalRegularizer(),
        "rows": r.orthogonal_regularizer(factor=0.5),
        "columns": r.OrthogonalRegularizer(0.5, mode="columns"),
    }


def case_penalties(keras):
    return {name: _array(keras, penalty(torch.from_numpy(W))) for name, penalty in _penalties(keras).items()}


def case_penalties_of_float64_and_half(keras):
    w = torch.from_numpy(W)
    found = {}
    for name in ("L1", "L2", "L1L2"):
        for kind in (torch.float64, torch.bfloat16):
            value = getattr(keras.regularizers, name)()(w.to(kind))
            found[f"{name} {kind}"] = [str(value.dtype), list(value.shape), float(value)]
    return found


def case_configs(keras):
    return {name: keras.regularizers.serialize(penalty) for name, penalty in _penalties(keras).items()}


def case_attributes(keras):
    r = keras.regularizers
    return [float(r.L1(0.25).l1), r.L2(0.25).l2, r.L1L2(0.25, 0.5).l1, r.L1L2(0.25, 0.5).l2, r.L1L2().get_config()]


def case_by_name(keras):
    r = keras.regularizers
    names = ("l1", "L1", "l2", "L2", "L1L2", "orthogonal_regularizer", "OrthogonalRegularizer")
    return {
        **{name: r.serialize(r.get(name)) for name in names},
        "class": r.serialize(r.get(r.L2)),
        "None": r.get(None),
        "config": r.serialize(r.deserialize({"class_name": "L1L2", "config": {"l1": 0.1, "l2": 0.3}})),
        "again": r.serialize(r.get(r.serialize(r.L2(0.7)))),
        "aliases": [r.l1 is r.L1, r.l2 is r.L2, r.l1_l2 is r.L1L2],
    }


def case_refused(keras):
    r = keras.regularizers
    attempts = {
        "negative": lambda: r.L2(-1),
        "nan": lambda: r.L1(float("nan")),
        "infinite": lambda: r.L1L2(l2=float("inf")),
        "text": lambda: r.L2("a"),
        "mode": lambda: r.OrthogonalRegularizer(mode="sides"),
        "name": lambda: r.get("nope"),
        "l1_l2 as a text": lambda: r.get("l1_l2"),
        "no matrix": lambda: r.OrthogonalRegularizer()(torch.ones(2, 3, 4)),
    }
    found = {}
    for name, attempt in attempts.items():
        try:
            attempt()
        except ValueError:
            found[name] = "ValueError"
    return found


def case_of_the_users(keras):
    class Strength(keras.regularizers.Regularizer):
        def __init__(self, strength=0.5):
            self.strength = strength

        def __call__(self, x):
            return self.strength * keras.ops.sum(keras.ops.square(x))

        def get_config(self):
            return {"strength": self.strength}

    def by_hand(x):
        return 2.0 * keras.ops.sum(keras.ops.absolute(x))

    r = keras.regularizers
    made = Strength(0.25)
    again = r.deserialize(r.serialize(made), custom_objects={"Strength": Strength})
    return {
        "value": _array(keras, made(torch.from_numpy(W))),
        "config": r.serialize(made),
        "again": [again.strength, type(again).__name__, isinstance(again, r.Regularizer)],
        "from config": Strength.from_config({"strength": 3}).strength,
        "function": [r.get(by_hand) is by_hand, _array(keras, by_hand(torch.from_numpy(W)))],
        "function's config": r.serialize(by_hand),
        "isinstance": isinstance(r.L2(), r.Regularizer),
    }


# --- constraints -----------------------------------------------------------------------------------------------------


def _constraints(keras):
    c = keras.constraints
    return {
        "max_norm": c.max_norm(),
        "MaxNorm": c.MaxNorm(1.0),
        "MaxNorm of rows": c.MaxNorm(max_value=1.0, axis=1),
        "non_neg": c.non_neg(),
        "NonNeg": c.NonNeg(),
        "unit_norm": c.unit_norm(),
        "UnitNorm of rows": c.UnitNorm(axis=1),
        "min_max_norm": c.min_max_norm(),
        "MinMaxNorm": c.MinMaxNorm(0.5, 2.0, 0.5),
        "MinMaxNorm of rows": c.MinMaxNorm(min_value=2.0, max_value=3.0, rate=1.0, axis=1),
    }


def case_constraints(keras):
    found = {name: constraint(torch.from_numpy(W)) for name, constraint in _constraints(keras).items()}
    found["array"] = keras.constraints.MaxNorm(1.0)(W)
    for name in ("MaxNorm", "UnitNorm", "MinMaxNorm"):
        found[f"{name} of a kernel"] = getattr(keras.constraints, name)(axis=[0, 1, 2])(torch.from_numpy(KERNEL))
    return {name: _array(keras, value) for name, value in found.items()}


def case_configs_of_constraints(keras):
    return {name: keras.constraints.serialize(constraint) for name, constraint in _constraints(keras).items()}


def case_constraints_by_name(keras):
    c = keras.constraints
    names = ("MaxNorm", "max_norm", "NonNeg", "non_neg", "UnitNorm", "unit_norm", "MinMaxNorm", "min_max_norm")
    made = c.MaxNorm.from_config({"max_value": 3, "axis": 1})
    return {
        **{name: c.serialize(c.get(name)) for name in names},
        "class": c.serialize(c.get(c.NonNeg)),
        "None": c.get(None),
        "config": c.serialize(c.deserialize({"class_name": "UnitNorm", "config": {"axis": 1}})),
        "attributes": [made.max_value, made.axis],
    }


def case_constraints_of_the_users(keras):
    class Rounded(keras.constraints.Constraint):
        def __call__(self, w):
            return keras.ops.round(w)

    c = keras.constraints
    return {
        "value": _array(keras, Rounded()(torch.from_numpy(KERNEL))),
        "config": c.serialize(Rounded()),
        "again": type(c.deserialize(c.serialize(Rounded()), custom_objects={"Rounded": Rounded})).__name__,
        "isinstance": isinstance(c.NonNeg(), c.Constraint),
        "base": [_array(keras, c.Constraint()(torch.from_numpy(W))), c.Constraint().get_config()],
    }

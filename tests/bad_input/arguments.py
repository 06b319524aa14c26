"""Bad arguments of functions about models, files and arrays: each is refused when the function is called."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import torch

from tests.bad_input.making import Case, X, Y, model
from tests.bad_input.objects import FLAGS, PATHS, THING, shown
from torchkeras import Input, Sequential, backend, models, utils

NAN = math.nan
OBJECTS = ("a", 3, [3], {3: print}, THING)
MODELS = (None, "a", 3, THING, Sequential)
TEXTS = (None, 3, NAN, ["{}"], THING)
LOADED = dict.fromkeys(("report", "isolated", "strict"), FLAGS)
SHOWN = dict.fromkeys(
    ("show_shapes", "show_layer_names", "expand_nested", "show_dtype", "show_layer_activations", "show_trainable"),
    FLAGS,
)


def saved(**given: Any) -> Any:
    return models.save_model(**{"model": model(), "filepath": "model.h5", **given})


def loaded(**given: Any) -> Any:
    model().save("model.h5")
    return models.load_model(**{"filepath": "model.h5", **given})


def weights(**given: Any) -> Any:
    made = model()
    made.save_weights("weights.h5")
    return made.load_weights(**{"filepath": "weights.h5", **given})


def matrix(**given: Any) -> Any:
    with h5py.File("data.h5", "w") as file:
        file["x"] = np.ones((4, 2))
    return utils.HDF5Matrix(**{"datapath": "data.h5", "dataset": "x", **given})


def from_json(**given: Any) -> Any:
    return models.model_from_json(**{"json_string": model().to_json(), **given})


def from_yaml(**given: Any) -> Any:
    return models.model_from_yaml(**{"yaml_string": "{}", **given})


def from_config(**given: Any) -> Any:
    return models.model_from_config({"class_name": "Sequential", "config": model().get_config()}, **given)


# What is called, by the name that its errors begin with; arguments, and bad values of each.
TABLE: list[tuple[str, Callable[..., Any], dict[str, tuple[Any, ...]]]] = [
    ("save_model", saved, {"model": MODELS}),
    ("save", lambda **given: model().save(**{"filepath": "model.h5", **given}), {
        "filepath": (*PATHS, b"model.h5"), "overwrite": FLAGS, "include_optimizer": FLAGS,
    }),
    ("save_weights", lambda **given: model().save_weights(**{"filepath": "model.h5", **given}), {
        "filepath": (*PATHS, b"model.h5"), "overwrite": FLAGS,
    }),
    ("load_model", loaded, {
        "filepath": (*PATHS, b"model.h5"), "custom_objects": OBJECTS, "compile": FLAGS, **LOADED,
        "original_backend": ("keras", 3), "original_data_format": ("NHWC", 3), "lambdas": ("run", None, 3),
    }),
    ("load_weights", weights, {
        "filepath": (*PATHS, b"model.h5"), **dict.fromkeys(("by_name", "skip_mismatch", "reshape"), FLAGS), **LOADED,
    }),
    ("model_from_json", from_json, {"json_string": TEXTS, "custom_objects": OBJECTS}),
    ("model_from_yaml", from_yaml, {"yaml_string": TEXTS, "custom_objects": OBJECTS}),
    ("model_from_config", from_config, {"custom_objects": OBJECTS}),
    ("clone_model", lambda **given: models.clone_model(**{"model": model(), **given}), {
        "model": MODELS, "input_tensors": ("a", 3, [3], THING, [Input((4,), name="first"), Input((4,), name="second")]),
    }),
    ("summary", lambda **given: model().summary(**given), {
        "line_length": ("a", NAN, 2.5, 0), "positions": ("a", 3, ["a", "b", "c"], [0.5]), "print_fn": ("a", 3, THING),
        "show_trainable": FLAGS, "expand_nested": FLAGS, "flops": ("a", None, -1, 2.5),
        "layer_range": ("a", 3, ["out"]),
    }),
    ("train_on_batch", lambda **given: model().train_on_batch(X, Y, **given), {
        "return_dict": FLAGS, "reset_metrics": FLAGS,
    }),
    ("test_on_batch", lambda **given: model().test_on_batch(X, Y, **given), {
        "return_dict": FLAGS, "reset_metrics": FLAGS,
    }),
    ("evaluate", lambda **given: model().evaluate(X, Y, verbose=0, **given), {"return_dict": FLAGS}),
    ("predict", lambda **given: model().predict(X, verbose=0, **given), {"gather": FLAGS}),
    ("eject", lambda **given: model().eject("ejected", **given), {"overwrite": FLAGS}),
    ("random_normal", lambda **given: backend.random_normal((2,), **given), {
        "mean": ("a", None, THING), "stddev": ("a", None, THING),
    }),
    ("random_uniform", lambda **given: backend.random_uniform((2,), **given), {
        "minval": ("a", None, THING), "maxval": ("a", None, THING),
    }),
    ("truncated_normal", lambda **given: backend.truncated_normal((2,), **given), {"mean": ("a", None, THING)}),
    ("random_binomial", lambda **given: backend.random_binomial((2,), **given), {"p": ("a", None, THING)}),
    ("dropout", lambda **given: backend.dropout(torch.ones(2), **{"level": 0.5, **given}), {
        "level": ("a", None, 1.0, -0.1, NAN, THING),
    }),
    ("keras.backend", lambda **given: backend.random_uniform((2,), **given), {"seed": ("a", 1.5, NAN, THING)}),
    ("get_layer", lambda **given: model().get_layer(**given), {
        "name": ("other", 3), "index": ("a", NAN, 1.5, 3, THING),
    }),
    ("model_to_dot", lambda **given: utils.model_to_dot(**{"model": model(), **given}), {
        "model": MODELS, **SHOWN, "rankdir": ("up", None, 3), "dpi": ("a", None, 0, NAN, True),
    }),
    ("model_to_svg", lambda **given: utils.model_to_svg(**{"model": model(), **given}), {
        "model": MODELS, **SHOWN, "rankdir": ("up", None, 3), "dpi": ("a", None, 0, NAN, True),
    }),
    ("plot_model", lambda **given: utils.plot_model(**{"model": model(), "to_file": "model.dot", **given}), {
        "model": MODELS, "to_file": (3, THING, "model.doc"), **SHOWN, "rankdir": ("up", None), "dpi": ("a", None, 0),
    }),
    ("text_graph", lambda **given: utils.text_graph(**{"model": model(), **given}), {"model": MODELS, **SHOWN}),
    ("plot_history", lambda **given: utils.plot_history(**{"history": {"loss": [1.0]}, **given}), {
        "history": (None, "a", 3, {}, {"loss": 3}), "metrics": ("acc", 3, [3], THING), "to_file": (3, THING),
    }),
    ("to_categorical", lambda **given: utils.to_categorical(**{"y": [0, 2], **given}), {
        "y": ("a", None, THING, [0.5], [-1], [None]), "num_classes": ("a", NAN, 2.5, -1, 2), "dtype": ("a", 3, THING),
    }),
    ("normalize", lambda **given: utils.normalize(**{"x": [[3.0, 4.0]], **given}), {
        "x": ("a", None, THING), "axis": ("a", None, 1.5), "order": ("fro", NAN, THING),
    }),
    ("spatial_2d_padding", lambda **given: backend.spatial_2d_padding(np.ones((1, 2, 2, 1)), **given), {
        "data_format": ("NHWC", 3, THING),
    }),
    ("set_random_seed", utils.set_random_seed, {"seed": ("a", None, 1.5, -1, 2**32, NAN, True)}),
    ("HDF5Matrix", matrix, {
        "datapath": PATHS, "dataset": (3, None, THING), "start": ("a", None, 1.5, -1, 4), "end": ("a", 1.5, 0, 5),
        "normalizer": ("a", 3),
    }),
]  # fmt: skip

REFUSED: dict[str, Case] = {
    f"{name}: {argument}={shown(value)}": lambda f=function, g={argument: value}: f"taken: {f(**g)!r}"
    for name, function, arguments in TABLE
    for argument, values in arguments.items()
    for value in values
}

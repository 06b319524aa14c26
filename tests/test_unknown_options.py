"""A misspelled option of a public function is an error that names the function, the nearest option and all of them."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import torchkeras
from torchkeras import Model, Sequential, metrics, models, visualization
from torchkeras.models import load_model

METHODS = [
    *("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch", "summary"),
    *("save", "save_weights", "load_weights", "export", "eject", "freeze_for_inference", "get_layer"),
    *("add_loss", "add_metric"),
]
FUNCTIONS = [
    *(getattr(models, name) for name in models.__all__ if inspect.isfunction(getattr(models, name))),
    *(visualization.model_to_dot, visualization.model_to_svg, visualization.plot_history, visualization.plot_model),
    *(visualization.text_graph, torchkeras.Input, torchkeras.serve),
]


@pytest.mark.parametrize(
    "function", [*(getattr(Model, name) for name in METHODS), *FUNCTIONS], ids=lambda f: f.__name__
)
def test_an_option_that_nothing_is_near(function: Callable[..., Any]):
    takes = [name for name in inspect.signature(function).parameters if name != "self"]
    with pytest.raises(TypeError) as error:
        function(zebra=1)
    assert str(error.value) == f"{function.__name__}: unknown option 'zebra'. Its options are {', '.join(takes)}."


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            lambda: load_model("m.h5", custom_object={}),
            "load_model: unknown option 'custom_object'. Did you mean 'custom",
        ),
        (lambda: Sequential(layer=[]), "Sequential: unknown option 'layer'. Did you mean 'layers'? "),  # type: ignore[call-arg]
        (lambda: metrics.AUC(num_threshold=3), "AUC: unknown option 'num_threshold'. Did you mean 'num_thresholds'? "),  # type: ignore[call-arg]
    ],
)
def test_the_nearest_is_named(made: Callable[[], Any], text: str):
    with pytest.raises(TypeError) as error:
        made()
    assert str(error.value).startswith(text)

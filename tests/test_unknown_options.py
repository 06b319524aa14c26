"""A misspelled option is an error that names the function or class, the nearest option and all of them."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import torchkeras
from torchkeras import (
    Model,
    Sequential,
    constraints,
    distribution,
    losses,
    metrics,
    models,
    optimizers,
    regularizers,
    sklearn,
    visualization,
)
from torchkeras.optimizers import schedules

# Other functions have Python's own error, and so do initializers: they are called in each step or for each layer, or
# warnings from inside them find the user's line by the number of calls to it.
FUNCTIONS = [
    *(Model.fit, Model.evaluate, Model.summary, Model.freeze_for_inference, Model.get_layer),
    *(Model.export, Model.eject, torchkeras.serve, models.clone_model, distribution.initialize),
    *(visualization.model_to_dot, visualization.model_to_svg, visualization.plot_history, visualization.plot_model),
    *(visualization.text_graph, torchkeras.Input),
]
TAKE_ANY = (losses.LossFunctionWrapper, metrics.MeanMetricWrapper)  # further options are the function's
CLASSES = {
    f"{found.__module__}.{found.__name__}": found
    for module in (constraints, losses, metrics, optimizers, regularizers, schedules, sklearn)
    for found in map(vars(module).get, module.__all__)
    if inspect.isclass(found) and found not in TAKE_ANY and inspect.signature(found).parameters
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_option_that_nothing_is_near(function: Callable[..., Any]):
    takes = [name for name in inspect.signature(function).parameters if name != "self"]
    with pytest.raises(TypeError) as error:
        function(zebra=1)
    assert str(error.value) == f"{function.__name__}: unknown option 'zebra'. Its options are {', '.join(takes)}."


@pytest.mark.parametrize("place", sorted(CLASSES))
def test_a_class(place: str):
    cls = CLASSES[place]
    takes = list(inspect.signature(cls).parameters)
    with pytest.raises(TypeError) as error:
        cls(**{f"{takes[-1]}x": 1})
    text = f"{cls.__name__}: unknown option '{takes[-1]}x'. Did you mean {takes[-1]!r}? Its options are "
    assert str(error.value) == f"{text}{', '.join(takes)}."


def test_the_signature_of_an_object_is_that_of_its_call():
    assert list(inspect.signature(regularizers.L1L2).parameters) == ["l1", "l2"]
    assert list(inspect.signature(regularizers.L1L2()).parameters) == ["x"]


def test_the_nearest_is_named():
    with pytest.raises(TypeError) as error:
        Sequential(layer=[])  # type: ignore[call-arg]
    assert str(error.value).startswith("Sequential: unknown option 'layer'. Did you mean 'layers'? ")

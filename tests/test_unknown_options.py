"""A misspelled option of a public function is an error that names the function, the nearest option and all of them."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import torchkeras
from torchkeras import Model, Sequential, models, visualization

# Others have Python's own error: their warnings point at the user's line by the number of calls to it, and `predict` of
# one sample would take longer.
FUNCTIONS = [
    *(Model.fit, Model.evaluate, Model.summary, Model.freeze_for_inference, Model.get_layer),
    *(torchkeras.serve, models.clone_model),
    *(visualization.model_to_dot, visualization.model_to_svg, visualization.plot_history, visualization.plot_model),
    visualization.text_graph,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_option_that_nothing_is_near(function: Callable[..., Any]):
    takes = [name for name in inspect.signature(function).parameters if name != "self"]
    with pytest.raises(TypeError) as error:
        function(zebra=1)
    assert str(error.value) == f"{function.__name__}: unknown option 'zebra'. Its options are {', '.join(takes)}."


def test_the_nearest_is_named():
    with pytest.raises(TypeError) as error:
        Sequential(layer=[])  # type: ignore[call-arg]
    assert str(error.value).startswith("Sequential: unknown option 'layer'. Did you mean 'layers'? ")

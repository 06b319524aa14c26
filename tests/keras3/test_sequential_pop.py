"""`Sequential.pop` of Keras 3 returns the layer that it takes away."""

import numpy as np
import pytest

import torchkeras.keras3 as keras


@pytest.mark.parametrize("rebuild", [True, False])
def test_pop_returns_the_layer_and_the_model_ends_before_it(rebuild: bool) -> None:
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(2, name="first"), keras.layers.Dense(1, name="last")]
    )
    last = model.layers[-1]
    assert model.pop(rebuild=rebuild) is last
    assert [layer.name for layer in model.layers] == ["first"]
    assert model.output_shape == (None, 2)
    assert tuple(model(np.ones((4, 3), "float32")).shape) == (4, 2)


def test_pop_returns_the_layer_of_a_model_without_input() -> None:
    model = keras.Sequential([keras.layers.Dense(2)])
    layer = model.layers[0]
    assert model.pop() is layer
    assert model.layers == []


def test_pop_refuses_an_empty_model() -> None:
    with pytest.raises(TypeError, match=r"^There are no layers in the model\.$"):
        keras.Sequential().pop()

"""What classes of layers say of themselves: joined from their bases, and of a `forward` only for that `forward`."""

import pytest
import torch

from torchkeras.activations import softmax
from torchkeras.engine.facts import OF_FORWARD, Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.layers import BatchNormalization, Conv2D, Dense


class Quiet(Dense):
    """A Dense with a further method, and nothing else."""

    def note(self):
        return self.name


class ByForward(Dense):
    def forward(self, inputs):
        return super().forward(inputs) + 1


class ByCall(Dense):
    def call(self, inputs):
        return super().call(inputs) + 1


def said(layer):
    return {name for name in OF_FORWARD if layer._facts.says(name)}


def test_a_derived_class_says_what_its_base_says():
    assert said(Quiet(2)) == said(Dense(2)) == {"ends_in", "product", "shape_from", "hook_free", "logits"}


@pytest.mark.parametrize("kind", [ByForward, ByCall])
def test_what_is_said_of_a_forward_does_not_hold_for_another(kind):
    layer = kind(2, activation="softmax")
    assert layer.activation is softmax
    assert said(layer) == set()
    assert layer._facts.ends_in is None
    assert layer._facts.in_place() is None
    assert layer._facts.hook_free() == layer.forward
    assert layer._facts.min_input_ndim == 2  # which is said of the layer


def test_a_class_adds_to_what_its_bases_say():
    class Normal(BatchNormalization):
        class _Facts(Facts):
            walks = True

    facts = Normal()._facts
    assert facts.walks
    assert facts.keeps_shape
    assert facts.min_input_ndim == 2
    assert not BatchNormalization()._facts.walks


def test_a_property_may_ask_the_base():
    assert Conv2D(2, 3)._facts.layout is Layout.CHANNELS_FIRST
    assert BatchNormalization(mode=1)._facts.layout is Layout.KERAS
    layer = BatchNormalization()
    layer.build((None, 4, 4, 3))
    assert layer._facts.layout is Layout.CHANNELS_FIRST


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda facts: facts.logits(torch.ones(1)), "Layer 'plain' ends in no activation of its own."),
        (lambda facts: facts.shape_from((None, 1)), "Layer 'plain' says no shape of its outputs."),
    ],
)
def test_what_is_not_said_cannot_be_asked(ask, text):
    with pytest.raises(NotImplementedError) as error:
        ask(Layer(name="plain")._facts)
    assert str(error.value) == text

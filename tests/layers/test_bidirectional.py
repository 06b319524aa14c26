"""Bidirectional: both directions are those of two layers, by one kernel or by two, with masks, states and constants."""

import re

import numpy as np
import pytest
import torch

from torchkeras.layers import (
    GRU,
    LSTM,
    RNN,
    Bidirectional,
    ConvLSTM2D,
    Dense,
    Input,
    LSTMCell,
    SimpleRNN,
    TimeDistributed,
)
from torchkeras.models import Model, load_model

X = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 1, 0]], dtype=torch.bool)
LAYERS = {
    "lstm": lambda **options: LSTM(3, recurrent_activation="sigmoid", **options),
    "gru": lambda **options: GRU(3, recurrent_activation="sigmoid", reset_after=True, **options),
    "rnn": lambda **options: SimpleRNN(3, **options),
    "loop": lambda **options: LSTM(3, **options),
    "cell": lambda **options: RNN(LSTMCell(3), **options),
}


def apart(layer, inputs=X, **arguments):
    """Outputs and states of both directions, each by its own layer, the backward output in the order of time."""
    found = []
    for each in (layer.forward_layer, layer.backward_layer):
        output, *states = each(inputs, **arguments) if each.return_state else [each(inputs, **arguments)]
        found.append((output, states))
    (forward, first), (backward, second) = found
    return forward, backward.flip(1) if layer.return_sequences else backward, [*first, *second]


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("return_sequences", [False, True])
@pytest.mark.parametrize("merge_mode", ["concat", "sum", "mul", "ave", None])
def test_merges_what_the_two_layers_give(kind, return_sequences, merge_mode):
    layer = Bidirectional(LAYERS[kind](return_sequences=return_sequences, return_state=True), merge_mode)
    found = layer(X)
    assert layer.path() == ("together" if kind in ("lstm", "rnn") else "apart")
    if kind == "gru":  # torch's kernel gives no gradients as fast
        with torch.no_grad():
            assert layer.path() == "together"
            torch.testing.assert_close(layer(X), found)
    forward, backward, states = apart(layer)
    merged = {
        "concat": lambda: [torch.cat([forward, backward], -1)],
        "sum": lambda: [forward + backward],
        "mul": lambda: [forward * backward],
        "ave": lambda: [(forward + backward) / 2],
        None: lambda: [forward, backward],
    }[merge_mode]()
    torch.testing.assert_close(list(found), [*merged, *states])
    assert [tuple(t.shape[1:]) for t in found] == [s[1:] for s in layer.compute_output_shape((None, 5, 4))]


@pytest.mark.parametrize("kind", LAYERS)
def test_masks(kind):
    layer = Bidirectional(LAYERS[kind](return_sequences=True))
    layer(X)
    assert layer.path(masked=True) == "apart"
    forward, backward, _ = apart(layer, mask=MASK)
    torch.testing.assert_close(layer(X, mask=MASK), torch.cat([forward, backward], -1))
    assert layer.compute_mask(X, MASK) is MASK
    assert Bidirectional(LSTM(3)).compute_mask(X, MASK) is None
    assert Bidirectional(LSTM(3, return_sequences=True), None).compute_mask(X, MASK) == [MASK, MASK]


@pytest.mark.parametrize("kind", LAYERS)
def test_one_kernel_has_the_gradients_of_two(kind, monkeypatch):
    layer = Bidirectional(LAYERS[kind](return_sequences=True)).train()
    layer(X)
    gradients = []
    for path in ("together" if layer.path() == "together" else "apart", "apart"):
        monkeypatch.setattr(Bidirectional, "path", lambda *_, path=path: path)
        inputs = X.clone().requires_grad_()
        weights = [t for v in layer.weights for t in v.tensors]
        gradients.append(torch.autograd.grad(layer(inputs).square().sum(), [inputs, *weights]))
    torch.testing.assert_close(*gradients)


def test_initial_states_are_those_of_both_directions():
    layer = Bidirectional(GRU(3, return_state=True))
    states = [torch.randn(3, 3) for _ in range(2)]
    output, forward, backward = layer(X, initial_state=states)
    torch.testing.assert_close(forward, layer.forward_layer(X, initial_state=states[0])[1])
    torch.testing.assert_close(backward, layer.backward_layer(X, initial_state=states[1])[1])
    a, h, k = Input((5, 4)), Input((3,)), Input((3,))
    model = Model([a, h, k], layer(a, initial_state=[h, k]))
    found = model.predict([X.numpy(), *(state.numpy() for state in states)])
    np.testing.assert_allclose(found[0], output.detach().numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"has 2 states, those of both directions, but was passed 1 initial states\.$"):
        layer(X, initial_state=states[0])


def test_stateful_directions_carry_their_states():
    layer = Bidirectional(LSTM(3, recurrent_activation="sigmoid", stateful=True))
    first = layer(X)
    assert not torch.allclose(layer(X), first)
    layer.reset_states()
    torch.testing.assert_close(layer(X), first)


def test_weights_are_the_forward_layers_then_the_backward_ones():
    layer = Bidirectional(LSTM(3), name="both")
    layer(X)
    assert [v.full_name for v in layer.weights] == [
        f"{direction}_{layer.layer.name}/{name}:0"
        for direction in ("forward", "backward")
        for name in ("kernel", "recurrent_kernel", "bias")
    ]
    again = Bidirectional(LSTM(3), weights=layer.get_weights())
    torch.testing.assert_close(again(X), layer(X))
    layer.trainable = False
    assert layer.trainable_weights == []
    assert not any(p.requires_grad for p in layer.parameters())


def test_a_saved_model_gives_the_same(tmp_path):
    a = Input((5, 4))
    hidden = Bidirectional(LSTM(3, return_sequences=True))(a)
    model = Model(a, TimeDistributed(Dense(2))(Bidirectional(GRU(2, return_sequences=True), "sum")(hidden)))
    model.save(tmp_path / "both.h5")
    np.testing.assert_array_equal(load_model(tmp_path / "both.h5").predict(X.numpy()), model.predict(X.numpy()))


def test_images():
    images = torch.randn(2, 3, 5, 5, 2)
    layer = Bidirectional(ConvLSTM2D(3, 2, return_sequences=True))
    output = layer(images)
    forward, backward, _ = apart(layer, images)
    torch.testing.assert_close(output, torch.cat([forward, backward], -1))
    assert layer.compute_output_shape((None, None, 5, 5, 2)) == (None, None, 4, 4, 6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Bidirectional(Dense(2, name="d"), name="b"),
            r"^Bidirectional 'b': layer must be a recurrent layer that",
        ),
        (
            lambda: Bidirectional(LSTM(2), "max"),
            "^Bidirectional: merge_mode must be one of 'sum', 'mul', 'ave', 'concat', None; found 'max'.$",
        ),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_layer_with_weights_is_refused():
    layer = LSTM(2, name="lstm")
    layer(X)
    with pytest.raises(ValueError, match=re.escape("that was not called yet")):
        Bidirectional(layer)


def test_a_backward_layer_that_does_not_fit_is_refused():
    with pytest.raises(
        ValueError, match=r"^Bidirectional 'b': backward_layer must be a recurrent layer that was not"
    ) as e:
        Bidirectional(LSTM(3), backward_layer=LSTM(3), name="b")
    assert "with go_backwards the other way; found" in str(e.value)

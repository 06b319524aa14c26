"""RNN and its cells, GRU, SimpleRNN and the layers on torch's kernels compute as in genuine Keras 2.2.4.

`keras-2.2.4-recurrent.npz` was made by Keras 2.2.4 on TensorFlow 1.14. A name is `KIND|SOURCE|` and `w0`, `w1`, ... for
the weights, `x0`, ... for the inputs and `y0`, ... for the outputs of `predict`. The kind is `plain` for a layer on
`Input((5, 3))`, `masked` for one on `Masking()` of that (with rows masked wholly, not at all, at the start and at the
end), `model` for the source of a model (a 2 behind: the outputs of the second call of two). `cudnn`: outputs of
Keras's LSTM or GRU for the weights that its own conversion gives to the layer of the source. `statistics`: in the
learning phase, the mean and the standard deviation of 40000 outputs for `statistics_x`.
"""

import copy
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from golden import compiles, remade

from torchkeras import layers, models, registry
from torchkeras.engine.graph.input import Input
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers.cells import GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from torchkeras.layers.core import Masking
from torchkeras.layers.recurrent import GRU, LSTM, RNN, CuDNNGRU, CuDNNLSTM, SimpleRNN
from torchkeras.models import Model

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "keras-2.2.4-recurrent.npz")
SOURCES = sorted({name.rpartition("|")[0] for name in GOLDEN.files if "|" in name})
OUTPUTS = [name for name in SOURCES if not name.startswith(("cudnn", "statistics"))]
X = torch.from_numpy(np.random.default_rng(0).uniform(-1, 1, (4, 5, 3)).astype("float32"))
MASK = torch.tensor([[1, 1, 0, 1, 0], [0, 0, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)


class Minimal(Layer):
    """A cell as the documentation of Keras writes it."""

    def __init__(self, units, **options):
        self.units = self.state_size = units
        super().__init__(**options)

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units), initializer="uniform")
        self.recurrent_kernel = self.add_weight("recurrent_kernel", (self.units, self.units), initializer="uniform")
        self.built = True

    def call(self, inputs, states):
        output = inputs @ self.kernel + states[0] @ self.recurrent_kernel
        return output, [output]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Wide(Minimal):
    """Two states and an output that is neither of them; a weight that does not train; a tuple of states."""

    def __init__(self, units, **options):
        super().__init__(units, **options)
        self.state_size, self.output_size = (units, units + 1), 2 * units + 1

    def build(self, input_shape):
        super().build(input_shape)
        self.up = self.add_weight("up", (self.units, self.units + 1), initializer="uniform")
        self.fixed = self.add_weight("fixed", (self.units,), initializer="uniform", trainable=False)

    def call(self, inputs, states, training=None):
        h, w = states
        h = torch.tanh(inputs @ self.kernel + h @ self.recurrent_kernel + self.fixed)
        w = torch.tanh(h @ self.up + w)
        return torch.cat([h, w], -1), (h, w)


class WithConstants(Minimal):
    """A cell that sees one tensor at all steps."""

    def build(self, input_shape):
        steps, constants = input_shape
        super().build(steps)
        self.constant_kernel = self.add_weight("constant_kernel", (constants[-1], self.units), initializer="uniform")

    def call(self, inputs, states, constants):
        (constant,) = constants
        output = inputs @ self.kernel + states[0] @ self.recurrent_kernel + constant @ self.constant_kernel
        return output, [output]


class Counter:
    """A cell that is no layer."""

    state_size = 1

    def call(self, inputs, states):
        return inputs.sum(-1, keepdim=True) + states[0], [states[0] + 1]


CUSTOM = {"Minimal": Minimal, "Wide": Wide, "WithConstants": WithConstants}
SCOPE = {**vars(layers), **vars(models), **CUSTOM}


def arrays(name, kind):
    found = []
    while f"{name}|{kind}{len(found)}" in GOLDEN.files:
        found.append(GOLDEN[f"{name}|{kind}{len(found)}"])
    return found


def model_of(name):
    kind, source = name.split("|", 1)
    if kind.startswith("model"):
        scope = dict(SCOPE)
        exec(source, scope)  # noqa: S102  # the record's own source text
        return scope["model"]
    inputs = Input((5, 3))
    return Model(inputs, eval(source, SCOPE)(Masking()(inputs) if kind == "masked" else inputs))


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_those_of_keras(name):
    model = model_of(name)
    with registry.custom_object_scope(CUSTOM):
        again = type(model).from_config(json.loads(json.dumps(model.get_config())))
    inputs = arrays(name, "x")
    for made in (model, again):
        made.set_weights(arrays(name, "w"))
        if name.startswith("model2"):
            made.predict(inputs, batch_size=6)
        outputs = made.predict(inputs, batch_size=6)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        for output, expected in zip(outputs, arrays(name, "y"), strict=True):
            np.testing.assert_allclose(output, expected, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.startswith("statistics")])
def test_dropout_has_the_mean_and_the_spread_of_keras(name):
    torch.manual_seed(0)
    inputs = torch.from_numpy(GOLDEN["statistics_x"]).expand(40000, -1, -1)
    layer = eval(name.split("|")[1], SCOPE)
    layer(inputs[:1])
    layer.set_weights(arrays(name, "w"))
    outputs = layer(inputs, training=True).detach()
    mean, deviation = GOLDEN[f"{name}|y"]
    np.testing.assert_allclose(outputs.mean(0).numpy(), mean, atol=0.012)
    np.testing.assert_allclose(outputs.std(0).numpy(), deviation, atol=0.012)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.startswith("cudnn")])
def test_layers_on_torch_s_kernels_have_the_weights_of_cudnn(name):
    layer, inputs = eval(name.split("|")[1], SCOPE), torch.from_numpy(arrays(name, "x")[0])
    layer(inputs)
    layer.set_weights(arrays(name, "w"))
    for array, set_array in zip(layer.get_weights(), arrays(name, "w"), strict=True):
        np.testing.assert_array_equal(array, set_array)
    assert layer.path() == layer.path(training=True) == "torch"
    for output, expected in zip(layer(inputs), arrays(name, "y"), strict=True):
        np.testing.assert_allclose(output.detach().numpy(), expected, atol=1e-5)


def test_initial_weights_of_the_layers_on_torch_s_kernels():
    layer = CuDNNLSTM(2)
    layer(X)
    np.testing.assert_array_equal(layer.get_weights()[2], [0] * 10 + [1] * 2 + [0] * 4)
    np.testing.assert_allclose(layer.get_weights()[1] @ layer.get_weights()[1].T, np.eye(2), atol=1e-6)
    assert not CuDNNLSTM(2, unit_forget_bias=False)._initializer_of("bias")((16,)).any()
    layer = CuDNNGRU(2, stateful=True)
    assert not torch.equal(layer(X), layer(X))
    assert [v.shape for v in layer.weights] == [(3, 6), (2, 6), (12,)]


# --- cells -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", [SimpleRNNCell, GRUCell, LSTMCell])
def test_a_cell_is_a_step_of_its_layer(cell):
    layer = {SimpleRNNCell: SimpleRNN, GRUCell: GRU, LSTMCell: LSTM}[cell](4, return_state=True)
    expected = layer(X[:, :2])
    one = cell(4, weights=layer.get_weights())
    states = [torch.zeros(4, 4)] * layer.state_count
    for step in range(2):
        output, states = one(X[:, step], states)
    for found, value in zip([output, *states], expected, strict=True):
        torch.testing.assert_close(found, value)
    assert one.state_size == (4 if layer.state_count == 1 else (4, 4))
    assert one.output_size == 4
    assert "activity_regularizer" not in one.get_config()
    remade(one)


def test_stacked_cells():
    stack = StackedRNNCells([LSTMCell(4), Wide(3), GRUCell(2)])
    assert stack.state_size == (4, 4, 3, 4, 2)
    assert stack.output_size == 2
    assert StackedRNNCells(stack.cells, reverse_state_order=True).state_size == (2, 3, 4, 4, 4)
    layer = RNN(stack)
    layer(X)
    shapes = [(3, 16), (4, 16), (16,), (4, 3), (3, 3), (3, 4), (3,), (7, 6), (2, 6), (6,)]
    assert [array.shape for array in stack.get_weights()] == shapes  # cell by cell
    assert [v.shape for v in layer.weights] == [*shapes[:6], *shapes[7:], shapes[6]]  # those that train first
    layer.trainable = False
    assert not any(parameter.requires_grad for parameter in layer.parameters())
    (first,) = RNN([LSTMCell(4, name="first")]).get_config()["cell"]["config"]["cells"]
    assert first == {"class_name": "LSTMCell", "config": LSTMCell(4, name="first").get_config()}


def test_dropout_in_cells_is_drawn_once_for_a_call():
    ones = torch.ones(2, 6, 3)
    layer = RNN([SimpleRNNCell(4, activation=None, dropout=0.5), SimpleRNNCell(4, dropout=0.5)], return_sequences=True)
    layer(ones)
    for cell in layer.cell.cells:  # without what comes from the step before, equal steps give equal outputs
        cell.rnn.weight_hh_l0.data.zero_()
    outputs = layer(ones, training=True)
    assert torch.equal(outputs, outputs[:, :1].expand_as(outputs))
    assert not torch.equal(outputs, layer(ones, training=True))
    assert torch.equal(layer.eval()(ones), layer(ones))


def test_a_cell_that_is_no_layer():
    layer = RNN(Counter(), return_sequences=True, return_state=True)
    outputs, state = layer(X)
    torch.testing.assert_close(outputs, X.sum(-1, keepdim=True) + torch.arange(5.0)[:, None])
    assert state.tolist() == [[5.0]] * 4
    assert layer.weights == []
    assert repr(layer).endswith("return_sequences=True, return_state=True)")


def test_a_cell_of_ours_may_be_overridden():
    class Halved(LSTMCell):
        def call(self, inputs, states, training=None):
            output, states = super().call(inputs, states, training=training)
            return output / 2, states

    layer, plain = RNN(Halved(4)), RNN(LSTMCell(4))
    layer(X)
    plain(X)
    plain.set_weights(layer.get_weights())
    torch.testing.assert_close(layer(X), plain(X) / 2)


def test_masked_steps_repeat_the_output_where_it_is_no_state():
    wide = RNN(Wide(3), return_sequences=True)
    wide(X)
    outputs = wide(X, mask=MASK)
    assert torch.equal(outputs[0, 1], outputs[0, 2])
    assert not outputs[2].any()
    assert not outputs[1, :2].any()
    # The first state, as in Keras, where the output has its shape.
    counted = RNN(Counter(), return_sequences=True)(X, mask=MASK)
    torch.testing.assert_close(counted[0, 1:3], torch.stack([X[0, 1].sum() + 1, torch.tensor(2.0)])[:, None])


# --- calls -----------------------------------------------------------------------------------------------------------


def test_constants_in_a_graph():
    inputs, state, constant = Input((5, 3)), Input((4,)), Input((2,))
    layer = RNN(WithConstants(4))
    assert "num_constants" not in layer.get_config()
    model = Model([inputs, state, constant], layer(inputs, initial_state=state, constants=constant))
    assert layer._inbound_nodes[0].inputs == [inputs, state, constant]
    assert layer.get_config()["num_constants"] == 1
    config = json.loads(json.dumps(model.get_config()))
    again = Model.from_config(config, custom_objects=CUSTOM)
    again.set_weights(model.get_weights())
    feed = [X, torch.randn(4, 4), torch.randn(4, 2)]
    torch.testing.assert_close(again(feed), model(feed))
    torch.testing.assert_close(layer(X, initial_state=[feed[1]], constants=[feed[2]]), model(feed))
    torch.testing.assert_close(layer([X, feed[1]], constants=feed[2]), model(feed))
    torch.testing.assert_close(layer([X, feed[2]]), layer([X, torch.zeros(4, 4), feed[2]]))


def test_stateful_cells_carry_all_states():
    layer = RNN([GRUCell(4), Wide(3)], stateful=True)
    first, second = layer(X), layer(X)
    assert [tuple(state.shape) for state in layer.states if state is not None] == [(4, 4), (4, 3), (4, 4)]
    assert not torch.allclose(first, second)
    layer.reset_states()
    torch.testing.assert_close(layer(X), first)
    assert RNN([GRUCell(4), Wide(3)], stateful=True).states == [None] * 3


def test_shapes_and_masks_in_a_graph():
    masked = Masking()(Input((5, 3)))
    output, *states = RNN(Wide(3), return_sequences=True, return_state=True)(masked)
    assert [tensor.shape for tensor in (output, *states)] == [(None, 5, 7), (None, 3), (None, 4)]
    assert [tensor._keras_mask is None for tensor in (output, *states)] == [False, True, True]
    assert RNN(Wide(3))(masked).shape == (None, 7)
    assert GRU(4, input_dim=3, input_length=5).batch_input_shape == (None, 5, 3)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("cell", ["[LSTMCell(4), Wide(3)]", "GRUCell(4, reset_after=True, dropout=0.3)", "Counter()"])
def test_walks_compile_whole(cell):
    layer = RNN(eval(cell, {**SCOPE, "Counter": Counter}), return_sequences=True).eval()
    layer(X)
    compiles(layer, X)
    compiles(layer, X, mask=MASK)


def test_copies():
    layer = RNN([LSTMCell(4), GRUCell(3, reset_after=True)], stateful=True)
    expected = layer(X)
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301  (our own)
        copied.reset_states()
        torch.testing.assert_close(copied(X), expected)
    again = remade(layer)
    again(X)
    again.set_weights(layer.get_weights())
    again.reset_states()
    torch.testing.assert_close(again(X), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize("layer", [GRU(4), GRU(4, reset_after=True), SimpleRNN(4), RNN([GRUCell(4), LSTMCell(4)])])
def test_other_types(dtype, layer):
    layer = remade(layer)
    expected = layer(X, mask=MASK)
    output = layer.to(dtype)(X.to(dtype), mask=MASK)
    assert output.dtype == dtype
    torch.testing.assert_close(output.float(), expected, atol=0.02, rtol=0.02)


# --- errors ----------------------------------------------------------------------------------------------------------


class NoState:
    def call(self, inputs, states):
        return inputs, states

    def __repr__(self):
        return "NoState"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: RNN(3), "RNN: cell must have a `call` method; found 3."),
        (
            lambda: RNN(NoState()),
            (
                "RNN: cell must have an attribute `state_size` (an integer, or one for each of its states); "
                "found NoState."
            ),
        ),
        (lambda: RNN([]), "RNN: cell: StackedRNNCells: cells must be a list of cells; found []."),
        (lambda: StackedRNNCells([3]), "StackedRNNCells: cells must have a `call` method; found 3."),
        (lambda: StackedRNNCells(3), "StackedRNNCells: cells must be a list of cells; found 3."),
        (
            lambda: RNN(GRUCell(4), name="l")(X[:, 0]),
            (
                "Input 0 is incompatible with layer l: expected ndim=3, found ndim=2 (input shape (4, 3)). "
                "Give it an input of 3 axes: samples, steps and "
                "features, as a recurrent layer gives with return_sequences=True."
            ),
        ),
        (lambda: RNN(GRUCell(4), name="l")(X, constants=[X]), "RNN 'l': its cell takes no constants."),
        (
            lambda: RNN([GRUCell(4), LSTMCell(3)], name="l")(X, initial_state=torch.zeros(4, 4)),
            "Layer l has 3 states but was passed 1 initial states.",
        ),
        (
            lambda: CuDNNGRU(4, name="l")(X, mask=MASK),
            "CuDNNGRU 'l': Masking is not supported for CuDNN RNNs.",
        ),
        (
            lambda: CuDNNLSTM(4, name="l")(Masking()(Input((5, 3)))),
            "CuDNNLSTM 'l': Masking is not supported for CuDNN RNNs.",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()

"""LSTM computes as in genuine Keras 2.2.4, and LSTM, GRU and SimpleRNN the same on each of their paths.

`keras-2.2.4-lstm.npz` was made by Keras 2.2.4 on TensorFlow 1.14. It holds `x` (4, 6, 3), states `h` and `c` (4, 5),
the weights, `mask` (left, right, with holes, nothing valid) and `masked = x * mask[..., None]`. An output is called
`ARGUMENTS|masked=0 or 1|init=0 or 1|INDEX` and came from `layer = LSTM(ARGUMENTS)`, applied to
`Masking()(Input(batch_shape=(4, 6, 3)))` or the input itself, with `initial_state=[h, c]` or without, by
`Model(...).predict` (called twice for a stateful layer). `statistics|ARGUMENTS` are the mean and the standard
deviation, over 40000 copies of `x[0]`, of the output in the learning phase.
"""

import copy
import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from golden import layer_weights
from torch import nn

from torchkeras.engine.graph.input import Input
from torchkeras.layers.core import Masking
from torchkeras.layers.recurrence import Recurrent
from torchkeras.layers.recurrent import GRU, LSTM, SimpleRNN
from torchkeras.layers.torch_recurrence import _padded_behind
from torchkeras.models import Model

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = np.load(FOLDER / "keras-2.2.4-lstm.npz")
OUTPUTS = sorted({name.rpartition("|")[0] for name in GOLDEN.files if "init=" in name})
STATISTICS = [name for name in GOLDEN.files if name.startswith("statistics|")]
WEIGHTS = [GOLDEN[name] for name in ("kernel", "recurrent_kernel", "bias")]
CLASSES = {"GRU": GRU, "LSTM": LSTM, "SimpleRNN": SimpleRNN}
X, H, C, MASK = (torch.from_numpy(GOLDEN[name]) for name in ("x", "h", "c", "mask"))
# Padding only after the valid steps; each sample has at least one of these.
BEHIND = torch.arange(MASK.shape[1]) < 1 + torch.arange(MASK.shape[0]).unsqueeze(1) % MASK.shape[1]


def made(arguments="5", **options):
    layer = eval(
        f"LSTM({arguments}, weights=WEIGHTS, **options)", {"LSTM": LSTM, "WEIGHTS": WEIGHTS, "options": options}
    )
    layer._build([tuple(X.shape)])
    return layer.eval()


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_those_of_keras(name):
    arguments, masked, init = name.split("|")
    layer = made(arguments)
    mask, feed = (MASK, torch.from_numpy(GOLDEN["masked"])) if masked == "masked=1" else (None, X)
    inputs = [feed, H, C] if init == "init=1" else feed
    outputs = layer(inputs, mask=mask)
    if layer.stateful:
        outputs = layer(inputs, mask=mask)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    for index, output in enumerate(outputs):
        np.testing.assert_allclose(output.detach().numpy(), GOLDEN[f"{name}|{index}"], atol=1e-5)
    assert f"{name}|{len(outputs)}" not in GOLDEN


@pytest.mark.parametrize("case", ["rnn_10", "rnn_12", "rnn_14"])
def test_files_of_keras(case):
    folder = FOLDER / "keras-2.2.4-tensorflow" / case
    data = np.load(folder / "io.npz")
    source = {
        "rnn_10": "4",
        "rnn_12": "4, recurrent_activation='sigmoid'",
        "rnn_14": "3, implementation=2, use_bias=False",
    }
    layer = eval(f"LSTM({source[case]})")
    model = Model(inputs := Input((5, 3)), layer(inputs))
    layer.set_weights(layer_weights(case, "lstm_1"))
    np.testing.assert_allclose(model.eval()(torch.from_numpy(data["x0"])).detach().numpy(), data["y0"], atol=1e-5)


def test_encoder_and_decoder_by_symbolic_states():
    folder = FOLDER / "keras-2.2.4-tensorflow" / "model_encoder_decoder"
    data = np.load(folder / "io.npz")
    encoder, decoder = LSTM(4, return_state=True), LSTM(4, return_sequences=True, return_state=True)
    enc_in, dec_in = Input((5, 3)), Input((4, 3))
    _, h, c = encoder(enc_in)
    dec_out, _, _ = decoder(dec_in, initial_state=[h, c])
    assert decoder._inbound_nodes[0].inputs == [dec_in, h, c]
    assert dec_out.shape == (None, 4, 4)
    assert h.shape == c.shape == (None, 4)
    encoder_weights, decoder_weights, (kernel, bias) = (
        layer_weights("model_encoder_decoder", name) for name in ("lstm_1", "lstm_2", "dense_1")
    )
    encoder.set_weights(encoder_weights)
    decoder.set_weights(decoder_weights)
    model = Model([enc_in, dec_in], dec_out).eval()
    sequences = model([torch.from_numpy(data["x0"]), torch.from_numpy(data["x1"])])
    exponent = np.exp(sequences.detach().numpy() @ kernel + bias)
    np.testing.assert_allclose(exponent / exponent.sum(-1, keepdims=True), data["y0"], atol=1e-5)


@pytest.mark.parametrize("name", STATISTICS)
def test_dropout_has_the_mean_and_the_spread_of_keras(name):
    torch.manual_seed(0)
    layer = made(name.removeprefix("statistics|")).train()
    outputs = layer(X[:1].expand(40000, -1, -1))
    mean, deviation = GOLDEN[name]
    np.testing.assert_allclose(outputs.mean(0).detach().numpy(), mean, atol=0.01)
    np.testing.assert_allclose(outputs.std(0).detach().numpy(), deviation, atol=0.01)


def test_dropout_is_the_same_at_all_steps_and_off_outside_of_training():
    torch.manual_seed(0)  # one time in eight, two draws for three features are equal
    layer = LSTM(5, dropout=0.5, implementation=2).train()
    ones = torch.ones(1, 9, 3)
    layer(ones)
    project, _ = layer.begin((1, 3), (torch.zeros(1, 5),) * 2, (), training=True)
    projected = project(ones.transpose(0, 1))
    assert torch.equal(projected, projected[:1].expand_as(projected))
    layer.eval()
    assert torch.equal(layer(ones), layer(ones))
    assert not torch.equal(layer(ones, training=True), layer(ones, training=True))


# --- the paths -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "masked", "training", "path"),
    [
        ("LSTM(5, recurrent_activation='sigmoid')", False, True, "torch"),
        ("LSTM(5, recurrent_activation='sigmoid')", True, True, "torch"),
        ("LSTM(5, recurrent_activation='sigmoid', dropout=0.1)", False, False, "torch"),
        ("LSTM(5, recurrent_activation='sigmoid', dropout=0.1)", False, True, "scan"),
        ("LSTM(5, recurrent_activation='sigmoid', dropout=0.1, implementation=2)", False, True, "torch"),
        ("LSTM(5, recurrent_activation='sigmoid', recurrent_dropout=0.1)", False, True, "scan"),
        ("LSTM(5, recurrent_activation='sigmoid', return_state=True)", False, True, "torch"),
        ("LSTM(5, recurrent_activation='sigmoid', return_state=True)", True, True, "scan"),
        ("LSTM(5, recurrent_activation='sigmoid', stateful=True)", True, True, "scan"),
        ("LSTM(5, recurrent_activation='sigmoid', stateful=True, unroll=True)", True, True, "loop"),
        ("LSTM(5, recurrent_activation='sigmoid', activation='relu')", False, True, "loop"),
        ("LSTM(5)", False, False, "scan"),
        ("LSTM(5)", True, True, "scan"),
        ("LSTM(5, unroll=True)", False, False, "loop"),
        ("LSTM(5, recurrent_dropout=0.1)", False, True, "scan"),
        ("LSTM(5, recurrent_dropout=0.1, unroll=True)", False, True, "loop"),
        ("GRU(5, recurrent_dropout=0.1)", False, True, "loop"),
        ("LSTM(5, recurrent_dropout=0.1)", False, False, "scan"),
        ("GRU(5)", True, True, "scan"),
        ("GRU(5, recurrent_activation='sigmoid')", False, True, "scan"),
        ("GRU(5, reset_after=True)", False, True, "scan"),
        ("GRU(5, reset_after=True)", True, False, "scan"),
        ("GRU(5, recurrent_activation='sigmoid', reset_after=True)", False, True, "scan"),
        ("GRU(5, recurrent_activation='sigmoid', reset_after=True, unroll=True)", False, True, "torch"),
        ("GRU(5, recurrent_activation='sigmoid', reset_after=True, return_state=True)", True, True, "scan"),
        ("GRU(5, recurrent_activation='sigmoid', reset_after=True, recurrent_dropout=0.1)", False, True, "loop"),
        ("GRU(5, recurrent_activation='softmax')", False, True, "loop"),
        ("SimpleRNN(5)", True, True, "torch"),
        ("SimpleRNN(5, activation='relu', dropout=0.1, unroll=True)", False, True, "torch"),
        ("SimpleRNN(5, recurrent_dropout=0.1)", False, True, "loop"),
        ("SimpleRNN(5, activation='sigmoid')", False, True, "loop"),
    ],
)
def test_path(monkeypatch, layer, masked, training, path):
    layer, calls = eval(layer, CLASSES), []
    layer._build([(4, 6, 3)])
    assert layer.path(masked, training) == path
    kernel = getattr(layer, layer.submodule)
    scan, walk, run = type(layer).scan, Recurrent.walk, type(kernel).forward
    # Not a hook, which would be a reason to call torch's module.
    monkeypatch.setattr(type(kernel), "forward", lambda *args: calls.append("torch") or run(*args))
    monkeypatch.setattr(type(layer), "scan", lambda *args: calls.append("scan") or scan(*args))
    monkeypatch.setattr(Recurrent, "walk", lambda *args: calls.append("loop") or walk(*args))
    layer(X, mask=MASK if masked else None, training=training)
    assert calls == [path]
    assert isinstance(kernel, nn.RNNBase) == layer._fused


@pytest.mark.parametrize("reset_after", [False, True])
def test_the_gradient_of_a_gradient_with_unroll(reset_after):
    layer = GRU(5, recurrent_activation="sigmoid", reset_after=reset_after, unroll=True)
    layer(X)
    layer.double()
    inputs = X.double().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda x: layer(x).sum(), inputs)


def test_a_hook_on_torchs_gru_sees_its_calls():
    layer, seen = GRU(5, recurrent_activation="sigmoid", reset_after=True), []
    expected = layer(X)
    assert layer.path() == "scan"
    with layer.gru.register_forward_hook(lambda module, *_: seen.append(module)):
        assert layer.path() == "torch"
        torch.testing.assert_close(layer(X), expected, atol=1e-6, rtol=1e-5)
    assert (seen, layer.path()) == ([layer.gru], "scan")


ONE_KERNEL = [
    LSTM(5, recurrent_activation="sigmoid"),
    LSTM(5, recurrent_activation="sigmoid", return_sequences=True, dropout=0.5),
    GRU(5, recurrent_activation="sigmoid", reset_after=True),
    SimpleRNN(5, return_sequences=True),
]


@pytest.mark.parametrize("layer", ONE_KERNEL)
def test_without_gradients_a_model_calls_the_kernel_alone(layer, monkeypatch):
    layer = type(layer).from_config(layer.get_config())
    inputs = Input((6, 3))
    model = Model(inputs, layer(inputs)).eval()
    entered = []
    layer.walk = lambda *given: entered.append(given) or type(layer).walk(layer, *given)
    checked = []  # by the `forward` of torch's module
    monkeypatch.setattr(nn.RNNBase, "check_input", lambda *given: checked.append(given))
    for call in (model, model, lambda x: model(x, training=False), lambda x: torch.from_numpy(model.predict(x))):
        with torch.inference_mode():
            assert torch.equal(call(X), layer.forward(X, training=False))
    assert len(entered) == len(checked) == 4  # by the calls of `forward` here
    with torch.inference_mode():
        with pytest.warns(UserWarning, match="its output has another shape than its graph says"):
            layer.return_sequences = not layer.return_sequences
        assert torch.equal(model(X), layer.forward(X))
        layer.return_sequences = not layer.return_sequences
        seen = []
        hook = layer._modules[layer.submodule].register_forward_hook(lambda *given: seen.append(given))
        model(X)
        hook.remove()
        model(X)
    assert len(seen) == 1


@pytest.mark.parametrize("layer", ONE_KERNEL)
def test_a_prediction_calls_the_kernel_alone_whatever_mode_is_stored(layer):
    layer = type(layer).from_config(layer.get_config())
    inputs = Input((6, 3))
    model = Model(inputs, layer(inputs))
    layer.walk = lambda *_: pytest.fail("it calls torch's module")
    np.testing.assert_array_equal(model.train().predict(X), model.eval().predict(X))


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: setattr(layer.lstm, "weight_hh_l0", nn.Parameter(torch.ones(20, 5))),
        lambda layer: layer.lstm.weight_hh_l0.data.mul_(2),
        lambda layer: setattr(layer, "lstm", nn.LSTM(3, 5, batch_first=True)),
        lambda layer: nn.utils.parametrize.register_parametrization(layer.lstm, "weight_hh_l0", nn.Softplus()),
    ],
    ids=["weight", "values", "module", "parametrization"],
)
def test_the_kernel_alone_has_the_weights_of_its_time(change):
    inputs = Input((6, 3))
    layer = LSTM(5, recurrent_activation="sigmoid")
    model = Model(inputs, layer(inputs)).eval()
    with torch.inference_mode():
        before = model(X)
    change(layer)
    with torch.inference_mode():
        after = model(X)
        assert torch.equal(after, layer.forward(X))
    assert not torch.allclose(after, before)


@pytest.mark.parametrize("options", [{"go_backwards": True}, {"return_state": True}, {"stateful": True}])
def test_what_is_more_than_one_kernel_is_computed_whole(options):
    inputs = Input(batch_shape=(4, 6, 3))
    layer = LSTM(5, recurrent_activation="sigmoid", **options)
    model = Model(inputs, layer(inputs)).eval()
    with torch.inference_mode():
        found = [model(X) for _ in range(2)]
        if layer.stateful:
            layer.reset_states()
        wanted = [layer.forward(X) for _ in range(2)]
    for one, other in zip(found, wanted, strict=True):
        for a, b in zip(*(each if isinstance(each, list) else [each] for each in (one, other)), strict=True):
            assert torch.equal(a, b)


@pytest.mark.parametrize("use_bias", [True, False])
@pytest.mark.parametrize("mask", [None, MASK, BEHIND])
@pytest.mark.parametrize("return_sequences", [True, False])
@pytest.mark.parametrize(
    "layer",
    [
        "LSTM(5, recurrent_activation='sigmoid', {})",
        "LSTM(5, {})",
        "LSTM(5, recurrent_dropout=0.4, {})",
        "LSTM(5, recurrent_dropout=0.4, implementation=2, {})",
        "GRU(5, {})",
        "GRU(5, reset_after=True, {})",
        "GRU(5, reset_after=True, recurrent_activation='sigmoid', {})",
        "SimpleRNN(5, {})",
    ],
)
def test_all_paths_have_equal_values_and_gradients(monkeypatch, layer, use_bias, mask, return_sequences):
    layer = eval(layer.format(f"{use_bias=}, {return_sequences=}"), CLASSES)
    layer(X)
    layer.set_weights([np.random.default_rng(0).uniform(-1, 1, v.shape) for v in layer.weights])
    results = {}
    for path in ("loop", *["torch"] * layer._fused, *["scan"] * (layer.scan_gate is not None)):
        monkeypatch.setattr(type(layer), "path", lambda *_, path=path: path)
        inputs = [t.clone().requires_grad_() for t in (X, H, C)[: 1 + layer.state_count]]
        torch.manual_seed(0)  # what each path drops is the same
        output = layer(inputs, mask=mask, training=True)
        weights = [tensor for v in layer.weights for tensor in v.tensors]
        results[path] = [output, *torch.autograd.grad(output.square().sum(), [*inputs, *weights])]
    assert len(results) > 1
    for values in results.values():
        for value, expected in zip(values, results["loop"], strict=True):
            torch.testing.assert_close(value, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "layer", ["LSTM(2)", "GRU(2)", "GRU(2, reset_after=True)", "SimpleRNN(2)", "GRU(2, unroll=True)"]
)
def test_gradients_in_double_precision(layer):
    layer = eval(layer, CLASSES)
    layer(X[:2, :3])
    layer.double()
    inputs = X[:2, :3].double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: layer(x, mask=MASK[:2, :3]), (inputs,))


def test_activations_that_mix_features_see_one_gate_at_a_time():
    layer = made("5, recurrent_activation='softmax'")
    z = X[:, 0] @ layer.kernel + layer.bias
    i, _, g, o = z.chunk(4, -1)
    expected = o.softmax(-1) * torch.tanh(i.softmax(-1) * torch.tanh(g))
    torch.testing.assert_close(layer(X[:, :1]), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("gate", ["sigmoid", "hard_sigmoid"])
def test_other_types(dtype, gate):
    layer = made(f"5, recurrent_activation={gate!r}, return_sequences=True, stateful=True")
    expected = layer(X)
    layer.reset_states()
    output = layer.to(dtype)(X.to(dtype))
    assert output.dtype == dtype
    torch.testing.assert_close(output.float(), expected, atol=0.02, rtol=0.02)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("masked", [False, True])
def test_the_loop_compiles_whole(masked):
    layer = made("5, return_sequences=True, dropout=0.2")
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    mask = MASK if masked else None
    torch.testing.assert_close(compiled(X, mask=mask), layer(X, mask=mask))


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("options", ["", ", dropout=0.2, return_state=True"])
def test_a_compiled_model_calls_torch_s_kernel_in_eager_mode(options):
    layer = made(f"5, recurrent_activation='sigmoid'{options}")
    compiled = torch.compile(lambda x, mask: layer([x * 2, H, C], mask=mask), backend="eager")
    for found, expected in zip(compiled(X, MASK), layer([X * 2, H, C], mask=MASK), strict=True):
        torch.testing.assert_close(found, expected)


# --- states ----------------------------------------------------------------------------------------------------------


def test_states_are_carried_and_reset():
    layer = made("5, stateful=True")
    assert [tuple(state.shape) for state in layer.states] == [(4, 5), (4, 5)]
    first, second = layer(X), layer(X)
    second.sum().backward()  # what a batch began with is kept for its gradients, and no further back
    assert not torch.allclose(first, second)
    torch.testing.assert_close(layer.states[0], second.detach())
    layer.reset_states()
    torch.testing.assert_close(layer(X), first)
    layer.reset_states([H, C.numpy()])
    assert torch.equal(layer.states[1], C)
    assert not any("state" in name for name in layer.state_dict())
    assert LSTM(5).states == [None, None]


def test_weights_and_initial_values():
    layer = LSTM(5, recurrent_activation="sigmoid", trainable=False)
    layer(X)
    assert [v.full_name for v in layer.weights] == [
        f"{layer.name}/{n}:0" for n in ("kernel", "recurrent_kernel", "bias")
    ]
    assert [v.shape for v in layer.weights] == [(3, 20), (5, 20), (20,)]
    np.testing.assert_array_equal(layer.get_weights()[2], [0] * 5 + [1] * 5 + [0] * 10)
    recurrent = layer.get_weights()[1]
    np.testing.assert_allclose(recurrent @ recurrent.T, np.eye(5), atol=1e-5)
    layer.trainable = True
    assert layer.lstm.weight_hh_l0.requires_grad
    assert not layer.lstm.bias_hh_l0.requires_grad
    assert not layer.lstm.bias_hh_l0.any()
    assert not LSTM.from_config({**layer.get_config(), "unit_forget_bias": False})._initializer_of("bias")((20,)).any()


def test_files_of_earlier_keras_2():
    assert LSTM(5, implementation=0).implementation == 1
    assert "implementation" not in SimpleRNN(5).get_config()
    old = SimpleRNN.from_config({**SimpleRNN(5, dropout=0.5).get_config(), "implementation": 0})
    assert old.drop_sets == SimpleRNN(5, implementation=2).drop_sets == 1


def test_signature_is_that_of_keras():
    assert " ".join(list(inspect.signature(LSTM).parameters)[:-1]) == (
        "units activation recurrent_activation use_bias kernel_initializer recurrent_initializer bias_initializer "
        "unit_forget_bias kernel_regularizer recurrent_regularizer bias_regularizer activity_regularizer "
        "kernel_constraint recurrent_constraint bias_constraint dropout recurrent_dropout implementation "
        "return_sequences return_state go_backwards stateful unroll zero_output_for_mask"
    )


@pytest.mark.parametrize("recurrent_activation", ["sigmoid", "hard_sigmoid"])
def test_config_copy_and_pickle(recurrent_activation):
    layer = made(f"5, recurrent_activation={recurrent_activation!r}, stateful=True, dropout=0.25")
    expected = layer(X)
    again = LSTM.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301  (our own)
        copied.reset_states()
        torch.testing.assert_close(copied(X), expected)


def test_masks_and_shapes_in_a_graph():
    masked = Masking()(Input((6, 3)))
    assert LSTM(5)(masked)._keras_mask is None
    assert LSTM(5, return_sequences=True)(masked)._keras_mask.shape == (None, 6)
    output, h, c = LSTM(5, return_sequences=True, return_state=True)(masked)
    assert (output._keras_mask.shape, h._keras_mask, c._keras_mask) == ((None, 6), None, None)
    assert LSTM(5, input_dim=3, input_length=6).batch_input_shape == (None, 6, 3)
    assert LSTM(5, return_state=True).compute_output_shape((None, None, 3)) == [(None, 5)] * 3


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: LSTM(5, name="l")(Input((3,))),
            (
                "Input 0 is incompatible with layer l: expected ndim=3, found ndim=2 (input shape (None, 3)). "
                "Give it an input of 3 axes: samples, steps and "
                "features, as a recurrent layer gives with return_sequences=True."
            ),
        ),
        (
            lambda: LSTM(5, name="l")(X, initial_state=H),
            "Layer l has 2 states but was passed 1 initial states.",
        ),
        (
            lambda: LSTM(4, name="l")([X, H, C]),
            "Initial state 0 of layer l must have shape (batch, 4); found (4, 5).",
        ),
        (lambda: LSTM(4, name="l")(X, constants=[H]), "LSTM 'l': its cell takes no constants."),
        (
            lambda: LSTM(5, name="l", stateful=True)(Input((6, 3))),
            (
                "LSTM 'l': If a RNN is stateful, it needs to know its batch size. Give batch_input_shape to the first "
                "layer of a Sequential, or batch_shape to Input; the input shape is (None, 6, 3)."
            ),
        ),
        (
            lambda: LSTM(5, name="l", unroll=True)(Input((None, 3))),
            (
                "LSTM 'l': Cannot unroll a RNN if the time dimension is undefined or equal to 1. Give the number of "
                "steps in the input's shape (input_length after an Embedding); the input shape is (None, None, 3)."
            ),
        ),
        (
            lambda: made("5, stateful=True", name="l")(X[:3]),
            "LSTM 'l' is stateful, with 4 samples a batch; found a batch of 3.",
        ),
        (
            lambda: LSTM(5, name="l", stateful=True).reset_states(),
            "Layer l has no states yet: its batch size is known from its first call on.",
        ),
        (
            lambda: made("5, stateful=True", name="l").reset_states(H),
            "Layer l expects 2 states, but it received 1 state values.",
        ),
        (
            lambda: made("5, stateful=True", name="l").reset_states([H, C[:2]]),
            "State 1 is incompatible with layer l: expected shape=(4, 5), found shape=(2, 5)",
        ),
        (lambda: LSTM(5, implementation=3), "LSTM: implementation must be 1 or 2; found 3."),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()


def test_only_a_stateful_layer_is_reset():
    with pytest.raises(AttributeError, match=r"^Layer must be stateful\.$"):
        LSTM(5).reset_states()


def test_padding_behind_is_told_from_other_masks():
    assert _padded_behind(BEHIND)
    assert not _padded_behind(MASK)
    assert not _padded_behind(BEHIND.flip(1))
    assert not _padded_behind(torch.zeros(2, 3, dtype=torch.bool))  # no valid step to take an output from

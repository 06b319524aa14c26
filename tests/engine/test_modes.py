"""`training`: an argument of a call goes before, then the mode of the run; it reaches the layers inside."""

import ast
import copy
import inspect
import pickle
import textwrap

import numpy as np
import pytest
import torch
from torch import nn

import torchkeras
from torchkeras import callbacks
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import by_mode
from torchkeras.layers import LSTM, RNN, Bidirectional, Dense, Dropout, Input, TimeDistributed, TorchModule
from torchkeras.models import Model, Sequential, load_model

ZEROS = torch.zeros(1, 3)


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


class Told(Layer):
    """x + 1 in training, else x; records the `training` that it gets."""

    def call(self, inputs, training=None):
        assert isinstance(training, bool)
        return inputs + 1 if training else inputs


class ToldFalse(Layer):
    def call(self, inputs, training=False):
        return inputs + 1 if training else inputs


class ToldByName(Layer):
    def forward(self, inputs, *, training):
        return inputs + 1 if training else inputs


class ToldLast(Layer):
    def call(self, inputs, factor=1.0, training=None):
        return inputs + factor if training else inputs


class Asks(Layer):
    """Without the argument: it looks at its mode."""

    def forward(self, inputs):
        return inputs + 1 if self.training else inputs


class Outer(Layer):
    """Says nothing to the layer inside."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = [inner]

    def call(self, inputs):
        return self.inner[0](inputs)


class Opposite(Layer):
    """Passes the opposite of its `training` to the inner layer."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Told()

    def call(self, inputs, training=None):
        return self.inner(inputs, training=not training)


KINDS = [Told, ToldFalse, ToldByName, ToldLast, Asks]
CUSTOM = {kind.__name__: kind for kind in (*KINDS, Outer, Opposite)}


def values(outputs):
    outputs = outputs if isinstance(outputs, list) else [outputs]
    return [
        float(np.asarray(output.detach() if isinstance(output, torch.Tensor) else output).max()) for output in outputs
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_mode_of_the_run_is_told(kind):
    x = Input((3,))
    model = Model(x, kind()(x))
    assert values(model.train()(ZEROS)) == [1.0]
    assert values(model.eval()(ZEROS)) == [0.0]
    assert values(model.predict(ZEROS.numpy())) == [0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_an_argument_goes_before_the_mode(kind):
    layer = kind()
    for mode in (True, False):
        layer.train(mode)
        assert values(layer(ZEROS, training=True)) == [1.0]
        assert values(layer(ZEROS, training=False)) == [0.0]
        assert values(layer(ZEROS, training=None)) == [float(mode)]
        assert layer.training is mode


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_graph_it_stays_so(kind, tmp_path):
    x = Input((3,))
    layer = Outer(kind(), name="outer")
    model = Model(x, [layer(x), layer(x, training=True), layer(x, training=False)])
    with pytest.warns(UserWarning, match="Outer 'outer' has no 'inner' in its config"):
        model.save(tmp_path / "model.h5")
    if kind is not Told:  # the config of Outer has no layer
        model = copy.deepcopy(pickle.loads(pickle.dumps(model)))  # noqa: S301
    assert values(model.train()(ZEROS)) == [1.0, 1.0, 0.0]
    assert values(model.eval()(ZEROS)) == [0.0, 1.0, 0.0]
    assert values(model.predict(ZEROS.numpy())) == [0.0, 1.0, 0.0]
    assert not model.training
    assert "self.outer_in_mode(input_1, training=True)" in model.code


def test_it_is_kept_in_files(tmp_path):
    x = Input((3,))
    outputs = [Told()(x, training=True), Dropout(0.5)(x, training=False), ToldLast(name="t")(x, 2.0, training=True)]
    model = Model(x, outputs)
    model.save(tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5", custom_objects=CUSTOM)
    assert values(again(ZEROS)) == values(model.eval()(ZEROS)) == [1.0, 0.0, 2.0]
    with pytest.warns(UserWarning, match="Keras 3") as caught:
        model.save(tmp_path / "model.keras")
    assert str(caught[0].message) == (
        f"{tmp_path / 'model.keras'}: torchkeras reads the file, Keras 3 refuses it: Told 'told_1' is called with "
        "training=True, which has no form in Keras 3: there fit and predict say otherwise."
    )
    again = load_model(tmp_path / "model.keras", custom_objects=CUSTOM)
    assert values(again(ZEROS)) == [1.0, 0.0, 2.0]


def test_a_model_called_in_training_or_not_has_all_inside_so():
    x = Input((3,))
    inner = Model(x, Told()(x))
    model = Model(x, inner(x))
    assert values(model.eval()(ZEROS, training=True)) == [1.0]
    assert values(model.train()(ZEROS, training=False)) == [0.0]
    assert all(module.training for module in model.modules())


def test_a_layer_that_is_told_otherwise_tells_otherwise():
    layer = Outer(Opposite())
    assert values(layer.train()(ZEROS)) == [0.0]
    assert values(layer.eval()(ZEROS)) == [1.0]
    assert values(layer(ZEROS, training=True)) == [0.0]


def test_a_backbone_in_evaluation_keeps_its_statistics_and_drops_nothing():
    """As `backbone.eval()` in a loop by hand."""

    class Backbone(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.body = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.5))

        def forward(self, x):
            return self.body(x)

    backbone = Backbone()
    x = Input((3,))
    model = Model(x, Dense(2, name="top")(backbone(x, training=False)))
    before = {name: tensor.clone() for name, tensor in backbone.body.state_dict().items()}
    by_hand = nn.Sequential(copy.deepcopy(backbone.body), nn.Linear(8, 2))
    by_hand[1].load_state_dict(model.get_layer("top").linear.state_dict())
    model.compile("sgd", "mse")
    inputs, targets = torch.randn(16, 3), torch.randn(16, 2)
    optimizer = torch.optim.SGD(by_hand.parameters(), 0.01)
    for _ in range(3):
        model.train_on_batch(inputs.numpy(), targets.numpy())
        by_hand.train()
        by_hand[0].eval()
        optimizer.zero_grad()
        nn.functional.mse_loss(by_hand(inputs), targets).backward()
        optimizer.step()
    torch.testing.assert_close(backbone.body[1].running_mean, before["1.running_mean"], rtol=0, atol=0)
    for found, expected in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(found, expected)


class Cell(Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units

    def call(self, inputs, states, training=None):
        return inputs + states[0] + (1 if training else 0), [states[0]]


def test_it_reaches_the_cell_of_a_recurrent_layer():
    x = Input((4, 3))
    model = Model(x, RNN(Cell())(x))
    zeros = torch.zeros(1, 4, 3)
    assert values(model.train()(zeros)) == [1.0]
    assert values(model.eval()(zeros)) == [0.0]
    assert values(model(zeros, training=True)) == [1.0]


@pytest.mark.parametrize("wrap", [TimeDistributed, lambda layer: Sequential([TimeDistributed(layer)])])
def test_it_reaches_the_layer_in_a_wrapper(wrap):
    x = Input((4, 3))
    model = Model(x, wrap(Told())(x))
    zeros = torch.zeros(1, 4, 3)
    assert values(model.train()(zeros)) == [1.0]
    assert values(model.eval()(zeros)) == [0.0]
    assert values(model(zeros, training=True)) == [1.0]


def test_dropout_of_a_recurrent_layer_is_told_too():
    x = Input((4, 3))
    model = Model(x, Bidirectional(LSTM(2, dropout=0.9))(x)).eval()
    ones = torch.ones(1, 4, 3)
    torch.manual_seed(0)
    assert not torch.equal(model(ones), model(ones, training=True))
    assert torch.equal(model(ones), model(ones, training=False))


def test_predictions_fold_nothing_into_a_model_that_is_called_in_training():
    x = Input((3,))
    inner = Sequential([Dense(4, input_shape=(3,)), torchkeras.layers.BatchNormalization()])
    model = Model(x, inner(x, training=True))
    inputs = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
    outputs = model.predict(inputs, batch_size=64)
    np.testing.assert_allclose(outputs.mean(0), np.zeros(4), atol=1e-5)


def test_what_is_no_truth_value_is_refused():
    with pytest.raises(ValueError, match="training") as error:
        Told(name="told")(ZEROS, training="yes")
    assert str(error.value) == "Told 'told': training must be True, False or None; found 'yes'."


class Modes(callbacks.Callback):
    """Notes the modes of the modules while `fit` runs."""

    def on_train_batch_end(self, batch, logs=None):
        self.found = [layer.training for layer in self.model.layers]


def test_fit_trains_also_what_was_set_to_evaluation_and_leaves_it_there_afterwards():
    model = Sequential(
        [Dense(3, input_shape=(3,)), TorchModule(nn.BatchNorm1d(3), name="norm"), Dropout(0.5), Dense(1)]
    )
    norm, modes = model.get_layer("norm"), Modes()
    norm.eval()
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0, callbacks=[modes])
    assert modes.found == [True] * 4
    assert [layer.training for layer in model.layers] == [True, False, True, True]
    before = norm.module.running_mean.clone()
    norm.trainable = False
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
    assert torch.equal(norm.module.running_mean, before)


def test_what_is_called_in_evaluation_in_the_graph_is_so_in_fit():
    inputs = Input((3,))
    norm = TorchModule(nn.BatchNorm1d(3))
    model = Model(inputs, Dense(1)(norm(inputs, training=False)))
    model.compile("sgd", "mse")
    before = norm.module.running_mean.clone()
    model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
    assert torch.equal(norm.module.running_mean, before)


@pytest.mark.parametrize("training", [True, False])
def test_a_layer_pickled_by_an_earlier_version_has_the_mode_that_it_had(training):
    """That kept it as `training`, where torch does."""
    layer = Dense(2)
    layer(torch.ones(1, 3))
    state = layer.train(training).__getstate__()
    again = Dense.__new__(Dense)
    again.__setstate__({**{k: v for k, v in state.items() if k != "_training_mode"}, "training": training})
    assert again.training is training
    assert again.eval().training is False


def test_the_code_that_checkpoints_describe_as_the_users_stays():
    """The `call` of a user's class is the function inside `by_mode`: earlier checkpoints have its text and names."""
    compute = by_mode(lambda self, inputs, training=None: inputs)
    assert compute.__code__.co_freevars == ("by_position", "function", "place")
    source = textwrap.dedent(inspect.getsource(compute.__code__))
    assert [ast.unparse(statement) for statement in ast.parse(source).body[0].body] == [  # type: ignore[attr-defined]
        (
            "if by_position and len(args) > place:\n    if args[place] is None:\n"
            "        args = (*args[:place], layer.training, *args[place + 1:])\n"
            "elif place >= 0 and kwargs.get('training') is None:\n    kwargs['training'] = layer.training"
        ),
        "return run(layer, call_in_mode, layer, function, layer, *args, **kwargs)",
    ]
    values = dict(
        zip(compute.__code__.co_freevars, [cell.cell_contents for cell in compute.__closure__ or ()], strict=True)
    )
    assert (values["by_position"], values["place"]) == (True, 1)

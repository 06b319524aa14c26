"""`compile(jit_compile=...)`: one graph for all steps, and the same numbers."""

import copy
from functools import partial

import numpy as np
import pytest
import torch
from jitted import Graphs, alike, cnn, masked, mlp, penalized, recurrent, samples, trained

import torchkeras
from torchkeras import Input, Model, Sequential
from torchkeras.callbacks import Callback, LambdaCallback, LearningRateScheduler
from torchkeras.engine.speed.choose import FROM_CPP
from torchkeras.layers import Activation, BatchNormalization, Dense, Dropout, Lambda, Layer
from torchkeras.metrics import AUC, SparseCategoricalAccuracy
from torchkeras.optimizers import SGD, Adam

pytestmark = pytest.mark.torch("2.8", "compiled steps")

# --- one graph, the same numbers -------------------------------------------------------------------------------------


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
@pytest.mark.parametrize(
    ("make", "options"),
    [
        (mlp, {}),
        (mlp, {"weights": True, "weighted_metrics": ["accuracy"]}),
        (mlp, {"metrics": [SparseCategoricalAccuracy(name="own")]}),
        (mlp, {"optimizer": Adam(clipnorm=0.1, use_ema=True, amsgrad=True)}),
        (mlp, {"optimizer": SGD(0.1, momentum=0.9, clipvalue=0.01, gradient_accumulation_steps=2)}),
        (mlp, {"on_nonfinite": "skip"}),
        (cnn, {}),
        (masked, {}),
        (penalized, {}),
    ],
)
def test_one_graph_gives_the_numbers_of_plain_steps(make, options):
    graphs = Graphs()

    def fresh():  # an optimizer or metric belongs to one model
        given = options.get("optimizer")
        remade = {"optimizer": type(given).from_config(given.get_config())} if given is not None else {}
        return {**options, **remade}

    alike(trained(make, graphs.setting, **fresh()), trained(make, False, **fresh()))
    assert (len(graphs.found), len(graphs.of_inference)) == (1, 1)


@pytest.mark.parametrize("make", [mlp, cnn, masked, penalized])
def test_compiled_steps_give_the_numbers_of_plain_ones(make):
    alike(trained(make, {"backend": "eager"}), trained(make, False))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_in_one_graph(policy):
    def make():
        inputs = Input((6,))
        hidden = Dense(8, activation="relu", dtype=policy)(inputs)
        return Model(inputs, Dense(3, activation="softmax", dtype=policy)(hidden))

    graphs = Graphs()
    alike(trained(make, graphs.setting), trained(make, False), rtol=1e-2, atol=1e-2)
    assert len(graphs.found) == 1


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
def test_several_outputs_with_a_metric_each():
    def make():
        inputs = Input((6,))
        return Model(inputs, [Dense(1, activation="sigmoid", name="a")(inputs), Dense(3, name="b")(inputs)])

    found = []
    graphs = Graphs()
    for setting in (graphs.setting, False):
        torch.manual_seed(0)
        torchkeras.clear_session()
        model = make()
        model.compile(
            "sgd", {"a": "binary_crossentropy", "b": "mse"}, {"a": ["accuracy", AUC(name="auc")]},
            loss_weights={"a": 0.3, "b": 2.0}, jit_compile=setting,
        )  # fmt: skip
        x = np.random.default_rng(0).standard_normal((16, 6)).astype("float32")
        y = {"a": (x[:, :1] > 0).astype("float32"), "b": x[:, :3]}
        found.append((model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False).history, model.get_weights()))
    alike(*found)
    assert len(graphs.found) == 1


@pytest.mark.slow
def test_a_mode_that_captures_keeps_the_numbers_of_each_batch():
    read_late = [[], []]

    def callbacks(kept):
        return [LambdaCallback(on_batch_end=lambda batch, logs: kept.append(logs))]

    settings = ({"mode": "reduce-overhead"}, False)
    found = [
        trained(mlp, setting, callbacks=callbacks(kept)) for setting, kept in zip(settings, read_late, strict=True)
    ]
    alike(*found, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(*([logs["loss"] for logs in kept] for kept in read_late), rtol=1e-4)


@pytest.mark.parametrize(
    ("make", "setting"),
    [
        (mlp, True),
        *(
            pytest.param(make, setting, marks=pytest.mark.slow)
            for make in (cnn, masked)
            for setting in (True, FROM_CPP)
        ),
        pytest.param(mlp, FROM_CPP, marks=pytest.mark.slow),
    ],
)
def test_the_code_that_torch_makes_gives_the_numbers_of_plain_steps(make, setting):
    found = [trained(make, each, optimizer="sgd") for each in (setting, False)]
    alike(*found, rtol=1e-4, atol=1e-5)


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
def test_a_changed_learning_rate_evaluations_and_predictions_between_make_no_other_graph():
    graphs = Graphs()

    class Between(Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.predict(samples(self.model)[0], batch_size=7)
            self.model.evaluate(*samples(self.model), verbose=0)

    def callbacks():
        return [LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)), Between()]

    alike(trained(cnn, graphs.setting, 4, callbacks()), trained(cnn, False, 4, callbacks()))
    assert len(graphs.found) == 1


def test_a_second_fit_and_single_batches_go_by_the_same_graph():
    graphs = Graphs()
    model = mlp()
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=graphs.setting)
    x, y = samples(model, 8)
    for _ in range(2):
        model.fit(x, y, batch_size=4, epochs=2, verbose=0)
    before = model.evaluate(x[:4], y[:4], verbose=0)
    for _ in range(20):
        model.train_on_batch(x[:4], y[:4])
    assert len(graphs.found) == 1
    assert model.evaluate(x[:4], y[:4], verbose=0) < before


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
@pytest.mark.parametrize(
    ("layer", "option", "value"),
    [("activation_1", "activation", torch.tanh), ("batch_normalization_1", "momentum", 0.5), ("last", "use_bias", 1)],
)
def test_what_a_callback_changes_in_python_counts_from_the_next_step_on(layer, option, value):
    def make():
        inputs = Input((6,))
        hidden = Activation("relu")(BatchNormalization()(Dense(8)(inputs)))
        return Model(inputs, Dense(3, activation="softmax", name="last")(hidden))

    class Change(Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                changed = self.model.get_layer(layer)
                setattr(changed.norm if option == "momentum" else changed, option, value)

    graphs = Graphs()
    alike(trained(make, graphs.setting, callbacks=[Change()]), trained(make, False, callbacks=[Change()]))
    assert len(graphs.found) == (1 if layer == "last" else 2)


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
def test_hooks_see_every_batch():
    seen, graphs = [], Graphs()
    model = cnn()
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=graphs.setting)
    x, y = samples(model, 16)
    model.fit(x, y, batch_size=4, verbose=0)
    handle = model.layers[1].register_forward_hook(lambda *given: seen.append(given))
    model.fit(x, y, batch_size=4, verbose=0)
    assert len(seen) == 4
    handle.remove()
    model.fit(x, y, batch_size=4, verbose=0)
    assert (len(seen), len(graphs.found)) == (4, 1)


def test_random_numbers_are_drawn_anew_in_every_step():
    torch.manual_seed(0)
    inputs = Input((100,))
    model = Model(inputs, Dropout(0.5)(inputs))
    model.add_loss(Lambda(lambda x: x[:, 0])(model.output))
    model.add_metric(model.output, name="mean")
    graphs, seen = Graphs(), []
    model.compile(SGD(0.0), jit_compile=graphs.setting)
    callback = LambdaCallback(on_batch_end=lambda batch, logs: seen.append(float(logs["mean"])))
    model.fit(np.ones((40, 100), "float32"), batch_size=4, verbose=0, callbacks=[callback])
    assert len(set(seen)) > 5
    assert np.mean(seen) == pytest.approx(1.0, abs=0.1)


# --- evaluations and predictions -------------------------------------------------------------------------------------


def two_outputs():
    inputs = Input((6,))
    hidden = BatchNormalization()(Dense(8)(inputs))
    return Model(inputs, [Dense(3, activation="softmax")(hidden), hidden])


def predicted(model, x, **options):
    found = model.predict(x, batch_size=4, **options)
    return found if isinstance(found, list) else [found]


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
@pytest.mark.parametrize("make", [mlp, cnn, masked, two_outputs])
def test_predictions_by_one_graph_are_those_without_and_follow_the_weights(make):
    graphs, model = Graphs(), make()
    x, _ = samples(model)
    model.compile("sgd", [None] * (len(model.outputs) - 1) + ["mse"], jit_compile=graphs.setting)
    for factor in (1.0, 0.5):  # 22 samples: the last batch is a smaller one
        for weight in model.parameters():
            weight.data.mul_(factor)
        found = predicted(model, x)
        observed = predicted(model, x, callbacks=[Callback()])
        plain = copy.deepcopy(model)
        plain.compile("sgd", model.loss, jit_compile=False)
        for mine, with_callback, expected in zip(found, observed, predicted(plain, x), strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(mine, with_callback)
    assert (len(graphs.found), len(graphs.of_inference)) == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("make", [mlp, cnn])
def test_the_code_that_torch_makes_predicts_and_evaluates_as_plain_steps(make):
    model = make()
    x, y = samples(model)
    found = []
    for setting in (True, False):
        model.compile("sgd", "sparse_categorical_crossentropy", ["accuracy"], jit_compile=setting)
        found.append((model.predict(x, batch_size=4), model.evaluate(x, y, batch_size=4, verbose=0)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
def test_an_evaluation_by_one_graph_counts_what_metrics_keep():
    graphs, model = Graphs(), mlp()
    x, _ = samples(model)
    y = np.eye(3)[np.arange(22) % 3]
    numbers = []
    for setting in (graphs.setting, False):
        model.compile("sgd", "categorical_crossentropy", [AUC(name="auc"), "accuracy"], jit_compile=setting)
        numbers.append([model.evaluate(x, y, batch_size=4, verbose=0) for _ in range(2)])
    np.testing.assert_allclose(*numbers, rtol=1e-6)
    assert (len(graphs.found), len(graphs.of_inference)) == (0, 1)


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
def test_hooks_see_every_batch_of_a_prediction():
    seen, graphs, model = [], Graphs(), cnn()
    model.compile("sgd", "mse", jit_compile=graphs.setting)
    x, _ = samples(model, 16)
    expected = predicted(model, x)
    with model.layers[1].register_forward_hook(lambda *given: seen.append(given)):
        predicted(model, x)
    assert len(seen) == 4
    np.testing.assert_array_equal(predicted(model, x), expected)
    assert (len(seen), len(graphs.of_inference)) == (4, 1)


def test_layers_that_come_and_go_are_in_the_next_prediction():
    model = Sequential([Dense(4, activation="relu", input_shape=(6,)), Dense(3)])
    model.compile("sgd", "mse", jit_compile=Graphs().setting)
    x = np.random.default_rng(0).standard_normal((12, 6)).astype("float32")
    model.predict(x, batch_size=4)
    model.add(Activation("softmax"))
    assert model.predict(x, batch_size=4).sum(-1) == pytest.approx(1.0)
    model.pop()
    model.pop()
    assert model.predict(x, batch_size=4).shape == (12, 4)


@pytest.mark.parametrize("gate", ["sigmoid", "hard_sigmoid"])
def test_predictions_of_what_walks_along_time_stay_between_graphs(gate):
    graphs, model = Graphs(), recurrent(gate)
    x, _ = samples(model)
    expected = predicted(model, x)
    model.compile("sgd", "mse", jit_compile=graphs.setting)
    np.testing.assert_allclose(predicted(model, x), expected, rtol=1e-5, atol=1e-6)
    assert 1 <= len(graphs.of_inference) <= 2


def test_steps_of_ones_own_are_as_they_are():
    class Own(Model):
        def predict_step(self, data):
            return super().predict_step(data) + 1

        def test_step(self, data):
            return {**super().test_step(data), "own": torch.ones(())}

    graphs, inputs = Graphs(), Input((6,))
    model = Own(inputs, Dense(1, kernel_initializer="zeros")(inputs))
    model.compile("sgd", "mse", jit_compile=graphs.setting)
    x = np.zeros((12, 6), "float32")
    assert model.predict(x, batch_size=4) == pytest.approx(1.0)
    assert model.evaluate(x, x[:, :1], batch_size=4, verbose=0) == [0.0, 1.0]
    assert graphs.of_inference == []


# --- where there is no single graph ---------------------------------------------------------------------------------


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
@pytest.mark.parametrize("gate", ["sigmoid", "hard_sigmoid"])
def test_torchs_own_recurrent_kernel_and_the_scan_stay_between_graphs(gate):
    graphs = Graphs()
    make = partial(recurrent, gate)
    alike(trained(make, graphs.setting), trained(make, False))
    assert 2 <= len(graphs.found) <= 4
    operations = [node.target for module in graphs.found for node in module.graph.nodes]
    assert sum("sigmoid" in str(target) for target in operations) == 0


class Opaque(Layer):
    """What torch.compile cannot follow."""

    def call(self, inputs):
        return inputs if inputs.is_meta else inputs * (2.0 if inputs.detach().numpy().tobytes().hex()[:2] else 1.0)


def opaque():
    inputs = Input((6,))
    return Model(inputs, Dense(3, activation="softmax")(Opaque()(inputs)))


def test_what_torch_can_follow_in_parts_runs_in_parts():
    alike(trained(opaque, {"backend": "eager"}), trained(opaque, False))


def test_what_torch_cannot_compile_is_told():
    def refuses(module, example_inputs):
        raise NotImplementedError("no such kernel")

    with pytest.raises(RuntimeError, match=r"^jit_compile: torch.compile cannot compile the step \(.*no such kernel"):
        trained(mlp, {"backend": refuses})


@pytest.mark.torch("2.12", "gradients inside of a compiled step")
def test_a_number_that_changes_all_the_time_ends_compiling_with_a_warning():
    class Scaled(Layer):
        factor = 1.0

        def call(self, inputs):
            return inputs * self.factor

    def make():
        inputs = Input((6,))
        return Model(inputs, Dense(3, activation="softmax")(Scaled(name="scaled")(inputs)))

    class Change(Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.model.get_layer("scaled").factor = 1.0 + epoch

    with pytest.warns(RuntimeWarning, match="^jit_compile: torch.compile cannot compile the step again"):
        found = trained(make, {"backend": "eager"}, epochs=12, callbacks=[Change()])
    alike(found, trained(make, False, epochs=12, callbacks=[Change()]))


def test_other_settings_are_refused():
    for setting in (None, 1.5, "always", {"speed": 2}):
        with pytest.raises(ValueError, match=r"^compile: jit_compile"):
            trained(mlp, setting)

    class Own(Model):
        def train_step(self, data):
            return super().train_step(data)

    inputs = Input((6,))
    model = Own(inputs, Dense(3)(inputs))
    with pytest.raises(ValueError, match="is for the built-in train step; Own has one of its own"):
        model.compile("sgd", "mse", jit_compile=True)
    model.compile("sgd", "mse")


def test_a_model_is_copied_and_saved_without_its_graphs(tmp_path):
    model = mlp()
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile={"backend": "eager"})
    x, y = samples(model, 12)
    model.fit(x, y, batch_size=4, verbose=0)
    torch.save(model, tmp_path / "model.pt")
    model.save(tmp_path / "model.keras")
    again = torch.load(tmp_path / "model.pt", weights_only=False)
    models = (model, again, copy.deepcopy(model), torchkeras.models.load_model(tmp_path / "model.keras"))
    one, *others = (each.fit(x, y, batch_size=4, verbose=0, shuffle=False).history["loss"] for each in models)
    assert [other == pytest.approx(one, rel=1e-5) for other in others] == [True] * 3

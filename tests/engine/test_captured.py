"""`compile(cuda_graph=True)`: the same numbers by replays; what a replay does not read of Python."""

from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from tape import tensors_of
from test_jit import Graphs, alike, cnn, masked, mlp, penalized, recurrent, samples, trained

from torchkeras import Input, Model, clear_session, config
from torchkeras.callbacks import BackupAndRestore, Callback, LambdaCallback, LearningRateScheduler
from torchkeras.engine import auto, captured
from torchkeras.engine.python_state import PythonState
from torchkeras.layers import BatchNormalization, Dense, Dropout, GaussianNoise, Lambda, Layer
from torchkeras.metrics import SparseCategoricalAccuracy
from torchkeras.optimizers import SGD, Adam, AdamW, RMSprop
from torchkeras.optimizers.schedules import ExponentialDecay
from torchkeras.regularizers import L1L2


def dropping():
    inputs = Input((6,))
    hidden = Dropout(0.5)(GaussianNoise(0.3, seed=5)(Dense(8, activation="relu")(inputs)))
    return Model(inputs, Dense(3, activation="softmax")(BatchNormalization(momentum=0.5)(hidden)))


EXACT: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-7}


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (mlp, {}),
        (mlp, {"weights": True, "weighted_metrics": ["accuracy"]}),
        (mlp, {"metrics": [SparseCategoricalAccuracy(name="own")]}),
        (mlp, {"optimizer": "adam", "callbacks": [LearningRateScheduler(lambda epoch: 0.01 / (1 + epoch))]}),
        (mlp, {"on_nonfinite": "skip"}),
        (mlp, {"on_nonfinite": "raise"}),
        (cnn, {}),
        (masked, {}),
        (penalized, {}),
        (dropping, {}),
        (recurrent, {}),
        (lambda: recurrent("hard_sigmoid"), {}),
    ],
)
def test_captured_steps_give_the_numbers_of_plain_ones(tape, make, options):
    alike(
        trained(make, False, cuda_graph=True, epochs=4, **options),
        trained(make, False, cuda_graph=False, epochs=4, **options),
        **EXACT,
    )
    assert tape.captures == 2  # of training, of evaluation
    assert tape.replays > 20


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_is_captured(tape, policy):
    def make():
        inputs = Input((6,))
        hidden = Dense(8, activation="relu", dtype=policy)(inputs)
        return Model(inputs, Dense(3, activation="softmax", dtype=policy)(hidden))

    alike(trained(make, False, cuda_graph=True), trained(make, False), **EXACT)
    assert (tape.captures, tape.replays) == (2, 26)


class Change(Callback):
    """Calls a function with the model and a number, before each epoch."""

    def __init__(self, change):
        super().__init__()
        self.change, self.count = change, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.change(self.model, epoch)


class ChangeByBatch(Change):
    """And before every seventh batch."""

    def on_batch_begin(self, batch, logs=None):
        self.count += 1
        if self.count % 7 == 0:
            self.change(self.model, self.count)


FACTOR = 1.0
settings = ModuleType("settings")
settings.factor = 1.0  # type: ignore[attr-defined]


def changeable():
    held = {"factor": 1.0}

    class Scaled(Layer):
        factor = 1.0

        def call(self, inputs):
            return inputs * self.factor * FACTOR * held["factor"] * settings.factor

    inputs = Input((6,))
    hidden = Dense(8, activation="relu", kernel_regularizer=L1L2(l2=0.01), name="dense")(inputs)
    hidden = BatchNormalization(momentum=0.5, name="normalization")(Scaled(name="scaled")(hidden))
    hidden = Dropout(0.5, name="dropout")(hidden)
    model = Model(inputs, Dense(3, activation="softmax", name="last")(hidden))
    model.held = held
    return model


def set_rate(model, number):
    model.get_layer("dropout").rate = 0.1 + 0.01 * number


def set_penalty(model, number):
    object.__setattr__(model.get_layer("dense").kernel_regularizer, "l2", 0.01 * number)


def set_own_attribute(model, number):
    model.get_layer("scaled").factor = 1.0 + 0.1 * number


def set_attribute_of_the_class(model, number):
    type(model.get_layer("scaled")).factor = 1.0 + 0.1 * number


def set_global(model, number):
    global FACTOR
    FACTOR = 1.0 + 0.1 * number


def set_attribute_of_a_module(model, number):
    settings.factor = 1.0 + 0.1 * number  # type: ignore[attr-defined]


def set_what_is_closed_over(model, number):
    model.held["factor"] = 1.0 + 0.1 * number


def set_activation(model, number):
    model.get_layer("dense").activation = torch.tanh if number % 2 else torch.relu


def move_weights(model, number):
    parameter = model.get_layer("last").linear.weight
    parameter.data = parameter.data.clone() * 0.9


def stop_dropping(model, number):
    model.get_layer("dropout").train(bool(number % 2))


def set_epsilon(model, number):
    config.set_epsilon(0.1 + 0.01 * number)


CHANGES = [
    *(set_rate, set_penalty, set_own_attribute, set_attribute_of_the_class, set_global, set_attribute_of_a_module),
    *(set_what_is_closed_over, set_activation, move_weights, stop_dropping, set_epsilon),
]


@pytest.mark.parametrize("callback", [Change, ChangeByBatch])
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_in_python_counts_at_once(tape, monkeypatch, change, callback):
    found = []
    for captures in (True, False):
        set_global(None, 0)
        set_attribute_of_a_module(None, 0)
        monkeypatch.setitem(config._settings, "epsilon", 1e-7)
        found.append(
            trained(changeable, False, cuda_graph=captures, epochs=4, callbacks=[callback(change)], metrics=None)
        )
    alike(*found, **EXACT)
    assert tape.captures >= 3
    monkeypatch.undo()
    unchanged = trained(changeable, False, epochs=4, metrics=None)
    assert unchanged[0]["loss"] != found[1][0]["loss"]  # it is a change


def test_another_setting_is_a_change():
    state = PythonState(torch.device("cpu"))
    assert state.change() is None
    with torch.autocast("cpu"):
        assert state.change() == "a setting of torchkeras or torch"
    assert state.change() is None


class Slotted:
    __slots__ = ("kept",)


def test_what_a_state_sees():
    held, slotted = {"list": list(range(600)), "long": list(range(2000)), "number": 1000.5}, Slotted()
    slotted.kept = 1.5
    state = PythonState(torch.device("cpu"), held, slotted)
    assert state.change() is None
    held["long"][5] = 0.5
    assert state.change() is None  # as the docstring says
    held["long"].append(1)
    assert state.change() == "dict.long"
    held["long"].pop()
    held["list"][599] = 1.5
    assert state.change() == "dict.list"
    state = PythonState(torch.device("cpu"), held, slotted)
    slotted.kept = 2.5
    assert state.change() == "Slotted"


def test_a_number_on_the_host_that_is_written_to_is_a_change():
    number, weight = torch.ones(()), torch.ones(3, device="meta")
    state = PythonState(weight.device, [number, {"a": weight}])
    weight.add_(1)
    assert state.change() is None
    number.add_(1)
    assert state.change() == "list.0"


def test_a_step_that_changes_what_it_reads_is_not_captured(tape):
    class Counting(Layer):
        calls = 0

        def call(self, inputs):
            self.calls += 1
            return inputs * (1.0 + 0.1 * (self.calls % 3))

    def make():
        inputs = Input((6,))
        return Model(inputs, Dense(3, activation="softmax")(Counting(name="counting")(inputs)))

    message = r"^cuda_graph: calls of the step are not captured, since .*\(.*counting\)"
    with pytest.warns(RuntimeWarning, match=message), pytest.warns(RuntimeWarning, match="calls of the evaluation"):
        found = trained(make, False, cuda_graph=True)
    alike(found, trained(make, False), **EXACT)
    assert tape.replays == 0


@pytest.mark.parametrize("steps", [1, 2])
def test_what_waits_for_the_device_is_told(tape, steps):
    inputs = Input((6,))
    model = Model(inputs, Dense(3)(Lambda(lambda x: x if x.is_meta or x.sum().item() else 2 * x)(inputs)))
    model.compile("sgd", "mse", jit_compile=False, cuda_graph=True, steps_per_execution=steps)
    weights = []
    x = np.ones((24, 6), "float32")
    message = (
        r"^cuda_graph: the (step|execution) cannot be captured \(operation not permitted when stream is capturing\). "
        "Compile the model with cuda_graph=False.$"
    )
    with pytest.raises(RuntimeError, match=message):
        model.fit(
            x, x[:, :3], batch_size=4, verbose=0,
            callbacks=[LambdaCallback(on_batch_end=lambda *_: weights.append(model.get_weights()))],
        )  # fmt: skip
    for now, then in zip(model.get_weights(), weights[-1], strict=True):
        np.testing.assert_array_equal(now, then)
    assert len(weights) == 2
    assert model.optimizer.iterations == 2 * steps


def test_predictions_and_logs_have_memory_of_their_own(tape):
    logs = []
    for captures in (True, False):
        torch.manual_seed(1)
        model = cnn()
        x, y = samples(model, 24)
        model.compile(SGD(0.0), "sparse_categorical_crossentropy", jit_compile=False, cuda_graph=captures)
        kept = []
        model.fit(
            x, y, batch_size=4, verbose=0, shuffle=False,
            callbacks=[LambdaCallback(on_batch_end=lambda batch, told, kept=kept: kept.append(told))],
        )  # fmt: skip
        logs.append([each["loss"] for each in kept])
        logs.append(model.predict(x, batch_size=4).tolist())
        logs.append(model.evaluate(x, y, batch_size=4, verbose=0))
    assert len(set(logs[0])) == 6
    for one, other in zip(logs[:3], logs[3:], strict=True):
        np.testing.assert_allclose(one, other, **EXACT)
    assert (tape.captures, tape.replays) == (3, 4 + 4 + 4)


def test_predictions_of_any_length_go_by_one_graph(tape):
    model = cnn()
    x, _ = samples(model, 4000)
    expected = model.predict(x, batch_size=4)
    model.compile("sgd", "mse", jit_compile=False, cuda_graph=True)
    for count in (12, 4000, 16):
        np.testing.assert_allclose(model.predict(x[:count], batch_size=4), expected[:count], **EXACT)
    assert (tape.captures, tape.replays) == (1, 3 + 1000 + 4 - 2)


def test_single_batches_are_captured_as_well(tape):
    found = []
    for captures in (True, False):
        torch.manual_seed(0)
        model = dropping()
        model.compile("adam", "sparse_categorical_crossentropy", jit_compile=False, cuda_graph=captures)
        x, y = samples(model, 8)
        found.append([model.train_on_batch(x, y) for _ in range(6)])
    np.testing.assert_allclose(found[0], found[1], **EXACT)
    assert (tape.captures, tape.replays) == (1, 4)


class Repeated:
    """In the place of `CudaGraph`, for calls that change the `changing` alone: torch compiles nothing under a tape."""

    replays = 0
    changing: ClassVar[list[torch.Tensor]] = []

    def __init__(self, generators):
        assert generators == []

    def capture(self, call):
        before = [tensor.clone() for tensor in self.changing]
        self.call, self.found = call, call()
        with torch.no_grad():
            for tensor, kept in zip(self.changing, before, strict=True):
                tensor.copy_(kept)
        return self.found

    def replay(self):
        Repeated.replays += 1
        for place, tensor in zip(tensors_of(self.found), tensors_of(self.call()), strict=True):
            place.copy_(tensor)


def test_compiled_steps_are_captured(tape, monkeypatch):
    monkeypatch.setattr(captured, "CudaGraph", Repeated)
    monkeypatch.setattr(Repeated, "replays", 0)
    graphs = Graphs()
    alike(trained(mlp, graphs.setting, cuda_graph=True), trained(mlp, False))
    assert (len(graphs.found), len(graphs.of_inference)) == (1, 1)
    assert Repeated.replays == 26


def test_only_what_others_may_have_changed_is_looked_at(tape, monkeypatch):
    looks, change = [], PythonState.change
    monkeypatch.setattr(PythonState, "change", lambda state: looks.append(state) or change(state))
    model = mlp()
    model.compile("sgd", "sparse_categorical_crossentropy", ["accuracy"], jit_compile=False, cuda_graph=True)
    x, y = samples(model, 40)
    model.fit(x, y, batch_size=4, epochs=3, verbose=0)
    assert (len(looks), tape.replays) == (3, 28)
    model.fit(x, y, batch_size=4, epochs=3, verbose=0, callbacks=[LambdaCallback(on_batch_end=lambda *_: None)])
    assert (len(looks), tape.replays) == (3 + 30, 28 + 30)


def test_of_auto_plain_steps_are_captured_where_that_was_said(tape, monkeypatch):
    monkeypatch.setattr(captured, "CudaGraph", Repeated)
    monkeypatch.setattr(Repeated, "replays", 0)
    graphs = Graphs()
    monkeypatch.setattr(auto, "SECONDS", 0.0)
    monkeypatch.setattr(auto, "SECONDS_A_LAYER", 0.0)
    monkeypatch.setattr(auto, "WINDOW_SECONDS", 0.001)
    monkeypatch.setattr(auto, "FROM_CPP", graphs.setting)
    model = mlp()
    model.compile("sgd", "sparse_categorical_crossentropy", cuda_graph=True)
    x, y = samples(model, 400)
    model.fit(x, y, batch_size=4, epochs=2, verbose=0)
    assert not model._learn.tries
    assert len(graphs.found) == 1
    assert Repeated.replays > 150


# --- several steps in one graph --------------------------------------------------------------------------------------


def rates():
    return LearningRateScheduler(lambda epoch: 0.05 / (1 + epoch))


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (mlp, {"optimizer": lambda: "adam"}),
        (mlp, {"optimizer": lambda: Adam(amsgrad=True, clipnorm=0.1, decay=0.1, lr_multipliers={"dense_1": 0.5})}),
        (mlp, {"optimizer": lambda: AdamW(0.01, weight_decay=0.1, no_weight_decay=["bias"])}),
        (mlp, {"optimizer": lambda: SGD(ExponentialDecay(0.1, 3, 0.5))}),
        (mlp, {"optimizer": lambda: SGD(0.1, momentum=0.9), "callbacks": lambda: [rates()]}),
        (mlp, {"optimizer": lambda: SGD(0.1, momentum=0.9, nesterov=True, clipvalue=0.1, weight_decay=0.1)}),
        (mlp, {"optimizer": lambda: RMSprop(0.01, decay=0.1)}),
        (mlp, {"metrics": lambda: [SparseCategoricalAccuracy(name="own")], "weights": lambda: True}),
        (cnn, {}),
        (masked, {}),
        (penalized, {}),
        (dropping, {}),
        (recurrent, {}),
    ],
)
def test_several_steps_in_one_graph_give_the_numbers_of_single_ones(tape, make, options):
    in_pairs_alike(make, options)
    # Of an epoch's five whole batches of 4, and one of 2, the third pair is of two sizes.
    assert (tape.captures, tape.replays) == (2, 2 * 5 - 2 + 5 * 5 - 2)


def test_averages_begin_before_several_steps_are_captured(tape):
    in_pairs_alike(mlp, {"optimizer": lambda: Adam(0.01, weight_decay=0.1, use_ema=True, ema_momentum=0.5)})
    assert (tape.captures, tape.replays) == (2, 2 * 5 - 4 + 5 * 5 - 2)


def test_an_option_that_ends_capturing_in_an_epoch_counts_at_once(tape):
    class Accumulate(Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 3:
                self.model.optimizer.gradient_accumulation_steps = 2

    in_pairs_alike(mlp, {"callbacks": lambda: [Accumulate()], "optimizer": lambda: SGD(0.1)})


def in_pairs_alike(make, options):
    def run(captures):
        given = {name: value() for name, value in options.items()}
        return trained(make, False, cuda_graph=captures, epochs=5, steps_per_execution=2, **given)

    alike(run(True), run(False), **EXACT)


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: "nadam",
        lambda: RMSprop(0.01, momentum=0.9),
        lambda: SGD(0.1, gradient_accumulation_steps=2),
        lambda: Adam(use_ema=True, ema_overwrite_frequency=3),
    ],
)
def test_steps_whose_updates_are_decided_on_the_host_are_captured_one_by_one(tape, optimizer):
    runs = [
        trained(mlp, False, cuda_graph=captures, steps_per_execution=2, optimizer=optimizer())
        for captures in (True, False)
    ]
    alike(*runs, **EXACT)
    assert (tape.captures, tape.replays) == (2, 26)


def test_hooks_around_several_steps_in_one_graph(tape):
    told = []
    for captures in (True, False):
        torch.manual_seed(0)
        model, heard = mlp(), []
        model.compile("adam", "sparse_categorical_crossentropy", ["accuracy"], cuda_graph=captures,
                      jit_compile=False, steps_per_execution=3)  # fmt: skip
        callback = LambdaCallback(
            on_batch_begin=lambda batch, logs, heard=heard: heard.append((batch, logs["size"])),
            on_batch_end=lambda batch, logs, heard=heard: heard.append((batch, logs["size"], logs["loss"])),
        )
        x, y = samples(model, 30)
        model.fit(x, y, batch_size=4, epochs=4, shuffle=False, verbose=0, callbacks=[callback])
        told.append(heard)
    assert [each[:2] for each in told[0]] == [each[:2] for each in told[1]]
    assert [each[:2] for each in told[0]][:6] == [(0, 4), (2, 12), (3, 4), (5, 12), (6, 4), (7, 6)]
    for one, other in zip(*told, strict=True):
        assert one == pytest.approx(other, rel=1e-6)
    assert tape.replays == 2 * 4 - 2


def test_several_compiled_steps_in_one_graph(tape, monkeypatch):
    monkeypatch.setattr(captured, "CudaGraph", Repeated)
    monkeypatch.setattr(Repeated, "replays", 0)

    class Watched(Callback):
        def on_epoch_begin(self, epoch, logs=None):
            monkeypatch.setattr(Repeated, "changing", [*self.model.parameters(), *self.model.optimizer.tensors()])

    graphs = Graphs()
    runs = [
        trained(mlp, setting, cuda_graph=captures, steps_per_execution=2, epochs=4, callbacks=[Watched()])
        for setting, captures in ((graphs.setting, True), (False, False))
    ]
    alike(*runs)
    assert len(graphs.found) == 1
    assert Repeated.replays == 2 * 4 - 2 + 4 * 5 - 2


def test_two_models_by_one_optimizer_in_turns(tape):
    def run(captures):
        torch.manual_seed(0)
        optimizer, models = SGD(0.1), (mlp(), mlp())
        for model in models:
            model.compile(
                optimizer, "sparse_categorical_crossentropy", jit_compile=False, cuda_graph=captures,
                steps_per_execution=2,
            )  # fmt: skip
        x, y = samples(models[0], 40)
        for _ in range(3):
            for model in models:
                model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False)
        return [weight for model in models for weight in model.get_weights()]

    for mine, theirs in zip(run(True), run(False), strict=True):
        np.testing.assert_allclose(mine, theirs, **EXACT)
    assert tape.replays > 20


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_captured_run_that_was_stopped_goes_on_to_the_same_weights(tape, tmp_path, steps):
    def run(*callbacks):
        clear_session()
        torch.manual_seed(0)
        model = dropping()
        options = {"jit_compile": False, "cuda_graph": True, "steps_per_execution": steps}
        model.compile(Adam(ExponentialDecay(0.01, 3, 0.5)), "sparse_categorical_crossentropy", ["acc"], **options)
        x, y = samples(model, 58)
        history = model.fit(x, y, batch_size=4, epochs=4, verbose=0, callbacks=list(callbacks)).history
        return model.get_weights(), history["loss"], history["acc"]

    def stop(batch, logs):
        calls.append(batch)
        if len(calls) == 17:
            raise StoppedError

    calls, backup = [], BackupAndRestore(tmp_path, save_freq=steps)
    with pytest.raises(StoppedError):
        run(backup, LambdaCallback(on_batch_end=stop))
    found = run(BackupAndRestore(tmp_path, save_freq=steps))
    expected = run()
    assert found[1:] == expected[1:]
    for mine, theirs in zip(found[0], expected[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert tape.captures >= 3


@pytest.mark.parametrize("name", ["beta_1", "clipnorm", "weight_decay", "epsilon"])
def test_options_of_the_optimizer_count_from_the_next_steps_on(tape, name):
    def change(model, number):
        setattr(model.optimizer, name, 0.5 / (1 + number))

    runs = [
        trained(
            mlp, False, cuda_graph=captures, steps_per_execution=2, epochs=4, callbacks=[Change(change)],
            optimizer=Adam(clipnorm=1.0, weight_decay=0.1),
        )
        for captures in (True, False)
    ]  # fmt: skip
    alike(*runs, **EXACT)


@pytest.mark.cuda
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("make", [mlp, cnn, masked, recurrent, lambda: recurrent("hard_sigmoid")])
def test_on_a_device_captured_steps_give_the_numbers_of_plain_ones_and_wait_for_nothing(make, steps):
    watched = LambdaCallback(
        on_epoch_begin=lambda epoch, _: torch.cuda.set_sync_debug_mode("error" if epoch > 1 else "default"),
        on_epoch_end=lambda *_: torch.cuda.set_sync_debug_mode("default"),
    )
    try:
        found = trained(make, False, cuda_graph=True, epochs=5, steps_per_execution=steps, callbacks=[watched])
    finally:
        torch.cuda.set_sync_debug_mode("default")
    alike(found, trained(make, False, epochs=5, steps_per_execution=steps), rtol=1e-4, atol=1e-5)


@pytest.mark.cuda
def test_on_a_device_dropout_goes_on_drawing():
    inputs = Input((1000,))
    model = Model(
        inputs, Dropout(0.5)(Dropout(0.25, seed=3)(Dense(1000, use_bias=False, kernel_initializer="identity")(inputs)))
    )
    model.compile(SGD(0.0), "mae", jit_compile=False, cuda_graph=True)
    ones, losses = np.ones((64, 1000), "float32"), []
    told = LambdaCallback(on_batch_end=lambda batch, logs: losses.append(logs["loss"]))
    model.fit(ones, 0 * ones, batch_size=4, epochs=2, verbose=0, callbacks=[told])
    assert len(set(losses)) > 24
    assert np.mean(losses) == pytest.approx(1.0, abs=0.05)

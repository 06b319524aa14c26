"""Threads at one model, and at what is the same for all models: none sees what another one does."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import torchkeras
from torchkeras import Input, Model, Sequential, callbacks, layers, metrics
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.fit.results import Sums
from torchkeras.engine.fit.training import Training
from torchkeras.engine.modes import in_mode
from torchkeras.models import load_model

X = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
Y = X[:, :2].copy()


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What `work(number)` gives in so many threads, which begin together."""
    start = threading.Barrier(count)

    def run(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


class Own(layers.Layer):
    """A layer of a user's with a module of torch that computes by its mode."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.drop = nn.Dropout(0.5)

    def call(self, inputs: Any) -> Any:
        return self.drop(inputs)


class OfTorch(nn.Module):
    """Looks at its mode in a helper, where its `forward` does not show it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8)

    def forward(self, inputs: Any) -> Any:
        return self._noisy(self.norm(self.linear(inputs)))

    def _noisy(self, values: Any) -> Any:
        return values + torch.rand_like(values) if self.training else values


def noisy(**options: Any) -> Model:
    inputs = Input((6,))
    x = layers.BatchNormalization()(layers.Dense(8, activation="relu")(inputs))
    x = layers.GaussianNoise(1.0)(layers.Dropout(0.5)(x))
    x = layers.TorchModule(OfTorch())(Own()(x))
    x = layers.Reshape((4, 2))(x)
    x = layers.LSTM(5, dropout=0.5)(x)
    model = Model(inputs, layers.Dense(2)(x))
    model.compile("sgd", "mse", jit_compile=False, **options)
    return model


def state(model: Model) -> list[Any]:
    return [each.training for each in model.modules()] + [each.tolist() for each in model.state_dict().values()]


@pytest.mark.parametrize("mode", [True, False])
def test_threads_that_predict_leave_each_other_and_the_model_alone(mode: bool):
    model = noisy().train(mode)
    expected, before = model.predict(X), state(model)
    numbers = model.evaluate(X, Y, verbose=0)

    def work(number: int) -> None:
        for _ in range(8):
            np.testing.assert_allclose(model.predict(X, batch_size=16), expected, atol=1e-6)
            with torch.no_grad():
                np.testing.assert_allclose(model(torch.from_numpy(X), training=False), expected, atol=1e-6)
            assert model.evaluate(X, Y, verbose=0) == pytest.approx(numbers)
            assert model.test_on_batch(X, Y) == pytest.approx(numbers)

    in_threads(4, work)
    assert state(model) == before


def test_a_run_that_begins_in_another_thread_leaves_the_sums_of_this_one_alone(monkeypatch):
    model = noisy()
    numbers = model.evaluate(X, Y, verbose=0)
    others = Sums()  # another thread has always begun after this one, and has counted
    others.add({"loss": torch.tensor(9.0)}, 64)
    monkeypatch.setattr(Training, "sums", property(lambda _: others, lambda *_: None), raising=False)
    assert model.evaluate(X, Y, verbose=0) == numbers
    assert model.test_on_batch(X, Y) == pytest.approx(numbers)


@pytest.fixture
def compiling():
    """Another thread is inside torch.compile, which says so by a flag of the whole process."""
    begun, ended = threading.Event(), threading.Event()

    def backend(graph: Any, _: Any) -> Any:
        begun.set()
        assert ended.wait(60)
        return graph.forward

    compiled = torch.compile(lambda x: x.sin() + 1, backend=backend)
    thread = threading.Thread(target=compiled, args=(torch.ones(3),))
    thread.start()
    assert begun.wait(60)
    yield
    ended.set()
    thread.join()


def test_the_fixture_compiles(compiling):
    assert not is_compiling()


def test_predictions_while_another_thread_compiles(request):
    model, seen = noisy().train(), []
    expected, before, numbers = model.predict(X), state(model), model.evaluate(X, Y, verbose=0)
    request.getfixturevalue("compiling")
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_allclose(model.predict(X[:1]), expected[:1], atol=1e-6)
    with torch.no_grad():
        np.testing.assert_array_equal(model(torch.from_numpy(X), training=False), expected)
    assert model.evaluate(X, Y, verbose=0) == numbers
    assert state(model) == before
    model.get_layer(index=5).drop.register_forward_hook(lambda *_: seen.append(1))
    model.predict(X, batch_size=16)
    assert len(seen) == 4


def test_a_training_while_another_thread_compiles(request):
    def trained() -> Any:
        torchkeras.clear_session()
        torch.manual_seed(0)
        model = noisy()
        history = model.fit(X, Y, epochs=2, batch_size=8, verbose=0)
        return history.history["loss"], model.evaluate(X, Y, verbose=0), state(model)

    alone = trained()
    request.getfixturevalue("compiling")
    assert trained() == alone


class Watching(callbacks.Callback):
    """Counts the batches in which some layer was not in training."""

    batches = off = 0

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.batches += 1
        self.off += not all(each.training for each in self.model.modules() if isinstance(each, layers.Layer))


def test_predictions_beside_a_training_change_nothing_in_it():
    def trained(beside: int) -> tuple[Any, Any]:
        torch.manual_seed(0)
        torchkeras.clear_session()
        model, watching, ended = noisy(), Watching(), threading.Event()
        model.layers[3].rate = 0.0  # what is drawn at random comes in another order
        for layer in model.layers:
            for name in ("rate", "stddev", "dropout"):
                if hasattr(layer, name):
                    setattr(layer, name, 0.0)
        model.get_layer(index=5).drop.p = 0.0

        def predict(_: int) -> int:
            count = 0
            while not ended.is_set():
                assert np.isfinite(model.predict(X)).all()
                count += 1
            return count

        with ThreadPoolExecutor(max(1, beside)) as pool:
            counts = [pool.submit(predict, number) for number in range(beside)]
            history = model.fit(X, Y, epochs=6, batch_size=8, shuffle=False, verbose=0, callbacks=[watching])
            ended.set()
            assert all(each.result() for each in counts)
        assert (watching.batches, watching.off) == (48, 0)
        return history.history["loss"], [weight.tolist() for weight in model.get_weights()]

    random = OfTorch._noisy
    OfTorch._noisy = lambda self, values: values * 2.0 if self.training else values  # type: ignore[method-assign]
    try:
        assert trained(3) == trained(0)
    finally:
        OfTorch._noisy = random  # type: ignore[method-assign]


def test_one_thread_trains_a_model():
    model = noisy(metrics=[metrics.MeanAbsoluteError()])
    begun, told, errors = threading.Event(), threading.Event(), []

    class Waiting(callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.model.test_on_batch(X, Y)  # of the thread that trains
            begun.set()
            assert told.wait(20)

    def other() -> None:
        assert begun.wait(20)
        for method in (model.fit, model.train_on_batch, model.evaluate, model.test_on_batch):
            with pytest.raises(RuntimeError) as error:
                method(X, Y)
            errors.append(str(error.value))
        told.set()

    thread = threading.Thread(target=other)
    thread.start()
    history = model.fit(X, Y, batch_size=64, verbose=0, callbacks=[Waiting()])
    thread.join()
    name = threading.current_thread().name
    assert errors == [
        f"{method}: Model {model.name!r} is being trained by the thread {name!r}. Train and evaluate a model in one "
        "thread at a time, or a copy of it by clone_model in another."
        for method in ("fit", "train_on_batch", "evaluate", "test_on_batch")
    ]
    assert model.history is history
    model.fit(X, Y, verbose=0)
    copy.deepcopy(model).fit(X, Y, verbose=0)
    assert pickle.dumps(Sequential([layers.Dense(1, input_shape=(2,))]))


def test_evaluations_at_once_count_each_their_own():
    model = noisy(metrics=[metrics.MeanAbsoluteError()])
    alone = [model.evaluate(X[: 16 * k], Y[: 16 * k], verbose=0) for k in range(1, 5)]
    assert in_threads(4, lambda k: model.evaluate(X[: 16 * (k + 1)], Y[: 16 * (k + 1)], verbose=0)) == alone


def test_a_mode_that_code_sets_during_a_call_counts_in_that_call():
    class Doubting(layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.drop = layers.Dropout(0.5)

        def call(self, inputs: Any) -> Any:
            self.drop.train()
            return self.drop(inputs)

    model = Sequential([layers.Dense(50, input_shape=(6,), kernel_initializer="ones"), Doubting()])
    model.eval()
    found = model.predict(np.ones((2, 6)))
    assert 0 < (found == 0).sum() < found.size
    assert not any(each.training for each in model.modules())


def test_threads_load_build_and_clone(tmp_path):
    model = noisy()
    simple = Sequential([layers.Dense(3, input_shape=(6,)), layers.BatchNormalization(), layers.Dense(2)])
    simple.compile("adam", "mse")
    simple.save(tmp_path / "model.h5")
    expected, names = simple.predict(X), []

    def work(number: int) -> None:
        for _ in range(10):
            np.testing.assert_array_equal(load_model(tmp_path / "model.h5").predict(X), expected)
            made = Sequential([layers.Dense(2, input_shape=(3,))])
            names.append(made.layers[0].name)
            assert all(weight.value.device.type == "cpu" for weight in made.weights)
            assert copy.deepcopy(model).predict(X).shape == (64, 2)

    in_threads(4, work)
    assert torch.utils._device.CURRENT_DEVICE is None  # type: ignore[attr-defined]
    assert len(set(names)) == 40


def test_threads_that_call_a_layer_first_make_its_weights_once():
    for _ in range(20):
        layer = layers.Dense(4, kernel_initializer="ones")
        found = in_threads(4, lambda _, layer=layer: layer(torch.from_numpy(X)).detach())
        assert all(torch.equal(each, found[0]) for each in found)
        assert len(list(layer.parameters())) == 2


@pytest.fixture
def _turns() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class OwnCode(Model):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = layers.Dense(4), layers.Dense(2)

    def call(self, inputs: Any) -> Any:
        return self.last(torch.relu(self.first(inputs)))


@pytest.mark.usefixtures("_turns")
@pytest.mark.parametrize("made", [lambda: Sequential([layers.Dense(5), layers.Dense(2)]), OwnCode, noisy])
def test_threads_that_use_a_model_first_build_it_once(made: Callable[[], Model]):
    def call(model: Model) -> np.ndarray:
        with torch.no_grad():
            return model(torch.from_numpy(X), training=False).numpy()

    def tested(model: Model) -> np.ndarray:
        model.test_on_batch(X, Y)
        return model.predict_on_batch(X)

    uses = [lambda model: model.predict(X, batch_size=16), tested, call, lambda model: model.predict_on_batch(X)]
    for turn in range(15):
        model = made()
        model.compile("sgd", "mse", jit_compile=False)
        found = in_threads(4, lambda number, model=model, turn=turn: uses[(number + turn) % 4](model))
        for each in found:
            np.testing.assert_allclose(each, model.predict(X), atol=1e-6)


class Setting:
    """Sets an attribute of a layer whenever it is asked for its class, as another thread might at that moment."""

    def __init__(self, layer: layers.Layer):
        self.layer, self.count = layer, 0

    @property
    def __class__(self) -> type:
        self.count += 1
        self.layer.__dict__[f"note_{self.count}"] = self.count
        return Setting


def test_attributes_may_be_set_while_others_are_looked_at(tmp_path):
    model = OwnCode()
    model.predict(X)
    model.first.setting = Setting(model.first)
    model.compile("sgd", "mse", jit_compile=False)
    model.test_on_batch(X, Y)
    model.fit(X, Y, verbose=0, callbacks=[callbacks.BackupAndRestore(tmp_path)])
    copy.deepcopy(model).save_weights(tmp_path / "model.weights.h5")
    assert model.first.setting.count


@pytest.mark.usefixtures("_turns")
def test_a_layer_that_is_called_on_a_symbol_computes_on_in_other_threads():
    shared = layers.TorchModule(nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4)))
    inputs, ended = Input((6,)), threading.Event()
    model = Model(inputs, layers.Dense(2)(shared(inputs)))
    expected = model.predict(X)

    def predict() -> None:
        try:
            for _ in range(50):
                np.testing.assert_array_equal(model.predict(X), expected)
        finally:
            ended.set()

    with ThreadPoolExecutor(1) as pool:
        predicting = pool.submit(predict)
        while not ended.is_set():
            shared(Input((6,)))
        predicting.result()


def test_custom_objects_of_a_scope_are_those_of_its_thread():
    together = threading.Barrier(2)

    def work(number: int) -> tuple[Any, Any]:
        with torchkeras.custom_object_scope({"mine": lambda x: x * number}):
            together.wait()
            found = layers.Activation("mine")(torch.ones(1)).item()
            together.wait()
            inside = len(torchkeras.get_custom_objects())
        return found, inside

    known = len(torchkeras.get_custom_objects())
    assert in_threads(2, work) == [(0.0, known + 1), (1.0, known + 1)]
    assert len(torchkeras.get_custom_objects()) == known


@pytest.mark.torch("2.8", "compiled steps")
def test_steps_that_torch_compiles_see_the_mode_of_their_call():
    model = noisy()
    model.compile("sgd", "mse", jit_compile={"backend": "eager"})
    plain = model.predict(X, batch_size=16, callbacks=[callbacks.Callback()])
    model.train()
    for _ in range(3):
        np.testing.assert_allclose(model.predict(X, batch_size=16), plain, atol=1e-6)
        assert model.evaluate(X, Y, batch_size=16, verbose=0) == pytest.approx(np.square(plain - Y).mean(), rel=1e-4)
        model.train_on_batch(X[:16] * 0, Y[:16] * 0)
        plain = model.predict(X, batch_size=16, callbacks=[callbacks.Callback()])


@pytest.mark.torch("2.8", "compiled steps")
def test_code_that_was_compiled_before_any_mode_was_set_in_its_thread_follows_the_mode():
    inputs, found = Input((3,)), []
    model = Model(inputs, layers.Dropout(0.5)(inputs))

    def work():
        compiled = torch.compile(model, backend="eager", fullgraph=True)
        model.train()
        found.append(bool((compiled(torch.ones(64, 3)) == 0).any()))
        for mode in (False, True, None):
            with in_mode(mode):
                found.append(bool((compiled(torch.ones(64, 3)) == 0).any()))

    thread = threading.Thread(target=work)  # whose modes are those of a new thread
    thread.start()
    thread.join()
    assert found == [True, False, True, True]


FORKED = """
import os, sys, threading
import numpy as np, torch
from torchkeras import Input, Model, layers

torch.set_num_threads(1)
inputs = Input((6,))
model = Model(inputs, layers.Dense(2)(inputs))
model.compile("sgd", "mse")
x, y = np.ones((64, 6), "float32"), np.ones((64, 2), "float32")
expected = model.evaluate(x, y, verbose=0)
calls = []
real = torch.set_num_threads
torch.set_num_threads = lambda number: (calls.append(number), real(number))
if os.fork():
    model.evaluate(x, y, verbose=0)
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]) or bool(calls))
found, start = [], threading.Barrier(4)

def evaluate():
    start.wait()
    found.append(model.evaluate(x, y, verbose=0))

threads = [threading.Thread(target=evaluate) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
os._exit(not (found == [expected] * 4 and calls == [1]))
"""


def test_in_a_forked_process_one_thread_makes_torchs_pool():
    """torch 2.13 ends with "Invalid thread pool!" in 1 of some 100 forked processes whose threads begin together."""
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr

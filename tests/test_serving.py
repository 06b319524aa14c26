"""`serve`: each of many requests gets its own answer, by batches."""

from __future__ import annotations

import os
import re
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, Sequential, layers, serve
from torchkeras.engine.fit import methods

X = np.random.default_rng(0).normal(size=(200, 6)).astype("float32")


def made() -> Sequential:
    return Sequential([layers.Dense(4, input_shape=(6,), activation="tanh"), layers.Dropout(0.5), layers.Dense(2)])


class Seen:
    """The sizes of the batches that a model computes."""

    def __init__(self, model: Model):
        self.sizes: list[int] = []
        model.register_forward_pre_hook(lambda module, inputs: self.sizes.append(len(inputs[0])))


def test_requests_of_many_threads_are_gathered_and_answered_each_its_own():
    model = made()
    expected, seen = model.predict(X), Seen(model)
    with serve(model, max_batch=16, max_delay=0.05) as server, ThreadPoolExecutor(32) as pool:
        for row, wanted in zip(pool.map(server, X), expected, strict=True):
            np.testing.assert_allclose(row, wanted, rtol=1e-5, atol=1e-6)
    assert sum(seen.sizes) == len(X)
    assert max(seen.sizes) <= 16
    assert len(seen.sizes) < 60


def test_a_single_request_waits_no_longer_than_the_delay():
    model = made()
    with serve(model, max_batch=64, max_delay=0.2) as server:
        began = time.monotonic()
        np.testing.assert_allclose(server(X[0]), model.predict(X[:1])[0], rtol=1e-5)
        assert 0.2 <= time.monotonic() - began < 5


def test_forms_of_samples_and_outputs():
    first, second = Input((2,), name="first"), Input((None, 3), name="second")
    both = layers.Concatenate()([first, layers.GlobalAveragePooling1D()(second)])
    model = Model([first, second], {"sum": layers.Dense(1)(both), "all": both})
    with serve(model) as server:
        for size in (1, 4):
            sample = {"second": np.ones((size, 3)), "first": torch.ones(2)}
            found = server(sample)
            expected = model.predict({name: np.asarray(each)[None] for name, each in sample.items()})
            assert list(found) == ["sum", "all"]
            for name, value in found.items():
                np.testing.assert_allclose(value, expected[name][0], rtol=1e-6)
            in_order = server([sample["first"], sample["second"]])
            np.testing.assert_array_equal(in_order["all"], found["all"])
    with serve(made()) as server:
        assert server(X[0].tolist()).shape == (2,)


class Touchy(layers.Layer):
    """Takes no negative numbers."""

    def call(self, inputs):
        if inputs.device.type == "cpu" and (inputs < 0).any():
            raise ArithmeticError("negative")
        return inputs


def test_a_sample_that_fails_fails_alone():
    model = Sequential([Touchy(input_shape=(1,))])
    with serve(model, max_batch=8, max_delay=0.2) as server:
        answers = [server.submit(np.full(1, value)) for value in (1.0, -1.0, 2.0)]
        assert [answers[0].result(5).item(), answers[2].result(5).item()] == [1.0, 2.0]
        with pytest.raises(ArithmeticError, match="negative"):
            answers[1].result(5)


def test_what_is_refused():
    model = made()
    wanted = "has arrays of the shapes [(6,)], without a batch axis; found [(1, 6)]."
    with serve(model) as server:
        for sample, message in (
            (X[:1], f"serve: a sample for '{model.name}' {wanted}"),
            (
                np.array(list("abcdef")),
                (
                    "serve: a sample takes numbers; found strings. np.unique(texts, "
                    "return_inverse=True)[1] numbers texts."
                ),
            ),
            (
                np.ma.array(X[0], mask=X[0] == X[0, 0]),
                (
                    "serve: a sample got a masked array; masked are 1 of its values, and nothing here would leave them "
                    "out: pass array.filled(value)."
                ),
            ),
            ({"x": X[0]}, f"serve: '{model.name}' has the inputs {model.input_names}; found ['x']."),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
                server(sample)
    with pytest.raises(RuntimeError, match="is closed"):
        server(X[0])
    stateful = Sequential([layers.LSTM(2, stateful=True, batch_input_shape=(1, 3, 2))])
    for bad, options, error, message in (
        (stateful, {}, ValueError, "keeps states from batch to batch"),
        (Sequential([layers.Dense(1, batch_input_shape=(8, 2))]), {}, ValueError, "have a fixed batch size"),
        (torch.nn.Linear(1, 1), {}, TypeError, "model must be a Model"),
        (model, {"max_batch": 0}, ValueError, "serve: max_batch must be an integer of at least 1; found 0."),
        (model, {"max_delay": -1}, ValueError, "serve: max_delay must be a number of at least 0; found -1."),
    ):
        with pytest.raises(error, match=re.escape(message)):
            serve(bad, **options)


def test_waiting_ends():
    model = made()
    gate = threading.Event()
    model.register_forward_pre_hook(lambda module, inputs: gate.wait(20) and None)
    server = serve(model, max_batch=1)
    first, second = server.submit(X[0]), server.submit(X[1])
    assert second.cancel()
    with pytest.raises(TimeoutError):
        server(X[2], timeout=0.05)
    gate.set()
    assert first.result(20).shape == (2,)
    with pytest.raises(CancelledError):
        second.result(1)
    last = server.submit(X[3])
    server.close()
    assert last.result(0).shape == (2,)


def test_what_is_taken_back_while_it_is_computed_ends_nothing():
    model = made()
    begun, gate = threading.Event(), threading.Event()

    def hold(module, inputs):
        begun.set()
        gate.wait(20)

    model.register_forward_pre_hook(hold)
    with serve(model) as server:
        first = server.submit(X[0])
        assert begun.wait(20)
        assert first.cancel()
        gate.set()
        assert server(X[1], timeout=20).shape == (2,)
        assert first.cancelled()
        assert wait([first], 20).done == {first}


def test_a_batch_of_arrays_passes_the_network_and_no_source(monkeypatch):
    model, opened = made(), []
    expected, seen = model.predict(X[:8]), Seen(model)
    open_source = methods.source_of
    monkeypatch.setattr(
        methods, "source_of", lambda *given, **options: opened.append(1) or open_source(*given, **options)
    )
    with serve(model, max_batch=8, max_delay=20) as server:
        answers = [server.submit(row) for row in X[:8]]
        for answer, wanted in zip(answers, expected, strict=True):
            np.testing.assert_allclose(answer.result(20), wanted, rtol=1e-5, atol=1e-6)
    assert seen.sizes == [8]
    assert not opened


def test_a_callback_of_a_future_does_not_wait_for_itself():
    model, seen = made(), []
    message = (
        f"serve: the server of {model.name!r} was called in its own thread, and would wait for itself: use submit in a "
        "callback."
    )

    def ask(answer):
        with pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
            server(X[1])
        seen.append(server.submit(X[1]))
        server.close()

    server = serve(model)
    server.submit(X[0]).add_done_callback(ask)
    server._thread.join(20)
    assert seen[0].result(0).shape == (2,)


def test_an_exit_in_a_model_is_an_answer():
    model = made()

    def leave(module, inputs):
        raise SystemExit("enough")

    handle = model.layers[-1].register_forward_pre_hook(leave)
    with serve(model) as server:
        with pytest.raises(SystemExit, match="enough"):
            server(X[0], timeout=20)
        handle.remove()
        assert server(X[0], timeout=20).shape == (2,)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_no_server():
    model = made()
    reading, writing = os.pipe()
    with serve(model) as server:
        child = os.fork()
        if not child:
            try:
                server(X[0], timeout=20)
            except BaseException as error:  # noqa: BLE001  # what comes is sent to the test
                os.write(writing, str(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
    assert os.read(reading, 1000).decode() == (
        f"serve: the server of {model.name!r} has no thread in this process, which was forked from that of the server: "
        "call serve after the fork."
    )
    os.close(reading)
    os.close(writing)


def test_serving_beside_a_training():
    model = made()
    model.compile("sgd", "mse", jit_compile=False)
    with serve(model, max_delay=0) as server, ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(server, row) for row in X]
        model.fit(X, X[:, :2], epochs=3, verbose=0)
        assert all(np.isfinite(each.result(20)).all() for each in answers)
        np.testing.assert_allclose(server(X[0]), model.predict(X[:1])[0], rtol=1e-5)

"""`compile(jit_compile="auto")`: steps are compiled where that pays."""

import pytest
import torch
from jitted import mlp, recurrent, samples

import torchkeras
from torchkeras.callbacks import Callback
from torchkeras.engine.speed import choose


class Clock:
    """Seconds that pass only when a step says so."""

    def __init__(self, monkeypatch, plain=1.0, compiled=0.5, fails=False):
        self.seconds, self.steps, self.options = 0.0, [], None
        monkeypatch.setattr(choose.time, "perf_counter", lambda: self.seconds)
        train_pass = choose.train_pass

        def timed(name, seconds):
            def step(recipe, batch, defer_metrics=False):
                self.seconds += seconds
                self.steps.append(name)
                return train_pass(recipe, batch, defer_metrics)

            return step

        clock = self

        class CompiledTraining:
            def __init__(self, options, changes):
                self.ready, clock.options = False, options

            def __call__(self, recipe, batch, defer_metrics=False):
                if not self.ready:
                    if fails:
                        raise RuntimeError("no compiler.")
                    self.ready = True
                return timed("compiled", compiled)(recipe, batch, defer_metrics)

        monkeypatch.setattr(choose, "train_pass", timed("plain", plain))
        monkeypatch.setattr(choose, "CompiledTraining", CompiledTraining)


def run(batches, fits=1, cuda_graph="auto", **options):
    model = mlp()
    model.compile("sgd", "sparse_categorical_crossentropy", cuda_graph=cuda_graph)
    x, y = samples(model, 2 * batches)
    for _ in range(fits):
        model.fit(x, y, batch_size=2, **{"verbose": 0, **options})
    return model


@pytest.mark.torch("2.8", "compiled steps")
def test_auto_keeps_compiled_steps_where_they_are_faster_and_says_so_once(monkeypatch, capsys):
    clock = Clock(monkeypatch, plain=1.0, compiled=0.5)
    run(200, verbose=1)
    assert set(clock.steps[:47]) == {"plain"}
    assert set(clock.steps[64:]) == {"compiled"}
    told = "jit_compile='auto': a step takes 1e+03 ms, compiled 500 ms; compiled ones from here on."
    assert capsys.readouterr().out.count(told) == 1


@pytest.mark.torch("2.8", "compiled steps")
def test_auto_keeps_plain_steps_where_they_are_as_fast(monkeypatch, capsys):
    clock = Clock(monkeypatch, plain=1.0, compiled=0.99)
    run(200)
    assert clock.steps.count("compiled") == choose.WINDOWS + 1
    assert set(clock.steps[64:]) == {"plain"}
    assert capsys.readouterr().out == ""


@pytest.mark.torch("2.8", "compiled steps")
@pytest.mark.parametrize(("seconds", "options"), [(0.004, {"options": {"cpp_wrapper": True}}), (0.006, {})])
def test_auto_has_kernels_called_from_cpp_where_steps_are_short(monkeypatch, seconds, options):
    clock = Clock(monkeypatch, plain=seconds)
    monkeypatch.setattr(choose, "SECONDS", 0.0)
    monkeypatch.setattr(choose, "SECONDS_A_LAYER", 0.0)
    run(200)
    assert clock.options == options


@pytest.mark.torch("2.8", "compiled steps")
@pytest.mark.parametrize("seconds", [0.004, 0.006])
@pytest.mark.parametrize(("cuda_graph", "options"), [("auto", {"mode": "reduce-overhead"}), (False, {})])
def test_auto_has_torch_capture_steps_on_a_cuda_device(monkeypatch, seconds, cuda_graph, options):
    clock = Clock(monkeypatch, plain=seconds)
    monkeypatch.setattr(choose, "is_on_cuda", lambda tensors: True)
    monkeypatch.setattr(choose, "SECONDS", 0.0)
    monkeypatch.setattr(choose, "SECONDS_A_LAYER", 0.0)
    run(200, cuda_graph=cuda_graph)
    assert clock.options == options


@pytest.mark.parametrize("seconds", [0.001, 0.1])
def test_auto_compiles_nothing_that_would_not_repay_itself(monkeypatch, seconds):
    clock = Clock(monkeypatch, plain=seconds)
    run(200)
    assert set(clock.steps) == {"plain"}


@pytest.mark.parametrize("at", [0, 20, 100])
def test_auto_takes_a_pause_for_no_slow_step(monkeypatch, at):
    clock = Clock(monkeypatch, plain=0.1)

    class Pause(Callback):
        def on_batch_end(self, batch, logs=None):
            clock.seconds += 1000.0 if batch == at else 0.0

    run(200, callbacks=[Pause()])
    assert set(clock.steps) == {"plain"}


@pytest.mark.torch("2.8", "compiled steps")
def test_auto_takes_short_runs_that_come_again_and_again_for_a_long_one(monkeypatch):
    clock = Clock(monkeypatch, plain=1.0, compiled=0.5)
    run(40, fits=10)
    assert set(clock.steps[:40]) == {"plain"}
    assert set(clock.steps[-80:]) == {"compiled"}


@pytest.mark.torch("2.8", "compiled steps")
def test_auto_goes_on_with_plain_steps_where_torch_cannot_compile(monkeypatch, capsys):
    clock = Clock(monkeypatch, fails=True)
    run(200, verbose=1)
    assert set(clock.steps) == {"plain"}
    assert "no compiler. Steps stay as they are." in capsys.readouterr().out


def test_auto_changes_nothing_where_numbers_are_to_come_again_bit_by_bit(monkeypatch, tmp_path):
    clock = Clock(monkeypatch)
    run(200, callbacks=[torchkeras.callbacks.BackupAndRestore(tmp_path)])
    monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", lambda: True)
    run(200)
    assert set(clock.steps) == {"plain"}


@pytest.mark.parametrize("gate", ["sigmoid", "hard_sigmoid"])
def test_auto_leaves_what_walks_along_time_alone(monkeypatch, gate):
    clock = Clock(monkeypatch)
    model = recurrent(gate)
    model.compile("sgd", "sparse_categorical_crossentropy")
    model.fit(*samples(model, 400), batch_size=2, verbose=0)
    assert set(clock.steps) == {"plain"}


def test_auto_stays_with_plain_steps_on_a_torch_that_cannot_follow_them_and_says_so_once(monkeypatch, capsys):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(choose, "COMPILES", False)
    run(200, fits=2, verbose=1)
    assert set(clock.steps) == {"plain"}
    told = f"jit_compile='auto': torch {torch.__version__} compiles no steps, 2.8 does; they stay as they are."
    assert capsys.readouterr().out.count(told) == 1


@pytest.mark.parametrize(
    ("name", "value"), [("jit_compile", True), ("jit_compile", {"mode": "default"}), ("cuda_graph", True)]
)
def test_compiling_by_name_on_such_a_torch_is_refused_by_its_version(monkeypatch, name, value):
    monkeypatch.setattr(choose, "COMPILES", False)
    text = rf"^compile: {name} needs torch 2\.8 or newer, whose compiler can follow a step; this is torch 2\."
    with pytest.raises(ValueError, match=text):
        mlp().compile("sgd", "mse", **{name: value})

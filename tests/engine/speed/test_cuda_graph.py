"""`compile(cuda_graph=...)`: torch.compile captures, and what it gives is kept before a replay writes over it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jitted import Graphs, alike, cnn, masked, mlp, penalized, recurrent, samples, trained
from torch.utils._pytree import tree_flatten

import torchkeras
from torchkeras import Input, Model
from torchkeras.callbacks import LambdaCallback
from torchkeras.engine.speed import compiled_call
from torchkeras.layers import Dense, Dropout
from torchkeras.metrics import SparseCategoricalAccuracy
from torchkeras.optimizers import SGD, Adam

pytestmark = pytest.mark.torch("2.8", "compiled steps")

SPARSE = "sparse_categorical_crossentropy"

# --- what goes together ----------------------------------------------------------------------------------------------


BY = "cuda_graph=True captures by torch.compile's"
NOT_BOTH = "cuda_graph=True and jit_compile=False exclude each other; give one of the two."
NO_OPTIONS = """cuda_graph=True is torch.compile's mode 'reduce-overhead', and torch.compile takes a mode or options, \
not both: in place of cuda_graph=True have 'triton.cudagraphs': True among the options."""
NOT_TO = "captures CUDA graphs, and cuda_graph=False says not to: give one of the two."


@pytest.mark.parametrize(
    ("cuda_graph", "setting", "text"),
    [
        ("yes", True, "cuda_graph must be True, False or 'auto'; found 'yes'."),
        (True, False, f"a CUDA graph is captured by torch.compile: {NOT_BOTH}"),
        (True, {"mode": "default"}, f"{BY} mode 'reduce-overhead'; jit_compile has 'default': give one of the two."),
        (
            True,
            {"backend": "cudagraphs"},
            f"{BY} backend 'inductor'; jit_compile has 'cudagraphs': give one of the two.",
        ),
        (True, {"options": {}}, NO_OPTIONS),
        (False, {"mode": "reduce-overhead"}, f"jit_compile={{'mode': 'reduce-overhead'}} {NOT_TO}"),
        (False, {"mode": "max-autotune"}, f"jit_compile={{'mode': 'max-autotune'}} {NOT_TO}"),
        (False, {"backend": "cudagraphs"}, f"jit_compile={{'backend': 'cudagraphs'}} {NOT_TO}"),
        (
            False,
            {"options": {"triton.cudagraphs": True}},
            f"jit_compile={{'options': {{'triton.cudagraphs': True}}}} {NOT_TO}",
        ),
    ],
)
def test_options_that_contradict_are_refused(cuda_graph: Any, setting: Any, text: str):
    with pytest.raises(ValueError, match=f"^compile: {re.escape(text)}$"):
        mlp().compile("sgd", "mse", cuda_graph=cuda_graph, jit_compile=setting)


def test_without_capture_options_of_torch_compile_stay_as_they_are():
    graphs = Graphs()
    alike(trained(mlp, graphs.setting, cuda_graph=False), trained(mlp, False, cuda_graph=False))
    assert (len(graphs.found), len(graphs.of_inference)) == (1, 1)


@pytest.mark.parametrize("setting", [True, "auto", {"mode": "reduce-overhead"}, {"dynamic": True}])
def test_a_model_on_the_cpu_is_refused_when_it_runs(setting: Any):
    model = mlp().to("cpu")
    model.compile("sgd", SPARSE, cuda_graph=True, jit_compile=setting)
    x, y = samples(model)
    message = "^compile: cuda_graph=True captures steps on a CUDA device; the model is on cpu.$"
    for run in (
        lambda: model.fit(x, y, verbose=0),
        lambda: model.evaluate(x, y, verbose=0),
        lambda: model.predict(x),
        lambda: model.train_on_batch(x, y),
    ):
        with pytest.raises(RuntimeError, match=message):
            run()


def test_a_step_of_ones_own_is_not_captured():
    class Own(Model):
        def train_step(self, data):
            return super().train_step(data)

    inputs = Input((6,))
    model = Own(inputs, Dense(3)(inputs))
    with pytest.raises(ValueError, match=r"^compile: cuda_graph=True is for the built-in train step; Own has"):
        model.compile("sgd", "mse", cuda_graph=True)


# --- what torch is asked for -----------------------------------------------------------------------------------------


class Replays:
    """In the place of torch.compile for a device: runs what it is given, and keeps with which options.

    As after a capture, what a run has given is written over when the next one begins.
    """

    def __init__(self, monkeypatch):
        self.options, self.runs, self._given = [], 0, []
        monkeypatch.setattr(torch, "compile", self.compile)
        monkeypatch.setattr(torch.compiler, "cudagraph_mark_step_begin", self.begin)
        monkeypatch.setattr(compiled_call, "is_on_cuda", lambda tensors: True)

    def compile(self, function, **options):
        self.options.append(options)

        def run(*given):
            found = function(*given)
            self._given += [each for each in tree_flatten(found)[0] if isinstance(each, torch.Tensor)]
            return found

        return run

    def begin(self):
        self.runs += 1
        for tensor in self._given:
            tensor.data.fill_(torch.nan)
        self._given = []


@pytest.mark.parametrize("setting", [True, "auto", {"mode": "reduce-overhead", "backend": "inductor"}])
def test_steps_evaluations_and_predictions_are_compiled_in_the_mode_that_captures(monkeypatch, setting: Any):
    replays, model = Replays(monkeypatch), mlp()
    model.compile("sgd", SPARSE, cuda_graph=True, jit_compile=setting)
    x, y = samples(model)
    model.fit(x, y, batch_size=4, verbose=0)
    model.evaluate(x, y, batch_size=4, verbose=0)
    model.predict(x, batch_size=4)
    assert [options["mode"] for options in replays.options] == ["reduce-overhead"] * 3
    assert not any("options" in options for options in replays.options)
    assert replays.runs == 3 * 4  # of five whole batches the first is not compiled, nor is the sixth of another size


def test_other_options_of_torch_compile_are_kept(monkeypatch):
    replays = Replays(monkeypatch)
    trained(mlp, {"dynamic": True, "fullgraph": False}, cuda_graph=True)
    wanted = {"dynamic": True, "fullgraph": False, "mode": "reduce-overhead"}
    assert replays.options == [wanted, wanted]


def test_nothing_else_captures():
    package = Path(torchkeras.__file__).parent
    of_torch = re.compile(r"CUDAGraph|cuda\.graph|make_graphed_callables|graph_pool_handle|stream_capturing|cudaGraph")
    assert [path.name for path in package.rglob("*.py") if of_torch.search(path.read_text())] == []


# --- what a replay writes over ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (mlp, {}),
        (mlp, {"metrics": lambda: [SparseCategoricalAccuracy(name="own")]}),
        (mlp, {"optimizer": lambda: SGD(0.1, momentum=0.9, gradient_accumulation_steps=2)}),
        (mlp, {"optimizer": lambda: Adam(clipnorm=0.1, use_ema=True, weight_decay=0.1)}),
        (mlp, {"on_nonfinite": lambda: "skip"}),
        (mlp, {"steps_per_execution": lambda: 2}),
        (cnn, {}),
        (masked, {}),
        (penalized, {}),
        (recurrent, {}),
    ],
)
@pytest.mark.parametrize("hooked", [True, False])
def test_captured_steps_give_the_numbers_of_plain_ones(monkeypatch, make, options, hooked):
    def run(**settings):
        logs = []
        kept = LambdaCallback(on_batch_end=lambda batch, told: logs.append(told))
        given = {name: value() for name, value in options.items()}
        found = trained(make, callbacks=[kept] if hooked else None, **settings, **given)
        return found, [each["loss"] for each in logs]

    plain, losses = run(setting=False)
    replays = Replays(monkeypatch)
    captured, read_late = run(setting=True, cuda_graph=True)
    alike(captured, plain, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(read_late, losses, rtol=1e-6)
    assert replays.runs == 14 + 14  # 3 epochs of 5 whole batches, and as many of validation, but for the very first


def test_mixed_float16_keeps_its_scale(monkeypatch):
    def make():
        inputs = Input((6,))
        hidden = Dense(8, activation="relu", dtype="mixed_float16")(inputs)
        return Model(inputs, Dense(3, activation="softmax", dtype="mixed_float16")(hidden))

    plain = trained(make, False)
    Replays(monkeypatch)
    alike(trained(make, True, cuda_graph=True), plain, rtol=1e-6, atol=1e-7)


def test_predictions_have_memory_of_their_own(monkeypatch):
    model = cnn()
    x, _ = samples(model)
    model.compile("sgd", "mse", jit_compile=False)
    expected = model.predict(x, batch_size=4)
    Replays(monkeypatch)
    model.compile("sgd", "mse", cuda_graph=True)
    np.testing.assert_allclose(model.predict(x, batch_size=4), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", [{"mode": "max-autotune"}, {"options": {"triton.cudagraphs": True}}])
def test_so_it_is_in_any_way_of_torch_to_capture(monkeypatch, options):
    plain = trained(mlp, False)
    replays = Replays(monkeypatch)
    alike(trained(mlp, options), plain, rtol=1e-6, atol=1e-7)
    assert replays.runs == 14 + 14


def inputs_that_may_move(module):
    """Those of a graph that torch does not take to lie in one place; it captures no graph that writes to them."""
    found = [node.meta.get("tensor_dict", {}) for node in module.graph.nodes if node.op == "placeholder"]
    return sum("_dynamo_static_input_type" not in told for told in found)


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
@pytest.mark.parametrize("make", [mlp, cnn])
def test_what_steps_write_to_is_said_to_stay_in_its_place(make):
    graphs = Graphs()
    metrics = [SparseCategoricalAccuracy(name="own")]
    trained(make, {**graphs.setting, "mode": "reduce-overhead"}, metrics=metrics)
    assert [inputs_that_may_move(module) for module in (*graphs.found, *graphs.of_inference)] == [2, 2]  # x, y


# --- on a device -----------------------------------------------------------------------------------------------------


@pytest.mark.cuda
@pytest.mark.parametrize("make", [mlp, cnn, masked, recurrent, lambda: recurrent("hard_sigmoid")])
def test_on_a_device_captured_steps_give_the_numbers_of_plain_ones_and_wait_for_nothing(make):
    def run(**settings):
        logs = []
        watched = LambdaCallback(
            on_epoch_begin=lambda epoch, _: torch.cuda.set_sync_debug_mode("error" if epoch > 1 else "default"),
            on_batch_end=lambda batch, told: logs.append(told),
            on_epoch_end=lambda *_: torch.cuda.set_sync_debug_mode("default"),
        )
        try:
            found = trained(make, epochs=5, callbacks=[watched], optimizer=SGD(0.1), **settings)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        return found, [each["loss"] for each in logs]

    captured, read_late = run(setting=True, cuda_graph=True)
    plain, losses = run(setting=False)
    alike(captured, plain, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(read_late, losses, rtol=1e-4)


@pytest.mark.cuda
def test_on_a_device_dropout_goes_on_drawing():
    inputs = Input((1000,))
    model = Model(inputs, Dropout(0.5)(Dense(1000, use_bias=False, kernel_initializer="identity")(inputs)))
    model.compile(SGD(0.0), "mae", cuda_graph=True)
    ones, losses = np.ones((64, 1000), "float32"), []
    told = LambdaCallback(on_batch_end=lambda batch, logs: losses.append(logs["loss"]))
    model.fit(ones, 0 * ones, batch_size=4, epochs=2, verbose=0, callbacks=[told])
    assert len(set(losses)) > 12  # of 32, which are multiples of 1 / 2000 near 1
    assert np.mean(losses) == pytest.approx(1.0, abs=0.05)

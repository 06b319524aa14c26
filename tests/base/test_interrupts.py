"""Ctrl-C leaves the process whole: no import halfway, no mode, thread or lock left behind."""

import importlib
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from torchkeras.base.interrupts import whole_imports

CTRL_C = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfinished = True\n"


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """Ctrl-C is heard, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def interrupting(tmp_path, monkeypatch):
    """The name of a module in whose import Ctrl-C comes."""
    (tmp_path / "interrupting.py").write_text(CTRL_C)
    monkeypatch.syspath_prepend(tmp_path)
    yield "interrupting"
    sys.modules.pop("interrupting", None)


def test_an_import_is_finished_first(interrupting):
    passed = []

    def work():
        with whole_imports():
            passed.append(importlib.import_module(interrupting).finished)
            passed.append("the block goes on to its end")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert len(passed) == 2
    assert sys.modules[interrupting].finished
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_that_it_is_not(interrupting):
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module(interrupting)
    assert interrupting not in sys.modules


def test_outside_of_an_import_it_is_heard_at_once():
    passed = []

    def work():
        with whole_imports():
            signal.raise_signal(signal.SIGINT)
            passed.append("the block goes on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert passed == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("made_of_it", [AssertionError("a guard failed"), None])
def test_what_others_make_of_it_is_not_what_the_caller_sees(made_of_it):
    def code_of_others():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if made_of_it is not None:
                raise made_of_it from None

    def work():
        with whole_imports():
            code_of_others()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_without_ctrl_c_is_itself():
    def work():
        with whole_imports():
            raise ValueError("not Ctrl-C")

    with pytest.raises(ValueError, match="not Ctrl-C"):
        work()


def test_a_handler_of_the_users_hears_it(interrupting):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *given: heard.append(given))
    try:
        with whole_imports():
            importlib.import_module(interrupting)
            assert heard == []
        assert len(heard) == 1
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_and_ignored_signals_are_left_alone():
    def block() -> None:
        with whole_imports():
            seen.append(signal.getsignal(signal.SIGINT))

    seen: list[object] = []
    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        block()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.default_int_handler, signal.SIG_IGN]


CHILD = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
kind, delay, imported, stopped = sys.argv[1], float(sys.argv[2]), threading.Event(), threading.Event()

def interrupt():
    if kind != "import":
        imported.wait()
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGINT)
    while not stopped.wait(60):  # Python drops what is raised in the callback of a weak reference, and says so
        os.kill(os.getpid(), signal.SIGINT)

def work():
    import torchkeras
    import numpy as np
    import torch
    imported.set()
    from torchkeras import Sequential, callbacks, layers, models
    x, y = np.ones((256, 8), "float32"), np.ones((256, 3), "float32")
    first = layers.Lambda(lambda x: x * 2, input_shape=(8,)) if kind == "lambda" else layers.Dense(8, input_shape=(8,))
    model = Sequential([first, layers.BatchNormalization(), layers.Dropout(0.2), layers.Dense(3)])
    model.compile("adam", "mse")
    if kind == "predict":
        while True:
            model.predict(x)
    if kind == "file":
        while True:
            model.save("model.h5")
            models.load_model("model.h5")
    data = torch.utils.data.TensorDataset(torch.as_tensor(x), torch.as_tensor(y))
    given = {
        "workers": lambda: (torch.utils.data.DataLoader(data, 32, num_workers=2),),
        "generator": lambda: (((x, y) for _ in iter(int, 1)),),
    }.get(kind, lambda: (x, y))()
    more = {
        "generator": {"steps_per_epoch": 8},
        "validation": {"validation_data": (x, y), "callbacks": [callbacks.ModelCheckpoint("model.h5")]},
    }.get(kind, {})
    model.fit(*given, epochs=10**6, verbose=0, **more)

thread = threading.Thread(target=interrupt, daemon=True)
thread.start()
try:
    work()
except KeyboardInterrupt:
    print("interrupted")
stopped.set()
thread.join()

import numpy as np
import torch
from torchkeras import Sequential, layers, models
x, y = np.ones((256, 8), "float32"), np.ones((256, 3), "float32")
assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
model = Sequential([layers.Dense(8, input_shape=(8,)), layers.BatchNormalization(), layers.Dense(3)])
assert not any(each.is_meta for each in model.parameters())
model.compile("adam", "mse")
model.fit(x, y, verbose=0, validation_split=0.2)
model.save("after.h5")
assert (models.load_model("after.h5").predict(x) == model.predict(x)).all()
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
torchs = ("tqdm_monitor", "ThreadPoolExecutor")  # torch.compile's, which live as long as the process
left = [each for each in threading.enumerate() if not each.name.startswith(torchs)]
assert left == [threading.main_thread()], left
print("whole")
"""
KINDS = ("import", "fit", "lambda", "predict", "file", "workers", "generator", "validation")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(6))
def test_after_ctrl_c_at_any_moment_the_process_is_whole(kind, number, tmp_path):
    delay = random.Random(f"{kind} {number}").uniform(0, 4)
    command = [sys.executable, "-c", CHILD, kind, str(delay)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert (done.stdout.split(), done.returncode) == (["interrupted", "whole"], 0), done.stderr[-2000:]

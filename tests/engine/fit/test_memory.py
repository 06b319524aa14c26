"""Memory that does not grow: over many epochs, over data larger than what may be had, over many predicted batches."""

import gc
import os
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, Sequential, layers
from torchkeras.callbacks import Callback

ROOT = Path(__file__).resolve().parents[3]


def in_a_process(script: str, *arguments: str) -> str:
    """What a script prints in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- epochs ----------------------------------------------------------------------------------------------------------

EPOCHS = """
    import gc, os, sys
    import numpy as np
    from torchkeras import Input, Model, layers
    from torchkeras.callbacks import BackupAndRestore, Callback, EarlyStopping

    x = np.random.default_rng(0).standard_normal((64, 8)).astype("float32")
    inputs = Input((8,))
    model = Model(inputs, layers.Dense(1)(layers.Dropout(0.1)(layers.Dense(16, activation="relu")(inputs))))
    model.compile("adam", "mse", metrics=["mae"])

    class Resident(Callback):
        kilobytes = []

        def on_epoch_end(self, epoch, logs=None):
            if epoch in (199, 999):
                gc.collect()
                with open("/proc/self/status") as file:
                    (line,) = (line for line in file if line.startswith("RssAnon"))
                self.kilobytes.append(int(line.split()[1]))

    own = [Resident(), EarlyStopping(patience=1000, restore_best_weights=True)]
    own += [BackupAndRestore(sys.argv[1])] if sys.argv[1:] else []
    model.fit(x, x[:, :1], 16, 1000, 0, own, validation_split=0.25)
    print(Resident.kilobytes[1] - Resident.kilobytes[0])
"""


def test_a_thousand_epochs_take_no_more_memory_than_two_hundred():
    assert int(in_a_process(EPOCHS)) < 1024  # kilobytes, of which the history has some 200


@pytest.mark.slow
def test_a_thousand_epochs_with_checkpoints(tmp_path):
    assert int(in_a_process(EPOCHS, str(tmp_path))) < 1024


# --- data larger than memory -----------------------------------------------------------------------------------------

MEGABYTES = 24  # that a process may take beside what it has when training begins
STREAMED = """
    import resource, sys
    import h5py
    import numpy as np
    import torch
    from torchkeras import Input, Model, layers

    kind, folder, limit = sys.argv[1], sys.argv[2], int(sys.argv[3]) << 20
    features, size = 1024, 64
    samples = 10 * limit // (4 * features)  # ten times the limit, in files that take no place on the disk
    torch.set_num_threads(1)
    inputs = Input((features,))
    model = Model(inputs, layers.Dense(1)(inputs))
    model.compile("sgd", "mse", jit_compile=False)  # no compiler, which takes memory of its own
    model.fit(np.ones((size, features), "float32"), np.ones(size, "float32"), verbose=0)

    def opened(rows):
        y = np.ones(rows, "float32")
        if kind == "generator":
            batches = ((np.ones((size, features), "float32"), y[:size]) for _ in iter(int, 1))
            return {"x": batches, "steps_per_epoch": rows // size}
        if kind == "memmap":
            open(f"{folder}/{rows}", "wb").truncate(rows * features * 4)
            x = np.memmap(f"{folder}/{rows}", "float32", "r", shape=(rows, features))
            return {"x": x, "y": y, "batch_size": size}
        file = h5py.File(f"{folder}/{rows}.h5", "w")
        return {"x": file.create_dataset("x", (rows, features), "f4"), "y": y, "batch_size": size, "shuffle": "batch"}

    model.fit(verbose=0, **opened(10 * size))  # what is made at first
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmData"))
    allowed = (int(line.split()[1]) << 10) + limit
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
    try:
        np.ones((samples, features), "float32")
    except MemoryError:
        print("more than may be had")
    history = model.fit(verbose=0, **opened(samples))
    model.predict(opened(samples)["x"], steps=samples // size if kind == "generator" else None)
    print(samples * features * 4 / limit)
"""


@pytest.mark.parametrize("kind", ["generator", "memmap", "hdf5"])
def test_an_epoch_of_data_ten_times_as_large_as_memory(kind, tmp_path):
    found = in_a_process(STREAMED, kind, str(tmp_path), str(MEGABYTES))
    assert found.split("\n")[:2] == ["more than may be had", "10.0"]


# --- predicted batches -----------------------------------------------------------------------------------------------


class OnDevice(torch.Tensor):
    """A tensor as if on another device: `to` makes a new one."""

    def to(self, *args, **options):
        return torch.Tensor(self.as_subclass(torch.Tensor)).clone()


class Far(Model):
    """A model whose inputs and outputs are seen to go."""

    alive: "weakref.WeakSet[torch.Tensor]"

    def predict_step(self, data):
        (x,) = data
        x = x.clone().as_subclass(OnDevice)
        outputs = self(x).as_subclass(OnDevice)
        self.alive.add(x)
        self.alive.add(outputs)
        return outputs


def test_predict_keeps_nothing_on_the_device():
    inputs = Input((4,))
    model = Far(inputs, layers.Dense(3)(inputs))
    model.__dict__["alive"] = weakref.WeakSet()
    most = []

    class Counts(Callback):
        def on_predict_batch_end(self, batch, logs=None):
            most.append(len(model.alive))

    found = model.predict(np.ones((640, 4), "float32"), batch_size=8, callbacks=[Counts()])
    assert found.shape == (640, 3)
    assert len(most) == 80
    assert max(most) <= 3  # those of the batch, and the output of the one before while the next is computed
    gc.collect()
    assert len(model.alive) == 0


def test_a_prediction_that_is_a_part_does_not_keep_the_whole():
    model = Sequential([layers.Lambda(lambda x: x * 2.0, input_shape=(1000,)), layers.Lambda(lambda x: x[:, :1])])
    kept = []

    class Looks(Callback):
        def on_predict_end(self, logs=None):
            gc.collect()
            tensors = [each for each in gc.get_objects() if type(each) is torch.Tensor]
            kept.extend(each.untyped_storage().nbytes() for each in tensors if each.shape in ((8, 1), (80, 1)))

    assert model.predict(np.ones((80, 1000), "float32"), batch_size=8, callbacks=[Looks()]).shape == (80, 1)
    assert kept.count(320) >= 1  # that of all samples
    assert kept.count(32_000) <= 1  # the last output itself


@pytest.mark.cuda
def test_predict_on_cuda_takes_the_memory_of_a_few_batches():
    inputs = Input((256,))
    model = Model(inputs, layers.Dense(4096)(inputs)).to("cuda")
    before, most = [], []

    class Looks(Callback):
        def on_predict_batch_end(self, batch, logs=None):
            (before if batch == 2 else most).append(torch.cuda.memory_allocated())

    model.predict(np.ones((64 * 50, 256), "float32"), batch_size=64, callbacks=[Looks()])
    assert max(most) <= before[0]

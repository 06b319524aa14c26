"""A terminal of 80 columns: the bar of a run with many numbers, of one process and of two that torchrun starts."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from launched import ROOT, without_gloo

COLUMNS = 80
SCRIPT = """
import sys
import numpy as np
from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.utils import set_random_seed

set_random_seed(0)
x = np.random.random((88, 4)).astype("float32")
y = (x.sum(1, keepdims=True) > 2).astype("float32")
model = Sequential([Dense(1, activation="sigmoid", input_shape=(4,))])
metrics = ["accuracy", "precision", "recall"]
model.compile("adam", "binary_crossentropy", metrics, steps_per_execution=int(sys.argv[1]))
model.fit(x, y, batch_size=8, epochs=2, validation_data=(x[:40], y[:40]), verbose=1)
model.evaluate(x, y, batch_size=8, verbose=1)
"""
NUMBERS = ["loss", "acc", "precision", "recall"]


def shown(command: list[str]) -> str:
    """What a terminal gets from a command."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=there, stdout=there, stderr=there, env=env) as started:
        os.close(there)
        found = b""
        try:
            while got := os.read(here, 65536):
                found += got
        except OSError:  # on Linux, when all have closed the other end
            pass
        os.close(here)
    assert started.returncode == 0, found.decode()
    return without_gloo(found.decode().replace("\r\n", "\n"))


@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize("processes", [1, 2])
def test_bars_reach_their_end_and_no_number_is_cut(tmp_path: Path, processes: int, together: int):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"] if processes > 1 else []
    text = shown([sys.executable, *launcher, str(script), str(together)])
    titles = ["Epoch 1/2", "Epoch 2/2", "Evaluate"]
    assert re.findall(r"(Epoch ./2|Evaluate):   0%", text) == titles  # one process draws
    states = [line.split("\r") for line in text.split("\n")]
    assert all(len(state) < COLUMNS for of_line in states for state in of_line)
    last = "\n".join(of_line[-1] for of_line in states)
    blocks = re.split("^(?=Epoch|Evaluate)", last, flags=re.MULTILINE)
    for title, block in zip(titles, blocks[1:], strict=True):
        bar, *lines = block.splitlines()
        assert re.fullmatch(rf"{title}: 100%\|█+\| 11/11 \[.*batch/s\]", bar)
        names = NUMBERS if title == "Evaluate" else [*NUMBERS, *(f"val_{name}" for name in NUMBERS)]
        assert re.findall(r" - (\w+): \d\.\d{4}(?= - |$)", "\n".join(lines), re.M) == names

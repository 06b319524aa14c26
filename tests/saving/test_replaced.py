"""A file that is replaced while it is loaded gives the old model or the new one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from torchkeras.layers import Dense
from torchkeras.models import Sequential, load_model

SWAPS = """
import os, sys
old, new, path = sys.argv[1:]
blobs = [open(name, "rb").read() for name in (old, new)]
print("ready", flush=True)
k = 0
while os.getppid() == {parent}:
    with open(path + ".part", "wb") as file:
        file.write(blobs[k % 2])
    os.replace(path + ".part", path)
    k += 1
"""


def constant(units: int, value: float) -> Sequential:
    model = Sequential([Dense(units, input_shape=(8,)), Dense(4)])
    model.set_weights([np.full(array.shape, value, "float32") for array in model.get_weights()])
    return model


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt", "safetensors"])
def test_it_is_the_old_or_the_new(suffix: str, tmp_path: Path):
    files = [str(tmp_path / f"{name}.{suffix}") for name in ("old", "new", "m")]
    for path, units, value in zip(files, (16, 300, 16), (1.0, 2.0, 1.0), strict=True):
        constant(units, value).save(path)
    script = SWAPS.format(parent=os.getpid())
    with subprocess.Popen([sys.executable, "-c", script, *files], stdout=subprocess.PIPE) as swapping:
        assert swapping.stdout is not None
        swapping.stdout.readline()
        seen = set()
        try:
            for _ in range(40):
                first, *others = load_model(files[2]).get_weights()
                seen.add((first.shape[1], *np.unique(np.concatenate([first.ravel(), *map(np.ravel, others)]))))
        finally:
            swapping.kill()
    assert seen <= {(16, 1.0), (300, 2.0)}

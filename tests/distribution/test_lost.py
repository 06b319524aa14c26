"""A process that dies or hangs ends the run of the others within the timeout, with an error that names it."""

import re
import time

import pytest
from launched import as_torchrun, launch, without_gloo

SOURCE = """
import os, sys, time
import numpy as np
from torchkeras import distribution
from torchkeras.callbacks import Callback
from torchkeras.layers import Dense
from torchkeras.models import Sequential

what = sys.argv[1]
distribution.initialize(timeout=5)

class Ends(Callback):
    def on_train_batch_end(self, batch, logs=None):
        if distribution.rank() == 1 and batch == 2:
            os._exit(3) if what == "dies" else time.sleep(60)

model = Sequential([Dense(2, input_shape=(3,))])
model.compile("sgd", "mse")
x = np.ones((64, 3), "float32")
try:
    model.fit(x, x[:, :2], batch_size=4, epochs=100, verbose=0, callbacks=[Ends()])
except distribution.ProcessLostError as error:
    print(error, flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("what", ["dies", pytest.param("hangs", marks=pytest.mark.slow)])
def test_a_lost_process_is_named(what: str):
    started = launch(SOURCE, as_torchrun(3), what)
    began = time.monotonic()
    try:
        texts = [without_gloo(started[rank].communicate(timeout=60)[0]) for rank in (0, 2)]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    assert time.monotonic() - began < 45
    for rank, text in zip((0, 2), texts, strict=True):
        pattern = (
            r"fit: process 1, last seen in epoch 1, batch \d+, died, or does not answer within the timeout; "
            rf"process {rank} was in epoch 1, batch \d+\. The output of the lost process says why\. If it says "
            r"nothing, it did not call fit: all processes have to\.\n"
        )
        assert re.fullmatch(pattern, text), text

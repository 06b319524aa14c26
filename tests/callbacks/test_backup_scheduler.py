"""Going on after a stop with torch's schedulers, on optimizers of torch and of Keras."""

from functools import partial

import numpy as np
import pytest
import torch
from callback_models import X, Y, small

from torchkeras import optimizers
from torchkeras.callbacks import BackupAndRestore, Callback, TorchScheduler

SCHEDULERS = {
    "cosine": (partial(torch.optim.lr_scheduler.CosineAnnealingLR, T_max=5), {}),
    "one cycle": (partial(torch.optim.lr_scheduler.OneCycleLR, max_lr=0.1, total_steps=40), {"per": "batch"}),
    "plateau": (partial(torch.optim.lr_scheduler.ReduceLROnPlateau, patience=0), {"monitor": "loss"}),
    "lambda": (partial(torch.optim.lr_scheduler.LambdaLR, lr_lambda=lambda epoch: 0.9**epoch), {}),
}
OPTIMIZERS = {
    "torch": lambda: (torch.optim.SGD, {"lr": 0.05, "momentum": 0.9}),
    "keras": lambda: optimizers.Adam(0.05),
}


class Killed(BaseException):
    pass


class At(Callback):
    needed_to_resume = False

    def __init__(self, number):
        self.left = number

    def on_train_batch_end(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            raise Killed


@pytest.mark.parametrize("save_freq", [2, "epoch"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_scheduler_goes_on(name, optimizer, save_freq, tmp_path):
    def trained(*callbacks):
        torch.manual_seed(3)
        model = small(OPTIMIZERS[optimizer]())
        make, options = SCHEDULERS[name]
        model.fit(X, Y, 4, 5, verbose=0, callbacks=[TorchScheduler(make, **options), *callbacks])
        return model

    undisturbed = trained()
    for stop in (10, 9):
        with pytest.raises(Killed):
            trained(At(stop), BackupAndRestore(tmp_path, save_freq))
    again = trained(BackupAndRestore(tmp_path, save_freq))
    for one, other in zip(again.get_weights(), undisturbed.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.optimizer.lr == undisturbed.optimizer.lr
    assert again.history.history == undisturbed.history.history

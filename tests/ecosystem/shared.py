"""Small models, data, and the loop that a person would write by hand."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import torchkeras
from torchkeras import Input, Model
from torchkeras.layers import (
    LSTM,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Embedding,
    Flatten,
    GlobalAveragePooling1D,
    LayerNormalization,
    MultiHeadAttention,
)

ROOT = Path(torchkeras.__file__).parents[1]
RANDOM = np.random.default_rng(7)
BATCH, STEPS = 8, 3
ROWS = RANDOM.standard_normal((BATCH * STEPS, 6)).astype("float32")
IMAGES = RANDOM.standard_normal((BATCH * STEPS, 8, 8, 3)).astype("float32")
TEXTS = RANDOM.integers(0, 20, (BATCH * STEPS, 5))
SERIES = RANDOM.standard_normal((BATCH * STEPS, 5, 6)).astype("float32")
LABELS = RANDOM.integers(0, 4, BATCH * STEPS)
TARGETS = RANDOM.standard_normal((BATCH * STEPS, 4)).astype("float32")


def dense_model() -> Model:
    inputs = Input((6,))
    return Model(inputs, Dense(4)(Dense(5, activation="tanh")(inputs)))


def plain_dense(model: Model) -> nn.Sequential:
    """The same network as `dense_model` in plain PyTorch, with the weights of a model."""
    plain = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4))
    with torch.no_grad():
        for parameter, own in zip(plain.parameters(), model.parameters(), strict=True):
            parameter.copy_(own)
    return plain


def image_model() -> Model:
    inputs = Input((8, 8, 3))
    hidden = BatchNormalization()(Conv2D(6, 3, activation="relu", name="stem")(inputs))
    return Model(inputs, Dense(4)(Flatten()(Conv2D(5, 3, activation="relu", name="last")(hidden))))


def plain_images(model: Model) -> nn.Module:
    """The same network as `image_model` in plain PyTorch, for images with the channels first."""
    plain = nn.Sequential(
        *(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.BatchNorm2d(6, eps=1e-3, momentum=0.01), nn.Conv2d(6, 5, 3), nn.ReLU()),
        *(ChannelsLast(), nn.Flatten(), nn.Linear(80, 4)),
    )
    with torch.no_grad():
        for parameter, own in zip(plain.parameters(), model.parameters(), strict=True):
            parameter.copy_(own)
    return plain


class ChannelsLast(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 2, 3, 1)


def text_model() -> Model:
    """A small transformer."""
    inputs = Input((5,), dtype="int64")
    hidden = Embedding(20, 8)(inputs)
    hidden = LayerNormalization()(Add()([hidden, MultiHeadAttention(2, 4)(hidden, hidden)]))
    return Model(inputs, Dense(4)(GlobalAveragePooling1D()(Dense(8, activation="relu")(hidden))))


def series_model(**options: Any) -> Model:
    inputs = Input((5, 6))
    return Model(inputs, Dense(4)(LSTM(7, **options)(inputs)))


def train_by_hand(
    forward: Callable[..., torch.Tensor],
    parameters: Iterable[torch.Tensor],
    x: np.ndarray,
    y: np.ndarray,
    loss: Callable[..., torch.Tensor] = F.mse_loss,
    rate: float = 0.1,
) -> None:
    """Three steps of gradient descent with momentum."""
    optimizer = torch.optim.SGD(parameters, lr=rate, momentum=0.9)
    for start in range(0, len(x), BATCH):
        rows = slice(start, start + BATCH)
        optimizer.zero_grad()
        loss(forward(torch.from_numpy(x[rows])), torch.from_numpy(y[rows])).backward()
        optimizer.step()


def fit(model: Model, x: np.ndarray, y: np.ndarray, loss: Any = "mse", rate: float = 0.1) -> None:
    """The same three steps by `fit`."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.compile(torch.optim.SGD(trained, lr=rate, momentum=0.9), loss)
    model.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0)


def values(module: nn.Module) -> dict[str, torch.Tensor]:
    """A copy of the state."""
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def assert_equal_states(one: nn.Module, other: nn.Module, atol: float = 1e-6) -> None:
    """Equal parameters, in order, and equal buffers."""
    for kind in (nn.Module.named_parameters, nn.Module.named_buffers):
        for (name, value), (_, expected) in zip(kind(one), kind(other), strict=True):
            torch.testing.assert_close(value, expected, rtol=1e-5, atol=atol, msg=lambda text, n=name: f"{n}: {text}")


def run_in_a_fresh_process(code: str, *arguments: str) -> str:
    """What a script prints in a process of its own that finds this folder's modules."""
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", f"import missing_operators\n{code}", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def run_as_a_user(*command: str, **variables: str) -> str:
    """What a command of this Python prints, run in the project's folder; whatever it started ends with it.

    It may take many times the seconds of CPU that it needs, on a machine that is busy: the limit is for what hangs.
    """
    started = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        start_new_session=True,
    )
    try:
        printed, errors = started.communicate(timeout=900)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
    assert started.returncode == 0, errors
    return printed + errors

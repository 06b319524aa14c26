"""Pickles and checkpoints of an earlier version: they load, and compute and go on as they did there, bit by bit.

`scripts/golden_earlier.py` made the files. What a processor or version of torch rounds otherwise than theirs is close.
"""

import pickle
import shutil
from collections.abc import Container
from pathlib import Path
from typing import Any

import earlier_models as earlier
import numpy as np
import pytest
import torch

from torchkeras import initializers
from torchkeras.callbacks import BackupAndRestore, EarlyStopping
from torchkeras.layers import Conv2D, Dense

ARRAYS: dict[str, np.ndarray] = dict(np.load(earlier.FOLDER / "arrays.npz"))
ROUNDS_ALIKE = str(ARRAYS["rounding"]) == earlier.rounding()
SAME_PYTHON = str(ARRAYS["python"]) == earlier.python()


@pytest.fixture(autouse=True)
def _one_thread():
    earlier.begin()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def expected(name: str) -> list[np.ndarray]:
    """The recorded arrays of a name, in order."""
    count = sum(key.rpartition("/")[0] == name for key in ARRAYS)
    return [ARRAYS[f"{name}/{number}"] for number in range(count)]


def assert_as_recorded(
    found: list[np.ndarray], name: str, computed: bool = True, of_rounding: Container[int] = ()
) -> None:
    """`computed`: the values were computed here, not only read. `of_rounding`: the numbers of those whose gradients are
    rounding errors alone, as of a bias before a batch normalization."""
    for number, (mine, other) in enumerate(zip(found, expected(name), strict=True)):
        if ROUNDS_ALIKE or not computed:
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other)
        elif number not in of_rounding:
            np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-5)


def unpickled(name: str) -> dict[str, Any]:
    return pickle.loads((earlier.FOLDER / name).read_bytes())  # noqa: S301  # a file of this folder


# --- pickles ----------------------------------------------------------------------------------------------------------


def test_a_pickled_model_computes_and_trains_on():
    model = unpickled("model.pickle")["model"]
    *weights, _ = earlier.result(model, earlier.IMAGES)
    for mine, other in zip(weights, expected("model")[:-1], strict=True):
        np.testing.assert_array_equal(mine, other)
    assert_as_recorded(earlier.result(model, earlier.IMAGES), "model")
    torch.manual_seed(6)
    for _ in range(2):
        model.train_on_batch(earlier.IMAGES, earlier.Y)
    assert_as_recorded(earlier.result(model, earlier.IMAGES), "model trained", of_rounding={1})


def test_a_pickled_model_has_its_options():
    model = unpickled("model.pickle")["model"]
    now = earlier.images()
    assert model.get_config() == now.get_config()
    assert list(model.state_dict()) == list(now.state_dict())
    assert model.optimizer.get_config() == now.optimizer.get_config()
    assert (model.metrics_names, model.code) == (now.metrics_names, now.code)
    (conv,) = (layer for layer in model.layers if isinstance(layer, Conv2D))
    assert isinstance(conv.kernel_initializer, initializers.VarianceScaling)
    assert Dense.from_config(model.layers[-1].get_config()).activation is model.layers[-1].activation


def test_a_pickled_history_and_callbacks_have_their_numbers_and_options():
    found = unpickled("model.pickle")
    assert list(found["history"].history) == ["loss", "mean_absolute_error"]
    for name, values in found["history"].history.items():
        assert values == ARRAYS[f"history/{name}"].tolist()
    now = earlier.callbacks()
    assert [type(each) for each in found["callbacks"]] == [type(each) for each in now]
    for mine, other in zip(found["callbacks"], now, strict=True):
        options = {name: value for name, value in vars(mine).items() if not name.startswith("_")}
        plain = {name: value for name, value in options.items() if isinstance(value, (int, float, str))}
        assert plain
        assert plain == {name: vars(other)[name] for name in plain}
    assert (found["callbacks"][0].patience, found["callbacks"][-1].save_freq) == (2, 2)
    model, callback = found["model"], found["callbacks"][0]
    model.fit(earlier.IMAGES, earlier.Y, 4, 4, verbose=0, callbacks=callback)
    assert isinstance(callback, EarlyStopping)
    assert callback.best <= ARRAYS["history/loss"].max()


# --- the states of optimizers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", earlier.OPTIMIZERS)
def test_an_optimizer_goes_on_from_its_state(name: str):
    model = earlier.stepping(name)
    model.set_weights(expected(f"{name} 2"))
    model.optimizer.load_state_dict(pickle.loads(unpickled("optimizers.pickle")[name]))  # noqa: S301  # of this folder
    earlier.steps(model, 2)
    assert_as_recorded(model.get_weights(), f"{name} 4")


def test_there_is_a_state_of_each_optimizer():
    assert unpickled("optimizers.pickle").keys() == earlier.OPTIMIZERS.keys()


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", earlier.RUNS)
def test_a_run_goes_on_from_its_checkpoint(name: str, tmp_path: Path):
    folder = shutil.copytree(earlier.FOLDER / name, tmp_path / name)
    counted = earlier.Stop(1000)
    # Another version of Python compiles the code of users to other instructions.
    backup = BackupAndRestore(folder, accept=() if SAME_PYTHON else ("model", "callbacks"))
    model = earlier.fit(name, counted, backup)
    assert_as_recorded(earlier.result(model), name)
    batches = earlier.EPOCHS * len(earlier.X) // earlier.SIZE
    assert counted.left == 1000 - (batches - done(earlier.FOLDER / name))


def done(folder: Path) -> int:
    """How many batches were done at the newest checkpoint in a folder."""
    epoch, batch, _ = max(path.name for path in folder.glob("*.checkpoint")).split("-")
    return int(epoch) * len(earlier.X) // earlier.SIZE + int(batch)


def test_a_run_without_its_checkpoint_ends_the_same():
    # A bias before a batch normalization has no gradient but what is rounded, of which Adam's first step makes a whole
    # one.
    alike = earlier.RUNS if ROUNDS_ALIKE else earlier.RUNS.keys() - {"functional"}
    for name in alike:
        assert_as_recorded(earlier.result(earlier.fit(name)), name)


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in earlier.FOLDER.rglob("*") if path.is_file()) < 300_000

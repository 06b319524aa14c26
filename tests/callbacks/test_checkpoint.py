"""Checkpoints: which files are written, that they are whole, and that a good one is never lost."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from callback_models import FakeModel, X, Y, drive, small

from torchkeras.callbacks import LambdaCallback, ModelCheckpoint
from torchkeras.callbacks.checkpoint import not_finite
from torchkeras.models import load_model


def fit(model, *callbacks, epochs=2):
    return model.fit(X, Y, epochs=epochs, verbose=0, callbacks=list(callbacks))


@pytest.mark.parametrize("name", ["{epoch:02d}-{loss:.3f}.h5", "{epoch:02d}.keras", "{epoch:02d}.weights.h5"])
def test_files_hold_the_model_of_their_epoch(tmp_path, name):
    model, each = small("adam"), []
    kept = LambdaCallback(on_epoch_end=lambda epoch, logs: each.append(model.get_weights()))
    weights_only = "weights" in name
    history = fit(model, kept, ModelCheckpoint(tmp_path / name, save_weights_only=weights_only)).history
    expected = [name.format(epoch=epoch + 1, loss=history["loss"][epoch]) for epoch in range(2)]
    assert sorted(os.listdir(tmp_path)) == expected
    for file, weights in zip(expected, each, strict=True):
        if weights_only:
            loaded = small()
            loaded.load_weights(tmp_path / file)
        else:
            loaded = load_model(tmp_path / file)
        assert all(map(np.array_equal, loaded.get_weights(), weights))


def spoil(at):
    """Weights that are NaN from an epoch on."""

    def act(epoch, logs):
        if epoch >= at:
            model = spoiling.model
            model.set_weights([weight * np.nan for weight in model.get_weights()])

    spoiling = LambdaCallback(on_epoch_end=act)
    return spoiling


def test_a_broken_model_is_not_written_over_a_good_one(tmp_path):
    path = tmp_path / "m.h5"
    model = small()
    message = (
        "ModelCheckpoint: epoch 2 is not saved, since hidden/kernel:0, hidden/bias:0, out/kernel:0 are NaN or "
        f"infinite; {path} stays as it is."
    )
    with pytest.warns(RuntimeWarning) as caught:
        fit(model, spoil(1), ModelCheckpoint(path))
    assert [str(each.message) for each in caught] == [message]
    assert not_finite(load_model(path)) == []
    assert len(not_finite(model)) == 4


def test_one_broken_weight_is_named(tmp_path):
    path = tmp_path / "m.h5"
    model = small()
    model.save(path)
    model.get_layer("out").set_weights([np.full((5, 3), np.inf), np.zeros(3)])
    checkpoint = ModelCheckpoint(path)
    checkpoint.set_model(model)
    with pytest.warns(RuntimeWarning, match=re.escape("since out/kernel:0 is NaN or infinite; ")):
        checkpoint.on_epoch_end(0, {})


def test_best_is_what_was_saved(tmp_path):
    path = tmp_path / "m.h5"
    model = small()
    checkpoint = ModelCheckpoint(path, "own", save_best_only=True, mode="min")
    losses = LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(own=[2.0, 1.0][epoch]))
    with pytest.warns(RuntimeWarning, match="epoch 2 is not saved"):
        fit(model, losses, spoil(1), checkpoint)
    assert checkpoint.best == 2.0


def full_disk(path, *arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


FORMATS = [".h5", ".keras", ".weights.h5", ".safetensors", ".pt"]
WHOLE = (".h5", ".keras")


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_file_before(tmp_path, monkeypatch, suffix, step):
    path = tmp_path / f"m{suffix}"
    model = small()
    checkpoint = ModelCheckpoint(path, save_weights_only=suffix not in WHOLE)
    fit(model, checkpoint, epochs=1)
    before = path.read_bytes()
    monkeypatch.setattr(os if step == "fsync" else Path, step, full_disk)
    with pytest.raises(OSError, match=f"^{re.escape(f'[Errno 28] No space left on device: {str(path)!r}')}$"):
        fit(model, checkpoint, epochs=1)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


FULL = """
import resource, signal, sys
import numpy as np
from torchkeras import Input, Model
from torchkeras.callbacks import ModelCheckpoint
from torchkeras.layers import Dense

path, weights_only, limit = sys.argv[1], sys.argv[2] == "True", int(sys.argv[3])
given = Input((1000,))
model = Model(given, Dense(1000)(given))
model.compile("sgd", "mse")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
x = np.zeros((2, 1000), "float32")
try:
    model.fit(x, x, verbose=0, callbacks=[ModelCheckpoint(path, save_weights_only=weights_only)])
except OSError as error:
    print(error, end="")
"""


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_that_may_not_grow(tmp_path, suffix):
    """Every library meets a real refusal in the middle of writing, and says so in its own way."""
    path = tmp_path / f"m{suffix}"
    path.write_text("before")
    command = [sys.executable, "-c", FULL, str(path), str(suffix not in WHOLE), str(1 << 20)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout == f"[Errno 27] File too large: {str(path)!r}"
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_folder_that_is_none(tmp_path, suffix):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / f"m{suffix}"
    with pytest.raises(NotADirectoryError, match=f"^{re.escape(f'[Errno 20] Not a directory: {str(path)!r}')}$"):
        fit(small(), ModelCheckpoint(path, save_weights_only=suffix not in WHOLE))


def test_a_name_that_the_logs_do_not_have(tmp_path):
    message = "ModelCheckpoint: filepath '{val_loss}.h5' asks for 'val_loss'; the logs have loss."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        fit(small(), ModelCheckpoint("{val_loss}.h5"))


def test_a_period_is_a_count():
    message = "ModelCheckpoint: period must be an integer of at least 0; found -1."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ModelCheckpoint("x", period=-1)


@pytest.mark.parametrize(
    ("save_freq", "saved"), [(2, ["1-2", "2-1", "2-3"]), (3, ["1-3", "2-3"]), (4, ["2-1"]), (1, ["1-1", "1-2", "1-3"])]
)
def test_files_of_batches(save_freq, saved):
    checkpoint = ModelCheckpoint("{epoch}-{batch}.h5", save_freq=save_freq)
    model = drive([checkpoint], epochs=1 if save_freq == 1 else 2)
    assert model.calls == [["save", f"{name}.h5"] for name in saved]


def test_one_call_may_be_for_several_batches():
    checkpoint = ModelCheckpoint("{epoch}-{batch}.h5", save_freq=3)
    checkpoint.set_model(model := FakeModel())
    checkpoint.on_epoch_begin(4)
    for batch in (1, 3, 5):
        checkpoint.on_train_batch_end(batch, {})
    assert model.calls == [["save", "5-4.h5"]]
    assert (checkpoint.batches_since_last_save, checkpoint.last_batch) == (2, 5)


def test_batches_are_counted_on_after_a_stop():
    first = ModelCheckpoint("{epoch}-{batch}.h5", save_freq=4)
    drive([first], epochs=1)
    other = ModelCheckpoint("{epoch}-{batch}.h5", save_freq=4)
    other.load_state_dict(first.state_dict())
    other.set_model(model := FakeModel())
    other.on_epoch_begin(1)
    other.on_train_batch_end(0, {})
    assert model.calls == [["save", "2-1.h5"]]


def test_the_number_to_be_better_than_from_the_start():
    losses = [3.0, 2.0, 1.0]
    best = ModelCheckpoint("{epoch}.h5", "loss", save_best_only=True, initial_value_threshold=2.5)
    model = drive([best], epochs=3, numbers=lambda epoch: {"loss": losses[epoch]})
    assert model.calls == [["save", "2.h5"], ["save", "3.h5"]]
    assert best.best == 1.0


@pytest.mark.parametrize(
    ("mode", "keep", "left"), [("min", 1, [6]), ("min", 2, [4, 6]), ("min", 3, [2, 4, 6]), ("max", 2, [1, 5])]
)
def test_the_files_of_the_best_epochs_stay(tmp_path, mode, keep, left):
    values = [5.0, 3.0, 4.0, 2.0, 6.0, 1.0, np.nan]
    best = ModelCheckpoint(tmp_path / "{epoch}.h5", "own", save_best_only=True, mode=mode, keep=keep)
    model = small("adam")
    own = LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(own=values[epoch]))
    fit(model, own, best, epochs=len(values))
    assert sorted(int(path.stem) for path in tmp_path.iterdir()) == left
    chosen = sorted(filter(np.isfinite, values), reverse=mode == "max")[:keep]
    assert [value for value, _ in best.kept] == chosen
    assert best.best == chosen[0]


def test_what_stays_is_known_after_a_stop(tmp_path):
    def checkpoint():
        return ModelCheckpoint(tmp_path / "{epoch}.h5", "loss", save_best_only=True, keep=2)

    first, other = checkpoint(), checkpoint()
    drive([first], epochs=2, numbers=lambda epoch: {"loss": 3.0 - epoch})
    for name in ("1.h5", "2.h5"):
        (tmp_path / name).touch()
    other.load_state_dict(first.state_dict())
    other.set_model(FakeModel())
    other.on_epoch_end(2, {"loss": 1.0})
    assert [path.name for path in tmp_path.iterdir()] == ["2.h5"]
    assert other.kept[0] == (1.0, str(tmp_path / "3.h5"))


@pytest.mark.parametrize(
    ("path", "options", "text"),
    [
        ("{epoch}.h5", {"keep": 2}, "keep is for the best epochs: give save_best_only=True as well."),
        ("a.h5", {"keep": 2, "save_best_only": True}, "keep=2 needs a file for each epoch: filepath must hold {epoch}"),
        ("{epoch}.h5", {"keep": 0, "save_best_only": True}, "keep must be an integer of at least 1, or None; found 0."),
    ],
)
def test_keep_refuses(path, options, text):
    with pytest.raises(ValueError, match=f"^ModelCheckpoint: {re.escape(text)}"):
        ModelCheckpoint(path, **options)


@pytest.mark.parametrize("save_freq", [0, "batch", 1.5, None])
def test_save_freq_is_a_word_or_a_count(save_freq):
    with pytest.raises(ValueError, match=r"^ModelCheckpoint: save_freq must be 'epoch' or a number of batches; found "):
        ModelCheckpoint("a.h5", save_freq=save_freq)


def test_what_a_checkpoint_says(capsys):
    losses = [2.0, 3.0, 1.0]
    numbers = {"epochs": 3, "numbers": lambda epoch: {"loss": losses[epoch]}}
    drive([ModelCheckpoint("m.h5", "loss", 1, save_best_only=True)], **numbers)
    drive([ModelCheckpoint("m{epoch}.h5", verbose=1, period=2)], **numbers)
    assert capsys.readouterr().out == (
        "Epoch 1: loss went from inf to 2, saved to m.h5.\n"
        "Epoch 2: loss was not better than 2.\n"
        "Epoch 3: loss went from 2 to 1, saved to m.h5.\n"
        "Epoch 2: saved to m2.h5.\n"
    )


def test_a_checkpoint_goes_on_after_a_stop():
    losses = [2.0, 3.0, 2.5, 1.0]
    first, other = (ModelCheckpoint("{epoch}", "loss", save_best_only=True, period=1) for _ in range(2))
    drive([first], epochs=2, numbers=lambda epoch: {"loss": losses[epoch]})
    other.load_state_dict(first.state_dict())
    assert first.state_dict() == {"best": 2.0, "epochs_since_last_save": 0}
    model = drive([other], epochs=2, numbers=lambda epoch: {"loss": losses[epoch + 2]})
    assert model.calls == [["save", "2"]]


@pytest.mark.parametrize("weights_only", [False, True])
def test_a_package_that_is_missing_is_told_before_the_training(weights_only, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError) as error:
        ModelCheckpoint("best.safetensors", save_weights_only=weights_only)
    assert str(error.value) == (
        "A .safetensors file: the package safetensors is missing. Install it with "
        "`pip install torchkeras-graph[safetensors]`."
    )

"""A run that is not the one of its checkpoint is told by name, whatever is other; or goes on with it where accepted."""

import hashlib
import importlib.util
import io
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from changed_runs import CHANGES, SIZE, At, Killed, X, Y, adam, model, network, of, run, torchs

from torchkeras import Input, Model, callbacks as given, clear_session, layers, optimizers
from torchkeras.callbacks import BackupAndRestore
from torchkeras.resume.accepted import ACCEPTED


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # else `script` may be imported as it was a moment before
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The folder of a run in which nothing is other."""
    folder = tmp_path_factory.mktemp("plain")
    with pytest.raises(Killed):
        run(folder, stop=9)
    return folder


def told(folder: Path, **options: Any) -> list[str]:
    """The words that an error tells; none where the run goes on."""
    try:
        run(folder, **options)
    except ValueError as error:
        lines = str(error).split("\n")
        return [line.strip().partition(":")[0] for line in lines if line.startswith("  ")] or [str(error)]
    return []


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_told_by_name_or_accepted(name, plain, tmp_path):
    words, before, now = CHANGES[name]
    if before:
        with pytest.raises(Killed):
            run(tmp_path, stop=9, **before)
    else:
        shutil.copytree(plain, tmp_path, dirs_exist_ok=True)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 2
    if name == "a stream":  # of which nothing is known before it is run through
        with pytest.raises(ValueError, match="begins with another batch than in the run before the stop"):
            run(tmp_path, **now)
    else:
        assert sorted(told(tmp_path, **now)) == sorted(words.split())
    assert sorted(tmp_path.iterdir()) == kept
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "BackupAndRestore: the optimizer begins again", RuntimeWarning)
        net = run(tmp_path, accept=words.split(), **now)
    assert net.history.epoch[-1] == dict(now.get("fitted", ())).get("epochs", 2) - 1
    assert all(np.isfinite(weight).all() for weight in net.get_weights())


def stopped(folder: Path, **options: Any) -> Path:
    with pytest.raises(Killed):
        run(folder, stop=9, **options)
    return sorted(folder.glob("*.checkpoint"))[-1]


def test_the_text_names_all_that_differs_and_the_words_for_it(tmp_path):
    path = stopped(tmp_path)
    with pytest.raises(ValueError, match="BackupAndRestore") as error:
        run(tmp_path, **model(activation="tanh", rate=0.4), **adam(lr=0.1, clipnorm=1.0), **of(lambda: X[:20], Y[:20]))
    values = [line for line in str(error.value).split("\n") if "data: " not in line]
    assert values == [
        f"BackupAndRestore: {path} does not fit this run. It differs:",
        (
            """  model: layer 'hidden'.activation is "relu" in the checkpoint, "tanh" here; """
            "layer 'drop'.rate is 0.3 in the checkpoint, 0.4 here"
        ),
        "  optimizer: clipnorm is null in the checkpoint, 1.0 here",
        "  learning_rate: 0.02 in the checkpoint, 0.1 here",
        (
            "Make them what they were, go on with the new ones by BackupAndRestore(..., accept="
            "('model', 'optimizer', 'learning_rate', 'data')), or begin again with another folder."
        ),
    ]
    assert "  data: samples is 24 in the checkpoint, 20 here; inputs[0].shape[0] is 24 in the checkpoint" in str(
        error.value
    )


def test_what_is_accepted_counts_from_then_on(tmp_path):
    stopped(tmp_path)
    net = run(tmp_path, accept="learning_rate", **adam(lr=0.005))
    assert net.optimizer.lr == 0.005
    path = stopped(tmp_path / "again")
    with pytest.raises(Killed):
        run(path.parent, stop=4, accept=["learning_rate"], **adam(lr=0.005))
    assert told(path.parent) == ["learning_rate"]
    assert told(path.parent, **adam(lr=0.005)) == []


@pytest.mark.parametrize(
    ("now", "option", "value"),
    [(adam(clipnorm=0.5), "clipnorm", 0.5), (torchs(weight_decay=0.5), "weight_decay", 0.5), (torchs(), "lr", 0.02)],
)
def test_an_accepted_option_of_the_optimizer_is_the_new_one(now, option, value, tmp_path):
    stopped(tmp_path, **(torchs(lr=0.05) if "clipnorm" not in option else {}))
    net = run(tmp_path, accept=["optimizer", "learning_rate"], **now)
    groups = getattr(net.optimizer, "param_groups", None) if option != "clipnorm" else None
    assert (getattr(net.optimizer, option) if groups is None else groups[0][option]) == value
    assert net.optimizer.iterations == 12


def test_the_rate_that_a_run_has_left_in_a_model_is_no_change(tmp_path):
    """In a notebook the same model goes on, whose rate a callback has lowered since it was compiled."""
    clear_session()
    torch.manual_seed(4)
    net = network()
    net.compile(optimizers.Adam(0.02), "mse")
    lowered = given.LearningRateScheduler(lambda epoch: 0.02 / (epoch + 1))
    with pytest.raises(Killed):
        net.fit(X, Y, SIZE, 3, 0, [At(9), lowered, BackupAndRestore(tmp_path, 2)])
    assert net.optimizer.lr == 0.01
    net.fit(X, Y, SIZE, 3, 0, [lowered, BackupAndRestore(tmp_path, 2)])
    assert net.optimizer.iterations == 18


def test_a_callback_may_write_to_another_place(tmp_path):
    stopped(tmp_path / "backup", also=lambda: [given.CSVLogger(tmp_path / "monday.csv")])
    assert told(tmp_path / "backup", also=lambda: [given.CSVLogger(str(tmp_path / "tuesday.csv"))]) == []


def test_weights_of_other_shapes_cannot_be_accepted(tmp_path):
    path = stopped(tmp_path)
    clear_session()
    inputs = Input((4,), name="given")
    net = Model(inputs, layers.Dense(3, name="out")(layers.Dense(6, name="hidden")(inputs)))
    net.compile("adam", "mse")
    with pytest.raises(ValueError, match="BackupAndRestore") as error:
        net.fit(X, Y, SIZE, 2, 0, [BackupAndRestore(tmp_path, accept=ACCEPTED)])
    lines = str(error.value).split("\n")
    assert lines[:2] == [
        f"BackupAndRestore: {path} does not fit this run. It differs:",
        "  weights: 'hidden.linear.weight' has shape (5, 4) in the checkpoint, (6, 4) here",
    ]
    assert lines[-1] == "Make them what they were, or begin again with another folder."


def test_a_checkpoint_of_an_older_version_goes_on_with_a_warning(tmp_path):
    path = stopped(tmp_path)
    saved = torch.load(path, weights_only=True)
    del saved["described"], saved["first"]
    content = io.BytesIO()
    torch.save(saved, content)
    path.unlink()
    data = content.getvalue()
    (tmp_path / f"{path.name[:21]}-{hashlib.sha256(data).hexdigest()[:24]}.checkpoint").write_bytes(data)
    with pytest.warns(UserWarning, match="BackupAndRestore") as found:
        net = run(tmp_path)
    assert [str(each.message) for each in found] == [
        (
            "BackupAndRestore: the checkpoint is of an older version, and does not say of which data, options and "
            "callbacks it is: that these are the same is not checked."
        )
    ]
    assert net.optimizer.iterations == 12


CODE = """
import datetime, logging, warnings
import torch
from torchkeras import layers
from torchkeras.callbacks import Callback, LambdaCallback

LOG = logging.getLogger("training")
NOW = {{"epoch": {number}}}
FACTOR = {factor}

class Logger(Callback):
    seen = {number}
    def on_epoch_begin(self, epoch, logs=None):
        NOW["at"] = epoch
        {line}

class Doubled(layers.Layer):
    def forward(self, inputs):
        {line}
        return inputs * FACTOR

class Rows(torch.utils.data.Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __len__(self):
        return len(self.x)
    def __getitem__(self, index):
        {line}
        return self.x[index], self.y[index]

def batches(x, y):
    while True:
        {line}
        for k in range(6):
            yield x[4 * k:4 * k + 4], y[4 * k:4 * k + 4]

def squared(y_true, y_pred):
    {line}
    return FACTOR * ((y_true - y_pred) ** 2).mean(-1)

def hooked():
    return LambdaCallback(on_epoch_begin=lambda epoch, logs: {value})
"""


def script(folder: Path, line: str = "pass", number: int = 3, factor: float = 2.0, value: str = "None") -> Any:
    """A module of the user's own, with a line in all its functions."""
    folder.mkdir(exist_ok=True)
    path = folder / "user_script.py"
    path.write_text(CODE.format(line=line, number=number, factor=factor, value=value))
    spec = importlib.util.spec_from_file_location("user_script", path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["user_script"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


USES = {
    "callback": lambda module: {"also": lambda: [module.Logger()]},
    "hook": lambda module: {"also": lambda: [module.hooked()]},
    "layer": lambda module: model(own=module.Doubled),
    "dataset": lambda module: {**of(lambda: module.Rows(X, Y)), "fitted": {"batch_size": SIZE}},
    "generator": lambda module: {**of(lambda: module.batches(X, Y)), "fitted": {"steps_per_epoch": 6}},
    "loss": lambda module: {"compiled": {"loss": module.squared}},
    "metric": lambda module: {"compiled": {"metrics": [module.squared]}},
}
OUTPUT = ("print('here')", "LOG.info('here')", "logging.info('here')", "print(NOW['epoch'])")


@pytest.mark.parametrize(
    ("use", "before", "now", "text"),
    [
        ("callback", {}, {"line": "self.other = 1"}, "callbacks: the code of Logger.on_epoch_begin has changed"),
        ("callback", {}, {"line": "print(epoch)"}, "callbacks: the code of Logger.on_epoch_begin has changed"),
        (
            "callback",
            {},
            {"number": 4},
            (
                "callbacks: Logger.on_epoch_begin.NOW.epoch is 3 in the checkpoint, 4 here; "
                "Logger.values.seen is 3 in the checkpoint, 4 here"
            ),
        ),
        ("hook", {}, {"value": "print(epoch)"}, "callbacks: the code of LambdaCallback.on_epoch_begin has changed"),
        *[
            ("layer", {}, {"line": line}, "model: the code of layer 'own'.forward.function has changed")
            for line in OUTPUT
        ],
        *[("loss", {}, {"line": line}, "loss: the code has changed") for line in OUTPUT],
        ("metric", {}, {"line": "print('here')"}, "metrics: the code of [0] has changed"),
        ("dataset", {}, {"line": "print('here')"}, "data: the code of dataset.__getitem__ has changed"),
        ("generator", {"line": "print('one')"}, {"line": "print('two')"}, "data: the code of generator has changed"),
    ],
)
def test_code_that_does_not_decide_is_a_warning(use, before, now, text, tmp_path):
    stopped(tmp_path / "backup", **USES[use](script(tmp_path, **before)))
    with pytest.warns(RuntimeWarning, match="BackupAndRestore: code has changed") as found:
        net = run(tmp_path / "backup", **USES[use](script(tmp_path, **now)))
    assert [str(each.message) for each in found] == [
        f"BackupAndRestore: code has changed since the checkpoint; the run goes on with it. {text}."
    ]
    undisturbed = run(tmp_path / "other", **USES[use](script(tmp_path, **before)))
    assert all(np.array_equal(a, b) for a, b in zip(net.get_weights(), undisturbed.get_weights(), strict=True))


@pytest.mark.parametrize(
    ("use", "now", "word"),
    [
        ("layer", {"line": "inputs = inputs + 1"}, "model"),
        ("layer", {"line": "print('here'); inputs = inputs + 1"}, "model"),
        ("layer", {"factor": 3.0}, "model"),
        ("loss", {"line": "y_pred = print('here') or y_pred * 2"}, "loss"),
        ("loss", {"factor": 3.0}, "loss"),
        ("dataset", {"line": "index = 0"}, "data"),
        ("generator", {"line": "x = x + 1"}, "data"),
    ],
)
def test_code_that_decides_is_refused(use, now, word, tmp_path):
    stopped(tmp_path / "backup", **USES[use](script(tmp_path)))
    assert told(tmp_path / "backup", **USES[use](script(tmp_path, **now))) == [word]


def test_an_accepted_word_needs_no_warning(tmp_path):
    stopped(tmp_path / "backup", **USES["callback"](script(tmp_path)))
    run(tmp_path / "backup", accept=["callbacks"], **USES["callback"](script(tmp_path, "self.other = 1")))


def test_a_comment_is_no_change(tmp_path):
    for use, options in USES.items():
        stopped(tmp_path / use, **options(script(tmp_path)))
        assert told(tmp_path / use, **options(script(tmp_path, "pass  # a comment"))) == []


def test_sample_weight_mode_and_target_tensors(tmp_path):
    def trained(folder: Path, stop: int | None = None, **options: Any) -> None:
        clear_session()
        net = Model(inputs := Input((4, 2), name="given"), layers.Dense(3, name="out")(inputs))
        net.compile("sgd", "mse", **options)
        y = None if "target_tensors" in options else np.ones((6, 4, 3))
        callbacks = [*([] if stop is None else [At(stop)]), BackupAndRestore(folder, 1)]
        net.fit(np.ones((6, 4, 2)), y, 2, 2, 0, callbacks)

    def words(folder: Path, **options: Any) -> list[str]:
        with pytest.raises(ValueError, match="does not fit this run") as error:
            trained(folder, **options)
        return [line.strip().partition(":")[0] for line in str(error.value).split("\n") if line.startswith("  ")]

    with pytest.raises(Killed):
        trained(tmp_path, 4)
    assert words(tmp_path, sample_weight_mode="temporal") == ["sample_weight_mode"]
    with pytest.raises(Killed):
        trained(tmp_path / "targets", 4, target_tensors=[torch.zeros(6, 4, 3)])
    assert "target_tensors" in words(tmp_path / "targets", target_tensors=[torch.ones(6, 4, 3)])


@pytest.mark.parametrize("words", [["rate"], "rate", ("data", "rate")])
def test_a_word_that_is_none(words, tmp_path):
    with pytest.raises(ValueError, match="accept") as error:
        BackupAndRestore(tmp_path, accept=words)
    assert str(error.value) == (
        f"BackupAndRestore: accept must hold words of {', '.join([*ACCEPTED, 'lock'])}; found 'rate'."
    )


def test_every_word_is_one_that_a_run_tells():
    told = {word for words, _, _ in CHANGES.values() for word in words.split()}
    # target_tensors and sample_weight_mode have tests of their own below.
    assert set(ACCEPTED) - told == {"target_tensors", "sample_weight_mode"}


LATER = {
    "profile_batch": (lambda path, **options: given.TensorBoard(path, write_graph=False, **options), 2),
    "keep": (
        lambda path, **options: given.ModelCheckpoint(path / "{epoch}", "loss", save_best_only=True, **options),
        3,
    ),
    "start_from_epoch": (lambda path, **options: given.EarlyStopping("loss", **options), 1),
}


@pytest.mark.parametrize("option", LATER)
def test_a_checkpoint_from_before_an_option_had_its_default(option, tmp_path):
    make, other = LATER[option]
    older = make(tmp_path / "logs")
    del vars(older)[option]
    with pytest.raises(Killed):
        run(tmp_path / "run", stop=9, also=lambda: [older])
    assert told(tmp_path / "run", also=lambda: [make(tmp_path / "logs", **{option: other})]) == ["callbacks"]
    assert told(tmp_path / "run", also=lambda: [make(tmp_path / "logs")]) == []

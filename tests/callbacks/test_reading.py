"""Which callbacks read numbers from the device, and when: all others leave them there."""

import io

import pytest
from callback_models import FakeModel, drive, never_read
from callback_table import TABLE

from torchkeras import callbacks
from torchkeras.callbacks import Logs, remote

BASES = {"Callback", "CallbackList", "Logs", "BackupAndRestore"}


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No network, and a bar to whose eyes no time passes."""
    monkeypatch.setattr(remote.urllib.request, "urlopen", lambda request, timeout: io.BytesIO())
    monkeypatch.setattr("torchkeras.callbacks.progress.time.perf_counter", lambda: 0.0)


def run(made, reads):
    """Batches and epochs whose numbers raise when they are read, but where it is said that they are."""
    model = FakeModel(use_ema=True)
    model.layers = []  # type: ignore[attr-defined]
    batch = {"loss": 0.5 if "batch" in reads else never_read()}
    epoch = {"loss": 0.5 if "epoch" in reads else never_read()}
    drive([made], model, batch_logs=lambda: Logs(batch, size=4), numbers=lambda _: epoch)


@pytest.mark.parametrize("name", TABLE)
def test_numbers_are_read_nowhere_else(name, tmp_path):
    make, reads = TABLE[name]
    run(make(tmp_path), reads)


@pytest.mark.parametrize(
    ("name", "place"), [(name, place) for name, (_, reads) in TABLE.items() for place in sorted(reads)]
)
def test_and_there_they_are(name, place, tmp_path):
    make, reads = TABLE[name]
    made = make(tmp_path)
    with pytest.raises(AssertionError, match=r"^a number was read$"):
        run(made, reads - {place})
    getattr(made, "abandon", int)()  # as `fit` does


def test_the_table_has_every_callback():
    rows = {name.partition(" ")[0] for name in TABLE}
    lacking = set(callbacks.__all__) - BASES - rows
    assert not lacking, "add a row for each of them to TABLE in tests/callbacks/callback_table.py"
    assert not rows - set(callbacks.__all__), "these rows are about no callback"

"""The scripts in `examples/` run, and come to what they say; the pages in `docs/` name them."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from torchkeras import callbacks

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "callbacks.md").read_text()

# The scripts with a score in their docstring, and what its numbers have to be; three seeds all came to it.
TASKS = {
    "adding_transformer.py": lambda right: right > 0.98,
    "gan.py": lambda read: read > 0.88,
    "image_classifier.py": lambda plain, augmented: augmented > max(plain, 0.95),
    "tabular.py": lambda error, linear: error < 2.25 < linear,
    "text_lstm.py": lambda right: right > 0.79,
    "time_series.py": lambda error, today, season: error < 3.0 < season < today,
    "transfer_learning.py": lambda old, headed, tuned, new: min(headed, tuned) > 0.83 > old > new,
    "vae.py": lambda nats, of_code, read: nats < 25 and of_code < 4 and read > 0.9,
}


def output(name: str, *given: str) -> str:
    """What a script prints."""
    command = [sys.executable, EXAMPLES / name, *given]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plain_fit():
    printed = output("plain_fit.py")
    assert "\nreported: val_loss val_acc loss acc\n" in printed
    assert float(re.findall(r"held-out accuracy: (\S+)", printed)[0]) > 0.85
    assert printed.endswith("the loaded model predicts the same: True\n")


def test_a_dataloader():
    printed = output("dataloader.py")
    assert printed.count(" - val_sparse_categorical_accuracy: ") == 4
    assert float(re.findall(r"held-out accuracy: (\S+)", printed)[0]) > 0.7
    assert printed.endswith("predictions: (360, 10)\n")


def test_a_step_of_ones_own_makes_a_model_steadier():
    plain, steadied = output("own_step.py").splitlines()
    assert plain.startswith("Model: loss, acc; accuracy ")
    assert steadied.startswith("Steadied: loss, loss_of_worse; accuracy ")
    (before, attacked), (after, withstood) = (
        [float(n) for n in re.findall(r"0\.\d+", line)] for line in (plain, steadied)
    )
    assert min(before, after) > 0.88
    assert withstood > attacked + 0.1


def test_a_run_that_was_interrupted_goes_on_to_the_same_weights():
    lines = output("resume.py").splitlines()
    assert lines[1] == "  6 of 6 epochs, 342 steps; left in the folder: []"
    assert lines[3].startswith("  2 of 6 epochs, 130 steps; left in the folder: ['00000002-")
    assert lines[5] == lines[1]
    assert lines[6] == "the weights are equal, bit by bit: True"


def test_a_callback_of_ones_own_is_watched_by_another():
    found = [
        int(share) for share in re.findall(r"least known: \d, of which (\d+)% are right", output("own_callback.py"))
    ]
    assert 3 < len(found) < 20  # EarlyStopping has ended it
    assert max(found[:-2]) >= max(found[-2:])


def test_a_script_of_keras_1_runs_as_it_is():
    command = [sys.executable, "-m", "torchkeras", "run", EXAMPLES / "old_script.py"]
    given = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr
    ((_, accuracy),) = re.findall(r"loss and accuracy on the others: \[([\d.]+), ([\d.]+)\]", done.stdout)
    assert float(accuracy) > 0.85


NUMBER = re.compile(r"\d+\.\d+")


def scores(name: str, *given: str) -> tuple[list[float], list[float]]:
    """The numbers of the indented line in a script's docstring, and those of the line that it prints in its words."""
    docstring = ast.get_docstring(ast.parse((EXAMPLES / name).read_text())) or ""
    (said,) = re.findall(r"^    (\S.*)", docstring, re.MULTILINE)
    (printed,) = [line for line in output(name, *given).splitlines() if NUMBER.sub("", line) == NUMBER.sub("", said)]
    return [float(number) for number in NUMBER.findall(said)], [float(number) for number in NUMBER.findall(printed)]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_runs_for_an_epoch(name):
    said, found = scores(name, "1")
    assert len(found) == len(said)


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_a_task_reaches_what_its_script_says(name):
    said, found = scores(name)
    assert TASKS[name](*said)
    assert TASKS[name](*found)
    assert found == pytest.approx(said, rel=0.15)  # another processor rounds, and so learns, otherwise


def test_examples_are_small_and_all_on_the_page():
    scripts = sorted(EXAMPLES.glob("*.*"))
    assert len(scripts) == 19
    page = (ROOT / "docs" / "examples.md").read_text()
    for script in scripts:
        assert len(script.read_text().splitlines()) < (100 if script.name in TASKS else 60)
        assert f"`{script.name}`" in page


def test_every_callback_has_its_line_on_the_page():
    rows = PAGE.partition("| callback |")[2].partition("\n\n")[0]
    named = {name for row in rows.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == set(callbacks.__all__) - {"Callback", "CallbackList", "Logs"}


@pytest.mark.slow
def test_several_processes_come_to_what_one_comes_to():
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    given = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    printed = []
    for launched in ([], launcher):
        command = [sys.executable, *launched, EXAMPLES / "several_processes.py"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=given, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.splitlines()[-1])
    alone, together = printed
    assert alone.startswith("1 processes, last loss ")
    assert together == f"2{alone[1:]}"

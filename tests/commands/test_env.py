"""`torchkeras env`: versions, devices, threads and settings."""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

import torchkeras
from torchkeras.commands import main
from torchkeras.commands.env import EXTRAS, NEEDED, VARIABLES

ROOT = Path(__file__).parents[2]
FOR_THIS_PROJECT = {"dev", "docs", "ecosystem", "examples", "test"}
# Where other processes are: of no use to a reader of the report, and not for everybody's eyes.
UNTOLD = {"MASTER_ADDR", "MASTER_PORT", "SLURM_STEP_NODELIST", "SLURM_JOB_ID", "SLURM_STEP_ID"}
UNTOLD |= {"TORCHELASTIC_RESTART_COUNT", "PMIX_NAMESPACE", "PMI_FD"}


def told(capsys):
    assert main(["env", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_versions_are_those_of_the_modules(capsys):
    found = told(capsys)
    assert found["torchkeras"] == torchkeras.__version__
    assert found["python"].startswith(platform.python_version())
    assert (found["packages"]["torch"], found["packages"]["numpy"]) == (torch.__version__, np.__version__)
    assert found["threads"]["in_an_operation"] == torch.get_num_threads()
    assert found["devices"][0]["device"] == "cpu"


def test_what_is_missing_is_said(capsys, monkeypatch):
    monkeypatch.setitem(EXTRAS, "plot", ("matplotlib", "no-such-package"))
    found = told(capsys)["extras"]["plot"]
    assert found["no-such-package"] is None
    assert isinstance(found["matplotlib"], str)
    main(["env"])
    assert f"matplotlib {found['matplotlib']}, no-such-package missing\n" in capsys.readouterr().out


def test_settings_are_those_in_force(capsys):
    torchkeras.config.set_image_data_format("channels_first")
    torchkeras.config.set_dtype_policy("mixed_bfloat16")
    try:
        found = told(capsys)["settings"]
    finally:
        torchkeras.config.set_dtype_policy(None)
        torchkeras.config.set_image_data_format("channels_last")
    assert (found["image_data_format"], found["dtype_policy"]) == ("channels_first", "mixed_bfloat16")
    assert found["floatx"] == "float32"


def test_files_and_variables_that_are_read_are_told_without_the_home_of_the_user(tmp_path):
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "keras.json").write_text('{"epsilon": 0.001}')
    given = {**os.environ, "HOME": str(tmp_path), "KERAS_HOME": str(tmp_path / "keras"), "OMP_NUM_THREADS": "1"}
    made = subprocess.run(
        [sys.executable, "-m", "torchkeras", "env"], env=given, capture_output=True, text=True, check=True
    )
    rows = dict(re.split(r" {2,}", line, maxsplit=1) for line in made.stdout.splitlines())
    assert (rows["keras.json"], rows["epsilon"]) == (f"~{os.sep}keras{os.sep}keras.json", "0.001")
    assert (rows["KERAS_HOME"], rows["OMP_NUM_THREADS"]) == (f"~{os.sep}keras", "1")
    assert str(tmp_path) not in made.stdout


def test_every_line_is_a_title_and_a_value(capsys):
    assert main(["env"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["torchkeras", torchkeras.__version__]
    assert all(re.fullmatch(r"\S.*? {2,}\S.*", line) for line in lines)


def test_the_extras_are_those_of_the_project():
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    named = {
        extra: tuple(re.match(r"[\w-]+", each)[0] for each in re.findall(r'"([^"]+)"', listed))  # pyright: ignore
        for extra, listed in re.findall(r"^(\w+) = \[(.*?)\]$", section, re.MULTILINE | re.DOTALL)
        if extra not in FOR_THIS_PROJECT
    }
    assert named == EXTRAS
    needed = re.findall(r'"(\w+)>=', text.partition("dependencies = [")[2].partition("]")[0])
    assert tuple(needed) == tuple(package.__name__ for package in NEEDED)


def test_every_variable_that_the_package_reads_is_told():
    read = set()
    for path in Path(torchkeras.__file__).parent.rglob("*.py"):
        read |= set(re.findall(r'os\.environ(?:\.get\(|\[|\.setdefault\()"(\w+)"', path.read_text()))
    assert read - UNTOLD - set(VARIABLES) == set()
    assert "KERAS_HOME" in read


def test_the_version_alone(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"torchkeras {torchkeras.__version__}\n"

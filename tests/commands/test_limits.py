"""`--memory` and `--seconds` hold for every file that a command takes, of whatever format and by whatever argument."""

import json
import os
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from torchkeras.commands import main
from torchkeras.layers import Dense
from torchkeras.models import Sequential

MEMORY = "64M"
WHOLE = ("m.h5", "m.keras", "m.pt", "m.safetensors")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def failure(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main([*arguments, "--memory", MEMORY, "--json", "--no-progress"])
    error = json.loads(capsys.readouterr().out)["error"]
    return code, error["kind"], error["message"]


def small() -> Sequential:
    return Sequential([Dense(2, input_shape=(3,))])


def calls(file: str) -> list[tuple[str, ...]]:
    """Every command with `file` in each place that takes one; the other files are whole."""
    small().save("whole.h5")
    small().save_weights("weights.h5")
    np.savez("io.npz", x0=np.ones((2, 3), "float32"), y0=np.ones((2, 2), "float32"))
    return [
        ("inspect", file),
        ("convert", file, "out.h5"),
        ("verify", file, "--against", "io.npz"),
        ("eject", file, "ejected"),
        ("convert", "weights.h5", "out.h5", "--architecture", file),
        ("verify", "whole.h5", "--against", file),
    ]


@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_what_is_no_file_is_not_waited_for(kind: str, capsys):
    if kind == "pipe":
        os.mkfifo("m")
    elif kind == "link":
        Path("m").symlink_to("/dev/zero")
    file = "/dev/zero" if kind == "device" else "m"
    for call in calls(file):
        assert failure(capsys, *call) == (3, "UnreadableFileError", f"{file}: not a regular file.")
    assert not Path("out.h5").exists()


@pytest.mark.parametrize("file", WHOLE)
def test_the_time_holds_for_every_format(file: str, capsys):
    small().save(file)
    for call in calls(file)[:4]:
        code, kind, text = failure(capsys, *call, "--seconds", "0.00001")
        assert (code, kind) == (6, "FileLimitError")
        first = "io.npz" if call[0] == "verify" else file
        assert text == f"{first}: reading it takes longer than 1e-05 seconds."


def swelling_hdf5() -> str:
    with h5py.File("m.h5", "w") as file:
        for k in range(4):
            file.create_dataset(f"a{k}", (1 << 23,), "f4", compression="gzip", chunks=(1 << 20,))[:] = 0
    return "m.h5"


def swelling_archive() -> str:
    swelling_hdf5()
    with zipfile.ZipFile("m.keras", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("metadata.json", "{}")
        file.writestr("config.json", "{}")
        file.write("m.h5", "model.weights.h5")
    return "m.keras"


@pytest.mark.parametrize("make", [swelling_hdf5, swelling_archive])
def test_a_file_that_swells(make, capsys):
    file = make()
    assert Path(file).stat().st_size < 1 << 20
    for call in calls(file)[:4]:
        code, kind, text = failure(capsys, *call)
        assert (code, kind) == (6, "FileLimitError"), text
        assert text in (  # which comes first depends on the memory that the process has
            f"{file}: unpacked, it has more than {80 << 20} bytes.",
            f"{file}: reading it takes more than {64 << 20} bytes of memory.",
        )


def test_a_record_that_swells(capsys):
    np.savez_compressed("zeros.npz", x0=np.zeros(1 << 24, "float64"), y0=np.zeros(1))
    assert Path("zeros.npz").stat().st_size < 1 << 20
    code, kind, text = failure(capsys, *calls("zeros.npz")[-1])
    assert (code, kind) == (6, "FileLimitError")
    assert text == f"zeros.npz: unpacked, it has more than {80 << 20} bytes."


def test_a_record_that_lies_of_its_shape(capsys):
    header = str({"descr": "<f8", "fortran_order": False, "shape": (1 << 30,)}).encode().ljust(118) + b"\n"
    for name, text in (("x0", "has not as many values as its shape (1073741824,) says."),):
        with zipfile.ZipFile("io2.npz", "w") as file:
            file.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
        found = failure(capsys, *calls("io2.npz")[-1])
        assert found == (3, "UnreadableFileError", f"io2.npz: '{name}.npy' {text}")


def test_an_architecture_that_is_too_long(capsys):
    Path("long.json").write_bytes(b" " * (33 << 20))
    found = failure(capsys, *calls("long.json")[-2])
    assert found == (6, "FileLimitError", "long.json: it has over 33554432 bytes.")

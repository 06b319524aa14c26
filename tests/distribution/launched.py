"""Several processes on this machine, started as torchrun starts them."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def launch(source: str, ranks: Sequence[Mapping[str, str]], *arguments: str) -> list[subprocess.Popen[str]]:
    """A process for each of `ranks`, which are the variables of its launcher; it runs the source."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "TORCHELASTIC_", "PMI_"))
    }
    common = {**inherited, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", source, *arguments],
            env={**common, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for variables in ranks
    ]  # fmt: skip


def printed(started: Sequence[subprocess.Popen[str]], seconds: float = 120) -> list[str]:
    """What each process printed. Fails where one ended with an error."""
    try:
        ended = [process.communicate(timeout=seconds) for process in started]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    for process, (_, errors) in zip(started, ended, strict=True):
        assert process.returncode == 0, errors
    return [without_gloo(out) for out, _ in ended]


def without_gloo(out: str) -> str:
    """The output of a process without what torch 2.8 to 2.10 prints of its connections."""
    return re.sub(r"^\[Gloo\] .*\n", "", out, flags=re.MULTILINE)


def as_torchrun(processes: int, port: int | None = None) -> list[dict[str, str]]:
    """The variables that torchrun sets for each of its workers on one machine."""
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port or free_port()), "WORLD_SIZE": str(processes)}
    return [{**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(processes)]

"""`torchkeras.distribution`: the group is that of the launcher, or the one that exists already."""

import json
import os
import re
import socket
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from launched import as_torchrun, free_port, launch, printed
from torch.distributed import TCPStore  # pyright: ignore[reportPrivateImportUsage]

from torchkeras import config
from torchkeras.distribution import barrier, group, initialize, is_main, local_rank, rank, world_size
from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.world import processes

# Prints what the names say before and after joining, and the sum of all ranks; then leaves the group and joins again.
JOINS = """
import json
import torch, torch.distributed as dist
from torchkeras.distribution import barrier, initialize, is_main, local_rank, rank, world_size

def told():
    return [rank(), world_size(), local_rank(), is_main()]

before = told()
initialize()
initialize(timeout=60)
found = torch.tensor(rank() + 1)
dist.all_reduce(found)
barrier()
once = [int(found), dist.get_backend()]
dist.destroy_process_group()
initialize(timeout=30)
dist.all_reduce(found)
print(json.dumps([before, told(), once, int(found)]))
"""
VARIABLES = [name for names in group.LAUNCHERS for name in names] + ["MASTER_ADDR", "MASTER_PORT"]
VARIABLES += ["PMIX_NAMESPACE", "PMI_FD"]


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "")  # so that what a test sets is taken back at its end
        monkeypatch.delenv(name)


def slurm(processes: int) -> list[dict[str, str]]:
    shared = {
        "SLURM_STEP_NUM_TASKS": str(processes),
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_JOB_ID": str(os.getpid()),
        "SLURM_STEP_ID": "0",
    }
    return [{**shared, "SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank)} for rank in range(processes)]


def mpi(processes: int) -> list[dict[str, str]]:
    word = "OMPI_COMM_WORLD"
    shared = {f"{word}_SIZE": str(processes), f"{word}_LOCAL_SIZE": str(processes), "MASTER_PORT": str(free_port())}
    return [{**shared, f"{word}_RANK": str(rank), f"{word}_LOCAL_RANK": str(rank)} for rank in range(processes)]


@pytest.mark.parametrize("launcher", [as_torchrun, slurm, mpi])
def test_processes_of_a_launcher_join(launcher):
    told = [json.loads(line) for line in printed(launch(JOINS, launcher(2)))]
    for place, (before, after, once, twice) in enumerate(told):
        assert before == after == [place, 2, place, place == 0]
        assert once == [3, "gloo"]
        assert twice == 6


def test_workers_that_start_again_do_not_meet_dead_ones():
    # torchrun's store lives on: here that of a process which joins no group.
    port = free_port()
    store = TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False)
    ranks = [{**each, "TORCHELASTIC_USE_AGENT_STORE": "True"} for each in as_torchrun(2, port)]
    for counts in (
        ("0", "0"),
        ("0", "1"),
        ("1", "1"),
    ):  # an agent does not count what another one's worker was to blame for
        told = [{**each, "TORCHELASTIC_RESTART_COUNT": count} for each, count in zip(ranks, counts, strict=True)]
        assert [json.loads(line)[2][0] for line in printed(launch(JOINS, told))] == [3, 3]
    del store


def test_a_worker_waits_for_process_0():
    store = TCPStore("127.0.0.1", free_port(), is_master=True, timeout=timedelta(seconds=1), wait_for_workers=False)
    store.add("torchkeras/starts", 1)
    store.set("torchkeras/start1/all", "those of an earlier start")
    with pytest.raises(RuntimeError, match=r"^initialize: process 1 waited for process 0 for 1 s\.$"):
        group._attempt(store, 1, 2)


def test_without_a_launcher_there_is_one_process():
    initialize()
    barrier()
    assert not dist.is_initialized()
    assert (rank(), world_size(), local_rank(), is_main()) == (0, 1, 0, True)


def test_a_group_that_exists_is_used(monkeypatch, tmp_path):
    monkeypatch.setenv("RANK", "5")
    monkeypatch.setenv("WORLD_SIZE", "8")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        initialize()
        assert (rank(), world_size(), is_main()) == (0, 1, True)
    finally:
        dist.destroy_process_group()


def test_a_batch_script_of_slurm_is_one_process(monkeypatch):
    monkeypatch.setenv("SLURM_PROCID", "0")
    monkeypatch.setenv("SLURM_NTASKS", "4")
    initialize()
    assert world_size() == 1


# What launchers set, as seen in runs of OpenMPI 4.1, MPICH 4.0 and Slurm 22.05 on two machines of 3 and 1 processes.
HELPER = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "0", "SLURM_STEP_NODELIST": "n[1-2]"}
OPENMPI = {f"OMPI_COMM_WORLD_{name}": value for name, value in zip(("RANK", "SIZE", "LOCAL_RANK"), "142", strict=True)}
MPICH = {"PMI_RANK": "1", "PMI_SIZE": "4", "MPI_LOCALRANKID": "2"}
SRUN = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "2", "SLURM_STEP_NODELIST": "n[1-2]"}


@pytest.mark.parametrize(
    "told",
    [
        *(OPENMPI, MPICH, SRUN),
        pytest.param({**OPENMPI, **HELPER}, id="mpirun of OpenMPI in a job of Slurm"),
        pytest.param({**MPICH, **HELPER}, id="mpirun of MPICH in a job of Slurm"),
        pytest.param({"PMI_RANK": "1", "PMI_SIZE": "4", **SRUN}, id="srun --mpi=pmi2"),
        pytest.param({"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "2", **HELPER}, id="torchrun in a job of Slurm"),
    ],
)
def test_a_launcher_is_known_within_another(monkeypatch, told):
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert (rank(), world_size(), local_rank()) == (1, 4, 2)


def test_srun_with_mpi_says_where_the_first_process_is(monkeypatch):
    for name, value in {"PMI_RANK": "1", "PMI_SIZE": "4", **SRUN, "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "2"}.items():
        monkeypatch.setenv(name, value)
    group._complete_environment(group.launcher())
    assert (os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]) == ("n1", "20114")


def port_of(monkeypatch, told):
    for name in (*group.LAUNCHERS[0], "MASTER_PORT"):  # which an earlier call has set
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    group._complete_environment(group.launcher())
    return int(os.environ["MASTER_PORT"])


def test_two_runs_of_openmpi_on_a_machine_have_ports_of_their_own(monkeypatch):
    alone = {**OPENMPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}
    runs = ["prterun-n1-13761@1", "prterun-n1-13764@1", "1234698241"]  # the last by OpenMPI 4
    found = [port_of(monkeypatch, {**alone, "PMIX_NAMESPACE": run}) for run in runs]
    assert len({*found, 29500}) == 4
    assert all(20000 <= port < 40000 for port in found)
    assert found[0] == port_of(monkeypatch, {**alone, "PMIX_NAMESPACE": runs[0], "OMPI_COMM_WORLD_RANK": "3"})
    assert port_of(monkeypatch, {**alone, "PMIX_NAMESPACE": runs[0], "MASTER_PORT": "4711"}) == 4711


def test_two_runs_of_mpich_on_a_machine_have_ports_of_their_own(monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        told = {**MPICH, "MPI_LOCALNRANKS": "4", "PMI_FD": str(ours.fileno())}
        found = port_of(monkeypatch, told)
        known = hasattr(socket, "SO_PEERCRED")  # Linux tells who is behind a socket
        assert processes.run_of_mpi(processes.MPICH) == (str(os.getpid()) if known else None)
        assert found == port_of(monkeypatch, {**told, "PMI_RANK": "3"})
        assert (found != 29500) is known
        ours.getpeername()  # is still open


def test_without_a_sign_of_the_run_the_port_is_torchs_usual_one(monkeypatch, tmp_path):
    for told in ({**OPENMPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, {**MPICH, "MPI_LOCALNRANKS": "4"}):
        assert port_of(monkeypatch, told) == 29500
        for name in told:
            monkeypatch.delenv(name)
    with (tmp_path / "file").open("w") as file, socket.socket() as other:
        for number in (file.fileno(), other.fileno(), 10**6, "gone"):
            assert port_of(monkeypatch, {**MPICH, "MPI_LOCALNRANKS": "4", "PMI_FD": str(number)}) == 29500


def test_a_port_that_is_taken_is_said(monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        for name, value in as_torchrun(2, port)[0].items():
            monkeypatch.setenv(name, value)
        text = (
            f"initialize: process 0 cannot listen at port {port} of this machine, which another program uses, such as "
            "another run. Set MASTER_PORT to a free port, the same for all processes."
        )
        with pytest.raises(RuntimeError, match=f"^{re.escape(text)}$"):
            initialize()


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("gpu1", "gpu1"),
        ("gpu[07-09,12],cpu1", "gpu07"),
        ("gpu[3,5]", "gpu3"),
        ("a1,b[1-2]", "a1"),
        ("rack[1-2]n[04-08]-ib", "rack1n04-ib"),
    ],
)
def test_the_first_machine_of_slurm(nodes, first):
    assert group._first_node(nodes) == first


def test_a_launcher_that_does_not_say_where_the_first_process_is(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "1")
    monkeypatch.setenv("PMI_SIZE", "4")
    text = (
        "initialize: PMI_RANK and PMI_SIZE say that there are 4 processes, but MASTER_ADDR and MASTER_PORT are not "
        "set, so they cannot find each other. Set them to the address of the machine of process 0 and a free port of "
        "it; torchrun and srun need neither."
    )
    with pytest.raises(RuntimeError, match=f"^{re.escape(text)}$"):
        initialize()


@pytest.mark.parametrize("timeout", [0, -1.0, "soon", True])
def test_the_timeout_is_a_positive_number(timeout):
    text = f"initialize: timeout must be a number of more than 0, or None; found {timeout!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        initialize(timeout=timeout)


@pytest.mark.parametrize(("place", "count", "device"), [("1", 4, 1), ("3", 4, 3), ("2", 1, 0)])
def test_the_cuda_device_is_that_of_the_number_on_the_machine(monkeypatch, place, count, device):
    monkeypatch.setenv("RANK", "9")
    monkeypatch.setenv("WORLD_SIZE", "16")
    monkeypatch.setenv("LOCAL_RANK", place)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    assert group._cuda_device() == device


def test_more_processes_than_cuda_devices(monkeypatch):
    for name, value in (("RANK", "2"), ("WORLD_SIZE", "4"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(config, "device", lambda: torch.device("cuda"))
    text = (
        "initialize: this is process 2 of its machine, counted from 0, which has 2 CUDA devices. Start at most 2 "
        "processes on it, or call torchkeras.config.set_device('cpu') first."
    )
    with pytest.raises(RuntimeError, match=f"^{re.escape(text)}$"):
        initialize()


@pytest.mark.parametrize("error", [False, True])
def test_the_group_ends_with_the_process_but_not_after_an_error(monkeypatch, tmp_path, error):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    try:
        if error:
            monkeypatch.setattr(group.sys, "last_value", ValueError("ended"), raising=False)
        else:
            monkeypatch.delattr(group.sys, "last_value", raising=False)
        group._leave()
        assert dist.is_initialized() is error
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


@pytest.mark.parametrize("distribute", ["ddp", "fsdp"])
def test_what_needs_a_group_says_how_to_have_one(distribute):
    model = Sequential([Dense(2, input_shape=(3,))])
    with pytest.raises(RuntimeError) as caught:
        model.compile("sgd", "mse", distribute=distribute)
    assert str(caught.value) == (
        f"compile: distribute={distribute!r} needs a group of processes, and there is none. Start the script by "
        "torchrun --nproc-per-node=2, make a group by torch.distributed.init_process_group, or leave distribute out, "
        "and one process trains alone."
    )

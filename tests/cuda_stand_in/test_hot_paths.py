"""What a step asks of a CUDA device, counted on one that the CPU stands in for: no wait, no transfer, no CPU tensor."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import cpp_extension

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NOTHING = {"transfers": {}, "waits": {}}
FETCHED = "aten._to_copy.default at engine/fit/results.py:"  # an output of `predict`, to pinned memory
SENT = "aten._to_copy.default at data/device_transfer.py:"  # a tensor of a batch, from pinned memory
# What the host computes, or reads in order to go on; the pages of these layers say so.
ON_THE_HOST = {"Hashing", "HashedCrossing", "RandomElasticTransform", "RandAugment", "AugMix"}
WAITING = {"torch Adafactor"}  # torch's reads the size of each weight from the device, and has no `capturable`
FAULTS = {
    "not deterministic": "RuntimeError: aten.cumsum.default does not have a deterministic implementation.",
    "zeros without a device": "RuntimeError: aten.add.Tensor: a tensor of shape (8,) is on the CPU, others on CUDA.",
    "a generator of the CPU": "the generator is for cpu, the tensor on cuda:0.",
    "item": "aten._local_scalar_dense.default",
    "a condition": "aten._local_scalar_dense.default",
    "a boolean index": "aten.index.Tensor",
    "a number sent": "aten._to_copy.default",
    "numbers fetched": "aten._to_copy.default",
}

pytestmark = [pytest.mark.xdist_group("cuda_stand_in"), pytest.mark.torch("2.13", "what stands in for a CUDA device")]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """torch's idea of a CUDA device, from `device.cpp`."""
    library = tmp_path_factory.mktemp("cuda_stand_in") / "device.so"
    folders = [f"-I{folder}" for folder in cpp_extension.include_paths()]
    libraries = cpp_extension.library_paths()[0]
    subprocess.run(
        [
            *(os.environ.get("CXX", "c++"), "-std=c++20", "-shared", "-fPIC", *folders, str(HERE / "device.cpp")),
            *("-o", str(library), f"-L{libraries}", f"-Wl,-rpath,{libraries},--no-as-needed", "-lc10", "-ltorch_cpu"),
            f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        ],
        check=True,
    )
    return library


def printed(script: str, library: Path) -> Any:
    """What a script of this folder finds, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(HERE))), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(HERE / script), str(library)]
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def found(library: Path) -> Any:
    return printed("hot_paths.py", library)


@pytest.fixture(scope="module")
def compiled(library: Path) -> Any:
    return printed("compiled_paths.py", library)


def without(asked: Any, place: str) -> tuple[Any, float]:
    """What was asked elsewhere, and how often a transfer was asked for at `place`."""
    transfers = asked["transfers"]
    elsewhere = {at: count for at, count in transfers.items() if not at.startswith(place)}
    return {**asked, "transfers": elsewhere}, sum(transfers.values()) - sum(elsewhere.values())


def test_a_step_waits_for_nothing_and_sends_nothing(found: Any):
    paths = {name: asked for name, asked in found["paths"].items() if name not in (*WAITING, "batches sent ahead")}
    assert len(paths) > 80
    for name, asked in paths.items():
        assert "error" not in asked, (name, asked)
        assert (name, asked["fit"], asked["evaluate"]) == (name, NOTHING, NOTHING)
        assert (name, *without(asked["predict"], FETCHED)) == (name, NOTHING, 1)


def test_a_batch_of_the_host_is_sent_once(found: Any):
    asked = found["paths"]["batches sent ahead"]
    assert without(asked["fit"], SENT) == (NOTHING, 2)
    assert without(asked["evaluate"], SENT) == (NOTHING, 2)
    assert without(without(asked["predict"], SENT)[0], FETCHED) == (NOTHING, 1)


@pytest.mark.parametrize("name", sorted(WAITING))
def test_what_waits_is_what_the_page_says(name: str, found: Any):
    asked = found["paths"][name]
    assert asked["fit"]["waits"] or asked["fit"]["transfers"]
    assert name.replace("torch ", "torch.optim.") in (ROOT / "docs/cuda.md").read_text()


def test_layers_wait_for_nothing_and_send_nothing(found: Any):
    layers = found["layers"]
    assert len(layers) > 190
    for name, asked in layers.items():
        assert "error" not in asked, (name, asked)
        if name.partition("(")[0] not in ON_THE_HOST:
            assert (name, asked) == (name, {"training=True": NOTHING, "training=False": NOTHING})


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, found: Any):
    asked = found["faults"][fault]
    if "error" in asked:
        assert FAULTS[fault] in asked["error"]
    else:
        kind = "waits" if fault in ("item", "a condition", "a boolean index") else "transfers"
        assert {name.partition(" at ")[0]: n for name, n in asked["fit"][kind].items()} == {FAULTS[fault]: 1.0}


def test_all_faults_are_tried(found: Any):
    assert found["faults"].keys() == FAULTS.keys()


def test_data_of_the_host_are_checked_before_they_are_sent(found: Any):
    """On CUDA a number that no vector belongs to would end the process: "device-side assert triggered"."""
    assert len(found["unknown tokens"]) == 7
    for way, asked in found["unknown tokens"].items():
        assert "goes into Embedding 'embedding_1', which takes whole numbers from 0 to 8; found 9." in asked["error"], (
            way
        )


# --- compiled steps --------------------------------------------------------------------------------------------------

# What a CUDA graph asks for: one graph of the whole step, nothing of another device in it, no number read.
CAPTURABLE = {"graphs": 1, "devices": ["cuda:0"], "reads": [], "not to capture": []}
FAULTS_OF_GRAPHS = {
    "zeros without a device": "Expected all tensors to be on the same device",
    "item": "aten._local_scalar_dense.default",
    "a boolean index": "aten.nonzero.default",
}


@pytest.mark.torch("2.12", "gradients inside of a compiled step")
def test_a_compiled_step_is_one_graph_on_the_device(compiled: Any):
    assert len(compiled["paths"]) >= 9
    for name, found in compiled["paths"].items():
        assert (name, found) == (name, {"train": CAPTURABLE, "test": CAPTURABLE})


@pytest.mark.torch("2.12", "gradients inside of a compiled step")
def test_a_fault_in_a_compiled_step_is_found(compiled: Any):
    faults = compiled["faults"]
    for name, text in FAULTS_OF_GRAPHS.items():
        assert text in faults[name]["error"]
    assert faults["numbers fetched"]["train"]["devices"] == ["cpu", "cuda:0"]
    assert faults.keys() == {*FAULTS_OF_GRAPHS, "numbers fetched"}

"""Folders of DCP: what is written comes back, and a `.metadata` that would run something or lead astray is refused."""

import os
import pickle
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.checkpoint import filesystem, metadata
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save
from torch.distributed.checkpoint.state_dict_saver import save

from torchkeras.distribution import folders

TENSORS = {
    "a/b": torch.arange(6.0).reshape(2, 3),
    "half": torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
    "complex": torch.tensor([1 + 2j]),
    "flags": torch.tensor([True, False]),
    "count": torch.tensor(7),
    "none": torch.empty(0, 4),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that one process wrote; `of_torch` beside it is by torch alone."""
    folder = tmp_path_factory.mktemp("folders")
    dist.init_process_group("gloo", init_method=f"file://{folder / 'store'}", rank=0, world_size=1)
    try:
        folders.write(folder / "ours", TENSORS)
        save(dict(TENSORS), checkpoint_id=folder / "of_torch")
    finally:
        dist.destroy_process_group()
    return folder / "ours"


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "copy"))


def into() -> dict[str, torch.Tensor]:
    return {name: torch.empty_like(tensor) for name, tensor in TENSORS.items()}


@pytest.mark.parametrize("name", ["ours", "of_torch"])
def test_tensors_come_back(written, name):
    path = written.with_name(name)
    assert folders.contents(path) == {name: (tensor.shape, tensor.dtype) for name, tensor in TENSORS.items()}
    found = into()
    folders.read(path, found)
    assert all(torch.equal(found[name], tensor) for name, tensor in TENSORS.items())


def test_torch_reads_it(written, tmp_path):
    dcp_to_torch_save(written, tmp_path / "file.pt")
    found = torch.load(tmp_path / "file.pt", weights_only=True)
    assert torch.equal(found["a/b"], TENSORS["a/b"])


def test_it_names_no_path_of_the_machine(written):
    assert str(written).encode() not in (written / ".metadata").read_bytes()


class Runs:
    """Pickled, it is a call."""

    def __init__(self, function: Any, *arguments: Any):
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


def of(storage: Any, folder: Path) -> Any:
    """The metadata of a folder, with other values by name."""
    found = pickle.loads((folder / ".metadata").read_bytes())  # noqa: S301  # which this test wrote
    for name, value in storage.items():
        setattr(found, name, value)
    return found


def refused(folder: Path, text: str) -> None:
    with pytest.raises(
        ValueError, match=re.escape(f"{folder}/.metadata is not what torch's distributed checkpoint")
    ) as told:
        folders.contents(folder)
    assert text in str(told.value)
    with pytest.raises(ValueError, match=re.escape(text)):
        folders.read(folder, into())


@pytest.mark.parametrize(
    "function", ["posix system", "builtins eval", "builtins getattr", "torch load", "torch.hub load"]
)
def test_nothing_that_it_names_is_called(folder, tmp_path, function):
    module, name = function.split()
    mark = tmp_path / "ran"
    (folder / ".metadata").write_bytes(f"c{module}\n{name}\n(V touch {mark}\ntR.".encode())
    refused(folder, f"it names {module}.{name}")
    assert not mark.exists()


def test_a_call_beside_what_is_right(folder, tmp_path):
    found = of({"planner_data": Runs(os.mkdir, str(tmp_path / "ran"))}, folder)
    (folder / ".metadata").write_bytes(pickle.dumps(found))
    refused(folder, "it names")
    assert not (tmp_path / "ran").exists()


def test_classes_are_left_as_they_are(folder):
    whole = pickle.dumps((None, {"chunks": 1}), 2)[2:-1]
    place = b"ctorch.distributed.checkpoint.metadata\nTensorStorageMetadata\n"
    (folder / ".metadata").write_bytes(b"\x80\x02" + place + whole + b"b.")
    refused(folder, "it changes")
    assert not hasattr(metadata.TensorStorageMetadata, "chunks")


def test_a_file_of_tensors_that_is_cut(folder):
    path = folder / "__0_0.distcp"
    path.write_bytes(path.read_bytes()[:1000] + bytes(path.stat().st_size - 1000))
    with pytest.raises(ValueError, match=re.escape(f"{folder}: ")):
        folders.read(folder, into())


@pytest.mark.parametrize("content", [b"", b"\x80\x04N.", b"no pickle", pickle.dumps([1]), b"\x80\x04\x95\xff\xff"])
def test_what_is_no_metadata(folder, content):
    (folder / ".metadata").write_bytes(content)
    refused(folder, "writes: ")


def entry(shape: tuple[int, ...], parts: list[tuple[int, ...]]) -> Any:
    chunks = [metadata.ChunkStorageMetadata(torch.Size([0] * len(part)), torch.Size(part)) for part in parts]
    return metadata.TensorStorageMetadata(metadata.TensorProperties(torch.float32), torch.Size(shape), chunks)


# Before torch 2.7 nothing is transformed, and what a `.metadata` tells of a tensor has no place for it.
TRANSFORMS = [["zstd"]] if "transform_descriptors" in filesystem._StorageInfo.__annotations__ else []  # pyright: ignore
TRANSFORMED = [
    (
        {"storage_data": {metadata.MetadataIndex("a"): filesystem._StorageInfo("__0_0.distcp", 0, 1, each)}},  # pyright: ignore
        f"a is transformed by {each}",
    )
    for each in TRANSFORMS
]


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"state_dict_metadata": {"a": metadata.BytesStorageMetadata()}}, "a is no tensor"),
        ({"state_dict_metadata": {"a": entry((4,), [(3,)])}}, "a of shape (4,) has parts of other sizes"),
        ({"state_dict_metadata": {"a": entry((-4, -1), [(-4, -1)])}}, "a of shape (-4, -1) has parts of other sizes"),
        ({"state_dict_metadata": {"a": entry((10**12,), [(10**12,)])}}, "it tells of 4000000000000 bytes in files of"),
        (
            {"storage_data": {metadata.MetadataIndex("a"): filesystem._StorageInfo("../out", 0, 1)}},  # pyright: ignore
            "a is in '../out', which is no file of the folder",
        ),
        *TRANSFORMED,
    ],
)
def test_what_leads_astray(folder, changed, text):
    (folder / ".metadata").write_bytes(pickle.dumps(of(changed, folder)))
    refused(folder, text)

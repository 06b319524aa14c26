"""Files of `torch.save` that are damaged or made to harm: each is refused before it takes memory, by its kind."""

import io
import os
import pickle
import resource
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from torchkeras.errors import FileLimitError, ForbiddenContentError, ModelFileError, UnreadableFileError
from torchkeras.layers import Dense
from torchkeras.models import Sequential, load_model
from torchkeras.saving.containers import pickled
from torchkeras.saving.containers.limits import Limits


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def small() -> Sequential:
    return Sequential([Dense(3, input_shape=(4,), name="a"), Dense(2, name="b")])


def saved(tensors: Any, legacy: bool = False) -> bytes:
    held = io.BytesIO()
    torch.save(tensors, held, _use_new_zipfile_serialization=not legacy)
    return held.getvalue()


def zipped(content: bytes, **storages: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr("m/data.pkl", content)
        for key, value in storages.items():
            file.writestr(f"m/data/{key}", value)
    return held.getvalue()


def asks(module: str, name: str, *arguments: bytes) -> bytes:
    """A pickle that calls a global with integers and texts, given as pickled pieces."""
    return b"\x80\x02c" + f"{module}\n{name}\n".encode() + b"(" + b"".join(arguments) + b"tR."


def number(value: int) -> bytes:
    return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)


def tensor(count: int, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
    """The pickle of a state_dict with one tensor of a float storage."""
    storage = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0kX\x03\0\0\0cpu" + number(count) + b"tQ"
    sizes = [b"(" + b"".join(map(number, each)) + b"t" for each in (shape, strides)]
    made = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + b"".join(sizes)
    return b"\x80\x02}X\x01\0\0\0w" + made + b"\x89ccollections\nOrderedDict\n)RtRs."


def nested(depth: int) -> bytes:
    """A dict whose key is a tuple of tuples; its hash takes 2 ** depth steps."""
    return b"\x80\x02}" + b")" + b"q\0h\0\x86" * depth + b"Ns."


HOSTILE: dict[str, tuple[bytes, type[ModelFileError], str]] = {
    "a bytearray of 2.9 GB": (asks("builtins", "bytearray", number(2_900_000_000)), ForbiddenContentError, "more than"),
    "in a zip": (zipped(asks("builtins", "bytearray", number(1 << 40))), ForbiddenContentError, "more than"),
    "a key that takes 2 ** 60 steps": (zipped(nested(60)), ForbiddenContentError, "more than"),
    "another global": (zipped(asks("posix", "system", b"X\x02\0\0\0ls")), ForbiddenContentError, "more than"),
    "a storage that is not there": (zipped(tensor(4, 0, (4,), (1,))), UnreadableFileError, "16 bytes; none are stored"),
    "a storage of another size": (
        zipped(tensor(1 << 40, 0, (4,), (1,)), k=bytes(16)),
        UnreadableFileError,
        r"'k' has 4398046511104 bytes; 16 are",
    ),
    "a tensor beyond its storage": (zipped(tensor(4, 1, (4,), (1,)), k=bytes(16)), UnreadableFileError, "beyond its"),
    "a stride beyond it": (zipped(tensor(4, 0, (4,), (2,)), k=bytes(16)), UnreadableFileError, "beyond its storage"),
    "a size below 0": (zipped(tensor(4, 0, (-4,), (1,)), k=bytes(16)), UnreadableFileError, r"has the shape \(-4,\)"),
    "4 numbers for 10 ** 12": (zipped(tensor(4, 0, (10**12,), (0,)), k=bytes(16)), FileLimitError, "16 bytes would"),
    "no end": (zipped(b"\x80\x02}"), UnreadableFileError, "not a file that torch.save wrote"),
    "half an integer": (zipped(b"\x80\x02\x8a\xff\x01"), UnreadableFileError, "not a file that torch.save wrote"),
    "a get without a put": (zipped(b"\x80\x02h\x05."), UnreadableFileError, "not a file that torch.save wrote"),
    "a text of 4 GB": (b"\x80\x02X\xff\xff\xff\xff.", UnreadableFileError, "not a file that torch.save wrote"),
}


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_before_it_takes_memory(name: str, isolated: bool):
    content, kind, text = HOSTILE[name]
    Path("m.pt").write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(kind, match=f"^m.pt: .*{text}"):
        small().load_weights("m.pt", isolated=isolated)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def compressed() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("m/data.pkl", tensor(1 << 20, 0, (4,), (1,)))
        file.writestr("m/data/k", bytes(1 << 22))
    return held.getvalue()


def twice() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        for _ in range(2):
            file.writestr("m/data.pkl", tensor(4, 0, (4,), (1,)))
    return held.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("make", "text"), [(compressed, "compressed or encrypted"), (twice, "there several times")])
def test_a_zip_that_torch_does_not_write(make: Callable[[], bytes], text: str):
    Path("m.pt").write_bytes(make())
    with pytest.raises(ForbiddenContentError, match=text):
        small().load_weights("m.pt")


def test_every_flipped_bit_is_found_or_changes_nothing():
    model = small()
    model.save("m.pt")
    content, expected = Path("m.pt").read_bytes(), model.get_weights()
    refused = 0
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        Path("m.pt").write_bytes(changed)
        try:
            found = load_model("m.pt").get_weights()
        except ModelFileError:
            refused += 1
            continue
        assert all((a == b).all() for a, b in zip(found, expected, strict=True)), place
    assert refused > 100


LEGACY = OrderedDict(a=torch.arange(6.0).reshape(2, 3), b=torch.ones(4, dtype=torch.int64))


def test_files_before_torch_1_6():
    content = saved(LEGACY, legacy=True)
    Path("m.pt").write_bytes(content)
    pickled.check("m.pt")
    for end in (1, 20, 40, 200):
        Path("m.pt").write_bytes(content[:-end])
        with pytest.raises(UnreadableFileError):
            pickled.check("m.pt")
    at = content.rindex(struct.pack("<q", 6))
    Path("m.pt").write_bytes(content[:at] + struct.pack("<q", 1 << 40) + content[at + 8 :])
    with pytest.raises(UnreadableFileError, match=f"has 6 values; {1 << 40} are stored"):
        pickled.check("m.pt")


TAKEN: list[Any] = [
    {"a": torch.ones(2, 3)},
    OrderedDict(a=torch.nn.Parameter(torch.ones(2, 3))),
    {f"a{k}": torch.zeros(2).to(t) for k, t in enumerate((torch.bfloat16, torch.float16, torch.bool, torch.uint8))},
    {"a": torch.zeros(3, dtype=torch.uint16), "b": torch.zeros(3, dtype=torch.complex64)},
    {"a": torch.ones(4, 4).t()[1:], "b": torch.ones(1).expand(5), "c": torch.zeros(0, 3), "d": torch.tensor(1.0)},
    torch.nn.LSTM(3, 4).state_dict(),
]


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("held", TAKEN)
def test_genuine_files_pass(held: Any, legacy: bool):
    if (legacy or torch.__version__ < "2.6") and "b" in held and held["b"].is_complex():  # torch writes no uint16
        held = {"b": held["b"]}
    Path("m.pt").write_bytes(saved(held, legacy))
    pickled.check("m.pt")


def test_limits_are_told():
    Path("m.pt").write_bytes(saved({f"w{k}": torch.ones(1) for k in range(50)}))
    with pytest.raises(FileLimitError, match=r"^m.pt: its pickle has more than 100 steps\.$"):
        pickled.check("m.pt", Limits(steps=100))
    with pytest.raises(FileLimitError, match=r"^m.pt: it has \d+ members; at most 10 are read\.$"):
        pickled.check("m.pt", Limits(members=10))
    with pytest.raises(FileLimitError, match=r"^m.pt: its pickle has over 99 bytes\.$"):
        pickled.check("m.pt", Limits(json=99))


def test_other_protocols_of_pickle_are_refused():
    Path("m.pt").write_bytes(zipped(pickle.dumps({}, 4)))
    with pytest.raises(ForbiddenContentError):
        small().load_weights("m.pt")
    assert os.listdir() == ["m.pt"]

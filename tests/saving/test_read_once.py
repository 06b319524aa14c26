"""Weights are read once, in pieces, straight into the memory of the model."""

import io
import json
import os
import re
import tempfile
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from tests.engine.operations import Counted
from torchkeras.errors import UnreadableFileError
from torchkeras.keras2.engine.saving import load_weights_from_hdf5_group, save_weights_to_hdf5_group
from torchkeras.layers import LSTM, Conv2D, Dense, Embedding, Flatten
from torchkeras.models import Sequential, load_model
from torchkeras.saving.containers import archive, hdf5, hdf5_extents, pieces
from torchkeras.saving.containers.parts import Part, Stretch, checksums
from torchkeras.saving.containers.pieces import SLAB
from torchkeras.saving.weights import safetensors, state
from torchkeras.saving.weights.matching import put


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=(1, 3), ids="{} threads".format)
def threads(request, monkeypatch):
    """The number of threads that torch is allowed, without a change of torch's own."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)


@pytest.fixture
def reads(monkeypatch):
    """The reads through descriptors: where each began, and how many bytes it gave. Without those of the inspection."""
    found, read, inspect = [], os.preadv, hdf5_extents.bytes_at

    def counted(descriptor, buffers, begin):
        count = read(descriptor, buffers, begin)
        found.append((begin, count))
        return count

    def inspected(place, begin, size):
        assert size <= hdf5_extents.SEARCHED
        result = inspect(place, begin, size)
        assert found.pop()[1] == len(result)
        return result

    monkeypatch.setattr(os, "preadv", counted)
    monkeypatch.setattr(hdf5_extents, "bytes_at", inspected)
    return found


def images(units=2000):
    layers = [Conv2D(8, 3, input_shape=(32, 32, 3)), Conv2D(128, 1), Flatten(), Dense(16), Dense(units), Dense(units)]
    return Sequential(layers)


def equal(model, other):
    for found, wanted in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(found, wanted)


def places(path):
    """Where the bytes of all arrays are in a file."""
    if path.endswith(".safetensors"):
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            told = json.loads(file.read(length))
        offsets = [each["data_offsets"] for name, each in told.items() if name != "__metadata__"]
        return sorted((8 + length + begin, end - begin) for begin, end in offsets)
    with h5py.File(path) as file:
        found = datasets(file.get("model_weights", file))
        return sorted((dataset.id.get_offset(), dataset.nbytes) for dataset in found)


def read_once(reads, arrays):
    """Assert that the bytes of arrays, by their places, were read once each, in pieces."""
    of_arrays = [(begin, count) for begin, count in reads if begin >= min(arrays)]  # not the beginning of the file
    taken = dict.fromkeys(arrays, 0)
    for begin, count in of_arrays:
        assert count <= SLAB
        taken[max(place for place in arrays if place <= begin)] += count
    assert taken == arrays
    assert len({begin for begin, _ in of_arrays}) == len(of_arrays)


def part_of(file):
    return Part(file.fileno(), 0, os.fstat(file.fileno()).st_size)


def datasets(group):
    found = []
    group.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    return found


def stretches(root):
    """Where the numbers of all arrays are in a file, by its root."""
    return [hdf5.stretch(hdf5.dataset_in(root, found.name.removeprefix("/"))) for found in datasets(root)]


def copied(source, target, chunks=(2, 2)):
    """Copy a file, with the arrays that have two axes in compressed pieces."""
    target.attrs.update(source.attrs)
    for name, found in source.items():
        if isinstance(found, h5py.Group):
            copied(found, target.create_group(name), chunks)
        elif found.ndim == 2:
            target.create_dataset(name, data=found[()], chunks=chunks, compression="gzip")
        else:
            target.create_dataset(name, data=found[()])


@pytest.mark.parametrize("name", ["model.h5", "model.weights.h5", "model.safetensors"])
def test_each_byte_is_read_once(name, reads, threads, monkeypatch):
    model = images()
    (model.save_weights if ".weights." in name else model.save)(name)
    monkeypatch.delattr(h5py.Dataset, "__getitem__")
    monkeypatch.delattr(h5py.Dataset, "read_direct")
    if ".weights." in name:
        loaded = images()
        loaded.load_weights(name)
    else:
        loaded = load_model(name)
    read_once(reads, dict(places(name)))
    equal(loaded, model)


@pytest.mark.parametrize("cores", [1, 3])
def test_an_archive_is_read_in_place(cores, reads, monkeypatch):
    """Twice: for its checksum, before HDF5 sees any of it, and for the weights."""
    monkeypatch.setattr(pieces, "THREADS", cores)
    monkeypatch.setattr(pieces, "SLAB", 100_000)
    model = images(300)
    model.save("modèle.keras")
    monkeypatch.delattr(tempfile, "TemporaryDirectory")
    with archive.opened("modèle.keras") as found, found.weights() as weights:
        stretch = stretches(weights)[0]
        assert stretch is not None
        part = stretch.part
        arrays = {part.begin + dataset.id.get_offset(): dataset.nbytes for dataset in datasets(weights)}
    monkeypatch.setattr(Part, "readinto", uncounted)
    reads.clear()
    equal(load_model("modèle.keras"), model)
    for_checksum = -(-part.size // 100_000)
    assert sum(count for _, count in reads[:for_checksum]) == part.size
    read_once(reads[for_checksum:], arrays)


def test_a_state_dict_is_read_in_place(reads, monkeypatch):
    """Twice, as an archive is: torch's own reader maps the file, and looks at none of its numbers."""
    model = images(300)
    model.save("model.pt")
    monkeypatch.setattr(state.StoredTensors, "_set", None)
    equal(load_model("model.pt"), model)
    with zipfile.ZipFile("model.pt") as found:
        sizes = [member.file_size for member in found.infolist()]
        of_numbers = sum(member.file_size for member in found.infolist() if "/data/" in member.filename)
    assert sum(count for _, count in reads) == sum(sizes) + of_numbers
    loaded = images(300)
    reads.clear()
    loaded.load_weights("model.pt")
    equal(loaded, model)
    assert sum(count for _, count in reads) == sum(sizes) + of_numbers


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_a_tensor_of_torch_in_another_order_of_axes(axes, monkeypatch):
    module, wanted = torch.nn.Module(), torch.randn(3, 4, 5)
    stored = wanted.permute(axes).contiguous().permute(np.argsort(axes).tolist())
    torch.save({"values": stored, "first": stored[1:], "apart": torch.randn(3, 8)[:, ::2]}, "module.pt")
    module.register_buffer("values", torch.zeros(3, 4, 5))
    with state.opened("module.pt") as found:
        assert set(found.stretches) == ({"values"} if axes[0] else {"values", "first"})  # the rest has gaps
        assert torch.equal(found.value_of("first"), wanted[1:])
        monkeypatch.setattr(state.StoredTensors, "_set", None)
        found.set({"values": module.values})
    assert torch.equal(module.values, wanted)


@pytest.mark.parametrize("name", ["model.h5", "model.keras", "model.weights.h5"])
def test_a_save_makes_no_copy_of_the_weights(name, monkeypatch):
    """Large kernels, which lie in another order of axes, are written piece by piece."""
    model = images(5000)
    save = model.save_weights if ".weights." in name else model.save
    monkeypatch.setattr(pieces, "SLAB", 100_000)
    save(name)
    tracemalloc.start()
    save(name)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16_000_000 < 4 * 5000 * 5000
    loaded = images(5000)
    loaded.load_weights(name)
    equal(loaded, model)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
@pytest.mark.parametrize("size", [8, 1000, 10**9])
@pytest.mark.parametrize("can_write", [True, False], ids=["", "Windows"])
@pytest.mark.parametrize("dtype", ["f4", "f2", "c8", "?"])
def test_an_array_is_written_in_pieces(order, size, can_write, dtype, monkeypatch):
    monkeypatch.setattr(pieces, "SLAB", size)
    monkeypatch.setattr(hdf5, "CAN_WRITE", can_write)
    array = np.random.default_rng(0).normal(size=(3, 5, 330)).astype(dtype).transpose(order)
    with hdf5.new_file(Path("array.h5")) as file:
        hdf5.write_array(file, "array", array)
    with h5py.File("array.h5") as file:
        written = file["array"]
        assert isinstance(written, h5py.Dataset)
        np.testing.assert_array_equal(written[()], array)
        assert (written.dtype, written.chunks, written.id.get_storage_size()) == (array.dtype, None, array.nbytes)


@pytest.mark.parametrize("options", [{"driver": "core", "backing_store": False}, {"driver": "stdio"}, {}])
def test_a_file_of_a_users_own_that_is_in_memory_or_written_by_another_driver(options):
    array = np.random.default_rng(0).normal(size=(1500, 700)).T
    with h5py.File("array.h5" if options else io.BytesIO(), "w", **options) as file:
        hdf5.write_array(file, "array", array)
        written = file["array"]
        assert isinstance(written, h5py.Dataset)
        np.testing.assert_array_equal(written[()], array)


def test_a_system_that_writes_fewer_bytes_than_it_is_given(monkeypatch):
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, content, at: write(descriptor, content[:1000], at))
    array = np.random.default_rng(0).normal(size=(1500, 700)).T
    with hdf5.new_file(Path("array.h5")) as file:
        hdf5.write_array(file, "array", array)
        written = file["array"]
        assert isinstance(written, h5py.Dataset)
        np.testing.assert_array_equal(written[()], array)


@pytest.mark.parametrize(
    "shape", [(3, 3, 64, 48), (2, 3, 3, 20, 30), (7, 7, 1, 900), (3, 3, 500, 1), (64, 64), (40, 3, 4)]
)
@pytest.mark.parametrize("size", [4, 500, 5000])
def test_pieces_have_each_number_once(shape, size, monkeypatch):
    """In the order of torch's kernels, whose window is innermost, and in the order of the array itself."""
    monkeypatch.setattr(pieces, "SLAB", size)
    count = int(np.prod(shape))
    places = np.arange(8, 8 + 4 * count, 4).reshape(shape)
    for strides in (places.strides, np.empty((*shape[:-3:-1], *shape[:-2])).transpose().strides):
        found = []
        for index, begins in pieces.cut(shape, strides, 4, 8):
            runs = places[index].reshape(len(begins), -1)
            assert 4 * runs.size <= size
            assert runs[:, 0].tolist() == list(begins)
            assert (np.diff(runs) == 4).all()
            found.append(runs.ravel())
        assert sorted(np.concatenate(found)) == places.ravel().tolist()


def test_a_kernel_is_cut_along_its_input_channels():
    """Each piece is 9 runs of the file, and fills stretches of memory without a gap."""
    kernel = np.empty((512, 512, 3, 3), "f4").transpose(2, 3, 1, 0)
    found = pieces.cut(kernel.shape, kernel.strides, 4, 0)
    assert all(index[:2] == (slice(None), slice(None)) and len(begins) == 9 for index, begins in found)


def uncounted(part, buffer):
    """What HDF5 reads itself: everything but the arrays."""
    found = os.pread(part.descriptor, min(len(buffer), part.size - part._at), part.begin + part._at)
    memoryview(buffer)[: len(found)] = found
    part._at += len(found)
    return len(found)


@pytest.mark.parametrize("cores", [1, 3])
def test_a_changed_bit_in_an_archive_is_found_before_hdf5_reads_it(cores, monkeypatch):
    monkeypatch.setattr(pieces, "THREADS", cores)
    monkeypatch.setattr(pieces, "SLAB", 10_000)
    model = Sequential([Dense(100, input_shape=(50,))])
    model.save("modèle.keras")
    whole, before = Path("modèle.keras").read_bytes(), model.get_weights()
    monkeypatch.setattr(h5py, "File", None)
    begin = whole.index(b"\x89HDF")
    with zipfile.ZipFile("modèle.keras") as found:
        size = found.getinfo("model.weights.h5").file_size
    for place in (begin, begin + 9_999, begin + 10_000, begin + 20_500, begin + size - 1):
        Path("modèle.keras").write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        text = "modèle.keras: model.weights.h5 cannot be unpacked (Bad CRC-32 for file 'model.weights.h5')."
        with pytest.raises(UnreadableFileError, match=rf"^{re.escape(text)}(\n|$)"):
            model.load_weights("modèle.keras")
    assert all(map(np.array_equal, model.get_weights(), before))


@pytest.mark.parametrize("sizes", [[0], [1], [7, 7, 3], [1000, 1000, 999]])
def test_checksums_of_pieces_joined(sizes, tmp_path, monkeypatch):
    content = os.urandom(sum(sizes))
    (tmp_path / "bytes").write_bytes(b"before" + content + b"after")
    monkeypatch.setattr(pieces, "SLAB", max(1, sizes[0]))
    with (tmp_path / "bytes").open("rb") as file:
        whole, first = Part(file.fileno(), 6, len(content)), Part(file.fileno(), 0, 6)
        assert checksums([whole, first, whole], 2) == [zlib.crc32(content), zlib.crc32(b"before"), zlib.crc32(content)]


def test_memory_beside_the_weights_is_a_piece_a_thread(threads):
    model = images(5000)
    model.save("model.h5")
    load_model("model.h5")
    tracemalloc.start()
    load_model("model.h5")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 8 * SLAB < 4 * 5000 * 5000
    assert peak < 5 * SLAB  # of three threads and the one that waits; the weights are torch's own memory


@pytest.mark.parametrize("stored", ["<f2", ">f4", "<f8", "<i4", ">u2"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_types_and_orders(stored, dtype, order, tmp_path):
    values = np.arange(3 * 5 * 300).reshape(3, 5, 300).astype(stored)
    path = tmp_path / "bytes"
    path.write_bytes(b"before" + values.tobytes())
    tensor = torch.empty([values.shape[k] for k in order], dtype=dtype)
    with path.open("rb") as file:
        put([(tensor.permute(*np.argsort(order).tolist()), Stretch(part_of(file), 6, values.dtype, "x"))])
    expected = torch.from_numpy(values.astype(values.dtype.newbyteorder("="))).to(dtype).permute(order)
    assert torch.equal(tensor, expected)


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3)])
def test_small_shapes(shape, tmp_path):
    values = np.random.default_rng(0).normal(size=shape)
    path = tmp_path / "bytes"
    path.write_bytes(values.tobytes())
    tensor = torch.empty(shape, dtype=torch.float64)
    with path.open("rb") as file:
        put([(tensor, Stretch(part_of(file), 0, values.dtype, "x"))])
    assert torch.equal(tensor, torch.from_numpy(np.asarray(values)))


def test_pieces_of_the_last_axes_and_of_all_threads(monkeypatch, threads, tmp_path):
    """A row that is longer than a piece is cut further."""
    monkeypatch.setattr(pieces, "SLAB", 4096)
    values = np.random.default_rng(0).normal(size=(1, 2, 7, 900)).astype("f4")
    path = tmp_path / "bytes"
    path.write_bytes(values.tobytes())
    tensors = [torch.empty(900, 7, 1, 2), torch.empty(1, 2, 7, 900)]
    with path.open("rb") as file:
        at = Stretch(part_of(file), 0, values.dtype, "x")
        put([(tensors[0].permute(2, 3, 1, 0), at), (tensors[1], at)])
    assert torch.equal(tensors[0].permute(2, 3, 1, 0), torch.from_numpy(values))
    assert torch.equal(tensors[1], torch.from_numpy(values))


@pytest.mark.parametrize("target", [torch.bfloat16, torch.float32])
def test_bits_of_bfloat16(target, tmp_path):
    values = torch.randn(40, 600).bfloat16()
    path = tmp_path / "bytes"
    path.write_bytes(values.view(torch.int16).numpy().tobytes())
    tensor = torch.empty(600, 40, dtype=target)
    with path.open("rb") as file:
        put([(tensor.T, Stretch(part_of(file), 0, np.dtype("<i2"), "x", bfloat16=True))])
    assert torch.equal(tensor.T.bfloat16(), values)


@pytest.mark.parametrize("form", [safetensors, state], ids=["safetensors", "pt"])
def test_tensors_of_every_type(form, reads):
    """A bool is left to torch and the package: its byte could be neither 0 nor 1."""
    module = torch.nn.Module()
    kinds = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    for kind in kinds:
        module.register_buffer(f"of_{kind}", torch.arange(6).reshape(2, 3).to(getattr(torch, kind)))
    form.write("module", module)
    wanted = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    for tensor in module.buffers():
        tensor.zero_()
    with form.opened("module") as stored:
        reads.clear()  # those for checksums
        assert set(stored.stretches) == {f"of_{kind}" for kind in kinds[1:]}
        state.fill(module, stored, "module")
    assert all(torch.equal(tensor, wanted[name]) for name, tensor in module.state_dict().items())
    assert len(reads) == len(kinds) - 1


def test_a_file_that_ends_early(threads, tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(3 * SLAB))
    tensor = torch.empty(SLAB)
    with path.open("rb") as file, pytest.raises(UnreadableFileError, match=r"^x goes beyond the end of the file\.$"):
        put([(tensor, Stretch(part_of(file), 0, np.dtype("<f4"), "x"))])


@pytest.mark.parametrize("most", [10**9, 5000, 7])
@pytest.mark.parametrize("missing", [0, 1, 400_000])
def test_a_system_that_gives_fewer_bytes_than_it_is_asked_for(most, missing, monkeypatch, tmp_path):
    """Many rows, which are read into lines with space between them; the file was cut after it was opened."""
    values = np.random.default_rng(0).normal(size=(1500, 300)).astype("f4")
    path, read = tmp_path / "bytes", os.preadv
    path.write_bytes(values.tobytes()[: values.nbytes - missing])

    def fewer(descriptor, buffers, begin):
        left, some = most, []
        for buffer in map(memoryview, buffers):
            some.append(buffer.cast("B")[:left])
            left -= some[-1].nbytes
        return read(descriptor, [buffer for buffer in some if buffer.nbytes], begin)

    monkeypatch.setattr(os, "preadv", fewer)
    tensor = torch.empty(300, 1500)
    with path.open("rb") as file:
        job = (tensor.T, Stretch(Part(file.fileno(), 0, values.nbytes), 0, values.dtype, "x"))
        if missing:
            with pytest.raises(UnreadableFileError, match=r"^x goes beyond the end of the file\.$"):
                put([job])
        else:
            put([job])
            assert torch.equal(tensor.T, torch.from_numpy(values))


def test_arrays_that_are_not_in_one_stretch_are_read_by_hdf5(reads):
    model = Sequential([Embedding(9, 3, input_length=5), LSTM(4), Dense(2)])
    model.save_weights("plain.h5")
    with h5py.File("plain.h5") as source, h5py.File("model.h5", "w") as file:
        copied(source, file)
    with h5py.File("model.h5") as file:
        kinds = {found is None for found in stretches(file)}
        assert kinds == {True, False}
    again = Sequential([Embedding(9, 3, input_length=5), LSTM(4), Dense(2)])
    again.load_weights("model.h5")
    equal(again, model)
    assert reads


def test_a_file_that_is_written_is_read_by_hdf5_which_may_keep_bytes_back(reads):
    model = Sequential([Dense(2, input_shape=(3,))])
    weights = model.get_weights()
    for options in ({}, {"driver": "core", "backing_store": False}):
        with h5py.File("open.h5", "w", **options) as file:
            save_weights_to_hdf5_group(file, model.layers)
            model.set_weights([0 * weight for weight in weights])
            load_weights_from_hdf5_group(file, model.layers)
        np.testing.assert_array_equal(model.get_weights()[0], weights[0])
    assert not reads


def test_compressed_arrays_are_unpacked_twice_at_most(monkeypatch):
    """Once by zlib within the size that a piece must have, and once by HDF5, which knows no such limit."""
    model = Sequential([Dense(40, input_shape=(50,))])
    model.save_weights("plain.h5")
    with h5py.File("plain.h5") as source, h5py.File("model.h5", "w") as file:
        copied(source, file, chunks=(25, 40))
    unpacked, made = [], zlib.decompressobj

    def counted():
        unpacked.append(1)
        return made()

    monkeypatch.setattr(zlib, "decompressobj", counted)
    other = Sequential([Dense(40, input_shape=(50,))])
    other.load_weights("model.h5")
    equal(other, model)
    assert len(unpacked) == 2


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".safetensors", ".pt"])
def test_no_values_are_drawn_for_weights_that_a_file_has(suffix):
    Sequential([Conv2D(8, 3, input_shape=(9, 9, 3)), Flatten(), Dense(4)]).save(f"model{suffix}")
    with Counted() as found:
        load_model(f"model{suffix}")
    assert found.seen.total()
    assert [name for name in found.seen if "uniform" in name or "normal" in name] == []

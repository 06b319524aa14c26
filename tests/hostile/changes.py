"""Changes of a model file: each a function of the file, open for writing, and of the path of a canary."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# h5py types what stands under a name as anything that may.

from collections.abc import Callable
from typing import Any

import h5py
import numpy as np

LAYER = "model_weights/b"
KERNEL = f"{LAYER}/b/kernel:0"  # of shape (4, 2)
SHAPE = (4, 2)


def link(path: str, made: Callable[[str], Any]) -> Callable[[h5py.File, str], None]:
    """Put a link in the place of what is there, if anything."""

    def change(file: h5py.File, canary: str) -> None:
        if path in file:
            del file[path]
        file[path] = made(canary)

    return change


def dataset(**options: Any) -> Callable[[h5py.File, str], None]:
    """Put another dataset in the place of the kernel. An option `data` may be a function of the canary's path."""

    def change(file: h5py.File, canary: str) -> None:
        del file[KERNEL]
        given = {key: value(canary) if callable(value) else value for key, value in options.items()}
        file.create_dataset(KERNEL, **given)

    return change


def low_level(kind: Any, space: Any = SHAPE, prepare: Callable[[Any], Any] = lambda plist: None) -> Any:
    """Put a dataset made by HDF5's own functions in the place of the kernel."""

    def change(file: h5py.File, canary: str) -> None:
        del file[KERNEL]
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        prepare(plist)
        group = file[f"{LAYER}/b"].id
        h5py.h5d.create(group, b"kernel:0", kind(), h5py.h5s.create_simple(space), dcpl=plist)

    return change


def attribute(path: str, name: str, value: Any) -> Callable[[h5py.File, str], None]:
    """Put another value into an attribute."""

    def change(file: h5py.File, canary: str) -> None:
        file[path].attrs[name] = value(file) if callable(value) else value

    return change


def config(text: Any) -> Callable[[h5py.File, str], None]:
    return attribute("/", "model_config", text)


def virtual(source: str, shape: Any = SHAPE) -> Callable[[h5py.File, str], None]:
    def change(file: h5py.File, canary: str) -> None:
        del file[KERNEL]
        layout = h5py.VirtualLayout(SHAPE, "f4")
        layout[...] = h5py.VirtualSource(source.format(canary=canary), "kernel", SHAPE)
        file.create_virtual_dataset(KERNEL, layout)

    return change


def endless_virtual(file: h5py.File, canary: str) -> None:
    """A virtual dataset that looks for canary0, canary1, ... as soon as its shape is asked for."""
    del file[KERNEL]
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    space = h5py.h5s.create_simple((4, 2), (h5py.h5s.UNLIMITED, 2))
    space.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (4, 2), (4, 2))
    source = h5py.h5s.create_simple((4, 2))
    plist.set_virtual(space, f"{canary}%b".encode(), b"kernel", source)
    h5py.h5d.create(file[f"{LAYER}/b"].id, b"kernel:0", h5py.h5t.IEEE_F32LE, space, dcpl=plist)


def cycle(target: str) -> Callable[[h5py.File, str], None]:
    def change(file: h5py.File, canary: str) -> None:
        file[f"{LAYER}/again"] = file[target]

    return change


def missing_chunks(kept: int) -> Callable[[h5py.File, str], None]:
    def change(file: h5py.File, canary: str) -> None:
        del file[KERNEL]
        made = file.create_dataset(KERNEL, SHAPE, "f4", chunks=(1, 2))
        made[:kept] = 1

    return change


def packed(raw: Callable[[], bytes], shape: Any = SHAPE, chunk: Any = SHAPE, **options: Any) -> Any:
    """A gzip dataset whose pieces are these bytes."""

    def change(file: h5py.File, canary: str) -> None:
        del file[KERNEL]
        made = file.create_dataset(KERNEL, shape, "f4", chunks=chunk, compression="gzip", **options)
        piece = raw()
        for start in range(0, shape[0], chunk[0]):
            made.id.write_direct_chunk((start, *(0 for _ in shape[1:])), piece)

    return change


def odd_float() -> Any:
    """A float32 with another bias of its exponent: every number in it would be another."""
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_ebias(100)
    return kind


def wide_float() -> Any:
    kind = h5py.h5t.IEEE_F64LE.copy()
    kind.set_size(16)
    return kind


def twice_deflated(plist: Any) -> None:
    plist.set_chunk(SHAPE)
    for _ in range(2):
        plist.set_filter(h5py.h5z.FILTER_DEFLATE, h5py.h5z.FLAG_OPTIONAL, (1,))


def unknown_filter(plist: Any) -> None:
    plist.set_chunk(SHAPE)
    plist.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (1,))


def deep_groups(file: h5py.File, canary: str) -> None:
    file.create_group("/".join(["deep"] * 700))


def name_not_utf8(file: h5py.File, canary: str) -> None:
    file[LAYER].create_group(b"\xff\xfe")


def named_type(file: h5py.File, canary: str) -> None:
    del file[KERNEL]
    file[KERNEL] = np.dtype("f4")


def many_parts(file: h5py.File, canary: str) -> None:
    group = file["model_weights"]
    del group.attrs["layer_names"]
    for index in range(1002):
        group.attrs[f"layer_names{index}"] = np.array([b"a"])


def json_change(change: Callable[[str], str]) -> Callable[[h5py.File, str], None]:
    """Put a changed text into the config."""

    def apply(file: h5py.File, canary: str) -> None:
        file.attrs["model_config"] = change(file.attrs["model_config"])

    return apply


def weight_name(name: bytes) -> Callable[[h5py.File, str], None]:
    return attribute(LAYER, "weight_names", np.array([name, b"b/bias:0"]))


def vlen_of(kind: str) -> Any:
    return h5py.vlen_dtype(np.dtype(kind))

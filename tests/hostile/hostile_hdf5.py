"""HDF5 files that a model never needs: each a change of a whole model file, the error it must give, and a part of it.

`change(file, canary)` gets the file open for writing, and the path of an HDF5 file that must stay unread.
"""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# h5py types what stands under a name as anything that may.

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from changes import (
    KERNEL,
    LAYER,
    SHAPE,
    attribute,
    config,
    cycle,
    dataset,
    deep_groups,
    endless_virtual,
    json_change,
    link,
    low_level,
    many_parts,
    missing_chunks,
    name_not_utf8,
    named_type,
    odd_float,
    packed,
    twice_deflated,
    unknown_filter,
    virtual,
    vlen_of,
    weight_name,
    wide_float,
)

from torchkeras.errors import (
    ArchitectureError,
    FileLimitError,
    ForbiddenContentError,
    ModelFileError,
    UnreadableFileError,
    WeightMismatchError,
)


@dataclass(frozen=True)
class Hostile:
    """A change, the error that it must give, and a part of its text."""

    name: str
    change: Callable[[h5py.File, str], Any]
    error: type[ModelFileError]
    text: str


DEEP = "[" * 1_100 + "]" * 1_100
BIG = 1 << 40

LINKS = [
    Hostile(
        "weights of another file", link(KERNEL, lambda c: h5py.ExternalLink(c, "kernel")), ForbiddenContentError, "link"
    ),
    Hostile("layer of another file", link(LAYER, lambda c: h5py.ExternalLink(c, "/")), ForbiddenContentError, "link"),
    Hostile(
        "all weights of another file",
        link("model_weights", lambda c: h5py.ExternalLink(c, "/")),
        ForbiddenContentError,
        "/model_weights is a link to another file",
    ),
    Hostile(
        "a link to another file that nothing names",
        link("extra/x", lambda c: h5py.ExternalLink(c, "kernel")),
        ForbiddenContentError,
        "/extra/x is a link to another file",
    ),
    Hostile(
        "a link to a file that is not there",
        link("extra", lambda c: h5py.ExternalLink("/nowhere/at/all.h5", "x")),
        ForbiddenContentError,
        "link to another file",
    ),
    Hostile(
        "a soft link to a dataset",
        link(KERNEL, lambda c: h5py.SoftLink("/model_weights/a/a/kernel:0")),
        ForbiddenContentError,
        "/kernel:0 is a soft link",
    ),
    Hostile(
        "a soft link to a group",
        link(LAYER, lambda c: h5py.SoftLink("/model_weights/a")),
        ForbiddenContentError,
        "/b is a soft link",
    ),
    Hostile(
        "a soft link to nothing", link(KERNEL, lambda c: h5py.SoftLink("/none")), ForbiddenContentError, "a soft link"
    ),
    Hostile(
        "a soft link to itself", link(KERNEL, lambda c: h5py.SoftLink("kernel:0")), ForbiddenContentError, "a soft link"
    ),
    Hostile(
        "a soft link upwards", link("up", lambda c: h5py.SoftLink("../..")), ForbiddenContentError, "/up is a soft"
    ),
    Hostile("a group in itself", cycle(LAYER), ForbiddenContentError, "is linked several times"),
    Hostile("the root in a group", cycle("/"), ForbiddenContentError, "is linked several times"),
    Hostile("a group twice", cycle("model_weights/a"), ForbiddenContentError, "is linked several times"),
    Hostile("an array twice", cycle("model_weights/a/a/bias:0"), ForbiddenContentError, "is linked several times"),
    Hostile("a type in the place of an array", named_type, ForbiddenContentError, "neither a group nor a dataset"),
]

STORAGE = [
    Hostile(
        "bytes in another file",
        dataset(shape=SHAPE, dtype="f4", external=lambda c: [(c, 0, 32)]),
        ForbiddenContentError,
        "keeps its bytes in another file",
    ),
    Hostile(
        "bytes in a file of the system",
        dataset(shape=SHAPE, dtype="f4", external=[("/etc/passwd", 0, 32)]),
        ForbiddenContentError,
        "keeps its bytes in another file",
    ),
    Hostile("a virtual array of another file", virtual("{canary}"), ForbiddenContentError, "is a virtual dataset"),
    Hostile("a virtual array of this file", virtual("."), ForbiddenContentError, "is a virtual dataset"),
    Hostile("a virtual array of many files", endless_virtual, ForbiddenContentError, "is a virtual dataset"),
    Hostile(
        "an unknown filter",
        low_level(lambda: h5py.h5t.IEEE_F32LE, prepare=unknown_filter),
        ForbiddenContentError,
        "went through filter 32015; those read are gzip, shuffle, fletcher32, lzf",
    ),
    Hostile(
        "a filter of HDF5 that Keras does not use",
        dataset(data=np.ones(SHAPE, "i4"), scaleoffset=0, chunks=SHAPE),
        ForbiddenContentError,
        "went through filter 6",
    ),
    Hostile(
        "one filter twice",
        low_level(lambda: h5py.h5t.IEEE_F32LE, prepare=twice_deflated),
        ForbiddenContentError,
        "one filter several times",
    ),
]

TYPES = [
    Hostile(
        "texts of any length",
        dataset(data=np.full(SHAPE, "x", object), dtype=h5py.string_dtype()),
        ForbiddenContentError,
        "holds texts of any length, not numbers",
    ),
    Hostile("texts", dataset(data=np.full(SHAPE, b"x")), WeightMismatchError, "holds |S1, not numbers"),
    Hostile(
        "references",
        low_level(lambda: h5py.h5t.STD_REF_OBJ),
        ForbiddenContentError,
        "holds references, not numbers",
    ),
    Hostile(
        "references to regions",
        low_level(lambda: h5py.h5t.STD_REF_DSETREG),
        ForbiddenContentError,
        "holds references, not numbers",
    ),
    Hostile(
        "records", dataset(shape=SHAPE, dtype=[("x", "f4")]), ForbiddenContentError, "holds compounds, not numbers"
    ),
    Hostile("complex numbers", dataset(data=np.ones(SHAPE, "c8")), ForbiddenContentError, "not numbers"),
    Hostile(
        "long doubles",
        low_level(wide_float),
        UnreadableFileError,
        "holds numbers in a layout of bits that is none of NumPy's",
    ),
    Hostile(
        "numbers of a layout of their own",
        low_level(odd_float),
        UnreadableFileError,
        "holds numbers in a layout of bits that is none of NumPy's",
    ),
    Hostile("opaque bytes", dataset(shape=SHAPE, dtype="V4"), ForbiddenContentError, "holds opaque bytes"),
    Hostile("lists", dataset(shape=SHAPE, dtype=vlen_of("f4")), ForbiddenContentError, "holds lists of any length"),
    Hostile("arrays in an array", dataset(shape=(4,), dtype="(2,)f4"), ForbiddenContentError, "holds arrays"),
    Hostile("bit fields", low_level(lambda: h5py.h5t.STD_B8LE), ForbiddenContentError, "holds bit fields, not numbers"),
]

BYTES = [
    Hostile("an array never written", dataset(shape=SHAPE, dtype="f4"), UnreadableFileError, "0 are stored"),
    Hostile(
        "a fill value in the place of an array",
        dataset(shape=SHAPE, dtype="f4", fillvalue=3.0),
        UnreadableFileError,
        "has shape (4, 2), 32 bytes; 0 are stored",
    ),
    Hostile("no array", dataset(data=h5py.Empty("f4")), UnreadableFileError, "holds no array at all"),
    Hostile("no piece", missing_chunks(0), UnreadableFileError, "in 4 pieces; 0 are stored"),
    Hostile("a piece missing", missing_chunks(3), UnreadableFileError, "in 4 pieces; 3 are stored"),
    Hostile("a shape of 4 TiB", dataset(shape=(BIG,), dtype="f4"), FileLimitError, f"has {4 * BIG} bytes"),
    Hostile(
        "a shape over all limits",
        dataset(shape=(1 << 31, 1 << 30), dtype="f8", chunks=(16, 16)),
        FileLimitError,
        "bytes; at most",
    ),
    Hostile(
        "gzip that unpacks to too much",
        packed(lambda: zlib.compress(bytes(10_000_000))),
        UnreadableFileError,
        "has a piece that does not unpack to 32 bytes",
    ),
    Hostile(
        "gzip that unpacks to too little",
        packed(lambda: zlib.compress(bytes(8))),
        UnreadableFileError,
        "has a piece that does not unpack to 32 bytes",
    ),
    Hostile("gzip that is none", packed(lambda: b"\0" * 20), UnreadableFileError, "cannot be unpacked"),
    Hostile("gzip cut short", packed(lambda: zlib.compress(bytes(32))[:-8]), UnreadableFileError, "kernel:0"),
    Hostile(
        "a gzip bomb",
        packed(lambda: zlib.compress(bytes(1 << 26), 9), (1 << 28, 1), (1 << 24, 1)),
        ModelFileError,
        "kernel:0",
    ),
    Hostile(
        "a checksum that is wrong",
        packed(lambda: zlib.compress(bytes(32)) + b"\1\2\3\4", fletcher32=True),
        UnreadableFileError,
        "cannot be read",
    ),
]

NAMES = [
    Hostile("a name from the root", weight_name(b"/model_weights/a/a/kernel:0"), ForbiddenContentError, "leads out"),
    Hostile("a name of the group itself", weight_name(b"."), ForbiddenContentError, "leads out of /model_weights/b"),
    Hostile("a name upwards", weight_name(b"../a/a/kernel:0"), UnreadableFileError, "has no dataset"),
    Hostile("a name of a group", weight_name(b"b"), UnreadableFileError, "has no dataset 'b'"),
    Hostile("no name", weight_name(b""), ForbiddenContentError, "leads out"),
    Hostile("a name that is not UTF-8", weight_name(b"\xff\xfe"), UnreadableFileError, "is not UTF-8"),
    Hostile("a group whose name is not UTF-8", name_not_utf8, UnreadableFileError, "cannot be read"),
    Hostile(
        "numbers for names",
        attribute("model_weights", "layer_names", np.arange(3)),
        UnreadableFileError,
        "'layer_names' is no list of names",
    ),
    Hostile(
        "one text for names",
        attribute("model_weights", "layer_names", "ab"),
        UnreadableFileError,
        "'layer_names' is no list of names",
    ),
    Hostile(
        "references for names",
        attribute("model_weights", "layer_names", lambda file: np.array([file.ref], h5py.ref_dtype)),
        ForbiddenContentError,
        "holds references",
    ),
    Hostile(
        "records for names",
        attribute("model_weights", "layer_names", np.zeros(1, [("x", "i4")])),
        ForbiddenContentError,
        "holds compounds",
    ),
    Hostile(
        "opaque bytes for names",
        attribute("model_weights", "layer_names", np.void(b"\x80\x04")),
        ForbiddenContentError,
        "holds opaque bytes",
    ),
    Hostile("names in a thousand parts", many_parts, FileLimitError, "split into more than 1000 parts"),
    Hostile("groups in groups", deep_groups, FileLimitError, "groups are nested deeper than 640"),
]

TEXTS = [
    Hostile("a config that is a number", config(5), UnreadableFileError, "'model_config' is no text"),
    Hostile("a config that is a list", config([b"{", b"}"]), UnreadableFileError, "'model_config' is no text"),
    Hostile("a config that is not UTF-8", config(np.bytes_(b'{"a": "\xff"}')), UnreadableFileError, "is not UTF-8"),
    Hostile("a config that is not JSON", config("{]"), UnreadableFileError, "is not JSON"),
    Hostile("a config that is Python", config("{'a': (1, 2)}"), UnreadableFileError, "is not JSON"),
    Hostile("a pickle for a config", config(np.void(b"\x80\x04cos\nsystem\n.")), ForbiddenContentError, "opaque bytes"),
    Hostile("a deep config", config(DEEP), FileLimitError, "nested deeper than 1024 levels"),
    Hostile("a config that is never closed", config("[" * 100_000), FileLimitError, "nested deeper than 1024 levels"),
    Hostile("a long config", config('"' + "x" * (33 << 20) + '"'), FileLimitError, "at most 33554432 are read"),
    Hostile("a long number", config("1" * 100_000), FileLimitError, "a number of 100000 digits"),
    Hostile("a number over all numbers", config("1e999"), UnreadableFileError, "over the largest number"),
    Hostile(
        "a key twice",
        json_change(lambda text: text.replace('"class_name"', '"class_name": "Dense", "class_name"', 1)),
        UnreadableFileError,
        "has the key 'class_name' twice",
    ),
    Hostile(
        "half a surrogate pair",
        json_change(lambda text: text.replace('"a"', json.dumps("\ud800"))),
        UnreadableFileError,
        "half a surrogate pair",
    ),
    Hostile("a config that is a list of JSON", config("[1, 2]"), ModelFileError, "found list"),
    Hostile(
        "a training config of another form",
        attribute("/", "training_config", '{"optimizer_config": 3}'),
        ArchitectureError,
        "its training configuration names no optimizer",
    ),
    Hostile(
        "bytecode in the training config",
        attribute("/", "training_config", '{"optimizer_config": {"class_name": "__lambda__", "config": {"code": ""}}}'),
        ForbiddenContentError,
        "stored as Python bytecode, which is never run",
    ),
]

ALL = [*LINKS, *STORAGE, *TYPES, *BYTES, *NAMES, *TEXTS]

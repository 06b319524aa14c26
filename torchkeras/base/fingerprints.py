"""Hashes of texts that are the same on every machine: FarmHash64's fingerprint and SipHash-2-4.

Texts of one length are hashed together, in NumPy's whole numbers of 64 bits, which wrap around. The names of the
variables are those of the definitions.
Source: https://github.com/google/farmhash (`farmhashna::Hash64`), https://131002.net/siphash/
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Words = Any  # an array of uint64, one for each text
Rows = np.ndarray  # bytes: (texts, length)

BITS = 2**64 - 1
K0, K1, K2 = (np.uint64(k) for k in (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))
CAT = np.uint64(0xC6A4A7935BD1E995)


def fingerprints(texts: Sequence[bytes]) -> Words:
    """The 64-bit fingerprint of each text."""
    return _by_length(texts, _fingerprint)


def keyed_hashes(texts: Sequence[bytes], key: Sequence[int]) -> Words:
    """SipHash-2-4 of each text by a key of two whole numbers."""
    return _by_length(texts, lambda rows: _siphash(rows, *key))


def joined(first: Words, second: Words) -> Words:
    """One fingerprint for two: that of both together."""
    result = first ^ CAT
    result = (result ^ (_mixed(second * CAT) * CAT)) * CAT
    return _mixed(_mixed(result) * CAT)


def _by_length(texts: Sequence[bytes], hashed: Callable[[Rows], Words]) -> Words:
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    found = np.empty(len(texts), dtype=np.uint64)
    for length in np.unique(lengths).tolist():
        (places,) = np.nonzero(lengths == length)
        joint = b"".join(texts[place] for place in places.tolist())
        found[places] = hashed(np.frombuffer(joint, dtype=np.uint8).reshape(len(places), length))
    return found


# --- words -----------------------------------------------------------------------------------------------------------


def _fetch(rows: Rows, start: int, size: int = 8) -> Words:
    """The whole numbers in `size` bytes from a place on, the lowest byte first."""
    part = np.ascontiguousarray(rows[:, start : start + size])
    return part.view(f"<u{size}")[:, 0].astype(np.uint64)


def _shifted(word: Words, bits: int) -> Words:
    return word >> np.uint64(bits)


def _rotated(word: Words, bits: int) -> Words:
    """A word whose last `bits` bits come to its front."""
    return _shifted(word, bits) | (word << np.uint64(64 - bits))


def _mixed(word: Words) -> Words:
    return word ^ _shifted(word, 47)


# --- FarmHash64 ------------------------------------------------------------------------------------------------------


def _fingerprint(rows: Rows) -> Words:
    length = rows.shape[1]
    if length == 0:
        return np.full(len(rows), K2)
    if length < 4:
        return _of_up_to_3(rows)
    if length < 8:
        return _of_up_to_7(rows)
    if length <= 16:
        return _of_up_to_16(rows)
    if length <= 32:
        return _of_up_to_32(rows)
    return _of_up_to_64(rows) if length <= 64 else _of_many(rows)


def _factor(length: int) -> Any:
    return np.uint64((int(K2) + 2 * length) & BITS)


def _pair(u: Words, v: Words, factor: Any) -> Words:
    a = _mixed((u ^ v) * factor)
    return _mixed((v ^ a) * factor) * factor


def _of_up_to_3(rows: Rows) -> Words:
    length = rows.shape[1]
    a, b, c = (rows[:, place].astype(np.uint64) for place in (0, length >> 1, length - 1))
    y, z = a + (b << np.uint64(8)), np.uint64(length) + (c << np.uint64(2))
    return _mixed((y * K2) ^ (z * K0)) * K2


def _of_up_to_7(rows: Rows) -> Words:
    length = rows.shape[1]
    first, last = _fetch(rows, 0, 4), _fetch(rows, length - 4, 4)
    return _pair(np.uint64(length) + (first << np.uint64(3)), last, _factor(length))


def _of_up_to_16(rows: Rows) -> Words:
    length = rows.shape[1]
    factor, a, b = _factor(length), _fetch(rows, 0) + K2, _fetch(rows, length - 8)
    c, d = _rotated(b, 37) * factor + a, (_rotated(a, 25) + b) * factor
    return _pair(c, d, factor)


def _of_up_to_32(rows: Rows) -> Words:
    return _pair(*_of_ends(rows, K1), _factor(rows.shape[1]))


def _of_ends(rows: Rows, first: Any) -> tuple[Words, Words]:
    """What the first and the last 16 bytes come to. `first`: by what the first word is multiplied."""
    length = rows.shape[1]
    factor, a, b = _factor(length), _fetch(rows, 0) * first, _fetch(rows, 8)
    c, d = _fetch(rows, length - 8) * factor, _fetch(rows, length - 16) * K2
    return _rotated(a + b, 43) + _rotated(c, 30) + d, a + _rotated(b + K2, 18) + c


def _of_up_to_64(rows: Rows) -> Words:
    length = rows.shape[1]
    factor, a = _factor(length), _fetch(rows, 0) * K2
    y, other = _of_ends(rows, K2)
    z = _pair(y, other, factor)
    e, f = _fetch(rows, 16) * factor, _fetch(rows, 24)
    g, h = (y + _fetch(rows, length - 32)) * factor, (z + _fetch(rows, length - 24)) * factor
    return _pair(_rotated(e + f, 43) + _rotated(g, 30) + h, e + _rotated(f + a, 18) + g, factor)


def _of_32(rows: Rows, start: int, a: Words, b: Words) -> tuple[Words, Words]:
    """32 bytes from a place on, with two seeds."""
    w, x, y, z = (_fetch(rows, start + 8 * number) for number in range(4))
    a = a + w
    b = _rotated(b + a + z, 21)
    c, a = a, a + x + y
    return a + z, b + _rotated(a, 44) + c


def _of_many(rows: Rows) -> Words:
    length, seed = rows.shape[1], 81
    x = np.full(len(rows), seed, dtype=np.uint64)
    y = np.full(len(rows), (seed * int(K1) + 113) & BITS, dtype=np.uint64)
    z = _mixed(y * K2 + np.uint64(113)) * K2
    v = w = (np.zeros_like(x), np.zeros_like(x))
    x = x * K2 + _fetch(rows, 0)
    for start in range(0, (length - 1) // 64 * 64, 64):
        x, y, z, v, w = _of_block(rows, start, x, y, z, v, w, K1, np.uint64(1))
    rest = np.uint64((length - 1) & 63)
    factor = K1 + ((z & np.uint64(0xFF)) << np.uint64(1))
    first = w[0] + rest
    v = (v[0] + first, v[1])
    w = (first + v[0], w[1])
    x, y, z, v, w = _of_block(rows, length - 64, x, y, z, v, w, factor, np.uint64(9))
    one = _pair(v[0], w[0], factor) + _mixed(y) * K0 + z
    return _pair(one, _pair(v[1], w[1], factor) + x, factor)


def _of_block(rows: Rows, start: int, x: Words, y: Words, z: Words, v: Any, w: Any, factor: Any, times: Any) -> Any:
    """64 bytes from a place on: x, y, z, v and w after them."""
    x = _rotated(x + y + v[0] + _fetch(rows, start + 8), 37) * factor
    y = _rotated(y + v[1] + _fetch(rows, start + 48), 42) * factor
    x = x ^ (w[1] * times)
    y = y + v[0] * times + _fetch(rows, start + 40)
    z = _rotated(z + w[0], 33) * factor
    v = _of_32(rows, start, v[1] * factor, x + w[0])
    w = _of_32(rows, start + 32, z + w[1], y + _fetch(rows, start + 16))
    return z, y, x, v, w


# --- SipHash ---------------------------------------------------------------------------------------------------------

BEGINNINGS = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def _siphash(rows: Rows, first: int, second: int) -> Words:
    count, length = rows.shape
    beginnings = zip(BEGINNINGS, (first, second) * 2, strict=True)
    v = [np.full(count, beginning ^ key, dtype=np.uint64) for beginning, key in beginnings]
    padded = np.zeros((count, length // 8 * 8 + 8), dtype=np.uint8)
    padded[:, :length] = rows
    padded[:, -1] = length & 0xFF
    for start in range(0, padded.shape[1], 8):
        word = _fetch(padded, start)
        v[3] = v[3] ^ word
        _siprounds(v, 2)
        v[0] = v[0] ^ word
    v[2] = v[2] ^ np.uint64(0xFF)
    _siprounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _siprounds(v: list[Words], times: int) -> None:
    """Mix the four words of a state in place."""
    for _ in range(times):
        v[0], v[2] = v[0] + v[1], v[2] + v[3]
        v[1], v[3] = _rotated(v[1], 64 - 13) ^ v[0], _rotated(v[3], 64 - 16) ^ v[2]
        v[0] = _rotated(v[0], 64 - 32)
        v[2], v[0] = v[2] + v[1], v[0] + v[3]
        v[1], v[3] = _rotated(v[1], 64 - 17) ^ v[2], _rotated(v[3], 64 - 21) ^ v[0]
        v[2] = _rotated(v[2], 64 - 32)

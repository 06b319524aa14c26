"""The most that a model file may hold: far above what Keras ever writes, far below what does harm."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Limits:
    """The budgets of one file. Sizes are in bytes."""

    members: int = 500_000  # groups and datasets
    depth: int = 640  # of groups; a model in a TimeDistributed takes 3
    path: int = 1 << 18  # letters, of a group: its name and those of all groups around it
    name: int = 1 << 16  # of one group, dataset or attribute; HDF5 cannot list longer names
    attribute: int = MIB  # of an attribute whose size is declared
    texts: int = GIB  # that a list of texts of undeclared sizes may take
    parts: int = 1_000  # that a list of names may be split into
    json: int = 32 * MIB
    json_depth: int = 1_024  # a model takes 3, one in a TimeDistributed 5
    digits: int = 64  # of one number in JSON; the longest that Keras writes has 24
    array: int = 16 * GIB
    total: int = 64 * GIB
    ratio: int = 200  # of compressed bytes, in what is over `ratio_from`
    ratio_from: int = 64 * MIB
    steps: int = 4_000_000  # of a pickle; a tensor takes some 40
    models: int = 200  # in one another
    layers: int = 25_000  # of a model, including those of inner models
    calls: int = 200_000
    thresholds: int = 1 << 20  # of a metric, for all its labels together
    counts: int = 1 << 26  # of a metric that counts every pair of classes


LIMITS = Limits()

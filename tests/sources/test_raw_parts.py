"""Rows of batches as their loader made them, for a step of the user's own."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from batches_of import opened
from test_every_kind import Samples

from torchkeras.data.batch import Batch
from torchkeras.data.part import Part
from torchkeras.data.raw_batch import samples_in
from torchkeras.engine.fit.opening import Intake


def raw_rows(item: Any, part: Part) -> Batch:
    source = opened(iter([item]), steps=1, part=part)
    source.give_raw(Intake(None).raw)  # type: ignore[arg-type]
    (batch,) = source.batches("sequential")
    return batch


def test_rows_of_a_raw_batch():
    item = {
        "image": np.arange(12.0).reshape(3, 2, 2),
        "text": ["a", "b", "c"],
        "pairs": (torch.arange(3), [torch.zeros(1), torch.zeros(2), torch.zeros(4)]),
        "names": np.array(["x", "y", "z"]),
        "rate": torch.tensor(0.5),
        "step": 7,
    }
    first, last = (raw_rows(item, Part(rank, 2)) for rank in range(2))
    assert [(batch.size, batch.whole) for batch in (first, last)] == [(1, 3), (2, 3)]
    assert (first.raw["text"], last.raw["text"]) == (["a"], ["b", "c"])
    assert last.raw["image"].tolist() == item["image"][1:].tolist()
    assert last.raw["pairs"][0].tolist() == [1, 2]
    assert [len(each) for each in last.raw["pairs"][1]] == [2, 4]
    assert last.raw["names"].tolist() == ["y", "z"]
    assert (last.raw["rate"].item(), last.raw["step"]) == (0.5, 7)


def test_a_raw_batch_of_two_samples():  # and two parts
    batch = raw_rows((torch.arange(2), torch.arange(2) + 5), Part(1, 2))
    assert [each.tolist() for each in batch.raw] == [[1], [6]]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ((torch.ones(3, 2), torch.ones(2)), "it has an array of shape (2,)"),
        ((torch.ones(3, 2), object()), "it has an object of type object"),
        ({"a": 1}, "nothing in it is 1 long"),
        ((torch.ones(2), [torch.ones(2, 5), torch.ones(2, 5)]), "it has a list of 2 arrays that are 2 long"),
    ],
)
def test_a_raw_batch_without_rows(item, reason):
    message = (
        f"A batch of {samples_in(item)} samples cannot be divided between processes by its rows: {reason}. Give a "
        "torch Dataset, of which each process loads its own samples, or a DataLoader with a DistributedSampler."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        raw_rows(item, Part(0, 2))


def test_a_raw_batch_of_a_dataset_has_its_own_samples():
    source = opened(Samples(), batch_size=4, raw=True, part=Part(1, 2))
    source.give_raw(Intake(None).raw)  # type: ignore[arg-type]
    batches = list(source.batches("sequential"))
    assert [(len(batch.raw[0]), batch.size, batch.whole) for batch in batches] == [(2, 2, 4), (2, 2, 4), (1, 1, 2)]

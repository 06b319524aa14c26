"""Batches hold every sample once, inputs with their targets and weights, in the right order."""

import re
from typing import cast

import numpy as np
import pytest
import torch

from torchkeras.base.arrays import as_tensor
from torchkeras.data.batch import ArrayData


def data(size=10, device="cpu"):
    x = np.arange(size * 3, dtype=np.float32).reshape(size, 3)
    return ArrayData([x], [x[:, :1] * 2, x[:, :1]], [x[:, 0].copy(), None], device)


def first_column(batches):
    return [int(v) // 3 for batch in batches for v in batch.inputs[0][:, 0]]


@pytest.mark.parametrize("order", ["sequential", "shuffled", "batch"])
@pytest.mark.parametrize(("size", "batch_size"), [(10, 4), (8, 4), (3, 32), (5, 1)])
def test_every_sample_once_beside_its_target(order, size, batch_size):
    samples = data(size)
    batches = list(samples.batches(batch_size, order))
    assert sorted(first_column(batches)) == list(range(size))
    assert len(batches) == samples.steps(batch_size)
    assert [batch.size for batch in batches] == [len(batch.inputs[0]) for batch in batches]
    assert {batch.size for batch in batches[:-1]} <= {batch_size}
    for batch in batches:
        torch.testing.assert_close(batch.targets[0], batch.inputs[0][:, :1] * 2)
        torch.testing.assert_close(batch.weights[0], batch.inputs[0][:, 0])
        assert batch.weights[1] is None


def test_in_order_nothing_is_copied():
    x = np.zeros((6, 2), np.float32)
    samples = ArrayData([x], device="cpu")
    for number, batch in enumerate(samples.batches(4)):
        assert batch.inputs[0].data_ptr() == x.ctypes.data + number * 4 * 2 * 4
        assert batch.targets == batch.weights == []


def test_shuffled_epochs_differ_and_follow_the_seed():
    samples = data(50)
    torch.manual_seed(0)
    one, two = (first_column(samples.batches(7, "shuffled")) for _ in range(2))
    torch.manual_seed(0)
    assert first_column(samples.batches(7, "shuffled")) == one != two


def test_whole_batches_are_shuffled_and_the_smaller_one_stays_last():
    torch.manual_seed(0)
    orders = {tuple(first_column(data(10).batches(4, "batch"))) for _ in range(20)}
    assert orders == {tuple(range(10)), (4, 5, 6, 7, 0, 1, 2, 3, 8, 9)}


@pytest.mark.parametrize("order", ["sequential", "shuffled", "batch"])
@pytest.mark.parametrize("skip", [0, 1, 3, 9])
def test_what_is_passed_over_leaves_the_rest_as_it_was(order, skip):
    samples = data(10)
    torch.manual_seed(0)
    whole = [first_column([batch]) for batch in samples.batches(3, order)]
    torch.manual_seed(0)
    assert [first_column([batch]) for batch in samples.batches(3, order, skip)] == whole[skip:]


def test_the_order_is_drawn_by_the_call():
    torch.manual_seed(0)
    expected = first_column(data(50).batches(7, "shuffled"))
    torch.manual_seed(0)
    batches = data(50).batches(7, "shuffled")
    torch.manual_seed(1)
    assert first_column(batches) == expected


def test_what_does_not_fit_goes_to_the_device_batch_by_batch(monkeypatch):
    sent = []
    monkeypatch.setattr("torchkeras.data.batch.to_device", lambda batches, device: sent.append(device) or batches)
    samples = data(10)
    samples.resident = False
    assert first_column(samples.batches(4)) == list(range(10))
    assert sent == [torch.device("cpu")]


@pytest.mark.parametrize(("size", "fraction", "expected"), [(10, 0.2, 8), (10, 0.25, 7), (3, 0.1, 2), (100, 0.3, 70)])
def test_split_takes_the_last_samples(size, fraction, expected):
    training, validation = data(size).split(fraction)
    assert (len(training), len(validation)) == (expected, size - expected)
    assert first_column(training.batches(4)) == list(range(expected))
    assert first_column(validation.batches(4)) == list(range(expected, size))
    assert sorted(first_column(validation.batches(4, "shuffled"))) == list(range(expected, size))


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: data(1).split(0.5), "validation_split 0.5 of 1 samples leaves none to one of the two parts."),
        (lambda: data().split(1.0), "validation_split must be between 0 and 1; found 1.0."),
        (lambda: data().batches(0), "batch_size must be an integer of at least 1; found 0."),
        (lambda: data().batches(cast(int, 2.0)), "batch_size must be an integer of at least 1; found 2.0."),
        (
            lambda: data().batches(2, "random"),
            "order must be one of 'sequential', 'shuffled', 'batch'; found 'random'.",
        ),
        (lambda: ArrayData([]), "ArrayData needs at least one input."),
    ],
)
def test_errors(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_arrays_that_torch_does_not_take_as_they_are():
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    for array in (frozen, np.arange(3.0)[::-1], np.arange(3, dtype=">f4"), np.broadcast_to(1.0, (2, 2))):
        np.testing.assert_array_equal(as_tensor(array), array)
    assert as_tensor(np.arange(3), torch.float32).dtype == torch.float32
    assert not as_tensor(torch.ones(2, requires_grad=True)).requires_grad


@pytest.mark.cuda
@pytest.mark.parametrize("free", [None, 8])
@pytest.mark.parametrize("order", ["sequential", "shuffled", "batch"])
def test_cuda(monkeypatch, free, order):
    if free is not None:
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, free))
        monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device=None: 0)
    samples = data(10, "cuda")
    assert samples.resident == (free is None)
    batches = list(samples.batches(4, order))
    assert sorted(first_column(batches)) == list(range(10))
    assert all(batch.inputs[0].is_cuda and batch.targets[1].is_cuda for batch in batches)


@pytest.mark.cuda
@pytest.mark.parametrize("order", ["sequential", "shuffled"])
def test_targets_on_cuda_beside_inputs_that_do_not_fit(monkeypatch, order):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (8, 8))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device=None: 0)
    x = torch.arange(30.0).reshape(10, 3)
    for batch in ArrayData([x], [x[:, :1].cuda() * 2], device="cuda").batches(4, order):
        torch.testing.assert_close(batch.targets[0], batch.inputs[0][:, :1] * 2)

"""The outputs of a prediction: written into one array batch by batch, or joined at the end."""

import numpy as np
import pytest
import torch

from torchkeras import Input, Model
from torchkeras.engine.fit.results import Gathered
from torchkeras.layers import Activation


def gathered(samples, *batches):
    found = Gathered(samples)
    for batch in batches:
        found.add(batch, 2)
    return found


def test_batches_are_written_into_one_array():
    found = gathered(5, torch.ones(2, 3), torch.full((2, 3), 2.0))
    whole = found._whole
    assert whole is not None
    assert whole.shape == (5, 3)
    found.add(torch.full((1, 3), 3.0), 1)
    np.testing.assert_array_equal(found.array(), np.repeat([1, 1, 2, 2, 3], 3).reshape(5, 3))
    assert np.shares_memory(found.array(), whole.numpy())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64, torch.bool, torch.complex64])
def test_types_are_kept(dtype):
    found = gathered(4, torch.ones(2, 3, dtype=dtype), torch.ones(2, 3, dtype=dtype)).array()
    assert torch.from_numpy(found).dtype == dtype
    assert found.shape == (4, 3)


def test_bfloat16_becomes_float32():
    assert gathered(2, torch.ones(2, 3, dtype=torch.bfloat16)).array().dtype == np.float32


def test_without_their_number_batches_are_joined():
    found = gathered(None, torch.ones(2, 3), torch.zeros(2, 3))
    assert found._whole is None
    assert found.array().tolist() == [[1] * 3] * 2 + [[0] * 3] * 2


def test_fewer_samples_than_announced():
    assert gathered(10, torch.ones(2, 3)).array().shape == (2, 3)


def test_more_samples_than_announced():
    assert gathered(3, torch.ones(2, 3), torch.ones(2, 3)).array().shape == (4, 3)


def test_outputs_that_are_no_rows_of_samples_are_joined():
    found = gathered(100, torch.ones(1, 3), torch.ones(3, 3))
    assert found._whole is None
    assert found.array().shape == (4, 3)


def test_batches_of_another_type_are_joined_as_torch_joins_them():
    found = gathered(4, torch.ones(2, 3, dtype=torch.int64), torch.full((2, 3), 0.5))
    assert found.array().tolist() == [[1] * 3] * 2 + [[0.5] * 3] * 2


def test_a_part_of_a_larger_tensor_does_not_keep_it():
    for samples in (None, 4):
        found = gathered(samples, torch.ones(2, 1000)[:, :1], torch.ones(2, 1000)[:, :1])
        kept = found._parts if found._whole is None else [found._whole]
        assert sum(tensor.untyped_storage().nbytes() for tensor in kept) == 4 * 4


def test_sizes_that_differ_between_batches_cannot_be_joined():
    found = gathered(4, torch.ones(2, 3), torch.ones(2, 4))
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        found.array()


def test_numbers_cannot_be_joined():
    with pytest.raises(RuntimeError, match="cannot be concatenated"):
        gathered(4, torch.tensor(1.0)).array()


class UntilTheEnd(Model):
    def predict_step(self, data):
        return self(data[0])[:, : int(data[0][0, 0])]


def test_a_variable_length_of_time():
    inputs = Input((None,))
    model = UntilTheEnd(inputs, Activation("relu")(inputs))
    x = np.full((4, 5), 3.0, "float32")
    assert model.predict(x, batch_size=2).shape == (4, 3)
    x[2:] = 4
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        model.predict(x, batch_size=2)


@pytest.mark.cuda
def test_outputs_of_a_gpu():
    values = torch.randn(1000, 300)
    for samples in (1000, None):
        found = Gathered(samples)
        for batch in values.to("cuda").split(64):
            found.add(batch * 2, len(batch))
        np.testing.assert_array_equal(found.array(), (values * 2).numpy())
        assert not torch.from_numpy(found.array()).is_pinned()

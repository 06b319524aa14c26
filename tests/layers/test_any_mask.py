"""`any_mask`: layers merge as in Keras 3, whose own numbers are the cases `masked_...` of keras-own-cases."""

import pytest
import torch

from torchkeras.layers import Add, Concatenate, Maximum, Minimum, Multiply

X, Y = torch.tensor([[[2.0], [3.0], [5.0]]]), torch.tensor([[[7.0], [1.0], [4.0]]])
FIRST, SECOND = torch.tensor([[True, False, False]]), torch.tensor([[True, True, False]])


@pytest.mark.parametrize(
    ("layer", "masks", "expected"),
    [
        (Multiply, [FIRST, SECOND], [14.0, 1.0, 0.0]),
        (Multiply, [FIRST, None], [14.0, 1.0, 4.0]),
        (Maximum, [FIRST, SECOND], [7.0, 1.0, 5.0]),
        (Minimum, [FIRST, SECOND], [2.0, 1.0, 5.0]),
        (Maximum, [None, None], [7.0, 3.0, 5.0]),
    ],
)
def test_masked_values_are_left_out(layer, masks, expected):
    assert layer(any_mask=True)([X, Y], mask=masks).ravel().tolist() == expected


@pytest.mark.parametrize("layer", [Add, Concatenate, Maximum])
def test_the_mask_of_the_output(layer):
    """True where any mask is; None unless every input has one."""
    made = layer(any_mask=True)
    assert made.compute_mask([X, Y], [FIRST, SECOND]).tolist() == SECOND.tolist()
    assert made.compute_mask([X, Y], [FIRST, None]) is None

"""Data that fits becomes one tensor a name; data that does not is refused with what was expected and found."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from torchkeras.data.checks import check_labels, check_lengths, standardize, standardize_targets
from torchkeras.data.sample_weights import standardize_weights
from torchkeras.data.target_kinds import CLASSES, FREE, LIKE, ONE_HOT

A, B = np.zeros((4, 2), np.float32), np.ones((4, 3), np.float32)
PAIR = (["a", "b"], [(None, 2), (None, 3)])
ONE = (["a"], [(None, 2)])
LOADER = DataLoader(TensorDataset(torch.ones(1)))


@pytest.mark.parametrize("values", [[A, B], (A, torch.from_numpy(B)), {"b": B, "a": A}, [A.tolist(), B.tolist()]])
def test_ways_to_pass_two_arrays(values):
    first, second = standardize(values, *PAIR, [torch.float32, torch.float64])
    torch.testing.assert_close(first, torch.zeros(4, 2))
    torch.testing.assert_close(second, torch.ones(4, 3, dtype=torch.float64))


@pytest.mark.parametrize("values", [A[:, 0], [A[:, 0]], [0.0, 0, np.float32(0), 0.0], {"a": A[:, 0]}, A[:, :1]])
def test_one_axis_gets_a_second(values):
    (found,) = standardize(values, ["a"], [(None, 1)], [torch.float32])
    assert found.shape == (4, 1)
    assert standardize(A[:, 0], ["a"], [(None,)])[0].shape == (4,)
    assert standardize(A[:, 0], ["a"], [None])[0].shape == (4, 1)


def test_no_names_no_data():
    assert standardize(None, []) == standardize([], []) == []


@pytest.mark.parametrize("wrap", [lambda frame: frame, lambda frame: frame.astype("float64"), lambda frame: [frame]])
def test_a_data_frame_of_one_input_is_one_array(wrap):
    (found,) = standardize(wrap(pd.DataFrame(B, columns=list("xyz"))), ["a"], [(None, 3)], [torch.float32])
    torch.testing.assert_close(found, torch.from_numpy(B))


def test_a_data_frame_gives_each_of_several_inputs_the_column_of_its_name():
    frame = pd.DataFrame({"b": [1, 2], "a": [3.0, 4.0]})
    first, second = standardize(frame, ["a", "b"], [(None, 1), (None, 1)], [torch.float32, torch.int64])
    assert (first.tolist(), second.tolist()) == ([[3.0], [4.0]], [[1], [2]])
    first, second = standardize(frame[["b"]].join(frame[["a"]]), ["a", "b"], [(None, 1)] * 2, what="target")
    assert (first.tolist(), second.tolist()) == ([[3.0], [4.0]], [[1], [2]])


def test_series():
    (found,) = standardize(pd.Series([1.0, 2.0], index=[7, 3]), ["a"], [(None, 1)], [torch.float32])
    assert found.tolist() == [[1.0], [2.0]]
    (weight,) = standardize_weights([torch.zeros(2, 1)], ["a"], pd.Series([1.0, 2.0]))
    assert weight is not None
    assert weight.tolist() == [1.0, 2.0]


def sparse():
    return SimpleNamespace(toarray=None)


BAD_INPUTS = [
    (np.zeros((3, 8)), ["dense_1_input"], [(None, 10)], ValueError,
     "Error when checking input: expected dense_1_input to have shape (10,) but got array with shape (8,)"),
    (np.zeros((3, 8, 1)), ["input_1"], [(None, 10)], ValueError,
     "Error when checking input: expected input_1 to have 2 dimensions, but got array with shape (3, 8, 1)"),
    (np.zeros(10), ["input_1"], [(None, 10)], ValueError,
     "Error when checking input: expected input_1 to have shape (10,) but got array with shape (1,)"),
    (np.zeros(10), ["input_1"], [(None, 28, 28)], ValueError,
     "Error when checking input: expected input_1 to have 3 dimensions, but got array with shape (10, 1)"),
    ([A], *PAIR, ValueError,
     "Error when checking model input: expected 2 array(s), for 'a', 'b', but got 1: (4, 2)."),
    ([A, B], *ONE, ValueError, "expected 1 array(s), for 'a', but got 2: (4, 2), (4, 3)."),
    (A, [], None, ValueError, "Error when checking model input: expected no data, but got numpy's ndarray."),
    ({"a": A}, *PAIR, ValueError, 'No data provided for "b". Need data for each key in: [\'a\', \'b\']'),
    ({"a": A, "c": B}, *ONE, ValueError, "no input is called 'c'; there are ['a']."),
    (None, *ONE, ValueError, "Error when checking model input: expected data for 'a', but got None."),
    ([A, None], *PAIR, ValueError, "Error when checking input: b got None instead of an array."),
    (pd.DataFrame({"u": ["x"]}), *ONE, ValueError, "a takes numbers; found strings."),
    (pd.DataFrame({"a": [1.0], "c": [1.0]}), *PAIR, ValueError,
     'No data provided for "b". Need data for each key in: [\'a\', \'b\']'),
    (pd.DataFrame({"a": [1.0], "b": [1.0], "c": [1.0]}), *PAIR, ValueError,
     "Error when checking model input: no input is called 'c'; there are ['a', 'b']."),
    (np.array([None, "x"]), *ONE, ValueError, "a got an array of object elements; pass real numbers."),
    (torch.zeros(2, 2, dtype=torch.complex64), *ONE, ValueError, "a got an array of torch.complex64 elements"),
    (np.array(3.0), *ONE, ValueError, "a got a single number, array(3.); pass an array with an axis of samples."),
    ([[[1, 2], [3]]], *ONE, ValueError, "a got lists of unequal lengths; pad them to one length"),
    (sparse(), *ONE, TypeError, "a got a sparse types's SimpleNamespace; pass a dense array"),
    (torch.zeros(2, 2).to_sparse(), *ONE, TypeError, "a got a sparse torch's Tensor; pass a dense array"),
    (LOADER, *ONE, TypeError, "a got torch's DataLoader; only arrays and tensors are taken here so far."),
    ((x for x in [A]), *ONE, TypeError, "a got generator; only arrays and tensors are taken here so far."),
    (iter([A]), *ONE, TypeError, "a got list_iterator; only arrays and tensors are taken here so far."),
    (3, *ONE, TypeError, "a got int; only arrays and tensors are taken here so far."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "names", "shapes", "error", "message"),
    BAD_INPUTS,
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_bad_inputs(values, names, shapes, error, message):
    with pytest.raises(error, match=re.escape(message)):
        standardize(values, names, shapes)


# --- targets ---------------------------------------------------------------------------------------------------------

SPARSE, MSE = CLASSES, LIKE


@pytest.mark.parametrize(
    ("target", "loss"),
    [
        (np.zeros(5), SPARSE),
        (np.zeros((5, 1)), SPARSE),
        (np.zeros((5, 10)), ONE_HOT),
        (np.zeros((5, 10)), MSE),
        (np.zeros((5, 3, 2)), FREE),
        (np.zeros(5), FREE),
    ],
)
def test_targets_that_fit(target, loss):
    (found,) = standardize_targets(target, ["out"], [(None, 10)], [loss], [torch.float32])
    assert found.shape == (target.shape if target.ndim > 1 else (5, 1))


@pytest.mark.parametrize(
    ("target", "loss", "message"),
    [
        (np.zeros((5, 10)), SPARSE,
         "Error when checking target: expected out to have shape (1,) but got array with shape (10,)"),
        (np.zeros(5), MSE, "expected out to have shape (10,) but got array with shape (1,)"),
        (np.zeros((5, 2, 2)), MSE, "expected out to have 2 dimensions, but got array with shape (5, 2, 2)"),
        (np.zeros(5), ONE_HOT, ("expected out to have shape (10,) but got array with shape (1,). categorical_"
         "crossentropy takes one-hot rows, of shape (samples, classes): make them with torchkeras.utils.to_cat")),
        (np.zeros((5, 3)), ONE_HOT, "expected out to have shape (10,) but got array with shape (3,)"),
        (None, MSE, "Error when checking model target: expected data for 'out', but got None."),
    ],
)  # fmt: skip
def test_targets_that_do_not(target, loss, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        standardize_targets(target, ["out"], [(None, 10)], [loss])


def test_classes_of_steps_without_an_axis_of_their_own():
    message = (
        "Error when checking target: expected out to have 3 dimensions, but got array with shape (5, 4). "
        "Give the class numbers a last axis of their own: y[..., None]."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        standardize_targets(np.zeros((5, 4)), ["out"], [(None, None, 10)], [SPARSE])
    (found,) = standardize_targets(np.zeros((5, 4))[..., None], ["out"], [(None, 4, 10)], [SPARSE])
    assert found.shape == (5, 4, 1)


@pytest.mark.parametrize("labels", [[0, 9], [0.0, 9.0], []])
def test_labels_within_the_classes(labels):
    check_labels([torch.tensor(labels)], ["out"], [(None, 10)], [SPARSE])
    check_labels([torch.tensor([99])], ["out"], [(None, 10)], [MSE])


@pytest.mark.parametrize(
    ("labels", "found"), [([1, 10], "1 to 10"), ([-1, 3], "-1 to 3"), ([1.0, float("nan")], "nan to nan")]
)
def test_labels_outside(labels, found):
    message = (
        f"Output 'out': sparse_categorical_crossentropy takes class numbers from 0 to 9; found labels from {found}."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        check_labels([torch.tensor(labels)], ["out"], [(None, 10)], [SPARSE])


@pytest.mark.parametrize(
    ("inputs", "targets", "weights", "message"),
    [
        ([3], [4], [], ("Input arrays should have the same number of samples as target arrays. "
         "Found 3 input samples and 4 target samples.")),
        ([3, 4], [3], [], "input arrays (x) should have the same number of samples. Got array shapes: [(3,), (4,)]"),
        ([3], [3, 4], [], "target arrays (y) should have the same number of samples. Got array shapes: [(3,), (4,)]"),
        ([3], [3], [2], "Sample_weight arrays should have the same number of samples as target arrays. Found 2"),
        ([0], [0], [], "The data has no samples."),
    ],
)  # fmt: skip
def test_lengths(inputs, targets, weights, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_lengths(*([torch.zeros(n) for n in sizes] for sizes in (inputs, targets, weights)))
    check_lengths([torch.zeros(3)], [], [None])


# --- weights ---------------------------------------------------------------------------------------------------------

LABELS = torch.tensor([[0.0], [2.0], [0.0]])
ONE_HOTS = torch.tensor([[1.0, 0, 0], [0, 0, 1], [1, 0, 0]])
SERIES = torch.zeros(3, 2, 1)


@pytest.mark.parametrize("target", [LABELS, LABELS[:, 0], ONE_HOTS, LABELS.long()])
@pytest.mark.parametrize("given", [{0: 1.0, 1: 7.0, 2: 3.0}, {"out": {0: 1, 2: 3}}, [{0: 1, 2: 3}]])
def test_class_weight(target, given):
    (weights,) = standardize_weights([target], ["out"], class_weight=given)
    torch.testing.assert_close(weights, torch.tensor([1.0, 3.0, 1.0]))


def test_sample_weight():
    given = np.array([1.0, 2.0, 3.0])
    for way in (given, [given], {"out": given}, torch.from_numpy(given), [1, 2, 3]):
        torch.testing.assert_close(standardize_weights([LABELS], ["out"], way)[0], torch.tensor([1.0, 2.0, 3.0]))
    (steps,) = standardize_weights([SERIES], ["out"], np.ones((3, 2)), modes=["temporal"])
    assert steps is not None
    assert steps.shape == (3, 2)
    assert standardize_weights([LABELS, SERIES], ["a", "b"]) == [None, None]
    one, other = standardize_weights([LABELS, SERIES], ["a", "b"], {"b": given})
    assert one is None
    assert other is not None
    assert other.shape == (3,)


def test_both_weights_for_one_output():
    with pytest.warns(
        UserWarning, match="Output 'out' has both sample_weight and class_weight: class_weight is left out"
    ):
        (weights,) = standardize_weights([LABELS], ["out"], np.ones(3), {0: 5.0, 2: 5.0})
    assert weights is not None
    assert weights.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("target", "options", "error", "message"),
    [
        (LABELS, {"class_weight": {0: 1.0}}, ValueError, "no weight for the classes [2.0] of the targets."),
        (SERIES, {"class_weight": {0: 1.0}}, ValueError, "takes targets of 2 axes; found shape (3, 2, 1)."),
        (LABELS, {"class_weight": "balanced"}, TypeError, "must be a dict from class to weight; found 'balanced'."),
        (LABELS, {"sample_weight": np.ones((3, 1))}, ValueError,
         "must have 1 axes under sample_weight_mode None; found shape (3, 1). Give weights[:, 0]."),
        (LABELS, {"sample_weight": np.ones(2)}, ValueError,
         "of shape (2,) does not fit a target of shape (3, 1): give it the shape (3,)."),
        (SERIES, {"sample_weight": np.ones(3), "modes": ["temporal"]}, ValueError, "sample_weight must have 2 axes"),
        (LABELS, {"modes": ["temporal"]}, ValueError, "needs a target with a time axis, of 3 or more axes"),
        (LABELS, {"modes": ["steps"]}, ValueError, "sample_weight_mode must be None or 'temporal'; found 'steps'."),
        (LABELS, {"sample_weight": {"other": np.ones(3)}}, TypeError, "sample_weight must be an array; found {'other'"),
    ],
)  # fmt: skip
def test_bad_weights(target, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        standardize_weights([target], ["out"], **options)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {1: 1.0, 0: 2.0},
            ValueError,
            "no output is called 1; there are ['a', 'b']. Give the weights by output: {'a': {1: 1.0, 0: 2.0}}.",
        ),
        ({"c": 1}, ValueError, "sample_weight: no output is called 'c'; there are ['a', 'b']."),
        ([np.ones(3)], ValueError, "sample_weight: the model has 2 outputs; found a list of 1."),
        (
            np.ones(3),
            TypeError,
            "a model with 2 outputs takes a list or a dict, with weights for each output; found ndarray.",
        ),
    ],
)
def test_weights_for_two_outputs(given, error, message):
    with pytest.raises(error, match=re.escape(message)):
        standardize_weights([LABELS, LABELS], ["a", "b"], given)


class Shape(list):
    """A shape as TensorFlow has it, which is no tuple."""

    def as_list(self) -> list[int]:
        return list(self)


class ForeignTensor:
    """A tensor of another package, such as TensorFlow."""

    shape = Shape([4, 2])

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return A


def test_a_tensor_of_another_package_is_an_array():
    (found,) = standardize(ForeignTensor(), ["a"], [(None, 2)], [torch.float32])
    torch.testing.assert_close(found, torch.from_numpy(A))

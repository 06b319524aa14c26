"""Connectionist temporal classification: labels laid along time, the last class standing for no label.

Source: https://www.cs.toronto.edu/~graves/icml_2006.pdf
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.keras2.backend.lambdas import as_node
from torchkeras.keras2.backend.nodes import is_symbolic, node, tensor
from torchkeras.tensor_functions.operations.ctc import likeliest_labels

SMOOTHING = 1e-4  # of Keras 1's ctc_cost


@node
def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> Tensor:
    """A sparse tensor of the first `label_lengths` labels of each row.

    >>> ctc_label_dense_to_sparse(torch.tensor([[1, 2, 3]]), torch.tensor([2])).to_dense()
    tensor([[1, 2, 0]])
    """
    labels, lengths = tensor(labels), tensor(label_lengths)
    places = (torch.arange(labels.shape[1], device=labels.device) < lengths.reshape(-1, 1)).nonzero().t()
    return torch.sparse_coo_tensor(places, labels[tuple(places)], labels.shape, check_invariants=True)


def _log_probabilities(y_pred: Tensor) -> Tensor:
    """Of probabilities (batch, time, classes), what TensorFlow's functions compute from their logarithms."""
    return torch.log_softmax(torch.log(y_pred + config.epsilon()), -1)


@node
def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Tensor:
    """-log of the probability of the labels, summed over all ways to lay them along time; infinite where it is short.

    Arguments:
        y_true (tensor): (batch, labels), class numbers.
        y_pred (tensor): (batch, time, classes), probabilities; the last class stands for no label.
        input_length (tensor): (batch, 1), the number of time steps.
        label_length (tensor): (batch, 1), the number of labels.

    Shapes:
        -> (batch, 1)

    Example:
        >>> ones = torch.ones(1, 1, dtype=torch.int64)
        >>> ctc_batch_cost(torch.tensor([[0]]), torch.full((1, 4, 3), 1 / 3), 4 * ones, ones)
        tensor([[2.0919]])
    """
    y_pred = tensor(y_pred)
    if y_pred.is_meta:
        return y_pred.new_empty(len(y_pred), 1)
    labels, times, counts = (tensor(each).to(y_pred.device).long() for each in (y_true, input_length, label_length))
    log_p = _log_probabilities(y_pred).transpose(0, 1)
    blank = y_pred.shape[-1] - 1
    cost = F.ctc_loss(log_p, labels, times.reshape(-1), counts.reshape(-1), blank=blank, reduction="none")
    return cost.unsqueeze(1)


def ctc_decode(
    y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Tensor], Tensor]:
    """(labels of the likeliest paths, their scores): one label after another, -1 after the last.

    Arguments:
        y_pred (tensor): (batch, time, classes), probabilities; the last class stands for no label.
        input_length (tensor): (batch,), the number of time steps.
        greedy (bool, default True): whether to take the likeliest class at each step. The score is minus the sum of the
            logarithms of their probabilities.
        beam_width (integer, default 100): without `greedy`, how many beginnings are kept at each step.
        top_paths (integer, default 1): without `greedy`, how many results to give, the likeliest first. The score is
            the logarithm of the probability. As in TensorFlow, equal labels next to each other are given once.

    Shapes:
        -> a list of (batch, length), and (batch, top_paths)

    Example:
        >>> y_pred = torch.tensor([[[0.9, 0.05, 0.05], [0.05, 0.05, 0.9], [0.05, 0.9, 0.05]]])
        >>> ctc_decode(y_pred, torch.tensor([3]))[0][0]
        tensor([[0, 1]])
    """
    count = 1 if greedy else top_paths

    def shape(shapes: Any) -> list[Any]:
        batch = shapes[0][0] if isinstance(shapes, list) else shapes[0]
        return [*[(batch, None)] * count, (batch, count)]

    def run(given: Any) -> list[Tensor]:
        probabilities, lengths = given
        return _decoded(probabilities, lengths, greedy, beam_width, count)

    given = (y_pred, input_length)
    *paths, scores = as_node("ctc_decode", run, given, shape) if is_symbolic(given) else run(given)
    return paths, scores


def _decoded(y_pred: Any, input_length: Any, greedy: bool, beam_width: int, count: int) -> list[Tensor]:
    """The paths, and their scores."""
    y_pred = tensor(y_pred).detach()
    if y_pred.is_meta:
        return [*[y_pred.new_empty(y_pred.shape[:2], dtype=torch.int64)] * count, y_pred.new_empty(len(y_pred), count)]
    scores, lengths = torch.log(y_pred + config.epsilon()), tensor(input_length).flatten().long().tolist()
    rows = [row[:length] for row, length in zip(scores, lengths, strict=True)]
    if greedy:
        found = [[_likeliest(row)] for row in rows]
    else:
        found = [_beam(row, beam_width)[:count] for row in rows]
    if any(len(each) < count for each in found):
        raise ValueError(f"there are fewer than {count} paths; lower top_paths or raise beam_width.")
    paths = [_dense([each[rank][0] for each in found]) for rank in range(count)]
    totals = [[score for _, score in each] for each in found]
    return [*(path.to(y_pred.device) for path in paths), y_pred.new_tensor(totals)]


def _merged(labels: Any) -> list[int]:
    """Labels without those that equal the one before."""
    return [label for place, label in enumerate(labels) if place == 0 or labels[place - 1] != label]


def _likeliest(scores: Tensor) -> tuple[list[int], float]:
    best, classes = scores.max(-1)
    blank = scores.shape[-1] - 1
    return [label for label in _merged(classes.tolist()) if label != blank], -float(best.sum())


def _beam(scores: Tensor, beam_width: int) -> list[tuple[list[int], float]]:
    """The likeliest rows of labels, equal ones next to each other merged, and the logarithms of their probabilities."""
    found = likeliest_labels(torch.log_softmax(scores, -1).tolist(), beam_width, scores.shape[-1] - 1)
    return [(_merged(labels), score) for labels, score in found]


def _dense(rows: list[list[int]]) -> Tensor:
    """Rows of labels as one tensor, -1 after the last of each."""
    longest = max(map(len, rows), default=0)
    return torch.tensor([[*row, *[-1] * (longest - len(row))] for row in rows], dtype=torch.int64).reshape(-1, longest)


# --- Keras 1 on Theano -----------------------------------------------------------------------------------------------


@node
def ctc_interleave_blanks(Y: Any) -> Tensor:  # noqa: N803  (Keras's name)
    """Labels with -1, which stands for no label, before, between and after them.

    >>> ctc_interleave_blanks(torch.tensor([1, 2]))
    tensor([-1,  1, -1,  2, -1])
    """
    labels = tensor(Y)
    return F.pad(torch.stack([torch.full_like(labels, -1), labels], 1).flatten(), (0, 1), value=-1)


def ctc_create_skip_idxs(Y: Any) -> Tensor:  # noqa: N803  (Keras's name)
    """The places in interleaved labels from which the next label may follow at once, since it is another one.

    >>> ctc_create_skip_idxs(torch.tensor([-1, 1, -1, 2, -1, 2, -1]))
    tensor([1])
    """
    labels = tensor(Y)
    places = torch.arange(1, len(labels) - 2, 2, device=labels.device)
    return places[labels[places] != labels[places + 2]]


@node
def ctc_cost(predict: Any, Y: Any) -> Tensor:  # noqa: N803  (Keras's name)
    """-log(time * probability of one row of labels), from probabilities (time, classes), the last class being no label.

    As on Theano, which adds up the probability at each step, and smooths each p to 0.9999 * p + 0.0001 / (2 * labels +
    1).

    >>> ctc_cost(torch.full((4, 3), 1 / 3), torch.tensor([0]))
    tensor(0.7056)
    """
    predict, labels = tensor(predict), tensor(Y).long()
    smoothed = (1 - SMOOTHING) * predict + SMOOTHING / (2 * labels.shape[0] + 1)
    sizes = [torch.tensor([size]) for size in (predict.shape[0], labels.shape[0])]
    blank = predict.shape[1] - 1
    cost = F.ctc_loss(smoothed.log().unsqueeze(1), labels.unsqueeze(0), *sizes, blank=blank, reduction="none")[0]
    return cost - math.log(predict.shape[0])


def ctc_path_probs(predict: Any, Y: Any, alpha: float = 1e-4) -> NoReturn:  # noqa: N803  (Keras's name)
    """Raises NotImplementedError: a step inside of Theano's `ctc_cost`."""
    raise NotImplementedError("ctc_path_probs is a step inside of Theano's ctc_cost; call ctc_cost or ctc_batch_cost.")


def ctc_update_log_p(skip_idxs: Any, zeros: Any, active: Any, log_p_curr: Any, log_p_prev: Any) -> NoReturn:
    """Raises NotImplementedError: a step inside of Theano's `ctc_cost`."""
    raise NotImplementedError(
        "ctc_update_log_p is a step inside of Theano's ctc_cost; call ctc_cost or ctc_batch_cost."
    )

"""Operations of Keras 3 for connectionist temporal classification: labels laid along time, with a class for none.

Source: https://www.cs.toronto.edu/~graves/icml_2006.pdf
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras.tensor_functions.operations.values import rows

NEVER = -math.inf  # the logarithm of the probability 0
NO_LABEL = -1  # in results


def ctc_loss(
    target: Tensor, output: Tensor, target_length: Tensor, output_length: Tensor, mask_index: int = 0
) -> Tensor:
    """-log of the probability of the labels, summed over all ways to lay them along time.

    `target` has class numbers (batch, labels), `output` logits (batch, time, classes), and of each sample the first
    `target_length` and `output_length` count. The class `mask_index` stands for no label.
    """
    output = output.float()  # of 64 bits too, as in Keras
    if output.is_meta:  # where lengths have no values
        return output.new_empty(len(output))
    log_p = torch.log_softmax(output, -1).transpose(0, 1)
    return F.ctc_loss(log_p, target, output_length, target_length, blank=mask_index, reduction="none")


def ctc_decode(
    inputs: Tensor,
    sequence_lengths: Tensor,
    strategy: str = "greedy",
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    mask_index: int | None = 0,
) -> tuple[Tensor, Tensor]:
    """The likeliest labels for logits (batch, time, classes), -1 after the last of them, and their scores.

    "greedy" takes the likeliest class at each time: labels (1, batch, time), and minus the sum of their logits.
    "beam_search" keeps `beam_width` sequences at each time: labels (`top_paths`, batch, time), the likeliest first, and
    the logarithms of their probabilities (batch, `top_paths`). Without a `mask_index` the last class stands for none.
    """
    mask_index = inputs.shape[-1] - 1 if mask_index is None else mask_index
    inputs = inputs.float()
    if strategy == "greedy":
        return _greedy(inputs, sequence_lengths, merge_repeated, mask_index)
    if strategy == "beam_search":
        return _beam_search(inputs, sequence_lengths, beam_width, top_paths, mask_index)
    raise ValueError(f"strategy must be 'greedy' or 'beam_search'; found {strategy!r}.")


def _greedy(inputs: Tensor, lengths: Tensor, merge_repeated: bool, mask_index: int) -> tuple[Tensor, Tensor]:
    scores, labels = inputs.max(-1)
    is_over = torch.arange(inputs.shape[1], device=inputs.device) >= lengths.unsqueeze(1)
    labels = labels.masked_fill(is_over, mask_index)
    is_none = labels == mask_index
    if merge_repeated:
        is_none = is_none | F.pad(labels[:, 1:] == labels[:, :-1], (1, 0))
    order = is_none.int().argsort(dim=1, stable=True)  # labels first, in their order
    labels = labels.masked_fill(is_none, NO_LABEL).gather(1, order).int()
    return labels.unsqueeze(0), -scores.masked_fill(is_over, 0.0).sum(1, keepdim=True)


def _beam_search(
    inputs: Tensor, lengths: Tensor, beam_width: int, top_paths: int, mask_index: int
) -> tuple[Tensor, Tensor]:
    batch, time, _ = inputs.shape
    paths = torch.full((batch, top_paths, time), NO_LABEL, dtype=torch.int32)
    scores = torch.full((batch, top_paths), NEVER, dtype=inputs.dtype)
    if not inputs.is_meta:
        log_p = torch.log_softmax(inputs, -1).tolist()
        for sample, (steps, length) in enumerate(zip(log_p, lengths.tolist(), strict=True)):
            best = likeliest_labels(steps[: int(length)], beam_width, mask_index)[:top_paths]
            for rank, (labels, score) in enumerate(best):
                paths[sample, rank, : len(labels)] = torch.tensor(labels, dtype=torch.int32)
                scores[sample, rank] = score
    return paths.transpose(0, 1).to(inputs.device), scores.to(inputs.device)


def likeliest_labels(
    steps: Sequence[Sequence[float]], beam_width: int, mask_index: int
) -> list[tuple[tuple[int, ...], float]]:
    """Sequences of labels, the likeliest first, and the logarithms of their probabilities.

    Each has the probability of the ways to it that end in no label, and of those that end in its last label.
    """
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, NEVER)}
    for step in steps:
        grown: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [NEVER, NEVER])
        for labels, (ended, going) in beams.items():
            both = _log_of_sum(ended, going)
            for label, score in enumerate(step):
                if label == mask_index:
                    grown[labels][0] = _log_of_sum(grown[labels][0], both + score)
                    continue
                repeats = labels[-1:] == (label,)
                if repeats:
                    grown[labels][1] = _log_of_sum(grown[labels][1], going + score)
                longer = grown[(*labels, label)]
                longer[1] = _log_of_sum(longer[1], (ended if repeats else both) + score)
        kept = sorted(grown.items(), key=lambda each: -_log_of_sum(*each[1]))[:beam_width]
        beams = {labels: (ended, going) for labels, (ended, going) in kept}
    return [(labels, _log_of_sum(*both)) for labels, both in beams.items()]


def _log_of_sum(x: float, y: float) -> float:
    """log(exp(x) + exp(y))"""
    low, high = (x, y) if x < y else (y, x)
    return high if low == NEVER else high + math.log1p(math.exp(low - high))


OPERATIONS = rows(functions={"ctc_decode": ctc_decode, "ctc_loss": ctc_loss})

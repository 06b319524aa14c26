"""`keras.preprocessing.sequence`: lists of numbers made equally long, pairs of words, windows of a series."""

from __future__ import annotations

from torchkeras.keras2.preprocessing.frozen import sequence
from torchkeras.utils import Sequence, padding

make_sampling_table = sequence.make_sampling_table
skipgrams = sequence.skipgrams
_remove_long_seq = sequence._remove_long_seq
# Ours, since that of keras-preprocessing needs a name that NumPy 2 has dropped.
pad_sequences = padding.pad_sequences


class TimeseriesGenerator(sequence.TimeseriesGenerator, Sequence):
    """Batches of windows of a series; the options are those of keras-preprocessing."""

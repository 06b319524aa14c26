"""What versions of Keras do otherwise in `compile`, `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Habits:
    """How the runs of a class of models behave; the defaults are those of Keras 2.2.4.

    `settles_at_once`: whether `compile` itself refuses what does not fit the outputs, not the first use.
    `epochs_end_with_data`: whether an epoch ends where the data ends: one of `steps_per_epoch` batches is then shorter,
    and a generator without a number of steps makes one. `leaves_out_targets`: whether targets may be given where no
    loss or metric compares them. `weighs_by_shape`: whether weights of samples may have more axes without a
    `sample_weight_mode`. `fits_rank`: whether inputs may have an axis of length 1 at their end that the model does not
    expect, or lack one that it does.
    """

    settles_at_once: bool = True
    epochs_end_with_data: bool = False
    leaves_out_targets: bool = False
    weighs_by_shape: bool = False
    fits_rank: bool = False

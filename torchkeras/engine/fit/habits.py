"""What versions of Keras do otherwise in `compile`, `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torchkeras.callbacks.base import Callback, CallbackList


@dataclass(frozen=True)
class Habits:
    """How the runs of a class of models behave; the defaults are those of Keras 2.2.4.

    `settles_at_once`: whether `compile` itself refuses what does not fit the outputs, not the first use.
    `epochs_end_with_data`: whether an epoch ends where the data ends: one of `steps_per_epoch` batches is then shorter,
    and a generator without a number of steps makes one. `leaves_out_targets`: whether targets may be given where no
    loss or metric compares them. `weighs_by_shape`: whether weights of samples may have more axes without a
    `sample_weight_mode`. `weighs_any_class`: whether `class_weight` may lack classes, which then have 1, and takes the
    first of several largest values of a row for its class. `fits_rank`: whether inputs and targets
    may have an axis of length 1 at their end that the model does not expect, or lack one that it does.
    `reports_last_batch`: whether the numbers of a step of the user's, for an epoch, are those of its last batch.
    `measures_without_loss`: whether outputs without a loss have their metrics where the user's code computes the loss.
    `leaves_out_keys`: whether a dict of inputs may have more keys than there are inputs. `asks_for_mode`: whether the
    layers of a model's own code train as such (dropout, statistics) only if that code has the argument `training`.
    `ends_each_pass`: whether a Sequence's `on_epoch_end` is called after each pass over it, in `evaluate` and `predict`
    too, and before the validation.
    `callback_list`: the class of what calls the callbacks. `progress_bar`: what makes the callback that `verbose`
    stands for, where it is no `ProgbarLogger` of this package.
    """

    settles_at_once: bool = True
    callback_list: type[CallbackList] = CallbackList
    progress_bar: Callable[[], Callback] | None = None
    epochs_end_with_data: bool = False
    leaves_out_targets: bool = False
    weighs_by_shape: bool = False
    weighs_any_class: bool = False
    fits_rank: bool = False
    reports_last_batch: bool = False
    measures_without_loss: bool = False
    leaves_out_keys: bool = False
    asks_for_mode: bool = False
    ends_each_pass: bool = False

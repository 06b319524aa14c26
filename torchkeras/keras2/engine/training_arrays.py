"""`keras.engine.training_arrays`: what scripts took from there."""

from torchkeras.keras2.engine.training_utils import batch_shuffle, check_num_samples, make_batches, slice_arrays

__all__ = ["batch_shuffle", "check_num_samples", "make_batches", "slice_arrays"]

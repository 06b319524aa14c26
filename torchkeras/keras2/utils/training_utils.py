"""`keras.utils.training_utils`: where Keras 2.0 and 2.1 had `multi_gpu_model`."""

from torchkeras.keras2.utils.multi_gpu_utils import multi_gpu_model

__all__ = ["multi_gpu_model"]

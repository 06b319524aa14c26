"""Callbacks: objects whose hooks the loop calls while a model is trained, evaluated or used."""

from torchkeras.callbacks.base import Callback, CallbackList, Logs
from torchkeras.callbacks.logging import History, LambdaCallback
from torchkeras.callbacks.progress import EpochLines, ProgressBar
from torchkeras.callbacks.tensorboard import TensorBoard
from torchkeras.callbacks.torch_scheduler import TorchScheduler

__all__ = [
    "Callback",
    "CallbackList",
    "EpochLines",
    "History",
    "LambdaCallback",
    "Logs",
    "ProgressBar",
    "TensorBoard",
    "TorchScheduler",
]

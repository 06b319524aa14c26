"""Callbacks: objects whose hooks the loop calls while a model is trained, evaluated or used."""

from typing import TYPE_CHECKING

from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.callbacks.backup import BackupAndRestore
from torchkeras.callbacks.base import Callback, CallbackList
from torchkeras.callbacks.checkpoint import ModelCheckpoint
from torchkeras.callbacks.control import EarlyStopping, TerminateOnNaN, TimeLimit
from torchkeras.callbacks.csv_log import CSVLogger
from torchkeras.callbacks.ema import SwapEMAWeights
from torchkeras.callbacks.experiments import AimLogger, MLflowLogger, WandbLogger
from torchkeras.callbacks.finder import LearningRateFinder
from torchkeras.callbacks.logs import BaseLogger, History, LambdaCallback, Logs
from torchkeras.callbacks.profiling import Profiler
from torchkeras.callbacks.progress import ProgbarLogger
from torchkeras.callbacks.rates import LearningRateScheduler, ReduceLROnPlateau
from torchkeras.callbacks.remote import RemoteMonitor
from torchkeras.callbacks.schedules import CosineAnnealing, OneCycle
from torchkeras.callbacks.tensorboard import TensorBoard
from torchkeras.callbacks.torch_scheduler import TorchScheduler
from torchkeras.callbacks.unfreezing import GradualUnfreezing

__all__ = [
    "AimLogger",
    "BackupAndRestore",
    "BaseLogger",
    "CSVLogger",
    "Callback",
    "CallbackList",
    "CosineAnnealing",
    "EarlyStopping",
    "GradualUnfreezing",
    "History",
    "LambdaCallback",
    "LearningRateFinder",
    "LearningRateScheduler",
    "Logs",
    "MLflowLogger",
    "ModelCheckpoint",
    "OneCycle",
    "Profiler",
    "ProgbarLogger",
    "ReduceLROnPlateau",
    "RemoteMonitor",
    "SwapEMAWeights",
    "TensorBoard",
    "TerminateOnNaN",
    "TimeLimit",
    "TorchScheduler",
    "WandbLogger",
]

if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)

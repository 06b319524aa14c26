"""The table of callbacks: how each is made in a folder, and where it reads numbers from the device."""

from functools import partial

from torch.optim import lr_scheduler

from torchkeras.callbacks import (
    AimLogger,
    BaseLogger,
    CosineAnnealing,
    CSVLogger,
    EarlyStopping,
    GradualUnfreezing,
    History,
    LambdaCallback,
    LearningRateFinder,
    LearningRateScheduler,
    MLflowLogger,
    ModelCheckpoint,
    OneCycle,
    Profiler,
    ProgbarLogger,
    ReduceLROnPlateau,
    RemoteMonitor,
    SwapEMAWeights,
    TensorBoard,
    TerminateOnNaN,
    TimeLimit,
    TorchScheduler,
    WandbLogger,
)

# Each callback, and where it must read: its job is to show, write or judge the numbers of that place.
TABLE = {
    "AimLogger": (lambda path: AimLogger(), {"epoch"}),
    "BaseLogger": (lambda path: BaseLogger(), set()),
    "CSVLogger": (lambda path: CSVLogger(path / "log.csv"), {"epoch"}),
    "CosineAnnealing": (lambda path: CosineAnnealing(), set()),
    "EarlyStopping": (lambda path: EarlyStopping("loss", patience=9), {"epoch"}),
    "GradualUnfreezing": (lambda path: GradualUnfreezing({0: []}), set()),
    "History": (lambda path: History(), {"epoch"}),
    "LambdaCallback": (lambda path: LambdaCallback(on_train_batch_end=lambda batch, logs: logs["size"]), set()),
    "LearningRateFinder": (lambda path: LearningRateFinder(), {"batch"}),
    "LearningRateScheduler": (lambda path: LearningRateScheduler(lambda epoch, lr: lr), set()),
    "MLflowLogger": (lambda path: MLflowLogger(), {"epoch"}),
    "ModelCheckpoint": (lambda path: ModelCheckpoint(path / "{epoch}"), set()),
    "ModelCheckpoint of the best": (lambda path: ModelCheckpoint(path / "x", "loss", save_best_only=True), {"epoch"}),
    "OneCycle": (lambda path: OneCycle(1.0), set()),
    "TorchScheduler": (lambda path: TorchScheduler(partial(lr_scheduler.StepLR, step_size=1)), set()),
    "TorchScheduler on a plateau": (
        lambda path: TorchScheduler(lr_scheduler.ReduceLROnPlateau, monitor="loss"),
        {"epoch"},
    ),
    "Profiler": (lambda path: Profiler(path, first=0, batches=1), set()),
    "ProgbarLogger": (lambda path: ProgbarLogger(), {"epoch"}),
    "ReduceLROnPlateau": (lambda path: ReduceLROnPlateau("loss"), {"epoch"}),
    "RemoteMonitor": (lambda path: RemoteMonitor(), {"epoch"}),
    "SwapEMAWeights": (lambda path: SwapEMAWeights(True), set()),
    "TensorBoard": (lambda path: TensorBoard(path, write_graph=False), {"epoch"}),
    "TensorBoard of batches": (
        lambda path: TensorBoard(path, write_graph=False, update_freq="batch"),
        {"batch", "epoch"},
    ),
    "TerminateOnNaN": (lambda path: TerminateOnNaN(), {"batch"}),
    "TimeLimit": (lambda path: TimeLimit(100), set()),
    "WandbLogger": (lambda path: WandbLogger(), {"epoch"}),
}

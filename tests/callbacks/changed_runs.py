"""A small run, and all that may be other in it when it goes on after a stop."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset, WeightedRandomSampler

from torchkeras import Input, Model, callbacks as given, clear_session, layers, losses, metrics, optimizers
from torchkeras.callbacks import BackupAndRestore, Callback

SAMPLES, SIZE = 24, 4
DRAW = np.random.default_rng(3)
X = DRAW.standard_normal((SAMPLES, 4)).astype("float32")
Y = DRAW.standard_normal((SAMPLES, 3)).astype("float32")
OTHER_X, OTHER_Y = X.copy(), Y.copy()
OTHER_X[11, 2] += 1e-3
OTHER_Y[23, 0] += 1e-3


class Killed(BaseException):
    """The end of a process: nothing of the package catches it."""


class At(Callback):
    needed_to_resume = False

    def __init__(self, number: int):
        self.left = number

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed


# --- what a run is made of -------------------------------------------------------------------------------------------


class Scaled(layers.Layer):
    """A layer of the user's own."""

    def forward(self, inputs):
        return inputs * 2.0


def _otherwise(self, inputs):
    return inputs * 3.0


ScaledOtherwise = type("Scaled", (layers.Layer,), {"forward": _otherwise, "__module__": __name__})


def network(
    activation: str = "relu",
    rate: float = 0.3,
    momentum: float = 0.9,
    l2: float = 0.01,
    epsilon: float = 1e-3,
    trainable: bool = True,
    constraint: Any = None,
    use: Callable[[Any], Any] = lambda x: x,
    own: Any = Scaled,
    seed: int | None = None,
) -> Model:
    inputs = Input((4,), name="given")
    x = layers.Dense(
        5, activation=activation, kernel_regularizer=layers_l2(l2), kernel_constraint=constraint, name="hidden"
    )(inputs)
    x = layers.BatchNormalization(momentum=momentum, epsilon=epsilon, name="normal")(x)
    x = use(layers.Dropout(rate, seed=seed, name="drop")(x))
    x = own(name="own")(x)
    model = Model(inputs, layers.Dense(3, name="out")(x))
    model.get_layer("hidden").trainable = trainable
    return model


def layers_l2(value: float) -> Any:
    return {"class_name": "L1L2", "config": {"l1": 0.0, "l2": value}}


def run(
    folder: Path,
    *,
    stop: int | None = None,
    accept: Any = (),
    model: Any = (),
    optimizer: Callable[[], Any] = lambda: optimizers.Adam(0.02),
    compiled: Any = (),
    data: Callable[[], tuple[Any, ...]] = lambda: (X, Y),
    fitted: Any = (),
    also: Callable[[], list[Any]] = list,
) -> Model:
    clear_session()
    torch.manual_seed(4)
    net = network(**dict(model))
    net.compile(optimizer(), **{"loss": "mse", **dict(compiled)})
    x, y = data()
    options: dict[str, Any] = {"epochs": 2, "verbose": 0, **dict(fitted)}
    if hasattr(x, "shape") or type(x) in (Samples, OtherSamples, Stream):
        options = {"batch_size": SIZE, **options}
    own = [BackupAndRestore(folder, "epoch" if stop is None else 2, accept=accept)]
    net.fit(x, y, callbacks=[*([] if stop is None else [At(stop)]), *also(), *own], **options)
    return net


class Samples(Dataset):
    """A map of samples."""

    def __init__(self, x: np.ndarray = X, scale: float = 1.0):
        self.x, self.scale = x, scale

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> Any:
        return self.x[index] * self.scale, Y[index]


class OtherSamples(Samples):
    def __getitem__(self, index: int) -> Any:
        return self.x[index] * self.scale + 1, Y[index]


class Stream(IterableDataset):
    def __init__(self, x: np.ndarray = X):
        self._hidden = memoryview(x)  # where nothing looks

    def __iter__(self):
        return iter(zip(np.asarray(self._hidden), Y, strict=True))


class Batches:
    """A Sequence."""

    def __init__(self, x: np.ndarray = X, number: int = SAMPLES // SIZE):
        self.x, self.number = x, number

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, index: int) -> Any:
        rows = slice(index * SIZE, (index + 1) * SIZE)
        return self.x[rows], Y[rows]


def generated(x: np.ndarray = X, factor: float = 1.0):
    while True:
        for k in range(SAMPLES // SIZE):
            rows = slice(k * SIZE, (k + 1) * SIZE)
            yield x[rows] * factor, Y[rows]


def otherwise_generated(x: np.ndarray = X):
    while True:
        yield x[:SIZE], Y[:SIZE]


HELD = {"x": X}


class Iterated:
    """An iterator that hides its data."""

    def __init__(self) -> None:
        self._number = 0

    def __iter__(self):
        return self

    def __next__(self) -> Any:
        rows = slice(self._number % 6 * SIZE, (self._number % 6 + 1) * SIZE)
        self._number += 1
        return HELD["x"][rows], Y[rows]


def squared(y_true: Any, y_pred: Any) -> Any:
    return ((y_true - y_pred) ** 2).mean(-1)


def weighted(factor: float) -> Any:
    def loss(y_true: Any, y_pred: Any) -> Any:
        return factor * ((y_true - y_pred) ** 2).mean(-1)

    return loss


def by(factor: Any) -> Any:
    def loss(y_true: Any, y_pred: Any) -> Any:
        return factor.value * ((y_true - y_pred) ** 2).mean(-1)

    return loss


class Factor:
    """An object of the user's own, which hides its option."""

    def __init__(self, value: float):
        self._value = value

    @property
    def value(self) -> float:
        return self._value

    def __call__(self, *given: Any) -> Any:
        return self.value * (given[0] ** 2).sum() if len(given) == 1 else weighted(self.value)(*given)


class Once(Factor):
    value = 2.0  # type: ignore[assignment]


class Twice(Factor):
    value = 3.0  # type: ignore[assignment]


Once.__qualname__ = Twice.__qualname__ = "Constant"


def module_with(value: float) -> ModuleType:
    made = ModuleType("settings")
    made.value = value  # type: ignore[attr-defined]
    return made


class Times(layers.Layer):
    """A layer of the user's own without a config."""

    def __init__(self, factor: Any, **options: Any):
        super().__init__(**options)
        self._factor = factor

    def forward(self, inputs: Any) -> Any:
        return inputs * self._factor


class TimesModule(torch.nn.Module):
    def __init__(self, factors: Any):
        super().__init__()
        self.factors = factors

    def forward(self, inputs: Any) -> Any:
        return inputs * self.factors[0]


class Hidden(Samples):
    def __init__(self, scale: float):
        super().__init__()
        self._scale = scale

    def __getitem__(self, index: int) -> Any:
        return self.x[index] * self._scale, Y[index]


class HiddenOwn(Callback):
    def __init__(self, every: int = 2):
        self._every = every


def times(factor: Any) -> Any:
    return lambda x: x * factor


class Own(Callback):
    """A callback of the user's own, with an option."""

    def __init__(self, every: int = 2):
        self.every = every


def adam(**options: Any) -> dict[str, Any]:
    return {"optimizer": lambda: optimizers.Adam(**{"lr": 0.02, **options})}


def torchs(cls: Any = torch.optim.AdamW, **options: Any) -> dict[str, Any]:
    return {"optimizer": lambda: (cls, {"lr": 0.02, **options})}


def of(data: Callable[[], Any], y: Any = None) -> dict[str, Any]:
    return {"data": lambda: (data(), y)}


def steps(data: Callable[[], Any], number: int = 6, **fitted: Any) -> dict[str, Any]:
    return {**of(data), "fitted": {"steps_per_epoch": number, **fitted}}


def compiled(**options: Any) -> dict[str, Any]:
    return {"compiled": options}


def fitted(**options: Any) -> dict[str, Any]:
    return {"fitted": options}


def model(**options: Any) -> dict[str, Any]:
    return {"model": options}


def also(*made: Callable[[], Any]) -> dict[str, Any]:
    return {"also": lambda: [make() for make in made]}


def loader(dataset: Any = None, **options: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"batch_size": SIZE, "shuffle": True, **options}
    return of(lambda: DataLoader(Samples() if dataset is None else dataset, **given))


def tensors(x: np.ndarray = X) -> Any:
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(Y))


def draws(x: np.ndarray = X) -> Any:
    return WeightedRandomSampler(torch.from_numpy(np.abs(x[:, 0]) + 0.1), SAMPLES)


def on_disk(x: np.ndarray) -> Any:
    """Rows that are read slice by slice."""
    path = Path(tempfile.mkdtemp()) / "rows"
    np.save(path, x)
    return np.load(f"{path}.npy", mmap_mode="r")


W, OTHER_W = np.linspace(0.5, 1.5, SAMPLES), np.linspace(0.4, 1.5, SAMPLES)
HALF = (X[:12], Y[:12])

# Name: the words told, and what of the run before and of the run now is not as in `run`.
CHANGES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # data in memory
    "x": ("data", {}, of(lambda: OTHER_X, Y)),
    "y": ("data", {}, of(lambda: X, OTHER_Y)),
    "x of another type": ("data", {}, of(lambda: X[:, ::-1].astype("float64"), Y)),
    "fewer samples": ("data", {}, of(lambda: X[:20], Y[:20])),
    "more samples": ("data", {}, of(lambda: np.concatenate([X, X[:4]]), np.concatenate([Y, Y[:4]]))),
    "x in another order": ("data", {}, of(lambda: X[::-1].copy(), Y)),
    "y of another order": ("data", {}, of(lambda: X, Y[::-1].copy())),
    "x that is a tensor": ("data", {}, of(lambda: torch.from_numpy(OTHER_X), Y)),
    "sample weights": ("sample_weight", fitted(sample_weight=W), fitted(sample_weight=OTHER_W)),
    "sample weights more": ("sample_weight", {}, fitted(sample_weight=W)),
    "sample weights away": ("sample_weight", fitted(sample_weight=W), {}),
    # data in other forms
    "arrays to a loader": ("data workers", {}, loader()),
    "rows of a file": ("data", of(lambda: on_disk(X), Y), of(lambda: on_disk(X + 1), Y)),
    "fewer rows of a file": ("data", of(lambda: on_disk(X), Y), of(lambda: on_disk(X[:20]), Y[:20])),
    "sample weights of a file": (
        "sample_weight",
        of(lambda: on_disk(X), Y),
        {**of(lambda: on_disk(X), Y), **fitted(sample_weight=W)},
    ),
    "a loader's samples": ("data", loader(), loader(Samples(OTHER_X))),
    "a loader's option": ("data", loader(), loader(Samples(X, 2.0))),
    "a loader's class": ("data", loader(), loader(OtherSamples())),
    "a loader's tensors": ("data", loader(tensors()), loader(tensors(OTHER_X))),
    "a loader's subset": ("data", loader(Subset(Samples(), range(20))), loader(Subset(Samples(), range(1, 21)))),
    "a loader's order": ("data", loader(), loader(shuffle=False)),
    "a loader's last batch": ("data", loader(batch_size=5), loader(batch_size=5, drop_last=True)),
    "a loader's batch size": ("data batch_size", loader(), loader(batch_size=5)),
    "a loader's weights": (
        "data",
        loader(shuffle=False, sampler=draws()),
        loader(shuffle=False, sampler=draws(1 + X)),
    ),
    "a loader's workers": ("workers", loader(), loader(num_workers=1, multiprocessing_context="fork")),
    "a loader's generator": ("data", loader(), loader(generator=torch.Generator())),
    "a loader's collate_fn": (
        "data",
        loader(),
        loader(collate_fn=lambda items: torch.utils.data.default_collate(items)),
    ),
    "a Dataset": ("data", of(Samples), of(lambda: Samples(OTHER_X))),
    "a Dataset's option": ("data", of(Samples), of(lambda: Samples(X, 0.5))),
    "a Dataset's code": ("data", of(Samples), of(OtherSamples)),
    "a stream": ("data", of(Stream), of(lambda: Stream(OTHER_X + 1))),
    "a Sequence": ("data", of(Batches), of(lambda: Batches(OTHER_X))),
    "a Sequence's length": ("data", of(Batches), of(lambda: Batches(X, 5))),
    "a Sequence's workers": ("workers", of(Batches), {**of(Batches), **fitted(workers=3)}),
    "a generator's array": ("data", steps(generated), steps(lambda: generated(OTHER_X))),
    "a generator's number": ("data", steps(generated), steps(lambda: generated(X, 2.0))),
    "a generator's code": ("data", steps(generated), steps(otherwise_generated)),
    "a generator's thread": ("workers", steps(generated), steps(generated, workers=0)),
    "a generator expression": (
        "data",
        steps(lambda: ((x, y) for x, y in generated())),
        steps(lambda: ((x + 1, y) for x, y in generated())),
    ),
    # options of fit
    "batch_size": ("batch_size", {}, fitted(batch_size=6)),
    "shuffle": ("shuffle", {}, fitted(shuffle=False)),
    "shuffle in batches": ("shuffle", {}, fitted(shuffle="batch")),
    "steps_per_epoch": ("steps_per_epoch", steps(generated), steps(generated, 5)),
    "steps_per_epoch more": ("steps_per_epoch", {}, fitted(steps_per_epoch=4)),
    "steps_per_epoch away": ("steps_per_epoch", fitted(steps_per_epoch=5), {}),
    "class_weight": (
        "class_weight",
        {**compiled(loss="sparse_categorical_crossentropy"), **of(lambda: X, np.arange(SAMPLES) % 3)},
        {
            **compiled(loss="sparse_categorical_crossentropy"),
            **of(lambda: X, np.arange(SAMPLES) % 3),
            **fitted(class_weight={0: 1.0, 1: 2.0, 2: 1.0}),
        },
    ),
    "initial_epoch": ("initial_epoch", {}, fitted(initial_epoch=1)),
    "validation more": ("validation_data", {}, fitted(validation_data=HALF)),
    "validation away": ("validation_data", fitted(validation_data=HALF), {}),
    "validation data": (
        "validation_data",
        fitted(validation_data=HALF),
        fitted(validation_data=(OTHER_X[:12], Y[:12])),
    ),
    "validation weights": (
        "validation_data",
        fitted(validation_data=(*HALF, W[:12])),
        fitted(validation_data=(*HALF, OTHER_W[:12])),
    ),
    "validation_split": ("data validation_data", fitted(validation_split=0.25), fitted(validation_split=0.5)),
    "validation_batch_size": (
        "validation_data",
        fitted(validation_data=HALF),
        fitted(validation_data=HALF, validation_batch_size=3),
    ),
    "validation_steps": (
        "validation_data",
        fitted(validation_data=HALF),
        fitted(validation_data=HALF, validation_steps=2),
    ),
    "validation_freq": (
        "validation_freq",
        fitted(validation_data=HALF),
        fitted(validation_data=HALF, validation_freq=2),
    ),
    # the graph and its options
    "activation": ("model", {}, model(activation="tanh")),
    "dropout rate": ("model", {}, model(rate=0.4)),
    "dropout seed": ("model", {}, model(seed=3)),
    "momentum of statistics": ("model", {}, model(momentum=0.8)),
    "epsilon of statistics": ("model", {}, model(epsilon=1e-2)),
    "regularizer": ("model", {}, model(l2=0.02)),
    "constraint": ("model", {}, model(constraint="nonneg")),
    "frozen": ("model", {}, model(trainable=False)),
    "a layer without weights": ("model", {}, model(use=layers.Activation("tanh"))),
    "a residual": ("model", {}, model(use=lambda x: layers.Add()([x, x]))),
    "an operator": ("model", {}, model(use=lambda x: x * 2.0)),
    "another operator": ("model", model(use=lambda x: x * 2.0), model(use=lambda x: x * 3.0)),
    "a lambda": (
        "model",
        model(use=layers.Lambda(lambda x: x * 2.0)),
        model(use=layers.Lambda(lambda x: x * 4.0)),
    ),
    "code of a layer": ("model", {}, model(own=ScaledOtherwise)),
    # the optimizer
    "learning rate": ("learning_rate", {}, adam(lr=0.01)),
    "a schedule": ("learning_rate", {}, adam(lr=optimizers.schedules.ExponentialDecay(0.05, 5, 0.9))),
    "a schedule's option": (
        "learning_rate",
        adam(lr=optimizers.schedules.ExponentialDecay(0.05, 5, 0.9)),
        adam(lr=optimizers.schedules.ExponentialDecay(0.05, 5, 0.8)),
    ),
    "decay": ("optimizer", {}, adam(decay=0.01)),
    "beta_1": ("optimizer", {}, adam(beta_1=0.8)),
    "clipnorm": ("optimizer", {}, adam(clipnorm=1.0)),
    "another clipnorm": ("optimizer", adam(clipnorm=1.0), adam(clipnorm=2.0)),
    "clipvalue": ("optimizer", {}, adam(clipvalue=0.5)),
    "each_clipnorm": ("optimizer", {}, adam(each_clipnorm=0.5)),
    "weight_decay": ("optimizer", {}, adam(weight_decay=0.1)),
    "use_ema": ("optimizer", {}, adam(use_ema=True)),
    "ema_momentum": ("optimizer", adam(use_ema=True), adam(use_ema=True, ema_momentum=0.5)),
    "accumulation": ("optimizer", {}, adam(gradient_accumulation_steps=2)),
    "lr_multipliers": ("optimizer", {}, adam(lr_multipliers={"out": 0.1})),
    "another optimizer": ("optimizer", {}, {"optimizer": lambda: optimizers.RMSprop(0.02)}),
    "torch's rate": ("learning_rate", torchs(), torchs(lr=0.01)),
    "torch's option": ("optimizer", torchs(), torchs(weight_decay=0.5)),
    "torch's clipnorm": ("optimizer", torchs(), torchs(clipnorm=0.5)),
    "torch's class": ("optimizer", torchs(), torchs(torch.optim.NAdam)),
    "Keras's to torch's": ("optimizer learning_rate", {}, torchs()),
    # the rest of compile
    "loss": ("loss", {}, compiled(loss="mae")),
    "a loss's option": ("loss", compiled(loss=losses.Huber(1.0)), compiled(loss=losses.Huber(2.0))),
    "a function": ("loss", {}, compiled(loss=squared)),
    "a function's constant": ("loss", compiled(loss=weighted(1.0)), compiled(loss=weighted(2.0))),
    "a lambda as a loss": (
        "loss",
        compiled(loss=lambda y, p: (y - p).abs().mean(-1)),
        compiled(loss=lambda y, p: (y - p).abs().sum(-1)),
    ),
    "a loss of torch": (
        "loss",
        compiled(loss=torch.nn.HuberLoss(delta=1.0)),
        compiled(loss=torch.nn.HuberLoss(delta=2.0)),
    ),
    "loss_weights": ("loss_weights", {}, compiled(loss_weights=[2.0])),
    "metrics more": ("metrics", {}, compiled(metrics=["mae"])),
    "metrics away": ("metrics", compiled(metrics=["mae"]), {}),
    "a metric with a state": ("metrics", {}, compiled(metrics=[metrics.MeanSquaredError(name="kept")])),
    "a metric's option": (
        "metrics",
        compiled(metrics=[metrics.AUC(name="auc", num_thresholds=50)]),
        compiled(metrics=[metrics.AUC(name="auc", num_thresholds=60)]),
    ),
    "weighted_metrics": ("weighted_metrics", {}, compiled(weighted_metrics=["mae"])),
    "on_nonfinite": ("on_nonfinite", {}, compiled(on_nonfinite="skip")),
    "steps_per_execution": ("steps_per_execution", {}, compiled(steps_per_execution=2)),
    "jit_compile": ("jit_compile", {}, compiled(jit_compile=False)),
    "cuda_graph": ("cuda_graph", {}, compiled(cuda_graph=False)),
    "sync_batch_norm": ("sync_batch_norm", {}, compiled(sync_batch_norm=False)),
    "numerics": ("numerics", {}, compiled(numerics="keras")),
    # callbacks
    "a callback more": ("callbacks", {}, also(lambda: given.EarlyStopping("loss", patience=9))),
    "a callback away": ("callbacks", also(lambda: given.EarlyStopping("loss", patience=9)), {}),
    "a callback's option": (
        "callbacks",
        also(lambda: given.EarlyStopping("loss", patience=9)),
        also(lambda: given.EarlyStopping("loss", patience=8)),
    ),
    "a callback's class": (
        "callbacks",
        also(lambda: given.EarlyStopping("loss", patience=9)),
        also(lambda: given.ReduceLROnPlateau("loss", patience=9)),
    ),
    "a schedule's function": (
        "callbacks",
        also(lambda: given.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))),
        also(lambda: given.LearningRateScheduler(lambda epoch: 0.2 / (epoch + 1))),
    ),
    "a scheduler of torch": (
        "callbacks",
        also(lambda: given.TorchScheduler(torch.optim.lr_scheduler.StepLR, step_size=2)),
        also(lambda: given.TorchScheduler(torch.optim.lr_scheduler.StepLR, step_size=3)),
    ),
    "epochs of a cycle": (
        "callbacks",
        also(lambda: given.OneCycle(0.1)),
        {**also(lambda: given.OneCycle(0.1)), **fitted(epochs=4)},
    ),
    "a callback of one's own": ("callbacks", {}, also(Own)),
    "its option": ("callbacks", also(Own), also(lambda: Own(3))),
    "two callbacks in another order": (
        "callbacks",
        also(Own, given.TerminateOnNaN),
        also(given.TerminateOnNaN, Own),
    ),
    # what the user's code names, and what its objects hold
    **{
        f"a loss and {name}": ("loss", compiled(loss=by(of_one)), compiled(loss=by(of_other)))
        for name, (of_one, of_other) in {
            "a namespace": (SimpleNamespace(value=2.0), SimpleNamespace(value=3.0)),
            "an object": (Factor(2.0), Factor(3.0)),
            "a module": (module_with(2.0), module_with(3.0)),
            "a class": (Once, Twice),
        }.items()
    },
    "an object as a loss": ("loss", compiled(loss=Factor(2.0)), compiled(loss=Factor(3.0))),
    "a function of a Lambda": (
        "model",
        model(use=layers.Lambda(times(2.0), name="times")),
        model(use=layers.Lambda(times(3.0), name="times")),
    ),
    "an activation": (
        "model",
        model(use=layers.Activation(times(2.0), name="times")),
        model(use=layers.Activation(times(3.0), name="times")),
    ),
    "a regularizer of one's own": (
        "model",
        model(use=lambda x: layers.Dense(5, kernel_regularizer=Factor(0.1), name="more")(x)),
        model(use=lambda x: layers.Dense(5, kernel_regularizer=Factor(0.2), name="more")(x)),
    ),
    "an attribute of a layer": ("model", model(use=Times(2.0)), model(use=Times(3.0))),
    "a list in a module": (
        "model",
        model(use=lambda x: layers.TorchModule(TimesModule([2.0]), name="times")(x)),
        model(use=lambda x: layers.TorchModule(TimesModule([3.0]), name="times")(x)),
    ),
    "a hidden attribute of a Dataset": (
        "data",
        {**of(lambda: Hidden(1.0)), **fitted(batch_size=SIZE)},
        {**of(lambda: Hidden(2.0)), **fitted(batch_size=SIZE)},
    ),
    "a hidden option of a callback": ("callbacks", also(HiddenOwn), also(lambda: HiddenOwn(3))),
    # several at once
    "several": ("learning_rate loss data", {}, {**adam(lr=0.1), **compiled(loss="mae"), **of(lambda: OTHER_X, Y)}),
}

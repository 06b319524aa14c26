"""`WandbLogger`, `MLflowLogger`, `AimLogger`: the numbers of each epoch, sent to what keeps records of experiments."""

from collections.abc import Mapping
from typing import Any, ClassVar

from torchkeras.base.extras import extra
from torchkeras.base.rules import optional, read, rule
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.logs import numbers
from torchkeras.callbacks.monitoring import one_number

CONFIG = rule("must be a dictionary by name", lambda v: isinstance(v, Mapping) and all(type(each) is str for each in v))
OF_FIT = ("batch_size", "epochs", "samples", "steps")


class ExperimentLogger(Callback):
    """Logs the numbers of each epoch to a run of a tracker of experiments.

    A `fit` makes a run and ends it. After a stop, `BackupAndRestore` continues in the same run.

    Options:
        config (dict or None, default None): values to log once, in addition to the `batch_size`, `epochs`, `samples`
            and `steps` of `fit`.

    Errors:
        ImportError: the package of the tracker is missing.
        ValueError: `config` is no dict.
    """

    state_names = ("run_id",)
    main_only = True
    needed_to_resume = False
    keeps_records = True

    package: ClassVar[str]  # the module of the tracker
    run_id = ""  # by which a run is found again
    _run: Any = None
    _ends_run = True

    def __init__(self, config: Mapping[str, Any] | None = None, **options: Any):
        self.config = read(type(self).__name__, "config", optional(CONFIG), config)
        self.options = options
        self._tracker()

    def _tracker(self) -> Any:
        return extra(self.package, type(self).__name__)

    def on_train_begin(self, logs: Any = None) -> None:
        self.run_id = ""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self._run is None:  # here, since the state after a stop is known by now
            of_fit = {name: self.params[name] for name in OF_FIT if self.params.get(name) is not None}
            self._begin(self._tracker(), {**of_fit, **(self.config or {})})

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        name = type(self).__name__
        self._log({key: float(one_number(name, key, value)) for key, value in numbers(logs).items()}, epoch)

    def on_train_end(self, logs: Any = None) -> None:
        self._close(failed=False)

    def abandon(self) -> None:
        """Called when `fit` ends, even by an error: end the run."""
        self._close(failed=True)

    def _close(self, failed: bool) -> None:
        if self._run is not None and self._ends_run:
            self._end(failed)
        self._run = None

    def _begin(self, tracker: Any, config: Mapping[str, Any]) -> None:
        """Set `_run`, `run_id` and `_ends_run`: begin a run, continue that of `run_id`, or take the user's."""
        raise NotImplementedError

    def _log(self, values: Mapping[str, float], epoch: int) -> None:
        raise NotImplementedError

    def _end(self, failed: bool) -> None:
        raise NotImplementedError


class WandbLogger(ExperimentLogger):
    """Logs the numbers of each epoch, and `epoch`, to a run of Weights & Biases.

    A `fit` makes a run and ends it. If you called `wandb.init` before, the numbers go to that run, which stays open.
    After a stop, `BackupAndRestore` continues in the same run.

    Options:
        options (any): further arguments of `wandb.init`, such as `project`, `name` and `mode="offline"`.

    Example:
        >>> WandbLogger({"units": 32}, project="digits").options
        {'project': 'digits'}

    Source: https://docs.wandb.ai/ref/python/
    """

    package = "wandb"

    def _begin(self, tracker: Any, config: Mapping[str, Any]) -> None:
        self._ends_run = tracker.run is None
        if self._ends_run:
            again = {"id": self.run_id, "resume": "allow"} if self.run_id else {}
            self._run = tracker.init(**{**self.options, **again})
        else:
            self._run = tracker.run
        self._run.config.update(config, allow_val_change=True)
        self.run_id = self._run.id

    def _log(self, values: Mapping[str, float], epoch: int) -> None:
        self._run.log({"epoch": epoch, **values})

    def _end(self, failed: bool) -> None:
        self._run.finish(exit_code=int(failed))


class MLflowLogger(ExperimentLogger):
    """Logs the numbers of each epoch to a run of MLflow.

    A `fit` makes a run and ends it. If you called `mlflow.start_run` before, the numbers go to that run, which stays
    open. `mlflow.set_tracking_uri` and `mlflow.set_experiment` say where. After a stop, `BackupAndRestore` continues in
    the same run.

    Options:
        options (any): further arguments of `mlflow.start_run`, such as `run_name` and `tags`.

    Example:
        >>> MLflowLogger({"units": 32}, run_name="first").options
        {'run_name': 'first'}

    Source: https://mlflow.org/docs/latest/api_reference/python_api/mlflow.html
    """

    package = "mlflow"

    def _begin(self, tracker: Any, config: Mapping[str, Any]) -> None:
        under_way = tracker.active_run()
        self._ends_run = under_way is None
        again = {"run_id": self.run_id} if self.run_id else {}
        self._run = under_way or tracker.start_run(**{**self.options, **again})
        self.run_id = self._run.info.run_id
        known = tracker.get_run(self.run_id).data.params  # which MLflow lets nobody change
        tracker.log_params({name: value for name, value in config.items() if name not in known})

    def _log(self, values: Mapping[str, float], epoch: int) -> None:
        self._tracker().log_metrics(values, step=epoch)

    def _end(self, failed: bool) -> None:
        self._tracker().end_run("FAILED" if failed else "FINISHED")


class AimLogger(ExperimentLogger):
    """Logs the numbers of each epoch to a run of Aim.

    A `fit` makes a run and closes it. After a stop, `BackupAndRestore` continues in the same run.

    Options:
        options (any): further arguments of `aim.Run`, such as `repo` and `experiment`.

    Example:
        >>> AimLogger({"units": 32}, experiment="digits").options
        {'experiment': 'digits'}

    Source: https://aimstack.readthedocs.io/en/latest/refs/sdk.html
    """

    package = "aim"

    def _begin(self, tracker: Any, config: Mapping[str, Any]) -> None:
        again = {"run_hash": self.run_id, "force_resume": True} if self.run_id else {}  # a killed one has locked it
        self._run = tracker.Run(**{**self.options, **again})
        self._run["hparams"] = config
        self.run_id = self._run.hash

    def _log(self, values: Mapping[str, float], epoch: int) -> None:
        for name, value in values.items():
            self._run.track(value, name=name, step=epoch, epoch=epoch)

    def _end(self, failed: bool) -> None:
        self._run.close()

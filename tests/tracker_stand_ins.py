"""Stand-ins of wandb, mlflow and aim: the part of their public API that callbacks use, which keeps what it is told.

Each refuses what the package itself refuses: an unknown argument, a parameter that changes, a run that is not there.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest


def install(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Put the three in the place of the packages; returns them by name."""
    made = SimpleNamespace(wandb=Wandb(), mlflow=MLflow(), aim=Aim())
    for name, module in vars(made).items():
        monkeypatch.setitem(sys.modules, name, module)
    return made


class Wandb:
    """`wandb`: runs by their id."""

    def __init__(self) -> None:
        self.run: Any = None  # the one under way
        self.runs: dict[str, Any] = {}

    def init(self, *, project: str = "", mode: str = "", id: str | None = None, resume: str | None = None) -> Any:
        assert (id is None) == (resume is None)
        self.run = self.runs.get(id or "") or WandbRun(self, id or f"wandb{len(self.runs)}", project)
        self.runs[self.run.id] = self.run
        return self.run


class WandbRun:
    def __init__(self, wandb: Wandb, id: str, project: str) -> None:
        self.wandb, self.id, self.project = wandb, id, project
        self.values: dict[str, Any] = {}
        self.config = SimpleNamespace(update=self._update)
        self.logged: list[dict[str, float]] = []
        self.ended: list[int] = []

    def _update(self, config: dict[str, Any], allow_val_change: bool = False) -> None:
        changed = [name for name in config if self.values.get(name, config[name]) != config[name]]
        assert allow_val_change or not changed
        self.values.update(config)

    def log(self, values: dict[str, float]) -> None:
        assert self.wandb.run is self
        self.logged.append(values)

    def finish(self, exit_code: int) -> None:
        self.wandb.run = None
        self.ended.append(exit_code)


class MLflow:
    """`mlflow`: runs by their id, of which one is active."""

    def __init__(self) -> None:
        self.active: Any = None
        self.runs: dict[str, Any] = {}

    def active_run(self) -> Any:
        return self.active

    def start_run(self, run_id: str | None = None, run_name: str | None = None) -> Any:
        assert self.active is None
        if run_id is None:
            run_id = f"mlflow{len(self.runs)}"
            info, data = SimpleNamespace(run_id=run_id, run_name=run_name, status=""), SimpleNamespace(params={})
            self.runs[run_id] = SimpleNamespace(info=info, data=data, logged=[], ended=[])
        self.active = self.runs[run_id]
        return self.active

    def get_run(self, run_id: str) -> Any:
        return self.runs[run_id]

    def log_params(self, params: dict[str, Any]) -> None:
        known = self.active.data.params
        assert not [name for name in params if known.get(name, params[name]) != params[name]]
        known.update(params)

    def log_metrics(self, metrics: dict[str, float], step: int) -> None:
        self.active.logged.append({"epoch": step, **metrics})

    def end_run(self, status: str) -> None:
        assert status in ("FINISHED", "FAILED", "KILLED")
        self.active.ended.append(status)
        self.active = None


class Aim:
    """`aim`: runs by their hash; one that is not closed is locked."""

    def __init__(self) -> None:
        self.runs: dict[str, Any] = {}

    def Run(  # noqa: N802  (aim's name)
        self,
        run_hash: str | None = None,
        *,
        repo: Any = None,
        experiment: str | None = None,
        force_resume: bool = False,
    ) -> Any:
        run = self.runs[run_hash] if run_hash else AimRun(f"aim{len(self.runs)}", experiment)
        assert run.is_closed or force_resume
        run.is_closed = False
        self.runs[run.hash] = run
        return run


class AimRun(dict[str, Any]):
    def __init__(self, hash: str, experiment: str | None) -> None:
        self.hash, self.experiment, self.is_closed = hash, experiment, True
        self.tracked: list[tuple[str, float, int]] = []

    def track(self, value: float, name: str, step: int, epoch: int) -> None:
        assert not self.is_closed
        assert step == epoch
        self.tracked.append((name, value, step))

    def close(self) -> None:
        self.is_closed = True

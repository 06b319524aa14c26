"""What a machine with a CUDA device is for: tests, numbers, waits, graphs, memory and speed, in one report.

    python benchmarks/cuda_report.py [--device cuda] [--only mlp] [--peer keras3=/path/to/python] [--to cuda-report.md]

`scripts/cuda` runs it. Each part becomes a section of the report, with its figures or the error that ended it; the exit
status says whether all went well. With `--device cpu`, the parts that the CPU can run are run there, which tests them.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import workloads
from workloads import WORKLOADS

import torchkeras
import torchkeras.layers
import torchkeras.models
from torchkeras import config, distribution
from torchkeras.callbacks import Callback

ROOT = Path(__file__).parents[1]
STEPS = 4
# The precision of a device, and how far a loss and a prediction may be from those of the CPU in float32.
PRECISIONS = {"float32": 1e-4, "TF32": 1e-2, "mixed_bfloat16": 5e-2, "mixed_float16": 1e-2}
PROCESSES = 2


class FailureError(Exception):
    """A part ran to its end, and a figure is not what it must be. `str()` of it is the section."""


@dataclass(frozen=True)
class Request:
    """What the command line asks for; `peers` as `benchmarks/suite.py` takes them."""

    device: str
    names: Sequence[str]
    peers: Sequence[str] = field(default_factory=list)

    @property
    def is_cuda(self) -> bool:
        return self.device == "cuda"


# --- the parts: each gives its section, or raises --------------------------------------------------------------------


def machine(request: Request) -> str:
    rows = [("torch", torch.__version__), ("CUDA", torch.version.cuda), ("cuDNN", torch.backends.cudnn.version())]
    rows += [(f"device {k}", torch.cuda.get_device_name(k)) for k in range(torch.cuda.device_count())]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return table(["", ""], [*rows, ("commit", commit.stdout.strip() or "unknown"), ("parts run on", request.device)])


def tests(request: Request) -> str:
    """The tests that need a CUDA device."""
    return output([sys.executable, "-m", "pytest", "-q", "-m", "cuda", "tests"])[-2000:]


def numbers(request: Request) -> str:
    """Loss and predictions of the same trained weights, on the device in each precision beside the CPU in float32."""
    rows, failed = [], False
    for name in request.names:
        with on("cpu"):
            model, x, y = ready(name)
            model.fit(x, y, batch_size=WORKLOADS[name].batch_size, verbose=0)
            weights, expected = workloads.weights_of(model), measured(name, model, x, y)
        for precision, limit in PRECISIONS.items():
            policy = precision if precision.startswith("mixed") else "float32"
            with on(request.device, policy, tf32=precision == "TF32"):
                model, x, y = ready(name)
                workloads.set_weights(model, weights)
                found = measured(name, model, x, y)
            apart = float(np.abs(found[1] - expected[1]).max())
            failed |= not max(apart, abs(found[0] - expected[0])) <= limit
            rows.append((name, precision, f"{expected[0]:.6f}", f"{found[0]:.6f}", f"{apart:.1e}", f"{limit:.0e}"))
    titles = ["workload", "precision", "loss, CPU", f"loss, {request.device}", "largest difference", "limit"]
    return checked(failed, table(titles, rows))


def waits(request: Request) -> str:
    """Steps after which the host waited for the device, other than at the end of an epoch; on the CPU none can."""
    rows = []
    for name in request.names:
        with on(request.device):
            model, x, y = ready(name)
            try:
                model.fit(x, y, batch_size=WORKLOADS[name].batch_size, epochs=2, verbose=0, callbacks=[NoWaits()])
            except RuntimeError as error:
                rows.append((name, str(error).partition("\n")[0]))
            else:
                rows.append((name, "none"))
    return checked(any(found != "none" for _, found in rows), table(["workload", "waits"], rows))


def graphs(request: Request) -> str:
    """The losses of three epochs with `cuda_graph=True`, beside those of eager steps."""
    rows, failed = [], False
    for name in request.names:
        losses = []
        for options in ({"jit_compile": False}, {"jit_compile": True, "cuda_graph": True}):
            with on(request.device):
                model, x, y = ready(name, **options)
                history = model.fit(x, y, batch_size=WORKLOADS[name].batch_size, epochs=3, shuffle=False, verbose=0)
                losses.append(history.history["loss"][-1])
        failed |= not abs(losses[0] - losses[1]) <= 0.25 * losses[0]  # dropout draws other numbers
        rows.append((name, *(f"{loss:.5f}" for loss in losses)))
    return checked(failed, table(["workload", "eager", "cuda_graph"], rows))


def memory(request: Request) -> str:
    """The peak of an epoch against the loop by hand."""
    return output([sys.executable, "benchmarks/memory.py", *repeated("--only", request.names)])


def speed(request: Request) -> str:
    """The suite: by hand, eager, compiled and captured, and the peers that are named."""
    chosen = [*repeated("--only", request.names), *repeated("--peer", request.peers)]
    return output([sys.executable, "benchmarks/suite.py", *chosen])


def processes(request: Request) -> str:
    """The weights that two processes train, by NCCL on CUDA devices and by gloo on CPUs, beside those of one."""
    with tempfile.TemporaryDirectory() as folder:
        alone, shared = Path(folder, "one.json"), Path(folder, "two.json")
        script = [str(Path(__file__)), "--device", request.device, "--trained"]
        launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={PROCESSES}"]
        output([sys.executable, *script, str(alone)])
        output([sys.executable, *launch, *script, str(shared)])
        one, two = (json.loads(path.read_text()) for path in (alone, shared))
    difference = max(
        float(np.abs(np.subtract(a, b)).max()) for a, b in zip(one["weights"], two["weights"], strict=True)
    )
    rows = [(each["processes"], each["backend"], each["steps"]) for each in (one, two)]
    text = table(["processes", "backend", "steps"], rows) + f"\nLargest difference of a weight: {difference:.1e}\n"
    return checked(two["processes"] != PROCESSES or not difference <= 1e-4, text)


def needs_cuda(request: Request) -> str | None:
    return None if request.is_cuda else "needs a CUDA device"


def needs_devices(request: Request) -> str | None:
    missing = request.is_cuda and torch.cuda.device_count() < PROCESSES
    return f"needs {PROCESSES} CUDA devices" if missing else None


PARTS: dict[Callable[[Request], str], Callable[[Request], str | None]] = {
    machine: lambda request: None,
    tests: needs_cuda,
    numbers: lambda request: None,
    waits: lambda request: None,
    graphs: needs_cuda,
    memory: needs_cuda,
    speed: needs_cuda,
    processes: needs_devices,
}


# --- what the parts are made of --------------------------------------------------------------------------------------


class NoWaits(Callback):
    """From the second epoch on, what waits for the device before an epoch's last batch has ended raises an error."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._set("error" if epoch else "default")

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if batch == STEPS - 1:
            self._set("default")

    def on_train_end(self, logs: Any = None) -> None:
        self._set("default")

    def _set(self, mode: str) -> None:
        if torch.cuda.is_available():
            torch.cuda.set_sync_debug_mode(mode)


@contextlib.contextmanager
def on(device: str, policy: str = "float32", tf32: bool = False) -> Iterator[None]:
    """Make models on a device, by a policy; the settings of before stand again at the end."""
    before = config.device()
    torchkeras.clear_session()
    torch.manual_seed(0)
    config.set_device(device)
    config.set_tf32(tf32)
    torchkeras.mixed_precision.set_global_policy(policy)
    try:
        yield
    finally:
        torchkeras.mixed_precision.set_global_policy("float32")
        config.set_tf32(False)
        config.set_device(before)


def ready(name: str, **options: Any) -> tuple[Any, Any, Any]:
    """A compiled model of a workload, and the data of some steps."""
    x, y = workloads.samples(WORKLOADS[name], STEPS)
    return workloads.compiled(WORKLOADS[name].network(torchkeras), **options), x[0] if len(x) == 1 else x, y


def measured(name: str, model: Any, x: Any, y: Any) -> tuple[float, np.ndarray]:
    """The loss of a model, and its predictions."""
    size = WORKLOADS[name].batch_size
    loss = model.evaluate(x, y, batch_size=size, verbose=0)[0]
    return float(loss), np.asarray(model.predict(x, batch_size=size, verbose=0), "float32")


def train_to(path: Path, device: str) -> None:
    """Train in this process, with those that the launcher started; the first one writes what it has in the end."""
    with on(device):
        distribution.initialize()
        model, x, y = ready("mlp")
        last = 32 * STEPS - 3  # the last batch has no equal parts
        model.fit(x[:last], y[:last], batch_size=32, epochs=2, shuffle=False, verbose=0)
        weights = [weight.tolist() for weight in model.get_weights()]
    grouped = torch.distributed.is_available() and torch.distributed.is_initialized()
    about = {"processes": distribution.world_size(), "steps": 2 * STEPS, "weights": weights}
    about["backend"] = torch.distributed.get_backend() if grouped else "none"
    if distribution.is_main():
        path.write_text(json.dumps(about))


def output(command: list[str]) -> str:
    """What a command prints, as a block. Raises FailureError with it where the command fails."""
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return checked(run.returncode != 0, f"```text\n{run.stdout.strip()}\n```\n")


def checked(failed: bool, section: str) -> str:
    if failed:
        raise FailureError(section)
    return section


def repeated(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def table(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def section_of(part: Callable[[Request], str], request: Request) -> tuple[str, str]:
    """How a part ended, "passed", "FAILED" or "not run", and its text."""
    missing = PARTS[part](request)
    if missing is not None:
        return "not run", f"{missing}\n"
    try:
        return "passed", part(request)
    except FailureError as failure:
        return "FAILED", str(failure)
    except Exception:  # noqa: BLE001 - the other parts are to run; the report has it
        return "FAILED", f"```text\n{traceback.format_exc()}```\n"


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options.add_argument("--only", choices=WORKLOADS, action="append", help="a workload; may be given again")
    options.add_argument("--peer", action="append", default=[], help="as for benchmarks/suite.py")
    options.add_argument("--to", type=Path, default=Path("cuda-report.md"), help="the report")
    options.add_argument("--trained", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.trained is not None:
        train_to(chosen.trained, chosen.device)
        return
    if chosen.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit(
            "cuda_report: torch finds no CUDA device. TORCHKERAS_PIP_ARGS names an index with one for yours."
        )
    names = chosen.only or [name for name, workload in WORKLOADS.items() if workload.mode == "fit"]
    request = Request(chosen.device, names, chosen.peer)
    ends = []
    with chosen.to.open("w", encoding="utf-8") as report:
        report.write(f"# torchkeras on {chosen.device}\n")
        for part in PARTS:
            end, text = section_of(part, request)
            ends.append(end)
            print(f"{part.__name__}: {end}", flush=True)
            report.write(f"\n## {part.__name__}: {end}\n\n{text}")
            report.flush()
    sys.exit("FAILED" in ends)


if __name__ == "__main__":
    main()

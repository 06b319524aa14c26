"""Compare what the package computes in two checkouts, bit by bit.

    scripts/compare_trees BEFORE [AFTER]                (AFTER is this checkout)

For a change of the package's form that must change nothing else. Each checkout's package records, in a process of its
own, facts of every golden model file and of every model of `written_models`: configs, `state_dict` keys and values,
predictions, losses, gradients, weights after two batches, and the bytes of the files in every format. It records the
public names with their signatures, and what two processes compute together, too. Then AFTER reads the pickles and the
checkpoints that BEFORE wrote. Prints each fact that differs and a total; exits with 1 if any does.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed
import torch.multiprocessing

import torchkeras
from torchkeras.callbacks import BackupAndRestore, Callback
from torchkeras.models import load_model

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
MODULES = (
    "torchkeras",
    *(
        "torchkeras." + name
        for name in ("activations", "backend", "callbacks", "config", "constraints", "distribution")
    ),
    *("torchkeras." + name for name in ("errors", "initializers", "layers", "losses", "metrics", "mixed_precision")),
    *("torchkeras." + name for name in ("models", "optimizers", "optimizers.schedules", "regularizers", "serving")),
    *("torchkeras." + name for name in ("utils", "visualization")),
)
FORMATS = (".h5", ".keras", ".pt", ".safetensors")
WEIGHT_FORMATS = (".weights.h5", ".h5", ".pt", ".safetensors")
BATCHES = 2
# What a model or a format refuses is a fact as well: its error must stay the same.
REFUSALS = (ValueError, TypeError, KeyError, AttributeError, RuntimeError, NotImplementedError, OSError, ImportError)

DATE = re.compile(rb'"date_saved": "[^"]*"')

# Its models and trainings are those of the checkout that is recorded.
SCRIPTS = Path(os.environ.get("PYTHONPATH") or ROOT) / "scripts"
sys.path.insert(0, str(SCRIPTS))
small_runs, written_models = map(importlib.import_module, ("small_runs", "written_models"))

Facts = dict[str, Any]


def digest(value: Any) -> str:
    """A short hash of tensors, arrays, bytes or anything with a repr, in nests of lists, tuples and dicts."""
    found = hashlib.sha256()

    def add(item: Any) -> None:
        if isinstance(item, torch.Tensor):
            item = item.detach().cpu()
            add(item.view(torch.uint8).numpy() if item.dtype is torch.bfloat16 and item.dim() else item.numpy())
        elif isinstance(item, (np.ndarray, np.generic)):
            found.update(f"{item.dtype}{item.shape}".encode())
            found.update(np.ascontiguousarray(item).tobytes())
        elif isinstance(item, dict):
            for key in item:
                add(key)
                add(item[key])
        elif isinstance(item, (list, tuple)):
            found.update(f"{len(item)}".encode())
            for each in item:
                add(each)
        else:
            found.update(item if isinstance(item, bytes) else repr(item).encode())

    add(value)
    return found.hexdigest()[:16]


def attempt(compute: Callable[[], Any]) -> Any:
    """What a function returns, or the error that it ends with."""
    try:
        return compute()
    except REFUSALS as error:
        without_addresses = re.sub(r"0x[0-9a-f]+|/[^ '\"]*/", "", str(error))
        return f"{type(error).__name__}: {without_addresses}"


def signatures() -> Facts:
    """Public names, and the signatures of functions, classes and their public methods."""
    found: Facts = {}
    for module in MODULES:
        imported = importlib.import_module(module)
        for name in getattr(imported, "__all__", ()):
            value = getattr(imported, name)
            path = f"name {module}.{name}"
            found[path] = type(value).__name__
            if callable(value):
                found[path] = signature(value)
            if isinstance(value, type):
                for method in dir(value):
                    if not method.startswith("_") and not hasattr(torch.nn.Module, method):
                        member = inspect.getattr_static(value, method)
                        found[f"{path}.{method}"] = signature(getattr(value, method)) if callable(member) else "value"
    return found


def signature(value: Any) -> str:
    """The arguments and their defaults, without annotations: a type may be told more exactly."""
    try:
        found = inspect.signature(value)
    except (ValueError, TypeError):
        return "no signature"
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()]
    bare = found.replace(parameters=plain, return_annotation=inspect.Signature.empty)
    text = re.sub(r" at 0x[0-9a-f]+", "", str(bare))
    return re.sub(r"\btorchkeras\.[\w.]+\.(\w+)", r"\1", text)  # where a class stands may change


def golden_files() -> Iterator[tuple[str, Path]]:
    for path in sorted(GOLDEN.rglob("*")):
        if path.suffix in (".h5", ".hdf5", ".keras", ".pt", ".safetensors") and not path.name.endswith(".weights.h5"):
            yield str(path.relative_to(GOLDEN)), path


def random_input(tensor: Any, samples: int, draw: np.random.Generator) -> np.ndarray:
    shape = (tensor.shape[0] or samples, *(size or 5 for size in tensor.shape[1:]))
    if tensor.dtype.is_floating_point:
        return draw.uniform(-1, 1, shape).astype("float32")
    return draw.integers(0, 2, shape).astype("int32")


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def alone(values: list[Any]) -> Any:
    return values if len(values) > 1 else values[0]


def facts_of(make: Callable[[], Any], folder: Path) -> Facts:
    """The facts of the model that `make` gives; `folder` receives its pickle."""

    def fresh() -> Any:
        torchkeras.clear_session()
        torch.manual_seed(0)
        return make()

    model = fresh()
    samples = next((tensor.shape[0] for tensor in model.inputs if tensor.shape[0]), 4)
    draw = np.random.default_rng(0)
    x = alone([random_input(tensor, samples, draw) for tensor in model.inputs])
    pickled = attempt(lambda: pickle.dumps(model))
    if isinstance(pickled, bytes):
        (folder / "model.pickle").write_bytes(pickled)
        np.savez(folder / "x.npz", *(x if isinstance(x, list) else [x]))
    state = model.state_dict()
    found: Facts = {
        "state_dict keys": digest([(key, tuple(value.shape), str(value.dtype)) for key, value in state.items()]),
        "state_dict": digest(state),
        "weight names": digest([(weight.name, tuple(weight.shape), weight.trainable) for weight in model.weights]),
        "config": attempt(lambda: digest(model.to_json())),
        "predict": attempt(lambda: digest(model.predict(x, batch_size=samples))),
        "parameters": model.count_params(),
    }
    found["pickle"] = found["predict"] if isinstance(pickled, bytes) else pickled
    for suffix in FORMATS:
        found[f"file {suffix}"] = attempt(lambda suffix=suffix: written(model, f"model{suffix}", whole=True))
    for suffix in WEIGHT_FORMATS:
        found[f"weights {suffix}"] = attempt(lambda suffix=suffix: written(model, f"w{suffix}", whole=False))
    found.update(trained(fresh(), x))
    return found


def written(model: Any, name: str, whole: bool) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        (model.save if whole else model.save_weights)(str(path))
        if path.suffix != ".keras":
            return digest(path.read_bytes())
        with zipfile.ZipFile(path) as archive:  # which says when it was written
            return digest([(name, DATE.sub(b"", archive.read(name))) for name in archive.namelist()])


def trained(model: Any, x: Any) -> Facts:
    """Gradients of the first batch, and losses and weights after some, compiled anew where the file did not say how."""

    def gradients() -> str:
        torch.manual_seed(1)
        outputs = model(*[torch.as_tensor(each) for each in as_list(x)][:1]) if not isinstance(x, list) else model(x)
        leaves = list(outputs.values()) if isinstance(outputs, dict) else as_list(outputs)
        total = torch.stack([leaf.double().square().mean() for leaf in leaves if leaf.is_floating_point()]).sum()
        total.backward()
        found = [(name, parameter.grad) for name, parameter in model.named_parameters()]
        model.zero_grad(set_to_none=True)
        return digest([(name, grad) for name, grad in found if grad is not None])

    def losses() -> str:
        if not model.optimizer:
            model.compile("adam", "mse")
        draw = np.random.default_rng(1)
        size = len(as_list(x)[0])
        outputs = model.outputs if isinstance(model.outputs, list) else list(model.outputs)
        y = alone([np.asarray(draw.uniform(0, 1, (size, *(n or 5 for n in o.shape[1:]))), "float32") for o in outputs])
        torch.manual_seed(2)
        return digest([[model.train_on_batch(x, y) for _ in range(BATCHES)], model.state_dict()])

    return {"gradients": attempt(gradients), "trained": attempt(losses)}


def models() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every golden file, and every model that `written_models` makes."""
    for name, path in golden_files():
        yield f"golden {name}", lambda path=path: load_model(str(path))
    for name, (make, _) in written_models.CASES.items():
        yield f"written {name}", make


def record(folder: Path) -> None:
    """Write the facts of the package that is imported, and the pickles and checkpoints that another may read."""
    facts = signatures()
    for name, make in models():
        own = folder / file_name(name)
        own.mkdir()
        found = attempt(lambda make=make, own=own: facts_of(make, own))
        facts.update(
            {f"{name}: {key}": value for key, value in found.items()} if isinstance(found, dict) else {name: found}
        )
    for name in small_runs.RUNS:
        (folder / name).mkdir()
        facts[f"run {name}"] = attempt(lambda name=name: run(name, folder / name))
    facts.update(of_processes())
    (folder / "facts.json").write_text(json.dumps(facts, indent=1))


def read_again(folder: Path) -> None:
    """Write what the pickles and the checkpoints in a folder give to the package that is imported."""
    facts: Facts = {}
    for name, _ in models():
        path = folder / file_name(name) / "model.pickle"
        if path.exists():
            torchkeras.clear_session()
            facts[f"{name}: pickle"] = attempt(lambda path=path: predicted_by(path))
    for name in small_runs.RUNS:
        facts[f"run {name}"] = attempt(lambda name=name: resumed(name, folder / name))
    (folder / "read.json").write_text(json.dumps(facts, indent=1))


def file_name(name: str) -> str:
    return re.sub(r"\W+", "_", name)


def predicted_by(path: Path) -> str:
    model = pickle.loads(path.read_bytes())  # noqa: S301  # written by `record`
    x = list(np.load(path.with_name("x.npz")).values())
    return digest(model.predict(alone(x), batch_size=len(x[0])))


# --- trainings that are interrupted, and those of several processes ---------------------------------------------------


class Interruption(Callback):
    """Ends a training after its second epoch, as an error would."""

    needed_to_resume = False

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if epoch == 1:
            raise InterruptedError("the second epoch has ended")


def run(name: str, folder: Path) -> str:
    """The end of a training of `small_runs`; a second one leaves its checkpoint in the folder."""
    backup = BackupAndRestore(folder / "backup", delete_checkpoint=False)
    with suppress(InterruptedError):
        small_runs.RUNS[name]([backup, Interruption()], folder)
    with tempfile.TemporaryDirectory() as other:
        return digest(small_runs.ending(small_runs.RUNS[name]([], Path(other)), Path(other)))


def resumed(name: str, folder: Path) -> str:
    """The end of a training that another process left a checkpoint of."""
    backup = BackupAndRestore(folder / "backup", delete_checkpoint=False)
    return digest(small_runs.ending(small_runs.RUNS[name]([backup], folder), folder))


PROCESSES = 2


def of_processes() -> Facts:
    """What processes that train together compute, by copies of the weights and by shares of them."""
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(of_process, (folder,), PROCESSES)
        return {
            key: value
            for path in sorted(Path(folder).glob("*.json"))
            for key, value in json.loads(path.read_text()).items()
        }


def of_process(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(ROOT / "tests" / "distribution"))
    table = importlib.import_module("table_models")
    store = f"file://{folder}/store"
    torch.distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=PROCESSES)
    facts = {}
    for name in table.CASES:
        for distribute in ("ddp", "fsdp"):
            if (name, distribute) != ("own_step_by_hand", "fsdp"):  # which is refused, by each process at its own time
                torchkeras.clear_session()
                key = f"process {rank} of {PROCESSES}, {name}, {distribute}"
                facts[key] = digest(table.run(name, "float32", distribute))
    (Path(folder) / f"{rank}.json").write_text(json.dumps(facts))
    torch.distributed.destroy_process_group()


# --- the comparison ---------------------------------------------------------------------------------------------------


def with_package_of(checkout: Path, *arguments: str) -> None:
    """Run this script in a process that imports the package of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    subprocess.run([sys.executable, __file__, *arguments], env=environment, check=True)


def differing(before: Facts, after: Facts) -> list[str]:
    """A line for each fact that is not the same, or is lost; a new public name is no difference."""
    return [
        f"{key}: {value} before, {after.get(key, 'nothing')} after"
        for key, value in before.items()
        if after.get(key) != value
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=Path, help="a checkout, or a folder of facts with --record and --read")
    parser.add_argument("after", type=Path, nargs="?", default=ROOT, help="a checkout (default: this one)")
    parser.add_argument("--record", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.record or given.read:
        assert Path(torchkeras.__file__).is_relative_to(os.environ["PYTHONPATH"])
        # An editable install would find modules that this checkout has no more in the one that is installed.
        sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        (record if given.record else read_again)(given.before)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before", Path(folder) / "after"
        for checkout, facts in ((given.before.resolve(), before), (given.after.resolve(), after)):
            facts.mkdir()
            with_package_of(checkout, "--record", str(facts))
        with_package_of(given.after.resolve(), "--read", str(before))
        recorded = json.loads((before / "facts.json").read_text())
        lines = differing(recorded, json.loads((after / "facts.json").read_text()))
        read = json.loads((before / "read.json").read_text())
        lines += [f"read by AFTER: {line}" for line in differing({key: recorded[key] for key in read}, read)]
    print(*lines, sep="\n")
    print(f"{len(recorded) + len(read)} facts, {len(lines)} differ")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())

"""Make tests/golden/earlier: pickles and checkpoints of this version, which later ones must be able to read.

    PYTHONPATH=CHECKOUT python scripts/golden_earlier.py FOLDER

CHECKOUT is the tree of an earlier version. `tests/earlier_models.py` has the models; `tests/test_earlier.py` reads the
files, and compares with the arrays in `arrays.npz`: weights and outputs, and the ends of the runs that stopped.
"""

import pickle
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import earlier_models as earlier  # type: ignore[reportMissingImports]  # the models stand among the tests

from torchkeras.callbacks import BackupAndRestore

Arrays = dict[str, np.ndarray]


def kept(name: str, values: list[np.ndarray]) -> Arrays:
    return {f"{name}/{number}": value for number, value in enumerate(values)}


def model(folder: Path) -> Arrays:
    """A model that was fitted, its History and callbacks; then what two more batches make of it."""
    earlier.begin()
    made = earlier.images()
    history = made.fit(earlier.IMAGES, earlier.Y, 4, 2, verbose=0, callbacks=earlier.callbacks()[:1])
    found = {"model": made, "history": history, "callbacks": earlier.callbacks()}
    (folder / "model.pickle").write_bytes(pickle.dumps(found))
    before = kept("model", earlier.result(made, earlier.IMAGES))
    history_of = {f"history/{name}": np.array(values) for name, values in history.history.items()}
    torch.manual_seed(6)
    for _ in range(2):
        made.train_on_batch(earlier.IMAGES, earlier.Y)
    return {**before, **history_of, **kept("model trained", earlier.result(made, earlier.IMAGES))}


def optimizers(folder: Path) -> Arrays:
    """The weights and the optimizer's state after two steps, and the weights after two more."""
    states, arrays = {}, {}
    for name in earlier.OPTIMIZERS:
        made = earlier.stepping(name)
        earlier.steps(made, 2)
        states[name] = made.optimizer.state_dict()
        arrays |= kept(f"{name} 2", made.get_weights())
        states[name] = pickle.dumps(states[name])  # before further steps change its tensors
        earlier.steps(made, 2)
        arrays |= kept(f"{name} 4", made.get_weights())
    (folder / "optimizers.pickle").write_bytes(pickle.dumps(states))
    return arrays


def runs(folder: Path) -> Arrays:
    """Checkpoints of runs that stopped, and how runs end that did not."""
    arrays = {}
    for name in earlier.RUNS:
        with tempfile.TemporaryDirectory() as place:
            backup = BackupAndRestore(place, save_freq=1)
            with suppress(earlier.StoppedError):
                earlier.fit(name, earlier.Stop(earlier.STOPPED), backup)
            (folder / name).mkdir(exist_ok=True)
            newest = max(Path(place).glob("*.checkpoint"))
            (folder / name / newest.name).write_bytes(newest.read_bytes())
        arrays |= kept(name, earlier.result(earlier.fit(name)))
    return arrays


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    arrays = {**model(folder), **optimizers(folder), **runs(folder)}
    np.savez_compressed(folder / "arrays.npz", python=earlier.python(), rounding=earlier.rounding(), **arrays)


if __name__ == "__main__":
    main()
